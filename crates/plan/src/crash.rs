//! `[crash]`: crash runs beside the trials.

use crate::JsonSchema;
use crate::error::{At, PlanError, Span};
use crate::overrides::Overrides;
use crate::values::{List, Read, Within, Word, WorkloadName, texts};
use crate::words::Words;
use fsarena_crash::application::{Application, application, application_names};
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::sequence::bounds::Bounds;
use fsarena_crash::sequence::litmus::Litmus;
use fsarena_crash::state::Class;
use fsarena_crash::workload::Kind;
use fsarena_model::contender::{DeviceLevel, RAW};
use fsarena_model::crash::{Campaign, CrashFaults, CrashNotRun, CrashPlan, CrashSlot};
use fsarena_model::factor;
use fsarena_model::phase::Workload;
use fsarena_model::run::RunPlan;
use serde::Deserialize;
use std::collections::BTreeMap;

const RUNS: u32 = 10;
const POINTS: u32 = 20;
const SECONDS: u64 = 120;
const MEDIUM_ERROR_SECONDS: u64 = 60;
/// States of a run, of a litmus program.
const STATES_OF_RUN: u32 = 2000;
const STATES_OF_LITMUS: u32 = 60;
const LITMUS_PROGRAMS: u32 = 8;
/// Of two operations there are too many: so many are drawn.
const SEQUENCES: u32 = 1000;
const MEDIUM_ERROR_CASES: u32 = 12;
/// Programs of one crash run: as many as are lost where it is stopped.
const SEQUENCES_OF_RUN: u32 = 96;
const LITMUS_OF_RUN: u32 = 8;
/// The one name of all sequences.
const ALL_SEQUENCES: &str = "sequences";

/// Real time of a guest that works, for each second of its virtual time, and of a look at one crash
/// state; seen on two processors with the file systems that take longest.
const WORK_S: f64 = 0.02;
const STATE_S: f64 = 0.15;
/// Of a sequence or litmus program with its states.
const PROGRAM_S: f64 = 1.0;
/// Natively the work takes its own time, and mkfs and what is prepared the time of the disk.
const NATIVE_PREPARATION_S: f64 = 10.0;
const NATIVE_STATE_S: f64 = 0.06;

/// `[crash]`: the power of contenders in guests is cut, and what is left is looked at.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    /// What a crash run does.
    kind: Option<At<Word<KindWord>>>,
    /// Whether the RUN has no trials; always so where the experiment has no workload.
    alone: Option<bool>,
    /// What is done until the power goes: unsynced, synced, file-synced, mail-spool, journal,
    /// truncated, or the name of a workload of this experiment, of which the phases are done; names
    /// of applications or of litmus programs, where those are run.
    #[schemars(example = &"unsynced")]
    workloads: Option<List<At<Read<WorkloadName>>>>,
    /// Which writes that no flush covers are there: prefix, dropall, drop-one, keep-one, subset,
    /// torn, or lying=SECONDS for a disk whose flushes do not count that are younger.
    #[schemars(example = &"dropall")]
    states: Option<List<At<Read<State>>>>,
    /// Runs of each workload on each contender, each with another seed.
    #[schemars(example = 10)]
    runs: Option<At<Within<1, 1000>>>,
    /// Power cuts of each run, divided among the states.
    #[schemars(example = 20)]
    points: Option<At<Within<1, 10_000>>>,
    /// Length of the work in virtual time.
    #[schemars(example = 120)]
    seconds: Option<At<Within<5, 3600>>>,
    /// Of the first run; the next ones count up. Without it the seed of the RUN decides.
    seed: Option<At<Within<0, { i64::MAX as u64 }>>>,
    /// States that break a promise and are kept, of each contender, workload and kind of state.
    keep: Option<At<Within<0, 1_000_000>>>,
    /// The power goes once more while every Nth state is recovered.
    recovery_every: Option<At<Within<0, 1_000_000>>>,
    /// This flush of the work is reported and does nothing.
    lose_flush: Option<At<Within<1, 1_000_000_000>>>,
    /// States that are inspected, of a run or of a litmus program.
    states_most: Option<At<Within<1, 1_000_000>>>,
    /// Operations of each sequence.
    length: Option<At<Within<1, 2>>>,
    /// Sequences that are drawn by the seed.
    sample: Option<At<Within<1, 1_000_000>>>,
    /// The power goes at every write, flush and discard of a sequence.
    every_entry: Option<At<bool>>,
    /// Sequences of the published bounds alone.
    published: Option<At<bool>>,
    /// Litmus programs of each name.
    programs: Option<At<Within<1, 10_000>>>,
    /// Requests that fail in each run.
    cases: Option<At<Within<1, 10_000>>>,
    /// Descriptions of applications that are not built in, by name.
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    described: Option<BTreeMap<String, At<String>>>,
}

