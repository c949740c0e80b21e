//! Values of ours in the shape of an article of seconds or rates: contenders and tests; by
//! `returned`, which is what the articles measured, and by the clock that the RUN compares.

use super::measured::{Conditions, Groups, Ratios, cell, why_missing};
use super::model::{Missing, OwnPhase, OwnRun, ThenAndNow};
use crate::format::{bare_seconds, bytes};
use crate::labels::{contender_of, contenders};
use crate::phases::{cpu_per_op, foreign_note};
use crate::raw::ended;
use crate::section::Block;
use crate::table::{Cell, Column, Table};
use fsarena_model::contender::Cache;
use fsarena_model::record::{CacheState, TrialRecord};
use fsarena_model::run::Clock;
use fsarena_reference::{Article, Shape, Test, rate_text};
use fsarena_study::{CpuLoad, MemoryView, PhaseRow, PhaseTable, RateUnit};
use std::collections::BTreeSet;

/// A test, and the phase of ours that repeats it.
pub(super) type Repeated<'a> = (Test, Option<&'a OwnPhase>);

/// RUNs of ours, one a machine, with the tests of the article that they repeat.
pub(super) struct Ours<'a> {
    article: &'a Article,
    conditions: Conditions,
    pub(super) tests: Vec<Repeated<'a>>,
    pub(super) runs: &'a [OwnRun<'a>],
}

/// A contender on a machine.
#[derive(Clone, Copy)]
pub(super) struct Side<'s, 'a> {
    pub(super) run: &'s OwnRun<'a>,
    pub(super) label: &'s str,
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
        let spread = if self == Self::Returned { row.returned } else { row.compared };
        spread.map(|spread| spread.median_ns)
    }

    /// The median of a row in the unit of a test.
    fn amount(self, row: &PhaseRow, unit: &str) -> Option<f64> {
        let rates = if self == Self::Returned { row.returned_rates } else { row.rates };
        match unit {
            "s" => self.median_ns(row).map(|own_ns| own_ns as f64 / 1e9),
            "files/s" => rates.get(RateUnit::Files).map(|spread| spread.median),
            _ => rates.get(RateUnit::Bytes).map(|spread| spread.median / 1024.0),
        }
    }

    fn text(self, row: &PhaseRow, unit: &str) -> Option<String> {
        if unit == "s" {
            return self.median_ns(row).map(bare_seconds);
        }
        let amount = self.amount(row, unit)?;
        match (row.cpu, row.cpu_per_op) {
            (CpuLoad::Percent { percent }, _) => {
                Some(rate_text(unit, amount, Some(percent.median)))
            }
            (CpuLoad::TooShort, Some(own)) => {
                let rate = rate_text(unit, amount, None);
                Some(format!("{}{}", rate.trim_end_matches('-'), cpu_per_op(own.ns.median)))
            }
            (CpuLoad::TooShort | CpuLoad::Unknown, _) => Some(rate_text(unit, amount, None)),
        }
    }
}

