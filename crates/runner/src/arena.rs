//! What a RUN makes outside itself: journal, mount point, images, loop devices, directories.
//!
//! One image serves all contenders of one device level, so that every file system gets the same
//! sectors. It is made once, before the first trial, and removed after the last.

use crate::journal::{Entry, Journal, Owner};
use crate::recover::undo_entry;
use crate::{Progress, Request, RunError};
use fsarena_executor::cgroup::Hierarchy;
use fsarena_model::contender::{DeviceLevel, Discard, Levels};
use fsarena_model::record::Notice;
use fsarena_model::run::{NotRun, RunPlan};
use fsarena_model::spec::TargetSpec;
use fsarena_targets::claim::{self, Claimed};
use fsarena_targets::fs::{self, Place};
use fsarena_targets::{mountinfo, vet};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Where images in memory lie.
const MEMORY_DIR: &str = "/dev/shm";

/// Everything that a RUN has made.
pub(crate) struct Arena {
    name: String,
    entries: Vec<Entry>,
    scratch_dir: PathBuf,
    claims: Vec<(DeviceLevel, Discard, Claimed)>,
    is_closed: bool,
    // Last: its lock must outlive what it lists.
    journal: Journal,
}

/// The target of a trial, with what is to be said of it.
pub(crate) struct PlaceOfTrial {
    pub(crate) target: TargetSpec,
    pub(crate) facts: BTreeMap<String, String>,
    pub(crate) notices: Vec<Notice>,
}

/// What is still there after a RUN.
pub(crate) struct Left {
    pub(crate) kept: Vec<PathBuf>,
    pub(crate) failed: Vec<String>,
}

impl Arena {
    /// Begins the journal and makes the mount point.
    pub(crate) fn open(
        request: &Request<'_>,
        database: &Path,
        owner: &fsarena_store::Owner,
    ) -> Result<Self, RunError> {
        let name = format!("fsarena-{}", request.header.uid);
        let journal = Journal::begin(
            request.state_dir,
            &Owner {
                run: request.header.uid.clone(),
                database: database.to_owned(),
                pid: owner.pid,
                start_ticks: owner.start_ticks,
                boot_id: owner.boot_id.clone(),
            },
        )?;
        let scratch_dir = request.state_dir.join(&name);
        let mut arena = Self {
            name,
            entries: Vec::new(),
            scratch_dir: scratch_dir.clone(),
            claims: Vec::new(),
            is_closed: false,
            journal,
        };
        arena.note(Entry::Directory(scratch_dir.clone()))?;
        std::fs::create_dir_all(scratch_dir.join("mnt")).map_err(|source| RunError::Target {
            error: format!("{}: {source}", scratch_dir.display()),
            remedy: Some("set FSARENA_STATE_DIR to a writable directory".to_owned()),
        })?;
        let limited =
            request.header.plan.contenders.iter().any(|c| c.levels.memory_bytes.is_some());
        let mountinfo = mountinfo::text().unwrap_or_default();
        if limited && let Ok(hierarchy) = Hierarchy::find(&mountinfo) {
            arena.note(Entry::Cgroup(hierarchy.path_of(&arena.name.clone())))?;
        }
        Ok(arena)
    }

    /// Claims every device level that the schedule needs.
    pub(crate) fn claim_targets(
        &mut self,
        request: &Request<'_>,
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let plan = &request.header.plan;
        for slot in &plan.schedule {
            let levels = &plan.contenders[slot.contender].levels;
            if self.claim_of(levels).is_some() || !needs_claim(levels) {
                continue;
            }
            let claimed = self.claim(&levels.device, request, progress)?;
            self.claims.push((levels.device.clone(), levels.discard, claimed));
        }
        Ok(())
    }

