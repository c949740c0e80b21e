//! Every document that a test reads against the published schema of its kind.

use jsonschema::Validator;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// One a kind: the largest takes a while to compile.
static VALIDATORS: Mutex<Option<HashMap<String, Arc<Validator>>>> = Mutex::new(None);

/// Asserts that a document is what the published schema of its kind says.
#[track_caller]
pub fn assert_published(document: &Value) {
    let kind = document["kind"].as_str().expect("a document names its kind");
    let validator = validator(kind);
    let errors = validator.iter_errors(document);
    let errors: Vec<String> =
        errors.take(5).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "docs/schemas/{kind}.schema.json: {errors:#?}");
}

fn validator(kind: &str) -> Arc<Validator> {
    let mut all = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_with(HashMap::new);
    let made = || {
        let path = format!("../../docs/schemas/{kind}.schema.json");
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
        let text = text.unwrap_or_else(|error| panic!("no schema is published of {kind}: {error}"));
        let schema = serde_json::from_str(&text).unwrap();
        Arc::new(jsonschema::validator_for(&schema).unwrap())
    };
    Arc::clone(all.entry(kind.to_owned()).or_insert_with(made))
}
