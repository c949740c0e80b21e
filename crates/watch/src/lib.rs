//! A device watched while another application uses it: found below what the user names, read every
//! so often, shown live in a terminal, and recorded as a RUN of its own kind.
//!
//! Nothing is written to what is watched, and nothing is opened but counters. Figures of each
//! stretch come from `fsarena-study`; here they are laid out and kept. Samples go into a
//! [`journal`] as they come, so that a watch that is killed loses none; whoever opens the database
//! next makes its record of that. This crate draws into the terminal it is given and prints
//! nothing itself; it does not know the database.
#![forbid(unsafe_code)]

pub mod journal;
mod lines;
mod presence;
mod record;
mod screen;
mod state;
mod target;
mod view;
mod watcher;

pub use lines::{head_line, json_line, plain_line};
pub use record::{EXPERIMENT, Terms, WatchSession, cut_short, header, record, standing};
pub use screen::{Key, Screen, Woken, key};
pub use state::State;
pub use target::{WatchError, WatchTarget, find};
pub use view::{Theme, draw};
pub use watcher::{EVERY_MAX_NS, EVERY_MIN_NS, Tick, Watcher};
