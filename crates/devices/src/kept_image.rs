//! Images of aged devices, kept in a directory of the user's and put back onto a device.
//!
//! A kept image is as long as the device, with holes where the device has zeros. It is written to a
//! file without a name, which gets its name when it is whole, and read back by its SHA-256. Nobody
//! else may be able to write to the directory: what lies there is mounted.

use crate::vet::free_bytes;
use crate::{Refusal, TargetError, cache, reopen};
use fsarena_model::spec::TargetSpec;
use fsarena_model::units::Bytes;
use fsarena_process::trust::writers_for_root;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Bytes of one read or write of a device.
const CHUNK_BYTES: usize = 1 << 20;
/// What is all zeros in pieces of this size is a hole of the kept image.
const HOLE_BYTES: usize = 64 << 10;
/// Room that is left on the file system of the directory.
const MARGIN_BYTES: u64 = 256 << 20;

/// Says whether to go on; asked between two chunks.
pub type GoOn<'a> = &'a dyn Fn() -> bool;

/// Vets a directory of kept images: it exists, belongs to this user, nobody else may write there
/// or, where this is root, exchange it or a directory above, and it takes files without a name.
///
/// # Errors
/// Says what is wrong and what to do.
pub fn vet_directory(dir: &Path) -> Result<(), Refusal> {
    const REMEDY: &str = "name a directory of your own with --age-images (chmod go-w)";
    let meta = std::fs::metadata(dir).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let remedy = "create it, or name another with --age-images";
            Refusal::new(dir, "does not exist", remedy)
        }
        _ => Refusal::new(dir, error.to_string(), REMEDY),
    })?;
    if !meta.is_dir() {
        return Err(Refusal::new(dir, "is no directory", REMEDY));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() || meta.mode() & 0o022 != 0 {
        let reason = "others may write there, and what lies there is mounted";
        return Err(Refusal::new(dir, reason, REMEDY));
    }
    // Who may rename a directory above may put another one in its place after this look.
    if let Some(found) = writers_for_root(dir).first() {
        let reason =
            format!("{} {}, and what lies there is mounted", found.place.display(), found.writer);
        return Err(Refusal::new(dir, reason, REMEDY));
    }
    without_name(dir).map(drop).map_err(|errno| {
        let reason = format!("takes no files without a name (O_TMPFILE): {errno}");
        Refusal::new(dir, reason, "name a directory on a local disk with --age-images")
    })
}

/// A file without a name.
fn without_name(dir: &Path) -> Result<File, Errno> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Keeps the contents of the target's device as `path`, which nothing is mounted from; the SHA-256
/// of all of it, 64 hex digits. Nothing where a stop was asked for.
///
/// # Errors
/// When the device cannot be read, or the image not be written: then nothing is left of it.
pub fn keep(
    target: &TargetSpec,
    path: &Path,
    go_on: GoOn<'_>,
) -> Result<Option<String>, TargetError> {
    let Some((device, size_bytes)) = whole_device(target) else { return Ok(None) };
    // What is read is what is on the device.
    cache::flush_device(device)?;
    let from = reopen::for_reading(target)?;
    let dir = path.parent().unwrap_or(Path::new("."));
    let failed = |call| move |error: io::Error| TargetError::io(call, path, error);
    let image = without_name(dir).map_err(|errno| failed("open (O_TMPFILE)")(errno.into()))?;
    image.set_len(size_bytes).map_err(failed("ftruncate"))?;
    let copied = each_chunk(size_bytes, go_on, |bytes, at| {
        from.read_exact_at(bytes, at).map_err(|error| TargetError::io("read", device, error))?;
        enough_room(dir, path)?;
        for (piece, offset) in bytes.chunks(HOLE_BYTES).zip((at..).step_by(HOLE_BYTES)) {
            if piece.iter().any(|byte| *byte != 0) {
                image.write_all_at(piece, offset).map_err(failed("write"))?;
            }
        }
        Ok(())
    })?;
    let Some(sha256) = copied else { return Ok(None) };
    image.sync_all().map_err(failed("fsync"))?;
    give_name(&image, path).map_err(failed("link"))?;
    // What it leaves in the page cache would lie there beside the work.
    cache::evict_file(path)?;
    drop(from);
    cache::flush_device(device)?;
    Ok(Some(sha256))
}

