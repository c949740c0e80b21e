//! What a rule said over all its plays, in figures.

use crate::rules::{Rule, RuleRun};
use crate::slots::Slots;
use fsarena_model::seed::Seed;
use fsarena_model::verdict::Verdict;
use serde::Serialize;
use statrs::function::beta::beta_reg;

/// False verdicts in 1,000 replays that are still in keeping with a promise of 5 %: a rule with
/// just 5 % exceeds it about once in 70 tapes (binomial).
pub const FALSE_PER_THOUSAND: usize = 65;

/// Resamples of the cluster bootstrap.
const RESAMPLES: usize = 999;
/// Fewer clusters than this say nothing of tapes like this one.
const LEAST_CLUSTERS: usize = 5;

/// A share that was counted.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Rate {
    pub count: usize,
    pub of: usize,
    /// Lower end of the exact 95 % binomial interval (C. Clopper and E. Pearson, Biometrika 26,
    /// 1934). Given the tape, plays are independent draws of a start and of coins, so that it holds
    /// for this very tape; windows overlap, and of other tapes it says nothing.
    pub low: f64,
    pub high: f64,
}

impl Rate {
    /// A share with its bounds.
    #[must_use]
    pub fn new(count: usize, of: usize) -> Self {
        let (low, high) = binomial_bounds(count, of, 0.05);
        Self { count, of, low, high }
    }

    /// The share, 0 to 1; 0 of none.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.count as f64 / self.of as f64 }
    }

    /// Whether there are more false verdicts than a promise of 5 % allows: more than
    /// [`FALSE_PER_THOUSAND`], and so many that fewer replays than 1,000 can tell, too.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        self.count * 1000 > FALSE_PER_THOUSAND * self.of && self.low > 0.05
    }
}

/// Exact bounds of a share of which `count` of `of` were seen; each end misses with `alpha` ÷ 2.
#[must_use]
pub fn binomial_bounds(count: usize, of: usize, alpha: f64) -> (f64, f64) {
    let (seen, missed) = (count as f64, of.saturating_sub(count) as f64);
    // I_p(a, b) rises with p from 0 to 1.
    let solve = |a: f64, b: f64, level: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if beta_reg(a, b, middle) < level {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    };
    let low = if count == 0 { 0.0 } else { solve(seen, missed + 1.0, alpha / 2.0) };
    let high = if count >= of { 1.0 } else { solve(seen + 1.0, missed, 1.0 - alpha / 2.0) };
    (low, high)
}

/// A rule on a tape with one injected effect.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct EffectFigures {
    /// What the values of B were multiplied by: the true B ÷ A.
    pub factor: f64,
    /// Plays that said B is faster.
    pub faster: usize,
    /// Plays that said B is slower.
    pub slower: usize,
    /// Plays that said they are the same.
    pub same: usize,
    /// Plays that said nothing.
    pub undecided: usize,
    /// Share of plays whose interval contains the truth; absent where the rule has none.
    pub coverage: Option<f64>,
    /// Median of ln(estimate) ÷ ln(truth) among FASTER and SLOWER; absent without an effect or
    /// without such a verdict.
    pub exaggeration: Option<f64>,
    /// Median of slots taken.
    pub runs_median: f64,
    /// The slots that 90 % of plays did not exceed.
    pub runs_p90: f64,
    /// Median of the machine's time, s, however the play ended.
    pub seconds_median: f64,
    /// The machine's time that 90 % of plays did not exceed, s.
    pub seconds_p90: f64,
}

impl EffectFigures {
    #[must_use]
    pub fn plays(&self) -> usize {
        self.faster + self.slower + self.same + self.undecided
    }

    /// Share of plays that said the right direction of an effect above 1, 0 to 1.
    #[must_use]
    pub fn power(&self) -> f64 {
        self.slower as f64 / self.plays().max(1) as f64
    }

    /// Share of plays that said the wrong direction of an effect above 1, 0 to 1.
    #[must_use]
    pub fn wrong_sign(&self) -> f64 {
        self.faster as f64 / self.plays().max(1) as f64
    }
}

