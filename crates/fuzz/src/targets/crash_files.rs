//! Files of crash safety: write logs, packed logs, states that are kept, what guests report of
//! crash states and of applications.

use super::runs::changed;
use crate::scratch;
use crate::target::{PLAIN, Target};
use fsarena_crash::application::{
    Acknowledged, ApplicationSeen, ApplicationWork, CheckRun, Ending, found_units,
    judge_application,
};
use fsarena_crash::observation::{MountAttempt, MountStep, Observation, ObservedFile, Runs};
use fsarena_crash::op::{Action, Op, Sync, from_lines, to_lines};
use fsarena_crash::oracle::Oracle;
use fsarena_crash::packed::{UnpackError, pack, unpack_within};
use fsarena_crash::promise::Promises;
use fsarena_crash::sequence::judge::{Progress, judge};
use fsarena_crash::sequence::litmus::Litmus;
use fsarena_crash::sequence::model::History;
use fsarena_crash::sequence::op::{Extent, FileOp, bytes_of};
use fsarena_crash::sequence::tree::{NodeKind, TreeEntry, TreeObservation, runs_of};
use fsarena_crash::stamp::{Stamp, fill};
use fsarena_crash::state::{Class, CrashPoints, CrashState, uniform, view};
use fsarena_crash::workload::path;
use fsarena_crash_runs::kept_states::{KeptState, KeptStates, SharedFiles};
use fsarena_vdisk::{Completion, Discarded, Outcome, Request, Store, WriteLog};
use std::fs;
use std::io::Read as _;
use std::sync::LazyLock;

pub(super) const WRITE_LOG: Target = Target {
    name: "write-log",
    reads: "write logs of virtual disks",
    seeds: || {
        let path = scratch::file("seed.log", b"");
        let mut log = WriteLog::in_file(&path).expect("a file of our own");
        work(&mut log);
        vec![fs::read(&path).expect("a file of our own")]
    },
    run: write_log,
    ..PLAIN
};

pub(super) const PACKED_LOG: Target = Target {
    name: "packed-log",
    reads: "packed write logs of crash states",
    seeds: || vec![packed()],
    run: packed_log,
    ..PLAIN
};

pub(super) const KEPT_STATE: Target = Target {
    name: "kept-state",
    reads: "directories of crash states that were kept",
    seeds: kept_seeds,
    run: kept_state,
    ..PLAIN
};

pub(super) const CRASH_STATE: Target = Target {
    name: "crash-state",
    reads: "a crash state, the op journal and what a guest saw, with any values changed",
    shares: 2,
    most_bytes: 256,
    seeds: || (0..6).map(|number| vec![number; 25]).collect(),
    run: crash_state,
};

pub(super) const CRASH_TREE: Target = Target {
    name: "crash-tree",
    reads: "the tree that a guest saw after a sequence of operations, with any values changed",
    most_bytes: 256,
    seeds: || (0..6).map(|number| vec![number; 24]).collect(),
    run: crash_tree,
    ..PLAIN
};

pub(super) const APPLICATION_WORK: Target = Target {
    name: "application-work",
    reads: "what a guest reports of an application and of its check, with any values changed",
    most_bytes: 1024,
    seeds: || vec![vec![0; 13], b"found 3\nfound 12 \n".to_vec(), vec![9; 31]],
    run: application_work,
    ..PLAIN
};

/// Sectors of the writes of a log that is unpacked here.
const UNPACKED_MOST: u64 = 64 << 20;
const SEED: u64 = 7;

/// A file that is created and synced, one that replaces another, a mark and a discard.
fn work(log: &mut WriteLog) {
    let mut data = vec![0; 8192];
    fill(&mut data, Stamp { seed: SEED, file: 1, version: 1 }, 0);
    let done = |at_ns| Completion { tag: 0, at_ns, outcome: Outcome::Done };
    let entries = [
        (Request::write(0, 64, 16), 5, 10, &data[..]),
        (Request::flush(0), 11, 20, &[]),
        (Request::write_fua(0, 128, 8), 21, 30, &data[..4096]),
        (Request::discard(0, 64, 8), 31, 40, &[]),
        (Request::write(0, 80, 2), 41, 50, &[3; 1024]),
    ];
    for (request, submitted_ns, at_ns, data) in entries {
        log.completed(&request, submitted_ns, &done(at_ns), data).expect("a log of our own");
    }
    log.mark(60, 99).expect("a log of our own");
}

fn log() -> WriteLog {
    let mut log = WriteLog::in_memory();
    work(&mut log);
    log
}

fn packed() -> Vec<u8> {
    let mut bytes = Vec::new();
    pack(&log(), &mut bytes).expect("memory");
    bytes
}

/// Every entry can be read, and so can what is on the medium after any power cut.
fn write_log(input: &[u8]) {
    let path = scratch::file("disk.log", input);
    match WriteLog::open(&path) {
        Ok(log) => can_be_cut(&log),
        Err(error) => {
            let error = error.to_string();
            assert!(error.contains("disk.log"), "{error}");
        }
    }
}

