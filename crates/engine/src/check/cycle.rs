//! What a phase of cycles needs, and what makes no sense in one.

use super::Wrong;
use crate::names::BesideNames;
use fsarena_model::cycle::{Cycle, Disturb, Load};
use fsarena_model::work::{Backend, Dataset, DatasetState, Fsync, Op, Phase};

/// Most updates of all cycles together: each takes four bytes of memory.
const MAX_UPDATES: u64 = 100_000_000;
/// Most small files of a second load: their names have eight digits.
const MAX_DISTURB_FILES: u64 = 100_000_000;

/// Checks that `phase` has cycles where its op wants them and only there, and that they can be.
pub(super) fn check(dataset: &Dataset, state: &DatasetState, phase: &Phase) -> Result<(), Wrong> {
    match (&phase.cycle, phase.op == Op::Cycle) {
        (None, false) => Ok(()),
        (None, true) => {
            Err(("cycle, and nothing is said of its cycles".to_owned(), "give it them (cycle)"))
        }
        (Some(_), false) => Err((
            format!("cycles for {}", phase.op.name()),
            "use op = \"cycle\", or leave them out",
        )),
        (Some(cycle), true) => {
            calls(phase)?;
            numbers(dataset, state, phase, cycle)?;
            BesideNames::new(dataset).map_err(|error| {
                (error.to_string(), "names beside those of the files have 15 bytes")
            })?;
            cycle.disturb.as_ref().map_or(Ok(()), |disturb| second_load(cycle, disturb))
        }
    }
}

/// How the calls are made.
fn calls(phase: &Phase) -> Result<(), Wrong> {
    let io = &phase.io;
    if !matches!(io.backend, Backend::Sync | Backend::Null) {
        let what = format!("backend {} with cycle", io.backend.name());
        return Err((what, "one file follows the other; use backend = \"sync\""));
    }
    if io.direct {
        return Err((
            "direct with cycle".to_owned(),
            "it is an application that writes files of any size; leave direct out",
        ));
    }
    if io.threads > 1 {
        let what = format!("cycle by {} threads", io.threads);
        return Err((what, "a cycle is one thread's; leave threads out"));
    }
    if io.fsync == Fsync::Dir {
        return Err((
            "fsync = dir with cycle".to_owned(),
            "its files come in no order of directories; use fsync = \"op\", \"end\" or \"dsync\"",
        ));
    }
    Ok(())
}

fn numbers(
    dataset: &Dataset,
    state: &DatasetState,
    phase: &Phase,
    cycle: &Cycle,
) -> Result<(), Wrong> {
    if cycle.cycles == 0 && (phase.timed || cycle.disturb.is_none()) {
        let remedy = "use 1 or more (0 only prepares the second load of an untimed phase)";
        return Err(("0 cycles".to_owned(), remedy));
    }
    let versions = u32::from(u16::MAX - state.newest_version);
    if cycle.cycles > versions {
        let what = format!("{} cycles, and contents have {versions} versions left", cycle.cycles);
        return Err((what, "use fewer"));
    }
    if cycle.period_ns == 0 {
        return Err(("a period of 0".to_owned(), "use 1 ns or more"));
    }
    if cycle.period_ns.checked_mul(u64::from(cycle.cycles) + 1).is_none() {
        let what = format!("{} cycles of {} ns", cycle.cycles, cycle.period_ns);
        return Err((what, "use fewer, or a shorter period: time has 64 bits"));
    }
    if cycle.updates == 0 {
        return Err(("cycles of 0 updates".to_owned(), "use 1 or more"));
    }
    if cycle.updates > dataset.files {
        let what = format!("cycles of {} updates of {} files", cycle.updates, dataset.files);
        return Err((what, "a cycle takes no file twice; use fewer updates or more files"));
    }
    if cycle.updates.saturating_mul(u64::from(cycle.cycles)) > MAX_UPDATES {
        let what = format!("{} cycles of {} updates", cycle.cycles, cycle.updates);
        return Err((what, "use fewer: at most 100000000 are drawn before the phase"));
    }
    if cycle.shares.weights().iter().all(|&weight| weight == 0) {
        return Err(("shares that are all 0".to_owned(), "give one of the kinds a weight"));
    }
    Ok(())
}

fn second_load(cycle: &Cycle, disturb: &Disturb) -> Result<(), Wrong> {
    let is_unknown = |number: &&u32| !(1..=cycle.cycles).contains(*number);
    // In preparation there are none yet.
    if let Some(number) = disturb.cycles.iter().find(is_unknown).filter(|_| cycle.cycles > 0) {
        let what = format!("a second load in cycle {number} of {}", cycle.cycles);
        return Err((what, "cycles are counted from 1; leave it out, or use more cycles"));
    }
    match disturb.load {
        Load::Create { files: 0, .. } => {
            Err(("a second load of 0 files".to_owned(), "use 1 or more, or leave it out"))
        }
        Load::Create { files, .. } if files > MAX_DISTURB_FILES => {
            Err((format!("a second load of {files} files"), "use at most 100000000"))
        }
        Load::Write { size_bytes, bs_bytes, .. } | Load::Read { size_bytes, bs_bytes, .. }
            if size_bytes == 0 || bs_bytes == 0 =>
        {
            let what = format!(
                "a second load that {}s a file of {size_bytes} bytes in calls of {bs_bytes}",
                disturb.load.name()
            );
            Err((what, "use 1 or more of both"))
        }
        _ => Ok(()),
    }
}
