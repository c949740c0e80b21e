//! The journal of a RUN: what it made outside itself, written before it is made.
//!
//! One file a RUN, one JSON value a line, each synced. The RUN holds a lock on it (flock, shared)
//! for as long as it lives, and so does each executor; a lock ends with its process, however that
//! ends. Whoever gets the exclusive lock therefore knows that all owners are dead, and may undo
//! what the file lists. A live RUN cannot be mistaken for a dead one, even where a process id was
//! used again. The owner is written down as well, so that people can read who it was.
//!
//! There is no moment at which the file can be seen without its lock.

use fsarena_bounded::Bounded;
use fsarena_devices::queue::QueueChange;
use fsarena_devices::state_dir;
use fsarena_devices::state_file::{self, Unfit};
use fsarena_devices::sysctl::SysctlChange;
use fsarena_model::device::DeviceIdentity;
use fsarena_process::private;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Ending of journal files.
const ENDING: &str = "journal";

/// Ending of files with what was measured and could not be stored.
pub(crate) const SPOOLED: &str = "spool";

/// As much as is read of one: a RUN notes some hundred bytes a trial.
const MAX_BYTES: u64 = 1 << 30;

/// One line of a journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// Whose journal this is; the first line.
    Owner(Owner),
    /// An image file.
    Image(PathBuf),
    /// A directory of ours with everything in it.
    Directory(PathBuf),
    Cgroup(PathBuf),
    /// An instance of the kernel's tracing, by its name.
    Trace(String),
    /// A device of the kernel that was made, such as a zram.
    Device(DeviceIdentity),
    /// A device that a RUN works on, whoever has made it: a process that is killed may leave a file
    /// system frozen on it.
    Claimed(DeviceIdentity),
    /// Settings of a device's queue, with what they were before.
    Queue(Vec<QueueChange>),
    /// Settings of the kernel, with what they were before.
    Sysctl(Vec<SysctlChange>),
    /// A command that undoes what an external file system has made outside the image.
    Destroy {
        /// The command, with the device's path in it.
        command: String,
        /// The device and the image under it, for a loop device of ours.
        held: Option<(PathBuf, PathBuf)>,
        /// What any other device was known by. Both are absent for a file system without one.
        #[serde(default)]
        identity: Option<DeviceIdentity>,
    },
    /// The user asked to keep what the last entries made.
    Kept(PathBuf),
}

/// A process in a boot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Owner {
    /// Id of the RUN.
    pub run: String,
    /// Database that has its records.
    pub database: PathBuf,
    /// Process id.
    pub pid: u32,
    /// Start of the process in clock ticks since boot (proc(5), field 22).
    pub start_ticks: u64,
    pub boot_id: String,
}

/// A journal that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}; fsarena keeps its journal there (set FSARENA_STATE_DIR to move it)")]
pub struct JournalError {
    path: String,
    source: io::Error,
}

impl JournalError {
    /// Whether there is no room left for it.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
    }
}

pub(crate) fn at<'a>(path: &'a Path) -> impl Fn(io::Error) -> JournalError + 'a {
    move |source| JournalError { path: path.display().to_string(), source }
}

/// The journal of the RUN of this process.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Begins the journal of a RUN in `dir`.
    ///
    /// # Errors
    /// When the directory or file cannot be made.
    pub fn begin(dir: &Path, owner: &Owner) -> Result<Self, JournalError> {
        private::create_dirs(dir).map_err(at(dir))?;
        // Somebody else may have made it first, in a directory such as /tmp.
        state_dir::check(dir).map_err(|error| at(dir)(io::Error::other(error)))?;
        let path = dir.join(format!("fsarena-{}.{ENDING}", owner.run));
        let first = line(&Entry::Owner(owner.clone()));
        // Never over a journal that is there: a copy of the database has a RUN of the same id, and
        // what the other one lists would be forgotten.
        let made = state_file::create(&path, first.as_bytes(), FlockOperation::LockShared);
        let file = made.map_err(|error| {
            at(&path)(match error.kind() {
                io::ErrorKind::AlreadyExists => io::Error::other(
                    "this RUN is at work in another process, or what it left could not be removed",
                ),
                _ => error,
            })
        })?;
        Ok(Self { path, file })
    }

    /// Where it lies, for the executors.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an entry and syncs it. To be called before the thing is made.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn note(&mut self, entry: &Entry) -> Result<(), JournalError> {
        let line = line(entry);
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(at(&self.path))
    }

    /// Ends it: everything it lists is undone.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn end(&self) -> Result<(), JournalError> {
        fs::remove_file(&self.path).map_err(at(&self.path))
    }
}

fn line(entry: &Entry) -> String {
    serde_json::to_string(entry).expect("an entry is plain data") + "\n"
}

/// A journal whose owners are all dead; held by this process alone.
#[derive(Debug)]
pub struct Orphan {
    path: PathBuf,
    _lock: File,
    /// What it lists, in the order of writing.
    pub entries: Vec<Entry>,
}

