//! One thread of small files against a bare loop of system calls, on tmpfs.

use super::child_job::ChildJob;
use super::options::{JUDGED_FILES, Options};
use super::pairs::{Pace, Pairs, Side, stage};
use super::reference::Reference;
use super::sampler;
use super::section::{MIB, Section, Verdict};
use super::table::{Centre, Compared, Comparison};
use anyhow::Result;
use fsarena_model::work::{Dataset, Op, Phase};

pub(super) const SECTION: Section = Section { name: "small", judged, run };

pub(super) const FILE_BYTES: u64 = 256;
pub(super) const DIRS: u64 = 100;
pub(super) const BLOCK_BYTES: u64 = 4096;
/// The ops of small files, with their names in the reference's output, in the order of the run.
pub(super) const OPS: [(Op, &str); 4] =
    [(Op::Create, "create"), (Op::Read, "read"), (Op::Stat, "stat"), (Op::Delete, "unlink")];
const USUAL_PAIRS: u32 = 101;
const JUDGED_PAIRS: u32 = 21;

/// The figures of [`OPS`].
const FIGURES: [Compared; 4] = [
    Compared { name: "create", ratio: 0.97, low: 0.95 },
    Compared { name: "read", ratio: 0.97, low: 0.95 },
    Compared { name: "stat", ratio: 0.95, low: 0.0 },
    Compared { name: "delete", ratio: 0.97, low: 0.95 },
];

const BIG_OPS: [(Op, &str); 2] = [(Op::BigWrite, "bigwrite_MBps"), (Op::BigRead, "bigread_MBps")];
/// The big file: shown, not judged.
const BIG: [Compared; 2] = [
    Compared { name: "big-write", ratio: 0.0, low: 0.0 },
    Compared { name: "big-read", ratio: 0.0, low: 0.0 },
];

fn judged(options: &Options) -> bool {
    options.pairs(USUAL_PAIRS) >= JUDGED_PAIRS && options.files >= JUDGED_FILES
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let judged = judged(options) && !options.smoke;
    let share = sampler::measure(if judged { 10 } else { 1 })?;
    if share >= sampler::SHARE_MAX {
        verdict.missed.push("sampler".to_owned());
    }
    let Some(reference) = Reference::build(options, "small", &mut verdict)? else {
        return Ok(verdict);
    };
    let files = options.files;
    let small = Sides {
        reference: &reference,
        reference_args: format!("-n {files} -s {FILE_BYTES} -d {DIRS} -p mcrsud"),
        ops: &OPS,
        dataset: Dataset::uniform(files, FILE_BYTES, DIRS),
        bs_bytes: BLOCK_BYTES,
    };
    let pairs = small.pairs(options, Pace::new(options, options.pairs(USUAL_PAIRS), judged))?;
    let comparison = Comparison {
        title: format!("{files} files of {FILE_BYTES} B"),
        other: "bare",
        compared: &FIGURES,
        centre: Centre::HodgesLehmann,
        needs: if judged { JUDGED_PAIRS } else { 0 },
    };
    verdict.missed.extend(comparison.print(&pairs)?);
    if options.big_mib > 0 && options.big_pairs > 0 {
        big(options, &reference, judged)?;
    }
    Ok(verdict)
}

fn big(options: &Options, reference: &Reference, judged: bool) -> Result<()> {
    let mib = options.big_mib;
    let sides = Sides {
        reference,
        reference_args: format!("-n 1 -d 0 -b {mib} -k 1024 -p wbx"),
        ops: &BIG_OPS,
        dataset: Dataset::uniform(1, mib * MIB, 0),
        bs_bytes: MIB,
    };
    let pairs = sides.pairs(options, Pace::new(options, options.big_pairs, judged))?;
    let comparison = Comparison {
        title: format!("one file of {mib} MiB in calls of 1 MiB, for information"),
        other: "bare",
        compared: &BIG,
        centre: Centre::HodgesLehmann,
        needs: 0,
    };
    comparison.print(&pairs).map(drop)
}

/// What the two sides of a pair are told to do.
struct Sides<'a> {
    reference: &'a Reference,
    reference_args: String,
    ops: &'static [(Op, &'static str)],
    dataset: Dataset,
    bs_bytes: u64,
}

impl Sides<'_> {
    fn pairs(&self, options: &Options, pace: Pace) -> Result<Pairs> {
        let big_bytes = if self.dataset.dirs == 0 { self.dataset.bytes() } else { 0 };
        pace.run(|side| {
            let dir = stage(options, big_bytes)?;
            if side == Side::Ours {
                let phase = |&(op, _): &(Op, _)| Phase::new(op.name(), op, self.bs_bytes);
                let phases = self.ops.iter().map(phase).collect();
                return ChildJob::new(dir.path(), self.dataset.clone(), phases).samples();
            }
            let printed = self.reference.run(&self.reference_args, dir.path())?;
            self.ops.iter().map(|(_, name)| printed.sample(name)).collect()
        })
    }
}
