//! Devices that somebody uses: no consent helps.

use super::fixture::{Build, HostileFixture, MIB, NotRun, put, run, shell};
use super::{HELD, State, never};
use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

pub fn states() -> Vec<State> {
    let mut states = mounted();
    states.extend(mounted_out_of_sight());
    states.extend(swap());
    states.extend(stacked());
    states.extend(partitions());
    states.extend(several_devices());
    states.extend(open());
    states
}

/// An image with a file system made by this command, attached.
fn made(
    fixture: &mut HostileFixture,
    name: &str,
    size_mib: u64,
    script: &str,
) -> Build<(PathBuf, PathBuf)> {
    let image = fixture.image(name, size_mib * MIB);
    shell(script, &[&image])?;
    let device = fixture.attach(&image, &["--partscan"])?;
    Ok((device, image))
}

const EXT4: &str = "mke2fs -q -F -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 $1";

fn ext4(fixture: &mut HostileFixture) -> Build<(PathBuf, PathBuf)> {
    made(fixture, "image", 16, EXT4)
}

fn mounted() -> Vec<State> {
    let of_kind = |name: &str, size_mib: u64, script: &'static str| {
        State::new(name, move |fixture| {
            let (device, image) = made(fixture, "image", size_mib, script)?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &[])?;
            never(&device, &[&image], "in use: mounted at");
            Ok(())
        })
    };
    vec![
        of_kind("mounted ext4", 16, EXT4),
        of_kind("mounted xfs", 300, "mkfs.xfs -q $1"),
        of_kind("mounted btrfs", 16, "mkfs.btrfs -q -M $1"),
        of_kind(
            "mounted squashfs",
            16,
            "rm $1; head -c 20M /dev/urandom > $1.f; mksquashfs $1.f $1 -quiet",
        ),
        of_kind(
            "mounted erofs",
            16,
            "rm $1; mkdir $1.d; head -c 20M /dev/urandom > $1.d/f; mkfs.erofs $1 $1.d",
        ),
        State::new("mounted read-only", |fixture| {
            let (device, image) = ext4(fixture)?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &["-o", "ro"])?;
            never(&device, &[&image], "in use: mounted at");
            Ok(())
        }),
        State::new("bind mount alone", bind_alone),
        State::new("mounted under another mount", |fixture| {
            let (device, image) = ext4(fixture)?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &[])?;
            fixture.mount(Path::new("fsarena"), &mnt, &["-t", "tmpfs"])?;
            never(&device, &[&image], "in use: mounted at");
            Ok(())
        }),
        State::new("mount point with space and newline", |fixture| {
            let (device, image) = ext4(fixture)?;
            let mnt = fixture.new_dir("a b\nmnt - \\040");
            fixture.mount(&device, &mnt, &[])?;
            never(&device, &[&image], "a b\\nmnt - ");
            Ok(())
        }),
    ]
}

fn mounted_out_of_sight() -> Vec<State> {
    vec![
        State::new("mounted in another mount namespace", |fixture| {
            elsewhere(fixture, "unshare --mount --propagation private sh -c")
        }),
        State::new("mounted in another mount and process namespace", |fixture| {
            elsewhere(
                fixture,
                "unshare --mount --propagation private --fork --pid --kill-child sh -c",
            )
        }),
        State::new("mounted in a namespace without a process", no_process),
        State::new("unmounted lazily, with a file open", lazily),
        State::new("mounted through fuse (ntfs-3g)", |fixture| {
            let (device, image) = made(fixture, "image", 16, "mkntfs -q -Q -F $1")?;
            let mnt = fixture.new_dir("mnt");
            run("ntfs-3g", &[&device, &mnt])?;
            fixture.unmount_later(&mnt);
            never(&device, &[&image], "in use: mounted at");
            Ok(())
        }),
        State::new("mounted through fuse (fuse2fs)", |fixture| {
            let (device, image) = ext4(fixture)?;
            let mnt = fixture.new_dir("mnt");
            run("fuse2fs", &[&device, &mnt])?;
            fixture.unmount_later(&mnt);
            never(&device, &[&image], "in use: mounted at");
            Ok(())
        }),
        State::new("zram that is mounted", |fixture| {
            let device = fixture.zram("32M")?;
            shell(EXT4, &[&device])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &["-o", "ro"])?;
            never(&device, &[&device], "in use: mounted at");
            Ok(())
        }),
    ]
}

