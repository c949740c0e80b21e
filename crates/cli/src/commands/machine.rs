//! `fsarena devices` and `fsarena doctor`: which block devices may be used, and what distorts
//! results here. `doctor --noise` does two minutes of equal runs by the ordinary pipeline, in a
//! temporary database.

use crate::args::{DevicesArgs, DoctorArgs, RunArgs};
use crate::commands::{device_model, run};
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_devices::inventory::{self, SurveyRow, Verdict};
use fsarena_doctor::Target;
use fsarena_doctor::noise::{CAP, Runs, class};
use fsarena_honesty::Tape;
use fsarena_metrics::KernelRoots;
use fsarena_model::host::{Noise, NoiseClass};
use fsarena_model::score::TrialScore;
use fsarena_report::DeviceLine;
use fsarena_store::Store;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Lists the block devices, or device models, or shows one.
pub fn devices(args: &DevicesArgs) -> Result<()> {
    if args.models {
        return device_model::list(args.json);
    }
    if let Some(model) = &args.model {
        return device_model::show(model, args);
    }
    let rows = inventory::survey(&inventory::Roots::default())?;
    if args.json {
        return context::print_json(&fsarena_report::json::document("devices", "devices", &rows));
    }
    if !context::is_root() {
        say!("not root: contents and other users of a device may not be visible");
    }
    let lines: Vec<DeviceLine> = rows.iter().map(line_of).collect();
    context::print(&fsarena_report::devices_table(&lines, context::width(), context::style()))
}

fn line_of(row: &SurveyRow) -> DeviceLine {
    let hardware = &row.identity.hardware;
    let joined = |list: Vec<String>| (!list.is_empty()).then(|| list.join(", "));
    let signatures = row.signatures.iter().flatten().cloned().collect();
    let (usable, verdict) = match &row.verdict {
        Verdict::Never { reason } => (false, reason.clone()),
        Verdict::WithConsent { option } => (true, format!("with {option}")),
    };
    DeviceLine {
        name: row.identity.name.clone(),
        size_bytes: row.size_bytes,
        kind: row.kind.name().to_owned(),
        model: row.model.clone(),
        serial: hardware.get("serial").or_else(|| hardware.get("wwid")).cloned(),
        signature: joined(signatures),
        in_use: joined(row.in_use.clone()),
        usable,
        verdict,
    }
}

/// How long the load of the machine is measured.
const WINDOW: Duration = Duration::from_secs(1);

