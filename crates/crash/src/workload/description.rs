//! What a file of `crash-workloads/` says: files that are there before, and streams of ops.

use super::names::{DIRECTORIES, WITHIN};
use super::planned::{BEGIN_NS, Extent, Planned};
use crate::op::{Action, Sync};
use fsarena_model::seed::SeededRng;
use serde::Deserialize;
use std::num::NonZeroU64;

/// A crash workload.
#[derive(PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    /// Version of the form of the file.
    pub schema: u32,
    pub name: String,
    pub title: String,
    /// Synced before the ops that are judged begin.
    #[serde(default)]
    prepare: Vec<Preparation>,
    #[serde(rename = "stream")]
    streams: Vec<Stream>,
}

/// Files that are made before.
#[derive(PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preparation {
    op: Prepare,
    directory: Directory,
    /// The number of the first.
    #[serde(default)]
    first: u32,
    #[serde(default = "one")]
    files: u32,
    bytes: u64,
}

fn one() -> u32 {
    1
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Prepare {
    Create,
    Preallocate,
}

/// A directory of plans, by its place in [`DIRECTORIES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
struct Directory(u32);

impl TryFrom<String> for Directory {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let place = (0..).zip(DIRECTORIES).find(|(_, known)| *known == name);
        place
            .map(|(place, _)| Self(place))
            .ok_or_else(|| format!("no directory {name:?}; there are {}", DIRECTORIES.join(", ")))
    }
}

impl Directory {
    /// The number of a file in it, counted from 0.
    fn file(self, number: u64) -> u32 {
        self.0 << WITHIN | (number % (1 << WITHIN)) as u32
    }
}

/// Ops at even times.
#[derive(PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    directory: Directory,
    file: FileChoice,
    period_ms: NonZeroU64,
    /// Of its first event, after the begin.
    first_us: u64,
    /// Of each event, in their order, on one file.
    ops: Vec<StreamOp>,
}

/// The file of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileChoice {
    /// One of its own.
    New,
    /// One of the first so many, drawn.
    Random(NonZeroU64),
    /// The first so many in turn.
    Next(NonZeroU64),
    /// Always this one.
    Number(u32),
}

