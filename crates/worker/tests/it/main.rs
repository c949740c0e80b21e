//! Tasks as a worker does them: the protocol, fio, trees.
//!
//! `programs` is a program of its own: whoever runs programs ends all that its process started.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

mod fio;
#[path = "../../../engine/tests/support/full.rs"]
mod full;
mod tree;
mod tree_against_programs;
mod tree_failures;
mod worker;

use fsarena_engine::Root;
use fsarena_model::job::{
    By, Compression, Contents, Job, JobKind, Origin, Reflink, Source, SourcePlace,
};
use fsarena_model::work::{JobTask, VerifyReport, WorkerReport};
use fsarena_worker::tree::{TreeRun, compare};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A new directory, in memory where there is one: syncfs on a disk that others use takes long.
fn temp_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub fn task(name: &str, kind: JobKind, input: &Path) -> JobTask {
    let job = Job { by: By::Engine, ..Job::new(kind, "data") };
    JobTask {
        name: name.to_owned(),
        job,
        input: input.to_owned(),
        data: input.to_owned(),
        contents: Contents::default(),
        reflink: Reflink::Never,
        latency: true,
    }
}

/// Runs `task` below `dir`; what is always true of a report is asserted.
pub fn run(dir: &Path, task: &JobTask) -> WorkerReport {
    let root = Root::open(dir).unwrap();
    let report = TreeRun::prepare(task).unwrap().run(&root);
    assert!(report.returned_monotonic_ns >= report.start_monotonic_ns);
    if let Some(latency) = &report.latency {
        assert_eq!(latency.count(), report.ops);
    }
    report
}

/// As [`run`], without an error.
pub fn done(dir: &Path, task: &JobTask) -> WorkerReport {
    let report = run(dir, task);
    assert_eq!(report.error, None);
    assert!(report.durable_monotonic_ns.unwrap() >= report.returned_monotonic_ns);
    report
}

pub fn source(archive: Option<Compression>) -> Source {
    Source {
        name: "test".to_owned(),
        origin: Origin::Own { path: "data".into() },
        place: SourcePlace::Same,
        archive,
        contents: Contents::default(),
    }
}

/// Compares one pair below `dir`.
pub fn compared(dir: &Path, copy: &str, original: &str, source: &Source) -> VerifyReport {
    compare(&Root::open(dir).unwrap(), &[(copy.into(), original.into())], source)
}

pub fn program(name: &str, dir: &Path, args: &[&OsStr]) {
    let output = Command::new(name).args(args).current_dir(dir).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {args:?}: {said}");
}

/// All that can be said of an entry.
#[derive(Debug, PartialEq, Eq)]
pub struct Fact {
    pub mode: u32,
    pub owner: (u32, u32),
    pub mtime_ns: i128,
    pub names: u64,
    /// Path of the first name of the same inode.
    pub first: PathBuf,
    pub blocks: u64,
    /// Contents, or target.
    pub bytes: Vec<u8>,
    pub xattr: Option<Vec<u8>>,
}

/// Everything below `top`, and `top` itself under the empty path.
pub fn facts(top: &Path) -> BTreeMap<PathBuf, Fact> {
    let mut facts = BTreeMap::new();
    let mut inodes = BTreeMap::new();
    let mut paths = vec![PathBuf::new()];
    while let Some(path) = paths.pop() {
        let full = if path.as_os_str().is_empty() { top.to_owned() } else { top.join(&path) };
        let meta = full.symlink_metadata().unwrap();
        let bytes = if meta.is_dir() {
            let names = std::fs::read_dir(&full).unwrap();
            let mut inner: Vec<_> =
                names.map(|name| path.join(name.unwrap().file_name())).collect();
            inner.sort_by(|one, other| other.cmp(one));
            paths.extend(inner);
            vec![]
        } else if meta.is_symlink() {
            std::fs::read_link(&full).unwrap().into_os_string().as_bytes().to_vec()
        } else {
            std::fs::read(&full).unwrap()
        };
        let first = inodes.entry(meta.ino()).or_insert_with(|| path.clone()).clone();
        let mut value = [0; 64];
        let xattr = rustix::fs::lgetxattr(&full, "user.fsarena", &mut value[..]).ok();
        let fact = Fact {
            mode: meta.mode(),
            owner: (meta.uid(), meta.gid()),
            mtime_ns: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
            names: if meta.is_dir() { 0 } else { meta.nlink() },
            first,
            blocks: if meta.is_file() { meta.blocks() } else { 0 },
            bytes,
            xattr: xattr.map(|len| value[..len].to_vec()),
        };
        facts.insert(path, fact);
    }
    facts
}

