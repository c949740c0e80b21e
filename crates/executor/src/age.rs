//! Ageing: the operations of an age carried out on the file system that was just made.
//!
//! It is mounted for them alone and unmounted after them, so that what follows is as with a fresh
//! one: the first mount, and what is read as used before any work. The files lie in a directory
//! of ours that no workload looks into. What was done goes into the record; nothing of it is timed
//! but as a whole.
//!
//! Where images of aged devices are kept, a state that was made before is put onto the device in
//! its place, and one that was not is kept.

mod kept;

use self::kept::KeptAge;
use crate::context::Trial;
use crate::error::StepError;
use crate::filesystem::notice;
use crate::stop::Stop;
use fsarena_devices::extents;
use fsarena_model::age::{
    AGE_BLOCK_BYTES, Age, AgeExtents, AgeOp, AgeRecord, AgeSequence, DIRECTORIES,
};
use fsarena_model::seed::Seed;
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_model::units::{Bytes, three_digits};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the files lie, below the root.
const DIRECTORY: &str = "fsarena-aged";
/// Bytes of one write.
const CHUNK_BYTES: u64 = 1 << 20;
/// Files of which the extents are counted: all, or as many at even distances.
const FILES_LOOKED_AT: usize = 20_000;
/// Syncs after a write that found no room, before it is given up: room that was freed may be had
/// after a commit only.
const ROOM_SYNCS: u32 = 5;
const ROOM_PAUSE: Duration = Duration::from_millis(50);

impl Trial<'_> {
    /// Ages the file system, and says in the record what became of it.
    pub(crate) fn age(&mut self, age: &Age) -> Result<(), StepError> {
        let began = Instant::now();
        let device_bytes = self.spec.contender.levels.device.size_bytes();
        let device_bytes = device_bytes
            .ok_or_else(|| StepError::new("the spec asks for an age without a device"))?;
        let kept = KeptAge::of_trial(self.spec, &self.record.filesystem, age)?;
        if let Some(kept) = &kept
            && let Some(record) = kept.restore(&self.spec.target, self.stop)?
        {
            return self.put_age(age, record, began);
        }
        let mounted = self.fs.mount_for_age()?;
        let root = mounted.path().join(DIRECTORY);
        let mut ageing = Ageing::start(root, self.stop, age)?;
        let room_bytes = room_bytes(mounted.path())?;
        let whole_bytes = age.whole_bytes(device_bytes, room_bytes);
        let mut sequence = AgeSequence::new(age, whole_bytes);
        let (extents, rounds) = ageing.carry_out(age, &mut sequence)?;
        let record = AgeRecord {
            operations: sequence.operations(),
            operations_sha256: sequence.digest(),
            fill_bytes: age.fill_bytes(whole_bytes),
            churned_bytes: sequence.churned_bytes(),
            rounds,
            files: sequence.files().len() as u64,
            file_bytes: sequence.file_bytes(),
            total_bytes: 0,
            used_bytes: 0,
            extents,
            room_retries: ageing.room_retries,
            elapsed_ns: 0,
            image: None,
        };
        mounted.unmount().map_err(|refused| StepError::from(refused.1))?;
        let record = match kept {
            Some(kept) => self.keep_age(&kept, record)?,
            None => record,
        };
        self.put_age(age, record, began)
    }

    /// Keeps what was made just now; where another RUN has kept the same state meanwhile, that is
    /// put onto the device, so that all trials from now on have one.
    fn keep_age(&mut self, kept: &KeptAge, record: AgeRecord) -> Result<AgeRecord, StepError> {
        let target = &self.spec.target;
        let _lock = kept.lock(self.stop)?;
        if let Some(record) = kept.restore(target, self.stop)? {
            return Ok(record);
        }
        let (error, remedy) = match kept.keep(target, &record, self.stop) {
            Ok(image) => {
                // What lies below a device of the user's is then as later trials find it.
                if matches!(target, TargetSpec::Block { under: Under::Real { .. }, .. }) {
                    kept.restore(target, self.stop)?;
                }
                return Ok(AgeRecord { image: Some(image), ..record });
            }
            Err(StepError::Failed { error, remedy }) => (error, remedy),
            Err(other) => return Err(other),
        };
        self.notice("age-not-kept", format!("its aged device was not kept: {error}"), remedy);
        Ok(record)
    }

    /// Puts what became of the age into the record.
    fn put_age(&mut self, age: &Age, record: AgeRecord, began: Instant) -> Result<(), StepError> {
        self.record.notices.extend(not_reached(age, &record, &self.record.filesystem.name));
        let elapsed_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.record.age = Some(AgeRecord { elapsed_ns, ..record });
        Ok(())
    }
}

