//! What else than the contender moves a value: time, place in the block, the trial before.
//!
//! All models have a mean for each group (the trials of a block that may be compared) and one for
//! each arm (contender); what is tested comes on top of them, by F (D. Montgomery, "Design and
//! Analysis of Experiments", analysis of covariance). What moves all trials of a block alike is in
//! the means of the groups and disturbs nothing.

use crate::Estimate;
use crate::factorial::{ErrorVariance, FTest, f_test};
use crate::interval::{Bounds, Interval};
use crate::span::{Span, dot};
use statrs::distribution::{Beta, ContinuousCDF as _, StudentsT};
use std::collections::BTreeSet;

/// The level at which each of these is said to be there.
pub const TREND_ALPHA: f64 = 0.01;
/// Degrees of freedom that the error needs before anything is tested.
const FREEDOM_MIN: usize = 4;
/// A column adds nothing where less than this share of its squares is new.
const COLLINEAR: f64 = 1e-9;
/// Share of all squares that rounding can leave.
const ROUNDING: f64 = 1e-13;
/// Blocks that an autocorrelation needs.
const LAG_BLOCKS_MIN: usize = 6;

/// A value with its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Values of one group may be compared: those of a block. Numbered from 0 without great gaps.
    pub group: usize,
    /// The contender, from 0.
    pub arm: usize,
    /// When: number of the block.
    pub time: f64,
    /// Place in the block.
    pub position: f64,
    /// The arm of the trial right before; `None` for the first.
    pub previous: Option<usize>,
    /// The value, logarithmic for ratios.
    pub y: f64,
}

/// What a test found.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Test of no such effect.
    pub test: FTest,
    /// Sizes: by arm, or one alone. See the function.
    pub sizes: Vec<f64>,
}

/// Whether the values of some arms grow over time otherwise than those of others. Sizes: slope of
/// each arm per unit of time, as far as it is not that of all. `None` for too few values.
#[must_use]
pub fn drift(cells: &[Cell], floor_variance: f64) -> Option<Effect> {
    let arms = arms(cells)?;
    let middle = cells.iter().map(|cell| cell.time).sum::<f64>() / cells.len() as f64;
    let layout = Layout { columns: 2 * arms - 1, tested_from: arms };
    let (test, mut sizes) = layout.test(cells, floor_variance, |cell, row| {
        row.push((cell.arm, 1.0));
        // The last arm is what the others are measured by.
        if cell.arm + 1 < arms {
            row.push((arms + cell.arm, cell.time - middle));
        }
    })?;
    sizes.push(0.0);
    centre(&mut sizes, cells.iter().map(|cell| cell.arm));
    Some(Effect { test, sizes })
}

/// Whether the place in the block moves the value. One size: per place. `None` for too few values.
#[must_use]
pub fn position(cells: &[Cell], floor_variance: f64) -> Option<Effect> {
    let arms = arms(cells)?;
    let layout = Layout { columns: arms + 1, tested_from: arms };
    let (test, sizes) = layout.test(cells, floor_variance, |cell, row| {
        row.extend([(cell.arm, 1.0), (arms, cell.position)]);
    })?;
    Some(Effect { test, sizes })
}

/// Whether it matters which arm came right before, beyond the place in the block and being its
/// first. Sizes: effect of having each arm before, as far as it is not that of all. `None` for too
/// few values, and for two arms, with which the order of a block is all there is.
#[must_use]
pub fn carry_over(cells: &[Cell], floor_variance: f64) -> Option<Effect> {
    let arms = arms(cells)?;
    let before = cells.iter().filter_map(|cell| cell.previous).max()? + 1;
    let layout = Layout { columns: arms + 2 + before, tested_from: arms + 2 };
    let (test, mut sizes) = layout.test(cells, floor_variance, |cell, row| {
        row.extend([(cell.arm, 1.0), (arms, cell.position)]);
        row.push(cell.previous.map_or((arms + 1, 1.0), |previous| (arms + 2 + previous, 1.0)));
    })?;
    centre(&mut sizes, cells.iter().filter_map(|cell| cell.previous));
    Some(Effect { test, sizes })
}

