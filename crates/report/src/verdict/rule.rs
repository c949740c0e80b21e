//! By which rule it was decided (looks, cap, margin, budget, blocks, how it ended), and how
//! verdicts are read: only what occurs, once.

use super::question::{is_of_fewer, list, shows_letters};
use super::sentences::is_early;
use crate::section::Block;
use crate::text::Detail;
use crate::verdict::text::{blocks, level, listed, margin};
use fsarena_model::units::Nanos;
use fsarena_model::verdict::{Rule, StopWhy, Verdict};
use fsarena_verdict::watchers::{Finding, FindingKind};
use fsarena_verdict::{IntervalBy, PairView, RerunBlock, Verdicts};

/// Where [`Verdicts::agrees_with_stored_looks`] is false.
pub(crate) const DISAGREES: &str =
    "what the looks decided when they were taken is not what the stored trials say now.";

/// What verdicts hold for, and how other days join; absent where no trial was done.
pub(crate) fn scope_sentence(verdicts: &Verdicts) -> Option<String> {
    let scope = verdicts.scope.as_ref()?;
    if scope.virtual_on.is_some() {
        return Some(format!("Holds {}.", scope.words()?));
    }
    let scope = scope.words()?;
    Some(format!("Holds {scope}; `fsarena compare` joins RUNs of other days."))
}

/// By which rule it was decided, and what became of the blocks.
pub(crate) fn rule_and_course(verdicts: &Verdicts) -> String {
    format!("{}. {}", rule(verdicts), course(verdicts))
}

/// The rule, and what became of the blocks.
pub(super) fn section_blocks(verdicts: &Verdicts) -> Vec<Block> {
    let mut blocks = vec![Block::Text(format!("Rule: {}", rule_and_course(verdicts)))];
    if verdicts.agrees_with_stored_looks == Some(false) {
        blocks.push(Block::Warning(DISAGREES.to_owned()));
    }
    let again = |one: &RerunBlock| format!("block {}: {}", one.block, one.why);
    let counts = |one: &RerunBlock| format!("{}; counted, no spare block left", again(one));
    let rerun = verdicts.rerun.iter().map(again).collect();
    let not_rerun = verdicts.not_rerun.iter().map(counts).collect();
    blocks.push(list("Blocks that were run again", rerun));
    blocks.push(list("Blocks that should have been run again", not_rerun));
    blocks
}

/// What was fixed before block 1.
fn rule(verdicts: &Verdicts) -> String {
    let looks = match verdicts.rule {
        Rule::Looks { .. } => {
            let looks: Vec<String> = verdicts.rule.looks().iter().map(u32::to_string).collect();
            format!("looks after {} blocks; contenders stop early once decided", listed(&looks))
        }
        Rule::Fixed { blocks: n } => format!("one look, after {}", blocks(u64::from(n))),
        Rule::Fit { least, most } => {
            let fixed = match (verdicts.blocks_counted, verdicts.budget_ns) {
                (_, None) => format!(": {}, as there is none", blocks(u64::from(most))),
                (0, _) => String::new(),
                _ => format!(": {}", blocks(u64::from(verdicts.most_blocks))),
            };
            format!(
                "one look, after as many blocks as fit into the budget, {least} to {most}, by \
                 the time that blocks took{fixed}"
            )
        }
    };
    let budget = match verdicts.budget_ns {
        Some(budget_ns) => format!("budget {}", Nanos(budget_ns)),
        None => "no budget".to_owned(),
    };
    let method = if verdicts.method == verdicts.computed_by {
        verdicts.method.to_string()
    } else {
        format!(
            "{}; the RUN was planned by method {}, and its verdicts are computed again",
            verdicts.computed_by, verdicts.method
        )
    };
    format!("{looks}; margin {}; {budget}; method {method}", margin(verdicts.margin))
}

/// What became of it.
fn course(verdicts: &Verdicts) -> String {
    let rerun = match verdicts.rerun.len() {
        0 => String::new(),
        n => format!(", {n} run again for a reason that no score is seen in"),
    };
    let (done, counted) = (verdicts.blocks_done, verdicts.blocks_counted);
    let ended = match verdicts.stop.map(|stop| stop.why) {
        None => "not at its end: not all blocks were carried out".to_owned(),
        Some(StopWhy::Decided) if is_open(verdicts) => {
            "ended because no contender was left that could still be decided".to_owned()
        }
        Some(StopWhy::Decided) => "ended because all that was asked is decided".to_owned(),
        Some(StopWhy::Cap) => "ended with the last block of the plan".to_owned(),
        Some(StopWhy::Budget) => {
            "ended because the next block would not have ended within the budget".to_owned()
        }
    };
    let last = last_look(verdicts);
    let last = last.map(|n| format!(", last analysis after {}", blocks(u64::from(n))));
    let last = last.unwrap_or_default();
    let stored = match verdicts.agrees_with_stored_looks {
        Some(true) => " Recomputed decisions match the stored ones.",
        Some(false) | None => "",
    };
    format!("{} done, {counted} counted{rerun}; {ended}{last}.{stored}", blocks(u64::from(done)))
}

