//! Which part of a phase is one thread's: a pure description, without files and without memory.
//!
//! The shares of all threads of a phase are disjoint and together the whole of it. `own` gives each
//! thread whole leaf directories (or whole big files), `shared` alternates in the same ones (or a
//! part of each big file), `interleaved` deals out the blocks of each big file in turn; the blocks
//! of a random phase are one permutation, cut into pieces.

use crate::error::EngineError;
use crate::permute::Permutation;
use fsarena_model::op::Count;
use fsarena_model::seed::Seed;
use fsarena_model::split::piece;
use fsarena_model::work::{Dataset, Op, Phase, Sharing};
use std::ops::Range;

/// What one thread of a phase does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Whole files.
    Files(FileShare),
    /// A part of every file.
    Parts(PartShare),
    /// Blocks of every file, in turn.
    Interleaved(InterleavedShare),
    /// Directories.
    Dirs(DirShare),
    /// Directories with what is in them.
    Find(FindShare),
    /// Blocks in random order.
    Blocks(BlockShare),
}

/// Whole files: `first`, `first + step`, …
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileShare {
    /// Number of the first.
    pub first: u32,
    /// Distance to the next.
    pub step: u32,
    /// How many.
    pub count: u32,
}

impl FileShare {
    /// The number of the `k`-th.
    #[inline(always)]
    #[must_use]
    pub fn file(&self, k: u32) -> u32 {
        self.first + k * self.step
    }
}

impl FileShare {
    /// Those of its files that are there, and which these are where their numbers have gaps of no
    /// one width: `k` of each.
    fn among(self, there: &[Range<u64>]) -> (Self, Option<Vec<u32>>) {
        let (first, step) = (u64::from(self.first), u64::from(self.step.max(1)));
        let k_of = |file: u64| {
            let k = file.saturating_sub(first).div_ceil(step).min(self.count.into());
            u32::try_from(k).unwrap_or(self.count)
        };
        let mut runs: Vec<Range<u32>> = Vec::new();
        for files in there {
            let run = k_of(files.start)..k_of(files.end);
            match runs.last_mut() {
                _ if run.is_empty() => {}
                Some(last) if last.end == run.start => last.end = run.end,
                _ => runs.push(run),
            }
        }
        match runs.as_slice() {
            [] => (Self { count: 0, ..self }, None),
            [run] => {
                let count = run.end - run.start;
                (Self { first: self.file(run.start), count, ..self }, None)
            }
            _ => {
                let all: Vec<u32> = runs.into_iter().flatten().collect();
                let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
                (Self { count, ..self }, Some(all))
            }
        }
    }
}

/// The same part of every file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartShare {
    /// All files.
    pub files: FileShare,
    /// Number of the thread.
    pub thread: u64,
    /// Threads of the phase.
    pub threads: u64,
    /// Where parts may be cut, bytes.
    pub bs_bytes: u64,
}

impl PartShare {
    /// The bytes of a file of `size_bytes` that are this thread's: from, to.
    #[inline(always)]
    #[must_use]
    pub fn range(&self, size_bytes: u64) -> (u64, u64) {
        let blocks = size_bytes.div_ceil(self.bs_bytes);
        let cut = |thread| (piece(blocks, thread, self.threads) * self.bs_bytes).min(size_bytes);
        (cut(self.thread), cut(self.thread + 1))
    }
}

/// Blocks of every file at a distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterleavedShare {
    /// All files.
    pub files: FileShare,
    /// Offset of the first block in each file, bytes.
    pub first_bytes: u64,
    /// From one block to the next, bytes.
    pub step_bytes: u64,
    /// Bytes of a block; the last of a file may be shorter.
    pub bs_bytes: u64,
}

impl InterleavedShare {
    /// Whether the thread opens a file of `size_bytes`. An empty one is the first thread's: it is
    /// made too.
    #[inline(always)]
    #[must_use]
    pub fn opens(&self, size_bytes: u64) -> bool {
        self.first_bytes < size_bytes || self.first_bytes == 0
    }
}

/// Directories in the order of [`crate::names::DirNames`], one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirShare {
    /// Number of the first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// Directories that are walked: leaf directories with their files, and a part of those above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindShare {
    /// Directories that hold others.
    pub inner: DirShare,
    /// Leaf directories; of a flat set the root.
    pub leaves: DirShare,
    /// Files in these.
    pub files: FileShare,
    /// Whether the root is all there is: it is none of the entries.
    pub is_flat: bool,
}

