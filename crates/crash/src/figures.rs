//! Figures of many crash points: shares, loss windows and counts with their intervals.
//!
//! The unit is the crash point; the crash points of one run hang together, because the same file is
//! looked at in many of them. So an interval over several runs is of a cluster bootstrap whose
//! clusters are runs (ten at least), and one of a single run (Wilson for shares, order statistics
//! for a median) says what it is. Each class of states has its own figures, and states per event
//! have none: their number says nothing about a chance.

use crate::JsonSchema;
use crate::findings::{AppendTails, Findings, ReplacedTargets};
use crate::observation::MountStep;
use crate::promise::PromiseClass;
use crate::state::{Class, Sampling};
use fsarena_model::seed::Seed;
use fsarena_stats::{
    Bounds, Estimate, Resampling, SampleError, cluster_bootstrap, median_order_statistics,
    quantile, wilson,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How intervals are made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FigureOptions {
    /// Share of misses allowed: 0.05 for 95 %.
    pub alpha: f64,
    /// 2000 are usual.
    pub resamples: usize,
    pub seed: u64,
}

impl Default for FigureOptions {
    fn default() -> Self {
        Self { alpha: 0.05, resamples: 2000, seed: 1 }
    }
}

/// Where an interval is from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Wilson's, of the crash points of one run.
    Wilson,
    /// Wilson's, of all crash points as if they were independent: none or all are hits, where a
    /// bootstrap has no width. The true interval is wider.
    WilsonOfAllRuns,
    /// Cluster bootstrap over runs.
    ClusterBootstrap,
    /// Order statistics of the crash points of one run.
    OrderStatistics,
    /// There is no interval: one run, or too few crash points.
    None,
}

/// A number with its interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub method: Method,
}

/// So many of so many.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    pub hits: u64,
    pub of: u64,
    /// From 0 to 1.
    pub share: Figure,
}

/// A time over crash points, those at which it is 0 included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    pub p50_ns: Figure,
    pub p95_ns: Figure,
    pub max_ns: u64,
}

/// The figures of one class of states. Shares are of crash points unless it says otherwise.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    pub runs: u32,
    pub crash_points: u64,
    /// A1: acknowledged work is lost (P0).
    pub contract_broken: Share,
    /// A1: files of which something was acknowledged that are lost, of all checks of such files.
    pub acknowledged_files_lost: Share,
    /// A1: seconds of acknowledged work, where some is lost; 0 elsewhere.
    pub acknowledged_loss: Times,
    /// A documented promise is broken (P1).
    pub documented_broken: Share,
    /// A2: of data and metadata together, and each.
    pub loss_window: Times,
    pub data_loss_window: Times,
    pub metadata_loss_window: Times,
    /// A2: bytes that are not there, mean over crash points.
    pub lost_bytes: Figure,
    /// A3: some replaced file is damaged.
    pub replace_damaged: Share,
    /// A3: of all checks of such files.
    pub replaced_files_damaged: Share,
    /// A3: checks by kind.
    pub replaced: ReplacedTargets,
    /// A4: checks by kind.
    pub appended: AppendTails,
    /// A5: some file has stale bytes.
    pub stale_bytes_seen: Share,
    /// A5: files and bytes in all crash points together.
    pub stale_files: u64,
    pub stale_bytes: u64,
    /// A6: what survived is a prefix of history.
    pub is_prefix: Share,
    /// A7: crash points by the way in which they could be mounted; those in no way are missing.
    pub mounted: BTreeMap<MountStep, u64>,
    pub mounted_as_it_was: Share,
    /// A7: fsck found damage after the mount, of those where it was run.
    pub needs_repair: Option<Share>,
    /// A7: files in `lost+found`, in all crash points together.
    pub lost_and_found: u64,
    /// A8: the mount that succeeded, with what it recovered and a repair that came before it, on
    /// the modelled disk; of the crash points at which there was one and its time was taken.
    pub recovery: Option<Times>,
    /// How many those are.
    #[serde(default)]
    pub recovery_points: u64,
}

/// Findings of the crash points of one run (one seed).
pub type RunFindings = Vec<Findings>;

/// Why there are no figures.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum FigureError {
    #[error(
        "run {run}, state {state}: it was chosen per event, which is for finding bugs; take states \
         at uniform times for rates"
    )]
    PerEvent { run: usize, state: usize },
    #[error(
        "run {run}, state {state}: contents were found that were written after the crash; times \
         of op journal and write log do not belong together"
    )]
    Later { run: usize, state: usize },
    #[error(transparent)]
    Sample(#[from] SampleError),
}

