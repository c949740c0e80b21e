//! Reads many files from begin to end, and opens many directories, a batch of them in flight: four
//! or five system calls a batch where each file would take as many. No clock runs meanwhile.

use super::ring::{errno, setup};
use io_uring::squeue::Entry;
use io_uring::{IoUring, Probe, opcode, types};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd};

/// Files in flight.
const BATCH: usize = 128;
const ENTRIES: u32 = 128;
/// Of each file at a time; whole sectors.
const PIECE_BYTES: usize = 64 << 10;

/// A ring that reads whole files.
pub struct WholeFileReader {
    ring: IoUring,
    /// One for each file in flight; its pages are there once they are needed.
    pieces: Vec<u8>,
}

/// Place of a file, and what came of an entry of it.
type Completed = (usize, Result<i32, Errno>);

/// How far the reading of a file has come.
#[derive(Clone, Copy)]
enum Reading {
    Open { fd: i32, offset: u64 },
    Read { fd: i32 },
    Failed { fd: Option<i32>, errno: Errno },
}

impl Reading {
    fn fd(self) -> Option<i32> {
        match self {
            Self::Open { fd, .. } | Self::Read { fd } => Some(fd),
            Self::Failed { fd, .. } => fd,
        }
    }
}

impl WholeFileReader {
    /// `None`: this kernel has no ring, forbids it, or lacks one of its opcodes.
    #[must_use]
    pub fn new() -> Option<Self> {
        let ring = setup(ENTRIES).ok()?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe).ok()?;
        let needs = [opcode::OpenAt::CODE, opcode::Read::CODE, opcode::Close::CODE];
        let pieces = vec![0; BATCH * PIECE_BYTES];
        needs.iter().all(|code| probe.is_supported(*code)).then_some(Self { ring, pieces })
    }

    /// Reads the files of these paths below `dir` to their ends. `take` gets the place of a file
    /// among them and its next bytes: 64 KiB at most, and a multiple of 512 but at the end. Gives
    /// why a file could not be opened or read to its end; all are closed.
    ///
    /// # Errors
    /// When the ring itself fails. It is of no use afterwards.
    pub fn read(
        &mut self,
        dir: BorrowedFd<'_>,
        paths: Vec<CString>,
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<Vec<Option<Errno>>, Errno> {
        let mut failed = Vec::with_capacity(paths.len());
        let mut left = paths.into_iter();
        loop {
            let batch: Vec<CString> = left.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(failed);
            }
            let first = failed.len();
            let read = self.read_batch(dir, batch, &mut |file, piece| take(first + file, piece))?;
            failed.extend(read.into_iter().map(|reading| match reading {
                Reading::Failed { errno, .. } => Some(errno),
                Reading::Open { .. } | Reading::Read { .. } => None,
            }));
        }
    }

    fn read_batch(
        &mut self,
        dir: BorrowedFd<'_>,
        paths: Vec<CString>,
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<Vec<Reading>, Errno> {
        let opened = self.open(dir, paths, OFlags::empty())?.into_iter();
        let mut files: Vec<Reading> = opened
            .map(|opened| match opened {
                Ok(fd) => Reading::Open { fd, offset: 0 },
                Err(errno) => Reading::Failed { fd: None, errno },
            })
            .collect();
        loop {
            let reads = self.reads(&files);
            if reads.is_empty() {
                break;
            }
            let mut completed = Vec::with_capacity(reads.len());
            self.complete(&reads, &mut completed).inspect_err(|_| {
                leak(std::mem::take(&mut self.pieces));
                files.iter().filter_map(|file| file.fd()).for_each(close);
            })?;
            for (file, result) in completed {
                let Reading::Open { fd, offset } = files[file] else { continue };
                files[file] = match result.map(i32::cast_unsigned) {
                    Ok(0) => Reading::Read { fd },
                    Ok(bytes) => {
                        take(file, &self.pieces[file * PIECE_BYTES..][..bytes as usize]);
                        Reading::Open { fd, offset: offset + u64::from(bytes) }
                    }
                    Err(Errno::INTR | Errno::AGAIN) => files[file],
                    Err(errno) => Reading::Failed { fd: Some(fd), errno },
                };
            }
        }
        self.close(files.iter().filter_map(|file| file.fd()))?;
        Ok(files)
    }

    /// Calls `list` with each directory of these paths below `dir` in their order, or why it could
    /// not be opened.
    ///
    /// # Errors
    /// When the ring itself fails. It is of no use afterwards.
    pub fn with_dirs(
        &mut self,
        dir: BorrowedFd<'_>,
        paths: Vec<CString>,
        list: &mut dyn FnMut(Result<BorrowedFd<'_>, Errno>),
    ) -> Result<(), Errno> {
        let mut left = paths.into_iter();
        loop {
            let batch: Vec<CString> = left.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(());
            }
            let opened = self.open(dir, batch, OFlags::DIRECTORY)?;
            // SAFETY: the ring has opened them for this call alone.
            let owned = |fd: i32| unsafe { OwnedFd::from_raw_fd(fd) };
            let dirs: Vec<Result<OwnedFd, Errno>> =
                opened.into_iter().map(|opened| opened.map(owned)).collect();
            for dir in &dirs {
                list(dir.as_ref().map(AsFd::as_fd).map_err(|errno| *errno));
            }
            self.close(dirs.into_iter().flatten().map(OwnedFd::into_raw_fd))?;
        }
    }

    /// Opens a batch; in their order.
    fn open(
        &mut self,
        dir: BorrowedFd<'_>,
        paths: Vec<CString>,
        flags: OFlags,
    ) -> Result<Vec<Result<i32, Errno>>, Errno> {
        let flags = (OFlags::RDONLY | OFlags::CLOEXEC | flags).bits().cast_signed();
        let open = |path: &CString| {
            opcode::OpenAt::new(types::Fd(dir.as_raw_fd()), path.as_ptr()).flags(flags).build()
        };
        let opens: Vec<(usize, Entry)> = paths.iter().map(open).enumerate().collect();
        let mut opened = Vec::with_capacity(opens.len());
        if let Err(errno) = self.complete(&opens, &mut opened) {
            // Names are in use until all have completed.
            paths.into_iter().for_each(leak);
            opened.into_iter().filter_map(|(_, result)| result.ok()).for_each(close);
            return Err(errno);
        }
        let mut files = vec![Err(Errno::IO); opens.len()];
        for (file, result) in opened {
            files[file] = result;
        }
        Ok(files)
    }

    fn close(&mut self, files: impl Iterator<Item = i32>) -> Result<(), Errno> {
        let entry = |fd: i32| opcode::Close::new(types::Fd(fd)).build();
        let closes: Vec<(usize, Entry)> = files.map(entry).enumerate().collect();
        self.complete(&closes, &mut Vec::new())
    }

    /// The next piece of each file that has not ended.
    fn reads(&mut self, files: &[Reading]) -> Vec<(usize, Entry)> {
        let mut reads = Vec::new();
        let pieces = self.pieces.chunks_exact_mut(PIECE_BYTES);
        for (file, (reading, piece)) in files.iter().zip(pieces).enumerate() {
            if let Reading::Open { fd, offset } = *reading {
                let bytes = u32::try_from(piece.len()).unwrap_or(0);
                let read = opcode::Read::new(types::Fd(fd), piece.as_mut_ptr(), bytes);
                reads.push((file, read.offset(offset).build()));
            }
        }
        reads
    }

    /// Carries out one entry of each of these files, a batch at most; `results` are in the order in
    /// which they came, on an error those that had come.
    fn complete(
        &mut self,
        entries: &[(usize, Entry)],
        results: &mut Vec<Completed>,
    ) -> Result<(), Errno> {
        for (file, entry) in entries {
            let entry = entry.clone().user_data(*file as u64);
            // SAFETY: paths and pieces are in memory that does not move until all have completed;
            // where that is not known, the callers never give it back.
            let pushed = unsafe { self.ring.submission().push(&entry) };
            pushed.map_err(|_| Errno::OVERFLOW)?;
        }
        while results.len() < entries.len() {
            match self.ring.submit_and_wait(entries.len() - results.len()) {
                Ok(_) => {}
                Err(error) if matches!(errno(&error), Errno::INTR | Errno::AGAIN | Errno::BUSY) => {
                }
                Err(error) => return Err(errno(&error)),
            }
            results.extend(self.ring.completion().map(|done| {
                let result = done.result();
                let file = usize::try_from(done.user_data()).unwrap_or(usize::MAX);
                (file, if result < 0 { Err(Errno::from_raw_os_error(-result)) } else { Ok(result) })
            }));
        }
        Ok(())
    }
}

