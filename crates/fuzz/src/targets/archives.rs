//! Archives of the user's own: surveyed before anything is written, and unpacked.

use crate::scratch;
use crate::target::{PLAIN, Target};
use fsarena_corpus::own::{Own, survey};
use fsarena_corpus::reader;
use fsarena_model::job::Compression;
use fsarena_worker::tree::unpacked_names;
use std::cell::Cell;
use std::io::{Read as _, Write as _};
use tar::{Builder, EntryType, Header};

pub(super) const ARCHIVE: Target = Target {
    name: "archive",
    reads: "archives of tar, plain and compressed",
    shares: 3,
    seeds,
    run: archive,
    ..PLAIN
};

/// How often it may be asked whether to stop: every 256 KiB of what a bomb becomes.
const ASKED_MOST: u32 = 256;
/// What is unpacked of an archive that was let through, bytes.
const UNPACKED_MOST: u64 = 64 << 20;

fn plain() -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    let mut add = |kind: EntryType, name: &str, target: &str, data: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        let set = match target.is_empty() {
            true => builder.append_data(&mut header, name, data),
            false => builder.append_link(&mut header, name, target),
        };
        set.expect("a member of ours");
    };
    add(EntryType::Directory, "tree", "", b"");
    add(EntryType::Regular, "tree/file", "", b"contents");
    add(EntryType::Symlink, "tree/link", "file", b"");
    add(EntryType::Link, "tree/other", "tree/file", b"");
    add(EntryType::Regular, &"long/".repeat(40), "", b"x");
    builder.into_inner().expect("memory")
}

/// A member with a time and a name in records of PAX.
fn pax() -> Vec<u8> {
    let records = "30 mtime=1234567890.123456789\n16 path=a/b/c.d\n";
    let mut builder = Builder::new(Vec::new());
    for (kind, data) in [(EntryType::XHeader, records), (EntryType::Regular, "abc")] {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, "name", data.as_bytes()).expect("a member of ours");
    }
    builder.into_inner().expect("memory")
}

fn seeds() -> Vec<Vec<u8>> {
    let mut all = vec![plain(), pax()];
    for compression in Compression::ALL {
        let mut out = Vec::new();
        let mut writer = fsarena_corpus::writer(compression, &mut out).expect("memory");
        writer.write_all(&plain()).expect("memory");
        writer.finish().expect("memory");
        all.push(out);
    }
    all
}

/// Nothing that the survey lets through leads out of its folder when it is unpacked, and what it
/// counted is what there is.
fn archive(input: &[u8]) {
    let path = scratch::file("archive", input);
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > ASKED_MOST
    };
    let (compression, contents) = match survey(&path, &stop) {
        Ok(Own::Archive(compression, contents)) => (compression, contents),
        Ok(other) => panic!("a file is {other:?}"),
        Err(error) => {
            let error = error.to_string();
            assert!(!error.is_empty() && !error.contains('\0'), "{error:?}");
            return;
        }
    };
    let plain = reader(compression, input).expect("it was read before").take(UNPACKED_MOST);
    let names = match unpacked_names(plain) {
        Ok(names) => names,
        // What is left for who unpacks to refuse says so; a line feed in a name is one such.
        Err(_) => return,
    };
    assert!(names.len() as u64 >= contents.files, "fewer members than files: {contents:?}");
    for (name, target) in names {
        let text = String::from_utf8_lossy(&name).into_owned();
        assert!(!name.starts_with(b"/") && !name.contains(&0), "{text:?}");
        let leads_out = |path: &[u8]| path.split(|byte| *byte == b'/').any(|part| part == b"..");
        assert!(!leads_out(&name), "{text:?}");
        assert!(!target.starts_with(b"/"), "{text:?} leads to {target:?}");
    }
}
