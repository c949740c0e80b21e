//! What the options of a fio job leave free.
//!
//! One reading for jobs that fsarena runs and for the options that fio's own output repeats, so
//! that both are compared by the same. Sources: the HOWTO (fio.readthedocs.io), and of what ends a
//! job fio's `backend.c` (`do_io`, `keep_running`).

use fsarena_model::work::Constraints;

/// Options that end a job by the clock, or by something else than its own work: how much is done
/// is the result. `runtime` alone does so, too: it may end the work early. After `ramp_time` fio
/// counts what is left of the work, and with `fill_device` it is as large as the file system.
const ENDED_EARLY: [&str; 9] = [
    "runtime",
    "timeout",
    "ramp_time",
    "fill_device",
    "fill_fs",
    "exitall",
    "steadystate",
    "ss",
    "latency_target",
];
/// Options that say when an op has to come: a rate of each direction, or a pause behind each op.
const PACED: [&str; 4] = ["rate", "rate_iops", "thinktime", "thinkcycles"];
/// Directions in the order in which `rate=read,write,trim` has them.
const DIRECTIONS: usize = 3;

/// What a job was told; `option` gives the value of an option, an empty one where it stands alone.
pub(crate) fn constraints_of<'a>(option: &dyn Fn(&str) -> Option<&'a str>) -> Constraints {
    let is_set = |name: &&str| option(name).is_some_and(is_on);
    let rw = option("rw").or_else(|| option("readwrite")).unwrap_or("read");
    let is_paced = |name: &&str| match option(name) {
        Some(value) if name.starts_with("rate") => paces(value, rw),
        Some(value) => is_on(value),
        None => false,
    };
    // fio keeps a histogram of what it gives percentiles of: of completion latencies unless an
    // option forbids it, of those from submission on where an option asks for it.
    let completion = !is_set(&"disable_clat") && option("clat_percentiles").is_none_or(is_on);
    let whole = !is_set(&"disable_lat") && is_set(&"lat_percentiles");
    let lacks_latency = is_set(&"gtod_reduce") || !(completion || whole);
    Constraints {
        time_is_set: ENDED_EARLY.iter().any(is_set),
        rate_is_set: PACED.iter().any(is_paced) || replays_in_time(option),
        lacks_latency,
        ..Constraints::default()
    }
}

/// What several jobs that run at once were told: whichever ends them early or paces them does so
/// for what they come to together.
pub(crate) fn together(jobs: impl IntoIterator<Item = Constraints>) -> Constraints {
    jobs.into_iter().fold(Constraints::default(), |all, one| Constraints {
        time_is_set: all.time_is_set || one.time_is_set,
        rate_is_set: all.rate_is_set || one.rate_is_set,
        lacks_latency: all.lacks_latency || one.lacks_latency,
        ..all
    })
}

/// Whether an option does something: not where it is 0, off or `none`.
fn is_on(value: &str) -> bool {
    let value = value.trim();
    let digits = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_zero = !digits.is_empty() && digits.chars().all(|c| matches!(c, '0' | '.'));
    !is_zero && !matches!(value, "false" | "none")
}

/// Whether `rate=4m,2m,1m` (of reads, writes and trims; one value is of all) sets the rate of a
/// direction that `rw` has.
fn paces(value: &str, rw: &str) -> bool {
    let kind = rw.split(':').next().unwrap_or("").trim();
    let is_mixed = matches!(kind, "rw" | "readwrite" | "randrw");
    let used = [
        is_mixed || kind.ends_with("read"),
        is_mixed || kind.contains("write"),
        kind.contains("trim"),
    ];
    let rates: Vec<&str> = value.split(',').map(str::trim).collect();
    let of = |direction: usize| match rates.as_slice() {
        [one] => one,
        several => several.get(direction).copied().unwrap_or(""),
    };
    (0..DIRECTIONS).any(|direction| {
        let rate = of(direction);
        used[direction] && !rate.is_empty() && is_on(rate)
    })
}

/// Whether a trace is replayed at the times that it was recorded at.
fn replays_in_time<'a>(option: &dyn Fn(&str) -> Option<&'a str>) -> bool {
    option("read_iolog").is_some() && !option("replay_no_stall").is_some_and(is_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::work::FreeQuantity;

    fn free(options: &[(&str, &str)]) -> FreeQuantity {
        let all: Vec<(String, String)> =
            options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let find =
            |name: &str| all.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        constraints_of(&find).free()
    }

    #[test]
    fn a_job_is_compared_by_what_its_options_leave_free() {
        for (options, expected) in [
            (&[("size", "1m")][..], FreeQuantity::Time),
            (&[("runtime", "10")], FreeQuantity::Ops),
            (&[("runtime", "0")], FreeQuantity::Time),
            (&[("runtime", "0s")], FreeQuantity::Time),
            (&[("time_based", ""), ("runtime", "1h")], FreeQuantity::Ops),
            (&[("ramp_time", "5s")], FreeQuantity::Ops),
            (&[("fill_device", "1")], FreeQuantity::Ops),
            (&[("exitall", "")], FreeQuantity::Ops),
            (&[("steadystate", "iops:10%")], FreeQuantity::Ops),
            (&[("rate", "1m")], FreeQuantity::Latency),
            (&[("rate_iops", "200"), ("runtime", "9")], FreeQuantity::Latency),
            (&[("thinktime", "1ms")], FreeQuantity::Latency),
            (&[("thinktime", "0")], FreeQuantity::Time),
            (&[("rate", "1m"), ("gtod_reduce", "1")], FreeQuantity::Nothing),
            (&[("rate", "1m"), ("disable_clat", "1")], FreeQuantity::Nothing),
            (&[("rate", "1m"), ("clat_percentiles", "0")], FreeQuantity::Nothing),
            (
                &[("rate", "1m"), ("clat_percentiles", "0"), ("lat_percentiles", "1")],
                FreeQuantity::Latency,
            ),
            (&[("rate", "1m,"), ("rw", "randwrite")], FreeQuantity::Time),
            (&[("rate", ",1m"), ("rw", "randwrite")], FreeQuantity::Latency),
            (&[("rate", ",1m"), ("rw", "randrw")], FreeQuantity::Latency),
            (&[("rate", "1m,0"), ("rw", "write:4k")], FreeQuantity::Time),
            (&[("read_iolog", "x")], FreeQuantity::Latency),
            (&[("read_iolog", "x"), ("replay_no_stall", "1")], FreeQuantity::Time),
        ] {
            assert_eq!(free(options), expected, "{options:?}");
        }
    }

    #[test]
    fn jobs_at_once_are_ended_by_whichever_is() {
        let plain = Constraints::default();
        let timed = Constraints { time_is_set: true, ..plain };
        let paced = Constraints { rate_is_set: true, lacks_latency: true, ..plain };
        assert_eq!(together([plain, plain]).free(), FreeQuantity::Time);
        assert_eq!(together([plain, timed]).free(), FreeQuantity::Ops);
        assert_eq!(together([timed, paced]).free(), FreeQuantity::Nothing);
    }
}
