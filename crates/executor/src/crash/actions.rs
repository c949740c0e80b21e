//! The actions of a workload, each by the calls that its description says.

use fsarena_crash::medium_error::record::Call;
use fsarena_crash::op::{Action, Sync};
use fsarena_crash::stamp::{Stamp, fill};
use fsarena_crash::workload::{TEMPORARY_SUFFIX, identity, other_name, path};
use rustix::fs::{FallocateFlags, fallocate, syncfs};
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

/// The directories of a plan.
pub(super) fn make_directories(root: &Path, directories: &[String]) -> io::Result<()> {
    for name in directories {
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

/// The call of an action that failed.
#[derive(Debug)]
pub(super) struct Failure {
    pub call: Call,
    pub error: io::Error,
    /// Of a sync of the file: what it returned when it was made again.
    pub again: Option<io::Result<()>>,
}

impl Failure {
    fn in_call(call: Call) -> impl Fn(io::Error) -> Self {
        move |error| Self { call, error, again: None }
    }
}

/// Makes the file durable, as far as it is asked for. One that fails is made once again, as some
/// applications do.
fn sync_file(file: &File, sync: Sync) -> Result<(), Failure> {
    let call = || match sync {
        Sync::None | Sync::Directory | Sync::FileSystem => Ok(()),
        Sync::Data => file.sync_data(),
        Sync::File | Sync::FileAndDirectory => file.sync_all(),
    };
    call().map_err(|error| Failure { call: Call::Sync, error, again: Some(call()) })
}

/// Makes durable what goes beyond the file itself.
fn sync_beyond(file: &Path, sync: Sync) -> io::Result<()> {
    let Some(directory) = file.parent() else { return Ok(()) };
    match sync {
        Sync::None | Sync::Data | Sync::File => Ok(()),
        Sync::FileAndDirectory | Sync::Directory => File::open(directory)?.sync_all(),
        Sync::FileSystem => Ok(syncfs(File::open(directory)?)?),
    }
}

/// Carries it out below `root`, with contents of this seed.
///
/// # Errors
/// Of the first call that failed.
pub(super) fn carry_out(root: &Path, action: &Action, seed: u64) -> Result<(), Failure> {
    let failed = Failure::in_call;
    let path = place(root, action.file()).map_err(failed(Call::Open))?;
    let sync = action.sync();
    let stamp = |version| Stamp { seed, file: identity(action.file()), version };
    let open =
        |options: &mut OpenOptions, path: &Path| options.open(path).map_err(failed(Call::Open));
    match *action {
        Action::Create { bytes, version, .. } => {
            let mut file = open(OpenOptions::new().write(true).create_new(true), &path)?;
            let data = contents(stamp(version), 0, bytes);
            file.write_all(&data).map_err(failed(Call::Write))?;
            sync_file(&file, sync)?;
        }
        Action::Preallocate { bytes, .. } => {
            let file = open(OpenOptions::new().write(true).create_new(true), &path)?;
            let allocated = fallocate(&file, FallocateFlags::empty(), 0, bytes);
            allocated.map_err(|errno| failed(Call::Write)(errno.into()))?;
            sync_file(&file, sync)?;
        }
        Action::Replace { bytes, version, .. } => {
            let mut temporary = path.clone().into_os_string();
            temporary.push(TEMPORARY_SUFFIX);
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(true);
            let mut file = open(options, temporary.as_ref())?;
            let data = contents(stamp(version), 0, bytes);
            file.write_all(&data).map_err(failed(Call::Write))?;
            sync_file(&file, sync)?;
            drop(file);
            fs::rename(&temporary, &path).map_err(failed(Call::Rename))?;
        }
        Action::Append { bytes, version, .. } => {
            let mut file = open(OpenOptions::new().append(true), &path)?;
            let at_byte = file.metadata().map_err(failed(Call::Open))?.len();
            let data = contents(stamp(version), at_byte, bytes);
            file.write_all(&data).map_err(failed(Call::Write))?;
            sync_file(&file, sync)?;
        }
        Action::Overwrite { offset, bytes, version, .. } => {
            let file = open(OpenOptions::new().write(true), &path)?;
            let data = contents(stamp(version), offset, bytes);
            file.write_all_at(&data, offset).map_err(failed(Call::Write))?;
            sync_file(&file, sync)?;
        }
        Action::Truncate { bytes, .. } => {
            let file = open(OpenOptions::new().write(true), &path)?;
            file.set_len(bytes).map_err(failed(Call::Truncate))?;
            sync_file(&file, sync)?;
        }
        Action::Rename { file, .. } => {
            let to = place(root, other_name(file)).map_err(failed(Call::Open))?;
            fs::rename(&path, to).map_err(failed(Call::Rename))?;
        }
        Action::Delete { .. } => fs::remove_file(&path).map_err(failed(Call::Unlink))?,
    }
    sync_beyond(&path, sync).map_err(failed(Call::SyncDirectory))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_crash::observation::Runs;
    use fsarena_crash::stamp::Sector;
    use fsarena_metrics::monotonic_ns;

    fn seen(path: &Path) -> Vec<Sector> {
        let mut runs = Runs::default();
        runs.take(&fs::read(path).unwrap());
        runs.sectors().collect()
    }

    #[test]
    fn actions_do_what_they_say() {
        let dir = tempfile::tempdir().unwrap();
        make_directories(dir.path(), &["replaced".to_owned()]).unwrap();
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
        let failure = act(again).unwrap_err();
        assert_eq!(
            (failure.call, failure.error.kind()),
            (Call::Open, io::ErrorKind::AlreadyExists)
        );
        assert!(failure.again.is_none(), "no sync was made");
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
