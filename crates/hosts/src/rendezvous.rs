//! Where the ranks of a RUN find their runner: it listens, sees who knows the secret, and keeps a
//! connection of each rank until a phase wants it.
//!
//! The port may be dialled by anybody. One thread does all of it: who says nothing, or what he
//! likes, holds up nobody else and costs next to nothing.

mod lobby;
mod service;

use crate::connected::ConnectedRanks;
use service::Service;
pub use service::{Event, Listening};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Name of the socket in the runner's directory at which connections are asked for.
pub const REQUESTS: &str = "ranks";
/// Connections that wait at the port to be taken: those of some time in which this thread does not
/// get to it.
const BACKLOG: i32 = 4096;

/// A runner that can be dialled, until it is dropped.
#[derive(Debug)]
pub struct Rendezvous {
    ranks: Arc<ConnectedRanks>,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
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
    /// Takes ranks from now on; `report` is told of each, by the thread at the port.
    ///
    /// # Errors
    /// When there can be no thread for it.
    pub fn start(
        listening: Listening,
        report: impl Fn(Event) + Send + 'static,
    ) -> io::Result<Self> {
        let ranks = Arc::new(ConnectedRanks::new(listening.size));
        let (wake, woken) = UnixStream::pair()?;
        listening.listener.set_nonblocking(true)?;
        rustix::net::listen(&listening.listener, BACKLOG)?;
        listening.requests.set_nonblocking(true)?;
        let service = Service::new(listening, woken, Arc::clone(&ranks), Box::new(report));
        let work = move || service.run();
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

#[cfg(test)]
mod tests;
