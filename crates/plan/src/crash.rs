//! `[crash]`: crash runs beside the trials.

use crate::JsonSchema;
use crate::error::{At, PlanError, Span};
use crate::overrides::Overrides;
use crate::values::{List, Read, Within, WorkloadName, texts};
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::state::Class;
use fsarena_crash::workload::Kind;
use fsarena_model::crash::{CrashNotRun, CrashPlan, CrashSlot};
use fsarena_model::factor;
use fsarena_model::phase::Workload;
use fsarena_model::run::RunPlan;
use serde::Deserialize;

const RUNS: u32 = 10;
const POINTS: u32 = 20;
const SECONDS: u64 = 120;

/// Real time of a guest that works, for each second of its virtual time, and of a look at one crash
/// state; seen on two processors with the file systems that take longest.
const WORK_S: f64 = 0.02;
const STATE_S: f64 = 0.15;
/// Natively the work takes its own time, and mkfs and what is prepared the time of the disk.
const NATIVE_PREPARATION_S: f64 = 10.0;
const NATIVE_STATE_S: f64 = 0.06;

/// `[crash]`: the power of contenders in guests is cut, and what is left is looked at.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Keys {
    /// What is done until the power goes: unsynced, synced, file-synced, mail-spool, journal,
    /// truncated, or the name of a workload of this experiment, of which the phases are done.
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

/// What the keys of `[crash]` ask for.
///
/// # Errors
/// A workload that there is not, a word that is there twice, or fewer power cuts than states, with
/// its place.
pub(crate) fn crash(keys: Keys, own: &[At<Workload>]) -> Result<CrashPlan, PlanError> {
    let workloads = keys.workloads.map(|list| list.0).unwrap_or_default();
    for one in &workloads {
        check_name(&one.value.0, &one.place, own)?;
    }
    let workloads = names(workloads, "crash workload", |name| name.0.clone())?;
    let states = keys.states.map(|list| list.0).unwrap_or_default();
    let states = names(states, "crash state", |state| state.0.name())?;
    let or = |names: Vec<String>, default: &[&str]| match names.is_empty() {
        true => default.iter().map(|&name| name.to_owned()).collect(),
        false => names,
    };
    let (states, place) = (or(states, &["dropall"]), keys.points.as_ref().map(|it| &it.place));
    let points = keys.points.as_ref().map_or(u64::from(POINTS), |it| it.value.0);
    if points < states.len() as u64 {
        let cuts = if points == 1 { "power cut" } else { "power cuts" };
        let what = format!("{points} {cuts} for {} crash states", states.len());
        let remedy = "give each state one; 20 or more make useful figures";
        return Err(PlanError::new(place.unwrap_or(&Span::Default), what, remedy));
    }
    let small = |number: u64| u32::try_from(number).expect("the limits are within u32");
    Ok(CrashPlan {
        workloads: or(workloads, &["unsynced", "synced"]),
        states,
        runs: keys.runs.map_or(RUNS, |runs| small(runs.value.0)),
        points: small(points),
        seconds: keys.seconds.map_or(SECONDS, |seconds| seconds.value.0),
        workload_notes: Vec::new(),
        not_run: Vec::new(),
    })
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
            let kinds = Kind::ALL.map(Kind::name);
            let known: Vec<&str> = kinds.into_iter().chain(own).collect();
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
        crash.workloads.retain(|name| Kind::from_name(name).is_some() || there(name));
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
        let Some(workload) = crash_workload(name, &plan.workloads) else { continue };
        let notes = workload.check().map_err(|error| {
            let place = written.iter().find(|one| one.value.name == *name).map(|one| &one.place);
            let remedy = "or take it out of [crash], or give --crash-runs 0";
            PlanError::new(place.unwrap_or(&Span::Default), error.to_string(), remedy)
        })?;
        all.extend(notes.into_iter().map(|note| format!("{name}: {note}")));
    }
    Ok(all)
}

/// The work of this name: of the lab's own, or the phases of one of these workloads.
#[must_use]
pub fn crash_workload(name: &str, workloads: &[Workload]) -> Option<CrashWorkload> {
    let phases = || workloads.iter().find(|workload| workload.name == name);
    let kind = Kind::from_name(name).map(CrashWorkload::Kind);
    kind.or_else(|| phases().map(|workload| CrashWorkload::Phases(Box::new(workload.clone()))))
}

/// Why the power of `raw` is not cut.
pub const NOTHING_PROMISED: &str = "without a file system nothing is promised";

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
    let workload_notes = workload_notes(asked, written, plan)?;
    let outside = plan.contenders.iter().enumerate();
    let outside = outside.filter(|(_, one)| !one.levels.device.is_modelled());
    let reason = "power is cut on modelled disks alone: use a device such as \
                  virtual:8G:model=hdd-2007, or vdisk:8G:model=hdd-2007 as root";
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

/// Expected real time of the crash runs of a plan, s, with so many guests at one time.
#[must_use]
pub fn crash_runs_s(plan: &RunPlan, guests_at_once: u64) -> Option<f64> {
    let crash = plan.crash.as_ref()?;
    let (seconds, points) = (crash.seconds as f64, f64::from(crash.points));
    let in_guests_s = WORK_S * seconds + STATE_S * points / guests_at_once.max(1) as f64;
    let natively_s = NATIVE_PREPARATION_S + seconds + NATIVE_STATE_S * points;
    let run_s = |slot: CrashSlot| match plan.contenders[slot.contender].levels.device.is_virtual() {
        true => in_guests_s,
        false => natively_s,
    };
    Some(plan.crash_slots().into_iter().map(run_s).sum())
}
