//! One phase: prepare, run between two clock reads, report.

use crate::backend::Backend;
use crate::backend::sync::Sync;
use crate::buffer::Pages;
use crate::clock::{MAX_DRIFT, TickClock, monotonic_ns};
use crate::hist::{Chained, Histogram, NoLatency, Recorder};
use crate::op::{self, Failure, Material, Tally};
use crate::pattern::{FileNames, InOrder, Permuted, TooManyNames, Walk, dir_name, random_order};
use crate::stamp::Contents;
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, Op, OpError, Order, Phase, WorkerReport, WorkerUsage};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, compiler_fence};

/// Why a phase or a check could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The root cannot be opened.
    #[error("dataset root {path}: cannot open it as a directory: {source}")]
    Root {
        /// The root.
        path: PathBuf,
        /// Why.
        source: Errno,
    },
    /// A directory of the dataset cannot be made.
    #[error("directory {name} of the dataset: cannot make it: {source}")]
    MakeDir {
        /// Its name below the root.
        name: String,
        /// Why.
        source: Errno,
    },
    /// The names do not hold the numbers.
    #[error(transparent)]
    Names(#[from] TooManyNames),
    /// A call of no bytes.
    #[error("phase {phase}: bs_bytes is 0; give the bytes of one call, such as 1048576")]
    NoBlockSize {
        /// The phase.
        phase: String,
    },
    /// No memory for buffers.
    #[error("buffers for calls of {bs_bytes} bytes: {source}; use a smaller block size")]
    Memory {
        /// Bytes of one call.
        bs_bytes: u64,
        /// Why.
        source: Errno,
    },
}

/// The root of a dataset, opened but not read.
#[derive(Debug)]
pub struct Root {
    dir: OwnedFd,
    /// Whether it is the working directory of this process, so that paths need no descriptor.
    entered: bool,
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
        Ok(Self { dir, entered: false })
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
}

/// Makes the directories of a dataset; those that exist already stay.
///
/// A directory is not a timed op: this comes before a phase that creates files. In a trial it is a
/// step of its own, before the caches are dropped, so that the directories are as cold as the rest;
/// [`run_phase`] calls it right before the phase.
///
/// # Errors
/// mkdir(2)'s, naming the directory.
pub fn make_dirs(root: &Root, dataset: &Dataset) -> Result<(), EngineError> {
    for dir in 0..dataset.dirs {
        let name = dir_name(dir);
        match rustix::fs::mkdirat(root.lookup(), name.as_str(), Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(source) => return Err(EngineError::MakeDir { name, source }),
        }
    }
    Ok(())
}

/// Prepares a phase, runs it with real calls and reports: what a worker does, in one call.
///
/// # Errors
/// When it cannot be prepared. A failure *in* the phase is part of the report.
pub fn run_phase(
    root: &Root,
    dataset: &Dataset,
    phase: &Phase,
    seed: Seed,
    dataset_seed: Seed,
    latency: bool,
) -> Result<WorkerReport, EngineError> {
    let mut prepared = Prepared::new(dataset, phase, &seed, &dataset_seed, latency)?;
    if phase.op.writes() {
        make_dirs(root, dataset)?;
    }
    Ok(prepared.run(&Sync::new(root)))
}

/// A phase that is ready to run: everything allocated, filled and touched.
#[derive(Debug)]
pub struct Prepared {
    op: Op,
    files: u32,
    size_bytes: u64,
    names: FileNames,
    /// The permutation; `None` in order.
    order: Option<Vec<u32>>,
    contents: Option<Contents>,
    landing: Pages,
    /// Histogram and clock; `None` where latency is not wanted.
    latency: Option<(Histogram, TickClock)>,
}

/// The clock reads of a phase and what happened between them.
#[derive(Debug)]
struct Timing {
    start_ns: u64,
    returned_ns: u64,
    durable_ns: Result<u64, Errno>,
    usage: WorkerUsage,
    tally: Tally,
}

impl Prepared {
    /// Prepares `phase` over `dataset`: touches no file.
    ///
    /// # Errors
    /// When the numbers do not fit or there is no memory.
    pub fn new(
        dataset: &Dataset,
        phase: &Phase,
        seed: &Seed,
        dataset_seed: &Seed,
        latency: bool,
    ) -> Result<Self, EngineError> {
        if phase.bs_bytes == 0 && phase.op.moves_bytes() {
            return Err(EngineError::NoBlockSize { phase: phase.name.clone() });
        }
        let memory = |source| EngineError::Memory { bs_bytes: phase.bs_bytes, source };
        let names = FileNames::new(dataset)?;
        #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
        let files = dataset.files as u32;
        let contents = if phase.op.writes() {
            Some(Contents::new(dataset, phase.bs_bytes, dataset_seed).map_err(memory)?)
        } else {
            None
        };
        let reads = matches!(phase.op, Op::Read | Op::BigRead);
        let landing_bytes = if reads { phase.bs_bytes.min(dataset.size_bytes) } else { 0 };
        let landing = usize::try_from(landing_bytes).map_err(|_| Errno::NOMEM);
        Ok(Self {
            op: phase.op,
            files,
            size_bytes: dataset.size_bytes,
            names,
            order: (phase.order == Order::Random).then(|| random_order(files, seed)),
            contents,
            landing: landing.and_then(Pages::new).map_err(memory)?,
            latency: latency.then(|| (Histogram::new(), TickClock::choose())),
        })
    }