/// Whether something that was asked is not decided: of contenders that gave no figures.
fn is_open(verdicts: &Verdicts) -> bool {
    let mut pairs = verdicts.questions.iter().flat_map(|question| &question.pairs);
    pairs.any(|pair| pair.verdict == Verdict::Undecided)
}

/// The last look where the rule does not name it: it was taken as the budget ended. All questions
/// are looked at together.
fn last_look(verdicts: &Verdicts) -> Option<u32> {
    let looks = &verdicts.questions.first()?.looks;
    let mut due = verdicts.rule.looks();
    if let (Rule::Fit { .. }, Some(last)) = (verdicts.rule, due.last_mut()) {
        *last = verdicts.most_blocks;
    }
    let due = due.into_iter().filter(|&look| look <= verdicts.blocks_counted);
    let last = looks.last().copied();
    last.filter(|_| !due.eq(looks.iter().copied()))
}

/// Up to this many blocks no interval is free of an assumption about the noise.
const NEAR_NORMAL_UP_TO: usize = 5;

/// What holds for all looks and pairs of a question together.
const ASKED: &str = "95 %";

/// How verdicts are read, as one paragraph: only what occurs, once.
pub(crate) fn legend(verdicts: &Verdicts, detail: Detail) -> String {
    let mut parts = vec![words(verdicts), ratios(verdicts)];
    parts.extend(intervals(verdicts));
    parts.extend(same_intervals(verdicts));
    parts.extend(attained(verdicts));
    if detail == Detail::Brief {
        parts.extend(multipliers_line(verdicts));
    }
    parts.extend(plain(verdicts));
    parts.extend(groups(verdicts));
    parts.extend(cautions(verdicts));
    parts.join(" ")
}

fn pairs(verdicts: &Verdicts) -> impl Iterator<Item = &PairView> {
    verdicts.questions.iter().flat_map(|question| &question.pairs)
}

/// The four words.
fn words(verdicts: &Verdicts) -> String {
    let times_only = verdicts.questions.iter().all(|question| question.metric.is_length());
    let (faster, slower) = if times_only {
        ("takes less time", "takes more time")
    } else {
        ("needs less of what is compared", "needs more of it")
    };
    let within = margin(verdicts.margin);
    format!(
        "FASTER: {faster}; SLOWER: {slower}; SAME: shown to be within {within}; UNDECIDED: none of \
         these is shown."
    )
}

/// What the columns of rankings are.
fn ratios(verdicts: &Verdicts) -> String {
    let reference = verdicts.reference.as_deref().unwrap_or("the best");
    let how = |by| pairs(verdicts).any(|pair| pair.interval_by == by);
    let mut by = Vec::new();
    if how(IntervalBy::StudentT) || how(IntervalBy::PooledT) {
        by.push("Student's t");
    }
    if how(IntervalBy::PooledT) {
        by.push("with a spread that leans on all contenders where there are four or more");
    }
    if how(IntervalBy::SignedRanks) {
        by.push("from 12 blocks exact signed ranks");
    }
    let by = format!(" (Hodges-Lehmann; intervals: {})", by.join("; "));
    let by = if pairs(verdicts).next().is_none() { String::new() } else { by };
    let fewer = if verdicts.questions.iter().flat_map(|one| &one.rows).any(is_of_fewer) {
        "; of n: blocks behind ratio and interval, fewer than n where the look that decided the \
         pair was before the last or a block lacks one of the two"
    } else {
        ""
    };
    format!(
        "Least median first. ratio: the value of a contender ÷ that of {reference}, of blocks that have \
         both{by}, in pairs that of the first ÷ that of the second; cv: standard deviation of the \
         logarithms; n: blocks that count{fewer}."
    )
}

