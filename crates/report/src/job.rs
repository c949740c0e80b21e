//! Real work in tables: a phase is its time on the three clocks; amounts, processor time and device
//! traffic stand in a second table; the program is compared with the engine in a third.
//!
//! A longer time is worse, and so is a larger ratio.

use crate::format::{Scale, megabytes, seconds};
use crate::io_summary::{describe_source_place, files_text};
use crate::labels::{range_in, row_label, wrong_contents};
use crate::section::Block;
use crate::table::{Cell, Column, Table};
use fsarena_model::job::{Compression, JobKind, Reflink};
use fsarena_model::record::Window;
use fsarena_study::{
    PhaseRow, PhaseTable, RateUnit, SourceView, SpreadF, Study, ToolOverhead, WorkloadView,
};

/// What is said once before the tables of a workload; nothing where there is nothing to say.
pub(crate) fn head(study: &Study, workload: &str) -> Option<String> {
    let view = study.workloads.iter().find(|view| view.name == workload)?;
    let parts = head_parts(view);
    (!parts.is_empty()).then(|| format!("{workload}: {}.", parts.join("; ")))
}

fn head_parts(view: &WorkloadView) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(source) = &view.source {
        parts.push(describe_source(source));
        parts.push(describe_source_place(source.place).to_owned());
    }
    match view.reflinks.as_slice() {
        [] => {}
        [Reflink::Never] => parts.push("copies share no blocks".to_owned()),
        [one] => parts.push(format!("copies with reflink {}", one.name())),
        _ => parts.push("copies with reflink as the rows say".to_owned()),
    }
    if view.cold_start {
        parts.push("cold only at the start of a trial, then warm by the experiment".to_owned());
    }
    parts
}

/// `ports-2004, 105,000 files in 4,100 directories, 124 MB, packed as tar.gz`.
pub(crate) fn describe_source(source: &SourceView) -> String {
    let contents = &source.contents;
    let size = megabytes(contents.bytes);
    let mut text = format!("{}, {}, {size}", source.name, files_text(contents));
    if let Some(archive) = source.archive {
        text.push_str(&format!(", packed as {}", archive.ending()));
        if let Some(archive_bytes) = contents.archive_bytes {
            text.push_str(&format!(" of {}", megabytes(archive_bytes)));
        }
    }
    text
}

/// Columns of the second table.
const AMOUNTS: [&str; 7] = ["MB/s", "entries/s", "user", "system", "read", "written", "w. amp."];

/// Amounts, processor time and device traffic of a phase; columns that no row has are left out.
pub(crate) fn amounts_grid(table: &PhaseTable) -> Option<Table> {
    let columns = std::iter::once(Column::text("work")).chain(AMOUNTS.map(Column::figure));
    let caption = format!("{} / {}: amounts, medians", table.workload, table.phase);
    let mut grid = Table::new(columns.collect::<Vec<_>>()).caption(caption).sortable();
    for row in table.rows.iter().filter(|row| row.n > 0) {
        let label = Cell::contender(row.contender, row_label(table, row));
        grid.row(std::iter::once(label).chain(amounts(row)));
    }
    let grid = grid.without_empty_columns();
    (grid.columns.len() > 1).then_some(grid)
}

fn amounts(row: &PhaseRow) -> [Cell; 7] {
    let rate = |of: Option<SpreadF>, scale: Scale| {
        Cell::maybe(of.map(|spread| (scale.bare(spread.median), spread.median)))
    };
    let cpu = |own_ns: Option<u64>| Cell::maybe(own_ns.map(|own| (seconds(Some(own)), own as f64)));
    let device = |window| row.device.iter().find(|seen| seen.window == window);
    let written = device(Window::Drained).or_else(|| device(Window::Durable));
    let amplification = row.write_amplification.map(|spread| spread.median);
    [
        rate(row.rates.get(RateUnit::Bytes), Scale::Mb),
        rate(row.rates.entries_per_s, Scale::Files),
        cpu(row.worker.map(|worker| worker.user.median_ns)),
        cpu(row.worker.map(|worker| worker.system.median_ns)),
        Cell::bytes(device(Window::Durable).and_then(|seen| seen.read_bytes)),
        Cell::bytes(written.and_then(|seen| seen.written_bytes)),
        Cell::quotient(amplification),
    ]
}

