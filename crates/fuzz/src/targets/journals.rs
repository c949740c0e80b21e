//! Journals of the state directory: what a RUN has made, and the samples of a watch.

use crate::scratch;
use crate::shown::{StoredRun, show};
use crate::target::{PLAIN, Target, texts};
use fsarena_model::header_rules;
use fsarena_model::host::Host;
use fsarena_model::record::Outcome;
use fsarena_runner::{JournalEntry, journal_entries, spooled_again};
use fsarena_testkit::records;
use fsarena_watch::{Terms, cut_short, journal, record};
use sha2::{Digest as _, Sha256};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

pub(super) const RUN_JOURNAL: Target = Target {
    name: "run-journal",
    reads: "journals of RUNs, which say what is to be undone",
    seeds: || {
        texts([
            "{\"owner\":{\"run\":\"0123456789abcdef\",\"database\":\"/x.db\",\"pid\":1,\
             \"start_ticks\":2,\"boot_id\":\"b\"}}\n{\"image\":\"/i/fsarena-1.img\"}\n\
             {\"directory\":\"/d\"}\n{\"cgroup\":\"/c\"}\n{\"trace\":\"t\"}\n{\"kept\":\"/k\"}\n",
            "{\"destroy\":{\"command\":\"x\",\"held\":[\"/dev/loop0\",\"/i\"],\"identity\":null}}\n\
             {\"queue\":[]}\n{\"sysctl\":[]}\n{\"image\":\"fsar",
        ])
    },
    run: run_journal,
    ..PLAIN
};

pub(super) const RUN_SPOOL: Target = Target {
    name: "run-spool",
    reads: "records next to the journals, which a database has not taken",
    seeds: || {
        let header = records::header(
            vec![records::contender("ext4", "ext4", 1)],
            vec![records::small_files()],
            1,
        );
        let record = serde_json::to_string(&records::record(&header, 0));
        let record = record.expect("a record is plain data");
        let head = format!(
            "{{\"form\":1,\"run\":\"{}\",\"database\":\"/x.db\",\"cause\":\"full\"}}",
            header.uid
        );
        vec![format!("{head}\n{{\"trial\":{record}}}\n").into_bytes()]
    },
    run: run_spool,
    ..PLAIN
};

pub(super) const WATCH_JOURNAL: Target = Target {
    name: "watch-journal",
    reads: "samples of a watch that was killed",
    seeds: || {
        texts(["{\"form\":1,\"run\":\"0123456789abcdef\",\"database\":\"/x.db\",\"place\":{\
                \"asked\":\"/x\",\"name\":\"sda\",\"path\":\"/dev/sda\",\"kind\":\"disk\",\
                \"size_bytes\":1,\"diskseq\":null,\"fstype\":null,\"mounted_at\":null,\
                \"mount_options\":null,\"below\":[],\"notices\":[]},\"every_ns\":1000000000,\
                \"started_unix_ns\":7,\"names\":[\"mem.dirty_bytes\",\"device.read_bytes\"]}\n\
                [10,1,3,0,4096,1]\n[1000000010,2,3,0,null,4096]\n[2000000010,3,9,1,0,8192]\n[4"])
    },
    run: watch_journal,
    ..PLAIN
};

/// An entry is written and read the same: what is undone is what was noted.
fn run_journal(input: &[u8]) {
    let lines = input.split(|byte| *byte == b'\n').count();
    let entries: Vec<JournalEntry> = journal_entries(input).collect();
    assert!(entries.len() <= lines);
    let mut text = Vec::new();
    for entry in &entries {
        // A path of bytes that are no text cannot come out of JSON.
        text.extend(serde_json::to_vec(entry).expect("an entry is plain data"));
        text.push(b'\n');
    }
    assert_eq!(journal_entries(&text).collect::<Vec<_>>(), entries);
}

/// What is taken for a record can be written as one, and its sum is not optional.
fn run_spool(input: &[u8]) {
    let _ = spooled_again(input);
    let mut signed = input.to_vec();
    for byte in Sha256::digest(input) {
        signed.extend(format!("{byte:02x}").into_bytes());
    }
    signed.push(b'\n');
    let Ok(written) = spooled_again(&signed) else { return };
    assert!(spooled_again(&written).is_ok(), "what was written is read");
    let cut = &written[..written.len() - 2];
    assert!(spooled_again(cut).is_err(), "a sum that is cut off is no sum");
}

/// What a dead watch has left becomes the record of a RUN.
fn watch_journal(input: &[u8]) {
    let dir = scratch::empty_dir("watches");
    let path = dir.join("0123456789abcdef.watch");
    fs::write(&path, input).expect("a directory of our own");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a file of our own");
    let mut skipped = Vec::new();
    let found = journal::dead(&dir, &mut skipped).expect("a file that can be read");
    assert!(skipped.is_empty() && found.len() <= 1, "{skipped:?}");
    for dead in found {
        let Some(session) = &dead.session else { continue };
        let terms = Terms {
            uid: "0123456789abcdef".to_owned(),
            now_unix_ns: session.started_unix_ns,
            program_version: "0.1.0".to_owned(),
            arguments: Vec::new(),
            title: None,
            host: Host::default(),
            every_ns: dead.opening.every_ns,
        };
        let header = fsarena_watch::header(&session.target, &terms);
        let notice = Some(cut_short(session));
        let records = vec![record(&header, session, Outcome::Interrupted, notice)];
        // Its own numbers are no plan's: what is stored of it is checked when it is read.
        if header_rules::check(&header).is_ok() {
            let (sessions, crashes, stop, looks) = (Vec::new(), Vec::new(), None, Vec::new());
            show(&StoredRun { header, sessions, records, crashes, stop, looks });
        }
    }
}
