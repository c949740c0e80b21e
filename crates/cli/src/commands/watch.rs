//! `fsarena watch`: a device, live and recorded, while another application uses it.

mod output;

use super::loaded::{Identity, LoadedRun};
use super::{open, show};
use crate::args::WatchArgs;
use crate::context::{self, Usage, exit};
use anyhow::{Context as _, Result};
use fsarena_metrics::{KernelRoots, boot_id, monotonic_ns};
use fsarena_model::record::Outcome;
use fsarena_model::run::{RunHeader, RunSession, RunState};
use fsarena_model::units::Nanos;
use fsarena_store::{RunId, Store};
use fsarena_watch::journal::{self, Journal, Opening};
use fsarena_watch::{EVERY_MAX_NS, EVERY_MIN_NS, State, Terms, WatchSession, WatchTarget, Watcher};
use output::{LineOutput, LiveOutput, Output};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A deadline this near has come, ns.
const SLACK_NS: u64 = 1_000_000;

/// Watches until it is told to stop.
pub fn run(args: &WatchArgs, db: Option<&Path>) -> Result<ExitCode> {
    let every_ns = every(&args.every)?;
    let for_ns = args.length.as_deref().map(|text| length(text, every_ns)).transpose()?;
    let target = fsarena_watch::find(&KernelRoots::default(), &args.path)
        .map_err(|error| Usage(error.to_string()))?;
    // The database is opened before anything is watched: it may not be writable.
    let store = open::for_writing(db)?;
    let header = fsarena_watch::header(&target, &terms(args, every_ns));
    let mut stored = StoredWatch::begin(store, header, &target, every_ns)?;
    let stop = stop_flag()?;
    let state = State::new(target.clone(), every_ns, for_ns, format!("RUN {}", stored.run));
    let is_live = std::io::stdout().is_terminal() && !args.json;
    let ended = (|| {
        let watcher = stored.watcher(target, every_ns)?;
        let mut output: Box<dyn Output> = match is_live {
            true => Box::new(LiveOutput::open(state)?),
            false => Box::new(LineOutput::open(args.json)?),
        };
        Ok::<_, anyhow::Error>(watch_until_end(watcher, output.as_mut(), for_ns, &stop))
    })();
    let (session, journal, end) = match ended {
        Ok(ended) => ended,
        Err(error) => {
            stored.failed(&error);
            return Err(error);
        }
    };
    stored.store(&session, journal, &end)?;
    stored.print_summary(&session, &end);
    if is_live {
        // The tables stay in the terminal.
        let loaded = LoadedRun::read(&stored.store, stored.run, Identity::Kept)?;
        show::show(&loaded, show::Output::TABLES, None)?;
    }
    Ok(match end {
        WatchEnd::Gone(_) => ExitCode::from(exit::FAILED),
        WatchEnd::Asked | WatchEnd::Time => ExitCode::SUCCESS,
    })
}

/// `--every`.
fn every(text: &str) -> Result<u64> {
    let bad = |why: &str| Usage(format!("--every {text}: {why}"));
    let Nanos(ns) = text.parse().map_err(|error| bad(&format!("{error}")))?;
    if ns < EVERY_MIN_NS {
        return Err(bad("is under 100ms: watching would disturb what is watched").into());
    }
    if ns > EVERY_MAX_NS {
        return Err(bad("is over 1h").into());
    }
    Ok(ns)
}

/// `--for`.
fn length(text: &str, every_ns: u64) -> Result<u64> {
    let bad = |why: String| Usage(format!("--for {text}: {why}"));
    let Nanos(ns) = text.parse().map_err(|error| bad(format!("{error}")))?;
    if ns < every_ns {
        return Err(bad(format!("is shorter than --every {}", Nanos(every_ns))).into());
    }
    Ok(ns)
}

fn terms(args: &WatchArgs, every_ns: u64) -> Terms {
    let now_unix_ns = fsarena_metrics::realtime_ns();
    let title = args.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    Terms {
        uid: context::new_uid(now_unix_ns),
        now_unix_ns,
        program_version: env!("CARGO_PKG_VERSION").to_owned(),
        arguments: std::env::args().collect(),
        title: title.map(str::to_owned),
        host: fsarena_metrics::host(&KernelRoots::default()),
        every_ns,
    }
}

/// Set by the first of these signals; the watch then ends as with `q`.
fn stop_flag() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("signals")?;
    }
    Ok(stop)
}

/// How a watch ended.
enum WatchEnd {
    /// The user or the system asked for it, or the reader of the lines is gone.
    Asked,
    /// Its time was up.
    Time,
    /// The device disappeared, or its counters cannot be read any more.
    Gone(String),
}

