//! `fsarena fleet run`: one experiment on each of several hosts, and the hosts compared.
//!
//! Each host carries out a RUN of its own, by the program there and over the user's own ssh; what
//! this adds is only the way there and back. Nothing is begun before every host has said that it
//! has the same version.

mod request;
mod screen;

use crate::args::{CompareArgs, FleetArgs, FleetCommand, FleetRunArgs};
use crate::commands::loaded::{Identity, LoadedRun, article_phases};
use crate::commands::{compare, open};
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_fleet::{
    CarriedOut, FetchedRun, Fleet, FleetTask, GatheredRuns, OwnProgram, ReadyHost,
};
use fsarena_report::OwnRun;
use fsarena_store::{RunId, Store};
use screen::Screen;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Does what is asked of a fleet.
pub fn run(args: &FleetArgs, db: Option<&Path>) -> Result<ExitCode> {
    match &args.what {
        FleetCommand::Run(args) => run_on_all(args, db),
    }
}

fn run_on_all(args: &FleetRunArgs, db: Option<&Path>) -> Result<ExitCode> {
    let task = request::read(args)?;
    let database = context::database(db)?;
    // Results that nothing can take are not worth a day of many machines.
    if std::fs::metadata(&database).is_ok_and(|meta| meta.len() > 0) {
        Store::open_read_only(&database)?;
    }
    let own = args.install.then(own_program).transpose()?;
    let screen = Arc::new(Screen::new(&task.hosts));
    let token = context::new_uid(fsarena_metrics::realtime_ns());
    let interrupts = context::count_interrupts()?;
    let progress = Arc::<Screen>::clone(&screen);
    Fleet::with(&task, interrupts, progress, &token, |fleet| {
        let _end = EndOfWork(&screen);
        let work = FleetWork { task: &task, fleet, screen: &screen };
        work.carry_out(args, own.as_ref(), db)
    })
}

/// Takes the lines away, also where the work panics.
struct EndOfWork<'a>(&'a Screen);

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// This program's file.
fn own_program() -> Result<OwnProgram> {
    let program = context::program();
    let path = program.path();
    let bytes = std::fs::read(path).with_context(|| format!("{}", path.display()))?;
    let name = rustix::system::uname();
    let machine =
        format!("{} {}", name.sysname().to_string_lossy(), name.machine().to_string_lossy());
    let sha256 = fsarena_model::seed::hex(&Sha256::digest(&bytes));
    Ok(OwnProgram { bytes, sha256, machine })
}

/// A fleet at work, and who shows it.
struct FleetWork<'a> {
    task: &'a FleetTask,
    fleet: &'a Fleet<'a>,
    screen: &'a Screen,
}

