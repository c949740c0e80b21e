//! The words and figures of verdicts: ratios with their intervals, margins, blocks, what is needed
//! less of. Here once, for the tables of a RUN and for the comparison of several.

use crate::format::grouped;
use fsarena_model::metric::MetricUnit;
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::units::{Bytes, Nanos};
use fsarena_model::verdict::{Metric, Verdict};

/// Most decimals of a ratio.
const MOST_DECIMALS: usize = 6;
/// Phases that a sentence names at most.
const NAMED: usize = 3;
/// An end below this, like one above [`MOST_END`], is printed as a bound: what is that far off
/// tells of noise alone.
const LEAST_END: f64 = 0.01;
/// See [`LEAST_END`].
const MOST_END: f64 = 100.0;

/// What is compared, as it stands in a title, of a phase that changes something: `time until safe
/// on disk`.
#[must_use]
pub fn metric(metric: Metric, clock: Clock) -> String {
    figure(metric, clock, true)
}

/// The same of a phase that `changes` something or not: what only reads has nothing to make safe.
pub(crate) fn figure(metric: Metric, clock: Clock, changes: bool) -> String {
    metric.row().words.figure.words(clock, changes).to_owned()
}

/// Phases that get no verdict, because they leave nothing free.
pub(crate) fn without_verdict(plan: &RunPlan) -> Option<String> {
    let names: Vec<String> = plan
        .phases_without_verdict()
        .map(|(workload, phase)| format!("{} {}", workload.name, phase.name))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "no verdict on {}: the rate or the time is set, no latency or amount of work is \
             known, and nothing is left free to compare",
            some_of(&names, NAMED)
        )
    })
}

/// A value in the metric's base unit.
#[must_use]
pub fn value(metric: Metric, value: f64) -> String {
    if !value.is_finite() || value < 0.0 {
        return "-".to_owned();
    }
    // Longer than 292 years is no length of a phase, and would overflow where it is rounded.
    let whole = (value.round() as u64).min(1 << 63);
    match metric.row().unit {
        MetricUnit::Bytes => Bytes(whole).to_string(),
        MetricUnit::Ns => Nanos(whole).to_string(),
        MetricUnit::Count if value == 0.0 => "0".to_owned(),
        MetricUnit::Count => rounded(value, 2),
    }
}

/// A ratio, two decimals near 1: `1.23`, `12.3`, `0.0031`, `1,234`.
#[must_use]
pub fn ratio(value: f64) -> String {
    rounded(value, 2)
}

/// A ratio and its interval, `1.23` and `[1.18, 1.29]`, with as many decimals as tell both ends
/// from 1 and from each other; no interval, no second text. Ends that are far off are bounds,
/// `[<0.01, >100]`, but not where the whole interval is that far off: it is what was found then.
#[must_use]
pub fn ratio_and_interval(
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
) -> (String, Option<String>) {
    figures(value, low, high, |_| false)
}

/// The same in one text: `1.23 [1.18, 1.29]`.
pub(crate) fn ratio_text(value: f64, low: Option<f64>, high: Option<f64>) -> String {
    let (text, interval) = ratio_and_interval(Some(value), low, high);
    interval.map_or(text.clone(), |interval| format!("{text} {interval}"))
}

/// The same of an interval that SAME is said by: no end that is within the margin is rounded to
/// beyond it.
pub(crate) fn ratio_within(
    margin: f64,
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
) -> (String, Option<String>) {
    // 1 + 0.07 need not be the number that 1.07 is.
    let most = (1.0 + margin) * (1.0 + 1e-12);
    figures(value, low, high, |end| (most.recip()..=most).contains(&end))
}

