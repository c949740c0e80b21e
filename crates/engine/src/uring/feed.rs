//! Where the loops get their work from: the hand of a thread, cut into ops one by one.

use super::blocks::{Block, BlockLane, Blocks};
use super::dirs::Dirs;
use super::files::{Deed, FileLane, Piece, Pieces, Then};
use super::outcome::{Outcome, sync_dir};
use super::watch::Watch;
use super::{blocks, files};
use crate::crew::{Gate, Hand, Sizes};
use crate::names::FileNames;
use crate::op::is_read;
use crate::outcome::Failure;
use crate::pattern::{InOrder, Scattered, Walk};
use crate::root::Root;
use crate::share::{BlockShare, DirShare, FileShare, PartShare, Share};
use crate::stamp::{Contents, SECTOR_BYTES};
use fsarena_model::work::{Fsync, Op};
use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, OFlags};
use std::ffi::CStr;
use std::mem::ManuallyDrop;

/// A loop with all it needs, for the op of a hand.
///
/// One that was left with ops in flight (`io_uring_enter` failed for good, or a panic) is never
/// dropped: the kernel may still read names and contents, and write buffers and answers. All of
/// it stays until the process ends, the ring and its files too.
#[derive(Debug)]
pub(crate) struct Lane {
    /// Gone before the contents that it writes from.
    kind: ManuallyDrop<Kind>,
    /// Contents of each slot; empty where slots copy from those of the hand.
    own: ManuallyDrop<Vec<Contents>>,
}

impl Drop for Lane {
    fn drop(&mut self) {
        let busy = match &*self.kind {
            Kind::Blocks(lane, _) => lane.busy,
            Kind::Files(lane, _) => lane.busy,
        };
        if !busy {
            // SAFETY: both are dropped here alone, once, and not used again.
            unsafe {
                ManuallyDrop::drop(&mut self.kind);
                ManuallyDrop::drop(&mut self.own);
            }
        }
    }
}

#[derive(Debug)]
enum Kind {
    Blocks(BlockLane, blocks::Rules),
    Files(FileLane, files::Rules),
}

/// Memory that slots may have for contents of their own. They save a copy a call, which costs a
/// fifth of a write of 1 MiB to tmpfs; with more slots of up to 1 MiB and a call each, they would
/// no longer fit into any cache.
const OWN_BYTES: usize = 16 << 20;

/// Contents for each slot, where there is room, or where they take no more than buffers would.
fn own_contents(hand: &Hand) -> Result<Vec<Contents>, Failure> {
    let Some(contents) = &hand.contents else { return Ok(vec![]) };
    let (slots, len) = (hand.io.iodepth as usize, contents.memory().len());
    let as_buffers = len <= contents.call_bytes().next_multiple_of(SECTOR_BYTES);
    if slots.saturating_mul(len) > OWN_BYTES && !as_buffers {
        return Ok(vec![]);
    }
    let no_memory = |errno| Failure { call: "mmap", errno: Some(errno) };
    (0..slots).map(|_| contents.twin().map_err(no_memory)).collect()
}

/// How `op` opens its files.
fn open_flags(hand: &Hand) -> OFlags {
    let op = hand.op;
    let access = match op {
        Op::Create | Op::BigWrite => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        Op::Overwrite | Op::BigOverwrite | Op::RandWrite => OFlags::WRONLY,
        Op::Append => OFlags::WRONLY | OFlags::APPEND,
        Op::RandRw => OFlags::RDWR,
        _ => OFlags::RDONLY,
    };
    let direct = if hand.io.direct { OFlags::DIRECT } else { OFlags::empty() };
    let dsync = op.writes() && hand.io.fsync == Fsync::Dsync;
    access | direct | if dsync { OFlags::DSYNC } else { OFlags::empty() }
}

/// Bytes of the largest call of a hand.
fn largest_call(hand: &Hand) -> u64 {
    if hand.op == Op::Append || hand.op.is_random() {
        return hand.bs_bytes;
    }
    let largest =
        hand.sizes.draw.most().saturating_add(hand.sizes.appended_bytes).min(hand.bs_bytes);
    largest.max(1).next_multiple_of(hand.read_align.max(1))
}

