//! Checks of directories with their file systems: one function each, in the order of
//! [`crate::CHECKS`].
//!
//! A check reads, judges and says what mends it; it changes nothing.

use crate::check::{CheckResult, Checked, NoResult::NotConcerned};
use crate::read::{self, percent};
use crate::snapshot::{Directory, SystemSnapshot};
use fsarena_filesystems::LazyInit;
use fsarena_model::units::Bytes;
use fsarena_process::cmd;
use std::time::Duration;

/// Share of free blocks below which allocation is slow on most file systems.
const FREE_SHARE_WARNING: f64 = 0.10;
/// Below which it is a matter of single holes.
const FREE_SHARE_BAD: f64 = 0.03;
/// What `quick` needs, bytes: an image of 2 GiB.
const FREE_LEAST_BYTES: u64 = 2 << 30;

/// Room on the file system of the directory.
pub(crate) fn free_space(_: &SystemSnapshot, dir: &Directory) -> Checked {
    let room = *dir.room.as_ref()?;
    if room.all_bytes == 0 {
        return Ok(CheckResult::unknown("the file system does not tell its size"));
    }
    let share = room.free_bytes as f64 / room.all_bytes as f64;
    let (free, all) = (Bytes(room.free_bytes), Bytes(room.all_bytes));
    let mut reading = format!("{free} of {all} free ({})", percent(share));
    let inodes = (room.all_inodes > 0).then(|| room.free_inodes as f64 / room.all_inodes as f64);
    if let Some(inodes) = inodes {
        reading.push_str(&format!(", {} of the inodes", percent(inodes)));
    }
    let why = "a full file system searches for holes and tears files apart; it is slower than an \
               empty one, and the more so the fuller it gets";
    let result = match share.min(inodes.unwrap_or(1.0)) {
        least if least < FREE_SHARE_BAD => CheckResult::bad(reading, why),
        least if least < FREE_SHARE_WARNING => CheckResult::warning(reading, why),
        _ if room.free_bytes < FREE_LEAST_BYTES => {
            CheckResult::note(reading, "images of the built-in experiments do not fit")
        }
        _ => return Ok(CheckResult::fine(reading)),
    };
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    Ok(result.remedy("make room, or name another directory").command(format!("df -h {point}")))
}

/// Whether reading writes: access times (mount(8): `relatime`, `noatime`, `strictatime`).
pub(crate) fn access_times(_: &SystemSnapshot, dir: &Directory) -> Checked {
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    let off = format!("sudo mount -o remount,noatime {point}");
    Ok(if dir.option("noatime").is_some() {
        CheckResult::fine("noatime: reading writes nothing")
    } else if dir.option("relatime").is_some() {
        CheckResult::note(
            "relatime: the first read of a file after a change or a day writes its access time",
            "the first reads of a tree write to the disk, and the second ones do not",
        )
        .remedy("mount with noatime, or make sure that all contenders are mounted alike")
        .command(off)
    } else {
        CheckResult::warning(
            "strictatime: each read of a file writes its access time",
            "reading becomes writing, which no usual system does today",
        )
        .remedy("mount with noatime")
        .command(off)
    })
}

/// Mounts on which every write waits, or none is possible.
pub(crate) fn synchronous(_: &SystemSnapshot, dir: &Directory) -> Checked {
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    let remount = |options: &str| format!("sudo mount -o remount,{options} {point}");
    Ok(if dir.option("ro").is_some() {
        CheckResult::bad("mounted read-only", "nothing can be written, so nothing can be measured")
            .remedy("mount it for writing, if it is sound")
            .command(remount("rw"))
    } else if dir.option("sync").is_some() {
        CheckResult::bad(
            "mounted with sync: each write waits until it is durable",
            "the page cache, which every ordinary program writes to, is not in the figures",
        )
        .remedy("mount without it")
        .command(remount("async"))
    } else if dir.option("dirsync").is_some() {
        CheckResult::warning(
            "mounted with dirsync: each change of a directory waits until it is durable",
            "creating, renaming and deleting are slower by the flushes of the disk",
        )
        .remedy("mount without it (an unmount and a mount: it cannot be taken off)")
    } else {
        CheckResult::fine("writes do not wait (no sync, no dirsync)")
    })
}

