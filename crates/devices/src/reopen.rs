//! Makes sure, right before anything happens to the device of a target, that it is that device.
//!
//! Everything that writes to a device (wiping, mkfs, discarding, preconditioning) begins with
//! [`for_writing`]; every program that is handed its path (mkfs, mount, what reads features) is
//! handed it right after [`recheck_unused`]; what has been made of it and may hold it (an external
//! file system) is only touched after [`recheck_identity`]. A loop device must be backed by our
//! image; a device that was made or is the user's must be the one that was claimed.

use crate::inventory::{
    self, BUSY_LIMIT, BUSY_PAUSE, Exclusive, Inventory, Roots, block_number, recheck_for,
};
use crate::mountinfo::{self, MountEntry};
use crate::{Refusal, TargetError, leftovers, loopdev};
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_process::cmd;
use rustix::fs::{Mode, OFlags, fstat, major, minor, open};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the mounts of a process that has died may hold a device.
const DYING_LIMIT: Duration = Duration::from_secs(60);
/// Time between two looks at such a device, once it is known that it takes long.
const DYING_PAUSE: Duration = Duration::from_millis(250);
/// Where a guest has the disk of its trial.
pub(crate) const GUEST_DISK: &str = "/dev/vdisk0";
/// Its partition, where it has one.
pub const GUEST_PARTITION: &str = "/dev/vdisk0p1";

/// The device of a target on one (of several: of a part), open for reading and writing, and held
/// exclusively until it is closed.
///
/// # Errors
/// When it has no device, the device is another one than was claimed, or somebody uses it.
pub(crate) fn for_writing(target: &TargetSpec) -> Result<File, TargetError> {
    held(target, Exclusive::Write)
}

/// As [`for_writing`], for what overwrites the device: nothing has come onto it since it was given
/// up ([`nothing_new_on`]).
///
/// # Errors
/// Those of both.
pub(crate) fn to_overwrite(target: &TargetSpec) -> Result<File, TargetError> {
    let held = for_writing(target)?;
    nothing_new_on(target, &held)?;
    Ok(held)
}

/// As [`for_writing`], for reading.
///
/// # Errors
/// As [`for_writing`].
pub(crate) fn for_reading(target: &TargetSpec) -> Result<File, TargetError> {
    held(target, Exclusive::Read)
}

/// Makes sure that each device is the one that was claimed and that no process uses it, and lets go
/// of it, so that a program can be handed its path. A target without a device needs nothing.
///
/// # Errors
/// As [`for_writing`].
pub(crate) fn recheck_unused(target: &TargetSpec) -> Result<(), TargetError> {
    target.parts().iter().try_for_each(|part| held(part, Exclusive::Read).map(drop))
}

/// Makes sure that each device is the one that was claimed, whoever uses it.
///
/// # Errors
/// When it is another one by now.
pub(crate) fn recheck_identity(target: &TargetSpec) -> Result<(), TargetError> {
    target.parts().iter().try_for_each(is_the_claimed)
}

/// The same of one device.
fn is_the_claimed(part: &TargetSpec) -> Result<(), TargetError> {
    match part {
        TargetSpec::Block { device, size_bytes, under: Under::Image { image, .. }, .. } => {
            leftovers::ours(image)?;
            over_our_image(device, image, block_number(device))?;
            whole(image, *size_bytes)
        }
        TargetSpec::Block {
            under:
                Under::Made { identity }
                | Under::Modelled { identity, .. }
                | Under::Real { identity, .. },
            ..
        } => inventory::same(identity, &Roots::default()),
        TargetSpec::Block { device, under: Under::Guest { .. }, .. } => {
            guest_disk(device).map(drop)
        }
        TargetSpec::Memory { .. } | TargetSpec::Directory { .. } => Ok(()),
    }
}

fn held(target: &TargetSpec, how: Exclusive) -> Result<File, TargetError> {
    match target {
        TargetSpec::Block { device, size_bytes, under: Under::Image { image, .. }, .. } => {
            let held = loop_of_ours(device, image, how)?;
            whole(image, *size_bytes).map(|()| held)
        }
        TargetSpec::Block {
            device,
            under:
                Under::Made { identity }
                | Under::Modelled { identity, .. }
                | Under::Real { identity, .. },
            ..
        } => {
            // The path that programs are handed, which is another one only in a spec by hand.
            inventory::check_path(identity, device)?;
            recheck_for(how, identity, &Roots::default())
        }
        TargetSpec::Block { device, under: Under::Guest { .. }, .. } => {
            guest_disk(device)?;
            exclusive(device, how)
        }
        TargetSpec::Memory { .. } | TargetSpec::Directory { .. } => {
            Err(TargetError::state(Path::new("target"), "it has no device to write to", ""))
        }
    }
}

/// The only disk of a guest kernel, which nobody but the trial can use: only there is it ours.
fn guest_disk(device: &Path) -> Result<(), TargetError> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let is_guest = cpu.lines().any(|line| {
        line.split_once(':').is_some_and(|(_, value)| value.trim() == "User Mode Linux")
    });
    if is_guest && [GUEST_DISK, GUEST_PARTITION].iter().any(|known| device == Path::new(known)) {
        return Ok(());
    }
    let problem = "is no disk of a guest kernel of fsarena";
    Err(TargetError::state(device, problem, "use --on virtual:SIZE:model=MODEL"))
}

