//! What the crate promises to its users: errors, plans, schedules, costs, a documented format.

mod cost;
mod cycles;
mod errors;
mod format;
mod identity;
mod levels;
mod mixtures;
mod programs;
mod programs_errors;
mod programs_trial;
mod rules;
mod schedule;
mod schema;
mod sweeps;
mod trial;
mod verdict_errors;
mod verdicts;
mod workloads;
mod written;
