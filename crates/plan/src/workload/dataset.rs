//! The keys of a workload that say which files there are, and how a scale changes them.

use super::cycle::{self, times};
use super::mixes::is_busy;
use crate::JsonSchema;
use crate::error::{At, PlanError};
use crate::tree::Table;
use crate::values::{Either, Get as _, List, Size, Within};
use fsarena_model::dataset::{Dataset, Distribution, MAX_DEPTH, NAME_BYTES};
use fsarena_model::parameter::Parameter;
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::units::Bytes;
use serde::Deserialize;
use std::cmp::Ordering;

/// Names of files have eight digits at most.
pub(crate) const MAX_FILES: u64 = 100_000_000;
/// Names of directories have five digits.
pub(crate) const MAX_DIRS: u64 = 100_000;
/// Largest file, as ext4 with blocks of 4 KiB takes it.
const MAX_SIZE_BYTES: u64 = 16 << 40;
/// Most values of a weighted distribution.
const MAX_VALUES: usize = 256;
const MAX_WEIGHT: u64 = 1_000_000;
const MAX_SIGMA: f64 = 10.0;

/// Which files there are.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Keys {
    /// How many files.
    #[schemars(example = 10_000)]
    pub(super) files: Option<Within<1, MAX_FILES>>,
    /// Of each file: one size, or a distribution.
    #[schemars(example = &"4 KiB")]
    pub(super) size: Option<At<OneOf<Size>>>,
    /// How many directories they are spread over.
    #[schemars(example = 100)]
    dirs: Option<At<Within<0, MAX_DIRS>>>,
    /// Files of each directory, in place of `files`: a number, or a distribution.
    #[schemars(example = 100)]
    per_dir: Option<At<OneOf<Within<0, MAX_FILES>>>>,
    /// Levels of directories.
    #[schemars(example = 3)]
    depth: Option<At<Within<1, { MAX_DEPTH as u64 }>>>,
    /// Of each name of a file, bytes.
    #[schemars(example = 32)]
    name_length: Option<At<NameLength>>,
}

type NameLength = Within<{ *NAME_BYTES.start() as u64 }, { *NAME_BYTES.end() as u64 }>;
/// One value, or a distribution.
type OneOf<T> = Either<T, Distributed<T>>;

/// One of these distributions.
#[derive(Clone, Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Distributed<T> {
    lognormal: Option<Lognormal<T>>,
    uniform: Option<Uniform<T>>,
    /// Values and their weights.
    #[schemars(example = serde_json::json!([["4 KiB", 3], ["1 MiB", 1]]))]
    weighted: Option<At<List<Weighted<T>>>>,
}

/// Half of the values are no larger than the median; larger ones than `max` become that.
#[derive(Clone, Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
struct Lognormal<T> {
    /// half of the values are no larger
    median: At<T>,
    /// Deviation of the natural logarithm.
    #[schemars(example = 2.0)]
    sigma: At<f64>,
    min: Option<T>,
    /// larger values become this
    max: T,
}

#[derive(Clone, Deserialize, JsonSchema, Debug)]
#[serde(deny_unknown_fields)]
struct Uniform<T> {
    /// the smallest value
    min: T,
    /// the largest value
    max: At<T>,
}

#[derive(Clone, Deserialize, JsonSchema, Debug)]
#[serde(expecting = "a value and its weight")]
struct Weighted<T>(At<T>, Within<1, MAX_WEIGHT>);

/// A value of a key that takes one value or a distribution.
enum Values {
    One(u64),
    Many(Distribution),
}