/// Autocorrelation at lag 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Autocorrelation {
    /// Its estimate, as it is: −1 ÷ n is its mean where there is none.
    pub r: f64,
    /// Probability of one as far from that mean, two-sided.
    pub p: f64,
}

/// Autocorrelation from block to block of what blocks and arms leave of the values; for two arms
/// that of the differences. `rows` are complete blocks in order of time.
///
/// Mean and variance without autocorrelation are exact for normal values (P. Moran, "Some theorems
/// on time series, II", Biometrika 35 (1948)); the distribution is a beta with these moments
/// between the bounds of the statistic. `None` below six blocks, or where nothing varies.
#[must_use]
pub fn autocorrelation(rows: &[Vec<f64>]) -> Option<Autocorrelation> {
    let (n, arms) = (rows.len(), rows.first()?.len());
    let is_sound = |row: &Vec<f64>| row.len() == arms && row.iter().all(|y| y.is_finite());
    if n < LAG_BLOCKS_MIN || arms < 2 || !rows.iter().all(is_sound) {
        return None;
    }
    let row_means: Vec<f64> =
        rows.iter().map(|row| row.iter().sum::<f64>() / arms as f64).collect();
    let (mut lagged, mut squares, mut all) = (0.0, 0.0, 0.0);
    for arm in 0..arms {
        let rest = rows.iter().zip(&row_means).map(|(row, mean)| row[arm] - mean);
        let mut rest: Vec<f64> = rest.collect();
        let mean = rest.iter().sum::<f64>() / n as f64;
        rest.iter_mut().for_each(|value| *value -= mean);
        lagged += rest.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += dot(&rest, &rest);
        all += rows.iter().map(|row| row[arm].powi(2)).sum::<f64>();
    }
    if squares <= ROUNDING * ROUNDING * all {
        return None;
    }
    let r = lagged / squares;
    // The residuals of k arms are those of k − 1 independent series in other coordinates.
    let (series, n) = ((arms - 1) as f64, n as f64);
    let freedom = n - 1.0;
    let mean = -1.0 / n;
    let one = (n - 2.0).powi(2) / (n * n * freedom) + mean * mean;
    let trace = mean * freedom;
    let trace_of_square = (one * (freedom * freedom + 2.0 * freedom) - trace * trace) / 2.0;
    let second_moment = (series * series * trace * trace + 2.0 * series * trace_of_square)
        / (series * series * freedom * freedom + 2.0 * series * freedom);
    let variance = second_moment - mean * mean;
    let bound = (std::f64::consts::PI / (n + 1.0)).cos();
    let centre = (mean + bound) / (2.0 * bound);
    let weight = centre * (1.0 - centre) / (variance / (4.0 * bound * bound)) - 1.0;
    let beta = Beta::new(centre * weight, (1.0 - centre) * weight).ok()?;
    let place = ((r + bound) / (2.0 * bound)).clamp(0.0, 1.0);
    let p = (2.0 * beta.cdf(place).min(beta.sf(place))).min(1.0);
    Some(Autocorrelation { r, p })
}

/// What is fitted together with the difference of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Covariates {
    /// A difference that grows over time; the difference is then that at the mean time.
    pub drift: bool,
    /// The place in the block; the difference is then that at one place.
    pub position: bool,
    /// The arm before; the difference is then that after the same arm.
    pub carry_over: bool,
}

