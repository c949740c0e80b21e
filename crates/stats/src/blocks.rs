//! Contenders measured in blocks: their effects, and variances that lean on all of them.

use std::collections::BTreeMap;

use crate::paired::Spread;

/// How many degrees of freedom the variance of all contenders counts for next to that of one.
const PRIOR_FREEDOM: f64 = 4.0;

/// A contender whose own variance is above so many times that of all keeps its own.
const NOISY: f64 = 1.5;

/// Fewer contenders than this have too little to lend to each other.
const LEAST_CONTENDERS: usize = 4;

/// Effects of the contenders, on the scale of the values and with mean 0, in the additive model
/// `y = block + contender` by least squares.
///
/// Each cell is (block, contender, value); blocks may have any numbers, contenders are counted
/// from 0. Cells may be missing: a contender that was only run in slow blocks is not punished for
/// it. Where every block holds every contender the effects are the contenders' means, less the
/// mean of all. A cell given twice counts twice.
///
/// `None` where the effects cannot be told apart (a contender without a cell, or two groups of
/// contenders that never shared a block), and for a value that is not finite or a contender that
/// is not below `contenders`.
///
/// The intrablock analysis of incomplete blocks: S. Searle, "Linear Models" (1971), chapter 7.
#[must_use]
pub fn fit(cells: &[(usize, usize, f64)], contenders: usize) -> Option<Vec<f64>> {
    let fits = |&(_, contender, y): &(usize, usize, f64)| contender < contenders && y.is_finite();
    if contenders == 0 || !cells.iter().all(fits) {
        return None;
    }
    let mut blocks: BTreeMap<usize, Vec<(usize, f64)>> = BTreeMap::new();
    for &(block, contender, y) in cells {
        blocks.entry(block).or_default().push((contender, y));
    }
    let blocks: Vec<Vec<(usize, f64)>> = blocks.into_values().collect();
    if !connected(&blocks, contenders) {
        return None;
    }
    let effects = match complete(&blocks, contenders) {
        Some(means) => means,
        None => least_squares(&blocks, contenders)?,
    };
    let middle = effects.iter().sum::<f64>() / contenders as f64;
    let effects: Vec<f64> = effects.iter().map(|effect| effect - middle).collect();
    effects.iter().all(|effect| effect.is_finite()).then_some(effects)
}

/// Whether a chain of shared blocks leads from each contender to each other one.
fn connected(blocks: &[Vec<(usize, f64)>], contenders: usize) -> bool {
    let mut present = vec![false; contenders];
    let mut group: Vec<usize> = (0..contenders).collect();
    for block in blocks {
        for &(contender, _) in block {
            present[contender] = true;
            let (from, to) = (group[contender], group[block[0].0]);
            group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
        }
    }
    present.iter().all(|&present| present) && group.iter().all(|&other| other == group[0])
}

/// The contenders' means, where every block holds each of them once.
fn complete(blocks: &[Vec<(usize, f64)>], contenders: usize) -> Option<Vec<f64>> {
    let mut sums = vec![0.0; contenders];
    for block in blocks {
        let mut seen = vec![false; contenders];
        for &(contender, y) in block {
            seen[contender] = true;
            sums[contender] += y;
        }
        if block.len() != contenders || seen.contains(&false) {
            return None;
        }
    }
    Some(sums.iter().map(|sum| sum / blocks.len() as f64).collect())
}

/// Solves the normal equations, from which the blocks have been eliminated.
///
/// Their matrix is the Laplacian of the graph of shared blocks: singular along (1, …, 1) and, where
/// the graph is connected, only there. Adding 1 to every element takes that away and makes the
/// sum of the solution 0.
fn least_squares(blocks: &[Vec<(usize, f64)>], contenders: usize) -> Option<Vec<f64>> {
    let mut matrix = vec![vec![1.0; contenders]; contenders];
    let mut right = vec![0.0; contenders];
    for block in blocks {
        let size = block.len() as f64;
        let mean = block.iter().map(|(_, y)| y / size).sum::<f64>();
        for &(one, y) in block {
            matrix[one][one] += 1.0;
            right[one] += y - mean;
            for &(other, _) in block {
                matrix[one][other] -= 1.0 / size;
            }
        }
    }
    solve(matrix, right)
}

