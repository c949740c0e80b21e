//! Sets of sectors and of bytes as sorted stretches.

use fsarena_model::account::Range;
use std::collections::BTreeMap;
use std::ops::Bound;

/// From the first to before the second.
pub(crate) type Stretch = (u64, u64);

/// A fixed set: disjoint stretches in order.
#[derive(Debug, Default)]
pub(crate) struct Set(Vec<Stretch>);

impl Set {
    /// From stretches in any order, which may overlap or be empty.
    pub(crate) fn new(mut stretches: Vec<Stretch>) -> Self {
        stretches.retain(|(start, end)| start < end);
        stretches.sort_unstable();
        let mut joined: Vec<Stretch> = Vec::with_capacity(stretches.len());
        for (start, end) in stretches {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        Self(joined)
    }

    /// From ranges of a device, likewise.
    pub(crate) fn from_ranges(ranges: &[Range]) -> Self {
        Self::new(ranges.iter().map(|range| (range.start_bytes, range.end_bytes())).collect())
    }

    /// Splits `within` into what lies in the set, which is put into `inside`, and the rest, which
    /// is put into `outside`.
    pub(crate) fn split(
        &self,
        within: Stretch,
        inside: &mut Vec<Stretch>,
        outside: &mut Vec<Stretch>,
    ) {
        let (mut at, end) = within;
        let first = self.0.partition_point(|(_, end)| *end <= at);
        for (from, to) in self.0[first..].iter().copied().take_while(|(from, _)| *from < end) {
            if at < from {
                outside.push((at, from));
            }
            let to = to.min(end);
            inside.push((at.max(from), to));
            at = to;
        }
        if at < end {
            outside.push((at, end));
        }
    }
}

/// A growing set, for the question what is new in it.
#[derive(Debug, Default)]
pub(crate) struct Seen(BTreeMap<u64, u64>);

impl Seen {
    /// Adds a stretch; what of it was not there before is put into `fresh`, which is emptied first.
    pub(crate) fn add(&mut self, (start, end): Stretch, fresh: &mut Vec<Stretch>) {
        fresh.clear();
        if start >= end {
            return;
        }
        match self.0.range_mut(..=end).next_back() {
            Some((before, last)) if *before <= start && *last >= start => {
                if *last < end {
                    fresh.push((*last, end));
                    *last = end;
                }
            }
            Some((_, last)) if *last >= start => self.join((start, end), fresh),
            _ => {
                fresh.push((start, end));
                self.0.insert(start, end);
            }
        }
    }

    /// Adds a stretch that reaches others behind its start.
    fn join(&mut self, (start, end): Stretch, fresh: &mut Vec<Stretch>) {
        let (mut from, mut to, mut at) = (start, end, start);
        if let Some((before, last)) = self.0.range(..=start).next_back()
            && *last >= start
        {
            (from, at) = (*before, *last);
        }
        let later = (Bound::Excluded(start), Bound::Included(end));
        while let Some((next, last)) = self.0.range(later).next().map(|(a, b)| (*a, *b)) {
            if at < next {
                fresh.push((at, next));
            }
            at = at.max(last);
            to = to.max(last);
            self.0.remove(&next);
        }
        if at < end {
            fresh.push((at, end));
        }
        self.0.insert(from, to);
    }
}

/// How many numbers the stretch shares with those of the list, which are disjoint and in order.
pub(crate) fn shared(stretch: Stretch, with: &[Stretch]) -> u64 {
    let near = &with[with.partition_point(|(_, end)| *end <= stretch.0)..];
    let common = |other: &Stretch| stretch.1.min(other.1).saturating_sub(stretch.0.max(other.0));
    near.iter().take_while(|(start, _)| *start < stretch.1).map(common).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn members(stretches: &[Stretch]) -> Vec<u64> {
        let mut all: Vec<u64> = stretches.iter().flat_map(|(a, b)| *a..*b).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        #[test]
        fn a_set_splits_as_its_members_do(
            stretches in prop::collection::vec((0u64..60, 0u64..60), 0..12),
            within in (0u64..60, 0u64..60),
        ) {
            let all: Vec<u64> = members(&stretches);
            let (mut inside, mut outside) = (Vec::new(), Vec::new());
            Set::new(stretches).split(within, &mut inside, &mut outside);
            let expected = |member: bool| -> Vec<u64> {
                (within.0..within.1).filter(|n| all.contains(n) == member).collect()
            };
            prop_assert_eq!(members(&inside), expected(true));
            prop_assert_eq!(members(&outside), expected(false));
        }

        #[test]
        fn what_is_fresh_was_not_there(
            added in prop::collection::vec((0u64..80, 0u64..30), 0..40),
        ) {
            let (mut seen, mut fresh) = (Seen::default(), Vec::new());
            let mut there = std::collections::BTreeSet::new();
            for (start, length) in added {
                seen.add((start, start + length), &mut fresh);
                let expected: Vec<u64> =
                    (start..start + length).filter(|n| there.insert(*n)).collect();
                prop_assert_eq!(members(&fresh), expected);
                let kept: Vec<Stretch> = seen.0.iter().map(|(a, b)| (*a, *b)).collect();
                prop_assert_eq!(members(&kept), there.iter().copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_end_of_all_numbers_is_no_trouble() {
        let (mut seen, mut fresh) = (Seen::default(), Vec::new());
        seen.add((5, u64::MAX), &mut fresh);
        seen.add((0, u64::MAX), &mut fresh);
        assert_eq!(fresh, [(0, 5)]);
        let range = Range { start_bytes: u64::MAX - 1, length_bytes: 9 };
        let (mut inside, mut outside) = (Vec::new(), Vec::new());
        Set::from_ranges(&[range]).split((0, u64::MAX), &mut inside, &mut outside);
        assert_eq!((inside, outside), (vec![(u64::MAX - 1, u64::MAX)], vec![(0, u64::MAX - 1)]));
        assert_eq!(shared((0, 10), &[(2, 4), (9, 20)]), 3);
    }
}
