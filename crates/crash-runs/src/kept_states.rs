//! Crash states that broke a promise, kept so that they can be looked at again.
//!
//! Each is a directory of its own: what it is (`state.json`), the write log of the whole run
//! (`log.zst`), the op journal (`ops.zst`) and, after a second power cut, what recovery wrote
//! (`recovery.zst`). The log is packed (see [`fsarena_crash::packed`]), and states of one run
//! share the file by hard links. A state appears whole or not at all, and none takes the place of
//! another. Root uses no directory of states that somebody else may write to or exchange: what lies
//! there is mounted.

mod export;

use fsarena_bounded::Bounded;
use fsarena_crash::Violation;
use fsarena_crash::op::Op;
use fsarena_crash::packed::{UnpackError, pack, unpack};
use fsarena_crash::promise::Promises;
use fsarena_crash::state::CrashState;
use fsarena_guests::{KEEPING_PREFIX, OwnedDir};
use fsarena_model::contender::FsLevel;
use fsarena_process::held::{HeldDir, HeldError};
use fsarena_process::owner::give_tree_to_caller;
use fsarena_vdisk::WriteLog;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::ffi::OsStr;
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

/// What a state is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, crate::JsonSchema)]
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
    #[error(
        "{path}: {source}, and what is in it would be mounted as root; set XDG_DATA_HOME to a \
         directory of root's"
    )]
    Stranger { path: PathBuf, source: HeldError },
    #[error("{path}: {source}")]
    Unpack { path: PathBuf, source: UnpackError },
    #[error("{path}: {source}")]
    Text { path: PathBuf, source: serde_json::Error },
    #[error("no kept state has a name that begins with {0:?}; see fsarena crash states")]
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

/// The files of a run that were written for its first state, by the name of that.
#[derive(Clone, Debug, Default)]
pub struct SharedFiles {
    of: Option<String>,
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

    /// The directory, where it is there.
    fn opened(&self) -> Result<Option<HeldDir>, KeptError> {
        let stranger = |source| KeptError::Stranger { path: self.dir.clone(), source };
        let dir = match HeldDir::of_user(&self.dir) {
            Ok(dir) => dir,
            Err(HeldError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(HeldError::Io(error)) => return Err(io_at(&self.dir)(error)),
            Err(other) => return Err(stranger(other)),
        };
        match dir.other_writer().map_err(io_at(&self.dir))? {
            Some(found) => Err(stranger(HeldError::Stranger(found))),
            None => Ok(Some(dir)),
        }
    }

    /// The directory, which has to be there.
    fn existing(&self) -> Result<HeldDir, KeptError> {
        let gone = || io_at(&self.dir)(io::ErrorKind::NotFound.into());
        self.opened()?.ok_or_else(gone)
    }

    /// All, the latest last.
    ///
    /// # Errors
    /// When the directory is not to be used, or cannot be read.
    pub fn list(&self) -> Result<Vec<KeptState>, KeptError> {
        let Some(dir) = self.opened()? else { return Ok(Vec::new()) };
        let entries = fs::read_dir(dir.path_of(".")).map_err(io_at(&self.dir))?.flatten();
        let mut all: Vec<KeptState> =
            entries.filter_map(|entry| state_in(&dir, &entry.file_name())).collect();
        all.sort_by_key(|state| (state.kept_unix_s, state.id.clone()));
        Ok(all)
    }

    /// The one whose name begins so.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn find(&self, name: &str) -> Result<KeptState, KeptError> {
        let mut found = self.list()?;
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
        let dir = self.opened().ok().flatten().and_then(|dir| dir.open_dir(&state.id).ok());
        let files = dir.and_then(|dir| fs::read_dir(dir.path_of(".")).ok()).into_iter().flatten();
        files.flatten().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
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
        let named = self.dir.join(&state.id);
        HeldDir::make(&self.dir, 0o755).map_err(|error| io_at(&self.dir)(error.into()))?;
        let dir = self.existing()?;
        if state_in(&dir, state.id.as_ref()).is_some() {
            return Ok(state.id);
        }
        let own = OwnedDir::make(&dir.path_of("."), KEEPING_PREFIX).map_err(io_at(&self.dir))?;
        let of = shared.of.as_ref().map(|of| dir.path_of(of));
        write_state(own.path(), &state, contents, of.as_deref()).map_err(io_at(&named))?;
        give_tree_to_caller(own.path()).map_err(io_at(&named))?;
        match fs::rename(own.path(), dir.path_of(&state.id)) {
            // Another process has kept the same one meanwhile.
            Err(_) if state_in(&dir, state.id.as_ref()).is_some() => {}
            renamed => renamed.map_err(io_at(&named))?,
        }
        shared.of.get_or_insert_with(|| state.id.clone());
        Ok(state.id)
    }

