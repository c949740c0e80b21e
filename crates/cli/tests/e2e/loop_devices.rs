//! The user's block devices: refused without the exact consent and unchanged then, used with it,
//! and looked at again before each mkfs. Loop devices that the test attaches stand for disks.

use crate::plain_directory::as_nobody;
use crate::support::devices::{Disk, Mounted, hash};
use crate::support::{Live, TestEnv, assert_nothing_left, sh};
use fsarena_model::record::{CacheState, Outcome, TrialRecord};
use fsarena_model::run::RunState;
use rustix::process::{Signal, kill_process};
use std::fs;
use std::os::unix::fs::symlink;

const COLD: [&str; 6] = ["--workload", "tiny-files", "--scale", "0.02", "--runs", "1"];
/// Quicker, where the caches are not the point.
const SMALL: [&str; 8] =
    ["--workload", "tiny-files", "--scale", "0.02", "--runs", "1", "--cache", "warm"];

/// A disk of 64 MiB with an ext4 of somebody on it.
fn ext4_disk() -> Option<Disk> {
    ext4_disk_of("64M")
}

fn ext4_disk_of(size: &str) -> Option<Disk> {
    Disk::with(size, |image| drop(sh(&format!("mkfs.ext4 -q {image}"))))
}

/// Refused with these words, by a run and by its dry run; nothing is touched.
#[track_caller]
fn refused(env: &TestEnv, disk: &Disk, on: &str, wipes: &[&str], words: &[&str]) {
    let before = disk.hash();
    let mut args = vec!["run", "--fs", "ext4", "--on", on];
    args.extend(SMALL);
    for wipe in wipes {
        args.extend(["--wipe", wipe]);
    }
    let made = (env.db().exists(), env.state().exists());
    env.run(&args).refused(2, words);
    args.push("--dry-run");
    env.run(&args).refused(2, words);
    assert_eq!((env.db().exists(), env.state().exists()), made, "nothing was made");
    assert_eq!(disk.hash(), before, "the device is as it was");
}

#[test]
fn a_device_is_refused_without_the_exact_consent() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let (Some(disk), Some(empty)) = (ext4_disk(), Disk::new("64M")) else { return };
    let (dev, other) = (disk.device(), empty.device());
    let exact = format!("say: --wipe {dev}=ext4");
    let (wrong, extra) = (disk.wipe("xfs"), disk.wipe("ext4+xfs"));
    let other_xfs = empty.wipe("xfs");
    let given = disk.wipe("ext4");
    for (wipes, words) in [
        (&[][..], &["its contents (ext4) were not given up", &*exact][..]),
        (&[dev], &["--wipe does not name ext4, which is on it", &exact]),
        (&[&wrong], &["--wipe names xfs, which is not there", &exact]),
        (&[&extra], &["--wipe names xfs, which is not there", &exact]),
        (&[&given, &given], &["several --wipe lead to it", &exact[5..]]),
    ] {
        refused(&env, &disk, dev, wipes, words);
    }
    let exact = format!("say: --wipe {other}");
    refused(&env, &empty, other, &[], &["nothing that has a signature", &exact]);
    refused(&env, &empty, other, &[&other_xfs], &["names xfs, which is not there", &exact]);
    assert!(!env.db().exists() && !env.state().exists());
    drop((disk, empty));
    assert_nothing_left(&env);
}

/// What a repair would bring back is not there for `blkid`, and is given up by its name alone.
#[test]
fn a_damaged_file_system_is_given_up_by_its_name() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let damaged = |image: &str| {
        sh(&format!("mkfs.ext4 -q -b 1024 {image}"));
        sh(&format!("dd if=/dev/zero of={image} bs=1024 seek=1 count=1 conv=notrunc"));
    };
    let Some(disk) = Disk::with("64M", damaged) else { return };
    let dev = disk.device();
    let (wipe, exact) = (disk.wipe("ext4+unknown"), format!("say: --wipe {dev}=ext4+unknown"));
    let found = "a copy of the superblock, at byte 8389632 (rescue: e2fsck -b 8193 -B 1024)";
    refused(&env, &disk, dev, &[], &[found, &exact]);
    refused(&env, &disk, dev, &[dev], &["does not name ext4, unknown", found, &exact]);
    refused(&env, &disk, dev, &[&disk.wipe("ext4")], &["does not name unknown", &exact]);
    let listed = env.run(&["devices"]).good();
    assert!(listed.stdout.contains("ext4+unknown"), "{}", listed.stdout);
    env.run(&[&["run", "--fs", "ext4", "--on", dev, "--wipe", &wipe], &SMALL[..]].concat()).good();
    drop(disk);
    assert_nothing_left(&env);
}

