//! `fsarena rank`: a rank that srun or mpirun has started, and the process that speaks for it next
//! to the runner.
//!
//! Nothing is said on standard output, which launchers tear: lines go over a connection of its own.

use crate::args::RankArgs;
use crate::commands::{outlive_signals, remote};
use crate::context::{self, Usage};
use anyhow::{Context as _, Result, bail};
use fsarena_hosts::allocation::{self, Position};
use fsarena_hosts::handshake::{Bytes32, HandshakeError, Identity};
use fsarena_hosts::{Order, REQUESTS, RankSide, request_connection};
use fsarena_model::work::{NOT_DIALLED, WorkerSays};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{self, Read as _, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// For the next connection to a runner that is at work.
const AGAIN_LIMIT: Duration = Duration::from_secs(30);
const PIECE_BYTES: usize = 64 << 10;

/// Dials the runner and serves phases until that ends.
///
/// # Errors
/// When there is no runner, it refuses this rank, or it ends before its RUN is done.
pub fn run(args: &RankArgs) -> Result<ExitCode> {
    let usage = |error: &dyn std::fmt::Display| Usage(error.to_string());
    let variable = |name: &str| std::env::var(name).ok();
    let position = match (args.rank, args.of) {
        (Some(rank), Some(size)) => Position::new(rank, size),
        _ => Position::of_environment(variable),
    };
    let position = position.map_err(|error| usage(&error))?;
    let runner = allocation::runner_address(args.rendezvous.as_deref(), variable);
    let runner = runner.map_err(|error| usage(&error))?;
    let limit = remote::time_limit("--limit", &args.limit)?;
    let Some(secret) = remote::secret(args.secret_file.as_deref())? else {
        refuse!(
            "no secret: name --secret-file FILE, or set FSARENA_SECRET_FILE; `fsarena run \
             --rendezvous` prints which"
        );
    };
    let process = Bytes32::random().context("random numbers")?;
    let identity = Identity { rank: position.rank, size: position.size, process };
    let side = RankSide {
        runner: &runner,
        identity: &identity,
        secret: &secret.secret,
        host: &fsarena_executor::host_hello(),
    };
    work(&side, limit).with_context(|| position.to_string())
}

/// Serves one phase after the other. The next connection is there before work begins on the one
/// before, so that the runner can tell a rank that works from one that is gone.
fn work(side: &RankSide<'_>, limit: Duration) -> Result<ExitCode> {
    let mut idle = side.dial(limit)?;
    loop {
        match Order::wait(&idle) {
            Ok(Order::Begin) => {
                let next = side.dial(AGAIN_LIMIT)?;
                serve(&idle)?;
                idle = next;
            }
            Ok(Order::End { done: true }) => return Ok(ExitCode::SUCCESS),
            Ok(Order::End { done: false }) => {
                bail!("{}: the runner ended before its RUN was done; it says why", side.runner)
            }
            Err(HandshakeError::Closed) => bail!("{}: the runner is gone", side.runner),
            Err(error) => bail!("{}: the runner is gone: {error}", side.runner),
        }
    }
}

/// One phase. A connection that ends takes the worker with it, and is nothing to speak of here: the
/// runner may have been told to stop.
fn serve(connection: &TcpStream) -> Result<()> {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut};
    match fsarena_executor::serve_rank(&context::program(), connection.as_fd(), connection) {
        Err(error)
            if ![BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut]
                .contains(&error.kind()) =>
        {
            Err(error).context("a phase could not be served")
        }
        _ => Ok(()),
    }
}

/// Speaks for a rank next to the runner: asks for its connection at the socket in `dir`, and passes
/// on what both sides say.
///
/// # Errors
/// When standard input or output fails.
pub fn connection(dir: &Path, rank: u32) -> Result<ExitCode> {
    outlive_signals()?;
    let asked = || {
        // The name of a socket is short; that of the directory may not be.
        std::env::set_current_dir(dir)?;
        request_connection(&mut UnixStream::connect(REQUESTS)?, rank)
    };
    match asked() {
        Ok(connection) => {
            // It speaks first, when it has dialled again.
            if !pass_on(io::stdin().as_fd(), &connection, io::stdout().lock())? {
                println_json(&WorkerSays::Refused(format!("{NOT_DIALLED} and is gone")))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            let refused = WorkerSays::Refused(error.to_string());
            println_json(&refused)?;
            Ok(ExitCode::FAILURE)
        }
    }
}

fn println_json(says: &WorkerSays) -> Result<()> {
    let mut line = serde_json::to_string(says).context("what it says")?;
    line.push('\n');
    let mut output = io::stdout().lock();
    output.write_all(line.as_bytes())?;
    Ok(output.flush()?)
}

/// Passes `input` to the connection and what comes from it to `output`, until it ends. The end of
/// `input` is passed on as well. Whether anything came from the connection.
fn pass_on(
    input: BorrowedFd<'_>,
    mut connection: &TcpStream,
    mut output: impl Write,
) -> io::Result<bool> {
    let mut piece = vec![0; PIECE_BYTES];
    let (mut is_open, mut has_spoken) = (true, false);
    loop {
        let mut both = [
            PollFd::from_borrowed_fd(connection.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(input, PollFlags::IN),
        ];
        let waited = if is_open { &mut both[..] } else { &mut both[..1] };
        match poll(waited, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno.into()),
        }
        let [rank_speaks, runner_speaks] = both.map(|one| !one.revents().is_empty());
        if rank_speaks {
            let got = connection.read(&mut piece)?;
            if got == 0 {
                return Ok(has_spoken);
            }
            has_spoken = true;
            output.write_all(&piece[..got])?;
            output.flush()?;
        }
        if is_open && runner_speaks {
            let got = rustix::io::retry_on_intr(|| rustix::io::read(input, &mut piece[..]))?;
            if got == 0 {
                is_open = false;
                connection.shutdown(Shutdown::Write)?;
            }
            connection.write_all(&piece[..got])?;
        }
    }
}
