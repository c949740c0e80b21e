//! From an experiment to a plan: axes times axes, what is legal among them, and the schedule.
//!
//! A combination that the rules forbid is listed under `not_run` with the rule. A written level of
//! which *no* combination is legal is an error at its place: it was meant to be run.

use crate::axes;
use crate::check_capacity::check_capacity;
use crate::crash;
use crate::cross::{Combination, Legality, cross, reject_illegal_levels};
use crate::error::{At, PlanError, Span};
use crate::experiment::Experiment;
use crate::files::Rules;
use crate::fs_entry::FsEntry;
use crate::label::{Varies, label};
use crate::options::apply;
use crate::overrides::Overrides;
use crate::ranks;
use crate::text;
use crate::verdict;
use crate::workload::{set_runtime, with_stonewall};
use fsarena_model::contender::{Contender, ContenderId, DeviceLevel, FsLevel};
use fsarena_model::factor::{self, Factor};
use fsarena_model::run::{NotRun, RunPlan, Slot};
use fsarena_model::seed::Seed;
use std::collections::{BTreeMap, HashMap};

const MAX_TRIALS: usize = 1_000_000;

const UFS: &str = "its first version is ufs1, in guest kernels (--on virtual:4G:model=hdd-2003); \
                   UFS2 and soft updates need FreeBSD, and figures of them are in `fsarena \
                   reference`";

/// File systems of other systems that people ask for, with what can be had of them.
const ELSEWHERE: [(&str, &str); 5] = [
    ("ufs", UFS),
    ("ufs2", UFS),
    ("ffs", UFS),
    ("apfs", "Linux neither makes nor writes it"),
    ("hfs", "Linux writes it without its journal only"),
];

/// The plan of an experiment under the options of the command line.
///
/// # Errors
/// The first level or option that cannot be run, with its place and a remedy.
pub fn expand(
    experiment: &Experiment,
    overrides: &Overrides,
    rules: &dyn Rules,
) -> Result<RunPlan, PlanError> {
    let scale = match overrides.scale {
        Some(scale) => text::scale(scale, &Span::Option("--scale"))?,
        None => experiment.run.scale,
    };
    let mut experiment = apply(experiment, overrides)?;
    find_devices(&mut experiment, rules)?;
    one_time_base(&experiment)?;
    let entries = entries(&experiment);
    known_names(&experiment, &entries)?;
    let crossed = cross(&experiment, &entries, rules)?;
    reject_illegal_levels(&crossed)?;
    let (mut contenders, mut not_run) = contenders(&crossed)?;
    let varies = varies(&experiment, &contenders);
    label(&mut contenders, &varies);
    // Before titles have their numbers.
    if let Some(text) = &overrides.runtime {
        set_runtime(&mut experiment.workloads, text)?;
    }
    let workloads = axes::all_scaled(&experiment.workloads, scale)?;
    let workloads = match &overrides.stonewall {
        Some(text) => with_stonewall(workloads, text)?,
        None => workloads,
    };
    let workloads = ranks::spread(&experiment.factors, &mut contenders, workloads)?;
    check_capacity(&experiment, &contenders, &workloads, rules, &mut not_run)?;
    let run = &experiment.run;
    let texts: Vec<&str> = crossed.iter().map(|one| one.entry.value.text.as_str()).collect();
    let mut plan = RunPlan {
        seed: Seed::from_number(run.seed.unwrap_or(overrides.fallback_seed)),
        blocks: 0,
        contenders,
        workloads,
        not_run,
        schedule: Vec::new(),
        compared_clock: run.compare,
        scale,
        verify: run.verify,
        sample_period_ns: run.sample_period_ns,
        account: run.account,
        rate: run.rate,
        verdict: None,
        crash: None,
    };
    let of_plan = |asked| crash::of_plan(asked, &experiment.workloads, &plan);
    plan.crash = experiment.crash.as_ref().map(of_plan).transpose()?;
    if plan.is_crash_alone() {
        return Ok(plan);
    }
    verdict::add_verdict_plan(&mut plan, run, &texts)?;
    let pairs = pairs(&plan);
    if pairs.len().saturating_mul(plan.blocks as usize) > MAX_TRIALS {
        let what = format!("{} pairs × {} blocks are too many trials", pairs.len(), plan.blocks);
        let remedy = format!("use fewer levels or blocks: up to {MAX_TRIALS} trials");
        return Err(PlanError::new(&experiment.workloads[0].place, what, remedy));
    }
    plan.schedule = schedule(&plan.seed, plan.blocks, &pairs);
    Ok(plan)
}

