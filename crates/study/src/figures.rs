//! Medians and spreads. The unit is a whole trial: one value each, never pooled ops.

use serde::Serialize;

/// Spread of a length over trials, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct SpreadNs {
    /// Trials behind it.
    pub n: usize,
    /// Shortest.
    pub min_ns: u64,
    /// Median; between two values, their mean.
    pub median_ns: u64,
    /// Longest.
    pub max_ns: u64,
}

impl SpreadNs {
    /// The spread of these values; `None` where there are none.
    #[must_use]
    pub fn from_values(mut values: Vec<u64>) -> Option<Self> {
        values.sort_unstable();
        let (&min_ns, &max_ns) = (values.first()?, values.last()?);
        Some(Self { n: values.len(), min_ns, median_ns: middle(&values)?, max_ns })
    }
}

/// Spread of a rate over trials, in the unit of the field that holds it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct SpreadF {
    /// Trials behind it.
    pub n: usize,
    /// Lowest.
    pub min: f64,
    /// Median; between two values, their mean.
    pub median: f64,
    /// Highest.
    pub max: f64,
}

impl SpreadF {
    /// The spread of the finite values among these; `None` where there are none.
    #[must_use]
    pub fn from_values(values: Vec<f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        fsarena_stats::sort(&mut values);
        let (&min, &max) = (values.first()?, values.last()?);
        let half = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[half - 1], values[half])
        } else {
            values[half]
        };
        Some(Self { n: values.len(), min, median, max })
    }
}

impl SpreadF {
    /// The spread of amounts ÷ lengths. The median is that of the middle trial; of two in the
    /// middle their amounts together ÷ their lengths together, so that it is the amount ÷ the
    /// median length where all amounts are equal: the mean of two rates is not.
    #[must_use]
    pub(crate) fn from_quotients(mut parts: Vec<(f64, f64)>) -> Option<Self> {
        let rate = |(amount, length): (f64, f64)| amount / length;
        parts.retain(|&part| rate(part).is_finite());
        parts.sort_unstable_by(|a, b| rate(*a).total_cmp(&rate(*b)));
        let (&first, &last) = (parts.first()?, parts.last()?);
        let half = parts.len() / 2;
        let median = if parts.len().is_multiple_of(2) {
            let (low, high) = (parts[half - 1], parts[half]);
            rate((low.0 + high.0, low.1 + high.1))
        } else {
            rate(parts[half])
        };
        Some(Self { n: parts.len(), min: rate(first), median, max: rate(last) })
    }
}

/// Median of values in any order; `None` where there are none.
pub(crate) fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    middle(&values)
}

fn middle(sorted: &[u64]) -> Option<u64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len().is_multiple_of(2) {
        Some(u64::midpoint(sorted[half - 1], upper))
    } else {
        Some(upper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn medians_of_odd_and_even_counts() {
        assert_eq!(median(vec![5, 1, 3]), Some(3));
        assert_eq!(median(vec![4, 1, 3, 100]), Some(3));
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![u64::MAX, u64::MAX]), Some(u64::MAX));
        let spread = SpreadNs::from_values(vec![30, 10, 20]).unwrap();
        assert_eq!((spread.n, spread.min_ns, spread.median_ns, spread.max_ns), (3, 10, 20, 30));
    }

    /// 10,000 files in 1 s and in 11.82 s take 6.41 s in the median: that are 1,560 files/s, and
    /// not the 5,423 that the mean of the two rates is.
    #[test]
    fn a_median_rate_is_that_of_the_median_time() {
        let spread = SpreadF::from_quotients(vec![(1e4, 1.0), (1e4, 11.82)]).unwrap();
        assert!((spread.median - 1e4 / 6.41).abs() < 1e-6, "{}", spread.median);
        assert_eq!((spread.n, spread.max), (2, 1e4));
        let odd = SpreadF::from_quotients(vec![(6.0, 1.0), (6.0, 2.0), (9.0, 3.0)]).unwrap();
        assert_eq!((odd.min, odd.median, odd.max), (3.0, 3.0, 6.0));
        assert_eq!(SpreadF::from_quotients(vec![(1.0, 0.0)]), None);
    }

    #[test]
    fn what_is_not_a_number_is_no_value() {
        assert_eq!(SpreadF::from_values(vec![f64::NAN, f64::INFINITY]), None);
        let spread = SpreadF::from_values(vec![f64::NAN, 2.0, 1.0]).unwrap();
        assert_eq!((spread.n, spread.median), (2, 1.5));
    }

    proptest! {
        #[test]
        fn a_median_lies_within(values in proptest::collection::vec(any::<u64>(), 1..40)) {
            let spread = SpreadNs::from_values(values.clone()).unwrap();
            prop_assert!(spread.min_ns <= spread.median_ns && spread.median_ns <= spread.max_ns);
            prop_assert_eq!(spread.n, values.len());
        }
    }
}