/// What a crash run does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KindWord {
    PowerCuts,
    EveryEntry,
    Applications,
    Sequences,
    Litmus,
    MediumErrors,
}

impl Words for KindWord {
    const KIND: &'static str = "kind of crash run";

    fn words() -> Vec<(&'static str, Self)> {
        vec![
            ("power-cuts", Self::PowerCuts),
            ("every-entry", Self::EveryEntry),
            ("applications", Self::Applications),
            ("sequences", Self::Sequences),
            ("litmus", Self::Litmus),
            ("medium-errors", Self::MediumErrors),
        ]
    }
}

texts! {
    /// A class of crash states.
    State: Class = class;
}

fn class(text: &str, place: &Span) -> Result<Class, PlanError> {
    Class::from_name(text).ok_or_else(|| {
        const KNOWN: [&str; 7] =
            ["prefix", "dropall", "drop-one", "keep-one", "subset", "torn", "lying=2"];
        PlanError::unknown(place, "crash state", text, &KNOWN)
    })
}

/// The default crash runs of a campaign: the workloads of its kind, and as many runs, power cuts
/// and seconds as are usual.
#[must_use]
pub fn crash_plan(campaign: Campaign) -> CrashPlan {
    let work: &[&str] = match campaign {
        Campaign::PowerCuts { .. } | Campaign::EveryEntry { .. } => &["unsynced", "synced"],
        Campaign::Applications { .. } => &[],
        Campaign::Sequences { .. } => &[ALL_SEQUENCES],
        Campaign::Litmus { .. } => &Litmus::ALL.map(Litmus::name),
        Campaign::MediumErrors { .. } => &["synced", "journal"],
    };
    let has_states = matches!(campaign, Campaign::PowerCuts { .. } | Campaign::Applications { .. });
    let runs = match campaign {
        Campaign::Sequences { sample, .. } => sample.div_ceil(SEQUENCES_OF_RUN),
        Campaign::Litmus { programs, .. } => programs.div_ceil(LITMUS_OF_RUN),
        _ => RUNS,
    };
    let seconds = match campaign {
        Campaign::Sequences { .. } | Campaign::Litmus { .. } => 0,
        Campaign::MediumErrors { .. } => MEDIUM_ERROR_SECONDS,
        _ => SECONDS,
    };
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    CrashPlan {
        campaign,
        is_alone: false,
        workloads: names(work),
        states: if has_states { names(&["dropall"]) } else { Vec::new() },
        runs,
        points: if has_states { POINTS } else { 0 },
        seconds,
        first_seed: None,
        keep: 0,
        workload_notes: Vec::new(),
        not_run: Vec::new(),
    }
}

/// The campaign of so many sequences of this length; `sample`: at most so many are drawn.
#[must_use]
pub fn sequences(
    length: u32,
    sample: Option<u32>,
    is_every_entry: bool,
    is_published: bool,
) -> Campaign {
    let bounds = if is_published { Bounds::published() } else { Bounds::all() };
    let all = bounds.skeletons(length as usize).len();
    let most = sample.unwrap_or(if length == 1 { u32::MAX } else { SEQUENCES });
    let all = u32::try_from(all).unwrap_or(u32::MAX);
    let sample = all.min(most);
    Campaign::Sequences { length, sample, all, is_every_entry, is_published }
}

