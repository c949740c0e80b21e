//! What is where during a workload of real work, and how much room it takes.
//!
//! The same walk serves the reading of a workload (what a phase can work on), the question whether
//! it fits, and its cost. Sizes of what is not there yet are guesses: a copied or unpacked tree is
//! as large as its original, an archive is the tree times the ratio that its description states
//! (of the user's own trees and of what programs made: not smaller than it), FLAC is no smaller
//! than what it encodes, Vorbis half of it, and a build is three times its sources and 20 MiB. What
//! a command of the user's makes is not known and counts nothing.

use fsarena_corpus::Description;
use fsarena_model::job::{Compression, Contents, DATA, Job, JobKind, Origin, Source, SourcePlace};
use fsarena_model::phase::{Phase, Workload};

/// Block of a file system.
pub(crate) const BLOCK_BYTES: u64 = 4096;
/// Metadata of a file or a directory.
pub(crate) const INODE_BYTES: u64 = 512;
/// What tar puts before each entry, and at most after it.
const TAR_ENTRY_BYTES: u64 = 1024;
/// Results of a build: so many times its sources, and this for programs.
const BUILD_TIMES: u64 = 3;
const BUILD_BYTES: u64 = 20 << 20;

/// What a tree or a file takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Size {
    /// Regular files and symbolic links.
    pub(crate) files: u64,
    /// Directories, the root of the tree among them.
    pub(crate) dirs: u64,
    /// Contents of the files, bytes.
    pub(crate) bytes: u64,
    /// The same in blocks of 4 KiB.
    pub(crate) block_bytes: u64,
}

impl Size {
    /// That of a tree.
    pub(crate) fn from_contents(contents: &Contents) -> Self {
        Self {
            files: contents.files.saturating_add(contents.symlinks),
            dirs: contents.dirs.saturating_add(1),
            bytes: contents.bytes,
            block_bytes: contents.block_bytes,
        }
    }

    /// That of one file.
    fn file(bytes: u64) -> Self {
        Self { files: 1, dirs: 0, bytes, block_bytes: bytes.div_ceil(BLOCK_BYTES) * BLOCK_BYTES }
    }

    /// As many files, of other sizes: half a block more each.
    fn with_bytes(self, bytes: u64) -> Self {
        let block_bytes = bytes.saturating_add(self.files.saturating_mul(BLOCK_BYTES));
        Self { bytes, block_bytes, ..self }
    }

    /// Files and directories.
    pub(crate) fn entries(self) -> u64 {
        self.files.saturating_add(self.dirs)
    }

    /// Room on a file system, before the share for the rest.
    pub(crate) fn room_bytes(self) -> u64 {
        let files = self.files.saturating_mul(INODE_BYTES);
        let dirs = self.dirs.saturating_mul(BLOCK_BYTES + INODE_BYTES);
        self.block_bytes.saturating_add(files).saturating_add(dirs)
    }
}

/// A tree or an archive.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Artifact {
    /// [`DATA`], or the name of the phase that made it.
    pub(crate) name: String,
    /// How it is packed; absent: it is a tree.
    pub(crate) archive: Option<Compression>,
    /// The tree, also where it is packed.
    pub(crate) tree: Size,
    /// What is there: the tree, or the archive.
    pub(crate) size: Size,
    /// Whether it holds what the source holds, and not what a program made of it.
    pub(crate) is_source: bool,
    /// Whether it is on the file system under test.
    pub(crate) on_test: bool,
}

/// Everything that is there at some point of a workload.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Artifacts<'w> {
    source: &'w Source,
    artifacts: Vec<Artifact>,
}

impl<'w> Artifacts<'w> {
    /// Before the first phase.
    pub(crate) fn new(source: &'w Source) -> Self {
        let tree = Size::from_contents(&source.contents);
        let size = source.archive.map_or(tree, |kind| {
            let made = archive_bytes(source, tree, kind, true);
            Size::file(source.contents.archive_bytes.unwrap_or(made))
        });
        let data = Artifact {
            name: DATA.to_owned(),
            archive: source.archive,
            tree,
            size,
            is_source: true,
            on_test: source.place == SourcePlace::Same,
        };
        Self { source, artifacts: vec![data] }
    }

    /// The source, unless it was deleted.
    pub(crate) fn data(&self) -> Option<&Artifact> {
        self.get(DATA)
    }

    /// An artifact by its name.
    pub(crate) fn get(&self, name: &str) -> Option<&Artifact> {
        self.artifacts.iter().find(|artifact| artifact.name == name)
    }

