//! Sequences of file operations in guests, and looks at what power cuts leave of each.
//!
//! Eight file systems are made once; every guest that carries out sequences gets
//! copies of them, one for each sequence, and logs their writes. A crash state is a view of one
//! log, and is looked at in another guest, as in [`crash_run`](crate::crash_run).

use crate::crash_check::is_doubtful;
use crate::crash_run::{
    CrashRunError, inspect_states, limit_of_each, not_survived, only, run_task,
};
use crate::state_groups::{GroupCheck, InspectedStates, STATES_MOST};
use fsarena_crash::observation::Observation;
use fsarena_crash::sequence::op::FileOp;
use fsarena_crash::sequence::states::{at_every_entry, at_returns};
use fsarena_crash::sequence::tree::{SequenceRecord, TreeObservation};
use fsarena_crash::state::{Class, CrashState, EventStates, per_event, view};
use fsarena_disk_server::{Disk, DiskOrder, DiskOrderError, ModelledDisk, disk_of_states};
use fsarena_executor::crash::{CrashTask, FormatTask, SequenceCheck, SequenceWork};
use fsarena_guests::guest::{GuestOptions, Program};
use fsarena_model::contender::FsLevel;
use fsarena_model::seed::Seed;
use fsarena_vdisk::{Discarded, Store, WriteLog};
use std::collections::HashMap;
use std::sync::Mutex;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct SequenceOrder<'a> {
    pub fs: &'a FsLevel,
    pub disk: DiskOrder<'a>,
    pub options: &'a GuestOptions,
    pub program: &'a Program,
    /// Of disks and guests.
    pub seed: u64,
    pub guests_at_once: usize,
    /// Sequences that one guest carries out: so many file systems are made.
    pub sequences_of_guest: usize,
}

/// At which moments the power goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrashMoments {
    /// When a persistence point has returned.
    Returns,
    /// At every write, flush and discard of the sequence.
    EveryEntry,
    /// The same after so many operations, with parts of the open writes; at most so many states,
    /// of which those of the parts are drawn.
    Parts { after_ops: usize, states_most: usize, seed: u64 },
}

/// A sequence, and the moments at which the power goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SequenceJob {
    pub ops: Vec<FileOp>,
    pub moments: CrashMoments,
}

/// What came of a sequence.
#[derive(Debug)]
pub struct SequenceRun {
    pub record: SequenceRecord,
    /// Each with the place of its observation: states with equal contents have one.
    states: Vec<(CrashState, usize)>,
    observations: Vec<TreeObservation>,
}

impl SequenceRun {
    /// The states, each with what was seen in it.
    pub fn observed(&self) -> impl Iterator<Item = (&CrashState, &TreeObservation)> {
        self.states.iter().map(|(state, place)| (state, &self.observations[*place]))
    }
}

/// Called with the number of a job and what came of it.
pub type TakeRun<'a> = dyn Fn(usize, Result<SequenceRun, CrashRunError>) + Sync + 'a;

/// Carries out all jobs, and looks at their states. `take` gets each job once, in any order and
/// from several threads, with why it could not be done where its guest did not survive it.
///
/// # Errors
/// Where no file system could be made; when it was stopped.
pub fn run_sequences(
    order: &SequenceOrder<'_>,
    jobs: &[SequenceJob],
    stop: &(dyn Fn() -> bool + Sync),
    take: &TakeRun<'_>,
) -> Result<(), CrashRunError> {
    let host = SequenceLab { order, stop };
    let of_guest = order.sequences_of_guest.max(1);
    let bases = host.make_file_systems(jobs.len().min(of_guest))?;
    let groups: Vec<(usize, &[SequenceJob])> =
        jobs.chunks(of_guest).enumerate().map(|(at, jobs)| (at * of_guest, jobs)).collect();
    let next = Mutex::new(0..groups.len());
    let stopped = Mutex::new(None);
    std::thread::scope(|scope| {
        for cpu_index in 0..order.guests_at_once.max(1) {
            let (host, bases, groups, next, stopped) = (&host, &bases, &groups, &next, &stopped);
            scope.spawn(move || {
                fsarena_process::processor::keep_to_one_processor(cpu_index);
                loop {
                    let taken = next.lock().ok().and_then(|mut next| next.next());
                    let Some(number) = taken else { return };
                    let (first, jobs) = groups[number];
                    if let Err(error) = host.group(bases, first, jobs, take) {
                        if let Ok(mut stopped) = stopped.lock() {
                            stopped.get_or_insert(error);
                        }
                        return;
                    }
                }
            });
        }
    });
    let stopped = stopped.into_inner().unwrap_or_default();
    stopped.map_or(Ok(()), Err)
}

