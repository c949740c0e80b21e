//! Where the loops get their ops from: the context of a thread, one op at a time.

use super::actions::FileAction;
use super::blocks::{Block, BlockLoop, BlockSource};
use super::dirs::Dirs;
use super::files::{AfterOp, FileLoop, FileOp, FileOpSource};
use super::recorder::RingRecorder;
use super::ring::WriteBytes;
use super::{LoopOutcome, sync_dir};
use super::{blocks, files};
use crate::names::FileNames;
use crate::op::is_read;
use crate::outcome::Failure;
use crate::pattern::FileOrder;
use crate::root::Root;
use crate::share::{BlockShare, DirShare, InterleavedShare, PartShare, Share};
use crate::stamp::{Contents, SECTOR_BYTES};
use crate::threads::{Sizes, StartBarrier, ThreadContext};
use fsarena_model::op::BlockSize;
use fsarena_model::state::Effect;
use fsarena_model::work::Fsync;
use rustix::fd::BorrowedFd;
use rustix::fs::OFlags;
use std::ffi::CStr;
use std::mem::ManuallyDrop;

/// A loop with all it needs, for the op of a context.
///
/// One that was left with ops in flight (`io_uring_enter` failed for good, or a panic) is never
/// dropped: the kernel may still read names and contents, and write buffers and answers. All of
/// it stays until the process ends, the ring and its files too.
#[derive(Debug)]
pub(crate) struct UringLoop {
    /// Gone before the contents that it writes from.
    kind: ManuallyDrop<Kind>,
    /// Contents of each slot; empty where slots copy from those of the context.
    own: ManuallyDrop<Vec<Contents>>,
}

