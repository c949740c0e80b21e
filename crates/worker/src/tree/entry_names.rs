//! Names in the directories of the current path: read whole, one after the other in one memory.
//!
//! A directory is read to its end before anything is done in it, as cp(1) and rm(1) do: what is
//! removed or made meanwhile then does not change what getdents64(2) shows. The names of a
//! directory follow those of its parent and are dropped when it is left, so that a walk has as many
//! names in memory as the directories of its path have, and allocates nothing once that has been
//! reached.

use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;
use std::ffi::CStr;
use std::mem::MaybeUninit;

/// Bytes of the buffer for getdents64(2): what glibc's readdir(3) uses.
const READ_BYTES: usize = 32 * 1024;
/// Entries whose memory is there before the clock runs, at most.
const READY_ENTRIES: u64 = 200_000;
/// Bytes of a name that memory is made ready for.
const READY_NAME_BYTES: usize = 24;

/// An entry of a directory as getdents64(2) shows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    inode: u64,
    /// Where its name begins.
    at: usize,
    /// Unknown on some file systems.
    pub kind: FileType,
}

/// Where the names of a directory begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    /// Number of its first entry.
    pub first: usize,
    bytes: usize,
}

#[derive(Debug)]
pub(super) struct EntryNames {
    entries: Vec<Entry>,
    /// Names, each with its NUL.
    bytes: Vec<u8>,
    buffer: Vec<MaybeUninit<u8>>,
}

impl EntryNames {
    /// Memory for a tree of `entries` entries, touched.
    pub fn new(entries: u64) -> Self {
        let ready = usize::try_from(entries.min(READY_ENTRIES)).unwrap_or(0) + 64;
        let nothing = Entry { inode: 1, at: 1, kind: FileType::Unknown };
        let (mut entries, mut bytes) = (vec![nothing; ready], vec![1; ready * READY_NAME_BYTES]);
        entries.clear();
        bytes.clear();
        Self { entries, bytes, buffer: vec![MaybeUninit::new(1); READ_BYTES] }
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes.clear();
    }

    /// Entries up to the end of the directory that was read last.
    pub fn end(&self) -> usize {
        self.entries.len()
    }

    /// Entry number `index`.
    #[inline(always)]
    pub fn entry(&self, index: usize) -> Entry {
        self.entries[index]
    }

    /// Name of an entry.
    #[inline(always)]
    pub fn name(&self, entry: Entry) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes[entry.at..])
            .expect("every name was written with its NUL")
    }

    /// Reads all names of `dir`, which was not read before, `.` and `..` left out. From
    /// `sort_from` entries on they are put in the order of their inodes, in which many file systems
    /// have them on the device.
    pub fn read(&mut self, dir: BorrowedFd<'_>, sort_from: usize) -> Result<Mark, Errno> {
        let mark = Mark { first: self.entries.len(), bytes: self.bytes.len() };
        let mut entries = RawDir::new(dir, &mut self.buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes_with_nul();
            if name == b".\0" || name == b"..\0" {
                continue;
            }
            let at = self.bytes.len();
            self.bytes.extend_from_slice(name);
            self.entries.push(Entry { inode: entry.ino(), at, kind: entry.file_type() });
        }
        let read = &mut self.entries[mark.first..];
        if read.len() >= sort_from {
            read.sort_unstable_by_key(|entry| entry.inode);
        }
        Ok(mark)
    }

    /// Drops the directory that was read last.
    pub fn drop_from(&mut self, mark: Mark) {
        self.entries.truncate(mark.first);
        self.bytes.truncate(mark.bytes);
    }
}
