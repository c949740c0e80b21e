//! Undoing what dead RUNs left, at every start.
//!
//! Only a journal whose lock can be had is touched: its owner and its executors are dead. What it
//! lists is undone from the last entry to the first, each step harmless where there is nothing
//! left.

mod holders;

use crate::journal::{self, Entry, JournalError, Orphan, Owner};
use fsarena_devices::{TargetError, claim, frozen, inventory, leftovers, mountinfo, queue, sysctl};
use fsarena_metrics::{KernelRoots, process_start_ticks};
use fsarena_process::cmd::{self, Conditions};
use fsarena_process::program::TrustedProgram;
use fsarena_store::{Store, StoreError};
use fsarena_trace::{TraceError, Tracefs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for executors of a dead RUN to be gone.
const ENDING: Duration = Duration::from_secs(30);

/// How long a command of an external file system may take.
const DESTROYING: Duration = Duration::from_secs(60);

/// What was undone.
#[derive(Debug, Default)]
pub struct Recovered {
    /// RUNs that had died, with the database of each.
    pub runs: Vec<Owner>,
    /// Things that were removed, in words.
    pub removed: Vec<String>,
    /// Things that could not be, with the reason; they stay in the journal.
    pub failed: Vec<String>,
    /// Files of the state directory that are no journals of ours, with the reason.
    pub skipped: Vec<String>,
}

/// Undoes what dead RUNs whose journals lie in `state_dir` left.
///
/// # Errors
/// When the journals cannot be read.
pub fn recover(state_dir: &Path) -> Result<Recovered, JournalError> {
    let deadline = Instant::now() + ENDING;
    loop {
        let dying = journal::dying(state_dir, &is_alive)?;
        if dying.is_empty() || Instant::now() >= deadline {
            break;
        }
        dying.iter().for_each(|path| holders::end(path));
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut recovered = Recovered::default();
    let mut skipped = Vec::new();
    let orphans = journal::orphans(state_dir, &mut skipped)?;
    recovered.skipped = skipped.iter().map(ToString::to_string).collect();
    for orphan in orphans {
        undo(orphan, &mut recovered)?;
    }
    Ok(recovered)
}

/// Marks RUNs of `store` as interrupted whose process is dead.
///
/// # Errors
/// When the database cannot be read or written.
pub fn close_dead_runs(store: &mut Store) -> Result<(), StoreError> {
    for (run, _, owner) in store.running()? {
        if !owner_lives(&owner) {
            store.interrupt_if_running(run, &owner, "its process died")?;
        }
    }
    Ok(())
}

/// Whether the process that carries a RUN of the database out lives.
pub(crate) fn owner_lives(owner: &fsarena_store::Owner) -> bool {
    is_process(owner.pid, owner.start_ticks, &owner.boot_id)
}

fn is_alive(owner: &Owner) -> bool {
    is_process(owner.pid, owner.start_ticks, &owner.boot_id)
}

/// Whether process `pid` is the one that started at `start_ticks` of boot `boot_id`.
fn is_process(pid: u32, start_ticks: u64, boot_id: &str) -> bool {
    let roots = KernelRoots::default();
    fsarena_metrics::boot_id(&roots).unwrap_or_default() == boot_id
        && process_start_ticks(&roots, pid) == Some(start_ticks)
}

fn undo(orphan: Orphan, recovered: &mut Recovered) -> Result<(), JournalError> {
    let kept: Vec<PathBuf> = orphan
        .entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::Kept(path) => Some(path.clone()),
            _ => None,
        })
        .collect();
    // Devices of the kernel, their settings and its tracing are gone with their boot, and the
    // numbers of devices are given to others.
    let boot_id = fsarena_metrics::boot_id(&KernelRoots::default()).unwrap_or_default();
    let same_boot = orphan.owner().is_some_and(|owner| owner.boot_id == boot_id);
    let of_boot = |entry: &&Entry| {
        matches!(
            entry,
            Entry::Device(_)
                | Entry::Claimed(_)
                | Entry::Queue(_)
                | Entry::Sysctl(_)
                | Entry::Trace(_)
        )
    };
    let mut failed = Vec::new();
    for entry in orphan.entries.iter().rev().filter(|entry| same_boot || !of_boot(entry)) {
        if kept.is_empty()
            && let Some(left) = not_destroyed(entry, same_boot)
        {
            recovered.failed.push(left);
            continue;
        }
        match undo_entry(entry, &kept) {
            Ok(Some(removed)) => recovered.removed.push(removed),
            Ok(None) => {}
            // Nothing here can tell whether there is anything left to destroy: said, and done with.
            Err(error) if matches!(entry, Entry::Destroy { held: None, .. }) => {
                recovered.failed.push(error.to_string());
            }
            Err(error) => failed.push(error.to_string()),
        }
    }
    recovered.runs.extend(orphan.owner().cloned());
    if failed.is_empty() {
        orphan.forget()?;
    }
    recovered.failed.append(&mut failed);
    Ok(())
}

