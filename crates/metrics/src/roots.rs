//! Where the kernel's files are, and what is watched beyond the whole machine.

use std::path::PathBuf;

/// Where the kernel's files are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roots {
    /// procfs, `/proc`.
    pub proc: PathBuf,
    /// sysfs, `/sys`.
    pub sys: PathBuf,
    /// Directory of `os-release`, `/etc`.
    pub etc: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), etc: "/etc".into() }
    }
}

/// What to watch beyond the whole machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Watch {
    /// Kernel name of a block device, such as `loop0`; without it `device.*` is missing.
    pub device: Option<String>,
    /// Directory of a memory cgroup (v1 or v2); without it `cgroup.*` is missing.
    pub memory_cgroup: Option<PathBuf>,
    /// A process; without it, and after its end, `worker.*` is missing.
    pub worker_pid: Option<u32>,
}
