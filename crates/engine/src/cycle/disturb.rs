//! The second load: a thread that works in the directory `disturb` while some cycles run.
//!
//! Its ops follow an absolute schedule from the moment at which it begins; an op that is late does
//! not move those after it. One load runs at a time: where cycles overlap, that of a later one
//! begins when the one before it has ended. What it needs is made by [`Disturber::create_files`]:
//! in an untimed phase of 0 cycles, and otherwise before the first clock read of the phase itself.

use super::scheduler::{DisturbOrder, ThreadEvent};
use crate::Job;
use crate::backend::{Backend, OpenMode};
use crate::buffer::Pages;
use crate::clock::monotonic_ns;
use crate::error::EngineError;
use crate::hist::Histogram;
use crate::op::{close_after, write_all};
use crate::outcome::{Failure, at, full};
use crate::stamp::{Contents, FIRST_VERSION, Span};
use fsarena_model::cycle::{DisturbReport, Load};
use fsarena_model::work::OpError;
use rustix::io::Errno;
use std::ffi::CStr;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

/// Its directory, below the root.
const DIR: &CStr = c"disturb";
/// Largest call that makes a small file, or the file that is read.
const CALL_BYTES: u64 = 1 << 20;

/// The second load, with everything it needs.
#[derive(Debug)]
pub(super) struct Disturber {
    load: Load,
    path: Path,
    contents: Contents,
    /// Where reads put bytes.
    read_buf: Pages,
    /// Whether calls of its size can pass the page cache.
    is_direct: bool,
    latency: Histogram,
    /// Cycle and number of the small files that are there.
    left: (u32, u64),
}

/// What ended a disturbance early: the call, and the number of its op.
type LoadError = (Failure, u64);

