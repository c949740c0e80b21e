//! Strong scaling: contenders that differ in the number of their ranks or hosts alone, which do the
//! same work, and how many times as fast as the fewest each of them is.
//!
//! A speed-up is the time of the fewest ÷ the time of more, a ratio as of verdicts (within blocks,
//! with the interval of all pairs of levels of a curve as one family); efficiency is speed-up ÷
//! (number ÷ the fewest). What is said in words is what these intervals decide.

use crate::contenders::{Contenders, with_right_contents};
use crate::rates::{RateUnit, Rates};
use crate::sweep::{alone, between, points, short};
use fsarena_model::contender::Contender;
use fsarena_model::factor::{self, HOST_COUNT, RANKS};
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunPlan;
use fsarena_model::units::three_digits;
use fsarena_model::verdict::{DEFAULT_MARGIN, Verdict};
use fsarena_model::work::{Phase, Workload};
use fsarena_verdict::{PairResult, look_once};
use serde::Serialize;

/// In what a length is read, ns.
const STEP_NS: f64 = 100.0;

/// How one phase of otherwise equal contenders scales.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ScalingView {
    pub workload: String,
    pub phase: String,
    /// What its levels have in common: their label without the number.
    pub contender: String,
    /// What there is more and more of.
    pub over: ScalingOver,
    /// What a rate counts.
    pub unit: RateUnit,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// Its levels, the fewest first.
    pub levels: Vec<ScalingLevel>,
    /// What the intervals decide, a sentence a level.
    pub words: Vec<String>,
}

/// What there is more and more of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScalingOver {
    Ranks,
    /// Each with as many ranks as all the others, or all together with the same number.
    Hosts,
}

impl ScalingOver {
    /// In words: `ranks`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ranks => "ranks",
            Self::Hosts => "hosts",
        }
    }

    /// So many of them: `1 rank`, `4 hosts`.
    #[must_use]
    pub fn count(self, number: u32) -> String {
        match number {
            1 => format!("1 {}", self.name().trim_end_matches('s')),
            number => format!("{number} {}", self.name()),
        }
    }
}

/// So many ranks or hosts.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ScalingLevel {
    pub contender: usize,
    pub label: String,
    /// How many.
    pub number: u32,
    /// Trials with a figure.
    pub n: usize,
    /// Amount per second by the compared clock, all ranks together: the geometric mean over trials.
    pub per_s: Option<f64>,
    /// 95 % interval of it (t of the logarithms); absent for one value.
    pub per_s_low: Option<f64>,
    pub per_s_high: Option<f64>,
    /// Time of the fewest ÷ time of this level, by the blocks that have both; 1 for the fewest.
    pub speed_up: Option<f64>,
    /// Interval of it, at the level that all pairs of the curve share; absent for the fewest, and
    /// for too few blocks.
    pub speed_up_low: Option<f64>,
    pub speed_up_high: Option<f64>,
    /// Speed-up ÷ (number ÷ the fewest): 1 where twice as many are twice as fast.
    pub efficiency: Option<f64>,
    pub efficiency_low: Option<f64>,
    pub efficiency_high: Option<f64>,
    /// What is shown of this level against the fewest; absent for the fewest.
    pub against_fewest: Option<Verdict>,
    /// What is shown of it against the level before.
    pub against_previous: Option<Verdict>,
}

/// Contenders that differ in one number alone, the fewest first.
struct Curve {
    contender: String,
    over: ScalingOver,
    levels: Vec<(usize, u32)>,
}

/// All curves of a plan, one entry a curve and timed phase, in its order.
pub(crate) fn views(plan: &RunPlan, records: &[TrialRecord]) -> Vec<ScalingView> {
    let curves = curves(&plan.contenders);
    if curves.is_empty() {
        return Vec::new();
    }
    let contenders = Contenders::new(plan);
    let mut views = Vec::new();
    for workload in &plan.workloads {
        let own = contenders.split(&with_right_contents(records, &workload.name));
        for curve in &curves {
            let phases = workload.phases_of_same_work();
            views.extend(phases.filter_map(|phase| view(plan, curve, (workload, phase), &own)));
        }
    }
    views
}

fn curves(contenders: &[Contender]) -> Vec<Curve> {
    // Where every host has one rank, more hosts are more ranks.
    let has_one_each = contenders.iter().all(|one| {
        let hosts = factor::host_count(&one.levels);
        hosts.is_none() || hosts == factor::ranks(&one.levels)
    });
    let mut all = curves_over(contenders, ScalingOver::Hosts, has_one_each);
    all.extend(curves_over(contenders, ScalingOver::Ranks, false));
    all
}

fn curves_over(contenders: &[Contender], over: ScalingOver, has_one_each: bool) -> Vec<Curve> {
    let mut found: Vec<(Contender, Curve)> = Vec::new();
    for (index, contender) in contenders.iter().enumerate() {
        let (key, number) = match over {
            ScalingOver::Ranks => (RANKS, factor::ranks(&contender.levels)),
            ScalingOver::Hosts => (HOST_COUNT, factor::host_count(&contender.levels)),
        };
        let (Some(number), Some(factor)) = (number, factor::find(key)) else { continue };
        let mut rest = Contender { label: String::new(), ..contender.clone() };
        rest.levels.factors.remove(key);
        if has_one_each {
            rest.levels.factors.remove(RANKS);
        }
        match found.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, curve)) => curve.levels.push((index, number)),
            None => {
                let own = format!(" {}", factor.label(&number.to_string()));
                let label = contender.label.replacen(&own, "", 1);
                found.push((rest, Curve { contender: label, over, levels: vec![(index, number)] }));
            }
        }
    }
    let mut curves: Vec<Curve> = found.into_iter().map(|(_, curve)| curve).collect();
    curves.retain(|curve| curve.levels.len() > 1);
    curves.iter_mut().for_each(|curve| curve.levels.sort_by_key(|&(_, number)| number));
    curves
}

