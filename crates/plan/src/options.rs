//! The command line: options in place of a file, or over one.
//!
//! Options go through the same readers as the file, with the option as the place of an error. Each
//! replaces the list of the file as a whole. Looking at the machine is not done here: the caller
//! makes paths absolute.

use crate::error::{At, PlanError, Span};
use crate::experiment::{Experiment, RunSettings};
use crate::fs_entry::FsEntry;
use crate::overrides::{Overrides, is_fio};
use crate::question::QuestionPattern;
use crate::text::{is_directory, names_a_device, pieces, push_level};
use crate::verdict::DEFAULT_CAP;
use crate::workload::workload_of_file;
use crate::{axes, crash, fs_entry, parse, settings, sweep, text, write};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::crash::CrashPlan;
use fsarena_model::factor;
use fsarena_model::phase::Workload;
use fsarena_model::verdict::Rule;
use std::path::PathBuf;

/// The experiment with every option put in but `--scale`; its `text` stays as it was read.
///
/// A plain name in `--fs` keeps the axes that the file has for this file system; one with options
/// is taken as it is. `--on` with directories and without `--fs` means the file system `directory`.
///
/// # Errors
/// The first option that cannot be read; the error names it.
pub fn apply(experiment: &Experiment, overrides: &Overrides) -> Result<Experiment, PlanError> {
    let mut changed = experiment.clone();
    apply_factors(&mut changed, overrides)?;
    if overrides.fs.is_some() || changed.factors.fs.is_empty() {
        changed.stand_ins.clear();
    }
    keep_baseline(&mut changed, &experiment.factors.fs, overrides);
    settings::apply(&mut changed.run, overrides)?;
    crash::apply(&mut changed.crash, overrides)?;
    if let Some(names) = &overrides.workloads {
        changed.workloads = pick_workloads(experiment, names, &overrides.fio_files)?;
        let there = |name: &str| changed.workloads.iter().any(|w| w.value.name == name);
        changed.rows.retain(|row| there(&row.workload));
        crash::keep_workloads(&mut changed.crash, there);
        let is_called = |name: &str| changed.workloads.iter().any(|w| w.value.is_called(name));
        let is_there =
            |one: &At<QuestionPattern>| one.value.workload.as_deref().is_none_or(is_called);
        let verdicts = &mut changed.run.verdicts;
        if overrides.ask.is_none() {
            verdicts.ask.retain(is_there);
        }
        if overrides.headline.is_none() {
            verdicts.headline.take_if(|one| !is_there(one));
        }
    }
    Ok(changed)
}

/// Keeps the baseline of a file, unless it is none of the file systems that are left, or options
/// make several contenders of it.
fn keep_baseline(changed: &mut Experiment, written: &[At<FsEntry>], overrides: &Overrides) {
    let Some(baseline) = &changed.run.verdicts.baseline else { return };
    let name = &baseline.value;
    let level = fs_entry::fs_entry(name, &Span::Default).ok().map(|entry| entry.level);
    let is_meant =
        |fs: &&At<FsEntry>| fs.value.text == *name || level.as_ref() == Some(&fs.value.level);
    let named = changed.factors.fs.iter().filter(is_meant).count();
    let are_several = |levels: &String| levels.contains(',') || levels.contains("..");
    let several = overrides.levels.values().any(are_several);
    // A file without `fs` works in directories, and names one of them by its label.
    let is_emptied = changed.factors.fs.is_empty() && !written.is_empty();
    let is_changed = overrides.fs.is_some() || is_emptied;
    if (is_changed && named != 1) || several || devices(&overrides.on).len() > 1 {
        changed.run.verdicts.baseline = None;
    }
}

