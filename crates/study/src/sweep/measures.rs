//! What is measured along a sweep.

use crate::JsonSchema;
use crate::cycles::DeviceLoad;
use crate::ledger::{WRITTEN, write_amplification_of};
use fsarena_model::record::{TrialRecord, Window};
use fsarena_model::run::Clock;
use fsarena_model::units::{Nanos, three_digits};
use serde::Serialize;

/// From here on lengths are written in seconds alone: `2m30s` has too few digits to compare.
const MINUTE_NS: f64 = 60e9;

/// What is measured; of each, less is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SweepMeasure {
    /// The calls came back; of cycles the mean of a trial.
    Work,
    /// syncfs done; of cycles the mean of a trial.
    Durable,
    /// Share of the time in which the device had something to do, 0 to 1: of the cycles' periods,
    /// else up to `durable`.
    Busy,
    /// Bytes written to the device a second: of the cycles' periods; else up to the next unmount,
    /// by the time to `durable`.
    WrittenPerS,
    /// Bytes written to the device ÷ bytes written by the calls.
    Amplification,
    /// (used − used when empty) ÷ contents stored, after the last phase.
    Space,
}

impl SweepMeasure {
    /// Every measure, in the order of tables, with its name there.
    pub const ALL: [(&str, Self); 6] = [
        ("work time", Self::Work),
        ("durable", Self::Durable),
        ("busy", Self::Busy),
        ("written per second", Self::WrittenPerS),
        ("written per asked byte", Self::Amplification),
        ("space per stored byte", Self::Space),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|known| known.1 == self).map_or("", |known| known.0)
    }

    /// Unit of its values; empty for shares and ratios.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Work | Self::Durable => "ns",
            Self::WrittenPerS => "bytes/s",
            Self::Busy | Self::Amplification | Self::Space => "",
        }
    }

    /// The smallest step in which it can be read.
    pub(super) fn step(self) -> f64 {
        match self {
            Self::Work | Self::Durable => 100.0,
            Self::WrittenPerS | Self::Busy | Self::Amplification | Self::Space => 0.0,
        }
    }

    /// Its value in phase `at` of a trial.
    pub(super) fn value(self, record: &TrialRecord, at: usize) -> Option<f64> {
        let phase = record.phases.get(at)?;
        match self {
            Self::Work => phase.ns(Clock::Returned).map(|ns| ns as f64),
            Self::Durable => phase.ns(Clock::Durable).map(|ns| ns as f64),
            Self::Busy => DeviceLoad::from_phase(phase).busy_share,
            Self::WrittenPerS => {
                let written = phase.counter(Window::Unmounted, WRITTEN)? as f64;
                let ns = match &phase.cycles {
                    Some(cycles) => cycles.mean(|cycle| Some(cycle.period_ns))?,
                    None => phase.clocks.durable_ns?,
                };
                Some(written * 1e9 / ns as f64)
            }
            Self::Amplification => write_amplification_of(record, at),
            Self::Space => {
                let space = record.space.filter(|space| space.stored_bytes > 0)?;
                let used = space.used_bytes as f64 - space.used_empty_bytes as f64;
                Some(used / space.stored_bytes as f64)
            }
        }
    }

    /// A value as people read it.
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Work | Self::Durable if value >= MINUTE_NS => {
                format!("{} s", three_digits(value / 1e9))
            }
            Self::Work | Self::Durable => Nanos(value.round() as u64).to_string(),
            Self::Busy => format!("{} %", three_digits(value * 100.0)),
            Self::WrittenPerS => format!("{} MB/s", three_digits(value / 1e6)),
            Self::Amplification | Self::Space => three_digits(value),
        }
    }
}
