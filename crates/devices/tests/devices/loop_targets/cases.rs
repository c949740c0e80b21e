//! Each file system through its whole life, discards, caches, and file systems made of commands.

use super::fixture::{LoopFixture, device, formatted, mounted, ready};
use fsarena_devices::claim::{claim_directory, claim_memory};
use fsarena_devices::format::format;
use fsarena_devices::mount::mount;
use fsarena_devices::{cache, image, settle, vet};
use fsarena_filesystems::driver;
use fsarena_model::contender::{Discard, ExternalFs, FsLevel};
use fsarena_model::spec::TargetSpec;
use fsarena_process::cmd;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::time::Duration;

const ON_DEVICES: [&str; 5] = ["ext2", "ext3", "ext4", "xfs", "btrfs"];
const SIZE: u64 = 320 << 20;

#[test]
fn loop_every_file_system_lives_and_leaves_nothing() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for name in ON_DEVICES {
        let Some(driver) = ready(name) else { continue };
        let claimed = fixture.claim(SIZE);
        let target = claimed.target();
        println!("{name}: {:?} {:?}", claimed.facts(), claimed.notices());
        let level = FsLevel { mount: vec!["noatime".into()], ..FsLevel::plain(name) };
        // Twice: the second mkfs finds the first file system.
        for _ in 0..2 {
            let made = formatted(&claimed, &*driver, &level, Discard::None);
            assert!(made.mkfs_ns() > 0 && made.mkfs_argv()[0].contains("mk"));
            let extents = extents_of(&fixture.image());
            assert!(!extents.contains("unwritten"), "{name}: {extents}");
            let features = driver.effective_features(device(&target)).unwrap();
            assert!(features.len() > 4, "{name}: {features:?}");
            let tree = mounted(&made, &fixture);
            assert_eq!(tree.fstype(), name);
            let options: Vec<&str> = tree.options().split(',').collect();
            assert!(options.contains(&"noatime"), "{name}: {}", tree.options());
            assert!(!options.iter().any(|o| o.starts_with("discard")), "{}", tree.options());
            fs::write(tree.path().join("file"), b"contents").unwrap();
            settle::syncfs(tree.path()).unwrap();
            assert_eq!(driver.effective_features(device(&target)).unwrap().len(), features.len());
            let served = driver.served_by(Path::new("/sys"), device(&target));
            println!("{name}: {} served by {served:?}", tree.options());
            if driver.freezes() {
                settle::freeze_thaw(tree.path()).unwrap();
                fs::write(tree.path().join("after-thaw"), b"x").unwrap();
            }
            assert!(tree.unmount().unwrap() > 0);
            let again = mounted(&made, &fixture);
            assert_eq!(fs::read(again.path().join("file")).unwrap(), b"contents");
            again.unmount().unwrap();
        }
        assert_eq!(claimed.facts()["logical_sector_bytes"], "512");
        claimed.release().unwrap();
        fixture.assert_nothing_left();
    }
}

/// As filefrag of e2fsprogs says; nothing where the image's file system cannot tell.
fn extents_of(image: &Path) -> String {
    let filefrag = cmd::find("filefrag").expect("filefrag of e2fsprogs");
    let args = [OsStr::new("-v"), image.as_os_str()];
    let ran = cmd::run(&filefrag, &args, Duration::from_secs(60));
    ran.map(|ran| ran.stdout).unwrap_or_default()
}

#[test]
fn loop_images_are_punched_only_where_discard_is_on() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let mut shrunk = Vec::new();
    let mut tried = 0;
    for name in ON_DEVICES {
        let Some(driver) = ready(name) else { continue };
        tried += 1;
        let claimed = fixture.claim(SIZE);
        assert!(image::allocated_bytes(&fixture.image()).unwrap() >= SIZE);
        for discard in [Discard::None, Discard::On] {
            let made = formatted(&claimed, &*driver, &FsLevel::plain(name), discard);
            let tree = mounted(&made, &fixture);
            let file = tree.path().join("file");
            fs::write(&file, vec![7; 32 << 20]).unwrap();
            settle::syncfs(tree.path()).unwrap();
            fs::remove_file(&file).unwrap();
            settle::syncfs(tree.path()).unwrap();
            tree.unmount().unwrap();
            let now = image::allocated_bytes(&fixture.image()).unwrap();
            match discard {
                // A block of the backing file system's own extents may come and go.
                Discard::None => assert!(now >= SIZE, "{name} has punched the image: {now}"),
                Discard::On if now < SIZE => shrunk.push(name),
                Discard::On => {}
            }
        }
        claimed.release().unwrap();
    }
    fixture.assert_nothing_left();
    println!("shrunk with discard: {shrunk:?}");
    if tried > 0 && shrunk.is_empty() {
        println!("not run: the loop device takes no discards here, so Discard::On shows nothing");
    }
}

