//! Two threads of one worker against two bare loops that are started together, on tmpfs.
//!
//! Each thread and each loop has as many files in as many directories of its own. The loops are
//! started for each op anew, so that they begin it together as the threads do; a side is as fast as
//! the slower of its two halves.

use super::child_job::ChildJob;
use super::options::{JUDGED_FILES, Options, Section, Verdict};
use super::pairs::{Pace, Sample, Side, stage};
use super::reference::{Printed, Reference};
use super::small::{BLOCK_BYTES, DIRS, FILE_BYTES, OPS};
use super::table::{Centre, Compared, Comparison};
use anyhow::Result;
use fsarena_model::work::{Dataset, Io, Phase, Sharing};
use std::path::Path;

pub(super) const SECTION: Section = Section { name: "threads", judged, run };

const THREADS: u32 = 2;
const USUAL_PAIRS: u32 = 41;
const JUDGED_PAIRS: u32 = 21;

const FIGURES: [Compared; 4] = [
    Compared { name: "create", ratio: 0.95, low: 0.0 },
    Compared { name: "read", ratio: 0.95, low: 0.0 },
    Compared { name: "stat", ratio: 0.95, low: 0.0 },
    Compared { name: "delete", ratio: 0.95, low: 0.0 },
];

/// The loop's phases for each op: directories are made before the first and removed after the last.
const LOOP_PHASES: [&str; 4] = ["mc", "r", "s", "ud"];

fn judged(options: &Options) -> bool {
    options.pairs(USUAL_PAIRS) >= JUDGED_PAIRS && options.files >= JUDGED_FILES
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if processors < THREADS as usize {
        verdict.not_run("threads", "this machine has one CPU");
        return Ok(verdict);
    }
    let Some(reference) = Reference::build(options, "threads", &mut verdict)? else {
        return Ok(verdict);
    };
    let judged = judged(options) && !options.smoke;
    let pace = Pace::new(options, options.pairs(USUAL_PAIRS), judged);
    let pairs = pace.run(|side| {
        let dir = stage(options, 0)?;
        match side {
            Side::Ours => ours(options, dir.path()),
            Side::Other => loops(&reference, options, dir.path()),
        }
    })?;
    let comparison = Comparison {
        title: format!("{THREADS} times {} files of {FILE_BYTES} B", options.files),
        other: "loops",
        compared: &FIGURES,
        centre: Centre::HodgesLehmann,
        needs: if judged { JUDGED_PAIRS } else { 0 },
    };
    verdict.missed = comparison.print(&pairs)?;
    Ok(verdict)
}

fn ours(options: &Options, dir: &Path) -> Result<Vec<Sample>> {
    let threads = u64::from(THREADS);
    let dataset = Dataset::uniform(threads * options.files, FILE_BYTES, threads * DIRS);
    let io = Io { threads: THREADS, sharing: Sharing::Own, ..Io::default() };
    let phases = OPS
        .iter()
        .map(|&(op, _)| Phase { io: io.clone(), ..Phase::new(op.name(), op, BLOCK_BYTES) });
    ChildJob::new(dir, dataset, phases.collect()).samples()
}

fn loops(reference: &Reference, options: &Options, dir: &Path) -> Result<Vec<Sample>> {
    let dirs: Vec<_> = (0..THREADS).map(|number| dir.join(number.to_string())).collect();
    for dir in &dirs {
        std::fs::create_dir(dir)?;
    }
    let mut samples = Vec::new();
    for ((_, name), phases) in OPS.iter().zip(LOOP_PHASES) {
        let args = format!("-n {} -s {FILE_BYTES} -d {DIRS} -p {phases}", options.files);
        let started: Vec<_> = dirs.iter().map(|dir| reference.start(&args, dir)).collect();
        // All are waited for, also when one fails.
        let printed: Vec<_> =
            started.into_iter().map(|child| child.and_then(Printed::wait_for)).collect();
        let halves: Result<Vec<Sample>> =
            printed.into_iter().map(|printed| printed?.sample(name)).collect();
        samples.push(together(&halves?));
    }
    Ok(samples)
}

/// Loops that had the same number of ops each, as one: the time of the slowest, the ops of all.
fn together(parts: &[Sample]) -> Sample {
    let count = parts.len() as f64;
    Sample {
        ns_per_op: parts.iter().map(|part| part.ns_per_op).fold(0.0, f64::max) / count,
        cpu_ns_per_op: parts.iter().map(|part| part.cpu_ns_per_op).sum::<f64>() / count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_loops_are_as_fast_as_the_slower_one() {
        let halves = [
            Sample { ns_per_op: 800.0, cpu_ns_per_op: 700.0 },
            Sample { ns_per_op: 1000.0, cpu_ns_per_op: 900.0 },
        ];
        let both = together(&halves);
        assert!((both.ns_per_op - 500.0).abs() < 1e-9);
        assert!((both.cpu_ns_per_op - 800.0).abs() < 1e-9);
    }
}
