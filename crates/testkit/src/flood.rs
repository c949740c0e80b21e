//! Strangers that dial a port again and again and know no secret: some say nothing, some close at
//! once, some are slow, some greet as a rank does, some speak another protocol.

use rustix::net::socket_with;
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, bind, connect, send};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(5);
/// Connections that are held at a time: descriptors of a process are few.
const HELD_MOST: usize = 500;
/// Of the slow, so many send a byte more each time.
const SLOW_AT_A_TIME: usize = 20;

/// Where they come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sources {
    /// The address that ranks of this machine have.
    One,
    /// Thousands of addresses of the loopback network.
    Many,
}

/// Strangers at work, until this is dropped.
#[derive(Debug)]
pub struct Flood {
    stop: Arc<AtomicBool>,
    dialled: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    /// So many dial `port` of the loopback address each second.
    #[must_use]
    pub fn start(port: u16, per_s: u64, sources: Sources) -> Self {
        let (stop, dialled) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, count) = (Arc::clone(&stop), Arc::clone(&dialled));
        let thread = std::thread::spawn(move || {
            let begun = Instant::now();
            let (mut held, mut slow) = (VecDeque::new(), VecDeque::new());
            let mut number = 0;
            while !stopped.load(Ordering::Relaxed) {
                let due = begun.elapsed().as_millis() as u64 * per_s / 1000;
                // One that was not let run does not make up for all of it at once.
                number = number.max(due.saturating_sub(per_s / 10));
                while number < due {
                    if let Some(connection) = dial(port, number, sources) {
                        count.fetch_add(1, Ordering::Relaxed);
                        speak(connection, number, &mut held, &mut slow);
                    }
                    number += 1;
                }
                held.drain(..held.len().saturating_sub(HELD_MOST / 2));
                slow.drain(..slow.len().saturating_sub(HELD_MOST / 2));
                for connection in slow.iter().rev().take(SLOW_AT_A_TIME) {
                    let _ = send(connection, b" ", SendFlags::NOSIGNAL);
                }
                std::thread::sleep(PERIOD);
            }
        });
        Self { stop, dialled, thread: Some(thread) }
    }

    /// Connections that came to be so far.
    #[must_use]
    pub fn dialled(&self) -> u64 {
        self.dialled.load(Ordering::Relaxed)
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn dial(port: u16, number: u64, sources: Sources) -> Option<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).ok()?;
    // Ends without a trace: their ports would be used up.
    set_socket_linger(&socket, Some(Duration::ZERO)).ok()?;
    if sources == Sources::Many {
        let [.., high, low] = number.to_be_bytes();
        let from = Ipv4Addr::new(127, 1 + (number >> 16) as u8 % 100, high, low.clamp(1, 254));
        bind(&socket, &SocketAddr::V4(SocketAddrV4::new(from, 0))).ok()?;
    }
    let to = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
    match connect(&socket, &to) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Some(socket),
        Err(_) => None,
    }
}

/// Does what strangers do, each its own.
fn speak(
    connection: OwnedFd,
    number: u64,
    held: &mut VecDeque<OwnedFd>,
    slow: &mut VecDeque<OwnedFd>,
) {
    let zeros = "0".repeat(64);
    let greeting = format!(
        "{{\"greeting\":{{\"protocol\":1,\"rank\":0,\"size\":2,\"process\":\"{zeros}\",\
         \"nonce\":\"{zeros}\"}}}}\n"
    );
    let say = |text: &str| {
        // It may have been ended already.
        let _ = send(&connection, text.as_bytes(), SendFlags::NOSIGNAL);
    };
    match number % 5 {
        0 => held.push_back(connection),
        1 => drop(connection),
        2 => {
            say("{");
            slow.push_back(connection);
        }
        3 => {
            say(&greeting);
            held.push_back(connection);
        }
        _ => {
            say("GET / HTTP/1.1\r\n\r\n");
            held.push_back(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn they_come_from_where_they_are_to_and_go_with_the_value() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for sources in [Sources::One, Sources::Many] {
            let flood = Flood::start(port, 1000, sources);
            let peers: Vec<_> = (0..20).map(|_| listener.accept().unwrap().1.ip()).collect();
            let is_one = peers.iter().all(|peer| *peer == Ipv4Addr::LOCALHOST);
            assert_eq!(is_one, sources == Sources::One, "{peers:?}");
            let counted = (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                flood.dialled() >= 20
            });
            assert!(counted, "{}", flood.dialled());
            drop(flood);
            listener.set_nonblocking(true).unwrap();
            while listener.accept().is_ok() {}
            listener.set_nonblocking(false).unwrap();
        }
    }
}
