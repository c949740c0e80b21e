//! Levels that change how a trial is carried out: discard, memory, cache, user.

use crate::support::{TestEnv, assert_nothing_left, sh};
use fsarena_model::record::{CacheState, MemoryRecord, Outcome, Window};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;

const DEVICE_BYTES: u64 = 128 << 20;

/// An experiment of one block on ext4; `factors` ends its table, `workloads` follows.
fn experiment(env: &TestEnv, factors: &str, workloads: &str) -> String {
    let text = format!(
        "schema = 1\nname = \"levels\"\n[run]\nblocks = 1\nseed = 1\n[factors]\nfs = \"ext4\"\n\
         {factors}\n{workloads}"
    );
    env.write("levels.toml", &text)
}

fn kept_images(env: &TestEnv) -> Vec<PathBuf> {
    let mut images: Vec<_> =
        fs::read_dir(env.images()).unwrap().flatten().map(|entry| entry.path()).collect();
    images.sort();
    images
}

/// Discards punch holes into an image: contenders that do not discard never meet it.
#[test]
fn each_discard_level_has_its_image() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let on = ["--fs", "ext4", "--on", "loop:128M", "--discard", "none,on", "--keep"];
    let work = ["--workload", "tiny-files", "--scale", "0.02"];
    env.run_once(&[&on[..], &work].concat()).good();
    let records = env.records(1);
    let images = kept_images(&env);
    // Images are made, and numbered, in the order of the trials that need them.
    assert_eq!((records.len(), images.len()), (2, 2), "{images:?}");
    for (record, image) in records.iter().zip(&images) {
        assert_eq!(record.outcome, Outcome::Done);
        let options = record.filesystem.mounted_options.as_deref().expect("read back");
        let discards = options.split(',').any(|option| option == "discard");
        let said = record.notices.iter().any(|notice| notice.code == "discarded-image");
        assert_eq!(said, discards, "{:?}", record.notices);
        let meta = fs::metadata(image).unwrap();
        assert_eq!(meta.len(), DEVICE_BYTES);
        let stored_bytes = meta.blocks() * 512;
        if discards {
            assert!(stored_bytes < DEVICE_BYTES / 2, "no holes: {stored_bytes}");
        } else {
            assert!(stored_bytes >= DEVICE_BYTES, "a hole in what nobody discards: {stored_bytes}");
        }
    }
    let mut notices = records.iter().flat_map(|record| &record.notices);
    assert!(notices.any(|notice| notice.code == "discarded-image"), "one of the two discards");
    images.iter().for_each(|image| fs::remove_file(image).unwrap());
    assert_nothing_left(&env);
}

/// The work is done by another user below a state directory that this user may not enter, and
/// nothing is touched between the chill and the phase.
#[test]
fn another_user_on_a_device() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    fs::set_permissions(env.dir(), fs::Permissions::from_mode(0o700)).unwrap();
    let work = "[[workload]]\nname = \"w\"\nfiles = 60\nsize = \"4 KiB\"\ndirs = 3\n\
                phases = [\"create\", \"read\", \"stat\"]\n";
    let file = experiment(&env, "device = \"loop:128M\"", work);
    env.run(&["run", &file, "--user", "65534:65534", "--keep"]).good();
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Done);
    assert_eq!(record.phases.len(), 3);
    for phase in &record.phases {
        assert_eq!(phase.ops, 60);
        assert_eq!(phase.cache.state, CacheState::Cold, "{}: {:?}", phase.name, phase.cache);
    }
    assert!(record.space.is_some_and(|space| space.stored_bytes == 60 * 4096));
    let image = kept_images(&env).remove(0);
    let mount = env.make_dir("look");
    let owners = sh(&format!(
        "mount -o loop,ro {} {mount}; stat -c %u:%g {mount}; \
         find {mount}/d* -printf '%y %U:%G\\n' | sort | uniq -c; umount {mount}",
        image.display()
    ));
    let owners: Vec<&str> = owners.split_whitespace().collect();
    let files_and_dirs = ["3", "d", "65534:65534", "60", "f", "65534:65534"];
    assert_eq!(owners, [&["65534:65534"][..], &files_and_dirs].concat());
    fs::remove_file(image).unwrap();
    assert_nothing_left(&env);
}

