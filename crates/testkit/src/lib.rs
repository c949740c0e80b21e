//! Things that only tests need, and `cargo xtask chaos`. No other crate depends on it outside of
//! `[dev-dependencies]`.
#![deny(unsafe_code)]

pub mod allocations;
pub mod ballast;
pub mod browser;
pub mod crash;
pub mod fixture;
pub mod flood;
pub mod hosts;
pub mod kernels;
pub mod machine;
pub mod moosefs;
pub mod processes;
pub mod records;
pub mod slurm;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub const SECOND_NS: u64 = 1_000_000_000;

/// Why no loop device can be attached here; `None` where one can.
#[must_use]
pub fn why_no_loop_devices() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("needs root");
    }
    (!Path::new("/dev/loop-control").exists()).then_some("no /dev/loop-control")
}

/// Makes the shell script `path`, which does `text`. Another process writes it: a file this one
/// has open for writing is held by each child a thread of it forks meanwhile, and cannot be
/// executed (`ETXTBSY`).
///
/// # Panics
/// When install(1) is missing or `path` cannot be written.
pub fn write_script(path: &Path, text: &str) {
    let mut install = Command::new("install")
        .args(["-m", "755", "/dev/stdin"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("install(1) starts");
    let mut stdin = install.stdin.take().expect("stdin is a pipe");
    write!(stdin, "#!/bin/sh\n{text}\n").expect("install(1) reads its input");
    drop(stdin);
    let status = install.wait().expect("install(1) is a child");
    assert!(status.success(), "install(1) of {}: {status}", path.display());
}

/// A fake `/proc`, `/sys` and `/etc` in a temporary directory: every kernel oddity as a fixture. It
/// goes away with the value.
#[derive(Debug)]
pub struct FakeTree {
    directory: TempDir,
}

impl Default for FakeTree {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeTree {
    /// An empty tree: `proc`, `sys` and `etc` exist and hold nothing.
    ///
    /// # Panics
    /// When no temporary directory can be made.
    #[must_use]
    pub fn new() -> Self {
        let directory = TempDir::with_prefix("fsarena-fake-").expect("a temporary directory");
        for root in ["proc", "sys", "etc"] {
            fs::create_dir(directory.path().join(root)).expect("the directory is new and empty");
        }
        Self { directory }
    }

    /// Root of the fake procfs.
    #[must_use]
    pub fn proc(&self) -> PathBuf {
        self.path("proc")
    }

    /// Root of the fake sysfs.
    #[must_use]
    pub fn sys(&self) -> PathBuf {
        self.path("sys")
    }

    /// Root of the fake `/etc`.
    #[must_use]
    pub fn etc(&self) -> PathBuf {
        self.path("etc")
    }

    /// A path inside, such as `proc/stat`.
    #[must_use]
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.directory.path().join(relative)
    }

    /// Writes a file, with the directories above it, over what was there.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use = "the tree goes away with the value"]
    pub fn with(self, relative: &str, contents: impl AsRef<[u8]>) -> Self {
        self.put(relative, contents);
        self
    }

    /// Writes a file, as [`FakeTree::with`], in place: open files see the new contents.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn put(&self, relative: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(relative);
        let parent = path.parent().expect("a path inside the tree");
        fs::create_dir_all(parent).expect("directories inside the tree");
        fs::write(&path, contents).expect("a file inside the tree");
    }

    /// Removes a file or a directory with everything below it.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use = "the tree goes away with the value"]
    pub fn without(self, relative: &str) -> Self {
        let path = self.path(relative);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.expect("something that is there");
        self
    }
}