impl Lane {
    /// The loop for the op of `hand`; the calling thread is the one that runs it.
    pub(super) fn new(hand: &Hand) -> Result<Self, Failure> {
        let (op, fsync) = (hand.op, hand.io.fsync);
        let writes = op.writes();
        let no_memory = Failure { call: "mmap", errno: Some(rustix::io::Errno::NOMEM) };
        // A transfer is at most 2 GiB less a page in any kernel; a length has 32 bits.
        let call_bytes = u32::try_from(largest_call(hand)).map_err(|_| no_memory)?;
        let read_align = u32::try_from(hand.read_align.max(1)).map_err(|_| no_memory)?;
        let own = own_contents(hand)?;
        if op.is_big() {
            let standing = if op.is_random() { hand.share.files() } else { 0 };
            let rules = blocks::Rules {
                flags: open_flags(hand),
                sync_each: writes && fsync == Fsync::Op,
                sync_file: writes && fsync == Fsync::File,
                read_align,
                standing,
            };
            let needs_buffers = op.reads() || own.is_empty();
            let buffer_bytes = if needs_buffers { call_bytes as usize } else { 0 };
            let lane = BlockLane::new(hand.io.iodepth, buffer_bytes, &rules, &own)?;
            return Ok(Self::of(Kind::Blocks(lane, rules), own));
        }
        let deed = match op {
            Op::Create | Op::Overwrite | Op::Append => Deed::Write(open_flags(hand)),
            Op::Read => Deed::Read(open_flags(hand)),
            Op::Rename => Deed::Rename,
            Op::Delete => Deed::Unlink(AtFlags::empty()),
            Op::Rmdir => Deed::Unlink(AtFlags::REMOVEDIR),
            Op::Mkdir => Deed::Mkdir,
            _ => Deed::Stat,
        };
        let sync = match deed {
            Deed::Write(_) => matches!(fsync, Fsync::Op | Fsync::File),
            Deed::Read(_) | Deed::Stat => false,
            Deed::Rename | Deed::Unlink(_) | Deed::Mkdir => fsync == Fsync::Op,
        };
        let rules = files::Rules { deed, bs_bytes: call_bytes, sync, read_align };
        let lane = FileLane::new(hand.io.iodepth, &rules, &own)?;
        Ok(Self::of(Kind::Files(lane, rules), own))
    }

    fn of(kind: Kind, own: Vec<Contents>) -> Self {
        Self { kind: ManuallyDrop::new(kind), own: ManuallyDrop::new(own) }
    }

    /// Does the work of `hand`; after a failure its cursor stands on the file of it.
    pub(super) fn run<W: Watch>(
        &mut self,
        root: &Root,
        hand: &mut Hand,
        gate: &Gate,
        watch: &mut W,
    ) -> Outcome {
        let order = hand.order.take();
        let outcome = match hand.share {
            Share::Blocks(share) => self.random(root, hand, gate, share, watch),
            Share::Dirs(share) => self.dirs(root, hand, gate, (share, order.as_deref()), watch),
            Share::Files(FileShare { first, step: 1, count }) if order.is_none() => {
                self.files(root, hand, gate, InOrder { first, count }, watch)
            }
            Share::Files(files) | Share::Parts(PartShare { files, .. }) => {
                let walk = Scattered { files, order: order.as_deref() };
                self.files(root, hand, gate, walk, watch)
            }
        };
        hand.order = order;
        if let Some(failed) = outcome.failed {
            #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
            let file = failed.file as u32;
            if hand.op.is_about_dirs() { hand.dirs.set(file) } else { hand.names.set(file) }
        }
        outcome
    }

    fn random<W: Watch>(
        &mut self,
        root: &Root,
        hand: &mut Hand,
        gate: &Gate,
        share: BlockShare,
        watch: &mut W,
    ) -> Outcome {
        let Kind::Blocks(lane, rules) = &mut *self.kind else { return Outcome::default() };
        let read_percent = match hand.op {
            Op::RandRead => 100,
            Op::RandWrite => 0,
            _ => hand.io.rwmixread_percent,
        };
        let Hand { names, contents, mixture, bs_bytes, .. } = hand;
        #[expect(clippy::cast_possible_truncation, reason = "`new` has checked that")]
        let len = *bs_bytes as u32;
        let contents = Source { own: &mut self.own, shared: contents.as_mut() };
        let (salt, k) = (*mixture, 0);
        let mut feed = RandomBlocks { share, k, len, read_percent, salt, names, contents, gate };
        lane.run(root.lookup(), *rules, &mut feed, watch)
    }

    fn files<L: Walk, W: Watch>(
        &mut self,
        root: &Root,
        hand: &mut Hand,
        gate: &Gate,
        walk: L,
        watch: &mut W,
    ) -> Outcome {
        let Hand { op, names, second, contents, sizes, left_in_dirs, bs_bytes, share, .. } = hand;
        let dirs = DoneDirs { left: left_in_dirs, second };
        let contents = Source { own: &mut self.own, shared: contents.as_mut() };
        let files = Files { walk, index: 0, names, dirs, contents, sizes, gate };
        let lookup = root.lookup();
        match &mut *self.kind {
            Kind::Blocks(lane, rules) => {
                let part = if let Share::Parts(part) = share { Some(*part) } else { None };
                let (bs_bytes, write) = (*bs_bytes, op.writes());
                let mut feed =
                    FileBlocks { files, part, bs_bytes, write, file: 0, offset: 0, end: 0 };
                lane.run(lookup, *rules, &mut feed, watch)
            }
            Kind::Files(lane, rules) => {
                let append_bytes = (*op == Op::Append).then_some(*bs_bytes);
                let moves = op.moves_bytes();
                let mut feed = WholeFiles { files, append_bytes, moves };
                lane.run(lookup, *rules, &mut feed, watch)
            }
        }
    }

