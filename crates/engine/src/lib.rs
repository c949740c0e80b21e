//! The only code that runs between two clock reads.
//!
//! A phase is *prepared* ([`phase::Prepared`]: buffers, order, names, histogram, clock), then *run*
//! (first clock read, loop, last clock read, syncfs, clock read), then *reported*. Everything that
//! can be decided is decided in the preparation, everything that can be formatted is formatted in
//! the report, so that between the first and the last clock read there is no allocation, no lock,
//! no log line and no formatting: only system calls, a name, a stamp and one clock read an op.
//!
//! | module | what |
//! |---|---|
//! | [`clock`] | `CLOCK_MONOTONIC` for the ends of a phase, the time stamp counter for ops |
//! | [`hist`] | fixed-size latency histogram |
//! | [`names`] | names of files and directories |
//! | [`pattern`] | the order files are taken in |
//! | [`permute`] | a permutation of blocks that needs no memory |
//! | [`share`] | which part of a phase is one thread's |
//! | [`buffer`] | page-aligned, pre-faulted memory |
//! | [`stamp`] | contents with a stamp: dataset, file, offset and version of every sector |
//! | [`backend`] | the seam: real calls, memory copies, or nothing at all |
//! | [`uring`] | io_uring: loops of its own, since ops overlap |
//! | [`root`] | the directory of the dataset |
//! | [`job`] | a phase as it is ordered, and the delay that may be injected into it |
//! | [`cycle`] | a periodic application: cycles of updates, and a concurrent second load |
//! | [`phase`] | one phase from preparation to report, by one thread or several |
//! | [`verify`] | reads everything again and compares |
//! | [`calibrate`] | what the harness itself costs |
//! | [`outcome`], [`resources`] | failures in words, processor time; the worker uses both |
//!
//! This crate knows nothing of experiments, records, reports or programs, and starts no process.
#![expect(unsafe_code, reason = "system calls, mappings and rings between two clock reads")]

pub mod backend;
pub mod buffer;
pub mod calibrate;
mod check;
pub mod clock;
pub mod cycle;
mod error;
pub mod hist;
pub mod job;
pub mod names;
mod op;
pub mod outcome;
pub mod pattern;
pub mod permute;
pub mod phase;
pub mod resources;
pub mod root;
pub mod share;
pub mod stamp;
mod threads;
pub mod uring;
pub mod verify;

pub use error::{EngineError, UringError};
pub use job::{InjectedDelay, Job};
pub use phase::{Prepared, run_phase};
pub use root::Root;
