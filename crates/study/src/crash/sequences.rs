//! Short sequences of file operations, litmus programs, and what power cuts left of them.

use crate::JsonSchema;
use fsarena_crash::sequence::judge::{Rule, RuleClass};
use fsarena_crash::sequence::judged::{JudgedLitmus, JudgedSequence, SequenceCase};
use fsarena_crash::sequence::litmus::LitmusOutcome;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A demand that some states did not meet.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct BrokenRule {
    /// `contract`, `customary` or `damage`.
    pub class: String,
    pub sentence: String,
    /// Sequences with such a state.
    pub sequences: u64,
    pub states: u64,
}

/// All sequences on one contender.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct SequenceRow {
    pub contender: String,
    /// Operations that are not only there because others need them.
    pub length: usize,
    pub sequences: u64,
    /// Those of them in which an operation failed.
    pub not_judged: u64,
    /// The first operations that failed, each with its errno and how often.
    pub failed: Vec<(String, u64)>,
    /// Their guest did not survive them, before any power cut.
    pub died: u64,
    pub states: u64,
    /// States that differ in what is on the disk.
    pub different: u64,
    /// Those of them that could be mounted as before, without a repair.
    pub mounted: u64,
    /// Those of them whose repair before the mount could not replay the journal, and went on
    /// without.
    pub failed_replays: u64,
    /// Sequences in which a promise of fsync is broken.
    pub contract_broken: u64,
    /// Sequences in which something customary is not so.
    pub customary_broken: u64,
    /// Sequences with a state that is not whole.
    pub damaged: u64,
    pub rules: Vec<BrokenRule>,
    pub cases: Vec<SequenceCase>,
}

/// One litmus program on one contender.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct LitmusRow {
    pub contender: String,
    pub litmus: String,
    /// Programs of the same name with other sizes and times.
    pub programs: u64,
    /// Those of them in which the answer is no in any state.
    pub programs_broken: u64,
    /// States that differ in what is on the disk.
    pub states: u64,
    pub mounted: u64,
    /// What was seen, and in how many states.
    pub outcomes: Vec<(String, u64)>,
    /// The first program and state with each wrong outcome.
    pub cases: Vec<SequenceCase>,
}

/// The row of all sequences on one contender.
pub(super) fn sequence_row(label: &str, length: usize, judged: &[&JudgedSequence]) -> SequenceRow {
    let count =
        |is: &dyn Fn(&JudgedSequence) -> bool| judged.iter().filter(|one| is(one)).count() as u64;
    let has = |class: RuleClass| {
        count(&|one| one.states_of_rule.keys().any(|rule| rule.class() == class))
    };
    let sum = |of: fn(&JudgedSequence) -> u64| {
        judged.iter().map(|one| of(one)).fold(0, u64::saturating_add)
    };
    let mut failed: BTreeMap<String, u64> = BTreeMap::new();
    for op in judged.iter().filter_map(|one| one.failed.clone()) {
        *failed.entry(op).or_default() += 1;
    }
    let rules: BTreeSet<Rule> =
        judged.iter().flat_map(|one| one.states_of_rule.keys().copied()).collect();
    let mut broken: Vec<BrokenRule> = Vec::new();
    let mut cases = Vec::new();
    for rule in rules {
        let states = judged.iter().filter_map(|one| one.states_of_rule.get(&rule));
        let states = states.copied().fold(0, u64::saturating_add);
        broken.push(BrokenRule {
            class: rule.class().name().to_owned(),
            sentence: rule.sentence().to_owned(),
            sequences: count(&|one| one.states_of_rule.contains_key(&rule)),
            states,
        });
        let mut of_rule: Vec<SequenceCase> = judged
            .iter()
            .flat_map(|one| &one.cases)
            .filter(|(of, _)| *of == rule)
            .map(|(_, case)| case.clone())
            .collect();
        // The shortest program says most.
        of_rule.sort_by_key(|case| case.program.len());
        cases.extend(of_rule);
    }
    SequenceRow {
        contender: label.to_owned(),
        length,
        sequences: judged.len() as u64,
        not_judged: count(&|one| one.failed.is_some() || one.died),
        failed: failed.into_iter().collect(),
        died: count(&|one| one.died),
        states: sum(|one| one.states),
        different: sum(|one| one.different),
        mounted: sum(|one| one.mounted),
        failed_replays: sum(|one| one.failed_replays),
        contract_broken: has(RuleClass::Contract),
        customary_broken: has(RuleClass::Customary),
        damaged: has(RuleClass::Damage),
        rules: broken,
        cases,
    }
}

/// The row of one litmus program.
pub(super) fn litmus_row(label: &str, litmus: &str, all: &[&JudgedLitmus]) -> LitmusRow {
    let mut outcomes: BTreeMap<LitmusOutcome, u64> = BTreeMap::new();
    for (outcome, states) in all.iter().flat_map(|one| &one.outcomes) {
        let sum: &mut u64 = outcomes.entry(*outcome).or_default();
        *sum = sum.saturating_add(*states);
    }
    let mut cases: BTreeMap<LitmusOutcome, SequenceCase> = BTreeMap::new();
    for (outcome, case) in all.iter().flat_map(|one| &one.cases) {
        cases.entry(*outcome).or_insert_with(|| case.clone());
    }
    LitmusRow {
        contender: label.to_owned(),
        litmus: litmus.to_owned(),
        programs: all.len() as u64,
        programs_broken: all.iter().filter(|one| !one.cases.is_empty()).count() as u64,
        states: all.iter().map(|one| one.states).fold(0, u64::saturating_add),
        mounted: all.iter().map(|one| one.mounted).fold(0, u64::saturating_add),
        outcomes: outcomes.iter().map(|(one, many)| (one.name().to_owned(), *many)).collect(),
        cases: cases.into_values().collect(),
    }
}
