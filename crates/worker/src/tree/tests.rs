//! Trees and archives that change in the middle of a job.

use super::entry_timer::AfterEntry;
use super::path_walker::OPEN_LEVELS;
use super::*;
use fsarena_model::job::{By, Compression, Contents, Job, Reflink};
use rustix::io::Errno;
use std::fs;
use std::path::PathBuf;

/// Below a directory in memory, where there is one.
fn work_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Does a job on `data` and `change` after entry `after` of it.
fn changed(
    dir: &Path,
    kind: JobKind,
    input: &str,
    after: u64,
    change: impl FnOnce() + 'static,
) -> WorkerReport {
    let job = Job { by: By::Engine, ..Job::new(kind, "data") };
    let task = JobTask {
        name: "made".to_owned(),
        job,
        input: input.into(),
        data: input.into(),
        contents: Contents::default(),
        reflink: Reflink::Never,
        latency: true,
    };
    let mut run = TreeRun::prepare(&task).unwrap();
    let mut change = Some(change);
    run.timer.after = Some(AfterEntry(Box::new(move |ops| {
        if let Some(change) = (ops == after).then(|| change.take()).flatten() {
            change();
        }
    })));
    let report = run.run(&Root::open(dir).unwrap());
    assert_eq!(report.latency.as_ref().unwrap().count(), report.ops);
    report
}

/// `files` files in `data`, in the order they are taken in.
fn files(dir: &Path, files: usize) -> Vec<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    fs::create_dir(dir.join("data")).unwrap();
    let mut paths: Vec<_> = (0..files).map(|file| dir.join(format!("data/f{file}"))).collect();
    for path in &paths {
        fs::write(path, vec![7; 5000]).unwrap();
    }
    paths.sort_by_key(|path| fs::metadata(path).unwrap().ino());
    paths
}

fn below<'a>(dir: &Path, path: &'a Path) -> &'a str {
    path.strip_prefix(dir).unwrap().to_str().unwrap()
}

#[test]
fn a_file_that_vanishes_ends_the_copy() {
    let dir = work_dir();
    let paths = files(dir.path(), 9);
    let gone = paths[5].clone();
    let path = gone.clone();
    let report =
        changed(dir.path(), JobKind::Copy, "data", 2, move || fs::remove_file(path).unwrap());
    let error = report.error.unwrap();
    assert_eq!((error.op_index, error.call.as_str()), (5, "openat"));
    assert_eq!(error.errno, Errno::NOENT.raw_os_error());
    assert_eq!((error.path.as_str(), report.ops), (below(dir.path(), &gone), 5));
    assert!(report.durable_monotonic_ns.is_some(), "what was done is made durable");
    assert_eq!(report.asked_written_bytes, Some(25_000));
}

#[test]
fn a_file_that_becomes_a_link_is_not_followed() {
    let dir = work_dir();
    let paths = files(dir.path(), 3);
    let path = paths[2].clone();
    let report = changed(dir.path(), JobKind::Copy, "data", 1, move || {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    });
    let error = report.error.unwrap();
    assert_eq!((error.call.as_str(), error.errno), ("openat", Errno::LOOP.raw_os_error()));
}

#[test]
fn a_name_that_is_taken_meanwhile_is_not_overwritten() {
    let dir = work_dir();
    let paths = files(dir.path(), 5);
    let name = paths[4].file_name().unwrap().to_owned();
    let taken = dir.path().join("made").join(&name);
    let path = taken.clone();
    let report =
        changed(dir.path(), JobKind::Copy, "data", 1, move || fs::write(path, "mine").unwrap());
    let error = report.error.unwrap();
    assert_eq!((error.op_index, error.call.as_str()), (4, "openat"));
    assert_eq!(error.errno, Errno::EXIST.raw_os_error());
    assert_eq!(error.path, format!("made/{}", name.display()));
    assert_eq!(fs::read(taken).unwrap(), b"mine");
}