    fn claim(
        &mut self,
        level: &DeviceLevel,
        request: &Request<'_>,
        progress: &mut dyn Progress,
    ) -> Result<Claimed, RunError> {
        let name = format!("{}-{}", self.name, self.claims.len());
        match level {
            DeviceLevel::Loop { size_bytes } | DeviceLevel::Ram { size_bytes } => {
                let in_memory = matches!(level, DeviceLevel::Ram { .. });
                let dir = if in_memory { Path::new(MEMORY_DIR) } else { request.image_dir };
                let vetted = vet::vet_image_dir(dir, *size_bytes)?;
                self.note(Entry::Image(vetted.image_path(&name)))?;
                let mut report = |done: u64| {
                    progress.image(&name, done, *size_bytes);
                    match request.interrupts.load(Ordering::SeqCst) {
                        0 => ControlFlow::Continue(()),
                        _ => ControlFlow::Break(()),
                    }
                };
                Ok(claim::claim_image(&vetted, &name, *size_bytes, in_memory, &mut report)?)
            }
            DeviceLevel::Directory { path } => {
                let vetted = vet::vet_directory(path)?;
                self.note(Entry::Directory(vetted.ours(&name)))?;
                Ok(claim::claim_directory(&vetted, &name)?)
            }
        }
    }

    /// The claim for these levels. Contenders that discard have an image of their own: the holes
    /// they make in it must not be met by others.
    fn claim_of(&self, levels: &Levels) -> Option<&Claimed> {
        let found = self
            .claims
            .iter()
            .find(|(device, discard, _)| *device == levels.device && *discard == levels.discard);
        found.map(|(_, _, claimed)| claimed)
    }

    /// The target for a contender with these levels.
    pub(crate) fn place_of(&self, levels: &Levels) -> PlaceOfTrial {
        if !needs_claim(levels) {
            let size_bytes = levels.device.size_bytes().unwrap_or(u64::MAX);
            return PlaceOfTrial {
                target: TargetSpec::Memory { size_bytes },
                facts: BTreeMap::new(),
                notices: Vec::new(),
            };
        }
        let claimed = self.claim_of(levels).expect("every level of the schedule was claimed");
        let mut notices = claimed.notices();
        if levels.discard == Discard::On {
            notices.push(discard_notice());
        }
        if let TargetSpec::Directory { path } = claimed.target()
            && lacks_journal(&path)
        {
            notices.push(no_journal_notice());
        }
        PlaceOfTrial { target: claimed.target(), facts: claimed.facts(), notices }
    }

