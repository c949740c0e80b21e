//! Verdicts as text and JSON, over views made by hand.

mod brief;
mod recomputed;
mod several;
mod two;
mod whole;

use fsarena_model::run::Clock;
use fsarena_model::verdict::{METHOD_VERSION, Metric, Rule, Stop, StopWhy, Verdict};
use fsarena_report::{Detail, Style, verdict_tables};
use fsarena_verdict::watchers::Watch;
use fsarena_verdict::{Excluded, IntervalBy, PairView, QuestionView, RankRow, Verdicts};

pub(crate) fn shown(verdicts: &Verdicts, width: usize) -> String {
    verdict_tables(verdicts, Detail::Full, width, Style::default())
}

/// The first paragraph.
pub(crate) fn headline(verdicts: &Verdicts) -> String {
    let text = shown(verdicts, 80);
    text.split_once("\n\n").map_or(text.clone(), |(first, _)| first.to_owned())
}

/// A pair after 8 blocks; `ratio` is a ÷ b with its interval, that of SAME is narrower.
pub(crate) fn pair(
    (a, a_label): (usize, &str),
    (b, b_label): (usize, &str),
    verdict: Verdict,
    [ratio, low, high]: [f64; 3],
) -> PairView {
    let narrower = |end: f64| ratio * (end / ratio).powf(0.8);
    PairView {
        a,
        b,
        a_label: a_label.to_owned(),
        b_label: b_label.to_owned(),
        verdict,
        difference: None,
        n: 8,
        at_blocks: 8,
        interval_by: IntervalBy::StudentT,
        ratio: Some(ratio),
        low: Some(low),
        high: Some(high),
        level: Some(0.9925),
        same_low: Some(narrower(low)),
        same_high: Some(narrower(high)),
        same_level: Some(0.985),
        mean_ratio: Some(ratio),
        hl_ratio: Some(ratio),
        median_ratio: Some(ratio),
        shapes_differ: false,
        same_within: None,
        forecast: None,
        no_difference_in_sight: false,
        machine_effect: None,
        why: None,
    }
}

/// A row of the ranking; its ratio is to the reference.
pub(crate) fn row(contender: usize, label: &str, median: f64, ratio: f64) -> RankRow {
    RankRow {
        contender,
        label: label.to_owned(),
        cold: true,
        n: 8,
        median,
        median_low: Some(median * 0.97),
        median_high: Some(median * 1.03),
        median_level: Some(0.992_187_5),
        geometric_mean: median,
        min: median * 0.96,
        max: median * 1.04,
        cv: Some(0.021),
        ratio: Some(ratio),
        ratio_n: None,
        ratio_low: None,
        ratio_high: None,
        against_reference: None,
        letters: String::new(),
        tier: None,
        outliers: 0,
    }
}

/// As the study does it: what stands in the pair with the reference stands in the row.
pub(crate) fn against(mut row: RankRow, verdict: Verdict, low: f64, high: f64) -> RankRow {
    row.against_reference = Some(verdict);
    row.ratio_n = Some(row.n);
    (row.ratio_low, row.ratio_high) = (Some(low), Some(high));
    row
}

pub(crate) fn question(rows: Vec<RankRow>, pairs: Vec<PairView>) -> QuestionView {
    QuestionView {
        workload: "small-files".to_owned(),
        workload_title: "5,000 files of 256 B".to_owned(),
        phase: "create".to_owned(),
        metric: Metric::Time,
        clock: Clock::Durable,
        changes: true,
        looks: vec![4, 6, 8],
        rows,
        pairs,
        left: Vec::new(),
        watch: Watch::default(),
        factors: None,
    }
}

/// 8 blocks of at most 32, everything decided; the first question stands first.
pub(crate) fn verdicts(questions: Vec<QuestionView>) -> Verdicts {
    Verdicts {
        method: METHOD_VERSION,
        computed_by: METHOD_VERSION,
        rule: Rule::Looks { cap: 32 },
        margin: 0.05,
        baseline: None,
        reference: None,
        scope: None,
        budget_ns: None,
        blocks_done: 8,
        blocks_counted: 8,
        most_blocks: 32,
        rerun: Vec::new(),
        not_rerun: Vec::new(),
        stop: Some(Stop { blocks: 8, why: StopWhy::Decided }),
        headline: Some(0),
        questions,
        along: Vec::new(),
        suite: None,
        agrees_with_stored_looks: Some(true),
    }
}

pub(crate) fn left(contender: usize, label: &str, why: &str) -> Excluded {
    Excluded { contender, label: label.to_owned(), why: why.to_owned() }
}
