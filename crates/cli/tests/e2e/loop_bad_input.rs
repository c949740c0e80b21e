//! What goes wrong once there is a device: each failure is recorded with its remedy, and nothing
//! is left.

use crate::support::{
    FEW_INODES, PROGRAM, Ran, TestEnv, assert_nothing_left, sh, tool, with_all_tables,
};
use fsarena_model::record::{Outcome, TrialRecord};
use fsarena_model::run::RunState;
use std::fs;
use std::path::Path;
use std::process::Command;

const SMALL: [&str; 4] = ["--workload", "tiny-files", "--scale", "0.02"];

fn failure(record: &TrialRecord) -> (&str, &str, &str) {
    match &record.outcome {
        Outcome::Failed { step, error, remedy } => {
            (step, error, remedy.as_deref().expect("a failure has a remedy"))
        }
        other => panic!("{other:?}"),
    }
}

/// No inode is left long before the space is used: the work before it is kept.
#[test]
fn disk_full_in_the_middle() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let work = format!("[[workload]]\nuse = \"tiny-files\"\n{FEW_INODES}");
    let file = env.experiment("fs = [\"few\", \"ext4\"]\ndevice = \"loop:128M\"", &work);
    let ran = env.run(&["run", &file, "--scale", "0.5", "--yes"]);
    ran.code(1).says(&["No space left on device", "--on"]);
    assert_nothing_left(&env);
    assert_eq!(env.runs()[0].state, RunState::Done);
    let records = env.records(1);
    assert_eq!(records.len(), 2);
    let full = records.iter().find(|record| record.outcome != Outcome::Done).unwrap();
    let (step, error, remedy) = failure(full);
    assert_eq!(step, "measure create");
    assert!(error.contains("No space left on device"), "{error}");
    assert!(remedy.contains("inodes are used up"), "{remedy}");
    let phase = &full.phases[0];
    assert!(phase.ops > 0 && phase.ops < 5000, "what was done is counted: {}", phase.ops);
    assert_eq!(phase.error.as_ref().map(|error| error.errno), Some(28));
    assert_eq!(full.phases.len(), 1, "nothing is done after it");
}

#[test]
fn memory_full_in_the_middle() {
    let Some(env) = TestEnv::privileged(&["tmpfs"]) else { return };
    let on = ["--fs", "tmpfs:nr_inodes=150", "--on", "ram:64M"];
    env.run_once(&[&on[..], &SMALL].concat()).code(1).says(&["No space left on device"]);
    assert_nothing_left(&env);
    assert_eq!(failure(&env.records(1)[0]).0, "measure create");
}

#[test]
fn mkfs_fails() {
    let Some(env) = TestEnv::privileged(&["ext4", "tmpfs"]) else { return };
    let tools = env.make_dir("tools");
    for name in ["mke2fs", "mkfs.ext4"] {
        let text = "echo 'mke2fs: broken on purpose' >&2\nexit 1";
        fsarena_testkit::write_script(&Path::new(&tools).join(name), text);
    }
    let on = ["run", "--runs", "2", "--fs", "ext4,tmpfs", "--on", "loop:128M"];
    let mut command = env.command(&[&on[..], &SMALL].concat());
    command.env("PATH", format!("{tools}:{}", std::env::var("PATH").unwrap_or_default()));
    let ran = env.finish(command).code(1).says(&["broken on purpose", "by hand", "tmpfs"]);
    assert_nothing_left(&env);
    let records = env.records(1);
    let failed = |record: &&TrialRecord| record.outcome != Outcome::Done;
    assert_eq!(records.iter().filter(failed).count(), 1, "said once, not in each block");
    assert_eq!(records.len(), 3, "the others go on\n{}", ran.stdout);
    assert_eq!(failure(records.iter().find(failed).unwrap()).0, "reset");
}

