//! Programs that people use, really run below a temporary root: from the task to the report.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

#[path = "../../../engine/tests/support/full.rs"]
#[allow(dead_code)]
mod full;
mod kinds;
mod setting;
mod shell;
mod stopped;
mod worker;
