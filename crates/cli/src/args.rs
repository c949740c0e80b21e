//! The command line: one definition yields parsing, help, man pages and completions.
//!
//! Parsing has no side effects. Texts that need a meaning (`--fs`, `--on`, sizes) are read later,
//! by the crates that own that meaning.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

mod compare;
mod selftest;
mod surface;
#[cfg(test)]
pub(crate) mod tests;
mod watch;

pub use compare::{CompareArgs, FailOn};
pub use selftest::{HonestyArgs, Selftest, SelftestArgs};
pub use surface::{
    DocArgs, DoctorArgs, ExportArgs, FilesArgs, Foreign, Format, ImportArgs, ReportArgs, SchemaArgs,
};
pub use watch::WatchArgs;

/// Which of these file systems is faster for my work, by how much, and is the difference real?
///
/// fsarena makes file systems on the same sectors, runs real work on them, measures time, CPU,
/// device traffic and latency, and repeats in random order.
#[derive(Parser, Debug)]
#[command(name = "fsarena", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    /// Database of all results.
    #[arg(long, global = true, env = "FSARENA_DB", value_name = "PATH")]
    pub db: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  fsarena run
  fsarena run --fs ext4,xfs --on loop:2G --workload small-files
  fsarena experiments
  fsarena doc guide

