//! JSON documents: one a command, `"schema": 2`, base units with the unit in the key. Verdicts are
//! a value that every machine prints byte for byte the same.

use crate::answer::Answer;
use crate::article::{OwnPhase, OwnRun};
use fsarena_reference::Article;
use fsarena_study::Study;
use fsarena_verdict::Verdicts;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Version of the documents. Where 1 had `safety`, 2 has `crash`; where it had `told` in a name,
/// `reported`; where it had the `rung` of a mount, its `step`; and where `devices` had the kind
/// `ram`, `brd`.
pub const SCHEMA: u32 = 2;

/// The kinds of documents that have a published schema, and what writes them.
pub const KINDS: [(&str, &str); 35] = [
    ("run", "run --json, show --json, export --format json"),
    ("verdicts", "study --json"),
    ("compare-run", "compare [RUN] --json, of one RUN"),
    ("compare-runs", "compare RUN RUN … --json"),
    ("compare-sides", "compare --before RUN,… --after RUN,… --json"),
    ("compare-watched", "compare RUN[@FROM-TO] RUN[@FROM-TO] --json, of watched RUNs"),
    ("compare-crash", "compare RUN RUN … --json, of crash runs"),
    ("history", "history WORKLOAD --json"),
    ("advice", "advise --json, advise --run RUN --json"),
    ("list", "list --json"),
    ("plan", "run --dry-run --json"),
    ("doctor", "doctor --json"),
    ("merge", "merge --json"),
    ("datasets", "dataset --json"),
    ("dataset", "dataset NAME --json, dataset PATH --json"),
    ("device-models", "devices --models --json"),
    ("device-model", "devices --model MODEL --json"),
    ("references", "reference --json"),
    ("honesty", "selftest honesty --json, of one contender"),
    ("honesty-families", "selftest honesty --json, of several contenders"),
    ("honesty-power", "selftest honesty --power --json"),
    ("report", "report, in the page, a script element a RUN"),
    ("crash", "crash --json"),
    ("crash-hunt", "crash --every-event --json"),
    ("crash-application", "crash --application NAME --json"),
    ("crash-sequences", "crash sequences --json"),
    ("crash-litmus", "crash litmus --json"),
    ("medium-errors", "crash medium-errors --json"),
    ("crash-states", "crash states --json"),
    ("crash-state", "crash show STATE --json"),
    ("devices", "devices --json"),
    ("kernel", "kernel build --json"),
    ("kernels", "kernel list --json"),
    ("kernel-check", "kernel check --json"),
    ("programs", "programs list --json, programs add i386 --json"),
];

/// A document of one value, under `key`: of RUNs (`list --json`), the built-in datasets or one
/// dataset (`dataset --json`), what rules said on tapes (`selftest honesty --json`), the block
/// devices of the machine (`devices --json`), device models (`devices --models --json`, `devices
/// --model MODEL --json`).
///
/// # Panics
/// In builds for tests, where the kind is none of [`KINDS`].
#[must_use]
pub fn document(kind: &str, key: &str, value: &impl serde::Serialize) -> Value {
    let has_schema = KINDS.iter().any(|(known, _)| *known == kind);
    debug_assert!(has_schema, "{kind} is not in KINDS");
    json!({ "schema": SCHEMA, "kind": kind, key: value })
}

/// One RUN: its header, its sessions, the study, the raw records, of several attempts at a trial
/// the latest, its answer, and the verdicts where it asks for them (`run --json`, `show --json`,
/// `export --format json`).
#[must_use]
pub fn show(run: &crate::Run<'_>) -> Value {
    let mut document = json!({
        "schema": SCHEMA,
        "kind": "run",
        "run": run.header,
        "sessions": run.sessions,
        "study": run.study,
        "records": run.records,
    });
    if !run.is_watched() {
        document["answer"] = answer_json(&crate::answer(run, None));
    }
    if let Some(verdicts) = run.verdicts {
        document["verdicts"] = verdict_json(verdicts);
    }
    if let Some(crash) = run.crash {
        document["crash"] = json!(crash);
    }
    document
}

/// What is long in a record and seldom read again: the latency of single ops, bucket by bucket, and
/// the readings over time.
const LONG: [&str; 4] = ["latency", "write_latency", "latency_series", "series"];

