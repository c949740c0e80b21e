//! Programs that contenders and workloads need: missing ones reported or installed.

use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_metrics::Roots;
use fsarena_model::run::RunPlan;
use fsarena_worker::program::FioRun;
use std::time::Duration;

/// Removes from `plan` what this machine cannot run; the packages that contain missing programs.
pub(super) fn drop_unavailable(plan: &mut RunPlan) -> Vec<String> {
    let packages = fsarena_runner::drop_unavailable(plan, context::is_root(), &Roots::default());
    fsarena_plan::settle_rule(plan);
    packages
}

pub(super) fn print_missing_tools(packages: &[String]) {
    if !packages.is_empty() {
        say!(
            "missing tools: install with `apt-get install {}` or pass --install-tools",
            packages.join(" ")
        );
    }
}

/// Installs missing programs if asked to, then removes from `plan` what this machine cannot run.
pub(super) fn install_missing(install_tools: bool, plan: &mut RunPlan) -> Result<()> {
    let whole = plan.clone();
    let packages = drop_unavailable(plan);
    if install_tools && !packages.is_empty() {
        install(&packages)?;
        *plan = whole;
        drop_unavailable(plan);
    } else {
        print_missing_tools(&packages);
    }
    if plan.schedule.is_empty() && !context::is_root() {
        say!(
            "not root: run as root (sudo fsarena run …), or leave out --fs and name a directory with \
             --on DIR"
        );
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

fn install(packages: &[String]) -> Result<()> {
    if !context::is_root() {
        refuse!("--install-tools needs root");
    }
    let tool = fsarena_process::cmd::find("apt-get")
        .ok_or_else(|| Usage("--install-tools needs Debian's apt-get".to_owned()))?;
    say!("installing {}", packages.join(", "));
    let limit = Duration::from_secs(600);
    fsarena_process::cmd::run(&tool.path, &["update", "-q"], limit)?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends", "--"];
    arguments.extend(packages.iter().map(String::as_str));
    fsarena_process::cmd::run(&tool.path, &arguments, limit)?;
    Ok(())
}
