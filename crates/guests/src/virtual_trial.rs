//! The executor of a trial in virtual time: boots a guest with the disk that the spec names, has it
//! do the trial, and hands on its record.
//!
//! Speaks as the executor of this kernel does (a spec on standard input, lines on standard output),
//! so that whoever starts it need not know. What of a trial depends on its place alone is put into
//! the record here: the host, and the real time that it took. Everything else is the guest's, and
//! equal for equal specs; with `twice` that is checked.

use crate::guest::{Guest, GuestError, GuestOptions, Program, Record, Task, in_guest};
use crate::kernel::{Cache, ChangedKernel, sha256_of};
use fsarena_bounded::Bounded;
use fsarena_devices::GUEST_PARTITION;
use fsarena_disk_server::{DiskOrder, DiskOrderError, PartitionError, PartitionTable};
use fsarena_executor::stop::Stop;
use fsarena_executor::{ExecutorSays, blank_record, parse_spec};
use fsarena_model::contender::GUEST_MEMORY_BYTES;
use fsarena_model::factor;
use fsarena_model::record::{Notice, Outcome, TrialRecord};
use fsarena_model::run::KernelFile;
use fsarena_model::spec::{TargetSpec, TrialSpec, Under};
use fsarena_model::work::LINE_MOST_BYTES;
use fsarena_vdisk::{SECTOR_BYTES, Store};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Memory of a guest where nothing is said.
/// What a guest gets beyond the memory that a level asks for: as much as its kernel and this
/// program take, which a limit of memory under this kernel does not count either.
const OWN_BYTES: u64 = 32 << 20;
/// The least that a level may ask for: with a quarter less, guests of jfs did nothing but reclaim
/// memory.
pub const LEAST_MEMORY_BYTES: u64 = 64 << 20;
/// Real time after which a guest is given up.
const LIMIT: Duration = Duration::from_secs(1200);
/// A trial begins within this virtual time after the boot: its phase against the ticks of the
/// kernel is a matter of its seed.
const START_WITHIN_NS: u64 = 1_000_000_000;

/// One trial: a spec on `input`, lines on `output`. A line `stop`, or the end of the input, ends
/// it.
///
/// # Errors
/// When input or output fails.
pub fn run(
    kernels: &Cache,
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    let mut input = Bounded::new(input, LINE_MOST_BYTES);
    let line = input.next_text_line()?.unwrap_or_default();
    let stop = Arc::new(Stop::default());
    let listener = Arc::clone(&stop);
    // Not joined: it ends with the process.
    std::thread::spawn(move || listener.listen(input));
    let says = match parse_spec(&line) {
        Err(reason) => ExecutorSays::Refused(reason),
        Ok(spec) => {
            fsarena_process::trust::accept(&spec.trust);
            ExecutorSays::Record(Box::new(trial(kernels, &spec, &stop)))
        }
    };
    writeln!(output, "{}", serde_json::to_string(&says)?)?;
    output.flush()
}

