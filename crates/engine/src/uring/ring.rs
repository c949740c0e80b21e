//! The ring itself: what the kernel can do, how it is set up, what is registered with it.
//!
//! Setup flags, from the best to the plainest, as the kernel has them (io_uring_setup(2)):
//! `SINGLE_ISSUER` and `DEFER_TASKRUN` (6.1: completions are handled by the thread that waits,
//! without an interrupt of it), `COOP_TASKRUN` (5.19), none. That is a matter of speed; whatever
//! changes the *meaning* of a phase (an opcode that is missing, a kernel without io_uring) is an
//! error, never something else done quietly.

use crate::buffer::Pages;
use crate::error::{MAX_IODEPTH, UringError};
use crate::outcome::Failure;
use crate::resources::open_files;
use crate::stamp::Contents;
use fsarena_model::op::Opcode;
use fsarena_model::op::opcodes::{CLOSE, FSYNC, OPENAT};
use fsarena_model::work::{Fsync, Io, Op};
use io_uring::types::Fixed;
use io_uring::{CompletionQueue, IoUring, Probe, Submitter, opcode, squeue};
use rustix::io::Errno;
use std::io;
use std::marker::PhantomData;
use std::time::Duration;

/// Whether a slot of `op` opens files into the table of the ring, in a chain with what follows.
fn opens_in_chains(op: Op, fsync: Fsync) -> bool {
    let info = op.info();
    let opens = info.uring.is_some_and(|needs| needs.contains(&OPENAT));
    opens || (!op.is_big() && info.changes_names && fsync == Fsync::Op)
}

/// Asks the kernel whether it can run `op`: comes before the phase.
///
/// # Errors
/// Says which part is missing.
pub fn check(op: Op, io: &Io) -> Result<(), UringError> {
    if io.iodepth == 0 || io.iodepth > MAX_IODEPTH {
        return Err(UringError::Depth { iodepth: io.iodepth });
    }
    let limit = open_files();
    if limit <= u64::from(io.iodepth) {
        return Err(UringError::Files { iodepth: io.iodepth, limit });
    }
    let needs = op.info().uring.ok_or(UringError::NoOpcode { op: op.name() })?;
    let ring = setup(8).map_err(|source| match source {
        Errno::NOSYS => UringError::Missing(source),
        Errno::PERM | Errno::ACCESS => UringError::Forbidden(source),
        _ => UringError::Setup(source),
    })?;
    let mut probe = Probe::new();
    let probed = ring.submitter().register_probe(&mut probe);
    probed.map_err(|error| UringError::Probe(errno(&error)))?;
    let lacks = |what| UringError::Lacks { op: op.name(), what };
    let chained = opens_in_chains(op, io.fsync);
    let opens: &[Opcode] = if chained { &[OPENAT, CLOSE] } else { &[] };
    let syncs: &[Opcode] = if matches!(io.fsync, Fsync::Op | Fsync::File) { &[FSYNC] } else { &[] };
    for Opcode { code, name } in needs.iter().chain(opens).chain(syncs) {
        if !probe.is_supported(*code) {
            return Err(lacks(name));
        }
    }
    if chained && !ring.params().is_feature_linked_file() {
        return Err(lacks("IORING_FEAT_LINKED_FILE (Linux 5.17)"));
    }
    Ok(())
}

/// The error number of a call of the io_uring crate, whose errors all come from the kernel.
pub(super) fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Hands over what is queued, and waits for a completion unless one has come by then.
///
/// In two calls, as fio does it: one that hands over and waits at once sleeps before a device that
/// answers soon has had the time to, and to be woken costs more than a second call.
///
/// # Errors
/// Of either call.
#[inline(always)]
pub(super) fn enter(submitter: &Submitter<'_>, done: &mut CompletionQueue<'_>) -> io::Result<()> {
    submitter.submit()?;
    done.sync();
    if CompletionQueue::is_empty(done) {
        submitter.submit_and_wait(1)?;
    }
    Ok(())
}

/// Sets up a ring with the best flags that the kernel takes.
///
/// Rings count as locked memory of a user who is not root, and those of a phase or process that has
/// just ended do so for some ms more: where that is the obstacle, it is waited for.
pub(super) fn setup(entries: u32) -> Result<IoUring, Errno> {
    for _ in 0..SETUP_TRIES {
        match setup_once(entries) {
            Err(Errno::NOMEM) => std::thread::sleep(Duration::from_millis(10)),
            other => return other,
        }
    }
    setup_once(entries)
}

