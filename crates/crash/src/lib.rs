//! Crash safety: what of the work that was reported as done is there after a power cut.
//!
//! Pure logic, in the order of use: a [`workload`] is a plan of [`op`]s whose contents are
//! [`stamp`]ed; whoever carries it out keeps an op journal beside the write log of the virtual
//! disk; [`state`] says which contents the disk can have after a power cut; whoever mounts them
//! writes an [`observation`]; the [`oracle`] holds it against the journal and what is promised
//! ([`promise`]), and [`figures`] are made of many findings.
//!
//! Nothing here boots, mounts, reads a file or a clock: times are those of journal and log, integer
//! nanoseconds.
#![forbid(unsafe_code)]

pub mod application;
pub mod crash_workload;
pub mod figures;
mod file;
mod findings;
pub mod history;
pub mod hunt;
pub mod hunted;
pub mod log_writes;
pub mod medium_error;
pub mod observation;
pub mod op;
pub mod oracle;
pub mod packed;
pub mod phases;
pub mod promise;
pub mod record;
pub mod recovery;
pub mod sequence;
pub mod stamp;
pub mod state;
mod survivors;
mod sweep;
pub mod workload;

#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub use file::SectorRun;
pub use findings::{
    AppendTails, Findings, LossWindow, ReplaceDamage, ReplacedTargets, StrayBytes, Violation,
};
