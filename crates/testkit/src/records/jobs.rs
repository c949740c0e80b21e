//! Workloads of real work, and what their phases leave: a tree of 20 MB that packs to a fifth.

use crate::SECOND_NS;
use fsarena_model::contender::{Contender, DeviceLevel, FsLevel, Levels};
use fsarena_model::job::{
    By, Command, Compression, Contents, DATA, Job, JobKind, Origin, Source, SourcePlace,
};
use fsarena_model::memory_device::MemoryDevice;
use fsarena_model::work::{Dataset, Phase, ProgramReport, Tool, Workload};
use std::collections::BTreeMap;

/// A memory device of the kernel by its kind, such as `zram`.
///
/// # Panics
/// Where there is no such kind.
#[must_use]
pub fn memory_device(kind: &str, size_bytes: u64) -> DeviceLevel {
    let kind = MemoryDevice::named(kind).expect("a memory device of the table");
    DeviceLevel::Memory { kind, size_bytes }
}

/// A contender on a 1 GiB loop, cold, with whole memory.
#[must_use]
pub fn contender(label: &str, fs: &str, replicate: u32) -> Contender {
    let levels = Levels::plain(FsLevel::plain(fs), DeviceLevel::Loop { size_bytes: 1 << 30 });
    Contender::new(label, replicate, levels)
}

/// Bytes of the archive of [`contents`], whatever the compression.
pub const PACKED_BYTES: u64 = 4_000_000;

/// 1,000 files in 100 directories with 10 symbolic links, 20 MB.
#[must_use]
pub fn contents() -> Contents {
    Contents {
        files: 1000,
        dirs: 100,
        symlinks: 10,
        bytes: 20_000_000,
        block_bytes: 22_528_000,
        largest_bytes: 1_000_000,
        longest_path_bytes: 80,
        archive_bytes: None,
    }
}

/// A generated archive (gzip) on the file system under test: unpacked, copied by `cp` and by the
/// engine, packed with bzip2, and the first copy deleted.
#[must_use]
pub fn real_work() -> Workload {
    let by_engine = Job { by: By::Engine, ..Job::new(JobKind::Copy, "untar") };
    let archive = JobKind::Archive { compression: Compression::Bzip2 };
    Workload {
        name: "tree".to_owned(),
        title: "a tree of 20 MB unpacked, copied, packed and deleted".to_owned(),
        dataset: Dataset::uniform(1000, 20_000, 0),
        phases: vec![
            Phase::of_job(
                "untar",
                Job::new(JobKind::Untar { compression: Compression::Gzip }, DATA),
            ),
            Phase::of_job("copy", Job::new(JobKind::Copy, "untar")),
            Phase::of_job("copy-engine", by_engine),
            Phase::of_job("archive", Job::new(archive, "copy")),
            Phase::of_job("delete", Job::new(JobKind::Delete, "copy")),
        ],
        fio: None,
        levels: None,
        source: Some(Source {
            name: "tree-20m".to_owned(),
            origin: Origin::Made { description: "name = \"tree-20m\"\nseed = 1\n".to_owned() },
            place: SourcePlace::Same,
            archive: Some(Compression::Gzip),
            contents: contents(),
        }),
    }
}

/// The user's own tree, copied into memory first: encoded, compiled, and a command with hooks.
#[must_use]
pub fn own_work() -> Workload {
    let command = Command {
        run: "grep -r needle {data} > {mnt}/found".to_owned(),
        prepare: Some("rm -f {mnt}/found".to_owned()),
        cleanup: None,
        programs: vec!["grep".to_owned()],
    };
    Workload {
        name: "own".to_owned(),
        title: "the user's own tree".to_owned(),
        dataset: Dataset::uniform(1000, 20_000, 0),
        phases: vec![
            Phase::of_job("flac", Job::new(JobKind::Flac, DATA)),
            Phase::of_job("ogg", Job::new(JobKind::Ogg, DATA)),
            Phase::of_job("compile", Job::new(JobKind::Compile { jobs: 2 }, DATA)),
            Phase::of_job("search", Job::new(JobKind::Command(command), DATA)),
        ],
        fio: None,
        levels: None,
        source: Some(Source {
            name: "/srv/our/tree".to_owned(),
            origin: Origin::Own { path: "/srv/our/tree".into() },
            place: SourcePlace::Memory,
            archive: None,
            contents: contents(),
        }),
    }
}

/// Ops, bytes moved, and those of them that were written, of a job that went well.
pub(super) fn amounts(job: &Job, contents: &Contents) -> (u64, u64, u64) {
    let (entries, bytes) = (contents.entries(), contents.bytes);
    match &job.kind {
        JobKind::Copy => (entries, 2 * bytes, bytes),
        JobKind::Delete => (entries, 0, 0),
        JobKind::Untar { .. } => (entries, PACKED_BYTES + bytes, bytes),
        JobKind::Archive { .. } => (entries, bytes + PACKED_BYTES, PACKED_BYTES),
        JobKind::Flac | JobKind::Ogg => (contents.files, bytes + bytes / 2, bytes / 2),
        JobKind::Compile { .. } => (0, bytes + bytes / 4, bytes / 4),
        JobKind::Command(_) => (0, 0, 0),
    }
}

/// The programs of a job; none where the engine does it.
pub(super) fn program(job: &Job) -> Option<ProgramReport> {
    let tools: Vec<Tool> = job
        .programs()
        .into_iter()
        .map(|name| Tool {
            name: name.to_owned(),
            path: format!("/usr/bin/{name}").into(),
            version: format!("{name} 1.2.3"),
        })
        .collect();
    let first = tools.first()?;
    Some(ProgramReport {
        name: first.name.clone(),
        version: first.version.clone(),
        argv: vec![first.name.clone(), job.of.clone()],
        own_ns: Some(SECOND_NS * 4 / 10),
        startup_ns: None,
        p99_ns: None,
        figures: BTreeMap::new(),
        tools,
    })
}
