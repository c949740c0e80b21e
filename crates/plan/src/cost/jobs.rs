//! What real work costs: assumptions, for nothing measured says what another tree would take.
//!
//! The figures are rough ones of today's programs on one core, and of a file system on a fast disk.
//! A command of the user's is taken for ten seconds, and what it writes for nothing.

use crate::artifacts::{Artifact, Artifacts, Size, stage_bytes};
use fsarena_model::job::{Compression, JobKind, Source, SourcePlace};
use fsarena_model::phase::{Phase, Workload};

/// A file or directory made, deleted, and found and read where it was not in a cache.
const MAKE_NS: f64 = 60_000.0;
const DELETE_NS: f64 = 30_000.0;
const FIND_NS: f64 = 60_000.0;
/// A byte written, and read.
const WRITE_NS: f64 = 2.0;
const READ_NS: f64 = 1.0;
/// A byte of music encoded by `flac --best`, and by `oggenc -q 10`.
const FLAC_NS: f64 = 25.0;
const OGG_NS: f64 = 150.0;
/// A file of C compiled.
const COMPILE_NS: f64 = 60_000_000.0;
const COMMAND_NS: f64 = 10_000_000_000.0;
/// A byte generated.
const GENERATE_NS: f64 = 3.0;

/// Work of a compression for a byte of the tree: packing, and unpacking.
fn packing_ns(kind: Compression) -> (f64, f64) {
    match kind {
        Compression::None => (0.0, 0.0),
        Compression::Gzip => (40.0, 5.0),
        Compression::Bzip2 => (100.0, 30.0),
        Compression::Xz => (400.0, 12.0),
        Compression::Zstd => (5.0, 1.5),
    }
}

fn made_ns(size: Size) -> f64 {
    size.entries() as f64 * MAKE_NS + size.bytes as f64 * WRITE_NS
}

fn read_ns(size: Size) -> f64 {
    size.entries() as f64 * FIND_NS + size.bytes as f64 * READ_NS
}

/// Real work of a workload, walked through once.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct JobSums {
    /// Time of each phase, by its place in the workload, ns.
    phases_ns: Vec<f64>,
    /// Time to put the source into the root, once a trial, ns.
    pub(super) put_ns: f64,
    /// Time to compare the copies with their originals, ns.
    pub(super) compare_ns: f64,
    /// Contents of the tree.
    pub(super) dataset_bytes: u64,
    /// Bytes that one trial writes to the file system under test.
    pub(super) written_bytes: u64,
}

impl JobSums {
    pub(super) fn new(workload: &Workload, source: &Source) -> Self {
        let mut sums = Self { dataset_bytes: source.contents.bytes, ..Self::default() };
        let mut artifacts = Artifacts::new(source);
        if source.place == SourcePlace::Same
            && let Some(data) = artifacts.data()
        {
            sums.written_bytes = data.size.room_bytes();
            let generated = if source.is_staged() { READ_NS } else { GENERATE_NS };
            sums.put_ns = made_ns(data.size) + data.size.bytes as f64 * generated;
        }
        for phase in &workload.phases {
            let input = artifacts.input(phase).cloned();
            let made = artifacts.after(phase);
            let size = made.map(|made| made.size).unwrap_or_default();
            sums.phases_ns.push(phase_ns(phase, input.as_ref(), size));
            sums.written_bytes = sums.written_bytes.saturating_add(size.room_bytes());
            let kind = phase.job.as_ref().map(|job| &job.kind);
            if matches!(kind, Some(JobKind::Copy | JobKind::Untar { .. })) {
                sums.compare_ns += 2.0 * read_ns(size);
            }
        }
        sums
    }

    /// Time of a phase, ns.
    pub(super) fn phase_ns(&self, workload: &Workload, phase: &Phase) -> f64 {
        let place = workload.phases.iter().position(|known| known.name == phase.name);
        place.and_then(|place| self.phases_ns.get(place)).copied().unwrap_or(0.0)
    }
}

fn phase_ns(phase: &Phase, input: Option<&Artifact>, made: Size) -> f64 {
    let (Some(job), Some(input)) = (&phase.job, input) else { return COMMAND_NS };
    let bytes = input.tree.bytes as f64;
    match &job.kind {
        JobKind::Copy => read_ns(input.size) + made_ns(made),
        JobKind::Delete => input.size.entries() as f64 * DELETE_NS,
        JobKind::Untar { compression } => {
            read_ns(input.size) + made_ns(made) + bytes * packing_ns(*compression).1
        }
        JobKind::Archive { compression } => {
            read_ns(input.size) + made_ns(made) + bytes * packing_ns(*compression).0
        }
        JobKind::Flac => read_ns(input.size) + made_ns(made) + bytes * FLAC_NS,
        JobKind::Ogg => read_ns(input.size) + made_ns(made) + bytes * OGG_NS,
        JobKind::Compile { jobs } => {
            let compiled = input.size.files as f64 * COMPILE_NS / f64::from((*jobs).max(1));
            read_ns(input.size) + made_ns(made) + compiled
        }
        JobKind::Command(_) => COMMAND_NS,
    }
}

/// Time to stage the source, once a RUN, ns; 0 where nothing is staged.
pub(super) fn stage_ns(workload: &Workload) -> f64 {
    let Some(source) = workload.source.as_ref().filter(|source| source.is_staged()) else {
        return 0.0;
    };
    let bytes = source.contents.bytes as f64;
    let packed = source.archive.map_or(0.0, |kind| packing_ns(kind).0);
    let (disk, memory) = stage_bytes(workload);
    bytes * (GENERATE_NS + packed) + disk.saturating_add(memory) as f64 * WRITE_NS
}
