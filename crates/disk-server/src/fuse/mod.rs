//! A disk in real time: a FUSE file, to be put under a loop device.
//!
//! What is sent to the disk goes through one thread, in the order in which the kernel sent it. It
//! waits until the time of the model has come, the last part of it awake.

mod lateness;
mod serve;
mod wire;

pub use lateness::Lateness;
pub use serve::{Served, contents_changed, serve};
pub use wire::{Asked, ServedFile, TRANSFER_MAX_BYTES, What, decoded};
