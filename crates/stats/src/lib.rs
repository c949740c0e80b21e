//! Pure statistics on slices of numbers.
//!
//! Functions of their arguments alone: nothing here knows what a trial is, draws a random number or
//! prints. Every function refuses an empty slice and numbers that are not finite with a
//! [`SampleError`]; none panics. Outliers are never removed.
//!
//! An interval that the number of values cannot support is not an error but a result of its own,
//! [`Bounds::Unattainable`]: a distribution-free 95 % interval does not exist for five values, and
//! anyone who shows one must say so.
//!
//! The method (which interval when) belongs to the study; here are only its pieces.
#![forbid(unsafe_code)]

pub mod agreement;
pub mod blocks;
pub mod bootstrap;
pub mod change_point;
pub mod describe;
pub mod factorial;
pub mod family;
pub mod forecast;
pub mod interval;
pub mod letters;
mod levels;
pub mod p_values;
pub mod paired;
mod rank;
pub mod sequential;
pub mod shape;
pub mod share;
mod span;
pub mod steady;
pub mod trend;
pub mod units;
mod walsh;

pub use bootstrap::{Resampling, cluster_bootstrap};
pub use describe::{geometric_mean, mean, median, quantile, standard_deviation};
pub use family::{Decision, Family, LookInput, LookResult};
pub use interval::{Bounds, Estimate, Interval, hodges_lehmann, mean_t, median_order_statistics};
pub use letters::{letters, tiers};
pub use p_values::{benjamini_hochberg, holm, mann_whitney};
pub use paired::{EXACT_FROM, IntervalBy, POOLED_BELOW, POOLED_FROM, PairSample, Spread};
pub use sequential::{CAPS, FIRST_LOOK, Level, Looks};
pub use shape::shapes_differ;
pub use share::wilson;

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

/// Sorts values by [`f64::total_cmp`]: one sort, of which the program has one copy.
pub fn sort(values: &mut [f64]) {
    values.sort_unstable_by(f64::total_cmp);
}

/// A sorted copy.
pub(crate) fn sorted(values: &[f64]) -> Result<Vec<f64>, SampleError> {
    check(values)?;
    let mut sorted = values.to_vec();
    sort(&mut sorted);
    Ok(sorted)
}
