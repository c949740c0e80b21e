//! Where the written bytes went, on real file systems: the account of cycles and of other phases,
//! what stands in its way, and what a killed run leaves.

use crate::support::{TestEnv, assert_nothing_left, has_tracing, phase};
use fsarena_model::account::{Account, AccountRecord, Part};
use fsarena_model::record::{Outcome, PhaseRecord, TrialRecord, Window};
use rustix::process::{Signal, kill_process};
use std::time::Duration;

const FILES: u64 = 200;
const SIZE_BYTES: u64 = 8192;

impl TestEnv {
    /// An experiment with an account; `fs` and `cache` are levels.
    fn accounted(&self, fs: &str, cache: &str, phases: &str) -> String {
        let device = if fs.contains("xfs") { "ram:300M" } else { "ram:64M" };
        let text = format!(
            "schema = 1\nname = \"test\"\n[run]\nblocks = 1\nseed = 1\naccount = true\n\
             sample_period = \"0 ms\"\n[factors]\nfs = {fs}\ndevice = \"{device}\"\n\
             cache = \"{cache}\"\n[[workload]]\nname = \"w\"\nfiles = {FILES}\nsize = \"8 KiB\"\n\
             phases = [{phases}]\n"
        );
        self.write("account.toml", &text)
    }
}

#[track_caller]
fn account(measured: &PhaseRecord) -> &Account {
    match &measured.account {
        Some(AccountRecord::Taken(account)) => account,
        other => panic!("{}: {other:?}", measured.name),
    }
}

fn counted(measured: &PhaseRecord) -> u64 {
    measured.windows[&Window::Unmounted]["device.written_bytes"]
}

fn codes(record: &TrialRecord) -> Vec<&str> {
    record.notices.iter().map(|notice| notice.code.as_str()).collect()
}

#[test]
fn bytes_of_cycles_are_told_apart_and_nearly_all_of_them() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs"]) else { return };
    if !has_tracing() {
        return;
    }
    let cycle = "{ op = \"cycle\", period = \"1 s\", cycles = 2, updates = 100, \
                 shares = { in-place = 1, replace = 1 } }";
    let file = env.accounted("[\"ext4\", \"xfs\"]", "cold", cycle);
    env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    for record in env.records_as_planned(1) {
        let (fs, measured) = (&record.filesystem.name, phase(&record, "cycle"));
        let account = account(measured);
        println!("{fs}: {:?} of {}: {account:?}", account.unattributed_share(), counted(measured));
        assert_eq!(account.lost_events, 0, "{fs}");
        let cycles: Vec<u32> = account.spans.iter().map(|span| span.cycle).collect();
        assert!(cycles.ends_with(&[1, 2]), "{fs}: {cycles:?}");
        // The counter is read a moment before, or after, what begins and ends the trace.
        assert!(account.total_bytes.abs_diff(counted(measured)) < 100_000, "{fs}: {account:?}");
        let share = account.unattributed_share().expect("something was written");
        assert!(share <= 0.1, "{fs}: {share}: {account:?}");
        let parts = account.parts();
        let (data, gone) = (parts.get(&Part::Data), parts.get(&Part::Gone));
        let contents = [data, gone].into_iter().flatten().map(|part| part.bytes()).sum::<u64>();
        assert!(contents >= measured.asked_bytes, "{fs}: {parts:?}");
        assert!(contents < measured.asked_bytes * 5 / 4, "{fs}: {parts:?}");
        assert!(parts[&Part::Journal].bytes() > 0 && !account.journal.is_empty(), "{fs}");
        assert_eq!((account.files, account.contents_bytes), (FILES, FILES * SIZE_BYTES), "{fs}");
        assert!(account.allocated_bytes >= account.contents_bytes, "{fs}");
        let spoilt = |code: &&&str| code.starts_with("account");
        assert!(!codes(&record).iter().any(|code| spoilt(&code)), "{:?}", record.notices);
    }
}

/// What shares an unmount shares no byte.
#[test]
fn the_account_of_a_phase_ends_where_the_next_one_begins() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if !has_tracing() {
        return;
    }
    let file = env.accounted("\"ext4\"", "warm", "\"create\", \"overwrite\"");
    env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    let record = env.records_as_planned(1).remove(0);
    let (create, overwrite) = (phase(&record, "create"), phase(&record, "overwrite"));
    let (first, second) = (account(create), account(overwrite));
    let ends = |account: &Account| {
        account.notes.iter().any(|note| note.contains("the beginning of phase overwrite"))
    };
    assert!(ends(first) && !ends(second), "{:?} {:?}", first.notes, second.notes);
    for (account, measured) in [(first, create), (second, overwrite)] {
        assert!(account.total_bytes >= measured.asked_bytes, "{account:?}");
        assert!(account.unattributed_share().is_some_and(|share| share <= 0.1), "{account:?}");
    }
    // The counters go on to the unmount for both.
    let both = first.total_bytes + second.total_bytes;
    assert!(both <= counted(create) + 100_000 && counted(overwrite) < counted(create), "{both}");
}

