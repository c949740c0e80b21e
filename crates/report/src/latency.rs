//! The second table of phases in which single ops matter: latency of each contender, and when the
//! first and the last thread were done.

use crate::format::ns;
use crate::labels::{is_mixed, plain_label};
use crate::table::{Cell, Column, Table};
use fsarena_model::job::By;
use fsarena_model::work::Fsync;
use fsarena_study::{Latency, PhaseTable, RateUnit, ThreadsView};

/// Whether a phase has such a table: it syncs, has several threads or ops in flight, its ops are
/// single calls at random places, or it is real work by the engine.
pub(crate) fn matters(table: &PhaseTable) -> bool {
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
        let label = plain_label(row, is_mixed(table));
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
pub(crate) fn quantiles(latency: Option<Latency>) -> [Cell; 5] {
    let of = |value: fn(&Latency) -> Option<u64>| length(latency.as_ref().and_then(value));
    let max = of(|l| Some(l.max_ns));
    [of(|l| l.p50_ns), of(|l| l.p90_ns), of(|l| l.p99_ns), of(|l| l.p999_ns), max]
}

fn length(value: Option<u64>) -> Cell {
    Cell::maybe(value.map(|own| (ns(Some(own)), own as f64)))
}

fn thread_cells(threads: Option<ThreadsView>) -> [Cell; 3] {
    let imbalance = threads.and_then(|view| view.imbalance).map(|spread| spread.median);
    [
        length(threads.map(|view| view.first_done.median_ns)),
        length(threads.map(|view| view.last_done.median_ns)),
        Cell::maybe(imbalance.map(|own| (format!("{own:.2}"), own))),
    ]
}
