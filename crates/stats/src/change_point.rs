//! Change points in a series of units (boots, RUNs): after which of them the level is another one.
//!
//! A *cut* is a stretch of the series divided at one position: some units before it and some after
//! it, [`LEAST_SIDE`] to [`LONGEST_SIDE`] on each side. All cuts of all series that are looked
//! at together are one family. Two tests have to agree, on logarithms:
//!
//! * Student's t for two means with one spread, at the promised share of errors ÷ the number of
//!   cuts: whatever is picked among them, a change is seen where there is none in at most that
//!   share of all families.
//! * Welch's t, which does not suppose one spread: where the spread has changed, or a few units are
//!   far off, the first alone is wrong too often. At that share ÷ the number of positions, each of
//!   which counts as often as it has cuts, up to [`CUTS_COUNTED`]; with few units its tails
//!   are so long that counting them all would leave nothing to be found soon.
//!
//! A change within the margin is not one. The cut with the smallest probability is marked first,
//! then what is left on both sides of it is looked at again, by cuts of the same family. Cuts
//! that end before the series does find a change that was taken back later, as in P. Fryzlewicz,
//! Ann. Stat. 42 (2014).

use crate::units::{Shift, welch};
use std::ops::Range;

/// Fewer units say nothing of others.
pub const LEAST_SIDE: usize = 3;
/// More units on one side add little, and cuts without end would cost each test its level.
pub const LONGEST_SIDE: usize = 24;
/// Cuts of one position that Welch's test reckons with, at most: they share most of their units.
pub const CUTS_COUNTED: usize = 4;

/// What a series adds to its family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FamilySize {
    /// Cuts in which a change is looked for.
    pub cuts: usize,
    /// The same with no more than [`CUTS_COUNTED`] of one position.
    pub counted: usize,
}

impl FamilySize {
    /// Of a series of `n` units in which a change may lie before the units `positions` alone.
    #[must_use]
    pub fn new(n: usize, positions: &[usize]) -> Self {
        let side = |units: usize| (units.min(LONGEST_SIDE) + 1).saturating_sub(LEAST_SIDE);
        let cuts = |at: &usize| side(*at) * side(n.saturating_sub(*at));
        let all: Vec<usize> = positions.iter().map(cuts).collect();
        let counted = all.iter().map(|own| *own.min(&CUTS_COUNTED)).sum();
        Self { cuts: all.iter().sum(), counted }
    }
}

impl std::iter::Sum for FamilySize {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            cuts: sum.cuts + one.cuts,
            counted: sum.counted + one.counted,
        })
    }
}

/// By what changes are told in all series of a family.
#[derive(Clone, PartialEq, Debug)]
pub struct ChangeRule {
    /// Level of a cut, by Student's t.
    alpha: f64,
    /// Level of a cut, by Welch's t.
    alpha_unequal: f64,
    /// A change up to here, as a difference of logarithms, is none.
    margin: f64,
    /// Values of Student's t that are significant, by degrees of freedom.
    critical: Vec<f64>,
}

impl ChangeRule {
    /// At most a share of `alpha` of all families of this size has a change that is none; a change
    /// up to `margin`, as a difference of logarithms, is none either.
    #[must_use]
    pub fn new(alpha: f64, family: FamilySize, margin: f64) -> Self {
        let each = alpha / family.cuts.max(1) as f64;
        let alpha_unequal = alpha / family.counted.max(1) as f64;
        let critical = (0..2 * LONGEST_SIDE).map(|freedom| critical(freedom, each)).collect();
        Self { alpha: each, alpha_unequal, margin, critical }
    }

    /// Level of the interval of a change, 0 to 1.
    #[must_use]
    pub fn level(&self) -> f64 {
        1.0 - self.alpha
    }
}