    /// What belongs to a state.
    ///
    /// # Errors
    /// Where a file of it cannot be read or is damaged.
    pub fn contents(&self, state: &KeptState) -> Result<KeptContents, KeptError> {
        let dir = self.existing()?.open_dir(&state.id).map_err(io_at(&self.dir))?;
        let ops_path = dir.path().join(OPS);
        let ops = dir.open_file(OPS).and_then(zstd::Decoder::new).map_err(io_at(&ops_path))?;
        let ops = Bounded::new(ops, TEXT_MOST).whole().map_err(io_at(&ops_path))?;
        let ops = serde_json::from_slice(&ops)
            .map_err(|source| KeptError::Text { path: ops_path, source })?;
        let recovery = state.cut.as_ref().map(|_| read_packed(&dir, RECOVERY)).transpose()?;
        Ok(KeptContents { log: read_packed(&dir, LOG)?, ops, recovery })
    }

    /// Deletes a state.
    ///
    /// # Errors
    /// Where its files cannot be deleted.
    pub fn remove(&self, state: &KeptState) -> Result<(), KeptError> {
        let dir = self.existing()?;
        // It is gone at once for everybody, whatever happens while its files are deleted.
        let own = OwnedDir::make(&dir.path_of("."), KEEPING_PREFIX).map_err(io_at(&self.dir))?;
        fs::rename(dir.path_of(&state.id), own.path().join(&state.id))
            .map_err(io_at(&self.dir.join(&state.id)))
    }
}

/// The state of this name, where there is one in the form of this version.
fn state_in(dir: &HeldDir, name: &OsStr) -> Option<KeptState> {
    let file = dir.open_dir(name).ok()?.open_file(STATE).ok()?;
    let text = Bounded::new(file, TEXT_MOST).whole_text().ok()?;
    let state: KeptState = serde_json::from_str(&text).ok()?;
    let is_named = name == state.id.as_str();
    // None is kept of a file system that commands define, and none is run because a file says so.
    let has_commands = state.fs.external.is_some();
    (state.format == FORMAT && is_named && !has_commands).then_some(state)
}

/// Writes the files of a state; those that it shares with the one in `of` are links to them.
fn write_state(
    own: &Path,
    state: &KeptState,
    (log, ops, recovery): (&WriteLog, &[Op], Option<&WriteLog>),
    of: Option<&Path>,
) -> io::Result<()> {
    let path = |name: &str| own.join(name);
    let link = |name| of.is_some_and(|of| fs::hard_link(of.join(name), path(name)).is_ok());
    if !link(LOG) {
        write_packed(&path(LOG), log)?;
    }
    if !link(OPS) {
        let text = serde_json::to_vec(ops)?;
        write_compressed(&path(OPS), |to| to.write_all(&text))?;
    }
    if let Some(recovery) = recovery {
        write_packed(&path(RECOVERY), recovery)?;
    }
    let text = serde_json::to_vec(state)?;
    let mut file = new_file(&path(STATE))?;
    file.write_all(&text)?;
    file.sync_all()
}

/// A file that is not there yet, and no link.
fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
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

