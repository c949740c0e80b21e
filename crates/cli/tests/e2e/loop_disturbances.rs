//! The known disturbances of a machine: handled, or detected and said.

use crate::support::{TestEnv, assert_nothing_left, device_of, sh};
use fsarena_model::record::{CacheState, PhaseRecord, TrialRecord};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

const SMALL: [&str; 4] = ["--workload", "tiny-files", "--scale", "0.02"];

fn kept_image(env: &TestEnv) -> PathBuf {
    let images: Vec<_> = fs::read_dir(env.images()).unwrap().flatten().collect();
    assert_eq!(images.len(), 1);
    images[0].path()
}

/// Bytes on the disk of the kept image after a run, and its size.
fn image_after(env: &TestEnv, fs_text: &str, discard: &str) -> (u64, u64) {
    let name = fs_text.split(':').next().unwrap();
    let on = ["--fs", fs_text, "--on", device_of(name), "--discard", discard, "--keep"];
    env.run_once(&[&on[..], &SMALL].concat()).good();
    let image = kept_image(env);
    let meta = fs::metadata(&image).unwrap();
    let found = (meta.blocks() * 512, meta.len());
    fs::remove_file(image).unwrap();
    found
}

/// mkfs, mount, deletion: none of them punches holes into the image, unless discard is the factor.
fn never_punched(fs: &str) {
    let Some(env) = TestEnv::privileged(&[fs]) else { return };
    let (on_disk, size) = image_after(&env, fs, "none");
    assert!(on_disk >= size, "{fs}: {} bytes were punched out", size - on_disk);
    let (punched, size) = image_after(&env, fs, "on");
    assert!(punched < size, "{fs}: with discard on there are holes; else this test sees none");
    assert_nothing_left(&env);
}

#[test]
fn never_punched_ext2() {
    never_punched("ext2");
}

#[test]
fn never_punched_ext3() {
    never_punched("ext3");
}

#[test]
fn never_punched_ext4() {
    never_punched("ext4");
}

#[test]
fn never_punched_xfs() {
    never_punched("xfs");
}

#[test]
fn never_punched_btrfs() {
    never_punched("btrfs");
}

/// Free page reporting: what the phase will need was touched by the worker just before it.
#[test]
fn idle_memory_is_touched_before_a_phase() {
    let Some(env) = TestEnv::privileged(&["tmpfs"]) else { return };
    if !fsarena_metrics::page_reporting_active(&fsarena_metrics::KernelRoots::default()) {
        println!("not run: this machine does not report free pages to a hypervisor");
        return;
    }
    let experiment = env.long_experiment("tmpfs", "ram:128M", "");
    // With it no memory is touched.
    let mut command = env.command(&["run", &experiment]);
    command.env_remove("FSARENA_TEST_FAST");
    let mut live = env.start_command(command);
    let worker = live.stop_in_phase(1);
    let status = fs::read_to_string(format!("/proc/{}/status", worker.as_raw_nonzero())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kib >= 20_000 * 6 + 64 * 1024, "only {peak_kib} KiB were touched");
    live.signal(rustix::process::Signal::INT);
    live.end().code(130);
    assert_nothing_left(&env);
}

/// Recently deleted inodes, aged allocators, lazy initialisation: every trial has a fresh file
/// system, made by a mkfs of its own that leaves nothing for later.
#[test]
fn every_trial_has_a_fresh_file_system() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let real = fsarena_process::cmd::find("mke2fs").expect("ext4 is available");
    let real = real.path();
    let log = env.path("mkfs.log");
    let tools = env.make_dir("tools");
    for name in ["mke2fs", "mkfs.ext4"] {
        let (log, real) = (log.display(), real.display());
        let script =
            format!("case \"$*\" in *-V*) ;; *) echo \"$*\" >> {log} ;; esac\nexec {real} \"$@\"");
        fsarena_testkit::write_script(&PathBuf::from(&tools).join(name), &script);
    }
    let on = ["run", "--fs", "ext4", "--on", "loop:128M", "--runs", "3"];
    let mut command = env.command(&[&on[..], &SMALL].concat());
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{tools}:{path}"));
    env.finish(command).good();
    assert_nothing_left(&env);
    let calls = fs::read_to_string(log).unwrap();
    assert_eq!(calls.lines().count(), 3, "one a trial:\n{calls}");
    assert!(calls.lines().all(|line| line.contains("lazy_itable_init=0")), "{calls}");
    let records = env.records(1);
    assert_eq!(records.len(), 3);
    let empty = |record: &TrialRecord| record.space.unwrap().used_empty_bytes;
    assert!(records.iter().all(|record| empty(record) == empty(&records[0])));
    assert!(records.iter().all(|record| record.steps[0].step == "reset"));
}

