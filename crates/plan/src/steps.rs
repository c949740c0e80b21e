//! The life of a trial as a list of steps; the executor does them in this order and nothing else.

use crate::workload::lays_out;
use fsarena_model::contender::{Cache, Levels};
use fsarena_model::cycle::Cycle;
use fsarena_model::device::SsdPolicy;
use fsarena_model::factor;
use fsarena_model::io::Backend;
use fsarena_model::job::{JobKind, SourcePlace};
use fsarena_model::op::Op;
use fsarena_model::phase::{Phase, Workload};
use fsarena_model::spec::Step;
use fsarena_model::state::Effect;

/// Smallest calls of the phase that prepares: it shall not take longer than it has to.
const PREPARE_BS_BYTES: u64 = 1 << 20;

/// Whether a workload makes no call at all.
pub(crate) fn is_null(workload: &Workload) -> bool {
    workload.fio.is_none() && workload.phases.iter().all(|phase| phase.io.backend == Backend::Null)
}

/// The phase that writes the dataset of a workload which does not begin with writing it.
pub(crate) fn prepare_phase(workload: &Workload) -> Option<Phase> {
    let first = workload.phases.first()?;
    if !first.op.needs_files() || workload.dataset.files == 0 || is_null(workload) {
        return None;
    }
    let big = workload.phases.iter().any(|phase| phase.op.is_big());
    let op = if big { Op::BigWrite } else { Op::Create };
    let bs_bytes = first.bs_bytes.max(PREPARE_BS_BYTES);
    Some(Phase { timed: false, ..Phase::new("prepare", op, bs_bytes) })
}

/// Whether the directories are made before the first phase.
fn needs_dirs(workload: &Workload) -> bool {
    let makes_them = workload.phases.first().is_some_and(|phase| {
        phase.op.changes_dirs() && phase.op.info().effect != Effect::RemoveDirs
    });
    workload.dataset.dirs > 0 && workload.fio.is_none() && !makes_them && !is_null(workload)
}

/// The steps of one trial.
///
/// A file system that is to have an age gets it right after it was made, before its first mount.
///
/// Directories are made first, unless the first phase makes them; then the files, where the first
/// phase needs them. fio lays the files that a phase needs out itself: the same phase, untimed,
/// is before it. So it is with what the second load during cycles works on.
///
/// The source of real work is put where it shall be first; hooks of a command are right before
/// the settling and right after the phase.
///
/// With cold caches, chill comes before every timed phase: also before the first, whose bitmaps and
/// inode tables then come from the device. Its unmount ends all that the file system has under way,
/// so that nothing is settled before it. With warm caches settle comes in its place, and with
/// `cold-start` chill comes before the first timed phase alone. A check
/// of the contents (where `verify` was asked for) comes before a deletion, else at the end. It
/// reads from the device wherever the caches can be made cold, also where warm ones were asked
/// for: what the page cache holds proves nothing. Only the engine knows what it wrote: nothing is
/// checked after fio, nor where nothing was written. Of real work, copies and unpacked trees are
/// compared with their originals, before the first deletion of either.
#[must_use]
pub fn steps(workload: &Workload, levels: &Levels, verify: bool) -> Vec<Step> {
    let can_chill = levels.warm_reason().is_none();
    let mut cold = can_chill && levels.cache != Cache::Warm;
    let settle = |steps: &mut Vec<Step>, chill: bool| {
        steps.push(if chill { Step::Chill } else { Step::Settle });
    };
    let mut steps = Vec::new();
    if levels.ssd != SsdPolicy::None {
        steps.push(Step::Condition);
    }
    steps.push(Step::Reset);
    steps.extend(factor::age(levels).map(|age| Step::Age { age }));
    steps.push(Step::Mount);
    if needs_dirs(workload) {
        steps.push(Step::MakeDirs);
    }
    if workload.source.as_ref().is_some_and(|source| source.place == SourcePlace::Same) {
        steps.push(Step::Stage);
    }
    steps.extend(prepare_phase(workload).map(|phase| Step::Prepare { phase }));
    let mut unchecked = verify && can_verify(workload);
    for (number, phase) in workload.phases.iter().enumerate() {
        if unchecked && ends_contents(workload, phase) {
            settle(&mut steps, can_chill);
            steps.push(Step::Verify);
            unchecked = false;
        }
        if lays_out(workload, phase) {
            steps.push(Step::Prepare { phase: Phase { timed: false, ..phase.clone() } });
        }
        steps.extend(second_load(phase).map(|phase| Step::Prepare { phase }));
        let (before, after) = hooks(phase);
        steps.extend(before);
        if phase.timed {
            settle(&mut steps, cold);
            cold &= levels.cache.is_cold();
            steps.push(Step::Measure { phase: constrained(workload, number) });
        } else {
            steps.push(Step::Prepare { phase: phase.clone() });
        }
        steps.extend(after);
    }
    if unchecked {
        settle(&mut steps, can_chill);
        steps.push(Step::Verify);
    }
    steps.push(Step::Teardown);
    steps
}

/// Phase number `number` with what it was told, where a phase before it had a part in that: an
/// executor knows one phase at a time.
fn constrained(workload: &Workload, number: usize) -> Phase {
    let (phase, constraints) = (workload.phases[number].clone(), workload.constraints(number));
    Phase {
        constraints: match constraints == phase.constraints() {
            true => phase.constraints,
            false => Some(constraints),
        },
        ..phase
    }
}

/// The phase of no cycles that makes what the second load of a timed one needs.
fn second_load(phase: &Phase) -> Option<Phase> {
    let cycle = phase.cycle.as_ref().filter(|cycle| phase.timed && cycle.disturb.is_some())?;
    let cycle = Cycle { cycles: 0, ..cycle.clone() };
    Some(Phase { timed: false, cycle: Some(cycle), ..phase.clone() })
}

/// What a command wants to be run before and after it.
fn hooks(phase: &Phase) -> (Option<Step>, Option<Step>) {
    let Some(JobKind::Command(command)) = phase.job.as_ref().map(|job| &job.kind) else {
        return (None, None);
    };
    let hook = |text: &Option<String>| {
        text.clone().map(|command| Step::Hook { phase: phase.name.clone(), command })
    };
    (hook(&command.prepare), hook(&command.cleanup))
}

/// Whether a phase makes a tree that can be compared with what it was made from.
fn is_comparable(phase: &Phase) -> bool {
    let kind = phase.job.as_ref().map(|job| &job.kind);
    matches!(kind, Some(JobKind::Copy | JobKind::Untar { .. }))
}

/// Whether a phase deletes contents that are to be checked: files of the engine, or of real work a
/// copy or its original, where a copy was made before.
fn ends_contents(workload: &Workload, phase: &Phase) -> bool {
    let Some(job) = phase.job.as_ref().filter(|job| job.kind == JobKind::Delete) else {
        return phase.op.info().effect == Effect::Delete;
    };
    let before = workload.phases.iter().take_while(|earlier| earlier.name != phase.name);
    let mut copies = before.filter(|earlier| is_comparable(earlier));
    copies.any(|copy| copy.name == job.of || copy.job.as_ref().is_some_and(|j| j.of == job.of))
}

/// Whether there are contents at some point whose every byte the engine knows.
fn can_verify(workload: &Workload) -> bool {
    if workload.source.is_some() {
        return workload.phases.iter().any(is_comparable);
    }
    let written =
        prepare_phase(workload).is_some() || workload.phases.iter().any(|phase| phase.op.creates());
    workload.fio.is_none() && !is_null(workload) && written
}
