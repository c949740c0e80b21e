//! Errors in the middle of jobs on trees, what comparing finds, and putting a source there.

use crate::temp_dir;
use crate::{compared, differences, done, program, run, set_time, small, source, task};
use fsarena_engine::Root;
use fsarena_model::job::{Compression, JobKind, Origin, Reflink, Source};
use fsarena_model::work::{JobTask, WorkerReport};
use fsarena_worker::tree::{TreeRun, stage};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn copy(input: &Path) -> JobTask {
    task("copy", JobKind::Copy, input)
}

/// Call, path and errno of the error of `report`.
fn error(report: &WorkerReport) -> (String, String, i32) {
    let error = report.error.clone().unwrap();
    assert_eq!(error.op_index, report.ops);
    (error.call, error.path, error.errno)
}

fn named(call: &str, path: &str, errno: Errno) -> (String, String, i32) {
    (call.to_owned(), path.to_owned(), errno.raw_os_error())
}

#[test]
fn what_is_missing_or_taken_is_named() {
    let dir = temp_dir();
    let untar = JobKind::Untar { compression: Compression::Gzip };
    for (kind, call) in [(JobKind::Copy, "fstatat"), (JobKind::Delete, "fstatat")] {
        let report = run(dir.path(), &task("x", kind, Path::new("data")));
        assert_eq!(error(&report), named(call, "data", Errno::NOENT));
    }
    let report = run(dir.path(), &task("x", untar.clone(), Path::new("data.tar.gz")));
    assert_eq!(error(&report), named("openat", "data.tar.gz", Errno::NOENT));
    let report = run(dir.path(), &task("x", untar, Path::new("data.tar.gz")));
    assert_eq!(error(&report), named("mkdirat", "x", Errno::EXIST));
    // Its directory is made while the clock runs, and what was done before stays durable.
    assert!(report.returned_monotonic_ns > report.start_monotonic_ns);
    assert!(report.durable_monotonic_ns.is_some() && report.latency.is_some());
    small(&dir.path().join("data"));
    let report = run(dir.path(), &task("x", JobKind::Copy, Path::new("data")));
    assert_eq!(error(&report), named("mkdirat", "x", Errno::EXIST));
    let report = run(dir.path(), &task("x", JobKind::Copy, Path::new("data/link")));
    assert!(report.error.unwrap().text.contains("neither a directory nor a regular file"));
}

#[test]
fn special_files_are_refused_by_name() {
    let dir = temp_dir();
    std::fs::create_dir_all(dir.path().join("data/d")).unwrap();
    program("mkfifo", dir.path(), &[OsStr::new("data/d/fifo")]);
    let report = run(dir.path(), &copy(Path::new("data")));
    let error = report.error.unwrap();
    assert_eq!((error.path.as_str(), error.errno), ("data/d/fifo", 0));
    assert!(error.text.contains("FIFO"), "{}", error.text);
}

#[test]
fn a_reflink_that_cannot_be_is_an_error() {
    let dir = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    std::fs::write(dir.path().join("data/f"), "x").unwrap();
    let task = JobTask { reflink: Reflink::Always, ..copy(Path::new("data")) };
    let report = run(dir.path(), &task);
    assert_eq!(error(&report), named("ioctl FICLONE", "copy/f", Errno::OPNOTSUPP));
}

/// Runs `work` on a thread that is user 65534; `None` (said) where this user may not become it.
fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if !rustix::process::geteuid().is_root() {
        println!("not run: needs root to become another user");
        return None;
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            // For this thread alone, which ends here.
            let id = rustix::process::Uid::from_raw(65534);
            rustix::thread::set_thread_res_uid(id, id, id).unwrap();
            work()
        });
        Some(other.join().unwrap())
    })
}

#[test]
fn what_may_not_be_read_or_removed_is_named() {
    let dir = temp_dir();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    std::fs::write(dir.path().join("data/f"), "x").unwrap();
    std::fs::set_permissions(dir.path().join("data/f"), PermissionsExt::from_mode(0o600)).unwrap();
    let run = |task| as_nobody(|| run(dir.path(), &task));
    if let Some(report) = run(copy(Path::new("data"))) {
        assert_eq!(error(&report), named("openat", "data/f", Errno::ACCESS));
    }
    if let Some(report) = run(task("x", JobKind::Delete, Path::new("data"))) {
        assert_eq!(error(&report), named("unlinkat", "data/f", Errno::ACCESS));
    }
}

/// A source elsewhere is asked for before the work: who closes the way is named.
#[test]
fn a_source_that_is_closed_is_named() {
    let dir = temp_dir();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let closed = dir.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    small(&closed.join("data"));
    let source = closed.join("data");
    let told = |mode: u32, path: &Path| {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        as_nobody(|| TreeRun::prepare(&copy(&source)).map(drop).map_err(|error| error.to_string()))
    };
    let Some(way) = told(0o700, &closed) else { return };
    let way = way.unwrap_err();
    assert!(way.contains(&format!("{} is closed to it", closed.display())), "{way}");
    assert!(way.starts_with("phase copy: ") && way.contains("chmod o+x"), "{way}");
    assert_eq!(told(0o711, &closed), Some(Ok(())), "open, though it cannot be listed");
    let itself = told(0o711, &source).unwrap().unwrap_err();
    assert!(itself.contains(&format!("{} is closed to it", source.display())), "{itself}");
}

