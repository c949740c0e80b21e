//! Where on the disk the entries of a log are: which of them touch a block.

use super::entry::{Entry, EntryKind};
use std::collections::HashMap;
use std::ops::Range;

/// Unit of the index, in sectors.
pub(crate) const BLOCK_SECTORS: u64 = 8;
/// An entry of more blocks is in no list of a block: one discard may be of a whole disk.
const LISTED_MOST: u64 = 4096;

/// Which entries touch a block.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By block, ascending.
    entries: HashMap<u64, Vec<u32>>,
    /// Those of very many blocks, ascending: number and blocks.
    large: Vec<(u32, Range<u64>)>,
}

impl Index {
    pub(super) fn new(all: &[Entry]) -> Self {
        let mut index = Self::default();
        for (number, entry) in (0..).zip(all) {
            if !entry.kind.is_write() && entry.kind != EntryKind::Discard {
                continue;
            }
            let end = (entry.sector + entry.sectors).div_ceil(BLOCK_SECTORS);
            let blocks = entry.sector / BLOCK_SECTORS..end;
            if blocks.end - blocks.start > LISTED_MOST {
                index.large.push((number, blocks));
                continue;
            }
            for block in blocks {
                index.entries.entry(block).or_default().push(number);
            }
        }
        index
    }

    /// So many blocks are touched at most, but for discards of very many.
    pub(super) fn blocks(&self, all: &[Entry]) -> u64 {
        let is_write = |number: u32| all.get(number as usize).is_some_and(|it| it.kind.is_write());
        let large = self.large.iter().filter(|(number, _)| is_write(*number));
        self.entries.len() as u64 + large.map(|(_, blocks)| blocks.end - blocks.start).sum::<u64>()
    }

    /// Numbers of entries that touch a block, the latest first.
    pub(super) fn touching(&self, block: u64) -> impl Iterator<Item = u32> {
        let mut listed = self.entries.get(&block).map_or(&[][..], Vec::as_slice).iter().rev();
        let large = self.large.iter().rev().filter(move |(_, blocks)| blocks.contains(&block));
        let mut large = large.map(|(number, _)| *number).peekable();
        let mut next_listed = listed.next().copied();
        std::iter::from_fn(move || match (next_listed, large.peek().copied()) {
            (Some(one), other) if other.is_none_or(|other| one > other) => {
                next_listed = listed.next().copied();
                Some(one)
            }
            _ => large.next(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: EntryKind, sector: u64, sectors: u64) -> Entry {
        let (submitted_ns, completed_ns, epoch, data_at) = (0, 0, 0, 0);
        Entry { kind, sector, sectors, submitted_ns, completed_ns, epoch, data_at }
    }

    #[test]
    fn entries_of_a_block_come_the_latest_first_and_large_ones_among_them() {
        let large = (LISTED_MOST + 1) * BLOCK_SECTORS;
        let all = [
            entry(EntryKind::Write, 4, 8),
            entry(EntryKind::Discard, 0, large),
            entry(EntryKind::Write, 8, 1),
            entry(EntryKind::Flush, 0, 0),
            entry(EntryKind::Discard, 8, large),
            entry(EntryKind::WriteTorn, 15, 1),
        ];
        let index = Index::new(&all);
        let touching = |block| index.touching(block).collect::<Vec<u32>>();
        assert_eq!(touching(0), [1, 0]);
        assert_eq!(touching(1), [5, 4, 2, 1, 0]);
        assert_eq!(touching(2), [4, 1]);
        assert_eq!(touching(LISTED_MOST + 1), [4]);
        assert_eq!(touching(LISTED_MOST + 2), []);
        assert_eq!(index.blocks(&all), 2, "what is discarded takes no room");
        let all = [entry(EntryKind::Write, 0, large), entry(EntryKind::Write, 8, 8)];
        assert_eq!(Index::new(&all).blocks(&all), LISTED_MOST + 2);
    }
}
