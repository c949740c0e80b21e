//! What is where during a trial of real work: trees and single files, what is in them and how
//! much of it is stored.
//!
//! Followed from phase to phase by what the phases say that they did. The account of what is
//! stored, the need of a cold phase, the task of a worker and the check of the contents come from
//! it. It never looks at the file system.

use crate::cold::{Need, SOME_METADATA};
use fsarena_filesystems::{ContentRule, MetadataRule};
use fsarena_model::job::{Contents, DATA, Job, JobKind, Origin, Reflink, Source, SourcePlace};
use fsarena_model::work::WorkerReport;
use std::path::Path;

/// Block that [`Contents::block_bytes`] are rounded up to.
const BLOCK_BYTES: u64 = 4096;

/// Something that a phase can work on: the source, or what a phase made.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StoredTree {
    /// As `of` of a job says it.
    pub(crate) name: String,
    /// Relative to the root, or to where the source is staged.
    pub(crate) path: String,
    /// Whether it is a single file, an archive, and not a tree.
    is_file: bool,
    /// The tree, also where it is packed. What is not known is 0.
    tree: Contents,
    /// Bytes that lie there: of the tree, or of the archive.
    pub(crate) stored_bytes: u64,
    /// Whether all bytes of the tree are stored: it was generated, or written from end to end. Of
    /// the user's own and of a build, links and holes may make less.
    tree_is_whole: bool,
    /// The same of the archive.
    file_is_whole: bool,
    /// The tree or archive that it was made from, where it has to hold the same.
    pub(crate) original: Option<String>,
}

impl StoredTree {
    /// The source of a workload; `archive_bytes` is its size where it is an archive.
    pub(crate) fn of_source(source: &Source, archive_bytes: Option<u64>) -> Self {
        let tree = Contents { archive_bytes: None, ..source.contents };
        let is_file = source.archive.is_some();
        let is_made = matches!(source.origin, Origin::Made { .. });
        let packed_bytes = archive_bytes.or(source.contents.archive_bytes).unwrap_or(0);
        Self {
            name: DATA.to_owned(),
            path: source.file_name(),
            is_file,
            tree,
            stored_bytes: if is_file { packed_bytes } else { tree.bytes },
            tree_is_whole: is_made,
            file_is_whole: is_made,
            original: None,
        }
    }

    /// What `job`, done by the phase `name` with `self`, has made; nothing where it makes nothing.
    fn product(&self, name: &str, job: &Job, report: &WorkerReport) -> Option<Self> {
        let path = job.product(name)?;
        let written_bytes = report.asked_written_bytes.unwrap_or(0);
        let made = Self {
            name: name.to_owned(),
            path,
            is_file: false,
            stored_bytes: written_bytes,
            original: None,
            ..self.clone()
        };
        let same = report.error.is_none().then(|| job.of.clone());
        Some(match job.kind {
            JobKind::Copy => Self { is_file: self.is_file, original: same, ..made },
            JobKind::Untar { .. } => Self { original: same, ..made },
            JobKind::Archive { .. } => Self { is_file: true, file_is_whole: true, ..made },
            JobKind::Flac | JobKind::Ogg => {
                Self { tree: files(report.ops, written_bytes), tree_is_whole: true, ..made }
            }
            _ => Self { tree: files(0, written_bytes), tree_is_whole: false, ..made },
        })
    }

    /// What a job on it works on: the file, where it is one and is not unpacked; else the tree.
    pub(crate) fn contents(&self, kind: &JobKind) -> Contents {
        match (self.is_file, kind) {
            (false, _) => self.tree,
            (true, JobKind::Untar { .. }) => {
                Contents { archive_bytes: Some(self.stored_bytes), ..self.tree }
            }
            (true, _) => Contents {
                block_bytes: self.stored_bytes.next_multiple_of(BLOCK_BYTES),
                ..files(1, self.stored_bytes)
            },
        }
    }

