//! A periodic application: every period it updates or makes again many small files, as the one did
//! that was watched in 2007.

use crate::JsonSchema;
use crate::outcome::OpError;
use crate::sample::{Counters, LatencyHistogram};
use serde::{Deserialize, Serialize};

/// What a phase of [`crate::op::Op::Cycle`] does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cycle {
    /// Number of cycles, 1 or more.
    pub cycles: u32,
    /// From the start of a cycle to the start of the next one, ns.
    pub period_ns: u64,
    /// What happens where the work of a cycle outlasts its period.
    pub overrun: Overrun,
    /// Files that a cycle takes, drawn anew for each without repetition; at most those of the
    /// dataset.
    pub updates: u64,
    /// What is done with them.
    pub shares: Shares,
    /// The second load, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturb: Option<Disturb>,
}

impl Cycle {
    /// Shortest period, ns.
    pub const PERIOD_MIN_NS: u64 = 10_000_000;
    /// Longest period, ns: a day.
    pub const PERIOD_MAX_NS: u64 = 86_400_000_000_000;

    /// Which limit the period stands at, where it does: a scale does not take it beyond.
    #[must_use]
    pub fn period_limit(&self) -> Option<&'static str> {
        match self.period_ns {
            Self::PERIOD_MIN_NS => Some("the shortest there is"),
            Self::PERIOD_MAX_NS => Some("the longest there is"),
            _ => None,
        }
    }

    /// Whether the second load is at work in cycle `number`, counted from 1.
    #[must_use]
    pub fn is_disturbed(&self, number: u32) -> bool {
        let disturbs = |d: &Disturb| d.cycles.is_empty() || d.cycles.contains(&number);
        self.disturb.as_ref().is_some_and(disturbs)
    }
}

/// Cycles that are at work together at most; a start beyond them waits for the first that ends.
pub const MAX_AT_WORK: u32 = 8;

/// What happens where work outlasts the period.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Overrun {
    /// The next cycle starts on time, next to the one at work, as cron(8) does it.
    #[default]
    Overlap,
    /// Starts that come while a cycle is at work are left out.
    Skip,
    /// The next cycle starts as soon as the one at work has ended.
    Queue,
}

names!(Overrun.name { Overlap = "overlap", Skip = "skip", Queue = "queue" });

impl Overrun {
    /// Cycles that may be at work together.
    #[must_use]
    pub fn most_at_work(self) -> u32 {
        if self == Self::Overlap { MAX_AT_WORK } else { 1 }
    }
}

/// What is done with the files of a cycle, by weight: a file's kind is drawn for each cycle. A file
/// keeps its size, so that the data stay the same from cycle to cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shares {
    /// open(`O_WRONLY`), written over from start to end, close.
    pub in_place: u32,
    /// open(`O_WRONLY|O_TRUNC`), written, close.
    pub truncate: u32,
    /// A new file next to it written and closed, then rename(2) over it.
    pub replace: u32,
    /// unlink(2), then open(`O_CREAT|O_EXCL`), written, close.
    pub recreate: u32,
    /// A file of the same size under a name of its own made, written and closed; unlinked when all
    /// other work of the cycle is done.
    pub temporary: u32,
}

impl Shares {
    /// The weights in the order of [`UpdateKind::ALL`].
    #[must_use]
    pub fn weights(&self) -> [u32; 5] {
        [self.in_place, self.truncate, self.replace, self.recreate, self.temporary]
    }
}

/// One way to update a file.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum UpdateKind {
    /// [`Shares::in_place`].
    InPlace,
    /// [`Shares::truncate`].
    Truncate,
    /// [`Shares::replace`].
    Replace,
    /// [`Shares::recreate`].
    Recreate,
    /// [`Shares::temporary`].
    Temporary,
}

names!(UpdateKind.name {
    InPlace = "in-place", Truncate = "truncate", Replace = "replace", Recreate = "recreate",
    Temporary = "temporary",
});

/// A second load next to the cycles, in a directory of its own (`disturb`) below the same root. It
/// starts with its cycle and ends with its amount, or when its cycle is durable where it has none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disturb {
    /// What it does.
    pub load: Load,
    /// In which cycles, counted from 1; empty: in all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycles: Vec<u32>,
}

/// A second load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Load {
    /// Small files are made; those of the disturbed cycle before are removed first.
    Create {
        /// How many.
        files: u64,
        /// Size of each, bytes.
        size_bytes: u64,
        /// Files a second; 0: as fast as it goes.
        rate: u64,
    },
    /// One file is written from its start on, again and again.
    Write {
        /// Bytes of the file.
        size_bytes: u64,
        /// Bytes of one call.
        bs_bytes: u64,
        /// Bytes a second; 0: as fast as it goes.
        rate_bytes: u64,
    },
    /// One file, made before the phase and put out of the page cache, is read from its start on,
    /// again and again past the page cache where the file system can.
    Read {
        /// Bytes of the file.
        size_bytes: u64,
        /// Bytes of one call.
        bs_bytes: u64,
        /// Bytes a second; 0: as fast as it goes.
        rate_bytes: u64,
    },
}