impl Drop for UringLoop {
    fn drop(&mut self) {
        let busy = match &*self.kind {
            Kind::Blocks(ring_loop, _) => ring_loop.busy,
            Kind::Files(ring_loop, _) => ring_loop.busy,
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
    Blocks(BlockLoop, blocks::Rules),
    Files(FileLoop, files::Rules),
}

/// Memory that slots may have for contents of their own. They save a copy a call, which costs a
/// fifth of a write of 1 MiB to tmpfs; with more slots of up to 1 MiB and a call each, they would
/// no longer fit into any cache.
const OWN_BYTES: usize = 16 << 20;

/// Contents for each slot, where there is room, or where they take no more than buffers would.
fn own_contents(context: &ThreadContext) -> Result<Vec<Contents>, Failure> {
    let Some(contents) = &context.contents else { return Ok(vec![]) };
    let (slots, len) = (context.io.iodepth as usize, contents.memory().len());
    let as_buffers = len <= contents.call_bytes().next_multiple_of(SECTOR_BYTES);
    if slots.saturating_mul(len) > OWN_BYTES && !as_buffers {
        return Ok(vec![]);
    }
    let no_memory = |errno| Failure { call: "mmap", errno: Some(errno) };
    (0..slots).map(|_| contents.try_clone().map_err(no_memory)).collect()
}

/// How the op opens its files.
fn open_flags(context: &ThreadContext) -> OFlags {
    let op = context.op;
    let info = op.info();
    let access = match (info.reads, info.changes_file) {
        (true, true) => OFlags::RDWR,
        // Whichever thread comes first makes the file.
        (false, true) if info.creates && matches!(context.share, Share::Interleaved(_)) => {
            OFlags::WRONLY | OFlags::CREATE
        }
        (false, true) if info.creates => OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL,
        (false, true) if op.appends() => OFlags::WRONLY | OFlags::APPEND,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    let direct = if context.io.direct { OFlags::DIRECT } else { OFlags::empty() };
    let dsync = op.writes() && context.io.fsync == Fsync::Dsync;
    access | direct | if dsync { OFlags::DSYNC } else { OFlags::empty() }
}

/// Bytes of the largest call of a context.
fn largest_call(context: &ThreadContext) -> u64 {
    if context.op.appends() || context.op.is_random() {
        return context.bs_bytes;
    }
    let largest = context.sizes.largest_bytes().min(context.bs_bytes);
    largest.max(1).next_multiple_of(context.read_align.max(1))
}

impl UringLoop {
    /// The loop for the op of `context`; the calling thread is the one that runs it.
    pub(super) fn new(context: &ThreadContext) -> Result<Self, Failure> {
        let (op, fsync) = (context.op, context.io.fsync);
        let changes = op.info().changes_file;
        let no_memory = Failure { call: "mmap", errno: Some(rustix::io::Errno::NOMEM) };
        // A transfer is at most 2 GiB less a page in any kernel; a length has 32 bits.
        let call_bytes = u32::try_from(largest_call(context)).map_err(|_| no_memory)?;
        let read_align = u32::try_from(context.read_align.max(1)).map_err(|_| no_memory)?;
        let own = own_contents(context)?;
        if op.is_big() {
            let kept_open = if op.is_random() { context.share.files() } else { 0 };
            let rules = blocks::Rules {
                flags: open_flags(context),
                sync_each: changes && fsync == Fsync::Op,
                sync_file: changes && fsync == Fsync::File,
                trims: changes && !op.writes(),
                read_align,
                kept_open,
            };
            let needs_buffers = op.reads() || (op.writes() && own.is_empty());
            let buffer_bytes = if needs_buffers { call_bytes as usize } else { 0 };
            let ring_loop = BlockLoop::new(context.io.iodepth, buffer_bytes, &rules, &own)?;
            return Ok(Self::from_parts(Kind::Blocks(ring_loop, rules), own));
        }
        let action = FileAction::for_op(op, open_flags(context));
        let sync = match action.opens() {
            Some(_) => op.info().changes_file && matches!(fsync, Fsync::Op | Fsync::File),
            None => op.info().changes_names && fsync == Fsync::Op,
        };
        let has_value = op.info().bs.0 == BlockSize::Value;
        let value = if has_value { context.read_buf.as_slice() } else { &[] };
        let value = &value[..value.len().min(context.bs_bytes as usize)];
        let value_bytes = u32::try_from(value.len()).map_err(|_| no_memory)?;
        let links = context.links.len();
        let rules =
            files::Rules { action, bs_bytes: call_bytes, value_bytes, links, sync, read_align };
        let ring_loop = FileLoop::new(context.io.iodepth, &rules, &own, value)?;
        Ok(Self::from_parts(Kind::Files(ring_loop, rules), own))
    }

    fn from_parts(kind: Kind, own: Vec<Contents>) -> Self {
        Self { kind: ManuallyDrop::new(kind), own: ManuallyDrop::new(own) }
    }

    /// Does the work of `context`; after a failure its cursor is at the file of it.
    pub(super) fn run<W: RingRecorder>(
        &mut self,
        root: &Root,
        context: &mut ThreadContext,
        barrier: &StartBarrier,
        recorder: &mut W,
    ) -> LoopOutcome {
        let order = context.order.take();
        let outcome = match context.share {
            Share::Blocks(share) => self.random(root, context, barrier, share, recorder),
            // Refused before: the kernel has no such request.
            Share::Find(_) => LoopOutcome::default(),
            Share::Dirs(share) => {
                self.dirs(root, context, barrier, share, order.as_deref(), recorder)
            }
            Share::Files(files)
            | Share::Parts(PartShare { files, .. })
            | Share::Interleaved(InterleavedShare { files, .. }) => {
                let file_order = FileOrder { files, order: order.as_deref() };
                self.files(root, context, barrier, file_order, recorder)
            }
        };
        context.order = order;
        if let Some(failed) = outcome.failed {
            #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
            let file = failed.file as u32;
            if context.op.is_about_dirs() {
                context.dirs.set(file)
            } else {
                context.names.set(file)
            }
        }
        outcome
    }

    fn random<W: RingRecorder>(
        &mut self,
        root: &Root,
        context: &mut ThreadContext,
        barrier: &StartBarrier,
        share: BlockShare,
        recorder: &mut W,
    ) -> LoopOutcome {
        let Kind::Blocks(ring_loop, rules) = &mut *self.kind else { return LoopOutcome::default() };
        let read_percent = match (context.op.reads(), context.op.writes()) {
            (true, false) => 100,
            (false, _) => 0,
            (true, true) => context.io.rwmixread_percent,
        };
        let ThreadContext { names, contents, mixture, bs_bytes, .. } = context;
        #[expect(clippy::cast_possible_truncation, reason = "`new` has checked that")]
        let len = *bs_bytes as u32;
        let contents = WriteBytes { own: &mut self.own, shared: contents.as_mut() };
        let (salt, k) = (*mixture, 0);
        let mut source = RandomBlocks { share, k, len, read_percent, salt, names, barrier };
        ring_loop.run(root.lookup(), *rules, &mut source, contents, recorder)
    }

    fn files<W: RingRecorder>(
        &mut self,
        root: &Root,
        context: &mut ThreadContext,
        barrier: &StartBarrier,
        file_order: FileOrder<'_>,
        recorder: &mut W,
    ) -> LoopOutcome {
        let ThreadContext {
            op,
            names,
            new_name,
            links,
            contents,
            sizes,
            left_in_dirs,
            bs_bytes,
            share,
            ..
        } = context;
        let dirs = DirSyncs { left: left_in_dirs, new_name };
        let contents = WriteBytes { own: &mut self.own, shared: contents.as_mut() };
        let files = Files { file_order, index: 0, names, dirs, sizes, barrier };
        let lookup = root.lookup();
        match &mut *self.kind {
            Kind::Blocks(ring_loop, rules) => {
                if let Share::Interleaved(share) = share {
                    let (share, write) = (*share, op.writes());
                    let mut source = InterleavedBlocks { files, share, write, current: None };
                    return ring_loop.run(lookup, *rules, &mut source, contents, recorder);
                }
                let part = if let Share::Parts(part) = share { Some(*part) } else { None };
                let (bs_bytes, write) = (*bs_bytes, op.writes());
                let mut source =
                    FileBlocks { files, part, bs_bytes, write, file: 0, offset: 0, end: 0 };
                ring_loop.run(lookup, *rules, &mut source, contents, recorder)
            }
            Kind::Files(ring_loop, rules) => {
                let extent = match op.info().effect {
                    Effect::Append => Extent::End { bytes: *bs_bytes },
                    Effect::Truncate => Extent::Length { most_bytes: *bs_bytes },
                    Effect::Allocate => Extent::Length { most_bytes: u64::MAX },
                    _ if op.moves_bytes() => Extent::Whole,
                    _ => Extent::Nothing,
                };
                let mut source = WholeFiles { files, extent, links };
                ring_loop.run(lookup, *rules, &mut source, contents, recorder)
            }
        }
    }

    fn dirs<W: RingRecorder>(
        &mut self,
        root: &Root,
        context: &mut ThreadContext,
        barrier: &StartBarrier,
        share: DirShare,
        order: Option<&[u32]>,
        recorder: &mut W,
    ) -> LoopOutcome {
        let Kind::Files(ring_loop, rules) = &mut *self.kind else { return LoopOutcome::default() };
        let backwards = context.op.info().effect == Effect::RemoveDirs;
        let sync = context.io.fsync == Fsync::Dir;
        let names = &mut context.dirs;
        let mut source = Dirs { share, order, backwards, sync, index: 0, names, barrier };
        let contents = WriteBytes { own: &mut [], shared: None };
        ring_loop.run(root.lookup(), *rules, &mut source, contents, recorder)
    }
}

/// BlockSource at random.
struct RandomBlocks<'a> {
    share: BlockShare,
    k: u64,
    len: u32,
    read_percent: u32,
    salt: u64,
    names: &'a mut FileNames,
    barrier: &'a StartBarrier,
}

impl BlockSource for RandomBlocks<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<Block> {
        let k = self.k;
        if k == self.share.count || self.barrier.is_stopped() {
            return None;
        }
        self.k += 1;
        let (file, offset) = self.share.block(k);
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

    fn closed(&mut self, _file: u32, _lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

/// Directories that are synced when a thread has done its last file in them.
struct DirSyncs<'a> {
    /// Files that are left in each; empty where directories are not synced.
    left: &'a mut [u32],
    /// Another cursor, so that the first need not move.
    new_name: &'a mut FileNames,
}

impl DirSyncs<'_> {
    #[inline(always)]
    fn done(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        if self.left.is_empty() { Ok(()) } else { self.count(file, lookup) }
    }

    #[cold]
    fn count(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        self.new_name.set(file);
        let Some(left) = self.left.get_mut(self.new_name.dir() as usize) else {
            return Ok(());
        };
        *left = left.saturating_sub(1);
        if *left > 0 {
            return Ok(());
        }
        self.new_name.with_parent(|path| sync_dir(lookup, path))
    }
}

/// Files of a thread in their order.
struct Files<'a> {
    file_order: FileOrder<'a>,
    index: u32,
    names: &'a mut FileNames,
    dirs: DirSyncs<'a>,
    sizes: &'a Sizes,
    barrier: &'a StartBarrier,
}

impl Files<'_> {
    /// Goes to the next; its number.
    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.index == self.file_order.count() || self.barrier.is_stopped() {
            return None;
        }
        let file = self.file_order.select(self.names, self.index);
        self.index += 1;
        Some(file)
    }
}

