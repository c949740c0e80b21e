//! What a guest says of work whose disk failed some request.

use crate::observation::ObservedFile;
use crate::op::Op;
use serde::{Deserialize, Serialize};

/// A call of an op.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// Nothing was changed where it failed.
    Open,
    /// write, or fallocate: a part may have been taken.
    Write,
    Truncate,
    /// fsync or fdatasync of the file.
    Sync,
    Rename,
    Unlink,
    /// fsync of the directory, or its open.
    SyncDirectory,
}

impl Call {
    /// As it is told.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Write => "write",
            Self::Truncate => "truncate",
            Self::Sync => "fsync",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::SyncDirectory => "fsync of the directory",
        }
    }
}

/// The call of an op that failed; those after it were not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedCall {
    /// Place of the op in the journal.
    pub op: u32,
    pub call: Call,
    pub errno: i32,
    /// Of an fsync or fdatasync that failed: what the same call on the same descriptor returned
    /// right after it; 0 is success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<i32>,
}

/// Work whose disk may have failed, up to its end. Times are those of the guest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MediumErrorWork {
    pub ops: Vec<Op>,
    /// One for each op with an error.
    pub failed: Vec<FailedCall>,
    /// Of the ops that are judged.
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Mount and superblock options in force at its begin.
    pub mount_options: String,
    pub after: AfterWork,
}

/// The file system after the work, while it is still mounted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AfterWork {
    /// statfs says that it is mounted read-only.
    pub is_read_only: bool,
    /// What a new file that is written and synced met; `None`: it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_file_errno: Option<i32>,
    /// What syncfs returned, by a descriptor that was opened before the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syncfs_errno: Option<i32>,
    /// All files, as they are read now: out of the page cache, as far as they are in it.
    pub files: Vec<ObservedFile>,
    /// Lines of the kernel since the begin of the work, without those of the block layer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_messages: Vec<String>,
}

impl AfterWork {
    /// Whether no more can be written to it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_read_only || self.new_file_errno.is_some()
    }
}

/// How lines of the block layer begin, which tell of the error whatever the file system does.
const OF_BLOCK_LAYER: [&str; 3] =
    ["I/O error, dev ", "blk_update_request: ", "Buffer I/O error on"];

/// Whether a line of the kernel is the block layer's, and not the file system's.
#[must_use]
pub fn is_of_block_layer(line: &str) -> bool {
    OF_BLOCK_LAYER.iter().any(|begin| line.starts_with(begin))
}
