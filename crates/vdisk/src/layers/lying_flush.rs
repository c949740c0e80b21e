//! A device that acknowledges flushes and forced writes before the data are safe, as some disks do.

use crate::finished::{Finished, earlier};
use crate::request::{Completion, DeviceModel, Op, Request};

/// A flush completes after a stated time and does nothing; a forced write is an ordinary one.
#[derive(Clone, Debug)]
pub struct LyingFlush<M> {
    below: M,
    flush_ns: u64,
    finished: Finished,
}

impl<M: DeviceModel> LyingFlush<M> {
    /// `flush_ns`: how long it pretends to flush.
    #[must_use]
    pub fn new(below: M, flush_ns: u64) -> Self {
        Self { below, flush_ns, finished: Finished::new() }
    }
}

impl<M: DeviceModel> DeviceModel for LyingFlush<M> {
    fn submit(&mut self, now_ns: u64, request: Request) {
        match request.op {
            Op::Flush => self.finished.add(request.tag, now_ns + self.flush_ns),
            _ => self.below.submit(now_ns, Request { fua: false, ..request }),
        }
    }

    fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        while let Some(done) = self.below.poll(now_ns) {
            self.finished.add_with(done.tag, done.at_ns, done.outcome);
        }
        self.finished.take(now_ns)
    }

    fn next_event_ns(&self) -> Option<u64> {
        earlier(self.finished.next_ns(), self.below.next_event_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constant::Constant;
    use crate::layers::write_cache::WriteCache;
    use crate::sheet::{ConstantSheet, WriteCacheSheet};

    #[test]
    fn a_flush_completes_while_data_are_dirty() {
        let disk = ConstantSheet {
            read_ns: 0,
            write_ns: 5_000_000,
            flush_ns: 0,
            discard_ns: 0,
            bytes_per_s: 100_000_000,
            servers: 1,
        };
        let cache = WriteCacheSheet {
            capacity_bytes: 1 << 20,
            extents: 8,
            destage_depth: 1,
            destage_bytes: 1 << 20,
            idle_ns: 1_000_000_000,
            command_ns: 0,
            bus_bytes_per_s: 100_000_000,
        };
        let mut liar = LyingFlush::new(WriteCache::new(&cache, Constant::new(&disk)), 60_000);
        liar.submit(0, Request::write(1, 0, 8));
        liar.submit(50_000, Request::flush(2));
        liar.submit(50_000, Request::write_fua(3, 8, 8));
        let done: Vec<_> = std::iter::from_fn(|| liar.poll(999_000_000)).collect();
        assert_eq!(done.iter().map(|one| one.tag).collect::<Vec<_>>(), [1, 3, 2]);
        assert_eq!(done[2].at_ns, 110_000);
        assert_eq!(liar.below.dirty_bytes(), 8192, "the medium has nothing of it");
    }
}
