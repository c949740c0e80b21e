//! The keys at the top of an experiment, and the JSON Schema (draft 2020-12) of the whole file.
//!
//! The schema is computed from the types that read the file, and from the registry of factors (with
//! the feature `schema`; a test holds the published one equal to it). It is what editors complete
//! by, and its examples are what errors show.

use crate::JsonSchema;
use crate::error::{At, PlanError, Span};
use crate::experiment::EXPERIMENT_SCHEMA;
use crate::tree::{Hint, refusal};
use crate::values::{ExperimentName, List, Read, Within};
use crate::{crash, external, rows, settings};
#[cfg(feature = "schema")]
use crate::{factors, workload};
#[cfg(feature = "schema")]
use schemars::generate::SchemaSettings;
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An experiment: what varies, what work is done, how often.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    /// Version of this format.
    #[serde(rename = "schema", deserialize_with = "version")]
    #[schemars(schema_with = "version_schema")]
    _schema: (),
    /// a-z, 0-9, - _ . +, up to 64.
    #[schemars(example = &"my-experiment")]
    pub(crate) name: Read<ExperimentName>,
    /// One line for people.
    #[schemars(example = &"one line")]
    pub(crate) title: Option<String>,
    /// What the experiment shall answer.
    #[schemars(example = &"one line")]
    pub(crate) question: Option<String>,
    /// What has to be said with its figures.
    #[schemars(example = serde_json::json!(["one line"]))]
    #[serde(default)]
    pub(crate) notes: List<String>,
    #[serde(default)]
    pub(crate) run: settings::Keys,
    /// What varies: a value is one level, a list is an axis.
    #[serde(rename = "factors")]
    #[schemars(schema_with = "factors::schema")]
    _factors: IgnoredAny,
    #[serde(default)]
    pub(crate) filesystem: List<At<external::Keys>>,
    /// What work is done; nothing where `[crash]` has all that is done.
    #[serde(rename = "workload", default)]
    #[schemars(schema_with = "workload::schema")]
    _workload: IgnoredAny,
    #[serde(default)]
    pub(crate) row: List<rows::Keys>,
    /// Power cuts beside the trials, for contenders in guests.
    #[serde(alias = "safety")]
    pub(crate) crash: Option<crash::Keys>,
    /// Which file system takes the place of one that cannot be run here.
    #[schemars(with = "BTreeMap<String, String>", example = serde_json::json!({ "xfs": "ext3" }))]
    #[serde(default)]
    pub(crate) stand_in: BTreeMap<String, At<String>>,
}

fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    let found = Within::<0, { i64::MAX as u64 }>::deserialize(deserializer)?.0;
    if found == EXPERIMENT_SCHEMA as u64 {
        return Ok(());
    }
    let what = format!("schema {found} is not the one this program reads ({EXPERIMENT_SCHEMA})");
    let remedy = "use the program the file was written for, or write schema = 1";
    Err(refusal(&PlanError::new(&Span::Default, what, remedy)))
}

#[cfg(feature = "schema")]
fn version_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": EXPERIMENT_SCHEMA })
}

/// The JSON Schema of experiments as it is published, on one line.
pub const PUBLISHED_SCHEMA: &str = include_str!("../../../docs/schemas/experiment.schema.json");

/// The JSON Schema of experiments, computed.
#[must_use]
#[cfg(feature = "schema")]
pub fn experiment_schema() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_deserialize()
        .with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Document>().to_value();
    schema["title"] = json!("fsarena experiment");
    without_null(&mut schema);
    schema
}

/// TOML has no null: what may be absent is not among `required`.
#[cfg(feature = "schema")]
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(keys) => keys.values_mut().for_each(without_null),
        Value::Array(all) => {
            all.retain(|one| !one.is_null() && *one != "null" && *one != json!({ "type": "null" }));
            all.iter_mut().for_each(without_null);
        }
        _ => return,
    }
    if let Some(types) = schema.get_mut("type")
        && let Some([one]) = types.as_array().map(Vec::as_slice)
    {
        *types = one.clone();
    }
}

/// What the schema says of the value at a path (keys joined by dots).
pub(crate) fn hint(path: &str) -> Hint {
    let schema: Value = serde_json::from_str(PUBLISHED_SCHEMA).unwrap_or_default();
    let mut found = vec![&schema];
    for key in path.split('.') {
        found = found.into_iter().flat_map(|schema| inside(schema, key)).collect();
    }
    let meaning = found.first().and_then(|schema| schema.get("description")?.as_str());
    let meaning = meaning.map(str::to_owned);
    let example = found.into_iter().flat_map(shapes).find_map(first_example);
    Hint { example: example.map(|value| written(&value)), meaning }
}

/// A schema and those that it offers a choice of, elements of lists among them.
fn shapes(schema: &Value) -> Vec<&Value> {
    let choices = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let further = choices.chain(schema.get("items"));
    std::iter::once(schema).chain(further.flat_map(shapes)).collect()
}

/// The schemas of a key of a table.
fn inside<'s>(schema: &'s Value, key: &str) -> Vec<&'s Value> {
    let of = |shape: &'s Value| {
        let named = shape.get("properties").and_then(|keys| keys.get(key));
        named.or(shape.get("additionalProperties")).filter(|schema| schema.is_object())
    };
    shapes(schema).into_iter().filter_map(of).collect()
}

fn first_example(schema: &Value) -> Option<Value> {
    let first = |key: &str| schema.get(key).and_then(|all| all.get(0)).cloned();
    let of_type = || match schema.get("type")?.as_str()? {
        "boolean" => Some(json!(true)),
        "integer" => schema.get("minimum").cloned(),
        _ => None,
    };
    first("examples").or_else(|| first("enum")).or(schema.get("const").cloned()).or_else(of_type)
}

/// A value as TOML.
fn written(value: &Value) -> String {
    if value.as_str().is_some_and(|text| text.contains('\n')) {
        return "\"\"\"…\"\"\"".to_owned();
    }
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string())
}