/// Reads the dataset; what is not said is as in `base`. Without `files` and `per_dir` it holds
/// directories alone (0 files), which only some phases take.
pub(super) fn dataset(
    table: &Table<'_>,
    keys: &Keys,
    base: Option<&Dataset>,
) -> Result<Dataset, PlanError> {
    let mut set = base.cloned().unwrap_or_default();
    if let Some(size) = &keys.size {
        (set.size_bytes, set.sizes) = match values(size, &file_size)? {
            Values::One(size_bytes) => (size_bytes, None),
            Values::Many(sizes) => (sizes.max(), Some(sizes)),
        };
    }
    let old_dirs = set.dirs;
    set.dirs = keys.dirs.as_ref().map_or(set.dirs, |dirs| dirs.value.0);
    counts(keys, &mut set)?;
    match &keys.dirs {
        Some(dirs) if set.files > 0 && set.dirs > set.files => {
            let what = format!("{} directories for {} files", set.dirs, set.files);
            return Err(PlanError::new(&dirs.place, what, "use no more directories than files"));
        }
        None if set.files > 0 => set.dirs = old_dirs.min(set.files),
        _ => {}
    }
    if let Some(depth) = &keys.depth {
        if depth.value.0 > 1 && set.dirs == 0 {
            let what = "levels of directories without directories";
            return Err(PlanError::new(&depth.place, what, "add dirs = 100"));
        }
        // 1 is what absence means: one dataset, one description.
        set.depth = if depth.value.0 > 1 { depth.value.get() } else { 0 };
    }
    name_length(table, keys, &mut set)?;
    Ok(set)
}

fn file_size(At { value: Size(size), place }: &At<Size>) -> Result<u64, PlanError> {
    if *size <= MAX_SIZE_BYTES {
        return Ok(*size);
    }
    let what = format!("a file of {} is too large", Bytes(*size));
    Err(PlanError::new(place, what, format!("use up to {}", Bytes(MAX_SIZE_BYTES))))
}

/// `files`, or what `dirs` and `per_dir` make together.
fn counts(keys: &Keys, set: &mut Dataset) -> Result<(), PlanError> {
    if let Some(files) = keys.files {
        if let Some(per_dir) = &keys.per_dir {
            let what = "`files` and `per_dir` both say how many files there are";
            return Err(PlanError::new(&per_dir.place, what, "keep one of them"));
        }
        set.files = files.0;
        set.per_dir = None;
        return Ok(());
    }
    let Some(written) = &keys.per_dir else {
        if let Some(per_dir) = &set.per_dir {
            set.files = Dataset::files_of(set.dirs, per_dir);
        }
        return Ok(());
    };
    let values = values(written, &|count| Ok(count.value.0))?;
    if set.dirs == 0 {
        let what = "`per_dir` without directories";
        return Err(PlanError::new(&written.place, what, "say how many there are: dirs = 100"));
    }
    (set.files, set.per_dir) = match values {
        Values::One(files) => (files.saturating_mul(set.dirs), None),
        Values::Many(counts) if counts.max().saturating_mul(set.dirs) > u64::MAX / 2 => {
            (u64::MAX, None)
        }
        Values::Many(counts) => (Dataset::files_of(set.dirs, &counts), Some(counts)),
    };
    if !(1..=MAX_FILES).contains(&set.files) {
        let what = format!("{} directories hold {} files in all", set.dirs, set.files);
        return Err(PlanError::new(&written.place, what, format!("make it 1 to {MAX_FILES}")));
    }
    Ok(())
}

fn name_length(table: &Table<'_>, keys: &Keys, set: &mut Dataset) -> Result<(), PlanError> {
    if let Some(length) = &keys.name_length {
        let plain = Dataset::default().file_name_bytes();
        set.name_bytes = Some(length.value.get()).filter(|length| *length != plain);
    }
    if set.files <= most_files(set) {
        return Ok(());
    }
    let what = format!(
        "names of {} bytes hold numbers of {} digits, too short for {} files",
        set.file_name_bytes(),
        set.name_digits(),
        set.files
    );
    let needed = (set.files - 1).checked_ilog10().unwrap_or(0) + 2;
    let place = keys.name_length.as_ref().map_or(&table.place, |length| &length.place);
    Err(PlanError::new(place, what, format!("use name_length = {needed} or more")))
}

