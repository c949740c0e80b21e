//! Facts of devices and of what lies below them, for the record. What is missing is left out.

use crate::TargetError;
use crate::vet::available_bytes;
use crate::{inventory, mountinfo, queue};
use fsarena_model::units::Bytes;
use std::collections::{BTreeMap, BTreeSet};
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

/// The facts of several devices as one: sizes are added, what is in memory is so if all are, and
/// where they differ otherwise each is told, in their order.
pub(super) fn of_all(mut parts: Vec<BTreeMap<String, String>>) -> BTreeMap<String, String> {
    const JOINT: &str = " + ";
    if parts.len() < 2 {
        return parts.pop().unwrap_or_default();
    }
    let names: BTreeSet<String> = parts.iter().flat_map(BTreeMap::keys).cloned().collect();
    let of_name = |name: String| {
        let values: Vec<&str> =
            parts.iter().map(|part| part.get(&name).map_or("none", String::as_str)).collect();
        let value = match name.as_str() {
            "size_bytes" => {
                let sizes = values.iter().filter_map(|text| text.parse::<u64>().ok());
                sizes.fold(0, u64::saturating_add).to_string()
            }
            "in_memory" => values.iter().all(|value| *value == "true").to_string(),
            _ if values.iter().all(|value| *value == values[0]) => values[0].to_owned(),
            _ => values.join(JOINT),
        };
        (name, value)
    };
    names.into_iter().map(of_name).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_several_devices_are_told_as_one() {
        let facts = |of: &[(&str, &str)]| {
            of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let one: BTreeMap<String, String> =
            facts(&[("size_bytes", "10"), ("scheduler", "none"), ("in_memory", "true")]);
        let other = facts(&[
            ("size_bytes", "20"),
            ("scheduler", "bfq"),
            ("in_memory", "false"),
            ("model", "M"),
        ]);
        assert_eq!(of_all(vec![one.clone()]), one);
        let both = of_all(vec![one.clone(), other]);
        let told: Vec<&str> = both.values().map(String::as_str).collect();
        assert_eq!(told, ["false", "none + M", "none + bfq", "30"]);
        let twice = of_all(vec![one.clone(), one]);
        assert_eq!((&*twice["size_bytes"], &*twice["scheduler"]), ("20", "none"));
        assert!(of_all(Vec::new()).is_empty());
    }
}
