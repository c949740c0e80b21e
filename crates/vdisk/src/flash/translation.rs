//! The flash translation layer: the map from logical to physical units, open blocks, and greedy
//! garbage collection. It counts what it copies and erases; times are not its business.
//!
//! A block here is an erase block of every die side by side, written in the order of its units.

/// No unit.
const NONE: u32 = u32::MAX;
/// Blocks at least, so that garbage collection has a choice on a small device too.
const BLOCKS_LEAST: u64 = 128;
/// Free blocks below which garbage is collected.
const FREE_LEAST: usize = 2;

/// Sizes of a translation layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sizes {
    /// Units that the host sees.
    pub(super) logical: u64,
    /// Units that there are.
    pub(super) physical: u64,
    /// Units of a block that the sheet asks for.
    pub(super) block: u64,
    /// A block is a multiple of this.
    pub(super) program: u64,
}

/// What garbage collection did for one write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Collected {
    pub(super) copied_units: u64,
    pub(super) erased_blocks: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Translation {
    /// Physical unit of each logical one, and the other way round.
    map: Vec<u32>,
    owner: Vec<u32>,
    /// Valid units of each block.
    valid: Vec<u32>,
    is_closed: Vec<bool>,
    free: Vec<u32>,
    block_units: u32,
    /// Where the host's writes go, and where copies go.
    host: Frontier,
    copies: Frontier,
}

/// An open block, and the next unit in it.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    block: u32,
    next: u32,
}

impl Translation {
    pub(super) fn new(sizes: Sizes) -> Self {
        let smaller = sizes.physical / BLOCKS_LEAST / sizes.program * sizes.program;
        let block = sizes.block.min(smaller).max(sizes.program);
        // Beyond the host's units there are always the open blocks and some free ones.
        let blocks = (sizes.physical / block).max(sizes.logical.div_ceil(block) + 4);
        let count = |units: u64| usize::try_from(units).expect("a size that fits into memory");
        let number = |units: u64| u32::try_from(units).expect("units are counted in 32 bits");
        let mut free: Vec<u32> = (0..number(blocks)).rev().collect();
        let host = Frontier { block: free.pop().expect("there are blocks"), next: 0 };
        let copies = Frontier { block: free.pop().expect("there are blocks"), next: 0 };
        Self {
            map: vec![NONE; count(sizes.logical)],
            owner: vec![NONE; count(blocks * block)],
            valid: vec![0; count(blocks)],
            is_closed: vec![false; count(blocks)],
            free,
            block_units: number(block),
            host,
            copies,
        }
    }

    /// Units of a block.
    pub(super) fn block_units(&self) -> u64 {
        self.block_units.into()
    }

    /// Where a logical unit is; `None` where nothing was written.
    pub(super) fn find(&self, logical: u64) -> Option<u64> {
        let physical = self.map[index(logical)];
        (physical != NONE).then_some(physical.into())
    }

    /// Gives a logical unit a new place, after collecting garbage where that is needed.
    pub(super) fn write(&mut self, logical: u64) -> (u64, Collected) {
        let mut collected = Collected::default();
        if self.host.next == self.block_units {
            while self.free.len() < FREE_LEAST {
                let one = self.collect();
                collected.copied_units += one.copied_units;
                collected.erased_blocks += one.erased_blocks;
            }
            self.host = self.open(self.host);
        }
        self.forget(logical);
        let physical = self.host.block * self.block_units + self.host.next;
        self.host.next += 1;
        self.place(index(logical), physical);
        (physical.into(), collected)
    }

    /// Leaves units of the open block unused, so that its next unit begins a program.
    pub(super) fn pad(&mut self, units: u64) {
        let left = u64::from(self.block_units - self.host.next);
        self.host.next += u32::try_from(units.min(left)).unwrap_or(0);
    }

    /// A logical unit is not needed any more.
    pub(super) fn discard(&mut self, logical: u64) {
        self.forget(logical);
        self.map[index(logical)] = NONE;
    }

