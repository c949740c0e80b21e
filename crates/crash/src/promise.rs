//! What a file system promises, and the sentence in which it does.
//!
//! Classes: *contract* (P0) is what fsync promises on a disk that does not lie, whatever the file
//! system; *documented* (P1) is what a file system with its options promises beyond that. What is
//! customary or promised by nobody is counted and never called a violation.

use serde::{Deserialize, Serialize};

/// Whose promise it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseClass {
    /// P0: of fsync, fdatasync, syncfs and rename.
    Contract,
    /// P1: of this file system with these options.
    Documented,
}

/// A promise that can be broken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
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
                 before their metadata are committed; data=journal: data go through the journal"
            }
            Self::ReplaceKeepsTheName => {
                "rename(2): if newpath exists it is atomically replaced, there is no point at \
                 which it is missing; journaled or copied on write with the rest of the metadata"
            }
            Self::NoStaleBytes => {
                "blocks reach a file together with its own data, or not at all: data=ordered and \
                 data=journal (ext3, ext4), size updated at the end of the write (xfs), copy on \
                 write (btrfs)"
            }
            Self::MountsWithoutRepair => {
                "a journal or copy on write: the file system is consistent after a crash, and \
                 mounting it recovers it"
            }
        }
    }
}

/// The documented promises (P1) of a file system with its options.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Promises {
    pub replace_is_whole: bool,
    pub replace_keeps_the_name: bool,
    pub no_stale_bytes: bool,
    pub mounts_without_repair: bool,
}

impl Promises {
    /// What is documented for a file system, by name, with its mount options, each with its value
    /// (`data=writeback`). A file system that is not known promises nothing.
    #[must_use]
    pub fn documented(file_system: &str, options: &[&str]) -> Self {
        let has = |option: &str| options.contains(&option);
        let journaled =
            Self { replace_keeps_the_name: true, mounts_without_repair: true, ..Self::default() };
        match file_system {
            // Without barriers they are promised to those alone whose cache survives.
            _ if has("nobarrier") || has("barrier=0") => Self::default(),
            "ext3" | "ext4" => Self {
                // Without delayed allocation, ordered data are written before the commit as well.
                replace_is_whole: has("data=journal")
                    || (!has("data=writeback") && !has("noauto_da_alloc")),
                no_stale_bytes: !has("data=writeback"),
                ..journaled
            },
            "xfs" | "btrfs" => Self { no_stale_bytes: true, ..journaled },
            _ => Self::default(),
        }
    }
}

/// Whether a file system, by name with its mount options in force, never sends a flush to its disk:
/// what its fsync reported is then in the cache of the disk, and stays there after a power cut only
/// where that cache is not volatile. jfs writes its log with plain writes and has no option for it.
#[must_use]
pub fn sends_no_flush(file_system: &str, options: &str) -> bool {
    let has = |option: &str| options.split(',').any(|one| one == option);
    file_system == "jfs" || has("nobarrier") || has("barrier=0") || has("barrier=none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_those_of_the_documents() {
        let ext4 = Promises::documented("ext4", &["noatime"]);
        assert!(ext4.replace_is_whole && ext4.no_stale_bytes && ext4.mounts_without_repair);
        let writeback = Promises::documented("ext3", &["data=writeback"]);
        assert!(!writeback.replace_is_whole && !writeback.no_stale_bytes);
        assert!(writeback.replace_keeps_the_name);
        assert!(!Promises::documented("ext4", &["noauto_da_alloc"]).replace_is_whole);
        let xfs = Promises::documented("xfs", &[]);
        assert!(!xfs.replace_is_whole && xfs.no_stale_bytes);
        for (name, options) in [("ext2", vec![]), ("ext4", vec!["nobarrier"]), ("jfs", vec![])] {
            assert_eq!(Promises::documented(name, &options), Promises::default());
        }
    }

    #[test]
    fn who_sends_no_flush_is_known() {
        assert!(sends_no_flush("jfs", "rw,relatime"));
        assert!(sends_no_flush("ext4", "rw,relatime,nobarrier"));
        assert!(sends_no_flush("reiserfs", "rw,barrier=none"));
        assert!(!sends_no_flush("ext4", "rw,relatime") && !sends_no_flush("xfs", ""));
    }

    #[test]
    fn classes_part_contract_and_document() {
        assert_eq!(Promise::SyncedName.class(), PromiseClass::Contract);
        assert_eq!(Promise::NoStaleBytes.class(), PromiseClass::Documented);
        assert!(Promise::SyncedContents.sentence().starts_with("fsync(2): all modified data"));
    }
}
