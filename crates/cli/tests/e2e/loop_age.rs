//! Aged file systems: the same operations on each, their state in the record and the report, what
//! is refused, and that nothing is left where ageing is stopped or killed.

use crate::support::devices::Disk;
use crate::support::{Live, TestEnv, assert_nothing_left, sh};
use fsarena_model::age::{Age, AgeRecord, AgeSequence};
use fsarena_model::record::{CacheState, Outcome, TrialRecord};
use rustix::process::Signal;
use std::collections::BTreeMap;

const WORK: [&str; 4] = ["--workload", "tiny-files", "--scale", "0.02"];
const DEVICE_BYTES: u64 = 320 << 20;

/// The records of RUN 1, by the name of the file system and whether they were aged.
fn by_age(env: &TestEnv) -> BTreeMap<(String, bool), TrialRecord> {
    let key = |record: &TrialRecord| (record.filesystem.name.clone(), record.age.is_some());
    env.records(1).into_iter().map(|record| (key(&record), record)).collect()
}

#[test]
fn the_same_operations_age_every_file_system() {
    let Some(env) = TestEnv::with_devices(&["ext4", "xfs"]) else { return };
    let on = ["--fs", "ext4,xfs,tmpfs", "--on", "loop:320M", "--age", "fresh,60%:churn=0.5"];
    let ran = env.run_once(&[&on[..], &WORK].concat()).good();
    let records = by_age(&env);
    assert_eq!(records.len(), 5, "tmpfs has no age: {:?}", records.keys());
    let age = Age { churn: 0.5, ..Age::filled(60) };
    let mut sequence = AgeSequence::new(&age, DEVICE_BYTES);
    sequence.by_ref().for_each(drop);
    for ((name, is_aged), record) in &records {
        assert_eq!(record.outcome, Outcome::Done, "{name}");
        let steps: Vec<&str> = record.steps.iter().map(|step| step.step.as_str()).collect();
        assert_eq!(steps[..3] == ["reset", "age", "mount"], *is_aged, "{steps:?}");
        let Some(AgeRecord { operations, operations_sha256, file_bytes, .. }) = &record.age else {
            continue;
        };
        assert_eq!(*operations_sha256, sequence.digest(), "{name}");
        assert_eq!((*operations, *file_bytes), (sequence.operations(), sequence.file_bytes()));
        let aged = record.age.as_ref().unwrap();
        assert!(aged.used_bytes > *file_bytes && aged.used_bytes < aged.total_bytes, "{aged:?}");
        // What was there before the work.
        assert_eq!(record.space.unwrap().used_empty_bytes, aged.used_bytes);
        let extents = aged.extents.expect("both have FIEMAP");
        assert_eq!(extents.files, aged.files, "{aged:?}");
        assert!(extents.mean >= 1.0 && extents.max >= extents.p99, "{extents:?}");
        let cold = |phase: &fsarena_model::record::PhaseRecord| phase.cache.state;
        assert!(record.phases.iter().map(cold).all(|state| state == CacheState::Cold));
        assert!(record.notices.iter().all(|notice| notice.code != "prediction-off"));
    }
    let short = &sequence.digest()[..8];
    ran.says(&["ext4 aged 60% churn=0.5", "Aged ÷ fresh is a ratio", "extents per file"]);
    let study = env.studied(1);
    assert!(study.is_object());
    let raw = env.run(&["show", "1", "--json"]).good().stdout;
    assert!(raw.contains(short));
    assert_nothing_left(&env);
}

/// The extents that are asked for end the churn, or its limit does, which is said.
#[test]
fn a_churn_ends_by_extents_or_at_its_limit() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let ages = "60%:extents=1,60%:extents=500:churn=0.5";
    let on = ["--fs", "ext4", "--on", "loop:320M", "--age", ages];
    let ran = env.run_once(&[&on[..], &WORK].concat()).good();
    let mut records = env.records(1);
    records.sort_by_key(|record| record.age.as_ref().map(|age| age.operations));
    let ages: Vec<&AgeRecord> = records.iter().filter_map(|record| record.age.as_ref()).collect();
    let [first, limit] = ages[..] else { panic!("{ages:?}") };
    assert_eq!((first.rounds, first.churned_bytes), (0, 0), "every file has one extent");
    assert_eq!(limit.rounds, 2, "two quarters of the fill");
    assert!(limit.churned_bytes > 0 && limit.operations > first.operations);
    let reached: Vec<bool> = records
        .iter()
        .map(|record| record.notices.iter().all(|notice| notice.code != "age-not-reached"))
        .collect();
    assert_eq!(reached, [true, false]);
    ran.says(&["extents per file after a churn of 0.5 times its fill, and 500 were asked for"]);
    assert_nothing_left(&env);
}

