//! When a comparison is looked at, and what each look may spend.
//!
//! Repeated looks at 5 % each are wrong far more often than 5 % of the time. Here the looks are
//! few, fixed before block 1, and each has a level of its own, so that all of them together are
//! wrong at most 5 % of the time. The intervals at those levels are repeated confidence intervals:
//! C. Jennison and B. Turnbull, "Interim analyses: the repeated confidence interval approach", J.
//! R. Stat. Soc. B 51 (1989). All of them together hold with 95 %, so the last one may be printed
//! wherever one stops.
//!
//! Where a budget ends the RUN before its cap, nothing is left to save for: the last look spends
//! what the ones before it have not (K. Lan and D. DeMets, "Discrete sequential boundaries for
//! clinical trials", Biometrika 70 (1983)). That a RUN ends there must not depend on what was
//! found; the time that trials take says next to nothing of which contender is better.

use crate::levels::{self, PAIRS};

/// The most blocks that a sequential RUN may be planned with.
pub const CAPS: [u32; 8] = [8, 12, 16, 24, 32, 48, 64, 96];

/// The fewest blocks at which anything is decided in sequence. Three would save little, and two
/// states of a machine (fast or slow, nothing between) give three equal differences too often.
pub const FIRST_LOOK: u32 = 4;

/// Blocks after which is looked, for the largest cap; a smaller one has a beginning of it.
const LOOKS: [u32; 10] = [FIRST_LOOK, 6, 8, 12, 16, 24, 32, 48, 64, 96];

/// The looks of a RUN of at most so many blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looks {
    at: &'static [u32],
    cap: u32,
    /// Place of the cap among [`CAPS`].
    row: usize,
}

impl Looks {
    /// The looks for one of [`CAPS`]; `None` for any other number, which has no level.
    #[must_use]
    pub fn with_cap(cap: u32) -> Option<Self> {
        let index = CAPS.iter().position(|&known| known == cap)?;
        let end = LOOKS.iter().position(|&look| look == cap)? + 1;
        Some(Self { at: &LOOKS[..end], cap, row: index })
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
    /// Above the cap as at the cap. 0, which no interval has, before the first look: on a machine
    /// of two speeds, two blocks are equal and wrong in one RUN of eight.
    #[must_use]
    pub fn alpha(&self, blocks: u32) -> f64 {
        self.level_at(blocks).among(1)
    }

    /// The level of a look that is due after so many blocks.
    #[must_use]
    pub fn level_at(&self, blocks: u32) -> Level {
        Level::Look { looks: *self, blocks: blocks.min(self.cap) }
    }

    /// The level of the last look of all, where a budget ends the RUN after so many blocks: what
    /// the looks before have left of the 4.5 %.
    #[must_use]
    pub fn level_at_end(&self, blocks: u32) -> Level {
        Level::End { looks: *self, blocks: blocks.min(self.cap) }
    }
}

/// The share of misses of a look, for however many pairs it is shared among.
///
/// Of one look alone that is its share divided by their number. Of a sequence it is not: the
/// smaller the share, the less often one RUN is wrong at several looks, so that the levels of the
/// looks are set anew for each number of pairs (Y. Ye et al., see [`family`](crate::family)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// One look alone.
    Once(f64),
    /// One of several, after so many blocks.
    Look { looks: Looks, blocks: u32 },
    /// The last one, where a budget ends a sequence after so many blocks.
    End { looks: Looks, blocks: u32 },
}

impl From<f64> for Level {
    fn from(alpha: f64) -> Self {
        Self::Once(alpha)
    }
}

impl Level {
    /// The share of each of so many pairs.
    #[must_use]
    pub fn among(&self, pairs: usize) -> f64 {
        let pairs = pairs.max(1) as f64;
        match *self {
            Self::Once(alpha) => alpha / pairs,
            Self::Look { blocks, .. } | Self::End { blocks, .. } if blocks < FIRST_LOOK => 0.0,
            Self::Look { looks, blocks } => looks.at_look(blocks, pairs),
            Self::End { looks, blocks } => looks.at_end(blocks, pairs),
        }
    }
}

impl Looks {
    fn at_look(&self, blocks: u32, pairs: f64) -> f64 {
        let share = (f64::from(blocks) / f64::from(self.cap)).sqrt();
        let last = interpolated(&levels::LAST[self.row], pairs);
        last.unwrap_or_else(|| self.disjoint_last()) * share / pairs
    }

    fn at_end(&self, blocks: u32, pairs: f64) -> f64 {
        let row = levels::end(self.row, (blocks - FIRST_LOOK) as usize);
        let beyond = || self.disjoint_end(blocks).min(row[PAIRS.len() - 1]);
        interpolated(row, pairs).unwrap_or_else(beyond) / pairs
    }

