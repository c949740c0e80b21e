//! Gates: how often the shipped rule is wrong, on simulated RUNs of which the truth is known.
//!
//! Every gate is seeded, so its figures are the same each time; `-- --nocapture` prints them. The
//! noises are those of the method's own tables. A gate that fails says that a change to the rule
//! made it dishonest: change the rule, not the gate.
//!
//! Here: how often an interval holds the truth, next to the figures of the method's table, and how
//! often shapes are called different that are not, and that are.
#![allow(clippy::unwrap_used, reason = "a gate may fail by it")]

mod families;
mod noise;
mod rate;
mod rule;
mod sequential;

use fsarena_stats::{Interval, PairSample, hodges_lehmann, mean_t, shapes_differ};
use noise::{Draw, Noise};
use rate::Rate;

const SAMPLES: usize = 20_000;

/// Coverage of a nominal 95 %: t at n = 3, 5, 8, 12 and signed ranks at n = 8, 12, found by numpy
/// and scipy (4,000 samples a cell).
const WANTED: [(Noise, [f64; 4], [f64; 2]); 5] = [
    (Noise::Normal, [94.9, 95.5, 95.3, 94.9], [96.2, 95.7]),
    (Noise::HeavyTails, [96.1, 96.1, 95.7, 95.7], [96.0, 95.5]),
    (Noise::Bimodal, [97.3, 97.0, 95.1, 95.3], [95.5, 96.1]),
    (Noise::Spikes, [96.8, 97.2, 97.3, 98.0], [96.3, 96.0]),
    (Noise::Wandering, [94.7, 94.7, 95.2, 95.0], [96.1, 95.7]),
];

/// How often the interval that `low_high` makes of the differences of `n` blocks holds 0.
fn holds_zero(noise: Noise, n: usize, low_high: impl Fn(&[f64]) -> (f64, f64)) -> Rate {
    let mut draw = Draw::seeded(n as u64);
    Rate::count((0..SAMPLES).map(|_| {
        let rows = noise.blocks(&mut draw, n, &[0.03; 2], &[0.0; 2]);
        let logs: Vec<f64> = rows.iter().map(|row| row[0] - row[1]).collect();
        let (low, high) = low_high(&logs);
        low <= 0.0 && 0.0 <= high
    }))
}

fn ends(interval: Option<Interval>) -> (f64, f64) {
    let interval = interval.expect("enough values for 95 %");
    (interval.low, interval.high)
}

/// The intervals that verdicts are made of: t below twelve blocks, signed ranks from there on.
#[test]
fn the_rule_s_interval_holds_as_often_as_the_table_says() {
    for (noise, t, ranks) in WANTED {
        for (n, wanted) in [(3, t[0]), (5, t[1]), (8, t[2]), (12, ranks[1])] {
            let own = |logs: &[f64]| {
                ends(PairSample { logs, floor_sd: 0.0, pooled: None }.interval(0.05))
            };
            holds_zero(noise, n, own).near(wanted, 1.0, &format!("{noise:?}, the rule's at {n}"));
        }
    }
}

/// The same functions where the rule uses the other one.
#[test]
fn the_other_interval_does_too() {
    for (noise, t, ranks) in WANTED {
        let mean = |logs: &[f64]| ends(mean_t(logs, 0.05).unwrap().bounds.attained());
        holds_zero(noise, 12, mean).near(t[3], 1.0, &format!("{noise:?}, t at 12"));
        let ranked = |logs: &[f64]| ends(hodges_lehmann(logs, 0.05).unwrap().bounds.attained());
        holds_zero(noise, 8, ranked).near(ranks[0], 1.0, &format!("{noise:?}, signed ranks at 8"));
    }
}

const PAIRS: usize = 5_000;

fn differ(n: usize, a: Noise, b: Noise, sigmas: (f64, f64)) -> Rate {
    let mut draw = Draw::seeded(n as u64);
    Rate::count((0..PAIRS).map(|_| {
        let a = a.tape(&mut draw, n, sigmas.0);
        shapes_differ(&a, &b.tape(&mut draw, n, sigmas.1))
    }))
}

/// The table holds: each of the two checks is wrong in 1 % of pairs of normal samples.
#[test]
fn equal_shapes_are_called_different_as_often_as_the_table_says() {
    for n in [6, 7, 8, 12, 16, 24, 32] {
        let rate = differ(n, Noise::Normal, Noise::Normal, (0.03, 0.03));
        rate.show(&format!("shapes of {n} normal values"));
        assert!(rate.percent() > 1.0 && rate.percent() < 2.5, "{n}: {rate}");
    }
}

/// Noise of any kind against itself mostly passes; else SAME would be out of reach.
#[test]
fn a_noise_has_its_own_shape() {
    for noise in Noise::ALL {
        for n in [6, 8, 12, 16, 24, 32] {
            let rate = differ(n, noise, noise, (0.03, 0.03));
            rate.at_most(40.0, &format!("shapes of {n} values, {noise:?} against itself"));
        }
    }
}

/// One that stalls or wanders against one that is steady: found once there are blocks enough.
#[test]
fn another_noise_is_another_shape() {
    let cases = [
        (Noise::Normal, 0.01, 32, 80.0),
        (Noise::Bimodal, 0.01, 32, 80.0),
        (Noise::Wandering, 0.01, 24, 80.0),
        (Noise::TwoPoint, 0.01, 12, 95.0),
    ];
    for (noise, other, n, least) in cases {
        let rate = differ(n, noise, Noise::Normal, (0.03, other));
        let what = format!("shapes of {n} values, {noise:?} against a third of the noise");
        rate.show(&what);
        assert!(rate.percent() >= least, "{what}: {rate}, at least {least} % expected");
    }
}
