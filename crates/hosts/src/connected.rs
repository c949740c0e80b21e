//! The ranks that have dialled a runner: which are there, and an idle connection of each.
//!
//! A rank always has one that is idle, on which it waits for an order. When that one is used for a
//! phase, the rank dials the next before it works.

use crate::dial::has_ended;
use crate::handshake::{Arrival, Bytes32, RunnerSays, say};
use std::net::TcpStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A rank whose connection is used has dialled the next one after this, or is gone.
pub(crate) const DIALS_AGAIN_WITHIN: Duration = Duration::from_secs(30);
/// How often it is looked whether all are there, and whether a stop was asked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// All ranks of one RUN.
#[derive(Debug)]
pub struct ConnectedRanks {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    ranks: Vec<RankState>,
    /// The RUN has begun: hosts do not change any more.
    is_begun: bool,
}

#[derive(Debug, Default)]
struct RankState {
    /// The process that is this rank.
    process: Option<Bytes32>,
    hostname: String,
    idle: Option<TcpStream>,
    /// When it was taken, or its connection was used.
    since: Option<Instant>,
}

impl RankState {
    fn is_alive(&self) -> bool {
        match &self.idle {
            Some(idle) => !has_ended(idle),
            None => self.since.is_some_and(|since| since.elapsed() < DIALS_AGAIN_WITHIN),
        }
    }

    fn is_idle(&self) -> bool {
        self.idle.is_some() && self.is_alive()
    }
}