/// The difference of arms `a` − `b` with covariates fitted to the differences of the groups that
/// have both, and its t interval at 1 − `alpha`: each covariate costs a degree of freedom. `None`
/// where that leaves none, or where the difference cannot be told apart from the covariates.
#[must_use]
pub fn adjusted(
    cells: &[Cell],
    (a, b): (usize, usize),
    fitted: Covariates,
    floor_variance: f64,
    alpha: f64,
) -> Option<Estimate> {
    arms(cells)?;
    let of = |arm: usize| cells.iter().filter(move |cell| cell.arm == arm);
    let mut of_b: Vec<&Cell> = of(b).collect();
    of_b.sort_by_key(|cell| cell.group);
    let pairs: Vec<(&Cell, &Cell)> = of(a)
        .filter_map(|one| {
            let at = of_b.binary_search_by_key(&one.group, |other| other.group).ok()?;
            Some((one, of_b[at]))
        })
        .collect();
    let n = pairs.len();
    let column = |of: &dyn Fn(&Cell, &Cell) -> f64| -> Vec<f64> {
        pairs.iter().map(|(one, other)| of(one, other)).collect()
    };
    let mut others = Span::default();
    if fitted.drift {
        let mut time = column(&|one, _| one.time);
        let mean = time.iter().sum::<f64>() / n.max(1) as f64;
        time.iter_mut().for_each(|value| *value -= mean);
        others.add(&time);
    }
    if fitted.position {
        others.add(&column(&|one, other| one.position - other.position));
    }
    if fitted.carry_over {
        let is = |cell: &Cell, arm| f64::from(u8::from(cell.previous == Some(arm)));
        for arm in 0..=cells.iter().filter_map(|cell| cell.previous).max().unwrap_or(0) {
            others.add(&column(&|one, other| is(one, arm) - is(other, arm)));
        }
    }
    let y = column(&|one, other| one.y - other.y);
    let ones = vec![1.0; n];
    let rest = others.residual(&ones);
    let squares = dot(&rest, &rest);
    if n == 0 || squares <= 1e-7 * n as f64 {
        return None;
    }
    let point = dot(&rest, &y) / squares;
    others.add(&ones)?;
    let freedom = n.checked_sub(others.rank()).filter(|&freedom| freedom > 0)?;
    let left = others.residual(&y);
    // Of a difference, which has two values.
    let variance = (dot(&left, &left) / freedom as f64).max(2.0 * floor_variance);
    let quantile = StudentsT::new(0.0, 1.0, freedom as f64).ok()?.inverse_cdf(1.0 - alpha / 2.0);
    let half = quantile * (variance / squares).sqrt();
    let interval = Interval { low: point - half, high: point + half, level: 1.0 - alpha };
    half.is_finite().then_some(Estimate { point, bounds: Bounds::Attained(interval), n })
}

/// Number of arms; `None` where a value is not finite or there are fewer than two arms.
fn arms(cells: &[Cell]) -> Option<usize> {
    let is_sound =
        |cell: &Cell| cell.y.is_finite() && cell.time.is_finite() && cell.position.is_finite();
    let arms = cells.iter().map(|cell| cell.arm + 1).max()?;
    (arms >= 2 && cells.iter().all(is_sound)).then_some(arms)
}

/// Takes the mean of those that are there off each of them; the others are 0.
fn centre(sizes: &mut [f64], there: impl Iterator<Item = usize>) {
    let there: BTreeSet<usize> = there.collect();
    let mean = there.iter().map(|&at| sizes[at]).sum::<f64>() / there.len().max(1) as f64;
    for (at, size) in sizes.iter_mut().enumerate() {
        *size = if there.contains(&at) { *size - mean } else { 0.0 };
    }
}

/// Columns of a model: those of the arms and what else is taken for granted, then what is tested.
struct Layout {
    columns: usize,
    tested_from: usize,
}

impl Layout {
    /// Tests the last columns beyond groups and all other columns; and their coefficients, 0 for
    /// what adds nothing. `fill` gives what is not 0 in the row of a cell.
    ///
    /// By normal equations without the means of the groups: rows have a handful of entries each, so
    /// that a thousand blocks take a moment.
    fn test(
        &self,
        cells: &[Cell],
        floor_variance: f64,
        fill: impl Fn(&Cell, &mut Vec<(usize, f64)>),
    ) -> Option<(FTest, Vec<f64>)> {
        let mut by_group: Vec<&Cell> = cells.iter().collect();
        by_group.sort_by_key(|cell| cell.group);
        let mut normal = Normal::new(self.columns);
        let mut row = Vec::new();
        let mut sums: Vec<Option<f64>> = vec![None; self.columns];
        let mut groups = 0;
        for group in by_group.chunk_by(|one, other| one.group == other.group) {
            groups += 1;
            let count = group.len() as f64;
            let mean = group.iter().map(|cell| cell.y).sum::<f64>() / count;
            for cell in group {
                row.clear();
                fill(cell, &mut row);
                normal.add(&row, cell.y - mean, 1.0);
                for &(column, value) in &row {
                    *sums[column].get_or_insert(0.0) += value;
                }
            }
            row.clear();
            let sums = sums.iter_mut().enumerate();
            row.extend(sums.filter_map(|(column, sum)| Some((column, sum.take()?))));
            normal.add(&row, 0.0, -1.0 / count);
        }
        let solved = normal.solve();
        let df = solved.rank_from(self.tested_from);
        let freedom = cells.len().checked_sub(groups + solved.rank_from(0))?;
        if df == 0 || freedom < FREEDOM_MIN {
            return None;
        }
        let seen = |squares: f64| if squares > ROUNDING * normal.squares { squares } else { 0.0 };
        let left = seen(normal.squares - solved.squares_from(0));
        let variance = (left / freedom as f64).max(floor_variance);
        let squares = seen(solved.squares_from(self.tested_from));
        let test = f_test(squares, df, ErrorVariance { variance, freedom });
        Some((test, solved.coefficients(self.tested_from)))
    }
}

