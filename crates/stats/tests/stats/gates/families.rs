//! Many contenders, every pair asked: how often any verdict of a whole family is wrong.

use super::noise::{Draw, Noise};
use super::rate::Rate;
use super::rule::{against_first, all_pairs, is_difference, once, schedule, verdicts};
use fsarena_stats::{Decision, Family, Level, LookInput, PairSample};

const TAPES: usize = 2_000;
const MARGIN: f64 = 0.02;

/// Of `TAPES` families: those with a false difference or a wrong sign, and those with a false SAME.
fn wrong(
    seed: u64,
    noise: Noise,
    sigmas: &[f64],
    effects: &[f64],
    looks: &[(usize, Level)],
) -> (Rate, Rate) {
    let mut draw = Draw::seeded(seed);
    let margin = MARGIN.ln_1p();
    let blocks = looks.last().unwrap().0;
    let families: Vec<(bool, bool)> = (0..TAPES)
        .map(|_| {
            let rows = noise.blocks(&mut draw, blocks, sigmas, effects);
            let said = verdicts(&rows, &all_pairs(effects.len()), looks, MARGIN);
            let truths = all_pairs(effects.len()).into_iter().map(|(a, b)| effects[a] - effects[b]);
            let both: Vec<_> = truths.zip(said).collect();
            let differs = both.iter().any(|&(truth, said)| match said {
                Some(Decision::More) => truth <= 0.0,
                Some(Decision::Less) => truth >= 0.0,
                _ => false,
            });
            let is_same = |&(truth, said): &(f64, _)| {
                said == Some(Decision::Same) && truth.abs() >= margin - 1e-12
            };
            (differs, both.iter().any(is_same))
        })
        .collect();
    let differences = Rate::count(families.iter().map(|family| family.0));
    (differences, Rate::count(families.iter().map(|family| family.1)))
}

/// Contenders that are all the same: `tapes` families of them, every one of `pairs` asked.
fn equals(
    tapes: usize,
    noise: Noise,
    sigmas: &[f64],
    pairs: &[(usize, usize)],
    looks: &[(usize, Level)],
) -> Rate {
    let mut draw = Draw::seeded(sigmas.len() as u64);
    let (effects, blocks) = (vec![0.0; sigmas.len()], looks[looks.len() - 1].0);
    Rate::count((0..tapes).map(|_| {
        let rows = noise.blocks(&mut draw, blocks, sigmas, &effects);
        verdicts(&rows, pairs, looks, MARGIN).into_iter().any(is_difference)
    }))
}

/// All pairs, all looks; the more contenders, the longer one takes.
#[test]
fn all_equal() {
    for (contenders, tapes) in [(3, 6_000), (4, 4_000), (6, 2_000), (8, 1_200)] {
        for noise in [Noise::Normal, Noise::Spikes, Noise::TwoPoint] {
            let (sigmas, pairs) = (vec![0.03; contenders], all_pairs(contenders));
            let rate = equals(tapes, noise, &sigmas, &pairs, &schedule(32, None));
            let what = format!("{noise:?}, {contenders} contenders, families with a false verdict");
            rate.at_most(5.0, &what);
        }
    }
}

/// A baseline without noise makes the pairs independent: the worst that a family can be.
#[test]
fn all_equal_to_a_quiet_baseline() {
    for (contenders, tapes) in [(4, 6_000), (8, 4_000)] {
        let mut sigmas = vec![0.03; contenders];
        sigmas[0] = 0.0001;
        let pairs = against_first(contenders);
        let rate = equals(tapes, Noise::Normal, &sigmas, &pairs, &schedule(32, None));
        let what =
            format!("{contenders} contenders, quiet baseline, families with a false verdict");
        rate.at_most(5.0, &what);
    }
}

/// Few blocks and one look, where quiet contenders lean on the spread of all. Some contenders are
/// noisier than the others, also the baseline that all are compared with.
#[test]
fn all_equal_but_for_their_noise() {
    let mixed = [0.01, 0.01, 0.01, 0.01, 0.03, 0.03, 0.05, 0.05];
    let noisy = |contenders: usize, times: f64| {
        let mut sigmas = vec![0.01; contenders];
        sigmas[0] *= times;
        sigmas
    };
    let cases = [
        (vec![0.03; 4], all_pairs(4)),
        (vec![0.03; 8], all_pairs(8)),
        (mixed.to_vec(), all_pairs(8)),
        (vec![0.01, 0.01, 0.03, 0.05], all_pairs(4)),
        (noisy(4, 10.0), all_pairs(4)),
        (noisy(4, 3.0), against_first(4)),
        (noisy(6, 3.0), against_first(6)),
        (noisy(6, 5.0), against_first(6)),
        (noisy(8, 5.0), against_first(8)),
    ];
    for (sigmas, pairs) in cases {
        for blocks in [3, 4, 6, 9, 11] {
            let rate = equals(12_000, Noise::Normal, &sigmas, &pairs, &once(blocks));
            let count = pairs.len();
            let what = format!("{blocks} blocks, sigmas {sigmas:?}, {count} pairs, false verdicts");
            rate.at_most(5.0, &what);
        }
    }
}

