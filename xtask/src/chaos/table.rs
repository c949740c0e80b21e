//! What a campaign has found, in a table: how often each kind was tried, and what failed.

use super::carry_out::Outcome;
use super::case::Case;
use super::kind::Act;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Kind, victim and fault: what a row stands for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct RowKey {
    kind: &'static str,
    victim: String,
    fault: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Row {
    cases: usize,
    missed: usize,
    failed: usize,
}

/// All cases so far.
#[derive(Default)]
pub(super) struct CampaignTable {
    rows: BTreeMap<RowKey, Row>,
    targets: BTreeMap<&'static str, usize>,
    /// By what is missing and the reason: how many cases were drawn for it.
    not_run: BTreeMap<(String, String), usize>,
}

impl CampaignTable {
    pub(super) fn add(&mut self, case: &Case, outcome: &Outcome) {
        let key = RowKey {
            kind: case.kind.name,
            victim: case.disturbance.victim(),
            fault: case.disturbance.fault(),
        };
        let row = self.rows.entry(key).or_default();
        row.cases += 1;
        row.missed += usize::from(outcome.act == Act::Missed);
        row.failed += usize::from(!outcome.faults.is_empty());
        *self.targets.entry(case.target.name()).or_default() += 1;
    }

    pub(super) fn not_run(&mut self, what: String, why: String) {
        *self.not_run.entry((what, why)).or_default() += 1;
    }

    pub(super) fn cases(&self) -> usize {
        self.rows.values().map(|row| row.cases).sum()
    }

    pub(super) fn failed(&self) -> usize {
        self.rows.values().map(|row| row.failed).sum()
    }

    /// The table and what closes the campaign; the last line is read by `cargo xtask test`.
    pub(super) fn closing(&self, took: Duration) -> String {
        let mut text = String::new();
        let mut line = |line: String| writeln!(text, "{line}").expect("a String takes any text");
        line(format!(
            "{:9} {:34} {:15} {:>5} {:>6} {:>6}",
            "kind", "victim", "signal, fault", "cases", "missed", "failed"
        ));
        for (key, row) in &self.rows {
            let RowKey { kind, victim, fault } = key;
            let Row { cases, missed, failed } = row;
            line(format!("{kind:9} {victim:34} {fault:15} {cases:5} {missed:6} {failed:6}"));
        }
        let targets: Vec<String> =
            self.targets.iter().map(|(name, cases)| format!("{name} {cases}")).collect();
        line(format!("on {}", targets.join(", ")));
        line(
            "missed: it had ended before, or had no such process; checked all the same".to_owned(),
        );
        for ((what, why), cases) in &self.not_run {
            line(format!("not run: {what}: {why} ({cases} cases drawn)"));
        }
        let minutes = (took.as_secs_f64() / 60.0).max(f64::EPSILON);
        let (cases, failed) = (self.cases(), self.failed());
        let a_minute = cases as f64 / minutes;
        line(format!("{cases} cases, {failed} failed, {a_minute:.0} per minute"));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_counted_by_what_was_done() {
        let case = Case::new(1);
        let mut table = CampaignTable::default();
        let outcome = |act: Act, faults: &[&str]| Outcome {
            act,
            faults: faults.iter().map(|&fault| fault.to_owned()).collect(),
        };
        table.add(&case, &outcome(Act::Done, &[]));
        table.add(&case, &outcome(Act::Missed, &[]));
        table.add(&case, &outcome(Act::Done, &["left behind: x", "a panic: y"]));
        table.not_run("zram".to_owned(), "this kernel has no zram".to_owned());
        table.not_run("zram".to_owned(), "this kernel has no zram".to_owned());
        assert_eq!((table.cases(), table.failed()), (3, 1));
        let text = table.closing(Duration::from_secs(30));
        let row = text.lines().nth(1).unwrap();
        assert!(row.starts_with(case.kind.name), "{row}");
        assert_eq!(row.split_whitespace().rev().take(3).collect::<Vec<_>>(), ["1", "1", "3"]);
        assert!(text.contains("not run: zram: this kernel has no zram (2 cases drawn)"), "{text}");
        assert_eq!(text.lines().last(), Some("3 cases, 1 failed, 6 per minute"));
    }
}