#[derive(PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamOp {
    op: OpKind,
    /// Of contents, or of the file that is cut; a delete has none.
    #[serde(default)]
    bytes: Size,
    /// Of an overwrite, in pieces of `bytes`.
    #[serde(default)]
    at: Position,
    /// After the event's time.
    #[serde(default)]
    after_ns: u64,
    #[serde(default)]
    sync: SyncChoice,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OpKind {
    Create,
    Replace,
    Append,
    Overwrite,
    Truncate,
    Delete,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Size {
    Bytes(u64),
    /// `least` to `most` units, drawn.
    Range {
        least: u64,
        most: u64,
        #[serde(default = "one_byte")]
        unit: u64,
    },
    Named(NamedSize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NamedSize {
    /// Drawn below the units of the size that the event's first op had.
    BelowMade,
}

impl Default for Size {
    fn default() -> Self {
        Self::Bytes(0)
    }
}

fn one_byte() -> u64 {
    1
}

/// Where an overwrite goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Position {
    /// The first so many pieces in turn.
    Next { next: NonZeroU64 },
    /// `writes` of the first `shuffled` pieces, each drawn once; the last of them is synced.
    Shuffled { shuffled: u64, writes: usize },
}

impl Default for Position {
    fn default() -> Self {
        Self::Next { next: NonZeroU64::MIN }
    }
}

#[derive(PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
enum SyncChoice {
    Always(Sync),
    /// In turn, by the number of the event.
    InTurn(Vec<Sync>),
}

impl Default for SyncChoice {
    fn default() -> Self {
        Self::Always(Sync::None)
    }
}

impl SyncChoice {
    fn turn(&self, number: u64) -> Sync {
        match self {
            Self::Always(sync) => *sync,
            Self::InTurn(all) => {
                let at = number.checked_rem(all.len() as u64).unwrap_or_default();
                all.get(at as usize).copied().unwrap_or_default()
            }
        }
    }
}

/// An event of a stream.
struct Event {
    number: u64,
    file: u32,
    /// Version of the prepared file; 0: the file is not prepared.
    version: u32,
    /// Bytes and units of what the first op wrote.
    made: (u64, u64),
}

impl Description {
    /// What is wrong with it beyond its form.
    #[cfg(test)]
    pub(super) fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for (at, op) in self.streams.iter().flat_map(|stream| stream.ops.iter().enumerate()) {
            let mut wrong = |is_wrong, what: &str| {
                if is_wrong {
                    mistakes.push(format!("{:?}: {what}", op.op));
                }
            };
            let is_cut = op.bytes == Size::Named(NamedSize::BelowMade);
            wrong(is_cut && at == 0, "below-made, and nothing was made before");
            wrong(is_cut != (op.op == OpKind::Truncate), "below-made is for a truncate");
            let has_place = op.at != Position::default();
            wrong(has_place != (op.op == OpKind::Overwrite), "at is for an overwrite");
            let is_empty = op.bytes == Size::default();
            wrong(is_empty != (op.op == OpKind::Delete), "bytes are for all but a delete");
            wrong(op.sync == SyncChoice::InTurn(Vec::new()), "no sync to choose from");
            if let Size::Range { least, most, unit } = op.bytes {
                wrong(least > most || unit == 0, "a range of nothing");
            }
        }
        mistakes
    }

    /// The actions: what is prepared, then those of each stream.
    pub(super) fn actions(&self, extent: Extent, rng: &mut SeededRng, actions: &mut Vec<Planned>) {
        for preparation in &self.prepare {
            let numbers = preparation.first..preparation.first.saturating_add(preparation.files);
            for number in numbers {
                let file = preparation.directory.file(number.into());
                let (bytes, sync) = (preparation.bytes, Sync::FileAndDirectory);
                let action = match preparation.op {
                    Prepare::Create => Action::Create { file, bytes, version: 1, sync },
                    Prepare::Preallocate => Action::Preallocate { file, bytes, sync },
                };
                actions.push(Planned { at_ns: 0, action });
            }
        }
        let end_ns = BEGIN_NS.saturating_add(extent.duration_ns);
        for stream in &self.streams {
            let first_ns = BEGIN_NS.saturating_add(stream.first_us.saturating_mul(1000));
            let period_ns = stream.period_ms.get().saturating_mul(1_000_000);
            let times = (0..).map(|at: u64| first_ns.saturating_add(at.saturating_mul(period_ns)));
            for (number, at_ns) in (0..).zip(times.take_while(|at_ns| *at_ns < end_ns)) {
                let mut event = self.event(stream, number, rng);
                for op in &stream.ops {
                    let at_ns = at_ns.saturating_add(op.after_ns);
                    let planned = op.actions(&mut event, rng);
                    let planned = planned.into_iter().filter(|_| at_ns < end_ns);
                    actions.extend(planned.map(|action| Planned { at_ns, action }));
                }
            }
        }
    }

    fn event(&self, stream: &Stream, number: u64, rng: &mut SeededRng) -> Event {
        let within = match stream.file {
            FileChoice::New => number,
            FileChoice::Random(of) => rng.below(of.get()),
            FileChoice::Next(of) => number % of,
            FileChoice::Number(fixed) => fixed.into(),
        };
        let file = stream.directory.file(within);
        let is_created = self.prepare.iter().any(|preparation| {
            let Preparation { directory, first, files, .. } = *preparation;
            let mut numbers = first..first.saturating_add(files);
            preparation.op == Prepare::Create
                && numbers.any(|number| directory.file(number.into()) == file)
        });
        Event { number, file, version: is_created.into(), made: (0, 1) }
    }
}

impl StreamOp {
    /// What it is for an event: one action, or some overwrites.
    fn actions(&self, event: &mut Event, rng: &mut SeededRng) -> Vec<Action> {
        let (file, sync) = (event.file, self.sync.turn(event.number));
        let bytes = self.bytes.drawn(event.made, rng);
        // Each version is written once: where a file was there before, each event has its own.
        let of_event = match event.version {
            0 => 1,
            before => before + 1 + event.number as u32,
        };
        vec![match self.op {
            OpKind::Create => {
                event.made = (bytes, self.bytes.unit());
                Action::Create { file, bytes, version: 1, sync }
            }
            OpKind::Replace => Action::Replace { target: file, bytes, version: of_event, sync },
            // A file that was made in this event has a first version of its own.
            OpKind::Append => {
                let version = if event.made.0 > 0 { 2 } else { 1 };
                Action::Append { file, bytes, version, sync }
            }
            OpKind::Truncate => Action::Truncate { file, bytes, sync },
            OpKind::Delete => Action::Delete { file, sync },
            OpKind::Overwrite => match self.at {
                Position::Next { next } => {
                    let offset = event.number % next * bytes;
                    let version = event.version + 1 + (event.number / next) as u32;
                    Action::Overwrite { file, offset, bytes, version, sync }
                }
                Position::Shuffled { shuffled, writes } => {
                    let mut pieces: Vec<u64> = (0..shuffled).collect();
                    rng.shuffle(&mut pieces);
                    pieces.truncate(writes);
                    let last = pieces.last().copied();
                    let write = |piece: u64| Action::Overwrite {
                        file,
                        offset: piece * bytes,
                        bytes,
                        version: of_event,
                        sync: if Some(piece) == last { sync } else { Sync::None },
                    };
                    return pieces.into_iter().map(write).collect();
                }
            },
        }]
    }
}

impl Size {
    fn drawn(self, (made_bytes, unit): (u64, u64), rng: &mut SeededRng) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Range { least, most, unit } => (least + rng.below(most - least + 1)) * unit,
            Self::Named(NamedSize::BelowMade) => rng.below(made_bytes / unit) * unit,
        }
    }

    fn unit(self) -> u64 {
        match self {
            Self::Range { unit, .. } => unit,
            Self::Bytes(_) | Self::Named(_) => 1,
        }
    }
}
