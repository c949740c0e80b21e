//! Experiment files and what follows from them: contenders, schedule, steps of a trial, cost.
//!
//! Everything here is a pure function of its arguments. Nothing opens a file, asks the kernel,
//! reads a clock or starts a program: what can only be known from outside (which file systems there
//! are, what they accept, what was measured earlier, what the user's own data is) comes in through
//! [`Rules`], [`CostBasis`] and [`Outside`].
//!
//! `parse` (or `from_options`) → [`Experiment`] → `expand` → `RunPlan` → `steps` per trial.
//! The file format is described in `FORMAT.md` in this crate.
#![forbid(unsafe_code)]

mod artifacts;
mod axes;
mod capacity;
mod check_capacity;
pub mod cost;
mod crash;
mod cross;
mod embedded;
mod error;
mod expand;
mod experiment;
mod external;
mod factors;
mod files;
mod fs_entry;
mod label;
mod notices;
mod options;
mod overrides;
mod parse;
pub mod purpose;
mod question;
mod ranks;
mod raw;
mod rows;
mod schema;
mod settings;
mod stand_in;
mod steps;
mod sweep;
mod text;
mod tree;
mod values;
mod verdict;
mod words;
mod workload;
mod write;

#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

/// The experiments and workloads that are part of the program, read.
pub mod builtin {
    pub use crate::embedded::{Builtin, EXPERIMENTS, WORKLOADS, experiment_names, workload_names};
    pub use crate::parse::builtin as experiment;
    pub use crate::workload::builtin as workload;
}

pub use artifacts::stage_bytes;
pub use check_capacity::needed_bytes;
pub use cost::{Cost, CostBasis, estimate};
pub use crash::{crash_plan, crash_runs_s, sequences};
pub use error::{At, PlanError, Span, nearest};
pub use expand::{expand, schedule, trial_seed};
pub use experiment::{
    ArticleRow, DefinedFs, EXPERIMENT_SCHEMA, Experiment, Factors, FsAxes, RunSettings, StandIn,
    VerdictSettings,
};
pub use files::{Outside, ReadFile, Rules, Survey, Surveyed};
pub use fs_entry::FsEntry;
pub use notices::notices;
pub use options::{apply, crash_experiment, from_options, kernel_files};
pub use overrides::Overrides;
pub use parse::{notes_of, parse, parse_from};
pub use question::{QuestionPattern, questions_of_workload};
pub use ranks::{at_levels, most_ranks};
pub use schema::PUBLISHED_SCHEMA;
#[cfg(feature = "schema")]
pub use schema::experiment_schema;
pub use stand_in::with_stand_ins;
pub use steps::steps;
pub use text::{device_prefixes, members};
pub use verdict::settle_rule;
pub use workload::{at_scale, shown_title};
pub use write::to_toml;
