//! The block requests of a phase, traced for the account of where its bytes went.
//!
//! A trace begins right before the first counters of its phase are read, and ends when its account
//! does: after the next unmount, or where what comes then belongs to it no more. The total is the
//! growth of the device's own counter between the two, so that both are about the same requests.
//!
//! The files are looked at when a cycle is durable and its device quiet, and when the phase has
//! drained. A look opens every file and asks for its place; it is left where the worker goes on.

use crate::filesystem::TestedFs;
use crate::worker::ReadyWorker;
use fsarena_devices::map::map_of_files_while;
use fsarena_devices::mountinfo;
use fsarena_metrics::{block_stat, monotonic_ns, thread_cpu_ns};
use fsarena_model::account::{AccountRecord, Map};
use fsarena_trace::{BlockDevice, Cut, Session, Trace, TraceError, Tracefs};
use std::path::Path;

/// Room for events in the kernel, of all processors together, at least and at most. A request is
/// one event of some 80 bytes, and they are read all the time: what has to fit is what comes while
/// the reader is kept from it.
const BUFFER_MIN_BYTES: u64 = 4 << 20;
const BUFFER_MAX_BYTES: u64 = 64 << 20;
/// Extents that all looks of a phase keep together, 32 bytes each: 256 MiB. From there on the files
/// are not looked at between cycles any more; the look at the end is always made.
const EXTENTS_MAX: usize = 8 << 20;
/// Room for one event.
const EVENT_BYTES: u64 = 80;

/// Overrides both (docs/testing.md).
const BUFFER_VARIABLE: &str = "FSARENA_TRACE_BUFFER_BYTES";

/// What a phase whose trace has not come to its end says of it.
const NOT_ENDED: &str = "the trial ended before the file system was unmounted";

/// The account of a phase while it is at work.
pub(crate) enum Account {
    /// None was asked for.
    NotAsked,
    /// It cannot be had; why.
    NotTaken(String),
    /// A trace is under way.
    Traced(Box<Tracing>),
}

impl Account {
    /// What the record of the phase says until the trace has ended.
    pub(crate) fn so_far(&self) -> Option<AccountRecord> {
        let reason = match self {
            Self::NotAsked => return None,
            Self::NotTaken(reason) => reason.clone(),
            Self::Traced(_) => NOT_ENDED.to_owned(),
        };
        Some(AccountRecord::NotTaken { reason })
    }

    /// The trace, where there is one.
    pub(crate) fn tracing(&mut self) -> Option<&mut Tracing> {
        match self {
            Self::Traced(tracing) => Some(tracing),
            Self::NotAsked | Self::NotTaken(_) => None,
        }
    }

    /// The trace alone.
    pub(crate) fn into_tracing(self) -> Option<Tracing> {
        match self {
            Self::Traced(tracing) => Some(*tracing),
            Self::NotAsked | Self::NotTaken(_) => None,
        }
    }
}

/// A trace that is under way.
pub(crate) struct Tracing {
    session: Session,
    /// The device's counter of written bytes when it began.
    from_bytes: u64,
    maps: Vec<Map>,
    /// Processor time of the looks.
    looks_cpu_ns: u64,
    cuts: Vec<Cut>,
    /// Cycles after which the files were looked at, and what the longest look took.
    looked_after: Vec<u32>,
    longest_ns: u64,
    /// Why the last look came to nothing.
    failed: Option<String>,
}

/// A trace that has ended, with all that its account is made of but the places of the journal.
pub(crate) struct Traced {
    /// Number of its phase in the record.
    pub(crate) phase: usize,
    pub(crate) trace: Trace,
    pub(crate) maps: Vec<Map>,
    pub(crate) cuts: Vec<Cut>,
    pub(crate) total_bytes: u64,
    pub(crate) notes: Vec<String>,
    pub(crate) looks_cpu_ns: u64,
    pub(crate) longest_look_ns: u64,
}

