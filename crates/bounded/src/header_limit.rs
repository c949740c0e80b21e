//! A limit for what lies between two members of an archive.
//!
//! Long names and PAX records come as members of their own before the one they are about, and who
//! reads tar takes each of them into memory whole, whatever length it states. A reader in front
//! ends that: it hands out only so much until the next member is there.

use std::cell::Cell;
use std::io::{self, Read};

/// Most bytes of all headers of one member, with its long names, PAX records and map of holes.
pub const MAX_HEADERS_BYTES: u64 = 1 << 20;

/// How much of an archive may be read at the moment. Whoever goes over the members says where they
/// are; [`HeaderLimit::reader`] keeps to it.
#[derive(Debug)]
pub struct HeaderLimit {
    left_bytes: Cell<u64>,
    is_reached: Cell<bool>,
}

impl HeaderLimit {
    /// As before the first member.
    #[must_use]
    pub fn new() -> Self {
        Self { left_bytes: Cell::new(MAX_HEADERS_BYTES), is_reached: Cell::new(false) }
    }

    /// The next member is looked for; `unread_bytes` of the one before were not read yet.
    pub fn before_member(&self, unread_bytes: u64) {
        self.left_bytes.set(unread_bytes.saturating_add(MAX_HEADERS_BYTES));
    }

    /// The contents of a member are read: as much as there is.
    pub fn in_member(&self) {
        self.left_bytes.set(u64::MAX);
    }

    /// Whether more was asked for than may be read.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.is_reached.get()
    }

    /// What `input` holds, up to the limit; then an error that says so.
    pub fn reader<R: Read>(&self, input: R) -> LimitedReader<'_, R> {
        LimitedReader { limit: self, input }
    }
}

impl Default for HeaderLimit {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads an archive within a [`HeaderLimit`].
#[derive(Debug)]
pub struct LimitedReader<'a, R> {
    limit: &'a HeaderLimit,
    input: R,
}

impl<R> LimitedReader<'_, R> {
    /// What is read, without a limit.
    pub fn into_inner(self) -> R {
        self.input
    }
}

impl<R: Read> Read for LimitedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left_bytes = self.limit.left_bytes.get();
        if left_bytes == 0 && !buffer.is_empty() {
            self.limit.is_reached.set(true);
            let what = "the names and records before a member take more than 1 MiB";
            return Err(io::Error::other(what));
        }
        let most = usize::try_from(left_bytes).unwrap_or(usize::MAX).min(buffer.len());
        let got = self.input.read(&mut buffer[..most])?;
        self.limit.left_bytes.set(left_bytes - got as u64);
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_hands_out_as_much_as_it_may() {
        let limit = HeaderLimit::new();
        let mut reader = limit.reader(io::repeat(7));
        let mut buffer = vec![0; (MAX_HEADERS_BYTES as usize) + 1];
        assert!(reader.read_exact(&mut buffer[1..]).is_ok());
        assert!(!limit.is_reached());
        let error = reader.read_exact(&mut buffer[..1]).unwrap_err();
        assert!(limit.is_reached() && error.to_string().contains("1 MiB"), "{error}");
        limit.in_member();
        assert!(reader.read_exact(&mut buffer).is_ok());
        limit.before_member(5);
        assert!(reader.read_exact(&mut buffer).is_ok());
        assert!(reader.read_exact(&mut buffer[..5]).is_err());
    }
}
