//! Modelled disks served to this kernel: used by real file systems, gone with whoever is killed.

use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use rustix::process::{Pid, Signal, kill_process};

const DISK: &str = "vdisk:1G:model=hdd-laptop";

/// A trial was done, or its disk was late on a busy machine: that is said with figures, and is no
/// other failure.
#[track_caller]
fn done_or_late(record: &TrialRecord) -> bool {
    match &record.outcome {
        Outcome::Done => true,
        Outcome::Failed { error, .. } if error.contains("answered later than its model") => false,
        other => panic!("{other:?}"),
    }
}

fn runs_on_it(fs: &str) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let text = format!(
        "schema = 1\nname = \"modelled\"\n[run]\nblocks = 1\n[factors]\nfs = \"{fs}\"\n\
         device = \"{DISK}\"\n[[workload]]\nname = \"w\"\nfiles = 40\nsize = \"64 KiB\"\n\
         phases = [\"create\", \"read\"]\n"
    );
    let ran = env.run(&["run", &env.write("modelled.toml", &text)]);
    assert!(matches!(ran.code, Some(0 | 1)), "{}", ran.stderr);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 1);
    let record = &records[0];
    assert_eq!(record.device["model"], "hdd-laptop");
    assert_eq!(record.device["rotational"], "1");
    // These would stay with the loop device of whoever comes after a kill.
    assert_ne!(record.device["discard_max_bytes"], "0");
    assert_eq!(record.device["write_cache"], "write back");
    assert!(record.device["answers_late_p99_us"].parse::<f64>().unwrap() > 0.0);
    if done_or_late(record) {
        let drained_ns = record.phases[0].clocks.durable_ns.unwrap();
        assert!(drained_ns > 1_000_000, "a disk turns, and memory does not: {drained_ns}");
    }
}

#[test]
fn ext4_on_a_modelled_disk() {
    runs_on_it("ext4");
}

#[test]
fn xfs_on_a_modelled_disk() {
    runs_on_it("xfs");
}

#[test]
fn btrfs_on_a_modelled_disk() {
    runs_on_it("btrfs");
}

/// Two trials of a phase that lasts; the worker of the second is stopped in its middle. `None`
/// where this machine is too busy for the disk.
fn caught(
    env: &TestEnv,
    kill: impl FnOnce(&crate::support::Live<'_>),
) -> Option<crate::support::Ran> {
    let experiment = env.long_experiment("ext4", DISK, "");
    let mut live = env.start(&["run", &experiment]);
    let is_refused = live.poll("first trial", |live| {
        let said = live.stderr();
        let is_refused = said.contains("which a native disk cannot do here");
        (is_refused || said.contains("[1/2]")).then_some(is_refused)
    });
    if is_refused {
        println!("not run: this machine is too busy to serve a modelled disk");
        return None;
    }
    let worker = live.stop_in_phase(2);
    assert_eq!(live.disk_servers().len(), 1);
    kill(&live);
    // It is gone where its executor is.
    let _ = kill_process(worker, Signal::CONT);
    Some(live.end())
}

fn kill_one(pids: &[Pid]) {
    kill_process(pids[0], Signal::KILL).unwrap();
}

/// Everything that is outstanding fails, the trial says why, and nothing waits for ever.
#[test]
fn killed_server() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(ran) = caught(&env, |live| kill_one(&live.disk_servers())) else { return };
    ran.code(1).says(&["the process that serves it does not answer"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    done_or_late(&records[0]);
    assert!(
        matches!(&records[1].outcome, Outcome::Failed { step, .. } if step == "measure create")
    );
}

#[test]
fn killed_executor() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(ran) = caught(&env, |live| kill_one(&live.executors())) else { return };
    let ran = ran.says(&["was ended by the machine, attempt 1: it is done again"]);
    assert!(matches!(ran.code, Some(0 | 1)), "done, or late: {}", ran.stderr);
    assert_nothing_left(&env);
    for record in env.records(1) {
        done_or_late(&record);
    }
}

#[test]
fn killed_runner() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(ran) = caught(&env, |live| live.signal(Signal::KILL)) else { return };
    assert_eq!(ran.code, None);
    env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
}

#[test]
fn killed_with_all_that_belongs_to_it() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(ran) = caught(&env, |live| live.kill_tree()) else { return };
    assert_eq!(ran.code, None);
    env.run(&["list"]).good();
    assert_nothing_left(&env);
}

#[test]
fn stopped_by_the_user() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    caught(&env, |live| live.signal(Signal::INT));
    assert_nothing_left(&env);
}

/// Before the RUN, or, where the machine was fast just then, at each trial, which is no
/// measurement.
#[test]
fn a_model_that_is_faster_than_this_machine_is_refused() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let args = ["run", "--fs", "ext4", "--on", "vdisk:1G:model=nvme-plp", "--runs", "1"];
    let ran = env.run(&args);
    assert_ne!(ran.code, Some(0));
    let before = ran.stderr.contains("it answers within");
    let late = "the disk answered later than its model";
    ran.says(&[if before { "it answers within" } else { late }, "use --on virtual:SIZE:model="]);
    assert_nothing_left(&env);
}

#[test]
fn what_is_no_modelled_disk_is_refused() {
    let env = TestEnv::new();
    for (device, words) in [
        ("vdisk:1G:model=hdd-2008", "did you mean hdd-2003 or hdd-2007"),
        ("vdisk:1G", "names no model"),
        ("vdisk:1G:colour=red", "has no option"),
        ("vdisk", "has no size"),
        ("vdisk:2T:model=hdd-1998", "use a smaller size, or another model"),
    ] {
        env.run(&["run", "--fs", "ext4", "--on", device]).code(2).says(&[words]);
    }
    assert_nothing_left(&env);
}
