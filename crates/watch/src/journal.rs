//! Samples on their way into the record: one file a watch, a line a sample that is kept.
//!
//! A record is written once, at the end. Until then the samples are in this file, so that a watch
//! that is killed loses nothing but the sample it was taking. Lines are written as they come and
//! not synced: what a crash of the machine loses is what the kernel had not written by then. The
//! watch holds a lock on its file (flock(2)) until its record is stored; a lock ends with its
//! process, so that whoever gets it knows that the watch is dead. A thinned watch writes as seldom
//! as it keeps: a day at 1 s comes to about 13,000 lines.

use crate::record::WatchSession;
use crate::target::{WatchError, WatchTarget};
use fsarena_bounded::{Bounded, TooLong};
use fsarena_devices::state_file::{self, Unfit};
use fsarena_metrics::{Samples, Snapshot, catalog};
use fsarena_model::sample::SamplerCost;
use fsarena_process::private;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};

/// Ending of the files.
const ENDING: &str = "watch";
/// Bytes of a line, at most: names or values of all metrics.
const LINE_MOST_BYTES: u64 = 16 << 20;
/// Version of their form.
const FORM: u32 = 1;
/// Values before those of the catalog in a line: time, samples taken, own processor time, missed.
const HEAD: usize = 4;

/// The first line: whose samples these are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// Version of the form of the file.
    pub form: u32,
    /// Unique id of the RUN.
    pub run: String,
    /// Database that the RUN is in.
    pub database: PathBuf,
    /// What is watched.
    #[serde(rename = "place")]
    pub target: WatchTarget,
    /// Period asked for, ns.
    pub every_ns: u64,
    /// Wall clock at the start, ns since 1970.
    pub started_unix_ns: u64,
    /// Names of the values of a line.
    pub names: Vec<String>,
}

impl Opening {
    /// The first line of a watch by this program.
    #[must_use]
    pub fn new(
        run: &str,
        database: &Path,
        target: &WatchTarget,
        every_ns: u64,
        started_unix_ns: u64,
    ) -> Self {
        Self {
            form: FORM,
            run: run.to_owned(),
            database: database.to_owned(),
            target: target.clone(),
            every_ns,
            started_unix_ns,
            names: catalog().iter().map(|metric| metric.name.to_owned()).collect(),
        }
    }
}

/// A sample as a line.
pub(crate) struct Line<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) cost: SamplerCost,
}

impl Line<'_> {
    fn text(&self) -> String {
        let cost = &self.cost;
        let head = [self.snapshot.monotonic_ns, cost.samples, cost.cpu_ns, cost.missed_deadlines];
        let values = self.snapshot.values.iter().copied();
        let all: Vec<Option<u64>> = head.into_iter().map(Some).chain(values).collect();
        serde_json::to_string(&all).expect("numbers are representable as JSON") + "\n"
    }
}

/// The file of a watch at work, locked as long as this is held; it stays until the record is
/// stored.
#[derive(Debug)]
pub struct Journal {
    file: File,
}

impl Journal {
    /// Makes the file of a watch in `dir`, which is made too.
    ///
    /// # Errors
    /// When that is not possible.
    pub fn begin(dir: &Path, opening: &Opening) -> Result<Self, WatchError> {
        let path = file_of(dir, &opening.run);
        let made = || -> io::Result<File> {
            private::create_dirs(dir)?;
            let first = serde_json::to_string(opening)? + "\n";
            let lock = FlockOperation::NonBlockingLockExclusive;
            state_file::create(&path, first.as_bytes(), lock)
        };
        let file = made().map_err(|source| WatchError::Journal { path: path.clone(), source })?;
        Ok(Self { file })
    }

    /// One sample, by one write.
    pub(crate) fn append(&mut self, line: &Line<'_>) -> io::Result<()> {
        self.file.write_all(line.text().as_bytes())
    }

    /// The same file, locked, on a disk that is full.
    #[cfg(test)]
    pub(crate) fn that_takes_no_more(self, path: &Path) -> Self {
        drop(self);
        let file = File::open(path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        Self { file }
    }
}

/// Where the samples of a RUN lie.
#[must_use]
pub fn file_of(dir: &Path, run: &str) -> PathBuf {
    dir.join(format!("{run}.{ENDING}"))
}

/// A watch that died, with what it had seen.
#[derive(Debug)]
pub struct Dead {
    /// Its file; removed by whoever has stored what is in it.
    pub path: PathBuf,
    /// The first line.
    pub opening: Opening,
    /// The samples; none where it died before the second one.
    pub session: Option<WatchSession>,
    /// The lock: nobody else takes it meanwhile.
    _lock: File,
}

/// The watches of `dir` whose process is dead. A file without a whole first line has nothing in it
/// and is removed.
///
/// # Errors
/// When the directory or a file cannot be read. What is no file of this user's goes to `skipped`.
pub fn dead(dir: &Path, skipped: &mut Vec<Unfit>) -> Result<Vec<Dead>, WatchError> {
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at(dir))?,
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        match state_file::open(&path) {
            Ok(Some(file)) => found.extend(read(&path, file).map_err(at(&path))?),
            // Gone since it was listed: somebody else has stored it.
            Ok(None) => {}
            Err(unfit) => skipped.push(unfit),
        }
    }
    Ok(found)
}

fn at(path: &Path) -> impl Fn(io::Error) -> WatchError + '_ {
    move |source| WatchError::Journal { path: path.to_owned(), source }
}

