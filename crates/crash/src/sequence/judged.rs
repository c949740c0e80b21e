//! What all states of one sequence, or of one litmus program, come to: as it is stored.

use super::judge::{Broken, Progress, Rule, RuleClass, judge};
use super::litmus::{Litmus, LitmusOutcome, LitmusProgram};
use super::model::History;
use super::op::FileOp;
use super::program::one_line;
use super::tree::{SequenceRecord, TreeObservation};
use crate::JsonSchema;
use crate::observation::MountStep;
use crate::state::CrashState;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One sequence that does not get what is demanded, in its first state of that kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SequenceCase {
    pub class: String,
    pub sentence: String,
    /// Operations until the power went.
    pub program: String,
    /// Which writes the disk had.
    pub state: String,
    /// Writes, flushes and discards of the log that had completed.
    pub entries: u32,
    pub path: Option<String>,
    pub expected: String,
    pub found: String,
}

/// A sequence that was judged.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JudgedSequence {
    /// The operation that failed, with its errno.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Its guest did not survive it, before any power cut.
    pub died: bool,
    pub states: u64,
    /// States that differ in what is on the disk.
    pub different: u64,
    /// Those of them that could be mounted as before, without a repair.
    pub mounted: u64,
    /// Those of them whose repair before the mount could not replay the journal.
    pub failed_replays: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<(Rule, SequenceCase)>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states_of_rule: BTreeMap<Rule, u64>,
}

impl JudgedSequence {
    /// One that no guest survives.
    #[must_use]
    pub fn died() -> Self {
        Self { died: true, ..Self::default() }
    }

    /// Holds the states of a sequence against what was persisted.
    #[must_use]
    pub fn new<'o>(
        ops: &[FileOp],
        record: &SequenceRecord,
        observed: impl Iterator<Item = (&'o CrashState, &'o TreeObservation)>,
    ) -> Self {
        let done = record.done();
        let mut judged = Self {
            failed: ops.get(done).map(|op| {
                let errno = record.ops.get(done).and_then(|op| op.errno).unwrap_or(0);
                format!("{op}: errno {errno}")
            }),
            ..Self::default()
        };
        let Ok(history) = History::new(&ops[..done.min(ops.len())]) else { return judged };
        let mut known = BTreeSet::new();
        for (state, seen) in observed {
            let is_new = known.insert(state.contents);
            judged.states += 1;
            judged.different += u64::from(is_new);
            judged.mounted += u64::from(is_new && is_mounted_as_before(seen));
            judged.failed_replays += u64::from(is_new && seen.whole.replay_failed);
            if judged.failed.is_none() {
                judged.add_broken(ops, &history, progress(record, state.at_ns), (state, seen));
            }
        }
        judged
    }

    /// Adds the demands that a state does not meet.
    fn add_broken(
        &mut self,
        ops: &[FileOp],
        history: &History,
        progress: Progress,
        (state, seen): (&CrashState, &TreeObservation),
    ) {
        let mut rules = BTreeSet::new();
        for broken in judge(history, progress, seen) {
            rules.insert(broken.rule);
            let is_known = self
                .cases
                .iter()
                .any(|(rule, case)| *rule == broken.rule && case.path == broken.path);
            if !is_known {
                self.cases.push((broken.rule, case(ops, 0, progress, state, &broken)));
            }
        }
        for rule in rules {
            *self.states_of_rule.entry(rule).or_default() += 1;
        }
    }
}

/// In its first attempt, read-write, or after the repair that is asked for first.
fn is_mounted_as_before(seen: &TreeObservation) -> bool {
    let first = seen.whole.mounts.first();
    first.is_some_and(|mount| {
        mount.errno.is_none() && matches!(mount.step, MountStep::ReadWrite | MountStep::AfterRepair)
    })
}

/// Operations that had returned and begun at this time.
fn progress(record: &SequenceRecord, at_ns: u64) -> Progress {
    let done = &record.ops[..record.done()];
    Progress {
        returned: done.iter().filter(|op| op.end_ns < at_ns).count(),
        begun: done.iter().filter(|op| op.begin_ns <= at_ns).count(),
    }
}

/// The case of the operations from the one numbered `from`.
fn case(
    ops: &[FileOp],
    from: usize,
    progress: Progress,
    state: &CrashState,
    broken: &Broken,
) -> SequenceCase {
    let begun = &ops[from..progress.begun.clamp(from, ops.len())];
    let mut program = one_line(begun);
    if progress.begun > progress.returned {
        program.push_str(" (had not returned)");
    }
    SequenceCase {
        class: broken.rule.class().name().to_owned(),
        sentence: broken.rule.sentence().to_owned(),
        program,
        state: state.class.name(),
        entries: state.count,
        path: broken.path.clone(),
        expected: broken.expected.clone(),
        found: broken.found.clone(),
    }
}

impl RuleClass {
    /// As documents have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Contract => "contract",
            Self::Customary => "customary",
            Self::Damage => "damage",
        }
    }
}

/// A litmus program that was asked.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JudgedLitmus {
    pub litmus: Litmus,
    pub states: u64,
    pub mounted: u64,
    pub outcomes: BTreeMap<LitmusOutcome, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<(LitmusOutcome, SequenceCase)>,
}

impl JudgedLitmus {
    /// One without any state.
    #[must_use]
    pub fn without_states(litmus: Litmus) -> Self {
        Self { litmus, states: 0, mounted: 0, outcomes: BTreeMap::new(), cases: Vec::new() }
    }

    /// The outcomes of a program in its states.
    #[must_use]
    pub fn new<'o>(
        litmus: Litmus,
        program: &LitmusProgram,
        record: &SequenceRecord,
        observed: impl Iterator<Item = (&'o CrashState, &'o TreeObservation)>,
    ) -> Self {
        let mut judged = Self::without_states(litmus);
        for (state, seen) in observed {
            judged.states += 1;
            if seen.whole.mounted().is_none() {
                continue;
            }
            judged.mounted += 1;
            let outcome = litmus.outcome(program, seen);
            *judged.outcomes.entry(outcome).or_default() += 1;
            if !outcome.holds() && judged.cases.iter().all(|(known, _)| *known != outcome) {
                let broken = Broken {
                    rule: Rule::SyncedContents,
                    path: Some("file".to_owned()),
                    expected: String::new(),
                    found: outcome.name().to_owned(),
                };
                let progress = progress(record, state.at_ns);
                let case = case(&program.ops, program.asked_from, progress, state, &broken);
                let sentence = litmus.name().to_owned();
                judged.cases.push((outcome, SequenceCase { sentence, ..case }));
            }
        }
        judged
    }
}
