//! External programs: found by absolute path, run with a fixed environment, output captured,
//! killed at a time limit.
//!
//! Output goes to anonymous memory files, not pipes: a daemon that a command leaves behind may
//! hold them open for as long as it likes. A program dies with the thread that started it.

use crate::child::end_with_parent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Output read of one stream, bytes; a fio job of 1000 clones prints about 8 MB.
const OUTPUT_MAX_BYTES: u64 = 256 << 20;
/// How often it is asked whether to stop.
const STOP_PERIOD: Duration = Duration::from_millis(100);

/// A program that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tool {
    /// Name it was asked for by.
    pub name: String,
    /// Absolute path.
    pub path: PathBuf,
}

/// Directories in which programs are looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// `PATH`, then the directories of system programs, which a user's `PATH` often lacks.
    #[must_use]
    pub fn from_env() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut dirs: Vec<PathBuf> =
            std::env::split_paths(&path).filter(|dir| dir.is_absolute()).collect();
        dirs.extend(["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(Into::into));
        Self(dirs)
    }

    /// These directories alone.
    #[must_use]
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        Self(dirs)
    }

    /// The first executable file of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Tool> {
        self.0
            .iter()
            .map(|dir| dir.join(name))
            .find(|path| is_executable(path))
            .map(|path| Tool { name: name.to_owned(), path })
    }

    /// As a value of `PATH`.
    #[must_use]
    pub fn joined(&self) -> OsString {
        std::env::join_paths(&self.0).unwrap_or_default()
    }
}

/// Whether a file of this path may be executed by somebody.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Looks for a program in `PATH` and the directories of system programs.
#[must_use]
pub fn find(name: &str) -> Option<Tool> {
    SearchPath::from_env().find(name)
}

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
}

fn tail(lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!(": {lines}") }
}

/// Runs a program and waits for its end.
///
/// `LC_ALL=C`, nothing on standard input, output captured; killed with its process group when
/// `timeout` has passed or when the calling thread dies.
///
/// # Errors
/// When it cannot be started, fails, or does not end in time.
pub fn run<S: AsRef<OsStr>>(tool: &Path, args: &[S], timeout: Duration) -> Result<Ran, CmdError> {
    run_with(tool, args, &[], timeout)
}

/// Runs a program likewise, with these variables in its environment too.
///
/// # Errors
/// As [`run`].
pub fn run_with<S: AsRef<OsStr>>(
    tool: &Path,
    args: &[S],
    env: &[(&str, &str)],
    timeout: Duration,
) -> Result<Ran, CmdError> {
    let mut command = Command::new(tool);
    command.args(args).envs(env.iter().copied());
    let shown = shown(tool.as_os_str(), args.iter().map(AsRef::as_ref));
    run_command(command, shown, timeout, None)
}

/// Runs a program likewise, and kills it with its process group soon after `stop` says so.
///
/// # Errors
/// As [`run`], and [`CmdError::Stopped`].
pub fn run_until<S: AsRef<OsStr>>(
    tool: &Path,
    args: &[S],
    timeout: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Ran, CmdError> {
    let mut command = Command::new(tool);
    command.args(args);
    let shown = shown(tool.as_os_str(), args.iter().map(AsRef::as_ref));
    run_command(command, shown, timeout, Some(stop))
}

/// Starts a program that may live on by itself, such as one that shows something: in a process
/// group of its own, with its streams on `/dev/null`. Waits this long for it to fail.
///
/// # Errors
/// When it cannot be started, or fails within that time.
pub fn start<S: AsRef<OsStr>>(
    tool: &Path,
    args: &[S],
    env: &[(&str, &str)],
    wait: Duration,
) -> Result<(), CmdError> {
    let shown = shown(tool.as_os_str(), args.iter().map(AsRef::as_ref));
    let mut command = Command::new(tool);
    command.args(args).envs(env.iter().copied()).process_group(0);
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

/// Runs a shell command of an external file system, likewise.
///
/// # Errors
/// As [`run`].
pub fn shell(command: &str, timeout: Duration) -> Result<Ran, CmdError> {
    let mut process = Command::new("/bin/sh");
    process.args(["-c", command]);
    run_command(process, command.to_owned(), timeout, None)
}

/// Program and arguments as text for people: what is not plain is quoted.
#[must_use]
pub fn shown<'a>(program: &OsStr, args: impl Iterator<Item = &'a OsStr>) -> String {
    let mut text = program.to_string_lossy().into_owned();
    for arg in args {
        text.push(' ');
        text.push_str(&quoted(&arg.to_string_lossy()));
    }
    text
}

/// `text` as one word of a shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    fsarena_model::braces::quoted(OsStr::new(text)).to_string_lossy().into_owned()
}