fn apply_factors(changed: &mut Experiment, overrides: &Overrides) -> Result<(), PlanError> {
    let factors = &mut changed.factors;
    if let Some(text) = &overrides.fs {
        let place = Span::Option("--fs");
        let mut all = Vec::new();
        for part in pieces(text, &place)? {
            all.extend(fs_entry::fs_entries(part, &place)?);
        }
        factors.fs = all.into_iter().map(|entry| At::new(entry, &place)).collect();
    }
    if !overrides.on.is_empty() {
        let place = Span::Option("--on");
        factors.device = axis(&devices(&overrides.on), &place, text::device)?;
        let directory = |d: &At<DeviceLevel>| is_directory(&d.value) && !names_a_device(&d.value);
        if overrides.fs.is_none() && factors.device.iter().all(directory) {
            factors.fs.clear();
        } else if factors.fs.is_empty() {
            let remedy = "name them: --fs ext4,xfs";
            return Err(PlanError::new(&place, "this device needs file systems", remedy));
        }
    }
    if let Some(kernel) = &overrides.kernel {
        name_kernel(&mut factors.device, kernel)?;
    }
    for factor in factor::all() {
        let Some(text) = overrides.levels.get(factor.key()) else { continue };
        let place = Span::Factor(factor.info().flag);
        let mut levels = Vec::new();
        for part in pieces(text, &place)? {
            sweep::push_levels(&mut levels, factor, part, &place)?;
        }
        factors.levels.insert(factor.key(), levels);
    }
    Ok(())
}

/// Has every device in a guest that names no kernel name this one.
fn name_kernel(devices: &mut [At<DeviceLevel>], named: &str) -> Result<(), PlanError> {
    let place = Span::Option("--kernel");
    text::guest_kernel(named, &place)?;
    let mut is_taken = false;
    for device in devices {
        if let DeviceLevel::Virtual { kernel, .. } = &mut device.value
            && kernel.is_empty()
        {
            named.clone_into(kernel);
            is_taken = true;
        }
    }
    if is_taken {
        return Ok(());
    }
    let what = "no device is in a guest kernel that is not named already";
    Err(PlanError::new(&place, what, "use it with --on virtual:8G:model=hdd-2007"))
}

/// The files that devices name as their guest kernels, in their order.
///
/// # Errors
/// The first option that cannot be read.
pub fn kernel_files(
    experiment: &Experiment,
    overrides: &Overrides,
) -> Result<Vec<PathBuf>, PlanError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for device in apply(experiment, overrides)?.factors.device {
        if let DeviceLevel::Virtual { kernel, .. } = device.value
            && kernel.contains('/')
            && !found.iter().any(|path| path.as_os_str() == kernel.as_str())
        {
            found.push(PathBuf::from(kernel));
        }
    }
    Ok(found)
}

fn axis<T: PartialEq>(
    parts: &[&str],
    place: &Span,
    read: impl Fn(&str, &Span) -> Result<T, PlanError>,
) -> Result<Vec<At<T>>, PlanError> {
    let mut levels = Vec::new();
    for part in parts {
        push_level(&mut levels, read(part, place)?, place)?;
    }
    Ok(levels)
}

/// Devices: `loop:1G,ram:1G` are two; from the first `/` on, all is one path.
fn devices(texts: &[String]) -> Vec<&str> {
    let mut parts = Vec::new();
    for text in texts {
        let mut rest = text.trim();
        while !rest.starts_with('/')
            && let Some((part, more)) = rest.split_once(',')
        {
            parts.push(part.trim());
            rest = more.trim();
        }
        parts.push(rest);
    }
    parts
}

fn pick_workloads(
    experiment: &Experiment,
    names: &str,
    fio_files: &[(String, String)],
) -> Result<Vec<At<Workload>>, PlanError> {
    let place = Span::Option("--workload");
    let own: Vec<&Workload> = experiment.workloads.iter().map(|workload| &workload.value).collect();
    let mut picked = Vec::new();
    for text in workload_texts(names, &own, &place)? {
        let name = text.as_str();
        let is_named = |one: &&&Workload| one.name == name;
        let meant: Vec<Workload> = match own.iter().find(is_named) {
            Some(workload) => vec![(**workload).clone()],
            None => {
                own.iter().filter(|one| one.is_called(name)).map(|one| (*one).clone()).collect()
            }
        };
        let all = match meant.is_empty() {
            false => meant,
            true if is_fio(name) => vec![fio(name, fio_files, &place)?],
            true if name.contains(':') => axes::of_option(name, &own, &place)?,
            true => vec![axes::own_or_builtin(&own, name, &place)?],
        };
        let all = all.into_iter().map(|workload| At::new(workload, &place)).collect();
        parse::add_workloads(&mut picked, all)?;
    }
    Ok(picked)
}

