//! From the options of `fsarena run` to an experiment and what overrides it.

use super::hosts;
use crate::args::RunArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_corpus::{CorpusError, own};
use fsarena_devices::inventory;
use fsarena_guests::kernel;
use fsarena_hosts::HostList;
use fsarena_model::run::RunPlan;
use fsarena_model::work::UserIds;
use fsarena_plan::{Experiment, Outside, Overrides, Surveyed};
use std::path::Path;

/// What the options say, as text where a file has text.
///
/// An experiment in guests needs no root; any other is done in a directory without it.
pub(super) fn overrides(
    args: &RunArgs,
    named: Option<&Experiment>,
    hosts: Option<&HostList>,
) -> Result<Overrides> {
    let mut on = args.on.as_deref().map(targets).transpose()?.unwrap_or_default();
    let needs_root = !named.is_some_and(Experiment::is_virtual);
    if on.is_empty() && args.fs.is_none() && needs_root && !context::is_root() {
        let dir = context::own_directory(!args.dry_run)?;
        say!(
            "not root: working in {}; as root, file systems would be made, mounted and compared on \
             the same sectors, with cold caches",
            dir.display()
        );
        if !context::kernels()?.list().is_empty() {
            say!(
                "without root, guest kernels do that in virtual time: fsarena run --fs ext4,xfs \
                 --on virtual:8G:model=hdd-2007"
            );
        }
        on.push(dir.display().to_string());
    }
    let mut levels = args.factors.levels.clone();
    hosts::add_ranks(args, hosts, named, &mut levels)?;
    let overrides = Overrides {
        fs: args.fs.clone(),
        on,
        kernel: args.kernel.as_deref().map(guest_kernel).transpose()?,
        workloads: args.workload.clone(),
        runs: args.runs.clone(),
        cap: args.cap,
        margin: args.margin.clone(),
        budget: args.budget.clone(),
        baseline: args.baseline.clone(),
        ask: args.ask.clone(),
        headline: args.headline.clone(),
        seed: args.seed,
        fallback_seed: fsarena_metrics::realtime_ns() % 1_000_000_000,
        crash_runs: args.crash_runs,
        scale: args.scale,
        stonewall: args.stonewall.clone(),
        runtime: args.runtime.clone(),
        levels,
        sample_period: args.sample_period.clone(),
        account: args.account,
        verify: args.verify,
        ..Overrides::default()
    };
    Ok(Overrides { fio_files: fio_files(&overrides)?, ..overrides })
}

/// The texts of the fio job files that `--workload` names.
fn fio_files(overrides: &Overrides) -> Result<Vec<(String, String)>> {
    let read = |name: &str| {
        let text = context::description_text(name)
            .map_err(|error| Usage(format!("--workload {name}: {error}")))?;
        Ok((name.to_owned(), text))
    };
    overrides.fio_paths().into_iter().map(read).collect()
}

fn is_block(path: &str) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_block_device())
}

/// The targets of `--on`, with paths made absolute. Directories are vetted here, before anything is
/// planned on them; block devices when the plan is known.
fn targets(list: &str) -> Result<Vec<String>> {
    list.split(',')
        .map(str::trim)
        .map(|target| {
            let named = fsarena_plan::device_prefixes().any(|prefix| target.starts_with(&prefix));
            if let Some(members) = fsarena_plan::members(target) {
                let mut paths = members.into_iter().filter(|member| member.starts_with('/'));
                paths.try_for_each(|path| there_is(Path::new(path)))?;
                return Ok(target.to_owned());
            }
            if target.starts_with("virtual:") {
                return with_whole_path(target);
            }
            if named || target.is_empty() {
                return Ok(target.to_owned());
            }
            let path = std::path::absolute(target).with_context(|| format!("--on {target}"))?;
            if is_block(target) {
                return Ok(path.display().to_string());
            }
            if path.is_file() || (path.starts_with("/dev") && !path.exists()) {
                there_is(&path)?;
            }
            if target.contains('/') || path.exists() {
                fsarena_devices::vet::vet_directory(&path)
                    .map_err(|refusal| Usage(format!("--on {target}: {refusal}")))?;
                return Ok(path.display().to_string());
            }
            Ok(target.to_owned())
        })
        .collect()
}