/// What is unpacked is packed and unpacked the same.
fn packed_log(input: &[u8]) {
    let Ok(log) = unpack_within(&mut &input[..], UNPACKED_MOST) else { return };
    can_be_cut(&log);
    let mut bytes = Vec::new();
    pack(&log, &mut bytes).expect("memory");
    let again = unpack_within(&mut &bytes[..], UNPACKED_MOST);
    let again = again.unwrap_or_else(|error| panic!("{error}"));
    let numbers = |log: &WriteLog| {
        let entries = log.entries().iter();
        let of = |it: &fsarena_vdisk::Entry| {
            (it.kind, it.sector, it.sectors, it.submitted_ns, it.completed_ns)
        };
        entries.map(of).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&again), numbers(&log));
}

fn can_be_cut(log: &WriteLog) {
    let base = Store::in_memory(1 << 30, Discarded::Zeros);
    let classes = vec![Class::Prefix, Class::Dropall, Class::Subset, Class::Torn, Class::KeepOne];
    let to_ns = log.entries().iter().map(|entry| entry.completed_ns).max().unwrap_or(0);
    let points =
        CrashPoints { from_ns: 0, to_ns: to_ns.saturating_add(1), points: 5, seed: 1, classes };
    for state in uniform(log, &points) {
        read_a_few(&base, log, &state);
    }
}

fn read_a_few(base: &Store, log: &WriteLog, state: &CrashState) {
    let view = view(base, log, state);
    let mut data = [0; 4096];
    let last = (1 << 21) - 8;
    let places = log.entries().iter().take(16).map(|entry| entry.sector.min(last));
    for sector in places.chain([0, last]) {
        // Data that a log in a file does not have is an error.
        let _ = view.read(sector, &mut data);
    }
}

fn state() -> KeptState {
    let text = serde_json::json!({
        "format": 1, "id": "0123456789", "kept_unix_s": 7, "contender": "ext4",
        "fs": fsarena_model::contender::FsLevel::plain("ext4"), "model": "hdd-2007",
        "size_bytes": 1 << 30, "syscall_ns": 0, "kernel": "6.1.7-0123456789ab",
        "kernel_file": null, "workload": "synced", "class": "dropall", "seed": SEED,
        "after_ns": 9, "mount_options": "rw", "disk_fault": null,
        "promises": Promises::default(), "violations": [], "state": crash(), "cut": null,
    });
    serde_json::from_value(text).expect("the form of this version")
}

fn crash() -> CrashState {
    let points =
        CrashPoints { from_ns: 45, to_ns: 46, points: 1, seed: 1, classes: vec![Class::Subset] };
    uniform(&log(), &points).remove(0)
}

/// A state, its log and its journal, each behind the number of its file.
fn kept_seeds() -> Vec<Vec<u8>> {
    let dir = scratch::empty_dir("kept-seeds");
    let states = KeptStates::new(dir.clone());
    let (log, ops) = (log(), ops());
    let id = states
        .keep(state(), (&log, ops.as_slice(), None), &mut SharedFiles::default())
        .expect("a directory of our own");
    let file = |(number, name): (u8, &str)| {
        let bytes = fs::read(dir.join(&id).join(name)).expect("it was just kept");
        [&[number], bytes.as_slice()].concat()
    };
    [(0, "state.json"), (1, "log.zst"), (2, "ops.zst")].into_iter().map(file).collect()
}

/// A state with one of its files as it is given: it is listed or not, and read or refused by name.
fn kept_state(input: &[u8]) {
    let Some((number, bytes)) = input.split_first() else { return };
    let dir = scratch::empty_dir("kept");
    let states = KeptStates::new(dir.clone());
    let (log, ops) = (log(), ops());
    let kept = states.keep(state(), (&log, ops.as_slice(), None), &mut SharedFiles::default());
    let place = dir.join(kept.expect("a directory of our own"));
    let name = ["state.json", "log.zst", "ops.zst"][usize::from(*number) % 3];
    if name == "log.zst" && is_too_large(bytes) {
        return;
    }
    fs::write(place.join(name), bytes).expect("a directory of our own");
    let all = states.list().expect("a directory of our own");
    assert!(all.len() <= 1);
    for state in all {
        assert!(name == "state.json" || states.find(&state.id).is_ok());
        let _ = states.size_bytes(&state);
        match states.contents(&state) {
            Ok(contents) => {
                let base = Store::in_memory(1 << 30, Discarded::Zeros);
                read_a_few(&base, &contents.log, &state.state);
            }
            Err(error) => {
                let error = error.to_string();
                assert!(
                    error.contains("log.zst")
                        || error.contains("ops.zst")
                        || error.contains("recovery"),
                    "{error}"
                );
            }
        }
    }
}

/// Whether a compressed log has more in it than there is memory for here: that is refused, beyond
/// limits that are larger.
fn is_too_large(compressed: &[u8]) -> bool {
    let Ok(decoder) = zstd::Decoder::new(compressed) else { return false };
    let mut plain = decoder.take(UNPACKED_MOST);
    matches!(unpack_within(&mut plain, UNPACKED_MOST), Err(UnpackError::TooLarge { .. }))
        || plain.limit() == 0
}

