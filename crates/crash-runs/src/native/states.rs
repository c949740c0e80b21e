//! Crash states in a directory, by which who looks at them hands them to the processes that serve
//! them: the write log, which is once in memory for all of them (`log`, a link to it), what they
//! are (`states.json`), and what recovery wrote before a second power cut (`recovery-NUMBER`,
//! packed).

use super::NativeError;
use crate::crash_check::contents;
use fsarena_bounded::Bounded;
use fsarena_crash::packed::{UnpackError, pack, unpack};
use fsarena_crash::state::CrashState;
use fsarena_process::open_file::path_of_open;
use fsarena_vdisk::{Discarded, Store, View, WriteLog};
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const LOG: &str = "log";
const STATES: &str = "states.json";
/// Bytes of the list of states, at most.
const STATES_MOST_BYTES: u64 = 512 << 20;

/// One state, and the power cut in its recovery.
#[derive(Serialize, Deserialize)]
struct StateEntry {
    state: CrashState,
    cut: Option<CrashState>,
}

/// A state, and what recovery wrote over it with the power cut in that.
pub type StateToServe<'s> = (&'s CrashState, Option<(&'s WriteLog, &'s CrashState)>);

/// The log of the states of a directory, which are there as long as it is. All processes that serve
/// them read it; as other memory it may be swapped out.
pub(crate) struct LogInMemory {
    _file: File,
}

/// Writes them into an empty directory.
///
/// # Errors
/// Where it cannot be written.
pub(crate) fn write_states(
    dir: &Path,
    log: &WriteLog,
    states: &[StateToServe<'_>],
) -> io::Result<LogInMemory> {
    let mut in_memory = File::from(memfd_create("fsarena-write-log", MemfdFlags::CLOEXEC)?);
    log.copy_to(&mut in_memory)?;
    symlink(path_of_open(&in_memory)?, dir.join(LOG))?;
    for (number, (_, recovery)) in states.iter().enumerate() {
        if let Some((log, _)) = recovery {
            write_log(&recovery_path(dir, number), log)?;
        }
    }
    let entry = |(state, recovery): &StateToServe<'_>| StateEntry {
        state: (*state).clone(),
        cut: recovery.map(|(_, cut)| cut.clone()),
    };
    let entries: Vec<StateEntry> = states.iter().map(entry).collect();
    let mut file = BufWriter::new(File::create_new(dir.join(STATES))?);
    serde_json::to_writer(&mut file, &entries)?;
    file.flush()?;
    Ok(LogInMemory { _file: in_memory })
}

fn recovery_path(dir: &Path, number: usize) -> PathBuf {
    dir.join(format!("recovery-{number}"))
}

/// Writes a log to a new file, packed.
///
/// # Errors
/// Where it cannot be written.
pub(super) fn write_log(path: &Path, log: &WriteLog) -> io::Result<()> {
    let mut file = BufWriter::new(File::create_new(path)?);
    pack(log, &mut file)?;
    file.flush()
}

/// Reads one.
///
/// # Errors
/// Where there is none.
pub(crate) fn read_log(path: &Path) -> Result<WriteLog, UnpackError> {
    unpack(&mut BufReader::new(File::open(path)?))
}

/// The states of a directory.
pub(super) struct States {
    dir: PathBuf,
    base: Store,
    log: WriteLog,
    entries: Vec<StateEntry>,
}

impl States {
    pub(super) fn read(dir: &Path, size_bytes: u64) -> Result<Self, NativeError> {
        let log = WriteLog::open(&dir.join(LOG));
        let log = log.map_err(|error| NativeError::Told(error.to_string()))?;
        let text = Bounded::open(dir.join(STATES), STATES_MOST_BYTES)
            .and_then(|mut file| file.whole())
            .map_err(NativeError::io("crash states"))?;
        let entries = serde_json::from_slice(&text);
        let entries = entries.map_err(|error| NativeError::Told(error.to_string()))?;
        let base = Store::in_memory(size_bytes, Discarded::Zeros);
        Ok(Self { dir: dir.to_owned(), base, log, entries })
    }

    /// The contents of a state.
    pub(super) fn view(&self, number: u32) -> Result<View<'_>, NativeError> {
        let none = || NativeError::Told(format!("there is no crash state {number}"));
        let entry = self.entries.get(number as usize).ok_or_else(none)?;
        let recovery = match &entry.cut {
            None => None,
            Some(cut) => {
                let log = read_log(&recovery_path(&self.dir, number as usize));
                Some((log.map_err(|error| NativeError::Told(error.to_string()))?, cut))
            }
        };
        let recovery = recovery.as_ref().map(|(log, cut)| (log, *cut));
        contents(&self.base, &self.log, &entry.state, recovery).map_err(NativeError::io("a view"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_crash::state::{Class, CrashPoints, uniform};
    use fsarena_vdisk::{Completion, Outcome, Request, SECTOR_BYTES};

    /// A write of a sector that is done at once, and a flush.
    fn log_of(byte: u8, sector: u64) -> WriteLog {
        let mut log = WriteLog::in_memory();
        let done = Completion { tag: 0, at_ns: 10, outcome: Outcome::Done };
        log.completed(&Request::write(0, sector, 1), 5, &done, &[byte; 512]).unwrap();
        let done = Completion { at_ns: 20, ..done };
        log.completed(&Request::flush(0), 15, &done, &[]).unwrap();
        log
    }

    fn one_state(log: &WriteLog) -> CrashState {
        let classes = vec![Class::Prefix];
        let points = CrashPoints { from_ns: 20, to_ns: 30, points: 1, seed: 1, classes };
        uniform(log, &points).remove(0)
    }

    #[test]
    fn states_come_back_with_what_recovery_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let (log, recovery) = (log_of(7, 3), log_of(9, 4));
        let (state, cut) = (one_state(&log), one_state(&recovery));
        let both = [(&state, None), (&state, Some((&recovery, &cut)))];
        let in_memory = write_states(dir.path(), &log, &both).unwrap();
        let states = States::read(dir.path(), 1 << 20).unwrap();
        let mut got = [0; 2 * SECTOR_BYTES as usize];
        states.view(0).unwrap().read(3, &mut got).unwrap();
        assert_eq!((got[0], got[512]), (7, 0));
        states.view(1).unwrap().read(3, &mut got).unwrap();
        assert_eq!((got[0], got[512]), (7, 9));
        assert!(states.view(2).is_err());
        // It is never written over what is there.
        assert!(write_states(dir.path(), &log, &[]).is_err());
        drop(in_memory);
        assert!(States::read(dir.path(), 1 << 20).is_err());
    }
}
