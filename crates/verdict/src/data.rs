//! The numbers of a pair at a look: its log ratios, the spread that others lend it, whether the two
//! spread in different shapes, and what has to agree before a difference is said.

use crate::points::{Class, Points};
use crate::view::IntervalBy;
use fsarena_model::record::TimeBase;
use fsarena_model::verdict::Verdict;
use fsarena_stats::agreement::Agreement;
use fsarena_stats::blocks::{contender_spreads, spread_of_difference};
use fsarena_stats::family::{Decision, LookInput, LookResult};
use fsarena_stats::paired::{self, POOLED_BELOW, POOLED_FROM, PairSample, Spread};
use fsarena_stats::shape::shapes_differ;
use std::collections::BTreeMap;

/// What a look at a pair found.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct PairAtLook {
    pub(super) blocks: u32,
    /// Blocks that had ended by then, counted or not.
    pub(super) ended: u32,
    pub(super) n: usize,
    pub(super) verdict: Verdict,
    pub(super) interval_by: IntervalBy,
    pub(super) point: Option<f64>,
    pub(super) found: LookResult,
    pub(super) shapes_differ: bool,
}

/// The numbers of a pair at a look.
pub(super) struct Data {
    pub(super) logs: Vec<f64>,
    floor_sd: f64,
    pooled: Option<Spread>,
    shapes_differ: bool,
    agreement: Option<Agreement>,
    /// With fewer values there is no interval.
    least: usize,
    least_log: f64,
}

/// A difference in virtual time counts from here on: its trials have no noise, and what is equal
/// but for the layout on the disk would differ otherwise.
const LEAST_VIRTUAL: f64 = 0.005;

impl Data {
    /// `step` says how large the smallest step is in which a value can be read.
    pub(super) fn new(
        step: impl Fn(f64) -> f64,
        points: &Points,
        (a, b): (usize, usize),
        pool: &Pool,
        counts: &dyn Fn(u32) -> bool,
    ) -> Self {
        let common = points.common(a, b, counts);
        let logs: Vec<f64> =
            common.iter().map(|(one, other)| (one.value / other.value).ln()).collect();
        let of_both: (Vec<f64>, Vec<f64>) =
            common.iter().map(|(one, other)| (one.value.ln(), other.value.ln())).unzip();
        let pooled = pool.spread(a, b, logs.len());
        let is_virtual = common.iter().any(|(one, _)| one.class.time_base == TimeBase::Virtual);
        let values = |contender: usize| -> Vec<f64> {
            let own = points.of_contender(contender).filter(|point| counts(point.block));
            own.map(|point| point.value.ln()).collect()
        };
        let (a, b) = (values(a), values(b));
        let shapes_differ = shapes_differ(&a, &b);
        Self {
            floor_sd: paired::floor_sd(&a, &b, step),
            pooled,
            shapes_differ,
            agreement: Agreement::between(&of_both.0, &of_both.1, shapes_differ),
            logs,
            least: 2,
            least_log: if is_virtual { LEAST_VIRTUAL.ln_1p() } else { 0.0 },
        }
    }

    /// With fewer values than `least` there is no interval.
    pub(super) fn with_least(self, least: usize) -> Self {
        Self { least, ..self }
    }

    pub(super) fn sample(&self) -> PairSample<'_> {
        PairSample { logs: &self.logs, floor_sd: self.floor_sd, pooled: self.pooled }
    }

    pub(super) fn look_input(&self) -> LookInput<'_> {
        let mut sample = self.sample();
        if self.logs.len() < self.least {
            sample.logs = &[];
        }
        LookInput {
            sample,
            same_allowed: !self.shapes_differ,
            agreement: self.agreement,
            least_log: self.least_log,
        }
    }

    pub(super) fn at_look(&self, blocks: u32, ended: u32, found: LookResult) -> PairAtLook {
        let sample = self.sample();
        PairAtLook {
            blocks,
            ended,
            n: self.logs.len(),
            verdict: verdict(found.decision),
            interval_by: IntervalBy::from(sample.interval_by()),
            point: sample.point(),
            found,
            shapes_differ: self.shapes_differ,
        }
    }
}

/// What is said of the first of a pair.
pub(super) fn verdict(decision: Option<Decision>) -> Verdict {
    match decision {
        Some(Decision::Less) => Verdict::Faster,
        Some(Decision::More) => Verdict::Slower,
        Some(Decision::Same) => Verdict::Same,
        None => Verdict::Undecided,
    }
}

/// Contenders with a value in every block that counts, where these are few: their spread goes
/// together.
pub(super) struct Pool {
    /// Of each class its contenders, the spread of each, and the number of blocks.
    classes: Vec<(Vec<usize>, Vec<Spread>, usize)>,
}

impl Pool {
    pub(super) fn new(points: &Points, counts: &dyn Fn(u32) -> bool) -> Self {
        let counted = || points.all.iter().filter(|point| counts(point.block));
        let mut blocks: Vec<u32> = counted().map(|point| point.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let mut classes = Vec::new();
        if !(POOLED_FROM..POOLED_BELOW).contains(&blocks.len()) {
            return Self { classes };
        }
        let mut kinds: Vec<Class> = counted().map(|point| point.class).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for class in kinds {
            let mut logs: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
            for point in counted().filter(|point| point.class == class) {
                logs.entry(point.contender).or_default().push(point.value.ln());
            }
            logs.retain(|_, own| own.len() == blocks.len());
            let members: Vec<usize> = logs.keys().copied().collect();
            let rows: Vec<Vec<f64>> =
                (0..blocks.len()).map(|row| logs.values().map(|own| own[row]).collect()).collect();
            if let Some(spreads) = contender_spreads(&rows) {
                classes.push((members, spreads, blocks.len()));
            }
        }
        Self { classes }
    }

    fn spread(&self, a: usize, b: usize, n: usize) -> Option<Spread> {
        self.classes.iter().find_map(|(members, spreads, blocks)| {
            let place = |contender: usize| members.binary_search(&contender).ok();
            let (a, b) = (place(a)?, place(b)?);
            (*blocks == n).then(|| spread_of_difference(spreads[a], spreads[b]))
        })
    }
}
