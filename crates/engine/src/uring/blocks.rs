//! Calls in big files: blocks in order or at random, `iodepth` of them in flight.
//!
//! Files are opened, synced (`fsync = "file"`) and closed with blocking calls, within the latency
//! of their first and last op, as the loops of blocking calls do it; the blocks go through the
//! ring. Files of a random phase are open from before its first op to after its last. A file in use
//! is in the ring's table of files, so that an op costs no search for it.

use super::recorder::RingRecorder;
use super::ring::{Buffers, Ring, Shape, WriteBytes, enter, errno};
use super::{FailedOp, LoopOutcome};
use crate::op::PUNCH_HOLE;
use crate::outcome::Failure;
use crate::stamp::Contents;
use io_uring::squeue::{self, Flags};
use io_uring::types::Fixed;
use io_uring::{IoUring, SubmissionQueue, Submitter, opcode};
use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd, IntoRawFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;

/// One op: a call in a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// Number of the file.
    pub file: u32,
    /// Bytes; 0 only for a file that has none, which is opened and closed and is no op.
    pub len: u32,
    /// Where.
    pub offset: u64,
    /// Whether it is written.
    pub write: bool,
    /// Whether it is the last of this thread in the file.
    pub last: bool,
}

/// Where the blocks of a thread come from.
pub(crate) trait BlockSource {
    /// The next block.
    fn next(&mut self) -> Option<Block>;
    /// Path of a file.
    fn path(&mut self, file: u32) -> &CStr;
    /// All of a file is done, and it is closed: syncs its directory where that is due.
    fn closed(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure>;
}

/// What a loop has to know of its phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// How files are opened.
    pub flags: OFlags,
    /// Whether each write is followed by fsync(2).
    pub sync_each: bool,
    /// Whether fsync(2) comes before close(2).
    pub sync_file: bool,
    /// Whether blocks are given back, and nothing is read or written.
    pub trims: bool,
    /// Bytes that a read asks for: a multiple of this (`O_DIRECT`), else 1.
    pub read_align: u32,
    /// Number of files that are open all the time; 0 where they come one after the other.
    pub kept_open: u32,
}

/// A index for an op in flight.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    began: u64,
    op: u64,
    /// Bytes that must be moved; 0 of a trim.
    len: u32,
    file: u32,
    /// Entry in the table of files.
    entry: u32,
    /// Completions to come.
    pending: u8,
    write: bool,
    failed: bool,
}

/// A file in use.
#[derive(Debug, Default)]
struct OpenFile {
    file: u32,
    fd: Option<OwnedFd>,
    in_flight: u32,
    /// No further op will come.
    sealed: bool,
}

/// All that is made before the phase.
#[derive(Debug)]
pub(crate) struct BlockLoop {
    ring: Ring,
    slots: Box<[Slot]>,
    free: Vec<u32>,
    files: Box<[OpenFile]>,
    /// Whether it was left with ops in flight, whose memory the kernel may still use.
    pub busy: bool,
}

const SYNC: u64 = 1 << 32;

impl BlockLoop {
    /// A loop of `depth` slots with buffers of `bs_bytes`, and `own` contents that outlive it. One
    /// that is busy must never be dropped.
    pub fn new(
        depth: u32,
        bs_bytes: usize,
        rules: &Rules,
        own: &[Contents],
    ) -> Result<Self, Failure> {
        let files = rules.kept_open.max(depth + 1);
        let chain = if rules.sync_each { 2 } else { 1 };
        let ring = Ring::new(Shape { slots: depth, chain, buffer_bytes: bs_bytes, files }, own)?;
        Ok(Self {
            ring,
            slots: vec![Slot::default(); depth as usize].into(),
            free: Vec::with_capacity(depth as usize),
            files: (0..files).map(|_| OpenFile::default()).collect(),
            busy: false,
        })
    }

    /// Runs all blocks, or until one fails; what was in flight then is waited for.
    pub fn run<B: BlockSource, W: RingRecorder>(
        &mut self,
        lookup: BorrowedFd<'_>,
        rules: Rules,
        blocks: &mut B,
        contents: WriteBytes<'_>,
        recorder: &mut W,
    ) -> LoopOutcome {
        self.free.clear();
        self.free.extend((0..self.slots.len() as u32).rev());
        self.busy = true;
        let (ring, buffers) = self.ring.parts();
        let mut running = Running {
            lookup,
            rules,
            blocks,
            contents,
            recorder,
            buffers,
            slots: &mut self.slots,
            free: &mut self.free,
            files: &mut self.files,
            current: None,
            issued: 0,
            outcome: LoopOutcome::default(),
        };
        let drained = running.run(ring);
        let outcome = running.outcome;
        self.busy = !drained;
        outcome
    }
}