/// What the keys of `[crash]` ask for.
///
/// # Errors
/// A workload that there is not, a word that is there twice, a key of another kind, or fewer power
/// cuts than states, with its place.
pub(crate) fn crash(keys: Keys, own: &[At<Workload>]) -> Result<CrashPlan, PlanError> {
    keys.check()?;
    let kind_place = keys.kind.as_ref().map_or(Span::Default, |kind| kind.place.clone());
    let mut plan = crash_plan(keys.campaign());
    plan.is_alone = own.is_empty() || keys.alone == Some(true);
    for one in keys.workloads.iter().flat_map(|list| &list.0) {
        check_workload(&plan.campaign, &one.value.0, &one.place, own)?;
    }
    let workloads = keys.workloads.map(|list| list.0).unwrap_or_default();
    let workloads = names(workloads, "crash workload", |name| name.0.clone())?;
    if !workloads.is_empty() {
        plan.workloads = workloads;
    }
    if plan.workloads.is_empty() {
        let known = application_names().join(", ");
        let what = "[crash] names no application";
        return Err(PlanError::new(&kind_place, what, format!("add workloads, of {known}")));
    }
    let states = keys.states.map(|list| list.0).unwrap_or_default();
    let states = names(states, "crash state", |state| state.0.name())?;
    if !states.is_empty() {
        plan.states = states;
    }
    let small = |number: u64| u32::try_from(number).expect("the limits are within u32");
    let points_place = keys.points.as_ref().map(|it| it.place.clone());
    if let Some(points) = keys.points {
        plan.points = small(points.value.0);
    }
    if (plan.points as usize) < plan.states.len() {
        let cuts = if plan.points == 1 { "power cut" } else { "power cuts" };
        let what = format!("{} {cuts} for {} crash states", plan.points, plan.states.len());
        let remedy = "give each state one; 20 or more make useful figures";
        return Err(PlanError::new(&points_place.unwrap_or(Span::Default), what, remedy));
    }
    plan.runs = keys.runs.map_or(plan.runs, |runs| small(runs.value.0));
    plan.seconds = keys.seconds.map_or(plan.seconds, |seconds| seconds.value.0);
    plan.first_seed = keys.seed.map(|seed| seed.value.0);
    plan.keep = keys.keep.map_or(0, |keep| small(keep.value.0));
    Ok(plan)
}

impl Keys {
    fn kind(&self) -> KindWord {
        self.kind.as_ref().map_or(KindWord::PowerCuts, |kind| kind.value.0)
    }

    fn campaign(&self) -> Campaign {
        let small = |number: u64| u32::try_from(number).expect("the limits are within u32");
        let faults = CrashFaults {
            recovery_every: self.recovery_every.as_ref().map_or(0, |it| small(it.value.0)),
            lose_flush: self.lose_flush.as_ref().map(|it| small(it.value.0)),
        };
        let states_most = self.states_most.as_ref().map(|it| small(it.value.0));
        match self.kind() {
            KindWord::PowerCuts => Campaign::PowerCuts { faults },
            KindWord::EveryEntry => {
                Campaign::EveryEntry { states_most: states_most.unwrap_or(STATES_OF_RUN), faults }
            }
            KindWord::Applications => {
                let described = self.described.iter().flatten();
                let described = described.map(|(name, text)| (name.clone(), text.value.clone()));
                Campaign::Applications { described: described.collect() }
            }
            KindWord::Sequences => sequences(
                self.length.as_ref().map_or(1, |it| small(it.value.0)),
                self.sample.as_ref().map(|it| small(it.value.0)),
                self.every_entry.as_ref().is_some_and(|it| it.value),
                self.published.as_ref().is_some_and(|it| it.value),
            ),
            KindWord::Litmus => Campaign::Litmus {
                programs: self.programs.as_ref().map_or(LITMUS_PROGRAMS, |it| small(it.value.0)),
                states_most: states_most.unwrap_or(STATES_OF_LITMUS),
            },
            KindWord::MediumErrors => Campaign::MediumErrors {
                cases: self.cases.as_ref().map_or(MEDIUM_ERROR_CASES, |it| small(it.value.0)),
            },
        }
    }

