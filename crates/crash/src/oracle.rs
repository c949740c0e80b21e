//! The oracle: holds what was seen after a crash against the op journal and what is promised.
//!
//! It calls a violation only what a promise forbids: of the contract (fsync and rename), and of
//! those documented promises that the caller states. Everything else is counted. On an honest disk
//! it must find no violation of the contract, however the file system orders what is not synced.

use crate::file::{AppendTail, Fate, FileAtCrash, SectorRun};
use crate::findings::{
    AppendTails, Findings, LossWindow, ReplaceDamage, ReplacedTargets, StrayBytes, Violation,
};
use crate::history::{FileHistory, History, HistoryError};
use crate::observation::{MountStep, Observation, ObservedFile};
use crate::op::Op;
use crate::promise::{Promise, Promises};
use crate::stamp::{SECTOR, Sector, Stamp};
use crate::state::CrashState;
use crate::workload::{file_of, identity, is_prefill, path};
use std::collections::BTreeMap;

/// What is known about a run: its ops and what is promised. Made once for all states of the run.
#[derive(Debug)]
pub struct Oracle {
    history: History,
    promises: Promises,
}

impl Oracle {
    /// `seed`: of the plan, as it is in the stamps.
    ///
    /// # Errors
    /// An op that cannot be.
    pub fn new(ops: &[Op], seed: u64, promises: Promises) -> Result<Self, HistoryError> {
        Ok(Self { history: History::new(ops, seed)?, promises })
    }

    /// What is found in a state. `seen` may be of another state with the same contents.
    #[must_use]
    pub fn judge(&self, state: &CrashState, seen: &Observation) -> Findings {
        let mut judgement = Judgement {
            at_ns: state.at_ns,
            promises: self.promises,
            findings: unjudged(state, seen),
            earliest_lost_end_ns: u64::MAX,
            latest_survived_begin_ns: 0,
        };
        let mut names: BTreeMap<u32, &ObservedFile> = BTreeMap::new();
        for file in &seen.files {
            match file_of(&file.path) {
                Some(named) if named.is_temporary => {
                    self.stray(&mut judgement, identity(named.file), file);
                }
                Some(named) => {
                    // A second one: it is there under both of its names.
                    let other = names.insert(identity(named.file), file);
                    judgement.findings.unknown_files += u32::from(other.is_some());
                }
                None => judgement.findings.unknown_files += 1,
            }
        }
        let is_mounted = seen.mounted().is_some();
        for (file, history) in &self.history.files {
            if history.failed_ns.is_some_and(|failed_ns| failed_ns <= state.at_ns) {
                judgement.findings.not_judged_files += 1;
                names.remove(file);
                continue;
            }
            let stamp = Stamp { seed: self.history.seed, file: *file, version: 0 };
            let found = names.remove(file);
            let at_crash = FileAtCrash::new(history, stamp, state.at_ns, found);
            judgement.file(*file, &at_crash, is_mounted);
            if let Some(found) = found {
                judgement.stray(*file, found, |sector, at| at_crash.is_stale(sector, at));
            }
        }
        // Names of which the journal knows nothing.
        judgement.findings.unknown_files += names.len() as u32;
        judgement.whole(seen);
        judgement.findings
    }

    /// What was found of a file of the workload, sector by sector, beside what may be there. Empty
    /// where there is no such file.
    #[must_use]
    pub fn sectors(&self, state: &CrashState, seen: &Observation, path: &str) -> Vec<SectorRun> {
        let Some(named) = file_of(path).filter(|named| !named.is_temporary) else {
            return Vec::new();
        };
        let file = identity(named.file);
        let Some(history) = self.history.files.get(&file) else { return Vec::new() };
        let stamp = Stamp { seed: self.history.seed, file, version: 0 };
        let found = seen.files.iter().find(|file| file.path == path);
        FileAtCrash::new(history, stamp, state.at_ns, found).sector_runs()
    }

