//! A command of the shell in a directory, whose lines are read while it works.
//!
//! Each line is told right when it was read, so that the caller knows when it was there. What the
//! command has started ends with it, also a daemon that has left its process group.

use crate::OrphanReaper;
use crate::child::end_with_parent;
use crate::cmd::{Captured, End, OUTPUT_MAX_BYTES, OUTPUT_PERIOD, Streams, kill_group};
use crate::command::ProgramCommand;
use crate::program::TrustedProgram;
use crate::tunables;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::ffi::OsString;
use std::io::{self, PipeReader, Read as _};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

const PIECE_BYTES: usize = 64 << 10;
/// Of a line that does not end; it is told in pieces.
const LINE_MOST_BYTES: usize = 1 << 20;

/// What to run, and where.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// What the user has confirmed.
    pub command: &'a TrustedProgram,
    /// Its working directory.
    pub dir: &'a Path,
    /// All of its environment.
    pub env: &'a [(&'a str, OsString)],
    /// On its standard input.
    pub input: &'a str,
    /// It is killed when this has passed.
    pub limit: Duration,
}

impl Script<'_> {
    /// Runs it and waits for its end; `on_line` has each line of its standard output, without the
    /// line feed, and what is left at the end where it does not end with one.
    ///
    /// # Errors
    /// When it cannot be started or waited for.
    pub fn run(&self, on_line: &mut dyn FnMut(&str)) -> io::Result<Captured> {
        let mut command = ProgramCommand::new(self.command);
        command.current_dir(self.dir).own_group();
        command.env_clear().envs(tunables::inherited());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        let mut streams = Streams::new(self.input)?;
        streams.attach(&mut command)?;
        let (reader, writer) = io::pipe()?;
        command.stdout(writer);
        end_with_parent(&mut command, Signal::KILL);
        // A descendant may keep the pipe: it is read to what is in it, not to its end.
        fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
        let orphans = OrphanReaper::mark();
        let started = Instant::now();
        let child = command.spawn()?;
        // The command keeps the other end of the pipe.
        drop(command);
        let group = Pid::from_child(&child);
        let mut lines = Lines { reader, text: String::new(), rest: Vec::new(), on_line };
        let end = lines.until_end(child, started + self.limit, &streams);
        // Those in its group that have not ended.
        let _ = kill_process_group(group, Signal::KILL);
        orphans.end();
        let elapsed_ns = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let end = end?;
        lines.take_all()?;
        lines.finish();
        let (_, stderr) = streams.read_after(end)?;
        Ok(Captured { end, broken_limit: None, stdout: lines.text, stderr, elapsed_ns })
    }
}

/// Lines of a pipe.
struct Lines<'a> {
    reader: PipeReader,
    /// All that was read, but for the line that has not ended.
    text: String,
    rest: Vec<u8>,
    on_line: &'a mut dyn FnMut(&str),
}

impl Lines<'_> {
    /// Reads until the child has ended; kills its group at the deadline, or when it prints too
    /// much.
    fn until_end(
        &mut self,
        mut child: Child,
        deadline: Instant,
        streams: &Streams,
    ) -> io::Result<End> {
        let pid = Pid::from_child(&child);
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        let mut is_open = true;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                kill_group(&mut child)?;
                return Ok(End::TimedOut);
            }
            let pause = Timespec::try_from(left.min(OUTPUT_PERIOD)).map_err(io::Error::other)?;
            let both = [&process as &dyn std::os::fd::AsFd, &self.reader];
            let mut waited: Vec<PollFd<'_>> =
                both.iter().take(1 + usize::from(is_open)).map(|fd| fd_of(*fd)).collect();
            match poll(&mut waited, Some(&pause)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let has_ended = !waited[0].revents().is_empty();
            is_open = is_open && self.take_all()?;
            if self.text.len() as u64 > OUTPUT_MAX_BYTES || streams.are_too_long() {
                kill_group(&mut child)?;
                return Ok(End::TooMuchOutput);
            }
            if has_ended {
                return child.wait().map(End::Ended);
            }
        }
    }

    /// Takes what is in the pipe; whether more can come.
    fn take_all(&mut self) -> io::Result<bool> {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match self.reader.read(&mut piece) {
                Ok(0) => return Ok(false),
                Ok(bytes) => self.take(&piece[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        while let Some(at) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=at).collect();
            self.tell(&line);
        }
        if self.rest.len() > LINE_MOST_BYTES {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if !self.rest.is_empty() {
            let line = std::mem::take(&mut self.rest);
            self.tell(&line);
        }
    }

    fn tell(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        self.text.push_str(&line);
        (self.on_line)(line.strip_suffix('\n').unwrap_or(&line));
    }
}

fn fd_of(fd: &dyn std::os::fd::AsFd) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    fn run(text: &str, limit: Duration) -> (Captured, Vec<(String, Instant)>) {
        let mut lines = Vec::new();
        let env = [("A", OsString::from("b c"))];
        let command = &TrustedProgram::confirmed(text);
        let script = Script { command, dir: Path::new("/"), env: &env, input: "in\n", limit };
        let ran = script.run(&mut |line| lines.push((line.to_owned(), Instant::now()))).unwrap();
        (ran, lines)
    }

    #[test]
    fn lines_come_when_they_are_printed() {
        let text = "cat; pwd; echo \"$A\" >&2; sleep 0.3; printf 'no end'; exit 3";
        let (ran, lines) = run(text, SOON);
        let texts: Vec<&str> = lines.iter().map(|(line, _)| line.as_str()).collect();
        assert_eq!(texts, ["in", "/", "no end"]);
        assert!(lines[2].1 - lines[1].1 > Duration::from_millis(200));
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("in\n/\nno end", "b c\n"));
        assert!(matches!(ran.end, End::Ended(status) if status.code() == Some(3)));
    }

    #[test]
    fn many_lines_are_all_read() {
        let (ran, lines) = run("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done", SOON);
        assert!(ran.succeeded());
        assert!(lines.iter().enumerate().all(|(at, (line, _))| *line == at.to_string()));
        assert_eq!(lines.len(), 20_000);
    }

    #[test]
    fn a_daemon_that_keeps_the_output_is_ended_and_not_waited_for() {
        let started = Instant::now();
        let (ran, lines) = run("sleep 60 & setsid sleep 60 & echo $!", SOON);
        assert!(ran.succeeded() && started.elapsed() < SOON);
        assert!(!Path::new("/proc").join(&lines[0].0).exists(), "{lines:?}");
    }

    #[test]
    fn one_that_prints_for_ever_is_killed() {
        let (ran, _) = run("yes | tr -d '\\n' | head -c 300M", SOON * 3);
        assert!(matches!(ran.end, End::TooMuchOutput), "{:?}", ran.end);
        let (ran, _) = run("yes >&2", SOON * 3);
        assert!(matches!(ran.end, End::TooMuchOutput), "{:?}", ran.end);
    }

    #[test]
    fn a_limit_ends_it() {
        let (ran, lines) = run("echo one; sleep 60", Duration::from_millis(300));
        assert!(matches!(ran.end, End::TimedOut));
        assert_eq!(lines.len(), 1);
    }
}
