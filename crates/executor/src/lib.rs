//! One trial, from spec to record: the states of DESIGN §3 with the cold proof.
//!
//! The executor is a process of its own (this same binary with the argument `executor`). It reads
//! one [`TrialSpec`] from standard input, says which step it is at and at last the [`TrialRecord`]
//! on standard output, one JSON value a line, and stops on a line `stop` or the end of its input.
//! As root it works in a mount and process namespace of its own, so that nothing it mounts or
//! starts can outlive it, however it ends.
//!
//! It never talks to the database, never decides what comes next, and never measures with anything
//! but the worker's clock and the kernel's counters.
#![forbid(unsafe_code)]

mod accounts;
mod age;
mod agent;
pub mod cgroup;
mod clients;
mod cold;
mod contents;
mod context;
pub mod crash;
mod cycle_events;
mod cycles;
mod drain;
mod error;
pub mod fault;
mod filesystem;
mod guest;
mod host_time;
mod lateness;
mod limit;
pub mod machine;
mod measure;
mod pause;
mod place;
mod programs;
mod rank_server;
mod ranks;
mod real;
mod reliever;
mod source;
pub mod stop;
mod tracing;
mod trees;
mod trial;
mod warm;
pub mod worker;

pub use agent::{agent_inside, agent_outside};
pub use clients::try_clients;
pub use context::blank_record;
pub use crash::run_crash_task;
pub use guest::run_guest_trial;
pub use host_time::work_limit_ns;
pub use place::{Namespaces, Outside, PlaceError, executor_inside, executor_outside};
pub use rank_server::{host_hello, serve_rank};
pub use trial::run_trial;

use fsarena_model::record::TrialRecord;
use fsarena_model::spec::TrialSpec;
use serde::{Deserialize, Serialize};

/// A line from the executor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutorSays {
    /// A step begins.
    Step {
        step: String,
        /// Its phase, where it has one.
        phase: Option<String>,
    },
    /// The trial has ended, well or badly; nothing follows.
    Record(Box<TrialRecord>),
    /// The spec could not be understood.
    Refused(String),
}

/// Reads a spec.
///
/// # Errors
/// A sentence: which field is wrong, or which version is not known.
pub fn parse_spec(line: &str) -> Result<TrialSpec, String> {
    let spec = TrialSpec::from_json(line).map_err(|error| format!("trial spec: {error}"))?;
    if spec.schema != fsarena_model::SPEC_SCHEMA {
        return Err(format!(
            "trial spec of schema {}; this program knows schema {}",
            spec.schema,
            fsarena_model::SPEC_SCHEMA
        ));
    }
    Ok(spec)
}
