//! External programs: run with a fixed environment, output captured, ended by limits of time,
//! output, memory and file size.
//!
//! Output goes to anonymous memory files, not pipes: a daemon that a command leaves behind may
//! hold them open for as long as it likes. A program dies with the thread that started it.

use crate::child::end_with_parent;
use crate::command::ProgramCommand;
use crate::limits::{BrokenLimit, Limits, is_ended_by_file_size, peak_bytes};
use crate::program::TrustedProgram;
pub use crate::program::quoted;
pub use crate::search::{SearchPath, find, is_executable, why_missing};
use fsarena_bounded::Bounded;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Output of one stream, bytes; a fio job of 1000 clones prints about 8 MB.
pub(crate) const OUTPUT_MAX_BYTES: u64 = 256 << 20;
/// Of a program that has none, such as a shell command.
pub const NO_ARGS: [&str; 0] = [];
/// What is said of a program that printed more.
pub const TOO_MUCH_OUTPUT: &str = "printed more than 256 MiB, killed";
/// How often it is asked whether to stop.
const STOP_PERIOD: Duration = Duration::from_millis(100);
/// How often it is looked whether there is too much output. Programs of a moment are not disturbed.
pub(crate) const OUTPUT_PERIOD: Duration = Duration::from_secs(1);

/// A program that ended well.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ran {
    /// Its exit status; always success.
    pub status: ExitStatus,
    /// Standard output; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// From just before the start to the end.
    pub elapsed_ns: u64,
}

/// A program that did not.
#[derive(Debug, thiserror::Error)]
pub enum CmdError {
    /// It could not be started.
    #[error("{command}: cannot be started: {source}")]
    Start {
        /// Program and arguments.
        command: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// It said no.
    #[error("{command}: {ended}{}", tail(last_lines))]
    Failed {
        /// Program and arguments.
        command: String,
        /// `exit code 1`, `killed by signal 9`.
        ended: String,
        /// Exit code, where it was not killed.
        code: Option<i32>,
        /// Last lines of standard error, or of standard output where that was empty.
        last_lines: String,
    },
    /// The caller asked to stop, and it was killed.
    #[error("{command}: stopped")]
    Stopped {
        /// Program and arguments.
        command: String,
    },
    /// It took too long and was killed.
    #[error("{command}: not finished after {} s, killed{}", limit.as_secs(), tail(last_lines))]
    TimedOut {
        /// Program and arguments.
        command: String,
        limit: Duration,
        /// Last lines of what it said.
        last_lines: String,
    },
    /// It did not stop printing and was killed.
    #[error("{command}: {TOO_MUCH_OUTPUT}")]
    TooMuchOutput {
        /// Program and arguments.
        command: String,
    },
    /// It was refused memory, or killed over the size of a file.
    #[error("{command}: {limit}{}; {}", tail(last_lines), limit.remedy())]
    BrokenLimit {
        /// Program and arguments.
        command: String,
        limit: BrokenLimit,
        /// Last lines of what it said.
        last_lines: String,
    },
}

fn tail(lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!(": {lines}") }
}

/// How a program is run.
#[derive(Clone, Copy)]
pub struct Conditions<'a> {
    /// In its environment beside what every tool has.
    pub env: &'a [(&'a str, &'a str)],
    pub limits: Limits,
    /// It is killed when this has passed.
    pub timeout: Duration,
    /// It is killed soon after this says so.
    pub stop: Option<&'a dyn Fn() -> bool>,
}

impl Conditions<'_> {
    /// Those of a tool that writes no large file.
    #[must_use]
    pub fn within(timeout: Duration) -> Self {
        Self { env: &[], limits: Limits::of_tool(), timeout, stop: None }
    }

    /// Those of a program that may write files of any size.
    #[must_use]
    pub fn of_writer(timeout: Duration) -> Self {
        Self { limits: Limits::of_writer(), ..Self::within(timeout) }
    }
}