    /// What a job has to read of it where it is on the device; `ops` are those that were done.
    /// How much of the user's own is stored is not known well enough for a share of it; what a
    /// command reads is not known.
    pub(crate) fn need(
        &self,
        kind: &JobKind,
        (rule, reflink): (&ContentRule, Reflink),
        ops: u64,
    ) -> Need {
        let contents = self.contents(kind);
        let whole_blocks = rule.inline_max_bytes == 0 && rule.block_bytes >= BLOCK_BYTES;
        let bytes =
            if whole_blocks { contents.block_bytes.max(contents.bytes) } else { contents.bytes };
        let is_whole = if self.is_file { self.file_is_whole } else { self.tree_is_whole };
        let known = is_whole && !rule.compresses && contents.bytes > 0;
        let data = Need::Data { bytes };
        match kind {
            JobKind::Command(_) => Need::Nothing,
            JobKind::Copy if reflink != Reflink::Never => SOME_METADATA,
            // Whoever deletes a file reads its inode.
            JobKind::Delete if is_whole => {
                let need = |metadata: MetadataRule| Need::Metadata {
                    bytes: metadata.inodes_bytes(contents.files),
                    mount_bytes: metadata.mount_bytes,
                };
                rule.metadata.map_or(SOME_METADATA, need)
            }
            JobKind::Copy | JobKind::Archive { .. } if known => data,
            // Other files than those that are encoded may lie next to them.
            JobKind::Flac | JobKind::Ogg if known && ops >= contents.files => data,
            JobKind::Untar { .. } if self.is_file && !rule.compresses => {
                Need::Data { bytes: self.stored_bytes }
            }
            _ => SOME_METADATA,
        }
    }
}

/// Bytes of a file that is there already.
pub(crate) fn file_bytes(path: &Path) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|meta| meta.len())
}

/// So many files of so many bytes in all.
fn files(files: u64, bytes: u64) -> Contents {
    let largest_bytes = if files == 1 { bytes } else { 0 };
    Contents { files, bytes, block_bytes: bytes, largest_bytes, ..Contents::default() }
}

/// All that is there.
#[derive(Default, Debug)]
pub(crate) struct TreeState {
    /// The source, where it does not lie below the root.
    elsewhere: Option<StoredTree>,
    below: Vec<StoredTree>,
}

impl TreeState {
    /// Before the first step. A source that is to lie below the root is not there yet.
    pub(crate) fn new(source: Option<&Source>, staged_bytes: Option<u64>) -> Self {
        let elsewhere = source.filter(|source| source.place != SourcePlace::Same);
        let elsewhere = elsewhere.map(|source| StoredTree::of_source(source, staged_bytes));
        Self { elsewhere, below: Vec::new() }
    }

