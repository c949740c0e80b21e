//! What a guest kernel costs in real time and memory: a boot, two virtual minutes of creations, a
//! suite on seven file systems, and the memory of its process.
//!
//! The figures are real times, which depend on the machine; they are judged all the same, because
//! they are what a user waits for, with the least of some tries.

use super::options::{MIB, Options, Section, Verdict};
use crate::program;
use anyhow::{Context as _, Result, bail, ensure};
use fsarena_disk_server::{ConstantDisk, Disk};
use fsarena_guests::guest::{Guest, GuestOptions, GuestWork, Program, Record, Task};
use fsarena_guests::kernel::{Cache, Kernel};
use fsarena_process::processor::keep_to_one_processor;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(super) const SECTION: Section = Section { name: "virtual", judged, run };

const SECOND_NS: u64 = 1_000_000_000;
const BOOT_MOST_NS: u64 = SECOND_NS / 2;
/// The suite of seven file systems, each with three workloads, that is 21 guests.
const SUITE: &str = include_str!("suite.toml");
const SUITE_MOST_NS: u64 = 9 * SECOND_NS;
const MEMORY_MOST_BYTES: u64 = 120 * MIB;
const DISK_BYTES: usize = 512 << 20;
const REQUEST_NS: u64 = 8_000_000;
/// 20 files a second for 120 s, by a program that does nothing else: a shell has several system
/// calls for each.
const WORK: &str = "set -e; {mkfs} /dev/vdisk0 >/dev/null 2>&1; mkdir /mnt/t; \
    mount -t {fs} /dev/vdisk0 /mnt/t; exec perl -e 'for my $i (1 .. {files}) { \
    open my $f, \">\", \"/mnt/t/f$i\" or die; close $f; select undef, undef, undef, 0.05 }'";
/// File system, its mkfs, and the most that it may take.
const CREATIONS: [(&str, &str, u64); 4] = [
    ("ext4", "mkfs.ext4 -q -F", 700_000_000),
    ("xfs", "mkfs.xfs -q -f", 700_000_000),
    ("btrfs", "mkfs.btrfs -q -f", 700_000_000),
    ("ext2", "mkfs.ext2 -q -F", 2_500_000_000),
];

fn judged(options: &Options) -> bool {
    !options.smoke
}

fn run(options: &Options) -> Result<Verdict> {
    let mut verdict = Verdict::default();
    let Some(kernel) = kernel() else {
        verdict.not_run("guests", NO_KERNEL);
        return Ok(verdict);
    };
    println!("guest kernel {} ({})", kernel.identity.level(), kernel.identity.config);
    let base = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
    let program = Program::this(base.path())?;
    let suite_ns = suite(options)?;
    keep_to_one_processor(0);
    let (tries, files) = if options.smoke { (1, 100) } else { (5, 2400) };
    let bench = Bench { kernel: &kernel.binary, program: &program, tries };
    let (boot_ns, memory_bytes) = bench.least(&Task::Probe { sleep_ns: 0 })?;
    verdict.judge("boot to power-off", (boot_ns, BOOT_MOST_NS), (1e9, "s"));
    let mut most_bytes = memory_bytes;
    for (fs, mkfs, most_ns) in CREATIONS {
        let program = mkfs.split(' ').next().unwrap_or_default();
        if fsarena_process::cmd::find(program).is_none() {
            println!("  not run: {program} is not installed");
            continue;
        }
        let command = WORK.replace("{fs}", fs).replace("{mkfs}", mkfs);
        let command = command.replace("{files}", &files.to_string());
        let (elapsed_ns, bytes) = bench.least(&Task::Shell { command })?;
        most_bytes = most_bytes.max(bytes);
        let what = format!("{fs}: 20 creations/s for 120 s, with mkfs");
        verdict.judge(&what, (elapsed_ns, most_ns), (1e9, "s"));
    }
    if let Some(suite_ns) = suite_ns {
        verdict.judge(
            "suite on seven file systems, a block",
            (suite_ns, SUITE_MOST_NS),
            (1e9, "s"),
        );
    }
    let memory = (most_bytes, MEMORY_MOST_BYTES);
    verdict.judge("memory of a guest of 256 MiB", memory, (MIB as f64, "MiB"));
    Ok(verdict)
}

