//! What the tests share: a test environment of their own, the program in it, and what it said.

mod clean;
pub mod devices;
mod known;
mod live;
mod pause;
pub mod real;
mod schema;
mod work;

pub use clean::assert_nothing_left;
pub use devices::has_tracing;
pub use known::{Course, NEVER_SAME, digest_in, store_by_hand};
pub use live::{Live, kill_dash_nine};
pub use pause::{Paused, image_in};
pub use work::{FEW_INODES, phase, record_of};

use fsarena_filesystems::{Availability, availability, driver};
use fsarena_model::record::TrialRecord;
use fsarena_store::{RunRow, Store};
use fsarena_testkit::fixture::Fixture;
use fsarena_testkit::machine::Machine;
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_fsarena");
/// No single start of the program takes this long here, not even on a slow machine.
pub const LIMIT: Duration = Duration::from_secs(120);

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The world of one test: state, database and images in a directory that goes with it.
pub struct TestEnv {
    /// What the program sees of it.
    pub fixture: Fixture,
    dir: tempfile::TempDir,
    outputs: AtomicUsize,
    /// What `assert_nothing_left` compares, for tests that make devices or set queues.
    before: Option<Machine>,
    _turn: Option<MutexGuard<'static, ()>>,
}

impl TestEnv {
    /// One that may stand next to others.
    pub fn new() -> Self {
        // Not where tests lie, which a user without rights may not reach; and on a disk.
        let place = if Path::new("/var/tmp").is_dir() {
            PathBuf::from("/var/tmp")
        } else {
            std::env::temp_dir()
        };
        let dir = tempfile::Builder::new().prefix("fsarena-e2e-").tempdir_in(place).unwrap();
        let fixture = Fixture::new(dir.path());
        fs::create_dir(&fixture.images).unwrap();
        fs::create_dir(dir.path().join("said")).unwrap();
        Self { fixture, dir, outputs: AtomicUsize::new(0), before: None, _turn: None }
    }

    /// One for loop devices and mounts; waits for its turn. `None`, with the reason printed, where
    /// this machine or user cannot have them, or lacks one of `fs`.
    pub fn privileged(fs: &[&str]) -> Option<Self> {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = why_not_here(fs) {
            println!("not run: {reason}");
            return None;
        }
        let mut env = Self::new();
        env._turn = Some(turn);
        Some(env)
    }

    /// As [`TestEnv::privileged`]; `assert_nothing_left` then looks at zram devices and the
    /// settings of queues as well.
    pub fn with_devices(fs: &[&str]) -> Option<Self> {
        let mut env = Self::privileged(fs)?;
        env.before = Some(Machine::now());
        Some(env)
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub fn images(&self) -> PathBuf {
        self.fixture.images.clone()
    }

    pub fn state(&self) -> PathBuf {
        self.fixture.state.clone()
    }

    pub fn db(&self) -> PathBuf {
        self.fixture.database.clone()
    }

    /// Writes a file of the test and gives its path as text.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Makes a directory of the test and gives its path as text.
    pub fn make_dir(&self, name: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path.display().to_string()
    }

    /// The program with everything it writes in this test environment; what most tests look at are
    /// all the tables of `run`, behind its answer.
    pub fn command(&self, args: &[&str]) -> Command {
        self.command_of(PROGRAM, &with_all_tables(args))
    }

    /// As [`TestEnv::command`], for another program that starts ours.
    pub fn command_of(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        self.fixture.set_environment(command.args(args));
        command
    }

    /// Runs [`TestEnv::command`] to the end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.finish(self.command(args))
    }

    /// Runs `run` with what most tests want: one block, and its images in the test environment.
    pub fn run_once(&self, args: &[&str]) -> Ran {
        self.run(&[&["run", "--runs", "1", "--seed", "1"], args].concat())
    }

    /// Runs `command` to its end.
    pub fn finish(&self, mut command: Command) -> Ran {
        let files = self.redirect(&mut command);
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        wait(&mut child, &files)
    }

    /// Output goes to files: a pipe would be held open by whatever is left.
    fn redirect(&self, command: &mut Command) -> Outputs {
        let number = self.outputs.fetch_add(1, Ordering::SeqCst);
        let out = self.path("said").join(format!("{number}.out"));
        let err = self.path("said").join(format!("{number}.err"));
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        Outputs { out, err }
    }

    /// RUNs in the database as they stand.
    pub fn runs(&self) -> Vec<RunRow> {
        Store::open_read_only(&self.db()).unwrap().runs().unwrap()
    }

