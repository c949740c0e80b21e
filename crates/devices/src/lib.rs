//! Everything that can destroy data: images, loop devices, mkfs, mounts, caches, and the removal
//! of what a dead run left.
//!
//! A path becomes a target only through [`vet`]; [`claim`] makes or takes the device and holds it;
//! [`ssd`] and [`queue`] bring it into a stated state; [`format`](mod@format) and [`mount`] make
//! and mount a file system in typed states that undo themselves in reverse order. Whatever is made
//! here has `fsarena` in its name or is recognised by what the kernel numbers once, and nothing
//! else is ever removed. A block device of the user's is written only as [`inventory`] has found it
//! to be the one that was given up. This crate never measures and never prints.
#![expect(unsafe_code, reason = "ioctls of block devices")]

pub mod cache;
pub mod claim;
mod device_lock;
mod error;
mod fiemap;
pub mod format;
pub mod image;
pub mod inventory;
pub mod leftovers;
pub mod loopdev;
pub mod map;
pub mod mount;
pub mod mountinfo;
pub mod queue;
mod reopen;
pub mod settle;
pub mod ssd;
pub mod sysctl;
pub mod vet;

pub use error::{Refusal, TargetError};
