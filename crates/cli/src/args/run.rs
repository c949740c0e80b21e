//! Arguments of `run`: what to compare, how to repeat it, where, and what to print.

use super::factors::FactorArgs;
use crate::complete;
use clap::Args;
use std::path::PathBuf;

const WHAT: &str = "What to compare";
const WHERE: &str = "Where";
const HOW_LONG: &str = "How long";
const HOW: &str = "How to measure";
const SAFETY: &str = "Safety and recovery";
const OUTPUT: &str = "Output";

#[derive(Args, Debug, Default)]
#[command(after_help = RUN_EXAMPLES, after_long_help = RUN_EXAMPLES_ALL)]
pub struct RunArgs {
    /// Built-in experiment or TOML file [default: quick].
    ///
    /// `fsarena experiments` lists those that are built in. Without it: `quick`, or the workloads
    /// of --workload.
    #[arg(help_heading = WHAT, add = complete::experiments())]
    pub experiment: Option<String>,
    /// File systems with options: ext4,xfs:noatime.
    ///
    /// Separated by commas. Mount and mkfs options follow after colons: ext4:noatime,
    /// xfs:mkfs.block_size=1024. A range means one contender for each level:
    /// ext4:mkfs.cluster_size=16K..256K. The same name twice is an A/A comparison.
    #[arg(long, value_name = "LIST", help_heading = WHAT, add = complete::filesystems())]
    pub fs: Option<String>,
    /// Built-in workloads, perhaps at several levels, and fio job files (.fio).
    ///
    /// Separated by commas. Levels of parameters follow after colons, as lists or ranges:
    /// random-io:bs=4K,64K:iodepth=1..16 is one workload for each combination of them. A range
    /// without a step goes in powers of two. Parameters are bs, size, files, dirs, per_dir, depth,
    /// name_length, iodepth, threads, ops, rwmixread and rate; a workload has those that it can
    /// take.
    #[arg(long, value_name = "LIST", help_heading = WHAT, add = complete::workloads())]
    pub workload: Option<String>,
    /// Compare every contender with this one only.
    ///
    /// A file system as written, or a label such as "ext4 data=writeback". Without it, every pair
    /// is compared.
    #[arg(long, value_name = "CONTENDER", help_heading = WHAT)]
    pub baseline: Option<String>,
    /// Questions to decide, such as small-files:create.
    ///
    /// Separated by commas: WORKLOAD:PHASE, with * for every workload or phase; :cpu, :written or
    /// :p99 asks for that instead of the time, :time:returned for another clock. Without it: the
    /// time of every timed phase.
    #[arg(long, value_name = "LIST", help_heading = WHAT, hide_short_help = true)]
    pub ask: Option<String>,
    /// The question whose answer is printed first.
    ///
    /// Such as small-files:create; it must be one of those asked. Without it: the first of them.
    #[arg(long, value_name = "QUESTION", help_heading = WHAT, hide_short_help = true)]
    pub headline: Option<String>,
    /// Within this it is the SAME [default: 5%].
    ///
    /// Ratios within this margin are the SAME, such as 5% or 0.05.
    #[arg(long, value_name = "SHARE", help_heading = WHAT)]
    pub margin: Option<String>,
    /// Multiply files and the size of large files.
    ///
    /// The number of files in sets and the size of single large files; in cycles also the updates,
    /// the period and the second load. Replaces the scale of the experiment (`quick` has one).
    #[arg(long, value_name = "FACTOR", help_heading = WHAT)]
    pub scale: Option<f64>,
    /// Crash runs of each workload of power cuts.
    ///
    /// In place of `runs` of the section `[crash]` of the experiment; 0 for none.
    #[arg(long, value_name = "N", help_heading = WHAT, hide_short_help = true,
          value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub crash_runs: Option<u32>,
    #[command(flatten)]
    pub factors: FactorArgs,
    /// loop:SIZE, ram:SIZE, zram:SIZE, a device or a directory.
    ///
    /// Where to make the file systems, separated by commas: loop:SIZE (an image file), ram:SIZE (an
    /// image in memory), zram:SIZE, brd:SIZE, null_blk:SIZE, vdisk:SIZE:model=MODEL (a modelled
    /// disk, such as hdd-2007), virtual:SIZE:model=MODEL (the same in a guest kernel, in virtual
    /// time, without root; see --kernel), a block device (see --wipe) or a directory. Several
    /// devices for one file system (btrfs) have + between them, /dev/sdb+/dev/sdc, or a number
    /// behind, loop:1G*2; each is loop:SIZE, ram:SIZE or a block device.
    #[arg(long, value_name = "LIST", help_heading = WHERE, add = complete::devices())]
    pub on: Option<String>,
    /// Guest kernel of virtual:SIZE:model=MODEL: a release or a file.
    ///
    /// A release of those that `fsarena kernel list` prints, such as 6.12, or a file with its path,
    /// such as ./linux: a kernel of your own, which is booted twice before the RUN to see whether
    /// it is one. Of all virtual devices that name none; :kernel=RELEASE|PATH behind a model names
    /// one, so that kernels can be compared. Without it: the latest that was built.
    #[arg(long, value_name = "RELEASE|PATH", help_heading = WHERE, hide_short_help = true)]
    pub kernel: Option<String>,
    /// Directory for image files [default: /var/tmp].
    ///
    /// Without it: FSARENA_IMAGE_DIR, else /var/tmp.
    // Not by clap's `env`: --resume would be refused wherever the variable is set.
    #[arg(long, value_name = "DIR", help_heading = WHERE, hide_short_help = true)]
    pub image_dir: Option<PathBuf>,
    /// Keep images of aged devices in this directory, and take them from there.
    ///
    /// An age is then made once for each file system, with its options, kernel, tools, name and
    /// size of device; later trials, of this RUN and others, write the kept image to the device.
    /// No one else may be able to write to the directory. What discards, is prepared by --ssd or
    /// has several devices is always aged anew.
    #[arg(long, value_name = "DIR", help_heading = WHERE, hide_short_help = true)]
    pub age_images: Option<PathBuf>,
    /// How long phases work that end by the clock: 300s.
    ///
    /// In place of the times that the workload names for them (stonewall). Then every thread goes
    /// on to the largest number of ops that one of them had done.
    #[arg(long, value_name = "TIME", help_heading = WHAT, hide_short_help = true)]
    pub stonewall: Option<String>,
    /// How long phases of random ops work: 60s, 2h.
    ///
    /// In place of the number of ops that the workload names for randread, randwrite, randrw and
    /// randtrim. What is compared is the time of an op.
    #[arg(long, value_name = "TIME", help_heading = WHAT, hide_short_help = true)]
    pub runtime: Option<String>,
    /// Hosts on which the ranks work, by ssh: a,b,c or a file.
    ///
    /// Separated by commas, or a file with one on each line. --on names a directory of a file
    /// system that this machine and all of them have in the same place. Without --ranks there is
    /// one rank for each host; --host-count 1,2,4 compares how many of them work. ssh must not ask
    /// for a password.
    #[arg(long, value_name = "LIST|FILE", help_heading = WHERE, hide_short_help = true)]
    pub hosts: Option<String>,
    /// The ssh of --hosts with its options [default: ssh].
    ///
    /// Such as "ssh -F /etc/cluster.conf"; files by their absolute paths.
    #[arg(long, value_name = "COMMAND", help_heading = WHERE, hide_short_help = true)]
    pub ssh: Option<String>,
    /// As root on the hosts: the command that mounts the file system there.
    ///
    /// A shell command such as "mount -t nfs fs1:/export {mnt}" or "mfsmount -H mfsmaster {mnt}".
    /// {mnt} is where --on is mounted here; on each host that has to be a directory. Mounts and the
    /// daemons behind them are seen by the ranks alone and end with the trial. With --cache
    /// cold-clients every host unmounts and mounts again before each timed phase.
    #[arg(long, value_name = "COMMAND", help_heading = WHERE, hide_short_help = true,
          requires = "hosts")]
    pub client_mount: Option<String>,
    /// fsarena on the hosts of --hosts [default: fsarena].
    #[arg(long, value_name = "PATH", help_heading = WHERE, hide_short_help = true)]
    pub remote_program: Option<String>,
    /// Wait at this port for ranks that srun or mpirun starts.
    ///
    /// `fsarena rank` on the nodes of an allocation dials it; --ranks N says how many, and of
    /// --ranks 1,2,4 the largest. Without an
    /// address it listens on all of this machine; 0 is any free port. What starts the ranks is
    /// printed. --on names a directory that this machine and all nodes have in the same place.
    #[arg(long, value_name = "[ADDRESS:]PORT", help_heading = WHERE, hide_short_help = true,
          conflicts_with = "hosts")]
    pub rendezvous: Option<String>,
    /// How long to wait for all ranks [default: 10m].
    #[arg(long, value_name = "TIME", help_heading = WHERE, hide_short_help = true,
          requires = "rendezvous")]
    pub rendezvous_limit: Option<String>,
    /// File with the secret of the ranks.
    ///
    /// No one else may read it. Without it: FSARENA_SECRET_FILE, else the secret itself in
    /// FSARENA_SECRET, else a new file for this RUN.
    #[arg(long, value_name = "FILE", help_heading = WHERE, hide_short_help = true,
          requires = "rendezvous")]
    pub secret_file: Option<PathBuf>,
    /// CPUs to run the work on, such as 0 or 0,1.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = WHERE,
        hide_short_help = true
    )]
    pub cpus: Vec<usize>,
    /// Run the work as this user and group (numbers), such as 65534:65534.
    #[arg(long, value_name = "UID:GID", help_heading = WHERE, hide_short_help = true)]
    pub user: Option<String>,
    /// Time limit, such as 30m.
    ///
    /// No block is started that is not expected to end in time.
    #[arg(long, value_name = "TIME", help_heading = HOW_LONG)]
    pub budget: Option<String>,
    /// Run exactly N blocks, or 4..12 to fit the budget.
    ///
    /// It is decided once, at the end. 4..12: as many as fit into the budget, by the time that
    /// blocks take. In each block every contender runs once, in a new random order. Replaces
    /// --cap; a number also replaces a budget in the file.
    #[arg(long, short = 'r', value_name = "N", help_heading = HOW_LONG)]
    pub runs: Option<String>,
    /// Maximum number of blocks; those that are decided stop early.
    ///
    /// 8, 12, 16, 24, 32, 48, 64 or 96 (32 without this and --runs). Interim analyses after 4, 6,
    /// 8, 12 … blocks; contenders stop early once decided.
    #[arg(long, value_name = "N", help_heading = HOW_LONG, hide_short_help = true)]
    pub cap: Option<u32>,
    /// Exit with code 4 if a question remains undecided.
    #[arg(long, help_heading = HOW_LONG, hide_short_help = true)]
    pub require_decision: bool,
    /// Seed of the order and the data; stored with the RUN.
    #[arg(long, value_name = "NUMBER", help_heading = HOW, hide_short_help = true)]
    pub seed: Option<u64>,
    /// Read all contents again after the work and compare every byte.
    #[arg(long, help_heading = HOW, hide_short_help = true)]
    pub verify: bool,
    /// Account for where the written bytes went (needs root).
    ///
    /// Traces the block requests of each timed phase.
    #[arg(long, help_heading = HOW, hide_short_help = true)]
    pub account: bool,
    /// Interval between samples of the time series; 0s for none.
    #[arg(long, value_name = "TIME", help_heading = HOW, hide_short_help = true)]
    pub sample_period: Option<String>,
    /// Print the plan and its cost; change nothing.
    ///
    /// Contenders, trials, expected time and bytes to be written.
    #[arg(long, help_heading = SAFETY)]
    pub dry_run: bool,
    /// Destroy all data on this block device.
    ///
    /// It must be named by --on. Signatures found on it must be named too, as in --wipe
    /// /dev/sdb=ext4; so must copies of signatures that remain where the first is gone, and, by the
    /// word unknown, contents that no signature explains: --wipe /dev/sdb=ext4+unknown. The refusal
    /// prints what is right. May be given several times.
    #[arg(long, value_name = "DEVICE[=SIG+…]", help_heading = SAFETY)]
    pub wipe: Vec<String>,
    /// Resume an interrupted run: the latest, or RUN.
    ///
    /// It may also be one that failed. The experiment, --image-dir, --user and --cpus are those of
    /// the RUN; --wipe, --hosts and --rendezvous must be given again. What it measured and could
    /// not store is stored first.
    #[arg(
        long,
        value_name = "RUN",
        help_heading = SAFETY,
        add = complete::runs(),
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = [
            "experiment", "fs", "on", "workload", "runs", "seed", "scale", "cap",
            "crash_runs", "margin",
            "budget", "baseline", "ask", "headline", "verify", "account", "sample_period",
            "image_dir", "age_images", "user", "cpus", "stonewall", "runtime",
            "kernel", "dry_run", "install_tools", "title",
        ]
    )]
    pub resume: Option<String>,
    /// Keep the image of the last trial, and print how to mount it.
    #[arg(long, help_heading = SAFETY, hide_short_help = true)]
    pub keep: bool,
    /// Run commands of the file without asking.
    ///
    /// Those that the experiment file contains, and the guest kernels that it names. Commands of a
    /// RUN that is resumed need --allow-commands.
    #[arg(long, help_heading = SAFETY, hide_short_help = true)]
    pub yes: bool,
    /// With --resume: run exactly the commands of this digest.
    ///
    /// They come from the database, which may be anybody's: `fsarena run --resume` shows them and
    /// prints their digest. Any change of them is another one.
    #[arg(long, value_name = "DIGEST", requires = "resume", help_heading = SAFETY,
          hide_short_help = true)]
    pub allow_commands: Option<String>,
    /// As root, run a program that this user may change: PATH=USER.
    ///
    /// For programs and guest kernels whose path is written out, on the command line or in a
    /// command of the experiment. Everybody who may change it has to be named, as in --trust
    /// /opt/own/mkfs=ann+group:staff; the refusal prints what is right. What is found by its name
    /// in PATH is never run where somebody else may change it. May be given several times.
    #[arg(long, value_name = "PATH=USER[+…]", help_heading = SAFETY, hide_short_help = true)]
    pub trust: Vec<String>,
    /// Install the Debian packages of missing tools (needs root).
    #[arg(long, help_heading = SAFETY, hide_short_help = true)]
    pub install_tools: bool,
    /// Title of the RUN, for `list` and the report.
    ///
    /// Without it: that of the experiment, or what was asked for.
    #[arg(long, value_name = "TEXT", help_heading = OUTPUT, hide_short_help = true)]
    pub title: Option<String>,
    /// Print only errors and where the RUN is stored.
    ///
    /// Neither progress nor results.
    #[arg(long, short = 'q', conflicts_with_all = ["json", "full", "raw"], help_heading = OUTPUT)]
    pub quiet: bool,
    /// Print one JSON document instead of the answer.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Print all tables and verdicts after the answer.
    ///
    /// `fsarena show` prints them at any time.
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub full: bool,
    /// The same with the raw values of every trial.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub raw: bool,
    /// File of the report, one HTML page.
    ///
    /// Without it: next to the database.
    #[arg(long, value_name = "FILE", conflicts_with = "no_report", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,
    /// Do not write a report.
    #[arg(long, help_heading = OUTPUT, hide_short_help = true)]
    pub no_report: bool,
    /// Print no results: another command does.
    #[arg(skip)]
    pub silent: bool,
    /// The experiment is that of these purposes, and the advice for them is printed.
    #[arg(skip)]
    pub purposes: Vec<fsarena_plan::purpose::Purpose>,
    /// `fsarena crash` asks: its document is that of the campaign.
    #[arg(skip)]
    pub is_crash: bool,
    /// Cases printed of each demand that sequences of a crash campaign do not meet.
    #[arg(skip)]
    pub cases: Option<usize>,
}

