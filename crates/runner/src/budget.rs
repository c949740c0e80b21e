//! The time of a RUN: what it has used, what there is still to do, and whether that fits.
//!
//! All of a RUN counts: the image that is written, staged data, the first block, and what comes
//! after the last trial. A block is begun only where it is expected to end in time, and a trial of
//! it too: where the machine became slower meanwhile, the RUN stops before the trial that would end
//! late, not after it. Only the very first trial is always carried out.

use std::time::{Duration, Instant};

/// Share of a budget that is kept for what comes after the last trial: devices are taken down, and
/// verdicts, tables and the report are made (1 to 3 s of a RUN of some minutes).
const CLOSING_SHARE: f64 = 0.01;
/// Its limits.
const CLOSING_LEAST: Duration = Duration::from_millis(500);
const CLOSING_MOST: Duration = Duration::from_secs(5);

/// What a RUN may take, and has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    limit_ns: Option<u64>,
    /// Time of earlier sessions.
    earlier_ns: u64,
    /// Beginning of this one.
    begun: Instant,
}

impl Budget {
    /// A budget of which `earlier_ns` were used before `begun`.
    pub(crate) fn new(limit_ns: Option<u64>, earlier_ns: u64, begun: Instant) -> Self {
        Self { limit_ns, earlier_ns, begun }
    }

    /// The whole budget, where there is one.
    pub(crate) fn limit_ns(&self) -> Option<u64> {
        self.limit_ns
    }

    /// Time that trials may still take; `None` where there is no budget.
    pub(crate) fn left_ns(&self) -> Option<u64> {
        Some(left_ns(self.limit_ns?, self.earlier_ns, nanos(self.begun.elapsed())))
    }

    /// Whether work of this length would end in time.
    pub(crate) fn has_room_for(&self, expected_ns: u64) -> bool {
        self.left_ns().is_none_or(|left_ns| expected_ns <= left_ns)
    }

    /// Time until the end of a RUN with so much left to do: never more than the budget allows.
    pub(crate) fn until_end_ns(&self, expected_ns: u64) -> u64 {
        self.left_ns().map_or(expected_ns, |left_ns| expected_ns.min(left_ns))
    }
}

/// What is left of `limit_ns` for trials, of which `earlier_ns` and `own_ns` are used.
fn left_ns(limit_ns: u64, earlier_ns: u64, own_ns: u64) -> u64 {
    let closing = Duration::from_nanos(limit_ns).mul_f64(CLOSING_SHARE);
    let closing_ns = nanos(closing.clamp(CLOSING_LEAST, CLOSING_MOST));
    limit_ns.saturating_sub(closing_ns).saturating_sub(earlier_ns).saturating_sub(own_ns)
}

fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn all_that_was_used_counts_and_closing_is_kept() {
        let four_minutes = 240 * SECOND_NS;
        assert_eq!(left_ns(four_minutes, 0, 0), 237_600_000_000);
        assert_eq!(left_ns(four_minutes, 100 * SECOND_NS, 37 * SECOND_NS), 100_600_000_000);
        assert_eq!(left_ns(four_minutes, 0, four_minutes), 0);
        assert_eq!(left_ns(SECOND_NS, 0, 0), SECOND_NS / 2, "what comes after takes its time");
        assert_eq!(left_ns(24 * 3600 * SECOND_NS, 0, 0), (24 * 3600 - 5) * SECOND_NS);
    }

    #[test]
    fn the_end_is_never_said_to_be_beyond_the_budget() {
        let budget = Budget::new(Some(240 * SECOND_NS), 0, Instant::now());
        assert!(budget.until_end_ns(9 * 3600 * SECOND_NS) <= 240 * SECOND_NS);
        assert_eq!(budget.until_end_ns(SECOND_NS), SECOND_NS);
        assert!(budget.has_room_for(SECOND_NS) && !budget.has_room_for(239 * SECOND_NS));
        let none = Budget::new(None, 0, Instant::now());
        assert_eq!(none.until_end_ns(9 * 3600 * SECOND_NS), 9 * 3600 * SECOND_NS);
        assert!(none.has_room_for(u64::MAX));
    }
}