impl Orphan {
    #[must_use]
    pub fn owner(&self) -> Option<&Owner> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Owner(owner) => Some(owner),
            _ => None,
        })
    }

    /// Removes the file, after everything was undone.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn forget(self) -> Result<(), JournalError> {
        fs::remove_file(&self.path).map_err(at(&self.path))
    }
}

/// All journals in `dir` whose owners are dead. Those of live RUNs are left alone, unread. What has
/// the name of a journal and is none goes to `skipped`, with the reason.
///
/// # Errors
/// When the directory is there and cannot be read, or a journal cannot.
pub fn orphans(dir: &Path, skipped: &mut Vec<Unfit>) -> Result<Vec<Orphan>, JournalError> {
    let mut found = Vec::new();
    for path in files(dir)? {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_journal = ending == Some(ENDING);
        if !is_journal && (!is_half_made(&path) || is_young(&path)) {
            continue;
        }
        match take(&path)? {
            Ok(Some(orphan)) if is_journal && orphan.owner().is_none() => {
                // A journal gets its name when its first line is on the disk.
                skipped.push(Unfit::new(&path, "it is no journal of fsarena"));
            }
            Ok(orphan) => found.extend(orphan),
            Err(unfit) => skipped.push(unfit),
        }
    }
    Ok(found)
}

/// Journals of RUNs whose owner is dead and that somebody still holds: an executor that is about to
/// die, or a program that it started.
///
/// # Errors
/// When the directory is there and cannot be read.
pub fn dying(dir: &Path, alive: &dyn Fn(&Owner) -> bool) -> Result<Vec<PathBuf>, JournalError> {
    let mut found = Vec::new();
    for path in files(dir)? {
        if path.extension().and_then(|ending| ending.to_str()) != Some(ENDING) {
            continue;
        }
        let Ok(Some(file)) = state_file::open(&path) else { continue };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            continue;
        }
        let text = contents(&file).unwrap_or_default();
        let first = entries(&text).next();
        if let Some(Entry::Owner(owner)) = first
            && !alive(&owner)
        {
            found.push(path);
        }
    }
    Ok(found)
}

/// A file of the state directory that its maker has not named: nothing it lists was made. What was
/// measured is not thrown away here, whole or not.
fn is_half_made(path: &Path) -> bool {
    let of_spool = |stem: &OsStr| Path::new(stem).extension() == Some(OsStr::new(SPOOLED));
    path.extension() == Some(OsStr::new(state_file::TEMPORARY))
        && !path.file_stem().is_some_and(of_spool)
}

