//! The ledger of each phase (latency and device traffic next to the times), and what is true of
//! whole trials: space, what was done to the device before mkfs, how its queue was set.

use crate::format::grouped;
use crate::job;
use crate::labels::{contender_of, phase_title, row_label};
use crate::phases::latency_grid;
use crate::render::text;
use crate::section::{Block, Section};
use crate::table::{Cell, Column, Table};
use crate::text::Style;
use fsarena_model::factor::{self, Factor};
use fsarena_model::record::Window;
use fsarena_study::{PhaseTable, Study};

/// Latency and device traffic next to the times: the ledger of each phase.
#[must_use]
pub fn ledger_tables(study: &Study, width: usize, style: Style) -> String {
    text::section(&section(study), width, style)
}

/// The same as a section.
pub(crate) fn section(study: &Study) -> Section {
    let mut blocks = Vec::new();
    let mut workload = None;
    for table in study.tables.iter().filter(|t| !t.rows.is_empty()) {
        if workload.replace(&table.workload) != Some(&table.workload) {
            blocks.extend(job::head(study, &table.workload).map(Block::Text));
        }
        blocks.push(Block::Heading(phase_title(table)));
        let amounts = table.job.is_some().then(|| job::amounts_grid(table)).flatten();
        let all = [amounts, latency_grid(table), Some(traffic(table))];
        blocks.extend(all.into_iter().flatten().map(Block::Table));
    }
    let of_trials = [
        space(study).titled("Space after the last phase"),
        conditioning(study).titled("Devices before mkfs"),
        queues(study).titled("Settings of queues and kernel"),
    ];
    blocks.extend(of_trials.map(Block::Table));
    let mut legend = LEGEND.to_owned();
    if study.tables.iter().any(|table| table.job.is_some()) {
        legend.push(' ');
        legend.push_str(job::LEGEND);
    }
    Section::new(blocks).legend(legend)
}

const LEGEND: &str = "latency: of single ops, all trials together; p90 needs 10 ops, p99 100, p99.9 1,000. \
     device: bytes read and written from the phase's start to `durable`, to `drained` and to the \
     end of the next unmount. w. amp.: bytes written to the device up to the unmount per byte of \
     contents written. Space amplification: growth of used space per byte stored.";

/// What went to and from the device, by the end of each window.
pub(crate) fn traffic(table: &PhaseTable) -> Table {
    let caption = format!("{} / {}: device traffic, medians", table.workload, table.phase);
    let mut traffic = Table::new([
        Column::text("device"),
        Column::figure("read"),
        Column::figure("written"),
        Column::figure("to drained"),
        Column::figure("to unmount"),
        Column::figure("w. amp."),
    ])
    .caption(caption)
    .sortable();
    for row in table.rows.iter().filter(|row| !row.device.is_empty()) {
        let device = |window| row.device.iter().find(|d| d.window == window);
        let written = |window| Cell::bytes(device(window).and_then(|d| d.written_bytes));
        let amplification = row.write_amplification.map(|spread| spread.median);
        traffic.row([
            Cell::contender(row.contender, row_label(table, row)),
            Cell::bytes(device(Window::Durable).and_then(|d| d.read_bytes)),
            written(Window::Durable),
            written(Window::Drained),
            written(Window::Unmounted),
            Cell::quotient(amplification),
        ]);
    }
    traffic
}

/// Space after the last phase and how long the unmount took.
pub(crate) fn space(study: &Study) -> Table {
    let mut table = Table::new([
        Column::text("contender"),
        Column::text("workload"),
        Column::figure("used empty"),
        Column::figure("used"),
        Column::figure("stored"),
        Column::figure("amp."),
        Column::figure("unmount"),
        Column::figure("n"),
    ])
    .caption("Space after the last phase, medians")
    .sortable();
    for row in study.trials.iter().filter(|row| row.n > 0) {
        let amplification = row.space_amplification.map(|spread| spread.median);
        table.row([
            Cell::contender(contender_of(study, &row.label).unwrap_or(0), row.label.as_str()),
            Cell::text(row.workload.as_str()),
            Cell::bytes(row.used_empty_bytes),
            Cell::bytes(row.used_bytes),
            Cell::bytes(row.stored_bytes),
            Cell::quotient(amplification),
            Cell::ns(row.unmount.map(|own| own.median_ns)),
            Cell::count(row.n),
        ]);
    }
    table
}

/// What the SSD policies did before mkfs.
pub(crate) fn conditioning(study: &Study) -> Table {
    let mut table = Table::new([
        Column::text("contender"),
        Column::text("before mkfs"),
        Column::figure("in sequence").narrow(),
        Column::figure("rounds"),
        Column::figure("writes/s in the last").narrow(),
        Column::figure("steady"),
        Column::figure("time"),
        Column::figure("n"),
    ])
    .caption("What was done to the devices before mkfs");
    for row in &study.conditioning {
        let rounds = row.rounds.map(|spread| {
            let (least, most) = (spread.min, spread.max);
            let range = format!("{least:.0} - {most:.0}");
            (if least < most { range } else { format!("{most:.0}") }, least)
        });
        let steady = row.steady.map_or_else(Cell::none, |steady| match steady {
            _ if steady == row.n => Cell::text("yes"),
            0 => Cell::text("NO"),
            _ => Cell::text(format!("{steady} of {}", row.n)),
        });
        let done = if row.not_done.is_empty() {
            row.policy.to_owned()
        } else {
            format!("{} (NOT DONE: {})", row.policy, row.not_done.join("; "))
        };
        let last = row.last_round_ops_per_s.map(|spread| spread.median);
        table.row([
            Cell::text(row.label.as_str()),
            Cell::text(done),
            Cell::bytes(row.whole_bytes),
            Cell::maybe(rounds),
            Cell::maybe(last.map(|own| (grouped(own.round() as u64), own))),
            steady,
            Cell::ns(row.elapsed.map(|own| own.median_ns)),
            Cell::count(row.n),
        ]);
    }
    table
}

/// How the settings that are factors were, a column each that any trial has.
pub(crate) fn queues(study: &Study) -> Table {
    let is_known = |factor: &&'static dyn Factor| {
        study.queues.iter().any(|row| row.settings.contains_key(factor.key()))
    };
    let factors: Vec<_> = factor::all().into_iter().filter(is_known).collect();
    let mut columns = vec![Column::text("contender")];
    columns.extend(factors.iter().map(|factor| Column::text(factor.head())));
    columns.push(Column::figure("n"));
    let mut table = Table::new(columns).caption("Settings of queues and kernel, as they were");
    for row in &study.queues {
        let mut cells = vec![Cell::text(row.label.as_str())];
        let known = |factor: &&dyn Factor| row.settings.get(factor.key());
        cells.extend(factors.iter().map(|one| known(one).map_or_else(Cell::none, Cell::text)));
        cells.push(Cell::count(row.trials));
        table.row(cells);
    }
    table
}
