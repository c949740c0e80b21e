//! Devices in memory that the kernel makes: used, taken away again however a RUN ends, and those of
//! others never touched.

use crate::support::devices::has_zram;
use crate::support::{TestEnv, assert_nothing_left, sh, tool};
use fsarena_model::record::{CacheState, Outcome};
use fsarena_model::run::RunState;
use fsarena_testkit::machine::zrams;
use rustix::process::Signal;
use std::fs;
use std::path::Path;

const COLD: [&str; 6] = ["--workload", "tiny-files", "--scale", "0.02", "--runs", "1"];
/// Quicker, where the caches are not the point.
const SMALL: [&str; 8] =
    ["--workload", "tiny-files", "--scale", "0.02", "--runs", "1", "--cache", "warm"];
const ON_ZRAM: [&str; 4] = ["--fs", "ext4", "--on", "zram:128M"];

fn with_zram() -> Option<TestEnv> {
    let env = TestEnv::with_devices(&["ext4"])?;
    has_zram().then_some(env)
}

#[test]
fn a_run_on_zram() {
    let Some(env) = with_zram() else { return };
    let args = ["run", "--fs", "ext4,ext2", "--on", "zram:256M"];
    let ran = env.run(&[&args[..], &COLD].concat()).good();
    ran.says(&["zram is memory, not a disk"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    for record in records {
        assert_eq!(record.outcome, Outcome::Done);
        assert_eq!(record.device["in_memory"], "true");
        assert_eq!(record.device["size_bytes"], (256 << 20).to_string());
        assert!(record.device.contains_key("zram_algorithm"), "{:?}", record.device);
        assert!(record.phases.iter().all(|phase| phase.cache.state == CacheState::Cold));
        let created = &record.phases[0].windows[&fsarena_model::record::Window::Unmounted];
        assert!(created["device.written_bytes"] > 0);
    }
}

/// Kills everything at `fault`; the next start takes the device away.
fn killed_at(fault: &str) {
    let Some(env) = with_zram() else { return };
    let before = zrams();
    let text = "schema = 1\nname = \"read\"\n[run]\nblocks = 1\n[factors]\nfs = \"ext4\"\n\
        device = \"zram:128M\"\n[[workload]]\nname = \"w\"\nfiles = 100\nsize = \"256 B\"\n\
        phases = [\"read\"]\n";
    let mut command = env.command(&["run", &env.write("read.toml", text)]);
    command.env("FSARENA_FAULT", fault);
    let mut live = env.start_command(command);
    live.wait_for("asks for a hang");
    assert_eq!(zrams().len(), before.len() + 1);
    live.kill_tree();
    live.end();
    assert_eq!(zrams().len(), before.len() + 1, "a device outlives its maker");
    let ran = env.run(&["list"]).good().says(&["cleaned up after a killed run", "/dev/zram"]);
    assert!(!ran.stderr.contains("could not be cleaned up"), "{}", ran.stderr);
    assert_nothing_left(&env);
    assert_eq!(zrams(), before);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
}

#[test]
fn killed_before_mkfs() {
    killed_at("hang:reset");
}

#[test]
fn killed_while_files_are_prepared() {
    killed_at("hang:prepare");
}

#[test]
fn killed_while_it_is_mounted() {
    killed_at("hang:measure");
}

#[test]
fn killed_between_trial_and_record() {
    killed_at("hang:store");
}

#[test]
fn killed_in_a_timed_phase() {
    let Some(env) = with_zram() else { return };
    let experiment = env.long_experiment("ext4", "zram:128M", "");
    let mut live = env.start(&["run", &experiment]);
    live.stop_in_phase(2);
    live.kill_tree();
    live.end();
    env.run(&["list"]).good().says(&["cleaned up after a killed run", "/dev/zram"]);
    assert_nothing_left(&env);
    assert_eq!(env.records(1)[0].outcome, Outcome::Done);
}

/// The mounts of an executor that was killed go a moment after it: the next attempt waits for that.
#[test]
fn killed_executors_let_go_of_it() {
    for which in [0, 1] {
        let Some(env) = with_zram() else { return };
        let experiment = env.long_experiment("ext4", "zram:128M", "");
        let mut live = env.start(&["run", &experiment]);
        live.stop_in_phase(1);
        rustix::process::kill_process(live.executors()[which], Signal::KILL).unwrap();
        let ran = live.end().good().says(&["attempt 1: it is done again"]);
        assert!(!ran.stderr.contains("attempt 2"), "{}", ran.stderr);
        assert_nothing_left(&env);
        let outcomes: Vec<Outcome> = env.records(1).into_iter().map(|it| it.outcome).collect();
        assert_eq!(outcomes, [Outcome::Done, Outcome::Done]);
    }
}

/// The zram is there, and the image of the other level is being written.
#[test]
fn killed_between_two_claims() {
    let Some(env) = with_zram() else { return };
    let args = ["run", "--fs", "ext4", "--on", "zram:128M,loop:512M", "--seed"];
    // The first trial decides which is claimed first.
    let first = |seed: &str| {
        let dry = [&args[..], &[seed], &SMALL, &["--dry-run", "--json"]].concat();
        let plan = env.run(&dry).good().json();
        plan["plan"]["schedule"][0]["contender"].as_u64()
    };
    let seed = (1..20).map(|seed| seed.to_string()).find(|seed| first(seed) == Some(0)).unwrap();
    let before = zrams();
    let mut live = env.start(&[&args[..], &[&seed], &SMALL].concat());
    live.image_begun();
    assert_eq!(zrams().len(), before.len() + 1);
    live.kill_tree();
    live.end();
    env.run(&["list"]).good().says(&["cleaned up after a killed run", "/dev/zram"]);
    assert_nothing_left(&env);
}

#[test]
fn ctrl_c() {
    let Some(env) = with_zram() else { return };
    let experiment = env.long_experiment("ext4", "zram:128M", "");
    let mut live = env.start(&["run", &experiment]);
    live.stop_in_phase(2);
    live.signal_group(Signal::INT);
    let ran = live.end().code(130).says(&["the trials that were done are stored"]);
    assert!(!ran.stderr.contains("left behind"), "{}", ran.stderr);
    assert_nothing_left(&env);
    assert_eq!(env.records(1)[0].outcome, Outcome::Done);
}

/// While a panic unwinds, the device is taken away as well.
#[test]
fn a_panic() {
    let Some(env) = with_zram() else { return };
    let before = zrams();
    for (fault, code) in [("panic:store", 101), ("panic:mount", 1)] {
        let mut command = env.command(&[&["run"], &ON_ZRAM[..], &SMALL].concat());
        command.env("FSARENA_FAULT", fault);
        env.finish(command).code(code).says(&["asks for a panic"]);
        assert_eq!(zrams(), before, "{fault}");
    }
    env.run(&["list"]).good();
    assert_nothing_left(&env);
}

/// A zram of somebody else, taken away with the test.
struct Theirs(String);

impl Theirs {
    fn new(zramctl: &str) -> Self {
        Self(sh(&format!("{zramctl} --find --size 64M")))
    }

    fn text(&self) -> String {
        sh(&format!("head -c 24 {}", self.0))
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let number = self.0.trim_start_matches("/dev/zram");
        sh(&format!("echo 1 > /sys/block/zram{number}/reset"));
        // Number 0 was there when the machine began.
        if number != "0" {
            sh(&format!("echo {number} > /sys/class/zram-control/hot_remove"));
        }
    }
}

/// Neither a RUN, nor one that is killed and undone, touches the zram of somebody else; not even
/// where it has got the number of the one that was ours.
#[test]
fn the_zram_of_somebody_else_stays() {
    let Some(env) = with_zram() else { return };
    let Some(zramctl) = tool("zramctl") else { return };
    let theirs = Theirs::new(&zramctl);
    sh(&format!("printf 'contents of somebody else' | dd of={} 2>/dev/null", theirs.0));
    let text = theirs.text();
    env.run(&[&["run"], &ON_ZRAM[..], &SMALL].concat()).good();
    let refusal = [&["run", "--fs", "ext4", "--on", &theirs.0], &SMALL[..]].concat();
    env.run(&refusal).refused(2, &[&format!("--wipe {}", theirs.0)]);
    assert_eq!(theirs.text(), text);
    let with_theirs = zrams();
    let mut command = env.command(&[&["run"], &ON_ZRAM[..], &SMALL].concat());
    command.env("FSARENA_FAULT", "hang:store");
    let mut live = env.start_command(command);
    live.wait_for("asks for a hang");
    live.kill_tree();
    live.end();
    // Ours is taken away by hand, and its number given to somebody.
    let now = zrams();
    let ours = now.difference(&with_theirs).next().unwrap().clone();
    let number = ours.split(' ').next().unwrap().trim_start_matches("zram").to_owned();
    sh(&format!("echo 1 > /sys/block/zram{number}/reset"));
    sh(&format!("echo {number} > /sys/class/zram-control/hot_remove"));
    let second = sh("cat /sys/class/zram-control/hot_add");
    assert_eq!(second, number, "numbers come again");
    sh(&format!("echo 128M > /sys/block/zram{second}/disksize"));
    let ran = env.run(&["list"]).good();
    assert!(!ran.stderr.contains("/dev/zram"), "{}", ran.stderr);
    let size = fs::read_to_string(format!("/sys/block/zram{second}/disksize")).unwrap();
    drop(Theirs(format!("/dev/zram{second}")));
    assert_eq!(size.trim(), (128 << 20).to_string(), "the one with its number stays");
    assert_eq!(theirs.text(), text);
    drop(theirs);
    assert_nothing_left(&env);
}

/// What the kernel has not is a row with the reason; alone it is an error.
#[test]
fn devices_that_this_kernel_lacks() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    for (kind, there) in [("brd", "/dev/ram0"), ("null_blk", "/sys/module/null_blk")] {
        let on = format!("{kind}:64M");
        let alone = ["run", "--fs", "ext4", "--on", &on];
        let ran = env.run(&[&alone[..], &SMALL].concat());
        if Path::new(there).exists() || ran.code == Some(0) {
            println!("not run: this kernel has {kind}");
            continue;
        }
        let reason = format!("this kernel has no {kind}");
        ran.refused(1, &["nothing to run", &reason]);
        let both = ["run", "--fs", "ext4", "--on", &format!("{on},loop:64M")];
        env.run(&[&both[..], &SMALL].concat()).good().says(&["not run", &reason]);
        let records = env.records(env.runs().len());
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].outcome, Outcome::Done);
    }
    assert_nothing_left(&env);
}

/// Too much, too little, nonsense.
#[test]
fn sizes_that_cannot_be() {
    let Some(env) = with_zram() else { return };
    for (on, code, words) in [
        ("zram:4T", 1, &["lies in memory", "available"][..]),
        ("zram:", 2, &["zram"]),
        ("zram:0", 2, &["--on: a device of 0 B"]),
        ("zram:1M", 2, &["ext4"]),
        ("zram", 2, &["zram"]),
        ("brd:-1", 2, &["--on: \"-1\""]),
    ] {
        let args = ["run", "--fs", "ext4", "--on", on];
        env.run(&[&args[..], &SMALL].concat()).refused(code, words);
    }
    assert_nothing_left(&env);
}
