//! `fsarena schema`: the JSON Schemas of the documents that fsarena writes, as published in
//! `docs/schemas`. A test of `fsarena-schema` holds these equal to what the types say.

use crate::args::SchemaArgs;
use crate::context::{self, Usage};
use anyhow::Result;
use std::process::ExitCode;

macro_rules! schemas {
    ($(($kind:literal, $from:literal)),* $(,)?) => {
        [$((
            $kind,
            $from,
            include_str!(concat!("../../../../docs/schemas/", $kind, ".schema.json")),
        )),*]
    };
}

/// Kind, what writes such documents, and the schema.
const SCHEMAS: [(&str, &str, &str); 10] = schemas![
    ("run", "run --json, show --json, export --format json"),
    ("verdicts", "study --json"),
    ("compare-runs", "compare RUN RUN … --json"),
    ("compare-sides", "compare --before RUN,… --after RUN,… --json"),
    ("list", "list --json"),
    ("plan", "run --dry-run --json"),
    ("doctor", "doctor --json"),
    ("merge", "merge --json"),
    ("datasets", "dataset --json"),
    ("report", "report, in the page, a script element a RUN"),
];

/// Prints one schema, or the kinds that there are.
pub fn run(args: &SchemaArgs) -> Result<ExitCode> {
    let Some(asked) = &args.kind else {
        let lines = SCHEMAS.iter().map(|(kind, from, _)| format!("{kind:15}fsarena {from}\n"));
        context::print(&lines.collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some((_, _, text)) = SCHEMAS.iter().find(|(kind, ..)| kind == asked) else {
        let kinds: Vec<&str> = SCHEMAS.iter().map(|(kind, ..)| *kind).collect();
        let kinds = kinds.join(", ");
        return Err(Usage(format!("{asked}: there is no such schema; there are {kinds}")).into());
    };
    context::print(text)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_of_its_kind() {
        for (kind, from, text) in SCHEMAS {
            let schema: serde_json::Value = serde_json::from_str(text).expect(kind);
            assert_eq!(schema["properties"]["kind"]["const"], kind);
            let description = schema["description"].as_str().unwrap_or_default();
            assert!(description.contains(from), "{kind}: {description}");
        }
    }
}
