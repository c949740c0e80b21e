//! Images: files of ours that stand for a disk.
//!
//! An image is fully written with bytes that are not zero and do not repeat, so that no block of
//! it is a hole, compresses away or is shared, and every mkfs gets the same sectors. It is never
//! preallocated: a preallocated block has to be converted at its first write.

use crate::TargetError;
use crate::leftovers::ours;
use crate::own_fill::{BLOCK_BYTES, CHUNK_BYTES, sequence, splitmix};
use rustix::fs::{Advice, Mode, OFlags, fadvise, fcntl_getfl, fcntl_setfl, open};
use std::fs::File;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// An image of ours; removed when dropped, unless kept.
#[derive(Debug)]
pub struct Image {
    path: PathBuf,
    file: File,
    keep: bool,
}

impl Image {
    /// Creates and fully writes an image; `progress` hears the bytes written so far and may end it.
    ///
    /// # Errors
    /// When the name is not ours, the file is there already, the space ends, or `progress` says so;
    /// nothing is left.
    pub fn create(
        path: &Path,
        size_bytes: u64,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<Self, TargetError> {
        ours(path)?;
        if size_bytes == 0 || !size_bytes.is_multiple_of(BLOCK_BYTES as u64) {
            return Err(TargetError::state(
                path,
                format!("{size_bytes} bytes is not a whole number of blocks of {BLOCK_BYTES}"),
                "give the size in whole MiB",
            ));
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| TargetError::io("create", path, error))?;
        // From here on the image is removed when something fails.
        let image = Self { path: path.to_owned(), file: File::from(file), keep: false };
        image.fill(size_bytes, progress)?;
        Ok(image)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Leaves the image in place when this is dropped.
    pub fn keep(&mut self) {
        self.keep = true;
    }

    /// Removes the image, unless it is kept.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(mut self) -> Result<(), TargetError> {
        self.remove_now()
    }

    fn remove_now(&mut self) -> Result<(), TargetError> {
        if self.keep {
            return Ok(());
        }
        self.keep = true;
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(TargetError::io("remove", &self.path, error))
            }
            _ => Ok(()),
        }
    }

    fn fill(
        &self,
        size_bytes: u64,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), TargetError> {
        let io = |call, error: std::io::Error| TargetError::io(call, &self.path, error);
        // By its descriptor alone: its name may be another file's by now.
        let mut out = &self.file;
        let _ = set_direct(out, true);
        let mut buffer = Aligned::filled();
        let mut done = 0;
        while done < size_bytes {
            let length = usize::try_from(size_bytes - done).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
            let chunk = buffer.stamped(done, length);
            match out.write_all(chunk) {
                // Opened, but not written to, without the cache: go on with it.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) && is_direct(out) => {
                    set_direct(out, false).map_err(|error| io("fcntl", error))?;
                    std::io::Seek::seek(&mut out, std::io::SeekFrom::Start(done))
                        .map_err(|error| io("seek", error))?;
                    continue;
                }
                result => result.map_err(|error| io("write", error))?,
            }
            done += length as u64;
            if progress(done).is_break() {
                return Err(TargetError::Stopped { path: self.path.clone() });
            }
        }
        if is_direct(out) {
            set_direct(out, false).map_err(|error| io("fcntl", error))?;
        }
        self.file.sync_all().map_err(|error| io("fsync", error))?;
        let _ = fadvise(&self.file, 0, None, Advice::DontNeed);
        Ok(())
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = self.remove_now();
    }
}

/// Switches `O_DIRECT`; an error where the file system has none.
pub(crate) fn set_direct(file: &File, on: bool) -> std::io::Result<()> {
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, on);
    Ok(fcntl_setfl(file, flags)?)
}

fn is_direct(file: &File) -> bool {
    fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT))
}

/// Bytes that an image really takes where it lies.
///
/// # Errors
/// When it cannot be looked at.
pub fn allocated_bytes(image: &Path) -> Result<u64, TargetError> {
    let meta = std::fs::metadata(image).map_err(|error| TargetError::io("stat", image, error))?;
    Ok(meta.blocks().saturating_mul(512))
}

/// Writes zeros over the places where signatures of file systems lie: the first and last MiB, and
/// the second superblock of btrfs.
pub(crate) fn wipe_signatures(device: &File, size_bytes: u64) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    const MIB: u64 = 1 << 20;
    let zeros = vec![0_u8; 1 << 20];
    for start in [0, 64 * MIB, size_bytes.saturating_sub(MIB)] {
        let length = size_bytes.saturating_sub(start).min(MIB);
        let length = usize::try_from(length).unwrap_or(zeros.len());
        device.write_all_at(&zeros[..length], start)?;
    }
    device.sync_all()
}

