//! Device models: the list of them, one beside the published figures of its device, and its curves
//! and latencies, drawn.

mod document;
mod drawing;

use crate::format::{bytes, three};
use crate::render::text;
use crate::table::{Cell, Column, Table};
use crate::text::{MIN_WIDTH, Style, bold, wrap};

pub use document::{
    DeviceModel, DeviceModelAxis, DeviceModelCurve, DeviceModelCurveLine, DeviceModelLatencies,
    DeviceModelLine, DeviceModelPoint, DeviceModelRow,
};
pub use drawing::device_model_svg;

/// All models as a table, in the order given.
#[must_use]
pub fn device_models_table(lines: &[DeviceModelLine], width: usize, style: Style) -> String {
    let mut grid = Table::new([
        Column::text("model"),
        Column::text("kind"),
        Column::figure("size"),
        Column::figure("fitted").optional(1),
        Column::figure("held out").optional(1),
        Column::text("device"),
    ]);
    for line in lines {
        let title = match line.is_calibrated {
            true => line.title.clone(),
            false => format!("{} (uncalibrated)", line.title),
        };
        grid.row(vec![
            line.name.clone(),
            line.kind.clone(),
            bytes(Some(line.capacity_bytes)),
            line.fitted.to_string(),
            line.held_out.to_string(),
            title,
        ]);
    }
    text::listing(&grid, width, style)
}

/// One model: what it is, its measurements in simulated time, how they are read, and its curves.
#[must_use]
pub fn device_model_text(of: &DeviceModel, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let (line, rows) = (&of.model, &of.rows);
    let mut out = format!("{}\n", bold(&format!("{}: {}", line.name, line.title), style.colour));
    out.push_str(&wrap("", &of.notes.join(" "), width));
    out.push('\n');
    let mut grid = Table::new([
        Column::text("measured in simulated time"),
        Column::figure("model"),
        Column::text("unit"),
        Column::figure("published"),
        Column::figure("deviation"),
        Column::text("use"),
        Column::figure("source"),
    ]);
    let mut sources: Vec<&str> = Vec::new();
    for row in rows {
        let source = row.source.as_deref();
        sources.extend(source.filter(|source| !sources.contains(source)));
        let number = source.and_then(|source| sources.iter().position(|one| *one == source));
        grid.row(cells(row, number));
    }
    out.push_str(&text::table(&grid, width));
    out.push('\n');
    out.push_str(&wrap("", &judgement(line, rows), width));
    for (row, remark) in rows.iter().filter_map(|row| Some((row, row.remark.as_ref()?))) {
        out.push_str(&wrap("", &format!("{}: {remark}.", row.probe), width));
    }
    for (number, source) in (1..).zip(sources) {
        out.push_str(&wrap(&format!("[{number}] "), source, width));
    }
    out.push_str(&drawing::text(&of.curves, style));
    out
}

/// `source`: its index in the list of sources.
fn cells(row: &DeviceModelRow, source: Option<usize>) -> Vec<Cell> {
    let dash = || Cell::text("-");
    let deviation = row.deviation.map(|share| {
        let mark = if row.is_near == Some(false) { "!" } else { "" };
        format!("{:+.1} %{mark}", share * 100.0)
    });
    vec![
        Cell::text(row.probe.clone()),
        Cell::text(three(row.measured)),
        Cell::text(row.unit.clone()),
        row.published.map_or_else(dash, |value| Cell::text(three(value))),
        deviation.map_or_else(dash, Cell::text),
        row.role.clone().map_or_else(dash, Cell::text),
        source.map_or_else(dash, |at| Cell::text(format!("[{}]", at + 1))),
    ]
}

/// What can be said of the model.
fn judgement(line: &DeviceModelLine, rows: &[DeviceModelRow]) -> String {
    let beyond = rows.iter().filter(|row| row.is_near == Some(false)).count();
    let mut words = if line.is_calibrated {
        "Fitted figures are to be within 2 %, those held out of the fit within 15 %.".to_owned()
    } else {
        "Uncalibrated: fewer than two figures of the device were held out of the fit, so that \
         nothing says how near the model is elsewhere."
            .to_owned()
    };
    if beyond > 0 {
        words.push_str(&format!(" !: {beyond} beyond that."));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(is_calibrated: bool) -> DeviceModelLine {
        DeviceModelLine {
            name: "hdd-x".into(),
            title: "A disk".into(),
            kind: "rotating".into(),
            capacity_bytes: 80_000_000_000,
            fitted: 1,
            held_out: 2,
            is_calibrated,
        }
    }

    fn row(published: Option<f64>, is_near: bool) -> DeviceModelRow {
        DeviceModelRow {
            probe: "random read 4 KiB, QD 1".into(),
            unit: "1/s".into(),
            measured: 110.0,
            published,
            deviation: published.map(|value| 110.0 / value - 1.0),
            role: published.map(|_| "held out".into()),
            source: published.map(|_| "a review".into()),
            is_near: published.map(|_| is_near),
            remark: (!is_near).then(|| "it had another firmware".into()),
        }
    }

    fn model(model: DeviceModelLine, rows: Vec<DeviceModelRow>) -> DeviceModel {
        DeviceModel { model, notes: Vec::new(), seed: 1, rows, curves: Vec::new() }
    }

    #[test]
    fn figures_stand_beside_what_was_published() {
        let rows = vec![row(Some(100.0), true), row(None, true), row(Some(50.0), false)];
        let text = device_model_text(&model(line(true), rows), 100, Style::default());
        assert!(text.contains("+10.0 %") && text.contains("+120.0 %!"), "{text}");
        assert!(text.contains("held out") && text.contains("[1] a review"), "{text}");
        assert!(text.contains("within 15 %. !: 1 beyond that."), "{text}");
        assert!(text.contains("random read 4 KiB, QD 1: it had another firmware."), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }

    #[test]
    fn a_model_without_figures_is_uncalibrated() {
        let model = model(line(false), vec![row(None, true)]);
        let text = device_model_text(&model, 100, Style::default());
        assert!(text.contains("Uncalibrated: fewer than two"), "{text}");
        let list = device_models_table(&[line(false)], 100, Style::default());
        assert!(list.contains("A disk (uncalibrated)") && list.contains("hdd-x"), "{list}");
    }
}
