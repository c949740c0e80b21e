//! The values behind a question: one a trial, with its place in the RUN.

use fsarena_model::contender::Levels;
use fsarena_model::record::{CacheState, TimeBase};
use fsarena_model::run::{RunPlan, Slot};
use fsarena_model::score::{MemoryKind, PhaseScore, TrialScore};
use fsarena_model::verdict::Question;

/// A phase with less processor time than 100 ticks of 10 ms has no share of what others had.
pub(crate) const SHARE_FROM_NS: u64 = 1_000_000_000;

/// What may be compared: times of one base; both cold or both warm; both in whole memory, limited
/// as asked, or without the limit that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class {
    /// What times are counted in.
    pub time_base: TimeBase,
    /// Proved cold.
    pub cold: bool,
    pub memory: MemoryKind,
}

/// One trial's value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Block, from 0.
    pub block: u32,
    /// Place in the block among the trials that were carried out, from 0.
    pub position: u32,
    pub contender: usize,
    /// Contender whose trial came right before in the same block; none for its first.
    pub previous: Option<usize>,
    /// What may be compared with it.
    pub class: Class,
    /// The value as it was read, in the metric's base unit.
    pub read: f64,
    /// The value that counts: not below the step in which it can be read, so that it has a
    /// logarithm.
    pub value: f64,
    /// Length of the whole trial, ns.
    pub elapsed_ns: u64,
    /// Who used the processors meanwhile.
    pub usage: Usage,
}

/// Who used the processors during a phase, as far as it is known; of phases under 100 clock ticks
/// it is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Processor time of the worker.
    pub worker_ns: Option<u64>,
    /// That of other programs, in user mode.
    pub foreign_ns: Option<u64>,
    /// That of other programs and of the hypervisor.
    pub others_ns: Option<u64>,
    /// That of the whole machine.
    pub machine_ns: Option<u64>,
}

impl Usage {
    /// Of a phase on a contender of these levels. The server of a file system in user mode is one
    /// of the other programs, so that nothing is known of those where there is one.
    pub(crate) fn of_phase(levels: &Levels, phase: &PhaseScore) -> Self {
        let foreign_ns = phase.covariates.foreign_ns.filter(|_| !may_be_served(levels));
        Self {
            worker_ns: phase.covariates.worker_cpu_ns,
            foreign_ns,
            others_ns: foreign_ns.map(|ns| ns.saturating_add(phase.steal_ns.unwrap_or(0))),
            machine_ns: phase.machine_ns.filter(|&ns| ns >= SHARE_FROM_NS),
        }
    }
}

/// Whether a program may serve the file system: it is mounted by commands, and not by `mount -t`
/// with a type of the kernel.
fn may_be_served(levels: &Levels) -> bool {
    let Some(external) = &levels.fs.external else { return false };
    let mut words = external.mount.split_whitespace();
    let kind = words.next().filter(|&first| first == "mount").and_then(|_| {
        words.find(|&word| word == "-t")?;
        words.next()
    });
    kind.is_none_or(|kind| kind.starts_with("fuse"))
}

/// All values of a question, by block and position.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Points {
    /// They.
    pub all: Vec<Point>,
    /// Values that are excluded because a cold phase was asked for and not proved, by contender.
    pub not_cold: Vec<usize>,
    /// Values that are excluded because a warm phase was asked for and was not warm, by contender.
    pub not_warm: Vec<usize>,
    /// Values that are excluded because the phase asked nothing of its disk in virtual time, by
    /// contender.
    pub no_device_time: Vec<usize>,
    /// Trials that are excluded because their contents were wrong, by contender.
    pub bad_contents: Vec<usize>,
}

