//! Whether one modelled disk gives the same times under the kernel of the machine and in a guest
//! kernel.
//!
//! Two RUNs of the same experiment, each into a database of its own; the medians of each phase and
//! file system are compared. Where they differ by more than a tenth, the phase is marked: what
//! natively takes time beside the disk (processor, FUSE, loop device) takes none in a guest.

use super::guests;
use super::options::{Options, Section, Verdict};
use crate::program;
use anyhow::{Context as _, Result, ensure};
use fsarena_devices::claim::NullDisk;
use fsarena_stats::median;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

pub(super) const SECTION: Section = Section { name: "agreement", judged, run };

const EXPERIMENT: &str = include_str!("agreement.toml");
const MODELS: [&str; 2] = ["hdd-2003", "hdd-2007"];
/// Room for the dirty pages of the largest file, natively and in a guest.
const MEMORY: &str = "2G";
/// Beyond this share a phase is marked.
const MOST: f64 = 0.10;

/// Figures are given, with marks; none is missed.
fn judged(options: &Options) -> bool {
    !options.smoke
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    if !rustix::process::geteuid().is_root() {
        verdict.not_run("native beside virtual", "needs root");
        return Ok(verdict);
    }
    if let Err(error) = NullDisk::new(1 << 20) {
        verdict.not_run("native beside virtual", &error.to_string());
        return Ok(verdict);
    }
    if guests::kernel().is_none() {
        verdict.not_run("native beside virtual", guests::NO_KERNEL);
        return Ok(verdict);
    }
    let program = program::build()?;
    let dir = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
    std::fs::write(dir.path().join("agreement.toml"), EXPERIMENT)?;
    for model in if options.smoke { &MODELS[1..] } else { &MODELS[..] } {
        let native = medians(&program, dir.path(), &format!("vdisk:2G:model={model}"), options)?;
        let place = format!("virtual:2G:model={model}");
        let guest = medians(&program, dir.path(), &place, options)?;
        println!("{model}: median time until safe on disk, ms, of a modelled disk");
        println!("  {:34} {:>10} {:>10} {:>8}", "", "native", "guest", "guest/native");
        for (what, native_ns) in &native {
            let Some(guest_ns) = guest.get(what) else { continue };
            let ratio = guest_ns / native_ns;
            let mark = if (ratio - 1.0).abs() > MOST { "  differs" } else { "" };
            println!(
                "  {what:34} {:10.2} {:10.2} {ratio:8.3}{mark}",
                native_ns / 1e6,
                guest_ns / 1e6
            );
        }
    }
    Ok(verdict)
}

/// Median of each file system and phase, ns.
fn medians(
    program: &Path,
    dir: &Path,
    device: &str,
    options: &Options,
) -> Result<BTreeMap<String, f64>> {
    let database = dir.join(format!("{}.db", device.replace(':', "-")));
    let mut command = Command::new(program);
    command.current_dir(dir).arg("--db").arg(&database).args(["run", "agreement.toml"]);
    command.args(["--on", device, "--memory", MEMORY]);
    if options.smoke {
        command.args(["--runs", "1", "--scale", "0.05", "--fs", "ext4"]);
    }
    let output = command.stdin(Stdio::null()).output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    // Equal file systems are no failure; a trial that failed is a line without a figure.
    ensure!(output.status.code().is_some_and(|code| code <= 1), "{device}: {complaint}");
    let mut command = Command::new(program);
    command.arg("--db").arg(&database).args(["export", "--format", "csv"]);
    let output = command.stdin(Stdio::null()).output()?;
    ensure!(output.status.success(), "export: {}", String::from_utf8_lossy(&output.stderr));
    medians_of(&String::from_utf8_lossy(&output.stdout))
}

/// Medians of an export: `fs workload phase` and ns.
fn medians_of(csv: &str) -> Result<BTreeMap<String, f64>> {
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().context("an empty export")?.split(',').collect();
    let column = |name: &str| {
        head.iter().position(|at| *at == name).with_context(|| format!("no column {name}"))
    };
    let [workload, phase, fs] = [column("workload")?, column("phase")?, column("file_system")?];
    let time = column("durable_ns")?;
    let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        let Ok(ns) = field(time).parse() else { continue };
        let what = format!("{} {} {}", field(fs), field(workload), field(phase));
        values.entry(what).or_default().push(ns);
    }
    let median_of = |(what, values): (String, Vec<f64>)| Ok((what, median(&values)?));
    values.into_iter().map(median_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_of_each_phase_and_file_system() {
        let csv = "run,workload,phase,file_system,durable_ns\n\
                   1,small,create,ext4,3\n1,small,create,ext4,1\n1,small,create,ext4,8\n\
                   1,small,create,xfs,2\n1,small,create,xfs,4\n1,small,create,xfs,\n";
        let found = medians_of(csv).unwrap();
        let found: Vec<(&str, f64)> = found.iter().map(|(what, ns)| (what.as_str(), *ns)).collect();
        assert_eq!(found, [("ext4 small create", 3.0), ("xfs small create", 3.0)]);
        assert!(medians_of("run,phase\n").is_err());
    }
}