/// What the columns of [`amounts_table`] mean.
pub(crate) const LEGEND: &str = "Real work: a longer time is worse. MB/s: contents of the tree \
                                that is worked on, each byte once, MB = 10^6 bytes. entries/s: \
                                files, directories and symbolic links; of an encoder its files. \
                                user, system: processor time of the program and all it starts, or \
                                of the engine. read, written: by the device, up to `durable` and \
                                to `drained`. w. amp.: bytes written to the device up to the \
                                unmount per byte written by the work.";

/// The same work by a program and by the engine; nothing where no two workloads have both.
pub(crate) fn tool_overhead_blocks(study: &Study) -> Vec<Block> {
    let table = tool_overhead(study);
    if table.is_empty() {
        return Vec::new();
    }
    let heading = Block::Heading("Tool overhead (program ÷ engine)".to_owned());
    let notes = tool_overhead_notes(study).into_iter().map(Block::Note);
    [heading, Block::Table(table)].into_iter().chain(notes).collect()
}

/// Two rows a contender: the program's and below it the engine's.
fn tool_overhead(study: &Study) -> Table {
    let clock = study.compared_clock.name();
    let mut table = Table::new([
        Column::text("work"),
        Column::text("contender"),
        Column::figure(clock),
        Column::figure("min - max"),
        Column::figure("n"),
        Column::figure("quotient"),
    ])
    .caption("The same work by a program and by the engine")
    .sortable();
    study.tool_overheads.iter().for_each(|cost| tool_overhead_rows(&mut table, cost));
    table
}

/// What is not divided, and how the table is read.
fn tool_overhead_notes(study: &Study) -> Vec<String> {
    let left_out = study.tool_overheads.iter().filter(|cost| !cost.not_comparable.is_empty());
    let left_out = left_out.map(|cost| {
        format!(
            "{} / {} and {} / {} on {}: not in the same state of cache and memory, not divided.",
            cost.program_workload,
            cost.program_phase,
            cost.engine_workload,
            cost.engine_phase,
            cost.not_comparable.join(", ")
        )
    });
    let mut words = format!(
        "The same work in trials of two workloads, by the time to `{}`; a quotient of medians, \
         without a verdict. Above 1.00 the program took longer than the engine's calls for the \
         same work.",
        study.compared_clock.name()
    );
    if study.tool_overheads.iter().any(is_decompressing) {
        words.push_str(
            " tar has its archive decompressed by a second process; the engine does all in one \
             thread.",
        );
    }
    left_out.chain([words]).collect()
}

fn is_decompressing(cost: &ToolOverhead) -> bool {
    matches!(&cost.work, JobKind::Untar { compression } if *compression != Compression::None)
}

fn tool_overhead_rows(table: &mut Table, cost: &ToolOverhead) {
    let mixed = cost.rows.iter().any(|row| row.cache.is_cold())
        && cost.rows.iter().any(|row| !row.cache.is_cold());
    for row in &cost.rows {
        let warm = if mixed && !row.cache.is_cold() { " (warm)" } else { "" };
        let works = [
            format!("{} / {} ({})", cost.program_workload, cost.program_phase, cost.program),
            format!("{} / {} (engine)", cost.engine_workload, cost.engine_phase),
        ];
        let ratio = row.program_to_engine;
        let quotients = [Cell::figure(format!("{ratio:.2}"), ratio), Cell::default()];
        let spreads = [row.program, row.engine];
        for (at, (work, quotient)) in works.into_iter().zip(quotients).enumerate() {
            let (spread, planned) = (spreads[at], row.n_planned[at]);
            let label = Cell::contender(row.contender, format!("{}{warm}", row.label));
            let wrong = wrong_contents(row.trials_with_bad_contents[at]);
            let trials = if spread.n < planned {
                format!("{}/{planned}", spread.n)
            } else {
                spread.n.to_string()
            };
            table.row([
                Cell::text(work),
                label.notes(wrong.into_iter().collect()),
                Cell::figure(seconds(Some(spread.median_ns)), spread.median_ns as f64),
                Cell::figure(range_in(Some(spread), seconds), spread.min_ns as f64),
                Cell::figure(trials, spread.n as f64),
                quotient,
            ]);
        }
    }
}