fn bind_alone(fixture: &mut HostileFixture) -> Build<()> {
    let (device, image) = ext4(fixture)?;
    let (mnt, bound) = (fixture.new_dir("mnt"), fixture.new_dir("bound"));
    fixture.mount(&device, &mnt, &[])?;
    fs::create_dir(mnt.join("sub")).unwrap();
    fixture.mount(&mnt.join("sub"), &bound, &["--bind"])?;
    fixture.unmount_now(&mnt, &[])?;
    never(&device, &[&image], "/bound (ext4)");
    Ok(())
}

fn elsewhere(fixture: &mut HostileFixture, unshare: &str) -> Build<()> {
    let (device, image) = ext4(fixture)?;
    let mnt = fixture.new_dir("mnt");
    let (device_text, mnt_text) = (device.display(), mnt.display());
    fixture.background(&format!(
        "exec {unshare} 'mount -n {device_text} {mnt_text} && echo ready && exec sleep 300'"
    ))?;
    never(&device, &[&image], "sees it)");
    Ok(())
}

fn no_process(fixture: &mut HostileFixture) -> Build<()> {
    let (device, image) = ext4(fixture)?;
    let (private, mnt) = (fixture.new_dir("private"), fixture.new_dir("mnt"));
    fixture.mount(&private, &private, &["--bind"])?;
    run("mount", &["--make-private", private.to_str().unwrap()])?;
    let name = private.join("ns");
    File::create_new(&name).unwrap();
    let file = format!("--mount={}", name.display());
    let script = format!("mount -n {} {}", device.display(), mnt.display());
    run("unshare", &[file.as_str(), "--propagation", "private", "sh", "-c", &script])?;
    fixture.unmount_later(&name);
    never(&device, &[&image], "has a mounted file system (ext4)");
    Ok(())
}

fn lazily(fixture: &mut HostileFixture) -> Build<()> {
    let (device, image) = ext4(fixture)?;
    let mnt = fixture.new_dir("mnt");
    fixture.mount(&device, &mnt, &[])?;
    let open = File::create_new(mnt.join("file")).unwrap();
    fixture.unmount_now(&mnt, &["--lazy"])?;
    fixture.keep_open(open);
    never(&device, &[&image], "has a mounted file system (ext4)");
    Ok(())
}

fn swap() -> Vec<State> {
    vec![
        State::new("swap", |fixture| {
            let (device, image) = made(fixture, "image", 16, "mkswap $1")?;
            fixture.swap_on(&device)?;
            never(&device, &[&image], "in use as swap");
            Ok(())
        }),
        State::new("swap on zram", |fixture| {
            let device = fixture.zram("32M")?;
            run("mkswap", &[&device])?;
            fixture.swap_on(&device)?;
            never(&device, &[], "in use as swap");
            Ok(())
        }),
        State::new("swap file on it", |fixture| {
            let (device, image) = made(fixture, "image", 32, EXT4)?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &[])?;
            let file = mnt.join("swap file");
            shell("head -c 16M /dev/zero > \"$1\"; chmod 600 \"$1\"; mkswap \"$1\"", &[&file])?;
            fixture.swap_on(&file)?;
            // What the file system still has to write would change the image between two looks.
            shell("sync -f \"$1\"", &[&mnt])?;
            never(&device, &[&image], "in use as swap");
            Ok(())
        }),
        State::new("swap on a partition, whole disk", |fixture| {
            let (disk, part, image) = partitioned(fixture, "dos")?;
            run("mkswap", &[&part])?;
            fixture.swap_on(&part)?;
            never(&disk, &[&image], "is in use: in use as swap");
            Ok(())
        }),
        State::new("swap on a partition", |fixture| {
            let (_, part, image) = partitioned(fixture, "dos")?;
            run("mkswap", &[&part])?;
            fixture.swap_on(&part)?;
            never(&part, &[&image], "in use: in use as swap");
            Ok(())
        }),
    ]
}

