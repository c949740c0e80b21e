//! What a workload takes on a file system of which it is known how it allocates its room.
//!
//! Contents in the units of the file system, each drawn size rounded up by itself; inodes where
//! they take from the same room; directories; and at one time with these, temporary files and the
//! files of a second load. What is written over moves on some file systems before the old place is
//! free. 2 % more are for what is freed and not yet to be had. The room is the one that root has:
//! of `run --user` the plan does not know, and what ext keeps for root is then missing.
//!
//! The temporary files of a cycle are drawn: as many are counted as come by chance once in some
//! million cycles, and as many times over as cycles may overlap.

use crate::artifacts::{BLOCK_BYTES, peak_bytes, peak_entries};
use crate::files::Rules;
use crate::steps::is_null;
use fsarena_model::age::{AGE_BLOCK_BYTES, Age, DIRECTORIES, SYNC_BYTES};
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{DeviceLevel, FsLevel, Levels};
use fsarena_model::cycle::{Cycle, Load};
use fsarena_model::factor;
use fsarena_model::op::Rewrites;
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::units::Bytes;
use fsarena_model::units::size_text;

/// Bytes of an entry of a directory in addition to its name.
const ENTRY_BYTES: u64 = 24;

/// Standard deviations above the mean that are counted of what is drawn.
const DEVIATIONS: f64 = 5.0;

/// What a phase writes over, at most the whole dataset.
pub(crate) fn rewritten_bytes(workload: &Workload, phase: &Phase) -> u64 {
    match phase.op.info().rewrites {
        Rewrites::Contents => workload.dataset.bytes(),
        Rewrites::Blocks => {
            let all = phase.count(&workload.dataset).saturating_mul(phase.bs_bytes);
            all.min(workload.dataset.bytes())
        }
        Rewrites::Nothing | Rewrites::Cycles => 0,
    }
}

/// What a workload takes at most at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Needs {
    pub(crate) bytes: u64,
    /// Files and directories.
    pub(crate) inodes: u64,
}

/// Why a workload does not fit a contender, and what to do; `room` is the contender's.
pub(crate) fn too_small(
    workload: &Workload,
    levels: &Levels,
    capacity: &Capacity,
    less: &str,
    rules: &dyn Rules,
) -> Option<(String, String)> {
    let aged = aged_needs(levels, capacity);
    let own = needs(workload, capacity);
    let needs = Needs {
        bytes: own.bytes.saturating_add(aged.map_or(0, |aged| aged.bytes)),
        inodes: own.inodes.saturating_add(aged.map_or(0, |aged| aged.inodes)),
    };
    let device = levels.device.size_bytes()?;
    let place = format!("{} on {}", levels.fs, levels.device.written());
    let name = &workload.name;
    if let Some(aged) = aged.filter(|_| is_short(capacity, needs)) {
        return Some(too_small_for_age(levels, capacity, (aged, own), name));
    }
    if let Some(inodes) = capacity.predicted.inodes.filter(|inodes| *inodes < needs.inodes) {
        let what =
            format!("{place} will have {inodes} free inodes, and {name:?} needs {}", needs.inodes);
        let larger = enough(device, inodes, needs.inodes);
        let remedy = match ratio(&levels.fs, device, needs.inodes, rules) {
            Some(ratio) => format!("say mkfs.inode_ratio={ratio}, use {less}, or {larger} or more"),
            None => format!("use {} of {larger} or more, or {less}", a_device(levels)),
        };
        return Some((what, remedy));
    }
    let free = room_bytes(capacity);
    (free < needs.bytes).then(|| {
        let what = format!(
            "{place} will have {} free, and {name:?} needs {} in units of {}",
            Bytes(free),
            Bytes(needs.bytes),
            size_text(capacity.unit_bytes)
        );
        let larger = enough(device, free, needs.bytes);
        (what, format!("use {} of {larger} or more, or {less}", a_device(levels)))
    })
}

/// What is to be larger; the size that follows is that of all devices together.
fn a_device(levels: &Levels) -> &'static str {
    if levels.device.parts().len() > 1 { "devices with a sum" } else { "a device" }
}

