//! Starts the programs of the steps, each in its own process group, and ends them in time.
//!
//! Programs get no stdin. What they print goes into a file under `target/xtask`, stdout and stderr
//! in the order in which they were written. Ctrl-C and the end of the time stop the whole group,
//! first with a polite signal, so that tests can put their mounts away.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use fsarena_process::cmd;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Asks tests for every file system; see `full` in the end-to-end tests.
const FULL: &str = "FSARENA_FULL";
/// How often a running program is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often a long step says that it is alive.
const SPEAK_EVERY: Duration = Duration::from_secs(60);
/// What a program gets between the polite signal and the other one.
const GRACE: Duration = Duration::from_secs(10);

/// The frame all programs run in: place, time and the wish to stop.
pub struct Session {
    /// The root of the checkout.
    pub root: PathBuf,
    logs: PathBuf,
    started: Instant,
    deadline: Instant,
    stop: Arc<AtomicBool>,
    /// Tests go through every file system, not only those that stand for the others.
    pub full: bool,
}

/// How a program came to its end.
#[derive(Debug)]
pub enum End {
    /// It ended with exit code 0.
    Good,
    /// It ended by itself with something else; the words say with what.
    Bad(String),
    /// It was stopped, or never started; the words say why.
    Stopped(String),
}

/// A program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub end: End,
    /// Everything it printed.
    pub text: String,
}

/// A program that runs.
pub struct Job {
    child: Child,
    log: PathBuf,
    started: Instant,
    /// Nobody waited for it, so it must not stay behind.
    waited: bool,
}

/// A program to be run, in the root of the checkout if nothing else is said.
pub fn call(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env("CARGO_TERM_COLOR", "never").env("CARGO_TERM_PROGRESS_WHEN", "never");
    command
}

/// The cargo that runs this task.
pub fn cargo() -> Command {
    call(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The same, behind other programs in priority.
pub fn cargo_behind(niceness: &str) -> Command {
    let mut command = call("nice");
    command.args(["-n", niceness]).arg(cargo().get_program());
    command
}

impl Session {
    /// Starts the clock; Ctrl-C and SIGTERM stop the session from here on.
    pub fn start(root: PathBuf, time_max: Duration, full: bool) -> anyhow::Result<Session> {
        let logs = root.join("target/xtask");
        std::fs::create_dir_all(&logs)
            .with_context(|| format!("cannot create {}", logs.display()))?;
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&stop))
                .context("cannot listen to signals")?;
        }
        let started = Instant::now();
        Ok(Session { root, logs, started, deadline: started + time_max, stop, full })
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Time until the end.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Moves the end by the time that something took which does not count.
    pub fn extend(&mut self, by: Duration) {
        self.deadline += by;
    }

    /// Why nothing more may run, if that is so.
    pub fn over(&self) -> Option<String> {
        if self.stop.load(Ordering::Relaxed) {
            return Some("interrupted".to_owned());
        }
        let minutes = (self.deadline - self.started).as_secs() / 60;
        (Instant::now() >= self.deadline).then(|| format!("the {minutes} minutes are over"))
    }

    /// Runs a program to its end; `log` names the file its output goes to.
    pub fn run(&self, log: &str, command: &mut Command) -> Ended {
        match self.begin(log, command) {
            Ok(job) => self.wait(job, self.deadline),
            Err(text) => Ended { end: End::Stopped(text), text: String::new() },
        }
    }

    /// Starts a program and returns while it runs.
    pub fn begin(&self, log: &str, command: &mut Command) -> Result<Job, String> {
        let log = self.logs.join(format!("{}.log", log.replace(' ', "-")));
        let output = File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
        let (out, err) =
            output.map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        if command.get_current_dir().is_none() {
            command.current_dir(&self.root);
        }
        command.process_group(0).stdin(Stdio::null()).stdout(out).stderr(err);
        if self.full {
            command.env(FULL, "1");
        }
        match command.spawn() {
            Ok(child) => Ok(Job { child, log, started: Instant::now(), waited: false }),
            Err(error) => {
                let program = Path::new(command.get_program()).display();
                Err(format!("cannot start {program}: {error}"))
            }
        }
    }

    /// Waits for a program, until `until` at most.
    pub fn wait(&self, mut job: Job, until: Instant) -> Ended {
        let mut spoken = Instant::now();
        let end = loop {
            match job.child.try_wait() {
                Ok(Some(status)) if status.success() => break End::Good,
                Ok(Some(status)) => break End::Bad(cmd::ended_text(status)),
                Ok(None) => {}
                Err(error) => break End::Stopped(format!("cannot be waited for: {error}")),
            }
            let late = Instant::now() >= until;
            let reason = self.over().or_else(|| late.then(|| "took too long".to_owned()));
            if let Some(reason) = reason {
                job.stop();
                break End::Stopped(reason);
            }
            if spoken.elapsed() >= SPEAK_EVERY {
                spoken = Instant::now();
                println!("  still running, {} min", job.started.elapsed().as_secs() / 60);
            }
            std::thread::sleep(LOOK_EVERY);
        };
        job.waited = true;
        let bytes = std::fs::read(&job.log).unwrap_or_default();
        Ended { end, text: String::from_utf8_lossy(&bytes).into_owned() }
    }
}

