//! The tree of programs in the user's cache: what is in it, who has it, its end.
//!
//! A RUN holds a shared lock on the manifest; who replaces or deletes the tree has it alone.

use crate::owned_dir::{OwnedDir, REMOVED_PREFIX};
use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;
use fsarena_bounded::Bounded;
use fsarena_process::trust::writers_for_root;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Name of the tree below the cache, and of the architecture in Debian.
const I386: &str = "i386";
/// What is in the tree, beside it.
const MANIFEST: &str = "programs.json";
const MANIFEST_MOST_BYTES: u64 = 16 << 20;
/// Version of the manifest.
const FORMAT: u32 = 1;
/// Digits of the key.
const KEY_DIGITS: usize = 12;

/// A package of a tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// `i386`, or `all` where it has no machine code.
    pub architecture: String,
    /// Of the package as it was fetched, 64 hex digits.
    pub sha256: String,
    /// Size as it was fetched.
    pub package_bytes: u64,
    /// Size of its files, as the package says.
    pub installed_bytes: u64,
    /// Short names in its copyright file; none where that is free text.
    pub licences: Vec<String>,
    /// Whether a program that trials start is in it, or a library that such a program loads.
    pub is_loaded: bool,
}

/// What is in a tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of this document.
    pub format: u32,
    /// Hash of names, versions and hashes of the packages.
    pub key: String,
    pub packages: Vec<Package>,
}

impl Manifest {
    /// Of these packages.
    #[must_use]
    pub fn new(packages: Vec<Package>) -> Self {
        let mut hash = Sha256::new();
        for it in &packages {
            hash.update(format!("{}\0{}\0{}\n", it.name, it.version, it.sha256));
        }
        let mut key = String::new();
        for byte in hash.finalize().iter().take(KEY_DIGITS / 2) {
            let _ = write!(key, "{byte:02x}");
        }
        Self { format: FORMAT, key, packages }
    }

    /// Packages that this machine has installed in another version, each with that version: of
    /// those that trials load.
    #[must_use]
    pub fn differences<'m>(&'m self, native: &super::NativePackages) -> Vec<(&'m Package, String)> {
        let loaded = self.packages.iter().filter(|package| package.is_loaded);
        let differs = |package: &'m Package| {
            let version = native.version(&package.name)?;
            (version != package.version).then(|| (package, version.to_owned()))
        };
        loaded.filter_map(differs).collect()
    }
}

/// A tree that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledTree {
    /// Its directory, with the manifest.
    pub dir: PathBuf,
    pub manifest: Manifest,
}

/// A tree that is not deleted or replaced while this is there.
#[derive(Debug)]
pub struct HeldPrograms {
    _lock: File,
}

impl InstalledTree {
    /// What is laid over `/usr`.
    #[must_use]
    pub fn usr(&self) -> PathBuf {
        self.dir.join("usr")
    }

    /// Whether it has a program of this name.
    #[must_use]
    pub fn has(&self, program: &str) -> bool {
        let dirs = ["bin", "sbin"].map(|dir| self.usr().join(dir).join(program));
        dirs.iter().any(|path| fs::symlink_metadata(path).is_ok())
    }

    /// Keeps it from being deleted or replaced.
    ///
    /// # Errors
    /// When it is gone, or about to be deleted.
    pub fn hold(&self) -> io::Result<HeldPrograms> {
        Ok(HeldPrograms { _lock: self.locked(FlockOperation::NonBlockingLockShared)? })
    }

    fn locked(&self, how: FlockOperation) -> io::Result<File> {
        let file = File::open(self.dir.join(MANIFEST))?;
        flock(&file, how)?;
        Ok(file)
    }
}

/// Why the cache does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    #[error("{path}: a RUN has it; try again when that has ended")]
    InUse { path: PathBuf },
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error(
        "{path} is not for programs that root runs: {writer}; name a directory of root's with \
         FSARENA_PROGRAMS_DIR"
    )]
    Writable {
        path: PathBuf,
        /// What others may write, and who.
        writer: String,
    },
}

/// The directory of the tree.
#[derive(Clone, Debug)]
pub struct ProgramCache {
    dir: PathBuf,
}

impl ProgramCache {
    /// The tree in `dir`, which need not be there.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// That of the user: in `FSARENA_PROGRAMS_DIR`, else in `fsarena-programs` in the directory of
    /// the user's cached files.
    ///
    /// # Errors
    /// When the user has no home directory.
    pub fn of_user() -> io::Result<Self> {
        let set = std::env::var_os("FSARENA_PROGRAMS_DIR").filter(|dir| !dir.is_empty());
        if let Some(dir) = set {
            return Ok(Self::new(std::path::absolute(dir)?));
        }
        let none = |_| io::Error::other("no home directory: set HOME, or FSARENA_PROGRAMS_DIR");
        Ok(Self::new(Xdg::new().map_err(none)?.cache_dir().join("fsarena-programs")))
    }

    /// Where it is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The tree, where there is a whole one.
    #[must_use]
    pub fn tree(&self) -> Option<InstalledTree> {
        let dir = self.dir.join(I386);
        let text =
            Bounded::open(dir.join(MANIFEST), MANIFEST_MOST_BYTES).ok()?.whole_text().ok()?;
        let manifest: Manifest = serde_json::from_str(&text).ok()?;
        (manifest.format == FORMAT && dir.join("usr").is_dir())
            .then_some(InstalledTree { dir, manifest })
    }

