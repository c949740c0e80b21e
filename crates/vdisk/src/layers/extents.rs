//! The dirty sectors of a cache of writes: runs that do not touch each other, sorted by place.

use std::ops::Range;

/// A run of dirty sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Extent {
    pub(super) from: u64,
    pub(super) to: u64,
    /// Number of its earliest write.
    pub(super) number: u64,
}

impl Extent {
    pub(super) fn sectors(&self) -> u64 {
        self.to - self.from
    }
}

#[derive(Clone, Debug)]
pub(super) struct Extents {
    list: Vec<Extent>,
    sectors: u64,
}

impl Extents {
    /// With room for so many.
    pub(super) fn new(most: usize) -> Self {
        Self { list: Vec::with_capacity(most), sectors: 0 }
    }

    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Those that overlap or touch these sectors.
    fn touching(&self, sectors: &Range<u64>) -> Range<usize> {
        let begin = self.list.partition_point(|extent| extent.to < sectors.start);
        let end = self.list.partition_point(|extent| extent.from <= sectors.end);
        begin..end.max(begin)
    }

    /// Whether adding these sectors makes one more run.
    pub(super) fn makes_one_more(&self, sectors: &Range<u64>) -> bool {
        self.touching(sectors).is_empty()
    }

    /// Adds sectors, joined with what they touch.
    pub(super) fn add(&mut self, sectors: Range<u64>, number: u64) {
        let touching = self.touching(&sectors);
        let mut joined = Extent { from: sectors.start, to: sectors.end, number };
        for extent in &self.list[touching.clone()] {
            joined.from = joined.from.min(extent.from);
            joined.to = joined.to.max(extent.to);
            joined.number = joined.number.min(extent.number);
            self.sectors -= extent.sectors();
        }
        self.sectors += joined.sectors();
        if touching.is_empty() {
            self.list.insert(touching.start, joined);
        } else {
            self.list[touching.start] = joined;
            self.list.drain(touching.start + 1..touching.end);
        }
    }

    /// Takes sectors out. A run of which the middle is taken out stays whole behind it where there
    /// is no room for one more: a cache may write what it need not.
    pub(super) fn remove(&mut self, sectors: &Range<u64>) {
        let mut at = self.touching(sectors).start;
        while let Some(extent) = self.list.get(at).copied() {
            if extent.from >= sectors.end {
                break;
            }
            if extent.to <= sectors.start {
                at += 1;
                continue;
            }
            let before = Extent { to: sectors.start.max(extent.from), ..extent };
            let behind = Extent { from: sectors.end.min(extent.to), ..extent };
            self.sectors -= extent.sectors();
            match (before.sectors() > 0, behind.sectors() > 0) {
                (false, false) => {
                    self.list.remove(at);
                    continue;
                }
                (true, false) => self.list[at] = before,
                (false, true) => self.list[at] = behind,
                (true, true) if self.list.len() < self.list.capacity() => {
                    self.list[at] = before;
                    self.list.insert(at + 1, behind);
                    self.sectors += behind.sectors();
                    at += 1;
                }
                (true, true) => {
                    self.sectors += extent.sectors();
                    break;
                }
            }
            let kept = if before.sectors() > 0 { before } else { behind };
            self.sectors += kept.sectors();
            at += 1;
        }
    }

    /// Whether all of these sectors are dirty.
    pub(super) fn holds(&self, sectors: &Range<u64>) -> bool {
        let at = self.list.partition_point(|extent| extent.to < sectors.end);
        self.list
            .get(at)
            .is_some_and(|extent| extent.from <= sectors.start && sectors.end <= extent.to)
    }

    /// Takes the next run at or behind a sector, from the first again behind the last; at most so
    /// many sectors of it.
    pub(super) fn take_next(&mut self, sector: u64, most: u64) -> Option<Extent> {
        let behind = self.list.partition_point(|extent| extent.from < sector);
        let at = if behind < self.list.len() { behind } else { 0 };
        let extent = *self.list.get(at)?;
        let taken = Extent { to: extent.to.min(extent.from + most), ..extent };
        self.sectors -= taken.sectors();
        if taken.to < extent.to {
            self.list[at].from = taken.to;
        } else {
            self.list.remove(at);
        }
        Some(taken)
    }

    /// Number of the earliest write of all.
    pub(super) fn earliest(&self) -> Option<u64> {
        self.list.iter().map(|extent| extent.number).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against a set of sectors.
        #[test]
        fn runs_are_the_dirty_sectors(
            steps in prop::collection::vec((0_u64..200, 1_u64..20, 0..5), 1..60)
        ) {
            let mut extents = Extents::new(1000);
            let mut known = BTreeSet::new();
            for (number, (from, sectors, kind)) in steps.into_iter().enumerate() {
                let range = from..from + sectors;
                match kind {
                    0 => {
                        extents.remove(&range);
                        known.retain(|sector| !range.contains(sector));
                    }
                    1 => {
                        if let Some(taken) = extents.take_next(from, sectors) {
                            known.retain(|sector| !(taken.from..taken.to).contains(sector));
                        }
                    }
                    _ => {
                        extents.add(range.clone(), number as u64);
                        known.extend(range);
                    }
                }
                prop_assert_eq!(extents.sectors(), known.len() as u64);
                let listed: Vec<u64> =
                    extents.list.iter().flat_map(|extent| extent.from..extent.to).collect();
                prop_assert!(listed.iter().eq(known.iter()));
                let apart = extents.list.windows(2).all(|two| two[0].to <= two[1].from);
                prop_assert!(apart);
            }
        }
    }

    #[test]
    fn the_next_run_is_behind_and_then_the_first_again() {
        let mut extents = Extents::new(10);
        extents.add(10..20, 1);
        extents.add(40..60, 2);
        assert!(extents.holds(&(42..60)) && !extents.holds(&(15..21)));
        assert_eq!(extents.take_next(15, 8), Some(Extent { from: 40, to: 48, number: 2 }));
        assert_eq!(extents.earliest(), Some(1));
        assert_eq!(extents.take_next(48, 100).map(|one| one.from), Some(48));
        assert_eq!(extents.take_next(60, 100).map(|one| one.from), Some(10));
        assert!(extents.is_empty() && extents.take_next(0, 1).is_none());
    }
}
