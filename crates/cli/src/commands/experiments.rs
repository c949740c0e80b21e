//! `fsarena experiments`: what there is to run.

use crate::args::ExperimentsArgs;
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_plan::builtin;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Lists the built-in experiments, workloads and file systems, or prints one file.
pub fn run(args: &ExperimentsArgs) -> Result<ExitCode> {
    let Some(name) = &args.name else {
        context::print(&list())?;
        return Ok(ExitCode::SUCCESS);
    };
    let all = builtin::EXPERIMENTS.iter().chain(builtin::WORKLOADS);
    let found = all.into_iter().find(|builtin| builtin.name == name);
    let Some(found) = found else {
        let known = [builtin::experiment_names(), builtin::workload_names()].concat();
        return Err(
            Usage(format!("unknown experiment \"{name}\"; known: {}", known.join(", "))).into()
        );
    };
    context::print(found.text)?;
    Ok(ExitCode::SUCCESS)
}

fn list() -> String {
    let mut text = String::from("Experiments (fsarena run NAME):\n");
    for name in builtin::experiment_names() {
        let title = builtin::experiment(name).map(|found| found.title).unwrap_or_default();
        let _ = writeln!(text, "  {name:<26}{title}");
    }
    text.push_str("\nWorkloads (--workload NAME):\n");
    for name in builtin::workload_names() {
        let title = builtin::workload(name).map(|found| found.title).unwrap_or_default();
        let _ = writeln!(text, "  {name:<26}{title}");
    }
    text.push_str("\nFile systems (--fs NAME[:MOUNT-OPTION…][:mkfs.KEY=VALUE…]):\n");
    for driver in fsarena_targets::fs::builtin() {
        let _ = writeln!(text, "  {:<26}{}", driver.name(), driver.summary());
        for (key, explanation) in driver.mkfs_options() {
            let _ = writeln!(text, "    {:<24}{explanation}", format!("mkfs.{key}"));
        }
    }
    text
}
