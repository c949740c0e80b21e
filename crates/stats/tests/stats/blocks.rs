//! Contenders in blocks: effects against their normal equations, moderated variance against its
//! formula.

use fsarena_stats::blocks::{fit, moderated};
use proptest::prelude::*;

#[track_caller]
fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted.abs()), "{found} instead of {wanted}");
}

/// Blocks × contenders; a cell that is not there is `None`.
type Layout = Vec<Vec<Option<f64>>>;

fn cells(layout: &Layout) -> Vec<(usize, usize, f64)> {
    let mut cells = Vec::new();
    for (block, row) in layout.iter().enumerate() {
        let known = row.iter().enumerate().filter_map(|(at, y)| Some((block, at, (*y)?)));
        cells.extend(known);
    }
    cells
}

/// Up to 8 blocks of `contenders`, of which one cell in four is missing.
fn layouts(contenders: usize) -> impl Strategy<Value = Layout> {
    let cell = prop::option::weighted(0.75, -3.0f64..3.0);
    prop::collection::vec(prop::collection::vec(cell, contenders), 2..8)
}

fn complete(contenders: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(-3.0f64..3.0, contenders), 2..8)
}

fn filled(rows: &[Vec<f64>]) -> Layout {
    rows.iter().map(|row| row.iter().copied().map(Some).collect()).collect()
}

/// A contender that was only run in slow blocks is not slow for that.
#[test]
fn a_missing_cell_costs_its_contender_nothing() {
    let layout = vec![
        vec![Some(1.0), Some(2.0), None],
        vec![Some(1.0), Some(2.0), None],
        vec![Some(11.0), Some(12.0), Some(13.0)],
    ];
    let effects = fit(&cells(&layout), 3).unwrap();
    for (effect, wanted) in effects.iter().zip([-1.0, 0.0, 1.0]) {
        close(*effect, wanted);
    }
}

#[test]
fn what_never_met_is_not_compared() {
    let apart = [(0, 0, 1.0), (0, 1, 2.0), (1, 2, 1.0), (1, 3, 2.0)];
    assert_eq!(fit(&apart, 4), None);
    // One block that has one of each group is enough.
    let bridge = [apart.as_slice(), &[(2, 1, 0.0), (2, 2, 5.0)]].concat();
    let effects = fit(&bridge, 4).unwrap();
    for (effect, wanted) in effects.iter().zip([-3.5, -2.5, 2.5, 3.5]) {
        close(*effect, wanted);
    }
    assert_eq!(fit(&bridge, 5), None, "the fifth has no cell");
    assert_eq!(fit(&[(0, 0, 1.0), (1, 1, 2.0)], 2), None, "never in one block");
}

#[test]
fn what_is_no_layout_is_refused() {
    assert_eq!(fit(&[], 0), None);
    assert_eq!(fit(&[], 2), None);
    assert_eq!(fit(&[(7, 0, 4.0)], 1), Some(vec![0.0]));
    assert_eq!(fit(&[(0, 0, 1.0), (0, 1, f64::NAN)], 2), None);
    assert_eq!(fit(&[(0, 0, 1.0), (0, 1, f64::INFINITY)], 2), None);
    assert_eq!(fit(&[(0, 0, 1.0), (0, 2, 1.0)], 2), None);
    assert_eq!(fit(&[(0, 0, f64::MAX), (0, 1, -f64::MAX), (1, 0, f64::MAX)], 2), None);
}

#[test]
fn too_little_to_lend_gives_no_moderated_variance() {
    let row = vec![1.0, 2.0, 3.0, 4.0];
    let rows = vec![row.clone(), vec![2.0, 2.0, 3.0, 3.0]];
    assert!(moderated(&rows, 0, 1).is_some());
    assert_eq!(moderated(&[], 0, 1), None);
    assert_eq!(moderated(&rows[..1], 0, 1), None, "one block");
    assert_eq!(moderated(&[vec![1.0, 2.0, 3.0], vec![2.0, 2.0, 3.0]], 0, 1), None, "three of them");
    assert_eq!(moderated(&rows, 1, 1), None);
    assert_eq!(moderated(&rows, 0, 4), None);
    assert_eq!(moderated(&[row.clone(), vec![1.0, 2.0, 3.0]], 0, 1), None);
    assert_eq!(moderated(&[row, vec![1.0, 2.0, f64::NAN, 3.0]], 0, 1), None);
}

/// Worked by hand: the pair's differences are 0, 2, 4 (variance 4); the others repeat.
#[test]
fn a_quiet_crowd_calms_a_pair_but_never_below_its_own_variance() {
    let noisy = [vec![0.0, 0.0, 5.0, 7.0], vec![2.0, 0.0, 5.0, 7.0], vec![4.0, 0.0, 5.0, 7.0]];
    let spread = moderated(&noisy, 0, 1).unwrap();
    // Residuals of (0, 2, 4) less block means: ±1.5 and 3 · ±0.5, so MSE = 6 / (2 · 3) = 1.
    close(spread.variance, 4.0);
    close(spread.freedom, 6.0);
    let spread = moderated(&noisy, 1, 2).unwrap();
    close(spread.variance, 4.0 * 2.0 / 6.0);
}

