//! Whether a dataset fits a device, before anything is written.
//!
//! A rule of thumb for every file system alike: data in blocks of 4 KiB, 512 B of metadata a file,
//! and 12 % for the rest (journal, tables, reserved blocks). Whether a file system can be made that
//! small at all is its own rule and asked elsewhere.

use fsarena_model::work::Workload;

/// Bytes that a workload needs on a device.
#[must_use]
pub fn needed_bytes(workload: &Workload) -> u64 {
    let dataset = &workload.dataset;
    let file = u128::from(dataset.size_bytes.next_multiple_of(4096)) + 512;
    let dirs = u128::from(dataset.dirs) * (4096 + 512);
    let all = (u128::from(dataset.files) * file + dirs) * 112 / 100;
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// Data of a workload in blocks of 4 KiB.
pub(crate) fn block_bytes(workload: &Workload) -> u64 {
    let dataset = &workload.dataset;
    dataset.files.saturating_mul(dataset.size_bytes.next_multiple_of(4096))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn need_is_blocks_inodes_and_an_eighth() {
        let tiny = builtin::workload("tiny-files").unwrap();
        assert_eq!(block_bytes(&tiny), 10_000 * 4096);
        assert_eq!(needed_bytes(&tiny), (10_000 * 4608 + 100 * 4608) * 112 / 100);
        let mut huge = tiny;
        huge.dataset.files = u64::MAX;
        assert_eq!(needed_bytes(&huge), u64::MAX);
    }
}
