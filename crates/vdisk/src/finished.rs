//! Requests whose end is known and lies ahead, in the order of time: a heap of fixed capacity.

use crate::request::{ALL_TAGS, Completion, Outcome};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What completes when. Of two that complete at one time, the one that was added first is first.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    heap: BinaryHeap<Reverse<Entry>>,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at_ns: u64,
    number: u64,
    tag: u16,
    /// Sectors of a torn write; all bits set: done; one less: a medium error.
    outcome: u32,
}

const DONE: u32 = u32::MAX;
const MEDIUM_ERROR: u32 = u32::MAX - 1;

impl Finished {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::with_capacity(ALL_TAGS), count: 0 }
    }

    /// Adds a request that completes at this time.
    pub(crate) fn add(&mut self, tag: u16, at_ns: u64) {
        self.add_with(tag, at_ns, Outcome::Done);
    }

    /// The same with its outcome.
    pub(crate) fn add_with(&mut self, tag: u16, at_ns: u64, outcome: Outcome) {
        debug_assert!(self.heap.len() < ALL_TAGS, "more requests than tags");
        let outcome = match outcome {
            Outcome::Done => DONE,
            Outcome::MediumError => MEDIUM_ERROR,
            Outcome::Torn { sectors } => sectors.min(MEDIUM_ERROR - 1),
        };
        self.heap.push(Reverse(Entry { at_ns, number: self.count, tag, outcome }));
        self.count += 1;
    }

    /// Takes the next that is due.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<Completion> {
        if self.next_ns()? > now_ns {
            return None;
        }
        let Reverse(entry) = self.heap.pop()?;
        let outcome = match entry.outcome {
            DONE => Outcome::Done,
            MEDIUM_ERROR => Outcome::MediumError,
            sectors => Outcome::Torn { sectors },
        };
        Some(Completion { tag: entry.tag, at_ns: entry.at_ns, outcome })
    }

    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(entry)| entry.at_ns)
    }
}

/// The earlier of two times, where there are any.
pub(crate) fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// How long so many bytes take at a rate; without a rate, no time.
pub(crate) fn transfer_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    (bytes * 1_000_000_000).checked_div(bytes_per_s).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_come_in_the_order_of_time_and_of_their_addition() {
        let mut finished = Finished::new();
        finished.add(3, 20);
        finished.add(1, 10);
        finished.add_with(2, 20, Outcome::Torn { sectors: 4 });
        finished.add_with(4, 10, Outcome::MediumError);
        assert_eq!((finished.next_ns(), finished.take(9)), (Some(10), None));
        let order: Vec<_> = std::iter::from_fn(|| finished.take(20)).collect();
        let tags: Vec<u16> = order.iter().map(|one| one.tag).collect();
        assert_eq!(tags, [1, 4, 3, 2]);
        assert_eq!(order[1].outcome, Outcome::MediumError);
        assert_eq!(order[3].outcome, Outcome::Torn { sectors: 4 });
        assert_eq!(finished.next_ns(), None);
    }
}
