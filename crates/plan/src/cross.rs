//! Axes times axes: every combination of levels, what is legal among them, and which written level
//! is rejected where none is.
//!
//! Levels that mean nothing on a file system or a device collapse into one: without a device of its
//! own there is nothing to discard, to condition or to schedule.

use crate::error::{At, PlanError, Span};
use crate::experiment::{Experiment, Factors, FsAxes};
use crate::files::Rules;
use crate::fs_entry::{FsEntry, MAX_CONTENDERS, too_many};
use crate::text::{is_directory, names_a_device};
use fsarena_filesystems::Backing;
use fsarena_model::contender::{ContenderId, DeviceLevel, FsLevel, Levels, RequestedLevel};
use fsarena_model::factor::{self, Factor, Illegal, Target};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// Most combinations that are looked at for one file system and device.
const MAX_COMBINATIONS: usize = 100_000;

/// Whether a combination runs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Legality {
    Legal,
    /// Nothing was written wrong: the reason is part of the result.
    LeftOut(&'static str),
    /// A rule forbids it.
    Forbidden(String),
}

/// A combination of levels, with the written levels that it is made of.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    pub(crate) levels: Levels,
    /// What was asked for and could not be had.
    pub(crate) asked: BTreeMap<String, RequestedLevel>,
    pub(crate) legality: Legality,
    /// Options of axes and levels that are no defaults: their places and texts.
    written: Vec<Written>,
    /// Whether the file system without all these would be legal here.
    plain_legal: bool,
    pub(crate) entry: At<FsEntry>,
    device: At<DeviceLevel>,
}

/// A level of an axis, as text.
#[derive(Clone, Debug)]
struct Written {
    place: Span,
    text: String,
    /// Whether it can be what a rule forbids here.
    is_suspect: bool,
}

/// A file system with the options that axes add.
struct Variant {
    level: FsLevel,
    options: Vec<Written>,
}

fn variants(
    entry: &FsEntry,
    axes: Option<&At<FsAxes>>,
    place: &Span,
) -> Result<Vec<Variant>, PlanError> {
    let mut variants = vec![Variant { level: entry.level.clone(), options: Vec::new() }];
    let Some(axes) = axes.filter(|_| !entry.has_options()) else { return Ok(variants) };
    let mkfs = axes.value.mkfs.values().map(Vec::len);
    let lengths = mkfs.chain([axes.value.mount.len().max(1)]);
    // Each of them would be a contender.
    if lengths.fold(1, usize::saturating_mul) > MAX_CONTENDERS {
        return Err(too_many(place));
    }
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
    Ok(variants)
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
            options.extend(text.map(|text| Written {
                place: level.place.clone(),
                text,
                is_suspect: true,
            }));
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
        let axes = factors.of_fs.get(&entry.value.level.name);
        for variant in variants(&entry.value, axes, &entry.place)? {
            for setting in settings(factors, &variant.level, &entry.place)? {
                let fs = entry.value.level.clone();
                let plain = Levels::plain(fs, setting.levels.device.clone());
                all.push(Combination {
                    legality: legality(&setting.levels, rules),
                    plain_legal: legality(&plain, rules) == Legality::Legal,
                    written: [&variant.options[..], &setting.written()[..]].concat(),
                    levels: setting.levels,
                    asked: setting.asked,
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

/// Levels of a file system on a device.
#[derive(Clone)]
struct Setting<'e> {
    device: &'e At<DeviceLevel>,
    levels: Levels,
    /// Where the level of each factor was written.
    places: Vec<(&'static dyn Factor, Span)>,
    /// What was asked for and could not be had.
    asked: BTreeMap<String, RequestedLevel>,
}

impl Setting<'_> {
    /// Takes back what means nothing with the other levels, and keeps that it was asked for.
    fn resolve(&mut self) {
        for (factor, place) in &self.places {
            let written = factor.get(&self.levels);
            let why = factor.without_meaning(&self.levels);
            factor.resolve(&mut self.levels);
            if let Some(why) = why.filter(|_| factor.get(&self.levels) != written) {
                let asked =
                    RequestedLevel { level: written, by: place.asked_by(), why: why.to_owned() };
                self.asked.insert(factor.key().to_owned(), asked);
            }
        }
    }

    /// Has been asked for what `other` was asked for, too: both are one. What a user asked for
    /// counts before a default.
    fn merge(&mut self, other: Self) {
        for (key, asked) in other.asked {
            let known = self.asked.entry(key).or_insert_with(|| asked.clone());
            if known.by < asked.by {
                *known = asked;
            }
        }
    }

    /// The levels that are no defaults.
    fn written(&self) -> Vec<Written> {
        let target = target(&self.levels);
        let written = |(factor, place): &(&'static dyn Factor, Span)| {
            let level = factor.get(&self.levels);
            (level != factor.default_level()).then(|| Written {
                place: place.clone(),
                text: format!("{}={level}", factor.key()),
                is_suspect: factor.illegal(&target).is_some(),
            })
        };
        self.places.iter().filter_map(written).collect()
    }
}

/// Everything but the file system's own axes as it resolves for a file system, each combination
/// once.
///
/// Of devices of one size, a file system in memory takes the first only; levels that have no
/// meaning with the others become defaults.
fn settings<'e>(
    factors: &'e Factors,
    fs: &FsLevel,
    place: &Span,
) -> Result<Vec<Setting<'e>>, PlanError> {
    let needs_device =
        fsarena_filesystems::driver(fs).is_ok_and(|driver| driver.backing() == Backing::Block);
    let known = factor::all();
    let lengths = known.iter().map(|factor| factors.axis(*factor).len());
    if lengths.fold(1, usize::saturating_mul) > MAX_COMBINATIONS {
        return Err(too_many(place));
    }
    let mut all: Vec<Setting<'_>> = Vec::new();
    let mut seen: HashMap<ContenderId, usize> = HashMap::new();
    for device in &factors.device {
        let same_device = |other: &DeviceLevel| {
            let same_size =
                other.size_bytes().is_some_and(|s| Some(s) == device.value.size_bytes());
            *other == device.value || (!needs_device && same_size)
        };
        let mut others = all.iter().map(|setting| &setting.levels.device);
        let first = others.find(|other| same_device(other)).unwrap_or(&device.value).clone();
        for mut setting in on_device(factors, fs, device) {
            setting.resolve();
            let as_first = Levels { device: first.clone(), ..setting.levels.clone() };
            match seen.entry(ContenderId::from_levels(&as_first, 1)) {
                Entry::Occupied(same) => all[*same.get()].merge(setting),
                Entry::Vacant(new) => {
                    new.insert(all.len());
                    all.push(setting);
                }
            }
            // Each of them is a contender, of every variant of the file system.
            if all.len() > MAX_CONTENDERS {
                return Err(too_many(place));
            }
        }
    }
    Ok(all)
}

/// The product of the axes on one device, in the order of the factors.
fn on_device<'e>(factors: &Factors, fs: &FsLevel, device: &'e At<DeviceLevel>) -> Vec<Setting<'e>> {
    let levels = Levels::plain(fs.clone(), device.value.clone());
    let mut all = vec![Setting { device, levels, places: Vec::new(), asked: BTreeMap::new() }];
    for factor in factor::all() {
        let axis = factors.axis(factor);
        let with = |setting: &Setting<'e>, level: &At<String>| {
            let mut setting = setting.clone();
            factor.set(&mut setting.levels, &level.value);
            setting.places.push((factor, level.place.clone()));
            setting
        };
        all = all.iter().flat_map(|s| axis.iter().map(move |level| with(s, level))).collect();
    }
    all
}