    fn dirs<W: Watch>(
        &mut self,
        root: &Root,
        hand: &mut Hand,
        gate: &Gate,
        (share, order): (DirShare, Option<&[u32]>),
        watch: &mut W,
    ) -> Outcome {
        let Kind::Files(lane, rules) = &mut *self.kind else { return Outcome::default() };
        let backwards = hand.op == Op::Rmdir;
        let sync = hand.io.fsync == Fsync::Dir;
        let names = &mut hand.dirs;
        let mut feed = Dirs::new((share, order), backwards, sync, names, gate);
        lane.run(root.lookup(), *rules, &mut feed, watch)
    }
}

/// Where written bytes come from.
struct Source<'a> {
    own: &'a mut [Contents],
    shared: Option<&'a mut Contents>,
}

impl Source<'_> {
    /// From the contents of the slot, which nothing in flight uses.
    #[inline(always)]
    fn own(&mut self, slot: usize, file: u64, offset: u64, len: usize) -> Option<&[u8]> {
        self.own.get_mut(slot).map(|own| own.call(file, offset, len))
    }

    #[inline(always)]
    fn fill(&mut self, file: u64, offset: u64, bytes: &mut [u8]) {
        if let Some(contents) = &mut self.shared {
            contents.fill(file, offset, bytes);
        }
    }
}

/// Blocks at random.
struct RandomBlocks<'a> {
    share: BlockShare,
    k: u64,
    len: u32,
    read_percent: u32,
    salt: u64,
    names: &'a mut FileNames,
    contents: Source<'a>,
    gate: &'a Gate,
}

impl Blocks for RandomBlocks<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<Block> {
        let k = self.k;
        if k == self.share.count || self.gate.is_stopped() {
            return None;
        }
        self.k += 1;
        let (file, offset) = self.share.place(k);
        let write = match self.read_percent {
            100 => false,
            0 => true,
            percent => !is_read(self.salt, self.share.first + k, percent),
        };
        Some(Block { file, len: self.len, offset, write, last: false })
    }

    fn path(&mut self, file: u32) -> &CStr {
        self.names.set(file);
        self.names.as_c_str()
    }

    #[inline(always)]
    fn own(&mut self, slot: usize, block: &Block) -> Option<&[u8]> {
        let len = block.len as usize;
        self.contents.own(slot, u64::from(block.file), block.offset, len)
    }

    #[inline(always)]
    fn fill(&mut self, block: &Block, bytes: &mut [u8]) {
        self.contents.fill(u64::from(block.file), block.offset, bytes);
    }

    fn closed(&mut self, _file: u32, _lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

/// Directories that are synced when a thread has done its last file in them.
struct DoneDirs<'a> {
    /// Files that are left in each; empty where directories are not synced.
    left: &'a mut [u32],
    /// A second cursor, so that the first need not leave its place.
    second: &'a mut FileNames,
}

impl DoneDirs<'_> {
    #[inline(always)]
    fn done(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        if self.left.is_empty() { Ok(()) } else { self.count(file, lookup) }
    }

    #[cold]
    fn count(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        self.second.set(file);
        let Some(left) = self.left.get_mut(self.second.dir() as usize) else { return Ok(()) };
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Ok(());
        }
        self.second.with_parent(|path| sync_dir(lookup, path))
    }
}

/// Files of a thread in their order.
struct Files<'a, L> {
    walk: L,
    index: u32,
    names: &'a mut FileNames,
    dirs: DoneDirs<'a>,
    contents: Source<'a>,
    sizes: &'a Sizes,
    gate: &'a Gate,
}

impl<L: Walk> Files<'_, L> {
    /// Goes to the next; its number.
    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.index == self.walk.count() || self.gate.is_stopped() {
            return None;
        }
        let file = self.walk.place(self.names, self.index);
        self.index += 1;
        Some(file)
    }
}

/// Big files from start to end, or the thread's part of each.
struct FileBlocks<'a, L> {
    files: Files<'a, L>,
    part: Option<PartShare>,
    bs_bytes: u64,
    write: bool,
    /// The current file, and what is left of it.
    file: u32,
    offset: u64,
    end: u64,
}

