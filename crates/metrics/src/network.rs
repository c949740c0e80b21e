//! What this machine's network did, and what the client of NFS counts for one mount: figures of a
//! host that works on a file system elsewhere. They are read before and after a phase, not sampled.
//!
//! `/proc/net/dev` and `/proc/net/snmp` are those of the caller's network namespace
//! (Documentation/filesystems/proc.rst); `/proc/self/mountstats` has the statistics of each NFS
//! mount (net/sunrpc/stats.c, fs/nfs/super.c). What a line does not tell is left out.

use crate::Roots;
use crate::read_file::{number, text};
use fsarena_model::client::RECEIVED;
use fsarena_model::sample::Counters;
use std::path::Path;

/// Columns of `/proc/net/dev` behind the name, from 0.
const COLUMNS: [(usize, &str); 4] =
    [(0, RECEIVED), (1, "net.received_packets"), (8, "net.sent_bytes"), (9, "net.sent_packets")];
/// Of the line `bytes:` of a mount by NFS, from 0: what the server sent and took.
const NFS_BYTES: [(usize, &str); 2] = [(4, "nfs.read_bytes"), (5, "nfs.written_bytes")];
/// Of the line of each operation: calls, transmissions, and ms between sending and answer.
const NFS_OPS: [(usize, &str, u64); 3] =
    [(0, "nfs.ops", 1), (1, "nfs.transmissions", 1), (6, "nfs.round_trip_ns", 1_000_000)];

/// Traffic of all interfaces since they came up, loopback included: a server may be on this host.
/// An interface that lies on others (a bond, a bridge, a VLAN) is left out, as they count the same
/// bytes.
#[must_use]
pub fn network_counters(roots: &Roots) -> Counters {
    let mut all = Counters::new();
    for line in text(&roots.proc.join("net/dev")).unwrap_or_default().lines() {
        let Some((name, columns)) = line.split_once(':') else { continue };
        if lies_on_others(roots, name.trim()) {
            continue;
        }
        let columns: Vec<&str> = columns.split_whitespace().collect();
        for (at, name) in COLUMNS {
            add(&mut all, name, columns.get(at).copied(), 1);
        }
    }
    let snmp = text(&roots.proc.join("net/snmp")).unwrap_or_default();
    let mut tcp = snmp.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    if let (Some(names), Some(values)) = (tcp.next(), tcp.next()) {
        let mut pairs = names.split_whitespace().zip(values.split_whitespace());
        let retransmitted = pairs.find(|(name, _)| *name == "RetransSegs");
        add(&mut all, "net.retransmitted_segments", retransmitted.map(|(_, value)| value), 1);
    }
    all
}

/// What NFS counted for the file system mounted at `mount_point`; nothing of every other.
#[must_use]
pub fn nfs_counters(roots: &Roots, mount_point: &Path) -> Counters {
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

fn lies_on_others(roots: &Roots, interface: &str) -> bool {
    let entries = std::fs::read_dir(roots.sys.join("class/net").join(interface));
    let mut names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().starts_with("lower_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  eth0: 5000000    4000    0    0    0     0          0         0     7000      70    0    0    0     0       0          0
 bond0: 5000000    4000    0    0    0     0          0         0     7000      70    0    0    0     0       0          0
";
    const SNMP: &str = "\
Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin InSegs OutSegs RetransSegs InErrs
Tcp: 1 200 900 800 17 0
";
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

    fn roots(dir: &Path) -> Roots {
        let roots = Roots { proc: dir.join("proc"), sys: dir.join("sys"), ..Roots::default() };
        fs::create_dir_all(roots.proc.join("net")).unwrap();
        fs::create_dir_all(roots.proc.join("self")).unwrap();
        fs::create_dir_all(roots.sys.join("class/net/bond0/lower_eth0")).unwrap();
        fs::create_dir_all(roots.sys.join("class/net/eth0/upper_bond0")).unwrap();
        roots
    }

    #[test]
    fn traffic_is_counted_once() {
        let dir = tempfile::tempdir().unwrap();
        let roots = roots(dir.path());
        assert!(network_counters(&roots).is_empty(), "without the files");
        fs::write(roots.proc.join("net/dev"), DEV).unwrap();
        fs::write(roots.proc.join("net/snmp"), SNMP).unwrap();
        let found = network_counters(&roots);
        let expected = [
            ("net.received_bytes", 5_000_100),
            ("net.received_packets", 4001),
            ("net.retransmitted_segments", 17),
            ("net.sent_bytes", 7100),
            ("net.sent_packets", 71),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!(found, expected);
    }

    #[test]
    fn nfs_is_counted_for_its_own_mount() {
        let dir = tempfile::tempdir().unwrap();
        let roots = roots(dir.path());
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