/// Root runs no program that somebody else could have put into `PATH`, and one that does not stop
/// printing ends.
#[test]
fn tools_of_others_and_tools_that_print_for_ever() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let on = [&["run", "--runs", "1", "--fs", "ext4", "--on", "loop:128M"][..], &SMALL].concat();
    let run_with = |tools: &str| {
        let mut command = env.command(&on);
        command.env("PATH", format!("{tools}:{}", std::env::var("PATH").unwrap_or_default()));
        env.finish(command)
    };
    let tools = env.make_dir("others");
    let marker = env.path("was-run");
    for name in ["mke2fs", "mkfs.ext4", "blkid", "mount"] {
        let text = format!("id -u >> {}; exit 1", marker.display());
        fsarena_testkit::write_script(&Path::new(&tools).join(name), &text);
    }
    std::os::unix::fs::chown(&tools, Some(65534), None).unwrap();
    run_with(&tools).good();
    assert!(!marker.exists(), "it was run as {:?}", fs::read_to_string(&marker));

    let tools = env.make_dir("endless");
    for name in ["mke2fs", "mkfs.ext4"] {
        fsarena_testkit::write_script(&Path::new(&tools).join(name), "yes");
    }
    run_with(&tools).code(1).says(&["printed more than 256 MiB, killed"]);
    assert_nothing_left(&env);
}

/// In a mount namespace in which `program` cannot be executed.
fn without(env: &TestEnv, program: &str, args: &[&str]) -> Option<Ran> {
    without_command(env, program, args).map(|command| env.finish(command))
}

pub fn without_command(env: &TestEnv, program: &str, args: &[&str]) -> Option<Command> {
    let unshare = tool("unshare")?;
    let nothing = env.write("nothing", "");
    let path = fsarena_process::cmd::find(program)?.path().canonicalize().unwrap();
    let script = format!("mount --bind {nothing} {}; exec \"$@\"", path.display());
    let args = with_all_tables(args);
    let all = [&["-m", "sh", "-ec", &script, "sh", PROGRAM], &args[..]].concat();
    Some(env.command_of(&unshare, &all))
}

/// A missing program is a row of its own with the package that brings it; the others run.
#[test]
fn missing_tool() {
    let Some(env) = TestEnv::privileged(&["xfs", "tmpfs"]) else { return };
    let on = ["run", "--runs", "1", "--fs", "xfs,tmpfs", "--on", "loop:300M"];
    let Some(ran) = without(&env, "mkfs.xfs", &[&on[..], &SMALL].concat()) else { return };
    ran.good().says(&[
        "mkfs.xfs is not installed; install the package xfsprogs",
        "apt-get install xfsprogs",
        "--install-tools",
        "not run",
    ]);
    assert_nothing_left(&env);
    assert_eq!(env.records(1).len(), 1);
    let only = ["run", "--runs", "1", "--fs", "xfs", "--on", "loop:300M"];
    let ran = without(&env, "mkfs.xfs", &[&only[..], &SMALL].concat()).unwrap();
    ran.code(1).says(&["nothing to run: xfs: mkfs.xfs is not installed", "xfsprogs"]);
    assert_nothing_left(&env);
}

/// `--install-tools` calls apt-get, and not in a dry run, which makes nothing either.
#[test]
fn a_dry_run_installs_nothing() {
    let Some(env) = TestEnv::privileged(&["xfs", "tmpfs"]) else { return };
    let (tools, mark) = (env.make_dir("tools"), env.path("mark"));
    let apt = Path::new(&tools).join("apt-get");
    fsarena_testkit::write_script(&apt, &format!("echo \"$@\" >> {}", mark.display()));
    let on = ["run", "--runs", "1", "--fs", "xfs,tmpfs", "--on", "loop:300M", "--install-tools"];
    let run = |more: &[&str]| {
        let mut command = without_command(&env, "mkfs.xfs", &[&on[..], &SMALL, more].concat())?;
        command.env("PATH", format!("{tools}:{}", std::env::var("PATH").unwrap_or_default()));
        Some(env.finish(command))
    };
    let Some(ran) = run(&["--dry-run"]) else { return };
    ran.good().says(&["mkfs.xfs is not installed", "Nothing has been touched"]);
    assert!(!mark.exists(), "apt-get was called: {:?}", fs::read_to_string(&mark));
    assert!(!env.db().exists() && !env.state().exists(), "nothing was made");
    assert_nothing_left(&env);
    run(&[]).unwrap().good().says(&["installing xfsprogs", "not run"]);
    let called = fs::read_to_string(&mark).unwrap();
    assert!(called.ends_with("-- xfsprogs\n"), "{called}");
    assert_nothing_left(&env);
}

