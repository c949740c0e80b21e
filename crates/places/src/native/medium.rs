//! What is served: a modelled disk, or a crash state that answers at once.

use crate::disk::{
    CrashViewDisk, Description, Disk as _, DiskError, ModelledDisk, Request, Status,
};
use fsarena_vdisk::WriteLog;

/// See the module.
pub(super) enum Medium {
    Modelled(Box<ModelledDisk>),
    /// What it is a view of lives as long as the process.
    State(Box<CrashViewDisk<'static>>),
}

impl Medium {
    pub(super) fn description(&self) -> Description {
        match self {
            Self::Modelled(disk) => disk.description(),
            Self::State(disk) => disk.description(),
        }
    }

    pub(super) fn submit(
        &mut self,
        now_ns: u64,
        request: &Request,
        data: &[u8],
    ) -> Result<(), DiskError> {
        match self {
            Self::Modelled(disk) => disk.submit(now_ns, request, data),
            Self::State(disk) => disk.submit(now_ns, request, data),
        }
    }

    /// The next request that is done by now, with the time at which it was.
    pub(super) fn poll_at(&mut self, now_ns: u64) -> Result<Option<(u32, Status, u64)>, DiskError> {
        match self {
            Self::Modelled(disk) => disk.poll_at(now_ns),
            Self::State(disk) => Ok(disk.poll(now_ns)?.map(|(tag, status)| (tag, status, now_ns))),
        }
    }

    pub(super) fn read(&mut self, request: &Request, into: &mut [u8]) -> Result<(), DiskError> {
        match self {
            Self::Modelled(disk) => disk.read(request, into),
            Self::State(disk) => disk.read(request, into),
        }
    }

    pub(super) fn next_event_ns(&self) -> Option<u64> {
        match self {
            Self::Modelled(disk) => disk.next_event_ns(),
            Self::State(disk) => disk.next_event_ns(),
        }
    }

    /// What was written to it, where it is logged.
    pub(super) fn log(&self) -> Option<&WriteLog> {
        match self {
            Self::Modelled(disk) => disk.log(),
            Self::State(disk) => disk.log(),
        }
    }
}