/// From the first sample to the last.
fn watch_until_end(
    mut watcher: Watcher,
    output: &mut dyn Output,
    for_ns: Option<u64>,
    stop: &AtomicBool,
) -> (WatchSession, Option<Journal>, WatchEnd) {
    let end_ns = for_ns.map(|ns| watcher.due_ns().saturating_add(ns));
    let end = loop {
        match watcher.tick() {
            Ok(tick) => {
                if output.show(tick, &watcher).is_err() {
                    break WatchEnd::Asked;
                }
            }
            Err(gone) => break WatchEnd::Gone(gone),
        }
        if end_ns.is_some_and(|end_ns| monotonic_ns() + SLACK_NS >= end_ns) {
            break WatchEnd::Time;
        }
        let until_ns = watcher.due_ns().min(end_ns.unwrap_or(u64::MAX));
        match output.wait(until_ns, stop) {
            Ok(true) => {}
            // One more sample, so that the record reaches to the end.
            Ok(false) | Err(_) => {
                break watcher.tick().map_or_else(WatchEnd::Gone, |_| WatchEnd::Asked);
            }
        }
    };
    let (session, journal) = watcher.end();
    (session, journal, end)
}

/// The RUN, and the journal that keeps its samples until they are stored.
struct StoredWatch {
    store: Store,
    run: RunId,
    header: RunHeader,
    state_dir: PathBuf,
    journal: Option<Journal>,
    started_unix_ns: u64,
}

impl StoredWatch {
    fn begin(store: Store, header: RunHeader, target: &WatchTarget, every_ns: u64) -> Result<Self> {
        let state_dir = context::state_dir()?;
        let started_unix_ns = fsarena_metrics::realtime_ns();
        let database = std::path::absolute(store.path())?;
        let opening = Opening::new(&header.uid, &database, target, every_ns, started_unix_ns);
        // Before the RUN, so that no RUN is without a journal of its samples.
        let journal = Journal::begin(&state_dir, &opening)?;
        let file = journal::file_of(&state_dir, &header.uid);
        let create_run = || -> Result<RunId> {
            let run = store.create_run(&header, &fsarena_runner::this_process())?;
            let boot_id = boot_id(&KernelRoots::default()).unwrap_or_default();
            store.put_session(run, &RunSession { started_unix_ns, boot_id, first_sequence: 0 })?;
            Ok(run)
        };
        let run = create_run().inspect_err(|_| drop(std::fs::remove_file(&file)))?;
        Ok(Self { store, run, header, state_dir, journal: Some(journal), started_unix_ns })
    }

    fn watcher(&mut self, target: WatchTarget, every_ns: u64) -> Result<Watcher> {
        let journal = self.journal.take();
        let roots = KernelRoots::default();
        Ok(Watcher::open(&roots, target, every_ns, self.started_unix_ns, journal)?)
    }

    fn file(&self) -> PathBuf {
        journal::file_of(&self.state_dir, &self.header.uid)
    }

    /// Marks the RUN as failed: nothing was watched.
    fn failed(&self, error: &anyhow::Error) {
        let _ = self.store.set_state(self.run, RunState::Failed, Some(&context::reason(error)));
        let _ = std::fs::remove_file(self.file());
    }

    /// Stores the record. Where that fails the file stays, and the next command stores it. The
    /// lock of the file is held until then, so that no other command takes the watch for dead.
    fn store(
        &self,
        session: &WatchSession,
        journal: Option<Journal>,
        end: &WatchEnd,
    ) -> Result<()> {
        let outcome = match end {
            WatchEnd::Asked | WatchEnd::Time => Outcome::Done,
            WatchEnd::Gone(gone) => {
                let error = gone.clone();
                Outcome::Failed { step: "watch".to_owned(), error, remedy: None }
            }
        };
        let record = fsarena_watch::record(&self.header, session, outcome, None);
        let store_record = || -> Result<()> {
            self.store.put_record(self.run, &record)?;
            let (state, note) = fsarena_watch::standing(&record);
            Ok(self.store.set_state(self.run, state, note.as_deref())?)
        };
        store_record().with_context(|| {
            format!(
                "{} keeps the samples; the next fsarena command on this database stores them",
                self.file().display()
            )
        })?;
        let _ = std::fs::remove_file(self.file());
        drop(journal);
        Ok(())
    }

    fn print_summary(&self, session: &WatchSession, end: &WatchEnd) {
        if let WatchEnd::Gone(gone) = end {
            say!("fsarena: {gone}");
        }
        let (what, length) = (session.target.path.display(), Nanos(session.length_ns()));
        let run = self.run;
        say!("watched {what} for {length}, {} samples: RUN {run}", session.cost.samples);
        if let Some(share) = session.cost.share() {
            say!("watch itself used {:.2} % of one CPU core", share * 100.0);
        }
        if let Some(error) = &session.journal_error {
            say!("samples could not be saved to disk meanwhile: {error}");
        }
    }
}
