//! Tapes made by hand for tests: noise of known shape and size around levels that differ.

use super::tape::{FamilyTape, TapePhase, TapeTrial};
use crate::tape::LeftOut;
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::seed::Seed;
use fsarena_testkit::records;

/// Deviates of mean 0 and variance 1.
pub(super) struct Normal(fsarena_model::seed::SeededRng);

impl Normal {
    pub(super) fn new(seed: u64) -> Self {
        Self(Seed::from_number(seed).rng())
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub(super) fn next(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Student's t with two degrees of freedom: its variance is infinite.
    pub(super) fn heavy(&mut self) -> f64 {
        let (one, other) = (self.next(), self.next());
        self.next() / ((one * one + other * other) / 2.0).sqrt()
    }
}

/// A tape of `blocks` blocks of these contenders and the first `phases` phases of small files;
/// `value` gives the logarithm of a phase's length in ns by phase, contender and block.
pub(super) fn tape(
    contenders: &[&str],
    phases: usize,
    blocks: usize,
    mut value: impl FnMut(usize, usize, usize) -> f64,
) -> FamilyTape {
    let label = |label: &&str| records::contender(label, label, 1);
    let mut work = records::small_files();
    work.phases.truncate(phases);
    let header = records::header(contenders.iter().map(label).collect(), vec![work], 1);
    let plan = RunPlan { schedule: Vec::new(), ..header.plan };
    let trials = (0..blocks * contenders.len()).map(|at| TapeTrial {
        sequence: at as u32,
        block: at / contenders.len(),
        contender: at % contenders.len(),
        workload: 0,
        started_unix_ns: at as u64 * 2_000_000_000,
        elapsed_s: 2.0,
    });
    FamilyTape {
        source: "RUN 1".to_owned(),
        contenders: contenders.iter().map(|label| (*label).to_owned()).collect(),
        phases: plan.workloads[0]
            .phases
            .iter()
            .map(|phase| TapePhase::named("small-files", &phase.name))
            .collect(),
        phases_left_out: Vec::new(),
        clock: Clock::Durable,
        blocks: (0..blocks as u32).collect(),
        left: LeftOut::default(),
        logs: (0..phases)
            .map(|phase| {
                let series = |contender| (0..blocks).map(|b| value(phase, contender, b)).collect();
                (0..contenders.len()).map(series).collect()
            })
            .collect(),
        trials: trials.collect(),
        plan,
    }
}