/// A phase under way in one thread.
struct Running<'a, B, W> {
    lookup: BorrowedFd<'a>,
    rules: Rules,
    blocks: &'a mut B,
    contents: WriteBytes<'a>,
    recorder: &'a mut W,
    buffers: Buffers<'a>,
    slots: &'a mut [Slot],
    free: &'a mut Vec<u32>,
    files: &'a mut [OpenFile],
    /// Entry of the file that blocks come from now.
    current: Option<usize>,
    issued: u64,
    outcome: LoopOutcome,
}

impl<B: BlockSource, W: RingRecorder> Running<'_, B, W> {
    /// `false` where it was left with ops in flight.
    fn run(&mut self, ring: &mut IoUring) -> bool {
        let mut now = self.recorder.now();
        let (submitter, mut queue, mut done) = ring.split();
        for file in 0..self.rules.kept_open {
            if !self.open(&submitter, file as usize, file) {
                break;
            }
        }
        let depth = self.slots.len();
        let mut more = true;
        loop {
            while more && self.outcome.failed.is_none() && !self.free.is_empty() {
                more = self.issue(&submitter, &mut queue, now);
            }
            if self.free.len() == depth {
                break;
            }
            queue.sync();
            let entered = enter(&submitter, &mut done);
            now = self.recorder.now();
            if let Err(error) = entered
                && !self.outcome.survives(errno(&error), self.issued)
            {
                return false;
            }
            queue.sync();
            done.sync();
            // All that came back together was seen at one moment.
            let seen = now;
            for completion in &mut done {
                let (data, result) = (completion.user_data(), completion.result());
                self.complete(&submitter, (data, result), seen, &mut now);
            }
            // Tells the kernel what was taken: else it sees old completions, and does not wait.
            done.sync();
        }
        // Those that are open all the time, and after a failure those in the middle.
        for entry in 0..self.files.len() {
            self.close(&submitter, entry, self.issued);
        }
        true
    }

    /// Takes the next block and puts it into the queue; `false` when there is none.
    #[inline(always)]
    fn issue(
        &mut self,
        submitter: &Submitter<'_>,
        queue: &mut SubmissionQueue<'_>,
        now: u64,
    ) -> bool {
        let Some(block) = self.blocks.next() else { return false };
        let Some(entry) = self.entry(submitter, &block) else { return true };
        if block.len == 0 {
            self.seal(submitter, entry);
            return true;
        }
        let Some(slot) = self.free.pop() else { return true };
        let index = slot as usize;
        let file = Fixed(entry as u32);
        let mut pending = 1;
        let sqe = if self.rules.trims {
            trim(file, &block)
        } else if block.write {
            let from = (u64::from(block.file), block.offset, block.len);
            self.contents.write(&mut self.buffers, (index, file), from)
        } else {
            // Reading a tail without the page cache asks for more than there is.
            let asked = block.len.next_multiple_of(self.rules.read_align);
            self.buffers.read(index, file, asked, block.offset)
        };
        let sqe = sqe.user_data(u64::from(slot));
        if (block.write || self.rules.trims) && self.rules.sync_each {
            let sync = opcode::Fsync::new(file).build().user_data(u64::from(slot) | SYNC);
            // SAFETY: the buffer and the file of the slot stay as they are until both have
            // completed, for ever where they do not (see `UringLoop`); the queue has two entries a
            // slot.
            let pushed = unsafe { queue.push_multiple(&[sqe.flags(Flags::IO_LINK), sync]) };
            debug_assert!(pushed.is_ok(), "the queue holds all slots");
            pending = 2;
        } else {
            // SAFETY: the buffer and the file of the slot stay as they are until the op has
            // completed, for ever where it does not (see `UringLoop`); the queue has an entry for
            // each slot.
            let pushed = unsafe { queue.push(&sqe) };
            debug_assert!(pushed.is_ok(), "the queue holds all slots");
        }
        self.files[entry].in_flight += 1;
        self.files[entry].sealed |= block.last;
        if block.last {
            self.current = None;
        }
        self.slots[index] = Slot {
            began: now,
            op: self.issued,
            len: if self.rules.trims { 0 } else { block.len },
            file: block.file,
            entry: entry as u32,
            pending,
            write: block.write,
            failed: false,
        };
        self.issued += 1;
        true
    }

    /// The table entry of a block's file, opened where it is a new one; `None` where that failed.
    #[inline(always)]
    fn entry(&mut self, submitter: &Submitter<'_>, block: &Block) -> Option<usize> {
        if self.rules.kept_open > 0 {
            return Some(block.file as usize);
        }
        if self.current.is_none() {
            let entry = self.files.iter().position(|file| file.fd.is_none())?;
            if !self.open(submitter, entry, block.file) {
                return None;
            }
            self.current = Some(entry);
        }
        self.current
    }

    #[cold]
    fn open(&mut self, submitter: &Submitter<'_>, entry: usize, file: u32) -> bool {
        let path = self.blocks.path(file);
        let mode = Mode::from_raw_mode(0o644);
        let opened = rustix::fs::openat(self.lookup, path, self.rules.flags, mode);
        let registered = opened.and_then(|fd| {
            match submitter.register_files_update(entry as u32, &[fd.as_raw_fd()]) {
                Ok(_) => Ok(fd),
                Err(error) => Err(errno(&error)),
            }
        });
        match registered {
            Ok(fd) => {
                self.files[entry] = OpenFile { file, fd: Some(fd), in_flight: 0, sealed: false };
                true
            }
            Err(errno) => {
                self.fail(self.issued, file, "open", Some(errno));
                false
            }
        }
    }

    /// The file of `entry` gets no further op.
    #[cold]
    fn seal(&mut self, submitter: &Submitter<'_>, entry: usize) {
        self.current = None;
        self.files[entry].sealed = true;
        if self.files[entry].in_flight == 0 {
            self.close(submitter, entry, self.issued);
        }
    }

    /// fsync where the phase asks for it, and close; a failure is one of `op`. The table drops
    /// the file first, so that the close is the last one.
    #[cold]
    fn close(&mut self, submitter: &Submitter<'_>, entry: usize, op: u64) {
        let OpenFile { file, fd, .. } = std::mem::take(&mut self.files[entry]);
        let Some(fd) = fd else { return };
        if self.rules.sync_file
            && self.outcome.failed.is_none()
            && let Err(errno) = rustix::fs::fsync(fd.as_fd())
        {
            self.fail(op, file, "fsync", Some(errno));
        }
        let released = submitter.register_files_update(entry as u32, &[-1]);
        // SAFETY: the descriptor is given away here and is not used again.
        let closed = unsafe { rustix::io::try_close(fd.into_raw_fd()) };
        if let Err(errno) = released.map_err(|error| errno(&error)).and(closed) {
            self.fail(op, file, "close", Some(errno));
        }
        if self.outcome.failed.is_none()
            && let Err(Failure { call, errno }) = self.blocks.closed(file, self.lookup)
        {
            self.fail(op, file, call, errno);
        }
    }

    /// Handles one completion that was `seen` at that clock reading. An op that closes its file
    /// ends when that is done; those that came back with it had ended before.
    #[inline(always)]
    fn complete(
        &mut self,
        submitter: &Submitter<'_>,
        (user_data, result): (u64, i32),
        seen: u64,
        now: &mut u64,
    ) {
        let index = (user_data & 0xffff_ffff) as usize;
        let slot = &mut self.slots[index];
        slot.pending -= 1;
        let wanted = if user_data & SYNC == 0 { slot.len as i32 } else { 0 };
        if result != wanted {
            self.complete_badly(index, user_data, result);
        }
        let slot = self.slots[index];
        if slot.pending > 0 {
            return;
        }
        self.free.push(index as u32);
        let entry = slot.entry as usize;
        self.files[entry].in_flight -= 1;
        let failures = self.outcome.failed.is_some();
        let mut ended = seen;
        if self.files[entry].sealed && self.files[entry].in_flight == 0 {
            self.close(submitter, entry, slot.op);
            ended = self.recorder.now();
            *now = ended;
        }
        if slot.failed || (!failures && self.outcome.failed.is_some()) {
            return;
        }
        self.outcome.ops += 1;
        self.outcome.bytes += u64::from(slot.len);
        if slot.write {
            self.outcome.written_bytes += u64::from(slot.len);
        }
        if self.recorder.op(slot.began, ended, slot.write) {
            *now = self.recorder.now();
        }
    }

    #[cold]
    fn complete_badly(&mut self, index: usize, user_data: u64, result: i32) {
        let slot = &mut self.slots[index];
        slot.failed = true;
        let (op, file) = (slot.op, slot.file);
        let call = match (user_data & SYNC == 0, slot.write) {
            (false, _) => "fsync",
            (true, _) if self.rules.trims => "fallocate",
            (true, true) => "write",
            (true, false) => "read",
        };
        if result >= 0 {
            self.fail(op, file, call, None);
        } else if result != -libc::ECANCELED {
            // A cancelled op followed one that failed, which is reported.
            self.fail(op, file, call, Some(Errno::from_raw_os_error(-result)));
        }
    }

    /// Notes the failure of the first op that failed, by number.
    #[cold]
    fn fail(&mut self, op: u64, file: u32, call: &'static str, errno: Option<Errno>) {
        let failure = Failure { call, errno };
        self.outcome.fail(FailedOp { op, file: u64::from(file), failure });
    }
}

