//! What has to be said with every figure that another program measured.

use fsarena_model::record::Notice;

/// The figures are not ours.
pub const FOREIGN: &str = "imported";
/// All of one contender was measured before all of the next.
pub const NOT_INTERLEAVED: &str = "imported-not-interleaved";
/// When which run was done is not known.
pub const ORDER_UNKNOWN: &str = "imported-order-unknown";
/// What is compared is a time for an amount, not a time that was measured.
pub const BY_AMOUNT: &str = "imported-by-amount";
/// The program prints no times.
pub const RATES_ALONE: &str = "imported-rates-alone";
/// The program's clock is too coarse for the lengths.
pub const COARSE_CLOCK: &str = "imported-coarse-clock";
/// Work that ended before it could be timed.
pub const TOO_SOON: &str = "imported-too-soon";
/// What is neither a time nor a rate.
pub const NO_TIME: &str = "imported-no-time";
/// Nothing can be decided from one run.
pub const ONE_RUN: &str = "imported-one-run";

/// What holds for all of them.
pub(crate) fn foreign(program: &str) -> Notice {
    Notice::new(
        FOREIGN,
        format!(
            "measured by {program} and not by fsarena: caches were not proved cold, nothing says \
             when the data were safe, and the question and the margin were chosen after the data \
             were seen"
        ),
        Some("fsarena run measures the same with all of that settled before"),
    )
}

/// hyperfine does all runs of a command before the next.
pub(crate) fn not_interleaved() -> Notice {
    Notice::new(
        NOT_INTERLEAVED,
        "hyperfine does all runs of one command before those of the next: a drift of the machine \
         looks like a difference, and runs are paired by their number alone",
        None,
    )
}

/// Files come in the order of the command line.
pub(crate) fn order_unknown() -> Notice {
    Notice::new(
        ORDER_UNKNOWN,
        "blocks are files in the order in which they were given; nothing says that contenders were \
         measured in turns, and without that a drift of the machine looks like a difference",
        None,
    )
}

/// Amounts differ.
pub(crate) fn by_amount(phase: &str, amount: &str) -> Notice {
    Notice::new(
        BY_AMOUNT,
        format!(
            "{phase} ran for a set time or moved different amounts: compared is the time that \
             {amount} takes at its rate; what was measured is among the program's own figures"
        ),
        None,
    )
}

/// Times are made of rates.
pub(crate) fn rates_alone(program: &str, ops: u64) -> Notice {
    Notice::new(
        RATES_ALONE,
        format!(
            "{program} prints rates, and of several iterations their mean: compared is the time that \
             {ops} ops take at the mean rate"
        ),
        None,
    )
}

/// A rate that is missing in some lines says nothing about the others.
pub(crate) fn too_soon(program: &str, phase: &str, count: usize, of: usize) -> Notice {
    Notice::new(
        TOO_SOON,
        format!("{phase} is left out: in {count} of {of} lines it ended too soon to be timed"),
        Some(&format!("give {program} more work")),
    )
}

/// Scores have no meaning here.
pub(crate) fn no_time(test: &str, scale: &str) -> Notice {
    Notice::new(
        NO_TIME,
        format!("{test} is left out: its scale ({scale}) is neither a time nor a rate"),
        None,
    )
}

/// It repeats a test until its spread is small.
pub(crate) fn one_system_after_another(program: &str) -> Notice {
    Notice::new(
        NOT_INTERLEAVED,
        format!(
            "the {program} does all runs of a test on one system before the next, and repeats it \
             until the spread is small: a drift of the machine looks like a difference, runs are \
             paired by their number alone, and spreads look smaller than they are"
        ),
        None,
    )
}

/// fio counts in ms.
pub(crate) fn coarse_clock(phase: &str, ms: u64) -> Notice {
    let mut notice = Notice::new(
        COARSE_CLOCK,
        format!("{phase} took {ms} ms by fio's clock, which has whole milliseconds"),
        Some("give fio more work"),
    );
    notice.measure = Some(1.0 / ms.max(1) as f64);
    notice
}

/// There is nothing to take a spread from.
pub(crate) fn one_run(program: &str) -> Notice {
    Notice::new(
        ONE_RUN,
        "one run of each contender: nothing can be decided, since a single run has no spread",
        Some(match program {
            "fio" | "mdtest" | "IOR" | "bonnie++" => {
                "import several files of each label: ext4=1 ext4=2 …"
            }
            "hyperfine" => "let it do several runs (hyperfine --runs 10)",
            _ => "let it do several runs (FORCE_TIMES_TO_RUN=10)",
        }),
    )
}