/// Owners are root's to keep; a read-only file is copied with its attributes all the same.
#[test]
fn another_user_copies_for_itself() {
    let dir = temp_dir();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
    small(&dir.path().join("data"));
    let read_by_all = PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(dir.path().join("data/dir/in dir"), read_by_all).unwrap();
    set_time(&dir.path().join("data/dir/in dir"), 5, 0);
    let Some(report) = as_nobody(|| run(dir.path(), &copy(Path::new("data")))) else { return };
    assert_eq!(report.error, None);
    let copied = crate::facts(&dir.path().join("copy"));
    assert!(copied.values().all(|fact| fact.owner.0 == 65534));
    let verified = compared(dir.path(), "copy", "data", &source(None));
    assert_eq!((verified.bad_files, verified.examples), (0, vec![]));
}

#[test]
fn a_full_file_system_ends_copy_and_untar() {
    let dir = temp_dir();
    std::fs::create_dir(dir.path().join("data")).unwrap();
    for file in 0..40 {
        std::fs::write(dir.path().join(format!("data/f{file}")), [file; 100_000]).unwrap();
    }
    program("tar", dir.path(), &["-czf", "data.tar.gz", "-C", "data", "."].map(OsStr::new));
    let untar = JobKind::Untar { compression: Compression::Gzip };
    for (kind, input) in [(JobKind::Copy, "data"), (untar, "data.tar.gz")] {
        let Some(full) = crate::full::SmallTmpfs::mount(1 << 20) else { return };
        let report = run(full.path(), &task("made", kind, &dir.path().join(input)));
        let (call, path, errno) = error(&report);
        assert_eq!((call.as_str(), errno), ("write", Errno::NOSPC.raw_os_error()));
        assert!(path.starts_with("made/f") && (5..40).contains(&report.ops), "{path}");
        assert!(report.durable_monotonic_ns.is_some());
    }
}