#[test]
fn loop_caches_are_emptied_and_the_proof_sees_it() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(driver) = ready("ext4") else { return };
    let claimed = fixture.claim(64 << 20);
    let target = claimed.target();
    let made = formatted(&claimed, &*driver, &FsLevel::plain("ext4"), Discard::None);
    let tree = mounted(&made, &fixture);
    fs::write(tree.path().join("file"), vec![1; 1 << 20]).unwrap();
    tree.unmount().unwrap();
    // The device keeps metadata in the cache over an unmount.
    fs::read(device(&target)).unwrap();
    match cache::resident_pages(device(&target)) {
        Err(error) if error.errno() == Some(38) => println!("not run: no cachestat"),
        pages => {
            assert!(pages.unwrap() > 0);
            cache::flush_device(device(&target)).unwrap();
            cache::evict_file(&fixture.image()).unwrap();
            cache::drop_caches().unwrap();
            assert_eq!(cache::resident_pages(device(&target)).unwrap(), 0);
            assert_eq!(cache::resident_pages(&fixture.image()).unwrap(), 0);
        }
    }
    drop(made);
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_an_image_in_memory_is_said_to_be_memory() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Ok(dir) = vet::vet_image_dir(Path::new("/dev/shm"), 16 << 20) else {
        println!("not run: no /dev/shm");
        return;
    };
    if !dir.in_memory() {
        println!("not run: /dev/shm is no tmpfs");
        return;
    }
    let name = format!("fsarena-test-{}", std::process::id());
    let claimed = fsarena_devices::claim::claim_image(&dir, &name, 16 << 20, true, &mut |_| {
        std::ops::ControlFlow::Continue(())
    })
    .unwrap();
    assert!(matches!(claimed.target(), TargetSpec::Block { in_memory: true, .. }));
    let notices = claimed.notices();
    assert!(notices.iter().any(|notice| notice.text.contains("memory, not a disk")), "{notices:?}");
    claimed.release().unwrap();
    assert!(!dir.image_path(&name).exists());
    fixture.assert_nothing_left();
}

#[test]
fn loop_tmpfs_has_its_limit_and_a_directory_is_only_emptied() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let tmpfs = driver(&FsLevel::plain("tmpfs")).unwrap();
    let claimed = claim_memory(4 << 20).unwrap();
    let made = formatted(&claimed, &*tmpfs, &FsLevel::plain("tmpfs"), Discard::None);
    let tree = mounted(&made, &fixture);
    assert_eq!(tree.fstype(), "tmpfs");
    assert!(tree.options().contains("size=4096k"), "{}", tree.options());
    let error = fs::write(tree.path().join("file"), vec![1; 8 << 20]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    tree.unmount().unwrap();
    claimed.release().unwrap();
    fixture.assert_nothing_left();

    fs::write(fixture.dir().join("theirs"), "kept").unwrap();
    let vetted = vet::vet_directory(fixture.dir()).unwrap();
    let claimed = claim_directory(&vetted, "fsarena-dir").unwrap();
    let plain = driver(&FsLevel::plain("directory")).unwrap();
    let level = FsLevel::plain("directory");
    let made = format(&claimed.target(), &*plain, &level, Discard::None).unwrap();
    let tree = mount(&made, Path::new("/nowhere")).unwrap();
    fs::create_dir(tree.path().join("sub")).unwrap();
    fs::write(tree.path().join("sub/file"), "x").unwrap();
    assert_eq!(tree.unmount().unwrap(), 0);
    format(&claimed.target(), &*plain, &level, Discard::None).unwrap();
    assert_eq!(fs::read_dir(fixture.dir().join("fsarena-dir")).unwrap().count(), 0);
    claimed.release().unwrap();
    assert!(!fixture.dir().join("fsarena-dir").exists());
    assert_eq!(fs::read_to_string(fixture.dir().join("theirs")).unwrap(), "kept");
}

#[test]
fn fuse_external_fuse2fs_mounts_writes_reads_and_unmounts() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let commands = ExternalFs {
        create: Some("mke2fs -q -F -t ext4 -b 4096 -E nodiscard {dev}".into()),
        mount: "fuse2fs {dev} {mnt} -o fakeroot".into(),
        unmount: None,
        destroy: None,
        version: Some("fuse2fs --help 2>&1 | head -n 1; mke2fs -V 2>&1 | head -n 1".into()),
        programs: vec!["fuse2fs".into()],
        package: Some("fuse2fs".into()),
        device: true,
        memory: false,
    };
    let level = FsLevel { external: Some(commands), ..FsLevel::plain("fuse-ext4") };
    let driver = driver(&level).unwrap();
    let ready = fsarena_filesystems::availability(&*driver, Path::new("/proc"));
    if ready != fsarena_filesystems::Availability::Ready || !Path::new("/dev/fuse").exists() {
        println!("not run: no fuse2fs or no /dev/fuse: {ready:?}");
        return;
    }
    let claimed = fixture.claim(64 << 20);
    let made = formatted(&claimed, &*driver, &level, Discard::None);
    for round in 0..3 {
        let tree = mounted(&made, &fixture);
        assert!(tree.fstype().starts_with("fuse"), "{}", tree.fstype());
        let file = tree.path().join("file");
        if round > 0 {
            assert_eq!(fs::read(&file).unwrap(), vec![round - 1; 1 << 20]);
        }
        fs::write(&file, vec![round; 1 << 20]).unwrap();
        let ns = tree.unmount().unwrap();
        println!("fuse2fs unmount: {ns} ns; version {:?}", driver.version());
    }
    drop(made);
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}
