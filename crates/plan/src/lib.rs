//! Experiment files and what follows from them: contenders, schedule, steps of a trial, cost.
//!
//! Everything here is a pure function of its arguments. Nothing opens a file, asks the kernel,
//! reads a clock or starts a program: what can only be known from outside (which file systems there
//! are, what they accept, what was measured earlier, what the user's own data is) comes in through
//! [`Rules`], [`CostBasis`] and [`Outside`].
//!
//! `parse` (or `from_options`) → [`Experiment`] → `expand` → `RunPlan` → `steps` per trial.
//! The file format is described in `FORMAT.md` beside this crate.
#![forbid(unsafe_code)]

pub mod builtin;
pub mod cost;
mod cross;
mod error;
mod expand;
mod experiment;
mod fit;
mod holdings;
mod label;
mod notices;
mod options;
mod parse;
mod question;
mod rooms;
mod schedule;
mod settings;
mod steps;
mod sweep;
mod text;
mod tree;
mod verdict;
mod workload;
mod write;

pub use cost::{Cost, CostBasis, estimate, ops_per_trial};
pub use error::{Place, PlanError, nearest};
pub use expand::{Rules, builtin_experiment, expand};
pub use experiment::{
    ArticleRow, At, DefinedFs, Experiment, Factors, FsAxes, FsEntry, RunSettings, VerdictSettings,
};
pub use fit::needed_bytes;
pub use holdings::stage_bytes;
pub use notices::notices;
pub use options::{Overrides, apply, from_options};
pub use parse::{Outside, ReadFile, Survey, Surveyed, notes_of, parse, parse_from};
pub use question::Asked;
pub use schedule::{schedule, trial_seed};
pub use steps::{steps, warm_reason};
pub use verdict::settle_rule;
pub use write::to_toml;

/// Version of the experiment file that this program reads (`schema = 1`).
pub const EXPERIMENT_SCHEMA: i64 = 1;

/// Reason for a file system in memory that would have to run under a memory limit.
pub const LIVES_IN_LIMITED_MEMORY: &str = "it lives in the limited memory";
