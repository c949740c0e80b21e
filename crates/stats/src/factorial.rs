//! What differences are due to: analysis of variance of factorial layouts in blocks.
//!
//! Each block has one value of each row; a row is a combination of levels (several rows of one
//! combination are replicates of one cell). Blocks are complete, so that block effects are
//! orthogonal to everything else and all of it happens among the means of the rows.
//!
//! A term is a set of factors. Its own part is what the levels of its factors explain beyond every
//! smaller set of them: the usual contrasts where all cells are there. A factor that exists within
//! one level of another has its terms among the rows of that level alone, and none together with
//! the factor it lies in: no cell is invented. Terms enter by their number of factors; one that
//! adds nothing to those before it cannot be told apart from them and is left out.
//!
//! Sources: D. Montgomery, "Design and Analysis of Experiments" (blocks, nested factors,
//! fractions); U. Grömping, "Estimators of relative importance in linear regression based on
//! variance decomposition", Am. Stat. 61 (2007) for LMG; A. Owen, "Sobol' indices and Shapley
//! value", SIAM/ASA J. Uncertainty Quantification 2 (2014).

use crate::Interval;
use crate::span::{Span, dot};
use statrs::distribution::{ContinuousCDF as _, FisherSnedecor, StudentsT};
use std::collections::BTreeSet;

/// Most factors that are analysed together.
pub const FACTORS_MAX: usize = 10;
/// The omnibus test has to pass at this level before shares are given.
pub const OMNIBUS_ALPHA: f64 = 0.05;

/// A contrast takes the spread of all cells where its own variance is at most this share of theirs:
/// then it has more likely had luck than less noise. To one that is noisier than the rest, their
/// freedom would lend a certainty that it does not have.
const LUCKY: f64 = 1.0 / 3.0;

/// Rows up to which terms of more than two factors are looked for; in larger layouts they are part
/// of the error, as usual there.
const ROWS_OF_LARGE_TERMS: usize = 100;
/// Most steps, in multiplications, that averaging over all orders may take: a second or so.
const ORDERS_WORK_MAX: f64 = 1e9;
/// Blocks from which a contrast is judged by its own spread alone.
const OWN_SPREAD_FROM: usize = 6;
/// Degrees of freedom that the common spread is worth below that.
const PRIOR_FREEDOM: f64 = 4.0;
/// A column whose squared length is less than this share within a model lies outside of it.
const ORTHOGONAL: f64 = 1e-9;
/// Share of all squares that rounding can leave.
const ROUNDING: f64 = 1e-20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    /// Number of its levels.
    pub levels: usize,
    /// The factor and the level within which it exists; absent: everywhere.
    pub within: Option<(usize, usize)>,
}

/// A test of no difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FTest {
    /// Degrees of freedom of what is tested.
    pub df: usize,
    pub f: f64,
    /// Probability of such an F or a larger one where there is no difference.
    pub p: f64,
}

/// A term of an analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Its factors, ascending.
    pub factors: Vec<usize>,
    /// Its test, adjusted for all terms that do not contain it (type II).
    pub test: FTest,
    /// Degrees of freedom that it would have with all cells, none mixed up with other terms.
    pub nominal_df: usize,
    /// Sum of squares of the test.
    pub squares: f64,
}

/// Variance of one value about its block and cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorVariance {
    /// Mean square.
    pub variance: f64,
    /// Its degrees of freedom.
    pub freedom: usize,
}

/// An analysis of variance.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// All cells against each other.
    pub omnibus: FTest,
    /// The terms, main effects first.
    pub terms: Vec<Term>,
    /// What the tests are measured by.
    pub error: ErrorVariance,
    /// Share of each factor in the variance among cells, noise taken off, interactions divided
    /// evenly (Shapley); in all 1. Absent where the omnibus test does not pass, and for unbalanced
    /// layouts of very many rows and factors.
    pub shares: Option<Vec<f64>>,
}