    /// Bytes below the root.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.below.iter().map(|held| held.stored_bytes).sum()
    }

    /// What lies below the root.
    pub(crate) fn below(&self) -> &[StoredTree] {
        &self.below
    }

    /// The source was put below the root.
    pub(crate) fn put(&mut self, source: &Source, archive_bytes: Option<u64>) {
        self.below.push(StoredTree::of_source(source, archive_bytes));
    }

    /// A phase has done its job, or a part of it.
    pub(crate) fn follow(&mut self, name: &str, job: &Job, report: &WorkerReport) {
        let made = self.find(&job.of).and_then(|input| input.product(name, job, report));
        if job.kind == JobKind::Delete {
            self.below.retain(|held| held.name != job.of);
        }
        self.below.extend(made);
    }

    /// What a job works on.
    pub(crate) fn find(&self, name: &str) -> Option<&StoredTree> {
        self.below.iter().chain(&self.elsewhere).find(|held| held.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::job::Compression;

    const GZIP: Option<Compression> = Some(Compression::Gzip);
    const TREE: Contents = Contents {
        files: 10,
        dirs: 3,
        symlinks: 0,
        bytes: 5000,
        block_bytes: 40_960,
        largest_bytes: 900,
        longest_path_bytes: 9,
        archive_bytes: None,
    };

    fn made() -> Origin {
        Origin::Made { description: String::new() }
    }

    fn own() -> Origin {
        Origin::Own { path: "/d".into() }
    }

    fn source(origin: Origin, place: SourcePlace, archive: Option<Compression>) -> Source {
        Source { name: "x".to_owned(), origin, place, archive, contents: TREE }
    }

    fn rule(inline_max_bytes: u64, compresses: bool) -> ContentRule {
        ContentRule { block_bytes: 4096, inline_max_bytes, compresses, metadata: None }
    }

    fn wrote(ops: u64, bytes: u64) -> WorkerReport {
        WorkerReport { ops, asked_written_bytes: Some(bytes), ..WorkerReport::default() }
    }

    fn untar() -> JobKind {
        JobKind::Untar { compression: Compression::Gzip }
    }

    fn pack() -> JobKind {
        JobKind::Archive { compression: Compression::Gzip }
    }

    fn need(held: &TreeState, name: &str, kind: &JobKind) -> Need {
        let told = (&rule(0, false), Reflink::Never);
        held.find(name).unwrap().need(kind, told, u64::MAX)
    }

    #[test]
    fn jobs_need_what_they_work_on() {
        let need = |kind: JobKind, origin: Origin, rule: ContentRule, reflink| {
            let archive = matches!(kind, JobKind::Untar { .. }).then_some(Compression::Gzip);
            let held =
                StoredTree::of_source(&source(origin, SourcePlace::Same, archive), Some(700));
            held.need(&kind, (&rule, reflink), 10)
        };
        let never = Reflink::Never;
        let blocks = Need::Data { bytes: 40_960 };
        assert_eq!(need(JobKind::Copy, made(), rule(0, false), never), blocks);
        let bare = Need::Data { bytes: 5000 };
        assert_eq!(need(JobKind::Copy, made(), rule(2048, false), never), bare);
        assert_eq!(need(JobKind::Copy, made(), rule(0, true), never), SOME_METADATA);
        let always = Reflink::Always;
        assert_eq!(need(JobKind::Copy, made(), rule(0, false), always), SOME_METADATA);
        assert_eq!(need(JobKind::Flac, own(), rule(0, false), never), SOME_METADATA);
        assert_eq!(need(untar(), own(), rule(0, false), never), Need::Data { bytes: 700 });
        assert_eq!(need(JobKind::Delete, made(), rule(0, false), never), SOME_METADATA);
        let metadata = MetadataRule {
            inode_bytes: 256,
            entry_bytes: 8,
            entry_align_bytes: 4,
            dir_inline_bytes: 0,
            mount_bytes: 4096,
        };
        let known = ContentRule { metadata: Some(metadata), ..rule(0, false) };
        let inodes = Need::Metadata { bytes: 10 * 256, mount_bytes: 4096 };
        assert_eq!(need(JobKind::Delete, made(), known, never), inodes);
        assert_eq!(need(JobKind::Delete, own(), known, never), SOME_METADATA, "hard links");
    }

    #[test]
    fn files_beside_those_that_are_encoded_are_not_needed() {
        let held = StoredTree::of_source(&source(made(), SourcePlace::Same, None), None);
        let told = (&rule(0, false), Reflink::Never);
        assert_eq!(held.need(&JobKind::Flac, told, 10), Need::Data { bytes: 40_960 });
        assert_eq!(held.need(&JobKind::Ogg, told, 9), SOME_METADATA);
    }

    #[test]
    fn trees_follow_the_phases() {
        let source = source(made(), SourcePlace::Same, GZIP);
        let mut held = TreeState::new(Some(&source), Some(700));
        assert_eq!((held.stored_bytes(), held.find(DATA)), (0, None), "not put there yet");
        held.put(&source, Some(700));
        held.follow("unpack", &Job::new(untar(), DATA), &wrote(13, 5000));
        held.follow("copy", &Job::new(JobKind::Copy, "unpack"), &wrote(13, 5000));
        assert_eq!(held.stored_bytes(), 10_700);
        assert_eq!(held.find("copy").unwrap().original.as_deref(), Some("unpack"));
        held.follow("delete", &Job::new(JobKind::Delete, "copy"), &wrote(13, 0));
        assert_eq!((held.stored_bytes(), held.find("copy")), (5700, None));
        held.follow("pack", &Job::new(pack(), "unpack"), &wrote(13, 600));
        assert_eq!(held.find("pack").unwrap().path, "pack.tar.gz");
    }

    /// What was made of a source is not the source.
    #[test]
    fn what_programs_made_counts_with_what_they_wrote() {
        let source = source(made(), SourcePlace::Same, None);
        let mut held = TreeState::default();
        held.put(&source, None);
        held.follow("flac", &Job::new(JobKind::Flac, DATA), &wrote(10, 3000));
        assert_eq!(need(&held, "flac", &JobKind::Copy), Need::Data { bytes: 3000 });
        let contents = held.find("flac").unwrap().contents(&JobKind::Delete);
        assert_eq!((contents.entries(), contents.bytes), (10, 3000));
        held.follow("copy", &Job::new(JobKind::Copy, "flac"), &wrote(10, 3000));
        assert_eq!(need(&held, "copy", &pack()), Need::Data { bytes: 3000 });
        held.follow("build", &Job::new(JobKind::Compile { jobs: 1 }, DATA), &wrote(0, 9000));
        assert_eq!(need(&held, "build", &JobKind::Copy), SOME_METADATA, "it may have holes");
        assert_eq!(held.find("build").unwrap().contents(&JobKind::Delete).entries(), 0);
    }

    /// An archive that was copied is a single file, and one that can be unpacked.
    #[test]
    fn copies_of_archives_are_archives() {
        for place in [SourcePlace::Same, SourcePlace::Other] {
            let source = source(made(), place, GZIP);
            let mut held = TreeState::new(Some(&source), Some(5001));
            if place == SourcePlace::Same {
                held.put(&source, Some(5001));
            }
            held.follow("copy", &Job::new(JobKind::Copy, DATA), &wrote(1, 5001));
            held.follow("again", &Job::new(JobKind::Copy, "copy"), &wrote(1, 5001));
            for name in ["copy", "again"] {
                assert_eq!(need(&held, name, &JobKind::Copy), Need::Data { bytes: 8192 });
                assert_eq!(need(&held, name, &untar()), Need::Data { bytes: 5001 });
                let copy = held.find(name).unwrap();
                let file = copy.contents(&JobKind::Delete);
                assert_eq!((file.entries(), file.bytes, file.block_bytes), (1, 5001, 8192));
                let packed = copy.contents(&untar());
                assert_eq!((packed.entries(), packed.archive_bytes), (13, Some(5001)));
            }
            held.follow("unpack", &Job::new(untar(), "again"), &wrote(13, 5000));
            assert_eq!(need(&held, "unpack", &JobKind::Copy), Need::Data { bytes: 40_960 });
        }
    }

    #[test]
    fn an_archive_of_the_users_tree_is_whole_and_its_copy_is_not() {
        let source = source(own(), SourcePlace::Same, None);
        let mut held = TreeState::default();
        held.put(&source, None);
        assert_eq!(need(&held, DATA, &JobKind::Copy), SOME_METADATA);
        held.follow("copy", &Job::new(JobKind::Copy, DATA), &wrote(13, 5000));
        assert_eq!(need(&held, "copy", &pack()), SOME_METADATA);
        held.follow("pack", &Job::new(pack(), "copy"), &wrote(13, 4096));
        assert_eq!(need(&held, "pack", &JobKind::Copy), Need::Data { bytes: 4096 });
        held.follow("unpack", &Job::new(untar(), "pack"), &wrote(13, 5000));
        assert_eq!(need(&held, "unpack", &JobKind::Copy), SOME_METADATA, "holes may come again");
    }
}
