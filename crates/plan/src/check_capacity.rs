//! Whether a workload has room on a device, before anything is written.
//!
//! Where it is known how a file system allocates its room, that counts ([`crate::capacity`]). Else
//! a rule of thumb: data in blocks of 4 KiB, 512 B of metadata a file,
//! a block a directory, room to write once more what is overwritten (some never write in place),
//! and 12 % for the rest (journal, tables, reserved blocks). Real work needs room for its source,
//! where that is there, and for all that its phases make, while it is there; copies that share
//! blocks count like others. Whether a file system can be made that
//! small at all is its own rule and asked elsewhere.

use crate::artifacts::{BLOCK_BYTES, INODE_BYTES, peak_bytes};
use crate::capacity::{rewritten_bytes, too_small};
use crate::error::PlanError;
use crate::experiment::Experiment;
use crate::files::Rules;
use crate::raw::needs_files;
use crate::steps::is_null;
use crate::text::PATH_MAX;
use crate::workload::{is_aligned, longest_path_bytes};
use fsarena_model::contender::{Contender, DeviceLevel, Levels};
use fsarena_model::factor;
use fsarena_model::job::{DATA, JobKind, Origin, Reflink, SourcePlace};
use fsarena_model::op::Op;
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::run::NotRun;
use fsarena_model::units::Bytes;
use fsarena_model::units::size_text;

/// Where the room on a device is not known, a part of it that is none: 1 ÷ this.
const UNKNOWN_REST: u64 = 8;
/// Room for the names of ours in the path of a directory.
const OWN_NAMES_BYTES: u64 = 64;

/// Bytes that a workload needs on a device; none where it makes no call. Adds all sizes up where
/// they are drawn: some ns a file.
#[must_use]
pub fn needed_bytes(workload: &Workload) -> u64 {
    if is_null(workload) {
        return 0;
    }
    if let Some(source) = &workload.source {
        return with_rest(u128::from(peak_bytes(workload, source)));
    }
    let dataset = &workload.dataset;
    let files = u128::from(dataset.files) * u128::from(INODE_BYTES);
    let dirs = u128::from(dataset.directories()) * u128::from(BLOCK_BYTES + INODE_BYTES);
    let again = workload.phases.iter().map(|phase| rewritten_bytes(workload, phase)).max();
    let data = u128::from(block_bytes(workload)) + u128::from(again.unwrap_or(0));
    with_rest(data + files + dirs)
}

fn with_rest(bytes: u128) -> u64 {
    u64::try_from(bytes * 112 / 100).unwrap_or(u64::MAX)
}

/// Longest path of a workload below its root, bytes.
fn longest_bytes(workload: &Workload) -> u64 {
    let Some(source) = &workload.source else { return longest_path_bytes(&workload.dataset) };
    let names = workload.phases.iter().map(|phase| phase.name.len());
    let top = names.max().unwrap_or(0).max(DATA.len()) as u64;
    top + 1 + source.contents.longest_path_bytes
}

/// Whether a phase copies.
fn copies(phase: &Phase) -> bool {
    phase.job.as_ref().is_some_and(|job| job.kind == JobKind::Copy)
}

/// Why a workload cannot be done at a level of `reflink`, or says nothing there.
fn not_shared(workload: &Workload, levels: &Levels) -> Option<String> {
    if levels.reflink == Reflink::Never {
        return None;
    }
    let elsewhere = workload.source.as_ref().is_some_and(|s| s.place != SourcePlace::Same);
    let across = |phase: &&Phase| {
        copies(phase) && elsewhere && phase.job.as_ref().is_some_and(|job| job.of == DATA)
    };
    let across = workload.phases.iter().find(across);
    if let Some(phase) = across.filter(|_| levels.reflink == Reflink::Always) {
        return Some(format!(
            "phase {:?} copies from another file system, and blocks are shared within one",
            phase.name
        ));
    }
    let idle = !workload.phases.iter().any(copies);
    idle.then(|| {
        format!("nothing is copied in it: reflink = \"{}\" changes nothing", levels.reflink.name())
    })
}

/// Refuses a level of `reflink` that no workload has a use for.
fn check_some_copy(experiment: &Experiment, workloads: &[Workload]) -> Result<(), PlanError> {
    let reflink = factor::find("reflink").map(|factor| experiment.factors.axis(factor));
    let level = reflink.iter().flatten().find(|level| level.value != Reflink::Never.name());
    let Some(level) = level.filter(|_| !workloads.iter().any(|w| w.phases.iter().any(copies)))
    else {
        return Ok(());
    };
    let what = format!("reflink = \"{}\", and no workload copies", level.value);
    Err(PlanError::new(&level.place, what, "add a workload with the phase \"copy\""))
}

