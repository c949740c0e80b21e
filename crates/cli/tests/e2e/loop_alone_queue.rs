//! Settings of a device's queue and the state of its flash as factors: in force during the trials
//! that ask for them, put back however a RUN ends, and recorded.

use crate::support::devices::{Disk, has_zram};
use crate::support::{Live, TestEnv, assert_nothing_left, sh};
use fsarena_model::device::Conditioning;
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use fsarena_testkit::machine::queue_of;
use rustix::process::Signal;
use std::fs;

const SMALL: [&str; 8] =
    ["--workload", "tiny-files", "--scale", "0.02", "--runs", "1", "--cache", "warm"];
const QUEUE: [&str; 6] =
    ["--scheduler", "none,mq-deadline", "--read-ahead", "128KiB,512KiB", "--write-cache", ""];

/// One that is neither the kernel's choice for a loop device nor that of a test next to this one.
const OTHER: [&str; 6] =
    ["--scheduler", "mq-deadline", "--read-ahead", "384KiB", "--write-cache", "write-through"];

fn queue_args(write_cache: &'static str) -> Vec<&'static str> {
    let mut args = QUEUE.to_vec();
    args[5] = write_cache;
    args
}

/// Four trials, one of each combination, with the values that were in force.
#[track_caller]
fn four(records: &[TrialRecord], write_cache: &str) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for record in records {
        assert_eq!(record.outcome, Outcome::Done);
        assert_eq!(record.device["write_cache"], write_cache);
        seen.push((&record.device["scheduler"], &record.device["read_ahead_kib"]));
    }
    seen.sort_unstable();
    let all = [("mq-deadline", "128"), ("mq-deadline", "512"), ("none", "128"), ("none", "512")];
    assert_eq!(seen, all);
}

#[test]
fn settings_on_an_image() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let on = ["run", "--fs", "ext4", "--on", "loop:64M"];
    let args = [&on[..], &queue_args("write-through"), &SMALL].concat();
    env.run(&args).good().says(&["scheduler=mq-deadline", "read_ahead=512K"]);
    four(&env.records(1), "write through");
    let words = ["Settings of queues and kernel", "mq-deadline", "512 KiB", "write through"];
    env.run(&["show", "1", "--raw"]).good().says(&words);
    assert_nothing_left(&env);
}

#[test]
fn settings_on_a_device_of_the_user() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("64M") else { return };
    // Not what the kernel chooses: it is the user's own choice that comes back.
    sh(&format!("echo 640 > /sys/block/{}/queue/read_ahead_kb", disk.name()));
    sh(&format!("echo kyber > /sys/block/{}/queue/scheduler || true", disk.name()));
    let before = disk.queue();
    let on = ["run", "--fs", "ext4", "--on", disk.device(), "--wipe", disk.device()];
    env.run(&[&on[..], &queue_args("write-through"), &SMALL].concat()).good();
    four(&env.records(1), "write through");
    assert_eq!(disk.queue(), before);
    sh(&format!("echo none > /sys/block/{}/queue/scheduler", disk.name()));
    drop(disk);
    assert_nothing_left(&env);
}