/// A device that is given up and not under test is a slip of the pen: perhaps of the other one.
#[test]
fn a_device_that_is_given_up_has_to_be_under_test() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let (Some(disk), Some(other)) = (Disk::new("64M"), ext4_disk()) else { return };
    let before = (disk.hash(), other.hash());
    let (dev, wipe) = (disk.device(), other.wipe("ext4"));
    for (on, given) in [(dev, &[dev, &*wipe][..]), ("loop:128M", &[&wipe])] {
        let mut args = vec!["run", "--fs", "ext4", "--on", on];
        args.extend(SMALL);
        given.iter().for_each(|wipe| args.extend(["--wipe", wipe]));
        let words = [&*format!("--wipe {}", other.device()), "not under test", "--on"];
        env.run(&args).refused(2, &words);
        args.push("--dry-run");
        env.run(&args).refused(2, &words);
    }
    let mut args = [&["run", "--fs", "ext4", "--on", dev, "--wipe", &*wipe], &SMALL[..]].concat();
    env.run(&args).refused(2, &["--wipe is for others", &format!("say: --wipe {dev}")]);
    args.push("--dry-run");
    env.run(&args).refused(2, &["--wipe is for others", &format!("say: --wipe {dev}")]);
    for bad in ["relative", "", "/dev/loop0=", "/dev/loop0=ext4+ext4", "=ext4"] {
        let args = [&["run", "--fs", "ext4", "--on", dev, "--wipe", bad], &SMALL[..]].concat();
        env.run(&args).refused(2, &["--wipe"]);
    }
    assert_eq!((disk.hash(), other.hash()), before);
    drop((disk, other));
    assert_nothing_left(&env);
}

/// A RUN of `fs` over a disk with an ext4 on it, with consent; its records.
fn wiped(env: &TestEnv, disk: &Disk, fs: &str) -> Vec<TrialRecord> {
    let wipe = disk.wipe("ext4");
    let queue = disk.queue();
    let args = ["run", "--fs", fs, "--on", disk.device(), "--wipe", &wipe];
    let ran = env.run(&[&args[..], &COLD].concat()).good();
    assert!(!ran.stderr.contains("left behind"), "{}", ran.stderr);
    disk.assert_free();
    assert_eq!(disk.queue(), queue);
    let records = env.records(1);
    let size_bytes = fs::metadata(disk.image()).unwrap().len().to_string();
    for record in &records {
        assert_eq!(record.outcome, Outcome::Done);
        assert_eq!(record.device["size_bytes"], size_bytes);
        assert_eq!(record.device["in_memory"], "false");
        assert_eq!(record.device["logical_sector_bytes"], "512");
        assert_eq!(record.device["scheduler"], queue["scheduler"]);
        assert_eq!(record.device["read_ahead_kib"], queue["read_ahead_kb"]);
        assert_eq!(record.device["write_cache"], queue["write_cache"]);
        assert!(record.filesystem.mkfs_argv.iter().any(|word| word == disk.device()));
        assert!(record.phases.iter().all(|phase| phase.cache.state == CacheState::Cold));
        assert!(record.conditioning.is_none());
    }
    records
}

/// One after the other on the same sectors; what this kernel lacks is a row with the reason.
#[test]
fn a_device_that_is_given_up_is_used() {
    let Some(env) = TestEnv::with_devices(&["ext4", "btrfs"]) else { return };
    let Some(disk) = ext4_disk_of("160M") else { return };
    let records = wiped(&env, &disk, "ext4,btrfs,jfs,f2fs,nilfs2,reiserfs");
    let shown = env.run(&["show"]).good();
    let known = fs::read_to_string("/proc/filesystems").unwrap();
    let absent = |name: &&str| !known.lines().any(|line| line.trim() == *name);
    for name in ["jfs", "f2fs", "nilfs2", "reiserfs"].into_iter().filter(absent) {
        let reason = format!("{name}: this kernel has no {name}");
        assert!(shown.stdout.replace("\n    ", " ").contains(&reason), "{}", shown.stdout);
    }
    assert!(records.len() >= 2);
    let unwrapped = shown.stdout.replace('\n', " ");
    assert!(unwrapped.contains("loop device over a file of 160 MiB"), "{}", shown.stdout);
    let last = &records[records.len() - 1].filesystem.name;
    assert_eq!(disk.signature(), *last, "the last file system stays");
    assert_nothing_left(&env);
}

