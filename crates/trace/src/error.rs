//! Why there is no trace, with what to do.

use crate::request::BlockDevice;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

/// Where this process finds what it has open (proc_pid_fd(5)).
pub(crate) const DESCRIPTORS: &str = "/proc/self/fd";

/// Why block requests cannot be traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The kernel has no tracefs, or shows nothing in it.
    #[error(
        "this kernel offers no tracefs with instances, so block requests cannot be traced; \
         it needs CONFIG_BLK_DEV_IO_TRACE, and may not be locked down"
    )]
    NoTracefs,
    /// tracefs is not mounted, and this program may not mount it for itself.
    #[error(
        "tracefs is not mounted and may not be: {call}: {source}, so block requests cannot be \
         traced; run as root, with CAP_SYS_ADMIN"
    )]
    MountRefused {
        /// Which call.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// tracefs is not mounted, and could not be mounted at no place.
    #[error(
        "tracefs is not mounted: {call}: {source}, so block requests cannot be traced; \
         mount it: mount -t tracefs none /sys/kernel/tracing"
    )]
    Mount {
        /// Which call.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// There is no right to it.
    #[error(
        "{}: not permitted: {source}; run as root, in a kernel that is not locked down",
        shown(path)
    )]
    NotPermitted {
        /// Where.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel has no such event.
    #[error("{}: this kernel has no such event; it needs CONFIG_BLK_DEV_IO_TRACE", shown(path))]
    NoEvent {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Somebody uses the name.
    #[error(
        "{}: there is such an instance already; end the run that uses it, or remove it \
         with rmdir, where tracefs is mounted",
        shown(path)
    )]
    Exists { path: PathBuf },
    /// The name is none.
    #[error("{name:?} is no name of a trace instance; begin it with \"fsarena-\", without \"/\"")]
    Name { name: String },
    /// The device is not there.
    #[error("{}: no such file; is {device} a block device of this machine?", shown(path))]
    NoDevice {
        device: BlockDevice,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It does not go together.
    #[error("{device}: {problem}; trace the whole device")]
    Device {
        device: BlockDevice,
        /// What.
        problem: &'static str,
    },
    /// A file of the kernel is not as this program knows it.
    #[error("{}: {problem}; this kernel has a form that fsarena does not know", shown(path))]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Another call failed.
    #[error("{call} {}: {source}", shown(path))]
    Io {
        /// What was tried.
        call: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The thread that reads the trace could not be started, or panicked.
    #[error("the thread that reads the trace: {0}")]
    Thread(String),
}

/// A path below a mount at no place has the number of a descriptor in it, which tells nobody
/// anything: what comes after it does.
pub(crate) fn shown(path: &Path) -> String {
    let inside = path.strip_prefix(DESCRIPTORS).ok().map(|path| path.iter().skip(1).collect());
    match inside {
        Some::<PathBuf>(path) => Path::new("tracefs").join(path).display().to_string(),
        None => path.display().to_string(),
    }
}

impl TraceError {
    /// An error of `call`, which was to mount tracefs: fsopen(2), fsconfig(2), fsmount(2).
    pub(crate) fn mount(call: &'static str, error: Errno) -> Self {
        match error {
            Errno::NODEV => Self::NoTracefs,
            Errno::PERM | Errno::ACCESS => Self::MountRefused { call, source: error.into() },
            _ => Self::Mount { call, source: error.into() },
        }
    }

    /// An error of a call on a file of tracefs.
    pub(crate) fn io(call: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted { path, source },
            _ => Self::Io { call, path, source },
        }
    }

    pub(crate) fn malformed(path: &Path, problem: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), problem: problem.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_way_of_a_mount_is_told_apart() {
        let said = |error| TraceError::mount("fsopen", error).to_string();
        assert!(said(Errno::NODEV).contains("CONFIG_BLK_DEV_IO_TRACE"), "{}", said(Errno::NODEV));
        let refused = said(Errno::PERM);
        assert!(refused.contains("fsopen: Operation not permitted"), "{refused}");
        assert!(refused.ends_with("run as root, with CAP_SYS_ADMIN"), "{refused}");
        // Before Linux 5.2.
        let old = said(Errno::NOSYS);
        assert!(old.ends_with("mount -t tracefs none /sys/kernel/tracing"), "{old}");
    }

    #[test]
    fn no_number_of_a_descriptor_is_shown() {
        let at_no_place = Path::new("/proc/self/fd/17/instances/fsarena-1/per_cpu");
        assert_eq!(shown(at_no_place), "tracefs/instances/fsarena-1/per_cpu");
        let mounted = "/sys/kernel/tracing/instances";
        assert_eq!(shown(Path::new(mounted)), mounted);
    }
}
