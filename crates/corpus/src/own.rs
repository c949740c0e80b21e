//! The user's own directory or archive, looked at before anything is written.
//!
//! It is only read, and never followed out of: symbolic links are not followed, a member of an
//! archive that would lie outside is refused. Nothing is unpacked here; who unpacks refuses again,
//! by construction.

mod archive;
mod entry;
mod names;
mod tree;

pub use entry::{MemberKind, TopLevel, member_kind};

use crate::CorpusError;
use fsarena_bounded::Bounded;
use fsarena_model::job::{Compression, Contents};
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

/// Bytes at the beginning of a file that tell an archive: one block of tar.
const HEAD_BYTES: usize = 512;

/// What the user gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Own {
    Tree(Contents),
    /// An archive of tar; `archive_bytes` is set.
    Archive(Compression, Contents),
}

/// Looks at a directory or an archive, all of it: an archive is decompressed to its end. Asks
/// `stop` every entry, and every 256 KiB of an archive.
///
/// A file of a tree that has holes counts what is stored. Each name of a file counts as a file; the
/// bytes of a file with several names count once.
///
/// # Errors
/// What cannot be read, with its path; what is neither directory nor archive, or empty; device
/// nodes, sockets and FIFOs; archives that are damaged, cut off, followed by something, or that
/// lead out of their folder, that hold sparse members or a file and a directory of one name, that
/// have more than 20 million entries or more than 1 MiB of headers for one;
/// [`CorpusError::Stopped`].
pub fn survey(path: &Path, stop: &dyn Fn() -> bool) -> Result<Own, CorpusError> {
    survey_with_top_level(path, stop).map(|(own, _)| own)
}

/// The same, with what lies directly in it.
///
/// # Errors
/// Those of [`survey`].
pub fn survey_with_top_level(
    path: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<(Own, TopLevel), CorpusError> {
    // O_NONBLOCK: a FIFO of this name must not wait for somebody.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let call = |call, error: io::Error| CorpusError::Call {
        call,
        path: path.display().to_string(),
        error,
    };
    let opened = open(path, flags, Mode::empty()).map_err(|errno| call("open", errno.into()))?;
    let stat = fstat(&opened).map_err(|errno| call("fstat", errno.into()))?;
    let own = |what: &str, remedy: &str| CorpusError::Own {
        path: path.to_owned(),
        what: what.to_owned(),
        remedy: remedy.to_owned(),
    };
    let remedy = "give a directory or an archive of tar";
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            let (contents, top) = tree::survey(path, opened, stop)?;
            if contents.entries() == 0 {
                return Err(own("the directory is empty", "give one with something in it"));
            }
            Ok((Own::Tree(contents), top))
        }
        FileType::RegularFile => {
            let mut file = File::from(opened);
            let head = head(&mut file).map_err(|error| call("read", error))?;
            let Some(compression) = kind_of(&head) else {
                let what = if head.is_empty() { "the file is empty" } else { "this is no archive" };
                return Err(own(what, "give a directory, or a tar with gzip, bzip2, xz or zstd"));
            };
            let (mut contents, top) =
                archive::survey(path, compression, file, archive::LIMITS, stop)?;
            contents.archive_bytes = Some(u64::try_from(stat.st_size).unwrap_or(0));
            Ok((Own::Archive(compression, contents), top))
        }
        _ => Err(own("this is neither a directory nor a file", remedy)),
    }
}

/// The first bytes of a file, which is at its beginning again afterwards.
fn head(file: &mut File) -> io::Result<Vec<u8>> {
    let head = Bounded::new(&mut *file, HEAD_BYTES as u64).beginning()?;
    file.seek(SeekFrom::Start(0))?;
    Ok(head)
}

/// How an archive that begins with `head` (512 bytes, or all there are) is compressed; nothing
/// where it is no archive.
#[must_use]
pub fn kind_of(head: &[u8]) -> Option<Compression> {
    let magics: [(&[u8], Compression); 4] = [
        (b"\x1f\x8b", Compression::Gzip),
        (b"BZh", Compression::Bzip2),
        (b"\xfd7zXZ\0", Compression::Xz),
        (b"\x28\xb5\x2f\xfd", Compression::Zstd),
    ];
    let known = magics.iter().find(|(magic, _)| head.starts_with(magic));
    known.map(|(_, compression)| *compression).or_else(|| is_tar(head).then_some(Compression::None))
}

/// Whether a block is a header of tar (the sum in it is right), or the end of an empty archive.
fn is_tar(head: &[u8]) -> bool {
    if head.len() < HEAD_BYTES {
        return false;
    }
    let header = tar::Header::from_byte_slice(head);
    let sum_field = 148..156;
    let sum: u32 = head
        .iter()
        .enumerate()
        .map(|(at, byte)| if sum_field.contains(&at) { u32::from(b' ') } else { u32::from(*byte) })
        .sum();
    header.cksum().is_ok_and(|stated| stated == sum) || head.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests;