fn run_command(
    mut command: Command,
    shown: String,
    timeout: Duration,
    stop: Option<&dyn Fn() -> bool>,
) -> Result<Ran, CmdError> {
    command.env("LC_ALL", "C").env("PATH", SearchPath::from_env().joined());
    let captured = match capture(&mut command, "", Some(timeout), stop) {
        Ok(captured) => captured,
        Err(source) => return Err(CmdError::Start { command: shown, source }),
    };
    let Captured { end, stdout, stderr, elapsed_ns } = captured;
    let last_lines = last_lines(if stderr.trim().is_empty() { &stdout } else { &stderr });
    match end {
        End::Stopped => Err(CmdError::Stopped { command: shown }),
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
    pub fn attach(&self, command: &mut Command) -> io::Result<()> {
        command.stdin(self.input.try_clone()?);
        command.stdout(self.output.try_clone()?);
        command.stderr(self.errors.try_clone()?);
        Ok(())
    }

    /// What was printed on standard output and standard error; bytes that are not UTF-8 are
    /// replaced.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&mut self) -> io::Result<(String, String)> {
        let text = |file: &mut File| -> io::Result<String> {
            let mut bytes = Vec::new();
            file.rewind()?;
            file.take(OUTPUT_MAX_BYTES).read_to_end(&mut bytes)?;
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
}

/// A program that has ended, and what it printed.
#[derive(Debug)]
pub struct Captured {
    /// How it ended.
    pub end: End,
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

/// Runs `command` as it is, in `/`, with `input` on standard input; it is killed with its process
/// group when `limit` has passed, when `stop` says so, or when the calling thread dies.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn capture(
    command: &mut Command,
    input: &str,
    limit: Option<Duration>,
    stop: Option<&dyn Fn() -> bool>,
) -> io::Result<Captured> {
    let mut streams = Streams::new(input)?;
    streams.attach(command)?;
    command.current_dir("/").process_group(0);
    end_with_parent(command, Signal::KILL);
    let started = Instant::now();
    let child = command.spawn()?;
    let end = wait(child, limit, stop)?;
    let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let (stdout, stderr) = streams.read()?;
    Ok(Captured { end, stdout, stderr, elapsed_ns })
}

/// Waits for the end; the whole group is killed when the limit has passed, or `stop` says so.
pub(crate) fn wait(
    mut child: Child,
    limit: Option<Duration>,
    stop: Option<&dyn Fn() -> bool>,
) -> io::Result<End> {
    let pid = Pid::from_child(&child);
    let fd = pidfd_open(pid, PidfdFlags::empty())?;
    let deadline = limit.map(|limit| Instant::now() + limit);
    loop {
        let stopped = stop.is_some_and(|stop| stop());
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        if stopped || left.is_some_and(|left| left.is_zero()) {
            let _ = kill_process_group(pid, Signal::KILL);
            child.kill()?;
            child.wait()?;
            return Ok(if stopped { End::Stopped } else { End::TimedOut });
        }
        let pause = left.into_iter().chain(stop.map(|_| STOP_PERIOD)).min();
        let pause = pause.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&fd, PollFlags::IN)], pause.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return child.wait().map(End::Ended),
            Err(error) => return Err(error.into()),
        }
    }
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
        let text = run(Path::new("/nonexistent/mkfs"), &["-a b"], SOON).unwrap_err().to_string();
        assert!(text.starts_with("/nonexistent/mkfs '-a b': cannot be started"), "{text}");
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
        let arguments = ["-c", "sleep 60 & sleep 60"];
        let error = run_until(Path::new("/bin/sh"), &arguments, SOON, &stop).unwrap_err();
        assert!(matches!(error, CmdError::Stopped { .. }), "{error}");
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_daemon_that_keeps_the_output_open_is_not_waited_for() {
        let started = Instant::now();
        shell("sleep 3 & echo done", SOON).unwrap();
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn an_empty_search_path_finds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = SearchPath::new(vec![dir.path().to_owned()]);
        assert_eq!(path.find("sh"), None);
        std::fs::write(dir.path().join("sh"), "no program").unwrap();
        assert_eq!(path.find("sh"), None, "not executable");
        assert!(find("sh").unwrap().path.is_absolute());
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("/dev/loop0"), "/dev/loop0");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
        assert_eq!(quoted(""), "''");
    }
}
