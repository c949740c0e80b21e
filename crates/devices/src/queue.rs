//! Settings of a device's queue (`/sys/block/X/queue`, Documentation/ABI/stable/sysfs-block): read,
//! set, read back, and put back.
//!
//! What is changed is known before it is changed ([`plan`]), so that it can be journaled; putting
//! back ([`restore`]) may be repeated at any time, also by a later process. It writes only where
//! the device is still the same and still has the value that was set: what somebody else has set
//! since stays. A partition has the queue of its disk, and is given a setting only while nobody
//! uses the rest of that disk. Nothing outside a `queue` directory is written.

use crate::inventory::{
    self, Allowed, BUSY_LIMIT, BlockDevice, Exclusive, Inventory, Roots, Usage,
};
use crate::{Refusal, TargetError};
use fsarena_model::spec::TargetSpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The settings that are factors, in the order in which they are set and put back: a change of the
/// write cache lets the kernel choose the read-ahead anew (`blk_apply_bdi_limits`).
const SETTINGS: [&str; 4] = ["scheduler", FOLLOWS_SCHEDULER, "write_cache", "read_ahead_kb"];
/// Changes together with the scheduler, as the kernel chooses, and is put back after it.
const FOLLOWS_SCHEDULER: &str = "nr_requests";

/// One file of a queue that is to be changed, with what is needed to put it back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QueueChange {
    /// The file, such as `/sys/block/loop3/queue/scheduler`.
    pub file: PathBuf,
    /// Its value before.
    pub original: String,
    /// Its value while it is ours; absent for what only changes as a consequence of the one before.
    pub ours: Option<String>,
    /// Number of the medium (`diskseq`) whose queue it is.
    pub diskseq: Option<u64>,
}

/// Settings that are in force until they are put back, at the latest when this is dropped.
#[derive(Debug)]
pub struct Applied {
    changes: Vec<QueueChange>,
}

impl Applied {
    /// What was changed.
    #[must_use]
    pub fn changes(&self) -> &[QueueChange] {
        &self.changes
    }

    /// Puts everything back.
    ///
    /// # Errors
    /// When the kernel refuses; the others are put back all the same.
    pub fn restore(mut self) -> Result<(), TargetError> {
        restore(&std::mem::take(&mut self.changes)).map(|_| ())
    }
}

impl Drop for Applied {
    fn drop(&mut self) {
        let _ = restore(&self.changes);
    }
}

/// The directory of the queue of a device, that of its disk where it is a partition. `name` is the
/// kernel's (`sda1`, `cciss!c0d0`).
pub(crate) fn directory(sys_root: &Path, name: &str) -> PathBuf {
    let disk = disk(sys_root, name);
    let disk_name = disk.file_name().unwrap_or_default();
    sys_root.join("block").join(disk_name).join("queue")
}

/// The directory of a disk in sysfs, that of its disk where `name` is a partition.
pub(crate) fn disk(sys_root: &Path, name: &str) -> PathBuf {
    let node = sys_root.join("class/block").join(name);
    let real = node.canonicalize().unwrap_or(node);
    match real.parent() {
        Some(parent) if real.join("partition").exists() => parent.to_owned(),
        _ => real,
    }
}

/// As [`name_of`], of each device of a target.
#[must_use]
pub fn names_of(target: &TargetSpec) -> Vec<String> {
    target.parts().iter().filter_map(name_of).collect()
}

/// The kernel's name of the device of a target (of several the first), as [`plan`] and [`current`]
/// want it: from its identity; from its node where it is a loop device of ours, whose node is the
/// kernel's.
#[must_use]
pub fn name_of(target: &TargetSpec) -> Option<String> {
    let device = target.device()?;
    let known = target.identity().map(|identity| identity.name.clone());
    Some(known.unwrap_or_else(|| kernel_name(device)))
}

/// The kernel's name of a node that is the kernel's: `/dev/cciss/c0d0` is `cciss!c0d0`.
pub(crate) fn kernel_name(device: &Path) -> String {
    let below = device.strip_prefix("/dev").unwrap_or(device);
    below.to_string_lossy().trim_start_matches('/').replace('/', "!")
}

/// The present values of the settings that are factors; what a device has not is left out. `name`
/// is the kernel's ([`name_of`]).
#[must_use]
pub fn current(roots: &Roots, name: &str) -> BTreeMap<String, String> {
    let queue = directory(&roots.sys, name);
    let read = |name: &&str| Some(((*name).to_owned(), value(&queue.join(name))?));
    SETTINGS.iter().filter_map(read).collect()
}

