//! How long trials and blocks took, by the scores alone: for the number of blocks that fit into a
//! budget, and for whether the next one does.

use fsarena_model::score::TrialScore;
use std::collections::{BTreeMap, VecDeque};

/// Share of a budget that a number of blocks is planned for: the rest is for blocks that take
/// longer than those before.
const PLANNED_SHARE: f64 = 0.95;
/// Of so many blocks before it the longest says how long the next one takes.
const LATEST_BLOCKS: usize = 3;

/// A contender and a workload, as indices into the plan.
type Cell = (usize, usize);

/// How long trials and blocks took.
#[derive(Clone, Debug, Default)]
pub(super) struct Durations {
    /// Each trial that was carried out, by contender, workload and block.
    trials: BTreeMap<Cell, BTreeMap<u32, u64>>,
    /// When the RUN began, where that is known.
    begun_unix_ns: Option<u64>,
    /// Of all blocks so far, with the time between trials, and before the first.
    spent_ns: u64,
    /// Of the block under way.
    block_ns: u64,
    /// Of the latest blocks that count.
    latest_blocks_ns: VecDeque<u64>,
    /// Time between trials, and how many of these gaps there are.
    between: (u64, u64),
    /// End of the latest trial, ns since 1970, and its length.
    latest: Option<(u64, u64)>,
}

impl Durations {
    /// Of a RUN that began then: what it took up to its first trial is spent as well.
    pub(super) fn since(begun_unix_ns: Option<u64>) -> Self {
        Self { begun_unix_ns, ..Self::default() }
    }

    /// Takes a trial. What lies between it and the one before counts as well, but not for longer
    /// than that one took: a RUN that was interrupted took no time while it stood still.
    pub(super) fn add(&mut self, block: u32, cell: Cell, score: &TrialScore) {
        let end = score.started_unix_ns.saturating_add(score.elapsed_ns);
        let gap_ns = self.latest.map_or(0, |(before, length_ns)| {
            score.started_unix_ns.saturating_sub(before).min(length_ns)
        });
        if let (None, Some(begun_ns)) = (self.latest, self.begun_unix_ns) {
            self.spent_ns = score.started_unix_ns.saturating_sub(begun_ns);
        }
        if self.latest.is_some() {
            self.between = (self.between.0.saturating_add(gap_ns), self.between.1 + 1);
        }
        let ns = gap_ns.saturating_add(score.elapsed_ns);
        self.spent_ns = self.spent_ns.saturating_add(ns);
        self.block_ns = self.block_ns.saturating_add(ns);
        self.latest = Some((end, score.elapsed_ns));
        let trial_ns = self.trials.entry(cell).or_default().entry(block).or_default();
        *trial_ns = trial_ns.saturating_add(score.elapsed_ns);
    }

    /// Ends the block under way; gives its length.
    pub(super) fn end_block(&mut self) -> u64 {
        std::mem::take(&mut self.block_ns)
    }

    /// Takes the length of a block that counts.
    pub(super) fn count_block(&mut self, block_ns: u64) {
        self.latest_blocks_ns.truncate(LATEST_BLOCKS - 1);
        self.latest_blocks_ns.push_front(block_ns);
    }

    /// Blocks that still fit into a budget, if each takes as long as the longest of the latest.
    pub(super) fn more_blocks_within(&self, budget_ns: u64) -> u32 {
        let left_ns = budget_ns as f64 * PLANNED_SHARE - self.spent_ns as f64;
        let block_ns = self.latest_blocks_ns.iter().copied().max().unwrap_or(0);
        // Below 0 and beyond u32 it saturates.
        (left_ns / block_ns.max(1) as f64).floor() as u32
    }

