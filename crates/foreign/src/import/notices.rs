//! What has to be said with every figure that another program measured.

use fsarena_model::record::Notice;

/// The figures are not ours.
pub const FOREIGN: &str = "imported";
/// All of one contender was measured before all of the next.
pub const NOT_INTERLEAVED: &str = "imported-not-interleaved";
/// When which run was done is not known.
pub const ORDER_UNKNOWN: &str = "imported-order-unknown";
/// The program prints no times.
pub const RATES_ALONE: &str = "imported-rates-alone";
/// The program's clock is too coarse for the lengths.
pub const COARSE_CLOCK: &str = "imported-coarse-clock";
/// Work that ended before it could be timed.
pub const TOO_SOON: &str = "imported-too-soon";
/// What is neither a time nor a rate.
pub const NO_TIME: &str = "imported-no-time";
/// A file or a part of one that was there before.
pub const SAME_CONTENTS: &str = "imported-same-contents";
/// What was measured is not all of one kind.
pub const OTHER_WORK: &str = "imported-other-work";
/// Reports of fio that were no results yet.
pub const UNDER_WAY: &str = "imported-under-way";
/// Figures of mdtest whose unit is not sure.
pub const TIME_PER_OP: &str = "imported-time-per-op";
/// Cases that a notice names.
const MOST_NAMED: usize = 5;
/// Nothing can be decided from one run.
pub const ONE_RUN: &str = "imported-one-run";

/// What holds for all of them.
pub(crate) fn foreign(program: &str) -> Notice {
    Notice::new(
        FOREIGN,
        format!(
            "measured by {program} and not by fsarena: the state of the caches is unknown, nothing \
             says when the data were safe, and the question and the margin were chosen after the data \
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

/// Files, or parts of them, that are the same.
pub(crate) fn same_contents(again: &[(String, String)]) -> Notice {
    let words = |(here, first): &(String, String)| format!("{here} is the same as {first}");
    let mut all: Vec<String> = again.iter().take(MOST_NAMED).map(words).collect();
    if again.len() > MOST_NAMED {
        all.push(format!("{} more are", again.len() - MOST_NAMED));
    }
    Notice::new(
        SAME_CONTENTS,
        format!("equal contents are one trial: {}", all.join(", ")),
        Some("give each measurement once"),
    )
}

/// Documents of several kinds of work.
pub(crate) fn other_work(names: &[String]) -> Notice {
    let mut all: Vec<&str> = names.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = format!("{} more", names.len().saturating_sub(MOST_NAMED));
    if names.len() > MOST_NAMED {
        all.push(&more);
    }
    Notice::new(
        OTHER_WORK,
        format!(
            "the files are of {} kinds of work, and only what is the same work is compared: {}",
            names.len(),
            all.join("; ")
        ),
        None,
    )
}

/// Reports that fio prints of a run that goes on.
pub(crate) fn under_way(count: usize) -> Notice {
    Notice::new(
        UNDER_WAY,
        format!(
            "{count} earlier {} of the same run (--status-interval) {} passed over: a report under \
             way is no result",
            if count == 1 { "report" } else { "reports" },
            if count == 1 { "was" } else { "were" },
        ),
        None,
    )
}

/// Lengths are made of rates.
pub(crate) fn rates_alone(program: &str) -> Notice {
    Notice::new(
        RATES_ALONE,
        format!(
            "{program} prints rates, of several iterations their mean, and no lengths: fsarena \
             compares the time of an op or a MiB at that rate"
        ),
        None,
    )
}

/// A unit in a header that is not what the program's source computes.
pub(crate) fn time_per_op() -> Notice {
    Notice::new(
        TIME_PER_OP,
        "mdtest heads these figures ms/op, and up to version 4.1 computes the seconds of the whole \
         phase: ratios are right, the size of a figure may not be",
        Some("let mdtest print rates (without -Z)"),
    )
}

/// What is too short for the digits that are printed.
pub(crate) fn no_digits(phase: &str) -> Notice {
    Notice::new(
        TOO_SOON,
        format!("{phase} is left out: mdtest prints 0.000 for its time"),
        Some("give mdtest more work, or let it print rates"),
    )
}

/// What is so short that the last digit decides.
pub(crate) fn few_digits(phase: &str, value: f64) -> Notice {
    Notice::new(
        COARSE_CLOCK,
        format!("{phase} is {value:.3} in a table with three digits behind the point"),
        Some("give mdtest more work, or let it print rates"),
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
pub(crate) fn no_time(test: &str, scale: &str, direction: &str) -> Notice {
    let direction = match direction {
        "HIB" => ", more is better",
        "LIB" => ", less is better",
        _ => ", and nothing says what is better",
    };
    Notice::new(
        NO_TIME,
        format!("{test} is left out: its scale ({scale}{direction}) is neither a time nor a rate"),
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