/// Figures of each class among the findings, in the order of classes. A run without states of a
/// class is none of its runs.
///
/// # Errors
/// A state per event or one that cannot be judged; options out of their range.
pub fn figures(
    runs: &[RunFindings],
    options: &FigureOptions,
) -> Result<Vec<(Class, Figures)>, FigureError> {
    let mut classes: BTreeMap<Class, Vec<Vec<&Findings>>> = BTreeMap::new();
    for (run, findings) in runs.iter().enumerate() {
        let mut of_run: BTreeMap<Class, Vec<&Findings>> = BTreeMap::new();
        for (state, found) in findings.iter().enumerate() {
            if found.sampling != Sampling::Uniform {
                return Err(FigureError::PerEvent { run, state });
            }
            if found.later_files > 0 {
                return Err(FigureError::Later { run, state });
            }
            of_run.entry(found.class).or_default().push(found);
        }
        for (class, findings) in of_run {
            classes.entry(class).or_default().push(findings);
        }
    }
    let of_class = |(class, runs): (Class, Vec<Vec<&Findings>>)| {
        Ok((class, Points { runs: &runs, options }.figures()?))
    };
    classes.into_iter().map(of_class).collect()
}

/// Crash points of one class, by run; no run is empty.
struct Points<'a> {
    runs: &'a [Vec<&'a Findings>],
    options: &'a FigureOptions,
}

impl Points<'_> {
    fn figures(&self) -> Result<Figures, SampleError> {
        let all = || self.runs.iter().flatten();
        let total = |number: fn(&Findings) -> u64| {
            all().map(|found| number(found)).fold(0, u64::saturating_add)
        };
        let mut mounted = BTreeMap::new();
        let (mut replaced, mut appended) = (ReplacedTargets::default(), AppendTails::default());
        for found in all() {
            if let Some(step) = found.mounted {
                *mounted.entry(step).or_default() += 1;
            }
            replaced.add(&found.replaced);
            appended.add(&found.appended);
        }
        let has_fsck = all().any(|found| found.needs_repair.is_some());
        Ok(Figures {
            runs: self.runs.len() as u32,
            crash_points: all().count() as u64,
            contract_broken: self.points(Findings::breaks_the_contract)?,
            acknowledged_files_lost: self.share(|found| Ratio {
                hits: found.acknowledged_files_lost,
                of: found.acknowledged_files,
            })?,
            acknowledged_loss: self.times(|found| found.acknowledged_loss_ns.unwrap_or(0))?,
            documented_broken: self.points(|found| found.breaks(PromiseClass::Documented))?,
            loss_window: self.times(|found| found.loss_window.all_ns())?,
            data_loss_window: self.times(|found| found.loss_window.data_ns)?,
            metadata_loss_window: self.times(|found| found.loss_window.metadata_ns)?,
            lost_bytes: self.mean(|found| found.lost_bytes)?,
            replace_damaged: self.points(|found| found.replaced.damaged() > 0)?,
            replaced_files_damaged: self.share(|found| Ratio {
                hits: found.replaced.damaged(),
                of: found.replaced.checked(),
            })?,
            replaced,
            appended,
            stale_bytes_seen: self.points(|found| found.stray.stale_bytes > 0)?,
            stale_files: total(|found| found.stray.stale_files.into()),
            stale_bytes: total(|found| found.stray.stale_bytes),
            is_prefix: self.points(|found| found.is_prefix)?,
            mounted,
            mounted_as_it_was: self.points(|found| {
                found.mounted == Some(MountStep::ReadWrite) && found.is_usable != Some(false)
            })?,
            needs_repair: if has_fsck { Some(self.share(repair)?) } else { None },
            lost_and_found: total(|found| found.lost_and_found.into()),
            recovery: match all().any(|found| found.mount_ns.is_some()) {
                true => Some(self.times_of_some(|found| found.mount_ns)?),
                false => None,
            },
            recovery_points: all().filter(|found| found.mount_ns.is_some()).count() as u64,
        })
    }

    /// A share of crash points.
    fn points(&self, is_hit: impl Fn(&Findings) -> bool) -> Result<Share, SampleError> {
        self.share(|found| Ratio { hits: is_hit(found).into(), of: 1 })
    }

    /// A share of what is counted at each crash point.
    fn share(&self, ratio: impl Fn(&Findings) -> Ratio) -> Result<Share, SampleError> {
        let of_run = |run: &Vec<&Findings>| {
            let ratios = run.iter().map(|found| ratio(found));
            ratios.fold((0, 0), |(hits, of), it| (hits + u64::from(it.hits), of + u64::from(it.of)))
        };
        let counts: Vec<(u64, u64)> = self.runs.iter().map(of_run).collect();
        share_of(&counts, self.options)
    }

    fn times(&self, time_ns: impl Fn(&Findings) -> u64) -> Result<Times, SampleError> {
        self.times_of_some(|found| Some(time_ns(found)))
    }

    /// Of the crash points that have one.
    fn times_of_some(
        &self,
        time_ns: impl Fn(&Findings) -> Option<u64>,
    ) -> Result<Times, SampleError> {
        let of_run = |run: &Vec<&Findings>| -> Vec<u64> {
            run.iter().filter_map(|found| time_ns(found)).collect()
        };
        let runs = self.runs.iter().map(of_run).filter(|run| !run.is_empty());
        let runs: Vec<Vec<u64>> = runs.collect();
        let max_ns = runs.iter().flatten().copied().max().unwrap_or(0);
        let [p50_ns, p95_ns] = [0.5, 0.95].map(|share| self.quantile(&runs, share));
        Ok(Times { p50_ns: p50_ns?, p95_ns: p95_ns?, max_ns })
    }

    fn values(&self, value: impl Fn(&Findings) -> u64) -> Vec<Vec<u64>> {
        self.runs.iter().map(|run| run.iter().map(|found| value(found)).collect()).collect()
    }

    fn quantile(&self, runs: &[Vec<u64>], share: f64) -> Result<Figure, SampleError> {
        let pooled = |drawn: &[usize]| {
            let values = drawn.iter().flat_map(|at| &runs[*at]);
            let values: Vec<f64> = values.map(|value| *value as f64).collect();
            quantile(&values, share).unwrap_or(f64::NAN)
        };
        if let [run] = runs {
            if share != 0.5 {
                let value = pooled(&[0]);
                return Ok(Figure { value, low: None, high: None, method: Method::None });
            }
            let values: Vec<f64> = run.iter().map(|value| *value as f64).collect();
            let estimate = median_order_statistics(&values, self.options.alpha)?;
            return Ok(figure(&estimate, Method::OrderStatistics));
        }
        Ok(figure(&self.bootstrap(runs.len(), pooled)?, Method::ClusterBootstrap))
    }

    fn mean(&self, value: impl Fn(&Findings) -> u64) -> Result<Figure, SampleError> {
        let runs = self.values(value);
        let estimate = self.bootstrap(runs.len(), |drawn| {
            let values = || drawn.iter().flat_map(|at| &runs[*at]);
            values().map(|value| *value as f64).sum::<f64>() / values().count() as f64
        })?;
        Ok(figure(&estimate, Method::ClusterBootstrap))
    }

    fn bootstrap(
        &self,
        runs: usize,
        statistic: impl FnMut(&[usize]) -> f64,
    ) -> Result<Estimate, SampleError> {
        bootstrap(runs, self.options, statistic)
    }
}

