//! Tests of trends hold their level of 1 % and find what is there.

use super::Noise;
use fsarena_stats::trend::{
    Cell, Covariates, TREND_ALPHA, adjusted, autocorrelation, carry_over, drift, position,
};

/// Blocks in random order: a common wander of the machine, noise of 3 %, and what `extra` adds.
fn run(noise: &mut Noise, blocks: usize, arms: usize, extra: impl Fn(&Cell) -> f64) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut wander = 0.0;
    for block in 0..blocks {
        wander += 0.1 * noise.normal();
        let order = noise.order(arms);
        for (place, &arm) in order.iter().enumerate() {
            let previous = place.checked_sub(1).map(|before| order[before]);
            let position = place as f64;
            let mut cell =
                Cell { group: block, arm, time: block as f64, position, previous, y: 0.0 };
            cell.y = wander + 0.2 * arm as f64 + 0.03 * noise.normal() + extra(&cell);
            cells.push(cell);
        }
    }
    cells
}

fn rows(cells: &[Cell], blocks: usize, arms: usize) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; arms]; blocks];
    for cell in cells {
        rows[cell.group][cell.arm] = cell.y;
    }
    rows
}

#[test]
fn alarms_about_nothing_are_one_percent() {
    const REPEATS: usize = 2000;
    for (blocks, arms) in [(6, 2), (8, 4), (16, 2), (24, 6)] {
        let mut noise = Noise::new(2007 + (blocks * arms) as u64);
        let mut alarms = [0; 4];
        for _ in 0..REPEATS {
            let cells = run(&mut noise, blocks, arms, |_| 0.0);
            let tests = [
                drift(&cells, 0.0).map(|found| found.test.p),
                position(&cells, 0.0).map(|found| found.test.p),
                carry_over(&cells, 0.0).map(|found| found.test.p),
                autocorrelation(&rows(&cells, blocks, arms)).map(|found| found.p),
            ];
            for (count, p) in alarms.iter_mut().zip(tests) {
                *count += usize::from(p.is_some_and(|p| p < TREND_ALPHA));
            }
        }
        // 20 are expected of 2,000; 8 to 36 have a probability over 99.8 %.
        println!("{blocks} blocks of {arms}: {alarms:?} alarms in {REPEATS}");
        for (test, count) in ["drift", "position", "carry-over", "lag 1"].iter().zip(alarms) {
            let is_impossible = *test == "carry-over" && arms == 2;
            let fits = if is_impossible { count == 0 } else { (8..=36).contains(&count) };
            assert!(fits, "{test}, {blocks} blocks of {arms}: {count} of {REPEATS}");
        }
    }
}

#[test]
fn what_is_there_is_found() {
    const REPEATS: usize = 200;
    let mut noise = Noise::new(2010);
    let mut found = [0; 4];
    for _ in 0..REPEATS {
        let growing = run(&mut noise, 12, 3, |c| if c.arm == 1 { 0.02 * c.time } else { 0.0 });
        found[0] += usize::from(drift(&growing, 0.0).is_some_and(|f| f.test.p < TREND_ALPHA));
        let placed = run(&mut noise, 12, 3, |c| 0.04 * c.position);
        found[1] += usize::from(position(&placed, 0.0).is_some_and(|f| f.test.p < TREND_ALPHA));
        let after = |c: &Cell| if c.previous == Some(0) { 0.06 } else { 0.0 };
        let carried = run(&mut noise, 16, 4, after);
        found[2] += usize::from(carry_over(&carried, 0.0).is_some_and(|f| f.test.p < TREND_ALPHA));
        let slow: Vec<Vec<f64>> =
            noise.autoregression(0.9, 32).into_iter().map(|y| vec![y, 0.0]).collect();
        found[3] += usize::from(autocorrelation(&slow).is_some_and(|f| f.p < TREND_ALPHA));
    }
    println!("{found:?} of {REPEATS}");
    assert!(found.iter().all(|&count| count > REPEATS * 9 / 10), "{found:?}");
}

/// With the covariate fitted the interval holds its level, and the difference is that without it.
#[test]
fn adjusted_intervals_cover() {
    const REPEATS: usize = 2000;
    let fitted = Covariates { drift: true, position: true, carry_over: false };
    let mut noise = Noise::new(2005);
    let (mut misses, mut absent) = (0, 0);
    for _ in 0..REPEATS {
        let cells = run(&mut noise, 8, 2, |c| 0.05 * c.position);
        let estimate = adjusted(&cells, (1, 0), fitted, 0.0, 0.05);
        let interval = estimate.and_then(|estimate| estimate.bounds.attained());
        // Eight blocks of one and the same order cannot tell the place from the arm.
        absent += usize::from(interval.is_none());
        misses += usize::from(interval.is_some_and(|i| !(i.low..=i.high).contains(&0.2)));
    }
    assert!(absent < REPEATS / 50, "{absent}");
    // 100 are expected; 70 to 132 have a probability over 99.8 %.
    println!("{misses} misses in {REPEATS}");
    assert!((70..=132).contains(&misses), "{misses} of {REPEATS}");
}