impl<'a> Ours<'a> {
    pub(super) fn new(
        article: &'a Article,
        tests: &[Test],
        phases: &'a [OwnPhase],
        runs: &'a [OwnRun<'a>],
    ) -> Self {
        let own = |test: &Test| phases.iter().find(|own| own.title == test.name);
        let limited = matches!(article.shape, Shape::Rates { .. });
        Self {
            article,
            conditions: Conditions { caches: article.caches, limited },
            tests: tests.iter().map(|test| (*test, own(test))).collect(),
            runs,
        }
    }

    /// What a table of ratios of the article has for each column: a value a test.
    pub(super) fn printed(&self, title: &str) -> Vec<(String, Vec<Option<f64>>)> {
        let mut tables = self.article.tables.iter();
        let Some(table) = tables.find(|table| table.title.starts_with(title)) else {
            return Vec::new();
        };
        let row = |test: &Test| table.rows.iter().find(|row| is_row_of(test, row));
        let value = |at: usize, test: &Test| row(test)?.cells.get(at)?.printed;
        let column = |(at, head): (usize, &String)| {
            let values = self.tests.iter().map(|(test, _)| value(at, test)).collect();
            (head.clone(), values)
        };
        table.columns.iter().enumerate().map(column).collect()
    }

    /// The tables, with those `between` machines, and what has to be said below them.
    pub(super) fn blocks(&self, between: Vec<Table>) -> Vec<Block> {
        let tables = self.tables().into_iter().chain(between);
        let mut blocks: Vec<Block> = tables.map(Block::Table).collect();
        if self.runs.len() > 1 {
            let machine = |(at, run): (usize, &OwnRun<'_>)| {
                format!("({}) {}, RUN {}", at + 1, run.study.machine, run.study.uid)
            };
            let machines = self.runs.iter().enumerate().map(machine);
            blocks.push(Block::Heading("Machines".to_owned()));
            blocks.push(Block::List(None, machines.collect()));
        }
        blocks.push(Block::Heading("How the figures of ours are read".to_owned()));
        blocks.push(Block::Note(self.legend()));
        blocks
    }

    /// A table a clock, then ratios of memory and disk where machines are side by side.
    pub(super) fn tables(&self) -> Vec<Table> {
        let is_of_rates = self.conditions.limited;
        let table = |by: By| {
            let cell = |run: &OwnRun<'_>, test: &Repeated<'_>, label: &String| {
                contender_of(run.study, label)
                    .map_or_else(Cell::none, |own| self.cell(run, test, own, by))
            };
            let table = self.table(self.title(by), self.rows(), cell);
            if is_of_rates { table.transposed() } else { table }
        };
        let ratios = self.clocks().filter(|_| self.has_machines()).map(|by| self.ratios(by));
        let all = self.clocks().map(table).chain(ratios);
        all.filter(|table| !table.is_empty()).collect()
    }

    /// Whether machines are side by side; else one below the other.
    pub(super) fn has_machines(&self) -> bool {
        matches!(self.article.shape, Shape::Machines { .. })
    }

    /// Contenders by their labels; of machines below each other with the number of the machine.
    fn rows(&self) -> Vec<(Cell, usize, String)> {
        let mut rows: Vec<(Cell, usize, String)> = Vec::new();
        for (at, run) in self.runs.iter().enumerate() {
            for (contender, label) in contenders(run.study) {
                if self.has_machines() && rows.iter().any(|(.., known)| *known == label) {
                    continue;
                }
                let head = match self.runs {
                    [_] => Cell::contender(contender, label.as_str()),
                    _ if self.has_machines() => Cell::text(label.as_str()),
                    _ => Cell::text(format!("{label}{}", self.tag(at))),
                };
                rows.push((head, at, label));
            }
        }
        rows
    }

    /// Tests in columns, of machines side by side each once a machine; `rows` have a heading and
    /// the number of their machine.
    fn table<T>(
        &self,
        title: String,
        rows: Vec<(Cell, usize, T)>,
        cell: impl Fn(&OwnRun<'a>, &Repeated<'a>, &T) -> Cell,
    ) -> Table {
        let machines = if self.has_machines() { self.runs.len() } else { 1 };
        let mut columns = vec![Column::text("")];
        for (test, _) in &self.tests {
            let tag = |at| if self.has_machines() { self.tag(at) } else { String::new() };
            let heads = (0..machines).map(|at| format!("{}{}", test.head(), tag(at)));
            columns.extend(heads.map(|head| Column::figure(head).narrow()));
        }
        let mut table = Table::new(columns).titled(title).in_groups(machines);
        for (head, own, of) in rows {
            let mut cells = vec![head];
            for test in &self.tests {
                let runs = (0..machines).map(|at| if self.has_machines() { at } else { own });
                cells.extend(runs.map(|at| cell(&self.runs[at], test, &of)));
            }
            table.row(cells);
        }
        table
    }

    /// Values of the article and, by `returned` as there, of the first machine: a test each.
    pub(super) fn then_and_now(&self) -> Vec<ThenAndNow> {
        let Some(run) = self.runs.first() else { return Vec::new() };
        let printed = self.article.tables.iter().find(|table| self.is_of_all(table));
        let of = |(at, (test, phase)): (usize, &Repeated<'_>)| {
            let value = |shown: &PhaseRow| By::Returned.amount(shown, test.unit);
            let ratios = table_of(run, *phase).map_or_else(Ratios::default, |table| {
                Ratios::new(run.study, table, self.conditions, value)
            });
            ThenAndNow {
                title: test.heading.to_owned(),
                unit: test.unit.to_owned(),
                phase: phase.map(|own| (own.workload.clone(), own.phase.clone())),
                more_is_better: test.unit != "s",
                then: printed.map_or_else(Vec::new, |table| published(table, test, at)),
                now: ratios.values,
                left_out: ratios.left_out,
            }
        };
        self.tests.iter().enumerate().map(of).collect()
    }

    /// Why values of the first machine are missing.
    pub(super) fn missing(&self) -> Vec<Missing> {
        let Some(run) = self.runs.first() else { return Vec::new() };
        let mut all: Vec<Missing> = Vec::new();
        let mut add = |label: Option<String>, why: String, test: &'static str| match all
            .iter_mut()
            .find(|known| known.label == label && known.why == why)
        {
            Some(known) => known.tests.push(test),
            None => all.push(Missing { tests: vec![test], label, why }),
        };
        for (test, phase) in &self.tests {
            let Some(table) = table_of(run, *phase) else {
                add(None, "no phase of this RUN repeats it".to_owned(), test.heading);
                continue;
            };
            for (contender, label) in contenders(run.study) {
                if let Some(why) = why_missing(run.study, table, contender, self.conditions) {
                    add(Some(label), why, test.heading);
                }
            }
        }
        for missing in &mut all {
            if missing.tests.len() == self.tests.len() && self.tests.len() > 1 {
                missing.tests.clear();
            }
        }
        all
    }

    /// Whether a table has all tests, in columns or in rows, and is not of repeats.
    fn is_of_all(&self, table: &fsarena_reference::Table) -> bool {
        let tests = || self.tests.iter().map(|(test, _)| test);
        let in_columns = tests().map(|test| test.heading).eq(table.columns.iter());
        let in_rows = tests().count() == table.rows.len()
            && tests().zip(&table.rows).all(|(test, row)| is_row_of(test, row));
        let is_of_repeats = || table.columns.iter().any(|column| column.starts_with("run "));
        matches!(table.unit, "s" | "mm:ss" | "rate")
            && (in_columns || (in_rows && !is_of_repeats()))
    }

    /// In memory / on disk, by medians; without rows where no contender lives in memory.
    fn ratios(&self, by: By) -> Table {
        let is_in_memory = |label: &String| self.runs.iter().any(|run| in_memory(run, label));
        let labels = self.rows().into_iter().map(|(.., label)| label);
        let (memory, disk): (Vec<String>, Vec<String>) = labels.partition(is_in_memory);
        let mut pairs = Vec::new();
        for above in &memory {
            let pair = |below| (Cell::text(format!("{above} / {below}")), 0, (above, below));
            pairs.extend(disk.iter().map(pair));
        }
        let title = format!("In memory / on disk, ratios of medians by {}", self.clock(by));
        self.table(title, pairs, |run, test, pair| {
            let (above, below) = pair;
            let sides = (Side { run, label: above }, Side { run, label: below });
            self.ratio(test, sides, by).unwrap_or_else(Cell::none)
        })
    }

    /// A ratio of medians with the footnotes of both; a dash with its reason where the two may not
    /// be compared.
    pub(super) fn ratio(
        &self,
        (_, phase): &Repeated<'_>,
        (above, below): (Side<'_, 'a>, Side<'_, 'a>),
        by: By,
    ) -> Option<Cell> {
        let side = |of: Side<'_, 'a>| {
            let table = table_of(of.run, *phase)?;
            let contender = contender_of(of.run.study, of.label)?;
            let groups = Groups::new(table, contender, self.conditions);
            let row = groups.shown.filter(|row| row.n > 0)?;
            let median_ns = by.median_ns(row).filter(|&ns| ns > 0)?;
            Some((row.clone(), median_ns, groups.notes(of.run.study, table, self.conditions)))
        };
        let ((above, above_ns, mut notes), (below, below_ns, more)) = (side(above)?, side(below)?);
        if !above.is_comparable_with(&below) {
            return Some(Cell::none().notes(vec![not_divided(&above, &below).to_owned()]));
        }
        for note in more {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let ratio = above_ns as f64 / below_ns as f64;
        Some(Cell::figure(format!("{ratio:.2}"), ratio).notes(notes))
    }

    /// The cell of a contender.
    pub(super) fn cell(
        &self,
        run: &OwnRun<'_>,
        (test, phase): &Repeated<'_>,
        contender: usize,
        by: By,
    ) -> Cell {
        let Some(table) = table_of(run, *phase) else { return Cell::none() };
        cell(run.study, table, contender, self.conditions, |row| {
            // Beside a length stands no CPU load.
            let foreign = foreign_note(row).filter(|_| test.unit != "s");
            Cell::maybe(by.text(row, test.unit).zip(by.amount(row, test.unit)))
                .notes(foreign.into_iter().collect())
        })
    }

    /// `returned`, and the compared clock where that is another one.
    pub(super) fn clocks(&self) -> impl Iterator<Item = By> + use<> {
        let other = self.runs.iter().any(|run| run.study.compared_clock != Clock::Returned);
        [By::Returned, By::Compared].into_iter().take(if other { 2 } else { 1 })
    }

    pub(super) fn clock(&self, by: By) -> String {
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
        let what = if self.conditions.limited { "rates / CPU load, %," } else { "seconds" };
        let as_article = if by == By::Returned { " (as the article)" } else { "" };
        let year = self.article.year;
        format!("As in {year}: {whose}, {what} by {}{as_article}", self.clock(by))
    }

    /// Number of a machine, where there are several.
    pub(super) fn tag(&self, at: usize) -> String {
        if self.runs.len() > 1 { format!(" ({})", at + 1) } else { String::new() }
    }

    /// What the figures are, and under which conditions they bear no mark.
    pub(super) fn legend(&self) -> String {
        let caches = match self.conditions.caches {
            fsarena_reference::Caches::Warm => "warm, or in memory",
            _ => "cold",
        };
        let cpu = if self.conditions.limited {
            ", CPU from start to `durable` in all tables (where the phase was too short for a load, \
             processor time of an op; - where neither is known)"
        } else {
            ""
        };
        let mut text = format!(
            "Ours: medians over trials{cpu}. Without a mark: {caches}, of all planned trials"
        );
        let rows = self.runs.iter().flat_map(|run| &run.study.tables).flat_map(|table| &table.rows);
        let limits: BTreeSet<u64> = rows
            .filter(|_| self.conditions.limited)
            .filter_map(|row| match row.memory {
                MemoryView::Limited { limit_bytes, .. } => Some(limit_bytes),
                MemoryView::Whole | MemoryView::NotLimited { .. } => None,
            })
            .collect();
        if !limits.is_empty() {
            let limits: Vec<String> = limits.iter().map(|&limit| bytes(Some(limit))).collect();
            text.push_str(&format!(", in {} of memory", limits.join(" or ")));
        }
        format!("{text}.{}", self.scales())
    }

    /// What scaled datasets keep from being compared; nothing where none is scaled.
    fn scales(&self) -> String {
        let scale = |run: &OwnRun<'_>| run.study.scale;
        let other = |a: f64, b: f64| (a - b).abs() > f64::EPSILON;
        let Some(first) = self.runs.first().map(scale) else { return String::new() };
        if !self.runs.iter().any(|run| other(scale(run), first)) {
            return if other(first, 1.0) {
                format!(
                    " Datasets are scaled by {first}: these figures are not to be compared with \
                     the article's, only with each other."
                )
            } else {
                String::new()
            };
        }
        let scaled = self.runs.iter().enumerate().filter(|(_, run)| other(scale(run), 1.0));
        let scaled = scaled.map(|(at, run)| format!("({}) are scaled by {}", at + 1, scale(run)));
        format!(
            " Datasets {}: these figures are not to be compared with the article's, and machines \
             of different scale not even with each other.",
            scaled.collect::<Vec<_>>().join(", ")
        )
    }
}

