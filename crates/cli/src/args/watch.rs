//! Arguments of `watch`.

use clap::Args;
use std::path::PathBuf;

/// Arguments of `watch`.
#[derive(Args, Debug)]
#[command(after_help = WATCH_EXAMPLES)]
pub struct WatchArgs {
    /// A block device, or a directory: then the device that its file system is on.
    #[arg(value_name = "DEVICE|DIR")]
    pub place: PathBuf,
    /// End after this time, such as 90s, 10m or 1h; until q, Ctrl-C or SIGTERM where absent.
    #[arg(long = "for", value_name = "TIME")]
    pub length: Option<String>,
    /// Time between two samples, from 100ms to 1h.
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub every: String,
    /// What runs meanwhile, in a line; it stands in `list` and in the report.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Print one JSON document a sample, in base units, and no picture.
    #[arg(long)]
    pub json: bool,
}

const WATCH_EXAMPLES: &str = "\
It looks and touches nothing. Where standard output is a terminal, there is a live picture (q ends,
p holds, ? helps); else a line a sample. The watch is stored as a RUN that takes part in no verdict;
`show`, `report`, `export` and `compare` work on it. A watch that is killed is stored by the next
fsarena command on the same database. Exit code 0 however it was ended, 1 where the device disappeared.

Examples:
  fsarena watch /dev/sdb
  fsarena watch /srv/data --for 10m --title 'cargo build'
  fsarena watch /srv/data --every 100ms --json > samples.jsonl
  fsarena watch . --for 1m | cat
  fsarena compare 12 13
  fsarena compare 12@-10m 12@10m-20m";
