//! A file that takes the space of a file system, for tests of what happens where it is full.

use rustix::fs::{FallocateFlags, fallocate, syncfs};
use std::fs::File;
use std::io;
use std::path::Path;

/// Takes all space of the file system at `root` by a file called `ballast`, and gives `left_bytes`
/// back.
///
/// # Errors
/// When the file cannot be made or synced.
pub fn fill(root: &Path, left_bytes: u64) -> io::Result<()> {
    let ballast = File::create(root.join("ballast"))?;
    let (mut taken, mut next) = (0, 1 << 30);
    while next >= 4096 {
        match fallocate(&ballast, FallocateFlags::empty(), taken, next) {
            Ok(()) => taken += next,
            Err(_) => next /= 2,
        }
    }
    ballast.set_len(taken.saturating_sub(left_bytes))?;
    Ok(syncfs(&ballast)?)
}
