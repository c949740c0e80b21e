//! A phase that ends by the clock (stonewall), and then by the largest count (wear-out).
//!
//! The loops are those of any other phase. What is different is the recorder: it reads the clock
//! after each op, and at the first op that ends behind the wall the thread says its count and waits
//! until all threads of all ranks have said theirs. Then each goes on to the largest. So later
//! phases find equal shares. A thread that has no more to do says its count and waits for nobody.

use crate::clock::monotonic_ns;
use crate::hist::{Histogram, Recorder};
use crate::threads::{Latency, StartBarrier};
use fsarena_model::work::StonewallReport;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Nobody knows yet to which count all go on.
const UNKNOWN: u64 = u64::MAX;
/// A thread that waits for the others looks so often awake, and then sleeps between two looks: an
/// op under way elsewhere may last long.
const AWAKE_LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_micros(50);

/// The other ranks of a phase, as far as a stonewall needs them.
pub trait OtherRanks: Sync {
    /// Tells them the largest count of this rank. Called once a phase.
    fn say_most(&self, most_ops: u64);
    /// Waits for the largest count of all ranks; nothing where they are gone.
    fn hear_most(&self) -> Option<u64>;
}

/// Where the threads of a rank meet when the time is over.
pub(crate) struct Stonewall<'a> {
    wall_ns: u64,
    threads: u32,
    others: Option<&'a dyn OtherRanks>,
    arrived: AtomicU32,
    most_ops: AtomicU64,
    fewest_ops: AtomicU64,
    /// All threads of this rank have said their count, and the other ranks know.
    is_said: AtomicBool,
    /// A thread waits for what the other ranks say.
    is_heard: AtomicBool,
    target_ops: AtomicU64,
    /// Whether a thread was still at work.
    is_reached: AtomicBool,
    /// What all threads had done by then.
    ops: AtomicU64,
    asked_bytes: AtomicU64,
    /// Ops of the thread that did the most in the end.
    each_ops: AtomicU64,
}

impl std::fmt::Debug for Stonewall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stonewall").field("wall_ns", &self.wall_ns).finish_non_exhaustive()
    }
}

impl<'a> Stonewall<'a> {
    /// For so many threads in this rank, `wall_ns` after the phase's start.
    pub fn new(wall_ns: u64, threads: usize, others: Option<&'a dyn OtherRanks>) -> Self {
        Self {
            wall_ns,
            threads: u32::try_from(threads).unwrap_or(u32::MAX),
            others,
            arrived: AtomicU32::new(0),
            most_ops: AtomicU64::new(0),
            fewest_ops: AtomicU64::new(UNKNOWN),
            is_said: AtomicBool::new(false),
            is_heard: AtomicBool::new(false),
            target_ops: AtomicU64::new(UNKNOWN),
            is_reached: AtomicBool::new(false),
            ops: AtomicU64::new(0),
            asked_bytes: AtomicU64::new(0),
            each_ops: AtomicU64::new(0),
        }
    }

    /// A thread has done `ops`; the last of this rank tells the others.
    fn arrive(&self, ops: u64) {
        self.most_ops.fetch_max(ops, Ordering::AcqRel);
        self.fewest_ops.fetch_min(ops, Ordering::AcqRel);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 < self.threads {
            return;
        }
        let most_ops = self.most_ops.load(Ordering::Acquire);
        match self.others {
            None => self.target_ops.store(most_ops, Ordering::Release),
            Some(others) => {
                others.say_most(most_ops);
                self.is_said.store(true, Ordering::Release);
            }
        }
    }

