//! The state directory: what its files say is done as this user, so that nobody else may write it.
//!
//! Whoever makes it makes it private. One that is there and open to others is closed, where it is
//! ours and nothing but ours is in it; one that is not ours to close is refused where others may
//! write it. Root uses none that somebody else may put another one in the place of.

use fsarena_process::held::{HeldDir, HeldError};
use fsarena_process::owner::SudoCaller;
use rustix::fs::{Mode, Stat, fchmod};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;
const RIGHTS: u32 = 0o7777;
/// How names of what is in it begin and end.
const OUR_BEGINNINGS: [&str; 3] = ["fsarena-", "guest-", "program-"];
const OUR_ENDINGS: [&str; 4] = [".journal", ".spool", ".watch", ".new"];

/// A state directory that is not used.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// It cannot be looked at.
    #[error("{}: {source}; set FSARENA_STATE_DIR to a directory of your own", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Root goes there by what somebody else may change.
    #[error(
        "{}: {source}, and what is in it would be done as root; set FSARENA_STATE_DIR to a \
         directory below directories of root's alone",
        path.display()
    )]
    Way { path: PathBuf, source: HeldError },
    /// Whoever owns it could have written what is in it.
    #[error(
        "{}: user {uid} owns it, and what is in it would be done as you; set FSARENA_STATE_DIR to \
         a directory of your own",
        path.display()
    )]
    Owner { path: PathBuf, uid: u32 },
    /// Others may write it, and it has more in it than ours.
    #[error(
        "{}: others may write there (mode {mode:04o}), and what is in it would be done as you; {}",
        path.display(),
        remedy(path, *mode, other.as_deref())
    )]
    Open { path: PathBuf, mode: u32, other: Option<String> },
}

fn remedy(path: &Path, mode: u32, other: Option<&str>) -> String {
    let elsewhere = "set FSARENA_STATE_DIR to a directory of its own";
    match other {
        Some(name) if mode & STICKY == 0 => {
            format!("{name} is not fsarena's: `chmod go-w {}`, or {elsewhere}", path.display())
        }
        _ => elsewhere.to_owned(),
    }
}

/// Closes one that is there to others, where that takes nothing from them. Of one that is not there
/// the directories above are vetted.
///
/// # Errors
/// When it is not used.
pub fn check(path: &Path) -> Result<(), StateDirError> {
    let failed = |source: io::Error| StateDirError::Io { path: path.to_owned(), source };
    let way = |source| StateDirError::Way { path: path.to_owned(), source };
    for above in path.ancestors() {
        match HeldDir::of_user(above) {
            Ok(dir) if above == path => return check_held(path, &dir),
            Ok(dir) => {
                let stranger = dir.other_exchanger().map_err(failed)?;
                return stranger.map_or(Ok(()), |found| Err(way(HeldError::Stranger(found))));
            }
            Err(HeldError::Io(error)) => match error.kind() {
                io::ErrorKind::NotFound => {}
                // It is refused by whatever is to be made in it.
                io::ErrorKind::NotADirectory => return Ok(()),
                _ => return Err(failed(error)),
            },
            Err(source) => return Err(way(source)),
        }
    }
    Ok(())
}

fn check_held(path: &Path, dir: &HeldDir) -> Result<(), StateDirError> {
    let failed = |source: io::Error| StateDirError::Io { path: path.to_owned(), source };
    let found = dir.stat().map_err(failed)?;
    let mode = found.st_mode & RIGHTS;
    if !is_trusted(&found) {
        return Err(StateDirError::Owner { path: path.to_owned(), uid: found.st_uid });
    }
    if mode & OTHERS == 0 {
        return Ok(());
    }
    let other = other_entry(dir).map_err(failed)?;
    if mode & STICKY == 0 && other.is_none() && close(dir).is_ok() {
        return Ok(());
    }
    match mode & OTHERS_WRITE {
        0 => Ok(()),
        _ => Err(StateDirError::Open { path: path.to_owned(), mode, other }),
    }
}

/// Whether it belongs to this user, to root, or to whoever has called sudo.
fn is_trusted(found: &Stat) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let caller = SudoCaller::from_env().map(|caller| caller.uid);
    found.st_uid == own || found.st_uid == 0 || caller == Some(found.st_uid)
}

fn close(dir: &HeldDir) -> io::Result<()> {
    Ok(fchmod(dir.reopened()?, Mode::RWXU)?)
}

/// The name of something in it that is not ours.
fn other_entry(dir: &HeldDir) -> io::Result<Option<String>> {
    for entry in fs::read_dir(dir.path_of("."))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let begins = OUR_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
        if !begins && !OUR_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & RIGHTS
    }

    #[test]
    fn one_that_is_open_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/state");
        check(&path).unwrap();
        assert!(!path.exists(), "a check makes nothing");
        fs::create_dir_all(&path).unwrap();
        for name in ["fsarena-a.journal", "b.watch", "fsarena-c.spool.new"] {
            fs::write(path.join(name), "").unwrap();
        }
        for open in [0o755, 0o775, 0o777] {
            set_mode(&path, open);
            check(&path).unwrap();
            assert_eq!(mode(&path), 0o700);
        }
    }

    #[test]
    fn what_is_shared_is_not_changed_and_refused_where_others_may_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        fs::write(path.join("letter"), "").unwrap();
        set_mode(path, 0o755);
        check(path).unwrap();
        assert_eq!(mode(path), 0o755, "nobody else can put anything there");
        set_mode(path, 0o775);
        let refused = check(path).unwrap_err().to_string();
        let words = "others may write there (mode 0775), and what is in it would be done as you; \
                     letter is not fsarena's: `chmod go-w ";
        assert!(refused.contains(words), "{refused}");
        fs::remove_file(path.join("letter")).unwrap();
        set_mode(path, 0o1777);
        let refused = check(path).unwrap_err().to_string();
        assert!(refused.contains("(mode 1777)"), "{refused}");
        assert!(refused.ends_with("set FSARENA_STATE_DIR to a directory of its own"), "{refused}");
        assert_eq!(mode(path), 0o1777);
    }

    #[test]
    fn that_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: root alone gives directories away");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        chown(dir.path(), Some(65_534), None).unwrap();
        let refused = check(dir.path()).unwrap_err().to_string();
        assert!(refused.contains("user 65534 owns it"), "{refused}");
    }

    /// They could put a journal of their own there, which is undone as root.
    #[test]
    fn one_that_another_user_may_exchange_is_refused() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: root alone gives directories away");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let outer = dir.path().join("outer");
        let (there, missing) = (outer.join("inner/state"), outer.join("none/state"));
        fs::create_dir_all(&there).unwrap();
        set_mode(&there, 0o700);
        for (owner, mode, writer) in
            [(65_534, 0o755, "outer belongs to user 65534"), (0, 0o777, "may be written by every")]
        {
            chown(&outer, Some(owner), None).unwrap();
            set_mode(&outer, mode);
            for path in [&there, &missing] {
                let refused = check(path).unwrap_err().to_string();
                assert!(refused.contains(writer) && refused.contains("as root"), "{refused}");
            }
        }
        set_mode(&outer, 0o1777);
        check(&there).unwrap();
        check(&missing).unwrap();
        std::os::unix::fs::symlink(&there, outer.join("link")).unwrap();
        check(&outer.join("link")).unwrap();
        std::os::unix::fs::lchown(outer.join("link"), Some(65_534), None).unwrap();
        let refused = check(&outer.join("link")).unwrap_err().to_string();
        assert!(refused.contains("link is not followed"), "{refused}");
    }
}