impl Disturber {
    /// Prepares `load` for the phase of `job`: touches no file.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(load: Load, job: &Job<'_>) -> Result<Self, EngineError> {
        let (size_bytes, call_bytes) = match load {
            Load::Create { size_bytes, .. } => (size_bytes, size_bytes.min(CALL_BYTES)),
            Load::Write { size_bytes, bs_bytes, .. } => (size_bytes, bs_bytes),
            Load::Read { size_bytes, .. } => (size_bytes, size_bytes.min(CALL_BYTES)),
        };
        let read_bytes = if let Load::Read { bs_bytes, .. } = load { bs_bytes } else { 0 };
        let memory = |source| EngineError::Memory { bs_bytes: call_bytes.max(read_bytes), source };
        let span = Span { end_bytes: size_bytes, call_bytes: call_bytes.max(1), aligned: true };
        let seed = job.dataset_seed.child("disturb", 0);
        let read_buf = usize::try_from(read_bytes).map_err(|_| Errno::NOMEM);
        Ok(Self {
            load,
            path: Path::new(job.seed.child("disturb", u64::from(job.state.newest_version)).tag()),
            contents: Contents::new(span, FIRST_VERSION, &seed).map_err(memory)?,
            read_buf: read_buf.and_then(Pages::new).map_err(memory)?,
            is_direct: read_bytes.is_multiple_of(job.sector_bytes.max(1)),
            latency: Histogram::new(),
            left: (0, 0),
        })
    }

    /// Makes the directory and, where one is read, the file, and drops that from the page cache.
    /// Existing files are kept.
    pub fn create_files<B: Backend>(&mut self, backend: &B) -> Result<(), OpError> {
        let made = match backend.mkdir(DIR) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(Failure { call: "mkdir", errno: Some(errno) }),
        };
        if let Err(failure) = made {
            self.path.set(format_args!("disturb"));
            return Err(self.op_error(failure, 0, backend));
        }
        let Load::Read { size_bytes, .. } = self.load else { return Ok(()) };
        self.path.read(size_bytes);
        let file = match backend.create(self.path.as_c_str(), size_bytes) {
            Ok(file) => file,
            Err(Errno::EXIST) => return Ok(()),
            Err(errno) => {
                let failure = Failure { call: "open", errno: Some(errno) };
                return Err(self.op_error(failure, 0, backend));
            }
        };
        let mut made = write_all(backend, file, &mut self.contents, (0, size_bytes, CALL_BYTES));
        if made.is_ok() {
            made = at("fsync", backend.fsync(file)).and(made);
            // Where pages remain, only the start of the read is slower.
            let _ = backend.forget(file);
        }
        match close_after(backend, file, made) {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.op_error(failure, 0, backend)),
        }
    }

    /// Disturbs each cycle that is ordered, until there are no more.
    pub fn run<B: Backend>(
        &mut self,
        backend: &B,
        stopped: &AtomicBool,
        orders: &Receiver<DisturbOrder>,
        events: &Sender<ThreadEvent>,
    ) {
        while let Ok(order) = orders.recv() {
            let report = self.disturb(&order, backend, stopped);
            if events.send(ThreadEvent::Disturbed(order.number, Box::new(report))).is_err() {
                return;
            }
        }
    }

    fn disturb<B: Backend>(
        &mut self,
        order: &DisturbOrder,
        backend: &B,
        stopped: &AtomicBool,
    ) -> DisturbReport {
        self.latency.clear();
        let ordered_ns = monotonic_ns();
        let mut schedule = LoadSchedule::new(stopped);
        let outcome = match self.load {
            Load::Create { files, size_bytes, rate } => {
                schedule.rate = rate;
                self.create(order.number, (files, size_bytes), &mut schedule, backend)
            }
            Load::Write { size_bytes, bs_bytes, rate_bytes } => {
                (schedule.rate, schedule.cycle_ended) = (rate_bytes, Some(&*order.cycle_ended));
                self.write((size_bytes, bs_bytes), &mut schedule, backend)
            }
            Load::Read { size_bytes, bs_bytes, rate_bytes } => {
                (schedule.rate, schedule.cycle_ended) = (rate_bytes, Some(&*order.cycle_ended));
                self.read((size_bytes, bs_bytes), &mut schedule, backend)
            }
        };
        let error = outcome.err().map(|(failure, op)| self.op_error(failure, op, backend));
        if error.is_some() {
            stopped.store(true, Ordering::SeqCst);
        }
        let since = |at_ns: u64| at_ns.saturating_sub(order.start_ns);
        // Its rate counts from here on, without what was removed first.
        let started_ns = schedule.began_ns.max(ordered_ns);
        let latency = self.latency.to_model();
        DisturbReport {
            started_ns: since(started_ns),
            done_ns: since(schedule.done_ns.max(started_ns)),
            ops: schedule.ops,
            bytes: schedule.bytes,
            worst_ns: latency.max_ns,
            latency: Some(latency),
            late_ns: schedule.late_ns,
            error,
        }
    }

    /// Removes the small files of the disturbance before and makes new ones.
    fn create<B: Backend>(
        &mut self,
        number: u32,
        (files, size_bytes): (u64, u64),
        schedule: &mut LoadSchedule<'_>,
        backend: &B,
    ) -> Result<(), LoadError> {
        let (cycle, left) = self.left;
        for file in 0..left {
            self.path.small(cycle, file);
            at("unlink", backend.unlink(self.path.as_c_str())).map_err(|failure| (failure, 0))?;
        }
        self.left = (number, 0);
        schedule.begin();
        for index in 0..files {
            if !schedule.wait(index) {
                break;
            }
            self.path.small(number, index);
            let before_ns = monotonic_ns();
            let made = at("open", backend.create(self.path.as_c_str(), size_bytes));
            let made = made.and_then(|file| {
                // Names hold fewer than 2^32.
                let size = (index as u32, size_bytes, CALL_BYTES);
                let written = write_all(backend, file, &mut self.contents, size);
                close_after(backend, file, written)
            });
            self.latency.record(schedule.done(made, before_ns)?);
            self.left.1 = index + 1;
        }
        Ok(())
    }

    /// Writes one file from its start on, again and again: new blocks in the first round.
    fn write<B: Backend>(
        &mut self,
        (size_bytes, bs_bytes): (u64, u64),
        schedule: &mut LoadSchedule<'_>,
        backend: &B,
    ) -> Result<(), LoadError> {
        self.path.set(format_args!("disturb/written"));
        match backend.unlink(self.path.as_c_str()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err((Failure { call: "unlink", errno: Some(errno) }, 0)),
        }
        let opened = at("open", backend.create(self.path.as_c_str(), size_bytes));
        let file = opened.map_err(|failure| (failure, 0))?;
        schedule.begin();
        let mut offset = 0;
        let mut outcome = Ok(());
        while outcome.is_ok() && schedule.wait(schedule.bytes) {
            let len = (size_bytes - offset).min(bs_bytes) as usize;
            let bytes = self.contents.call(0, offset, len);
            let before_ns = monotonic_ns();
            let written = full("write", len, backend.write_at(file, offset, bytes));
            outcome = schedule.done(written, before_ns).map(|ns| self.latency.record(ns));
            offset = if offset + bs_bytes < size_bytes { offset + bs_bytes } else { 0 };
        }
        let closed = at("close", backend.close(file)).map_err(|failure| (failure, schedule.ops));
        outcome.and(closed)
    }

    /// Reads one file from its start on, again and again.
    fn read<B: Backend>(
        &mut self,
        (size_bytes, bs_bytes): (u64, u64),
        schedule: &mut LoadSchedule<'_>,
        backend: &B,
    ) -> Result<(), LoadError> {
        self.path.read(size_bytes);
        let path = self.path.as_c_str();
        let direct = match self.is_direct {
            true => backend.open(path, OpenMode::Direct),
            false => Err(Errno::INVAL),
        };
        let passes_cache = direct.is_ok();
        let opened = match direct {
            Err(Errno::INVAL) => backend.open(path, OpenMode::Read),
            other => other,
        };
        let file = at("open", opened).map_err(|failure| (failure, 0))?;
        schedule.begin();
        let mut offset = 0;
        let mut outcome = Ok(());
        while outcome.is_ok() && schedule.wait(schedule.bytes) {
            if offset == 0 && !passes_cache {
                let _ = backend.forget(file);
            }
            let len = (size_bytes - offset).min(bs_bytes) as usize;
            // A whole call: only so may it pass the page cache. At the end it brings less.
            let before_ns = monotonic_ns();
            let read = backend.read_at(file, offset, self.read_buf.as_mut_slice());
            let read = full("read", len, read.map(|got| got.min(len)));
            outcome = schedule.done(read, before_ns).map(|ns| self.latency.record(ns));
            offset = if offset + bs_bytes < size_bytes { offset + bs_bytes } else { 0 };
        }
        let closed = at("close", backend.close(file)).map_err(|failure| (failure, schedule.ops));
        outcome.and(closed)
    }

    fn op_error<B: Backend>(&self, failure: Failure, op_index: u64, backend: &B) -> OpError {
        let call_bytes = self.contents.call_bytes() as u64;
        let (errno, text) = failure.describe(call_bytes, || backend.free_bytes());
        let (call, path) = (failure.call.to_owned(), self.path.as_str().to_owned());
        let text = format!("the second load during the cycles: {text}");
        OpError { op_index, thread: None, call, path, errno, text }
    }
}

