//! The competitors: a schedule, a stop rule and a verdict each.
//!
//! The rules named after tools are made here of what each tool prints, on one value a run: most
//! publish no verdict of this kind, and those that do are usually run on other values (iterations
//! within one process). Their sources and manuals were read; nothing was taken from them.
//!
//! Here: the list of them, and the rule that fsarena ships, its own code on one pair.

mod bootstrap;
mod means;
mod rule;
mod tools;

pub use rule::{Rule, RuleRun};

use crate::Slots;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_stats::paired::floor_sd;
use fsarena_stats::{Decision, Family, LookInput, LookResult, Looks, PairSample};

/// All of them, ours first. SAME means within 1 ÷ (1 + margin) and 1 + margin, for the rules that
/// can say it.
#[must_use]
pub fn all(margin: f64) -> Vec<Rule> {
    vec![
        sequential(margin),
        fixed(margin),
        means::mean_of_3(),
        means::bars("bars-3", "mean of 3, SE bars", 3),
        means::bars("bars-10", "mean of 10, SE bars", 10),
        tools::phoronix_like(),
        tools::pytest_like(),
        tools::hyperfine_like(),
        tools::benchstat_like(false),
        tools::benchstat_like(true),
        bootstrap::criterion_like(),
        means::peeking(margin),
    ]
}

/// Blocks at most where nothing else is said.
const CAP: u32 = 32;
/// Blocks of the variant with one look.
const FIXED: u32 = 10;
/// Misses that one look alone may have.
const ALPHA: f64 = 0.05;

/// The two variants of our rule.
#[must_use]
pub fn ours(margin: f64) -> Vec<Rule> {
    vec![sequential(margin), fixed(margin)]
}

/// Looks after 4, 6, 8, 12, 16, 24 and 32 blocks.
fn sequential(margin: f64) -> Rule {
    let rule = Rule::new(
        "fsarena",
        "fsarena",
        format!(
            "pairs in random order; looks after 4, 6, 8, 12, 16, 24 and 32 pairs at levels that \
             add up to 5 %; t of the log ratios, from 12 pairs Hodges-Lehmann; SAME within {}; at \
             most {CAP} pairs",
            percent(margin)
        ),
        2 * CAP as usize,
        move |slots| {
            let looks = Looks::with_cap(CAP).expect("32 blocks is one of the caps");
            until(slots, CAP, margin, |blocks| looks.is_look(blocks).then(|| looks.alpha(blocks)))
        },
    );
    Rule { says_same: true, is_ours: true, is_default: true, ..rule }
}

/// One look after ten blocks, as `--runs 10`.
fn fixed(margin: f64) -> Rule {
    let rule = Rule::new(
        "fsarena-fixed-10",
        "fsarena --runs 10",
        format!(
            "{FIXED} pairs in random order, one look: 95 % t interval of the log ratios; SAME \
             within {}",
            percent(margin)
        ),
        2 * FIXED as usize,
        move |slots| until(slots, FIXED, margin, |blocks| (blocks == FIXED).then_some(ALPHA)),
    );
    Rule { says_same: true, is_ours: true, ..rule }
}

fn percent(margin: f64) -> String {
    format!("{:.1} %", margin * 100.0).replace(".0 %", " %")
}

/// Pairs of blocks until one decides or `cap` is reached; `alpha_at` says after how many there is a
/// look, and at which level.
fn until(
    slots: &mut Slots<'_>,
    cap: u32,
    margin: f64,
    alpha_at: impl Fn(u32) -> Option<f64>,
) -> RuleRun {
    let mut family = Family { asked: 1, differences: 0, sames: 0 };
    let (mut of_a, mut of_b, mut logs) = (Vec::new(), Vec::new(), Vec::new());
    let mut play = RuleRun::plain(false, 0.0);
    for blocks in 1..=cap {
        let (a, b) = slots.take_pair();
        of_a.push(a.ln());
        of_b.push(b.ln());
        logs.push((b / a).ln());
        let Some(alpha) = alpha_at(blocks) else { continue };
        let floor_sd = floor_sd(&of_a, &of_b, |value| Metric::Time.step(value));
        let sample = PairSample { logs: &logs, floor_sd, pooled: None };
        let look = [LookInput::new(sample, &of_b, &of_a)];
        let found = family.analyse(&look, alpha, margin.ln_1p());
        if let Some(found) = found.first() {
            play = rule_run(found, sample.point().unwrap_or(0.0));
        }
        if play.verdict != Verdict::Undecided {
            break;
        }
    }
    play
}

fn rule_run(found: &LookResult, log_ratio: f64) -> RuleRun {
    let verdict = match found.decision {
        Some(Decision::Less) => Verdict::Faster,
        Some(Decision::More) => Verdict::Slower,
        Some(Decision::Same) => Verdict::Same,
        None => Verdict::Undecided,
    };
    let interval = found.interval.as_ref().map(|interval| (interval.low, interval.high));
    RuleRun { verdict, log_ratio, interval }
}