#[test]
fn a_device_that_is_given_up_is_used_by_xfs() {
    let Some(env) = TestEnv::with_devices(&["xfs"]) else { return };
    let Some(disk) = ext4_disk_of("300M") else { return };
    assert_eq!(wiped(&env, &disk, "xfs").len(), 1);
    assert_nothing_left(&env);
}

/// A partition next to one that is mounted; the disk of both is in use.
#[test]
fn a_partition_is_used_and_its_neighbour_stays() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let table = |image: &str| {
        sh(&format!("printf 'label: gpt\\nsize=48M\\nsize=32M\\n' | sfdisk -q {image}"));
    };
    let Some(disk) = Disk::with("84M", table) else { return };
    let (first, second) = (format!("{}p1", disk.device()), format!("{}p2", disk.device()));
    if !std::path::Path::new(&second).exists() {
        return println!("not run: nodes of partitions do not appear here");
    }
    sh(&format!("mkfs.ext4 -q {second}"));
    let dir = env.make_dir("neighbour");
    let mounted = Mounted::at(&second, &dir);
    sh(&format!("head -c 1000000 /dev/urandom > {dir}/file; sync -f {dir}"));
    let content = hash(&format!("{dir}/file"));
    let whole = disk.wipe("gpt");
    let words = ["its partition", "is in use: mounted at", "--wipe does not help here"];
    refused(&env, &disk, disk.device(), &[&whole], &words);
    refused(&env, &disk, &second, &[&format!("{second}=ext4")], &["in use: mounted at"]);
    refused(&env, &disk, &first, &[], &[&format!("say: --wipe {first}")]);
    let args = ["run", "--fs", "ext4", "--on", &first, "--wipe", &first];
    env.run(&[&args[..], &SMALL].concat()).good();
    let record = env.records(1).remove(0);
    assert_eq!(record.device["size_bytes"], (48 << 20).to_string());
    assert_eq!(record.device["partition"], "1");
    drop(mounted);
    sh(&format!("e2fsck -fn {second} && e2fsck -fn {first}"));
    let again = Mounted::at(&second, &dir);
    assert_eq!(hash(&format!("{dir}/file")), content);
    drop(again);
    drop(disk);
    assert_nothing_left(&env);
}

/// A long RUN on the disk, stopped after its first trial: the program sleeps, its executor is gone.
fn between_trials<'a>(env: &'a TestEnv, disk: &Disk) -> Live<'a> {
    let wipe = disk.wipe("");
    let experiment = env.long_experiment("ext4", disk.device(), "");
    let mut live =
        env.start(&["run", &experiment, "--wipe", &wipe, "--scale", "0.2", "--cache", "warm"]);
    let worker = live.stop_in_phase(1);
    live.signal(Signal::STOP);
    kill_process(worker, Signal::CONT).unwrap();
    let gone = "the executor's end";
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !live.executors().is_empty() {
        assert!(std::time::Instant::now() < deadline, "{gone} does not come");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    live
}

/// The second trial was refused with these words; the first is whole.
#[track_caller]
fn second_refused(env: &TestEnv, live: Live<'_>, words: &[&str]) {
    live.signal(Signal::CONT);
    live.end().code(1).says(words);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].outcome, Outcome::Done);
    assert_eq!(records[0].phases[0].ops, 4000);
    let Outcome::Failed { step, error, .. } = &records[1].outcome else { panic!("no refusal") };
    assert_eq!(step, "reset", "{error}");
    assert_eq!(env.runs()[0].state, RunState::Done);
}

#[test]
fn somebody_mounts_the_device_between_two_trials() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let live = between_trials(&env, &disk);
    sh(&format!("mkfs.ext4 -q -F {}", disk.device()));
    let dir = env.make_dir("theirs");
    let mounted = Mounted::at(disk.device(), &dir);
    sh(&format!("head -c 1000000 /dev/urandom > {dir}/file; sync -f {dir}"));
    let content = hash(&format!("{dir}/file"));
    second_refused(&env, live, &["in use: mounted at", &dir]);
    assert_eq!(hash(&format!("{dir}/file")), content);
    drop(mounted);
    sh(&format!("e2fsck -fn {}", disk.device()));
    let again = Mounted::at(disk.device(), &dir);
    assert_eq!(hash(&format!("{dir}/file")), content);
    drop(again);
    disk.assert_free();
    assert_nothing_left(&env);
}