/// The schedule of one disturbance, and what it has done.
#[derive(Debug)]
struct LoadSchedule<'a> {
    stopped: &'a AtomicBool,
    /// Ends it; absent: it ends with its amount.
    cycle_ended: Option<&'a AtomicBool>,
    /// Files or bytes a second; 0: as fast as possible.
    rate: u64,
    /// When its schedule began; 0 before.
    began_ns: u64,
    ops: u64,
    bytes: u64,
    /// When the last op was done.
    done_ns: u64,
    late_ns: u64,
}

impl<'a> LoadSchedule<'a> {
    fn new(stopped: &'a AtomicBool) -> Self {
        let (rate, began_ns, ops, bytes, done_ns, late_ns) = (0, 0, 0, 0, 0, 0);
        Self { stopped, cycle_ended: None, rate, began_ns, ops, bytes, done_ns, late_ns }
    }

    /// The schedule runs from now on.
    fn begin(&mut self) {
        self.began_ns = monotonic_ns();
    }

    /// Waits until the op is due that follows `units` files or bytes; `false` where there are to be
    /// no more.
    fn wait(&mut self, units: u64) -> bool {
        let due_ns = match self.rate {
            0 => 0,
            rate => {
                let after_ns = u128::from(units) * 1_000_000_000 / u128::from(rate);
                self.began_ns.saturating_add(u64::try_from(after_ns).unwrap_or(u64::MAX))
            }
        };
        let mut waited = self.rate == 0;
        loop {
            let now_ns = monotonic_ns();
            self.late_ns = if waited { 0 } else { now_ns.saturating_sub(due_ns) };
            let has_ended = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
            if has_ended(self.stopped) || self.cycle_ended.is_some_and(has_ended) {
                return false;
            }
            if now_ns >= due_ns {
                return true;
            }
            waited = true;
            // The scheduler ends it early by an unpark.
            std::thread::park_timeout(Duration::from_nanos(due_ns - now_ns));
        }
    }

    /// Counts an op that began at `before_ns`; how long it took, ns.
    fn done(&mut self, outcome: Result<usize, Failure>, before_ns: u64) -> Result<u64, LoadError> {
        self.done_ns = monotonic_ns();
        let bytes = outcome.map_err(|failure| (failure, self.ops))?;
        self.ops += 1;
        self.bytes += bytes as u64;
        Ok(self.done_ns.saturating_sub(before_ns))
    }
}

/// The path of one of its files.
#[derive(Debug)]
struct Path {
    text: [u8; 64],
    /// Distinguishes its small files from those of other phases.
    tag: u32,
}

impl Path {
    #[expect(clippy::cast_possible_truncation, reason = "a part of the tag is enough")]
    fn new(tag: u64) -> Self {
        Self { text: [0; 64], tag: tag as u32 }
    }

    fn set(&mut self, path: std::fmt::Arguments<'_>) {
        self.text = [0; 64];
        // No path is as long as that.
        let _ = (&mut self.text[..63]).write_fmt(path);
    }

    /// Small file `file` of cycle `number`.
    fn small(&mut self, number: u32, file: u64) {
        let tag = self.tag;
        self.set(format_args!("disturb/{tag:08x}-{number:05}-{file:08}"));
    }

    /// The file that is read.
    fn read(&mut self, size_bytes: u64) {
        self.set(format_args!("disturb/read-{size_bytes}"));
    }

    fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.text).unwrap_or(DIR)
    }

    fn as_str(&self) -> &str {
        self.as_c_str().to_str().unwrap_or_default()
    }
}
