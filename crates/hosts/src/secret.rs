//! The secret that a runner and its ranks share, and what proves that a side knows it.
//!
//! It comes from a file that its user alone may read, or from the environment: never from the
//! command line, where every user of a host sees it. It never goes over a connection either.

use crate::proof::{Bytes32, Role, Terms};
use fsarena_bounded::Bounded;
use fsarena_process::private;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rustix::fs::OFlags;
use sha2::Sha256;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Fewer characters could be guessed from one proof.
const LEAST_BYTES: usize = 16;
const MOST_BYTES: usize = 1024;
/// What the group and others may do with a file.
const OTHERS: u32 = 0o077;
/// First words of all that is proved: no other use of the secret gives the same.
const PURPOSE: &[u8] = b"fsarena rendezvous 1\0";

/// A secret of one RUN.
pub struct Secret(Vec<u8>);

/// A secret that is not taken.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error("{}: {source}; name a file with the secret", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// It is a directory, a pipe or a device.
    #[error("{}: is no regular file; name a file with the secret", .0.display())]
    NoFile(PathBuf),
    /// Others know it, or may put another one there.
    #[error(
        "{0}: others may read or change it (mode {1:04o}); `chmod 600 {0}` and use a new secret"
    )]
    Open(String, u32),
    /// Its owner knows it.
    #[error("{0}: it is owned by user {1}; use a file of your own")]
    Owner(String, u32),
    /// It is too short, too long or no text.
    #[error(
        "{0}: expected {LEAST_BYTES} to {MOST_BYTES} characters, such as `openssl rand -hex 32` \
         prints"
    )]
    Size(String),
}

impl Secret {
    /// A new one that nobody can guess.
    ///
    /// # Errors
    /// When the kernel has no random numbers.
    pub fn random() -> io::Result<Self> {
        Ok(Self(String::from(Bytes32::random()?).into_bytes()))
    }

    /// The secret of a text; `from` says where it was found.
    ///
    /// # Errors
    /// When it is too short or too long.
    pub fn from_text(from: &str, text: &str) -> Result<Self, SecretError> {
        let text = text.trim();
        match (LEAST_BYTES..=MOST_BYTES).contains(&text.len()) {
            true => Ok(Self(text.as_bytes().to_vec())),
            false => Err(SecretError::Size(from.to_owned())),
        }
    }

    /// The secret of a file that nobody else may read.
    ///
    /// # Errors
    /// When it cannot be read, is open to others, or has no secret.
    pub fn from_file(path: &Path) -> Result<Self, SecretError> {
        let read = |source| SecretError::Read { path: path.to_owned(), source };
        // What is opened is what is looked at, and a pipe without a writer is not waited for.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of open(2) is small");
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(read)?;
        let meta = file.metadata().map_err(read)?;
        if !meta.is_file() {
            return Err(SecretError::NoFile(path.to_owned()));
        }
        let name = path.display().to_string();
        if meta.mode() & OTHERS != 0 {
            return Err(SecretError::Open(name, meta.mode() & 0o7777));
        }
        if meta.uid() != rustix::process::geteuid().as_raw() && meta.uid() != 0 {
            return Err(SecretError::Owner(name, meta.uid()));
        }
        let text = Bounded::new(file, MOST_BYTES as u64 + 2).beginning().map_err(read)?;
        let text = String::from_utf8(text)
            .map_err(|_| read(io::Error::new(io::ErrorKind::InvalidData, "it is no text")))?;
        Self::from_text(&name, &text)
    }

    /// Writes it to a new file of its user's alone.
    ///
    /// # Errors
    /// When there is such a file, or it cannot be written.
    pub fn write_new(&self, path: &Path) -> io::Result<()> {
        let mut file = private::create_file(path)?;
        file.write_all(&self.0)?;
        file.write_all(b"\n")
    }

    /// What only a side of this role that knows the secret can say.
    pub(crate) fn proof(&self, role: Role, terms: &Terms) -> Bytes32 {
        let bytes = self.mac(role, terms).finalize().into_bytes();
        Bytes32(bytes.into())
    }

    /// Whether a proof is right, in a time that says nothing of the right one.
    pub(crate) fn is_proved(&self, role: Role, terms: &Terms, proof: &Bytes32) -> bool {
        self.mac(role, terms).verify_slice(&proof.0).is_ok()
    }

    fn mac(&self, role: Role, terms: &Terms) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(PURPOSE);
        // All of what follows has a fixed length.
        mac.update(&[match role {
            Role::Rank => b'k',
            Role::Runner => b'r',
        }]);
        for nonce in [&terms.rank_nonce, &terms.runner_nonce, &terms.process] {
            mac.update(&nonce.0);
        }
        mac.update(&terms.rank.to_be_bytes());
        mac.update(&terms.size.to_be_bytes());
        mac
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn file(dir: &tempfile::TempDir, text: &str, mode: u32) -> PathBuf {
        let path = dir.path().join("secret");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let text = "0123456789abcdef\n";
        assert!(Secret::from_file(&file(&dir, text, 0o600)).is_ok());
        for mode in [0o644, 0o640, 0o620, 0o604, 0o601] {
            let error = Secret::from_file(&file(&dir, text, mode)).unwrap_err();
            let words = format!("others may read or change it (mode {mode:04o}); `chmod 600");
            assert!(error.to_string().contains(&words), "{error}");
        }
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let said =
            |text: &str| Secret::from_file(&file(&dir, text, 0o600)).unwrap_err().to_string();
        assert!(said("short\n").contains("expected 16 to 1024 characters"));
        assert!(said(&"x".repeat(5000)).contains("expected 16 to 1024 characters"));
        assert!(said("").contains("openssl rand -hex 32"));
        let error = Secret::from_file(dir.path()).unwrap_err().to_string();
        assert!(error.contains("is no regular file"), "{error}");
        let error = Secret::from_file(&dir.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("No such file"), "{error}");
        assert!(Secret::from_text("FSARENA_SECRET", "0123456789abcdef").is_ok());
    }

    #[test]
    fn a_new_secret_is_read_again_and_shown_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let secret = Secret::random().unwrap();
        secret.write_new(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
        assert_eq!(Secret::from_file(&path).unwrap().0, secret.0);
        assert!(secret.write_new(&path).is_err(), "a file that is there is not written to");
        assert_ne!(secret.0, Secret::random().unwrap().0);
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
