//! A device watched while another application uses it: found below what the user names, read every
//! so often, shown live in a terminal, and recorded as a RUN of its own kind.
//!
//! Nothing is written to what is watched, and nothing is opened but counters. Figures of each
//! stretch come from `fsarena-study`; here they are laid out and kept. Samples go into a
//! [`journal`] as they come, so that a watch that is killed loses none; whoever opens the database
//! next makes its record of that. This crate draws into the terminal it is given and prints
//! nothing itself; it does not know the database.
#![forbid(unsafe_code)]

mod error;
pub mod journal;
mod keys;
mod lines;
mod place;
mod presence;
mod record;
mod screen;
mod state;
mod view;
mod watcher;

pub use error::WatchError;
pub use keys::{Key, key};
pub use lines::{head_line, json_line, plain_line};
pub use place::{Place, find};
pub use record::{Sitting, Terms, cut_short, header, record, standing};
pub use screen::{Screen, Woken};
pub use state::State;
pub use view::{Looks, draw};
pub use watcher::{Tick, Watcher};

/// Name of the experiment of a watched RUN.
pub const EXPERIMENT: &str = "watch";
/// Shortest period, ns: below this the watching would be seen in what is watched.
pub const EVERY_MIN_NS: u64 = 100_000_000;
/// Longest period, ns.
pub const EVERY_MAX_NS: u64 = 3_600_000_000_000;
