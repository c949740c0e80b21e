//! Arguments of `selftest`.

use clap::{Args, Subcommand};

/// Arguments of `selftest`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena selftest honesty\n  fsarena selftest honesty --help")]
pub struct SelftestArgs {
    /// What is tested.
    #[command(subcommand)]
    pub what: Selftest,
}

/// The tests.
#[derive(Subcommand, Debug)]
pub enum Selftest {
    /// What the rule of the verdicts, and the habits of others, say of a configuration that is
    /// compared with itself on this machine, and of differences of known size.
    Honesty(Box<HonestyArgs>),
}

/// Arguments of `selftest honesty`.
#[derive(Args, Debug)]
#[command(after_help = HONESTY_EXAMPLES)]
pub struct HonestyArgs {
    /// Replay this RUN, which has one contender, and record nothing; may be given several times.
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = ["fs", "on", "workload", "runs", "scale", "image_dir"]
    )]
    pub tape: Vec<String>,
    /// File system of the tape; ext4 where it is not given and a file system is made.
    #[arg(long, value_name = "FS")]
    pub fs: Option<String>,
    /// Where it lies, as in `fsarena run`; loop:1G where it is not given and you are root.
    #[arg(long, value_name = "TARGET")]
    pub on: Option<String>,
    /// Built-in workloads of the tape, separated by commas.
    #[arg(long, value_name = "LIST", default_value = "small-files")]
    pub workload: String,
    /// Trials of the tape.
    #[arg(long, short = 'r', value_name = "N", default_value_t = 200)]
    pub runs: u32,
    /// Multiply the number of files in sets, and the size of single big files.
    #[arg(long, value_name = "FACTOR", value_parser = super::scale)]
    pub scale: Option<f64>,
    /// Directory for images; else FSARENA_IMAGE_DIR, else /var/tmp.
    #[arg(long, value_name = "DIR")]
    pub image_dir: Option<std::path::PathBuf>,
    /// Comparisons of each rule for each injected effect.
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub replays: u32,
    /// SAME means a ratio within this margin, such as 2% or 0.02.
    #[arg(long, value_name = "SHARE", default_value = "2%")]
    pub margin: String,
    /// Seed of the tape and of the replays: the same seed on the same tape gives the same figures.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    pub json: bool,
}

const HONESTY_EXAMPLES: &str = "\
Exit code 1 where the rule of the verdicts gives more than 65 false ones in 1,000 comparisons.

Examples:
  fsarena selftest honesty
  fsarena selftest honesty --workload small-files,big-file --scale 0.5 --runs 240
  fsarena selftest honesty --tape latest --margin 5%
  fsarena selftest honesty --tape 1 --tape 2 --json | jq .";
