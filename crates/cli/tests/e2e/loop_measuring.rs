//! What is measured is what it is called: `durable` holds a flush behind the last write, counters
//! belong to their clock, cold and warm are proved by what the device delivered.

use crate::support::devices::Disk;
use crate::support::{PROGRAM, Ran, TestEnv, assert_nothing_left, has_tracing, sh};
use fsarena_model::clock::Drained;
use fsarena_model::record::{CacheState, PhaseRecord, Window};
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, Op, Phase, Task, WorkerReport, WorkerSays, WorkerSpec};
use fsarena_testkit::records;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A mounted file system, and a trace of the block requests of its device.
struct Traced {
    mnt: PathBuf,
    instance: PathBuf,
    unmount_tracefs: Option<PathBuf>,
}

impl Traced {
    fn start(env: &TestEnv, disk: &Disk, mkfs: &str) -> Self {
        sh(&format!("{mkfs} {} >/dev/null 2>&1", disk.device()));
        let mnt = PathBuf::from(env.make_dir("mnt"));
        sh(&format!("mount {} {}", disk.device(), mnt.display()));
        let known = Path::new("/sys/kernel/tracing");
        let own = PathBuf::from(env.make_dir("tracing"));
        let is_there = known.join("instances").is_dir();
        let tracefs = if is_there { known.to_owned() } else { own.clone() };
        if !is_there {
            sh(&format!("mount -t tracefs tracefs {}", own.display()));
        }
        let instance = tracefs.join(format!("instances/fsarena-test-{}", std::process::id()));
        std::fs::create_dir(&instance).unwrap();
        let put = |file: &str, text: &str| std::fs::write(instance.join(file), text).unwrap();
        put("trace_clock", "mono");
        for event in ["block_rq_issue", "block_rq_complete"] {
            let numbers = sh(&format!("cat /sys/block/{}/dev", disk.name()));
            let (major, minor) = numbers.split_once(':').unwrap();
            let device = (major.parse::<u64>().unwrap() << 20) | minor.parse::<u64>().unwrap();
            put(&format!("events/block/{event}/filter"), &format!("dev == {device}"));
            put(&format!("events/block/{event}/enable"), "1");
        }
        Self { mnt, instance, unmount_tracefs: (!is_there).then_some(own) }
    }

    /// Each event: when, issued or completed, its flags and its sectors.
    fn events(&self) -> Vec<Event> {
        let text = std::fs::read_to_string(self.instance.join("trace")).unwrap();
        text.lines().filter_map(Event::parse).collect()
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mnt).status();
        let _ = std::fs::remove_dir(&self.instance);
        if let Some(own) = &self.unmount_tracefs {
            let _ = Command::new("umount").arg(own).status();
        }
    }
}

#[derive(Debug)]
struct Event {
    at_ns: u64,
    is_issue: bool,
    flags: String,
    sectors: u64,
}

impl Event {
    /// `cp-1 [000] ..... 12.345678: block_rq_issue: 7,0 WS 4096 () 1234 + 8 none,0,0 [cp]`.
    fn parse(line: &str) -> Option<Self> {
        let (head, rest) = line.split_once(": block_rq_")?;
        let (seconds, micros) = head.split_whitespace().last()?.split_once('.')?;
        let at_ns =
            seconds.parse::<u64>().ok()? * 1_000_000_000 + micros.parse::<u64>().ok()? * 1000;
        let (kind, rest) = rest.split_once(": ")?;
        let flags = rest.split_whitespace().nth(1)?.to_owned();
        let sectors = rest.split_once(" + ")?.1.split_whitespace().next()?.parse().ok()?;
        Some(Self { at_ns, is_issue: kind == "issue", flags, sectors })
    }

    fn is_flush(&self) -> bool {
        self.sectors == 0 && self.flags.starts_with('F')
    }
}

