//! Where the kernel and udev are asked, and numbers of devices as they write them.

use std::path::PathBuf;

/// A device below this is no target, bytes: no file system here works on less.
pub const SMALLEST_BYTES: u64 = 16 << 20;

/// Where the kernel and udev are asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Roots {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
    /// `/run`, for the database of udev.
    pub run: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self { proc: "/proc".into(), sys: "/sys".into(), dev: "/dev".into(), run: "/run".into() }
    }
}

/// `8:16`, as sysfs and mountinfo have it.
pub(super) fn number_text(number: (u32, u32)) -> String {
    format!("{}:{}", number.0, number.1)
}

/// The number behind `8:16`.
pub(super) fn number_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
