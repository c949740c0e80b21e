//! From an experiment to a plan: axes times axes, what is legal among them, and the schedule.
//!
//! A combination that the rules forbid is listed under `not_run` with the rule. A written level of
//! which *no* combination is legal is an error at its place: it was meant to be run.

use crate::builtin;
use crate::error::{Place, PlanError};
use crate::experiment::{At, Experiment, FsAxes, FsEntry};
use crate::fit::needed_bytes;
use crate::label::{Varies, label};
use crate::options::{Overrides, apply};
use crate::parse::is_directory;
use crate::schedule::schedule;
use crate::steps::{in_memory, warm_reason};
use crate::text::device_text;
use crate::workload::scaled;
use crate::{LIVES_IN_LIMITED_MEMORY, text};
use fsarena_model::contender::{
    Cache, Contender, ContenderId, DeviceLevel, Discard, FsLevel, Levels,
};
use fsarena_model::run::{NotRun, RunPlan};
use fsarena_model::seed::Seed;
use fsarena_model::units::Bytes;
use fsarena_model::work::Workload;
use std::collections::HashMap;

const MAX_CONTENDERS: usize = 1000;
const MAX_TRIALS: usize = 1_000_000;
/// File systems that are no misspelling of ours; they can be defined by their commands.
const FOREIGN: [&str; 12] = [
    "bcachefs", "cifs", "exfat", "f2fs", "jfs", "nfs", "nilfs2", "ntfs", "ntfs3", "reiserfs",
    "vfat", "zfs",
];

/// What the file systems accept: known outside this crate.
pub trait Rules {
    /// Names of the drivers that the program has, `directory` and `tmpfs` among them.
    fn file_systems(&self) -> Vec<String>;
    /// Whether these options are legal together, on a device of this size.
    ///
    /// # Errors
    /// The rule that is broken and what to do, in one line.
    fn check(&self, fs: &FsLevel, device_bytes: Option<u64>) -> Result<(), String>;
    /// Whether the file system lies on a block device.
    fn needs_device(&self, fs: &FsLevel) -> bool;
}

/// The plan of an experiment under the options of the command line.
///
/// # Errors
/// The first level or option that cannot be run, with its place and a remedy.
pub fn expand(
    experiment: &Experiment,
    overrides: &Overrides,
    rules: &dyn Rules,
) -> Result<RunPlan, PlanError> {
    let scale = scale(overrides)?;
    let experiment = apply(experiment, overrides)?;
    let entries = entries(&experiment);
    known_names(&experiment, &entries, rules)?;
    let crossed = cross(&experiment, &entries, rules)?;
    blame(&crossed)?;
    let (mut contenders, mut not_run) = contenders(&crossed)?;
    let varies = varies(&experiment, &contenders);
    label(&mut contenders, varies);
    let workloads: Vec<Workload> =
        experiment.workloads.iter().map(|workload| scaled(&workload.value, scale)).collect();
    fit(&experiment, &contenders, &workloads, &mut not_run)?;
    let left_out = |contender: usize, workload: usize| {
        not_run.iter().any(|n| n.contender == contender && n.workload.is_none_or(|w| w == workload))
    };
    let pairs: Vec<(usize, usize)> = (0..workloads.len())
        .flat_map(|workload| (0..contenders.len()).map(move |contender| (workload, contender)))
        .filter(|(workload, contender)| !left_out(*contender, *workload))
        .collect();
    let run = &experiment.run;
    if pairs.len().saturating_mul(run.blocks as usize) > MAX_TRIALS {
        let what = format!("{} pairs × {} blocks are too many trials", pairs.len(), run.blocks);
        let remedy = format!("use fewer levels or blocks: up to {MAX_TRIALS} trials");
        return Err(PlanError::new(&experiment.workloads[0].place, what, remedy));
    }
    let seed = Seed::from_number(run.seed.unwrap_or(overrides.fallback_seed));
    Ok(RunPlan {
        seed,
        blocks: run.blocks,
        schedule: schedule(&seed, run.blocks, &pairs),
        contenders,
        workloads,
        not_run,
        compared_clock: run.compare,
        scale,
        verify: run.verify,
        sample_period_ns: run.sample_period_ns,
        rate: run.rate,
    })
}

fn scale(overrides: &Overrides) -> Result<f64, PlanError> {
    let scale = overrides.scale.unwrap_or(1.0);
    if scale > 0.0 && scale <= 100.0 {
        return Ok(scale);
    }
    let place = Place::Option("--scale");
    Err(PlanError::new(&place, format!("a scale of {scale}"), "use a number above 0, up to 100"))
}

