//! What changes are marked in series that have none, and in series that have one: simulated boots,
//! each with an effect of its own, in histories of several series.

use crate::units::Chance;
use fsarena_stats::change_point::{ChangePoint, ChangeRule, FamilySize, change_points};

/// Share of histories with a false mark that is promised.
const ALPHA: f64 = 0.05;
/// No spread is as small as that here.
const FLOOR: f64 = 1e-7;

/// Histories of `series` series with `boots` boots each.
struct Histories {
    series: usize,
    boots: usize,
    positions: Vec<usize>,
    rule: ChangeRule,
}

impl Histories {
    fn new(series: usize, boots: usize, margin: f64) -> Self {
        let positions: Vec<usize> = (1..boots).collect();
        let family = (0..series).map(|_| FamilySize::new(boots, &positions)).sum();
        let rule = ChangeRule::new(ALPHA, family, margin.ln_1p());
        Self { series, boots, positions, rule }
    }

    /// The changes that are marked in one history, whose logarithms are drawn by series and boot.
    fn marks(&self, mut draw: impl FnMut(usize, usize) -> f64) -> Vec<Vec<ChangePoint>> {
        let one = |series: usize| {
            let logs: Vec<f64> = (0..self.boots).map(|boot| draw(series, boot)).collect();
            change_points(&logs, &self.positions, &self.rule, FLOOR)
        };
        (0..self.series).map(one).collect()
    }

    /// Share of `times` histories that have a mark.
    fn share(&self, times: u32, mut draw: impl FnMut(&mut Chance, usize) -> f64) -> f64 {
        let mut chance = Chance(u64::from(times) + self.boots as u64);
        let has_mark = |_: &u32| {
            self.marks(|_, boot| draw(&mut chance, boot)).iter().any(|all| !all.is_empty())
        };
        f64::from((0..times).filter(has_mark).count() as u32) / f64::from(times)
    }
}

/// Effect of a boot with a spread of 3 %.
fn normal(chance: &mut Chance, _: usize) -> f64 {
    0.03 * chance.normal()
}

/// Student's t with three degrees of freedom: some boots are far off.
fn heavy(chance: &mut Chance, _: usize) -> f64 {
    let squares: f64 = (0..3).map(|_| chance.normal().powi(2)).sum();
    0.03 * chance.normal() / (squares / 3.0).sqrt()
}

/// Some boots take longer, none is much shorter.
fn skew(chance: &mut Chance, _: usize) -> f64 {
    -0.03 * (1.0 - chance.uniform()).ln()
}

/// One boot in ten takes 35 % longer.
fn outliers(chance: &mut Chance, _: usize) -> f64 {
    0.02 * chance.normal() + if chance.uniform() < 0.1 { 0.3 } else { 0.0 }
}

/// The spread is five times as large from this boot on.
fn noisier_from(first: usize) -> impl Fn(&mut Chance, usize) -> f64 {
    move |chance, boot| normal(chance, boot) * if boot >= first { 5.0 } else { 1.0 }
}

/// Without a margin, which would hide some: boots that differ among themselves, and no change.
#[test]
fn a_change_is_seldom_marked_where_there_is_none() {
    type Draw = fn(&mut Chance, usize) -> f64;
    let kinds: [(&str, Draw); 3] = [("normal", normal), ("heavy", heavy), ("skew", skew)];
    for (series, boots, times) in [(1, 6, 2000), (1, 12, 1000), (1, 30, 300), (6, 8, 400)] {
        let histories = Histories::new(series, boots, 0.0);
        for (name, draw) in kinds {
            let share = histories.share(times, draw);
            assert!(share <= ALPHA, "{series} series of {boots} boots, {name}: {share}");
        }
    }
}

/// Neither does a spread that grows look like a change of the level, nor do boots that are far off:
/// Student's t alone marks up to four times as many.
#[test]
fn other_noise_is_seldom_taken_for_a_change() {
    for (series, boots, times) in [(1, 12, 1000), (1, 24, 400), (6, 8, 400)] {
        let histories = Histories::new(series, boots, 0.0);
        for first in [boots / 2, boots - 3] {
            let share = histories.share(times, noisier_from(first));
            assert!(share <= ALPHA, "{series} of {boots}, noisier from {first}: {share}");
        }
        let share = histories.share(times, outliers);
        assert!(share <= ALPHA, "{series} of {boots}, outliers: {share}");
    }
}

/// A third more time in one of six series, with 3 % between boots: marked where it is, with an
/// interval that holds it, and nothing else is.
#[test]
fn a_change_of_30_percent_is_found() {
    let (times, step) = (100, 1.3f64.ln());
    for (before, after) in [(6, 6), (4, 4), (24, 6), (24, 24)] {
        let histories = Histories::new(6, before + after, 0.05);
        let mut chance = Chance(before as u64);
        let (mut found, mut held, mut others) = (0, 0, 0);
        for _ in 0..times {
            let marks = histories.marks(|series, boot| {
                let level = if series == 0 && boot >= before { step } else { 0.0 };
                normal(&mut chance, boot) + level
            });
            found += u32::from(marks[0].iter().any(|one| one.at == before));
            held += u32::from(marks[0].iter().any(|one| one.low < step && step < one.high));
            others += marks.iter().map(Vec::len).sum::<usize>() - usize::from(!marks[0].is_empty());
        }
        assert!(found >= 97 && held >= 97, "{before} + {after}: {found} found, {held} held");
        assert!(others <= 5, "{before} + {after}: {others} others");
    }
}