/// No end that is `within` is rounded to one that is not.
fn figures(
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    within: impl Fn(f64) -> bool,
) -> (String, Option<String>) {
    let (Some(low), Some(high)) = (low, high) else {
        return (value.map_or_else(|| "-".to_owned(), ratio), None);
    };
    let is_found = (low > MOST_END && high.is_finite()) || (high < LEAST_END && low > 0.0);
    let bound = |end: f64| match end {
        end if end < LEAST_END && !is_found => Some("<0.01"),
        end if end > MOST_END && !is_found => Some(">100"),
        _ => None,
    };
    let text =
        |end: f64, decimals| bound(end).map_or_else(|| rounded(end, decimals), str::to_owned);
    let hides = |end: f64, decimals| end != 1.0 && text(end, decimals) == text(1.0, decimals);
    let leaves = |end: f64, decimals| {
        within(end) && text(end, decimals).parse().is_ok_and(|read: f64| !within(read))
    };
    let tells = |decimals| {
        let runs_together =
            bound(low).is_none() && low != high && text(low, decimals) == text(high, decimals);
        let is_told = |end| !hides(end, decimals) && !leaves(end, decimals);
        is_told(low) && is_told(high) && !runs_together
    };
    let decimals = (2..MOST_DECIMALS).find(|&decimals| tells(decimals)).unwrap_or(MOST_DECIMALS);
    let point = value.map_or_else(|| "-".to_owned(), |value| rounded(value, decimals));
    (point, Some(format!("[{}, {}]", text(low, decimals), text(high, decimals))))
}

/// Two decimals near 1 are three digits at 10 and two below 0.1.
fn rounded(value: f64, decimals: usize) -> String {
    match value {
        v if !v.is_finite() || v <= 0.0 => "-".to_owned(),
        v if !(1e-9..1e9).contains(&v) => format!("{v:.2e}"),
        v if v >= 999.5 => grouped(v.round() as u64),
        v if v >= 99.95 => format!("{v:.0$}", decimals.saturating_sub(2)),
        v if v >= 9.995 => format!("{v:.0$}", decimals.saturating_sub(1)),
        v if v >= 0.1 => format!("{v:.decimals$}"),
        v => format!("{v:.0$}", decimals + (-v.log10()).floor() as usize),
    }
}

/// A share in percent without needless digits: `5 %`, `2.5 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// `±5 %`.
#[must_use]
pub fn margin(margin: f64) -> String {
    format!("±{}", percent(margin))
}

