//! Whole files and names: create, read, overwrite, append, stat, rename, delete, mkdir, rmdir, with
//! `iodepth` of them in flight.
//!
//! A slot works on one file at a time, by *linked chains* of entries, which the kernel carries out
//! one after the other, so that a file of one call costs one pass through the ring and not three. A
//! chain is
//!
//! ```text
//! open ─LINK→ read or write ─HARDLINK→ fsync ─HARDLINK→ close
//! ```
//!
//! or the part of it that is due: files of several calls begin with open and the first call, go on
//! with one call a chain and end with the last call, fsync and close. Files are opened into the
//! ring's own table, so that the entries after the open find it there. A hard link continues after
//! a failure: a file that was opened is closed. Where a middle chain fails, one of its own closes.
//!
//! Names are in memory of the slot, which is not changed until all of the chain has completed.

use super::actions::{FileAction, NameArgs};
use super::paths::{PATH_BYTES, PATHS, Paths, parent};
use super::recorder::RingRecorder;
use super::ring::{Buffers, Ring, Shape, WriteBytes, enter, errno};
use super::{FailedOp, LoopOutcome, sync_dir};
use crate::buffer::Pages;
use crate::outcome::Failure;
use crate::stamp::Contents;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{DestinationSlot, Fd, Fixed};
use io_uring::{IoUring, SubmissionQueue, opcode};
use rustix::fd::{AsRawFd as _, BorrowedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::CStr;

/// One op: a file or a directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileOp {
    pub number: u64,
    /// Bytes that are read or written; 0 for ops on names.
    pub bytes: u64,
    /// Offset of the first of them within the file; not 0 for an append.
    pub offset: u64,
    /// What comes before the next op is begun.
    pub after: AfterOp,
}

/// What comes before the next op is begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterOp {
    /// Nothing.
    Next,
    /// All that is in flight ends: directories are made before those in them.
    Drain,
    /// The same, and then the op's parent directory is synced.
    SyncParent,
}

/// Where the files of a thread come from.
pub(crate) trait FileOpSource {
    /// Goes to the next file.
    fn next(&mut self) -> Option<FileOp>;
    /// Path of the current file.
    fn path(&self) -> &CStr;
    /// The path that a rename or a link gives the current file.
    fn new_path(&mut self) -> &CStr;
    /// The path of a link to the current file that is deleted with it.
    fn link_path(&mut self, _which: usize) -> Option<&CStr> {
        None
    }
    /// A file is done: syncs its directory where that is due.
    fn done(&mut self, number: u64, lookup: BorrowedFd<'_>) -> Result<(), Failure>;
}

/// What a loop has to know of its phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// What is done.
    pub action: FileAction,
    /// Bytes of one call at most; the buffers are as large.
    pub bs_bytes: u32,
    /// Bytes of the value of each file; 0 where there is none.
    pub value_bytes: u32,
    /// Links to each file that are deleted with it.
    pub links: usize,
    /// Whether fsync(2) comes before close(2), or for names: fsync(2) of the parent directory.
    pub sync: bool,
    /// Bytes that a read asks for: a multiple of this (`O_DIRECT`), else 1.
    pub read_align: u32,
}

/// What an entry of a chain was; the high half of its user data.
const OPEN: u64 = 0;
const ACTION: u64 = 1;
const SYNC: u64 = 2;
const CLOSE: u64 = 3;
const KIND_SHIFT: u32 = 32;

/// Most entries of a chain, but for those that delete links.
const CHAIN: u32 = 4;
/// Where the paths of links are: places that a deletion does not use otherwise.
const LINK_PATHS: [usize; 2] = [1, 3];

/// A index for a file in flight.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    began: u64,
    op: u64,
    number: u64,
    /// Bytes to move, and those moved by complete chains.
    bytes: u64,
    done: u64,
    offset: u64,
    /// Bytes of the call under way.
    len: u32,
    /// Completions to come.
    pending: u8,
    opened: bool,
    failed: bool,
}

/// All that is made before the phase.
#[derive(Debug)]
pub(crate) struct FileLoop {
    ring: Ring,
    slots: Box<[Slot]>,
    free: Vec<u32>,
    paths: Pages,
    /// Where statx(2) puts its answers; one for each slot.
    answers: Box<[libc::statx]>,
    full_prefix: Vec<u8>,
    /// Whether it was left with ops in flight, whose memory the kernel may still use.
    pub busy: bool,
}

