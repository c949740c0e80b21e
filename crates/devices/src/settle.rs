//! Quiet: everything that was written is where it shall lie.

use crate::TargetError;
use rustix::fs::{Mode, OFlags, open};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

// _IOWR('X', 119, int) and _IOWR('X', 120, int) of `linux/fs.h`.
const FIFREEZE: libc::Ioctl = 0xC004_5877_u32 as libc::Ioctl;
const FITHAW: libc::Ioctl = 0xC004_5878_u32 as libc::Ioctl;

/// Time between two looks at a device.
const LOOK: Duration = Duration::from_millis(5);

/// How long a device is idle after which nothing more comes from a file system that was unmounted:
/// as long as two looks take. Nothing is awaited but requests under way.
pub const UNMOUNTED_IDLE_NS: u64 = 5_000_000;

/// What a device has done and is doing; equal readings with nothing in flight are idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Activity {
    /// Reads, writes, discards and flushes completed since boot.
    pub completed: u64,
    /// Requests under way.
    pub in_flight: u64,
}

/// How waiting for quiet ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quiet {
    /// Idle for the stated time.
    Idle {
        /// From the call to the last activity seen, to within 5 ms; 0 where there was none.
        busy_ns: u64,
    },
    /// Not within the cap.
    Capped,
}

/// How long freezing took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frozen {
    /// `FIFREEZE`: everything is written.
    pub freeze_ns: u64,
    /// `FITHAW`.
    pub thaw_ns: u64,
}

/// Why a file system was not frozen.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// It has no freeze, somebody else has frozen it, or this user may not.
    #[error("{}: cannot be frozen: {source}", path.display())]
    Unsupported {
        /// Mount point.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// It was frozen and could not be thawed.
    #[error(
        "{}: frozen, and cannot be thawed: {source}; run fsfreeze --unfreeze on it",
        path.display()
    )]
    StillFrozen {
        /// Mount point.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// syncfs(2) of the file system of `path`.
///
/// # Errors
/// When it cannot be opened, or something was not written.
pub fn syncfs(path: &Path) -> Result<(), TargetError> {
    let file = open_dir(path).map_err(|error| TargetError::io("open", path, error))?;
    rustix::fs::syncfs(&file).map_err(|error| TargetError::io("syncfs", path, error))
}

/// Waits until `read` has shown no activity for `idle_ns`, for `cap_ns` at most.
///
/// # Errors
/// Those of `read`.
pub fn wait_idle(
    read: &mut dyn FnMut() -> io::Result<Activity>,
    idle_ns: u64,
    cap_ns: u64,
) -> io::Result<Quiet> {
    let idle = Duration::from_nanos(idle_ns);
    let cap = Duration::from_nanos(cap_ns);
    let start = Instant::now();
    let mut before = read()?;
    // Time of the last activity, from the start.
    let mut busy = Duration::ZERO;
    loop {
        let now = start.elapsed();
        if before.in_flight == 0 && now.saturating_sub(busy) >= idle {
            return Ok(Quiet::Idle { busy_ns: nanos(busy) });
        }
        if now >= cap {
            return Ok(Quiet::Capped);
        }
        std::thread::sleep(LOOK.min(cap - now).min(idle.max(Duration::from_micros(100))));
        let after = read()?;
        if after != before || after.in_flight > 0 {
            busy = start.elapsed();
        }
        before = after;
    }
}

/// Freezes the file system and thaws it at once: afterwards everything lies where it belongs, not
/// in a log.
///
/// # Errors
/// When it cannot be frozen, or (worse) not be thawed.
pub fn freeze_thaw(mnt: &Path) -> Result<Frozen, FreezeError> {
    let unsupported = |source| FreezeError::Unsupported { path: mnt.to_owned(), source };
    let file = open_dir(mnt).map_err(|error| unsupported(error.into()))?;
    // A file system that keeps no such list needs none.
    let _ = end_retries(&file, Path::new("/sys"));
    let start = Instant::now();
    let mut guard = Thaw::after_freeze(&file).map_err(unsupported)?;
    let freeze_ns = nanos(start.elapsed());
    let start = Instant::now();
    guard.thaw().map_err(|source| FreezeError::StillFrozen { path: mnt.to_owned(), source })?;
    Ok(Frozen { freeze_ns, thaw_ns: nanos(start.elapsed()) })
}

/// xfs tries a write of metadata that failed again for ever, so that a freeze never ends once the
/// device is dead, and nothing that waits for it can be killed. It is told to give up at the first
/// error, as it does by itself at an unmount.
fn end_retries(file: &File, sys: &Path) -> io::Result<()> {
    let dev = rustix::fs::fstat(file)?.st_dev;
    let (major, minor) = (rustix::fs::major(dev), rustix::fs::minor(dev));
    let device = std::fs::canonicalize(sys.join(format!("dev/block/{major}:{minor}")))?;
    let Some(name) = device.file_name() else { return Ok(()) };
    for kind in std::fs::read_dir(sys.join("fs/xfs").join(name).join("error/metadata"))? {
        std::fs::write(kind?.path().join("max_retries"), "0")?;
    }
    Ok(())
}

/// Thaws a file system that a killed run may have left frozen; false where it was not frozen.
///
/// # Errors
/// When the mount point cannot be opened, or thawing fails.
pub fn thaw(mnt: &Path) -> io::Result<bool> {
    let file = open_dir(mnt)?;
    match freeze_ioctl(&file, FITHAW) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(false),
        result => result.map(|()| true),
    }
}