    /// A temporary file: any version of the file that it was to become is in its place.
    fn stray(&self, judgement: &mut Judgement, file: u32, seen: &ObservedFile) {
        let seed = self.history.seed;
        let known = self.history.files.get(&file).map(|it: &FileHistory| &it.generation_of);
        judgement.stray(file, seen, |sector, at| match sector {
            Sector::Stamp { stamp, sector, .. } => {
                let is_known = known.is_some_and(|known| known.contains_key(&stamp.version));
                (stamp.seed, stamp.file, *sector) != (seed, file, at) || !is_known
            }
            _ => false,
        });
    }
}

/// Findings before any file is looked at.
fn unjudged(state: &CrashState, seen: &Observation) -> Findings {
    Findings {
        at_ns: state.at_ns,
        class: state.class,
        sampling: state.sampling,
        violations: Vec::new(),
        acknowledged_files: 0,
        acknowledged_files_lost: 0,
        acknowledged_loss_ns: None,
        loss_window: LossWindow::default(),
        lost_bytes: 0,
        lost_names: 0,
        lost_names_of_synced_files: 0,
        replaced: ReplacedTargets::default(),
        appended: AppendTails::default(),
        stray: StrayBytes::default(),
        is_prefix: true,
        mounted: seen.mounted(),
        mount_ns: seen.mount().filter(|_| !seen.is_untimed).map(|mount| mount.duration_ns),
        replay_failed: seen.replay_failed,
        needs_repair: seen.fsck.map(|fsck| !fsck.is_clean),
        is_usable: seen.is_usable,
        lost_and_found: seen.lost_and_found,
        kernel_messages: seen.kernel_messages.len() as u32,
        unknown_files: 0,
        not_judged_files: 0,
        later_files: 0,
    }
}

/// A state while it is judged.
struct Judgement {
    at_ns: u64,
    promises: Promises,
    findings: Findings,
    earliest_lost_end_ns: u64,
    latest_survived_begin_ns: u64,
}

impl Judgement {
    fn violation(&mut self, promise: Promise, file: u32, op: Option<u32>, found: String) {
        self.findings.violations.push(Violation { promise, path: path(file), op, found });
    }

    /// `is_mounted`: otherwise the one violation is that nothing can be reached.
    fn file(&mut self, file: u32, at_crash: &FileAtCrash<'_>, is_mounted: bool) {
        if at_crash.is_later() {
            self.findings.later_files += 1;
        }
        let broken = at_crash.broken();
        // One that was deleted before the work may be there or not, which is no check.
        let is_checked = at_crash.has_acknowledged() && !is_prefill(file);
        self.findings.acknowledged_files += u32::from(is_checked || broken.is_some());
        self.findings.acknowledged_files_lost += u32::from(broken.is_some());
        let promised = broken.as_ref().map(|broken| broken.step);
        self.fates(at_crash, promised);
        if let Some(broken) = broken.filter(|_| is_mounted) {
            let op = at_crash.op(broken.step);
            self.violation(broken.promise, file, op, at_crash.words());
        }
        self.findings.lost_bytes += at_crash.lost_bytes();
        if at_crash.is_name_lost() {
            self.findings.lost_names += 1;
            let was_synced = at_crash.was_synced() && promised.is_none();
            self.findings.lost_names_of_synced_files += u32::from(was_synced);
        }
        if is_mounted {
            self.replaced(file, at_crash);
            let tails = &mut self.findings.appended;
            match at_crash.append_tail() {
                None => {}
                Some(AppendTail::Whole) => tails.whole += 1,
                Some(AppendTail::Prefix) => tails.prefix += 1,
                Some(AppendTail::Zeros) => tails.zeros += 1,
                Some(AppendTail::Stale) => tails.stale += 1,
                Some(AppendTail::Absent) => tails.absent += 1,
            }
        }
    }

