//! The table of the 2003 article in its own shape, with this machine's values beside it.
//!
//! Rows are the tests, columns the file systems, cells `rate / CPU load`; where the columns do not
//! fit they continue in a further table. Published numbers are shown as published.

use crate::table::{Grid, Kind};
use crate::words::{bold, clean, width_of, wrap};
use crate::{MIN_WIDTH, Style};
use fsarena_study::{CpuLoad, PhaseRow, RateUnit, Study};

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
        let title = format!("This machine, RUN {}, by `returned` (as the article)", study.uid);
        out.push_str(&section(&title, width, style));
        out.push_str(&tables(rows, &measured(rows, study, true), width));
        if compared != "returned" {
            let title = format!("This machine, RUN {}, by `{compared}`", study.uid);
            out.push_str(&section(&title, width, style));
            out.push_str(&tables(rows, &measured(rows, study, false), width));
        }
    }
    let mut legend = "KB = 1024 bytes. CPU load: the whole machine is 100 %.".to_owned();
    if let Some(study) = study {
        if (study.scale - 1.0).abs() > f64::EPSILON {
            let scaled = format!(
                " Ours: with datasets scaled by {}, not with as many files as the titles say.",
                study.scale
            );
            legend.push_str(&scaled);
        }
        legend.push_str(
            " Ours: medians over trials, CPU from start to `durable` in both tables (- where the \
             phase was too short for a figure).",
        );
    }
    out.push_str(&wrap("", &legend, width));
    out
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

fn measured(rows: &[ArticleRow], study: &Study, returned: bool) -> Vec<Column> {
    let mut labels: Vec<(usize, String)> = Vec::new();
    let of_rows = study.tables.iter().flat_map(|t| &t.rows).map(|r| (r.contender, &r.label));
    let absent = study.tables.iter().flat_map(|t| &t.absent).map(|a| (a.contender, &a.label));
    for (index, label) in of_rows.chain(absent) {
        if !labels.iter().any(|(known, _)| *known == index) {
            labels.push((index, label.clone()));
        }
    }
    labels.sort();
    let column = |(index, label): (usize, String)| Column {
        head: label,
        cells: rows.iter().map(|row| cell(row, study, index, returned)).collect(),
    };
    labels.into_iter().map(column).collect()
}

fn cell(row: &ArticleRow, study: &Study, contender: usize, returned: bool) -> String {
    let Some((workload, phase)) = &row.ours else { return "-".to_owned() };
    let table = study.tables.iter().find(|t| t.workload == *workload && t.phase == *phase);
    let found = table.and_then(|t| t.rows.iter().find(|r| r.contender == contender));
    let Some(found) = found else {
        let why = table.and_then(|t| t.absent.iter().find(|a| a.contender == contender));
        return match why.map(|a| a.why) {
            Some(fsarena_study::Absence::NotRun) => "not run".to_owned(),
            Some(fsarena_study::Absence::Failed) => "failed".to_owned(),
            _ => "-".to_owned(),
        };
    };
    let unit = if row.unit == "files/s" { RateUnit::Files } else { RateUnit::Bytes };
    match rate(found, unit, returned) {
        Some(per_s) => {
            let value = if unit == RateUnit::Files { per_s } else { per_s / 1024.0 };
            let cpu_percent = match found.cpu {
                CpuLoad::Percent { percent } => Some(percent.median),
                CpuLoad::TooShort | CpuLoad::Unknown => None,
            };
            pair(&row.unit, value, cpu_percent)
        }
        None => "-".to_owned(),
    }
}

fn rate(row: &PhaseRow, unit: RateUnit, returned: bool) -> Option<f64> {
    let spread = match (unit, returned) {
        (RateUnit::Files, true) => row.returned_files_per_s,
        (RateUnit::Files, false) => row.files_per_s,
        (RateUnit::Bytes, true) => row.returned_bytes_per_s,
        (RateUnit::Bytes, false) => row.bytes_per_s,
    };
    spread.map(|s| s.median)
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
