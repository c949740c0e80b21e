//! Directories, files and sockets of this user's alone, whatever the umask says. What lies in them
//! is believed or secret, so this is the only place that makes them.
//!
//! A mode is part of the call that makes the thing; nothing is open for a moment and closed after.
//! Who comes to a socket is asked for by the kernel's word (`SO_PEERCRED`) as well.

use rustix::fs::{Mode, OFlags, fchmod, open};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::net::{bind, listen, socket_with, sockopt};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use tempfile::TempDir;

const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Connections that wait to be taken, at most.
const BACKLOG: i32 = 128;

/// Makes a new directory.
///
/// # Errors
/// Where there is one of this name, or it cannot be made.
pub fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(DIR_MODE).create(path)?;
    // A umask may have taken rights of the owner's.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(fchmod(open(path, flags, Mode::empty())?, Mode::from_raw_mode(DIR_MODE))?)
}

/// Makes a directory and those above it that are missing. One that is there stays as it is.
///
/// # Errors
/// Of the first that cannot be made.
pub fn create_dirs(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        create_dirs(parent)?;
    }
    match create_dir(path) {
        // Somebody else was first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Makes a directory in `base` whose name begins with `prefix` and that is not there yet. It goes
/// with the value.
///
/// # Errors
/// When it cannot be made.
pub fn temp_dir(base: &Path, prefix: &str) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(fs::Permissions::from_mode(DIR_MODE)).prefix(prefix).tempdir_in(base)
}

/// Makes a new file, open for reading and appending.
///
/// # Errors
/// Where there is one of this name, or it cannot be made.
pub fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create_new(true).mode(FILE_MODE).open(path)
}

/// A socket that this user and root alone come to.
#[derive(Debug)]
pub struct PrivateListener(UnixListener);

impl PrivateListener {
    /// Listens at a new socket file.
    ///
    /// # Errors
    /// Where there is one of this name, the name is too long, or it cannot be made.
    pub fn bind(path: &Path) -> io::Result<Self> {
        Self::at(&SocketAddrUnix::new(path)?)
    }

    /// Listens at a name that is in no directory (unix(7), abstract sockets). Anybody may dial it.
    ///
    /// # Errors
    /// Where somebody listens there, or the name is too long.
    pub fn bind_abstract(name: &[u8]) -> io::Result<Self> {
        Self::at(&SocketAddrUnix::new_abstract_name(name)?)
    }

    fn at(address: &SocketAddrUnix) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        // The file that bind(2) makes takes the mode of the socket.
        fchmod(&socket, Mode::from_raw_mode(FILE_MODE))?;
        bind(&socket, address)?;
        listen(&socket, BACKLOG)?;
        Ok(Self(UnixListener::from(socket)))
    }

    /// Whether [`Self::accept`] returns at once where nobody has come.
    ///
    /// # Errors
    /// When it cannot be set.
    pub fn set_nonblocking(&self, is_nonblocking: bool) -> io::Result<()> {
        self.0.set_nonblocking(is_nonblocking)
    }

    /// The next connection; nothing where it was that of another user, and is closed.
    ///
    /// # Errors
    /// When none can be taken; `WouldBlock` where nobody has come.
    pub fn accept(&self) -> io::Result<Option<UnixStream>> {
        let (stream, _) = self.0.accept()?;
        let peer = sockopt::socket_peercred(&stream)?;
        let is_ours = peer.uid.is_root() || peer.uid == rustix::process::geteuid();
        Ok(is_ours.then_some(stream))
    }
}

impl AsFd for PrivateListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::Uid;
    use std::io::Read as _;

    #[test]
    fn a_file_that_is_there_is_not_taken_nor_a_link_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        drop(create_file(&file).unwrap());
        std::os::unix::fs::symlink(dir.path().join("none"), &link).unwrap();
        for path in [&file, &link] {
            assert_eq!(create_file(path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        assert!(create_dirs(&file.join("x")).is_err());
    }

    #[test]
    fn a_socket_is_for_this_user_and_for_root() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = PrivateListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let _ours = UnixStream::connect(&path).unwrap();
        assert!(listener.accept().unwrap().is_some());
        if !rustix::process::geteuid().is_root() {
            println!("not run: root alone becomes another user");
            return;
        }
        // As if the rights of the file and of the directory had been given away.
        for (open, mode) in [(dir.path(), 0o755), (&*path, 0o666)] {
            fs::set_permissions(open, fs::Permissions::from_mode(mode)).unwrap();
        }
        let other = std::thread::scope(|scope| {
            let dial = || {
                // Of this thread alone.
                rustix::thread::set_thread_uid(Uid::from_raw(65_534)).unwrap();
                UnixStream::connect(&path)
            };
            scope.spawn(dial).join().unwrap()
        });
        assert!(listener.accept().unwrap().is_none(), "another user");
        let mut heard = Vec::new();
        let _ = other.unwrap().read_to_end(&mut heard);
        assert_eq!(heard, b"");
    }
}
