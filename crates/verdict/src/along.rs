//! Where rankings cross: the verdicts on a pair of contenders along the levels of a workload's
//! parameter.
//!
//! Nothing is decided here and nothing is said between two levels: a ranking crosses where one of
//! the two is shown to be FASTER at some levels and SLOWER at others, by the verdicts of the RUN.

use crate::view::{PairAlong, PairView, QuestionView, RankingAlong, VerdictAt};
use fsarena_model::clock::Clock;
use fsarena_model::level_line::{LevelLine, level_lines};
use fsarena_model::parameter::Parameter;
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::{Metric, Pairs, Verdict};

/// The questions of a plan along the lines of its levels.
pub(crate) fn rankings(plan: &RunPlan, questions: &[QuestionView]) -> Vec<RankingAlong> {
    let baseline = plan.verdict.as_ref().and_then(|ask| match ask.pairs {
        Pairs::All => None,
        Pairs::Baseline { contender } => Some(contender),
    });
    let lines = level_lines(&plan.workloads);
    lines.iter().flat_map(|line| along(plan, line, questions, baseline)).collect()
}

fn along(
    plan: &RunPlan,
    line: &LevelLine,
    questions: &[QuestionView],
    baseline: Option<usize>,
) -> Vec<RankingAlong> {
    let name = |at: usize| plan.workloads[at].name.as_str();
    let is_of_line =
        |one: &&QuestionView| line.levels.iter().any(|&(at, _)| name(at) == one.workload);
    let mut asked: Vec<(&str, Metric, Clock)> = Vec::new();
    for one in questions.iter().filter(is_of_line) {
        let key = (one.phase.as_str(), one.metric, one.clock);
        if !asked.contains(&key) && line.varies_in(&plan.workloads, &one.phase) {
            asked.push(key);
        }
    }
    let ranking = |(phase, metric, clock): (&str, Metric, Clock)| {
        let own: Vec<(u64, Option<&QuestionView>)> = line
            .levels
            .iter()
            .map(|&(at, value)| {
                let is_it = |one: &&QuestionView| {
                    (one.workload.as_str(), one.phase.as_str()) == (name(at), phase)
                        && (one.metric, one.clock) == (metric, clock)
                };
                (value, questions.iter().find(is_it))
            })
            .collect();
        RankingAlong {
            workload: line.workload.clone(),
            phase: phase.to_owned(),
            metric,
            clock,
            parameter: line.parameter,
            others: line.others.clone(),
            pairs: pairs(plan, line.parameter, metric, &own, baseline),
        }
    };
    asked.into_iter().map(ranking).collect()
}

fn pairs(
    plan: &RunPlan,
    parameter: Parameter,
    metric: Metric,
    own: &[(u64, Option<&QuestionView>)],
    baseline: Option<usize>,
) -> Vec<PairAlong> {
    let ordered = |pair: &PairView| match (pair.a, pair.b) {
        (a, b) if Some(a) == baseline => (b, a),
        (a, b) if Some(b) == baseline => (a, b),
        (a, b) => (a.max(b), a.min(b)),
    };
    let mut asked: Vec<(usize, usize)> = own
        .iter()
        .filter_map(|(_, question)| *question)
        .flat_map(|question| &question.pairs)
        .map(ordered)
        .collect();
    asked.sort_by_key(|&(a, b)| (b, a));
    asked.dedup();
    let pair = |(a, b): (usize, usize)| {
        let label = |at: usize| plan.contenders[at].label.clone();
        let levels: Vec<VerdictAt> =
            own.iter().map(|&(value, one)| level(parameter, value, one, (a, b))).collect();
        let (a_label, b_label) = (label(a), label(b));
        let (words, crosses) = words((&a_label, &b_label), (metric, parameter), &levels);
        PairAlong { a, b, a_label, b_label, levels, crosses, words }
    };
    asked.into_iter().map(pair).collect()
}