const RUN_EXAMPLES: &str = "\
Examples:
  fsarena run
  fsarena run --fs ext4,xfs --on loop:2G --workload small-files --budget 10m
More options, factors to compare and examples: fsarena run --help";

const RUN_EXAMPLES_ALL: &str = "\
Examples:
  fsarena run
  fsarena run 2003-linux-vs-freebsd --dry-run
  fsarena run --fs ext4,ext4:data=writeback,xfs --on loop:2G --workload small-files
  fsarena run --fs ext4,xfs,btrfs --workload small-files --baseline ext4 --budget 30m --margin 2%
  fsarena run --fs ext4,xfs --workload small-files,big-file --ask 'small-files:create,big-file:*'
  fsarena run my-experiment.toml --scale 0.1 --runs 5
  fsarena run --fs ext4 --workload small-files --inject-delay 0ms,30ms
  fsarena run --workload random-io:bs=4K..64K:iodepth=1,16 --fs ext4,xfs --on loop:2G --runs 8
  fsarena run --workload metadata-threads,jobs.fio --fs ext4,xfs --on zram:2G
  fsarena run --fs ext4,xfs --on /dev/sdb --wipe /dev/sdb=ext4 --ssd blkdiscard
  fsarena run --fs ext4:mkfs.cluster_size=16K..64K --workload cycle --scale 0.02 --account
  fsarena run --fs ext4,xfs --on virtual:8G:model=hdd-2007 --kernel ./linux
  fsarena run --workload small-files --on /shared/bench --rendezvous 7727 --ranks 8
  fsarena run --workload small-files --on /shared/bench --ranks 1..8 --runs 8
  fsarena run --workload small-files --on /shared/bench --hosts a,b,c,d --host-count 1,2,4
  fsarena run --resume
  fsarena run --on /mnt/usb --workload big-file";
