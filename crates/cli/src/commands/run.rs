//! `fsarena run`: from an experiment to its tables.

use super::{open, plan_cost, show, signals};
use crate::args::RunArgs;
use crate::context::{self, Usage};
use crate::exit;
use crate::progress::Bar;
use anyhow::{Context as _, Result};
use fsarena_metrics::Roots;
use fsarena_model::contender::DeviceLevel;
use fsarena_model::record::CacheState;
use fsarena_model::run::{RunHeader, RunPlan, RunState};
use fsarena_model::work::UserIds;
use fsarena_plan::{Experiment, Overrides};
use fsarena_runner::{DriverRules, Request, RunError};
use fsarena_store::Store;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Carries out an experiment, or says what it would do.
pub fn run(args: &RunArgs, db: Option<&Path>) -> Result<ExitCode> {
    let overrides = overrides(args)?;
    let experiment = experiment(args, &overrides)?;
    let mut plan = fsarena_plan::expand(&experiment, &overrides, &DriverRules)?;
    vet_directories(&plan)?;
    if args.dry_run {
        say_what_is_missing(&leave_out_what_is_missing(&mut plan));
        return dry_run(args, db, &plan);
    }
    let image_dir = context::image_dir(args.image_dir.as_deref())?;
    let user = args.user.as_deref().map(user_ids).transpose()?;
    check_cpus(&args.cpus)?;
    // Before anything that the experiment file names is run or installed.
    if !confirmed(args, &plan)? {
        return Err(Usage("commands of the experiment file were not confirmed".to_owned()).into());
    }
    let whole = plan.clone();
    let packages = leave_out_what_is_missing(&mut plan);
    if args.install_tools && !packages.is_empty() {
        install(&packages)?;
        plan = whole;
        leave_out_what_is_missing(&mut plan);
    } else {
        say_what_is_missing(&packages);
    }
    fsarena_runner::check(&plan, &context::database(db)?).map_err(|error| match error {
        RunError::DatabaseUnderTest { .. } => anyhow::Error::from(Usage(error.to_string())),
        other => other.into(),
    })?;
    let interrupts = signals::count_interrupts()?;
    let mut store = open::for_writing(db)?;
    let header = header(&experiment, plan);
    let request = Request {
        header: &header,
        program: &context::program(),
        image_dir: &image_dir,
        state_dir: &context::state_dir()?,
        user,
        cpus: &args.cpus,
        keep: args.keep,
        interrupts: &interrupts,
    };
    let mut bar = Bar::new(header.plan.schedule.len());
    let finished = fsarena_runner::run(&request, &mut store, &mut bar);
    bar.finish();
    let finished = finished?;
    let study = show::show(&store, finished.run, args.json, args.raw)?;
    closing_words(&store, &finished, args);
    Ok(exit_code(&finished, &study, args))
}

/// What the options say, as text where a file has text.
fn overrides(args: &RunArgs) -> Result<Overrides> {
    let mut on = args.on.as_deref().map(targets).transpose()?.unwrap_or_default();
    if on.is_empty() && args.fs.is_none() && !context::is_root() {
        let dir = context::own_directory(!args.dry_run)?;
        eprintln!(
            "not root: working in {} as it is; as root, file systems would be made, mounted and \
             compared on the same sectors, with cold caches",
            dir.display()
        );
        on.push(dir.display().to_string());
    }
    // A directory cannot be made cold; whoever asks for it by name is told so by the result.
    let directories = !on.is_empty() && on.iter().all(|target| target.starts_with('/'));
    let cache = args.cache.clone().or(directories.then(|| "warm".to_owned()));
    Ok(Overrides {
        fs: args.fs.clone(),
        on,
        workloads: args.workload.clone(),
        runs: args.runs,
        seed: args.seed,
        fallback_seed: unix_time().subsec_nanos().into(),
        scale: args.scale,
        memory: args.memory.clone(),
        cache,
        discard: args.discard.clone(),
        sample_period: args.sample_period.clone(),
        verify: args.verify,
        ..Overrides::default()
    })
}