#[test]
fn a_device_too_small_for_its_age_is_refused_with_numbers() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let refused = |age: &str, words: &[&str]| {
        let on = ["run", "--runs", "1", "--fs", "ext4", "--on", "loop:320M", "--age", age];
        env.run(&[&on[..], &WORK].concat()).refused(2, words);
    };
    let words = ["--age: ext4 on loop:320M will have", "its age 99% takes", "\"tiny-files\" needs"];
    refused("99%", &words);
    refused("fresh,99%", &words);
    refused("old", &["--age: \"old\" is no share of a device from 1% to 99%"]);
    refused("80%:extents=0", &["extents: \"0\" is no number from 1 to 1000"]);
    assert!(!env.db().exists() && !env.state().exists(), "nothing was made");
    assert_nothing_left(&env);
}

/// Starts a RUN whose ageing takes minutes, and waits until it is at it.
fn at_work(env: &TestEnv) -> Live<'_> {
    let on = ["run", "--runs", "1", "--fs", "ext4", "--on", "loop:320M"];
    let mut live = env.start(&[&on[..], &["--age", "80%:churn=100"], &WORK].concat());
    live.wait_for("[1/1]");
    live.poll("a file of the churn", |live| {
        let mounted = live.executors().into_iter().rev().find_map(|pid| {
            let proc = format!("/proc/{}", pid.as_raw_nonzero());
            let mounts = std::fs::read_to_string(format!("{proc}/mountinfo")).ok()?;
            let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
            let own = env.dir().display().to_string();
            let mut own = points.filter(|at| at.starts_with(&own) && at.ends_with("/mnt"));
            Some(format!("{proc}/root{}/fsarena-aged/d00/f00000000", own.next()?))
        });
        std::path::Path::new(&mounted?).exists().then_some(())
    });
    live
}

#[test]
fn nothing_is_left_of_an_ageing_that_is_stopped() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let live = at_work(&env);
    live.signal(Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
}

#[test]
fn nothing_is_left_of_an_ageing_that_is_killed() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let live = at_work(&env);
    live.kill_tree();
    live.end();
    env.run(&["list"]).good();
    assert_nothing_left(&env);
}

/// What the files of an age are is seen by other eyes: they are whole, and the file system is.
#[test]
fn an_aged_file_system_is_sound() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let on = ["--fs", "ext4", "--on", "loop:320M", "--age", "80%:churn=1", "--keep"];
    env.run_once(&[&on[..], &WORK].concat()).good();
    let age = env.records(1).remove(0).age.unwrap();
    let image = std::fs::read_dir(env.images()).unwrap().flatten().next().unwrap().path();
    sh(&format!("e2fsck -fn {}", image.display()));
    let mount = env.make_dir("look");
    let seen = sh(&format!(
        "mount -o loop,ro {} {mount}; find {mount}/fsarena-aged -type f -printf '%s\\n' | \
         awk '{{ n += 1; s += $1 }} END {{ print n, s }}'; umount {mount}",
        image.display()
    ));
    assert_eq!(seen.trim(), format!("{} {}", age.files, age.file_bytes));
    std::fs::remove_file(image).unwrap();
    assert_nothing_left(&env);
}

/// The trials of a RUN on aged ext4 and xfs, two each, with images kept in `dir`. `on` is a device
/// of one name: what is made on another one is another state.
fn kept_in<'a>(dir: &'a str, on: &'a str, wipe: &'a str) -> Vec<&'a str> {
    let on = ["run", "--fs", "ext4,xfs", "--on", on, "--wipe", wipe, "--age", "60%:churn=0.5"];
    [&on[..], &["--runs", "2", "--verify", "--age-images", dir, "--keep"], &WORK].concat()
}

/// Each state is made once, and later trials have the same one: of this RUN and of another.
#[test]
fn an_age_is_made_once_where_images_are_kept() {
    let Some(env) = TestEnv::with_devices(&["ext4", "xfs"]) else { return };
    let Some(disk) = Disk::new("320M") else { return };
    let dir = env.make_dir("ages");
    let command = kept_in(&dir, disk.device(), disk.device());
    env.run(&command).good();
    let of_run = |run: usize| -> BTreeMap<String, Vec<AgeRecord>> {
        let mut all: BTreeMap<String, Vec<AgeRecord>> = BTreeMap::new();
        for record in env.records(run) {
            assert_eq!(record.outcome, Outcome::Done);
            all.entry(record.filesystem.name.clone()).or_default().push(record.age.unwrap());
        }
        all
    };
    let first = of_run(1);
    for (name, ages) in &first {
        let [made, restored] = &ages[..] else { panic!("{ages:?}") };
        let (made_image, image) = (made.image.as_ref().unwrap(), restored.image.as_ref().unwrap());
        assert_eq!((made_image.restored, image.restored), (false, true), "{name}");
        let same = AgeRecord {
            elapsed_ns: made.elapsed_ns,
            image: made.image.clone(),
            ..restored.clone()
        };
        assert_eq!(same, *made, "{name}: capacity and use as well, which are read again");
        let file = sh(&format!("sha256sum {dir}/{name}-*.img"));
        assert!(file.starts_with(&image.sha256) && made_image.sha256 == image.sha256, "{file}");
    }
    // What the last trial left lies on a restored state.
    let look = env.make_dir("look");
    let files = sh(&format!(
        "mount -o ro {} {look}; find {look}/fsarena-aged -type f | wc -l; umount {look}",
        disk.device()
    ));
    assert_eq!(files.trim(), first["xfs"][0].files.to_string());

    let wipe = disk.wipe(disk.signature().trim());
    let again = kept_in(&dir, disk.device(), &wipe);
    env.run(&again).good();
    let all_restored = of_run(2).into_values().flatten().all(|age| age.image.unwrap().restored);
    assert!(all_restored, "of another RUN");
    assert_nothing_left(&env);
}