/// The watch of one file; `None` where its process lives.
fn read(path: &Path, file: File) -> io::Result<Option<Dead>> {
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() || !path.exists() {
        return Ok(None);
    }
    let mut input = Bounded::new(BufReader::new(file.try_clone()?), LINE_MOST_BYTES);
    let mut lines = std::iter::from_fn(|| match input.next_line() {
        // None of ours is that long: what follows is not read.
        Err(error) if TooLong::in_error(&error).is_some() => None,
        line => line.transpose(),
    });
    let first = lines.next().transpose()?.unwrap_or_default();
    let Ok(opening) = serde_json::from_slice::<Opening>(&first) else {
        fs::remove_file(path)?;
        return Ok(None);
    };
    let session = session(&opening, lines)?;
    Ok(Some(Dead { path: path.to_owned(), opening, session, _lock: file }))
}

fn session(
    opening: &Opening,
    lines: impl Iterator<Item = io::Result<Vec<u8>>>,
) -> io::Result<Option<WatchSession>> {
    let index_of = |name: &String| catalog().iter().position(|metric| metric.name == name);
    let indexes: Vec<Option<usize>> = opening.names.iter().map(index_of).collect();
    let mut samples = Samples::new(opening.every_ns);
    let (mut first, mut last) = (None, Snapshot::empty());
    let mut cost = SamplerCost::default();
    for line in lines {
        // The last line may be torn: its write was cut off.
        let Ok(all) = serde_json::from_slice::<Vec<Option<u64>>>(&line?) else { break };
        let (Some([Some(time), Some(taken), Some(cpu), Some(missed)]), Some(values)) =
            (all.first_chunk::<HEAD>(), all.get(HEAD..))
        else {
            break;
        };
        let mut snapshot = Snapshot { monotonic_ns: *time, ..Snapshot::empty() };
        for (target, value) in indexes.iter().zip(values) {
            if let Some(target) = target {
                snapshot.values[*target] = *value;
            }
        }
        samples.push(&snapshot);
        let began = first.get_or_insert_with(|| snapshot.clone());
        cost = SamplerCost {
            samples: *taken,
            cpu_ns: *cpu,
            wall_ns: time.saturating_sub(began.monotonic_ns),
            missed_deadlines: *missed,
        };
        last = snapshot;
    }
    Ok(first.map(|first| WatchSession {
        target: opening.target.clone(),
        started_unix_ns: opening.started_unix_ns,
        first,
        last,
        samples,
        cost,
        journal_error: None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_dead(dir: &Path) -> Vec<Dead> {
        let mut skipped = Vec::new();
        let found = dead(dir, &mut skipped).unwrap();
        assert!(skipped.is_empty(), "{skipped:?}");
        found
    }

    #[test]
    fn what_is_no_file_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(path("pipe.watch")).status();
        assert!(made.unwrap().success());
        fs::create_dir(path("dir.watch")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path("zero.watch")).unwrap();
        let mut skipped = Vec::new();
        assert!(dead(dir.path(), &mut skipped).unwrap().is_empty());
        let lines: Vec<String> = skipped.iter().map(ToString::to_string).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1].contains("pipe.watch: it is a pipe"), "{lines:?}");
    }

    fn opening(dir: &Path) -> Opening {
        let target = serde_json::json!({ "asked": "/x", "name": "sda", "path": "/dev/sda",
            "kind": "disk", "size_bytes": 1, "diskseq": null, "fstype": null, "mounted_at": null,
            "mount_options": null, "below": [], "notices": [] });
        let target: WatchTarget = serde_json::from_value(target).unwrap();
        Opening::new("0123456789abcdef", &dir.join("x.db"), &target, 10, 7)
    }

    fn append(journal: &mut Journal, time: u64, dirty: Option<u64>) {
        let mut snapshot = Snapshot { monotonic_ns: time, ..Snapshot::empty() };
        let at = catalog().iter().position(|metric| metric.name == "mem.dirty_bytes").unwrap();
        snapshot.values[at] = dirty;
        let cost = SamplerCost { samples: time / 10, cpu_ns: 3, wall_ns: 0, missed_deadlines: 1 };
        journal.append(&Line { snapshot: &snapshot, cost }).unwrap();
    }

    #[test]
    fn a_dead_watch_is_read_up_to_its_last_whole_line_and_a_live_one_is_let_alone() {
        let dir = tempfile::tempdir().unwrap();
        let opening = opening(dir.path());
        let mut journal = Journal::begin(dir.path(), &opening).unwrap();
        for time in [10, 20, 30] {
            append(&mut journal, time, (time != 20).then_some(time * 2));
        }
        assert!(found_dead(dir.path()).is_empty(), "its lock is held");
        journal.file.write_all(b"[40,4,3").unwrap();
        drop(journal);
        let found = found_dead(dir.path());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].opening, opening);
        let session = found[0].session.as_ref().unwrap();
        assert_eq!((session.samples.len(), session.last.monotonic_ns), (3, 30));
        assert_eq!(session.last.get("mem.dirty_bytes"), Some(60));
        assert_eq!(session.samples.get(1).unwrap().get("mem.dirty_bytes"), None);
        let cost = SamplerCost { samples: 3, cpu_ns: 3, wall_ns: 20, missed_deadlines: 1 };
        assert_eq!(session.cost, cost);
    }

    #[test]
    fn what_has_no_first_line_is_removed_and_other_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("torn.watch"), "{\"form\":1,\"ru").unwrap();
        fs::write(dir.path().join("x.journal"), "other").unwrap();
        assert!(found_dead(dir.path()).is_empty());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(found_dead(&dir.path().join("none")).is_empty());
    }

    #[test]
    fn a_watch_that_died_at_once_has_no_samples() {
        let dir = tempfile::tempdir().unwrap();
        drop(Journal::begin(dir.path(), &opening(dir.path())).unwrap());
        assert!(found_dead(dir.path())[0].session.is_none());
    }
}
