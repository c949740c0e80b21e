//! Recovery: takes down what a dead run left. Each step is idempotent, and each refuses whatever
//! has a file name that does not begin with `fsarena-`. Whether the run is dead is decided by the
//! caller.

use crate::TargetError;
use crate::mountinfo::MountEntry;
use crate::{loopdev, mountinfo};
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Limit for processes that were killed to end, where they hold nothing by which that is seen.
const DYING_LIMIT: Duration = Duration::from_secs(2);
const DYING_PAUSE: Duration = Duration::from_millis(20);

/// Limit for something busy to become free.
const BUSY_LIMIT: Duration = Duration::from_secs(5);

/// The last component must begin with `fsarena-`.
pub(crate) fn ours(path: &Path) -> Result<(), TargetError> {
    let name = path.file_name().map(|name| name.as_encoded_bytes());
    if name.is_some_and(|name| name.starts_with(b"fsarena-")) && path.is_absolute() {
        return Ok(());
    }
    Err(TargetError::state(path, "not made by fsarena, so it is left alone", ""))
}

/// Loop devices whose backing file is `image`, whether its name is still there or not.
///
/// # Errors
/// When the image is not ours, or sysfs cannot be read.
pub fn loop_devices_of(image: &Path) -> Result<Vec<PathBuf>, TargetError> {
    ours(image)?;
    let block = Path::new("/sys/block");
    let deleted = PathBuf::from(format!("{} (deleted)", image.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(block).map_err(|error| TargetError::io("read", block, error))? {
        let entry = entry.map_err(|error| TargetError::io("read", block, error))?;
        let device = Path::new("/dev").join(entry.file_name());
        if loopdev::backing_file(&device).is_some_and(|file| file == image || file == deleted) {
            found.push(device);
        }
    }
    found.sort();
    Ok(found)
}

/// Detaches every loop device of `image`; gives those that were attached.
///
/// # Errors
/// When the image is not ours, or a device is still in use after ten seconds.
pub fn detach_loops_of(image: &Path) -> Result<Vec<PathBuf>, TargetError> {
    let devices = loop_devices_of(image)?;
    for device in &devices {
        let was = loopdev::backing_file(device);
        let file = open(device, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map(File::from)
            .map_err(|error| TargetError::io("open", device, error))?;
        // It may have been detached and given to somebody else since the list was made.
        if !loop_devices_of(image)?.contains(device) {
            continue;
        }
        loopdev::clear(&file).map_err(|error| TargetError::io("LOOP_CLR_FD", device, error))?;
        drop(file);
        loopdev::wait_detached(device, was.as_deref())?;
    }
    Ok(devices)
}

/// Unmounts everything that is mounted at or below `dir`, the last mount first; gives how many.
/// What stays busy is detached from the tree.
///
/// # Errors
/// When the directory is not ours, it is not known what is mounted, or there is no right to
/// unmount.
pub fn unmount_below(dir: &Path) -> Result<usize, TargetError> {
    ours(dir)?;
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    ours(&dir)?;
    let mut count = 0;
    for entry in mounts()?.into_iter().rev() {
        if entry.mount_point.starts_with(&dir) {
            // A frozen file system would never release its device.
            let _ = crate::settle::thaw(&entry.mount_point);
            unmount_or_detach(&entry.mount_point)?;
            count += 1;
        }
    }
    Ok(count)
}

/// What is mounted; nothing is removed where that is not known.
fn mounts() -> Result<Vec<MountEntry>, TargetError> {
    let path = Path::new("/proc/thread-self/mountinfo");
    mountinfo::current().map_err(|error| TargetError::io("read", path, error))
}

fn unmount_or_detach(mount_point: &Path) -> Result<(), TargetError> {
    let deadline = Instant::now() + Duration::from_secs(1);
    loop {
        match unmount(mount_point, UnmountFlags::NOFOLLOW) {
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => return Ok(()),
            Err(rustix::io::Errno::BUSY) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(_) => break,
        }
    }
    unmount(mount_point, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH)
        .map_err(|error| TargetError::io("umount2", mount_point, error))
}

/// Removes an image; true where it was there.
///
/// # Errors
/// When it is not ours, not a plain file, or cannot be removed.
pub fn remove_image(image: &Path) -> Result<bool, TargetError> {
    ours(image)?;
    match fs::symlink_metadata(image) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(TargetError::io("stat", image, error)),
        Ok(meta) if !meta.is_file() => {
            return Err(TargetError::state(image, "not a plain file, so it is left alone", ""));
        }
        Ok(_) => {}
    }
    fs::remove_file(image).map_err(|error| TargetError::io("remove", image, error))?;
    Ok(true)
}

/// Removes a directory of ours with all that is in it; true where it was there.
///
/// # Errors
/// When it is not ours, not a directory, or something is still mounted at or below it.
pub fn remove_dir(dir: &Path) -> Result<bool, TargetError> {
    let Some(dir) = our_unmounted_dir(dir)? else { return Ok(false) };
    let began = Instant::now();
    loop {
        match fs::remove_dir_all(&dir) {
            // A process that is dying may have made one more file meanwhile.
            Err(error)
                if error.kind() == io::ErrorKind::DirectoryNotEmpty
                    && began.elapsed() < DYING_LIMIT =>
            {
                std::thread::sleep(DYING_PAUSE);
            }
            done => {
                return done.map(|()| true).map_err(|error| TargetError::io("remove", &dir, error));
            }
        }
    }
}

/// Removes all that is in a directory of ours.
///
/// # Errors
/// As [`remove_dir`], and when it is not there.
pub fn empty_dir(dir: &Path) -> Result<(), TargetError> {
    let Some(dir) = our_unmounted_dir(dir)? else {
        return Err(TargetError::state(dir, "does not exist any more", "start the run again"));
    };
    let io = |error| TargetError::io("empty", &dir, error);
    for entry in fs::read_dir(&dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let path = entry.path();
        let directory = entry.file_type().map_err(io)?.is_dir();
        let removed = if directory { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(|error| TargetError::io("remove", &path, error))?;
    }
    Ok(())
}

/// The directory without symbolic links; `None` where it is not there.
fn our_unmounted_dir(dir: &Path) -> Result<Option<PathBuf>, TargetError> {
    ours(dir)?;
    match fs::symlink_metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(TargetError::io("stat", dir, error)),
        Ok(meta) if !meta.is_dir() => {
            return Err(TargetError::state(dir, "not a directory, so it is left alone", ""));
        }
        Ok(_) => {}
    }
    let dir = dir.canonicalize().map_err(|error| TargetError::io("resolve", dir, error))?;
    // `link/` names what the link points to.
    ours(&dir)?;
    if let Some(entry) = mounts()?.into_iter().find(|entry| entry.mount_point.starts_with(&dir)) {
        return Err(TargetError::state(
            &entry.mount_point,
            "still mounted, so nothing below it is removed",
            "unmount it",
        ));
    }
    Ok(Some(dir))
}

/// Kills what is left in a cgroup of ours (version 1 or 2) and removes it with its children; true
/// where it was there.
///
/// # Errors
/// When it is not ours, is not a cgroup, or does not empty within five seconds.
pub fn remove_cgroup(dir: &Path) -> Result<bool, TargetError> {
    ours(dir)?;
    if !dir.exists() {
        return Ok(false);
    }
    if !dir.join("cgroup.procs").exists() {
        return Err(TargetError::state(dir, "not a cgroup, so it is left alone", ""));
    }
    remove_cgroup_tree(dir, Instant::now() + BUSY_LIMIT)?;
    Ok(true)
}

fn remove_cgroup_tree(dir: &Path, deadline: Instant) -> Result<(), TargetError> {
    if let Ok(children) = fs::read_dir(dir) {
        for child in children.flatten().filter(|child| child.path().is_dir()) {
            remove_cgroup_tree(&child.path(), deadline)?;
        }
    }
    loop {
        kill_members(dir);
        match fs::remove_dir(dir) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if Instant::now() > deadline => {
                return Err(TargetError::io("rmdir", dir, error));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn kill_members(cgroup: &Path) {
    let own = std::process::id();
    let members = fs::read_to_string(cgroup.join("cgroup.procs")).unwrap_or_default();
    for pid in members.lines().filter_map(|line| line.parse::<u32>().ok()) {
        if pid != own
            && let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_without_our_name_is_touched() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("disk.img");
        fs::write(&file, "").unwrap();
        let refused = |result: Result<bool, TargetError>| {
            let text = result.unwrap_err().to_string();
            assert!(text.contains("left alone"), "{text}");
        };
        refused(remove_image(&file));
        refused(remove_dir(dir.path()));
        let near = dir.path().join("my-fsarena-results");
        fs::create_dir(&near).unwrap();
        refused(remove_dir(&near));
        assert!(empty_dir(&near).is_err());
        refused(remove_cgroup(Path::new("/sys/fs/cgroup/system.slice")));
        assert!(unmount_below(Path::new("/")).is_err());
        assert!(detach_loops_of(&file).is_err());
        assert!(empty_dir(Path::new("/fsarena-x/..")).is_err());
        assert!(file.exists());
    }

    #[test]
    fn removal_is_idempotent_and_looks_at_the_kind() {
        let dir = tempfile::tempdir().unwrap();
        let ours = dir.path().join("fsarena-a");
        fs::create_dir_all(ours.join("sub")).unwrap();
        fs::write(ours.join("sub/file"), "").unwrap();
        assert!(remove_image(&ours).is_err(), "a directory is no image");
        empty_dir(&ours).unwrap();
        assert!(ours.exists() && !ours.join("sub").exists());
        assert!(remove_cgroup(&ours).is_err(), "no cgroup");
        assert!(remove_dir(&ours).unwrap());
        assert!(!remove_dir(&ours).unwrap());
        assert!(!remove_image(&ours).unwrap());
        assert!(!remove_cgroup(&ours).unwrap());
        assert_eq!(unmount_below(&ours).unwrap(), 0);
    }

    #[test]
    fn a_symbolic_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = dir.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        let link = dir.path().join("fsarena-link");
        std::os::unix::fs::symlink(&theirs, &link).unwrap();
        assert!(remove_dir(&link).is_err());
        assert!(empty_dir(&link).is_err());
        assert!(remove_dir(&link.join("")).is_err(), "nor with a slash at its end");
        assert!(empty_dir(&link.join("")).is_err());
        assert!(theirs.exists());
    }
}
