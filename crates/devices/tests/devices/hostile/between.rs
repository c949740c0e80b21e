//! Devices that change between vetting and mkfs: the last look refuses them.

use super::fixture::{Build, HostileFixture, MIB, NotRun, detach, hash, put, run, shell};
use super::{HELD, State, consent, recheck_refuses, roots, vet, vetted_ext4};
use fsarena_devices::inventory::{Roots, check_path, recheck};
use fsarena_devices::vet::VettedDevice;
use std::fs::{self, File};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

/// A state that begins with a vetted ext4, is changed, and is refused for this reason then.
fn after(
    name: &str,
    reason: &'static str,
    change: impl Fn(&mut HostileFixture, &VettedDevice, &Path) -> Build<()> + 'static,
) -> State {
    State::new(name, move |fixture| {
        let (vetted, image) = vetted_ext4(fixture)?;
        drop(vetted.recheck(&roots()).expect("nothing has changed yet"));
        change(fixture, &vetted, &image)?;
        recheck_refuses(&vetted, &[&image], reason);
        Ok(())
    })
}

pub fn states() -> Vec<State> {
    let mut states = another_device();
    states.extend(in_use_by_now());
    states.extend(seen_by_one_alone());
    states.extend(identity());
    states
}

fn another_device() -> Vec<State> {
    vec![
        after(
            "detached",
            "is not the device that was vetted: its size in bytes was 16777216",
            |_, vetted, _| {
                detach(vetted.path());
                Ok(())
            },
        ),
        after("another image on the same device", "diskseq", |fixture, vetted, _| {
            let other = fixture.image("other", 16 * MIB);
            detach(vetted.path());
            fixture.attach_to(vetted.path(), &other)
        }),
        after("the same image attached again", "diskseq", |fixture, vetted, image| {
            detach(vetted.path());
            fixture.attach_to(vetted.path(), image)
        }),
        after("grown", "size in bytes was 16777216 and is 33554432", |_, vetted, image| {
            File::options().write(true).open(image).unwrap().set_len(32 * MIB).unwrap();
            run("losetup", &[Path::new("--set-capacity"), vetted.path()])
        }),
        after("cut", "size in bytes was 16777216 and is 8388608", |_, vetted, image| {
            File::options().write(true).open(image).unwrap().set_len(8 * MIB).unwrap();
            run("losetup", &[Path::new("--set-capacity"), vetted.path()])
        }),
        after("set read-only", "can", |_, vetted, _| {
            run("blockdev", &[Path::new("--setro"), vetted.path()])
        }),
        State::new("symbolic link swapped", link_swapped),
        State::new("node replaced by a link to another device", node_replaced),
        State::new("another file system made meanwhile", made_meanwhile),
        State::new("partition table written meanwhile", |fixture| {
            let (vetted, image) = vetted_ext4(fixture)?;
            put(vetted.path(), 510, b"\x55\xaa");
            shell("echo ',8M' | sfdisk -q --label dos --wipe never --force $1", &[vetted.path()])?;
            let error = vetted.recheck(&roots()).expect_err("let through").to_string();
            assert!(error.contains("what is on it has changed"), "{error}");
            drop(image);
            Ok(())
        }),
        State::new("partition vetted, then deleted and made elsewhere", |fixture| {
            let image = fixture.image("image", 48 * MIB);
            let disk = fixture.attach(&image, &["--partscan"])?;
            let part = fixture.add_partition(&disk, 1, 2048, 20 * 2048)?;
            let vetted = vet(&part, &[consent(&part, &[])]).unwrap();
            run("delpart", &[disk.to_str().unwrap(), "1"])?;
            fixture.add_partition(&disk, 1, 4096, 20 * 2048)?;
            recheck_refuses(&vetted, &[&image], "is not the device that was vetted");
            Ok(())
        }),
    ]
}

fn link_swapped(fixture: &mut HostileFixture) -> Build<()> {
    let (vetted, image) = vetted_ext4(fixture)?;
    let link = fixture.path("link");
    symlink(vetted.path(), &link).unwrap();
    let by_link = vet(&link, &[consent(&link, &["ext4"])]).unwrap();
    let other_image = fixture.image("other", 16 * MIB);
    let other = fixture.attach(&other_image, &[])?;
    fs::remove_file(&link).unwrap();
    symlink(&other, &link).unwrap();
    assert_eq!(by_link.path(), vetted.path(), "the link matters no more");
    let error = check_path(by_link.identity(), &link).expect_err("let through").to_string();
    assert!(error.contains("which was vetted"), "{error}");
    check_path(by_link.identity(), by_link.path()).unwrap();
    // And with its new end it has not been given up.
    let refusal = vet(&link, &[consent(vetted.path(), &["ext4"])]).expect_err("let through");
    assert!(refusal.to_string().contains("not given up"), "{refusal}");
    drop(image);
    Ok(())
}