/// The file systems asked for; `directory` where only directories are given and none is named.
fn entries(experiment: &Experiment) -> Vec<At<FsEntry>> {
    let factors = &experiment.factors;
    if !factors.fs.is_empty() {
        return factors.fs.clone();
    }
    let level = FsLevel::plain("directory");
    vec![At::new(FsEntry { level, text: "directory".to_owned() }, &factors.device[0].place)]
}

fn known_names(
    experiment: &Experiment,
    entries: &[At<FsEntry>],
    rules: &dyn Rules,
) -> Result<(), PlanError> {
    let mut known = rules.file_systems();
    for defined in &experiment.filesystems {
        if known.contains(&defined.value.name) {
            let what = format!("{:?} is a file system of the program", defined.value.name);
            return Err(PlanError::new(&defined.place, what, "define yours under another name"));
        }
    }
    known.extend(experiment.filesystems.iter().map(|defined| defined.value.name.clone()));
    match entries.iter().find(|entry| !known.contains(&entry.value.level.name)) {
        Some(entry) => {
            let name = &entry.value.level.name;
            let error = PlanError::unknown(&entry.place, "file system", name, &known);
            if !FOREIGN.contains(&name.as_str()) {
                return Err(error);
            }
            let remedy = "it is not built in: define it by its commands in a [[filesystem]] table";
            Err(PlanError { remedy: remedy.to_owned(), ..error })
        }
        None => Ok(()),
    }
}

/// Whether a combination runs.
#[derive(Clone, PartialEq, Debug)]
enum Legality {
    Legal,
    /// Nobody's mistake: the reason goes into the result.
    Never(&'static str),
    /// A rule forbids it.
    Forbidden(String),
}

/// A combination of levels, with the written levels that it is made of.
#[derive(Clone, Debug)]
struct Combination {
    levels: Levels,
    legality: Legality,
    /// Options of axes: their places and texts.
    options: Vec<(Place, String)>,
    /// Whether the file system without these options would be legal here.
    plain_legal: bool,
    entry: At<FsEntry>,
    device: At<DeviceLevel>,
}

/// A file system with the options that axes add.
struct Variant {
    level: FsLevel,
    options: Vec<(Place, String)>,
}

fn variants(entry: &FsEntry, axes: Option<&At<FsAxes>>) -> Vec<Variant> {
    let mut variants = vec![Variant { level: entry.level.clone(), options: Vec::new() }];
    let Some(axes) = axes.filter(|_| !entry.has_options()) else { return variants };
    for (key, levels) in &axes.value.mkfs {
        variants = multiply(&variants, levels, |fs, value| {
            let value = value.as_ref()?;
            fs.mkfs.insert(key.clone(), value.clone());
            Some(format!("mkfs.{key}={value}"))
        });
    }
    if !axes.value.mount.is_empty() {
        variants = multiply(&variants, &axes.value.mount, |fs, options| {
            fs.mount.clone_from(options);
            if options.is_empty() { None } else { Some(options.join(",")) }
        });
    }
    variants
}

/// Each variant with each level put in; `put` gives the text of the level, none for a default.
fn multiply<T>(
    variants: &[Variant],
    levels: &[At<T>],
    put: impl Fn(&mut FsLevel, &T) -> Option<String>,
) -> Vec<Variant> {
    let mut product = Vec::with_capacity(variants.len() * levels.len());
    for variant in variants {
        for level in levels {
            let mut fs = variant.level.clone();
            let text = put(&mut fs, &level.value);
            let mut options = variant.options.clone();
            options.extend(text.map(|text| (level.place.clone(), text)));
            product.push(Variant { level: fs, options });
        }
    }
    product
}

fn cross(
    experiment: &Experiment,
    entries: &[At<FsEntry>],
    rules: &dyn Rules,
) -> Result<Vec<Combination>, PlanError> {
    let factors = &experiment.factors;
    let mut all = Vec::new();
    for entry in entries {
        let mut entry = entry.clone();
        let name = &entry.value.level.name;
        let defined = experiment.filesystems.iter().find(|defined| defined.value.name == *name);
        entry.value.level.external = defined.map(|defined| defined.value.commands.clone());
        for variant in variants(&entry.value, factors.of_fs.get(&entry.value.level.name)) {
            for (device, memory, cache, discard) in settings(experiment, &variant.level, rules) {
                let levels = Levels {
                    fs: variant.level.clone(),
                    device: device.value.clone(),
                    memory_bytes: memory,
                    cache,
                    discard,
                };
                let plain = Levels { fs: entry.value.level.clone(), ..levels.clone() };
                all.push(Combination {
                    legality: legality(&levels, rules),
                    plain_legal: legality(&plain, rules) == Legality::Legal,
                    levels,
                    options: variant.options.clone(),
                    entry: entry.clone(),
                    device: device.clone(),
                });
                if all.len() > MAX_CONTENDERS {
                    let what = format!("more than {MAX_CONTENDERS} combinations of levels");
                    return Err(PlanError::new(&entry.place, what, "shorten some of the lists"));
                }
            }
        }
    }
    Ok(all)
}

/// Device, memory, cache and discard as they resolve for a file system, each combination once.
///
/// Of devices of one size, a file system in memory takes the first only; where nothing can be made
/// cold, `cold` becomes `warm`; without a device there is nothing to discard.
fn settings<'e>(
    experiment: &'e Experiment,
    fs: &FsLevel,
    rules: &dyn Rules,
) -> Vec<(&'e At<DeviceLevel>, Option<u64>, Cache, Discard)> {
    let factors = &experiment.factors;
    let needs_device = rules.needs_device(fs);
    let mut all: Vec<(&At<DeviceLevel>, Option<u64>, Cache, Discard)> = Vec::new();
    for device in &factors.device {
        let same_memory = |other: &DeviceLevel| {
            !needs_device
                && other.size_bytes().is_some_and(|s| Some(s) == device.value.size_bytes())
        };
        for memory in &factors.memory {
            for cache in &factors.cache {
                for discard in &factors.discard {
                    let levels = Levels {
                        fs: fs.clone(),
                        device: device.value.clone(),
                        memory_bytes: memory.value,
                        cache: cache.value,
                        discard: discard.value,
                    };
                    let warm = warm_reason(&levels).is_some();
                    let cache = if warm { Cache::Warm } else { cache.value };
                    let none = !needs_device || is_directory(&device.value);
                    let discard = if none { Discard::None } else { discard.value };
                    let there = all.iter().any(|(d, m, c, dis)| {
                        (d.value == device.value || same_memory(&d.value))
                            && (*m, *c, *dis) == (memory.value, cache, discard)
                    });
                    if !there {
                        all.push((device, memory.value, cache, discard));
                    }
                }
            }
        }
    }
    all
}

