//! The pages of this program's own files (code, constants, libraries) in memory before the clock
//! runs.
//!
//! Where caches were dropped for a cold phase, the pages of this program went too, but for those
//! that a process had in use. The first call of a function that lies on one of them would read it
//! from the disk within the phase: a major fault, of work that is not the file system's. So all
//! pages of mapped files are brought and kept: locked where that is allowed, else read. Memory of
//! no file is brought by who makes it, and needs no disk.

use rustix::io::Errno;
use rustix::mm::{Advice, madvise, mlock};
use std::ffi::c_void;
use std::ops::Range;

/// Smallest page there is.
const PAGE_BYTES: usize = 4096;

/// What was brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Held {
    /// Bytes of mapped files.
    pub bytes: u64,
    /// Of these, locked: they stay, whatever memory is needed for.
    pub locked_bytes: u64,
}

/// Brings all pages of files that are mapped into this process, and locks them where it may.
#[must_use]
pub fn hold_mapped_files() -> Held {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut held = Held::default();
    for range in mapped_files(&maps) {
        let bytes = range.len() as u64;
        held.bytes += bytes;
        if hold(&range).is_ok() {
            held.locked_bytes += bytes;
        }
    }
    held
}

/// Locks the pages of a readable mapping; where that is refused, they are only read.
fn hold(range: &Range<usize>) -> Result<(), Errno> {
    let start = std::ptr::with_exposed_provenance_mut::<c_void>(range.start);
    // SAFETY: the kernel has just listed the range as a mapping of this process, no thread unmaps
    // files, and mlock changes no byte of it.
    let locked = unsafe { mlock(start, range.len()) };
    let Err(errno) = locked else { return Ok(()) };
    // SAFETY: as above; this advice brings pages as reading would, and changes none.
    let brought = unsafe { madvise(start, range.len(), Advice::LinuxPopulateRead) };
    if brought.is_err() {
        // Before Linux 5.14.
        for at in range.clone().step_by(PAGE_BYTES) {
            let byte = std::ptr::with_exposed_provenance::<u8>(at);
            // SAFETY: a readable page of a mapped file of this process, see above; volatile, since
            // the value is of no use.
            unsafe { byte.read_volatile() };
        }
    }
    Err(errno)
}

/// The readable mappings of files in a text of `/proc/PID/maps`.
fn mapped_files(maps: &str) -> impl Iterator<Item = Range<usize>> {
    maps.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let (range, access) = (words.next()?, words.next()?);
        // offset, device, inode, path
        let path = words.nth(3)?;
        if !access.starts_with('r') || !path.starts_with('/') {
            return None;
        }
        let (from, to) = range.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        Some(address(from)?..address(to)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_of_files_are_told_from_others() {
        let maps = "55c0-55c8 r--p 00000000 fe:00 31  /usr/bin/fsarena\n\
            55c8-55d0 r-xp 00008000 fe:00 31   /usr/bin/fsarena\n\
            55d0-55d1 ---p 00008000 fe:00 31   /usr/lib/libc.so\n\
            7f00-7f01 rw-p 00000000 00:00 0 \n\
            7ffe-7fff rw-p 00000000 00:00 0    [stack]\n";
        let found: Vec<_> = mapped_files(maps).collect();
        assert_eq!(found, [0x55c0..0x55c8, 0x55c8..0x55d0]);
    }

    /// Of every mapping of the program itself, by what the kernel says.
    #[test]
    fn every_page_of_the_program_is_there() {
        let held = hold_mapped_files();
        assert!(held.bytes > 100_000, "{held:?}");
        let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let own = std::env::current_exe().unwrap();
        let (mut is_own, mut size_kib, mut seen) = (false, 0, 0);
        for line in smaps.lines() {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            match words[..] {
                [_, access, _, _, _, path] => {
                    is_own = path == own.to_str().unwrap() && access.starts_with('r');
                }
                ["Size:", kib, _] => size_kib = kib.parse::<u64>().unwrap(),
                ["Rss:", kib, _] if is_own => {
                    assert_eq!(kib.parse::<u64>().unwrap(), size_kib, "{line}");
                    seen += 1;
                }
                _ => {}
            }
        }
        assert!(seen >= 2, "{smaps}");
    }
}
