//! What a rule is, what it says in the end, and the means that several rules take.

use crate::slots::Slots;
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
    pub(super) play: Box<dyn Fn(&mut Slots<'_>) -> RuleRun + Send + Sync>,
}

impl Rule {
    /// A rule of the field, which never says SAME.
    pub(super) fn new(
        key: &'static str,
        name: &'static str,
        legend: impl Into<String>,
        most: usize,
        play: impl Fn(&mut Slots<'_>) -> RuleRun + Send + Sync + 'static,
    ) -> Self {
        let (legend, play) = (legend.into(), Box::new(play));
        Self { key, name, legend, most, says_same: false, is_ours: false, is_default: false, play }
    }

    /// Takes slots until it stops.
    #[must_use]
    pub fn play(&self, slots: &mut Slots<'_>) -> RuleRun {
        (self.play)(slots)
    }
}

/// A difference where the larger of `a` and `b` is more than `ratio` times the other.
pub(super) fn beyond(ratio: f64, a: f64, b: f64) -> RuleRun {
    RuleRun::plain(a.max(b) > ratio * a.min(b), (b / a).ln())
}

/// Mean and sample standard deviation.
#[derive(Clone, Copy)]
pub(super) struct Summary {
    pub mean: f64,
    pub sd: f64,
}

impl Summary {
    /// Of at least two values.
    pub fn from_values(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, sd: (squares / (n - 1.0)).sqrt() }
    }

    /// Standard deviation ÷ mean.
    pub fn relative_sd(&self) -> f64 {
        self.sd / self.mean
    }
}
