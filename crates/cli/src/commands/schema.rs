//! `fsarena schema`: the JSON Schemas of the documents that fsarena writes and of the experiments
//! that it reads, as published in `docs/schemas`, each on one line. Tests of `fsarena-report`,
//! `fsarena-plan` and of this module hold them equal to what the types say.

use crate::args::SchemaArgs;
use crate::compressed::CompressedText;
use crate::context;
use anyhow::Result;
use fsarena_report::json::KINDS;

macro_rules! schemas {
    ($($kind:literal),* $(,)?) => {
        [$(($kind, compressed!("docs/schemas/", $kind, ".schema.json"))),*]
    };
}

/// Each kind with its schema, in the order of [`KINDS`].
const SCHEMAS: [(&str, CompressedText); KINDS.len()] = schemas![
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
    "crash-states",
    "crash-state",
    "devices",
    "kernel",
    "kernels",
    "kernel-check",
    "programs",
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
    let found = SCHEMAS.into_iter().find(|(kind, _)| kind == asked);
    let text = match found {
        Some((_, schema)) => Some(schema.text()),
        None => (asked == EXPERIMENT).then(|| fsarena_plan::PUBLISHED_SCHEMA.to_owned()),
    };
    let Some(text) = text else {
        let kinds = KINDS.iter().map(|(kind, _)| *kind);
        let kinds = [EXPERIMENT].into_iter().chain(kinds).collect::<Vec<&str>>().join(", ");
        refuse!("{asked}: there is no such schema; there are {kinds}");
    };
    let schema: serde_json::Value = serde_json::from_str(&text)?;
    context::print(&format!("{}\n", serde_json::to_string_pretty(&schema)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{crash_states, kernel, programs};
    use fsarena_report::schema::document_schema;
    use schemars::JsonSchema;

    /// Documents of types that `fsarena-report` does not know, but for `schema` and `kind`.
    #[allow(dead_code, reason = "their shape is what is asked for")]
    mod documents {
        use super::*;

        #[derive(JsonSchema)]
        pub(super) struct CrashStates<'s> {
            /// Crash states that were kept, the oldest first.
            states: Vec<crash_states::KeptStateLine<'s>>,
        }

        #[derive(JsonSchema)]
        pub(super) struct CrashState<'s> {
            /// A kept state that was mounted again.
            shown: crash_states::InspectedState<'s>,
        }

        #[derive(JsonSchema)]
        pub(super) struct Devices {
            /// The block devices of the machine.
            devices: Vec<fsarena_devices::inventory::SurveyRow>,
        }

        #[derive(JsonSchema)]
        pub(super) struct Kernel<'k> {
            /// The guest kernel that was built, now or before.
            kernel: kernel::KernelLine<'k>,
        }

        #[derive(JsonSchema)]
        pub(super) struct Kernels<'k> {
            /// The guest kernels that were built here.
            kernels: Vec<kernel::KernelLine<'k>>,
        }

        #[derive(JsonSchema)]
        pub(super) struct KernelCheck<'k> {
            /// What a guest kernel did in two equal boots.
            check: kernel::CheckLine<'k>,
        }

        #[derive(JsonSchema)]
        pub(super) struct Programs<'t> {
            /// Programs of another width that are here.
            programs: Vec<programs::ProgramTreeLine<'t>>,
        }
    }

    fn computed(kind: &str) -> Option<serde_json::Value> {
        use documents::{CrashState, CrashStates, Devices, Kernel, KernelCheck, Kernels, Programs};
        match kind {
            "crash-states" => document_schema::<CrashStates<'_>>(kind),
            "crash-state" => document_schema::<CrashState<'_>>(kind),
            "devices" => document_schema::<Devices>(kind),
            "kernel" => document_schema::<Kernel<'_>>(kind),
            "kernels" => document_schema::<Kernels<'_>>(kind),
            "kernel-check" => document_schema::<KernelCheck<'_>>(kind),
            "programs" => document_schema::<Programs<'_>>(kind),
            _ => fsarena_report::schema::schema(kind),
        }
    }

    #[test]
    fn published_files_are_what_is_computed() {
        let writes = std::env::var_os("FSARENA_WRITE_SCHEMAS").is_some();
        for (kind, _) in KINDS {
            let schema = computed(kind).unwrap_or_else(|| panic!("{kind} has no schema"));
            let text = serde_json::to_string(&schema).unwrap() + "\n";
            let path = format!("docs/schemas/{kind}.schema.json");
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
            if writes {
                std::fs::write(&path, &text).unwrap();
            }
            let known = std::fs::read_to_string(&path).unwrap_or_default();
            let how =
                "write it anew: FSARENA_WRITE_SCHEMAS=1 cargo test -p fsarena-cli --lib schema";
            assert!(known == text, "{} is not what the types say; {how}", path.display());
        }
    }

    #[test]
    fn each_is_of_its_kind() {
        for ((kind, from), (own, text)) in KINDS.into_iter().zip(SCHEMAS) {
            assert_eq!(own, kind);
            let schema: serde_json::Value = serde_json::from_str(&text.text()).expect(kind);
            assert_eq!(schema["properties"]["kind"]["const"], kind);
            let description = schema["description"].as_str().unwrap_or_default();
            assert!(description.contains(from), "{kind}: {description}");
        }
    }
}