/// A change.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChangePoint {
    /// Index of the first unit after it.
    pub at: usize,
    /// Units of its cut before it.
    pub before: usize,
    /// Units of its cut after it.
    pub after: usize,
    /// Mean after minus mean before, over its cut.
    pub point: f64,
    /// Interval of that at the level of the rule; where Welch's reaches further, its end.
    pub low: f64,
    pub high: f64,
    /// Probability of a difference so large in this cut, where there is none.
    pub p: f64,
}

/// The changes in a series of logarithms, in order; `positions` are the units before which one may
/// lie, ascending, and no spread of a unit is believed that is smaller than `floor`. None where a
/// number is not finite.
#[must_use]
pub fn change_points(
    logs: &[f64],
    positions: &[usize],
    rule: &ChangeRule,
    floor: f64,
) -> Vec<ChangePoint> {
    let Some(series) = Series::new(logs, rule, floor) else { return Vec::new() };
    let mut found = Vec::new();
    let mut open: Vec<_> = std::iter::once(0..logs.len()).collect();
    while let Some(stretch) = open.pop() {
        if let Some(change) = series.best(&stretch, positions) {
            open.extend([stretch.start..change.at, change.at..stretch.end]);
            found.push(change);
        }
    }
    found.sort_by_key(|change| change.at);
    found
}

/// How large a difference of means halfway through this series would have to be found, by the
/// spread that it has around one mean: about that. `None` for fewer units than two sides have.
#[must_use]
pub fn least_change(logs: &[f64], rule: &ChangeRule, floor: f64) -> Option<f64> {
    let series = Series::new(logs, rule, floor)?;
    let n = logs.len();
    let (before, after) = ((n / 2).min(LONGEST_SIDE), (n - n / 2).min(LONGEST_SIDE));
    if before < LEAST_SIDE {
        return None;
    }
    let squares = series.squares[n] - series.sums[n] * series.sums[n] / n as f64;
    let deviation = (squares.max(0.0) / (n as f64 - 1.0)).sqrt().max(floor);
    let error = deviation * (1.0 / before as f64 + 1.0 / after as f64).sqrt();
    let needed = rule.critical.get(before + after - 2)? * error;
    needed.is_finite().then_some(needed.max(rule.margin))
}

/// A series with running sums around its mean.
struct Series<'a> {
    logs: &'a [f64],
    rule: &'a ChangeRule,
    floor: f64,
    /// Of the first so many.
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl<'a> Series<'a> {
    fn new(logs: &'a [f64], rule: &'a ChangeRule, floor: f64) -> Option<Self> {
        if logs.is_empty() || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        let middle = logs.iter().sum::<f64>() / logs.len() as f64;
        let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
        let (mut sum, mut square) = (0.0, 0.0);
        for log in logs {
            sum += log - middle;
            square += (log - middle).powi(2);
            sums.push(sum);
            squares.push(square);
        }
        Some(Self { logs, rule, floor, sums, squares })
    }

    /// The cut within `stretch` that tells of a change with the smallest probability; of equal
    /// ones that with more units.
    fn best(&self, stretch: &Range<usize>, positions: &[usize]) -> Option<ChangePoint> {
        let mut best: Option<ChangePoint> = None;
        let inside = |at: &&usize| stretch.start < **at && **at < stretch.end;
        for &at in positions.iter().filter(inside) {
            for before in LEAST_SIDE..=(at - stretch.start).min(LONGEST_SIDE) {
                for after in LEAST_SIDE..=(stretch.end - at).min(LONGEST_SIDE) {
                    let Some(one) = self.test(at, before, after) else { continue };
                    let units = |change: &ChangePoint| change.before + change.after;
                    let is_better = best.is_none_or(|known| {
                        one.p < known.p || (one.p <= known.p && units(&one) > units(&known))
                    });
                    if is_better {
                        best = Some(one);
                    }
                }
            }
        }
        best
    }

    /// The change in a cut; `None` where it is not shown or within the margin.
    fn test(&self, at: usize, before: usize, after: usize) -> Option<ChangePoint> {
        let shift = self.shift(at, before, after);
        let critical = self.rule.critical.get(before + after - 2)?;
        let half = critical * shift.standard_error;
        if shift.point.abs() <= self.rule.margin || shift.point.abs() <= half {
            return None;
        }
        let (earlier, later) = (&self.logs[at - before..at], &self.logs[at..at + after]);
        let without_one_spread = welch(later, earlier)?.at_least(self.least_error(before, after));
        if without_one_spread.p_difference() > self.rule.alpha_unequal {
            return None;
        }
        let wider = without_one_spread.interval(self.rule.alpha_unequal)?;
        Some(ChangePoint {
            at,
            before,
            after,
            point: shift.point,
            low: (shift.point - half).min(wider.low),
            high: (shift.point + half).max(wider.high),
            p: shift.p_difference(),
        })
    }

    /// Mean after minus mean before, with one spread for both.
    fn shift(&self, at: usize, before: usize, after: usize) -> Shift {
        let (from, to) = (at - before, at + after);
        let (one, other) = (before as f64, after as f64);
        let earlier = self.sums[at] - self.sums[from];
        let later = self.sums[to] - self.sums[at];
        let squares = self.squares[to] - self.squares[from];
        let within = squares - earlier * earlier / one - later * later / other;
        let freedom = one + other - 2.0;
        let variance = within.max(0.0) / freedom;
        let standard_error = (variance * (1.0 / one + 1.0 / other)).sqrt();
        let shift = Shift { point: later / other - earlier / one, standard_error, freedom };
        shift.at_least(self.least_error(before, after))
    }

    fn least_error(&self, before: usize, after: usize) -> f64 {
        self.floor * (1.0 / before as f64 + 1.0 / after as f64).sqrt()
    }
}

