//! Checks of directories and their file systems, one file each.

pub(crate) mod atime;
pub(crate) mod barriers;
pub(crate) mod compression;
pub(crate) mod free_space;
pub(crate) mod lazy_init;
pub(crate) mod memory;
pub(crate) mod mount_discard;
pub(crate) mod remote;
pub(crate) mod synchronous;