    /// Refuses keys that the kind has not, and descriptions that are none.
    fn check(&self) -> Result<(), PlanError> {
        use KindWord::{
            Applications, EveryEntry, Litmus, MediumErrors, PowerCuts, Sequences as Seq,
        };
        fn place<T>(key: &Option<At<T>>) -> Option<&Span> {
            key.as_ref().map(|key| &key.place)
        }
        let first_of_states = self.states.as_ref().and_then(|list| list.0.first());
        let described = self.described.iter().flatten().next();
        let keys: [(&str, Option<&Span>, &[KindWord]); 14] = [
            ("states", first_of_states.map(|it| &it.place), &[PowerCuts, Applications]),
            ("points", place(&self.points), &[PowerCuts, Applications]),
            ("runs", place(&self.runs), &[PowerCuts, EveryEntry, Applications, MediumErrors]),
            ("seconds", place(&self.seconds), &[PowerCuts, EveryEntry, Applications, MediumErrors]),
            ("keep", place(&self.keep), &[PowerCuts, EveryEntry]),
            ("recovery_every", place(&self.recovery_every), &[PowerCuts, EveryEntry]),
            ("lose_flush", place(&self.lose_flush), &[PowerCuts, EveryEntry]),
            ("states_most", place(&self.states_most), &[EveryEntry, Litmus]),
            ("length", place(&self.length), &[Seq]),
            ("sample", place(&self.sample), &[Seq]),
            ("every_entry", place(&self.every_entry), &[Seq]),
            ("published", place(&self.published), &[Seq]),
            ("programs", place(&self.programs), &[Litmus]),
            ("cases", place(&self.cases), &[MediumErrors]),
        ];
        let kind = self.kind();
        let name_of = |kind: &KindWord| {
            KindWord::words().into_iter().find(|(_, one)| one == kind).map_or("", |(name, _)| name)
        };
        for (key, place, kinds) in keys {
            if let Some(place) = place.filter(|_| !kinds.contains(&kind)) {
                let what = format!("`crash.{key}` has no meaning with kind = {:?}", name_of(&kind));
                let kinds: Vec<&str> = kinds.iter().map(name_of).collect();
                let remedy = format!("leave it out, or write kind = {:?}", kinds[0]);
                return Err(PlanError::new(place, what, remedy));
            }
        }
        if let Some((name, text)) = described.filter(|_| kind != Applications) {
            let what = format!("{name:?} is described, and no application is run");
            return Err(PlanError::new(&text.place, what, "write kind = \"applications\""));
        }
        self.described.iter().flatten().try_for_each(|(name, text)| check_described(name, text))
    }
}

/// A description is of an application of this name, and of none that is built in.
fn check_described(name: &str, text: &At<String>) -> Result<(), PlanError> {
    let read = Application::parse(&text.value, name);
    let read = read.map_err(|error| {
        PlanError::new(&text.place, error.to_string(), "correct the description")
    })?;
    if read.name != name || application(name).is_some() {
        let what = format!("the description of {name:?} is of {:?}", read.name);
        let remedy = "give it its own name, which no built-in application has";
        return Err(PlanError::new(&text.place, what, remedy));
    }
    Ok(())
}

/// What is named can be done in such a campaign.
fn check_workload(
    campaign: &Campaign,
    name: &str,
    place: &Span,
    own: &[At<Workload>],
) -> Result<(), PlanError> {
    let refuse = |what: &str, known: &[&str]| Err(PlanError::unknown(place, what, name, known));
    match campaign {
        Campaign::PowerCuts { .. } | Campaign::EveryEntry { .. } => check_name(name, place, own),
        Campaign::Applications { described } => {
            match application(name).is_some() || described.contains_key(name) {
                true => Ok(()),
                false => refuse("application", &application_names()),
            }
        }
        Campaign::Sequences { .. } if name == ALL_SEQUENCES => Ok(()),
        Campaign::Sequences { .. } => refuse("name of sequences", &[ALL_SEQUENCES]),
        Campaign::Litmus { .. } => match Litmus::from_name(name) {
            Some(_) => Ok(()),
            None => refuse("litmus program", &Litmus::ALL.map(Litmus::name)),
        },
        Campaign::MediumErrors { .. } => match Kind::from_name(name) {
            Some(_) => Ok(()),
            None => refuse("crash workload", &Kind::all().map(Kind::name).collect::<Vec<_>>()),
        },
    }
}

