//! Properties of the interval of a pair and of looks at a family.

use fsarena_stats::{
    Decision, EXACT_FROM, Family, Interval, IntervalBy, LookInput, LookResult, PairSample, Spread,
};
use proptest::prelude::*;

const ALPHA: f64 = 0.05;

fn plain(logs: &[f64]) -> PairSample<'_> {
    PairSample { logs, floor_sd: 0.0, pooled: None }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * (1.0 + a.abs() + b.abs())
}

fn log_ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (a / b).ln()).collect()
}

/// Half the difference of two trials each, so that nothing is exactly 0.
fn times() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::collection::vec((0.5f64..2.0, 0.5f64..2.0), 2..40)
        .prop_map(|both| both.into_iter().unzip())
}

proptest! {
    /// a against b is minus b against a, and its ratio one divided by the other's.
    #[test]
    fn swapping_negates((a, b) in times(), floor_sd in 0.0f64..0.5) {
        let (forth, back) = (log_ratios(&a, &b), log_ratios(&b, &a));
        let forth = PairSample { floor_sd, ..plain(&forth) };
        let back = PairSample { floor_sd, ..plain(&back) };
        prop_assert!(near(forth.point().unwrap(), -back.point().unwrap()));
        let (one, other) = (forth.interval(ALPHA).unwrap(), back.interval(ALPHA).unwrap());
        prop_assert!(near(one.low, -other.high) && near(one.high, -other.low));
        prop_assert_eq!(one.level, other.level);
    }

    /// Another unit (seconds or hours) of both, or a block in which everything is slower, changes
    /// nothing.
    #[test]
    fn units_and_slow_blocks_cancel(
        (a, b) in times(), unit in 0.001f64..1000.0, slow in 1.0f64..9.0,
    ) {
        let before = log_ratios(&a, &b);
        let scaled = |values: &[f64]| -> Vec<f64> {
            let factor = |block| if block % 3 == 0 { unit * slow } else { unit };
            values.iter().enumerate().map(|(block, value)| value * factor(block)).collect()
        };
        let after = log_ratios(&scaled(&a), &scaled(&b));
        let (before, after) = (plain(&before), plain(&after));
        prop_assert!(near(before.point().unwrap(), after.point().unwrap()));
        let (one, other) = (before.interval(ALPHA).unwrap(), after.interval(ALPHA).unwrap());
        prop_assert!(near(one.low, other.low) && near(one.high, other.high));
    }

    /// Asking for more certainty never narrows an interval, also where signed ranks cannot give it.
    #[test]
    fn intervals_nest_in_alpha(
        (a, b) in times(), alpha in 1e-6f64..0.4, share in 0.001f64..1.0, floor_sd in 0.0f64..0.5,
    ) {
        let logs = log_ratios(&a, &b);
        let sample = PairSample { floor_sd, ..plain(&logs) };
        let wide = sample.interval(alpha * share).unwrap();
        let narrow = sample.interval(alpha).unwrap();
        prop_assert!(wide.low <= narrow.low + 1e-12 && narrow.high <= wide.high + 1e-12);
        let point = sample.point().unwrap();
        prop_assert!(narrow.low <= point + 1e-12 && point <= narrow.high + 1e-12);
        prop_assert!(wide.level >= narrow.level - 1e-12 && narrow.level >= 1.0 - alpha - 1e-12);
    }

    /// Equal values, or values in ticks of a coarse clock, have an interval: never narrower than
    /// the clock, and never NaN.
    #[test]
    fn coarse_clocks_give_numbers(
        ticks in prop::collection::vec((9u8..12, 9u8..12), 2..40), floor_sd in 1e-6f64..0.1,
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) =
            ticks.into_iter().map(|(a, b)| (f64::from(a), f64::from(b))).unzip();
        let logs = log_ratios(&a, &b);
        let sample = PairSample { floor_sd, ..plain(&logs) };
        let interval = sample.interval(ALPHA).unwrap();
        prop_assert!(interval.low.is_finite() && interval.high.is_finite());
        // Student's t is wider than 1.96 normal deviations.
        let least = 2.0 * 1.95 * floor_sd / (logs.len() as f64).sqrt();
        prop_assert!(interval.high - interval.low >= least);
        prop_assert!(sample.sd().unwrap() >= floor_sd);
    }

    /// Renaming the contenders and asking in another order changes no answer.
    #[test]
    fn families_have_no_order(
        values in prop::collection::vec(prop::collection::vec(-0.3f64..0.3, 8), 1..9),
        shift in prop::collection::vec(-0.5f64..0.5, 9),
    ) {
        let logs: Vec<Vec<f64>> = values
            .iter()
            .zip(shift)
            .map(|(pair, shift)| pair.iter().map(|value| value / 10.0 + shift).collect())
            .collect();
        let look = |logs: &[Vec<f64>]| {
            let at = |logs| LookInput::plain(plain(logs));
            let looks: Vec<_> = logs.iter().map(|logs: &Vec<f64>| at(logs)).collect();
            let mut family = Family { asked: logs.len() + 1, differences: 1, sames: 0 };
            let found = family.analyse(&looks, ALPHA, 0.05);
            (family, found)
        };
        let (family, found) = look(&logs);
        let reversed: Vec<Vec<f64>> = logs.iter().rev().cloned().collect();
        let (other, mut back) = look(&reversed);
        back.reverse();
        prop_assert_eq!(&found, &back);
        prop_assert_eq!(family, other);
        let negated: Vec<Vec<f64>> =
            logs.iter().map(|logs| logs.iter().map(|d| -d).collect()).collect();
        for (one, other) in found.iter().zip(look(&negated).1) {
            let swapped = match one.decision {
                Some(Decision::Less) => Some(Decision::More),
                Some(Decision::More) => Some(Decision::Less),
                same => same,
            };
            prop_assert_eq!(other.decision, swapped);
        }
    }

    /// A decision says what its interval shows.
    #[test]
    fn decisions_agree_with_their_intervals(
        values in prop::collection::vec(prop::collection::vec(-0.1f64..0.1, 12), 1..9),
        same_allowed in any::<bool>(), margin in 0.01f64..0.2,
    ) {
        let looks: Vec<_> = values
            .iter()
            .map(|logs| LookInput { same_allowed, ..LookInput::plain(plain(logs)) })
            .collect();
        let mut family = Family { asked: looks.len(), differences: 0, sames: 0 };
        for found in family.analyse(&looks, ALPHA, margin) {
            let LookResult { decision, difference, interval, same, .. } = found;
            let (interval, same) = (interval.unwrap(), same.unwrap());
            prop_assert!(decision == Some(Decision::Same) || decision == difference);
            prop_assert_eq!(difference.is_some(), interval.low > 0.0 || interval.high < 0.0);
            let within = -margin < same.low && same.high < margin;
            match decision {
                Some(Decision::Same) => prop_assert!(within && same_allowed),
                Some(Decision::Less) => prop_assert!(interval.high < 0.0),
                Some(Decision::More) => prop_assert!(interval.low > 0.0),
                None => prop_assert!(interval.low <= 0.0 && 0.0 <= interval.high),
            }
        }
    }
}