/// The same through all looks.
#[test]
fn unequal_noise_through_all_looks() {
    let mixed = [0.01, 0.01, 0.01, 0.01, 0.03, 0.03, 0.05, 0.05];
    let cases = [
        (2_000, &mixed[..], all_pairs(8)),
        (6_000, &[0.03, 0.01, 0.01, 0.01], against_first(4)),
        (6_000, &[0.10, 0.01, 0.01, 0.01], all_pairs(4)),
    ];
    for (tapes, sigmas, pairs) in cases {
        let rate = equals(tapes, Noise::Normal, sigmas, &pairs, &schedule(32, None));
        rate.at_most(5.0, &format!("sigmas {sigmas:?}, all looks, families with a false verdict"));
    }
}

/// Two tiers apart and two contenders in one: Holm spends what the true ones free on the rest.
#[test]
fn some_equal_some_not() {
    let effects = [0.0, 0.0, 0.05, 0.15].map(f64::ln_1p);
    for noise in [Noise::Normal, Noise::Spikes, Noise::TwoPoint] {
        let (differences, sames) = wrong(23, noise, &[0.03; 4], &effects, &schedule(32, None));
        differences.at_most(5.0, &format!("{noise:?}, mixed truth, families with a false verdict"));
        sames.at_most(5.0, &format!("{noise:?}, mixed truth, families with a false SAME"));
    }
}

/// Neighbours exactly the margin apart: no SAME is true.
#[test]
fn all_the_margin_apart() {
    let effects: Vec<f64> = (0..4).map(|step| f64::from(step) * MARGIN.ln_1p()).collect();
    let (differences, sames) = wrong(29, Noise::Normal, &[0.01; 4], &effects, &schedule(32, None));
    differences.at_most(5.0, "a ladder of margins, families with a wrong sign");
    sames.at_most(5.0, "a ladder of margins, families with a false SAME");
}

/// The many must not make the one useless: most of a 30 % difference is found among eight.
#[test]
fn what_is_there_is_found_among_many() {
    let mut draw = Draw::seeded(31);
    let effects = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3f64.ln_1p()];
    let found = Rate::count((0..200).map(|_| {
        let rows = Noise::Normal.blocks(&mut draw, 8, &[0.03; 8], &effects);
        let said = verdicts(&rows, &all_pairs(8), &schedule(8, None), MARGIN);
        let mut with_last = all_pairs(8).into_iter().zip(said).filter(|((_, b), _)| *b == 7);
        with_last.all(|(_, said)| is_difference(said))
    }));
    found.show("one of eight 30 % slower, found against all others");
    assert!(found.percent() >= 95.0, "{found}");
}

/// Pairs that have nothing in common, which is the worst that so many can be: each with noise of
/// its own, and its own spread.
fn independent(pairs: usize, tapes: usize, looks: &[(usize, Level)]) -> Rate {
    let mut draw = Draw::seeded(pairs as u64);
    let blocks = looks[looks.len() - 1].0;
    Rate::count((0..tapes).map(|_| {
        let logs: Vec<Vec<f64>> =
            (0..pairs).map(|_| (0..blocks).map(|_| draw.normal()).collect()).collect();
        let mut family = Family { asked: pairs, differences: 0, sames: 0 };
        looks.iter().any(|&(blocks, level)| {
            let known: Vec<&[f64]> = logs.iter().map(|logs| &logs[..blocks]).collect();
            let pair = |logs| LookInput::plain(PairSample { logs, floor_sd: 0.0, pooled: None });
            let all: Vec<LookInput<'_>> = known.into_iter().map(pair).collect();
            let found = family.analyse(&all, level, 1e-9);
            found.iter().any(|one| is_difference(one.decision))
        })
    }))
}

/// The level of each pair is set anew for their number: α ÷ m at every look is too much for many.
#[test]
fn families_of_any_size_keep_the_promise() {
    for (pairs, tapes) in [(1, 40_000), (15, 8_000), (28, 6_000), (66, 4_000)] {
        for looks in [schedule(32, None), schedule(32, Some(5)), schedule(32, Some(10))] {
            let rate = independent(pairs, tapes, &looks);
            rate.at_most(5.0, &format!("{pairs} independent pairs, {} looks", looks.len()));
        }
    }
}
