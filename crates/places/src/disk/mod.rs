//! The host's side of a guest's disk: the messages of the block driver `vdisk`, and who answers
//! them.
//!
//! `kernel/PROTOCOL.md` is the description. A [`Disk`] is a device with its contents; [`serve`]
//! carries messages to it. Times come with the messages: there is no clock here.

mod constant;
mod crash_states;
mod crash_view;
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
