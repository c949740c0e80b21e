//! How the caches were, which programs took part, and what disturbed the trials.

use super::ledger::{CacheProof, ContenderRecords, Disturbance, Fact};
use crate::figures::median;
use crate::phases::groups;
use crate::{notes, programs};
use fsarena_model::record::{CacheState, Effective, PhaseRecord, TrialRecord};
use fsarena_model::run::{RunPlan, RunSession};
use indexmap::{IndexMap, IndexSet};
use std::collections::{BTreeMap, BTreeSet};

/// Reasons that are listed for one state.
const REASONS_MAX: usize = 3;

/// One entry a timed phase, contender and state; of phases that ran to their end.
pub(super) fn proofs(trials: &ContenderRecords<'_>) -> Vec<CacheProof> {
    let mut all = Vec::new();
    for workload in &trials.plan.workloads {
        let own: Vec<Vec<&TrialRecord>> = trials
            .own
            .iter()
            .map(|own| own.iter().copied().filter(|r| r.key.workload == workload.name).collect())
            .collect();
        for phase in workload.phases.iter().filter(|phase| phase.timed) {
            for (contender, own) in trials.plan.contenders.iter().zip(&own) {
                for (state, phases) in by_state(own, &phase.name) {
                    let names = [&workload.name, &phase.name, &contender.label];
                    all.push(proof(names.map(String::clone), state, &phases));
                }
            }
        }
    }
    all
}

/// Complete phases of this name by the state of their cache, cold first, whatever their memory.
fn by_state<'a>(
    own: &[&'a TrialRecord],
    phase: &str,
) -> IndexMap<CacheState, Vec<&'a PhaseRecord>> {
    let mut states: IndexMap<CacheState, Vec<&PhaseRecord>> = IndexMap::new();
    for (record, at) in groups(own, phase).into_values().flatten() {
        let found = &record.phases[at];
        states.entry(found.cache.state).or_default().push(found);
    }
    states
}

fn proof(names: [String; 3], state: CacheState, phases: &[&PhaseRecord]) -> CacheProof {
    let reasons: IndexSet<&str> = phases.iter().map(|phase| phase.cache.why.as_str()).collect();
    let more = if reasons.len() > REASONS_MAX { "; …" } else { "" };
    let shown: Vec<&str> = reasons.into_iter().take(REASONS_MAX).collect();
    let of = |reading: fn(&PhaseRecord) -> Option<u64>| {
        median(phases.iter().filter_map(|phase| reading(phase)).collect())
    };
    let [workload, phase, label] = names;
    CacheProof {
        workload,
        phase,
        label,
        state,
        trials: phases.len(),
        why: format!("{}{more}", shown.join("; ")),
        mount_read_bytes: of(|phase| phase.cache.proof.mount_read_bytes),
        needed_read_bytes: of(|phase| phase.cache.proof.needed_read_bytes),
        delivered_read_bytes: of(|phase| phase.cache.proof.delivered_read_bytes),
    }
}

/// In which state the timed phases of a contender began, over all its trials: `cold`, or `cold in 9
/// of 12 phases, warm in 3`; `None` where none ran to its end.
pub(super) fn states(trials: &ContenderRecords<'_>, contender: usize) -> Option<String> {
    let mut counts = BTreeMap::<CacheState, usize>::new();
    let phases = trials.own[contender].iter().flat_map(|record| &record.phases);
    for phase in phases.filter(|phase| phase.is_complete()) {
        *counts.entry(phase.cache.state).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let word = |state: CacheState| match state {
        CacheState::Cold => "cold",
        CacheState::ColdClients => "cold clients",
        CacheState::Warm => "warm",
        CacheState::WarmByNature => "warm by nature",
        CacheState::NotWarm => "not warm",
        CacheState::Unknown => "unknown",
    };
    let there: Vec<(&str, usize)> =
        counts.into_iter().map(|(state, count)| (word(state), count)).collect();
    match there.as_slice() {
        [] => None,
        [(word, _)] => Some((*word).to_owned()),
        several => {
            let part = |(word, count): &(&str, usize)| format!("{word} in {count}");
            let parts: Vec<String> = several.iter().map(part).collect();
            Some(format!("{} of {all} phases", parts.join(", ")))
        }
    }
}

/// Programs with their versions: ours, those that made the file systems, and those that did the
/// work.
pub(super) fn tools(trials: &ContenderRecords<'_>, records: &[TrialRecord]) -> Vec<Fact> {
    let mut tools = vec![Fact::new("fsarena", &trials.header.program_version)];
    let mut made: IndexMap<&str, IndexSet<&str>> = IndexMap::new();
    for Effective { name, tool_version, .. } in records.iter().map(|record| &record.filesystem) {
        if let Some(version) = tool_version.as_deref() {
            made.entry(version).or_default().insert(name);
        }
    }
    for (version, names) in made {
        let names: Vec<&str> = names.into_iter().collect();
        tools.push(Fact::new(&format!("maker of {}", names.join(", ")), version));
    }
    let mut known: BTreeSet<(String, String)> = BTreeSet::new();
    for found in programs::used(trials.plan, records) {
        let version = match found.version.as_str() {
            "" => "prints no version".to_owned(),
            version => version.to_owned(),
        };
        if known.insert((found.name.clone(), version.clone())) {
            tools.push(Fact::new(&found.name, version));
        }
    }
    tools
}

/// The notices of all trials.
pub(super) fn disturbances(
    plan: &RunPlan,
    sessions: &[RunSession],
    records: &[TrialRecord],
) -> Vec<Disturbance> {
    let boots: BTreeSet<&str> = sessions.iter().map(|session| session.boot_id.as_str()).collect();
    let rows = notes::notices(plan, sessions.len(), boots.len(), records);
    let of = |row: notes::NoticeRow| Disturbance {
        code: row.code,
        text: row.text,
        remedy: row.remedy,
        trials: row.trials,
        labels: row.labels,
    };
    rows.into_iter().map(of).collect()
}
