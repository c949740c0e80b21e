//! Tables of file systems, one a workload and phase.

use crate::clients::{self, client_grid};
use crate::format::{Scale, cpu, ns, seconds};
use crate::job;
use crate::labels::{absence, common_memory, notes_of, phase_title, range_in, row_label, trials};
use crate::notes::{self, run_heading};
use crate::over_time::{self, over_time_grid};
use crate::ranks::{self, rank_grid};
use crate::render::text;
use crate::section::{Block, Section};
use crate::stonewall::{self, stonewall_grid};
use crate::table::{Cell, Column, Table};
use crate::text::Style;
use fsarena_model::job::By;
use fsarena_model::run::{Clock, RateStyle};
use fsarena_model::units::three_digits;
use fsarena_model::work::Fsync;
use fsarena_study::{
    CpuLoad, Latency, PhaseRow, PhaseTable, RateUnit, SpreadNs, Study, ThreadsView,
};

/// The whole result of a RUN: heading, tables, notes.
#[must_use]
pub fn phase_tables(study: &Study, width: usize, style: Style) -> String {
    let heading = run_heading(study, None, width, style);
    let tables = text::section(&section(study, style), width, style);
    let notes = text::section(&notes::section(study), width, style);
    let notes = if notes.is_empty() { notes } else { format!("\n{notes}") };
    format!("{heading}\n{tables}{notes}")
}

/// The tables of all phases, and what the programs cost.
pub(crate) fn section(study: &Study, style: Style) -> Section {
    let mut blocks = Vec::new();
    let nowhere = absent_everywhere(study);
    for (at, table) in study.tables.iter().enumerate() {
        if at == 0 || study.tables[at - 1].workload != table.workload {
            blocks.extend(job::head(study, &table.workload).map(Block::Text));
        }
        blocks.push(Block::Heading(phase_title(table)));
        let tables = with_absent(phase_grids(study, table, style), table, &nowhere);
        blocks.extend(tables.into_iter().map(Block::Table));
    }
    blocks.extend(job::tool_overhead_blocks(study));
    Section::new(blocks).legend(legend(study, style))
}

/// Code of the notice on records of other programs (`fsarena_foreign::import::notices::FOREIGN`).
const IMPORTED: &str = "imported";