/// Whether there is too little room, or there are too few inodes.
fn is_short(capacity: &Capacity, needs: Needs) -> bool {
    room_bytes(capacity) < needs.bytes
        || capacity.predicted.inodes.is_some_and(|inodes| inodes < needs.inodes)
}

/// The room that root has.
fn room_bytes(capacity: &Capacity) -> u64 {
    capacity.predicted.free_bytes.saturating_add(capacity.kept_for_root_bytes)
}

/// What an age takes, where contenders have one: files of the share in units of the file system,
/// inodes, 2 % for what is freed and not yet to be had, and where all that is written over moves
/// as much more as is written between two syncs.
pub(crate) fn aged_needs(levels: &Levels, capacity: &Capacity) -> Option<Needs> {
    let age = factor::age(levels)?;
    let device = levels.device.size_bytes()?;
    let whole = age.whole_bytes(device, capacity.predicted.free_bytes);
    let files = age.expected_files(whole);
    let rounding = capacity.unit_bytes.saturating_sub(AGE_BLOCK_BYTES);
    let each = rounding.saturating_add(capacity.inode_bytes);
    let moved = if capacity.moves_on_write { SYNC_BYTES + Age::largest_bytes(whole) } else { 0 };
    let bytes = u128::from(age.fill_bytes(whole)) + u128::from(files) * u128::from(each);
    // A tenth more files than expected.
    let inodes = files.saturating_add(files / 10).saturating_add(DIRECTORIES + 1);
    Some(Needs { bytes: with_rest(bytes).saturating_add(moved), inodes })
}

/// The sentence for a device that is too small for its age beside a workload.
fn too_small_for_age(
    levels: &Levels,
    capacity: &Capacity,
    (aged, own): (Needs, Needs),
    name: &str,
) -> (String, String) {
    let place = format!("{} on {}", levels.fs, levels.device.written());
    let level = levels.factors.get(factor::AGE).map_or("", String::as_str);
    let free = room_bytes(capacity);
    if free >= aged.bytes.saturating_add(own.bytes) {
        let inodes = capacity.predicted.inodes.unwrap_or(0);
        let what = format!(
            "{place} will have {inodes} free inodes, its age {level} takes about {}, and {name:?} \
             needs {}",
            aged.inodes, own.inodes
        );
        return (what, "use a larger size= of files, or a smaller share".to_owned());
    }
    let what = format!(
        "{place} will have {} free, its age {level} takes {}, and {name:?} needs {}",
        Bytes(free),
        Bytes(aged.bytes),
        Bytes(own.bytes)
    );
    let remedy = "use a smaller share, a larger device (of which metadata take a smaller part), or \
                  --scale below 1";
    (what, remedy.to_owned())
}

/// A size of the device at which there will be enough, where room grows with it.
fn enough(device: u64, there: u64, needed: u64) -> String {
    let larger = u128::from(device) * u128::from(needed) / u128::from(there.max(1));
    let mib = u64::try_from(larger).unwrap_or(u64::MAX).div_ceil(1 << 20).saturating_add(1);
    size_text(mib.saturating_mul(1 << 20))
}

/// An inode ratio that gives enough inodes, where the file system takes one.
fn ratio(fs: &FsLevel, device: u64, inodes: u64, rules: &dyn Rules) -> Option<u64> {
    let ratio = device / inodes.saturating_add(16);
    let ratio = if ratio == 0 { return None } else { 1 << ratio.ilog2() };
    let mut changed = fs.clone();
    changed.mkfs.insert("inode_ratio".to_owned(), u64::to_string(&ratio));
    let device = DeviceLevel::Loop { size_bytes: device };
    rules.check(&changed, &device).ok()?;
    let capacity = rules.capacity(&changed, &device)?;
    (capacity.predicted.inodes? >= inodes).then_some(ratio)
}

