//! The charts of the answer: one a question, the ratios that its verdicts rest on.

use crate::context::SectionContext;
use crate::verdict::answers::{against, between, interval, percent, reference};
use crate::verdict::text::metric;
use fsarena_chart::{Head, Key, Ratio, Ratios, Spot, Svg};
use fsarena_model::verdict::Metric;
use fsarena_verdict::{QuestionView, RankRow, Verdicts};

/// The charts of a RUN, in the order of its questions; those with nothing to draw are left out.
pub(crate) fn charts(context: &SectionContext<'_>) -> Vec<Svg> {
    let Some(verdicts) = context.run.verdicts else { return Vec::new() };
    let all = verdicts.questions.iter().enumerate();
    all.filter_map(|(at, question)| ratios(context, verdicts, at, question)).collect()
}

/// The chart of the question `at` this context; `None` with fewer than two contenders to compare.
pub(crate) fn ratios(
    context: &SectionContext<'_>,
    verdicts: &Verdicts,
    at: usize,
    question: &QuestionView,
) -> Option<Svg> {
    let reference = reference(verdicts, question)?;
    let rows: Vec<Ratio> =
        question.rows.iter().map(|row| ratio(verdicts, question, row, reference)).collect();
    if rows.iter().filter(|row| row.ratio.is_some()).count() < 2 {
        return None;
    }
    let what = metric(question.metric, question.clock);
    let of = match question.metric {
        Metric::Time => "time",
        Metric::Cpu => "processor time",
        Metric::Written => "bytes written",
        Metric::P99 => "p99 latency",
    };
    let chart = Ratios {
        head: Head {
            id: format!("{}-ratios-{}", context.prefix, at + 1),
            title: format!("{} {}: {what}, ratios", question.workload, question.phase),
            description: description(verdicts, question, &rows),
        },
        title: format!("{of} ÷ {of} of {} (less is better)", reference.label),
        margin: verdicts.margin,
        rows,
    };
    Some(chart.draw())
}

/// A contender against the reference.
fn ratio(
    verdicts: &Verdicts,
    question: &QuestionView,
    row: &RankRow,
    reference: &RankRow,
) -> Ratio {
    let said = against(verdicts, question, row);
    let ends = between(question, row.contender, reference.contender).and_then(|p| interval(&p));
    let words = said.interval.iter().fold(said.ratio.clone(), |all, one| format!("{all} {one}"));
    Ratio {
        key: Key { label: row.label.clone(), hue: row.contender },
        ratio: row
            .ratio
            .map(|value| Spot { value, tip: format!("{}: {words}, {}", row.label, said.word) }),
        interval: ends,
        word: if row.ratio.is_some() { said.word.to_owned() } else { "not compared".to_owned() },
    }
}

/// For somebody who does not see it: best and worst, and the margin.
fn description(verdicts: &Verdicts, question: &QuestionView, rows: &[Ratio]) -> String {
    let spots = || rows.iter().filter_map(|row| row.ratio.as_ref());
    let by_value = |a: &&Spot, b: &&Spot| a.value.total_cmp(&b.value);
    let tip = |spot: Option<&Spot>| spot.map(|spot| spot.tip.clone()).unwrap_or_default();
    format!(
        "Ratios of {} contenders in {} of {}, with intervals and a band of {} around 1. Least: {}. \
         Largest: {}.",
        rows.len(),
        question.phase,
        question.workload,
        percent(verdicts.margin),
        tip(spots().min_by(by_value)),
        tip(spots().max_by(by_value)),
    )
}