/// `None` where no level has a figure.
fn view(
    plan: &RunPlan,
    curve: &Curve,
    (workload, phase): (&Workload, &Phase),
    own: &[Vec<&TrialRecord>],
) -> Option<ScalingView> {
    let clock = plan.compared_clock;
    let unit = RateUnit::for_op(plan.rate, phase.op, &workload.dataset);
    let contenders: Vec<usize> = curve.levels.iter().map(|&(contender, _)| contender).collect();
    let (times, _) = points(phase, &contenders, own, |record, at| {
        record.phases[at].ns(clock).map(|ns| ns as f64)
    });
    let (rates, _) = points(phase, &contenders, own, |record, at| {
        let rates = Rates::from_phases(&[&record.phases[at]], clock);
        rates.get(unit).map(|rate| rate.median)
    });
    if times.all.is_empty() {
        return None;
    }
    let margin = plan.verdict.as_ref().map_or(DEFAULT_MARGIN, |ask| ask.margin);
    let looked = look_once(plan, &times, &contenders, margin, |_| STEP_NS);
    let level = |at: usize| {
        let (contender, number) = curve.levels[at];
        let rate = alone(&rates, contender);
        let previous = at.checked_sub(1).and_then(|before| {
            between(&looked, contender, contenders[before]).map(|found| found.verdict)
        });
        let label = plan.contenders[contender].label.clone();
        let level = ScalingLevel {
            contender,
            label,
            number,
            n: times.of_contender(contender).count(),
            per_s: rate.geometric_mean,
            per_s_low: rate.low,
            per_s_high: rate.high,
            speed_up: None,
            speed_up_low: None,
            speed_up_high: None,
            efficiency: None,
            efficiency_low: None,
            efficiency_high: None,
            against_fewest: None,
            against_previous: previous,
        };
        speed_up(level, curve.levels[0], &looked)
    };
    let levels: Vec<ScalingLevel> = (0..curve.levels.len()).map(level).collect();
    let words = words(curve.over, &levels, margin);
    Some(ScalingView {
        workload: workload.name.clone(),
        phase: phase.name.clone(),
        contender: curve.contender.clone(),
        over: curve.over,
        unit,
        margin,
        levels,
        words,
    })
}

/// The level with its speed-up over the fewest and its efficiency.
fn speed_up(level: ScalingLevel, fewest: (usize, u32), looked: &[PairResult]) -> ScalingLevel {
    if level.contender == fewest.0 {
        let one = (level.n > 0).then_some(1.0);
        return ScalingLevel { speed_up: one, efficiency: one, ..level };
    }
    // Of the fewest against this level: the ratio of their times is the speed-up.
    let Some(found) = between(looked, fewest.0, level.contender) else { return level };
    let times = f64::from(level.number) / f64::from(fewest.1);
    let (low, high) = found.interval.unzip();
    let each = |value: Option<f64>| value.map(|value| value / times);
    ScalingLevel {
        speed_up: found.ratio,
        speed_up_low: low,
        speed_up_high: high,
        efficiency: each(found.ratio),
        efficiency_low: each(low),
        efficiency_high: each(high),
        against_fewest: Some(found.verdict.swapped()),
        ..level
    }
}

/// What is decided, a sentence a level above the fewest.
fn words(over: ScalingOver, levels: &[ScalingLevel], margin: f64) -> Vec<String> {
    let Some(fewest) = levels.first() else { return Vec::new() };
    let sentence = |pair: &[ScalingLevel]| {
        let [previous, level] = pair else { return None };
        let mut words = against_fewest(over, level, fewest.number, margin)?;
        if previous.number != fewest.number {
            words.push_str(&against_previous(level, previous.number, margin));
        }
        Some(words)
    };
    levels.windows(2).filter_map(sentence).collect()
}

/// `4 hosts are 3.10 times as fast as 1 (2.80-3.40)`; nothing of a level without a figure.
fn against_fewest(
    over: ScalingOver,
    level: &ScalingLevel,
    fewest: u32,
    margin: f64,
) -> Option<String> {
    let speed_up = three_digits(level.speed_up?);
    let interval = level.speed_up_low.zip(level.speed_up_high);
    let between =
        interval.map(|(low, high)| format!(" ({}-{})", three_digits(low), three_digits(high)));
    let between = between.unwrap_or_default();
    let many = over.count(level.number);
    Some(match level.against_fewest? {
        Verdict::Faster => format!("{many} are {speed_up} times as fast as {fewest}{between}"),
        Verdict::Slower => {
            format!("{many} are slower than {fewest}: {speed_up} times as fast{between}")
        }
        Verdict::Same => format!("{many} are no faster than {fewest}: {}", same(margin)),
        Verdict::Undecided if between.is_empty() => {
            format!("{many} were {speed_up} times as fast as {fewest}, of too few blocks to decide")
        }
        Verdict::Undecided => {
            format!("whether {many} are faster than {fewest} is not decided{between}")
        }
    })
}

/// `; no faster than 4`.
fn against_previous(level: &ScalingLevel, previous: u32, margin: f64) -> String {
    match level.against_previous {
        Some(Verdict::Faster) => format!("; faster than {previous}"),
        Some(Verdict::Slower) => format!("; slower than {previous}"),
        Some(Verdict::Same) => format!("; no faster than {previous}: {}", same(margin)),
        Some(Verdict::Undecided) => format!("; against {previous} not decided"),
        None => String::new(),
    }
}

fn same(margin: f64) -> String {
    format!("the same within {} %", short(margin * 100.0))
}
