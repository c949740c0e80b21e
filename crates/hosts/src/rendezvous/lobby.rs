//! Who has dialled and has proved nothing yet. There is room for few, and anybody may dial: this
//! decides who goes where it is full.
//!
//! First whoever has said nothing, the oldest first. A rank speaks at once, so that it stays among
//! any number of others that do not. Of those that greet as ranks do, each has a while in which it
//! would have proved that it knows the secret. One address has a share of the room alone, and where
//! ranks have come from before, newcomers go before strangers.

use crate::handshake::Admission;
use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

/// Handshakes at once.
pub(super) const MOST: usize = 256;
/// Of one address.
pub(super) const MOST_OF_ADDRESS: usize = 128;
/// As long as a rank that has greeted may take to prove itself, where others wait for its room.
const PROOF_TIME: Duration = Duration::from_millis(100);

/// An address as far as it tells users apart: who has one of IPv6 has all of its network.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Origin(IpAddr);

impl Origin {
    pub(super) fn new(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                Self(Ipv6Addr::from_bits(network).into())
            }
            address => Self(address),
        }
    }
}

/// One handshake under way.
#[derive(Debug)]
pub(super) struct Guest<C> {
    pub(super) connection: C,
    pub(super) admission: Admission,
    pub(super) since: Instant,
    origin: Origin,
    /// Ranks have come from its address.
    is_known: bool,
}

/// All of them, the oldest first.
#[derive(Debug)]
pub(super) struct Lobby<C>(Vec<Guest<C>>);

impl<C> Lobby<C> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Guest<C>> {
        self.0.iter()
    }

    pub(super) fn get_mut(&mut self, index: usize) -> &mut Guest<C> {
        &mut self.0[index]
    }

    pub(super) fn remove(&mut self, index: usize) -> C {
        self.0.remove(index).connection
    }

    /// Takes a newcomer where there is room, and gives whoever went for it; where there is none it
    /// is given back, to come again.
    ///
    /// # Errors
    /// The newcomer.
    pub(super) fn take(
        &mut self,
        connection: C,
        (origin, is_known): (Origin, bool),
        now: Instant,
    ) -> Result<Option<C>, C> {
        let gone = match self.displaced(origin, is_known, now) {
            Room::Free => None,
            Room::Of(index) => Some(self.remove(index)),
            Room::None => return Err(connection),
        };
        let admission = Admission::default();
        self.0.push(Guest { connection, admission, since: now, origin, is_known });
        Ok(gone)
    }

    /// Whoever is silent for the longest time, to make room for what is no handshake.
    pub(super) fn oldest_silent(&self) -> Option<usize> {
        self.0.iter().position(|guest| !guest.admission.has_greeted())
    }

    fn displaced(&self, origin: Origin, is_known: bool, now: Instant) -> Room {
        let count = |of: Origin| self.0.iter().filter(|guest| guest.origin == of).count();
        if count(origin) >= MOST_OF_ADDRESS {
            return self.least_worthy(|guest| guest.origin == origin, false, now);
        }
        if self.0.len() < MOST {
            return Room::Free;
        }
        if self.0.iter().all(|guest| guest.is_known) {
            return self.least_worthy(|_| true, false, now);
        }
        self.least_worthy(|guest| !guest.is_known, is_known, now)
    }

    /// Of those that may go the one that has the least to lose; at once, or after its time.
    fn least_worthy(
        &self,
        may_go: impl Fn(&Guest<C>) -> bool,
        at_once: bool,
        now: Instant,
    ) -> Room {
        let mut oldest_greeted = None;
        for (index, guest) in self.0.iter().enumerate().filter(|(_, guest)| may_go(guest)) {
            if !guest.admission.has_greeted() {
                return Room::Of(index);
            }
            oldest_greeted = oldest_greeted.or(Some((index, guest.since)));
        }
        match oldest_greeted {
            Some((index, since)) if at_once || now.duration_since(since) >= PROOF_TIME => {
                Room::Of(index)
            }
            _ => Room::None,
        }
    }
}