/// A layout: which levels each row has.
#[derive(Debug, Clone)]
pub struct Design {
    factors: Vec<Factor>,
    rows: Vec<Vec<Option<usize>>>,
    cells: usize,
    terms: Vec<TermSpace>,
    orthogonal: bool,
}

#[derive(Debug, Clone)]
struct TermSpace {
    /// A bit a factor.
    set: u32,
    nominal_df: usize,
    /// Orthonormal, beyond all smaller sets of these factors.
    own: Span,
}

impl Design {
    /// A layout; `rows[r][f]` is the level of factor `f` in row `r`, `None` where `f` does not
    /// exist there. `None` where it is no layout: a level out of range, a nested factor outside its
    /// level or missing within it, a factor within a nested one, more than [`FACTORS_MAX`] factors,
    /// fewer than two cells.
    #[must_use]
    pub fn new(factors: Vec<Factor>, rows: Vec<Vec<Option<usize>>>) -> Option<Self> {
        let fits = |row: &Vec<Option<usize>>| {
            row.len() == factors.len()
                && factors.iter().enumerate().all(|(at, factor)| {
                    let is_there =
                        factor.within.is_none_or(|(parent, level)| row[parent] == Some(level));
                    row[at].is_some() == is_there
                        && row[at].is_none_or(|level| level < factor.levels)
                })
        };
        let is_flat = factors.iter().all(|factor| {
            factor.within.is_none_or(|(parent, _)| {
                factors.get(parent).is_some_and(|parent| parent.within.is_none())
            })
        });
        let cells = rows.iter().collect::<BTreeSet<_>>().len();
        if factors.len() > FACTORS_MAX || !is_flat || cells < 2 || !rows.iter().all(fits) {
            return None;
        }
        let mut design = Self { factors, rows, cells, terms: Vec::new(), orthogonal: true };
        design.find_terms();
        Some(design)
    }

    /// Distinct combinations of levels.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Whether all terms are orthogonal, as in balanced layouts and regular fractions of them: then
    /// no sum of squares depends on the order of the terms.
    #[must_use]
    pub fn is_orthogonal(&self) -> bool {
        self.orthogonal
    }