/// The keys of a section that asks for the same, with their values as TOML.
pub(crate) fn written(plan: &CrashPlan) -> Vec<(&'static str, toml::Value)> {
    let number = |number: u64| toml::Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let list = |names: &[String]| {
        toml::Value::Array(names.iter().map(|name| toml::Value::String(name.clone())).collect())
    };
    let default = crash_plan(plan.campaign.clone());
    let mut keys = Vec::new();
    let kind = |word: &str| ("kind", toml::Value::String(word.to_owned()));
    let add_faults = |faults: &CrashFaults, keys: &mut Vec<(&'static str, toml::Value)>| {
        if faults.recovery_every > 0 {
            keys.push(("recovery_every", number(faults.recovery_every.into())));
        }
        keys.extend(faults.lose_flush.map(|flush| ("lose_flush", number(flush.into()))));
    };
    match &plan.campaign {
        Campaign::PowerCuts { faults } => add_faults(faults, &mut keys),
        Campaign::EveryEntry { states_most, faults } => {
            keys.extend([kind("every-entry"), ("states_most", number((*states_most).into()))]);
            add_faults(faults, &mut keys);
        }
        Campaign::Applications { described } => {
            keys.push(kind("applications"));
            if !described.is_empty() {
                let text = |(name, text): (&String, &String)| {
                    (name.clone(), toml::Value::String(text.clone()))
                };
                let table = described.iter().map(text).collect();
                keys.push(("described", toml::Value::Table(table)));
            }
        }
        Campaign::Sequences { length, sample, is_every_entry, is_published, .. } => {
            keys.extend([kind("sequences"), ("length", number((*length).into()))]);
            keys.push(("sample", number((*sample).into())));
            let flag = |name, is: bool| is.then_some((name, toml::Value::Boolean(true)));
            keys.extend(flag("every_entry", *is_every_entry));
            keys.extend(flag("published", *is_published));
        }
        Campaign::Litmus { programs, states_most } => {
            keys.extend([kind("litmus"), ("programs", number((*programs).into()))]);
            keys.push(("states_most", number((*states_most).into())));
        }
        Campaign::MediumErrors { cases } => {
            keys.extend([kind("medium-errors"), ("cases", number((*cases).into()))]);
        }
    }
    if plan.is_alone {
        keys.push(("alone", toml::Value::Boolean(true)));
    }
    keys.push(("workloads", list(&plan.workloads)));
    if !default.states.is_empty() {
        keys.extend([("states", list(&plan.states)), ("points", number(plan.points.into()))]);
    }
    if default.seconds > 0 {
        keys.extend([("runs", number(plan.runs.into())), ("seconds", number(plan.seconds))]);
    }
    keys.extend(plan.first_seed.map(|seed| ("seed", number(seed))));
    if plan.keep > 0 {
        keys.push(("keep", number(plan.keep.into())));
    }
    keys
}

/// The name is that of a kind of crash workload, or of a workload of the experiment.
fn check_name(name: &str, place: &Span, own: &[At<Workload>]) -> Result<(), PlanError> {
    let own: Vec<&str> = own.iter().map(|workload| workload.value.name.as_str()).collect();
    match (Kind::from_name(name), own.contains(&name)) {
        (Some(_), true) => {
            let what = format!("{name:?} is a crash workload and a workload of the experiment");
            Err(PlanError::new(place, what, "give the experiment's another name"))
        }
        (Some(_), false) | (None, true) => Ok(()),
        (None, false) => {
            let mut known: Vec<&str> = Kind::all().map(Kind::name).collect();
            known.extend(own);
            Err(PlanError::unknown(place, "crash workload", name, &known))
        }
    }
}

