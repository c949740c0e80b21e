//! The table of the 2003 article in its own shape, with this machine's values beside it.
//!
//! Rows are the tests, columns the file systems, cells `rate / CPU load`; where the columns do not
//! fit they continue in a further table. Published numbers are shown as published; a value of ours
//! that was not measured cold, in limited memory and by all planned trials is marked.

use crate::marks::{Marks, not_cold, not_limited, wrong_contents};
use crate::table::{Grid, Kind};
use crate::words::{bold, bytes, clean, count, width_of, wrap};
use crate::{MIN_WIDTH, Style};
use fsarena_model::record::CacheState;
use fsarena_study::{Absence, CpuLoad, MemoryView, PhaseRow, PhaseTable, RateUnit, Study};

/// A row of the article: one piece of work on all its file systems.
#[derive(Clone, PartialEq, Debug)]
pub struct ArticleRow {
    /// `write 5000 files of 256 B`.
    pub title: String,
    /// `KB/s` or `files/s`.
    pub unit: String,
    /// Workload and phase of ours that repeat it, where there are such.
    pub ours: Option<(String, String)>,
    /// One cell a column.
    pub cells: Vec<ArticleCell>,
}

/// A published value.
#[derive(Clone, PartialEq, Debug)]
pub struct ArticleCell {
    /// Name of the file system as published (`UFS1+SoftUpdates`).
    pub column: String,
    /// Operating system (`Linux`, `FreeBSD`).
    pub os: String,
    /// The value, in the row's unit.
    pub value: f64,
    /// CPU load of the whole machine, %.
    pub cpu_percent: f64,
}

/// A column: its heading and one cell a row.
struct Column {
    head: String,
    cells: Vec<String>,
}

/// The article's table, then this machine's values where there is a RUN: by `returned`, which is
/// what the article measured, and by the clock that the RUN compares.
#[must_use]
pub fn article_2003(
    rows: &[ArticleRow],
    study: Option<&Study>,
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = section("The article of 2003: rate / CPU load, %", width, style);
    out.push_str(&tables(rows, &published(rows), width));
    if let Some(study) = study {
        let compared = study.compared_clock.name();
        let mut marks = Marks::default();
        let title = format!("This machine, RUN {}, by `returned` (as the article)", study.uid);
        out.push_str(&section(&title, width, style));
        out.push_str(&tables(rows, &measured(rows, study, true, &mut marks), width));
        if compared != "returned" {
            let title = format!("This machine, RUN {}, by `{compared}`", study.uid);
            out.push_str(&section(&title, width, style));
            out.push_str(&tables(rows, &measured(rows, study, false, &mut marks), width));
        }
        let notes = marks.render(width);
        if !notes.is_empty() {
            out.push_str(&notes);
            out.push('\n');
        }
    }
    out.push_str(&wrap("", &legend(study), width));
    out
}

fn legend(study: Option<&Study>) -> String {
    let mut text = "KB = 1024 bytes. CPU load: the whole machine is 100 %.".to_owned();
    let Some(study) = study else { return text };
    if (study.scale - 1.0).abs() > f64::EPSILON {
        let scaled = format!(
            " Ours: with datasets scaled by {}, not with as many files as the titles say.",
            study.scale
        );
        text.push_str(&scaled);
    }
    text.push_str(
        " Ours: medians over trials, CPU from start to `durable` in both tables (- where the \
         phase was too short for a figure). Without a mark: cold, of all planned trials",
    );
    let mut limits_bytes: Vec<u64> = study
        .tables
        .iter()
        .flat_map(|table| &table.rows)
        .filter_map(|row| match row.memory {
            MemoryView::Limited { limit_bytes, .. } => Some(limit_bytes),
            MemoryView::Whole | MemoryView::NotLimited { .. } => None,
        })
        .collect();
    limits_bytes.sort_unstable();
    limits_bytes.dedup();
    if !limits_bytes.is_empty() {
        let limits: Vec<String> = limits_bytes.iter().map(|&limit| bytes(Some(limit))).collect();
        text.push_str(&format!(", in {} of memory", limits.join(" or ")));
    }
    text.push('.');
    text
}

fn section(title: &str, width: usize, style: Style) -> String {
    format!("{}\n", bold(wrap("", title, width).trim_end(), style.colour))
}

fn published(rows: &[ArticleRow]) -> Vec<Column> {
    let mut heads: Vec<(String, String)> = Vec::new();
    for cell in rows.iter().flat_map(|row| &row.cells) {
        let head = (cell.column.clone(), cell.os.clone());
        if !heads.contains(&head) {
            heads.push(head);
        }
    }
    let cells = |name: &str, os: &str| -> Vec<String> {
        let of = |row: &ArticleRow| {
            let cell = row.cells.iter().find(|c| c.column == name && c.os == os);
            cell.map_or_else(|| "-".to_owned(), |c| pair(&row.unit, c.value, Some(c.cpu_percent)))
        };
        rows.iter().map(of).collect()
    };
    heads
        .iter()
        .map(|(name, os)| Column { head: format!("{name} ({os})"), cells: cells(name, os) })
        .collect()
}

/// `127.03 / 95.83`; files per second without decimals, as published.
fn pair(unit: &str, value: f64, cpu_percent: Option<f64>) -> String {
    let value = if unit == "files/s" { format!("{value:.0}") } else { format!("{value:.2}") };
    match cpu_percent {
        Some(cpu) => {
            let cpu = format!("{cpu:.2}");
            format!("{value} / {}", cpu.trim_end_matches('0').trim_end_matches('.'))
        }
        None => format!("{value} / -"),
    }
}

