//! Errors in the middle of a phase: it ends there, reports what was done and names call, path and
//! op; with several threads the others end as well.

use crate::support::{Asking, by, seed};
use fsarena_engine::backend::sync::Sync;
use fsarena_engine::root::make_dirs;
use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::work::{Dataset, DatasetState, Fsync, Io, Op, Phase, Sharing, WorkerReport};
use rustix::io::Errno;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs `op` with the `nth` call of `broken` failing with `errno` in each phase.
fn fail(op: Op, io: &Io, broken: &str, nth: u64, errno: Errno) -> WorkerReport {
    let dir = crate::support::temp_dir();
    let root = Root::open(dir.path()).unwrap();
    let dataset = Dataset::uniform(30, 4000, 5);
    let mut state = DatasetState::default();
    if op != Op::Mkdir {
        make_dirs(&root, &dataset).unwrap();
    }
    if op.needs_files() {
        crate::support::run(dir.path(), &dataset, &mut state, &Phase::new("c", Op::Create, 1000));
    }
    let phase = crate::support::phase(op, 1000, io);
    let count = AtomicU64::new(0);
    let ask = |call: &str| {
        let is_due = call == broken && count.fetch_add(1, Ordering::Relaxed) == nth;
        if is_due { Err(errno) } else { Ok(()) }
    };
    let backend = Asking { real: Sync::new(&root, io), ask };
    let job = Job { state, ..Job::new(&dataset, &phase, seed(), seed()) };
    let before = open_below(dir.path());
    let report = Prepared::new(&job).unwrap().run(&backend);
    assert_eq!(open_below(dir.path()), before, "{op:?}: files are closed after errors");
    report
}

/// Open files of this process below `dir`: other tests open theirs elsewhere.
fn open_below(dir: &Path) -> usize {
    let files = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    targets.filter(|target| target.starts_with(dir)).count()
}

#[test]
fn every_op_ends_at_its_first_error() {
    let (one, synced) = (Io::default(), Io { fsync: Fsync::Op, ..Io::default() });
    for (op, io, broken, call, done) in [
        (Op::Create, &one, "write", "write", 1),
        (Op::Create, &one, "create", "open", 7),
        (Op::Create, &synced, "fsync", "fsync", 7),
        (Op::Create, &one, "close", "close", 7),
        (Op::Read, &one, "read", "read", 1),
        (Op::Overwrite, &one, "open_write", "open", 7),
        (Op::Append, &one, "write", "write", 7),
        (Op::Stat, &one, "stat", "stat", 7),
        (Op::Rename, &one, "rename", "rename", 7),
        (Op::Rename, &synced, "open_dir", "open", 7),
        (Op::Delete, &one, "unlink", "unlink", 7),
        (Op::BigWrite, &one, "write", "write", 7),
        (Op::BigRead, &one, "open", "open", 28),
        (Op::BigOverwrite, &synced, "fsync", "fsync", 7),
        (Op::RandRead, &one, "read_at", "read", 7),
        (Op::RandRead, &one, "open", "open", 0),
        (Op::RandWrite, &one, "write_at", "write", 7),
        (Op::RandTrim, &one, "call_on_file", "fallocate", 7),
        (Op::RandTrim, &synced, "fsync", "fsync", 7),
    ] {
        for errno in [Errno::NOSPC, Errno::IO] {
            let report = fail(op, io, broken, 7, errno);
            let error = report.error.unwrap();
            assert_eq!((error.call.as_str(), error.errno), (call, errno.raw_os_error()), "{op:?}");
            assert_eq!((report.ops, error.op_index), (done, done), "{op:?} {broken}");
            assert_eq!(report.latency.unwrap().count(), done, "{op:?}");
            assert!(error.path.contains("/f000000"), "{op:?}: {}", error.path);
            assert!(report.durable_monotonic_ns.is_some(), "what was done is made durable");
        }
    }
    // Two directories have been done: of a walk with all that is in them.
    let walked = 2 * (1 + 6);
    for (op, broken, call, done) in [
        (Op::Mkdir, "mkdir", "mkdir", 2),
        (Op::List, "list", "getdents64", 2),
        (Op::List, "open_dir", "open", 2),
        (Op::Find, "open_dir", "open", walked),
        (Op::Find, "entries", "getdents64", walked),
    ] {
        let report = fail(op, &one, broken, 2, Errno::IO);
        let error = report.error.unwrap();
        assert_eq!((error.call.as_str(), error.path.as_str(), report.ops), (call, "d00002", done));
    }
    let end = Io { fsync: Fsync::End, ..Io::default() };
    let error = fail(Op::Create, &end, "sync", 0, Errno::IO).error.unwrap();
    assert_eq!((error.call.as_str(), error.path.as_str(), error.op_index), ("syncfs", ".", 30));
    let error = fail(Op::Create, &one, "sync", 0, Errno::IO).error.unwrap();
    assert_eq!((error.call.as_str(), error.op_index), ("syncfs", 30));
}