/// The names of what was written, each once.
fn names<T>(
    written: Vec<At<T>>,
    what: &str,
    name: impl Fn(&T) -> String,
) -> Result<Vec<String>, PlanError> {
    let mut names: Vec<String> = Vec::new();
    for one in written {
        let name = name(&one.value);
        if names.contains(&name) {
            let what = format!("the {what} {name:?} is there twice");
            return Err(PlanError::new(&one.place, what, "name it once"));
        }
        names.push(name);
    }
    Ok(names)
}

/// Puts `--crash-runs` over the section.
///
/// # Errors
/// A number of them for an experiment without the section.
pub(crate) fn apply(asked: &mut Option<CrashPlan>, overrides: &Overrides) -> Result<(), PlanError> {
    match (overrides.crash_runs, asked) {
        (Some(0), Some(asked)) if asked.is_alone => {
            let what = "the experiment has crash runs alone";
            let remedy = "leave the option out, or give another number";
            return Err(PlanError::new(&Span::Option("--crash-runs"), what, remedy));
        }
        (Some(0), asked) => *asked = None,
        (Some(runs), Some(asked)) => asked.runs = runs,
        (Some(_), None) => {
            let what = "the experiment has no section [crash]";
            let remedy = "add one to its file, or leave the option out";
            return Err(PlanError::new(&Span::Option("--crash-runs"), what, remedy));
        }
        (None, _) => {}
    }
    Ok(())
}

/// Takes crash runs of workloads away that the experiment has no more.
pub(crate) fn keep_workloads(asked: &mut Option<CrashPlan>, there: impl Fn(&str) -> bool) {
    if let Some(crash) = asked {
        let is_of_work =
            matches!(crash.campaign, Campaign::PowerCuts { .. } | Campaign::EveryEntry { .. });
        crash
            .workloads
            .retain(|name| !is_of_work || Kind::from_name(name).is_some() || there(name));
    }
    asked.take_if(|crash| crash.workloads.is_empty());
}

/// What of the workloads is not done as in a trial.
///
/// # Errors
/// Phases that cannot be followed after a power cut.
fn workload_notes(
    asked: &CrashPlan,
    written: &[At<Workload>],
    plan: &RunPlan,
) -> Result<Vec<String>, PlanError> {
    let mut all = Vec::new();
    for name in &asked.workloads {
        let Some(workload) = CrashWorkload::named(name, &plan.workloads) else { continue };
        let notes = workload.check().map_err(|error| {
            let place = written.iter().find(|one| one.value.name == *name).map(|one| &one.place);
            let remedy = match asked.is_alone {
                true => "or leave it out",
                false => "or take it out of [crash], or give --crash-runs 0",
            };
            PlanError::new(place.unwrap_or(&Span::Default), error.to_string(), remedy)
        })?;
        all.extend(notes.into_iter().map(|note| format!("{name}: {note}")));
    }
    Ok(all)
}

/// Why the power of `raw` is not cut.
const NOTHING_PROMISED: &str = "without a file system nothing is promised";

