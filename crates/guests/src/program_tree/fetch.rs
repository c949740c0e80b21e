//! From packages to a tree: what would be fetched and how much room that takes, then the packages
//! fetched, compared with the hashes of the signed lists, unpacked, and each program asked for the
//! libraries that it loads.

use super::apt::{Apt, AptError, Candidate, NativePackages};
use super::cache::{CacheError, InstalledTree, Manifest, Package, ProgramCache};
use super::copyright::licences;
use super::unpack::{Owners, lay_over, unpack};
use super::{PROGRAMS, packages};
use crate::kernel::sha256_of;
use fsarena_process::cmd::{self, CmdError};
use fsarena_process::program::{ProgramError, TrustedProgram};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The loader of i386 programs, below `usr`.
const LOADER: &str = "lib/ld-linux.so.2";
/// Where it finds libraries, below `usr`.
const LIBRARIES: &str = "lib/i386-linux-gnu";
/// For the loader to name the libraries of a program.
const LOADER_LIMIT: Duration = Duration::from_secs(30);

/// Why there is no tree.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error(transparent)]
    Apt(#[from] AptError),
    #[error(transparent)]
    Command(#[from] CmdError),
    /// The loader of the tree may not be started.
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(transparent)]
    Cache(#[from] CacheError),
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("{package}: its SHA-256 is {found}, that of the signed list {listed}")]
    Hash { package: String, found: String, listed: String },
    #[error("{program} of i386 lacks the library {library}")]
    Library { program: &'static str, library: String },
    #[error("this kernel starts no program of i386 ({0}); it needs CONFIG_IA32_EMULATION")]
    NoEmulation(io::Error),
}

/// Why a machine cannot have the programs at all, in one line; nothing where it can.
#[must_use]
pub fn missing_here() -> Option<String> {
    if std::env::consts::ARCH != "x86_64" {
        return Some("i386 programs run on x86-64 alone".to_owned());
    }
    let is_link = |path: &str| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    if !["/bin", "/lib"].into_iter().all(is_link) {
        return Some("/bin and /lib are no links into /usr here".to_owned());
    }
    let tools = ["apt-get", "apt-cache", "dpkg-deb", "dpkg-query"];
    let missing = tools.into_iter().find(|name| cmd::find(name).is_none());
    missing.map(|name| AptError::Missing(name).to_string())
}

/// What would be fetched.
#[derive(Debug)]
pub struct Offer<'a> {
    apt: Apt<'a>,
    candidates: Vec<Candidate>,
    /// What apt said of lists that it could not fetch.
    pub complaint: Option<String>,
}

/// Has apt fetch its lists into `scratch` and choose packages.
///
/// # Errors
/// When apt is missing, fails or is stopped.
pub fn offer<'a>(scratch: &Path, stop: &'a dyn Fn() -> bool) -> Result<Offer<'a>, TreeError> {
    let native = NativePackages::installed()?;
    let apt = Apt::prepare(scratch, &native, stop)?;
    let complaint = apt.update()?;
    let candidates = apt.candidates()?;
    Ok(Offer { apt, candidates, complaint })
}

/// What was made.
#[derive(Debug)]
pub struct Fetched {
    pub tree: InstalledTree,
    /// Whether it was there before, of the same packages.
    pub was_there: bool,
}

impl Offer<'_> {
    /// Number of packages.
    #[must_use]
    pub fn package_count(&self) -> usize {
        self.candidates.len()
    }

    /// Bytes that are fetched.
    #[must_use]
    pub fn package_bytes(&self) -> u64 {
        self.candidates.iter().map(|it| it.package_bytes).sum()
    }

    /// Bytes that they take unpacked, as they say.
    #[must_use]
    pub fn installed_bytes(&self) -> u64 {
        self.candidates.iter().map(|it| it.installed_bytes).sum()
    }

    /// Fetches, verifies and unpacks them in `work_dir`, which is on the file system of `cache` and
    /// empty, and puts the tree into that.
    ///
    /// # Errors
    /// When a package cannot be fetched, is not the one of the list or does not unpack, a library
    /// is missing, this kernel starts no such programs, or a RUN has the tree that is there.
    pub fn take(&self, cache: &ProgramCache, work_dir: &Path) -> Result<Fetched, TreeError> {
        let files = self.apt.fetch(&self.candidates)?;
        for (candidate, file) in self.candidates.iter().zip(&files) {
            let found = sha256_of(file).map_err(file_error(file))?;
            if found != candidate.sha256 {
                let (package, listed) = (candidate.to_string(), candidate.sha256.clone());
                return Err(TreeError::Hash { package, found, listed });
            }
        }
        let finished = work_dir.join("tree");
        let usr = finished.join("usr");
        let owners = unpack_all(&files, work_dir, &usr)?;
        // Of Debian's dash, made by its scripts, which are not run.
        let shell = usr.join("bin/sh");
        if fs::symlink_metadata(&shell).is_err() {
            symlink("dash", &shell).map_err(file_error(&shell))?;
        }
        let loaded = loaded_packages(&usr, &owners)?;
        let manifest = Manifest::new(self.described(&usr, &loaded));
        if let Some(tree) = cache.tree().filter(|tree| tree.manifest == manifest) {
            return Ok(Fetched { tree, was_there: true });
        }
        let tree = cache.publish(&finished, manifest)?;
        Ok(Fetched { tree, was_there: false })
    }

    fn described(&self, usr: &Path, loaded: &BTreeSet<usize>) -> Vec<Package> {
        let asked = packages();
        let package = |(number, it): (usize, &Candidate)| Package {
            name: it.name.clone(),
            version: it.version.clone(),
            architecture: it.architecture.clone(),
            sha256: it.sha256.clone(),
            package_bytes: it.package_bytes,
            installed_bytes: it.installed_bytes,
            licences: licences(usr, &it.name),
            is_loaded: asked.contains(&it.name.as_str()) || loaded.contains(&number),
        };
        self.candidates.iter().enumerate().map(package).collect()
    }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> TreeError {
    let path = path.to_owned();
    move |error| TreeError::File { path, error }
}