/// Data of a workload in blocks of 4 KiB, with all that is appended.
pub(crate) fn block_bytes(workload: &Workload) -> u64 {
    let dataset = &workload.dataset;
    let appended = workload.state_before(workload.phases.len()).appended_bytes;
    let blocks = |size: u64| size.saturating_add(appended).div_ceil(BLOCK_BYTES);
    let count = dataset.draw_sizes().sum(0..dataset.files, blocks);
    count.saturating_mul(BLOCK_BYTES)
}

/// Why a workload cannot be done on a contender.
#[derive(Clone)]
struct Obstacle {
    what: String,
    /// What to do.
    remedy: String,
    /// As it is said of one contender among others.
    reason: String,
}

impl Obstacle {
    fn new(what: String, remedy: String) -> Self {
        Self { reason: what.clone(), what, remedy }
    }
}

/// Why a workload cannot be done on a contender, and what to do.
fn obstacle(
    workload: &Workload,
    needed: u64,
    levels: &Levels,
    rules: &dyn Rules,
) -> Option<Obstacle> {
    let device = &levels.device;
    let (text, name) = (device.written(), &workload.name);
    let own = workload.source.as_ref().is_some_and(|s| matches!(s.origin, Origin::Own { .. }));
    let less = if own { "a smaller part of your data" } else { "--scale below 1" };
    let size = device.size_bytes();
    let capacity = size.and_then(|_| rules.capacity(&levels.fs, device));
    if let Some(capacity) = capacity.filter(|_| workload.fio.is_none()) {
        if let Some((what, remedy)) = too_small(workload, levels, &capacity, less, rules) {
            return Some(Obstacle { reason: format!("{what}; {remedy}"), what, remedy });
        }
    } else if let Some(obstacle) = age_obstacle(workload, needed, levels) {
        return Some(obstacle);
    } else if size.is_some_and(|size| size < needed) {
        let mib = size_text(needed.div_ceil(1 << 20).saturating_mul(1 << 20));
        return Some(Obstacle::new(
            format!("{text} is too small for {name:?}, which needs {}", Bytes(needed)),
            format!("use a device of {mib} or more, or {less}"),
        ));
    }
    if let DeviceLevel::Directory { path } = device {
        if let Some(free) = rules.free_bytes(path).filter(|free| *free < needed) {
            return Some(Obstacle::new(
                format!(
                    "{text} has {} free: too little for {name:?}, which needs {}",
                    Bytes(free),
                    Bytes(needed)
                ),
                format!("free some, use another directory, or {less}"),
            ));
        }
        let root = path.as_os_str().len() as u64 + OWN_NAMES_BYTES;
        if root + longest_bytes(workload) >= PATH_MAX {
            return Some(Obstacle::new(
                format!("paths of {name:?} in {text} would be longer than {PATH_MAX} bytes"),
                match workload.source {
                    Some(_) => "use a shorter directory, or a tree with shorter paths",
                    None => "use a shorter directory, less depth, or a shorter name_length",
                }
                .to_owned(),
            ));
        }
    }
    let by_clock = workload.phases.iter().find(|phase| phase.io.runtime_ns.is_some());
    if let Some(phase) = by_clock.filter(|_| device.is_virtual()) {
        let what = format!(
            "phase {:?} of {name:?} has a runtime, and in virtual time what the cache answers \
             takes none: it would never end",
            phase.name
        );
        return Some(Obstacle::new(what, "say how many ops it has".to_owned()));
    }
    let sector = rules.logical_sector_bytes(device)?;
    let odd = |number: &usize| {
        workload.phases[*number].io.direct && !is_aligned(workload, *number, sector)
    };
    (0..workload.phases.len()).find(odd).map(|number| {
        let what = format!(
            "phase {:?} of {name:?} makes direct calls that are no multiples of the sector of \
             {text}, {sector} B",
            workload.phases[number].name
        );
        Obstacle::new(what, format!("use a bs and sizes that are multiples of {sector}"))
    })
}