/// Big files from start to end, or the thread's part of each.
struct FileBlocks<'a> {
    files: Files<'a>,
    part: Option<PartShare>,
    bs_bytes: u64,
    write: bool,
    /// The current file, and what is left of it.
    file: u32,
    offset: u64,
    end: u64,
}

impl FileBlocks<'_> {
    /// Goes to the next file in which there is something to do; whether it is an empty one.
    fn next_file(&mut self) -> Option<bool> {
        loop {
            self.file = self.files.next()?;
            let size_bytes = self.files.sizes.file_bytes(self.file);
            (self.offset, self.end) =
                self.part.map_or((0, size_bytes), |part| part.range(size_bytes));
            if self.offset < self.end || self.part.is_none() {
                return Some(self.offset == self.end);
            }
        }
    }
}

impl BlockSource for FileBlocks<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<Block> {
        if self.files.barrier.is_stopped() {
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

    /// Called for the current file alone, where the cursor is.
    fn path(&mut self, _file: u32) -> &CStr {
        self.files.names.as_c_str()
    }

    fn closed(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        self.files.dirs.done(file, lookup)
    }
}

/// Blocks of big files in turn with other threads.
struct InterleavedBlocks<'a> {
    files: Files<'a>,
    share: InterleavedShare,
    write: bool,
    /// The current file, where the next block in it begins, and its size.
    current: Option<(u32, u64, u64)>,
}

