//! `fsarena fleet run`: one experiment on each of several hosts, and the hosts compared.
//!
//! Each host carries out a RUN of its own, by the program there and over the user's own ssh; what
//! this adds is only the way there and back. Nothing is begun before every host has said that it
//! has the same version.

mod connections;
mod gather;
mod request;
mod screen;
mod session;

use crate::args::{CompareArgs, FleetArgs, FleetCommand, FleetRunArgs};
use crate::commands::loaded::{Identity, LoadedRun, article_phases};
use crate::commands::{compare, open};
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use connections::Connections;
use fsarena_report::OwnRun;
use fsarena_store::{RunId, Store};
use gather::{Fetched, Gathered};
use request::Request;
use screen::Screen;
use session::{CarriedOut, OwnProgram, Probed, Session, VERSION};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Does what is asked of a fleet.
pub fn run(args: &FleetArgs, db: Option<&Path>) -> Result<ExitCode> {
    match &args.what {
        FleetCommand::Run(args) => run_on_all(args, db),
    }
}

fn run_on_all(args: &FleetRunArgs, db: Option<&Path>) -> Result<ExitCode> {
    let request = Request::read(args)?;
    let database = context::database(db)?;
    // Results that nothing can take are not worth a day of many machines.
    if std::fs::metadata(&database).is_ok_and(|meta| meta.len() > 0) {
        Store::open_read_only(&database)?;
    }
    let own = args.install.then(own_program).transpose()?;
    let connections = Connections::new(context::count_interrupts()?);
    let fleet = Fleet {
        request: &request,
        connections: &connections,
        screen: Arc::new(Screen::new(&request.hosts)),
        token: context::new_uid(fsarena_metrics::realtime_ns()),
    };
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| connections.watch(&is_done));
        let _end = EndOfWork { is_done: &is_done, screen: &fleet.screen };
        fleet.work(args, own.as_ref(), db)
    })
}

/// Ends the watch and takes the lines away, also where the work panics.
struct EndOfWork<'a> {
    is_done: &'a AtomicBool,
    screen: &'a Screen,
}

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::SeqCst);
        self.screen.finish();
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

/// All hosts, and what they share.
struct Fleet<'a> {
    request: &'a Request,
    connections: &'a Connections,
    screen: Arc<Screen>,
    token: String,
}

impl Fleet<'_> {
    fn work(
        &self,
        args: &FleetRunArgs,
        own: Option<&OwnProgram>,
        db: Option<&Path>,
    ) -> Result<ExitCode> {
        let ready = self.on_each(false, |host, session| self.make_ready(host, session, own));
        let programs: Result<Vec<(String, Probed)>, ()> =
            ready.iter().map(|found| found.as_ref().map_err(drop).cloned()).collect();
        let Ok(programs) = programs else {
            self.screen.finish();
            ready.iter().filter_map(|found| found.as_ref().err()).for_each(|text| say!("{text}"));
            say!("fsarena: nothing was begun: not every host is ready");
            return Ok(ExitCode::from(self.failed()));
        };
        if args.dry_run {
            self.screen.finish();
            return self.print_ready(&programs);
        }
        let seed = self.request.seed;
        self.screen.print(&format!("seed {seed} on all hosts"));
        let scratch = context::scratch_dir()?;
        let file = |host: usize| scratch.path().join(format!("{host}.db"));
        let carried_out = self.on_each(args.one_at_a_time, |host, session| {
            let screen = Arc::clone(&self.screen);
            self.screen.show_state(host, "starting");
            let take_line = Box::new(move |line: &str| screen.line_of_run(host, line));
            let done = session.carry_out(&programs[host].0, &file(host), take_line);
            self.screen
                .show_state(host, if done.has_database { "results are here" } else { "failed" });
            done
        });
        self.screen.finish();
        self.conclude(args, &carried_out, &file, db)
    }

    /// Does the same with each host, side by side or one after the other; results in their order.
    fn on_each<T: Send>(
        &self,
        one_at_a_time: bool,
        work: impl Fn(usize, Session<'_>) -> T + Sync,
    ) -> Vec<T> {
        let one = |host: usize| {
            let session = Session {
                host: &self.request.hosts.as_slice()[host],
                request: self.request,
                connections: self.connections,
                token: &self.token,
            };
            work(host, session)
        };
        let all = 0..self.request.hosts.as_slice().len();
        if one_at_a_time {
            return all.map(one).collect();
        }
        let one = &one;
        std::thread::scope(|scope| {
            let threads: Vec<_> = all.map(|host| scope.spawn(move || one(host))).collect();
            let ended = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            ended
                .map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }

    /// The program of a host, which has the version of this one, and what it says of itself.
    fn make_ready(
        &self,
        host: usize,
        session: Session<'_>,
        own: Option<&OwnProgram>,
    ) -> Result<(String, Probed), String> {
        self.screen.show_state(host, "is asked for its version");
        let program = match own {
            Some(own) => session.install(own, &|text| self.screen.show_state(host, text))?,
            None => self.request.program.clone(),
        };
        let probed = session.probe(&program)?;
        if probed.version == VERSION {
            self.screen.show_state(host, "is ready");
            return Ok((program, probed));
        }
        Err(format!(
            "{}: {} is {}, and this one is {VERSION}; --install copies this one, --remote-program \
             names another",
            session.host, program, probed.version
        ))
    }

    fn print_ready(&self, programs: &[(String, Probed)]) -> Result<ExitCode> {
        let hosts = self.request.hosts.as_slice().iter().zip(programs);
        let lines: Vec<String> = hosts
            .map(|(host, (program, probed))| {
                format!("{host}: {program} is {}, {}", probed.version, probed.machine)
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
        let hosts = self.request.hosts.as_slice().iter().zip(carried_out).enumerate();
        let fetched: Vec<Fetched<'_>> = hosts
            .filter(|(_, (_, done))| done.has_database)
            .map(|(at, (host, _))| Fetched { host: host.as_str(), path: file(at) })
            .collect();
        let gathered = match fetched.is_empty() {
            true => Gathered::default(),
            false => gather::gather(&fetched, self.request.seed, db)?,
        };
        let failures: Vec<&String> =
            carried_out.iter().filter_map(|done| done.sentence.as_ref()).collect();
        gathered.taken.iter().for_each(|text| say!("{text}"));
        failures.iter().copied().chain(&gathered.refused).for_each(|text| say!("{text}"));
        let compared = compare_runs(args, &gathered, db)?;
        if !args.json && gathered.runs.len() > 1 {
            print_as_article(&gathered.runs, db)?;
        }
        Ok(match failures.is_empty() && gathered.refused.is_empty() {
            true => compared,
            false => ExitCode::from(self.failed()),
        })
    }

    fn failed(&self) -> u8 {
        if self.connections.is_interrupted() { exit::INTERRUPTED } else { exit::FAILED }
    }
}

/// Compares the RUNs, where there are several.
fn compare_runs(args: &FleetRunArgs, gathered: &Gathered, db: Option<&Path>) -> Result<ExitCode> {
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
    say!("`fsarena reference {}` sets the article beside them", article.year);
    Ok(())
}
