//! Arguments of the commands about this machine: `devices`, `doctor`, `watch`, `selftest`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = DEVICES_EXAMPLES)]
pub struct DevicesArgs {
    /// List the device models of virtual disks instead.
    #[arg(long, conflicts_with = "model")]
    pub models: bool,
    /// Measure this device model in simulated time, print it next to the published figures of its
    /// device, and draw it: a name that --models lists, or a file that describes one (ending in
    /// .toml).
    #[arg(long, value_name = "MODEL", add = crate::complete::device_models())]
    pub model: Option<String>,
    /// Draw the curves and latencies of the model into this file.
    #[arg(long, value_name = "FILE", requires = "model")]
    pub svg: Option<PathBuf>,
    /// Where the disk is in its revolution at the beginning: another seed, another start.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, requires = "model")]
    pub seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

const DEVICES_EXAMPLES: &str = "\
A device model needs no device, no root and no waiting: minutes of a disk take seconds.

Examples:
  fsarena devices
  fsarena devices --json | jq .
  fsarena devices --models
  fsarena devices --model hdd-2007
  fsarena devices --model ./mine.toml --svg mine.svg";

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena doctor\n  fsarena doctor /dev/sdb\n  fsarena doctor \
                        /srv/data --all\n  fsarena doctor --noise")]
pub struct DoctorArgs {
    /// Block devices or directories to check. Without one, only the machine is checked.
    #[arg(value_name = "DEVICE|DIR")]
    pub paths: Vec<PathBuf>,
    /// Also print the checks that found nothing.
    #[arg(long)]
    pub all: bool,
    /// Measure for two minutes how much equal runs differ here, and print the smallest difference
    /// that can be detected in 10, 30 and 60 minutes.
    #[arg(long)]
    pub noise: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = WATCH_EXAMPLES)]
pub struct WatchArgs {
    /// A block device, or a directory, which means the device of its file system.
    #[arg(value_name = "DEVICE|DIR")]
    pub path: PathBuf,
    /// Stop after this time, such as 90s, 10m or 1h. Without it: until q, Ctrl-C or SIGTERM.
    #[arg(long = "for", value_name = "TIME")]
    pub length: Option<String>,
    /// Time between two samples, from 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub every: String,
    /// What runs meanwhile, in one line; printed by `list` and in the report.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Print each sample as a JSON document, in base units, instead of the live display.
    #[arg(long)]
    pub json: bool,
}

const WATCH_EXAMPLES: &str = "\
The device is only read from. On a terminal there is a live display (q quits, p pauses, ? helps),
otherwise one line for each sample. The watch is stored as a RUN without verdicts, for `show`,
`report`, `export` and `compare`. If the watch is killed, the next fsarena command on the same
database stores what it recorded. Exit code 0 however it was stopped, 1 if the device disappeared.

Examples:
  fsarena watch /dev/sdb
  fsarena watch /srv/data --for 10m --title 'cargo build'
  fsarena watch /srv/data --every 100ms --json > samples.jsonl
  fsarena watch . --for 1m | cat
  fsarena compare 12 13
  fsarena compare 12@-10m 12@10m-20m";

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena selftest honesty\n  fsarena selftest honesty --help")]
pub struct SelftestArgs {
    #[command(subcommand)]
    pub what: Selftest,
}

#[derive(Subcommand, Debug)]
pub enum Selftest {
    /// Count false verdicts of fsarena and of other rules, on equal runs recorded on this machine
    /// and on differences of known size.
    Honesty(Box<HonestyArgs>),
    /// Run a fixed experiment in guest kernels and print hashes of times and images, to be compared
    /// with those of another machine.
    #[command(after_help = "Examples:\n  fsarena selftest virtual")]
    Virtual,
}

#[derive(Args, Debug)]
#[command(after_help = HONESTY_EXAMPLES)]
pub struct HonestyArgs {
    /// Replay this RUN and record nothing. May be given several times: RUNs of one contender, or
    /// RUNs of several.
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = ["fs", "on", "workload", "runs", "scale", "image_dir"]
    )]
    pub tape: Vec<String>,
    /// File system of the equal runs (ext4 if not given and one is made); several, separated by
    /// commas, are run in turn and replayed as families.
    #[arg(long, value_name = "LIST")]
    pub fs: Option<String>,
    /// Where to make them, as for `fsarena run` (as root, loop:1G if not given).
    #[arg(long, value_name = "TARGET")]
    pub on: Option<String>,
    /// Built-in workloads to run, separated by commas.
    #[arg(long, value_name = "LIST", default_value = "small-files")]
    pub workload: String,
    /// Number of equal runs to record, of each file system.
    #[arg(long, short = 'r', value_name = "N", default_value_t = 200)]
    pub runs: u32,
    /// Multiply the number of files in sets, and the size of single large files.
    #[arg(long, value_name = "FACTOR", value_parser = scale)]
    pub scale: Option<f64>,
    /// Directory for image files. Without it: FSARENA_IMAGE_DIR, else /var/tmp.
    #[arg(long, value_name = "DIR")]
    pub image_dir: Option<std::path::PathBuf>,
    /// Number of comparisons (of several contenders: of RUNs) for each rule and each injected
    /// difference.
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub replays: u32,
    /// Ratios within this margin are the SAME, such as 2% or 0.02. Without it: 2%, and 5% for
    /// several contenders.
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
    /// Seed of the runs and of the replays: the same seed on the same runs gives the same figures.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Of several contenders: print how often the rule of `quick` finds 5, 10 and 30 %, which phase
    /// bounds it, how long each rule takes, and what the noise is made of.
    #[arg(long)]
    pub power: bool,
    /// Of several contenders: fewest and most blocks of the rule of `quick`, 2..32 at the widest
    /// (if not given: as in that experiment).
    #[arg(long, value_name = "LEAST..MOST", value_parser = fit)]
    pub fit: Option<(u32, u32)>,
    /// Blocks of a quick RUN (if not given: as many as fit into its time).
    #[arg(long, value_name = "N", requires = "power",
          value_parser = clap::value_parser!(u32).range(2..=32))]
    pub blocks: Option<u32>,
    /// Print one JSON document instead of tables.
    #[arg(long)]
    pub json: bool,
}

const HONESTY_EXAMPLES: &str = "\
Exit code 1 if fsarena's own rule gives more than 65 false verdicts in 1,000 comparisons, or more
than 65 families with one in 1,000.

Examples:
  fsarena selftest honesty
  fsarena selftest honesty --workload small-files,big-file --scale 0.5 --runs 240
  fsarena selftest honesty --tape latest --margin 5%
  fsarena selftest honesty --fs ext4,ext3,xfs,btrfs --runs 200
  fsarena selftest honesty --tape latest --power
  fsarena selftest honesty --tape 1 --tape 2 --json | jq .";

/// Fewest and most blocks.
fn fit(text: &str) -> Result<(u32, u32), String> {
    let two = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    two.filter(|(least, most)| 2 <= *least && least <= most && *most <= 32)
        .ok_or_else(|| "two numbers from 2 to 32, the smaller one first, such as 4..24".to_owned())
}

/// A factor as experiments take it.
pub(super) fn scale(text: &str) -> Result<f64, String> {
    let scale: Option<f64> = text.parse().ok();
    scale
        .filter(|scale| *scale > 0.0 && *scale <= 100.0)
        .ok_or_else(|| "a number above 0 and up to 100, such as 0.1".to_owned())
}