/// W+ of the values less `centre`: the sum of the ranks of those above it. Nothing is tied.
fn signed_rank_sum(values: &[f64], centre: f64) -> usize {
    let mut away: Vec<f64> = values.iter().map(|value| value - centre).collect();
    away.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    away.iter().enumerate().filter(|(_, away)| **away > 0.0).map(|(index, _)| index + 1).sum()
}

/// The interval is what Wilcoxon's test does not refuse, counted over all 2^n patterns of signs:
/// just inside either end the test is above alpha, just outside it is not.
#[test]
fn the_exact_interval_is_what_counting_all_sign_patterns_does_not_refuse() {
    let values = [0.31, -0.12, 0.074, 0.55, 0.203, -0.041, 0.017, 0.46, 0.128, -0.29, 0.39, 0.09];
    for n in 6..=values.len() {
        let values = &values[..n];
        let most = n * (n + 1) / 2;
        let mut counts = vec![0usize; most + 1];
        for signs in 0usize..1 << n {
            counts[(1..=n).filter(|rank| signs >> (rank - 1) & 1 == 1).sum::<usize>()] += 1;
        }
        let p_value = |centre: f64| {
            let sum = signed_rank_sum(values, centre);
            let extreme = sum.min(most - sum);
            2.0 * counts[..=extreme].iter().sum::<usize>() as f64 / (1u32 << n) as f64
        };
        for alpha in [0.1, 0.05, 0.035] {
            let estimate = fsarena_stats::hodges_lehmann(values, alpha).unwrap();
            let Interval { low, high, level } = estimate.bounds.attained().unwrap();
            assert!(p_value(low - 1e-6) <= alpha && p_value(low + 1e-6) > alpha, "{n} {alpha} low");
            assert!(p_value(high + 1e-6) <= alpha && p_value(high - 1e-6) > alpha, "{n} {alpha}");
            assert!((1.0 - level - p_value(low - 1e-6)).abs() < 1e-12, "{n} {alpha}: {level}");
            if n >= EXACT_FROM {
                assert_eq!(plain(values).interval(alpha), estimate.bounds.attained());
                assert_eq!(plain(values).point(), Some(estimate.point));
            }
        }
    }
}

