//! Block devices: what is there, what each is known by, who uses it, and what lies on it.
//!
//! Everything here looks and changes nothing. The roots are parameters, so that trees made by a
//! test can be read. What cannot be read or is not understood is an error, and never an answer:
//! [`crate::vet`] takes every error for a refusal.
//!
//! Five witnesses are asked whether a device is in use, since each of them is blind somewhere:
//! mountinfo of every process (blind to file systems that are mounted in no process's view), the
//! kernel's lists of mounted file systems in `/sys/fs` (not every file system has one), holders in
//! sysfs (dm, md, bcache), the loop devices above it (a loop device claims nothing below), and an
//! exclusive open, which the kernel refuses while a file system, swap, md, dm or another program
//! holds the device, or a part of it, or the disk it is a part of.

mod attribute;
mod below;
mod exclusive;
mod identity;
mod inventory;
mod ioctl;
mod loops;
mod magic;
mod mounts;
mod openers;
mod parts;
mod signature;
mod survey;
mod usage;

pub use exclusive::{recheck, same};
pub use identity::{check_path, identify};
pub use inventory::{BlockDevice, DeviceKind, Inventory};
pub use survey::{SurveyRow, Verdict, survey};
pub use usage::Usage;

pub(crate) use exclusive::{
    BUSY_LIMIT, BUSY_PAUSE, Exclusive, agrees, open_exclusive, recheck_for, unused,
};
pub(crate) use identity::{Node, listed, node, of, unread};
pub(crate) use mounts::block_number;
pub(crate) use openers::{Allowed, ancestors, not_open, openers};
pub(crate) use parts::forget_parts;
pub(crate) use signature::with_parts;

use attribute::Unread;

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
fn number_text(number: (u32, u32)) -> String {
    format!("{}:{}", number.0, number.1)
}

/// The number behind `8:16`.
fn number_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
