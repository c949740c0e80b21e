//! Trends over blocks, and values that stand out.

use super::{Noise, points};
use fsarena_verdict::watchers::{FindingKind, watch};
use fsarena_verdict::{Point, Points};

fn labels(count: usize) -> Vec<String> {
    ["ext4", "xfs", "btrfs", "f2fs"][..count].iter().map(|&label| label.to_owned()).collect()
}

fn kinds(points: &Points, contenders: usize) -> Vec<FindingKind> {
    watch(points, &labels(contenders)).findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_quiet_machine_gets_few_findings() {
    const REPEATS: u64 = 300;
    let mut found = 0;
    for seed in 0..REPEATS {
        found += kinds(&points(&mut Noise(seed), 3, 12, 0.03, |_| 0.0), 3).len();
    }
    // Four tests at 1 %: 12 of 300 are expected; 3 to 24 have a probability over 99.8 %.
    assert!((3..=24).contains(&found), "{found}");
}

#[test]
fn each_trend_is_named_with_labels_and_figures() {
    let drifts = |p: &Point| if p.contender == 1 { 0.03 * f64::from(p.block) } else { 0.0 };
    let found = watch(&points(&mut Noise(1), 3, 12, 0.02, drifts), &labels(3));
    let finding = &found.findings[0];
    assert_eq!(finding.kind, FindingKind::Drift);
    assert!(finding.p.is_some_and(|p| p < 0.01));
    let text = &finding.text;
    assert!(text.starts_with("the ratio xfs ÷ ") && text.contains("% a block (p "), "{text}");
    assert!(text.contains("with the drift fitted, xfs ÷ "), "{text}");

    let places = |p: &Point| 0.05 * f64::from(p.position);
    let found = watch(&points(&mut Noise(2), 3, 12, 0.02, places), &labels(3));
    let finding = found.findings.iter().find(|f| f.kind == FindingKind::Position).unwrap();
    assert!(finding.text.starts_with("each place later in the block"), "{}", finding.text);

    let after = |p: &Point| if p.previous == Some(2) { 0.15 } else { 0.0 };
    let found = watch(&points(&mut Noise(3), 4, 16, 0.02, after), &labels(4));
    let finding = found.findings.iter().find(|f| f.kind == FindingKind::CarryOver).unwrap();
    assert!(finding.text.starts_with("right after btrfs values are +"), "{}", finding.text);
    assert!(finding.text.contains("the trial before"), "{}", finding.text);

    let alternates =
        |p: &Point| if p.contender == 0 && p.block.is_multiple_of(2) { 0.2 } else { 0.0 };
    let found = watch(&points(&mut Noise(4), 2, 12, 0.02, alternates), &labels(2));
    let finding = found.findings.iter().find(|f| f.kind == FindingKind::Autocorrelation).unwrap();
    assert!(finding.text.contains("wider than needed"), "{}", finding.text);
}

/// What is fitted is taken out: the ratio of the two is 1 at one place.
#[test]
fn the_adjusted_ratio_is_that_at_one_place() {
    let places = |p: &Point| 0.2 * f64::from(p.position);
    let found = watch(&points(&mut Noise(2), 2, 12, 0.001, places), &labels(2));
    let finding = found.findings.iter().find(|f| f.kind == FindingKind::Position).unwrap();
    let fitted = finding.text.split(" is ").nth(1).unwrap();
    let ratio: f64 = fitted.split(' ').next().unwrap().parse().unwrap();
    assert!((ratio - 1.0).abs() < 0.01, "{}", finding.text);
}

#[test]
fn values_stand_out_by_half_a_percent_at_least() {
    let spike = |p: &Point| if p.contender == 1 && p.block == 4 { 0.5 } else { 0.0 };
    let mut points = points(&mut Noise(6), 2, 9, 0.0001, spike);
    let machine: Vec<f64> =
        points.all.iter().filter(|p| p.contender == 0).map(|p| p.value).collect();
    // Without what the machine as a whole does.
    for point in &mut points.all {
        point.value /= machine[point.block as usize];
    }
    let found = watch(&points, &labels(2));
    assert_eq!(found.outliers.len(), 1, "{found:?}");
    let outlier = &found.outliers[0];
    assert_eq!((outlier.contender, outlier.block), (1, 5), "blocks are counted from 1");
    assert!((outlier.to_median - 0.5f64.exp()).abs() < 0.01 && outlier.modified_z > 50.0);
    assert_eq!(points.all.len(), 18, "nothing is taken away");
}

#[test]
fn values_that_are_all_equal_say_nothing() {
    let mut points = points(&mut Noise(6), 3, 9, 0.0, |_| 0.0);
    for point in &mut points.all {
        point.value = 512.0;
    }
    let found = watch(&points, &labels(3));
    assert!(found.findings.is_empty() && found.outliers.is_empty(), "{found:?}");
    let nothing = watch(&Points::default(), &labels(3));
    assert!(nothing.findings.is_empty() && nothing.outliers.is_empty());
}
