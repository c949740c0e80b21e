//! The three clocks of a phase: `returned`, `durable` and `drained`.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the three clocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The calls came back.
    Returned,
    /// syncfs done.
    #[default]
    Durable,
    /// Everything is where it shall lie.
    Drained,
}

names!(Clock.name { Returned = "returned", Durable = "durable", Drained = "drained" });

/// Lengths from the phase's first clock read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Clocks {
    /// The calls came back.
    pub returned_ns: u64,
    /// syncfs done.
    pub durable_ns: Option<u64>,
    /// Everything is where it shall lie.
    pub drained: Drained,
    /// Whether `durable` holds, after syncfs, a flush of the device that we made: of a file system
    /// that may write behind its own.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub device_flushed: bool,
    /// How long after `durable` the file system was told to drain. No part of `drained`: what it
    /// wrote by itself meanwhile is not in that length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_late_ns: Option<u64>,
}

impl Clocks {
    /// Of work that was measured elsewhere: only when it came back is known.
    #[must_use]
    pub fn not_waited_for(returned_ns: u64, reason: &str) -> Self {
        let drained = Drained::NotWaitedFor { reason: reason.to_owned() };
        let (device_flushed, drain_late_ns) = (false, None);
        Self { returned_ns, durable_ns: None, drained, device_flushed, drain_late_ns }
    }

    /// The length by one of the clocks. What has no device has drained when it is durable.
    #[must_use]
    pub fn ns(&self, clock: Clock) -> Option<u64> {
        match (clock, &self.drained) {
            (Clock::Returned, _) => Some(self.returned_ns),
            (Clock::Durable, _) | (Clock::Drained, Drained::NoDevice) => self.durable_ns,
            (Clock::Drained, drained) => drained.ns(),
        }
    }
}

/// The third clock.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Drained {
    /// Frozen (`FIFREEZE`), and thawed after the clock was read.
    Frozen {
        /// Length: `durable` and the time that freezing took.
        drained_ns: u64,
    },
    /// The device was idle for the stated time; its end is not counted.
    Idle {
        /// Length.
        drained_ns: u64,
    },
    /// There is nothing to drain: no device.
    NoDevice,
    /// Not within the cap, or not observable; says why.
    NotDrained {
        /// Why.
        reason: String,
    },
    /// Another program measured the phase, and waited for nothing beyond its own calls: there is no
    /// `durable` either.
    NotWaitedFor {
        /// Which program, in words.
        reason: String,
    },
}

impl Drained {
    /// The length, where there is one.
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        match self {
            Self::Frozen { drained_ns } | Self::Idle { drained_ns } => Some(*drained_ns),
            Self::NoDevice | Self::NotDrained { .. } | Self::NotWaitedFor { .. } => None,
        }
    }
}