#[test]
fn an_entry_that_vanishes_ends_the_delete() {
    let dir = work_dir();
    files(dir.path(), 4);
    let path = dir.path().join("data");
    let report = changed(dir.path(), JobKind::Delete, "data", 3, move || {
        fs::remove_dir_all(path).unwrap();
    });
    let error = report.error.unwrap();
    assert_eq!((error.op_index, error.call.as_str()), (3, "unlinkat"));
    assert!(error.path.starts_with("data/f"), "{}", error.path);
}

/// A directory that another is moved out of while it is closed: the way back would lead elsewhere.
#[test]
fn a_directory_that_is_moved_is_noticed() {
    for kind in [JobKind::Copy, JobKind::Delete] {
        let dir = work_dir();
        let mut path = dir.path().join("data");
        fs::create_dir(&path).unwrap();
        let mut inner = PathBuf::new();
        for level in 0..OPEN_LEVELS + 3 {
            path.push("d");
            fs::create_dir(&path).unwrap();
            if level == 1 {
                inner.clone_from(&path);
            }
        }
        let to = dir.path().join("elsewhere");
        let report = changed(dir.path(), kind, "data", 1, move || fs::rename(inner, to).unwrap());
        let error = report.error.unwrap();
        assert!(error.text.contains("moved meanwhile"), "{error:?}");
    }
}

/// What an archive of `members` (name, link target, kind) unpacks to.
fn unpacked(dir: &Path, members: &[(&str, &str, tar::EntryType)]) -> WorkerReport {
    let mut archive = tar::Builder::new(fs::File::create(dir.join("data.tar")).unwrap());
    for (name, target, kind) in members {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.as_mut_bytes()[157..157 + target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o755);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(5);
        header.set_size(if kind.is_file() { 4 } else { 0 });
        header.set_cksum();
        let bytes: &[u8] = if kind.is_file() { b"evil" } else { b"" };
        archive.append(&header, bytes).unwrap();
    }
    archive.into_inner().unwrap();
    let kind = JobKind::Untar { compression: Compression::None };
    changed(dir, kind, "data.tar", u64::MAX, || {})
}

#[test]
fn archives_that_climb_are_refused() {
    use tar::EntryType::{Block, Char, Directory, Fifo, Link, Regular, Symlink};
    for (members, told) in [
        (vec![("ok", "", Regular), ("../evil", "", Regular)], "`..`"),
        (vec![("ok", "", Regular), ("d/../../evil", "", Regular)], "`..`"),
        (vec![("ok", "", Regular), ("/evil", "", Regular)], "absolute"),
        (vec![("ok", "", Regular), ("evil", "../x", Symlink)], "out of the folder"),
        (vec![("ok", "", Regular), ("evil", "/x", Symlink)], "out of the folder"),
        (vec![("ok", "", Regular), ("d/evil", "../../x", Symlink)], "out of the folder"),
        (vec![("ok", "", Regular), ("evil", "../x", Link)], "`..`"),
        (vec![("ok", "", Regular), ("evil", "/x", Link)], "absolute"),
        (vec![("ok", "", Regular), ("evil", "", Char)], "device"),
        (vec![("ok", "", Regular), ("evil", "", Block)], "device"),
        (vec![("ok", "", Regular), ("evil", "", Fifo)], "device"),
    ] {
        let dir = work_dir();
        let report = unpacked(dir.path(), &members);
        let error = report.error.unwrap();
        assert!(error.text.contains(told), "{error:?}");
        assert_eq!((error.op_index, error.path.as_str()), (1, "data.tar"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "only archive and folder");
        assert_eq!(fs::read_dir(dir.path().join("made")).unwrap().count(), 1, "{members:?}");
    }
    // A link that is no way: neither for files, nor for directories, nor for targets.
    for members in [
        vec![("d", "", Directory), ("l", "d", Symlink), ("l/evil", "", Regular)],
        vec![("d", "", Directory), ("l", "d", Symlink), ("l/evil", "", Directory)],
        vec![("d/f", "", Regular), ("l", "d", Symlink), ("evil", "l/f", Link)],
    ] {
        let dir = work_dir();
        let error = unpacked(dir.path(), &members).error.unwrap();
        assert_eq!((error.call.as_str(), error.errno), ("openat", Errno::NOTDIR.raw_os_error()));
        assert!(!dir.path().join("made/d/evil").exists());
    }
}

/// Writes members (name, kind, contents) in ustar headers, and unpacks them.
fn unpacked_ustar(dir: &Path, members: &[(&str, tar::EntryType, &[u8])]) -> WorkerReport {
    let mut archive = tar::Builder::new(fs::File::create(dir.join("data.tar")).unwrap());
    for (name, kind, bytes) in members {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o755);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(5);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        archive.append(&header, *bytes).unwrap();
    }
    archive.into_inner().unwrap();
    let kind = JobKind::Untar { compression: Compression::None };
    changed(dir, kind, "data.tar", u64::MAX, || {})
}