/// A rule on a tape.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct RuleFigures {
    /// Its name in documents.
    pub key: String,
    pub name: String,
    /// What it does, in one line.
    pub legend: String,
    /// Whether it is what fsarena ships.
    pub is_ours: bool,
    /// Whether too many false verdicts of it are a failure: it is what fsarena does by default.
    pub is_gate: bool,
    /// FASTER and SLOWER where nothing was injected.
    pub false_verdicts: Rate,
    /// 95 % interval of the same share on tapes like this one: percentiles of a bootstrap over
    /// stretches of the tape as long as the rule's longest window. Absent with fewer than five.
    pub clusters_low: Option<f64>,
    pub clusters_high: Option<f64>,
    /// Number of these stretches.
    pub clusters: usize,
    /// Share of plays that said anything (SAME too) where nothing was injected.
    pub any_claim: f64,
    /// SAME where the truth is exactly the margin; absent for a rule that cannot say SAME.
    pub false_same: Option<Rate>,
    /// Least coverage of the rule's interval over all effects.
    pub least_coverage: Option<f64>,
    /// One row an effect, in ascending order.
    pub effects: Vec<EffectFigures>,
}

impl RuleFigures {
    /// The row of an injected factor.
    #[must_use]
    pub fn effect(&self, factor: f64) -> Option<&EffectFigures> {
        self.effects.iter().find(|effect| (effect.factor - factor).abs() < 1e-9)
    }

    /// Whether it has more false verdicts than a promise of 5 % allows.
    #[must_use]
    pub fn is_over_limit(&self) -> bool {
        self.false_verdicts.is_over_limit()
    }
}

/// Plays of one effect, as they are added.
#[derive(Default)]
struct Tally {
    verdicts: Vec<Verdict>,
    covered: usize,
    with_interval: usize,
    exaggerations: Vec<f64>,
    runs: Vec<f64>,
    seconds: Vec<f64>,
}

/// The plays of one rule.
pub(crate) struct RuleTally<'a> {
    rule: &'a Rule,
    margin: f64,
    effects: &'a [f64],
    tallies: Vec<Tally>,
    /// Starting slot of each play without an effect, and whether its verdict was false.
    starts: Vec<(usize, bool)>,
}

impl<'a> RuleTally<'a> {
    pub(crate) fn new(rule: &'a Rule, margin: f64, effects: &'a [f64]) -> Self {
        let tallies = effects.iter().map(|_| Tally::default()).collect();
        Self { rule, margin, effects, tallies, starts: Vec::new() }
    }

    pub(crate) fn add(&mut self, effect: usize, start: usize, play: &RuleRun, slots: &Slots<'_>) {
        let truth = self.effects[effect].ln();
        let differs = matches!(play.verdict, Verdict::Faster | Verdict::Slower);
        let tally = &mut self.tallies[effect];
        tally.verdicts.push(play.verdict);
        if let Some((low, high)) = play.interval {
            tally.with_interval += 1;
            tally.covered += usize::from(low <= truth && truth <= high);
        }
        if differs && truth != 0.0 {
            tally.exaggerations.push(play.log_ratio / truth);
        }
        tally.runs.push(slots.labels().len() as f64);
        tally.seconds.push(slots.machine_s());
        if truth == 0.0 {
            self.starts.push((start, differs));
        }
    }

    pub(crate) fn figures(self, seed: Seed) -> RuleFigures {
        let clusters = clusters(&self.starts, self.rule.most);
        let bounds = cluster_bounds(&clusters, seed);
        let count = self.starts.iter().filter(|(_, is_false)| *is_false).count();
        let effects: Vec<EffectFigures> =
            self.effects.iter().zip(&self.tallies).map(|(&f, tally)| tally.figures(f)).collect();
        let edge = 1.0 + self.margin;
        let at_edge = effects.iter().find(|effect| (effect.factor - edge).abs() < 1e-9);
        let plain = effects.iter().find(|effect| effect.factor == 1.0);
        let any_claim = plain
            .map_or(0.0, |effect| 1.0 - effect.undecided as f64 / effect.plays().max(1) as f64);
        let coverages = effects.iter().filter_map(|effect| effect.coverage);
        RuleFigures {
            key: self.rule.key.to_owned(),
            name: self.rule.name.to_owned(),
            legend: self.rule.legend.clone(),
            is_ours: self.rule.is_ours,
            is_gate: self.rule.is_default,
            false_verdicts: Rate::new(count, self.starts.len()),
            clusters_low: bounds.map(|(low, _)| low),
            clusters_high: bounds.map(|(_, high)| high),
            clusters: clusters.len(),
            any_claim,
            false_same: at_edge
                .filter(|_| self.rule.says_same)
                .map(|effect| Rate::new(effect.same, effect.plays())),
            least_coverage: coverages.min_by(f64::total_cmp),
            effects,
        }
    }
}