/// What keeps a trial from being done.
#[derive(Debug, thiserror::Error)]
enum TrialError {
    #[error("the spec is not one of a trial in a guest")]
    OtherPlace,
    #[error("the guest kernel {0} is not there any more; see fsarena kernel list")]
    Kernel(String),
    #[error("the guest kernel {path} cannot be read: {error}")]
    KernelFile { path: PathBuf, error: io::Error },
    #[error("the guest kernel {0} is not the file any more that the RUN began with")]
    KernelChanged(PathBuf),
    #[error(transparent)]
    KernelChangedHere(#[from] ChangedKernel),
    #[error(transparent)]
    Disk(#[from] DiskOrderError),
    #[error(transparent)]
    Partition(#[from] PartitionError),
    #[error("the contents of the disk: {0}")]
    Contents(#[from] io::Error),
    #[error(transparent)]
    Program(#[from] crate::guest::ProgramError),
    #[error(transparent)]
    Guest(#[from] GuestError),
    #[error("the guest's record cannot be read: {0}")]
    Record(#[from] serde_json::Error),
    #[error("the same trial came out differently a second time: {0}; it is not deterministic here")]
    Differs(String),
}

impl TrialError {
    /// Whether somebody, or the kernel of this machine, killed the guest.
    fn was_killed(&self) -> bool {
        matches!(self, Self::Guest(GuestError::NoRecord { how, .. }) if how == "killed by signal 9")
    }

    fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Guest(GuestError::TimedOut { .. }) => Some("use less work, or another model"),
            Self::KernelFile { .. } | Self::KernelChanged(_) => {
                Some("begin a new RUN, with a copy that no build replaces")
            }
            Self::Differs(_) => Some("check the kernel (fsarena kernel check), and report this"),
            _ => None,
        }
    }
}

fn trial(kernels: &Cache, spec: &TrialSpec, stop: &Stop) -> TrialRecord {
    let began = Instant::now();
    let blank = blank_record(spec);
    let mut record = match carry_out(kernels, spec, stop) {
        Ok(record) => record,
        Err(TrialError::Guest(GuestError::Stopped)) => blank.clone(),
        Err(error) => {
            let remedy = error.remedy().map(str::to_owned);
            let step = "guest".to_owned();
            let outcome = Outcome::Failed { step, error: error.to_string(), remedy };
            let mut record = TrialRecord { outcome, ..blank.clone() };
            if error.was_killed() {
                record.end_by_machine(&error.to_string(), None);
            }
            record
        }
    };
    record.ranks = blank.ranks;
    record.started_unix_ns = blank.started_unix_ns;
    record.elapsed_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    record
}

fn carry_out(kernels: &Cache, spec: &TrialSpec, stop: &Stop) -> Result<TrialRecord, TrialError> {
    let TargetSpec::Block {
        size_bytes,
        under: Under::Guest { kernel, kernel_file, model, store_dir, syscall_ns, twice },
        ..
    } = &spec.target
    else {
        return Err(TrialError::OtherPlace);
    };
    let booted = match kernel_file {
        Some(file) => BootedKernel::of_file(file)?,
        None => BootedKernel::built(kernels, kernel)?,
    };
    let seed = |label| spec.seed.child(label, 0).tag();
    let guest = GuestTrial {
        program: Program::this(&spec.scratch_dir)?,
        options: GuestOptions {
            memory_bytes: memory_bytes(spec),
            seed: seed("guest"),
            syscall_ns: *syscall_ns,
            limit: LIMIT,
            ..GuestOptions::new(&booted.binary)
        },
        disk: DiskOrder { model, size_bytes: *size_bytes, store_dir: store_dir.as_deref() },
        start_sector: factor::start_sector(&spec.contender.levels),
        disk_seed: seed("device"),
        task: Task::Trial {
            spec: for_guest(spec).to_json()?,
            delay_ns: seed("start") % START_WITHIN_NS,
        },
    };
    let GuestRun { record: text, console, contents } = guest.run_once(stop)?;
    let mut record = TrialRecord::from_json(&text)?;
    if *twice {
        let image = image(&contents)?;
        // The second disk needs the room of the first.
        drop(contents);
        let second = guest.run_once(stop)?;
        if let Some(what) = difference((&text, &image), &second)? {
            return Err(TrialError::Differs(what));
        }
        record.device.insert("done_twice_image_sha256".to_owned(), image);
    }
    if matches!(record.outcome, Outcome::Failed { .. }) {
        let lines: Vec<&str> = console.lines().filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(CONSOLE_LINES)..].join(" | ");
        let text = format!("the guest's kernel said last: {last}");
        let notice = Notice::new("guest-console", text, None);
        record.notices.extend((!last.is_empty()).then_some(notice));
    }
    record.device.insert("guest_kernel_sha256".to_owned(), booted.sha256);
    record.device.insert("guest_hz".to_owned(), booted.hz.to_string());
    let memory_bytes = guest.options.memory_bytes.to_string();
    record.device.insert("guest_memory_bytes".to_owned(), memory_bytes);
    let start = guest.start_sector.map(|start| ("partition_start".to_owned(), start.to_string()));
    record.device.extend(start);
    Ok(record)
}

/// The spec with the place of its data as the guest has it.
fn for_guest(spec: &TrialSpec) -> TrialSpec {
    // A link that leads to where the guest has a file system of its own would end there.
    let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let staged = spec.staged.as_ref().map(|path| in_guest(&real(path)));
    let mut target = spec.target.clone();
    if let (Some(start), TargetSpec::Block { device, size_bytes, .. }) =
        (factor::start_sector(&spec.contender.levels), &mut target)
    {
        device.clone_from(&PathBuf::from(GUEST_PARTITION));
        *size_bytes = size_bytes.saturating_sub(u64::from(start) * SECTOR_BYTES);
    }
    // A guest has a time of day of its own.
    TrialSpec { staged, target, realtime_offset_ns: None, ..spec.clone() }
}

/// The kernel of a trial.
struct BootedKernel {
    binary: PathBuf,
    sha256: String,
    /// Ticks a second.
    hz: u32,
}

impl BootedKernel {
    /// One that was built here.
    fn built(kernels: &Cache, level: &str) -> Result<Self, TrialError> {
        let found = kernels.called(level).ok_or_else(|| TrialError::Kernel(level.to_owned()))?;
        let binary = found.unchanged_binary()?;
        let (sha256, hz) = (found.identity.sha256, found.identity.hz);
        Ok(Self { binary, sha256, hz })
    }

    /// A file, which may have been built again since the RUN began.
    fn of_file(file: &KernelFile) -> Result<Self, TrialError> {
        let path: &Path = &file.path;
        let read = |error| TrialError::KernelFile { path: path.to_owned(), error };
        let sha256 = sha256_of(path).map_err(read)?;
        if sha256 != file.sha256 {
            return Err(TrialError::KernelChanged(path.to_owned()));
        }
        Ok(Self { binary: path.to_owned(), sha256, hz: file.hz })
    }
}

/// Of the guest, in whole MiB.
fn memory_bytes(spec: &TrialSpec) -> u64 {
    let asked = spec.contender.levels.memory_bytes.map(|bytes| bytes.saturating_add(OWN_BYTES));
    asked.unwrap_or(GUEST_MEMORY_BYTES).next_multiple_of(1 << 20)
}

/// Lines of the console that are kept of a trial that failed.
const CONSOLE_LINES: usize = 6;

/// A trial that can be done again and again, each time in the same guest.
struct GuestTrial<'a> {
    program: Program,
    options: GuestOptions,
    disk: DiskOrder<'a>,
    /// Where the only partition of the disk begins; without one the disk is not divided.
    start_sector: Option<u32>,
    disk_seed: u64,
    task: Task,
}

/// What one guest left.
struct GuestRun {
    record: String,
    console: String,
    contents: Store,
}

impl GuestTrial<'_> {
    fn run_once(&self, stop: &Stop) -> Result<GuestRun, TrialError> {
        let mut disk = self.disk.make(self.disk_seed)?;
        if let Some(start) = self.start_sector {
            let table = PartitionTable::of_rest(start, self.disk.size_bytes)?;
            disk.contents_mut().write(0, &table.sector())?;
        }
        let guest = Guest::new(&self.options, &self.program);
        let ran = guest.run_task(&self.task, &mut [&mut disk], &|| stop.asked())?;
        let (contents, _) = disk.into_contents();
        match ran.record {
            Record::Trial(record) => Ok(GuestRun { record, console: ran.console, contents }),
            _ => {
                let record = "of another task".to_owned();
                Err(TrialError::Guest(GuestError::Unexpected { record }))
            }
        }
    }
}

/// What of a second guest is not the same as record and image of the first.
fn difference(first: (&str, &str), second: &GuestRun) -> Result<Option<String>, TrialError> {
    let (record, first_image) = first;
    if record != second.record {
        let (one, other) = (serde_json::from_str(record)?, serde_json::from_str(&second.record)?);
        let found = first_difference("record", &one, &other);
        return Ok(Some(found.unwrap_or_else(|| "the text of the record".to_owned())));
    }
    let is_other = first_image != image(&second.contents)?;
    Ok(is_other.then(|| "the contents of the disk".to_owned()))
}

/// Hexadecimal SHA-256 of the contents of a disk and their places.
fn image(contents: &Store) -> io::Result<String> {
    let mut hash = Sha256::new();
    contents.each_piece(&mut |at, data| {
        hash.update(at.to_le_bytes());
        hash.update(data);
    })?;
    Ok(crate::kernel::hex(&hash.finalize()))
}

/// The first place at which two documents differ, and both values.
fn first_difference(place: &str, one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => a
            .iter()
            .find_map(|(key, value)| first_difference(&format!("{place}.{key}"), value, &b[key])),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(at, (a, b))| first_difference(&format!("{place}[{at}]"), a, b))
        }
        _ if one == other => None,
        _ => Some(format!("{place} is {} and {}", short(one), short(other))),
    }
}

