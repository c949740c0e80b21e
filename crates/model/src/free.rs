//! What a phase leaves free, and what of it is compared therefore.
//!
//! Two file systems can be compared only by what neither was told: where the work is fixed, by the
//! time it takes; where the time is fixed, by the work that was done in it; where the rate is
//! fixed, by the latency. Comparing anything else compares the numbers in the description of the
//! work. This is decided here and nowhere else, from [`Constraints`], for phases of fsarena, for
//! jobs of fio and for what other programs have measured.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a phase was told to do, as far as it decides what is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Constraints {
    /// The clock ends it: two trials of it do not have the same work. So it is, too, where a
    /// program reports work per time and not the time.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub time_is_set: bool,
    /// Its ops come at a set rate, or with a set pause: it takes as long as that says.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub rate_is_set: bool,
    /// No latency of its ops is known.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lacks_latency: bool,
    /// How its work is counted.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub work: CountedWork,
}

/// How the work of a phase is counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CountedWork {
    /// In ops.
    #[default]
    Ops,
    /// In bytes: how many ops moved them is not known, or differs.
    Bytes,
    /// It is not counted.
    Uncounted,
}

impl Constraints {
    /// What is left free.
    #[must_use]
    pub fn free(self) -> FreeQuantity {
        match (self.rate_is_set, self.time_is_set, self.work) {
            (true, ..) if self.lacks_latency => FreeQuantity::Nothing,
            (true, ..) => FreeQuantity::Latency,
            (false, false, _) => FreeQuantity::Time,
            (false, true, CountedWork::Ops) => FreeQuantity::Ops,
            (false, true, CountedWork::Bytes) => FreeQuantity::Bytes,
            (false, true, CountedWork::Uncounted) => FreeQuantity::Nothing,
        }
    }

    /// Whether every trial has the same work, so that sums over it can be compared.
    #[must_use]
    pub fn has_same_work(self) -> bool {
        !self.time_is_set
    }
}

/// What of a phase was left free.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreeQuantity {
    /// How long a fixed work takes.
    Time,
    /// How many ops are done in a time.
    Ops,
    /// How many bytes are moved in a time.
    Bytes,
    /// How long an op takes that comes at a set rate.
    Latency,
    /// Nothing that is known: no verdict.
    Nothing,
}

names!(FreeQuantity.name {
    Time = "time", Ops = "ops", Bytes = "bytes", Latency = "latency", Nothing = "nothing",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_is_what_was_left_free() {
        let constraints = |time_is_set, rate_is_set| Constraints {
            time_is_set,
            rate_is_set,
            ..Constraints::default()
        };
        assert_eq!(constraints(false, false).free(), FreeQuantity::Time);
        assert_eq!(constraints(true, false).free(), FreeQuantity::Ops);
        assert_eq!(constraints(false, true).free(), FreeQuantity::Latency);
        assert_eq!(
            constraints(true, true).free(),
            FreeQuantity::Latency,
            "the rate fixes the work too"
        );
        let bytes = Constraints { work: CountedWork::Bytes, ..constraints(true, false) };
        assert_eq!(bytes.free(), FreeQuantity::Bytes);
        let uncounted = Constraints { work: CountedWork::Uncounted, ..constraints(true, false) };
        assert_eq!(uncounted.free(), FreeQuantity::Nothing);
        let same = Constraints { work: CountedWork::Uncounted, ..constraints(false, false) };
        assert_eq!(same.free(), FreeQuantity::Time, "the same work need not be counted");
        let blind = Constraints { lacks_latency: true, ..constraints(false, true) };
        assert_eq!((blind.free(), blind.free().metric()), (FreeQuantity::Nothing, None));
        let timed = Constraints { lacks_latency: true, ..constraints(false, false) };
        assert_eq!(timed.free(), FreeQuantity::Time);
    }
}
