//! Phases as they are run below a root: loops, cycles, failures, fsync policies.
//!
//! Programs of their own are: `descriptors` (counts those of its process), `allocations` (has an
//! allocator of its own) and `memory` (reads the peak of its process).
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

mod cycle;
mod cycle_disturb;
mod cycle_failures;
mod failures;
mod fsync;
#[path = "../support/full.rs"]
mod full;
mod ops;
mod phases;
#[path = "../support/mod.rs"]
mod support;
mod uring_against_fio;