/// The document of a RUN for a file: a line a field, and a line a record. Without what is long,
/// which is `null` there; its percentiles stand in the study.
///
/// # Panics
/// Never: a value is written to memory.
#[must_use]
pub fn export(mut document: Value, has_raw: bool) -> String {
    if !has_raw {
        for record in objects(&mut document, "records") {
            let phases = record.get_mut("phases").and_then(Value::as_array_mut);
            phases.into_iter().flatten().for_each(without_long);
        }
    }
    let mut out = String::from("{");
    for (at, (key, value)) in document.as_object().into_iter().flatten().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        out.push_str(&format!("{comma}\n{}: ", Value::from(key.as_str())));
        match value.as_array().filter(|all| key == "records" && !all.is_empty()) {
            Some(records) => {
                let lines: Vec<String> = records.iter().map(Value::to_string).collect();
                out.push_str(&format!("[\n{}\n]", lines.join(",\n")));
            }
            None => out.push_str(&value.to_string()),
        }
    }
    out + "\n}\n"
}

/// Wherever it stands in a phase: cycles and second loads have latencies of their own.
fn without_long(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_long),
        Value::Object(fields) => {
            for (key, value) in fields {
                match LONG.contains(&key.as_str()) {
                    true => *value = Value::Null,
                    false => without_long(value),
                }
            }
        }
        _ => {}
    }
}

/// The verdicts of a RUN (`study --json`).
#[must_use]
pub fn verdicts(verdicts: &fsarena_verdict::Verdicts) -> Value {
    let mut document = verdict_json(verdicts);
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

/// A published study.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct ReferenceLine {
    /// When it was published.
    year: u16,
    /// What it is.
    title: String,
}

/// Years and titles of the published studies (`reference --json` without a year).
#[must_use]
pub fn references(list: &[(u16, &str)]) -> Value {
    let one =
        |(year, title): &(u16, &str)| ReferenceLine { year: *year, title: (*title).to_owned() };
    let articles: Vec<ReferenceLine> = list.iter().map(one).collect();
    document("references", "articles", &articles)
}

/// What was taken from other databases, each with its path and its RUNs (`merge --json`).
#[must_use]
pub fn merged(databases: &[(String, Vec<crate::MergedLine>)]) -> Value {
    let databases: Vec<Value> =
        databases.iter().map(|(path, runs)| json!({ "path": path, "runs": runs })).collect();
    document("merge", "databases", &databases)
}

/// What a critical reader would object to, with the spread of equal runs where it was measured
/// (`doctor --json`).
#[must_use]
pub fn doctor(
    findings: &[fsarena_model::host::Finding],
    noise: Option<&fsarena_model::host::Noise>,
) -> Value {
    let mut value = document("doctor", "findings", &findings);
    if let Some(noise) = noise {
        value["noise"] = json!(noise);
    }
    value
}

/// A plan and its expected cost (`run --dry-run --json`).
#[must_use]
pub fn plan(plan: &fsarena_model::run::RunPlan, cost: &crate::PlanCost) -> Value {
    json!({ "schema": SCHEMA, "kind": "plan", "plan": plan, "cost": cost })
}

/// Figures of a contender in the metric's base unit; their keys get the unit.
const IN_BASE_UNIT: [&str; 6] =
    ["median", "median_low", "median_high", "geometric_mean", "min", "max"];

/// The answer of a RUN as JSON: its fields, with values in the metric's base unit and numbers
/// rounded as in [`verdict_json`].
#[must_use]
pub fn answer_json(answer: &Answer) -> Value {
    let mut value = serde_json::to_value(answer).unwrap_or(Value::Null);
    for (json, row) in objects(&mut value, "rows").zip(&answer.rows) {
        let unit = row.metric.row().unit.suffix();
        let cells = json.get_mut("cells").and_then(Value::as_array_mut);
        for cell in cells.into_iter().flatten().filter_map(Value::as_object_mut) {
            for key in ["median", "min", "max"] {
                rename(cell, key, &format!("{key}_{unit}"));
            }
        }
    }
    round(&mut value);
    value
}

