//! What the harness itself costs: phases over the null backend.
//!
//! The figures are published with results and never subtracted from them. They are a bound from
//! below: between real calls caches and branch predictors are colder; `cargo xtask overhead`
//! measures the whole of it against a bare loop.

use crate::Job;
use crate::backend::null::Null;
use crate::clock::{TickClock, monotonic_cost_ns};
use crate::error::EngineError;
use crate::phase::Prepared;
use fsarena_model::cycle::{Cycle, Overrun, Shares};
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, Op, Order, Phase};

/// Cost of the harness for one op, ns; the least of several phases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HarnessCost {
    /// With the latency of every op recorded.
    pub with_latency_ns: f64,
    pub without_latency_ns: f64,
}

/// The clock that times ops here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockFacts {
    /// `tsc` or `clock_monotonic`.
    pub name: &'static str,
    /// Cost of one read, ns.
    pub cost_ns: f64,
    /// Smallest step seen, ns.
    pub precision_ns: u64,
    /// Cost of one read of `CLOCK_MONOTONIC`, ns.
    pub monotonic_cost_ns: f64,
}

/// Looks at the clocks of this machine; takes some ms.
#[must_use]
pub fn clock_facts() -> ClockFacts {
    let clock = TickClock::choose();
    ClockFacts {
        name: clock.name(),
        cost_ns: clock.cost_ns(),
        precision_ns: clock.precision_ns(),
        monotonic_cost_ns: monotonic_cost_ns(),
    }
}

/// Cost of one op of `op` over `dataset` in calls of `bs_bytes`, without any system call.
///
/// # Errors
/// When the phase cannot be prepared.
pub fn harness_cost(
    dataset: &Dataset,
    op: Op,
    order: Order,
    bs_bytes: u64,
) -> Result<HarnessCost, EngineError> {
    Ok(HarnessCost {
        with_latency_ns: op_ns(dataset, op, order, bs_bytes, true)?,
        without_latency_ns: op_ns(dataset, op, order, bs_bytes, false)?,
    })
}

fn op_ns(
    dataset: &Dataset,
    op: Op,
    order: Order,
    bs_bytes: u64,
    latency: bool,
) -> Result<f64, EngineError> {
    let cycle = (op == Op::Cycle).then(|| one_cycle(dataset));
    let phase = Phase { order, cycle, ..Phase::new("calibrate", op, bs_bytes) };
    let seed = Seed::from_number(0);
    let mut least = f64::INFINITY;
    for _ in 0..5 {
        let job = Job { latency, ..Job::new(dataset, &phase, seed, seed) };
        let report = Prepared::new(&job)?.run(&Null);
        // A cycle is started by another thread: that is no part of its ops.
        let cycle = report.cycles.as_ref().and_then(|cycles| cycles.cycles.first());
        let elapsed_ns = match cycle {
            Some(cycle) => cycle.returned_ns - cycle.started_ns,
            None => report.returned_monotonic_ns - report.start_monotonic_ns,
        };
        least = least.min(elapsed_ns as f64 / report.ops.max(1) as f64);
    }
    Ok(least)
}

/// One cycle that takes every file, in equal shares.
fn one_cycle(dataset: &Dataset) -> Cycle {
    Cycle {
        cycles: 1,
        period_ns: 1,
        overrun: Overrun::Queue,
        updates: dataset.files,
        shares: Shares { in_place: 1, truncate: 1, replace: 1, recreate: 1, temporary: 1 },
        disturb: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_has_a_cost() {
        let dataset = Dataset::uniform(500, 5000, 3);
        for op in Op::ALL {
            for order in [Order::Sequential, Order::Random] {
                let cost = harness_cost(&dataset, op, order, 4096).unwrap();
                assert!(cost.with_latency_ns > 0.0 && cost.without_latency_ns > 0.0, "{op:?}");
            }
        }
        assert!(clock_facts().cost_ns > 0.0);
    }
}
