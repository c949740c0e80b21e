//! A process that is killed in the middle, and the recovery after it. The process is this test
//! program again, running one test that does nothing unless it is told where.

use super::fixture::{LoopFixture, formatted, mounted, ready};
use fsarena_devices::claim::claim_image;
use fsarena_devices::mount::mount;
use fsarena_devices::{leftovers, loopdev, mountinfo, settle, vet};
use fsarena_filesystems::driver;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_process::child;
use fsarena_process::cmd::{Conditions, NO_ARGS, run_with};
use fsarena_process::program::TrustedProgram;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DIR: &str = "FSARENA_TEST_VICTIM_DIR";
const FS: &str = "FSARENA_TEST_VICTIM_FS";
const PRIVATE: &str = "FSARENA_TEST_VICTIM_PRIVATE";
const FROZEN: &str = "FSARENA_TEST_VICTIM_FROZEN";
const FSFREEZE: &str = "/usr/sbin/fsfreeze";

/// Claims, formats and mounts, says so by a file, and waits for its death.
#[test]
fn loop_victim() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else {
        return println!("not run: the child of another test");
    };
    if std::env::var_os(PRIVATE).is_some() {
        child::enter_private_mounts().unwrap();
    }
    let level = FsLevel::plain(&std::env::var(FS).unwrap());
    let driver = driver(&level).unwrap();
    let vetted = vet::vet_image_dir(&dir, 320 << 20).unwrap();
    let claimed = claim_image(&vetted, "fsarena-image", 320 << 20, false, &mut |_| {
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    let made = formatted(&claimed, &*driver, &level, Discard::None);
    let tree = mount(&made, &dir.join("mnt")).unwrap();
    std::fs::write(tree.path().join("file"), "x").unwrap();
    if std::env::var_os(FROZEN).is_some() {
        let status = Command::new(FSFREEZE).arg("--freeze").arg(tree.path()).status().unwrap();
        assert!(status.success());
    }
    std::fs::write(dir.join("mounted"), "").unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

fn victim(fixture: &LoopFixture, fs: &str, how: &[&str]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "loop_targets::killed::loop_victim"])
        .env(DIR, fixture.dir())
        .env(FS, fs);
    command.envs(how.iter().map(|name| (name, "1")));
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fixture.dir().join("mounted").exists() {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "no victim");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::fs::remove_file(fixture.dir().join("mounted")).unwrap();
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn loop_kill_is_recovered_from_and_recovery_is_idempotent() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for name in ["ext2", "ext3", "ext4", "xfs", "btrfs"] {
        let Some(_) = ready(name) else { continue };
        kill(victim(&fixture, name, &[]));
        // The mount keeps the device.
        assert_eq!(leftovers::loop_devices_of(&fixture.image()).unwrap().len(), 1);
        assert!(leftovers::remove_dir(fixture.dir()).is_err(), "something is mounted below");
        assert_eq!(leftovers::unmount_below(fixture.dir()).unwrap(), 1);
        leftovers::detach_loops_of(&fixture.image()).unwrap();
        assert!(leftovers::remove_image(&fixture.image()).unwrap());
        fixture.assert_nothing_left();
        assert_eq!(leftovers::unmount_below(fixture.dir()).unwrap(), 0);
        assert!(leftovers::detach_loops_of(&fixture.image()).unwrap().is_empty());
        assert!(!leftovers::remove_image(&fixture.image()).unwrap());
    }
}

#[test]
fn loop_kill_in_private_mounts_takes_mount_and_device_away() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for name in ["ext4", "xfs", "btrfs"] {
        let Some(_) = ready(name) else { continue };
        let child = victim(&fixture, name, &[PRIVATE]);
        assert!(mountinfo::at(&fixture.mnt()).unwrap().is_none(), "not seen from outside");
        let device = leftovers::loop_devices_of(&fixture.image()).unwrap().remove(0);
        kill(child);
        let deadline = Instant::now() + Duration::from_secs(10);
        while loopdev::backing_file(&device) == Some(fixture.image()) {
            assert!(Instant::now() < deadline, "autoclear has not detached it");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(leftovers::remove_image(&fixture.image()).unwrap());
        fixture.assert_nothing_left();
    }
}