/// The t that is exceeded on either side with probability `alpha`; infinite without freedom.
///
/// By halving, since quantiles so far out are not what inverse functions are good at.
fn critical(freedom: usize, alpha: f64) -> f64 {
    let p =
        |t: f64| Shift { point: t, standard_error: 1.0, freedom: freedom as f64 }.p_difference();
    if freedom == 0 || alpha.is_nan() || alpha <= 0.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while p(high) > alpha {
        (low, high) = (high, 2.0 * high);
        if high > 1e15 {
            return f64::INFINITY;
        }
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if p(middle) > alpha { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: f64 = 1e-6;

    fn rule(margin: f64) -> ChangeRule {
        ChangeRule::new(0.05, FamilySize { cuts: 50, counted: 20 }, margin)
    }

    fn all(n: usize) -> Vec<usize> {
        (1..n).collect()
    }

    fn size(n: usize, positions: &[usize]) -> (usize, usize) {
        let size = FamilySize::new(n, positions);
        (size.cuts, size.counted)
    }

    /// Levels with a small deviation that has no mean.
    fn series(levels: &[(usize, f64)]) -> Vec<f64> {
        let one = |&(n, level): &(usize, f64)| {
            (0..n).map(move |at| level + [0.01, -0.01, 0.0, 0.005, -0.005][at % 5])
        };
        levels.iter().flat_map(one).collect()
    }

    fn places(logs: &[f64]) -> Vec<usize> {
        let found = change_points(logs, &all(logs.len()), &rule(0.05), FLOOR);
        found.iter().map(|change| change.at).collect()
    }

    #[test]
    fn cuts_are_counted() {
        let of = |n: usize| size(n, &all(n));
        assert_eq!([5, 6, 7, 8].map(of), [(0, 0), (1, 1), (4, 4), (10, 10)]);
        assert_eq!(of(12), (84, 28));
        assert_eq!(size(12, &[6]), (16, 4));
        assert_eq!(size(200, &[100, 199]), (22 * 22, 4));
        assert_eq!(size(6, &[9]), (0, 0));
        let both: FamilySize = [7, 12].map(|n| FamilySize::new(n, &all(n))).into_iter().sum();
        assert_eq!((both.cuts, both.counted), (88, 32));
    }

    #[test]
    fn a_change_is_where_it_is() {
        assert_eq!(places(&series(&[(6, 0.0), (6, 0.26)])), [6]);
        assert_eq!(places(&series(&[(12, 0.0)])), [0; 0]);
        let logs = series(&[(6, 0.0), (6, 0.26)]);
        let change = change_points(&logs, &all(12), &rule(0.05), FLOOR)[0];
        assert_eq!((change.before, change.after), (6, 6));
        assert!(change.low < 0.26 && change.low > 0.2 && change.high > 0.26, "{change:?}");
        assert!(change.p < 1e-6, "{change:?}");
    }

    /// The mean of all that comes after is near that before: only a stretch shows it.
    #[test]
    fn what_was_taken_back_is_two_changes() {
        assert_eq!(places(&series(&[(10, 0.0), (5, 0.3), (10, 0.0)])), [10, 15]);
    }

    #[test]
    fn a_change_within_the_margin_is_none() {
        let logs = series(&[(12, 0.0), (12, 0.04)]);
        assert_eq!(places(&logs), [0; 0]);
        assert_eq!(change_points(&logs, &all(24), &rule(0.01), FLOOR).len(), 1);
    }

    #[test]
    fn two_units_on_a_side_are_too_few_and_other_positions_are_not_looked_at() {
        assert_eq!(places(&series(&[(20, 0.0), (2, 0.5)])), [0; 0]);
        let logs = series(&[(6, 0.0), (6, 0.26)]);
        let strict = ChangeRule::new(1e-6, FamilySize { cuts: 1, counted: 1 }, 0.05);
        assert_eq!(change_points(&logs, &[5, 7], &strict, FLOOR), []);
        assert_eq!(change_points(&logs, &[6], &strict, FLOOR).len(), 1);
        assert_eq!(change_points(&logs, &[], &strict, FLOOR), []);
    }

    /// One spread for both says that three far from the rest are no chance; their own says that
    /// they do not agree among themselves.
    #[test]
    fn a_few_that_are_far_off_are_no_change() {
        let mut logs = series(&[(20, 0.0)]);
        logs.extend([0.05, 0.3, 0.2]);
        let one_spread = units_shift(&logs, 20);
        assert!(one_spread.p_difference() < 0.001, "{one_spread:?}");
        assert_eq!(places(&logs), [0; 0]);
    }

    fn units_shift(logs: &[f64], at: usize) -> Shift {
        let rule = rule(0.0);
        Series::new(logs, &rule, FLOOR).unwrap().shift(at, at, logs.len() - at)
    }

    #[test]
    fn equal_numbers_and_what_is_no_number_are_no_panic() {
        assert_eq!(places(&[1.0; 12]), [0; 0]);
        let steps = [[0.0; 6], [1.0; 6]].concat();
        assert_eq!(places(&steps), [6]);
        assert_eq!(places(&[f64::NAN; 12]), [0; 0]);
        assert_eq!(places(&[]), [0; 0]);
    }

    #[test]
    fn the_least_change_that_is_found_goes_with_the_spread() {
        let rule = rule(0.0);
        let (quiet, noisy) = (series(&[(12, 0.0)]), series(&[(6, 0.0), (6, 0.02)]));
        let least = |logs: &[f64], rule: &ChangeRule| least_change(logs, rule, FLOOR);
        let (little, more) = (least(&quiet, &rule), least(&noisy, &rule));
        assert!(little.unwrap() > 0.01 && little < more, "{little:?} {more:?}");
        let wide = super::tests::rule(0.05);
        assert_eq!(least(&quiet, &wide), Some(0.05));
        assert_eq!(least(&[0.0; 5], &wide), None);
    }

    #[test]
    fn critical_values_are_those_of_tables() {
        for (freedom, alpha, wanted) in
            [(4, 0.05, 2.776_445), (10, 0.001, 4.586_894), (1, 0.05, 12.706_205)]
        {
            assert!((critical(freedom, alpha) - wanted).abs() < 1e-5, "{freedom} {alpha}");
        }
        assert!(critical(0, 0.05).is_infinite());
    }
}