/// Every pair of (workload, contender) that is run.
fn pairs(plan: &RunPlan) -> Vec<(usize, usize)> {
    let left_out = |contender: usize, workload: usize| {
        let mut rows = plan.not_run.iter().filter(|row| row.contender == contender);
        rows.any(|row| row.workload.is_none_or(|left| left == workload))
    };
    (0..plan.workloads.len())
        .flat_map(|workload| (0..plan.contenders.len()).map(move |c| (workload, c)))
        .filter(|(workload, contender)| !left_out(*contender, *workload))
        .collect()
}

/// The trials of `blocks` blocks over these pairs of (workload, contender): block by block, the
/// workloads in fresh random order, and within each its contenders in fresh random order.
///
/// Contenders of one workload are next to each other, because two trials differ the less by what
/// drifts on the machine the closer they are in time.
///
/// Block `b` draws from `seed.child("block", b)`: first the order of its workloads, then that of
/// the contenders of each, in this order. The seed of a trial is the child `("trial", position)` of
/// its block. Golden vectors in the tests fix both for ever; a RUN is carried out by the schedule
/// that is stored with it, whatever order that has.
#[must_use]
pub fn schedule(seed: &Seed, blocks: u32, pairs: &[(usize, usize)]) -> Vec<Slot> {
    let mut by_workload: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (workload, contender) in pairs {
        by_workload.entry(*workload).or_default().push(*contender);
    }
    let groups: Vec<(usize, Vec<usize>)> = by_workload.into_iter().collect();
    let mut slots = Vec::with_capacity(pairs.len() * blocks as usize);
    for block in 0..blocks {
        let mut rng = seed.child("block", u64::from(block)).rng();
        let mut order = groups.clone();
        rng.shuffle(&mut order);
        order.iter_mut().for_each(|(_, contenders)| rng.shuffle(contenders));
        let trials = order.into_iter().flat_map(|(workload, contenders)| {
            contenders.into_iter().map(move |contender| (workload, contender))
        });
        slots.extend(trials.zip(0..).map(|((workload, contender), position)| Slot {
            block,
            position,
            contender,
            workload,
        }));
    }
    slots
}

/// The seed of one trial.
#[must_use]
pub fn trial_seed(plan: &RunPlan, slot: &Slot) -> Seed {
    plan.seed.child("block", u64::from(slot.block)).child("trial", u64::from(slot.position))
}

/// Tells block devices from directories.
fn find_devices(experiment: &mut Experiment, rules: &dyn Rules) -> Result<(), PlanError> {
    let no_fs = experiment.factors.fs.is_empty();
    for device in &mut experiment.factors.device {
        if let DeviceLevel::Virtual { kernel, .. } = &mut device.value {
            match rules.guest_kernel(kernel) {
                Ok(found) => *kernel = found,
                Err(reason) if kernel.contains('/') => {
                    let what = "this device names a file as its guest kernel";
                    return Err(PlanError::new(&device.place, what, reason));
                }
                // Which machine has one is not known to who writes an experiment.
                Err(_) if kernel.is_empty() => {}
                Err(reason) => {
                    let what = "this device names a guest kernel that is not there";
                    return Err(PlanError::new(&device.place, what, reason));
                }
            }
        }
        let place = device.place.clone();
        let needs_fs = || {
            let remedy = "name them: fs = [\"ext4\", \"xfs\"], or --fs ext4,xfs";
            PlanError::new(&place, "this device needs file systems", remedy)
        };
        let parts = match &mut device.value {
            DeviceLevel::Several { .. } if no_fs => return Err(needs_fs()),
            DeviceLevel::Several { members } => &mut members[..],
            one => std::slice::from_mut(one),
        };
        for part in parts {
            let DeviceLevel::Directory { path } = &*part else { continue };
            let Some(size) = rules.block_device_bytes(path) else { continue };
            let size_bytes = size.map_err(|reason| {
                PlanError::new(&place, format!("{} cannot be used", path.display()), reason)
            })?;
            if no_fs {
                return Err(needs_fs());
            }
            *part = DeviceLevel::Block { path: path.clone(), size_bytes };
        }
    }
    each_once(&experiment.factors.device)
}

/// Refuses two devices that name the same kernel in two ways, or have one device of the user's.
fn each_once(devices: &[At<DeviceLevel>]) -> Result<(), PlanError> {
    for (at, device) in devices.iter().enumerate() {
        if device.value.is_virtual() && devices[..at].iter().any(|it| it.value == device.value) {
            let what =
                format!("{} is there twice: both kernels are the same", device.value.written());
            return Err(PlanError::new(&device.place, what, "keep one of them"));
        }
        let path_of = |part: &DeviceLevel| match part {
            DeviceLevel::Block { path, .. } => Some(path.clone()),
            _ => None,
        };
        let earlier: Vec<_> =
            devices[..at].iter().flat_map(|it| it.value.parts()).filter_map(path_of).collect();
        let mut own = device.value.parts().iter().filter_map(path_of);
        if let Some(path) = own.find(|path| earlier.contains(path)) {
            let what = format!("{} is there in two levels of the device", path.display());
            let remedy = "a RUN has a device of yours once: make it two RUNs";
            return Err(PlanError::new(&device.place, what, remedy));
        }
    }
    Ok(())
}

