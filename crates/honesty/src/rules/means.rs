//! The habits of articles: means, bars, and looking after every run until it is significant.

use super::rule::{Rule, RuleRun, Summary, beyond};
use crate::{Label, Slots};
use fsarena_model::verdict::Verdict;
use fsarena_stats::{Interval, mean_t};

/// A difference of less than this is not mentioned.
const MENTIONED: f64 = 1.02;

/// Three runs of A, then three of B; a difference is a ratio of the means beyond 1.02.
pub(super) fn mean_of_3() -> Rule {
    Rule::new(
        "mean-3",
        "mean of 3, > 2 %",
        "three runs of A, then three of B; a difference where the larger mean is more than \
         2 % above the other",
        6,
        |slots| {
            let a = Summary::from_values(&slots.take_all(Label::A, 3));
            beyond(MENTIONED, a.mean, Summary::from_values(&slots.take_all(Label::B, 3)).mean)
        },
    )
}

/// A difference is where mean ± standard error of the one does not touch that of the other.
pub(super) fn bars(key: &'static str, name: &'static str, runs: usize) -> Rule {
    let number = if runs == 3 { "three".to_owned() } else { runs.to_string() };
    Rule::new(
        key,
        name,
        format!(
            "{number} runs of A, then {number} of B; a difference where the bars of mean ± \
             standard error do not touch"
        ),
        2 * runs,
        move |slots: &mut Slots<'_>| {
            let a = Summary::from_values(&slots.take_all(Label::A, runs));
            let b = Summary::from_values(&slots.take_all(Label::B, runs));
            let bars = (a.sd + b.sd) / (runs as f64).sqrt();
            RuleRun::plain((b.mean - a.mean).abs() > bars, (b.mean / a.mean).ln())
        },
    )
}

/// Pairs at the first look.
const FIRST: usize = 3;
/// Most pairs.
const CAP: usize = 32;
/// Misses that each look may have.
const ALPHA: f64 = 0.05;

/// After each pair from the third on, a 95 % t interval, as if it were the only one.
pub(super) fn peeking(margin: f64) -> Rule {
    let rule = Rule::new(
        "peeking",
        "peeking, 95 % t",
        format!(
            "pairs in random order; after each pair from the third on a 95 % t interval of the log \
             ratios, as if it were the only one; SAME by the same margin; at most {CAP} pairs"
        ),
        2 * CAP,
        move |slots| {
            let (mut logs, mut play) = (Vec::new(), RuleRun::plain(false, 0.0));
            while logs.len() < CAP && play.verdict == Verdict::Undecided {
                let (a, b) = slots.take_pair();
                logs.push((b / a).ln());
                if logs.len() >= FIRST {
                    play = test(&logs, margin.ln_1p());
                }
            }
            play
        },
    );
    Rule { says_same: true, ..rule }
}

fn test(logs: &[f64], margin_log: f64) -> RuleRun {
    let at = |alpha: f64| mean_t(logs, alpha).ok();
    let Some(estimate) = at(ALPHA) else { return RuleRun::plain(false, 0.0) };
    let interval = estimate.bounds.attained();
    let same = at(2.0 * ALPHA).and_then(|narrow| narrow.bounds.attained());
    let within = |i: &Interval| i.low > -margin_log && i.high < margin_log;
    let beyond = |i: &Interval| i.low > 0.0 || i.high < 0.0;
    let verdict = if same.as_ref().is_some_and(within) {
        Verdict::Same
    } else {
        let differs = interval.as_ref().is_some_and(beyond);
        RuleRun::plain(differs, estimate.point).verdict
    };
    let ends = interval.map(|i| (i.low, i.high));
    RuleRun { verdict, log_ratio: estimate.point, interval: ends }
}
