//! Everything that can destroy data: images, loop devices, mkfs, mounts, caches, and the removal
//! of what a dead run left.
//!
//! A path becomes a target only through [`vet`]; [`claim`] makes the image and attaches the loop
//! device; [`mount`] formats and mounts it in typed states that undo themselves in reverse order.
//! Whatever is made here has `fsarena` in its name, and nothing without it is ever removed. This
//! crate never touches a real block device, never measures and never prints.

pub mod cache;
pub mod claim;
pub mod cmd;
mod error;
mod fiemap;
pub mod fs;
pub mod image;
pub mod leftovers;
pub mod loopdev;
pub mod mount;
pub mod mountinfo;
pub mod namespace;
pub mod settle;
pub mod vet;

pub use error::{Refusal, TargetError};
