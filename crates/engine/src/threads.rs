//! The threads of a phase: what each works with, and the barrier at which they start.
//!
//! A [`ThreadContext`] is all that one thread needs, made before the clock runs. The first context
//! is used by the thread that runs the phase, so that one thread alone needs no other (and the
//! kernel's fast path for descriptors of a process with one thread applies). The leader waits until
//! all others wait at the [`StartBarrier`], reads the clock and opens it; no thread sleeps there,
//! since being woken takes longer than many an op. A thread that fails stops the others at their
//! next op.

use crate::InjectedDelay;
use crate::buffer::Pages;
use crate::clock::{MAX_DRIFT, TickClock, monotonic_ns};
use crate::durable::process_cpu_ns;
use crate::hist::Histogram;
use crate::latency_series::LatencySeries;
use crate::names::{DirNames, FileNames};
use crate::outcome::Tally;
use crate::resources::Usage;
use crate::share::{FileShare, Share};
use crate::stamp::Contents;
use fsarena_model::dataset::Draw;
use fsarena_model::work::{
    Dataset, DatasetState, FindReport, Io, Op, OpError, ThreadReport, WorkerUsage,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, compiler_fence};

/// Sizes of files as a phase finds them or makes them.
#[derive(Debug, Clone)]
pub(crate) struct Sizes {
    draw: Arc<Draw>,
    /// Bytes that were appended to each.
    appended_bytes: u64,
    /// No file is longer than this.
    most_bytes: u64,
    /// No file was made longer than this.
    made_bytes: u64,
}

impl Sizes {
    /// Those of `dataset` after what phases have made of it.
    pub fn new(dataset: &Dataset, state: &DatasetState) -> Self {
        Self {
            draw: Arc::new(dataset.draw_sizes()),
            appended_bytes: state.appended_bytes,
            most_bytes: state.truncated_bytes.unwrap_or(u64::MAX),
            made_bytes: state.most_made_bytes(),
        }
    }

    /// Bytes of file `file`.
    #[inline(always)]
    pub fn file_bytes(&self, file: u32) -> u64 {
        let made_bytes = self.draw.value_at(u64::from(file)).min(self.made_bytes);
        (made_bytes + self.appended_bytes).min(self.most_bytes)
    }

    /// How long the largest files are as a phase finds them.
    pub fn longest_bytes(&self) -> u64 {
        self.largest_bytes().min(self.most_bytes)
    }

    /// No file is longer than this: the end of the largest that may be drawn.
    pub fn largest_bytes(&self) -> u64 {
        self.draw.most().min(self.made_bytes).saturating_add(self.appended_bytes)
    }
}

/// What a walk of the tree looks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// What matches, with nothing found.
    pub wanted: FindReport,
    /// Files and links that the thread has to see.
    pub files: u64,
    /// What it has found.
    pub found: FindReport,
}

/// Where the latencies of a thread go.
#[derive(Debug)]
pub(crate) struct Latency {
    pub clock: TickClock,
    pub all: Histogram,
    /// Writes alone, where they are mixed with reads.
    pub writes: Option<Histogram>,
    /// Over the time of the phase, where that was asked for; then the clock is `CLOCK_MONOTONIC`.
    pub series: Option<LatencySeries>,
}

/// The call of a walk that has seen another number of files than there are.
pub(crate) const MISCOUNTED: &str = "find";

impl Search {
    /// What is wrong with the number of files that were seen.
    fn miscounted(&self) -> String {
        let seen = self.found.entries - self.found.directories;
        format!("{seen} files seen, and the dataset has {} there", self.files)
    }
}

/// All that one thread of a phase needs; in cache lines of its own (two, since they are fetched in
/// pairs).
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct ThreadContext {
    /// Its number among those of all ranks.
    pub thread: u32,
    /// Whether it opens the start barrier of its rank.
    pub leads: bool,
    pub op: Op,
    pub bs_bytes: u64,
    pub io: Io,
    pub share: Share,
    /// Permutation of the thread's files or directories; `None`: by number.
    pub order: Option<Vec<u32>>,
    /// At the current file, or at the one that failed.
    pub names: FileNames,
    /// The name that a rename or a link makes.
    pub new_name: FileNames,
    /// Names of the links that earlier phases made, which a deletion takes as well.
    pub links: Vec<FileNames>,
    /// At the current directory (ops about directories).
    pub dirs: DirNames,
    pub sizes: Sizes,
    /// What is written; its stamps carry the version of the phase.
    pub contents: Option<Contents>,
    /// Where reads put bytes: as long as the largest call. Of `list`: the buffer; of an op with a
    /// value: the value.
    pub read_buf: Pages,
    /// What a read's length is rounded up to (direct I/O at the end of a file), bytes.
    pub read_align: u64,
    /// Slept after the last op.
    pub delay: InjectedDelay,
    /// Salt of the mixture of reads and writes.
    pub mixture: u64,
    /// Of a walk of the tree.
    pub search: Option<Search>,
    /// Files of this thread in each leaf directory; empty unless directories are to be synced.
    pub in_dirs: Vec<u32>,
    /// Of these, those that are still to be done.
    pub left_in_dirs: Vec<u32>,
    pub latency: Option<Latency>,
}

