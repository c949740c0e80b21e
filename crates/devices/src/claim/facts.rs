//! Facts of devices and of what lies below them, for the record. What is missing is left out.

use crate::TargetError;
use crate::vet::available_bytes;
use crate::{inventory, mountinfo, queue};
use fsarena_model::units::Bytes;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Facts from the queue of a device, or of its disk, and of what zram holds (`mm_stat`, bytes and
/// counts as Documentation/admin-guide/blockdev/zram.rst orders them); `name` is the kernel's.
pub(super) fn of_queue(sys_root: &Path, name: &str) -> BTreeMap<String, String> {
    const FILES: [(&str, &str); 10] = [
        ("logical_sector_bytes", "logical_block_size"),
        ("physical_sector_bytes", "physical_block_size"),
        ("scheduler", "scheduler"),
        ("rotational", "rotational"),
        ("write_cache", "write_cache"),
        ("read_ahead_kib", "read_ahead_kb"),
        ("requests", "nr_requests"),
        ("discard_granularity_bytes", "discard_granularity"),
        ("discard_max_bytes", "discard_max_bytes"),
        ("max_request_kib", "max_sectors_kb"),
    ];
    let queue = queue::directory(sys_root, name);
    let mut facts = BTreeMap::new();
    for (name, file) in FILES {
        if let Ok(text) = fs::read_to_string(queue.join(file)) {
            facts.insert(name.to_owned(), inventory::chosen(text.trim()).to_owned());
        }
    }
    for (name, file) in [("zram_algorithm", "comp_algorithm"), ("zram_mm_stat", "mm_stat")] {
        if let Ok(text) = fs::read_to_string(queue.with_file_name(file)) {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            facts.insert(name.to_owned(), inventory::chosen(&text).to_owned());
        }
    }
    facts
}

/// What the directory is on; gives the type.
pub(super) fn of_backing(dir: &Path, facts: &mut BTreeMap<String, String>) -> String {
    let Ok(Some(entry)) = mountinfo::find_for_path(dir) else {
        return "an unknown file system".to_owned();
    };
    facts.insert("backing_fs".to_owned(), entry.fstype.clone());
    facts.insert("backing_options".to_owned(), entry.options());
    facts.insert("backing_source".to_owned(), entry.source);
    entry.fstype
}

/// A device in memory must fit into it; it would take it only as it is written, and then the
/// machine would run out of it. `proc_root` is `/proc`.
pub(super) fn memory_for(proc_root: &Path, kind: &str, bytes: u64) -> Result<(), TargetError> {
    match available_bytes(proc_root) {
        Some(has) if has < bytes => Err(TargetError::state(
            Path::new(kind),
            format!(
                "it lies in memory, and only {} of the {} needed are available",
                Bytes(has),
                Bytes(bytes)
            ),
            "use a smaller size, or --on loop:SIZE",
        )),
        _ => Ok(()),
    }
}
