//! Programs that people use, really run below a temporary root: from the task to the report.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

#[path = "../../../engine/tests/support/full.rs"]
#[allow(dead_code)]
mod full;
mod kinds;
mod shell;
mod stopped;
mod worker;

use fsarena_engine::Root;
use fsarena_model::job::{By, Command as Shell, Contents, Job, JobKind, Reflink};
use fsarena_model::work::{JobTask, WorkerReport};
use fsarena_worker::program::{JobRun, ProgramError, find_programs};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A new directory with a name that has to be quoted.
pub fn new_root() -> tempfile::TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("a root 'of' mine-");
    builder.tempdir_in("/dev/shm").or_else(|_| builder.tempdir()).unwrap()
}

pub fn task(kind: JobKind, name: &str, input: &str) -> JobTask {
    JobTask {
        name: name.to_owned(),
        job: Job { kind, by: By::Program, of: input.to_owned() },
        input: input.into(),
        data: "data".into(),
        contents: CONTENTS,
        reflink: Reflink::Never,
        latency: false,
    }
}

pub fn command(run: &str) -> JobTask {
    let shell = Shell { run: run.to_owned(), prepare: None, cleanup: None, programs: Vec::new() };
    task(JobKind::Command(shell), "command", "data")
}

/// Keeps other runs of this process waiting.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `task`; `None` (said on standard output) where a program is not installed. One at a time:
/// a worker has a process to itself, and ends whoever comes to it.
pub fn run(root: &Path, task: &JobTask) -> Option<WorkerReport> {
    match JobRun::prepare(task, root) {
        Ok(job) => {
            let _alone = alone();
            Some(job.run(&Root::open(root).unwrap()))
        }
        Err(ProgramError::Missing(missing)) => {
            println!("not run: {} is not installed", missing.program);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether the programs of `task` are installed; said on standard output where they are not.
pub fn has(task: &JobTask) -> bool {
    let missing = find_programs(&task.job).err();
    if let Some(missing) = &missing {
        println!("not run: {} is not installed", missing.program);
    }
    missing.is_none()
}

/// What [`make_tree`] makes.
pub const CONTENTS: Contents = Contents {
    files: 4,
    dirs: 3,
    symlinks: 2,
    bytes: 300_000 + 5 + 7,
    block_bytes: 0,
    largest_bytes: 300_000,
    longest_path_bytes: 0,
    archive_bytes: None,
};

/// A name that is not UTF-8.
pub fn odd_name() -> &'static OsStr {
    OsStr::from_bytes(b"caf\xe9 \n'x")
}

/// A tree with odd names, modes, times and links (one of them a loop).
pub fn make_tree(top: &Path) {
    fs::create_dir(top).unwrap();
    let inner = top.join("a b").join(odd_name());
    fs::create_dir_all(&inner).unwrap();
    fs::create_dir(top.join("-empty")).unwrap();
    let big: Vec<u8> = (0..300_000_u32).map(|n| (n.wrapping_mul(n) >> 7) as u8).collect();
    fs::write(inner.join(odd_name()), big).unwrap();
    fs::write(top.join("-rf"), "12345").unwrap();
    fs::write(top.join("run"), "1234567").unwrap();
    fs::write(top.join("none"), "").unwrap();
    symlink("no/such/place", top.join("dangling")).unwrap();
    symlink("..", inner.join("loop")).unwrap();
    fs::set_permissions(top.join("run"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::set_permissions(top.join("none"), fs::Permissions::from_mode(0o400)).unwrap();
    fs::set_permissions(top.join("-empty"), fs::Permissions::from_mode(0o700)).unwrap();
    let file = fs::File::open(top.join("run")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
}

/// Everything that can be said of an entry: kind and mode, seconds of its time, contents or target.
type Entry = (u32, i64, Vec<u8>);

/// The entries below `top`, by their paths.
pub fn snapshot(top: &Path) -> BTreeMap<OsString, Entry> {
    let mut entries = BTreeMap::new();
    let mut left = vec![PathBuf::new()];
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(top.join(&path)).unwrap() {
            let path = path.join(entry.unwrap().file_name());
            let full = top.join(&path);
            let meta = full.symlink_metadata().unwrap();
            let inside = if meta.is_dir() {
                left.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                fs::read_link(&full).unwrap().into_os_string().as_bytes().to_vec()
            } else {
                fs::read(&full).unwrap()
            };
            entries.insert(path.into_os_string(), (meta.mode(), meta.mtime(), inside));
        }
    }
    entries
}

/// Runs a program for a test and returns whether it ended well.
pub fn ends_well(program: &str, args: &[&OsStr], dir: &Path) -> bool {
    Command::new(program).args(args).current_dir(dir).status().unwrap().success()
}

/// Processes called `name` whose working directory is `root`, or below it.
pub fn at_work(name: &str, root: &Path) -> Vec<i32> {
    let root = root.canonicalize().unwrap();
    let pids = fs::read_dir("/proc").unwrap();
    let pids = pids.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<i32>().ok());
    let is_one = |pid: &i32| {
        let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let cwd = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        comm.trim() == name && cwd.starts_with(&root)
    };
    pids.filter(is_one).collect()
}

/// Waits until `done`, at most 20 s.
pub fn within_20_s(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn kill(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}
