//! Images of aged devices, kept in a directory of the user's and put back onto a device.
//!
//! A kept image is as long as the device, with holes where the device has zeros. It is written to a
//! file without a name, which gets its name when it is whole, and read back by its SHA-256. Nobody
//! else may be able to write to the directory, which is held from its vetting on, or to an image:
//! what lies there is mounted.

use crate::vet::free_bytes;
use crate::{Refusal, TargetError, cache, reopen};
use fsarena_model::spec::TargetSpec;
use fsarena_model::units::Bytes;
use fsarena_process::held::{HeldDir, HeldError};
use sha2::{Digest as _, Sha256};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes of one read or write of a device.
const CHUNK_BYTES: usize = 1 << 20;
/// What is all zeros in pieces of this size is a hole of the kept image.
const HOLE_BYTES: usize = 64 << 10;
/// Room that is left on the file system of the directory.
const MARGIN_BYTES: u64 = 256 << 20;

/// Says whether to go on; asked between two chunks.
pub type GoOn<'a> = &'a dyn Fn() -> bool;

/// Opens a directory of kept images: it belongs to this user, nobody else may write there or, where
/// this is root, exchange it or a directory above, and it takes files without a name.
///
/// # Errors
/// Says what is wrong and what to do.
pub fn open_directory(dir: &Path) -> Result<HeldDir, Refusal> {
    const REMEDY: &str = "name a directory of your own with --age-images (chmod go-w)";
    let refused = |error: HeldError| match error.kind() {
        io::ErrorKind::NotFound => {
            let remedy = "create it, or name another with --age-images";
            Refusal::new(dir, "does not exist", remedy)
        }
        io::ErrorKind::NotADirectory => Refusal::new(dir, "is no directory", REMEDY),
        _ => {
            let why = match error {
                HeldError::Io(error) => error.to_string(),
                other => format!("{other}, and what lies there is mounted"),
            };
            Refusal::new(dir, why, REMEDY)
        }
    };
    let held = HeldDir::of_root(dir).map_err(refused)?;
    let found = held.stat().map_err(|error| refused(error.into()))?;
    if found.st_uid != rustix::process::geteuid().as_raw() || found.st_mode & 0o022 != 0 {
        let reason = "others may write there, and what lies there is mounted";
        return Err(Refusal::new(dir, reason, REMEDY));
    }
    held.unnamed_file(0o600).map_err(|error| {
        let reason = format!("takes no files without a name (O_TMPFILE): {error}");
        Refusal::new(dir, reason, "name a directory on a local disk with --age-images")
    })?;
    Ok(held)
}

/// Keeps the contents of the target's device in `dir` under `name`, which nothing is mounted from;
/// the SHA-256 of all of it, 64 hex digits. Nothing where a stop was asked for.
///
/// # Errors
/// When the device cannot be read, or the image not be written: then nothing is left of it.
pub fn keep(
    target: &TargetSpec,
    dir: &HeldDir,
    name: &str,
    go_on: GoOn<'_>,
) -> Result<Option<String>, TargetError> {
    let path = &dir.path().join(name);
    let Some((device, size_bytes)) = whole_device(target) else { return Ok(None) };
    // What is read is what is on the device.
    cache::flush_device(device)?;
    let from = reopen::for_reading(target)?;
    let failed = |call| move |error: io::Error| TargetError::io(call, path, error);
    let image = dir.unnamed_file(0o600).map_err(failed("open (O_TMPFILE)"))?;
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
    dir.name_file(&image, name).map_err(failed("link"))?;
    // What it leaves in the page cache would lie there beside the work.
    cache::evict_file(&dir.path_of(name))?;
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
    (dir, name): (&HeldDir, &str),
    sha256: &str,
    go_on: GoOn<'_>,
) -> Result<bool, TargetError> {
    const REMEDY: &str = "remove it: the age is then made anew";
    let path = &dir.path().join(name);
    let Some((device, size_bytes)) = whole_device(target) else { return Ok(true) };
    let failed = |call| move |error: io::Error| TargetError::io(call, path, error);
    let opened = dir.open_own_file(name);
    let mut image = opened.map_err(|error| TargetError::state(path, error.to_string(), REMEDY))?;
    let meta = image.metadata().map_err(failed("stat"))?;
    if meta.len() != size_bytes {
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
    cache::evict_file(&dir.path_of(name))?;
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
fn enough_room(dir: &HeldDir, path: &Path) -> Result<(), TargetError> {
    let free = free_bytes(&dir.path_of("."));
    let free = free.map_err(|error| TargetError::io("statvfs", dir.path(), error))?;
    if free >= MARGIN_BYTES {
        return Ok(());
    }
    let problem = format!("{} are left where it is to lie", Bytes(free));
    Err(TargetError::state(path, problem, "free some space, or name another --age-images"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_directory_that_others_may_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(open_directory(dir.path()).is_ok());
        for (mode, is_taken) in [(0o755, true), (0o775, false), (0o1777, false)] {
            std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(open_directory(dir.path()).is_ok(), is_taken, "{mode:o}");
        }
        let missing = open_directory(&dir.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("does not exist"), "{missing}");
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(open_directory(&file).unwrap_err().to_string().contains("is no directory"));
    }
}