/// Option, its value where one is meant, and what it does.
const UNSAFE_OPTIONS: [(&str, &str, &str); 7] = [
    ("nobarrier", "", "nobarrier: no flush of the disk's cache"),
    ("barrier", "0", "barrier=0: no flush of the disk's cache"),
    ("barrier", "none", "barrier=none: no flush of the disk's cache"),
    ("data", "writeback", "data=writeback: names of files may be durable before their contents"),
    ("norecovery", "", "norecovery: the journal is not replayed"),
    ("notreelog", "", "notreelog: each fsync commits the whole tree"),
    ("fsync_mode", "nobarrier", "fsync_mode=nobarrier: fsync does not flush the disk's cache"),
];
/// The same for options that write more than usual.
const SLOW: [(&str, &str, &str); 1] =
    [("data", "journal", "data=journal: all contents are written twice")];

/// Mount options that trade safety for speed, or speed for safety.
pub(crate) fn promises(_: &SystemSnapshot, dir: &Directory) -> Checked {
    let in_force = |list: &[(&str, &str, &'static str)]| -> Vec<&'static str> {
        let set = |&&(name, value, _): &&(&str, &str, &str)| dir.option(name) == Some(value);
        list.iter().filter(set).map(|(_, _, what)| *what).collect()
    };
    let (unsafe_ones, slow) = (in_force(&UNSAFE_OPTIONS), in_force(&SLOW));
    let reading = [unsafe_ones.as_slice(), slow.as_slice()].concat().join("; ");
    let remedy = "mount without it, or make it a level that the other contenders have, too";
    Ok(if !unsafe_ones.is_empty() {
        CheckResult::warning(
            reading,
            "its figures are of another promise than those of usual mounts",
        )
        .remedy(remedy)
    } else if !slow.is_empty() {
        CheckResult::note(
            reading,
            "its figures are of a stronger promise than those of usual mounts",
        )
        .remedy(remedy)
    } else {
        CheckResult::fine("no option changes what is promised of written data")
    })
}

/// Whether deleting sends TRIM at once (`-o discard`).
pub(crate) fn mount_discard(_: &SystemSnapshot, dir: &Directory) -> Checked {
    dir.device.as_ref().ok_or(NotConcerned)?;
    let point = cmd::quoted(&dir.mount.mount_point.to_string_lossy());
    Ok(match dir.option("discard") {
        None => CheckResult::fine("deleting sends no TRIM (no discard in the mount options)"),
        Some("async") => CheckResult::note(
            "mounted with discard=async: TRIM follows some time after deleting",
            "it comes while the next phase runs",
        )
        .remedy("mount with nodiscard while measuring")
        .command(format!("sudo mount -o remount,nodiscard {point}")),
        Some(_) => CheckResult::note(
            "mounted with discard: deleting sends TRIM at once",
            "what a TRIM takes depends on the disk and is in the time of deletes; for an image in \
             a file it frees the blocks below",
        )
        .remedy("mount with nodiscard while measuring, and run fstrim now and then")
        .command(format!("sudo mount -o remount,nodiscard {point}")),
    })
}

/// File systems without a driver here that may compress, with their mount options for it.
const COMPRESSING: [(&str, &[&str]); 4] = [
    ("bcachefs", &["compression"]),
    ("ubifs", &["compr"]),
    ("zfs", &["compression"]),
    ("ntfs3", &["compress"]),
];

/// Mounts that compress.
pub(crate) fn compression(_: &SystemSnapshot, dir: &Directory) -> Checked {
    let fstype = dir.mount.fstype.as_str();
    let own =
        fsarena_filesystems::builtin_driver(fstype).map(|driver| driver.compression_options());
    let foreign = COMPRESSING.iter().find(|(name, _)| *name == fstype).map(|(_, options)| *options);
    let names = own.filter(|options| !options.is_empty()).or(foreign).ok_or(NotConcerned)?;
    let set = names.iter().find_map(|name| Some((name, dir.option(name)?)));
    Ok(match set {
        // It is a property of the dataset there, and no mount option tells of it.
        None if fstype == "zfs" => {
            CheckResult::unknown("the mount does not say whether zfs compresses here")
                .remedy("ask it")
                .command("zfs get compression")
        }
        None | Some((_, "no" | "none")) => CheckResult::fine("the mount compresses nothing"),
        Some((name, value)) => CheckResult::note(
            if value.is_empty() {
                format!("mounted with {name}")
            } else {
                format!("mounted with {name}={value}")
            },
            "what is written to the device depends on the contents: bytes a second of a program \
             that writes zeros say nothing of one that writes pictures",
        )
        .remedy("mount without it, or make it a level of its own"),
    })
}

/// File systems in memory.
pub(crate) fn in_memory(_: &SystemSnapshot, dir: &Directory) -> Checked {
    let fstype = dir.mount.fstype.as_str();
    Ok(match fstype {
        "tmpfs" | "ramfs" | "rootfs" => CheckResult::warning(
            format!("{fstype}: a file system in memory"),
            "nothing of a disk is in the figures, and nothing survives a crash",
        )
        .remedy("name a directory on a disk"),
        _ => CheckResult::fine(format!("{fstype}, not in memory")),
    })
}

/// File systems whose disk is behind something: a network, a program, another file system.
pub(crate) fn behind(_: &SystemSnapshot, dir: &Directory) -> Checked {
    let fstype = dir.mount.fstype.as_str();
    let behind = match fstype {
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "glusterfs" | "afs" | "lustre" => "a network",
        "9p" | "virtiofs" | "vboxsf" | "prl_fs" => "the host of this virtual machine",
        "overlay" | "aufs" | "ecryptfs" => "another file system",
        fuse if fuse == "fuse" || fuse.starts_with("fuse.") || fuse == "fuseblk" => "a program",
        _ if dir.device.is_some() || matches!(fstype, "tmpfs" | "ramfs" | "rootfs") => {
            return Err(NotConcerned);
        }
        _ => {
            let reason = format!("its mount does not tell which device {fstype} is on");
            return Ok(CheckResult::unknown(reason));
        }
    };
    Ok(CheckResult::warning(
        format!("{fstype}: the disk is behind {behind}"),
        "what is behind has a cache and other users of its own, and its device cannot be \
             looked at from here",
    )
    .remedy("name a directory on a disk of this machine, or say so with the figures"))
}

/// A description of the groups that takes longer is done without.
const COUNT_LIMIT: Duration = Duration::from_secs(1);

/// Inode tables that the kernel still writes in the background.
pub(crate) fn lazy_init(snapshot: &SystemSnapshot, dir: &Directory) -> Checked {
    let driver = fsarena_filesystems::builtin_driver(&dir.mount.fstype);
    let lazy = driver.and_then(|driver| driver.lazy_init()).ok_or(NotConcerned)?;
    if thread_runs(snapshot, lazy) {
        return Ok(tables_pending(
            lazy,
            "the kernel is writing inode tables of a new file system".to_owned(),
        ));
    }
    Ok(match unwritten_groups(snapshot, dir, lazy)? {
        (0, all) => CheckResult::fine(format!("all inode tables of its {all} groups are written")),
        (left, all) => {
            let reading = format!("inode tables of {left} of {all} groups are not written yet");
            match dir.option(lazy.off_option) {
                Some(_) => CheckResult::note(
                    format!("{reading}, and will not be ({})", lazy.off_option),
                    "the first files in such a group are created a little faster than later ones",
                ),
                None => tables_pending(lazy, reading),
            }
        }
    })
}

fn tables_pending(lazy: &LazyInit, reading: String) -> CheckResult {
    CheckResult::warning(reading, "the kernel writes them during the work until all are done")
        .remedy("wait until the thread has ended, or make file systems with the tables written")
        .command(lazy.command)
}

/// Whether the thread runs, for whichever file system.
fn thread_runs(snapshot: &SystemSnapshot, lazy: &LazyInit) -> bool {
    let proc = &snapshot.roots.proc;
    let names = read::names(proc).unwrap_or_default();
    let pids = names.iter().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    pids.into_iter()
        .any(|pid| read::text(&proc.join(pid).join("comm")).is_ok_and(|comm| comm == lazy.thread))
}

/// Groups whose inode table is not written, and all groups.
fn unwritten_groups(
    snapshot: &SystemSnapshot,
    dir: &Directory,
    lazy: &LazyInit,
) -> Result<(usize, usize), String> {
    let LazyInit { program, package, .. } = lazy;
    let tool = snapshot.tools.find(program);
    let tool = tool.ok_or_else(|| format!("not run: {program} ({package}) is not installed"))?;
    let layer =
        snapshot.layers.iter().find(|layer| Some(&layer.device.name) == dir.device.as_ref());
    let device = layer.ok_or("the device of the file system is not known")?.place();
    let ran = cmd::run(&tool, &[&device], COUNT_LIMIT).map_err(|error| error.to_string())?;
    (lazy.count_groups)(&ran.stdout)
}
