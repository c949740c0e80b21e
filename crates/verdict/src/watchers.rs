//! Watchers: what would make a comparison something else than it seems. Nothing here removes a
//! value; what is found is said with the verdict.

mod finding;
mod foreign;
mod inside;

pub use finding::{Finding, FindingKind, OUTLIER_Z, Outlier, Watch};
pub use foreign::foreign;
pub use inside::{inside, steady};

use crate::points::{Class, Point, Points};
use finding::p_words;
use fsarena_stats::trend::{
    Autocorrelation, Cell, Covariates, Effect, TREND_ALPHA, adjusted, autocorrelation, carry_over,
    drift, position,
};
use fsarena_stats::{Bounds, median};
use std::collections::{BTreeMap, BTreeSet};

/// Floor under the median absolute deviation, of logarithms: what lies within half a percent of the
/// median is never far from it.
pub const OUTLIER_MAD_MIN: f64 = 0.005;
/// Values that a contender needs before one can stand out.
const OUTLIER_VALUES_MIN: usize = 4;

/// Spread of a logarithm below which no trend is believed: 0.05 %.
const TREND_SD_MIN: f64 = 5e-4;
/// Level of the intervals in findings.
const ALPHA: f64 = 0.05;

/// Watches the values of a question, those of blocks that count; `labels` are those of the plan's
/// contenders. Each test is at 1 %.
#[must_use]
pub fn watch(points: &Points, labels: &[String]) -> Watch {
    let trends = Trends { cells: cells(points), labels };
    let mut findings = trends.trends();
    findings.extend(trends.memory(points));
    findings.sort_by(|a, b| a.p.unwrap_or(1.0).total_cmp(&b.p.unwrap_or(1.0)));
    Watch { findings, outliers: outliers(points) }
}

/// Values of one block and one class make a group.
fn cells(points: &Points) -> Vec<Cell> {
    let mut groups: BTreeMap<(u32, Class), usize> = BTreeMap::new();
    let cell = |point: &Point| {
        let next = groups.len();
        Cell {
            group: *groups.entry((point.block, point.class)).or_insert(next),
            arm: point.contender,
            time: f64::from(point.block),
            position: f64::from(point.position),
            previous: point.previous,
            y: point.value.ln(),
        }
    };
    points.all.iter().map(cell).collect()
}

struct Trends<'a> {
    cells: Vec<Cell>,
    labels: &'a [String],
}

impl Trends<'_> {
    fn label(&self, arm: usize) -> &str {
        self.labels.get(arm).map_or("?", String::as_str)
    }

    /// Drift, place and carry-over; what fires is fitted, all of it together.
    fn trends(&self) -> Vec<Finding> {
        let floor_variance = TREND_SD_MIN * TREND_SD_MIN;
        let fires = |effect: &Effect| effect.test.p < TREND_ALPHA;
        let drift = drift(&self.cells, floor_variance).filter(fires);
        let position = position(&self.cells, floor_variance).filter(fires);
        let carry_over = carry_over(&self.cells, floor_variance).filter(fires);
        let fitted = Covariates {
            drift: drift.is_some(),
            position: position.is_some(),
            carry_over: carry_over.is_some(),
        };
        let mut findings = Vec::new();
        let mut add = |kind, effect: &Effect, said: (String, Option<(usize, usize)>)| {
            let (what, pair) = said;
            let ratio = pair.map_or_else(String::new, |pair| self.ratio(pair, fitted));
            let text = format!("{what} ({}){ratio}", p_words(effect.test.p));
            findings.push(Finding { kind, text, p: Some(effect.test.p) });
        };
        if let Some(effect) = &drift {
            add(FindingKind::Drift, effect, self.drift_words(effect));
        }
        if let Some(effect) = &position {
            let words = format!(
                "each place later in the block changes the value by {}",
                percent(effect.sizes.first().copied().unwrap_or(0.0))
            );
            add(FindingKind::Position, effect, (words, self.widest(|cell| cell.position)));
        }
        if let Some(effect) = &carry_over {
            add(FindingKind::CarryOver, effect, self.carry_over_words(effect));
        }
        findings
    }

    fn drift_words(&self, effect: &Effect) -> (String, Option<(usize, usize)>) {
        let there: BTreeSet<usize> = self.cells.iter().map(|cell| cell.arm).collect();
        let by_slope = |a: &&usize, b: &&usize| effect.sizes[**a].total_cmp(&effect.sizes[**b]);
        let (most, least) = (there.iter().max_by(by_slope), there.iter().min_by(by_slope));
        let (Some(&most), Some(&least)) = (most, least) else { return (String::new(), None) };
        let slope = effect.sizes[most] - effect.sizes[least];
        let words = format!(
            "the ratio {} ÷ {} changes by {} a block",
            self.label(most),
            self.label(least),
            percent(slope)
        );
        (words, Some((most, least)))
    }

    fn carry_over_words(&self, effect: &Effect) -> (String, Option<(usize, usize)>) {
        let before: BTreeSet<usize> = self.cells.iter().filter_map(|cell| cell.previous).collect();
        let size = |arm: &usize| effect.sizes.get(*arm).copied().unwrap_or(0.0);
        let most = before.iter().max_by(|a, b| size(a).abs().total_cmp(&size(b).abs()));
        let Some(most) = most else { return (String::new(), None) };
        let words = format!(
            "right after {} values are {} away from those after the others",
            self.label(*most),
            percent(size(most))
        );
        let pair = self.widest(|cell| f64::from(u8::from(cell.previous == Some(*most))));
        (words, pair)
    }

    /// The pair whose means of `of` lie farthest apart: what `of` does disturbs it most.
    fn widest(&self, of: impl Fn(&Cell) -> f64) -> Option<(usize, usize)> {
        let mut means: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for cell in &self.cells {
            let (sum, count) = means.entry(cell.arm).or_default();
            *sum += of(cell);
            *count += 1.0;
        }
        let means: Vec<(usize, f64)> =
            means.into_iter().map(|(arm, (sum, count))| (arm, sum / count)).collect();
        let most = means.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
        let least = means.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
        (most != least).then_some((most, least))
    }

    /// The ratio of a pair with everything fitted that fired, next to that without.
    fn ratio(&self, (a, b): (usize, usize), fitted: Covariates) -> String {
        let names = format!("{} ÷ {}", self.label(a), self.label(b));
        let ratio = |fitted: Covariates| {
            let floor_variance = TREND_SD_MIN * TREND_SD_MIN;
            let found = adjusted(&self.cells, (a, b), fitted, floor_variance, ALPHA)?;
            let Bounds::Attained(interval) = found.bounds else { return None };
            let [point, low, high] = [found.point, interval.low, interval.high].map(f64::exp);
            Some(format!("{point:.3} [{low:.3}, {high:.3}]"))
        };
        let Some(plain) = ratio(Covariates::default()) else { return String::new() };
        let what = fitted_words(fitted);
        match ratio(fitted) {
            Some(with) => {
                format!("; with {what} fitted, {names} is {with}, without {plain} (t, 95 %)")
            }
            None => format!("; too few blocks to fit {what} to {names}"),
        }
    }

    /// Whether blocks remember the one before.
    fn memory(&self, points: &Points) -> Option<Finding> {
        let (rows, blocks) = rows(points)?;
        let found = autocorrelation(&rows).filter(|found| found.p < TREND_ALPHA)?;
        let Autocorrelation { r, p } = found;
        // Without autocorrelation its estimate is −1 ÷ n on the average.
        let phi = (r + 1.0 / blocks as f64).clamp(-0.95, 0.95);
        let factor = ((1.0 + phi) / (1.0 - phi)).sqrt();
        let what = if phi > 0.0 { "too narrow" } else { "wider than needed" };
        let text = format!(
            "the differences of a block go with those of the block before (autocorrelation \
             {phi:.2} over {blocks} blocks, {}): intervals are {what}, true ones would be about \
             {factor:.1} times as wide",
            p_words(p)
        );
        Some(Finding { kind: FindingKind::Autocorrelation, text, p: Some(p) })
    }
}