/// What a workload takes on a file system that allocates its room like this.
pub(crate) fn needs(workload: &Workload, capacity: &Capacity) -> Needs {
    if is_null(workload) {
        return Needs { bytes: 0, inodes: 0 };
    }
    if let Some(source) = &workload.source {
        let entries = peak_entries(workload, source);
        let rounding = capacity.unit_bytes.saturating_sub(BLOCK_BYTES);
        let bytes = peak_bytes(workload, source).saturating_add(entries.saturating_mul(rounding));
        return Needs { bytes: with_rest(u128::from(bytes)), inodes: entries };
    }
    let set = &workload.dataset;
    let contents = Contents::from_workload(workload, capacity);
    let added = Added::by_phases(workload, capacity);
    let dirs = dirs_bytes(workload, capacity, 1 + added.names);
    let files = set.files.saturating_mul(1 + added.inodes);
    let inodes = files.saturating_add(set.directories()).saturating_add(1);
    let mut most = Needs { bytes: 0, inodes: 0 };
    for phase in &workload.phases {
        let more = phase_needs(workload, phase, capacity, &contents);
        most.bytes = most.bytes.max(more.bytes);
        most.inodes = most.inodes.max(more.inodes);
    }
    let all = u128::from(contents.bytes)
        + u128::from(set.files) * u128::from(added.value_bytes)
        + u128::from(dirs)
        + u128::from(inodes) * u128::from(capacity.inode_bytes)
        + u128::from(most.bytes);
    Needs { bytes: with_rest(all), inodes: inodes.saturating_add(most.inodes) }
}

fn with_rest(bytes: u128) -> u64 {
    u64::try_from(bytes * 102 / 100).unwrap_or(u64::MAX)
}

/// Bytes of one file's contents in units.
fn units(size: u64, capacity: &Capacity) -> u64 {
    if size <= capacity.inline_max_bytes {
        return 0;
    }
    size.div_ceil(capacity.unit_bytes).saturating_mul(capacity.unit_bytes)
}

/// The contents of a dataset in units of the file system.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Contents {
    files: u64,
    bytes: u64,
    /// Sum of the squares of what the files take, for the deviation of a choice among them.
    squares: f64,
}

impl Contents {
    fn from_workload(workload: &Workload, capacity: &Capacity) -> Self {
        let set = &workload.dataset;
        let appended = workload.state_before(workload.phases.len()).appended_bytes;
        let of = |size: u64| units(size.saturating_add(appended), capacity);
        if set.is_uniform() {
            return Self::uniform(set.files, of(set.size_bytes));
        }
        let sizes = set.draw_sizes();
        let start = Self { files: set.files, ..Self::default() };
        (0..set.files).map(|file| of(sizes.value_at(file))).fold(start, |sum, bytes| Self {
            bytes: sum.bytes.saturating_add(bytes),
            squares: sum.squares + (bytes as f64).powi(2),
            ..sum
        })
    }

    fn uniform(files: u64, each_bytes: u64) -> Self {
        let squares = files as f64 * (each_bytes as f64).powi(2);
        Self { files, bytes: files.saturating_mul(each_bytes), squares }
    }

    /// What is hardly ever exceeded by the files that `draws` draws choose, each with a chance of
    /// `share` alone: their number, and the bytes of them. A choice takes no file twice, which
    /// makes the deviations of the bytes smaller than these.
    fn chosen(&self, draws: u64, share: f64) -> (u64, u64) {
        let (files, count) = (self.files.max(1) as f64, draws as f64);
        let (mean, squares) = (self.bytes as f64 / files, self.squares / files);
        let number = upper(count * share, count * share * (1.0 - share));
        let spread = share * squares - (share * mean).powi(2);
        let bytes = upper(count * share * mean, count * spread);
        (number.min(draws), bytes.min(self.bytes))
    }
}

/// A mean and [`DEVIATIONS`] of a variance above it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "neither is negative")]
fn upper(mean: f64, variance: f64) -> u64 {
    (mean + DEVIATIONS * variance.max(0.0).sqrt()).ceil() as u64
}