impl Tally {
    fn figures(&self, factor: f64) -> EffectFigures {
        let count = |verdict| self.verdicts.iter().filter(|said| **said == verdict).count();
        let at = |values: &[f64], share| fsarena_stats::quantile(values, share).unwrap_or(0.0);
        EffectFigures {
            factor,
            faster: count(Verdict::Faster),
            slower: count(Verdict::Slower),
            same: count(Verdict::Same),
            undecided: count(Verdict::Undecided),
            coverage: (self.with_interval > 0)
                .then(|| self.covered as f64 / self.verdicts.len() as f64),
            exaggeration: fsarena_stats::median(&self.exaggerations).ok(),
            runs_median: at(&self.runs, 0.5),
            runs_p90: at(&self.runs, 0.9),
            seconds_median: at(&self.seconds, 0.5),
            seconds_p90: at(&self.seconds, 0.9),
        }
    }
}

/// Plays and false verdicts by stretch of the tape that they began in; a stretch has `width` slots.
fn clusters(starts: &[(usize, bool)], width: usize) -> Vec<(usize, usize)> {
    let last = starts.iter().map(|(start, _)| *start).max();
    let mut clusters = vec![(0, 0); last.map_or(0, |last| last / width.max(1) + 1)];
    for (start, is_false) in starts {
        let cluster = &mut clusters[start / width.max(1)];
        cluster.0 += 1;
        cluster.1 += usize::from(*is_false);
    }
    clusters.retain(|(plays, _)| *plays > 0);
    clusters
}

/// Percentiles of the share of false verdicts when whole stretches are drawn with replacement.
fn cluster_bounds(clusters: &[(usize, usize)], seed: Seed) -> Option<(f64, f64)> {
    if clusters.len() < LEAST_CLUSTERS {
        return None;
    }
    let mut rng = seed.rng();
    let mut shares: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn =
                (0..clusters.len()).map(|_| clusters[rng.below(clusters.len() as u64) as usize]);
            let (plays, wrong) = drawn.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            wrong as f64 / plays as f64
        })
        .collect();
    fsarena_stats::sort(&mut shares);
    // The 25th from either end of 999 have 2.5 % beyond them.
    Some((shares[RESAMPLES / 40], shares[RESAMPLES - 1 - RESAMPLES / 40]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_bounds_are_those_of_the_tables() {
        // R: binom.test(c(5, 0, 1000)...); stats.md section 3.
        let near = |(low, high): (f64, f64), expected: (f64, f64)| {
            assert!((low - expected.0).abs() < 5e-5, "{low}");
            assert!((high - expected.1).abs() < 5e-5, "{high}");
        };
        near(binomial_bounds(50, 1000, 0.05), (0.03733, 0.06539));
        near(binomial_bounds(20, 400, 0.05), (0.03081, 0.07614));
        near(binomial_bounds(0, 10, 0.05), (0.0, 0.30850));
        near(binomial_bounds(10, 10, 0.05), (0.69150, 1.0));
        near(binomial_bounds(0, 0, 0.05), (0.0, 1.0));
    }

    #[test]
    fn clusters_are_stretches_of_the_tape() {
        let starts = [(0, true), (5, false), (6, true), (13, true), (13, false)];
        assert_eq!(clusters(&starts, 6), [(2, 1), (1, 1), (2, 1)]);
        assert_eq!(clusters(&[], 6), []);
        assert_eq!(cluster_bounds(&[(10, 1); 4], Seed::from_number(1)), None);
        let equal = cluster_bounds(&[(10, 1); 8], Seed::from_number(1));
        assert_eq!(equal, Some((0.1, 0.1)));
    }

    #[test]
    fn one_bad_stretch_widens_the_interval_of_clusters() {
        let mut uneven = [(100, 2); 10];
        uneven[3] = (100, 60);
        let (low, high) = cluster_bounds(&uneven, Seed::from_number(1)).unwrap();
        let (exact_low, exact_high) = binomial_bounds(78, 1000, 0.05);
        assert!(low < exact_low && high > exact_high, "{low} {high}");
    }
}