impl Job {
    /// Ends the whole group, politely at first.
    fn stop(&mut self) {
        let group = Pid::from_child(&self.child);
        // It may have ended by itself a moment ago: then there is nothing to signal.
        let _ = kill_process_group(group, Signal::TERM);
        let patience = Instant::now() + GRACE;
        while Instant::now() < patience {
            let ended = !matches!(self.child.try_wait(), Ok(None));
            if ended && test_kill_process_group(group).is_err() {
                return;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if !self.waited {
            self.stop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(dir: &Path, time_max: Duration) -> Session {
        Session::start(dir.to_path_buf(), time_max, false).unwrap()
    }

    fn shell(session: &Session, script: &str) -> Ended {
        session.run("a log", call("sh").args(["-c", script]))
    }

    #[test]
    fn output_of_both_kinds_is_kept_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(dir.path(), Duration::from_secs(60));
        let ended = shell(&session, "echo a; echo b >&2; echo c");
        assert!(matches!(ended.end, End::Good));
        assert_eq!(ended.text, "a\nb\nc\n");
        assert!(dir.path().join("target/xtask/a-log.log").is_file());
    }

    #[test]
    fn bad_ends_say_how() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(dir.path(), Duration::from_secs(60));
        let end = |script| match shell(&session, script).end {
            End::Bad(text) | End::Stopped(text) => text,
            End::Good => String::new(),
        };
        assert_eq!(end("exit 3"), "exit code 3");
        assert_eq!(end("kill -9 $$"), "killed by signal 9");
        assert_eq!(end("read line || exit 4"), "exit code 4");
        let ended = session.run("none", &mut call("no-such-program"));
        let End::Stopped(text) = ended.end else { panic!("{ended:?}") };
        assert!(text.starts_with("cannot start no-such-program: "), "{text}");
    }

    #[test]
    fn the_whole_group_is_stopped_when_the_time_is_over() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(dir.path(), Duration::from_millis(200));
        let ended = shell(&session, "sleep 1000 & echo $!; wait");
        let End::Stopped(reason) = ended.end else { panic!("{ended:?}") };
        assert_eq!(reason, "the 0 minutes are over");
        let grandchild = format!("/proc/{}/cmdline", ended.text.trim());
        let gone = |_| std::fs::read(&grandchild).unwrap_or_default().is_empty();
        let waited = (0..100).any(|n| {
            std::thread::sleep(Duration::from_millis(20));
            gone(n)
        });
        assert!(waited, "{grandchild} still runs");
        assert!(session.over().is_some());
    }
}