    /// Ops up to place `promised` were not to be lost.
    fn fates(&mut self, at_crash: &FileAtCrash<'_>, promised: Option<usize>) {
        let fates = at_crash.fates();
        for (at, (step, fate)) in at_crash.acknowledged().iter().zip(fates).enumerate() {
            let (data, metadata) = match fate {
                Fate::Superseded => continue,
                Fate::Survived => {
                    let begin_ns = self.latest_survived_begin_ns.max(step.begin_ns);
                    self.latest_survived_begin_ns = begin_ns;
                    continue;
                }
                Fate::LostData => (true, false),
                Fate::LostMetadata { with_data } => (with_data, true),
            };
            self.earliest_lost_end_ns = self.earliest_lost_end_ns.min(step.end_ns);
            let window_ns = self.at_ns - step.end_ns;
            if promised.is_some_and(|promised| at <= promised) {
                let known_ns = self.findings.acknowledged_loss_ns.unwrap_or(0);
                self.findings.acknowledged_loss_ns = Some(known_ns.max(window_ns));
                continue;
            }
            let window = &mut self.findings.loss_window;
            if data {
                window.data_ns = window.data_ns.max(window_ns);
            }
            if metadata {
                window.metadata_ns = window.metadata_ns.max(window_ns);
            }
        }
        // A promise can be broken by what is there too much, and then no op is lost.
        if let Some(step) = promised.and_then(|at| at_crash.acknowledged().get(at)) {
            let known_ns = self.findings.acknowledged_loss_ns.unwrap_or(0);
            self.findings.acknowledged_loss_ns = Some(known_ns.max(self.at_ns - step.end_ns));
        }
    }

    fn replaced(&mut self, file: u32, at_crash: &FileAtCrash<'_>) {
        let Some(damage) = at_crash.replace_damage() else { return };
        self.findings.replaced.count(damage);
        let promise = match damage {
            ReplaceDamage::Whole => return,
            ReplaceDamage::Absent => Promise::ReplaceKeepsTheName,
            _ => Promise::ReplaceIsWhole,
        };
        let is_promised = match promise {
            Promise::ReplaceKeepsTheName => self.promises.replace_keeps_the_name,
            _ => self.promises.replace_is_whole,
        };
        if is_promised {
            self.violation(promise, file, at_crash.last_replace(), at_crash.words());
        }
    }

    /// Counts bytes that do not belong to a file.
    fn stray(&mut self, file: u32, seen: &ObservedFile, is_stale: impl Fn(&Sector, u32) -> bool) {
        let (mut stale, mut of_prefill, mut foreign) = (0, 0, 0);
        let mut from: u64 = 0;
        for run in seen.contents.as_slice() {
            let end = from.saturating_add(u64::from(run.sectors) * SECTOR as u64);
            let bytes = end.min(seen.size_bytes).saturating_sub(from);
            let at = u32::try_from(from / SECTOR as u64).unwrap_or(u32::MAX);
            if run.first == Sector::Foreign {
                foreign += bytes;
            } else if is_stale(&run.first, at) {
                stale += bytes;
                if run.first.stamp().is_some_and(|stamp| is_prefill(stamp.file)) {
                    of_prefill += bytes;
                }
            }
            from = end;
        }
        let stray = &mut self.findings.stray;
        stray.stale_files += u32::from(stale > 0);
        stray.stale_bytes += stale;
        stray.of_prefill_bytes += of_prefill;
        stray.foreign_files += u32::from(foreign > 0);
        stray.foreign_bytes += foreign;
        if stale > 0 && self.promises.no_stale_bytes {
            let found = format!("{stale} bytes of other files, places or inodes in {}", seen.path);
            self.violation(Promise::NoStaleBytes, file, None, found);
        }
    }

    /// What is said of the file system as a whole.
    fn whole(&mut self, seen: &Observation) {
        self.findings.is_prefix = self.latest_survived_begin_ns < self.earliest_lost_end_ns;
        let mounted = seen.mounted();
        let errno = seen.mounts.last().and_then(|mount| mount.errno).unwrap_or(0);
        if mounted.is_none() && self.findings.acknowledged_files > 0 {
            let found = format!("it cannot be mounted in any way: errno {errno} at last");
            let promise = Promise::Reachable;
            self.findings.violations.push(Violation { promise, path: None, op: None, found });
        }
        if mounted != Some(MountStep::ReadWrite) && self.promises.mounts_without_repair {
            let first = seen.mounts.iter().find_map(|mount| mount.errno).unwrap_or(0);
            let found = format!("it cannot be mounted as it was: errno {first}");
            let promise = Promise::MountsWithoutRepair;
            self.findings.violations.push(Violation { promise, path: None, op: None, found });
        }
    }
}

#[cfg(test)]
mod tests;
