//! Where the memory of a guest lies: an unlinked file, in memory where there is room for it.

use rustix::fs::{StatVfsMountFlags, statvfs};
use std::path::{Path, PathBuf};

/// Kept free where a guest's memory lies, besides that.
const RESERVE_BYTES: u64 = 64 << 20;

/// The first of these directories that has room, may be written to, and whose files may be executed
/// (the kernel maps its memory so); else the last.
#[must_use]
pub fn dir_for(memory_bytes: u64, own: &Path) -> PathBuf {
    let candidates = [Path::new("/dev/shm"), Path::new("/tmp")];
    let fits = |dir: &&Path| has_room(dir, memory_bytes);
    candidates.iter().copied().find(fits).unwrap_or(own).to_owned()
}

fn has_room(dir: &Path, memory_bytes: u64) -> bool {
    let Ok(stat) = statvfs(dir) else { return false };
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let usable = !stat.f_flag.intersects(StatVfsMountFlags::NOEXEC | StatVfsMountFlags::RDONLY);
    usable
        && free >= memory_bytes.saturating_add(RESERVE_BYTES)
        && tempfile::tempfile_in(dir).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_room_it_is_the_guests_own_directory() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(dir_for(u64::MAX, dir.path()), dir.path());
        assert!(!has_room(Path::new("/nonexistent"), 0) && !has_room(Path::new("/proc"), 0));
    }
}
