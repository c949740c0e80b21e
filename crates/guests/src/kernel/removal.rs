//! Kernels taken out of the cache: not while a RUN or a guest has them.
//!
//! A RUN holds a shared lock on each kernel that it boots, from its start to its end; who removes
//! one has the lock alone. A guest of whoever took no lock is found by its processes.

use super::cache::{Cache, Kernel};
use super::config::Configuration;
use super::source::Series;
use super::{digest, patches};
use crate::owned_dir::{OwnedDir, REMOVED_PREFIX};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Why a kernel is not removed.
#[derive(Debug, thiserror::Error)]
pub enum RemoveError {
    #[error("{path}: a RUN or a guest has it; try again when that has ended")]
    InUse { path: PathBuf },
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
}

/// Why no kernel is meant by a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("no guest kernel has a key that begins with {0:?}; see fsarena kernel list")]
    None(String),
    #[error("{count} guest kernels have keys that begin with {key:?}; write more of it")]
    Several { key: String, count: usize },
}

/// A kernel that is not removed while this is there.
#[derive(Debug)]
pub struct HeldKernel {
    _lock: File,
}

impl Kernel {
    /// Whether its patches or its configuration are not those that this program builds with.
    #[must_use]
    pub fn is_old(&self) -> bool {
        let it = &self.identity;
        let series = [Some(Series::Since6_1), Some(Series::Since6_11), None];
        let configuration = Configuration { trimmed: it.config == "trimmed", hz: it.hz };
        let config_sha256 = digest::of_parts([configuration.fragment().as_bytes()]);
        it.config_sha256 != config_sha256
            || series.into_iter().all(|series| it.patches_sha256 != patches::digest_of(series))
    }

    /// Size of its files, bytes.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        let files = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
    }

    /// When it was built.
    #[must_use]
    pub fn built(&self) -> Option<SystemTime> {
        fs::metadata(&self.binary).and_then(|meta| meta.modified()).ok()
    }

    /// Keeps it from being removed.
    ///
    /// # Errors
    /// When it is gone, or about to be removed.
    pub fn hold(&self) -> io::Result<HeldKernel> {
        let lock = self.locked(FlockOperation::NonBlockingLockShared)?;
        Ok(HeldKernel { _lock: lock })
    }

    fn dir(&self) -> &Path {
        self.binary.parent().expect("the binary is in a directory")
    }

    /// Its binary, locked, and still the one of that path.
    fn locked(&self, how: FlockOperation) -> io::Result<File> {
        let file = File::open(&self.binary)?;
        flock(&file, how)?;
        match is_same(&file.metadata()?, &fs::metadata(&self.binary)?) {
            true => Ok(file),
            false => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Cache {
    /// The kernel whose key begins so.
    ///
    /// # Errors
    /// When there is none, or several are meant.
    pub fn of_key(&self, key: &str) -> Result<Kernel, KeyError> {
        let mut found = self.list();
        found.retain(|kernel| kernel.identity.key.starts_with(key));
        match found.len() {
            1 => Ok(found.swap_remove(0)),
            0 => Err(KeyError::None(key.to_owned())),
            count => Err(KeyError::Several { key: key.to_owned(), count }),
        }
    }

    /// Removes a kernel with all that lies beside it.
    ///
    /// # Errors
    /// When it is in use, or cannot be removed.
    pub fn remove(&self, kernel: &Kernel) -> Result<(), RemoveError> {
        let in_use = || RemoveError::InUse { path: kernel.binary.clone() };
        let failed = |error| RemoveError::File { path: kernel.dir().to_owned(), error };
        let lock = kernel.locked(FlockOperation::NonBlockingLockExclusive);
        let _lock = lock.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => in_use(),
            _ => failed(error),
        })?;
        if is_running(&kernel.binary).map_err(failed)? {
            return Err(in_use());
        }
        // Half a kernel is never found.
        let aside = OwnedDir::make(self.dir(), REMOVED_PREFIX).map_err(failed)?;
        fs::rename(kernel.dir(), aside.path().join("kernel")).map_err(failed)?;
        fs::remove_dir_all(aside.path()).map_err(failed)
    }
}

/// Whether a process runs it; those of other users are seen by root alone.
fn is_running(binary: &Path) -> io::Result<bool> {
    let own = fs::metadata(binary)?;
    let processes = fs::read_dir("/proc")?.flatten();
    let mut programs = processes.filter_map(|entry| fs::metadata(entry.path().join("exe")).ok());
    Ok(programs.any(|program| is_same(&program, &own)))
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(test)]
mod tests {
    use super::super::cache::tests::put;
    use super::*;
    use std::process::Command;

    fn cache(dir: &Path) -> Cache {
        let cache = Cache::new(dir.join("kernels"));
        put(&cache, "aa1", "full");
        put(&cache, "aa2", "trimmed");
        cache
    }

    #[test]
    fn one_that_is_held_or_runs_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path());
        let kernel = cache.of_key("aa1").unwrap();
        let refused = || cache.remove(&kernel).unwrap_err().to_string();
        let held = [kernel.hold().unwrap(), kernel.hold().unwrap()];
        assert!(refused().contains("a RUN or a guest has it"), "{}", refused());
        drop(held);
        fs::copy("/bin/sleep", &kernel.binary).unwrap();
        let mut running = Command::new(&kernel.binary).arg("1000").spawn().unwrap();
        assert!(refused().contains("a RUN or a guest has it"), "{}", refused());
        running.kill().unwrap();
        running.wait().unwrap();
        cache.remove(&kernel).unwrap();
        assert!(kernel.hold().is_err());
        let left: Vec<_> = fs::read_dir(cache.dir()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!(left[0].file_name(), "aa2");
    }

    #[test]
    fn keys_are_written_as_far_as_they_are_clear() {
        let dir = tempfile::tempdir().unwrap();
        let cache = cache(dir.path());
        let refused = |key: &str| cache.of_key(key).unwrap_err().to_string();
        assert!(refused("aa").starts_with("2 guest kernels"), "{}", refused("aa"));
        assert!(refused("b").contains("begins with \"b\""), "{}", refused("b"));
        assert_eq!(cache.of_key("aa2").unwrap().identity.key, "aa2");
    }

    #[test]
    fn what_this_program_would_not_build_is_old() {
        let dir = tempfile::tempdir().unwrap();
        let mut kernel = cache(dir.path()).of_key("aa2").unwrap();
        assert!(kernel.is_old(), "its hashes are none");
        let configuration = Configuration { trimmed: true, hz: 250 };
        kernel.identity.config_sha256 = digest::of_parts([configuration.fragment().as_bytes()]);
        assert!(kernel.is_old(), "its patches are others");
        for series in [Some(Series::Since6_1), Some(Series::Since6_11), None] {
            kernel.identity.patches_sha256 = patches::digest_of(series);
            assert!(!kernel.is_old(), "{series:?}");
        }
        kernel.identity.hz = 1000;
        assert!(kernel.is_old(), "its configuration is another");
        assert!(kernel.size_bytes() > 0 && kernel.built().is_some());
    }
}