/// Where it is not known how a file system allocates its room: why it cannot have its age and the
/// workload.
fn age_obstacle(workload: &Workload, needed: u64, levels: &Levels) -> Option<Obstacle> {
    let age = factor::age(levels)?;
    let size = levels.device.size_bytes()?;
    let room = size - size / UNKNOWN_REST;
    let aged = with_rest(u128::from(age.fill_bytes(age.whole_bytes(size, room))));
    (size < aged.saturating_add(needed)).then(|| {
        let what = format!(
            "{} is too small for the age {} of {}, which takes {}, and {:?}, which needs {}",
            levels.device.written(),
            levels.factors.get(factor::AGE).map_or("", String::as_str),
            levels.fs,
            Bytes(aged),
            workload.name,
            Bytes(needed)
        );
        Obstacle::new(what, "use a smaller share, or a larger device".to_owned())
    })
}

/// Refuses a level of age that no contender can have beside any workload.
fn reject_impossible_age(
    experiment: &Experiment,
    contenders: &[Contender],
    obstacles: &[Vec<Option<Obstacle>>],
) -> Result<(), PlanError> {
    let Some(factor) = factor::find(factor::AGE) else { return Ok(()) };
    for level in experiment.factors.axis(factor) {
        let is_own = |contender: &Contender| factor.get(&contender.levels) == level.value;
        let own: Vec<usize> =
            (0..contenders.len()).filter(|&index| is_own(&contenders[index])).collect();
        let of_own = || own.iter().flat_map(|&index| obstacles.iter().map(move |row| &row[index]));
        if level.value == factor.default_level() || !of_own().all(Option::is_some) {
            continue;
        }
        if let Some(first) = of_own().flatten().next() {
            return Err(PlanError::new(&level.place, &first.what, &first.remedy));
        }
    }
    Ok(())
}

/// Why calls that are to go past the page cache would not on this file system.
fn not_direct(workload: &Workload, levels: &Levels) -> Option<String> {
    if !workload.phases.iter().any(|phase| phase.io.direct) {
        return None;
    }
    fsarena_filesystems::driver(&levels.fs).ok()?.ignores_direct_io(&levels.fs)
}

/// Why blocks of a file cannot be given back on this file system.
fn no_holes(workload: &Workload, levels: &Levels) -> Option<String> {
    let phase = workload.phases.iter().find(|phase| phase.op == Op::RandTrim)?;
    let driver = fsarena_filesystems::driver(&levels.fs).ok()?;
    (!driver.punches_holes(&levels.fs) && !is_null(workload)).then(|| {
        format!("phase {:?} punches holes into files, which {} cannot", phase.name, levels.fs.name)
    })
}

/// Leaves out pairs of which the device cannot take the workload, or the file system not its direct
/// calls, or does not do what a level is about; a workload that no device can take is an error.
pub(crate) fn check_capacity(
    experiment: &Experiment,
    contenders: &[Contender],
    workloads: &[Workload],
    rules: &dyn Rules,
    not_run: &mut Vec<NotRun>,
) -> Result<(), PlanError> {
    check_some_copy(experiment, workloads)?;
    let of_workload = |workload: &Workload| -> Vec<Option<Obstacle>> {
        let needed = needed_bytes(workload);
        let against = |contender: &Contender| obstacle(workload, needed, &contender.levels, rules);
        contenders.iter().map(against).collect()
    };
    let all: Vec<Vec<Option<Obstacle>>> = workloads.iter().map(of_workload).collect();
    reject_impossible_age(experiment, contenders, &all)?;
    for ((number, workload), obstacles) in workloads.iter().enumerate().zip(all) {
        reject_impossible(experiment, workload, contenders, &obstacles)?;
        for (contender, obstacle) in obstacles.into_iter().enumerate() {
            let levels = &contenders[contender].levels;
            let out = not_run.iter().any(|n| n.contender == contender && n.workload.is_none());
            let reason = obstacle.map(|obstacle| obstacle.reason);
            let reason = reason.or_else(|| not_direct(workload, levels));
            let reason = reason.or_else(|| needs_files(workload, levels));
            let reason = reason.or_else(|| no_holes(workload, levels));
            let reason = reason.or_else(|| not_shared(workload, levels));
            let Some(reason) = reason else { continue };
            if !out {
                not_run.push(NotRun { contender, workload: Some(number), reason });
            }
        }
    }
    Ok(())
}

