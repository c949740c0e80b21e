//! `destroy` of a file system that an experiment file defines: once for each trial, also for one
//! that was killed, and not for what is kept.

use crate::support::devices::{Disk, hash};
use crate::support::{TestEnv, assert_nothing_left, sh};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use std::fs;
use std::time::{Duration, Instant};

/// Two long trials of ext4 by commands; `destroy` adds a line to the file `mark`.
fn marking(env: &TestEnv) -> String {
    let mark = env.path("mark");
    let commands = format!(
        "[[filesystem]]\nname = \"mine\"\ncreate = \"mkfs.ext4 -q -F -E nodiscard {{dev}}\"\n\
         mount = \"mount -t ext4 {{dev}} {{mnt}}\"\ndestroy = \"echo {{dev}} >> {}\"\n",
        mark.display()
    );
    env.long_experiment("mine", "loop:128M", &commands)
}

#[track_caller]
fn assert_marks(env: &TestEnv, times: usize) {
    let text = fs::read_to_string(env.path("mark")).unwrap_or_default();
    assert_eq!(text.lines().count(), times, "destroyed:\n{text}");
}

/// The loop device of the killed trial went with its process, and its number may be anybody's.
#[test]
fn nothing_is_destroyed_on_a_device_that_is_gone() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = marking(&env);
    let mut live = env.start(&["run", &experiment, "--yes"]);
    live.stop_in_phase(2);
    assert_marks(&env, 1);
    live.kill_tree();
    assert_eq!(live.end().code, None, "killed by a signal");
    // The kernel lets go of the loop device a moment after its last user.
    let is_held = || sh("losetup -n -O BACK-FILE").contains(&env.dir().display().to_string());
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_held() {
        assert!(Instant::now() < deadline, "the loop device stays");
        std::thread::sleep(Duration::from_millis(20));
    }
    env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_marks(&env, 1);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    assert_eq!(env.records(1)[0].outcome, Outcome::Done);
}

/// A second loop device over the first stands for what LUKS or ZFS would make: it outlives every
/// process and namespace, and holds the device.
fn destroyed_on(env: &TestEnv, on: &str, wipe: &[&str]) {
    let mark = env.path("mark");
    let commands = format!(
        "[[filesystem]]\nname = \"mine\"\n\
         create = \"mkfs.ext4 -q -F -E nodiscard {{dev}} && losetup -r -f {{dev}}\"\n\
         mount = \"mount -t ext4 {{dev}} {{mnt}}\"\n\
         destroy = \"losetup -n -O NAME -j {{dev}} | xargs -r losetup -d; echo x >> {}\"\n",
        mark.display()
    );
    let experiment = env.long_experiment("mine", on, &commands);
    let mut live = env.start(&[&["run", &experiment, "--yes"], wipe].concat());
    live.stop_in_phase(2);
    assert_marks(env, 1);
    live.kill_tree();
    assert_eq!(live.end().code, None, "killed by a signal");
    env.run(&["list"]).good().says(&["cleaned up after a killed run"]);
    assert_marks(env, 2);
    env.run(&["list"]).good();
    assert_marks(env, 2);
}

#[test]
fn what_holds_the_device_of_a_killed_trial_is_destroyed() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    destroyed_on(&env, "loop:128M", &[]);
    assert_nothing_left(&env);
}

#[test]
fn what_holds_a_device_of_the_user_is_destroyed() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("128M") else { return };
    destroyed_on(&env, disk.device(), &["--wipe", disk.device()]);
    disk.assert_free();
    drop(disk);
    assert_nothing_left(&env);
}

#[test]
fn the_last_trial_is_kept_when_asked() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let experiment = marking(&env);
    env.run(&["run", &experiment, "--yes", "--scale", "0.01", "--keep"]).good();
    assert_marks(&env, 1);
    env.run(&["list"]).good();
    assert_marks(&env, 1);
    let kept: Vec<_> = fs::read_dir(env.images()).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1);
    fs::remove_file(kept[0].path()).unwrap();
    assert_nothing_left(&env);
    assert!(env.records(1).iter().all(|record| record.outcome == Outcome::Done));
}

/// The command was written for a device of the user's that is another one by now.
#[test]
fn nothing_is_destroyed_on_a_device_that_is_another_one() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(mut disk) = Disk::new("128M") else { return };
    let mark = env.path("mark");
    let commands = format!(
        "[[filesystem]]\nname = \"mine\"\ncreate = \"mkfs.ext4 -q -F -E nodiscard {{dev}}\"\n\
         mount = \"mount -t ext4 {{dev}} {{mnt}}\"\n\
         destroy = \"echo {{dev}} >> {}; wipefs -a {{dev}}\"\n",
        mark.display()
    );
    let experiment = env.long_experiment("mine", disk.device(), &commands);
    let mut live = env.start(&["run", &experiment, "--yes", "--wipe", disk.device()]);
    live.stop_in_phase(1);
    live.kill_tree();
    live.end();
    let other = format!("{}.other", disk.image());
    sh(&format!("truncate -s 128M {other} && mkfs.ext4 -q {other}"));
    let before = hash(&other);
    disk.replace(&other);
    let words = ["the command is not run", "diskseq", "wipefs -a", disk.device()];
    env.run(&["list"]).good().says(&words);
    assert_eq!(hash(&other), before);
    assert_marks(&env, 0);
    let again = env.run(&["list"]).good();
    assert!(!again.stderr.contains("not run"), "said once: {}", again.stderr);
    drop(disk);
    assert_nothing_left(&env);
}
