//! The built test programs, their tests by name, and those that use what a machine has: each in a
//! process of its own, some at a time where they may.
//!
//! Most of them wait: for a device to be idle, for a sync, for a process to end. Several at a time
//! keep the CPUs busy; those that look at the whole machine run one by one. The name of a test says
//! which it is, by the beginning of its parts: `loop_run::ctrl_c`, `queue::loop_alone_x`,
//! `loop_run::alone_x`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::processes::{End, Ended, Session, call, cargo};

/// A part of a test's name that begins with one of these: it uses what a machine has.
const MACHINE: &[&str] = &["loop_", "fuse_", "vm_", "real_", "browser_", "virtual_"];
/// Behind one of them or at the beginning of another part: it looks at all devices of the machine,
/// or at how busy it is.
const ALONE: &str = "alone_";
/// The program with the tests of the whole program.
const END_TO_END: &str = "e2e-";
/// Tests that run at one time, where there are loop devices for so many.
const AT_A_TIME_MAX: usize = 4;
/// A test has at most so many loop devices at one time.
const LOOPS_OF_A_TEST: usize = 2;
/// How often progress is printed.
const PROGRESS_EVERY: Duration = Duration::from_secs(60);
/// How many of the slowest are named at the end.
const SLOWEST: usize = 8;

/// One test of one test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Single {
    /// The test program.
    pub program: PathBuf,
    /// Directory of its package, in which it is run as cargo does it.
    pub package: PathBuf,
    /// Name of the test.
    pub name: String,
}

impl Single {
    /// Program and name, as failures are named: `e2e loop_run::ctrl_c`.
    pub fn label(&self) -> String {
        let file = self.program.file_name().unwrap_or_default().to_string_lossy();
        let program = file.rsplit_once('-').map_or(&*file, |(name, _)| name);
        format!("{program} {}", self.name)
    }
}

/// Whether the test called `name` uses what a machine has.
pub fn uses_machine(name: &str) -> bool {
    name.split("::").any(|part| MACHINE.iter().any(|word| part.starts_with(word)))
}

/// Whether it must not run next to others.
pub fn is_alone(name: &str) -> bool {
    let behind = |part: &str, word: &str| part.strip_prefix(word)?.strip_prefix(ALONE).map(drop);
    let says = |part: &str| {
        part.starts_with(ALONE) || MACHINE.iter().any(|word| behind(part, word).is_some())
    };
    uses_machine(name) && name.split("::").any(says)
}

/// What tests printed, one after the other as cargo would have shown it.
#[derive(Debug, Default)]
pub struct Output {
    /// Everything.
    pub text: String,
    /// Why programs did not end well although no test of theirs failed.
    pub broken: Vec<String>,
    /// How long each test took, with its name.
    took: Vec<(Duration, String)>,
    /// What else ran in one of the lanes.
    pub beside: Option<Ended>,
}

impl Output {
    /// The slowest in one line each, and what the tests of each tier took together.
    pub fn slowest(&self) -> String {
        let mut text = String::from("  the slowest:");
        for (time, name) in self.by_time().into_iter().take(SLOWEST) {
            let _ = write!(text, "\n  {:6.1} s  {name}", time.as_secs_f64());
        }
        text.push_str("\n  by tier:");
        let mut tiers: BTreeMap<&str, (usize, Duration)> = BTreeMap::new();
        for (time, name) in &self.took {
            let (tests, sum) = tiers.entry(tier(name)).or_default();
            *tests += 1;
            *sum += *time;
        }
        for (tier, (tests, sum)) in tiers {
            let _ = write!(text, "\n  {:6.1} s  {tier}: {tests} tests", sum.as_secs_f64());
        }
        text
    }

    /// All of them, a line each: seconds, a tab, and the name; the slowest first.
    pub fn times(&self) -> String {
        let line =
            |(time, name): &(Duration, String)| format!("{:.2}\t{name}\n", time.as_secs_f64());
        self.by_time().into_iter().map(line).collect()
    }

