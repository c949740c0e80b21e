//! What goes wrong: panics between states, a failing mkfs, a full directory, refused options, and
//! the primitives of recovery.

use super::fixture::{LoopFixture, device, formatted, mounted, ready};
use fsarena_devices::claim::{claim_image, claim_memory};
use fsarena_devices::format::format;
use fsarena_devices::image::Image;
use fsarena_devices::mount::mount;
use fsarena_devices::{TargetError, vet};
use fsarena_filesystems::driver;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::{TargetSpec, Under};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

#[test]
fn loop_a_panic_between_any_two_states_leaves_nothing() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for name in ["ext4", "xfs", "btrfs"] {
        let Some(driver) = ready(name) else { continue };
        for state in 0..4 {
            let result = catch_unwind(AssertUnwindSafe(|| {
                let claimed = fixture.claim(320 << 20);
                assert!(state > 0, "after the claim");
                let made = formatted(&claimed, &*driver, &FsLevel::plain(name), Discard::None);
                assert!(state > 1, "after mkfs");
                let tree = mounted(&made, &fixture);
                fs::write(tree.path().join("file"), "x").unwrap();
                assert!(state > 2, "after the mount");
                let _open = fs::File::open(tree.path().join("file")).unwrap();
                let _inside = tree.path().to_owned();
                drop(tree);
                panic!("after the unmount");
            }));
            assert!(result.is_err());
            fixture.assert_nothing_left();
        }
    }
}

#[test]
fn loop_a_busy_mount_comes_back_with_the_reason_and_drop_still_takes_it_away() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(driver) = ready("ext4") else { return };
    let claimed = fixture.claim(64 << 20);
    let made = formatted(&claimed, &*driver, &FsLevel::plain("ext4"), Discard::None);
    let tree = mounted(&made, &fixture);
    let open = fs::File::create(tree.path().join("file")).unwrap();
    let (tree, error) = *tree.unmount().unwrap_err();
    assert_eq!(error.errno(), Some(16), "EBUSY: {error}");
    assert!(error.remedy().is_some());
    // While it is mounted neither mkfs nor a second mount may touch the device.
    assert!(format(&claimed.target(), &*driver, &FsLevel::plain("ext4"), Discard::None).is_err());
    drop(tree);
    drop(open);
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_failing_mkfs_names_the_command_and_leaves_nothing() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let claimed = fixture.claim(8 << 20);
    let level = FsLevel::plain("ext4");
    let error = format(&claimed.target(), &*ext4, &level, Discard::None).unwrap_err();
    assert!(matches!(error, TargetError::Illegal(_)) && error.to_string().contains("too small"));
    // An option that only mke2fs knows to be wrong.
    claimed.release().unwrap();
    let claimed = fixture.claim(64 << 20);
    let mut level = FsLevel::plain("ext4");
    level.mkfs.insert("features".into(), "no_such_feature".into());
    let error = format(&claimed.target(), &*ext4, &level, Discard::None).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("mke2fs") && text.contains("no_such_feature"), "{text}");
    assert!(error.remedy().is_some());
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_refused_mount_option_is_named() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for name in ["ext4", "xfs", "btrfs"] {
        let Some(driver) = ready(name) else { continue };
        let claimed = fixture.claim(320 << 20);
        let level = FsLevel { mount: vec!["frobnicate=7".into()], ..FsLevel::plain(name) };
        let made = formatted(&claimed, &*driver, &level, Discard::None);
        let text = mount(&made, &fixture.mnt()).unwrap_err().to_string();
        println!("{text}");
        assert!(text.contains("frobnicate=7") && !text.contains("dmesg"), "{text}");
        drop(made);
        claimed.release().unwrap();
    }
    fixture.assert_nothing_left();
}

/// As after a mkfs that reports success and has done nothing.
#[test]
fn loop_a_device_without_the_file_system_is_told_from_refused_options() {
    let Some(fixture) = LoopFixture::enter() else { return };
    for name in ["ext4", "xfs", "btrfs"] {
        let Some(driver) = ready(name) else { continue };
        let claimed = fixture.claim(320 << 20);
        let level = FsLevel { mount: vec!["noatime".into()], ..FsLevel::plain(name) };
        let made = formatted(&claimed, &*driver, &level, Discard::None);
        let TargetSpec::Block { device, .. } = claimed.target() else { panic!("a device") };
        let disk = fs::OpenOptions::new().write(true).open(&device).unwrap();
        // Superblocks of ext4 and xfs, and the one of btrfs.
        for place in [0, 65_536] {
            std::os::unix::fs::FileExt::write_all_at(&disk, &[0; 65_536], place).unwrap();
        }
        disk.sync_all().unwrap();
        drop(disk);
        let text = mount(&made, &fixture.mnt()).unwrap_err().to_string();
        println!("{text}");
        let told = format!("there is no {name} on the device that can be mounted");
        assert!(text.contains(&told) && !text.contains("together"), "{text}");
        drop(made);
        claimed.release().unwrap();
    }
    fixture.assert_nothing_left();
}

