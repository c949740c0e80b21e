//! The table of targets, and their functions by what they read.
//!
//! `cargo xtask tidy` compares the names here with its list of files that read foreign input
//! (`xtask/src/tidy/foreign_input.rs`): a file that reads some and has no target is a fault there.

mod archives;
mod bundles;
mod crash_files;
mod databases;
mod descriptions;
mod devices;
mod fio;
mod guests;
mod hosts;
mod journals;
mod kernel_files;
mod options;
mod programs;
mod protocols;
mod runs;

use crate::target::Target;

/// All targets, by name.
pub const TARGETS: &[Target] = &[
    descriptions::APPLICATION,
    crash_files::APPLICATION_WORK,
    archives::ARCHIVE,
    bundles::BUNDLE,
    kernel_files::COUNTERS,
    crash_files::CRASH_STATE,
    crash_files::CRASH_TREE,
    databases::DATABASE_FILE,
    databases::DATABASE_ROWS,
    descriptions::DATASET,
    devices::DEVICE_BYTES,
    devices::DEVICE_LIST,
    descriptions::DEVICE_MODEL,
    programs::DEVICE_PROGRAMS,
    protocols::EXECUTOR_LINES,
    descriptions::EXPERIMENT,
    fio::FIO_JOB,
    fio::FIO_OUTPUT,
    programs::FS_PROGRAMS,
    guests::FUSE_REQUEST,
    guests::GUEST_DISK,
    guests::GUEST_PROGRAM,
    guests::GUEST_RECORD,
    hosts::HOST_ANSWERS,
    kernel_files::HOST_FACTS,
    hosts::HOST_LIST,
    fio::IMPORT_BONNIE,
    fio::IMPORT_FIO,
    fio::IMPORT_HYPERFINE,
    fio::IMPORT_IOR,
    fio::IMPORT_MDTEST,
    fio::IMPORT_PHORONIX,
    crash_files::KEPT_STATE,
    kernel_files::KERNEL_LOG,
    guests::KERNEL_SOURCE,
    options::LEVEL,
    kernel_files::MOUNTINFO,
    crash_files::PACKED_LOG,
    options::QUANTITY,
    hosts::RANK_MESSAGES,
    journals::RUN_JOURNAL,
    options::RUN_OPTIONS,
    runs::RUN_RECORD,
    runs::RUN_SHOWN,
    journals::RUN_SPOOL,
    hosts::SSH_MESSAGES,
    kernel_files::TRACE_PAGE,
    journals::WATCH_JOURNAL,
    options::WIPE,
    protocols::WORKER_LINES,
    crash_files::WRITE_LOG,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_target_has_something_to_begin_with() {
        assert!(TARGETS.is_sorted_by(|a, b| a.name < b.name));
        for target in TARGETS {
            let Target { name, reads, shares, most_bytes, .. } = target;
            assert!(!name.is_empty() && !reads.is_empty() && *shares > 0, "{name}");
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty(), "{name} has no seed");
            let longest = seeds.iter().map(Vec::len).max().unwrap_or(0);
            assert!(longest <= *most_bytes, "{name}: a seed has {longest} bytes");
        }
    }
}