/// Somebody exchanges the node itself; here one outside `/dev` takes its place.
fn node_replaced(fixture: &mut HostileFixture) -> Build<()> {
    let (vetted, image) = vetted_ext4(fixture)?;
    let other_image = fixture.image("other", 16 * MIB);
    let other = fixture.attach(&other_image, &[])?;
    let mut identity = vetted.identity().clone();
    identity.path = fixture.path("node");
    symlink(&other, &identity.path).unwrap();
    let error = recheck(&identity, &roots()).expect_err("let through").to_string();
    assert!(error.contains("its device number was"), "{error}");
    fs::remove_file(&identity.path).unwrap();
    fs::write(&identity.path, "a file now").unwrap();
    let error = recheck(&identity, &roots()).expect_err("let through").to_string();
    assert!(error.contains("is a regular file"), "{error}");
    fs::remove_file(&identity.path).unwrap();
    assert!(recheck(&identity, &roots()).is_err());
    drop(image);
    Ok(())
}

fn made_meanwhile(fixture: &mut HostileFixture) -> Build<()> {
    let (vetted, image) = vetted_ext4(fixture)?;
    shell("wipefs -q -a $1; mkswap $1", &[vetted.path()])?;
    let before = hash(vetted.path(), &image);
    let error = vetted.recheck(&roots()).expect_err("let through").to_string();
    assert!(error.contains("it was ext4 and is swap"), "{error}");
    assert_eq!(hash(vetted.path(), &image), before);
    Ok(())
}

fn in_use_by_now() -> Vec<State> {
    vec![
        after("mounted meanwhile", "in use: mounted at", |fixture, vetted, _| {
            let mnt = fixture.new_dir("mnt");
            fixture.mount(vetted.path(), &mnt, &["-o", "ro"])
        }),
        after("mounted meanwhile in another namespace", "sees it)", |fixture, vetted, _| {
            let mnt = fixture.new_dir("mnt");
            fixture.background(&format!(
                "exec unshare --mount --propagation private sh -c \
                 'mount -n -o ro {} {} && echo ready && exec sleep 300'",
                vetted.path().display(),
                mnt.display()
            ))
        }),
        after("swap meanwhile", "in use as swap", |fixture, vetted, _| {
            shell("wipefs -q -a $1; mkswap $1", &[vetted.path()])?;
            fixture.swap_on(vetted.path())
        }),
        after("a loop device is on it meanwhile", "is on it", |fixture, vetted, _| {
            fixture.attach(vetted.path(), &[]).map(drop)
        }),
        after("its image attached twice meanwhile", "has the same", |fixture, _, image| {
            fixture.attach(image, &[]).map(drop)
        }),
        after("held exclusively meanwhile", "exclusively", |fixture, vetted, _| {
            let held = File::options().read(true).custom_flags(libc::O_EXCL).open(vetted.path());
            fixture.keep_open(held.map_err(|error| NotRun(error.to_string()))?);
            Ok(())
        }),
        after("open in another process meanwhile", "has it open", |fixture, vetted, _| {
            let device = vetted.path().display();
            fixture.background(&format!("exec 3<{device}; echo ready; exec sleep 300"))
        }),
        State::new("partition mounted meanwhile, whole disk", |fixture| {
            let image = fixture.image("image", 32 * MIB);
            let disk = fixture.attach(&image, &["--partscan"])?;
            let vetted = vet(&disk, &[consent(&disk, &[])]).unwrap();
            let part = fixture.add_partition(&disk, 1, 2048, 24 * 2048)?;
            run("mke2fs", &["-q", "-F", "-t", "ext2", part.to_str().unwrap()])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&part, &mnt, &["-o", "ro"])?;
            recheck_refuses(&vetted, &[&image], "its partition ");
            Ok(())
        }),
        State::new("added to a mounted btrfs meanwhile", added_to_btrfs),
        State::new("zram made anew meanwhile", |fixture| {
            let device = fixture.zram("32M")?;
            let vetted = vet(&device, &[consent(&device, &[])]).unwrap();
            let dir = PathBuf::from("/sys/block").join(device.file_name().unwrap());
            fs::write(dir.join("reset"), "1").unwrap();
            fs::write(dir.join("disksize"), "64M").unwrap();
            recheck_refuses(&vetted, &[], "size in bytes");
            Ok(())
        }),
    ]
}

