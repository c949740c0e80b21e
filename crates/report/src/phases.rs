//! Tables of file systems, one a workload and phase.

use crate::footnotes::Footnotes;
use crate::format::{Scale, clock, cpu, ns, seconds};
use crate::job;
use crate::labels::{
    absence, common_memory, is_mixed, notes_of, plain_label, range_in, title, trials,
};
use crate::latency::{latency_grid, matters, quantiles};
use crate::notes::{closing_notes, heading};
use crate::style::{MIN_WIDTH, Style};
use crate::table::{Grid, Kind};
use crate::text::wrap;
use fsarena_model::run::{Clock, RateStyle};
use fsarena_study::{PhaseRow, PhaseTable, RateUnit, SpreadNs, Study};

/// The whole result of a RUN: heading, tables, notes.
#[must_use]
pub fn phase_tables(study: &Study, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = heading(study, width, style);
    let mut ratios = false;
    let mut workload = None;
    for table in &study.tables {
        let (text, has_ratios) = phase_table(study, table, width, style);
        ratios |= has_ratios;
        out.push('\n');
        if workload.replace(&table.workload) != Some(&table.workload) {
            out.push_str(&job::head(study, &table.workload, width));
        }
        out.push_str(&text);
    }
    out.push('\n');
    let beside = job::tool_overhead_table(study, width, style);
    if !beside.is_empty() {
        out.push_str(&beside);
        out.push('\n');
    }
    out.push_str(&wrap("", &legend(study, ratios, style), width));
    let notes = closing_notes(study, width, style);
    if !notes.is_empty() {
        out.push('\n');
        out.push_str(&notes);
    }
    out
}

/// Code of the notice on records of other programs (`fsarena_foreign::import::notices::FOREIGN`).
const IMPORTED: &str = "imported";

/// How the tables are read: only what occurs.
pub(crate) fn legend(study: &Study, ratios: bool, style: Style) -> String {
    let compared = study.compared_clock.name();
    let is_foreign = study.notices.iter().any(|notice| notice.code == IMPORTED);
    let of =
        if is_foreign { "another program's trials" } else { "trials, each from a reset state" };
    let mut text = format!(
        "Medians over {of}. Compared: time to `{compared}`; rates are \
         computed from it. CPU: the whole machine is 100 %, from start to `durable`"
    );
    let kb = style.rate.unwrap_or(study.rate_style) == RateStyle::Article2003;
    text.push_str(if kb { "; KB = 1024 bytes." } else { "." });
    if ratios {
        text.push_str(
            " ratio: median of the compared time to the best such median among rows that may be \
             compared; plain arithmetic.",
        );
    }
    if study.tables.iter().any(|table| table.job.is_some()) {
        text.push(' ');
        text.push_str(job::LEGEND);
    }
    if study.tables.iter().any(|table| matters(table) && !table.rows.is_empty()) {
        text.push_str(
            " latency: of single ops, all trials together; p90 needs 10 ops, p99 100, p99.9 1,000.",
        );
    }
    if study.tables.iter().any(|table| table.unit == RateUnit::Ops) {
        text.push_str(" IOPS: calls of reading and writing per second.");
    }
    if study.tables.iter().flat_map(|table| &table.rows).any(|row| row.threads.is_some()) {
        text.push_str(
            " first done, last done: the first and the last thread, from the start barrier; \
             imbalance: the slowest thread to the mean of all.",
        );
    }
    text.push_str(if study.asks_verdicts {
        " Whether a difference is real is said by the verdicts (`fsarena study`), not by these \
         ratios."
    } else {
        " Whether a difference is real is not decided here."
    });
    text
}

/// The table as text, and whether it has room for ratios.
fn phase_table(study: &Study, table: &PhaseTable, width: usize, style: Style) -> (String, bool) {
    let (grids, footnotes) = phase_grids(study, table, style);
    let mut out = title(table, width, style);
    grids.iter().for_each(|grid| out.push_str(&grid.render(width)));
    out.push_str(&footnotes.render(width));
    (out, grids.first().is_some_and(|grid| grid.shows("ratio", width)))
}

/// The tables of a phase, the one with the compared times first, and the notes on their rows.
pub(crate) fn phase_grids(
    study: &Study,
    table: &PhaseTable,
    style: Style,
) -> (Vec<Grid>, Footnotes) {
    let (grid, footnotes) = match table.job {
        Some(_) => job_grid(study, table),
        None => phase_grid(study, table, style),
    };
    let mut grids = vec![grid];
    grids.extend(table.job.is_some().then(|| job::amounts_grid(table)).flatten());
    let label = |row: &PhaseRow| plain_label(row, is_mixed(table));
    grids.extend(matters(table).then(|| latency_grid(table, label)).flatten());
    (grids, footnotes)
}