/// Why the `destroy` command of an entry is not run, where its device is not the one any more that
/// it was written for: whatever is at its path by now is somebody else's.
fn not_destroyed(entry: &Entry, same_boot: bool) -> Option<String> {
    let Entry::Destroy { command, identity: Some(was), .. } = entry else { return None };
    let changes = match inventory::identify(&was.path, &inventory::Roots::default()) {
        _ if !same_boot => "the machine was started again since".to_owned(),
        Ok(now) => was.differences(&now, true).join("; "),
        Err(error) => error.to_string(),
    };
    let path = was.path.display();
    (!changes.is_empty()).then(|| {
        format!(
            "what `{command}` would have undone was made on {path}, and that may be another device \
             now ({changes}): the command is not run; look for yourself whether anything is left"
        )
    })
}

/// Undoes one entry; says what was there.
pub(crate) fn undo_entry(entry: &Entry, kept: &[PathBuf]) -> Result<Option<String>, TargetError> {
    let (path, removed) = match entry {
        Entry::Owner(_) | Entry::Kept(_) => return Ok(None),
        // The first thing that is kept is noted after the last trial: each before it has run the
        // command itself, and the last one's file system is to stay.
        Entry::Destroy { .. } if !kept.is_empty() => return Ok(None),
        Entry::Destroy { command, held, identity } => {
            // What the file system made holds its device, so a device that is free, or somebody
            // else's by now (loop numbers come again), has nothing of ours on it to be destroyed.
            if let Some((device, image)) = held
                && !leftovers::loop_devices_of(image)?.contains(device)
            {
                return Ok(None);
            }
            if let Some(identity) = identity
                && inventory::recheck(identity, &inventory::Roots::default()).is_ok()
            {
                return Ok(None);
            }
            let destroy = TrustedProgram::confirmed(command);
            cmd::run_with(&destroy, &cmd::NO_ARGS, &Conditions::of_writer(DESTROYING))?;
            return Ok(Some(command.clone()));
        }
        Entry::Image(path) => {
            let detached = !leftovers::detach_loops_of(path)?.is_empty();
            if kept.contains(path) {
                return Ok(None);
            }
            (path, leftovers::remove_image(path)? || detached)
        }
        Entry::Directory(path) => {
            leftovers::unmount_below(path)?;
            if kept.contains(path) {
                return Ok(None);
            }
            (path, leftovers::remove_dir(path)?)
        }
        Entry::Cgroup(path) => (path, leftovers::remove_cgroup(path)?),
        Entry::Trace(name) => return remove_trace(&mountinfo::text().unwrap_or_default(), name),
        Entry::Device(identity) if kept.contains(&identity.path) => return Ok(None),
        Entry::Device(identity) => (&identity.path, claim::remove_made(identity)?),
        Entry::Claimed(identity) => {
            let path = identity.path.display();
            return Ok(
                frozen::release(identity)?.then(|| format!("a frozen file system on {path}"))
            );
        }
        Entry::Queue(changes) => {
            let Some(first) = changes.first() else { return Ok(None) };
            return Ok((queue::restore(changes)? > 0).then(|| first.file.display().to_string()));
        }
        Entry::Sysctl(changes) => {
            let Some(first) = changes.first() else { return Ok(None) };
            return Ok((sysctl::restore(changes)? > 0).then(|| first.file.display().to_string()));
        }
    };
    Ok(removed.then(|| path.display().to_string()))
}

