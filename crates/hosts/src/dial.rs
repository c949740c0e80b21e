//! The way from a rank to its runner, and what keeps a connection between them honest: it ends
//! within a minute where the network is cut.

use crate::handshake::{HandshakeError, Identity, RunnerSays, hear, introduce};
use crate::secret::Secret;
use fsarena_model::work::HostHello;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

/// Of a handshake, as a whole.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Sent data that is not acknowledged, or silence of the other kernel, for so long ends it.
const USER_TIMEOUT_MS: u32 = 60_000;
const KEEPALIVE: Duration = Duration::from_secs(15);
const KEEPALIVE_COUNT: u32 = 4;
/// Between two attempts to reach a runner: at first, and at most.
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MOST: Duration = Duration::from_secs(1);

/// A rank on its way to its runner.
#[derive(Debug)]
pub struct RankSide<'a> {
    /// HOST:PORT of the runner.
    pub runner: &'a str,
    /// Which rank it is.
    pub identity: &'a Identity,
    /// What both sides know.
    pub secret: &'a Secret,
    /// What it runs on.
    pub host: &'a HostHello,
}

/// Why a rank has no runner.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// Nothing answers.
    #[error(
        "{runner}: no runner answers within {limit_s} s: {reason}; see that `fsarena run \
         --rendezvous` waits there"
    )]
    NoAnswer { runner: String, limit_s: u64, reason: String },
    /// It is another one, or has refused this rank.
    #[error("{runner}: {source}")]
    Refused { runner: String, source: HandshakeError },
}

/// What a runner tells a rank that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Serve a phase on this connection.
    Begin,
    /// The runner has ended.
    End { done: bool },
}

impl RankSide<'_> {
    /// A connection on which the runner is known to know the secret. A runner that is not there
    /// yet, or has its hands full, is asked again for as long as `limit`.
    ///
    /// # Errors
    /// When it does not answer in time, refuses, or does not know the secret.
    pub fn dial(&self, limit: Duration) -> Result<TcpStream, DialError> {
        let until = Instant::now() + limit;
        let mut pause = RETRY_FIRST + Duration::from_millis(u64::from(self.identity.rank % 32));
        loop {
            let reason = match self.dial_once(until) {
                Ok(connection) => return Ok(connection),
                Err(
                    error @ (HandshakeError::Connection(_)
                    | HandshakeError::Closed
                    | HandshakeError::Silent),
                ) => error.to_string(),
                Err(source) => {
                    return Err(DialError::Refused { runner: self.runner.to_owned(), source });
                }
            };
            if Instant::now() + pause >= until {
                let (runner, limit_s) = (self.runner.to_owned(), limit.as_secs());
                return Err(DialError::NoAnswer { runner, limit_s, reason });
            }
            std::thread::sleep(pause);
            pause = RETRY_MOST.min(pause * 2);
        }
    }

    fn dial_once(&self, until: Instant) -> Result<TcpStream, HandshakeError> {
        let mut failed = io::Error::other("its name has no address");
        for address in self.runner.to_socket_addrs()? {
            let left = until.saturating_duration_since(Instant::now());
            let limit = HANDSHAKE_TIMEOUT.min(left).max(RETRY_FIRST);
            match TcpStream::connect_timeout(&address, limit) {
                Ok(connection) => {
                    set_options(&connection)?;
                    let mut timed = Timed::new(&connection, HANDSHAKE_TIMEOUT);
                    introduce(&mut timed, self.secret, self.identity, self.host)?;
                    timed.wait_for_ever()?;
                    return Ok(connection);
                }
                Err(error) => failed = error,
            }
        }
        Err(failed.into())
    }
}

impl Order {
    /// Waits for one on an idle connection.
    ///
    /// # Errors
    /// When the connection ends without one.
    pub fn wait(mut connection: &TcpStream) -> Result<Self, HandshakeError> {
        match hear(&mut connection)? {
            RunnerSays::Begin => Ok(Self::Begin),
            RunnerSays::End { done } => Ok(Self::End { done }),
            _ => Err(HandshakeError::Foreign),
        }
    }
}

/// Lines go out at once, and a side that is gone without a word is noticed.
pub(crate) fn set_options(connection: &TcpStream) -> io::Result<()> {
    connection.set_nodelay(true)?;
    sockopt::set_socket_keepalive(connection, true)?;
    sockopt::set_tcp_keepidle(connection, KEEPALIVE)?;
    sockopt::set_tcp_keepintvl(connection, KEEPALIVE)?;
    sockopt::set_tcp_keepcnt(connection, KEEPALIVE_COUNT)?;
    sockopt::set_tcp_user_timeout(connection, USER_TIMEOUT_MS)?;
    Ok(())
}

/// Whether an idle connection is over: a rank that waits says nothing.
pub(crate) fn has_ended(connection: &TcpStream) -> bool {
    let mut one = [PollFd::new(connection, PollFlags::IN | PollFlags::RDHUP)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut one, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

/// A connection that is read and written until a moment, whatever the other side does.
pub(crate) struct Timed<'a> {
    connection: &'a TcpStream,
    until: Instant,
}

impl<'a> Timed<'a> {
    pub(crate) fn new(connection: &'a TcpStream, limit: Duration) -> Self {
        Self { connection, until: Instant::now() + limit }
    }

    pub(crate) fn wait_for_ever(self) -> io::Result<()> {
        self.connection.set_read_timeout(None)?;
        self.connection.set_write_timeout(None)
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.connection.set_read_timeout(Some(self.left()?))?;
        let mut connection = self.connection;
        connection.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.connection.set_write_timeout(Some(self.left()?))?;
        let mut connection = self.connection;
        connection.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
