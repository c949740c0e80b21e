//! Errors of the system in the middle of each kind of phase: full, broken and vanished devices.
//!
//! The executor is paused before a phase, something is done to its file system or device, and it
//! goes on. Always: the phase is in the record with its error, marked as partial and in no figure;
//! phases before it are kept; nothing is left; the next start is clean.

use crate::support::{
    FEW_INODES, Paused, Ran, TestEnv, assert_nothing_left, device_of, image_in, sh, tool,
};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use fsarena_testkit::ballast::fill;
use rustix::fs::FallocateFlags;
use std::fs::{self, File};

const ENOSPC: i32 = 28;
const EIO: i32 = 5;
/// What ext4 says of a block beyond the end of its device.
const ENOMEM: i32 = 12;
/// What a file system says after it has given up writing.
const EROFS: i32 = 30;
/// What ext4 says of zeros where it wrote a block with a checksum.
const EBADMSG: i32 = 74;

/// One phase that is disturbed.
struct Case<'a> {
    fs: &'a str,
    /// Keys of the workload and its phases; the last phase is the one that fails.
    work: &'a str,
    /// Name of that phase.
    phase: &'a str,
    /// Names of the phases before it.
    before: &'a [&'a str],
}

impl Case<'_> {
    fn start<'s>(&self, env: &'s TestEnv, device: &str, cache: &str, more: &[&str]) -> Paused<'s> {
        let factors = format!("fs = \"{}\"\ndevice = \"{device}\"\ncache = \"{cache}\"", self.fs);
        let work = format!("[[workload]]\nname = \"w\"\n{}\n", self.work);
        let file = env.experiment(&factors, &work);
        env.pause(&[&["run", &file], more].concat(), &format!("measure {}", self.phase))
    }

    /// What holds after every failure; the record, for more.
    #[track_caller]
    fn assert_failed(
        &self,
        env: &TestEnv,
        ran: Ran,
        errnos: &[i32],
        calls: &[&str],
    ) -> TrialRecord {
        let ran = ran.code(1);
        assert_nothing_left(env);
        let run = env.runs().len();
        assert_eq!(env.runs()[run - 1].state, RunState::Done);
        let record = env.records(run).remove(0);
        let Outcome::Failed { step, error, remedy } = &record.outcome else {
            panic!("{}: {:?}\n{}", self.work, record.outcome, ran.stdout);
        };
        assert_eq!(*step, format!("measure {}", self.phase), "{error}");
        assert!(remedy.is_some(), "{error}");
        let names: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
        // A device that is gone may take the root with it before the phase begins.
        if errnos.contains(&EIO) && error.contains("cannot open it as a directory") {
            assert_eq!(names, self.before, "{error}");
            ran.says(&[error.as_str(), "Failed"]);
            return record;
        }
        assert_eq!(names, [self.before, &[self.phase]].concat(), "{error}");
        let (partial, whole) = record.phases.split_last().expect("at least one");
        assert!(whole.iter().all(|phase| phase.error.is_none() && phase.ops > 0), "{whole:?}");
        let failed = partial.error.as_ref().expect("it is marked");
        assert!(errnos.contains(&failed.errno), "{failed:?}");
        assert!(calls.contains(&failed.call.as_str()), "{failed:?}");
        assert!(error.contains(&failed.call) && error.contains(&failed.path), "{error}");
        if failed.call != "syncfs" {
            assert!(error.contains(&format!("op {}", failed.op_index)), "{error}");
            assert!(partial.ops <= failed.op_index || partial.io.iodepth * partial.io.threads > 1);
        }
        let ran =
            ran.says(&[error.as_str(), "Failed", &format!("partial: {} ended after", self.phase)]);
        let section = ran.stdout.split_once(&format!("w / {}:", self.phase)).expect("its table").1;
        let row = section.lines().find(|line| line.starts_with(self.fs)).expect("its row");
        let figures = row.trim_start_matches(self.fs).trim();
        assert_eq!(figures, "partial", "no figure of it: {row}");
        let listed = env.run(&["list"]).good();
        assert_eq!(listed.stderr, "", "nothing was left to be removed");
        record
    }
}

