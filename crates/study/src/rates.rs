//! What the rate of a phase counts, and the rates of a row: each an amount per second of a clock.

use crate::figures::SpreadF;
use crate::phases::clock_ns;
use fsarena_model::record::PhaseRecord;
use fsarena_model::run::{Clock, RateStyle};
use fsarena_model::work::{Dataset, Op};
use serde::{Serialize, Serializer};

/// What a rate counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RateUnit {
    /// Bytes of contents.
    Bytes,
    /// Files.
    Files,
    /// Directories.
    Dirs,
    /// Calls of reading and writing, each of the phase's block size (IOPS).
    Ops,
}

/// Files smaller than this on average are counted, not weighed, in the style [`RateStyle::Auto`].
pub const SMALL_FILE_BYTES: u64 = 64 << 10;

impl RateUnit {
    /// What is counted for an op on these files.
    #[must_use]
    pub fn of(style: RateStyle, op: Op, dataset: &Dataset) -> Self {
        match op {
            _ if op.is_about_dirs() => Self::Dirs,
            _ if op.is_random() || op == Op::Fio => Self::Ops,
            _ if !op.moves_bytes() => Self::Files,
            _ if style == RateStyle::Article2003 || op.is_big() => Self::Bytes,
            // One call a file, however large the file is.
            Op::Append => Self::Files,
            _ if mean_size_bytes(dataset) < SMALL_FILE_BYTES => Self::Files,
            _ => Self::Bytes,
        }
    }
}

fn mean_size_bytes(dataset: &Dataset) -> u64 {
    if dataset.is_uniform() {
        return dataset.size_bytes;
    }
    dataset.bytes() / dataset.files.max(1)
}

/// Rates by one clock; each is absent where the op does not count such things.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Rates {
    /// Contents per second, bytes.
    pub bytes_per_s: Option<SpreadF>,
    /// Files per second.
    pub files_per_s: Option<SpreadF>,
    /// Directories per second.
    pub dirs_per_s: Option<SpreadF>,
    /// Calls of reading and writing per second, where an op is one such call.
    pub calls_per_s: Option<SpreadF>,
}

impl Rates {
    /// The rates of these phases, one value a trial; by `clock`, without the start
    /// and end of a program that did the work.
    pub(crate) fn of(phases: &[&PhaseRecord], clock: Clock) -> Self {
        let rate = |amount: fn(&PhaseRecord) -> Option<u64>| {
            let of = |phase: &&PhaseRecord| {
                let ns = working_ns(phase, clock).filter(|&ns| ns > 0)?;
                Some(amount(phase)? as f64 * 1e9 / ns as f64)
            };
            SpreadF::of(phases.iter().filter_map(of).collect())
        };
        Self {
            bytes_per_s: rate(|phase| phase.op.moves_bytes().then_some(phase.asked_bytes)),
            files_per_s: rate(|phase| {
                (Counted::of(phase.op) == Counted::File).then_some(phase.ops)
            }),
            dirs_per_s: rate(|phase| (Counted::of(phase.op) == Counted::Dir).then_some(phase.ops)),
            calls_per_s: rate(|phase| {
                (Counted::of(phase.op) == Counted::Call).then_some(phase.ops)
            }),
        }
    }

    /// As fields named `returned_…`, beside those of the compared clock.
    pub(crate) fn serialize_returned<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Returned {
            returned_bytes_per_s: Option<SpreadF>,
            returned_files_per_s: Option<SpreadF>,
            returned_dirs_per_s: Option<SpreadF>,
            returned_calls_per_s: Option<SpreadF>,
        }
        let named = Returned {
            returned_bytes_per_s: self.bytes_per_s,
            returned_files_per_s: self.files_per_s,
            returned_dirs_per_s: self.dirs_per_s,
            returned_calls_per_s: self.calls_per_s,
        };
        named.serialize(to)
    }

    /// The rate in a unit.
    #[must_use]
    pub fn get(&self, unit: RateUnit) -> Option<SpreadF> {
        match unit {
            RateUnit::Bytes => self.bytes_per_s,
            RateUnit::Files => self.files_per_s,
            RateUnit::Dirs => self.dirs_per_s,
            RateUnit::Ops => self.calls_per_s,
        }
    }
}

/// How long the work took by `clock`. Ours also times the start and end of a program that did it
/// (fio), which are no work of the file system: up to `returned` its own clock is believed.
fn working_ns(phase: &PhaseRecord, clock: Clock) -> Option<u64> {
    let ours_ns = clock_ns(&phase.clocks, clock)?;
    match phase.program.as_ref().and_then(|program| program.own_ns) {
        Some(own_ns) => Some(own_ns + ours_ns.saturating_sub(phase.clocks.returned_ns)),
        None => Some(ours_ns),
    }
}

/// What one op is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    File,
    Dir,
    Call,
}

impl Counted {
    fn of(op: Op) -> Self {
        match op {
            _ if op.is_about_dirs() => Self::Dir,
            _ if op.is_big() || op == Op::Fio => Self::Call,
            _ => Self::File,
        }
    }
}
