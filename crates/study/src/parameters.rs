//! Curves over the levels of a workload's parameter: the rate of every contender at each of them,
//! with its interval. Levels are not compared with each other (they are other work); who is faster
//! at a level is said by the verdicts.

use crate::contenders::{Contenders, with_right_contents};
use crate::rates::{RateUnit, Rates};
use crate::sweep::{alone, points};
use fsarena_model::level_line::{LevelLine, level_lines};
use fsarena_model::parameter::Parameter;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunPlan;
use fsarena_model::work::Phase;
use serde::Serialize;

/// One phase of workloads that differ in one parameter alone.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ParameterCurves {
    /// The workload whose parameters vary: `random-io`.
    pub workload: String,
    pub phase: String,
    /// What varies along the curves.
    pub parameter: Parameter,
    /// What the other parameters that vary are: `iodepth=16`; empty where there is no other.
    pub others: String,
    /// What the rate counts; over block sizes the bytes of contents, where a phase moves some.
    pub unit: RateUnit,
    /// Ascending.
    pub levels: Vec<ParameterLevelView>,
    /// One a contender with a figure, in the order of the plan.
    pub curves: Vec<ParameterCurve>,
}

/// A level.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct ParameterLevelView {
    /// Bytes, percent, or a number of things.
    pub value: u64,
    /// As it is shown: `64 KiB`.
    pub text: String,
    /// Name of the workload at this level.
    pub workload: String,
}

/// A contender over the levels.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ParameterCurve {
    pub contender: usize,
    pub label: String,
    /// One a level.
    pub points: Vec<ParameterPoint>,
}

/// A rate at a level.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct ParameterPoint {
    /// Trials with a figure.
    pub n: usize,
    /// Amount per second by the compared clock: the geometric mean over trials.
    pub per_s: Option<f64>,
    /// 95 % interval of it (t of the logarithms); absent for one value.
    pub per_s_low: Option<f64>,
    pub per_s_high: Option<f64>,
}

/// All curves of a plan, one entry a line of levels and timed phase, in its order.
pub(crate) fn views(plan: &RunPlan, records: &[TrialRecord]) -> Vec<ParameterCurves> {
    let lines = level_lines(&plan.workloads);
    if lines.is_empty() {
        return Vec::new();
    }
    let contenders = Contenders::new(plan);
    let mut views = Vec::new();
    for line in &lines {
        let own: Vec<Vec<Vec<&TrialRecord>>> = line
            .levels
            .iter()
            .map(|&(at, _)| {
                contenders.split(&with_right_contents(records, &plan.workloads[at].name))
            })
            .collect();
        let first = &plan.workloads[line.levels[0].0];
        let varies = |phase: &&Phase| line.varies_in(&plan.workloads, &phase.name);
        let timed = first.phases.iter().filter(|phase| phase.timed && phase.io.rate.is_none());
        let phases = timed.filter(varies);
        views.extend(phases.filter_map(|phase| view(plan, line, phase, &own)));
    }
    views
}

/// `None` where no level has a figure.
fn view(
    plan: &RunPlan,
    line: &LevelLine,
    phase: &Phase,
    own: &[Vec<Vec<&TrialRecord>>],
) -> Option<ParameterCurves> {
    let unit = unit(plan, line, phase);
    let contenders: Vec<usize> = (0..plan.contenders.len()).collect();
    let rates: Vec<_> = own
        .iter()
        .map(|own| {
            let (rates, _) = points(phase, &contenders, own, |record, at| {
                let rates = Rates::from_phases(&[&record.phases[at]], plan.compared_clock);
                rates.get(unit).map(|rate| rate.median)
            });
            rates
        })
        .collect();
    let curve = |&contender: &usize| {
        let point = |rates| {
            let found = alone(rates, contender);
            ParameterPoint {
                n: found.n,
                per_s: found.geometric_mean,
                per_s_low: found.low,
                per_s_high: found.high,
            }
        };
        let points: Vec<ParameterPoint> = rates.iter().map(point).collect();
        let label = plan.contenders[contender].label.clone();
        let is_there = points.iter().any(|point| point.n > 0);
        is_there.then_some(ParameterCurve { contender, label, points })
    };
    let curves: Vec<ParameterCurve> = contenders.iter().filter_map(curve).collect();
    let level = |&(at, value): &(usize, u64)| ParameterLevelView {
        value,
        text: line.parameter.text(value),
        workload: plan.workloads[at].name.clone(),
    };
    (!curves.is_empty()).then(|| ParameterCurves {
        workload: line.workload.clone(),
        phase: phase.name.clone(),
        parameter: line.parameter,
        others: line.others.clone(),
        unit,
        levels: line.levels.iter().map(level).collect(),
        curves,
    })
}

/// What the rate counts at all levels: where it would be files at some and bytes at others, files.
fn unit(plan: &RunPlan, line: &LevelLine, phase: &Phase) -> RateUnit {
    if line.parameter == Parameter::Bs && phase.op.moves_bytes() {
        return RateUnit::Bytes;
    }
    let datasets = line.levels.iter().map(|&(at, _)| &plan.workloads[at].dataset);
    let mut units = datasets.map(|dataset| RateUnit::for_op(plan.rate, phase.op, dataset));
    let first = units.next().unwrap_or(RateUnit::Files);
    if units.all(|unit| unit == first) { first } else { RateUnit::Files }
}
