//! The memory limit of a trial: one cgroup for the workers of its phases, so that pages which one
//! phase left in the cache stay charged to the limit in the next.

use crate::cgroup::{Hierarchy, MemoryCgroup};
use crate::error::StepError;
use crate::reliever::MemoryReliever;
use fsarena_model::record::{MemoryRecord, Notice};
use fsarena_model::units::Bytes;
use std::path::Path;

/// The limit of a trial.
pub(crate) struct MemoryLimit {
    /// Name of its cgroup.
    name: String,
    /// What the contender asks for.
    limit_bytes: Option<u64>,
    hierarchy: Result<Hierarchy, String>,
    /// From the first worker on.
    state: Option<Limit>,
}

/// The cgroup of a trial, or why there is none.
enum Limit {
    /// Its workers are limited.
    Set {
        cgroup: MemoryCgroup,
        limit_bytes: u64,
        /// `cgroup v1` or `cgroup v2`.
        by: &'static str,
    },
    /// They should be, and are not.
    NotSet {
        limit_bytes: u64,
        /// Why not.
        reason: String,
    },
}

impl MemoryLimit {
    /// Of a trial with this name, where cgroups are as `mountinfo` says.
    pub(crate) fn new(name: &str, limit_bytes: Option<u64>, mountinfo: &str) -> Self {
        let hierarchy = Hierarchy::find(mountinfo);
        Self { name: name.to_owned(), limit_bytes, hierarchy, state: None }
    }

    /// Puts a worker under it.
    pub(crate) fn add(&mut self, worker_pid: u32) {
        let Some(limit_bytes) = self.limit_bytes else { return };
        let not_set = |reason| Limit::NotSet { limit_bytes, reason };
        let state = self.state.take().unwrap_or_else(|| {
            let made = self.hierarchy.as_ref().map_err(Clone::clone).and_then(|hierarchy| {
                let cgroup = hierarchy.create(&self.name, limit_bytes)?;
                Ok(Limit::Set { cgroup, limit_bytes, by: hierarchy.name() })
            });
            made.unwrap_or_else(not_set)
        });
        self.state = Some(match state {
            Limit::Set { cgroup, limit_bytes, by } => match cgroup.add(worker_pid) {
                Ok(()) => Limit::Set { cgroup, limit_bytes, by },
                Err(reason) => not_set(reason),
            },
            not_set => not_set,
        });
    }

    /// What the record of a phase says of it.
    pub(crate) fn record(&self, syncs: u64) -> MemoryRecord {
        match &self.state {
            None => MemoryRecord::Whole,
            Some(Limit::Set { cgroup, limit_bytes, by }) => MemoryRecord::Limited {
                limit_bytes: *limit_bytes,
                by: (*by).to_owned(),
                peak_bytes: cgroup.peak_bytes(),
                syncs,
            },
            Some(Limit::NotSet { limit_bytes, reason }) => {
                MemoryRecord::NotLimited { limit_bytes: *limit_bytes, reason: reason.clone() }
            }
        }
    }

    /// The cgroup of the workers now.
    pub(crate) fn cgroup(&self) -> Option<&MemoryCgroup> {
        match &self.state {
            Some(Limit::Set { cgroup, .. }) => Some(cgroup),
            _ => None,
        }
    }

    /// Relieves a worker that is about to begin its work on the file system mounted at `root`.
    pub(crate) fn start_reliever(&self, root: &Path) -> Option<MemoryReliever> {
        match &self.state {
            Some(Limit::Set { cgroup, limit_bytes, .. }) => {
                Some(MemoryReliever::start(cgroup, *limit_bytes, root))
            }
            _ => None,
        }
    }

    /// A worker that was killed by its own memory limit did not just end.
    pub(crate) fn explain_death(&self, error: StepError) -> StepError {
        match &self.state {
            Some(Limit::Set { cgroup, limit_bytes, .. }) if cgroup.kills() > 0 => {
                StepError::Failed {
                    error: format!(
                        "the kernel killed the worker: {} of memory are not enough",
                        Bytes(*limit_bytes)
                    ),
                    remedy: Some("raise the memory limit (--memory)".to_owned()),
                }
            }
            _ => error,
        }
    }
}

/// To be said where relief was needed.
pub(crate) fn relief_notice(syncs: u64) -> Notice {
    Notice {
        code: "memory-relief".to_owned(),
        text: format!(
            "the file system was synced {syncs} time(s) in a phase to keep the kernel's own memory \
             within the limit"
        ),
        remedy: Some("a larger memory limit (--memory) needs none".to_owned()),
        measure: Some(syncs as f64),
    }
}
