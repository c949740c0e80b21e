//! What trials of the same work took before, and those of the nearest work.
//!
//! A trial of the same workload (whatever its name) on equal levels says more than any sum of its
//! parts. Next come equal work with other options of the file system, and the same phases at
//! another scale; then, where nothing is known of the file system itself, equal work on another one
//! and on another kind of device.

use super::source::CostSource;
use super::stated::stated_ns;
use super::sums::Sums;
use fsarena_model::contender::Levels;
use fsarena_model::past::{PastTrial, PastWork};
use fsarena_model::phase::Workload;

/// Latest trials of a cell that count: machines and kernels change.
const LATEST: usize = 12;
/// Steps that take longer where there is more work.
const WORK_STEPS: [&str; 5] = ["measure", "prepare", "stage", "hook", "verify"];

/// Expected length of a trial, and what says so.
pub(super) struct ExpectedLength {
    pub(super) ns: f64,
    pub(super) source: CostSource,
    pub(super) words: String,
}

/// What is to be foretold.
#[derive(Clone, Copy)]
pub(super) struct TrialSought<'a> {
    pub(super) workload: &'a Workload,
    pub(super) levels: &'a Levels,
    pub(super) verify: bool,
}

impl TrialSought<'_> {
    /// From the same work, with these options or others, or at another scale.
    pub(super) fn own(self, past: &[PastWork]) -> Option<ExpectedLength> {
        self.equal_levels(past).or_else(|| self.other_options(past)).or_else(|| self.scaled(past))
    }

    /// From the same work on another file system, or another kind of device.
    pub(super) fn other(self, past: &[PastWork]) -> Option<ExpectedLength> {
        let near = |is_near: &dyn Fn(&PastWork) -> bool, words: &str| {
            let found: Vec<&PastWork> =
                past.iter().filter(|old| self.is_same_work(old) && is_near(old)).collect();
            let first = found.first()?.levels.fs.name.clone();
            found_in(
                &found,
                |trial| trial.whole_ns as f64,
                CostSource::Near,
                || words.replace("{fs}", &first),
            )
        };
        let kind = self.levels.device.kind();
        near(&|old| old.levels.device.kind() == kind, "records of {fs}").or_else(|| {
            // What is in memory says nothing of a disk, but what programs take.
            let programs = self.workload.source.is_some() || self.workload.fio.is_some();
            near(&|_| programs, "records of {fs} on another kind of device")
        })
    }

    fn is_same_work(self, old: &PastWork) -> bool {
        old.verify == self.verify && bare(&old.workload) == bare(self.workload)
    }

    fn is_own(self, old: &PastWork) -> bool {
        let (own, other) = (self.levels, &old.levels);
        (&own.fs.name, own.device.kind()) == (&other.fs.name, other.device.kind())
    }

    fn equal_levels(self, past: &[PastWork]) -> Option<ExpectedLength> {
        let is_equal = |old: &&PastWork| old.levels == *self.levels && self.is_same_work(old);
        let found: Vec<&PastWork> = past.iter().filter(is_equal).collect();
        let trials = found.iter().map(|old| old.trials.len()).sum::<usize>().min(LATEST);
        found_in(
            &found,
            |trial| trial.whole_ns as f64,
            CostSource::SameWork,
            || match trials {
                1 => "1 record of the same work".to_owned(),
                _ => format!("{trials} records of the same work"),
            },
        )
    }

    fn other_options(self, past: &[PastWork]) -> Option<ExpectedLength> {
        let fits = |old: &&PastWork| {
            let alike = (old.levels.cache, &old.levels.factors, old.levels.handicap_ns);
            let own = (self.levels.cache, &self.levels.factors, self.levels.handicap_ns);
            self.is_own(old) && self.is_same_work(old) && alike == own
        };
        let found: Vec<&PastWork> = past.iter().filter(fits).collect();
        found_in(
            &found,
            |trial| trial.whole_ns as f64,
            CostSource::Near,
            || "records of the same work with other options".to_owned(),
        )
    }

    fn scaled(self, past: &[PastWork]) -> Option<ExpectedLength> {
        let fits = |old: &&PastWork| {
            let is_alike = unsized_work(&old.workload) == unsized_work(self.workload);
            self.is_own(old) && old.verify == self.verify && is_alike && amount(&old.workload) > 0.0
        };
        let found: Vec<&PastWork> = past.iter().filter(fits).collect();
        // Of the nearest scale.
        let off = |old: &PastWork| (amount(self.workload) / amount(&old.workload)).ln().abs();
        let nearest = found.into_iter().min_by(|a, b| off(a).total_cmp(&off(b)))?;
        let share = amount(self.workload) / amount(&nearest.workload);
        let stated = stated_ns(self.workload, self.levels) as f64;
        let scaled = |trial: &PastTrial| {
            let work = trial.steps.iter().filter(|step| WORK_STEPS.contains(&step.step.as_str()));
            let work_ns = work.map(|step| step.elapsed_ns as f64).sum::<f64>();
            let around_ns = trial.whole_ns as f64 - work_ns;
            // A stated time is not scaled.
            around_ns + stated + (work_ns - stated).max(0.0) * share
        };
        found_in(&[nearest], scaled, CostSource::Near, || "records of another scale".to_owned())
    }
}

/// A workload without what does not change its work.
fn bare(workload: &Workload) -> Workload {
    let (name, title) = (String::new(), String::new());
    Workload { name, title, levels: None, ..workload.clone() }
}

/// Without its amount as well.
fn unsized_work(workload: &Workload) -> Workload {
    let mut work = bare(workload);
    (work.dataset.files, work.dataset.size_bytes) = (0, 0);
    if let Some(source) = &mut work.source {
        source.contents = fsarena_model::job::Contents::default();
    }
    work
}

/// How much work there is: bytes, and a block for each file.
fn amount(workload: &Workload) -> f64 {
    let bytes = Sums::new(workload).dataset_bytes;
    bytes as f64 + 4096.0 * workload.dataset.files as f64
}

fn found_in(
    found: &[&PastWork],
    ns: impl Fn(&PastTrial) -> f64,
    source: CostSource,
    words: impl Fn() -> String,
) -> Option<ExpectedLength> {
    let trials = found.iter().flat_map(|old| &old.trials).take(LATEST);
    let values: Vec<f64> = trials.map(ns).collect();
    Some(ExpectedLength { ns: middle(values)?, source, words: words() })
}

/// The mean without the shortest and the longest: of a sum of trials, the mean is what is
/// expected, and one trial on a busy machine is not.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let inner = match values.len() {
        0 => return None,
        1..=3 => &values[..],
        many => &values[1..many - 1],
    };
    Some(inner.iter().sum::<f64>() / inner.len() as f64)
}
