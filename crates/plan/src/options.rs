//! The command line: options in place of a file, or over one.
//!
//! Options go through the same readers as the file, with the option as the place of an error. Each
//! replaces the list of the file as a whole. Looking at the machine is not done here: the caller
//! makes paths absolute.

use crate::builtin;
use crate::error::{Place, PlanError};
use crate::experiment::{At, Experiment};
use crate::parse::{add_workload, is_directory, push_level};
use crate::question::Asked;
use crate::text::names_a_device;
use crate::verdict::DEFAULT_CAP;
use crate::workload::of_fio_file;
use crate::{settings, text, workload, write};
use fsarena_model::contender::DeviceLevel;
use fsarena_model::verdict::Rule;
use fsarena_model::work::Workload;

/// Options of the command line, as text where a file has text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Overrides {
    /// `--fs`: `ext4,ext4:data=writeback,xfs`. A comma separates contenders, a colon options.
    pub fs: Option<String>,
    /// `--on`, each: `loop:2G`, `ram:512M`, `/a/directory` (made absolute by the caller).
    pub on: Vec<String>,
    /// `--workload`: `small-files,big-file`: names of the experiment's or of the built-in ones, or
    /// paths of fio job files, which end in `.fio`.
    pub workloads: Option<String>,
    /// The job files that `workloads` names ([`Overrides::fio_paths`]), each with its text.
    pub fio_files: Vec<(String, String)>,
    /// `--runs`: the fixed number of blocks; takes the place of a cap and of the file's budget.
    pub runs: Option<u32>,
    /// `--cap`: most blocks, looked at on the way.
    pub cap: Option<u32>,
    /// `--margin`: `5%`, `0.05`.
    pub margin: Option<String>,
    /// `--budget`: `30m`.
    pub budget: Option<String>,
    /// `--baseline`: the label of a contender, or a file system as written in `--fs`.
    pub baseline: Option<String>,
    /// `--ask`: `small-files:create,big-file:*:cpu`.
    pub ask: Option<String>,
    /// `--headline`: one of the questions.
    pub headline: Option<String>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// Seed to use where neither the experiment nor `--seed` has one.
    pub fallback_seed: u64,
    /// `--scale`: above 0, up to 100.
    pub scale: Option<f64>,
    /// `--memory`: `64M`, `none`, a comma list.
    pub memory: Option<String>,
    /// `--cache`: `cold`, `warm`, `cold-start`, a comma list.
    pub cache: Option<String>,
    /// `--discard`: `none`, `on` or both.
    pub discard: Option<String>,
    /// `--ssd`: `none`, `blkdiscard`, `precondition`, a comma list.
    pub ssd: Option<String>,
    /// `--scheduler`: `none,bfq`; `default` leaves it as it is.
    pub scheduler: Option<String>,
    /// `--read-ahead`: `128K,4M`; `default` leaves it as it is.
    pub read_ahead: Option<String>,
    /// `--write-cache`: `write-back`, `write-through`, `default`, a comma list.
    pub write_cache: Option<String>,
    /// `--reflink`: `never`, `auto`, `always`, a comma list.
    pub reflink: Option<String>,
    /// `--handicap`: `0ms,30ms`.
    pub handicap: Option<String>,
    /// `--compare`: `returned`, `durable`, `drained`.
    pub compare: Option<String>,
    /// `--sample-period`: `100 ms`, `0 ms` for none.
    pub sample_period: Option<String>,
    /// `--rate`: `auto`, `article-2003`.
    pub rate: Option<String>,
    /// `--account`; where it is absent, the experiment's own setting holds.
    pub account: bool,
    /// `--verify`; where it is absent, the experiment's own setting holds.
    pub verify: bool,
}

impl Overrides {
    /// Paths of the job files that `workloads` names: the caller reads them into `fio_files`.
    #[must_use]
    pub fn fio_paths(&self) -> Vec<&str> {
        let names = self.workloads.as_deref().unwrap_or_default();
        names.split(',').map(str::trim).filter(|name| is_fio(name)).collect()
    }
}

