//! The time of day that nobody sets while it is used.

use crate::sources::{boot_ns, realtime_ns};

/// The time of day as it was when this was made, and what has passed since by `CLOCK_BOOTTIME`.
///
/// `CLOCK_REALTIME` jumps where somebody sets it: what is dated by it is then out of order, and
/// lengths between two dates are wrong by hours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WallClock {
    /// Time of day less time since boot, ns.
    offset_ns: i64,
}

impl WallClock {
    /// Reads the time of day.
    #[must_use]
    pub fn set_now() -> Self {
        Self { offset_ns: realtime_ns().wrapping_sub(boot_ns()).cast_signed() }
    }

    /// The one of which [`Self::offset_ns`] was said, of a process on this machine.
    #[must_use]
    pub fn of_offset(offset_ns: i64) -> Self {
        Self { offset_ns }
    }

    /// Time of day less time since boot, ns.
    #[must_use]
    pub fn offset_ns(self) -> i64 {
        self.offset_ns
    }

    /// Now, ns since 1970.
    #[must_use]
    pub fn unix_ns(self) -> u64 {
        boot_ns().saturating_add_signed(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_from_where_it_was_set() {
        let clock = WallClock::set_now();
        let off_ns = clock.unix_ns().abs_diff(realtime_ns());
        assert!(off_ns < 1_000_000_000, "{off_ns}");
        // As one that was set before somebody put the clock forward by an hour.
        let earlier = WallClock::of_offset(clock.offset_ns() - 3_600_000_000_000);
        let behind_ns = clock.unix_ns() - earlier.unix_ns();
        assert!(behind_ns.abs_diff(3_600_000_000_000) < 1_000_000_000, "{behind_ns}");
        let first = earlier.unix_ns();
        assert!(earlier.unix_ns() >= first);
    }
}
