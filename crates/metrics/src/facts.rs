//! Settings of the host that are read from one small file each.
//!
//! One line a setting: its name in records, the root it lies under, its path, how it is written.

use crate::Roots;
use crate::read_file::text;
use std::collections::BTreeMap;
use std::path::Path;

/// Root of a setting.
#[derive(Clone, Copy)]
enum Root {
    /// procfs.
    Proc,
    /// sysfs.
    Sys,
}

/// How a setting is written in its file.
#[derive(Clone, Copy)]
enum Form {
    /// As it is.
    Plain,
    /// All choices, the one in force in brackets: `always [madvise] never`.
    Chosen,
}

use Form::{Chosen, Plain};
use Root::{Proc, Sys};

/// Settings that can change a result. Documentation/admin-guide/sysctl/vm.rst for `vm/*`.
const SETTINGS: &[(&str, Root, &str, Form)] = &[
    ("dirty_background_bytes", Proc, "sys/vm/dirty_background_bytes", Plain),
    ("dirty_background_ratio", Proc, "sys/vm/dirty_background_ratio", Plain),
    ("dirty_bytes", Proc, "sys/vm/dirty_bytes", Plain),
    ("dirty_expire_centisecs", Proc, "sys/vm/dirty_expire_centisecs", Plain),
    ("dirty_ratio", Proc, "sys/vm/dirty_ratio", Plain),
    ("dirty_writeback_centisecs", Proc, "sys/vm/dirty_writeback_centisecs", Plain),
    ("laptop_mode", Proc, "sys/vm/laptop_mode", Plain),
    ("min_free_kib", Proc, "sys/vm/min_free_kbytes", Plain),
    ("no_turbo", Sys, "devices/system/cpu/intel_pstate/no_turbo", Plain),
    ("numa_nodes", Sys, "devices/system/node/online", Plain),
    ("smt", Sys, "devices/system/cpu/smt/control", Plain),
    ("swappiness", Proc, "sys/vm/swappiness", Plain),
    ("thp", Sys, "kernel/mm/transparent_hugepage/enabled", Chosen),
    ("thp_defrag", Sys, "kernel/mm/transparent_hugepage/defrag", Chosen),
    ("thp_shmem", Sys, "kernel/mm/transparent_hugepage/shmem_enabled", Chosen),
    ("vfs_cache_pressure", Proc, "sys/vm/vfs_cache_pressure", Plain),
    ("zswap", Sys, "module/zswap/parameters/enabled", Plain),
];

/// All settings that this kernel has.
pub(crate) fn settings(roots: &Roots) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for &(name, root, path, form) in SETTINGS {
        let root = match root {
            Proc => &roots.proc,
            Sys => &roots.sys,
        };
        let value = text(&root.join(path)).filter(|value| !value.is_empty());
        if let Some(value) = value.map(|value| read_form(&value, form)) {
            found.insert(name.to_owned(), value);
        }
    }
    let loadavg = text(&roots.proc.join("loadavg"));
    let composed = [
        ("load_1m", loadavg.and_then(|text| text.split(' ').next().map(str::to_owned))),
        ("cgroup", Some(cgroup(roots).to_owned())),
        ("psi", Some(if psi_works(roots) { "on" } else { "off" }.to_owned())),
        ("vulnerable", vulnerabilities(roots, "Vulnerable")),
        ("mitigated", vulnerabilities(roots, "Mitigation")),
    ];
    for (name, value) in composed {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            found.insert(name.to_owned(), value);
        }
    }
    found
}

fn read_form(value: &str, form: Form) -> String {
    let chosen = value.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    match (form, chosen) {
        (Chosen, Some((chosen, _))) => chosen.to_owned(),
        _ => value.to_owned(),
    }
}

/// Which cgroup hierarchies are mounted: `v1`, `v2`, `hybrid` (both), `none`.
fn cgroup(roots: &Roots) -> &'static str {
    // `self` is a link in procfs; mountinfo(5): the type follows the lone dash.
    let mounts = text(&roots.proc.join("self/mountinfo")).unwrap_or_default();
    let has = |wanted: &str| {
        mounts.lines().any(|line| {
            line.split_once(" - ").and_then(|(_, rest)| rest.split(' ').next()) == Some(wanted)
        })
    };
    match (has("cgroup"), has("cgroup2")) {
        (true, true) => "hybrid",
        (true, false) => "v1",
        (false, true) => "v2",
        (false, false) => "none",
    }
}

fn psi_works(roots: &Roots) -> bool {
    text(&roots.proc.join("pressure/io")).is_some_and(|text| text.starts_with("some "))
}

/// Names of the processor vulnerabilities in a state, sorted: mitigations make system calls slower.
fn vulnerabilities(roots: &Roots, state: &str) -> Option<String> {
    let directory = roots.sys.join("devices/system/cpu/vulnerabilities");
    let entries = std::fs::read_dir(directory).ok()?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| in_state(&entry.path(), state))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Some(names.join(" "))
}

fn in_state(path: &Path, state: &str) -> bool {
    text(path).is_some_and(|text| text.starts_with(state))
}
