//! Interleaved pairs: one run of the worker's code and one of the reference, each in a process of
//! its own, in a fresh directory, after the memory was warmed.
//!
//! On a machine that others use too, pairs during which other programs were busy are set apart.
//! That is decided from their processor time alone, before anybody has seen the pair's result.

use super::{BIG, Compared, DIRS, FIGURES, FILE_BYTES, MIB, Options};
use anyhow::{Context as _, Result, bail, ensure};
use fsarena_engine::buffer::warm_memory;
use fsarena_model::seed::Seed;
use fsarena_model::work::WorkerReport;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Memory touched before each run, so that no run meets pages the host took back.
const WARM_BYTES: u64 = 500 * MIB;
/// `TMPFS_MAGIC` of linux/magic.h.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// One op of one run on one side.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) ns_per_op: f64,
    /// User and system time.
    pub(super) cpu_ns_per_op: f64,
}

/// A pair of runs: for each compared op, ours and the reference's.
pub(super) type Pair = Vec<(Sample, Sample)>;

/// What the two sides of a pair are told to do.
struct Sides {
    compared: &'static [Compared],
    reference_args: String,
    child_args: String,
    warm_bytes: u64,
}

/// Processor time used up to a moment, in ticks.
struct Processors {
    at: Instant,
    /// All programs.
    all: u64,
    /// This one and its children that have ended.
    own: u64,
}

impl Processors {
    fn now() -> Result<Self> {
        let stat = std::fs::read_to_string("/proc/stat")?;
        let own = std::fs::read_to_string("/proc/self/stat")?;
        let fields = |text: &str, skip: usize, take: usize| -> u64 {
            let fields = text.split_ascii_whitespace().skip(skip).take(take);
            fields.filter_map(|field| field.parse::<u64>().ok()).sum()
        };
        // proc_stat(5): "cpu user nice system idle iowait irq softirq steal"; idle and iowait are
        // no use. proc_pid_stat(5): after the name in brackets, utime stime cutime cstime are
        // fields 14 to 17.
        let first = stat.lines().next().unwrap_or_default();
        let after_name = own.rsplit_once(')').map_or("", |(_, after)| after);
        Ok(Self {
            at: Instant::now(),
            all: fields(first, 1, 3) + fields(first, 6, 3),
            own: fields(after_name, 11, 4),
        })
    }

    /// Processors that other programs kept busy since `before`.
    fn foreign_since(&self, before: &Self) -> f64 {
        let ticks = (self.all - before.all).saturating_sub(self.own - before.own);
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        ticks as f64 / per_second / (self.at - before.at).as_secs_f64()
    }
}

/// All pairs of a comparison.
#[derive(Default)]
pub(super) struct Pairs {
    /// Those during which other programs were quiet.
    pub(super) quiet: Vec<Pair>,
    /// The others.
    pub(super) disturbed: Vec<Pair>,
}

/// Everything that pairs need.
pub(super) struct Bench<'a> {
    options: &'a Options,
    /// Holds the compiled reference; removed at the end.
    _build: tempfile::TempDir,
    reference: PathBuf,
}

impl<'a> Bench<'a> {
    pub(super) fn new(options: &'a Options) -> Result<Self> {
        let place = rustix::fs::statfs(&options.dir)
            .with_context(|| format!("--dir {}: choose a directory", options.dir.display()))?;
        #[allow(clippy::unnecessary_cast, reason = "f_type differs between architectures")]
        let on_tmpfs = place.f_type as i64 == TMPFS_MAGIC;
        ensure!(on_tmpfs, "--dir {}: not a tmpfs; choose one", options.dir.display());
        let build = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
        let reference = build.path().join("reference");
        let status = Command::new("cc")
            .arg("-O2")
            .arg("-o")
            .args([&reference, &options.reference])
            .status()
            .context("cc: install a C compiler")?;
        check(status, "cc -O2")?;
        Ok(Self { options, _build: build, reference })
    }

    pub(super) fn small_pairs(&self) -> Result<Pairs> {
        let files = self.options.files;
        let side = Sides {
            compared: &FIGURES,
            reference_args: format!("-n {files} -s {FILE_BYTES} -d {DIRS} -p mcrsud"),
            child_args: format!("small {files}"),
            warm_bytes: WARM_BYTES,
        };
        self.pairs(self.options.pairs, &side)
    }

    pub(super) fn big_pairs(&self) -> Result<Pairs> {
        let mib = self.options.big_mib;
        let side = Sides {
            compared: &BIG,
            reference_args: format!("-n 1 -d 0 -b {mib} -k 1024 -p wbx"),
            child_args: format!("big {mib}"),
            warm_bytes: WARM_BYTES + mib * MIB,
        };
        self.pairs(self.options.big_pairs, &side)
    }

