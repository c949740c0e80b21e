//! Arguments that all campaigns of `fsarena crash` share.

use clap::Args;
use std::path::PathBuf;

/// How a RUN of crash runs is done and shown.
#[derive(Args, Debug)]
pub struct CrashRunArgs {
    /// Print the planned crash runs and their expected time; do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// As root, boot a kernel that this user may change: PATH=USER.
    #[arg(long, value_name = "PATH=USER[+…]", hide_short_help = true)]
    pub trust: Vec<String>,
    /// Title of the RUN, for `list` and the report.
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub title: Option<String>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
    /// File of the report, one HTML page.
    #[arg(long, value_name = "FILE", conflicts_with = "no_report", hide_short_help = true)]
    pub report: Option<PathBuf>,
    /// Do not write a report.
    #[arg(long, hide_short_help = true)]
    pub no_report: bool,
}