    /// Runs the phase and reports. A second call goes over the same files in the same order and
    /// counts into the same histogram.
    pub fn run<B: Backend>(&mut self, backend: &B) -> WorkerReport {
        self.names.set(0);
        let timing = match self.latency.take() {
            None => self.timed(backend, &mut NoLatency),
            Some((mut histogram, clock)) => {
                let timing = match clock {
                    TickClock::Tsc(tsc) => {
                        self.timed(backend, &mut Chained::new(tsc.ticker(), &mut histogram))
                    }
                    TickClock::Monotonic => {
                        let ticker = crate::clock::Monotonic;
                        self.timed(backend, &mut Chained::new(ticker, &mut histogram))
                    }
                };
                self.latency = Some((histogram, clock));
                timing
            }
        };
        self.report(timing)
    }

    /// The timed part: from the first clock read to the one after syncfs.
    fn timed<B: Backend, R: Recorder>(&mut self, backend: &B, recorder: &mut R) -> Timing {
        let before = Usage::now();
        compiler_fence(Ordering::SeqCst);
        let start_ns = monotonic_ns();
        recorder.start();
        let tally = self.work(backend, recorder);
        let returned_ns = monotonic_ns();
        compiler_fence(Ordering::SeqCst);
        let usage = Usage::now().since(&before);
        let durable_ns = backend.sync().map(|()| monotonic_ns());
        Timing { start_ns, returned_ns, durable_ns, usage, tally }
    }

    /// Chooses the walk, once.
    #[inline(always)]
    fn work<B: Backend, R: Recorder>(&mut self, backend: &B, recorder: &mut R) -> Tally {
        let work = Material {
            names: &mut self.names,
            files: self.files,
            contents: self.contents.as_mut(),
            landing: self.landing.as_mut_slice(),
            size_bytes: self.size_bytes,
        };
        match &self.order {
            None => run_op(self.op, backend, work, InOrder, recorder),
            Some(order) => run_op(self.op, backend, work, Permuted(order), recorder),
        }
    }

    /// Words and model values, after the clock.
    fn report(&self, timing: Timing) -> WorkerReport {
        let Tally { ops, bytes, failure } = timing.tally;
        let mut error = failure.map(|failure| self.op_error(ops, failure));
        if let (Err(errno), None) = (timing.durable_ns, &error) {
            error = Some(OpError {
                op_index: ops,
                call: "syncfs".to_owned(),
                path: ".".to_owned(),
                errno: errno.raw_os_error(),
                text: errno.to_string(),
            });
        }
        // A clock that left CLOCK_MONOTONIC behind measured nothing: missing is a value.
        let latency = self.latency.as_ref().filter(|(_, clock)| clock.drift() <= MAX_DRIFT);
        WorkerReport {
            start_monotonic_ns: timing.start_ns,
            returned_monotonic_ns: timing.returned_ns,
            durable_monotonic_ns: timing.durable_ns.ok(),
            ops,
            asked_bytes: bytes,
            latency: latency.map(|(histogram, _)| histogram.to_model()),
            error,
            usage: timing.usage,
        }
    }

    fn op_error(&self, op_index: u64, failure: Failure) -> OpError {
        let text = match failure.errno {
            Some(errno) => errno.to_string(),
            None if failure.call == "read" => "fewer bytes than the file should hold".to_owned(),
            None => "fewer bytes taken than given".to_owned(),
        };
        OpError {
            op_index,
            call: failure.call.to_owned(),
            path: self.names.as_str().to_owned(),
            errno: failure.errno.map_or(0, Errno::raw_os_error),
            text,
        }
    }
}

/// Chooses the loop, once.
#[inline(always)]
fn run_op<B: Backend, R: Recorder, W: Walk>(
    op: Op,
    backend: &B,
    work: Material<'_>,
    walk: W,
    recorder: &mut R,
) -> Tally {
    match op {
        Op::Create => op::create(backend, work, walk, recorder),
        Op::Read => op::read(backend, work, walk, recorder),
        Op::Stat => op::stat(backend, work, walk, recorder),
        Op::Delete => op::delete(backend, work, walk, recorder),
        Op::BigWrite => op::big_write(backend, work, walk, recorder),
        Op::BigRead => op::big_read(backend, work, walk, recorder),
    }
}

/// getrusage(2) of this thread.
struct Usage(libc::rusage);

impl Usage {
    fn now() -> Self {
        // SAFETY: rusage is plain integers, for which all zeros are a value.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage. With these arguments it cannot fail.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        Self(usage)
    }

    fn since(&self, before: &Self) -> WorkerUsage {
        let (now, before) = (&self.0, &before.0);
        let time_ns = |time: &libc::timeval| {
            (time.tv_sec * 1_000_000 + time.tv_usec).cast_unsigned().saturating_mul(1000)
        };
        let since = |now: i64, before: i64| (now - before).max(0).cast_unsigned();
        WorkerUsage {
            user_ns: time_ns(&now.ru_utime).saturating_sub(time_ns(&before.ru_utime)),
            system_ns: time_ns(&now.ru_stime).saturating_sub(time_ns(&before.ru_stime)),
            minor_faults: since(now.ru_minflt, before.ru_minflt),
            major_faults: since(now.ru_majflt, before.ru_majflt),
            voluntary_switches: since(now.ru_nvcsw, before.ru_nvcsw),
            involuntary_switches: since(now.ru_nivcsw, before.ru_nivcsw),
        }
    }
}
