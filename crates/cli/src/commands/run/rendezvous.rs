//! `run --rendezvous`: waits for the ranks of an allocation, which come by themselves.

use crate::args::RunArgs;
use crate::commands::remote::{self, FoundSecret};
use crate::context::{self, Interrupted, Usage};
use anyhow::{Context as _, Result};
use fsarena_executor::work_limit_ns;
use fsarena_hosts::allocation::listening_address;
use fsarena_hosts::{Event, Listening, REQUESTS, Rendezvous, Secret, listen, quoted};
use fsarena_metrics::KernelRoots;
use fsarena_model::spec::RankHost;
use fsarena_process::private::PrivateListener;
use fsarena_runner::JournaledDir;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Until all ranks are there, where nothing else is said.
const LIMIT: &str = "10m";
/// More ranks than that are not told of one by one.
const TOLD_MOST: u32 = 16;
/// More refusals than that are not told of: anybody may dial.
const REFUSALS_MOST: usize = 20;
/// Name of the file with a secret of our own.
const SECRET: &str = "secret";

/// The ranks of an allocation, all of which have dialled. When it goes, they are told that the RUN
/// is not done, unless [`Allocation::end`] has said more.
pub(super) struct Allocation {
    rendezvous: Rendezvous,
    dir: JournaledDir,
}

impl Allocation {
    /// Listens, and waits until all `size` ranks are there; with the host of each.
    ///
    /// # Errors
    /// When the port is in use, the secret is none, ranks do not come in time, or a stop is asked
    /// for.
    pub(super) fn wait(
        args: &RunArgs,
        (at, size): (&str, u32),
        database: &Path,
    ) -> Result<(Self, Vec<RankHost>)> {
        let limit = args.rendezvous_limit.as_deref().unwrap_or(LIMIT);
        let limit_time = remote::time_limit("--rendezvous-limit", limit)?;
        let listener = listener(at)?;
        let interrupts = context::count_interrupts()?;
        let dir = own_dir(database)?;
        let found = match remote::secret(args.secret_file.as_deref())? {
            Some(found) => found,
            None => new_secret(&dir)?,
        };
        let is_told =
            !args.quiet || found.file.as_ref().is_some_and(|at| at.starts_with(dir.path()));
        let command = rank_command(&listener, &found)?;
        let requests = PrivateListener::bind(&dir.short_path().join(REQUESTS))
            .with_context(|| format!("a socket in {}", dir.path().display()))?;
        let arch = fsarena_metrics::host(&KernelRoots::default()).architecture;
        let version = env!("CARGO_PKG_VERSION");
        let listening = Listening { listener, requests, secret: found.secret, size, version, arch };
        let is_waiting = Arc::new(AtomicBool::new(true));
        let teller =
            RendezvousReporter { is_waiting: Arc::clone(&is_waiting), is_quiet: args.quiet, size };
        let rendezvous = Rendezvous::start(listening, teller.reporter()).context("--rendezvous")?;
        let allocation = Self { rendezvous, dir };
        if is_told {
            say!(
                "waiting up to {limit} for {size} ranks; start them by one of\n  srun -n {size} \
                 {command}\n  mpirun -np {size} {command}"
            );
        }
        let is_stopped = || interrupts.load(Ordering::SeqCst) > 0;
        let came = allocation.rendezvous.ranks().wait_for_all(limit_time, is_stopped);
        is_waiting.store(false, Ordering::SeqCst);
        match came {
            Ok(names) => {
                let hosts = allocation.rank_hosts(names)?;
                Ok((allocation, hosts))
            }
            Err(_) if is_stopped() => Err(Interrupted.into()),
            Err(missing) => refuse!(
                "--rendezvous {at}: of {size} ranks {} did not come within {limit}; see what they \
                 say where they were started, or name a longer --rendezvous-limit",
                numbers(&missing)
            ),
        }
    }

    /// Each rank with the command that speaks for it here.
    fn rank_hosts(&self, names: Vec<String>) -> Result<Vec<RankHost>> {
        let dir =
            self.dir.path().to_str().context("the state directory has a name that is no text")?;
        let program = context::program().path().display().to_string();
        let host = |(rank, name): (usize, String)| {
            let words = [&*program, "rank-connection", dir, &rank.to_string()];
            let argv = words.map(str::to_owned).to_vec();
            RankHost { name, argv, work_limit_ns: work_limit_ns(0), agent: None }
        };
        Ok(names.into_iter().enumerate().map(host).collect())
    }