#[test]
fn loop_an_image_that_was_cut_off_is_not_used_on() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(driver) = ready("ext4") else { return };
    let claimed = fixture.claim(64 << 20);
    let TargetSpec::Block { under: Under::Image { image, .. }, .. } = claimed.target() else {
        panic!("an image")
    };
    let made = formatted(&claimed, &*driver, &FsLevel::plain("ext4"), Discard::None);
    fs::OpenOptions::new().write(true).open(&image).unwrap().set_len(1 << 20).unwrap();
    let mounting = mount(&made, &fixture.mnt()).unwrap_err().to_string();
    assert!(mounting.contains("has 1048576 of 67108864 bytes: somebody has cut"), "{mounting}");
    let again = format(&claimed.target(), &*driver, &FsLevel::plain("ext4"), Discard::None);
    assert!(again.unwrap_err().to_string().contains("somebody has cut it off"));
    drop(made);
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_full_image_directory_is_refused_with_the_missing_amount() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let tmpfs = driver(&FsLevel::plain("tmpfs")).unwrap();
    let claimed = claim_memory(80 << 20).unwrap();
    let made = formatted(&claimed, &*tmpfs, &FsLevel::plain("tmpfs"), Discard::None);
    let tree = mounted(&made, &fixture);
    // A mount of ours is no place for images by vetting; the image itself finds the end.
    let text = vet::vet_image_dir(tree.path(), 1 << 20).unwrap_err().to_string();
    assert!(text.contains("a run of ours has mounted"), "{text}");
    let path = tree.path().join("fsarena-image");
    let error =
        Image::create(&path, 200 << 20, &mut |_| std::ops::ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error.errno(), Some(28), "ENOSPC: {error}");
    assert!(error.remedy().unwrap().contains("--image-dir"));
    assert!(!path.exists(), "the half image is gone");
    tree.unmount().unwrap();
    fixture.assert_nothing_left();

    let mnt = fixture.mnt();
    let flags = rustix::mount::MountFlags::empty();
    rustix::mount::mount("theirs", &mnt, "tmpfs", flags, Some(c"size=96m")).unwrap();
    assert!(vet::vet_image_dir(&mnt, 16 << 20).unwrap().in_memory());
    let text = vet::vet_image_dir(&mnt, 64 << 20).unwrap_err().to_string();
    assert!(text.contains("32 MiB missing"), "{text}");
    let dir = vet::vet_image_dir(&mnt, 16 << 20).unwrap();
    let error = claim_image(&dir, "fsarena-image", 64 << 20, true, &mut |_| {
        std::ops::ControlFlow::Continue(())
    })
    .unwrap_err();
    assert!(matches!(error, TargetError::NoSpace { .. }), "{error}");
    rustix::mount::unmount(&mnt, rustix::mount::UnmountFlags::empty()).unwrap();
    let text = vet::vet_image_dir(fixture.dir(), 1 << 50).unwrap_err().to_string();
    assert!(text.contains("missing") && text.contains("--image-dir"), "{text}");
}

#[test]
fn loop_block_devices_are_refused_also_behind_links() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(1 << 20);
    let target = claimed.target();
    let link = fixture.dir().join("by-id");
    std::os::unix::fs::symlink(device(&target), &link).unwrap();
    for path in [device(&target), &link] {
        for text in [
            vet::vet_directory(path).unwrap_err().to_string(),
            vet::vet_image_dir(path, 0).unwrap_err().to_string(),
        ] {
            assert!(text.contains("is a block device, not a directory"), "{text}");
            assert!(text.contains("--wipe"), "{text}");
        }
    }
    assert!(vet::vet_directory(Path::new("/proc/sys")).is_err());
    assert!(vet::vet_directory(Path::new("/sys/kernel")).is_err());
    assert!(vet::vet_directory(Path::new("/etc/passwd")).is_err());
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_mkfs_is_refused_on_a_device_that_is_not_ours_any_more() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let Some(ext4) = ready("ext4") else { return };
    let claimed = fixture.claim(64 << 20);
    let TargetSpec::Block { device, size_bytes, .. } = claimed.target() else { panic!() };
    let other = TargetSpec::Block {
        device,
        size_bytes,
        in_memory: false,
        under: Under::Image { image: fixture.dir().join("fsarena-other"), direct_io: false },
        members: Vec::new(),
    };
    let level = FsLevel::plain("ext4");
    let text = format(&other, &*ext4, &level, Discard::None).unwrap_err().to_string();
    assert!(text.contains("is not the loop device of"), "{text}");
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}

#[test]
fn loop_a_second_claim_of_one_name_is_refused_and_keeps_the_first() {
    let Some(fixture) = LoopFixture::enter() else { return };
    let claimed = fixture.claim(1 << 20);
    let dir = vet::vet_image_dir(fixture.dir(), 1 << 20).unwrap();
    assert!(
        claim_image(&dir, "fsarena-image", 1 << 20, false, &mut |_| {
            std::ops::ControlFlow::Continue(())
        })
        .is_err()
    );
    assert!(
        claim_image(&dir, "disk", 1 << 20, false, &mut |_| std::ops::ControlFlow::Continue(()))
            .is_err()
    );
    assert!(fixture.image().exists());
    claimed.release().unwrap();
    fixture.assert_nothing_left();
}
