//! Kernels that were built, each in a directory named after what it was made of.

use super::digest;
use super::source::text_of;
use etcetera::BaseStrategy as _;
use etcetera::base_strategy::Xdg;
use fsarena_disk_server::DISK_PROTOCOL;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the kernel in its directory.
pub(super) const BINARY: &str = "linux";
/// Its configuration, beside it.
pub(super) const CONFIG: &str = "config";
/// What it is, beside it.
pub(super) const IDENTITY: &str = "kernel.json";
/// Version of the identity.
pub(super) const FORMAT: u32 = 1;

/// What a kernel is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct Identity {
    /// Version of this document.
    pub format: u32,
    /// Hash of all that it was made of; the name of its directory.
    pub key: String,
    /// As `uname -r` says in the guest.
    pub release: String,
    /// Of the binary.
    pub sha256: String,
    /// Where its source came from.
    pub source: String,
    pub source_sha256: String,
    pub patches_sha256: String,
    /// `full` or `trimmed`.
    pub config: String,
    pub config_sha256: String,
    /// Ticks a second.
    pub hz: u32,
    /// What it was compiled by.
    pub compiler: String,
    /// Version of the protocol of its disks.
    #[serde(default = "first_protocol")]
    pub disk_protocol: u32,
}

/// That of kernels which do not say it.
const fn first_protocol() -> u32 {
    1
}

/// Digits of the hash in the name of a kernel.
const NAMED_DIGITS: usize = 12;

impl Identity {
    /// Its name as a level of a device: release and hash of the binary.
    #[must_use]
    pub fn level(&self) -> String {
        level_of(&self.release, &self.sha256)
    }
}

/// The name of a kernel as a level of a device, of its release and the hash of its binary.
pub(super) fn level_of(release: &str, sha256: &str) -> String {
    format!("{release}-{}", sha256.get(..NAMED_DIGITS).unwrap_or(sha256))
}

/// A kernel that was built here and is another file by now.
#[derive(Debug, thiserror::Error)]
pub enum ChangedKernel {
    #[error(
        "the guest kernel {path} is not the file any more that fsarena built; delete it (fsarena \
         kernel delete {key}) and build it again"
    )]
    Other { path: PathBuf, key: String },
    #[error("the guest kernel {path} cannot be read: {error}")]
    Read { path: PathBuf, error: io::Error },
}

impl Kernel {
    /// Its binary, which is compared with what was built.
    ///
    /// # Errors
    /// Where it is another file by now, or cannot be read.
    pub fn unchanged_binary(&self) -> Result<PathBuf, ChangedKernel> {
        let path = self.binary.clone();
        match digest::of_file(&path) {
            Ok(sha256) if sha256 == self.identity.sha256 => Ok(path),
            Ok(_) => Err(ChangedKernel::Other { path, key: self.identity.key.clone() }),
            Err(error) => Err(ChangedKernel::Read { path, error }),
        }
    }

    /// Whether it has this type of file system, by the configuration beside it.
    #[must_use]
    pub fn has_filesystem(&self, fstype: &str) -> bool {
        let config = text_of(&self.binary.with_file_name(CONFIG)).unwrap_or_default();
        // ext4 serves the older ones where they have no driver of their own.
        let names: &[&str] = match fstype {
            "ext2" => &["CONFIG_EXT2_FS=y", "CONFIG_EXT4_USE_FOR_EXT2=y"],
            "ext3" => &["CONFIG_EXT3_FS=y", "CONFIG_EXT4_FS=y"],
            _ => &[],
        };
        let own = format!("CONFIG_{}_FS=y", fstype.to_ascii_uppercase());
        config.lines().any(|line| line == own || names.contains(&line))
    }
}

/// A kernel and what it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    pub binary: PathBuf,
    pub identity: Identity,
}