/// Whether there is a block device at `path`.
fn there_is(path: &Path) -> Result<()> {
    inventory::identify(path, &inventory::Roots::default())
        .map_err(|refusal| Usage(format!("--on {refusal}")))?;
    Ok(())
}

/// A device in a guest, with the path of its kernel made absolute.
fn with_whole_path(target: &str) -> Result<String> {
    let part = |part: &str| match part.strip_prefix("kernel=") {
        Some(kernel) => Ok(format!("kernel={}", guest_kernel(kernel)?)),
        None => Ok(part.to_owned()),
    };
    let parts: Vec<String> = target.split(':').map(part).collect::<Result<_>>()?;
    Ok(parts.join(":"))
}

/// A guest kernel as it is written, with its path made absolute where it is one.
fn guest_kernel(written: &str) -> Result<String> {
    if !kernel::is_path(written) {
        return Ok(written.to_owned());
    }
    let path = std::path::absolute(written).with_context(|| format!("the kernel {written}"))?;
    Ok(path.display().to_string())
}

/// The experiment where none is named: `quick`, or one made of options alone.
pub(super) fn unnamed_experiment(args: &RunArgs, overrides: &Overrides) -> Result<Experiment> {
    if args.workload.is_some() {
        return Ok(fsarena_plan::from_options(overrides)?);
    }
    Ok(fsarena_plan::builtin::experiment("quick").expect("quick is built in"))
}

/// The experiment of this name: a built-in one, or a file.
pub(in crate::commands) fn read_experiment(name: &str) -> Result<Experiment> {
    if let Some(found) = fsarena_plan::builtin::experiment(name) {
        return Ok(found);
    }
    if !name.ends_with(".toml") && !Path::new(name).exists() {
        let known = fsarena_plan::builtin::experiment_names().join(", ");
        refuse!(
            "unknown experiment \"{name}\"; built in are {known}; a file of your own ends in .toml"
        );
    }
    let text = context::description_text(name).map_err(|error| {
        let known = fsarena_plan::builtin::experiment_names().join(", ");
        Usage(format!("{name}: {error}; name a file that is there, or one of {known}"))
    })?;
    let read = |path: &Path| context::description_text(path);
    let outside = Outside { read: &read, survey: &survey };
    Ok(fsarena_plan::parse_from(&text, name, &outside)?)
}

/// Surveys data of the user's own that an experiment names. Nothing is made yet: Ctrl-C ends it.
fn survey(named: &Path) -> Result<Surveyed, CorpusError> {
    // What a symbolic link leads to now is what is taken, in every trial.
    let path = named.canonicalize().or_else(|_| std::path::absolute(named));
    let path = path.unwrap_or_else(|_| named.to_owned());
    let (own, top) = own::survey_with_top_level(&path, &|| false)?;
    Ok(Surveyed { path, own, top })
}

/// Says that a single contender is compared with nothing, and how to name a second one.
pub(super) fn print_single_contender(plan: &RunPlan) {
    if plan.contenders.len() == 1 && !plan.is_crash_alone() {
        let label = &plan.contenders[0].label;
        say!(
            "{label} is the only contender: it is measured and compared with nothing; name a second \
             one with --fs ext4,xfs or --on DIR1,DIR2"
        );
    }
}

/// Refuses CPUs that this process may not use.
pub(super) fn check_cpus(cpus: &[usize]) -> Result<()> {
    let allowed = rustix::thread::sched_getaffinity(None).context("the CPUs of this process")?;
    let known = |cpu: usize| cpu < rustix::thread::CpuSet::MAX_CPU && allowed.is_set(cpu);
    match cpus.iter().find(|&&cpu| !known(cpu)) {
        Some(cpu) => refuse!(
            "--cpus: CPU {cpu} is not available to this process, which may use {} CPUs",
            allowed.count()
        ),
        None => Ok(()),
    }
}

pub(super) fn user_ids(text: &str) -> Result<UserIds> {
    let parsed = text
        .split_once(':')
        .and_then(|(uid, gid)| Some(UserIds { uid: uid.parse().ok()?, gid: gid.parse().ok()? }));
    Ok(parsed
        .ok_or_else(|| Usage(format!("--user {text}: expected numbers, such as 65534:65534")))?)
}