/// A share of what was counted, by hits and number in each run.
pub(crate) fn share_of(
    counts: &[(u64, u64)],
    options: &FigureOptions,
) -> Result<Share, SampleError> {
    let sum = |drawn: &mut dyn Iterator<Item = usize>| {
        drawn.fold((0_u64, 0_u64), |(hits, of), at| {
            (hits.saturating_add(counts[at].0), of.saturating_add(counts[at].1))
        })
    };
    let (hits, of) = sum(&mut (0..counts.len()));
    if of == 0 {
        let share = Figure { value: 0.0, low: None, high: None, method: Method::None };
        return Ok(Share { hits, of, share });
    }
    let is_single = counts.len() == 1;
    if is_single || hits == 0 || hits == of {
        let method = if is_single { Method::Wilson } else { Method::WilsonOfAllRuns };
        let share = figure(&wilson(hits, of, options.alpha)?, method);
        return Ok(Share { hits, of, share });
    }
    let estimate =
        bootstrap(counts.len(), options, |drawn| match sum(&mut drawn.iter().copied()) {
            // Runs in which nothing was counted.
            (_, 0) => 0.0,
            (hits, of) => hits as f64 / of as f64,
        })?;
    Ok(Share { hits, of, share: figure(&estimate, Method::ClusterBootstrap) })
}

/// The same draws for every figure, so that figures can be compared.
fn bootstrap(
    runs: usize,
    options: &FigureOptions,
    statistic: impl FnMut(&[usize]) -> f64,
) -> Result<Estimate, SampleError> {
    let FigureOptions { alpha, resamples, seed } = *options;
    let mut rng = Seed::from_number(seed).child("resamples", 0).rng();
    let below = |bound| rng.below(bound);
    cluster_bootstrap(runs, Resampling { resamples, alpha }, below, statistic)
}

/// So many of so many at one crash point.
struct Ratio {
    hits: u32,
    of: u32,
}

fn repair(found: &Findings) -> Ratio {
    Ratio {
        hits: (found.needs_repair == Some(true)).into(),
        of: found.needs_repair.is_some().into(),
    }
}

fn figure(estimate: &Estimate, method: Method) -> Figure {
    let interval = match estimate.bounds {
        Bounds::Attained(interval) => Some(interval),
        Bounds::Unattainable { .. } => None,
    };
    let method = if interval.is_some() { method } else { Method::None };
    let (low, high) = (interval.map(|it| it.low), interval.map(|it| it.high));
    Figure { value: estimate.point, low, high, method }
}

#[cfg(test)]
mod tests;
