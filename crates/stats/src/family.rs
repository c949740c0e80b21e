//! Many pairs under one question.
//!
//! Of 28 pairs of equal contenders one or two would differ "at 5 %" nearly always. Here all
//! verdicts of a question together are wrong at most 5 % of the time, by Holm's procedure at every
//! look: what is decided leaves the others more room. Y. Ye, A. Li, L. Liu, B. Yao, "A group
//! sequential Holm procedure with multiple primary endpoints", Stat. Med. 32 (2013): a hypothesis
//! once rejected stays so, and those not yet rejected are tested with the boundary that belongs to
//! the total error divided by their number, set anew for each number ([`Level`]).
//!
//! A false FASTER or SLOWER and a false SAME need different truths, so each kind has 5 % of its
//! own. SAME is two one-sided tests: D. Schuirmann, "A comparison of the two one-sided tests
//! procedure and the power approach for assessing the equivalence of average bioavailability", J.
//! Pharmacokinet. Biopharm. 15 (1987); that is, the interval with α in each tail lies within the
//! margin.

use crate::agreement::Agreement;
use crate::interval::Interval;
use crate::paired::{PairSample, Prepared, Quantiles};
use crate::sequential::Level;
use crate::shape::shapes_differ;

/// The pairs of one question, and how many are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family {
    /// Pairs that were asked.
    pub asked: usize,
    /// Of these, those found to differ.
    pub differences: usize,
    /// Of these, those found to be the same.
    pub sames: usize,
}

/// What a look finds of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The first has less: the whole interval is below 0.
    Less,
    /// The first has more: the whole interval is above 0.
    More,
    /// The whole interval is within the margin.
    Same,
}

/// A pair that is not decided yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookInput<'a> {
    pub sample: PairSample<'a>,
    /// Whether SAME may be found; not where the shapes of the two differ.
    pub same_allowed: bool,
    /// What has to agree with the interval before a difference is found, where it alone is not
    /// enough.
    pub agreement: Option<Agreement>,
    /// The interval of a difference has to be farther from 0 than this; not below 0.
    pub least_log: f64,
}

impl<'a> LookInput<'a> {
    /// A pair with all that the rule asks of it: `a` and `b` are the logarithms of the values of
    /// the two contenders in the blocks that have both.
    #[must_use]
    pub fn new(sample: PairSample<'a>, a: &[f64], b: &[f64]) -> Self {
        let differ = shapes_differ(a, b);
        let agreement = Agreement::between(a, b, differ);
        Self { sample, same_allowed: !differ, agreement, least_log: 0.0 }
    }

    /// A pair of which the interval is all that is asked.
    #[must_use]
    pub fn plain(sample: PairSample<'a>) -> Self {
        Self { sample, same_allowed: true, agreement: None, least_log: 0.0 }
    }
}

/// What a look found of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LookResult {
    /// The decision; none yet where absent.
    pub decision: Option<Decision>,
    /// The difference that is shown, also where the decision is that they are the same: one that
    /// is real and within the margin.
    pub difference: Option<Decision>,
    /// Whether the interval shows a difference and mean, typical and median ratio do not agree.
    pub is_refused: bool,
    /// The interval that decides on a difference, at the level at which the pair was decided, or
    /// else at the last one of this look: a repeated confidence interval.
    pub interval: Option<Interval>,
    /// The interval that decides on SAME, with the same share in each tail as
    /// [`interval`](Self::interval) would have in both, but by the count of SAMEs.
    pub same: Option<Interval>,
}

impl Family {
    /// Looks at the pairs that are still undecided, at the look's level; SAME is within
    /// ±`margin_log`. Counts what it decides.
    ///
    /// All are judged at one pair of levels: those of (asked - differences) and (asked - sames)
    /// pairs. What is decided raises the levels for the rest, until nothing more is decided. So the
    /// order of `pairs` does not matter. Gives one [`LookResult`] for each, in their order.
    pub fn analyse(
        &mut self,
        pairs: &[LookInput<'_>],
        level: impl Into<Level>,
        margin_log: f64,
    ) -> Vec<LookResult> {
        let level = level.into();
        let mut prepared: Vec<Option<Prepared>> =
            pairs.iter().map(|pair| pair.sample.prepare()).collect();
        let mut quantiles = Quantiles::default();
        let mut found = vec![LookResult::default(); pairs.len()];
        let mut open: Vec<usize> = (0..pairs.len()).collect();
        loop {
            let for_difference = level.among(self.left(self.differences, open.len()));
            let for_same = 2.0 * level.among(self.left(self.sames, open.len()));
            for &index in &open {
                let Some(sample) = &mut prepared[index] else { continue };
                let interval = sample.interval(for_difference, &mut quantiles);
                let same = sample.interval(for_same, &mut quantiles);
                let pair = &pairs[index];
                let shown = difference(interval, pair.least_log);
                let difference = shown.filter(|shown| pair.agrees(*shown, for_difference));
                let is_same = pair.same_allowed && is_within(same, margin_log);
                found[index] = LookResult {
                    // A difference that is real and within the margin is the same for the user.
                    decision: if is_same { Some(Decision::Same) } else { difference },
                    difference,
                    is_refused: shown.is_some() && difference.is_none(),
                    interval,
                    same,
                };
            }
            let before = open.len();
            open.retain(|&index| match found[index].decision {
                None => true,
                Some(Decision::Same) => {
                    self.sames += 1;
                    false
                }
                Some(Decision::Less | Decision::More) => {
                    self.differences += 1;
                    false
                }
            });
            if open.len() == before {
                return found;
            }
        }
    }

    /// Pairs that a level is shared among: those not yet decided this way, at least all `open`.
    fn left(&self, decided: usize, open: usize) -> usize {
        self.asked.saturating_sub(decided).max(open).max(1)
    }
}

/// What an interval must stay clear of the margin by, as a share of it: an end that touches the
/// margin is not within, whichever way it was rounded.
const CLEAR: f64 = 1e-9;

/// Whether an interval lies within the margin.
fn is_within(same: Option<Interval>, margin_log: f64) -> bool {
    let within = margin_log * (1.0 - CLEAR);
    same.is_some_and(|same| -within < same.low && same.high < within)
}

/// The difference that an interval shows, of those that are larger than `least_log`.
fn difference(interval: Option<Interval>, least_log: f64) -> Option<Decision> {
    let interval = interval?;
    if interval.low > least_log {
        Some(Decision::More)
    } else if interval.high < -least_log {
        Some(Decision::Less)
    } else {
        None
    }
}

impl LookInput<'_> {
    /// Whether all that has to agree with a difference does.
    fn agrees(&self, shown: Decision, alpha: f64) -> bool {
        let sign = if shown == Decision::More { 1.0 } else { -1.0 };
        self.agreement.is_none_or(|agreement| agreement.holds(&self.sample, sign, alpha))
    }
}