fn unpack_all(files: &[PathBuf], dir: &Path, usr: &Path) -> Result<Owners, TreeError> {
    let dpkg_deb = cmd::find("dpkg-deb").ok_or(AptError::Missing("dpkg-deb"))?;
    let mut owners = Owners::new();
    for (number, file) in files.iter().enumerate() {
        let raw = dir.join("raw");
        unpack(&dpkg_deb, file, &raw)?;
        lay_over(&raw, usr, number, &mut owners).map_err(file_error(usr))?;
        fs::remove_dir_all(&raw).map_err(file_error(&raw))?;
    }
    Ok(owners)
}

impl InstalledTree {
    /// Starts the loader of the tree, which says its version.
    ///
    /// # Errors
    /// Where this kernel does not start it, or it fails.
    pub fn start_loader(&self) -> Result<(), TreeError> {
        start_loader(&self.usr(), &["--version".as_ref()]).map(drop)
    }
}

/// What the loader of the tree in `usr` prints.
fn start_loader(usr: &Path, args: &[&OsStr]) -> Result<String, TreeError> {
    let loader = TrustedProgram::at(&usr.join(LOADER))?;
    match cmd::run(&loader, args, LOADER_LIMIT) {
        Ok(ran) => Ok(ran.stdout),
        Err(CmdError::Start { source, .. }) => Err(TreeError::NoEmulation(source)),
        Err(other) => Err(other.into()),
    }
}

/// Numbers of the packages of which the programs load something, as the loader of the tree says.
fn loaded_packages(usr: &Path, owners: &Owners) -> Result<BTreeSet<usize>, TreeError> {
    let usr = &usr.canonicalize().map_err(file_error(usr))?;
    let mut loaded = BTreeSet::new();
    for (program, _) in PROGRAMS {
        let path = usr.join("bin").join(program);
        let libraries = usr.join(LIBRARIES);
        let args =
            ["--library-path".as_ref(), libraries.as_os_str(), "--list".as_ref(), path.as_os_str()];
        for library in libraries_in(&start_loader(usr, &args)?) {
            let real = Path::new(&library).canonicalize();
            let below = real.ok().and_then(|real| Some(real.strip_prefix(usr).ok()?.to_owned()));
            match below.and_then(|below| owners.get(&below).copied()) {
                Some(number) => loaded.insert(number),
                None => return Err(TreeError::Library { program, library }),
            };
        }
    }
    Ok(loaded)
}

/// The files that a loader lists: `NAME => PATH (0x…)`, or `NAME => not found`. What has no file
/// (the vDSO) is left out.
fn libraries_in(listed: &str) -> Vec<String> {
    let library = |line: &str| {
        let (name, path) = line.split_once("=>")?;
        let path = path.split('(').next().unwrap_or_default().trim();
        Some(if path.starts_with('/') { path } else { name.trim() }.to_owned())
    };
    listed.lines().filter_map(library).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_files_or_missing() {
        let listed = "\tlinux-gate.so.1 (0xf7f0c000)\n\
                      \tlibc.so.6 => /t/usr/lib/i386-linux-gnu/libc.so.6 (0xf7c00000)\n\
                      \t/lib/ld-linux.so.2 => /t/usr/lib/ld-linux.so.2 (0xf7f0e000)\n\
                      \tlibogg.so.0 => not found\n";
        assert_eq!(
            libraries_in(listed),
            ["/t/usr/lib/i386-linux-gnu/libc.so.6", "/t/usr/lib/ld-linux.so.2", "libogg.so.0"]
        );
    }
}
