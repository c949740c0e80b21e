//! A periodic application on a real file system: counters by cycle, a quiet device, a stop and
//! failures in the middle.

use crate::support::{Paused, Ran, TestEnv, assert_nothing_left, kill_dash_nine, phase};
use fsarena_model::record::{Outcome, TrialRecord, Window};
use fsarena_model::sample::Counters;
use fsarena_testkit::ballast::fill;
use rustix::process::Signal;
use std::fs::File;
use std::time::{Duration, Instant};

const FILES: u64 = 200;
const UPDATES: u64 = 100;
const SIZE_BYTES: u64 = 8192;
const ENOSPC: i32 = 28;

impl TestEnv {
    /// An experiment on ext4 in memory with a phase of cycles of these keys.
    fn cycles(&self, keys: &str) -> String {
        let factors = "fs = \"ext4\"\ndevice = \"ram:64M\"\ncache = \"warm\"";
        let work = format!(
            "[[workload]]\nname = \"w\"\nfiles = {FILES}\nsize = \"8 KiB\"\n\
             phases = [{{ op = \"cycle\", updates = {UPDATES}, {keys} }}]\n"
        );
        self.experiment(factors, &work)
    }

    /// That, waiting before the cycles.
    fn before_cycles(&self, keys: &str) -> Paused<'_> {
        self.pause(&["run", &self.cycles(keys)], "measure cycle")
    }
}

fn written(counters: &Counters) -> u64 {
    counters["device.written_bytes"]
}

/// Alone: what others write holds the write-back of a cycle up, beyond its period.
#[test]
fn loop_alone_each_cycle_has_its_counters_and_its_quiet() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let shares = "shares = { in-place = 1, replace = 1 }";
    let disturb = "disturb = { load = \"create\", files = 20, size = \"4 KiB\", cycles = [2] }";
    let file = env.cycles(&format!("period = \"1 s\", cycles = 2, {shares}, {disturb}"));
    env.run(&["run", &file, "--verify"]).good();
    assert_nothing_left(&env);
    let records = env.records_as_planned(1);
    let measured = phase(&records[0], "cycle");
    let cycles = measured.cycles.as_ref().expect("it has some");
    assert_eq!(cycles.cycles.iter().map(|c| c.report.number).collect::<Vec<_>>(), [1, 2]);
    for cycle in &cycles.cycles {
        let report = &cycle.report;
        assert_eq!((report.ops, report.asked_bytes), (UPDATES, UPDATES * SIZE_BYTES));
        assert!(written(&cycle.durable) > 0, "{cycle:?}");
        assert!(written(&cycle.period) >= written(&cycle.durable), "{cycle:?}");
        // All of it is synced within the period. Readings come a moment after what they are about.
        assert!(written(&cycle.period) * 10 >= report.asked_bytes * 8, "{cycle:?}");
        // A machine that is busy reads its counters late.
        assert!((500_000_000..3_000_000_000).contains(&cycle.period_ns), "{}", cycle.period_ns);
        let durable_ns = cycle.durable_ns().expect("it was synced");
        assert!(cycle.work_ns() <= durable_ns, "{report:?}");
        let quiet_ns = cycle.quiet_ns().expect("memory is quiet at once");
        assert!(durable_ns <= quiet_ns && quiet_ns < cycle.period_ns, "{quiet_ns} {cycle:?}");
        for name in ["device.busy_ns", "device.queue_ns", "device.flushes", "vm.swap_out_bytes"] {
            assert!(cycle.durable.contains_key(name) && cycle.period.contains_key(name), "{name}");
        }
        assert_eq!(report.disturb.is_some(), report.number == 2);
    }
    // The phase was durable with its last cycle, before the end of that one's period.
    let returned_ns = measured.clocks.returned_ns;
    let durable_ns = measured.clocks.durable_ns.expect("it was synced");
    assert!(returned_ns > 900_000_000 && durable_ns < 2_000_000_000, "{:?}", measured.clocks);
    let of = |window| written(&measured.windows[&window]);
    let sum: u64 = cycles.cycles.iter().map(|cycle| written(&cycle.period)).sum();
    // Readings come a moment after what they are about, and later on a busy machine.
    assert!(sum >= measured.asked_bytes / 2 && sum <= of(Window::Unmounted), "{sum}");
    assert!(of(Window::Durable) >= measured.asked_bytes, "{:?}", measured.windows);
    let space = records[0].space.as_ref().expect("it was mounted");
    assert_eq!(space.stored_bytes, FILES * SIZE_BYTES + 20 * 4096, "those of the second load too");
}

