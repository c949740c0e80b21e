//! How the work of a phase is divided among its threads, in numbers: what the engine's shares hold.
//!
//! A thread without work is no thread, and an op that never comes fills no queue: the plan and the
//! engine refuse both by what is counted here.

use crate::dataset::Dataset;
use crate::io::{Io, Sharing};
use crate::op::Op;
use crate::phase::Phase;
use crate::state::{DatasetState, Reached};
use std::ops::Range;

/// Where piece `thread` of `threads` begins in `all`.
#[inline(always)]
#[must_use]
pub fn piece(all: u64, thread: u64, threads: u64) -> u64 {
    // Not all * thread / threads: that can overflow.
    let (whole, rest) = (all / threads, all % threads);
    whole * thread + rest * thread / threads
}

impl Io {
    /// The numbers of the threads that run in rank number `rank`: the ranks share them out as
    /// evenly as they can, in order. Which files a thread works on is decided by its number alone,
    /// so that several ranks touch those that one would.
    #[must_use]
    pub fn threads_of(&self, rank: u32) -> Range<u32> {
        let cut = |rank: u32| {
            let cut = piece(self.threads.into(), rank.into(), self.ranks.max(1).into());
            u32::try_from(cut).unwrap_or(self.threads)
        };
        cut(rank)..cut(rank.saturating_add(1))
    }

    /// The number of the thread whose share thread `thread` works on.
    #[must_use]
    pub fn shifted(&self, thread: u32) -> u32 {
        let threads = u64::from(self.threads.max(1));
        let shifted = (u64::from(thread) + u64::from(self.shift)) % threads;
        u32::try_from(shifted).unwrap_or(thread)
    }
}

impl Dataset {
    /// The first file of each of `threads` runs of leaf directories, and at the end the number of
    /// files: where each thread has directories of its own.
    #[must_use]
    pub fn own_cuts(&self, threads: u64) -> Vec<u64> {
        let starts = self.dir_starts();
        let first_file = |dir: u64| match &starts {
            Some(starts) => usize::try_from(dir).map_or(self.files, |dir| starts[dir]),
            None if dir == self.dirs => self.files,
            None => self.files_per_dir().saturating_mul(dir).min(self.files),
        };
        (0..=threads).map(|thread| first_file(piece(self.dirs, thread, threads))).collect()
    }

    /// The numbers of the files that are there, in order: all, unless a phase with a stonewall made
    /// them.
    #[must_use]
    pub fn files_in(&self, state: &DatasetState) -> Vec<Range<u64>> {
        let Some(Reached::Files { runs, each }) = state.reached else {
            return std::iter::once(0..self.files).collect();
        };
        let cuts = if runs <= 1 { vec![0, self.files] } else { self.own_cuts(runs.into()) };
        let of_run = |cut: &[u64]| cut[0]..cut[1].min(cut[0].saturating_add(each));
        cuts.windows(2).map(of_run).filter(|files| !files.is_empty()).collect()
    }

    /// Bytes of contents after what phases have made of the files.
    #[must_use]
    pub fn bytes_in(&self, state: &DatasetState) -> u64 {
        let sizes = self.draw_sizes();
        let of = |files| sizes.sum(files, |size_bytes| state.size_bytes(size_bytes));
        self.files_in(state).into_iter().map(of).sum()
    }

    /// How many files are there.
    #[must_use]
    pub fn count_in(&self, state: &DatasetState) -> u64 {
        self.files_in(state).iter().map(|files| files.end - files.start).sum()
    }

    /// A dataset of as many files as are there, none longer than they were made: where only numbers
    /// and bytes matter.
    #[must_use]
    pub fn as_reached(&self, state: &DatasetState) -> Self {
        let size_bytes = self.size_bytes.min(state.most_made_bytes());
        Self { files: self.count_in(state), size_bytes, ..self.clone() }
    }

    /// Ops of the thread of `phase` that has the fewest: 0 where one has nothing to do. Adds up all
    /// sizes where they are drawn and an op is a call.
    #[must_use]
    pub fn fewest_ops(&self, phase: &Phase) -> u64 {
        let threads = u64::from(phase.io.threads.max(1));
        let op = phase.op;
        // A walk is always in directories of a thread's own.
        let shared = phase.io.sharing != Sharing::Own && op != Op::Find && threads > 1;
        let in_cuts = |cuts: &[u64]| cuts.windows(2).map(|cut| cut[1] - cut[0]).min().unwrap_or(0);
        if op.is_random() || op.is_about_dirs() || !op.is_of_engine() || threads == 1 {
            return phase.count(self) / threads;
        }
        match (op.is_big(), shared) {
            (true, shared) => self.fewest_calls(phase, threads, shared),
            (false, true) => self.files / threads,
            (false, false) => in_cuts(&self.own_cuts(threads)),
        }
    }

