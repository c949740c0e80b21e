//! Where the contents of all files below a directory lie: a walk with FIEMAP.
//!
//! Nothing is written: files and directories are opened with `O_NOATIME`, and dirty pages stay
//! where they are, so that contents without a place have none here. Links are not followed, and
//! what is mounted below is left out. Reading the directories and inodes may read the device.

use crate::TargetError;
use crate::fiemap::{
    FIEMAP_EXTENT_DATA_INLINE, FIEMAP_EXTENT_ENCODED, FIEMAP_EXTENT_NOT_ALIGNED,
    FIEMAP_EXTENT_UNKNOWN, each,
};
use fsarena_model::account::{FileExtent, Map};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Statx, StatxFlags, openat, statx};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Extents that are kept, 32 bytes each; files beyond have no place.
const EXTENTS_MAX: usize = 8 << 20;
/// Directories below one another.
const DEPTH_MAX: usize = 256;

/// What has no place of its own.
const NO_PLACE: u32 = FIEMAP_EXTENT_UNKNOWN
    | FIEMAP_EXTENT_ENCODED
    | FIEMAP_EXTENT_NOT_ALIGNED
    | FIEMAP_EXTENT_DATA_INLINE;

/// Looks at every regular file below `root`. A file that vanishes meanwhile is left out.
///
/// # Errors
/// When a directory or a file cannot be opened or asked; `EPERM` for files of others without
/// `CAP_FOWNER`.
pub fn map_of_files(root: &Path) -> Result<Map, TargetError> {
    let map = map_of_files_while(root, &mut || true)?;
    Ok(map.expect("it was not given up"))
}

/// As [`map_of_files`]. `go_on` is asked before each file; where it says no, the walk is given up
/// and there is no map.
///
/// # Errors
/// As [`map_of_files`].
pub fn map_of_files_while(
    root: &Path,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Option<Map>, TargetError> {
    let now = clock_gettime(ClockId::Monotonic);
    let nanos = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
    let monotonic_ns = u64::try_from(nanos).unwrap_or_default();
    let error = |source: io::Error| TargetError::io("map files below", root, source);
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOATIME | OFlags::CLOEXEC;
    let top = rustix::fs::open(root, flags, Mode::empty()).map_err(|errno| error(errno.into()))?;
    let mount_id = stat(&top).map_err(error)?.stx_mnt_id;
    let map = Map { monotonic_ns, ..Map::default() };
    let (linked, extents_max) = (BTreeSet::new(), EXTENTS_MAX);
    let mut walk = Walk { map, mount_id, linked, extents_max, go_on, is_given_up: false };
    walk.directory(top, 0).map_err(error)?;
    Ok((!walk.is_given_up).then_some(walk.map))
}

struct Walk<'a> {
    map: Map,
    /// Mount that is walked; what is mounted on it has another.
    mount_id: u64,
    /// Files of several names that were looked at, by device and inode.
    linked: BTreeSet<(u32, u32, u64)>,
    extents_max: usize,
    go_on: &'a mut dyn FnMut() -> bool,
    is_given_up: bool,
}

impl Walk<'_> {
    fn directory(&mut self, dir: OwnedFd, depth: usize) -> io::Result<()> {
        if depth > DEPTH_MAX {
            return Err(io::Error::other(format!("more than {DEPTH_MAX} directories deep")));
        }
        let mut below: Vec<CString> = Vec::new();
        for entry in Dir::read_from(&dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.is_given_up = self.is_given_up || !(self.go_on)();
            if self.is_given_up {
                return Ok(());
            }
            match entry.file_type() {
                FileType::Directory => below.push(name.to_owned()),
                FileType::RegularFile => self.open_file(&dir, name)?,
                FileType::Unknown => match kind_of(&dir, name)? {
                    Some(FileType::Directory) => below.push(name.to_owned()),
                    Some(FileType::RegularFile) => self.open_file(&dir, name)?,
                    _ => {}
                },
                _ => {}
            }
        }
        for name in below {
            let Some(inner) = opened(&dir, &name, OFlags::DIRECTORY)? else { continue };
            if stat(&inner)?.stx_mnt_id == self.mount_id {
                self.directory(inner, depth + 1)?;
            }
        }
        Ok(())
    }

    fn open_file(&mut self, dir: &OwnedFd, name: &CStr) -> io::Result<()> {
        // Not to wait, should it have become a FIFO.
        match opened(dir, name, OFlags::NONBLOCK | OFlags::NOCTTY)? {
            Some(file) => self.file(&file),
            None => Ok(()),
        }
    }

    fn file(&mut self, file: &OwnedFd) -> io::Result<()> {
        let stat = stat(file)?;
        if stat.stx_mnt_id != self.mount_id
            || FileType::from_raw_mode(stat.stx_mode.into()) != FileType::RegularFile
        {
            return Ok(());
        }
        let identity = (stat.stx_dev_major, stat.stx_dev_minor, stat.stx_ino);
        if stat.stx_nlink > 1 && !self.linked.insert(identity) {
            return Ok(());
        }
        let map = &mut self.map;
        map.files += 1;
        map.contents_bytes = map.contents_bytes.saturating_add(stat.stx_size);
        let allocated_bytes = stat.stx_blocks.saturating_mul(512);
        map.allocated_bytes = map.allocated_bytes.saturating_add(allocated_bytes);
        if stat.stx_size == 0 && stat.stx_blocks == 0 {
            return Ok(());
        }
        let (mut inline, mut hidden) = (false, false);
        let is_told = each(file, 0, &mut |extent| {
            if extent.flags & NO_PLACE != 0 {
                let is_inline = extent.flags & FIEMAP_EXTENT_DATA_INLINE != 0;
                (inline, hidden) = (inline | is_inline, hidden | !is_inline);
            } else if map.extents.len() >= self.extents_max {
                hidden = true;
            } else if extent.length_bytes > 0 {
                map.extents.push(FileExtent {
                    start_bytes: extent.physical_bytes,
                    length_bytes: extent.length_bytes,
                    logical_bytes: extent.logical_bytes,
                    size_bytes: stat.stx_size,
                });
            }
        })?;
        let hidden = hidden || !is_told;
        map.unplaced_files += u64::from(inline || hidden);
        map.inline_files += u64::from(inline && !hidden);
        Ok(())
    }
}

