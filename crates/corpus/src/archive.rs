//! Packs a tree into an archive, straight from its description: no tree is on a disk.
//!
//! The archive is what `tar -c -C TREE .` makes in the format of GNU, names with `./` before them:
//! headers have the times and permissions of the description and the user and group 0, so that the
//! same bytes come out everywhere. It must never ask a file system for anything.

use crate::CorpusError;
use crate::compress;
use crate::pieces;
use crate::tree::{Entry, EntryKind, Tree};
use fsarena_model::job::Compression;
use std::io::{self, Write};
use tar::{EntryType, Header};

/// Unit of an archive, bytes.
const BLOCK_BYTES: u64 = 512;
/// Archives are filled up to a multiple of this, bytes, as GNU tar does.
const RECORD_BYTES: u64 = 10_240;
/// Longest name in a header, bytes; longer ones come in an entry of their own.
const NAME_BYTES: usize = 100;
/// Entries between two questions whether to stop.
const ASK_EVERY: usize = 64;

impl Tree {
    /// Writes an archive of all entries; its size in bytes. Asks `stop` every 64 pieces of 1 MiB.
    ///
    /// # Errors
    /// [`CorpusError::Stopped`], or that of `out` with the member at which it came.
    pub fn archive(
        &self,
        compression: Compression,
        out: &mut dyn Write,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, CorpusError> {
        let failed = |path: &str| {
            let path = path.to_owned();
            move |error| CorpusError::Pack { path, error }
        };
        let counted = Counted { out, bytes: 0 };
        let packed = compress::writer(compression, counted).map_err(failed("."))?;
        let mut packer = Packer { out: packed, bytes: 0 };
        let root = self.entries().next().map_or(0, |entry| entry.mtime_unix_s);
        packer.header("", 0o755, None, root).map_err(failed("."))?;
        let mut asked = 0usize;
        pieces::for_each(self, 1, |piece, entry, bytes| {
            if asked.is_multiple_of(ASK_EVERY) && stop() {
                return Err(CorpusError::Stopped);
            }
            asked += 1;
            let add = packer.add(entry, piece.offset, bytes);
            add.map_err(failed(entry.path))
        })?;
        packer.end().map(|counted| counted.bytes).map_err(failed("its end"))
    }
}

/// Counts what is written.
struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

struct Packer<W: Write> {
    out: compress::Writer<W>,
    /// Bytes of the archive before it is compressed.
    bytes: u64,
}

impl<W: Write> Packer<W> {
    /// A directory, or a part of a file.
    fn add(&mut self, entry: Entry<'_>, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match entry.kind {
            EntryKind::Dir => self.header(entry.path, entry.mode, None, entry.mtime_unix_s),
            EntryKind::File { size_bytes } => {
                if offset == 0 {
                    self.header(entry.path, entry.mode, Some(size_bytes), entry.mtime_unix_s)?;
                }
                self.put(bytes)?;
                if offset + bytes.len() as u64 == size_bytes {
                    self.pad(BLOCK_BYTES)
                } else {
                    Ok(())
                }
            }
        }
    }

    fn header(
        &mut self,
        path: &str,
        mode: u32,
        size_bytes: Option<u64>,
        mtime_unix_s: i64,
    ) -> io::Result<()> {
        let end = if size_bytes.is_none() && !path.is_empty() { "/" } else { "" };
        let name = format!("./{path}{end}");
        if name.len() > NAME_BYTES {
            let mut long = Header::new_gnu();
            long.set_entry_type(EntryType::GNULongName);
            put_name(&mut long, b"././@LongLink");
            long.set_mode(0o644);
            long.set_size(name.len() as u64 + 1);
            self.finish_header(long)?;
            self.put(name.as_bytes())?;
            self.put(&[0])?;
            self.pad(BLOCK_BYTES)?;
        }
        let mut header = Header::new_gnu();
        let kind = if size_bytes.is_some() { EntryType::Regular } else { EntryType::Directory };
        header.set_entry_type(kind);
        put_name(&mut header, &name.as_bytes()[..name.len().min(NAME_BYTES)]);
        header.set_mode(mode);
        header.set_size(size_bytes.unwrap_or(0));
        header.set_mtime(u64::try_from(mtime_unix_s).unwrap_or(0));
        self.finish_header(header)
    }

    fn finish_header(&mut self, mut header: Header) -> io::Result<()> {
        header.set_uid(0);
        header.set_gid(0);
        header.set_username("root")?;
        header.set_groupname("root")?;
        header.set_cksum();
        self.put(header.as_bytes())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Zeros up to a multiple of `unit` bytes.
    fn pad(&mut self, unit: u64) -> io::Result<()> {
        let bytes = self.bytes.next_multiple_of(unit) - self.bytes;
        self.put(&[0; RECORD_BYTES as usize][..bytes as usize])
    }

    /// The two empty blocks at the end, and the rest of a record.
    fn end(mut self) -> io::Result<W> {
        self.put(&[0; 2 * BLOCK_BYTES as usize])?;
        self.pad(RECORD_BYTES)?;
        self.out.finish()
    }
}

/// Puts a name of 100 bytes at most into a header as it is: the crate would leave out the `./`.
fn put_name(header: &mut Header, name: &[u8]) {
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
}

#[cfg(test)]
mod tests;