fn stacked() -> Vec<State> {
    vec![
        State::new("a loop device is on it", |fixture| {
            let (device, image) = ext4(fixture)?;
            fixture.attach(&device, &[])?;
            never(&device, &[&image], "is on it");
            Ok(())
        }),
        State::new("a mounted loop device is on it", |fixture| {
            let (device, image) = ext4(fixture)?;
            let above = fixture.attach(&device, &[])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&above, &mnt, &[])?;
            never(&device, &[&image], "is on it");
            Ok(())
        }),
        State::new("what it is on is mounted", |fixture| {
            let (device, image) = ext4(fixture)?;
            let above = fixture.attach(&device, &[])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &["-o", "ro"])?;
            never(&above, &[&image], "below it is in use: mounted at");
            Ok(())
        }),
        State::new("what it is on has a second loop device", |fixture| {
            let (device, image) = ext4(fixture)?;
            let above = fixture.attach(&device, &[])?;
            fixture.attach(&device, &["--offset", "1048576"])?;
            never(&above, &[&image], "has the same");
            Ok(())
        }),
        State::new("its image is attached and mounted elsewhere", |fixture| {
            let (device, image) = ext4(fixture)?;
            let other = fixture.attach(&image, &[])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&other, &mnt, &["-o", "ro"])?;
            never(&device, &[&image], "has the same");
            Ok(())
        }),
        State::new("its image is attached elsewhere, partition", |fixture| {
            let (_, part, image) = partitioned(fixture, "gpt")?;
            let other = fixture.attach(&image, &["--offset", "1048576"])?;
            shell(EXT4, &[&other])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&other, &mnt, &["-o", "ro"])?;
            never(&part, &[&image], "has the same");
            Ok(())
        }),
        State::new("its image has lost its name and is attached twice", |fixture| {
            let (device, image) = ext4(fixture)?;
            fixture.attach(&image, &[])?;
            let kept = fixture.path("kept");
            fs::hard_link(&image, &kept).unwrap();
            fs::remove_file(&image).unwrap();
            never(&device, &[&kept], "has the same");
            Ok(())
        }),
        State::new("an image in its file system is a loop device", |fixture| {
            let (device, image) = made(fixture, "image", 48, EXT4)?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &[])?;
            let inner = mnt.join("inner");
            File::create_new(&inner).unwrap().set_len(16 * MIB).unwrap();
            fixture.attach(&inner, &[])?;
            never(&device, &[&image], "uses, is on it");
            Ok(())
        }),
    ]
}

/// A disk with one partition of 24 MiB: the disk, the partition, the image.
fn partitioned(fixture: &mut HostileFixture, label: &str) -> Build<(PathBuf, PathBuf, PathBuf)> {
    let script = format!("echo 'label: {label}\n2048,24M' | sfdisk -q $1");
    let (disk, image) = made(fixture, "image", 32, &script)?;
    let part = fixture.add_partition(&disk, 1, 2048, 24 * 2048)?;
    Ok((disk, part, image))
}

fn partitions() -> Vec<State> {
    let whole = |label: &'static str| {
        State::new(&format!("{label} with a mounted partition, whole disk"), move |fixture| {
            let (disk, part, image) = partitioned(fixture, label)?;
            shell(EXT4, &[&part])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&part, &mnt, &[])?;
            never(&disk, &[&image], "its partition ");
            never(&part, &[&image], "in use: mounted at");
            Ok(())
        })
    };
    vec![
        whole("gpt"),
        whole("dos"),
        State::new("a loop device is on a partition, whole disk", |fixture| {
            let (disk, part, image) = partitioned(fixture, "gpt")?;
            fixture.attach(&part, &[])?;
            never(&disk, &[&image], "is on it");
            Ok(())
        }),
        State::new("a loop device is on the whole disk, partition", |fixture| {
            let (disk, part, image) = partitioned(fixture, "gpt")?;
            fixture.attach(&disk, &[])?;
            never(&part, &[&image], "that it is a part of is in use");
            Ok(())
        }),
        State::new("partition of a disk that is mounted as a whole", |fixture| {
            let (disk, image) = made(fixture, "image", 32, EXT4)?;
            let part = fixture.add_partition(&disk, 1, 2048, 24 * 2048)?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&disk, &mnt, &["-o", "ro"])?;
            never(&part, &[&image], "that it is a part of is in use");
            Ok(())
        }),
        State::new("partition of a disk that is swap as a whole", |fixture| {
            let (disk, image) = made(fixture, "image", 32, "mkswap $1")?;
            let part = fixture.add_partition(&disk, 1, 2048, 24 * 2048)?;
            fixture.swap_on(&disk)?;
            never(&part, &[&image], "that it is a part of is in use");
            Ok(())
        }),
        State::new("partition mounted out of sight, whole disk", |fixture| {
            let (disk, part, image) = partitioned(fixture, "dos")?;
            shell(EXT4, &[&part])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&part, &mnt, &[])?;
            let open = File::create_new(mnt.join("file")).unwrap();
            fixture.unmount_now(&mnt, &["--lazy"])?;
            fixture.keep_open(open);
            never(&disk, &[&image], "has a mounted file system (ext4)");
            Ok(())
        }),
    ]
}

