//! Axes times axes: every combination of levels, what is legal among them, and which written level
//! is rejected where none is.
//!
//! Levels that mean nothing on a file system or a device collapse into one: without a device of its
//! own there is nothing to discard, to condition or to schedule.

use crate::error::PlanError;
use crate::experiment::{Experiment, Factors, FsAxes};
use crate::fs_entry::FsEntry;
use crate::rules::Rules;
use crate::span::{At, Span};
use crate::steps::{LIVES_IN_LIMITED_MEMORY, in_memory, warm_reason};
use crate::text::{device_text, is_directory, names_a_device, size_text};
use fsarena_model::contender::{Cache, DeviceLevel, Discard, FsLevel, Levels};
use fsarena_model::device::{QueueLevel, SsdPolicy};
use fsarena_model::job::Reflink;

const MAX_CONTENDERS: usize = 1000;
/// Most combinations that are looked at for one file system and device.
const MAX_COMBINATIONS: usize = 100_000;

/// Whether a combination runs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Legality {
    Legal,
    /// Not a mistake: the reason is part of the result.
    Never(&'static str),
    /// A rule forbids it.
    Forbidden(String),
}

/// A combination of levels, with the written levels that it is made of.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    pub(crate) levels: Levels,
    pub(crate) legality: Legality,
    /// Options of axes: their places and texts.
    options: Vec<(Span, String)>,
    /// Whether the file system without these options would be legal here.
    plain_legal: bool,
    pub(crate) entry: At<FsEntry>,
    device: At<DeviceLevel>,
}

/// A file system with the options that axes add.
struct Variant {
    level: FsLevel,
    options: Vec<(Span, String)>,
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

/// Every combination of the experiment's levels.
pub(crate) fn cross(
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
            for setting in settings(factors, &variant.level, rules, &entry.place)? {
                let plain = Levels {
                    fs: entry.value.level.clone(),
                    queue: QueueLevel::default(),
                    reflink: Reflink::Never,
                    handicap_ns: 0,
                    ..setting.levels.clone()
                };
                all.push(Combination {
                    legality: legality(&setting.levels, rules),
                    plain_legal: legality(&plain, rules) == Legality::Legal,
                    levels: setting.levels,
                    options: [&variant.options[..], &setting.written[..]].concat(),
                    entry: entry.clone(),
                    device: setting.device.clone(),
                });
                if all.len() > MAX_CONTENDERS {
                    return Err(too_many(&entry.place));
                }
            }
        }
    }
    Ok(all)
}

fn too_many(place: &Span) -> PlanError {
    let what = format!("more than {MAX_CONTENDERS} combinations of levels");
    PlanError::new(place, what, "shorten some of the lists")
}

/// Levels of a file system on a device.
#[derive(Clone)]
struct Setting<'e> {
    device: &'e At<DeviceLevel>,
    levels: Levels,
    /// Levels that a device may refuse: their places and texts.
    written: Vec<(Span, String)>,
    /// The level of `reflink`, which a file system may refuse.
    of_copies: Option<(Span, String)>,
}

/// Everything but the file system's own axes as it resolves for a file system, each combination
/// once.
///
/// Of devices of one size, a file system in memory takes the first only; where nothing can be made
/// cold, `cold` becomes `warm`; without a device there is nothing to discard, to condition or to
/// set.
fn settings<'e>(
    factors: &'e Factors,
    fs: &FsLevel,
    rules: &dyn Rules,
    place: &Span,
) -> Result<Vec<Setting<'e>>, PlanError> {
    let needs_device = rules.needs_device(fs);
    let lengths = [
        factors.memory.len(),
        factors.cache.len(),
        factors.discard.len(),
        factors.ssd.len(),
        factors.scheduler.len(),
        factors.read_ahead.len(),
        factors.write_cache.len(),
        factors.reflink.len(),
        factors.handicap.len(),
    ];
    if lengths.into_iter().fold(1, usize::saturating_mul) > MAX_COMBINATIONS {
        return Err(too_many(place));
    }
    let mut all: Vec<Setting<'_>> = Vec::new();
    for device in &factors.device {
        let same_device = |other: &DeviceLevel| {
            let same_size =
                other.size_bytes().is_some_and(|s| Some(s) == device.value.size_bytes());
            *other == device.value || (!needs_device && same_size)
        };
        for mut setting in on_device(factors, fs, device) {
            resolve(&mut setting, needs_device);
            let there = all.iter().any(|other| {
                let device = setting.levels.device.clone();
                same_device(&other.levels.device)
                    && Levels { device, ..other.levels.clone() } == setting.levels
            });
            if !there {
                all.push(setting);
            }
        }
    }
    Ok(all)
}

