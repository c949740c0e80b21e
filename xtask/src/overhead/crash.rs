//! How many crash states a second two guests, or the kernel of this machine, look at, with and
//! without the check of the file system, and how long a thousand power cuts take.
//!
//! The figures are real times, which depend on the machine; they are judged all the same, because
//! they are what a user waits for.

use super::guests::{NO_KERNEL, kernel};
use super::options::{Options, Section, Verdict};
use anyhow::Result;
use fsarena_model::contender::FsLevel;
use fsarena_places::crash_run::{CrashGuests, CrashOrder, CrashPlace, PointsOrder, crash_run};
use fsarena_places::disk::DiskOrder;
use fsarena_places::guest::{GuestOptions, Program};
use fsarena_safety::oracle::Oracle;
use fsarena_safety::promise::Promises;
use fsarena_safety::state::Class;
use fsarena_safety::workload::Kind;
use std::time::Instant;

pub(super) const SECTION: Section = Section { name: "safety", judged, run };

const SECOND_NS: u64 = 1_000_000_000;
const MODEL: &str = "hdd-2007";
const SIZE_BYTES: u64 = 8 << 30;
const WORK_NS: u64 = 120 * SECOND_NS;
/// As in the runs of users.
const PREFILL_BYTES: u64 = 64 << 20;
/// Guests at one time.
const GUESTS: usize = 2;
/// File system, and the least states a second without its check: in guests, and natively.
const FILE_SYSTEMS: [(&str, f64, f64); 3] =
    [("ext4", 350.0, 130.0), ("xfs", 85.0, 45.0), ("btrfs", 85.0, 75.0)];
/// Natively the work takes its own time.
const NATIVE_WORK_NS: u64 = 30 * SECOND_NS;
/// Runs of the thousand power cuts, and the most that all may take.
const RUNS: u32 = 10;
const THOUSAND_MOST_S: f64 = 60.0;

fn judged(options: &Options) -> bool {
    !options.smoke
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let Some(kernel) = kernel() else {
        verdict.not_run("crash states", NO_KERNEL);
        return Ok(verdict);
    };
    println!("guest kernel {} ({})", kernel.identity.level(), kernel.identity.config);
    let base = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
    let program = Program::this(base.path())?;
    let guests = GuestOptions::new(&kernel.binary);
    let place =
        CrashPlace::Guests(CrashGuests { options: &guests, program: &program, at_once: GUESTS });
    let bench = Bench { place, work_ns: WORK_NS };
    let (many, cuts) = if options.smoke { (16, 2) } else { (400, 100) };
    println!("a mail spool of some 100 files on {MODEL}, {GUESTS} guests: states a second");
    for (fs, least, _) in FILE_SYSTEMS {
        bench.show_rate((fs, least), many, &mut verdict)?;
    }
    match native_lacks() {
        Some(why) => verdict.not_run("crash states under the kernel of this machine", why),
        None => {
            println!("the same under the kernel of this machine: states a second");
            let place = CrashPlace::Native { scratch_dir: base.path() };
            let native = Bench { place, work_ns: NATIVE_WORK_NS };
            for (fs, _, least) in FILE_SYSTEMS {
                native.show_rate((fs, least), many, &mut verdict)?;
            }
        }
    }
    let began = Instant::now();
    let lost = bench.contract_broken(&FsLevel::plain("ext4"), cuts)?;
    let elapsed_s = began.elapsed().as_secs_f64();
    let all = cuts * RUNS;
    let words = if elapsed_s > THOUSAND_MOST_S { "MISSES" } else { "meets" };
    println!(
        "  {all} power cuts of ext4 in {RUNS} runs, checked: {elapsed_s:.1} s  {words} \
         {THOUSAND_MOST_S:.0} s; {lost} broke a promise of fsync"
    );
    if elapsed_s > THOUSAND_MOST_S {
        verdict.missed.push(format!("a thousand power cuts take {elapsed_s:.0} s"));
    }
    if lost > 0 {
        verdict.missed.push(format!("{lost} crash states broke a promise of fsync"));
    }
    Ok(verdict)
}

fn lacking(fs: &str) -> Option<&'static str> {
    let mut programs = fsarena_executor::crash::check_programs(fs);
    programs.find(|program| fsarena_process::cmd::find(program).is_none())
}

/// The process that mounts crash states under the kernel of this machine; whether it ended well.
pub(crate) fn mount_crash_states(is_inside: bool) -> Result<bool> {
    use fsarena_executor::crash::{crash_executor_inside, crash_executor_outside};
    if is_inside {
        crash_executor_inside()?;
        return Ok(true);
    }
    Ok(crash_executor_outside(&std::env::current_exe()?)?.success())
}

fn native_lacks() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return Some("making and mounting file systems needs root");
    }
    let has = |node: &&str| !std::path::Path::new(node).exists();
    ["/dev/fuse", "/dev/loop-control"].iter().find(|node| has(node)).map(|_| "FUSE or loop missing")
}

struct Bench<'a> {
    place: CrashPlace<'a>,
    work_ns: u64,
}

impl<'a> Bench<'a> {
    fn order(&self, fs: &'a FsLevel, seed: u64, points: u32, has_fsck: bool) -> CrashOrder<'a> {
        CrashOrder {
            fs,
            disk: DiskOrder { model: MODEL, size_bytes: SIZE_BYTES, store_dir: None },
            place: self.place,
            kind: Kind::MailSpool,
            seed,
            duration_ns: self.work_ns,
            prefill_bytes: PREFILL_BYTES,
            points: PointsOrder::Uniform { points, classes: vec![Class::Prefix] },
            recovery_every: 0,
            lose_flush: None,
            has_fsck,
        }
    }

    /// Prints and judges a file system.
    fn show_rate(
        &self,
        (fs, least): (&'a str, f64),
        many: u32,
        verdict: &mut Verdict,
    ) -> Result<()> {
        if let Some(lacking) = lacking(fs) {
            verdict.not_run(fs, &format!("{lacking} is not installed"));
            return Ok(());
        }
        let level = FsLevel::plain(fs);
        let [bare, checked] =
            [false, true].map(|has_fsck| self.states_per_s(&level, many, has_fsck));
        let (bare, checked) = (bare?, checked?);
        let words = if bare < least { "MISSES" } else { "meets" };
        println!("  {fs:6} {bare:7.0} /s  {words} {least:.0} /s   with its check {checked:5.0} /s");
        if bare < least {
            verdict.missed.push(format!("{fs}: {bare:.0} crash states a second"));
        }
        Ok(())
    }

    /// Different states a second, without the time of the work.
    fn states_per_s(&self, fs: &'a FsLevel, points: u32, has_fsck: bool) -> Result<f64> {
        let ran = crash_run(&self.order(fs, 1, points, has_fsck), &|| false)?;
        Ok(ran.different() as f64 / ran.looks_took.as_secs_f64().max(1e-3))
    }

    /// Power cuts after which acknowledged work was gone, of so many in each of the runs.
    fn contract_broken(&self, fs: &'a FsLevel, cuts: u32) -> Result<u64> {
        let mut broken = 0;
        for seed in 1..=u64::from(RUNS) {
            let ran = crash_run(&self.order(fs, seed, cuts, true), &|| false)?;
            let oracle = Oracle::new(&ran.work.ops, seed, Promises::documented(&fs.name, &[]))?;
            let findings = ran.observed().map(|(state, seen)| oracle.judge(state, seen));
            broken += findings.filter(|found| found.breaks_the_contract()).count() as u64;
        }
        Ok(broken)
    }
}
