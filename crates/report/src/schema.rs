//! JSON Schemas (draft 2020-12) of the documents that `--json` and `export` write, computed from
//! the types that are written.
//!
//! The program does without this module: it prints the files of `docs/schemas`, and a test
//! here holds these equal to what is computed. `FSARENA_WRITE_SCHEMAS=1 cargo test -p
//! fsarena-report` writes them anew.

use crate::json::ReferenceLine;
use crate::{
    Advice, Answer, ComparedCrashRow, CrashApplicationHead, CrashHead, DatasetLine, DeviceModel,
    DeviceModelLine, MediumErrorHead, MergedLine, Missing, PlanCost, RunLine, SequenceHead,
    ShownDataset,
};
use fsarena_honesty::Replayed;
use fsarena_honesty::families::{FamiliesReplayed, Power};
use fsarena_model::host::{Finding, Noise};
use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunPlan, RunSession};
use fsarena_study::watched::WatchedPair;
use fsarena_study::{
    CrashApplicationRow, CrashRow, CrashRunsView, HuntRow, LitmusRow, MediumErrorRow, PhasePoints,
    SequenceRow, Study,
};
use fsarena_verdict::Verdicts;
use fsarena_verdict::compare::{Forest, History, Sides};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

/// The kinds of documents, and where they come from.
pub use crate::json::KINDS;

/// The documents but for `schema` and `kind`, which all of them have.
#[allow(dead_code, reason = "their shape is what is asked for")]
mod documents {
    use super::*;

    #[derive(JsonSchema)]
    pub(super) struct RunDocument {
        /// The plan, and where it was carried out.
        run: RunHeader,
        /// Uninterrupted pieces of it.
        sessions: Vec<RunSession>,
        /// What is computed from the records.
        study: Study,
        /// Of several attempts at a trial the latest.
        records: Vec<TrialRecord>,
        /// The answer against one baseline; absent of a watch.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<Answer>,
        /// What is said of the questions; absent where none was asked.
        #[serde(skip_serializing_if = "Option::is_none")]
        verdicts: Option<Verdicts>,
        /// What power cuts have shown; absent where there were none.
        #[serde(skip_serializing_if = "Option::is_none")]
        crash: Option<CrashRunsView>,
    }

    #[derive(JsonSchema)]
    pub(super) struct VerdictsDocument {
        #[serde(flatten)]
        verdicts: Verdicts,
    }

    #[derive(JsonSchema)]
    pub(super) struct CompareDocument<T> {
        /// What was found.
        compare: T,
        /// What was asked and has no figures on one side.
        missing: Vec<Missing>,
    }

    #[derive(JsonSchema)]
    pub(super) struct HistoryDocument {
        /// Figures over RUNs with the changes in them.
        history: History,
    }

    #[derive(JsonSchema)]
    pub(super) struct AdviceDocument {
        /// What is said of each purpose, in the order in which they were asked.
        purposes: Vec<Advice>,
    }

    #[derive(JsonSchema)]
    pub(super) struct ListDocument {
        /// One line each, the newest last.
        runs: Vec<RunLine>,
    }

    #[derive(JsonSchema)]
    pub(super) struct PlanDocument {
        /// What would be done.
        plan: RunPlan,
        /// What it is expected to take.
        cost: PlanCost,
    }

    #[derive(JsonSchema)]
    pub(super) struct DoctorDocument {
        /// One a check.
        findings: Vec<Finding>,
        /// The spread of equal runs, where it was measured.
        #[serde(skip_serializing_if = "Option::is_none")]
        noise: Option<Noise>,
    }

    #[derive(JsonSchema)]
    pub(super) struct MergeDocument {
        /// The other databases.
        databases: Vec<MergedDatabase>,
    }

    #[derive(JsonSchema)]
    pub(super) struct MergedDatabase {
        /// Where it lies.
        path: String,
        /// Its RUNs.
        runs: Vec<MergedLine>,
    }

    #[derive(JsonSchema)]
    pub(super) struct DatasetsDocument {
        /// Those that are built in.
        datasets: Vec<DatasetLine>,
    }

    #[derive(JsonSchema)]
    pub(super) struct DatasetDocument {
        /// The dataset, or what a directory or an archive holds.
        dataset: ShownDataset,
    }

    #[derive(JsonSchema)]
    pub(super) struct ReferencesDocument {
        /// The published studies.
        articles: Vec<ReferenceLine>,
    }

    /// What rules said on tapes.
    #[derive(JsonSchema)]
    pub(super) struct HonestyDocument<T> {
        /// One a tape.
        tapes: Vec<T>,
    }

    #[derive(JsonSchema)]
    pub(super) struct DeviceModelsDocument {
        /// Those that are built in.
        models: Vec<DeviceModelLine>,
    }

    #[derive(JsonSchema)]
    pub(super) struct DeviceModelDocument {
        /// What was measured of it in simulated time.
        device_model: DeviceModel,
    }

