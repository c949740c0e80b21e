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
//! | [`pattern`] | names of files and the order they are taken in |
//! | [`buffer`] | page-aligned, pre-faulted memory |
//! | [`stamp`] | contents that say whose bytes they are |
//! | [`backend`] | the seam: real calls, or none at all |
//! | [`phase`] | one phase from preparation to report |
//! | [`verify`] | reads everything again and compares |
//! | [`worker`] | the worker process: protocol on standard input and output |
//! | [`calibrate`] | what the harness itself costs |
//!
//! This crate knows nothing of experiments, records or reports, and starts no process.

pub mod backend;
pub mod buffer;
pub mod calibrate;
pub mod clock;
pub mod hist;
mod op;
pub mod pattern;
pub mod phase;
pub mod stamp;
pub mod verify;
pub mod worker;

pub use phase::{EngineError, Root, run_phase};
pub use worker::{WorkerError, worker_main};
