//! The subcommands, one file each.

pub mod describe;
pub mod devices;
pub mod experiments;
pub mod inner;
pub mod list;
mod open;
mod plan_cost;
pub mod reference;
pub mod run;
pub mod show;
mod signals;