#[test]
fn loop_a_mount_left_frozen_is_thawed_by_recovery() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let claimed = fixture.claim(64 << 20);
    let made = formatted(&claimed, &*ext4, &FsLevel::plain("ext4"), Discard::None);
    mounted(&made, &fixture).keep();
    if !Path::new(FSFREEZE).exists() {
        println!("not run: no fsfreeze to leave it frozen with");
    } else {
        let status = Command::new(FSFREEZE).arg("--freeze").arg(fixture.mnt()).status().unwrap();
        assert!(status.success());
    }
    assert_eq!(leftovers::unmount_below(fixture.dir()).unwrap(), 1);
    assert!(settle::thaw(fixture.dir()).is_ok_and(|was| !was), "nothing is frozen");
    drop(made);
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

/// Killed between freezing and thawing in private mounts: no mount is left to thaw it by.
#[test]
fn loop_a_hidden_frozen_file_system_lets_go_of_its_device() {
    let Some(fixture) = LoopFixture::enter() else { return };
    if !Path::new(FSFREEZE).exists() {
        println!("not run: no fsfreeze to leave it frozen with");
        return;
    }
    for name in ["ext4", "xfs", "btrfs"] {
        let Some(_) = ready(name) else { continue };
        kill(victim(&fixture, name, &[PRIVATE, FROZEN]));
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(leftovers::loop_devices_of(&fixture.image()).unwrap().len(), 1, "{name}");
        leftovers::detach_loops_of(&fixture.image()).unwrap();
        assert!(leftovers::remove_image(&fixture.image()).unwrap());
        fixture.assert_nothing_left();
    }
}

/// Neither its image nor the directory of that is there any more.
#[test]
fn loop_a_hidden_frozen_file_system_needs_no_directory_of_its_image() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(_) = ready("ext4").filter(|_| Path::new(FSFREEZE).exists()) else {
        println!("not run: no ext4, or no fsfreeze to leave it frozen with");
        return;
    };
    kill(victim(&fixture, "ext4", &[PRIVATE, FROZEN]));
    std::fs::remove_dir_all(fixture.dir()).unwrap();
    assert_eq!(leftovers::detach_loops_of(&fixture.image()).unwrap().len(), 1);
    fixture.assert_nothing_left();
}

/// A file system in user space with an ext4 of its own; unmounted when dropped.
struct UserSpace {
    server: Child,
    mnt: PathBuf,
}

impl UserSpace {
    /// `None`, with the reason printed, without fuse2fs and FUSE.
    fn mounted(dir: &Path) -> Option<Self> {
        let Some(program) = fsarena_process::cmd::find("fuse2fs") else {
            println!("not run: fuse2fs is not installed");
            return None;
        };
        let (disk, mnt) = (dir.join("disk"), dir.join("user-space"));
        sh(&format!("truncate -s 64M {0} && mkfs.ext4 -q -F {0}", disk.display()));
        std::fs::create_dir(&mnt).unwrap();
        let mut command = Command::new(program.path());
        command.args(["-f", "-o", "rw"]).args([&disk, &mnt]).stdout(Stdio::null());
        let mut this = Self { server: command.spawn().unwrap(), mnt };
        let deadline = Instant::now() + Duration::from_secs(10);
        while mountinfo::at(&this.mnt).unwrap().is_none() {
            if this.server.try_wait().unwrap().is_some() {
                println!("not run: fuse2fs cannot mount");
                return None;
            }
            assert!(Instant::now() < deadline, "fuse2fs does not mount");
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(this)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.server), signal).unwrap();
    }
}

impl Drop for UserSpace {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = rustix::mount::unmount(&self.mnt, rustix::mount::UnmountFlags::DETACH);
    }
}

fn sh(command: &str) -> String {
    let conditions = Conditions::of_writer(Duration::from_secs(60));
    run_with(&TrustedProgram::confirmed(command), &NO_ARGS, &conditions).unwrap().stdout
}

