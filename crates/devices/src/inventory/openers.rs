//! Processes that have a block device open without holding it for themselves: a virtual machine
//! often opens its disk so, and an exclusive open does not see it.

use super::attribute::{self, Unread, is_gone};
use super::identity;
use super::mounts::{Roots, is_pid};
use crate::Refusal;
use rustix::fs::{FileType, major, minor};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a device may be busy: udev looks into every device that was written and closed.
pub(crate) const BUSY_LIMIT: Duration = Duration::from_secs(2);
pub(crate) const BUSY_PAUSE: Duration = Duration::from_millis(50);

/// Who may have a device open next to its user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Allowed {
    /// This process alone.
    Own,
    /// This process and its ancestors: an executor is a descendant of the RUN, which holds what it
    /// has made open.
    Ancestors,
}

/// `process 4711 (qemu-system-x86)` of every other process that has the device open. Where `/proc`
/// is that of a PID namespace, as inside an executor, only the processes of that namespace are
/// seen.
///
/// # Errors
/// When the descriptors of a process cannot be read.
pub(crate) fn openers(
    roots: &Roots,
    number: (u32, u32),
    allowed: Allowed,
) -> Result<Vec<String>, Unread> {
    // As this /proc counts: it may be that of an outer PID namespace.
    let own = fs::read_link(roots.proc.join("self"))
        .map_or_else(|_| std::process::id().to_string(), |link| link.display().to_string());
    let allowed = match allowed {
        Allowed::Own => vec![own],
        Allowed::Ancestors => ancestors(&roots.proc, &own),
    };
    let mut found = Vec::new();
    for process in attribute::names(&roots.proc)? {
        if !is_pid(&process) || allowed.contains(&process) {
            continue;
        }
        let dir = roots.proc.join(&process);
        if has_open(&dir.join("fd"), number)? {
            let name =
                attribute::non_empty(&dir.join("comm")).unwrap_or_else(|| "unknown".to_owned());
            found.push(format!("process {process} ({name})"));
        }
    }
    Ok(found)
}

/// Refuses a device that another process has open; udev and its like get a moment to close it.
pub(crate) fn not_open(
    written: &Path,
    number: (u32, u32),
    roots: &Roots,
    allowed: Allowed,
    patience: Duration,
) -> Result<(), Refusal> {
    let started = Instant::now();
    loop {
        let openers =
            openers(roots, number, allowed).map_err(|error| identity::unread(written, &error))?;
        if openers.is_empty() {
            return Ok(());
        }
        if started.elapsed() > patience {
            let reason = format!("in use: {} has it open", openers.join(", "));
            return Err(Refusal::new(written, reason, "end that, and start again"));
        }
        std::thread::sleep(BUSY_PAUSE);
    }
}

/// The process and its parents up to the first that this `/proc` shows.
pub(crate) fn ancestors(proc_root: &Path, pid: &str) -> Vec<String> {
    let mut all = vec![pid.to_owned()];
    while let Some(parent) = all.last().and_then(|pid| parent_of(proc_root, pid)) {
        if parent == "0" || all.contains(&parent) {
            break;
        }
        all.push(parent);
    }
    all
}

fn parent_of(proc_root: &Path, pid: &str) -> Option<String> {
    let text = fs::read_to_string(proc_root.join(pid).join("status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Some(line.trim().to_owned())
}

fn has_open(dir: &Path, number: (u32, u32)) -> Result<bool, Unread> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if is_gone(&error) => return Ok(false),
        Err(error) => return Err(Unread::new(dir, error)),
    };
    for entry in entries {
        let Ok(entry) = entry else { return Ok(false) };
        // Only what looks like a device node is followed, in a container's tree too: to look at
        // any other file may hang on a dead server.
        match fs::read_link(entry.path()) {
            Ok(link) if link.components().any(|part| part.as_os_str() == "dev") => {}
            _ => continue,
        }
        let Ok(stat) = rustix::fs::stat(entry.path()) else { continue };
        let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        if is_block && (major(stat.st_rdev), minor(stat.st_rdev)) == number {
            return Ok(true);
        }
    }
    Ok(false)
}
