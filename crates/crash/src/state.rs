//! Crash states: what can be on the medium when the power goes, as a write log allows it.
//!
//! Let the power go when the first `count` entries of the log have completed. What a flush covers
//! that has completed, and what was forced, is there (`durable`); of the rest ("open") any part may
//! be, and of the writes that were on their way then (submitted, not completed) as well. The
//! classes say which part; each is reported apart. States for rates ([`uniform`]) have
//! times that are uniform, because a power cut knows nothing of writes; states for finding bugs
//! ([`per_event`]) are at every entry, and their number says nothing about the chance of anything.
//! The two are marked, and figures refuse the second.

pub use crate::survivors::{Survivors, Torn};
use crate::sweep::{Part, Sweep, open_of};
use fsarena_model::seed::{Seed, SeededRng};
use fsarena_vdisk::{Piece, Store, View, WriteLog};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Which of the open writes are there.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Serialize,
    Deserialize,
    crate::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// All that had completed: the power goes, and the disk still writes what it has.
    Prefix,
    /// None: the cache is lost.
    Dropall,
    /// All that had completed but one.
    DropOne,
    /// One alone, of those on their way too.
    KeepOne,
    /// Any part of them, of those on their way too.
    Subset,
    /// All that had completed, but one is cut at the border of a sector; it may have been on its
    /// way.
    Torn,
    /// None, and flushes do not count that completed less than this before the power went: the
    /// disk reported them and kept the data in its cache.
    Lying { younger_ns: u64 },
}

const SECOND_NS: u64 = 1_000_000_000;

impl Class {
    /// The class that is written so: `prefix`, `lying=2`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "prefix" => Some(Self::Prefix),
            "dropall" => Some(Self::Dropall),
            "drop-one" => Some(Self::DropOne),
            "keep-one" => Some(Self::KeepOne),
            "subset" => Some(Self::Subset),
            "torn" => Some(Self::Torn),
            _ => {
                let seconds: u64 = name.strip_prefix("lying=")?.parse().ok()?;
                Some(Self::Lying { younger_ns: seconds.checked_mul(SECOND_NS)? })
            }
        }
    }

    /// As [`Class::from_name`] reads it.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Prefix => "prefix".to_owned(),
            Self::Dropall => "dropall".to_owned(),
            Self::DropOne => "drop-one".to_owned(),
            Self::KeepOne => "keep-one".to_owned(),
            Self::Subset => "subset".to_owned(),
            Self::Torn => "torn".to_owned(),
            Self::Lying { younger_ns } => format!("lying={}", younger_ns / SECOND_NS),
        }
    }

    /// Whether the disk breaks what it reported.
    #[must_use]
    pub fn is_lying(self) -> bool {
        matches!(self, Self::Lying { .. })
    }
}

/// How the state was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// At a random time: for rates.
    Uniform,
    /// At an entry of the log: for finding bugs.
    PerEvent,
}

/// A state.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, crate::JsonSchema)]
pub struct CrashState {
    /// When the power goes: ops that ended before are acknowledged. Of a state per event the latest
    /// time at which it can be, which is the strictest for the file system.
    pub at_ns: u64,
    /// So many entries of the log have completed.
    pub count: u32,
    pub class: Class,
    pub sampling: Sampling,
    /// Of the open entries among them.
    pub survivors: Survivors,
    /// Later entries of the log that were on their way and are there; ascending.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_flight: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<Torn>,
    /// States of one log with equal numbers hold the same bytes: observe one of them.
    pub contents: u64,
}

/// Crash points for rates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrashPoints {
    /// Times are in here; the end is out.
    pub from_ns: u64,
    pub to_ns: u64,
    /// How many.
    pub points: u32,
    pub seed: u64,
    /// Each point has one of these, in turns, so that each has its share of points to within one.
    /// Of `subset` one part is drawn, in which each entry that may be there is with probability
    /// 1/2; of `drop-one`, `keep-one` and `torn` one entry is.
    pub classes: Vec<Class>,
}

/// Bounds for states per event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventStates {
    /// Parts drawn where there are more than 6 open entries; all 2^k are made up to that.
    pub samples: u32,
    /// Entries taken for drop-one, keep-one and torn at one event: all up to so many, drawn beyond.
    pub singles: u32,
    pub seed: u64,
}

/// All parts of so many open entries are made.
const ALL_PARTS_UP_TO: usize = 6;

/// States at random times, ascending. No two are made one: each counts. Nothing where there are no
/// times, points or classes.
#[must_use]
pub fn uniform(log: &WriteLog, points: &CrashPoints) -> Vec<CrashState> {
    let span_ns = points.to_ns.saturating_sub(points.from_ns);
    if span_ns == 0 || points.classes.is_empty() {
        return Vec::new();
    }
    let mut rng = Seed::from_number(points.seed).child("crash-points", 0).rng();
    let mut drawn: Vec<(u64, Class)> = (0..points.points as usize)
        .map(|at| {
            let class = points.classes[at % points.classes.len()];
            (points.from_ns + rng.below(span_ns), class)
        })
        .collect();
    drawn.sort_by_key(|(at_ns, _)| *at_ns);
    let mut sweep = Sweep::new(log);
    let states = drawn.into_iter().map(|(at_ns, class)| {
        let count = log.entries().partition_point(|entry| entry.completed_ns <= at_ns);
        sweep.advance(count);
        let template = Template { at_ns, count, class, sampling: Sampling::Uniform };
        drawn_state(&sweep, log, template, &mut rng)
    });
    states.collect()
}

