//! The worker process as seen by the executor: start it, let it go, hear what it measured.
//!
//! The worker is this same binary with the argument `worker`. It dies with the executor
//! (PR_SET_PDEATHSIG, set by the worker itself), and the executor kills it when asked to stop.

use crate::host_time::{AnswerLimits, HostTimeError};
use crate::stop::Stop;
use fsarena_bounded::{Bounded, TooLong};
use fsarena_model::visible;
use fsarena_model::work::{CounterFile, HostHello, LINE_MOST_BYTES, WorkerSays, WorkerSpec};
use fsarena_process::OrphanReaper;
use fsarena_process::command::ProgramCommand;
use fsarena_process::program::TrustedProgram;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use std::io::{self, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// How it is said that a worker has ended too early.
pub(crate) const WORKER_ENDED: &str = "the worker ended without a result";

/// Characters of what it says that a failure quotes.
const QUOTED_CHARS: usize = 300;
/// Of its reason why it cannot begin, which may have the last words of a program in it.
const REASON_CHARS: usize = 4096;

/// Holds the secret that a rank shares with its runner. Programs that are measured do not get it.
pub const SECRET_VARIABLE: &str = "FSARENA_SECRET";

/// Why a worker gave no result.
#[derive(Debug, thiserror::Error)]
pub enum WorkerFailure {
    /// It could not be started.
    #[error("the worker {program} could not be started: {source}")]
    Start { program: String, source: std::io::Error },
    /// It ended or said something that is not of the protocol.
    #[error("{WORKER_ENDED} ({0})")]
    Ended(String),
    /// It says more in one answer than is read.
    #[error("its answer has {0}, which no answer of fsarena has; it was not read")]
    TooLong(TooLong),
    /// It says why it could not begin.
    #[error("{0}")]
    Refused(String),
    /// It says of time what cannot be, or nothing.
    #[error(transparent)]
    HostTime(#[from] HostTimeError),
    /// A stop was asked for.
    #[error("interrupted")]
    Stopped,
    /// One rank of several.
    #[error("rank {rank} on {host}: {failure}")]
    Rank { rank: u32, host: String, failure: Box<WorkerFailure> },
    /// The agent on a host.
    #[error("the agent on {host}: {failure}")]
    Agent { host: String, failure: Box<WorkerFailure> },
}

impl WorkerFailure {
    /// It ended, or said something that is not of the protocol, which is quoted.
    pub(crate) fn ended(what: &str) -> Self {
        Self::Ended(visible::beginning(what, QUOTED_CHARS))
    }
}

/// A worker of this program on this host, which ends with this process.
pub(crate) fn local_command(program: &TrustedProgram) -> ProgramCommand {
    let mut command = ProgramCommand::new(program);
    command.args(["worker", "--parent", &std::process::id().to_string()]);
    command.env_remove(SECRET_VARIABLE);
    command
}

/// The program at the path that is the first of `argv`, with the others as its arguments.
///
/// # Errors
/// When root does not run what is there.
pub(crate) fn command_of(argv: &[String]) -> Result<ProgramCommand, WorkerFailure> {
    let (path, args) = argv.split_first().map_or(("", argv), |(first, rest)| (&**first, rest));
    let program = TrustedProgram::at(Path::new(path)).map_err(|error| WorkerFailure::Start {
        program: path.to_owned(),
        source: error.into_io(),
    })?;
    let mut command = ProgramCommand::new(&program);
    command.args(args);
    Ok(command)
}

/// A worker that has prepared everything and waits.
#[derive(Debug)]
pub struct ReadyWorker<'a> {
    child: Child,
    input: ChildStdin,
    output: Bounded<BufReader<ChildStdout>>,
    /// How long it is waited for, where it speaks for one on another host.
    limits: Option<AnswerLimits>,
    stop: &'a Stop,
    orphans: OrphanReaper,
}

impl<'a> ReadyWorker<'a> {
    /// Starts `program worker`, hands it `spec`, and waits until it is ready.
    ///
    /// # Errors
    /// When it cannot be started, refuses the spec, dies, or a stop is asked for meanwhile.
    pub fn start(
        program: &TrustedProgram,
        spec: &WorkerSpec,
        stop: &'a Stop,
    ) -> Result<Self, WorkerFailure> {
        let mut worker = Self::spawn(&mut local_command(program), stop)?;
        worker.give(spec);
        worker.wait_until_ready()?;
        Ok(worker)
    }

    /// Starts `command`, which is a worker or speaks for one on another host.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn spawn(
        command: &mut ProgramCommand,
        stop: &'a Stop,
    ) -> Result<Self, WorkerFailure> {
        let orphans = OrphanReaper::mark();
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|source| {
            let program = command.program().to_string_lossy().into_owned();
            WorkerFailure::Start { program, source }
        })?;
        stop.watch(child.id());
        let input = child.stdin.take().expect("stdin was piped");
        let output = BufReader::new(child.stdout.take().expect("stdout was piped"));
        let output = Bounded::new(output, LINE_MOST_BYTES);
        Ok(Self { child, input, output, limits: None, stop, orphans })
    }

    /// The same, which is waited for no longer than that.
    pub(crate) fn within(mut self, limits: Option<AnswerLimits>) -> Self {
        self.limits = limits;
        self
    }

    /// How long it is waited for, where it is on another host.
    pub(crate) const fn limits(&self) -> Option<AnswerLimits> {
        self.limits
    }

    /// Hands it `spec`; whether that has come to it is heard of when it is ready.
    pub(crate) fn give(&mut self, spec: &WorkerSpec) {
        self.say(&spec.to_json().expect("a spec is plain data"));
    }

    /// A worker that has died already is heard of by reading.
    pub(crate) fn say(&mut self, line: &str) {
        let _ = writeln!(self.input, "{line}");
    }

    /// Hears what the process is that speaks for it on another host: the first line of all.
    ///
    /// # Errors
    /// When it is of another version, says something else, dies, or a stop is asked for.
    pub(crate) fn hear_hello(&mut self) -> Result<HostHello, WorkerFailure> {
        let hello = match self.hear()? {
            WorkerSays::Host(hello) => hello,
            other => return Err(WorkerFailure::ended(&format!("at first it said {other:?}"))),
        };
        match hello.version_difference(env!("CARGO_PKG_VERSION")) {
            Some(why) => Err(WorkerFailure::Refused(why)),
            None => Ok(hello),
        }
    }

    /// Waits until it has prepared everything.
    ///
    /// # Errors
    /// When it refuses the spec, dies, or a stop is asked for.
    pub(crate) fn wait_until_ready(&mut self) -> Result<(), WorkerFailure> {
        match self.hear()? {
            WorkerSays::Ready => Ok(()),
            other => Err(WorkerFailure::ended(&format!("before it was ready it said {other:?}"))),
        }
    }

    /// What it answers to `line`.
    ///
    /// # Errors
    /// When it dies or a stop is asked for.
    pub(crate) fn ask(&mut self, line: &str) -> Result<WorkerSays, WorkerFailure> {
        self.say(line);
        self.hear()
    }

    /// Where it is heard, for poll(2); nothing to wait for where a line is in already.
    pub(crate) fn wait_for(&self) -> Option<PollFd<'_>> {
        (!self.is_in()).then(|| PollFd::new(self.pipe(), PollFlags::IN))
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it go and waits for the result; what it says in between is passed over.
    ///
    /// # Errors
    /// When it dies or a stop is asked for.
    pub fn go(&mut self) -> Result<WorkerSays, WorkerFailure> {
        match self.go_until_durable()? {
            WorkerSays::Durable => self.hear(),
            result => Ok(result),
        }
    }

    /// Lets it go and waits until what it did is durable ([`WorkerSays::Durable`]: the result
    /// follows), or for a result that says nothing of that.
    ///
    /// # Errors
    /// When it dies or a stop is asked for.
    pub fn go_until_durable(&mut self) -> Result<WorkerSays, WorkerFailure> {
        self.let_go();
        loop {
            match self.hear()? {
                WorkerSays::CycleEvent(_) => {}
                other => return Ok(other),
            }
        }
    }

    /// Has it run the canary loop, before or after its work; how long that took, ns.
    ///
    /// # Errors
    /// When it dies, says something else or a stop is asked for.
    pub fn canary(&mut self) -> Result<u64, WorkerFailure> {
        match self.ask("canary")? {
            WorkerSays::Canary { elapsed_ns } => Ok(elapsed_ns),
            other => Err(WorkerFailure::ended(&format!("to canary it answered {other:?}"))),
        }
    }

    /// Has it open `files`, which it reads when its work is durable.
    ///
    /// # Errors
    /// When it dies, refuses or a stop is asked for.
    pub fn read_when_durable(&mut self, files: &[CounterFile]) -> Result<(), WorkerFailure> {
        self.say(&serde_json::to_string(files).expect("a list of files is plain data"));
        self.wait_until_ready()
    }

    /// Lets it go; what it says then is for [`Self::hear_within`].
    pub fn let_go(&mut self) {
        let _ = self.input.write_all(b"go\n");
    }

    /// The next thing it says; nothing where it says nothing for so long.
    ///
    /// # Errors
    /// When it dies or a stop is asked for.
    pub fn hear_within(&mut self, wait: Duration) -> Result<Option<WorkerSays>, WorkerFailure> {
        if !self.is_in() && !self.speaks_within(wait) {
            return Ok(None);
        }
        // A line is written as a whole, so that its beginning means the rest of it.
        self.hear().map(Some)
    }

    /// Whether it has said something that was not heard yet, or has ended.
    #[must_use]
    pub fn has_spoken(&self) -> bool {
        self.is_in() || self.speaks_within(Duration::ZERO)
    }

    fn pipe(&self) -> &ChildStdout {
        self.output.get_ref().get_ref()
    }

    /// Whether something it said was read and not heard yet.
    fn is_in(&self) -> bool {
        !self.output.get_ref().buffer().is_empty()
    }

    fn speaks_within(&self, wait: Duration) -> bool {
        let mut pipe = [PollFd::new(self.pipe(), PollFlags::IN)];
        let wait = Timespec::try_from(wait).ok();
        // What cannot be waited for is heard of by reading; a signal is no word of the worker's.
        match poll(&mut pipe, wait.as_ref()) {
            Ok(ready) => ready > 0,
            Err(errno) => errno != Errno::INTR,
        }
    }

    /// The next thing it says.
    ///
    /// # Errors
    /// When it dies, a stop is asked for, or another host takes too long.
    pub fn hear(&mut self) -> Result<WorkerSays, WorkerFailure> {
        self.hear_awaited("an answer", self.limits.map(|limits| limits.answer))
    }

    /// The next thing it says, which needs work.
    ///
    /// # Errors
    /// As [`Self::hear`].
    pub(crate) fn hear_worked(&mut self) -> Result<WorkerSays, WorkerFailure> {
        self.hear_awaited("that it has done its work", self.limits.map(|limits| limits.work))
    }

    fn hear_awaited(
        &mut self,
        awaited: &'static str,
        limit: Option<Duration>,
    ) -> Result<WorkerSays, WorkerFailure> {
        let heard = match limit.map(|limit| Instant::now() + limit) {
            None => self.output.next_text_line(),
            Some(until) => self.output.next_text_line_when(|pipe| wait_until(pipe, until)),
        };
        if self.stop.asked() {
            return Err(WorkerFailure::Stopped);
        }
        let line = match heard {
            Ok(Some(line)) => line,
            Ok(None) => return Err(WorkerFailure::Ended(self.last_words())),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                let limit = limit.unwrap_or_default();
                return Err(HostTimeError::Silent { awaited, limit }.into());
            }
            Err(error) => {
                let ended = || WorkerFailure::Ended(error.to_string());
                return Err(TooLong::in_error(&error).map_or_else(ended, WorkerFailure::TooLong));
            }
        };
        match serde_json::from_str(&line) {
            Ok(WorkerSays::Refused(reason)) => Err(WorkerFailure::Refused(cut(reason))),
            Ok(says) => Ok(says),
            Err(error) => Err(WorkerFailure::ended(&format!("bad answer: {error}"))),
        }
    }

    fn last_words(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

/// A worker that ends takes all younger children of its process with it: tests that start some take
/// turns.
#[cfg(test)]
pub(crate) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Waits for something to read, or the end of it.
///
/// # Errors
/// `TimedOut` where nothing came until then.
fn wait_until(pipe: &ChildStdout, until: Instant) -> io::Result<()> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], wait.as_ref()) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// A reason, of which what is far longer than any of ours is left out.
fn cut(mut reason: String) -> String {
    if let Some((end, _)) = reason.char_indices().nth(REASON_CHARS) {
        reason.truncate(end);
        reason.push('…');
    }
    reason
}

impl Drop for ReadyWorker<'_> {
    fn drop(&mut self) {
        self.stop.unwatch(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.orphans.end();
    }
}
