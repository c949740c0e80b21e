//! The JSON inside a page is what its published schema says.

use crate::page::sample::Sample;
use fsarena_model::verdict::Rule;
use fsarena_testkit::records::{contender, small_files};
use serde_json::Value;
use std::path::Path;

/// The JSON of the only RUN of a page.
fn embedded(sample: &Sample) -> Value {
    let scripts = crate::page::parsed(sample).scripts();
    let mut all =
        scripts.into_iter().filter(|(kind, _)| kind.as_deref() == Some("application/json"));
    let (_, text) = all.next().expect("the page has JSON");
    assert!(all.next().is_none(), "one a RUN");
    serde_json::from_str(&text).expect("it is JSON")
}

fn is_valid(document: &Value) {
    let path = "../../docs/schemas/report.schema.json";
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path));
    let schema: Value = serde_json::from_str(&text.expect("it is published")).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors = validator.iter_errors(document);
    let errors = errors.map(|error| format!("{}: {error}", error.instance_path())).take(5);
    let errors: Vec<String> = errors.collect();
    assert!(errors.is_empty(), "{errors:#?}");
    for key in document.as_object().expect("it is an object").keys() {
        let mut less = document.clone();
        less.as_object_mut().expect("it is an object").remove(key);
        assert!(!validator.is_valid(&less), "{key} may be absent");
        let mut other = document.clone();
        other[key] = serde_json::json!({ "something": "else" });
        assert!(!validator.is_valid(&other), "{key} may be anything");
    }
}

#[test]
fn the_json_of_a_page_is_what_its_schema_says() {
    let mut sample = Sample::small_files(&["ext4", "xfs"], 4);
    is_valid(&embedded(&sample));
    sample.ask(Rule::Fixed { blocks: 4 });
    sample.carry_out(|_| {});
    let document = embedded(&sample);
    assert_eq!(document["kind"], "report");
    assert!(document["points"][0]["points"].as_array().is_some_and(|points| points.len() == 8));
    assert!(document["verdicts"]["questions"].is_array());
    is_valid(&document);
}

/// Points and pairs are left out where there are very many.
#[test]
fn so_is_that_of_a_large_one() {
    let contenders = (0..40).map(|n| contender(&format!("c{n}"), "ext4", n + 1)).collect();
    let mut sample = Sample::planned(contenders, vec![small_files()], 9);
    sample.ask(Rule::Fixed { blocks: 9 });
    sample.carry_out(|_| {});
    let document = embedded(&sample);
    assert!(document["points"].is_null(), "{}", document["points"]);
    assert!(document["verdicts"]["questions"][0]["pairs"].is_null());
    is_valid(&document);
}
