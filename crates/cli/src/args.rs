//! The command line: one definition yields parsing, help, man pages and completions.
//!
//! Parsing has no side effects. Texts that need a meaning (`--fs`, `--on`, sizes) are read later,
//! by the crates that own that meaning.

use clap::{Args, ColorChoice, Parser, Subcommand};
use std::path::PathBuf;

mod advise;
mod crash;
mod crash_medium_errors;
mod crash_run;
mod crash_sequences;
mod crash_states;
mod factors;
mod fleet;
mod help;
mod kernel;
mod machine;
mod programs;
mod rank;
mod results;
mod run;
#[cfg(test)]
pub(crate) mod tests;

pub use advise::AdviseArgs;
pub use crash::{CrashArgs, CrashCommand};
pub use crash_medium_errors::MediumErrorsArgs;
pub use crash_run::CrashRunArgs;
pub use crash_sequences::{LitmusArgs, SequencesArgs};
pub use crash_states::{
    CrashDeleteArgs, CrashExportArgs, CrashShowArgs, CrashStatesArgs, KeptStatesCommand,
    StateFormat,
};
pub use fleet::{FleetArgs, FleetCommand, FleetRunArgs};
pub use help::grouped;
pub use kernel::{
    KernelArgs, KernelBuildArgs, KernelCheckArgs, KernelCommand, KernelDeleteArgs, KernelListArgs,
};
pub use machine::{DevicesArgs, DoctorArgs, HonestyArgs, Selftest, SelftestArgs, WatchArgs};
pub use programs::{
    ProgramsAddArgs, ProgramsArgs, ProgramsCommand, ProgramsDeleteArgs, ProgramsListArgs,
};
pub use rank::RankArgs;
pub use results::{
    ArticleArgs, ArticleFormat, AssetFormat, Beside, BundleArgs, BundleCheckArgs, BundleCommand,
    CompareArgs, DeleteArgs, ExportArgs, FailOn, FilesArgs, Foreign, Format, HistoryArgs,
    HistoryBy, ImportArgs, ListArgs, MergeArgs, ReferenceArgs, ReportArgs, ShowArgs, StudyArgs,
};
pub use run::RunArgs;

/// Which of these file systems is faster for my work, by how much, and is the difference real?
///
/// fsarena makes file systems on the same sectors, runs real work on them, measures time, CPU,
/// device traffic and latency, and repeats in random order until the answer is known.
#[derive(Parser, Debug)]
#[command(name = "fsarena", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    /// Database of all results.
    // Under a heading of its own: clap would list it between the options of a subcommand.
    #[arg(
        long,
        global = true,
        env = "FSARENA_DB",
        value_name = "PATH",
        help_heading = "Global options"
    )]
    pub db: Option<PathBuf>,
    /// When to print in colour; auto is on a terminal, and never where NO_COLOR is set.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value_t = ColorChoice::Auto,
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = "Global options"
    )]
    pub color: ColorChoice,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  fsarena run
  fsarena run --fs ext4,xfs --on loop:2G --workload small-files
  fsarena experiments
  fsarena doc guide

