//! Contenders measured in blocks: their effects, and a variance that leans on all of them.

use std::collections::BTreeMap;

use crate::paired::Spread;

/// How many degrees of freedom the variance of all contenders counts for next to that of one pair.
const PRIOR_FREEDOM: f64 = 4.0;

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

/// Variance of the difference of contenders `i` and `j` within one block, moderated by the
/// residuals of all contenders: few blocks say little about one pair alone.
///
/// `rows` are complete blocks, each with one value per contender. With n blocks, s² the variance
/// of the pair's differences and MSE the mean square of the residuals of the additive model:
/// max((4·2MSE + (n-1)s²) / (4 + n-1), s²), with 4 + n-1 degrees of freedom. Never below s²: noise
/// differs between contenders, and a quiet crowd must not vouch for a noisy pair.
///
/// `None` below four contenders or two blocks, for rows of unequal length, values that are not
/// finite, `i` equal to `j`, or either of them without a column.
///
/// After G. Smyth, "Linear Models and Empirical Bayes Methods for Assessing Differential
/// Expression", Stat. Appl. Genet. Mol. Biol. 3 (2004), with fixed prior freedom and the maximum.
#[must_use]
pub fn moderated(rows: &[Vec<f64>], i: usize, j: usize) -> Option<Spread> {
    let (blocks, contenders) = (rows.len(), rows.first()?.len());
    let sound =
        |row: &Vec<f64>| row.len() == contenders && row.iter().all(|value| value.is_finite());
    if blocks < 2 || contenders < LEAST_CONTENDERS || i.max(j) >= contenders || i == j {
        return None;
    }
    if !rows.iter().all(sound) {
        return None;
    }
    let own_freedom = (blocks - 1) as f64;
    let differences: Vec<f64> = rows.iter().map(|row| row[i] - row[j]).collect();
    let mean = differences.iter().sum::<f64>() / blocks as f64;
    let own = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / own_freedom;
    let shared = 2.0 * residual_mean_square(rows, contenders);
    let freedom = PRIOR_FREEDOM + own_freedom;
    let variance = ((PRIOR_FREEDOM * shared + own_freedom * own) / freedom).max(own);
    variance.is_finite().then_some(Spread { variance, freedom })
}

/// Σ(y_bc - ȳ_b - ȳ_c + ȳ)² / ((n-1)(k-1)) of n complete blocks of k contenders.
fn residual_mean_square(rows: &[Vec<f64>], contenders: usize) -> f64 {
    let (blocks, count) = (rows.len() as f64, contenders as f64);
    // What is left of a block's values once its own mean is taken off.
    let centred: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| {
            let mean = row.iter().sum::<f64>() / count;
            row.iter().map(|y| y - mean).collect()
        })
        .collect();
    let mut squares = 0.0;
    for contender in 0..contenders {
        let mean = centred.iter().map(|row| row[contender]).sum::<f64>() / blocks;
        squares += centred.iter().map(|row| (row[contender] - mean).powi(2)).sum::<f64>();
    }
    squares / ((blocks - 1.0) * (count - 1.0))
}
