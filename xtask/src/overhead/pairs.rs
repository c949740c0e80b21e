//! Interleaved pairs: one run of our side and one of the other, in random order.
//!
//! On a machine that others use too, pairs during which other programs were busy are set apart.
//! That is decided from their processor time alone, before anybody has seen the pair's result.

use super::options::{MIB, Options};
use anyhow::{Context as _, Result, ensure};
use fsarena_engine::buffer::warm_memory;
use fsarena_model::seed::Seed;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Memory touched before each run, so that no run meets pages the host took back.
const WARM_BYTES: u64 = 500 * MIB;
/// `TMPFS_MAGIC` of linux/magic.h.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// Whether somebody wants this task to end.
static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on a signal ends the task between two runs, so that what it made is put away. A child
/// that runs gets the signal of a terminal too, and its failure ends the task at once.
///
/// # Errors
/// When the signals cannot be taken.
pub(super) fn heed_signals() -> Result<()> {
    let stop = STOP.get_or_init(Arc::default);
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(stop))?;
    }
    Ok(())
}

/// One op of one run on one side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) ns_per_op: f64,
    /// User and system time.
    pub(super) cpu_ns_per_op: f64,
}

/// A pair of runs: for each compared op, ours and the other side's.
pub(super) type Pair = Vec<(Sample, Sample)>;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Other,
}

/// Processor time used up to a moment, in ticks.
struct Processors {
    at: Instant,
    /// All programs.
    all: u64,
    /// This one and its children that have ended.
    own: u64,
    /// Threads of the kernel that work for it.
    helpers: u64,
}

impl Processors {
    /// Looks; `kernel_helps` says that threads of the kernel work for us (a loop device).
    fn now(kernel_helps: bool) -> Result<Self> {
        let stat = std::fs::read_to_string("/proc/stat")?;
        let own = std::fs::read_to_string("/proc/self/stat")?;
        let helpers = if kernel_helps { kernel_ticks(Path::new("/proc"))? } else { 0 };
        Ok(Self { at: Instant::now(), all: all_ticks(&stat), own: own_ticks(&own), helpers })
    }

    /// Processors that other programs kept busy since `before`.
    fn foreign_since(&self, before: &Self) -> f64 {
        // A thread of the kernel that has ended takes its time with it.
        let helpers = self.helpers.saturating_sub(before.helpers);
        let ticks = (self.all - before.all).saturating_sub(self.own - before.own + helpers);
        let per_second = rustix::param::clock_ticks_per_second() as f64;
        ticks as f64 / per_second / (self.at - before.at).as_secs_f64()
    }
}

/// Sum of `take` numbers after the first `skip` words.
fn sum_of(text: &str, skip: usize, take: usize) -> u64 {
    let fields = text.split_ascii_whitespace().skip(skip).take(take);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// proc_stat(5): "cpu user nice system idle iowait irq softirq steal"; idle and iowait are no use.
fn all_ticks(stat: &str) -> u64 {
    let first = stat.lines().next().unwrap_or_default();
    sum_of(first, 1, 3) + sum_of(first, 6, 3)
}

/// proc_pid_stat(5): after the name in brackets, utime stime cutime cstime are fields 14 to 17.
fn own_ticks(stat: &str) -> u64 {
    stat.rsplit_once(')').map_or(0, |(_, after)| sum_of(after, 11, 4))
}

/// Ticks of all threads of the kernel: the children of process 2.
fn kernel_ticks(proc: &Path) -> Result<u64> {
    let mut ticks = 0;
    for entry in std::fs::read_dir(proc)?.flatten() {
        // One that has ended meanwhile is no longer there, as is everything that is no process.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(')').map_or("", |(_, after)| after);
        if after_name.split_ascii_whitespace().nth(1) == Some("2") {
            ticks += sum_of(after_name, 11, 2);
        }
    }
    Ok(ticks)
}

/// All pairs of a comparison.
#[derive(Default)]
pub(super) struct Pairs {
    /// Those during which other programs were quiet.
    pub(super) quiet: Vec<Pair>,
    pub(super) disturbed: Vec<Pair>,
}

/// How long a comparison goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    wanted: u32,
    /// Processors that other programs may keep busy meanwhile.
    foreign: f64,
    /// How long undisturbed pairs are waited for; nothing where they are not judged.
    patience: Duration,
    /// Whether threads of the kernel do a part of both sides' work.
    kernel_helps: bool,
}

