//! A terminal that can be taken away: the program has its other end.

use anyhow::{Context as _, Result};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd, ioctl_fionbio, read};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

/// The end that a terminal window would have. When it is closed, the other end is hung up.
pub(super) struct Terminal {
    window: OwnedFd,
    /// What appears on it.
    shown: File,
}

impl Terminal {
    /// A new one, and the end of its user; what appears on it is written to `shown`.
    pub(super) fn open(shown: File) -> Result<(Self, OwnedFd)> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let window = openpt(flags).context("no terminal can be made")?;
        // The program must not have this end as well.
        fcntl_setfd(&window, fcntl_getfd(&window)? | FdFlags::CLOEXEC)?;
        grantpt(&window)?;
        unlockpt(&window)?;
        ioctl_fionbio(&window, true)?;
        let name = ptsname(&window, Vec::new())?;
        let user = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        Ok((Self { window, shown }, user))
    }

    /// Takes what is on it by now, so that the program never waits for its reader.
    pub(super) fn read(&mut self) {
        let mut bytes = [0; 4096];
        // An error is its end, or that there is nothing yet.
        while let Ok(count @ 1..) = read(&self.window, &mut bytes) {
            let _ = self.shown.write_all(&bytes[..count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_appears_until_it_is_hung_up() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("shown");
        let (mut terminal, user) = Terminal::open(File::create(&path).unwrap()).unwrap();
        let mut user = File::from(user);
        user.write_all(b"one\n").unwrap();
        terminal.read();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\r\n");
        drop(terminal);
        assert!(user.write_all(b"two\n").is_err(), "nobody reads it any more");
    }
}