    /// Tells the ranks that the runner ends, and whether its RUN was done.
    pub(super) fn end(&self, done: bool) {
        self.rendezvous.ranks().end(done);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.end(false);
    }
}

/// Refuses what is wrong with the options alone, before anything waits.
///
/// # Errors
/// When the address, the limit or the secret is none.
pub(super) fn check(args: &RunArgs, at: &str) -> Result<()> {
    listening_address(at).map_err(|error| Usage(error.to_string()))?;
    remote::time_limit("--rendezvous-limit", args.rendezvous_limit.as_deref().unwrap_or(LIMIT))?;
    remote::secret(args.secret_file.as_deref())?;
    Ok(())
}

fn listener(at: &str) -> Result<TcpListener> {
    let (address, port) = listening_address(at).map_err(|error| Usage(error.to_string()))?;
    listen(address.as_deref(), port).map_err(|error| {
        let what = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "another process listens there, such as another `fsarena run`; name another port"
                    .to_owned()
            }
            _ => format!("{error}; name a free port, and an address of this machine or none"),
        };
        Usage(format!("--rendezvous {at}: {what}")).into()
    })
}

/// A directory for the secret and a socket.
fn own_dir(database: &Path) -> Result<JournaledDir> {
    let name = format!("rendezvous-{}", context::new_uid(fsarena_metrics::realtime_ns()));
    Ok(JournaledDir::make(&context::state_dir()?, &name, database)?)
}

fn new_secret(dir: &JournaledDir) -> Result<FoundSecret> {
    let secret = Secret::random().context("a new secret")?;
    let file = dir.path().join(SECRET);
    secret.write_new(&file).with_context(|| file.display().to_string())?;
    Ok(FoundSecret { secret, file: Some(file) })
}

/// What a launcher has to start.
fn rank_command(listener: &TcpListener, found: &FoundSecret) -> Result<String> {
    let at = listener.local_addr().context("--rendezvous")?;
    let runner = match at.ip().is_unspecified() {
        true => {
            format!("{}:{}", fsarena_metrics::host(&KernelRoots::default()).hostname, at.port())
        }
        false => at.to_string(),
    };
    let mut command = format!("fsarena rank --rendezvous {}", quoted(&runner));
    if let Some(file) = &found.file {
        command.push_str(&format!(" --secret-file {}", quoted(&file.display().to_string())));
    }
    Ok(command)
}

/// Tells the user what happens at the port, as long as ranks are waited for.
struct RendezvousReporter {
    is_waiting: Arc<AtomicBool>,
    is_quiet: bool,
    size: u32,
}

impl RendezvousReporter {
    fn reporter(self) -> impl Fn(Event) + Send + Sync + 'static {
        let refusals = AtomicUsize::new(0);
        move |event| {
            if !self.is_waiting.load(Ordering::SeqCst) {
                return;
            }
            match event {
                Event::Arrived(arrival) if self.size <= TOLD_MOST && !self.is_quiet => {
                    say!("rank {} is on {}", arrival.identity.rank, arrival.host.hostname);
                }
                Event::Arrived(_) => {}
                Event::Refused { peer, why } => match refusals.fetch_add(1, Ordering::SeqCst) {
                    told if told < REFUSALS_MOST => say!("refused {peer}: {why}"),
                    REFUSALS_MOST => say!("more are refused, and not named"),
                    _ => {}
                },
            }
        }
    }
}

/// "1, 2 and 5".
fn numbers(ranks: &[u32]) -> String {
    let texts: Vec<String> = ranks.iter().take(TOLD_MOST as usize).map(u32::to_string).collect();
    match (texts.split_last(), ranks.len() - texts.len()) {
        (None, _) => String::new(),
        (Some((last, [])), 0) => format!("rank {last}"),
        (Some((last, rest)), 0) => format!("ranks {} and {last}", rest.join(", ")),
        (Some(_), more) => format!("ranks {} and {more} more", texts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_ranks_are_named() {
        assert_eq!(numbers(&[3]), "rank 3");
        assert_eq!(numbers(&[0, 2, 5]), "ranks 0, 2 and 5");
        let many: Vec<u32> = (0..20).collect();
        assert!(numbers(&many).ends_with("14, 15 and 4 more"), "{}", numbers(&many));
    }
}