/// Refuses a RUN in virtual and in real time: nothing of it could be compared.
fn one_time_base(experiment: &Experiment) -> Result<(), PlanError> {
    let devices = &experiment.factors.device;
    let is_virtual = |device: &&At<DeviceLevel>| device.value.is_virtual();
    match devices.iter().find(is_virtual) {
        Some(device) if !devices.iter().all(|device| is_virtual(&device)) => Err(PlanError::new(
            &device.place,
            "one RUN cannot be in virtual and in real time, which are never compared",
            "make it two RUNs",
        )),
        _ => Ok(()),
    }
}

/// The file systems asked for; `directory` where only directories are given and none is named.
fn entries(experiment: &Experiment) -> Vec<At<FsEntry>> {
    let factors = &experiment.factors;
    if !factors.fs.is_empty() {
        return factors.fs.clone();
    }
    let level = FsLevel::plain("directory");
    vec![At::new(
        FsEntry { level, text: "directory".to_owned(), sweep: None },
        &factors.device[0].place,
    )]
}

fn known_names(experiment: &Experiment, entries: &[At<FsEntry>]) -> Result<(), PlanError> {
    let drivers = fsarena_filesystems::builtin().iter();
    let mut known: Vec<&str> = drivers.map(|driver| driver.name()).collect();
    for defined in &experiment.filesystems {
        if known.contains(&defined.value.name.as_str()) {
            let what = format!("{:?} is a file system of the program", defined.value.name);
            return Err(PlanError::new(&defined.place, what, "define yours under another name"));
        }
    }
    known.extend(experiment.filesystems.iter().map(|defined| defined.value.name.as_str()));
    match entries.iter().find(|entry| !known.contains(&entry.value.level.name.as_str())) {
        Some(entry) => {
            let name = &entry.value.level.name;
            let error = PlanError::unknown(&entry.place, "file system", name, &known);
            if let Some((_, why)) = ELSEWHERE.iter().find(|(other, _)| *other == name.as_str()) {
                let remedy = format!("{why}; there are {}", known.join(", "));
                return Err(PlanError { remedy, ..error });
            }
            if !fsarena_filesystems::FOREIGN.contains(&name.as_str()) {
                return Err(error);
            }
            let remedy = "not built in; define mkfs and mount commands in a [[filesystem]] table";
            Err(PlanError { remedy: remedy.to_owned(), ..error })
        }
        None => Ok(()),
    }
}

fn contenders(all: &[Combination]) -> Result<(Vec<Contender>, Vec<NotRun>), PlanError> {
    let mut contenders: Vec<Contender> = Vec::new();
    let mut not_run = Vec::new();
    let mut seen: HashMap<ContenderId, (u32, FsLevel)> = HashMap::new();
    for combination in all {
        let levels = combination.levels.clone();
        let first = (0, combination.entry.value.level.clone());
        let (arms, written) = seen.entry(ContenderId::from_levels(&levels, 1)).or_insert(first);
        if *written != combination.entry.value.level {
            let what = format!("two contenders are both {}", levels.fs);
            let remedy = "leave one out; an A/A comparison names one file system twice: ext4, ext4";
            return Err(PlanError::new(&combination.entry.place, what, remedy));
        }
        *arms += 1;
        let reason = match &combination.legality {
            Legality::Legal => None,
            Legality::LeftOut(reason) => Some((*reason).to_owned()),
            Legality::Forbidden(rule) => Some(rule.clone()),
        };
        if let Some(reason) = reason {
            not_run.push(NotRun { contender: contenders.len(), workload: None, reason });
        }
        let asked = combination.asked.clone();
        contenders.push(Contender { asked, ..Contender::new("", *arms, levels) });
    }
    Ok((contenders, not_run))
}

fn varies(experiment: &Experiment, contenders: &[Contender]) -> Varies {
    let meant = |factor: &dyn Factor| {
        let has_meaning = |one: &Contender| factor.without_meaning(&one.levels).is_none();
        contenders.iter().any(has_meaning)
    };
    let several = |factor: &&'static dyn Factor| {
        let levels = experiment.factors.axis(*factor);
        let always = levels.iter().any(|level| factor.is_always_labelled(&level.value));
        always || (levels.len() > 1 && meant(*factor))
    };
    let factors = factor::all().into_iter().filter(several).map(|factor| factor.key()).collect();
    Varies { device: experiment.factors.device.len() > 1, factors }
}