kinds!(
    /// Its name in files and tables.
    Load.name {
        Create = "create",
        Write = "write",
        Read = "read",
    }
);

/// One cycle as its worker saw it. Times are since the phase's first clock read, ns.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CycleReport {
    /// Counted from 1; the number of its start on the clock, so that one left out is missing.
    pub number: u32,
    /// When it was due.
    pub due_ns: u64,
    /// When it began.
    pub started_ns: u64,
    /// Its calls came back.
    pub returned_ns: u64,
    /// syncfs done; absent where it was not reached.
    pub durable_ns: Option<u64>,
    /// Files updated, and temporary ones made: one op each.
    pub ops: u64,
    /// Bytes that its calls wrote, those of temporary files among them.
    pub asked_bytes: u64,
    /// Files by kind, in the order of [`UpdateKind::ALL`].
    pub kinds: [u64; 5],
    /// The longest op, ns, and its kind: the worst stall.
    pub worst_ns: u64,
    /// Its kind.
    pub worst_kind: Option<UpdateKind>,
    /// Other cycles that were at work when it began (`overlap`).
    pub beside: u32,
    /// Ops that met another cycle's work on the same file and were done differently: a file that
    /// was away for a moment (`ENOENT`) was made anew, one that the other had made meanwhile
    /// (`EEXIST`) was taken as it was.
    pub collisions: u64,
    /// What the second load did, in a disturbed cycle.
    pub disturb: Option<DisturbReport>,
}

impl CycleReport {
    /// When it began, and when its work was durable (else: came back), ns.
    #[must_use]
    pub fn at_work_ns(&self) -> (u64, u64) {
        (self.started_ns, self.durable_ns.unwrap_or(self.returned_ns))
    }
}

/// What the second load did in one cycle. Times are since the phase's first clock read, ns.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DisturbReport {
    /// When its first op began: after the files of the disturbed cycle before were removed, where
    /// it makes files.
    pub started_ns: u64,
    /// When its last op was done.
    pub done_ns: u64,
    /// Files made, or calls.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Its longest op, ns.
    pub worst_ns: u64,
    /// Latency of its ops.
    pub latency: Option<LatencyHistogram>,
    /// How far its last op was behind its rate, ns; 0 where it kept up or has no rate.
    pub late_ns: u64,
    /// Why it ended early.
    pub error: Option<OpError>,
}

/// All cycles of a phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CyclesReport {
    /// Those that were begun, in order.
    pub cycles: Vec<CycleReport>,
    /// Numbers of the starts that were left out (`skip`).
    pub skipped: Vec<u32>,
}

/// What a worker says in the middle of a phase of cycles. Times are `CLOCK_MONOTONIC`, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CycleEvent {
    /// Number of the cycle.
    pub number: u32,
    /// What has happened.
    pub at: CycleMoment,
    /// When.
    pub monotonic_ns: u64,
}

/// A moment of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CycleMoment {
    /// It begins.
    Started,
    /// It is durable.
    Durable,
    /// Its period is over.
    PeriodOver,
}

/// A cycle in the record of its phase.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CycleRecord {
    /// As the worker saw it.
    pub report: CycleReport,
    /// When the device had become quiet, since the phase's start; absent where it did not within
    /// the period (or has no device).
    pub quiet_ns: Option<u64>,
    /// Counters from its start to `durable`, of the whole machine and device: where cycles lie
    /// next to each other (`overlap`), each holds what the others did meanwhile.
    pub durable: Counters,
    /// Counters over its period: to the start of the next one, and of the last, to its end.
    pub period: Counters,
    /// Length of that, ns.
    pub period_ns: u64,
}

impl CycleRecord {
    /// Length of its work, ns.
    #[must_use]
    pub fn work_ns(&self) -> u64 {
        self.report.returned_ns.saturating_sub(self.report.started_ns)
    }

    /// From its start to `durable`, ns.
    #[must_use]
    pub fn durable_ns(&self) -> Option<u64> {
        Some(self.report.durable_ns?.saturating_sub(self.report.started_ns))
    }

    /// From its start to a quiet device, ns.
    #[must_use]
    pub fn quiet_ns(&self) -> Option<u64> {
        Some(self.quiet_ns?.saturating_sub(self.report.started_ns))
    }
}

/// All cycles in the record of their phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CyclesRecord {
    /// Those that were begun, in order.
    pub cycles: Vec<CycleRecord>,
    /// Numbers of the starts that were left out.
    pub skipped: Vec<u32>,
}

impl CyclesRecord {
    /// The cycles that a verdict is about: those without any second load ([`Self::plain`]); where
    /// all were disturbed, all.
    pub fn compared(&self) -> impl Iterator<Item = &CycleRecord> {
        let plain = self.plain();
        let compared = if plain.is_empty() { self.cycles.iter().collect() } else { plain };
        compared.into_iter()
    }

