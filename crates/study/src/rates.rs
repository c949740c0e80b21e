//! What the rate of a phase counts, and the rates of a row: each an amount per second of a clock.
//!
//! Real work is judged by its time: there a longer time is worse, and rates are only shown with it.

use crate::figures::SpreadF;
use fsarena_model::job::JobKind;
use fsarena_model::op::{RateKind, Unit};
use fsarena_model::record::PhaseRecord;
use fsarena_model::run::{Clock, RateStyle};
use fsarena_model::work::{Dataset, Op, StonewallReport};
use serde::{Serialize, Serializer};

/// What a rate counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateUnit {
    /// Bytes of contents.
    Bytes,
    Files,
    /// Directories.
    Dirs,
    /// Calls of reading and writing, each of the phase's block size (IOPS).
    Ops,
    /// Nothing: real work is compared by how long it takes.
    Time,
}

/// Files smaller than this on average are counted, not weighed, in the style [`RateStyle::Auto`].
pub const SMALL_FILE_BYTES: u64 = 64 << 10;

impl RateUnit {
    /// What is counted for an op on these files.
    #[must_use]
    pub fn for_op(style: RateStyle, op: Op, dataset: &Dataset) -> Self {
        let info = op.info();
        match (info.rate, info.unit) {
            (RateKind::Time, _) => Self::Time,
            (RateKind::Ops, Unit::Dir) => Self::Dirs,
            (RateKind::Ops, Unit::Call) => Self::Ops,
            (RateKind::Ops, Unit::File | Unit::Entry) => Self::Files,
            (RateKind::Contents, Unit::Call) => Self::Bytes,
            _ if style == RateStyle::Article2003 => Self::Bytes,
            // One call a file, however large the file is.
            _ if op.appends() => Self::Files,
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
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct Rates {
    /// Contents per second, bytes. Of real work: of the tree that is worked on, each byte once,
    /// although a copy both reads and writes it.
    pub bytes_per_s: Option<SpreadF>,
    /// Files per second.
    pub files_per_s: Option<SpreadF>,
    /// Directories per second.
    pub dirs_per_s: Option<SpreadF>,
    /// Calls of reading and writing per second, where an op is one such call.
    pub calls_per_s: Option<SpreadF>,
    /// Files, directories and symbolic links that real work made, removed or packed per second;
    /// of an encoder its files alone.
    pub entries_per_s: Option<SpreadF>,
}

/// Rates by `returned`, under names of their own.
#[derive(Serialize, crate::JsonSchema)]
pub(crate) struct Returned {
    returned_bytes_per_s: Option<SpreadF>,
    returned_files_per_s: Option<SpreadF>,
    returned_dirs_per_s: Option<SpreadF>,
    returned_calls_per_s: Option<SpreadF>,
    returned_entries_per_s: Option<SpreadF>,
}

/// Rates up to the end of a stonewall's time, under names of their own.
#[derive(Serialize, crate::JsonSchema)]
pub(crate) struct AtWall {
    at_wall_bytes_per_s: Option<SpreadF>,
    at_wall_files_per_s: Option<SpreadF>,
    at_wall_calls_per_s: Option<SpreadF>,
}

impl Rates {
    /// The rates of these phases, one value a trial; by `clock`, without the start
    /// and end of a program that did the work.
    pub(crate) fn from_phases(phases: &[&PhaseRecord], clock: Clock) -> Self {
        let rate = |amount: fn(&PhaseRecord) -> Option<u64>| {
            let parts = |phase: &&PhaseRecord| {
                let ns = working_ns(phase, clock).filter(|&ns| ns > 0)?;
                Some((amount(phase)? as f64, ns as f64 / 1e9))
            };
            SpreadF::from_quotients(phases.iter().filter_map(parts).collect())
        };
        Self {
            bytes_per_s: rate(contents_bytes),
            files_per_s: rate(|phase| counted(phase, Unit::File)),
            dirs_per_s: rate(|phase| counted(phase, Unit::Dir)),
            calls_per_s: rate(|phase| counted(phase, Unit::Call)),
            entries_per_s: rate(|phase| counted(phase, Unit::Entry)),
        }
    }

    /// The rates up to the end of a stonewall's time, of the trials in which a thread was still at
    /// work then.
    pub(crate) fn at_wall(phases: &[&PhaseRecord]) -> Self {
        let rate = |amount: fn(&PhaseRecord, &StonewallReport) -> Option<u64>| {
            let parts = |phase: &&PhaseRecord| {
                let wall = phase.stonewall.filter(|wall| wall.reached)?;
                Some((amount(phase, &wall)? as f64, phase.io.stonewall_ns? as f64 / 1e9))
            };
            SpreadF::from_quotients(phases.iter().filter_map(parts).collect())
        };
        Self {
            bytes_per_s: rate(|_, wall| Some(wall.asked_bytes)),
            files_per_s: rate(|phase, wall| of_unit(phase, Unit::File, wall.ops)),
            calls_per_s: rate(|phase, wall| of_unit(phase, Unit::Call, wall.ops)),
            ..Self::default()
        }
    }

    /// As fields named `at_wall_…`.
    pub(crate) fn serialize_at_wall<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let named = AtWall {
            at_wall_bytes_per_s: self.bytes_per_s,
            at_wall_files_per_s: self.files_per_s,
            at_wall_calls_per_s: self.calls_per_s,
        };
        named.serialize(to)
    }

    /// As fields named `returned_…`, next to those of the compared clock.
    pub(crate) fn serialize_returned<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let named = Returned {
            returned_bytes_per_s: self.bytes_per_s,
            returned_files_per_s: self.files_per_s,
            returned_dirs_per_s: self.dirs_per_s,
            returned_calls_per_s: self.calls_per_s,
            returned_entries_per_s: self.entries_per_s,
        };
        named.serialize(to)
    }

    /// The rate in a unit; none where the time itself is the figure.
    #[must_use]
    pub fn get(&self, unit: RateUnit) -> Option<SpreadF> {
        match unit {
            RateUnit::Bytes => self.bytes_per_s,
            RateUnit::Files => self.files_per_s.or(self.entries_per_s),
            RateUnit::Dirs => self.dirs_per_s,
            RateUnit::Ops => self.calls_per_s,
            RateUnit::Time => None,
        }
    }
}

/// How long the work took by `clock`. Ours also times the start and end of a program that did it
/// (fio), which are no work of the file system: up to `returned` its own clock is believed. Of real
/// work they are a part. Records of older versions do not say what start and end took.
fn working_ns(phase: &PhaseRecord, clock: Clock) -> Option<u64> {
    let ours_ns = phase.ns(clock)?;
    match own_ns(phase).filter(|_| phase.startup_ns() == 0) {
        Some(own_ns) => {
            Some(own_ns.saturating_add(ours_ns.saturating_sub(phase.clocks.returned_ns)))
        }
        None => Some(ours_ns),
    }
}

/// Length of the work by the clock of the program that did it, where that leaves out what is no
/// part of the work.
pub(crate) fn own_ns(phase: &PhaseRecord) -> Option<u64> {
    phase.program.as_ref().filter(|_| phase.job.is_none())?.own_ns
}

/// Bytes of contents that a rate is of; `None` where no contents are moved, or it is unknown how
/// many.
fn contents_bytes(phase: &PhaseRecord) -> Option<u64> {
    let Some(job) = &phase.job else {
        return phase.op.moves_bytes().then(|| phase.compared_asked_bytes());
    };
    let written_bytes = phase.written_bytes();
    let bytes = match &job.kind {
        JobKind::Copy | JobKind::Untar { .. } => written_bytes,
        JobKind::Archive { .. } | JobKind::Flac | JobKind::Ogg | JobKind::Compile { .. } => {
            phase.asked_bytes.saturating_sub(written_bytes)
        }
        JobKind::Delete | JobKind::Command(_) => 0,
    };
    (bytes > 0).then_some(bytes)
}

/// Ops of a phase whose ops are such things.
fn counted(phase: &PhaseRecord, what: Unit) -> Option<u64> {
    let known = what != Unit::Entry || phase.ops > 0;
    if known { of_unit(phase, what, phase.compared_ops()) } else { None }
}

/// The ops, where they are done to such things.
fn of_unit(phase: &PhaseRecord, what: Unit, ops: u64) -> Option<u64> {
    (phase.op.info().unit == what).then_some(ops)
}
