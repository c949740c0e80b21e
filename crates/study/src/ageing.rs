//! Ages: in what state aged file systems were, and how many times as long a phase takes on them as
//! on fresh ones.
//!
//! A ratio is the time of an aged contender ÷ that of the contender that is fresh and otherwise the
//! same, as of verdicts (within blocks, with the interval of all pairs of ages of one file system
//! as one family). What is said in words is what these intervals decide.

use crate::contenders::{Contenders, of_one_base, with_right_contents};
use crate::figures::{SpreadF, SpreadNs, median};
use crate::sweep::{alone, between, points, short};
use fsarena_model::age::AgeRecord;
use fsarena_model::contender::Contender;
use fsarena_model::factor;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunPlan;
use fsarena_model::units::three_digits;
use fsarena_model::verdict::{DEFAULT_MARGIN, Verdict};
use fsarena_model::work::{Phase, Workload};
use fsarena_verdict::look_once;
use serde::Serialize;

/// In what a length is read, ns.
const STEP_NS: f64 = 100.0;

/// In what state an aged contender was before the work, over all its trials.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct AgeRow {
    pub contender: usize,
    pub label: String,
    /// Trials that were aged.
    pub n: usize,
    /// Creates, deletes, overwrites and appends; median.
    pub operations: Option<u64>,
    /// SHA-256 over the operations, each once: contenders of one age and device have the same.
    pub operations_sha256: Vec<String>,
    /// Bytes that the fill was to take.
    pub fill_bytes: u64,
    /// Bytes that the churn wrote; median.
    pub churned_bytes: Option<u64>,
    /// Files that were there; median.
    pub files: Option<u64>,
    /// Used share of the capacity by statfs, in percent.
    pub used_percent: Option<SpreadF>,
    /// Extents per file, as a mean over the files of a trial; absent where it does not tell.
    pub extents_per_file: Option<SpreadF>,
    /// Extents that 99 % of the files did not exceed; median over trials.
    pub extents_p99: Option<u64>,
    /// Extents per MiB of contents.
    pub extents_per_mib: Option<SpreadF>,
    /// Writes that found no room and were made again after a sync; of all trials together that
    /// were not taken from a kept image.
    pub room_retries: u64,
    /// Length of the ageing, of those that were not taken from a kept image.
    pub elapsed: Option<SpreadNs>,
    /// Trials that took the state from a kept image.
    pub restored: usize,
    /// SHA-256 of the images that are kept, each once.
    pub image_sha256: Vec<String>,
}

/// One row a contender that was aged.
pub(crate) fn rows(plan: &RunPlan, records: &[TrialRecord]) -> Vec<AgeRow> {
    let known = Contenders::new(plan);
    let of = |(index, contender): (usize, &Contender)| {
        let is_own = |record: &&TrialRecord| known.index(record) == Some(index);
        let own = of_one_base(&records.iter().filter(is_own).collect::<Vec<_>>());
        let own: Vec<&AgeRecord> = own.iter().filter_map(|record| record.age.as_ref()).collect();
        (!own.is_empty()).then(|| row(index, contender.label.clone(), &own))
    };
    plan.contenders.iter().enumerate().filter_map(of).collect()
}

