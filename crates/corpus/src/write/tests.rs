//! Trees that were written, read again.

use super::*;
use crate::Description;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

const TREE: &str = r#"
schema = 1
name = "tree"
title = "A tree"
seed = 7
[[dirs]]
name = "outer"
count = 5
names = "{word}"
[[dirs]]
name = "inner"
in = "outer"
count = 20
names = "{word}{n}"
[[class]]
name = "small"
in = "inner"
count = 500
spread = "uneven"
names = "f{n}"
size_bytes = { kind = "uniform", min = 0, max = 5000 }
contents = "text"
[[class]]
name = "tool"
in = "outer"
each = 1
mode = "0755"
names = "configure"
size_bytes = 3000
contents = "text"
[[class]]
name = "big"
count = 1
names = "film"
size_bytes = 5_000_001
contents = "random"
"#;

fn tree() -> Tree {
    Description::parse(TREE, "tree.toml").unwrap().tree()
}

/// Path, mode and contents of all below `dir`.
fn read(dir: &Path, below: &str, found: &mut BTreeMap<String, (u32, Option<Vec<u8>>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{below}{}", entry.file_name().into_string().unwrap());
        let metadata = entry.metadata().unwrap();
        let mode = metadata.mode() & 0o7777;
        if metadata.is_dir() {
            read(&entry.path(), &format!("{path}/"), found);
            found.insert(path, (mode, None));
        } else {
            found.insert(path, (mode, Some(fs::read(entry.path()).unwrap())));
        }
    }
}

#[test]
fn what_is_written_is_what_is_described_with_any_number_of_threads() {
    let tree = tree();
    for threads in [0, 1, 2, 5] {
        let dir = tempfile::tempdir().unwrap();
        let root = File::open(dir.path()).unwrap();
        let written = tree.write(root.as_fd(), threads, &|| false).unwrap();
        let contents = tree.contents();
        let counted = (written.files, written.dirs, written.bytes);
        assert_eq!(counted, (contents.files, contents.dirs, contents.bytes));
        let mut found = BTreeMap::new();
        read(dir.path(), "", &mut found);
        assert_eq!(found.len(), tree.entries().len());
        for (at, entry) in tree.entries().enumerate() {
            let (mode, bytes) = &found[entry.path];
            assert_eq!(*mode, entry.mode, "{}", entry.path);
            let made = match entry.kind {
                EntryKind::Dir => None,
                EntryKind::File { size_bytes } => {
                    let mut made = vec![0; size_bytes as usize];
                    tree.fill(at, 0, &mut made);
                    Some(made)
                }
            };
            assert!(*bytes == made, "{}", entry.path);
        }
    }
}

#[test]
fn an_error_names_the_path_and_the_call() {
    let tree = tree();
    let dir = tempfile::tempdir().unwrap();
    let victim = tree.entries().filter(|entry| entry.mode == 0o755).nth(3).unwrap();
    let first = tree.entries().find(|entry| entry.kind == EntryKind::Dir).unwrap();
    assert_ne!(first.path, victim.path);
    fs::create_dir(dir.path().join(first.path)).unwrap();
    let root = File::open(dir.path()).unwrap();
    let error = tree.write(root.as_fd(), 2, &|| false).unwrap_err();
    assert!(error.to_string().starts_with(&format!("mkdirat {}: ", first.path)), "{error}");
    let CorpusError::Call { error, .. } = error else { panic!("{error}") };
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn it_stops_when_asked_to() {
    let tree = tree();
    let dir = tempfile::tempdir().unwrap();
    let root = File::open(dir.path()).unwrap();
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
    let error = tree.write(root.as_fd(), 1, &stop).unwrap_err();
    assert!(matches!(error, CorpusError::Stopped), "{error}");
    let mut found = BTreeMap::new();
    read(dir.path(), "", &mut found);
    assert!(found.len() < tree.entries().len() && !found.is_empty(), "{}", found.len());
}
