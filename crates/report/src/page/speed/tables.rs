//! The tables beside the charts: rates, clocks and their price; space; what programs cost.

use crate::format::{Scale, bytes, digits, grouped, ns};
use crate::labels::{row_label, row_notes, trials};
use crate::page::context::SectionContext;
use crate::page::parts::{self, Cell, Column, Table};
use crate::page::pictures::{self, Unit};
use crate::verdict::text::ratio;
use fsarena_model::record::Window;
use fsarena_study::{CpuLoad, Latency, PhaseRow, PhaseTable, RateUnit, SpreadNs, Study};
use maud::{Markup, html};

/// A figure of a row, in words, and what it is sorted by.
type Figure<'a> = Box<dyn Fn(&PhaseRow) -> Option<(String, f64)> + 'a>;

/// A latency that a share of the ops did not exceed, ns.
type Share = fn(&Latency) -> Option<u64>;

/// The figures of a phase and, below them, what has to be said of single rows.
pub(crate) fn figures(context: &SectionContext<'_>, table: &PhaseTable) -> Markup {
    let rows: Vec<&PhaseRow> = table.rows.iter().collect();
    let mut columns = figure_columns(context, table);
    columns.retain(|(_, figure)| rows.iter().any(|row| figure(row).is_some()));
    let mut heads = vec![Column::text("contender")];
    heads.extend(columns.iter().map(|(column, _)| column.clone()));
    heads.push(Column::figure("trials", ""));
    let caption = format!("{} / {}: medians over trials", table.workload, table.phase);
    let mut grid = Table::new(caption, heads).sortable();
    for row in rows {
        let mut cells = vec![Cell::markup(parts::swatch(row.contender, &row_label(table, row)))];
        cells.extend(columns.iter().map(|(_, figure)| Cell::maybe(figure(row))));
        cells.push(Cell::figure(trials(row), row.n as f64));
        grid.row(cells);
    }
    html! {
        @if !grid.is_empty() { (grid) }
        (parts::list(&notes_on_rows(context, table)))
    }
}

/// What has to be said of single rows, and why contenders have none.
fn notes_on_rows(context: &SectionContext<'_>, table: &PhaseTable) -> Vec<String> {
    let of_row = |row: &PhaseRow| {
        let notes = row_notes(table, row);
        (!notes.is_empty()).then(|| format!("{}: {}", row_label(table, row), notes.join("; ")))
    };
    let absent = table.absent.iter().map(|absent| {
        format!("{}: {}", absent.label, pictures::why_absent(context, table, absent))
    });
    table.rows.iter().filter_map(of_row).chain(absent).collect()
}

fn figure_columns<'a>(
    context: &SectionContext<'_>,
    table: &'a PhaseTable,
) -> Vec<(Column, Figure<'a>)> {
    let study = context.run.study;
    let unit = pictures::unit(table);
    let time =
        move |spread: SpreadNs| (unit.text(spread.median_ns as f64), spread.median_ns as f64);
    let mut columns = rate_columns(study, table);
    let mut add = |head: &str, unit: &str, figure: Figure<'a>| {
        columns.push((Column::figure(head, unit), figure));
    };
    let clock = study.compared_clock.name();
    add(clock, unit.name, Box::new(move |row| row.compared.map(time)));
    add(
        "min – max",
        unit.name,
        Box::new(move |row| {
            let spread = row.compared.filter(|spread| spread.n > 1)?;
            let [least, most] = [spread.min_ns, spread.max_ns].map(|ns| unit.text(ns as f64));
            Some((format!("{least} – {most}"), spread.min_ns as f64))
        }),
    );
    add("÷ best", "", Box::new(|row| row.ratio_of_medians.map(|value| (ratio(value), value))));
    add("CPU", "%", Box::new(cpu));
    for (head, window, read) in [
        ("device read", Window::Durable, true),
        ("written to durable", Window::Durable, false),
        ("written to unmount", Window::Unmounted, false),
    ] {
        let bytes_of = move |row: &PhaseRow| {
            let seen = row.device.iter().find(|seen| seen.window == window)?;
            if read { seen.read_bytes } else { seen.written_bytes }
        };
        let unit = Unit::of_bytes(table.rows.iter().filter_map(bytes_of).max().unwrap_or(0));
        let figure = move |row: &PhaseRow| {
            let of = bytes_of(row)? as f64;
            Some((if of == 0.0 { "0".to_owned() } else { unit.text(of) }, of))
        };
        add(head, unit.name, Box::new(figure));
    }
    add(
        "write amplification",
        "",
        Box::new(|row| row.write_amplification.map(|s| (ratio(s.median), s.median))),
    );
    columns.extend(latency_columns());
    columns
}

