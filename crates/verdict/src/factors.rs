//! What differences are due to, where several factors vary: multipliers of their levels,
//! interactions, shares of variance.

mod layout;

use crate::points::{Class, Points};
use fsarena_model::run::RunPlan;
use fsarena_model::verdict::Question;
use fsarena_stats::factorial::{
    Analysis, Design, ErrorVariance, FACTORS_MAX, Factor, OMNIBUS_ALPHA, contrast,
};
use layout::{Layout, Varying, has_no_device, layout};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Level of all intervals here, of all levels of a factor together.
const ALPHA: f64 = 0.05;
/// An interaction is taken for one below this.
const INTERACTION_ALPHA: f64 = 0.05;

/// The factors of a question.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct FactorView {
    /// One entry a factor that varies, the strongest first.
    pub factors: Vec<FactorRow>,
    /// Terms of the analysis, main effects and interactions.
    pub terms: Vec<TermRow>,
    /// Probability of the differences among all contenders where there are none.
    pub omnibus_p: f64,
    /// Blocks that went in: those with a value of every cell.
    pub blocks: usize,
    /// What has to be said: cells that are missing, factors that are mixed up.
    pub notes: Vec<String>,
}

/// A factor.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct FactorRow {
    /// Its name (`device`, `fs`, `mount data`, …).
    pub name: String,
    /// Where it exists only within one level of another factor, that level (`fs = ext4`).
    pub within: Option<String>,
    /// Slowest level ÷ fastest level, averaged over all other factors.
    pub spread: f64,
    /// Interval of the spread between these two levels, at 95 % for all pairs of levels of this
    /// factor together (Bonferroni), since which two they are was seen in the figures. Absent for
    /// one block alone.
    pub spread_low: Option<f64>,
    pub spread_high: Option<f64>,
    /// Each level's multiplier.
    pub levels: Vec<LevelRow>,
    /// Share of the variance among contenders (Shapley); absent where the omnibus test does not
    /// pass.
    pub share: Option<f64>,
    /// Whether the levels differ between levels of other factors: then there is no one multiplier,
    /// and `levels` is to be read next to `by_other`.
    pub interacts: bool,
    /// Where it interacts: its multipliers at each level of the factor it interacts with most.
    pub by_other: Vec<LevelsAt>,
}

/// A level of a factor.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct LevelRow {
    /// It, in words.
    pub level: String,
    /// Its value ÷ that of the level that is fastest over all.
    pub multiplier: f64,
    /// Interval, at 95 % for all pairs of levels together; absent for the fastest level itself.
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Multipliers at one level of another factor.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct LevelsAt {
    /// The other factor and its level (`device = zram of 2 GiB`).
    pub at: String,
    /// Multipliers there.
    pub levels: Vec<LevelRow>,
}

/// A term of the analysis of variance.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct TermRow {
    /// `fs`, `device × fs`, `mount data in fs = ext4`.
    pub term: String,
    /// Degrees of freedom.
    pub df: usize,
    /// F.
    pub f: f64,
    /// Its probability where the term does nothing.
    pub p: f64,
}

/// The factors of a question, from the blocks that have a value of every contender; `points` are
/// those that count. `None` where fewer than two factors vary.
///
/// Of cold and warm values, and of those with and without a memory limit, one kind is analysed:
/// that of most contenders.
#[must_use]
pub fn analyze(plan: &RunPlan, question: &Question, points: &Points) -> Option<FactorView> {
    let mut notes = Vec::new();
    let taking = taking_part(plan, points, &mut notes);
    let contenders: Vec<_> = taking.arms.iter().map(|&at| &plan.contenders[at]).collect();
    if contenders.len() < 2 {
        return None;
    }
    let Layout { factors, varying, notes: of_layout } = layout(&contenders);
    notes.extend(of_layout);
    if varying < 2 {
        return None;
    }
    let mut view = FactorView {
        factors: Vec::new(),
        terms: Vec::new(),
        omnibus_p: 1.0,
        blocks: taking.blocks.len(),
        notes,
    };
    let floor_variance = floor_variance(question, &taking.blocks);
    let kinds = factors.iter().map(|f| Factor { levels: f.levels.len(), within: f.within });
    let rows = (0..contenders.len()).map(|row| factors.iter().map(|f| f.of[row]).collect());
    let Some(design) = Design::new(kinds.collect(), rows.collect()) else {
        let many = factors.len();
        view.notes
            .push(format!("{many} factors vary; at most {FACTORS_MAX} are analysed together"));
        return Some(view);
    };
    if taking.blocks.is_empty() {
        view.notes.push("no block has a value of every contender".to_owned());
        return Some(view);
    }
    let analysis = design.analyse(&taking.blocks, floor_variance);
    let fit = Fit { design, factors, blocks: taking.blocks, floor_variance, analysis };
    fit.fill(&mut view);
    Some(view)
}

