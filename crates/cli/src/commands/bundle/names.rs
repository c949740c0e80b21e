//! Names of the files of a bundle that are read again by whoever checks it.

/// The plan and all records.
pub(super) const DATABASE: &str = "results.db";
/// What was decided.
pub(super) const VERDICTS: &str = "verdicts.json";
/// A line for each trial and phase.
pub(super) const TRIALS: &str = "trials.csv";
