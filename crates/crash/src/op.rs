//! What is done to files, and the journal of it: each op with the times between which it ran.
//!
//! The journal is kept outside of the file system under test. Times are those of the write log:
//! an op whose end is before the power cut had been reported as done.

use serde::{Deserialize, Serialize};

/// What is made durable before an op is reported as done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sync {
    #[default]
    None,
    /// fdatasync of the file.
    Data,
    /// fsync of the file.
    File,
    /// fsync of the file, then of its directory.
    FileAndDirectory,
    /// fsync of the directory alone: of contents it promises nothing.
    Directory,
    /// syncfs, which covers all that was done before.
    FileSystem,
}

impl Sync {
    /// Whether contents and size are durable.
    #[must_use]
    pub fn covers_contents(self) -> bool {
        match self {
            Self::None | Self::Directory => false,
            Self::Data | Self::File | Self::FileAndDirectory | Self::FileSystem => true,
        }
    }

    /// Whether contents, size and name are durable.
    #[must_use]
    pub fn covers_name(self) -> bool {
        matches!(self, Self::FileAndDirectory | Self::FileSystem)
    }

    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Something done to a file, by the calls that its text says and in their order. Contents are those
/// of the file's number and the version ([`stamp::fill`](crate::stamp::fill)); each version is
/// written once. `f` is [`workload::path`](crate::workload::path) of the file.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// open f (it must not be there), write all, sync, close.
    Create {
        file: u32,
        bytes: u64,
        version: u32,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
    /// open f (it must not be there), fallocate, sync, close: it holds zeros.
    Preallocate {
        file: u32,
        bytes: u64,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
    /// open f.tmp, write all, sync, close, rename to f, sync of the directory where `sync` says so.
    /// Where there is no f, this delivers a new file.
    Replace {
        target: u32,
        bytes: u64,
        version: u32,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
    /// write at the end, sync. A version that goes on in the middle of a sector is the one that the
    /// file has there.
    Append {
        file: u32,
        bytes: u64,
        version: u32,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
    /// write within the file, sync. Offset and end are on borders of sectors, or at the file's end.
    Overwrite {
        file: u32,
        offset: u64,
        bytes: u64,
        version: u32,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
    /// ftruncate to a smaller size, sync.
    Truncate {
        file: u32,
        bytes: u64,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
    /// rename f to the other name of the file ([`workload::other_name`]), under which the ops that
    /// follow know it; sync as `sync` says.
    ///
    /// [`workload::other_name`]: crate::workload::other_name
    Rename {
        file: u32,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
    /// unlink f; fsync of its directory where `sync` says so (that of a file that is gone means
    /// nothing).
    Delete {
        file: u32,
        #[serde(default, skip_serializing_if = "Sync::is_none")]
        sync: Sync,
    },
}

impl Action {
    /// The file that it is done to.
    #[must_use]
    pub fn file(&self) -> u32 {
        match *self {
            Self::Create { file, .. }
            | Self::Preallocate { file, .. }
            | Self::Append { file, .. }
            | Self::Overwrite { file, .. }
            | Self::Truncate { file, .. }
            | Self::Rename { file, .. }
            | Self::Delete { file, .. } => file,
            Self::Replace { target, .. } => target,
        }
    }

    #[must_use]
    pub fn sync(&self) -> Sync {
        match *self {
            Self::Create { sync, .. }
            | Self::Preallocate { sync, .. }
            | Self::Replace { sync, .. }
            | Self::Append { sync, .. }
            | Self::Overwrite { sync, .. }
            | Self::Truncate { sync, .. }
            | Self::Rename { sync, .. }
            | Self::Delete { sync, .. } => sync,
        }
    }

    /// Bytes that its calls write.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        match *self {
            Self::Create { bytes, .. }
            | Self::Replace { bytes, .. }
            | Self::Append { bytes, .. }
            | Self::Overwrite { bytes, .. } => bytes,
            Self::Preallocate { .. }
            | Self::Truncate { .. }
            | Self::Rename { .. }
            | Self::Delete { .. } => 0,
        }
    }

    /// The same with this sync.
    #[must_use]
    pub fn with_sync(mut self, asked: Sync) -> Self {
        match &mut self {
            Self::Create { sync, .. }
            | Self::Preallocate { sync, .. }
            | Self::Replace { sync, .. }
            | Self::Append { sync, .. }
            | Self::Overwrite { sync, .. }
            | Self::Truncate { sync, .. }
            | Self::Rename { sync, .. }
            | Self::Delete { sync, .. } => *sync = asked,
        }
        self
    }
}

/// An op of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Op {
    #[serde(rename = "a")]
    pub action: Action,
    /// Before its first call.
    #[serde(rename = "b")]
    pub begin_ns: u64,
    /// After its last call returned.
    #[serde(rename = "e")]
    pub end_ns: u64,
    /// The errno of the call that failed; the calls after it were not made.
    #[serde(rename = "x", default, skip_serializing_if = "Option::is_none")]
    pub error: Option<i32>,
}

/// A line of a journal that is no op.
#[derive(Debug, thiserror::Error)]
#[error("op journal, line {line}: {source}")]
pub struct JournalError {
    /// Counted from 1.
    pub line: usize,
    source: serde_json::Error,
}

/// The journal as text, an op a line.
#[must_use]
pub fn to_lines(ops: &[Op]) -> String {
    let line = |op| serde_json::to_string(op).expect("an op has string keys and no fallible part");
    ops.iter().fold(String::new(), |text, op| text + &line(op) + "\n")
}

/// Reads what [`to_lines`] wrote. Empty lines are left out.
///
/// # Errors
/// The first line that is no op.
pub fn from_lines(text: &str) -> Result<Vec<Op>, JournalError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|source| JournalError { line: at + 1, source })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_comes_back_and_names_its_bad_line() {
        let create = Action::Create { file: 1, bytes: 9, version: 1, sync: Sync::FileAndDirectory };
        let ops = [
            Op { action: create, begin_ns: 5, end_ns: 7, error: None },
            Op {
                action: Action::Delete { file: 1, sync: Sync::None },
                begin_ns: 8,
                end_ns: 9,
                error: Some(5),
            },
        ];
        let text = to_lines(&ops);
        let last = "{\"a\":{\"delete\":{\"file\":1}},\"b\":8,\"e\":9,\"x\":5}";
        assert_eq!(text.lines().nth(1), Some(last));
        assert_eq!(from_lines(&text).unwrap(), ops);
        let error = from_lines(&(text + "\n{}\n")).unwrap_err();
        assert_eq!(error.line, 4);
        assert!(error.to_string().starts_with("op journal, line 4: missing field"), "{error}");
    }
}