/// Removes an instance of the kernel's tracing; says which, where it was there.
fn remove_trace(mountinfo: &str, name: &str) -> Result<Option<String>, TargetError> {
    let removed = match Tracefs::open(mountinfo) {
        Ok(tracefs) => tracefs.remove_instance(name),
        // Where there is none nothing is in it.
        Err(TraceError::NoTracefs) => Ok(None),
        Err(error) => Err(error),
    };
    removed.map_err(|error| TargetError::State {
        path: Path::new("instances").join(name),
        problem: error.to_string(),
        remedy: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use fsarena_model::device::DeviceIdentity;
    use std::fs;

    /// The journal of a dead RUN in `dir` with these entries.
    fn died(dir: &Path, entries: &[Entry]) {
        died_in(dir, "an earlier boot", entries);
    }

    fn died_in(dir: &Path, boot_id: &str, entries: &[Entry]) {
        let owner = Owner {
            run: "0123456789abcdef".into(),
            database: dir.join("db"),
            pid: 1,
            start_ticks: 0,
            boot_id: boot_id.into(),
        };
        let mut journal = Journal::begin(dir, &owner).unwrap();
        entries.iter().for_each(|entry| journal.note(entry).unwrap());
    }

    fn image(dir: &Path, number: u32) -> PathBuf {
        let path = dir.join(format!("fsarena-0123456789abcdef-{number}.img"));
        fs::write(&path, "contents").unwrap();
        path
    }

    fn directory(dir: &Path, number: u32) -> PathBuf {
        let path = dir.join(format!("fsarena-0123456789abcdef-{number}"));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("f00000000"), "contents").unwrap();
        path
    }

    #[track_caller]
    fn recovered(dir: &Path) -> Recovered {
        let recovered = recover(dir).unwrap();
        assert!(recovered.failed.is_empty(), "{:?}", recovered.failed);
        assert_eq!(recovered.runs.len(), 1);
        assert_eq!(recover(dir).unwrap().runs.len(), 0, "the journal is gone");
        recovered
    }

    #[test]
    fn what_was_kept_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (kept, other) = (image(dir.path(), 0), image(dir.path(), 1));
        let (kept_dir, other_dir) = (directory(dir.path(), 2), directory(dir.path(), 3));
        let entries = [
            Entry::Image(kept.clone()),
            Entry::Image(other.clone()),
            Entry::Directory(kept_dir.clone()),
            Entry::Directory(other_dir.clone()),
            Entry::Kept(kept.clone()),
            Entry::Kept(kept_dir.clone()),
        ];
        died(dir.path(), &entries);
        let removed = recovered(dir.path()).removed;
        assert_eq!(removed, [other_dir, other].map(|path| path.display().to_string()));
        assert_eq!(fs::read(&kept).unwrap(), b"contents");
        assert!(kept_dir.join("f00000000").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    fn destroy(command: String, held: Option<(&str, &Path)>) -> Entry {
        let held = held.map(|(device, image)| (PathBuf::from(device), image.to_owned()));
        Entry::Destroy { command, held, identity: None }
    }

    #[test]
    fn what_was_made_elsewhere_is_destroyed_while_its_image_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let (image, mark) = (image(dir.path(), 0), dir.path().join("mark"));
        let command = format!("test -e {} && echo x >> {}", image.display(), mark.display());
        died(dir.path(), &[Entry::Image(image.clone()), destroy(command.clone(), None)]);
        let removed = recovered(dir.path()).removed;
        assert_eq!(removed, [command, image.display().to_string()]);
        assert_eq!(fs::read_to_string(&mark).unwrap(), "x\n", "once");
        assert!(!image.exists());
    }

    /// The number of a loop device comes again: with whatever somebody else attached.
    #[test]
    fn nothing_is_destroyed_on_a_device_that_is_not_ours_any_more() {
        let dir = tempfile::tempdir().unwrap();
        let (image, mark) = (image(dir.path(), 0), dir.path().join("mark"));
        let command = format!("touch {}", mark.display());
        let held = Some(("/dev/loop0", image.as_path()));
        died(dir.path(), &[Entry::Image(image.clone()), destroy(command, held)]);
        assert_eq!(recovered(dir.path()).removed, [image.display().to_string()]);
        assert!(!mark.exists());
    }

    /// The same path, and another medium or another boot: nothing is run, and it is said once.
    #[test]
    fn nothing_is_destroyed_on_a_device_that_is_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let command = format!("touch {}", mark.display());
        let identity = DeviceIdentity {
            path: "/dev/null".into(),
            name: "fsarena-test".to_owned(),
            number: (1, 3),
            size_bytes: 1 << 30,
            diskseq: Some(1),
            hardware: [].into(),
        };
        let entry =
            Entry::Destroy { command: command.clone(), held: None, identity: Some(identity) };
        let this_boot = fsarena_metrics::boot_id(&KernelRoots::default()).unwrap_or_default();
        for (boot_id, word) in [("an earlier boot", "started again"), (&*this_boot, "/dev/null")] {
            died_in(dir.path(), boot_id, std::slice::from_ref(&entry));
            let recovered = recover(dir.path()).unwrap();
            assert!(recovered.removed.is_empty(), "{:?}", recovered.removed);
            let said = &recovered.failed[0];
            assert!(said.contains(word) && said.contains(&command), "{said}");
            assert!(!mark.exists());
            assert_eq!(recover(dir.path()).unwrap().runs.len(), 0, "the journal is gone");
        }
    }

    #[test]
    fn a_claimed_device_that_is_another_one_by_now_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let identity = DeviceIdentity {
            path: "/dev/null".into(),
            name: "fsarena-test".to_owned(),
            number: (1, 3),
            size_bytes: 1 << 30,
            diskseq: Some(1),
            hardware: [].into(),
        };
        let this_boot = fsarena_metrics::boot_id(&KernelRoots::default()).unwrap_or_default();
        died_in(dir.path(), &this_boot, &[Entry::Claimed(identity)]);
        assert!(recovered(dir.path()).removed.is_empty());
    }

    #[test]
    fn what_was_kept_is_not_destroyed() {
        let dir = tempfile::tempdir().unwrap();
        let (image, mark) = (image(dir.path(), 0), dir.path().join("mark"));
        let touch = destroy(format!("touch {}", mark.display()), None);
        died(dir.path(), &[Entry::Image(image.clone()), touch, Entry::Kept(image.clone())]);
        assert!(recovered(dir.path()).removed.is_empty());
        assert!(image.exists() && !mark.exists());
    }

    #[test]
    fn a_destroy_that_fails_is_said_and_keeps_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let image = image(dir.path(), 0);
        died(dir.path(), &[Entry::Image(image.clone()), destroy("exit 3".to_owned(), None)]);
        let recovered = recover(dir.path()).unwrap();
        assert_eq!(recovered.removed, [image.display().to_string()]);
        assert!(recovered.failed[0].contains("exit 3"), "{:?}", recovered.failed);
        assert_eq!(recover(dir.path()).unwrap().runs.len(), 0, "the journal is gone");
    }

    #[test]
    fn an_instance_of_tracing_is_removed_where_it_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let tracefs = dir.path().join("tracing");
        let (ours, other) = ("fsarena-0123456789abcdef", "other");
        for name in [ours, other] {
            fs::create_dir_all(tracefs.join("instances").join(name)).unwrap();
        }
        let mountinfo = format!("1 1 0:1 / {} rw - tracefs none rw", tracefs.display());
        let path = tracefs.join("instances").join(ours).display().to_string();
        assert_eq!(remove_trace(&mountinfo, ours).unwrap(), Some(path));
        assert!(tracefs.join("instances/other").exists());
        assert_eq!(remove_trace(&mountinfo, ours).unwrap(), None, "nothing is left");
        let error = remove_trace(&mountinfo, "other").unwrap_err().to_string();
        assert!(error.starts_with("instances/other: \"other\" is no name"), "{error}");
    }

    /// It is gone with its boot, and whoever has no right to look is not told to.
    #[test]
    fn tracing_of_an_earlier_boot_is_not_looked_for() {
        let dir = tempfile::tempdir().unwrap();
        died(dir.path(), &[Entry::Trace("no name of ours".to_owned())]);
        assert!(recovered(dir.path()).removed.is_empty());
    }
}