/// Complete blocks of the class with most values: of the contenders that were in at least three
/// quarters of its blocks.
fn rows(points: &Points) -> Option<(Vec<Vec<f64>>, usize)> {
    let mut classes: BTreeMap<Class, BTreeMap<usize, BTreeMap<u32, f64>>> = BTreeMap::new();
    for point in &points.all {
        let arms = classes.entry(point.class).or_default();
        arms.entry(point.contender).or_default().insert(point.block, point.value.ln());
    }
    let size = |arms: &BTreeMap<usize, BTreeMap<u32, f64>>| {
        arms.values().map(BTreeMap::len).sum::<usize>()
    };
    let arms = classes.into_values().max_by_key(size)?;
    let most = arms.values().map(BTreeMap::len).max()?;
    let kept: Vec<&BTreeMap<u32, f64>> =
        arms.values().filter(|own| own.len() * 4 >= most * 3).collect();
    let blocks =
        kept.first()?.keys().filter(|block| kept.iter().all(|own| own.contains_key(block)));
    let rows: Vec<Vec<f64>> =
        blocks.map(|block| kept.iter().map(|own| own[block]).collect()).collect();
    let count = rows.len();
    Some((rows, count))
}

fn outliers(points: &Points) -> Vec<Outlier> {
    let mut sets: BTreeMap<(usize, Class), Vec<(u32, f64)>> = BTreeMap::new();
    for point in &points.all {
        let set = sets.entry((point.contender, point.class)).or_default();
        set.push((point.block, point.value.ln()));
    }
    let mut found = Vec::new();
    for ((contender, _), values) in sets {
        if values.len() < OUTLIER_VALUES_MIN {
            continue;
        }
        let logs: Vec<f64> = values.iter().map(|value| value.1).collect();
        let Ok(centre) = median(&logs) else { continue };
        let distances: Vec<f64> = logs.iter().map(|value| (value - centre).abs()).collect();
        let Ok(deviation) = median(&distances) else { continue };
        for ((block, log), distance) in values.iter().zip(&distances) {
            let modified_z = 0.6745 * distance / deviation.max(OUTLIER_MAD_MIN);
            if modified_z > OUTLIER_Z {
                let to_median = (log - centre).exp();
                found.push(Outlier { contender, block: block + 1, to_median, modified_z });
            }
        }
    }
    found
}

fn fitted_words(fitted: Covariates) -> String {
    let parts = [
        (fitted.drift, "the drift"),
        (fitted.position, "the place in the block"),
        (fitted.carry_over, "the trial before"),
    ];
    let parts: Vec<&str> = parts.iter().filter(|part| part.0).map(|part| part.1).collect();
    parts.join(" and ")
}

/// A difference of logarithms as a change in percent, with its sign.
fn percent(log: f64) -> String {
    format!("{:+.2} %", log.exp_m1() * 100.0)
}
