//! Which contenders this machine can run: kernel, programs, permission.

use fsarena_metrics::available_bytes;
use fsarena_model::run::{NotRun, RunPlan};
use fsarena_model::units::Bytes;
use fsarena_targets::claim;
use fsarena_targets::cmd;
use fsarena_targets::devices::Roots;
use fsarena_targets::fs::{self, Availability, Place};

/// Takes out of `plan` what cannot be run here, each with its reason; returns the packages that
/// would bring missing programs, without repetition.
///
/// `is_root` says whether file systems may be made and mounted.
pub fn drop_unavailable(
    plan: &mut RunPlan,
    is_root: bool,
    roots: &fsarena_metrics::Roots,
) -> Vec<String> {
    let mut packages: Vec<String> = Vec::new();
    for (index, contender) in plan.contenders.iter().enumerate() {
        let missing = match fs::driver(&contender.levels.fs) {
            Err(error) => Availability::Missing { reason: error.to_string(), package: None },
            Ok(driver) => match fs::availability(&*driver, &roots.proc) {
                Availability::Ready if driver.place() == Place::Directory => Availability::Ready,
                Availability::Ready if !is_root => Availability::Missing {
                    reason: "making and mounting it needs root".to_owned(),
                    package: None,
                },
                Availability::Ready if driver.place() == Place::Block => {
                    claim::device_availability(contender.levels.device.kind(), &Roots::default())
                }
                other => other,
            },
        };
        if let Availability::Missing { reason, package } = missing {
            packages.extend(package);
            plan.not_run.push(NotRun { contender: index, workload: None, reason });
        }
    }
    if cmd::find(FIO).is_none() && leave_out_fio(plan) {
        packages.push(FIO.to_owned());
    }
    leave_memory_to_the_machine(plan, available_bytes(roots));
    let out: Vec<usize> =
        plan.not_run.iter().filter(|row| row.workload.is_none()).map(|row| row.contender).collect();
    let pairs: Vec<(usize, usize)> =
        plan.not_run.iter().filter_map(|row| Some((row.contender, row.workload?))).collect();
    plan.schedule.retain(|slot| {
        !out.contains(&slot.contender) && !pairs.contains(&(slot.contender, slot.workload))
    });
    packages.sort();
    packages.dedup();
    packages
}

/// The program of fio workloads, and the package that brings it.
const FIO: &str = "fio";

/// Takes out the workloads that fio does; whether there are any.
fn leave_out_fio(plan: &mut RunPlan) -> bool {
    let theirs = plan.workloads.iter().enumerate().filter(|(_, work)| work.fio.is_some());
    let theirs: Vec<usize> = theirs.map(|(index, _)| index).collect();
    let whole: Vec<usize> =
        plan.not_run.iter().filter(|row| row.workload.is_none()).map(|row| row.contender).collect();
    let reason = "fio is not installed; install the package fio";
    for contender in (0..plan.contenders.len()).filter(|index| !whole.contains(index)) {
        let row =
            |&workload| NotRun { contender, workload: Some(workload), reason: reason.to_owned() };
        plan.not_run.extend(theirs.iter().map(row));
    }
    !theirs.is_empty()
}

/// A file system in memory that is filled beyond what is there would have the kernel kill whatever
/// it likes.
fn leave_memory_to_the_machine(plan: &mut RunPlan, available_bytes: Option<u64>) {
    let Some(available_bytes) = available_bytes else { return };
    for (contender, levels) in plan.contenders.iter().map(|c| &c.levels).enumerate() {
        let place = fs::driver(&levels.fs).map_or(Place::Block, |driver| driver.place());
        if place != Place::Memory {
            continue;
        }
        for (workload, work) in plan.workloads.iter().enumerate() {
            let needed_bytes = fsarena_plan::needed_bytes(work);
            if needed_bytes > available_bytes / 10 * 9 {
                let reason = format!(
                    "it needs {} of memory, and {} are available",
                    Bytes(needed_bytes),
                    Bytes(available_bytes)
                );
                plan.not_run.push(NotRun { contender, workload: Some(workload), reason });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DriverRules;
    use fsarena_plan::{Overrides, expand, from_options};

    #[test]
    fn a_file_system_in_memory_is_not_filled_beyond_it() {
        let overrides = Overrides {
            fs: Some("tmpfs".to_owned()),
            on: vec!["loop:8G".to_owned()],
            workloads: Some("big-file,small-files".to_owned()),
            scale: Some(8.0),
            ..Overrides::default()
        };
        let experiment = from_options(&overrides).unwrap();
        let mut plan = expand(&experiment, &overrides, &DriverRules).unwrap();
        let needed = fsarena_plan::needed_bytes(&plan.workloads[0]);
        leave_memory_to_the_machine(&mut plan, Some(needed * 2));
        assert!(plan.not_run.is_empty());
        leave_memory_to_the_machine(&mut plan, Some(needed));
        assert_eq!(plan.not_run.len(), 1, "{:?}", plan.not_run);
        assert_eq!(plan.not_run[0].workload, Some(0));
    }
}
