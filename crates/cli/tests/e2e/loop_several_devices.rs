//! A file system on several devices: made on all of them, counted on all of them, refused where it
//! takes one, and nothing left of it wherever it is stopped.

use crate::support::devices::Disk;
use crate::support::{TestEnv, assert_nothing_left, sh};
use fsarena_model::record::{CacheState, Outcome, TrialRecord, Window};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::fs;

const WORK: [&str; 4] = ["--workload", "tiny-files", "--scale", "0.02"];
const RAID1: &str = "btrfs:mkfs.data_profile=raid1";
const RAID0: &str = "btrfs:mkfs.data_profile=raid0";

/// The profile of data that mkfs was given.
fn data_profile(record: &TrialRecord) -> &str {
    let argv = &record.filesystem.mkfs_argv;
    let at = argv.iter().position(|word| word == "-d").unwrap();
    &argv[at + 1]
}

/// The kernel was told to forget `other`: told of `one` alone, it lacks a device. Where udev runs,
/// that tells it of every device that was written.
fn assert_is_forgotten(one: &str, other: &str) {
    if std::path::Path::new("/run/udev/control").exists() {
        return println!("not looked at: udev registers devices of btrfs");
    }
    let ready =
        sh(&format!("btrfs device ready {one} && echo complete; btrfs device scan --forget {one}"));
    assert!(!ready.contains("complete"), "{other} is still registered");
}

/// Both copies of raid1 are written and none of raid0: the counters of both devices are added.
#[test]
fn copies_are_written_to_both_devices_and_counted_once_each() {
    let Some(env) = TestEnv::with_devices(&["btrfs"]) else { return };
    let work = env.write(
        "several.toml",
        &format!(
            "schema = 1\nname = \"several\"\n[run]\nverify = true\n[factors]\n\
             fs = [\"{RAID1}\", \"{RAID0}\"]\ndevice = \"loop:384M*2\"\n[[workload]]\n\
             name = \"w\"\nfiles = 64\nsize = \"1M\"\nbs = \"128K\"\nphases = [\"create\", \"read\"]\n"
        ),
    );
    let ran = env.run(&["run", &work, "--runs", "1", "--seed", "1"]).good();
    ran.says(&["2 loop devices over images of 768 MiB in all"]);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    let mut written = BTreeMap::new();
    for record in &records {
        assert_eq!(record.outcome, Outcome::Done);
        assert!(record.steps.iter().any(|step| step.step == "verify"), "contents were compared");
        let argv = &record.filesystem.mkfs_argv;
        let devices = &argv[argv.len() - 2..];
        assert!(devices.iter().all(|device| device.starts_with("/dev/loop")), "{argv:?}");
        assert!(argv.join(" ").contains(" -m raid1 "), "the default is written out: {argv:?}");
        let asked = &record.filesystem.mount_asked;
        assert!(asked.ends_with(&format!("device={}", devices[1])), "{asked}");
        assert_eq!(record.filesystem.features["num_devices"], "2");
        assert_eq!(record.device["size_bytes"], (768 << 20).to_string());
        let states: Vec<CacheState> = record.phases.iter().map(|phase| phase.cache.state).collect();
        assert_eq!(states, [CacheState::Cold; 2], "both devices are out of the cache");
        assert!(record.notices.iter().all(|notice| notice.code != "prediction-off"));
        let counters = &record.phases[0].windows[&Window::Unmounted];
        written.insert(data_profile(record), counters["device.written_bytes"]);
        let read = &record.phases[1].windows[&Window::Durable]["device.read_bytes"];
        assert!((64 << 20..80 << 20).contains(read), "contents are read once: {read}");
        assert!(!counters.contains_key("device.busy_ns"), "times of two devices overlap");
    }
    let (raid1, raid0) = (written["raid1"], written["raid0"]);
    assert!((64 << 20..80 << 20).contains(&raid0), "{raid0}");
    assert!((128 << 20..150 << 20).contains(&raid1), "{raid1}");
    env.run(&["list"]).good().says(&["several"]);
    let plan = ["run", &work, "--runs", "1", "--dry-run"];
    env.run(&plan).good().says(&["2 × loop of 384 MiB"]);
    env.run(&["export", "1", "--format", "csv"]).good().says(&["several"]);
    env.run(&["export", "1", "--format", "markdown"]).good().says(&["2 loop devices"]);
    env.run(&["compare", "1"]).good();
    let (article, bundle) = (env.path("article"), env.path("run.tar.zst"));
    env.run(&["article", "1", "-o", &article.display().to_string()]).good();
    env.run(&["bundle", "1", "-o", &bundle.display().to_string()]).good();
    env.run(&["bundle", "check", &bundle.display().to_string()]).good();
    assert_nothing_left(&env);
}

/// Where written bytes went is not told of several devices.
#[test]
fn no_account_by_place_is_given_for_several_devices() {
    let Some(env) = TestEnv::with_devices(&["btrfs"]) else { return };
    let on = ["--fs", "btrfs", "--on", "loop:160M+loop:256M", "--account"];
    env.run_once(&[&on[..], &WORK].concat()).good();
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Done);
    let taken = record.notices.iter().find(|notice| notice.code == "account-not-taken");
    let text = &taken.unwrap().text;
    assert!(text.contains("lies on 2 devices, and a trace follows one"), "{text}");
    assert_nothing_left(&env);
}

