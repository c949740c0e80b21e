//! Every parser of foreign input, each as a function of bytes that panics where a promise is
//! broken: the targets that are fuzzed.
//!
//! A [`Target`] is one parser, or a family of small ones, with inputs to begin with
//! ([`Target::seeds`], and the files of `corpus/NAME`). What it promises is more than that it does
//! not panic, wherever there is more: what was read is written and read the same, a refusal names
//! its place, what was let through can be shown. Two engines share the table ([`TARGETS`]):
//! [`blind`] changes known inputs at random, by a fixed seed, with nothing but the ordinary build;
//! `bin/guided.rs` gives the same functions to libFuzzer, which sees what code an input reaches
//! (`cargo xtask fuzz`).
//!
//! For tests alone. A target must not leave anything on the machine, reach outside of its scratch
//! directory, or depend on what an earlier input has left.
#![forbid(unsafe_code)]
// A broken promise is a panic: that is what both engines look for.
#![allow(clippy::missing_panics_doc)]

pub mod blind;
mod edits;
mod inputs;
mod mutate;
mod scratch;
mod shown;
mod target;
mod targets;

pub use inputs::{corpus_dir, inputs, write_seeds};
pub use target::Target;
pub use targets::TARGETS;

/// The target of this name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
