//! When a comparison is looked at, and what each look may spend.
//!
//! Repeated looks at 5 % each are wrong far more often than 5 % of the time. Here the looks are
//! few, fixed before block 1, and each has a level of its own, so that all of them together are
//! wrong at most 5 % of the time. The intervals at those levels are repeated confidence intervals:
//! C. Jennison and B. Turnbull, "Interim analyses: the repeated confidence interval approach", J.
//! R. Stat. Soc. B 51 (1989). All of them together hold with 95 %, so the last one may be printed
//! wherever one stops.

/// The most blocks that a sequential RUN may be planned with.
pub const CAPS: [u32; 8] = [8, 12, 16, 24, 32, 48, 64, 96];

/// The fewest blocks at which anything is decided in sequence. Three would save little, and two
/// states of a machine (fast or slow, nothing between) give three equal differences too often.
pub const FIRST_LOOK: u32 = 4;

/// Blocks after which is looked, for the largest cap; a smaller one has a beginning of it.
const LOOKS: [u32; 10] = [FIRST_LOOK, 6, 8, 12, 16, 24, 32, 48, 64, 96];

/// The level of the last look, for each of [`CAPS`]: such that t intervals of normal differences
/// leave the true value out at one look or more in 4.5 % of all RUNs (360,000 paths each). The half
/// point below 5 % is for noise that is not normal.
const LAST_LEVEL: [f64; 8] = [0.0228, 0.0193, 0.0172, 0.0161, 0.0149, 0.0144, 0.0138, 0.0135];

/// The looks of a RUN of at most so many blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looks {
    at: &'static [u32],
    cap: u32,
    last_level: f64,
}

impl Looks {
    /// The looks for one of [`CAPS`]; `None` for any other number, which has no level.
    #[must_use]
    pub fn with_cap(cap: u32) -> Option<Self> {
        let index = CAPS.iter().position(|&known| known == cap)?;
        let end = LOOKS.iter().position(|&look| look == cap)? + 1;
        Some(Self { at: &LOOKS[..end], cap, last_level: LAST_LEVEL[index] })
    }

    /// Most blocks.
    #[must_use]
    pub fn cap(&self) -> u32 {
        self.cap
    }

    /// Blocks after which is looked, ascending; the last is the cap.
    #[must_use]
    pub fn at(&self) -> &'static [u32] {
        self.at
    }

    /// Whether a look is due after so many blocks.
    #[must_use]
    pub fn is_look(&self, blocks: u32) -> bool {
        self.at.contains(&blocks)
    }

    /// The first look after more than so many blocks.
    #[must_use]
    pub fn next_after(&self, blocks: u32) -> Option<u32> {
        self.at.iter().copied().find(|&look| look > blocks)
    }

    /// The share of misses that a two-sided interval after so many blocks may have: c · √(n ÷ N).
    ///
    /// Also for a number that is no look, where a budget ended the RUN; above the cap as at the
    /// cap. 0, which no interval has, before the first look: on a machine of two speeds, two blocks
    /// are equal and wrong in one RUN of eight.
    #[must_use]
    pub fn alpha(&self, blocks: u32) -> f64 {
        if blocks < FIRST_LOOK {
            return 0.0;
        }
        self.last_level * (f64::from(blocks.min(self.cap)) / f64::from(self.cap)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_end_with_the_cap() {
        for cap in CAPS {
            let looks = Looks::with_cap(cap).unwrap();
            assert_eq!((looks.cap(), looks.at().last()), (cap, Some(&cap)));
            assert!(looks.is_look(cap) && looks.is_look(4) && !looks.is_look(5));
            assert_eq!(looks.next_after(cap), None);
            assert!(looks.at().is_sorted());
        }
        assert_eq!(Looks::with_cap(32).unwrap().at(), [4, 6, 8, 12, 16, 24, 32]);
        assert_eq!(Looks::with_cap(8).unwrap().at(), [4, 6, 8]);
    }

    #[test]
    fn other_caps_have_no_level() {
        assert!([0, 4, 6, 10, 31, 33, 128].into_iter().all(|cap| Looks::with_cap(cap).is_none()));
    }

    #[test]
    fn the_next_look_is_the_first_beyond() {
        let looks = Looks::with_cap(32).unwrap();
        let next: Vec<_> = [0, 3, 4, 5, 8, 31].map(|blocks| looks.next_after(blocks)).to_vec();
        assert_eq!(next, [4, 4, 6, 6, 12, 32].map(Some));
    }

    /// The levels of the method's table at a cap of 32, by the 4.5 % column.
    #[test]
    fn levels_grow_with_the_root_of_the_blocks() {
        let looks = Looks::with_cap(32).unwrap();
        let wanted = [0.005_268, 0.006_452, 0.007_45, 0.009_124, 0.010_536, 0.012_904, 0.014_9];
        for (&look, wanted) in looks.at().iter().zip(wanted) {
            assert!((looks.alpha(look) - wanted).abs() < 1e-6, "{look}: {}", looks.alpha(look));
        }
        assert_eq!([0, 1, 2, 3].map(|blocks| looks.alpha(blocks)), [0.0; 4]);
        assert_eq!(looks.alpha(40), looks.alpha(32));
        assert!((looks.alpha(27) - 0.0149 * (27.0f64 / 32.0).sqrt()).abs() < 1e-12);
    }
}
