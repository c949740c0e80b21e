//! What an article and our RUNs are, set next to each other: plain data for those that lay it out.

use crate::section::Block;
use crate::table::Table;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;
use fsarena_study::Study;

/// The phase of ours that repeats a test of an article (a `[[row]]` of the experiment).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnPhase {
    /// Name of the test in the article's data.
    pub title: String,
    pub workload: String,
    pub phase: String,
}

/// A RUN of ours on one machine.
#[derive(Clone, Copy, Debug)]
pub struct OwnRun<'a> {
    /// What was planned.
    pub header: &'a RunHeader,
    /// Its latest records.
    pub records: &'a [TrialRecord],
    /// What was computed from them.
    pub study: &'a Study,
    /// In what its experiment does otherwise than the article, a line each.
    pub notes: &'a [String],
}

/// Values of ours that are missing in tests for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Missing {
    /// Headings of the tests; none where it is all of them.
    pub(crate) tests: Vec<&'static str>,
    /// Whose; nothing where it is everybody's.
    pub(crate) label: Option<String>,
    pub(crate) why: String,
}

impl Missing {
    /// `untar; tar+gzip: xfs: not run`, each part by `words`.
    pub(crate) fn line(&self, words: impl Fn(&str) -> String) -> String {
        let tests: Vec<String> = match self.tests.as_slice() {
            [] => vec![words("all tests")],
            tests => tests.iter().map(|test| words(test)).collect(),
        };
        let label = self.label.iter().map(|label| format!("{label}: ")).collect::<String>();
        format!("{}: {label}{}", tests.join("; "), words(&self.why))
    }
}

/// An article and a RUN of ours.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThenAndNowView {
    /// The table that the article is about, with its notes.
    pub(crate) printed: Vec<Block>,
    /// Its other tables and those computed from them, likewise.
    pub(crate) others: Vec<Block>,
    /// Ours: by `returned`, as the articles, and by the compared clock where that is another one.
    pub(crate) ours: Vec<Table>,
    /// Why values of these are missing.
    pub(crate) missing: Vec<Missing>,
    /// The same by test, as values.
    pub(crate) tests: Vec<ThenAndNow>,
    /// What the figures of ours are.
    pub(crate) legend: String,
    /// What both suggest for a question that the article left open; inference, not measurement.
    pub(crate) inference: Vec<String>,
}

/// A test of an article, then and now: rates or seconds as its table has them.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ThenAndNow {
    pub(crate) title: String,
    /// `KB/s`, `files/s`, `s`.
    pub(crate) unit: String,
    /// Workload and phase of ours that repeat it, where one phase does.
    pub(crate) phase: Option<(String, String)>,
    /// Rates; else seconds.
    pub(crate) more_is_better: bool,
    /// What the article has, by the heading there.
    pub(crate) then: Vec<(String, f64)>,
    /// Index into the plan's contenders, label and value by `returned`: of those that were measured
    /// as asked, in all trials and under the same conditions, so that ratios may be taken.
    pub(crate) now: Vec<(usize, String, f64)>,
    /// Labels of the others that have a value, and in what each was measured otherwise.
    pub(crate) left_out: Vec<(String, String)>,
}

impl ThenAndNow {
    /// The best value of the article and the best of ours: what ratios within each are to.
    pub(crate) fn best(&self) -> (Option<f64>, Option<f64>) {
        let best = |values: Vec<f64>| {
            let usable = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
            usable.reduce(if self.more_is_better { f64::max } else { f64::min })
        };
        let then = self.then.iter().map(|(_, value)| *value).collect();
        (best(then), best(self.now.iter().map(|(_, _, value)| *value).collect()))
    }
}

impl ThenAndNowView {
    /// What stands in the tables but in no ratio: test, label and why, a line each.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let of = |test: &ThenAndNow| {
            let line = |(label, why): &(String, String)| format!("{}: {label}: {why}", test.title);
            test.left_out.iter().map(line).collect::<Vec<_>>()
        };
        self.tests.iter().flat_map(of).collect()
    }
}
