//! Tables of file systems, one a workload and phase.

use crate::cycles::BESIDE;
use crate::job;
use crate::latency::{latency_grid, matters, quantiles};
use crate::manner::{job_words, manner, work};
use crate::marks::{Marks, not_cold, not_limited, wrong_contents};
use crate::notes::{closing_notes, heading};
use crate::table::{Grid, Kind};
use crate::words::{Scale, bold, clock, count, cpu, ns, seconds, wrap};
use crate::{MIN_WIDTH, Style};
use fsarena_model::record::CacheState;
use fsarena_model::run::{Clock, RateStyle};
use fsarena_model::units::Bytes;
use fsarena_study::{Absence, MemoryView, PhaseRow, PhaseTable, RateUnit, SpreadNs, Study};

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
    let beside = job::own_cost_table(study, width, style);
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

/// Code of the notice on records of other programs (`fsarena_import::notices::FOREIGN`).
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
    let (grids, marks) = phase_grids(study, table, style);
    let mut out = title(table, width, style);
    grids.iter().for_each(|grid| out.push_str(&grid.render(width)));
    out.push_str(&marks.render(width));
    (out, grids.first().is_some_and(|grid| grid.shows("ratio", width)))
}

/// The tables of a phase, the one with the compared times first, and the notes on their rows.
pub(crate) fn phase_grids(study: &Study, table: &PhaseTable, style: Style) -> (Vec<Grid>, Marks) {
    let (grid, marks) = match table.job {
        Some(_) => job_grid(study, table),
        None => phase_grid(study, table, style),
    };
    let mut grids = vec![grid];
    grids.extend(table.job.is_some().then(|| job::amounts_grid(table)).flatten());
    let label = |row: &PhaseRow| plain_label(row, is_mixed(table));
    grids.extend(matters(table).then(|| latency_grid(table, label)).flatten());
    (grids, marks)
}

fn phase_grid(study: &Study, table: &PhaseTable, style: Style) -> (Grid, Marks) {
    let rate_style = style.rate.unwrap_or(study.rate_style);
    let scale = Scale::of(table, rate_style);
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
        if by_calls {
            cells.insert(2, Scale::of_bytes(table, rate_style).rate(row));
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
    (grid, marks)
}

/// Real work: its time on the three clocks, the compared one first.
fn job_grid(study: &Study, table: &PhaseTable) -> (Grid, Marks) {
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
    let mut marks = Marks::default();
    let common = common_memory(table);
    for row in &table.rows {
        let time = |c| clock_cell_in(row, c, seconds);
        let compared = if row.n == 0 { "failed".to_owned() } else { time(study.compared_clock) };
        let mut cells = vec![
            marks.marked(plain_label(row, is_mixed(table)), notes_of(row, common)),
            compared,
            range_in(row.compared, seconds),
            row.ratio_of_medians.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        ];
        cells.extend(others.clone().map(time));
        cells.extend([cpu(row.cpu), trials(row)]);
        grid.row(cells);
    }
    add_absent(&mut grid, table);
    (grid, marks)
}

/// Contenders without a figure.
fn add_absent(grid: &mut Grid, table: &PhaseTable) {
    for absent in &table.absent {
        grid.row(vec![absent.label.clone(), absence(absent.why).to_owned()]);
    }
}

/// The memory limit that all rows of a table have.
fn common_memory(table: &PhaseTable) -> Option<&MemoryView> {
    let first = &table.rows.first()?.memory;
    let limited = matches!(first, MemoryView::Limited { .. });
    (limited && table.rows.iter().all(|row| row.memory == *first)).then_some(first)
}

/// What a phase is, how it is done, and in which state of cache and memory; in bold lines.
pub(crate) fn title(table: &PhaseTable, width: usize, style: Style) -> String {
    let mut out = String::new();
    for line in wrap("", &phase_title(table), width).lines() {
        out.push_str(&bold(line, style.colour));
        out.push('\n');
    }
    out
}

/// What a phase is, how it is done, and in which state of cache and memory: `small-files / create:
/// 5,000 files of 256 B, in order; cold`.
#[must_use]
pub fn phase_title(table: &PhaseTable) -> String {
    let set = &table.dataset;
    let what = match &table.job {
        Some(job) => job_words(job),
        None => work(table.op, table.order, set),
    };
    let mut text = format!("{} / {}: {what}", table.workload, table.phase);
    let manner = manner(table.op, table.bs_bytes, &table.io, set);
    if !manner.is_empty() {
        text.push_str(&format!("; {manner}"));
    }
    if is_mixed(table) {
        text.push_str("; cold (warm rows are not compared with cold ones)");
    } else if let Some(row) = table.rows.first() {
        text.push_str(if row.cache == CacheState::Cold { "; cold" } else { "; warm" });
    }
    if let Some(MemoryView::Limited { limit_bytes, by }) = common_memory(table) {
        text.push_str(&format!("; memory {} by {by}", Bytes(*limit_bytes)));
    }
    text
}

/// What has to be said of the figures of a row: under which conditions they were not measured as
/// asked, and what is in none of them.
#[must_use]
pub fn row_notes(table: &PhaseTable, row: &PhaseRow) -> Vec<String> {
    notes_of(row, common_memory(table))
}

/// A row's name in its table: warm is said where there are cold rows too.
#[must_use]
pub fn row_label(table: &PhaseTable, row: &PhaseRow) -> String {
    plain_label(row, is_mixed(table))
}

/// Why a contender has no figure, in a word or two.
#[must_use]
pub fn absence(why: Absence) -> &'static str {
    match why {
        Absence::NotRun => "not run",
        Absence::Failed => "failed",
        Absence::Partial => "partial",
        Absence::Interrupted => "interrupted",
        Absence::NotYet => "no trial yet",
    }
}

/// Whether a table has cold and warm rows.
pub(crate) fn is_mixed(table: &PhaseTable) -> bool {
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
    if row.trials_partial > 0 {
        let trials = count(row.trials_partial, "trial");
        notes.push(format!("partial in {trials} (ended before the end of the work): in no figure"));
    }
    notes.extend(own_clock(row));
    notes.extend(row.overlapped_cycles.map(|_| BESIDE.to_owned()));
    notes
}

/// What a program that did the work says of its length, beside ours.
fn own_clock(row: &PhaseRow) -> Option<String> {
    let program = row.program.as_ref()?;
    let own = ns(Some(program.own?.median_ns));
    let version = &program.version;
    Some(format!(
        "the rate leaves out the start and end of {version}, which worked for {own} by its own \
         clock; the times do not"
    ))
}

/// Warm is said where the table has cold rows too.
pub(crate) fn plain_label(row: &PhaseRow, mixed: bool) -> String {
    let warm = if mixed && row.cache != CacheState::Cold { " (warm)" } else { "" };
    format!("{}{warm}", row.label)
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

pub(crate) fn range_in(spread: Option<SpreadNs>, length: fn(Option<u64>) -> String) -> String {
    match spread {
        Some(s) if s.n > 1 => format!("{} - {}", length(Some(s.min_ns)), length(Some(s.max_ns))),
        _ => "-".to_owned(),
    }
}

/// Trials behind a row: `8`, or `7/8` where more were planned.
#[must_use]
pub fn trials(row: &PhaseRow) -> String {
    if row.n == row.n_planned { row.n.to_string() } else { format!("{}/{}", row.n, row.n_planned) }
}