/// Runs a tool that writes no large file, and waits for its end.
///
/// `LC_ALL=C`, nothing on standard input, output captured; killed with its process group when
/// `timeout` has passed or when the calling thread dies.
///
/// # Errors
/// When it cannot be started, fails, does not end in time or breaks a limit.
pub fn run<S: AsRef<OsStr>>(
    tool: &TrustedProgram,
    args: &[S],
    timeout: Duration,
) -> Result<Ran, CmdError> {
    run_with(tool, args, &Conditions::within(timeout))
}

/// Runs a program likewise, under these conditions.
///
/// # Errors
/// As [`run`], and [`CmdError::Stopped`].
pub fn run_with<S: AsRef<OsStr>>(
    tool: &TrustedProgram,
    args: &[S],
    &Conditions { env, limits, timeout, stop }: &Conditions<'_>,
) -> Result<Ran, CmdError> {
    let mut command = ProgramCommand::new(tool);
    command.args(args).envs(env.iter().copied()).env("LC_ALL", "C");
    let shown = tool.shown(args.iter().map(AsRef::as_ref));
    let captured = match capture(&mut command, "", limits, Some(timeout), stop) {
        Ok(captured) => captured,
        Err(source) => return Err(CmdError::Start { command: shown, source }),
    };
    let Captured { end, broken_limit, stdout, stderr, elapsed_ns } = captured;
    let last_lines = last_lines(if stderr.trim().is_empty() { &stdout } else { &stderr });
    if let Some(limit) = broken_limit {
        return Err(CmdError::BrokenLimit { command: shown, limit, last_lines });
    }
    match end {
        End::Stopped => Err(CmdError::Stopped { command: shown }),
        End::TooMuchOutput => Err(CmdError::TooMuchOutput { command: shown }),
        End::TimedOut => Err(CmdError::TimedOut { command: shown, limit: timeout, last_lines }),
        End::Ended(status) if status.success() => Ok(Ran { status, stdout, stderr, elapsed_ns }),
        End::Ended(status) => Err(CmdError::Failed {
            command: shown,
            ended: ended_text(status),
            code: status.code(),
            last_lines,
        }),
    }
}

/// Runs a program that writes files of any size likewise, and kills it with its process group soon
/// after `stop` says so.
///
/// # Errors
/// As [`run_with`].
pub fn run_until<S: AsRef<OsStr>>(
    tool: &TrustedProgram,
    args: &[S],
    timeout: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Ran, CmdError> {
    run_with(tool, args, &Conditions { stop: Some(stop), ..Conditions::of_writer(timeout) })
}

/// Starts a program that may live on by itself, such as one that shows something: in a process
/// group of its own, with its streams on `/dev/null`. Waits this long for it to fail.
///
/// # Errors
/// When it cannot be started, or fails within that time.
pub fn start<S: AsRef<OsStr>>(
    tool: &TrustedProgram,
    args: &[S],
    env: &[(&str, &str)],
    wait: Duration,
) -> Result<(), CmdError> {
    let shown = tool.shown(args.iter().map(AsRef::as_ref));
    let mut command = ProgramCommand::new(tool);
    command.args(args).envs(env.iter().copied()).own_group();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |source| CmdError::Start { command: shown.clone(), source };
    let mut child = command.spawn().map_err(failed)?;
    let since = Instant::now();
    while since.elapsed() < wait {
        let Some(status) = child.try_wait().map_err(failed)? else {
            std::thread::sleep(STOP_PERIOD.min(wait));
            continue;
        };
        return match status.success() {
            true => Ok(()),
            false => Err(CmdError::Failed {
                ended: ended_text(status),
                code: status.code(),
                last_lines: String::new(),
                command: shown,
            }),
        };
    }
    Ok(())
}

/// Standard streams of a program, in anonymous memory.
#[derive(Debug)]
pub struct Streams {
    input: File,
    output: File,
    errors: File,
}

impl Streams {
    /// With `input` on standard input.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn new(input: &str) -> io::Result<Self> {
        let memory = |name: &str| -> io::Result<File> {
            Ok(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?))
        };
        let mut given = memory("fsarena-stdin")?;
        given.write_all(input.as_bytes())?;
        given.rewind()?;
        let (output, errors) = (memory("fsarena-stdout")?, memory("fsarena-stderr")?);
        Ok(Self { input: given, output, errors })
    }

    /// Gives them to `command`.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn attach(&self, command: &mut ProgramCommand) -> io::Result<()> {
        command.stdin(self.input.try_clone()?);
        command.stdout(self.output.try_clone()?);
        command.stderr(self.errors.try_clone()?);
        Ok(())
    }

    /// The same after this end; nothing where it was too much.
    pub(crate) fn read_after(&mut self, end: End) -> io::Result<(String, String)> {
        if end == End::TooMuchOutput { Ok(Default::default()) } else { self.read() }
    }

    /// Whether one of them holds more than anybody reads.
    pub(crate) fn are_too_long(&self) -> bool {
        let is_too_long = |file: &File| file.metadata().is_ok_and(|it| it.len() > OUTPUT_MAX_BYTES);
        is_too_long(&self.output) || is_too_long(&self.errors)
    }

    /// What was printed on standard output and standard error; bytes that are not UTF-8 are
    /// replaced.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&mut self) -> io::Result<(String, String)> {
        let text = |file: &mut File| -> io::Result<String> {
            file.rewind()?;
            let bytes = Bounded::new(file, OUTPUT_MAX_BYTES).beginning()?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok((text(&mut self.output)?, text(&mut self.errors)?))
    }
}