struct SequenceLab<'a> {
    order: &'a SequenceOrder<'a>,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl SequenceLab<'_> {
    fn run<T: serde::de::DeserializeOwned>(
        &self,
        options: &GuestOptions,
        task: &CrashTask,
        disks: &mut [&mut dyn Disk],
    ) -> Result<T, CrashRunError> {
        let text = run_task(options, self.order.program, task, disks, self.stop)?;
        Ok(serde_json::from_str(&text)?)
    }

    fn options(&self) -> GuestOptions {
        GuestOptions { seed: self.order.seed, ..self.order.options.clone() }
    }

    /// So many file systems, each made in a guest with other random numbers, so that it has an
    /// identity of its own.
    fn make_file_systems(&self, disks: usize) -> Result<Vec<Store>, CrashRunError> {
        let DiskOrder { size_bytes, .. } = self.order.disk;
        let task = CrashTask::Format(FormatTask { fs: self.order.fs.clone(), size_bytes });
        let mut made = Vec::with_capacity(disks);
        for number in 0..disks as u64 {
            let mut disk = self.order.disk.make(self.order.seed)?;
            let seed = self.order.seed.wrapping_add(number);
            self.run::<()>(&GuestOptions { seed, ..self.options() }, &task, &mut [&mut disk])?;
            made.push(disk.into_contents().0);
        }
        Ok(made)
    }

    /// Sequences in one guest; where it does not survive them, each in a guest of its own.
    fn group(
        &self,
        bases: &[Store],
        first: usize,
        jobs: &[SequenceJob],
        take: &TakeRun<'_>,
    ) -> Result<(), CrashRunError> {
        match self.record(bases, jobs) {
            Ok(recorded) => self.look_at(bases, first, jobs, recorded, take),
            Err(error) if error.is_stop() => Err(error),
            Err(error) if jobs.len() == 1 => {
                take(first, Err(error));
                Ok(())
            }
            Err(_) => {
                for (at, job) in jobs.iter().enumerate() {
                    self.group(bases, first + at, std::slice::from_ref(job), take)?;
                }
                Ok(())
            }
        }
    }

    /// Carries out sequences, one on each disk.
    fn record(
        &self,
        bases: &[Store],
        jobs: &[SequenceJob],
    ) -> Result<Vec<(SequenceRecord, WriteLog)>, CrashRunError> {
        let task = CrashTask::Sequences(SequenceWork {
            fs: self.order.fs.clone(),
            size_bytes: self.order.disk.size_bytes,
            sequences: jobs.iter().map(|job| job.ops.clone()).collect(),
        });
        let copies: Result<Vec<ModelledDisk>, CrashRunError> =
            bases.iter().take(jobs.len()).map(|base| self.copy_of(base)).collect();
        let mut disks = copies?;
        let mut all: Vec<&mut dyn Disk> =
            disks.iter_mut().map(|disk| disk as &mut dyn Disk).collect();
        let records: Vec<SequenceRecord> = self.run(&self.options(), &task, &mut all)?;
        if records.len() != jobs.len() {
            return Err(CrashRunError::Missing { asked: jobs.len(), seen: records.len() });
        }
        let logs = disks.into_iter().filter_map(|disk| disk.into_contents().1);
        Ok(records.into_iter().zip(logs).collect())
    }

    fn copy_of(&self, base: &Store) -> Result<ModelledDisk, CrashRunError> {
        let mut copy = Store::in_memory(self.order.disk.size_bytes, Discarded::Zeros);
        base.copy_to(&mut copy).map_err(DiskOrderError::from)?;
        let device = self.order.disk.device(self.order.seed)?;
        Ok(ModelledDisk::new(device, copy, Some(WriteLog::in_memory())))
    }

    /// States of all, those with equal contents once.
    fn look_at(
        &self,
        bases: &[Store],
        first: usize,
        jobs: &[SequenceJob],
        recorded: Vec<(SequenceRecord, WriteLog)>,
        take: &TakeRun<'_>,
    ) -> Result<(), CrashRunError> {
        let mut runs: Vec<Vec<(CrashState, usize)>> = Vec::new();
        let mut different: Vec<(usize, CrashState)> = Vec::new();
        let mut first_of = Vec::new();
        for (disk, (job, (record, log))) in jobs.iter().zip(&recorded).enumerate() {
            let begin = different.len();
            first_of.push(begin);
            let mut place_of: HashMap<u64, usize> = HashMap::new();
            let states = states_of(job, record, log).into_iter().map(|state| {
                let place = *place_of.entry(state.contents).or_insert_with(|| {
                    different.push((disk, state.clone()));
                    different.len() - 1 - begin
                });
                (state, place)
            });
            runs.push(states.collect());
        }
        let mut observations = Vec::with_capacity(different.len());
        for group in different.chunks(STATES_MOST) {
            observations.extend(self.check_group(bases, &recorded, group)?);
        }
        let mut observations = observations.into_iter();
        for (at, ((record, _), states)) in recorded.into_iter().zip(runs).enumerate() {
            let end = first_of.get(at + 1).copied().unwrap_or(different.len());
            let own: Vec<TreeObservation> =
                observations.by_ref().take(end - first_of[at]).collect();
            take(first + at, Ok(SequenceRun { record, states, observations: own }));
        }
        Ok(())
    }

    /// A look at a group, and alone at those again that could not be mounted or unmounted, which
    /// rules out what other states have done.
    fn check_group(
        &self,
        bases: &[Store],
        recorded: &[(SequenceRecord, WriteLog)],
        group: &[(usize, CrashState)],
    ) -> Result<Vec<TreeObservation>, CrashRunError> {
        let check = GroupCheck {
            together: &|group: &[(usize, CrashState)]| self.check(bases, recorded, group),
            alone: &|one| self.check_one(bases, recorded, one),
            is_doubtful: &|seen: &TreeObservation| {
                is_doubtful(&seen.whole.mounts, seen.whole.unmount_errno)
            },
            is_other: &|error: &CrashRunError| error.is_of_no_state(),
        };
        check.run(group)
    }

    /// A guest that does not survive it is what was seen.
    fn check_one(
        &self,
        bases: &[Store],
        recorded: &[(SequenceRecord, WriteLog)],
        one: &(usize, CrashState),
    ) -> Result<TreeObservation, CrashRunError> {
        only(self.check(bases, recorded, std::slice::from_ref(one)), |error| {
            let (mounts, kernel_messages) = not_survived(error);
            let whole = Observation { mounts, kernel_messages, ..Observation::default() };
            TreeObservation { whole, entries: Vec::new() }
        })
    }

    fn check(
        &self,
        bases: &[Store],
        recorded: &[(SequenceRecord, WriteLog)],
        group: &[(usize, CrashState)],
    ) -> InspectedStates<TreeObservation, CrashRunError> {
        let size_bytes = self.order.disk.size_bytes;
        // Those of one sequence are together.
        let of_disks = group.chunk_by(|(one, _), (other, _)| one == other);
        let task = CrashTask::Trees(SequenceCheck {
            fs: self.order.fs.clone(),
            size_bytes,
            contents: of_disks
                .clone()
                .map(|states| u32::try_from(states.len()).unwrap_or(0))
                .collect(),
        });
        let disks = of_disks.filter_map(|states| {
            let ((disk, first), later) = states.split_first()?;
            let (base, (_, log)) = (&bases[*disk], &recorded[*disk]);
            let later = later.iter().map(|(_, state)| Ok(view(base, log, state)));
            Some(disk_of_states(view(base, log, first), Box::new(later), (base, log)))
        });
        let mut disks: Vec<_> = disks.collect();
        let mut disks: Vec<&mut dyn Disk> = disks.iter_mut().map(|disk| &mut **disk as _).collect();
        let limit = limit_of_each(self.order.options, group.len());
        let options = GuestOptions { limit, clears_memory: false, ..self.options() };
        inspect_states(&options, self.order.program, &task, &mut disks, self.stop)
    }
}