impl Points {
    /// Takes what the trial of `slot` says to `question`, if it says anything; the trials of the
    /// plan come in their order.
    pub(crate) fn take(
        &mut self,
        plan: &RunPlan,
        slot: &Slot,
        question: &Question,
        score: &TrialScore,
        (position, previous): (u32, Option<usize>),
    ) {
        match reading(plan, slot, question, score) {
            Reading::Value(class, read, usage) => self.all.push(Point {
                block: slot.block,
                position,
                contender: slot.contender,
                previous,
                class,
                read,
                value: read.max(question.metric.step(read)),
                elapsed_ns: score.elapsed_ns,
                usage,
            }),
            Reading::NotCold => self.not_cold.push(slot.contender),
            Reading::NotWarm => self.not_warm.push(slot.contender),
            Reading::NoDeviceTime => self.no_device_time.push(slot.contender),
            Reading::BadContents => self.bad_contents.push(slot.contender),
            Reading::Nothing => {}
        }
    }

    /// The values of one contender, in order of their blocks.
    pub fn of_contender(&self, contender: usize) -> impl Iterator<Item = &Point> {
        self.all.iter().filter(move |point| point.contender == contender)
    }

    /// Natural logarithms of a ÷ b, one for each block that counts in which both have a value that
    /// may be compared.
    #[must_use]
    pub fn log_ratios(&self, a: usize, b: usize, counts: &dyn Fn(u32) -> bool) -> Vec<f64> {
        self.by_block(a, b, counts).into_iter().map(|(_, log)| log).collect()
    }

    /// The same, each with its block.
    #[must_use]
    pub fn by_block(&self, a: usize, b: usize, counts: &dyn Fn(u32) -> bool) -> Vec<(u32, f64)> {
        let both = self.common(a, b, counts);
        both.into_iter().map(|(one, other)| (one.block, (one.value / other.value).ln())).collect()
    }

    /// The values of two contenders in the blocks that count in which both have one, and these may
    /// be compared.
    #[must_use]
    pub fn common(
        &self,
        a: usize,
        b: usize,
        counts: &dyn Fn(u32) -> bool,
    ) -> Vec<(&Point, &Point)> {
        let of_b: Vec<&Point> = self.of_contender(b).collect();
        let pairs = self.of_contender(a).filter(|point| counts(point.block)).filter_map(|one| {
            let at = of_b.binary_search_by_key(&one.block, |other| other.block).ok()?;
            (of_b[at].class == one.class).then_some((one, of_b[at]))
        });
        pairs.collect()
    }
}

/// What a trial says to a question.
enum Reading {
    /// A value, as it was read.
    Value(Class, f64, Usage),
    /// It was to be cold, and that was not proved.
    NotCold,
    /// It was to be warm, and was not.
    NotWarm,
    /// In virtual time nothing but a disk takes time, and it asked nothing of that.
    NoDeviceTime,
    /// Its contents were wrong.
    BadContents,
    /// Nothing: it failed before, or has no such figure.
    Nothing,
}

/// What `score` says to `question`; it is of the question's workload.
fn reading(plan: &RunPlan, slot: &Slot, question: &Question, score: &TrialScore) -> Reading {
    let Some(phase) = score.phases.iter().find(|p| p.name == question.phase && p.is_complete)
    else {
        return Reading::Nothing;
    };
    if score.has_bad_contents {
        return Reading::BadContents;
    }
    let levels = &plan.contenders[slot.contender].levels;
    let asked = levels.cache;
    if phase.cache == CacheState::Warm && plan.is_to_be_cold(question, asked) {
        return Reading::NotCold;
    }
    if phase.cache == CacheState::NotWarm {
        return Reading::NotWarm;
    }
    let is_time = question.metric.is_length();
    let class =
        Class { time_base: score.time_base, cold: phase.cache.is_cold(), memory: phase.memory };
    match phase.value(question.metric, question.clock) {
        _ if !phase.free.is_none_or(|free| free.allows(question.metric)) => Reading::Nothing,
        Some(read) if read <= 0.0 && is_time && score.time_base == TimeBase::Virtual => {
            Reading::NoDeviceTime
        }
        Some(read) => Reading::Value(class, read, Usage::of_phase(levels, phase)),
        None => Reading::Nothing,
    }
}
