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

pub mod blocks;
pub mod describe;
pub mod factorial;
pub mod family;
pub mod forecast;
pub mod interval;
pub mod letters;
pub mod mann_whitney;
pub mod multiplicity;
pub mod paired;
mod rank;
mod sample;
pub mod sequential;
pub mod shape;
mod span;
pub mod steady;
pub mod tiers;
pub mod trend;
pub mod units;
mod walsh;

pub use describe::{geometric_mean, mean, median, quantile, standard_deviation};
pub use family::{Decision, Family, LookInput, LookResult};
pub use interval::{Bounds, Estimate, Interval, hodges_lehmann, mean_t, median_order_statistics};
pub use letters::letters;
pub use mann_whitney::mann_whitney;
pub use multiplicity::{benjamini_hochberg, holm};
pub use paired::{EXACT_FROM, Estimator, PairSample, Spread};
pub use sample::SampleError;
pub use sequential::{CAPS, FIRST_LOOK, Looks};
pub use shape::shapes_differ;
pub use tiers::tiers;

use sample::{check, sorted};
