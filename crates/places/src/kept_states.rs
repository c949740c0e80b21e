//! Crash states that broke a promise, kept so that they can be looked at again.
//!
//! Each is a directory of its own: what it is (`state.json`), the write log of the whole run
//! (`log.zst`), the op journal (`ops.zst`) and, after a second power cut, what recovery wrote
//! (`recovery.zst`). The log is packed (see [`fsarena_safety::packed`]), and states of one run
//! share the file by hard links. A state appears whole or not at all, and none takes the place of
//! another.

mod export;

use crate::OwnedDir;
use fsarena_bounded::Bounded;
use fsarena_model::contender::FsLevel;
use fsarena_process::owner::{create_dirs, give_tree_to_caller};
use fsarena_safety::Violation;
use fsarena_safety::op::Op;
use fsarena_safety::packed::{UnpackError, pack, unpack};
use fsarena_safety::promise::Promises;
use fsarena_safety::state::CrashState;
use fsarena_vdisk::WriteLog;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const LOG: &str = "log.zst";
const OPS: &str = "ops.zst";
const RECOVERY: &str = "recovery.zst";
/// Version of the files.
const FORMAT: u32 = 1;
const LEVEL: i32 = 3;
/// Digits of the name of a state.
const DIGITS: usize = 10;
/// The text of a state, and its op journal unpacked, are at most so long.
const TEXT_MOST: u64 = 256 << 20;
const WORK_PREFIX: &str = "keeping-";

/// What a state is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KeptState {
    pub format: u32,
    /// Hash of what it is; the name of its directory.
    pub id: String,
    /// When it was kept, s since 1970.
    pub kept_unix_s: u64,
    /// File system with its options.
    pub contender: String,
    pub fs: FsLevel,
    pub model: String,
    pub size_bytes: u64,
    pub syscall_ns: u64,
    /// Of guests release and first digits of the hash of the binary, and its path, where it was
    /// none that was built here; natively the release.
    pub kernel: String,
    pub kernel_file: Option<PathBuf>,
    /// It was found under the kernel of the machine, and is looked at under that.
    #[serde(default)]
    pub is_native: bool,
    pub workload: String,
    /// Class of the state, as tables call it.
    pub class: String,
    pub seed: u64,
    /// The power went so long after the begin of the work.
    pub after_ns: u64,
    pub mount_options: String,
    /// What the disk did that an honest one does not; `None`: it was honest.
    pub disk_fault: Option<String>,
    pub promises: Promises,
    pub violations: Vec<Violation>,
    pub state: CrashState,
    /// The second power cut, in what recovery wrote.
    pub cut: Option<CrashState>,
}

/// What belongs to a state.
#[derive(Debug)]
pub struct KeptContents {
    pub log: WriteLog,
    pub ops: Vec<Op>,
    pub recovery: Option<WriteLog>,
}

/// A state that cannot be kept, found or read.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: {source}")]
    Unpack { path: PathBuf, source: UnpackError },
    #[error("{path}: {source}")]
    Text { path: PathBuf, source: serde_json::Error },
    #[error("no kept state has a name that begins with {0:?}; see fsarena safety states")]
    None(String),
    #[error("{count} kept states have names that begin with {name:?}; write more of it")]
    Several { name: String, count: usize },
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> KeptError {
    let path = path.to_owned();
    move |source| KeptError::Io { path, source }
}

impl KeptState {
    /// Its name, by what it is: the same state has the same one again.
    #[must_use]
    pub fn name(&self) -> String {
        let Self { contender, model, size_bytes, kernel, workload, class, seed, .. } = self;
        let what = format!(
            "{contender}\n{model}\n{size_bytes}\n{kernel}\n{workload}\n{class}\n{seed}\n{:?}\n{:?}\
             \n{:?}",
            self.disk_fault, self.state, self.cut
        );
        let digest = Sha256::digest(what.as_bytes());
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        hex[..DIGITS].to_owned()
    }
}

/// The states that were kept.
#[derive(Clone, Debug)]
pub struct KeptStates {
    dir: PathBuf,
}

/// The files of a run that were written for its first state.
#[derive(Clone, Debug, Default)]
pub struct SharedFiles {
    of: Option<PathBuf>,
}

