//! An entry of a write log.

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    Write,
    /// Its data were on the medium when it completed.
    WriteFua,
    /// Only the first half of its sectors is on the medium: `sectors` are those that are.
    WriteTorn,
    Flush,
    Discard,
    /// A number that the driver put in, such as that of an operation; in `sector`.
    Mark,
    /// A flush that the device reported as done, and that covers nothing.
    FlushLost,
}

impl EntryKind {
    const ALL: [Self; 7] = [
        Self::Write,
        Self::WriteFua,
        Self::WriteTorn,
        Self::Flush,
        Self::Discard,
        Self::Mark,
        Self::FlushLost,
    ];

    /// Whether it carries data.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::WriteFua | Self::WriteTorn)
    }

    pub(super) fn code(self) -> u8 {
        Self::ALL.iter().position(|one| *one == self).map_or(0, |at| at as u8 + 1)
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }
}

/// An entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub kind: EntryKind,
    pub sector: u64,
    pub sectors: u64,
    pub submitted_ns: u64,
    pub completed_ns: u64,
    /// Flushes that had completed before it was submitted.
    pub epoch: u64,
    /// Where its data are in the log.
    pub(super) data_at: u64,
}
