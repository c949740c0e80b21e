//! Programs whose path is written out, that root would run, and that somebody else may change:
//! refused with who that is, unless `--trust` names the program and all of them.
//!
//! What is found by name in `PATH` is not looked at here: it is refused in any case.

use crate::context::Usage;
use anyhow::Result;
use fsarena_model::trust::TrustConsent;
use fsarena_process::trust::{Untrusted, is_consented, is_for, writers_for_root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Reads what one `--trust` says: `PATH=USER+…`.
///
/// # Errors
/// Where a path or a user is missing.
pub fn parse_consent(text: &str) -> Result<TrustConsent> {
    let Some((path, writers)) = text.rsplit_once('=').filter(|(path, writers)| {
        !path.is_empty() && writers.split('+').all(|writer| !writer.is_empty())
    }) else {
        refuse!("--trust {text}: write it as PATH=USER, as the refusal of the program does");
    };
    let program = std::path::absolute(path)?;
    Ok(TrustConsent { program, writers: writers.split('+').map(str::to_owned).collect() })
}

/// Refuses the first of these programs that somebody else may change without consent, and a consent
/// for none of them.
///
/// # Errors
/// Says who may change it, and the option that would be right.
pub fn check_programs(programs: &[PathBuf], consents: &[TrustConsent]) -> Result<()> {
    programs.iter().try_for_each(|program| check_program(program, consents))?;
    let is_unused = |consent: &&TrustConsent| !programs.iter().any(|one| is_for(consent, one));
    match consents.iter().find(is_unused) {
        None => Ok(()),
        Some(consent) => {
            let path = consent.program.display();
            refuse!("--trust {path}: no program of that path is run here; leave it out")
        }
    }
}

/// The same for one program, when not all of them are known yet.
///
/// # Errors
/// As [`check_programs`].
pub fn check_program(program: &Path, consents: &[TrustConsent]) -> Result<()> {
    // What is not there is refused by whoever looks for it.
    let found = if program.exists() { writers_for_root(program) } else { Vec::new() };
    let Some(first) = found.first() else { return Ok(()) };
    if is_consented(program, &found, consents) {
        return Ok(());
    }
    let words: Option<BTreeSet<String>> = found.iter().map(|one| one.writer.word()).collect();
    Err(Usage(refusal(program, first, words.as_ref())).into())
}

/// A guest kernel of a command that has no `--trust`: guests need no root.
///
/// # Errors
/// Says who may change it.
pub fn check_guest_kernel(kernel: &Path) -> Result<()> {
    match writers_for_root(kernel).first() {
        Some(found) if kernel.exists() => refuse!(
            "the guest kernel {} would be run as root, and {} {}; run this without root, which \
             guests do not need, or chown it to root",
            kernel.display(),
            found.place.display(),
            found.writer
        ),
        _ => Ok(()),
    }
}

fn refusal(program: &Path, first: &Untrusted, words: Option<&BTreeSet<String>>) -> String {
    let shown = program.display();
    let what = format!(
        "{shown} would be run as root, and {} {}, so that what it does can be changed; chown \
         it to root and take that right away",
        first.place.display(),
        first.writer
    );
    let Some(words) = words else { return what };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let option = fsarena_process::cmd::quoted(&format!("{shown}={}", words.join("+")));
    format!("{what}, or pass --trust {option}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consent_names_a_path_and_users() {
        let consent = parse_consent("/opt/a=b/mkfs=ann+group:disk").unwrap();
        assert_eq!(consent.program, Path::new("/opt/a=b/mkfs"));
        assert_eq!(consent.writers, ["ann", "group:disk"].map(str::to_owned).into());
        for text in ["/opt/mkfs", "/opt/mkfs=", "=ann", "/opt/mkfs=ann+", ""] {
            let error = parse_consent(text).unwrap_err();
            assert!(error.is::<Usage>() && error.to_string().contains("PATH=USER"), "{error}");
        }
    }

    #[test]
    fn exactly_those_who_may_change_it_have_to_be_named() {
        if !crate::context::is_root() {
            println!("not run: this is not root");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("mkfs.own");
        std::fs::copy("/bin/true", &program).unwrap();
        let programs = std::slice::from_ref(&program);
        let consent =
            |words: &str| vec![parse_consent(&format!("{}={words}", program.display())).unwrap()];
        check_programs(programs, &[]).unwrap();
        std::os::unix::fs::chown(&program, Some(65_533), None).unwrap();
        let error = check_programs(programs, &[]).unwrap_err().to_string();
        let shown = program.display();
        assert_eq!(
            error,
            format!(
                "{shown} would be run as root, and {shown} belongs to user 65533, so that what it \
                 does can be changed; chown it to root and take that right away, or pass --trust \
                 {shown}=65533"
            )
        );
        check_programs(programs, &consent("65533")).unwrap();
        for wrong in ["65532", "65533+everybody", "root"] {
            check_programs(programs, &consent(wrong)).unwrap_err();
        }
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&program, &link).unwrap();
        check_programs(&[link], &consent("65533")).unwrap();
        let error = check_programs(&[], &consent("65533")).unwrap_err().to_string();
        assert!(error.contains("no program of that path is run here"), "{error}");
        assert!(check_guest_kernel(&program).unwrap_err().to_string().contains("without root"));
        check_guest_kernel(Path::new("/bin/true")).unwrap();
    }
}