#[test]
fn a_stop_in_the_middle_of_a_period_is_heard_at_once() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let mut live = env.before_cycles("period = \"100 s\", cycles = 2").release();
    // Between the first cycle and the second it only waits.
    live.poll("cycle", |live| live.worker());
    std::thread::sleep(Duration::from_millis(700));
    let began = Instant::now();
    live.signal(Signal::INT);
    let ran = live.end();
    let elapsed = began.elapsed();
    println!("ended {} ms after the signal", elapsed.as_millis());
    assert!(elapsed < Duration::from_secs(20), "{elapsed:?}\n{}", ran.stderr);
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Interrupted);
    assert!(record.phases.is_empty(), "what was stopped is no phase");
}

#[test]
fn a_worker_that_dies_between_cycles_ends_the_attempt() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let mut live = env.before_cycles("period = \"100 s\", cycles = 2").release();
    let worker = live.poll("worker", |live| live.worker());
    std::thread::sleep(Duration::from_millis(700));
    kill_dash_nine(worker);
    live.wait_for("w on ext4 was ended by the machine, attempt 1: it is done again");
    live.signal(rustix::process::Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
    assert_eq!(env.records(1).remove(0).outcome, Outcome::Interrupted);
}

/// The record of cycles that failed, after what holds of all of them.
#[track_caller]
fn failed(env: &TestEnv, ran: Ran, words: &[&str]) -> TrialRecord {
    let ran = ran.code(1).says(words);
    assert_nothing_left(env);
    let record = env.records(env.runs().len()).remove(0);
    let Outcome::Failed { step, error, remedy } = &record.outcome else {
        panic!("{:?}\n{}", record.outcome, ran.stdout);
    };
    assert_eq!(step, "measure cycle");
    assert!(remedy.as_ref().is_some_and(|text| text.contains("--on")), "{error}: {remedy:?}");
    let measured = phase(&record, "cycle");
    assert_eq!(measured.error.as_ref().map(|error| error.errno), Some(ENOSPC), "{error}");
    assert!(!measured.is_complete());
    let cycles = &measured.cycles.as_ref().expect("those that were begun").cycles;
    let last = cycles.last().expect("one was begun");
    // What was written up to the failure is in its period.
    assert!(last.period_ns > 0 && last.period.contains_key("device.written_bytes"), "{last:?}");
    record
}

#[test]
fn a_cycle_that_meets_a_full_device_is_in_the_record() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let shares = "shares = { replace = 1, temporary = 3 }";
    let paused = env.before_cycles(&format!("period = \"1 s\", cycles = 3, {shares}"));
    fill(&paused.root(), 64 << 10).unwrap();
    let record = failed(&env, paused.go_on(), &["No space left on device", "phase cycle"]);
    let error = phase(&record, "cycle").error.as_ref().expect("it is marked");
    assert!(!error.path.contains("disturb"), "{error:?}");
}

#[test]
fn a_cycle_that_finds_no_inode_says_so() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let shares = "shares = { temporary = 1 }";
    let paused = env.before_cycles(&format!("period = \"1 s\", cycles = 3, {shares}"));
    let dir = paused.root().join("ballast");
    std::fs::create_dir(&dir).unwrap();
    let made = (0..1_000_000).find(|number| File::create(dir.join(number.to_string())).is_err());
    assert!(made.is_some(), "there is a last inode");
    let record = failed(&env, paused.go_on(), &["No space left on device"]);
    let Outcome::Failed { remedy, .. } = &record.outcome else { unreachable!() };
    assert!(remedy.as_ref().is_some_and(|text| text.contains("inodes")), "{remedy:?}");
}

#[test]
fn a_second_load_that_fails_is_named() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let disturb = "disturb = { load = \"write\", size = \"16 MiB\", bs = \"64 KiB\" }";
    let shares = "shares = { in-place = 1 }";
    let keys = format!("period = \"2 s\", cycles = 2, {shares}, {disturb}");
    let paused = env.before_cycles(&keys);
    fill(&paused.root(), 0).unwrap();
    let record = failed(&env, paused.go_on(), &["disturb/written", "the second load"]);
    let error = phase(&record, "cycle").error.as_ref().expect("it is marked");
    assert!(error.path.starts_with("disturb/"), "{error:?}");
}
