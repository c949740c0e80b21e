//! How many crash states a second two guests, or the kernel of this machine, look at, with and
//! without the check of the file system, and how long a thousand power cuts take.
//!
//! The figures are real times, which depend on the machine; they are judged all the same, because
//! they are what a user waits for.

use super::guests::{NO_KERNEL, kernel};
use super::options::{Options, Section, Verdict};
use anyhow::{Context as _, Result};
use fsarena_crash::crash_workload::CrashWorkload;
use fsarena_crash::oracle::Oracle;
use fsarena_crash::state::Class;
use fsarena_crash::workload::Kind;
use fsarena_crash_runs::crash_run::{
    CrashGuests, CrashOrder, CrashPlace, CrashRunError, PointsOrder, TIMED_STATES, crash_run,
};
use fsarena_disk_server::DiskOrder;
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_model::contender::FsLevel;
use fsarena_model::units::Bytes;
use fsarena_process::program::TrustedProgram;
use std::time::Instant;

pub(super) const SECTION: Section = Section { name: "crash", judged, run };

const SECOND_NS: u64 = 1_000_000_000;
const MODEL: &str = "hdd-2007";
/// Disk, and files that are made before the work, of users.
const USERS: Extent = Extent { size_bytes: 8 << 30, prefill_bytes: 64 << 20 };
const WORK_NS: u64 = 120 * SECOND_NS;
/// Guests at one time.
const GUESTS: usize = 2;
/// Of a small disk, on which the least is asked for: on a larger one mkfs makes a larger journal
/// and more groups, and recovery and check read more.
const fn small(mib: u64) -> Extent {
    Extent { size_bytes: mib << 20, prefill_bytes: 8 << 20 }
}

/// File system, its small disk, and the least states a second on it without its check: in guests,
/// and natively.
const FILE_SYSTEMS: [(&str, Extent, f64, f64); 3] = [
    ("ext4", small(128), 350.0, 130.0),
    ("xfs", small(320), 85.0, 45.0),
    ("btrfs", small(1024), 85.0, 75.0),
];

#[derive(Clone, Copy)]
struct Extent {
    size_bytes: u64,
    prefill_bytes: u64,
}
/// Power cuts without the check of the file system, nor the time of recovery on the modelled disk,
/// and with both.
const POINTS: [u32; 2] = [1000, 400];
/// Natively the work takes its own time.
const NATIVE_WORK_NS: u64 = 25 * SECOND_NS;
const NATIVE_SMOKE_NS: u64 = 2 * SECOND_NS;
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
    let kind = Kind::from_name("mail-spool").context("there is no workload mail-spool")?;
    let workload = &CrashWorkload::Kind(kind);
    let bench = Bench { place, workload, work_ns: WORK_NS };
    let (many, cuts) = if options.smoke { ([16, 16], 2) } else { (POINTS, 100) };
    println!("a mail spool of some 100 files on {MODEL}, {GUESTS} guests: states a second");
    for (fs, disk, least, _) in FILE_SYSTEMS {
        bench.show_rate((fs, disk, Some(least)), many, &mut verdict)?;
        if !options.smoke {
            bench.show_rate((fs, USERS, None), many, &mut verdict)?;
        }
    }
    match native_lacks() {
        Some(why) => verdict.not_run("crash states under the kernel of this machine", why),
        None => {
            println!("the same under the kernel of this machine: states a second");
            let place = CrashPlace::Native { scratch_dir: base.path() };
            let (work_ns, file_systems) = match options.smoke {
                true => (NATIVE_SMOKE_NS, &FILE_SYSTEMS[..1]),
                false => (NATIVE_WORK_NS, &FILE_SYSTEMS[..]),
            };
            let native = Bench { place, workload, work_ns };
            for (fs, disk, _, least) in file_systems {
                let (fs, disk, least) = (*fs, *disk, *least);
                native.show_rate((fs, disk, Some(least)), many, &mut verdict)?;
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
    Ok(crash_executor_outside(&TrustedProgram::own())?.success())
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
    workload: &'a CrashWorkload,
    work_ns: u64,
}

impl<'a> Bench<'a> {
    fn order(
        &self,
        (fs, disk): (&'a FsLevel, Extent),
        seed: u64,
        points: u32,
        is_checked: bool,
    ) -> CrashOrder<'a> {
        CrashOrder {
            fs,
            disk: DiskOrder { model: MODEL, size_bytes: disk.size_bytes, store_dir: None },
            place: self.place,
            workload: self.workload,
            seed,
            duration_ns: self.work_ns,
            prefill_bytes: disk.prefill_bytes,
            points: PointsOrder::Uniform { points, classes: vec![Class::Prefix] },
            recovery_every: 0,
            lose_flush: None,
            has_fsck: is_checked,
            timed_states: if is_checked { TIMED_STATES } else { 0 },
        }
    }

    /// Prints and judges a file system.
    fn show_rate(
        &self,
        (fs, disk, least): (&'a str, Extent, Option<f64>),
        many: [u32; 2],
        verdict: &mut Verdict,
    ) -> Result<()> {
        if let Some(lacking) = lacking(fs) {
            verdict.not_run(fs, &format!("{lacking} is not installed"));
            return Ok(());
        }
        let level = FsLevel::plain(fs);
        let rate = |points, is_checked| self.states_per_s((&level, disk), points, is_checked);
        let [bare, checked] = many;
        let rates = rate(bare, false).and_then(|bare| Ok((bare, rate(checked, true)?)));
        let (bare, checked) = match rates {
            Err(error) if error.is_faster_than_native() => {
                verdict.not_run(fs, &error.to_string());
                return Ok(());
            }
            rates => rates?,
        };
        let is_missed = least.is_some_and(|least| bare < least);
        let words = match least {
            Some(least) if is_missed => format!("MISSES {least:.0} /s"),
            Some(least) => format!("meets {least:.0} /s"),
            None => String::new(),
        };
        let size = Bytes(disk.size_bytes).to_string();
        println!("  {fs:6} {size:>8} {bare:6.0} /s  {words:14} with its check {checked:5.0} /s");
        if is_missed {
            verdict.missed.push(format!("{fs}: {bare:.0} crash states a second"));
        }
        Ok(())
    }

    /// Different states a second, without the time of the work.
    fn states_per_s(
        &self,
        of: (&'a FsLevel, Extent),
        points: u32,
        is_checked: bool,
    ) -> Result<f64, CrashRunError> {
        let ran = crash_run(&self.order(of, 1, points, is_checked), &|| false)?;
        Ok(ran.different() as f64 / ran.inspections_took.as_secs_f64().max(1e-3))
    }

    /// Power cuts after which acknowledged work was gone, of so many in each of the runs.
    fn contract_broken(&self, fs: &'a FsLevel, cuts: u32) -> Result<u64> {
        let mut broken = 0;
        for seed in 1..=u64::from(RUNS) {
            let ran = crash_run(&self.order((fs, USERS), seed, cuts, true), &|| false)?;
            let oracle =
                Oracle::new(&ran.work.ops, seed, fsarena_filesystems::promises(&fs.name, &[]))?;
            let findings = ran.observed().map(|(state, seen)| oracle.judge(state, seen));
            broken += findings.filter(|found| found.breaks_the_contract()).count() as u64;
        }
        Ok(broken)
    }
}