fn row(contender: usize, label: String, own: &[&AgeRecord]) -> AgeRow {
    let whole = |of: fn(&AgeRecord) -> u64| median(own.iter().map(|age| of(age)).collect());
    let extents: Vec<_> = own.iter().filter_map(|age| age.extents).collect();
    let mut operations_sha256: Vec<String> =
        own.iter().map(|age| age.operations_sha256.clone()).collect();
    operations_sha256.sort_unstable();
    operations_sha256.dedup();
    let used = |age: &AgeRecord| age.used_bytes as f64 * 100.0 / age.total_bytes as f64;
    let is_restored = |age: &AgeRecord| age.image.as_ref().is_some_and(|image| image.restored);
    let made = own.iter().filter(|age| !is_restored(age));
    let mut image_sha256: Vec<String> =
        own.iter().filter_map(|age| Some(age.image.as_ref()?.sha256.clone())).collect();
    image_sha256.sort_unstable();
    image_sha256.dedup();
    // Known from the first mount of the work on.
    let mounted = || own.iter().copied().filter(|age| age.total_bytes > 0);
    AgeRow {
        contender,
        label,
        n: own.len(),
        operations: whole(|age| age.operations),
        operations_sha256,
        fill_bytes: own[0].fill_bytes,
        churned_bytes: whole(|age| age.churned_bytes),
        files: whole(|age| age.files),
        used_percent: SpreadF::from_values(mounted().map(used).collect()),
        extents_per_file: SpreadF::from_values(extents.iter().map(|all| all.mean).collect()),
        extents_p99: median(extents.iter().map(|all| all.p99).collect()),
        extents_per_mib: SpreadF::from_values(extents.iter().map(|all| all.per_mib).collect()),
        room_retries: made.clone().map(|age| age.room_retries).fold(0, u64::saturating_add),
        elapsed: SpreadNs::from_values(made.map(|age| age.elapsed_ns).collect()),
        restored: own.iter().filter(|age| is_restored(age)).count(),
        image_sha256,
    }
}

/// How a phase on aged contenders compares with the same on fresh ones.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct AgeingView {
    pub workload: String,
    pub phase: String,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// One a contender that is aged, in the order of the plan.
    pub ratios: Vec<AgeingRatio>,
    /// What the intervals decide, a sentence a row.
    pub words: Vec<String>,
}

/// An aged contender against the same one fresh.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct AgeingRatio {
    /// The aged one.
    pub contender: usize,
    pub label: String,
    /// What both have in common: their label without the age.
    pub base: String,
    /// The age in words.
    pub age: String,
    /// Trials of the aged one with a figure.
    pub n: usize,
    /// Time by the compared clock: geometric means over trials, ns.
    pub fresh_ns: Option<f64>,
    pub aged_ns: Option<f64>,
    /// Time when aged ÷ time when fresh, by the blocks that have both.
    pub ratio: Option<f64>,
    /// Interval of it, at the level that all pairs of ages share; absent for too few blocks.
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    /// What is shown of the aged one against the fresh one.
    pub verdict: Option<Verdict>,
}

/// A contender that is fresh, and those that are aged and otherwise the same.
struct Ages {
    base: String,
    fresh: usize,
    aged: Vec<(usize, String)>,
}

/// All comparisons of a plan, one entry a timed phase, in its order.
pub(crate) fn views(plan: &RunPlan, records: &[TrialRecord]) -> Vec<AgeingView> {
    let all = ages(&plan.contenders);
    if all.is_empty() {
        return Vec::new();
    }
    let contenders = Contenders::new(plan);
    let mut views = Vec::new();
    for workload in &plan.workloads {
        let own = contenders.split(&with_right_contents(records, &workload.name));
        let phases = workload.phases_of_same_work();
        views.extend(phases.filter_map(|phase| view(plan, &all, (workload, phase), &own)));
    }
    views
}

fn ages(contenders: &[Contender]) -> Vec<Ages> {
    let Some(factor) = factor::find(factor::AGE) else { return Vec::new() };
    let without_age = |contender: &Contender| {
        let mut rest = Contender { label: String::new(), ..contender.clone() };
        rest.levels.factors.remove(factor::AGE);
        rest
    };
    let of = |(fresh, contender): (usize, &Contender)| {
        if factor::age(&contender.levels).is_some() {
            return None;
        }
        let own = format!(" {}", factor.label(factor.default_level()));
        let base = contender.label.replacen(&own, "", 1);
        let rest = without_age(contender);
        let aged = contenders.iter().enumerate().filter(|(index, other)| {
            *index != fresh && without_age(other) == rest && factor::age(&other.levels).is_some()
        });
        let age =
            |(index, other): (usize, &Contender)| (index, factor.words(&factor.get(&other.levels)));
        let aged: Vec<(usize, String)> = aged.map(age).collect();
        (!aged.is_empty()).then_some(Ages { base, fresh, aged })
    };
    contenders.iter().enumerate().filter_map(of).collect()
}