/// Solution of a symmetric positive definite system, by Cholesky's decomposition.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for row in 0..size {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| matrix[row][at] * matrix[column][at]).sum();
            let rest = matrix[row][column] - known;
            if row != column {
                matrix[row][column] = rest / matrix[column][column];
            } else if rest > 0.0 {
                matrix[row][row] = rest.sqrt();
            } else {
                return None;
            }
        }
        let known: f64 = (0..row).map(|at| matrix[row][at] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    for row in (0..size).rev() {
        let known: f64 = (row + 1..size).map(|at| matrix[at][row] * right[at]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

/// The spread of each contender within a block, by the residuals of all of them: few blocks say
/// little about one contender alone, and a little more about all together.
///
/// `rows` are complete blocks, each with one value per contender. With n blocks, k contenders, SS
/// the sum of the squared residuals of a contender in the additive model and MSE the mean square of
/// all residuals, σ² = (SS ÷ (n - 1) - MSE ÷ k) ÷ (1 - 2 ÷ k) is unbiased, also where the
/// contenders' noise differs (F. Grubbs, J. Am. Stat. Assoc. 43, 1948), with about d = (n - 1)
/// (1 - 2 ÷ k) degrees of freedom. Up to 1.5 MSE it is taken for luck and shrinks towards what all
/// have, (4 MSE + d σ²) ÷ (4 + d) with 4 + d degrees of freedom (after G. Smyth, Stat. Appl. Genet.
/// Mol. Biol. 3, 2004, with a fixed prior). Above, it stays as it is, with d: the others must not
/// vouch for a contender that is noisier than they are.
///
/// `None` below four contenders or two blocks, for rows of unequal length and values that are not
/// finite.
#[must_use]
pub fn contender_spreads(rows: &[Vec<f64>]) -> Option<Vec<Spread>> {
    let (blocks, contenders) = (rows.len(), rows.first()?.len());
    let sound =
        |row: &Vec<f64>| row.len() == contenders && row.iter().all(|value| value.is_finite());
    if blocks < 2 || contenders < LEAST_CONTENDERS || !rows.iter().all(sound) {
        return None;
    }
    let (n, k) = (blocks as f64, contenders as f64);
    let squares = squares_of_residuals(rows, contenders);
    let mse = squares.iter().sum::<f64>() / ((n - 1.0) * (k - 1.0));
    let freedom = (n - 1.0) * (1.0 - 2.0 / k);
    let spread = |squares: &f64| {
        let own = ((squares / (n - 1.0) - mse / k) / (1.0 - 2.0 / k)).max(0.0);
        if own > NOISY * mse {
            return Spread { variance: own, freedom };
        }
        let both = PRIOR_FREEDOM + freedom;
        Spread { variance: (PRIOR_FREEDOM * mse + freedom * own) / both, freedom: both }
    };
    let spreads: Vec<Spread> = squares.iter().map(spread).collect();
    spreads.iter().all(|spread| spread.variance.is_finite()).then_some(spreads)
}

/// The spread of the difference of two contenders that vary independently; its degrees of freedom
/// are those of F. Satterthwaite, "An approximate distribution of estimates of variance
/// components", Biometrics Bull. 2 (1946).
#[must_use]
pub fn spread_of_difference(a: Spread, b: Spread) -> Spread {
    let variance = a.variance + b.variance;
    if variance <= 0.0 {
        return Spread { variance, freedom: a.freedom.min(b.freedom) };
    }
    // As shares, which do not underflow where the spread is tiny.
    let part = |one: Spread| (one.variance / variance).powi(2) / one.freedom;
    Spread { variance, freedom: 1.0 / (part(a) + part(b)) }
}

/// Of each contender, Σ_b (y_bc - ȳ_b - ȳ_c + ȳ)² of complete blocks.
fn squares_of_residuals(rows: &[Vec<f64>], contenders: usize) -> Vec<f64> {
    let (blocks, count) = (rows.len() as f64, contenders as f64);
    // What is left of a block's values once its own mean is taken off.
    let centred: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let mean = row.iter().sum::<f64>() / count;
            row.iter().map(|y| y - mean).collect()
        })
        .collect();
    let of = |contender: usize| {
        let mean = centred.iter().map(|row| row[contender]).sum::<f64>() / blocks;
        centred.iter().map(|row| (row[contender] - mean).powi(2)).sum::<f64>()
    };
    (0..contenders).map(of).collect()
}
