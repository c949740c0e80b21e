//! What can be done on a device without a file system: work on one file, which is the device.

use crate::steps::is_null;
use fsarena_model::contender::Levels;
use fsarena_model::io::Backend;
use fsarena_model::op::Op;
use fsarena_model::phase::{Phase, Workload};

/// Of these blocks the page cache of a device is written; of a part of one, the rest is read first.
const BLOCK_BYTES: u64 = 4096;
const OPS: [Op; 6] =
    [Op::BigWrite, Op::BigRead, Op::BigOverwrite, Op::RandRead, Op::RandWrite, Op::RandRw];

/// Why a workload needs a file system, where the contender has none.
pub(crate) fn needs_files(workload: &Workload, levels: &Levels) -> Option<String> {
    if !levels.is_raw() || is_null(workload) {
        return None;
    }
    let name = &levels.fs.name;
    let dataset = &workload.dataset;
    let whose = if workload.source.is_some() { Some("trees") } else { None };
    if let Some(what) = whose.or(workload.fio.as_ref().map(|_| "files of fio")) {
        return Some(format!("it works on {what}, and {name} is the device without a file system"));
    }
    let of_phase = |phase: &Phase| {
        let why = of_phase(phase, dataset.size_bytes)?;
        Some(format!("phase {:?} {why}", phase.name))
    };
    if let Some(reason) = workload.phases.iter().find_map(of_phase) {
        return Some(reason);
    }
    if dataset.files == 1 && dataset.dirs == 0 && dataset.is_uniform() {
        return None;
    }
    let dirs = if dataset.dirs > 0 { " in directories" } else { "" };
    let files =
        if dataset.files == 1 { "1 file".to_owned() } else { format!("{} files", dataset.files) };
    Some(format!("it has {files}{dirs}, and {name} is one: the device; give it files=1, dirs=0"))
}

/// Why a phase cannot be the same work on a device as on a file of `size_bytes`.
fn of_phase(phase: &Phase, size_bytes: u64) -> Option<&'static str> {
    let io = &phase.io;
    if !OPS.contains(&phase.op) {
        return Some("needs a file system, and raw has sectors alone");
    }
    if io.stonewall_ns.is_some() {
        return Some("has a stonewall, which is for files that are made, and raw makes none");
    }
    if io.backend == Backend::Mmap {
        return Some("maps a file, and a device of raw is not mapped");
    }
    let is_odd = |bytes: u64| !bytes.is_multiple_of(BLOCK_BYTES);
    match phase.op {
        Op::BigWrite if !io.direct && is_odd(phase.bs_bytes) => Some(
            "writes parts of blocks of 4 KiB, which are read first on raw and not in a new file",
        ),
        Op::BigRead if io.direct && is_odd(size_bytes) => {
            Some("reads to the end of a file within a block of 4 KiB, and raw goes on there")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::{DeviceLevel, FsLevel, RAW};
    use fsarena_model::dataset::Dataset;

    fn why(phase: Phase, dataset: Dataset) -> Option<String> {
        let device = DeviceLevel::Loop { size_bytes: 1 << 30 };
        let big = crate::workload::builtin("big-file").unwrap();
        let workload = Workload { phases: vec![phase], dataset, ..big };
        let levels = |name: &str| Levels::plain(FsLevel::plain(name), device.clone());
        assert_eq!(needs_files(&workload, &levels("ext4")), None);
        needs_files(&workload, &levels(RAW))
    }

    #[test]
    fn what_is_another_work_on_a_device_is_left_out() {
        let one = || Dataset::uniform(1, 1 << 20, 0);
        let phase = |op: Op, bs_bytes: u64| Phase::new("p", op, bs_bytes);
        let says = |why: Option<String>, word: &str| {
            assert!(why.as_ref().is_some_and(|text| text.contains(word)), "{why:?}: {word}");
        };
        for op in OPS {
            assert_eq!(why(phase(op, 4096), one()), None, "{op:?}");
            let mut mapped = phase(op, 4096);
            mapped.io.backend = Backend::Mmap;
            says(why(mapped, one()), "is not mapped");
        }
        says(why(phase(Op::Create, 4096), one()), "needs a file system");
        says(why(phase(Op::BigWrite, 47_008), one()), "parts of blocks");
        let mut direct = phase(Op::BigWrite, 512);
        direct.io.direct = true;
        assert_eq!(why(direct, one()), None, "nothing is read first past the cache");
        let mut direct = phase(Op::BigRead, 4096);
        direct.io.direct = true;
        says(why(direct.clone(), Dataset::uniform(1, 1_000_001, 0)), "goes on there");
        assert_eq!(why(direct, one()), None);
        let mut walled = phase(Op::BigWrite, 4096);
        walled.io.stonewall_ns = Some(1_000_000_000);
        says(why(walled, one()), "stonewall");
        says(why(phase(Op::BigRead, 4096), Dataset::uniform(4, 4096, 0)), "it has 4 files, and");
        says(why(phase(Op::BigRead, 4096), Dataset::uniform(1, 4096, 2)), "1 file in directories");
    }
}