/// How a program came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// By itself.
    Ended(ExitStatus),
    /// It took too long and was killed.
    TimedOut,
    /// The caller asked to stop, and it was killed.
    Stopped,
    /// It did not stop printing and was killed.
    TooMuchOutput,
}

/// A program that has ended, and what it printed.
#[derive(Debug)]
pub struct Captured {
    /// How it ended.
    pub end: End,
    /// The limit of memory or file size that has ended it.
    pub broken_limit: Option<BrokenLimit>,
    /// Standard output; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Standard error, likewise.
    pub stderr: String,
    /// From just before the start to the end.
    pub elapsed_ns: u64,
}

impl Captured {
    /// Whether it ended by itself, with exit code 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        matches!(self.end, End::Ended(status) if status.success())
    }
}

/// Runs `command` as it is but for its limits, in `/`, with `input` on standard input; it is killed
/// with its process group when `timeout` has passed, when `stop` says so, when it prints too much,
/// or when the calling thread dies.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn capture(
    command: &mut ProgramCommand,
    input: &str,
    limits: Limits,
    timeout: Option<Duration>,
    stop: Option<&dyn Fn() -> bool>,
) -> io::Result<Captured> {
    let mut streams = Streams::new(input)?;
    streams.attach(command)?;
    command.current_dir("/").own_group();
    end_with_parent(command, Signal::KILL);
    limits.set(command);
    let started = Instant::now();
    let child = command.spawn()?;
    let Waited { end, peak_bytes } = wait(child, timeout, stop, &streams)?;
    let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let (stdout, stderr) = streams.read_after(end)?;
    let broken_limit = match end {
        End::Ended(status) => limits
            .broken(status, peak_bytes, &stderr)
            .or_else(|| limits.broken(status, peak_bytes, &stdout)),
        _ => None,
    };
    Ok(Captured { end, broken_limit, stdout, stderr, elapsed_ns })
}

/// How a program was waited for.
pub(crate) struct Waited {
    pub end: End,
    /// Most memory that it, or one that it has waited for, has had at once.
    pub peak_bytes: u64,
}

