//! Values of ours in the shape of an article of seconds: contenders in rows, tests in columns; by
//! `returned`, which is what the articles measured, and by the clock that the RUN compares.

use super::layout::{Values, grouped, tables};
use super::measured::{Conditions, Groups, Ratios, cell, contenders};
use crate::article::model::{OwnPhase, OwnRun, otherwise};
use crate::article::model::{PlainTable, ThenAndNow};
use crate::footnotes::Footnotes;
use crate::format::bare_seconds;
use crate::style::Style;
use crate::text::heading;
use crate::text::wrap;
use fsarena_model::record::CacheState;
use fsarena_model::run::Clock;
use fsarena_reference::{Article, Caches, Table, Test};
use fsarena_study::{PhaseRow, PhaseTable};

/// RUNs of ours, one a machine, with the tests of the article that they repeat.
pub(super) struct Ours<'a> {
    year: u16,
    conditions: Conditions,
    pub(super) tests: Vec<(Test, Option<&'a OwnPhase>)>,
    pub(super) runs: &'a [OwnRun<'a>],
}

/// Which of a row's lengths is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The clock of the articles.
    Returned,
    /// The clock that the RUN compares.
    Compared,
}

impl By {
    /// Median over trials, ns.
    fn median_ns(self, row: &PhaseRow) -> Option<u64> {
        let spread = match self {
            Self::Returned => row.returned,
            Self::Compared => row.compared,
        };
        spread.map(|spread| spread.median_ns)
    }

    pub(super) fn text(self, row: &PhaseRow) -> String {
        self.median_ns(row).map_or_else(|| "-".to_owned(), bare_seconds)
    }
}

