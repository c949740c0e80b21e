//! A backend that asks before each call and then makes the real one; and shorthands for phases.
#![allow(dead_code, clippy::unwrap_used)] // each test file uses its part of this

pub mod cycles;

use fsarena_engine::backend::sync::Sync;
use fsarena_engine::backend::{Backend, Entry, EntryError, OpenMode};
use fsarena_engine::verify::Verifier;
use fsarena_engine::{Job, Root};
use fsarena_model::seed::Seed;
use fsarena_model::work::{
    Dataset, DatasetState, Io, Op, Phase, Sharing, VerifyReport, WorkerReport,
};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::ffi::CStr;
use std::path::Path;

pub const SEED: u64 = 11;

/// A new directory, in memory where there is one: syncfs on a disk that others use takes long.
pub fn temp_dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub fn seed() -> Seed {
    Seed::from_number(SEED)
}

/// Runs `phase` below `dir` over a dataset in `state`, which becomes what the phase leaves.
pub fn run(dir: &Path, dataset: &Dataset, state: &mut DatasetState, phase: &Phase) -> WorkerReport {
    let root = Root::open(dir).unwrap();
    let sector_bytes = root.sector_bytes();
    let job = Job::new(dataset, phase, seed().child("phase", 1), seed());
    let report = Job { state: *state, sector_bytes, ..job }.run(&root).unwrap();
    *state = phase.leaves(*state);
    report
}

pub fn verify(dir: &Path, dataset: &Dataset, state: &DatasetState, bs_bytes: u64) -> VerifyReport {
    let mut verifier = Verifier::new(dataset, state, bs_bytes, &seed()).unwrap();
    verifier.run(&Root::open(dir).unwrap())
}

pub fn by(threads: u32, sharing: Sharing) -> Io {
    Io { threads, sharing, ..Io::default() }
}

pub fn phase(op: Op, bs_bytes: u64, io: &Io) -> Phase {
    Phase { io: io.clone(), ..Phase::new(op.name(), op, bs_bytes) }
}

/// The real calls, each announced to `ask` by its name; what that refuses is not made.
pub struct Asking<'a, F> {
    pub real: Sync<'a>,
    pub ask: F,
}

impl<'a, F: Fn(&'static str) -> Result<(), Errno>> Backend for Asking<'a, F> {
    type File = <Sync<'a> as Backend>::File;

    fn create(&self, path: &CStr, size_bytes: u64) -> Result<Self::File, Errno> {
        (self.ask)("create").and_then(|()| self.real.create(path, size_bytes))
    }

    fn open(&self, path: &CStr, mode: OpenMode) -> Result<Self::File, Errno> {
        let call = match mode {
            OpenMode::Read => "open",
            OpenMode::Write => "open_write",
            OpenMode::ReadWrite => "open_both",
            OpenMode::Append => "open_append",
            OpenMode::Truncate => "open_truncate",
            OpenMode::Create => "open_or_create",
            OpenMode::Direct => "open_direct",
            OpenMode::Dir => "open_dir",
        };
        (self.ask)(call).and_then(|()| self.real.open(path, mode))
    }

    fn write(&self, file: Self::File, bytes: &[u8]) -> Result<usize, Errno> {
        (self.ask)("write").and_then(|()| self.real.write(file, bytes))
    }

    fn read(&self, file: Self::File, bytes: &mut [u8]) -> Result<usize, Errno> {
        (self.ask)("read").and_then(|()| self.real.read(file, bytes))
    }

    fn write_at(&self, file: Self::File, offset: u64, bytes: &[u8]) -> Result<usize, Errno> {
        (self.ask)("write_at").and_then(|()| self.real.write_at(file, offset, bytes))
    }

    fn read_at(&self, file: Self::File, offset: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
        (self.ask)("read_at").and_then(|()| self.real.read_at(file, offset, bytes))
    }

    fn fsync(&self, file: Self::File) -> Result<(), Errno> {
        (self.ask)("fsync").and_then(|()| self.real.fsync(file))
    }

    fn forget(&self, file: Self::File) -> Result<(), Errno> {
        (self.ask)("forget").and_then(|()| self.real.forget(file))
    }

    fn close(&self, file: Self::File) -> Result<(), Errno> {
        // The descriptor must not stay behind.
        let closed = self.real.close(file);
        (self.ask)("close").and(closed)
    }

    fn stat(&self, path: &CStr) -> Result<(), Errno> {
        (self.ask)("stat").and_then(|()| self.real.stat(path))
    }

    fn unlink(&self, path: &CStr) -> Result<(), Errno> {
        (self.ask)("unlink").and_then(|()| self.real.unlink(path))
    }

    fn rename(&self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        (self.ask)("rename").and_then(|()| self.real.rename(from, to))
    }

    fn mkdir(&self, path: &CStr) -> Result<(), Errno> {
        (self.ask)("mkdir").and_then(|()| self.real.mkdir(path))
    }

    fn rmdir(&self, path: &CStr) -> Result<(), Errno> {
        (self.ask)("rmdir").and_then(|()| self.real.rmdir(path))
    }

    fn call_on_file(
        &self,
        file: Self::File,
        call: impl FnOnce(BorrowedFd<'_>) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        (self.ask)("call_on_file").and_then(|()| self.real.call_on_file(file, call))
    }

    fn list(&self, dir: Self::File, buffer: &mut [u8]) -> Result<u64, Errno> {
        (self.ask)("list").and_then(|()| self.real.list(dir, buffer))
    }

    fn each_entry(
        &self,
        dir: Self::File,
        buffer: &mut [u8],
        each: impl FnMut(Entry) -> bool,
    ) -> Result<(), EntryError> {
        (self.ask)("entries").map_err(|errno| EntryError { call: "getdents64", errno })?;
        self.real.each_entry(dir, buffer, each)
    }

    fn sync(&self) -> Result<(), Errno> {
        (self.ask)("sync")
    }

    fn free_bytes(&self) -> Option<u64> {
        self.real.free_bytes()
    }
}
