//! JSON documents: one a command, `"schema": 1`, base units with the unit in the key.

use crate::list::RunLine;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use fsarena_study::Study;
use serde_json::{Value, json};

/// Version of the documents.
pub const SCHEMA: u32 = 1;

/// One RUN: its header, its sessions, the study and the raw records, of several attempts at a trial
/// the latest (`run --json`, `show --json`).
#[must_use]
pub fn show(
    header: &RunHeader,
    sessions: &[RunSession],
    study: &Study,
    records: &[TrialRecord],
) -> Value {
    json!({
        "schema": SCHEMA,
        "kind": "run",
        "run": header,
        "sessions": sessions,
        "study": study,
        "records": records,
    })
}

/// The list of RUNs (`list --json`).
#[must_use]
pub fn list(runs: &[RunLine]) -> Value {
    json!({ "schema": SCHEMA, "kind": "list", "runs": runs })
}

/// The block devices of the machine (`devices --json`).
#[must_use]
pub fn devices(devices: &impl serde::Serialize) -> Value {
    json!({ "schema": SCHEMA, "kind": "devices", "devices": devices })
}

/// A plan and its expected cost (`run --dry-run --json`).
#[must_use]
pub fn plan(plan: &fsarena_model::run::RunPlan, cost: &crate::PlanCost) -> Value {
    json!({ "schema": SCHEMA, "kind": "plan", "plan": plan, "cost": cost })
}