/// Nothing looks at the tree between the mount and a timed phase: no cached names, existing or
/// not, help it. (The worker enters the root and reads nothing; engine tests that.)
#[test]
fn a_cold_phase_follows_its_mount() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    env.run_once(&[&["--fs", "ext4", "--on", "loop:128M"], &SMALL[..]].concat()).good();
    let record = env.records(1).remove(0);
    let steps: Vec<&str> = record.steps.iter().map(|step| step.step.as_str()).collect();
    assert_eq!(steps[..2], ["reset", "mount"]);
    let measured: Vec<usize> = (0..steps.len()).filter(|&i| steps[i] == "measure").collect();
    assert_eq!(measured.len(), 5);
    for index in measured {
        assert_eq!(steps[index - 1], "chill", "{steps:?}");
    }
    assert_nothing_left(&env);
}

/// A loop on tmpfs is memory, not a disk: by its place and by its name.
#[test]
fn a_loop_on_tmpfs_is_said_to_be_memory() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let on_tmpfs = sh("stat -f -c %T /dev/shm 2>/dev/null || true") == "tmpfs";
    if !on_tmpfs {
        println!("not run: /dev/shm is no tmpfs");
        return;
    }
    let run = ["run", "--fs", "ext4", "--runs", "1"];
    let ram = env.run(&[&run[..], &["--on", "ram:128M"], &SMALL].concat()).good();
    ram.says(&["memory, not a disk"]);
    let dir = tempfile::Builder::new().prefix("fsarena-e2e-").tempdir_in("/dev/shm").unwrap();
    let path = dir.path().display().to_string();
    let on = ["--on", "loop:128M", "--image-dir", &path];
    let ran = env.run(&[&run[..], &on, &SMALL].concat());
    ran.good().says(&["a loop on tmpfs is memory, not a disk"]);
    for run in [1, 2] {
        let record = env.records(run).remove(0);
        let codes: Vec<&str> = record.notices.iter().map(|n| n.code.as_str()).collect();
        assert!(codes.contains(&"loop-in-memory"), "{codes:?}");
        assert_eq!(record.device["in_memory"], "true");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_nothing_left(&env);
}

/// A disk says nothing of the kind.
#[test]
fn a_loop_on_a_disk_is_no_memory() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    if sh(&format!("stat -f -c %T {}", env.images().display())) == "tmpfs" {
        println!("not run: the directory for temporary files lies in memory");
        return;
    }
    let ran = env.run_once(&[&["--fs", "ext4", "--on", "loop:128M"], &SMALL[..]].concat());
    assert!(!ran.good().stdout.contains("memory, not a disk"));
    let record = env.records(1).remove(0);
    assert_eq!(record.device["in_memory"], "false");
    assert_nothing_left(&env);
}

/// A cold phase that cannot be proved is marked warm, and the exit code says so.
#[test]
fn cold_in_a_directory_is_not_believed() {
    let Some(env) = TestEnv::privileged(&[]) else { return };
    let target = env.make_dir("target");
    let on = ["--on", &target, "--cache", "cold"];
    let ran = env.run_once(&[&on[..], &SMALL].concat());
    ran.code(5).says(&["cache = cold was asked for and is not possible"]);
    assert_nothing_left(&env);
    let state = |phase: &PhaseRecord| phase.cache.state;
    assert!(env.records(1)[0].phases.iter().all(|phase| state(phase) == CacheState::Warm));
}
