//! Everything that can be refused before anything is made: one way for a RUN and its dry run, so
//! that `--dry-run` refuses whatever `run` refuses, in the same words.
//!
//! Nothing is changed here, but that a RUN installs missing programs where that was asked for.

use super::consent::{self, Consents};
use super::hosts::{self, RankHosts};
use super::{options, programs, tools};
use crate::args::RunArgs;
use crate::commands::{output_file, trust};
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_devices::kept_image;
use fsarena_guests::kernel::Kernels;
use fsarena_model::device::DeviceIdentity;
use fsarena_model::factor;
use fsarena_model::run::{RunPlan, RunPrograms};
use fsarena_model::work::UserIds;
use fsarena_plan::{Experiment, Overrides};
use fsarena_runner::{DriverRules, JournaledDir, OwnPaths, RunError};
use fsarena_store::Store;
use std::path::{Path, PathBuf};

/// What is to be run, and nothing speaks against it.
pub(super) struct CheckedRun {
    pub(super) experiment: Experiment,
    pub(super) overrides: Overrides,
    /// Without what this machine cannot run.
    pub(super) plan: RunPlan,
    /// Directory of images.
    pub(super) image_dir: PathBuf,
    /// Directory of kept images of aged devices.
    pub(super) age_image_dir: Option<PathBuf>,
    /// User of the work.
    pub(super) user: Option<UserIds>,
    /// Each path of a device of the user's with what it leads to.
    pub(super) devices: Vec<(PathBuf, DeviceIdentity)>,
    /// Guest kernels, with the files that devices name as such.
    pub(super) kernels: Kernels,
    /// Programs of i386, where trials have them.
    pub(super) programs: Option<RunPrograms>,
    /// Hosts of the ranks; each has answered.
    pub(super) hosts: RankHosts,
}

/// Reads and checks what was asked for.
///
/// # Errors
/// The first thing for which a RUN is refused.
pub(super) fn check(
    args: &RunArgs,
    given: Option<Experiment>,
    consents: &Consents,
    db: Option<&Path>,
) -> Result<CheckedRun> {
    let is_given = given.is_some();
    let named = match args.purposes.as_slice() {
        _ if given.is_some() => given,
        [] => args.experiment.as_deref().map(options::read_experiment).transpose()?,
        purposes => Some(fsarena_plan::purpose::experiment_of(purposes)),
    };
    refuse_for_crash_runs(args, is_given, named.as_ref())?;
    let named_hosts = hosts::list(args)?;
    let overrides = options::overrides(args, named.as_ref(), named_hosts.as_ref())?;
    let experiment = match named {
        Some(named) => named,
        None => options::unnamed_experiment(args, &overrides)?,
    };
    let (database, state_dir) = (context::database(db)?, context::state_dir()?);
    let files = kernel_files(args, &experiment, &overrides, consents)?;
    let kernels = kernels(&files, &state_dir, &database)?;
    let rules = DriverRules::new(kernels.clone());
    let mut plan = fsarena_plan::expand(&experiment, &overrides, &rules)?;
    hosts::check_numbers(args, named_hosts.as_ref(), &plan)?;
    consent::vet_directories(&plan)?;
    let image_dir = context::image_dir(args.image_dir.as_deref())?;
    let age_image_dir = age_image_dir(args.age_images.as_deref(), &plan)?;
    let ours = OwnPaths {
        database: &database,
        state_dir: &state_dir,
        image_dir: &image_dir,
        age_image_dir: age_image_dir.as_deref(),
    };
    if let Some(report) = &args.report {
        output_file::check_writable(report)?;
    }
    let user = args.user.as_deref().map(options::user_ids).transpose()?;
    options::check_cpus(&args.cpus)?;
    // Before anything that the experiment file names is run or installed.
    let ssh = hosts::ssh(args, &consents.trust)?;
    consent::vet_programs(&plan, user, (files, ssh.as_ref()), &consents.trust)?;
    consent::confirm_commands(args, &plan, user)?;
    let devices = consent::vet_devices(&plan, &consents.wipe, ours, false)?;
    let packages = tools::drop_or_install(args, &mut plan, &kernels)?;
    let asked =
        tools::RequestedRun { experiment: &experiment, overrides: &overrides, kernels: &kernels };
    tools::stand_in(&asked, &mut plan, &packages)?;
    tools::validate_fio_jobs(&plan)?;
    let programs = programs::of_run(&plan)?;
    if programs.is_some() && named_hosts.is_some() {
        refuse!("--programs: programs of i386 are on this machine alone; leave the hosts out");
    }
    // The directory of the user's own that a RUN without root makes for itself is not there yet.
    let is_to_be_made = args.dry_run && args.on.is_none() && !overrides.on.is_empty();
    if !is_to_be_made {
        check_runnable(&plan, ours)?;
    }
    check_database(&database)?;
    let hosts = hosts::of_run(args, named_hosts.as_ref(), ssh.as_ref(), &plan, &database)?;
    Ok(CheckedRun {
        experiment,
        overrides,
        plan,
        image_dir,
        age_image_dir,
        user,
        devices,
        kernels,
        programs,
        hosts,
    })
}