    /// Refuses a cache that somebody beside root may change, where this process is root: what is
    /// in it would be run as root.
    ///
    /// # Errors
    /// Says what, and who.
    pub fn check_owner(&self) -> Result<(), CacheError> {
        let place = self.tree().map_or_else(|| self.nearest(), |tree| tree.dir.join(MANIFEST));
        match writers_for_root(&place).first() {
            None => Ok(()),
            Some(found) => Err(CacheError::Writable {
                path: self.dir.clone(),
                writer: format!("{} {}", found.place.display(), found.writer),
            }),
        }
    }

    /// The directory, or the nearest above that is there.
    #[must_use]
    pub fn nearest(&self) -> PathBuf {
        let there = self.dir.ancestors().find(|dir| dir.is_dir());
        there.unwrap_or(Path::new("/")).to_owned()
    }

    /// Puts a finished directory (with `usr`) in the place of the tree.
    ///
    /// # Errors
    /// When a RUN has the one that is there, or files cannot be written.
    pub(super) fn publish(
        &self,
        finished: &Path,
        manifest: Manifest,
    ) -> Result<InstalledTree, CacheError> {
        let failed = |error| CacheError::File { path: finished.to_owned(), error };
        let text = serde_json::to_vec_pretty(&manifest).map_err(|error| failed(error.into()))?;
        fs::write(finished.join(MANIFEST), text).map_err(failed)?;
        if let Some(old) = self.tree() {
            self.delete(&old)?;
        }
        let dir = self.dir.join(I386);
        // What is no whole tree is in nobody's use.
        if dir.exists() {
            fs::remove_dir_all(&dir).map_err(failed)?;
        }
        fs::rename(finished, &dir).map_err(failed)?;
        Ok(InstalledTree { dir, manifest })
    }

    /// Deletes the tree.
    ///
    /// # Errors
    /// When a RUN has it, or it cannot be deleted.
    pub fn delete(&self, tree: &InstalledTree) -> Result<(), CacheError> {
        let failed = |error| CacheError::File { path: tree.dir.clone(), error };
        let lock = tree.locked(FlockOperation::NonBlockingLockExclusive);
        let _lock = lock.map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => CacheError::InUse { path: tree.dir.clone() },
            _ => failed(error),
        })?;
        // Half a tree is never found.
        let aside = OwnedDir::make(&self.dir, REMOVED_PREFIX).map_err(failed)?;
        fs::rename(&tree.dir, aside.path().join(I386)).map_err(failed)?;
        fs::remove_dir_all(aside.path()).map_err(failed)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn package(name: &str, version: &str, is_loaded: bool) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            architecture: "i386".to_owned(),
            sha256: "0".repeat(64),
            package_bytes: 1,
            installed_bytes: 2,
            licences: Vec::new(),
            is_loaded,
        }
    }

    fn put(cache: &ProgramCache, version: &str) -> Result<InstalledTree, CacheError> {
        let finished = cache.dir().join("new");
        fs::create_dir_all(finished.join("usr/bin")).unwrap();
        fs::write(finished.join("usr/bin/tar"), version).unwrap();
        cache.publish(&finished, Manifest::new(vec![package("tar", version, true)]))
    }

    #[test]
    fn a_tree_is_replaced_and_deleted_but_not_while_a_run_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ProgramCache::new(dir.path().join("programs"));
        assert_eq!(cache.tree(), None);
        fs::create_dir_all(cache.dir()).unwrap();
        let first = put(&cache, "1").unwrap();
        assert_eq!(cache.tree().as_ref(), Some(&first));
        assert!(first.has("tar") && !first.has("zstd"));
        let held = first.hold().unwrap();
        assert!(matches!(put(&cache, "2"), Err(CacheError::InUse { .. })));
        assert!(matches!(cache.delete(&first), Err(CacheError::InUse { .. })));
        assert_eq!(cache.tree().as_ref(), Some(&first));
        drop(held);
        let second = put(&cache, "2").unwrap();
        assert_ne!(second.manifest.key, first.manifest.key);
        cache.delete(&second).unwrap();
        assert_eq!(cache.tree(), None);
    }

    #[test]
    fn half_a_tree_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ProgramCache::new(dir.path().to_owned());
        put(&cache, "1").unwrap();
        fs::remove_dir_all(dir.path().join("i386/usr")).unwrap();
        assert_eq!(cache.tree(), None);
        put(&cache, "2").unwrap();
        assert_eq!(cache.tree().unwrap().manifest.packages[0].version, "2");
    }

    #[test]
    fn a_cache_of_another_user_is_refused_for_root() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: this is not root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let cache = ProgramCache::new(dir.path().join("cache/programs"));
        fs::create_dir(dir.path().join("cache")).unwrap();
        cache.check_owner().unwrap();
        std::os::unix::fs::chown(dir.path().join("cache"), Some(65_533), None).unwrap();
        let text = cache.check_owner().unwrap_err().to_string();
        assert!(text.contains("belongs to user 65533"), "{text}");
        assert!(text.contains("FSARENA_PROGRAMS_DIR"), "{text}");
    }

    #[test]
    fn only_what_is_loaded_has_to_be_of_the_version_of_this_machine() {
        let packages = vec![package("tar", "1.34", true), package("dpkg", "2", false)];
        let manifest = Manifest::new(packages);
        let native = |text: &str| super::super::NativePackages::from_list(text);
        let differs = |text: &str| {
            let found = manifest.differences(&native(text));
            found.into_iter().map(|(one, at)| (one.name.clone(), at)).collect::<Vec<_>>()
        };
        assert_eq!(differs("ii \ttar\t1.34\namd\n"), []);
        assert_eq!(differs("ii \tdpkg\t1\n"), [], "nothing of it is loaded");
        assert_eq!(differs("rc \ttar\t1.30\n"), [], "not installed");
        assert_eq!(differs("ii \ttar\t1.30\n"), [("tar".to_owned(), "1.30".to_owned())]);
    }
}
