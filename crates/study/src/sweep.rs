//! Sweeps: contenders that differ in one number of mkfs alone, and how each measure responds to it.
//!
//! A level is called the same as the best one only where that is shown, by the method of the
//! verdicts (two one-sided tests within the margin, all pairs of levels of a curve being one
//! family); a curve is called flat only over neighbours that are all shown to be the same.

mod measures;

pub use measures::SweepMeasure;

use crate::contenders::{Contenders, with_right_contents};
use crate::figures::SpreadF;
use fsarena_model::contender::Contender;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunPlan;
use fsarena_model::score::MemoryKind;
use fsarena_model::units::Bytes;
use fsarena_model::verdict::{DEFAULT_MARGIN, Verdict};
use fsarena_model::work::Phase;
use fsarena_verdict::{Class, PairResult, Point, Points, Usage, look_once};
use serde::Serialize;

/// Share of misses of the interval of a level.
const ALPHA: f64 = 0.05;

/// A sweep of one option in one phase.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SweepView {
    pub workload: String,
    pub phase: String,
    /// The file system with all that its levels have in common: `ext4:mkfs.bigalloc=1`.
    pub file_system: String,
    /// The option of mkfs that varies: `block_size`.
    pub option: String,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// Its levels, ascending.
    pub levels: Vec<SweepLevel>,
    /// One curve a measure that any level has.
    pub curves: Vec<SweepCurve>,
}

/// A level.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SweepLevel {
    pub contender: usize,
    pub label: String,
    /// Its value: bytes, or a number of things.
    pub value: u64,
    /// The same as it is shown: `8192`, `64 MiB`.
    pub text: String,
    /// Space used by the contents beyond their size, bytes: used − used when empty − stored.
    pub slack_bytes: Option<SpreadF>,
}

/// How one measure responds.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SweepCurve {
    /// What is measured; of each, less is better.
    pub measure: SweepMeasure,
    /// Unit of its values: `ns`, `bytes/s`, or empty for shares and ratios.
    pub unit: &'static str,
    /// One a level, in the order of [`SweepView::levels`].
    pub points: Vec<SweepPoint>,
    /// Index of the level with the least geometric mean.
    pub best: Option<usize>,
    /// First and last level of the longest stretch around the best one in which all are shown to
    /// be the same within the margin; absent where the best one has no such neighbour.
    pub flat: Option<(usize, usize)>,
    /// That in a sentence.
    pub words: String,
}

impl SweepCurve {
    /// What is shown of level `at` against the best one, in a word: `best` for that one itself;
    /// absent where nothing is.
    #[must_use]
    pub fn shown(&self, at: usize) -> Option<&'static str> {
        match self.points.get(at)?.against_best {
            _ if self.best == Some(at) => Some("best"),
            against => against.map(Verdict::word),
        }
    }
}

/// A measure at a level.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct SweepPoint {
    /// Trials with a value.
    pub n: usize,
    /// Geometric mean over trials.
    pub geometric_mean: Option<f64>,
    /// 95 % interval of it (t of the logarithms); absent for one value.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Value ÷ that of the best level, by the blocks that have both; 1 for the best one itself.
    pub ratio_to_best: Option<f64>,
    /// Interval of the ratio, at the level that all pairs of the curve share; absent for the best
    /// one itself, and for too few blocks.
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    /// What is shown of this level against the best one; absent for the best one itself.
    pub against_best: Option<Verdict>,
}

/// All sweeps of a plan, one entry a sweep and timed phase, in its order.
pub(crate) fn views(plan: &RunPlan, records: &[TrialRecord]) -> Vec<SweepView> {
    let sweeps = sweeps(&plan.contenders);
    if sweeps.is_empty() {
        return Vec::new();
    }
    let contenders = Contenders::new(plan);
    let mut views = Vec::new();
    for workload in &plan.workloads {
        let own = contenders.split(&with_right_contents(records, &workload.name));
        for phase in workload.phases_of_same_work() {
            for sweep in &sweeps {
                views.extend(view(plan, sweep, (&workload.name, phase), &own));
            }
        }
    }
    views
}

/// Contenders that differ in one option alone, with their values, ascending.
struct Sweep {
    file_system: String,
    option: String,
    levels: Vec<(usize, u64)>,
}

/// Sweeps among contenders; one with two options that vary is one sweep of each of them for every
/// level of the other.
fn sweeps(contenders: &[Contender]) -> Vec<Sweep> {
    let mut found: Vec<(Contender, Sweep)> = Vec::new();
    for (index, contender) in contenders.iter().enumerate() {
        for (option, text) in &contender.levels.fs.mkfs {
            let Ok(Bytes(value)) = text.parse::<Bytes>() else { continue };
            let mut rest = Contender { label: String::new(), ..contender.clone() };
            rest.levels.fs.mkfs.remove(option);
            let same = |(known, sweep): &&mut (Contender, Sweep)| {
                *known == rest && sweep.option == *option
            };
            match found.iter_mut().find(same) {
                Some((_, sweep)) => sweep.levels.push((index, value)),
                None => {
                    let file_system = rest.levels.fs.to_string();
                    let levels = vec![(index, value)];
                    found.push((rest, Sweep { file_system, option: option.clone(), levels }));
                }
            }
        }
    }
    let mut sweeps: Vec<Sweep> = found.into_iter().map(|(_, sweep)| sweep).collect();
    for sweep in &mut sweeps {
        sweep.levels.sort_by_key(|&(_, value)| value);
    }
    // What is on or off (0, 1), or one of two versions, is no sweep.
    let varies = |sweep: &Sweep| {
        sweep.levels.windows(2).all(|two| two[0].1 < two[1].1)
            && sweep.levels.last().is_some_and(|&(_, value)| value > 2)
    };
    sweeps.retain(|sweep| sweep.levels.len() > 1 && varies(sweep));
    sweeps
}

