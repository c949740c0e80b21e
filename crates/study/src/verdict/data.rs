//! The numbers of a pair at a look: its log ratios, the spread that others lend it, and whether the
//! two spread in different shapes.

use super::judge::{Pair, Seen};
use super::points::{Class, Points};
use super::view::Estimator;
use fsarena_model::verdict::{Question, Verdict};
use fsarena_stats::blocks::moderated;
use fsarena_stats::family::{Decision, Found, LookAt};
use fsarena_stats::paired::{self, PairSample, Spread};
use fsarena_stats::shape::shapes_differ;
use std::collections::BTreeMap;

/// Below this many blocks the spread of all contenders goes into that of a pair.
const POOLED_BELOW: usize = 6;

/// The numbers of a pair at a look.
pub(super) struct Data {
    pub(super) logs: Vec<f64>,
    floor_sd: f64,
    pooled: Option<Spread>,
    shapes_differ: bool,
    /// With fewer values there is no interval.
    least: usize,
}

impl Data {
    pub(super) fn of(
        question: &Question,
        points: &Points,
        pair: &Pair,
        pool: &Pool,
        counts: &dyn Fn(u32) -> bool,
    ) -> Self {
        let logs = points.log_ratios(pair.a, pair.b, counts);
        let values = |contender: usize| -> Vec<f64> {
            let own = points.of(contender).filter(|point| counts(point.block));
            own.map(|point| point.value.ln()).collect()
        };
        let (a, b) = (values(pair.a), values(pair.b));
        Self {
            floor_sd: paired::floor_sd(&a, &b, |value| question.metric.step(value)),
            pooled: pool.spread(pair, logs.len()),
            shapes_differ: shapes_differ(&a, &b),
            logs,
            least: 2,
        }
    }

    /// With fewer values than `least` there is no interval.
    pub(super) fn with_least(self, least: usize) -> Self {
        Self { least, ..self }
    }

    fn sample(&self) -> PairSample<'_> {
        PairSample { logs: &self.logs, floor_sd: self.floor_sd, pooled: self.pooled }
    }

    pub(super) fn look_at(&self) -> LookAt<'_> {
        let mut sample = self.sample();
        if self.logs.len() < self.least {
            sample.logs = &[];
        }
        LookAt { sample, same_allowed: !self.shapes_differ }
    }

    pub(super) fn seen(&self, blocks: u32, ended: u32, found: Found) -> Seen {
        let sample = self.sample();
        Seen {
            blocks,
            ended,
            n: self.logs.len(),
            verdict: match found.decision {
                Some(Decision::Less) => Verdict::Faster,
                Some(Decision::More) => Verdict::Slower,
                Some(Decision::Same) => Verdict::Same,
                None => Verdict::Undecided,
            },
            estimator: match sample.estimator() {
                paired::Estimator::Mean => Estimator::Mean,
                paired::Estimator::MeanPooled => Estimator::MeanPooled,
                paired::Estimator::HodgesLehmann => Estimator::HodgesLehmann,
            },
            point: sample.point(),
            sd: sample.sd(),
            found,
            shapes_differ: self.shapes_differ,
        }
    }
}

/// Contenders with a value in every block that counts, where these are few: their spread goes
/// together.
pub(super) struct Pool {
    classes: Vec<(Class, Vec<usize>, Vec<Vec<f64>>)>,
}

impl Pool {
    pub(super) fn of(points: &Points, counts: &dyn Fn(u32) -> bool) -> Self {
        let counted = || points.all.iter().filter(|point| counts(point.block));
        let mut blocks: Vec<u32> = counted().map(|point| point.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let mut classes = Vec::new();
        if blocks.len() >= POOLED_BELOW {
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
            let rows = (0..blocks.len()).map(|row| logs.values().map(|own| own[row]).collect());
            classes.push((class, members, rows.collect()));
        }
        Self { classes }
    }

    fn spread(&self, pair: &Pair, n: usize) -> Option<Spread> {
        self.classes.iter().find_map(|(_, members, rows)| {
            let place = |contender: usize| members.binary_search(&contender).ok();
            let (a, b) = (place(pair.a)?, place(pair.b)?);
            if rows.len() == n { moderated(rows, a, b) } else { None }
        })
    }
}