/// The logarithms of values by contender and block.
type Values = BTreeMap<usize, BTreeMap<u32, f64>>;

/// Contenders that take part, and the logarithms of their values: a row a block.
struct Taking {
    arms: Vec<usize>,
    blocks: Vec<Vec<f64>>,
}

fn taking_part(plan: &RunPlan, points: &Points, notes: &mut Vec<String>) -> Taking {
    let label = |at: &usize| plan.contenders[*at].label.clone();
    let list = |arms: &[usize]| arms.iter().map(label).collect::<Vec<_>>().join(", ");
    let of_class = |class: Class| -> Values {
        let mut arms = Values::new();
        for point in points.all.iter().filter(|point| point.class == class) {
            arms.entry(point.contender).or_default().insert(point.block, point.value.ln());
        }
        arms
    };
    let classes: BTreeSet<Class> = points.all.iter().map(|point| point.class).collect();
    let most = classes.into_iter().map(of_class).reduce(|best, next| {
        let size = |arms: &Values| (arms.len(), arms.values().map(BTreeMap::len).sum::<usize>());
        if size(&next) > size(&best) { next } else { best }
    });
    let mut values = most.unwrap_or_default();
    let all: BTreeSet<usize> = points.all.iter().map(|point| point.contender).collect();
    let other: Vec<usize> = all.into_iter().filter(|at| !values.contains_key(at)).collect();
    if !other.is_empty() {
        let what = "without the values of another kind of cache or memory:";
        notes.push(format!("{what} {}", list(&other)));
    }
    let memory: Vec<usize> =
        values.keys().copied().filter(|&at| has_no_device(&plan.contenders[at])).collect();
    if memory.len() < values.len() && !memory.is_empty() {
        values.retain(|at, _| !memory.contains(at));
        notes.push(format!("without contenders that have no device: {}", list(&memory)));
    }
    let (kept, dropped) = with_two_blocks(&values);
    if !dropped.is_empty() {
        values = kept;
        notes.push(format!("without contenders of too few blocks: {}", list(&dropped)));
    }
    let row = |block: &u32| -> Vec<f64> {
        values.values().filter_map(|own| own.get(block).copied()).collect()
    };
    let blocks = common(&values).iter().map(row).collect();
    Taking { arms: values.into_keys().collect(), blocks }
}

/// The contenders that have two blocks in common, and those that had to be left out for it: the
/// ones with the fewest values. Nobody is left out where that does not help.
fn with_two_blocks(values: &Values) -> (Values, Vec<usize>) {
    let mut kept = values.clone();
    let mut dropped = Vec::new();
    while common(&kept).len() < 2 {
        // Of those with the fewest values the last.
        let fewest = kept.iter().rev().min_by_key(|(_, own)| own.len()).map(|(&at, _)| at);
        let Some(at) = fewest.filter(|_| kept.len() > 2) else {
            return (values.clone(), Vec::new());
        };
        kept.remove(&at);
        dropped.push(at);
    }
    dropped.sort_unstable();
    (kept, dropped)
}

/// Blocks with a value of every contender.
fn common(values: &Values) -> BTreeSet<u32> {
    let mut all = values.values();
    let first = all.next().map(|own| own.keys().copied().collect()).unwrap_or_default();
    all.fold(first, |mut known: BTreeSet<u32>, own| {
        known.retain(|block| own.contains_key(block));
        known
    })
}