    /// Waits until it is known to which count all go on; 0 where the phase was stopped.
    fn wait(&self, barrier: &StartBarrier) -> u64 {
        let mut looks = 0;
        loop {
            let target_ops = self.target_ops.load(Ordering::Acquire);
            if target_ops != UNKNOWN {
                return target_ops;
            }
            if barrier.is_stopped() {
                return 0;
            }
            if let Some(others) = self.others
                && self.is_said.load(Ordering::Acquire)
                && !self.is_heard.swap(true, Ordering::AcqRel)
            {
                match others.hear_most() {
                    Some(most_ops) => self.target_ops.store(most_ops, Ordering::Release),
                    None => barrier.stop(),
                }
                continue;
            }
            looks += 1;
            if looks < AWAKE_LOOKS {
                std::thread::yield_now();
            } else {
                std::thread::sleep(PAUSE);
            }
        }
    }

    /// Where the threads of this rank were when the time was over.
    pub fn report(&self) -> StonewallReport {
        let read = |count: &AtomicU64| count.load(Ordering::Acquire);
        let most_ops = read(&self.most_ops);
        StonewallReport {
            reached: self.is_reached.load(Ordering::Acquire),
            ops: read(&self.ops),
            asked_bytes: read(&self.asked_bytes),
            fewest_ops: read(&self.fewest_ops).min(most_ops),
            each_ops: read(&self.each_ops).max(most_ops),
        }
    }
}

/// Counts ops up to the wall, and then up to the largest count.
#[derive(Debug)]
pub(crate) struct Walled<'a> {
    wall: &'a Stonewall<'a>,
    barrier: &'a StartBarrier,
    /// Ops that there are at most.
    ops: u64,
    wall_at_ns: u64,
    last_ns: u64,
    ended: u64,
    /// Ops that had ended when the time was over.
    until_wall: Option<u64>,
    target_ops: u64,
    all: Option<&'a mut Histogram>,
}

impl<'a> Walled<'a> {
    /// For a thread that has `ops` ops at most.
    pub fn new(
        (wall, ops): (&'a Stonewall<'a>, u64),
        barrier: &'a StartBarrier,
        latency: Option<&'a mut Latency>,
    ) -> Self {
        Self {
            wall,
            barrier,
            ops,
            wall_at_ns: 0,
            last_ns: 0,
            ended: 0,
            until_wall: None,
            target_ops: UNKNOWN,
            all: latency.map(|latency| &mut latency.all),
        }
    }

    /// After the last clock read of the thread: says what it had done when the time was over. One
    /// that had no more to do says its count only now.
    pub fn finish(self, bytes_of: impl FnOnce(u64) -> u64) {
        let ops = self.until_wall.unwrap_or(self.ended);
        self.wall.ops.fetch_add(ops, Ordering::AcqRel);
        self.wall.asked_bytes.fetch_add(bytes_of(ops), Ordering::AcqRel);
        self.wall.each_ops.fetch_max(self.ended, Ordering::AcqRel);
        if self.until_wall.is_none() && !self.barrier.is_stopped() {
            self.wall.arrive(self.ended);
        }
    }

    #[cold]
    fn meet(&mut self, now_ns: u64) {
        self.wall.is_reached.store(true, Ordering::Release);
        self.until_wall = Some(self.ended - u64::from(now_ns > self.wall_at_ns));
        self.wall.arrive(self.ended);
        if self.ended < self.ops {
            self.target_ops = self.wall.wait(self.barrier);
            // Nobody's op: waiting is in no latency.
            self.last_ns = monotonic_ns();
        }
    }
}

impl Recorder for Walled<'_> {
    fn start(&mut self) {
        self.last_ns = monotonic_ns();
        self.wall_at_ns = self.barrier.start_ns().saturating_add(self.wall.wall_ns);
    }

    #[inline(always)]
    fn end_op(&mut self) {
        let now_ns = monotonic_ns();
        if let Some(all) = &mut self.all {
            all.record(now_ns.saturating_sub(self.last_ns));
        }
        self.last_ns = now_ns;
        self.ended += 1;
        if now_ns >= self.wall_at_ns && self.until_wall.is_none() {
            self.meet(now_ns);
        }
    }

    fn end_write(&mut self) {
        self.end_op();
    }

    #[inline(always)]
    fn is_over(&self) -> bool {
        self.ended >= self.target_ops
    }
}
