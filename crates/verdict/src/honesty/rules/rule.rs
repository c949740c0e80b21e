//! What a rule is, and what it says in the end.

use crate::honesty::slots::Slots;
use fsarena_model::verdict::Verdict;

/// What a rule says in the end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RuleRun {
    /// What is said of B against A.
    pub verdict: Verdict,
    /// ln(B ÷ A) as the rule estimates it.
    pub log_ratio: f64,
    /// Interval of ln(B ÷ A), where the rule has one: lower and upper end.
    pub interval: Option<(f64, f64)>,
}

impl RuleRun {
    /// A verdict without an interval: different or not, by the sign of the estimate.
    pub(super) fn plain(differs: bool, log_ratio: f64) -> Self {
        let verdict = match differs {
            true if log_ratio > 0.0 => Verdict::Slower,
            true if log_ratio < 0.0 => Verdict::Faster,
            _ => Verdict::Undecided,
        };
        Self { verdict, log_ratio, interval: None }
    }
}

pub struct Rule {
    /// Its name in documents.
    pub key: &'static str,
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
    pub(super) play: RunFn,
}

pub(super) type RunFn = Box<dyn Fn(&mut Slots<'_>) -> RuleRun + Send + Sync>;

impl Rule {
    /// Takes slots until it stops.
    #[must_use]
    pub fn play(&self, slots: &mut Slots<'_>) -> RuleRun {
        (self.play)(slots)
    }
}