/// While a trial is at work its settings are in force; ended by `end` they are put back.
fn ended(end: fn(&Live<'_>), dies: bool) {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let before = disk.queue();
    let experiment = env.long_experiment("ext4", disk.device(), "");
    let args = ["run", &experiment, "--wipe", disk.device(), "--scale", "0.5", "--cache", "warm"];
    let mut live = env.start(&[&args[..], &OTHER].concat());
    live.stop_in_phase(2);
    let now = disk.queue();
    assert_eq!(now["scheduler"], "mq-deadline");
    assert_eq!(now["read_ahead_kb"], "384");
    assert_eq!(now["write_cache"], "write through");
    end(&live);
    let ran = live.end();
    assert_eq!(ran.code, (!dies).then_some(130), "{}", ran.stderr);
    if dies {
        assert_eq!(disk.queue(), now, "nobody was there to put them back");
        env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    }
    assert_eq!(disk.queue(), before);
    disk.assert_free();
    let record = env.records(1).remove(0);
    assert_eq!(record.device["scheduler"], "mq-deadline");
    drop(disk);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
}

#[test]
fn settings_after_ctrl_c() {
    ended(|live| live.signal_group(Signal::INT), false);
}

#[test]
fn settings_after_a_kill() {
    ended(|live| live.signal(Signal::KILL), true);
}

#[test]
fn settings_after_a_kill_of_everything() {
    ended(|live| live.kill_tree(), true);
}

/// What somebody else has set since stays; so do settings of another medium in the same place.
#[test]
fn settings_of_others_are_not_put_back() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(mut disk) = Disk::new("64M") else { return };
    let kill = |disk: &Disk| {
        let experiment = env.long_experiment("ext4", disk.device(), "");
        let wipe = disk.wipe(&disk.signature());
        let args = ["run", &experiment, "--wipe", &wipe, "--scale", "0.5", "--cache", "warm"];
        let mut live = env.start(&[&args[..], &OTHER].concat());
        live.stop_in_phase(1);
        live.kill_tree();
        live.end();
    };
    kill(&disk);
    let file = format!("/sys/block/{}/queue/read_ahead_kb", disk.name());
    sh(&format!("echo 256 > {file}"));
    env.run(&["list"]).good();
    assert_eq!(disk.queue()["read_ahead_kb"], "256", "set by hand since");
    assert_eq!(disk.queue()["scheduler"], "none");
    kill(&disk);
    let other = format!("{}.other", disk.image());
    sh(&format!("truncate -s 64M {other}"));
    disk.replace(&other);
    sh(&format!("echo mq-deadline > /sys/block/{}/queue/scheduler", disk.name()));
    env.run(&["list"]).good();
    assert_eq!(disk.queue()["scheduler"], "mq-deadline", "another medium is somebody else's");
    sh(&format!("echo none > /sys/block/{}/queue/scheduler", disk.name()));
    drop(disk);
    assert_nothing_left(&env);
}

#[test]
fn settings_that_cannot_be_had() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let on = ["run", "--fs", "ext4", "--on", "loop:64M"];
    for (option, value, code, words) in [
        ("--scheduler", "none,nosuch", 1, &["\"nosuch\" is not offered", "mq-deadline"][..]),
        ("--read-ahead", "1000", 2, &["read"]),
        ("--read-ahead", "much", 2, &["read"]),
        ("--write-cache", "write-around", 2, &["--write-cache", "write-through"]),
        ("--ssd", "trim", 2, &["blkdiscard", "precondition"]),
    ] {
        let ran = env.run(&[&on[..], &[option, value], &SMALL].concat());
        assert!(!ran.stderr.contains("writing"), "before the image: {}", ran.stderr);
        ran.refused(code, words);
        assert_nothing_left(&env);
    }
    // Before the first trial, not after hours of the other contenders: no RUN has begun.
    assert!(!env.db().exists());
    let dir = env.make_dir("target");
    let ran = env.run(&[&["run", "--on", &dir, "--scheduler", "none"], &SMALL[..]].concat());
    assert_ne!(ran.code, Some(101), "{}", ran.stderr);
    assert_nothing_left(&env);
}

/// A discard makes holes in the image, which no other contender meets.
#[test]
fn a_discarded_image() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let on = ["run", "--fs", "ext4", "--on", "loop:64M", "--ssd", "none,blkdiscard"];
    let ran = env.run(&[&on[..], &SMALL].concat()).good();
    ran.says(&["ssd=blkdiscard", "share an image of their own"]);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    let done: Vec<_> = records.iter().filter_map(|record| record.conditioning.as_ref()).collect();
    assert!(
        matches!(done[..], [Conditioning::Discarded { discarded_bytes, elapsed_ns }]
            if *discarded_bytes == 64 << 20 && *elapsed_ns > 0),
        "{done:?}"
    );
    let conditioned = records.iter().find(|record| record.conditioning.is_some()).unwrap();
    assert_eq!(conditioned.steps[0].step, "condition");
    assert_nothing_left(&env);
}

/// What was on a disk of the user's is gone after the discard, and not before the consent.
#[test]
fn a_discarded_device() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let mark = "somebody's data";
    let fill = |image: &str| drop(sh(&format!("yes \"{mark}\" | head -c 67108864 > {image}")));
    let Some(disk) = Disk::with("64M", fill) else { return };
    let on = ["run", "--fs", "ext4", "--on", disk.device(), "--ssd", "blkdiscard"];
    let count = || sh(&format!("grep -ac \"{mark}\" {} || true", disk.image()));
    let before = count();
    env.run(&[&on[..], &SMALL].concat()).refused(2, &["--wipe"]);
    let bare = [&on[..], &["--wipe", disk.device()], &SMALL].concat();
    env.run(&bare).refused(2, &["--wipe does not name unknown", "at byte 0"]);
    assert_eq!(count(), before);
    env.run(&[&on[..], &["--wipe", &disk.wipe("unknown")], &SMALL].concat()).good();
    assert_eq!(count(), "0");
    drop(disk);
    assert_nothing_left(&env);
}

