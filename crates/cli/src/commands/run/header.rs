//! The header of a new RUN: what is stored of it before its first trial.

use super::execute::program_sha256;
use super::hosts::RankHosts;
use super::preflight::CheckedRun;
use super::resume;
use crate::args::RunArgs;
use crate::context;
use anyhow::Result;
use fsarena_doctor::Target;
use fsarena_executor::fault;
use fsarena_guests::kernel::Kernels;
use fsarena_metrics::KernelRoots;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::host::Finding;
use fsarena_model::run::{KernelFile, RunHeader, RunPlace, RunPlan};
use fsarena_plan::Experiment;
use std::path::Path;
use std::time::Duration;

/// How long the load of the machine is measured before a RUN starts.
const DOCTOR_WINDOW: Duration = Duration::from_millis(200);
/// In tests that ask for short waits.
const DOCTOR_WINDOW_FAST: Duration = Duration::from_millis(50);

/// The header of a RUN that was checked, with what doctor finds, which is printed; and the hosts of
/// its ranks.
pub(super) fn of_run(checked: CheckedRun, args: &RunArgs) -> Result<(RunHeader, RankHosts)> {
    let CheckedRun { experiment, overrides, plan, hosts, .. } = checked;
    // Devices of contenders that were dropped are not touched.
    let identity_of = |path: &Path| checked.devices.iter().find(|(known, _)| known == path);
    let devices = plan.block_paths().into_iter().filter_map(identity_of);
    let devices = devices.map(|(_, identity)| identity.clone()).collect();
    let place = RunPlace {
        program_sha256: program_sha256()?,
        image_dir: checked.image_dir,
        age_image_dir: checked.age_image_dir,
        user: checked.user,
        cpus: args.cpus.clone(),
        devices,
        kernel_files: kernel_files(&plan, &checked.kernels),
        programs: checked.programs,
        hosts: hosts.names(),
        client_mount: args.client_mount.clone(),
    };
    let findings = doctor_findings(&plan, &place.image_dir);
    if !args.silent && !args.quiet && !findings.is_empty() {
        let (width, style) = (context::width(), context::style());
        context::print_text(&fsarena_report::doctor_lines(&findings, width, style));
    }
    let title = match &args.title {
        Some(title) => title.clone(),
        None if overrides.scale.is_none() => experiment.title.clone(),
        None => fsarena_plan::at_scale(&experiment.title, plan.scale),
    };
    let mut header = RunHeader { title, ..header(&experiment, plan, place, findings) };
    if overrides.seed.is_none() && experiment.run.seed.is_none() {
        // A command that repeats the RUN must state the seed that was drawn.
        header.arguments.extend(["--seed".to_owned(), overrides.fallback_seed.to_string()]);
    }
    Ok((header, hosts))
}

/// Files of the user's that are kernels of trials.
fn kernel_files(plan: &RunPlan, kernels: &Kernels) -> Vec<KernelFile> {
    let is_used = |file: &&KernelFile| {
        let crashed = plan.crashed_contenders().into_iter();
        let mut all = plan.schedule.iter().map(|slot| slot.contender).chain(crashed);
        all.any(|contender| resume::is_kernel_of(plan, contender, file))
    };
    kernels.files().filter(is_used).cloned().collect()
}

fn header(
    experiment: &Experiment,
    mut plan: RunPlan,
    place: RunPlace,
    findings: Vec<Finding>,
) -> RunHeader {
    let now_unix_ns = fsarena_metrics::realtime_ns();
    if let Some(ask) = &mut plan.verdict {
        ask.begun_unix_ns = Some(now_unix_ns);
    }
    RunHeader {
        uid: context::new_uid(now_unix_ns),
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        experiment_toml: experiment.text.clone(),
        created_unix_ns: now_unix_ns,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: std::env::args().collect(),
        host: fsarena_metrics::host(&KernelRoots::default()),
        plan,
        place: Some(place),
        findings,
    }
}

/// What doctor finds about the machine and about every device and directory that trials use.
fn doctor_findings(plan: &RunPlan, image_dir: &Path) -> Vec<Finding> {
    // Virtual time does not depend on the machine.
    if plan.contenders.iter().all(|contender| contender.levels.device.is_virtual()) {
        return Vec::new();
    }
    let mut paths: Vec<&Path> = Vec::new();
    for contender in &plan.contenders {
        for part in contender.levels.device.parts() {
            let path = match part {
                DeviceLevel::Loop { .. } => image_dir,
                DeviceLevel::Block { path, .. } | DeviceLevel::Directory { path } => path,
                DeviceLevel::Ram { .. }
                | DeviceLevel::Memory { .. }
                | DeviceLevel::Vdisk { .. }
                | DeviceLevel::Virtual { .. }
                | DeviceLevel::Several { .. }
                | DeviceLevel::Elsewhere { .. } => continue,
            };
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    // A path that cannot be read is refused, or made, by the run itself.
    let subjects: Vec<Target> =
        paths.into_iter().filter_map(|path| Target::from_path(path).ok()).collect();
    let window = if fault::is_fast() { DOCTOR_WINDOW_FAST } else { DOCTOR_WINDOW };
    fsarena_doctor::examine(&KernelRoots::default(), &subjects, window)
}