impl FileLoop {
    /// A loop of `depth` slots, with `own` contents that outlive it. One that is busy must never
    /// be dropped.
    pub fn new(depth: u32, rules: &Rules, own: &[Contents], value: &[u8]) -> Result<Self, Failure> {
        let needs_buffers = rules.action.moves() && own.is_empty();
        let buffer_bytes = if needs_buffers { rules.bs_bytes as usize } else { 0 };
        let buffer_bytes = buffer_bytes.max(rules.value_bytes as usize);
        let chain = CHAIN + u32::try_from(rules.links).unwrap_or(u32::MAX);
        let mut ring = Ring::new(Shape { slots: depth, chain, buffer_bytes, files: depth }, own)?;
        if rules.value_bytes > 0 {
            let (_, mut buffers) = ring.parts();
            for slot in 0..depth as usize {
                buffers.slot(slot)[..value.len()].copy_from_slice(value);
            }
        }
        let no_memory = |errno| Failure { call: "mmap", errno: Some(errno) };
        // SAFETY: statx is plain integers, for which all zeros are a value.
        let nothing: libc::statx = unsafe { std::mem::zeroed() };
        Ok(Self {
            ring,
            slots: vec![Slot::default(); depth as usize].into(),
            free: Vec::with_capacity(depth as usize),
            paths: Pages::new(depth as usize * PATHS * PATH_BYTES).map_err(no_memory)?,
            answers: vec![nothing; depth as usize].into(),
            full_prefix: Vec::new(),
            busy: false,
        })
    }

    /// Runs all ops, or until one fails; what was in flight then is waited for.
    pub fn run<P: FileOpSource, W: RingRecorder>(
        &mut self,
        lookup: BorrowedFd<'_>,
        rules: Rules,
        ops: &mut P,
        contents: WriteBytes<'_>,
        recorder: &mut W,
    ) -> LoopOutcome {
        self.free.clear();
        self.free.extend((0..self.slots.len() as u32).rev());
        self.full_prefix.clear();
        if rules.action.wants_full_path() && lookup.as_raw_fd() != libc::AT_FDCWD {
            self.full_prefix.extend(format!("/proc/self/fd/{}/", lookup.as_raw_fd()).into_bytes());
        }
        self.busy = true;
        let (ring, buffers) = self.ring.parts();
        let mut running = Running {
            lookup,
            rules,
            ops,
            contents,
            recorder,
            buffers,
            slots: &mut self.slots,
            free: &mut self.free,
            paths: Paths::new(&mut self.paths),
            answers: self.answers.as_mut_ptr(),
            full_prefix: &self.full_prefix,
            issued: 0,
            after: None,
            outcome: LoopOutcome::default(),
        };
        let drained = running.run(ring);
        let outcome = running.outcome;
        self.busy = !drained;
        outcome
    }
}

/// A phase under way in one thread.
struct Running<'a, P, W> {
    lookup: BorrowedFd<'a>,
    rules: Rules,
    ops: &'a mut P,
    contents: WriteBytes<'a>,
    recorder: &'a mut W,
    buffers: Buffers<'a>,
    slots: &'a mut [Slot],
    free: &'a mut Vec<u32>,
    paths: Paths<'a>,
    answers: *mut libc::statx,
    /// Path of the root, where it is not the working directory: what a full path begins with.
    full_prefix: &'a [u8],
    issued: u64,
    /// What comes before the next op, and the slot of the op that asks for it.
    after: Option<(usize, AfterOp)>,
    outcome: LoopOutcome,
}