/// The targets of `--on`, with paths made absolute; a block device is refused here, before anything
/// is planned on it.
fn targets(list: &str) -> Result<Vec<String>> {
    list.split(',')
        .map(str::trim)
        .map(|target| {
            let named = ["loop:", "ram:"].iter().any(|kind| target.starts_with(kind));
            if named || target.is_empty() {
                return Ok(target.to_owned());
            }
            let path = std::path::absolute(target).with_context(|| format!("--on {target}"))?;
            if target.contains('/') || path.exists() {
                fsarena_targets::vet::vet_directory(&path)
                    .map_err(|refusal| Usage(format!("--on {target}: {refusal}")))?;
                return Ok(path.display().to_string());
            }
            Ok(target.to_owned())
        })
        .collect()
}

/// Directories of an experiment file are vetted as those of `--on` are, before anything is made.
fn vet_directories(plan: &RunPlan) -> Result<()> {
    for contender in &plan.contenders {
        if let DeviceLevel::Directory { path } = &contender.levels.device {
            fsarena_targets::vet::vet_directory(path).map_err(|error| Usage(error.to_string()))?;
        }
    }
    Ok(())
}

/// The experiment: a file, a built-in one, or one made of options alone.
fn experiment(args: &RunArgs, overrides: &Overrides) -> Result<Experiment> {
    let Some(name) = args.experiment.as_deref() else {
        if args.workload.is_some() {
            return Ok(fsarena_plan::from_options(overrides)?);
        }
        return Ok(fsarena_plan::builtin::experiment("quick").expect("quick is built in"));
    };
    if let Some(found) = fsarena_plan::builtin::experiment(name) {
        return Ok(found);
    }
    if !name.ends_with(".toml") && !Path::new(name).exists() {
        let known = fsarena_plan::builtin::experiment_names().join(", ");
        return Err(Usage(format!(
            "unknown experiment \"{name}\"; built in are {known}; a file of your own ends in .toml"
        ))
        .into());
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        let known = fsarena_plan::builtin::experiment_names().join(", ");
        Usage(format!("{name}: {error}; name a file that is there, or one of {known}"))
    })?;
    Ok(fsarena_plan::parse(&text, name)?)
}

/// Takes out what this machine cannot run; the packages that would bring missing programs.
fn leave_out_what_is_missing(plan: &mut RunPlan) -> Vec<String> {
    fsarena_runner::drop_unavailable(plan, context::is_root(), &Roots::default())
}

fn say_what_is_missing(packages: &[String]) {
    if !packages.is_empty() {
        eprintln!(
            "missing programs: apt-get install {} brings them (--install-tools does it)",
            packages.join(" ")
        );
    }
}

fn install(packages: &[String]) -> Result<()> {
    if !context::is_root() {
        return Err(Usage("--install-tools needs root".to_owned()).into());
    }
    let tool = fsarena_targets::cmd::find("apt-get")
        .ok_or_else(|| Usage("--install-tools needs Debian's apt-get".to_owned()))?;
    eprintln!("installing {}", packages.join(", "));
    let limit = Duration::from_secs(600);
    fsarena_targets::cmd::run(&tool.path, &["update", "-q"], limit)?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends", "--"];
    arguments.extend(packages.iter().map(String::as_str));
    fsarena_targets::cmd::run(&tool.path, &arguments, limit)?;
    Ok(())
}

