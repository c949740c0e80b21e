//! The tests that use what a machine has: each in a process of its own, two side by side where
//! they may.
//!
//! Most of them wait: for a device to be idle, for a sync, for a process to end. Two at a time
//! keep both processors busy without being in each other's way; those that look at the whole
//! machine are alone.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::processes::{Call, End, Ended, Session};

/// Tests that are at work at one time.
const LANES: usize = 2;
/// How often is said how far it is.
const SPEAK_EVERY: Duration = Duration::from_secs(60);
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

/// What tests printed, one after the other as cargo would have shown it.
#[derive(Debug, Default)]
pub struct Said {
    /// Everything.
    pub text: String,
    /// Why programs did not end well although no test of theirs failed.
    pub broken: Vec<String>,
    /// How long each test took, with its name.
    took: Vec<(Duration, String)>,
}

impl Said {
    /// The slowest in one line each.
    pub fn slowest(&self) -> String {
        let mut took: Vec<_> = self.took.iter().collect();
        took.sort_by(|a, b| b.cmp(a));
        let mut text = String::from("  the slowest:");
        for (time, name) in took.into_iter().take(SLOWEST) {
            let _ = write!(text, "\n  {:6.1} s  {name}", time.as_secs_f64());
        }
        text
    }
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

/// Every test with one of `words` in its name.
///
/// # Errors
/// When the test programs cannot be built or asked; what was printed.
pub fn find(session: &Session, words: &[&str]) -> Result<Vec<Single>, String> {
    let build = ["test", "--workspace", "--no-run", "--message-format=json"];
    let Ended { end, text } = session.run(Call::cargo("build of the tests").args(build));
    if let End::Bad(how) | End::Stopped(how) = end {
        return Err(format!("cargo test --no-run: {how}\n{text}"));
    }
    let mut all = Vec::new();
    for (program, package) in programs(&text) {
        let call = Call::new(&program, "list of tests").args(["--list"]).args(words);
        let Ended { end, text } = session.run(call.within(&package));
        if let End::Bad(how) | End::Stopped(how) = end {
            return Err(format!("{} --list: {how}\n{text}", program.display()));
        }
        let single = |name| Single { program: program.clone(), package: package.clone(), name };
        all.extend(names(&text).into_iter().map(single));
    }
    Ok(all)
}

/// Runs `tests`: first those that may stand beside others, then those that `alone` picks.
pub fn run(session: &Session, tests: Vec<Single>, alone: impl Fn(&Single) -> bool) -> Said {
    let (alone, beside): (Vec<_>, Vec<_>) = tests.into_iter().partition(alone);
    let state = State::new(alone.len() + beside.len());
    state.work(session, beside, LANES);
    state.work(session, alone, 1);
    state.said.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct State {
    said: Mutex<Said>,
    all: usize,
    began: Instant,
    spoken: Mutex<Instant>,
}

impl State {
    fn new(all: usize) -> Self {
        let now = Instant::now();
        Self { said: Mutex::default(), all, began: now, spoken: Mutex::new(now) }
    }

    fn work(&self, session: &Session, tests: Vec<Single>, lanes: usize) {
        let queue = Mutex::new(VecDeque::from(tests));
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        std::thread::scope(|scope| {
            for lane in 0..lanes {
                let next = &next;
                scope.spawn(move || {
                    while let Some(test) = next().filter(|_| session.over().is_none()) {
                        let began = Instant::now();
                        let ended = run_one(session, &test, lane);
                        self.take(&test, ended, began.elapsed());
                    }
                });
            }
        });
    }

    fn take(&self, test: &Single, Ended { end, text }: Ended, took: Duration) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        // As cargo announces a program: the reader knows each test by it.
        let program = test.program.display();
        let _ = writeln!(said.text, "     Running tests ({program})\n{text}");
        said.took.push((took, test.label()));
        if let End::Stopped(how) = end {
            said.broken.push(format!("{}: {how}", test.label()));
        }
        let mut spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
        if spoken.elapsed() >= SPEAK_EVERY {
            *spoken = Instant::now();
            let minutes = self.began.elapsed().as_secs() / 60;
            println!("  {} of {} after {minutes} min", said.took.len(), self.all);
        }
    }
}

fn run_one(session: &Session, test: &Single, lane: usize) -> Ended {
    let args = ["--exact", &test.name, "--show-output", "--test-threads=1"];
    let call = Call::new(&test.program, &format!("lane {lane}")).args(args);
    session.run(call.env("CARGO_MANIFEST_DIR", &test.package).within(&test.package))
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
    fn tests_run_side_by_side_and_alone_and_all_are_heard() {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::start(dir.path().to_path_buf(), Duration::from_secs(60)).unwrap();
        let single = |name: &str| Single {
            program: "/bin/echo".into(),
            package: dir.path().to_path_buf(),
            name: name.to_owned(),
        };
        let tests = ["one", "two", "three", "four"].map(single);
        let said = run(&session, tests.to_vec(), |test| test.name == "two");
        let order = |name: &str| said.text.find(&format!("--exact {name} ")).unwrap();
        assert!(["one", "three", "four"].into_iter().all(|name| order(name) < order("two")));
        assert!(said.broken.is_empty() && said.slowest().lines().count() == 5);
        let test = Single { program: "/w/target/debug/deps/e2e-0f".into(), ..single("loop_a::b") };
        assert_eq!(test.label(), "e2e loop_a::b");
    }
}