impl BlockSource for InterleavedBlocks<'_> {
    fn next(&mut self) -> Option<Block> {
        if self.files.barrier.is_stopped() {
            return None;
        }
        let (file, offset, size_bytes) = match self.current.take() {
            Some(current) => current,
            None => loop {
                let file = self.files.next()?;
                let size_bytes = self.files.sizes.file_bytes(file);
                if self.share.opens(size_bytes) {
                    break (file, self.share.first_bytes, size_bytes);
                }
            },
        };
        let len = (size_bytes - offset).min(self.share.bs_bytes);
        let next = offset + self.share.step_bytes;
        let last = next >= size_bytes;
        self.current = (!last).then_some((file, next, size_bytes));
        #[expect(clippy::cast_possible_truncation, reason = "no more than the largest call")]
        Some(Block { file, len: len as u32, offset, write: self.write, last })
    }

    /// Called for the current file alone, where the cursor is.
    fn path(&mut self, _file: u32) -> &CStr {
        self.files.names.as_c_str()
    }

    fn closed(&mut self, file: u32, lookup: BorrowedFd<'_>) -> Result<(), Failure> {
        self.files.dirs.done(file, lookup)
    }
}

/// What of a file an op is about.
#[derive(Debug, Clone, Copy)]
enum Extent {
    /// Its name or inode.
    Nothing,
    /// All of it.
    Whole,
    /// So many bytes behind its end.
    End { bytes: u64 },
    /// Its length, which stands for the offset.
    Length { most_bytes: u64 },
}

/// Whole files, one op a file.
struct WholeFiles<'a> {
    files: Files<'a>,
    extent: Extent,
    links: &'a mut [FileNames],
}

impl FileOpSource for WholeFiles<'_> {
    #[inline(always)]
    fn next(&mut self) -> Option<FileOp> {
        let file = self.files.next()?;
        let sizes = self.files.sizes;
        let (bytes, offset) = match self.extent {
            Extent::Nothing => (0, 0),
            Extent::Whole => (sizes.file_bytes(file), 0),
            Extent::End { bytes } => (bytes, sizes.file_bytes(file)),
            Extent::Length { most_bytes } => (0, sizes.file_bytes(file).min(most_bytes)),
        };
        Some(FileOp { number: u64::from(file), bytes, offset, after: AfterOp::Next })
    }

    #[inline(always)]
    fn path(&self) -> &CStr {
        self.files.names.as_c_str()
    }

    #[inline(always)]
    fn new_path(&mut self) -> &CStr {
        let Files { names, dirs, .. } = &mut self.files;
        dirs.new_name.follow(names);
        dirs.new_name.as_c_str()
    }

    fn link_path(&mut self, which: usize) -> Option<&CStr> {
        let link = self.links.get_mut(which)?;
        link.follow(self.files.names);
        Some(link.as_c_str())
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
    fn ops_in_flight_keep_all_their_memory() {
        let span = Span { end_bytes: 4096, call_bytes: 4096, aligned: true };
        let own = vec![Contents::new(span, 1, &Seed::from_number(1)).unwrap()];
        let action = FileAction::Write(OFlags::WRONLY);
        let rules = files::Rules {
            action,
            bs_bytes: 4096,
            value_bytes: 0,
            links: 0,
            sync: false,
            read_align: 1,
        };
        let Ok(mut ring_loop) = FileLoop::new(1, &rules, &own, &[]) else {
            println!("not run: no ring here");
            return;
        };
        ring_loop.busy = true;
        let contents = own[0].memory().as_ptr();
        let before = own[0].memory().to_vec();
        drop(UringLoop::from_parts(Kind::Files(ring_loop, rules), own));
        let mut resident = 0_u8;
        // SAFETY: mincore(2) looks at the mapping without touching it, and writes one byte.
        let mapped = unsafe { libc::mincore(contents.cast_mut().cast(), 4096, &raw mut resident) };
        assert_eq!(mapped, 0, "the contents are still there");
        // SAFETY: the loop was leaked, and the bytes with it.
        let after = unsafe { std::slice::from_raw_parts(contents, before.len()) };
        assert_eq!(after, before);
    }
}
