//! Contenders in blocks: effects against their normal equations, moderated variance against its
//! formula.

use fsarena_stats::Spread;
use fsarena_stats::blocks::{contender_spreads, fit, spread_of_difference};
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
fn too_little_to_lend_gives_no_spread() {
    let row = vec![1.0, 2.0, 3.0, 4.0];
    let rows = vec![row.clone(), vec![2.0, 2.0, 3.0, 3.0]];
    assert!(contender_spreads(&rows).is_some());
    assert_eq!(contender_spreads(&[]), None);
    assert_eq!(contender_spreads(&rows[..1]), None, "one block");
    assert_eq!(contender_spreads(&[vec![1.0, 2.0, 3.0], vec![2.0, 2.0, 3.0]]), None, "three");
    assert_eq!(contender_spreads(&[row.clone(), vec![1.0, 2.0, 3.0]]), None);
    assert_eq!(contender_spreads(&[row, vec![1.0, 2.0, f64::NAN, 3.0]]), None);
}

/// Worked by hand: only the first varies, by 0, 2, 4. Less block means and contender means, its
/// residuals are ±1.5 and those of the others ±0.5: SS 4.5 and 0.5, MSE (4.5 + 1.5) ÷ 6 = 1.
#[test]
fn a_noisy_contender_keeps_its_own_spread_and_the_quiet_ones_lean_on_all() {
    let rows = [vec![0.0, 0.0, 5.0, 7.0], vec![2.0, 0.0, 5.0, 7.0], vec![4.0, 0.0, 5.0, 7.0]];
    let spreads = contender_spreads(&rows).unwrap();
    // (4.5 ÷ 2 - 1 ÷ 4) ÷ (1 ÷ 2) is its variance.
    assert_eq!(spreads[0], Spread { variance: 4.0, freedom: 1.0 });
    // The others have 0 by themselves: (4 · 1 + 1 · 0) ÷ 5.
    assert_eq!(spreads[1..], [Spread { variance: 0.8, freedom: 5.0 }; 3]);
    let both = spread_of_difference(spreads[0], spreads[1]);
    close(both.variance, 4.8);
    close(both.freedom, 4.8 * 4.8 / (16.0 + 0.64 / 5.0));
    let none = Spread { variance: 0.0, freedom: 3.0 };
    assert_eq!(spread_of_difference(none, Spread { freedom: 2.0, ..none }).freedom, 2.0);
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

    /// Each residual counts once, whoever comes first; neither the speed of a block nor the level
    /// of a contender matters.
    #[test]
    fn spreads_are_of_residuals_alone(rows in complete(6), shift in -9.0f64..9.0) {
        let spreads = contender_spreads(&rows).unwrap();
        let moved: Vec<Vec<f64>> = rows
            .iter()
            .enumerate()
            .map(|(b, row)| {
                let at = |(c, y): (usize, &f64)| y + 4.0 * b as f64 + shift * c as f64;
                row.iter().enumerate().rev().map(at).collect()
            })
            .collect();
        let other = contender_spreads(&moved).unwrap();
        let largest = spreads.iter().map(|spread| spread.variance).fold(0.0, f64::max);
        for (one, other) in spreads.iter().zip(other.iter().rev()) {
            prop_assert!((one.variance - other.variance).abs() < 1e-7 * (1.0 + largest));
        }
        // Whoever leans on the others has at least their share of it.
        let (n, k) = (rows.len() as f64, 6.0);
        let own = (n - 1.0) * (1.0 - 2.0 / k);
        for spread in spreads {
            prop_assert!(spread.freedom == own || spread.freedom == own + 4.0);
            prop_assert!(spread.variance >= 0.0);
        }
    }
}