/// States at every entry of the log, each of which differs from all others in what is on the
/// medium; of those that do not, the one with the latest time is there. In the order of the log.
#[must_use]
pub fn per_event(log: &WriteLog, bounds: &EventStates) -> Vec<CrashState> {
    let counts: Vec<usize> = (0..=log.entries().len()).collect();
    at_events(log, &counts, bounds)
}

/// The same where so many entries have completed: `counts` ascend.
pub(crate) fn at_events(log: &WriteLog, counts: &[usize], bounds: &EventStates) -> Vec<CrashState> {
    let mut rng = Seed::from_number(bounds.seed).child("event-states", 0).rng();
    let mut sweep = Sweep::new(log);
    let mut states = Distinct::default();
    for count in counts.iter().copied() {
        sweep.advance(count);
        let at_ns = latest_ns(log, count);
        let in_flight = sweep.in_flight(at_ns);
        let here = |class| Template { at_ns, count, class, sampling: Sampling::PerEvent };
        let mut take = |class, part| {
            states.take(here(class).state(&sweep, sweep.open(), part));
        };
        take(Class::Prefix, Part::default());
        let may_be: Vec<u32> = sweep.open().iter().chain(&in_flight).copied().collect();
        if may_be.is_empty() {
            continue;
        }
        let split = |some: &[u32]| split_at(some, count);
        take(Class::Dropall, split(&[]));
        for entry in some_of(&may_be, bounds.singles as usize, &mut rng) {
            if (entry as usize) < count {
                let survivors = Survivors::AllBut(vec![entry]);
                take(Class::DropOne, Part { survivors, ..Part::default() });
            }
            take(Class::KeepOne, split(&[entry]));
            if let Some(torn) = torn(log, entry, &mut rng) {
                let before = may_be.iter().copied().filter(|other| *other <= entry);
                let before: Vec<u32> = before.collect();
                take(Class::Torn, torn_alone(torn, count));
                take(Class::Torn, Part { torn: Some(torn), ..split(&before) });
            }
        }
        for part in parts(&may_be, bounds.samples, &mut rng) {
            take(Class::Subset, split(&part));
        }
        // Those on their way do not make parts of the completed ones fewer.
        if may_be.len() > ALL_PARTS_UP_TO && sweep.open().len() <= ALL_PARTS_UP_TO {
            for part in parts(sweep.open(), bounds.samples, &mut rng) {
                take(Class::Subset, split(&part));
            }
        }
    }
    let mut states = states.states;
    states.sort_by_key(|state| state.count);
    states
}

/// The parts of entries that are on the medium in a state, in the order in which they came to it.
pub fn pieces(log: &WriteLog, state: &CrashState) -> impl Iterator<Item = Piece> {
    let count = (state.count as usize).min(log.entries().len());
    let entries = &log.entries()[..count];
    let open = open_of(entries, honest_until_ns(state.class, state.at_ns));
    let is_there = move |number: &u32| {
        open.binary_search(number).is_err() || state.survivors.contains(*number)
    };
    let completed = (0..count as u32).filter(is_there);
    let came = state.in_flight.iter().copied();
    let numbers = completed.chain(came).filter(|number| (*number as usize) < log.entries().len());
    numbers.map(|number| {
        let entry = &log.entries()[number as usize];
        let cut = state.torn.filter(|torn| torn.entry == number);
        let sectors = cut.map_or(entry.sectors, |torn| entry.sectors.min(torn.sectors.into()));
        Piece { entry: number, sector: entry.sector, sectors }
    })
}

/// Contents of a state. `base`: those before the log.
#[must_use]
pub fn view<'a>(base: &'a Store, log: &'a WriteLog, state: &CrashState) -> View<'a> {
    View::of_pieces(base, log, pieces(log, state))
}

/// Flushes and forced writes count that completed up to then.
fn honest_until_ns(class: Class, at_ns: u64) -> u64 {
    match class {
        Class::Lying { younger_ns } => at_ns.saturating_sub(younger_ns),
        _ => u64::MAX,
    }
}

/// A state without its survivors.
#[derive(Clone, Copy)]
pub(crate) struct Template {
    pub at_ns: u64,
    pub count: usize,
    pub class: Class,
    pub sampling: Sampling,
}

impl Template {
    fn state(self, sweep: &Sweep<'_>, open: &[u32], part: Part) -> CrashState {
        let contents = sweep.contents(open, &part);
        let Self { at_ns, count, class, sampling } = self;
        let Part { survivors, in_flight, torn } = part;
        let count = count as u32;
        CrashState { at_ns, count, class, sampling, survivors, in_flight, torn, contents }
    }
}

