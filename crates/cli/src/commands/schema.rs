//! `fsarena schema`: the JSON Schemas of the documents that fsarena writes and of the experiments
//! that it reads, as published in `docs/schemas`, each on one line. Tests of `fsarena-report` and
//! `fsarena-plan` hold them equal to what the types say.

use crate::args::SchemaArgs;
use crate::context;
use anyhow::Result;
use fsarena_report::json::KINDS;

macro_rules! schemas {
    ($($kind:literal),* $(,)?) => {
        [$(($kind, include_str!(concat!("../../../../docs/schemas/", $kind, ".schema.json")))),*]
    };
}

/// Each kind with its schema, in the order of [`KINDS`].
const SCHEMAS: [(&str, &str); KINDS.len()] = schemas![
    "run",
    "verdicts",
    "compare-run",
    "compare-runs",
    "compare-sides",
    "compare-watched",
    "compare-crash",
    "history",
    "advice",
    "list",
    "plan",
    "doctor",
    "merge",
    "datasets",
    "dataset",
    "device-models",
    "device-model",
    "references",
    "honesty",
    "honesty-families",
    "honesty-power",
    "report",
    "crash",
    "crash-hunt",
    "crash-application",
    "crash-sequences",
    "crash-litmus",
    "medium-errors",
];

/// The kind of files that are read.
const EXPERIMENT: &str = "experiment";

/// Prints one schema, or the kinds that there are.
pub fn run(args: &SchemaArgs) -> Result<()> {
    let Some(asked) = &args.kind else {
        let read = [(EXPERIMENT, "run FILE: for editors, what an experiment may say")];
        let lines = read.iter().chain(&KINDS);
        let lines = lines.map(|(kind, from)| format!("{kind:18}fsarena {from}\n"));
        return context::print(&lines.collect::<String>());
    };
    let all = [(EXPERIMENT, fsarena_plan::PUBLISHED_SCHEMA)].into_iter().chain(SCHEMAS);
    let Some((_, text)) = all.into_iter().find(|(kind, _)| kind == asked) else {
        let kinds = KINDS.iter().map(|(kind, _)| *kind);
        let kinds = [EXPERIMENT].into_iter().chain(kinds).collect::<Vec<&str>>().join(", ");
        refuse!("{asked}: there is no such schema; there are {kinds}");
    };
    let schema: serde_json::Value = serde_json::from_str(text)?;
    context::print(&format!("{}\n", serde_json::to_string_pretty(&schema)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_of_its_kind() {
        for ((kind, from), (own, text)) in KINDS.into_iter().zip(SCHEMAS) {
            assert_eq!(own, kind);
            let schema: serde_json::Value = serde_json::from_str(text).expect(kind);
            assert_eq!(schema["properties"]["kind"]["const"], kind);
            let description = schema["description"].as_str().unwrap_or_default();
            assert!(description.contains(from), "{kind}: {description}");
        }
    }
}
