//! A disk in memory whose requests take a constant time, one after the other. It shows that a guest
//! kernel works; it is no model of any device.

use super::message::{Description, Op, Request, Status};
use super::server::{Disk, DiskError};
use std::collections::VecDeque;

/// Requests that it takes at one time.
const QUEUE_DEPTH: u32 = 32;
const SECTOR_BYTES: u64 = 512;

/// See the module.
#[derive(Debug)]
pub struct ConstantDisk {
    contents: Vec<u8>,
    latency_ns: u64,
    /// In the order of their ends.
    queue: VecDeque<(u64, u32)>,
    idle_from_ns: u64,
}

impl ConstantDisk {
    /// A disk of so many bytes, a multiple of 512.
    #[must_use]
    pub fn new(bytes: usize, latency_ns: u64) -> Self {
        let contents = vec![0; bytes];
        Self { contents, latency_ns, queue: VecDeque::new(), idle_from_ns: 0 }
    }

    /// What is on it.
    #[must_use]
    pub fn contents(&self) -> &[u8] {
        &self.contents
    }

    fn range(&self, request: &Request) -> Option<std::ops::Range<usize>> {
        let from = request.sector.checked_mul(SECTOR_BYTES)?;
        let to = from.checked_add(request.bytes)?;
        let range = usize::try_from(from).ok()?..usize::try_from(to).ok()?;
        (range.end <= self.contents.len()).then_some(range)
    }
}

impl Disk for ConstantDisk {
    fn description(&self) -> Description {
        let sectors = self.contents.len() as u64 / SECTOR_BYTES;
        Description { queue_depth: QUEUE_DEPTH, ..Description::with_sectors(sectors) }
    }

    fn submit(&mut self, now_ns: u64, request: &Request, data: &[u8]) -> Result<(), DiskError> {
        let range = self.range(request);
        let beyond = || DiskError::Refused(format!("{request:?} is beyond the end"));
        let range = range.ok_or_else(beyond)?;
        match request.op {
            Op::Write => self.contents[range].copy_from_slice(data),
            Op::WriteZeroes | Op::Discard => self.contents[range].fill(0),
            Op::Read | Op::Flush => {}
        }
        let takes_ns = if request.op == Op::Flush { 0 } else { self.latency_ns };
        self.idle_from_ns = self.idle_from_ns.max(now_ns) + takes_ns;
        self.queue.push_back((self.idle_from_ns, request.tag));
        Ok(())
    }

    fn poll(&mut self, now_ns: u64) -> Result<Option<(u32, Status)>, DiskError> {
        let is_done = self.queue.front().is_some_and(|(at_ns, _)| *at_ns <= now_ns);
        let done = if is_done { self.queue.pop_front() } else { None };
        Ok(done.map(|(_, tag)| (tag, Status::Done)))
    }

    fn read(&mut self, request: &Request, into: &mut [u8]) -> Result<(), DiskError> {
        let range = self.range(request).expect("checked when it was submitted");
        into.copy_from_slice(&self.contents[range]);
        Ok(())
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.queue.front().map(|(at_ns, _)| *at_ns)
    }
}