#[test]
fn what_does_not_go_with_several_devices_is_refused_with_a_reason() {
    let Some(env) = TestEnv::with_devices(&["btrfs", "ext4"]) else { return };
    let refused = |fs: &str, on: &str, words: &[&str]| {
        let args = ["run", "--runs", "1", "--fs", fs, "--on", on];
        env.run(&[&args[..], &WORK].concat()).refused(2, words);
    };
    let one = ["it lies on one device, and here are 2", "use btrfs"];
    refused("ext4", "loop:320M*2", &one);
    refused("raw", "loop:320M+loop:320M", &one);
    let c3 = "btrfs:mkfs.data_profile=raid1c3";
    refused(c3, "loop:320M*2", &["data_profile = raid1c3 needs 3 devices, and there are 2"]);
    refused(RAID1, "loop:320M", &["data_profile = raid1 needs 2 devices, and there is one"]);
    refused("btrfs", "loop:32M*2", &["one of its devices has 32 MiB", "69M"]);
    let args = ["run", "--runs", "1", "--fs", "btrfs:data_profile=raid1", "--on", "loop:320M*2"];
    env.run(&[&args[..], &WORK].concat()).refused(1, &["write mkfs.data_profile=raid1"]);
    refused("btrfs", "zram:1G*2", &["\"zram:1G\" cannot be one of several devices"]);
    let vdisk = "vdisk:1G:model=hdd-2007+loop:1G";
    refused("btrfs", vdisk, &["cannot be one of several devices"]);
    let crash = ["crash", "--fs", "btrfs", "--on", "loop:1G*2"];
    env.run(&crash).refused(2, &["modelled"]);
    assert!(!env.db().exists() && !env.state().exists(), "nothing was made");
    assert_nothing_left(&env);
}

/// Queue settings are made on each device.
#[test]
fn alone_queue_settings_are_those_of_each_device() {
    let Some(env) = TestEnv::with_devices(&["btrfs"]) else { return };
    let on = ["--fs", RAID0, "--on", "loop:160M*2", "--read-ahead", "512K"];
    let more = ["--ssd", "blkdiscard"];
    env.run_once(&[&on[..], &more, &WORK].concat()).good();
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Done);
    assert_eq!(record.device["read_ahead_kib"], "512", "joined where they differ");
    let done = record.conditioning.as_ref().unwrap();
    assert_eq!(done.parts().len(), 2, "{done:?}");
    assert_nothing_left(&env);
}

/// Two disks of the user's: each with consent of its own, neither touched without it.
#[test]
fn each_disk_is_given_up_by_its_own_name() {
    let Some(env) = TestEnv::with_devices(&["btrfs"]) else { return };
    let somebody = |image: &str| drop(sh(&format!("mkfs.ext4 -q {image}")));
    let (Some(one), Some(other)) = (Disk::with("160M", somebody), Disk::new("160M")) else {
        return;
    };
    let before = (one.hash(), other.hash());
    let on = format!("{}+{}", one.device(), other.device());
    let (wipe, exact) = (one.wipe("ext4"), format!("--wipe {}", other.device()));
    let run = |wipes: &[&str]| {
        let mut args = vec!["run", "--runs", "1", "--fs", RAID1, "--on", &on];
        wipes.iter().for_each(|wipe| args.extend(["--wipe", wipe]));
        args.extend(WORK);
        env.run(&args)
    };
    run(&[]).refused(2, &[one.device(), "were not given up"]);
    run(&[&wipe]).refused(2, &[&exact]);
    run(&[other.device()]).refused(2, &[one.device()]);
    assert_eq!((one.hash(), other.hash()), before, "untouched");
    run(&[&wipe, other.device()]).good();
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Done);
    assert_eq!(record.phases[0].cache.state, CacheState::Cold);
    assert_is_forgotten(one.device(), other.device());
    assert_is_forgotten(other.device(), one.device());
    one.assert_free();
    other.assert_free();
    drop((one, other));
    assert_nothing_left(&env);
}

#[test]
fn both_images_are_kept() {
    let Some(env) = TestEnv::with_devices(&["btrfs"]) else { return };
    let on = ["--fs", RAID1, "--on", "loop:160M*2", "--keep"];
    let ran = env.run_once(&[&on[..], &WORK].concat()).good();
    let mut images: Vec<String> = fs::read_dir(env.images())
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    images.sort();
    assert_eq!(images.len(), 2, "{images:?}");
    ran.says(&[&*images[0], &*images[1]]);
    let looked = sh(&format!(
        "a=$(losetup -f --show {}) && b=$(losetup -f --show {}) && \
         btrfs check --readonly $a 2>&1; echo ended $?; \
         btrfs device scan --forget $a; btrfs device scan --forget $b; losetup -d $a $b",
        images[0], images[1]
    ));
    assert!(looked.contains("no error found") && looked.contains("ended 0"), "{looked}");
    images.iter().for_each(|image| fs::remove_file(image).unwrap());
    assert_nothing_left(&env);
}

/// A RUN that is stopped goes on with two new images; one that is killed leaves neither.
#[test]
fn nothing_is_left_of_a_run_on_two_devices_that_is_killed() {
    let Some(env) = TestEnv::with_devices(&["btrfs"]) else { return };
    let experiment = env.long_experiment(RAID1, "loop:256M*2", "");
    let mut live = env.start(&["run", &experiment]);
    live.stop_in_phase(1);
    live.kill_tree();
    live.end();
    env.run(&["list"]).good();
    assert_nothing_left(&env);
}

#[test]
fn a_run_on_two_devices_is_resumed() {
    let Some(env) = TestEnv::with_devices(&["btrfs"]) else { return };
    let experiment = env.long_experiment(RAID1, "loop:256M*2", "");
    let mut live = env.start(&["run", &experiment]);
    live.wait_for("[2/");
    live.signal(Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
    env.run(&["run", "--resume"]).good();
    assert!(env.records(1).iter().any(|record| record.outcome == Outcome::Done));
    assert_nothing_left(&env);
}