impl Pace {
    /// `wanted` pairs, which are waited for if the figures are to be judged.
    pub(super) fn new(options: &Options, wanted: u32, judged: bool) -> Self {
        let patience = Duration::from_secs(if judged { options.patience } else { 0 });
        Self { wanted, foreign: options.foreign, patience, kernel_helps: false }
    }

    /// The same, where threads of the kernel do a part of both sides' work.
    pub(super) fn with_kernel_help(self) -> Self {
        Self { kernel_helps: true, ..self }
    }

    /// Runs pairs, each in its own random order, until enough of them were undisturbed. Whether one
    /// was is decided by the processor time of other programs alone, never by its result.
    ///
    /// # Errors
    /// What `run` fails with; a side that reports another number of ops.
    pub(super) fn run(&self, mut run: impl FnMut(Side) -> Result<Vec<Sample>>) -> Result<Pairs> {
        let wanted = self.wanted as usize;
        let mut all = Pairs::default();
        let mut coin = Seed::from_number(u64::from(self.wanted)).child("pairs", 0).rng();
        let begun = Instant::now();
        while all.quiet.len() < wanted {
            let stop = STOP.get().is_some_and(|stop| stop.load(Ordering::Relaxed));
            ensure!(!stop, "stopped by a signal");
            let done = all.quiet.len() + all.disturbed.len();
            let over = begun.elapsed() >= self.patience;
            if over && done >= wanted {
                break;
            }
            if !over && !self.quiet_now()? {
                continue;
            }
            let before = Processors::now(self.kernel_helps)?;
            let pair = one_pair(coin.below(2) == 0, &mut run)?;
            let foreign = Processors::now(self.kernel_helps)?.foreign_since(&before);
            let quiet = foreign <= self.foreign;
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
        let before = Processors::now(self.kernel_helps)?;
        std::thread::sleep(Duration::from_millis(250));
        Ok(Processors::now(self.kernel_helps)?.foreign_since(&before) <= self.foreign)
    }
}

fn one_pair(ours_first: bool, run: &mut impl FnMut(Side) -> Result<Vec<Sample>>) -> Result<Pair> {
    let (ours, other) = if ours_first {
        let ours = run(Side::Ours)?;
        (ours, run(Side::Other)?)
    } else {
        let other = run(Side::Other)?;
        (run(Side::Ours)?, other)
    };
    ensure!(ours.len() == other.len(), "the two sides report different ops");
    Ok(ours.into_iter().zip(other).collect())
}

/// A fresh directory on tmpfs, and memory that was just touched, `more_bytes` beyond the usual.
///
/// # Errors
/// When `--dir` is not on tmpfs or there is too little memory.
pub(super) fn stage(options: &Options, more_bytes: u64) -> Result<tempfile::TempDir> {
    let dir = options.dir.as_path();
    let place = rustix::fs::statfs(dir)
        .with_context(|| format!("--dir {}: choose a directory", dir.display()))?;
    #[allow(clippy::unnecessary_cast, reason = "f_type differs between architectures")]
    let on_tmpfs = place.f_type as i64 == TMPFS_MAGIC;
    ensure!(on_tmpfs, "--dir {}: not a tmpfs; choose one", dir.display());
    let fresh = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir_in(dir)?;
    warm(options, more_bytes)?;
    Ok(fresh)
}

/// Touches memory, `more_bytes` beyond the usual.
///
/// # Errors
/// When there is too little.
pub(super) fn warm(options: &Options, more_bytes: u64) -> Result<()> {
    let warm_bytes = if options.smoke { 0 } else { WARM_BYTES + more_bytes };
    warm_memory(warm_bytes).with_context(|| format!("touching {warm_bytes} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_without_the_idle() {
        assert_eq!(all_ticks("cpu  10 20 30 4000 500 1 2 3 0 0\ncpu0 9 9 9\n"), 66);
        assert_eq!(own_ticks("7 (a) b) S 1 7 7 0 -1 4 1 2 3 4 100 20 3 1 20 0\n"), 124);
        assert_eq!(own_ticks(""), 0);
    }

    #[test]
    fn foreign_load_is_what_was_not_ours() {
        let at = Instant::now();
        let before = Processors { at, all: 1000, own: 100, helpers: 7 };
        let per_second = rustix::param::clock_ticks_per_second();
        let all = 1000 + 2 * per_second;
        let (at, own) = (at + Duration::from_secs(2), 100 + per_second);
        let after = Processors { at, all, own, helpers: 7 };
        assert!((after.foreign_since(&before) - 0.5).abs() < 1e-9);
        let helped = Processors { helpers: 7 + per_second, ..after };
        assert!(helped.foreign_since(&before) < 1e-9);
        let ended = Processors { helpers: 0, ..helped };
        assert!((ended.foreign_since(&before) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn threads_of_the_kernel_are_the_children_of_process_2() {
        let dir = tempfile::tempdir().unwrap();
        for (pid, stat) in [
            ("2", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 9 9 0 0 20 0"),
            ("30", "30 (kworker/u8:1-loop0) I 2 0 0 0 -1 69238880 0 0 0 0 3 40 0 0 20 0"),
            ("99", "99 (bash) S 30 9 9 0 -1 4194304 0 0 0 0 500 500 0 0 20 0"),
        ] {
            std::fs::create_dir(dir.path().join(pid)).unwrap();
            std::fs::write(dir.path().join(pid).join("stat"), stat).unwrap();
        }
        std::fs::create_dir(dir.path().join("sys")).unwrap();
        assert_eq!(kernel_ticks(dir.path()).unwrap(), 43);
    }

    #[test]
    fn each_pair_has_both_sides_in_either_order() {
        let pace = Pace { wanted: 20, foreign: 1e9, patience: Duration::ZERO, kernel_helps: false };
        let mut turns = Vec::new();
        let pairs = pace
            .run(|side| {
                turns.push(side);
                let ns = if side == Side::Ours { 2.0 } else { 3.0 };
                Ok(vec![Sample { ns_per_op: ns, cpu_ns_per_op: ns }])
            })
            .unwrap();
        assert_eq!((pairs.quiet.len(), pairs.disturbed.len(), turns.len()), (20, 0, 40));
        assert!(pairs.quiet.iter().all(|pair| (pair[0].0.ns_per_op - 2.0).abs() < 1e-9));
        assert!(turns.chunks(2).all(|pair| pair[0] != pair[1]));
        let ours_first = turns.chunks(2).filter(|pair| pair[0] == Side::Ours).count();
        assert!((3..=17).contains(&ours_first), "{ours_first} of 20");
    }

    #[test]
    fn disturbed_pairs_end_with_the_patience() {
        let pace = Pace { wanted: 3, foreign: -1.0, patience: Duration::ZERO, kernel_helps: false };
        let sample = Sample { ns_per_op: 1.0, cpu_ns_per_op: 1.0 };
        let pairs = pace.run(|_| Ok(vec![sample])).unwrap();
        assert_eq!((pairs.quiet.len(), pairs.disturbed.len()), (0, 3));
        let mut more = 0;
        let uneven = pace.run(|_| {
            more += 1;
            Ok(vec![sample; more])
        });
        assert!(uneven.is_err());
    }
}