const SETUP_TRIES: u32 = 50;

fn setup_once(entries: u32) -> Result<IoUring, Errno> {
    let mut best = IoUring::builder();
    best.setup_single_issuer().setup_defer_taskrun();
    let mut good = IoUring::builder();
    good.setup_coop_taskrun();
    for builder in [best, good] {
        match builder.build(entries) {
            Ok(ring) => return Ok(ring),
            // A flag that it does not know.
            Err(error) if errno(&error) == Errno::INVAL => {}
            Err(error) => return Err(errno(&error)),
        }
    }
    IoUring::new(entries).map_err(|error| errno(&error))
}

/// A ring with one buffer a slot and a table of files, all registered.
pub(super) struct Ring {
    ring: IoUring,
    /// The buffers of all slots, one after the other; dropped after the ring.
    buffers: Pages,
    /// Distance of two buffers; whole pages.
    stride: usize,
    /// Whether the buffers are registered (fixed).
    fixed: bool,
}

/// What a ring is made for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Ops in flight.
    pub slots: u32,
    /// Entries that one op may put into the queue at once.
    pub chain: u32,
    /// Bytes of the buffer of a slot.
    pub buffer_bytes: usize,
    /// Files in the table.
    pub files: u32,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("stride", &self.stride).field("fixed", &self.fixed).finish()
    }
}

/// Buffers begin at this distance or a multiple of it (`O_DIRECT` asks for it).
const ALIGN_BYTES: usize = 4096;
/// Largest buffer that can be registered (`io_sqe_buffer_register`).
const MAX_REGISTERED_BYTES: usize = 1 << 30;
/// Most buffers that any kernel registers (UIO_MAXIOV).
const MAX_REGISTERED: usize = 1024;

impl Ring {
    /// A ring with buffers, and a table of files that are not open yet; it belongs to the calling
    /// thread. `own` are the contents of the slots, if each has its own, which are not moved
    /// as long as the ring lives. An empty op goes through the ring, so that what the kernel
    /// allocates at the first one is there.
    pub fn new(shape: Shape, own: &[Contents]) -> Result<Self, Failure> {
        let failed = |call| move |errno| Failure { call, errno: Some(errno) };
        let no_memory = failed("mmap");
        let stride = shape.buffer_bytes.checked_next_multiple_of(ALIGN_BYTES);
        let all = stride.and_then(|stride| stride.checked_mul(shape.slots as usize));
        let (Some(stride), Some(all)) = (stride, all) else {
            return Err(no_memory(Errno::NOMEM));
        };
        let buffers = Pages::new(all).map_err(no_memory)?;
        let entries = (shape.slots * shape.chain).next_power_of_two();
        let ring = setup(entries).map_err(failed("io_uring_setup"))?;
        let mut ring = Self { ring, buffers, stride, fixed: false };
        let registered =
            ring.register_buffers(all, own).and_then(|()| ring.register_files(shape.files));
        registered.map_err(failed("io_uring_register"))?;
        ring.first_op().map_err(failed("io_uring_enter"))?;
        ring.keep_to_own_cpus();
        Ok(ring)
    }

    fn first_op(&mut self) -> Result<(), Errno> {
        // SAFETY: an empty op uses no memory.
        let pushed = unsafe { self.ring.submission().push(&opcode::Nop::new().build()) };
        debug_assert!(pushed.is_ok(), "the queue is empty");
        self.ring.submit_and_wait(1).map_err(|error| errno(&error))?;
        self.ring.completion().for_each(drop);
        Ok(())
    }

    /// A table of `files` files that are not open yet. Its size is limited by RLIMIT_NOFILE.
    fn register_files(&self, files: u32) -> Result<(), Errno> {
        if files == 0 {
            return Ok(());
        }
        let empty = vec![-1; files as usize];
        self.ring.submitter().register_files(&empty).map_err(|error| errno(&error))
    }

