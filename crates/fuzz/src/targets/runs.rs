//! Plans and records as they are stored and shown: JSON that a database has, and RUNs in which any
//! value was changed.

use crate::edits::edited;
use crate::shown::{StoredRun, show};
use crate::target::{PLAIN, Target};
use fsarena_crash::record::StoredCrashRun;
use fsarena_model::crash::CrashNotRun;
use fsarena_model::header_rules;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{NotRun, RunHeader};
use fsarena_model::verdict::Rule;
use fsarena_model::work::Workload;
use fsarena_testkit::crash::{self, Traits};
use fsarena_testkit::records::{self, contender};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

pub(super) const RUN_RECORD: Target = Target {
    name: "run-record",
    reads: "JSON of a header, a record or a crash run, byte by byte",
    seeds: record_seeds,
    run: run_record,
    ..PLAIN
};

pub(super) const RUN_SHOWN: Target = Target {
    name: "run-shown",
    reads: "a RUN with any values changed, in every form in which it is shown",
    shares: 6,
    most_bytes: 256,
    seeds: || (0..16).map(|number| vec![number; 25]).collect(),
    run: run_shown,
};

/// A RUN with all that a database can have of one, for each kind of work.
pub(super) static SAMPLES: LazyLock<Vec<StoredRun>> = LazyLock::new(|| {
    let work =
        [records::small_files(), records::periodic(), records::real_work(), records::fio_job()];
    work.into_iter().map(sample).collect()
});

/// Two contenders on this work, with crash runs.
fn sample(workload: Workload) -> StoredRun {
    let mut contenders = vec![contender("ext4", "ext4", 1), contender("xfs", "xfs", 1)];
    contenders[1].levels.memory_bytes = Some(64 << 20);
    let mut header = records::header(contenders, vec![workload], 2);
    header.plan.verdict = Some(records::asked(&header.plan, Rule::Fixed { blocks: 2 }));
    let reason = "it is too small".to_owned();
    header.plan.not_run.push(NotRun { contender: 1, workload: Some(0), reason });
    let mut crash = crash::plan();
    crash.not_run.push(CrashNotRun { contender: 1, reason: "why".to_owned() });
    crash.workload_notes.push("a note".to_owned());
    header.plan.crash = Some(crash);
    let count = u32::try_from(header.plan.schedule.len()).expect("a small plan");
    let records = (0..count).map(|at| records::record(&header, at)).collect();
    let traits = Traits { loss_s: 40, damaged: 3, is_promised: true, ..Default::default() };
    let slots = header.plan.crash_slots().into_iter().take(4);
    let mut crashes: Vec<_> = slots.map(|slot| crash::run(&header, slot, traits)).collect();
    let last = crashes.pop().expect("a plan with crash runs");
    crashes.push(crash::failed(last.slot, "the guest ended"));
    let sessions = vec![records::session("b", 0)];
    StoredRun { header, sessions, records, crashes, stop: None, looks: Vec::new() }
}

fn record_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for sample in &*SAMPLES {
        seeds.push(serde_json::to_vec(&sample.header));
        seeds.push(serde_json::to_vec(&sample.records[0]));
        seeds.push(serde_json::to_vec(&sample.crashes[0]));
    }
    seeds.into_iter().map(|seed| seed.expect("plain data")).collect()
}

/// What is read is written and read the same.
fn run_record(input: &[u8]) {
    if let Ok(header) = serde_json::from_slice::<RunHeader>(input) {
        stays_the_same(&header);
        if let Err(rule) = header_rules::check(&header) {
            assert!(!rule.field.is_empty() && !rule.what.is_empty(), "{rule}");
        }
    }
    if let Ok(record) = serde_json::from_slice::<TrialRecord>(input) {
        stays_the_same(&record);
    }
    if let Ok(crash) = serde_json::from_slice::<StoredCrashRun>(input) {
        stays_the_same(&crash);
    }
}

/// By their texts: a number that is none is not itself.
fn stays_the_same<T: Serialize + DeserializeOwned>(value: &T) {
    let text = serde_json::to_string(value).expect("plain data");
    match serde_json::from_str::<T>(&text) {
        Ok(again) => assert_eq!(serde_json::to_string(&again).ok(), Some(text)),
        // What is no number in JSON is written as null, and null is read where there may be none.
        Err(error) => assert!(text.contains("null"), "{error}: {text}"),
    }
}

/// The document changed, where it is still one of these.
pub(super) fn changed<T: Serialize + DeserializeOwned>(value: &T, script: &[u8]) -> Option<T> {
    let document: Value = serde_json::to_value(value).expect("plain data");
    serde_json::from_value(edited(&document, script)).ok()
}

/// What `header_rules` and the store let through is shown in every form, with nothing hidden in it.
fn run_shown(input: &[u8]) {
    let Some((which, script)) = input.split_first() else { return };
    let sample = &SAMPLES[usize::from(*which) % SAMPLES.len()];
    let part = script.len().div_ceil(3).next_multiple_of(crate::edits::EDIT_BYTES).max(1);
    let mut parts = script.chunks(part);
    let mut next = || parts.next().unwrap_or_default();
    let mut run = sample.clone();
    if let Some(header) = changed(&sample.header, next())
        && header_rules::check(&header).is_ok()
    {
        run.header = header;
    }
    let script = next();
    for (at, record) in sample.records.iter().enumerate() {
        if let Some(record) = changed(record, script) {
            run.records[at] = record;
        }
    }
    let script = next();
    for (at, crash) in sample.crashes.iter().enumerate() {
        if let Some(crash) = changed(crash, script) {
            run.crashes[at] = crash;
        }
    }
    show(&as_stored(run));
}

/// What the store lets through of it: records and crash runs of the trials of the plan.
fn as_stored(mut run: StoredRun) -> StoredRun {
    let header = &run.header;
    run.records.retain(|record| {
        let sequence = record.key.sequence;
        let is_there = (sequence as usize) < header.plan.schedule.len();
        is_there && record.key == fsarena_model::spec::TrialKey::new(header, sequence)
    });
    let known: BTreeSet<_> = header.plan.crash_slots().into_iter().collect();
    run.crashes.retain(|crash| known.contains(&crash.slot));
    run
}
