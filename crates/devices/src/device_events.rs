//! Events of the kernel about devices (uevents): a loop device says so when it has released its
//! file.
//!
//! An event is a reason to look again, and no more: what it says is not read. A process in another
//! network namespace than the machine's, or without the right to listen, hears nothing, so that
//! nothing is waited for longer than until the next look.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};
use std::time::Duration;

/// Longest time between two looks at what is waited for.
const LOOK: Duration = Duration::from_millis(250);

/// Multicast group of the events that the kernel sends itself.
const KERNEL_GROUP: u32 = 1;

/// The events since this was made.
#[derive(Debug)]
pub(crate) struct DeviceEvents(Option<OwnedFd>);

impl DeviceEvents {
    /// Listens from here on: to be called before the first look.
    pub(crate) fn listen() -> Self {
        Self(socket().ok())
    }

    /// Waits for an event, for `limit` at most and for no longer than [`LOOK`].
    pub(crate) fn wait(&self, limit: Duration) {
        let limit = limit.min(LOOK);
        let Some(socket) = &self.0 else { return std::thread::sleep(limit) };
        let limit = Timespec::try_from(limit).ok();
        // An interrupted wait is followed by a look, as any other.
        let _ = poll(&mut [PollFd::new(socket, PollFlags::IN)], limit.as_ref());
        // Those that came together are one reason; what was lost is one too.
        let mut message = [0; 8192];
        while rustix::io::read(socket, &mut message[..]).is_ok_and(|length| length > 0) {}
    }
}

fn socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let protocol = Some(netlink::KOBJECT_UEVENT);
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
    bind(&socket, &SocketAddrNetlink::new(0, KERNEL_GROUP))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn nothing_is_waited_for_longer_than_asked() {
        let events = DeviceEvents::listen();
        let began = Instant::now();
        events.wait(Duration::ZERO);
        DeviceEvents(None).wait(Duration::from_millis(20));
        assert!((20..200).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
        let began = Instant::now();
        DeviceEvents(None).wait(Duration::from_secs(60));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
