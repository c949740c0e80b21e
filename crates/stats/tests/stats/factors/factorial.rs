//! Factors: sums of squares of statsmodels, shares of a known truth, and none where there is none.

use super::Noise;
use fsarena_stats::factorial::{Analysis, Design, Factor, contrast};
use proptest::prelude::*;
use serde_json::Value;

const GOLDEN: &str = include_str!("../golden/factorial.json");

fn crossed(levels: usize) -> Factor {
    Factor { levels, within: None }
}

#[track_caller]
fn close(found: f64, wanted: f64, what: &str) {
    // The smallest probabilities of F keep fewer digits.
    let tolerance = 1e-7 * wanted.abs() + 1e-12;
    assert!((found - wanted).abs() < tolerance, "{what}: {found} instead of {wanted}");
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array").iter().map(|v| v.as_f64().expect("a number")).collect()
}

/// Layout of a golden case; −1 is no level, and the last factor of the nested one lies in level 0
/// of the second.
fn design(case: &Value) -> Design {
    let rows: Vec<Vec<Option<usize>>> = case["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| numbers(row).iter().map(|&l| (l >= 0.0).then_some(l as usize)).collect())
        .collect();
    let levels = |at: usize| rows.iter().filter_map(|row| row[at]).max().map_or(0, |l| l + 1);
    let factor = |at: usize| Factor {
        levels: levels(at),
        within: rows.iter().any(|row| row[at].is_none()).then_some((1, 0)),
    };
    let factors = (0..rows[0].len()).map(factor).collect();
    Design::new(factors, rows).expect("a layout")
}

#[test]
fn sums_of_squares_are_those_of_statsmodels() {
    let golden: Value = serde_json::from_str(GOLDEN).expect("JSON");
    let cases = golden.as_array().expect("cases");
    assert_eq!(cases.len(), 5);
    for case in cases {
        let name = case["name"].as_str().expect("a name");
        let blocks: Vec<Vec<f64>> =
            case["blocks"].as_array().expect("blocks").iter().map(numbers).collect();
        let found = design(case).analyse(&blocks, 0.0).expect("an analysis");
        let error = numbers(&case["error"]);
        assert_eq!(found.error.freedom as f64, error[0], "{name}");
        close(found.error.variance, error[1], name);
        let omnibus = numbers(&case["omnibus"]);
        assert_eq!(found.omnibus.df as f64, omnibus[0], "{name}");
        close(found.omnibus.f, omnibus[1], name);
        close(found.omnibus.p, omnibus[2], name);
        let terms = case["terms"].as_object().expect("terms");
        assert_eq!(found.terms.len(), terms.len(), "{name}");
        for term in &found.terms {
            let key: Vec<String> = term.factors.iter().map(ToString::to_string).collect();
            let wanted = numbers(&terms[&key.join(":")]);
            assert_eq!(term.test.df as f64, wanted[0], "{name} {key:?}");
            close(term.squares, wanted[1], name);
            close(term.test.f, wanted[2], name);
            close(term.test.p, wanted[3], name);
        }
    }
}

/// Disk 3 × file system 3 × journal 2.
fn disks() -> (Design, Vec<[usize; 3]>) {
    let rows: Vec<[usize; 3]> = (0..18).map(|row| [row / 6, row / 2 % 3, row % 2]).collect();
    let levels = rows.iter().map(|row| row.map(Some).to_vec()).collect();
    let factors = vec![crossed(3), crossed(3), crossed(2)];
    (Design::new(factors, levels).expect("a layout"), rows)
}

fn simulated(noise: &mut Noise, truth: impl Fn(&[usize; 3]) -> f64) -> Analysis {
    let (design, rows) = disks();
    let blocks: Vec<Vec<f64>> = (0..3)
        .map(|_| {
            let wander = 0.2 * noise.normal();
            rows.iter().map(|row| truth(row) + wander + 0.05 * noise.normal()).collect()
        })
        .collect();
    design.analyse(&blocks, 0.0).expect("an analysis")
}

/// The truth of the plan of the statistics: disk ×3.3, file system ×1.22, journal nothing.
fn additive(row: &[usize; 3]) -> f64 {
    3.3f64.ln() * row[0] as f64 / 2.0 + 1.22f64.ln() * row[1] as f64 / 2.0
}

#[test]
fn shares_are_those_of_the_truth() {
    const REPEATS: usize = 400;
    let mut noise = Noise::new(1977);
    let mut shares = [0.0; 3];
    let mut alarms = 0;
    for _ in 0..REPEATS {
        let found = simulated(&mut noise, additive);
        let found_shares = found.shares.expect("the disks differ");
        assert!((found_shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for (mean, share) in shares.iter_mut().zip(&found_shares) {
            *mean += share / REPEATS as f64;
        }
        // What does nothing: the journal and all interactions.
        let nothing = found.terms.iter().filter(|term| !matches!(term.factors[..], [0] | [1]));
        alarms += nothing.filter(|term| term.test.p < 0.05).count();
    }
    println!("shares {shares:?}, false alarms {alarms} of {}", 5 * REPEATS);
    // By the truth 97.3, 2.7 and 0: squares of the effects in the ratio of ln²3.3 to ln²1.22.
    let wanted = [0.973, 0.027, 0.0];
    assert!(shares.iter().zip(wanted).all(|(s, w)| (s - w).abs() < 0.003), "{shares:?}");
    // 100 of 2,000 are expected; 70 to 132 have a probability over 99.8 %.
    assert!((70..=132).contains(&alarms), "{alarms}");
}

#[test]
fn where_nothing_differs_no_shares_are_given() {
    const REPEATS: usize = 1000;
    let mut noise = Noise::new(1978);
    let given = (0..REPEATS).filter(|_| simulated(&mut noise, |_| 0.0).shares.is_some()).count();
    println!("shares of nothing in {given} of {REPEATS}");
    // 50 are expected; up to 70 has a probability of 99.8 %.
    assert!((29..=70).contains(&given), "{given}");
}

/// With one cell of 18 missing the average over all orders gives nearly what dividing orthogonal
/// terms gives with all of them.
#[test]
fn shares_of_an_unbalanced_layout_are_near_those_of_the_balanced() {
    let (_, rows) = disks();
    let mut rows = rows;
    let lost = rows.pop().expect("18 rows");
    assert_eq!(lost, [2, 2, 1]);
    let levels = rows.iter().map(|row| row.map(Some).to_vec()).collect();
    let design = Design::new(vec![crossed(3), crossed(3), crossed(2)], levels).expect("a layout");
    assert!(!design.is_orthogonal());
    let mut noise = Noise::new(3);
    let block = |noise: &mut Noise| -> Vec<f64> {
        rows.iter().map(|row| additive(row) + 0.01 * noise.normal()).collect()
    };
    let blocks = [block(&mut noise), block(&mut noise), block(&mut noise)];
    let shares = design.analyse(&blocks, 0.0).expect("an analysis").shares.expect("shares");
    println!("{shares:?}");
    let wanted = [0.973, 0.027, 0.0];
    assert!(shares.iter().zip(wanted).all(|(s, w)| (s - w).abs() < 0.01), "{shares:?}");
}

/// Two factors that always vary together, and a third that does not.
#[test]
fn what_is_mixed_up_is_said_to_be() {
    let rows = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]].map(|row| row.map(Some).to_vec());
    let design = Design::new(vec![crossed(2); 3], rows.to_vec()).expect("a layout");
    assert_eq!(design.weights(0, 1, 0, &|_| true), None);
    assert!(design.weights(2, 1, 0, &|_| true).is_some());
    assert!(design.untested_pairs().contains(&(0, 1)));
}

#[test]
fn intervals_of_contrasts_cover() {
    const REPEATS: usize = 2000;
    let (design, rows) = disks();
    let weights = design.weights(0, 2, 0, &|_| true).expect("estimable");
    for blocks in [3, 8] {
        let mut noise = Noise::new(blocks as u64);
        let mut misses = 0;
        for _ in 0..REPEATS {
            let sample: Vec<Vec<f64>> = (0..blocks)
                .map(|_| rows.iter().map(|row| additive(row) + 0.05 * noise.normal()).collect())
                .collect();
            let found = design.analyse(&sample, 0.0).expect("an analysis");
            let interval = contrast(&sample, &weights, found.error, 0.0, 0.05)
                .and_then(|(_, interval)| interval)
                .expect("two blocks or more");
            misses += usize::from(!(interval.low..=interval.high).contains(&3.3f64.ln()));
        }
        println!("{blocks} blocks: {misses} misses of {REPEATS}");
        // 5 % or less: below six blocks the moderated spread errs on the wide side.
        let least = if blocks < 6 { 20 } else { 70 };
        assert!((least..=132).contains(&misses), "{blocks} blocks: {misses}");
    }
}

fn nested() -> (Vec<Factor>, Vec<Vec<Option<usize>>>) {
    let factors = vec![crossed(2), crossed(2), Factor { levels: 2, within: Some((1, 0)) }];
    let row = |row: usize| {
        let fs = usize::from(row % 3 == 2);
        vec![Some(row / 3), Some(fs), (fs == 0).then_some(row % 3)]
    };
    (factors, (0..6).map(row).collect())
}

proptest! {
    /// What a block does to all of its values is in no figure.
    #[test]
    fn block_constants_leave_everything(
        values in prop::collection::vec(prop::collection::vec(-1.0f64..1.0, 6), 2..7),
        constants in prop::collection::vec(-50.0f64..50.0, 7),
    ) {
        let (factors, rows) = nested();
        let design = Design::new(factors, rows).expect("a layout");
        let shifted: Vec<Vec<f64>> = values
            .iter()
            .zip(&constants)
            .map(|(block, constant)| block.iter().map(|value| value + constant).collect())
            .collect();
        let (one, other) = (design.analyse(&values, 0.0), design.analyse(&shifted, 0.0));
        let (one, other) = (one.expect("an analysis"), other.expect("an analysis"));
        prop_assert!((one.omnibus.p - other.omnibus.p).abs() < 1e-6);
        for (a, b) in one.terms.iter().zip(&other.terms) {
            prop_assert!((a.squares - b.squares).abs() < 1e-6 * (1.0 + a.squares));
            prop_assert!((0.0..=1.0).contains(&a.test.p));
        }
    }

    /// The order of the rows is nothing, and squares of terms are those of the cells.
    #[test]
    fn the_order_of_rows_leaves_everything(
        values in prop::collection::vec(prop::collection::vec(-1.0f64..1.0, 6), 2..7),
        turn in 1usize..6,
    ) {
        let (factors, rows) = nested();
        let rotated = |row: &Vec<f64>| -> Vec<f64> {
            row.iter().cycle().skip(turn).take(6).copied().collect()
        };
        let one = Design::new(factors.clone(), rows.clone()).expect("a layout");
        let turned = rows.iter().cycle().skip(turn).take(6).cloned().collect();
        let other = Design::new(factors, turned).expect("a layout");
        let turned: Vec<Vec<f64>> = values.iter().map(rotated).collect();
        let one = one.analyse(&values, 0.0).expect("an analysis");
        let other = other.analyse(&turned, 0.0).expect("an analysis");
        let all: f64 = one.terms.iter().map(|term| term.squares).sum();
        let omnibus = one.omnibus.f * one.omnibus.df as f64 * one.error.variance;
        prop_assert!((all - omnibus).abs() < 1e-6 * (1.0 + all), "orthogonal: they add up");
        for (a, b) in one.terms.iter().zip(&other.terms) {
            prop_assert!((a.squares - b.squares).abs() < 1e-9 * (1.0 + a.squares));
        }
        prop_assert_eq!(one.shares.is_some(), other.shares.is_some());
    }
}