/// The experiment with every option put in but `--scale`; its `text` stays as it was read.
///
/// A plain name in `--fs` keeps the axes that the file has for this file system; one with options
/// stands alone. `--on` with directories and without `--fs` means the file system `directory`.
///
/// # Errors
/// The first option that cannot be read; the error names it.
pub fn apply(experiment: &Experiment, overrides: &Overrides) -> Result<Experiment, PlanError> {
    let mut changed = experiment.clone();
    apply_factors(&mut changed, overrides)?;
    settings::apply(&mut changed.run, overrides)?;
    if let Some(names) = &overrides.workloads {
        changed.workloads = pick_workloads(experiment, names, &overrides.fio_files)?;
        let there = |name: &str| changed.workloads.iter().any(|w| w.value.name == name);
        changed.rows.retain(|row| there(&row.workload));
        let is_there = |one: &At<Asked>| one.value.workload.as_deref().is_none_or(there);
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

fn apply_factors(changed: &mut Experiment, overrides: &Overrides) -> Result<(), PlanError> {
    let factors = &mut changed.factors;
    if let Some(text) = &overrides.fs {
        let place = Place::Option("--fs");
        let mut all = Vec::new();
        for part in pieces(text, &place)? {
            all.extend(text::fs_entries(part, &place)?);
        }
        factors.fs = all.into_iter().map(|entry| At::new(entry, &place)).collect();
    }
    if !overrides.on.is_empty() {
        let place = Place::Option("--on");
        factors.device = axis(&devices(&overrides.on), &place, text::device)?;
        let directory = |d: &At<DeviceLevel>| is_directory(&d.value) && !names_a_device(&d.value);
        if overrides.fs.is_none() && factors.device.iter().all(directory) {
            factors.fs.clear();
        } else if factors.fs.is_empty() {
            let remedy = "name them: --fs ext4,xfs";
            return Err(PlanError::new(&place, "this device needs file systems", remedy));
        }
    }
    put(&mut factors.memory, "--memory", overrides.memory.as_ref(), text::memory)?;
    put(&mut factors.cache, "--cache", overrides.cache.as_ref(), text::cache)?;
    put(&mut factors.discard, "--discard", overrides.discard.as_ref(), text::discard)?;
    put(&mut factors.ssd, "--ssd", overrides.ssd.as_ref(), text::ssd)?;
    put(&mut factors.scheduler, "--scheduler", overrides.scheduler.as_ref(), text::scheduler)?;
    put(&mut factors.read_ahead, "--read-ahead", overrides.read_ahead.as_ref(), text::read_ahead)?;
    let write_cache = overrides.write_cache.as_ref();
    put(&mut factors.write_cache, "--write-cache", write_cache, text::write_cache)?;
    put(&mut factors.reflink, "--reflink", overrides.reflink.as_ref(), text::reflink)?;
    put(&mut factors.handicap, "--handicap", overrides.handicap.as_ref(), text::handicap)
}

/// Replaces an axis by that of an option, where it is given.
fn put<T: PartialEq>(
    axis_of: &mut Vec<At<T>>,
    option: &'static str,
    written: Option<&String>,
    read: impl Fn(&str, &Place) -> Result<T, PlanError>,
) -> Result<(), PlanError> {
    if let Some(text) = written {
        let place = Place::Option(option);
        *axis_of = axis(&pieces(text, &place)?, &place, read)?;
    }
    Ok(())
}

fn axis<T: PartialEq>(
    parts: &[&str],
    place: &Place,
    read: impl Fn(&str, &Place) -> Result<T, PlanError>,
) -> Result<Vec<At<T>>, PlanError> {
    let mut levels = Vec::new();
    for part in parts {
        push_level(&mut levels, read(part, place)?, place)?;
    }
    Ok(levels)
}

/// The elements of a comma list, none of them empty.
pub(crate) fn pieces<'t>(text: &'t str, place: &Place) -> Result<Vec<&'t str>, PlanError> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().any(|part| part.is_empty()) {
        let what = format!("{text:?} has an empty element");
        return Err(PlanError::new(place, what, "write the elements with one comma between them"));
    }
    Ok(parts)
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
    let place = Place::Option("--workload");
    let mut picked = Vec::new();
    for name in pieces(names, &place)? {
        let own = experiment.workloads.iter().find(|workload| workload.value.name == name);
        let workload = match own {
            Some(workload) => workload.value.clone(),
            None if is_fio(name) => fio(name, fio_files, &place)?,
            None => workload::named(name, &place).map_err(|_| {
                let own = experiment.workloads.iter().map(|w| w.value.name.as_str());
                let mut known: Vec<&str> = own.chain(builtin::workload_names()).collect();
                known.sort_unstable();
                known.dedup();
                PlanError::unknown(&place, "workload", name, &known)
            })?,
        };
        add_workload(&mut picked, At::new(workload, &place))?;
    }
    Ok(picked)
}

fn is_fio(name: &str) -> bool {
    name.ends_with(".fio")
}

/// The workload of a job file that the caller has read.
fn fio(path: &str, files: &[(String, String)], place: &Place) -> Result<Workload, PlanError> {
    let Some((_, text)) = files.iter().find(|(known, _)| known == path) else {
        let what = format!("the job file {path:?} was not read");
        return Err(PlanError::new(place, what, "name a file that is there"));
    };
    of_fio_file(path, text)
}

/// The experiment that the options alone describe; `text` is its equivalent as a file.
///
/// What is not said is as in `quick`, but for its cap and its budget, which are made for `quick`:
/// there are up to 32 blocks, and as much time as they need.
///
/// # Errors
/// The first option that cannot be read.
///
/// # Panics
/// Never: `quick` is part of the program.
pub fn from_options(overrides: &Overrides) -> Result<Experiment, PlanError> {
    let quick = builtin::experiment("quick").expect("`quick` is part of the program");
    let mut experiment = apply(&quick, overrides)?;
    let run = &mut experiment.run;
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

fn title(experiment: &Experiment) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    let factors = &experiment.factors;
    let work = join(experiment.workloads.iter().map(|w| w.value.name.clone()).collect());
    let devices = join(factors.device.iter().map(|d| text::device_text(&d.value)).collect());
    let fs = join(factors.fs.iter().map(|fs| fs.value.text.clone()).collect());
    let colon = if fs.is_empty() { "" } else { ": " };
    format!("{fs}{colon}{work} on {devices}")
}