/// One task, done by a worker process as an executor starts it.
fn work(root: &Path, task: Task, flush_device: Option<PathBuf>) -> Option<WorkerReport> {
    let spec = WorkerSpec {
        dataset: Dataset::uniform(2000, 4096, 4),
        flush_device,
        ..records::worker_spec(root, task)
    };
    let mut worker = Command::new(PROGRAM)
        .args(["worker", "--parent", &std::process::id().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = worker.stdin.take().unwrap();
    writeln!(input, "{}\ngo", serde_json::to_string(&spec).unwrap()).unwrap();
    drop(input);
    let answers = BufReader::new(worker.stdout.take().unwrap()).lines();
    let last = answers.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).last();
    assert!(worker.wait().unwrap().success());
    match last.unwrap() {
        WorkerSays::Done(report) => Some(*report),
        WorkerSays::Made => None,
        other => panic!("{other:?}"),
    }
}

/// On a device with a cache of its own, what was completed before a flush was sent is what that
/// flush makes durable: within the clock, one has to be sent after the last write was completed.
#[test]
fn durable_is_behind_a_flush_that_covers_every_write() {
    let Some(env) = TestEnv::privileged(&["ext2", "ext4"]) else { return };
    if !has_tracing() {
        return;
    }
    for (fs, mkfs) in [
        ("ext2", "mke2fs -q -F -t ext2"),
        ("ext4", "mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0"),
        ("ext4", "mke2fs -q -F -t ext4 -O ^has_journal -E lazy_itable_init=0"),
    ] {
        let Some(disk) = Disk::new("128M") else { return };
        let level = fsarena_model::contender::FsLevel::plain(fs);
        let journal = !mkfs.contains("^has_journal");
        let driver = fsarena_filesystems::driver(&level).unwrap();
        let waits = driver.syncs_to_device(&level) && journal;
        assert_eq!(waits, fs == "ext4" && journal);
        let device = (!waits).then(|| PathBuf::from(disk.device()));
        let traced = Traced::start(&env, &disk, mkfs);
        assert_eq!(work(&traced.mnt, Task::MakeDirs, None), None);
        for op in [Op::Create, Op::Delete] {
            let phase = Phase::new(op.name(), op, 4096);
            let task = Task::Phase { phase, seed: Seed::from_number(2), latency: false };
            let report = work(&traced.mnt, task, device.clone()).unwrap();
            assert_eq!(report.error, None);
            let durable_ns = report.durable_monotonic_ns.unwrap();
            let within = |event: &&Event| {
                event.at_ns >= report.start_monotonic_ns && event.at_ns <= durable_ns
            };
            let events = traced.events();
            let within = || events.iter().filter(within);
            // An empty write stands for a flush that was asked for, and ends with it.
            let writes = || within().filter(|e| e.flags.contains('W') && e.sectors > 0);
            let completed_ns = writes().filter(|e| !e.is_issue).map(|e| e.at_ns).max();
            let last_ns = completed_ns.unwrap_or_else(|| panic!("{fs} {op:?}: nothing written"));
            let flushes =
                |is_issue| within().filter(move |e| e.is_flush() && e.is_issue == is_issue);
            let is_covered = flushes(true).any(|e| e.at_ns >= last_ns)
                && flushes(false).any(|e| e.at_ns >= last_ns);
            // A commit of a journal is sent behind a flush, and ends durable by itself.
            let is_commit = waits && flushes(false).count() > 0;
            assert!(
                is_covered || is_commit,
                "{fs} {op:?}: the last write was completed at {last_ns}, durable was {durable_ns}, \
                 and no flush came between: {:?}",
                within().rev().take(12).collect::<Vec<_>>()
            );
            println!(
                "{fs} {op:?}: last write at {last_ns}, durable {} µs later",
                durable_ns.saturating_sub(last_ns) / 1000
            );
        }
        drop(traced);
    }
    assert_nothing_left(&env);
}

fn phases(env: &TestEnv, run: usize) -> Vec<PhaseRecord> {
    env.records(run).into_iter().flat_map(|record| record.phases).collect()
}

/// What a phase of each file system says of itself.
#[test]
fn phases_say_how_they_were_measured() {
    let Some(env) = TestEnv::privileged(&["ext2", "ext4", "xfs", "btrfs"]) else { return };
    let on = ["--fs", "ext2,ext4,xfs,btrfs", "--on", "loop:512M", "--workload", "tiny-files"];
    env.run_once(&[&on[..], &["--scale", "0.1", "--cache", "cold"]].concat()).good();
    let kernel_threads_are_seen = sh("cat /proc/2/comm") == "kthreadd";
    for record in env.records(1) {
        let fs = record.filesystem.name.as_str();
        for phase in &record.phases {
            let name = format!("{fs} {}", phase.name);
            assert_eq!(phase.clocks.device_flushed, fs == "ext2", "{name}");
            assert_eq!(phase.worker.major_faults, 0, "{name}: pages of the program were missing");
            let late_ns = phase.counters_late_ns.expect("the worker reads them itself");
            assert!(late_ns < 1_000_000_000, "{name}: {late_ns}");
            assert!(phase.clocks.drain_late_ns.is_some(), "{name}");
            let cpu = phase.task_cpu.expect("there is a task clock");
            assert!(cpu.worker_ns > 0, "{name}");
            assert_eq!(cpu.kernel_threads_ns.is_some(), kernel_threads_are_seen, "{name}");
            let canary = phase.canary.expect("it ran");
            assert!(canary.before_ns > 100_000 && canary.after_ns.is_some(), "{name}");
            assert_eq!(phase.cache.state, CacheState::Cold, "{name}: {}", phase.cache.why);
            if matches!(phase.op, Op::Stat | Op::Delete) {
                let proof = &phase.cache.proof;
                assert_eq!(phase.cache.why, "proved", "{name}");
                let needed = proof.needed_read_bytes.unwrap();
                assert!(needed > 4096, "{name}: inodes and names are {needed} bytes");
            }
        }
        let flushes = |phase: &PhaseRecord| phase.windows[&Window::Durable]["device.flushes"];
        assert!(record.phases.iter().all(|phase| fs != "ext2" || flushes(phase) > 0), "{fs}");
    }
    assert_nothing_left(&env);
}

/// The executor sleeps long after the work is durable: no clock holds its wake-up.
#[test]
fn drained_leaves_out_the_wake_up_of_the_executor() {
    let Some(env) = TestEnv::privileged(&["xfs"]) else { return };
    let late = Duration::from_secs(1);
    let experiment = env.long_experiment("xfs", "loop:512M", "");
    let mut live = env.start(&["run", &experiment]);
    let worker = live.stop_in_phase(1);
    let executors = live.executors();
    let signal = |signal| executors.iter().for_each(|pid| kill_process(*pid, signal).unwrap());
    signal(Signal::STOP);
    kill_process(worker, Signal::CONT).unwrap();
    // At its end it waits to be heard: it uses no more CPU time, and writes nothing.
    let used = |pid: Pid| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        let stat = stat.expect("it waits for the executor");
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        (fields[0] == "S").then(|| (fields[11].to_owned(), fields[12].to_owned()))
    };
    let mut quiet = Instant::now();
    let mut known = used(worker);
    while quiet.elapsed() < late {
        std::thread::sleep(Duration::from_millis(20));
        let now = used(worker);
        if now.is_none() || now != known {
            (quiet, known) = (Instant::now(), now);
        }
    }
    signal(Signal::CONT);
    live.end().good();
    let phase = phases(&env, 1).remove(0);
    let late_ns = phase.clocks.drain_late_ns.expect("it was frozen");
    let Drained::Frozen { drained_ns } = phase.clocks.drained else {
        panic!("{:?}", phase.clocks.drained)
    };
    let freezing_ns = drained_ns - phase.clocks.durable_ns.unwrap();
    println!("called {late_ns} ns after durable, freezing took {freezing_ns} ns");
    assert!(late_ns > 900_000_000, "{late_ns}");
    assert!(freezing_ns < late_ns / 2, "{freezing_ns} of {late_ns}");
    assert_nothing_left(&env);
}