impl<'a> Ours<'a> {
    pub(super) fn new(
        article: &Article,
        tests: &[Test],
        phases: &'a [OwnPhase],
        runs: &'a [OwnRun<'a>],
    ) -> Self {
        let own = |test: &Test| phases.iter().find(|own| own.title == test.name);
        Self {
            year: article.year,
            conditions: Conditions { caches: article.caches, limited: false },
            tests: tests.iter().map(|test| (*test, own(test))).collect(),
            runs,
        }
    }

    /// Machines one below the other, each contender a row.
    pub(super) fn one_after_the_other(&self, width: usize, style: Style) -> String {
        let mut footnotes = Footnotes::default();
        let mut out = String::new();
        for by in self.clocks() {
            out.push_str(&heading(&self.title(by), width, style));
            let mut titles = Vec::new();
            let mut columns: Vec<Values> = self.headings();
            for (at, run) in self.runs.iter().enumerate() {
                for (contender, label) in contenders(run.study) {
                    titles.push(format!("{label}{}", self.tag(at)));
                    for (column, (_, phase)) in columns.iter_mut().zip(&self.tests) {
                        column.cells.push(self.cell(run, *phase, contender, by, &mut footnotes));
                    }
                }
            }
            out.push_str(&tables(&titles, &columns, width));
        }
        out.push_str(&self.below(&footnotes, width));
        out
    }

    /// The tables of the first machine, one a clock.
    pub(super) fn plain(&self) -> Vec<PlainTable> {
        let Some(run) = self.runs.first() else { return Vec::new() };
        let table = |by: By| {
            let mut footnotes = Footnotes::default();
            let mut rows = Vec::new();
            for (contender, label) in contenders(run.study) {
                let tests = self.tests.iter();
                let cell = |(_, phase): &(Test, Option<&OwnPhase>)| {
                    self.cell(run, *phase, contender, by, &mut footnotes)
                };
                rows.push((label, tests.map(cell).collect()));
            }
            let columns = self.tests.iter().map(|(test, _)| test.heading.to_owned()).collect();
            let title = format!("seconds by {}", self.clock(by));
            PlainTable { title, columns, rows, footnotes: footnotes.lines() }
        };
        self.clocks().map(table).collect()
    }

    /// Seconds of the article and, by `returned` as there, of the first machine: a test each.
    pub(super) fn then_and_now(&self, printed: Option<&Table>) -> Vec<ThenAndNow> {
        let Some(run) = self.runs.first() else { return Vec::new() };
        let of = |(at, (test, phase)): (usize, &(Test, Option<&OwnPhase>))| {
            let seconds = |shown: &PhaseRow| Some(By::Returned.median_ns(shown)? as f64 / 1e9);
            let ratios = table_of(run, *phase).map_or_else(Ratios::default, |table| {
                Ratios::new(run.study, table, self.conditions, seconds)
            });
            ThenAndNow {
                title: test.heading.to_owned(),
                unit: "s".to_owned(),
                more_is_better: false,
                then: printed.map_or_else(Vec::new, |table| published(table, test, at)),
                now: ratios.values,
                left_out: ratios.left_out,
            }
        };
        self.tests.iter().enumerate().map(of).collect()
    }

    /// Machines side by side, then ratios of memory and disk.
    pub(super) fn side_by_side(&self, width: usize, style: Style) -> String {
        let mut footnotes = Footnotes::default();
        let labels = self.labels();
        let mut out = String::new();
        for by in self.clocks() {
            out.push_str(&heading(&self.title(by), width, style));
            let mut columns = Vec::new();
            for (test, phase) in &self.tests {
                for (at, run) in self.runs.iter().enumerate() {
                    let cell = |label: &String| match index(run, label) {
                        Some(contender) => self.cell(run, *phase, contender, by, &mut footnotes),
                        None => "-".to_owned(),
                    };
                    let head = format!("{}{}", test.heading, self.tag(at));
                    columns.push(Values { head, cells: labels.iter().map(cell).collect() });
                }
            }
            out.push_str(&grouped(&labels, &columns, self.runs.len(), width));
        }
        for by in self.clocks() {
            out.push_str(&self.ratios(by, &mut footnotes, width, style));
        }
        out.push_str(&self.below(&footnotes, width));
        out
    }

    /// In memory / on disk, by medians; nothing where no contender lives in memory.
    fn ratios(&self, by: By, footnotes: &mut Footnotes, width: usize, style: Style) -> String {
        let labels = self.labels();
        let (memory, disk): (Vec<&String>, Vec<&String>) =
            labels.iter().partition(|label| self.runs.iter().any(|run| in_memory(run, label)));
        let mut pairs = Vec::new();
        for above in memory {
            pairs.extend(disk.iter().map(|below| (above, *below)));
        }
        if pairs.is_empty() {
            return String::new();
        }
        let mut columns = Vec::new();
        for (test, phase) in &self.tests {
            for (at, run) in self.runs.iter().enumerate() {
                let cell =
                    |&pair: &(&String, &String)| self.ratio(run, *phase, pair, by, footnotes);
                let head = format!("{}{}", test.heading, self.tag(at));
                columns.push(Values { head, cells: pairs.iter().map(cell).collect() });
            }
        }
        let titles: Vec<String> = pairs.iter().map(|(a, b)| format!("{a} / {b}")).collect();
        let title = format!("In memory / on disk, ratios of medians by {}", self.clock(by));
        let tables = grouped(&titles, &columns, self.runs.len(), width);
        format!("{}{tables}", heading(&title, width, style))
    }

    /// A ratio of medians with the footnotes of both; a dash with its reason where the two may not
    /// be compared.
    fn ratio(
        &self,
        run: &OwnRun<'_>,
        phase: Option<&OwnPhase>,
        (above, below): (&String, &String),
        by: By,
        footnotes: &mut Footnotes,
    ) -> String {
        let dash = || "-".to_owned();
        let Some(table) = table_of(run, phase) else { return dash() };
        let of = |label| Some(Groups::new(table, index(run, label)?, self.conditions));
        let (Some(above), Some(below)) = (of(above), of(below)) else { return dash() };
        let row = |groups: &Groups<'_>| {
            let row = groups.shown.filter(|row| row.n > 0)?;
            Some((row.clone(), by.median_ns(row).filter(|&ns| ns > 0)?))
        };
        let (Some((memory, memory_ns)), Some((disk, disk_ns))) = (row(&above), row(&below)) else {
            return dash();
        };
        if !memory.is_comparable_with(&disk) {
            return footnotes.annotate(dash(), vec![not_divided(&memory, &disk).to_owned()]);
        }
        let mut notes = above.notes(run.study, table, self.conditions);
        for note in below.notes(run.study, table, self.conditions) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        footnotes.annotate(format!("{:.2}", memory_ns as f64 / disk_ns as f64), notes)
    }

    /// The cell of a contender.
    pub(super) fn cell(
        &self,
        run: &OwnRun<'_>,
        phase: Option<&OwnPhase>,
        contender: usize,
        by: By,
        footnotes: &mut Footnotes,
    ) -> String {
        let Some(table) = table_of(run, phase) else { return "-".to_owned() };
        cell((run.study, table), contender, self.conditions, footnotes, |row| by.text(row))
    }

    /// `returned`, and the compared clock where that is another one.
    fn clocks(&self) -> impl Iterator<Item = By> + use<> {
        let other = self.runs.iter().any(|run| run.study.compared_clock != Clock::Returned);
        [By::Returned, By::Compared].into_iter().take(if other { 2 } else { 1 })
    }

    fn clock(&self, by: By) -> String {
        let mut compared: Vec<&str> =
            self.runs.iter().map(|run| run.study.compared_clock.name()).collect();
        compared.dedup();
        match (by, compared.as_slice()) {
            (By::Returned, _) => "`returned`".to_owned(),
            (By::Compared, [one]) => format!("`{one}`"),
            (By::Compared, _) => "the clock that each RUN compares".to_owned(),
        }
    }

    fn title(&self, by: By) -> String {
        let whose = match self.runs {
            [run] => format!("RUN {}", run.study.uid),
            runs => format!("{} machines", runs.len()),
        };
        let as_article = if by == By::Returned { " (as the article)" } else { "" };
        let year = self.year;
        format!("As in {year}: {whose}, seconds by {}{as_article}", self.clock(by))
    }

    fn headings(&self) -> Vec<Values> {
        let empty =
            |(test, _): &(Test, _)| Values { head: test.heading.to_owned(), cells: Vec::new() };
        self.tests.iter().map(empty).collect()
    }

    /// Number of a machine, where there are several.
    pub(super) fn tag(&self, at: usize) -> String {
        if self.runs.len() > 1 { format!(" ({})", at + 1) } else { String::new() }
    }

    /// Labels of the contenders of all machines, each once.
    fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        for (_, label) in self.runs.iter().flat_map(|run| contenders(run.study)) {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels
    }

    /// What the figures are, and under which conditions they bear no mark.
    pub(super) fn legend(&self) -> String {
        let caches = match self.conditions.caches {
            Caches::Cold | Caches::ColdStart => "cold",
            Caches::Warm => "warm, or in memory",
        };
        let mut text =
            format!("Ours: medians over trials. Without a mark: {caches}, of all planned trials.");
        text.push_str(&self.scales());
        text
    }

    /// Notes, machines and what the figures are.
    fn below(&self, footnotes: &Footnotes, width: usize) -> String {
        let mut out = footnotes.render(width);
        if !out.is_empty() {
            out.push('\n');
        }
        if self.runs.len() > 1 {
            for (at, run) in self.runs.iter().enumerate() {
                let text = format!("{}, RUN {}", run.study.machine, run.study.uid);
                out.push_str(&wrap(&format!("({}) ", at + 1), &text, width));
            }
            out.push('\n');
        }
        out.push_str(&wrap("", &self.legend(), width));
        out.push_str(&otherwise(self.runs, width));
        out
    }

    /// What scaled datasets keep from being compared; nothing where none is scaled.
    fn scales(&self) -> String {
        let scale = |run: &OwnRun<'_>| run.study.scale;
        let other = |a: f64, b: f64| (a - b).abs() > f64::EPSILON;
        let Some(first) = self.runs.first().map(scale) else { return String::new() };
        if !self.runs.iter().any(|run| other(scale(run), first)) {
            return if other(first, 1.0) {
                format!(
                    " Datasets are scaled by {first}: these seconds are not to be compared with \
                     the article's, only with each other."
                )
            } else {
                String::new()
            };
        }
        let scaled = self.runs.iter().enumerate().filter(|(_, run)| other(scale(run), 1.0));
        let scaled = scaled.map(|(at, run)| format!("({}) are scaled by {}", at + 1, scale(run)));
        format!(
            " Datasets {}: these seconds are not to be compared with the article's, and machines \
             of different scale not even with each other.",
            scaled.collect::<Vec<_>>().join(", ")
        )
    }
}

