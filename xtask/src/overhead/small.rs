//! One thread of small files against a bare loop of system calls, on tmpfs.

use super::child_job::ChildJob;
use super::options::{JUDGED_FILES, MIB, Options, Section, Verdict};
use super::pairs::{Pace, Pairs, Side, stage};
use super::reference::Reference;
use super::table::{Centre, Compared, Comparison};
use anyhow::{Context as _, Result};
use fsarena_metrics::{KernelRoots, Sampler, Sources, Watch};
use fsarena_model::work::{Dataset, Op, Phase};
use std::time::Duration;

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
    let share = measure_sampler(if judged { 10 } else { 1 })?;
    if share >= SHARE_MAX {
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

/// Largest share of one CPU at [`PERIOD`].
const SHARE_MAX: f64 = 0.005;
const PERIOD: Duration = Duration::from_millis(100);

/// Samples for `seconds` with everything there is to read for a process on this machine, prints the
/// cost, and returns the share of one CPU.
fn measure_sampler(seconds: u64) -> Result<f64> {
    let device = std::fs::read_dir("/sys/block").ok().and_then(|mut list| list.next()?.ok());
    let watch = Watch {
        devices: device
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .into_iter()
            .collect(),
        worker_pid: Some(std::process::id()),
        network: true,
        ..Watch::default()
    };
    let sources = Sources::open(&KernelRoots::default(), &watch)?;
    let period_ns = u64::try_from(PERIOD.as_nanos()).context("the period")?;
    let sampler = Sampler::start(sources, period_ns)?;
    std::thread::sleep(Duration::from_secs(seconds));
    let (_, cost) = sampler.stop()?;
    let share = cost.share().context("the sampler ran for no time")?;
    println!(
        "sampler at {} ms: {} samples in {seconds} s, {:.0} µs each, {:.3} % of one CPU \
         (at most {} %), {} deadlines missed",
        PERIOD.as_millis(),
        cost.samples,
        cost.cpu_ns as f64 / cost.samples.max(1) as f64 / 1e3,
        share * 100.0,
        SHARE_MAX * 100.0,
        cost.missed_deadlines
    );
    Ok(share)
}