/// Somebody drops the caches of the machine while warm phases run.
#[test]
fn loop_alone_warm_phases_whose_caches_are_dropped_are_not_warm() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let args = ["--fs", "ext4", "--on", "loop:256M", "--workload", "tiny-files", "--cache", "warm"];
    let done = AtomicBool::new(false);
    let command = || {
        let run = ["run", "--runs", "1", "--seed", "1", "--scale", "0.2"];
        let mut command = env.command(&[&run[..], &args].concat());
        // Which would believe it.
        command.env_remove("FSARENA_TEST_FAST");
        command
    };
    let ran: Ran = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                sh("echo 3 > /proc/sys/vm/drop_caches");
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let ran = env.finish(command());
        done.store(true, Ordering::SeqCst);
        ran
    });
    ran.code(5).says(&[
        "not warm, though warm was asked for",
        "bytes that should be cached; the caches of the machine",
    ]);
    let spoilt = phases(&env, 1);
    assert!(spoilt.iter().any(|phase| phase.cache.state == CacheState::NotWarm), "{spoilt:?}");
    let codes: Vec<String> =
        env.records(1).into_iter().flat_map(|r| r.notices).map(|notice| notice.code).collect();
    assert!(codes.iter().any(|code| code == "not-warm"), "{codes:?}");
    env.finish(command()).good();
    for phase in phases(&env, 2) {
        assert_eq!(phase.cache.state, CacheState::Warm, "{}: {}", phase.name, phase.cache.why);
        assert_eq!(phase.cache.proof.cache_drops, Some(0), "{}", phase.name);
    }
    assert_nothing_left(&env);
}
