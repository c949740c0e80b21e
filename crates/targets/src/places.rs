//! Where a file system keeps what is no contents of files: asked of its own programs, which only
//! read. A driver's [`crate::fs::FileSystem::places`] is here.
//!
//! Ask while the device is not mounted, or has been mounted anew: the programs read through the
//! page cache of the device, which holds what it was when it was read last.

pub(crate) mod btrfs;
pub(crate) mod ext;
pub(crate) mod xfs;

use crate::fs::FsError;
use fsarena_model::account::{Places, Range};

/// The places of a file system of which none is known.
pub(crate) fn none_known(fs: &str) -> Places {
    let note = format!("{fs}: this program does not know where its journal and its metadata lie.");
    Places { notes: vec![note], ..Places::default() }
}

/// The output of one program, read.
struct Output<'a> {
    tool: &'static str,
    text: &'a str,
}

impl Output<'_> {
    fn odd(&self, problem: impl Into<String>) -> FsError {
        FsError::Malformed { tool: self.tool, problem: problem.into() }
    }

    /// The value of the line `key<separator>value`.
    fn value(&self, key: &str, separator: char) -> Option<&str> {
        let pairs = self.text.lines().filter_map(|line| line.split_once(separator));
        pairs
            .map(|(name, value)| (name.trim(), value.trim()))
            .find(|(name, _)| *name == key)?
            .1
            .into()
    }

    /// That as a number.
    fn number(&self, key: &str, separator: char) -> Result<u64, FsError> {
        let value = self.value(key, separator).ok_or_else(|| self.odd(format!("no {key}")))?;
        value.parse().map_err(|_| self.odd(format!("{key} is {value:?}, no number")))
    }

    /// The bytes of `count` blocks from `first` on.
    fn blocks(&self, first: u64, count: u64, block_bytes: u64) -> Result<Range, FsError> {
        let bytes = |blocks: u64| blocks.checked_mul(block_bytes);
        match (bytes(first), bytes(count)) {
            (Some(start_bytes), Some(length_bytes)) => Ok(Range { start_bytes, length_bytes }),
            _ => Err(self.odd(format!("block {first} is no block"))),
        }
    }
}