/// Gives a block back.
#[cold]
fn trim(file: Fixed, block: &Block) -> squeue::Entry {
    let punch = opcode::Fallocate::new(file, u64::from(block.len)).offset(block.offset);
    punch.mode(PUNCH_HOLE.bits().cast_signed()).build()
}

#[cfg(test)]
mod tests {
    use super::super::recorder::NoRingLatency;
    use super::*;
    use std::cell::Cell;

    /// Each reading is one more than the one before.
    #[derive(Default)]
    struct Counting {
        readings: Cell<u64>,
        ended: Vec<u64>,
    }

    impl RingRecorder for Counting {
        fn now(&self) -> u64 {
            self.readings.replace(self.readings.get() + 1)
        }

        fn op(&mut self, _began: u64, ended: u64, _write: bool) -> bool {
            self.ended.push(ended);
            false
        }
    }

    /// Calls in /dev/null, which end as soon as they are submitted: (file, whether it is the last).
    struct Nothing {
        blocks: std::vec::IntoIter<(u32, bool)>,
        /// A ring that is taken away before the first call.
        breaks: Option<libc::c_int>,
    }

    impl BlockSource for Nothing {
        fn next(&mut self) -> Option<Block> {
            let (file, last) = self.blocks.next()?;
            // Its file is open by now.
            if let Some(ring) = self.breaks.take_if(|_| last) {
                let other = std::fs::File::open("/dev/null").unwrap();
                // SAFETY: both are open; the number of the ring is closed by nothing else.
                let broken = unsafe { libc::dup2(other.as_raw_fd(), ring) };
                assert_eq!(broken, ring);
            }
            Some(Block { file, len: 512, offset: 0, write: true, last })
        }