    /// The records of RUN number `run`, counted from 1, as `show --json` gives them.
    pub fn records(&self, run: usize) -> Vec<TrialRecord> {
        self.run(&["show", &run.to_string(), "--json"]).good().records()
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        // After a failed test: what still runs is ours, and the program itself tidies up.
        for pid in self.fixture.processes() {
            live::kill_dash_nine(pid);
        }
        if std::thread::panicking() {
            let _ = self.command(&["list"]).stdin(Stdio::null()).output();
        }
    }
}

/// The arguments, with `--full` where they are those of a `run` that prints no more than its
/// answer.
pub fn with_all_tables<'a>(args: &[&'a str]) -> Vec<&'a str> {
    let has_own = args.iter().any(|one| ["--json", "--quiet", "-q", "--raw"].contains(one));
    let is_text = args.first() == Some(&"run") && !has_own;
    let full = if is_text { &["--full"][..] } else { &[] };
    [args, full].concat()
}

/// Files with what a program says.
pub struct Outputs {
    out: PathBuf,
    err: PathBuf,
}

fn wait(child: &mut Child, files: &Outputs) -> Ran {
    let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            panic!("did not end\n{}{}", read(&files.out), read(&files.err));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Ran { code: status.code(), stdout: read(&files.out), stderr: read(&files.err) }
}

/// What a program said, and how it ended.
#[derive(Debug)]
pub struct Ran {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Fails the test unless it ended with `code`.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails the test unless it ended well.
    #[track_caller]
    pub fn good(self) -> Self {
        self.code(0)
    }

    /// Fails the test unless all `words` are somewhere in what it said, however it was wrapped.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = flat(&format!("{}\n{}", self.stdout, self.stderr));
        for word in words {
            assert!(text.contains(&flat(word)), "{word:?} is not in\n{text}");
        }
        self
    }

    /// One refusal: one line of ours on standard error, nothing on standard output.
    #[track_caller]
    pub fn refused(self, code: i32, words: &[&str]) -> Self {
        let ran = self.code(code).says(words);
        let errors: Vec<&str> =
            ran.stderr.lines().filter(|line| line.starts_with("fsarena: ")).collect();
        assert_eq!(errors.len(), 1, "one error is wanted:\n{}", ran.stderr);
        assert_eq!(ran.stdout, "", "data of a refused run");
        ran
    }

    /// Standard output as one JSON document, with nothing before or after it.
    #[track_caller]
    pub fn json(&self) -> Value {
        let document: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}:\n{}", self.stdout));
        schema::assert_published(&document);
        document
    }

    /// The records in the JSON document of `run` and `show`.
    #[track_caller]
    pub fn records(&self) -> Vec<TrialRecord> {
        serde_json::from_value(self.json()["records"].clone()).unwrap()
    }
}

/// Why file systems cannot be made, mounted and measured here.
fn why_not_here(file_systems: &[&str]) -> Option<String> {
    if let Some(reason) = fsarena_testkit::why_no_loop_devices() {
        return Some(reason.to_owned());
    }
    file_systems.iter().find_map(|name| {
        let level = fsarena_model::contender::FsLevel::plain(name);
        match availability(&*driver(&level).unwrap(), Path::new("/proc")) {
            Availability::Ready => None,
            Availability::Missing { reason, .. } => Some(reason),
        }
    })
}

/// Whether a test of what does not know the file system is done on `fs`; prints the reason if not.
/// All are with `FSARENA_FULL=1`, as `cargo xtask test --all` sets it.
pub fn stands_for_others(fs: &str) -> bool {
    let stands = is_full() || ["ext4", "btrfs", "tmpfs"].contains(&fs);
    if !stands {
        println!("not run: ext4, btrfs and tmpfs stand for {fs}; `cargo xtask test --all` runs it");
    }
    stands
}

fn is_full() -> bool {
    std::env::var_os("FSARENA_FULL").is_some_and(|value| value == "1")
}

/// Whether a test that takes long, or needs more than most machines have, is done; prints the
/// reason if not.
pub fn takes_all() -> bool {
    if !is_full() {
        println!("not run: it is one of those that only `cargo xtask test --all` runs");
    }
    is_full()
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The program called `name`; `None`, with the reason printed, where it is not installed.
pub fn tool(name: &str) -> Option<String> {
    let found = fsarena_process::cmd::find(name);
    if found.is_none() {
        println!("not run: {name} is not installed");
    }
    found.map(|tool| tool.path().display().to_string())
}

/// Smallest device of the tests on which `fs` is made.
pub fn device_of(fs: &str) -> &'static str {
    if fs == "xfs" { "loop:300M" } else { "loop:128M" }
}

/// Runs a program of the system that a test needs; its output.
#[track_caller]
pub fn sh(command: &str) -> String {
    let ran = Command::new("/bin/sh").args(["-ec", command]).output().unwrap();
    assert!(ran.status.success(), "{command}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}
