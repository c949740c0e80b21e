//! `fsarena devices`: the block devices, whether fsarena may use each, and why not.

use crate::args::DevicesArgs;
use crate::context;
use anyhow::Result;
use fsarena_devices::inventory::{self, SurveyRow, Verdict};
use fsarena_report::DeviceLine;
use std::process::ExitCode;

/// Lists the block devices.
pub fn run(args: &DevicesArgs) -> Result<ExitCode> {
    let rows = inventory::survey(&inventory::Roots::default())?;
    if args.json {
        context::print_json(&fsarena_report::json::devices(&rows))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !context::is_root() {
        say!("not root: contents and other users of a device may not be visible");
    }
    let lines: Vec<DeviceLine> = rows.iter().map(line_of).collect();
    context::print(&fsarena_report::devices_table(&lines, context::width(), context::style()))?;
    Ok(ExitCode::SUCCESS)
}

fn line_of(row: &SurveyRow) -> DeviceLine {
    let hardware = &row.identity.hardware;
    let joined = |list: Vec<String>| (!list.is_empty()).then(|| list.join(", "));
    let signatures = row.signatures.iter().flatten().cloned().collect();
    let (usable, verdict) = match &row.verdict {
        Verdict::Never { reason } => (false, reason.clone()),
        Verdict::WithConsent { option } => (true, format!("with {option}")),
    };
    DeviceLine {
        name: row.identity.name.clone(),
        size_bytes: row.size_bytes,
        kind: row.kind.name().to_owned(),
        model: row.model.clone(),
        serial: hardware.get("serial").or_else(|| hardware.get("wwid")).cloned(),
        signature: joined(signatures),
        in_use: joined(row.in_use.clone()),
        usable,
        verdict,
    }
}