/// What a table of an article says of a test, with tests in its rows or in its columns.
fn published(table: &Table, test: &Test, at: usize) -> Vec<(String, f64)> {
    let value = |cell: &fsarena_reference::Cell| cell.computed.or(cell.printed);
    if table.columns.get(at).is_some_and(|column| column == test.heading) {
        let of =
            |row: &fsarena_reference::Line| Some((row.head.clone(), value(row.cells.get(at)?)?));
        return table.rows.iter().filter_map(of).collect();
    }
    let Some(row) = table.rows.iter().find(|row| row.head == test.name) else { return Vec::new() };
    let pairs = table.columns.iter().zip(&row.cells);
    pairs.filter_map(|(column, cell)| Some((column.clone(), value(cell)?))).collect()
}

/// Why two rows may not stand in one ratio.
fn not_divided(one: &PhaseRow, other: &PhaseRow) -> &'static str {
    if (one.cache == CacheState::Cold) == (other.cache == CacheState::Cold) {
        "not divided: not in the same memory"
    } else {
        "not divided: one is warm, the other cold"
    }
}

/// The table of a phase of ours.
pub(super) fn table_of<'a>(run: &OwnRun<'a>, phase: Option<&OwnPhase>) -> Option<&'a PhaseTable> {
    let phase = phase?;
    let mut tables = run.study.tables.iter();
    tables.find(|table| table.workload == phase.workload && table.phase == phase.phase)
}

fn index(run: &OwnRun<'_>, label: &str) -> Option<usize> {
    contenders(run.study).into_iter().find(|(_, own)| own == label).map(|(index, _)| index)
}

/// Whether a contender lives in memory.
fn in_memory(run: &OwnRun<'_>, label: &str) -> bool {
    let mut rows = run.study.tables.iter().flat_map(|table| &table.rows);
    rows.any(|row| row.label == label && row.cache == CacheState::WarmByNature)
}