/// The crash runs of a plan with these contenders: the power of those alone is cut that are on
/// modelled disks.
///
/// # Errors
/// Phases that cannot be followed after a power cut.
pub(crate) fn of_plan(
    asked: &CrashPlan,
    written: &[At<Workload>],
    plan: &RunPlan,
) -> Result<CrashPlan, PlanError> {
    let is_of_work =
        matches!(asked.campaign, Campaign::PowerCuts { .. } | Campaign::EveryEntry { .. });
    let workload_notes =
        if is_of_work { workload_notes(asked, written, plan)? } else { Vec::new() };
    if asked.is_alone {
        check_alone(asked, plan, is_of_work)?;
    }
    let is_fit = |device: &DeviceLevel| match is_of_work {
        true => device.is_modelled(),
        false => device.is_virtual(),
    };
    let outside = plan.contenders.iter().enumerate();
    let outside = outside.filter(|(_, one)| !is_fit(&one.levels.device));
    let reason = match is_of_work {
        true => {
            "power is cut on modelled disks alone: use a device such as \
             virtual:8G:model=hdd-2007, or vdisk:8G:model=hdd-2007 as root"
        }
        false => "it is done in guests alone: use a device such as virtual:8G:model=hdd-2007",
    };
    let outside = outside.map(|(contender, _)| (contender, reason));
    let aged =
        plan.contenders.iter().enumerate().filter(|(_, one)| {
            one.levels.device.is_modelled() && factor::age(&one.levels).is_some()
        });
    let aged = aged.map(|(contender, _)| (contender, "crash runs begin with a fresh file system"));
    let raw = plan
        .contenders
        .iter()
        .enumerate()
        .filter(|(_, one)| one.levels.device.is_modelled() && one.levels.is_raw());
    let raw = raw.map(|(contender, _)| (contender, NOTHING_PROMISED));
    let parts = plan.contenders.iter().enumerate();
    let parts = parts.filter(|(_, one)| factor::start_sector(&one.levels).is_some());
    let parts = parts.map(|(contender, _)| (contender, "crash runs have whole disks"));
    let not_run = outside
        .chain(aged)
        .chain(parts)
        .chain(raw)
        .map(|(contender, reason)| CrashNotRun { contender, reason: reason.to_owned() });
    Ok(CrashPlan { workload_notes, not_run: not_run.collect(), ..asked.clone() })
}

/// Refuses contenders that have nothing else, and cannot have that.
fn check_alone(asked: &CrashPlan, plan: &RunPlan, is_of_work: bool) -> Result<(), PlanError> {
    let guest = "write --on virtual:8G:model=hdd-2007";
    let devices = || plan.contenders.iter().map(|one| &one.levels.device);
    let place = Span::Option("--on");
    if is_of_work && !devices().all(DeviceLevel::is_modelled) {
        let remedy = format!("{guest}, or --on vdisk:8G:model=hdd-2007 as root");
        return Err(PlanError::new(&place, "power is cut on modelled disks alone", remedy));
    }
    if !is_of_work && !devices().all(DeviceLevel::is_virtual) {
        let who = match asked.campaign {
            Campaign::Applications { .. } => "applications work",
            Campaign::MediumErrors { .. } => "errors of the medium are made",
            _ => "sequences are carried out",
        };
        return Err(PlanError::new(&place, format!("{who} in guests alone"), guest));
    }
    if plan.contenders.iter().any(|contender| contender.levels.is_raw()) {
        let what = format!("{RAW}: {NOTHING_PROMISED}");
        let remedy = "name file systems, such as ext4";
        return Err(PlanError::new(&Span::Option("--fs"), what, remedy));
    }
    Ok(())
}

/// Expected real time of the crash runs of a plan, s, with so many guests at one time.
#[must_use]
pub fn crash_runs_s(plan: &RunPlan, guests_at_once: u64) -> Option<f64> {
    let crash = plan.crash.as_ref()?;
    let (seconds, points) = (crash.seconds as f64, f64::from(crash.points));
    let at_once = guests_at_once.max(1) as f64;
    let in_guests_s = match &crash.campaign {
        Campaign::PowerCuts { .. } | Campaign::Applications { .. } => {
            WORK_S * seconds + STATE_S * points / at_once
        }
        Campaign::EveryEntry { states_most, .. } => {
            WORK_S * seconds + STATE_S * f64::from(*states_most) / at_once
        }
        Campaign::Sequences { sample, .. } => {
            PROGRAM_S * f64::from(*sample) / f64::from(crash.runs.max(1)) / at_once
        }
        Campaign::Litmus { programs, .. } => {
            PROGRAM_S * f64::from(*programs) / f64::from(crash.runs.max(1)) / at_once
        }
        Campaign::MediumErrors { cases } => {
            (WORK_S * seconds + STATE_S) * f64::from(*cases) / at_once
        }
    };
    let natively_s = NATIVE_PREPARATION_S + seconds + NATIVE_STATE_S * points;
    let run_s = |slot: CrashSlot| match plan.contenders[slot.contender].levels.device.is_virtual() {
        true => in_guests_s,
        false => natively_s,
    };
    Some(plan.crash_slots().into_iter().map(run_s).sum())
}