/// What a table of an article says of a test, with tests in its rows or in its columns.
fn published(table: &fsarena_reference::Table, test: &Test, at: usize) -> Vec<(String, f64)> {
    let value = |cell: &fsarena_reference::Cell| cell.computed.or(cell.printed);
    if table.columns.get(at).is_some_and(|column| column == test.heading) {
        let of =
            |row: &fsarena_reference::Line| Some((row.head.clone(), value(row.cells.get(at)?)?));
        return table.rows.iter().filter_map(of).collect();
    }
    let row = table.rows.iter().find(|row| is_row_of(test, row));
    let pairs = row.into_iter().flat_map(|row| table.columns.iter().zip(&row.cells));
    pairs.filter_map(|(column, cell)| Some((column.clone(), value(cell)?))).collect()
}

fn is_row_of(test: &Test, row: &fsarena_reference::Line) -> bool {
    row.head == test.name || row.head == test.head()
}

/// Why two rows may not stand in one ratio.
fn not_divided(one: &PhaseRow, other: &PhaseRow) -> &'static str {
    if one.cache.is_cold() == other.cache.is_cold() {
        "not divided: not in the same memory"
    } else {
        "not divided: one is warm, the other cold"
    }
}

/// The table of a phase of ours.
fn table_of<'a>(run: &OwnRun<'a>, phase: Option<&OwnPhase>) -> Option<&'a PhaseTable> {
    let phase = phase?;
    let mut tables = run.study.tables.iter();
    tables.find(|table| table.workload == phase.workload && table.phase == phase.phase)
}

