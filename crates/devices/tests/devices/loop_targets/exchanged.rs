//! Devices that are another one, or hold something else, by the next step of a trial: nothing is
//! mounted, read, written or destroyed then.

use super::fixture::{LoopFixture, device, formatted, mounted, ready};
use super::real::{Disk, SIZE, taken};
use fsarena_devices::format::format;
use fsarena_devices::mount::mount;
use fsarena_devices::mountinfo;
use fsarena_devices::ssd::{self, Precondition};
use fsarena_filesystems::driver;
use fsarena_model::contender::{Discard, ExternalFs, FsLevel};
use fsarena_model::device::SsdPolicy;
use fsarena_process::cmd::{Conditions, NO_ARGS, run_with};
use fsarena_process::program::TrustedProgram;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn shell(script: &str) -> String {
    let conditions = Conditions::of_writer(Duration::from_secs(60));
    let ran = run_with(&TrustedProgram::confirmed(script), &NO_ARGS, &conditions);
    ran.unwrap().stdout.trim().to_owned()
}

/// An ext4 of somebody else's, in a file.
fn foreign(fixture: &LoopFixture) -> PathBuf {
    let file = fixture.dir().join("theirs");
    fs::File::create(&file).unwrap().set_len(SIZE).unwrap();
    shell(&format!("mke2fs -q -F -t ext4 {}", file.display()));
    file
}

/// Puts another file under the loop device, as any program may that is faster than a trial. The
/// node is free for a moment, and could be taken: tests that do this run alone.
fn exchange(node: &Path, file: &Path) {
    let (node, file) = (node.display(), file.display());
    shell(&format!(
        "losetup -d {node} 2>/dev/null; n=0; while losetup {node} >/dev/null 2>&1; do sleep 0.1; \
         n=$((n+1)); test $n -lt 100; done; losetup {node} {file}"
    ));
}

fn not_mounted(fixture: &LoopFixture) {
    let mnt = fixture.mnt();
    assert!(mountinfo::at(&mnt).unwrap().is_none(), "mounted all the same");
}

#[test]
fn loop_alone_another_medium_under_the_same_node_is_not_mounted_nor_read() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let Some(disk) = Disk::attach(&fixture.dir().join("disk")) else {
        return println!("not run: no losetup");
    };
    let claimed = taken(&fixture, &disk.node, "");
    let level = FsLevel::plain("ext4");
    let made = format(&claimed.target(), &*ext4, &level, Discard::None).unwrap();
    assert!(made.features(&*ext4).unwrap().len() > 4);
    // A chill: what was mounted once is mounted again.
    mounted(&made, &fixture).unmount().unwrap();
    let theirs = foreign(&fixture);
    let before = fs::read(&theirs).unwrap();
    exchange(&disk.node, &theirs);
    let text = mount(&made, &fixture.mnt()).unwrap_err().to_string();
    assert!(text.contains("is not the device that was vetted"), "{text}");
    not_mounted(&fixture);
    assert!(made.features(&*ext4).is_err());
    assert!(format(&claimed.target(), &*ext4, &level, Discard::None).is_err());
    drop(made);
    shell(&format!("sync {}", disk.node.display()));
    assert!(fs::read(&theirs).unwrap() == before, "the file of somebody else was changed");
    claimed.release().unwrap();
    drop(disk);
    fixture.assert_nothing_left();
}

#[test]
fn loop_alone_another_image_under_our_node_is_not_mounted() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let claimed = fixture.claim(SIZE);
    let made = formatted(&claimed, &*ext4, &FsLevel::plain("ext4"), Discard::None);
    let node = device(&claimed.target()).to_owned();
    claimed.release().unwrap();
    let theirs = foreign(&fixture);
    let before = fs::read(&theirs).unwrap();
    exchange(&node, &theirs);
    let disk = Disk { node };
    let text = mount(&made, &fixture.mnt()).unwrap_err().to_string();
    assert!(text.contains("is not the loop device of"), "{text}");
    not_mounted(&fixture);
    drop(made);
    drop(disk);
    assert!(fs::read(&theirs).unwrap() == before, "the file of somebody else was changed");
    fixture.assert_nothing_left();
}

/// A file system of commands: `destroy` leaves a mark.
fn commands(mark: &Path) -> FsLevel {
    let external = ExternalFs {
        create: Some("mke2fs -q -F -t ext4 {dev} && mkswap -q {dev}".to_owned()),
        mount: "mount -t ext4 {dev} {mnt}".to_owned(),
        unmount: None,
        destroy: Some(format!("echo {{dev}} >> {}", mark.display())),
        version: None,
        programs: Vec::new(),
        package: None,
        device: true,
        memory: false,
    };
    FsLevel { external: Some(external), ..FsLevel::plain("theirs") }
}

