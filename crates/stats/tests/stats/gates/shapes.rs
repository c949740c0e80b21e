//! How often shapes are called different that are not, and that are.

use super::noise::{Draw, Noise};
use super::rate::Rate;
use fsarena_stats::shapes_differ;

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
