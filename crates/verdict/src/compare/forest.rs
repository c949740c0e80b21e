//! The same pairs of contenders in several RUNs: one ratio a unit, and what they say together.
//!
//! Each unit counts the same, whatever its own precision: weights by precision are shown where that
//! differs much, and decide nothing, since with few units they are wrong more often than they say
//! (`fsarena_stats::units`).

use super::family::{self, Comparison};
use super::run::{
    RunOf, Units, asked, each_once, names_of_workloads, not_alike, not_known, work_differs,
};
use super::{ALPHA, Ask, CompareError, LEAST_UNITS, QuestionName, Unit, UnitRow};
use crate::points::Points;
use crate::view::IntervalBy;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{METHOD_VERSION, Metric, Pairs, Verdict};
use fsarena_stats::paired::PairSample;
use fsarena_stats::units::{Shift, hksj, i_squared, mean_over_units};
use indexmap::IndexMap;
use serde::Serialize;
use std::collections::BTreeSet;

/// Weights are shown where the most precise unit is so many times as precise as the least.
const UNEQUAL_FROM: f64 = 2.0;

/// Pairs of contenders in several RUNs.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Forest {
    /// Version of the method.
    pub method: u32,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// What counts as one.
    pub unit: Unit,
    /// The units.
    pub units: Vec<UnitRow>,
    /// Label of the contender that all are compared with; absent: every pair, or one that was
    /// named.
    pub baseline: Option<String>,
    /// The questions.
    pub questions: Vec<ForestQuestion>,
    /// Notes to show with it.
    pub notes: Vec<String>,
}

/// A question in several RUNs.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ForestQuestion {
    pub workload: String,
    pub phase: String,
    pub metric: Metric,
    /// Up to which clock.
    pub clock: Clock,
    /// The pairs.
    pub pairs: Vec<ForestPair>,
}

/// Two contenders in several RUNs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct ForestPair {
    /// Label of the first.
    pub a_label: String,
    /// Label of the second.
    pub b_label: String,
    /// What is said of the first, for units like these.
    pub verdict: Verdict,
    /// Geometric mean of the units' ratios a ÷ b; absent without a unit.
    pub ratio: Option<f64>,
    /// Interval for units like these; absent below [`LEAST_UNITS`].
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Its level, 0 to 1, corrected for the other pairs and questions.
    pub level: Option<f64>,
    /// The interval that SAME is said by: the whole of it lies within the margin then.
    pub same_low: Option<f64>,
    pub same_high: Option<f64>,
    /// Its level, 0 to 1, corrected in the same way.
    pub same_level: Option<f64>,
    /// The same weighed by precision, with its 95 % interval, where units differ in that; it
    /// decides nothing.
    pub weighted: Option<[f64; 3]>,
    /// Share of the scatter between units that is more than their own noise, 0 to 1.
    pub i_squared: Option<f64>,
    /// Units whose ratio is on the side of 1 that the mean is on.
    pub agreeing: usize,
    /// One row a unit.
    pub rows: Vec<ForestRow>,
    /// Units and RUNs without a ratio.
    pub without: Vec<Without>,
    /// Why it is undecided, where that is not the spread.
    pub why: Option<String>,
}

/// What one unit says of two contenders.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ForestRow {
    /// Index of the unit.
    pub unit: usize,
    /// RUNs that went in.
    pub runs: Vec<String>,
    /// Blocks that have both.
    pub n: usize,
    /// How the interval was made; of several RUNs, that of the last.
    pub interval_by: IntervalBy,
    /// Value of a ÷ value of b.
    pub ratio: f64,
    /// 95 % interval for this unit alone, not corrected for anything; absent for one block.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// A RUN that says nothing of two contenders.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct Without {
    pub run: String,
    pub why: String,
}

/// What one RUN, or the part of it in one boot, says of two contenders.
struct Piece {
    unit: usize,
    run: String,
    n: usize,
    interval_by: IntervalBy,
    shift: Shift,
    /// Whether there were enough blocks for an error.
    has_error: bool,
    floor: f64,
}