/// As when a stick is pulled out and another one is put in.
#[test]
fn another_medium_comes_between_two_trials() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(mut disk) = Disk::new("64M") else { return };
    let live = between_trials(&env, &disk);
    let other = format!("{}.other", disk.image());
    sh(&format!("truncate -s 64M {other}; mkfs.ext4 -q {other}"));
    let before = hash(&other);
    disk.replace(&other);
    second_refused(&env, live, &["is not the device that was vetted", "diskseq"]);
    assert_eq!(hash(&other), before);
    drop(disk);
    assert_nothing_left(&env);
}

#[test]
fn the_device_vanishes_between_two_trials() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(mut disk) = Disk::new("64M") else { return };
    let (live, path) = (between_trials(&env, &disk), disk.device().to_owned());
    let before = disk.hash();
    disk.detach();
    second_refused(&env, live, &[&path]);
    assert_eq!(disk.hash(), before);
    assert_nothing_left(&env);
}

/// Links lead to the device in both options; what is stored and handed on is the device itself.
#[test]
fn links_to_a_device() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let (Some(disk), Some(other)) = (ext4_disk(), ext4_disk()) else { return };
    let before = (disk.hash(), other.hash());
    let (one, two) = (env.path("one"), env.path("two"));
    symlink(disk.device(), &one).unwrap();
    symlink(&one, &two).unwrap();
    let on = one.display().to_string();
    let wipe = format!("{}=ext4", two.display());
    let args = ["run", "--fs", "ext4", "--on", &on, "--wipe", &wipe];
    // The other link leads to another device by the time the program starts.
    fs::remove_file(&two).unwrap();
    symlink(other.device(), &two).unwrap();
    let words = ["its contents (ext4) were not given up", &format!("--wipe {on}=ext4")];
    env.run(&[&args[..], &SMALL].concat()).refused(2, &words);
    fs::remove_file(&two).unwrap();
    symlink("/nonexistent", &two).unwrap();
    env.run(&[&args[..], &SMALL].concat()).refused(2, &words[..1]);
    assert_eq!((disk.hash(), other.hash()), before);
    fs::remove_file(&two).unwrap();
    symlink(&one, &two).unwrap();
    env.run(&[&args[..], &SMALL].concat()).good();
    let record = env.records(1).remove(0);
    assert!(record.filesystem.mkfs_argv.iter().any(|word| word == disk.device()));
    assert_eq!(other.hash(), before.1);
    disk.assert_free();
    drop((disk, other));
    assert_nothing_left(&env);
}

/// One device under two names is one device; what is no device is told so.
#[test]
fn names_that_are_no_devices_of_their_own() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = ext4_disk() else { return };
    let before = disk.hash();
    let link = env.path("link");
    symlink(disk.device(), &link).unwrap();
    let both = format!("{},{}", disk.device(), link.display());
    let same = format!("{0},{0}", disk.device());
    let (image, wipe) = (disk.image(), disk.wipe("ext4"));
    for (on, words) in [
        (&*both, &["this device is named twice"][..]),
        (&same, &["the same level twice"]),
        (&image, &["is a regular file, not a block device", "losetup"]),
        ("/dev/no-such-device", &["/dev/no-such-device", "that the device is there"]),
        ("/dev/null", &["not a directory"]),
    ] {
        let args = ["run", "--fs", "ext4", "--on", on, "--wipe", &wipe];
        env.run(&[&args[..], &SMALL].concat()).refused(2, words);
    }
    assert_eq!(disk.hash(), before);
    assert!(!env.db().exists() && !env.state().exists());
    drop(disk);
    assert_nothing_left(&env);
}

