//! How much memory is touched before a phase.
//!
//! Free page reporting: memory that was idle for seconds is with the hypervisor, and its next touch
//! is up to nine times slower. Touching and freeing as much as the phase will need, right before
//! it, keeps that out of the figures.

use crate::fault;
use fsarena_metrics::{KernelRoots, available_bytes, page_reporting_active};
use fsarena_model::cycle::{Cycle, Load};
use fsarena_model::job::{By, JobKind};
use fsarena_model::work::{Dataset, JobTask, Op, Phase, Task};

/// An inode with its entry in memory, bytes.
const INODE_BYTES: u64 = 2048;
/// Memory of the programs of real work, bytes.
const PROGRAMS_BYTES: u64 = 256 << 20;
/// Memory touched before every phase beyond what its data take, bytes.
const WARM_FLOOR_BYTES: u64 = 64 << 20;

/// What `task` over `dataset` needs: bytes to be touched before it, under its memory limit. Nothing
/// in a test that asks for short waits, whose times mean nothing.
pub(crate) fn task_bytes(
    roots: &KernelRoots,
    task: &Task,
    op: Op,
    dataset: &Dataset,
    limit_bytes: Option<u64>,
) -> u64 {
    if fault::is_fast() {
        return 0;
    }
    let needed_bytes = match task {
        Task::Job(task) => job_memory_bytes(task),
        Task::Phase { phase: Phase { cycle: Some(cycle), .. }, .. } => {
            cycle_memory_bytes(dataset, cycle)
        }
        _ => phase_memory_bytes(dataset, op),
    };
    warm_memory_bytes(roots, needed_bytes, limit_bytes)
}

fn warm_memory_bytes(roots: &KernelRoots, needed_bytes: u64, limit_bytes: Option<u64>) -> u64 {
    if !page_reporting_active(roots) {
        return 0;
    }
    let needed_bytes = needed_bytes.min(limit_bytes.unwrap_or(u64::MAX));
    needed_bytes.saturating_add(WARM_FLOOR_BYTES).min(available_bytes(roots).unwrap_or(0) / 2)
}

/// What a phase of the engine needs: an inode with its entry, and half a block of rounding in the
/// page cache, a file.
fn phase_memory_bytes(dataset: &Dataset, op: Op) -> u64 {
    let contents = match op.moves_bytes() {
        true => dataset.bytes().saturating_add(dataset.files.saturating_mul(4096)),
        false => 0,
    };
    dataset.files.saturating_mul(INODE_BYTES).saturating_add(contents)
}

/// What a phase of cycles needs: all files, next to them those that one cycle makes anew, and what
/// the second load has.
fn cycle_memory_bytes(dataset: &Dataset, cycle: &Cycle) -> u64 {
    let all = phase_memory_bytes(dataset, Op::Cycle);
    let each = all / dataset.files.max(1);
    let anew = each.saturating_mul(cycle.updates.min(dataset.files));
    let beside = cycle.disturb.as_ref().map_or(0, |disturb| match disturb.load {
        Load::Create { files, size_bytes, .. } => {
            phase_memory_bytes(&Dataset::uniform(files, size_bytes, 0), Op::Create)
        }
        Load::Write { size_bytes, .. } | Load::Read { size_bytes, .. } => size_bytes,
    });
    all.saturating_add(anew).saturating_add(beside)
}

