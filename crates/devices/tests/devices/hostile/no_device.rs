//! Paths that are no block device, and devices that can never be a target.

use super::fixture::{Build, HostileFixture, MIB, NotRun, hash, run};
use super::{State, consent, never, roots, vet};
use fsarena_devices::vet::vet_block;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

fn refused(path: &Path, reason: &str) {
    for consent in [vec![], vec![consent(Path::new("/dev/null"), &[])]] {
        let refusal = vet(path, &consent).expect_err("accepted").to_string();
        assert!(refusal.contains(reason), "no {reason:?} in: {refusal}");
    }
    if path.is_absolute() {
        let refusal = vet(path, &[consent(path, &[])]).expect_err("accepted").to_string();
        assert!(refusal.contains(reason), "no {reason:?} in: {refusal}");
    }
}

pub fn states() -> Vec<State> {
    let mut states = other_paths();
    states.extend(impossible());
    states
}

fn other_paths() -> Vec<State> {
    vec![
        State::new("missing", |fixture| {
            refused(&fixture.path("nothing"), "No such file");
            Ok(())
        }),
        State::new("relative path", |_| {
            refused(Path::new("dev/vda"), "no absolute path");
            Ok(())
        }),
        State::new("regular file", |fixture| {
            let image = fixture.image("image", MIB);
            let before = hash(&image, &image);
            refused(&image, "--on loop:SIZE");
            assert_eq!(hash(&image, &image), before);
            Ok(())
        }),
        State::new("directory", |fixture| {
            refused(&fixture.new_dir("dir"), "is a directory");
            Ok(())
        }),
        State::new("character device", |_| {
            refused(Path::new("/dev/zero"), "is a character device");
            Ok(())
        }),
        State::new("FIFO", |fixture| {
            let path = fixture.path("fifo");
            run("mkfifo", &[&path])?;
            refused(&path, "is a FIFO");
            Ok(())
        }),
        State::new("socket", |fixture| {
            let path = fixture.path("socket");
            let _listener = UnixListener::bind(&path).unwrap();
            refused(&path, "is a socket");
            Ok(())
        }),
        State::new("symbolic links in a circle", |fixture| {
            symlink(fixture.path("b"), fixture.path("a")).unwrap();
            symlink(fixture.path("a"), fixture.path("b")).unwrap();
            refused(&fixture.path("a"), "symbolic links");
            Ok(())
        }),
        State::new("symbolic link to nothing", |fixture| {
            symlink("/dev/fsarena-nothing", fixture.path("a")).unwrap();
            refused(&fixture.path("a"), "No such file");
            Ok(())
        }),
        State::new("node of a device that is not there", |fixture| {
            let path = fixture.path("node");
            run("mknod", &[path.to_str().unwrap(), "b", "240", "77"])?;
            refused(&path, "lists no block device 240:77");
            Ok(())
        }),
        State::new("name with a newline", |fixture| {
            let path = fixture.path("new\nline");
            run("mknod", &[path.to_str().unwrap(), "b", "7", "0"])?;
            let refusal = vet(&path, &[]).expect_err("accepted").to_string();
            assert!(refusal.contains("not plain UTF-8"), "{refusal}");
            Ok(())
        }),
    ]
}

fn impossible() -> Vec<State> {
    vec![
        State::new("read-only loop", read_only_loop),
        State::new("set read-only", set_read_only),
        State::new("size of zero", |fixture| {
            let image = fixture.image("image", 0);
            let device = fixture.attach(&image, &[])?;
            never(&device, &[&image], "size of zero");
            Ok(())
        }),
        State::new("too small", |fixture| {
            let image = fixture.image("image", 16 * MIB - 512);
            let device = fixture.attach(&image, &[])?;
            never(&device, &[&image], "the least that is of use");
            Ok(())
        }),
        State::new("the device of the root directory", root_device),
        State::new("the device of the database", database),
    ]
}

fn read_only_loop(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    let device = fixture.attach(&image, &["--read-only"])?;
    never(&device, &[&image], "can only be read");
    Ok(())
}

fn set_read_only(fixture: &mut HostileFixture) -> Build<()> {
    let image = fixture.image("image", 16 * MIB);
    let device = fixture.attach(&image, &[])?;
    run("blockdev", &["--setro", device.to_str().unwrap()])?;
    never(&device, &[&image], "can only be read");
    Ok(())
}

/// Only looked at: this is the real disk of the machine.
fn root_device(_scene: &mut HostileFixture) -> Build<()> {
    let mounts = fsarena_devices::mountinfo::current().unwrap();
    let root = mounts.iter().find(|entry| entry.mount_point == Path::new("/"));
    let Some(source) = root.map(|entry| entry.source.as_str()) else {
        return Err(NotRun("no root in mountinfo".into()));
    };
    let path = Path::new("/dev/block").join(&root.unwrap().device);
    let path = if path.exists() { path } else { source.into() };
    if !fs::metadata(&path).is_ok_and(|meta| {
        use std::os::unix::fs::FileTypeExt as _;
        meta.file_type().is_block_device()
    }) {
        return Err(NotRun(format!("the root directory is on {source}, no block device")));
    }
    for names in [&[][..], &["ext4"], &["xfs"], &["btrfs"]] {
        let refusal = vet(&path, &[consent(&path, names)]).expect_err("accepted").to_string();
        assert!(refusal.contains("root directory (/) is on it"), "{refusal}");
    }
    Ok(())
}

/// Its image is on a device under another loop device: both are below the database.
fn database(fixture: &mut HostileFixture) -> Build<()> {
    let outer = fixture.image("outer", 48 * MIB);
    run("mke2fs", &["-q", "-F", "-t", "ext2", outer.to_str().unwrap()])?;
    let below = fixture.attach(&outer, &[])?;
    let at = fixture.new_dir("outer-mnt");
    // Nor may times of access be written while it is looked at.
    fixture.mount(&below, &at, &["-o", "noatime"])?;
    let inner = at.join("inner");
    fs::File::create_new(&inner).unwrap().set_len(32 * MIB).unwrap();
    run("mke2fs", &["-q", "-F", "-t", "ext2", inner.to_str().unwrap()])?;
    let above = fixture.attach(&inner, &[])?;
    let mnt = fixture.new_dir("inner-mnt");
    fixture.mount(&above, &mnt, &["-o", "ro"])?;
    // Nothing of ours may be on its way when the image is hashed.
    run("sync", &["--file-system", at.to_str().unwrap()])?;
    let db = mnt.join("not/made/yet.db");
    for device in [&below, &above] {
        let before = hash(device, &outer);
        let protected = [("the database", db.as_path())];
        let consent = [consent(device, &["ext2"])];
        let refusal = vet_block(device, &consent, &protected, &roots()).expect_err("accepted");
        assert!(refusal.to_string().contains("the database ("), "{refusal}");
        assert_eq!(hash(device, &outer), before);
    }
    Ok(())
}
