//! A program with all that it starts, which ends with this process however that ends.
//!
//! A death signal reaches one process, not those that it has started (the compilers of a make, the
//! processes of a kernel that runs as one). So a guard is in the same process group: a shell that
//! waits for the end of a pipe, whose other end is held here alone, and then kills the group. It
//! needs no privilege.

use crate::child;
use crate::cmd::{Captured, Streams, wait};
use crate::command::ProgramCommand;
use crate::program::TrustedProgram;
use crate::tunables;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The guard goes to the background, the program takes the place of the shell. A background command
/// has no standard input of its own, so that the pipe goes by another number.
const SCRIPT: &str = "ulimit -c 0; exec 3<&0; \
                      (read -r _ <&3; kill -s KILL -- \"-$$\") >/dev/null 2>&1 & \
                      exec 3<&- </dev/null; exec \"$@\"";

/// What to start, and where.
#[derive(Clone, Copy, Debug)]
pub struct Guarded<'a> {
    pub tool: &'a TrustedProgram,
    pub args: &'a [OsString],
    /// All of its environment.
    pub env: &'a [(&'a str, OsString)],
    /// Its working directory.
    pub dir: &'a Path,
    /// Takes what it prints, in place of memory.
    pub log: Option<&'a File>,
    /// The same addresses every time ([`child::fix_addresses`]).
    pub fixed_addresses: bool,
}

impl Guarded<'_> {
    /// Runs it and waits for its end. It is killed with all that it has started when `limit` has
    /// passed, when `stop` says so, and when this process ends. What is left of its process group
    /// when it ends by itself is killed too.
    ///
    /// # Errors
    /// When it cannot be started or waited for.
    pub fn run(
        &self,
        limit: Option<Duration>,
        stop: Option<&dyn Fn() -> bool>,
    ) -> io::Result<Captured> {
        let mut command = ProgramCommand::new(&TrustedProgram::confirmed(SCRIPT));
        command.arg("sh").arg(self.tool.path()).args(self.tool.words()).args(self.args);
        command.env_clear().envs(tunables::inherited());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let mut streams = Streams::new("")?;
        streams.attach(&mut command)?;
        if self.fixed_addresses {
            child::fix_addresses(&mut command);
        }
        if let Some(log) = self.log {
            command.stdout(log.try_clone()?).stderr(log.try_clone()?);
        }
        let (held_by_guard, held_here) = io::pipe()?;
        command.stdin(Stdio::from(held_by_guard)).current_dir(self.dir).own_group();
        let started = Instant::now();
        let child = command.spawn()?;
        // The command keeps the guard's end of the pipe.
        drop(command);
        let group = Pid::from_child(&child);
        let end = wait(child, limit, stop, &streams);
        // The guard is in the group as long as the pipe is open: the number is still that group's.
        let _ = kill_process_group(group, Signal::KILL);
        drop(held_here);
        let end = end?.end;
        let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let (stdout, stderr) = streams.read_after(end)?;
        Ok(Captured { end, broken_limit: None, stdout, stderr, elapsed_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::End;
    use std::fs;

    const SOON: Duration = Duration::from_secs(10);

    fn guarded<'a>(tool: &'a TrustedProgram, dir: &'a Path) -> Guarded<'a> {
        Guarded { tool, args: &[], env: &[], dir, log: None, fixed_addresses: false }
    }

    fn script(text: &str) -> TrustedProgram {
        TrustedProgram::confirmed(text)
    }

    /// Whether a process of this number is there and not a zombie.
    fn lives(pid: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    }

    fn ends_soon(pid: &str) -> bool {
        let started = Instant::now();
        while lives(pid) && started.elapsed() < SOON {
            std::thread::sleep(Duration::from_millis(10));
        }
        !lives(pid)
    }

    #[test]
    fn output_directory_and_environment_are_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let tool = script("pwd; echo \"[$HOME][$A]\"; cat; echo err >&2; exit 3");
        let env = [("A", OsString::from("b c"))];
        let call = Guarded { env: &env, ..guarded(&tool, dir.path()) };
        let ran = call.run(Some(SOON), None).unwrap();
        let path = dir.path().canonicalize().unwrap();
        assert_eq!(ran.stdout, format!("{}\n[][b c]\n", path.display()));
        assert_eq!(ran.stderr, "err\n");
        assert!(matches!(ran.end, End::Ended(status) if status.code() == Some(3)));
    }

    #[test]
    fn what_it_leaves_behind_ends_with_it() {
        let tool = script("sleep 60 & echo $!");
        let ran = guarded(&tool, Path::new("/")).run(Some(SOON), None).unwrap();
        assert!(ran.succeeded() && ends_soon(&ran.stdout), "{}", ran.stdout);
    }

    #[test]
    fn a_limit_and_a_stop_end_all_of_it() {
        let tool = script("sleep 60 & echo $!; sleep 60");
        let limit = Duration::from_millis(200);
        let ran = guarded(&tool, Path::new("/")).run(Some(limit), None).unwrap();
        assert!(matches!(ran.end, End::TimedOut) && ends_soon(&ran.stdout));
        let started = Instant::now();
        let stop = || started.elapsed() > Duration::from_millis(200);
        let ran = guarded(&tool, Path::new("/")).run(Some(SOON), Some(&stop)).unwrap();
        assert!(matches!(ran.end, End::Stopped) && ends_soon(&ran.stdout));
    }

    /// As after kill -9 of this process: its end of the pipe is closed, and nobody signals
    /// anything.
    #[test]
    fn the_guard_kills_the_group_when_the_pipe_ends() {
        let mut command = ProgramCommand::new(&script(SCRIPT));
        let inner = "sleep 60 & echo $! $$; exec sleep 60";
        command.args(["sh", "/bin/sh", "-c", inner]);
        let (theirs, ours) = io::pipe().unwrap();
        command.stdin(Stdio::from(theirs)).stdout(Stdio::piped()).own_group();
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(output), &mut line).unwrap();
        let (one, other) = line.trim().split_once(' ').unwrap();
        assert!(lives(one) && lives(other), "{line}");
        drop(ours);
        assert!(!child.wait().unwrap().success());
        assert!(ends_soon(one) && ends_soon(other), "{line}");
    }

    #[test]
    fn a_log_takes_both_streams() {
        let mut log = tempfile::tempfile().unwrap();
        let tool = script("echo out; echo err >&2");
        let call = Guarded { log: Some(&log), ..guarded(&tool, Path::new("/")) };
        assert!(call.run(Some(SOON), None).unwrap().stdout.is_empty());
        io::Seek::rewind(&mut log).unwrap();
        assert_eq!(io::read_to_string(&log).unwrap(), "out\nerr\n");
    }
}