impl Tracing {
    /// A cycle began at that time.
    pub(crate) fn cut(&mut self, cycles: &[(u32, u64)]) {
        let cut = |&(cycle, monotonic_ns)| Cut { cycle, monotonic_ns };
        self.cuts = cycles.iter().map(cut).collect();
    }

    /// Looks at the files below `root` after cycle `number`; the look is left where the worker says
    /// something, and not begun where the maps before it have all the room.
    pub(crate) fn look_between(&mut self, root: &Path, number: u32, worker: &ReadyWorker<'_>) {
        if is_full(&self.maps, EXTENTS_MAX) {
            return;
        }
        if self.survey_files(root, &mut || !worker.has_spoken()) {
            self.looked_after.push(number);
        }
    }

    fn survey_files(&mut self, root: &Path, go_on: &mut dyn FnMut() -> bool) -> bool {
        let (began_ns, before_cpu_ns) = (monotonic_ns(), thread_cpu_ns());
        let looked = map_of_files_while(root, go_on);
        self.looks_cpu_ns += thread_cpu_ns().saturating_sub(before_cpu_ns);
        let map = match looked {
            Ok(Some(map)) => map,
            Ok(None) => return false,
            Err(error) => {
                self.failed = Some(error.to_string());
                return false;
            }
        };
        self.maps.push(map);
        self.longest_ns = self.longest_ns.max(monotonic_ns().saturating_sub(began_ns));
        true
    }

    /// Ends it, where the device's counter of written bytes stands at `to_bytes`. `end` says what
    /// ended it, where that was no unmount.
    pub(crate) fn stop(
        self,
        phase: usize,
        to_bytes: u64,
        end: Option<&str>,
    ) -> Result<Traced, TraceError> {
        let mut notes = Vec::new();
        notes.extend(end.map(|end| format!("It ends with {end}, without an unmount.")));
        notes.extend(note_of_looks(&self.cuts, &self.looked_after));
        let failed = |why: &String| format!("The files could not be looked at: {why}.");
        notes.extend(self.failed.as_ref().map(failed));
        Ok(Traced {
            phase,
            trace: self.session.stop()?,
            maps: self.maps,
            cuts: self.cuts,
            total_bytes: to_bytes.saturating_sub(self.from_bytes),
            notes,
            looks_cpu_ns: self.looks_cpu_ns,
            longest_look_ns: self.longest_ns,
        })
    }
}

/// Whether `maps` have so many extents that there shall be no more.
fn is_full(maps: &[Map], most: usize) -> bool {
    maps.iter().map(|map| map.extents.len()).sum::<usize>() >= most
}

/// After which of the cycles that began at `cuts` the files were not looked at. After the last one
/// comes the look at the end.
fn note_of_looks(cuts: &[Cut], looked_after: &[u32]) -> Option<String> {
    let began = cuts.split_last().map_or(&[][..], |(_, before)| before).iter();
    let missing = began.map(|cut| cut.cycle).filter(|number| !looked_after.contains(number));
    let missing: Vec<String> = missing.map(|number| number.to_string()).collect();
    (!missing.is_empty()).then(|| {
        format!(
            "The files were not looked at after cycle {}: the device was not quiet for long \
             enough before the next one, or earlier looks had filled the room for extents. What \
             was written there is sorted by the look after it, and what was replaced in between \
             is in the part of contents that are gone.",
            missing.join(", ")
        )
    })
}

impl Account {
    /// Begins the trace of a phase on `fs`, where an account was asked for.
    pub(crate) fn start(fs: &TestedFs<'_>) -> Self {
        if !fs.spec.account {
            return Self::NotAsked;
        }
        match Tracing::start(fs) {
            Ok(tracing) => Self::Traced(Box::new(tracing)),
            Err(reason) => Self::NotTaken(reason),
        }
    }