#[test]
fn a_file_with_a_slash_behind_its_name_is_unpacked_as_a_directory() {
    use tar::EntryType::{Continuous, Regular};
    let dir = work_dir();
    let members = [("a/", Regular, &b""[..]), ("b/", Continuous, b"x"), ("c", Regular, b"c")];
    let report = unpacked_ustar(dir.path(), &members);
    assert_eq!((report.error, report.ops), (None, 3));
    let made = dir.path().join("made");
    assert!(made.join("a").is_dir() && made.join("b").is_dir() && made.join("c").is_file());
}

#[test]
fn long_headers_are_not_taken_into_memory() {
    use tar::EntryType::{GNULongLink, GNULongName, Regular, XGlobalHeader, XHeader};
    let large = vec![b'n'; 2 << 20];
    for kind in [GNULongName, GNULongLink, XHeader, XGlobalHeader] {
        let dir = work_dir();
        let members = [("ok", Regular, &b"x"[..]), ("head", kind, &large), ("f", Regular, b"y")];
        let error = unpacked_ustar(dir.path(), &members).error.unwrap();
        assert!(error.text.contains("more than 1 MiB"), "{kind:?}: {}", error.text);
        assert_eq!((error.op_index, error.path.as_str()), (1, "data.tar"));
    }
    // What follows a header that is not unpacked, and a file that is large, has its own limit.
    let dir = work_dir();
    let members = [("d", tar::EntryType::Directory, &large[..]), ("f", Regular, &large)];
    let members = [&members[..], &[("g", Regular, &b"z"[..])]].concat();
    let report = unpacked_ustar(dir.path(), &members);
    assert_eq!((report.error, report.ops), (None, 3));
}

#[test]
fn a_line_feed_in_a_pax_name_is_told_as_such() {
    use tar::EntryType::{Regular, XHeader};
    let dir = work_dir();
    let members = [("pax", XHeader, &b"18 path=two\nlines\n"[..]), ("f", Regular, b"y")];
    let error = unpacked_ustar(dir.path(), &members).error.unwrap();
    assert!(error.text.contains("line feed"), "{error:?}");
}

#[test]
fn a_truncated_archive_is_an_error() {
    let dir = work_dir();
    let whole = {
        let members = [("one", "", tar::EntryType::Regular), ("two", "", tar::EntryType::Regular)];
        assert_eq!(unpacked(dir.path(), &members).error, None);
        fs::read(dir.path().join("data.tar")).unwrap()
    };
    fs::remove_dir_all(dir.path().join("made")).unwrap();
    fs::write(dir.path().join("data.tar"), &whole[..512 + 512 + 512 + 2]).unwrap();
    let kind = JobKind::Untar { compression: Compression::None };
    let error = changed(dir.path(), kind, "data.tar", 9, || {}).error.unwrap();
    assert_eq!((error.call.as_str(), error.op_index), ("read", 1));
    assert_eq!(error.path, "data.tar");
}
