//! Differences of snapshots. Pure; never negative, never a guess.

use crate::source::{Decrease, Kind};
use crate::sources::Snapshot;
use crate::sources::catalog;
use fsarena_model::sample::Counters;

/// Growth of a cumulative metric from one reading to a later one; `None` where it began anew.
///
/// A decrease under [`Decrease::WrapsAt`] counts as one wrap only if the growth is less than half
/// of the modulus; more than that (25 days of milliseconds in 32 bits, within one phase) is taken
/// for a counter that began anew. Several wraps within one window cannot be seen.
#[must_use]
pub fn growth(decrease: Decrease, earlier: u64, later: u64) -> Option<u64> {
    if let Some(difference) = later.checked_sub(earlier) {
        return Some(difference);
    }
    match decrease {
        Decrease::Reset => None,
        Decrease::Correction => Some(0),
        Decrease::WrapsAt(modulus) => {
            let before_wrap = modulus.checked_sub(earlier)?;
            let difference = before_wrap.checked_add(later)?;
            (difference < modulus / 2).then_some(difference)
        }
    }
}

/// Counters of a window: growth of cumulative metrics, end value of gauges. A metric that is
/// missing at either end (gauges: at the end), or began anew in between, is left out.
#[must_use]
pub fn delta(earlier: &Snapshot, later: &Snapshot) -> Counters {
    let readings = earlier.values.iter().zip(&later.values);
    let values = catalog().iter().zip(readings).filter_map(|(metric, (&from, &to))| {
        let value = match metric.kind {
            Kind::Gauge => to?,
            Kind::Cumulative(decrease) => growth(decrease, from?, to?)?,
        };
        Some((metric.name.to_owned(), value))
    });
    values.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WRAP: Decrease = Decrease::WrapsAt((1 << 32) * 1_000_000);

    #[test]
    fn a_decrease_means_what_the_metric_says() {
        assert_eq!(growth(Decrease::Reset, 5, 7), Some(2));
        assert_eq!(growth(Decrease::Reset, 7, 5), None);
        assert_eq!(growth(Decrease::Correction, 7, 5), Some(0));
        let last_ms = ((1u64 << 32) - 1) * 1_000_000;
        assert_eq!(growth(WRAP, last_ms, 2_000_000), Some(3_000_000));
        assert_eq!(growth(WRAP, 9_000_000_000, 0), None, "a reset is not a wrap of 49 days");
        assert_eq!(growth(WRAP, u64::MAX, 0), None, "beyond the modulus");
    }

    #[test]
    fn gauges_keep_the_end_and_missing_is_left_out() {
        let index = |name| catalog().iter().position(|metric| metric.name == name).unwrap();
        let mut earlier = Snapshot::empty();
        let mut later = Snapshot::empty();
        for (name, from, to) in [
            ("mem.dirty_bytes", None, Some(10)),
            ("device.reads", Some(5), Some(9)),
            ("device.writes", Some(5), Some(4)),
            ("cpu.iowait_ns", Some(5), Some(4)),
            ("cpu.user_ns", None, Some(4)),
        ] {
            earlier.values[index(name)] = from;
            later.values[index(name)] = to;
        }
        let counters = delta(&earlier, &later);
        assert_eq!(counters.len(), 3);
        assert_eq!(counters["mem.dirty_bytes"], 10);
        assert_eq!(counters["device.reads"], 4);
        assert_eq!(counters["cpu.iowait_ns"], 0);
    }

    proptest! {
        #[test]
        fn growth_never_panics_and_stays_below_what_was_read(
            earlier: u64, later: u64, modulus: u64
        ) {
            for rule in [Decrease::Reset, Decrease::Correction, Decrease::WrapsAt(modulus)] {
                if let Some(difference) = growth(rule, earlier, later) {
                    prop_assert!(difference <= later.max(modulus));
                }
            }
        }

        #[test]
        fn a_wrap_is_undone(start in 0u64..1 << 32, ms in 0u64..1 << 30) {
            let later = (start + ms) % (1 << 32);
            let ns = |ms: u64| ms * 1_000_000;
            prop_assert_eq!(growth(WRAP, ns(start), ns(later)), Some(ns(ms)));
        }

        #[test]
        fn snapshots_of_any_length_do(
            from: Vec<Option<u64>>, to: Vec<Option<u64>>
        ) {
            let snapshot = |values| Snapshot { monotonic_ns: 0, values };
            let _ = delta(&snapshot(from), &snapshot(to));
        }
    }
}