/// Files that names of this length tell apart.
fn most_files(set: &Dataset) -> u64 {
    10u64.pow(set.name_digits()).min(MAX_FILES)
}

/// Length of the longest path of a dataset, from its root, bytes.
pub(crate) fn longest_path_bytes(set: &Dataset) -> u64 {
    u64::from(set.levels()) * "d00000/".len() as u64 + u64::from(set.file_name_bytes())
}

/// One value, or one distribution of values.
fn values<T: Clone>(
    written: &At<OneOf<T>>,
    value: &dyn Fn(&At<T>) -> Result<u64, PlanError>,
) -> Result<Values, PlanError> {
    let at = |one: &T| value(&At::new(one.clone(), &written.place));
    let table = match &written.value {
        Either::Plain(one) => return at(one).map(Values::One),
        Either::Table(table) => table,
    };
    match (&table.lognormal, &table.uniform, &table.weighted) {
        (Some(keys), None, None) => {
            let min = keys.min.as_ref().map_or(Ok(0), at)?;
            lognormal(&keys.median, value(&keys.median)?, &keys.sigma, (min, at(&keys.max)?))
        }
        (None, Some(keys), None) => {
            let (min, max) = (at(&keys.min)?, value(&keys.max)?);
            match min.cmp(&max) {
                Ordering::Greater => {
                    let what = format!("max {max} is below min {min}");
                    Err(PlanError::new(&keys.max.place, what, "exchange them"))
                }
                Ordering::Equal => Ok(Values::One(min)),
                Ordering::Less => Ok(Values::Many(Distribution::Uniform { min, max })),
            }
        }
        (None, None, Some(pairs)) => weighted(pairs, value),
        _ => {
            let remedy = "write one of lognormal, uniform, weighted";
            Err(PlanError::new(&written.place, "not one distribution", remedy))
        }
    }
}

fn lognormal<T>(
    written: &At<T>,
    median: u64,
    sigma: &At<f64>,
    (min, max): (u64, u64),
) -> Result<Values, PlanError> {
    if median == 0 || !(min..=max).contains(&median) {
        let what = format!("a median of {median} is not within {min} and {max}");
        let remedy = "make it at least 1 and put it between min and max";
        return Err(PlanError::new(&written.place, what, remedy));
    }
    let At { value: sigma, place } = sigma;
    if !(*sigma > 0.0 && *sigma <= MAX_SIGMA) {
        let remedy = format!("use a number above 0, up to {MAX_SIGMA}");
        return Err(PlanError::new(place, format!("a sigma of {sigma}"), remedy));
    }
    Ok(Values::Many(Distribution::Lognormal { median, sigma: *sigma, min, max }))
}

fn weighted<T>(
    pairs: &At<List<Weighted<T>>>,
    value: &dyn Fn(&At<T>) -> Result<u64, PlanError>,
) -> Result<Values, PlanError> {
    let mut values: Vec<(u64, u32)> = Vec::new();
    for Weighted(first, weight) in &pairs.value.0 {
        let first_value = value(first)?;
        if values.iter().any(|known| known.0 == first_value) {
            return Err(PlanError::new(&first.place, "a value twice", "add their weights up"));
        }
        values.push((first_value, weight.get()));
    }
    if values.len() > MAX_VALUES {
        let what = format!("{} values are too many", values.len());
        return Err(PlanError::new(&pairs.place, what, format!("use up to {MAX_VALUES}")));
    }
    Ok(match values.as_slice() {
        [(one, _)] => Values::One(*one),
        _ => Values::Many(Distribution::Weighted { values }),
    })
}