impl KeptStates {
    /// The states in `dir`, which need not be there.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Where they are.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// All, the latest last.
    #[must_use]
    pub fn list(&self) -> Vec<KeptState> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut all: Vec<KeptState> =
            entries.filter_map(|entry| self.entry(&entry.path())).collect();
        all.sort_by_key(|state| (state.kept_unix_s, state.id.clone()));
        all
    }

    /// The one whose name begins so.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn find(&self, name: &str) -> Result<KeptState, KeptError> {
        let mut found = self.list();
        found.retain(|state| !name.is_empty() && state.id.starts_with(name));
        match found.len() {
            0 => Err(KeptError::None(name.to_owned())),
            1 => Ok(found.remove(0)),
            count => Err(KeptError::Several { name: name.to_owned(), count }),
        }
    }

    /// Bytes of its files; those that it shares with other states are counted for each.
    #[must_use]
    pub fn size_bytes(&self, state: &KeptState) -> u64 {
        let files = fs::read_dir(self.dir.join(&state.id)).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
    }

    /// A directory with a state in the form of this version.
    fn entry(&self, dir: &Path) -> Option<KeptState> {
        if !fs::symlink_metadata(dir).ok()?.is_dir() {
            return None;
        }
        let file = open_file(&dir.join(STATE)).ok()?;
        let text = Bounded::new(file, TEXT_MOST).whole_text().ok()?;
        let state: KeptState = serde_json::from_str(&text).ok()?;
        let is_named = dir.file_name()? == state.id.as_str();
        // None is kept of a file system that commands define, and none is run because a file says
        // so.
        let has_commands = state.fs.external.is_some();
        (state.format == FORMAT && is_named && !has_commands).then_some(state)
    }

    /// Keeps a state, whose format and name are set here, and says its name. One that is there
    /// already stays as it is. `shared`: of the states of one run; the default for its first.
    ///
    /// # Errors
    /// Where its directory cannot be written.
    pub fn keep(
        &self,
        mut state: KeptState,
        contents: (&WriteLog, &[Op], Option<&WriteLog>),
        shared: &mut SharedFiles,
    ) -> Result<String, KeptError> {
        (state.format, state.id) = (FORMAT, state.name());
        let place = self.dir.join(&state.id);
        if self.entry(&place).is_some() {
            return Ok(state.id);
        }
        create_dirs(&self.dir, 0o755).map_err(io_at(&self.dir))?;
        let own = OwnedDir::make(&self.dir, WORK_PREFIX).map_err(io_at(&self.dir))?;
        let (log, ops, recovery) = contents;
        let path = |name: &str| own.path().join(name);
        let link = |name| shared.of.as_ref().is_some_and(|of| link(of, &path(name), name));
        if !link(LOG) {
            write_packed(&path(LOG), log).map_err(io_at(&path(LOG)))?;
        }
        if !link(OPS) {
            let text = serde_json::to_vec(ops);
            let text = text.map_err(|source| KeptError::Text { path: path(OPS), source })?;
            write_compressed(&path(OPS), |to| to.write_all(&text)).map_err(io_at(&path(OPS)))?;
        }
        if let Some(recovery) = recovery {
            write_packed(&path(RECOVERY), recovery).map_err(io_at(&path(RECOVERY)))?;
        }
        let text = serde_json::to_vec(&state);
        let text = text.map_err(|source| KeptError::Text { path: path(STATE), source })?;
        let write = || -> io::Result<()> {
            let mut file = new_file(&path(STATE))?;
            file.write_all(&text)?;
            file.sync_all()
        };
        write().map_err(io_at(&path(STATE)))?;
        give_tree_to_caller(own.path()).map_err(io_at(own.path()))?;
        match fs::rename(own.path(), &place) {
            // Another process has kept the same one meanwhile.
            Err(_) if self.entry(&place).is_some() => {}
            renamed => renamed.map_err(io_at(&place))?,
        }
        shared.of.get_or_insert(place);
        Ok(state.id)
    }

    /// What belongs to a state.
    ///
    /// # Errors
    /// Where a file of it cannot be read or is damaged.
    pub fn contents(&self, state: &KeptState) -> Result<KeptContents, KeptError> {
        let dir = self.dir.join(&state.id);
        let ops_path = dir.join(OPS);
        let ops = open_file(&ops_path).and_then(zstd::Decoder::new).map_err(io_at(&ops_path))?;
        let ops = Bounded::new(ops, TEXT_MOST).whole().map_err(io_at(&ops_path))?;
        let ops = serde_json::from_slice(&ops)
            .map_err(|source| KeptError::Text { path: ops_path, source })?;
        let recovery = state.cut.as_ref().map(|_| read_packed(&dir.join(RECOVERY))).transpose()?;
        Ok(KeptContents { log: read_packed(&dir.join(LOG))?, ops, recovery })
    }

    /// Deletes a state.
    ///
    /// # Errors
    /// Where its files cannot be deleted.
    pub fn remove(&self, state: &KeptState) -> Result<(), KeptError> {
        let place = self.dir.join(&state.id);
        // It is gone at once for everybody, whatever happens while its files are deleted.
        let own = OwnedDir::make(&self.dir, WORK_PREFIX).map_err(io_at(&self.dir))?;
        fs::rename(&place, own.path().join(&state.id)).map_err(io_at(&place))
    }
}

/// Whether the file of that name is there by a link.
fn link(of: &Path, to: &Path, name: &str) -> bool {
    fs::hard_link(of.join(name), to).is_ok()
}

/// A file that is not there yet, and no link.
fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// A file, and no link.
fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

