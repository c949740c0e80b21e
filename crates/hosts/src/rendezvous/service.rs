//! The one thread at the port: it takes whoever dials, carries all handshakes on as far as they
//! have come, and gives connections of ranks to the processes that ask for them.
//!
//! It waits for nobody, so that it needs no thread for anybody, and sleeps between two events.
//! Where many dial it takes what has come every few milliseconds: who floods the port costs little
//! processor time, and a rank waits no longer than that. Connections of ranks are with
//! [`ConnectedRanks`] from the moment they have proved that they know the secret, and take no room
//! here.

use super::lobby::{Lobby, Origin};
use crate::connected::{ConnectedRanks, DIALS_AGAIN_WITHIN};
use crate::descriptor::Request;
use crate::dial::{HANDSHAKE_TIMEOUT, set_options};
use crate::handshake::{Arrival, HandshakeError, RunnerSide, Step, line, of_connection};
use crate::secret::Secret;
use fsarena_model::work::NOT_DIALLED;
use fsarena_process::private::PrivateListener;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::set_socket_linger;
use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// With more than these the port is looked at every [`PACE`].
const FEW: usize = 16;
const PACE: Duration = Duration::from_millis(5);
/// Taken at a time.
const TAKEN_MOST: usize = 256;
/// After no connection could be taken, as where there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);
/// Read at a time; of a rank this is a message.
const PIECE_BYTES: usize = 2048;

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

/// A connection that has proved nothing.
type Dialled = (TcpStream, SocketAddr);

/// A process of the RUN that waits for the connection of a rank.
struct Asker {
    request: Request,
    rank: Option<u32>,
    until: Instant,
}

pub(super) struct Service {
    listening: Listening,
    woken: UnixStream,
    ranks: Arc<ConnectedRanks>,
    report: Box<dyn Fn(Event) + Send>,
    lobby: Lobby<Dialled>,
    /// Where ranks have come from.
    known: BTreeSet<Origin>,
    askers: Vec<Asker>,
    /// Until then the port is not looked at.
    rests_until: Instant,
}

/// What is there to be done.
struct Ready {
    is_woken: bool,
    /// Whether the port and the lobby were looked at.
    has_looked: bool,
    is_asked: bool,
    is_dialled: bool,
    /// Of those in the lobby, from the last to the first.
    guests: Vec<usize>,
    /// Of those that ask, likewise.
    askers: Vec<usize>,
}

impl Service {
    pub(super) fn new(
        listening: Listening,
        woken: UnixStream,
        ranks: Arc<ConnectedRanks>,
        report: Box<dyn Fn(Event) + Send>,
    ) -> Self {
        Self {
            listening,
            woken,
            ranks,
            report,
            lobby: Lobby::new(),
            known: BTreeSet::new(),
            askers: Vec::new(),
            rests_until: Instant::now(),
        }
    }

    /// Works until it is woken for its end.
    pub(super) fn run(mut self) {
        loop {
            let Ok(ready) = self.wait() else { continue };
            if ready.is_woken {
                return;
            }
            for index in ready.guests {
                self.carry_on(index);
            }
            self.end_late();
            if ready.is_dialled {
                self.take_newcomers();
            }
            for index in ready.askers {
                self.hear_asker(index);
            }
            if ready.is_asked {
                self.take_asker();
            }
            self.answer_askers();
            if ready.has_looked && self.lobby.len() > FEW {
                self.rests_until = self.rests_until.max(Instant::now() + PACE);
            }
        }
    }

    /// Sleeps until there is something to be done, or somebody's time is over.
    fn wait(&self) -> io::Result<Ready> {
        let now = Instant::now();
        let rests = now < self.rests_until;
        let mut all = vec![
            PollFd::new(&self.woken, PollFlags::IN),
            PollFd::new(&self.listening.requests, PollFlags::IN),
        ];
        // Of one that has asked only its end is waited for.
        all.extend(self.askers.iter().map(|asker| {
            let flags = if asker.rank.is_none() { PollFlags::IN } else { PollFlags::empty() };
            PollFd::new(&asker.request, flags)
        }));
        let first_dialled = all.len();
        if !rests {
            all.push(PollFd::new(&self.listening.listener, PollFlags::IN));
            let dialled = self.lobby.iter().map(|guest| &guest.connection.0);
            all.extend(dialled.map(|connection| PollFd::new(connection, PollFlags::IN)));
        }
        let deadlines = self.lobby.iter().map(|guest| guest.since + HANDSHAKE_TIMEOUT).min();
        let deadlines = [deadlines, self.askers.iter().map(|asker| asker.until).min()];
        let rest = rests.then_some(self.rests_until);
        let wakes = deadlines.into_iter().chain([rest]).flatten().min();
        let timeout = wakes.map(|until| until.saturating_duration_since(now));
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        poll(&mut all, timeout.as_ref())?;
        let is_ready = |index: usize| all.get(index).is_some_and(|one| !one.revents().is_empty());
        Ok(Ready {
            is_woken: is_ready(0),
            has_looked: !rests,
            is_asked: is_ready(1),
            is_dialled: is_ready(first_dialled),
            guests: (0..self.lobby.len())
                .rev()
                .filter(|n| is_ready(first_dialled + 1 + n))
                .collect(),
            askers: (0..self.askers.len()).rev().filter(|n| is_ready(2 + n)).collect(),
        })
    }

