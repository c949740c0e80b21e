//! Arguments of `compare`.

use clap::{Args, ValueEnum};

/// Arguments of `compare`.
#[derive(Args, Debug)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// Numbers or first digits of the ids of RUNs (those of other machines after `fsarena merge`).
    /// One, or the latest where none is given: its own verdicts. Several: the same contenders on
    /// each machine, in each boot or RUN, and what holds for others like these. Two watches, or
    /// parts of them (RUN@FROM-TO, times since their start, either may be left out): their figures.
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// RUNs before something was changed on one machine, such as its kernel; each boot counts once,
    /// and it takes three on each side.
    #[arg(
        long,
        value_name = "RUN,…",
        value_delimiter = ',',
        requires = "after",
        conflicts_with = "runs"
    )]
    pub before: Vec<String>,
    /// RUNs after it.
    #[arg(long, value_name = "RUN,…", value_delimiter = ',', requires = "before")]
    pub after: Vec<String>,
    /// Only this pair: what is said is said of the first against the second. With --before, only
    /// these two.
    #[arg(long, value_name = "A,B")]
    pub pair: Option<String>,
    /// Only this question, such as small-files:create; the one that stands first in the RUNs where
    /// neither this nor --all is given.
    #[arg(long, value_name = "WORKLOAD:PHASE", conflicts_with = "all")]
    pub question: Option<String>,
    /// All questions of the RUNs.
    #[arg(long)]
    pub all: bool,
    /// SAME means a ratio within this margin, such as 5% or 0.05; that of the RUNs where it is not
    /// given.
    #[arg(long, value_name = "SHARE")]
    pub margin: Option<String>,
    /// End with exit code 3 where anything that was asked is so: with --before the one after, else
    /// a contender against the baseline (or the first of --pair).
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// End with exit code 4 where anything that was asked is undecided.
    #[arg(long)]
    pub require_decision: bool,
    /// End as `git bisect run` wants it: 1 where anything is SLOWER, 125 where anything else is
    /// UNDECIDED, 128 on an error, and 0.
    #[arg(long, conflicts_with_all = ["fail_on", "require_decision"])]
    pub bisect: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// What ends with an exit code of its own.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailOn {
    /// SLOWER.
    Slower,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  fsarena compare 3 --fail-on slower
  fsarena compare 3 4 5 --pair xfs,ext4
  fsarena merge laptop.db server.db && fsarena compare 7 1f3a 88c0
  fsarena compare --before 3,4,5 --after 6,7,8 --all
  fsarena compare latest --bisect
  fsarena compare 12@-10m 13@10m-20m";
