//! Real work in tables: a phase is its time on the three clocks; amounts, processor time and device
//! traffic stand in a second table; the program is set beside the engine in a third.
//!
//! A longer time is worse, and so is a larger ratio.

use crate::footnotes::{Footnotes, wrong_contents};
use crate::format::{Scale, bytes, megabytes, seconds};
use crate::io_summary::{describe_source_place, files_of};
use crate::labels::{is_mixed, plain_label, range_in};
use crate::style::Style;
use crate::table::{Grid, Kind};
use crate::text::{bold, wrap};
use fsarena_model::job::{Compression, JobKind, Reflink};
use fsarena_model::record::{CacheState, Window};
use fsarena_study::{
    PhaseRow, PhaseTable, RateUnit, SourceView, SpreadF, Study, ToolOverhead, WorkloadView,
};

/// What is said once before the tables of a workload; nothing where there is nothing to say.
pub(crate) fn head(study: &Study, workload: &str, width: usize) -> String {
    let Some(view) = study.workloads.iter().find(|view| view.name == workload) else {
        return String::new();
    };
    let parts = head_parts(view);
    if parts.is_empty() {
        return String::new();
    }
    wrap("", &format!("{workload}: {}.", parts.join("; ")), width) + "\n"
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
    let mut text = format!("{}, {}, {size}", source.name, files_of(contents));
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
pub(crate) fn amounts_grid(table: &PhaseTable) -> Option<Grid> {
    let mixed = is_mixed(table);
    let rows: Vec<&PhaseRow> = table.rows.iter().filter(|row| row.n > 0).collect();
    let cells: Vec<[Option<String>; 7]> = rows.iter().map(|row| amounts(row)).collect();
    let shown: Vec<usize> =
        (0..AMOUNTS.len()).filter(|&at| cells.iter().any(|row| row[at].is_some())).collect();
    if shown.is_empty() {
        return None;
    }
    let mut columns = vec![("work", Kind::Text)];
    columns.extend(shown.iter().map(|&at| (AMOUNTS[at], Kind::Figure)));
    let mut grid = Grid::new(&columns);
    for (row, cells) in rows.iter().zip(&cells) {
        let own = shown.iter().map(|&at| cells[at].clone().unwrap_or_else(|| "-".to_owned()));
        grid.row(std::iter::once(plain_label(row, mixed)).chain(own).collect());
    }
    Some(grid)
}

fn amounts(row: &PhaseRow) -> [Option<String>; 7] {
    let rate = |of: Option<SpreadF>, scale: Scale| of.map(|spread| scale.bare(spread.median));
    let device = |window| row.device.iter().find(|seen| seen.window == window);
    let written = device(Window::Drained).or_else(|| device(Window::Durable));
    [
        rate(row.rates.get(RateUnit::Bytes), Scale::Mb),
        rate(row.rates.entries_per_s, Scale::Files),
        row.worker.map(|worker| seconds(Some(worker.user.median_ns))),
        row.worker.map(|worker| seconds(Some(worker.system.median_ns))),
        device(Window::Durable).and_then(|seen| seen.read_bytes).map(|n| bytes(Some(n))),
        written.and_then(|seen| seen.written_bytes).map(|n| bytes(Some(n))),
        row.write_amplification.map(|spread| format!("{:.2}", spread.median)),
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
pub(crate) fn tool_overhead_table(study: &Study, width: usize, style: Style) -> String {
    if study.tool_overheads.is_empty() {
        return String::new();
    }
    let mut grid = Grid::new(&[
        ("work", Kind::Text),
        ("file system", Kind::Text),
        (study.compared_clock.name(), Kind::Figure),
        ("min - max", Kind::Figure),
        ("n", Kind::Figure),
        ("quotient", Kind::Figure),
    ]);
    let mut footnotes = Footnotes::default();
    let mut left_out = String::new();
    for cost in &study.tool_overheads {
        tool_overhead_rows(&mut grid, &mut footnotes, cost);
        if !cost.not_comparable.is_empty() {
            let line = format!(
                "{} / {} and {} / {} on {}: not in the same state of cache and memory, not \
                 divided.",
                cost.program_workload,
                cost.program_phase,
                cost.engine_workload,
                cost.engine_phase,
                cost.not_comparable.join(", ")
            );
            left_out.push_str(&wrap("", &line, width));
        }
    }
    let mut out = format!("{}\n", bold("Tool overhead (program ÷ engine)", style.colour));
    if !grid.is_empty() {
        out.push_str(&grid.render(width));
    }
    out.push_str(&footnotes.render(width));
    out.push_str(&left_out);
    let mut words = format!(
        "The same work in trials of two workloads, by the time to `{}`; a quotient of medians, \
         without a verdict. Above 1.00 the program took longer than the engine's calls for the \
         same work.",
        study.compared_clock.name()
    );
    if study.tool_overheads.iter().any(is_decompressing) {
        words.push_str(
            " tar has its archive decompressed by a second process; the engine does all \
             in one thread.",
        );
    }
    out.push_str(&wrap("", &words, width));
    out
}

fn is_decompressing(cost: &ToolOverhead) -> bool {
    matches!(&cost.work, JobKind::Untar { compression } if *compression != Compression::None)
}

/// Two rows a contender: the program's and below it the engine's.
fn tool_overhead_rows(grid: &mut Grid, footnotes: &mut Footnotes, cost: &ToolOverhead) {
    let mixed = cost.rows.iter().any(|row| row.cache == CacheState::Cold)
        && cost.rows.iter().any(|row| row.cache != CacheState::Cold);
    for row in &cost.rows {
        let warm = if mixed && row.cache != CacheState::Cold { " (warm)" } else { "" };
        let works = [
            format!("{} / {} ({})", cost.program_workload, cost.program_phase, cost.program),
            format!("{} / {} (engine)", cost.engine_workload, cost.engine_phase),
        ];
        let quotients = [format!("{:.2}", row.program_to_engine), String::new()];
        let spreads = [row.program, row.engine];
        for (at, (work, quotient)) in works.into_iter().zip(quotients).enumerate() {
            let (spread, planned) = (spreads[at], row.n_planned[at]);
            let label = format!("{}{warm}", row.label);
            let wrong = wrong_contents(row.trials_with_bad_contents[at]);
            grid.row(vec![
                work,
                footnotes.annotate(label, wrong.into_iter().collect()),
                seconds(Some(spread.median_ns)),
                range_in(Some(spread), seconds),
                if spread.n < planned {
                    format!("{}/{planned}", spread.n)
                } else {
                    spread.n.to_string()
                },
                quotient,
            ]);
        }
    }
}
