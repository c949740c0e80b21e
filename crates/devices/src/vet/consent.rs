//! Consent to lose what is on a block device: `--wipe DEVICE[=SIGNATURE[+SIGNATURE…]]`.

use fsarena_process::cmd;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What the user gave up, word for word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WipeConsent {
    /// The device as written; any path that leads to it.
    pub device: PathBuf,
    /// Signatures that may be lost, as wipefs(8) and blkid(8) name them, and `unknown` for contents
    /// that no signature explains.
    pub signatures: Vec<String>,
}

/// Why the text is no consent.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "--wipe {text}: {problem}; write --wipe DEVICE, or --wipe DEVICE=SIGNATURE+SIGNATURE, such as \
     --wipe /dev/sdb=ext4"
)]
pub struct ConsentError {
    /// As written.
    pub text: String,
    /// What is wrong with it.
    pub problem: String,
}

impl WipeConsent {
    /// Reads `DEVICE[=SIGNATURE[+SIGNATURE…]]`. The last equals sign counts, unless a slash comes
    /// after it: then it is part of the name of the device.
    ///
    /// # Errors
    /// Where there is no absolute path, or an empty, repeated or impossible signature.
    pub fn parse(text: &str) -> Result<Self, ConsentError> {
        let wrong = |problem: &str| {
            let text = cmd::quoted(&text.escape_debug().to_string());
            Err(ConsentError { text, problem: problem.to_owned() })
        };
        if text.chars().any(char::is_control) {
            return wrong("has control characters in it");
        }
        let (device, signatures) = match text.rsplit_once('=') {
            Some((device, rest)) if !rest.contains('/') => (device, Some(rest)),
            _ => (text, None),
        };
        if device.is_empty() {
            return wrong("names no device");
        }
        if !device.starts_with('/') {
            return wrong("does not name the device by an absolute path");
        }
        let mut seen = BTreeSet::new();
        let mut names = Vec::new();
        for name in signatures.into_iter().flat_map(|list| list.split('+')) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
            if name.is_empty() {
                return wrong("has an empty signature");
            }
            if !name.chars().all(plain) {
                return wrong("has a signature that no program writes so");
            }
            if !seen.insert(name) {
                return wrong("names a signature twice");
            }
            names.push(name.to_owned());
        }
        Ok(Self { device: PathBuf::from(device), signatures: names })
    }

    /// The option that gives up exactly these signatures on this device, for a shell.
    #[must_use]
    pub fn option(device: &Path, signatures: &BTreeSet<String>) -> String {
        let names: Vec<&str> = signatures.iter().map(String::as_str).collect();
        let mut text = device.to_string_lossy().into_owned();
        if !names.is_empty() {
            text.push('=');
            text.push_str(&names.join("+"));
        }
        format!("--wipe {}", cmd::quoted(&text))
    }
}

impl FromStr for WipeConsent {
    type Err = ConsentError;

    fn from_str(text: &str) -> Result<Self, ConsentError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, Vec<String>) {
        let consent = WipeConsent::parse(text).unwrap();
        (consent.device.to_str().unwrap().to_owned(), consent.signatures)
    }

    #[test]
    fn device_and_signatures_are_read() {
        assert_eq!(parsed("/dev/sdb"), ("/dev/sdb".into(), vec![]));
        assert_eq!(parsed("/dev/sdb=ext4"), ("/dev/sdb".into(), vec!["ext4".into()]));
        let (device, names) = parsed("/dev/disk/by-id/a=b/c=LVM2_member+dos");
        assert_eq!((device.as_str(), names.len()), ("/dev/disk/by-id/a=b/c", 2));
        assert_eq!(parsed("/dev/a=b/c").0, "/dev/a=b/c");
        assert_eq!(parsed("/dev/x y=gpt").0, "/dev/x y");
    }

    #[test]
    fn what_is_not_clear_is_an_error_that_shows_how() {
        for text in [
            "",
            "=ext4",
            "sdb",
            "sdb=ext4",
            "/dev/sdb=",
            "/dev/sdb=ext4+",
            "/dev/sdb=+",
            "/dev/sdb=ext4+ext4",
            "/dev/sdb=ext4,dos",
            "/dev/sdb=ext4 ",
            "/dev/sdb\n=ext4",
        ] {
            let error = WipeConsent::parse(text).unwrap_err().to_string();
            assert!(error.contains("such as --wipe /dev/sdb=ext4"), "{text:?}: {error}");
            assert!(!error.contains('\n'), "{error:?}");
        }
    }

    #[test]
    fn the_option_reads_back_as_the_consent() {
        let names: BTreeSet<String> = ["gpt", "ext4"].map(str::to_owned).into();
        let option = WipeConsent::option(Path::new("/dev/sdb"), &names);
        assert_eq!(option, "--wipe /dev/sdb=ext4+gpt");
        assert_eq!(parsed(&option["--wipe ".len()..]).1, ["ext4", "gpt"]);
        let bare = WipeConsent::option(Path::new("/dev/my disk"), &BTreeSet::new());
        assert_eq!(bare, "--wipe '/dev/my disk'");
    }
}
