//! Where the bytes went: the accounts of a contender's trials as one, in bytes a cycle and as
//! multiples of what was asked for, with the answer in words.
//!
//! The parts come from a trace and the total from the device's own counter, so that their sum can
//! be checked. An account that lost events is spoilt: it is said, and is in no figure.

mod text;
mod view;

pub use view::{
    AccountLine, AccountMeans, AccountPart, AccountRow, AccountView, Allocated, NotTaken,
    SpoiltAccount, SumCheck, TrialAccount, UNATTRIBUTED_MUCH,
};

use crate::contenders::{Contenders, with_right_contents};
use fsarena_model::account::{Account, AccountRecord, Part, Parts};
use fsarena_model::cycle::Load;
use fsarena_model::record::{PhaseRecord, TrialRecord};
use fsarena_model::run::RunPlan;
use fsarena_model::units::Nanos;
use fsarena_model::work::Phase;
use indexmap::{IndexMap, IndexSet};

impl TrialAccount {
    /// `None` where there is no account.
    pub(crate) fn from_phase(phase: &PhaseRecord) -> Option<Self> {
        let Some(AccountRecord::Taken(account)) = &phase.account else { return None };
        let (parts, cycles) = (account.parts(), cycles(phase));
        let bytes = |part: AccountPart| part_bytes(account, &parts, part).0 / cycles;
        Some(Self {
            cycles: cycles as u32,
            lost_events: account.lost_events,
            data_bytes: bytes(AccountPart::Data),
            rounding_bytes: bytes(AccountPart::Rounding),
            gone_bytes: bytes(AccountPart::Gone),
            again_bytes: bytes(AccountPart::Again),
            journal_bytes: bytes(AccountPart::Journal),
            metadata_bytes: bytes(AccountPart::Metadata),
            unattributed_bytes: bytes(AccountPart::Unattributed),
        })
    }
}

/// Cycles that were begun; 1 for a phase without.
fn cycles(phase: &PhaseRecord) -> f64 {
    phase.cycles.as_ref().map_or(1, |all| all.cycles.len().max(1)) as f64
}

/// Cycles with the second load.
fn disturbed_cycles(phase: &PhaseRecord) -> f64 {
    let all = phase.cycles.iter().flat_map(|all| &all.cycles);
    all.filter(|cycle| cycle.report.disturb.is_some()).count() as f64
}

/// One view a phase with accounts, in the order of the plan.
pub(crate) fn views(plan: &RunPlan, records: &[TrialRecord]) -> Vec<AccountView> {
    let contenders = Contenders::new(plan);
    let mut views = Vec::new();
    for workload in &plan.workloads {
        let own = contenders.split(&with_right_contents(records, &workload.name));
        for phase in workload.phases.iter().filter(|phase| phase.timed) {
            let rows: Vec<AccountRow> = plan
                .contenders
                .iter()
                .zip(&own)
                .enumerate()
                .filter_map(|(index, (one, own))| row((index, &one.label), phase, own))
                .collect();
            if !rows.is_empty() {
                views.push(AccountView {
                    workload: workload.name.clone(),
                    phase: phase.name.clone(),
                    per_cycle: phase.cycle.is_some(),
                    rows,
                });
            }
        }
    }
    views
}

/// A sound account and the phase that it is of.
struct Sound<'a> {
    phase: &'a PhaseRecord,
    account: &'a Account,
    parts: Parts,
    /// Cycles, or 1.
    cycles: f64,
}

