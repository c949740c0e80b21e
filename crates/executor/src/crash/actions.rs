//! The actions of a workload, each by the calls that its description says.

use fsarena_safety::op::{Action, Sync};
use fsarena_safety::stamp::{Stamp, fill};
use fsarena_safety::workload::{DIRECTORIES, TEMPORARY_SUFFIX, path};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::Timespec;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

pub(super) fn sleep_until(at_ns: u64) {
    let until = Timespec {
        tv_sec: (at_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (at_ns % 1_000_000_000).cast_signed(),
    };
    while clock_nanosleep_absolute(ClockId::Monotonic, &until).is_err() {}
}

/// The directories of all plans.
pub(super) fn make_directories(root: &Path) -> io::Result<()> {
    for name in DIRECTORIES {
        fs::create_dir(root.join(name))?;
    }
    Ok(())
}

fn place(root: &Path, file: u32) -> io::Result<PathBuf> {
    let none = || io::Error::from(io::ErrorKind::NotFound);
    Ok(root.join(path(file).ok_or_else(none)?))
}

fn contents(stamp: Stamp, at_byte: u64, bytes: u64) -> Vec<u8> {
    let mut data = vec![0; usize::try_from(bytes).unwrap_or(0)];
    fill(&mut data, stamp, at_byte);
    data
}

/// Makes file or directory durable, as far as it is asked for.
fn sync_file(file: &File, sync: Sync) -> io::Result<()> {
    match sync {
        Sync::None => Ok(()),
        Sync::Data => file.sync_data(),
        Sync::File | Sync::FileAndDirectory => file.sync_all(),
    }
}

fn sync_directory(file: &Path, sync: Sync) -> io::Result<()> {
    match file.parent() {
        Some(directory) if sync.covers_name() => File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

/// Carries it out below `root`, with contents of this seed.
///
/// # Errors
/// Of the first call that failed.
pub(super) fn carry_out(root: &Path, action: &Action, seed: u64) -> io::Result<()> {
    let path = place(root, action.file())?;
    let sync = action.sync();
    let stamp = |version| Stamp { seed, file: action.file(), version };
    match *action {
        Action::Create { bytes, version, .. } => {
            let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
            file.write_all(&contents(stamp(version), 0, bytes))?;
            sync_file(&file, sync)?;
        }
        Action::Preallocate { bytes, .. } => {
            let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
            fallocate(&file, FallocateFlags::empty(), 0, bytes)?;
            sync_file(&file, sync)?;
        }
        Action::Replace { bytes, version, .. } => {
            let mut temporary = path.clone().into_os_string();
            temporary.push(TEMPORARY_SUFFIX);
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
            file.write_all(&contents(stamp(version), 0, bytes))?;
            sync_file(&file, sync)?;
            drop(file);
            fs::rename(&temporary, &path)?;
        }
        Action::Append { bytes, version, .. } => {
            let mut file = OpenOptions::new().append(true).open(&path)?;
            let at_byte = file.metadata()?.len();
            file.write_all(&contents(stamp(version), at_byte, bytes))?;
            sync_file(&file, sync)?;
        }
        Action::Overwrite { offset, bytes, version, .. } => {
            let file = OpenOptions::new().write(true).open(&path)?;
            file.write_all_at(&contents(stamp(version), offset, bytes), offset)?;
            sync_file(&file, sync)?;
        }
        Action::Truncate { bytes, .. } => {
            let file = OpenOptions::new().write(true).open(&path)?;
            file.set_len(bytes)?;
            sync_file(&file, sync)?;
        }
        Action::Delete { .. } => fs::remove_file(&path)?,
    }
    sync_directory(&path, sync)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_metrics::monotonic_ns;
    use fsarena_safety::observation::Runs;
    use fsarena_safety::stamp::Sector;

    fn seen(path: &Path) -> Vec<Sector> {
        let mut runs = Runs::default();
        runs.take(&fs::read(path).unwrap());
        runs.sectors().collect()
    }

    #[test]
    fn actions_do_what_they_say() {
        let dir = tempfile::tempdir().unwrap();
        make_directories(dir.path()).unwrap();
        let (file, sync) = (1 << 24, Sync::FileAndDirectory);
        let path = dir.path().join(path(file).unwrap());
        let act = |action: Action| carry_out(dir.path(), &action, 9);
        act(Action::Replace { target: file, bytes: 700, version: 1, sync }).unwrap();
        act(Action::Append { file, bytes: 324, version: 1, sync }).unwrap();
        let versions = |path: &Path| -> Vec<Option<u32>> {
            seen(path).iter().map(|sector| sector.stamp().map(|stamp| stamp.version)).collect()
        };
        assert_eq!(versions(&path), [Some(1), Some(1)]);
        act(Action::Overwrite { file, offset: 512, bytes: 512, version: 2, sync }).unwrap();
        assert_eq!(versions(&path), [Some(1), Some(2)]);
        act(Action::Truncate { file, bytes: 512, sync }).unwrap();
        assert_eq!(versions(&path), [Some(1)]);
        let again = Action::Create { file, bytes: 1, version: 3, sync };
        assert_eq!(act(again).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        act(Action::Delete { file, sync }).unwrap();
        assert!(!path.exists());
        act(Action::Preallocate { file, bytes: 1024, sync }).unwrap();
        assert_eq!(seen(&path), [Sector::Zeros, Sector::Zeros]);
    }

    #[test]
    fn a_sleep_ends_at_its_time() {
        let until_ns = monotonic_ns() + 3_000_000;
        sleep_until(until_ns);
        assert!(monotonic_ns() >= until_ns);
    }
}
