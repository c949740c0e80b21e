//! Layouts worked out by hand.

use super::*;

fn crossed(levels: usize) -> Factor {
    Factor { levels, within: None }
}

/// Every combination of two factors.
fn two_by_three() -> Design {
    let rows = (0..6).map(|row| vec![Some(row / 3), Some(row % 3)]).collect();
    Design::new(vec![crossed(2), crossed(3)], rows).expect("a layout")
}

#[test]
fn what_is_no_layout_is_refused() {
    let nested = Factor { levels: 2, within: Some((0, 0)) };
    let factors = || vec![crossed(2), nested];
    let rows = |xfs: Option<usize>| {
        vec![vec![Some(0), Some(0)], vec![Some(0), Some(1)], vec![Some(1), xfs]]
    };
    assert!(Design::new(factors(), rows(None)).is_some());
    assert!(Design::new(factors(), rows(Some(0))).is_none(), "an invented cell");
    assert!(Design::new(vec![crossed(2)], vec![vec![Some(2)], vec![Some(0)]]).is_none());
    assert!(Design::new(vec![crossed(2)], vec![vec![Some(1)]]).is_none());
    assert!(Design::new(vec![crossed(1); 11], vec![vec![Some(0); 11]; 2]).is_none());
}

#[test]
fn balanced_layouts_are_orthogonal_and_complete() {
    let design = two_by_three();
    assert!(design.is_orthogonal() && design.untested_pairs().is_empty());
    assert_eq!(design.terms.iter().map(|t| t.own.rank()).collect::<Vec<_>>(), [1, 2, 2]);
}

/// A half of 2³: the third factor is the product of the first two.
#[test]
fn a_fraction_keeps_its_main_effects() {
    let rows = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]];
    let rows = rows.map(|row| row.map(Some).to_vec()).to_vec();
    let design = Design::new(vec![crossed(2); 3], rows).expect("a layout");
    assert!(design.is_orthogonal());
    assert_eq!(design.terms.len(), 3);
    assert_eq!(design.untested_pairs(), [(0, 1), (0, 2), (1, 2)]);
}

/// ext4 in two modes and xfs, each on two devices: `data` within ext4 is crossed with the device.
#[test]
fn a_nested_factor_has_its_own_rows_only() {
    let factors = vec![crossed(2), crossed(2), Factor { levels: 2, within: Some((1, 0)) }];
    let mut rows = Vec::new();
    for device in 0..2 {
        rows.push(vec![Some(device), Some(0), Some(0)]);
        rows.push(vec![Some(device), Some(0), Some(1)]);
        rows.push(vec![Some(device), Some(1), None]);
    }
    let design = Design::new(factors, rows).expect("a layout");
    let sets: Vec<u32> = design.terms.iter().map(|term| term.set).collect();
    assert_eq!(sets, [0b001, 0b010, 0b100, 0b011, 0b101]);
    assert!(design.is_orthogonal(), "proportional frequencies");
    let weights = design.weights(1, 1, 0, &|_| true).expect("estimable");
    let quarter = -0.25;
    let wanted = [quarter, quarter, 0.5, quarter, quarter, 0.5];
    assert!(weights.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{weights:?}");
    let weights = design.weights(2, 1, 0, &|_| true).expect("estimable");
    let wanted = [-0.5, 0.5, 0.0, -0.5, 0.5, 0.0];
    assert!(weights.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{weights:?}");
}

#[test]
fn what_cannot_be_told_apart_has_no_weights() {
    // The second factor goes with the first.
    let rows = (0..4).map(|row| vec![Some(row / 2), Some(row / 2)]).collect();
    let design = Design::new(vec![crossed(2); 2], rows).expect("a layout");
    assert_eq!(design.weights(0, 1, 0, &|_| true), None);
    assert_eq!(design.terms.len(), 1);
}

#[test]
fn equal_values_give_no_nan() {
    let design = two_by_three();
    let blocks = vec![vec![1.0; 6]; 3];
    let analysis = design.analyse(&blocks, 0.0).expect("an analysis");
    assert_eq!((analysis.omnibus.p, analysis.shares), (1.0, None));
    assert!(design.analyse(&[vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]], 0.0).is_none());
    let exact = vec![vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0]; 3];
    let analysis = design.analyse(&exact, 0.0).expect("an analysis");
    assert!(analysis.omnibus.p < 1e-9 && analysis.terms[2].test.p > 0.99, "{analysis:?}");
    let not_finite = vec![vec![f64::NAN; 6]; 3];
    assert!(design.analyse(&not_finite, 0.0).is_none());
}

#[test]
fn shapley_divides_what_is_there() {
    // Two players worth 1 and 2, and 3 more together.
    let values = [0.0, 1.0, 2.0, 6.0];
    assert!((shapley(&values, 2, 0) - 2.5).abs() < 1e-12);
    assert!((shapley(&values, 2, 1) - 3.5).abs() < 1e-12);
}
