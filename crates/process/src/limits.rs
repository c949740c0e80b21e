//! What a tool may take beside time and output: memory, and the size of a file that it writes.
//!
//! Memory is what one process allocates (setrlimit(2), `RLIMIT_DATA`), not what it maps of files or
//! shares. It is a large share of the machine's: the checks of large devices take GiBs, and
//! xfs_repair plans with three quarters by itself. A file is a regular one; devices have no such
//! limit (`RLIMIT_FSIZE`).
//!
//! Limits are inherited. So what is measured has none from here, and neither has what leaves a
//! daemon behind: see [`Limits::NONE`].

use crate::command::ProgramCommand;
use fsarena_model::units::Bytes;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Share of the machine's memory, in eighths.
const MEMORY_EIGHTHS: u64 = 7;
/// A machine with less leaves its tools that much: a guest has 256 MiB.
const LEAST_MEMORY_BYTES: u64 = 1 << 30;
/// More than standard output may have, which is a file in memory.
const FILE_BYTES: u64 = 1 << 30;
/// What a shell adds to the number of a signal, for its exit code.
const SHELL_SIGNALS: i32 = 128;
/// How tools say that they were refused memory, in lower case (`LC_ALL=C`): the C library,
/// e2fsprogs, gnulib, xfsprogs, C++, Python.
const OUT_OF_MEMORY: [&str; 8] = [
    "cannot allocate memory",
    "memory allocation failed",
    "memory exhausted",
    "out of memory",
    "not enough memory",
    "malloc failed",
    "bad_alloc",
    "memoryerror",
];

/// What a program may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Of each of its processes.
    pub memory_bytes: Option<u64>,
    /// Of each regular file that it writes.
    pub file_bytes: Option<u64>,
}

impl Limits {
    /// Of what is measured, and of what leaves something behind that is: a daemon that serves a
    /// file system inherits the limits of the command that mounts it.
    pub const NONE: Self = Self { memory_bytes: None, file_bytes: None };

    /// Of a tool that writes devices or standard output, and no large file.
    #[must_use]
    pub fn of_tool() -> Self {
        Self { memory_bytes: Some(memory_bytes()), file_bytes: Some(FILE_BYTES) }
    }

    /// Of a tool that writes files of any size: a copy, an image.
    #[must_use]
    pub fn of_writer() -> Self {
        Self { file_bytes: None, ..Self::of_tool() }
    }

    /// Has `command` start with them. It leaves no core, and a file that is too large ends it,
    /// whatever this process does about that signal.
    pub(crate) fn set(self, command: &mut ProgramCommand) {
        if self == Self::NONE {
            return;
        }
        let set = move || {
            lower(Resource::Data, self.memory_bytes)?;
            lower(Resource::Fsize, self.file_bytes)?;
            lower(Resource::Core, Some(0))?;
            // SAFETY: async-signal-safe, and takes numbers only.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_DFL) };
            Ok(())
        };
        // SAFETY: between fork and exec only system calls are made: no memory, no lock.
        unsafe { command.before_exec(set) };
    }

    /// The limit that has ended a program, as far as that can be known: the kernel tells the
    /// program that there is no memory, and nobody else.
    pub(crate) fn broken(
        self,
        status: ExitStatus,
        peak_bytes: u64,
        printed: &str,
    ) -> Option<BrokenLimit> {
        if let Some(limit_bytes) = self.file_bytes
            && is_ended_by_file_size(status)
        {
            return Some(BrokenLimit::FileSize { limit_bytes });
        }
        let limit_bytes = self.memory_bytes.filter(|_| !status.success())?;
        let printed = printed.to_ascii_lowercase();
        let says_so = OUT_OF_MEMORY.iter().any(|words| printed.contains(words));
        // SIGKILL is of somebody else, such as a kernel without memory.
        let has_crashed = status.signal().is_some_and(|signal| signal != libc::SIGKILL);
        let has_crashed_full = has_crashed && peak_bytes > limit_bytes / 4 * 3;
        (says_so || has_crashed_full).then_some(BrokenLimit::Memory { limit_bytes })
    }
}