impl ConnectedRanks {
    /// None is there yet.
    #[must_use]
    pub fn new(size: u32) -> Self {
        let ranks = (0..size).map(|_| RankState::default()).collect();
        Self { state: Mutex::new(State { ranks, is_begun: false }), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a rank, whose connection follows.
    ///
    /// # Errors
    /// When another process is that rank, or it is on another host than it was.
    pub(crate) fn take_in(&self, arrival: &Arrival) -> Result<(), String> {
        let mut state = self.state();
        let is_begun = state.is_begun;
        let (rank, name) = (arrival.identity.rank, &arrival.host.hostname);
        let Some(known) = state.ranks.get_mut(rank as usize) else {
            return Err(format!("rank {rank} on {name}: there is no such rank"));
        };
        let is_other = known.process.is_some_and(|process| process != arrival.identity.process);
        if is_other && known.is_alive() {
            let there = &known.hostname;
            return Err(format!(
                "rank {rank} on {name}: a process on {there} is this rank already; start each once"
            ));
        }
        if is_begun && known.hostname != *name {
            let there = &known.hostname;
            return Err(format!("rank {rank} on {name}: it was on {there}; start it there again"));
        }
        *known = RankState {
            process: Some(arrival.identity.process),
            hostname: name.clone(),
            idle: None,
            since: Some(Instant::now()),
        };
        Ok(())
    }

    /// The connection of a rank that was taken in, idle from now on.
    pub(crate) fn connected(&self, arrival: &Arrival, connection: TcpStream) {
        let mut state = self.state();
        let rank = state.ranks.get_mut(arrival.identity.rank as usize);
        if let Some(known) = rank.filter(|known| known.process == Some(arrival.identity.process)) {
            known.idle = Some(connection);
        }
        self.changed.notify_all();
    }

    /// The idle connection of a rank, which has been told to begin; nothing where it has not
    /// dialled again yet.
    ///
    /// # Errors
    /// When it is gone.
    pub(crate) fn begin(&self, rank: u32) -> Result<Option<TcpStream>, String> {
        let mut state = self.state();
        let Some(known) = state.ranks.get_mut(rank as usize) else {
            return Err(format!("there is no rank {rank}"));
        };
        if known.idle.is_none() {
            return Ok(None);
        }
        let Some(mut idle) = known.idle.take_if(|idle| !has_ended(idle)) else {
            return Err("it has ended; start it there again".to_owned());
        };
        known.since = Some(Instant::now());
        match say(&mut idle, &RunnerSays::Begin) {
            Ok(()) => Ok(Some(idle)),
            Err(error) => Err(format!("it cannot be told to begin: {error}")),
        }
    }

    /// Waits until all are there; the host name of each, or those that are missing. It is given up
    /// after `limit`, or when `is_stopped` says so.
    ///
    /// # Errors
    /// The ranks that are missing.
    pub fn wait_for_all(
        &self,
        limit: Duration,
        is_stopped: impl Fn() -> bool,
    ) -> Result<Vec<String>, Vec<u32>> {
        let until = Instant::now() + limit;
        let mut state = self.state();
        loop {
            let numbered = (0..).zip(&state.ranks);
            let missing = numbered.filter(|(_, rank)| !rank.is_idle()).map(|(number, _)| number);
            let missing: Vec<u32> = missing.collect();
            if missing.is_empty() {
                state.is_begun = true;
                return Ok(state.ranks.iter().map(|rank| rank.hostname.clone()).collect());
            }
            if is_stopped() || Instant::now() >= until {
                return Err(missing);
            }
            let waited = self.changed.wait_timeout(state, LOOK_EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Tells all that the runner ends, and whether its RUN was done.
    pub fn end(&self, done: bool) {
        for rank in &mut self.state().ranks {
            if let Some(mut idle) = rank.idle.take() {
                // Who is gone needs no word.
                let _ = say(&mut idle, &RunnerSays::End { done });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::{Identity, hear};
    use fsarena_model::work::HostHello;
    use std::net::TcpListener;

    fn arrival(rank: u32, process: u8, hostname: &str) -> Arrival {
        let identity = Identity { rank, size: 2, process: Bytes32([process; 32]) };
        Arrival {
            identity,
            host: HostHello { hostname: hostname.to_owned(), ..HostHello::default() },
        }
    }

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn missing(ranks: &ConnectedRanks) -> Vec<u32> {
        ranks.wait_for_all(Duration::ZERO, || false).unwrap_err()
    }

    #[test]
    fn a_rank_is_one_process_as_long_as_it_lives() {
        let ranks = ConnectedRanks::new(2);
        assert_eq!(missing(&ranks), [0, 1]);
        let (near, far) = pair();
        ranks.take_in(&arrival(1, 1, "a")).unwrap();
        ranks.connected(&arrival(1, 1, "a"), far);
        assert_eq!(missing(&ranks), [0]);
        let refused = ranks.take_in(&arrival(1, 2, "b")).unwrap_err();
        assert_eq!(refused, "rank 1 on b: a process on a is this rank already; start each once");
        assert!(ranks.take_in(&arrival(2, 1, "a")).unwrap_err().contains("no such rank"));
        drop(near);
        assert_eq!(missing(&ranks), [0, 1], "it has ended");
        ranks.take_in(&arrival(1, 2, "b")).unwrap();
        // Its connection is under way.
        assert!(ranks.take_in(&arrival(1, 3, "c")).is_err());
    }

    #[test]
    fn a_phase_takes_the_idle_connection_and_waits_for_the_next() {
        let ranks = ConnectedRanks::new(1);
        let (mut near, far) = pair();
        ranks.take_in(&arrival(0, 1, "a")).unwrap();
        ranks.connected(&arrival(0, 1, "a"), far);
        assert_eq!(ranks.wait_for_all(Duration::ZERO, || false).unwrap(), ["a"]);
        let used = ranks.begin(0).unwrap().unwrap();
        assert_eq!(hear::<RunnerSays>(&mut near).unwrap(), RunnerSays::Begin);
        assert!(ranks.take_in(&arrival(0, 2, "a")).is_err(), "the rank is at work");
        assert!(ranks.begin(0).unwrap().is_none(), "it has not dialled again yet");
        let (next, far) = pair();
        ranks.take_in(&arrival(0, 1, "a")).unwrap();
        ranks.connected(&arrival(0, 1, "a"), far);
        assert!(ranks.begin(0).unwrap().is_some());
        drop((used, next));
        let (near, far) = pair();
        ranks.take_in(&arrival(0, 1, "a")).unwrap();
        ranks.connected(&arrival(0, 1, "a"), far);
        drop(near);
        let gone = ranks.begin(0).unwrap_err();
        assert_eq!(gone, "it has ended; start it there again");
        let moved = ranks.take_in(&arrival(0, 2, "b")).unwrap_err();
        assert_eq!(moved, "rank 0 on b: it was on a; start it there again");
    }

    #[test]
    fn all_are_told_of_the_end() {
        let ranks = ConnectedRanks::new(1);
        let (mut near, far) = pair();
        ranks.take_in(&arrival(0, 1, "a")).unwrap();
        ranks.connected(&arrival(0, 1, "a"), far);
        ranks.end(true);
        assert_eq!(hear::<RunnerSays>(&mut near).unwrap(), RunnerSays::End { done: true });
    }
}
