//! Ops on names, lengths and attributes, by blocking calls and by io_uring, with one thread and
//! with three: what they leave is there, is followed by the check of the contents, and is deleted
//! with the files.

use crate::support::{by, phase, run, seed, verify};
use fsarena_engine::Job;
use fsarena_model::work::{
    Backend, Dataset, DatasetState, Fsync, Io, Op, Phase, Sharing, WorkerReport,
};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use tempfile::TempDir;

/// 40 files of 4500 bytes in five directories.
const SET: Dataset = Dataset {
    files: 40,
    size_bytes: 4500,
    dirs: 5,
    depth: 0,
    name_bytes: None,
    sizes: None,
    per_dir: None,
};

/// How the calls are made.
#[allow(clippy::print_stdout, reason = "the line is how a test says that it was not run")]
fn ways() -> Vec<Io> {
    let uring = Io { backend: Backend::IoUring, iodepth: 4, ..Io::default() };
    let stat = phase(Op::Stat, 4096, &uring);
    let probe = Job::new(&SET, &stat, seed(), seed());
    let mut ways = vec![
        Io::default(),
        by(3, Sharing::Own),
        Io { fsync: Fsync::End, ..by(3, Sharing::Shared) },
    ];
    match fsarena_engine::Prepared::new(&probe) {
        Ok(_) => ways.extend([uring.clone(), Io { threads: 3, iodepth: 2, ..uring }]),
        Err(error) => println!("not run: {error}"),
    }
    ways
}

/// Runs a phase, which goes well.
fn done(dir: &TempDir, set: &Dataset, state: &mut DatasetState, phase: &Phase) -> WorkerReport {
    let report = run(dir.path(), set, state, phase);
    assert_eq!(report.error, None, "{phase:?}");
    assert_eq!(report.ops, phase.count(set), "{phase:?}");
    // The same without a call.
    let null = Phase { io: Io { backend: Backend::Null, ..Io::default() }, ..phase.clone() };
    let job = Job { state: *state, ..Job::new(set, &null, seed(), seed()) };
    let root = fsarena_engine::Root::open(dir.path()).unwrap();
    assert_eq!(job.run(&root).unwrap().ops, report.ops, "{null:?}");
    report
}

/// The plan does not let such a phase follow.
fn refused(state: &DatasetState, op: Op, why: &str) {
    let refusal = (op.info().refuses)(state);
    assert!(refusal.is_some_and(|(finds, _)| finds.contains(why)), "{op:?}: {refusal:?}");
}

fn lengths(dir: &TempDir) -> Vec<u64> {
    let dirs = fs::read_dir(dir.path()).unwrap().flatten();
    let files = dirs.flat_map(|dir| fs::read_dir(dir.path()).unwrap().flatten());
    files.map(|file| file.metadata().unwrap().len()).collect()
}

fn whole(dir: &TempDir, set: &Dataset, state: &DatasetState, io: &Io) {
    for bs_bytes in [700, 1 << 20] {
        let report = verify(dir.path(), set, state, bs_bytes);
        assert_eq!((report.files, report.bad_files), (set.files, 0), "{io:?}: {report:#?}");
    }
}

/// Deletes the files and the directories; nothing is left.
fn delete_all(dir: &TempDir, state: &mut DatasetState, io: &Io) {
    done(dir, &SET, state, &phase(Op::Delete, 4096, io));
    done(dir, &SET, state, &phase(Op::Rmdir, 4096, &Io { sharing: Sharing::Own, ..io.clone() }));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{io:?}");
}

#[test]
fn truncate_cuts_files_and_the_rest_is_still_right() {
    for io in ways() {
        let (dir, mut state) = (crate::support::temp_dir(), DatasetState::default());
        let steps = [(Op::Create, 4096), (Op::Append, 600), (Op::Truncate, 1500)];
        for (op, bs_bytes) in steps {
            done(&dir, &SET, &mut state, &phase(op, bs_bytes, &io));
        }
        assert_eq!(lengths(&dir), [1500; 40]);
        whole(&dir, &SET, &state, &io);
        // What is appended then comes behind the cut, and what is not longer stays as it is.
        for (op, bs_bytes) in [(Op::Append, 100), (Op::Truncate, 1 << 20), (Op::Read, 512)] {
            done(&dir, &SET, &mut state, &phase(op, bs_bytes, &io));
        }
        assert_eq!(lengths(&dir), [1600; 40]);
        whole(&dir, &SET, &state, &io);
        let report = done(&dir, &SET, &mut state, &Phase::new("p", Op::Truncate, 0));
        assert_eq!((report.ops, report.asked_bytes), (40, 0));
        assert_eq!(lengths(&dir), [0; 40]);
        whole(&dir, &SET, &state, &io);
        delete_all(&dir, &mut state, &io);
    }
}

#[test]
fn link_makes_a_second_name_that_goes_with_the_file() {
    for io in ways() {
        let (dir, mut state) = (crate::support::temp_dir(), DatasetState::default());
        done(&dir, &SET, &mut state, &phase(Op::Create, 4096, &io));
        let report = done(&dir, &SET, &mut state, &phase(Op::Link, 4096, &io));
        assert_eq!((report.ops, report.asked_bytes), (40, 0));
        let links = fs::read_dir(dir.path().join("d00003")).unwrap().flatten();
        let mut names: Vec<_> =
            links.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        let of = |letter: &str| (24..32).map(|n| format!("{letter}{n:08}")).collect::<Vec<_>>();
        assert_eq!(names, [of("f"), of("l")].concat());
        let inode = |name: &str| dir.path().join(name).metadata().unwrap().ino();
        assert_eq!(inode("d00003/f00000025"), inode("d00003/l00000025"));
        refused(&state, Op::Link, "links that are there");
        whole(&dir, &SET, &state, &io);
        delete_all(&dir, &mut state, &io);
    }
}

