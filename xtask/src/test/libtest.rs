//! Reads what `cargo test -- --show-output` prints, stdout and stderr in one text.
//!
//! Counts come from the summary of each test program. A test that passed and printed a line
//! `not run: reason` did not test anything: it is moved from the passed to those not run. A
//! program that started and gave no summary was killed or has crashed, which is a failure.

use super::tally::{NotRun, Outcome};

/// What a test prints at the start of a line when it cannot run here.
const NOT_RUN: &str = "not run: ";

/// What the tests of one `cargo test` came to.
pub fn parse(text: &str) -> Outcome {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    reader.end_program();
    reader.outcome
}

#[derive(Default)]
struct Reader {
    outcome: Outcome,
    /// The test program cargo has announced last, in the words of its crate.
    program: String,
    /// The program has said how many tests it will run and has not summed up yet.
    running: bool,
    /// Inside the list of failures, as opposed to that of successes.
    in_failures: bool,
    /// The test whose output is being read, and that output.
    test: Option<(String, String)>,
    /// Found in the lists of the current program, to be compared with its summary.
    here: Outcome,
}

impl Reader {
    fn line(&mut self, line: &str) {
        if let Some(program) = announced(line) {
            self.end_program();
            self.program = program;
        } else if is_start(line) {
            self.end_program();
            self.running = true;
        } else if !self.running {
            // Between the programs there is only cargo's own talk.
        } else if let Some(summary) = line.strip_prefix("test result: ") {
            self.end_test();
            self.sum_up(summary);
        } else if let Some(test) = heading(line) {
            self.end_test();
            self.test = Some((test.to_owned(), String::new()));
        } else if line == "successes:" || line == "failures:" {
            self.end_test();
            self.in_failures = line == "failures:";
        } else if let Some((_, shown)) = &mut self.test {
            shown.push_str(line);
            shown.push('\n');
        } else if let Some((name, reason)) = ignored(line) {
            self.here.not_run.push(NotRun::new(self.named(name), reason));
        } else if let Some(name) = line.strip_prefix("    ").filter(|_| self.in_failures) {
            self.here.failed.push(self.named(name));
        }
    }

    /// Judges the test whose output has ended.
    fn end_test(&mut self) {
        let Some((test, shown)) = self.test.take() else { return };
        let test = self.named(&test);
        if self.in_failures {
            self.here.output.push(format!("---- {test}\n{shown}"));
            return;
        }
        let reasons: Vec<&str> =
            shown.lines().filter_map(|line| line.strip_prefix(NOT_RUN)).map(str::trim).collect();
        if !reasons.is_empty() {
            self.here.not_run.push(NotRun::new(test, reasons.join("; ")));
        }
    }

    /// The summary is right; the lists give the names and the reasons.
    fn sum_up(&mut self, summary: &str) {
        let mut here = std::mem::take(&mut self.here);
        let ran = count(summary, "passed") + count(summary, "ignored");
        here.passed = ran.saturating_sub(here.not_run.len());
        for _ in here.failed.len()..count(summary, "failed") {
            here.failed.push(self.named("a test whose name was lost in its output"));
        }
        self.running = false;
        self.in_failures = false;
        self.add(here);
    }

    fn end_program(&mut self) {
        self.end_test();
        let mut here = std::mem::take(&mut self.here);
        if std::mem::take(&mut self.running) {
            here.failed.push(self.named("the test program ended before its summary"));
        }
        self.in_failures = false;
        self.add(here);
    }

    fn add(&mut self, here: Outcome) {
        self.outcome.passed += here.passed;
        self.outcome.failed.extend(here.failed);
        self.outcome.not_run.extend(here.not_run);
        self.outcome.output.extend(here.output);
    }

    fn named(&self, test: &str) -> String {
        if self.program.is_empty() { test.to_owned() } else { format!("{} {test}", self.program) }
    }
}

/// The program in `Running unittests src/lib.rs (target/debug/deps/name-0123)` or `Doc-tests name`.
fn announced(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name} (docs)"));
    }
    let (_, path) = line.strip_prefix("Running ")?.strip_suffix(')')?.rsplit_once('(')?;
    let file = path.rsplit('/').next()?;
    Some(file.rsplit_once('-').map_or(file, |(name, _)| name).to_owned())
}

