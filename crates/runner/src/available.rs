//! Which contenders this machine can run: kernel, programs, permission.

use fsarena_model::run::{NotRun, RunPlan};
use fsarena_targets::fs::{self, Availability, Place};
use std::path::Path;

/// Takes out of `plan` what cannot be run here, each with its reason; returns the packages that
/// would bring missing programs, without repetition.
///
/// `is_root` says whether file systems may be made and mounted.
pub fn drop_unavailable(plan: &mut RunPlan, is_root: bool, proc_root: &Path) -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for (index, contender) in plan.contenders.iter().enumerate() {
        let reason = match fs::driver(&contender.levels.fs) {
            Err(error) => Some(error.to_string()),
            Ok(driver) => match fs::availability(driver.as_ref(), proc_root) {
                Availability::Missing { reason, package } => {
                    packages.extend(package);
                    Some(reason)
                }
                Availability::Ready if !is_root && driver.place() != Place::Directory => {
                    Some("making and mounting it needs root".to_owned())
                }
                Availability::Ready => None,
            },
        };
        if let Some(reason) = reason {
            plan.not_run.push(NotRun { contender: index, workload: None, reason });
        }
    }
    let out: Vec<usize> =
        plan.not_run.iter().filter(|row| row.workload.is_none()).map(|row| row.contender).collect();
    plan.schedule.retain(|slot| !out.contains(&slot.contender));
    packages.sort();
    packages.dedup();
    packages
}