/// `None` where no level has a figure.
fn view(
    plan: &RunPlan,
    sweep: &Sweep,
    (workload, phase): (&str, &Phase),
    own: &[Vec<&TrialRecord>],
) -> Option<SweepView> {
    let margin = plan.verdict.as_ref().map_or(DEFAULT_MARGIN, |ask| ask.margin);
    let level = |&(contender, value): &(usize, u64)| SweepLevel {
        contender,
        label: plan.contenders[contender].label.clone(),
        value,
        text: text(value),
        slack_bytes: SpreadF::from_values(
            own[contender].iter().filter_map(|r| slack_bytes(r)).collect(),
        ),
    };
    let levels: Vec<SweepLevel> = sweep.levels.iter().map(level).collect();
    let contenders: Vec<usize> = levels.iter().map(|level| level.contender).collect();
    let curve = |&(_, measure): &(&str, SweepMeasure)| {
        let (points, zeros) =
            points(phase, &contenders, own, |record, at| measure.value(record, at));
        match (points.all.len(), zeros) {
            (0, 0) => None,
            (_, 0) => Some(curve(plan, measure, &levels, &points, margin)),
            (above, _) => Some(no_curve(measure, &levels, (zeros, above + zeros))),
        }
    };
    let curves: Vec<SweepCurve> = SweepMeasure::ALL.iter().filter_map(curve).collect();
    (!curves.is_empty()).then(|| SweepView {
        workload: workload.to_owned(),
        phase: phase.name.clone(),
        file_system: sweep.file_system.clone(),
        option: sweep.option.clone(),
        margin,
        levels,
        curves,
    })
}

/// Sizes of blocks as mkfs takes them; large ones in units.
fn text(value: u64) -> String {
    if value < 1 << 20 { value.to_string() } else { Bytes(value).to_string() }
}

/// Used beyond what is stored; less where contents are compressed.
fn slack_bytes(record: &TrialRecord) -> Option<f64> {
    let space = record.space?;
    let used = space.used_bytes as f64 - space.used_empty_bytes as f64;
    Some(used - space.stored_bytes as f64)
}

/// What stands for a curve where `zeros` of `all` values are 0: such a value has no logarithm, and
/// without it the level that has it would look worse than it is.
fn no_curve(
    measure: SweepMeasure,
    levels: &[SweepLevel],
    (zeros, all): (usize, usize),
) -> SweepCurve {
    let words = format!(
        "{}: no curve, since {zeros} of {all} trials had 0, of which there is no ratio",
        measure.name()
    );
    let points = vec![SweepPoint::default(); levels.len()];
    SweepCurve { measure, unit: measure.unit(), points, best: None, flat: None, words }
}

/// The values of a phase (of each record and the place of the phase in it) that are above 0, so
/// that they have logarithms; and how many are 0 or less.
pub(crate) fn points(
    planned: &Phase,
    contenders: &[usize],
    own: &[Vec<&TrialRecord>],
    value: impl Fn(&TrialRecord, usize) -> Option<f64>,
) -> (Points, usize) {
    let mut points = Points::default();
    let mut zeros = 0;
    for &contender in contenders {
        for record in &own[contender] {
            let is_own = |at: &usize| {
                let phase = &record.phases[*at];
                phase.name == planned.name && phase.is_complete()
            };
            let Some(at) = (0..record.phases.len()).find(is_own) else { continue };
            let found = value(record, at).filter(|value| value.is_finite());
            let Some(value) = found else { continue };
            if value <= 0.0 {
                zeros += 1;
                continue;
            }
            let phase = &record.phases[at];
            points.all.push(Point {
                block: record.key.block,
                position: record.key.position,
                contender,
                previous: None,
                class: Class {
                    time_base: record.time_base,
                    cold: phase.cache.state.is_cold(),
                    memory: MemoryKind::from(&phase.memory),
                },
                read: value,
                value,
                elapsed_ns: record.elapsed_ns,
                usage: Usage::default(),
            });
        }
    }
    points.all.sort_by_key(|point| (point.block, point.position));
    let base = points.all.first().map(|point| point.class.time_base);
    points.all.retain(|point| Some(point.class.time_base) == base);
    (points, zeros)
}

