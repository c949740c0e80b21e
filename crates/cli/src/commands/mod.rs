//! The subcommands, one file each.

pub mod compare;
pub mod dataset;
pub mod describe;
pub mod devices;
pub mod doc;
pub mod doctor;
pub mod experiments;
pub mod export;
pub mod import;
pub mod inner;
pub mod list;
mod loaded;
pub mod merge;
mod open;
mod output;
mod plan_cost;
pub mod reference;
pub mod report;
pub mod run;
pub mod schema;
pub mod selftest;
pub mod show;
mod signals;
pub mod study;
pub mod watch;
mod watched;
