//! Tables of file systems, one a workload and phase.

use crate::marks::{Marks, not_cold, not_limited, wrong_contents};
use crate::notes::{closing_notes, heading};
use crate::table::{Grid, Kind};
use crate::words::{Scale, bold, bytes, clock, count, cpu, ns, wrap};
use crate::{MIN_WIDTH, Style};
use fsarena_model::record::{CacheState, Window};
use fsarena_model::run::{Clock, RateStyle};
use fsarena_model::units::Bytes;
use fsarena_model::work::Order;
use fsarena_study::{Absence, MemoryView, PhaseRow, PhaseTable, SpreadNs, Study};

/// The whole result of a RUN: heading, tables, notes.
#[must_use]
pub fn phase_tables(study: &Study, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = heading(study, width, style);
    let mut ratios = false;
    for table in &study.tables {
        let (text, has_ratios) = phase_table(study, table, width, style);
        ratios |= has_ratios;
        out.push('\n');
        out.push_str(&text);
    }
    out.push('\n');
    out.push_str(&wrap("", &legend(study, ratios, style), width));
    let notes = closing_notes(study, width, style);
    if !notes.is_empty() {
        out.push('\n');
        out.push_str(&notes);
    }
    out
}

fn legend(study: &Study, ratios: bool, style: Style) -> String {
    let compared = study.compared_clock.name();
    let mut text = format!(
        "Medians over trials, each from a reset state. Compared: time to `{compared}`; rates are \
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
    text.push_str(" Whether a difference is real is not decided here.");
    text
}

/// The table as text, and whether it has room for ratios.
fn phase_table(study: &Study, table: &PhaseTable, width: usize, style: Style) -> (String, bool) {
    let scale = Scale::of(table, style.rate.unwrap_or(study.rate_style));
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
    columns.extend(others.clone().map(|c| (clock(c), Kind::Figure)));
    columns.extend([
        ("ratio", Kind::Optional(2)),
        ("p50", Kind::Optional(4)),
        ("p99", Kind::Optional(3)),
        ("max", Kind::Optional(5)),
        ("n", Kind::Figure),
    ]);
    let mut grid = Grid::new(&columns);
    let mut marks = Marks::default();
    let common = common_memory(table);
    for row in &table.rows {
        let mut cells = vec![
            marks.marked(plain_label(row, is_mixed(table)), notes_of(row, common)),
            if row.n == 0 { "failed".to_owned() } else { scale.rate(row) },
            cpu(row.cpu),
            clock_cell(row, study.compared_clock),
            range(row.compared),
        ];
        cells.extend(others.clone().map(|c| clock_cell(row, c)));
        let latency = row.latency;
        cells.extend([
            row.ratio_of_medians.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
            ns(latency.map(|l| l.p50_ns)),
            ns(latency.map(|l| l.p99_ns)),
            ns(latency.map(|l| l.max_ns)),
            trials(row),
        ]);
        grid.row(cells);
    }
    for absent in &table.absent {
        let why = match absent.why {
            Absence::NotRun => "not run",
            Absence::Failed => "failed",
            Absence::Interrupted => "interrupted",
            Absence::NotYet => "no trial yet",
        };
        grid.row(vec![absent.label.clone(), why.to_owned()]);
    }
    let mut out = title(table, common, width, style);
    out.push_str(&grid.render(width));
    out.push_str(&marks.render(width));
    (out, grid.shows("ratio", width))
}

/// The memory limit that all rows of a table have.
fn common_memory(table: &PhaseTable) -> Option<&MemoryView> {
    let first = &table.rows.first()?.memory;
    let limited = matches!(first, MemoryView::Limited { .. });
    (limited && table.rows.iter().all(|row| row.memory == *first)).then_some(first)
}

fn title(table: &PhaseTable, memory: Option<&MemoryView>, width: usize, style: Style) -> String {
    let set = &table.dataset;
    let order = match (set.files, table.order) {
        (1, _) => "",
        (_, Order::Sequential) => ", in order",
        (_, Order::Random) => ", in random order",
    };
    let files = if set.files == 1 {
        format!("one file of {}", Bytes(set.size_bytes))
    } else {
        format!("{} files of {}", crate::words::grouped(set.files), Bytes(set.size_bytes))
    };
    let mut state = String::new();
    if is_mixed(table) {
        state.push_str("; cold (warm rows are not compared with cold ones)");
    } else if let Some(row) = table.rows.first() {
        state.push_str(if row.cache == CacheState::Cold { "; cold" } else { "; warm" });
    }
    if let Some(MemoryView::Limited { limit_bytes, by }) = memory {
        state.push_str(&format!("; memory {} by {by}", Bytes(*limit_bytes)));
    }
    let text = format!("{} / {}: {files}{order}{state}", table.workload, table.phase);
    let mut out = String::new();
    for line in wrap("", &text, width).lines() {
        out.push_str(&bold(line, style.colour));
        out.push('\n');
    }
    out
}

/// Whether a table has cold and warm rows.
fn is_mixed(table: &PhaseTable) -> bool {
    let cold = table.rows.iter().filter(|row| row.cache == CacheState::Cold).count();
    cold > 0 && cold < table.rows.len()
}

/// What is to be said of a row, beside its figures.
fn notes_of(row: &PhaseRow, common: Option<&MemoryView>) -> Vec<String> {
    let mut notes: Vec<String> = not_cold(row).into_iter().chain(not_limited(row)).collect();
    match &row.memory {
        MemoryView::Limited { limit_bytes, by } if common.is_none() => {
            notes.push(format!("memory {} by {by}", Bytes(*limit_bytes)));
        }
        _ => {}
    }
    if row.drained.not_drained > 0 {
        let (n, of) = (row.drained.not_drained, count(row.n, "trial"));
        notes.push(format!("not drained in {n} of {of}: {}", row.drained.reasons.join("; ")));
    }
    notes.extend(wrong_contents(row.trials_with_bad_contents));
    notes
}

/// Warm is said where the table has cold rows too.
fn plain_label(row: &PhaseRow, mixed: bool) -> String {
    let warm = if mixed && row.cache != CacheState::Cold { " (warm)" } else { "" };
    format!("{}{warm}", row.label)
}

fn clock_cell(row: &PhaseRow, clock: Clock) -> String {
    let median = |spread: Option<SpreadNs>| ns(spread.map(|s| s.median_ns));
    match clock {
        Clock::Returned => median(row.returned),
        Clock::Durable => median(row.durable),
        Clock::Drained => match row.drained.spread {
            Some(spread) => ns(Some(spread.median_ns)),
            None if row.drained.not_drained > 0 => "not drained".to_owned(),
            None if row.drained.no_device > 0 => "no device".to_owned(),
            None => "-".to_owned(),
        },
    }
}

fn range(spread: Option<SpreadNs>) -> String {
    match spread {
        Some(s) if s.n > 1 => format!("{} - {}", ns(Some(s.min_ns)), ns(Some(s.max_ns))),
        _ => "-".to_owned(),
    }
}

fn trials(row: &PhaseRow) -> String {
    if row.n == row.n_planned { row.n.to_string() } else { format!("{}/{}", row.n, row.n_planned) }
}

/// Latency and device traffic beside the times: the ledger of each phase.
#[must_use]
pub fn ledger_tables(study: &Study, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    for table in study.tables.iter().filter(|t| !t.rows.is_empty()) {
        let mut grid = Grid::new(&[
            ("file system", Kind::Text),
            ("p50", Kind::Figure),
            ("p99", Kind::Figure),
            ("p99.9", Kind::Optional(2)),
            ("max", Kind::Figure),
            ("read", Kind::Figure),
            ("written", Kind::Figure),
            ("to drained", Kind::Optional(1)),
            ("to unmount", Kind::Figure),
            ("w. amp.", Kind::Figure),
        ]);
        for row in &table.rows {
            let latency = |of: fn(&fsarena_study::Latency) -> u64| ns(row.latency.as_ref().map(of));
            let device = |window| row.device.iter().find(|d| d.window == window);
            let written = |window| bytes(device(window).and_then(|d| d.written_bytes));
            grid.row(vec![
                plain_label(row, is_mixed(table)),
                latency(|l| l.p50_ns),
                latency(|l| l.p99_ns),
                latency(|l| l.p999_ns),
                latency(|l| l.max_ns),
                bytes(device(Window::Durable).and_then(|d| d.read_bytes)),
                written(Window::Durable),
                written(Window::Drained),
                written(Window::Unmounted),
                row.write_amplification
                    .map_or_else(|| "-".to_owned(), |spread| format!("{:.2}", spread.median)),
            ]);
        }
        out.push_str(&title(table, common_memory(table), width, style));
        out.push_str(&grid.render(width));
        out.push('\n');
    }
    out.push_str(&space_table(study, width, style));
    let legend = "Latency of single ops, all trials together. Device: bytes read and written from \
                  the phase's start to `durable`, to `drained` and to the end of the next unmount. \
                  w. amp.: bytes written to the device up to the unmount per byte of contents \
                  written. Space amplification: growth of used space per byte stored.";
    out.push_str(&wrap("", legend, width));
    out
}

fn space_table(study: &Study, width: usize, style: Style) -> String {
    let mut grid = Grid::new(&[
        ("file system", Kind::Text),
        ("workload", Kind::Text),
        ("used empty", Kind::Figure),
        ("used", Kind::Figure),
        ("stored", Kind::Figure),
        ("amp.", Kind::Figure),
        ("unmount", Kind::Figure),
        ("n", Kind::Figure),
    ]);
    for row in study.trials.iter().filter(|row| row.n > 0) {
        grid.row(vec![
            row.label.clone(),
            row.workload.clone(),
            bytes(row.used_empty_bytes),
            bytes(row.used_bytes),
            bytes(row.stored_bytes),
            row.space_amplification
                .map_or_else(|| "-".to_owned(), |spread| format!("{:.2}", spread.median)),
            ns(row.unmount.map(|u| u.median_ns)),
            row.n.to_string(),
        ]);
    }
    if grid.is_empty() {
        return String::new();
    }
    let title = bold("Space after the last phase", style.colour);
    format!("{title}\n{}\n", grid.render(width))
}
