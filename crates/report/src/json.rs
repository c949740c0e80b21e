//! JSON documents: one a command, `"schema": 1`, base units with the unit in the key.

use crate::list::RunLine;
use fsarena_model::record::TrialRecord;
use fsarena_model::run::RunHeader;
use fsarena_study::Study;
use serde_json::{Value, json};

/// Version of the documents.
pub const SCHEMA: u32 = 1;

/// One RUN: its header, the study and the raw records (`run --json`, `show --json`).
#[must_use]
pub fn show(header: &RunHeader, study: &Study, records: &[TrialRecord]) -> Value {
    json!({ "schema": SCHEMA, "kind": "run", "run": header, "study": study, "records": records })
}

/// The list of RUNs (`list --json`).
#[must_use]
pub fn list(runs: &[RunLine]) -> Value {
    json!({ "schema": SCHEMA, "kind": "list", "runs": runs })
}

/// A plan and its expected cost (`run --dry-run --json`).
#[must_use]
pub fn plan(plan: &fsarena_model::run::RunPlan, cost: &crate::PlanCost) -> Value {
    json!({ "schema": SCHEMA, "kind": "plan", "plan": plan, "cost": cost })
}
