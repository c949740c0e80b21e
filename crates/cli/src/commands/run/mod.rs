//! `fsarena run`: from an experiment to its tables.

mod closing;
mod consent;
mod options;
mod resume;
mod tools;

use super::{doctor, open, output, plan_cost, show, signals};
use crate::args::RunArgs;
use crate::context::{self, Usage};
use crate::exit;
use crate::progress::Bar;
use anyhow::{Context as _, Result};
use fsarena_metrics::Roots;
use fsarena_model::finding::Finding;
use fsarena_model::run::{RunHeader, RunPlace, RunPlan};
use fsarena_plan::Experiment;
use fsarena_runner::{DriverRules, OwnPaths, Request, Resumed, RunError};
use fsarena_targets::vet::WipeConsent;
use sha2::{Digest as _, Sha256};
use std::path::Path;
use std::process::ExitCode;

/// Carries out an experiment, says what it would do, or goes on with an interrupted RUN.
pub fn run(args: &RunArgs, db: Option<&Path>) -> Result<ExitCode> {
    let consents = consent::parse(&args.wipe)?;
    match &args.resume {
        Some(selector) => resume::run(selector, args, &consents, db),
        None => begin(args, &consents, db),
    }
}

fn begin(args: &RunArgs, consents: &[WipeConsent], db: Option<&Path>) -> Result<ExitCode> {
    let overrides = options::overrides(args)?;
    let experiment = options::experiment(args, &overrides)?;
    let mut plan = fsarena_plan::expand(&experiment, &overrides, &DriverRules)?;
    consent::vet_directories(&plan)?;
    let image_dir = context::image_dir(args.image_dir.as_deref())?;
    let (database, state_dir) = (context::database(db)?, context::state_dir()?);
    let ours = OwnPaths { database: &database, state_dir: &state_dir, image_dir: &image_dir };
    if args.dry_run {
        consent::say_what_is_needed(&plan, consents, ours)?;
        tools::say_what_is_missing(&tools::leave_out_what_is_missing(&mut plan));
        options::say_what_is_compared(&plan);
        return dry_run(args, db, &plan);
    }
    if let Some(report) = &args.report {
        output::check(report)?;
    }
    let user = args.user.as_deref().map(options::user_ids).transpose()?;
    options::check_cpus(&args.cpus)?;
    // Before anything that the experiment file names is run or installed.
    consent::to_commands(args.yes, &plan, user)?;
    let vetted = consent::to_wipe(&plan, consents, ours, false)?;
    tools::provide(args.install_tools, &mut plan)?;
    tools::let_fio_read_its_jobs(&plan)?;
    if !args.silent {
        options::say_what_is_compared(&plan);
    }
    check(&plan, &database)?;
    // Those of contenders that were left out are not touched.
    let identity_of = |path: &Path| vetted.iter().find(|(known, _)| known == path);
    let devices = plan.block_paths().into_iter().filter_map(identity_of);
    let devices = devices.map(|(_, identity)| identity.clone()).collect();
    let place = RunPlace {
        program_sha256: program_sha256()?,
        image_dir,
        user,
        cpus: args.cpus.clone(),
        devices,
    };
    let findings = doctor::before_run(&plan, &place.image_dir);
    if !args.silent {
        let (width, style) = (context::width(), context::style());
        context::say_text(&fsarena_report::doctor_lines(&findings, width, style));
    }
    let mut header = header(&experiment, plan, place, findings);
    if overrides.seed.is_none() && experiment.run.seed.is_none() {
        // The one command that repeats it has to state what was drawn.
        header.arguments.extend(["--seed".to_owned(), overrides.fallback_seed.to_string()]);
    }
    carry_out(&header, None, args, consents, db)
}

/// What can be refused before anything is opened.
fn check(plan: &RunPlan, database: &Path) -> Result<()> {
    fsarena_runner::check(plan, database).map_err(|error| match error {
        RunError::DatabaseUnderTest { .. } | RunError::Imported { .. } => {
            anyhow::Error::from(Usage(error.to_string()))
        }
        other => other.into(),
    })
}

/// Runs what `header` plans, or the rest of it, and prints the tables.
fn carry_out(
    header: &RunHeader,
    resumed: Option<Resumed>,
    args: &RunArgs,
    consents: &[WipeConsent],
    db: Option<&Path>,
) -> Result<ExitCode> {
    let interrupts = signals::count_interrupts()?;
    let mut store = open::for_writing(db)?;
    let request = Request {
        header,
        resumed,
        program: &context::program(),
        state_dir: &context::state_dir()?,
        consents,
        keep: args.keep,
        interrupts: &interrupts,
    };
    let mut bar = Bar::new(header.plan.schedule.len());
    let finished = fsarena_runner::run(&request, &mut store, &mut bar);
    bar.finish();
    let finished = finished?;
    if args.silent {
        closing::words(&store, &finished, args);
        return Ok(closing::silent_exit_code(&finished));
    }
    let shown = show::show(&store, finished.run, args.json, args.raw);
    closing::words(&store, &finished, args);
    let is_reported = closing::report(&store, finished.run, args);
    // Not before: the page is written whoever stops reading the tables.
    let shown = shown?;
    let code = closing::exit_code(&finished, &shown.study, shown.verdicts.as_ref(), args);
    let is_owed = args.report.is_some() && !is_reported && code == ExitCode::SUCCESS;
    Ok(if is_owed { ExitCode::from(exit::FAILED) } else { code })
}

fn header(
    experiment: &Experiment,
    plan: RunPlan,
    place: RunPlace,
    findings: Vec<Finding>,
) -> RunHeader {
    let now_unix_ns = context::unix_ns();
    RunHeader {
        uid: context::new_uid(now_unix_ns),
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        experiment_toml: experiment.text.clone(),
        created_unix_ns: now_unix_ns,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: std::env::args().collect(),
        host: fsarena_metrics::host(&Roots::default()),
        plan,
        place: Some(place),
        findings,
    }
}

/// SHA-256 of this program's file: a RUN is not resumed by another one.
fn program_sha256() -> Result<String> {
    let path = context::program();
    let bytes = std::fs::read(&path).with_context(|| format!("{}", path.display()))?;
    Ok(fsarena_model::seed::hex(&Sha256::digest(&bytes)))
}

fn dry_run(args: &RunArgs, db: Option<&Path>, plan: &RunPlan) -> Result<ExitCode> {
    let cost = plan_cost::of(plan, plan_cost::records(db)?.as_ref())?;
    if args.json {
        context::print_json(&fsarena_report::json::plan(plan, &cost))?;
    } else {
        let (width, style) = (context::width(), context::style());
        context::print(&fsarena_report::plan_table(plan, &cost, width, style))?;
    }
    Ok(ExitCode::SUCCESS)
}
