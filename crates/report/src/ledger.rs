//! The ledger of each phase (latency and device traffic beside the times), and what is true of
//! whole trials: space, what was done to the device before mkfs, how its queue was set.

use crate::format::{bytes, grouped, ns};
use crate::job;
use crate::labels::{is_mixed, plain_label, title};
use crate::latency::latency_grid;
use crate::style::{MIN_WIDTH, Style};
use crate::table::{Grid, Kind};
use crate::text::{bold, wrap};
use fsarena_model::record::Window;
use fsarena_study::{PhaseRow, PhaseTable, Study};

/// Latency and device traffic beside the times: the ledger of each phase.
#[must_use]
pub fn ledger_tables(study: &Study, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = String::new();
    let mut workload = None;
    for table in study.tables.iter().filter(|t| !t.rows.is_empty()) {
        let label = |row: &PhaseRow| plain_label(row, is_mixed(table));
        if workload.replace(&table.workload) != Some(&table.workload) {
            out.push_str(&job::head(study, &table.workload, width));
        }
        out.push_str(&title(table, width, style));
        let amounts = table.job.is_some().then(|| job::amounts_grid(table)).flatten();
        for grid in [amounts, latency_grid(table, label)].into_iter().flatten() {
            out.push_str(&grid.render(width));
        }
        out.push_str(&traffic_table(table, label, width));
        out.push('\n');
    }
    for part in [space_table, conditioning_table, queue_table] {
        out.push_str(&part(study, width, style));
    }
    let mut legend =
        "latency: of single ops, all trials together; p90 needs 10 ops, p99 100, p99.9 1,000. \
                  device: bytes read and written from \
                  the phase's start to `durable`, to `drained` and to the end of the next unmount. \
                  w. amp.: bytes written to the device up to the unmount per byte of contents \
                  written. Space amplification: growth of used space per byte stored."
            .to_owned();
    if study.tables.iter().any(|table| table.job.is_some()) {
        legend.push(' ');
        legend.push_str(job::LEGEND);
    }
    out.push_str(&wrap("", &legend, width));
    out
}

/// What went to and from the device, by the end of each window.
fn traffic_table(table: &PhaseTable, label: impl Fn(&PhaseRow) -> String, width: usize) -> String {
    let mut grid = Grid::new(&[
        ("device", Kind::Text),
        ("read", Kind::Figure),
        ("written", Kind::Figure),
        ("to drained", Kind::Figure),
        ("to unmount", Kind::Figure),
        ("w. amp.", Kind::Figure),
    ]);
    for row in table.rows.iter().filter(|row| !row.device.is_empty()) {
        let device = |window| row.device.iter().find(|d| d.window == window);
        let written = |window| bytes(device(window).and_then(|d| d.written_bytes));
        grid.row(vec![
            label(row),
            bytes(device(Window::Durable).and_then(|d| d.read_bytes)),
            written(Window::Durable),
            written(Window::Drained),
            written(Window::Unmounted),
            row.write_amplification
                .map_or_else(|| "-".to_owned(), |spread| format!("{:.2}", spread.median)),
        ]);
    }
    if grid.is_empty() { String::new() } else { grid.render(width) }
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
    titled("Space after the last phase", &grid, width, style)
}

fn conditioning_table(study: &Study, width: usize, style: Style) -> String {
    let mut grid = Grid::new(&[
        ("file system", Kind::Text),
        ("before mkfs", Kind::Text),
        ("in sequence", Kind::Narrow),
        ("rounds", Kind::Figure),
        ("writes/s in the last", Kind::Narrow),
        ("steady", Kind::Figure),
        ("time", Kind::Figure),
        ("n", Kind::Figure),
    ]);
    let dash = || "-".to_owned();
    for row in &study.conditioning {
        let rounds = row.rounds.map_or_else(dash, |spread| {
            let (least, most) = (spread.min, spread.max);
            if least < most { format!("{least:.0} - {most:.0}") } else { format!("{most:.0}") }
        });
        let steady = row.steady.map_or_else(dash, |steady| match steady {
            _ if steady == row.n => "yes".to_owned(),
            0 => "NO".to_owned(),
            _ => format!("{steady} of {}", row.n),
        });
        let done = if row.not_done.is_empty() {
            row.policy.to_owned()
        } else {
            format!("{} (not done: {})", row.policy, row.not_done.join("; "))
        };
        let last = row.last_round_ops_per_s.map(|spread| spread.median.round() as u64);
        grid.row(vec![
            row.label.clone(),
            done,
            bytes(row.whole_bytes),
            rounds,
            last.map_or_else(dash, grouped),
            steady,
            ns(row.elapsed.map(|spread| spread.median_ns)),
            row.n.to_string(),
        ]);
    }
    titled("Devices before mkfs", &grid, width, style)
}

fn queue_table(study: &Study, width: usize, style: Style) -> String {
    let mut grid = Grid::new(&[
        ("file system", Kind::Text),
        ("scheduler", Kind::Text),
        ("read-ahead", Kind::Figure),
        ("write cache", Kind::Text),
        ("n", Kind::Figure),
    ]);
    for row in &study.queues {
        grid.row(vec![
            row.label.clone(),
            row.scheduler.clone().unwrap_or_else(|| "-".to_owned()),
            bytes(row.read_ahead_bytes),
            row.write_cache.clone().unwrap_or_else(|| "-".to_owned()),
            row.trials.to_string(),
        ]);
    }
    titled("Queues of the devices", &grid, width, style)
}

/// A table under its title; nothing where it has no row.
fn titled(title: &str, grid: &Grid, width: usize, style: Style) -> String {
    if grid.is_empty() {
        return String::new();
    }
    format!("{}\n{}\n", bold(title, style.colour), grid.render(width))
}
