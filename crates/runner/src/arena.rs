//! What a RUN makes outside itself: journal, mount point, images, loop devices, directories.
//!
//! One image serves all contenders of one device level, so that every file system gets the same
//! sectors. It is made once, before the first trial, and removed after the last.

use crate::journal::{Entry, Journal, Owner};
use crate::recover::undo_entry;
use crate::{Progress, Request, RunError};
use fsarena_executor::cgroup::Hierarchy;
use fsarena_model::contender::{DeviceLevel, Levels};
use fsarena_model::record::Notice;
use fsarena_model::run::{NotRun, RunPlan};
use fsarena_model::spec::TargetSpec;
use fsarena_targets::claim::{self, Claimed};
use fsarena_targets::fs::{self, Place};
use fsarena_targets::vet;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Where images in memory lie.
const MEMORY_DIR: &str = "/dev/shm";

/// Everything that a RUN has made.
pub(crate) struct Arena {
    name: String,
    journal: Journal,
    entries: Vec<Entry>,
    scratch_dir: PathBuf,
    claims: Vec<(DeviceLevel, Claimed)>,
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
            journal,
            entries: Vec::new(),
            scratch_dir: scratch_dir.clone(),
            claims: Vec::new(),
        };
        arena.note(Entry::Directory(scratch_dir.clone()))?;
        std::fs::create_dir_all(scratch_dir.join("mnt")).map_err(|source| RunError::Target {
            error: format!("{}: {source}", scratch_dir.display()),
            remedy: Some("set FSARENA_STATE_DIR to a writable directory".to_owned()),
        })?;
        let limited =
            request.header.plan.contenders.iter().any(|c| c.levels.memory_bytes.is_some());
        let mountinfo = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
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
            let known = self.claims.iter().any(|(level, _)| *level == levels.device);
            if known || place(levels) == Place::Memory {
                continue;
            }
            let claimed = self.claim(&levels.device, request, progress)?;
            self.claims.push((levels.device.clone(), claimed));
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

    /// The target for a contender with these levels.
    pub(crate) fn place_of(&self, levels: &Levels) -> PlaceOfTrial {
        if place(levels) == Place::Memory {
            let size_bytes = levels.device.size_bytes().unwrap_or(u64::MAX);
            return PlaceOfTrial {
                target: TargetSpec::Memory { size_bytes },
                facts: BTreeMap::new(),
                notices: Vec::new(),
            };
        }
        let (_, claimed) = self
            .claims
            .iter()
            .find(|(level, _)| *level == levels.device)
            .expect("every device level of the schedule was claimed");
        PlaceOfTrial {
            target: claimed.target(),
            facts: claimed.facts(),
            notices: claimed.notices(),
        }
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
        let mut left = Left { kept: Vec::new(), failed: Vec::new() };
        while let Some((_, mut claimed)) = self.claims.pop() {
            if keep {
                left.kept.extend(kept_path(&claimed.target()));
                claimed.keep();
            }
            if let Err(errors) = claimed.release() {
                left.failed.extend(errors.iter().map(ToString::to_string));
            }
        }
        for entry in self.entries.iter().rev() {
            let kept = matches!(entry, Entry::Image(path) | Entry::Directory(path)
                if left.kept.contains(path));
            if kept {
                continue;
            }
            if let Err(error) = undo_entry(entry, &left.kept) {
                left.failed.push(error.to_string());
            }
        }
        if left.failed.is_empty() {
            if let Err(error) = self.journal.end() {
                left.failed.push(error.to_string());
            }
        } else {
            say("not everything could be taken down; the next start of fsarena tries again");
        }
        left
    }

    fn note(&mut self, entry: Entry) -> Result<(), RunError> {
        self.journal.note(&entry)?;
        self.entries.push(entry);
        Ok(())
    }
}

fn place(levels: &Levels) -> Place {
    fs::driver(&levels.fs).map_or(Place::Block, |driver| driver.place())
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