/// Closes a file by a call, where the ring has failed.
fn close(fd: i32) {
    // SAFETY: the ring has opened it for this batch alone, and it is not used again.
    unsafe { rustix::io::close(fd) };
}

/// What the kernel may still use.
fn leak<T>(memory: T) {
    std::mem::forget(memory);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn open_files() -> usize {
        std::fs::read_dir("/proc/self/fd").unwrap().count()
    }

    #[test]
    fn all_bytes_of_all_files_come_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut reader) = WholeFileReader::new() else {
            println!("not run: no ring here");
            return;
        };
        // More than a batch; some empty, some of several pieces.
        let sizes = (0..300_usize).map(|file| (file % 3) * (file * 1000 + 7));
        let contents: Vec<Vec<u8>> = sizes
            .enumerate()
            .map(|(file, bytes)| (0..bytes).map(|at| (at * 7 + file) as u8).collect())
            .collect();
        let mut paths = Vec::new();
        for (file, data) in contents.iter().enumerate() {
            std::fs::write(dir.path().join(file.to_string()), data).unwrap();
            paths.push(CString::new(file.to_string()).unwrap());
        }
        paths.insert(70, c"missing".into());
        paths.insert(71, c".".into());
        let root = File::open(dir.path()).unwrap();
        let before = open_files();
        let mut seen: Vec<Vec<u8>> = vec![Vec::new(); paths.len()];
        let mut take = |file: usize, piece: &[u8]| seen[file].extend(piece);
        let failed = reader.read(root.as_fd(), paths, &mut take).unwrap();
        assert_eq!(open_files(), before);
        assert_eq!((failed[70], failed[71]), (Some(Errno::NOENT), Some(Errno::ISDIR)));
        assert_eq!(failed.iter().flatten().count(), 2);
        seen.drain(70..72);
        assert!(seen == contents);
    }

    #[test]
    fn directories_are_opened_in_their_order_and_closed() {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut reader) = WholeFileReader::new() else {
            println!("not run: no ring here");
            return;
        };
        // More than a batch.
        let mut paths = Vec::new();
        for number in 0..200_u64 {
            let path = dir.path().join(number.to_string());
            std::fs::create_dir(&path).unwrap();
            paths.push(CString::new(number.to_string()).unwrap());
        }
        std::fs::write(dir.path().join("file"), "").unwrap();
        paths.insert(150, c"file".into());
        let root = File::open(dir.path()).unwrap();
        let before = open_files();
        let mut seen = Vec::new();
        let mut list = |opened: Result<BorrowedFd<'_>, Errno>| {
            seen.push(opened.map(|dir| rustix::fs::fstat(dir).unwrap().st_ino));
        };
        reader.with_dirs(root.as_fd(), paths, &mut list).unwrap();
        assert_eq!(open_files(), before);
        assert_eq!(seen.remove(150), Err(Errno::NOTDIR));
        for (number, inode) in seen.into_iter().enumerate() {
            let metadata = std::fs::metadata(dir.path().join(number.to_string())).unwrap();
            assert_eq!(inode, Ok(std::os::unix::fs::MetadataExt::ino(&metadata)));
        }
    }
}