/// A buffer that direct I/O takes.
pub(crate) struct Aligned {
    bytes: Vec<u8>,
    start: usize,
}

impl Aligned {
    /// Filled with our own sequence, no byte zero.
    pub(crate) fn filled() -> Self {
        let bytes = sequence();
        let start = bytes.as_ptr().align_offset(BLOCK_BYTES);
        Self { bytes, start }
    }

    /// The first `length` bytes, each block marked with its place in the image.
    fn stamped(&mut self, offset: u64, length: usize) -> &[u8] {
        let slice = &mut self.bytes[self.start..self.start + length];
        for (index, block) in slice.chunks_mut(BLOCK_BYTES).enumerate() {
            let place = offset + (index * BLOCK_BYTES) as u64;
            block[..8].copy_from_slice(&(place | 1).to_le_bytes());
        }
        slice
    }

    /// `length` bytes from a place that depends on `salt`, each block marked with a number of its
    /// own: no two blocks that are written with different salts are the same.
    pub(crate) fn varied(&mut self, salt: u64, length: usize) -> &[u8] {
        let mut state = salt;
        let choices = (CHUNK_BYTES - length) / BLOCK_BYTES + 1;
        let choice = usize::try_from(splitmix(&mut state) % choices as u64).unwrap_or(0);
        let start = self.start + choice * BLOCK_BYTES;
        let slice = &mut self.bytes[start..start + length];
        for block in slice.chunks_mut(BLOCK_BYTES) {
            block[..8].copy_from_slice(&(splitmix(&mut state) | 1).to_le_bytes());
        }
        slice
    }
}

/// Punches a hole, for the test that a hole is noticed.
#[cfg(test)]
pub(crate) fn punch(file: &File, offset: u64, length: u64) -> std::io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(file, flags, offset, length)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_fully_written_and_removed_when_dropped() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = dir.path().join("fsarena-image");
        let mut heard = Vec::new();
        let image = Image::create(&path, 5 << 20, &mut |done| {
            heard.push(done);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(heard, [4 << 20, 5 << 20]);
        assert!(allocated_bytes(&path).unwrap() >= 5 << 20);
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 5 << 20);
        assert!(bytes.chunks(512).all(|sector| sector.iter().any(|byte| *byte != 0)));
        assert_ne!(bytes[..4096], bytes[4 << 20..(4 << 20) + 4096], "blocks differ");
        punch(image.file(), 0, 1 << 20).unwrap();
        assert!(allocated_bytes(&path).unwrap() < 5 << 20, "a hole is seen");
        drop(image);
        assert!(!path.exists());
    }

    #[test]
    fn foreign_names_sizes_and_files_are_refused() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut quiet = |_| ControlFlow::Continue(());
        let foreign = dir.path().join("disk.img");
        assert!(Image::create(&foreign, 1 << 20, &mut quiet).is_err());
        let path = dir.path().join("fsarena-there");
        assert!(Image::create(&path, 1000, &mut quiet).is_err());
        let stopped = Image::create(&path, 64 << 20, &mut |_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(TargetError::Stopped { .. })));
        assert!(!path.exists(), "what was begun is removed");
        std::fs::write(&path, "somebody's").unwrap();
        assert!(Image::create(&path, 1 << 20, &mut quiet).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "somebody's", "left as it was");
    }

    #[test]
    fn a_name_that_is_swapped_while_it_is_filled_leads_nowhere() {
        let other_dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let other = other_dir.path().join("theirs");
        std::fs::write(&other, "somebody's").unwrap();
        for parent in ["/var/tmp", "/dev/shm"].into_iter().filter(|dir| Path::new(dir).is_dir()) {
            let dir = tempfile::tempdir_in(parent).unwrap();
            let path = dir.path().join("fsarena-image");
            let image = Image::create(&path, 9 << 20, &mut |done| {
                if done == 4 << 20 {
                    std::fs::remove_file(&path).unwrap();
                    std::os::unix::fs::symlink(&other, &path).unwrap();
                }
                ControlFlow::Continue(())
            })
            .unwrap();
            assert_eq!(image.file().metadata().unwrap().len(), 9 << 20, "written to the end");
            assert!(!is_direct(image.file()), "as it was opened");
            drop(image);
            assert!(path.symlink_metadata().is_err(), "the name is removed, not what it leads to");
            assert_eq!(std::fs::read_to_string(&other).unwrap(), "somebody's");
        }
    }
}