#[test]
fn loop_alone_nothing_is_destroyed_on_another_medium() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(disk) = Disk::attach(&fixture.dir().join("disk")) else {
        return println!("not run: no losetup");
    };
    let mark = fixture.dir().join("mark");
    let level = commands(&mark);
    let external = driver(&level).unwrap();
    let claimed = taken(&fixture, &disk.node, "");
    let target = claimed.target();
    // What is left of it is nothing strange for the next one.
    drop(format(&target, &*external, &level, Discard::None).unwrap());
    assert_eq!(fs::read_to_string(&mark).unwrap().trim(), disk.node.display().to_string());
    assert_eq!(shell(&format!("wipefs --noheadings {}", disk.node.display())), "");
    fs::remove_file(&mark).unwrap();
    let made = format(&target, &*external, &level, Discard::None).unwrap();
    let theirs = foreign(&fixture);
    let before = fs::read(&theirs).unwrap();
    exchange(&disk.node, &theirs);
    let error = made.destroy().unwrap_err();
    assert!(error.to_string().contains("was not run"), "{error}");
    assert!(error.remedy().is_some());
    drop(made);
    assert!(!mark.exists(), "run all the same");
    assert!(fs::read(&theirs).unwrap() == before, "the file of somebody else was changed");
    claimed.release().unwrap();
    drop(disk);
    fixture.assert_nothing_left();
}

/// Faster than the last look: between it and the mount.
#[test]
fn loop_alone_what_was_exchanged_while_mounted_is_unmounted_again() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(disk) = Disk::attach(&fixture.dir().join("disk")) else {
        return println!("not run: no losetup");
    };
    let theirs = foreign(&fixture);
    let mut level = commands(&fixture.dir().join("mark"));
    let commands = level.external.as_mut().unwrap();
    commands.create = None;
    commands.mount = format!(
        "losetup -d {{dev}}; sleep 0.5; losetup {{dev}} {} && mount -t ext4 -o ro,noload {{dev}} \
         {{mnt}}",
        theirs.display()
    );
    let external = driver(&level).unwrap();
    let claimed = taken(&fixture, &disk.node, "");
    let made = format(&claimed.target(), &*external, &level, Discard::None).unwrap();
    let text = mount(&made, &fixture.mnt()).unwrap_err().to_string();
    assert!(text.contains("is not the device that was vetted"), "{text}");
    not_mounted(&fixture);
    drop(made);
    assert!(!fixture.dir().join("mark").exists(), "destroyed all the same");
    claimed.release().unwrap();
    drop(disk);
    fixture.assert_nothing_left();
}

#[test]
fn loop_what_has_come_onto_a_device_between_two_trials_is_not_written_over() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let file = fixture.dir().join("disk");
    let Some(disk) = Disk::attach(&file) else { return println!("not run: no losetup") };
    let node = disk.node.display();
    shell(&format!("mkswap -q {node}"));
    let claimed = taken(&fixture, &disk.node, "=swap");
    let (target, level) = (claimed.target(), FsLevel::plain("ext4"));
    let make = || format(&target, &*ext4, &level, Discard::None);
    let condition = || {
        let mut quiet = |_| ControlFlow::Continue(());
        ssd::apply(&target, SsdPolicy::Blkdiscard, &Precondition::default(), &mut quiet)
    };
    make().expect("swap was given up");
    make().expect("ext4 is what we make");
    shell(&format!("wipefs -q -a {node}; mkswap -q {node}"));
    make().expect("swap was given up once and for all");
    shell(&format!(
        "wipefs -q -a {node}; printf LUKS\\\\272\\\\276\\\\000\\\\001 | \
         dd of={node} conv=notrunc status=none; sync {node}"
    ));
    let before = fs::read(&file).unwrap();
    for text in [make().unwrap_err().to_string(), condition().unwrap_err().to_string()] {
        assert!(text.contains("has come onto it since it was given up"), "{text}");
        assert!(text.contains("crypto_LUKS"), "{text}");
    }
    assert!(fs::read(&file).unwrap() == before, "it was written");
    claimed.release().unwrap();
    drop(disk);
    fixture.assert_nothing_left();
}

#[test]
fn loop_the_parts_of_a_disk_go_with_their_table() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let Some(disk) = Disk::attach(&fixture.dir().join("disk")) else {
        return println!("not run: no losetup");
    };
    let node = disk.node.display();
    shell(&format!("addpart {node} 1 2048 20480; addpart {node} 2 40960 20480"));
    let parts = || {
        let name = disk.node.file_name().unwrap().to_string_lossy().into_owned();
        let dir = fs::read_dir(Path::new("/sys/block").join(&name)).unwrap();
        dir.flatten().filter(|entry| entry.path().join("partition").exists()).count()
    };
    assert_eq!(parts(), 2);
    let claimed = taken(&fixture, &disk.node, "");
    assert_eq!(parts(), 2, "a claim changes nothing");
    let level = FsLevel::plain("ext4");
    let made = format(&claimed.target(), &*ext4, &level, Discard::None).unwrap();
    assert_eq!(parts(), 0);
    mounted(&made, &fixture).unmount().unwrap();
    claimed.release().unwrap();
    drop(disk);
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_device_over_a_file_in_memory_is_memory() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let memory = Path::new("/dev/shm");
    if mountinfo::find_for_path(memory).unwrap().is_none_or(|entry| entry.fstype != "tmpfs") {
        return println!("not run: /dev/shm is no tmpfs");
    }
    let file = tempfile::Builder::new().prefix("fsarena-test-").tempfile_in(memory).unwrap();
    let Some(disk) = Disk::attach(file.path()) else { return println!("not run: no losetup") };
    let claimed = taken(&fixture, &disk.node, "");
    assert_eq!(claimed.facts()["in_memory"], "true");
    assert_eq!(claimed.facts()["backing_fs"], "tmpfs");
    assert_eq!(claimed.target().backing_file(), Some(file.path()));
    claimed.release().unwrap();
    drop(disk);
    fixture.assert_nothing_left();
}