fn states_of(job: &SequenceJob, record: &SequenceRecord, log: &WriteLog) -> Vec<CrashState> {
    let ended = record.ops.iter().zip(&job.ops).take(record.done());
    let end_ns = record.ops.last().map_or(record.begin_ns, |op| op.end_ns + 1);
    match job.moments {
        CrashMoments::Returns => {
            let persisted = ended.filter(|(_, op)| op.persists());
            let returns_ns: Vec<u64> = persisted.map(|(times, _)| times.end_ns).collect();
            at_returns(log, &returns_ns)
        }
        CrashMoments::EveryEntry => at_every_entry(log, record.begin_ns, end_ns),
        CrashMoments::Parts { after_ops, states_most, seed } => {
            let prepared = after_ops.checked_sub(1).and_then(|at| record.ops.get(at));
            let from_ns = prepared.map_or(record.begin_ns, |op| op.end_ns);
            let last = log.entries().partition_point(|entry| entry.completed_ns <= end_ns);
            let bounds = EventStates { samples: 4, singles: 4, seed };
            let mut states = per_event(log, &bounds);
            states.retain(|state| {
                let is_asked = !matches!(state.class, Class::Torn | Class::KeepOne);
                is_asked && state.at_ns > from_ns && state.count as usize <= last
            });
            let is_whole =
                |state: &CrashState| matches!(state.class, Class::Prefix | Class::Dropall);
            let (mut whole, mut parts): (Vec<_>, Vec<_>) = states.into_iter().partition(is_whole);
            Seed::from_number(seed).child("parts", 0).rng().shuffle(&mut parts);
            parts.truncate(states_most.saturating_sub(whole.len()));
            whole.append(&mut parts);
            whole
        }
    }
}