/// Opens an entry for reading; none where it is gone, or has become a link.
fn opened(dir: &OwnedFd, name: &CStr, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    let always = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NOATIME | OFlags::CLOEXEC;
    match openat(dir, name, always | flags, Mode::empty()) {
        Ok(file) => Ok(Some(file)),
        Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn stat(file: impl AsFd) -> io::Result<Statx> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    Ok(statx(file, c"", AtFlags::EMPTY_PATH, wanted)?)
}

/// The type of an entry whose directory does not tell it.
fn kind_of(dir: &OwnedFd, name: &CStr) -> io::Result<Option<FileType>> {
    match statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.stx_mode.into()))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn files_are_found_once_and_links_are_not_followed() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        let (at, outside) = (root.path().join("tree"), root.path().join("outside"));
        fs::create_dir_all(at.join("a/b")).unwrap();
        fs::write(&outside, [1; 9]).unwrap();
        fs::write(at.join("one"), [1; 5000]).unwrap();
        fs::write(at.join("a/b/two"), [2; 100_000]).unwrap();
        fs::write(at.join("empty"), []).unwrap();
        fs::hard_link(at.join("one"), at.join("a/again")).unwrap();
        std::os::unix::fs::symlink(&outside, at.join("link")).unwrap();
        std::os::unix::fs::symlink(&at, at.join("a/loop")).unwrap();
        rustix::fs::sync();
        let map = map_of_files(&at).unwrap();
        assert_eq!((map.files, map.contents_bytes), (3, 105_000));
        let blocks = |name| fs::metadata(at.join(name)).unwrap().blocks() * 512;
        assert_eq!(map.allocated_bytes, blocks("one") + blocks("a/b/two"));
        if map.unplaced_files > 0 {
            return println!("not run: /var/tmp does not tell the place of files");
        }
        let placed: u64 = map.extents.iter().map(|extent| extent.length_bytes).sum();
        assert!((105_000..=105_000 + 2 * 65536).contains(&placed), "{placed}");
        let mut left = 3;
        let mut some = || {
            left -= 1;
            left > 0
        };
        assert_eq!(map_of_files_while(&at, &mut some).unwrap(), None, "given up");
        assert!(map.monotonic_ns > 0 && map_of_files(&at).unwrap().monotonic_ns > map.monotonic_ns);
    }

    #[test]
    fn what_has_no_place_is_counted() {
        // tmpfs has no FIEMAP.
        let Ok(root) = tempfile::tempdir_in("/dev/shm") else {
            return println!("not run: no /dev/shm");
        };
        fs::write(root.path().join("file"), [1; 5000]).unwrap();
        let map = map_of_files(root.path()).unwrap();
        assert_eq!((map.files, map.unplaced_files, map.inline_files), (1, 1, 0));
        assert_eq!(map.extents, []);
        let error = map_of_files(&root.path().join("none")).unwrap_err().to_string();
        assert!(error.starts_with("map files below /dev/shm/"), "{error}");
    }

    #[test]
    fn memory_and_depth_are_bounded() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        fs::write(root.path().join("file"), [1; 5000]).unwrap();
        rustix::fs::sync();
        let top = OwnedFd::from(fs::File::open(root.path()).unwrap());
        let mount_id = stat(&top).unwrap().stx_mnt_id;
        let (map, linked) = (Map::default(), BTreeSet::new());
        let go_on = &mut || true;
        let mut walk = Walk { map, mount_id, linked, extents_max: 0, go_on, is_given_up: false };
        walk.directory(top.try_clone().unwrap(), 0).unwrap();
        assert_eq!((walk.map.unplaced_files, walk.map.extents.len()), (1, 0));
        let error = walk.directory(top, DEPTH_MAX + 1).unwrap_err().to_string();
        assert!(error.contains("256 directories deep"), "{error}");
    }
}