/// Normal equations of least squares.
struct Normal {
    columns: usize,
    /// Products of the columns, one row of the matrix after the other.
    products: Vec<f64>,
    with_y: Vec<f64>,
    /// Squares of the values.
    squares: f64,
}

impl Normal {
    fn new(columns: usize) -> Self {
        let (products, with_y) = (vec![0.0; columns * columns], vec![0.0; columns]);
        Self { columns, products, with_y, squares: 0.0 }
    }

    fn add(&mut self, row: &[(usize, f64)], y: f64, weight: f64) {
        for &(one, value) in row {
            self.with_y[one] += weight * value * y;
            for &(other, other_value) in row {
                self.products[one * self.columns + other] += weight * value * other_value;
            }
        }
        self.squares += weight * y * y;
    }

    /// Cholesky's factor, column by column; a column that is a sum of those before it is left out.
    fn solve(&self) -> Solved {
        let n = self.columns;
        let mut solved = Solved {
            columns: n,
            factor: vec![0.0; n * n],
            kept: vec![false; n],
            parts: vec![0.0; n],
        };
        for at in 0..n {
            for earlier in 0..at {
                if solved.kept[earlier] {
                    let known = dot(solved.row(at, earlier), solved.row(earlier, earlier));
                    let rest = self.products[at * n + earlier] - known;
                    solved.factor[at * n + earlier] = rest / solved.factor[earlier * n + earlier];
                }
            }
            let own = self.products[at * n + at];
            let new = own - dot(solved.row(at, at), solved.row(at, at));
            if new > COLLINEAR * own && own > 0.0 {
                let part = self.with_y[at] - dot(solved.row(at, at), &solved.parts[..at]);
                solved.kept[at] = true;
                solved.factor[at * n + at] = new.sqrt();
                solved.parts[at] = part / new.sqrt();
            }
        }
        solved
    }
}

/// A factored system; rows and columns that were left out are 0.
struct Solved {
    columns: usize,
    factor: Vec<f64>,
    kept: Vec<bool>,
    /// What each column explains beyond those before it: the root of its squares.
    parts: Vec<f64>,
}

impl Solved {
    /// The first `length` entries of a row of the factor.
    fn row(&self, at: usize, length: usize) -> &[f64] {
        &self.factor[at * self.columns..][..length]
    }

    fn rank_from(&self, from: usize) -> usize {
        self.kept[from..].iter().filter(|&&kept| kept).count()
    }

    fn squares_from(&self, from: usize) -> f64 {
        dot(&self.parts[from..], &self.parts[from..])
    }

