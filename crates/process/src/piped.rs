//! A program that is spoken with through pipes as long as it runs, such as ssh: its output is read
//! while others write to it, close its input, or kill it.

use crate::child::end_with_parent;
use crate::command::ProgramCommand;
use crate::program::TrustedProgram;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

/// A program that was started so. It ends with the thread that has started it; dropped, it is
/// killed.
#[derive(Debug)]
pub struct Piped {
    input: Mutex<Option<ChildStdin>>,
    child: Mutex<Child>,
    pidfd: OwnedFd,
}

impl Piped {
    /// Starts a program in a process group of its own, which signals of a terminal do not reach.
    /// Gives what it prints, too.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        program: &TrustedProgram,
        args: &[String],
    ) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let mut command = ProgramCommand::new(program);
        command.args(args).own_group();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        end_with_parent(&mut command, Signal::KILL);
        let mut child = command.spawn()?;
        let missing = || io::Error::other("a stream is missing");
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let input = Mutex::new(child.stdin.take());
        Ok((Self { input, child: Mutex::new(child), pidfd }, output, errors))
    }

    /// Writes to its standard input.
    ///
    /// # Errors
    /// When it does not read any more (`BrokenPipe`, also after [`Piped::close_input`]).
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        match self.input.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(input) => input.write_all(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Ends its standard input, after what is being written.
    pub fn close_input(&self) {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Kills it, if it is still there.
    pub fn kill(&self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// Of poll(2) and waitpid(2).
    pub fn wait(&self) -> io::Result<ExitStatus> {
        loop {
            match poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], None) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.child.lock().unwrap_or_else(PoisonError::into_inner).wait()
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        self.kill();
        let _ = self.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn shell(text: &str) -> (Piped, ChildStdout, ChildStderr) {
        Piped::start(&TrustedProgram::confirmed(text), &[]).unwrap()
    }

    #[test]
    fn both_sides_are_heard() {
        let (piped, mut output, mut errors) = shell("read a; echo got $a; echo err >&2; exit 3");
        piped.write(b"x y\n").unwrap();
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        errors.read_to_string(&mut text).unwrap();
        assert_eq!(text, "got x y\nerr\n");
        assert_eq!(piped.wait().unwrap().code(), Some(3));
        assert_eq!(piped.wait().unwrap().code(), Some(3), "a second time as well");
        piped.kill();
    }

    #[test]
    fn its_input_ends_and_it_is_killed() {
        let (piped, ..) = shell("cat >/dev/null; exit 4");
        piped.close_input();
        assert_eq!(piped.wait().unwrap().code(), Some(4));
        assert_eq!(piped.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        let (piped, ..) = shell("exec sleep 600");
        piped.kill();
        assert_eq!(piped.wait().unwrap().code(), None);
        let no_program = tempfile::NamedTempFile::new().unwrap();
        let no_program = TrustedProgram::at(no_program.path()).unwrap();
        assert!(Piped::start(&no_program, &[]).is_err());
    }
}