fn curve(
    plan: &RunPlan,
    measure: SweepMeasure,
    levels: &[SweepLevel],
    points: &Points,
    margin: f64,
) -> SweepCurve {
    let contenders: Vec<usize> = levels.iter().map(|level| level.contender).collect();
    let looked = look_once(plan, points, &contenders, margin, |_| measure.step());
    let mut along: Vec<SweepPoint> =
        contenders.iter().map(|&contender| alone(points, contender)).collect();
    let mean = |at: &usize| along[*at].geometric_mean;
    let best = (0..along.len())
        .filter(|at| mean(at).is_some())
        .min_by(|a, b| mean(a).unwrap_or(0.0).total_cmp(&mean(b).unwrap_or(0.0)));
    if let Some(best) = best {
        for (at, point) in along.iter_mut().enumerate() {
            if at == best {
                point.ratio_to_best = Some(1.0);
            } else if let Some(found) = between(&looked, contenders[at], contenders[best]) {
                point.ratio_to_best = found.ratio;
                point.ratio_low = found.interval.map(|(low, _)| low);
                point.ratio_high = found.interval.map(|(_, high)| high);
                point.against_best = Some(found.verdict);
            }
        }
    }
    let same = |a: usize, b: usize| {
        between(&looked, contenders[a], contenders[b])
            .is_some_and(|found| found.verdict == Verdict::Same)
    };
    let flat = best.and_then(|best| flat_around(best, along.len(), &same));
    let words = sentence(measure, levels, &along, (best, flat), margin);
    SweepCurve { measure, unit: measure.unit(), points: along, best, flat, words }
}

/// A level by itself.
pub(crate) fn alone(points: &Points, contender: usize) -> SweepPoint {
    let logs: Vec<f64> = points.of_contender(contender).map(|point| point.value.ln()).collect();
    let Ok(estimate) = fsarena_stats::mean_t(&logs, ALPHA) else { return SweepPoint::default() };
    let interval = estimate.bounds.attained();
    SweepPoint {
        n: estimate.n,
        geometric_mean: Some(estimate.point.exp()),
        low: interval.map(|interval| interval.low.exp()),
        high: interval.map(|interval| interval.high.exp()),
        ..SweepPoint::default()
    }
}

/// What was found of `a` against `b`.
pub(crate) fn between(looked: &[PairResult], a: usize, b: usize) -> Option<PairResult> {
    let found = looked.iter().find(|one| one.pair == (a, b) || one.pair == (b, a))?;
    if found.pair == (a, b) {
        return Some(*found);
    }
    Some(PairResult {
        pair: (a, b),
        verdict: found.verdict.swapped(),
        ratio: found.ratio.map(f64::recip),
        interval: found.interval.map(|(low, high)| (high.recip(), low.recip())),
    })
}

/// The longest stretch of levels around `best` in which any two are the same; of two the one with
/// smaller levels.
fn flat_around(
    best: usize,
    count: usize,
    same: &dyn Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    let is_flat =
        |first: usize, last: usize| (first..=last).all(|a| (a + 1..=last).all(|b| same(a, b)));
    let stretches = (0..=best).flat_map(|first| (best..count).map(move |last| (first, last)));
    stretches
        .filter(|&(first, last)| last > first && is_flat(first, last))
        .max_by_key(|&(first, last)| (last - first, std::cmp::Reverse(first)))
}

/// What is said of a curve: its best level, where it is flat, and what is shown to be the same.
fn sentence(
    measure: SweepMeasure,
    levels: &[SweepLevel],
    points: &[SweepPoint],
    (best, flat): (Option<usize>, Option<(usize, usize)>),
    margin: f64,
) -> String {
    let name = measure.name();
    let Some(best) = best else { return format!("{name}: no figure") };
    let text = |at: usize| levels[at].text.as_str();
    let value = points[best].geometric_mean.map(|value| measure.text(value)).unwrap_or_default();
    let mut sentence = format!("{name}: least at {} ({value})", text(best));
    let percent = format!("{} %", short(margin * 100.0));
    let (first, last) = flat.unwrap_or((best, best));
    match flat {
        Some((0, last)) if last + 1 == levels.len() => {
            sentence.push_str(&format!("; flat within {percent} over all levels"));
        }
        Some((first, last)) => {
            let (first, last) = (text(first), text(last));
            sentence.push_str(&format!("; flat within {percent} from {first} to {last}"));
        }
        None => sentence.push_str("; not shown to be flat"),
    }
    let listed = |wanted: Verdict| -> Vec<&str> {
        let of = |at: &usize| points[*at].against_best == Some(wanted);
        let beyond = |at: &usize| wanted != Verdict::Same || *at < first || *at > last;
        (0..points.len()).filter(of).filter(beyond).map(text).collect()
    };
    let same = listed(Verdict::Same);
    if !same.is_empty() {
        sentence
            .push_str(&format!("; the same as the best within {percent} also {}", same.join(", ")));
    }
    let more = listed(Verdict::Slower);
    if !more.is_empty() {
        sentence.push_str(&format!("; shown to be more at {}", more.join(", ")));
    }
    sentence
}

/// Without zeros at its end.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
