//! A crash run of sequences, or of litmus programs: a part of those of the plan, each on a file
//! system of its own.

use crate::crash_run::CrashRunError;
use crate::job::{CrashJob, CrashJobError, LIMIT, guests_at_once};
use crate::kind::CampaignKind;
use crate::sequence_run::{CrashMoments, SequenceJob, SequenceOrder, SequenceRun, run_sequences};
use crate::violating_states::ViolationArchive;
use fsarena_crash::record::CrashOutcome;
use fsarena_crash::sequence::bounds::Bounds;
use fsarena_crash::sequence::judged::{JudgedLitmus, JudgedSequence};
use fsarena_crash::sequence::litmus::{Litmus, LitmusProgram};
use fsarena_crash::sequence::op::FileOp;
use fsarena_crash::sequence::program::program;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// Sequences, and litmus programs, that one guest carries out.
const SEQUENCES_OF_GUEST: usize = 8;
const LITMUS_OF_GUEST: usize = 4;

/// The campaign of sequences.
pub(crate) struct Sequences {
    pub(crate) length: u32,
    pub(crate) sample: u32,
    pub(crate) is_every_entry: bool,
    pub(crate) is_published: bool,
}

/// The campaign of litmus programs.
pub(crate) struct LitmusPrograms {
    pub(crate) programs: u32,
    pub(crate) states_most: u32,
}

impl CampaignKind for Sequences {
    fn run(
        &self,
        job: &CrashJob<'_>,
        _archive: &ViolationArchive,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashOutcome, CrashJobError> {
        let bounds = if self.is_published { Bounds::published() } else { Bounds::all() };
        let skeletons = bounds.sample(self.length as usize, self.sample as usize, first_seed(job));
        let part = part(job, skeletons.len());
        let programs: Result<Vec<Vec<FileOp>>, _> = skeletons[part].iter().map(program).collect();
        let programs = programs.map_err(|error| CrashJobError::Work(error.to_string()))?;
        let moments = match self.is_every_entry {
            true => CrashMoments::EveryEntry,
            false => CrashMoments::Returns,
        };
        let jobs: Vec<SequenceJob> =
            programs.into_iter().map(|ops| SequenceJob { ops, moments }).collect();
        let judged = each(job, &jobs, SEQUENCES_OF_GUEST, stop, |number, run| match run {
            Ok(run) => JudgedSequence::new(&jobs[number].ops, &run.record, run.observed()),
            Err(_) => JudgedSequence::died(),
        })?;
        Ok(CrashOutcome::Sequences(judged))
    }
}

impl CampaignKind for LitmusPrograms {
    fn run(
        &self,
        job: &CrashJob<'_>,
        _archive: &ViolationArchive,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<CrashOutcome, CrashJobError> {
        let name = job.workload();
        let unknown = || CrashJobError::Unknown { what: "litmus program", name: name.to_owned() };
        let litmus = Litmus::from_name(name).ok_or_else(unknown)?;
        let states_most = self.states_most as usize;
        let seeds: Vec<u64> = part(job, self.programs as usize)
            .map(|at| first_seed(job).wrapping_add(at as u64))
            .collect();
        let programs: Vec<LitmusProgram> = seeds.iter().map(|seed| litmus.program(*seed)).collect();
        let of_program = |(program, seed): (&LitmusProgram, &u64)| {
            let after_ops = program.asked_from;
            let moments = CrashMoments::Parts { after_ops, states_most, seed: *seed };
            SequenceJob { ops: program.ops.clone(), moments }
        };
        let jobs: Vec<SequenceJob> = programs.iter().zip(&seeds).map(of_program).collect();
        let judged = each(job, &jobs, LITMUS_OF_GUEST, stop, |number, run| match run {
            Ok(run) => JudgedLitmus::new(litmus, &programs[number], &run.record, run.observed()),
            Err(_) => JudgedLitmus::without_states(litmus),
        })?;
        Ok(CrashOutcome::Litmus(judged))
    }
}

/// The seed of what is drawn, of disks and guests: the same in all parts.
fn first_seed(job: &CrashJob<'_>) -> u64 {
    job.plan.crash_seed(0)
}

/// Which of so many programs a crash run carries out: the runs of the plan share them.
fn part(job: &CrashJob<'_>, programs: usize) -> Range<usize> {
    let each = programs.div_ceil((job.crash_plan().runs as usize).max(1));
    let begin = (job.slot.number as usize).saturating_mul(each).min(programs);
    begin..(begin + each).min(programs)
}

/// Carries out sequences, each judged, in the order of their numbers.
fn each<T: Send>(
    job: &CrashJob<'_>,
    jobs: &[SequenceJob],
    sequences_of_guest: usize,
    stop: &(dyn Fn() -> bool + Sync),
    judge: impl Fn(usize, Result<SequenceRun, CrashRunError>) -> T + Sync,
) -> Result<Vec<T>, CrashJobError> {
    let (disk, options, program) = job.guests(LIMIT)?;
    let order = SequenceOrder {
        fs: &job.contender().levels.fs,
        disk,
        options: &options,
        program,
        seed: first_seed(job),
        guests_at_once: guests_at_once(),
        sequences_of_guest,
    };
    let judged = Mutex::new(BTreeMap::new());
    let take = |number: usize, run: Result<SequenceRun, CrashRunError>| {
        let one = judge(number, run);
        if let Ok(mut judged) = judged.lock() {
            judged.insert(number, one);
        }
    };
    run_sequences(&order, jobs, stop, &take)?;
    Ok(judged.into_inner().unwrap_or_default().into_values().collect())
}