    /// The undisturbed cycles but those that met the second load of another one; where each of
    /// them did, all of them.
    #[must_use]
    pub fn plain(&self) -> Vec<&CycleRecord> {
        let undisturbed = || self.cycles.iter().filter(|cycle| cycle.report.disturb.is_none());
        let clear: Vec<&CycleRecord> =
            undisturbed().filter(|cycle| !self.has_met_load(cycle)).collect();
        if clear.is_empty() { undisturbed().collect() } else { clear }
    }

    /// Whether an undisturbed cycle was at work next to a disturbed one, or next to its second
    /// load: that goes on past its cycle where it has an amount of its own, and with `overlap` the
    /// cycle itself may.
    #[must_use]
    pub fn has_met_load(&self, cycle: &CycleRecord) -> bool {
        let own = cycle.report.at_work_ns();
        let meets = |other: (u64, u64)| own.0 < other.1 && other.0 < own.1;
        let disturbs = |other: &CycleRecord| {
            let load = other.report.disturb.as_ref();
            load.is_some_and(|load| {
                meets(other.report.at_work_ns()) || meets((load.started_ns, load.done_ns))
            })
        };
        cycle.report.disturb.is_none() && self.cycles.iter().any(disturbs)
    }

    /// Mean of a figure over the compared cycles; absent where one of them lacks it.
    #[must_use]
    pub fn mean(&self, figure: impl Fn(&CycleRecord) -> Option<u64>) -> Option<u64> {
        let (mut sum, mut count) = (0u128, 0u128);
        for cycle in self.compared() {
            sum += u128::from(figure(cycle)?);
            count += 1;
        }
        u64::try_from(sum.checked_div(count)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(number: u32, work_ns: u64, disturbed: bool) -> CycleRecord {
        let report = CycleReport {
            number,
            started_ns: 100,
            returned_ns: 100 + work_ns,
            durable_ns: Some(100 + 2 * work_ns),
            disturb: disturbed.then(DisturbReport::default),
            ..CycleReport::default()
        };
        let (durable, period) = (Counters::new(), Counters::new());
        CycleRecord { report, quiet_ns: None, durable, period, period_ns: 0 }
    }

    #[test]
    fn disturbed_cycles_are_compared_only_among_themselves() {
        let of = |cycles| CyclesRecord { cycles, skipped: Vec::new() };
        let mixed = of(vec![cycle(1, 10, false), cycle(2, 99, true), cycle(3, 20, false)]);
        assert_eq!(mixed.mean(|c| Some(c.work_ns())), Some(15));
        assert_eq!(mixed.mean(CycleRecord::durable_ns), Some(30));
        assert_eq!(mixed.mean(CycleRecord::quiet_ns), None);
        let all = of(vec![cycle(1, 10, true), cycle(2, 30, true)]);
        assert_eq!(all.mean(|c| Some(c.work_ns())), Some(20));
        assert_eq!(CyclesRecord::default().mean(|c| Some(c.work_ns())), None);
    }

    /// A cycle at work from one moment to the other, ns, with a load where it has one.
    fn at((started_ns, end_ns): (u64, u64), load: Option<(u64, u64)>) -> CycleRecord {
        let mut cycle = cycle(0, 0, false);
        cycle.report.started_ns = started_ns;
        cycle.report.returned_ns = started_ns + (end_ns - started_ns) / 2;
        cycle.report.durable_ns = Some(end_ns);
        cycle.report.disturb = load.map(|(started_ns, done_ns)| DisturbReport {
            started_ns,
            done_ns,
            ..DisturbReport::default()
        });
        cycle
    }

    #[test]
    fn a_cycle_beside_the_load_of_another_is_not_plain() {
        let of = |cycles| CyclesRecord { cycles, skipped: Vec::new() };
        let met = |all: &CyclesRecord| -> Vec<bool> {
            all.cycles.iter().map(|cycle| all.has_met_load(cycle)).collect()
        };
        let starts = |all: &CyclesRecord| -> Vec<u64> {
            all.compared().map(|cycle| cycle.report.started_ns).collect()
        };
        // The load goes on past its cycle, into the next one.
        let load =
            of(vec![at((0, 50), None), at((100, 150), Some((110, 201))), at((200, 250), None)]);
        assert_eq!((met(&load), starts(&load)), (vec![false, false, true], vec![0]));
        // The disturbed cycle itself does; and one that is not yet durable meets its start.
        let work = of(vec![
            at((0, 50), None),
            at((90, 101), None),
            at((100, 201), Some((100, 150))),
            at((200, 250), None),
            at((300, 350), None),
        ]);
        assert_eq!(met(&work), [false, true, false, true, false]);
        assert_eq!(starts(&work), [0, 300]);
        // One after the other is no meeting.
        let queue = of(vec![at((0, 100), Some((0, 100))), at((100, 200), None)]);
        assert_eq!((met(&queue), starts(&queue)), (vec![false; 2], vec![100]));
        // Where none is left, all undisturbed ones are taken.
        let none =
            of(vec![at((0, 300), Some((0, 10))), at((100, 200), None), at((200, 290), None)]);
        assert_eq!((met(&none), starts(&none)), (vec![false, true, true], vec![100, 200]));
    }
}