/// By hand: mean 2, s² = 2.5, t(4, .975) = 2.776445.
#[test]
fn few_blocks_use_student_s_t() {
    let logs = [0.0, 1.0, 2.0, 3.0, 4.0];
    let sample = plain(&logs);
    assert_eq!((sample.interval_by(), sample.point()), (IntervalBy::StudentT, Some(2.0)));
    let interval = sample.interval(ALPHA).unwrap();
    assert!(near(interval.low, 2.0 - 2.776_445_105_2 * 0.5f64.sqrt()), "{interval:?}");
    assert_eq!(interval.level, 0.95);
}

/// What is estimated is one thing at 11 blocks and at 12: the typical ratio, on which one block
/// that stalls has no hold.
#[test]
fn the_estimand_is_the_same_at_any_number_of_blocks() {
    let mut logs = vec![0.10, 0.11, 0.09, 0.12, 0.08, 0.10, 0.11, 0.09, 0.10, 0.12, 3.0];
    for _ in 0..2 {
        let point = plain(&logs).point().unwrap();
        assert!((point - 0.105).abs() < 0.005, "{} blocks: {point}", logs.len());
        assert_eq!(Some(point), plain(&logs).hodges_lehmann());
        let interval = plain(&logs).interval(0.4).unwrap();
        assert!(interval.low <= point && point <= interval.high, "{interval:?}");
        logs.push(0.10);
    }
}

/// t(7, .975) = 2.364624.
#[test]
fn a_shared_spread_takes_the_place_of_the_pair_s_own() {
    let logs = [1.0, 2.0, 3.0, 2.0];
    let with = |variance, freedom| PairSample {
        pooled: Some(Spread { variance, freedom }),
        ..plain(&logs)
    };
    let high = |sample: PairSample<'_>| sample.interval(ALPHA).unwrap().high;
    let lent = with(0.4, 7.0);
    assert_eq!(lent.interval_by(), IntervalBy::PooledT);
    assert!(near(high(lent), 2.0 + 2.364_624_251_6 * 0.4f64.sqrt() / 2.0));
    let floored = PairSample { floor_sd: 3.0, ..lent };
    assert!(near(high(floored), 2.0 + 2.364_624_251_6 * 3.0 / 2.0));
    for (variance, freedom) in [(f64::NAN, 7.0), (-1.0, 7.0), (9.0, 0.0), (9.0, f64::NAN)] {
        let sample = with(variance, freedom);
        assert_eq!(sample.interval_by(), IntervalBy::StudentT);
        assert_eq!(sample.interval(ALPHA), plain(&logs).interval(ALPHA), "{variance} {freedom}");
    }
    // From twelve on, the ranks of the pair's own values are enough.
    let many: Vec<f64> = (0..12).map(f64::from).collect();
    let sample = PairSample { pooled: lent.pooled, ..plain(&many) };
    assert_eq!(sample.interval(ALPHA), plain(&many).interval(ALPHA));
}

/// Twelve values have no signed-rank interval with fewer misses than 2^-11; what takes its place
/// covers the whole range.
#[test]
fn levels_beyond_signed_ranks_cover_the_range() {
    let logs: Vec<f64> = (0..12).map(|step| f64::from(step * step) / 100.0).collect();
    let sample = plain(&logs);
    let exact = sample.interval(0.0005).unwrap();
    assert_eq!((exact.low, exact.high), (0.0, 1.21));
    let beyond = sample.interval(0.0004).unwrap();
    assert!(beyond.low < 0.0 && beyond.high >= 1.21 && beyond.level == 0.9996, "{beyond:?}");
}

#[test]
fn what_has_no_interval_has_none() {
    assert_eq!(plain(&[]).point(), None);
    assert_eq!(plain(&[]).interval(ALPHA), None);
    assert_eq!((plain(&[1.0]).point(), plain(&[1.0]).interval(ALPHA)), (Some(1.0), None));
    assert_eq!(plain(&[1.0]).sd(), None);
    for logs in [[1.0, f64::NAN, 2.0], [1.0, f64::INFINITY, 2.0]] {
        assert_eq!(plain(&logs).point(), None);
        assert_eq!(plain(&logs).interval(ALPHA), None);
        assert_eq!(plain(&logs).hodges_lehmann(), None);
    }
    for alpha in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(plain(&[1.0, 2.0]).interval(alpha), None);
    }
    let look = LookInput::plain(plain(&[0.1]));
    let mut family = Family { asked: 1, differences: 0, sames: 0 };
    assert_eq!(family.analyse(&[look], ALPHA, 0.05), [LookResult::default()]);
    assert_eq!(family.analyse(&[], ALPHA, 0.05), []);
}