    /// Pairs of factors whose interaction cannot be told apart from other terms, or has no cells.
    #[must_use]
    pub fn untested_pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for second in 0..self.factors.len() {
            for first in 0..second {
                let set = 1 << first | 1 << second;
                if !self.is_void(set) && !self.terms.iter().any(|term| term.set == set) {
                    pairs.push((first, second));
                }
            }
        }
        pairs
    }

    /// Analyses `blocks`, each with one value a row; on a logarithmic scale for ratios.
    /// `floor_variance` is the least variance of one value that is believed. `None` where a block
    /// has another length or a value that is not finite, or nothing is left to tell noise by.
    #[must_use]
    pub fn analyse(&self, blocks: &[Vec<f64>], floor_variance: f64) -> Option<Analysis> {
        let rows = self.rows.len();
        if blocks.iter().any(|b| b.len() != rows || b.iter().any(|value| !value.is_finite())) {
            return None;
        }
        let n = blocks.len();
        let mut model = Span::default();
        for term in &self.terms {
            model.extend(term.own.basis());
        }
        let freedom = n.checked_sub(1)? * (rows - 1) + rows - 1 - model.rank();
        if freedom == 0 {
            return None;
        }
        let (means, residual_squares) = row_means(blocks, rows);
        let scale = n as f64;
        let explained = scale * model.squares_from(0, &means);
        let lack = scale * (dot(&means, &means) - model.squares_from(0, &means)).max(0.0);
        let variance = ((residual_squares + lack) / freedom as f64).max(floor_variance);
        let error = ErrorVariance { variance, freedom };
        let omnibus = f_test(explained, model.rank(), error);
        let term = |space: &TermSpace| {
            let (squares, df) = self.squares(space, &means);
            // What rounding leaves of a term that explains nothing.
            let squares =
                if squares * scale > ROUNDING * explained { squares * scale } else { 0.0 };
            let factors = members(space.set).collect();
            let test = f_test(squares, df, error);
            Term { factors, test, nominal_df: space.nominal_df, squares }
        };
        let terms: Vec<Term> = self.terms.iter().map(term).collect();
        let shares = (omnibus.p < OMNIBUS_ALPHA)
            .then(|| self.shares(&terms, &means, scale, error))
            .flatten();
        Some(Analysis { omnibus, terms, error, shares })
    }

    /// Weights of the rows in the difference `level` − `base` of a factor, averaged over all other
    /// factors (least squares with the main effects of all factors), using only the rows for which
    /// `among` holds. `None` where the difference cannot be told apart from those of other factors.
    #[must_use]
    pub fn weights(
        &self,
        factor: usize,
        level: usize,
        base: usize,
        among: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<f64>> {
        let indicator = |of: usize, wanted: usize| -> Vec<f64> {
            let is = |row: usize| among(row) && self.rows[row][of] == Some(wanted);
            (0..self.rows.len()).map(|row| f64::from(u8::from(is(row)))).collect()
        };
        let mut others = Span::default();
        let all = (0..self.rows.len()).map(|row| f64::from(u8::from(among(row))));
        others.add(&all.collect::<Vec<f64>>());
        for (at, other) in self.factors.iter().enumerate() {
            for other_level in 0..other.levels {
                if at == factor && (other_level == level || other_level == base) {
                    continue;
                }
                let column = indicator(at, other_level);
                let Some((parent, parent_level)) = other.within.filter(|_| at != factor) else {
                    others.add(&column);
                    continue;
                };
                // A nested factor leaves the mean of the level it lies in as it is.
                let mut around = Span::default();
                around.add(&indicator(parent, parent_level));
                let centred = around.residual(&column);
                if dot(&centred, &centred) > ORTHOGONAL {
                    others.add(&centred);
                }
            }
        }
        let column = indicator(factor, level);
        let rest = others.residual(&column);
        let squares = dot(&rest, &rest);
        // With the base among the rows the column of the level is no sum of the others.
        let has_both = column.contains(&1.0) && indicator(factor, base).contains(&1.0);
        (has_both && squares > 1e-7 * dot(&column, &column))
            .then(|| rest.iter().map(|value| value / squares).collect())
    }

    /// Factors of two sets that cannot be in one term: a factor and what lies within it, or factors
    /// within different levels.
    fn is_void(&self, set: u32) -> bool {
        let members = || members(set).map(|at| (at, self.factors[at].within));
        members().any(|(_, within)| {
            let Some((parent, level)) = within else { return false };
            set >> parent & 1 == 1
                || members().any(|(_, other)| other.is_some_and(|(p, l)| p == parent && l != level))
        })
    }

    fn find_terms(&mut self) {
        let count = self.factors.len();
        let mut sets: Vec<u32> = (1..1u32 << count).filter(|&set| !self.is_void(set)).collect();
        sets.sort_by_key(|set| (set.count_ones(), *set));
        let mut model = Span::default();
        model.add(&vec![1.0; self.rows.len()]);
        let is_large = self.rows.len() > ROWS_OF_LARGE_TERMS;
        for set in sets {
            if model.rank() == self.cells || (is_large && set.count_ones() > 2) {
                break;
            }
            let own = self.own_space(set);
            let before = model.rank();
            let is_apart = own.basis().iter().all(|axis| {
                let rest = model.residual(axis);
                dot(&rest, &rest) > 1.0 - ORTHOGONAL
            });
            model.extend(own.basis());
            if model.rank() > before {
                self.orthogonal &= is_apart;
                let nominal_df = members(set).map(|at| self.factors[at].levels - 1).product();
                self.terms.push(TermSpace { set, nominal_df, own });
            }
        }
    }

    /// What the factors of `set` explain beyond every smaller set of them, among the rows in which
    /// all of them exist.
    fn own_space(&self, set: u32) -> Span {
        let supported = |row: &Vec<Option<usize>>| members(set).all(|at| row[at].is_some());
        let columns = |subset: u32| -> Vec<Vec<f64>> {
            let key = |row: &Vec<Option<usize>>| {
                supported(row).then(|| members(subset).map(|at| row[at]).collect::<Vec<_>>())
            };
            let keys: BTreeSet<_> = self.rows.iter().filter_map(key).collect();
            let column = |wanted: &Vec<Option<usize>>| {
                let is = |row| f64::from(u8::from(key(row).as_ref() == Some(wanted)));
                self.rows.iter().map(is).collect()
            };
            keys.iter().map(column).collect()
        };
        let mut smaller = Span::default();
        for left_out in members(set) {
            smaller.extend(&columns(set & !(1 << left_out)));
        }
        let mut own = Span::default();
        for column in columns(set) {
            let rest = smaller.residual(&column);
            // A column that is a sum of smaller ones leaves rounding errors alone.
            if dot(&rest, &rest) > 1e-12 * dot(&column, &column) {
                own.add(&rest);
            }
        }
        own
    }

    /// Squares of a term in the means, beyond all terms that do not contain it, and their degrees
    /// of freedom.
    fn squares(&self, term: &TermSpace, means: &[f64]) -> (f64, usize) {
        if self.orthogonal {
            return (term.own.squares_from(0, means), term.own.rank());
        }
        let mut others = Span::default();
        for other in &self.terms {
            let contains = other.set & term.set == term.set
                || members(other.set)
                    .any(|at| self.factors[at].within.is_some_and(|(p, _)| term.set >> p & 1 == 1));
            if !contains {
                others.extend(other.own.basis());
            }
        }
        let before = others.rank();
        let df = others.extend(term.own.basis());
        (others.squares_from(before, means), df)
    }

    /// Orthogonal terms divide among their factors; else the increments of the explained variance
    /// are averaged over all orders of the factors (LMG), which is the same where both can be done.
    fn shares(
        &self,
        terms: &[Term],
        means: &[f64],
        n: f64,
        error: ErrorVariance,
    ) -> Option<Vec<f64>> {
        let mut parts = vec![0.0; self.factors.len()];
        if self.orthogonal {
            for term in terms {
                let noise = term.test.df as f64 * error.variance;
                let each = (term.squares - noise).max(0.0) / term.factors.len() as f64;
                for &at in &term.factors {
                    parts[at] += each;
                }
            }
        } else {
            let work = (1u32 << self.factors.len()) as f64 * (self.rows.len() as f64).powi(3);
            if work > ORDERS_WORK_MAX {
                return None;
            }
            let explained = |set: u32| {
                let mut span = Span::default();
                for term in self.terms.iter().filter(|term| term.set & !set == 0) {
                    span.extend(term.own.basis());
                }
                let noise = span.rank() as f64 * error.variance;
                (n * span.squares_from(0, means) - noise).max(0.0)
            };
            let all: Vec<f64> = (0..1u32 << self.factors.len()).map(explained).collect();
            for (at, part) in parts.iter_mut().enumerate() {
                *part = shapley(&all, self.factors.len(), at).max(0.0);
            }
        }
        let whole: f64 = parts.iter().sum();
        (whole > 0.0).then(|| parts.iter().map(|part| part / whole).collect())
    }
}