/// A level of confidence, never rounded to certainty: `99.4 %`, `99.97 %`.
#[must_use]
pub fn level(level: f64) -> String {
    let text = (1..5)
        .map(|decimals| format!("{:.decimals$}", level * 100.0))
        .find(|text| level >= 1.0 || !text.starts_with("100"))
        .unwrap_or_else(|| (level * 100.0).to_string());
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// `p < 0.001`, `p = 0.012`.
pub(crate) fn probability(p: f64) -> String {
    match p {
        p if !p.is_finite() => "p unknown".to_owned(),
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p < 0.1 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

/// `1 block`, `1,234 blocks`.
#[must_use]
pub fn blocks(n: u64) -> String {
    if n == 1 { "1 block".to_owned() } else { format!("{} blocks", grouped(n)) }
}

/// A time that is only guessed: `40 s`, `6 min`, `3.5 h`, `12 days`.
#[must_use]
pub fn about(seconds: f64) -> String {
    match seconds.max(0.0) {
        s if !s.is_finite() => "an unknown time".to_owned(),
        s if s < 99.5 => format!("{s:.0} s"),
        s if s < 99.5 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 9.95 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s if s < 48.0 * 3600.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{} days", grouped((s / 86_400.0).round() as u64)),
    }
}

/// `4`, `4 and 6`, `4, 6 and 8`.
#[must_use]
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// The first names, and how many more there are: `a, b and 3 more`.
pub(crate) fn some_of(names: &[String], most: usize) -> String {
    let mut items: Vec<String> = names.iter().take(most).cloned().collect();
    if names.len() > most {
        items.push(format!("{} more", names.len() - most));
    }
    listed(&items)
}

/// What a verdict says of one thing against another, and its ratio with the interval in brackets:
/// `ext4 is FASTER than xfs: 1.23 times as fast [1.18, 1.29]`. `ratio` is the first's value ÷ the
/// second's; absent, the colon and what follows it are left out.
///
/// FASTER in time turns the ratio round: who needs 0.81 times as long is 1.23 times as fast.
pub(crate) fn claim(said: &Claim<'_>) -> String {
    let Claim { a, b, verdict, metric, margin: within, ratio, low, high } = *said;
    let (text, interval) = match (verdict, metric) {
        (Verdict::Faster, metric) if metric.is_length() => {
            let turned = |value: Option<f64>| value.map(f64::recip);
            ratio_and_interval(turned(ratio), turned(high), turned(low))
        }
        (Verdict::Same, _) => ratio_within(within, ratio, low, high),
        _ => ratio_and_interval(ratio, low, high),
    };
    let head = match verdict {
        Verdict::Faster => format!("{a} is FASTER than {b}"),
        Verdict::Slower => format!("{a} is SLOWER than {b}"),
        Verdict::Same => format!("{a} and {b} are SAME within {}", margin(within)),
        Verdict::Undecided => format!("{a} and {b} are UNDECIDED"),
    };
    if ratio.is_none() {
        return head;
    }
    let interval = interval.map(|interval| format!(" {interval}")).unwrap_or_default();
    match verdict {
        Verdict::Same => format!("{head}: ratio {text}{interval}"),
        Verdict::Undecided => {
            let (before, after) = needs(metric, verdict);
            format!("{head}: {a} {before}{text} times {after} {b}{interval}")
        }
        Verdict::Faster | Verdict::Slower => {
            let (before, after) = needs(metric, verdict);
            format!("{head}: {before}{text} times {after}{interval}")
        }
    }
}

/// What is claimed of two things; see [`claim`].
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) a: &'a str,
    pub(crate) b: &'a str,
    /// What is said of the first.
    pub(crate) verdict: Verdict,
    /// What is compared.
    pub(crate) metric: Metric,
    /// SAME is within 1 ÷ (1 + margin) and 1 + margin.
    pub(crate) margin: f64,
    /// Value of the first ÷ value of the second.
    pub(crate) ratio: Option<f64>,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

/// What FASTER and SLOWER need less and more of, and what UNDECIDED is told of: before and after
/// the ratio.
pub(crate) fn needs(metric: Metric, verdict: Verdict) -> (&'static str, &'static str) {
    let words = &metric.row().words;
    match verdict {
        Verdict::Faster => words.faster,
        Verdict::Undecided => (words.verb, words.than),
        Verdict::Slower | Verdict::Same => words.slower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ratios() {
        for (value, text) in [
            (1.0, "1.00"),
            (1.234, "1.23"),
            (0.8101, "0.81"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1234.5, "1,235"),
            (0.05, "0.050"),
            (0.0031, "0.0031"),
            (f64::NAN, "-"),
            (0.0, "-"),
            (2e12, "2.00e12"),
        ] {
            assert_eq!(ratio(value), text, "{value}");
        }
    }

    #[test]
    fn an_end_that_is_not_1_does_not_read_as_1() {
        let text = |value, low, high| {
            let (ratio, interval) = ratio_and_interval(Some(value), Some(low), Some(high));
            format!("{ratio} {}", interval.unwrap())
        };
        assert_eq!(text(1.02, 0.982, 1.041), "1.02 [0.98, 1.04]");
        assert_eq!(text(1.02, 0.998, 1.041), "1.020 [0.998, 1.041]");
        assert_eq!(text(1.0003, 1.0001, 1.0005), "1.0003 [1.0001, 1.0005]");
        assert_eq!(text(1.232, 1.231, 1.2334), "1.232 [1.231, 1.233]");
        assert_eq!(text(1.0, 1.0, 1.0), "1.00 [1.00, 1.00]");
        assert_eq!(text(1.0, 1.0 - 1e-9, 1.0 + 1e-9), "1.000000 [1.000000, 1.000000]");
        assert_eq!(ratio_and_interval(None, None, None), ("-".to_owned(), None));
    }

    #[test]
    fn ends_that_are_far_off_are_bounds() {
        let text = |value, low, high| {
            let (ratio, interval) = ratio_and_interval(Some(value), Some(low), Some(high));
            format!("{ratio} {}", interval.unwrap())
        };
        assert_eq!(text(0.72, 0.000_000_018, 29_326_083.0), "0.72 [<0.01, >100]");
        assert_eq!(text(0.72, 0.0, f64::INFINITY), "0.72 [<0.01, >100]");
        assert_eq!(text(1.5, 0.0101, 100.0), "1.50 [0.010, 100]");
        assert_eq!(text(31.0, 9.5, 101.0), "31.0 [9.50, >100]");
        assert_eq!(text(0.5, 0.0099, 25.3), "0.50 [<0.01, 25.3]");
        assert_eq!(text(250.0, 220.0, f64::INFINITY), "250 [>100, >100]");
        assert_eq!(text(250.0, 220.0, 1280.0), "250 [220, 1,280]");
        assert_eq!(text(0.004, 0.0031, 0.0052), "0.0040 [0.0031, 0.0052]");
    }

    #[test]
    fn an_end_within_the_margin_reads_so() {
        let text = |margin, low, high| ratio_within(margin, Some(1.0), Some(low), Some(high));
        let interval = |margin, low, high| text(margin, low, high).1.unwrap();
        // 0.95 is less than 1 ÷ 1.05.
        assert_eq!(interval(0.05, 0.953, 1.0499), "[0.953, 1.050]");
        assert_eq!(interval(0.05, 0.961, 1.0499), "[0.96, 1.05]");
        assert_eq!(interval(0.018, 0.99, 1.0179), "[0.990, 1.018]");
        assert_eq!(interval(0.07, 0.96, 1.0699), "[0.96, 1.07]");
        assert_eq!(interval(0.05, 0.90, 1.02), "[0.90, 1.02]");
    }

    #[test]
    fn shares_and_levels() {
        assert_eq!([margin(0.05), margin(0.07), margin(0.025)], ["±5 %", "±7 %", "±2.5 %"]);
        assert_eq!([level(0.95), level(0.994), level(0.9997)], ["95 %", "99.4 %", "99.97 %"]);
        assert_eq!(level(1.0), "100 %");
        assert_eq!(probability(0.0004), "p < 0.001");
        assert_eq!(probability(0.0123), "p = 0.012");
        assert_eq!(probability(f64::NAN), "p unknown");
    }

    #[test]
    fn guessed_times() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (40.4, "40 s"),
            (360.0, "6 min"),
            (12_600.0, "3.5 h"),
            (90_000.0, "25 h"),
            (1e6, "12 days"),
            (f64::INFINITY, "an unknown time"),
        ] {
            assert_eq!(about(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn what_is_claimed() {
        let said = |verdict, metric, ratio: f64| {
            let (low, high) = (Some(ratio * 0.95), Some(ratio * 1.05));
            let ratio = Some(ratio);
            claim(&Claim { a: "A", b: "B", verdict, metric, margin: 0.05, ratio, low, high })
        };
        assert_eq!(
            said(Verdict::Faster, Metric::Time, 0.8),
            "A is FASTER than B: 1.25 times as fast [1.19, 1.32]"
        );
        assert_eq!(
            said(Verdict::Slower, Metric::Time, 1.25),
            "A is SLOWER than B: takes 1.25 times as long [1.19, 1.31]"
        );
        assert_eq!(
            said(Verdict::Faster, Metric::Written, 0.5),
            "A is FASTER than B: needs less writing, 0.50 times as many bytes [0.47, 0.53]"
        );
        assert_eq!(
            said(Verdict::Undecided, Metric::Cpu, 1.02),
            "A and B are UNDECIDED: A needs 1.02 times the processor time of B [0.97, 1.07]"
        );
    }

    proptest! {
        /// Both ends of an interval as printed lie on the side of 1 on which they are.
        #[test]
        fn sides_are_kept(low in 0.001f64..2000.0, over in 1.0f64..3.0) {
            let high = low * over;
            let (_, interval) = ratio_and_interval(Some(low), Some(low), Some(high));
            let text = interval.unwrap().replace(['[', ']'], "");
            let (left, right) = text.split_once(", ").unwrap();
            let read = |text: &str| text.replace([',', '<', '>'], "").parse::<f64>().unwrap();
            for (end, text) in [(low, left), (high, right)] {
                prop_assert!((end > 1.0 + 1e-6) <= (read(text) > 1.0), "{end} {text}");
                prop_assert!((end < 1.0 - 1e-6) <= (read(text) < 1.0), "{end} {text}");
            }
        }
    }
}
