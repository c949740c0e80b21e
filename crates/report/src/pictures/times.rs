//! The time of a phase: a bar a contender, its interval and every raw value.

use super::{Unit, ends, phase_id, row_key, shortened};
use crate::context::SectionContext;
use crate::format::three;
use crate::format::{count, ns};
use crate::labels::absence;
use fsarena_chart::{Axis, Bar, Bars, Head, Spot};
use fsarena_model::record::CacheState;
use fsarena_model::verdict::Metric;
use fsarena_study::{AbsentRow, MemoryView, PhasePoints, PhaseRow, PhaseTable, TrialPoint};
use fsarena_verdict::{QuestionView, RankRow};

/// Characters of a note beside a bar; the whole of it stands in the table.
const NOTE_CHARS: usize = 44;

/// Bars of a phase. `points` are its raw values.
pub(crate) fn times(
    context: &SectionContext<'_>,
    table: &PhaseTable,
    points: &[PhasePoints],
) -> Bars {
    let raw = points.iter().find(|own| own.workload == table.workload && own.phase == table.phase);
    let raw = raw.map_or(&[][..], |own| own.points.as_slice());
    let question = question(context, table);
    let unit = unit(table);
    let mut bars: Vec<Bar> =
        table.rows.iter().map(|row| bar(table, row, question, raw, unit)).collect();
    bars.extend(table.absent.iter().map(|absent| absent_bar(context, table, absent)));
    let clock = context.run.study.compared_clock.name();
    let values = bars.iter().filter_map(|bar| {
        let value = bar.value.as_ref()?.value;
        Some((bar.key.label.as_str(), value, format!("{} {}", three(value), unit.name)))
    });
    let description = format!(
        "Median time to {clock} of {} in {} / {}; {}.",
        count(table.rows.len(), "contender"),
        table.workload,
        table.phase,
        ends(values)
    );
    Bars {
        head: Head {
            id: phase_id(context, table, "time"),
            title: format!("{} / {}: time to {clock}", table.workload, table.phase),
            description,
        },
        axis: Axis {
            title: format!("time to {clock}, {} (less is better)", unit.name),
            log: false,
            unit: format!(" {}", unit.name),
        },
        bars,
    }
}

/// The unit of the times of a phase: by the longest of its medians.
pub(crate) fn unit(table: &PhaseTable) -> Unit {
    let medians = table.rows.iter().filter_map(|row| row.compared.map(|spread| spread.median_ns));
    Unit::of_ns(medians.max().unwrap_or(0))
}

/// The question that asks what the chart shows.
pub(crate) fn question<'a>(
    context: &SectionContext<'a>,
    table: &PhaseTable,
) -> Option<&'a QuestionView> {
    let clock = context.run.study.compared_clock;
    context.run.verdicts?.questions.iter().find(|asked| {
        (asked.metric, asked.clock) == (Metric::Time, clock)
            && asked.workload == table.workload
            && asked.phase == table.phase
    })
}

/// The row of a ranking that is of exactly the values of a row of the table: a ranking has one row
/// a contender, a table one for each state of cache and memory, so that of several rows of a kind
/// none is meant.
fn ranked<'a>(
    question: Option<&'a QuestionView>,
    table: &PhaseTable,
    row: &PhaseRow,
) -> Option<&'a RankRow> {
    let is_cold = |row: &PhaseRow| row.cache == CacheState::Cold;
    let own = table.rows.iter().filter(|other| other.contender == row.contender && other.n > 0);
    let rows: Vec<&PhaseRow> = own.collect();
    let alike = rows.iter().filter(|other| is_cold(other) == is_cold(row)).count();
    let rank = question?.rows.iter().find(|rank| rank.contender == row.contender)?;
    let is_whole = rows.len() == 1 || rank.n <= row.n;
    (rank.cold == is_cold(row) && alike <= 1 && is_whole).then_some(rank)
}

