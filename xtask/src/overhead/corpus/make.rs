//! One tree, made in a process of its own: by the corpus, or by a bare loop of the same calls.
//!
//! The loop has its names ready as the kernel takes them and its contents in a buffer, and does
//! nothing between two calls but look at the next of them. Where the description says that a file
//! is longer than the buffer, it is written in as many calls.

use crate::overhead::child_job::run_self;
use anyhow::{Context as _, Result, ensure};
use fsarena_corpus::{EntryKind, Tree, builtin};
use rustix::fd::{AsFd as _, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, mkdirat, openat, syncfs};
use rustix::io::write;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A dataset and how much of it.
pub(super) struct Dataset {
    pub(super) name: String,
    pub(super) scale: f64,
}

/// What the loop writes with one call at most, bytes: the corpus's own piece.
const BUFFER_BYTES: usize = 1 << 20;

/// Who makes a tree, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Way {
    /// The corpus, with so many threads for the contents.
    Ours { threads: usize },
    /// The loop; names are relative to the descriptor of their directory.
    Descriptors,
    /// The loop; names are whole paths below the root.
    Paths,
}

impl Way {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Ours { .. } | Self::Descriptors => "relative to their directories",
            Self::Paths => "by whole paths",
        }
    }
}

/// A tree to be made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Make {
    /// An empty directory.
    root: PathBuf,
    dataset: String,
    scale: f64,
    way: Way,
    one_processor: bool,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Made {
    /// Files and directories.
    pub(super) entries: u64,
    /// From the first call to the return of the last.
    pub(super) created_ns: u64,
    /// From the first call until syncfs(2) had returned.
    pub(super) durable_ns: u64,
    /// User and system time of all threads until the return of the last call.
    pub(super) cpu_ns: u64,
}

impl Make {
    pub(super) fn new(dataset: &Dataset, way: Way) -> Self {
        let (root, name) = (PathBuf::new(), dataset.name.clone());
        Self { root, dataset: name, scale: dataset.scale, way, one_processor: false }
    }

    /// The same with all threads on one CPU.
    pub(super) fn on_one_processor(self) -> Self {
        Self { one_processor: true, ..self }
    }

    /// The same tree, made in another way.
    pub(super) fn by(&self, way: Way) -> Self {
        Self { way, ..self.clone() }
    }

    /// Has a child process make it in `root`.
    ///
    /// # Errors
    /// When it cannot be started, fails, or answers something else.
    pub(super) fn send(&self, root: &Path) -> Result<Made> {
        run_self("--corpus-child", &Self { root: root.to_owned(), ..self.clone() })
    }

    fn run(&self) -> Result<Made> {
        let tree = tree(&self.dataset, self.scale)?;
        if self.one_processor {
            stay_on_one_processor()?;
        }
        let root = File::open(&self.root).with_context(|| self.root.display().to_string())?;
        let entries = tree.entries().len() as u64;
        let calls = Calls::for_tree(&tree, self.way)?;
        let cpu_before = cpu_time();
        let begun = Instant::now();
        match self.way {
            Way::Ours { threads } => {
                let written = tree.write(root.as_fd(), threads, &|| false)?;
                ensure!(written.files + written.dirs == entries, "not all entries were made");
            }
            Way::Descriptors => calls.relative(root.as_fd())?,
            Way::Paths => calls.by_path(root.as_fd())?,
        }
        let created = begun.elapsed();
        let cpu = cpu_time() - cpu_before;
        syncfs(&root)?;
        let ns = |time: Duration| u64::try_from(time.as_nanos()).context("years have passed");
        let (created_ns, durable_ns) = (ns(created)?, ns(begun.elapsed())?);
        Ok(Made { entries, created_ns, durable_ns, cpu_ns: ns(cpu)? })
    }
}

/// The child: makes what `text` says and prints the answer.
///
/// # Errors
/// When a call fails.
pub(in crate::overhead) fn run_child(text: &str) -> Result<()> {
    let make: Make =
        serde_json::from_str(text).context("--corpus-child is for this task's own use")?;
    println!("{}", serde_json::to_string(&make.run()?)?);
    Ok(())
}

/// A built-in dataset, resolved.
///
/// # Errors
/// When there is none of that name.
pub(super) fn tree(dataset: &str, scale: f64) -> Result<Tree> {
    let description = builtin(dataset).with_context(|| format!("no dataset {dataset}"))?;
    Ok(description.scaled(scale).tree())
}

