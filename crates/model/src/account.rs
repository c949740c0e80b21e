//! Where the bytes of a phase went: what a trace of block requests saw, sorted by what lay there.
//!
//! A written byte belongs to one [`Part`] by where it went, and is either the first one on its
//! sector within its span or a further one. A span is a cycle, or the whole phase where there are
//! none; the last one goes on to the unmount. The total is the device's own counter, which is not
//! the trace's: what the trace did not see is the unattributed rest.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What lies where a byte was written.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Contents of a file, below its end: the bytes as they were asked for.
    Data,
    /// A block of a file, beyond the end of its contents: rounding as written.
    Rounding,
    /// Contents that no file held any more when the files were looked at: written, then replaced
    /// or deleted; with their rounding.
    Gone,
    /// The journal or log.
    Journal,
    /// Other metadata: marked so by the file system (`REQ_META`), or in a place that is known.
    Metadata,
    /// In none of these.
    Unknown,
}

names!(Part.name {
    Data = "data", Rounding = "rounding", Gone = "gone", Journal = "journal", Metadata = "metadata",
    Unknown = "unknown",
});

/// Bytes of one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// On sectors that had not been written before in the span.
    pub first_bytes: u64,
    /// On sectors that had.
    pub again_bytes: u64,
}

impl Written {
    /// Both.
    #[must_use]
    pub fn bytes(self) -> u64 {
        self.first_bytes.saturating_add(self.again_bytes)
    }
}

/// Written bytes by part; a part without any may be missing.
pub type Parts = BTreeMap<Part, Written>;

/// What the trace saw in one span.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Span {
    /// Number of the cycle, from 1; 0 where the phase has none.
    pub cycle: u32,
    /// Writes by part.
    pub parts: Parts,
    /// Write requests.
    pub writes: u64,
    /// Cache flushes.
    pub flushes: u64,
    /// Discarded bytes; they are not written bytes.
    pub discarded_bytes: u64,
}

/// The account of a phase, from its start to the end of the next unmount.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// Bytes written by the device's counter.
    pub total_bytes: u64,
    /// What the trace saw.
    pub spans: Vec<Span>,
    /// Events that the kernel had no room for: the account is spoilt, and says so.
    pub lost_events: u64,
    /// Bytes of contents in the files that were looked at last.
    pub contents_bytes: u64,
    /// Bytes allocated to them (`st_blocks`): rounding as allocated is the difference.
    pub allocated_bytes: u64,
    /// Files that were looked at last.
    pub files: u64,
    /// Files of which the kernel does not tell the place (inline, compressed, without FIEMAP).
    pub unplaced_files: u64,
    /// Where the journal or log lies, as `start+length` in bytes of the device, and who said so;
    /// empty where the file system has none of a fixed place.
    pub journal: Vec<String>,
    /// What has to be known when it is read, in words.
    pub notes: Vec<String>,
    /// Processor time of the thread that read the trace, ns.
    pub reader_cpu_ns: u64,
    /// Processor time of the looks at the files, ns.
    pub looks_cpu_ns: u64,
    /// The longest of these looks, ns.
    pub longest_look_ns: u64,
}

impl Account {
    /// All spans together.
    #[must_use]
    pub fn parts(&self) -> Parts {
        let mut all = Parts::new();
        for (part, written) in self.spans.iter().flat_map(|span| &span.parts) {
            let sum: &mut Written = all.entry(*part).or_default();
            sum.first_bytes = sum.first_bytes.saturating_add(written.first_bytes);
            sum.again_bytes = sum.again_bytes.saturating_add(written.again_bytes);
        }
        all
    }

    /// Bytes that are in none of the parts: those on places that belong to none, and those that the
    /// trace did not see or saw too many. They are added, so that one does not hide the other:
    /// where it saw too many, the parts and these are more than the total.
    #[must_use]
    pub fn unattributed_bytes(&self) -> u64 {
        let parts = self.parts();
        let unknown = parts.get(&Part::Unknown).copied().unwrap_or_default().bytes();
        let seen = parts.values().fold(0u64, |sum, written| sum.saturating_add(written.bytes()));
        unknown.saturating_add(self.total_bytes.abs_diff(seen))
    }