    fn take_newcomers(&mut self) {
        for _ in 0..TAKEN_MOST {
            let dialled = match self.listening.listener.accept() {
                Ok(dialled) => dialled,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    // As where there are too many open files: one that says nothing has one.
                    if let Some(index) = self.lobby.oldest_silent() {
                        self.displace(index);
                    }
                    self.rests_until = Instant::now() + PAUSE;
                    return;
                }
            };
            if dialled.0.set_nonblocking(true).is_err() {
                continue;
            }
            let origin = Origin::new(dialled.1.ip());
            let is_known = self.known.contains(&origin);
            match self.lobby.take(dialled, (origin, is_known), Instant::now()) {
                Ok(displaced) => {
                    if let Some((connection, peer)) = displaced {
                        self.refuse(connection, peer, HandshakeError::Displaced);
                    }
                }
                // All there have their time; a rank dials again.
                Err((connection, peer)) => {
                    self.refuse(connection, peer, HandshakeError::Displaced);
                    continue;
                }
            }
            // A rank has spoken by now.
            self.carry_on(self.lobby.len() - 1);
        }
    }

    /// Takes what has come from one in the lobby, as far as it is there.
    fn carry_on(&mut self, index: usize) {
        let guest = self.lobby.get_mut(index);
        let mut bytes = [0; PIECE_BYTES];
        let step = match guest.connection.0.read(&mut bytes) {
            Ok(0) => Err(HandshakeError::Closed),
            Ok(count) => {
                let Listening { secret, size, version, arch, .. } = &self.listening;
                let wanted = RunnerSide { secret, size: *size, version, arch };
                let take = |arrival: &Arrival| self.ranks.take_in(arrival);
                guest.admission.hear(&bytes[..count], &wanted, &take)
            }
            Err(error) if is_later(&error) => return,
            Err(error) => Err(of_connection(error)),
        };
        let outcome = match step {
            Ok(Step::Wait) => return,
            // There is room for a line in a connection that nothing was sent on.
            Ok(Step::Challenge(line)) => match guest.connection.0.write_all(&line) {
                Ok(()) => return,
                Err(error) => Err(of_connection(error)),
            },
            Ok(Step::Take(arrival, line)) => Ok((arrival, line)),
            Err(error) => Err(error),
        };
        let (connection, peer) = self.lobby.remove(index);
        let taken = outcome.and_then(|(arrival, line)| self.connect(&connection, *arrival, &line));
        match taken {
            Ok(arrival) => {
                self.known.insert(Origin::new(peer.ip()));
                self.ranks.connected(&arrival, connection);
                (self.report)(Event::Arrived(arrival));
            }
            Err(why) => self.refuse(connection, peer, why),
        }
    }

    /// Tells a rank that it is taken; its connection waits from then on as those of others do.
    fn connect(
        &self,
        mut connection: &TcpStream,
        arrival: Arrival,
        taken: &[u8],
    ) -> Result<Arrival, HandshakeError> {
        connection.write_all(taken).map_err(of_connection)?;
        set_options(connection)?;
        connection.set_nonblocking(false)?;
        Ok(arrival)
    }

    /// Ends one that has proved nothing, and tells it why where it speaks as a rank does.
    fn refuse(&self, mut connection: TcpStream, peer: SocketAddr, why: HandshakeError) {
        match why.answer() {
            Some(says) => {
                // Who is refused may be gone already.
                let _ = connection.write_all(&line(&says));
            }
            // Nothing of it stays in the kernel either.
            None => {
                let _ = set_socket_linger(&connection, Some(Duration::ZERO));
            }
        }
        drop(connection);
        (self.report)(Event::Refused { peer, why });
    }

    fn displace(&mut self, index: usize) {
        let (connection, peer) = self.lobby.remove(index);
        self.refuse(connection, peer, HandshakeError::Displaced);
    }

    /// Ends those whose time is over; they are the oldest.
    fn end_late(&mut self) {
        while self.lobby.iter().next().is_some_and(|it| it.since.elapsed() >= HANDSHAKE_TIMEOUT) {
            let (connection, peer) = self.lobby.remove(0);
            self.refuse(connection, peer, HandshakeError::Silent);
        }
    }

    fn take_asker(&mut self) {
        match self.listening.requests.accept() {
            Ok(Some(process)) if process.set_nonblocking(true).is_ok() => {
                let until = Instant::now() + HANDSHAKE_TIMEOUT;
                self.askers.push(Asker { request: Request::new(process), rank: None, until });
            }
            // Another user's, or gone.
            Ok(_) => {}
            Err(error) if is_later(&error) => {}
            Err(_) => std::thread::sleep(PAUSE),
        }
    }

    /// Hears which rank is asked for, or that nobody asks any more.
    fn hear_asker(&mut self, index: usize) {
        let asker = &mut self.askers[index];
        let heard = match asker.rank {
            None => asker.request.rank(),
            Some(_) => Err(HandshakeError::Closed),
        };
        match heard {
            Ok(None) => {}
            Ok(rank) => {
                asker.rank = rank;
                asker.until = Instant::now() + DIALS_AGAIN_WITHIN;
            }
            // It sees its connection end.
            Err(_) => drop(self.askers.remove(index)),
        }
    }

    /// Gives each its answer, where there is one or its time is over.
    fn answer_askers(&mut self) {
        for index in (0..self.askers.len()).rev() {
            let asker = &self.askers[index];
            let begun = asker.rank.map(|rank| self.ranks.begin(rank)).transpose();
            let answer = match begun.map(Option::flatten) {
                Ok(Some(connection)) => Ok(connection),
                Ok(None) if Instant::now() < asker.until => continue,
                Ok(None) => {
                    let limit_s = DIALS_AGAIN_WITHIN.as_secs();
                    Err(format!("{NOT_DIALLED} within {limit_s} s"))
                }
                Err(reason) => Err(reason),
            };
            // A process that is gone takes nothing: the rank sees its connection end.
            let _ = self.askers.remove(index).request.answer(answer);
        }
    }
}

/// Whether it may be done later.
fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