impl FindShare {
    fn new(dataset: &Dataset, (thread, threads): (u64, u64)) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
        let dirs = |start: u64, all: u64| {
            let (from, to) = (piece(all, thread, threads), piece(all, thread + 1, threads));
            DirShare { first: (start + from) as u32, count: (to - from) as u32 }
        };
        let inner = dataset.directories().saturating_sub(dataset.dirs);
        // Of a flat set one thread has all.
        let (from, to) = match threads {
            1 => (0, dataset.files),
            _ => {
                let cuts = dataset.own_cuts(threads);
                (cuts[thread as usize], cuts[thread as usize + 1])
            }
        };
        #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
        let files = FileShare { first: from as u32, step: 1, count: (to - from) as u32 };
        let leaves = dirs(inner, dataset.dirs.max(1));
        Self { inner: dirs(0, inner), leaves, files, is_flat: dataset.dirs == 0 }
    }

    /// The numbers of its directories.
    pub fn dirs(&self) -> impl Iterator<Item = u32> + use<> {
        let numbers = |dirs: DirShare| dirs.first..dirs.first + dirs.count;
        numbers(self.inner).chain(numbers(self.leaves))
    }
}

/// Blocks of a random phase: a piece of the permutation of all whole blocks of all files, which
/// starts again in another order when it is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShare {
    /// The permutation of the first round.
    pub order: Permutation,
    /// Number of the first op within the phase.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Files of the dataset.
    pub files: u32,
    /// Whole blocks of one file.
    pub per_file: u64,
    /// Bytes of a block.
    pub bs_bytes: u64,
}

impl BlockShare {
    /// File and offset (bytes) of the `k`-th op.
    #[inline(always)]
    #[must_use]
    pub fn block(&self, k: u64) -> (u32, u64) {
        let index = self.first + k;
        let number = if index < self.order.len() {
            self.order.permute(index)
        } else {
            let (round, index) = (index / self.order.len(), index % self.order.len());
            self.order.rekeyed(round).permute(index)
        };
        if self.files == 1 {
            return (0, number * self.bs_bytes);
        }
        let (file, block) = (number / self.per_file, number % self.per_file);
        #[expect(clippy::cast_possible_truncation, reason = "a file of the dataset: 32 bits")]
        (file as u32, block * self.bs_bytes)
    }
}

impl Share {
    /// What thread `thread` of `phase` over `dataset` does, where the phase is shifted what is
    /// another thread's share; `seed` is that of the phase.
    ///
    /// # Errors
    /// When there is less to do than threads, or the op cannot be shared in that way.
    #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
    pub fn for_thread(
        dataset: &Dataset,
        phase: &Phase,
        thread: u32,
        seed: &Seed,
    ) -> Result<Self, EngineError> {
        let threads = phase.io.threads.max(1);
        enough(dataset, phase)?;
        let thread = phase.io.shifted(thread);
        let (t, n) = (u64::from(thread), u64::from(threads));
        let range = |all: u64| (piece(all, t, n), piece(all, t + 1, n));
        let run = |(from, to): (u64, u64)| FileShare {
            first: from as u32,
            step: 1,
            count: (to - from) as u32,
        };
        if phase.op == Op::Find {
            return Ok(Self::Find(FindShare::new(dataset, (t, n))));
        }
        if phase.op.is_random() {
            return Ok(Self::Blocks(blocks(dataset, phase, range, seed)));
        }
        if phase.op.is_about_dirs() {
            let all = dataset.directories();
            let all = all.max(u64::from(phase.op.info().count == Count::Dirs { with_root: true }));
            let (from, to) = range(all);
            return Ok(Self::Dirs(DirShare { first: from as u32, count: (to - from) as u32 }));
        }
        let shared = phase.io.sharing != Sharing::Own && threads > 1;
        if shared && phase.op.is_big() {
            let (files, bs_bytes) = (run((0, dataset.files)), phase.bs_bytes.max(1));
            if phase.io.sharing == Sharing::Interleaved {
                let (first_bytes, step_bytes) = (t * bs_bytes, n * bs_bytes);
                let share = InterleavedShare { files, first_bytes, step_bytes, bs_bytes };
                return Ok(Self::Interleaved(share));
            }
            return Ok(Self::Parts(PartShare { files, thread: t, threads: n, bs_bytes }));
        }
        if shared {
            let count = (dataset.files.saturating_sub(t)).div_ceil(n) as u32;
            return Ok(Self::Files(FileShare { first: thread, step: threads, count }));
        }
        if threads == 1 {
            return Ok(Self::Files(run((0, dataset.files))));
        }
        if phase.op.is_big() {
            return Ok(Self::Files(run(range(dataset.files))));
        }
        let cuts = dataset.own_cuts(n);
        Ok(Self::Files(run((cuts[thread as usize], cuts[thread as usize + 1]))))
    }