/// A state of a class at a random time: what the class leaves open is drawn.
pub(crate) fn drawn_state(
    sweep: &Sweep<'_>,
    log: &WriteLog,
    template: Template,
    rng: &mut SeededRng,
) -> CrashState {
    let Template { at_ns, count, class, .. } = template;
    let open = sweep.open();
    let mut may_be = open.to_vec();
    if matches!(class, Class::KeepOne | Class::Subset | Class::Torn) {
        may_be.extend(sweep.in_flight(at_ns));
    }
    let one = (!may_be.is_empty()).then(|| may_be[rng.below(may_be.len() as u64) as usize]);
    let all_but = |one| Part { survivors: Survivors::AllBut(vec![one]), ..Part::default() };
    let part = match class {
        Class::Prefix => Part::default(),
        Class::Dropall => split_at(&[], count),
        Class::DropOne => one.map(all_but).unwrap_or_default(),
        Class::KeepOne => one.map(|one| split_at(&[one], count)).unwrap_or_default(),
        Class::Subset => split_at(&half_of(&may_be, rng), count),
        Class::Torn => {
            let torn = one.and_then(|one| torn(log, one, rng));
            torn.map(|torn| torn_alone(torn, count)).unwrap_or_default()
        }
        Class::Lying { .. } => {
            let open = sweep.open_since(honest_until_ns(class, at_ns));
            return template.state(sweep, &open, split_at(&[], count));
        }
    };
    template.state(sweep, open, part)
}

/// These entries alone, of which the later ones were on their way when `count` had completed.
fn split_at(entries: &[u32], count: usize) -> Part {
    let (completed, came): (Vec<u32>, Vec<u32>) =
        entries.iter().partition(|entry| (**entry as usize) < count);
    let survivors = if completed.is_empty() { Survivors::None } else { Survivors::Only(completed) };
    Part { survivors, in_flight: came, torn: None }
}

/// All that had completed, but one entry is cut, which may have been on its way.
fn torn_alone(torn: Torn, count: usize) -> Part {
    let in_flight = if (torn.entry as usize) < count { Vec::new() } else { vec![torn.entry] };
    Part { survivors: Survivors::All, in_flight, torn: Some(torn) }
}

/// The latest time at which exactly the first `count` entries have completed.
pub(crate) fn latest_ns(log: &WriteLog, count: usize) -> u64 {
    let completed = |at: usize| log.entries().get(at).map(|entry| entry.completed_ns);
    let last_ns = count.checked_sub(1).and_then(completed).unwrap_or(0);
    // One more after the end, so that what the last flush acknowledged is so.
    let next_ns = completed(count).unwrap_or(last_ns.saturating_add(2));
    next_ns.saturating_sub(1).max(last_ns)
}

/// Where a write is cut, if it has a border inside.
fn torn(log: &WriteLog, entry: u32, rng: &mut SeededRng) -> Option<Torn> {
    let found = log.entries().get(entry as usize).filter(|found| found.kind.is_write())?;
    let borders = found.sectors.checked_sub(1).filter(|borders| *borders > 0)?;
    Some(Torn { entry, sectors: u32::try_from(1 + rng.below(borders)).ok()? })
}

/// All, or so many drawn, in their order.
fn some_of(open: &[u32], most: usize, rng: &mut SeededRng) -> Vec<u32> {
    let mut some = open.to_vec();
    if some.len() > most {
        rng.shuffle(&mut some);
        some.truncate(most);
        some.sort_unstable();
    }
    some
}

/// Each of them with probability 1/2.
fn half_of(open: &[u32], rng: &mut SeededRng) -> Vec<u32> {
    open.iter().copied().filter(|_| rng.below(2) == 1).collect()
}

/// All parts of few entries, so many drawn ones of more.
fn parts(open: &[u32], samples: u32, rng: &mut SeededRng) -> Vec<Vec<u32>> {
    if open.len() > ALL_PARTS_UP_TO {
        return (0..samples).map(|_| half_of(open, rng)).collect();
    }
    let part = |bits: u32| {
        let places = open.iter().enumerate();
        places.filter(|(at, _)| bits >> at & 1 == 1).map(|(_, entry)| *entry).collect()
    };
    (0..1 << open.len()).map(part).collect()
}

/// States that differ in what is on the medium.
#[derive(Default)]
struct Distinct {
    states: Vec<CrashState>,
    known: HashMap<u64, usize>,
}

impl Distinct {
    fn take(&mut self, state: CrashState) {
        match self.known.get(&state.contents) {
            // The same bytes later: more is acknowledged, so the later one is judged. Its class is
            // the first that it was found as, unless the log went on in between.
            Some(at) => {
                let known = &mut self.states[*at];
                if state.count > known.count {
                    *known = state;
                }
            }
            None => {
                self.known.insert(state.contents, self.states.len());
                self.states.push(state);
            }
        }
    }
}

#[cfg(test)]
mod tests;
