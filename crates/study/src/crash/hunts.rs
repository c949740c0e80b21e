//! What the states at the entries of write logs have broken. There is no share and no interval: how
//! many of these states break a promise says nothing about the chance of it.

use crate::JsonSchema;
use fsarena_crash::hunted::{Complexity, HuntRecord, HuntedCase};
use fsarena_crash::promise::{Promise, PromiseClass};
use serde::Serialize;
use std::collections::BTreeMap;

/// One contender with one workload.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct HuntRow {
    pub contender: String,
    pub workload: String,
    pub runs: u32,
    /// Entries of the write logs during the work, and those of them at which states were made.
    pub events: u64,
    pub events_taken: u64,
    /// States that were made, no two of one log with the same contents; those that were looked at;
    /// and second power cuts in their recovery.
    pub states_made: u64,
    pub states_checked: u64,
    pub recoveries_checked: u64,
    /// States that break what fsync promises, and those that break what is documented.
    pub contract_broken: u64,
    pub documented_broken: u64,
    /// What the disk did that an honest one does not: broken promises are the disk's then.
    pub disk_fault: Option<String>,
    /// A case of each promise that was broken.
    pub cases: Vec<HuntCase>,
}

/// A promise that was broken, and the state with the least missing that breaks it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct HuntCase {
    pub is_contract: bool,
    pub sentence: String,
    /// States that break it.
    pub states: u64,
    /// Class of the state.
    pub state: String,
    pub seed: u64,
    /// The power went so long after the begin of the work.
    pub after_ns: u64,
    /// Which writes are missing, and what was found.
    pub missing: String,
    pub found: String,
    /// Name of the kept state.
    pub kept: Option<String>,
}

impl HuntRow {
    /// Whether what fsync promises was broken, and the disk was honest.
    #[must_use]
    pub fn breaks_the_contract(&self) -> bool {
        self.contract_broken > 0 && self.disk_fault.is_none()
    }

    /// What the runs of a contender with one workload have shown.
    #[must_use]
    pub fn new<'r>(
        contender: &str,
        workload: &str,
        records: impl Iterator<Item = &'r HuntRecord>,
    ) -> Self {
        let (contender, workload) = (contender.to_owned(), workload.to_owned());
        let mut row = Self { contender, workload, ..Self::default() };
        let mut cases: BTreeMap<Promise, (Complexity, HuntCase)> = BTreeMap::new();
        for record in records {
            row.runs += 1;
            for (sum, of_run) in [
                (&mut row.events, record.events),
                (&mut row.events_taken, record.events_taken),
                (&mut row.states_made, record.states_made),
                (&mut row.states_checked, record.states_checked),
                (&mut row.recoveries_checked, record.recoveries_checked),
                (&mut row.contract_broken, record.contract_broken),
                (&mut row.documented_broken, record.documented_broken),
            ] {
                *sum = sum.saturating_add(of_run);
            }
            if row.disk_fault.is_none() {
                row.disk_fault.clone_from(&record.disk_fault);
            }
            for case in &record.cases {
                let new = || (case.complexity, HuntCase { states: 0, ..HuntCase::new(case) });
                let known = cases.entry(case.promise).or_insert_with(new);
                let states = known.1.states.saturating_add(case.states);
                if case.complexity < known.0 {
                    *known = new();
                }
                known.1.states = states;
            }
        }
        row.cases = cases.into_values().map(|(_, case)| case).collect();
        row
    }
}

impl HuntCase {
    fn new(case: &HuntedCase) -> Self {
        let HuntedCase { promise, states, state, seed, after_ns, missing, found, kept, .. } =
            case.clone();
        let is_contract = promise.class() == PromiseClass::Contract;
        let sentence = promise.sentence().to_owned();
        Self { is_contract, sentence, states, state, seed, after_ns, missing, found, kept }
    }
}