    /// Maps the files when the phase has drained; `cycles` are its cycles and their starts.
    pub(crate) fn map_at_end(&mut self, root: &Path, cycles: &[(u32, u64)]) {
        if let Some(tracing) = self.tracing() {
            tracing.cut(cycles);
            tracing.survey_files(root, &mut || true);
        }
    }
}

impl Tracing {
    fn start(fs: &TestedFs<'_>) -> Result<Self, String> {
        let spec = fs.spec;
        let names = fs.device_names();
        let name = names.first().ok_or("the file system has no block device of its own")?;
        if names.len() > 1 {
            let count = names.len();
            return Err(format!(
                "the file system lies on {count} devices, and a trace follows one"
            ));
        }
        let device = spec.target.device().ok_or("the file system has no block device")?;
        let number = rustix::fs::stat(device).map_err(|e| format!("{}: {e}", device.display()))?;
        let (major, minor) = (rustix::fs::major(number.st_rdev), rustix::fs::minor(number.st_rdev));
        let device = BlockDevice { major, minor };
        let text = mountinfo::text().map_err(|error| format!("mountinfo: {error}"))?;
        let tracefs = Tracefs::open(&text).map_err(|error| error.to_string())?;
        let bytes = buffer_bytes(spec.workload.dataset.bytes());
        // Of an executor of this RUN that was killed.
        let _ = tracefs.remove_instance(&spec.name);
        let session = Session::start(&tracefs, &spec.name, device, bytes);
        let session = session.map_err(|error| error.to_string())?;
        let stat = block_stat(&fs.roots, name).map_err(|error| error.to_string())?;
        Ok(Self {
            session,
            from_bytes: stat.written_bytes,
            maps: Vec::new(),
            looks_cpu_ns: 0,
            cuts: Vec::new(),
            looked_after: Vec::new(),
            longest_ns: 0,
            failed: None,
        })
    }
}

/// Room for the events of work on so many bytes: as if all of them were written in blocks of 4 KiB
/// while no process reads.
fn buffer_bytes(work_bytes: u64) -> u64 {
    let asked = std::env::var(BUFFER_VARIABLE).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or_else(|| {
        (work_bytes / 4096).saturating_mul(EVENT_BYTES).clamp(BUFFER_MIN_BYTES, BUFFER_MAX_BYTES)
    })
}

/// What to do about events that were lost.
pub(crate) fn remedy_for_lost() -> String {
    format!(
        "give the trace a larger buffer ({BUFFER_VARIABLE}, {} at most without it), or \
         make the work smaller (--scale)",
        fsarena_model::units::Bytes(BUFFER_MAX_BYTES)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_without_a_look_are_named() {
        let cuts = [1, 2, 4].map(|cycle| Cut { cycle, monotonic_ns: 0 });
        let note = |looked_after: &[u32]| note_of_looks(&cuts, looked_after);
        assert_eq!(note(&[1, 2]), None, "the look at the end is that after cycle 4");
        assert_eq!(note(&[1, 2, 4]), None);
        for (looked_after, missing) in [(&[2, 4][..], "cycle 1:"), (&[], "cycle 1, 2:")] {
            assert!(note(looked_after).is_some_and(|note| note.contains(missing)), "{missing}");
        }
        assert_eq!(note_of_looks(&[], &[]), None, "no cycles");
    }

    #[test]
    fn the_extents_of_all_looks_have_one_limit() {
        let extents = |count| vec![fsarena_model::account::FileExtent::default(); count];
        let map = |count| Map { extents: extents(count), ..Map::default() };
        assert!(!is_full(&[], 5));
        assert!(!is_full(&[map(2), map(2)], 5) && is_full(&[map(2), map(3)], 5));
    }

    #[test]
    fn larger_work_has_a_larger_buffer() {
        assert_eq!(buffer_bytes(0), 4 << 20);
        assert_eq!(buffer_bytes(1 << 30), (1 << 18) * 80);
        assert_eq!(buffer_bytes(u64::MAX), 64 << 20);
    }
}