fn bar(
    table: &PhaseTable,
    row: &PhaseRow,
    question: Option<&QuestionView>,
    raw: &[TrialPoint],
    unit: Unit,
) -> Bar {
    let key = row_key(table, row);
    let ranked = ranked(question, table, row);
    let own = raw.iter().filter(|point| is_of(point, row) && point.spoiled.is_none());
    let points = own.filter_map(|point| {
        let compared_ns = point.compared_ns?;
        let tip = format!("{}, block {}: {}", key.label, point.block, ns(Some(compared_ns)));
        Some(Spot { value: unit.convert(compared_ns as f64), tip })
    });
    let points = points.collect();
    let median_ns = ranked
        .map(|rank| rank.median)
        .or_else(|| row.compared.map(|spread| spread.median_ns as f64));
    let interval_ns = ranked.and_then(|rank| Some((rank.median_low?, rank.median_high?)));
    let trials = count(ranked.map_or(row.n, |rank| rank.n), "trial");
    let value = median_ns.map(|median_ns| Spot {
        value: unit.convert(median_ns),
        tip: format!("{}: {}, median of {trials}", key.label, ns(Some(median_ns.round() as u64))),
    });
    let interval = interval_ns.map(|(low, high)| (unit.convert(low), unit.convert(high)));
    Bar { value, interval, points, note: note(row, ranked), key }
}

/// Whether a row of a ranking is what the others are compared with.
pub(crate) fn is_reference(rank: &RankRow) -> bool {
    rank.ratio.is_some() && rank.ratio_n.is_none() && rank.against_reference.is_none()
}

/// Whether a raw value is behind a row.
fn is_of(point: &TrialPoint, row: &PhaseRow) -> bool {
    (point.contender, point.cache) == (row.contender, row.cache) && point.memory == row.memory
}

/// What stands beside a bar: first what must not be overlooked, then what is said of it against the
/// reference, then how many trials it lacks.
fn note(row: &PhaseRow, ranked: Option<&RankRow>) -> String {
    let mut parts: Vec<String> = Vec::new();
    if row.n == 0 {
        parts.push("failed".to_owned());
    }
    if row.trials_with_bad_contents > 0 {
        parts.push("WRONG CONTENTS".to_owned());
    }
    match (row.cache, &row.not_cold_because) {
        (CacheState::WarmByNature, _) => parts.push("warm by nature".to_owned()),
        (CacheState::Warm, Some(_)) => parts.push("WARM, cold was asked for".to_owned()),
        _ => {}
    }
    if matches!(row.memory, MemoryView::NotLimited { .. }) {
        parts.push("memory not limited".to_owned());
    }
    if let Some(verdict) = ranked.and_then(|rank| rank.against_reference) {
        parts.push(verdict.word().to_owned());
    } else if ranked.is_some_and(is_reference) {
        parts.push("reference".to_owned());
    }
    if row.trials_partial > 0 {
        parts.push(format!("{} partial", row.trials_partial));
    }
    if row.n > 0 && row.n < row.n_planned {
        parts.push(format!("{} of {} trials", row.n, row.n_planned));
    }
    parts.join(", ")
}

fn absent_bar(context: &SectionContext<'_>, table: &PhaseTable, absent: &AbsentRow) -> Bar {
    Bar {
        key: super::key(absent.contender, absent.label.as_str()),
        note: shortened(&why_absent(context, table, absent), NOTE_CHARS),
        ..Bar::default()
    }
}

/// Why a contender has no figure, with the reason: `not run: mkfs.xfs is missing`.
pub(crate) fn why_absent(
    context: &SectionContext<'_>,
    table: &PhaseTable,
    absent: &AbsentRow,
) -> String {
    let word = absence(absent.why);
    let study = context.run.study;
    let not_run = study.not_run.iter().find(|row| {
        row.label == absent.label
            && row.workload.as_ref().is_none_or(|name| *name == table.workload)
    });
    let failed = || {
        let own = |row: &&fsarena_study::FailureRow| {
            row.label == absent.label && row.workload == table.workload
        };
        study.failures.iter().find(own).map(|row| &row.error)
    };
    match not_run.map(|row| &row.reason).or_else(failed) {
        Some(reason) => format!("{word}: {reason}"),
        None => word.to_owned(),
    }
}