/// Whether a contender lives in memory.
fn in_memory(run: &OwnRun<'_>, label: &str) -> bool {
    let mut rows = run.study.tables.iter().flat_map(|table| &table.rows);
    rows.any(|row| row.label == label && row.cache == CacheState::WarmByNature)
}

/// All trials of all machines, in the order of their blocks.
pub(super) fn every_trial(ours: &Ours<'_>) -> Vec<Block> {
    let tables = ours.runs.iter().enumerate().map(|(at, run)| {
        let (uid, tag) = (&run.study.uid, ours.tag(at));
        let title = format!("Appendix: every trial, seconds by `returned`, RUN {uid}{tag}");
        Block::Table(table_of_trials(ours, run).titled(title))
    });
    let note = Block::Note("- is a trial that is not there.".to_owned());
    tables.chain([note]).collect()
}

fn table_of_trials(ours: &Ours<'_>, run: &OwnRun<'_>) -> Table {
    let own = contenders(run.study);
    let heads = own.iter().map(|(_, label)| Column::figure(label.as_str()).narrow());
    let columns: Vec<Column> = std::iter::once(Column::text("")).chain(heads).collect();
    let mut table = Table::new(columns).in_groups(1);
    for test in &ours.tests {
        let (test_heading, Some(phase)) = (test.0.heading, test.1) else { continue };
        for block in blocks_of(run, &phase.workload) {
            let title = Cell::text(format!("{test_heading}, block {}", block + 1));
            let cells = own.iter().map(|(contender, _)| {
                trial(find(run, &phase.workload, *contender, block), &phase.phase)
            });
            table.row(std::iter::once(title).chain(cells));
        }
        let title = Cell::text(format!("{test_heading}, median"));
        let cells = own.iter().map(|(contender, _)| ours.cell(run, test, *contender, By::Returned));
        table.row(std::iter::once(title).chain(cells));
    }
    table
}

