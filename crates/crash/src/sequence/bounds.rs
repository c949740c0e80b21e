//! The bounds of ACE: which operations on which files, and which persistence point after each.
//!
//! Reconstructed from the published description, generator and programs. Of one operation 328
//! programs are published, which truncate to 2,500 bytes alone; the generator truncates to 0 as
//! well, which makes 336, and 254,032 of two operations. Both counts have some programs more than
//! once: a persistence point is chosen after fdatasync and after mmap with msync too, and left out,
//! because they are one themselves. Symbolic links and rmdir are in neither and can be added
//! ([`Bounds::all`]).

use super::op::{Allocation, ROOT};
use fsarena_model::seed::Seed;

const FILES: [&str; 2] = ["foo", "A/foo"];
const SECOND_FILES: [&str; 2] = ["bar", "A/bar"];
const DIRECTORY: &str = "A";
const SECOND_DIRECTORY: &str = "B";
/// What truncate leaves.
const TRUNCATED: u64 = 2500;

/// Kind of a core operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    Creat,
    Mkdir,
    Fallocate,
    Write,
    DirectWrite,
    MmapWrite,
    Link,
    Unlink,
    Remove,
    Rename,
    SetXattr,
    RemoveXattr,
    Truncate,
    Fdatasync,
    /// Not in the published bounds.
    Symlink,
    /// Not in the published bounds.
    Rmdir,
}

const PUBLISHED: [Kind; 14] = [
    Kind::Creat,
    Kind::Mkdir,
    Kind::Fallocate,
    Kind::Write,
    Kind::DirectWrite,
    Kind::MmapWrite,
    Kind::Link,
    Kind::Unlink,
    Kind::Remove,
    Kind::Rename,
    Kind::SetXattr,
    Kind::RemoveXattr,
    Kind::Truncate,
    Kind::Fdatasync,
];

/// Where an operation writes, as seen from the size of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Region {
    /// 32 KiB behind the end.
    Append,
    /// 5,000 bytes from the begin.
    UnalignedStart,
    /// 5,000 bytes from 2,000 before the end.
    OverEnd,
    /// 8 KiB from the begin.
    AlignedStart,
}

const BUFFERED: [Region; 3] = [Region::Append, Region::UnalignedStart, Region::OverEnd];
const ALIGNED: [Region; 2] = [Region::Append, Region::AlignedStart];

