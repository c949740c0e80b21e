//! The JSON Schema of experiments: it takes what the program reads, and refuses other keys.

use fsarena_plan::{PUBLISHED_SCHEMA, builtin, experiment_schema, parse};
use jsonschema::Validator;
use serde_json::{Value, json};
use std::sync::LazyLock;

fn value(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().expect("TOML")).expect("no dates")
}

fn mistakes(document: &Value) -> Vec<String> {
    static VALIDATOR: LazyLock<Validator> =
        LazyLock::new(|| jsonschema::validator_for(&experiment_schema()).expect("a schema"));
    VALIDATOR.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn it_takes_every_experiment_and_workload_of_the_program() {
    for builtin in builtin::EXPERIMENTS {
        assert_eq!(mistakes(&value(builtin.text)), [""; 0], "{}", builtin.name);
    }
    let factors = json!({ "fs": ["ext4"], "device": "loop:2G" });
    for builtin in builtin::WORKLOADS {
        let work = [value(builtin.text)];
        let whole = json!({ "schema": 1, "name": "t", "factors": factors, "workload": work });
        assert_eq!(mistakes(&whole), [""; 0], "{}", builtin.name);
    }
}

#[test]
fn it_takes_every_example_of_the_format() {
    for text in crate::format::blocks().iter().map(|block| crate::format::whole(block)) {
        assert_eq!(mistakes(&value(&text)), [""; 0], "{text}");
    }
}

/// Every key of every table, one letter longer.
#[test]
fn it_refuses_unknown_keys_where_the_program_does() {
    let mut tried = 0;
    for builtin in builtin::EXPERIMENTS {
        let document = builtin.text.parse::<toml::Table>().unwrap();
        let mut changed = Vec::new();
        misspelt(&toml::Value::Table(document), &mut changed);
        for other in changed {
            let text = toml::to_string(&other).unwrap();
            let error = parse(&text, "t.toml").err();
            if error.is_some_and(|error| error.what.starts_with("unknown key")) {
                assert!(!mistakes(&value(&text)).is_empty(), "{text}");
                tried += 1;
            }
        }
    }
    assert!(tried > 50, "{tried}");
}

/// The same document once for each key in it, that key misspelt.
fn misspelt(value: &toml::Value, out: &mut Vec<toml::Value>) {
    match value {
        toml::Value::Table(table) => {
            for (key, inner) in table {
                let mut other = table.clone();
                other.remove(key);
                let mut renamed = other.clone();
                renamed.insert(format!("{key}x"), inner.clone());
                out.push(toml::Value::Table(renamed));
                let mut within = Vec::new();
                misspelt(inner, &mut within);
                out.extend(within.into_iter().map(|changed| {
                    let mut whole = other.clone();
                    whole.insert(key.clone(), changed);
                    toml::Value::Table(whole)
                }));
            }
        }
        toml::Value::Array(all) => {
            for (number, inner) in all.iter().enumerate() {
                let mut within = Vec::new();
                misspelt(inner, &mut within);
                out.extend(within.into_iter().map(|changed| {
                    let mut whole = all.clone();
                    whole[number] = changed;
                    toml::Value::Array(whole)
                }));
            }
        }
        _ => {}
    }
}

#[test]
fn published_file_is_what_is_computed() {
    let text = serde_json::to_string(&experiment_schema()).unwrap() + "\n";
    if std::env::var_os("FSARENA_WRITE_SCHEMAS").is_some() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schemas");
        std::fs::write(format!("{docs}/experiment.schema.json"), &text).unwrap();
    }
    let how =
        "write it anew, and run this again: FSARENA_WRITE_SCHEMAS=1 cargo test -p fsarena-plan";
    assert!(PUBLISHED_SCHEMA == text, "the published schema is not what the types say; {how}");
}

#[test]
fn it_names_every_factor() {
    let schema = experiment_schema();
    let keys = schema.pointer("/properties/factors/properties").unwrap();
    for factor in fsarena_model::factor::all() {
        assert!(keys.get(factor.key()).is_some(), "{}", factor.key());
        for alias in factor.info().aliases {
            assert!(keys.get(alias).is_some(), "{alias}");
        }
    }
}
