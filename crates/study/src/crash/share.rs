//! How often something was found.

use crate::JsonSchema;
use fsarena_crash::figures::Share;
use serde::Serialize;

/// Cases of broken promises that are reported.
pub(super) const CASES_MOST: usize = 3;

/// How often something was found, and the interval at 95 % of the share of crash points at which
/// there was any of it. Checks of one file at many crash points hang together; crash points of
/// several runs do so less.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CrashShare {
    /// Of checks, or of crash points where each is one check.
    pub hits: u64,
    pub of: u64,
    /// Crash points at which there was any.
    pub crash_points: u64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

impl CrashShare {
    /// Hits of checks, with the interval of the share of crash points at which there was any.
    #[must_use]
    pub fn new(checks: &Share, points: &Share) -> Self {
        Self {
            hits: checks.hits,
            of: checks.of,
            crash_points: points.hits,
            low: points.share.low,
            high: points.share.high,
        }
    }
}
