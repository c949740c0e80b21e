//! Sequences of file operations, each on a file system of its own on a disk of its own.

use super::check::{CheckOptions, check_with};
use super::error::CrashError;
use super::mounting::{each_contents, target, with_file_system};
use super::observed::{TakeObservation, hand_on};
use super::{actions, tree};
use fsarena_crash::observation::MountStep;
use fsarena_crash::sequence::op::{
    ATTRIBUTE, Allocation, Extent, FileOp, ROOT, attribute_text, bytes_of,
};
use fsarena_crash::sequence::tree::{OpTimes, SequenceRecord, TreeObservation};
use fsarena_devices::{format, mapped::write_mapped, settle};
use fsarena_filesystems::driver;
use fsarena_metrics::monotonic_ns;
use fsarena_model::contender::{Discard, FsLevel};
use rustix::fs::{FallocateFlags, OFlags, XattrFlags, fallocate, fremovexattr, fsetxattr};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// After each operation nothing is done for so long, so that the times of log and operations tell
/// what came first.
const BETWEEN_NS: u64 = 1_000_000;
/// Memory of direct writes is at multiples of it.
const ALIGNED: usize = 4096;

/// A file system on `/dev/vdisk0`, which is left unmounted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormatTask {
    pub fs: FsLevel,
    pub size_bytes: u64,
}

/// Sequences, the first on `/dev/vdisk0`. The file systems are there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceWork {
    pub fs: FsLevel,
    pub size_bytes: u64,
    pub sequences: Vec<Vec<FileOp>>,
}

/// Trees on `/dev/vdisk0` and the next ones, after power cuts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SequenceCheck {
    pub fs: FsLevel,
    pub size_bytes: u64,
    /// How many contents each of them shows, one after another.
    pub contents: Vec<u32>,
}

/// Makes the file system on `/dev/vdisk0`.
pub(super) fn make_one(task: &FormatTask) -> Result<(), CrashError> {
    let driver = driver(&task.fs)?;
    let disk = target(0, task.size_bytes);
    format::format(&disk, &*driver, &task.fs, Discard::None)?.keep();
    Ok(())
}

/// Carries out all, one after the other; each stays mounted, and the power goes at the end.
pub(super) fn run_all(work: &SequenceWork, mnt: &Path) -> Result<Vec<SequenceRecord>, CrashError> {
    let mut records = Vec::new();
    for (number, ops) in (0..).zip(&work.sequences) {
        let place = mnt.join(format!("sequence{number}"));
        fs::create_dir_all(&place).map_err(CrashError::io(&place))?;
        let disk = target(number, work.size_bytes);
        with_file_system(&work.fs, &disk, |fs| {
            let mount_options = fs.options().join(",");
            let mounted = fs.mount(MountStep::ReadWrite, &place).map_err(io::Error::from);
            mounted.map_err(CrashError::io(&place))?;
            settle::syncfs(&place)?;
            actions::sleep_until(monotonic_ns() + BETWEEN_NS);
            let begin_ns = monotonic_ns();
            let ops = Sequence { root: &place, open: BTreeMap::new() }.run(ops);
            records.push(SequenceRecord { begin_ns, ops, mount_options });
            Ok(())
        })?;
    }
    Ok(records)
}

/// Mounts each in some way and reads all names.
pub(super) fn check_all(
    task: &SequenceCheck,
    mnt: &Path,
    take: &mut TakeObservation<'_>,
) -> Result<(), CrashError> {
    each_contents(&task.fs, &task.contents, task.size_bytes, |fs| {
        let mut entries = Vec::new();
        let asked = CheckOptions { is_detailed: false, has_fsck: true };
        let whole = check_with(fs, mnt, asked, |seen| entries = tree::read(mnt, seen));
        hand_on(&TreeObservation { whole, entries }, take)
    })
}

/// A sequence that is carried out below a directory.
struct Sequence<'a> {
    root: &'a Path,
    /// Files that stay open, by the name by which they were opened.
    open: BTreeMap<&'a str, File>,
}

impl<'a> Sequence<'a> {
    /// Up to the first that fails.
    fn run(mut self, ops: &'a [FileOp]) -> Vec<OpTimes> {
        let mut times = Vec::with_capacity(ops.len());
        for op in ops {
            let begin_ns = monotonic_ns();
            let error = self.carry_out(op).err();
            let errno = error.map(|error| error.raw_os_error().unwrap_or(0));
            times.push(OpTimes { begin_ns, end_ns: monotonic_ns(), errno });
            if errno.is_some() {
                break;
            }
            actions::sleep_until(monotonic_ns() + BETWEEN_NS);
        }
        times
    }

    fn place(&self, path: &str) -> PathBuf {
        if path == ROOT { self.root.to_owned() } else { self.root.join(path) }
    }

    /// A file that is open, or is opened for this call.
    fn with_file(&self, path: &str, act: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        match self.open.get(path) {
            Some(file) => act(file),
            None => act(&OpenOptions::new().read(true).write(true).open(self.place(path))?),
        }
    }

