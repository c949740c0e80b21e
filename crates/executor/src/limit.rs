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
    /// From the first worker on: their cgroup, or why they are not limited and should be.
    cgroup: Option<Result<MemoryCgroup, String>>,
}

impl MemoryLimit {
    /// Of a trial with this name, where cgroups are as `mountinfo` says.
    pub(crate) fn new(name: &str, limit_bytes: Option<u64>, mountinfo: &str) -> Self {
        let hierarchy = Hierarchy::find(mountinfo);
        Self { name: name.to_owned(), limit_bytes, hierarchy, cgroup: None }
    }

    /// Puts a worker under it.
    pub(crate) fn add(&mut self, worker_pid: u32) {
        let Some(limit_bytes) = self.limit_bytes else { return };
        let cgroup = self.cgroup.take().unwrap_or_else(|| {
            self.hierarchy.as_ref().map_err(Clone::clone)?.create(&self.name, limit_bytes)
        });
        self.cgroup = Some(cgroup.and_then(|cgroup| cgroup.add(worker_pid).map(|()| cgroup)));
    }

    /// Of workers on other hosts: a cgroup here does not hold them.
    pub(crate) fn cannot_limit(&mut self, why: &str) {
        if self.limit_bytes.is_some() {
            self.cgroup = Some(Err(why.to_owned()));
        }
    }

    /// The cgroup of the workers now, and its limit.
    fn limited(&self) -> Option<(&MemoryCgroup, u64)> {
        self.cgroup.as_ref()?.as_ref().ok().zip(self.limit_bytes)
    }

    /// What the record of a phase says of it.
    pub(crate) fn record(&self, syncs: u64) -> MemoryRecord {
        match (&self.cgroup, self.limit_bytes) {
            (Some(Ok(cgroup)), Some(limit_bytes)) => MemoryRecord::Limited {
                limit_bytes,
                by: cgroup.version_name().to_owned(),
                peak_bytes: cgroup.peak_bytes(),
                syncs,
            },
            (Some(Err(reason)), Some(limit_bytes)) => {
                MemoryRecord::NotLimited { limit_bytes, reason: reason.clone() }
            }
            _ => MemoryRecord::Whole,
        }
    }

    /// The cgroup of the workers now.
    pub(crate) fn cgroup(&self) -> Option<&MemoryCgroup> {
        self.limited().map(|(cgroup, _)| cgroup)
    }

    /// Relieves a worker that is about to begin its work on the file system mounted at `root`.
    pub(crate) fn start_reliever(&self, root: &Path) -> Option<MemoryReliever> {
        self.limited().map(|(cgroup, limit_bytes)| MemoryReliever::start(cgroup, limit_bytes, root))
    }

    /// A worker that was killed by its own memory limit did not just end.
    pub(crate) fn explain_death(&self, error: StepError) -> StepError {
        let killed = self.limited().filter(|(cgroup, _)| cgroup.kills() > 0);
        killed.map_or(error, |(_, limit_bytes)| StepError::Failed {
            error: format!(
                "the kernel killed the worker: {} of memory are not enough",
                Bytes(limit_bytes)
            ),
            remedy: Some("raise the memory limit (--memory)".to_owned()),
        })
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
