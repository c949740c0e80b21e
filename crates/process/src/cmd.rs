//! External programs: found by absolute path, run with a fixed environment, output captured,
//! killed at a time limit.
//!
//! Output goes to anonymous memory files, not pipes: a daemon that a command leaves behind may
//! hold them open for as long as it likes. A program dies with the thread that started it.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Output kept of one stream, bytes; what is beyond it is cut off.
const OUTPUT_MAX_BYTES: u64 = 4 << 20;
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

    fn joined(&self) -> OsString {
        std::env::join_paths(&self.0).unwrap_or_default()
    }
}

fn is_executable(path: &Path) -> bool {
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
        /// The limit.
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
    let start_error = |source: io::Error| CmdError::Start { command: shown.clone(), source };
    let mut out = captured("fsarena-stdout").map_err(start_error)?;
    let mut err = captured("fsarena-stderr").map_err(start_error)?;
    command
        .env("LC_ALL", "C")
        .env("PATH", SearchPath::from_env().joined())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(start_error)?)
        .stderr(err.try_clone().map_err(start_error)?)
        .process_group(0);
    die_with_parent(&mut command);
    let started = Instant::now();
    let child = command.spawn().map_err(start_error)?;
    let ended = wait(child, timeout, stop).map_err(start_error)?;
    let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let stdout = text_of(&mut out).map_err(start_error)?;
    let stderr = text_of(&mut err).map_err(start_error)?;
    let last_lines = last_lines(if stderr.trim().is_empty() { &stdout } else { &stderr });
    match ended {
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

/// Asks the kernel to kill the child when the starting thread dies.
fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: the closure runs between fork and exec and makes only two system calls, prctl(2)
    // and getppid(2): no allocation, no lock.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            let alive = rustix::process::getppid()
                .is_some_and(|pid| pid.as_raw_nonzero().get().cast_unsigned() == parent);
            if alive { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
        });
    }
}

fn captured(name: &str) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?))
}

fn text_of(file: &mut File) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How a program came to its end.
enum End {
    Ended(ExitStatus),
    TimedOut,
    Stopped,
}

/// Waits for the end; the whole group is killed when the limit has passed, or `stop` says so.
fn wait(mut child: Child, timeout: Duration, stop: Option<&dyn Fn() -> bool>) -> io::Result<End> {
    let pid = Pid::from_child(&child);
    let fd = pidfd_open(pid, PidfdFlags::empty())?;
    let deadline = Instant::now() + timeout;
    loop {
        let stopped = stop.is_some_and(|stop| stop());
        let left = deadline.saturating_duration_since(Instant::now());
        if stopped || left.is_zero() {
            let _ = kill_process_group(pid, Signal::KILL);
            child.kill()?;
            child.wait()?;
            return Ok(if stopped { End::Stopped } else { End::TimedOut });
        }
        let pause = if stop.is_some() { left.min(STOP_PERIOD) } else { left };
        let limit = Timespec::try_from(pause).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return child.wait().map(End::Ended),
            Err(error) => return Err(error.into()),
        }
    }
}

fn ended_text(status: ExitStatus) -> String {
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