#[test]
fn symlink_names_its_file_and_goes_with_it() {
    for io in ways() {
        let (dir, mut state) = (crate::support::temp_dir(), DatasetState::default());
        for op in [Op::Create, Op::Symlink, Op::Link] {
            let report = done(&dir, &SET, &mut state, &phase(op, 4096, &io));
            assert_eq!(report.ops, 40);
        }
        let link = dir.path().join("d00004/s00000039");
        assert_eq!(fs::read_link(&link).unwrap().to_str(), Some("f00000039"));
        assert_eq!(link.metadata().unwrap().len(), 4500, "it is found");
        refused(&state, Op::Symlink, "symbolic links that are there");
        whole(&dir, &SET, &state, &io);
        delete_all(&dir, &mut state, &io);
    }
}

#[test]
fn setxattr_gives_each_file_a_value() {
    for io in ways() {
        let (dir, mut state) = (crate::support::temp_dir(), DatasetState::default());
        done(&dir, &SET, &mut state, &phase(Op::Create, 4096, &io));
        let bs_bytes = Op::Setxattr.info().bs.1;
        let report = done(&dir, &SET, &mut state, &phase(Op::Setxattr, 100, &io));
        assert_eq!((report.ops, report.asked_bytes), (40, 0));
        whole(&dir, &SET, &state, &io);
        done(&dir, &SET, &mut state, &phase(Op::Setxattr, bs_bytes, &io));
        assert_eq!(state.attribute_bytes, Some(bs_bytes), "replaced");
        whole(&dir, &SET, &state, &io);
        let path = dir.path().join("d00000/f00000000");
        rustix::fs::setxattr(&path, c"user.fsarena", b"x", rustix::fs::XattrFlags::empty())
            .unwrap();
        let report = verify(dir.path(), &SET, &state, 4096);
        assert_eq!(report.examples, ["d00000/f00000000: has another attribute"]);
        delete_all(&dir, &mut state, &io);
    }
}

#[test]
fn getxattr_reads_what_was_set() {
    for io in ways() {
        let (dir, mut state) = (crate::support::temp_dir(), DatasetState::default());
        done(&dir, &SET, &mut state, &phase(Op::Create, 4096, &io));
        refused(&state, Op::Getxattr, "no attributes");
        done(&dir, &SET, &mut state, &phase(Op::Setxattr, 64, &io));
        let report = done(&dir, &SET, &mut state, &phase(Op::Getxattr, 64, &io));
        assert_eq!((report.ops, report.asked_bytes), (40, 0));
        // Another size than the one that was set is no value that was read whole.
        let report = run(dir.path(), &SET, &mut state, &phase(Op::Getxattr, 65, &io));
        let error = report.error.unwrap();
        assert_eq!((error.call.as_str(), error.errno), ("getxattr", 0));
        whole(&dir, &SET, &state, &io);
        delete_all(&dir, &mut state, &io);
    }
}

/// Each whole block of each file once; what is behind the last one stays.
#[test]
fn randtrim_gives_blocks_back_and_files_stay_as_long_as_they_are() {
    let head = [0; 4096];
    for io in ways() {
        for fsync in [Fsync::None, Fsync::Op, Fsync::File] {
            let (dir, mut state) = (crate::support::temp_dir(), DatasetState::default());
            done(&dir, &SET, &mut state, &phase(Op::Create, 4500, &io));
            let file = dir.path().join("d00001/f00000009");
            let tail = fs::read(&file).unwrap().split_off(4096);
            let io = Io { fsync, ..io.clone() };
            let report = done(&dir, &SET, &mut state, &phase(Op::RandTrim, 4096, &io));
            assert_eq!((report.ops, report.asked_bytes), (40, 0));
            assert_eq!(lengths(&dir), [4500; 40]);
            assert_eq!(fs::read(&file).unwrap(), [&head, tail.as_slice()].concat());
            assert!(file.metadata().unwrap().blocks() * 512 <= 4096, "space is given back");
            whole(&dir, &SET, &state, &io);
            fs::write(&file, [&head, &[1; 404][..]].concat()).unwrap();
            assert_eq!(verify(dir.path(), &SET, &state, 4096).bad_files, 1, "contents are still");
            done(&dir, &SET, &mut state, &phase(Op::Overwrite, 4096, &io));
            whole(&dir, &SET, &state, &io);
        }
    }
}

#[test]
fn fallocate_makes_files_of_zeros_that_can_be_written_over() {
    for io in ways() {
        let (dir, mut state) = (crate::support::temp_dir(), DatasetState::default());
        let report = done(&dir, &SET, &mut state, &phase(Op::Fallocate, 4096, &io));
        assert_eq!((report.ops, report.asked_bytes), (40, 0));
        assert_eq!(lengths(&dir), [4500; 40]);
        let file = dir.path().join("d00001/f00000009");
        assert!(file.metadata().unwrap().blocks() * 512 >= 4500, "space is taken");
        assert_eq!(fs::read(&file).unwrap(), [0; 4500]);
        done(&dir, &SET, &mut state, &phase(Op::Read, 4096, &io));
        whole(&dir, &SET, &state, &io);
        done(&dir, &SET, &mut state, &phase(Op::Overwrite, 4096, &io));
        whole(&dir, &SET, &state, &io);
        fs::write(&file, [0; 4500]).unwrap();
        assert_eq!(verify(dir.path(), &SET, &state, 4096).bad_files, 1, "zeros are wrong now");
        delete_all(&dir, &mut state, &io);
    }
}