/// Compares the same pairs of contenders in several RUNs.
///
/// # Errors
/// See [`CompareError`].
pub fn forest(runs: &[RunOf<'_>], ask: &Ask) -> Result<Forest, CompareError> {
    let runs: Vec<&RunOf<'_>> = runs.iter().collect();
    each_once(&runs)?;
    let questions = asked(&runs, ask)?;
    let candidates = pairs(&runs, ask)?;
    let units = Units::new(&runs);
    let mut found: Vec<Vec<ForestPair>> = Vec::new();
    let mut shifts = Vec::new();
    let mut labels: BTreeSet<&str> = BTreeSet::new();
    for question in &questions {
        let values: Vec<_> = runs.iter().map(|run| values(&runs, run, question)).collect();
        let mut own = Vec::new();
        let may = |(a, b): &&(String, String)| {
            ask.pair.is_some() || runs.iter().any(|run| run.may_compare(question, a, b))
        };
        for (a, b) in candidates.iter().filter(may) {
            labels.extend([a.as_str(), b.as_str()]);
            let (pair, shift) = pair(&runs, &values, &units, question, (a, b));
            if !pair.rows.is_empty() || ask.pair.is_some() {
                own.push(pair);
                shifts.push(shift);
            }
        }
        found.push(own);
    }
    let mut comparisons = family::verdicts(&shifts, ask.margin).into_iter();
    for pair in found.iter_mut().flatten() {
        if let Some(comparison) = comparisons.next().flatten() {
            take(pair, comparison);
        }
    }
    let labels: Vec<&str> = labels.into_iter().collect();
    let with_names = questions.iter().zip(found).map(|(name, pairs)| ForestQuestion {
        workload: name.workload.clone(),
        phase: name.phase.clone(),
        metric: name.metric,
        clock: name.clock,
        pairs,
    });
    Ok(Forest {
        method: METHOD_VERSION,
        margin: ask.margin,
        unit: units.kind,
        baseline: baseline(&runs, ask),
        questions: with_names.collect(),
        notes: [not_known(&runs), not_alike(&runs, &labels, &questions)].concat(),
        units: units.rows,
    })
}

fn take(pair: &mut ForestPair, comparison: Comparison) {
    pair.verdict = comparison.verdict;
    (pair.low, pair.high, pair.level) = (comparison.low, comparison.high, comparison.level);
    (pair.same_low, pair.same_high, pair.same_level) =
        (comparison.same_low, comparison.same_high, comparison.same_level);
}

/// The baseline that all RUNs have.
fn baseline(runs: &[&RunOf<'_>], ask: &Ask) -> Option<String> {
    let of = |run: &RunOf<'_>| match run.header.plan.verdict.as_ref()?.pairs {
        Pairs::Baseline { contender } => Some(run.header.plan.contenders[contender].label.clone()),
        Pairs::All => None,
    };
    let first = of(runs.first()?)?;
    let all = runs.iter().all(|run| of(run).as_deref() == Some(first.as_str()));
    (ask.pair.is_none() && all).then_some(first)
}

/// The pairs of labels that the RUNs may compare, each once, as the first that has it writes it.
fn pairs(runs: &[&RunOf<'_>], ask: &Ask) -> Result<Vec<(String, String)>, CompareError> {
    if let Some((a, b)) = &ask.pair {
        let has = |run: &&RunOf<'_>| run.contender(a).is_some() && run.contender(b).is_some();
        if a == b || !runs.iter().any(has) {
            let all = runs.iter().flat_map(|run| &run.header.plan.contenders);
            let known = all.map(|contender| contender.label.as_str());
            return Err(CompareError::no_such_pair(a, b, known));
        }
        return Ok(vec![(a.clone(), b.clone())]);
    }
    let mut pairs: Vec<(String, String)> = Vec::new();
    for run in runs {
        let plan = &run.header.plan;
        let contenders = &plan.contenders;
        for (at, a) in contenders.iter().enumerate() {
            for (after, b) in contenders.iter().enumerate().skip(at + 1) {
                let (a, b) = match plan.verdict.as_ref().map_or(Pairs::All, |ask| ask.pairs) {
                    Pairs::All => (a, b),
                    Pairs::Baseline { contender } if contender == at => (b, a),
                    Pairs::Baseline { contender } if contender == after => (a, b),
                    Pairs::Baseline { .. } => continue,
                };
                let (one, other) = ((&a.label, &b.label), (&b.label, &a.label));
                let known = pairs.iter().any(|(a, b)| (a, b) == one || (a, b) == other);
                if !known {
                    pairs.push((a.label.clone(), b.label.clone()));
                }
            }
        }
    }
    Ok(pairs)
}

/// The values of a RUN by boot, or why it has none.
type Values = Result<Vec<(String, Points)>, String>;

fn values(runs: &[&RunOf<'_>], run: &RunOf<'_>, question: &QuestionName) -> Values {
    let workload = names_of_workloads(std::slice::from_ref(question))[0];
    let first = runs.iter().find_map(|run| run.workload(workload));
    if let (Some(first), Some(own)) = (first, run.workload(workload))
        && work_differs(first, own).is_some()
    {
        return Err(format!("its {workload} is another workload of that name"));
    }
    let none = || format!("it has no {}:{}", question.workload, question.phase);
    run.points(question).ok_or_else(none)
}

fn pair(
    runs: &[&RunOf<'_>],
    values: &[Values],
    units: &Units,
    question: &QuestionName,
    (a, b): (&str, &str),
) -> (ForestPair, Option<Shift>) {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut without = Vec::new();
    for (number, (run, values)) in runs.iter().zip(values).enumerate() {
        let found = of_run(number, run, values, units, question, (a, b));
        match found {
            Ok(own) => pieces.extend(own),
            Err(why) => without.push(Without { run: run.name.clone(), why }),
        }
    }
    let mut rows = Vec::new();
    let (mut thetas, mut errors, mut floor) = (Vec::new(), Vec::new(), 0.0f64);
    for unit in 0..units.rows.len() {
        let own: Vec<&Piece> = pieces.iter().filter(|piece| piece.unit == unit).collect();
        let Some(last) = own.last() else { continue };
        let shift = averaged(&own);
        let has_error = own.iter().all(|piece| piece.has_error);
        let interval = shift.interval(ALPHA).filter(|_| has_error);
        rows.push(ForestRow {
            unit,
            runs: own.iter().map(|piece| piece.run.clone()).collect(),
            n: own.iter().map(|piece| piece.n).sum(),
            interval_by: last.interval_by,
            ratio: shift.point.exp(),
            low: interval.map(|interval| interval.low.exp()),
            high: interval.map(|interval| interval.high.exp()),
        });
        thetas.push(shift.point);
        errors.extend(has_error.then_some(shift.standard_error));
        floor = own.iter().map(|piece| piece.floor).fold(floor, f64::max);
    }
    let n = rows.len();
    let mean = thetas.iter().sum::<f64>() / n.max(1) as f64;
    let shift = mean_over_units(&thetas)
        .filter(|_| n >= LEAST_UNITS)
        .map(|shift| shift.at_least(floor / (n as f64).sqrt()));
    let pair = ForestPair {
        a_label: a.to_owned(),
        b_label: b.to_owned(),
        ratio: (n > 0).then(|| mean.exp()),
        weighted: weighted(&thetas, &errors),
        i_squared: i_squared(&thetas, &errors),
        agreeing: thetas.iter().filter(|theta| (**theta > 0.0) == (mean > 0.0)).count(),
        rows,
        without,
        why: why(units.kind, n),
        ..ForestPair::default()
    };
    (pair, shift)
}

/// Why so few units decide nothing.
fn why(unit: Unit, n: usize) -> Option<String> {
    let (one, several) = match unit {
        Unit::Machine => ("machine", "machines"),
        Unit::Boot => ("boot", "boots"),
        Unit::Run => ("RUN", "RUNs"),
    };
    match n {
        0 => Some(format!("no {one} has a block with both")),
        1 => Some(format!("one {one} can never speak for others")),
        2 => Some(format!("two {several} can never speak for others; both are listed")),
        _ => None,
    }
}

/// The mean weighed by precision with its 95 % interval, where units differ in that.
fn weighted(thetas: &[f64], errors: &[f64]) -> Option<[f64; 3]> {
    if thetas.len() < LEAST_UNITS || errors.len() != thetas.len() {
        return None;
    }
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let most = errors.iter().copied().fold(0.0, f64::max);
    if most <= UNEQUAL_FROM * least {
        return None;
    }
    let shift = hksj(thetas, errors)?;
    let interval = shift.interval(ALPHA)?;
    Some([shift.point, interval.low, interval.high].map(f64::exp))
}

/// Several RUNs of one unit, each counting the same.
fn averaged(pieces: &[&Piece]) -> Shift {
    let n = pieces.len() as f64;
    let squares: f64 = pieces.iter().map(|piece| piece.shift.standard_error.powi(2)).sum();
    Shift {
        point: pieces.iter().map(|piece| piece.shift.point).sum::<f64>() / n,
        standard_error: squares.sqrt() / n,
        freedom: pieces.iter().map(|piece| piece.shift.freedom).sum(),
    }
}

/// What a RUN says: one piece, or one a boot where these are the units.
fn of_run(
    number: usize,
    run: &RunOf<'_>,
    values: &Values,
    units: &Units,
    question: &QuestionName,
    (a, b): (&str, &str),
) -> Result<Vec<Piece>, String> {
    let by_boot = values.as_ref().map_err(Clone::clone)?;
    let place = |label: &str| {
        let none = || format!("it has no {label}");
        let contender = run.contender(label).ok_or_else(none)?;
        match RunOf::why_without(by_boot, contender) {
            Some(why) => Err(format!("{label}: {why}")),
            None => Ok(contender),
        }
    };
    let (a, b) = (place(a)?, place(b)?);
    let mut together: IndexMap<usize, (Vec<f64>, Vec<f64>)> = IndexMap::new();
    for (boot, points) in by_boot {
        let Some(unit) = units.at(number, boot) else { continue };
        let logs = points.log_ratios(a, b, &|_| true);
        if logs.is_empty() {
            continue;
        }
        let own =
            points.of_contender(a).chain(points.of_contender(b)).map(|point| point.value.ln());
        let (all, levels) = together.entry(unit).or_default();
        all.extend(logs);
        levels.extend(own);
    }
    if together.is_empty() {
        return Err("it has no block with both, alike in cache and memory".to_owned());
    }
    let pieces = together.into_iter().filter_map(|(unit, (logs, levels))| {
        let level = levels.iter().sum::<f64>() / levels.len() as f64;
        let floor = question.metric.step(level.exp()) / (6f64.sqrt() * level.exp());
        piece(unit, run, &logs, floor)
    });
    Ok(pieces.collect())
}

fn piece(unit: usize, run: &RunOf<'_>, logs: &[f64], floor: f64) -> Option<Piece> {
    let sample = PairSample { logs, floor_sd: floor, pooled: None };
    let point = sample.point()?;
    let freedom = logs.len() as f64 - 1.0;
    let of_one = Shift { point: 0.0, standard_error: 1.0, freedom };
    // On the scale of t, also where the interval is that of signed ranks.
    let error = sample.interval(ALPHA).and_then(|interval| {
        Some((interval.high - interval.low) / 2.0 / of_one.interval(ALPHA)?.high)
    });
    Some(Piece {
        unit,
        run: run.name.clone(),
        n: logs.len(),
        interval_by: IntervalBy::from(sample.interval_by()),
        shift: Shift { point, standard_error: error.unwrap_or(0.0), freedom },
        has_error: error.is_some(),
        floor,
    })
}