/// The directory of all.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// The kernels in `dir`, which need not be there.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Those of the user: in `FSARENA_KERNEL_DIR`, else in `fsarena-kernels` in the directory of
    /// the user's cached files.
    ///
    /// # Errors
    /// When the user has no home directory.
    pub fn of_user() -> io::Result<Self> {
        let cached_files = || {
            let none = |_| io::Error::other("no home directory: set HOME, or FSARENA_KERNEL_DIR");
            Ok(Xdg::new().map_err(none)?.cache_dir())
        };
        Self::in_dir(std::env::var_os("FSARENA_KERNEL_DIR"), cached_files)
    }

    fn in_dir(
        set: Option<OsString>,
        cached_files: impl FnOnce() -> io::Result<PathBuf>,
    ) -> io::Result<Self> {
        match set.filter(|dir| !dir.is_empty()) {
            Some(dir) => Ok(Self::new(std::path::absolute(dir)?)),
            None => Ok(Self::new(cached_files()?.join("fsarena-kernels"))),
        }
    }

    /// Where they are.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Hashes of sources that were computed before.
    pub(super) fn hashes(&self) -> PathBuf {
        self.dir.join("source-hashes.json")
    }

    /// The kernel of this key.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<Kernel> {
        self.entry(&self.dir.join(key))
    }

    /// The kernel that a level of a device names by [`Identity::level`].
    #[must_use]
    pub fn called(&self, level: &str) -> Option<Kernel> {
        self.list().into_iter().find(|kernel| kernel.identity.level() == level)
    }

    /// The preferred one of those whose level begins so: a release, or a part of one that ends at a
    /// dot.
    #[must_use]
    pub fn of_release(&self, name: &str) -> Option<Kernel> {
        let is_of = |kernel: &Kernel| {
            let level = kernel.identity.level();
            let rest = level.strip_prefix(name);
            rest.is_some_and(|rest| {
                name.is_empty() || rest.is_empty() || rest.starts_with(['.', '-'])
            })
        };
        self.latest(self.list().into_iter().filter(is_of))
    }

    /// All kernels, by release and configuration.
    #[must_use]
    pub fn list(&self) -> Vec<Kernel> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut all: Vec<Kernel> = entries.filter_map(|entry| self.entry(&entry.path())).collect();
        let order = |kernel: &Kernel| {
            let it = &kernel.identity;
            (it.release.clone(), it.config.clone(), it.hz, it.key.clone())
        };
        all.sort_by_key(order);
        all
    }

    /// The one to take where none is named, of those whose disks this program can serve: full
    /// before trimmed, then the latest built.
    #[must_use]
    pub fn preferred(&self) -> Option<Kernel> {
        self.of_release("")
    }

    fn latest(&self, kernels: impl Iterator<Item = Kernel>) -> Option<Kernel> {
        let built =
            |kernel: &Kernel| fs::metadata(&kernel.binary).and_then(|it| it.modified()).ok();
        let full = |kernel: &Kernel| kernel.identity.config == "full";
        let is_served = |kernel: &Kernel| kernel.identity.disk_protocol == DISK_PROTOCOL;
        kernels.filter(is_served).max_by_key(|kernel| (full(kernel), built(kernel)))
    }

    /// Takes a finished directory in; one that another process has put there meanwhile stays.
    pub(super) fn publish(&self, finished: &Path, key: &str) -> io::Result<()> {
        match fs::rename(finished, self.dir.join(key)) {
            Err(_) if self.find(key).is_some() => Ok(()),
            done => done,
        }
    }

    /// A directory that has a kernel and its identity in the form of this version.
    fn entry(&self, dir: &Path) -> Option<Kernel> {
        let text = text_of(&dir.join(IDENTITY)).ok()?;
        let identity: Identity = serde_json::from_str(&text).ok()?;
        let binary = dir.join(BINARY);
        let named = dir.file_name()? == identity.key.as_str();
        (identity.format == FORMAT && named && binary.is_file())
            .then_some(Kernel { binary, identity })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sha2::{Digest as _, Sha256};

    pub(in super::super) fn put(cache: &Cache, key: &str, config: &str) {
        let dir = cache.dir().join(format!("new-{key}"));
        fs::create_dir_all(&dir).unwrap();
        let text = || "x".to_owned();
        let identity = Identity {
            format: FORMAT,
            key: key.to_owned(),
            release: "6.1.7".to_owned(),
            sha256: digest::hex(&Sha256::digest(key)),
            source: text(),
            source_sha256: text(),
            patches_sha256: text(),
            config: config.to_owned(),
            config_sha256: text(),
            hz: 250,
            compiler: text(),
            disk_protocol: DISK_PROTOCOL,
        };
        fs::write(dir.join(BINARY), key).unwrap();
        fs::write(dir.join(IDENTITY), serde_json::to_vec(&identity).unwrap()).unwrap();
        cache.publish(&dir, key).unwrap();
    }

    #[test]
    fn a_directory_that_is_named_goes_before_that_of_cached_files() {
        let of = |set: Option<&str>| {
            Cache::in_dir(set.map(OsString::from), || Ok(PathBuf::from("/srv/cached")))
        };
        assert_eq!(of(Some("/kernels")).unwrap().dir(), Path::new("/kernels"));
        assert!(of(Some("kernels")).unwrap().dir().is_absolute());
        for none in [None, Some("")] {
            assert_eq!(of(none).unwrap().dir(), Path::new("/srv/cached/fsarena-kernels"));
        }
        assert!(Cache::in_dir(None, || Err(io::Error::other("no home"))).is_err());
    }

    #[test]
    fn whole_entries_are_found_and_half_ones_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().join("kernels"));
        assert!(cache.list().is_empty() && cache.preferred().is_none());
        put(&cache, "aa", "full");
        put(&cache, "bb", "trimmed");
        put(&cache, "aa", "full");
        fs::create_dir(cache.dir().join("building-1")).unwrap();
        fs::write(cache.dir().join("building-1").join(BINARY), "x").unwrap();
        let keys: Vec<_> = cache.list().into_iter().map(|kernel| kernel.identity.key).collect();
        assert_eq!(keys, ["aa", "bb"]);
        assert_eq!(cache.preferred().unwrap().identity.key, "aa");
        fs::remove_file(cache.dir().join("aa").join(BINARY)).unwrap();
        assert_eq!(cache.preferred().unwrap().identity.key, "bb");
    }

    #[test]
    fn a_binary_that_is_another_one_by_now_is_not_booted() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().join("kernels"));
        put(&cache, "aa", "full");
        let kernel = cache.preferred().unwrap();
        assert_eq!(kernel.unchanged_binary().unwrap(), kernel.binary);
        fs::write(&kernel.binary, "ab").unwrap();
        let error = kernel.unchanged_binary().unwrap_err().to_string();
        assert!(error.ends_with("(fsarena kernel delete aa) and build it again"), "{error}");
        fs::remove_file(&kernel.binary).unwrap();
        assert!(matches!(kernel.unchanged_binary(), Err(ChangedKernel::Read { .. })));
    }

    /// It is still there, for a list and to be removed.
    #[test]
    fn a_kernel_of_another_disk_protocol_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path().join("kernels"));
        put(&cache, "aa", "full");
        let path = cache.dir().join("aa").join(IDENTITY);
        let text = fs::read_to_string(&path).unwrap();
        let mut identity: serde_json::Value = serde_json::from_str(&text).unwrap();
        identity.as_object_mut().unwrap().remove("disk_protocol");
        fs::write(&path, identity.to_string()).unwrap();
        assert!(cache.preferred().is_none() && cache.of_release("6.1").is_none());
        assert_eq!(cache.list().len(), 1);
    }
}
