//! Contenders of a plan by their identity, and the records that may be taken together.
//!
//! An identity is a hash over all levels: it is computed once for each contender here, and not once
//! for each record.

use fsarena_model::contender::{Contender, ContenderId};
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunPlan;
use std::collections::HashMap;

/// The contenders of a plan.
pub(crate) struct Contenders<'a> {
    all: &'a [Contender],
    by_id: HashMap<ContenderId, usize>,
}

impl<'a> Contenders<'a> {
    /// Those of `plan`.
    pub(crate) fn new(plan: &'a RunPlan) -> Self {
        let mut by_id = HashMap::new();
        for (index, contender) in plan.contenders.iter().enumerate() {
            by_id.entry(contender.id()).or_insert(index);
        }
        Self { all: &plan.contenders, by_id }
    }

    /// Index of the contender that a record is of; none where the plan does not know it.
    pub(crate) fn index(&self, record: &TrialRecord) -> Option<usize> {
        self.by_id.get(&record.key.contender).copied()
    }

    /// The contender that a record is of.
    pub(crate) fn get(&self, record: &TrialRecord) -> Option<&'a Contender> {
        self.all.get(self.index(record)?)
    }

    /// Its label, or the short form of an identity that the plan does not know.
    pub(crate) fn label(&self, record: &TrialRecord) -> String {
        let short = || record.key.contender.short().to_owned();
        self.get(record).map_or_else(short, |contender| contender.label.clone())
    }

    /// Place of a label in the plan; those that are not in it come first.
    pub(crate) fn place(&self, label: &str) -> Option<usize> {
        self.all.iter().position(|contender| contender.label == label)
    }

    /// The records of each contender, in the order of the plan; each list in theirs.
    pub(crate) fn split<'r>(&self, records: &[&'r TrialRecord]) -> Vec<Vec<&'r TrialRecord>> {
        let mut all = vec![Vec::new(); self.all.len()];
        for &record in records {
            if let Some(index) = self.index(record) {
                all[index].push(record);
            }
        }
        all
    }
}

/// The records of a workload whose contents were not wrong when read again.
pub(crate) fn with_right_contents<'r>(
    records: &'r [TrialRecord],
    workload: &str,
) -> Vec<&'r TrialRecord> {
    records.iter().filter(|r| r.key.workload == workload && !r.has_bad_contents()).collect()
}

/// Those of the time base of the first: times of two are never in one figure.
pub(crate) fn of_one_base<'r>(records: &[&'r TrialRecord]) -> Vec<&'r TrialRecord> {
    let base = records.first().map(|record| record.time_base);
    records.iter().copied().filter(|record| Some(record.time_base) == base).collect()
}