fn write_compressed(
    path: &Path,
    write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> io::Result<()> {
    let encoder = zstd::Encoder::new(new_file(path)?, LEVEL)?;
    let mut encoder = BufWriter::new(encoder);
    write(&mut encoder)?;
    let encoder = encoder.into_inner().map_err(io::IntoInnerError::into_error)?;
    encoder.finish()?.sync_all()
}

fn write_packed(path: &Path, log: &WriteLog) -> io::Result<()> {
    write_compressed(path, |to| pack(log, to))
}

fn read_packed(path: &Path) -> Result<WriteLog, KeptError> {
    let decoder = open_file(path).and_then(zstd::Decoder::new).map_err(io_at(path))?;
    let unpacked = unpack(&mut BufReader::new(decoder));
    unpacked.map_err(|source| KeptError::Unpack { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::FsLevel;
    use fsarena_safety::op::{Action, Sync};
    use fsarena_safety::stamp::{Stamp, fill};
    use fsarena_safety::state::{Class, Sampling, Survivors};
    use fsarena_testkit::records;
    use fsarena_vdisk::{Completion, Outcome, Request};
    use std::os::unix::fs::{MetadataExt as _, symlink};

    fn log() -> WriteLog {
        let mut log = WriteLog::in_memory();
        let mut data = vec![0; 1 << 20];
        fill(&mut data, Stamp { seed: 1, file: 2, version: 3 }, 0);
        let done = Completion { tag: 0, at_ns: 9, outcome: Outcome::Done };
        log.completed(&Request::write(0, 0, 2048), 5, &done, &data).unwrap();
        log
    }

    fn state(seed: u64) -> KeptState {
        KeptState {
            format: 0,
            id: String::new(),
            kept_unix_s: 7,
            contender: "ext4".to_owned(),
            fs: FsLevel::plain("ext4"),
            model: "hdd-2007".to_owned(),
            size_bytes: 1 << 30,
            syscall_ns: 0,
            kernel: "6.12.1-abc".to_owned(),
            kernel_file: None,
            is_native: false,
            workload: "synced".to_owned(),
            class: "dropall".to_owned(),
            seed,
            after_ns: 5,
            mount_options: "rw".to_owned(),
            disk_fault: None,
            promises: Promises::default(),
            violations: Vec::new(),
            state: CrashState {
                at_ns: 9,
                count: 1,
                class: Class::Dropall,
                sampling: Sampling::Uniform,
                survivors: Survivors::None,
                in_flight: vec![],
                torn: None,
                contents: 4,
            },
            cut: None,
        }
    }

    #[test]
    fn states_are_kept_once_and_share_their_log() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptStates::new(dir.path().join("states"));
        assert!(kept.list().is_empty());
        let action = Action::Create { file: 1, bytes: 2, version: 1, sync: Sync::None };
        let ops = [Op { action, begin_ns: 1, end_ns: 2, error: None }];
        let mut shared = SharedFiles::default();
        let log = log();
        let one = kept.keep(state(1), (&log, &ops, None), &mut shared).unwrap();
        let cut = Some(state(1).state);
        let recovered = KeptState { cut, ..state(2) };
        let two = kept.keep(recovered, (&log, &ops, Some(&log)), &mut shared).unwrap();
        assert_eq!(one, kept.keep(state(1), (&log, &ops, None), &mut shared).unwrap());
        assert_eq!(kept.list().len(), 2);
        let inode = |id: &str| fs::metadata(kept.dir().join(id).join(LOG)).unwrap().ino();
        assert_eq!(inode(&one), inode(&two));
        let found = kept.find(&two[..6]).unwrap();
        let contents = kept.contents(&found).unwrap();
        assert_eq!((contents.ops.as_slice(), contents.recovery.is_some()), (&ops[..], true));
        let mut data = [[0; 1024]; 2];
        for (log, data) in [&log, &contents.log].into_iter().zip(&mut data) {
            log.data(&log.entries()[0], 17, data).unwrap();
        }
        assert_eq!(data[0], data[1]);
        assert!(kept.size_bytes(&found) < 8 << 10, "{}", kept.size_bytes(&found));
        kept.remove(&found).unwrap();
        assert_eq!(kept.list(), [kept.find(&one).unwrap()]);
        assert!(kept.contents(&kept.find(&one).unwrap()).is_ok(), "the log that was shared stays");
        assert_eq!(fs::read_dir(kept.dir()).unwrap().count(), 1);
        let none = kept.find(&two).unwrap_err().to_string();
        assert!(none.contains("see fsarena safety states"), "{none}");
    }

    #[test]
    fn a_state_with_commands_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptStates::new(dir.path().to_owned());
        let id = kept.keep(state(1), (&log(), &[], None), &mut SharedFiles::default()).unwrap();
        let path = dir.path().join(&id).join(STATE);
        let mut changed: KeptState = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(kept.list().len(), 1);
        changed.fs.external = Some(records::external_fs("id {mnt}"));
        fs::write(&path, serde_json::to_vec(&changed).unwrap()).unwrap();
        assert!(kept.list().is_empty());
    }

    #[test]
    fn links_and_what_is_no_state_are_left() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptStates::new(dir.path().to_owned());
        let id = state(1).name();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), dir.path().join(&id)).unwrap();
        let refused = kept.keep(state(1), (&log(), &[], None), &mut SharedFiles::default());
        assert!(refused.unwrap_err().to_string().contains(&id));
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        assert!(kept.list().is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }
}
