//! JSON documents: one a command, `"schema": 1`, base units with the unit in the key.

use crate::article::{OwnPhase, OwnRun};
use crate::list::RunLine;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_reference::Article;
use fsarena_study::Study;
use serde_json::{Value, json};

/// Version of the documents.
pub const SCHEMA: u32 = 1;

/// The kinds of documents that have a published schema, and what writes them.
pub const KINDS: [(&str, &str); 11] = [
    ("run", "run --json, show --json, export --format json"),
    ("verdicts", "study --json"),
    ("compare-runs", "compare RUN RUN … --json"),
    ("compare-sides", "compare --before RUN,… --after RUN,… --json"),
    ("compare-watched", "compare RUN[@FROM-TO] RUN[@FROM-TO] --json, of watched RUNs"),
    ("list", "list --json"),
    ("plan", "run --dry-run --json"),
    ("doctor", "doctor --json"),
    ("merge", "merge --json"),
    ("datasets", "dataset --json"),
    ("report", "report, in the page, a script element a RUN"),
];

/// One RUN: its header, its sessions, the study, the raw records, of several attempts at a trial
/// the latest, and the verdicts where it asks for them (`run --json`, `show --json`,
/// `export --format json`).
#[must_use]
pub fn show(
    header: &RunHeader,
    sessions: &[RunSession],
    study: &Study,
    records: &[TrialRecord],
    verdicts: Option<&fsarena_verdict::Verdicts>,
) -> Value {
    let mut document = json!({
        "schema": SCHEMA,
        "kind": "run",
        "run": header,
        "sessions": sessions,
        "study": study,
        "records": records,
    });
    if let Some(verdicts) = verdicts {
        document["verdicts"] = crate::verdict_json(verdicts);
    }
    document
}

/// The verdicts of a RUN (`study --json`).
#[must_use]
pub fn verdicts(verdicts: &fsarena_verdict::Verdicts) -> Value {
    let mut document = crate::verdict_json(verdicts);
    document["schema"] = SCHEMA.into();
    document["kind"] = "verdicts".into();
    document
}

/// A published study with what becomes of it, and RUNs of ours (`reference --json`): `phases` says
/// which phase of ours repeats which test of it.
#[must_use]
pub fn reference(article: &Article, phases: &[OwnPhase], runs: &[OwnRun<'_>]) -> Value {
    let phase =
        |own: &OwnPhase| json!({ "test": own.title, "workload": own.workload, "phase": own.phase });
    let phases: Vec<Value> = phases.iter().map(phase).collect();
    let studies: Vec<&Study> = runs.iter().map(|run| run.study).collect();
    json!({
        "schema": SCHEMA,
        "kind": "reference",
        "article": article,
        "phases": phases,
        "runs": studies,
    })
}

/// Years and titles of the published studies (`reference --json` without a year).
#[must_use]
pub fn references(list: &[(u16, &str)]) -> Value {
    let one = |(year, title): &(u16, &str)| json!({ "year": year, "title": title });
    let articles: Vec<Value> = list.iter().map(one).collect();
    json!({ "schema": SCHEMA, "kind": "references", "articles": articles })
}

/// The list of RUNs (`list --json`).
#[must_use]
pub fn list(runs: &[RunLine]) -> Value {
    json!({ "schema": SCHEMA, "kind": "list", "runs": runs })
}

/// What was taken from other databases, each with its path and its RUNs (`merge --json`).
#[must_use]
pub fn merged(databases: &[(String, Vec<crate::MergedLine>)]) -> Value {
    let databases: Vec<Value> =
        databases.iter().map(|(path, runs)| json!({ "path": path, "runs": runs })).collect();
    json!({ "schema": SCHEMA, "kind": "merge", "databases": databases })
}

/// The built-in datasets (`dataset --json`).
#[must_use]
pub fn datasets(datasets: &[crate::DatasetLine]) -> Value {
    json!({ "schema": SCHEMA, "kind": "datasets", "datasets": datasets })
}

/// One dataset, or a tree or archive of the user's (`dataset NAME --json`).
#[must_use]
pub fn dataset(dataset: &impl serde::Serialize) -> Value {
    json!({ "schema": SCHEMA, "kind": "dataset", "dataset": dataset })
}

/// What rules said on tapes (`selftest honesty --json`).
#[must_use]
pub fn honesty(tapes: &[fsarena_verdict::honesty::Replayed]) -> Value {
    json!({ "schema": SCHEMA, "kind": "honesty", "tapes": tapes })
}

/// The block devices of the machine (`devices --json`).
#[must_use]
pub fn devices(devices: &impl serde::Serialize) -> Value {
    json!({ "schema": SCHEMA, "kind": "devices", "devices": devices })
}

/// What a critical reader would object to, with the spread of equal runs where it was measured
/// (`doctor --json`).
#[must_use]
pub fn doctor(
    findings: &[fsarena_model::host::Finding],
    noise: Option<&fsarena_model::host::Noise>,
) -> Value {
    let mut document = json!({ "schema": SCHEMA, "kind": "doctor", "findings": findings });
    if let Some(noise) = noise {
        document["noise"] = json!(noise);
    }
    document
}

/// A plan and its expected cost (`run --dry-run --json`).
#[must_use]
pub fn plan(plan: &fsarena_model::run::RunPlan, cost: &crate::PlanCost) -> Value {
    json!({ "schema": SCHEMA, "kind": "plan", "plan": plan, "cost": cost })
}