/// Directories with the names in them: a third more than these take, and one unit each.
fn dirs_bytes(workload: &Workload, capacity: &Capacity, names_of_file: u64) -> u64 {
    let set = &workload.dataset;
    let entry = (u64::from(set.file_name_bytes()) + ENTRY_BYTES) * names_of_file;
    let names = set.files_per_dir().saturating_mul(entry).saturating_mul(4) / 3;
    let leaf = (names / capacity.dir_unit_bytes + 1).saturating_mul(capacity.dir_unit_bytes);
    let leaves = set.dirs.max(1);
    let inner = set.directories().saturating_sub(set.dirs);
    leaves.saturating_mul(leaf).saturating_add(inner.saturating_mul(capacity.dir_unit_bytes))
}

/// Values of extended attributes up to this size are stored in the inode.
const IN_INODE_BYTES: u64 = 32;

/// What all phases add to each file.
#[derive(Default)]
struct Added {
    names: u64,
    inodes: u64,
    value_bytes: u64,
}

impl Added {
    fn by_phases(workload: &Workload, capacity: &Capacity) -> Self {
        workload.phases.iter().fold(Self::default(), |sum, phase| {
            let adds = phase.op.info().adds;
            let is_apart = adds.value && phase.bs_bytes > IN_INODE_BYTES;
            let value_bytes = if is_apart { units(phase.bs_bytes, capacity) } else { 0 };
            Self {
                names: sum.names + adds.names,
                inodes: sum.inodes + adds.inodes,
                value_bytes: sum.value_bytes.max(value_bytes),
            }
        })
    }
}

/// What a phase takes in addition to the dataset.
fn phase_needs(
    workload: &Workload,
    phase: &Phase,
    capacity: &Capacity,
    contents: &Contents,
) -> Needs {
    match (&phase.cycle, capacity.moves_on_write) {
        (Some(cycle), _) => cycle_needs(cycle, capacity, contents),
        (None, true) => Needs { bytes: rewritten_bytes(workload, phase), inodes: 0 },
        (None, false) => Needs { bytes: 0, inodes: 0 },
    }
}

