//! What was found in a file system after a power cut: how it could be mounted, and every name.

use crate::observation::Observation;
use serde::{Deserialize, Serialize};

/// Kind of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    File,
    Directory,
    Symlink,
    Other,
}

/// So many equal bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ByteRun(pub u32, pub u8);

/// A name that was found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TreeEntry {
    /// From the root of the file system, without a `/` before it.
    pub path: String,
    pub kind: NodeKind,
    pub inode: u64,
    pub links: u64,
    pub size_bytes: u64,
    /// Room that it takes on the disk.
    pub allocated_bytes: u64,
    /// Of a file, from its begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<ByteRun>,
    /// Of a file, [`super::op::ATTRIBUTE`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// Of a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// It could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
}

/// What was seen in one crash state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TreeObservation {
    /// Its files are not filled in.
    pub whole: Observation,
    /// All names but those in `lost+found`.
    pub entries: Vec<TreeEntry>,
}

impl TreeObservation {
    /// What is found under a name.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&TreeEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }
}

/// Equal bytes together.
#[must_use]
pub fn runs_of(data: &[u8]) -> Vec<ByteRun> {
    let mut runs: Vec<ByteRun> = Vec::new();
    for byte in data {
        match runs.last_mut() {
            Some(last) if last.1 == *byte => last.0 += 1,
            _ => runs.push(ByteRun(1, *byte)),
        }
    }
    runs
}

/// No file of a sequence is larger; what a guest says beyond that is not believed.
const FILE_MOST_BYTES: usize = 8 << 20;

/// The bytes again.
#[must_use]
pub fn bytes_of_runs(runs: &[ByteRun]) -> Vec<u8> {
    let bytes = runs.iter().flat_map(|run| std::iter::repeat_n(run.1, run.0 as usize));
    bytes.take(FILE_MOST_BYTES).collect()
}

/// What was done in a guest, in the time of the disk's write log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpTimes {
    pub begin_ns: u64,
    pub end_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<i32>,
}

/// A sequence that was carried out, as far as it was: after an operation that failed there is none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SequenceRecord {
    /// Mounted and settled; the first operation begins.
    pub begin_ns: u64,
    pub ops: Vec<OpTimes>,
    /// Mount options of the contender.
    pub mount_options: String,
}

impl SequenceRecord {
    /// Number of operations that were done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.ops.iter().take_while(|op| op.errno.is_none()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_runs_and_bytes_again_as_far_as_there_is_a_file_for_them() {
        let data = [7, 7, 7, 0, 0, 9];
        let runs = runs_of(&data);
        assert_eq!(runs, [ByteRun(3, 7), ByteRun(2, 0), ByteRun(1, 9)]);
        assert_eq!(bytes_of_runs(&runs), data);
        let endless = [ByteRun(1, 3), ByteRun(u32::MAX, 1), ByteRun(u32::MAX, 2)];
        assert_eq!(bytes_of_runs(&endless).len(), FILE_MOST_BYTES);
    }
}
