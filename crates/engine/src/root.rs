//! The root of a dataset: a directory that is opened but not read before the clock runs.

use crate::clock::monotonic_ns;
use crate::durable::{CounterFiles, Durable};
use crate::error::EngineError;
use crate::names::DirNames;
use fsarena_model::work::{CounterFile, CounterTexts, Dataset};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::path::Path;

/// `STATX_DIOALIGN` (Linux 6.1), which rustix has no name for.
const STATX_DIOALIGN: StatxFlags = StatxFlags::from_bits_retain(0x2000);
/// Logical sector where no other is known.
pub const SECTOR_BYTES: u64 = 512;

/// The root of a dataset, opened but not read.
#[derive(Debug)]
pub struct Root {
    dir: OwnedFd,
    /// Whether it is the working directory of this process, so that paths need no descriptor.
    entered: bool,
    /// The device to be flushed after syncfs.
    device: Option<OwnedFd>,
    /// What is read when a phase is durable.
    counters: CounterFiles,
}

impl Root {
    /// Opens `path`; nothing in it is looked at.
    ///
    /// # Errors
    /// When it is no directory that this user may open.
    pub fn open(path: &Path) -> Result<Self, EngineError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let dir = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|source| EngineError::Root { path: path.to_owned(), source })?;
        Ok(Self { dir, entered: false, device: None, counters: CounterFiles::default() })
    }

    /// Opens `path` and makes it the working directory of the whole process: lookups then start at
    /// `AT_FDCWD` and save the search for a descriptor in each call. For a worker, which has its
    /// process to itself.
    ///
    /// # Errors
    /// As [`Root::open`], and where this user may not enter the directory.
    pub fn enter(path: &Path) -> Result<Self, EngineError> {
        let root = Self::open(path)?;
        rustix::process::fchdir(&root.dir)
            .map_err(|source| EngineError::Root { path: path.to_owned(), source })?;
        Ok(Self { entered: true, ..root })
    }

    /// Where lookups start.
    #[must_use]
    pub fn lookup(&self) -> BorrowedFd<'_> {
        if self.entered { rustix::fs::CWD } else { self.dir.as_fd() }
    }

    /// The directory itself (syncfs(2) wants a real descriptor).
    #[must_use]
    pub fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// Flushes `device` as well whenever something is to be durable from now on. It is opened for
    /// reading, and nothing is read of it.
    ///
    /// # Errors
    /// When this user may not open it.
    pub fn flush_device_too(&mut self, device: &Path) -> Result<(), EngineError> {
        let opened = rustix::fs::open(device, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let source = |source| EngineError::Device { path: device.to_owned(), source };
        self.device = Some(opened.map_err(source)?);
        Ok(())
    }

    /// Opens the files that [`Root::make_durable`] reads.
    pub fn read_when_durable(&mut self, files: &[CounterFile]) {
        self.counters = CounterFiles::open(files);
    }

    /// What [`Root::make_durable`] has read last.
    #[must_use]
    pub fn take_counters(&self) -> Option<CounterTexts> {
        self.counters.take()
    }

    /// syncfs(2), and a flush of the device where there is one to be flushed: an fsync of its node
    /// waits until all that is in its page cache is written, and makes the device write its own
    /// cache then.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn sync_to_device(&self) -> Result<(), Errno> {
        rustix::fs::syncfs(&self.dir)?;
        self.device.as_ref().map_or(Ok(()), rustix::fs::fsync)
    }

    /// The end of a phase: [`Root::sync_to_device`], the clock, and right after it the counters
    /// that belong to that moment.
    ///
    /// # Errors
    /// As [`Root::sync_to_device`]; then nothing is read.
    pub fn make_durable(&self) -> Result<Durable, Errno> {
        self.sync_to_device()?;
        let durable = Durable::now();
        self.counters.read(monotonic_ns);
        Ok(durable)
    }

    /// Bytes that its file system has left for this user (statvfs(3), `f_bavail`); `None` where it
    /// does not say.
    #[must_use]
    pub fn free_bytes(&self) -> Option<u64> {
        let facts = rustix::fs::fstatvfs(&self.dir).ok()?;
        Some(facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    /// Distance that offsets of direct I/O must keep here, bytes: `STATX_DIOALIGN` where the file
    /// system says it of a directory, else the logical block of the device that is flushed as well,
    /// or of its own in sysfs, else 512.
    /// Reads no file of the tree.
    #[must_use]
    pub fn sector_bytes(&self) -> u64 {
        let Ok(facts) = rustix::fs::statx(&self.dir, "", AtFlags::EMPTY_PATH, STATX_DIOALIGN)
        else {
            return SECTOR_BYTES;
        };
        if facts.stx_mask & STATX_DIOALIGN.bits() != 0 && facts.stx_dio_offset_align > 0 {
            return u64::from(facts.stx_dio_offset_align);
        }
        let of_device = |device| rustix::fs::ioctl_blksszget(device).ok().map(u64::from);
        if let Some(sector_bytes) = self.device.as_ref().and_then(of_device) {
            return sector_bytes;
        }
        let device = format!("/sys/dev/block/{}:{}", facts.stx_dev_major, facts.stx_dev_minor);
        let read = |queue: &str| {
            let text = std::fs::read_to_string(format!("{device}/{queue}/logical_block_size"));
            text.ok()?.trim().parse().ok()
        };
        // A partition has no queue of its own.
        read("queue").or_else(|| read("../queue")).unwrap_or(SECTOR_BYTES)
    }
}

/// Makes the directories of a dataset; those that exist already stay.
///
/// Unless a phase says `mkdir`, a directory is not a timed op: this comes before a phase that
/// creates files. In a trial it is a step of its own, before the caches are dropped, so that the
/// directories are as cold as the rest; [`crate::run_phase`] calls it right before the phase.
///
/// # Errors
/// mkdir(2)'s, naming the directory.
pub fn make_dirs(root: &Root, dataset: &Dataset) -> Result<(), EngineError> {
    let mut names = DirNames::new(dataset)?;
    for dir in 0..names.count() {
        names.set(dir);
        match rustix::fs::mkdirat(root.lookup(), names.as_c_str(), Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(source) => {
                return Err(EngineError::MakeDir { name: names.as_str().to_owned(), source });
            }
        }
    }
    Ok(())
}
