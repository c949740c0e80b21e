//! One start of the program: under way, and at its end.

use super::terminal::Terminal;
use anyhow::{Context as _, Result, bail};
use fsarena_testkit::fixture::Fixture;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// No start takes this long, also where the database is locked, or executors of the dead are waited
/// for.
const LIMIT: Duration = Duration::from_secs(150);

/// What a start is made of.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// The program of users.
    pub(super) program: PathBuf,
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// A program with its arguments that starts it; empty for none.
    pub(super) through: Vec<String>,
    /// Variables besides those of the fixture.
    pub(super) variables: Vec<(&'static str, String)>,
    /// Whether it has a terminal, and whether that is its standard error as well.
    pub(super) terminal: Option<bool>,
}

/// A started program.
pub(super) struct Live {
    pub(super) fixture: Fixture,
    child: Child,
    out: PathBuf,
    err: PathBuf,
    began: Instant,
    terminal: Option<Terminal>,
    stop: Arc<AtomicBool>,
}

/// A program that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// How; absent where it had to be killed because it did not end.
    pub(super) status: Option<ExitStatus>,
}

impl Start {
    /// Starts it; what it prints goes to files called `name` in the fixture.
    pub(super) fn begin(
        &self,
        fixture: &Fixture,
        name: &str,
        stop: &Arc<AtomicBool>,
    ) -> Result<Live> {
        let words: Vec<String> =
            [self.through.clone(), vec![self.program.display().to_string()], self.args.clone()]
                .concat();
        let (first, rest) = words.split_first().expect("there is a program");
        let mut command = Command::new(first);
        fixture.set_environment(command.args(rest));
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        let out = fixture.dir.join(format!("{name}.out"));
        let err = fixture.dir.join(format!("{name}.err"));
        let create = |path: &Path| File::create(path).with_context(|| path.display().to_string());
        command.stdin(Stdio::null()).stdout(create(&out)?);
        let mut terminal = None;
        match self.terminal {
            // It makes itself the leader of a session, and may not be one of a group before.
            Some(is_stderr) => {
                let shown = if is_stderr { err.clone() } else { err.with_extension("terminal") };
                let (opened, user) = Terminal::open(create(&shown)?)?;
                command.stdin(user.try_clone()?);
                if is_stderr {
                    command.stderr(user);
                } else {
                    command.stderr(create(&err)?);
                }
                terminal = Some(opened);
            }
            None => {
                command.stderr(create(&err)?).process_group(0);
            }
        }
        let child = command.spawn().with_context(|| first.clone())?;
        let (began, stop) = (Instant::now(), Arc::clone(stop));
        Ok(Live { fixture: fixture.clone(), child, out, err, began, terminal, stop })
    }
}

impl Live {
    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// What it has said on standard error so far.
    pub(super) fn stderr(&self) -> String {
        read(&self.err)
    }

    /// Looks again and again until there is something; `None` where it ends before, or `limit` is
    /// over.
    pub(super) fn poll<T>(
        &mut self,
        limit: Duration,
        mut look: impl FnMut(&Self) -> Option<T>,
    ) -> Result<Option<T>> {
        let until = Instant::now() + limit;
        loop {
            if let Some(terminal) = &mut self.terminal {
                terminal.read();
            }
            if let Some(found) = look(self) {
                return Ok(Some(found));
            }
            if self.child.try_wait()?.is_some() || Instant::now() >= until {
                return Ok(None);
            }
            if self.stop.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets it work for so long; false where it ended before.
    pub(super) fn work_for(&mut self, length: Duration) -> Result<bool> {
        let until = Instant::now() + length;
        Ok(self.poll(LIMIT, |_| (Instant::now() >= until).then_some(()))?.is_some())
    }

    /// Time since it was started.
    pub(super) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// Takes its terminal away.
    pub(super) fn hang_up(&mut self) {
        self.terminal = None;
    }

    /// Interrupts it as Ctrl-C does, where it has not ended within `grace`.
    pub(super) fn interrupt_after(&mut self, grace: Duration) -> Result<()> {
        self.poll(grace, |_| None::<()>)?;
        if self.child.try_wait()?.is_none() {
            // Gone by now is as good.
            let _ = kill_process(self.pid(), Signal::INT);
        }
        Ok(())
    }

    /// Waits for its end.
    pub(super) fn end(mut self) -> Result<Ended> {
        let left = LIMIT.saturating_sub(self.age());
        self.poll(left, |_| None::<()>)?;
        let status = self.child.try_wait()?;
        if status.is_none() {
            kill_all(&self.fixture);
            self.child.wait()?;
        }
        Ok(Ended { stdout: read(&self.out), stderr: read(&self.err), status })
    }
}

impl Drop for Live {
    /// Only where a case was broken off.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Ended {
    /// How it ended, as a shell says it.
    pub(super) fn describe(&self) -> String {
        match self.status.map(|status| (status.code(), status.signal())) {
            Some((Some(code), _)) => format!("exit code {code}"),
            Some((_, Some(signal))) => format!("ended by signal {signal}"),
            _ => format!("did not end within {} s", LIMIT.as_secs()),
        }
    }

    pub(super) fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    pub(super) fn signal(&self) -> Option<i32> {
        self.status.and_then(|status| status.signal())
    }

    /// Everything it said.
    pub(super) fn text(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// `kill -9` of all processes of the fixture.
pub(super) fn kill_all(fixture: &Fixture) {
    for pid in fixture.processes().into_iter().chain(fixture.guests()) {
        // Gone already is as good.
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(fixture: &Fixture, script: &str) -> Live {
        let start = Start {
            program: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
            through: Vec::new(),
            variables: Vec::new(),
            terminal: None,
        };
        start.begin(fixture, "run", &Arc::default()).unwrap()
    }

    #[test]
    fn ends_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(dir.path());
        let ended = |script: &str| shell(&fixture, script).end().unwrap();
        assert_eq!(ended("exit 3").code(), Some(3));
        assert_eq!(ended("kill -9 $$").signal(), Some(9));
        let said = ended("echo a; echo b >&2");
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("a\n", "b\n"));
        assert_eq!(said.describe(), "exit code 0");
    }

    #[test]
    fn what_is_waited_for_comes_or_the_program_ends_before() {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(dir.path());
        let mut live = shell(&fixture, "echo there >&2; exec sleep 600");
        let there = |live: &Live| live.stderr().contains("there").then_some(());
        assert!(live.poll(LIMIT, there).unwrap().is_some());
        assert!(live.work_for(Duration::from_millis(1)).unwrap());
        kill_all(&fixture);
        assert!(!live.work_for(LIMIT).unwrap());
        assert_eq!(live.end().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_wish_to_stop_breaks_the_wait_off() {
        let dir = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(dir.path());
        let mut live = shell(&fixture, "exec sleep 600");
        live.stop.store(true, Ordering::Relaxed);
        assert_eq!(live.work_for(LIMIT).unwrap_err().to_string(), "interrupted");
    }
}