#[test]
fn without_a_device_the_trial_goes_on_and_says_so() {
    let Some(env) = TestEnv::privileged(&["tmpfs"]) else { return };
    let file = env.accounted("\"tmpfs\"", "warm", "\"create\", \"overwrite\"");
    env.run(&["run", &file]).good().says(&["no block device of its own"]);
    assert_nothing_left(&env);
    let record = env.records_as_planned(1).remove(0);
    for measured in &record.phases {
        let Some(AccountRecord::NotTaken { reason }) = &measured.account else { panic!() };
        assert!(reason.contains("no block device of its own"), "{reason}");
    }
    let said = codes(&record).iter().filter(|code| **code == "account-not-taken").count();
    assert_eq!(said, 1, "{:?}", record.notices);
}

#[test]
fn what_a_killed_run_traced_is_removed_by_the_next_start() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if !has_tracing() {
        return;
    }
    let cycle = "{ op = \"cycle\", period = \"100 s\", cycles = 2, updates = 100 }";
    let file = env.accounted("\"ext4\"", "warm", cycle);
    let paused = env.pause(&["run", &file], "measure cycle");
    let mut live = paused.release();
    live.poll("trace", |_| (!env.traces().is_empty()).then_some(()));
    live.kill_tree();
    live.end();
    assert_eq!(env.traces().len(), 1, "nobody was left to remove it");
    let listed = env.run(&["list"]).good();
    assert!(listed.stderr.contains("instances/fsarena-"), "{}", listed.stderr);
    assert_nothing_left(&env);
}

#[test]
fn a_stopped_run_leaves_no_trace() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if !has_tracing() {
        return;
    }
    let cycle = "{ op = \"cycle\", period = \"100 s\", cycles = 2, updates = 100 }";
    let file = env.accounted("\"ext4\"", "warm", cycle);
    let paused = env.pause(&["run", &file], "measure cycle");
    let mut live = paused.release();
    live.poll("trace", |_| (!env.traces().is_empty()).then_some(()));
    live.signal(Signal::INT);
    live.end();
    assert_nothing_left(&env);
    assert_eq!(env.records(1)[0].outcome, Outcome::Interrupted);
}

/// A reader that is kept from reading: its process is stopped while the work goes on.
#[test]
fn events_that_were_lost_spoil_the_account_and_are_counted() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if !has_tracing() {
        return;
    }
    let text = "schema = 1\nname = \"test\"\n[run]\nblocks = 1\nseed = 1\naccount = true\n\
                sample_period = \"0 ms\"\n[factors]\nfs = \"ext4\"\ndevice = \"ram:64M\"\n\
                cache = \"warm\"\n[[workload]]\nname = \"w\"\nfiles = 1\nsize = \"16 MiB\"\n\
                phases = [{ op = \"randwrite\", direct = true, ops = 40000 }]\n";
    let file = env.write("lost.toml", text);
    let mut command = env.command(&["run", &file]);
    command.env("FSARENA_TRACE_BUFFER_BYTES", "4096");
    let mut live = env.pause_command(command, "measure randwrite").release();
    live.poll("worker", |live| live.worker());
    live.poll("trace", |_| (!env.traces().is_empty()).then_some(()));
    // The work begins some milliseconds after the trace, and lasts seconds.
    std::thread::sleep(Duration::from_millis(300));
    let executors = live.executors();
    executors.iter().for_each(|pid| kill_process(*pid, Signal::STOP).unwrap());
    std::thread::sleep(Duration::from_secs(1));
    executors.iter().for_each(|pid| kill_process(*pid, Signal::CONT).unwrap());
    live.end().good().says(&["events of block requests were lost", "FSARENA_TRACE_BUFFER_BYTES"]);
    assert_nothing_left(&env);
    let record = env.records_as_planned(1).remove(0);
    let account = account(phase(&record, "randwrite"));
    assert!(account.lost_events > 0, "{account:?}");
    let spoilt = record.notices.iter().find(|notice| notice.code == "account-spoilt");
    assert_eq!(spoilt.and_then(|notice| notice.measure), Some(account.lost_events as f64));
}
