//! The steps of `cargo xtask test`, in their order.
//!
//! A step starts programs and reads what they print; it decides nothing about later steps.

use std::collections::BTreeSet;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::doc_examples;
use super::leftovers::LeftoverSearch;
use super::libtest;
use super::parallel::{self, Beside, Program, Single};
use super::processes::{End, Ended, Job, Session, call, cargo, cargo_behind};
use super::setup;
use super::tally::{NotRun, Outcome};
use fsarena_process::cmd::find;

/// The kernel lets go of a loop device a moment after its last user.
const LEFTOVERS_PATIENCE: Duration = Duration::from_secs(5);
/// At the end of the time, this much is kept for the steps after cargo-deny.
const DENY_RESERVE: Duration = Duration::from_secs(8 * 60);
/// More failures than these are no accident.
const SECOND_ATTEMPTS_MAX: usize = 2;
/// Time of the blind fuzzing of all targets together.
const FUZZ_SECONDS: &str = "30";
/// How much of a program's output is shown if it failed; the rest is in its log.
const SHOWN_LINES: usize = 300;

/// What the steps share.
pub struct StepContext {
    /// Place, time and the wish to stop.
    pub session: Session,
    search: LeftoverSearch,
    before: BTreeSet<String>,
    deny: Deny,
    /// Test programs, once they are built.
    programs: Vec<Program>,
    /// Under way since the machine tests began.
    clippy: Option<Job>,
    docs: Option<Job>,
    /// The campaign that ran in a lane of the machine tests.
    chaos: Option<Ended>,
    fuzz: Option<Fuzz>,
}

/// The targets under way, with the directory of their files.
struct Fuzz {
    job: Job,
    _scratch: tempfile::TempDir,
}

/// Where cargo-deny stands.
enum Deny {
    There(PathBuf),
    Coming(Job),
    Missing(String),
}

impl StepContext {
    /// Notes what lies around before the tests, and gets cargo-deny under way.
    pub fn new(session: Session) -> StepContext {
        let search = LeftoverSearch::of_this_machine(&session.root.join("target"));
        let before = search.list();
        let deny = find_deny(&session).map_or_else(|| build_deny(&session), Deny::There);
        let programs = Vec::new();
        let (clippy, docs, chaos, fuzz) = (None, None, None, None);
        StepContext { session, search, before, deny, programs, clippy, docs, chaos, fuzz }
    }

    /// Waits for a check that is under way, or runs it.
    fn finish_check(&self, name: &str, job: Option<Job>, command: fn() -> Command) -> Outcome {
        let Some(job) = job else { return self.check(name, &mut command()) };
        let until = Instant::now() + self.session.remaining();
        judge(name, self.session.wait(job, until))
    }

    /// A check that is one program and passes if the program ends well.
    fn check(&self, name: &str, command: &mut Command) -> Outcome {
        judge(name, self.session.run(name, command))
    }
}

fn judge(name: &str, Ended { end, text }: Ended) -> Outcome {
    match end {
        End::Good => Outcome::passed(),
        End::Bad(how) | End::Stopped(how) => Outcome::failed(format!("{name}: {how}"), tail(&text)),
    }
}

pub fn set_up(context: &mut StepContext) -> Outcome {
    setup::run(&context.session)
}

pub fn format(context: &mut StepContext) -> Outcome {
    let args = ["fmt", "--all", "--", "--check", "--color=never"];
    context.check("cargo fmt", cargo().args(args))
}

pub fn tidy(context: &mut StepContext) -> Outcome {
    // As a program of its own: the sources may be newer than this one.
    context.check("cargo xtask tidy", cargo().args(["xtask", "tidy"]))
}

pub fn clippy(context: &mut StepContext) -> Outcome {
    let job = context.clippy.take();
    context.finish_check("cargo clippy", job, clippy_command)
}

pub fn docs(context: &mut StepContext) -> Outcome {
    let job = context.docs.take();
    context.finish_check("cargo doc", job, docs_command)
}

fn clippy_command() -> Command {
    let mut command = cargo_behind("10");
    command.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    command
}