/// What is in `dir`, in order; nothing where it is not there.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let list = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        list => list.map_err(at(dir))?,
    };
    let paths = list.map(|item| item.map(|item| item.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>().map_err(at(dir))?;
    paths.sort();
    Ok(paths)
}

/// A file that may be between its making and its lock.
pub(crate) fn is_young(path: &Path) -> bool {
    let age = fs::metadata(path).and_then(|meta| meta.modified()).map(|time| time.elapsed());
    !matches!(age, Ok(Ok(age)) if age > Duration::from_secs(10))
}

/// The journal at `path`, unless somebody lives in it or another process has just removed it.
///
/// What a journal says is done as this user: one that another user could have written is not read.
fn take(path: &Path) -> Result<Result<Option<Orphan>, Unfit>, JournalError> {
    let file = match state_file::open(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(Ok(None)),
        Err(unfit) => return Ok(Err(unfit)),
    };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !path.exists() {
        return Ok(Ok(None));
    }
    let text = contents(&file).map_err(at(path))?;
    let entries = entries(&text).collect();
    Ok(Ok(Some(Orphan { path: path.to_owned(), _lock: file, entries })))
}

/// What is in a journal.
fn contents(mut file: &File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    Bounded::new(file, MAX_BYTES).beginning()
}

/// The entries of a journal. A last line cut short by a crash describes something that was not made
/// yet.
pub fn entries(text: &[u8]) -> impl Iterator<Item = Entry> {
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    lines.filter_map(|line| serde_json::from_str(line).ok())
}

/// Takes part in the life of the journal at `path`: the lock lasts until this process **and all
/// that it starts** have ended or closed it, because the descriptor is inherited. The first process
/// of a process namespace closes its files before its last children are gone.
///
/// # Errors
/// When it cannot be opened or is being undone already.
pub fn live_in(path: &Path) -> Result<File, JournalError> {
    let file = File::open(path).map_err(at(path))?;
    let locked = flock(&file, FlockOperation::NonBlockingLockShared);
    locked.map_err(|errno| at(path)(errno.into()))?;
    let inherited = rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty());
    inherited.map_err(|errno| at(path)(errno.into()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orphans(dir: &Path) -> Vec<Orphan> {
        let mut skipped = Vec::new();
        let found = super::orphans(dir, &mut skipped).unwrap();
        assert!(skipped.is_empty(), "{skipped:?}");
        found
    }

    fn owner(run: &str) -> Owner {
        Owner {
            run: run.into(),
            database: "db".into(),
            pid: 1,
            start_ticks: 2,
            boot_id: "b".into(),
        }
    }

    #[test]
    fn a_live_journal_is_nobodys_orphan() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(dir.path(), &owner("a")).unwrap();
        journal.note(&Entry::Image("fsarena-a.img".into())).unwrap();
        assert!(orphans(dir.path()).is_empty());
        let executor = live_in(journal.path()).unwrap();
        drop(journal);
        assert!(orphans(dir.path()).is_empty(), "its executor still lives");
        drop(executor);
        let found = orphans(dir.path());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].owner(), Some(&owner("a")));
        assert_eq!(found[0].entries[1], Entry::Image("fsarena-a.img".into()));
    }

    #[test]
    fn no_journal_is_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let first = Journal::begin(dir.path(), &owner("a")).unwrap();
        let error = Journal::begin(dir.path(), &owner("a")).unwrap_err().to_string();
        assert!(error.contains("at work in another process"), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the first one alone");
        first.end().unwrap();
        drop(Journal::begin(dir.path(), &owner("a")).unwrap());
    }

    #[test]
    fn an_orphan_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        drop(Journal::begin(dir.path(), &owner("a")).unwrap());
        let first = orphans(dir.path());
        assert_eq!(first.len(), 1);
        assert!(orphans(dir.path()).is_empty(), "the first taker holds it");
        first.into_iter().for_each(|orphan| orphan.forget().unwrap());
        assert!(orphans(dir.path()).is_empty());
    }

    #[test]
    fn a_line_cut_short_is_not_an_entry() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::begin(dir.path(), &owner("a")).unwrap();
        let path = journal.path().to_owned();
        drop(journal);
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"image\":\"fsar").unwrap();
        assert_eq!(orphans(dir.path())[0].entries.len(), 1);
    }

    /// Of a process that died while it made them; one that may be at it still is let alone.
    #[test]
    fn half_made_files_of_the_dead_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let names = ["fsarena-a.journal.new", "0123456789abcdef.watch.new", "fsarena-b.new"];
        for name in names {
            fs::write(dir.path().join(name), "{\"owner\":{\"ru").unwrap();
        }
        assert!(orphans(dir.path()).is_empty(), "they are young");
        for name in names {
            let file = File::options().write(true).open(dir.path().join(name)).unwrap();
            let minute = Duration::from_secs(60);
            file.set_modified(std::time::SystemTime::now() - minute).unwrap();
        }
        let locked = File::open(dir.path().join(names[0])).unwrap();
        flock(&locked, FlockOperation::LockShared).unwrap();
        let found = orphans(dir.path());
        assert_eq!(found.len(), 2);
        found.into_iter().for_each(|orphan| orphan.forget().unwrap());
        assert_eq!(files(dir.path()).unwrap(), [dir.path().join(names[0])]);
    }

    #[test]
    fn a_journal_that_others_may_write_is_not_believed() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::begin(dir.path(), &owner("a")).unwrap();
        let path = journal.path().to_owned();
        drop(journal);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(skipped(dir.path())[0].contains("not believed"));
        assert!(path.exists());
    }

    /// What stands in the way is passed over, each with one line, and nothing is waited for.
    #[test]
    fn what_is_no_journal_is_passed_over() {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = tempfile::tempdir().unwrap();
        drop(Journal::begin(dir.path(), &owner("a")).unwrap());
        let path = |name: &str| dir.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(path("pipe.journal")).status();
        assert!(made.unwrap().success());
        fs::create_dir(path("dir.journal")).unwrap();
        std::os::unix::fs::symlink(path("fsarena-a.journal"), path("link.journal")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero.journal")).unwrap();
        fs::write(path("words.journal"), b"\xff\xfe\n").unwrap();
        let name = std::ffi::OsStr::from_bytes(b"\xff\xfe.journal");
        fs::write(dir.path().join(name), "{}").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket.journal")).unwrap();
        let all = skipped(dir.path());
        assert_eq!(all.len(), 7, "{all:?}");
        let of = |name: &str| all.iter().find(|line| line.contains(name)).unwrap();
        assert!(of("pipe.journal").contains("a pipe"));
        assert!(of("dir.journal").contains("a directory"));
        assert!(of("link.journal").contains("a symbolic link"));
        assert!(of("zero.journal").contains("a symbolic link"));
        assert!(of("words.journal").contains("no journal of fsarena"));
        assert!(of("socket.journal").contains("passed over"));
        assert!(all.iter().all(|line| line.lines().count() == 1), "{all:?}");
        let nobody = |_: &Owner| false;
        assert!(dying(dir.path(), &nobody).unwrap().is_empty());
        let mut unused = Vec::new();
        assert_eq!(super::orphans(dir.path(), &mut unused).unwrap().len(), 1, "the real one");
    }

    fn skipped(dir: &Path) -> Vec<String> {
        let mut skipped = Vec::new();
        drop(super::orphans(dir, &mut skipped).unwrap());
        skipped.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn no_directory_no_orphans() {
        assert!(orphans(Path::new("/nonexistent/fsarena")).is_empty());
    }
}