    /// Crash runs of one campaign.
    #[derive(JsonSchema)]
    pub(super) struct Campaign<H, R> {
        /// What was done, and how.
        head: H,
        /// What was found.
        rows: Vec<R>,
    }

    #[derive(JsonSchema)]
    pub(super) struct CrashDocument {
        /// Power cuts at random times.
        crash: Campaign<CrashHead, CrashRow>,
    }

    #[derive(JsonSchema)]
    pub(super) struct CompareCrashDocument {
        /// RUNs of crash runs alone next to each other.
        compared: CompareCrash,
    }

    #[derive(JsonSchema)]
    pub(super) struct CompareCrash {
        /// Their numbers.
        runs: Vec<String>,
        /// What was found in each.
        rows: Vec<ComparedCrashRow>,
    }

    #[derive(JsonSchema)]
    pub(super) struct HuntDocument {
        /// Power cuts at every event.
        hunt: Hunt,
    }

    #[derive(JsonSchema)]
    pub(super) struct Hunt {
        /// What was done, and how.
        head: CrashHead,
        /// States that are inspected of each moment.
        states: u32,
        /// What was found.
        rows: Vec<HuntRow>,
    }

    #[derive(JsonSchema)]
    pub(super) struct ApplicationDocument {
        /// Power cuts under applications.
        crash_application: Campaign<CrashApplicationHead, CrashApplicationRow>,
    }

    #[derive(JsonSchema)]
    pub(super) struct SequencesDocument {
        /// Sequences of operations, each with its power cuts.
        crash_sequences: Campaign<SequenceHead, SequenceRow>,
    }

    #[derive(JsonSchema)]
    pub(super) struct LitmusDocument {
        /// What file systems answer to litmus programs.
        crash_litmus: Campaign<SequenceHead, LitmusRow>,
    }

    #[derive(JsonSchema)]
    pub(super) struct MediumErrorsDocument {
        /// Writes and flushes that fail.
        medium_errors: MediumErrors,
    }

    #[derive(JsonSchema)]
    pub(super) struct MediumErrors {
        /// What was done, and how.
        head: MediumErrorHead,
        /// What was found.
        rows: Vec<MediumErrorRow>,
        /// Every case, with what was seen in it.
        cases: Vec<MediumErrorEntry>,
    }

    #[derive(JsonSchema)]
    pub(super) struct MediumErrorEntry {
        contender: String,
        workload: String,
        /// `not-struck`, `not-ended`, `unharmed`, `reported`, `lost-beside-report` or `silent`.
        verdict: String,
        /// The failing request, the calls that failed, and the files that are lost or damaged.
        case: Map<String, Value>,
    }
}

/// What a page of [`crate::page`] holds of each of its RUNs.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "its shape is what is asked for")]
struct ReportDocument {
    /// The plan, and where it was carried out.
    run: RunHeader,
    /// Uninterrupted pieces of it.
    sessions: Vec<RunSession>,
    /// What is said of the questions; null where none was asked. Of very many pairs, `pairs` of a
    /// question is null.
    verdicts: Option<Verdicts>,
    /// Every raw value; null where there are very many, which stand in the CSV of the page.
    points: Option<Vec<PhasePoints>>,
}

/// The schema of a kind of document; `None` for a kind that is not in [`KINDS`], or of which the
/// command line has the types ([`document_schema`]).
#[must_use]
pub fn schema(kind: &str) -> Option<Value> {
    let schema = match kind {
        "run" => schema_of::<documents::RunDocument>(),
        "verdicts" => schema_of::<documents::VerdictsDocument>(),
        "compare-run" => schema_of::<documents::CompareDocument<Verdicts>>(),
        "compare-runs" => schema_of::<documents::CompareDocument<Forest>>(),
        "compare-sides" => schema_of::<documents::CompareDocument<Sides>>(),
        "compare-watched" => schema_of::<documents::CompareDocument<WatchedPair>>(),
        "history" => schema_of::<documents::HistoryDocument>(),
        "advice" => schema_of::<documents::AdviceDocument>(),
        "list" => schema_of::<documents::ListDocument>(),
        "plan" => schema_of::<documents::PlanDocument>(),
        "doctor" => schema_of::<documents::DoctorDocument>(),
        "merge" => schema_of::<documents::MergeDocument>(),
        "datasets" => schema_of::<documents::DatasetsDocument>(),
        "dataset" => schema_of::<documents::DatasetDocument>(),
        "references" => schema_of::<documents::ReferencesDocument>(),
        "honesty" => schema_of::<documents::HonestyDocument<Replayed>>(),
        "honesty-families" => schema_of::<documents::HonestyDocument<FamiliesReplayed>>(),
        "honesty-power" => schema_of::<documents::HonestyDocument<Power>>(),
        "device-models" => schema_of::<documents::DeviceModelsDocument>(),
        "device-model" => schema_of::<documents::DeviceModelDocument>(),
        "report" => schema_of::<ReportDocument>(),
        "crash" => schema_of::<documents::CrashDocument>(),
        "compare-crash" => schema_of::<documents::CompareCrashDocument>(),
        "crash-hunt" => schema_of::<documents::HuntDocument>(),
        "crash-application" => schema_of::<documents::ApplicationDocument>(),
        "crash-sequences" => schema_of::<documents::SequencesDocument>(),
        "crash-litmus" => schema_of::<documents::LitmusDocument>(),
        "medium-errors" => schema_of::<documents::MediumErrorsDocument>(),
        _ => return None,
    };
    finished(kind, schema)
}