fn several_devices() -> Vec<State> {
    vec![
        State::new("second device of a mounted btrfs", |fixture| {
            let one = fixture.image("one", 120 * MIB);
            let two = fixture.image("two", 120 * MIB);
            let first = fixture.attach(&one, &[])?;
            let second = fixture.attach(&two, &[])?;
            run("mkfs.btrfs", &["-q", "-d", "single", "-m", "raid1", text(&first), text(&second)])?;
            let mnt = fixture.new_dir("mnt");
            let option = format!("device={}", second.display());
            fixture.mount(&first, &mnt, &["-t", "btrfs", "-o", &option])?;
            never(&second, &[&two], "a part of the btrfs");
            never(&first, &[&one], "a part of the btrfs");
            Ok(())
        }),
        State::new("external journal of a mounted ext4", |fixture| {
            let (journal, image) =
                made(fixture, "journal", 16, "mke2fs -q -F -b 4096 -O journal_dev $1")?;
            let data = fixture.image("data", 16 * MIB);
            let device = fixture.attach(&data, &[])?;
            let option = format!("device={}", journal.display());
            run("mke2fs", &["-q", "-F", "-t", "ext4", "-b", "4096", "-J", &option, text(&device)])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &[])?;
            never(&journal, &[&image], "journal of a mounted file system");
            Ok(())
        }),
        State::new("log of a mounted xfs", |fixture| {
            let image = fixture.image("log", 80 * MIB);
            let log = fixture.attach(&image, &[])?;
            let data = fixture.image("data", 300 * MIB);
            let device = fixture.attach(&data, &[])?;
            let option = format!("logdev={}", log.display());
            run("mkfs.xfs", &["-q", "-l", &option, text(&device)])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &["-o", &option])?;
            never(&log, &[&image], "in use: mounted at");
            Ok(())
        }),
        State::new("realtime part of a mounted xfs", |fixture| {
            let image = fixture.image("rt", 64 * MIB);
            let rt = fixture.attach(&image, &[])?;
            let data = fixture.image("data", 300 * MIB);
            let device = fixture.attach(&data, &[])?;
            let option = format!("rtdev={}", rt.display());
            run("mkfs.xfs", &["-q", "-r", &option, text(&device)])?;
            let mnt = fixture.new_dir("mnt");
            fixture.mount(&device, &mnt, &["-o", &option])?;
            never(&rt, &[&image], "in use: mounted at");
            Ok(())
        }),
        State::new("lower directory of an overlay, its own mount gone", |fixture| {
            let (device, image) = ext4(fixture)?;
            let (lower, merged) = (fixture.new_dir("lower"), fixture.new_dir("merged"));
            fixture.mount(&device, &lower, &["-o", "ro"])?;
            let more = fixture.new_dir("more");
            let option = format!("lowerdir={}:{}", lower.display(), more.display());
            fixture.mount(Path::new("overlay"), &merged, &["-t", "overlay", "-o", &option])?;
            fixture.unmount_now(&lower, &[])?;
            never(&device, &[&image], "has a mounted file system (ext4)");
            Ok(())
        }),
    ]
}

fn open() -> Vec<State> {
    vec![
        State::new("held exclusively by a program", |fixture| {
            let (device, image) = ext4(fixture)?;
            let held = File::options().read(true).custom_flags(libc::O_EXCL).open(&device);
            fixture.keep_open(held.map_err(|error| NotRun(error.to_string()))?);
            never(&device, &[&image], HELD);
            Ok(())
        }),
        State::new("partition held exclusively, whole disk", |fixture| {
            let (disk, part, image) = partitioned(fixture, "gpt")?;
            let held = File::options().read(true).custom_flags(libc::O_EXCL).open(&part);
            fixture.keep_open(held.map_err(|error| NotRun(error.to_string()))?);
            never(&disk, &[&image], HELD);
            Ok(())
        }),
        State::new("whole disk held exclusively, partition", |fixture| {
            let (disk, part, image) = partitioned(fixture, "gpt")?;
            let held = File::options().read(true).custom_flags(libc::O_EXCL).open(&disk);
            fixture.keep_open(held.map_err(|error| NotRun(error.to_string()))?);
            never(&part, &[&image], HELD);
            Ok(())
        }),
        State::new("open in another process, as a virtual machine has its disk", |fixture| {
            let (device, image) = ext4(fixture)?;
            fixture
                .background(&format!("exec 3<>{}; echo ready; exec sleep 300", device.display()))?;
            never(&device, &[&image], "(sleep) has it open");
            Ok(())
        }),
        State::new("cannot be read at its end", |fixture| {
            let (device, image) = ext4(fixture)?;
            // The file is cut under the device: reads behind its end fail.
            put(&image, 0, &[]);
            fs::File::options().write(true).open(&image).unwrap().set_len(12 * MIB).unwrap();
            never(&device, &[&image], "cannot be read");
            Ok(())
        }),
    ]
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