/// Whether a path looks like a device node: `/dev/shm` and what ends with `/` are directories.
fn names_a_device(path: &str) -> bool {
    let shm = path == "/dev/shm" || path.starts_with("/dev/shm/");
    path.starts_with("/dev/") && !path.ends_with('/') && !shm
}

fn legality(levels: &Levels, rules: &dyn Rules) -> Legality {
    let name = &levels.fs.name;
    let directory = is_directory(&levels.device);
    if directory && name != "directory" {
        let path = device_text(&levels.device);
        if names_a_device(&path) {
            return Legality::Forbidden(format!(
                "{path}: real block devices are not supported yet; use loop:2G or ram:2G"
            ));
        }
        return Legality::Forbidden(format!(
            "{name} cannot be made in the directory {path}: use \"directory\" there, or loop:2G"
        ));
    }
    if !directory && name == "directory" {
        let text = device_text(&levels.device);
        return Legality::Forbidden(format!(
            "\"directory\" works in a directory, not on {text}: give it one, such as /var/tmp"
        ));
    }
    if in_memory(levels) && levels.memory_bytes.is_some() {
        return Legality::Never(LIVES_IN_LIMITED_MEMORY);
    }
    match rules.check(&levels.fs, levels.device.size_bytes()) {
        Ok(()) => Legality::Legal,
        Err(rule) => Legality::Forbidden(rule),
    }
}