/// `running 3 tests`
fn is_start(line: &str) -> bool {
    let count = line
        .strip_prefix("running ")
        .and_then(|rest| rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test")));
    count.is_some_and(|count| count.parse::<usize>().is_ok())
}

/// `---- name stdout ----`
fn heading(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// `test name ... ignored`, with or without a reason.
fn ignored(line: &str) -> Option<(&str, &str)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let reason = result.strip_prefix("ignored")?.trim_start_matches(", ");
    Some((name, if reason.is_empty() { "ignored, without a reason" } else { reason }))
}

/// The number before `what` in `ok. 5 passed; 0 failed; …`.
fn count(summary: &str, what: &str) -> usize {
    summary
        .split(['.', ';'])
        .filter_map(|part| part.trim().split_once(' '))
        .find(|(_, word)| *word == what)
        .and_then(|(number, _)| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSING: &str = "\
   Compiling fsarena-plan v0.1.0
     Running unittests src/lib.rs (target/debug/deps/fsarena_plan-0f0f)

running 4 tests
test tests::loop_one ... ok
test tests::plain ... ok
test tests::slow ... ignored, takes a day
test tests::chatty ... ok

successes:

---- tests::loop_one stdout ----
ext4 first
not run: needs root

---- tests::chatty stdout ----
  not run: this line is not at the margin

successes:
    tests::chatty
    tests::loop_one
    tests::plain

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s

   Doc-tests fsarena_plan

running 1 test
test crates/plan/src/lib.rs - parse (line 3) ... ok

successes:

successes:
    crates/plan/src/lib.rs - parse (line 3)

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.50s
";

    #[test]
    fn a_test_that_could_not_run_is_not_a_pass() {
        let outcome = parse(PASSING);
        assert_eq!(outcome.passed, 3);
        assert_eq!(outcome.failed, Vec::<String>::new());
        let expected = [
            NotRun::new("fsarena_plan tests::slow", "takes a day"),
            NotRun::new("fsarena_plan tests::loop_one", "needs root"),
        ];
        assert_eq!(outcome.not_run, expected);
    }

    #[test]
    fn failures_are_named_and_shown() {
        let text = "     Running tests/order.rs (target/debug/deps/order-1a)\n\nrunning 3 tests\n\
            test a ... FAILED\ntest b ... ok\ntest c ... FAILED\n\nsuccesses:\n\nsuccesses:\n    b\n\
            \nfailures:\n\n---- a stdout ----\nnot run: said too late\npanicked\n\
            ---- c stdout ----\nworse\n\nfailures:\n    a\n    c\n\n\
            test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let outcome = parse(text);
        assert_eq!((outcome.passed, outcome.not_run.len()), (1, 0));
        assert_eq!(outcome.failed, ["order a", "order c"]);
        assert_eq!(outcome.output[0], "---- order a\nnot run: said too late\npanicked\n");
        assert_eq!(outcome.output.len(), 2);
    }

    #[test]
    fn a_program_without_a_summary_has_failed() {
        let text = "     Running unittests src/lib.rs (target/debug/deps/engine-1a)\nrunning 2 \
                    tests\ntest a ... ok\nerror: test failed\n     Running unittests src/lib.rs \
                    (target/debug/deps/plan-1a)\nrunning 1 test\ntest b ... ok\n\
                    test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let outcome = parse(text);
        assert_eq!(outcome.passed, 1);
        assert_eq!(outcome.failed, ["engine the test program ended before its summary"]);
    }

    #[test]
    fn counts_hold_where_the_names_are_lost() {
        let text = "running 2 tests\ntest a ... text of a child\nFAILED\ntest b ... ok\n\
                    test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured\n";
        let outcome = parse(text);
        assert_eq!((outcome.passed, outcome.failed.len()), (1, 1));
    }

    #[test]
    fn nothing_started_is_nothing_counted() {
        assert_eq!(parse("error[E0432]: unresolved import\n"), Outcome::default());
        assert_eq!(parse("test result: ok. 9 passed; 0 failed\n"), Outcome::default());
        assert_eq!(parse("running 0 tests\n\ntest result: ok. 0 passed; 0 failed\n").passed, 0);
    }

    #[test]
    fn a_test_that_prints_like_cargo_does_not_start_a_program() {
        assert!(!is_start("running three tests") && is_start("running 1 test"));
        assert_eq!(announced("     Running tests"), None);
        assert_eq!(announced("   Doc-tests fsarena_plan").as_deref(), Some("fsarena_plan (docs)"));
    }
}