/// `None` where no contender has a figure.
fn view(
    plan: &RunPlan,
    all: &[Ages],
    (workload, phase): (&Workload, &Phase),
    own: &[Vec<&TrialRecord>],
) -> Option<AgeingView> {
    let margin = plan.verdict.as_ref().map_or(DEFAULT_MARGIN, |ask| ask.margin);
    let mut ratios: Vec<AgeingRatio> =
        all.iter().flat_map(|ages| ratios_of(plan, ages, phase, own, margin)).collect();
    ratios.retain(|ratio| ratio.n > 0);
    if ratios.is_empty() {
        return None;
    }
    ratios.sort_by_key(|ratio| ratio.contender);
    let words = ratios.iter().filter_map(|ratio| sentence(ratio, margin)).collect();
    let (workload, phase) = (workload.name.clone(), phase.name.clone());
    Some(AgeingView { workload, phase, margin, ratios, words })
}

fn ratios_of(
    plan: &RunPlan,
    ages: &Ages,
    phase: &Phase,
    own: &[Vec<&TrialRecord>],
    margin: f64,
) -> Vec<AgeingRatio> {
    let clock = plan.compared_clock;
    let aged = ages.aged.iter().map(|(contender, _)| *contender);
    let contenders: Vec<usize> = std::iter::once(ages.fresh).chain(aged).collect();
    let (times, _) = points(phase, &contenders, own, |record, at| {
        record.phases[at].ns(clock).map(|ns| ns as f64)
    });
    let looked = look_once(plan, &times, &contenders, margin, |_| STEP_NS);
    let fresh_ns = alone(&times, ages.fresh).geometric_mean;
    let ratio = |(contender, age): &(usize, String)| {
        let found = between(&looked, *contender, ages.fresh);
        let interval = found.as_ref().and_then(|found| found.interval);
        AgeingRatio {
            contender: *contender,
            label: plan.contenders[*contender].label.clone(),
            base: ages.base.clone(),
            age: age.clone(),
            n: times.of_contender(*contender).count(),
            fresh_ns,
            aged_ns: alone(&times, *contender).geometric_mean,
            ratio: found.as_ref().and_then(|found| found.ratio),
            ratio_low: interval.map(|(low, _)| low),
            ratio_high: interval.map(|(_, high)| high),
            verdict: found.map(|found| found.verdict),
        }
    };
    ages.aged.iter().map(ratio).collect()
}

/// `ext4 takes 1.40 times as long aged 80% as fresh (1.31-1.50)`; nothing without a figure.
fn sentence(one: &AgeingRatio, margin: f64) -> Option<String> {
    let AgeingRatio { base, age, .. } = one;
    let ratio = three_digits(one.ratio?);
    let interval = one.ratio_low.zip(one.ratio_high);
    let within =
        interval.map(|(low, high)| format!(" ({}-{})", three_digits(low), three_digits(high)));
    let within = within.unwrap_or_default();
    Some(match one.verdict? {
        Verdict::Slower => format!("{base} takes {ratio} times as long {age} as fresh{within}"),
        Verdict::Faster => {
            format!("{base} is faster {age} than fresh: {ratio} times as long{within}")
        }
        Verdict::Same => {
            let margin = short(margin * 100.0);
            format!("{base} takes as long {age} as fresh: the same within {margin} %{within}")
        }
        Verdict::Undecided if within.is_empty() => {
            format!("{base} took {ratio} times as long {age}, of too few blocks to decide")
        }
        Verdict::Undecided => {
            format!("whether {base} takes longer {age} than fresh is not decided{within}")
        }
    })
}
