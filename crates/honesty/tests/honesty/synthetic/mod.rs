//! Tapes of known noise: 4,000 trials of one second around 10 s of machine time.

use fsarena_honesty::{LeftOut, Tape};
use fsarena_model::run::Clock;
use fsarena_model::seed::{Seed, SeededRng};
use fsarena_model::verdict::Metric;
use std::f64::consts::TAU;

/// Spread of a run, as in the tables of the method: 3 %.
pub const SIGMA: f64 = 0.03;
/// Trials of a tape.
pub const TRIALS: usize = 4000;
const MACHINE_S: f64 = 10.0;

/// A tape of these log values.
pub fn tape_of(phase: &str, logs: &[f64]) -> Tape {
    let trials = logs.len();
    Tape {
        source: "synthetic".to_owned(),
        workload: "noise".to_owned(),
        phase: phase.to_owned(),
        metric: Metric::Time,
        clock: Clock::Durable,
        values: logs.iter().map(|log| 1e9 * log.exp()).collect(),
        elapsed_s: vec![MACHINE_S; trials],
        started_unix_ns: (0..trials as u64).map(|at| at * 11_000_000_000).collect(),
        left: LeftOut::default(),
    }
}

/// Independent normal noise.
pub fn white() -> Tape {
    let mut rng = rng("white");
    let logs: Vec<f64> = (0..TRIALS).map(|_| SIGMA * normal(&mut rng)).collect();
    tape_of("white", &logs)
}

/// AR(1) drift with coefficient 0.9 and twice the spread, next to half of it that is white.
pub fn drift() -> Tape {
    let mut rng = rng("drift");
    let (keep, step) = (0.9, 2.0 * SIGMA * (1.0f64 - 0.9 * 0.9).sqrt());
    let mut level = 2.0 * SIGMA * normal(&mut rng);
    let logs: Vec<f64> = (0..TRIALS)
        .map(|_| {
            level = keep * level + step * normal(&mut rng);
            level + 0.5 * SIGMA * normal(&mut rng)
        })
        .collect();
    tape_of("drift", &logs)
}

/// Sessions of ten trials with a level of their own (2 %), next to white noise.
pub fn sessions() -> Tape {
    let mut rng = rng("sessions");
    let mut level = 0.0;
    let logs: Vec<f64> = (0..TRIALS)
        .map(|at| {
            if at % 10 == 0 {
                level = 0.02 * normal(&mut rng);
            }
            level + SIGMA * normal(&mut rng)
        })
        .collect();
    tape_of("sessions", &logs)
}

/// Half the spread, and in 8 % of the trials a stall, exponential with a mean of six times it.
pub fn spikes() -> Tape {
    let mut rng = rng("spikes");
    let logs: Vec<f64> = (0..TRIALS)
        .map(|_| {
            let stall = if uniform(&mut rng) < 0.08 { -uniform(&mut rng).ln() } else { 0.0 };
            0.5 * SIGMA * normal(&mut rng) + 6.0 * SIGMA * stall
        })
        .collect();
    tape_of("spikes", &logs)
}

fn rng(label: &str) -> SeededRng {
    Seed::from_number(5).child(label, 0).rng()
}

/// In (0, 1].
fn uniform(rng: &mut SeededRng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// G. Box and M. Muller, "A note on the generation of random normal deviates", Ann. Math. Stat. 29
/// (1958).
fn normal(rng: &mut SeededRng) -> f64 {
    let (length, angle) = (uniform(rng), uniform(rng));
    (-2.0 * length.ln()).sqrt() * (TAU * angle).cos()
}
