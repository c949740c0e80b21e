//! Code that stays in memory: a process that is started again and again is not read from the disk
//! each time, although the caches of the machine were emptied in between.
//!
//! What is in memory because a process has it mapped is not dropped with the page cache. So one
//! long-lived process maps and locks the files of its own code, and each child of the same program
//! starts at once. Nothing of a file system under test is kept: only executables and libraries.

use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::mm::{MapFlags, ProtFlags, mlock, mmap, munmap};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::io;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// A file whose pages stay in memory until this value is dropped.
#[derive(Debug)]
pub struct ResidentFile {
    start: *mut c_void,
    len: usize,
}

// SAFETY: the mapping is this value's own and tied to no thread; it is never read or written here.
unsafe impl Send for ResidentFile {}

impl ResidentFile {
    /// Reads the file at `path` into memory and keeps it there.
    ///
    /// # Errors
    /// When it cannot be opened, is empty, or may not be locked (`RLIMIT_MEMLOCK`, without root).
    pub fn keep(path: &Path) -> io::Result<Self> {
        let file = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let len = usize::try_from(fstat(&file)?.st_size).unwrap_or(0);
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing; it is
        // never accessed through this address, so that a file that shrinks does no harm.
        let start = unsafe { mmap(null_mut(), len, ProtFlags::READ, MapFlags::SHARED, &file, 0) }?;
        let resident = Self { start, len };
        // SAFETY: locks the mapping that was just made.
        unsafe { mlock(start, len) }?;
        Ok(resident)
    }

    /// Bytes that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len
    }
}

impl Drop for ResidentFile {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and no pointer into it was ever given away.
        let _ = unsafe { munmap(self.start, self.len) };
    }
}

/// Keeps the code of this process in memory: its executable and its libraries. What cannot be kept
/// (without root few bytes may be locked) is left out: starts only take longer then.
#[must_use]
pub fn keep_own_code() -> Vec<ResidentFile> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    code_files(&maps).iter().filter_map(|path| ResidentFile::keep(path).ok()).collect()
}

/// Files of which executable pages are mapped, by `/proc/PID/maps`.
fn code_files(maps: &str) -> BTreeSet<PathBuf> {
    let file = |line: &str| {
        let mut words = line.splitn(6, ' ');
        let is_code = words.nth(1)?.contains('x');
        let path = words.last()?.trim_start();
        (is_code && path.starts_with('/')).then(|| PathBuf::from(path))
    };
    maps.lines().filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_what_is_mapped_executable() {
        let maps = "\
            5581f0c00000-5581f0c2c000 r--p 00000000 fd:01 1 /opt/a b/fsarena\n\
            5581f0c2c000-5581f0d00000 r-xp 0002c000 fd:01 1                          /opt/a b/fsarena\n\
            7f0000000000-7f0000100000 r-xp 00000000 fd:01 2                          /lib/libc.so.6\n\
            7f0000200000-7f0000300000 r--p 00000000 fd:01 3                          /etc/ld.so.cache\n\
            7fff00000000-7fff00001000 r-xp 00000000 00:00 0                          [vdso]\n";
        let files: Vec<PathBuf> = code_files(maps).into_iter().collect();
        assert_eq!(files, [PathBuf::from("/lib/libc.so.6"), PathBuf::from("/opt/a b/fsarena")]);
    }

    #[test]
    fn a_small_file_is_kept_and_a_missing_one_is_an_error() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &[1; 8192]).unwrap();
        assert_eq!(ResidentFile::keep(file.path()).unwrap().bytes(), 8192);
        assert!(ResidentFile::keep(Path::new("/nonexistent")).is_err());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own = std::env::current_exe().unwrap();
        assert!(code_files(&maps).contains(&own), "{maps}");
    }
}
