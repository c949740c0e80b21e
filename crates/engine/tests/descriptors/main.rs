//! Backends that keep descriptors and mappings: mmap and io_uring. One test at a time runs, since
//! they count the descriptors of this process.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

#[path = "../support/full.rs"]
mod full;
mod mmap;
#[path = "../support/mod.rs"]
mod support;
mod uring;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// No other test of this program runs meanwhile.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