    /// Threads that the kernel starts for ops that block run where this thread may run: they do not
    /// inherit that. Of no consequence where the kernel (before 5.14) cannot do it.
    fn keep_to_own_cpus(&self) {
        // SAFETY: cpu_set_t is plain integers, for which all zeros are a value.
        let mut own: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live set of the size given.
        let got = unsafe { libc::sched_getaffinity(0, size_of_val(&own), &raw mut own) };
        if got == 0 {
            self.ring.submitter().register_iowq_aff(&own).ok();
        }
    }

    /// Registers the buffers, and behind them the contents of the slots, where the limit of locked
    /// memory allows it; they work without.
    fn register_buffers(&mut self, all: usize, own: &[Contents]) -> Result<(), Errno> {
        // Without any read there are no buffers, but they keep their number all the same.
        let all = all.max(1);
        let buffers = self.buffers.as_slice().as_ptr();
        let mut iovecs = vec![(buffers, all)];
        iovecs.extend(own.iter().map(|own| (own.memory().as_ptr(), own.memory().len())));
        if iovecs.len() > MAX_REGISTERED || iovecs.iter().any(|one| one.1 > MAX_REGISTERED_BYTES) {
            return Ok(());
        }
        let iovec = |(start, iov_len): (*const u8, usize)| libc::iovec {
            iov_base: start.cast_mut().cast(),
            iov_len,
        };
        let iovecs: Vec<_> = iovecs.into_iter().map(iovec).collect();
        // SAFETY: each is a mapping of its own that never moves (also where it has a page and no
        // byte), given back only when the ring has nothing in flight: else its loop is never
        // dropped. The caller keeps the contents of the slots as long.
        match unsafe { self.ring.submitter().register_buffers(&iovecs) } {
            Ok(()) => {
                self.fixed = true;
                Ok(())
            }
            // RLIMIT_MEMLOCK of a user who is not root.
            Err(error) if matches!(errno(&error), Errno::NOMEM | Errno::PERM) => Ok(()),
            Err(error) => Err(errno(&error)),
        }
    }

    /// The ring and its buffers, for the loop.
    pub fn parts(&mut self) -> (&mut IoUring, Buffers<'_>) {
        let start = self.buffers.as_mut_slice().as_mut_ptr();
        let buffers =
            Buffers { start, stride: self.stride, fixed: self.fixed, borrow: PhantomData };
        (&mut self.ring, buffers)
    }
}

/// The buffers of a ring's slots.
pub(super) struct Buffers<'a> {
    start: *mut u8,
    stride: usize,
    fixed: bool,
    borrow: PhantomData<&'a mut [u8]>,
}

impl Buffers<'_> {
    /// The buffer of a slot that is not in flight.
    #[inline(always)]
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        // SAFETY: `start` is the beginning of at least (slot + 1) * stride bytes (slots are those
        // the ring was made for). Only this slot's bytes are borrowed, and callers ask only for
        // slots of which nothing is in flight, so that the kernel does not touch them meanwhile.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(slot * self.stride), self.stride) }
    }

    /// Where the buffer of a slot begins, for the kernel.
    #[inline(always)]
    pub fn start_of(&self, slot: usize) -> *mut u8 {
        self.start.wrapping_add(slot * self.stride)
    }

    /// A read into the buffer of `slot`.
    #[inline(always)]
    pub fn read(&self, slot: usize, file: Fixed, len: u32, offset: u64) -> squeue::Entry {
        let start = self.start.wrapping_add(slot * self.stride);
        if self.fixed {
            opcode::ReadFixed::new(file, start, len, 0).offset(offset).build()
        } else {
            opcode::Read::new(file, start, len).offset(offset).build()
        }
    }

    /// A write from the buffer of `slot`.
    #[inline(always)]
    pub fn write(&self, slot: usize, file: Fixed, len: u32, offset: u64) -> squeue::Entry {
        let start = self.start.wrapping_add(slot * self.stride);
        self.write_from((start, 0), file, len, offset)
    }

    /// A write of bytes from the own contents of `slot`.
    #[inline(always)]
    pub fn write_own(&self, slot: usize, file: Fixed, bytes: &[u8], offset: u64) -> squeue::Entry {
        #[expect(clippy::cast_possible_truncation, reason = "calls and slots have fewer")]
        let (index, len) = (slot as u16 + 1, bytes.len() as u32);
        self.write_from((bytes.as_ptr(), index), file, len, offset)
    }

    #[inline(always)]
    fn write_from(
        &self,
        (start, index): (*const u8, u16),
        file: Fixed,
        len: u32,
        offset: u64,
    ) -> squeue::Entry {
        if self.fixed {
            opcode::WriteFixed::new(file, start, len, index).offset(offset).build()
        } else {
            opcode::Write::new(file, start, len).offset(offset).build()
        }
    }
}