    /// Runs pairs, each in its own random order, until `wanted` of them were undisturbed. Whether
    /// one was is decided by the processor time of other programs alone, never by its result.
    fn pairs(&self, wanted: u32, sides: &Sides) -> Result<Pairs> {
        let mut all = Pairs::default();
        let mut coin = Seed::from_number(u64::from(wanted)).child("pairs", 0).rng();
        let begun = Instant::now();
        let judged = self.options.judged();
        while all.quiet.len() < wanted as usize {
            let done = all.quiet.len() + all.disturbed.len();
            let over = !judged || begun.elapsed() > self.options.patience;
            if over && done >= wanted as usize {
                break;
            }
            if !over && !self.quiet_now()? {
                continue;
            }
            let before = Processors::now()?;
            let pair = self.pair(coin.below(2) == 0, sides)?;
            let foreign = Processors::now()?.foreign_since(&before);
            let quiet = foreign <= self.options.foreign;
            if quiet { &mut all.quiet } else { &mut all.disturbed }.push(pair);
            eprint!(
                "\r{} of {wanted} pairs, {} disturbed (last: {foreign:.2} processors)  ",
                all.quiet.len(),
                all.disturbed.len()
            );
        }
        eprintln!();
        Ok(all)
    }

    /// Looks for a moment whether other programs let a pair begin. What this pause does to idle
    /// memory is undone by the warming before each run.
    fn quiet_now(&self) -> Result<bool> {
        let before = Processors::now()?;
        std::thread::sleep(Duration::from_millis(250));
        Ok(Processors::now()?.foreign_since(&before) <= self.options.foreign)
    }

    fn pair(&self, ours_first: bool, sides: &Sides) -> Result<Pair> {
        let mut ours = Vec::new();
        let mut reference = Vec::new();
        for our_turn in [ours_first, !ours_first] {
            if our_turn {
                ours = self.ours(sides)?;
            } else {
                reference = self.reference(sides)?;
            }
        }
        Ok(ours.into_iter().zip(reference).collect())
    }

    /// A fresh directory, and memory that was just touched.
    fn stage(&self, warm_bytes: u64) -> Result<tempfile::TempDir> {
        let dir =
            tempfile::Builder::new().prefix("fsarena-overhead-").tempdir_in(&self.options.dir)?;
        warm_memory(warm_bytes).with_context(|| format!("touching {warm_bytes} bytes"))?;
        Ok(dir)
    }

    /// One run of the worker's code, in a process of its own.
    fn ours(&self, sides: &Sides) -> Result<Vec<Sample>> {
        let dir = self.stage(sides.warm_bytes)?;
        let output = Command::new(std::env::current_exe()?)
            .args(["overhead", "--child"])
            .args(sides.child_args.split(' '))
            .arg(dir.path())
            .output()?;
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        check(output.status, "the child")?;
        let reports: Vec<WorkerReport> =
            serde_json::from_slice(&output.stdout).context("the child's reports")?;
        ensure!(reports.len() == sides.compared.len(), "the child reports other phases");
        reports.iter().map(sample_of_report).collect()
    }

    /// One run of the reference.
    fn reference(&self, sides: &Sides) -> Result<Vec<Sample>> {
        let dir = self.stage(sides.warm_bytes)?;
        let output = Command::new(&self.reference)
            .args(sides.reference_args.split(' '))
            .arg(dir.path())
            .output()?;
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        check(output.status, "the reference")?;
        let text = String::from_utf8(output.stdout).context("the reference's output")?;
        let compared = sides.compared.iter();
        compared.map(|compared| sample_of_reference(&text, compared.reference)).collect()
    }
}

fn check(status: ExitStatus, what: &str) -> Result<()> {
    ensure!(status.success(), "{what} failed: {status}");
    Ok(())
}

fn sample_of_report(report: &WorkerReport) -> Result<Sample> {
    if let Some(error) = &report.error {
        bail!("{} {}: {}", error.call, error.path, error.text);
    }
    let latencies = report.latency.as_ref().context("the child recorded no latency")?;
    ensure!(latencies.count() == report.ops, "the child recorded not every op's latency");
    let elapsed_ns = report.returned_monotonic_ns - report.start_monotonic_ns;
    let ops = report.ops as f64;
    Ok(Sample {
        ns_per_op: elapsed_ns as f64 / ops,
        cpu_ns_per_op: (report.usage.user_ns + report.usage.system_ns) as f64 / ops,
    })
}

/// Reads the line of `phase`: tag, phase, ops, seconds, ops/s, us/op, user, sys.
fn sample_of_reference(text: &str, phase: &str) -> Result<Sample> {
    let line = text
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .find(|fields| fields.get(1) == Some(&phase))
        .with_context(|| format!("the reference printed no line for {phase}"))?;
    let field = |index: usize| -> Result<f64> {
        let text = line.get(index).with_context(|| format!("{phase}: field {index} is missing"))?;
        text.parse().with_context(|| format!("{phase}: field {index} is {text}"))
    };
    let (ops, seconds) = (field(2)?, field(3)?);
    Ok(Sample {
        ns_per_op: seconds / ops * 1e9,
        cpu_ns_per_op: (field(6)? + field(7)?) / ops * 1e9,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_reference_are_read() {
        let text = "raw\tmkdir\t100\t0.0002\t1\t1\t0\t0\n\
                    raw\tstat\t50000\t0.040000\t1250000.0\t0.800\t0.008\t0.032\n";
        let sample = sample_of_reference(text, "stat").unwrap();
        assert!((sample.ns_per_op - 800.0).abs() < 1e-6);
        assert!((sample.cpu_ns_per_op - 800.0).abs() < 1e-6);
        assert!(sample_of_reference(text, "read").is_err());
    }
}