/// What factors are asked about these levels.
fn target(levels: &Levels) -> Target<'_> {
    let driver = fsarena_filesystems::driver(&levels.fs).ok();
    let reflinks = driver.and_then(|driver| driver.reflinks());
    Target { levels, reflinks, page_bytes: page_bytes(&levels.device) }
}

/// Pages of a device, where it is a model that has some.
fn page_bytes(device: &DeviceLevel) -> Option<u64> {
    match device {
        DeviceLevel::Vdisk { model, .. } | DeviceLevel::Virtual { model, .. } => {
            fsarena_vdisk::builtin(model).ok()?.page_bytes()
        }
        _ => None,
    }
}

fn legality(levels: &Levels, rules: &dyn Rules) -> Legality {
    let name = &levels.fs.name;
    let directory = is_directory(&levels.device);
    if directory && name != "directory" {
        let path = levels.device.written();
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
        let text = levels.device.written();
        return Legality::Forbidden(format!(
            "\"directory\" works in a directory, not on {text}: give it one, such as /var/tmp"
        ));
    }
    if let Some(part) = levels.device.parts().iter().find(|part| is_directory(part))
        && !directory
    {
        return Legality::Forbidden(format!(
            "{} is no block device here; `fsarena devices` lists those that are",
            part.written()
        ));
    }
    let target = target(levels);
    match factor::all().into_iter().find_map(|factor| factor.illegal(&target)) {
        Some(Illegal::LeftOut(reason)) => return Legality::LeftOut(reason),
        Some(Illegal::Forbidden(rule)) => return Legality::Forbidden(rule),
        None => {}
    }
    match rules.check(&levels.fs, &levels.device) {
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
        for suspect in combination.written.iter().filter(|written| written.is_suspect) {
            let has_it = |written: &Written| written.place == suspect.place;
            let holds = |c: &Combination| c.plain_legal && c.written.iter().any(has_it);
            if let Some(rule) = hopeless(&holds) {
                return Err(forbidden(&suspect.place, &suspect.text, &rule));
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
            return Err(forbidden(&device.place, &device.value.written(), &rule));
        }
    }
    Ok(())
}

/// The rule's own text says what to do; where it does not, leaving the level out always helps.
fn forbidden(place: &Span, written: &str, rule: &str) -> PlanError {
    let what = format!("{written:?} is not possible");
    PlanError::new(place, what, rule)
}
