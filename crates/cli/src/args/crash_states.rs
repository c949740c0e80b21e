//! Arguments of `fsarena crash states`, `show`, `export` and `delete`: states that were kept.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub enum KeptStatesCommand {
    /// List the crash states that broke a promise and were kept.
    States(CrashStatesArgs),
    /// Mount a kept crash state again in a guest kernel and say what is there.
    Show(CrashShowArgs),
    /// Write a kept crash state as an image, or as a log that device-mapper's tools replay.
    Export(CrashExportArgs),
    /// Delete kept crash states.
    Delete(CrashDeleteArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena crash states\n  \
                        fsarena crash states --json | jq .")]
pub struct CrashStatesArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena crash show 3f9ac1\n  \
                        fsarena crash show 3f9ac1 --json | jq .sectors")]
pub struct CrashShowArgs {
    /// Name of the state, as `fsarena crash states` prints it, or its first digits.
    #[arg(value_name = "STATE")]
    pub state: String,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// What a state is written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum StateFormat {
    /// The whole disk, with holes where there are zeros.
    #[default]
    Image,
    /// A log of device-mapper's target log-writes, version 1, with the mark `crash`.
    LogWrites,
}

#[derive(Args, Debug)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct CrashExportArgs {
    /// Name of the state, as `fsarena crash states` prints it, or its first digits.
    #[arg(value_name = "STATE")]
    pub state: String,
    /// The file to be written.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: PathBuf,
    /// As an image of the disk, or as a log of device-mapper's log-writes.
    #[arg(long, value_name = "FORMAT", default_value = "image")]
    pub format: StateFormat,
    /// Replace the file where it is there.
    #[arg(long)]
    pub force: bool,
}

const EXPORT_EXAMPLES: &str = "\
An image is of the size of the disk and takes as much room as there are data in it.

Examples:
  fsarena crash export 3f9ac1 -o state.img
  fsarena crash export 3f9ac1 -o state.log --format log-writes";

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena crash delete 3f9ac1 77b0 --yes\n  \
                        fsarena crash delete --all")]
pub struct CrashDeleteArgs {
    /// Names of states, or their first digits.
    #[arg(value_name = "STATE", required_unless_present = "all", conflicts_with = "all")]
    pub states: Vec<String>,
    /// Delete all.
    #[arg(long)]
    pub all: bool,
    /// Delete without asking.
    #[arg(long)]
    pub yes: bool,
}