    /// Time that a block of these trials is expected to take: as long as the longest of the blocks
    /// so far took for them, with the usual time between trials.
    pub(super) fn expected_ns(&self, cells: &[Cell]) -> u64 {
        let known: Vec<&BTreeMap<u32, u64>> =
            cells.iter().filter_map(|cell| self.trials.get(cell)).collect();
        let mut blocks: Vec<u32> = known.iter().flat_map(|own| own.keys().copied()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        let longest = |own: &BTreeMap<u32, u64>| own.values().copied().max().unwrap_or(0);
        let of = |block: u32| {
            let trials = known.iter().map(|own| own.get(&block).copied().unwrap_or(longest(own)));
            trials.fold(0, u64::saturating_add)
        };
        let trials_ns = blocks.into_iter().map(of).max().unwrap_or(0);
        let gap_ns = self.between.0 / self.between.1.max(1);
        trials_ns.saturating_add(gap_ns.saturating_mul(cells.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::record::TimeBase;

    const SECOND_NS: u64 = 1_000_000_000;

    fn trial(start_s: u64, length_s: u64) -> TrialScore {
        TrialScore {
            sequence: 0,
            started_unix_ns: start_s * SECOND_NS,
            elapsed_ns: length_s * SECOND_NS,
            is_interrupted: false,
            time_base: TimeBase::Wall,
            has_bad_contents: false,
            phases: Vec::new(),
        }
    }

    /// Two trials of 10 s a block, a second between trials.
    fn two_blocks() -> Durations {
        let mut durations = Durations::default();
        durations.add(0, (0, 0), &trial(100, 10));
        durations.add(0, (1, 0), &trial(111, 10));
        let block_ns = durations.end_block();
        assert_eq!(block_ns, 21 * SECOND_NS);
        durations.count_block(block_ns);
        durations
    }

    #[test]
    fn as_many_as_fit_with_a_reserve() {
        let durations = two_blocks();
        let within = |budget_s: u64| durations.more_blocks_within(budget_s * SECOND_NS);
        assert_eq!(within(0), 0);
        assert_eq!(within(22), 0);
        assert_eq!(within(240), 9, "228 s of which 21 are gone");
        let mut durations = Durations::default();
        durations.count_block(1);
        assert_eq!(durations.more_blocks_within(u64::MAX), u32::MAX);
    }

    #[test]
    fn the_longest_of_the_latest_three_blocks_is_expected_again() {
        let mut durations = Durations::default();
        let mut after = |block_s: u64| {
            durations.count_block(block_s * SECOND_NS);
            durations.more_blocks_within(200 * SECOND_NS)
        };
        // 190 s are planned for.
        assert_eq!([15, 14, 10, 12, 10].map(&mut after), [12, 12, 12, 13, 15]);
    }

    #[test]
    fn what_a_run_needs_before_its_first_trial_is_spent() {
        let mut durations = Durations::since(Some(40 * SECOND_NS));
        durations.add(0, (0, 0), &trial(100, 10));
        durations.add(0, (1, 0), &trial(111, 10));
        let block_ns = durations.end_block();
        assert_eq!(block_ns, 21 * SECOND_NS, "a block takes no longer for it");
        durations.count_block(block_ns);
        let within = durations.more_blocks_within(240 * SECOND_NS);
        assert_eq!(within, 7, "228 s of which 60 and 21 are gone");
    }

    #[test]
    fn what_was_interrupted_took_no_longer() {
        let mut durations = Durations::default();
        durations.add(0, (0, 0), &trial(100, 10));
        durations.add(0, (1, 0), &trial(90_000, 10));
        assert_eq!(durations.end_block(), 30 * SECOND_NS, "a gap as long as the trial before it");
    }

    /// No block took as long as the longest trials of several together.
    #[test]
    fn the_longest_block_and_not_the_longest_trials() {
        let mut durations = two_blocks();
        durations.add(1, (1, 0), &trial(122, 8));
        durations.add(1, (0, 0), &trial(131, 14));
        assert_eq!(durations.expected_ns(&[(0, 0), (1, 0)]), 24 * SECOND_NS);
        assert_eq!(durations.expected_ns(&[(0, 0)]), 15 * SECOND_NS);
        assert_eq!(durations.expected_ns(&[]), 0);
    }
}