/// The value of player `at` in a game: the mean of what it adds, over all orders of the players.
fn shapley(values: &[f64], players: usize, at: usize) -> f64 {
    let mut sum = 0.0;
    for set in (0..1u32 << players).filter(|set| set >> at & 1 == 0) {
        let before = set.count_ones() as usize;
        // One order in `players · C(players − 1, before)` has exactly these players before it.
        let mut ways = players as f64;
        for step in 0..before {
            ways *= (players - 1 - step) as f64 / (step + 1) as f64;
        }
        sum += (values[(set | 1 << at) as usize] - values[set as usize]) / ways;
    }
    sum
}

/// A contrast of rows: the weighted sum of their means over the blocks, and its t interval at
/// 1 − `alpha`.
///
/// Its spread is that of its own values over the blocks; below six blocks, with four rows or more,
/// moderated by the common error where it is far below that, as a pair's is. `None` for the
/// interval below two blocks.
#[must_use]
pub fn contrast(
    blocks: &[Vec<f64>],
    weights: &[f64],
    error: ErrorVariance,
    floor_variance: f64,
    alpha: f64,
) -> Option<(f64, Option<Interval>)> {
    let values: Vec<f64> = blocks.iter().map(|block| dot(block, weights)).collect();
    let n = values.len();
    let point = values.iter().sum::<f64>() / n as f64;
    if !(point.is_finite() && alpha > 0.0 && alpha < 1.0) {
        return None;
    }
    if n < 2 {
        return Some((point, None));
    }
    let freedom = (n - 1) as f64;
    let own = values.iter().map(|value| (value - point).powi(2)).sum::<f64>() / freedom;
    let scale = dot(weights, weights);
    let is_lucky = own <= LUCKY * scale * error.variance;
    let (variance, freedom) = if n < OWN_SPREAD_FROM && weights.len() >= 4 && is_lucky {
        let common = PRIOR_FREEDOM * scale * error.variance;
        let mixed = (common + freedom * own) / (PRIOR_FREEDOM + freedom);
        (mixed.max(own), PRIOR_FREEDOM + freedom)
    } else {
        (own, freedom)
    };
    let variance = variance.max(scale * floor_variance);
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - alpha / 2.0);
    let half = quantile * (variance / n as f64).sqrt();
    Some((point, Some(Interval { low: point - half, high: point + half, level: 1.0 - alpha })))
}