impl FleetWork<'_> {
    fn carry_out(
        &self,
        args: &FleetRunArgs,
        own: Option<&OwnProgram>,
        db: Option<&Path>,
    ) -> Result<ExitCode> {
        let found = self.fleet.make_ready(own);
        let ready: Result<Vec<ReadyHost>, ()> =
            found.iter().map(|host| host.as_ref().map_err(drop).cloned()).collect();
        let Ok(ready) = ready else {
            self.screen.finish();
            found.iter().filter_map(|host| host.as_ref().err()).for_each(|text| say!("{text}"));
            say!("fsarena: nothing was begun: not every host is ready");
            return Ok(ExitCode::from(self.failed()));
        };
        if args.dry_run {
            self.screen.finish();
            return self.print_ready(&ready);
        }
        self.screen.print(&format!("seed {} on all hosts", self.task.seed));
        let scratch = context::scratch_dir()?;
        let file = |host: usize| scratch.path().join(format!("{host}.db"));
        let carried_out = self.fleet.carry_out(&ready, args.one_at_a_time, &file);
        self.screen.finish();
        self.conclude(args, &carried_out, &file, db)
    }

    fn print_ready(&self, ready: &[ReadyHost]) -> Result<ExitCode> {
        let hosts = self.task.hosts.as_slice().iter().zip(ready);
        let lines: Vec<String> = hosts
            .map(|(host, ready)| {
                let ReadyHost { program, machine, version } = ready;
                format!("{host}: {program} is {version}, {machine}")
            })
            .collect();
        context::print(&lines.join("\n"))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Merges what was fetched, says what became of each host, and compares.
    fn conclude(
        &self,
        args: &FleetRunArgs,
        carried_out: &[CarriedOut],
        file: &dyn Fn(usize) -> PathBuf,
        db: Option<&Path>,
    ) -> Result<ExitCode> {
        let hosts = self.task.hosts.as_slice().iter().zip(carried_out).enumerate();
        let fetched: Vec<FetchedRun<'_>> = hosts
            .filter(|(_, (_, done))| done.has_database)
            .map(|(at, (host, _))| FetchedRun { host: host.as_str(), path: file(at) })
            .collect();
        let gathered = match fetched.is_empty() {
            true => GatheredRuns::default(),
            false => self.gather(&fetched, db)?,
        };
        let failures: Vec<&String> =
            carried_out.iter().filter_map(|done| done.sentence.as_ref()).collect();
        gathered.taken.iter().for_each(|text| say!("{text}"));
        failures.iter().copied().chain(&gathered.refused).for_each(|text| say!("{text}"));
        gathered.kept.iter().for_each(|text| say!("{text}"));
        let compared = compare_runs(args, &gathered, db)?;
        if !args.json && gathered.runs.len() > 1 {
            print_as_article(&gathered.runs, db)?;
        }
        Ok(match failures.is_empty() && gathered.refused.is_empty() {
            true => compared,
            false => ExitCode::from(self.failed()),
        })
    }

    /// Merges what was fetched. Where the database cannot be opened, it is kept.
    fn gather(&self, fetched: &[FetchedRun<'_>], db: Option<&Path>) -> Result<GatheredRuns> {
        let mut store = open::for_writing(db).inspect_err(|_| {
            fetched.iter().for_each(|one| say!("{}", fsarena_fleet::keep(one)));
        })?;
        Ok(fsarena_fleet::gather(&mut store, fetched, self.task.seed)?)
    }

    fn failed(&self) -> u8 {
        if self.fleet.is_interrupted() { exit::INTERRUPTED } else { exit::FAILED }
    }
}

/// Compares the RUNs, where there are several.
fn compare_runs(
    args: &FleetRunArgs,
    gathered: &GatheredRuns,
    db: Option<&Path>,
) -> Result<ExitCode> {
    let names: Vec<String> = gathered.runs.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [] => return Ok(ExitCode::SUCCESS),
        [run] => {
            say!("one RUN is compared with nothing; `fsarena show {run}` shows it");
            return Ok(ExitCode::SUCCESS);
        }
        _ => say!("`fsarena compare {} --all` answers all questions", names.join(" ")),
    }
    let asked = CompareArgs { runs: names, json: args.json, ..CompareArgs::default() };
    compare::run(&asked, db).or_else(|error| match error.is::<Usage>() {
        // One contender asks nothing, and is no failure of the hosts.
        true => {
            say!("not compared: {error}");
            Ok(ExitCode::SUCCESS)
        }
        false => Err(error),
    })
}

/// Prints the RUNs in the shape of the article that their experiment repeats; nothing where it
/// repeats none.
fn print_as_article(runs: &[RunId], db: Option<&Path>) -> Result<()> {
    let (Some(store), Some(first)) = (open::for_reading(db)?, runs.first()) else { return Ok(()) };
    let Some(article) = fsarena_reference::of_experiment(&store.header(*first)?.experiment) else {
        return Ok(());
    };
    let loaded = runs.iter().map(|run| LoadedRun::read(&store, *run, Identity::Kept));
    let loaded = loaded.collect::<Result<Vec<LoadedRun>>>()?;
    let machines: Vec<OwnRun<'_>> = loaded.iter().map(LoadedRun::own_run).collect();
    let (width, style) = (context::width(), context::style());
    let text =
        fsarena_report::in_shape_of(&article, &article_phases(&article), &machines, width, style);
    context::print(&format!("\n{text}"))?;
    say!("`fsarena reference {}` sets the article next to them", article.year);
    Ok(())
}
