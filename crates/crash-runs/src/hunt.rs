//! What the states at the entries of a write log have broken, in numbers and cases.

use crate::violating_states::{DoneRun, ViolatingState};
use fsarena_crash::hunted::{HuntRecord, HuntedCase};
use fsarena_crash::promise::{Promise, PromiseClass};
use fsarena_crash::state::{CrashState, pieces};
use fsarena_crash::{Findings, Violation};
use fsarena_vdisk::{EntryKind, WriteLog};
use std::collections::{BTreeMap, BTreeSet};

/// Missing writes of a case that are listed one by one.
const WRITES_MOST: usize = 3;

/// What a run has shown in `candidates`, its states that break a promise; `kept`: names of states
/// by class and contents.
pub(crate) fn hunt_record(
    done: &DoneRun<'_>,
    candidates: &[ViolatingState<'_>],
    kept: &BTreeMap<(String, u64), String>,
) -> HuntRecord {
    let mut record = HuntRecord {
        states_checked: done.ran.different() as u64,
        recoveries_checked: done.ran.recoveries.len() as u64,
        disk_fault: done.record.disk_fault.clone(),
        ..HuntRecord::default()
    };
    if let Some(counts) = done.ran.hunted {
        record.events = u64::from(counts.events);
        record.events_taken = u64::from(counts.events_taken);
        record.states_made = u64::from(counts.states_made);
    }
    let is_honest = record.disk_fault.is_none();
    let mut cases: BTreeMap<Promise, HuntedCase> = BTreeMap::new();
    for one in candidates {
        record.contract_broken += u64::from(one.found.breaks(PromiseClass::Contract));
        let breaks = is_honest && one.found.breaks(PromiseClass::Documented);
        record.documented_broken += u64::from(breaks);
        for violation in first_of_each(one.found) {
            if violation.promise.class() != PromiseClass::Contract && !is_honest {
                continue;
            }
            let case = || case(done, one, violation, kept);
            let known = cases.entry(violation.promise).or_insert_with(case);
            let states = known.states + 1;
            if one.complexity() < known.complexity {
                *known = case();
            }
            known.states = states;
        }
    }
    record.cases = cases.into_values().collect();
    record
}

/// The first violation of each promise.
fn first_of_each(found: &Findings) -> Vec<&Violation> {
    let mut seen = BTreeSet::new();
    found.violations.iter().filter(|violation| seen.insert(violation.promise)).collect()
}

fn case(
    done: &DoneRun<'_>,
    one: &ViolatingState<'_>,
    violation: &Violation,
    kept: &BTreeMap<(String, u64), String>,
) -> HuntedCase {
    let path = violation.path.as_deref().unwrap_or("the file system");
    HuntedCase {
        promise: violation.promise,
        states: 0,
        complexity: one.complexity(),
        state: one.class(),
        seed: done.job.seed(),
        after_ns: one.state.at_ns.saturating_sub(done.ran.work.begin_ns),
        missing: missing_writes(&done.ran.log, one.state),
        found: format!("{path}: {}", violation.found),
        kept: kept.get(&(one.class(), one.state.contents)).cloned(),
    }
}

/// Which writes that had completed are not there, and which that had not are.
pub fn missing_writes(log: &WriteLog, state: &CrashState) -> String {
    let there: BTreeSet<u32> = pieces(log, state).map(|piece| piece.entry).collect();
    let completed = log.entries().iter().take(state.count as usize);
    let lost: Vec<String> = (0_u32..)
        .zip(completed)
        .filter(|(number, entry)| {
            let has_contents = entry.kind.is_write() || entry.kind == EntryKind::Discard;
            has_contents && entry.sectors > 0 && !there.contains(number)
        })
        .map(|(_, entry)| format!("{} sectors at {}", entry.sectors, entry.sector))
        .collect();
    let mut words = format!("{} entries had completed", state.count);
    match lost.len() {
        0 => words.push_str(", none is missing"),
        count => {
            let shown = lost[..count.min(WRITES_MOST)].join(", ");
            let more = if count > WRITES_MOST { ", …" } else { "" };
            words.push_str(&format!(", {count} missing ({shown}{more})"));
        }
    }
    if !state.in_flight.is_empty() {
        words.push_str(&format!(", {} more there that were on their way", state.in_flight.len()));
    }
    if let Some(torn) = state.torn {
        let of = log.entries().get(torn.entry as usize).map_or(0, |entry| entry.sectors);
        words.push_str(&format!(", one cut behind {} of {of} sectors", torn.sectors));
    }
    words
}
