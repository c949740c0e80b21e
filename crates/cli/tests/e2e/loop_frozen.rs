//! Killed between freezing a file system and thawing it: nobody has it mounted any more, and it
//! holds itself and its device. Whoever comes next takes it down.

use crate::support::devices::{Disk, has_zram};
use crate::support::{Live, TestEnv, assert_nothing_left, kill_dash_nine, sh, tool};
use fsarena_model::record::Outcome;
use fsarena_model::run::RunState;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A RUN on `device` whose mounted file system is frozen, as it is for a moment in each trial;
/// `None` where this machine is too busy for a modelled disk.
fn frozen<'a>(env: &'a TestEnv, fs: &str, device: &str, more: &[&str]) -> Option<Live<'a>> {
    let text = format!(
        "schema = 1\nname = \"frozen\"\n[run]\nblocks = 1\n[factors]\nfs = \"{fs}\"\n\
         device = \"{device}\"\n[[workload]]\nname = \"w\"\nfiles = 40\nsize = \"64 KiB\"\n\
         phases = [\"create\"]\n"
    );
    let experiment = env.write("frozen.toml", &text);
    let mut command = env.command(&[&["run", experiment.as_str()], more].concat());
    command.env("FSARENA_FAULT", format!("pause:measure create:{}", go_on(env).display()));
    let mut live = env.start_command(command);
    let is_refused = live.poll("pause", |live| {
        let said = live.stderr();
        let is_refused = said.contains("which a native disk cannot do here");
        (is_refused || said.contains("asks for a pause")).then_some(is_refused)
    });
    if is_refused {
        println!("not run: this machine is too busy to serve a modelled disk");
        return None;
    }
    sh(&format!("fsfreeze --freeze {}", live.mounted_root().display()));
    Some(live)
}

/// A disk that is served by the RUN.
const MODELLED: &str = "vdisk:512M:model=hdd-laptop";

const THAW_ALL: &str = "/proc/sysrq-trigger";

fn go_on(env: &TestEnv) -> PathBuf {
    env.path("go-on")
}

fn ready(fs: &str) -> Option<TestEnv> {
    let env = TestEnv::privileged(&[fs])?;
    let Some(_) = tool("fsfreeze") else {
        println!("not run: no fsfreeze to leave it frozen with");
        return None;
    };
    Some(env)
}

/// Whether something holds the device.
fn is_held(device: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    open(device, flags, Mode::empty()).is_err_and(|error| error == Errno::BUSY)
}

/// Devices of this test environment, that its RUN has made or attached.
fn devices(env: &TestEnv) -> Vec<String> {
    let uid = env.runs().remove(0).uid;
    let of_run = |device: &fs::DirEntry| {
        let file = fs::read_to_string(device.path().join("loop/backing_file"));
        file.is_ok_and(|file| file.contains(&format!("fsarena-{uid}")))
    };
    let all = fs::read_dir("/sys/block").unwrap().flatten();
    let ours = all.filter(of_run).map(|device| device.file_name().into_string().unwrap());
    ours.map(|name| format!("/dev/{name}")).collect()
}

