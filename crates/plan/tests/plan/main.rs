//! What the crate promises to its users: errors, plans, schedules, costs, a documented format.
//!
//! Here: identities of contenders that are stored; neither the way levels are represented nor
//! another factor may change one.

mod ages;
mod cost;
mod crash;
mod cycles;
mod errors;
mod format;
mod free;
mod levels;
mod mixtures;
mod parameters;
mod programs;
mod programs_errors;
mod programs_trial;
mod ranks;
mod rules;
mod schedule;
mod schema;
mod several_devices;
mod sweeps;
mod trial;
mod verdict_errors;
mod verdicts;
mod workloads;
mod written;

use rules::{file, plan};
use std::fmt::Write as _;

/// A dozen contenders and the hashes that they have in databases.
///
/// A change of a line here makes the history of that contender unreadable.
#[test]
fn the_identity_of_a_contender_is_fixed_for_ever() {
    let all = [
        "fs = ['ext4', 'ext4', 'xfs:noatime', 'btrfs:compress=zstd:3']\ndevice = 'loop:2G'",
        "fs = 'ext4:data=writeback:mkfs.block_size=1024'\ndevice = 'ram:512M'\nmemory = '64M'",
        "fs = 'tmpfs'\ndevice = 'loop:1G'\ncache = 'warm'\nhandicap = ['0ms', '30 ms']",
        "fs = 'xfs'\ndevice = '/dev/vdb'\ncache = 'cold-start'\ndiscard = 'on'\n\
         ssd = 'precondition'",
        "fs = 'ext2'\ndevice = 'zram:1G'\nread_ahead = ['default', '128K']\n\
         write_cache = 'write-through'",
        "fs = 'ext4'\ndevice = 'null_blk:1G'\nscheduler = ['none', 'bfq']\nssd = 'blkdiscard'",
        "device = '/srv/data'\ncache = 'warm'",
    ];
    let mut found = String::new();
    for factors in all {
        for contender in plan(&file(factors)).unwrap().contenders {
            let _ = writeln!(found, "{} {}", contender.id().short(), contender.label);
        }
    }
    let copies = "fs = \"xfs\"\ndevice = \"loop:2G\"\nreflink = [\"never\", \"auto\", \"always\"]";
    let text = file(copies).replace("small-files", "copy");
    for contender in plan(&text).unwrap().contenders {
        let _ = writeln!(found, "{} {}", contender.id().short(), contender.label);
    }
    assert_eq!(found, GOLDEN, "{found}");
}

const GOLDEN: &str = "\
80f40b107502 ext4#1
50a6d223e304 ext4#2
242a7c1ef329 xfs noatime
26b75f7d1d21 btrfs compress=zstd:3
de113c78cd8a ext4
5067e04c176d tmpfs handicap=0ms
8ce8abeb968d tmpfs handicap=30ms
c8ec42d19355 xfs
29293eeff6f6 ext2 read_ahead=default
ee85167136fe ext2 read_ahead=128K
ab6500df98b8 ext4 scheduler=none
e4e5f3bc49de ext4 scheduler=bfq
fb25fea6f560 directory
6aef195df268 xfs reflink=never
a8741c0025a5 xfs reflink=auto
3a2bf36b8c79 xfs reflink=always
";