    fn by_time(&self) -> Vec<&(Duration, String)> {
        let mut took: Vec<_> = self.took.iter().collect();
        took.sort_by(|a, b| b.cmp(a));
        took
    }
}

/// `loop` for a test whose name has a part that begins with `loop_`; `plain` where none of its
/// parts names a tier.
fn tier(name: &str) -> &str {
    let parts = || name.split([' ', ':']);
    let of = |word: &&&str| parts().any(|part| part.starts_with(**word));
    MACHINE.iter().chain([&ALONE]).find(of).map_or("plain", |word| word.trim_end_matches('_'))
}

/// A line of `cargo test --no-run --message-format=json`.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    executable: Option<PathBuf>,
    #[serde(default)]
    profile: Profile,
}

#[derive(Default, Deserialize)]
struct Profile {
    #[serde(default)]
    test: bool,
}

/// Test programs with the directories of their packages, from what cargo printed.
fn programs(text: &str) -> Vec<(PathBuf, PathBuf)> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    let messages = lines.filter_map(|line| serde_json::from_str::<Message>(line).ok());
    let mut found = Vec::new();
    for message in messages.filter(|one| one.reason == "compiler-artifact" && one.profile.test) {
        let package = message.manifest_path.parent().unwrap_or(Path::new(".")).to_owned();
        found.extend(message.executable.map(|program| (program, package)));
    }
    found
}

/// Names in what `PROGRAM --list` printed.
fn names(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect()
}

/// A built test program and the names of its tests.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    package: PathBuf,
    names: Vec<String>,
}

/// Builds every test program and asks it for its tests.
///
/// # Errors
/// When they cannot be built or asked; what was printed.
pub fn build(session: &Session) -> Result<Vec<Program>, String> {
    let build = ["test", "--workspace", "--no-run", "--message-format=json"];
    let Ended { end, text } = session.run("build of the tests", cargo().args(build));
    if let End::Bad(how) | End::Stopped(how) = end {
        return Err(format!("cargo test --no-run: {how}\n{text}"));
    }
    let mut all = Vec::new();
    for (path, package) in programs(&text) {
        let mut command = call(&path);
        let Ended { end, text } =
            session.run("list of tests", command.arg("--list").current_dir(&package));
        if let End::Bad(how) | End::Stopped(how) = end {
            return Err(format!("{} --list: {how}\n{text}", path.display()));
        }
        all.push(Program { path, package, names: names(&text) });
    }
    Ok(all)
}

/// The tests that use what the machine has.
pub fn machine_tests(programs: &[Program]) -> Vec<Single> {
    let of_program = |program: &Program| {
        let names: Vec<_> = program.names.iter().filter(|name| uses_machine(name)).collect();
        let single = |name: &String| Single {
            program: program.path.clone(),
            package: program.package.clone(),
            name: name.clone(),
        };
        names.into_iter().map(single).collect::<Vec<_>>()
    };
    programs.iter().flat_map(of_program).collect()
}

/// Runs the other tests, one program after the other, each with as many threads as there are CPUs;
/// those of the whole program, which wait for disks and processes half of their time, with two for
/// each CPU.
pub fn run_plain(session: &Session, programs: &[Program]) -> Output {
    let mut output = Output::default();
    for program in programs.iter().filter(|one| !one.names.iter().all(|name| uses_machine(name))) {
        let machine = program.names.iter().filter(|name| uses_machine(name));
        let skip = machine.flat_map(|name| ["--skip", name]);
        let log = program.path.file_name().unwrap_or_default().to_string_lossy();
        let mut command = call(&program.path);
        command
            .args(["--exact", "--show-output"])
            .args(skip)
            .env("CARGO_MANIFEST_DIR", &program.package)
            .current_dir(&program.package);
        if log.starts_with(END_TO_END) {
            let cpus = std::thread::available_parallelism().map_or(1, usize::from);
            command.env("RUST_TEST_THREADS", (2 * cpus).to_string());
        }
        let began = Instant::now();
        let Ended { end, text } = session.run(&format!("tests {log}"), &mut command);
        let _ = writeln!(output.text, "     Running tests ({})\n{text}", program.path.display());
        output.took.push((began.elapsed(), log.to_string()));
        if let End::Stopped(how) = end {
            output.broken.push(format!("{log}: {how}"));
        }
    }
    output
}

