//! Arguments of `fsarena crash sequences` and `fsarena crash litmus`.

use super::crash_run::CrashRunArgs;
use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = SEQUENCES_EXAMPLES)]
pub struct SequencesArgs {
    /// Operations of each sequence, without those that others need: 1 or 2.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=2))]
    pub length: u32,
    /// At most so many sequences, drawn by the seed (if not given: all of one operation, 1000 of
    /// two).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub sample: Option<u32>,
    /// Seed of what is drawn, of the disks and of the guests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// File systems with options: ext4,ext4:nobarrier,xfs.
    #[arg(long, value_name = "LIST", default_value = "ext4,xfs,btrfs")]
    pub fs: String,
    /// The modelled disk of the guests: virtual:SIZE:model=MODEL.
    #[arg(long, value_name = "DISK", default_value = "virtual:512M:model=hdd-2007")]
    pub on: String,
    /// Cut the power at every write, flush and discard, and not only when fsync or sync returns.
    #[arg(long)]
    pub every_entry: bool,
    /// The published bounds alone, without symbolic links and rmdir.
    #[arg(long)]
    pub published: bool,
    /// Cases printed of each demand that is not met; the JSON document has all.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub cases: usize,
    #[command(flatten)]
    pub run: CrashRunArgs,
}

const SEQUENCES_EXAMPLES: &str = "\
One or two operations (creat, mkdir, fallocate, writes, link, rename, …) on few files, each followed
by fsync of something near or by sync, on a file system of their own. After each fsync and sync the
power is cut, and another guest looks whether what it reported is there.

Examples:
  fsarena crash sequences
  fsarena crash sequences --length 2 --sample 200 --fs btrfs
  fsarena crash sequences --every-entry --fs ext4,xfs --json
  fsarena crash sequences --sample 20 --fs ext4:nobarrier";

#[derive(Args, Debug)]
#[command(after_help = LITMUS_EXAMPLES)]
pub struct LitmusArgs {
    /// Programs: prefix-append, replace-via-rename, create-via-rename, replace-after-fsync.
    #[arg(
        long,
        value_name = "LIST",
        default_value = "prefix-append,replace-via-rename,create-via-rename,replace-after-fsync"
    )]
    pub litmus: String,
    /// Programs of each name, with other sizes and times.
    #[arg(long, value_name = "N", default_value_t = 8,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub programs: u32,
    /// States of each program that are looked at, at most.
    #[arg(long, value_name = "N", default_value_t = 60,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub states: u32,
    /// Seed of the first program; each later one adds 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// File systems with options: ext4,ext4:noauto_da_alloc,xfs.
    #[arg(long, value_name = "LIST", default_value = "ext3,ext4,xfs,btrfs")]
    pub fs: String,
    /// The modelled disk of the guests: virtual:SIZE:model=MODEL.
    #[arg(long, value_name = "DISK", default_value = "virtual:512M:model=hdd-2007")]
    pub on: String,
    #[command(flatten)]
    pub run: CrashRunArgs,
}

const LITMUS_EXAMPLES: &str = "\
Appends to a synced file, renames a new file over a synced one or to a new name, and waits 65 s of
virtual time; in every second program another file is synced meanwhile. The power is cut at every
write of that time, with all and with parts of the writes that no flush covers. Before, 4 MiB are
written: the kernel writes back at once what is for a disk that it has not written to.

Examples:
  fsarena crash litmus
  fsarena crash litmus --litmus replace-via-rename --fs ext4,ext4:noauto_da_alloc --programs 20";
