//! What a RUN says of purposes, printed: at the end of a RUN that asked them, and of a stored one.

use super::loaded::LoadedRun;
use crate::context;
use anyhow::Result;
use fsarena_plan::purpose::Purpose;
use fsarena_report::{AskedPhase, AskedPurpose, advice, advice_text};

/// Prints the advice for these purposes.
pub fn print(loaded: &LoadedRun, purposes: &[Purpose], is_json: bool) -> Result<()> {
    let run = loaded.as_run();
    let asked: Vec<AskedPurpose> = purposes.iter().map(as_asked).collect();
    let advice = advice(&run, &asked);
    let document = || fsarena_report::json::document("advice", "purposes", &advice);
    context::print_as(is_json, document, |width, _| advice_text(&run, &advice, width))
}

fn as_asked(purpose: &Purpose) -> AskedPurpose {
    let phase = |(workload, phase): (&str, &str)| AskedPhase {
        workload: workload.to_owned(),
        phase: phase.to_owned(),
    };
    AskedPurpose {
        name: purpose.name.clone(),
        title: purpose.title.clone(),
        phases: purpose.questions().map(phase).collect(),
    }
}
