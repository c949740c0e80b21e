//! The keys of a workload that say which files there are, and how a scale changes them.

use super::cycle;
use super::mixes::is_busy;
use crate::error::PlanError;
use crate::text;
use crate::tree::{Node, Table};
use fsarena_model::dataset::Distribution;
use fsarena_model::dataset::{Dataset, MAX_DEPTH, NAME_BYTES};
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::units::Bytes;

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

/// Keys of the dataset.
pub(super) const KEYS: [&str; 6] = ["files", "size", "dirs", "per_dir", "depth", "name_length"];

/// A value of a key that takes one value or a distribution.
enum Values {
    One(u64),
    Many(Distribution),
}

/// Reads the dataset; what is not said is as in `base`. Without `files` and `per_dir` it holds
/// directories alone (0 files), which only some phases take.
pub(super) fn read(table: &Table<'_>, base: Option<&Dataset>) -> Result<Dataset, PlanError> {
    let mut set = base.cloned().unwrap_or_default();
    sizes(table, &mut set)?;
    let old_dirs = set.dirs;
    if let Some(node) = table.get("dirs") {
        set.dirs = node.integer(0..=MAX_DIRS, "100")?;
    }
    counts(table, &mut set)?;
    if table.get("dirs").is_none() && set.files > 0 {
        set.dirs = old_dirs.min(set.files);
    }
    if let Some(node) = table.get("dirs").filter(|_| set.files > 0 && set.dirs > set.files) {
        let what = format!("{} directories for {} files", set.dirs, set.files);
        return Err(node.error(what, "use no more directories than files"));
    }
    if let Some(node) = table.get("depth") {
        let depth = node.integer(1..=u64::from(MAX_DEPTH), "3")?;
        if depth > 1 && set.dirs == 0 {
            return Err(node.error("levels of directories without directories", "add dirs = 100"));
        }
        // 1 is what absence means: one dataset, one description.
        set.depth = if depth > 1 { u32::try_from(depth).expect("up to 64") } else { 0 };
    }
    name_length(table, &mut set)?;
    Ok(set)
}

fn sizes(table: &Table<'_>, set: &mut Dataset) -> Result<(), PlanError> {
    let Some(node) = table.get("size") else { return Ok(()) };
    let values = values(&node, &|node| {
        let size = text::bytes(&node.scalar("\"4 KiB\"")?, &node.place)?;
        if size > MAX_SIZE_BYTES {
            let what = format!("a file of {} is too large", Bytes(size));
            return Err(node.error(what, format!("use up to {}", Bytes(MAX_SIZE_BYTES))));
        }
        Ok(size)
    })?;
    (set.size_bytes, set.sizes) = match values {
        Values::One(size_bytes) => (size_bytes, None),
        Values::Many(sizes) => (sizes.max(), Some(sizes)),
    };
    Ok(())
}

/// `files`, or what `dirs` and `per_dir` make together.
fn counts(table: &Table<'_>, set: &mut Dataset) -> Result<(), PlanError> {
    if let Some(node) = table.get("files") {
        if let Some(per_dir) = table.get("per_dir") {
            let what = "`files` and `per_dir` both say how many files there are";
            return Err(per_dir.error(what, "keep one of them"));
        }
        set.files = node.integer(1..=MAX_FILES, "10_000")?;
        set.per_dir = None;
        return Ok(());
    }
    let Some(node) = table.get("per_dir") else {
        if let Some(per_dir) = &set.per_dir {
            set.files = Dataset::files_of(set.dirs, per_dir);
        }
        return Ok(());
    };
    let values = values(&node, &|node| node.integer(0..=MAX_FILES, "100"))?;
    if set.dirs == 0 {
        let what = "`per_dir` without directories";
        return Err(node.error(what, "say how many there are: dirs = 100"));
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
        return Err(node.error(what, format!("make it 1 to {MAX_FILES}")));
    }
    Ok(())
}