/// What one witness does not see, another does.
fn seen_by_one_alone() -> Vec<State> {
    vec![
        State::new("mounted meanwhile, seen by the list of the kernel alone", |fixture| {
            let (vetted, image) = vetted_ext4(fixture)?;
            let blind = blind(fixture);
            drop(recheck(vetted.identity(), &blind).expect("nothing has changed yet"));
            let mnt = fixture.new_dir("mnt");
            fixture.mount(vetted.path(), &mnt, &["-o", "ro"])?;
            refused_blindly(&vetted, &image, &blind, "has a mounted file system (ext4)");
            Ok(())
        }),
        State::new("mounted meanwhile, seen by the exclusive open alone", |fixture| {
            let image = fixture.path("image");
            let script = "head -c 20M /dev/urandom > $1.f; mksquashfs $1.f $1 -quiet";
            shell(script, &[&image])?;
            let device = fixture.attach(&image, &[])?;
            let vetted = vet(&device, &[consent(&device, &["squashfs"])]).unwrap();
            let blind = blind(fixture);
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &[])?;
            refused_blindly(&vetted, &image, &blind, HELD);
            Ok(())
        }),
    ]
}

/// As from inside a process namespace, whose `/proc` shows nobody else's mounts.
fn blind(fixture: &HostileFixture) -> Roots {
    let process = fixture.new_dir("proc").join("1");
    fs::create_dir(&process).unwrap();
    fs::write(process.join("mountinfo"), "22 1 0:99 / / rw - tmpfs none rw\n").unwrap();
    Roots { proc: fixture.path("proc"), ..roots() }
}

fn refused_blindly(vetted: &VettedDevice, image: &Path, blind: &Roots, reason: &str) {
    let before = hash(vetted.path(), image);
    let error = recheck(vetted.identity(), blind).expect_err("let through").to_string();
    assert!(error.contains(reason), "no {reason:?} in: {error}");
    assert_eq!(hash(vetted.path(), image), before);
}

fn added_to_btrfs(fixture: &mut HostileFixture) -> Build<()> {
    let one = fixture.image("one", 120 * MIB);
    let two = fixture.image("two", 120 * MIB);
    let first = fixture.attach(&one, &[])?;
    let second = fixture.attach(&two, &[])?;
    let vetted = vet(&second, &[consent(&second, &[])]).unwrap();
    run("mkfs.btrfs", &["-q", first.to_str().unwrap()])?;
    let mnt = fixture.new_dir("mnt");
    fixture.mount(&first, &mnt, &[])?;
    let [second, mnt] = [&second, &mnt].map(|path| path.to_str().unwrap());
    run("btrfs", &["device", "add", "--nodiscard", second, mnt])?;
    recheck_refuses(&vetted, &[&two], "a part of the btrfs");
    Ok(())
}

/// As on resume, when the identity comes from the journal of a RUN.
fn identity() -> Vec<State> {
    let edited =
        |name: &str, reason: &'static str, edit: fn(&mut fsarena_model::device::DeviceIdentity)| {
            State::new(name, move |fixture| {
                let (vetted, image) = vetted_ext4(fixture)?;
                let mut identity = vetted.identity().clone();
                edit(&mut identity);
                let before = hash(vetted.path(), &image);
                let error = recheck(&identity, &roots()).expect_err("let through").to_string();
                assert!(error.contains(reason), "no {reason:?} in: {error}");
                assert_eq!(hash(vetted.path(), &image), before);
                Ok(())
            })
        };
    vec![
        edited("serial gone", "serial was S1 and is unknown", |identity| {
            identity.hardware.insert("serial".into(), "S1".into());
        }),
        edited("wwid changed", "wwid was eui.1 and is unknown", |identity| {
            identity.hardware.insert("wwid".into(), "eui.1".into());
        }),
        edited("another backing file", "backing_file was /else and is", |identity| {
            identity.hardware.insert("backing_file".into(), "/else".into());
        }),
        edited("another diskseq", "diskseq", |identity| {
            identity.diskseq = identity.diskseq.map(|number| number - 1);
        }),
        edited("no diskseq any more", "diskseq", |identity| identity.diskseq = None),
        edited("another kernel name", "kernel name was sdz", |identity| {
            identity.name = "sdz".into();
        }),
    ]
}
