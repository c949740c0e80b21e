//! What a file system promises, and the sentence in which it does.
//!
//! Classes: *contract* (P0) is what fsync promises on a disk that does not lie, whatever the file
//! system; *documented* (P1) is what a file system with its options promises beyond that. What is
//! customary or promised by nobody is counted and never called a violation.

pub use fsarena_model::crash::Promises;
use serde::{Deserialize, Serialize};

/// Whose promise it is.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Serialize,
    Deserialize,
    crate::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseClass {
    /// P0: of fsync, fdatasync, syncfs and rename.
    Contract,
    /// P1: of this file system with these options.
    Documented,
}

/// A promise that can be broken.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Serialize,
    Deserialize,
    crate::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// fsync or fdatasync of the file.
    SyncedContents,
    /// fsync of the file and of its directory.
    SyncedName,
    /// unlink, then fsync of the directory.
    SyncedDelete,
    /// fsync of the temporary file, then rename.
    SyncedBeforeRename,
    /// syncfs of the file system.
    SyncedFileSystem,
    /// After fsync the file system can be mounted in some way.
    Reachable,
    ReplaceIsWhole,
    ReplaceKeepsTheName,
    NoStaleBytes,
    MountsWithoutRepair,
}

impl Promise {
    #[must_use]
    pub fn class(self) -> PromiseClass {
        match self {
            Self::SyncedContents
            | Self::SyncedName
            | Self::SyncedDelete
            | Self::SyncedBeforeRename
            | Self::SyncedFileSystem
            | Self::Reachable => PromiseClass::Contract,
            _ => PromiseClass::Documented,
        }
    }

    /// The promise in a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::SyncedContents => {
                "fsync(2): all modified data of the file are on the permanent storage device when \
                 the call returns, so that they can be retrieved even after the system crashes"
            }
            Self::SyncedName => {
                "fsync(2): that the directory entry has reached disk as well needs an fsync of the \
                 directory; it was made, and returned"
            }
            Self::SyncedDelete => {
                "fsync(2) of the directory after unlink(2): the directory without the entry is on \
                 the permanent storage device"
            }
            Self::SyncedBeforeRename => {
                "rename(2) after fsync(2) of the new file: the name refers to the old file or to \
                 the new one, and the contents of both were on the device before"
            }
            Self::SyncedFileSystem => {
                "sync(2): Linux waits for I/O completions, and thus syncfs provides the same \
                 guarantees as fsync called on every file in the file system"
            }
            Self::Reachable => {
                "fsync(2): data that were synced can be retrieved even after the system crashes"
            }
            Self::ReplaceIsWhole => {
                "ext4, auto_da_alloc: the data of the new file are forced to disk before a rename \
                 over an existing file is committed; ext3, data=ordered: all data are forced out \
                 before their metadata are committed; data=journal: data go through the journal; \
                 nilfs2, order=strict: all operations keep their order"
            }
            Self::ReplaceKeepsTheName => {
                "rename(2): if newpath exists it is atomically replaced, there is no point at \
                 which it is missing; journaled, copied on write, or in a log or checkpoint with \
                 the rest of the metadata"
            }
            Self::NoStaleBytes => {
                "blocks reach a file together with its own data, or not at all: data=ordered and \
                 data=journal (ext3, ext4), size updated at the end of the write (xfs), copy on \
                 write (btrfs), logs that are whole or not there (nilfs2)"
            }
            Self::MountsWithoutRepair => {
                "a journal, a log, checkpoints or copy on write: the file system is consistent after \
                 a crash, and mounting it recovers it"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_part_contract_and_document() {
        assert_eq!(Promise::SyncedName.class(), PromiseClass::Contract);
        assert_eq!(Promise::NoStaleBytes.class(), PromiseClass::Documented);
        assert!(Promise::SyncedContents.sentence().starts_with("fsync(2): all modified data"));
    }
}