/// A core operation with its parameters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CoreOp {
    Creat(&'static str),
    Mkdir(&'static str),
    Rmdir(&'static str),
    Fallocate(&'static str, Allocation, Region),
    Write(&'static str, Region),
    DirectWrite(&'static str, Region),
    MmapWrite(&'static str, Region),
    Link(&'static str, &'static str),
    Symlink(&'static str, &'static str),
    Unlink(&'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    SetXattr(&'static str),
    RemoveXattr(&'static str),
    Truncate(&'static str, u64),
    Fdatasync(&'static str),
}

impl CoreOp {
    /// Whether it is a persistence point itself.
    #[must_use]
    pub fn persists(self) -> bool {
        matches!(self, Self::Fdatasync(_) | Self::MmapWrite(..))
    }

    /// Names it is given.
    fn names(self) -> Vec<&'static str> {
        match self {
            Self::Link(from, to) | Self::Symlink(from, to) | Self::Rename(from, to) => {
                vec![from, to]
            }
            Self::Creat(name)
            | Self::Mkdir(name)
            | Self::Rmdir(name)
            | Self::Fallocate(name, ..)
            | Self::Write(name, _)
            | Self::DirectWrite(name, _)
            | Self::MmapWrite(name, _)
            | Self::Unlink(name)
            | Self::Remove(name)
            | Self::SetXattr(name)
            | Self::RemoveXattr(name)
            | Self::Truncate(name, _)
            | Self::Fdatasync(name) => vec![name],
        }
    }
}

/// What is made durable after a core operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Point {
    Nothing,
    Fsync(&'static str),
    Sync,
}

/// A sequence before what its operations need is put in.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Skeleton(pub Vec<(CoreOp, Point)>);

/// Which operations there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    kinds: Vec<Kind>,
    truncates: Vec<u64>,
}

impl Bounds {
    /// Those of the 328 published programs of one operation.
    #[must_use]
    pub fn of_published_programs() -> Self {
        Self { kinds: PUBLISHED.to_vec(), truncates: vec![TRUNCATED] }
    }

    /// Those of the published generator: with truncate to 0.
    #[must_use]
    pub fn published() -> Self {
        Self { kinds: PUBLISHED.to_vec(), truncates: vec![0, TRUNCATED] }
    }

    /// With symbolic links and rmdir besides.
    #[must_use]
    pub fn all() -> Self {
        let more = [Kind::Symlink, Kind::Rmdir];
        let kinds = PUBLISHED.into_iter().chain(more).collect();
        Self { kinds, truncates: vec![0, TRUNCATED] }
    }

    /// All core operations.
    #[must_use]
    pub fn core_ops(&self) -> Vec<CoreOp> {
        self.kinds.iter().flat_map(|kind| self.of_kind(*kind)).collect()
    }

    fn of_kind(&self, kind: Kind) -> Vec<CoreOp> {
        let files = || FILES.into_iter();
        let regions = |of: fn(&'static str, Region) -> CoreOp, all: &'static [Region]| {
            files().flat_map(|file| all.iter().map(move |region| of(file, *region))).collect()
        };
        match kind {
            Kind::Creat => files().map(CoreOp::Creat).collect(),
            Kind::Mkdir => vec![CoreOp::Mkdir(DIRECTORY)],
            Kind::Rmdir => vec![CoreOp::Rmdir(DIRECTORY)],
            Kind::Fallocate => files()
                .flat_map(|file| Allocation::ALL.map(|mode| (file, mode)))
                .flat_map(|(file, mode)| {
                    BUFFERED.map(|region| CoreOp::Fallocate(file, mode, region))
                })
                .collect(),
            Kind::Write => regions(CoreOp::Write, &BUFFERED),
            Kind::DirectWrite => regions(CoreOp::DirectWrite, &ALIGNED),
            Kind::MmapWrite => regions(CoreOp::MmapWrite, &ALIGNED),
            Kind::Link => pairs(CoreOp::Link),
            Kind::Symlink => pairs(CoreOp::Symlink),
            Kind::Unlink => both_files().map(CoreOp::Unlink).collect(),
            Kind::Remove => both_files().map(CoreOp::Remove).collect(),
            Kind::Rename => {
                let mut all = pairs(CoreOp::Rename);
                all.push(CoreOp::Rename(DIRECTORY, SECOND_DIRECTORY));
                all
            }
            Kind::SetXattr => files().map(CoreOp::SetXattr).collect(),
            Kind::RemoveXattr => files().map(CoreOp::RemoveXattr).collect(),
            Kind::Truncate => files()
                .flat_map(|file| self.truncates.iter().map(move |to| CoreOp::Truncate(file, *to)))
                .collect(),
            Kind::Fdatasync => files().map(CoreOp::Fdatasync).collect(),
        }
    }

    /// How many there are with so many operations as the published generator counts them: some
    /// more than once.
    #[must_use]
    pub fn counted_as_published(&self, length: usize) -> u64 {
        let mut count = 0;
        self.each_choice(length, &mut |ops| {
            let targets = targets_of(ops).len() as u64;
            // fsync of each and sync; nothing as well, but after the last one.
            count += (targets + 2).pow(ops.len() as u32 - 1) * (targets + 1);
        });
        count
    }

    /// All with so many operations, each once.
    ///
    /// Some hundreds of one operation, some hundred thousand of two.
    #[must_use]
    pub fn skeletons(&self, length: usize) -> Vec<Skeleton> {
        let mut all = Vec::new();
        self.each_choice(length, &mut |ops| {
            let targets = targets_of(ops);
            let mut made: Vec<Vec<(CoreOp, Point)>> = vec![Vec::new()];
            for (at, op) in ops.iter().enumerate() {
                let is_last = at + 1 == ops.len();
                let points = points(*op, &targets, is_last);
                made = made
                    .into_iter()
                    .flat_map(|begin| {
                        points.iter().map(move |point| {
                            begin.iter().copied().chain([(*op, *point)]).collect()
                        })
                    })
                    .collect();
            }
            all.extend(made.into_iter().map(Skeleton));
        });
        all
    }

    /// So many of them that a seed draws, in the order of all; all where there are no more.
    #[must_use]
    pub fn sample(&self, length: usize, most: usize, seed: u64) -> Vec<Skeleton> {
        let all = self.skeletons(length);
        if all.len() <= most {
            return all;
        }
        let mut numbers: Vec<usize> = (0..all.len()).collect();
        Seed::from_number(seed).child("sequences", length as u64).rng().shuffle(&mut numbers);
        numbers.truncate(most);
        numbers.sort_unstable();
        numbers.into_iter().map(|at| all[at].clone()).collect()
    }

    fn each_choice(&self, length: usize, take: &mut impl FnMut(&[CoreOp])) {
        let ops = self.core_ops();
        let mut chosen = Vec::with_capacity(length);
        choose(&ops, length, &mut chosen, take);
    }
}

fn choose(
    ops: &[CoreOp],
    length: usize,
    chosen: &mut Vec<CoreOp>,
    take: &mut impl FnMut(&[CoreOp]),
) {
    if chosen.len() == length {
        if length > 0 {
            take(chosen);
        }
        return;
    }
    for op in ops {
        chosen.push(*op);
        choose(ops, length, chosen, take);
        chosen.pop();
    }
}

fn both_files() -> impl Iterator<Item = &'static str> {
    FILES.into_iter().chain(SECOND_FILES)
}

/// From any file to one of the second ones.
fn pairs(of: fn(&'static str, &'static str) -> CoreOp) -> Vec<CoreOp> {
    let both = both_files().flat_map(|from| SECOND_FILES.map(|to| (from, to)));
    both.filter(|(from, to)| from != to).map(|(from, to)| of(from, to)).collect()
}

/// Points after an operation.
fn points(op: CoreOp, targets: &[&'static str], is_last: bool) -> Vec<Point> {
    if op.persists() {
        return vec![Point::Nothing];
    }
    let mut points: Vec<Point> = targets.iter().map(|path| Point::Fsync(path)).collect();
    points.push(Point::Sync);
    if !is_last {
        points.push(Point::Nothing);
    }
    points
}

/// What can be synced: the names of the operations, the other file or directory beside each, and
/// the directories that they are in.
fn targets_of(ops: &[CoreOp]) -> Vec<&'static str> {
    let names = ops.iter().flat_map(|op| op.names());
    let mut all: Vec<&'static str> =
        names.flat_map(|name| [name, beside(name), directory_of(name)]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn beside(name: &'static str) -> &'static str {
    match name {
        "foo" => "bar",
        "bar" => "foo",
        "A/foo" => "A/bar",
        "A/bar" => "A/foo",
        DIRECTORY => SECOND_DIRECTORY,
        SECOND_DIRECTORY => DIRECTORY,
        other => other,
    }
}

fn directory_of(name: &'static str) -> &'static str {
    if name.contains('/') { DIRECTORY } else { ROOT }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_published_programs_of_one_operation_are_328_of_which_310_differ() {
        let programs = Bounds::of_published_programs();
        assert_eq!(programs.core_ops().len(), 76);
        assert_eq!((programs.counted_as_published(1), programs.skeletons(1).len()), (328, 310));
    }

    #[test]
    fn the_published_generator_makes_some_more() {
        let published = Bounds::published();
        assert_eq!((published.counted_as_published(1), published.skeletons(1).len()), (336, 318));
        assert_eq!(published.counted_as_published(2), 254_032);
        let all = Bounds::all();
        // Symbolic links: as hard ones, 36. rmdir: 4.
        assert_eq!(all.counted_as_published(1), 336 + 36 + 4);
        assert_eq!(all.skeletons(1).len(), 318 + 36 + 4);
        assert_eq!(all.skeletons(2).len(), 277_178);
    }

    #[test]
    fn each_kind_has_as_many_as_the_published_programs_have_of_it() {
        let counts = [
            (Kind::Creat, 8),
            (Kind::Mkdir, 4),
            (Kind::Fallocate, 120),
            (Kind::Write, 24),
            (Kind::DirectWrite, 16),
            (Kind::MmapWrite, 16),
            (Kind::Link, 36),
            (Kind::Unlink, 16),
            (Kind::Remove, 16),
            (Kind::Rename, 40),
            (Kind::SetXattr, 8),
            (Kind::RemoveXattr, 8),
            (Kind::Truncate, 8),
            (Kind::Fdatasync, 8),
        ];
        for (kind, count) in counts {
            let one = Bounds { kinds: vec![kind], truncates: vec![TRUNCATED] };
            assert_eq!(one.counted_as_published(1), count, "{kind:?}");
        }
    }

    #[test]
    fn sequences_of_two_are_each_there_once() {
        let published = Bounds::published();
        let two = published.skeletons(2);
        assert_eq!(two.iter().collect::<HashSet<_>>().len(), two.len());
        assert!(two.iter().all(|one| {
            let (last, point) = one.0[1];
            one.0.len() == 2 && (last.persists() == (point == Point::Nothing))
        }));
    }

    #[test]
    fn a_sample_is_of_the_seed_and_of_the_whole() {
        let bounds = Bounds::published();
        let sample = bounds.sample(1, 40, 7);
        assert_eq!(sample.len(), 40);
        assert_eq!(sample, bounds.sample(1, 40, 7));
        assert_ne!(sample, bounds.sample(1, 40, 8));
        let all: HashSet<Skeleton> = bounds.skeletons(1).into_iter().collect();
        assert!(sample.iter().all(|one| all.contains(one)));
        assert_eq!(bounds.sample(1, 1000, 7).len(), all.len());
    }
}
