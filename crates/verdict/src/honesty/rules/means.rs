//! Means and bars: the habits of articles.

use super::rule::{Rule, RuleRun};
use crate::honesty::{Label, Slots};

/// A difference of less than this is not mentioned.
const MENTIONED: f64 = 1.02;

/// Three runs of A, then three of B; a difference is a ratio of the means beyond 1.02.
pub(super) fn mean_of_3() -> Rule {
    Rule {
        key: "mean-3",
        name: "mean of 3, > 2 %",
        legend:
            "three runs of A, then three of B; a difference where the larger mean is more than \
                 2 % above the other"
                .to_owned(),
        most: 6,
        says_same: false,
        is_ours: false,
        is_default: false,
        play: Box::new(|slots| {
            let a = Summary::from_values(&slots.take_all(Label::A, 3));
            beyond(MENTIONED, a.mean, Summary::from_values(&slots.take_all(Label::B, 3)).mean)
        }),
    }
}

/// A difference is where mean ± standard error of the one does not touch that of the other.
pub(super) fn bars(key: &'static str, name: &'static str, runs: usize) -> Rule {
    let number = if runs == 3 { "three".to_owned() } else { runs.to_string() };
    Rule {
        key,
        name,
        legend: format!(
            "{number} runs of A, then {number} of B; a difference where the bars of mean ± \
             standard error do not touch"
        ),
        most: 2 * runs,
        says_same: false,
        is_ours: false,
        is_default: false,
        play: Box::new(move |slots: &mut Slots<'_>| {
            let a = Summary::from_values(&slots.take_all(Label::A, runs));
            let b = Summary::from_values(&slots.take_all(Label::B, runs));
            let bars = (a.sd + b.sd) / (runs as f64).sqrt();
            RuleRun::plain((b.mean - a.mean).abs() > bars, (b.mean / a.mean).ln())
        }),
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