/// Runs each case on a file system that has `left_bytes` when the last phase begins.
#[track_caller]
fn full(cases: &[(Case<'_>, u64, &[&str])]) {
    let names: Vec<&str> = cases.iter().map(|case| case.0.fs).collect();
    let Some(env) = TestEnv::privileged(&names) else { return };
    for (case, left_bytes, calls) in cases {
        let device = device_of(case.fs).replace("loop", "ram");
        let paused = case.start(&env, &device, "warm", &[]);
        fill(&paused.root(), *left_bytes).unwrap();
        let ran = paused.go_on();
        let record = case.assert_failed(&env, ran, &[ENOSPC], calls);
        let Outcome::Failed { remedy, .. } = &record.outcome else { return };
        assert!(remedy.as_ref().is_some_and(|text| text.contains("--on")), "{remedy:?}");
    }
}

const SMALL: &str = "files = 2000\nsize = \"4 KiB\"\ndirs = 8\n";
const BIG: &str = "files = 4\nsize = \"4 MiB\"\nbs = \"64 KiB\"\n";

macro_rules! case {
    ($fs:literal, $set:ident, $keys:literal, [$($before:literal),*], $phase:literal) => {
        Case {
            fs: $fs,
            work: &format!("{}{}", $set, $keys),
            phase: $phase,
            before: &[$($before),*],
        }
    };
}

#[test]
fn full_while_files_are_made() {
    full(&[
        (case!("ext4", SMALL, "phases = [\"create\"]", [], "create"), 2 << 20, &["write", "open"]),
        (
            case!("ext4", SMALL, "threads = 4\nphases = [\"create\"]", [], "create"),
            2 << 20,
            &["write", "open"],
        ),
        (
            case!(
                "ext4",
                SMALL,
                "backend = \"io_uring\"\niodepth = 8\nthreads = 2\nphases = [\"create\"]",
                [],
                "create"
            ),
            2 << 20,
            &["write", "open"],
        ),
        (case!("xfs", SMALL, "phases = [\"create\"]", [], "create"), 2 << 20, &["write", "open"]),
        (
            case!("btrfs", SMALL, "phases = [\"create\"]", [], "create"),
            0,
            &["write", "open", "syncfs"],
        ),
    ]);
}

#[test]
fn full_while_files_grow() {
    full(&[
        (
            case!("ext4", SMALL, "phases = [\"create\", \"append\"]", ["create"], "append"),
            1 << 20,
            &["write"],
        ),
        (
            case!(
                "ext4",
                SMALL,
                "backend = \"io_uring\"\niodepth = 8\nphases = [\"create\", \"append\"]",
                ["create"],
                "append"
            ),
            1 << 20,
            &["write"],
        ),
        (
            case!(
                "btrfs",
                BIG,
                "phases = [\"big-write\", \"big-overwrite\"]",
                ["big-write"],
                "big-overwrite"
            ),
            0,
            &["write", "syncfs"],
        ),
        (
            case!(
                "btrfs",
                BIG,
                "phases = [\"big-write\", { op = \"randwrite\", fsync = \"op\" }]",
                ["big-write"],
                "randwrite"
            ),
            0,
            &["write", "fsync", "fsync of the directory that holds"],
        ),
    ]);
}

#[test]
fn full_while_big_files_are_written() {
    full(&[
        (case!("ext4", BIG, "phases = [\"big-write\"]", [], "big-write"), 6 << 20, &["write"]),
        (
            case!("ext4", BIG, "threads = 4\nphases = [\"big-write\"]", [], "big-write"),
            6 << 20,
            &["write"],
        ),
        (
            case!(
                "xfs",
                BIG,
                "backend = \"io_uring\"\ndirect = true\niodepth = 8\nphases = [\"big-write\"]",
                [],
                "big-write"
            ),
            6 << 20,
            &["write"],
        ),
        (
            case!("ext4", BIG, "backend = \"mmap\"\nphases = [\"big-write\"]", [], "big-write"),
            6 << 20,
            &["write", "mmap", "fallocate", "ftruncate", "memcpy", "copy"],
        ),
        (
            case!("tmpfs", BIG, "backend = \"mmap\"\nphases = [\"big-write\"]", [], "big-write"),
            6 << 20,
            &["write", "mmap", "fallocate", "ftruncate", "memcpy", "copy"],
        ),
    ]);
}

/// No inode is left: for files, for directories, and in what is done before the first phase.
#[test]
fn no_inodes() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let ring = "backend = \"io_uring\"\niodepth = 8\nthreads = 2\ndirs = 4\n";
    for (work, step, call, made) in [
        ("files = 3000\nsize = 1\nphases = [\"read\"]", "prepare prepare", "open", 0),
        ("files = 3000\nsize = 1\ndirs = 2900\nphases = [\"create\"]", "make-dirs", "d02037", 0),
        ("dirs = 3000\nphases = [\"mkdir\", \"rmdir\"]", "measure mkdir", "mkdir", 1),
        (
            &format!("files = 3000\nsize = 1\n{ring}phases = [\"create\"]"),
            "measure create",
            "open",
            1,
        ),
    ] {
        let factors = "fs = \"few\"\ndevice = \"ram:128M\"\ncache = \"warm\"";
        let file =
            env.experiment(factors, &format!("[[workload]]\nname = \"w\"\n{work}\n{FEW_INODES}"));
        let ran = env.run(&["run", &file, "--yes"]).code(1);
        assert_nothing_left(&env);
        let record = env.records(env.runs().len()).remove(0);
        let Outcome::Failed { step: at, error, remedy } = &record.outcome else {
            panic!("{work}: {:?}", record.outcome);
        };
        assert_eq!(at, step, "{error}");
        assert!(error.contains(call) && error.contains("No space left on device"), "{error}");
        assert!(remedy.as_ref().is_some_and(|remedy| remedy.contains("inode")), "{remedy:?}");
        assert_eq!(record.phases.len(), made, "{work}");
        assert!(record.phases.iter().all(|phase| phase.ops > 1900 && phase.error.is_some()));
        ran.says(&[error]);
    }
}

/// Cold phases on a device whose image ends in the middle: what is read beyond it is an error.
#[track_caller]
fn cut_short(cases: &[(Case<'_>, u64, &[&str])]) {
    let names: Vec<&str> = cases.iter().map(|case| case.0.fs).collect();
    let Some(env) = TestEnv::privileged(&names) else { return };
    for (case, size_bytes, calls) in cases {
        let paused = case.start(&env, device_of(case.fs), "cold", &[]);
        File::options()
            .write(true)
            .open(image_in(&env.images()))
            .unwrap()
            .set_len(*size_bytes)
            .unwrap();
        let ran = paused.go_on();
        let record = case.assert_failed(&env, ran, &[EIO, EROFS, ENOMEM], calls);
        let Outcome::Failed { remedy, .. } = &record.outcome else { return };
        assert!(remedy.as_ref().is_some_and(|text| text.contains("dmesg")), "{remedy:?}");
    }
}

#[test]
fn unreadable_small_files() {
    cut_short(&[
        (
            case!("ext4", SMALL, "phases = [\"create\", \"read\"]", ["create"], "read"),
            16 << 20,
            &["read", "open"],
        ),
        (
            case!(
                "ext4",
                SMALL,
                "phases = [\"create\", { op = \"read\", threads = 4, sharing = \"shared\" }]",
                ["create"],
                "read"
            ),
            16 << 20,
            &["read", "open"],
        ),
        (
            case!(
                "xfs",
                SMALL,
                "phases = [{ op = \"read\", backend = \"io_uring\", iodepth = 8 }]",
                [],
                "read"
            ),
            1 << 20,
            &["read", "open"],
        ),
        (case!("ext4", SMALL, "phases = [\"stat\"]", [], "stat"), 1 << 20, &["stat"]),
        (case!("ext4", SMALL, "phases = [\"list\"]", [], "list"), 1 << 20, &["getdents64", "open"]),
        (case!("ext4", SMALL, "phases = [\"delete\"]", [], "delete"), 1 << 20, &["unlink"]),
        (case!("xfs", SMALL, "phases = [\"rename\"]", [], "rename"), 1 << 20, &["rename"]),
    ]);
}

#[test]
fn unreadable_big_files() {
    cut_short(&[
        (case!("ext4", BIG, "phases = [\"big-read\"]", [], "big-read"), 16 << 20, &["read"]),
        (
            case!("ext4", BIG, "backend = \"mmap\"\nphases = [\"big-read\"]", [], "big-read"),
            16 << 20,
            &["mmap", "read"],
        ),
        (
            case!(
                "xfs",
                BIG,
                "phases = [{ op = \"randread\", backend = \"io_uring\", direct = true, \
                iodepth = 8 }]",
                [],
                "randread"
            ),
            1 << 20,
            &["read"],
        ),
        (
            case!("btrfs", BIG, "threads = 4\nphases = [\"randread\"]", [], "randread"),
            16 << 20,
            &["read"],
        ),
    ]);
}

/// Writes to a device whose image has holes and no room to fill them.
#[track_caller]
fn no_room_below(cases: &[(Case<'_>, &[&str])]) {
    let names: Vec<&str> = cases.iter().map(|case| case.0.fs).collect();
    let Some(env) = TestEnv::privileged(&names) else { return };
    let small = Small::new();
    for (case, calls) in cases {
        let dir = small.0.path().display().to_string();
        let paused = case.start(&env, device_of(case.fs), "warm", &["--image-dir", &dir]);
        let image = File::options().write(true).open(image_in(small.0.path())).unwrap();
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&image, hole, 16 << 20, 400 << 20).unwrap();
        drop(image);
        fill(small.0.path(), 0).unwrap();
        let ran = paused.go_on();
        fs::remove_file(small.0.path().join("ballast")).unwrap();
        case.assert_failed(&env, ran, &[EIO, EROFS, ENOSPC, EBADMSG], calls);
        assert_eq!(fs::read_dir(small.0.path()).unwrap().count(), 0, "the image is gone");
    }
}

/// A file system of the test's own that just holds the image.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("e2e-small-").tempdir_in("/var/tmp").unwrap();
        sh(&format!("mount -t tmpfs -o size=400M none {}", dir.path().display()));
        Self(dir)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        sh(&format!("umount {}", self.0.path().display()));
    }
}

#[test]
fn no_room_below_the_device() {
    no_room_below(&[
        (case!("ext4", SMALL, "phases = [\"create\"]", [], "create"), &["open", "syncfs", "write"]),
        (case!("xfs", BIG, "direct = true\nphases = [\"big-write\"]", [], "big-write"), &["write"]),
    ]);
}

/// The device loses its sectors from `size_bytes` on; from 0 on it is as when a cable is pulled.
#[track_caller]
fn shrunk(size_bytes: u64, cases: &[(Case<'_>, &[&str])]) {
    let names: Vec<&str> = cases.iter().map(|case| case.0.fs).collect();
    let Some(env) = TestEnv::privileged(&names) else { return };
    let Some(losetup) = tool("losetup") else { return };
    for (case, calls) in cases {
        // Warm, so that it is the work that meets the end of the device, not a lookup.
        let cache = if size_bytes == 0 { "cold" } else { "warm" };
        let paused = case.start(&env, device_of(case.fs), cache, &[]);
        let image = image_in(&env.images());
        File::options().write(true).open(&image).unwrap().set_len(size_bytes).unwrap();
        let device = sh(&format!("{losetup} -n -O NAME -j {}", image.display()));
        sh(&format!("{losetup} -c {device}"));
        let ran = paused.go_on();
        case.assert_failed(&env, ran, &[EIO, EROFS, ENOMEM], calls);
    }
    let work = ["--workload", "tiny-files", "--scale", "0.01"];
    env.run_once(&[&["--fs", "ext4", "--on", "ram:128M"], &work[..]].concat()).good();
    assert_nothing_left(&env);
}

/// Alone: another test that drops caches would have a lookup meet the end of the device.
#[test]
fn loop_alone_unwritable_small_files() {
    shrunk(
        16 << 20,
        &[
            (
                case!("ext4", SMALL, "phases = [\"create\"]", [], "create"),
                &["open", "write", "syncfs"],
            ),
            (
                case!(
                    "ext4",
                    SMALL,
                    "phases = [\"create\", { op = \"overwrite\", threads = 4, fsync = \"file\" }]",
                    ["create"],
                    "overwrite"
                ),
                &["fsync", "fsync of the directory that holds", "syncfs"],
            ),
            (
                case!(
                    "xfs",
                    SMALL,
                    "phases = [\"create\", { op = \"append\", fsync = \"op\", \
                    backend = \"io_uring\", iodepth = 4 }]",
                    ["create"],
                    "append"
                ),
                &["fsync", "fsync of the directory that holds"],
            ),
            (
                case!(
                    "btrfs",
                    SMALL,
                    "phases = [\"create\", { op = \"delete\", fsync = \"op\" }]",
                    ["create"],
                    "delete"
                ),
                &["fsync", "fsync of the directory that holds", "unlink"],
            ),
        ],
    );
}

/// Alone, as that of small files.
#[test]
fn loop_alone_unwritable_big_files() {
    shrunk(
        16 << 20,
        &[
            (
                case!(
                    "ext4",
                    BIG,
                    "phases = [{ op = \"big-write\", backend = \"io_uring\", direct = true, \
                    iodepth = 8 }]",
                    [],
                    "big-write"
                ),
                &["write", "syncfs", "open"],
            ),
            (
                case!(
                    "xfs",
                    BIG,
                    "phases = [\"big-write\", { op = \"randwrite\", fsync = \"op\", threads = 2 }]",
                    ["big-write"],
                    "randwrite"
                ),
                &["fsync", "fsync of the directory that holds", "write"],
            ),
            (
                case!(
                    "ext4",
                    BIG,
                    "phases = [\"big-write\", { op = \"randwrite\", backend = \"mmap\", \
                    fsync = \"op\" }]",
                    ["big-write"],
                    "randwrite"
                ),
                &["msync", "fsync", "fsync of the directory that holds", "write"],
            ),
            (
                case!("btrfs", BIG, "phases = [\"big-write\"]", [], "big-write"),
                &["syncfs", "write", "open"],
            ),
        ],
    );
}

#[test]
fn vanished_devices() {
    shrunk(
        0,
        &[
            (
                case!("ext4", SMALL, "phases = [\"create\"]", [], "create"),
                &["syncfs", "open", "write"],
            ),
            (case!("xfs", BIG, "phases = [\"big-read\"]", [], "big-read"), &["read", "open"]),
            (
                case!(
                    "btrfs",
                    SMALL,
                    "phases = [\"create\", { op = \"append\", fsync = \"file\", threads = 2 }]",
                    ["create"],
                    "append"
                ),
                &["open", "fsync", "fsync of the directory that holds"],
            ),
        ],
    );
}
