//! Programs run for their output before the clock runs: their version, what they think of a job.
//!
//! Never with the root under test as the working directory, and with streams in anonymous memory:
//! nothing is read from, or written to, any file system under test. A program that does not answer
//! is ended; it must not hold a trial up.

use super::find::Program;
use super::lifetime::environment;
use fsarena_process::child::end_with_parent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Output that is read, bytes; a fio job of 1000 clones prints about 8 MB.
const OUTPUT_MAX_BYTES: u64 = 256 << 20;
/// Where programs are when they are only asked something: not in the tree under test.
const ELSEWHERE: &str = "/";
/// How long a program may think about its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// Standard streams of a program, in anonymous memory.
#[derive(Debug)]
pub(super) struct Streams {
    input: File,
    output: File,
    errors: File,
}

impl Streams {
    /// With `input` on standard input.
    pub fn new(input: &str) -> io::Result<Self> {
        let memory = |name: &str| -> io::Result<File> {
            let fd: OwnedFd = memfd_create(name, MemfdFlags::CLOEXEC)?;
            Ok(File::from(fd))
        };
        let mut given = memory("fsarena-input")?;
        given.write_all(input.as_bytes())?;
        given.rewind()?;
        let (output, errors) = (memory("fsarena-output")?, memory("fsarena-errors")?);
        Ok(Self { input: given, output, errors })
    }

    /// Gives them to `command`.
    pub fn attach(&self, command: &mut Command) -> io::Result<()> {
        command.stdin(Stdio::from(self.input.try_clone()?));
        command.stdout(Stdio::from(self.output.try_clone()?));
        command.stderr(Stdio::from(self.errors.try_clone()?));
        Ok(())
    }

    /// What was printed on standard output and standard error.
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

/// How a program that was asked something ended, and what it printed.
#[derive(Debug)]
pub(super) struct ProgramOutput {
    pub status: ExitStatus,
    pub output: String,
    pub errors: String,
}

/// Runs `command` to its end; `input` is on its standard input.
pub(super) fn run_for_output(command: &mut Command, input: &str) -> io::Result<ProgramOutput> {
    let mut streams = Streams::new(input)?;
    streams.attach(command)?;
    let status = command.current_dir(ELSEWHERE).status()?;
    let (output, errors) = streams.read()?;
    Ok(ProgramOutput { status, output, errors })
}

/// The first line that a program prints of its version; empty where it prints none.
pub(super) fn version(found: &Program) -> String {
    version_within(found, VERSION_LIMIT).unwrap_or_default()
}

fn version_within(found: &Program, limit: Duration) -> io::Result<String> {
    let mut command = Command::new(&found.path);
    environment(&mut command).arg("--version").current_dir(ELSEWHERE).process_group(0);
    end_with_parent(&mut command, Signal::KILL);
    let mut streams = Streams::new("")?;
    streams.attach(&mut command)?;
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    if !ends_within(pid, limit)? {
        // The whole group, so that no process stays behind; it is not waited for, so it is still
        // there.
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    }
    let status = child.wait()?;
    let (output, errors) = streams.read()?;
    let line =
        |text: &str| text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    // bzip2 tells it on standard error. A dash knows no such option, and says so there.
    let printed = status.success().then(|| line(&output).or_else(|| line(&errors))).flatten();
    Ok(printed.unwrap_or_default())
}

/// Waits until the child `pid` has ended, without taking its status.
fn ends_within(pid: Pid, limit: Duration) -> io::Result<bool> {
    let fd = pidfd_open(pid, PidfdFlags::empty())?;
    let deadline = Instant::now() + limit;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(errno) => return Err(errno.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn script(dir: &tempfile::TempDir, text: &str) -> Program {
        let path = dir.path().join("program");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        Program { name: "program".to_owned(), path }
    }

    /// Another thread that forks holds the script open for writing for a moment (`ETXTBSY`).
    fn version_of_script(found: &Program, limit: Duration) -> String {
        for _ in 0..100 {
            match version_within(found, limit) {
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                other => return other.unwrap(),
            }
        }
        panic!("the script stays busy");
    }

    #[test]
    fn a_version_is_the_first_line_that_is_printed() {
        let dir = tempfile::tempdir().unwrap();
        let soon = Duration::from_secs(10);
        let printed = |text: &str| version_of_script(&script(&dir, text), soon);
        assert_eq!(printed("echo; echo \" 7 for $1 \"; echo more"), "7 for --version");
        assert_eq!(printed("echo version 7 >&2"), "version 7");
        assert_eq!(printed("echo unknown option >&2; exit 2"), "", "a complaint is no version");
        assert_eq!(printed("cat; pwd"), "/", "nothing on standard input, and not in a tree");
        assert_eq!(version(&Program { name: "x".to_owned(), path: "/nowhere/x".into() }), "");
    }

    #[test]
    fn a_program_that_does_not_answer_is_ended() {
        let dir = tempfile::tempdir().unwrap();
        let start = Instant::now();
        assert_eq!(version_of_script(&script(&dir, "sleep 100"), Duration::from_millis(100)), "");
        assert!(start.elapsed() < Duration::from_secs(50));
    }
}