/// A RUN on an aged ext4 whose image is kept in `dir`.
fn in_images(dir: &str) -> Vec<&str> {
    let on = ["--fs", "ext4", "--on", "loop:320M", "--age", "60%:churn=0", "--age-images", dir];
    [&["run", "--runs", "1"][..], &on, &WORK].concat()
}

/// The image that the first such RUN keeps.
fn kept_once(env: &TestEnv, dir: &str) -> String {
    env.run(&in_images(dir)).good();
    sh(&format!("ls {dir}/*.img")).trim().to_owned()
}

/// An image that is not what was kept fails the trial; without its description it is made anew.
#[test]
fn a_kept_image_that_was_changed_is_refused() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let dir = env.make_dir("ages");
    let command = in_images(&dir);
    let image = kept_once(&env, &dir);
    sh(&format!("printf x | dd of={image} bs=1 seek=200000000 conv=notrunc status=none"));
    let ran = env.run(&command);
    ran.says(&["is not the image that was kept", "remove it: the age is then made anew"]);
    assert!(matches!(env.records(2)[0].outcome, Outcome::Failed { .. }));
    // As the remedy says.
    std::fs::remove_file(&image).unwrap();
    env.run(&command).good();
    assert!(!env.records(3)[0].age.as_ref().unwrap().image.as_ref().unwrap().restored);
    assert_eq!(sh(&format!("ls -A {dir} | wc -l")).trim(), "2", "an image and its description");
    assert_nothing_left(&env);
}

/// What somebody has put into the place of an image and its description while they could: a file of
/// root's behind a link stays, and nothing is believed that another user may write.
#[test]
fn nothing_is_kept_through_a_link() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let dir = env.make_dir("ages");
    let command = in_images(&dir);
    let image = kept_once(&env, &dir);
    let note = image.replace(".img", ".json");
    let secret = env.write("secret", "secret");
    sh(&format!("rm {image} {note}; ln -s {secret} {note}.new; ln -s {secret} {image}"));
    env.run(&command).good();
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "secret");
    sh(&format!("chmod 666 {note}"));
    env.run(&command).says(&["another user owns it or may write it", "remove it"]);
    assert!(matches!(env.records(3)[0].outcome, Outcome::Failed { .. }));
    assert_nothing_left(&env);
}

#[test]
fn a_directory_of_kept_images_that_is_of_no_use_is_refused() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let path = env.make_dir("ages");
    let refused = |age: &str, dir: &str, words: &[&str]| {
        let on = ["run", "--runs", "1", "--fs", "ext4", "--on", "loop:320M", "--age", age];
        env.run(&[&on[..], &["--age-images", dir], &WORK].concat()).refused(2, words);
    };
    refused("fresh", &path, &["--age-images: no contender has an age"]);
    refused("60%", &format!("{path}/none"), &["--age-images:", "does not exist", "create it"]);
    sh(&format!("chmod 1777 {path}"));
    refused("60%", &path, &["others may write there, and what lies there is mounted"]);
    let theirs = env.make_dir("theirs");
    let inner = env.make_dir("theirs/ages");
    std::os::unix::fs::chown(&theirs, Some(65_533), None).unwrap();
    refused("60%", &inner, &["/theirs", "65533", "what lies there is mounted"]);
    assert_nothing_left(&env);
}

/// A share of the room makes all file systems as full as each other, whatever their metadata take.
#[test]
fn a_share_of_the_room_is_what_df_shows() {
    let Some(env) = TestEnv::with_devices(&["ext4", "xfs"]) else { return };
    let on = ["--fs", "ext4,xfs", "--on", "loop:320M", "--age", "95%:of=room:churn=1"];
    let ran = env.run_once(&[&on[..], &WORK].concat()).good();
    ran.says(&["ext4 aged 95% of=room churn=1"]);
    let mut fills = Vec::new();
    for record in env.records(1) {
        assert_eq!(record.outcome, Outcome::Done);
        let age = record.age.unwrap();
        // ext4 has 5 % for root besides.
        let used = age.used_bytes as f64 / age.total_bytes as f64;
        assert!((0.86..1.0).contains(&used), "{}: {used}", record.filesystem.name);
        fills.push(age.fill_bytes);
    }
    assert!(fills.len() == 2 && fills[0] != fills[1], "each has its own room: {fills:?}");
    assert_nothing_left(&env);
}
