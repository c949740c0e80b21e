//! Where the ranks of a RUN find their runner: it listens, sees who knows the secret, and keeps a
//! connection of each rank until a phase wants it.
//!
//! The port may be dialled by anybody. Each handshake has a thread and a time limit, and there are
//! few at once: who says nothing holds up nobody else. Between two events the thread that listens
//! sleeps, as it does beside what is timed.

use crate::connected::ConnectedRanks;
use crate::descriptor;
use crate::dial::{HANDSHAKE_TIMEOUT, Timed, set_options};
use crate::handshake::{Arrival, HandshakeError, RunnerSide, admit};
use crate::secret::Secret;
use fsarena_process::private::PrivateListener;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Name of the socket in the runner's directory at which connections are asked for.
pub const REQUESTS: &str = "ranks";
/// Handshakes at once; a rank that finds no room dials again.
const HANDSHAKES_MOST: usize = 64;
/// After no connection could be taken, as where there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// What a runner listens with.
#[derive(Debug)]
pub struct Listening {
    /// Where ranks dial.
    pub listener: TcpListener,
    /// Where processes of the RUN ask for connections; others cannot reach it.
    pub requests: PrivateListener,
    /// What both sides know.
    pub secret: Secret,
    /// Number of ranks.
    pub size: u32,
    /// Of this program.
    pub version: &'static str,
    /// Of this machine.
    pub arch: String,
}

/// What has happened at the port.
#[derive(Debug)]
pub enum Event {
    /// A rank was taken; it may be its next connection.
    Arrived(Arrival),
    /// Somebody was not.
    Refused { peer: SocketAddr, why: HandshakeError },
}

/// A runner that can be dialled, until it is dropped.
#[derive(Debug)]
pub struct Rendezvous {
    ranks: Arc<ConnectedRanks>,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
}

/// What the threads share.
struct Shared {
    secret: Secret,
    size: u32,
    version: &'static str,
    arch: String,
    ranks: Arc<ConnectedRanks>,
    handshakes: AtomicUsize,
    report: Box<dyn Fn(Event) + Send + Sync>,
}

/// Listens at a port of this address; without one at that of all.
///
/// # Errors
/// When the port is in use, or the address is not one of this machine.
pub fn listen(address: Option<&str>, port: u16) -> io::Result<TcpListener> {
    if let Some(address) = address {
        return TcpListener::bind((address, port));
    }
    let all: SocketAddr = (Ipv6Addr::UNSPECIFIED, port).into();
    TcpListener::bind(all).or_else(|error| match error.kind() {
        io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => Err(error),
        // A kernel without IPv6.
        _ => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)),
    })
}

impl Rendezvous {
    /// Takes ranks from now on; `report` is told of each, by any thread.
    ///
    /// # Errors
    /// When there can be no thread for it.
    pub fn start(
        listening: Listening,
        report: impl Fn(Event) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let Listening { listener, requests, secret, size, version, arch } = listening;
        let ranks = Arc::new(ConnectedRanks::new(size));
        let (wake, woken) = UnixStream::pair()?;
        listener.set_nonblocking(true)?;
        requests.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            secret,
            size,
            version,
            arch,
            ranks: Arc::clone(&ranks),
            handshakes: AtomicUsize::new(0),
            report: Box::new(report),
        });
        // They end with this thread, whatever others are still about.
        let work = move || serve(&shared, &listener, &requests, &woken);
        let thread = Builder::new().name("rendezvous".to_owned()).spawn(work)?;
        Ok(Self { ranks, wake, thread: Some(thread) })
    }

    /// Those that are there.
    #[must_use]
    pub fn ranks(&self) -> &ConnectedRanks {
        &self.ranks
    }
}

impl Drop for Rendezvous {
    fn drop(&mut self) {
        let _ = self.wake.write_all(b"x");
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    shared: &Arc<Shared>,
    listener: &TcpListener,
    requests: &PrivateListener,
    woken: &UnixStream,
) {
    loop {
        let mut all = [
            PollFd::new(woken, PollFlags::IN),
            PollFd::new(listener, PollFlags::IN),
            PollFd::new(requests, PollFlags::IN),
        ];
        if poll(&mut all, None).is_err() {
            continue;
        }
        let [is_woken, is_dialled, is_asked] = all.map(|one| !one.revents().is_empty());
        if is_woken {
            return;
        }
        if is_dialled {
            match listener.accept() {
                Ok((connection, peer)) => shared.begin_handshake(connection, peer),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
        if is_asked {
            match requests.accept() {
                Ok(Some(process)) => shared.begin_answer(process),
                // Another user's.
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

impl Shared {
    fn begin_handshake(self: &Arc<Self>, connection: TcpStream, peer: SocketAddr) {
        if self.handshakes.load(Ordering::SeqCst) >= HANDSHAKES_MOST {
            return;
        }
        self.handshakes.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(self);
        let work = move || {
            let done = shared.shake_hands(connection);
            shared.handshakes.fetch_sub(1, Ordering::SeqCst);
            (shared.report)(done.map_or_else(|why| Event::Refused { peer, why }, Event::Arrived));
        };
        if Builder::new().name("handshake".to_owned()).spawn(work).is_err() {
            self.handshakes.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn shake_hands(&self, connection: TcpStream) -> Result<Arrival, HandshakeError> {
        connection.set_nonblocking(false)?;
        set_options(&connection)?;
        let Self { secret, size, version, arch, .. } = self;
        let wanted = RunnerSide { secret, size: *size, version, arch };
        let mut timed = Timed::new(&connection, HANDSHAKE_TIMEOUT);
        let arrival = admit(&mut timed, &wanted, |arrival| self.ranks.take_in(arrival))?;
        timed.wait_for_ever()?;
        self.ranks.connected(&arrival, connection);
        Ok(arrival)
    }

    fn begin_answer(self: &Arc<Self>, mut process: UnixStream) {
        let shared = Arc::clone(self);
        let work = move || {
            let _ = process.set_nonblocking(false);
            let _ = process.set_read_timeout(Some(HANDSHAKE_TIMEOUT));
            if let Ok(rank) = descriptor::requested(&mut process) {
                // A process that is gone takes nothing: the rank sees its connection end.
                let _ = descriptor::answer(&mut process, shared.ranks.begin(rank));
            }
        };
        // Without a thread it is closed, and the process says so.
        let _ = Builder::new().name("rank request".to_owned()).spawn(work);
    }
}

#[cfg(test)]
mod tests;
