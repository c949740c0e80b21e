//! Crash states of a run that break a promise, and which of them are kept.

use crate::crash_run::CrashRun;
use crate::job::CrashJob;
use crate::kept_states::{KeptError, KeptState, KeptStates, SharedFiles};
use fsarena_crash::Findings;
use fsarena_crash::hunted::Complexity;
use fsarena_crash::promise::{PromiseClass, Promises};
use fsarena_crash::record::{CrashRecord, RECOVERY_SUFFIX};
use fsarena_crash::state::{Class, CrashState, Survivors};
use fsarena_model::contender::DeviceLevel;
use fsarena_vdisk::WriteLog;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// A run and its judgement.
pub(crate) struct DoneRun<'a> {
    pub(crate) job: &'a CrashJob<'a>,
    pub(crate) ran: &'a CrashRun,
    pub(crate) record: &'a CrashRecord,
    pub(crate) promises: Promises,
}

/// A state that breaks a promise.
#[derive(Clone, Copy)]
pub(crate) struct ViolatingState<'c> {
    pub(crate) state: &'c CrashState,
    /// A second power cut in what recovery wrote.
    pub(crate) recovery: Option<(&'c WriteLog, &'c CrashState)>,
    pub(crate) found: &'c Findings,
}

impl DoneRun<'_> {
    /// The states that break a promise, in the order of their times.
    pub(crate) fn candidates(&self) -> Vec<ViolatingState<'_>> {
        let observed = self.ran.observed().zip(&self.record.findings);
        let of_work =
            observed.map(|((state, _), found)| ViolatingState { state, recovery: None, found });
        let recovered = self.ran.recoveries.iter().zip(&self.record.recovered);
        let recovered = recovered.map(|(one, found)| ViolatingState {
            state: &one.state,
            recovery: Some((&one.log, &one.cut)),
            found,
        });
        let all = of_work.chain(recovered);
        all.filter(|one| self.is_broken(one.found)).collect()
    }

    /// What a disk that is not honest breaks is what was promised of it alone.
    fn is_broken(&self, found: &Findings) -> bool {
        let is_honest = self.record.disk_fault.is_none() && !found.class.is_lying();
        found.breaks(PromiseClass::Contract) || is_honest && !found.violations.is_empty()
    }
}

impl ViolatingState<'_> {
    /// Class of the state, as tables call it.
    pub(crate) fn class(&self) -> String {
        let suffix = if self.recovery.is_some() { RECOVERY_SUFFIX } else { "" };
        format!("{}{suffix}", self.state.class.name())
    }

    /// Simple cases first: by class, by how much the state says of single writes, by time.
    pub(crate) fn complexity(&self) -> Complexity {
        let class = match self.state.class {
            Class::Prefix => 0,
            Class::Dropall | Class::Lying { .. } => 1,
            Class::DropOne => 2,
            Class::KeepOne => 3,
            Class::Torn => 4,
            Class::Subset => 5,
        };
        let named = match &self.state.survivors {
            Survivors::All | Survivors::None => 0,
            Survivors::Only(entries) | Survivors::AllBut(entries) => entries.len(),
        };
        let named = named + self.state.in_flight.len();
        (self.recovery.is_some(), class, named, self.state.at_ns)
    }
}

/// Keeps states, so many of each contender, workload and class.
pub struct ViolationArchive {
    states: KeptStates,
    most: u32,
    /// Release of the kernel of this machine.
    kernel_release: String,
    kept: RefCell<BTreeMap<[String; 3], Vec<String>>>,
}

impl ViolationArchive {
    /// Of `states`, at most so many of each.
    #[must_use]
    pub fn with_most(states: KeptStates, most: u32, kernel_release: &str) -> Self {
        let kernel_release = kernel_release.to_owned();
        Self { states, most, kernel_release, kept: RefCell::default() }
    }

    /// Keeps the first ones of these states; gives the names of those that were kept by class and
    /// by the contents of the state. That one cannot be kept is said and no error.
    pub(crate) fn keep(
        &self,
        done: &DoneRun<'_>,
        candidates: &[ViolatingState<'_>],
    ) -> BTreeMap<(String, u64), String> {
        let mut names = BTreeMap::new();
        let mut shared = SharedFiles::default();
        for one in candidates {
            let (contender, workload) = (&done.job.contender().label, done.job.workload());
            let key = [contender.clone(), workload.to_owned(), one.class()];
            let mut kept = self.kept.borrow_mut();
            let kept = kept.entry(key).or_default();
            if kept.len() >= self.most as usize {
                continue;
            }
            match self.keep_one(done, one, &mut shared) {
                Ok(Some(name)) => {
                    if !kept.contains(&name) {
                        kept.push(name.clone());
                    }
                    names.insert((one.class(), one.state.contents), name);
                }
                Ok(None) => {}
                Err(error) => {
                    (done.job.say)(format!("mind: a state was not kept: {error}"));
                    return names;
                }
            }
        }
        names
    }

    fn keep_one(
        &self,
        done: &DoneRun<'_>,
        one: &ViolatingState<'_>,
        shared: &mut SharedFiles,
    ) -> Result<Option<String>, KeptError> {
        let DoneRun { job, ran, record, promises } = done;
        let levels = &job.contender().levels;
        let (size_bytes, model, kernel, syscall_ns) = match &levels.device {
            DeviceLevel::Virtual { size_bytes, model, kernel, syscall_ns } => {
                (*size_bytes, model, kernel.clone(), *syscall_ns)
            }
            DeviceLevel::Vdisk { size_bytes, model } => {
                (*size_bytes, model, self.kernel_release.clone(), 0)
            }
            _ => return Ok(None),
        };
        let state = KeptState {
            format: 0,
            id: String::new(),
            kept_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()),
            contender: levels.fs.to_string(),
            fs: levels.fs.clone(),
            model: model.clone(),
            size_bytes,
            syscall_ns,
            kernel,
            kernel_file: job.kernel_file(),
            is_native: !levels.device.is_virtual(),
            workload: job.workload().to_owned(),
            class: one.class(),
            seed: job.seed(),
            after_ns: one.state.at_ns.saturating_sub(ran.work.begin_ns),
            mount_options: ran.work.mount_options.clone(),
            disk_fault: disk_fault(record, one.state.class),
            promises: *promises,
            violations: one.found.violations.clone(),
            state: one.state.clone(),
            cut: one.recovery.map(|(_, cut)| cut.clone()),
        };
        let contents = (&ran.log, &ran.work.ops[..], one.recovery.map(|(log, _)| log));
        self.states.keep(state, contents, shared).map(Some)
    }

    /// What was kept, in words; `None`: nothing.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let kept = self.kept.borrow();
        let names: Vec<&str> = kept.values().flatten().map(String::as_str).collect();
        let (first, count, dir) = (names.first()?, names.len(), self.states.dir().display());
        Some(format!("kept {count} crash states in {dir}: fsarena crash show {first}"))
    }
}

fn disk_fault(record: &CrashRecord, class: Class) -> Option<String> {
    let lies =
        || class.is_lying().then(|| "the disk reported flushes and kept the data".to_owned());
    record.disk_fault.clone().or_else(lies)
}
