//! What the harness costs: fsarena's worker against a bare loop of system calls, in interleaved
//! pairs on tmpfs.
//!
//! `cargo xtask overhead --reference rawloop.c` compiles the loop, runs both in processes of their
//! own with fresh directories and warmed memory, in random order within each pair, and compares
//! operations per second by the Hodges-Lehmann ratio. It fails when a figure is missed. The
//! reference's path is always given by whoever runs this. It is a benchmark and no timed test:
//! fewer pairs or files than the figures ask for run it without judging.

mod pairs;
mod sampler;
mod table;

use anyhow::{Context as _, Result, bail, ensure};
use fsarena_engine::{Root, run_phase};
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, Op, Order, Phase};
use pairs::Bench;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use table::{print_instrument, print_pairs};

const USAGE: &str = "\
usage: cargo xtask overhead --reference rawloop.c [--dir DIR] [--pairs N] [--files N]
                            [--big-mib N] [--big-pairs N]

  --reference PATH  source of the bare loop, compiled with cc -O2; or env FSARENA_RAWLOOP
  --dir DIR         a directory on tmpfs [/dev/shm]
  --pairs N         interleaved pairs; judged from 21 [101]
  --files N         files of 256 B in 100 directories; judged from 50000 [50000]
  --big-mib N       size of the big file, for information; 0: none [500]
  --big-pairs N     pairs of the big file [5]
  --foreign SHARE   a pair counts when other programs took at most this share of one processor
                    meanwhile; a large number: any pair counts [0.3]
  --patience SEC    how long to go on for enough such pairs [900]";

const FILE_BYTES: u64 = 256;
const DIRS: u64 = 100;
const JUDGED_PAIRS: u32 = 21;
const JUDGED_FILES: u64 = 50_000;
const MIB: u64 = 1 << 20;
const SMALL_BLOCK_BYTES: u64 = 4096;

/// An op that both sides do.
struct Compared {
    op: Op,
    /// Name in the reference's output.
    reference: &'static str,
    /// Smallest ratio of ops per second (ours to the reference).
    ratio: f64,
    /// Smallest lower end of its 95 % interval.
    low: f64,
}

/// The figures, in the order of the run.
const FIGURES: [Compared; 4] = [
    Compared { op: Op::Create, reference: "create", ratio: 0.97, low: 0.95 },
    Compared { op: Op::Read, reference: "read", ratio: 0.97, low: 0.95 },
    Compared { op: Op::Stat, reference: "stat", ratio: 0.95, low: 0.0 },
    Compared { op: Op::Delete, reference: "unlink", ratio: 0.97, low: 0.95 },
];

/// The big file: shown, not judged.
const BIG: [Compared; 2] = [
    Compared { op: Op::BigWrite, reference: "bigwrite_MBps", ratio: 0.0, low: 0.0 },
    Compared { op: Op::BigRead, reference: "bigread_MBps", ratio: 0.0, low: 0.0 },
];

/// Runs the comparison, or one side of it in a child process (`--child`).
///
/// # Errors
/// Wrong arguments, a reference that cannot be built or run, or a figure that is missed.
pub fn run(args: &[String]) -> Result<()> {
    if let [flag, rest @ ..] = args
        && flag == "--child"
    {
        return child(rest);
    }
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{USAGE}");
        return Ok(());
    }
    let options = Options::parse(args, std::env::var_os("FSARENA_RAWLOOP").map(PathBuf::from))?;
    if options.judged() && cfg!(debug_assertions) {
        return in_release(args);
    }
    match rustix::process::setpriority_process(None, -20) {
        Ok(()) => println!("both sides run at nice -20, so that other work disturbs less"),
        Err(error) => println!("both sides run at the usual priority (nice -20: {error})"),
    }
    print_instrument(options.files)?;
    let share = sampler::measure(if options.judged() { 10 } else { 1 })?;
    let bench = Bench::new(&options)?;
    let small = bench.small_pairs()?;
    let title = format!("{} files of {FILE_BYTES} B", options.files);
    let mut missed = print_pairs(&title, &FIGURES, &small)?;
    if share >= sampler::SHARE_MAX {
        missed.push("sampler".to_owned());
    }
    if options.big_mib > 0 && options.big_pairs > 0 {
        let big = bench.big_pairs()?;
        let title =
            format!("one file of {} MiB in calls of 1 MiB, for information", options.big_mib);
        print_pairs(&title, &BIG, &big)?;
    }
    if !options.judged() {
        println!(
            "not judged: the figures are for {JUDGED_PAIRS} or more pairs of {JUDGED_FILES} files"
        );
        return Ok(());
    }
    ensure!(
        small.quiet.len() >= JUDGED_PAIRS as usize,
        "only {} pairs were undisturbed and {JUDGED_PAIRS} are needed: run it when the machine is \
         quiet, or with more --patience, or a larger --foreign and more --pairs",
        small.quiet.len()
    );
    ensure!(missed.is_empty(), "figures missed: {}", missed.join(", "));
    println!("all figures met");
    Ok(())
}