/// Thaws when dropped, whatever happens in between.
struct Thaw<'a> {
    file: &'a File,
    frozen: bool,
}

impl<'a> Thaw<'a> {
    fn after_freeze(file: &'a File) -> io::Result<Self> {
        freeze_ioctl(file, FIFREEZE)?;
        Ok(Self { file, frozen: true })
    }

    fn thaw(&mut self) -> io::Result<()> {
        freeze_ioctl(self.file, FITHAW)?;
        self.frozen = false;
        Ok(())
    }
}

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        if self.frozen {
            let _ = self.thaw();
        }
    }
}

fn freeze_ioctl(file: &File, request: libc::Ioctl) -> io::Result<()> {
    // SAFETY: both requests ignore their argument and touch no memory of ours.
    if unsafe { libc::ioctl(file.as_raw_fd(), request, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn open_dir(path: &Path) -> rustix::io::Result<File> {
    open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map(File::from)
}

pub(crate) fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_write_that_failed_is_not_tried_again_in_a_freeze() {
        let sys = tempfile::tempdir().unwrap();
        let file = open_dir(sys.path()).unwrap();
        assert!(end_retries(&file, sys.path()).is_err(), "a device that sysfs does not have");
        let dev = rustix::fs::fstat(&file).unwrap().st_dev;
        let number = format!("{}:{}", rustix::fs::major(dev), rustix::fs::minor(dev));
        let block = sys.path().join("dev/block");
        std::fs::create_dir_all(&block).unwrap();
        std::fs::create_dir_all(sys.path().join("devices/loop3")).unwrap();
        std::os::unix::fs::symlink("../../devices/loop3", block.join(number)).unwrap();
        assert!(end_retries(&file, sys.path()).is_err(), "no xfs");
        let errors = sys.path().join("fs/xfs/loop3/error/metadata");
        let retries = ["EIO", "default"].map(|kind| errors.join(kind).join("max_retries"));
        for path in &retries {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "-1").unwrap();
        }
        end_retries(&file, sys.path()).unwrap();
        assert!(retries.iter().all(|path| std::fs::read_to_string(path).unwrap() == "0"));
    }

    #[test]
    fn an_idle_device_is_idle_from_the_start() {
        let mut read = || Ok(Activity { completed: 7, in_flight: 0 });
        assert_eq!(wait_idle(&mut read, 20 * MS, 1000 * MS).unwrap(), Quiet::Idle { busy_ns: 0 });
    }

    #[test]
    fn activity_is_timed_and_its_end_is_not_counted() {
        let mut left = 4_u64;
        let mut read = || {
            left = left.saturating_sub(1);
            Ok(Activity { completed: 10 - left, in_flight: u64::from(left > 1) })
        };
        let Quiet::Idle { busy_ns } = wait_idle(&mut read, 50 * MS, 5000 * MS).unwrap() else {
            panic!("capped")
        };
        assert!((5 * MS..50 * MS).contains(&busy_ns), "{busy_ns}");
    }

    #[test]
    fn the_cap_ends_it() {
        let mut completed = 0;
        let mut read = || {
            completed += 1;
            Ok(Activity { completed, in_flight: 0 })
        };
        assert_eq!(wait_idle(&mut read, 50 * MS, 30 * MS).unwrap(), Quiet::Capped);
        let mut stuck = || Ok(Activity { completed: 1, in_flight: 1 });
        assert_eq!(wait_idle(&mut stuck, 5 * MS, 30 * MS).unwrap(), Quiet::Capped);
    }
}