/// What statfs gives as available in a fresh file system.
fn room_bytes(mount_point: &Path) -> Result<u64, StepError> {
    let stat = rustix::fs::statvfs(mount_point);
    let stat = stat.map_err(|errno| failed("statvfs", mount_point, &errno.into()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Says where the extents that were asked for were not reached.
fn not_reached(age: &Age, record: &AgeRecord, name: &str) -> Option<fsarena_model::record::Notice> {
    let asked = age.extents_per_file?;
    let reached = record.extents?.mean;
    (reached < asked).then(|| {
        let text = format!(
            "{name} reached {} extents per file after a churn of {} times its fill, and {asked} \
             were asked for",
            three_digits(reached),
            age.churn
        );
        let remedy = "its figures are of the age that it reached; churn=N sets the limit";
        notice("age-not-reached", text, Some(remedy.to_owned()))
    })
}

/// The files of an age at work.
struct Ageing<'a> {
    root: PathBuf,
    stop: &'a Stop,
    contents: Vec<u8>,
    /// Blocks written so far: each has a mark of its own, so that none is like another.
    blocks: u64,
    room_retries: u64,
}

impl<'a> Ageing<'a> {
    fn start(root: PathBuf, stop: &'a Stop, age: &Age) -> Result<Self, StepError> {
        let make = |path: &Path| {
            std::fs::create_dir(path).map_err(|error| failed("make directory", path, &error))
        };
        make(&root)?;
        (0..DIRECTORIES).try_for_each(|number| make(&root.join(format!("d{number:02}"))))?;
        // Contents that do not compress.
        let mut contents = vec![0; CHUNK_BYTES as usize];
        Seed::from_number(age.seed).child("age-contents", 0).rng().fill(&mut contents);
        Ok(Self { root, stop, contents, blocks: 0, room_retries: 0 })
    }

    /// All operations, or those up to the end of the round at which files have the extents that
    /// are asked for; the extents at the end, and the rounds of churn.
    fn carry_out(
        &mut self,
        age: &Age,
        sequence: &mut AgeSequence,
    ) -> Result<(Option<AgeExtents>, u32), StepError> {
        let (mut found, mut round_ends) = (None, 0_u32);
        while let Some(op) = sequence.next() {
            if self.stop.asked() {
                return Err(StepError::Stopped);
            }
            if op != AgeOp::RoundEnd {
                self.one(op, sequence)?;
                continue;
            }
            round_ends += 1;
            let Some(asked) = age.extents_per_file else { continue };
            found = self.extents(sequence)?;
            match found.as_ref().map(|extents| extents.mean) {
                Some(mean) if mean >= asked => break,
                Some(_) => {}
                None => return Err(StepError::NotRun { reason: UNTOLD.to_owned() }),
            }
        }
        if age.extents_per_file.is_none() {
            found = self.extents(sequence)?;
        }
        let rounds = if age.extents_per_file.is_some() { round_ends.saturating_sub(1) } else { 0 };
        Ok((found, rounds))
    }

    fn path(&self, file: u64) -> PathBuf {
        self.root.join(format!("d{:02}/f{file:08x}", file % DIRECTORIES))
    }

    fn one(&mut self, op: AgeOp, sequence: &AgeSequence) -> Result<(), StepError> {
        let done = match op {
            AgeOp::Create { file, bytes } => self.write(file, true, (0, bytes)),
            AgeOp::Overwrite { file, offset_bytes, bytes }
            | AgeOp::Append { file, offset_bytes, bytes } => {
                self.write(file, false, (offset_bytes, bytes))
            }
            AgeOp::Delete { file } => {
                let path = self.path(file);
                self.where_room(|_| std::fs::remove_file(&path))
                    .map_err(|error| (format!("delete {}", path.display()), error))
            }
            AgeOp::Sync => {
                self.sync().map_err(|error| (format!("sync {}", self.root.display()), error))
            }
            AgeOp::RoundEnd => return Ok(()),
        };
        done.map_err(|(what, error)| {
            if is_room(&error) {
                let reason = format!(
                    "it had no room left after {} operations of its age, with {} in files: \
                     {error}; use a larger device, or a smaller share",
                    sequence.operations(),
                    Bytes(sequence.file_bytes())
                );
                return StepError::NotRun { reason };
            }
            StepError::new(format!("age: {what}: {error}"))
        })
    }

    /// What is allocated late may find only here that there is no room.
    fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(File::open(&self.root)?)?)
    }

    fn write(
        &mut self,
        file: u64,
        is_new: bool,
        (offset_bytes, bytes): (u64, u64),
    ) -> Result<(), (String, io::Error)> {
        let path = self.path(file);
        let told = |error| (format!("write {}", path.display()), error);
        let mut options = OpenOptions::new();
        options.write(true).create_new(is_new);
        let out = self.where_room(|_| options.open(&path)).map_err(told)?;
        let (mut at, end) = (offset_bytes, offset_bytes + bytes);
        while at < end {
            let length = (end - at).min(CHUNK_BYTES) as usize;
            self.mark(length);
            self.where_room(|contents| out.write_all_at(&contents[..length], at)).map_err(told)?;
            at += length as u64;
        }
        Ok(())
    }

    /// Gives each block of the next `length` bytes a number of its own.
    fn mark(&mut self, length: usize) {
        for block in self.contents[..length].chunks_mut(AGE_BLOCK_BYTES as usize) {
            self.blocks += 1;
            block[..8].copy_from_slice(&self.blocks.to_le_bytes());
        }
    }

    /// Makes a call; where it finds no room, again after a sync.
    fn where_room<T>(&mut self, call: impl Fn(&[u8]) -> io::Result<T>) -> io::Result<T> {
        let mut syncs = 0;
        loop {
            match call(&self.contents) {
                Err(error) if is_room(&error) && syncs < ROOM_SYNCS => {
                    syncs += 1;
                    self.room_retries += 1;
                    self.sync()?;
                    std::thread::sleep(ROOM_PAUSE);
                }
                result => return result,
            }
        }
    }

    /// Extents of the files that are there, after a sync.
    fn extents(&self, sequence: &AgeSequence) -> Result<Option<AgeExtents>, StepError> {
        self.sync().map_err(|error| failed("sync", &self.root, &error))?;
        let mut files: Vec<(u64, u64)> = sequence.files().collect();
        files.sort_unstable();
        let step = files.len().div_ceil(FILES_LOOKED_AT).max(1);
        let (mut counts, mut all_bytes) = (Vec::new(), 0);
        for (file, bytes) in files.into_iter().step_by(step) {
            if self.stop.asked() {
                return Err(StepError::Stopped);
            }
            let path = self.path(file);
            let told = File::open(&path).and_then(|file| extents::count(file, bytes));
            match told.map_err(|error| failed("ask for the extents of", &path, &error))? {
                Some(count) => counts.push(count),
                None => return Ok(None),
            }
            all_bytes += bytes;
        }
        Ok(AgeExtents::from_counts(counts, all_bytes))
    }
}

/// Why an age that ends by extents is not carried out.
const UNTOLD: &str = "it does not tell the extents of its files (FIEMAP), by which its age is to \
     end; leave extents= out";

fn is_room(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NOSPC.raw_os_error())
}

fn failed(what: &str, path: &Path, error: &io::Error) -> StepError {
    StepError::new(format!("age: {what} {}: {error}", path.display()))
}