    fn forget(&mut self, logical: u64) {
        let before = self.map[index(logical)];
        if before != NONE {
            self.owner[before as usize] = NONE;
            self.valid[(before / self.block_units) as usize] -= 1;
        }
    }

    fn place(&mut self, logical: usize, physical: u32) {
        self.map[logical] = physical;
        self.owner[physical as usize] = u32::try_from(logical).unwrap_or(NONE);
        self.valid[(physical / self.block_units) as usize] += 1;
    }

    /// Closes a full block and opens a free one.
    fn open(&mut self, full: Frontier) -> Frontier {
        self.is_closed[full.block as usize] = true;
        let block = self.free.pop().expect("garbage was collected");
        Frontier { block, next: 0 }
    }

    /// Empties the closed block with the fewest valid units.
    fn collect(&mut self) -> Collected {
        let closed = (0..self.valid.len()).filter(|block| self.is_closed[*block]);
        let victim = closed.min_by_key(|block| self.valid[*block]);
        let victim = victim.expect("more blocks than open ones");
        let mut copied_units = 0;
        let first = victim * self.block_units as usize;
        for physical in first..first + self.block_units as usize {
            let logical = self.owner[physical];
            if logical == NONE {
                continue;
            }
            if self.copies.next == self.block_units {
                self.copies = self.open(self.copies);
            }
            let to = self.copies.block * self.block_units + self.copies.next;
            self.copies.next += 1;
            self.owner[physical] = NONE;
            self.place(logical as usize, to);
            copied_units += 1;
        }
        self.valid[victim] = 0;
        self.is_closed[victim] = false;
        self.free.push(u32::try_from(victim).unwrap_or(0));
        Collected { copied_units, erased_blocks: 1 }
    }
}

/// A logical unit as an index: it was checked against the capacity.
fn index(logical: u64) -> usize {
    usize::try_from(logical).expect("units are counted in 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splitmix::mixed;

    fn sizes(logical: u64, physical: u64) -> Sizes {
        Sizes { logical, physical, block: 64, program: 4 }
    }

    /// Copies for each write, over the second of two passes of random writes.
    fn amplification(physical: u64) -> f64 {
        let logical = 20_000;
        let mut layer = Translation::new(sizes(logical, physical));
        for unit in 0..logical {
            layer.write(unit);
        }
        let mut copied = 0;
        for number in 0..3 * logical {
            let (_, collected) = layer.write(mixed(number) % logical);
            copied += if number < logical { 0 } else { collected.copied_units };
        }
        1.0 + copied as f64 / (2 * logical) as f64
    }

    #[test]
    fn every_unit_is_found_where_it_was_written_last() {
        let mut layer = Translation::new(sizes(5000, 5600));
        let mut last = vec![None; 5000];
        for number in 0..40_000 {
            let unit = mixed(number) % 5000;
            if number % 17 == 0 {
                layer.discard(unit);
                last[unit as usize] = None;
            } else {
                layer.write(unit);
                last[unit as usize] = Some(number);
            }
        }
        let mut places: Vec<u64> = (0..5000).filter_map(|unit| layer.find(unit)).collect();
        let written = last.iter().filter(|number| number.is_some()).count();
        assert_eq!(places.len(), written);
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), written, "no two units are in one place");
        let valid: u32 = layer.valid.iter().sum();
        assert_eq!(valid as usize, written);
    }

    #[test]
    fn sequential_writes_copy_nothing_and_random_ones_less_with_more_room() {
        let mut layer = Translation::new(sizes(20_000, 22_000));
        let copied: u64 = (0..100_000).map(|n| layer.write(n % 20_000).1.copied_units).sum();
        assert_eq!(copied, 0);
        let (tight, roomy) = (amplification(21_500), amplification(26_000));
        assert!(tight > 3.0 && tight < 12.0, "{tight}");
        assert!(roomy > 1.2 && roomy < 3.0, "{roomy}");
    }
}
