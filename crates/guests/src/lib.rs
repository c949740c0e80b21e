//! Guest kernels: a trial is carried out there in virtual time, by a kernel that is a process.
//!
//! [`kernel`] finds, builds, keeps and checks guest kernels. [`guest`] boots one, with a program as
//! its init, bytes in and bytes out. A guest asks a process of the host that is its disk
//! (`fsarena_disk_server`). [`program_tree`] fetches programs of another width. What is done in a
//! guest, and what is measured there, is the caller's matter.
#![forbid(unsafe_code)]

pub mod guest;
pub mod kernel;
mod owned_dir;
#[doc(hidden)]
pub mod parsers;
pub mod program_tree;
pub mod virtual_trial;

#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;

pub use owned_dir::{KEEPING_PREFIX, OWNED_PREFIXES, OwnedDir, remove_abandoned};