fn measured(rows: &[ArticleRow], study: &Study, returned: bool, marks: &mut Marks) -> Vec<Column> {
    let mut labels: Vec<(usize, String)> = Vec::new();
    let of_rows = study.tables.iter().flat_map(|t| &t.rows).map(|r| (r.contender, &r.label));
    let absent = study.tables.iter().flat_map(|t| &t.absent).map(|a| (a.contender, &a.label));
    for (index, label) in of_rows.chain(absent) {
        if !labels.iter().any(|(known, _)| *known == index) {
            labels.push((index, label.clone()));
        }
    }
    labels.sort();
    let mut column = |(index, label): (usize, String)| Column {
        head: label,
        cells: rows.iter().map(|row| cell(row, study, index, returned, marks)).collect(),
    };
    labels.into_iter().map(&mut column).collect()
}

fn cell(
    row: &ArticleRow,
    study: &Study,
    contender: usize,
    returned: bool,
    marks: &mut Marks,
) -> String {
    let Some((workload, phase)) = &row.ours else { return "-".to_owned() };
    let table = study.tables.iter().find(|t| t.workload == *workload && t.phase == *phase);
    let Some(table) = table else { return "-".to_owned() };
    let groups: Vec<&PhaseRow> = table.rows.iter().filter(|r| r.contender == contender).collect();
    let Some(shown) = shown(&groups) else { return absent(table, contender).to_owned() };
    let text = if shown.n == 0 { "failed".to_owned() } else { value(shown, &row.unit, returned) };
    marks.marked(text, notes(shown, &groups))
}

/// Why a contender has nothing to show.
fn absent(table: &PhaseTable, contender: usize) -> &'static str {
    match table.absent.iter().find(|a| a.contender == contender).map(|a| a.why) {
        Some(Absence::NotRun) => "not run",
        Some(Absence::Failed) => "failed",
        Some(Absence::Partial) => "partial",
        _ => "-",
    }
}

fn value(row: &PhaseRow, unit: &str, returned: bool) -> String {
    let of = if unit == "files/s" { RateUnit::Files } else { RateUnit::Bytes };
    let rates = if returned { row.returned_rates } else { row.rates };
    let Some(per_s) = rates.get(of).map(|spread| spread.median) else { return "-".to_owned() };
    let value = if of == RateUnit::Files { per_s } else { per_s / 1024.0 };
    let cpu_percent = match row.cpu {
        CpuLoad::Percent { percent } => Some(percent.median),
        CpuLoad::TooShort | CpuLoad::Unknown => None,
    };
    pair(unit, value, cpu_percent)
}

/// The group of trials that stands for a contender: one under the conditions of the article (cold,
/// and no limit of memory missing) before one that is not, then the one of more trials.
fn shown<'a>(groups: &[&'a PhaseRow]) -> Option<&'a PhaseRow> {
    let as_asked = |row: &PhaseRow| {
        row.cache == CacheState::Cold && !matches!(row.memory, MemoryView::NotLimited { .. })
    };
    // Of equals, the last is the greatest: backwards, so that it is the first.
    groups.iter().rev().copied().max_by_key(|row| (row.n > 0, as_asked(row), row.n))
}

/// In what a value of ours is not like those of the article, or not of all its trials.
fn notes(shown: &PhaseRow, groups: &[&PhaseRow]) -> Vec<String> {
    let mut notes = conditions(shown);
    if (1..shown.n_planned).contains(&shown.n) {
        let mut text = format!("{} of {}", shown.n, count(shown.n_planned, "planned trial"));
        for other in groups.iter().filter(|row| !std::ptr::eq(**row, shown) && row.n > 0) {
            let mut why = conditions(other);
            if why.is_empty() {
                why.push("as asked".to_owned());
            }
            text.push_str(&format!("; not among them: {} {}", other.n, why.join(", ")));
        }
        notes.push(text);
    }
    notes.extend(wrong_contents(groups.iter().map(|row| row.trials_with_bad_contents).sum()));
    notes
}

/// Conditions of a row that the article had not: warm caches, memory without a limit.
fn conditions(row: &PhaseRow) -> Vec<String> {
    let warm = not_cold(row)
        .or_else(|| (row.cache != CacheState::Cold).then(|| "warm, as asked".to_owned()));
    let whole =
        (row.memory == MemoryView::Whole).then(|| "memory not limited, as asked".to_owned());
    warm.into_iter().chain(not_limited(row)).chain(whole).collect()
}

/// The columns in as few tables as fit, about as many in each.
fn tables(rows: &[ArticleRow], columns: &[Column], width: usize) -> String {
    const TITLE_COLUMNS: usize = 24;
    let of = |column: &Column| {
        let words = column.head.split_whitespace().chain(column.cells.iter().map(String::as_str));
        words.map(width_of).max().unwrap_or(0) + 2
    };
    let widest = columns.iter().map(of).max().unwrap_or(1);
    let most = ((width - TITLE_COLUMNS) / widest).max(1);
    let parts = columns.len().div_ceil(most).max(1);
    let each = columns.len().div_ceil(parts).max(1);
    let mut out = String::new();
    for part in columns.chunks(each) {
        let mut heads = vec![("", Kind::Text)];
        heads.extend(part.iter().map(|c| (c.head.as_str(), Kind::Narrow)));
        let mut grid = Grid::new(&heads);
        for (at, row) in rows.iter().enumerate() {
            let mut cells = vec![format!("{}, {}", clean(&row.title), row.unit)];
            cells.extend(part.iter().map(|c| c.cells[at].clone()));
            grid.row(cells);
        }
        out.push_str(&grid.render(width));
        out.push('\n');
    }
    out
}