/// Checks what was named, and measures the spread of equal runs if asked to.
pub fn doctor(args: &DoctorArgs) -> Result<ExitCode> {
    let subjects = args.paths.iter().map(|path| Target::from_path(path));
    let subjects: Vec<Target> =
        subjects.collect::<Result<_, _>>().map_err(|error| Usage(error.to_string()))?;
    let place = if args.noise { Some(choose_target(&subjects)?) } else { None };
    let findings = fsarena_doctor::examine(&KernelRoots::default(), &subjects, WINDOW);
    let (width, style) = (context::width(), context::style());
    if !args.json {
        context::print(&fsarena_report::doctor_table(&findings, args.all, width, style))?;
    }
    let noise = match place.map(|place| measure(&place)).transpose()? {
        Some(NoiseOutcome::Stopped(ended)) => return Ok(ended),
        Some(NoiseOutcome::Noise(noise)) => Some(noise),
        None => None,
    };
    if args.json {
        context::print_json(&fsarena_report::json::doctor(&findings, noise.as_ref()))?;
    } else if let Some(noise) = &noise {
        context::print(&format!("\n{}", fsarena_report::noise_table(noise, width, style)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The equal runs.
const EXPERIMENT: &str = include_str!("noise.toml");
/// Where they run as root where nothing is named: as `run` does.
const IMAGE: &str = "loop:1G";

/// Each timed phase of the experiment, in words.
const CLASSES: [(&str, &str, &str); 6] = [
    ("small-files", "create", "small files, created"),
    ("small-files", "read", "small files, read"),
    ("small-files", "delete", "small files, deleted"),
    ("big-file", "big-write", "a big file, written"),
    ("big-file", "big-read", "a big file, read"),
    ("fsync", "write-fsync", "random writes, an fsync after each"),
];

/// Where the equal runs work.
enum NoiseTarget {
    /// An image with a file system of our own.
    Image,
    Directory(PathBuf),
}

/// Result of the measurement.
enum NoiseOutcome {
    /// It was interrupted, or did not begin.
    Stopped(ExitCode),
    Noise(Noise),
}

/// Where to measure, by what was named.
fn choose_target(subjects: &[Target]) -> Result<NoiseTarget> {
    match subjects {
        [] if context::is_root() => Ok(NoiseTarget::Image),
        [] => Ok(NoiseTarget::Directory(context::own_directory(true)?)),
        [Target::Directory(path)] => Ok(NoiseTarget::Directory(path.clone())),
        [Target::Device(path)] => refuse!(
            "{}: --noise writes files, not to a device; name a directory on it",
            path.display()
        ),
        _ => refuse!("--noise measures in one directory; name one"),
    }
}

/// Does the equal runs and judges them.
fn measure(target: &NoiseTarget) -> Result<NoiseOutcome> {
    let own = context::scratch_dir().context("--noise")?;
    let experiment = own.path().join("noise.toml");
    std::fs::write(&experiment, EXPERIMENT).with_context(|| experiment.display().to_string())?;
    let (on, shown) = match target {
        NoiseTarget::Image => (IMAGE.to_owned(), format!("{IMAGE}, ext4")),
        NoiseTarget::Directory(path) => (path.display().to_string(), path.display().to_string()),
    };
    let asked = RunArgs {
        experiment: Some(experiment.display().to_string()),
        on: Some(on),
        silent: true,
        // The database is temporary: its path is not printed.
        json: true,
        ..RunArgs::default()
    };
    say!("measuring equal runs on {shown} for two minutes");
    let started = Instant::now();
    let database = own.path().join("noise.db");
    let ended = run::run(&asked, Some(&database))?;
    if ended == ExitCode::from(exit::INTERRUPTED) {
        return Ok(NoiseOutcome::Stopped(ended));
    }
    let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let classes = classes(&database)?;
    if classes.is_empty() {
        say!("fsarena: --noise: no equal run completed on {shown}");
        return Ok(NoiseOutcome::Stopped(ExitCode::from(exit::FAILED)));
    }
    Ok(NoiseOutcome::Noise(Noise { place: shown, elapsed_ns, cap: CAP, classes }))
}

fn classes(database: &Path) -> Result<Vec<NoiseClass>> {
    let store = Store::open_read_only(database)?;
    let run = store.find("latest")?;
    let header = store.header(run)?;
    let scores = store.scores(run)?;
    // A RUN without a value has no tape; that it has none is said by whoever asked.
    let tapes = fsarena_honesty::tapes("the equal runs", &header.plan, &scores).unwrap_or_default();
    let of = |&(workload, phase, words): &(&str, &str, &str)| {
        let tape = tapes.iter().find(|tape| tape.workload == workload && tape.phase == phase)?;
        Some(judge(tape, words, &scores))
    };
    CLASSES.iter().filter_map(of).collect()
}

fn judge(tape: &Tape, words: &str, scores: &[TrialScore]) -> Result<NoiseClass> {
    let of_tape = |score: &&TrialScore| tape.started_unix_ns.contains(&score.started_unix_ns);
    let mut phases = scores.iter().filter(of_tape).flat_map(|score| &score.phases);
    let first = phases.find(|phase| phase.name == tape.phase);
    let cold = first.is_some_and(|phase| phase.cache.is_cold());
    let runs = Runs { phase_ns: &tape.values, trial_s: &tape.elapsed_s, cold };
    Ok(class(words, &tape.workload, &tape.phase, runs)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words belong to phases of the experiment, and each timed phase has words.
    #[test]
    fn every_phase_has_words() {
        let experiment = fsarena_plan::parse(EXPERIMENT, "noise.toml").unwrap();
        let none = fsarena_plan::Overrides::default();
        let plan =
            fsarena_plan::expand(&experiment, &none, &fsarena_runner::DriverRules::default())
                .unwrap();
        let timed = plan.workloads.iter().flat_map(|workload| {
            let timed = workload.phases.iter().filter(|phase| phase.timed);
            timed.map(move |phase| (workload.name.clone(), phase.name.clone()))
        });
        let named: Vec<(String, String)> = timed.collect();
        let words: Vec<(String, String)> =
            CLASSES.iter().map(|(w, p, _)| ((*w).to_owned(), (*p).to_owned())).collect();
        assert_eq!(named, words);
    }

    #[test]
    fn devices_are_not_written_to() {
        let device = [Target::Device("/dev/sdb".into())];
        let text = choose_target(&device).err().unwrap().to_string();
        assert_eq!(text, "/dev/sdb: --noise writes files, not to a device; name a directory on it");
        let two = [Target::Directory("/a".into()), Target::Directory("/b".into())];
        assert!(choose_target(&two).is_err());
    }
}
