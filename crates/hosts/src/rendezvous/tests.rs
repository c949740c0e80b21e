//! A runner and its ranks over TCP, in one process.

use super::*;
use crate::descriptor::request_connection;
use crate::dial::{DialError, HANDSHAKE_TIMEOUT, Order, RankSide};
use crate::handshake::{Bytes32, HandshakeError, Identity};
use crate::secret::Secret;
use fsarena_model::work::HostHello;
use fsarena_process::private::PrivateListener;
use fsarena_testkit::flood::{Flood, Sources};
use std::io::Read as _;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

struct Runner {
    rendezvous: Option<Rendezvous>,
    address: String,
    events: Receiver<Event>,
    dir: tempfile::TempDir,
}

fn secret(text: &str) -> Secret {
    Secret::from_text("test", &text.repeat(8)).unwrap()
}

fn runner(size: u32) -> Runner {
    let dir = tempfile::tempdir().unwrap();
    let listener = listen(Some("127.0.0.1"), 0).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests = PrivateListener::bind(&dir.path().join(REQUESTS)).unwrap();
    let (secret, arch) = (secret("right"), "x86_64".to_owned());
    let listening = Listening { listener, requests, secret, size, version: "0.1.0", arch };
    let (tell, events) = channel();
    let rendezvous = Rendezvous::start(listening, move |event| drop(tell.send(event))).unwrap();
    Runner { rendezvous: Some(rendezvous), address, events, dir }
}

impl Runner {
    fn dial(&self, rank: u32, process: u8, with: &str) -> Result<TcpStream, DialError> {
        let identity = Identity { rank, size: 2, process: Bytes32([process; 32]) };
        let host = HostHello {
            hostname: format!("node{process}"),
            version: "0.1.0".to_owned(),
            arch: "x86_64".to_owned(),
            ..HostHello::default()
        };
        let (runner, secret) = (&*self.address, secret(with));
        let side = RankSide { runner, identity: &identity, secret: &secret, host: &host };
        side.dial(Duration::from_secs(20))
    }

    fn ranks(&self) -> &ConnectedRanks {
        self.rendezvous.as_ref().unwrap().ranks()
    }

    fn request(&self, rank: u32) -> TcpStream {
        let mut runner = UnixStream::connect(self.dir.path().join(REQUESTS)).unwrap();
        request_connection(&mut runner, rank).unwrap()
    }
}

#[test]
fn ranks_come_wait_and_are_told_to_begin() {
    let mut runner = runner(2);
    let first = runner.dial(1, 1, "right").unwrap();
    let none = || false;
    // A connection is taken in by its thread.
    while runner.ranks().wait_for_all(Duration::ZERO, none) != Err(vec![0]) {}
    let other = runner.dial(0, 2, "right").unwrap();
    let names = runner.ranks().wait_for_all(Duration::from_secs(20), none).unwrap();
    assert_eq!(names, ["node2", "node1"]);
    let mut ours = runner.request(1);
    assert_eq!(Order::wait(&first).unwrap(), Order::Begin);
    let next = runner.dial(1, 1, "right").unwrap();
    ours.write_all(b"spec\n").unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let mut heard = String::new();
    (&first).read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "spec\n", "the order is no part of what a worker hears");
    while runner.ranks().wait_for_all(Duration::ZERO, none).is_err() {}
    runner.ranks().end(true);
    for idle in [&other, &next] {
        assert_eq!(Order::wait(idle).unwrap(), Order::End { done: true });
    }
    runner.rendezvous = None;
    assert!(TcpStream::connect(&runner.address).is_err(), "nothing listens any more");
}

#[test]
fn who_does_not_know_the_secret_holds_up_nobody() {
    let runner = runner(2);
    let silent: Vec<TcpStream> =
        (0..10).map(|_| TcpStream::connect(&runner.address).unwrap()).collect();
    let mut foreign = TcpStream::connect(&runner.address).unwrap();
    foreign.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let begun = Instant::now();
    let error = runner.dial(0, 1, "wrong").unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "{}: the secret is another one; give both sides the same --secret-file",
            runner.address
        )
    );
    let taken = runner.dial(0, 1, "right").unwrap();
    assert!(begun.elapsed() < HANDSHAKE_TIMEOUT, "{:?}", begun.elapsed());
    let twice = runner.dial(0, 2, "right").unwrap_err().to_string();
    assert!(twice.contains("rank 0 on node2: a process on node1 is this rank already"), "{twice}");
    let mut whys = Vec::new();
    while whys.len() < 13 {
        match runner.events.recv_timeout(Duration::from_secs(30)).unwrap() {
            Event::Refused { why, .. } => whys.push(why),
            Event::Arrived(arrival) => assert_eq!(arrival.host.hostname, "node1"),
        }
    }
    let count = |is: fn(&HandshakeError) -> bool| whys.iter().filter(|why| is(why)).count();
    assert_eq!(count(|why| matches!(why, HandshakeError::Silent)), silent.len());
    assert_eq!(count(|why| matches!(why, HandshakeError::Foreign)), 1);
    assert_eq!(count(|why| matches!(why, HandshakeError::WrongSecret)), 1);
    drop(taken);
}

#[test]
fn ranks_come_in_whoever_else_dials() {
    for sources in [Sources::One, Sources::Many] {
        let runner = runner(2);
        let port = runner.address.rsplit_once(':').unwrap().1.parse().unwrap();
        let flood = Flood::start(port, 1000, sources);
        let begun = Instant::now();
        let mut dialled = 0;
        while begun.elapsed() < Duration::from_secs(3) {
            let next = runner.dial(1, 1, "right").unwrap();
            let ours = runner.request(1);
            assert_eq!(Order::wait(&next).unwrap(), Order::Begin);
            drop((next, ours));
            dialled += 1;
        }
        assert!(dialled >= 30, "{dialled} times in 3 s");
        assert!(flood.dialled() > 1500, "{} strangers", flood.dialled());
    }
}

#[test]
fn a_port_has_one_runner() {
    let runner = runner(1);
    let port = runner.address.rsplit_once(':').unwrap().1.parse().unwrap();
    let error = listen(Some("127.0.0.1"), port).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
    let open = listen(None, 0).unwrap();
    let port = open.local_addr().unwrap().port();
    assert_eq!(listen(None, port).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    TcpStream::connect(("127.0.0.1", port)).unwrap();
}
