//! The worker: one process for one task, spoken to in lines of JSON, and the work that is not the
//! engine's own loops.
//!
//! | module | what |
//! |---|---|
//! | [`program`] | programs that do the work in place of the engine |
//! | [`tree`] | real work on trees: copy, delete, untar |
//!
//! What is timed in a phase of ops is in `fsarena-engine`; here are the task's preparation, the
//! protocol on standard input and output, programs as work, and work on trees. It knows nothing of
//! experiments, records or reports. The only process it starts is a program that is the work
//! itself.

#![forbid(unsafe_code)]

mod access;
pub mod program;
mod session;
pub mod tree;

pub use session::{WorkerError, worker_main};
