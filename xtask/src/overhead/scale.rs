//! Ten million files against a hundred thousand, without calls: memory, and cost of an op.
//!
//! The smaller set is gone through a hundred times, so that both sides do as many ops. All four ops
//! of small files run in one process, with latencies; a worker runs one of them.

use super::child_job::ChildJob;
use super::options::Options;
use super::options::{MIB, Section, Verdict};
use super::pairs::{Pace, Side};
use super::small::{BLOCK_BYTES, FILE_BYTES, OPS};
use super::table::{Centre, Compared, Comparison};
use anyhow::Result;
use fsarena_model::work::{Backend, Dataset, Io, Order, Phase};
use std::path::Path;

pub(super) const SECTION: Section = Section { name: "scale", judged, run };

const USUAL_PAIRS: u32 = 11;
const JUDGED_PAIRS: u32 = 11;
const JUDGED_FILES: u64 = 10_000_000;
/// The smaller set is the larger one divided by this.
const FACTOR: u32 = 100;
const FILES_PER_DIR: u64 = 500;
/// Most memory of a worker over the larger set.
const PEAK_BYTES: u64 = 64 * MIB;
/// An op over the larger set costs at most 5 % more.
const RATIO: f64 = 1.0 / 1.05;

const FIGURES: [Compared; 4] = [
    Compared { name: "create", ratio: RATIO, low: 0.0 },
    Compared { name: "read", ratio: RATIO, low: 0.0 },
    Compared { name: "stat", ratio: RATIO, low: 0.0 },
    Compared { name: "delete", ratio: RATIO, low: 0.0 },
];

fn judged(options: &Options) -> bool {
    options.pairs(USUAL_PAIRS) >= JUDGED_PAIRS && options.scale_files >= JUDGED_FILES
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let files = options.scale_files;
    let few = (files / u64::from(FACTOR)).max(1);
    let judged = judged(options) && !options.smoke;
    let pace = Pace::new(options, options.pairs(USUAL_PAIRS), judged);
    for (order, words) in [(Order::Sequential, "in order"), (Order::Random, "at random")] {
        let large = child_job(files, order, 1);
        let small = child_job(few, order, FACTOR);
        let mut peak_bytes = 0;
        let pairs = pace.run(|side| {
            let child_job = if side == Side::Ours { &large } else { &small };
            let answer = child_job.send()?;
            if side == Side::Ours {
                peak_bytes = peak_bytes.max(answer.peak_bytes);
            }
            Ok(answer.phases.iter().map(|ran| ran.sample()).collect())
        })?;
        let comparison = Comparison {
            title: format!("{files} files {words} (ours) against {few}"),
            other: "few",
            compared: &FIGURES,
            centre: Centre::HodgesLehmann,
            needs: if judged { JUDGED_PAIRS } else { 0 },
        };
        verdict.missed.extend(comparison.print(&pairs)?);
        let met = peak_bytes < PEAK_BYTES;
        println!(
            "  most memory of the worker (VmHWM): {:.1} MiB, {} {} MiB",
            peak_bytes as f64 / MIB as f64,
            if met { "under" } else { "NOT UNDER" },
            PEAK_BYTES / MIB
        );
        if !met {
            verdict.missed.push(format!("memory for {files} files {words}"));
        }
    }
    Ok(verdict)
}

fn child_job(files: u64, order: Order, times: u32) -> ChildJob {
    let dataset = Dataset::uniform(files, FILE_BYTES, files.div_ceil(FILES_PER_DIR));
    let io = Io { backend: Backend::Null, ..Io::default() };
    let phases = OPS.iter().map(|&(op, _)| Phase {
        order,
        io: io.clone(),
        ..Phase::new(op.name(), op, BLOCK_BYTES)
    });
    // Without calls it does not matter where.
    ChildJob { times, ..ChildJob::new(Path::new("/"), dataset, phases.collect()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::work::Op;

    #[test]
    fn both_sides_do_as_many_ops_in_directories_of_one_size() {
        let (large, small) =
            (child_job(10_000_000, Order::Random, 1), child_job(100_000, Order::Random, 100));
        let per_dir = |child_job: &ChildJob| child_job.dataset.files_per_dir();
        assert_eq!((per_dir(&large), per_dir(&small)), (500, 500));
        let ops = |child_job: &ChildJob| child_job.dataset.files * u64::from(child_job.times);
        assert_eq!(ops(&large), ops(&small));
        assert_eq!(large.phases[3].op, Op::Delete);
    }
}
