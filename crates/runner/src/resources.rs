//! What a RUN makes outside itself: journal, mount point, images, loop devices, directories.
//!
//! One image serves all contenders of one device level, so that every file system gets the same
//! sectors. It is made once, before the first trial, and removed after the last.

use crate::journal::{Entry, Journal, Owner};
use crate::own_paths::OwnPaths;
use crate::recover::undo_entry;
use crate::request::{MEMORY_DIR, Progress, Request, RunError};
use crate::resume;
use crate::staged_sources::{self, StagedSources, StagingDirs};
use crate::staged_times;
use fsarena_devices::claim::{self, Claimed, Made};
use fsarena_devices::inventory::{self, Roots};
use fsarena_devices::mountinfo;
use fsarena_devices::queue::{self, Applied, QueueChange};
use fsarena_devices::sysctl::{self, AppliedSysctls, PROC_SYS, SysctlChange};
use fsarena_devices::vet::VettedDevice;
use fsarena_executor::cgroup::Hierarchy;
use fsarena_filesystems::Backing;
use fsarena_model::contender::{Contender, DeviceLevel, Discard, Levels};
use fsarena_model::device::SsdPolicy;
use fsarena_model::factor::{self, Setting};
use fsarena_model::job::{Origin, Source};
use fsarena_model::record::{Notice, TrialRecord};
use fsarena_model::run::RunPlan;
use fsarena_model::spec::{TargetSpec, Under};
use fsarena_process::private;
use fsarena_trace::Tracefs;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Everything that a RUN has made.
pub(crate) struct RunResources<'a> {
    request: &'a Request<'a>,
    pub(crate) name: String,
    /// What names of claims begin with.
    claim_name: String,
    entries: Vec<Entry>,
    pub(crate) scratch_dir: PathBuf,
    claims: Vec<(ClaimKey, Claimed)>,
    pub(crate) staged_sources: StagedSources,
    database: PathBuf,
    is_closed: bool,
    // Last: its lock must outlive what it lists.
    pub(crate) journal: Journal,
}

/// What tells claims apart: the device, and whether holes are made in its image.
#[derive(Clone, PartialEq, Debug)]
struct ClaimKey {
    device: DeviceLevel,
    /// Contenders that discard have an image of their own: the holes they make in it must not be
    /// met by others. A device of the user's is there once.
    holes: bool,
}

impl ClaimKey {
    fn from_levels(levels: &Levels) -> Self {
        let is_image =
            |one: &DeviceLevel| matches!(one, DeviceLevel::Loop { .. } | DeviceLevel::Ram { .. });
        let image = levels.device.parts().iter().any(is_image);
        let discards = levels.discard == Discard::On || levels.ssd == SsdPolicy::Blkdiscard;
        Self { device: levels.device.clone(), holes: image && discards }
    }
}

/// What a claim is told by, and stopped by, while it is made.
struct ClaimHooks<'a> {
    journal: &'a mut Journal,
    entries: &'a mut Vec<Entry>,
    progress: &'a mut dyn Progress,
    name: &'a str,
    size_bytes: u64,
    interrupts: &'a AtomicUsize,
}