/// The command line.
struct Options {
    reference: PathBuf,
    dir: PathBuf,
    pairs: u32,
    files: u64,
    big_mib: u64,
    big_pairs: u32,
    foreign: f64,
    patience: Duration,
}

impl Options {
    fn parse(args: &[String], from_env: Option<PathBuf>) -> Result<Self> {
        let mut reference = from_env;
        let mut options = Self {
            reference: PathBuf::new(),
            dir: PathBuf::from("/dev/shm"),
            pairs: 101,
            files: JUDGED_FILES,
            big_mib: 500,
            big_pairs: 5,
            foreign: 0.3,
            patience: Duration::from_secs(900),
        };
        let mut args = args.iter();
        while let Some(flag) = args.next() {
            let value =
                args.next().with_context(|| format!("{flag}: give a value\n{USAGE}"))?.as_str();
            let number = || value.parse::<u64>().with_context(|| format!("{flag} {value}"));
            match flag.as_str() {
                "--reference" => reference = Some(PathBuf::from(value)),
                "--dir" => options.dir = PathBuf::from(value),
                "--pairs" => options.pairs = u32::try_from(number()?)?.max(1),
                "--files" => options.files = number()?.max(1),
                "--big-mib" => options.big_mib = number()?,
                "--big-pairs" => options.big_pairs = u32::try_from(number()?)?,
                "--foreign" => options.foreign = value.parse().context("--foreign")?,
                "--patience" => options.patience = Duration::from_secs(number()?),
                other => bail!("unknown option {other}\n{USAGE}"),
            }
        }
        options.reference = reference.with_context(|| {
            format!("no reference loop: give --reference PATH or set FSARENA_RAWLOOP\n{USAGE}")
        })?;
        Ok(options)
    }

    fn judged(&self) -> bool {
        self.pairs >= JUDGED_PAIRS && self.files >= JUDGED_FILES
    }
}

/// Figures are for optimised code: builds this task in release and runs that.
fn in_release(args: &[String]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--package", "xtask", "--", "overhead"])
        .args(args)
        .status()
        .context("cargo run --release --package xtask")?;
    ensure!(status.success(), "overhead in release: {status}");
    Ok(())
}

/// `--child small FILES DIR` or `--child big MIB DIR`: our side of a run.
fn child(args: &[String]) -> Result<()> {
    let [kind, number, dir] = args else { bail!("--child is for this task's own use") };
    let number: u64 = number.parse()?;
    let (dataset, bs_bytes, compared) = match kind.as_str() {
        "small" => {
            let dataset = Dataset { files: number, size_bytes: FILE_BYTES, dirs: DIRS };
            (dataset, SMALL_BLOCK_BYTES, &FIGURES[..])
        }
        "big" => (Dataset { files: 1, size_bytes: number * MIB, dirs: 0 }, MIB, &BIG[..]),
        other => bail!("--child {other}: unknown"),
    };
    let root = Root::enter(Path::new(dir))?;
    let seed = Seed::from_number(number);
    let mut reports = Vec::new();
    for Compared { op, .. } in compared {
        let phase = phase(*op, bs_bytes);
        reports.push(run_phase(&root, &dataset, &phase, seed, seed, true)?);
    }
    println!("{}", serde_json::to_string(&reports)?);
    Ok(())
}

fn phase(op: Op, bs_bytes: u64) -> Phase {
    Phase { name: op.name().to_owned(), op, order: Order::Sequential, bs_bytes, timed: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(args: &[&str], env: Option<&str>) -> Result<Options> {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        Options::parse(&args, env.map(PathBuf::from))
    }

    #[test]
    fn the_reference_is_given_by_path_or_environment() {
        let missing = options(&[], None).map(|_| ()).unwrap_err();
        assert!(missing.to_string().contains("FSARENA_RAWLOOP"), "{missing}");
        assert_eq!(options(&[], Some("a.c")).unwrap().reference, Path::new("a.c"));
        let given = options(&["--reference", "b.c", "--pairs", "30"], Some("a.c")).unwrap();
        assert_eq!((given.reference.as_path(), given.pairs), (Path::new("b.c"), 30));
        assert!(given.judged());
        assert!(!options(&["--files", "2000"], Some("a.c")).unwrap().judged());
        assert!(!options(&["--pairs", "3"], Some("a.c")).unwrap().judged());
        assert!(options(&["--pairs"], Some("a.c")).is_err());
        assert!(options(&["--pears", "3"], Some("a.c")).is_err());
    }
}