/// Temporary files stay to the end of their cycle; a file that replaces another is one for a
/// moment, in each cycle.
fn cycle_needs(cycle: &Cycle, capacity: &Capacity, contents: &Contents) -> Needs {
    let at_once = u64::from(cycle.cycles.clamp(1, cycle.overrun.most_at_work()));
    let all: u64 = cycle.shares.weights().iter().copied().map(u64::from).sum();
    let share = f64::from(cycle.shares.temporary) / all.max(1) as f64;
    let (temporary, temporary_bytes) = contents.chosen(cycle.updates, share);
    let written_bytes = match capacity.moves_on_write {
        true => contents.chosen(cycle.updates, 1.0).1,
        false => temporary_bytes,
    };
    // Where all moves, what a cycle before has left is free again with its syncfs.
    let others_bytes = temporary_bytes.saturating_mul(at_once - 1);
    let bytes = written_bytes.saturating_add(others_bytes);
    let (load_bytes, load_files) =
        cycle.disturb.as_ref().map_or((0, 0), |disturb| match disturb.load {
            Load::Create { files, size_bytes, .. } => (
                files.saturating_mul(units(size_bytes, capacity) + capacity.inode_bytes),
                files + 1,
            ),
            Load::Write { size_bytes, .. } | Load::Read { size_bytes, .. } => {
                (units(size_bytes, capacity), 2)
            }
        });
    Needs {
        bytes: bytes.saturating_add(load_bytes),
        inodes: temporary.saturating_add(1).saturating_mul(at_once).saturating_add(load_files),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::capacity::Predicted;
    use fsarena_model::cycle::{Disturb, Overrun, Shares};
    use fsarena_model::dataset::Dataset;
    use fsarena_model::dataset::Distribution;
    use fsarena_model::op::Op;
    use fsarena_model::seed::Seed;

    fn capacity(unit_bytes: u64) -> Capacity {
        Capacity {
            predicted: Predicted { free_bytes: 1 << 30, inodes: Some(1000) },
            kept_for_root_bytes: 0,
            unit_bytes,
            inline_max_bytes: 0,
            inode_bytes: 0,
            dir_unit_bytes: unit_bytes,
            moves_on_write: false,
        }
    }

    fn work(phase: Phase) -> Workload {
        let values = vec![(1, 1), (0, 1), (5000, 1)];
        let sizes = Some(Distribution::Weighted { values });
        Workload {
            name: "w".to_owned(),
            title: "w".to_owned(),
            dataset: Dataset { sizes, ..Dataset::uniform(300, 5000, 0) },
            phases: vec![phase],
            fio: None,
            source: None,
            levels: None,
        }
    }

    #[test]
    fn each_size_is_rounded_by_itself() {
        let work = work(Phase::new("create", Op::Create, 4096));
        let sizes = work.dataset.draw_sizes();
        let units =
            |unit: u64| (0..300).map(|file| sizes.value_at(file).div_ceil(unit)).sum::<u64>();
        for unit in [1024, 4096, 65536] {
            assert_eq!(Contents::from_workload(&work, &capacity(unit)).bytes, units(unit) * unit);
        }
        // One directory, the root of the work.
        let needs = needs(&work, &capacity(65536));
        assert_eq!(needs.inodes, 301);
        assert_eq!(needs.bytes, (units(65536) + 1) * 65536 * 102 / 100);
    }

    #[test]
    fn temporary_files_and_a_second_load_stand_beside_the_dataset() {
        let shares = Shares { in_place: 1, truncate: 1, replace: 1, recreate: 1, temporary: 1 };
        let load = Load::Create { files: 10, size_bytes: 100, rate: 0 };
        let cycle = Cycle {
            cycles: 2,
            period_ns: 1,
            overrun: Overrun::Skip,
            updates: 100,
            shares,
            disturb: Some(Disturb { load, cycles: Vec::new() }),
        };
        let work = work(Phase::of_cycles("cycle", cycle.clone(), 4096));
        // 20 of 100 are temporary, with a deviation of 4.
        assert_eq!(needs(&work, &capacity(4096)).inodes, 301 + 40 + 1 + 11);
        let contents = Contents::uniform(300, 4096);
        let more = cycle_needs(&cycle, &capacity(4096), &contents);
        assert_eq!(more.bytes, 40 * 4096 + 10 * 4096);
        let moving = Capacity { moves_on_write: true, ..capacity(4096) };
        let more = cycle_needs(&cycle, &moving, &contents);
        assert_eq!(more.bytes, 100 * 4096 + 10 * 4096);
        let overlap = Cycle { overrun: Overrun::Overlap, cycles: 20, ..cycle.clone() };
        let more = cycle_needs(&overlap, &capacity(4096), &contents);
        assert_eq!((more.bytes, more.inodes), ((8 * 40 + 10) * 4096, 8 * 41 + 11));
        let twice = Cycle { cycles: 2, ..overlap };
        let more = cycle_needs(&twice, &moving, &contents);
        assert_eq!(more.bytes, (100 + 40 + 10) * 4096);
    }

    /// What is drawn is never more, in thousands of choices.
    #[test]
    fn a_choice_hardly_ever_exceeds_what_is_counted_of_it() {
        let sizes: Vec<u64> = (0..1000u64).map(|file| file * file % 977 * 512).collect();
        let squares = sizes.iter().map(|size| (*size as f64).powi(2)).sum();
        let contents = Contents { files: 1000, bytes: sizes.iter().sum(), squares };
        let (most, most_bytes) = contents.chosen(400, 0.1);
        assert!((40..75).contains(&most) && most_bytes < contents.bytes / 5, "{most} {most_bytes}");
        for seed in 0..5000 {
            let mut rng = Seed::from_number(seed).rng();
            let mut files: Vec<usize> = (0..1000).collect();
            rng.shuffle(&mut files);
            let taken: Vec<usize> =
                files[..400].iter().copied().filter(|_| rng.below(10) == 0).collect();
            let bytes: u64 = taken.iter().map(|file| sizes[*file]).sum();
            assert!(taken.len() as u64 <= most && bytes <= most_bytes, "{} {bytes}", taken.len());
        }
    }
}