/// What a thread did, in clock readings.
#[derive(Debug, Default)]
pub(crate) struct ThreadOutcome {
    pub started_ns: u64,
    pub done_ns: u64,
    pub usage: WorkerUsage,
    pub tally: Tally,
}

impl ThreadContext {
    /// Waits at the barrier and does `work`, and then the injected delay, between two clock reads.
    /// Whatever `work` needs is made before this is called.
    #[inline(always)]
    pub fn timed(
        &mut self,
        barrier: &StartBarrier,
        work: impl FnOnce(&mut Self) -> Tally,
    ) -> ThreadOutcome {
        let Some((before, started_ns)) = barrier.wait(self.leads) else {
            return ThreadOutcome::default();
        };
        let tally = work(self);
        if tally.failure.is_none() {
            // Each thread for itself: the last of them then ends later by that much.
            self.delay.sleep();
        }
        let done_ns = monotonic_ns();
        compiler_fence(Ordering::SeqCst);
        if tally.failure.is_some() {
            barrier.stop();
        }
        ThreadOutcome { started_ns, done_ns, usage: Usage::now().since(&before), tally }
    }

    /// The number of its `index`-th file of a share.
    fn file_at(&self, files: FileShare, index: u32) -> u32 {
        files.file(self.order.as_ref().map_or(index, |order| order[index as usize]))
    }

    /// Bytes of its first `ops` ops, where these write files or calls in one file.
    pub fn bytes_of(&self, ops: u64) -> u64 {
        let calls_bytes = ops.saturating_mul(self.bs_bytes);
        match self.share {
            Share::Files(files) if !self.op.is_big() => {
                let indexes = (0..files.count).take(usize::try_from(ops).unwrap_or(usize::MAX));
                indexes.map(|index| self.sizes.file_bytes(self.file_at(files, index))).sum()
            }
            Share::Files(files) if files.count > 0 => {
                calls_bytes.min(self.sizes.file_bytes(self.file_at(files, 0)))
            }
            Share::Interleaved(blocks) => {
                let size_bytes = self.sizes.file_bytes(blocks.files.first);
                let last = ops.saturating_sub(1).saturating_mul(blocks.step_bytes);
                let left_bytes = size_bytes.saturating_sub(blocks.first_bytes.saturating_add(last));
                let short_bytes = blocks.bs_bytes.saturating_sub(left_bytes);
                calls_bytes.saturating_sub(if ops > 0 { short_bytes } else { 0 })
            }
            _ => calls_bytes,
        }
    }

    /// How many ops it will do, where none fails. Adds up the calls of all its files.
    pub fn ops(&self) -> u64 {
        let calls = |(from, to): (u64, u64), step: u64| (to - from).div_ceil(step.max(1));
        let of_files = |files: FileShare, of: &dyn Fn(u64) -> u64| -> u64 {
            let size = |index| self.sizes.file_bytes(self.file_at(files, index));
            (0..files.count).map(|index| of(size(index))).sum()
        };
        match self.share {
            Share::Files(files) if self.op.is_big() => {
                of_files(files, &|size_bytes| calls((0, size_bytes), self.bs_bytes))
            }
            Share::Files(files) => files.count.into(),
            Share::Parts(part) => {
                of_files(part.files, &|size_bytes| calls(part.range(size_bytes), part.bs_bytes))
            }
            Share::Interleaved(blocks) => of_files(blocks.files, &|size_bytes| {
                let first = blocks.first_bytes.min(size_bytes);
                calls((first, size_bytes), blocks.step_bytes)
            }),
            Share::Dirs(dirs) => dirs.count.into(),
            Share::Find(share) => {
                let dirs = if share.is_flat { 0 } else { share.dirs().count() as u64 };
                self.search.as_ref().map_or(0, |search| search.files) + dirs
            }
            Share::Blocks(blocks) => blocks.count,
        }
    }

    /// The failure of `tally` as the report has it.
    pub fn op_error(
        &self,
        tally: &Tally,
        free_bytes: impl FnOnce() -> Option<u64>,
    ) -> Option<OpError> {
        let failure = tally.failure?;
        let op_index = tally.failed_op.unwrap_or(tally.ops);
        let call_bytes = self.contents.as_ref().map_or(0, Contents::call_bytes) as u64;
        let (errno, text) = failure.describe(call_bytes, free_bytes);
        let text = match &self.search {
            Some(search) if failure.call == MISCOUNTED => search.miscounted(),
            _ => text,
        };
        let path = if matches!(failure.call, "syncfs" | MISCOUNTED) {
            "."
        } else if self.op.is_about_dirs() || self.search.is_some() {
            self.dirs.as_str()
        } else {
            self.names.as_str()
        };
        Some(OpError {
            op_index,
            thread: (self.io.threads > 1).then_some(self.thread),
            call: failure.call.to_owned(),
            path: path.to_owned(),
            errno,
            text,
        })
    }

