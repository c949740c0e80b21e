//! One number for a sample.

use crate::{SampleError, check, sorted};

/// The middle value, or the mean of the two middle ones.
///
/// ```
/// assert_eq!(fsarena_stats::median(&[4.0, 1.0, 2.0, 9.0]), Ok(3.0));
/// ```
///
/// # Errors
/// See [`SampleError`].
pub fn median(values: &[f64]) -> Result<f64, SampleError> {
    Ok(median_of_sorted(&sorted(values)?))
}

/// The median of values in ascending order; there is at least one.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let upper = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[upper]
    } else {
        f64::midpoint(sorted[upper - 1], sorted[upper])
    }
}

/// The median of values in any order, which it changes; there is at least one.
pub(crate) fn median_of_unsorted(values: &mut [f64]) -> f64 {
    let upper = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    let (below, &mut above, _) = values.select_nth_unstable_by(upper, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if !is_odd => f64::midpoint(lower, above),
        _ => above,
    }
}

/// The value below which a share `share` (0 to 1) lies, linear between order statistics: type 7 of
/// R. Hyndman and Y. Fan, "Sample quantiles in statistical packages", Am. Stat. 50 (1996); the
/// default of R and numpy.
///
/// # Errors
/// See [`SampleError`].
pub fn quantile(values: &[f64], share: f64) -> Result<f64, SampleError> {
    if !(0.0..=1.0).contains(&share) {
        let range = "from 0 to 1";
        return Err(SampleError::BadShare { name: "share", value: share, range });
    }
    let sorted = sorted(values)?;
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let weight = place - below as f64;
    Ok(sorted[below] + weight * (sorted[above] - sorted[below]))
}

/// Arithmetic mean.
///
/// # Errors
/// See [`SampleError`].
pub fn mean(values: &[f64]) -> Result<f64, SampleError> {
    check(values)?;
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

/// Sample standard deviation (n - 1); `None` for one value, which has no spread.
///
/// # Errors
/// See [`SampleError`].
pub fn standard_deviation(values: &[f64]) -> Result<Option<f64>, SampleError> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Ok((values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt()))
}

/// Geometric mean of positive numbers.
///
/// # Errors
/// See [`SampleError`].
pub fn geometric_mean(values: &[f64]) -> Result<f64, SampleError> {
    check(values)?;
    if let Some(index) = values.iter().position(|&value| value <= 0.0) {
        return Err(SampleError::NotPositive { index, value: values[index] });
    }
    Ok((values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_and_not_finite_are_refused() {
        assert_eq!(median(&[]), Err(SampleError::Empty));
        assert_eq!(mean(&[]), Err(SampleError::Empty));
        assert!(matches!(
            quantile(&[1.0, f64::NAN], 0.5),
            Err(SampleError::NotFinite { index: 1, .. })
        ));
        assert!(matches!(geometric_mean(&[f64::INFINITY]), Err(SampleError::NotFinite { .. })));
        assert!(matches!(
            geometric_mean(&[2.0, 0.0]),
            Err(SampleError::NotPositive { index: 1, .. })
        ));
        assert!(matches!(quantile(&[1.0], 1.5), Err(SampleError::BadShare { .. })));
        assert!(matches!(quantile(&[1.0], f64::NAN), Err(SampleError::BadShare { .. })));
    }

    #[test]
    fn one_value_describes_itself() {
        assert_eq!(median(&[3.0]), Ok(3.0));
        assert_eq!(quantile(&[3.0], 0.99), Ok(3.0));
        assert_eq!(standard_deviation(&[3.0]), Ok(None));
    }

    #[test]
    fn odd_and_even_medians() {
        assert_eq!(median(&[5.0, 1.0, 3.0]), Ok(3.0));
        assert_eq!(median(&[5.0, 1.0, 3.0, 4.0]), Ok(3.5));
        assert_eq!(quantile(&[1.0, 2.0], 1.0), Ok(2.0));
        assert!((geometric_mean(&[1.0, 100.0]).unwrap() - 10.0).abs() < 1e-12);
    }
}