/// Where written bytes come from.
pub(super) struct WriteBytes<'a> {
    /// Contents of each slot; empty where slots copy from the shared ones.
    pub own: &'a mut [Contents],
    pub shared: Option<&'a mut Contents>,
}

impl WriteBytes<'_> {
    /// A write of what file `number` shall hold in `len` bytes at `offset`: from the contents of
    /// `slot`, which nothing in flight uses, or from its buffer.
    #[inline(always)]
    pub fn write(
        &mut self,
        buffers: &mut Buffers<'_>,
        (slot, file): (usize, Fixed),
        (number, offset, len): (u64, u64, u32),
    ) -> squeue::Entry {
        if let Some(own) = self.own.get_mut(slot) {
            let bytes = own.call(number, offset, len as usize);
            return buffers.write_own(slot, file, bytes, offset);
        }
        if let Some(contents) = &mut self.shared {
            contents.fill(number, offset, &mut buffers.slot(slot)[..len as usize]);
        }
        buffers.write(slot, file, len, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::op::opcodes;

    #[test]
    fn numbers_of_opcodes_are_those_of_the_kernel() {
        let known = [
            (opcodes::FSYNC, opcode::Fsync::CODE),
            (opcodes::FALLOCATE, opcode::Fallocate::CODE),
            (opcodes::OPENAT, opcode::OpenAt::CODE),
            (opcodes::CLOSE, opcode::Close::CODE),
            (opcodes::STATX, opcode::Statx::CODE),
            (opcodes::READ, opcode::Read::CODE),
            (opcodes::WRITE, opcode::Write::CODE),
            (opcodes::RENAMEAT, opcode::RenameAt::CODE),
            (opcodes::UNLINKAT, opcode::UnlinkAt::CODE),
            (opcodes::MKDIRAT, opcode::MkDirAt::CODE),
            (opcodes::SYMLINKAT, opcode::SymlinkAt::CODE),
            (opcodes::LINKAT, opcode::LinkAt::CODE),
            (opcodes::SETXATTR, opcode::SetXattr::CODE),
            (opcodes::GETXATTR, opcode::GetXattr::CODE),
            (opcodes::FTRUNCATE, opcode::Ftruncate::CODE),
        ];
        for (ours, code) in known {
            assert_eq!(ours.code, code, "{}", ours.name);
        }
    }

    #[test]
    fn every_op_but_those_that_list_and_cycle_has_opcodes() {
        for op in Op::ALL {
            let opcodes = op.info().uring;
            assert_eq!(opcodes.is_none(), matches!(op, Op::List | Op::Find | Op::Cycle), "{op:?}");
        }
        assert!(opens_in_chains(Op::Create, Fsync::None) && opens_in_chains(Op::Delete, Fsync::Op));
        assert!(
            !opens_in_chains(Op::Delete, Fsync::Dir) && !opens_in_chains(Op::RandRead, Fsync::Op)
        );
    }

    #[test]
    fn depths_out_of_range_are_refused_before_the_kernel_is_asked() {
        for iodepth in [0, MAX_IODEPTH + 1] {
            let refused = check(Op::Read, &Io { iodepth, ..Io::default() }).unwrap_err();
            assert!(matches!(refused, UringError::Depth { .. }), "{refused}");
        }
    }

    #[test]
    fn buffers_of_slots_lie_apart_on_pages() {
        let shape = Shape { slots: 3, chain: 1, buffer_bytes: 5000, files: 0 };
        let Ok(mut ring) = Ring::new(shape, &[]) else {
            println!("not run: no ring here");
            return;
        };
        let (_, mut buffers) = ring.parts();
        for slot in 0..3 {
            assert_eq!(buffers.slot(slot).as_ptr().addr() % ALIGN_BYTES, 0);
            buffers.slot(slot).fill(slot as u8);
        }
        assert!((0..3).all(|slot| buffers.slot(slot) == [slot as u8; 8192]));
    }
}