/// What has to be changed so that the queue has these `settings` (file and text); empty where it is
/// so already. Reads and changes nothing. `name` is the kernel's ([`name_of`]).
///
/// # Errors
/// When the device has no such setting or does not offer the value: names those that it offers.
/// When it is a partition and another part of its disk is in use, or that is not known: the queue
/// is that of the whole disk, and without flushes (`write_cache`) others lose what they wrote.
pub fn plan(
    roots: &Roots,
    name: &str,
    settings: &[(&'static str, String)],
) -> Result<Vec<QueueChange>, TargetError> {
    let queue = directory(&roots.sys, name);
    let device = &*roots.dev.join(name.replace('!', "/"));
    let diskseq = diskseq_of(&queue);
    let mut changes: Vec<QueueChange> = Vec::new();
    let mut wanted = settings.to_vec();
    let is_asked = |file: &str| settings.iter().any(|(name, _)| *name == file);
    wanted.sort_by_key(|(name, _)| SETTINGS.iter().position(|known| known == name));
    for (name, ours) in wanted {
        let file = queue.join(name);
        let text = fs::read_to_string(&file).map_err(|_| {
            TargetError::state(
                device,
                format!("it has no {name} to be set (no {})", file.display()),
                "leave this setting out for this device",
            )
        })?;
        offered(device, name, &text, &ours)?;
        let original = inventory::chosen(text.trim()).to_owned();
        // The kernel chooses it anew with the scheduler, so it is set again after that.
        let follows = name == FOLLOWS_SCHEDULER
            && changes.iter().any(|change| change.file.ends_with("scheduler"));
        if original == ours && !follows {
            continue;
        }
        changes.push(QueueChange { file, original, ours: Some(ours), diskseq });
        let follows = queue.join(FOLLOWS_SCHEDULER);
        if let Some(original) =
            value(&follows).filter(|_| name == "scheduler" && !is_asked(FOLLOWS_SCHEDULER))
        {
            changes.push(QueueChange { file: follows, original, ours: None, diskseq });
        }
    }
    let sets = |name: &str| changes.iter().any(|change| change.file.ends_with(name));
    let read_ahead = queue.join("read_ahead_kb");
    if sets("write_cache")
        && !sets("read_ahead_kb")
        && let Some(now) = value(&read_ahead)
    {
        // Only so that it stays.
        let (original, ours) = (now.clone(), Some(now));
        changes.push(QueueChange { file: read_ahead, original, ours, diskseq });
    }
    if !changes.is_empty() {
        alone_on_disk(roots, name, device)?;
    }
    Ok(changes)
}

/// A partition whose disk somebody else uses keeps the queue as it is.
fn alone_on_disk(roots: &Roots, name: &str, device: &Path) -> Result<(), TargetError> {
    let real = roots.sys.join("class/block").join(name);
    if !real.join("partition").exists() {
        return Ok(());
    }
    let unread = |error| inventory::unread(device, &error);
    let inventory = Inventory::read(roots).map_err(unread)?;
    let usage = Usage::read(roots, &inventory).map_err(unread)?;
    let disk = inventory.get(name).and_then(|part| inventory.get(part.parent.as_ref()?));
    let disk = disk.ok_or_else(|| Refusal::new(device, "its disk is not known", WHOLE_DISK))?;
    let parts = disk.partitions.iter().filter(|part| *part != name);
    let mut used = Vec::new();
    for other in parts.filter_map(|part| inventory.get(part)).chain([disk]) {
        // Who uses the disk as a whole uses our part too: then it is no target at all.
        let mut reasons = match other.parent {
            Some(_) => usage.reasons(&inventory, other),
            None => Vec::new(),
        };
        if reasons.is_empty() {
            reasons.extend(held_by_others(other, roots));
        }
        used.extend(reasons.into_iter().map(|reason| format!("{}: {reason}", other.name)));
    }
    if used.is_empty() {
        return Ok(());
    }
    let reason = format!(
        "its queue is that of the whole disk {}, which others use ({})",
        disk.name,
        used.join("; ")
    );
    Err(Refusal::new(device, reason, WHOLE_DISK).into())
}

const WHOLE_DISK: &str = "use the whole disk, or leave the settings of the queue out";

/// What no list shows: other processes that have it open, and an exclusive open.
fn held_by_others(other: &BlockDevice, roots: &Roots) -> Option<String> {
    let open = inventory::not_open(&other.path, other.number, roots, Allowed::Own, BUSY_LIMIT);
    if let Err(refusal) = open {
        return Some(refusal.reason);
    }
    // A node that is not there cannot be asked; the lists have been.
    if inventory::block_number(&other.path) != Some(other.number) {
        return None;
    }
    let held = inventory::open_exclusive(&other.path, other.number, Exclusive::Read, BUSY_LIMIT);
    held.err().map(|not_held| not_held.refusal.reason)
}

/// A scheduler must be one of those in its file.
fn offered(device: &Path, name: &str, text: &str, ours: &str) -> Result<(), TargetError> {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(['[', ']'])).collect();
    if name != "scheduler" || words.contains(&ours) {
        return Ok(());
    }
    Err(TargetError::state(
        device,
        format!("scheduler {ours:?} is not offered; it offers {}", words.join(", ")),
        &format!("use one of these, or load its module (modprobe {ours})"),
    ))
}

/// Makes the changes of a plan and reads them back when all are made. What was done is undone where
/// one fails.
///
/// # Errors
/// When the kernel refuses a value, or silently keeps another one.
pub fn apply(changes: Vec<QueueChange>) -> Result<Applied, TargetError> {
    for change in &changes {
        inside_queue(&change.file)?;
    }
    let applied = Applied { changes };
    let ours = || applied.changes.iter().filter_map(|one| Some((&one.file, one.ours.as_ref()?)));
    for (file, ours) in ours() {
        write(file, ours)?;
    }
    for (file, ours) in ours() {
        let now = value(file).unwrap_or_default();
        if now != *ours {
            return Err(TargetError::state(
                file,
                format!("{ours:?} was written without an error, and the kernel has {now:?}"),
                "this device or driver cannot be set so; leave this setting out",
            ));
        }
    }
    Ok(applied)
}

/// Puts back what is still as it was set; gives how many files were written. May be repeated.
///
/// # Errors
/// The first thing that went wrong, after everything was tried.
pub fn restore(changes: &[QueueChange]) -> Result<usize, TargetError> {
    for change in changes {
        inside_queue(&change.file)?;
    }
    // Decided before anything is written, because one setting changes another.
    let mut follows = false;
    let mut back = Vec::new();
    for change in changes {
        let is_ours = match &change.ours {
            Some(ours) => same_device(change) && value(&change.file).as_ref() == Some(ours),
            None => follows,
        };
        follows = is_ours;
        if is_ours {
            back.push(change);
        }
    }
    let mut written = 0;
    let mut first = None;
    for change in back {
        match put_back(change) {
            Ok(count) => written += count,
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map_or(Ok(written), Err)
}

fn put_back(change: &QueueChange) -> Result<usize, TargetError> {
    if value(&change.file).is_none_or(|now| now == change.original) {
        return Ok(0);
    }
    // A read-ahead that somebody has set since would go with the kernel's choice.
    let read_ahead = change.file.with_file_name("read_ahead_kb");
    let kept = value(&read_ahead).filter(|_| change.file.ends_with("write_cache"));
    write(&change.file, &change.original)?;
    if let Some(kept) = kept.filter(|kept| value(&read_ahead).as_ref() != Some(kept)) {
        write(&read_ahead, &kept)?;
    }
    let now = value(&change.file).unwrap_or_default();
    if now == change.original {
        return Ok(1);
    }
    let problem = format!("cannot be put back to {:?}: the kernel has {now:?}", change.original);
    Err(TargetError::state(&change.file, problem, "set it by hand"))
}

/// Whether the queue still belongs to the medium that it was changed for, or to a loop device that
/// has none now: a loop device keeps its settings for the next image.
fn same_device(change: &QueueChange) -> bool {
    let Some(queue) = change.file.parent() else { return false };
    let disk = queue.parent().unwrap_or(queue);
    let is_loop = disk.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"loop"));
    diskseq_of(queue) == change.diskseq || (is_loop && !disk.join("loop/backing_file").exists())
}

/// A file of settings in a directory called `queue`, and no other: the path may be from a journal.
fn inside_queue(file: &Path) -> Result<(), TargetError> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let known = SETTINGS.contains(&&*name);
    let queue = file.parent().and_then(Path::file_name).is_some_and(|name| name == "queue");
    if known && queue && file.is_absolute() {
        return Ok(());
    }
    Err(TargetError::state(file, "not a setting of a queue, so it is left alone", ""))
}

fn diskseq_of(queue: &Path) -> Option<u64> {
    let text = fs::read_to_string(queue.parent()?.join("diskseq")).ok()?;
    text.trim().parse().ok()
}

/// The value in force; `None` where there is no such file.
fn value(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    Some(inventory::chosen(text.trim()).to_owned())
}

fn write(file: &Path, text: &str) -> Result<(), TargetError> {
    fs::write(file, text).map_err(|error| TargetError::io("write", file, error))
}

#[cfg(test)]
mod tests;