#[test]
fn one_thread_that_fails_ends_all() {
    for sharing in [Sharing::Own, Sharing::Shared] {
        for (op, broken) in
            [(Op::Create, "write"), (Op::BigRead, "read"), (Op::RandWrite, "write_at")]
        {
            let broken =
                if sharing == Sharing::Shared && op == Op::BigRead { "read_at" } else { broken };
            let report = fail(op, &by(3, sharing), broken, 10, Errno::NOSPC);
            let error = report.error.unwrap();
            assert_eq!(error.errno, Errno::NOSPC.raw_os_error(), "{op:?} {sharing:?}");
            assert!(error.thread.is_some_and(|thread| thread < 3), "{error:?}");
            assert!(report.ops < 110, "{op:?} {sharing:?}: {} ops", report.ops);
            assert_eq!(report.threads.len(), 3);
            let sum: u64 = report.threads.iter().map(|thread| thread.ops).sum();
            assert_eq!((sum, report.latency.unwrap().count()), (report.ops, report.ops));
        }
    }
}

#[test]
fn a_short_read_is_an_error_without_errno() {
    let dir = crate::support::temp_dir();
    let dataset = Dataset::uniform(3, 4000, 0);
    let mut state = DatasetState::default();
    crate::support::run(dir.path(), &dataset, &mut state, &Phase::new("c", Op::Create, 4096));
    std::fs::write(dir.path().join("f00000002"), "short").unwrap();
    for (op, done) in [(Op::Read, 2), (Op::BigRead, 8), (Op::RandRead, 0)] {
        let report =
            crate::support::run(dir.path(), &dataset, &mut state, &Phase::new("r", op, 1000));
        let error = report.error.unwrap();
        assert_eq!((error.call.as_str(), error.errno), ("read", 0), "{op:?}");
        assert!(error.path.ends_with("f00000002"), "{op:?}");
        assert!(done == 0 || report.ops == done, "{op:?}");
    }
}

/// Needs root: it mounts a tmpfs of 1 MiB.
#[test]
fn loop_a_full_file_system_ends_every_phase_that_writes() {
    use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
    if !rustix::process::geteuid().is_root() {
        println!("not run: loop_a_full_file_system_ends_every_phase_that_writes needs root");
        return;
    }
    let dataset = Dataset::uniform(40, 50_000, 4);
    for (op, io) in [
        (Op::Create, Io::default()),
        (Op::Create, by(3, Sharing::Own)),
        (Op::BigWrite, by(3, Sharing::Own)),
        (Op::Append, by(3, Sharing::Shared)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let size = std::ffi::CString::new("size=1m").unwrap();
        if let Err(error) = mount("fsarena-test", dir.path(), "tmpfs", MountFlags::empty(), &*size)
        {
            println!("not run: loop_a_full_file_system: cannot mount a tmpfs: {error}");
            return;
        }
        let mut state = DatasetState::default();
        let mut dataset = dataset.clone();
        if op == Op::Append {
            dataset.size_bytes = 1000;
            let create = Phase::new("c", Op::Create, 4096);
            crate::support::run(dir.path(), &dataset, &mut state, &create);
        }
        let phase = crate::support::phase(op, 50_000, &io);
        let report = crate::support::run(dir.path(), &dataset, &mut state, &phase);
        unmount(dir.path(), UnmountFlags::empty()).unwrap();
        let error = report.error.unwrap();
        // Also where the write took a part of what it was given.
        let nospc = Errno::NOSPC;
        assert_eq!((error.call.as_str(), error.errno), ("write", nospc.raw_os_error()), "{op:?}");
        assert_eq!(error.text, nospc.to_string());
        assert!(report.ops > 3 && report.ops < 40, "{op:?}: {}", report.ops);
        assert_eq!(report.asked_bytes, report.ops * 50_000, "{op:?}");
        assert!(report.latency.is_some() && report.durable_monotonic_ns.is_some());
    }
}