Exit codes: 0 done (also UNDECIDED, and rows \"not run: reason\"); 1 failed; 2 bad usage; 3 `compare
--fail-on slower` found a slower one; 4 undecided where --require-decision was given; 5 a cold phase
was asked for and not proved; 130 stopped by Ctrl-C.
Data goes to standard output, talk and progress to standard error.";

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Carry out an experiment and print its tables.
    Run(Box<RunArgs>),
    /// List the block devices, and whether fsarena would touch each and why not.
    Devices(DevicesArgs),
    /// List the RUNs in the database.
    List(ListArgs),
    /// Show the tables of a RUN again, from its records.
    Show(ShowArgs),
    /// Compute the verdicts of a RUN again, from its scores: who is faster, by how much, and is it
    /// real.
    Study(StudyArgs),
    /// Write the report: one HTML page with charts, verdicts and every raw value.
    Report(ReportArgs),
    /// Compare several RUNs, before and after a change, or one RUN with exit codes for tests.
    Compare(CompareArgs),
    /// Take the RUNs of other databases, such as those of other machines, into this one.
    Merge(MergeArgs),
    /// Write a RUN as CSV, JSON or Markdown.
    Export(ExportArgs),
    /// Bring in what fio or hyperfine measured, for verdicts and a report.
    Import(ImportArgs),
    /// Say what a critical reader would object to in this machine or device, before a run.
    Doctor(DoctorArgs),
    /// Watch a device while another application uses it: live, and recorded as a RUN.
    Watch(WatchArgs),
    /// List the built-in experiments with what each costs, workloads and file systems, or print the
    /// file of one.
    Experiments(ExperimentsArgs),
    /// List the datasets for real work, show or write one, or look at your own.
    Dataset(Box<DatasetArgs>),
    /// Print the table of an old article, with this machine's values beside it.
    Reference(ReferenceArgs),
    /// Test the method on this machine: compare a configuration with itself.
    Selftest(SelftestArgs),
    /// Print the documentation.
    Doc(DocArgs),
    /// Print the JSON Schema of a document that fsarena writes.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or those of all subcommands into a directory.
    #[command(after_help = "Examples:\n  fsarena man | man -l -\n  fsarena man --dir man1")]
    Man {
        /// Directory for one page a subcommand.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// One trial, from a spec on standard input to a record on standard output.
    #[command(hide = true)]
    Executor {
        /// Journal of the RUN that this trial belongs to.
        #[arg(long)]
        journal: Option<PathBuf>,
        /// Process that started it; the executor dies with it.
        #[arg(long)]
        parent: Option<u32>,
        /// Set where the namespaces are made already.
        #[arg(long)]
        inside: bool,
    },
    /// One phase, from a spec on standard input to a report on standard output.
    #[command(hide = true)]
    Worker {
        /// Process that started it; the worker dies with it.
        #[arg(long)]
        parent: Option<u32>,
    },
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  fsarena completions bash > /etc/bash_completion.d/fsarena
  fsarena completions zsh > /usr/local/share/zsh/site-functions/_fsarena
  fsarena completions fish > ~/.config/fish/completions/fsarena.fish";

/// Arguments of `run`.
#[derive(Args, Debug, Default)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// A built-in experiment (see `fsarena experiments`) or a TOML file; `quick` where neither an
    /// experiment nor --workload is given.
    pub experiment: Option<String>,
    /// File systems, separated by commas; mount options and mkfs options follow after colons, as in
    /// ext4:noatime or xfs:mkfs.block_size=1024; a range stands for its levels, as in
    /// ext4:mkfs.cluster_size=16K..256K. A name twice is an A/A comparison.
    #[arg(long, value_name = "LIST")]
    pub fs: Option<String>,
    /// Where they lie: loop:SIZE (an image), ram:SIZE (an image in memory), zram:SIZE, brd:SIZE,
    /// null_blk:SIZE, a block device (see --wipe) or a directory; separated by commas.
    #[arg(long, value_name = "LIST")]
    pub on: Option<String>,
    /// Built-in workloads and fio job files (ending in .fio), separated by commas.
    #[arg(long, value_name = "LIST")]
    pub workload: Option<String>,
    /// A fixed number of blocks, with one look at the end; each contender runs once in each block,
    /// in fresh random order. Takes the place of --cap, and of a budget in the file.
    #[arg(long, short = 'r', value_name = "N")]
    pub runs: Option<u32>,
    /// Most blocks: 8, 12, 16, 24, 32, 48, 64 or 96. The figures are looked at after 4, 6, 8, 12 …
    /// of them, and whoever is decided leaves. 32 where neither this nor --runs is given.
    #[arg(long, value_name = "N")]
    pub cap: Option<u32>,
    /// SAME means a ratio within this margin, such as 5% or 0.05; 5% where it is not given.
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
    /// Time that the RUN may take, such as 30m: no block is begun that is not expected to end
    /// within it.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Compare each contender with this one alone, such as ext4 or "ext4 data=writeback": its
    /// label, or the file system as written; every pair is compared where it is not given.
    #[arg(long, value_name = "CONTENDER")]
    pub baseline: Option<String>,
    /// What is decided, separated by commas: WORKLOAD:PHASE, with * for every workload or phase;
    /// :cpu, :written or :p99 asks for that and not for the time, :time:returned for another
    /// clock. The time of every timed phase where it is not given.
    #[arg(long, value_name = "LIST")]
    pub ask: Option<String>,
    /// The question whose answer stands first, such as small-files:create; it has to be asked. The
    /// first question where it is not given.
    #[arg(long, value_name = "QUESTION")]
    pub headline: Option<String>,
    /// End with exit code 4 where a question is left undecided.
    #[arg(long)]
    pub require_decision: bool,
    /// Seed of the order and the data; stored with the RUN.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Multiply the number of files in sets, and the size of single big files; of cycles also the
    /// updates, the period, and the second load.
    #[arg(long, value_name = "FACTOR")]
    pub scale: Option<f64>,
    /// Memory limit of the work, such as 64M; `none` is the whole machine.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// State of the caches before each timed phase: cold, warm, or cold-start (cold before the
    /// first phase of a trial, warm after it).
    #[arg(long, value_name = "STATE")]
    pub cache: Option<String>,
    /// What mkfs and mount may discard: none or on.
    #[arg(long, value_name = "POLICY")]
    pub discard: Option<String>,
    /// What is done to the device before each mkfs: none, blkdiscard or precondition.
    #[arg(long, value_name = "POLICY")]
    pub ssd: Option<String>,
    /// I/O scheduler of the device, such as none or mq-deadline; put back after each trial.
    #[arg(long, value_name = "LIST")]
    pub scheduler: Option<String>,
    /// Read-ahead of the device, such as 128KiB; put back after each trial.
    #[arg(long, value_name = "LIST")]
    pub read_ahead: Option<String>,
    /// How the kernel treats the device's write cache: write-back or write-through; put back.
    #[arg(long, value_name = "LIST")]
    pub write_cache: Option<String>,
    /// Whether copies may share blocks with what is copied: never, auto or always.
    #[arg(long, value_name = "LIST")]
    pub reflink: Option<String>,
    /// Sleep so long in each timed phase, such as 0ms,30ms: a difference of known size, which shows
    /// what this machine is able to find.
    #[arg(long, value_name = "LIST")]
    pub handicap: Option<String>,
    /// Give up all data on a block device that --on names. Signatures found on it must be named
    /// too, as in --wipe /dev/sdb=ext4; may be given several times.
    #[arg(long, value_name = "DEVICE[=SIG+…]")]
    pub wipe: Vec<String>,
    /// Go on with an interrupted RUN: the latest, or the one named with --resume=RUN, which may
    /// also be one that failed. What is done, where (--image-dir), by whom (--user) and on which
    /// processors (--cpus) comes from the RUN and cannot be given again; --wipe has to be.
    #[arg(
        long,
        value_name = "RUN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = [
            "experiment", "fs", "on", "workload", "runs", "seed", "scale", "memory", "cache",
            "discard", "ssd", "scheduler", "read_ahead", "write_cache", "reflink", "handicap",
            "cap", "margin", "budget", "baseline", "ask", "headline", "verify", "account",
            "sample_period", "image_dir", "user", "cpus", "dry_run", "install_tools",
        ]
    )]
    pub resume: Option<String>,
    /// Read all contents again after the work and compare every byte.
    #[arg(long)]
    pub verify: bool,
    /// Trace the block requests of each timed phase, for the account of where the written bytes
    /// went; as root.
    #[arg(long)]
    pub account: bool,
    /// Period of the time series; 0s for none.
    #[arg(long, value_name = "TIME")]
    pub sample_period: Option<String>,
    /// Directory for images; else FSARENA_IMAGE_DIR, else /var/tmp.
    // Not by clap's `env`: --resume would be refused wherever the variable is set.
    #[arg(long, value_name = "DIR")]
    pub image_dir: Option<PathBuf>,
    /// Run the work as this user and group (numbers), such as 65534:65534.
    #[arg(long, value_name = "UID:GID")]
    pub user: Option<String>,
    /// Processors for the work, such as 0 or 0,1.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub cpus: Vec<usize>,
    /// Print contenders, trials, expected time and bytes to be written; touch nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Leave the image of the last trial for inspection, and say how to mount it.
    #[arg(long)]
    pub keep: bool,
    /// Do not ask before running commands that stand in the experiment file.
    #[arg(long)]
    pub yes: bool,
    /// Install the Debian packages of missing mkfs programs (as root).
    #[arg(long)]
    pub install_tools: bool,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Print the raw values of every trial below the tables.
    #[arg(long)]
    pub raw: bool,
    /// File of the report: one HTML page; beside the database where this is not given.
    #[arg(long, value_name = "FILE", conflicts_with = "no_report")]
    pub report: Option<PathBuf>,
    /// Write no report.
    #[arg(long)]
    pub no_report: bool,
    /// Print nothing of what was measured: another command does.
    #[arg(skip)]
    pub silent: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  fsarena run
  fsarena run 2003-linux-vs-freebsd --dry-run
  fsarena run --fs ext4,ext4:data=writeback,xfs --on loop:2G --workload small-files
  fsarena run --fs ext4,xfs,btrfs --workload small-files --baseline ext4 --budget 30m --margin 2%
  fsarena run --fs ext4,xfs --workload small-files,big-file --ask 'small-files:create,big-file:*'
  fsarena run my-experiment.toml --scale 0.1 --runs 5
  fsarena run --fs ext4 --workload small-files --handicap 0ms,30ms
  fsarena run --workload metadata-threads,jobs.fio --fs ext4,xfs --on zram:2G
  fsarena run --fs ext4,xfs --on /dev/sdb --wipe /dev/sdb=ext4 --ssd blkdiscard
  fsarena run --fs ext4:mkfs.cluster_size=16K..64K --workload cycle --scale 0.02 --account
  fsarena run --resume
  fsarena run --on /mnt/usb --workload big-file";

/// Arguments of `devices`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena devices\n  fsarena devices --json | jq .")]
pub struct DevicesArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena list\n  fsarena list --db all.db\n  fsarena list --json"
)]
pub struct ListArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `study`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena study\n  fsarena study 3 --all-pairs\n  fsarena study \
                        latest --require-decision\n  fsarena study --json | jq ."
)]
pub struct StudyArgs {
    /// Number or first digits of the id of a RUN; `latest` where absent.
    pub run: Option<String>,
    /// Print every pair, also of many contenders.
    #[arg(long)]
    pub all_pairs: bool,
    /// End with exit code 4 where anything that was asked is undecided.
    #[arg(long)]
    pub require_decision: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `show`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena show\n  fsarena show 3 --raw\n  fsarena show --json | jq ."
)]
pub struct ShowArgs {
    /// Number or unique id of the RUN; the latest where absent.
    pub run: Option<String>,
    /// Print one JSON document with every record.
    #[arg(long)]
    pub json: bool,
    /// Print the raw values of every trial below the tables.
    #[arg(long)]
    pub raw: bool,
}

/// Arguments of `merge`.
#[derive(Args, Debug)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    /// Databases to take RUNs from; nothing is written to them, but that a transaction which a
    /// crash has cut off is rolled back. Each is taken whole or, on an error, not at all. RUNs that
    /// are here already stay as they are.
    #[arg(required = true, value_name = "OTHER.db")]
    pub others: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  fsarena merge laptop.db
  fsarena merge --db all.db desk.db laptop.db server.db
  fsarena merge laptop.db --json | jq .";

/// Arguments of `dataset`.
#[derive(Args, Debug)]
#[command(after_help = DATASET_EXAMPLES)]
pub struct DatasetArgs {
    /// A built-in dataset, a file that describes one (ending in .toml), or a directory or archive
    /// of your own; all that is built in is listed where absent.
    #[arg(value_name = "NAME|PATH")]
    pub what: Option<PathBuf>,
    /// Write it into this new directory.
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Write it as this new archive; its ending says the compression: tar, tar.gz, tar.bz2, tar.xz
    /// or tar.zst.
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Multiply the number of files, and the size of single big files.
    #[arg(long, value_name = "FACTOR", value_parser = scale)]
    pub scale: Option<f64>,
    /// Print its description, from which it can be made again.
    #[arg(long)]
    pub toml: bool,
    /// Print the SHA-256 of all its names and contents.
    #[arg(long)]
    pub digest: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

const DATASET_EXAMPLES: &str = "\
Examples:
  fsarena dataset
  fsarena dataset ports-2004
  fsarena dataset mixed-830m --scale 0.1 --to /tmp/mixed
  fsarena dataset small-10000 --archive small.tar.gz
  fsarena dataset portage-2010 --toml > mine.toml && fsarena dataset mine.toml
  fsarena dataset ~/pictures";

/// A factor as experiments take it.
fn scale(text: &str) -> Result<f64, String> {
    let scale: Option<f64> = text.parse().ok();
    scale
        .filter(|scale| *scale > 0.0 && *scale <= 100.0)
        .ok_or_else(|| "a number above 0 and up to 100, such as 0.1".to_owned())
}

/// Arguments of `experiments`.
#[derive(Args, Debug)]
#[command(after_help = EXPERIMENTS_EXAMPLES)]
pub struct ExperimentsArgs {
    /// Print the file of this experiment or workload.
    pub name: Option<String>,
}

const EXPERIMENTS_EXAMPLES: &str = "\
Examples:
  fsarena experiments
  fsarena experiments quick > mine.toml && fsarena run mine.toml --dry-run
  fsarena experiments small-files";

/// Arguments of `reference`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena reference\n  fsarena reference 2008")]
pub struct ReferenceArgs {
    /// Year of the article; without it, the articles are listed.
    pub year: Option<u16>,
    /// RUN to set beside it; the latest of its experiment on each machine where absent.
    #[arg(long)]
    pub run: Option<String>,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Whether to look for a RUN at all.
    #[arg(long, value_enum, default_value_t = Beside::Latest)]
    pub beside: Beside,
}

/// What stands beside an article's table.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// The latest RUN of each machine in the database, where there is one.
    Latest,
    /// Nothing.
    Nothing,
}
