//! The competitors: a schedule, a stop rule and a verdict each.
//!
//! The rules named after tools are made here of what each tool prints, on one value a run: most
//! publish no verdict of this kind, and those that do are usually run on other values (iterations
//! within one process). Their sources and manuals were read; nothing was taken from them.

mod bootstrap;
mod means;
mod ours;
mod peeking;
mod tools;

use crate::Slots;
use fsarena_model::verdict::Verdict;

pub use ours::ours;

/// What a rule says in the end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Play {
    /// What is said of B against A.
    pub verdict: Verdict,
    /// ln(B ÷ A) as the rule estimates it.
    pub log_ratio: f64,
    /// Interval of ln(B ÷ A), where the rule has one: lower and upper end.
    pub interval: Option<(f64, f64)>,
}

impl Play {
    /// A verdict without an interval: different or not, by the sign of the estimate.
    fn plain(differs: bool, log_ratio: f64) -> Self {
        let verdict = match differs {
            true if log_ratio > 0.0 => Verdict::Slower,
            true if log_ratio < 0.0 => Verdict::Faster,
            _ => Verdict::Undecided,
        };
        Self { verdict, log_ratio, interval: None }
    }
}

/// One competitor.
pub struct Rule {
    /// Its name in documents.
    pub key: &'static str,
    /// Its name in tables.
    pub name: &'static str,
    /// What it does, in one line.
    pub legend: String,
    /// Most slots that it takes.
    pub most: usize,
    /// Whether it can say SAME.
    pub says_same: bool,
    /// Whether it is what fsarena ships.
    pub is_ours: bool,
    /// Whether it is what fsarena does where nothing else is said.
    pub is_default: bool,
    play: PlayFn,
}

type PlayFn = Box<dyn Fn(&mut Slots<'_>) -> Play + Send + Sync>;

impl Rule {
    /// Takes slots until it stops.
    #[must_use]
    pub fn play(&self, slots: &mut Slots<'_>) -> Play {
        (self.play)(slots)
    }
}

/// All of them, ours first. SAME means within 1 ÷ (1 + margin) and 1 + margin, for the rules that
/// can say it.
#[must_use]
pub fn all(margin: f64) -> Vec<Rule> {
    vec![
        ours::sequential(margin),
        ours::fixed(margin),
        means::mean_of_3(),
        means::bars("bars-3", "mean of 3, SE bars", 3),
        means::bars("bars-10", "mean of 10, SE bars", 10),
        tools::phoronix_like(),
        tools::pytest_like(),
        tools::hyperfine_like(),
        tools::benchstat_like(false),
        tools::benchstat_like(true),
        bootstrap::criterion_like(),
        peeking::peeking(margin),
    ]
}