pub(super) const NO_KERNEL: &str = "no guest kernel was built (fsarena kernel build)";

/// That of users of this account.
pub(super) fn kernel() -> Option<Kernel> {
    Cache::of_user().ok()?.preferred()
}

/// Real time of a block of the suite, ns, with all processors; nothing where it is only shown to
/// work.
fn suite(options: &Options) -> Result<Option<u64>> {
    let dir = tempfile::Builder::new().prefix("fsarena-overhead-").tempdir()?;
    std::fs::write(dir.path().join("suite.toml"), SUITE)?;
    if options.smoke {
        suite_ns(dir.path(), &["--runs", "1", "--fs", "ext4", "--scale", "0.1"])?;
        return Ok(None);
    }
    // In the first block each trial is done twice, and compared with itself.
    let once_ns = suite_ns(dir.path(), &["--runs", "1"])?;
    Ok(suite_ns(dir.path(), &["--runs", "2"])?.checked_sub(once_ns))
}

/// Real time of the suite with these options, ns.
fn suite_ns(dir: &Path, args: &[&str]) -> Result<u64> {
    let mut command = Command::new(program::build()?);
    command.current_dir(dir).args(["--db", "suite.db", "run", "suite.toml"]).args(args);
    let began = Instant::now();
    let output = command.stdin(Stdio::null()).output()?;
    let elapsed_ns = u64::try_from(began.elapsed().as_nanos())?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "suite: {}: {complaint}", output.status);
    Ok(elapsed_ns)
}

struct Bench<'a> {
    kernel: &'a Path,
    program: &'a Program,
    tries: u32,
}

impl Bench<'_> {
    /// Least real time of some tries, ns, and most memory of its processes, bytes.
    fn least(&self, task: &Task) -> Result<(u64, u64)> {
        let mut best = (u64::MAX, 0);
        for _ in 0..self.tries {
            let ended = AtomicBool::new(false);
            let memory = AtomicU64::new(0);
            let ran = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !ended.load(Ordering::SeqCst) {
                        memory.fetch_max(resident_bytes(self.kernel), Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(20));
                    }
                });
                let mut disk = ConstantDisk::new(DISK_BYTES, REQUEST_NS);
                let disks: &mut [&mut dyn Disk] = &mut [&mut disk];
                let options = GuestOptions::new(self.kernel);
                let ran = Guest::new(&options, self.program).run_task(task, disks, &|| false);
                ended.store(true, Ordering::SeqCst);
                ran
            })?;
            if let Record::Shell(record) = &ran.record
                && record.exit_code != Some(0)
            {
                bail!("the guest's work: {record:?}");
            }
            best = (best.0.min(ran.elapsed_ns), best.1.max(memory.into_inner()));
        }
        Ok(best)
    }
}

/// Memory of the process of the kernel: the guest's own is mapped in it.
fn resident_bytes(kernel: &Path) -> u64 {
    let runs = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == kernel)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().filter(runs);
    let kib = |entry: fs::DirEntry| -> Option<u64> {
        let text = fs::read_to_string(entry.path().join("status")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse().ok()
    };
    processes.filter_map(kib).max().unwrap_or(0) << 10
}

/// This program as the init of a guest: it does no trials, and crash states.
///
/// # Errors
/// When this is no guest.
pub(crate) fn run_as_init() -> Result<()> {
    let none = "this program does no trials";
    let crash = &fsarena_executor::run_crash_task;
    let work = GuestWork { trial: &|_, _| Err(none.to_owned()), crash };
    fsarena_guests::guest::run_as_init(work).context("init of a guest")
}
