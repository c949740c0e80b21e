//! Requests of the kernel, carried to the disk, and its completions, carried back in their time.

use super::lateness::Lateness;
use super::wire::{self, Asked, ServedFile, TRANSFER_MAX_BYTES, What, errno};
use crate::{Disk, Op, Request, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{HashMap, VecDeque};
use std::io::IoSlice;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long before its time a completion is waited for awake: a sleeper is woken later than it asked
/// for.
const AWAKE_NS: u64 = 120_000;

/// So long after its last answer the process stays awake for the next request: who waited for the
/// answer mostly asks again, and a processor that was halted takes tens of microseconds.
const AWAKE_AFTER: Duration = Duration::from_micros(50);

/// Contents that differ in sectors with at most so many between them are told to the kernel at
/// once.
const GAP: u64 = 64;

/// What the thread that serves and the one that answers questions share.
pub struct Served {
    /// `None`: everything is answered at once, and nothing is kept.
    pub disk: Option<Box<dyn Disk>>,
    pub late: Lateness,
    /// When the time of the disk began.
    pub began: Instant,
    /// The same in ns of CLOCK_MONOTONIC.
    pub began_ns: u64,
    pub file: ServedFile,
    /// Who waits awake takes the time of another disk's process.
    is_beside_another: bool,
    /// By tag.
    taken: Vec<Option<Taken>>,
    free: Vec<u32>,
    waiting: VecDeque<Waiting>,
    /// Writes of zeros that are done piece by piece: how many pieces are left, and an error.
    zeroed: HashMap<u64, (u64, i32)>,
    read: Vec<u8>,
}

/// A request that the disk has.
#[derive(Clone, Copy)]
struct Taken {
    unique: u64,
    request: Request,
    arrived_ns: u64,
    is_piece: bool,
}

/// A request that the disk has no room for yet.
struct Waiting {
    taken: Taken,
    /// Of a write; nothing for a piece, which is zeros.
    data: Vec<u8>,
}

impl Served {
    pub fn new(file: ServedFile, is_beside_another: bool) -> Self {
        Self {
            disk: None,
            late: Lateness::default(),
            began: Instant::now(),
            began_ns: 0,
            file,
            is_beside_another,
            taken: Vec::new(),
            free: Vec::new(),
            waiting: VecDeque::new(),
            zeroed: HashMap::new(),
            read: vec![0; TRANSFER_MAX_BYTES],
        }
    }

    /// Whether the disk has something to do.
    pub fn is_busy(&self) -> bool {
        !self.waiting.is_empty() || self.taken.iter().any(Option::is_some)
    }

    /// Another disk, whose time begins now; nothing is outstanding. Gives the sectors in which it
    /// has other contents: one crash state is much like the next.
    pub fn exchange(&mut self, disk: Box<dyn Disk>) -> Vec<Range<u64>> {
        let before = self.disk.as_ref().and_then(|disk| disk.view());
        let differing = disk.view().zip(before).map(|(now, before)| now.differing(before, GAP));
        let all = 0..self.file.size_bytes / 512;
        let depth = disk.description().queue_depth;
        self.disk = Some(disk);
        self.taken = vec![None; depth as usize];
        self.free = (0..depth).rev().collect();
        self.late = Lateness::default();
        self.began = Instant::now();
        self.began_ns = monotonic_ns();
        differing.unwrap_or_else(|| vec![all])
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Takes one request; `false` at the end.
    fn take(&mut self, fuse: BorrowedFd<'_>, bytes: &[u8]) -> bool {
        let Some(Asked { unique, what }) = wire::decoded(bytes, self.file) else {
            return true;
        };
        let sector = |at: u64| at / 512;
        let count = &mut self.late.served;
        let (op, at, len, data): (Op, u64, u64, &[u8]) = match what {
            What::Read { at, bytes } if bytes <= TRANSFER_MAX_BYTES => {
                count.reads += 1;
                (Op::Read, at, bytes as u64, &[])
            }
            What::Read { .. } => return answer(fuse, unique, errno::EINVAL, &[]),
            What::Write { at, data } => {
                count.writes += 1;
                (Op::Write, at, data.len() as u64, data)
            }
            What::Flush => {
                count.flushes += 1;
                (Op::Flush, 0, 0, &[])
            }
            What::Zero { at, bytes, may_discard } => {
                count.discards += 1;
                return self.zero(fuse, unique, (at, bytes), may_discard);
            }
            What::Answer(body) => return answer(fuse, unique, 0, &body),
            What::Fails(error) => return answer(fuse, unique, error, &[]),
            What::Silent => return true,
            What::End => return false,
        };
        let request = request(op, sector(at), len);
        let is_whole = at.is_multiple_of(512) && len.is_multiple_of(512);
        if !is_whole || at.saturating_add(len) > self.file.size_bytes {
            return answer(fuse, unique, errno::EINVAL, &[]);
        }
        if self.disk.is_none() {
            let len = usize::try_from(len).unwrap_or(0);
            return match op {
                Op::Read => answer(fuse, unique, 0, &self.read[..len]),
                Op::Write => answer(fuse, unique, 0, &wire::written(len)),
                _ => answer(fuse, unique, 0, &[]),
            };
        }
        if self.late.served.error.is_some() {
            return answer(fuse, unique, errno::EIO, &[]);
        }
        let arrived_ns = self.now_ns();
        self.submit(fuse, (unique, request, arrived_ns), data);
        true
    }

    /// A discard where it was one, if the device has it; else zeros are written.
    fn zero(
        &mut self,
        fuse: BorrowedFd<'_>,
        unique: u64,
        (at, bytes): (u64, u64),
        may_discard: bool,
    ) -> bool {
        let Some(disk) = &self.disk else { return answer(fuse, unique, 0, &[]) };
        let has_discard = disk.description().discard_max_sectors > 0;
        let end = at.saturating_add(bytes);
        let is_whole = at.is_multiple_of(512) && bytes.is_multiple_of(512);
        if bytes == 0 || !is_whole || end > self.file.size_bytes {
            return answer(fuse, unique, errno::EINVAL, &[]);
        }
        if self.late.served.error.is_some() {
            return answer(fuse, unique, errno::EIO, &[]);
        }
        if may_discard && !has_discard {
            // A write of zeros that the kernel hopes to get for nothing comes again as a write.
            return answer(fuse, unique, errno::EOPNOTSUPP, &[]);
        }
        let arrived_ns = self.now_ns();
        if may_discard && u32::try_from(bytes / 512).is_ok() {
            let request = request(Op::Discard, at / 512, bytes);
            self.submit(fuse, (unique, request, arrived_ns), &[]);
            return true;
        }
        let piece = TRANSFER_MAX_BYTES as u64;
        self.zeroed.insert(unique, (bytes.div_ceil(piece), 0));
        let mut from = at;
        while from < end {
            let len = piece.min(end - from);
            let request = request(Op::Write, from / 512, len);
            let taken = Taken { unique, request, arrived_ns, is_piece: true };
            self.waiting.push_back(Waiting { taken, data: Vec::new() });
            from += len;
        }
        self.feed(fuse);
        true
    }

    fn submit(
        &mut self,
        fuse: BorrowedFd<'_>,
        (unique, request, arrived_ns): (u64, Request, u64),
        data: &[u8],
    ) {
        if self.waiting.is_empty() && !self.free.is_empty() {
            self.hand_over(fuse, Taken { unique, request, arrived_ns, is_piece: false }, data);
            return;
        }
        let taken = Taken { unique, request, arrived_ns, is_piece: false };
        self.waiting.push_back(Waiting { taken, data: data.to_vec() });
        self.feed(fuse);
    }

    /// Hands over what has waited, as far as there is room.
    fn feed(&mut self, fuse: BorrowedFd<'_>) {
        while !self.free.is_empty() {
            let Some(Waiting { taken, data }) = self.waiting.pop_front() else { return };
            if taken.is_piece {
                let zeros = vec![0; usize::try_from(taken.request.bytes).unwrap_or(0)];
                self.hand_over(fuse, taken, &zeros);
            } else {
                self.hand_over(fuse, taken, &data);
            }
        }
    }

    fn hand_over(&mut self, fuse: BorrowedFd<'_>, mut taken: Taken, data: &[u8]) {
        let now_ns = self.now_ns();
        let (Some(tag), Some(disk)) = (self.free.pop(), self.disk.as_mut()) else { return };
        taken.request.tag = tag;
        if disk.submit(now_ns, &taken.request, data).is_ok() {
            self.taken[tag as usize] = Some(taken);
        } else {
            self.free.push(tag);
            self.finish(fuse, (taken.unique, taken.is_piece), errno::EIO, &[]);
        }
    }

    /// Answers a request, or counts a piece of one.
    fn finish(
        &mut self,
        fuse: BorrowedFd<'_>,
        (unique, is_piece): (u64, bool),
        error: i32,
        body: &[u8],
    ) {
        if !is_piece {
            answer(fuse, unique, error, body);
            return;
        }
        let Some((left, worst)) = self.zeroed.get_mut(&unique) else { return };
        *left -= 1;
        *worst = (*worst).max(error);
        if *left == 0 {
            let error = *worst;
            self.zeroed.remove(&unique);
            answer(fuse, unique, error, &[]);
        }
    }

    /// Answers all that is done by now; whether that was anything.
    fn complete(&mut self, fuse: BorrowedFd<'_>) -> bool {
        let mut has_answered = false;
        loop {
            let now_ns = self.now_ns();
            let Some(disk) = &mut self.disk else { return has_answered };
            match disk.poll_at(now_ns) {
                Ok(Some((tag, status, at_ns))) => {
                    let Some(taken) = self.taken[tag as usize].take() else { continue };
                    has_answered = true;
                    self.free.push(tag);
                    self.answer_done(fuse, taken, status);
                    let late_ns = self.now_ns().saturating_sub(at_ns);
                    self.late.add(at_ns.saturating_sub(taken.arrived_ns), late_ns);
                    self.feed(fuse);
                }
                Ok(None) => return has_answered,
                Err(error) => {
                    self.late.served.error = Some(error.to_string());
                    self.give_up(fuse);
                    return has_answered;
                }
            }
        }
    }

    fn answer_done(&mut self, fuse: BorrowedFd<'_>, taken: Taken, status: Status) {
        let Taken { unique, request, is_piece, .. } = taken;
        let len = usize::try_from(request.bytes).unwrap_or(0);
        if status != Status::Done {
            return self.finish(fuse, (unique, is_piece), errno::EIO, &[]);
        }
        match request.op {
            Op::Read => {
                let mut read = std::mem::take(&mut self.read);
                let into = &mut read[..len];
                let got = self.disk.as_mut().map(|disk| disk.read(&request, into));
                let error = if matches!(got, Some(Ok(()))) { 0 } else { errno::EIO };
                let body = if error == 0 { &read[..len] } else { &[] };
                self.finish(fuse, (unique, is_piece), error, body);
                self.read = read;
            }
            Op::Write => self.finish(fuse, (unique, is_piece), 0, &wire::written(len)),
            Op::Flush | Op::Discard | Op::WriteZeroes => {
                self.finish(fuse, (unique, is_piece), 0, &[]);
            }
        }
    }

    /// Nothing will be done any more: everything that is outstanding fails, and what comes.
    fn give_up(&mut self, fuse: BorrowedFd<'_>) {
        let taken: Vec<Taken> = self.taken.iter_mut().filter_map(Option::take).collect();
        for one in taken {
            self.finish(fuse, (one.unique, one.is_piece), errno::EIO, &[]);
        }
        for Waiting { taken: one, .. } in std::mem::take(&mut self.waiting) {
            self.finish(fuse, (one.unique, one.is_piece), errno::EIO, &[]);
        }
        self.free.clear();
    }

    fn awake_after(&self) -> Duration {
        if self.is_beside_another { Duration::ZERO } else { AWAKE_AFTER }
    }

    /// How long nothing will be done by the disk; `None`: until it is asked for something.
    fn quiet_ns(&self) -> Option<u64> {
        let next_ns = self.disk.as_ref()?.next_event_ns()?;
        self.is_busy().then(|| next_ns.saturating_sub(self.now_ns()))
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

fn request(op: Op, sector: u64, bytes: u64) -> Request {
    Request { tag: 0, op, sector, bytes, fua: false, flags: 0 }
}

/// `true`, whether the kernel still wants to hear it or not.
fn answer(fuse: BorrowedFd<'_>, unique: u64, error: i32, body: &[u8]) -> bool {
    let body = if error == 0 { body } else { &[] };
    let head = wire::reply(unique, error, body.len());
    let _ = rustix::io::writev(fuse, &[IoSlice::new(&head), IoSlice::new(body)]);
    true
}

/// Tells the kernel that the file has other contents in these sectors; nobody uses it.
pub fn contents_changed(fuse: BorrowedFd<'_>, sectors: &[Range<u64>]) -> Result<(), Errno> {
    sectors.iter().try_for_each(|sectors| {
        let bytes = sectors.start * 512..sectors.end * 512;
        match rustix::io::write(fuse, &wire::contents_changed(&bytes)) {
            // The kernel has nothing of it.
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error),
        }
    })
}

/// Serves until the kernel lets go.
pub fn serve(fuse: BorrowedFd<'_>, shared: &Mutex<Served>) -> Result<(), Errno> {
    let mut buffer = vec![0; wire::BUFFER_BYTES];
    // When something was asked or answered last.
    let mut asked = Instant::now();
    loop {
        let (quiet_ns, awake_after) = {
            let mut served = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if served.complete(fuse) {
                asked = Instant::now();
            }
            (served.quiet_ns(), served.awake_after())
        };
        let got = match rustix::io::read(fuse, &mut buffer) {
            Ok(0) | Err(Errno::NODEV) => return Ok(()),
            Ok(bytes) => bytes,
            Err(Errno::AGAIN) if asked.elapsed() < awake_after => {
                std::hint::spin_loop();
                continue;
            }
            Err(Errno::AGAIN) => {
                sleep(fuse, quiet_ns)?;
                continue;
            }
            // A request that was given up before it was read.
            Err(Errno::INTR | Errno::NOENT) => continue,
            Err(error) => return Err(error),
        };
        let mut served = shared.lock().unwrap_or_else(PoisonError::into_inner);
        served.complete(fuse);
        if !served.take(fuse, &buffer[..got]) {
            return Ok(());
        }
        asked = Instant::now();
    }
}

/// Waits for a request, or until it is nearly time for a completion.
fn sleep(fuse: BorrowedFd<'_>, quiet_ns: Option<u64>) -> Result<(), Errno> {
    let limit = match quiet_ns {
        None => None,
        Some(quiet_ns) if quiet_ns <= AWAKE_NS => return Ok(()),
        Some(quiet_ns) => {
            let ns = quiet_ns - AWAKE_NS;
            let (tv_sec, tv_nsec) = ((ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64);
            Some(Timespec { tv_sec, tv_nsec })
        }
    };
    match poll(&mut [PollFd::from_borrowed_fd(fuse, PollFlags::IN)], limit.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}