fn short(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    let cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_difference_is_named_by_its_place() {
        let one = json!({"a": 1, "b": [{"c": 2}, {"c": 3}]});
        assert_eq!(first_difference("record", &one, &one), None);
        let other = json!({"a": 1, "b": [{"c": 2}, {"c": 4}]});
        let found = first_difference("record", &one, &other);
        assert_eq!(found.as_deref(), Some("record.b[1].c is 3 and 4"));
        let longer = json!({"a": 1, "b": [{"c": 2}]});
        assert!(first_difference("record", &one, &longer).unwrap().starts_with("record.b is [{"));
    }

    #[test]
    fn a_second_guest_that_did_otherwise_is_told_apart() {
        let once = |record: &str, byte: u8| {
            let mut contents = Store::in_memory(1 << 20, fsarena_vdisk::Discarded::Zeros);
            contents.write(8, &[byte; 512]).unwrap();
            GuestRun { record: record.to_owned(), console: String::new(), contents }
        };
        let first = once("{\"a\":1}", 7);
        let image = image(&first.contents).unwrap();
        let told = |second: &GuestRun| difference((&first.record, &image), second).unwrap();
        assert_eq!(told(&once("{\"a\":1}", 7)), None);
        assert_eq!(told(&once("{\"a\":2}", 7)).as_deref(), Some("record.a is 1 and 2"));
        assert_eq!(told(&once("{\"a\":1}", 8)).as_deref(), Some("the contents of the disk"));
    }

    #[test]
    fn what_is_no_spec_is_refused_in_a_line() {
        let mut said = Vec::new();
        let dir = tempfile::tempdir().unwrap();
        run(&Cache::new(dir.path().to_owned()), io::Cursor::new("{}\n"), &mut said).unwrap();
        let said = String::from_utf8(said).unwrap();
        assert!(said.starts_with("{\"refused\":\"trial spec: "), "{said}");
    }
}
