//! Carries a schedule out: recovery first, then targets, then trial after trial, each record stored
//! before the next trial begins.
//!
//! Everything made outside this process is written into a journal before it is made, and
//! undone at the end; what a killed RUN could not undo is undone by the next start ([`recover`]).
//! Nothing is decided here about results, and nothing is measured.
#![forbid(unsafe_code)]

mod available;
mod budget;
mod crash_runs;
mod i386;
mod inner_processes;
mod journal;
mod journaled_dir;
mod own_paths;
mod preflight;
mod recover;
mod request;
mod resources;
mod resume;
mod run;
mod session;
mod spool;
mod staged_sources;
mod staged_times;
mod trial_loop;
mod trial_spec;

pub use available::{DriverRules, drop_unavailable};
pub use i386::{I386Programs, drop_without_i386, has_i386_trials};
pub use journal::{JournalError, live_in};
// Entries for the targets of `fsarena-fuzz`.
#[doc(hidden)]
pub use journal::{Entry as JournalEntry, Owner as JournalOwner, entries as journal_entries};
// Entry for the targets of `fsarena-fuzz`.
pub use journaled_dir::JournaledDir;
pub use own_paths::{OwnPaths, check};
pub use preflight::preflight;
pub use recover::{Recovered, close_dead_runs, recover};
pub use request::{
    BlockProgress, Blocks, CrashProgress, Finished, Progress, Request, Resumed, RunError,
    TrialProgress,
};
pub use resume::{Now, differences, rest};
pub use run::{run, this_process};
#[doc(hidden)]
pub use spool::spooled_again;
pub use spool::{Refused, TakenIn, take_in};
