//! `fsarena devices --models` and `--model`: device models listed, and one measured in simulated
//! time beside the published figures of its device.

use super::output_file;
use crate::args::DevicesArgs;
use crate::context::{self, Usage};
use anyhow::{Context as _, Result};
use fsarena_report::{
    DeviceModel, DeviceModelAxis, DeviceModelCurve, DeviceModelCurveLine, DeviceModelLatencies,
    DeviceModelLine, DeviceModelPoint, DeviceModelRow, device_model_svg, device_model_text,
};
use fsarena_vdisk::measure::{Axis, Curve, Row, compare, curves};
use fsarena_vdisk::{Probe, Role, Sheet};
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

/// Measures one, prints and draws it, and draws it into a file where that is asked for.
pub fn show(model: &str, args: &DevicesArgs) -> Result<()> {
    let sheet = find(model)?;
    if let Some(path) = &args.svg {
        output_file::check_writable(path)?;
    }
    let rows = compare(&sheet, args.seed)?;
    let measured = measured(&sheet, &rows, args.seed)?;
    let document = || fsarena_report::json::document("device-model", "device_model", &measured);
    context::print_as(args.json, document, |width, style| {
        device_model_text(&measured, width, style)
    })?;
    if let Some(path) = &args.svg {
        let svg = device_model_svg(&measured, &latencies(&rows));
        output_file::write(path, &svg)?;
        say!("drawn: {}", context::near(path).display());
    }
    Ok(())
}

/// What is printed of a model: its rows, and the curves that are measured besides.
fn measured(sheet: &Sheet, rows: &[Row], seed: u64) -> Result<DeviceModel> {
    Ok(DeviceModel {
        model: line_of(sheet),
        notes: sheet.notes.clone(),
        seed,
        rows: rows.iter().map(row_of).collect(),
        curves: curves(sheet, seed)?.iter().map(curve_of).collect(),
    })
}

/// A sheet that is built in, or the user's.
fn find(model: &str) -> Result<Sheet> {
    if Path::new(model).extension().is_some_and(|end| end == "toml") {
        let text = context::description_text(model).with_context(|| model.to_owned())?;
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

fn curve_of(curve: &Curve) -> DeviceModelCurve {
    let axis = |axis: Axis| DeviceModelAxis {
        words: axis.words.to_owned(),
        unit: axis.unit.to_owned(),
        is_log: axis.is_log,
    };
    let lines = curve.lines.iter().map(|line| DeviceModelCurveLine {
        label: line.words.to_owned(),
        points: line
            .points
            .iter()
            .map(|point| DeviceModelPoint { at: point.at, value: point.value })
            .collect(),
    });
    DeviceModelCurve {
        name: curve.kind.name().to_owned(),
        title: curve.kind.words().to_owned(),
        along: axis(curve.kind.along()),
        upright: axis(curve.kind.upright()),
        lines: lines.collect(),
    }
}

/// One curve for each kind of random access and for fsync.
fn latencies(rows: &[Row]) -> Vec<DeviceModelLatencies> {
    let mut curves: Vec<DeviceModelLatencies> = Vec::new();
    for row in rows {
        let label = row.probe.words();
        let is_drawn = matches!(
            row.probe,
            Probe::RandomRead { .. } | Probe::RandomWrite { .. } | Probe::Fsync
        );
        if is_drawn && curves.iter().all(|curve| curve.label != label) {
            let latencies_ns = row.measured.latencies_ns.clone();
            curves.push(DeviceModelLatencies { label, latencies_ns });
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    /// What `fsarena devices --model` prints of a model where output is no terminal.
    fn printed(name: &str) -> String {
        let sheet = find(name).unwrap();
        let rows = compare(&sheet, 1).unwrap();
        let measured = measured(&sheet, &rows, 1).unwrap();
        device_model_text(&measured, 100, fsarena_report::Style::default())
    }

    /// Simulated time is an integer: figures and drawings are the same on every machine.
    #[test]
    fn every_model_prints_what_it_did() {
        let differs = |name: &&str| {
            let printed = printed(name);
            catch_unwind(|| {
                insta::with_settings!({
                    snapshot_path => "snapshots/device_model",
                    prepend_module_to_snapshot => false,
                    omit_expression => true,
                }, { insta::assert_snapshot!(*name, printed) });
            })
            .is_err()
        };
        let names = fsarena_vdisk::names();
        let differ: Vec<&str> = names.into_iter().filter(differs).collect();
        assert!(differ.is_empty(), "what is printed differs: {}", differ.join(", "));
    }

    #[test]
    fn latencies_are_of_each_kind_of_request_once() {
        let sheet = find("sd-good").unwrap();
        let latencies = latencies(&compare(&sheet, 1).unwrap());
        let labels: Vec<&str> = latencies.iter().map(|one| one.label.as_str()).collect();
        assert_eq!(
            labels,
            [
                "random read 4 KiB, QD 1",
                "random write 4 KiB, QD 1",
                "fsyncs of 4 KiB at one place",
                "random read 1 KiB, QD 1"
            ]
        );
    }
}