fn dry_run(args: &RunArgs, db: Option<&Path>, plan: &RunPlan) -> Result<ExitCode> {
    let store = match context::database(db)? {
        path if path.exists() => Some(Store::open_read_only(&path)?),
        _ => None,
    };
    let cost = plan_cost::of(plan, store.as_ref())?;
    if args.json {
        context::print_json(&fsarena_report::json::plan(plan, &cost))?;
    } else {
        let (width, style) = (context::width(), context::style());
        context::print(&fsarena_report::plan_table(plan, &cost, width, style))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the commands that the experiment file brings, and asks.
fn confirmed(args: &RunArgs, plan: &RunPlan) -> Result<bool> {
    let mut commands = Vec::new();
    for contender in &plan.contenders {
        if let Some(external) = &contender.levels.fs.external {
            let all = [
                &external.create,
                &Some(external.mount.clone()),
                &external.unmount,
                &external.destroy,
                &external.version,
            ];
            commands.extend(all.into_iter().flatten().cloned());
        }
    }
    commands.dedup();
    if commands.is_empty() {
        return Ok(true);
    }
    eprintln!("The experiment brings these commands, to be run as this user:");
    commands.iter().for_each(|command| eprintln!("  {command}"));
    if args.yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        eprintln!("(--yes confirms them where nobody can be asked)");
        return Ok(false);
    }
    eprint!("Run them? [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn header(experiment: &Experiment, plan: RunPlan) -> RunHeader {
    let now = unix_time();
    let seed = fsarena_model::seed::Seed::from_number(now.as_nanos() as u64)
        .child("run", u64::from(std::process::id()));
    RunHeader {
        uid: format!("{:016x}", seed.tag()),
        experiment: experiment.name.clone(),
        title: experiment.title.clone(),
        experiment_toml: experiment.text.clone(),
        created_unix_ns: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: std::env::args().collect(),
        host: fsarena_metrics::host(&Roots::default()),
        plan,
    }
}

fn unix_time() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Refuses processors that this process may not use.
fn check_cpus(cpus: &[usize]) -> Result<()> {
    let allowed =
        rustix::thread::sched_getaffinity(None).context("the processors of this process")?;
    let known = |cpu: usize| cpu < rustix::thread::CpuSet::MAX_CPU && allowed.is_set(cpu);
    match cpus.iter().find(|&&cpu| !known(cpu)) {
        Some(cpu) => Err(Usage(format!(
            "--cpus: there is no processor {cpu} for this process, which may use {}",
            allowed.count()
        ))
        .into()),
        None => Ok(()),
    }
}

fn user_ids(text: &str) -> Result<UserIds> {
    let parsed = text
        .split_once(':')
        .and_then(|(uid, gid)| Some(UserIds { uid: uid.parse().ok()?, gid: gid.parse().ok()? }));
    Ok(parsed
        .ok_or_else(|| Usage(format!("--user {text}: expected numbers, such as 65534:65534")))?)
}

fn closing_words(store: &Store, finished: &fsarena_runner::Finished, args: &RunArgs) {
    for path in &finished.kept {
        if path.is_dir() {
            eprintln!("kept: {}", path.display());
        } else {
            eprintln!("kept: {0} (mount -o loop {0} DIR)", path.display());
        }
    }
    for left in &finished.left {
        eprintln!("left behind: {left}");
    }
    if finished.state == RunState::Interrupted {
        eprintln!("interrupted; what was measured before is kept");
    }
    if !args.json {
        eprintln!("RUN {} is stored in {}", finished.run, store.path().display());
    }
}

fn exit_code(
    finished: &fsarena_runner::Finished,
    study: &fsarena_study::Study,
    args: &RunArgs,
) -> ExitCode {
    if finished.state == RunState::Interrupted {
        return ExitCode::from(exit::INTERRUPTED);
    }
    if !study.failures.is_empty() || !finished.left.is_empty() {
        return ExitCode::from(exit::FAILED);
    }
    // The plan does not ask a directory to be cold; a user who does shall not think that it was.
    let by_name = args.cache.as_deref() == Some("cold");
    let mut rows = study.tables.iter().flat_map(|table| &table.rows);
    let unproved = rows
        .any(|row| row.cache == CacheState::Warm && (by_name || row.not_cold_because.is_some()));
    if unproved {
        eprintln!("cold phases were asked for, and not all could be proved cold: see the rows");
        return ExitCode::from(exit::INVALID);
    }
    ExitCode::SUCCESS
}