/// A real device, a partition, a link to one: refused and unchanged.
#[test]
fn block_devices() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let Some(losetup) = tool("losetup") else { return };
    let mut before = "data of somebody ".repeat(5 << 20).into_bytes();
    before.truncate(80 << 20);
    // A partition table of DOS: one entry (active, type 83h, from sector 64, 64 MiB long).
    before[446..510].fill(0);
    before[446..462].copy_from_slice(&[0x80, 0, 0, 0, 0x83, 0, 0, 0, 64, 0, 0, 0, 0, 0, 2, 0]);
    before[510..512].copy_from_slice(&[0x55, 0xaa]);
    let image = env.path("disk").display().to_string();
    fs::write(&image, &before).unwrap();
    let device = sh(&format!("{losetup} -f -P --show {image}"));
    let detach = Detach(losetup, device.clone());
    let link = env.path("link");
    std::os::unix::fs::symlink(&device, &link).unwrap();
    let partition = format!("{device}p1");
    let mut targets = vec![device, link.display().to_string()];
    if Path::new(&partition).exists() {
        targets.push(partition);
    }
    let root = sh("findmnt -n -o SOURCE / || true");
    if Path::new(&root).exists() {
        targets.push(root);
    }
    for target in &targets {
        let args = [&["--fs", "ext4", "--on", target], &SMALL[..]].concat();
        env.run_once(&args).refused(2, &[target.as_str()]);
        let wiped = [&args[..], &["--wipe", target]].concat();
        if !target.ends_with("p1") {
            env.run_once(&wiped).refused(2, &[target.as_str()]);
        }
    }
    drop(detach);
    assert!(!env.db().exists() && !env.state().exists(), "nothing was made");
    assert!(fs::read(&image).unwrap() == before, "the device is as it was");
    assert_nothing_left(&env);
}

/// A loop device of the test's own.
struct Detach(String, String);

impl Drop for Detach {
    fn drop(&mut self) {
        sh(&format!("{} -d {}", self.0, self.1));
    }
}

/// The directory of images is too small, before or after a look at it.
#[test]
fn image_directory_full() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let small = env.make_dir("small");
    sh(&format!("mount -t tmpfs -o size=80M none {small}"));
    let on = ["--fs", "ext4", "--on", "loop:128M", "--image-dir", &small];
    let ran = env.run_once(&[&on[..], &SMALL].concat());
    sh(&format!("umount {small}"));
    ran.refused(1, &["80 MiB free", "missing", "--image-dir"]);
    assert!(!env.db().exists(), "nothing was begun");
    assert_nothing_left(&env);
}

#[test]
fn image_directory_missing() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    for dir in ["/nonexistent/images", "/proc"] {
        let on = ["--fs", "ext4", "--on", "loop:128M", "--image-dir", dir];
        env.run_once(&[&on[..], &SMALL].concat()).code(1).says(&[dir, "--image-dir"]);
    }
    assert_nothing_left(&env);
}

/// Metadata that is read into the cache behind the program's back: the phase is not called cold,
/// and the exit code says that what was asked for was not had. Alone, as a chill of another test
/// would empty the cache again.
#[test]
fn loop_alone_a_cold_phase_that_is_not_proved() {
    let Some(env) = TestEnv::privileged(&["ext4"]) else { return };
    let text = "schema = 1\nname = \"warmed\"\n[run]\nblocks = 1\n[factors]\nfs = \"warmed\"\n\
        device = \"loop:128M\"\n[[workload]]\nuse = \"tiny-files\"\nname = \"w\"\n\
        phases = [\"stat\"]\n[[filesystem]]\nname = \"warmed\"\n\
        create = \"mkfs.ext4 -q -F -E nodiscard {dev}\"\n\
        mount = \"cat {dev} > /dev/null && mount -t ext4 {dev} {mnt} && cat {dev} > /dev/null\"\n";
    let file = env.write("warmed.toml", text);
    let ran = env.run(&["run", &file, "--yes", "--scale", "0.02"]);
    ran.code(5).says(&["could not be proved cold", "warm"]);
    assert_nothing_left(&env);
    let record = env.records(1).remove(0);
    assert_eq!(record.outcome, Outcome::Done);
    let cache = &record.phases[0].cache;
    assert_eq!(cache.state, fsarena_model::record::CacheState::Warm, "{cache:?}");
    assert!(cache.why.contains("delivered nothing"), "{}", cache.why);
}
