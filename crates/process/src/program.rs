//! The only things that are started: programs that root may run, by the path at which they were
//! vetted; this program itself; and shell commands that the user has confirmed.
//!
//! A name that was looked up is not looked up again when it is started, and no other crate can
//! start a path or a name: there is no other way to make one of these.

use crate::trust::{Untrusted, vet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// The file of this process, whatever was put in its place since it was started.
const OWN: &str = "/proc/self/exe";
/// Part of every system; who may write it may write all that root runs.
const SHELL: &str = "/bin/sh";

/// A program that may be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustedProgram {
    /// Absolute.
    path: PathBuf,
    /// The text of a shell command.
    command: Option<String>,
}

/// Why a path is none that may be started.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// Nothing is there, or it cannot be reached.
    #[error("{path}: {source}")]
    Missing { path: PathBuf, source: io::Error },
    /// This process is root, and somebody else may change it.
    #[error(transparent)]
    Untrusted(#[from] Untrusted),
}

impl ProgramError {
    /// As of a start that failed.
    #[must_use]
    pub fn into_io(self) -> io::Error {
        match self {
            Self::Missing { source, .. } => source,
            Self::Untrusted(untrusted) => {
                io::Error::new(io::ErrorKind::PermissionDenied, untrusted.to_string())
            }
        }
    }
}

impl TrustedProgram {
    /// The program at this path. Root runs it only where nobody else may change it, or where the
    /// user has said of all who may that they are trusted ([`crate::trust::accept`]).
    ///
    /// # Errors
    /// When nothing is there, and where root does not run it.
    pub fn at(path: &Path) -> Result<Self, ProgramError> {
        // Its file may belong to who has built it, and is not looked for by a path.
        if path == Path::new(OWN) {
            return Ok(Self::own());
        }
        let missing = |source| ProgramError::Missing { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(missing)?;
        path.metadata().map_err(missing)?;
        vet(&path)?;
        Ok(Self::vetted(path))
    }

    /// What a search has found and vetted.
    pub(crate) fn vetted(path: PathBuf) -> Self {
        Self { path, command: None }
    }

    /// This program itself, by the file that this process has open.
    #[must_use]
    pub fn own() -> Self {
        Self::vetted(PathBuf::from(OWN))
    }

    /// A command for `/bin/sh` that the user has written on the command line, or has seen and
    /// confirmed.
    #[must_use]
    pub fn confirmed(command: &str) -> Self {
        Self { path: PathBuf::from(SHELL), command: Some(command.to_owned()) }
    }

    /// Where it is; of a command that of the shell.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_own(&self) -> bool {
        self.path == Path::new(OWN)
    }

    /// What stands before its arguments.
    pub(crate) fn words(&self) -> Vec<OsString> {
        let command = self.command.iter().map(OsString::from);
        command.flat_map(|text| [OsString::from("-c"), text]).collect()
    }

    /// With arguments, as text for people: a command as it was written, else what is not plain
    /// quoted.
    #[must_use]
    pub fn shown<'a>(&self, args: impl Iterator<Item = &'a OsStr>) -> String {
        let path = || self.path.to_string_lossy().into_owned();
        let mut text = self.command.clone().unwrap_or_else(path);
        for arg in args {
            text.push(' ');
            text.push_str(&quoted(&arg.to_string_lossy()));
        }
        text
    }
}

/// `text` as one word of a shell.
#[must_use]
pub fn quoted(text: &str) -> String {
    fsarena_model::braces::quoted(OsStr::new(text)).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_no_program() {
        let missing = TrustedProgram::at(Path::new("/nonexistent/mkfs")).unwrap_err();
        assert!(missing.to_string().starts_with("/nonexistent/mkfs: No such file"), "{missing}");
        assert_eq!(missing.into_io().kind(), io::ErrorKind::NotFound);
        assert!(TrustedProgram::at(Path::new("/bin/sh")).unwrap().path().is_absolute());
    }

    /// Everything that is started comes through here, so that this holds for every program.
    #[test]
    fn root_starts_no_program_of_another_user() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: files of other users are made by root alone");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tool");
        std::fs::copy("/bin/true", &path).unwrap();
        assert_eq!(TrustedProgram::at(&path).unwrap().path(), path);
        std::os::unix::fs::chown(&path, Some(65_531), None).unwrap();
        let refused = TrustedProgram::at(&path).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains("is not run as root") && text.contains("user 65531"), "{text}");
        assert_eq!(refused.into_io().kind(), io::ErrorKind::PermissionDenied);
        let consent = |writer: &str| fsarena_model::trust::TrustConsent {
            program: path.clone(),
            writers: [writer.to_owned()].into(),
        };
        crate::trust::accept(&[consent("everybody")]);
        assert!(TrustedProgram::at(&path).is_err(), "another one is trusted");
        crate::trust::accept(&[consent("65531")]);
        assert!(TrustedProgram::at(&path).is_ok());
    }

    #[test]
    fn a_command_is_shown_as_it_was_written() {
        let command = TrustedProgram::confirmed("echo 'a  b'");
        assert_eq!(command.shown([].into_iter()), "echo 'a  b'");
        assert_eq!(command.words(), ["-c", "echo 'a  b'"]);
        let own = TrustedProgram::own();
        assert_eq!(own.shown([OsStr::new("a b")].into_iter()), "/proc/self/exe 'a b'");
        assert!(own.is_own() && own.words().is_empty());
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("/dev/loop0"), "/dev/loop0");
        assert_eq!(quoted("a b'c"), r"'a b'\''c'");
        assert_eq!(quoted(""), "''");
    }
}
