//! The table of the 2003 article in its own shape, with this machine's values beside it.
//!
//! Rows are the tests, columns the file systems, cells `rate / CPU load`. Published numbers are
//! shown as published; a value of ours that was not measured cold, in limited memory and by all
//! planned trials is marked.

use super::layout::{Values, tables};
use super::measured::{Conditions, Ratios, cell, contenders};
use crate::article::model::{OwnPhase, OwnRun};
use crate::article::model::{PlainTable, ThenAndNow};
use crate::footnotes::Footnotes;
use crate::format::bytes;
use crate::style::{MIN_WIDTH, Style};
use crate::text::heading;
use crate::text::wrap;
use fsarena_model::run::Clock;
use fsarena_reference::{Caches, RateRow};
use fsarena_study::{CpuLoad, MemoryView, PhaseRow, PhaseTable, RateUnit, Study};

/// Everything cold, in little memory.
const ARTICLE: Conditions = Conditions { caches: Caches::Cold, limited: true };

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
    let mut out = published_table(rows, width, style);
    if let Some(study) = study {
        out.push_str(&own_tables(rows, study, "This machine", width, style));
    }
    out.push_str(&wrap("", &legend(study), width));
    out
}

/// The article's table, then the RUNs of ours, one a machine.
pub(super) fn all(rows: &[ArticleRow], runs: &[OwnRun<'_>], width: usize, style: Style) -> String {
    match runs {
        [] => article_2003(rows, None, width, style),
        [run] => article_2003(rows, Some(run.study), width, style),
        several => {
            let published = published_table(rows, width, style);
            format!("{published}{}", ours(rows, several, width, style))
        }
    }
}

/// The RUNs of ours alone.
pub(super) fn ours(rows: &[ArticleRow], runs: &[OwnRun<'_>], width: usize, style: Style) -> String {
    let mut out = String::new();
    for (at, run) in runs.iter().enumerate() {
        let name = if runs.len() == 1 {
            "As the article of 2003: this machine".to_owned()
        } else {
            format!("Machine {}, {}", at + 1, run.study.machine)
        };
        out.push_str(&own_tables(rows, run.study, &name, width, style));
        out.push_str(&wrap("", &legend(Some(run.study)), width));
        if at + 1 < runs.len() {
            out.push('\n');
        }
    }
    out
}

/// The article's rows in its own order, with the phases of ours that repeat them.
pub(super) fn rows(published: &[RateRow], phases: &[OwnPhase]) -> Vec<ArticleRow> {
    let mut rows: Vec<ArticleRow> = Vec::new();
    for row in published {
        let cell = ArticleCell {
            column: row.filesystem.clone(),
            os: row.os.clone(),
            value: row.value,
            cpu_percent: row.cpu_percent,
        };
        if let Some(known) = rows.iter_mut().find(|known| known.title == row.phase) {
            known.cells.push(cell);
            continue;
        }
        let ours = phases.iter().find(|ours| ours.title == row.phase);
        let ours = ours.map(|ours| (ours.workload.clone(), ours.phase.clone()));
        let (title, unit) = (row.phase.clone(), row.unit.clone());
        rows.push(ArticleRow { title, unit, ours, cells: vec![cell] });
    }
    rows
}

fn published_table(rows: &[ArticleRow], width: usize, style: Style) -> String {
    let title = heading("The article of 2003: rate / CPU load, %", width, style);
    format!("{title}{}", tables(&titles(rows), &published(rows), width))
}

fn own_tables(
    rows: &[ArticleRow],
    study: &Study,
    name: &str,
    width: usize,
    style: Style,
) -> String {
    let compared = study.compared_clock.name();
    let mut footnotes = Footnotes::default();
    let title = format!("{name}, RUN {}, by `returned` (as the article)", study.uid);
    let mut out = heading(&title, width, style);
    let titles = titles(rows);
    out.push_str(&tables(&titles, &measured(rows, study, true, &mut footnotes), width));
    if compared != "returned" {
        let title = format!("{name}, RUN {}, by `{compared}`", study.uid);
        out.push_str(&heading(&title, width, style));
        out.push_str(&tables(&titles, &measured(rows, study, false, &mut footnotes), width));
    }
    let notes = footnotes.render(width);
    if !notes.is_empty() {
        out.push_str(&notes);
        out.push('\n');
    }
    out
}

fn titles(rows: &[ArticleRow]) -> Vec<String> {
    rows.iter().map(|row| format!("{}, {}", row.title, row.unit)).collect()
}

pub(super) fn legend(study: Option<&Study>) -> String {
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

fn published(rows: &[ArticleRow]) -> Vec<Values> {
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
        .map(|(name, os)| Values { head: format!("{name} ({os})"), cells: cells(name, os) })
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

fn measured(
    rows: &[ArticleRow],
    study: &Study,
    returned: bool,
    footnotes: &mut Footnotes,
) -> Vec<Values> {
    let mut column = |(index, label): (usize, String)| Values {
        head: label,
        cells: rows.iter().map(|row| own_cell(row, study, index, returned, footnotes)).collect(),
    };
    contenders(study).into_iter().map(&mut column).collect()
}

/// The table of the phase of ours that repeats a row.
fn table<'a>(row: &ArticleRow, study: &'a Study) -> Option<&'a PhaseTable> {
    let (workload, phase) = row.ours.as_ref()?;
    study.tables.iter().find(|t| t.workload == *workload && t.phase == *phase)
}

fn own_cell(
    row: &ArticleRow,
    study: &Study,
    contender: usize,
    returned: bool,
    footnotes: &mut Footnotes,
) -> String {
    let Some(table) = table(row, study) else { return "-".to_owned() };
    let value = |shown: &PhaseRow| value(shown, &row.unit, returned);
    cell((study, table), contender, ARTICLE, footnotes, value)
}

fn value(row: &PhaseRow, unit: &str, returned: bool) -> String {
    let Some(value) = in_unit(row, unit, returned) else { return "-".to_owned() };
    let cpu_percent = match row.cpu {
        CpuLoad::Percent { percent } => Some(percent.median),
        CpuLoad::TooShort | CpuLoad::Unknown => None,
    };
    pair(unit, value, cpu_percent)
}

/// The median rate of a row in the unit of the article.
fn in_unit(row: &PhaseRow, unit: &str, returned: bool) -> Option<f64> {
    let rates = if returned { row.returned_rates } else { row.rates };
    if unit == "files/s" {
        return rates.get(RateUnit::Files).map(|spread| spread.median);
    }
    rates.get(RateUnit::Bytes).map(|spread| spread.median / 1024.0)
}

/// Rates of the article and, by `returned` as there, of a RUN of ours: a test each.
pub(super) fn then_and_now(rows: &[ArticleRow], study: &Study) -> Vec<ThenAndNow> {
    let of = |row: &ArticleRow| {
        let head = |cell: &ArticleCell| format!("{} ({})", cell.column, cell.os);
        let ratios = table(row, study).map_or_else(Ratios::default, |table| {
            Ratios::new(study, table, ARTICLE, |shown| in_unit(shown, &row.unit, true))
        });
        ThenAndNow {
            title: row.title.clone(),
            unit: row.unit.clone(),
            more_is_better: true,
            then: row.cells.iter().map(|cell| (head(cell), cell.value)).collect(),
            now: ratios.values,
            left_out: ratios.left_out,
        }
    };
    rows.iter().map(of).collect()
}

/// The article's table and those of ours, one a clock.
pub(super) fn plain(rows: &[ArticleRow], study: &Study) -> (PlainTable, Vec<PlainTable>) {
    let printed = published(rows);
    let plain = |title: String, columns: &[Values], footnotes: &Footnotes| {
        let row = |(at, head): (usize, String)| {
            (head, columns.iter().map(|column| column.cells[at].clone()).collect())
        };
        PlainTable {
            title,
            columns: columns.iter().map(|column| column.head.clone()).collect(),
            rows: titles(rows).into_iter().enumerate().map(row).collect(),
            footnotes: footnotes.lines(),
        }
    };
    let then = plain("rate / CPU load, %".to_owned(), &printed, &Footnotes::default());
    let compared = study.compared_clock;
    let clocks = [Clock::Returned, compared];
    let clocks = &clocks[..if compared == Clock::Returned { 1 } else { 2 }];
    let now = clocks.iter().map(|&clock| {
        let mut footnotes = Footnotes::default();
        let columns = measured(rows, study, clock == Clock::Returned, &mut footnotes);
        plain(format!("rate / CPU load, %, by `{}`", clock.name()), &columns, &footnotes)
    });
    (then, now.collect())
}
