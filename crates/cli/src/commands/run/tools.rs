//! Programs that contenders and workloads need: missing ones reported or installed.

use super::programs;
use crate::args::RunArgs;
use crate::commands::install;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_guests::kernel::Kernels;
use fsarena_metrics::KernelRoots;
use fsarena_model::run::RunPlan;
use fsarena_plan::{Experiment, Overrides};
use fsarena_runner::DriverRules;
use fsarena_worker::program::FioRun;

/// Removes from `plan` what this machine cannot run; the packages that contain missing programs.
pub(super) fn drop_unavailable(plan: &mut RunPlan, kernels: &Kernels) -> Vec<String> {
    let is_root = context::is_root();
    let packages =
        fsarena_runner::drop_unavailable(plan, is_root, &KernelRoots::default(), kernels);
    programs::drop_without(plan);
    fsarena_plan::settle_rule(plan);
    packages
}

/// Removes from `plan` what this machine cannot run, once missing programs were installed, where
/// that was asked for; gives the packages that would bring more. A dry run installs nothing and
/// says what would be.
pub(super) fn drop_or_install(
    args: &RunArgs,
    plan: &mut RunPlan,
    kernels: &Kernels,
) -> Result<Vec<String>> {
    let whole = plan.clone();
    let mut packages = drop_unavailable(plan, kernels);
    if args.install_tools && !packages.is_empty() {
        install::installer()?;
        if args.dry_run {
            say!("--install-tools would install {}", packages.join(", "));
        } else {
            install::packages(&packages)?;
        }
        // Programs that a RUN would bring are no reason to refuse its plan.
        let dropped = std::mem::replace(plan, whole);
        if args.dry_run && !dropped.schedule.is_empty() {
            *plan = dropped;
        } else if !args.dry_run {
            drop_unavailable(plan, kernels);
        }
        packages.clear();
    }
    if plan.schedule.is_empty() && !plan.is_crash_alone() && !context::is_root() {
        say!(
            "not root: run as root (sudo fsarena run …), or leave out --fs and name a directory with \
             --on DIR"
        );
    }
    Ok(packages)
}

/// What was asked for, and the guest kernels that it may name.
pub(super) struct RequestedRun<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) overrides: &'a Overrides,
    pub(super) kernels: &'a Kernels,
}

/// Puts the stand-ins of an experiment into `plan`, for contenders that cannot be run here; says
/// who stands in for whom, and what to install instead.
pub(super) fn stand_in(
    &RequestedRun { experiment, overrides, kernels }: &RequestedRun<'_>,
    plan: &mut RunPlan,
    packages: &[String],
) -> Result<()> {
    let is_out = |index: usize| {
        plan.not_run.iter().any(|row| row.contender == index && row.workload.is_none())
    };
    let contenders = plan.contenders.iter().enumerate();
    let missing: Vec<String> = contenders
        .filter(|(index, _)| context::is_root() && is_out(*index))
        .map(|(_, contender)| contender.levels.fs.name.clone())
        .collect();
    let mut line: Vec<String> = Vec::new();
    // Who names file systems wants these and no others.
    let experiment = Some(experiment).filter(|_| overrides.fs.is_none());
    if let Some(changed) = experiment.and_then(|it| fsarena_plan::with_stand_ins(it, &missing)) {
        *plan = fsarena_plan::expand(&changed, overrides, &DriverRules::new(kernels.clone()))?;
        drop_unavailable(plan, kernels);
        let mut pairs = Vec::new();
        for one in changed.stand_ins.iter().filter(|one| missing.contains(&one.missing)) {
            let instead = &one.instead.value.text;
            pairs.push(format!("{instead} for {}", one.missing));
            for row in &mut plan.not_run {
                if plan.contenders[row.contender].levels.fs.name == one.missing {
                    row.reason = format!("{}; {instead} stands in", row.reason);
                }
            }
        }
        line.push(format!("standing in: {}", pairs.join(", ")));
    }
    if !packages.is_empty() {
        let packages = packages.join(" ");
        line.push(format!(
            "missing tools: install with `apt-get install {packages}` or pass --install-tools"
        ));
    }
    if !line.is_empty() {
        say!("{}", line.join("; "));
    }
    Ok(())
}

/// Has fio itself parse the jobs that will be run, before anything is made for them.
pub(super) fn validate_fio_jobs(plan: &RunPlan) -> Result<()> {
    let scheduled = |index: usize| plan.schedule.iter().any(|slot| slot.workload == index);
    for (index, workload) in plan.workloads.iter().enumerate() {
        let Some(job) = workload.fio.as_ref().filter(|_| scheduled(index)) else { continue };
        for phase in &workload.phases {
            FioRun::prepare(job, &phase.name, false, &plan.seed)
                .map_err(|error| Usage(format!("workload {:?}: {error}", workload.name)))?;
        }
    }
    Ok(())
}
