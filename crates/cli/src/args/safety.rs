//! Arguments of `fsarena safety`.

use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = SAFETY_EXAMPLES)]
pub struct SafetyArgs {
    /// File systems with options: ext4,ext4:data=writeback,xfs.
    #[arg(long, value_name = "LIST", default_value = "ext3,ext4,xfs,btrfs")]
    pub fs: String,
    /// The modelled disk of the guests: virtual:SIZE:model=MODEL.
    #[arg(long, value_name = "DISK", default_value = "virtual:8G:model=hdd-2007")]
    pub on: String,
    /// Workloads: unsynced, synced, file-synced, mail-spool, journal.
    #[arg(long, value_name = "LIST", default_value = "unsynced,synced")]
    pub workload: String,
    /// Crash states: prefix (all writes are there), dropall (only those that a flush covers),
    /// drop-one, keep-one, subset, torn, lying=SECONDS (flushes younger than that do not count).
    #[arg(long, value_name = "LIST", default_value = "dropall")]
    pub state: String,
    /// Length of the work in seconds of virtual time; data are written back after 30 s.
    #[arg(long, value_name = "N", default_value_t = 120,
          value_parser = clap::value_parser!(u64).range(5..=3600))]
    pub seconds: u64,
    /// Runs of the work, each with another seed.
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Power cuts of each run, at uniform times; they are divided among the states.
    #[arg(long, value_name = "N", default_value_t = 30,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub points: u32,
    /// Of the first run; the next ones count up.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

const SAFETY_EXAMPLES: &str = "\
Works on a modelled disk in a guest kernel (fsarena kernel build), cuts its power at random times,
and looks in other guests at what is left. Needs no root, and writes nothing but its answer.

Examples:
  fsarena safety
  fsarena safety --fs ext4,ext4:data=writeback:nodelalloc --workload unsynced
  fsarena safety --fs xfs,btrfs --workload synced --state dropall,lying=2
  fsarena safety --fs ext2,jfs,reiserfs --on virtual:4G:model=hdd-2003 --runs 3";