/// Refuses what none of the contenders can take that have a use for it.
fn reject_impossible(
    experiment: &Experiment,
    workload: &Workload,
    contenders: &[Contender],
    obstacles: &[Option<Obstacle>],
) -> Result<(), PlanError> {
    let both = contenders.iter().zip(obstacles);
    let asked: Vec<_> =
        both.filter(|(contender, _)| needs_files(workload, &contender.levels).is_none()).collect();
    let Some((contender, Some(last))) = asked.last() else { return Ok(()) };
    if !asked.iter().all(|(_, obstacle)| obstacle.is_some()) {
        return Ok(());
    }
    let level = Some(&contender.levels.device);
    let devices = &experiment.factors.device;
    let place = devices.iter().find(|device| Some(&device.value) == level).or(devices.last());
    match place {
        Some(device) => Err(PlanError::new(&device.place, &last.what, &last.remedy)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::builtin;
    use fsarena_model::contender::FsLevel;
    use fsarena_model::dataset::Dataset;
    use fsarena_model::dataset::Distribution;
    use fsarena_model::io::Backend;

    #[test]
    fn need_is_blocks_inodes_and_an_eighth() {
        let tiny = builtin("tiny-files").unwrap();
        assert_eq!(block_bytes(&tiny), 10_000 * 4096);
        assert_eq!(needed_bytes(&tiny), (10_000 * 4608 + 100 * 4608) * 112 / 100);
        let mut huge = tiny;
        huge.dataset.files = u64::MAX;
        assert_eq!(needed_bytes(&huge), u64::MAX);
    }

    #[test]
    fn what_is_appended_and_overwritten_needs_room() {
        let mut work = builtin("tiny-files").unwrap();
        work.phases = vec![Phase::new("append", Op::Append, 4096)];
        assert_eq!(block_bytes(&work), 10_000 * 8192, "256 B and 4 KiB are two blocks");
        work.phases = vec![Phase::new("overwrite", Op::Overwrite, 4096)];
        let again = 10_000 * 256;
        assert_eq!(needed_bytes(&work), (10_000 * 4608 + again + 100 * 4608) * 112 / 100);
    }

    #[test]
    fn what_makes_no_call_needs_no_room() {
        let mut work = builtin("tiny-files").unwrap();
        for phase in &mut work.phases {
            phase.io.backend = Backend::Null;
        }
        assert_eq!(needed_bytes(&work), 0);
    }

    #[test]
    fn direct_calls_are_not_for_what_ignores_them() {
        let mut work = builtin("big-file").unwrap();
        let device = DeviceLevel::Loop { size_bytes: 1 << 30 };
        let on = |name: &str, mount: &[&str]| {
            let mut fs = FsLevel::plain(name);
            fs.mount = mount.iter().map(|option| (*option).to_owned()).collect();
            Levels::plain(fs, device.clone())
        };
        assert_eq!(not_direct(&work, &on("tmpfs", &[])), None);
        work.phases[0].io.direct = true;
        assert!(not_direct(&work, &on("tmpfs", &[])).unwrap().contains("page cache"));
        assert_eq!(
            not_direct(&work, &on("ext4", &["noatime", "data=journal"])).unwrap(),
            "ext4 with data=journal ignores O_DIRECT and goes through the page cache"
        );
        assert!(not_direct(&work, &on("ext3", &["data=journal"])).is_some());
        assert_eq!(not_direct(&work, &on("ext4", &["data=ordered"])), None);
        assert_eq!(not_direct(&work, &on("xfs", &[])), None);
    }

    #[test]
    fn holes_are_not_for_what_cannot_punch_them() {
        let mut work = builtin("big-file").unwrap();
        let device = DeviceLevel::Loop { size_bytes: 1 << 30 };
        let on = |name: &str| Levels::plain(FsLevel::plain(name), device.clone());
        assert_eq!(no_holes(&work, &on("vfat")), None);
        work.phases.push(Phase::new("discard", Op::RandTrim, 4096));
        for name in ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs"] {
            assert_eq!(no_holes(&work, &on(name)), None, "{name}");
        }
        for name in ["exfat", "jfs", "nilfs2", "ntfs3", "reiserfs", "ufs1", "vfat"] {
            let why = format!("phase \"discard\" punches holes into files, which {name} cannot");
            assert_eq!(no_holes(&work, &on(name)), Some(why));
        }
        let mut sparse = on("ntfs3");
        sparse.fs.mount = vec!["noatime,sparse".to_owned()];
        assert_eq!(no_holes(&work, &sparse), None);
    }

    #[test]
    fn drawn_sizes_are_added_up_in_blocks() {
        let mut work = builtin("tiny-files").unwrap();
        let values = vec![(1, 1), (4097, 1)];
        let sizes = Some(Distribution::Weighted { values });
        work.dataset = Dataset { sizes, ..Dataset::uniform(1000, 4097, 0) };
        let small = (0..1000).filter(|&file| work.dataset.draw_sizes().value_at(file) == 1).count();
        assert_eq!(block_bytes(&work), (small as u64 + 2 * (1000 - small as u64)) * 4096);
    }
}