/// t(3) at 5 % ÷ 2 is 4.177, at 5 % 3.182: the second pair is decided only because the first is.
#[test]
fn what_is_decided_leaves_room() {
    let clear = [1.0, 1.1, 0.9, 1.0];
    // Mean 1, sd ÷ √4 = 0.2722: t = 3.674.
    let borderline =
        [1.0, 1.0, 1.0 + 2.0f64.sqrt() / 2.0 * 0.942_8, 1.0 - 2.0f64.sqrt() / 2.0 * 0.942_8];
    let look = |logs| LookInput::plain(plain(logs));
    let mut alone = Family { asked: 2, differences: 0, sames: 0 };
    assert_eq!(alone.analyse(&[look(&borderline)], ALPHA, 0.02)[0].decision, None);
    assert_eq!(alone, Family { asked: 2, differences: 0, sames: 0 });

    let mut family = Family { asked: 2, differences: 0, sames: 0 };
    let found = family.analyse(&[look(&borderline), look(&clear)], ALPHA, 0.02);
    assert_eq!([found[0].decision, found[1].decision], [Some(Decision::More); 2]);
    assert_eq!(family, Family { asked: 2, differences: 2, sames: 0 });
    // Each with the level at which it was decided.
    assert_eq!(found[1].interval.unwrap().level, 0.975);
    assert_eq!(found[0].interval.unwrap().level, 0.95);

    let mut later = Family { asked: 2, differences: 1, sames: 0 };
    assert_eq!(later.analyse(&[look(&borderline)], ALPHA, 0.02)[0].decision, Some(Decision::More));
    // A SAME elsewhere leaves no room for differences: the two have errors of their own.
    let mut other = Family { asked: 2, differences: 0, sames: 1 };
    assert_eq!(other.analyse(&[look(&borderline)], ALPHA, 0.02)[0].decision, None);
}

#[test]
fn same_comes_first_and_only_where_it_is_allowed() {
    let logs = [0.010, 0.011, 0.009, 0.010];
    let look = |same_allowed| {
        let pair = LookInput { same_allowed, ..LookInput::plain(plain(&logs)) };
        Family { asked: 1, differences: 0, sames: 0 }.analyse(&[pair], ALPHA, 0.02)[0]
    };
    assert_eq!(look(true).decision, Some(Decision::Same));
    assert_eq!(look(true).difference, Some(Decision::More), "both are true, and both are told");
    assert_eq!(look(false).decision, Some(Decision::More));
    let same = look(true).same.unwrap();
    assert!((same.level - 0.9).abs() < 1e-12 && same.low > 0.0, "{same:?}");
}

/// Equal values at exactly the margin: an interval of no width that touches the margin is not
/// within it, whichever way the logarithm was rounded.
#[test]
fn touching_the_margin_is_not_within() {
    for margin in [0.01, 0.02, 0.05, 0.1, 0.2] {
        let at = f64::ln_1p(margin);
        let logs = [(1.0f64 + margin).ln(), at, at, (1.0f64 + margin).ln()];
        let pair = LookInput::plain(plain(&logs));
        let found = Family { asked: 1, differences: 0, sames: 0 }.analyse(&[pair], ALPHA, at);
        assert_ne!(found[0].decision, Some(Decision::Same), "{margin}");
    }
}

/// Where one stalls, mean and median are on two sides of 0, and neither is the answer.
#[test]
fn a_difference_of_other_shapes_is_said_where_all_agree() {
    let steady: Vec<f64> = (0..40).map(|at| 0.001 * f64::from(at % 4)).collect();
    let mut stalling: Vec<f64> = steady.iter().map(|value| value - 0.05).collect();
    (3..40).step_by(8).for_each(|block| stalling[block] = 3.0);
    let of = |a: &[f64], b: &[f64]| {
        let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let pair = LookInput::new(plain(&logs), a, b);
        Family { asked: 1, differences: 0, sames: 0 }.analyse(&[pair], ALPHA, 0.02)[0]
    };
    let found = of(&stalling, &steady);
    assert!(found.interval.unwrap().high < 0.0, "typically it is faster: {found:?}");
    assert!(found.is_refused && found.decision.is_none(), "on the mean it is slower: {found:?}");
    let both: Vec<f64> = stalling.iter().map(|value| value - 1.0).collect();
    assert_eq!(of(&both, &steady).decision, Some(Decision::Less), "now all three say so");
    assert_eq!(of(&steady, &both).decision, Some(Decision::More));
}