/// Least variance of the logarithm of a value: that of rounding to the metric's step.
fn floor_variance(question: &Question, blocks: &[Vec<f64>]) -> f64 {
    let count = blocks.iter().map(Vec::len).sum::<usize>().max(1) as f64;
    let mean = (blocks.iter().flatten().sum::<f64>() / count).exp();
    (question.metric.step(mean) / mean).powi(2) / 12.0
}

struct Fit {
    design: Design,
    factors: Vec<Varying>,
    blocks: Vec<Vec<f64>>,
    floor_variance: f64,
    /// Absent where nothing is left to tell noise by.
    analysis: Option<Analysis>,
}

impl Fit {
    fn fill(&self, view: &mut FactorView) {
        for at in 0..self.factors.len() {
            let row = self.row(at, &mut view.notes);
            view.factors.extend(row);
        }
        view.factors.sort_by(|a, b| b.spread.total_cmp(&a.spread));
        let Some(analysis) = &self.analysis else {
            let one = "one block alone has a value of every contender: nothing can be tested";
            view.notes.push(one.to_owned());
            return;
        };
        view.omnibus_p = analysis.omnibus.p;
        view.terms = analysis
            .terms
            .iter()
            .map(|term| TermRow {
                term: self.words(&term.factors),
                df: term.test.df,
                f: term.test.f,
                p: term.test.p,
            })
            .collect();
        for term in analysis.terms.iter().filter(|term| term.factors.len() == 1) {
            if term.test.df < term.nominal_df {
                let name = self.words(&term.factors);
                let what = "some of its levels cannot be told apart from levels of other factors";
                view.notes.push(format!("{name}: {what}"));
            }
        }
        let untested: Vec<String> =
            self.design.untested_pairs().iter().map(|&(a, b)| self.words(&[a, b])).collect();
        if !untested.is_empty() {
            let list = untested.join(", ");
            view.notes.push(format!(
                "not to be seen from these contenders, and taken for nothing: {list}"
            ));
        }
        if analysis.shares.is_none() && analysis.omnibus.p < OMNIBUS_ALPHA {
            view.notes.push("no shares: combinations are missing in too large a layout".to_owned());
        } else if analysis.shares.is_none() {
            let p = analysis.omnibus.p;
            view.notes
                .push(format!("no shares: the contenders are not shown to differ (p {p:.2})"));
        } else if !self.design.is_orthogonal() {
            let what = "combinations are missing: effects are adjusted for each other, shares are";
            view.notes.push(format!("{what} averages over all orders of the factors"));
        }
    }

    /// `device × fs`, `mount data in fs = ext4`.
    fn words(&self, factors: &[usize]) -> String {
        let names: Vec<&str> = factors.iter().map(|&at| self.factors[at].name.as_str()).collect();
        let within: BTreeSet<String> = factors.iter().filter_map(|&at| self.within(at)).collect();
        let mut words = names.join(" × ");
        for place in within {
            words = format!("{words} in {place}");
        }
        words
    }

    /// `fs = ext4`
    fn within(&self, at: usize) -> Option<String> {
        let (parent, level) = self.factors[at].within?;
        let parent = &self.factors[parent];
        Some(format!("{} = {}", parent.name, parent.levels[level]))
    }

