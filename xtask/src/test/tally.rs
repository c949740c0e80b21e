//! What came of the steps, and the lines the task closes with.

use std::fmt::{Display, Formatter, Write};

/// Something that was not carried out, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRun {
    /// A step, or a test of one.
    pub what: String,
    /// The reason, so that a reader knows what would have to change.
    pub why: String,
}

impl NotRun {
    /// Names a thing and the reason.
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        NotRun { what: what.into(), why: why.into() }
    }
}

/// What came of one step.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many tests passed; 1 for a step that is one check.
    pub passed: usize,
    /// The names of what failed.
    pub failed: Vec<String>,
    /// What was not carried out.
    pub not_run: Vec<NotRun>,
    /// Of those that passed, the names of the tests that had failed at their first attempt.
    pub second: Vec<String>,
    /// Text to be shown: why things failed, and notes.
    pub output: Vec<String>,
}

impl Outcome {
    /// A check that passed.
    pub fn passed() -> Self {
        Outcome { passed: 1, ..Outcome::default() }
    }

    /// A check that failed, with the text that explains it.
    pub fn failed(what: impl Into<String>, output: impl Into<String>) -> Self {
        let (failed, output) = (vec![what.into()], vec![output.into()]);
        Outcome { failed, output, ..Outcome::default() }
    }

    /// Nothing was carried out.
    pub fn not_run(not_run: Vec<NotRun>) -> Self {
        Outcome { not_run, ..Outcome::default() }
    }
}

/// In words that differ from the closing line, which must be the only one of its kind.
impl Display for Outcome {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Outcome { passed, failed, not_run, .. } = self;
        match (passed, failed.len(), not_run.len()) {
            (1, 0, 0) => f.write_str("passed"),
            (0, 1, 0) => f.write_str("FAILED"),
            (0, 0, 1) => f.write_str("not run"),
            (passed, failed, not_run) => {
                let word = if failed > 0 { "FAILED" } else { "passed" };
                write!(f, "{word}; passed {passed}, failed {failed}, not run {not_run}")
            }
        }
    }
}

/// The sum over all steps.
#[derive(Debug, Default)]
pub struct Tally {
    passed: usize,
    failed: Vec<String>,
    not_run: Vec<NotRun>,
    second: Vec<String>,
}

impl Tally {
    /// Adds the outcome of a step.
    pub fn add(&mut self, step: &str, outcome: Outcome) {
        self.passed += outcome.passed;
        self.failed.extend(outcome.failed.into_iter().map(|what| format!("{step}: {what}")));
        self.not_run.extend(outcome.not_run);
        self.second.extend(outcome.second);
    }

    /// Adds a failure of the task itself.
    pub fn fail(&mut self, what: &str) {
        self.failed.push(what.to_owned());
    }

    /// How many things failed.
    pub fn failed(&self) -> usize {
        self.failed.len()
    }

    /// The closing lines: failures, what passed at a second attempt only, what was not run and why,
    /// and the count on the last line.
    pub fn closing(&self) -> String {
        let mut text = String::new();
        let mut line = |line: String| writeln!(text, "{line}").expect("a String takes any text");
        if !self.failed.is_empty() {
            line("Failed:".to_owned());
            self.failed.iter().for_each(|what| line(format!("  {what}")));
        }
        if !self.second.is_empty() {
            line("Flaky: passed at a second attempt only; the first is shown above:".to_owned());
            self.second.iter().for_each(|what| line(format!("  {what}")));
        }
        if !self.not_run.is_empty() {
            line("Not run:".to_owned());
            self.not_run.iter().for_each(|it| line(format!("  {}: {}", it.what, it.why)));
        }
        let (passed, failed, skipped) = (self.passed, self.failed.len(), self.not_run.len());
        line(format!("{passed} passed, {failed} failed, {skipped} skipped"));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closes_with_reasons_and_the_count_on_the_last_line() {
        let mut tally = Tally::default();
        tally.add("format", Outcome::passed());
        tally.add("tidy", Outcome::failed("a rule is broken", "a.rs:1: …"));
        tally.add("cargo deny", Outcome::not_run(vec![NotRun::new("cargo deny", "no network")]));
        let second = vec!["e2e loop_a::b".to_owned()];
        tally.add("serial", Outcome { second, ..Outcome::default() });
        let expected = "Failed:\n  tidy: a rule is broken\nFlaky: passed at a second attempt only; \
                        the first is shown above:\n  e2e loop_a::b\nNot run:\n  cargo deny: no network\n\
                        1 passed, 1 failed, 1 skipped\n";
        assert_eq!(tally.closing(), expected);
        assert_eq!(tally.failed(), 1);
    }

    #[test]
    fn closes_with_the_count_alone_when_all_is_well() {
        let mut tally = Tally::default();
        tally.add("tests", Outcome { passed: 7, ..Outcome::default() });
        assert_eq!(tally.closing(), "7 passed, 0 failed, 0 skipped\n");
        assert_eq!(tally.failed(), 0);
    }

    #[test]
    fn a_step_is_never_described_by_a_closing_line() {
        let some = Outcome { passed: 2, failed: vec!["a".to_owned()], ..Outcome::default() };
        assert_eq!(some.to_string(), "FAILED; passed 2, failed 1, not run 0");
        assert_eq!(Outcome::passed().to_string(), "passed");
        assert_eq!(Outcome::failed("a", "").to_string(), "FAILED");
        let skipped = Outcome::not_run(vec![NotRun::new("a", "b")]);
        assert_eq!(skipped.to_string(), "not run");
    }
}
