//! Hunts: what the states at the entries of write logs have broken, in numbers and cases.

use super::crash_keep::{DoneRun, ViolatingState};
use fsarena_crash::promise::{Promise, PromiseClass};
use fsarena_crash::state::{CrashState, pieces};
use fsarena_crash::{Findings, Violation};
use fsarena_report::{HuntCase, HuntRow};
use fsarena_vdisk::{EntryKind, WriteLog};
use std::collections::{BTreeMap, BTreeSet};

/// Missing writes of a case that are told one by one.
const WRITES_MOST: usize = 3;

/// What the runs of a contender with one workload have shown.
pub(super) struct HuntTally {
    row: HuntRow,
    cases: BTreeMap<Promise, (HuntCase, Complexity)>,
}

type Complexity = (bool, usize, usize, u64);

impl HuntTally {
    pub fn new(contender: &str, workload: &str) -> Self {
        let (contender, workload) = (contender.to_owned(), workload.to_owned());
        let row = HuntRow { contender, workload, ..HuntRow::default() };
        Self { row, cases: BTreeMap::new() }
    }

    /// `kept`: names of states by class and contents.
    pub fn add(&mut self, done: &DoneRun<'_>, kept: &BTreeMap<(String, u64), String>) {
        let row = &mut self.row;
        row.runs += 1;
        if let Some(counts) = done.ran.hunted {
            row.events += u64::from(counts.events);
            row.events_taken += u64::from(counts.events_taken);
            row.states_made += u64::from(counts.states_made);
        }
        row.states_checked += done.ran.different() as u64;
        row.recoveries_checked += done.ran.recoveries.len() as u64;
        if row.disk_fault.is_none() {
            row.disk_fault.clone_from(&done.record.disk_fault);
        }
        for one in done.candidates() {
            row.contract_broken += u64::from(one.found.breaks(PromiseClass::Contract));
            let is_honest = done.record.disk_fault.is_none();
            let breaks = is_honest && one.found.breaks(PromiseClass::Documented);
            row.documented_broken += u64::from(breaks);
            for violation in first_of_each(one.found) {
                let is_contract = violation.promise.class() == PromiseClass::Contract;
                if !is_contract && !is_honest {
                    continue;
                }
                let case = || case(done, &one, violation, kept);
                let complexity = one.complexity();
                let known = self.cases.entry(violation.promise);
                let (known, least) = known.or_insert_with(|| (case(), complexity));
                let states = known.states + 1;
                if complexity < *least {
                    (*known, *least) = (case(), complexity);
                }
                known.states = states;
            }
        }
    }

    pub fn row(self) -> HuntRow {
        let cases = self.cases.into_values().map(|(case, _)| case).collect();
        HuntRow { cases, ..self.row }
    }
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
) -> HuntCase {
    let path = violation.path.as_deref().unwrap_or("the file system");
    HuntCase {
        is_contract: violation.promise.class() == PromiseClass::Contract,
        sentence: violation.promise.sentence().to_owned(),
        states: 0,
        state: one.class(),
        seed: done.job.seed,
        after_ns: one.state.at_ns.saturating_sub(done.ran.work.begin_ns),
        missing: missing(&done.ran.log, one.state),
        found: format!("{path}: {}", violation.found),
        kept: kept.get(&(one.class(), one.state.contents)).cloned(),
    }
}

/// Which writes that had completed are not there, and which that had not are.
pub(super) fn missing(log: &WriteLog, state: &CrashState) -> String {
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
