//! A device without mechanics: every request takes a stated time and the time of its transfer.

use crate::finished::{Finished, transfer_ns};
use crate::request::{Completion, DeviceModel, Op, Request};
use crate::sheet::ConstantSheet;

/// One server, or several side by side, each first come, first served.
#[derive(Clone, Debug)]
pub struct Constant {
    sheet: ConstantSheet,
    /// When each server is free.
    free_ns: Vec<u64>,
    finished: Finished,
}

impl Constant {
    #[must_use]
    pub fn new(sheet: &ConstantSheet) -> Self {
        let servers = usize::try_from(sheet.servers).unwrap_or(1).max(1);
        Self { sheet: sheet.clone(), free_ns: vec![0; servers], finished: Finished::new() }
    }
}

impl DeviceModel for Constant {
    fn submit(&mut self, now_ns: u64, request: Request) {
        let sheet = &self.sheet;
        let takes_ns = match request.op {
            Op::Read => sheet.read_ns + transfer_ns(request.bytes(), sheet.bytes_per_s),
            Op::Write => sheet.write_ns + transfer_ns(request.bytes(), sheet.bytes_per_s),
            Op::Flush => sheet.flush_ns,
            Op::Discard => sheet.discard_ns,
        };
        // Of servers that are free at one time, the first.
        let mut first = 0;
        for (at, free_ns) in self.free_ns.iter().enumerate() {
            if *free_ns < self.free_ns[first] {
                first = at;
            }
        }
        let done_ns = self.free_ns[first].max(now_ns) + takes_ns;
        self.free_ns[first] = done_ns;
        self.finished.add(request.tag, done_ns);
    }

    fn poll(&mut self, now_ns: u64) -> Option<Completion> {
        self.finished.take(now_ns)
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.finished.next_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_takes_one_request_after_another() {
        let sheet = ConstantSheet {
            read_ns: 8_000_000,
            write_ns: 8_000_000,
            flush_ns: 0,
            discard_ns: 0,
            bytes_per_s: 100_000_000,
            servers: 1,
        };
        let mut one = Constant::new(&sheet);
        one.submit(0, Request::write(1, 0, 8));
        one.submit(5, Request::read(2, 0, 8));
        let done: Vec<_> = std::iter::from_fn(|| one.poll(u64::MAX)).collect();
        assert_eq!(done.iter().map(|c| c.at_ns).collect::<Vec<_>>(), [8_040_960, 16_081_920]);
        let mut two = Constant::new(&ConstantSheet { servers: 2, ..sheet });
        two.submit(0, Request::write(1, 0, 8));
        two.submit(5, Request::read(2, 0, 8));
        let done: Vec<_> = std::iter::from_fn(|| two.poll(u64::MAX)).collect();
        assert_eq!(done.iter().map(|c| c.at_ns).collect::<Vec<_>>(), [8_040_960, 8_040_965]);
    }
}
