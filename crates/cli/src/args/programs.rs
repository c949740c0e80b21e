//! Arguments of `fsarena programs`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena programs add i386\n  fsarena programs list\n  \
                        fsarena programs delete i386")]
pub struct ProgramsArgs {
    #[command(subcommand)]
    pub what: ProgramsCommand,
}

#[derive(Subcommand, Debug)]
pub enum ProgramsCommand {
    /// Fetch packages of another width by apt into root's cache; nothing is installed.
    Add(ProgramsAddArgs),
    /// List their packages with versions, hashes and licences.
    List(ProgramsListArgs),
    /// Delete them.
    Delete(ProgramsDeleteArgs),
}

/// An architecture of Debian whose programs this machine can start besides its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Architecture {
    /// 32-bit x86.
    I386,
}

#[derive(Args, Debug)]
#[command(after_help = ADD_EXAMPLES)]
pub struct ProgramsAddArgs {
    /// The architecture.
    pub architecture: Architecture,
    /// Fetch without asking.
    #[arg(long)]
    pub yes: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

const ADD_EXAMPLES: &str = "\
tar, gzip, bzip2, coreutils, dash, flac and vorbis-tools with their libraries, from the sources that
apt has here and verified by its keys, in the versions that are installed here. dpkg is not told of
the architecture. They are kept in FSARENA_PROGRAMS_DIR, or else in the cache directory of root, and
used by `fsarena run --programs native,i386`.

Examples:
  fsarena programs add i386
  fsarena programs add i386 --yes --json | jq .";

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena programs list\n  \
                        fsarena programs list --json | jq .")]
pub struct ProgramsListArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena programs delete i386\n  \
                        fsarena programs delete i386 --yes")]
pub struct ProgramsDeleteArgs {
    /// The architecture.
    pub architecture: Architecture,
    /// Delete without asking.
    #[arg(long)]
    pub yes: bool,
}
