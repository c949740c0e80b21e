//! A small tmpfs of its own, for phases that find no space left.

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// Unmounted when it goes.
pub struct SmallTmpfs(TempDir);

impl SmallTmpfs {
    /// A tmpfs of `size_bytes`; `None` (said on standard output) where this user may not mount.
    pub fn mount(size_bytes: u64) -> Option<Self> {
        Self::mount_with(&format!("size={size_bytes}"))
    }

    /// One of so many inodes.
    #[allow(dead_code)] // not every program of tests runs out of them
    pub fn of_inodes(inodes: u64) -> Option<Self> {
        Self::mount_with(&format!("nr_inodes={inodes}"))
    }

    fn mount_with(options: &str) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("fsarena-full-").tempdir().unwrap();
        let options = CString::new(options).unwrap();
        let flags = MountFlags::NODEV | MountFlags::NOSUID;
        match mount("fsarena", dir.path(), "tmpfs", flags, options.as_c_str()) {
            Ok(()) => Some(Self(dir)),
            Err(errno) => {
                println!("not run: cannot mount a tmpfs: {errno}");
                None
            }
        }
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallTmpfs {
    fn drop(&mut self) {
        // Threads of the kernel that worked for a ring release the last file some ms after it was
        // closed (at the latest when this process ends). A file that stays open is a leak.
        for _ in 0..200 {
            match unmount(self.0.path(), UnmountFlags::empty()) {
                Err(Errno::BUSY) => std::thread::sleep(Duration::from_millis(5)),
                other => return other.unwrap(),
            }
        }
        panic!("{} is still in use", self.0.path().display());
    }
}

/// Open descriptors of this process.
#[allow(dead_code)] // not every program of tests counts them
pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