/// The workload at a scale: fewer (or more) files, or a smaller single big file, and fewer ops of
/// random phases. Never so few that a thread has nothing to do.
///
/// The size of a small file is never changed. A single file shrinks in whole KiB, to no less than
/// one call of its largest phase.
///
/// What a workload is a level of is not scaled. `scale` is one of [`busy_scale`]; without one the
/// workload stays as it is.
pub(crate) fn scaled(workload: &Workload, scale: Option<f64>) -> Workload {
    scale.map_or_else(|| workload.clone(), |scale| at_scale(workload, scale))
}

/// The scale, raised until no thread would have nothing to do, or less than it is to have in
/// flight; `None` where no scale does that.
pub(crate) fn busy_scale(workload: &Workload, scale: f64) -> Option<f64> {
    let mut tried = scale;
    while tried <= scale.max(1.0) * 2.0 {
        let changed = at_scale(workload, tried);
        if changed.phases.iter().all(|phase| is_busy(&changed.dataset, phase)) {
            return Some(tried);
        }
        let next = tried * 1.05;
        tried = if tried < 1.0 { next.min(1.0) } else { next };
    }
    None
}

fn at_scale(workload: &Workload, scale: f64) -> Workload {
    if scale == 1.0 {
        return workload.clone();
    }
    let mut changed = workload.clone();
    let varies = |parameter: Parameter| workload.varies(parameter);
    for phase in changed.phases.iter_mut().filter(|_| !varies(Parameter::Ops)) {
        let threads = u64::from(phase.io.threads);
        phase.io.ops = phase.io.ops.map(|ops| times(ops, scale).max(threads).max(1));
    }
    let set = &mut changed.dataset;
    let threads = workload.phases.iter().map(|phase| u64::from(phase.io.threads)).max();
    let threads = threads.unwrap_or(1);
    if varies(Parameter::Files) {
        // How many there are is what is compared.
    } else if set.files == 1 || workload.phases.iter().any(Phase::has_file_a_thread) {
        if !varies(Parameter::Size) {
            set.size_bytes = scaled_size(workload, scale);
        }
    } else if set.per_dir.is_some() || set.files == 0 {
        if !varies(Parameter::Dirs) {
            scale_dirs(set, scale, threads);
        }
    } else if set.files > 1 {
        let least = threads.min(set.files).max(1);
        set.files = times(set.files, scale).clamp(least, most_files(set));
        set.dirs = set.dirs.min(set.files);
    }
    let files = set.files;
    for cycle in changed.phases.iter_mut().filter_map(|phase| phase.cycle.as_mut()) {
        *cycle = cycle::scaled(cycle, scale, files);
    }
    changed
}

/// Size of a single file at a scale.
fn scaled_size(workload: &Workload, scale: f64) -> u64 {
    let size = workload.dataset.size_bytes;
    let calls = |phase: &Phase| {
        let threads = if phase.op.is_big() { u64::from(phase.io.threads) } else { 1 };
        phase.bs_bytes.saturating_mul(threads)
    };
    let least = workload.phases.iter().map(calls).max().unwrap_or(1).min(size);
    let direct = workload.phases.iter().filter(|phase| phase.io.direct);
    let unit = direct.map(|phase| phase.bs_bytes).filter(|bs| size.is_multiple_of(*bs)).max();
    let unit = unit.unwrap_or(1024).max(1024);
    (times(size, scale) / unit * unit).clamp(least, MAX_SIZE_BYTES)
}

/// Directories of drawn numbers of files, or without any: their number is scaled.
fn scale_dirs(set: &mut Dataset, scale: f64, threads: u64) {
    let was = set.dirs;
    set.dirs = times(was, scale).clamp(threads.min(was), MAX_DIRS);
    let Some(per_dir) = &set.per_dir else { return };
    let least = threads.min(set.files).max(1);
    while set.dirs < was && Dataset::files_of(set.dirs, per_dir) < least {
        set.dirs += 1;
    }
    while set.dirs > was && Dataset::files_of(set.dirs, per_dir) > most_files(set) {
        set.dirs = was.max(set.dirs / 2);
    }
    set.files = Dataset::files_of(set.dirs, per_dir);
}
