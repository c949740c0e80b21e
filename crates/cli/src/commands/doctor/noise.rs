//! `fsarena doctor --noise`: two minutes of equal runs by the ordinary pipeline, in a temporary
//! database.

use crate::args::RunArgs;
use crate::commands::run;
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_doctor::Target;
use fsarena_doctor::noise::{CAP, Runs, class};
use fsarena_model::host::{Noise, NoiseClass};
use fsarena_model::record::CacheState;
use fsarena_model::score::TrialScore;
use fsarena_store::Store;
use fsarena_verdict::honesty::Tape;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

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
pub(super) enum NoiseTarget {
    /// An image with a file system of our own.
    Image,
    Directory(PathBuf),
}

/// Result of the measurement.
pub(super) enum NoiseOutcome {
    /// It was interrupted, or did not begin.
    Stopped(ExitCode),
    Noise(Noise),
}

/// Where to measure, by what was named.
pub(super) fn choose_target(subjects: &[Target]) -> Result<NoiseTarget> {
    match subjects {
        [] if context::is_root() => Ok(NoiseTarget::Image),
        [] => Ok(NoiseTarget::Directory(context::own_directory(true)?)),
        [Target::Directory(path)] => Ok(NoiseTarget::Directory(path.clone())),
        [Target::Device(path)] => Err(Usage(format!(
            "{}: --noise writes files, not to a device; name a directory on it",
            path.display()
        ))
        .into()),
        _ => Err(Usage("--noise measures in one directory; name one".to_owned()).into()),
    }
}

/// Does the equal runs and judges them.
pub(super) fn measure(target: &NoiseTarget) -> Result<NoiseOutcome> {
    let own = tempfile::Builder::new().prefix("fsarena-noise-").tempdir().context("--noise")?;
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
    let tapes = fsarena_verdict::honesty::tapes("the equal runs", &header.plan, &scores)
        .unwrap_or_default();
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
    let cold = first.is_some_and(|phase| phase.cache == CacheState::Cold);
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
        let plan = fsarena_plan::expand(&experiment, &none, &fsarena_runner::DriverRules).unwrap();
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