/// A limit that has ended a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BrokenLimit {
    /// It was refused memory.
    #[error("needs more memory than the {} that a tool may take", Bytes(*limit_bytes))]
    Memory { limit_bytes: u64 },
    /// It wrote a larger file.
    #[error("wrote a file larger than the {} that a tool may write, killed", Bytes(*limit_bytes))]
    FileSize { limit_bytes: u64 },
}

impl BrokenLimit {
    /// What to do.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Self::Memory { .. } => "use a smaller device, or a machine with more memory",
            Self::FileSize { .. } => "see what it writes, and where",
        }
    }
}

/// Whether it, or what a shell has run, was ended by the size of a file.
pub(crate) fn is_ended_by_file_size(status: ExitStatus) -> bool {
    status.signal() == Some(libc::SIGXFSZ) || status.code() == Some(SHELL_SIGNALS + libc::SIGXFSZ)
}

/// Never above what this process has itself.
/// Has a file that grows beyond the limit of this process (`ulimit -f`) fail its write with EFBIG,
/// which is said, in place of ending the process by a signal without a word.
pub fn ignore_file_size_signal() {
    // SAFETY: takes numbers only; nothing here handles that signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

fn lower(resource: Resource, limit: Option<u64>) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let now = getrlimit(resource);
    let least = [now.maximum, now.current].into_iter().flatten().fold(limit, u64::min);
    Ok(setrlimit(resource, Rlimit { current: Some(least), maximum: Some(least) })?)
}

fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    let all = info.totalram.saturating_mul(info.mem_unit.into());
    (all / 8 * MEMORY_EIGHTHS).max(LEAST_MEMORY_BYTES)
}