/// How the tables are read: only what occurs.
fn legend(study: &Study, style: Style) -> String {
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
    let mut rows = study.tables.iter().flat_map(|table| &table.rows);
    if !study.asks_verdicts && rows.any(|row| row.ratio_of_medians.is_some()) {
        text.push_str(
            " ratio: median of the compared time to the best such median among rows that may be \
             compared; plain arithmetic.",
        );
    }
    if study.tables.iter().any(|table| table.job.is_some()) {
        text.push(' ');
        text.push_str(job::LEGEND);
    }
    if study.tables.iter().any(|table| latency_matters(table) && !table.rows.is_empty()) {
        text.push_str(
            " latency: of single ops, all trials together; p90 needs 10 ops, p99 100, p99.9 1,000.",
        );
    }
    if study.tables.iter().flat_map(|table| &table.rows).any(|row| row.cpu_per_op.is_some()) {
        text.push_str(
            " CPU/op, and CPU where a phase was too short for ticks: processor time of an op by \
             the task clock, of the worker and of kernel threads of the whole machine; worker \
             CPU/op: of the worker alone.",
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
    if study.tables.iter().flat_map(|table| &table.rows).any(|row| row.ranks.is_some()) {
        text.push(' ');
        text.push_str(ranks::LEGEND);
    }
    if study.tables.iter().flat_map(|table| &table.rows).any(|row| !row.clients.is_empty()) {
        text.push(' ');
        text.push_str(clients::LEGEND);
    }
    if study.tables.iter().flat_map(|table| &table.rows).any(|row| row.stonewall.is_some()) {
        text.push(' ');
        text.push_str(stonewall::LEGEND);
    }
    if study.tables.iter().flat_map(|table| &table.rows).any(|row| row.over_time.is_some()) {
        text.push(' ');
        text.push_str(over_time::LEGEND);
    }
    text.push_str(if study.asks_verdicts {
        " How they compare, and whether a difference is real, is said by the verdicts."
    } else {
        " Whether a difference is real is not decided here."
    });
    text
}

/// The tables of a phase, the one with the compared times first.
pub(crate) fn phase_grids(study: &Study, table: &PhaseTable, style: Style) -> Vec<Table> {
    let times = match table.job {
        Some(_) => job_grid(study, table),
        None => phase_grid(study, table, style),
    };
    let caption = format!("{} / {}: medians over trials", table.workload, table.phase);
    let mut tables = vec![times.caption(caption).sortable()];
    tables.extend(table.job.is_some().then(|| job::amounts_grid(table)).flatten());
    tables.extend(latency_matters(table).then(|| latency_grid(table)).flatten());
    tables.extend(rank_grid(table));
    tables.extend(client_grid(table));
    tables.extend(over_time_grid(table));
    tables.extend(stonewall_grid(table, style.rate.unwrap_or(study.rate_style)));
    tables
}

/// Contenders without a figure in any of several tables: why, is said once behind them.
fn absent_everywhere(study: &Study) -> Vec<usize> {
    let [first, others @ ..] = study.tables.as_slice() else { return Vec::new() };
    let is_absent = |table: &PhaseTable, contender: usize| {
        table.absent.iter().any(|one| one.contender == contender)
    };
    let nowhere = first.absent.iter().map(|one| one.contender);
    let nowhere = nowhere.filter(|&one| others.iter().all(|table| is_absent(table, one)));
    if others.is_empty() { Vec::new() } else { nowhere.collect() }
}

/// With a row for each contender without a figure, but for those that have none `nowhere`.
fn with_absent(mut tables: Vec<Table>, table: &PhaseTable, nowhere: &[usize]) -> Vec<Table> {
    if let Some(times) = tables.first_mut() {
        let absent = table.absent.iter().filter(|one| !nowhere.contains(&one.contender));
        absent.for_each(|one| times.row([one.label.as_str(), absence(one.why)]));
    }
    tables
}

fn phase_grid(study: &Study, table: &PhaseTable, style: Style) -> Table {
    let rate_style = style.rate.unwrap_or(study.rate_style);
    let scale = Scale::for_table(table, rate_style);
    let by_calls = scale == Scale::Iops;
    let has_quantiles = !latency_matters(table);
    let mut columns = vec![Column::text("file system"), Column::figure("rate")];
    columns.extend(by_calls.then(|| Column::figure("contents")));
    columns.extend([
        Column::figure("CPU"),
        Column::figure(study.compared_clock.name()),
        Column::figure("min - max").optional(1),
    ]);
    let has_task_clock = table.rows.iter().any(|row| row.cpu_per_op.is_some());
    if has_task_clock {
        columns.push(Column::figure("CPU/op").optional(7));
        columns.push(Column::figure("worker CPU/op").optional(8));
    }
    columns.extend(other_clocks(study).map(|one| Column::figure(one.name())));
    // Where verdicts are asked for, they say the ratios, and all of them to one contender.
    let has_ratio = !study.asks_verdicts;
    columns.extend(has_ratio.then(|| Column::figure("ratio").optional(2)));
    if has_quantiles {
        let ranks = [("p50", 4), ("p99", 3), ("p99.9", 6), ("max", 5)];
        columns.extend(ranks.map(|(head, rank)| Column::figure(head).optional(rank)));
    }
    columns.push(Column::figure("n"));
    let mut grid = Table::new(columns);
    for row in &table.rows {
        let rate = |scale: Scale| Cell::maybe(scale.median(row).map(|own| (scale.text(own), own)));
        let mut cells = vec![label_cell(table, row)];
        cells.push(if row.n == 0 { failed() } else { rate(scale) });
        cells.extend(by_calls.then(|| rate(Scale::for_bytes(table, rate_style))));
        cells.extend([cpu_cell(row), clock_cell(row, study.compared_clock, ns)]);
        cells.push(range_cell(row.compared, ns));
        if has_task_clock {
            cells.extend([cpu_per_op_cell(row), worker_cpu_per_op_cell(row)]);
        }
        cells.extend(other_clocks(study).map(|one| clock_cell(row, one, ns)));
        cells.extend(has_ratio.then(|| Cell::quotient(row.ratio_of_medians)));
        if has_quantiles {
            let [p50, _, p99, p999, max] = quantiles(row.latency);
            cells.extend([p50, p99, p999, max]);
        }
        cells.push(Cell::figure(trials(row), row.n as f64));
        grid.row(cells);
    }
    grid
}

/// Real work: its time on the three clocks, the compared one first.
fn job_grid(study: &Study, table: &PhaseTable) -> Table {
    let mut columns = vec![
        Column::text("file system"),
        Column::figure(study.compared_clock.name()),
        Column::figure("min - max").optional(1),
    ];
    columns.extend((!study.asks_verdicts).then(|| Column::figure("ratio")));
    columns.extend(other_clocks(study).map(|one| Column::figure(one.name())));
    columns.extend([Column::figure("CPU"), Column::figure("n")]);
    let mut grid = Table::new(columns);
    for row in &table.rows {
        let time = |one| clock_cell(row, one, seconds);
        let mut cells = vec![label_cell(table, row)];
        cells.push(if row.n == 0 { failed() } else { time(study.compared_clock) });
        cells.push(range_cell(row.compared, seconds));
        cells.extend((!study.asks_verdicts).then(|| Cell::quotient(row.ratio_of_medians)));
        cells.extend(other_clocks(study).map(time));
        cells.extend([cpu_cell(row), Cell::figure(trials(row), row.n as f64)]);
        grid.row(cells);
    }
    grid
}

/// The clocks but the compared one.
fn other_clocks(study: &Study) -> impl Iterator<Item = Clock> {
    let compared = study.compared_clock;
    let all = [Clock::Returned, Clock::Durable, Clock::Drained].into_iter();
    all.filter(move |&one| one != compared)
}

/// Share of the machine that other programs may use before the CPU load is marked.
const FOREIGN_SHARE_MAX: f64 = 0.05;

/// What a figure is that there is not, for sorting: before all others.
const NONE: f64 = -1.0;

fn failed() -> Cell {
    Cell::figure("failed", NONE)
}

fn label_cell(table: &PhaseTable, row: &PhaseRow) -> Cell {
    let label = row_label(table, row);
    Cell::contender(row.contender, label).notes(notes_of(row, common_memory(table)))
}

/// What has to be said with a CPU load: that other programs are in it.
pub(crate) fn foreign_note(row: &PhaseRow) -> Option<String> {
    let share = row.foreign_share.filter(|share| *share > FOREIGN_SHARE_MAX)?;
    Some(format!("CPU: other programs used up to {:.0} % of the machine", share * 100.0))
}

/// The load of the machine, or where the phase was too short for it the processor time of one op.
fn cpu_cell(row: &PhaseRow) -> Cell {
    let cell = match (row.cpu, row.cpu_per_op) {
        (CpuLoad::Percent { percent }, _) => Cell::figure(cpu(row.cpu), percent.median),
        (CpuLoad::TooShort, Some(_)) => return cpu_per_op_cell(row),
        (CpuLoad::TooShort, None) => Cell::figure(cpu(row.cpu), NONE),
        (CpuLoad::Unknown, _) => Cell::none(),
    };
    cell.notes(foreign_note(row).into_iter().collect())
}

/// Processor time of one op by the task clock: kernel threads worked for other programs, too.
fn cpu_per_op_cell(row: &PhaseRow) -> Cell {
    let Some(own) = row.cpu_per_op else { return Cell::none() };
    let note = foreign_note(row).filter(|_| own.with_kernel_threads);
    Cell::figure(cpu_per_op(own.ns.median), own.ns.median).notes(note.into_iter().collect())
}

/// The same of the worker and its programs alone, which other programs are not in.
fn worker_cpu_per_op_cell(row: &PhaseRow) -> Cell {
    let own = row.cpu_per_op.map(|own| own.worker_ns.median);
    Cell::maybe(own.map(|own_ns| (cpu_per_op(own_ns), own_ns)))
}

/// `41.2 µs/op`.
pub(crate) fn cpu_per_op(ns: f64) -> String {
    match ns {
        ns if ns < 1e6 => format!("{} µs/op", three_digits(ns / 1e3)),
        ns => format!("{} ms/op", three_digits(ns / 1e6)),
    }
}

/// A length in the words of `length`.
fn clock_cell(row: &PhaseRow, clock: Clock, length: fn(Option<u64>) -> String) -> Cell {
    let median = |spread: Option<SpreadNs>| {
        Cell::maybe(spread.map(|own| (length(Some(own.median_ns)), own.median_ns as f64)))
    };
    match clock {
        Clock::Returned => median(row.returned),
        Clock::Durable => median(row.durable),
        Clock::Drained => match row.drained.spread {
            Some(spread) => median(Some(spread)),
            None if row.drained.not_drained > 0 => Cell::figure("not drained", f64::MAX),
            None if row.drained.no_device > 0 => Cell::figure("no device", NONE),
            None => Cell::none(),
        },
    }
}

fn range_cell(spread: Option<SpreadNs>, length: fn(Option<u64>) -> String) -> Cell {
    Cell::maybe(
        spread.filter(|own| own.n > 1).map(|own| (range_in(Some(own), length), own.min_ns as f64)),
    )
}

/// Whether a phase has such a table: it syncs, has several threads or ops in flight, its ops are
/// single calls at random places, or it is real work by the engine.
fn latency_matters(table: &PhaseTable) -> bool {
    let io = &table.io;
    let by_engine = table.job.as_ref().is_some_and(|job| job.by == By::Engine);
    by_engine
        || table.unit == RateUnit::Ops
        || io.threads > 1
        || io.iodepth > 1
        || !matches!(io.fsync, Fsync::None | Fsync::End)
}

/// The table; none where no row has such figures.
pub(crate) fn latency_grid(table: &PhaseTable) -> Option<Table> {
    let threaded = table.rows.iter().any(|row| row.threads.is_some());
    let mut columns = vec![
        Column::text("latency"),
        Column::figure("p50"),
        Column::figure("p90").optional(2),
        Column::figure("p99"),
        Column::figure("p99.9"),
        Column::figure("max"),
    ];
    if threaded {
        columns.extend([
            Column::figure("first done"),
            Column::figure("last done"),
            Column::figure("imbalance").optional(1),
        ]);
    }
    let caption = format!("{} / {}: latency of single ops", table.workload, table.phase);
    let mut grid = Table::new(columns).caption(caption).sortable();
    for row in table.rows.iter().filter(|row| row.n > 0) {
        if row.latency.is_none() && row.threads.is_none() {
            continue;
        }
        let label = row_label(table, row);
        let writes = format!("{label}, writes");
        let mut cells = vec![Cell::contender(row.contender, label)];
        cells.extend(quantiles(row.latency));
        if threaded {
            cells.extend(thread_cells(row.threads));
        }
        grid.row(cells);
        if row.write_latency.is_some() {
            let label = Cell::contender(row.contender, writes);
            grid.row(std::iter::once(label).chain(quantiles(row.write_latency)));
        }
    }
    (!grid.is_empty()).then_some(grid)
}

/// p50, p90, p99, p99.9 and the longest; a dash for a share of too few ops.
fn quantiles(latency: Option<Latency>) -> [Cell; 5] {
    let of = |value: fn(&Latency) -> Option<u64>| Cell::ns(latency.as_ref().and_then(value));
    let max = of(|l| Some(l.max_ns));
    [of(|l| l.p50_ns), of(|l| l.p90_ns), of(|l| l.p99_ns), of(|l| l.p999_ns), max]
}

fn thread_cells(threads: Option<ThreadsView>) -> [Cell; 3] {
    let imbalance = threads.and_then(|view| view.imbalance).map(|spread| spread.median);
    [
        Cell::ns(threads.map(|view| view.first_done.median_ns)),
        Cell::ns(threads.map(|view| view.last_done.median_ns)),
        Cell::quotient(imbalance),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::record::TaskCpu;
    use fsarena_model::run::RunState;
    use fsarena_testkit::records::{self, contender, small_files};

    #[test]
    fn an_op_with_kernel_threads_is_marked_as_the_load_is_and_the_worker_is_not() {
        let header = records::header(vec![contender("ext4", "ext4", 1)], vec![small_files()], 1);
        let mut record = records::record(&header, 0);
        for phase in &mut record.phases {
            let worker_ns = phase.ops * 33_000;
            let kernel_threads_ns = Some(phase.ops * 20_000);
            phase.task_cpu = Some(TaskCpu { worker_ns, kernel_threads_ns });
        }
        let study = fsarena_study::study(&header, RunState::Done, &[], &[record]);
        let row = PhaseRow { foreign_share: Some(0.4), ..study.tables[0].rows[0].clone() };
        let mark = ["CPU: other programs used up to 40 % of the machine".to_owned()];
        assert_eq!(cpu_cell(&row).notes, mark);
        let (all, worker) = (cpu_per_op_cell(&row), worker_cpu_per_op_cell(&row));
        assert_eq!((all.text.as_str(), &all.notes[..]), ("53.0 µs/op", &mark[..]));
        assert_eq!((worker.text.as_str(), worker.notes.len()), ("33.0 µs/op", 0));
    }
}