/// The schema of a kind of document whose other fields are those of `T`; `None` for a kind that is
/// not in [`KINDS`].
#[must_use]
pub fn document_schema<T: JsonSchema>(kind: &str) -> Option<Value> {
    finished(kind, schema_of::<T>())
}

/// With its title, and with what all documents have.
fn finished(kind: &str, schema: Schema) -> Option<Value> {
    let (_, from) = KINDS.iter().find(|(known, _)| *known == kind)?;
    let mut value = schema.to_value();
    value["title"] = json!(format!("fsarena {kind}"));
    value["description"] = json!(format!(
        "What fsarena writes for: {from}. Lengths are ns, sizes bytes; keys end with their unit. \
         Fields may be added within this version."
    ));
    value["properties"]["schema"] = json!({ "const": crate::json::SCHEMA });
    value["properties"]["kind"] = json!({ "const": kind });
    if let Some(required) = value["required"].as_array_mut() {
        required.splice(..0, ["schema", "kind"].map(Value::from));
    }
    with_units(&mut value);
    if kind == "report"
        && let Some(pairs) = value.pointer_mut("/$defs/QuestionView/properties/pairs/type")
    {
        *pairs = json!(["array", "null"]);
    }
    Some(value)
}

fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Figures whose unit depends on the metric: in documents it stands in the key
/// (`crate::verdict_json`, `crate::compare_json`).
fn with_units(schema: &mut Value) {
    let Some(types) = schema.get_mut("$defs").and_then(Value::as_object_mut) else { return };
    let base = ["median", "median_low", "median_high", "geometric_mean", "min", "max"];
    if let Some(row) = types.get_mut("RankRow") {
        base.iter()
            .for_each(|key| by_unit(row, key, &[&format!("{key}_ns"), &format!("{key}_bytes")]));
    }
    if let Some(cell) = types.get_mut("AnswerCell") {
        ["median", "min", "max"]
            .iter()
            .for_each(|key| by_unit(cell, key, &[&format!("{key}_ns"), &format!("{key}_bytes")]));
    }
    if let Some(forecast) = types.get_mut("Forecast") {
        by_unit(forecast, "seconds", &["more_s"]);
        by_unit(forecast, "most_seconds", &["most_more_s"]);
    }
    if let Some(point) = types.get_mut("HistoryPoint") {
        ["value", "low", "high"]
            .iter()
            .for_each(|key| by_unit(point, key, &[&format!("{key}_ns"), &format!("{key}_bytes")]));
    }
    if let Some(value) = types.get_mut("UnitValue") {
        by_unit(value, "value", &["value_ns", "value_bytes"]);
    }
}

/// Puts `names` in the place of a property; one of several is there, so that none is required.
fn by_unit(of: &mut Value, key: &str, names: &[&str]) {
    let properties = of.get_mut("properties").and_then(Value::as_object_mut);
    let Some(property) = properties.and_then(|all| all.remove(key)) else { return };
    if let Some(required) = of.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != key);
        if let [name] = names {
            required.push(json!(name));
        }
    }
    let properties = of.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(all) = properties {
        let named = names.iter().map(|name| ((*name).to_owned(), property.clone()));
        all.extend(named.collect::<Map<String, Value>>());
    }
}

/// Asserts that `body`, under `key`, is what the schema of the kind says.
#[cfg(test)]
pub(crate) fn assert_valid(kind: &str, key: &str, body: Value) {
    let validator = jsonschema::validator_for(&schema(kind).unwrap()).unwrap();
    let valid = crate::json::document(kind, key, &body);
    let errors: Vec<String> =
        validator.iter_errors(&valid).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{kind}: {errors:#?}");
    // Every field is required; one that may be missing is null. Of a list the first element.
    let place = if body.is_array() { format!("/{key}/0") } else { format!("/{key}") };
    let fields = valid.pointer(&place).and_then(Value::as_object).unwrap();
    for part in fields.keys() {
        let mut less = valid.clone();
        less.pointer_mut(&place).unwrap().as_object_mut().unwrap().remove(part);
        assert!(!validator.is_valid(&less), "{kind}: {part} may be absent");
    }
}