    /// Journals the command that will undo what an external file system makes, before it makes it.
    pub(crate) fn note_destroy(&mut self, levels: &Levels) -> Result<(), RunError> {
        let Ok(driver) = fs::driver(&levels.fs) else { return Ok(()) };
        let target = self.place_of(levels).target;
        let plan = driver.mount_plan(&levels.fs, levels.discard, &target);
        let Ok(fs::MountPlan::Commands { destroy: Some(command), .. }) = plan else {
            return Ok(());
        };
        let held = match target {
            TargetSpec::Image { device, image, .. } => Some((device, image)),
            _ => None,
        };
        let entry = Entry::Destroy { command, held };
        if self.entries.contains(&entry) { Ok(()) } else { self.note(entry) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn scratch_dir(&self) -> &Path {
        &self.scratch_dir
    }

    pub(crate) fn journal_path(&self) -> &Path {
        self.journal.path()
    }

    /// Takes everything down, from the last to the first.
    pub(crate) fn close(mut self, keep: bool, say: &mut dyn FnMut(&str)) -> Left {
        let left = self.take_down(keep);
        if !left.failed.is_empty() {
            say("not everything could be taken down; the next start of fsarena tries again");
        }
        left
    }

    fn take_down(&mut self, keep: bool) -> Left {
        self.is_closed = true;
        let mut left = Left { kept: Vec::new(), failed: Vec::new() };
        while let Some((_, _, mut claimed)) = self.claims.pop() {
            if let Some(path) = kept_path(&claimed.target()).filter(|_| keep) {
                // Without its line in the journal it would be removed if this process died now.
                match self.journal.note(&Entry::Kept(path.clone())) {
                    Ok(()) => claimed.keep(),
                    Err(error) => left.failed.push(error.to_string()),
                }
                left.kept.push(path);
            }
            if let Err(errors) = claimed.release() {
                left.failed.extend(errors.iter().map(ToString::to_string));
            }
        }
        for entry in self.entries.iter().rev() {
            let kept = matches!(entry, Entry::Image(path) | Entry::Directory(path)
                if left.kept.contains(path));
            // Each trial has run the command of its own external file system.
            if kept || matches!(entry, Entry::Destroy { .. }) {
                continue;
            }
            if let Err(error) = undo_entry(entry, &left.kept) {
                left.failed.push(error.to_string());
            }
        }
        if left.failed.is_empty()
            && let Err(error) = self.journal.end()
        {
            left.failed.push(error.to_string());
        }
        left
    }

    fn note(&mut self, entry: Entry) -> Result<(), RunError> {
        self.journal.note(&entry)?;
        self.entries.push(entry);
        Ok(())
    }
}

impl Drop for Arena {
    /// After an error or in a panic; what fails now is left to the next start.
    fn drop(&mut self) {
        if !self.is_closed {
            self.take_down(false);
        }
    }
}

fn needs_claim(levels: &Levels) -> bool {
    let place = fs::driver(&levels.fs).map_or(Place::Block, |driver| driver.place());
    matches!(place, Place::Block | Place::Directory)
}

/// Whether `path` lies on an ext4 (or ext2 served by it) without a journal.
fn lacks_journal(path: &Path) -> bool {
    let Ok(meta) = std::fs::metadata(path) else { return false };
    let device = rustix::fs::major(meta.dev());
    let link = format!("/sys/dev/block/{device}:{}", rustix::fs::minor(meta.dev()));
    let name = std::fs::canonicalize(link).ok().and_then(|real| real.file_name().map(Into::into));
    let Some(name): Option<PathBuf> = name else { return false };
    let task = Path::new("/sys/fs/ext4").join(name).join("journal_task");
    std::fs::read_to_string(task).is_ok_and(|text| text.trim() == "<none>")
}

fn no_journal_notice() -> Notice {
    Notice {
        code: "directory-without-journal".to_owned(),
        text: "the directory lies on an ext4 without a journal, which does not reuse inodes that \
               were deleted in the last minutes: creating gets slower from trial to trial"
            .to_owned(),
        remedy: Some("as root, use --on loop:SIZE, or a directory elsewhere".to_owned()),
        measure: None,
    }
}

fn discard_notice() -> Notice {
    Notice {
        code: "discarded-image".to_owned(),
        text: "contenders that discard share an image of their own, which has the holes that \
               earlier trials made in it"
            .to_owned(),
        remedy: None,
        measure: None,
    }
}

fn kept_path(target: &TargetSpec) -> Option<PathBuf> {
    match target {
        TargetSpec::Image { image, .. } => Some(image.clone()),
        TargetSpec::Directory { path } => Some(path.clone()),
        TargetSpec::Memory { .. } => None,
    }
}

/// What can be refused before anything is opened: a plan of which nothing can be run here, and a
/// database in a directory under test, which is written between trials and would be part of the
/// work.
///
/// # Errors
/// [`RunError::Nothing`], [`RunError::DatabaseUnderTest`].
pub fn check(plan: &RunPlan, database: &Path) -> Result<(), RunError> {
    if plan.schedule.is_empty() {
        let reason =
            |row: &NotRun| format!("{}: {}", plan.contenders[row.contender].label, row.reason);
        let mut reasons: Vec<String> = plan.not_run.iter().map(reason).collect();
        reasons.dedup();
        return Err(RunError::Nothing { reasons: reasons.join("; ") });
    }
    let database = resolved(database);
    for contender in &plan.contenders {
        if let DeviceLevel::Directory { path } = &contender.levels.device
            && database.starts_with(resolved(path))
        {
            return Err(RunError::DatabaseUnderTest { database, target: path.clone() });
        }
    }
    Ok(())
}

/// Absolute, and without symbolic links in the part that exists.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = path.ancestors().find_map(|dir| Some((dir, dir.canonicalize().ok()?)));
    match existing {
        Some((dir, real)) => match path.strip_prefix(dir) {
            Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
            _ => real,
        },
        None => path,
    }
}
