//! All hosts at work, side by side or one after the other.

use crate::connections::Connections;
use crate::session::{CarriedOut, OwnProgram, Session, VERSION};
use crate::task::{FleetTask, ReadyHost};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Who shows what is done with the hosts, each by its place in the list. Called from several
/// threads.
pub trait Progress: Send + Sync {
    /// What is done with a host now.
    fn show_state(&self, host: usize, text: &str);
    /// A line that `fsarena run` has printed on a host.
    fn line_of_run(&self, host: usize, line: &str);
}

/// All hosts, and what they share.
pub struct Fleet<'a> {
    task: &'a FleetTask,
    connections: &'a Connections,
    progress: Arc<dyn Progress>,
    /// Begins what is said by our scripts.
    token: &'a str,
}

/// Ends the watch over the connections, also where the work panics.
struct EndOfWork<'a>(&'a AtomicBool);

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Fleet<'_> {
    /// Does `work` with a fleet. `interrupts` counts the wishes to stop: the first ends the RUNs,
    /// the second every ssh. `token` is used once.
    pub fn with<T>(
        task: &FleetTask,
        interrupts: Arc<AtomicUsize>,
        progress: Arc<dyn Progress>,
        token: &str,
        work: impl FnOnce(&Fleet<'_>) -> T,
    ) -> T {
        let connections = Connections::new(interrupts);
        let is_done = AtomicBool::new(false);
        let fleet = Fleet { task, connections: &connections, progress, token };
        std::thread::scope(|scope| {
            scope.spawn(|| connections.watch(&is_done));
            let _end = EndOfWork(&is_done);
            work(&fleet)
        })
    }

    /// Whether the user wants to stop.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.connections.is_interrupted()
    }

    /// Finds the program of each host, or copies `own`; in place of a host that is not ready a
    /// sentence that names it. Nothing is begun.
    #[must_use]
    pub fn make_ready(&self, own: Option<&OwnProgram>) -> Vec<Result<ReadyHost, String>> {
        self.on_each(false, |host, session| self.make_one_ready(host, session, own))
    }

    /// Carries out the RUN on each of the hosts, which are those of [`Fleet::make_ready`]; the
    /// database of each goes to the new file that `file` names.
    pub fn carry_out(
        &self,
        ready: &[ReadyHost],
        one_at_a_time: bool,
        file: &(dyn Fn(usize) -> PathBuf + Sync),
    ) -> Vec<CarriedOut> {
        self.on_each(one_at_a_time, |host, session| {
            let progress = Arc::clone(&self.progress);
            self.progress.show_state(host, "starting");
            let take_line = Box::new(move |line: &str| progress.line_of_run(host, line));
            let done = session.carry_out(&ready[host].program, &file(host), take_line);
            let state = if done.has_database { "results are here" } else { "failed" };
            self.progress.show_state(host, state);
            done
        })
    }

    /// Does the same with each host, side by side or one after the other; results in their order.
    fn on_each<T: Send>(
        &self,
        one_at_a_time: bool,
        work: impl Fn(usize, Session<'_>) -> T + Sync,
    ) -> Vec<T> {
        let one = |host: usize| {
            let session = Session {
                host: &self.task.hosts.as_slice()[host],
                task: self.task,
                connections: self.connections,
                token: self.token,
            };
            work(host, session)
        };
        let all = 0..self.task.hosts.as_slice().len();
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
    fn make_one_ready(
        &self,
        host: usize,
        session: Session<'_>,
        own: Option<&OwnProgram>,
    ) -> Result<ReadyHost, String> {
        self.progress.show_state(host, "is asked for its version");
        let program = match own {
            Some(own) => session.install(own, &|text| self.progress.show_state(host, text))?,
            None => self.task.program.clone(),
        };
        let ready = session.probe(&program)?;
        if ready.version == VERSION {
            self.progress.show_state(host, "is ready");
            return Ok(ready);
        }
        Err(format!(
            "{}: {} is {}, and this one is {VERSION}; --install copies this one, --remote-program \
             names another",
            session.host, program, ready.version
        ))
    }
}