/// Refuses options about trials and verdicts for crash runs alone; `is_given`: `fsarena crash` has
/// made the experiment, and names workloads.
fn refuse_for_crash_runs(args: &RunArgs, is_given: bool, named: Option<&Experiment>) -> Result<()> {
    let crash = named.and_then(|experiment| experiment.crash.as_ref());
    if !crash.is_some_and(|crash| crash.is_alone) {
        return Ok(());
    }
    let asked = [
        ("--workload", args.workload.is_some() && !is_given),
        ("--baseline", args.baseline.is_some()),
        ("--ask", args.ask.is_some()),
        ("--headline", args.headline.is_some()),
        ("--margin", args.margin.is_some()),
        ("--stonewall", args.stonewall.is_some()),
        ("--runtime", args.runtime.is_some()),
        ("--hosts", args.hosts.is_some()),
        ("--rendezvous", args.rendezvous.is_some()),
        ("--budget", args.budget.is_some()),
        ("--runs", args.runs.is_some()),
        ("--cap", args.cap.is_some()),
        ("--require-decision", args.require_decision),
        ("--verify", args.verify),
        ("--account", args.account),
        ("--sample-period", args.sample_period.is_some()),
    ];
    match context::first_given(&asked) {
        None => Ok(()),
        Some(option) => {
            refuse!(
                "{option} is about trials, and this experiment has only crash runs: leave it out"
            )
        }
    }
}

impl CheckedRun {
    /// The same RUN with its workloads as large as they are by themselves, of the contenders that
    /// can be run here.
    ///
    /// # Errors
    /// What refuses it, such as a device that is too small for them.
    pub(super) fn at_full_size(&self) -> Result<RunPlan, fsarena_plan::PlanError> {
        let overrides = Overrides { scale: Some(1.0), ..self.overrides.clone() };
        let rules = DriverRules::new(self.kernels.clone());
        let mut whole = fsarena_plan::expand(&self.experiment, &overrides, &rules)?;
        tools::drop_unavailable(&mut whole, &self.kernels);
        Ok(whole)
    }
}

/// The directory of kept images of aged devices, vetted, where it was asked for.
fn age_image_dir(asked: Option<&Path>, plan: &RunPlan) -> Result<Option<PathBuf>> {
    let Some(dir) = asked else { return Ok(None) };
    if plan.contenders.iter().all(|contender| factor::age(&contender.levels).is_none()) {
        refuse!("--age-images: no contender has an age; add --age, such as --age fresh,80%");
    }
    let dir = std::path::absolute(dir).context("--age-images")?;
    vet_age_image_dir(Some(&dir))?;
    Ok(Some(dir))
}

/// What is wrong with the directory of kept images of aged devices.
pub(super) fn vet_age_image_dir(dir: Option<&Path>) -> Result<()> {
    let vetted = dir.map_or(Ok(()), |dir| kept_image::open_directory(dir).map(drop));
    Ok(vetted.map_err(|error| Usage(format!("--age-images: {error}")))?)
}

/// The files that devices name as their kernels, which may be run: a kernel is a program. Those of
/// the experiment file are confirmed.
fn kernel_files(
    args: &RunArgs,
    experiment: &Experiment,
    overrides: &Overrides,
    consents: &Consents,
) -> Result<Vec<PathBuf>> {
    let files = fsarena_plan::kernel_files(experiment, overrides)?;
    for file in &files {
        trust::check_program(file, &consents.trust)?;
    }
    if args.experiment.is_some() && args.on.is_none() {
        let mut of_file = fsarena_plan::kernel_files(experiment, &Overrides::default())?;
        of_file.retain(|file| files.contains(file));
        consent::confirm_kernels(args, &of_file)?;
    }
    Ok(files)
}

/// The guest kernels of this machine, and these files: each is booted before anything else is made,
/// in a directory below `state_dir` that goes again.
fn kernels(files: &[PathBuf], state_dir: &Path, database: &Path) -> Result<Kernels> {
    let mut kernels = Kernels::new(context::kernels()?);
    if files.is_empty() {
        return Ok(kernels);
    }
    let name = format!("kernels-{}", context::new_uid(fsarena_metrics::realtime_ns()));
    let own = JournaledDir::make(state_dir, &name, database)?;
    for path in files {
        let added = kernels.add_file(path, own.path(), &|| false);
        added.map_err(|error| Usage(format!("the guest kernel {error}")))?;
    }
    for file in kernels.files() {
        say!("{}: guest kernel {}", file.path.display(), file.level);
    }
    Ok(kernels)
}

/// What is wrong with the plan, the machine or the place, by the runner's own check.
fn check_runnable(plan: &RunPlan, ours: OwnPaths<'_>) -> Result<()> {
    fsarena_runner::preflight(plan, ours, context::is_root()).map_err(refused)
}

/// The rest of a RUN: a plan of which nothing can be run, or a database that is under test.
pub(super) fn check_paths(plan: &RunPlan, database: &Path) -> Result<()> {
    fsarena_runner::check(plan, database).map_err(refused)
}

fn refused(error: RunError) -> anyhow::Error {
    match error {
        RunError::DatabaseUnderTest { .. } | RunError::Imported { .. } => {
            Usage(error.to_string()).into()
        }
        // The command line is right, and this machine is not as it would have to be.
        other => other.into(),
    }
}

/// A database that is there has to be one that this program can use; an empty file is a new one.
fn check_database(database: &Path) -> Result<()> {
    if std::fs::metadata(database).is_ok_and(|meta| meta.len() > 0) {
        Store::open_read_only(database)?;
    }
    Ok(())
}