/// Waits for the end; the whole group is killed when the time has passed, `stop` says so, or the
/// streams are too long.
pub(crate) fn wait(
    mut child: Child,
    timeout: Option<Duration>,
    stop: Option<&dyn Fn() -> bool>,
    streams: &Streams,
) -> io::Result<Waited> {
    let pid = Pid::from_child(&child);
    let fd = pidfd_open(pid, PidfdFlags::empty())?;
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let killed_for = if stop.is_some_and(|stop| stop()) {
            Some(End::Stopped)
        } else if left.is_some_and(|left| left.is_zero()) {
            Some(End::TimedOut)
        } else {
            streams.are_too_long().then_some(End::TooMuchOutput)
        };
        if let Some(end) = killed_for {
            kill_group(&mut child)?;
            return Ok(Waited { end, peak_bytes: 0 });
        }
        let period = if stop.is_some() { STOP_PERIOD } else { OUTPUT_PERIOD };
        let pause = Timespec::try_from(left.unwrap_or(period).min(period));
        let pause = pause.map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&pause)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => {
                let peak_bytes = peak_bytes(pid);
                let status = child.wait()?;
                // What it prints is in a file, too.
                let has_overfilled = is_ended_by_file_size(status) && streams.are_too_long();
                let end = if has_overfilled { End::TooMuchOutput } else { End::Ended(status) };
                return Ok(Waited { end, peak_bytes });
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Kills a process with its group, and waits for it.
pub(crate) fn kill_group(child: &mut Child) -> io::Result<()> {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.kill()?;
    child.wait().map(drop)
}

/// The first line that says something, of standard output or else of standard error.
#[must_use]
pub fn first_line(stdout: &str, stderr: &str) -> Option<String> {
    let mut lines = stdout.lines().chain(stderr.lines()).map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

/// `exit code 1`, `killed by signal 9`.
#[must_use]
pub fn ended_text(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// The last four lines that say something, joined into one.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(4)..].join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn shell(text: &str, timeout: Duration) -> Result<Ran, CmdError> {
        run_with(&TrustedProgram::confirmed(text), &NO_ARGS, &Conditions::of_writer(timeout))
    }

    #[test]
    fn output_is_captured_and_the_language_is_fixed() {
        let ran = shell("echo out $LC_ALL; echo err >&2", SOON).unwrap();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("out C\n", "err\n"));
        assert!(ran.elapsed_ns > 0);
    }

    #[test]
    fn failure_names_command_code_and_last_lines() {
        let text = shell("echo first; echo why >&2; exit 3", SOON).unwrap_err().to_string();
        assert_eq!(text, "echo first; echo why >&2; exit 3: exit code 3: why");
        let none = tempfile::NamedTempFile::new().unwrap();
        let no_program = TrustedProgram::at(none.path()).unwrap();
        let text = run(&no_program, &["-a b"], SOON).unwrap_err().to_string();
        let begin = format!("{} '-a b': cannot be started", none.path().display());
        assert!(text.starts_with(&begin), "{text}");
    }

    #[test]
    fn time_limit_kills_the_whole_group() {
        let started = Instant::now();
        let error = shell("sleep 60 & sleep 60", Duration::from_millis(100)).unwrap_err();
        assert!(matches!(error, CmdError::TimedOut { .. }), "{error}");
        assert!(started.elapsed() < SOON);
    }

    #[test]
    fn a_stop_kills_the_whole_group() {
        let started = Instant::now();
        let stop = || started.elapsed() > Duration::from_millis(100);
        let command = TrustedProgram::confirmed("sleep 60 & sleep 60");
        let error = run_until(&command, &NO_ARGS, SOON, &stop).unwrap_err();
        assert!(matches!(error, CmdError::Stopped { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_program_that_prints_for_ever_is_killed() {
        let started = Instant::now();
        for text in ["yes", "yes >&2"] {
            let error = shell(text, Duration::from_secs(60)).unwrap_err().to_string();
            assert_eq!(error, format!("{text}: printed more than 256 MiB, killed"));
        }
        assert!(started.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_daemon_that_keeps_the_output_open_is_not_waited_for() {
        let started = Instant::now();
        shell("sleep 3 & echo done", SOON).unwrap();
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}
