//! Which files each cycle takes, and what is done with each: drawn before the clock runs.

use crate::permute::Permutation;
use fsarena_model::cycle::{Cycle, Shares, UpdateKind};
use fsarena_model::seed::{Seed, SeededRng};
use fsarena_model::work::Order;

/// Bits of the number of a file: names hold fewer than 2^27.
const FILE_BITS: u32 = 27;

/// One file of a cycle and what is done with it, in four bytes: the loop reads one an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Update(u32);

impl Update {
    /// What is done with `file`, which has a name.
    #[must_use]
    pub fn new(file: u32, kind: UpdateKind) -> Self {
        Self((kind as u32) << FILE_BITS | file)
    }

    #[inline(always)]
    #[must_use]
    pub fn file(self) -> u32 {
        self.0 & ((1 << FILE_BITS) - 1)
    }

    /// What is done with it.
    #[inline(always)]
    #[must_use]
    pub fn kind(self) -> UpdateKind {
        match self.0 >> FILE_BITS {
            0 => UpdateKind::InPlace,
            1 => UpdateKind::Truncate,
            2 => UpdateKind::Replace,
            3 => UpdateKind::Recreate,
            _ => UpdateKind::Temporary,
        }
    }
}

/// The updates of all cycles.
#[derive(Debug)]
pub(super) struct CycleUpdates {
    all: Vec<Update>,
    /// Of one cycle.
    updates: usize,
}

impl CycleUpdates {
    /// Draws the updates of each of `cycle`'s cycles among `files` files, in `order`. Cycle `k` has
    /// the seed `("cycle", k)` of the phase's, so that it does not depend on how many there are.
    pub fn draw(cycle: &Cycle, files: u64, order: Order, seed: &Seed) -> Self {
        let updates = cycle.updates.min(files) as usize;
        let mut all = Vec::with_capacity(updates * cycle.cycles as usize);
        for number in 1..=cycle.cycles {
            let own = seed.child("cycle", u64::from(number));
            // The first of a permutation: none comes twice.
            let taken = Permutation::new(files, own.child("files", 0).tag());
            let mut kinds = own.child("kinds", 0).rng();
            let from = all.len();
            all.extend((0..updates as u64).map(|index| {
                #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^27")]
                let file = taken.permute(index) as u32;
                Update::new(file, kind(&cycle.shares, &mut kinds))
            }));
            if order == Order::Sequential {
                all[from..].sort_unstable_by_key(|update| update.file());
            }
        }
        Self { all, updates }
    }

    /// Those of cycle `number`, counted from 1.
    pub fn of_cycle(&self, number: u32) -> &[Update] {
        let from = (number.max(1) - 1) as usize * self.updates;
        &self.all[from..from + self.updates]
    }

    /// Most temporary files of one cycle.
    pub fn most_temporary(&self) -> usize {
        let is_temporary = |update: &&Update| update.kind() == UpdateKind::Temporary;
        let cycles = self.all.chunks(self.updates.max(1));
        cycles.map(|cycle| cycle.iter().filter(is_temporary).count()).max().unwrap_or(0)
    }
}

/// Draws a kind by its weight; weights that are not all 0.
fn kind(shares: &Shares, rng: &mut SeededRng) -> UpdateKind {
    let weights = shares.weights();
    let mut left = rng.below(weights.iter().map(|&weight| u64::from(weight)).sum());
    for (kind, weight) in UpdateKind::ALL.into_iter().zip(weights) {
        let weight = u64::from(weight);
        if left < weight {
            return kind;
        }
        left -= weight;
    }
    UpdateKind::Temporary
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::cycle::Overrun;

    fn cycle(cycles: u32, updates: u64, weights: [u32; 5]) -> Cycle {
        let [in_place, truncate, replace, recreate, temporary] = weights;
        Cycle {
            cycles,
            period_ns: 1,
            overrun: Overrun::Overlap,
            updates,
            shares: Shares { in_place, truncate, replace, recreate, temporary },
            disturb: None,
        }
    }

    fn draw(cycle: &Cycle, files: u64, order: Order, seed: u64) -> CycleUpdates {
        CycleUpdates::draw(cycle, files, order, &Seed::from_number(seed))
    }

    fn files(updates: &CycleUpdates, number: u32) -> Vec<u32> {
        updates.of_cycle(number).iter().map(|update| update.file()).collect()
    }

    #[test]
    fn an_update_keeps_file_and_kind() {
        for kind in UpdateKind::ALL {
            for file in [0, 1, 99_999_999] {
                let update = Update::new(file, kind);
                assert_eq!((update.file(), update.kind()), (file, kind));
            }
        }
    }

    #[test]
    fn a_cycle_takes_no_file_twice_and_each_takes_others() {
        let updates = draw(&cycle(3, 400, [1, 1, 1, 1, 1]), 1000, Order::Random, 1);
        for number in 1..=3 {
            let mut taken = files(&updates, number);
            assert_eq!(taken.len(), 400);
            taken.sort_unstable();
            taken.dedup();
            assert_eq!(taken.len(), 400, "none twice");
            assert!(taken.iter().all(|&file| file < 1000));
        }
        assert_ne!(files(&updates, 1), files(&updates, 2));
        let all = draw(&cycle(1, 1000, [1, 0, 0, 0, 0]), 1000, Order::Sequential, 1);
        assert_eq!(files(&all, 1), (0..1000).collect::<Vec<_>>());
        assert_eq!(all.most_temporary(), 0);
    }

    #[test]
    fn the_seed_alone_decides() {
        let plain = cycle(2, 100, [3, 1, 2, 1, 1]);
        let one = draw(&plain, 1000, Order::Random, 7);
        assert_eq!(one.all, draw(&plain, 1000, Order::Random, 7).all);
        assert_ne!(one.all, draw(&plain, 1000, Order::Random, 8).all);
        let longer = Cycle { cycles: 9, ..plain.clone() };
        assert_eq!(one.of_cycle(2), draw(&longer, 1000, Order::Random, 7).of_cycle(2));
        let sorted = draw(&plain, 1000, Order::Sequential, 7);
        let mut by_file = one.of_cycle(2).to_vec();
        by_file.sort_unstable_by_key(|update| update.file());
        assert_eq!(by_file, sorted.of_cycle(2), "order changes neither files nor kinds");
        assert_ne!(by_file, one.of_cycle(2));
    }

    #[test]
    fn kinds_come_in_their_shares() {
        let updates = draw(&cycle(1, 20_000, [4, 3, 2, 1, 0]), 20_000, Order::Random, 3);
        let count =
            |kind| updates.of_cycle(1).iter().filter(|update| update.kind() == kind).count();
        for (kind, wanted) in UpdateKind::ALL.into_iter().zip([8000, 6000, 4000, 2000, 0]) {
            assert!(count(kind).abs_diff(wanted) < 300, "{kind:?}: {}", count(kind));
        }
        let temporary = draw(&cycle(2, 50, [0, 0, 0, 0, 9]), 50, Order::Random, 3);
        assert_eq!(temporary.most_temporary(), 50);
    }

    /// What a cycle takes is part of what a workload is: it must never change.
    #[test]
    fn golden_choice() {
        let updates = draw(&cycle(2, 4, [1, 1, 1, 1, 1]), 1000, Order::Random, 2007);
        let words = |update: &Update| format!("{} {}", update.file(), update.kind().name());
        let words: Vec<_> = updates.of_cycle(2).iter().map(words).collect();
        assert_eq!(words, GOLDEN);
    }
    const GOLDEN: [&str; 4] = ["903 recreate", "351 truncate", "353 in-place", "162 truncate"];
}