    /// What phases made and is still there, in their order.
    pub(crate) fn made(&self) -> impl DoubleEndedIterator<Item = &Artifact> {
        self.artifacts.iter().filter(|artifact| artifact.name != DATA)
    }

    /// A sum over all that is on the file system under test.
    fn sum(&self, of: fn(Size) -> u64) -> u64 {
        let there = self.artifacts.iter().filter(|artifact| artifact.on_test);
        there.fold(0, |sum, artifact| sum.saturating_add(of(artifact.size)))
    }

    /// What a phase works on.
    pub(crate) fn input(&self, phase: &Phase) -> Option<&Artifact> {
        self.get(&phase.job.as_ref()?.of)
    }

    /// Does a phase; gives what it made.
    pub(crate) fn after(&mut self, phase: &Phase) -> Option<&Artifact> {
        let (job, input) = (phase.job.as_ref()?, self.input(phase)?.clone());
        if job.kind == JobKind::Delete {
            self.artifacts.retain(|artifact| artifact.name != input.name);
            return None;
        }
        let made = self.product(&phase.name, job, &input)?;
        self.artifacts.push(made);
        self.artifacts.last()
    }

    fn product(&self, name: &str, job: &Job, input: &Artifact) -> Option<Artifact> {
        let name = name.to_owned();
        let tree = |tree: Size, is_source| Artifact {
            name: name.clone(),
            archive: None,
            tree,
            size: tree,
            is_source,
            on_test: true,
        };
        Some(match &job.kind {
            JobKind::Copy => Artifact { name, on_test: true, ..input.clone() },
            JobKind::Untar { .. } => tree(input.tree, input.is_source),
            JobKind::Archive { compression } => {
                let kind = *compression;
                let bytes = archive_bytes(self.source, input.tree, kind, input.is_source);
                Artifact {
                    name,
                    archive: Some(kind),
                    size: Size::file(bytes),
                    on_test: true,
                    ..*input
                }
            }
            JobKind::Flac => tree(input.tree.with_bytes(input.tree.bytes), false),
            JobKind::Ogg => tree(input.tree.with_bytes(input.tree.bytes / 2), false),
            JobKind::Compile { .. } => {
                let bytes = input.tree.bytes.saturating_mul(BUILD_TIMES);
                tree(input.tree.with_bytes(bytes.saturating_add(BUILD_BYTES)), false)
            }
            JobKind::Delete | JobKind::Command(_) => return None,
        })
    }
}

/// Guess of the size of an archive, bytes.
fn archive_bytes(source: &Source, tree: Size, kind: Compression, is_source: bool) -> u64 {
    let plain = tree.bytes.saturating_add(tree.entries().saturating_mul(TAR_ENTRY_BYTES));
    match &source.origin {
        Origin::Made { description } if is_source && kind != Compression::None => {
            let ratio =
                Description::parse(description, &source.name).map(|d| d.archive_ratio(kind));
            ratio.map_or(plain, |ratio| times(tree.bytes, ratio))
        }
        _ => plain,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates; never < 0")]
fn times(bytes: u64, ratio: f64) -> u64 {
    (bytes as f64 * ratio).ceil() as u64
}

/// Most room that a workload of real work takes at one time on the file system under test, bytes,
/// before the share for the rest.
pub(crate) fn peak_bytes(workload: &Workload, source: &Source) -> u64 {
    peak(workload, source, Size::room_bytes)
}

/// Most files and directories that are there at one time on the file system under test.
pub(crate) fn peak_entries(workload: &Workload, source: &Source) -> u64 {
    peak(workload, source, Size::entries)
}

fn peak(workload: &Workload, source: &Source, of: fn(Size) -> u64) -> u64 {
    let mut artifacts = Artifacts::new(source);
    workload.phases.iter().fold(artifacts.sum(of), |peak, phase| {
        artifacts.after(phase);
        peak.max(artifacts.sum(of))
    })
}

/// What the source takes where it is staged, outside the file system under test: bytes on disk, in
/// the directory of images, and bytes of memory. Both are 0 where nothing is staged.
#[must_use]
pub fn stage_bytes(workload: &Workload) -> (u64, u64) {
    let Some(source) = workload.source.as_ref().filter(|source| source.is_staged()) else {
        return (0, 0);
    };
    let room = Artifacts::new(source).artifacts.first().map_or(0, |data| data.size.room_bytes());
    match source.place {
        SourcePlace::Memory => (0, room),
        SourcePlace::Same | SourcePlace::Other => (room, 0),
    }
}