impl<L: Walk> FileBlocks<'_, L> {
    /// Goes to the next file in which there is something to do; whether it is an empty one.
    fn next_file(&mut self) -> Option<bool> {
        loop {
            self.file = self.files.next()?;
            let size_bytes = self.files.sizes.of(self.file);
            (self.offset, self.end) =
                self.part.map_or((0, size_bytes), |part| part.range(size_bytes));
            if self.offset < self.end || self.part.is_none() {
                return Some(self.offset == self.end);
            }
        }
    }
}

impl<L: Walk> Blocks for FileBlocks<'_, L> {
    #[inline(always)]
    fn next(&mut self) -> Option<Block> {
        if self.files.gate.is_stopped() {
            return None;
        }
        let (mut file, write) = (self.file, self.write);
        if self.offset == self.end {
            let is_empty = self.next_file()?;
            file = self.file;
            if is_empty {
                return Some(Block { file, len: 0, offset: 0, write, last: true });
            }
        }
        let (offset, len) = (self.offset, (self.end - self.offset).min(self.bs_bytes));
        self.offset += len;
        let last = self.offset == self.end;
        #[expect(clippy::cast_possible_truncation, reason = "no more than the largest call")]
        Some(Block { file, len: len as u32, offset, write, last })
    }

    /// Called for the current file alone, where the cursor stands.
    fn path(&mut self, _file: u32) -> &CStr {
        self.files.names.as_c_str()
    }

    #[inline(always)]
    fn own(&mut self, slot: usize, block: &Block) -> Option<&[u8]> {
        let len = block.len as usize;
        self.files.contents.own(slot, u64::from(block.file), block.offset, len)
    }

    #[inline(always)]
    fn fill(&mut self, block: &Block, bytes: &mut [u8]) {
        self.files.contents.fill(u64::from(block.file), block.offset, bytes);
    }

    fn closed(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        self.files.dirs.done(file, lookup)
    }
}

/// Whole files, one op a file.
struct WholeFiles<'a, L> {
    files: Files<'a, L>,
    /// Bytes that an append writes; `None` for all other ops.
    append_bytes: Option<u64>,
    moves: bool,
}

impl<L: Walk> Pieces for WholeFiles<'_, L> {
    #[inline(always)]
    fn next(&mut self) -> Option<Piece> {
        let file = self.files.next()?;
        let (bytes, offset) = match (self.append_bytes, self.moves) {
            (Some(bytes), _) => (bytes, self.files.sizes.of(file)),
            (None, true) => (self.files.sizes.of(file), 0),
            (None, false) => (0, 0),
        };
        Some(Piece { number: u64::from(file), bytes, offset, then: Then::Next })
    }

    #[inline(always)]
    fn path(&self) -> &CStr {
        self.files.names.as_c_str()
    }

    #[inline(always)]
    fn new_path(&mut self) -> &CStr {
        let Files { names, dirs, .. } = &mut self.files;
        dirs.second.follow(names);
        dirs.second.as_c_str()
    }

    #[inline(always)]
    fn own(&mut self, slot: usize, number: u64, offset: u64, len: usize) -> Option<&[u8]> {
        self.files.contents.own(slot, number, offset, len)
    }

    #[inline(always)]
    fn fill(&mut self, number: u64, offset: u64, bytes: &mut [u8]) {
        self.files.contents.fill(number, offset, bytes);
    }

    #[inline(always)]
    fn done(&mut self, number: u64, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
        self.files.dirs.done(number as u32, lookup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Span;
    use fsarena_model::seed::Seed;

    #[test]
    fn a_lane_with_ops_in_flight_keeps_all_its_memory() {
        let span = Span { end_bytes: 4096, call_bytes: 4096, aligned: true };
        let own = vec![Contents::new(span, 1, &Seed::from_number(1)).unwrap()];
        let deed = Deed::Write(OFlags::WRONLY);
        let rules = files::Rules { deed, bs_bytes: 4096, sync: false, read_align: 1 };
        let Ok(mut lane) = FileLane::new(1, &rules, &own) else {
            println!("not run: no ring here");
            return;
        };
        lane.busy = true;
        let contents = own[0].memory().as_ptr();
        let before = own[0].memory().to_vec();
        drop(Lane::of(Kind::Files(lane, rules), own));
        let mut resident = 0_u8;
        // SAFETY: mincore(2) looks at the mapping without touching it, and writes one byte.
        let mapped = unsafe { libc::mincore(contents.cast_mut().cast(), 4096, &raw mut resident) };
        assert_eq!(mapped, 0, "the contents are still there");
        // SAFETY: the lane was leaked, and the bytes with it.
        let after = unsafe { std::slice::from_raw_parts(contents, before.len()) };
        assert_eq!(after, before);
    }
}
