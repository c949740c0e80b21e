//! Block devices: what is there, what each is known by, who uses it, and what is on it.
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
mod exclusive;
mod identity;
mod ioctl;
mod listing;
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
pub use listing::{BlockDevice, DeviceKind, Inventory};
pub use mounts::{Roots, SMALLEST_BYTES};
pub use survey::{SurveyRow, Verdict, survey};
pub use usage::Usage;

pub(crate) use exclusive::{Exclusive, agrees, open_exclusive, recheck_for, unused};
pub(crate) use identity::{Node, identity_of, listed, node, unread};
pub(crate) use mounts::block_number;
pub(crate) use openers::{Allowed, BUSY_LIMIT, BUSY_PAUSE, ancestors, not_open, openers};
pub(crate) use parts::forget_parts;
pub(crate) use signature::with_parts;
