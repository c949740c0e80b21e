//! A process that speaks for a worker on another host: it hands lines on, tells the clock, and
//! watches for pauses of the worker.
//!
//! It is started there by ssh, and has the connection for standard input and output; or it is a
//! rank of an allocation, which has dialled the runner. The worker is a child of its own and does
//! the work as it does here; this process sleeps meanwhile, but for the watch, which is the one
//! that an executor has beside a worker of its own. It watches its input, which closes when the
//! connection or the runner is gone: then the worker is killed in the middle of whatever it does.

use crate::pause::PauseWatch;
use crate::worker::local_command;
use fsarena_metrics::{KernelRoots, host, monotonic_ns, realtime_ns};
use fsarena_model::work::{HostHello, LINE_MOST_BYTES, WorkerSays};
use fsarena_process::program::TrustedProgram;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const PIECE_BYTES: usize = 64 << 10;

/// Speaks for one worker of `program` between `input` and `output` until either ends.
///
/// # Errors
/// When the worker cannot be started, or one of the pipes fails.
pub fn serve_rank(
    program: &TrustedProgram,
    input: BorrowedFd<'_>,
    mut output: impl Write,
) -> io::Result<()> {
    say(&mut output, &WorkerSays::Host(host_hello()))?;
    let spawned = local_command(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut worker = Worker { child: spawned?, pauses: None };
    let mut to_worker = worker.child.stdin.take().expect("stdin was piped");
    let from_worker = worker.child.stdout.take().expect("stdout was piped");
    let (mut line, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    loop {
        let (runner_speaks, worker_speaks) = wait(input, &from_worker)?;
        if runner_speaks {
            let got = read_piece(input, &mut piece)?;
            if got == 0 {
                return Ok(());
            }
            line.extend_from_slice(&piece[..got]);
            worker.hand_on_lines(&mut line, &mut to_worker, &mut output)?;
        }
        if worker_speaks {
            let got = read_piece(from_worker.as_fd(), &mut piece)?;
            if got == 0 {
                return Ok(());
            }
            output.write_all(&piece[..got])?;
            output.flush()?;
        }
    }
}

/// Who has something to read, or has ended: the runner, the worker.
fn wait(input: BorrowedFd<'_>, from_worker: &ChildStdout) -> io::Result<(bool, bool)> {
    let mut pipes =
        [PollFd::from_borrowed_fd(input, PollFlags::IN), PollFd::new(from_worker, PollFlags::IN)];
    match poll(&mut pipes, None) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok((false, false)),
        Err(errno) => return Err(errno.into()),
    }
    Ok((!pipes[0].revents().is_empty(), !pipes[1].revents().is_empty()))
}

/// 0 at the end.
fn read_piece(from: BorrowedFd<'_>, piece: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| read(from, &mut *piece))?)
}

pub(crate) fn say(output: &mut impl Write, says: &WorkerSays) -> io::Result<()> {
    let text = serde_json::to_string(says).expect("what it says is plain data");
    writeln!(output, "{text}")?;
    output.flush()
}

/// What this host says of itself.
#[must_use]
pub fn host_hello() -> HostHello {
    let here = host(&KernelRoots::default());
    HostHello {
        hostname: here.hostname,
        boot_id: here.boot_id,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        arch: here.architecture,
        unix_ns: realtime_ns(),
        is_root: rustix::process::geteuid().is_root(),
    }
}

/// A worker that ends with this process's work for it.
struct Worker {
    child: Child,
    /// Whether it stands still, from when it is let go until that is asked for.
    pauses: Option<PauseWatch>,
}

impl Worker {
    /// Answers what is asked of this process and gives the worker the rest. A worker that is gone
    /// is heard of by reading.
    fn hand_on_lines(
        &mut self,
        line: &mut Vec<u8>,
        to_worker: &mut ChildStdin,
        output: &mut impl Write,
    ) -> io::Result<()> {
        while let Some(end) = line.iter().position(|&byte| byte == b'\n') {
            let rest = line.split_off(end + 1);
            let one = std::mem::replace(line, rest);
            match &*one {
                b"clock\n" => say(output, &WorkerSays::Clock { monotonic_ns: monotonic_ns() })?,
                b"pauses\n" => {
                    let pauses = self.pauses.take().map(PauseWatch::stop).unwrap_or_default();
                    say(output, &WorkerSays::Pauses(pauses))?;
                }
                _ => {
                    let _ = to_worker.write_all(&one);
                    if one == b"go\n" {
                        let proc = KernelRoots::default().proc;
                        self.pauses = Some(PauseWatch::start(&proc, vec![self.child.id()])?);
                    }
                }
            }
        }
        if line.len() as u64 > LINE_MOST_BYTES {
            return Err(io::Error::other("a line without an end came in"));
        }
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
