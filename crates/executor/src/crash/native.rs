//! Tasks of crash safety under the kernel of this machine: a process of its own with its own mounts
//! and processes, so that nothing stays mounted, however it ends.
//!
//! It takes one task a line from its standard input, which is a socket, and answers there. When the
//! other end closes, both processes end at once, in the middle of a task too: an inner one that
//! sleeps until its next op would otherwise outlive a runner that was killed.

use super::check::FileReader;
use super::{CrashTask, done};
use crate::place::{PlaceError, enter_own_processes, spawn_inside};
use fsarena_bounded::Bounded;
use fsarena_process::program::TrustedProgram;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use std::io::{self, BufReader, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};

/// Bytes of a task, at most.
const LINE_MOST_BYTES: u64 = 512 << 20;

/// What is asked for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NativeRequest {
    /// A task; its file systems are mounted on `mnt`, an empty directory.
    Do { mnt: PathBuf, task: Box<CrashTask> },
    /// What work has left mounted is unmounted.
    Unmount { mnt: PathBuf },
}

/// What came of a task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NativeAnswer {
    /// Its record as JSON, or what was seen in its only state; of an unmount nothing.
    Done(String),
    /// Why it could not be done.
    Failed(String),
}

/// The outer process: makes the namespaces and runs `program crash_executor --inside` in them.
///
/// # Errors
/// Without the right to namespaces, or where it cannot be started.
pub fn crash_executor_outside(program: &TrustedProgram) -> Result<ExitStatus, PlaceError> {
    let inner = spawn_inside(program, &["crash_executor", "--inside"])?;
    Ok(ended_with(inner, io::stdin().as_fd())?)
}

/// The end of `child`, which is killed where the other end of `socket` closes first.
fn ended_with(mut child: Child, socket: BorrowedFd<'_>) -> io::Result<ExitStatus> {
    let end = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    // Nothing is read here: the lines are the child's. A closed socket needs not be asked for.
    let mut either = [PollFd::new(&end, PollFlags::IN), PollFd::new(&socket, PollFlags::empty())];
    rustix::io::retry_on_intr(|| poll(&mut either, None))?;
    if either[0].revents().is_empty() {
        child.kill()?;
    }
    child.wait()
}

/// The inner one: carries out tasks until its input ends.
///
/// # Errors
/// When its input fails, or the process cannot be prepared.
pub fn crash_executor_inside() -> Result<(), PlaceError> {
    enter_own_processes()?;
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    // Programs that are started do not hold it open.
    fcntl_setfd(&input, FdFlags::CLOEXEC).map_err(io::Error::from)?;
    let socket = UnixStream::from(input);
    let mut lines = Bounded::new(BufReader::new(socket.try_clone()?), LINE_MOST_BYTES);
    let mut reader = None;
    while let Some(line) = lines.next_text_line()? {
        let answer = match answer(&line, &mut reader) {
            Ok(record) => NativeAnswer::Done(record),
            Err(error) => NativeAnswer::Failed(error),
        };
        let mut text = serde_json::to_string(&answer).map_err(io::Error::from)?;
        text.push('\n');
        (&socket).write_all(text.as_bytes())?;
    }
    Ok(())
}

fn answer(line: &str, reader: &mut Option<FileReader>) -> Result<String, String> {
    match serde_json::from_str(line).map_err(|error| format!("the task: {error}"))? {
        NativeRequest::Do { mnt, task } => {
            let mut seen = String::new();
            let mut take = |line: &str| {
                line.clone_into(&mut seen);
                Ok(())
            };
            let record = done(&task, &mnt, reader, &mut take).map_err(|error| error.to_string())?;
            Ok(if seen.is_empty() { record } else { seen })
        }
        NativeRequest::Unmount { mnt } => {
            let done = unmount(&mnt, UnmountFlags::NOFOLLOW);
            done.map(|()| String::new()).map_err(|error| format!("{}: {error}", mnt.display()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_process::command::ProgramCommand;
    use std::os::unix::process::ExitStatusExt as _;

    fn shell(text: &str) -> Child {
        ProgramCommand::new(&TrustedProgram::confirmed(text)).spawn().unwrap()
    }

    #[test]
    fn a_task_ends_with_whoever_asked_for_it() {
        let (theirs, ours) = UnixStream::pair().unwrap();
        let child = shell("exec sleep 600");
        let ends = std::thread::spawn(move || ended_with(child, ours.as_fd()));
        assert!(!ends.is_finished());
        drop(theirs);
        assert_eq!(ends.join().unwrap().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_line_that_waits_is_no_end() {
        let (theirs, ours) = UnixStream::pair().unwrap();
        (&theirs).write_all(b"a task\n").unwrap();
        assert_eq!(ended_with(shell("exit 3"), ours.as_fd()).unwrap().code(), Some(3));
    }
}
