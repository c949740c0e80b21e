//! One experiment on each of several hosts: a RUN of its own on each, by the program there and over
//! the user's own ssh. What this adds is only the way there and back.
//!
//! [`Fleet::make_ready`] asks every host for its version, or copies the program;
//! [`Fleet::carry_out`] has the RUNs carried out and fetches their databases; [`gather`] merges
//! those. What is said meanwhile is for the caller's [`Progress`].
#![forbid(unsafe_code)]

mod connections;
mod fleet;
mod gather;
mod session;
mod task;

pub use fleet::{Fleet, Progress};
pub use gather::{FetchedRun, GatheredRuns, gather, keep};
pub use session::{CarriedOut, OwnProgram};
pub use task::{FleetTask, ReadyHost};