        fn path(&mut self, _file: u32) -> &CStr {
            c"/dev/null"
        }

        fn closed(&mut self, _file: u32, _lookup: BorrowedFd<'_>) -> Result<(), Failure> {
            Ok(())
        }
    }

    const RULES: Rules = Rules {
        flags: OFlags::WRONLY,
        sync_each: false,
        sync_file: false,
        trims: false,
        read_align: 1,
        kept_open: 0,
    };

    #[test]
    fn a_ring_that_fails_for_good_stays_busy() {
        let Ok(mut ring_loop) = BlockLoop::new(4, 512, &RULES, &[]) else {
            println!("not run: no ring here");
            return;
        };
        let breaks = Some(ring_loop.ring.parts().0.as_raw_fd());
        let mut blocks = Nothing { blocks: vec![(0, false), (0, true)].into_iter(), breaks };
        let (mut recorder, none) = (NoRingLatency, WriteBytes { own: &mut [], shared: None });
        let outcome = ring_loop.run(rustix::fs::CWD, RULES, &mut blocks, none, &mut recorder);
        let failure = outcome.failed.unwrap().failure;
        assert_eq!((failure.call, ring_loop.busy, outcome.ops), ("io_uring_enter", true, 0));
        std::mem::forget(ring_loop);
    }

    #[test]
    fn a_close_is_the_time_of_its_own_op_alone() {
        let Ok(mut ring_loop) = BlockLoop::new(4, 512, &RULES, &[]) else {
            println!("not run: no ring here");
            return;
        };
        let blocks = vec![(0, true), (1, false), (1, false), (1, true)].into_iter();
        let mut blocks = Nothing { blocks, breaks: None };
        let none = WriteBytes { own: &mut [], shared: None };
        let mut recorder = Counting::default();
        let outcome = ring_loop.run(rustix::fs::CWD, RULES, &mut blocks, none, &mut recorder);
        assert_eq!((outcome.ops, outcome.failed.is_none(), ring_loop.busy), (4, true, false));
        // Readings: 0 at the start, 1 when all came back, 2 and 3 after each close.
        if recorder.readings.get() != 4 {
            println!("not run: the calls did not come back together");
            return;
        }
        assert_eq!(recorder.ended, [2, 1, 1, 3]);
    }
}