    /// Coefficients of the columns after the first `from`, by back substitution.
    fn coefficients(&self, from: usize) -> Vec<f64> {
        let n = self.columns;
        let mut sizes = vec![0.0; n];
        for at in (from..n).rev().filter(|&at| self.kept[at]) {
            let later: f64 =
                (at + 1..n).map(|other| self.factor[other * n + at] * sizes[other]).sum();
            sizes[at] = (self.parts[at] - later) / self.factor[at * n + at];
        }
        sizes.split_off(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values without noise: arm means, a drift of arm 1, an effect of the place.
    fn cells(blocks: usize, arms: usize, slope: f64, place: f64) -> Vec<Cell> {
        let mut all = Vec::new();
        for block in 0..blocks {
            for position in 0..arms {
                // A Latin square of orders.
                let arm = (block + position) % arms;
                let previous = position.checked_sub(1).map(|before| (block + before) % arms);
                let time = block as f64;
                let y = arm as f64
                    + 10.0 * (block as f64).sin()
                    + if arm == 1 { slope * time } else { 0.0 }
                    + place * position as f64;
                all.push(Cell { group: block, arm, time, position: position as f64, previous, y });
            }
        }
        all
    }

    #[test]
    fn sizes_are_found_where_there_is_no_noise() {
        let found = drift(&cells(8, 3, 0.3, 0.0), 1e-6).unwrap();
        assert!(found.test.p < 1e-6 && found.test.df == 2, "{found:?}");
        let wanted = [-0.1, 0.2, -0.1];
        assert!(found.sizes.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        let found = position(&cells(9, 3, 0.0, 0.7), 1e-6).unwrap();
        assert!(found.test.p < 1e-6 && (found.sizes[0] - 0.7).abs() < 1e-9, "{found:?}");
        let nothing = position(&cells(9, 3, 0.0, 0.0), 1e-6).unwrap();
        assert!(nothing.test.p > 0.9, "{nothing:?}");
    }

    #[test]
    fn the_arm_before_is_found() {
        // All orders of four arms: in a cyclic square the arm before is always the same.
        let orders = (0..256usize).map(|n| [n % 4, n / 4 % 4, n / 16 % 4, n / 64]);
        let orders = orders.filter(|order| (0..4).all(|arm| order.contains(&arm)));
        let mut cells = Vec::new();
        for (group, order) in orders.enumerate() {
            for (place, &arm) in order.iter().enumerate() {
                let previous = place.checked_sub(1).map(|before| order[before]);
                let position = place as f64;
                let y = arm as f64 - 0.1 * position
                    + if previous == Some(2) { 0.4 } else { 0.0 }
                    + if previous.is_none() { 0.9 } else { 0.0 };
                cells.push(Cell { group, arm, time: group as f64, position, previous, y });
            }
        }
        let found = carry_over(&cells, 1e-6).unwrap();
        assert!(found.test.p < 1e-6, "{found:?}");
        let wanted = [-0.1, -0.1, 0.3, -0.1];
        assert!(found.sizes.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        assert_eq!(carry_over(&self::cells(12, 2, 0.0, 0.0), 1e-6), None, "two arms: only order");
    }

    #[test]
    fn adjusting_takes_the_covariate_out() {
        let cells = cells(9, 3, 0.0, 0.7);
        let bare = adjusted(&cells, (1, 0), Covariates::default(), 1e-12, 0.05).unwrap();
        let fitted = Covariates { position: true, ..Covariates::default() };
        let fitted = adjusted(&cells, (1, 0), fitted, 1e-12, 0.05).unwrap();
        assert!((fitted.point - 1.0).abs() < 1e-9, "{fitted:?}");
        let width = |e: &Estimate| e.bounds.attained().map(|i| i.high - i.low).unwrap();
        assert!(width(&fitted) < 1e-4 && width(&bare) > 0.5, "{bare:?}");
        let two = &cells[..6];
        let all = Covariates { drift: true, position: true, carry_over: true };
        assert_eq!(adjusted(two, (1, 0), all, 0.0, 0.05), None, "no freedom left");
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(drift(&[], 0.0), None);
        let mut bad = cells(8, 3, 0.1, 0.0);
        bad[3].y = f64::NAN;
        assert_eq!(drift(&bad, 0.0), None);
        assert_eq!(adjusted(&bad, (0, 1), Covariates::default(), 0.0, 0.05), None);
        assert_eq!(autocorrelation(&[]), None);
        assert_eq!(autocorrelation(&vec![vec![1.0, 2.0]; 9]), None, "nothing varies");
        assert_eq!(autocorrelation(&vec![vec![1.0, f64::NAN]; 9]), None);
    }

    #[test]
    fn alternating_differences_are_seen() {
        let rows: Vec<Vec<f64>> =
            (0..12).map(|n| vec![if n % 2 == 0 { 0.1 } else { -0.1 }, 0.0]).collect();
        let found = autocorrelation(&rows).unwrap();
        assert!(found.r < -0.9 && found.p < 1e-4, "{found:?}");
    }
}
