//! A directory of a command, before there is a RUN or beside one: in a journal of its own before it
//! is made, so that the next start removes what a command that was killed has left of it.

use crate::journal::{Entry, Journal, JournalError, Owner, at};
use crate::run::this_process;
use fsarena_process::private;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// A directory of this process alone. It goes with the value.
#[derive(Debug)]
pub struct JournaledDir {
    journal: Journal,
    path: PathBuf,
    dir: File,
}

impl JournaledDir {
    /// Makes one in `state_dir` for a command that works with `database`; `name` is that of no
    /// other, and tells people what it is for.
    ///
    /// # Errors
    /// When its journal or the directory cannot be made.
    pub fn make(state_dir: &Path, name: &str, database: &Path) -> Result<Self, JournalError> {
        Self::make_in(state_dir, state_dir, name, database)
    }

    /// The same in another directory, which is made private where it is missing: what is made
    /// becomes something there by a rename.
    ///
    /// # Errors
    /// As [`Self::make`].
    pub fn make_in(
        state_dir: &Path,
        base: &Path,
        name: &str,
        database: &Path,
    ) -> Result<Self, JournalError> {
        private::create_dirs(base).map_err(at(base))?;
        // Another command may have another directory to work in.
        let base = std::path::absolute(base).map_err(at(base))?;
        let process = this_process();
        let mut journal = Journal::begin(
            state_dir,
            &Owner {
                run: name.to_owned(),
                database: database.to_owned(),
                pid: process.pid,
                start_ticks: process.start_ticks,
                boot_id: process.boot_id,
            },
        )?;
        let path = base.join(format!("fsarena-{name}"));
        let made = journal.note(&Entry::Directory(path.clone())).and_then(|()| {
            private::create_dir(&path).map_err(at(&path))?;
            File::open(&path).map_err(at(&path))
        });
        match made {
            Ok(dir) => Ok(Self { journal, path, dir }),
            Err(error) => {
                // Nothing is left of it, or the next start removes it.
                if fs::symlink_metadata(&path).is_err() {
                    let _ = journal.end();
                }
                Err(error)
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// When something of it cannot be removed; the next start tries again.
    pub fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.path)
    }

    /// A path to it that is short, and good in this process only: names of sockets have a limit.
    #[must_use]
    pub fn short_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.dir.as_raw_fd()))
    }
}

impl Drop for JournaledDir {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next start.
        let removed = self.remove();
        if removed.is_ok() || fs::symlink_metadata(&self.path).is_err() {
            let _ = self.journal.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recover;
    use std::os::unix::fs::PermissionsExt as _;

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).unwrap().flatten();
        let mut names: Vec<String> =
            names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn it_goes_with_its_command_and_no_start_takes_it_before() {
        let state = tempfile::tempdir().unwrap();
        let made = JournaledDir::make(state.path(), "ranks-1", Path::new("/db")).unwrap();
        fs::write(made.path().join("secret"), "x").unwrap();
        assert!(made.short_path().join("secret").is_file());
        let mode = made.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700);
        assert!(recover(state.path()).unwrap().removed.is_empty(), "its command lives");
        assert_eq!(names(state.path()), ["fsarena-ranks-1", "fsarena-ranks-1.journal"]);
        let again = JournaledDir::make(state.path(), "ranks-1", Path::new("/db"));
        assert!(again.is_err() && made.path().is_dir());
        drop(made);
        assert_eq!(names(state.path()), [""; 0]);
    }

    #[test]
    fn the_next_start_removes_what_a_killed_one_has_left() {
        let state = tempfile::tempdir().unwrap();
        let cache = state.path().join("cache");
        let db = Path::new("/db");
        killed(state.path(), JournaledDir::make(state.path(), "ranks-1", db).unwrap(), "ranks-1");
        assert_eq!(names(state.path()), [""; 0]);
        let made = JournaledDir::make_in(state.path(), &cache, "building-1", db).unwrap();
        assert_eq!(names(&cache), ["fsarena-building-1"]);
        killed(state.path(), made, "building-1");
        assert_eq!((names(state.path()), names(&cache)), (vec!["cache".to_owned()], vec![]));
    }

    #[test]
    fn one_that_was_removed_leaves_no_journal() {
        let state = tempfile::tempdir().unwrap();
        let made = JournaledDir::make(state.path(), "ranks-1", Path::new("/db")).unwrap();
        made.remove().unwrap();
        drop(made);
        assert_eq!(names(state.path()), [""; 0]);
    }

    /// Ends its process without a last step, and starts the next one.
    fn killed(state: &Path, made: JournaledDir, name: &str) {
        fs::write(made.path().join("secret"), "x").unwrap();
        // As if it had been killed: the lock goes, the directory and the journal stay.
        let (kept, aside) = (made.path().to_owned(), state.join("aside"));
        let journal = state.join(format!("fsarena-{name}.journal"));
        let text = fs::read(&journal).unwrap();
        fs::rename(&kept, &aside).unwrap();
        drop(made);
        fs::rename(&aside, &kept).unwrap();
        let lock = rustix::fs::FlockOperation::NonBlockingLockShared;
        let _ = fs::remove_file(&journal);
        drop(fsarena_devices::state_file::create(&journal, &text, lock).unwrap());
        let recovered = recover(state).unwrap();
        assert_eq!(recovered.removed, [kept.display().to_string()]);
    }
}
