//! Contents of one file, from one descriptor to another.
//!
//! | reflink | calls |
//! |---|---|
//! | `never` | posix_fadvise(2) `SEQUENTIAL`, pread(2) and pwrite(2) of 256 KiB |
//! | `auto` | the ioctl `FICLONE`; else the advice and copy_file_range(2); else as `never` |
//! | `always` | `FICLONE`; its error is the error of the entry |
//!
//! cp(1) does the same kind of calls: the same advice (the kernel then reads ahead twice as far),
//! read(2) and write(2) of 128 KiB (coreutils 9.1) or more, and one read more at the end of a
//! file.
//!
//! A file that has fewer blocks than bytes is taken apart by `SEEK_DATA` and `SEEK_HOLE`, and its
//! holes are left out (`--sparse=auto`, which `cp -a` means).

use super::error::{EntryError, NameCall as _, Side};
use fsarena_engine::buffer::Pages;
use fsarena_model::job::Reflink;
use rustix::fd::BorrowedFd;
use rustix::fs::{Advice, SeekFrom, Stat, copy_file_range, ioctl_ficlone, seek};
use rustix::io::{Errno, retry_on_intr};

/// Bytes of one read or write.
pub(super) const CALL_BYTES: usize = 256 * 1024;
/// Most bytes of one copy_file_range.
const RANGE_BYTES: u64 = 1 << 30;
/// A block of `st_blocks`, bytes.
const BLOCK_BYTES: u64 = 512;

/// How contents are copied, and the memory for it.
#[derive(Debug)]
pub(super) struct Body {
    reflink: Reflink,
    /// Whether `FICLONE` is worth a try: it failed for a reason that other files have as well.
    may_clone: bool,
    may_range: bool,
    buffer: Pages,
}

/// Bytes that a file of `facts` stores: no more than it is long.
pub(super) fn stored_bytes(facts: &Stat) -> u64 {
    let blocks_bytes = facts.st_blocks.cast_unsigned().saturating_mul(BLOCK_BYTES);
    facts.st_size.cast_unsigned().min(blocks_bytes)
}

impl Body {
    /// Makes the buffer.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn new(reflink: Reflink) -> Result<Self, Errno> {
        let tries = reflink == Reflink::Auto;
        Ok(Self { reflink, may_clone: tries, may_range: tries, buffer: Pages::new(CALL_BYTES)? })
    }

    /// Copies all of a file into a new one that is empty; the bytes of it, holes left out.
    pub fn copy(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        facts: &Stat,
    ) -> Result<u64, EntryError> {
        if self.reflink == Reflink::Always {
            ioctl_ficlone(to, from).making("ioctl FICLONE")?;
            return Ok(stored_bytes(facts));
        }
        let size = facts.st_size.cast_unsigned();
        if self.may_clone && size > 0 {
            match ioctl_ficlone(to, from) {
                Ok(()) => return Ok(stored_bytes(facts)),
                // Another file may be another matter.
                Err(Errno::INVAL | Errno::TXTBSY | Errno::PERM | Errno::ACCESS) => {}
                Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::IO)) => {
                    return Err(errno).making("ioctl FICLONE");
                }
                Err(_) => self.may_clone = false,
            }
        }
        // An advice that is not taken is no error.
        let _ = rustix::fs::fadvise(from, 0, None, Advice::Sequential);
        if size == 0 {
            return Ok(0);
        }
        if stored_bytes(facts) < size {
            return self.extents(from, to, size);
        }
        self.extent(from, to, 0, size).map(|()| size)
    }

    /// All extents of data of a file with holes.
    fn extents(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        size: u64,
    ) -> Result<u64, EntryError> {
        let (mut copied, mut end) = (0, 0);
        while end < size {
            let start = match seek(from, SeekFrom::Data(end)) {
                Ok(start) => start.min(size),
                Err(Errno::NXIO) => break,
                // The file system has no such call.
                Err(Errno::INVAL) if end == 0 => {
                    return self.extent(from, to, 0, size).map(|()| size);
                }
                Err(errno) => return Err(errno).reading("lseek"),
            };
            if start == size {
                break;
            }
            end = seek(from, SeekFrom::Hole(start)).reading("lseek")?.min(size);
            self.extent(from, to, start, end)?;
            copied += end - start;
        }
        if end < size {
            rustix::fs::ftruncate(to, size).making("ftruncate")?;
        }
        Ok(copied)
    }

    /// Bytes `start` to `end`.
    fn extent(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        start: u64,
        end: u64,
    ) -> Result<(), EntryError> {
        let mut at = start;
        if self.may_range {
            at = self.ranges(from, to, start, end)?;
        }
        while at < end {
            let len = (end - at).min(CALL_BYTES as u64) as usize;
            let bytes = &mut self.buffer.as_mut_slice()[..len];
            let got = retry_on_intr(|| rustix::io::pread(from, &mut *bytes, at)).reading("read")?;
            if got == 0 {
                let what = "the file ended before its size; it was changed meanwhile";
                return Err(EntryError::refused("read", Side::Source, what));
            }
            let mut bytes = &bytes[..got];
            while !bytes.is_empty() {
                let wrote = retry_on_intr(|| rustix::io::pwrite(to, bytes, at)).making("write")?;
                if wrote == 0 {
                    let what = "fewer bytes taken than given";
                    return Err(EntryError::refused("write", Side::Made, what));
                }
                at += wrote as u64;
                bytes = &bytes[wrote..];
            }
        }
        Ok(())
    }

    /// As much of `start` to `end` as copy_file_range(2) takes; where it stopped.
    fn ranges(
        &mut self,
        from: BorrowedFd<'_>,
        to: BorrowedFd<'_>,
        start: u64,
        end: u64,
    ) -> Result<u64, EntryError> {
        let (mut read_at, mut write_at) = (start, start);
        while read_at < end {
            let len = (end - read_at).min(RANGE_BYTES) as usize;
            match copy_file_range(from, Some(&mut read_at), to, Some(&mut write_at), len) {
                Ok(0) | Err(Errno::INVAL | Errno::TXTBSY | Errno::PERM) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::XDEV | Errno::NOSYS | Errno::OPNOTSUPP | Errno::NOTTY) => {
                    self.may_range = false;
                    break;
                }
                Err(errno) => return Err(errno).making("copy_file_range"),
            }
        }
        Ok(read_at)
    }
}