/// The product of the axes on one device, in the order in which they are documented.
fn on_device<'e>(factors: &Factors, fs: &FsLevel, device: &'e At<DeviceLevel>) -> Vec<Setting<'e>> {
    let levels = Levels::plain(fs.clone(), device.value.clone());
    let all = vec![Setting { device, levels, written: Vec::new(), of_copies: None }];
    let all = times(all, &factors.memory, |s, memory| s.levels.memory_bytes = memory.value);
    let all = times(all, &factors.cache, |s, cache| s.levels.cache = cache.value);
    let all = times(all, &factors.discard, |s, discard| s.levels.discard = discard.value);
    let all = times(all, &factors.ssd, |s, ssd| s.levels.ssd = ssd.value);
    let all = times(all, &factors.scheduler, |s, scheduler| {
        s.levels.queue.scheduler.clone_from(&scheduler.value);
        let text = scheduler.value.as_ref().map(|name| format!("scheduler={name}"));
        s.written.extend(text.map(|text| (scheduler.place.clone(), text)));
    });
    let all = times(all, &factors.read_ahead, |s, size| {
        s.levels.queue.read_ahead_bytes = size.value;
        let text = size.value.map(|size| format!("read_ahead={}", size_text(size)));
        s.written.extend(text.map(|text| (size.place.clone(), text)));
    });
    let all = times(all, &factors.write_cache, |s, cache| {
        s.levels.queue.write_cache = cache.value;
        let text = cache.value.map(|cache| format!("write_cache={}", cache.name()));
        s.written.extend(text.map(|text| (cache.place.clone(), text)));
    });
    let all = times(all, &factors.reflink, |s, reflink| {
        s.levels.reflink = reflink.value;
        let text = format!("reflink={}", reflink.value.name());
        s.of_copies = (!reflink.value.is_never()).then(|| (reflink.place.clone(), text));
    });
    times(all, &factors.handicap, |s, handicap| s.levels.handicap_ns = handicap.value)
}

/// Each setting with each level put in.
fn times<'e, T>(
    settings: Vec<Setting<'e>>,
    axis: &[At<T>],
    put: impl Fn(&mut Setting<'e>, &At<T>),
) -> Vec<Setting<'e>> {
    let mut product = Vec::with_capacity(settings.len() * axis.len());
    for setting in settings {
        for level in axis {
            let mut setting = setting.clone();
            put(&mut setting, level);
            product.push(setting);
        }
    }
    product
}

/// Takes back what means nothing here.
fn resolve(setting: &mut Setting<'_>, needs_device: bool) {
    let levels = &mut setting.levels;
    if warm_reason(levels).is_some() {
        levels.cache = Cache::Warm;
    }
    if !needs_device || is_directory(&levels.device) {
        levels.discard = Discard::None;
        levels.ssd = SsdPolicy::None;
        levels.queue = QueueLevel::default();
        setting.written.clear();
    }
    setting.written.extend(setting.of_copies.take());
}

/// Whether files of a file system can share blocks, where that is known.
fn reflinks(fs: &FsLevel) -> Option<bool> {
    fsarena_filesystems::driver(fs).ok()?.reflinks()
}

fn legality(levels: &Levels, rules: &dyn Rules) -> Legality {
    let name = &levels.fs.name;
    let directory = is_directory(&levels.device);
    if directory && name != "directory" {
        let path = device_text(&levels.device);
        if names_a_device(&levels.device) {
            return Legality::Forbidden(format!(
                "{path} is no block device here; `fsarena devices` lists those that are"
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
    if let Some(scheduler) = levels.queue.scheduler.as_deref().filter(|name| *name != "none")
        && matches!(levels.device, DeviceLevel::Zram { .. } | DeviceLevel::Brd { .. })
    {
        return Legality::Forbidden(format!(
            "{} has no queue that {scheduler} could sort; use scheduler = \"none\", or null_blk",
            device_text(&levels.device)
        ));
    }
    if in_memory(levels) && levels.memory_bytes.is_some() {
        return Legality::Never(LIVES_IN_LIMITED_MEMORY);
    }
    if levels.reflink == Reflink::Always && reflinks(&levels.fs) == Some(false) {
        return Legality::Forbidden(format!(
            "files of {name} cannot share blocks: use xfs or btrfs, or reflink = \"auto\""
        ));
    }
    match rules.check(&levels.fs, levels.device.size_bytes()) {
        Ok(()) => Legality::Legal,
        Err(rule) => Legality::Forbidden(rule),
    }
}

/// Refuses a written level of which every combination is forbidden.
pub(crate) fn reject_illegal_levels(all: &[Combination]) -> Result<(), PlanError> {
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
        // The levels of a range are legal or illegal together.
        let same = |c: &Combination| match &entry.value.sweep {
            Some(_) => c.entry.value.sweep == entry.value.sweep && c.entry.place == entry.place,
            None => c.entry == *entry,
        };
        if let Some(rule) = hopeless(&same) {
            let written = entry.value.sweep.as_ref().unwrap_or(&entry.value.text);
            return Err(forbidden(&entry.place, written, &rule));
        }
        if let Some(rule) = hopeless(&|c: &Combination| c.device == *device) {
            return Err(forbidden(&device.place, &device_text(&device.value), &rule));
        }
    }
    Ok(())
}

/// The rule's own text says what to do; where it does not, leaving the level out always helps.
fn forbidden(place: &Span, written: &str, rule: &str) -> PlanError {
    let what = format!("{written:?} is not possible");
    PlanError::new(place, what, rule)
}
