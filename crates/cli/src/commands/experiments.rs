//! `fsarena experiments`: what there is to run, and what each costs.

use super::plan_cost;
use crate::args::ExperimentsArgs;
use crate::context;
use anyhow::Result;
use fsarena_guests::kernel::Kernels;
use fsarena_metrics::KernelRoots;
use fsarena_plan::cost::CostSource;
use fsarena_plan::{CostBasis, Overrides, builtin};
use fsarena_report::ExperimentLine;
use fsarena_runner::DriverRules;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Lists the built-in experiments, workloads and file systems, or prints one file.
pub fn run(args: &ExperimentsArgs, db: Option<&Path>) -> Result<()> {
    let Some(name) = &args.name else {
        context::print(&list(&costs(db)?))?;
        print_next_steps();
        return Ok(());
    };
    let all = builtin::EXPERIMENTS.iter().chain(builtin::WORKLOADS);
    let found = all.into_iter().find(|builtin| builtin.name == name);
    let Some(found) = found else {
        let known = [builtin::experiment_names(), builtin::workload_names()].concat();
        let near = fsarena_plan::nearest(name, &known);
        let near = near.map(|near| format!("did you mean \"{near}\"? ")).unwrap_or_default();
        refuse!("unknown experiment or workload \"{name}\"; {near}known: {}", known.join(", "));
    };
    context::print(found.text)
}

/// What to do next, as talk.
fn print_next_steps() {
    if !context::is_root() {
        say!("not root: costs are as root; `fsarena run` works in a directory");
    }
    say!(
        "next: `fsarena run quick --dry-run` prints a plan and changes nothing, `fsarena run quick` \
         runs it; `fsarena experiments NAME` prints a file to start from"
    );
}

/// Every built-in experiment, by the same estimate as `run --dry-run`.
fn costs(db: Option<&Path>) -> Result<Vec<ExperimentLine>> {
    let basis = plan_cost::basis(plan_cost::records(db)?.as_ref())?;
    builtin::experiment_names().into_iter().map(|name| line(name, &basis)).collect()
}

fn line(name: &str, basis: &CostBasis) -> Result<ExperimentLine> {
    let experiment = builtin::experiment(name).expect("the name is that of a built-in one");
    let kernels = Kernels::new(context::kernels()?);
    let rules = DriverRules::new(kernels.clone());
    let mut plan = fsarena_plan::expand(&experiment, &Overrides::default(), &rules)?;
    let named_contenders = plan.contenders.len();
    // As root sees it: what a directory costs is no property of the experiment.
    fsarena_runner::drop_unavailable(&mut plan, true, &KernelRoots::default(), &kernels);
    fsarena_plan::settle_rule(&mut plan);
    let cost = fsarena_plan::estimate(&plan, basis);
    let crash_runs_s = fsarena_plan::crash_runs_s(&plan, basis.guests_at_once).unwrap_or(0.0);
    let with_crash_runs = |ns: u64| ns.saturating_add((crash_runs_s * 1e9) as u64);
    let rule = plan.verdict.as_ref().map(|verdict| verdict.rule);
    let distinct = |of: fn(&fsarena_plan::cost::CostRow) -> usize| {
        cost.rows.iter().map(of).collect::<BTreeSet<_>>().len()
    };
    Ok(ExperimentLine {
        name: name.to_owned(),
        title: experiment.title,
        contenders: distinct(|row| row.contender),
        named_contenders,
        workloads: distinct(|row| row.workload),
        blocks: rule.map_or((plan.blocks, plan.blocks), |it| (it.least_blocks(), it.blocks())),
        expected_ns: (with_crash_runs(cost.least.total_ns), with_crash_runs(cost.total_ns)),
        budget_ns: plan.verdict.as_ref().and_then(|verdict| verdict.budget_ns),
        written_bytes: (cost.least.disk_written_bytes, cost.disk_written_bytes),
        known: known(&cost.sources).to_owned(),
    })
}

/// How far an estimate can be relied on. What is calibrated was seen in memory and is multiplied by
/// what disks usually take: an assumption too.
fn known(sources: &BTreeSet<CostSource>) -> &'static str {
    let is_known = |source: &CostSource| *source <= CostSource::Stated;
    let measured = sources.iter().any(|source| *source <= CostSource::Measured);
    match (measured, !sources.iter().all(is_known)) {
        (true, false) => "measured here",
        (true, true) => "partly assumed",
        (false, _) => "assumed",
    }
}

fn list(costs: &[ExperimentLine]) -> String {
    let mut text = fsarena_report::experiments_table(costs, context::width(), context::style());
    text.push_str("\nWorkloads (--workload NAME):\n");
    for name in builtin::workload_names() {
        let title = builtin::workload(name).map(|found| fsarena_plan::shown_title(&found, 1.0));
        let title = title.unwrap_or_default();
        let _ = writeln!(text, "  {name:<26}{title}");
    }
    text.push_str("\nFile systems (--fs NAME[:MOUNT-OPTION…][:mkfs.KEY=VALUE…]):\n");
    for driver in fsarena_filesystems::builtin() {
        let _ = writeln!(text, "  {:<26}{}", driver.name(), driver.summary());
        for option in driver.mkfs().options {
            let Some(help) = option.help() else { continue };
            let _ = writeln!(text, "    {:<24}{help}", format!("mkfs.{}", option.name));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_a_line_and_a_cost() {
        let basis = CostBasis::default();
        for name in builtin::experiment_names() {
            let line = line(name, &basis).unwrap();
            assert_eq!(line.known, "assumed", "{name}: nothing was measured");
            assert!(line.named_contenders > 0 && !line.title.is_empty(), "{name}");
            if line.contenders > 0 {
                assert!(line.workloads > 0 && line.blocks.0 > 0, "{name}");
                assert!(line.expected_ns.0 > 1_000_000_000, "{name}: {line:?}");
                assert!(line.expected_ns.0 <= line.expected_ns.1, "{name}: {line:?}");
            }
        }
    }

    #[test]
    fn an_assumption_is_never_called_measured() {
        let of = |list: &[CostSource]| known(&list.iter().copied().collect());
        assert_eq!(of(&[CostSource::Measured]), "measured here");
        assert_eq!(of(&[CostSource::Measured, CostSource::Assumed]), "partly assumed");
        assert_eq!(of(&[CostSource::Measured, CostSource::Calibrated]), "partly assumed");
        assert_eq!(of(&[CostSource::Calibrated]), "assumed");
    }
}
