//! Arguments of `fsarena crash medium-errors`.

use super::crash_run::CrashRunArgs;
use clap::Args;

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct MediumErrorsArgs {
    /// File systems with options: ext4,ext4:data_err=abort,xfs.
    #[arg(long, value_name = "LIST", default_value = "ext4,xfs,btrfs")]
    pub fs: String,
    /// The modelled disk of the guests: virtual:SIZE:model=MODEL.
    #[arg(long, value_name = "DISK", default_value = "virtual:1G:model=hdd-2007")]
    pub on: String,
    /// Workloads: synced, journal, file-synced, mail-spool, truncated, unsynced.
    #[arg(long, value_name = "LIST", default_value = "synced,journal")]
    pub workload: String,
    /// Length of the work in seconds of virtual time; requests of its first three quarters fail.
    #[arg(long, value_name = "N", default_value_t = 60,
          value_parser = clap::value_parser!(u64).range(5..=3600))]
    pub seconds: u64,
    /// Runs of the work, each with another seed.
    #[arg(long, value_name = "N", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Requests that fail in each run, one at a time; writes of data, of metadata and flushes, once
    /// and always have turns.
    #[arg(long, value_name = "N", default_value_t = 12,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub cases: u32,
    /// Seed of the first run; each later run adds 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub run: CrashRunArgs,
}

const EXAMPLES: &str = "\
The same work is done again and again in a guest kernel, and each time another request of it fails
with an I/O error: a write of the data of files, or of metadata and journals, or a flush; once, or
whenever these sectors are written, or flushes are sent. Each op keeps what it reported. Another
guest then mounts what is on the disk, which has no errors any more, and looks whether all is there
of which fsync had returned 0. After flushes that failed the power of the disk goes first.

POSIX has fsync return an error where a write fails. Exit code 7: work of which it returned 0 is
lost, whatever other ops reported. Work for which an op reported an error may be lost.

Examples:
  fsarena crash medium-errors
  fsarena crash medium-errors --fs ext4,ext4:data_err=abort,ext4:data=journal
  fsarena crash medium-errors --fs f2fs,jfs --runs 3 --cases 16 --json";
