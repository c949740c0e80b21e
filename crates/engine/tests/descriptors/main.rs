//! Backends that keep descriptors and mappings: mmap and io_uring. One test at a time runs, since
//! they count the descriptors of this process.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests
#![expect(unsafe_code, reason = "madvise on pages of the test")]

#[path = "../support/full.rs"]
mod full;
#[path = "../support/mod.rs"]
mod support;
mod uring;

use fsarena_engine::backend::mmap::Mmap;
use fsarena_engine::backend::{Backend as _, OpenMode};
use fsarena_engine::{Job, Prepared, Root};
use fsarena_model::work::{Backend, Dataset, DatasetState, Fsync, Io, Op, Sharing};
use full::{SmallTmpfs, descriptors};
use rustix::io::Errno;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::{phase, run, seed, verify};

/// No other test of this program runs meanwhile.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn mapped() -> Io {
    Io { backend: Backend::Mmap, ..Io::default() }
}

#[test]
fn every_op_on_big_files_does_its_work() {
    let _alone = alone();
    let before = descriptors();
    for size_bytes in [40 * 4096, 300_000, 0] {
        for fsync in [Fsync::None, Fsync::Op, Fsync::File, Fsync::Dir, Fsync::End] {
            let dir = tempfile::tempdir().unwrap();
            let dataset = Dataset::uniform(3, size_bytes, 2);
            let mut state = DatasetState::default();
            for op in [
                Op::BigWrite,
                Op::BigRead,
                Op::BigOverwrite,
                Op::RandRead,
                Op::RandWrite,
                Op::RandRw,
            ] {
                if size_bytes == 0 && op.is_random() {
                    continue;
                }
                let phase = phase(op, 4096, &Io { fsync, ..mapped() });
                let report = run(dir.path(), &dataset, &mut state, &phase);
                assert_eq!((report.error, report.ops), (None, phase.count(&dataset)), "{phase:?}");
                let found = verify(dir.path(), &dataset, &state, 4096);
                assert_eq!((found.files, found.bad_files), (3, 0), "{op:?} {found:?}");
            }
        }
    }
    assert_eq!(descriptors(), before, "no descriptor is left open");
}

#[test]
fn threads_share_a_mapped_file() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::uniform(4, 100 * 4096, 0);
    let mut state = DatasetState::default();
    run(dir.path(), &dataset, &mut state, &phase(Op::BigWrite, 4096, &mapped()));
    let io = Io { threads: 4, sharing: Sharing::Shared, ..mapped() };
    for op in [Op::BigOverwrite, Op::BigRead, Op::RandWrite] {
        let phase = phase(op, 4096, &io);
        let report = run(dir.path(), &dataset, &mut state, &phase);
        assert_eq!((report.error, report.ops), (None, 400), "{op:?}");
        assert_eq!(verify(dir.path(), &dataset, &state, 4096).bad_files, 0);
    }
}

/// The kernel answers a touch behind the end of a file with SIGBUS.
#[test]
fn a_file_cut_under_its_mapping_is_an_error_of_the_op() {
    let _alone = alone();
    let before = descriptors();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("f"), vec![7; 64 * 4096]).unwrap();
    let root = Root::open(dir.path()).unwrap();
    let backend = Mmap::new(&root, Op::BigRead);
    let file = backend.open(c"f", OpenMode::ReadWrite).unwrap();
    let mut bytes = vec![0; 3 * 4096];
    assert_eq!(backend.read_at(file, 8192, &mut bytes), Ok(3 * 4096));
    assert_eq!(bytes, vec![7; 3 * 4096]);
    fs::File::options().write(true).open(dir.path().join("f")).unwrap().set_len(16 * 4096).unwrap();
    assert_eq!(backend.read_at(file, 15 * 4096, &mut bytes), Err(Errno::IO), "two of three");
    assert_eq!(backend.write_at(file, 40 * 4096, &bytes), Err(Errno::IO));
    // What is still there goes on working, and a failure is told once.
    assert_eq!(backend.read_at(file, 12 * 4096, &mut bytes), Ok(3 * 4096));
    assert_eq!(backend.write_at(file, 0, &bytes), Ok(3 * 4096));
    // Behind the mapping there is nothing to read.
    assert_eq!(backend.read_at(file, 64 * 4096, &mut bytes), Ok(0));
    assert_eq!(backend.read_at(file, 63 * 4096 + 96, &mut bytes), Err(Errno::IO));
    backend.close(file).unwrap();
    assert_eq!(descriptors(), before + 1, "the root alone");
}

#[test]
fn a_file_that_is_too_short_ends_the_phase() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::uniform(2, 10 * 4096, 0);
    let mut state = DatasetState::default();
    run(dir.path(), &dataset, &mut state, &phase(Op::BigWrite, 4096, &mapped()));
    let short = dir.path().join("f00000001");
    fs::File::options().write(true).open(short).unwrap().set_len(5 * 4096).unwrap();
    let report = run(dir.path(), &dataset, &mut state, &phase(Op::BigRead, 4096, &mapped()));
    let error = report.error.unwrap();
    assert_eq!((report.ops, error.op_index, error.call.as_str()), (15, 15, "read"));
    assert_eq!((error.path.as_str(), error.errno), ("f00000001", 0));
}

/// A page that a full tmpfs has no room for is a SIGBUS too.
#[test]
fn loop_a_full_file_system_ends_the_phase() {
    let _alone = alone();
    let Some(small) = SmallTmpfs::mount(1 << 20) else { return };
    let before = descriptors();
    let dataset = Dataset::uniform(1, 4 << 20, 0);
    let mut state = DatasetState::default();
    let report = run(small.path(), &dataset, &mut state, &phase(Op::BigWrite, 8192, &mapped()));
    let error = report.error.unwrap();
    assert_eq!((error.call.as_str(), error.errno), ("write", Errno::NOSPC.raw_os_error()));
    assert!(report.ops >= 120 && report.ops <= 128, "{}", report.ops);
    assert_eq!(error.op_index, report.ops);
    assert_eq!(descriptors(), before, "no descriptor is left open");
}

/// A SIGBUS that is none of ours ends the process: checked in a child.
#[test]
fn other_bus_errors_keep_their_meaning() {
    const CHILD: &str = "FSARENA_TEST_SIGBUS_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::open(dir.path()).unwrap();
        let _backend = Mmap::new(&root, Op::BigRead);
        drop(dir);
        // SAFETY: sends a signal to this thread.
        unsafe { libc::raise(libc::SIGBUS) };
        std::process::exit(0);
    }
    use std::os::unix::process::ExitStatusExt as _;
    let _alone = alone();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "other_bus_errors_keep_their_meaning"])
        .env(CHILD, "1")
        .output()
        .unwrap()
        .status;
    assert_eq!(status.signal(), Some(libc::SIGBUS), "{status:?}");
}

#[test]
fn names_and_direct_io_are_refused() {
    for (op, io) in [
        (Op::Create, mapped()),
        (Op::Stat, mapped()),
        (Op::BigRead, Io { direct: true, ..mapped() }),
        (Op::BigRead, Io { iodepth: 2, ..mapped() }),
    ] {
        let dataset = Dataset::uniform(4, 4096, 0);
        let phase = phase(op, 4096, &io);
        let refused = Prepared::new(&Job::new(&dataset, &phase, seed(), seed())).unwrap_err();
        assert!(refused.to_string().contains("mmap"), "{refused}");
    }
}