    /// The share where only the files of these numbers are there, and which of its own these are
    /// where there are others between them. Shares of random ops and of directories stay as they
    /// are.
    pub(crate) fn among(self, there: &[Range<u64>]) -> (Self, Option<Vec<u32>>) {
        match self {
            Self::Files(files) => {
                let (files, which) = files.among(there);
                (Self::Files(files), which)
            }
            Self::Parts(part) => {
                let (files, which) = part.files.among(there);
                (Self::Parts(PartShare { files, ..part }), which)
            }
            Self::Interleaved(blocks) => {
                let (files, which) = blocks.files.among(there);
                (Self::Interleaved(InterleavedShare { files, ..blocks }), which)
            }
            // It meets them in the order of the directories: their number is all it needs.
            Self::Find(share) => {
                let files = share.files.among(there).0;
                (Self::Find(FindShare { files, ..share }), None)
            }
            Self::Dirs(_) | Self::Blocks(_) => (self, None),
        }
    }

    /// Files or directories that the thread may take in any order.
    pub(crate) fn ordered(&self) -> u32 {
        match self {
            Self::Dirs(dirs) => dirs.count,
            Self::Blocks(_) => 0,
            others => others.files(),
        }
    }

    /// Files that the thread works in.
    #[must_use]
    pub fn files(&self) -> u32 {
        match self {
            Self::Files(files) => files.count,
            Self::Parts(part) => part.files.count,
            Self::Interleaved(blocks) => blocks.files.count,
            Self::Dirs(_) | Self::Find(_) => 0,
            Self::Blocks(blocks) => blocks.files,
        }
    }
}

fn blocks(
    dataset: &Dataset,
    phase: &Phase,
    range: impl Fn(u64) -> (u64, u64),
    seed: &Seed,
) -> BlockShare {
    let bs_bytes = phase.bs_bytes.max(1);
    let per_file = dataset.size_bytes / bs_bytes;
    let order = Permutation::new(dataset.files * per_file, seed.child("blocks", 0).tag());
    let (from, to) = range(phase.count(dataset));
    #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
    let files = dataset.files as u32;
    BlockShare { order, first: from, count: to - from, files, per_file, bs_bytes }
}

/// Whether there is something to do for each thread.
fn enough(dataset: &Dataset, phase: &Phase) -> Result<(), EngineError> {
    let (op, threads) = (phase.op, u64::from(phase.io.threads.max(1)));
    let refuse =
        |what: String, remedy| Err(EngineError::Mix { phase: phase.name.clone(), what, remedy });
    if op.is_random() {
        let blocks = dataset.size_bytes.checked_div(phase.bs_bytes).unwrap_or(0);
        if dataset.files.checked_mul(blocks).is_none_or(|all| all == 0) {
            let bytes = (dataset.files, dataset.size_bytes, phase.bs_bytes);
            let what = format!(
                "{} files of {} bytes hold no block of {} bytes",
                bytes.0, bytes.1, bytes.2
            );
            return refuse(what, "use larger files or a smaller bs");
        }
    }
    if threads > 1 {
        let (there, what, remedy) = portions(dataset, phase);
        if there < threads {
            return refuse(format!("{threads} threads for {there} {what}"), remedy);
        }
    }
    // Directories are made and removed level by level, and may be fewer than ops in flight.
    let depth = if op.is_about_dirs() { 1 } else { u64::from(phase.io.iodepth) };
    if threads == 1 && depth <= 1 {
        return Ok(());
    }
    match dataset.fewest_ops(phase) {
        0 if threads > 1 => refuse(
            format!("{threads} threads, and one of them has nothing to do"),
            "use fewer threads, more files, fewer directories, or sharing = \"shared\"",
        ),
        // No op at all: a queue does not matter then.
        0 => Ok(()),
        ops if ops < depth => refuse(
            format!("iodepth {depth}, and a thread has {ops} ops"),
            "use a smaller iodepth, fewer threads, or more ops",
        ),
        _ => Ok(()),
    }
}

/// What threads share out: how many there are, what they are, and the remedy where they are too
/// few.
fn portions(dataset: &Dataset, phase: &Phase) -> (u64, &'static str, &'static str) {
    let op = phase.op;
    let shared = phase.io.sharing != Sharing::Own && op != Op::Find;
    if op.is_random() || (op.is_big() && shared) {
        return (phase.count(dataset), "ops", "use fewer threads");
    }
    if op.is_about_dirs() {
        let dirs = dataset.directories();
        let dirs = dirs.max(u64::from(op.info().count == Count::Dirs { with_root: true }));
        return (dirs, "directories", "use fewer threads or more directories");
    }
    let threads = u64::from(phase.io.threads);
    if !shared && !op.is_big() && dataset.files >= threads {
        let remedy = match op {
            Op::Find => "give each thread one of its own (dirs), or use fewer threads",
            _ => "give each thread one of its own (dirs), or use sharing = \"shared\"",
        };
        return (dataset.dirs, "directories", remedy);
    }
    (dataset.files, "files", "use fewer threads or more files")
}

#[cfg(test)]
mod tests;