/// An image that was cut off underneath reads as zeros there, and takes writes.
fn whole(image: &Path, size_bytes: u64) -> Result<(), TargetError> {
    let found = std::fs::metadata(image).map_err(|error| TargetError::io("stat", image, error))?;
    if found.len() >= size_bytes {
        return Ok(());
    }
    let problem = format!("has {} of {size_bytes} bytes: somebody has cut it off", found.len());
    Err(TargetError::state(image, problem, "start the run again, and leave its images alone"))
}

fn loop_of_ours(device: &Path, our_image: &Path, how: Exclusive) -> Result<File, TargetError> {
    leftovers::ours(our_image)?;
    let file = exclusive(device, how)?;
    let stat = fstat(&file).map_err(|error| TargetError::io("stat", device, error))?;
    over_our_image(device, our_image, Some((major(stat.st_rdev), minor(stat.st_rdev))))?;
    Ok(file)
}

/// Opens a device that nobody else may use, and that is ours: whoever has it lets go of it.
fn exclusive(device: &Path, how: Exclusive) -> Result<File, TargetError> {
    let access = match how {
        Exclusive::Read => OFlags::RDONLY,
        Exclusive::Write => OFlags::RDWR,
    };
    let flags = access | OFlags::EXCL | OFlags::CLOEXEC;
    let started = Instant::now();
    loop {
        match open(device, flags, Mode::empty()) {
            Ok(fd) => return Ok(File::from(fd)),
            // The kernel has no event for this: who has started the holder waits for its end.
            Err(Errno::BUSY) if started.elapsed() < busy_limit(device) => {
                let is_long = started.elapsed() > BUSY_LIMIT;
                std::thread::sleep(if is_long { DYING_PAUSE } else { BUSY_PAUSE });
            }
            Err(error) => return Err(TargetError::io("open exclusively", device, error)),
        }
    }
}

/// How long a device of ours may be busy. Whoever looks at all devices (`fsarena devices`, a
/// scanner) has it for a moment; the mounts of an executor that was killed, which nobody sees, hold
/// it until what it wrote is on it. A mount that is seen here stays.
fn busy_limit(device: &Path) -> Duration {
    let number = block_number(device).map(|(major, minor)| format!("{major}:{minor}"));
    let is_of_it = |entry: &MountEntry| {
        Some(&entry.device) == number.as_ref() || Path::new(&entry.source) == device
    };
    let is_mounted = mountinfo::current().is_ok_and(|all| all.iter().any(is_of_it));
    if is_mounted { BUSY_LIMIT } else { DYING_LIMIT }
}

/// The node is the kernel's of this name, and that device lies over our image.
fn over_our_image(
    device: &Path,
    our_image: &Path,
    number: Option<(u32, u32)>,
) -> Result<(), TargetError> {
    let name = device.file_name().unwrap_or_default();
    let dev = std::fs::read_to_string(Path::new("/sys/block").join(name).join("dev"));
    let node = number.map(|(major, minor)| format!("{major}:{minor}"));
    let is_node = dev.is_ok_and(|text| node.as_deref() == Some(text.trim()));
    if is_node && loopdev::backing_file(device).as_deref() == Some(our_image) {
        return Ok(());
    }
    Err(TargetError::state(
        device,
        format!("is not the loop device of {} any more", our_image.display()),
        "start the run again",
    ))
}

/// Makes sure that nothing has come onto a device of the user's since it was given up: what is on
/// it was given up, or is a file system that fsarena makes itself. `held` is the device, held.
///
/// What an external file system leaves is not known by name; it is wiped when that is taken down
/// ([`crate::format::Formatted::destroy`]).
///
/// # Errors
/// When something else is on it, or what is on it cannot be known.
fn nothing_new_on(target: &TargetSpec, held: &File) -> Result<(), TargetError> {
    let TargetSpec::Block { under: Under::Real { identity, signatures, .. }, .. } = target else {
        return Ok(());
    };
    let path = &identity.path;
    let inventory =
        Inventory::read(&Roots::default()).map_err(|error| inventory::unread(path, &error))?;
    let device = inventory.by_number(identity.number);
    let device = device.ok_or_else(|| Refusal::new(path, "is gone", "check the device"))?;
    let programs = cmd::SearchPath::from_env();
    let found = inventory::with_parts(held, device, path, &inventory, &programs)?;
    let strange = neither_given_up_nor_made(&found, signatures);
    if strange.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "{} has come onto it since it was given up, and is nothing that fsarena makes",
        strange.join(", ")
    );
    let remedy = "find out who wrote to it; to lose that too, start the run again and name it \
                  with --wipe";
    Err(Refusal::new(path, reason, remedy).into())
}

fn neither_given_up_nor_made<'a>(found: &'a BTreeSet<String>, given_up: &[String]) -> Vec<&'a str> {
    let made =
        |name: &str| fsarena_filesystems::builtin().iter().any(|driver| driver.name() == name);
    let known = |name: &&String| given_up.contains(name) || made(name.as_str());
    found.iter().filter(|name| !known(name)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_given_up_or_is_made_here_may_be_written_over() {
        let found: BTreeSet<String> = ["ext4", "gpt", "swap", "xfs"].map(str::to_owned).into();
        assert_eq!(neither_given_up_nor_made(&found, &[]), ["gpt", "swap"]);
        assert_eq!(neither_given_up_nor_made(&found, &["gpt".to_owned()]), ["swap"]);
        let found =
            fsarena_filesystems::builtin().iter().map(|driver| driver.name().to_owned()).collect();
        assert!(neither_given_up_nor_made(&found, &[]).is_empty());
    }
}
