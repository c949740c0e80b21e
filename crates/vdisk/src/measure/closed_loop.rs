//! A driver in simulated time: it keeps so many requests in flight, and submits the next one when
//! one completes.

use super::measured::Measured;
use crate::device::VirtualDevice;
use crate::request::{HOST_TAGS, Request};

/// A device and the time.
pub(super) struct ClosedLoop {
    pub(super) device: VirtualDevice,
    pub(super) now_ns: u64,
}

/// What a loop took.
pub(super) struct Took {
    pub(super) ns: u64,
    pub(super) latencies_ns: Vec<u64>,
}

impl ClosedLoop {
    pub(super) fn new(device: VirtualDevice) -> Self {
        Self { device, now_ns: 0 }
    }

    /// Lets time go by.
    pub(super) fn idle(&mut self, ns: u64) {
        let until_ns = self.now_ns + ns;
        while let Some(next_ns) = self.device.next_event_ns().filter(|next| *next <= until_ns) {
            self.device.poll(next_ns);
        }
        self.now_ns = until_ns;
    }

    /// One request, to its end; how long it took.
    pub(super) fn one(&mut self, request: Request) -> u64 {
        let took = self.run(1, 1, |tag, _| Request { tag, ..request });
        took.ns
    }

    /// `count` requests, `depth` in flight; `next` makes the one with a tag and a number.
    pub(super) fn run(
        &mut self,
        depth: u16,
        count: u64,
        mut next: impl FnMut(u16, u64) -> Request,
    ) -> Took {
        let begin_ns = self.now_ns;
        let mut submitted_ns = [0; HOST_TAGS];
        let mut latencies_ns = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
        let mut free: Vec<u16> = (0..depth).rev().collect();
        let mut sent = 0;
        loop {
            while sent < count
                && let Some(tag) = free.pop()
            {
                submitted_ns[usize::from(tag)] = self.now_ns;
                let request = next(tag, sent);
                let taken = self.device.submit(self.now_ns, request);
                taken.expect("a measurement keeps the limits of its device");
                sent += 1;
            }
            let Some(next_ns) = self.device.next_event_ns() else { break };
            self.now_ns = self.now_ns.max(next_ns);
            while let Some(done) = self.device.poll(self.now_ns) {
                latencies_ns.push(done.at_ns - submitted_ns[usize::from(done.tag)]);
                free.push(done.tag);
            }
            if latencies_ns.len() as u64 == count {
                break;
            }
        }
        Took { ns: self.now_ns - begin_ns, latencies_ns }
    }
}

impl Took {
    /// Bytes in this time.
    pub(super) fn megabytes_per_s(self, bytes: u64) -> Measured {
        let value = bytes as f64 * 1e3 / self.ns.max(1) as f64;
        self.with(value)
    }

    /// Operations in this time.
    pub(super) fn per_s(self, count: u64) -> Measured {
        let value = count as f64 * 1e9 / self.ns.max(1) as f64;
        self.with(value)
    }

    fn with(mut self, value: f64) -> Measured {
        self.latencies_ns.sort_unstable();
        Measured { value, latencies_ns: self.latencies_ns }
    }
}