/// What serves the image is stopped: a read of the device does not end, and nobody can end it.
#[test]
fn loop_a_device_that_does_not_answer_is_said_and_not_waited_for() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(_) = ready("ext4").filter(|_| Path::new(FSFREEZE).exists()) else {
        println!("not run: no ext4, or no fsfreeze to leave it frozen with");
        return;
    };
    let Some(user_space) = UserSpace::mounted(fixture.dir()) else { return };
    let image = user_space.mnt.join("fsarena-image");
    let path = image.display();
    sh(&format!("truncate -s 32M {path} && mkfs.ext4 -q -F {path}"));
    let device = sh(&format!("losetup -f --show --direct-io=on {path}"));
    let device = device.trim();
    let freeze = format!("mount {device} /sys && fsfreeze --freeze /sys");
    sh(&format!("unshare --mount sh -c '{freeze}'; losetup -d {device}"));
    assert_eq!(leftovers::loop_devices_of(&image).unwrap(), [Path::new(device)]);
    user_space.signal(Signal::STOP);
    let began = Instant::now();
    let error = leftovers::detach_loops_of(&image).unwrap_err().to_string();
    let took = began.elapsed();
    user_space.signal(Signal::CONT);
    assert!(error.contains(device) && error.contains("does not answer"), "{error}");
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert_eq!(leftovers::detach_loops_of(&image).unwrap(), [Path::new(device)]);
    assert!(leftovers::loop_devices_of(&image).unwrap().is_empty());
}

#[test]
fn loop_what_is_kept_stays_until_it_is_unmounted() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let mut claimed = fixture.claim(64 << 20);
    let made = formatted(&claimed, &*ext4, &FsLevel::plain("ext4"), Discard::None);
    mounted(&made, &fixture).keep();
    claimed.keep();
    claimed.release().unwrap();
    assert!(fixture.image().exists() && mountinfo::at(&fixture.mnt()).unwrap().is_some());
    assert_eq!(leftovers::unmount_below(fixture.dir()).unwrap(), 1);
    leftovers::detach_loops_of(&fixture.image()).unwrap();
    leftovers::remove_image(&fixture.image()).unwrap();
    fixture.assert_nothing_left();
}

const PIDS: &str = "FSARENA_TEST_PIDS";

/// First as the parent of a PID namespace, then as process 1 of it.
#[test]
fn loop_pid_namespace_member() {
    let Ok(role) = std::env::var(PIDS) else {
        return println!("not run: the child of another test");
    };
    if role == "parent" {
        child::enter_private_mounts().unwrap();
        child::unshare_pids().unwrap();
        let mut first = Command::new(std::env::current_exe().unwrap());
        first
            .args(["--exact", "loop_targets::killed::loop_pid_namespace_member"])
            .env(PIDS, "first");
        assert!(first.stdout(Stdio::null()).status().unwrap().success());
        return;
    }
    child::death_signal(0).unwrap();
    child::mount_proc().unwrap();
    assert_eq!(std::fs::read_link("/proc/self").unwrap(), Path::new("1"));
    assert!(leftovers::loop_devices_of(Path::new("/x/fsarena-none")).unwrap().is_empty());
    assert_eq!(sh("setsid sleep 4242 & echo $PPID"), "1\n");
}

#[test]
fn loop_daemons_die_with_their_pid_namespace() {
    let Some(_stage) = LoopFixture::enter() else { return };
    let mut parent = Command::new(std::env::current_exe().unwrap());
    parent.args(["--exact", "loop_targets::killed::loop_pid_namespace_member"]).env(PIDS, "parent");
    assert!(parent.stdout(Stdio::null()).status().unwrap().success());
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        assert_ne!(line, b"sleep\x004242\x00", "the daemon lives");
    }
    assert_ne!(std::fs::read_link("/proc/self").unwrap(), Path::new("1"));
}

#[test]
fn loop_a_mount_point_that_is_not_utf8_does_not_open_the_way_to_removal() {
    use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
    use std::os::unix::ffi::OsStrExt as _;
    let Some(fixture) = LoopFixture::enter() else { return };
    let ours = fixture.dir().join("fsarena-dir");
    let odd = ours.join(std::ffi::OsStr::from_bytes(b"caf\xe9 \xff"));
    std::fs::create_dir_all(&odd).unwrap();
    mount("fsarena", &odd, "tmpfs", MountFlags::empty(), None).unwrap();
    std::fs::write(odd.join("file"), "").unwrap();
    let removed = leftovers::remove_dir(&ours);
    let file_is_there = odd.join("file").exists();
    let seen = mountinfo::at(&odd);
    let count = leftovers::unmount_below(&ours);
    let _ = unmount(&odd, UnmountFlags::DETACH);
    assert!(removed.is_err() && file_is_there, "{removed:?}");
    assert_eq!(seen.unwrap().unwrap().fstype, "tmpfs");
    assert_eq!(count.unwrap(), 1);
    assert!(leftovers::remove_dir(&ours).unwrap());
}
