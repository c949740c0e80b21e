//! `fsarena crash`: RUNs of crash runs alone, in guest kernels or under the kernel of this machine:
//! what a power cut leaves of work, of applications, of sequences and litmus programs, and who
//! reports errors of the medium.
//!
//! Options become a section `[crash]`; what is done with it is what `fsarena run` does.

use crate::args::{CrashArgs, CrashRunArgs, LitmusArgs, MediumErrorsArgs, RunArgs, SequencesArgs};
use crate::commands::run::{self, read_experiment};
use crate::context::{self, Usage};
use anyhow::Result;
use fsarena_crash::application::{Application, application, application_names};
use fsarena_crash::sequence::litmus::Litmus;
use fsarena_crash::state::Class;
use fsarena_crash::workload::Kind;
use fsarena_model::crash::{Campaign, CrashFaults, CrashPlan};
use fsarena_plan::{Experiment, Overrides, PlanError, Span};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// Crash runs alone, and where they are done.
struct CrashOrder<'a> {
    fs: &'a str,
    on: &'a str,
    seed: u64,
    plan: CrashPlan,
    /// The experiment of which phases are done, where one is named, and their scale.
    named: Option<Experiment>,
    /// Names of workloads of experiments.
    phases: Vec<String>,
    scale: Option<f64>,
    args: &'a CrashRunArgs,
}

/// Power cuts of work, at uniform times or at every entry of the write log.
pub fn run(args: &CrashArgs, db: Option<&Path>) -> Result<ExitCode> {
    let names = WorkloadNames::new(args)?;
    let faults = CrashFaults { recovery_every: args.recovery_every, lose_flush: args.lose_flush };
    let campaign = match args.every_event {
        true => Campaign::EveryEntry { states_most: args.states, faults },
        false => Campaign::PowerCuts { faults },
    };
    let plan = with_points(args, fsarena_plan::crash_plan(campaign))?;
    let plan = CrashPlan { workloads: names.all, keep: args.keep, ..plan };
    let (phases, scale) = (names.phases, args.scale);
    let order = CrashOrder::new((&args.fs, &args.on), args.seed, plan, &args.run);
    CrashOrder { named: names.experiment, phases, scale, ..order }.run(RunArgs::default(), db)
}

/// Power cuts of the work of applications.
pub fn applications(args: &CrashArgs, names: &str, db: Option<&Path>) -> Result<ExitCode> {
    let (workloads, described) = named_applications(names)?;
    let plan = with_points(args, fsarena_plan::crash_plan(Campaign::Applications { described }))?;
    let plan = CrashPlan { workloads, ..plan };
    CrashOrder::new((&args.fs, &args.on), args.seed, plan, &args.run)
        .run(RunArgs { yes: args.yes, ..RunArgs::default() }, db)
}

/// Sequences of file operations.
pub fn sequences(args: &SequencesArgs, db: Option<&Path>) -> Result<ExitCode> {
    let campaign =
        fsarena_plan::sequences(args.length, args.sample, args.every_entry, args.published);
    let plan = fsarena_plan::crash_plan(campaign);
    CrashOrder::new((&args.fs, &args.on), args.seed, plan, &args.run)
        .run(RunArgs { cases: Some(args.cases), ..RunArgs::default() }, db)
}

/// Litmus programs.
pub fn litmus(args: &LitmusArgs, db: Option<&Path>) -> Result<ExitCode> {
    let litmus = list(&args.litmus, "--litmus", Litmus::from_name)?;
    let workloads = litmus.into_iter().map(|litmus| litmus.name().to_owned()).collect();
    let (programs, states_most) = (args.programs, args.states);
    let plan = fsarena_plan::crash_plan(Campaign::Litmus { programs, states_most });
    let plan = CrashPlan { workloads, ..plan };
    CrashOrder::new((&args.fs, &args.on), args.seed, plan, &args.run).run(RunArgs::default(), db)
}

/// Errors of the medium.
pub fn medium_errors(args: &MediumErrorsArgs, db: Option<&Path>) -> Result<ExitCode> {
    let kinds = list(&args.workload, "--workload", Kind::from_name)?;
    let workloads = kinds.into_iter().map(|kind| kind.name().to_owned()).collect();
    let plan = fsarena_plan::crash_plan(Campaign::MediumErrors { cases: args.cases });
    let plan = CrashPlan { workloads, runs: args.runs, seconds: args.seconds, ..plan };
    CrashOrder::new((&args.fs, &args.on), args.seed, plan, &args.run).run(RunArgs::default(), db)
}

impl<'a> CrashOrder<'a> {
    /// Without any workload of an experiment.
    fn new(
        (fs, on): (&'a str, &'a str),
        seed: u64,
        plan: CrashPlan,
        args: &'a CrashRunArgs,
    ) -> Self {
        Self { fs, on, seed, plan, named: None, phases: Vec::new(), scale: None, args }
    }

    fn run(self, more: RunArgs, db: Option<&Path>) -> Result<ExitCode> {
        let Self { fs, on, seed, plan, named, phases, scale, args } = self;
        let workloads = (!phases.is_empty()).then(|| phases.join(","));
        let overrides = Overrides {
            fs: Some(fs.to_owned()),
            on: vec![on.to_owned()],
            workloads: workloads.clone(),
            ..Overrides::default()
        };
        let plan = CrashPlan { is_alone: true, first_seed: Some(seed), ..plan };
        let experiment = fsarena_plan::crash_experiment(named.as_ref(), plan, &overrides)?;
        let args = RunArgs {
            fs: overrides.fs,
            on: Some(on.to_owned()),
            workload: workloads,
            scale,
            seed: Some(seed),
            dry_run: args.dry_run,
            trust: args.trust.clone(),
            title: args.title.clone(),
            json: args.json,
            report: args.report.clone(),
            no_report: args.no_report,
            is_crash: true,
            ..more
        };
        run::run_experiment(experiment, &args, db)
    }
}

