//! Arguments of `fsarena crash`.

use super::KeptStatesCommand;
use super::crash_medium_errors::MediumErrorsArgs;
use super::crash_run::CrashRunArgs;
use super::crash_sequences::{LitmusArgs, SequencesArgs};
use clap::{Args, Subcommand};

#[derive(Args, Debug)]
#[command(after_help = CRASH_EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct CrashArgs {
    #[command(subcommand)]
    pub command: Option<CrashCommand>,
    /// File systems with options: ext4,ext4:data=writeback,xfs.
    #[arg(long, value_name = "LIST", default_value = "ext3,ext4,xfs,btrfs")]
    pub fs: String,
    /// The modelled disk: virtual:SIZE:model=MODEL in guests, vdisk:SIZE:model=MODEL under the
    /// kernel of this machine, in real time and as root.
    #[arg(long, value_name = "DISK", default_value = "virtual:8G:model=hdd-2007")]
    pub on: String,
    /// Workloads: unsynced, synced, file-synced, mail-spool, journal, truncated; or those of an
    /// experiment, such as small-files, of which the phases that change files are done evenly over
    /// the time [default: unsynced,synced, or all of --experiment].
    #[arg(long, value_name = "LIST", add = crate::complete::crash_workloads())]
    pub workload: Option<String>,
    /// Built-in experiment or TOML file that has the workloads.
    #[arg(long, value_name = "NAME", add = crate::complete::experiments())]
    pub experiment: Option<String>,
    /// Multiply files and the size of large files in workloads of an experiment.
    #[arg(long, value_name = "FACTOR", value_parser = super::machine::scale)]
    pub scale: Option<f64>,
    /// Applications in place of workloads, by name or as files of their descriptions:
    /// sqlite-wal,./mine.toml. Built in: sqlite-wal, sqlite-delete,
    /// sqlite-extra, sqlite-off, git, git-fsync-all, maildir, postgresql.
    #[arg(long, value_name = "LIST", conflicts_with_all = ["workload", "experiment", "scale"],
          add = crate::complete::applications())]
    pub application: Option<String>,
    /// Run commands of application files without asking.
    #[arg(long, requires = "application")]
    pub yes: bool,
    /// Crash states: prefix (all that had completed), dropall (only what a flush covers),
    /// drop-one, keep-one, subset, torn, lying=SECONDS (flushes younger than that do not count).
    #[arg(long, value_name = "LIST", default_value = "dropall")]
    pub state: String,
    /// Length of the work in seconds, in guests of virtual time; data are written back after 30 s.
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
    /// Seed of the first run; each later run adds 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Cut the power at every entry of the write log instead, in every way: finds bugs, and gives
    /// no rates.
    #[arg(long, conflicts_with_all = ["points", "state"])]
    pub every_event: bool,
    /// With --every-event: states of each run that are looked at; of more, so many are drawn.
    #[arg(long, value_name = "N", default_value_t = 2000, requires = "every_event",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub states: u32,
    /// Cut the power once more while every Kth state is recovered; 0: never.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub recovery_every: u32,
    /// The disk reports flush number N of the work and does nothing for it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub lose_flush: Option<u32>,
    /// States that break a promise and are kept, of each contender, workload and kind of state.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub keep: u32,
    #[command(flatten)]
    pub run: CrashRunArgs,
}

#[derive(Subcommand, Debug)]
pub enum CrashCommand {
    /// Carry out short sequences of file operations (the bounds of ACE), and look for what fsync
    /// had reported and is not there.
    Sequences(SequencesArgs),
    /// Ask what of unsynced work may be seen: appends, replaced and created files.
    Litmus(LitmusArgs),
    /// Let writes of the work fail with an I/O error, and see which calls report it and what
    /// is lost.
    MediumErrors(MediumErrorsArgs),
    #[command(flatten)]
    KeptStates(KeptStatesCommand),
}

const CRASH_EXAMPLES: &str = "\
Works on a modelled disk in a guest kernel (fsarena kernel build), cuts its power at random times,
and looks in other guests at what is left. Needs no root; with --on vdisk:... it does so under the
kernel of this machine, as root. Exit code 7: what fsync promises was
broken on a disk that is honest. States that break a promise are kept below the user's data
directory: see fsarena crash states.

fsarena stores the RUN: `fsarena run --resume` goes on with one that was interrupted, and show,
report, export and bundle take it like any other.

An application works in the mounted file system and prints a line for each unit of work that it
regards as durable; its own check then says of each crash state whether its data are whole, and how
many units are there (fsarena doc crash-safety).

Examples:
  fsarena crash
  fsarena crash --application sqlite-wal,sqlite-off --fs ext4,xfs,btrfs
  fsarena crash --fs ext4,ext4:data=writeback:nodelalloc --workload unsynced
  fsarena crash --fs xfs,btrfs --workload synced --state dropall,lying=2
  fsarena crash --workload small-files,mail-server --scale 0.1
  fsarena crash --experiment ./mine.toml --fs ext4,xfs
  fsarena crash --fs ext4 --workload synced --every-event --seconds 20 --runs 1
  fsarena crash --fs ext4 --workload synced --every-event --lose-flush 40 --runs 1
  fsarena crash --fs ext4,xfs --on vdisk:8G:model=hdd-2007 --seconds 60 --runs 3
  fsarena crash --fs ext2,jfs,reiserfs --on virtual:4G:model=hdd-2003 --runs 3
  fsarena crash sequences --length 1 --fs ext4,xfs,btrfs
  fsarena crash litmus --fs ext4,xfs,btrfs
  fsarena crash medium-errors --fs ext4,xfs,btrfs";