    /// That as a share of the total; absent where nothing was written.
    #[must_use]
    pub fn unattributed_share(&self) -> Option<f64> {
        (self.total_bytes > 0).then(|| self.unattributed_bytes() as f64 / self.total_bytes as f64)
    }
}

/// A range of a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Range {
    /// Where it begins.
    pub start_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
}

impl Range {
    /// Where it ends: the first byte after it; the end of all numbers where it lies beyond them.
    #[must_use]
    pub fn end_bytes(self) -> u64 {
        self.start_bytes.saturating_add(self.length_bytes)
    }
}

/// `start+length`, both in bytes.
impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}+{}", self.start_bytes, self.length_bytes)
    }
}

/// Where a file system keeps what is no contents of files, as far as it has a fixed place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FsLayout {
    /// The journal or log.
    pub journal: Vec<Range>,
    /// Other metadata.
    pub metadata: Vec<Range>,
    /// Whether every request of metadata that it makes bears the flag `REQ_META`, so that an
    /// unflagged one is contents.
    pub flags_metadata: bool,
    /// How addresses of a [`Map`] become those of the device; empty where they are the device's
    /// already.
    pub chunks: Vec<Chunk>,
    /// Who said so: `dumpe2fs, debugfs`; empty where no program was asked.
    pub reported_by: String,
    /// What has to be known about them, in words.
    pub notes: Vec<String>,
}

/// A stretch of addresses of a file system with a level of its own between them and the device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chunk {
    /// Where it begins, as the file system counts.
    pub logical_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
    /// Where each copy of it begins on the device.
    pub copies_bytes: Vec<u64>,
}

/// Contents of a file that lie together on the device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileExtent {
    /// Where on the device, or in [`FsLayout::chunks`] where there are any.
    pub start_bytes: u64,
    /// How long, with what of the last block is no contents.
    pub length_bytes: u64,
    /// Where in the file.
    pub logical_bytes: u64,
    /// Size of the file.
    pub size_bytes: u64,
}

/// Where the contents of all files lay at one moment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Map {
    /// When it was begun, `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
    /// In any order.
    pub extents: Vec<FileExtent>,
    /// Files that were looked at.
    pub files: u64,
    /// Those of which the kernel does not tell the place, wholly or in part.
    pub unplaced_files: u64,
    /// Those of them whose contents lie among the metadata, so that no other write is theirs.
    pub inline_files: u64,
    /// Sizes of all.
    pub contents_bytes: u64,
    /// Blocks allocated to all (`st_blocks`), with those of whole clusters.
    pub allocated_bytes: u64,
}

/// The account of a phase, or why there is none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccountRecord {
    /// There is one.
    Taken(Box<Account>),
    /// It was asked for and not to be had.
    NotTaken {
        /// Why, and what would help.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_part_holds_is_unattributed() {
        let written = |first_bytes, again_bytes| Written { first_bytes, again_bytes };
        let span = |parts: &[(Part, Written)]| Span {
            parts: parts.iter().copied().collect(),
            ..Span::default()
        };
        let account = Account {
            total_bytes: 1000,
            spans: vec![
                span(&[(Part::Data, written(300, 100)), (Part::Unknown, written(50, 0))]),
                span(&[(Part::Data, written(200, 0)), (Part::Journal, written(100, 200))]),
            ],
            ..Account::default()
        };
        assert_eq!(account.parts()[&Part::Data], written(500, 100));
        assert_eq!(account.unattributed_bytes(), 100);
        assert_eq!(account.unattributed_share(), Some(0.1));
        assert_eq!(Account::default().unattributed_share(), None);
    }

    #[test]
    fn what_was_seen_too_much_does_not_hide_what_is_unknown() {
        let parts = [(Part::Data, 900), (Part::Unknown, 200)]
            .map(|(part, first_bytes)| (part, Written { first_bytes, again_bytes: 0 }));
        let span = Span { parts: parts.into_iter().collect(), ..Span::default() };
        let account = Account { total_bytes: 1000, spans: vec![span], ..Account::default() };
        assert_eq!(account.unattributed_bytes(), 200 + 100);
    }
}