fn level(
    parameter: Parameter,
    value: u64,
    question: Option<&QuestionView>,
    (a, b): (usize, usize),
) -> VerdictAt {
    let found = question.and_then(|question| {
        let turned = |pair: &PairView| match (pair.a, pair.b) == (a, b) {
            true => pair.clone(),
            false => pair.turned(),
        };
        let is_it = |pair: &&PairView| [(a, b), (b, a)].contains(&(pair.a, pair.b));
        question.pairs.iter().find(is_it).map(turned)
    });
    let is_machine = found.as_ref().is_some_and(|pair| pair.machine_effect.is_some());
    let (low, high) = found.as_ref().and_then(PairView::interval).unzip();
    VerdictAt {
        value,
        text: parameter.text(value),
        verdict: found.as_ref().map(|pair| match is_machine {
            true => Verdict::Undecided,
            false => pair.verdict,
        }),
        ratio: found.and_then(|pair| pair.ratio),
        low,
        high,
    }
}

/// Levels at which the verdict is the same, but for those between them that have no difference.
#[derive(Clone, Copy)]
struct Stretch {
    verdict: Verdict,
    first: usize,
    last: usize,
}

fn stretches(levels: &[VerdictAt]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for (at, level) in levels.iter().enumerate() {
        let Some(verdict @ (Verdict::Faster | Verdict::Slower)) = level.verdict else { continue };
        match all.last_mut().filter(|last| last.verdict == verdict) {
            Some(last) => last.last = at,
            None => all.push(Stretch { verdict, first: at, last: at }),
        }
    }
    all
}

/// The sentence, and whether the ranking crosses.
fn words(
    (a, b): (&str, &str),
    (metric, parameter): (Metric, Parameter),
    levels: &[VerdictAt],
) -> (String, bool) {
    let stretches = stretches(levels);
    let key = parameter.key();
    let Some((first, later)) = stretches.split_first() else {
        return (no_difference((a, b), key, levels), false);
    };
    let is_less = |stretch: &Stretch| stretch.verdict == Verdict::Faster;
    let words = &metric.row().words;
    let ((less, more), (other_less, other_more)) = (words.first, words.later);
    let opening = if is_less(first) { less } else { other_more };
    let mut text = format!("{a} is {opening} than {b} {}", place(first, key, levels));
    let mut before = first;
    for stretch in later {
        let word = if is_less(stretch) { other_less } else { more };
        text.push_str(&format!(", {word} {}", place(stretch, "", levels)));
        let between = without_difference(levels, before.last + 1..stretch.first);
        if !between.is_empty() {
            text.push_str(&format!("; between them {between}"));
        }
        before = stretch;
    }
    let outside = [0..first.first, before.last + 1..levels.len()];
    let outside = outside.map(|range| without_difference(levels, range));
    let outside: Vec<String> = outside.into_iter().filter(|one| !one.is_empty()).collect();
    if !outside.is_empty() {
        text.push_str(&format!("; {}", outside.join(", ")));
    }
    (text, !later.is_empty())
}

/// `from bs=4 KiB to 64 KiB`, `at every bs`, or the levels, with those within that show none.
fn place(stretch: &Stretch, key: &str, levels: &[VerdictAt]) -> String {
    let text = |at: usize| match key {
        "" => levels[at].text.clone(),
        key => format!("{key}={}", levels[at].text),
    };
    let (first, last) = (stretch.first, stretch.last);
    let end = levels.len() - 1;
    let place = match (first, last) {
        (0, last) if last == end => format!("at every {key}"),
        (first, last) if first == last => format!("at {}", text(first)),
        (first, last) => format!("from {} to {}", text(first), levels[last].text),
    };
    let within = without_difference(levels, first..last + 1);
    if within.is_empty() {
        return place;
    }
    // Only where it is shown, and what is not is said too.
    let shown = (first..=last).filter(|&at| levels[at].verdict == Some(stretch.verdict));
    let texts: Vec<&str> = shown.skip(1).map(|at| levels[at].text.as_str()).collect();
    format!("at {}, {} ({within})", text(first), texts.join(", "))
}

