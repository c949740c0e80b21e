//! A second process of this program that works for this one and ends with it.
//!
//! Its standard input is one end of a socket; what ends, or closes, the other end is the end of the
//! process. So it needs no signal, and does not care which thread has started it.

use crate::command::ProgramCommand;
use crate::program::TrustedProgram;
use fsarena_bounded::Bounded;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Bytes of an answer, at most: records of crash states are the longest.
const LINE_MOST_BYTES: u64 = 512 << 20;

/// See the module. Dropped, it is killed.
#[derive(Debug)]
pub struct Partner {
    control: Option<UnixStream>,
    child: Child,
}

impl Partner {
    /// Starts this program with one argument; `output` becomes its standard output, and is nobody
    /// else's. Signals of a terminal do not reach it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(argument: &str, output: OwnedFd) -> io::Result<Self> {
        let mut command = ProgramCommand::new(&TrustedProgram::own());
        command.arg(argument);
        Self::start_command(command, output)
    }

    fn start_command(mut command: ProgramCommand, output: OwnedFd) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        command.stdin(OwnedFd::from(theirs)).stdout(output).stderr(Stdio::null()).own_group();
        let child = command.spawn()?;
        // The command has kept the other end of the socket, and the output.
        drop(command);
        Ok(Self { control: Some(ours), child })
    }

    /// Sends a line and waits for one; empty where the process has ended.
    ///
    /// # Errors
    /// When it does not answer in time.
    pub fn ask(&self, line: &str, limit: Duration) -> io::Result<String> {
        self.tell(line)?;
        self.answer(limit)
    }

    /// Sends a line; its answer is to be read before the next one.
    ///
    /// # Errors
    /// When nobody reads it any more.
    pub fn tell(&self, line: &str) -> io::Result<()> {
        let Some(mut control) = self.control.as_ref() else { return Ok(()) };
        control.write_all(format!("{line}\n").as_bytes())
    }

    /// Whether an answer, or the end of the process, comes within this time.
    ///
    /// # Errors
    /// Of poll(2).
    pub fn is_answering(&self, wait: Duration) -> io::Result<bool> {
        let Some(control) = self.control.as_ref() else { return Ok(true) };
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        let mut there = [PollFd::new(control, PollFlags::IN)];
        match poll(&mut there, Some(&wait)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The answer to a line; empty where the process has ended.
    ///
    /// # Errors
    /// When it does not come in time.
    pub fn answer(&self, limit: Duration) -> io::Result<String> {
        let Some(control) = self.control.as_ref() else { return Ok(String::new()) };
        control.set_read_timeout(Some(limit))?;
        let answer = Bounded::new(BufReader::new(control), LINE_MOST_BYTES).next_text_line()?;
        Ok(answer.unwrap_or_default().trim_end().to_owned())
    }

    /// Lets it end; kills it where it does not in time.
    pub fn end(&mut self, limit: Duration) {
        if self.control.take().is_none() {
            return;
        }
        let deadline = Instant::now() + limit;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.kill();
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        self.control = None;
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(10);

    fn shell(text: &str) -> Partner {
        let command = ProgramCommand::new(&TrustedProgram::confirmed(text));
        Partner::start_command(command, tempfile::tempfile().unwrap().into()).unwrap()
    }

    #[test]
    fn it_answers_and_ends_with_its_input() {
        let mut partner = shell("read a; echo \"got $a\" >&0; read b; exit 0");
        assert_eq!(partner.ask("x y", SOON).unwrap(), "got x y");
        assert!(!partner.is_answering(Duration::ZERO).unwrap());
        assert!(partner.child.try_wait().unwrap().is_none());
        partner.end(SOON);
        assert!(partner.child.try_wait().unwrap().unwrap().success(), "not killed");
    }

    #[test]
    fn one_that_does_not_end_is_killed_and_one_that_has_ended_says_nothing() {
        let mut deaf = shell("exec sleep 60");
        deaf.end(Duration::from_millis(50));
        assert!(!deaf.child.try_wait().unwrap().unwrap().success());
        let gone = shell("read a; exit 3");
        assert_eq!(gone.ask("x", SOON).unwrap(), "");
    }
}