Exit codes: 0 done (also with UNDECIDED verdicts and rows that say \"not run: reason\"); 1 failed;
2 bad usage; 3 `compare --fail-on slower` found a slower one; 4 undecided, with --require-decision;
5 a phase was to be cold and was not, or cannot be (a directory); 6 `compare` had nothing to compare (with
`--fail-on missing`: a side without figures), or `history` nothing to show; 7 crash runs without
trials found work lost that fsync had reported, on an honest disk; 130 stopped by Ctrl-C.
Results go to standard output, messages and progress to standard error.";

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run an experiment.
    Run(Box<RunArgs>),
    /// Say which file system suits a purpose: mail, vm, backup, database, build or desktop.
    ///
    /// Runs the workloads of each purpose as `run` does, and prints one sentence for each.
    Advise(Box<AdviseArgs>),
    /// Run one experiment on several hosts and compare them.
    Fleet(FleetArgs),
    /// Be a rank of `fsarena run --rendezvous`; srun and mpirun start it.
    ///
    /// Inside an allocation: srun -n 8 fsarena rank …, mpirun -np 8 fsarena rank …; the runner
    /// prints the whole command. It dials the runner, both prove that they know the secret, and it
    /// works on the phases that the runner gives it until that ends; with 0 where the RUN was done.
    /// Rank and size are those that the launcher gives.
    Rank(RankArgs),
    /// List the block devices and whether fsarena may use them, or device models.
    Devices(DevicesArgs),
    /// List the RUNs in the database.
    List(ListArgs),
    /// Show the tables of a RUN.
    Show(ShowArgs),
    /// Recompute the verdicts of a RUN from its scores.
    Study(StudyArgs),
    /// Write a report: one HTML page with charts, verdicts and every raw value.
    Report(ReportArgs),
    /// Compare RUNs: before and after a change, across machines, or one RUN with an exit code.
    Compare(CompareArgs),
    /// Show a figure of a workload over all RUNs, and where it has changed.
    History(HistoryArgs),
    /// Merge other databases into this one.
    Merge(MergeArgs),
    /// Delete RUNs from the database.
    Delete(DeleteArgs),
    /// Export a RUN as CSV, JSON or Markdown.
    Export(ExportArgs),
    /// Write an article of a RUN: a page, Markdown, BBCode and charts, in English or Russian.
    Article(ArticleArgs),
    /// Put a RUN with all that is needed to check it into one file, or check such a file.
    Bundle(BundleArgs),
    /// Import results of fio, hyperfine, mdtest, IOR, bonnie++ or the Phoronix Test Suite.
    Import(ImportArgs),
    /// Check the machine and devices for conditions that distort results.
    Doctor(DoctorArgs),
    /// Watch a device while another application uses it, and record what it does.
    Watch(WatchArgs),
    /// List the built-in experiments, workloads and file systems, or print the file of one.
    Experiments(ExperimentsArgs),
    /// List, describe or write the datasets for real work, or describe your own data.
    Dataset(Box<DatasetArgs>),
    /// Print the tables of a published article next to your own results.
    Reference(ReferenceArgs),
    /// Test the method on this machine: compare a configuration with itself.
    Selftest(SelftestArgs),
    /// Build, list and check guest kernels: Linux as a process, in virtual time.
    Kernel(KernelArgs),
    /// Fetch, list and delete programs of another width: i386 next to those of this machine.
    Programs(ProgramsArgs),
    /// Cut the power of file systems in guest kernels and say what is lost.
    #[command(alias = "safety")]
    Crash(Box<CrashArgs>),
    /// Print the documentation.
    Doc(DocArgs),
    /// Print the JSON Schema of experiments, or of a document that fsarena writes.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per subcommand into a directory.
    #[command(after_help = "Examples:\n  fsarena man | man -l -\n  fsarena man --dir man1")]
    Man {
        /// Write the pages of all subcommands into this directory.
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
    /// The same in a guest kernel.
    #[command(hide = true, name = "virtual_executor")]
    VirtualExecutor {
        /// Journal of the RUN that this trial belongs to.
        #[arg(long)]
        journal: Option<PathBuf>,
        /// Process that started it; it dies with it.
        #[arg(long)]
        parent: Option<u32>,
        /// Its number among those that are side by side.
        #[arg(long, default_value_t = 0)]
        cpu_index: usize,
    },
    /// Makes, mounts and checks file systems on modelled disks, as standard input says.
    #[command(hide = true, name = "crash_executor")]
    CrashExecutor {
        /// Set where the namespaces are made already.
        #[arg(long)]
        inside: bool,
    },
    /// The first process of a guest kernel.
    #[command(hide = true, name = "guest_init")]
    GuestInit,
    /// A modelled disk, served to the kernel until standard input ends.
    #[command(hide = true, name = "vdisk_server")]
    VdiskServer,
    /// Speaks for a worker between a runner on another host and this one; started by ssh.
    #[command(hide = true, name = "rank-server")]
    RankServer,
    /// Makes this host a client of a shared file system, as standard input says; started by ssh.
    #[command(hide = true)]
    Agent {
        /// The process outside, where the namespaces are made already.
        #[arg(long)]
        inside: Option<u32>,
    },
    /// Passes lines between an executor and a rank that has dialled the runner.
    #[command(hide = true, name = "rank-connection")]
    RankConnection {
        /// Directory of the runner's socket.
        dir: PathBuf,
        /// Number of the rank.
        rank: u32,
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

#[derive(Args, Debug)]
#[command(after_help = DATASET_EXAMPLES)]
pub struct DatasetArgs {
    /// A built-in dataset, a file that describes one (ending in .toml), or a directory or archive
    /// of your own. Without it, the built-in datasets are listed.
    #[arg(value_name = "NAME|PATH")]
    pub what: Option<PathBuf>,
    /// Write the dataset into this new directory.
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// Write the dataset as this new archive; its extension selects the compression: tar, tar.gz,
    /// tar.bz2, tar.xz or tar.zst.
    #[arg(long, value_name = "FILE")]
    pub archive: Option<PathBuf>,
    /// Multiply the number of files, and the size of single large files.
    #[arg(long, value_name = "FACTOR", value_parser = machine::scale)]
    pub scale: Option<f64>,
    /// Print the description, from which the dataset can be made again.
    #[arg(long)]
    pub toml: bool,
    /// Print the SHA-256 of all names and contents.
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

#[derive(Args, Debug)]
#[command(after_help = EXPERIMENTS_EXAMPLES)]
pub struct ExperimentsArgs {
    /// Print the file of this experiment or workload.
    #[arg(add = crate::complete::experiments())]
    pub name: Option<String>,
}

const EXPERIMENTS_EXAMPLES: &str = "\
Examples:
  fsarena experiments
  fsarena experiments quick > mine.toml && fsarena run mine.toml --dry-run
  fsarena experiments small-files";

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena doc\n  fsarena doc verdict\n  fsarena doc guide | less"
)]
pub struct DocArgs {
    /// The topic. Without it, all topics are listed.
    pub topic: Option<String>,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena schema\n  fsarena schema experiment > experiment.schema.json\n  \
                        fsarena schema run > run.schema.json"
)]
pub struct SchemaArgs {
    /// `experiment`, or the kind of document. Without it, all kinds are listed.
    pub kind: Option<String>,
}