/// `not decided at 128 KiB, the same at 256 KiB` of the levels of a range without a difference.
fn without_difference(levels: &[VerdictAt], range: std::ops::Range<usize>) -> String {
    let of = |word: &str, is_it: fn(Option<Verdict>) -> bool| {
        let texts = levels[range.clone()].iter().filter(|level| is_it(level.verdict));
        let texts: Vec<&str> = texts.map(|level| level.text.as_str()).collect();
        (!texts.is_empty()).then(|| format!("{word} at {}", texts.join(", ")))
    };
    let parts = [
        of("not decided", |verdict| verdict == Some(Verdict::Undecided)),
        of("the same", |verdict| verdict == Some(Verdict::Same)),
        of("not compared", |verdict| verdict.is_none()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn no_difference((a, b): (&str, &str), key: &str, levels: &[VerdictAt]) -> String {
    let all = |wanted: Verdict| levels.iter().all(|level| level.verdict == Some(wanted));
    if all(Verdict::Same) {
        return format!("{a} and {b} are the same within the margin at every {key}");
    }
    if all(Verdict::Undecided) {
        return format!("whether {a} and {b} differ is not decided at any {key}");
    }
    let at = without_difference(levels, 0..levels.len());
    format!("no difference of {a} and {b} is shown at any {key}: {at}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentence of verdicts, a letter a level: F, S, = and ?.
    fn sentence(verdicts: &str) -> (String, bool) {
        let level = |(at, verdict): (usize, char)| VerdictAt {
            value: 4096 << (2 * at),
            text: Parameter::Bs.text(4096 << (2 * at)),
            verdict: match verdict {
                'F' => Some(Verdict::Faster),
                'S' => Some(Verdict::Slower),
                '=' => Some(Verdict::Same),
                '?' => Some(Verdict::Undecided),
                _ => None,
            },
            ratio: None,
            low: None,
            high: None,
        };
        let levels: Vec<VerdictAt> = verdicts.chars().enumerate().map(level).collect();
        words(("xfs", "ext4"), (Metric::Time, Parameter::Bs), &levels)
    }

    #[test]
    fn a_ranking_crosses_between_levels_that_are_decided() {
        let crosses = |verdicts: &str| {
            let (words, crosses) = sentence(verdicts);
            assert!(crosses, "{words}");
            words
        };
        assert_eq!(
            crosses("FFF?S"),
            "xfs is faster than ext4 from bs=4 KiB to 64 KiB, slower at 1 MiB; between them not \
             decided at 256 KiB"
        );
        assert_eq!(
            crosses("FFSS"),
            "xfs is faster than ext4 from bs=4 KiB to 16 KiB, slower from 64 KiB to 256 KiB"
        );
        assert_eq!(
            crosses("S?S=FF?"),
            "xfs is slower than ext4 at bs=4 KiB, 64 KiB (not decided at 16 KiB), faster from 1 MiB \
             to 4 MiB; between them the same at 256 KiB; not decided at 16 MiB"
        );
        assert_eq!(
            crosses("FSF"),
            "xfs is faster than ext4 at bs=4 KiB, slower at 16 KiB, faster at 64 KiB"
        );
    }

    #[test]
    fn a_ranking_that_does_not_cross_is_not_said_to() {
        let plain = |verdicts: &str| {
            let (words, crosses) = sentence(verdicts);
            assert!(!crosses, "{words}");
            words
        };
        assert_eq!(plain("FFF"), "xfs is faster than ext4 at every bs");
        assert_eq!(
            plain("F?F"),
            "xfs is faster than ext4 at bs=4 KiB, 64 KiB (not decided at 16 KiB)"
        );
        assert_eq!(
            plain("FF?"),
            "xfs is faster than ext4 from bs=4 KiB to 16 KiB; not decided at 64 KiB"
        );
        assert_eq!(plain("=="), "xfs and ext4 are the same within the margin at every bs");
        assert_eq!(plain("??"), "whether xfs and ext4 differ is not decided at any bs");
        assert_eq!(
            plain("=?x"),
            "no difference of xfs and ext4 is shown at any bs: not decided at 16 KiB, the same at \
             4 KiB, not compared at 64 KiB"
        );
    }
}
