//! Tasks as a worker does them: the protocol, fio, trees.
//!
//! `programs` is a program of its own: whoever runs programs ends all that its process started.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

mod fio;
#[path = "../../../engine/tests/support/full.rs"]
mod full;
mod tree;
mod tree_against_programs;
mod tree_failures;
mod trees;
mod worker;

/// A new directory, in memory where there is one: syncfs on a disk that others use takes long.
fn temp_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