/// Puts a kept image onto the target's device, and looks whether it is still the one that was kept:
/// `sha256` in hex digits. `false` where a stop was asked for.
///
/// # Errors
/// When the image is another one or as long as another device, or the device cannot be written.
pub fn restore(
    target: &TargetSpec,
    path: &Path,
    sha256: &str,
    go_on: GoOn<'_>,
) -> Result<bool, TargetError> {
    const REMEDY: &str = "remove it: the age is then made anew";
    let Some((device, size_bytes)) = whole_device(target) else { return Ok(true) };
    let failed = |call| move |error: io::Error| TargetError::io(call, path, error);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let image = rustix::fs::open(path, flags, Mode::empty());
    let mut image = File::from(image.map_err(|errno| failed("open")(errno.into()))?);
    let meta = image.metadata().map_err(failed("stat"))?;
    if !meta.is_file() || meta.len() != size_bytes {
        let problem = format!("it is no file of {}, the size of the device", Bytes(size_bytes));
        return Err(TargetError::state(path, problem, REMEDY));
    }
    let onto = reopen::for_writing(target)?;
    let copied = each_chunk(size_bytes, go_on, |bytes, at| {
        image.read_exact(bytes).map_err(failed("read"))?;
        onto.write_all_at(bytes, at).map_err(|error| TargetError::io("write", device, error))
    })?;
    let Some(found) = copied else { return Ok(false) };
    onto.sync_all().map_err(|error| TargetError::io("fsync", device, error))?;
    drop(onto);
    cache::flush_device(device)?;
    if found != sha256 {
        let problem = format!(
            "it is not the image that was kept: its SHA-256 is {found}, and {sha256} was noted"
        );
        return Err(TargetError::state(path, problem, REMEDY));
    }
    cache::evict_file(path)?;
    Ok(true)
}

/// Has `copy` fill and use each chunk of so many bytes, from the first on; the SHA-256 of all that
/// it filled, 64 hex digits. Nothing where a stop was asked for.
fn each_chunk(
    size_bytes: u64,
    go_on: GoOn<'_>,
    mut copy: impl FnMut(&mut [u8], u64) -> Result<(), TargetError>,
) -> Result<Option<String>, TargetError> {
    let (mut digest, mut chunk, mut at) = (Sha256::new(), vec![0; CHUNK_BYTES], 0);
    while at < size_bytes {
        if !go_on() {
            return Ok(None);
        }
        let length = (size_bytes - at).min(CHUNK_BYTES as u64) as usize;
        let bytes = &mut chunk[..length];
        copy(bytes, at)?;
        digest.update(&*bytes);
        at += length as u64;
    }
    Ok(Some(fsarena_model::seed::hex(&digest.finalize())))
}

fn whole_device(target: &TargetSpec) -> Option<(&Path, u64)> {
    match target {
        TargetSpec::Block { device, size_bytes, .. } => Some((device, *size_bytes)),
        _ => None,
    }
}

/// The disk of the user's is never filled to its end.
fn enough_room(dir: &Path, path: &Path) -> Result<(), TargetError> {
    let free = free_bytes(dir).map_err(|error| TargetError::io("statvfs", dir, error))?;
    if free >= MARGIN_BYTES {
        return Ok(());
    }
    let problem = format!("{} are left where it is to lie", Bytes(free));
    Err(TargetError::state(path, problem, "free some space, or name another --age-images"))
}

/// Gives a file without a name its name, in the place of what has it.
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let own = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let link = || rustix::fs::linkat(CWD, &own, CWD, path, AtFlags::SYMLINK_FOLLOW);
    match link() {
        Err(Errno::EXIST) => {
            std::fs::remove_file(path)?;
            Ok(link()?)
        }
        linked => Ok(linked?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(vet_directory(dir.path()).is_ok());
        for (mode, is_taken) in [(0o755, true), (0o775, false), (0o1777, false)] {
            std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(vet_directory(dir.path()).is_ok(), is_taken, "{mode:o}");
        }
        let missing = vet_directory(&dir.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("does not exist"), "{missing}");
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(vet_directory(&file).unwrap_err().to_string().contains("is no directory"));
    }

    #[test]
    fn a_name_is_given_in_the_place_of_an_older_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        std::fs::write(&path, "old").unwrap();
        let file = without_name(dir.path()).unwrap();
        file.write_all_at(b"new", 0).unwrap();
        give_name(&file, &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
