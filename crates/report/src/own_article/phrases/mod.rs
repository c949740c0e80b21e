//! Everything that an article says in words, once a language.
//!
//! Figures come written as English has them (`1,234.5 ms`); a language turns them into its own.

pub(super) mod english;
pub(super) mod russian;

use crate::row_state::RowState;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_reference::Finding;

/// Titles of sections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Title {
    Method,
    Conditions,
    /// What to mind with the figures.
    Mind,
    Results,
    /// The author's own table, from this RUN.
    AsThen,
    ThenAndNow,
    LeftOut,
}

/// One contender against another, which has the lesser median.
pub(super) struct Against {
    pub(super) label: String,
    /// The other one.
    pub(super) than: String,
    /// What is said of it.
    pub(super) verdict: Verdict,
    /// Whether the machine is why they differ.
    pub(super) by_machine: bool,
    /// Its value ÷ that of the other, and its interval, as in `1.42` and `[1.38, 1.47]`.
    pub(super) ratio: Option<(String, Option<String>)>,
}

impl Against {
    /// Whether nothing is decided between the two.
    fn is_open(&self) -> bool {
        self.verdict == Verdict::Undecided && !self.by_machine
    }
}

/// The pairs of which something is said, and the names of those that are open, joined by `and`.
fn decided_and_open<'a>(rest: &'a [Against], and: &str) -> (Vec<&'a Against>, Vec<String>) {
    let (open, decided): (Vec<&Against>, Vec<&Against>) =
        rest.iter().partition(|one| one.is_open());
    let pair = |one: &Against| format!("{} {and} {}", one.label, one.than);
    (decided, open.into_iter().map(pair).collect())
}

/// A test of an article that is repeated here.
pub(super) struct ThenTest {
    pub(super) title: String,
    pub(super) claims: Vec<ThenClaim>,
    /// Of what nothing is claimed, and why.
    pub(super) not_compared: Vec<String>,
    /// The work here, where it is not that of the article.
    pub(super) other_work: Option<String>,
}

/// Two contenders, then and now.
pub(super) struct ThenClaim {
    /// Who was faster then.
    pub(super) fast: String,
    pub(super) slow: String,
    /// On what, where it was several machines, and how many times as fast.
    pub(super) then: Vec<(String, String)>,
    pub(super) now: Now,
}

/// What is decided of two now; with how many times as fast, and the interval.
pub(super) enum Now {
    Likewise((String, Option<String>)),
    Reversed((String, Option<String>)),
    Same,
}

/// The words of a language.
pub(super) trait Phrases: std::fmt::Debug + Sync {
    /// Its tag, as pages name it.
    fn tag(&self) -> &'static str;
    /// Its English name, and what else there is to know.
    fn name(&self) -> &'static str;
    /// A figure with or without its unit.
    fn figure(&self, text: &str) -> String;
    /// A text that the program writes elsewhere too: a caution, a reason, a heading, a word of a
    /// chart. What is not the program's own stays as it is, and so does what is in the language
    /// already.
    fn words(&self, text: &str) -> String;
    fn title(&self, title: Title) -> &'static str;
    /// What is compared, of a phase that `changes` something or not.
    fn metric(&self, metric: Metric, clock: Clock, changes: bool) -> String;
    /// A title of an experiment or workload, where it is one of the program's own.
    fn own_title(&self, title: &str) -> String;
    /// The machine and its devices.
    fn machine(&self, machine: &str, devices: &[String]) -> String;
    /// How many trials were done; of how many at most, where it did not go to its end.
    fn trials(&self, done: usize, at_most: Option<usize>) -> String;
    /// Nothing was asked before these trials.
    fn not_asked_before(&self, trials: &str) -> String;
    /// Another program has measured.
    fn brought_in(&self, program: &str) -> String;
    /// What is done in a block, and in which order.
    fn blocks(&self) -> &'static str;
    fn made_anew(&self) -> &'static str;
    /// Trials, and blocks that count.
    fn counted(&self, trials: &str, blocks: usize) -> String;
    fn virtual_time(&self) -> &'static str;
    /// What a figure is that it does not show.
    fn row_state(&self, state: RowState) -> &'static str;
    /// Cold caches were asked for, and those of these contenders cannot be cold.
    fn never_cold(&self, labels: &str) -> String;
    fn scaled(&self, scale: f64) -> String;
    /// By which rule it was decided, with this margin.
    fn rule(&self, margin: &str) -> String;
    /// Heading of the column with phases.
    fn phase(&self) -> &'static str;
    /// Caption of a workload's table.
    fn table(&self, workload: &str) -> String;
    /// Caption of the chart of all ratios.
    fn heat(&self, reference: &str) -> String;
    /// Caption of the chart of a phase.
    fn times(&self, workload: &str, phase: &str) -> String;
    /// Who needs least, what is said of the others against it, and of the `rest` of the pairs.
    /// `about` is a phase, with what is compared where several things are.
    fn answer(
        &self,
        about: &str,
        best: &str,
        metric: Metric,
        others: &[Against],
        rest: &[Against],
    ) -> String;
    /// Nothing was asked of the RUN.
    fn nothing_asked(&self) -> &'static str;
    /// There is one contender, or none.
    fn nothing_to_compare(&self, label: Option<&str>) -> String;
    /// Why no ratios between then and now are made.
    fn then_not_now(&self, year: u16) -> String;
    fn then_chart(&self, year: u16) -> String;
    /// A test, then and now.
    fn then(&self, year: u16, test: &ThenTest) -> String;
    /// Heading of what becomes of an article's conclusions.
    fn conclusions(&self) -> &'static str;
    /// A conclusion of an article, held against its own numbers.
    fn conclusion(&self, finding: &Finding) -> String;
    /// No test of the article has a figure here.
    fn no_rows(&self, year: u16) -> String;
    fn not_run(&self, label: &str, why: &str) -> String;
    fn failed(&self, label: &str, workload: &str, why: &str) -> String;
    fn excluded(&self, workload: &str, phase: &str, label: &str, why: &str) -> String;
    /// Before the number of a figure.
    fn figure_word(&self) -> &'static str;
}