impl claim::Hooks for ClaimHooks<'_> {
    fn will_make(&mut self, what: &Made) -> Result<(), String> {
        let entry = match what {
            Made::Image(path) => Entry::Image(path.clone()),
            Made::Directory(path) => Entry::Directory(path.clone()),
            Made::Device(identity) => Entry::Device(identity.clone()),
        };
        self.journal.note(&entry).map_err(|error| error.to_string())?;
        self.entries.push(entry);
        Ok(())
    }

    fn written(&mut self, bytes: u64) -> ControlFlow<()> {
        self.progress.image(self.name, bytes, self.size_bytes);
        match self.interrupts.load(Ordering::SeqCst) {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

/// The target of a trial, with what is to be said of it.
pub(crate) struct TrialTarget {
    pub(crate) target: TargetSpec,
    pub(crate) facts: BTreeMap<String, String>,
    pub(crate) notices: Vec<Notice>,
}

/// What is still there after a RUN.
pub(crate) struct Left {
    pub(crate) kept: Vec<PathBuf>,
    pub(crate) failed: Vec<String>,
}

impl<'a> RunResources<'a> {
    /// Begins the journal and makes the mount point.
    pub(crate) fn open(
        request: &'a Request<'a>,
        database: &Path,
        owner: &fsarena_store::Owner,
    ) -> Result<Self, RunError> {
        let name = format!("fsarena-{}", request.header.uid);
        // A later start may have another working directory.
        let database = std::path::absolute(database).unwrap_or_else(|_| database.to_owned());
        let journal = Journal::begin(
            request.state_dir,
            &Owner {
                run: request.header.uid.clone(),
                database: database.clone(),
                pid: owner.pid,
                start_ticks: owner.start_ticks,
                boot_id: owner.boot_id.clone(),
            },
        )?;
        let scratch_dir = request.state_dir.join(&name);
        // What an earlier session has kept on purpose has its own name.
        let claim_name = match request.resumed {
            Some(resumed) => format!("{name}-s{}", resumed.session),
            None => name.clone(),
        };
        let mut resources = Self {
            request,
            name,
            claim_name,
            entries: Vec::new(),
            scratch_dir: scratch_dir.clone(),
            claims: Vec::new(),
            staged_sources: StagedSources::default(),
            database,
            is_closed: false,
            journal,
        };
        resources.note(Entry::Directory(scratch_dir.clone()))?;
        private::create_dirs(&scratch_dir.join("mnt")).map_err(|source| {
            RunError::target(
                format!("{}: {source}", scratch_dir.display()),
                Some("set FSARENA_STATE_DIR to a writable directory"),
            )
        })?;
        let is_limited =
            |levels: &Levels| levels.memory_bytes.is_some() && !levels.device.is_virtual();
        let limited = request.header.plan.contenders.iter().any(|c| is_limited(&c.levels));
        let mountinfo = mountinfo::text().unwrap_or_default();
        if limited && let Ok(hierarchy) = Hierarchy::find(&mountinfo) {
            resources.note(Entry::Cgroup(hierarchy.path_of(&resources.name.clone())))?;
        }
        // Where it is not to be had no trial makes an instance, and each says so.
        if request.header.plan.account && Tracefs::open(&mountinfo).is_ok() {
            resources.note(Entry::Trace(resources.name.clone()))?;
        }
        Ok(resources)
    }

    /// Stages the sources of real work that the trials `left` need.
    pub(crate) fn stage_sources(
        &mut self,
        left: &[usize],
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let request = self.request;
        let plan = &request.header.plan;
        let places = StagingDirs {
            disk: request.image_dir(),
            memory: Path::new(MEMORY_DIR),
            state: request.state_dir,
        };
        let stop = || request.interrupts.load(Ordering::SeqCst) > 0;
        check_sources(plan, left, places, &stop)?;
        let numbers = workloads_of(plan, left);
        let mut dirs: Vec<PathBuf> = Vec::new();
        let in_guests = plan.contenders.iter().any(|one| one.levels.device.is_virtual());
        for source in numbers.iter().filter_map(|&number| plan.workloads[number].source.as_ref()) {
            if let (Origin::Own { path }, false, true) =
                (&source.origin, source.is_staged(), in_guests)
            {
                staged_times::read_once(path)?;
            }
            if !source.is_staged() || self.staged_sources.path_of(source).is_some() {
                continue;
            }
            progress.message(&format!("preparing {}, {}", source.file_name(), source.name));
            let dir = places.dir_for(source).join(format!("{}-stage", self.claim_name));
            if !dirs.contains(&dir) {
                self.note(Entry::Directory(dir.clone()))?;
                staged_sources::make_dir(&dir, source.place)?;
                dirs.push(dir.clone());
            }
            let path = self.staged_sources.add(source, &dir, &stop)?;
            if in_guests {
                staged_times::set(source, &path)?;
            }
        }
        // Not before all is in them: what is his he could exchange.
        let user = request.header.place.as_ref().and_then(|place| place.user);
        user.map_or(Ok(()), |user| {
            dirs.iter().try_for_each(|dir| staged_sources::give_to(dir, user))
        })
    }

    /// Claims every device level that the trials `left` need.
    pub(crate) fn claim_targets(
        &mut self,
        left: &[usize],
        progress: &mut dyn Progress,
    ) -> Result<(), RunError> {
        let plan = &self.request.header.plan;
        let levels_left = || left.iter().map(|&n| &plan.contenders[plan.schedule[n].contender]);
        // A setting that a device does not offer is told before an image is written, where a device
        // of its kind is there, and else before the first trial.
        for contender in levels_left() {
            offered_before(&contender.levels)?;
        }
        for contender in levels_left() {
            let levels = &contender.levels;
            if self.claim_of(levels).is_some() || !needs_claim(levels) {
                continue;
            }
            let claimed = self.claim(&levels.device, progress)?;
            for part in claimed.target().parts() {
                if let Some(identity) = part.identity() {
                    self.note(Entry::Claimed(identity.clone()))?;
                }
            }
            self.claims.push((ClaimKey::from_levels(levels), claimed));
        }
        for contender in levels_left() {
            self.queue_changes(&contender.levels)?;
            Self::sysctl_changes(&contender.levels)?;
        }
        Ok(())
    }

    /// What lies under the targets now and did not when `records` were made.
    pub(crate) fn changes_since(&self, plan: &RunPlan, records: &[TrialRecord]) -> Vec<String> {
        let mut found = Vec::new();
        for record in records {
            let of = |contender: &&Contender| contender.id() == record.key.contender;
            let Some(contender) = plan.contenders.iter().find(of) else { continue };
            let Some(claimed) = self.claim_of(&contender.levels) else { continue };
            for change in resume::fact_changes(&record.device, &claimed.facts()) {
                let change = format!("{}: {change}", contender.label);
                if !found.contains(&change) {
                    found.push(change);
                }
            }
        }
        found
    }

    fn claim(
        &mut self,
        level: &DeviceLevel,
        progress: &mut dyn Progress,
    ) -> Result<Claimed, RunError> {
        let name = format!("{}-{}", self.claim_name, self.claims.len());
        let vetted: Vec<Option<VettedDevice>> =
            level.parts().iter().map(|part| self.vetted(part)).collect::<Result<_, _>>()?;
        let vetted: Vec<VettedDevice> = vetted.into_iter().flatten().collect();
        let mut hooks = ClaimHooks {
            journal: &mut self.journal,
            entries: &mut self.entries,
            progress,
            name: &name,
            size_bytes: level.size_bytes().unwrap_or(0),
            interrupts: self.request.interrupts,
        };
        let mut order = claim::Order {
            name: &name,
            image_dir: self.request.image_dir(),
            memory_dir: Path::new(MEMORY_DIR),
            vetted: &vetted,
            hooks: &mut hooks,
        };
        Ok(claim::claim(level, &mut order)?)
    }

    /// The user's device of a level, vetted; nothing that this RUN writes may lie on it.
    fn vetted(&self, level: &DeviceLevel) -> Result<Option<VettedDevice>, RunError> {
        let DeviceLevel::Block { path, .. } = level else { return Ok(None) };
        let request = self.request;
        let ours = OwnPaths {
            database: &self.database,
            state_dir: request.state_dir,
            image_dir: request.image_dir(),
            age_image_dir: request.header.place.as_ref().and_then(|it| it.age_image_dir.as_deref()),
        };
        let vetted = ours.vet_block(path, request.consents)?;
        let boot_id = fsarena_metrics::boot_id(&fsarena_metrics::KernelRoots::default());
        let boot_id = boot_id.unwrap_or_default();
        let changes = resume::device_changes(request.header, path, vetted.identity(), &boot_id);
        if !changes.is_empty() {
            return Err(RunError::target(
                format!(
                    "{}: it is another device than when the RUN began: {}",
                    path.display(),
                    changes.join("; ")
                ),
                Some("look at fsarena devices, and begin a new RUN"),
            ));
        }
        Ok(Some(vetted))
    }

    /// What is to be changed in the queue of the device for a trial at these levels.
    fn queue_changes(&self, levels: &Levels) -> Result<Vec<QueueChange>, RunError> {
        let settings = factor::queue_settings(&settings_here(levels));
        let claimed = self.claim_of(levels).filter(|_| !settings.is_empty());
        let names = claimed.map(|claimed| queue::names_of(&claimed.target())).unwrap_or_default();
        let mut changes = Vec::new();
        for name in names {
            for change in queue::plan(&Roots::default(), &name, &settings)? {
                // Two parts of one disk have its queue.
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
        }
        Ok(changes)
    }

    /// What is to be changed in the kernel for a trial at these levels.
    fn sysctl_changes(levels: &Levels) -> Result<Vec<SysctlChange>, RunError> {
        Ok(sysctl::plan(Path::new(PROC_SYS), &settings_here(levels))?)
    }

    /// Sets kernel and queue of the device as a trial at these levels wants them. What is given
    /// back puts them back when it is dropped.
    pub(crate) fn tune(&mut self, levels: &Levels) -> Result<Tuned, RunError> {
        let mut tuned = Tuned::default();
        // Both stay listed: what cannot be put back after the trial is tried again at the end.
        let changes = self.queue_changes(levels)?;
        if !changes.is_empty() {
            self.note_once(Entry::Queue(changes.clone()))?;
            tuned.queue = Some(queue::apply(changes)?);
        }
        let changes = Self::sysctl_changes(levels)?;
        if !changes.is_empty() {
            self.note_once(Entry::Sysctl(changes.clone()))?;
            tuned.sysctls = Some(sysctl::apply(changes)?);
        }
        Ok(tuned)
    }

    /// The claim for these levels.
    fn claim_of(&self, levels: &Levels) -> Option<&Claimed> {
        let key = ClaimKey::from_levels(levels);
        self.claims.iter().find(|(claimed, _)| *claimed == key).map(|(_, claimed)| claimed)
    }

    /// The target for a contender with these levels.
    pub(crate) fn trial_target(&self, levels: &Levels) -> TrialTarget {
        if !needs_claim(levels) {
            let size_bytes = levels.device.size_bytes().unwrap_or(u64::MAX);
            return TrialTarget {
                target: TargetSpec::Memory { size_bytes },
                facts: BTreeMap::new(),
                notices: Vec::new(),
            };
        }
        let claimed = self.claim_of(levels).expect("every level of the schedule was claimed");
        let mut notices = claimed.notices();
        if ClaimKey::from_levels(levels).holes {
            notices.push(discard_notice());
        }
        if let TargetSpec::Directory { path } = claimed.target()
            && lacks_journal(&path)
        {
            notices.push(no_journal_notice());
        }
        TrialTarget { target: claimed.target(), facts: claimed.facts(), notices }
    }

    /// Journals the command that will undo what an external file system makes, before it makes it.
    pub(crate) fn note_destroy(&mut self, levels: &Levels) -> Result<(), RunError> {
        let Ok(driver) = fsarena_filesystems::driver(&levels.fs) else { return Ok(()) };
        let target = self.trial_target(levels).target;
        let plan = driver.mount_plan(&levels.fs, levels.discard, &target);
        let Ok(fsarena_filesystems::MountPlan::Commands { destroy: Some(command), .. }) = plan
        else {
            return Ok(());
        };
        let held = target.device().zip(target.image());
        let held = held.map(|(device, image)| (device.to_owned(), image.to_owned()));
        self.note_once(Entry::Destroy { command, held, identity: target.identity().cloned() })
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
        // While their devices are still there.
        for entry in self.entries.iter().rev().filter(|entry| matches!(entry, Entry::Queue(_))) {
            if let Err(error) = undo_entry(entry, &[]) {
                left.failed.push(error.to_string());
            }
        }
        while let Some((_, mut claimed)) = self.claims.pop() {
            let kept = if keep { kept_paths(&claimed.target()) } else { Vec::new() };
            // Without their lines in the journal they would be removed if this process died now.
            let mut note = |path: &PathBuf| self.journal.note(&Entry::Kept(path.clone()));
            match kept.iter().try_for_each(&mut note) {
                Ok(()) if kept.is_empty() => {}
                Ok(()) => {
                    claimed.keep();
                    left.kept.extend(kept);
                }
                Err(error) => left.failed.push(error.to_string()),
            }
            if let Err(errors) = claimed.release() {
                left.failed.extend(errors.iter().map(ToString::to_string));
            }
        }
        for entry in self.entries.iter().rev() {
            let kept = matches!(entry, Entry::Image(path) | Entry::Directory(path)
                if left.kept.contains(path));
            // Each trial has run the command of its own external file system and left nothing
            // frozen, and a claim has removed the device that it made.
            let is_undone = |entry: &Entry| {
                matches!(
                    entry,
                    Entry::Destroy { .. } | Entry::Device(_) | Entry::Claimed(_) | Entry::Queue(_)
                )
            };
            if kept || is_undone(entry) {
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

    /// As [`Self::note`], for what comes again with each trial.
    fn note_once(&mut self, entry: Entry) -> Result<(), RunError> {
        if self.entries.contains(&entry) { Ok(()) } else { self.note(entry) }
    }

    fn note(&mut self, entry: Entry) -> Result<(), RunError> {
        self.journal.note(&entry)?;
        self.entries.push(entry);
        Ok(())
    }
}

impl Drop for RunResources<'_> {
    /// After an error or in a panic; what fails now is left to the next start.
    fn drop(&mut self) {
        if !self.is_closed {
            self.take_down(false);
        }
    }
}

/// Settings that are in force for a trial.
#[derive(Default)]
pub(crate) struct Tuned {
    queue: Option<Applied>,
    sysctls: Option<AppliedSysctls>,
}

impl Tuned {
    /// Puts everything back.
    pub(crate) fn restore(self) -> Result<(), RunError> {
        let sysctls = self.sysctls.map_or(Ok(()), AppliedSysctls::restore);
        self.queue.map_or(Ok(()), Applied::restore)?;
        Ok(sysctls?)
    }
}

/// The settings that these levels ask of this machine: a guest sets its own.
fn settings_here(levels: &Levels) -> Vec<Setting> {
    if levels.device.is_virtual() { Vec::new() } else { factor::settings(levels) }
}

/// The settings of the kernel that these levels ask for, as they are in force now.
pub(crate) fn sysctl_facts(levels: &Levels) -> Vec<(String, String)> {
    sysctl::current(Path::new(PROC_SYS), &settings_here(levels))
}

/// Looks whether a device that is there offers the queue settings of these levels: the user's own,
/// or for an image any loop device, since all have one driver.
fn offered_before(levels: &Levels) -> Result<(), RunError> {
    let settings = factor::queue_settings(&settings_here(levels));
    if settings.is_empty() || !needs_claim(levels) {
        return Ok(());
    }
    let roots = Roots::default();
    for part in levels.device.parts() {
        let name = match part {
            DeviceLevel::Block { path, .. } => {
                inventory::identify(path, &roots).ok().map(|device| device.name)
            }
            DeviceLevel::Loop { .. } | DeviceLevel::Ram { .. } => {
                roots.sys.join("block/loop0/queue").is_dir().then(|| "loop0".to_owned())
            }
            _ => None,
        };
        if let Some(name) = name {
            queue::plan(&roots, &name, &settings)?;
        }
    }
    Ok(())
}

/// Workloads of the trials `left`, each once.
fn workloads_of(plan: &RunPlan, left: &[usize]) -> Vec<usize> {
    let mut numbers: Vec<usize> = left.iter().map(|&n| plan.schedule[n].workload).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Refuses sources of real work that the trials `left` need and that have changed, or have no room
/// next to the images.
pub(crate) fn check_sources(
    plan: &RunPlan,
    left: &[usize],
    places: StagingDirs<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), RunError> {
    let (mut disk_bytes, mut memory_bytes) = (0_u64, 0_u64);
    let mut seen: Vec<&Source> = Vec::new();
    for workload in workloads_of(plan, left).into_iter().map(|number| &plan.workloads[number]) {
        let Some(source) = &workload.source else { continue };
        if !seen.iter().any(|known| staged_sources::is_of_same(known, source)) {
            staged_sources::check_own(plan, source, places, &stop)?;
        }
        if !seen.iter().any(|known| staged_sources::is_same(known, source)) {
            let (disk, memory) = fsarena_plan::stage_bytes(workload);
            disk_bytes = disk_bytes.saturating_add(disk);
            memory_bytes = memory_bytes.saturating_add(memory);
        }
        seen.push(source);
    }
    let (on_disk, in_memory) = image_bytes(plan, left);
    staged_sources::check_room(places.disk, disk_bytes, on_disk)?;
    staged_sources::check_room(places.memory, memory_bytes, in_memory)
}

/// Refuses settings of queue and kernel that are not offered, as far as that is known before there
/// is a device.
pub(crate) fn check_tuning(levels: &Levels) -> Result<(), RunError> {
    offered_before(levels)?;
    sysctl::plan(Path::new(PROC_SYS), &settings_here(levels))?;
    Ok(())
}

pub(crate) fn needs_claim(levels: &Levels) -> bool {
    let place =
        fsarena_filesystems::driver(&levels.fs).map_or(Backing::Block, |driver| driver.backing());
    matches!(place, Backing::Block | Backing::Directory)
}

/// Bytes of the images that trials `left` will have next to the stage, on the disk and in memory.
pub(crate) fn image_bytes(plan: &RunPlan, left: &[usize]) -> (u64, u64) {
    let mut known: Vec<ClaimKey> = Vec::new();
    let (mut disk_bytes, mut memory_bytes) = (0_u64, 0_u64);
    for &number in left {
        let levels = &plan.contenders[plan.schedule[number].contender].levels;
        let key = ClaimKey::from_levels(levels);
        if !needs_claim(levels) || known.contains(&key) {
            continue;
        }
        known.push(key);
        for part in levels.device.parts() {
            match part {
                DeviceLevel::Loop { size_bytes } => {
                    disk_bytes = disk_bytes.saturating_add(*size_bytes);
                }
                DeviceLevel::Ram { size_bytes } => {
                    memory_bytes = memory_bytes.saturating_add(*size_bytes);
                }
                _ => {}
            }
        }
    }
    (disk_bytes, memory_bytes)
}

/// Whether `path` is on an ext4 (or ext2 served by it) without a journal.
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
    let text = "the directory is on an ext4 without a journal, which does not reuse inodes that \
                were deleted in the last minutes: creating gets slower from trial to trial";
    let remedy = "as root, use --on loop:SIZE, or a directory elsewhere";
    Notice::new("directory-without-journal", text, Some(remedy))
}

fn discard_notice() -> Notice {
    let text = "contenders that discard share an image of their own, which has the holes that \
                earlier trials made in it";
    Notice::new("discarded-image", text, None)
}

/// What is left behind of a target with `--keep`, of each of its devices.
fn kept_paths(target: &TargetSpec) -> Vec<PathBuf> {
    let of_part = |part: &TargetSpec| match part {
        TargetSpec::Block { device, under, .. } => match under {
            Under::Image { image, .. } => Some(image.clone()),
            Under::Made { .. } | Under::Modelled { .. } | Under::Real { .. } => {
                Some(device.clone())
            }
            // It is gone with its guest.
            Under::Guest { .. } => None,
        },
        TargetSpec::Memory { .. } | TargetSpec::Directory { .. } => None,
    };
    match target {
        TargetSpec::Directory { path } => vec![path.clone()],
        _ => target.parts().iter().filter_map(of_part).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal;
    use fsarena_crash_runs::kept_states::KeptStates;
    use fsarena_process::program::TrustedProgram;
    use fsarena_testkit::records;

    /// A setting that cannot be put back now is not forgotten: the journal stays for a later start.
    #[test]
    fn what_cannot_be_put_back_stays_in_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let queue = dir.path().join("block/loop0/queue");
        std::fs::create_dir_all(&queue).unwrap();
        // Can be read, and cannot be written.
        let file = queue.join("read_ahead_kb");
        std::os::unix::fs::symlink("/proc/sys/kernel/ostype", &file).unwrap();
        let change = QueueChange {
            file,
            original: "128".to_owned(),
            ours: Some("Linux".to_owned()),
            diskseq: None,
        };
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::big_file()], 1);
        let state_dir = dir.path().join("state");
        let request = Request {
            header: &header,
            resumed: None,
            program: &TrustedProgram::own(),
            state_dir: &state_dir,
            consents: &[],
            hosts: &[],
            crash_states: &KeptStates::new(dir.path().join("crash-states")),
            keep: false,
            clock: fsarena_metrics::WallClock::set_now(),
            i386_usr: None,
            expected_ns: &std::collections::BTreeMap::new(),
            interrupts: &AtomicUsize::new(0),
        };
        let owner = fsarena_store::Owner { pid: 1, start_ticks: 2, boot_id: "b".to_owned() };
        let mut resources = RunResources::open(&request, Path::new("a.db"), &owner).unwrap();
        for _ in 0..3 {
            resources.note_once(Entry::Queue(vec![change.clone()])).unwrap();
        }
        let left = resources.close(false, &mut |_| {});
        assert_eq!(left.failed.len(), 1, "{:?}", left.failed);
        // A process that another test starts has a copy of the journal's lock until it executes.
        let mut orphans = Vec::new();
        for _ in 0..200 {
            orphans = journal::orphans(&state_dir, &mut Vec::new()).unwrap();
            if !orphans.is_empty() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(orphans.len(), 1);
        let orphan = orphans.remove(0);
        let queues = orphan.entries.iter().filter(|entry| matches!(entry, Entry::Queue(_)));
        assert_eq!(queues.count(), 1, "once for all trials");
        assert!(orphan.owner().unwrap().database.is_absolute());
    }
}
