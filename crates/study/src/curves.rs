//! Latency distributions: all ops of all trials of a contender together.

use crate::contenders::{Contenders, with_right_contents};
use crate::ledger::merge;
use crate::phases::{MemoryView, groups};
use fsarena_model::contender::Contender;
use fsarena_model::record::{CacheState, PhaseRecord, TrialRecord};
use fsarena_model::run::RunPlan;
use fsarena_model::sample::LatencyHistogram;
use serde::Serialize;

/// Most points of a curve.
pub const CURVE_POINTS_MAX: usize = 120;
/// The lower half of a curve has a point each 2 %.
const LOWER_STEPS: u32 = 25;
/// The upper half has ten points for each power of ten of the rest.
const UPPER_STEPS_PER_DECADE: i32 = 10;

/// The latency distributions of one phase of one workload.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhaseCurves {
    pub workload: String,
    pub phase: String,
    /// Whether it is of the writes alone, where reads and writes are mixed.
    pub writes_alone: bool,
    /// One a contender and state of the cache that has latencies.
    pub curves: Vec<LatencyCurve>,
}

/// A latency distribution.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct LatencyCurve {
    pub contender: usize,
    /// Its label; with a word more where some of its trials lacked the memory limit asked for.
    pub label: String,
    /// State of the cache.
    pub cache: CacheState,
    /// Ops behind it.
    pub ops: u64,
    /// Share of ops (0 to below 1) and the latency that they did not exceed, ns; at most 120
    /// points, up to the share that so many ops can tell (1 − 1 ÷ ops), both ascending. The first
    /// is share 0 and the shortest op; a single op has no more.
    pub points: Vec<(f64, u64)>,
    /// The longest op, exact.
    pub max_ns: u64,
}

/// The latency distributions of a plan, in its order; phases without one are left out. Of complete
/// phases in trials with right contents.
#[must_use]
pub fn curves(plan: &RunPlan, records: &[TrialRecord]) -> Vec<PhaseCurves> {
    let contenders = Contenders::new(plan);
    let mut all = Vec::new();
    for workload in &plan.workloads {
        let of_work = with_right_contents(records, &workload.name);
        let own = contenders.split(&of_work);
        for phase in workload.phases.iter().filter(|phase| phase.timed) {
            let of = |writes_alone: bool| {
                let of: Of = match writes_alone {
                    true => |phase| phase.write_latency.as_ref(),
                    false => |phase| phase.latency.as_ref(),
                };
                let pairs = plan.contenders.iter().zip(&own).enumerate();
                PhaseCurves {
                    workload: workload.name.clone(),
                    phase: phase.name.clone(),
                    writes_alone,
                    curves: pairs
                        .flat_map(|(index, (contender, own))| {
                            of_contender(index, contender, own, &phase.name, of)
                        })
                        .collect(),
                }
            };
            all.extend([of(false), of(true)].into_iter().filter(|one| !one.curves.is_empty()));
        }
    }
    all
}

type Of = fn(&PhaseRecord) -> Option<&LatencyHistogram>;

/// The curves of a contender, cold first.
fn of_contender(
    index: usize,
    contender: &Contender,
    own: &[&TrialRecord],
    phase: &str,
    of: Of,
) -> Vec<LatencyCurve> {
    let mut curves = Vec::new();
    for ((_, _, memory), pairs) in groups(own, phase) {
        let phases = pairs.iter().filter_map(|(record, at)| record.phases.get(*at));
        let Some(cache) = phases.clone().map(|found| found.cache.state).next() else { continue };
        let histograms: Vec<&LatencyHistogram> = phases.filter_map(of).collect();
        let Some(merged) = merge(&histograms) else { continue };
        let not_limited = matches!(memory, MemoryView::NotLimited { .. });
        let more = if not_limited { " (memory not limited)" } else { "" };
        curves.push(LatencyCurve {
            contender: index,
            label: format!("{}{more}", contender.label),
            cache,
            ops: merged.count(),
            points: points(&merged),
            max_ns: merged.max_ns,
        });
    }
    curves
}

fn points(merged: &LatencyHistogram) -> Vec<(f64, u64)> {
    let ops = merged.count();
    let shares = shares(ops);
    // The last share of so many ops is all but one: rounding must not make it all of them.
    let safe = |share: f64| share.min(1.0 - 1.25 / ops as f64);
    let beyond = merged.quantiles_ns(shares.iter().skip(1).copied().map(safe));
    shares.iter().copied().zip(std::iter::once(merged.min_ns).chain(beyond)).collect()
}

/// The shares that are told of `ops` ops, ascending: even steps up to a half, then even steps of
/// the logarithm of the rest, and at last 1 − 1 ÷ ops.
fn shares(ops: u64) -> Vec<f64> {
    let last = 1.0 - 1.0 / ops.clamp(1, 1 << 52) as f64;
    let lower = (0..LOWER_STEPS).map(|step| 0.5 * f64::from(step) / f64::from(LOWER_STEPS));
    let rest = |step: i32| 0.5 * 10f64.powf(-f64::from(step) / f64::from(UPPER_STEPS_PER_DECADE));
    let upper = (0..i32::MAX).map(|step| 1.0 - rest(step)).take_while(|share| *share < last);
    let room = CURVE_POINTS_MAX - 1;
    let mut shares: Vec<f64> = lower.chain(upper).take_while(|s| *s < last).take(room).collect();
    shares.push(last);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_ops_tell_few_shares() {
        assert_eq!(shares(1), [0.0]);
        assert_eq!(shares(2).last(), Some(&0.5));
        assert!(shares(10).iter().all(|share| *share <= 0.9));
        let two = LatencyHistogram {
            precision_bits: 6,
            buckets: vec![(10, 1), (4096, 1)],
            min_ns: 10,
            max_ns: 4100,
            sum_ns: 4110,
        };
        let told = points(&two);
        assert_eq!((told[0], told[told.len() - 1]), ((0.0, 10), (0.5, 10)));
        let one = LatencyHistogram { buckets: vec![(4096, 1)], min_ns: 4100, ..two };
        assert_eq!(points(&one), [(0.0, 4100)]);
    }

    proptest! {
        #[test]
        fn the_last_share_is_all_ops_but_one(ops in 2u64..100_000) {
            let outlier = LatencyHistogram {
                precision_bits: 6,
                buckets: vec![(10, ops - 1), (4096, 1)],
                min_ns: 10,
                max_ns: 4100,
                sum_ns: 0,
            };
            prop_assert!(points(&outlier).iter().all(|point| point.1 == 10));
        }

        #[test]
        fn shares_ascend_and_are_few(ops in 1u64..) {
            let shares = shares(ops);
            prop_assert!(shares.len() <= CURVE_POINTS_MAX);
            prop_assert!(shares[0].abs() < 1e-12);
            prop_assert!(shares.windows(2).all(|two| two[0] < two[1]), "{shares:?}");
            prop_assert!(shares.iter().all(|s| *s < 1.0 && *s <= 1.0 - 1.0 / ops as f64));
        }
    }
}
