//! What a plan has to know of this machine: its kernel, its devices, and what fits on them.
//!
//! What drivers say by themselves (their names, what they are on) is asked of them directly.

use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{DeviceLevel, FsLevel};
use std::path::Path;

/// What the file systems and this machine's devices accept: known outside this crate.
pub trait Rules {
    /// Whether these options are legal together, on a device of this size.
    ///
    /// # Errors
    /// The rule that is broken and what to do, in one line.
    fn check(&self, fs: &FsLevel, device_bytes: Option<u64>) -> Result<(), String>;
    /// Size of the block device at this path; absent where it is none, and so a directory.
    ///
    /// # Errors
    /// Why it cannot be asked and what to do, in one line.
    fn block_device_bytes(&self, path: &Path) -> Option<Result<u64, String>>;
    /// Logical sector of a device, where it is known: what calls without the page cache have to be
    /// multiples of.
    fn logical_sector_bytes(&self, device: &DeviceLevel) -> Option<u64>;
    /// Room that is left in a directory that is a target, bytes; absent where it is not known.
    fn free_bytes(&self, _directory: &Path) -> Option<u64> {
        None
    }
    /// Room on a file system of these options on a device of this size, and how it is handed out;
    /// absent where it is not known: then a rule of thumb holds.
    fn capacity(&self, _fs: &FsLevel, _device_bytes: u64) -> Option<Capacity> {
        None
    }
}