/// Most memory that a program has had at once, or one that it has waited for; it has ended, and was
/// not waited for yet. 0 where the kernel does not say.
pub(crate) fn peak_bytes(pid: Pid) -> u64 {
    // SAFETY: plain numbers, for which zeros are a value.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
    // SAFETY: waitid(2) with its fifth argument, which the C library leaves out; both pointers are
    // to values of this function, and the child stays as it is.
    let done = unsafe {
        libc::syscall(
            libc::SYS_waitid,
            libc::P_PID,
            pid.as_raw_nonzero().get(),
            &raw mut info,
            flags,
            &raw mut usage,
        )
    };
    let kib = if done == 0 { usage.ru_maxrss } else { 0 };
    u64::try_from(kib).unwrap_or(0) << 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::{CmdError, Conditions, NO_ARGS, Ran, find, run, run_with};
    use crate::program::TrustedProgram;
    use std::process::Command;
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(120);
    const SMALL: Limits = Limits { memory_bytes: Some(64 << 20), file_bytes: Some(1 << 20) };

    fn shell_with(text: &str, limits: Limits, timeout: Duration) -> Result<Ran, CmdError> {
        let conditions = Conditions { limits, ..Conditions::within(timeout) };
        run_with(&TrustedProgram::confirmed(text), &NO_ARGS, &conditions)
    }

    #[test]
    fn a_tool_that_allocates_for_ever_ends_at_its_limit() {
        let started = Instant::now();
        // It keeps a line whose end it does not find.
        let error = shell_with("tail -n 1 /dev/zero", SMALL, LONG).unwrap_err();
        assert!(matches!(error, CmdError::BrokenLimit { .. }));
        let text = error.to_string();
        let begin = "tail -n 1 /dev/zero: needs more memory than the 64 MiB that a tool may take: ";
        assert!(text.starts_with(begin), "{text}");
        assert!(text.ends_with("; use a smaller device, or a machine with more memory"), "{text}");
        assert!(text.contains("memory exhausted"), "its own words: {text}");
        assert!(started.elapsed() < LONG);
    }

    #[test]
    fn a_crash_is_its_limit_where_it_was_full_and_not_by_sigkill() {
        let ended = |signal| ExitStatus::from_raw(signal);
        let (full, empty) = (60 << 20, 10 << 20);
        let memory = Some(BrokenLimit::Memory { limit_bytes: 64 << 20 });
        assert_eq!(SMALL.broken(ended(libc::SIGSEGV), full, ""), memory);
        assert_eq!(SMALL.broken(ended(libc::SIGSEGV), empty, ""), None);
        assert_eq!(SMALL.broken(ended(libc::SIGKILL), full, ""), None);
        let failed = ExitStatus::from_raw(1 << 8);
        assert_eq!(SMALL.broken(failed, full, "errors were found"), None, "a large device");
        assert_eq!(SMALL.broken(failed, 0, "mke2fs: Memory allocation failed"), memory);
        assert_eq!(SMALL.broken(ended(0), full, "warning: out of memory"), None, "it went well");
        assert_eq!(Limits::NONE.broken(failed, full, "out of memory"), None);
    }

    #[test]
    fn memory_of_a_child_that_a_tool_has_waited_for_counts() {
        let mut command = Command::new("/bin/sh");
        let text = "head -c 100M /dev/zero | tail -n 1 | wc -c >/dev/null; exit 1";
        let mut child = command.args(["-c", text]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let started = Instant::now();
        let mut peak = 0;
        while peak == 0 && started.elapsed() < LONG {
            std::thread::sleep(Duration::from_millis(10));
            peak = peak_bytes(pid);
        }
        assert!(peak > 90 << 20, "{peak}");
        assert_eq!(child.wait().unwrap().code(), Some(1), "it was not waited for before");
    }

    #[test]
    fn a_tool_that_writes_for_ever_ends_at_its_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let shown = path.display();
        for text in
            [format!("exec cat /dev/zero >{shown}"), format!("cat /dev/zero >{shown}; exit $?")]
        {
            let error = shell_with(&text, SMALL, LONG).unwrap_err().to_string();
            let begin = "wrote a file larger than the 1 MiB that a tool may write, killed";
            assert!(error.starts_with(&format!("{text}: {begin}")), "{error}");
            assert!(error.ends_with("; see what it writes, and where"), "{error}");
            assert_eq!(path.metadata().unwrap().len(), 1 << 20);
        }
        let writer = Limits { file_bytes: None, ..SMALL };
        shell_with(&format!("head -c 2M /dev/zero >{shown}"), writer, LONG).unwrap();
        assert_eq!(path.metadata().unwrap().len(), 2 << 20);
    }

    /// A program that ignores the signal would hear of a full disk in its place.
    #[test]
    fn the_signal_is_not_ignored_because_it_is_here() {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("cat /dev/zero >{}", dir.path().join("file").display());
        let mut command = ProgramCommand::new(&TrustedProgram::confirmed(&text));
        let ignore = || {
            // SAFETY: async-signal-safe, and takes numbers only.
            unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: between fork and exec only a system call is made.
        unsafe { command.before_exec(ignore) };
        SMALL.set(&mut command);
        assert!(is_ended_by_file_size(command.spawn().unwrap().wait().unwrap()));
    }

    /// Standard output is a file, too: who fills it is told of that.
    #[test]
    fn printing_for_ever_is_told_as_such() {
        let error = run(&find("cat").unwrap(), &["/dev/zero"], LONG).unwrap_err();
        assert!(matches!(error, CmdError::TooMuchOutput { .. }), "{error}");
    }

    #[test]
    fn tools_inherit_them_and_what_is_measured_has_none() {
        let ulimits = |limits| {
            let text = "ulimit -d; ulimit -f; ulimit -c";
            shell_with(text, limits, LONG).unwrap().stdout
        };
        assert_eq!(ulimits(SMALL), "65536\n2048\n0\n");
        let own = Command::new("/bin/sh").args(["-c", "ulimit -d; ulimit -f; ulimit -c"]).output();
        assert_eq!(ulimits(Limits::NONE), String::from_utf8(own.unwrap().stdout).unwrap());
        let file = shell_with("ulimit -f", Limits::of_writer(), LONG).unwrap().stdout;
        assert_eq!(file, ulimits(Limits::NONE).lines().nth(1).unwrap().to_owned() + "\n");
        let all = rustix::system::sysinfo();
        let all_bytes = all.totalram * u64::from(all.mem_unit);
        let memory_bytes = Limits::of_tool().memory_bytes.unwrap();
        assert!(memory_bytes >= LEAST_MEMORY_BYTES);
        assert!(memory_bytes <= LEAST_MEMORY_BYTES.max(all_bytes));
    }
}