/// Refuses a written level of which every combination is forbidden.
fn blame(all: &[Combination]) -> Result<(), PlanError> {
    let hopeless = |holds: &dyn Fn(&Combination) -> bool| -> Option<String> {
        let mut rule = None;
        for combination in all.iter().filter(|combination| holds(combination)) {
            match &combination.legality {
                Legality::Forbidden(text) => rule.get_or_insert_with(|| text.clone()),
                _ => return None,
            };
        }
        rule
    };
    for combination in all {
        for (place, written) in &combination.options {
            let holds = |c: &Combination| c.plain_legal && c.options.iter().any(|o| o.0 == *place);
            if let Some(rule) = hopeless(&holds) {
                return Err(forbidden(place, written, &rule));
            }
        }
        let (entry, device) = (&combination.entry, &combination.device);
        if let Some(rule) = hopeless(&|c: &Combination| c.entry == *entry) {
            return Err(forbidden(&entry.place, &entry.value.text, &rule));
        }
        if let Some(rule) = hopeless(&|c: &Combination| c.device == *device) {
            return Err(forbidden(&device.place, &device_text(&device.value), &rule));
        }
    }
    Ok(())
}

/// The rule's own text says what to do; where it does not, leaving the level out always helps.
fn forbidden(place: &Place, written: &str, rule: &str) -> PlanError {
    let what = format!("{written:?} is not possible");
    PlanError::new(place, what, rule)
}

fn contenders(all: &[Combination]) -> Result<(Vec<Contender>, Vec<NotRun>), PlanError> {
    let mut contenders: Vec<Contender> = Vec::new();
    let mut not_run = Vec::new();
    let mut seen: HashMap<ContenderId, (u32, FsLevel)> = HashMap::new();
    for combination in all {
        let levels = combination.levels.clone();
        let first = (0, combination.entry.value.level.clone());
        let (arms, written) = seen.entry(ContenderId::of(&levels, 1)).or_insert(first);
        if *written != combination.entry.value.level {
            let what = format!("two contenders are both {}", levels.fs);
            let remedy = "leave one out; an A/A comparison names one file system twice: ext4, ext4";
            return Err(PlanError::new(&combination.entry.place, what, remedy));
        }
        *arms += 1;
        let reason = match &combination.legality {
            Legality::Legal => None,
            Legality::Never(reason) => Some((*reason).to_owned()),
            Legality::Forbidden(rule) => Some(rule.clone()),
        };
        if let Some(reason) = reason {
            not_run.push(NotRun { contender: contenders.len(), workload: None, reason });
        }
        contenders.push(Contender { label: String::new(), replicate: *arms, levels });
    }
    Ok((contenders, not_run))
}

fn varies(experiment: &Experiment, contenders: &[Contender]) -> Varies {
    let factors = &experiment.factors;
    let cold = contenders.iter().filter(|contender| warm_reason(&contender.levels).is_none());
    Varies {
        device: factors.device.len() > 1,
        memory: factors.memory.len() > 1,
        cache: factors.cache.len() > 1 && cold.count() > 0,
        discard: factors.discard.len() > 1,
    }
}

/// Leaves out pairs whose dataset does not fit the device; a workload that fits none is an error.
fn fit(
    experiment: &Experiment,
    contenders: &[Contender],
    workloads: &[Workload],
    not_run: &mut Vec<NotRun>,
) -> Result<(), PlanError> {
    for (number, workload) in workloads.iter().enumerate() {
        let needed = needed_bytes(workload);
        let small = |device: &DeviceLevel| device.size_bytes().is_some_and(|size| size < needed);
        let what = |device: &DeviceLevel| {
            let (text, name) = (device_text(device), &workload.name);
            format!("{text} is too small for {name:?}, which needs {}", Bytes(needed))
        };
        if experiment.factors.device.iter().all(|device| small(&device.value)) {
            let device = experiment.factors.device.last().expect("a list is never empty");
            let mib = text::size_text(needed.div_ceil(1 << 20) << 20);
            let remedy = format!("use a device of {mib} or more, or --scale below 1");
            return Err(PlanError::new(&device.place, what(&device.value), remedy));
        }
        for (contender, levels) in contenders.iter().map(|c| &c.levels).enumerate() {
            let out = not_run.iter().any(|n| n.contender == contender && n.workload.is_none());
            if !out && small(&levels.device) {
                let reason = what(&levels.device);
                not_run.push(NotRun { contender, workload: Some(number), reason });
            }
        }
    }
    Ok(())
}

/// The built-in experiment of this name, or the error that lists them.
///
/// # Errors
/// When there is none.
pub fn builtin_experiment(name: &str) -> Result<Experiment, PlanError> {
    builtin::experiment(name).ok_or_else(|| {
        let place = Place::Option("EXPERIMENT");
        let error = PlanError::unknown(&place, "experiment", name, &builtin::experiment_names());
        let remedy = format!("{}; a file is named with a / or .toml", error.remedy);
        PlanError { remedy, ..error }
    })
}