/// The blocks in which a workload is planned.
fn blocks_of(run: &OwnRun<'_>, workload: &str) -> BTreeSet<u32> {
    let plan = &run.header.plan;
    let named = |at: usize| plan.workloads.get(at).is_some_and(|w| w.name == workload);
    plan.schedule.iter().filter(|slot| named(slot.workload)).map(|slot| slot.block).collect()
}

fn find<'a>(
    run: &OwnRun<'a>,
    workload: &str,
    contender: usize,
    block: u32,
) -> Option<&'a TrialRecord> {
    let id = run.header.plan.contenders.get(contender)?.id();
    run.records.iter().find(|record| {
        let key = &record.key;
        key.block == block && key.workload == workload && key.contender == id
    })
}

fn trial(record: Option<&TrialRecord>, phase: &str) -> Cell {
    let Some(record) = record else { return Cell::none() };
    let Some(found) = record.phases.iter().find(|found| found.name == phase) else {
        return Cell::text(ended(&record.outcome));
    };
    let mut notes = Vec::new();
    if !found.is_complete() {
        notes.push("partial: ended before the end of the work, in no figure".to_owned());
    }
    if record.has_bad_contents() {
        notes.push("WRONG CONTENTS: in no figure".to_owned());
    }
    if found.cache.asked == Cache::Cold && found.cache.state == CacheState::Warm {
        notes.push(format!("warm, though cold was asked for: {}", found.cache.why));
    }
    Cell::text(bare_seconds(found.clocks.returned_ns)).notes(notes)
}
