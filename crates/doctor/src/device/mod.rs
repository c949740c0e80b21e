//! Checks of block devices, one file each.

pub(crate) mod alignment;
pub(crate) mod counting;
pub(crate) mod discard;
pub(crate) mod in_use;
pub(crate) mod loop_direct_io;
pub(crate) mod md_sync;
pub(crate) mod memory;
pub(crate) mod read_ahead;
pub(crate) mod rotational;
pub(crate) mod scheduler;
pub(crate) mod sector_size;
pub(crate) mod swap;
pub(crate) mod traffic;
pub(crate) mod virtual_disk;
pub(crate) mod wear;
pub(crate) mod write_cache;