impl<P: FileOpSource, W: RingRecorder> Running<'_, P, W> {
    /// `false` where it was left with ops in flight.
    fn run(&mut self, ring: &mut IoUring) -> bool {
        let mut now = self.recorder.now();
        let (submitter, mut queue, mut done) = ring.split();
        let depth = self.slots.len();
        let mut more = true;
        loop {
            while more
                && self.outcome.failed.is_none()
                && self.after.is_none()
                && !self.free.is_empty()
            {
                more = self.begin(&mut queue, now);
            }
            if self.free.len() == depth {
                return true;
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
            for completion in &mut done {
                let (data, result) = (completion.user_data(), completion.result());
                self.complete(&mut queue, data, result, &mut now);
            }
            // Tells the kernel what was taken: else it sees old completions, and does not wait.
            done.sync();
        }
    }

    /// Takes the next file into a free slot; `false` when there is none.
    #[inline(always)]
    fn begin(&mut self, queue: &mut SubmissionQueue<'_>, now: u64) -> bool {
        let Some(op) = self.ops.next() else { return false };
        let Some(slot) = self.free.pop() else { return true };
        let index = slot as usize;
        let action = self.rules.action;
        let path = self.ops.path().to_bytes();
        if action.wants_full_path() && !self.full_prefix.is_empty() {
            self.paths.put_joined(index, 0, self.full_prefix, path);
        } else {
            self.paths.put(index, 0, path);
        }
        if self.rules.sync && action.opens().is_none() {
            self.paths.put(index, 2, parent(path));
        }
        if action.makes_name() {
            self.paths.put(index, 1, self.ops.new_path().to_bytes());
        }
        for (which, place) in LINK_PATHS.iter().enumerate().take(self.rules.links) {
            if let Some(link) = self.ops.link_path(which) {
                self.paths.put(index, *place, link.to_bytes());
            }
        }
        self.slots[index] = Slot {
            began: now,
            op: self.issued,
            number: op.number,
            bytes: op.bytes,
            offset: op.offset,
            ..Slot::default()
        };
        self.issued += 1;
        if op.after != AfterOp::Next {
            self.after = Some((index, op.after));
        }
        if action.opens().is_some() {
            self.push_chain(queue, index);
        } else {
            self.push_name_chain(queue, index);
        }
        true
    }

    /// Puts an entry into the queue.
    #[inline(always)]
    fn push(
        &mut self,
        queue: &mut SubmissionQueue<'_>,
        index: usize,
        kind: u64,
        entry: Entry,
        link: Flags,
    ) {
        let entry = entry.user_data(index as u64 | kind << KIND_SHIFT).flags(link);
        // SAFETY: names, buffer, answer and table entry of the slot stay as they are until all of
        // its entries have completed, for ever where they do not (see `UringLoop`); the queue holds
        // the longest chain of each slot.
        let pushed = unsafe { queue.push(&entry) };
        debug_assert!(pushed.is_ok(), "the queue holds all slots");
        self.slots[index].pending += 1;
    }

    /// The next chain of a file whose contents are moved.
    #[inline(always)]
    fn push_chain(&mut self, queue: &mut SubmissionQueue<'_>, index: usize) {
        let slot = self.slots[index];
        let file = Fixed(index as u32);
        let len = (slot.bytes - slot.done).min(u64::from(self.rules.bs_bytes)) as u32;
        let last = slot.done + u64::from(len) == slot.bytes;
        self.slots[index].len = len;
        if !slot.opened {
            self.push_open(queue, index);
        }
        let link = if last { Flags::IO_HARDLINK } else { Flags::empty() };
        if let Some(entry) = self.rules.action.file_entry(file, slot.offset) {
            self.push(queue, index, ACTION, entry, link);
        } else if len > 0 {
            let entry = if matches!(self.rules.action, FileAction::Write(_)) {
                let from = (slot.number, slot.offset + slot.done, len);
                self.contents.write(&mut self.buffers, (index, file), from)
            } else {
                let asked = len.next_multiple_of(self.rules.read_align).min(self.rules.bs_bytes);
                self.buffers.read(index, file, asked, slot.done)
            };
            self.push(queue, index, ACTION, entry, link);
        }
        if last {
            if self.rules.sync {
                let entry = opcode::Fsync::new(file).build();
                self.push(queue, index, SYNC, entry, Flags::IO_HARDLINK);
            }
            self.push(queue, index, CLOSE, opcode::Close::new(file).build(), Flags::empty());
        }
    }

    /// The open at the head of a chain: nothing follows where it fails.
    #[inline(always)]
    fn push_open(&mut self, queue: &mut SubmissionQueue<'_>, index: usize) {
        let Some(flags) = self.rules.action.opens() else { return };
        let entry = self.open(index, 0, flags);
        self.push(queue, index, OPEN, entry, Flags::IO_LINK);
    }

    #[inline(always)]
    fn open(&self, index: usize, which: usize, flags: OFlags) -> Entry {
        let path = self.paths.at(index, which).cast_const().cast();
        opcode::OpenAt::new(Fd(self.lookup.as_raw_fd()), path)
            .file_index(DestinationSlot::try_from_slot_target(index as u32).ok())
            .flags(flags.bits().cast_signed())
            .mode(0o644)
            .build()
    }

    /// The chain of an op on a name: the op, and fsync of its directory where the phase asks for
    /// it.
    #[inline(always)]
    fn push_name_chain(&mut self, queue: &mut SubmissionQueue<'_>, index: usize) {
        let path = |which| self.paths.at(index, which).cast_const().cast::<libc::c_char>();
        let args = NameArgs {
            at: Fd(self.lookup.as_raw_fd()),
            path: path(0),
            new_path: path(1),
            answer: self.answers.wrapping_add(index).cast(),
            value: self.buffers.start_of(index),
            value_bytes: self.rules.value_bytes,
        };
        let links = LINK_PATHS.map(|which| NameArgs { path: path(which), ..args });
        for args in &links[..self.rules.links] {
            if let Some(entry) = self.rules.action.name_entry(args) {
                self.push(queue, index, ACTION, entry, Flags::IO_LINK);
            }
        }
        let Some(entry) = self.rules.action.name_entry(&args) else { return };
        if !self.rules.sync {
            self.push(queue, index, ACTION, entry, Flags::empty());
            return;
        }
        self.push(queue, index, ACTION, entry, Flags::IO_LINK);
        let open = self.open(index, 2, OFlags::RDONLY | OFlags::DIRECTORY);
        self.push(queue, index, OPEN, open, Flags::IO_LINK);
        let file = Fixed(index as u32);
        self.push(queue, index, SYNC, opcode::Fsync::new(file).build(), Flags::IO_HARDLINK);
        self.push(queue, index, CLOSE, opcode::Close::new(file).build(), Flags::empty());
    }

    /// Handles one completion.
    #[inline(always)]
    fn complete(
        &mut self,
        queue: &mut SubmissionQueue<'_>,
        user_data: u64,
        result: i32,
        now: &mut u64,
    ) {
        let (index, kind) = ((user_data & 0xffff_ffff) as usize, user_data >> KIND_SHIFT);
        let slot = &mut self.slots[index];
        slot.pending -= 1;
        let rules = &self.rules;
        let wanted = match kind == ACTION {
            true if rules.action.moves() => slot.len as i32,
            true => rules.action.good_result(rules.value_bytes),
            false => 0,
        };
        match kind {
            OPEN => slot.opened |= result >= 0,
            CLOSE => slot.opened &= result == -libc::ECANCELED,
            _ => {}
        }
        if result != wanted {
            self.complete_badly(index, kind, result);
        }
        let slot = self.slots[index];
        if slot.pending > 0 {
            return;
        }
        if slot.failed && slot.opened {
            let close = opcode::Close::new(Fixed(index as u32)).build();
            self.push(queue, index, CLOSE, close, Flags::empty());
            return;
        }
        self.slots[index].done += u64::from(slot.len);
        if !slot.failed && slot.opened {
            self.push_chain(queue, index);
            return;
        }
        self.end(index, now);
    }

    /// The op of a slot has ended, well or badly.
    #[inline(always)]
    fn end(&mut self, index: usize, now: &mut u64) {
        let slot = self.slots[index];
        self.free.push(index as u32);
        let mut good = !slot.failed;
        if good && let Err(failure) = self.ops.done(slot.number, self.lookup) {
            good = false;
            self.outcome.fail(FailedOp { op: slot.op, file: slot.number, failure });
        }
        if self.free.len() == self.slots.len()
            && let Some((last, then)) = self.after.take()
            && then == AfterOp::SyncParent
        {
            good &= self.sync_parent(last);
            *now = self.recorder.now();
        }
        if !good {
            return;
        }
        self.outcome.ops += 1;
        self.outcome.bytes += slot.bytes;
        let write = matches!(self.rules.action, FileAction::Write(_));
        if write {
            self.outcome.written_bytes += slot.bytes;
        }
        if self.recorder.op(slot.began, *now, write) {
            *now = self.recorder.now();
        }
    }

    /// Syncs the parent of the path in slot `index`, with blocking calls: nothing is in flight.
    /// Whether that went well; after a failure it is left out.
    #[cold]
    fn sync_parent(&mut self, index: usize) -> bool {
        if self.outcome.failed.is_some() {
            return true;
        }
        // SAFETY: `put` wrote a path and its NUL there, and nothing is in flight that uses it.
        let path = unsafe { CStr::from_ptr(self.paths.at(index, 0).cast_const().cast()) };
        // Copied to the slot's index for it, which is another one, to have a NUL behind it.
        let dir = self.paths.put(index, 2, parent(path.to_bytes()));
        // SAFETY: as above.
        let dir = unsafe { CStr::from_ptr(dir) };
        let Err(failure) = sync_dir(self.lookup, dir) else { return true };
        let slot = self.slots[index];
        self.outcome.fail(FailedOp { op: slot.op, file: slot.number, failure });
        false
    }

    #[cold]
    fn complete_badly(&mut self, index: usize, kind: u64, result: i32) {
        if kind == OPEN && result >= 0 {
            return;
        }
        let slot = &mut self.slots[index];
        slot.failed = true;
        if result == -libc::ECANCELED {
            return; // An entry before it failed, which is reported.
        }
        let call = match kind {
            OPEN => "open",
            SYNC => "fsync",
            CLOSE => "close",
            _ => self.rules.action.call(),
        };
        let errno = (result < 0).then(|| Errno::from_raw_os_error(-result));
        let failure = Failure { call, errno };
        self.outcome.fail(FailedOp { op: slot.op, file: slot.number, failure });
    }
}
