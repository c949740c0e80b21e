//! What the process that serves a disk to the kernel of this machine is told and tells.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A disk that is to be served.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServedDisk {
    /// Name of a built-in sheet.
    pub model: String,
    pub size_bytes: u64,
    /// Directory of a file without a name that takes the contents; absent: they are in memory.
    pub store_dir: Option<PathBuf>,
    /// Name in the abstract space of Unix sockets at which questions are answered.
    pub socket: String,
    /// What is written to a fresh disk goes into a log, too.
    #[serde(default)]
    pub is_logged: bool,
    /// Directory with crash states that can take the place of the disk.
    #[serde(default)]
    pub states_dir: Option<PathBuf>,
    /// Another one is served at the same time: who waits awake takes the time of that.
    #[serde(default)]
    pub is_beside_another: bool,
}

impl ServedDisk {
    /// Whether the kernel may keep its contents in the page cache, and read ahead. That changes
    /// when requests come, so that it is for contents which take no time alone.
    #[must_use]
    pub fn is_cached(&self) -> bool {
        self.states_dir.is_some()
    }
}

/// What was served since the last question that began a new count.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Served {
    pub reads: u64,
    pub writes: u64,
    pub flushes: u64,
    pub discards: u64,
    /// Requests that took the time of the model.
    pub timed: u64,
    /// Times of these by the model, from arrival to completion, summed.
    pub modelled_ns: u64,
    /// By how much later than that they were answered, summed.
    pub late_ns: u64,
    /// The lateness that 99 of 100 of them did not exceed.
    pub late_p99_ns: u64,
    pub late_max_ns: u64,
    /// Why nothing is served any more.
    pub error: Option<String>,
}

impl Served {
    /// Share of the modelled time that answers were late by, summed; 0 without any.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    pub fn late_share(&self) -> f64 {
        if self.modelled_ns == 0 { 0.0 } else { self.late_ns as f64 / self.modelled_ns as f64 }
    }
}

/// What is asked of the process, one line each; every answer is one line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// A [`Served`]; then counts begin anew.
    Report,
    /// The disk is fresh from the factory: empty, with this seed, and its time begins. Before the
    /// first one it answers at once, and what is written to it is lost.
    Fresh { seed: u64 },
    /// The disk is this crash state of the directory, as nobody has written to it yet, and answers
    /// at once. What is written to it goes into a log where that `is_logged`.
    State { number: u32, is_logged: bool },
    /// The log of the disk is written to a new file; the answer is a [`Logged`].
    Log { file: PathBuf },
}

/// A log that was written to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Logged {
    /// When the time of the disk, which is that of its log, began: ns of CLOCK_MONOTONIC.
    pub began_ns: u64,
}