#[track_caller]
fn wait_until(what: &str, limit_s: u64, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(limit_s);
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {limit_s} s: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// `kill -9` of all that belongs to the RUN.
fn killed(env: &TestEnv, live: Live<'_>) {
    live.kill_tree();
    assert_eq!(live.end().code, None);
    wait_until("its processes are gone", 30, || env.fixture.processes().is_empty());
}

/// The device of the RUN that is held once its processes are gone.
fn frozen_and_killed(env: &TestEnv, fs: &str, device: &str) -> Option<String> {
    let live = frozen(env, fs, device, &[])?;
    killed(env, live);
    let mut left = devices(env);
    assert!(left.len() == 1 && is_held(&left[0]), "{left:?}");
    left.pop()
}

#[track_caller]
fn cleaned_up(env: &TestEnv, words: &[&str]) {
    let ran = env.run(&["list"]).good();
    let ran = ran.says(&["cleaned up after a killed run"]).says(words);
    assert!(!ran.stderr.contains("could not be cleaned up"), "{}", ran.stderr);
    assert_eq!(env.runs()[0].state, RunState::Interrupted);
    assert!(!env.run(&["list"]).good().stderr.contains("cleaned up"), "a second time");
}

#[test]
fn on_an_image() {
    for fs in ["ext4", "ext3", "xfs", "btrfs"] {
        let Some(env) = ready(fs) else { continue };
        let Some(_) = frozen_and_killed(&env, fs, "loop:512M") else { return };
        cleaned_up(&env, &[]);
        assert_nothing_left(&env);
    }
}

/// What serves the disk has died with the RUN, so that every request fails.
#[test]
fn on_a_modelled_disk() {
    for fs in ["ext4", "xfs"] {
        let Some(env) = ready(fs) else { continue };
        let Some(_) = frozen_and_killed(&env, fs, MODELLED) else { return };
        cleaned_up(&env, &["a frozen file system on /dev/loop"]);
        assert_nothing_left(&env);
    }
}

/// Btrfs reads its superblock again to be mounted once more: where it is not in memory any more, as
/// after another test has emptied the page cache, there is no way but one that thaws all.
#[test]
fn alone_on_a_modelled_disk_with_btrfs() {
    for is_in_memory in [true, false] {
        let Some(env) = ready("btrfs") else { return };
        if !is_in_memory && !Path::new(THAW_ALL).exists() {
            println!("not run: the superblock not in memory: no {THAW_ALL} to end it with");
            return;
        }
        let Some(device) = frozen_and_killed(&env, "btrfs", MODELLED) else { return };
        if is_in_memory {
            cleaned_up(&env, &["a frozen file system on /dev/loop"]);
            assert_nothing_left(&env);
            continue;
        }
        sh("echo 3 > /proc/sys/vm/drop_caches");
        let ran = env.run(&["list"]);
        ran.says(&[&device, "the kernel still has btrfs on it", THAW_ALL]);
        sh(&format!("echo j > {THAW_ALL}"));
        wait_until("it is gone after the thaw", 30, || devices(&env).is_empty());
        env.run(&["list"]).good();
        assert_nothing_left(&env);
    }
}

#[test]
fn on_a_device_of_the_users() {
    let Some(env) = ready("ext4") else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let more = ["--wipe", &disk.wipe("")];
    let Some(live) = frozen(&env, "ext4", disk.device(), &more) else { return };
    killed(&env, live);
    assert!(is_held(disk.device()));
    cleaned_up(&env, &[&format!("a frozen file system on {}", disk.device())]);
    assert!(!is_held(disk.device()));
    disk.assert_free();
    sh(&format!("e2fsck -fn {}", disk.device()));
    assert_nothing_left(&env);
}

/// Whoever has mounted it meanwhile lives, and thaws it himself.
#[test]
fn on_a_device_that_somebody_has_mounted_since() {
    let Some(env) = ready("ext4") else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let more = ["--wipe", &disk.wipe("")];
    let Some(live) = frozen(&env, "ext4", disk.device(), &more) else { return };
    killed(&env, live);
    let dir = env.make_dir("theirs");
    sh(&format!("mount {} {dir}", disk.device()));
    let ran = env.run(&["list"]).good();
    let thawed = sh(&format!("fsfreeze --unfreeze {dir} && echo thawed; umount {dir}"));
    assert_eq!(thawed.trim(), "thawed", "{}", ran.stderr);
    // A mount namespace of another test may have the mount for a moment longer.
    wait_until("the device is free", 10, || !is_held(disk.device()));
    assert_nothing_left(&env);
}

#[test]
fn on_zram() {
    let Some(env) = ready("ext4") else { return };
    if !has_zram() {
        return;
    }
    let Some(live) = frozen(&env, "ext4", "zram:128M", &[]) else { return };
    killed(&env, live);
    cleaned_up(&env, &["a frozen file system on /dev/zram", ", /dev/zram"]);
    assert_nothing_left(&env);
}

/// The RUN lives, and goes on at once.
#[test]
fn by_an_executor_that_was_killed() {
    for device in ["loop:512M", "vdisk:512M:model=hdd-laptop"] {
        for which in [0, 1] {
            let Some(env) = ready("ext4") else { return };
            let Some(live) = frozen(&env, "ext4", device, &[]) else { return };
            fs::write(go_on(&env), "").unwrap();
            kill_dash_nine(live.executors()[which]);
            let ran = live.end().says(&["attempt 1: it is done again"]);
            assert!(!ran.stderr.contains("attempt 2"), "{}", ran.stderr);
            assert_nothing_left(&env);
            let outcome = env.records(1).remove(0).outcome;
            let is_late = matches!(&outcome, Outcome::Failed { error, .. }
                if error.contains("answered later than its model"));
            assert!(outcome == Outcome::Done || is_late, "{device}: {outcome:?}");
        }
    }
}