#[test]
fn comparing_finds_every_difference() {
    let untouched = temp_dir();
    small(&untouched.path().join("data"));
    type Change = fn(&Path);
    let rewrite = |path: &Path, bytes: &[u8]| {
        let facts = crate::facts(path);
        std::fs::write(path, bytes).unwrap();
        let ns = facts[Path::new("")].mtime_ns;
        set_time(path, (ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64);
    };
    rewrite(&untouched.path().join("data/file"), b"contents");
    let changes: [(&str, Change); 9] = [
        ("file: is missing", |top| std::fs::remove_file(top.join("file")).unwrap()),
        ("new: is not in the original", |top| std::fs::write(top.join("new"), "").unwrap()),
        ("dir/empty: has 1 bytes instead of 0", |top| {
            std::fs::write(top.join("dir/empty"), "x").unwrap();
            set_time(&top.join("dir/empty"), 1_000_000_003, 123_456_789);
        }),
        ("dir/in dir: byte 299999 is 0x08 instead of 0x07", |top| {
            let mut bytes = vec![7; 300_000];
            bytes[299_999] = 8;
            std::fs::write(top.join("dir/in dir"), bytes).unwrap();
            set_time(&top.join("dir/in dir"), 1_000_000_002, 123_456_789);
        }),
        ("dir/in dir: has mode 0640 instead of 0600", |top| {
            let mode = PermissionsExt::from_mode(0o640);
            std::fs::set_permissions(top.join("dir/in dir"), mode).unwrap();
        }),
        ("dir/in dir: was changed at 5.000000000 s", |top| {
            set_time(&top.join("dir/in dir"), 5, 0);
        }),
        ("link: points to \"file\" instead of \"dir/in dir\"", |top| {
            std::fs::remove_file(top.join("link")).unwrap();
            std::os::unix::fs::symlink("file", top.join("link")).unwrap();
        }),
        ("dir/loop: is a directory instead of a symbolic link", |top| {
            std::fs::remove_file(top.join("dir/loop")).unwrap();
            std::fs::create_dir(top.join("dir/loop")).unwrap();
        }),
        ("is a file of its own instead of a further name", |top| {
            std::fs::remove_file(top.join("dir/second")).unwrap();
            std::fs::write(top.join("dir/second"), "contents").unwrap();
            set_time(&top.join("dir/second"), 1_000_000_008, 123_456_789);
        }),
    ];
    for (told, change) in changes {
        let dir = temp_dir();
        small(&dir.path().join("data"));
        done(dir.path(), &copy(Path::new("data")));
        assert_eq!(compared(dir.path(), "copy", "data", &source(None)).bad_files, 0);
        change(&dir.path().join("copy"));
        let report = compared(dir.path(), "copy", "data", &source(None));
        assert_eq!((report.bad_files, report.examples.len()), (1, 1), "{:?}", report.examples);
        assert!(report.examples[0].contains(told), "{told}: {:?}", report.examples);
    }
}

#[test]
fn comparing_with_an_archive_finds_differences() {
    let dir = temp_dir();
    let gzip = source(Some(Compression::Gzip));
    small(&dir.path().join("data"));
    program("tar", dir.path(), &["-czf", "data.tar.gz", "-C", "data", "."].map(OsStr::new));
    done(dir.path(), &copy(Path::new("data")));
    assert_eq!(compared(dir.path(), "copy", "data.tar.gz", &gzip).bad_files, 0);
    let top = dir.path().join("copy");
    std::fs::write(top.join("dir/new"), "").unwrap();
    std::fs::remove_file(top.join("dir/loop")).unwrap();
    std::fs::remove_file(top.join("link")).unwrap();
    std::os::unix::fs::symlink("file", top.join("link")).unwrap();
    std::fs::write(top.join("dir/in dir"), vec![9; 300_000]).unwrap();
    set_time(&top.join("dir/in dir"), 1_000_000_002, 0);
    let report = compared(dir.path(), "copy", "data.tar.gz", &gzip);
    assert_eq!(report.bad_files, 4, "{:?}", report.examples);
    for told in [
        "copy/dir/new: is not in the archive",
        "copy/dir/loop: is missing",
        "copy/link: points to \"file\" instead of \"dir/in dir\"",
        "copy/dir/in dir: byte 0 is 0x09 instead of 0x07",
    ] {
        assert!(report.examples.iter().any(|example| example == told), "{:?}", report.examples);
    }
    // The stream is checked to its end.
    let bytes = std::fs::read(dir.path().join("data.tar.gz")).unwrap();
    std::fs::write(dir.path().join("data.tar.gz"), &bytes[..bytes.len() / 2]).unwrap();
    let report = compared(dir.path(), "copy", "data.tar.gz", &gzip);
    assert!(report.examples.iter().any(|one| one.contains("archive cannot be read")));
    let report = compared(dir.path(), "none", "data.tar.gz", &gzip);
    assert_eq!(report.examples, ["none: it is missing"]);
}

#[test]
fn at_most_sixteen_examples_are_told() {
    let dir = temp_dir();
    for top in ["data", "copy"] {
        std::fs::create_dir(dir.path().join(top)).unwrap();
    }
    for file in 0..40 {
        std::fs::write(dir.path().join(format!("data/{file}")), "x").unwrap();
    }
    let report = compared(dir.path(), "copy", "data", &source(None));
    assert_eq!((report.bad_files, report.examples.len()), (40, 16));
}

#[test]
fn a_source_is_generated_or_copied_there() {
    let description = fsarena_corpus::small(300, 256, 3);
    let contents = description.tree().contents();
    let origin = Origin::Made { description: description.to_toml() };
    let made = Source { origin, contents, ..source(None) };
    let (dir, other) = (temp_dir(), temp_dir());
    stage(&Root::open(dir.path()).unwrap(), &made, None).unwrap();
    let entries = crate::facts(&dir.path().join("data")).len() as u64;
    assert_eq!(entries, contents.entries() + 1);
    let from = dir.path().join("data");
    stage(&Root::open(other.path()).unwrap(), &made, Some(&from)).unwrap();
    assert_eq!(differences(&other.path().join("data"), &from), Vec::<String>::new());
    // The name is taken; a tree is no archive; a path has to be given.
    let root = Root::open(other.path()).unwrap();
    let refused = |source: &Source, from| stage(&root, source, from).unwrap_err().to_string();
    assert!(refused(&made, Some(&from)).contains("mkdirat of data"));
    assert!(refused(&made, None).contains("mkdirat of data"));
    let gzip = source(Some(Compression::Gzip));
    assert!(refused(&gzip, Some(&from)).contains("plan again"));
    assert!(refused(&gzip, None).contains("no path is given"));
    program("tar", dir.path(), &["-czf", "mine.tgz", "-C", "data", "."].map(OsStr::new));
    stage(&root, &gzip, Some(&dir.path().join("mine.tgz"))).unwrap();
    let verified = compared(other.path(), "data", "data.tar.gz", &gzip);
    assert_eq!((verified.files, verified.bad_files), (300, 0), "{:?}", verified.examples);
}

#[test]
fn no_descriptor_stays_open() {
    let dir = temp_dir();
    small(&dir.path().join("data"));
    program("tar", dir.path(), &["-czf", "data.tar.gz", "-C", "data", "."].map(OsStr::new));
    let below = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap();
        let targets = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        targets.filter(|target| target.starts_with(dir.path())).count()
    };
    let untar = JobKind::Untar { compression: Compression::Gzip };
    for task in [
        copy(Path::new("data")),
        task("unpack", untar, Path::new("data.tar.gz")),
        task("delete", JobKind::Delete, Path::new("data")),
    ] {
        let mut prepared = TreeRun::prepare(&task).unwrap();
        let root = Root::open(dir.path()).unwrap();
        let before = below();
        assert_eq!(prepared.run(&root).error, None);
        assert!(prepared.run(&root).error.is_some(), "it is there, or gone");
        assert_eq!(below(), before);
    }
}