fn read_packed(dir: &HeldDir, name: &str) -> Result<WriteLog, KeptError> {
    let path = dir.path().join(name);
    let decoder = dir.open_file(name).and_then(zstd::Decoder::new).map_err(io_at(&path))?;
    let unpacked = unpack(&mut BufReader::new(decoder));
    unpacked.map_err(|source| KeptError::Unpack { path, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_crash::op::{Action, Sync};
    use fsarena_crash::stamp::{Stamp, fill};
    use fsarena_crash::state::{Class, Sampling, Survivors};
    use fsarena_model::contender::FsLevel;
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
        assert!(kept.list().unwrap().is_empty());
        let action = Action::Create { file: 1, bytes: 2, version: 1, sync: Sync::None };
        let ops = [Op { action, begin_ns: 1, end_ns: 2, error: None }];
        let mut shared = SharedFiles::default();
        let log = log();
        let one = kept.keep(state(1), (&log, &ops, None), &mut shared).unwrap();
        let cut = Some(state(1).state);
        let recovered = KeptState { cut, ..state(2) };
        let two = kept.keep(recovered, (&log, &ops, Some(&log)), &mut shared).unwrap();
        assert_eq!(one, kept.keep(state(1), (&log, &ops, None), &mut shared).unwrap());
        assert_eq!(kept.list().unwrap().len(), 2);
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
        assert_eq!(kept.list().unwrap(), [kept.find(&one).unwrap()]);
        assert!(kept.contents(&kept.find(&one).unwrap()).is_ok(), "the log that was shared stays");
        assert_eq!(fs::read_dir(kept.dir()).unwrap().count(), 1);
        let none = kept.find(&two).unwrap_err().to_string();
        assert!(none.contains("see fsarena crash states"), "{none}");
    }

    #[test]
    fn a_state_with_commands_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptStates::new(dir.path().to_owned());
        let id = kept.keep(state(1), (&log(), &[], None), &mut SharedFiles::default()).unwrap();
        let path = dir.path().join(&id).join(STATE);
        let mut changed: KeptState = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(kept.list().unwrap().len(), 1);
        changed.fs.external = Some(records::external_fs("id {mnt}"));
        fs::write(&path, serde_json::to_vec(&changed).unwrap()).unwrap();
        assert!(kept.list().unwrap().is_empty());
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
        assert!(kept.list().unwrap().is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }

    /// What lies in a state is read as it is there: no link is followed, and no FIFO waited at.
    #[test]
    fn a_file_of_a_state_is_a_regular_file() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptStates::new(dir.path().to_owned());
        let id = kept.keep(state(1), (&log(), &[], None), &mut SharedFiles::default()).unwrap();
        let found = kept.find(&id).unwrap();
        let path = |name: &str| dir.path().join(&id).join(name);
        for name in [OPS, LOG, STATE] {
            fs::remove_file(path(name)).unwrap();
            mknodat(CWD, path(name), FileType::Fifo, Mode::RUSR, 0).unwrap();
            let refused = kept.contents(&found).unwrap_err().to_string();
            assert!(refused.contains("no regular file"), "{refused}");
        }
        assert!(kept.list().unwrap().is_empty());
    }

    #[test]
    fn root_uses_no_states_that_another_user_may_exchange() {
        if !rustix::process::geteuid().is_root() {
            println!("not run: root alone gives directories away");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let outer = dir.path().join("outer");
        let kept = KeptStates::new(outer.join("states"));
        let keep = || kept.keep(state(1), (&log(), &[], None), &mut SharedFiles::default());
        let found = kept.find(&keep().unwrap()).unwrap();
        std::os::unix::fs::chown(&outer, Some(65_533), None).unwrap();
        for refused in [
            keep().map(drop),
            kept.list().map(drop),
            kept.contents(&found).map(drop),
            kept.remove(&found),
        ] {
            let text = refused.unwrap_err().to_string();
            assert!(text.contains("outer belongs to user 65533"), "{text}");
            assert!(text.contains("set XDG_DATA_HOME"), "{text}");
        }
    }
}
