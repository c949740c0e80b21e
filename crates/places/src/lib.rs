//! Where a trial can be carried out besides this kernel: a guest kernel, which is a process in
//! virtual time.
//!
//! [`kernel`] finds, builds, keeps and checks guest kernels. [`guest`] boots one, with a program as
//! its init, bytes in and bytes out. A guest asks a process of the host that is its disk
//! (`fsarena_disk_server`); [`native`] serves the same disk to the kernel of this machine, in real
//! time. What is done in a guest, and what is measured there, is the caller's matter.
#![forbid(unsafe_code)]

pub mod application_run;
mod crash_check;
pub mod crash_run;
pub mod guest;
pub mod kept_states;
pub mod kernel;
pub mod medium_error_run;
pub mod native;
mod native_crash;
mod open_file;
mod owned_dir;
#[doc(hidden)]
pub mod parsers;
pub mod program_tree;
pub mod sequence_run;
mod state_groups;
pub mod virtual_trial;

pub use native_crash::{NativeCheck, NativeCrashError, look_at_state_natively};
pub use owned_dir::{OWNED_PREFIXES, OwnedDir, remove_abandoned};
