//! `fsarena selftest honesty`: equal runs of one configuration (a tape), and the false verdicts
//! that each rule of decision gives on them.

use super::{open, run};
use crate::args::{HonestyArgs, RunArgs, Selftest, SelftestArgs};
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_model::seed::Seed;
use fsarena_model::units::parse_share;
use fsarena_store::Store;
use fsarena_verdict::honesty::{Config, Replayed, Tape, TapeError, trials_needed};
use std::path::Path;
use std::process::ExitCode;

/// Tests what was asked for.
pub fn run(args: &SelftestArgs, db: Option<&Path>) -> Result<ExitCode> {
    match &args.what {
        Selftest::Honesty(args) => honesty(args, db),
    }
}

fn honesty(args: &HonestyArgs, db: Option<&Path>) -> Result<ExitCode> {
    let config = config(args)?;
    let mut selectors = args.tape.clone();
    if selectors.is_empty() {
        if let Some(ended) = record(args, db)? {
            return Ok(ended);
        }
        selectors.push("latest".to_owned());
    }
    let Some(store) = open::for_reading(db)? else {
        let path = context::database(db)?;
        refuse!("{}: there is no database yet, and so no tape", path.display());
    };
    let mut tapes = Vec::new();
    for selector in &selectors {
        tapes.extend(read(&store, selector)?);
    }
    let mut replayed = Vec::new();
    for tape in &tapes {
        say!("replaying {}: {}, {}", tape.source, tape.workload, tape.phase);
        replayed.push(fsarena_verdict::honesty::replay(tape, &config).map_err(unusable)?);
    }
    let tables = |width, style| fsarena_report::honesty_tables(&replayed, width, style);
    context::print_as(
        args.json,
        || fsarena_report::json::document("honesty", "tapes", &replayed),
        tables,
    )?;
    Ok(verdict(&replayed))
}

fn config(args: &HonestyArgs) -> Result<Config> {
    let margin = parse_share(&args.margin).ok().filter(|margin| (0.0001..=1.0).contains(margin));
    let Some(margin) = margin else {
        refuse!("--margin {}: expected a share from 0.01% to 100%, such as 2%", args.margin);
    };
    Ok(Config { replays: args.replays, margin, seed: Seed::from_number(args.seed) })
}

/// Records a tape by the ordinary pipeline. An exit code where it was not finished.
fn record(args: &HonestyArgs, db: Option<&Path>) -> Result<Option<ExitCode>> {
    if (args.runs as usize) < trials_needed() {
        refuse!(
            "--runs {}: a tape needs {} trials at least, and 200 or more are better",
            args.runs,
            trials_needed()
        );
    }
    let made = args.on.is_none() && context::is_root();
    let on = args.on.clone().or_else(|| made.then(|| "loop:1G".to_owned()));
    // A directory has the file system that it has.
    let may_be_made = on.as_deref().is_some_and(|on| !on.contains('/'));
    let asked = RunArgs {
        fs: args.fs.clone().or_else(|| may_be_made.then(|| "ext4".to_owned())),
        on,
        workload: Some(args.workload.clone()),
        runs: Some(args.runs.to_string()),
        scale: args.scale,
        seed: Some(args.seed),
        image_dir: args.image_dir.clone(),
        sample_period: Some("0s".to_owned()),
        silent: true,
        ..RunArgs::default()
    };
    let ended = run::run(&asked, db)?;
    // Some trials may have failed; those that did not are a tape still.
    Ok((ended == ExitCode::from(exit::INTERRUPTED)).then_some(ended))
}

fn read(store: &Store, selector: &str) -> Result<Vec<Tape>> {
    let run = store.find(selector)?;
    let header = store.header(run)?;
    let scores = store.scores(run).with_context(|| format!("RUN {run}"))?;
    fsarena_verdict::honesty::tapes(&format!("RUN {run}"), &header.plan, &scores).map_err(unusable)
}

/// A RUN that is no tape was named by the user.
fn unusable(error: TapeError) -> anyhow::Error {
    Usage(error.to_string()).into()
}

/// Fails where our own rule says more than it may.
fn verdict(replayed: &[Replayed]) -> ExitCode {
    let mut broken = false;
    for tape in replayed {
        for rule in tape.broken() {
            broken = true;
            let facts = &tape.tape;
            say!(
                "{}, {}, {}: {} gave {} false verdicts in {} comparisons, more than {} per 1,000",
                facts.source,
                facts.workload,
                facts.phase,
                rule.name,
                rule.false_verdicts.count,
                rule.false_verdicts.of,
                fsarena_verdict::honesty::FALSE_PER_THOUSAND
            );
        }
    }
    if broken { ExitCode::from(exit::FAILED) } else { ExitCode::SUCCESS }
}
