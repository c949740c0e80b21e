//! `fsarena run`: from an experiment to its tables.

mod consent;
mod execute;
mod header;
mod hosts;
mod options;
mod preflight;
mod programs;
mod rendezvous;
mod resume;
mod tools;

use super::plan_cost;
use crate::args::RunArgs;
use crate::context;
use anyhow::Result;
use consent::Consents;
use execute::execute;
use fsarena_model::run::RunPlan;
use fsarena_model::units::Nanos;
use fsarena_plan::Experiment;
use fsarena_report::FullSize;
pub(super) use options::read_experiment;
use preflight::CheckedRun;
use std::path::Path;
use std::process::ExitCode;

/// The scale at which workloads are what they are by themselves.
const FULL_SCALE: f64 = 1.0;

/// Runs an experiment, prints its plan, or resumes an interrupted RUN.
pub fn run(args: &RunArgs, db: Option<&Path>) -> Result<ExitCode> {
    let consents = Consents::parse(args)?;
    match &args.resume {
        Some(selector) => resume::run(selector, args, &consents, db),
        None => begin(args, None, &consents, db),
    }
}

/// Runs this experiment, or prints its plan.
pub(super) fn run_experiment(
    experiment: Experiment,
    args: &RunArgs,
    db: Option<&Path>,
) -> Result<ExitCode> {
    begin(args, Some(experiment), &Consents::parse(args)?, db)
}

fn begin(
    args: &RunArgs,
    given: Option<Experiment>,
    consents: &Consents,
    db: Option<&Path>,
) -> Result<ExitCode> {
    // clap does not ask for --resume where what conflicts with it is given.
    if args.allow_commands.is_some() {
        refuse!("--allow-commands: it is for commands of a stored RUN; add --resume");
    }
    let checked = preflight::check(args, given, consents, db)?;
    if !args.silent {
        options::print_single_contender(&checked.plan);
    }
    if args.dry_run {
        return dry_run(args, db, &checked);
    }
    refuse_late_block(&checked.plan)?;
    let (header, hosts) = header::of_run(checked, args)?;
    hosts.end_with(execute(&header, None, args, (&consents.wipe, hosts.as_slice()), db))
}

/// Refuses a RUN of which not one block can end within its budget, whatever the machine.
fn refuse_late_block(plan: &RunPlan) -> Result<()> {
    let Some(budget_ns) = plan.verdict.as_ref().and_then(|ask| ask.budget_ns) else {
        return Ok(());
    };
    let stated_ns = fsarena_plan::cost::stated_block_ns(plan);
    if stated_ns > budget_ns {
        refuse!(
            "a budget of {}: one block takes {} by the runtimes, rates and periods that its \
             workloads state; use a longer --budget, fewer contenders, or shorter runtimes",
            Nanos(budget_ns),
            Nanos(stated_ns)
        );
    }
    Ok(())
}

fn dry_run(args: &RunArgs, db: Option<&Path>, checked: &CheckedRun) -> Result<ExitCode> {
    let (plan, store) = (&checked.plan, plan_cost::records(db)?);
    let mut cost = plan_cost::estimate(plan, store.as_ref())?;
    if plan.scale != FULL_SCALE {
        cost.full_size = Some(match checked.at_full_size() {
            Err(refusal) => FullSize::Refused(refusal.to_string()),
            Ok(whole) => plan_cost::estimate(&whole, store.as_ref())?.full_size(&whole),
        });
    }
    let tables = |width, style| fsarena_report::plan_table(plan, &cost, width, style);
    context::print_as(args.json, || fsarena_report::json::plan(plan, &cost), tables)?;
    Ok(ExitCode::SUCCESS)
}
