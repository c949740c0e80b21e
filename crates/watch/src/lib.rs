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
pub use record::{Terms, WatchSession, cut_short, header, record, standing};
pub use screen::{Key, Screen, Woken, key};
pub use state::State;
pub use target::{WatchTarget, find};
pub use view::{Theme, draw};
pub use watcher::{Tick, Watcher};

use fsarena_metrics::MetricError;
use std::io;
use std::path::PathBuf;

/// Name of the experiment of a watched RUN.
pub const EXPERIMENT: &str = "watch";
/// Shortest period, ns: below this the watching would be seen in what is watched.
pub const EVERY_MIN_NS: u64 = 100_000_000;
/// Longest period, ns.
pub const EVERY_MAX_NS: u64 = 3_600_000_000_000;

/// Why a watch cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Nothing of this name, or no device or directory.
    #[error(transparent)]
    NotATarget(#[from] fsarena_doctor::NotATarget),
    /// Devices or mounts could not be listed, or what was named is not among them.
    #[error("{}: {reason}", path.display())]
    Unseen {
        /// What was named.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file system has no device here.
    #[error("{}: is on {fstype}, {why}", path.display())]
    NoDevice {
        /// What was named.
        path: PathBuf,
        /// Type of the file system.
        fstype: String,
        /// What that means, and what to watch instead.
        why: String,
    },
    /// There is a device without a medium.
    #[error("{}: has no medium (its size is 0); attach or insert one first", path.display())]
    Empty {
        /// The device.
        path: PathBuf,
    },
    /// Counters cannot be read.
    #[error(transparent)]
    Counters(#[from] MetricError),
    /// The journal cannot be written or read.
    #[error("{}: {source}; set FSARENA_STATE_DIR to keep samples elsewhere", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The terminal does not do what it is told.
    #[error("the terminal: {0}; `fsarena watch … | cat` prints plain lines")]
    Terminal(io::Error),
}
