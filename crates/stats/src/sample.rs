//! What every function asks of a sample first: values, finite ones.

/// Why a sample cannot be described.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// No values.
    #[error("no values: nothing can be said about an empty sample")]
    Empty,
    /// A value is infinite or not a number.
    #[error("value number {index} is {value}: only finite numbers can be described")]
    NotFinite { index: usize, value: f64 },
    /// A geometric mean of a number that is not positive.
    #[error("value number {index} is {value}: a geometric mean needs numbers above 0")]
    NotPositive { index: usize, value: f64 },
    /// A share outside its range.
    #[error("{name} = {value}: expected a number {range}")]
    BadShare {
        /// Which argument.
        name: &'static str,
        value: f64,
        /// Where it should lie.
        range: &'static str,
    },
}

/// Refuses what cannot be described.
pub(crate) fn check(values: &[f64]) -> Result<(), SampleError> {
    if values.is_empty() {
        return Err(SampleError::Empty);
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(SampleError::NotFinite { index, value: values[index] }),
        None => Ok(()),
    }
}

/// A sorted copy.
pub(crate) fn sorted(values: &[f64]) -> Result<Vec<f64>, SampleError> {
    check(values)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}
