//! Crash runs: work on a disk whose power is cut, or whose requests fail, and what is found then.
//!
//! A [`CrashJob`] is one crash run of a plan; what it does is for the kind of its campaign to say.
//! [`crash_run`] is one run of a file system in a guest or under this kernel. [`native`] is the
//! process that serves a crash state to the kernel of this machine. [`kept_states`] keeps states
//! that break a promise. What is right or wrong in a state is judged in `fsarena_crash`.
#![forbid(unsafe_code)]

mod application_run;
mod applications;
mod campaign;
mod crash_check;
pub mod crash_run;
mod hunt;
mod job;
pub mod kept_states;
mod kind;
mod medium_error_run;
mod medium_errors;
pub mod native;
mod native_crash;
mod power_cuts;
mod sequence_run;
mod sequences;
mod state_groups;
mod violating_states;

#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub use campaign::run_crash_job;
pub use hunt::missing_writes;
pub use job::{CrashJob, CrashJobError, CrashJobPlace};
pub use violating_states::ViolationArchive;

pub use native_crash::{NativeCheck, NativeCrashError, inspect_state_natively};