/// A device has one RUN at a time, also between two trials of the first.
#[test]
fn a_device_has_one_run_at_a_time() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("64M") else { return };
    let live = between_trials(&env, &disk);
    let wipe = disk.wipe("ext4");
    let before = disk.hash();
    let args = ["run", "--fs", "ext4", "--on", disk.device(), "--wipe", &wipe];
    let words = ["another run of fsarena works on it"];
    env.run(&[&args[..], &SMALL].concat()).refused(2, &words);
    assert_eq!(disk.hash(), before);
    live.signal(Signal::CONT);
    live.end().good();
    assert_eq!(env.runs().iter().map(|run| run.state).collect::<Vec<_>>(), [RunState::Done]);
    disk.assert_free();
    // In the middle of a trial it is mounted where only its own processes see it.
    let experiment = env.long_experiment("ext4", disk.device(), "");
    let long = ["run", &experiment, "--wipe", &wipe, "--cache", "warm", "--scale", "0.2"];
    let mut live = env.start(&long);
    live.stop_in_phase(1);
    env.run(&[&args[..], &SMALL].concat()).refused(2, &["in use: mounted at"]);
    live.signal(Signal::INT);
    live.end().code(130);
    disk.assert_free();
    drop(disk);
    assert_nothing_left(&env);
}

/// What the program itself writes to is never under test.
#[test]
fn our_own_files_lie_on_the_device() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = ext4_disk() else { return };
    let dir = env.make_dir("on-disk");
    let mounted = Mounted::at(disk.device(), &dir);
    let wipe = disk.wipe("ext4");
    let args = ["run", "--fs", "ext4", "--on", disk.device(), "--wipe", &wipe];
    let places = [
        ("FSARENA_DB", "new.db", "the database"),
        ("FSARENA_STATE_DIR", "state", "the journal"),
        ("FSARENA_IMAGE_DIR", "", "the directory of images"),
    ];
    for (variable, name, what) in places {
        let mut command = env.command(&[&args[..], &SMALL].concat());
        command.env(variable, std::path::Path::new(&dir).join(name));
        env.finish(command).refused(2, &[what, "is on it", "name another device"]);
    }
    assert_eq!(sh(&format!("ls -A {dir}")), "lost+found");
    drop(mounted);
    disk.assert_free();
    drop(disk);
    assert_nothing_left(&env);
}

/// The table says whether and why not; the option that it prints is the one that works.
#[test]
fn the_list_of_devices() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let (Some(free), Some(used)) = (ext4_disk(), ext4_disk()) else { return };
    let dir = env.make_dir("used");
    let mounted = Mounted::at(used.device(), &dir);
    let before = (free.hash(), used.hash());
    let option = format!("--wipe {}", free.wipe("ext4"));
    let table = env.run(&["devices"]).good().says(&[&format!("with {option}")]);
    let row = table.stdout.lines().find(|line| line.starts_with(used.name())).unwrap();
    assert!(row.contains("no: in use: mounted at"), "{row}");
    let json = env.run(&["devices", "--json"]).good().json();
    let of = |disk: &Disk| {
        let rows = json["devices"].as_array().unwrap();
        rows.iter().find(|row| row["identity"]["name"] == disk.name()).unwrap().clone()
    };
    assert_eq!(of(&free)["verdict"]["verdict"], "with-consent");
    assert_eq!(of(&free)["verdict"]["option"], *option);
    assert_eq!(of(&free)["signatures"][0], "ext4");
    assert_eq!(of(&free)["size_bytes"], 64 << 20);
    assert_eq!(of(&used)["verdict"]["verdict"], "never");
    assert!(of(&used)["verdict"]["reason"].as_str().unwrap().contains(&dir), "{}", of(&used));
    assert_eq!(of(&used)["mount_points"][0], *dir);
    assert_eq!((free.hash(), used.hash()), before, "it only looks");
    assert!(!env.db().exists() && !env.state().exists());
    // Without rights nothing is promised and nothing is touched.
    let nobody = as_nobody(&env, &["devices"]).expect("root");
    let ran = env.finish(nobody).good().says(&["not root"]);
    let row = ran.stdout.lines().find(|line| line.starts_with(free.name())).unwrap();
    assert!(row.contains("no: ") && !ran.stdout.contains("--wipe"), "{}", ran.stdout);
    let wipe = free.wipe("ext4");
    let args = ["run", "--fs", "ext4", "--on", free.device(), "--wipe", &wipe];
    let nobody = as_nobody(&env, &[&args[..], &SMALL].concat()).expect("root");
    env.finish(nobody).refused(2, &[free.device()]);
    assert_eq!(free.hash(), before.0);
    std::os::unix::fs::chown(env.dir(), Some(0), Some(0)).unwrap();
    let (word, value) = option.split_once(' ').unwrap();
    let args = ["run", "--fs", "ext4", "--on", free.device(), word, value];
    env.run(&[&args[..], &SMALL].concat()).good();
    drop(mounted);
    drop((free, used));
    assert_nothing_left(&env);
}