fn docs_command() -> Command {
    let mut command = cargo_behind("10");
    command.args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Every parser of foreign input with what nobody wrote, for half a minute, by a fixed seed.
pub fn fuzz(context: &mut StepContext) -> Outcome {
    let under_way = match context.fuzz.take() {
        Some(fuzz) => Ok(fuzz),
        None => begin_fuzz(&context.session),
    };
    let Fuzz { job, _scratch } = match under_way {
        Ok(fuzz) => fuzz,
        Err(why) => return Outcome::failed(format!("the targets: {why}"), String::new()),
    };
    let until = Instant::now() + context.session.remaining();
    judge("fsarena-fuzz", context.session.wait(job, until))
}

fn begin_fuzz(session: &Session) -> Result<Fuzz, String> {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let scratch = tempfile::Builder::new().prefix("fsarena-fuzz-").tempdir_in(base);
    let scratch = scratch.map_err(|error| format!("a directory for their files: {error}"))?;
    let mut command = call("nice");
    command
        .args(["-n", "10"])
        .arg(session.root.join("target/debug/fsarena-fuzz"))
        .args(["blind", "--seconds", FUZZ_SECONDS, "--artifacts"])
        .arg(session.root.join("target/fuzz/artifacts"))
        .env("TMPDIR", scratch.path());
    let job = session.begin("fuzz", &mut command)?;
    Ok(Fuzz { job, _scratch: scratch })
}

/// Builds every test, so that its time is known apart from that of running them.
pub fn build(context: &mut StepContext) -> Outcome {
    match parallel::build(&context.session) {
        Ok(programs) => {
            context.programs = programs;
            Outcome::passed()
        }
        Err(text) => Outcome::failed("the build of the tests", tail(&text)),
    }
}

/// The kernel that tests of the tier `virtual_` boot: the one in the cache, else built, trimmed.
/// Its minutes are no part of the time that the task has.
pub fn guest_kernel(context: &mut StepContext) -> Outcome {
    let started = Instant::now();
    let program = context.session.root.join("target/debug/fsarena");
    let mut command = call(program);
    command.args(["kernel", "build", "--trimmed"]);
    if rustix::process::geteuid().is_root() && find("apt-get").is_some() {
        command.arg("--install-tools");
    }
    let Ended { end, text } = context.session.run("guest kernel", &mut command);
    context.session.extend(started.elapsed());
    let missing = text.lines().find(|line| line.contains("missing for the build of a kernel"));
    match (end, missing) {
        (End::Good, _) => {
            let built = !text.contains("built before");
            let minutes = started.elapsed().as_secs_f64() / 60.0;
            let note = format!("  built in {minutes:.1} min, which do not count");
            Outcome { output: built.then_some(note).into_iter().collect(), ..Outcome::passed() }
        }
        (End::Bad(_), Some(line)) => {
            Outcome::not_run(vec![NotRun::new("guest kernel", line.trim())])
        }
        (End::Bad(how) | End::Stopped(how), _) => {
            Outcome::failed(format!("the build of the guest kernel: {how}"), tail(&text))
        }
    }
}

/// Programs of 32 bits, which tests of the tier `loop_` start: those in root's cache, else fetched
/// by apt. What cannot have them says why, and the tests are not run.
pub fn i386_programs(context: &mut StepContext) -> Outcome {
    if !rustix::process::geteuid().is_root() {
        return Outcome::not_run(vec![NotRun::new("i386 programs", "only root may have them")]);
    }
    let program = context.session.root.join("target/debug/fsarena");
    let listed = context.session.run("programs", call(&program).args(["programs", "list"]));
    if listed.text.contains("i386:") {
        return Outcome::passed();
    }
    let mut command = call(&program);
    let Ended { end, text } =
        context.session.run("programs", command.args(["programs", "add", "i386", "--yes"]));
    match end {
        End::Good => Outcome::passed(),
        End::Bad(_) | End::Stopped(_) => {
            let last = text.lines().rev().find(|line| !line.trim().is_empty());
            Outcome::not_run(vec![NotRun::new("i386 programs", last.unwrap_or("no output"))])
        }
    }
}

/// Tests that need nothing of the machine, and the examples in documentation.
pub fn tests(context: &mut StepContext) -> Outcome {
    let mut output = parallel::run_plain(&context.session, &context.programs);
    let times = keep_times(&context.session, "plain", &output);
    let mut text = mem::take(&mut output.text);
    let crates = doc_examples::crates(&context.session.root);
    if !crates.is_empty() {
        let named = crates.iter().flat_map(|name| ["--package", name]);
        let args = ["test", "--doc", "--no-fail-fast"];
        let mut command = cargo();
        command.args(args).args(named).args(["--", "--show-output"]);
        let Ended { end, text: printed } = context.session.run("doc tests", &mut command);
        text.push_str(&printed);
        if let (End::Bad(how) | End::Stopped(how), false) = (end, printed.contains("test result:"))
        {
            return Outcome::failed(format!("cargo test --doc: {how}"), tail(&printed));
        }
    }
    let mut outcome = libtest::parse(&text);
    outcome.failed.extend(output.broken);
    outcome.output.extend(times);
    outcome
}

/// These tests kill, fill, pull and wait on a real kernel: one or two that failed are tried once
/// more, alone, and are named at the end even where they pass then. clippy and rustdoc run next to
/// them, behind them in priority.
pub fn machine_tests(context: &mut StepContext) -> Outcome {
    let tests = parallel::machine_tests(&context.programs);
    // Where one cannot be started, its own step runs it.
    context.clippy = context.session.begin("cargo clippy", &mut clippy_command()).ok();
    context.docs = context.session.begin("cargo doc", &mut docs_command()).ok();
    context.fuzz = begin_fuzz(&context.session).ok();
    let beside = Some(chaos_campaign(context));
    let (first, chaos) = run_machine_tests(context, tests.clone(), parallel::is_alone, beside);
    context.chaos = chaos;
    let Some(names) = worth_a_second_attempt(&first) else { return first };
    let again = tests.into_iter().filter(|test| names.contains(&test.label())).collect();
    let (second, _) = run_machine_tests(context, again, |_| true, None);
    both_attempts(first, second)
}

/// Writes how long each of these tests took into a file, as a base for making them faster; says why
/// where it cannot.
fn keep_times(session: &Session, tests: &str, output: &parallel::Output) -> Option<String> {
    let path = session.root.join(format!("target/xtask/times-{tests}.tsv"));
    let error = fs::write(&path, output.times()).err()?;
    Some(format!("  {}: {error}", path.display()))
}

fn run_machine_tests(
    context: &StepContext,
    tests: Vec<Single>,
    is_alone: impl Fn(&str) -> bool,
    beside: Option<Beside>,
) -> (Outcome, Option<Ended>) {
    let output = parallel::run(&context.session, tests, is_alone, beside);
    let mut outcome = libtest::parse(&output.text);
    outcome.output.push(output.slowest());
    if output.beside.is_some() {
        outcome.output.extend(keep_times(&context.session, "machine", &output));
    }
    outcome.failed.extend(output.broken);
    (outcome, output.beside)
}

/// Half a minute of it, in the place of a test. The row of cases is always the same, so that what
/// has failed once can be looked at again; a longer campaign is somebody's wish.
fn chaos_campaign(context: &StepContext) -> Beside {
    // This program itself: cargo may be at work on other things, and has one at a time.
    let mut command = call("/proc/self/exe");
    command.args(["chaos", "--minutes", "0.5", "--campaign", "1", "--beside", "--program"]);
    command.arg(context.session.root.join("target/debug/fsarena"));
    Beside { log: "chaos", command }
}

/// What became of the campaign.
pub fn chaos(context: &mut StepContext) -> Outcome {
    match context.chaos.take() {
        Some(ended) => chaos_outcome(ended),
        None => Outcome::not_run(vec![NotRun::new("chaos", "the machine tests did not begin it")]),
    }
}

/// Each case counts as a test; the last line says how many there were.
fn chaos_outcome(Ended { end, text }: Ended) -> Outcome {
    let count = |line: &str| line.split_once(" cases, ")?.0.parse::<usize>().ok();
    let cases = text.lines().last().and_then(count);
    let failed: Vec<String> =
        text.lines().filter_map(|line| Some(line.strip_prefix("failed: ")?.to_owned())).collect();
    let not_run = parts_not_run("chaos", &text);
    match (end, cases) {
        (End::Good | End::Bad(_), Some(0)) => Outcome::not_run(not_run),
        (End::Good, Some(cases)) => Outcome { passed: cases, not_run, ..Outcome::default() },
        (End::Bad(_), Some(cases)) if !failed.is_empty() => Outcome {
            passed: cases.saturating_sub(failed.len()),
            failed,
            not_run,
            output: vec![tail(&text)],
            ..Outcome::default()
        },
        (End::Good, None) => Outcome::failed("cargo xtask chaos: no closing line", tail(&text)),
        (End::Bad(how) | End::Stopped(how), _) => {
            Outcome::failed(format!("cargo xtask chaos: {how}"), tail(&text))
        }
    }
}

/// The failed tests; `None` where none failed, or so many that it is not the machine, or something
/// else than a test.
fn worth_a_second_attempt(first: &Outcome) -> Option<Vec<String>> {
    let failed = &first.failed;
    let is_test = |name: &String| {
        let test = name.rsplit(' ').next().unwrap_or_default();
        parallel::uses_machine(test)
    };
    let few = (1..=SECOND_ATTEMPTS_MAX).contains(&failed.len());
    (few && failed.iter().all(is_test)).then(|| failed.clone())
}

/// The first attempt with those of its failures taken back that passed at the second.
fn both_attempts(mut first: Outcome, second: Outcome) -> Outcome {
    let came_through = second.failed.is_empty()
        && second.passed == first.failed.len()
        && second.not_run.is_empty();
    first.output.extend(second.output);
    if came_through {
        first.passed += first.failed.len();
        first.second = std::mem::take(&mut first.failed);
    }
    first
}

/// The advisory database is left out: it is not reachable everywhere.
pub fn deny(context: &mut StepContext) -> Outcome {
    let state = std::mem::replace(&mut context.deny, Deny::Missing("asked for twice".to_owned()));
    let ready = match state {
        Deny::There(path) => Ok(path),
        Deny::Missing(why) => Err(why),
        Deny::Coming(job) => {
            let until = Instant::now() + context.session.remaining().saturating_sub(DENY_RESERVE);
            let Ended { end, text } = context.session.wait(job, until);
            match (end, find_deny(&context.session)) {
                (End::Good, Some(path)) => Ok(path),
                (End::Good, None) => Err("was installed and cannot be found".to_owned()),
                (End::Bad(how) | End::Stopped(how), _) => Err(explain(&how, &text)),
            }
        }
    };
    match ready {
        Ok(path) => {
            let args = ["check", "licenses", "bans", "sources"];
            context.check("cargo deny", call(path).args(args))
        }
        Err(why) => {
            let why = format!("`cargo install --locked cargo-deny`: {why}");
            Outcome::not_run(vec![NotRun::new("cargo deny", why)])
        }
    }
}

/// A copy on the PATH, or the one an earlier run has built.
fn find_deny(session: &Session) -> Option<PathBuf> {
    let own = session.root.join("target/tools/bin/cargo-deny");
    find("cargo-deny").map(|tool| tool.path().to_owned()).or_else(|| own.is_file().then_some(own))
}

/// Builds cargo-deny next to the other steps and behind them in priority.
fn build_deny(session: &Session) -> Deny {
    let tools = session.root.join("target/tools");
    let mut command = cargo_behind("15");
    command
        .args(["install", "--locked", "--quiet", "cargo-deny", "--root"])
        .arg(&tools)
        .env("CARGO_TARGET_DIR", tools.join("build"));
    session.begin("cargo-deny install", &mut command).map_or_else(Deny::Missing, Deny::Coming)
}

/// The benchmark, once and small, so that it does not rot; its figures mean nothing here.
pub fn benchmark(context: &mut StepContext) -> Outcome {
    if !context.session.full {
        let why = "only `cargo xtask test --all` runs it";
        return Outcome::not_run(vec![NotRun::new("benchmark", why)]);
    }
    let args = ["xtask", "overhead", "--smoke"];
    let Ended { end, text } = context.session.run("benchmark", cargo().args(args));
    match end {
        End::Good => Outcome { not_run: parts_not_run("benchmark", &text), ..Outcome::passed() },
        End::Bad(how) | End::Stopped(how) => {
            Outcome::failed(format!("cargo xtask overhead: {how}"), tail(&text))
        }
    }
}

/// The parts of a step that say `not run: what: why`.
fn parts_not_run(step: &str, text: &str) -> Vec<NotRun> {
    let parts = text.lines().filter_map(|line| line.strip_prefix("not run: "));
    parts
        .map(|part| {
            let (what, why) = part.split_once(": ").unwrap_or((part, "no reason given"));
            NotRun::new(format!("{step} {what}"), why)
        })
        .collect()
}

/// Whatever the tests have made must be gone.
pub fn leftovers(context: &mut StepContext) -> Outcome {
    let until = Instant::now() + LEFTOVERS_PATIENCE;
    loop {
        let left: Vec<String> =
            context.search.list().difference(&context.before).cloned().collect();
        if left.is_empty() {
            break;
        }
        if Instant::now() >= until {
            let output = format!("left behind by the tests:\n  {}", left.join("\n  "));
            return Outcome::failed("something was left behind", output);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let mut outcome = Outcome::passed();
    outcome.output = context.before.iter().map(|old| format!("  there before: {old}")).collect();
    outcome
}

/// The reason in one line: how it ended and the last error it printed.
fn explain(how: &str, text: &str) -> String {
    let error = text.lines().rev().find(|line| line.trim_start().starts_with("error"));
    let last = error.or_else(|| text.lines().rev().find(|line| !line.trim().is_empty()));
    format!("{how}: {}", last.unwrap_or("no output").trim())
}

/// The end of a long text.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(SHOWN_LINES);
    let cut =
        if from > 0 { format!("({from} earlier lines are in the log)\n") } else { String::new() };
    cut + &lines[from..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_loses_its_beginning_and_says_so() {
        assert_eq!(tail("a\nb\n"), "a\nb");
        let long = "x\n".repeat(SHOWN_LINES) + "last\n";
        assert!(tail(&long).starts_with("(1 earlier lines are in the log)\nx\n"));
        assert!(tail(&long).ends_with("\nlast"));
    }

    #[test]
    fn a_second_attempt_is_for_a_few_tests_and_takes_back_what_passed() {
        let failing = |names: &[&str]| Outcome {
            passed: 7,
            failed: names.iter().map(|&name| name.to_owned()).collect(),
            output: vec!["why".to_owned()],
            ..Outcome::default()
        };
        let one = failing(&["e2e loop_a::b"]);
        assert_eq!(worth_a_second_attempt(&one), Some(one.failed.clone()));
        assert_eq!(worth_a_second_attempt(&failing(&[])), None);
        assert_eq!(worth_a_second_attempt(&failing(&["e2e loop_a"; 3])), None);
        let crashed = failing(&["e2e the test program ended before its summary"]);
        assert_eq!(worth_a_second_attempt(&crashed), None);
        let passed = both_attempts(failing(&["e2e loop_a::b"]), Outcome::passed());
        assert_eq!((passed.passed, passed.failed.len()), (8, 0));
        assert_eq!((passed.second, passed.output), (vec!["e2e loop_a::b".to_owned()], one.output));
        let again = both_attempts(failing(&["e2e loop_a::b"]), failing(&["e2e loop_a::b"]));
        assert_eq!((again.passed, again.failed.len(), again.second.len()), (7, 1, 0));
        let nothing = both_attempts(failing(&["e2e loop_a::b"]), Outcome::default());
        assert_eq!(nothing.failed.len(), 1, "a test that was not found has not passed");
    }

    #[test]
    fn parts_of_the_benchmark_say_why_they_were_not_run() {
        let text = "== uring\nnot run: uring: fio is not installed\nnot judged: few\n";
        let expected = NotRun::new("benchmark uring", "fio is not installed");
        assert_eq!(parts_not_run("benchmark", text), [expected]);
        assert_eq!(parts_not_run("benchmark", "all figures\n"), []);
    }

    #[test]
    fn cases_of_a_campaign_count_as_tests() {
        let text = "failed: seed 7: kill\n  left behind: x\nnot run: zram: no zram (1 cases)\n\
                    5 cases, 1 failed, 10 per minute\n";
        let outcome = |end: End, text: &str| chaos_outcome(Ended { end, text: text.to_owned() });
        let bad = outcome(End::Bad("exit code 1".to_owned()), text);
        assert_eq!((bad.passed, &bad.failed), (4, &vec!["seed 7: kill".to_owned()]));
        assert_eq!(bad.not_run, [NotRun::new("chaos zram", "no zram (1 cases)")]);
        let good = outcome(End::Good, "5 cases, 0 failed, 10 per minute\n");
        assert_eq!((good.passed, good.failed.len()), (5, 0));
        let none = outcome(End::Good, "not run: loop: needs root (9 cases)\n0 cases, 0 failed\n");
        assert_eq!((none.passed, none.not_run.len()), (0, 1));
        for end in [End::Good, End::Bad("exit code 101".to_owned())] {
            assert_eq!(outcome(end, "seed 1: kill\n").failed.len(), 1, "it did not reach its end");
        }
        let stopped = outcome(End::Stopped("took too long".to_owned()), text);
        assert_eq!(stopped.failed, ["cargo xtask chaos: took too long"]);
    }

    #[test]
    fn reasons_name_the_error() {
        assert_eq!(
            explain("exit code 101", "a\nerror: no net\n  note: b\n"),
            "exit code 101: error: no net"
        );
        assert_eq!(explain("took too long", "Compiling a\n\n"), "took too long: Compiling a");
        assert_eq!(explain("exit code 1", ""), "exit code 1: no output");
    }
}