/// The rate of the phase; of real work the contents and the entries.
fn rate_columns<'a>(study: &Study, table: &PhaseTable) -> Vec<(Column, Figure<'a>)> {
    let scale = Scale::for_table(table, study.rate_style);
    let by = |scale: Scale| -> (Column, Figure<'a>) {
        let figure = move |row: &PhaseRow| scale.median(row).map(|own| (scale.bare(own), own));
        (Column::figure("rate", scale.unit()), Box::new(figure))
    };
    let mut columns = vec![by(scale)];
    match table.unit {
        RateUnit::Ops => columns.push(by(Scale::for_bytes(table, study.rate_style))),
        RateUnit::Time => {
            let entries: Figure<'a> = Box::new(|row| {
                let own = row.rates.entries_per_s?.median;
                Some((digits(own), own))
            });
            columns.push((Column::figure("entries", "1/s"), entries));
        }
        RateUnit::Bytes | RateUnit::Files | RateUnit::Dirs => {}
    }
    columns
}

fn cpu(row: &PhaseRow) -> Option<(String, f64)> {
    match row.cpu {
        CpuLoad::Percent { percent } => Some((format!("{:.1}", percent.median), percent.median)),
        CpuLoad::TooShort => Some(("too short".to_owned(), -1.0)),
        CpuLoad::Unknown => None,
    }
}

fn latency_columns<'a>() -> Vec<(Column, Figure<'a>)> {
    let shares: [(&str, Share); 4] = [
        ("p50", |l| l.p50_ns),
        ("p99", |l| l.p99_ns),
        ("p99.9", |l| l.p999_ns),
        ("longest op", |l| Some(l.max_ns)),
    ];
    let column = |(head, of): (&str, Share)| -> (Column, Figure<'a>) {
        let figure = move |row: &PhaseRow| {
            let own_ns = of(row.latency.as_ref()?)?;
            Some((ns(Some(own_ns)), own_ns as f64))
        };
        (Column::figure(head, ""), Box::new(figure))
    };
    shares.map(column).into()
}

/// Space after the last phase and how long the unmount took.
pub(crate) fn space(study: &Study) -> Markup {
    let columns = vec![
        Column::text("contender"),
        Column::text("workload"),
        Column::figure("used when empty", ""),
        Column::figure("used", ""),
        Column::figure("stored", ""),
        Column::figure("space amplification", ""),
        Column::figure("unmount", ""),
        Column::figure("trials", ""),
    ];
    let mut table = Table::new("Space after the last phase, medians", columns).sortable();
    let size = |value: Option<u64>| Cell::maybe(value.map(|own| (bytes(Some(own)), own as f64)));
    for row in study.trials.iter().filter(|row| row.n > 0) {
        let amplification = row.space_amplification.map(|s| (ratio(s.median), s.median));
        let unmount = row.unmount.map(|s| (ns(Some(s.median_ns)), s.median_ns as f64));
        table.row(vec![
            Cell::markup(parts::swatch(hue(study, &row.label), &row.label)),
            Cell::text(&row.workload),
            size(row.used_empty_bytes),
            size(row.used_bytes),
            size(row.stored_bytes),
            Cell::maybe(amplification),
            Cell::maybe(unmount),
            Cell::figure(grouped(row.n as u64), row.n as f64),
        ]);
    }
    html! {
        (parts::heading("Space and unmount"))
        @if table.is_empty() {
            (parts::missing("No trial has a reading of space."))
        } @else {
            (table)
            (parts::note(
                "Space amplification: growth of used space per byte stored; a dash where nothing \
                 is left stored. Unmount: the last one of a trial."
            ))
        }
    }
}

/// The number of a contender in the plan, by its label.
fn hue(study: &Study, label: &str) -> usize {
    let mut rows = study.tables.iter().flat_map(|table| &table.rows);
    let of_absent = || {
        let mut absent = study.tables.iter().flat_map(|table| &table.absent);
        absent.find(|row| row.label == label).map(|row| row.contender)
    };
    rows.find(|row| row.label == label).map(|row| row.contender).or_else(of_absent).unwrap_or(0)
}

/// The same work by a program and by the engine; nothing where no two workloads have both.
pub(crate) fn tool_overhead(study: &Study) -> Markup {
    let columns = vec![
        Column::text("contender"),
        Column::text("by a program"),
        Column::figure("median", ""),
        Column::text("by the engine"),
        Column::figure("median", ""),
        Column::figure("program ÷ engine", ""),
    ];
    let mut table = Table::new("The same work by a program and by the engine", columns).sortable();
    let time = |spread: SpreadNs| Cell::figure(ns(Some(spread.median_ns)), spread.median_ns as f64);
    for cost in &study.tool_overheads {
        let program =
            format!("{} / {} ({})", cost.program_workload, cost.program_phase, cost.program);
        let engine = format!("{} / {}", cost.engine_workload, cost.engine_phase);
        for row in &cost.rows {
            table.row(vec![
                Cell::markup(parts::swatch(row.contender, &row.label)),
                Cell::text(&program),
                time(row.program),
                Cell::text(&engine),
                time(row.engine),
                Cell::figure(ratio(row.program_to_engine), row.program_to_engine),
            ]);
        }
    }
    html! {
        @if !table.is_empty() {
            (parts::heading("Tool overhead (program vs. engine)"))
            (table)
            (parts::note(
                "A quotient of medians of trials of two workloads, without a verdict: above 1.00 \
                 the program took longer than the engine's calls for the same work."
            ))
        }
    }
}
