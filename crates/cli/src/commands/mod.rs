//! The subcommands, one file each.

pub mod compare;
pub mod dataset;
pub mod describe;
pub mod devices;
pub mod experiments;
pub mod inner;
pub mod list;
pub mod merge;
mod open;
mod plan_cost;
pub mod reference;
pub mod run;
pub mod selftest;
pub mod show;
mod signals;
pub mod study;
