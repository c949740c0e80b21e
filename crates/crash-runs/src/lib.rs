//! Crash runs: work on a disk whose power is cut, or whose requests fail, and what is found then.
//!
//! [`crash_run`] is one run of a file system in a guest or under this kernel; [`application_run`],
//! [`sequence_run`] and [`medium_error_run`] are those of applications, of sequences of ops and of
//! errors of the medium. [`native`] is the process that serves a crash state to the kernel of this
//! machine. [`kept_states`] keeps states that break a promise. What is right or wrong in a state is
//! judged in `fsarena_crash`.
#![forbid(unsafe_code)]

pub mod application_run;
mod crash_check;
pub mod crash_run;
pub mod kept_states;
pub mod medium_error_run;
pub mod native;
mod native_crash;
pub mod sequence_run;
mod state_groups;

pub use native_crash::{NativeCheck, NativeCrashError, inspect_state_natively};
