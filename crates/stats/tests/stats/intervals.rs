//! The intervals against numbers from another implementation, and their laws.
//!
//! The golden values were made with scipy 1.17.1 and numpy 2.4: quantiles `numpy.quantile`, t
//! `scipy.stats.ttest_1samp(x, 0).confidence_interval`, order statistics from
//! `scipy.stats.binom.cdf`, signed rank from the distribution of W+ as a product of polynomials in
//! exact integers; where no two Walsh averages are equal, each end was also found to be where the
//! p-value of `scipy.stats.wilcoxon(x - end, method="exact")` crosses alpha.

use fsarena_stats::{
    Bounds, Estimate, SampleError, hodges_lehmann, mean_t, median, median_order_statistics,
    quantile,
};
use proptest::prelude::*;

struct Golden {
    name: &'static str,
    values: &'static [f64],
    alpha: f64,
    quantile_90: f64,
    median: f64,
    median_interval: Option<[f64; 3]>,
    mean: f64,
    t: [f64; 2],
    pseudomedian: f64,
    signed_rank: Option<[f64; 3]>,
}

const GOLDEN: [Golden; 8] = [
    Golden {
        name: "six",
        values: &[0.01035, 0.016891, 0.035998, 0.076361, 0.06035, 0.024343],
        alpha: 0.05,
        quantile_90: 0.0683555,
        median: 0.030170500000000003,
        median_interval: Some([0.01035, 0.076361, 0.96875]),
        mean: 0.03738216666666667,
        t: [0.01013952673541042, 0.06462480659792291],
        pseudomedian: 0.035998,
        signed_rank: Some([0.01035, 0.076361, 0.96875]),
    },
    Golden {
        name: "six",
        values: &[0.01035, 0.016891, 0.035998, 0.076361, 0.06035, 0.024343],
        alpha: 0.01,
        quantile_90: 0.0683555,
        median: 0.030170500000000003,
        median_interval: None,
        mean: 0.03738216666666667,
        t: [-0.005349878635110446, 0.08011421196844379],
        pseudomedian: 0.035998,
        signed_rank: None,
    },
    Golden {
        name: "eight_ties",
        values: &[0.01, 0.01, 0.02, -0.01, 0.03, 0.03, 0.03, 0.0],
        alpha: 0.05,
        quantile_90: 0.03,
        median: 0.015,
        median_interval: Some([-0.01, 0.03, 0.9921875]),
        mean: 0.015,
        t: [0.0023605517172615095, 0.02763944828273849],
        pseudomedian: 0.015,
        signed_rank: Some([0.0, 0.03, 0.9609375]),
    },
    Golden {
        name: "eight_ties",
        values: &[0.01, 0.01, 0.02, -0.01, 0.03, 0.03, 0.03, 0.0],
        alpha: 0.01,
        quantile_90: 0.03,
        median: 0.015,
        median_interval: Some([-0.01, 0.03, 0.9921875]),
        mean: 0.015,
        t: [-0.0037055250420335722, 0.03370552504203357],
        pseudomedian: 0.015,
        signed_rank: Some([-0.01, 0.03, 0.9921875]),
    },
    Golden {
        name: "twelve_spikes",
        values: &[
            0.031195, 0.010893, 0.002883, -0.020616, -0.007817, 0.000457, 0.016883, -0.017445,
            -0.000106, -0.004228, 0.002369, 0.9,
        ],
        alpha: 0.05,
        quantile_90: 0.029763800000000007,
        median: 0.001413,
        median_interval: Some([-0.007817, 0.016883, 0.96142578125]),
        mean: 0.07620566666666667,
        t: [-0.08886951541109786, 0.2412808487444312],
        pseudomedian: 0.0024974999999999997,
        signed_rank: Some([-0.007817, 0.024038999999999998, 0.95751953125]),
    },
    Golden {
        name: "twelve_spikes",
        values: &[
            0.031195, 0.010893, 0.002883, -0.020616, -0.007817, 0.000457, 0.016883, -0.017445,
            -0.000106, -0.004228, 0.002369, 0.9,
        ],
        alpha: 0.01,
        quantile_90: 0.029763800000000007,
        median: 0.001413,
        median_interval: Some([-0.017445, 0.031195, 0.99365234375]),
        mean: 0.07620566666666667,
        t: [-0.15673164947117044, 0.3091429828045038],
        pseudomedian: 0.0024974999999999997,
        signed_rank: Some([-0.010360999999999999, 0.449947, 0.99072265625]),
    },
    Golden {
        name: "twenty_four",
        values: &[
            -0.001888, 0.094989, 0.010976, 0.047823, 0.029063, 0.105731, 0.054579, 0.066787,
            0.044773, 0.126174, 0.015648, 0.046628, 0.582773, 0.035477, 0.079277, 0.033495,
            0.043249, 0.017527, 0.020007, 0.033187, 0.020269, 0.026875, 0.073509, 0.094113,
        ],
        alpha: 0.05,
        quantile_90: 0.1025084,
        median: 0.044011,
        median_interval: Some([0.026875, 0.073509, 0.9773441553115845]),
        mean: 0.07087670833333333,
        t: [0.022808723036877414, 0.11894469362978924],
        pseudomedian: 0.0481635,
        signed_rank: Some([0.032674999999999996, 0.069119, 0.9509388208389282]),
    },
    Golden {
        name: "twenty_four",
        values: &[
            -0.001888, 0.094989, 0.010976, 0.047823, 0.029063, 0.105731, 0.054579, 0.066787,
            0.044773, 0.126174, 0.015648, 0.046628, 0.582773, 0.035477, 0.079277, 0.033495,
            0.043249, 0.017527, 0.020007, 0.033187, 0.020269, 0.026875, 0.073509, 0.094113,
        ],
        alpha: 0.01,
        quantile_90: 0.1025084,
        median: 0.044011,
        median_interval: Some([0.020269, 0.079277, 0.9933892488479614]),
        mean: 0.07087670833333333,
        t: [0.005644564700662824, 0.13610885196600384],
        pseudomedian: 0.0481635,
        signed_rank: Some([0.029063, 0.075252, 0.9904242753982544]),
    },
];

