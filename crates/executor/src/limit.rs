//! The memory limit of a trial: one cgroup for the workers of its phases, so that pages which one
//! phase left in the cache stay charged to the limit in the next.

use crate::cgroup::MemoryCgroup;
use crate::relief::Relief;
use crate::trial::{StepError, Trial};
use fsarena_model::record::{MemoryRecord, Notice};
use fsarena_model::units::Bytes;

/// The cgroup of a trial, or why there is none.
#[derive(Debug)]
pub(crate) enum Memory {
    /// Its workers are limited.
    Limited {
        /// The cgroup.
        cgroup: MemoryCgroup,
        /// Its limit.
        limit_bytes: u64,
        /// `cgroup v1` or `cgroup v2`.
        by: &'static str,
    },
    /// They should be, and are not.
    NotLimited {
        /// Limit asked for.
        limit_bytes: u64,
        /// Why not.
        reason: String,
    },
}

impl Trial<'_> {
    /// Puts a worker under the contender's memory limit, where there is one.
    pub(crate) fn limit_memory(&mut self, worker_pid: u32) {
        let Some(limit_bytes) = self.spec.contender.levels.memory_bytes else { return };
        let not_limited = |reason| Memory::NotLimited { limit_bytes, reason };
        let memory = self.memory.take().unwrap_or_else(|| {
            let made = self.hierarchy.as_ref().map_err(Clone::clone).and_then(|hierarchy| {
                let cgroup = hierarchy.create(&self.spec.name, limit_bytes)?;
                Ok(Memory::Limited { cgroup, limit_bytes, by: hierarchy.name() })
            });
            made.unwrap_or_else(not_limited)
        });
        self.memory = Some(match memory {
            Memory::Limited { cgroup, limit_bytes, by } => match cgroup.add(worker_pid) {
                Ok(()) => Memory::Limited { cgroup, limit_bytes, by },
                Err(reason) => not_limited(reason),
            },
            not_limited => not_limited,
        });
    }

    /// What the record of a phase says of its limit.
    pub(crate) fn memory_record(&self, syncs: u64) -> MemoryRecord {
        match &self.memory {
            None => MemoryRecord::Whole,
            Some(Memory::Limited { cgroup, limit_bytes, by }) => MemoryRecord::Limited {
                limit_bytes: *limit_bytes,
                by: (*by).to_owned(),
                peak_bytes: cgroup.peak_bytes(),
                syncs,
            },
            Some(Memory::NotLimited { limit_bytes, reason }) => {
                MemoryRecord::NotLimited { limit_bytes: *limit_bytes, reason: reason.clone() }
            }
        }
    }

    /// The cgroup that limits the workers now.
    pub(crate) fn cgroup(&self) -> Option<&MemoryCgroup> {
        match &self.memory {
            Some(Memory::Limited { cgroup, .. }) => Some(cgroup),
            _ => None,
        }
    }

    /// Relief for a worker that is about to go.
    pub(crate) fn start_relief(&self) -> Result<Option<Relief>, StepError> {
        match &self.memory {
            Some(Memory::Limited { cgroup, limit_bytes, .. }) => {
                Ok(Some(Relief::start(cgroup, *limit_bytes, &self.work_root()?)))
            }
            _ => Ok(None),
        }
    }

    /// A worker that was killed by its own memory limit did not just end.
    pub(crate) fn explain_death(&self, error: StepError) -> StepError {
        match &self.memory {
            Some(Memory::Limited { cgroup, limit_bytes, .. }) if cgroup.kills() > 0 => {
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