/// Filled twice, then overwritten at random until steady or 25 rounds are over.
#[test]
fn a_preconditioned_device() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    if !has_zram() {
        return;
    }
    let on = ["run", "--fs", "ext4", "--on", "zram:64M", "--ssd", "precondition"];
    let ran = env.run(&[&on[..], &SMALL].concat()).good();
    let record = env.records(1).remove(0);
    let Some(Conditioning::Preconditioned {
        fill_bytes, bs_bytes, rounds_ops_per_s, steady, ..
    }) = &record.conditioning
    else {
        panic!("{:?}", record.conditioning)
    };
    assert_eq!((*fill_bytes, *bs_bytes), (128 << 20, 4096));
    assert!((5..=25).contains(&rounds_ops_per_s.len()), "{rounds_ops_per_s:?}");
    assert!(*steady || rounds_ops_per_s.len() == 25);
    let said = ran.stdout.contains("ended before the device was steady");
    assert_eq!(said, !steady, "{}", ran.stdout);
    let words = ["Devices before mkfs", "ext4 precondition 128 MiB"];
    env.run(&["show", "1", "--raw"]).good().says(&words);
    assert_nothing_left(&env);
}

/// A stop is heard while a device is being filled.
#[test]
fn ctrl_c_while_a_device_is_preconditioned() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("256M") else { return };
    let on = ["run", "--fs", "ext4", "--on", disk.device(), "--wipe", disk.device()];
    let mut live = env.start(&[&on[..], &["--ssd", "precondition"], &SMALL].concat());
    live.wait_for("[1/1]");
    let blocks = || {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(disk.image()).unwrap().blocks()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while blocks() < 64 << 11 {
        assert!(std::time::Instant::now() < deadline, "it is not filled");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    live.signal_group(Signal::INT);
    let asked = std::time::Instant::now();
    live.end().code(130);
    assert!(asked.elapsed().as_secs() < 5, "{:?}", asked.elapsed());
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Interrupted);
    assert!(record.conditioning.is_none(), "{:?}", record.conditioning);
    disk.assert_free();
    assert_eq!(queue_of(disk.name()), disk.queue());
    drop(disk);
    assert_nothing_left(&env);
}

const KERNEL: [&str; 6] =
    ["--dirty-background-bytes", "24M", "--dirty-expire", "7s", "--nr-requests", "48"];

/// The limits of dirty data that are in force.
fn kernel() -> [String; 3] {
    ["dirty_background_bytes", "dirty_background_ratio", "dirty_expire_centisecs"]
        .map(|name| fs::read_to_string(format!("/proc/sys/vm/{name}")).unwrap().trim().to_owned())
}

#[track_caller]
fn has_kernel_settings(record: &TrialRecord) {
    assert_eq!(record.device["sysctl vm.dirty_background_bytes"], (24 << 20).to_string());
    assert_eq!(record.device["sysctl vm.dirty_expire_centisecs"], "700");
    assert_eq!(record.device["requests"], "48");
}

#[test]
fn kernel_settings_on_an_image() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let before = kernel();
    let on = ["run", "--fs", "ext4", "--on", "loop:64M"];
    env.run(&[&on[..], &KERNEL, &SMALL].concat()).good();
    env.records(1).iter().for_each(has_kernel_settings);
    assert_eq!(kernel(), before);
    assert_nothing_left(&env);
}

/// A limit in bytes zeroes the ratio, which is what comes back, also after a kill.
#[test]
fn kernel_settings_after_a_kill() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let (before, queue) = (kernel(), disk.queue());
    let experiment = env.long_experiment("ext4", disk.device(), "");
    let args = ["run", &experiment, "--wipe", disk.device(), "--scale", "0.5", "--cache", "warm"];
    let mut live = env.start(&[&args[..], &KERNEL].concat());
    live.stop_in_phase(2);
    let ours = [(24 << 20).to_string(), "0".to_owned(), "700".to_owned()];
    assert_eq!(kernel(), ours);
    live.kill_tree();
    live.end();
    assert_eq!(kernel(), ours, "no process was left to put them back");
    env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_eq!(kernel(), before);
    assert_eq!(disk.queue(), queue);
    disk.assert_free();
    has_kernel_settings(&env.records(1)[0]);
    drop(disk);
    assert_nothing_left(&env);
}
