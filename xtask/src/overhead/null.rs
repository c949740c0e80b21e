//! No calls at all: what the engine itself costs, with and without latencies.
//!
//! Judged are the ops of small files that are compared with bare loops, in order of creation and at
//! random. The other ops are shown: those of big files stamp and copy a MiB each, and directories
//! have names of many parts.

use super::options::{JUDGED_FILES, MIB, Options, Section, Verdict};
use super::small::{BLOCK_BYTES, DIRS, FILE_BYTES, OPS};
use anyhow::Result;
use fsarena_engine::calibrate::{HarnessCost, clock_facts, harness_cost};
use fsarena_model::work::{Dataset, Op, Order};

pub(super) const SECTION: Section = Section { name: "null", judged, run };

/// Smallest rate of a thread without latencies.
const OPS_PER_SECOND: f64 = 20e6;
/// Most that a latency may add to an op.
const ADDED_NS: f64 = 60.0;
/// The least of so many tries counts: whatever disturbs, it only adds.
const TRIES: u32 = 5;

fn judged(options: &Options) -> bool {
    options.files >= JUDGED_FILES
}

fn run(options: &Options) -> Result<Verdict> {
    let clock = clock_facts();
    println!(
        "clock {}: {:.1} ns a read, smallest step {} ns; CLOCK_MONOTONIC {:.1} ns a read",
        clock.name, clock.cost_ns, clock.precision_ns, clock.monotonic_cost_ns
    );
    println!(
        "one thread over {} files of {FILE_BYTES} B (one of 64 MiB for ops in big files)\n  \
         {:13} {:6} {:>11} {:>9} {:>14} {:>8}",
        options.files, "op", "order", "without ns", "Mop/s", "with latencies", "adds ns"
    );
    let small = Dataset::uniform(options.files, FILE_BYTES, DIRS);
    let big = Dataset::uniform(1, 64 * MIB, 0);
    let tries = if options.smoke { 1 } else { TRIES };
    let mut verdict = Verdict::default();
    for op in Op::ALL {
        let judged = OPS.iter().any(|(judged, _)| *judged == op);
        for order in [Order::Sequential, Order::Random] {
            let at_random = order == Order::Random;
            if at_random && op.is_big() {
                continue;
            }
            let (dataset, bs_bytes) = match op {
                Op::BigWrite | Op::BigRead | Op::BigOverwrite => (&big, MIB),
                _ if op.is_random() => (&big, BLOCK_BYTES),
                _ => (&small, BLOCK_BYTES),
            };
            let cost = least(tries, || Ok(harness_cost(dataset, op, order, bs_bytes)?))?;
            let missed = missed(cost);
            let words = match (judged, missed) {
                (false, _) => "",
                (true, None) => "meets both",
                (true, Some(missed)) => missed,
            };
            let order = if at_random { "random" } else { "" };
            println!(
                "  {:13} {order:6} {:11.1} {:9.2} {:14.1} {:8.1}  {words}",
                op.name(),
                cost.without_latency_ns,
                1e3 / cost.without_latency_ns,
                cost.with_latency_ns,
                cost.with_latency_ns - cost.without_latency_ns,
            );
            if let (true, Some(missed)) = (judged, missed) {
                verdict.missed.push(format!("{} {order} {missed}", op.name()));
            }
        }
    }
    Ok(verdict)
}

/// The least cost of several tries.
fn least(tries: u32, mut cost: impl FnMut() -> Result<HarnessCost>) -> Result<HarnessCost> {
    let mut least = cost()?;
    for _ in 1..tries {
        let next = cost()?;
        least.with_latency_ns = least.with_latency_ns.min(next.with_latency_ns);
        least.without_latency_ns = least.without_latency_ns.min(next.without_latency_ns);
    }
    Ok(least)
}

/// Which figure `cost` misses.
fn missed(cost: HarnessCost) -> Option<&'static str> {
    let slow = 1e9 / cost.without_latency_ns < OPS_PER_SECOND;
    let dear = cost.with_latency_ns - cost.without_latency_ns > ADDED_NS;
    match (slow, dear) {
        (false, false) => None,
        (true, false) => Some("MISSES 20 Mop/s"),
        (false, true) => Some("MISSES 60 ns added"),
        (true, true) => Some("MISSES 20 Mop/s and 60 ns added"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(without_latency_ns: f64, with_latency_ns: f64) -> HarnessCost {
        HarnessCost { with_latency_ns, without_latency_ns }
    }

    #[test]
    fn both_figures_are_looked_at() {
        assert_eq!(missed(cost(49.0, 108.0)), None);
        assert_eq!(missed(cost(51.0, 110.0)), Some("MISSES 20 Mop/s"));
        assert_eq!(missed(cost(10.0, 71.0)), Some("MISSES 60 ns added"));
        assert!(missed(cost(60.0, 130.0)).is_some());
    }

    #[test]
    fn the_least_of_each_counts() {
        let mut tries = [cost(9.0, 20.0), cost(8.0, 31.0), cost(10.0, 19.0)].into_iter();
        let least = least(3, || Ok(tries.next().unwrap())).unwrap();
        assert_eq!(least, cost(8.0, 19.0));
    }
}