/// What of two trees differs, path by path.
pub fn differences(one: &Path, other: &Path) -> Vec<String> {
    let (one, other) = (facts(one), facts(other));
    let paths: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let differ = paths.into_iter().filter(|path| one.get(*path) != other.get(*path));
    differ.map(|path| format!("{path:?}: {:?} / {:?}", one.get(path), other.get(path))).collect()
}

/// An entry to be made; parents and link targets are numbers of earlier ones.
#[derive(Debug, Clone)]
pub enum NewEntry {
    Dir { mode: u32 },
    File { bytes: Vec<u8>, mode: u32 },
    Sparse { blocks: Vec<u8> },
    Symlink { target: Vec<u8> },
    Further { of: usize },
}

/// Makes a tree at `top`; entries whose name is taken are left out.
pub fn make(top: &Path, wanted: &[(usize, Vec<u8>, NewEntry)]) {
    std::fs::create_dir(top).unwrap();
    let (mut dirs, mut files) = (vec![top.to_owned()], Vec::<PathBuf>::new());
    let mut late = vec![];
    for (number, (parent, name, wanted)) in wanted.iter().enumerate() {
        let path = dirs[parent % dirs.len()].join(OsStr::from_bytes(name));
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match wanted {
            NewEntry::Dir { mode } => {
                std::fs::create_dir(&path).unwrap();
                late.push((path.clone(), *mode));
                dirs.push(path.clone());
            }
            NewEntry::File { bytes, mode } => {
                std::fs::write(&path, bytes).unwrap();
                std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
                files.push(path.clone());
            }
            NewEntry::Sparse { blocks } => {
                let file = std::fs::File::create(&path).unwrap();
                for (block, &byte) in blocks.iter().enumerate().filter(|(_, byte)| **byte > 0) {
                    file.write_all_at(&[byte; 4096], block as u64 * 16384).unwrap();
                }
                file.set_len(blocks.len() as u64 * 16384 + 5).unwrap();
                files.push(path.clone());
            }
            NewEntry::Symlink { target } => {
                std::os::unix::fs::symlink(OsStr::from_bytes(target), &path).unwrap();
            }
            NewEntry::Further { of } => match files.get(of % files.len().max(1)) {
                Some(first) => std::fs::hard_link(first, &path).unwrap(),
                None => continue,
            },
        }
        set_time(&path, 1_000_000_000 + number as i64, 123_456_789);
    }
    for (path, mode) in late.into_iter().rev() {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        set_time(&path, 900_000_000, 17);
    }
}

pub fn set_time(path: &Path, tv_sec: i64, tv_nsec: i64) {
    let time = rustix::fs::Timespec { tv_sec, tv_nsec };
    let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::utimensat(rustix::fs::CWD, path, &times, flags).unwrap();
}

/// A small tree with one of everything; the number of its entries.
pub fn small(top: &Path) -> u64 {
    let file = |bytes: &[u8], mode| NewEntry::File { bytes: bytes.to_vec(), mode };
    let entries = [
        (0, b"dir".to_vec(), NewEntry::Dir { mode: 0o755 }),
        (0, b"file".to_vec(), file(b"contents", 0o644)),
        (1, b"in dir".to_vec(), file(&[7; 300_000], 0o600)),
        (1, b"empty".to_vec(), file(b"", 0o444)),
        (1, b"inner".to_vec(), NewEntry::Dir { mode: 0o555 }),
        (0, b"bytes \xff\xfe".to_vec(), file(b"x", 0o4755)),
        (0, b"link".to_vec(), NewEntry::Symlink { target: b"dir/in dir".to_vec() }),
        (1, b"loop".to_vec(), NewEntry::Symlink { target: b"loop".to_vec() }),
        (1, b"second".to_vec(), NewEntry::Further { of: 0 }),
        (0, b"holes".to_vec(), NewEntry::Sparse { blocks: vec![0, 1, 0, 2, 0] }),
        (0, b"hole".to_vec(), NewEntry::Sparse { blocks: vec![0, 0] }),
    ];
    make(top, &entries);
    let xattr = rustix::fs::XattrFlags::empty();
    // Not every file system keeps them.
    let _ = rustix::fs::lsetxattr(top.join("file"), "user.fsarena", b"kept", xattr);
    let _ = rustix::fs::lsetxattr(top.join("dir"), "user.fsarena", b"too", xattr);
    entries.len() as u64
}
