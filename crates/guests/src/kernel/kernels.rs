//! The kernels that devices of a RUN can name: those that were built here, and files of the user's,
//! each of which is booted first to see what it is.

use super::cache::{Cache, ChangedKernel, Kernel, level_of};
use super::check::{CheckError, check};
use super::digest;
use crate::guest::{Program, ProgramError};
use fsarena_model::run::KernelFile;
use std::io;
use std::path::{Path, PathBuf};

/// The kernels that can be named.
#[derive(Clone, Debug)]
pub struct Kernels {
    cache: Cache,
    files: Vec<CheckedFile>,
}

/// A file of the user's that is a guest kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
struct CheckedFile {
    about: KernelFile,
    /// Those on devices, as the guest said.
    filesystems: Vec<String>,
}

/// Why a file cannot be the kernel of a RUN.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Check(#[from] CheckError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{path}: cannot be read: {error}")]
    Read { path: PathBuf, error: io::Error },
    #[error("{path}: the file changed while it was checked; wait until its build is done")]
    Changed { path: PathBuf },
}

/// A kernel that a level of a device names.
#[derive(Clone, Copy, Debug)]
pub enum Named<'k> {
    /// Of those that were built here, with its configuration beside it.
    Built(&'k Kernel),
    /// A file, with the file systems on devices that its guest named.
    File { about: &'k KernelFile, filesystems: &'k [String] },
}

impl Named<'_> {
    /// The file that is booted.
    ///
    /// # Errors
    /// Where it was built here and is another one by now.
    pub fn binary(&self) -> Result<PathBuf, ChangedKernel> {
        match self {
            Self::Built(kernel) => kernel.unchanged_binary(),
            Self::File { about, .. } => Ok(about.path.clone()),
        }
    }

    /// Whether it has this type of file system.
    #[must_use]
    pub fn has_filesystem(&self, fstype: &str) -> bool {
        match self {
            Self::Built(kernel) => kernel.has_filesystem(fstype),
            Self::File { filesystems, .. } => filesystems.iter().any(|name| name == fstype),
        }
    }
}

impl Kernels {
    /// Those of `cache`, and no files.
    #[must_use]
    pub fn new(cache: Cache) -> Self {
        Self { cache, files: Vec::new() }
    }

    /// Those that were built here.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Takes in a file that a device names by its absolute path: it is hashed, and booted twice
    /// with guests in `base`. One that was built here is known already.
    ///
    /// # Errors
    /// Why it cannot be a kernel, in one sentence.
    pub fn add_file(
        &mut self,
        path: &Path,
        base: &Path,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), FileError> {
        if self.built_at(path).is_some() || self.file_at(path).is_some() {
            return Ok(());
        }
        let hash = || {
            let read = |error| FileError::Read { path: path.to_owned(), error };
            digest::of_file(path).map_err(read)
        };
        let before = path.is_file().then(hash).transpose()?;
        let checked = check(path, &Program::this(base)?, stop)?;
        let sha256 = hash()?;
        if before.is_some_and(|before| before != sha256) {
            return Err(FileError::Changed { path: path.to_owned() });
        }
        self.files.push(CheckedFile {
            about: KernelFile {
                level: level_of(&checked.release, &sha256),
                path: path.to_owned(),
                sha256,
                hz: checked.probe.hz,
            },
            filesystems: checked.probe.filesystems,
        });
        Ok(())
    }

    /// The files that were taken in.
    pub fn files(&self) -> impl Iterator<Item = &KernelFile> {
        self.files.iter().map(|file| &file.about)
    }

    /// How levels of devices name the kernel that is written so: a release or a part of one that
    /// ends at a dot, or the path of a file; empty: the preferred one.
    ///
    /// # Errors
    /// Why there is none and what to do, in one line.
    pub fn level(&self, written: &str) -> Result<String, String> {
        if is_path(written) {
            let path = Path::new(written);
            let built = self.built_at(path).map(|kernel| kernel.identity.level());
            let level = built.or_else(|| Some(self.file_at(path)?.about.level.clone()));
            let refused =
                || format!("{written} was not booted to see what it is: fsarena run does");
            return level.ok_or_else(refused);
        }
        if let Some(kernel) = self.cache.of_release(written) {
            return Ok(kernel.identity.level());
        }
        let known: Vec<String> =
            self.cache.list().iter().map(|kernel| kernel.identity.level()).collect();
        if known.is_empty() {
            return Err("build it: fsarena kernel build".to_owned());
        }
        let known = known.join(", ");
        Err(format!(
            "none is called {written:?}; there are {known}; a file is written with its path"
        ))
    }

    /// What `ask` says of the kernel that a level of a device names, where there is one.
    pub fn named<T>(&self, level: &str, ask: impl FnOnce(Named<'_>) -> T) -> Option<T> {
        if let Some(kernel) = self.cache.called(level) {
            return Some(ask(Named::Built(&kernel)));
        }
        let file = self.files.iter().find(|file| file.about.level == level)?;
        Some(ask(Named::File { about: &file.about, filesystems: &file.filesystems }))
    }

    fn built_at(&self, path: &Path) -> Option<Kernel> {
        let path = path.canonicalize().ok()?;
        let is_it = |kernel: &Kernel| {
            let binary = kernel.binary.canonicalize();
            binary.is_ok_and(|binary| binary == path || binary.parent() == Some(&path))
        };
        self.cache.list().into_iter().find(is_it)
    }

    fn file_at(&self, path: &Path) -> Option<&CheckedFile> {
        self.files.iter().find(|file| file.about.path == path)
    }
}

/// Whether what is written names a file, and no release.
#[must_use]
pub fn is_path(written: &str) -> bool {
    written.contains('/')
}

/// Hexadecimal SHA-256 of a kernel's file.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    digest::of_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_is_no_kernel_is_refused_and_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut kernels = Kernels::new(Cache::new(dir.path().join("none")));
        let refused = |kernels: &mut Kernels, path: &Path| {
            kernels.add_file(path, dir.path(), &|| false).unwrap_err().to_string()
        };
        let text = refused(&mut kernels, Path::new("/bin/true"));
        assert!(text.contains("/bin/true: not a kernel built for User-Mode Linux"), "{text}");
        let there = dir.path().join("text");
        fs::write(&there, "no program").unwrap();
        assert!(refused(&mut kernels, &there).contains("no executable file"));
        assert!(refused(&mut kernels, dir.path()).contains("no executable file"));
        assert_eq!(kernels.files().count(), 0);
        let text = kernels.level("/bin/true").unwrap_err();
        assert!(text.contains("/bin/true was not booted"), "{text}");
        assert_eq!(kernels.level("6.1").unwrap_err(), "build it: fsarena kernel build");
    }
}
