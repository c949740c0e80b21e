//! Looking after every run until it is significant.

use super::rule::{Rule, RuleRun};
use fsarena_model::verdict::Verdict;
use fsarena_stats::{Interval, mean_t};

/// Pairs at the first look.
const FIRST: usize = 3;
/// Most pairs.
const CAP: usize = 32;
/// Misses that each look may have.
const ALPHA: f64 = 0.05;

/// After each pair from the third on, a 95 % t interval, as if it were the only one.
pub(super) fn peeking(margin: f64) -> Rule {
    Rule {
        key: "peeking",
        name: "peeking, 95 % t",
        legend: format!(
            "pairs in random order; after each pair from the third on a 95 % t interval of the log \
             ratios, as if it were the only one; SAME by the same margin; at most {CAP} pairs"
        ),
        most: 2 * CAP,
        says_same: true,
        is_ours: false,
        is_default: false,
        play: Box::new(move |slots| {
            let (mut logs, mut play) = (Vec::new(), RuleRun::plain(false, 0.0));
            while logs.len() < CAP && play.verdict == Verdict::Undecided {
                let (a, b) = slots.take_pair();
                logs.push((b / a).ln());
                if logs.len() >= FIRST {
                    play = test(&logs, margin.ln_1p());
                }
            }
            play
        }),
    }
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