/// `None` where no trial was asked for an account.
fn row(
    (contender, label): (usize, &str),
    planned: &Phase,
    records: &[&TrialRecord],
) -> Option<AccountRow> {
    let mut sound: Vec<Sound<'_>> = Vec::new();
    let mut spoilt = Vec::new();
    let mut not_taken: IndexMap<&str, usize> = IndexMap::new();
    let mut notes: IndexSet<String> = IndexSet::new();
    for record in records {
        let phase = record.phases.iter().find(|p| p.name == planned.name && p.is_complete());
        let Some(phase) = phase else { continue };
        match &phase.account {
            None => {}
            Some(AccountRecord::NotTaken { reason }) => *not_taken.entry(reason).or_default() += 1,
            Some(AccountRecord::Taken(account)) => {
                notes.extend(account.notes.iter().cloned());
                if account.lost_events > 0 {
                    spoilt.push(SpoiltAccount {
                        block: record.key.block + 1,
                        trial: record.key.sequence + 1,
                        lost_events: account.lost_events,
                    });
                } else {
                    let (parts, cycles) = (account.parts(), cycles(phase));
                    sound.push(Sound { phase, account, parts, cycles });
                }
            }
        }
    }
    if sound.is_empty() && spoilt.is_empty() && not_taken.is_empty() {
        return None;
    }
    notes.extend(overlap(&sound));
    notes.extend(cost(&sound));
    let mut row = AccountRow {
        contender,
        label: label.to_owned(),
        n: sound.len(),
        means: means(planned, &sound),
        spoilt,
        not_taken: not_taken
            .into_iter()
            .map(|(reason, trials)| NotTaken { reason: reason.to_owned(), trials })
            .collect(),
        notes: notes.into_iter().collect(),
        words: Vec::new(),
    };
    row.words = text::sentences(&row, planned.cycle.is_some());
    Some(row)
}