/// The verdicts of a RUN as JSON: the fields of [`Verdicts`], with these differences. Numbers
/// with a fraction are rounded to 6 significant digits, because the last digits of a logarithm
/// differ from machine to machine; values in the metric's base unit have that unit in their key
/// (`median_ns`, `median_bytes`), as has the time of a forecast (`more_s`). What is not a number
/// is `null`.
#[must_use]
pub fn verdict_json(verdicts: &Verdicts) -> Value {
    let mut value = serde_json::to_value(verdicts).unwrap_or(Value::Null);
    let questions = value.get_mut("questions").and_then(Value::as_array_mut);
    for (json, question) in questions.into_iter().flatten().zip(&verdicts.questions) {
        let unit = question.metric.row().unit.suffix();
        for row in objects(json, "rows") {
            for key in IN_BASE_UNIT {
                rename(row, key, &format!("{key}_{unit}"));
            }
        }
        for pair in objects(json, "pairs") {
            if let Some(forecast) = pair.get_mut("forecast").and_then(Value::as_object_mut) {
                rename(forecast, "seconds", "more_s");
                rename(forecast, "most_seconds", "most_more_s");
            }
        }
    }
    round(&mut value);
    value
}

/// The objects in the list `key` of an object.
fn objects<'a>(
    value: &'a mut Value,
    key: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = value.get_mut(key).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn rename(object: &mut Map<String, Value>, from: &str, to: &str) {
    if let Some(value) = object.remove(from) {
        object.insert(to.to_owned(), value);
    }
}

/// Rounds all numbers with a fraction in a document; whole ones are counts and lengths, and exact.
pub(crate) fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(rounded) = number.as_f64().and_then(six_digits) {
                *number = rounded;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        _ => {}
    }
}

/// To 6 significant digits by way of decimal text: the nearest double of a short decimal number is
/// printed as that number.
fn six_digits(value: f64) -> Option<serde_json::Number> {
    serde_json::Number::from_f64(format!("{value:.5e}").parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_short() {
        let mut value = serde_json::json!({
            "a": [1.234_567_89, 1e-9 / 3.0, 123_456_789.4],
            "whole": 1_234_567_890_123u64,
            "text": "1.23456789",
        });
        round(&mut value);
        assert_eq!(
            value.to_string(),
            r#"{"a":[1.23457,3.33333e-10,123457000.0],"text":"1.23456789","whole":1234567890123}"#
        );
    }

    #[test]
    fn a_file_has_a_line_a_record_and_no_bucket_unless_it_is_asked_for() {
        let phase = serde_json::json!({
            "latency": {"buckets": [[1, 2]]}, "write_latency": null, "series": {"t": [1]},
            "ops": 3, "cycles": {"cycles": [{"report": {"latency": {"buckets": [[1, 2]]}}}]},
        });
        let record = serde_json::json!({ "phases": [phase] });
        let document = serde_json::json!({ "schema": 1, "records": [record, record] });
        let whole = export(document.clone(), true);
        assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), document);
        let short = export(document, false);
        assert_eq!(short.lines().filter(|line| line.starts_with("{\"phases\"")).count(), 2);
        assert!(!short.contains("buckets") && !short.contains("\"t\""), "{short}");
        let read: Value = serde_json::from_str(&short).unwrap();
        assert_eq!(read["records"][1]["phases"][0]["ops"], 3);
        assert!(read["records"][1]["phases"][0]["latency"].is_null());
        assert_eq!(export(serde_json::json!({ "records": [] }), true), "{\n\"records\": []\n}\n");
    }

    proptest! {
        #[test]
        fn rounding_is_close_and_once_is_enough(value in -1e12f64..1e12) {
            let once = six_digits(value).unwrap().as_f64().unwrap();
            prop_assert!((once - value).abs() <= 5.001e-6 * value.abs());
            prop_assert_eq!(six_digits(once).unwrap().as_f64().unwrap(), once);
            let digits = six_digits(value).unwrap().to_string();
            let mantissa = digits.split('e').next().unwrap().replace(['-', '.'], "");
            let significant = mantissa.trim_start_matches('0').trim_end_matches('0');
            prop_assert!(significant.len() <= 6, "{digits}");
        }
    }
}
