//! Between the first and the last clock read of a phase nothing is allocated or freed; this program
//! has an allocator that counts its calls.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

mod blocking;
#[path = "../support/mod.rs"]
mod support;
mod uring;

#[global_allocator]
static ALLOCATOR: support::counting::Counting = support::counting::Counting;