#[track_caller]
fn close(found: f64, wanted: f64, what: &str) {
    assert!((found - wanted).abs() < 1e-10, "{what}: {found} instead of {wanted}");
}

#[track_caller]
fn same_interval(estimate: &Estimate, wanted: Option<[f64; 3]>, what: &str) {
    match (estimate.bounds.attained(), wanted) {
        (None, None) => {}
        (Some(interval), Some([low, high, level])) => {
            close(interval.low, low, what);
            close(interval.high, high, what);
            close(interval.level, level, what);
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn golden_values() {
    for golden in GOLDEN {
        let what = format!("{} at {}", golden.name, golden.alpha);
        close(quantile(golden.values, 0.9).unwrap(), golden.quantile_90, &what);
        let by_order = median_order_statistics(golden.values, golden.alpha).unwrap();
        close(by_order.point, golden.median, &what);
        same_interval(&by_order, golden.median_interval, &what);
        let t = mean_t(golden.values, golden.alpha).unwrap();
        close(t.point, golden.mean, &what);
        let level = 1.0 - golden.alpha;
        same_interval(&t, Some([golden.t[0], golden.t[1], level]), &what);
        let ranked = hodges_lehmann(golden.values, golden.alpha).unwrap();
        close(ranked.point, golden.pseudomedian, &what);
        same_interval(&ranked, golden.signed_rank, &what);
    }
}

/// For seven values no 99 % interval exists; [minimum, maximum] has 98.4 %, and eight would do.
#[test]
fn an_unattainable_level_is_said() {
    let values = [3.0, 1.0, 2.0, 5.0, 4.0, 7.0, 6.0];
    for estimate in
        [hodges_lehmann(&values, 0.01).unwrap(), median_order_statistics(&values, 0.01).unwrap()]
    {
        close(estimate.point, 4.0, "point");
        let Bounds::Unattainable { widest: Some(widest), needs } = estimate.bounds else {
            panic!("{estimate:?}");
        };
        assert_eq!((widest.low, widest.high, needs), (1.0, 7.0, 8));
        close(widest.level, 1.0 - 2.0 / 128.0, "level");
    }
    let one = mean_t(&[1.0], 0.05).unwrap();
    assert_eq!(one.bounds, Bounds::Unattainable { widest: None, needs: 2 });
    let one = hodges_lehmann(&[1.0], 0.05).unwrap();
    assert!(matches!(one.bounds, Bounds::Unattainable { needs: 6, .. }), "{one:?}");
}

#[test]
fn bad_arguments_are_errors() {
    for alpha in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(hodges_lehmann(&[1.0], alpha), Err(SampleError::BadShare { .. })));
    }
    assert_eq!(hodges_lehmann(&[], 0.05), Err(SampleError::Empty));
    assert_eq!(mean_t(&[], 0.05), Err(SampleError::Empty));
    assert!(median_order_statistics(&[f64::NAN], 0.05).is_err());
}

#[test]
fn equal_values_give_an_interval_of_no_width() {
    let interval = hodges_lehmann(&[2.0; 9], 0.05).unwrap().bounds.attained().unwrap();
    assert_eq!((interval.low, interval.high), (2.0, 2.0));
    let interval = mean_t(&[2.0; 9], 0.05).unwrap().bounds.attained().unwrap();
    assert_eq!((interval.low, interval.high), (2.0, 2.0));
}

type Method = fn(&[f64], f64) -> Result<Estimate, SampleError>;
const METHODS: [Method; 3] = [hodges_lehmann, mean_t, median_order_statistics];

fn ends(estimate: &Estimate) -> (f64, f64) {
    match estimate.bounds {
        Bounds::Attained(interval) | Bounds::Unattainable { widest: Some(interval), .. } => {
            (interval.low, interval.high)
        }
        Bounds::Unattainable { widest: None, .. } => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() < 1e-9 * (1.0 + a.abs() + b.abs())
}

proptest! {
    /// Swapping the two sides of a comparison negates every difference.
    #[test]
    fn swapping_negates(values in prop::collection::vec(-1.0f64..1.0, 1..40)) {
        let swapped: Vec<f64> = values.iter().map(|value| -value).collect();
        for method in METHODS {
            let (one, other) = (method(&values, 0.05).unwrap(), method(&swapped, 0.05).unwrap());
            prop_assert!(near(one.point, -other.point));
            let ((low, high), (other_low, other_high)) = (ends(&one), ends(&other));
            prop_assert!(near(low, -other_high) && near(high, -other_low));
        }
    }

    /// A constant factor of one side (a constant of the logarithms) moves the whole interval.
    #[test]
    fn shifting_moves(
        values in prop::collection::vec(-1.0f64..1.0, 2..40), shift in -5.0f64..5.0,
    ) {
        let shifted: Vec<f64> = values.iter().map(|value| value + shift).collect();
        for method in METHODS {
            let (one, other) = (method(&values, 0.05).unwrap(), method(&shifted, 0.05).unwrap());
            prop_assert!(near(one.point + shift, other.point));
            let ((low, high), (other_low, other_high)) = (ends(&one), ends(&other));
            prop_assert!(near(low + shift, other_low) && near(high + shift, other_high));
        }
    }

    /// Asking for more certainty never gives a narrower interval; the point lies within.
    #[test]
    fn intervals_are_nested_in_alpha(
        values in prop::collection::vec(-1.0f64..1.0, 2..40),
        alpha in 0.001f64..0.5, share in 0.01f64..1.0,
    ) {
        for method in METHODS {
            let wide = method(&values, alpha * share).unwrap();
            let narrow = method(&values, alpha).unwrap();
            let ((wide_low, wide_high), (low, high)) = (ends(&wide), ends(&narrow));
            prop_assert!(wide_low <= low && high <= wide_high);
            prop_assert!(low <= narrow.point && narrow.point <= high);
            for interval in [wide.bounds.attained(), narrow.bounds.attained()].iter().flatten() {
                prop_assert!(interval.level >= 1.0 - alpha - 1e-9);
            }
        }
    }

    /// The order of the values says nothing.
    #[test]
    fn order_does_not_matter(mut values in prop::collection::vec(-1.0f64..1.0, 1..40)) {
        let before = hodges_lehmann(&values, 0.05).unwrap();
        values.reverse();
        prop_assert_eq!(hodges_lehmann(&values, 0.05).unwrap(), before);
        let middle = median(&values).unwrap();
        let below = values.iter().filter(|&&value| value <= middle).count();
        prop_assert!(below * 2 >= values.len());
    }
}