    /// Its latencies; `None` where its clock drifted from `CLOCK_MONOTONIC` and so measured
    /// nothing.
    pub fn latency(&self) -> Option<&Latency> {
        self.latency.as_ref().filter(|latency| latency.clock.drift() <= MAX_DRIFT)
    }
}

impl ThreadOutcome {
    /// What goes into a report, for a phase that began at `start_ns`.
    pub fn report(&self, start_ns: u64) -> ThreadReport {
        ThreadReport {
            started_ns: self.started_ns.saturating_sub(start_ns),
            done_ns: self.done_ns.saturating_sub(start_ns),
            ops: self.tally.ops,
            asked_bytes: self.tally.bytes,
        }
    }
}

/// Where the threads of a phase wait for each other, and learn that one of them failed.
#[derive(Debug)]
pub(crate) struct StartBarrier {
    /// Threads besides the leader.
    others: u32,
    ready: AtomicU32,
    open: AtomicBool,
    cancelled: AtomicBool,
    start_ns: AtomicU64,
    /// What the process had used then.
    start_cpu_ns: AtomicU64,
    stopped: AtomicBool,
}

impl StartBarrier {
    /// A barrier for the threads of one rank, of which one opens it.
    pub fn new(contexts: &[ThreadContext]) -> Self {
        Self::with_threads(contexts.len())
    }

    fn with_threads(threads: usize) -> Self {
        Self {
            others: u32::try_from(threads.saturating_sub(1)).unwrap_or(u32::MAX),
            ready: AtomicU32::new(0),
            open: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            start_ns: AtomicU64::new(0),
            start_cpu_ns: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Waits for all; what this thread had used then, and when it started, `CLOCK_MONOTONIC` ns.
    /// The leader reads the phase's start right before it opens. `None` where the phase was
    /// cancelled.
    #[inline(always)]
    fn wait(&self, leader: bool) -> Option<(Usage, u64)> {
        if leader {
            while self.ready.load(Ordering::Acquire) < self.others {
                std::thread::yield_now();
            }
            // Of the phase, but for the clock: the call itself takes a part of a µs.
            let used = Usage::now();
            self.start_cpu_ns.store(process_cpu_ns(), Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            let start_ns = monotonic_ns();
            self.start_ns.store(start_ns, Ordering::Relaxed);
            self.open.store(true, Ordering::Release);
            return Some((used, start_ns));
        }
        self.ready.fetch_add(1, Ordering::Release);
        while !self.open.load(Ordering::Acquire) {
            if self.cancelled.load(Ordering::Relaxed) {
                return None;
            }
            std::thread::yield_now();
        }
        let used = Usage::now();
        compiler_fence(Ordering::SeqCst);
        Some((used, monotonic_ns()))
    }

    /// Cancels the phase before the start: all threads that wait return.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// First clock read of the phase.
    pub fn start_ns(&self) -> u64 {
        self.start_ns.load(Ordering::Relaxed)
    }

    /// Task clock of the process right before it.
    pub fn start_cpu_ns(&self) -> u64 {
        self.start_cpu_ns.load(Ordering::Relaxed)
    }

    /// A thread failed: the others end at their next op.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether to end.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_starts_before_all_wait() {
        let barrier = StartBarrier::with_threads(3);
        let started = std::thread::scope(|scope| {
            let others = [0, 1].map(|_| scope.spawn(|| barrier.wait(false)));
            std::thread::sleep(std::time::Duration::from_millis(5));
            assert!(others.iter().all(|other| !other.is_finished()));
            let leader = barrier.wait(true);
            let others = others.map(|other| other.join().unwrap());
            [leader].into_iter().chain(others).map(|one| one.unwrap().1).collect::<Vec<_>>()
        });
        assert!(started.iter().all(|&at_ns| at_ns >= barrier.start_ns()));
    }

    #[test]
    fn waiting_at_the_gate_is_not_used_by_the_phase() {
        let barrier = StartBarrier::with_threads(2);
        let used_ns = |leader| {
            let before = barrier.wait(leader).unwrap().0;
            let used = Usage::now().since(&before);
            used.user_ns + used.system_ns
        };
        let late = || std::thread::sleep(std::time::Duration::from_millis(100));
        let used_ns = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                late();
                used_ns(false)
            });
            // It spins at the barrier meanwhile.
            [used_ns(true), other.join().unwrap()]
        });
        assert!(used_ns.iter().all(|&ns| ns < 20_000_000), "{used_ns:?}");
    }

    #[test]
    fn a_cancelled_phase_starts_no_thread() {
        let barrier = StartBarrier::with_threads(2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| barrier.wait(false));
            barrier.cancel();
            assert!(other.join().unwrap().is_none());
        });
    }
}