proptest! {
    #[test]
    fn effects_of_complete_blocks_are_means(rows in complete(5)) {
        let effects = fit(&cells(&filled(&rows)), 5).unwrap();
        let mean = |at: usize| rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64;
        let all = (0..5).map(mean).sum::<f64>() / 5.0;
        for (at, effect) in effects.iter().enumerate() {
            prop_assert!((effect - (mean(at) - all)).abs() < 1e-13);
        }
    }

    /// The residuals of a least-squares fit sum to 0 over each contender and each block.
    #[test]
    fn effects_satisfy_the_normal_equations(layout in layouts(5)) {
        let cells = cells(&layout);
        let Some(effects) = fit(&cells, 5) else { return Ok(()) };
        prop_assert!(effects.iter().sum::<f64>().abs() < 1e-9);
        let mut left = [0.0; 5];
        for row in &layout {
            let rest: Vec<(usize, f64)> = row
                .iter()
                .enumerate()
                .filter_map(|(at, y)| Some((at, (*y)? - effects[at])))
                .collect();
            let block = rest.iter().map(|(_, rest)| rest).sum::<f64>() / rest.len() as f64;
            rest.iter().for_each(|&(at, rest)| left[at] += rest - block);
        }
        prop_assert!(left.iter().all(|left| left.abs() < 1e-9), "{left:?}");
    }

    /// `None` exactly where no chain of shared blocks joins all contenders: here followed from
    /// contender 0 until nothing new is reached.
    #[test]
    fn only_unconnected_layouts_are_refused(
        layout in prop::collection::vec(
            prop::collection::vec(prop::option::weighted(0.35, -3.0f64..3.0), 4), 1..5,
        ),
    ) {
        let mut reached = [layout.iter().any(|row| row[0].is_some()), false, false, false];
        for _ in 0..4 {
            for row in &layout {
                let touches = row.iter().zip(reached).any(|(y, reached)| y.is_some() && reached);
                for (y, reached) in row.iter().zip(&mut reached) {
                    *reached |= touches && y.is_some();
                }
            }
        }
        prop_assert_eq!(fit(&cells(&layout), 4).is_some(), !reached.contains(&false));
    }

    /// What slows a whole block, and the numbers and the order of blocks, say nothing.
    #[test]
    fn a_block_of_its_own_speed_changes_nothing(
        layout in layouts(4), slow in -20.0f64..20.0, at in 0usize..8, stride in 1usize..9,
    ) {
        let before = cells(&layout);
        let slow_block = at % layout.len();
        let add = |block| if block == slow_block { slow } else { 0.0 };
        let mut after: Vec<_> =
            before.iter().map(|&(block, c, y)| (block * stride, c, y + add(block))).collect();
        after.reverse();
        match (fit(&before, 4), fit(&after, 4)) {
            (None, None) => {}
            (Some(one), Some(other)) => {
                for (one, other) in one.iter().zip(other) {
                    prop_assert!((one - other).abs() < 1e-9);
                }
            }
            other => prop_assert!(false, "{other:?}"),
        }
    }

    /// Without noise the truth is found, whatever is missing.
    #[test]
    fn additive_values_give_their_effects(
        layout in layouts(5), truth in prop::collection::vec(-3.0f64..3.0, 5),
    ) {
        let exact: Vec<_> = cells(&layout)
            .iter()
            .map(|&(block, at, _)| (block, at, truth[at] + 7.0 * block as f64))
            .collect();
        let Some(effects) = fit(&exact, 5) else { return Ok(()) };
        let middle = truth.iter().sum::<f64>() / 5.0;
        for (effect, truth) in effects.iter().zip(truth) {
            prop_assert!((effect - (truth - middle)).abs() < 1e-9);
        }
    }

    #[test]
    fn moderated_variance_is_its_formula(rows in complete(6), i in 0usize..6, j in 0usize..6) {
        prop_assume!(i != j);
        let (n, k) = (rows.len() as f64, 6.0);
        let of_block = |b: usize| rows[b].iter().sum::<f64>() / k;
        let of_contender = |c: usize| rows.iter().map(|row| row[c]).sum::<f64>() / n;
        let of_all = (0..6).map(of_contender).sum::<f64>() / k;
        let mut squares = 0.0;
        for (b, row) in rows.iter().enumerate() {
            for (c, y) in row.iter().enumerate() {
                squares += (y - of_block(b) - of_contender(c) + of_all).powi(2);
            }
        }
        let mse = squares / ((n - 1.0) * (k - 1.0));
        let d: Vec<f64> = rows.iter().map(|row| row[i] - row[j]).collect();
        let own = fsarena_stats::standard_deviation(&d).unwrap().unwrap().powi(2);
        let wanted = ((8.0 * mse + (n - 1.0) * own) / (n + 3.0)).max(own);
        let found = moderated(&rows, i, j).unwrap();
        prop_assert!((found.variance - wanted).abs() < 1e-9 * (1.0 + wanted));
        prop_assert_eq!(found.freedom, n + 3.0);
        prop_assert!(found.variance >= own * (1.0 - 1e-12));
        // Neither the direction nor the speed of a block matters.
        let moved: Vec<Vec<f64>> = rows
            .iter()
            .enumerate()
            .map(|(b, row)| row.iter().map(|y| y + 4.0 * b as f64).collect())
            .collect();
        let other = moderated(&moved, j, i).unwrap();
        prop_assert!((found.variance - other.variance).abs() < 1e-9 * (1.0 + wanted));
    }
}