fn ops() -> Vec<Op> {
    let op = |action, begin_ns, end_ns| Op { action, begin_ns, end_ns, error: None };
    let sync = Sync::FileAndDirectory;
    vec![
        op(Action::Create { file: 1, bytes: 8192, version: 1, sync }, 1, 9),
        op(Action::Create { file: 2, bytes: 4096, version: 1, sync: Sync::None }, 10, 15),
        op(Action::Delete { file: 1, sync: Sync::None }, 21, 33),
    ]
}

fn seen() -> Observation {
    let mounts =
        vec![MountAttempt { step: MountStep::ReadWrite, errno: None, began_ns: 1, duration_ns: 9 }];
    let mut contents = Runs::default();
    let mut data = vec![0; 8192];
    fill(&mut data, Stamp { seed: SEED, file: 1, version: 1 }, 0);
    contents.take(&data);
    let path = path(1).expect("a file of a workload");
    let files = vec![ObservedFile { path, size_bytes: 8192, contents, errno: None }];
    Observation { mounts, files, is_usable: Some(true), ..Observation::default() }
}

/// A state, a journal and an observation that do not fit each other are judged all the same.
fn crash_state(input: &[u8]) {
    static SOUND: LazyLock<(CrashState, Vec<Op>, Observation)> =
        LazyLock::new(|| (crash(), ops(), seen()));
    let (state, ops, seen) = &*SOUND;
    let part = input.len().div_ceil(3).next_multiple_of(crate::edits::EDIT_BYTES).max(1);
    let mut parts = input.chunks(part);
    let mut next = || parts.next().unwrap_or_default();
    let state = changed(state, next()).unwrap_or_else(|| state.clone());
    let ops: Vec<Op> = changed(ops, next()).unwrap_or_else(|| ops.clone());
    let seen = changed(seen, next()).unwrap_or_else(|| seen.clone());
    let lines = to_lines(&ops);
    assert!(from_lines(&lines).is_ok_and(|again| again == ops), "{lines}");
    read_a_few(&Store::in_memory(1 << 30, Discarded::Zeros), &log(), &state);
    let promises = fsarena_filesystems::promises("ext4", &[]);
    if let Ok(oracle) = Oracle::new(&ops, SEED, promises) {
        let found = oracle.judge(&state, &seen);
        assert!(serde_json::to_string(&found).is_ok());
        for file in &seen.files {
            let _ = oracle.sectors(&state, &seen, &file.path);
        }
    }
}

/// Whatever a guest says was seen is judged, and what is broken is said in words.
fn crash_tree(input: &[u8]) {
    let extent = Extent { offset: 0, bytes: 100, fill: 2 };
    let file = || "a".to_owned();
    let ops = [
        FileOp::Open { file: file() },
        FileOp::Write { file: file(), extent },
        FileOp::Close { file: file() },
        FileOp::Fsync { path: file() },
        FileOp::Rename { from: file(), to: "b".to_owned() },
    ];
    let entry = TreeEntry {
        path: file(),
        kind: NodeKind::File,
        inode: 12,
        links: 1,
        size_bytes: 100,
        allocated_bytes: 4096,
        contents: runs_of(&bytes_of(extent)),
        attribute: None,
        target: None,
        errno: None,
    };
    let sound = TreeObservation { whole: seen(), entries: vec![entry] };
    let Some(seen) = changed(&sound, input) else { return };
    let history = History::new(&ops).expect("a sequence that can be carried out");
    for returned in 0..=ops.len() {
        for broken in judge(&history, Progress { returned, begun: returned + 1 }, &seen) {
            assert!(!broken.rule.sentence().is_empty(), "{broken:?}");
        }
    }
    for litmus in Litmus::ALL {
        let _ = litmus.outcome(&litmus.program(1), &seen).name();
    }
}

/// What was acknowledged is there or lost, and no unit is both.
fn application_work(input: &[u8]) {
    let _ = found_units(&String::from_utf8_lossy(input));
    let unit = |at_ns| Acknowledged { at_ns, line: "a unit".to_owned() };
    let work = ApplicationWork {
        acknowledged: vec![unit(5), unit(9), unit(40)],
        begin_ns: 0,
        end_ns: 50,
        mount_options: "rw".to_owned(),
        fault: None,
    };
    let check = CheckRun { ending: Ending::Code(0), found: Some(2), output: "row 7".to_owned() };
    let mounts = seen().mounts;
    let seen = ApplicationSeen { mounts, check: Some(check), ..ApplicationSeen::default() };
    let (first, second) = input.split_at(input.len() / 2);
    let (Some(work), Some(seen)) = (changed(&work, first), changed(&seen, second)) else { return };
    let state = crash();
    let found = judge_application(&work, &state, &seen);
    assert!(found.lost.unwrap_or(0) <= found.acknowledged, "{found:?}");
    assert_eq!(found.is_broken(), !found.words.is_empty(), "{found:?}");
}