/// At which level the intervals in brackets are, and what holds for the verdicts together.
fn intervals(verdicts: &Verdicts) -> Option<String> {
    levels(pairs(verdicts).filter_map(|pair| pair.level))?;
    let others = || pairs(verdicts).filter(|pair| pair.verdict != Verdict::Same);
    let at = levels(others().filter_map(|pair| pair.level));
    if at.as_deref() == Some(ASKED) {
        return Some(format!(
            "Brackets: intervals at {ASKED}; one look at one pair needs no more."
        ));
    }
    let together = format!(
        "The verdicts of a question hold together at {ASKED}, differences and SAME each (all \
         looks, all pairs)"
    );
    let Some(at) = at else { return Some(format!("{together}.")) };
    Some(format!("{together}; each interval in brackets is at its own level, {at}."))
}

/// What stands in the brackets of SAME.
fn same_intervals(verdicts: &Verdicts) -> Option<String> {
    let same = pairs(verdicts).filter(|pair| pair.verdict == Verdict::Same);
    let at = levels(same.filter_map(|pair| pair.same_level))?;
    Some(format!(
        "SAME has an interval of its own, at {at}, all of it within the margin: it is narrower, \
         as only one of its ends can be wrong."
    ))
}

/// Signed ranks do not have every level.
fn attained(verdicts: &Verdicts) -> Option<String> {
    let is_exact =
        |pair: &PairView| pair.level.is_some() && pair.interval_by == IntervalBy::SignedRanks;
    pairs(verdicts)
        .any(is_exact)
        .then(|| "With signed ranks the level given is the one attained.".to_owned())
}

/// `95 %`, or the least and the highest of several.
fn levels(of: impl Iterator<Item = f64>) -> Option<String> {
    let all: Vec<f64> = of.collect();
    let least = level(all.iter().copied().min_by(f64::total_cmp)?);
    let most = level(all.iter().copied().max_by(f64::total_cmp)?);
    Some(if least == most { least } else { format!("{least} to {most}") })
}

/// The line of multipliers, where it has no title.
fn multipliers_line(verdicts: &Verdicts) -> Option<String> {
    has_multipliers(verdicts).then(|| {
        "Due to: slowest ÷ fastest level of a factor over all others; intervals for all its \
         levels together."
            .to_owned()
    })
}

fn has_multipliers(verdicts: &Verdicts) -> bool {
    let mut factors = verdicts.questions.iter().filter_map(|question| question.factors.as_ref());
    factors.any(|view| !view.factors.is_empty())
}

/// The intervals that no verdict rests on.
fn plain(verdicts: &Verdicts) -> Option<String> {
    let is_fitted = |finding: &Finding| {
        matches!(finding.kind, FindingKind::Drift | FindingKind::Position | FindingKind::CarryOver)
    };
    let mut findings = verdicts.questions.iter().flat_map(|question| &question.watch.findings);
    let mut of = Vec::new();
    if verdicts.suite.is_some() {
        of.push("over workloads".to_owned());
    }
    if has_multipliers(verdicts) {
        of.push("of what differences are due to".to_owned());
    }
    if findings.any(is_fitted) {
        of.push("of watchers".to_owned());
    }
    (!of.is_empty()).then(|| {
        format!(
            "Intervals {} are plain {ASKED}: corrected neither for looks nor for choosing the \
             best.",
            listed(&of)
        )
    })
}

/// Letters and tiers.
fn groups(verdicts: &Verdicts) -> Vec<String> {
    let mut parts = Vec::new();
    if verdicts.questions.iter().any(shows_letters) {
        parts.push(
            "alike: contenders that share a letter are not shown to differ (they need not be \
             equal)."
                .to_owned(),
        );
    }
    if verdicts.questions.iter().flat_map(|one| &one.rows).any(|row| row.tier.is_some()) {
        parts.push("Tiers: a tier = all pairs proved SAME within the margin.".to_owned());
    }
    parts
}

/// What limits the figures.
fn cautions(verdicts: &Verdicts) -> Vec<String> {
    let mut parts = Vec::new();
    if pairs(verdicts).any(|pair| is_early(verdicts, pair)) {
        parts.push(
            "Early stop: decided before the last look; a difference that is estimated there is a \
             little too large on average, and its interval allows for that.",
        );
    }
    let few = |pair: &PairView| pair.low.is_some() && pair.n <= NEAR_NORMAL_UP_TO;
    if pairs(verdicts).any(few) {
        parts.push(
            "Intervals of 5 blocks or fewer rest on near-normal noise: none that is free of \
             assumptions has 95 % there.",
        );
    }
    let outliers = verdicts.questions.iter().any(|one| one.rows.iter().any(|row| row.outliers > 0));
    if outliers {
        parts.push("Outliers (modified z above 3.5) are in all figures.");
    }
    parts.into_iter().map(str::to_owned).collect()
}