enum Room {
    Free,
    /// Of the one at this index, which goes.
    Of(usize),
    None,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handshake::{Bytes32, PROTOCOL, RankSays, RunnerSide, say};
    use crate::secret::Secret;

    fn origin(last: u8) -> Origin {
        Origin::new([10, 0, 0, last].into())
    }

    /// Greets as a rank does, which anybody can.
    fn greet(guest: &mut Guest<usize>) {
        let secret = Secret::random().unwrap();
        let wanted = RunnerSide { secret: &secret, size: 1, version: "", arch: "" };
        let (process, nonce) = (Bytes32([0; 32]), Bytes32([1; 32]));
        let greeting = RankSays::Greeting { protocol: PROTOCOL, rank: 0, size: 1, process, nonce };
        let mut line = Vec::new();
        say(&mut line, &greeting).unwrap();
        guest.admission.hear(&line, &wanted, &|_| Ok(())).unwrap();
    }

    struct Dialled {
        lobby: Lobby<usize>,
        next: usize,
        now: Instant,
    }

    impl Dialled {
        fn new() -> Self {
            Self { lobby: Lobby::new(), next: 0, now: Instant::now() }
        }

        /// The number of whoever went for the next one.
        fn dial(&mut self, origin: Origin, is_known: bool) -> Result<Option<usize>, usize> {
            self.next += 1;
            self.lobby.take(self.next - 1, (origin, is_known), self.now)
        }

        fn greet_last(&mut self) {
            let last = self.lobby.len() - 1;
            greet(self.lobby.get_mut(last));
        }
    }

    #[test]
    fn whoever_speaks_stays_among_those_that_do_not() {
        let mut dialled = Dialled::new();
        for _ in 0..3 {
            dialled.dial(origin(1), false).unwrap();
        }
        dialled.greet_last();
        for _ in 0..10_000 {
            assert_ne!(dialled.dial(origin(1), false).unwrap(), Some(2));
        }
        assert_eq!(dialled.lobby.len(), MOST_OF_ADDRESS);
        assert!(dialled.lobby.iter().any(|guest| guest.connection == 2));
        let silent: Vec<usize> = dialled.lobby.iter().map(|guest| guest.connection).collect();
        assert!(silent.is_sorted(), "the oldest go");
    }

    #[test]
    fn one_address_takes_no_room_of_another() {
        let mut dialled = Dialled::new();
        assert_eq!(dialled.dial(origin(1), false), Ok(None));
        for _ in 0..1000 {
            assert_ne!(dialled.dial(origin(2), false).unwrap(), Some(0));
        }
        assert_eq!(dialled.dial(origin(1), false), Ok(None));
        assert_eq!(dialled.lobby.len(), MOST_OF_ADDRESS + 2);
    }

    #[test]
    fn those_that_greet_have_their_time() {
        let mut dialled = Dialled::new();
        for _ in 0..MOST_OF_ADDRESS {
            dialled.dial(origin(1), false).unwrap();
            dialled.greet_last();
        }
        assert!(dialled.dial(origin(1), false).is_err(), "it waits");
        dialled.now += PROOF_TIME;
        assert_eq!(dialled.dial(origin(1), false), Ok(Some(0)));
        dialled.dial(origin(1), false).unwrap();
        assert_eq!(dialled.lobby.oldest_silent(), Some(MOST_OF_ADDRESS - 1));
    }

    #[test]
    fn strangers_go_before_those_whose_address_ranks_have() {
        let mut dialled = Dialled::new();
        let many = |number: usize| Origin::new(IpAddr::from([11, 0, 0, number as u8]));
        dialled.dial(origin(1), true).unwrap();
        for number in 1..MOST {
            dialled.dial(many(number), false).unwrap();
            dialled.greet_last();
        }
        assert!(dialled.dial(many(0), false).is_err(), "all have greeted just now");
        assert_eq!(dialled.dial(origin(2), true), Ok(Some(1)), "a rank needs not wait for them");
        assert_eq!(dialled.lobby.len(), MOST);
        assert!(dialled.lobby.iter().any(|guest| guest.connection == 0));
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let at = |text: &str| Origin::new(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
    }
}
