//! Who answers the requests of a modelled disk: a process of the host.
//!
//! A [`Disk`] is a device with its contents. For a guest [`serve`] carries the messages of its
//! block driver `vdisk` to it (`kernel/PROTOCOL.md` is the description); times come with them,
//! there is no clock. For the kernel of this machine [`fuse`] does that, in real time.
#![forbid(unsafe_code)]

mod constant;
mod crash_states;
mod crash_view;
pub mod fuse;
mod message;
mod modelled;
mod partition;
mod server;

pub use constant::ConstantDisk;
pub use crash_states::disk_of_states;
pub use crash_view::{CrashViewDisk, Views};
pub use message::{Description, Features, Op, Request, Status, VERSION as DISK_PROTOCOL};
pub use modelled::{DiskOrder, DiskOrderError, ModelledDisk};
pub use partition::{PartitionError, PartitionTable};
pub use server::{Disk, DiskError, ServeError, serve};