fn phase_grid(study: &Study, table: &PhaseTable, style: Style) -> (Grid, Footnotes) {
    let rate_style = style.rate.unwrap_or(study.rate_style);
    let scale = Scale::for_table(table, rate_style);
    let by_calls = scale == Scale::Iops;
    let latency = !matters(table);
    let others = [Clock::Returned, Clock::Durable, Clock::Drained]
        .into_iter()
        .filter(|&c| c != study.compared_clock);
    let mut columns = vec![
        ("file system", Kind::Text),
        ("rate", Kind::Figure),
        ("CPU", Kind::Figure),
        (clock(study.compared_clock), Kind::Figure),
        ("min - max", Kind::Optional(1)),
    ];
    if by_calls {
        columns.insert(2, ("contents", Kind::Figure));
    }
    columns.extend(others.clone().map(|c| (clock(c), Kind::Figure)));
    columns.push(("ratio", Kind::Optional(2)));
    if latency {
        let three =
            [("p50", Kind::Optional(4)), ("p99", Kind::Optional(3)), ("max", Kind::Optional(5))];
        columns.extend(three);
    }
    columns.push(("n", Kind::Figure));
    let mut grid = Grid::new(&columns);
    let mut footnotes = Footnotes::default();
    let common = common_memory(table);
    for row in &table.rows {
        let mut cells = vec![
            footnotes.annotate(plain_label(row, is_mixed(table)), notes_of(row, common)),
            if row.n == 0 { "failed".to_owned() } else { scale.rate(row) },
            cpu(row.cpu),
            clock_cell(row, study.compared_clock),
            range(row.compared),
        ];
        if by_calls {
            cells.insert(2, Scale::for_bytes(table, rate_style).rate(row));
        }
        cells.extend(others.clone().map(|c| clock_cell(row, c)));
        cells.push(
            row.ratio_of_medians.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        );
        if latency {
            let [p50, _, p99, _, max] = quantiles(row.latency);
            cells.extend([p50, p99, max]);
        }
        cells.push(trials(row));
        grid.row(cells);
    }
    add_absent(&mut grid, table);
    (grid, footnotes)
}

/// Real work: its time on the three clocks, the compared one first.
fn job_grid(study: &Study, table: &PhaseTable) -> (Grid, Footnotes) {
    let others = [Clock::Returned, Clock::Durable, Clock::Drained]
        .into_iter()
        .filter(|&c| c != study.compared_clock);
    let mut columns = vec![
        ("file system", Kind::Text),
        (clock(study.compared_clock), Kind::Figure),
        ("min - max", Kind::Optional(1)),
        ("ratio", Kind::Figure),
    ];
    columns.extend(others.clone().map(|c| (clock(c), Kind::Figure)));
    columns.extend([("CPU", Kind::Figure), ("n", Kind::Figure)]);
    let mut grid = Grid::new(&columns);
    let mut footnotes = Footnotes::default();
    let common = common_memory(table);
    for row in &table.rows {
        let time = |c| clock_cell_in(row, c, seconds);
        let compared = if row.n == 0 { "failed".to_owned() } else { time(study.compared_clock) };
        let mut cells = vec![
            footnotes.annotate(plain_label(row, is_mixed(table)), notes_of(row, common)),
            compared,
            range_in(row.compared, seconds),
            row.ratio_of_medians.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        ];
        cells.extend(others.clone().map(time));
        cells.extend([cpu(row.cpu), trials(row)]);
        grid.row(cells);
    }
    add_absent(&mut grid, table);
    (grid, footnotes)
}

/// Contenders without a figure.
fn add_absent(grid: &mut Grid, table: &PhaseTable) {
    for absent in &table.absent {
        grid.row(vec![absent.label.clone(), absence(absent.why).to_owned()]);
    }
}

fn clock_cell(row: &PhaseRow, clock: Clock) -> String {
    clock_cell_in(row, clock, ns)
}

/// As [`clock_cell`], lengths in the words of `length`.
fn clock_cell_in(row: &PhaseRow, clock: Clock, length: fn(Option<u64>) -> String) -> String {
    let median = |spread: Option<SpreadNs>| length(spread.map(|s| s.median_ns));
    match clock {
        Clock::Returned => median(row.returned),
        Clock::Durable => median(row.durable),
        Clock::Drained => match row.drained.spread {
            Some(spread) => length(Some(spread.median_ns)),
            None if row.drained.not_drained > 0 => "not drained".to_owned(),
            None if row.drained.no_device > 0 => "no device".to_owned(),
            None => "-".to_owned(),
        },
    }
}

fn range(spread: Option<SpreadNs>) -> String {
    range_in(spread, ns)
}
