//! Arguments of `fsarena kernel`.

use clap::{Args, Subcommand};
use fsarena_guests::kernel::HZ_RANGE;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena kernel build\n  fsarena kernel list\n  \
                        fsarena kernel build --help")]
pub struct KernelArgs {
    #[command(subcommand)]
    pub what: KernelCommand,
}

#[derive(Subcommand, Debug)]
pub enum KernelCommand {
    /// Build a guest kernel, or say where the one built before is.
    Build(KernelBuildArgs),
    /// List the guest kernels that were built.
    List(KernelListArgs),
    /// Delete guest kernels that were built.
    Delete(KernelDeleteArgs),
    /// Boot a guest kernel twice and say what it is, or why it is none.
    Check(KernelCheckArgs),
}

#[derive(Args, Debug)]
#[command(after_help = BUILD_EXAMPLES)]
pub struct KernelBuildArgs {
    /// A release that Debian has a package of (6.1, 6.12), or a directory or tarball of a Linux
    /// source. A directory is read and never written to.
    #[arg(long, value_name = "RELEASE|PATH", default_value = "6.12")]
    pub source: String,
    /// Leave out what the tests of fsarena do not mount; takes about half of the time.
    #[arg(long)]
    pub trimmed: bool,
    /// Timer ticks a second, 100 to 1000: waits of the kernel are multiples of one tick.
    #[arg(long, value_name = "N", default_value_t = 250, value_parser = hz())]
    pub hz: u32,
    /// Compilers at one time (if not given: one for each CPU).
    #[arg(long, short = 'j', value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Install the Debian packages that the build lacks.
    #[arg(long)]
    pub install_tools: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

const BUILD_EXAMPLES: &str = "\
The source is Debian's package linux-source-6.12, or a tree of your own. The kernel is kept in
FSARENA_KERNEL_DIR, or else in the cache directory of the user, by a hash of source, patches,
configuration and compiler. Root is needed for --install-tools alone.

Examples:
  fsarena kernel build
  fsarena kernel build --install-tools
  fsarena kernel build --source ~/linux --hz 1000
  fsarena kernel build --trimmed --jobs 2 --json | jq .";

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena kernel list\n  fsarena kernel list --json | jq .")]
pub struct KernelListArgs {
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  fsarena kernel delete --old\n  fsarena kernel delete 5f26 77f1 \
                        --yes"
)]
pub struct KernelDeleteArgs {
    /// Keys that `fsarena kernel list` prints, or their first digits.
    #[arg(value_name = "KEY", required_unless_present = "old", conflicts_with = "old")]
    pub keys: Vec<String>,
    /// Delete all whose patches or configuration are not those that this program builds with. Those
    /// that a RUN or a guest has are left.
    #[arg(long)]
    pub old: bool,
    /// Delete without asking.
    #[arg(long)]
    pub yes: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  fsarena kernel check\n  fsarena kernel check ./linux --json")]
pub struct KernelCheckArgs {
    /// The binary (if not given: the one that would be taken of those that were built).
    pub kernel: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

fn hz() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(*HZ_RANGE.start())..=i64::from(*HZ_RANGE.end()))
}
