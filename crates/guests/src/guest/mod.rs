//! A guest: a kernel that is a process, with a program of ours as its init, in a directory of its
//! own.
//!
//! Its command line is always the same, and no path of the host is in what it sees at boot, because
//! both go into its random numbers. Its root is its own directory; the tree of the host is mounted
//! read-only below it by init, which then makes it its root. Works without root; whatever ends this
//! process ends the guest, and its directory goes with the next one.

mod boot;
mod init;
mod memory;
mod program;
mod task;

pub(crate) use boot::panic_in;
pub use boot::{Guest, GuestError, GuestOptions, InspectionRun, TaskRun};
pub(crate) use init::in_guest;
pub use init::{GuestWork, TakeLine, run_as_init};
pub use program::{Program, ProgramError};
pub(crate) use program::{interpreter_of, libraries_in};
pub use task::{CommandRecord, DiskProbe, MemoryProbe, ProbeRecord, Record, Task};