    fn carry_out(&mut self, op: &'a FileOp) -> io::Result<()> {
        match op {
            FileOp::Open { file } => {
                let mut options = OpenOptions::new();
                let options = options.read(true).write(true).create(true).truncate(false);
                let opened = options.open(self.place(file))?;
                self.open.insert(file, opened);
                Ok(())
            }
            FileOp::Close { file } => {
                self.open.remove(file.as_str());
                Ok(())
            }
            FileOp::Mkdir { dir } => fs::create_dir(self.place(dir)),
            FileOp::Rmdir { dir } => fs::remove_dir(self.place(dir)),
            FileOp::Unlink { file } => fs::remove_file(self.place(file)),
            FileOp::Remove { path } => {
                let place = self.place(path);
                let is_directory = fs::symlink_metadata(&place)?.is_dir();
                if is_directory { fs::remove_dir(place) } else { fs::remove_file(place) }
            }
            FileOp::Link { from, to } => fs::hard_link(self.place(from), self.place(to)),
            FileOp::Symlink { target, link } => symlink(target, self.place(link)),
            FileOp::Rename { from, to } => fs::rename(self.place(from), self.place(to)),
            FileOp::Fsync { path } => match self.open.get(path.as_str()) {
                Some(file) => file.sync_all(),
                None => File::open(self.place(path))?.sync_all(),
            },
            FileOp::Fdatasync { file } => self.with_file(file, File::sync_data),
            FileOp::Sync => {
                rustix::fs::sync();
                Ok(())
            }
            FileOp::Sleep { duration_ns } => {
                actions::sleep_until(monotonic_ns() + duration_ns);
                Ok(())
            }
            _ => self.change(op),
        }
    }

    /// Contents and attributes.
    fn change(&self, op: &FileOp) -> io::Result<()> {
        match op {
            FileOp::Write { file, extent } => {
                self.with_file(file, |file| file.write_all_at(&bytes_of(*extent), extent.offset))
            }
            FileOp::DirectWrite { file, extent } => write_direct(&self.place(file), *extent),
            FileOp::MmapWrite { file, extent } => self.with_file(file, |file| {
                let Extent { offset, bytes, .. } = *extent;
                if file.metadata()?.len() < offset + bytes {
                    fallocate(file, FallocateFlags::empty(), offset, bytes)?;
                }
                write_mapped(file, offset, &bytes_of(*extent))
            }),
            FileOp::Fallocate { file, mode, offset, bytes } => {
                self.with_file(file, |file| Ok(fallocate(file, flags(*mode), *offset, *bytes)?))
            }
            FileOp::Truncate { file, bytes } => self.with_file(file, |file| file.set_len(*bytes)),
            FileOp::SetXattr { file, fill } => self.with_file(file, |file| {
                let text = attribute_text(*fill);
                Ok(fsetxattr(file, ATTRIBUTE, text.as_bytes(), XattrFlags::empty())?)
            }),
            FileOp::RemoveXattr { file } => {
                self.with_file(file, |file| Ok(fremovexattr(file, ATTRIBUTE)?))
            }
            _ => Err(Errno::INVAL.into()),
        }
    }
}

fn flags(mode: Allocation) -> FallocateFlags {
    let keep = FallocateFlags::KEEP_SIZE;
    match mode {
        Allocation::Extend => FallocateFlags::empty(),
        Allocation::KeepSize => keep,
        Allocation::ZeroRange => FallocateFlags::ZERO_RANGE,
        Allocation::ZeroRangeKeepSize => FallocateFlags::ZERO_RANGE | keep,
        Allocation::PunchHole => FallocateFlags::PUNCH_HOLE | keep,
    }
}

/// Writes past the cache, from memory that is aligned for it.
fn write_direct(place: &Path, extent: Extent) -> io::Result<()> {
    let data = bytes_of(extent);
    let mut memory = vec![0; data.len() + ALIGNED];
    let from = memory.as_ptr().align_offset(ALIGNED);
    memory[from..from + data.len()].copy_from_slice(&data);
    let mut options = OpenOptions::new();
    let flags = i32::try_from(OFlags::DIRECT.bits()).map_err(io::Error::other)?;
    let mut file = options.write(true).custom_flags(flags).open(place)?;
    io::Seek::seek(&mut file, io::SeekFrom::Start(extent.offset))?;
    file.write_all(&memory[from..from + data.len()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_crash::observation::Observation;
    use fsarena_crash::sequence::bounds::Bounds;
    use fsarena_crash::sequence::judge::{Progress, judge};
    use fsarena_crash::sequence::model::History;
    use fsarena_crash::sequence::program::{one_line, program};

    /// Where nothing is lost, the model and this file system are at one: after every sequence.
    #[test]
    fn what_is_carried_out_is_what_the_model_says() {
        let mut ran = 0;
        for skeleton in Bounds::all().sample(2, 60, 3).iter().chain(&Bounds::all().skeletons(1)) {
            let mut ops = program(skeleton).unwrap();
            // Nothing is cut here, and the machine's other file systems are left alone.
            ops.retain(|op| !matches!(op, FileOp::Sync | FileOp::Fsync { .. }));
            let dir = tempfile::tempdir().unwrap();
            let times = Sequence { root: dir.path(), open: BTreeMap::new() }.run(&ops);
            if times.iter().any(|op| op.errno.is_some()) {
                continue; // This file system has no such mode, or no direct writes.
            }
            ran += 1;
            let mut seen = Observation::default();
            let entries = tree::read(dir.path(), &mut seen);
            let mounts = vec![fsarena_crash::observation::MountAttempt {
                step: MountStep::ReadWrite,
                errno: None,
                began_ns: 0,
                duration_ns: 0,
            }];
            let whole = Observation { mounts, ..Observation::default() };
            let mut synced = ops.clone();
            synced.push(FileOp::Sync);
            let history = History::new(&synced).unwrap();
            let progress = Progress { returned: synced.len(), begun: synced.len() };
            let broken = judge(&history, progress, &TreeObservation { whole, entries });
            assert_eq!(broken, [], "{}", one_line(&ops));
        }
        assert!(ran > 100, "{ran}");
    }
}