    /// The level of the last look, times pairs, if no RUN were ever wrong at two looks: what it
    /// comes to with more and more pairs.
    fn disjoint_last(&self) -> f64 {
        levels::SHARE / self.at.iter().map(|&look| self.root(look)).sum::<f64>()
    }

    /// The same where a budget ends it.
    fn disjoint_end(&self, blocks: u32) -> f64 {
        let before = self.at.iter().filter(|&&look| look < blocks);
        levels::SHARE - self.disjoint_last() * before.map(|&look| self.root(look)).sum::<f64>()
    }

    fn root(&self, blocks: u32) -> f64 {
        (f64::from(blocks) / f64::from(self.cap)).sqrt()
    }
}

/// Between two columns of a table, by the logarithm of the number of pairs; `None` beyond the last.
fn interpolated(row: &[f64; PAIRS.len()], pairs: f64) -> Option<f64> {
    let after = PAIRS.iter().position(|&known| pairs <= known)?;
    let Some(before) = after.checked_sub(1) else { return Some(row[0]) };
    let place = (pairs / PAIRS[before]).ln() / (PAIRS[after] / PAIRS[before]).ln();
    Some(row[before] + place * (row[after] - row[before]))
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
        let wanted = [0.005_286, 0.006_474, 0.007_475, 0.009_155, 0.010_571, 0.012_947, 0.014_95];
        for (&look, wanted) in looks.at().iter().zip(wanted) {
            assert!((looks.alpha(look) - wanted).abs() < 1e-6, "{look}: {}", looks.alpha(look));
        }
        assert_eq!([0, 1, 2, 3].map(|blocks| looks.alpha(blocks)), [0.0; 4]);
        assert_eq!(looks.alpha(40), looks.alpha(32));
    }

    /// What a simulation of its own gave for a cap of 32, with an error of some percent.
    #[test]
    fn a_budget_s_end_spends_what_is_left() {
        let looks = Looks::with_cap(32).unwrap();
        let wanted = [
            (5, 0.0420),
            (6, 0.0423),
            (8, 0.0387),
            (10, 0.0366),
            (14, 0.0309),
            (20, 0.0253),
            (32, 0.0149),
        ];
        for (blocks, wanted) in wanted {
            let found = looks.level_at_end(blocks).among(1);
            assert!((found / wanted - 1.0).abs() < 0.035, "{blocks}: {found}, not {wanted}");
        }
        assert!(
            (looks.level_at_end(4).among(1) - levels::SHARE).abs() < 1e-4,
            "nothing was spent before"
        );
        assert_eq!(looks.level_at_end(3).among(1), 0.0);
        assert_eq!(looks.level_at_end(40), looks.level_at_end(32));
    }

    /// The procedure of Holm needs it: more pairs never leave more for each, and no end leaves less
    /// than the look that would have been due there.
    #[test]
    fn levels_fall_with_the_number_of_pairs() {
        for cap in CAPS {
            let looks = Looks::with_cap(cap).unwrap();
            for blocks in FIRST_LOOK..=cap {
                for level in [looks.level_at(blocks), looks.level_at_end(blocks)] {
                    let shares = (1..600).map(|pairs| level.among(pairs)).collect::<Vec<_>>();
                    assert!(shares.is_sorted_by(|one, other| one > other), "{level:?}");
                    assert!(shares.iter().all(|share| *share > 0.0), "{level:?}");
                }
                for pairs in [1, 4, 10, 66, 256, 500] {
                    let (look, end) = (
                        looks.level_at(blocks).among(pairs),
                        looks.level_at_end(blocks).among(pairs),
                    );
                    assert!(
                        end >= 0.98 * look,
                        "cap {cap}, {blocks} blocks, {pairs}: {look} {end}"
                    );
                }
            }
        }
    }

    /// The last level is never below what it would be if looks had no errors in common, nor is any
    /// above what one look alone might have.
    #[test]
    fn levels_are_within_their_bounds() {
        for cap in CAPS {
            let looks = Looks::with_cap(cap).unwrap();
            for pairs in [1, 2, 15, 66, 256] {
                let last = looks.level_at(cap).among(pairs) * pairs as f64;
                assert!(last >= 0.98 * looks.disjoint_last() && last <= levels::SHARE, "{last}");
                for blocks in FIRST_LOOK..=cap {
                    let end = looks.level_at_end(blocks).among(pairs) * pairs as f64;
                    assert!(end <= levels::SHARE * 1.002, "{cap} {blocks}: {end}");
                }
            }
        }
        assert_eq!(Level::from(0.05).among(10), 0.005);
    }
}