    fn row(&self, at: usize, notes: &mut Vec<String>) -> Option<FactorRow> {
        let factor = &self.factors[at];
        let everywhere = |_: usize| true;
        let mut fastest = 0;
        let mut least = 0.0;
        for level in 1..factor.levels.len() {
            let weights = self.weights(at, level, 0, &everywhere).unwrap_or_else(|| {
                let name = self.words(&[at]);
                let note = format!(
                    "{name} is mixed up with other factors: its figures are plain means of its \
                     levels and hold theirs, too"
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
                self.plain(at, level, 0)
            });
            let (effect, _) = self.contrast(at, &weights)?;
            if effect < least {
                (fastest, least) = (level, effect);
            }
        }
        let levels = self.levels(at, fastest, &everywhere)?;
        let slowest = levels.iter().max_by(|a, b| a.multiplier.total_cmp(&b.multiplier))?.clone();
        let partner = self.partner(at);
        let by_other = partner.map_or_else(Vec::new, |other| self.by_other(at, fastest, other));
        Some(FactorRow {
            name: factor.name.clone(),
            within: self.within(at),
            spread: slowest.multiplier,
            spread_low: slowest.low,
            spread_high: slowest.high,
            levels,
            share: self.analysis.as_ref().and_then(|a| Some(a.shares.as_ref()?[at])),
            interacts: partner.is_some(),
            by_other,
        })
    }

    /// Multipliers of all levels against `base`, from the rows for which `among` holds; levels
    /// without such a row are left out.
    fn levels(
        &self,
        at: usize,
        base: usize,
        among: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<LevelRow>> {
        let factor = &self.factors[at];
        let row = |level: usize| {
            let text = factor.levels[level].clone();
            if level == base {
                return Some(LevelRow { level: text, multiplier: 1.0, low: None, high: None });
            }
            let is_all = (0..factor.of.len()).all(among);
            let weights = self
                .weights(at, level, base, among)
                .or_else(|| is_all.then(|| self.plain(at, level, base)))?;
            let (effect, ends) = self.contrast(at, &weights)?;
            Some(LevelRow {
                level: text,
                multiplier: effect.exp(),
                low: ends.map(|(low, _)| low.exp()),
                high: ends.map(|(_, high)| high.exp()),
            })
        };
        let rows: Vec<LevelRow> = (0..factor.levels.len()).filter_map(row).collect();
        (rows.len() > 1).then_some(rows)
    }

    fn weights(
        &self,
        at: usize,
        level: usize,
        base: usize,
        among: &dyn Fn(usize) -> bool,
    ) -> Option<Vec<f64>> {
        self.design.weights(at, level, base, among)
    }

    /// Mean of the rows of one level − mean of those of another.
    fn plain(&self, at: usize, level: usize, base: usize) -> Vec<f64> {
        let of = &self.factors[at].of;
        let share = |wanted: usize| 1.0 / of.iter().filter(|l| **l == Some(wanted)).count() as f64;
        let weight = |own: &Option<usize>| match own {
            Some(own) if *own == level => share(level),
            Some(own) if *own == base => -share(base),
            _ => 0.0,
        };
        of.iter().map(weight).collect()
    }

    /// A contrast with its interval at a level that holds for all pairs of levels together.
    fn contrast(&self, at: usize, weights: &[f64]) -> Option<(f64, Option<(f64, f64)>)> {
        let levels = self.factors[at].levels.len();
        let pairs = levels * (levels - 1) / 2;
        let none = ErrorVariance { variance: 0.0, freedom: 0 };
        let error = self.analysis.as_ref().map_or(none, |analysis| analysis.error);
        let alpha = ALPHA / pairs as f64;
        let (effect, interval) =
            contrast(&self.blocks, weights, error, self.floor_variance, alpha)?;
        Some((effect, interval.map(|interval| (interval.low, interval.high))))
    }

    /// The factor that this one interacts with most, where it does with any: that of the pair with
    /// the least p, else any that is with it in a larger term.
    fn partner(&self, at: usize) -> Option<usize> {
        let terms = self.analysis.as_ref()?.terms.iter();
        let found = terms.filter(|term| {
            term.factors.len() > 1 && term.factors.contains(&at) && term.test.p < INTERACTION_ALPHA
        });
        let order =
            |term: &&fsarena_stats::factorial::Term| (term.factors.len(), term.test.p.to_bits());
        let strongest = found.min_by_key(order)?;
        strongest.factors.iter().copied().find(|&other| other != at)
    }

    fn by_other(&self, at: usize, fastest: usize, other: usize) -> Vec<LevelsAt> {
        let partner = &self.factors[other];
        let place = |level: usize| {
            let within =
                self.within(other).map_or_else(String::new, |place| format!(" in {place}"));
            format!("{} = {}{within}", partner.name, partner.levels[level])
        };
        let rows = (0..partner.levels.len()).filter_map(|level| {
            let levels = self.levels(at, fastest, &|row| partner.of[row] == Some(level))?;
            Some(LevelsAt { at: place(level), levels })
        });
        rows.collect()
    }
}
