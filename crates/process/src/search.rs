//! Where programs are looked for by their names: once, and what is found is vetted.

use crate::program::TrustedProgram;
use crate::trust::{is_root_of_machine, untrusted};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Directories of system programs, which a user's `PATH` often lacks.
const USUAL: [&str; 5] = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// Directories in which programs are looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchPath(Vec<PathBuf>);

impl SearchPath {
    /// `PATH`, then the directories of system programs, each once.
    #[must_use]
    pub fn from_env() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let named = std::env::split_paths(&path).filter(|dir| dir.is_absolute());
        let mut dirs: Vec<PathBuf> = Vec::new();
        for dir in named.chain(USUAL.map(PathBuf::from)) {
            if !dirs.contains(&dir) {
                dirs.push(dir);
            }
        }
        Self(dirs)
    }

    /// These directories alone.
    #[must_use]
    pub fn new(dirs: Vec<PathBuf>) -> Self {
        Self(dirs)
    }

    /// The first executable file of this name; for root the first that nobody else may write.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TrustedProgram> {
        let is_root = is_root_of_machine();
        self.executables(name)
            .find(|path| !is_root || untrusted(path).is_none())
            .map(TrustedProgram::vetted)
    }

    /// Why [`find`](Self::find) gives none of this name: it is not there, or root does not run it.
    #[must_use]
    pub fn why_missing(&self, name: &str) -> String {
        self.why_untrusted(name).unwrap_or_else(|| format!("{name} is not installed"))
    }

    /// Why root does not run the first of this name; nothing where there is none.
    #[must_use]
    pub fn why_untrusted(&self, name: &str) -> Option<String> {
        let mut found = self.executables(name).filter(|_| is_root_of_machine());
        Some(found.find_map(|path| untrusted(&path))?.to_string())
    }

    fn executables(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        self.0.iter().map(move |dir| dir.join(name)).filter(|path| is_executable(path))
    }

    /// As a value of `PATH`; for root without directories that somebody else may write.
    #[must_use]
    pub fn joined(&self) -> OsString {
        let is_root = is_root_of_machine();
        let may_be_written = |dir: &&PathBuf| dir.exists() && untrusted(dir).is_some();
        let dirs = self.0.iter().filter(|dir| !(is_root && may_be_written(dir)));
        std::env::join_paths(dirs).unwrap_or_default()
    }
}

/// Whether a file of this path may be executed by somebody.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Looks for a program in `PATH` and the directories of system programs.
#[must_use]
pub fn find(name: &str) -> Option<TrustedProgram> {
    SearchPath::from_env().find(name)
}

/// Why [`find`] gives no program of this name.
#[must_use]
pub fn why_missing(name: &str) -> String {
    SearchPath::from_env().why_missing(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_search_path_finds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = SearchPath::new(vec![dir.path().to_owned()]);
        assert_eq!(path.find("sh"), None);
        std::fs::write(dir.path().join("sh"), "no program").unwrap();
        assert_eq!(path.find("sh"), None, "not executable");
        assert!(find("sh").unwrap().path().is_absolute());
    }

    #[test]
    fn root_runs_nothing_that_others_may_write() {
        if !is_root_of_machine() {
            println!("not run: this is not root of the machine");
            return;
        }
        let temporary = tempfile::tempdir().unwrap();
        let (open, own) = (temporary.path().join("open"), temporary.path().join("own"));
        for dir in [&open, &own] {
            std::fs::create_dir(dir).unwrap();
            std::fs::copy("/bin/true", dir.join("mkfs.own")).unwrap();
        }
        std::os::unix::fs::chown(&open, Some(65534), None).unwrap();
        let both = SearchPath::new(vec![open.clone(), own.clone()]);
        assert_eq!(both.find("mkfs.own").unwrap().path(), own.join("mkfs.own"));
        assert_eq!(both.joined(), own.as_os_str());
        let alone = SearchPath::new(vec![open]);
        assert_eq!(alone.find("mkfs.own"), None);
        let why = alone.why_missing("mkfs.own");
        assert!(why.contains("is not run as root") && why.contains("user 65534"), "{why}");
        assert_eq!(alone.why_missing("mkfs.other"), "mkfs.other is not installed");
    }
}