/// The power cuts of a plan: states, runs and seconds.
fn with_points(args: &CrashArgs, plan: CrashPlan) -> Result<CrashPlan> {
    let (runs, seconds) = (args.runs, args.seconds);
    if plan.states.is_empty() {
        return Ok(CrashPlan { runs, seconds, ..plan });
    }
    let classes = list(&args.state, "--state", Class::from_name)?;
    if (args.points as usize) < classes.len() {
        let states = classes.len();
        refuse!("--points: {} for {states} states; give each one", args.points);
    }
    let states = classes.into_iter().map(Class::name).collect();
    Ok(CrashPlan { states, points: args.points, runs, seconds, ..plan })
}

/// The words of an option, each once.
fn list<T: PartialEq>(
    text: &str,
    option: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for word in text.split(',').map(str::trim) {
        let none = || Usage(format!("{option}: {word:?} is none; see fsarena crash --help"));
        let one = read(word).ok_or_else(none)?;
        if all.contains(&one) {
            refuse!("{option}: {word:?} is named twice");
        }
        all.push(one);
    }
    Ok(all)
}

/// Workloads by their names.
struct WorkloadNames {
    /// That of `--experiment`.
    experiment: Option<Experiment>,
    all: Vec<String>,
    /// Those of experiments.
    phases: Vec<String>,
}

impl WorkloadNames {
    /// Of `--workload`; without it all of the experiment, or the default ones.
    fn new(args: &CrashArgs) -> Result<Self> {
        let experiment = args.experiment.as_deref().map(read_experiment).transpose()?;
        let own: Vec<&str> = experiment
            .iter()
            .flat_map(|it| &it.workloads)
            .map(|workload| workload.value.name.as_str())
            .collect();
        let all = match &args.workload {
            Some(text) => list(text, "--workload", |name| Some(name.to_owned()))?,
            None if experiment.is_none() => fsarena_plan::crash_plan(Campaign::default()).workloads,
            None => own.iter().map(|&name| name.to_owned()).collect(),
        };
        all.iter().try_for_each(|name| check_name(name, &own))?;
        let phases: Vec<String> =
            all.iter().filter(|name| Kind::from_name(name).is_none()).cloned().collect();
        let option = match (&experiment, args.scale) {
            (Some(_), _) => "--experiment",
            (None, Some(_)) => "--scale",
            (None, None) => "",
        };
        if phases.is_empty() && !option.is_empty() {
            refuse!("{option}: no workload of an experiment is named by --workload");
        }
        Ok(Self { experiment, all, phases })
    }
}

/// There is such a workload; `own`: those of the experiment that is named.
fn check_name(name: &str, own: &[&str]) -> Result<(), PlanError> {
    let built_in = fsarena_plan::builtin::workload_names();
    let mut known: Vec<&str> = Kind::all().map(Kind::name).chain(built_in).collect();
    known.extend(own);
    match known.contains(&name) {
        true => Ok(()),
        false => Err(PlanError::unknown(&Span::Option("--workload"), "workload", name, &known)),
    }
}

/// Applications, each once: a name, or a file, which has a `/` or ends with `.toml`; the text of
/// the files by name.
fn named_applications(names: &str) -> Result<(Vec<String>, BTreeMap<String, String>)> {
    let (mut all, mut described) = (Vec::new(), BTreeMap::new());
    for word in names.split(',').map(str::trim) {
        let name = if word.contains('/') || word.ends_with(".toml") {
            let unread = |error| Usage(format!("--application {word}: {error}; name a file"));
            let text = context::description_text(word).map_err(unread)?;
            let read = Application::parse(&text, word).map_err(|error| Usage(error.to_string()))?;
            if application(&read.name).is_some() {
                let name = &read.name;
                refuse!("--application {word}: {name:?} is built in; give it another name");
            }
            described.insert(read.name.clone(), text);
            read.name
        } else {
            let none = || {
                let known = application_names().join(", ");
                Usage(format!("--application: {word:?} is none; use {known}, or ./FILE.toml"))
            };
            application(word).ok_or_else(none)?.name
        };
        if all.contains(&name) {
            refuse!("--application: {name:?} is named twice");
        }
        all.push(name);
    }
    Ok((all, described))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_and_written_alike() {
        for word in ["prefix", "dropall", "drop-one", "keep-one", "subset", "torn", "lying=2"] {
            assert_eq!(Class::from_name(word).map(Class::name).as_deref(), Some(word));
        }
        for wrong in ["", "lying", "lying=x", "all"] {
            assert_eq!(Class::from_name(wrong), None, "{wrong}");
        }
        let twice = list("prefix,prefix", "--state", Class::from_name).unwrap_err().to_string();
        assert!(twice.contains("named twice"), "{twice}");
        let error = list("prefix,none", "--state", Class::from_name).unwrap_err().to_string();
        assert!(error.contains("--state: \"none\""), "{error}");
    }

    #[test]
    fn applications_are_named_once_and_known() {
        let names = |text| named_applications(text).unwrap().0;
        assert_eq!(names("maildir, git"), ["maildir", "git"]);
        let refused = |text| named_applications(text).unwrap_err().to_string();
        assert!(refused("git,git").contains("\"git\" is named twice"));
        let none = refused("oracle");
        assert!(none.contains("\"oracle\" is none; use sqlite-wal"), "{none}");
        assert!(refused("./none.toml").starts_with("--application ./none.toml: No such file"));
    }
}