/// Binds this thread, and those it starts, to one of its processors.
///
/// # Errors
/// When that is not allowed.
pub(super) fn stay_on_one_processor() -> Result<()> {
    let mine = sched_getaffinity(None)?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| mine.is_set(*cpu));
    let mut one = CpuSet::new();
    one.set(last.context("no processor is allowed")?);
    sched_setaffinity(None, &one).context("sched_setaffinity")
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// What the loop goes through.
struct Calls {
    calls: Vec<Call>,
    buffer: Vec<u8>,
}

struct Call {
    name: CString,
    mode: Mode,
    /// How many directories below the root it lies.
    depth: usize,
    /// Absent: a directory.
    size_bytes: Option<u64>,
}

impl Calls {
    /// The calls for `tree`; none where the corpus makes it.
    fn for_tree(tree: &Tree, way: Way) -> Result<Self> {
        let mut calls = Vec::new();
        for entry in tree.entries().filter(|_| !matches!(way, Way::Ours { .. })) {
            let name = match way {
                Way::Paths => entry.path,
                _ => entry.path.rsplit('/').next().unwrap_or(entry.path),
            };
            calls.push(Call {
                name: CString::new(name)?,
                mode: Mode::from_raw_mode(entry.mode),
                depth: entry.path.bytes().filter(|byte| *byte == b'/').count(),
                size_bytes: match entry.kind {
                    EntryKind::Dir => None,
                    EntryKind::File { size_bytes } => Some(size_bytes),
                },
            });
        }
        // Not of zeros: pages of its own, as those of made contents.
        Ok(Self { calls, buffer: vec![0x5a; BUFFER_BYTES] })
    }

    fn relative(&self, root: BorrowedFd<'_>) -> Result<()> {
        let mut dirs: Vec<OwnedFd> = Vec::with_capacity(64);
        for call in &self.calls {
            dirs.truncate(call.depth);
            let here = dirs.last().map_or(root, |dir| dir.as_fd());
            if let Some(size_bytes) = call.size_bytes {
                self.file(here, call, size_bytes)?;
            } else {
                mkdirat(here, &call.name, call.mode)?;
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let dir = openat(here, &call.name, flags, Mode::empty())?;
                dirs.push(dir);
            }
        }
        Ok(())
    }

    fn by_path(&self, root: BorrowedFd<'_>) -> Result<()> {
        for call in &self.calls {
            match call.size_bytes {
                Some(size_bytes) => self.file(root, call, size_bytes)?,
                None => mkdirat(root, &call.name, call.mode)?,
            }
        }
        Ok(())
    }

    fn file(&self, here: BorrowedFd<'_>, call: &Call, size_bytes: u64) -> Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(here, &call.name, flags, call.mode)?;
        let mut left = size_bytes;
        while left > 0 {
            let bytes = left.min(BUFFER_BYTES as u64) as usize;
            left -= write(&file, &self.buffer[..bytes])? as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::os::unix::fs::PermissionsExt as _;

    /// Path, permissions and size of all below `dir`; no size: a directory.
    fn found(dir: &Path, below: &str, all: &mut BTreeMap<String, (u32, Option<u64>)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{below}{}", entry.file_name().to_str().unwrap());
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                found(&entry.path(), &format!("{path}/"), all);
            }
            let size_bytes = metadata.is_file().then_some(metadata.len());
            all.insert(path, (metadata.permissions().mode() & 0o777, size_bytes));
        }
    }

    #[test]
    fn all_ways_make_the_same_tree() {
        let dataset = Dataset { name: "ports-2004".to_owned(), scale: 0.003 };
        let mut trees = Vec::new();
        for way in [Way::Ours { threads: 1 }, Way::Descriptors, Way::Paths] {
            let root = tempfile::tempdir().unwrap();
            let make = Make { root: root.path().to_owned(), ..Make::new(&dataset, way) };
            let text = serde_json::to_string(&make).unwrap();
            let made = serde_json::from_str::<Make>(&text).unwrap().run().unwrap();
            let mut all = BTreeMap::new();
            found(root.path(), "", &mut all);
            assert_eq!(made.entries, all.len() as u64);
            assert!(0 < made.created_ns && made.created_ns <= made.durable_ns);
            trees.push(all);
            assert!(make.run().is_err(), "a directory that is not empty: {way:?}");
        }
        assert!(trees[0].len() > 300 && trees[0].values().any(|(_, size)| size.is_none()));
        assert!(trees[0] == trees[1] && trees[0] == trees[2]);
    }

    #[test]
    fn one_processor_is_one() {
        std::thread::spawn(|| {
            stay_on_one_processor().unwrap();
            assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
        })
        .join()
        .unwrap();
    }
}
