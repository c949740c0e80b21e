//! Invocations of one program, one after the other, how they failed, and hooks: commands of the
//! user's that are not timed, with `{mnt}` and `{data}` filled in.

use super::super::find::{Program, find, usual_dirs};
use super::super::lifetime::{StderrTail, environment, errno_in, start_in_root};
use super::kinds::{Args, Invocations, absolute, filled};
use super::products::wavs;
use crate::program::ProgramError;
use fsarena_engine::Root;
use fsarena_model::job::package_of;
use fsarena_model::work::{JobTask, OpError};
use fsarena_process::OrphanReaper;
use fsarena_process::child::set_umask;
use fsarena_process::command::ProgramCommand;
use rustix::io::Errno;
use rustix::process::Signal;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;

/// Of a program's standard error, in a report, bytes.
const STDERR_BYTES: usize = 400;

/// Why work failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The directory of the product cannot be made.
    MakeDir(String, Errno),
    /// The input cannot be listed, or holds no wav file.
    List(Errno),
    /// See [`Failure::List`].
    NoWavs,
    /// The program cannot be started or waited for.
    Start(io::Error),
    /// It ended with an error, or was killed.
    Ended(ExitStatus),
    /// It ended well, and what it made cannot be looked at.
    Product(io::Error),
}

impl Failure {
    /// For the report: of `program` in `place` (a phase, a hook), after `done` starts that ended
    /// well. To be called when no process is left that writes.
    pub fn report(
        &self,
        place: &str,
        program: &str,
        done: u64,
        stderr_tail: &mut StderrTail,
    ) -> OpError {
        let plain = |error: &io::Error| error.raw_os_error().unwrap_or(0);
        let (call, errno, words) = match self {
            Self::MakeDir(name, errno) => {
                ("mkdir", errno.raw_os_error(), format!("directory {name} cannot be made: {errno}"))
            }
            Self::List(errno) => {
                ("getdents64", errno.raw_os_error(), format!("its input cannot be listed: {errno}"))
            }
            Self::NoWavs => {
                (program, 0, "its input holds no file whose name ends in .wav".to_owned())
            }
            Self::Start(error) => {
                ("execve", plain(error), format!("{program} cannot be started: {error}"))
            }
            Self::Ended(status) => {
                let printed = stderr_tail.last_lines(STDERR_BYTES);
                let mut words = ended(program, *status);
                if !printed.is_empty() {
                    words += ": ";
                    words += &printed;
                }
                (program, errno_in(&printed), words)
            }
            Self::Product(error) => {
                ("stat", plain(error), format!("what {program} made cannot be read: {error}"))
            }
        };
        OpError {
            op_index: done,
            thread: None,
            call: call.to_owned(),
            path: ".".to_owned(),
            errno,
            text: format!("{place}: {words}"),
        }
    }
}

/// How a program ended, in words.
pub(super) fn ended(program: &str, status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        // So a shell tells that what it ran was killed; a command may have said so itself.
        (Some(code @ 129..=192), _) if program == "sh" => {
            format!(
                "sh ended with exit code {code} (perhaps what it ran was killed by signal {})",
                code - 128
            )
        }
        (Some(code), _) => format!("{program} ended with exit code {code}"),
        (None, Some(signal)) => format!("{program} was killed by signal {signal}"),
        (None, None) => format!("{program} ended with {status}"),
    }
}

pub(super) struct ProgramRuns<'a> {
    program: &'a Program,
    root: &'a Root,
    at_death: Signal,
    stderr_tail: &'a mut StderrTail,
    /// The only command, where there is one, ready before the clock runs.
    ready: Option<io::Result<ProgramCommand>>,
    /// Program and arguments of the first start.
    argv: Vec<String>,
    /// Starts that ended well.
    done: u64,
}

impl<'a> ProgramRuns<'a> {
    pub fn new(
        program: &'a Program,
        root: &'a Root,
        at_death: Signal,
        stderr_tail: &'a mut StderrTail,
    ) -> Self {
        let argv = vec![program.path().display().to_string()];
        Self { program, root, at_death, stderr_tail, ready: None, argv, done: 0 }
    }

    /// Puts together what is known before the clock runs.
    pub fn ready(&mut self, invocations: &Invocations) {
        if let Invocations::Once(args) = invocations {
            self.ready = Some(self.command(args));
        }
    }

    fn command(&mut self, args: &Args) -> io::Result<ProgramCommand> {
        if self.argv.len() == 1 {
            self.argv.extend(args.iter().map(|arg| arg.to_string_lossy().into_owned()));
        }
        let mut command = ProgramCommand::new(&self.program.trusted);
        // By its plain name, as a shell does it: so it names itself in its messages.
        environment(&mut command).arg0(&self.program.name).args(args);
        set_umask(&mut command);
        start_in_root(&mut command, self.root, self.at_death);
        self.stderr_tail.attach(&mut command)?;
        Ok(command)
    }

    /// Starts the program as often as it takes; the number of wav files, where there are such.
    pub fn all(&mut self, task: &JobTask, invocations: &Invocations) -> Result<u64, Failure> {
        match invocations {
            Invocations::Once(args) => self.once(args).map(|()| 0),
            Invocations::OverWavs(args_of) => {
                let names = wavs(self.root, &task.input).map_err(Failure::List)?;
                if names.is_empty() {
                    return Err(Failure::NoWavs);
                }
                for args in args_of(task, &names) {
                    self.once(&args)?;
                }
                Ok(names.len() as u64)
            }
        }
    }

    /// Starts the program with `args`, or the command that was made ready, and waits for its end.
    pub fn once(&mut self, args: &Args) -> Result<(), Failure> {
        let command = self.ready.take().unwrap_or_else(|| self.command(args));
        let mut child = command.and_then(|mut command| command.spawn()).map_err(Failure::Start)?;
        let status = self.stderr_tail.wait_for(&mut child).map_err(Failure::Start)?;
        if !status.success() {
            return Err(Failure::Ended(status));
        }
        self.done += 1;
        Ok(())
    }

    /// Starts that ended well.
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Program and arguments of the first start.
    pub fn into_argv(self) -> Vec<String> {
        self.argv
    }
}

/// A hook of a command, ready to run; not timed.
#[derive(Debug)]
pub struct HookRun {
    shell: Program,
    args: Args,
    stderr_tail: StderrTail,
}

impl HookRun {
    /// Fills `command` in; `data` is the source, relative to `root` or absolute. Touches nothing
    /// below the root.
    ///
    /// # Errors
    /// When a word in braces has no meaning, or there is no shell.
    pub fn prepare(command: &str, data: &Path, root: &Path) -> Result<Self, ProgramError> {
        let args = vec!["-c".into(), filled(command, &absolute(root)?, data)?];
        let shell = find("sh", &usual_dirs(), package_of("sh"))?;
        let run = |source| ProgramError::Run { program: shell.path().to_owned(), source };
        let stderr_tail = StderrTail::new().map_err(run)?;
        Ok(Self { shell, args, stderr_tail })
    }

    /// Runs it with `root` as its working directory, and ends what it leaves in the background.
    ///
    /// # Errors
    /// When it fails: its exit code or signal, and the end of its standard error.
    pub fn run(mut self, root: &Root) -> Result<(), OpError> {
        let orphans = OrphanReaper::mark();
        let mut program_runs =
            ProgramRuns::new(&self.shell, root, Signal::KILL, &mut self.stderr_tail);
        let outcome = program_runs.once(&self.args);
        orphans.end();
        outcome.map_err(|failure| failure.report("hook", "sh", 0, &mut self.stderr_tail))
    }
}
