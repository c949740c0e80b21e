//! Random samples against the crate anofox-statistics, which follows R.
//!
//! statrs is no oracle here: its exact Mann-Whitney test says 1 of samples that do not overlap.

use anofox_statistics::{
    Alternative, PAdjustMethod, equivalence::EquivalenceBounds, equivalence::tost_t_test_paired,
    mann_whitney_u, p_adjust, wilcoxon_signed_rank,
};
use fsarena_stats::paired::PairSample;
use fsarena_stats::units::mean_over_units;
use fsarena_stats::{benjamini_hochberg, holm, mann_whitney};
use proptest::prelude::*;

fn near(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-9 * wanted.abs().max(1e-6)
}

fn sample(logs: &[f64]) -> PairSample<'_> {
    PairSample { logs, floor_sd: 0.0, pooled: None }
}

fn logs(sizes: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0f64..1.0, sizes)
}

proptest! {
    #[test]
    fn hodges_lehmann_at_two_levels(values in logs(12..33), shift in -0.5f64..0.5) {
        // R gives up exactness where ranks are tied, and drops what is 0.
        let mut away: Vec<f64> = values.iter().map(|value| (value - shift).abs()).collect();
        away.sort_by(f64::total_cmp);
        prop_assume!(away[0] > 0.0 && away.windows(2).all(|two| two[0] < two[1]));
        // Beyond it our interval is widened by what is not R's.
        let attainable = 0.5f64.powf(values.len() as f64 - 1.0);
        let zeros = vec![0.0; values.len()];
        for level in [0.95, 0.9899] {
            let wanted = wilcoxon_signed_rank(
                &values, &zeros, Alternative::TwoSided, true, true, Some(level), Some(shift),
            )
            .unwrap();
            let found = sample(&values).interval(1.0 - level).unwrap();
            let ends = wanted.conf_int.unwrap();
            prop_assert!(near(sample(&values).point().unwrap(), wanted.estimate.unwrap()));
            prop_assert!(near(found.low, ends.lower) && near(found.high, ends.upper));
            // Its p-value of a shift, by turning the interval round.
            for (alpha, is_inside) in
                [(wanted.p_value * (1.0 - 1e-9), true), (wanted.p_value * (1.0 + 1e-9), false)]
            {
                if attainable <= alpha && alpha < 1.0 {
                    let found = sample(&values).interval(alpha).unwrap();
                    let holds = found.low <= shift && shift <= found.high;
                    prop_assert_eq!(holds, is_inside, "{} at {}: {:?}", shift, alpha, found);
                }
            }
        }
    }

    #[test]
    fn rank_sums_without_ties(a in logs(1..21), b in logs(1..21)) {
        let wanted =
            mann_whitney_u(&a, &b, Alternative::TwoSided, true, true, None, None).unwrap();
        prop_assert!(near(mann_whitney(&a, &b).unwrap(), wanted.p_value));
    }

    /// Beyond twenty values, with many ties.
    #[test]
    fn rank_sums_of_large_samples(
        a in prop::collection::vec((0i32..9).prop_map(f64::from), 21..40),
        b in prop::collection::vec((0i32..9).prop_map(f64::from), 3..40),
    ) {
        let wanted =
            mann_whitney_u(&a, &b, Alternative::TwoSided, true, false, None, None).unwrap();
        let found = mann_whitney(&a, &b).unwrap();
        prop_assert!((found - wanted.p_value).abs() < 1e-9, "{} {}", found, wanted.p_value);
    }

    #[test]
    fn same_within_a_margin(values in logs(3..12), margin in 0.05f64..2.0) {
        let zeros = vec![0.0; values.len()];
        let bounds = EquivalenceBounds::Symmetric { delta: margin };
        for alpha in [0.05, 0.0103] {
            let wanted = tost_t_test_paired(&values, &zeros, &bounds, alpha).unwrap();
            let found = sample(&values).interval(2.0 * alpha).unwrap();
            prop_assert!(near(found.low, wanted.ci.0) && near(found.high, wanted.ci.1));
            let inside = -margin < found.low && found.high < margin;
            prop_assert_eq!(inside, wanted.equivalent);
            let p = mean_over_units(&values).unwrap().p_same(margin);
            prop_assert!((p - wanted.tost_p_value).abs() < 1e-9);
        }
    }

    #[test]
    fn adjusted_p(p in prop::collection::vec(0.0f64..1.0, 1..30)) {
        let pairs = [
            (holm(&p), PAdjustMethod::Holm),
            (benjamini_hochberg(&p), PAdjustMethod::BH),
        ];
        for (found, method) in pairs {
            for (found, wanted) in found.iter().zip(p_adjust(&p, method)) {
                prop_assert!(near(*found, wanted));
            }
        }
    }
}