/// Means of the rows without the mean of all, and the squares that blocks and rows leave.
fn row_means(blocks: &[Vec<f64>], rows: usize) -> (Vec<f64>, f64) {
    let n = blocks.len() as f64;
    let block_means: Vec<f64> =
        blocks.iter().map(|block| block.iter().sum::<f64>() / rows as f64).collect();
    let mut means = vec![0.0; rows];
    for (block, mean) in blocks.iter().zip(&block_means) {
        for (sum, value) in means.iter_mut().zip(block) {
            *sum += (value - mean) / n;
        }
    }
    let (mut squares, mut all) = (0.0, 0.0);
    for (block, mean) in blocks.iter().zip(&block_means) {
        for (row_mean, value) in means.iter().zip(block) {
            squares += (value - mean - row_mean).powi(2);
            all += value.powi(2);
        }
    }
    let least = ROUNDING * all;
    if n * dot(&means, &means) < least {
        means.fill(0.0);
    }
    (means, if squares < least { 0.0 } else { squares })
}

/// Tests a sum of squares against the error. Without any error only what is exactly 0 is nothing.
pub(crate) fn f_test(squares: f64, df: usize, error: ErrorVariance) -> FTest {
    if df == 0 || squares <= 0.0 {
        return FTest { df, f: 0.0, p: 1.0 };
    }
    if error.variance <= 0.0 {
        return FTest { df, f: f64::MAX, p: 0.0 };
    }
    let f = squares / df as f64 / error.variance;
    let p = FisherSnedecor::new(df as f64, error.freedom as f64).map_or(1.0, |known| known.sf(f));
    FTest { df, f, p }
}

fn members(set: u32) -> impl Iterator<Item = usize> {
    (0..FACTORS_MAX).filter(move |at| set >> at & 1 == 1)
}

#[cfg(test)]
mod tests;
