//! Medians and spreads. The unit is a whole trial: one value each, never pooled ops.

use serde::Serialize;

/// Spread of a length over trials, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
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
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
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
        values.sort_unstable_by(f64::total_cmp);
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
