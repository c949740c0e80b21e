//! What the client of NFS counts for one mount. It is read before and after a phase, not sampled.
//!
//! `/proc/self/mountstats` has the statistics of each NFS mount (net/sunrpc/stats.c,
//! fs/nfs/super.c). What a line does not tell is left out.

use crate::KernelRoots;
use crate::read_file::{number, text};
use fsarena_model::sample::Counters;
use std::path::Path;

/// Of the line `bytes:` of a mount by NFS, from 0: what the server sent and took.
const NFS_BYTES: [(usize, &str); 2] = [(4, "nfs.read_bytes"), (5, "nfs.written_bytes")];
/// Of the line of each operation: calls, transmissions, and ms between sending and answer.
const NFS_OPS: [(usize, &str, u64); 3] =
    [(0, "nfs.ops", 1), (1, "nfs.transmissions", 1), (6, "nfs.round_trip_ns", 1_000_000)];

/// What NFS counted for the file system mounted at `mount_point`; nothing of every other.
#[must_use]
pub fn nfs_counters(roots: &KernelRoots, mount_point: &Path) -> Counters {
    let mut all = Counters::new();
    let place = mount_point.to_string_lossy();
    let file = text(&roots.proc.join("self/mountstats")).unwrap_or_default();
    let (mut is_ours, mut in_ops) = (false, false);
    for line in file.lines() {
        if line.starts_with("device ") {
            let mounted = line.split_once(" mounted on ").map(|(_, rest)| rest);
            let with = mounted.and_then(|rest| rest.split_once(" with fstype nfs"));
            is_ours = with.is_some_and(|(at, _)| at == place);
            // Of several at one place the last covers the others.
            if is_ours {
                all.clear();
            }
            in_ops = false;
        } else if line.trim() == "per-op statistics" {
            in_ops = is_ours;
        } else if is_ours {
            let Some((key, values)) = line.trim().split_once(':') else { continue };
            let values: Vec<&str> = values.split_whitespace().collect();
            if key == "bytes" {
                for (at, name) in NFS_BYTES {
                    add(&mut all, name, values.get(at).copied(), 1);
                }
            } else if in_ops {
                for (at, name, unit) in NFS_OPS {
                    add(&mut all, name, values.get(at).copied(), unit);
                }
            }
        }
    }
    all
}

/// Growth of counters that were there both times; one that began anew is left out.
#[must_use]
pub fn counters_growth(before: &Counters, after: &Counters) -> Counters {
    let grown = after
        .iter()
        .filter_map(|(name, &now)| Some((name.clone(), now.checked_sub(*before.get(name)?)?)));
    grown.collect()
}

fn add(all: &mut Counters, name: &str, value: Option<&str>, unit: u64) {
    let Some(value) = value.and_then(|value| number(value.as_bytes())) else { return };
    let sum = all.entry(name.to_owned()).or_default();
    *sum = sum.saturating_add(value.saturating_mul(unit));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const MOUNTSTATS: &str = "\
device proc mounted on /proc with fstype proc
device fs1:/export mounted on /mnt/bench with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=1048576
\tage:\t120
\tbytes:\t1000 2000 0 0 300 400 5 6
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 800 1 1 0 11 1000 1000 0 1000 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t        READ: 10 12 0 2000 90000 3 40 45 0
\t       WRITE: 20 20 0 80000 3000 1 60 70 0

device fs2:/other mounted on /mnt/other with fstype nfs4 statvers=1.1
\tbytes:\t9 9 9 9 9 9 9 9
\tper-op statistics
\t        READ: 9 9 9 9 9 9 9 9 9
";

    #[test]
    fn nfs_is_counted_for_its_own_mount() {
        let dir = tempfile::tempdir().unwrap();
        let roots = KernelRoots { proc: dir.path().join("proc"), ..KernelRoots::default() };
        fs::create_dir_all(roots.proc.join("self")).unwrap();
        fs::write(roots.proc.join("self/mountstats"), MOUNTSTATS).unwrap();
        let found = nfs_counters(&roots, Path::new("/mnt/bench"));
        let expected = [
            ("nfs.read_bytes", 300),
            ("nfs.written_bytes", 400),
            ("nfs.ops", 31),
            ("nfs.transmissions", 33),
            ("nfs.round_trip_ns", 100_000_000),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!(found, expected);
        assert!(nfs_counters(&roots, Path::new("/mnt")).is_empty());
        assert!(nfs_counters(&roots, Path::new("/proc")).is_empty());
    }

    #[test]
    fn what_began_anew_is_left_out() {
        let counters = |pairs: &[(&str, u64)]| -> Counters {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let before = counters(&[("a", 5), ("b", 9)]);
        let after = counters(&[("a", 7), ("b", 1), ("c", 3)]);
        assert_eq!(counters_growth(&before, &after), counters(&[("a", 2)]));
    }
}