/// What real work needs: what it works on and what it makes, the inodes of both, and room for
/// programs that compress, encode, compile or do what the user says.
fn job_memory_bytes(task: &JobTask) -> u64 {
    let contents = &task.contents;
    let pages = contents.block_bytes.max(contents.bytes).saturating_mul(2);
    let archive = contents.archive_bytes.unwrap_or(0);
    let inodes = contents.entries().saturating_mul(2 * INODE_BYTES);
    let plain = matches!(task.job.kind, JobKind::Copy | JobKind::Delete);
    let programs = if plain || task.job.by == By::Engine { 0 } else { PROGRAMS_BYTES };
    [pages, archive, inodes, programs].into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::cycle::{Disturb, Overrun, Shares};
    use fsarena_model::job::{Compression, Contents, DATA, Job, Reflink};

    /// A tree with this much memory and a balloon with these features.
    fn machine(features: &str) -> (tempfile::TempDir, KernelRoots) {
        let tree = tempfile::tempdir().expect("a directory for the tree");
        let (proc, sys) = (tree.path().join("proc"), tree.path().join("sys"));
        let roots = KernelRoots { proc, sys, ..KernelRoots::default() };
        let balloon = roots.sys.join("bus/virtio/devices/virtio0");
        std::fs::create_dir_all(balloon.join("driver")).expect("made");
        std::fs::create_dir_all(&roots.proc).expect("made");
        let files = [
            (balloon.join("device"), "0x0005\n"),
            (balloon.join("features"), features),
            (roots.proc.join("meminfo"), "MemTotal: 9 kB\nMemAvailable:    4194304 kB\n"),
        ];
        files.iter().for_each(|(path, text)| std::fs::write(path, text).expect("written"));
        (tree, roots)
    }

    #[test]
    fn memory_is_touched_where_free_pages_are_reported() {
        let set = |files| Dataset::uniform(files, 256, 0);
        let (_tree, roots) = machine("0000010000");
        let needed = |files, op| phase_memory_bytes(&set(files), op);
        let bytes = |files, op, limit| warm_memory_bytes(&roots, needed(files, op), limit);
        assert_eq!(bytes(1000, Op::Create, None), 1000 * (2048 + 4096 + 256) + WARM_FLOOR_BYTES);
        assert_eq!(bytes(1000, Op::Stat, None), 1000 * 2048 + WARM_FLOOR_BYTES);
        let limited = bytes(1_000_000, Op::Read, Some(64 << 20));
        assert_eq!(limited, (64 << 20) + WARM_FLOOR_BYTES, "no more than the phase may use");
        assert_eq!(bytes(100_000_000, Op::Read, None), 2 << 30, "half of what there is");
        let (_tree, roots) = machine("0000000000");
        assert_eq!(warm_memory_bytes(&roots, 1 << 30, None), 0);
    }

    #[test]
    fn cycles_need_memory_for_what_they_make_anew_and_the_second_load() {
        let set = Dataset::uniform(1000, 8000, 0);
        let each = 8000 + 4096 + INODE_BYTES;
        let shares = Shares { in_place: 1, truncate: 1, replace: 1, recreate: 1, temporary: 1 };
        let load = Load::Create { files: 10, size_bytes: 100, rate: 0 };
        let mut cycle = Cycle {
            cycles: 3,
            period_ns: 1,
            overrun: Overrun::Skip,
            updates: 400,
            shares,
            disturb: None,
        };
        assert_eq!(cycle_memory_bytes(&set, &cycle), 1400 * each);
        cycle.updates = 5000;
        assert_eq!(cycle_memory_bytes(&set, &cycle), 2000 * each, "no more than there are");
        cycle.disturb = Some(Disturb { load, cycles: vec![2] });
        let beside = 10 * (100 + 4096 + INODE_BYTES);
        assert_eq!(cycle_memory_bytes(&set, &cycle), 2000 * each + beside);
    }

    #[test]
    fn programs_need_memory_for_what_they_read_and_make() {
        let task = |kind, by, contents| JobTask {
            name: "p".to_owned(),
            job: Job { by, ..Job::new(kind, DATA) },
            input: DATA.into(),
            data: DATA.into(),
            contents,
            reflink: Reflink::Never,
            latency: false,
        };
        let tree = Contents {
            files: 90,
            dirs: 10,
            bytes: 5000,
            block_bytes: 368_640,
            ..Contents::default()
        };
        let both = 2 * 368_640 + 100 * 2 * 2048;
        let bytes = |kind, by, contents| job_memory_bytes(&task(kind, by, contents));
        assert_eq!(bytes(JobKind::Copy, By::Program, tree), both);
        assert_eq!(bytes(JobKind::Flac, By::Program, tree), both + (256 << 20));
        let packed = Contents { archive_bytes: Some(777), ..tree };
        let untar = JobKind::Untar { compression: Compression::Xz };
        assert_eq!(bytes(untar.clone(), By::Engine, packed), both + 777);
        assert_eq!(bytes(untar, By::Program, packed), both + 777 + (256 << 20));
    }
}