/// A program that takes the place of a test for a while: it has as many loop devices at most.
#[derive(Debug)]
pub struct Beside {
    /// Name of the file its output goes to.
    pub log: &'static str,
    /// The program.
    pub command: Command,
}

/// Runs `tests`: first those that may run next to others, with `beside` before them in one of the
/// lanes; then the rest and all of a second attempt one by one.
pub fn run(
    session: &Session,
    tests: Vec<Single>,
    is_alone: impl Fn(&str) -> bool,
    beside: Option<Beside>,
) -> Output {
    let (alone, others): (Vec<_>, Vec<_>) = tests.into_iter().partition(|it| is_alone(&it.name));
    let state = State::new(alone.len() + others.len());
    state.work(session, others, at_a_time(Path::new("/dev"), Path::new("/sys")), beside);
    state.work(session, alone, 1, None);
    state.output.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How many tests run at one time, by the loop devices that have a node in `dev` and no file yet.
fn at_a_time(dev: &Path, sys: &Path) -> usize {
    let entries = std::fs::read_dir(dev).into_iter().flatten().flatten();
    let is_loop = |name: &str| {
        let number = name.strip_prefix("loop").unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let (bound, free): (Vec<_>, Vec<_>) = names
        .filter(|name| is_loop(name))
        .partition(|name| sys.join("block").join(name).join("loop/backing_file").exists());
    match (free.len(), bound.len()) {
        // Without any, no test has one.
        (0, 0) => AT_A_TIME_MAX,
        (free, _) => (free / LOOPS_OF_A_TEST).clamp(1, AT_A_TIME_MAX),
    }
}

struct State {
    output: Mutex<Output>,
    all: usize,
    began: Instant,
    shown: Mutex<Instant>,
}

impl State {
    fn new(all: usize) -> Self {
        let now = Instant::now();
        Self { output: Mutex::default(), all, began: now, shown: Mutex::new(now) }
    }

    fn work(
        &self,
        session: &Session,
        tests: Vec<Single>,
        at_a_time: usize,
        mut beside: Option<Beside>,
    ) {
        let queue = Mutex::new(VecDeque::from(tests));
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        std::thread::scope(|scope| {
            for worker in 0..at_a_time {
                let next = &next;
                let beside = beside.take();
                scope.spawn(move || {
                    if let Some(Beside { log, mut command }) = beside {
                        let ended = session.run(log, &mut command);
                        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
                        output.beside = Some(ended);
                    }
                    while let Some(test) = next().filter(|_| session.over().is_none()) {
                        let began = Instant::now();
                        let ended = run_one(session, &test, worker);
                        self.take(&test, ended, began.elapsed());
                    }
                });
            }
        });
    }

    fn take(&self, test: &Single, Ended { end, text }: Ended, took: Duration) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // As cargo announces a program: the reader knows each test by it.
        let program = test.program.display();
        let _ = writeln!(output.text, "     Running tests ({program})\n{text}");
        output.took.push((took, test.label()));
        if let End::Stopped(how) = end {
            output.broken.push(format!("{}: {how}", test.label()));
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() >= PROGRESS_EVERY {
            *shown = Instant::now();
            let minutes = self.began.elapsed().as_secs() / 60;
            println!("  {} of {} after {minutes} min", output.took.len(), self.all);
        }
    }
}

fn run_one(session: &Session, test: &Single, worker: usize) -> Ended {
    let args = ["--exact", &test.name, "--show-output", "--test-threads=1"];
    let mut command = call(&test.program);
    command.args(args).env("CARGO_MANIFEST_DIR", &test.package).current_dir(&test.package);
    session.run(&format!("machine tests {worker}"), &mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_found_in_what_cargo_prints() {
        let text = "   Compiling x v0.1.0\n\
            {\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/crates/a/Cargo.toml\",\
            \"profile\":{\"test\":true},\"executable\":\"/w/target/a-1\"}\n\
            {\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/crates/a/Cargo.toml\",\
            \"profile\":{\"test\":false},\"executable\":\"/w/target/a\"}\n\
            {\"reason\":\"compiler-artifact\",\"manifest_path\":\"/w/crates/b/Cargo.toml\",\
            \"profile\":{\"test\":true},\"executable\":null}\n\
            {\"reason\":\"build-finished\",\"success\":true}\n{broken\n";
        assert_eq!(programs(text), [("/w/target/a-1".into(), "/w/crates/a".into())]);
    }

    #[test]
    fn names_are_read_from_the_list() {
        let text = "a::loop_b: test\nreal_c: test\nd: benchmark\n\n2 tests, 1 benchmark\n";
        assert_eq!(names(text), ["a::loop_b", "real_c"]);
    }

    #[test]
    fn the_beginning_of_a_part_says_what_a_test_uses() {
        for name in ["loop_run::ctrl_c", "tests::loop_b", "fuse_a", "loop_alone_x::y"] {
            assert!(uses_machine(name), "{name}");
        }
        for name in ["a_loop_device_is_followed", "plan::of_real_work", "programs::reloop_"] {
            assert!(!uses_machine(name), "{name}");
        }
        assert!(is_alone("made::loop_alone_kill") && is_alone("loop_alone_queue::put_back"));
        assert!(is_alone("loop_run::alone_with_it") && !is_alone("loop_run::standing_alone_"));
        assert!(!is_alone("plan::alone_with_it"));
    }

    #[test]
    fn loop_devices_limit_how_many_tests_run_at_one_time() {
        let (dev, sys) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at_a_time = || at_a_time(dev.path(), sys.path());
        assert_eq!(at_a_time(), AT_A_TIME_MAX);
        for (number, expected) in [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 4)] {
            std::fs::write(dev.path().join(format!("loop{number}")), "").unwrap();
            std::fs::write(dev.path().join("loop-control"), "").unwrap();
            assert_eq!(at_a_time(), expected, "{number}");
        }
        std::fs::write(dev.path().join("loop8"), "").unwrap();
        assert_eq!(at_a_time(), AT_A_TIME_MAX);
        for (bound, expected) in [(1, 4), (5, 3), (6, 3), (7, 2)] {
            let dir = sys.path().join(format!("block/loop{bound}/loop"));
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("backing_file"), "/left\n").unwrap();
            assert_eq!(at_a_time(), expected, "loop{bound} is bound");
        }
    }

    #[test]
    fn tests_run_side_by_side_and_alone_and_all_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_path_buf();
        let session = Session::start(root, Duration::from_secs(60), false).unwrap();
        let single = |name: &str| Single {
            program: "/bin/echo".into(),
            package: dir.path().to_path_buf(),
            name: name.to_owned(),
        };
        let tests = ["one", "two", "three", "four"].map(single);
        let mut command = call("/bin/echo");
        command.arg("next to them");
        let beside = Some(Beside { log: "beside", command });
        let output = run(&session, tests.to_vec(), |name| name == "two", beside);
        assert_eq!(output.beside.as_ref().unwrap().text, "next to them\n");
        let order = |name: &str| output.text.find(&format!("--exact {name} ")).unwrap();
        assert!(["one", "three", "four"].into_iter().all(|name| order(name) < order("two")));
        assert!(output.broken.is_empty());
        let slowest = output.slowest();
        assert!(slowest.ends_with("plain: 4 tests") && slowest.lines().count() == 7, "{slowest}");
        assert_eq!(output.times().lines().count(), 4);
        assert_eq!(tier("e2e loop_levels::alone_x"), "loop");
        assert_eq!(tier("e2e machine::alone_x"), "alone");
        let test = Single { program: "/w/target/debug/deps/e2e-0f".into(), ..single("loop_a::b") };
        assert_eq!(test.label(), "e2e loop_a::b");
    }
}
