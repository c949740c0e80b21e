//! `raw`, the device without a file system, beside file systems: what it does, what is left out,
//! and that a device on which it worked is known again.

use crate::support::devices::Disk;
use crate::support::{TestEnv, assert_nothing_left};
use fsarena_model::contender::RAW;
use fsarena_model::record::{CacheState, Outcome, TrialRecord, Window};
use fsarena_model::run::NotRun;
use fsarena_store::Store;

const DEVICE: [&str; 4] = ["--fs", "raw,ext4", "--on", "loop:256M"];

/// The records of RUN 1 on the device itself.
fn of_raw(env: &TestEnv) -> Vec<TrialRecord> {
    let records = env.records(1).into_iter();
    records.filter(|record| record.filesystem.name == RAW).collect()
}

#[test]
fn the_device_itself_does_what_files_do() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let work = ["--workload", "big-file,random-io,database", "--scale", "0.1"];
    let ran = env.run_once(&[&DEVICE[..], &work, &["--baseline", RAW, "--verify"]].concat()).good();
    let records = env.records(1);
    assert_eq!(records.len(), 6);
    for record in &records {
        assert_eq!(record.outcome, Outcome::Done);
        let verified = record.verify.as_ref().expect("contents are read again");
        assert_eq!((verified.files, verified.bad_files), (1, 0));
        let twin = records.iter().find(|other| {
            other.key.workload == record.key.workload
                && other.filesystem.name != record.filesystem.name
        });
        let twin = twin.expect("both do each workload");
        for (one, other) in record.phases.iter().zip(&twin.phases) {
            assert_eq!((&one.name, one.ops), (&other.name, other.ops));
            assert_eq!(one.asked_bytes, other.asked_bytes, "{}", one.name);
        }
    }
    let raw = of_raw(&env);
    for record in &raw {
        assert_eq!(record.space, None, "there is no file system to be asked");
        assert!(record.filesystem.mkfs_argv.is_empty());
        assert!(record.notices.iter().all(|notice| notice.code != "prediction-off"));
        for phase in &record.phases {
            assert!(phase.clocks.device_flushed, "{}: its device is flushed", phase.name);
            assert_eq!(phase.cache.state, CacheState::Cold, "{}: {}", phase.name, phase.cache.why);
        }
    }
    let write = raw.iter().flat_map(|record| &record.phases).find(|one| one.name == "big-write");
    let write = write.expect("it is a phase of big-file");
    let written = write.windows[&Window::Durable]["device.written_bytes"];
    assert_eq!(written, write.asked_bytes.next_multiple_of(4096), "each page once, nothing else");
    ran.says(&["ratios to raw"]);
    assert_nothing_left(&env);
}

/// A warm phase finds in the cache what was read before: nothing throws it away between them. Other
/// tests drop what the kernel has.
#[test]
fn alone_its_cache_stays_from_phase_to_phase() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let factors = "fs = [\"raw\", \"ext4\"]\ndevice = \"loop:128M\"\ncache = \"warm\"";
    let work = "[[workload]]\nname = \"again\"\nfiles = 1\nsize = \"16 MiB\"\nbs = \"1 MiB\"\n\
                phases = [\"big-write\", \"big-read\"]\n";
    env.run(&["run", &env.experiment(factors, work)]).good();
    for record in env.records(1) {
        let read = &record.phases[1];
        assert_eq!(read.cache.state, CacheState::Warm, "{}", record.filesystem.name);
        assert_eq!(read.windows[&Window::Durable]["device.read_bytes"], 0);
    }
    assert_nothing_left(&env);
}

#[test]
fn work_that_needs_files_is_left_out_with_its_reason() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let work = ["--workload", "small-files,vm-images,fsync-latency", "--scale", "0.03"];
    let on = ["--fs", "raw,ext4", "--on", "loop:512M"];
    let ran = env.run_once(&[&on[..], &work].concat()).good();
    let store = Store::open_read_only(&env.db()).unwrap();
    let not_run = store.header(store.runs().unwrap()[0].id).unwrap().plan.not_run;
    let reasons: Vec<&str> = not_run.iter().map(|NotRun { reason, .. }| reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "phase \"create\" needs a file system, and raw has sectors alone",
            "phase \"discard\" needs a file system, and raw has sectors alone",
        ]
    );
    assert_eq!(of_raw(&env).len(), 1, "fsync-latency");
    ran.says(&["phase \"create\" needs a file system", "phase \"discard\" needs"]);
    assert_nothing_left(&env);
}

/// Its sectors on a device of the user's are no contents of somebody: the next trial, of whatever
/// contender, goes over them, and the next RUN where they are given up by their name.
#[test]
fn a_device_of_the_user_is_known_again() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let Some(disk) = Disk::new("128M") else { return };
    let on = ["--on", disk.device(), "--wipe", disk.device()];
    let work = ["--workload", "big-file", "--scale", "0.1"];
    let ran = env.run(&[&["run", "--fs", "raw,ext4", "--runs", "4"], &on[..], &work].concat());
    ran.good();
    assert!(env.records(1).iter().all(|record| record.outcome == Outcome::Done));
    let again = |wipe: &str| {
        let on = ["--on", disk.device(), "--wipe", wipe];
        env.run(&[&["run", "--fs", "raw", "--runs", "1"], &on[..], &work].concat())
    };
    // Which contender was last is up to the order of the blocks.
    let (as_raw, as_ext4) = (again(&disk.wipe(RAW)), again(&disk.wipe("ext4")));
    assert!(as_raw.code == Some(0) || as_ext4.code == Some(0), "{as_raw:?}\n{as_ext4:?}");
    let listed = env.run(&["devices"]).good();
    assert!(listed.stdout.contains(&format!("--wipe {}", disk.wipe(RAW))), "{}", listed.stdout);
    again(&disk.wipe(RAW)).good();
    again(disk.device()).refused(2, &["does not name raw, which is on it"]);
    drop(disk);
    assert_nothing_left(&env);
}

#[test]
fn what_has_no_meaning_without_a_file_system_is_refused() {
    let Some(env) = TestEnv::with_devices(&["ext4"]) else { return };
    let refused = |args: &[&str]| {
        let ran = env.run_once(args);
        assert!(ran.code.is_some_and(|code| code != 0), "{ran:?}");
        ran
    };
    let work = ["--on", "loop:128M", "--workload", "big-file", "--scale", "0.1"];
    refused(&[&["--fs", "raw:mount=noatime"], &work[..]].concat())
        .says(&["no file system is made or mounted"]);
    refused(&[&["--fs", "raw", "--age", "30%"], &work[..]].concat())
        .says(&["a device without a file system has no files to age"]);
    let on = ["--on", "virtual:320M:model=hdd-2007"];
    let crash = ["crash", "--fs", "ext4,raw", "--workload", "big-file", "--scale", "0.1"];
    env.run(&[&crash[..], &on].concat())
        .refused(2, &["raw: without a file system nothing is promised"]);
    assert_nothing_left(&env);
}