    /// Calls in big files of the thread that has the fewest.
    fn fewest_calls(&self, phase: &Phase, threads: u64, shared: bool) -> u64 {
        let calls = |size_bytes: u64| size_bytes.div_ceil(phase.bs_bytes.max(1));
        let sizes = self.draw_sizes();
        if shared {
            // A thread's piece of a file is never smaller than the first thread's, and of calls in
            // turn the last thread has the fewest: as many.
            return sizes.sum(0..self.files, |size_bytes| calls(size_bytes) / threads);
        }
        let of = |thread: u64| {
            let files = piece(self.files, thread, threads)..piece(self.files, thread + 1, threads);
            sizes.sum(files, calls)
        };
        (0..threads).map(of).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_ranks_have_every_thread_once(threads in 1u32..2000, ranks in 1u32..2000) {
            prop_assume!(ranks <= threads);
            let io = Io { threads, ranks, ..Io::default() };
            let all: Vec<u32> = (0..ranks).flat_map(|rank| io.threads_of(rank)).collect();
            prop_assert_eq!(all, (0..threads).collect::<Vec<_>>());
            let sizes = || (0..ranks).map(|rank| io.threads_of(rank).len());
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
        }

        #[test]
        fn a_shift_gives_every_share_to_one_thread(threads in 1u32..1025, shift in 0u32..1025) {
            prop_assume!(shift < threads);
            let io = Io { threads, shift, ..Io::default() };
            let mut all: Vec<u32> = (0..threads).map(|thread| io.shifted(thread)).collect();
            prop_assert_eq!(all[0], shift);
            all.sort_unstable();
            prop_assert_eq!(all, (0..threads).collect::<Vec<_>>());
        }
    }
    use crate::dataset::Distribution;
    use crate::io::Io;
    use crate::op::Op;

    fn fewest(set: &Dataset, op: Op, threads: u32, sharing: Sharing) -> u64 {
        let io = Io { threads, sharing, ..Io::default() };
        set.fewest_ops(&Phase { io, ..Phase::new("p", op, 1000) })
    }

    #[test]
    fn a_thread_whose_directories_are_empty_has_nothing() {
        let set = Dataset::uniform(24, 1, 16);
        // Two files in each of the first 12 directories.
        assert_eq!(set.own_cuts(4), [0, 8, 16, 24, 24]);
        assert_eq!(fewest(&set, Op::Create, 16, Sharing::Own), 0);
        assert_eq!(fewest(&set, Op::Create, 4, Sharing::Own), 0);
        assert_eq!(fewest(&set, Op::Create, 3, Sharing::Own), 4);
        assert_eq!(fewest(&set, Op::Create, 16, Sharing::Shared), 1);
        let values = vec![(0, 1), (9, 1)];
        let per_dir = Distribution::Weighted { values };
        let files = Dataset::files_of(20, &per_dir);
        let drawn = Dataset { per_dir: Some(per_dir), ..Dataset::uniform(files, 1, 20) };
        assert_eq!(fewest(&drawn, Op::Stat, 20, Sharing::Own), 0);
        assert_eq!(fewest(&drawn, Op::Stat, 1, Sharing::Own), files);
    }

    #[test]
    fn calls_are_counted_for_each_thread() {
        let set = Dataset::uniform(3, 4500, 0);
        assert_eq!(fewest(&set, Op::BigRead, 1, Sharing::Own), 15);
        assert_eq!(fewest(&set, Op::BigRead, 2, Sharing::Own), 5);
        assert_eq!(fewest(&set, Op::BigRead, 2, Sharing::Shared), 6);
        assert_eq!(fewest(&set, Op::BigRead, 6, Sharing::Shared), 0);
        assert_eq!(fewest(&set, Op::BigWrite, 2, Sharing::Interleaved), 6);
        assert_eq!(fewest(&set, Op::RandRead, 4, Sharing::Own), 3);
        let sizes = Distribution::Weighted { values: vec![(0, 1), (4500, 1)] };
        let drawn = Dataset { sizes: Some(sizes), ..Dataset::uniform(40, 4500, 0) };
        assert_eq!(fewest(&drawn, Op::BigRead, 40, Sharing::Own), 0);
        assert!(fewest(&drawn, Op::BigRead, 5, Sharing::Shared) > 10);
    }
}