/// The elements of `--workload`. After a `=` what begins with a digit is a further level:
/// `random-io:bs=4K,64K,small-files` are two elements.
fn workload_texts(names: &str, own: &[&Workload], place: &Span) -> Result<Vec<String>, PlanError> {
    let mut texts: Vec<String> = Vec::new();
    for piece in pieces(names, place)? {
        let is_name = own.iter().any(|one| one.name == piece) || is_fio(piece);
        let is_level = piece.starts_with(|c: char| c.is_ascii_digit()) && !is_name;
        match texts.last_mut().filter(|last| is_level && last.contains('=')) {
            Some(last) => {
                last.push(',');
                last.push_str(piece);
            }
            None => texts.push(piece.to_owned()),
        }
    }
    Ok(texts)
}

/// The workload of a job file that the caller has read.
fn fio(path: &str, files: &[(String, String)], place: &Span) -> Result<Workload, PlanError> {
    let Some((_, text)) = files.iter().find(|(known, _)| known == path) else {
        let what = format!("the job file {path:?} was not read");
        return Err(PlanError::new(place, what, "name a file that is there"));
    };
    workload_of_file(path, text)
}

/// The experiment that the options alone describe; `text` is its equivalent as a file.
///
/// What is not said is as in `quick`, but for its cap, its budget and its scale, which are made for
/// `quick`: there are up to 32 blocks of whole workloads, and as much time as they need.
///
/// # Errors
/// The first option that cannot be read.
///
/// # Panics
/// Never: `quick` is part of the program.
pub fn from_options(overrides: &Overrides) -> Result<Experiment, PlanError> {
    let quick = parse::builtin("quick").expect("`quick` is part of the program");
    let mut experiment = apply(&quick, overrides)?;
    let run = &mut experiment.run;
    run.scale = RunSettings::default().scale;
    if overrides.fs.is_some() && overrides.baseline.is_none() {
        run.verdicts.baseline = None;
    }
    if overrides.runs.is_none() && overrides.cap.is_none() {
        run.rule = Some(Rule::Looks { cap: DEFAULT_CAP });
    }
    if overrides.budget.is_none() {
        run.verdicts.budget_ns = None;
    }
    experiment.name = "command-line".to_owned();
    experiment.title = title(&experiment);
    experiment.question = None;
    experiment.notes.clear();
    experiment.text = write::to_toml(&experiment);
    Ok(experiment)
}

/// The experiment of crash runs alone that options describe, of which `named` has workloads whose
/// phases are done; `text` is its equivalent as a file.
///
/// # Errors
/// The first option that cannot be read.
///
/// # Panics
/// Never: what it begins with can be read.
pub fn crash_experiment(
    named: Option<&Experiment>,
    crash: CrashPlan,
    overrides: &Overrides,
) -> Result<Experiment, PlanError> {
    const WITHOUT_TRIALS: &str = "schema = 1\nname = \"crash\"\n[factors]\nfs = \"ext4\"\n\
         device = \"virtual:8G:model=hdd-2007\"\n[crash]\n";
    let mut experiment = parse::parse(WITHOUT_TRIALS, "crash").expect("it can be read");
    if let Some(named) = named {
        experiment.workloads.clone_from(&named.workloads);
        experiment.run.scale = named.run.scale;
    }
    experiment.title = format!("Crash runs of {}", crash.workloads.join(", "));
    experiment.crash = Some(crash);
    let mut experiment = apply(&experiment, overrides)?;
    if overrides.workloads.is_none() {
        experiment.workloads.clear();
    }
    experiment.text = write::to_toml(&experiment);
    Ok(experiment)
}

fn title(experiment: &Experiment) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    let factors = &experiment.factors;
    let mut work: Vec<String> =
        experiment.workloads.iter().map(|w| w.value.base_name().to_owned()).collect();
    work.dedup();
    let work = join(work);
    let devices = join(factors.device.iter().map(|d| d.value.written()).collect());
    let fs = join(factors.fs.iter().map(|fs| fs.value.text.clone()).collect());
    let colon = if fs.is_empty() { "" } else { ": " };
    format!("{fs}{colon}{work} on {devices}")
}
