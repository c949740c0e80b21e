//! A disk after a power cut: what a write log and its crash state leave, and what is written to it
//! since. Requests are done at once; what was written stays in the view.

use super::message::{Description, Features, Op, Request, Status};
use super::server::{Disk, DiskError};
use fsarena_vdisk::{Completion, Outcome, Request as ModelRequest, SECTOR_BYTES, View, WriteLog};
use std::collections::VecDeque;
use std::io;

const QUEUE_DEPTH: u32 = 32;
/// Zeros are written in pieces of this size.
const ZEROS_BYTES: usize = 64 << 10;

/// Contents that a disk shows one after another, views of one store and log.
pub type Views<'a> = Box<dyn Iterator<Item = io::Result<View<'a>>> + Send + 'a>;

/// The next of some contents.
pub(super) fn next_of<'a>(later: &mut Views<'a>) -> Result<View<'a>, DiskError> {
    let none = || DiskError::Refused("it has no further contents".to_owned());
    Ok(later.next().ok_or_else(none)??)
}

/// See the module.
pub struct CrashViewDisk<'a> {
    view: View<'a>,
    later: Views<'a>,
    size_bytes: u64,
    done: VecDeque<u32>,
    /// When the last request came.
    now_ns: u64,
    /// Of what is written to it.
    log: Option<WriteLog>,
}

impl<'a> CrashViewDisk<'a> {
    /// A disk of so many bytes, a multiple of 512, with the contents of the view.
    #[must_use]
    pub fn new(view: View<'a>, size_bytes: u64) -> Self {
        Self::in_turn(view, Box::new(std::iter::empty()), size_bytes)
    }

    /// The same, and later the contents of other views.
    #[must_use]
    pub fn in_turn(view: View<'a>, later: Views<'a>, size_bytes: u64) -> Self {
        Self { view, later, size_bytes, done: VecDeque::new(), now_ns: 0, log: None }
    }

    /// The same, and what is written to it goes into a log.
    #[must_use]
    pub fn logged(view: View<'a>, size_bytes: u64) -> Self {
        Self { log: Some(WriteLog::in_memory()), ..Self::new(view, size_bytes) }
    }

    /// What was written to it, where it was logged.
    #[must_use]
    pub fn into_log(self) -> Option<WriteLog> {
        self.log
    }

    fn write(&mut self, now_ns: u64, sector: u64, data: &[u8]) -> Result<(), DiskError> {
        self.view.write(sector, data)?;
        let sectors = u32::try_from(data.len() as u64 / SECTOR_BYTES).unwrap_or(u32::MAX);
        self.note(now_ns, &ModelRequest::write(0, sector, sectors), data)
    }

    fn note(&mut self, now_ns: u64, request: &ModelRequest, data: &[u8]) -> Result<(), DiskError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let done = Completion { tag: 0, at_ns: now_ns, outcome: Outcome::Done };
        Ok(log.completed(request, now_ns, &done, data)?)
    }

    fn check(&self, request: &Request) -> Result<(), DiskError> {
        let end = request.sector.saturating_mul(SECTOR_BYTES).saturating_add(request.bytes);
        if end <= self.size_bytes && request.bytes.is_multiple_of(SECTOR_BYTES) {
            return Ok(());
        }
        Err(DiskError::Refused(format!("{request:?} is beyond the end, or no whole sectors")))
    }

    fn write_zeros(&mut self, now_ns: u64, request: &Request) -> Result<(), DiskError> {
        let zeros = [0; ZEROS_BYTES];
        let (mut sector, mut left) = (request.sector, request.bytes);
        while left > 0 {
            let len = left.min(ZEROS_BYTES as u64);
            let piece = &zeros[..usize::try_from(len).unwrap_or(ZEROS_BYTES)];
            self.write(now_ns, sector, piece)?;
            sector += len / SECTOR_BYTES;
            left -= len;
        }
        Ok(())
    }
}

impl Disk for CrashViewDisk<'_> {
    fn description(&self) -> Description {
        let about = Description::with_sectors(self.size_bytes / SECTOR_BYTES);
        let features = Features { at_once: true, ..about.features };
        // Repair is looked at, and no discard.
        Description { queue_depth: QUEUE_DEPTH, discard_max_sectors: 0, features, ..about }
    }

    fn submit(&mut self, now_ns: u64, request: &Request, data: &[u8]) -> Result<(), DiskError> {
        self.check(request)?;
        match request.op {
            Op::Write => self.write(now_ns, request.sector, data)?,
            Op::WriteZeroes => self.write_zeros(now_ns, request)?,
            Op::Discard => {
                return Err(DiskError::Refused(format!("{request:?} was not announced")));
            }
            Op::Flush => self.note(now_ns, &ModelRequest::flush(0), &[])?,
            Op::Read => {}
        }
        self.now_ns = now_ns;
        self.done.push_back(request.tag);
        Ok(())
    }

    fn poll(&mut self, _now_ns: u64) -> Result<Option<(u32, Status)>, DiskError> {
        Ok(self.done.pop_front().map(|tag| (tag, Status::Done)))
    }

    fn read(&mut self, request: &Request, into: &mut [u8]) -> Result<(), DiskError> {
        Ok(self.view.read(request.sector, into)?)
    }

    fn next_event_ns(&self) -> Option<u64> {
        (!self.done.is_empty()).then_some(self.now_ns)
    }

    fn take_next_contents(&mut self) -> Result<(), DiskError> {
        self.view = next_of(&mut self.later)?;
        Ok(())
    }

    fn view(&self) -> Option<&View<'_>> {
        Some(&self.view)
    }

    fn log(&self) -> Option<&WriteLog> {
        self.log.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_vdisk::{Discarded, Store, WriteLog};

    fn request(op: Op, sector: u64, bytes: u64) -> Request {
        Request { tag: 3, op, sector, bytes, fua: false, flags: 0 }
    }

    #[test]
    fn what_is_written_is_there_and_the_contents_before_are_kept() {
        let mut base = Store::in_memory(1 << 20, Discarded::Zeros);
        base.write(8, &[5; 4096]).unwrap();
        let log = WriteLog::in_memory();
        let mut disk = CrashViewDisk::logged(View::prefix(&base, &log, 0), 1 << 20);
        disk.submit(7, &request(Op::Write, 9, 512), &[6; 512]).unwrap();
        assert_eq!(disk.next_event_ns(), Some(7));
        assert_eq!(disk.poll(7).unwrap(), Some((3, Status::Done)));
        assert_eq!(disk.next_event_ns(), None);
        disk.submit(8, &request(Op::WriteZeroes, 10, 1024), &[]).unwrap();
        let mut got = [0; 2048];
        disk.read(&request(Op::Read, 8, 2048), &mut got).unwrap();
        assert_eq!((got[0], got[512], got[1024], got[2047]), (5, 6, 0, 0));
        assert!(disk.submit(9, &request(Op::Read, 2048, 512), &[]).is_err());
        disk.submit(9, &request(Op::Flush, 0, 0), &[]).unwrap();
        let written = disk.into_log().unwrap();
        let of = written.entries().iter().map(|it| (it.submitted_ns, it.sector, it.sectors));
        assert_eq!(of.collect::<Vec<_>>(), [(7, 9, 1), (8, 10, 2), (9, 0, 0)]);
        let mut kept = [0; 512];
        base.read(9, &mut kept).unwrap();
        assert_eq!(kept[0], 5);
    }
}