/// One limit for all of a trial: what a phase or the preparation left in the cache is charged to
/// it, so that a larger file has to come from the device also in a warm phase.
#[test]
fn a_warm_phase_cannot_hide_in_unlimited_cache() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    if let Err(reason) = fsarena_executor::cgroup::Hierarchy::find(&mounts) {
        println!("not run: {reason}");
        return;
    }
    let (limit, size) = (64 << 20, 128 << 20);
    let big = |name: &str, phases: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nfiles = 1\nsize = \"128 MiB\"\nbs = \"1 MiB\"\n\
             phases = [{phases}]\n"
        )
    };
    let work = big("written", "\"big-write\", \"big-read\"") + &big("prepared", "\"big-read\"");
    let factors = "device = \"loop:256M\"\ncache = \"warm\"\nmemory = \"64M\"";
    let file = experiment(&env, factors, &work);
    env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    let records = env.records(1);
    let phases: Vec<_> = records.iter().flat_map(|record| &record.phases).collect();
    assert_eq!(phases.len(), 3);
    for phase in phases {
        let MemoryRecord::Limited { limit_bytes, peak_bytes, .. } = &phase.memory else {
            panic!("{}: {:?}", phase.name, phase.memory);
        };
        assert_eq!(*limit_bytes, limit);
        assert!(peak_bytes.is_none_or(|peak| peak <= limit), "{}: {peak_bytes:?}", phase.name);
        assert_eq!(phase.asked_bytes, size);
        assert_eq!(phase.cache.state, CacheState::Warm);
        if phase.name == "big-read" {
            let read = phase.windows[&Window::Durable]["device.read_bytes"];
            assert!(read >= size - limit, "{read} of {size} with {limit} of memory");
        }
    }
}

/// Warm phases share one mount; what its end writes is in the account of each.
#[test]
fn accounts_of_warm_phases_are_closed() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = "[[workload]]\nname = \"w\"\nfiles = 200\nsize = \"4 KiB\"\n\
                phases = [\"create\", \"read\", \"delete\"]\n";
    let file = experiment(&env, "device = \"loop:128M\"\ncache = \"warm\"", work);
    env.run(&["run", &file]).good();
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    let names: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["create", "read", "delete"]);
    for phase in &record.phases {
        assert_eq!(phase.cache.state, CacheState::Warm);
        let windows: Vec<Window> = phase.windows.keys().copied().collect();
        assert_eq!(windows, [Window::Durable, Window::Drained, Window::Unmounted]);
        let written = |window| phase.windows[&window]["device.written_bytes"];
        assert!(written(Window::Drained) <= written(Window::Unmounted), "{}", phase.name);
    }
    let unmounted =
        |phase: usize| record.phases[phase].windows[&Window::Unmounted]["device.written_bytes"];
    assert!(unmounted(0) >= unmounted(1) && unmounted(1) >= unmounted(2), "each to the same end");
}

#[test]
fn every_level_of_a_sweep_is_made_as_it_is_named() {
    let Some(env) = TestEnv::privileged(&["ext4", "xfs"]) else { return };
    let fs = "ext4:mkfs.cluster_size=16K..32K,ext4:mkfs.cluster_size=256K,\
              xfs:mkfs.block_size=1024..2048,xfs:mkfs.block_size=32768..65536";
    let on = ["--fs", fs, "--on", "loop:400M", "--cache", "warm"];
    let work = ["--workload", "tiny-files", "--scale", "0.01", "--sample-period", "0 ms"];
    env.run_once(&[&on[..], &work].concat()).good();
    let records = env.records(1);
    let mut made = Vec::new();
    for record in &records {
        assert_eq!(record.outcome, Outcome::Done, "{:?}", record.notices);
        let argv = record.filesystem.mkfs_argv.join(" ");
        let off = record.notices.iter().find(|notice| notice.code == "prediction-off");
        assert_eq!(off, None, "{argv}");
        let features = &record.filesystem.features;
        let (asked, is) = match features.get("data.bsize") {
            Some(block) => (format!("-b size={block} "), block),
            None => (format!("-C {} ", features["cluster_size"]), &features["cluster_size"]),
        };
        assert!(argv.contains(&asked), "{asked:?} is not in {argv}");
        made.push(is.parse::<u64>().unwrap());
    }
    made.sort_unstable();
    let wanted = [1024, 2048, 16384, 32768, 32768, 65536, 262_144];
    // Blocks beyond a page are not run on an older kernel.
    let small: Vec<u64> = vec![1024, 2048, 16384, 32768, 262_144];
    assert!(made == wanted || made == small, "{made:?}");
    assert_nothing_left(&env);
}

/// Refused before anything is made: no level is left, and too few inodes.
#[test]
fn what_cannot_be_is_said_before_the_run() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = ["--on", "loop:400M", "--workload", "tiny-files"];
    let run = |fs: &str| env.run_once(&[&["--fs", fs], &work[..]].concat());
    run("ext3:mkfs.cluster_size=16K..64K").refused(2, &["only for ext4"]);
    let words = ["free inodes", "mkfs.inode_ratio=32768"];
    run("ext4:mkfs.inode_ratio=262144").refused(2, &words);
    assert_nothing_left(&env);
}