/// That spans begin in the midst of another cycle's work.
fn overlap(sound: &[Sound<'_>]) -> Option<String> {
    let cycles =
        || sound.iter().filter_map(|one| one.phase.cycles.as_ref()).flat_map(|c| &c.cycles);
    let beside = cycles().filter(|cycle| cycle.report.beside > 0).count();
    (beside > 0).then(|| {
        format!(
            "{beside} of {} cycles began while another was running: the account counts what that \
             wrote from then on to the later one, and \"again\" begins anew.",
            cycles().count()
        )
    })
}

/// What taking the accounts cost, at worst in a trial.
fn cost(sound: &[Sound<'_>]) -> Option<String> {
    let most = |of: fn(&Account) -> u64| sound.iter().map(|one| of(one.account)).max();
    let longest = most(|account| account.longest_look_ns).filter(|ns| *ns > 0)?;
    Some(format!(
        "Reading the trace took up to {} of CPU time a trial, and looking at the files {}, \
         after the work, the longest look {}: a cycle's figures over its period have its look in \
         them.",
        Nanos(most(|account| account.reader_cpu_ns)?),
        Nanos(most(|account| account.looks_cpu_ns)?),
        Nanos(longest)
    ))
}

fn means(planned: &Phase, sound: &[Sound<'_>]) -> Option<AccountMeans> {
    let first = sound.first()?;
    // Of a cycle.
    let mean = |of: &dyn Fn(&Sound<'_>) -> f64| {
        sound.iter().map(|one| of(one) / one.cycles).sum::<f64>() / sound.len() as f64
    };
    let trial = |of: &dyn Fn(&Sound<'_>) -> f64| mean(&|one| of(one) * one.cycles);
    let whole = |of: fn(&Account) -> u64| trial(&|one| of(one.account) as f64);
    let asked_by_disturber_bytes = mean(&|one| disturber_bytes(planned, one.phase));
    let asked_bytes = mean(&|one| own_bytes(one.phase)) + asked_by_disturber_bytes;
    let counter = |one: &Sound<'_>| one.account.total_bytes as f64 / one.cycles;
    let counter_bytes = mean(&|one| one.account.total_bytes as f64);
    let of = |bytes: f64| (counter_bytes > 0.0).then(|| bytes / counter_bytes);
    let line = |&(_, part): &(&str, AccountPart)| {
        let bytes = mean(&|one| part_bytes(one.account, &one.parts, part).0);
        AccountLine {
            part,
            bytes,
            again_bytes: mean(&|one| part_bytes(one.account, &one.parts, part).1),
            times_asked: (asked_bytes > 0.0).then(|| bytes / asked_bytes),
            share: of(bytes),
        }
    };
    let seen = |one: &Sound<'_>| one.parts.values().map(|w| w.bytes() as f64).sum();
    let unknown_bytes = mean(&|one| both(&one.parts, Part::Unknown).0);
    let seen_bytes: f64 = mean(&seen);
    let span = |of: fn(&fsarena_model::account::Span) -> u64| {
        mean(&|one| one.account.spans.iter().map(|span| of(span) as f64).sum())
    };
    let allocated = Allocated {
        files: whole(|account| account.files),
        unplaced_files: whole(|account| account.unplaced_files),
        contents_bytes: whole(|account| account.contents_bytes),
        allocated_bytes: whole(|account| account.allocated_bytes),
        rounding_bytes: whole(|a| a.allocated_bytes.saturating_sub(a.contents_bytes)),
    };
    // What was written over and over reached it as often.
    let reached = |parts: &Parts| both(parts, Part::Data).0 + both(parts, Part::Gone).0;
    let never = |one: &Sound<'_>| {
        let asked = own_bytes(one.phase) + disturber_bytes(planned, one.phase);
        let unknown = one.account.unattributed_bytes() as f64;
        (asked - reached(&one.parts) - unknown).max(0.0)
    };
    Some(AccountMeans {
        cycles: trial(&|one| one.cycles),
        disturbed_cycles: trial(&|one| disturbed_cycles(one.phase)),
        asked_bytes,
        asked_by_disturber_bytes,
        lines: AccountPart::ALL.iter().map(line).collect(),
        check: SumCheck {
            counter_bytes,
            counter_min_bytes: sound.iter().map(counter).fold(f64::INFINITY, f64::min),
            counter_max_bytes: sound.iter().map(counter).fold(0.0, f64::max),
            attributed_bytes: seen_bytes - unknown_bytes,
            unknown_bytes,
            unseen_bytes: counter_bytes - seen_bytes,
            unattributed_share: of(mean(&|one| one.account.unattributed_bytes() as f64)),
        },
        never_written_bytes: (allocated.unplaced_files == 0.0).then(|| mean(&never)),
        writes: span(|span| span.writes),
        flushes: span(|span| span.flushes),
        discarded_bytes: span(|span| span.discarded_bytes),
        allocated,
        journal: first.account.journal.clone(),
    })
}

/// Bytes that the calls of the whole phase wrote, without the second load.
fn own_bytes(phase: &PhaseRecord) -> f64 {
    match &phase.cycles {
        Some(all) => all.cycles.iter().map(|cycle| cycle.report.asked_bytes as f64).sum(),
        None => phase.written_bytes() as f64,
    }
}

/// Bytes that the second load wrote in the whole phase.
fn disturber_bytes(planned: &Phase, phase: &PhaseRecord) -> f64 {
    let load = planned.cycle.as_ref().and_then(|cycle| cycle.disturb.as_ref()).map(|d| d.load);
    if !matches!(load, Some(Load::Create { .. } | Load::Write { .. })) {
        return 0.0;
    }
    let cycles = phase.cycles.iter().flat_map(|all| &all.cycles);
    cycles.filter_map(|cycle| Some(cycle.report.disturb.as_ref()?.bytes as f64)).sum()
}

/// Bytes of a part of the table over the whole phase, and of these those written again.
fn part_bytes(account: &Account, parts: &Parts, part: AccountPart) -> (f64, f64) {
    let first = |part: Part| (parts.get(&part).map_or(0, |w| w.first_bytes) as f64, 0.0);
    match part {
        AccountPart::Data => first(Part::Data),
        AccountPart::Rounding => first(Part::Rounding),
        AccountPart::Gone => first(Part::Gone),
        AccountPart::Again => {
            let again = [Part::Data, Part::Rounding, Part::Gone].map(|part| both(parts, part).1);
            let again: f64 = again.iter().sum();
            (again, again)
        }
        AccountPart::Journal => both(parts, Part::Journal),
        AccountPart::Metadata => both(parts, Part::Metadata),
        AccountPart::Unattributed => (account.unattributed_bytes() as f64, 0.0),
    }
}

/// All bytes of a part, and of these those written again.
fn both(parts: &Parts, part: Part) -> (f64, f64) {
    let written = parts.get(&part).copied().unwrap_or_default();
    (written.bytes() as f64, written.again_bytes as f64)
}