fn name_length(table: &Table<'_>, set: &mut Dataset) -> Result<(), PlanError> {
    if let Some(node) = table.get("name_length") {
        let range = u64::from(*NAME_BYTES.start())..=u64::from(*NAME_BYTES.end());
        let length = u32::try_from(node.integer(range, "32")?).expect("up to 255");
        let plain = Dataset::default().file_name_bytes();
        set.name_bytes = Some(length).filter(|length| *length != plain);
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
    let place = table.get("name_length").map_or(table.place.clone(), |node| node.place);
    Err(PlanError::new(&place, what, format!("use name_length = {needed} or more")))
}

/// Files that names of this length tell apart.
fn most_files(set: &Dataset) -> u64 {
    10u64.pow(set.name_digits()).min(MAX_FILES)
}

/// Length of the longest path of a dataset, from its root, bytes.
pub(crate) fn longest_path_bytes(set: &Dataset) -> u64 {
    u64::from(set.levels()) * "d00000/".len() as u64 + u64::from(set.file_name_bytes())
}

/// One value, or a table with one distribution.
fn values(
    node: &Node<'_>,
    value: &dyn Fn(&Node<'_>) -> Result<u64, PlanError>,
) -> Result<Values, PlanError> {
    if !node.is_table() {
        return Ok(Values::One(value(node)?));
    }
    let table = node.table("{ uniform = { min = 1, max = 9 } }")?;
    table.only(&["lognormal", "uniform", "weighted"])?;
    let entries = table.entries();
    let [(key, inner)] = entries.as_slice() else {
        let remedy = "write one of lognormal, uniform, weighted";
        return Err(node.error("not one distribution", remedy));
    };
    let values = match key.value {
        "lognormal" => lognormal(&inner.table("{ median, sigma, min, max }")?, value)?,
        "uniform" => uniform(&inner.table("{ min, max }")?, value)?,
        _ => weighted(inner, value)?,
    };
    Ok(values)
}

fn uniform(
    table: &Table<'_>,
    value: &dyn Fn(&Node<'_>) -> Result<u64, PlanError>,
) -> Result<Values, PlanError> {
    table.only(&["min", "max"])?;
    let min = value(&table.need("min", "min, the smallest value")?)?;
    let node = table.need("max", "max, the largest value")?;
    let max = value(&node)?;
    if min > max {
        return Err(node.error(format!("max {max} is below min {min}"), "exchange them"));
    }
    Ok(if min == max { Values::One(min) } else { Values::Many(Distribution::Uniform { min, max }) })
}

fn lognormal(
    table: &Table<'_>,
    value: &dyn Fn(&Node<'_>) -> Result<u64, PlanError>,
) -> Result<Values, PlanError> {
    table.only(&["median", "sigma", "min", "max"])?;
    let node = table.need("median", "median: half of the values are no larger")?;
    let median = value(&node)?;
    let min = table.get("min").map_or(Ok(0), |node| value(&node))?;
    let max = value(&table.need("max", "max: larger values become this")?)?;
    if median == 0 || !(min..=max).contains(&median) {
        let what = format!("a median of {median} is not within {min} and {max}");
        return Err(node.error(what, "make it at least 1 and put it between min and max"));
    }
    let node = table.need("sigma", "sigma = 2.0, the deviation of the natural logarithm")?;
    let sigma = node.decimal("2.0")?;
    if !(sigma > 0.0 && sigma <= MAX_SIGMA) {
        let what = format!("a sigma of {sigma}");
        return Err(node.error(what, format!("use a number above 0, up to {MAX_SIGMA}")));
    }
    Ok(Values::Many(Distribution::Lognormal { median, sigma, min, max }))
}

fn weighted(
    node: &Node<'_>,
    value: &dyn Fn(&Node<'_>) -> Result<u64, PlanError>,
) -> Result<Values, PlanError> {
    const EXAMPLE: &str = "[[\"4 KiB\", 3], [\"1 MiB\", 1]]";
    let mut values: Vec<(u64, u32)> = Vec::new();
    for pair in node.list(EXAMPLE)? {
        let parts = pair.list(EXAMPLE)?;
        let [first, weight] = parts.as_slice() else {
            return Err(pair.error("not a value and its weight", format!("write {EXAMPLE}")));
        };
        let weight = u32::try_from(weight.integer(1..=MAX_WEIGHT, "3")?).expect("up to a million");
        let first_value = value(first)?;
        if values.iter().any(|known| known.0 == first_value) {
            return Err(first.error("a value twice", "add their weights up"));
        }
        values.push((first_value, weight));
    }
    if values.len() > MAX_VALUES {
        let what = format!("{} values are too many", values.len());
        return Err(node.error(what, format!("use up to {MAX_VALUES}")));
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
/// Where a thread would have nothing to do, or less than it is to have in flight, the scale is
/// raised until all have.
pub(super) fn scaled(workload: &Workload, scale: f64) -> Workload {
    let mut tried = scale;
    while tried <= scale.max(1.0) * 2.0 {
        let changed = at_scale(workload, tried);
        if changed.phases.iter().all(|phase| is_busy(&changed.dataset, phase)) {
            return changed;
        }
        let next = tried * 1.05;
        tried = if tried < 1.0 { next.min(1.0) } else { next };
    }
    workload.clone()
}

fn at_scale(workload: &Workload, scale: f64) -> Workload {
    if scale == 1.0 {
        return workload.clone();
    }
    let mut changed = workload.clone();
    for phase in &mut changed.phases {
        let threads = u64::from(phase.io.threads);
        phase.io.ops = phase.io.ops.map(|ops| times(ops, scale).max(threads).max(1));
    }
    let set = &mut changed.dataset;
    let threads = workload.phases.iter().map(|phase| u64::from(phase.io.threads)).max();
    let threads = threads.unwrap_or(1);
    if set.files == 1 {
        set.size_bytes = scaled_size(workload, scale);
    } else if set.per_dir.is_some() || set.files == 0 {
        scale_dirs(set, scale, threads);
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

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped by callers")]
fn times(value: u64, scale: f64) -> u64 {
    (value as f64 * scale).round() as u64
}
