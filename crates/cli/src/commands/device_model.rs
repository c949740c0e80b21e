//! `fsarena devices --models` and `--model`: device models listed, and one measured in simulated
//! time beside the published figures of its device.

use super::output_file;
use crate::args::DevicesArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_report::{DeviceModelCurve, DeviceModelLine, DeviceModelRow};
use fsarena_vdisk::measure::{Row, compare};
use fsarena_vdisk::{Probe, Role, Sheet};
use serde_json::json;
use std::path::Path;

/// Lists the sheets that are built in.
pub fn list(as_json: bool) -> Result<()> {
    let sheets = fsarena_vdisk::names().into_iter().map(fsarena_vdisk::builtin);
    let sheets: Vec<Sheet> = sheets.collect::<Result<_, _>>()?;
    let lines: Vec<DeviceModelLine> = sheets.iter().map(line_of).collect();
    let document = || fsarena_report::json::document("device-models", "models", &lines);
    context::print_as(as_json, document, |width, style| {
        fsarena_report::device_models_table(&lines, width, style)
    })
}

/// Measures one, prints it, and draws it where that is asked for.
pub fn show(model: &str, args: &DevicesArgs) -> Result<()> {
    let sheet = find(model)?;
    if let Some(path) = &args.svg {
        output_file::check_writable(path)?;
    }
    let measured = compare(&sheet, args.seed)?;
    let (line, rows): (_, Vec<DeviceModelRow>) =
        (line_of(&sheet), measured.iter().map(row_of).collect());
    let document = || {
        let value = json!({
            "model": line, "notes": sheet.notes, "seed": args.seed, "rows": rows,
        });
        fsarena_report::json::document("device-model", "device_model", &value)
    };
    context::print_as(args.json, document, |width, style| {
        fsarena_report::device_model_text(&line, &sheet.notes, &rows, width, style)
    })?;
    if let Some(path) = &args.svg {
        let svg = fsarena_report::device_model_svg(&line, &curves(&measured));
        output_file::write(path, svg.as_bytes())?;
        say!("drawn: {}", context::near(path).display());
    }
    Ok(())
}

/// A sheet that is built in, or the user's.
fn find(model: &str) -> Result<Sheet> {
    if Path::new(model).extension().is_some_and(|end| end == "toml") {
        let text = std::fs::read_to_string(model).with_context(|| model.to_owned())?;
        return Sheet::parse(&text, model).map_err(|error| Usage(error.to_string()).into());
    }
    fsarena_vdisk::builtin(model).map_err(|error| Usage(format!("--model: {error}")).into())
}

fn line_of(sheet: &Sheet) -> DeviceModelLine {
    let count = |role| sheet.figures.iter().filter(|figure| figure.role == role).count();
    DeviceModelLine {
        name: sheet.name.clone(),
        title: sheet.title.clone(),
        kind: sheet.kind().to_owned(),
        capacity_bytes: sheet.capacity_bytes,
        fitted: count(Role::Fitted),
        held_out: count(Role::HeldOut),
        is_calibrated: sheet.is_calibrated(),
    }
}

fn row_of(row: &Row) -> DeviceModelRow {
    let figure = row.figure.as_ref();
    DeviceModelRow {
        probe: row.probe.words(),
        unit: row.probe.unit().to_owned(),
        measured: row.measured.value,
        published: figure.map(|figure| figure.value),
        deviation: row.deviation(),
        role: figure.map(|figure| figure.role.name().to_owned()),
        source: figure.map(|figure| figure.source.clone()),
        is_near: row.is_near(),
        remark: figure.and_then(|figure| figure.deviates.clone()),
    }
}

/// One curve for each kind of random access and for fsync.
fn curves(rows: &[Row]) -> Vec<DeviceModelCurve> {
    let mut curves: Vec<DeviceModelCurve> = Vec::new();
    for row in rows {
        let label = row.probe.words();
        let is_drawn = matches!(
            row.probe,
            Probe::RandomRead { .. } | Probe::RandomWrite { .. } | Probe::Fsync
        );
        if is_drawn && curves.iter().all(|curve| curve.label != label) {
            let latencies_ns = row.measured.latencies_ns.clone();
            curves.push(DeviceModelCurve { label, latencies_ns });
        }
    }
    curves
}
