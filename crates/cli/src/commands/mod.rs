//! The subcommands: each reads its arguments, calls the crates below and prints what they give.

pub mod compare;
pub mod dataset;
pub mod describe;
pub mod devices;
pub mod doc;
pub mod doctor;
pub mod experiments;
pub mod hidden;
pub mod import;
mod loaded;
pub mod merge;
mod open;
mod output_file;
mod plan_cost;
pub mod reference;
pub mod report;
pub mod run;
pub mod schema;
pub mod selftest;
pub mod show;
pub mod study;
pub mod watch;
mod watched;
