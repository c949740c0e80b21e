//! The second table of phases in which single ops matter: latency of each contender, and when the
//! first and the last thread were done.

use crate::format::ns;
use crate::table::{Grid, Kind};
use fsarena_model::job::By;
use fsarena_model::work::Fsync;
use fsarena_study::{Latency, PhaseRow, PhaseTable, RateUnit, ThreadsView};

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

/// The table; none where no row has such figures. `label` gives the name of a row.
pub(crate) fn latency_grid(
    table: &PhaseTable,
    label: impl Fn(&PhaseRow) -> String,
) -> Option<Grid> {
    let threaded = table.rows.iter().any(|row| row.threads.is_some());
    let mut columns = vec![
        ("latency", Kind::Text),
        ("p50", Kind::Figure),
        ("p90", Kind::Optional(2)),
        ("p99", Kind::Figure),
        ("p99.9", Kind::Figure),
        ("max", Kind::Figure),
    ];
    if threaded {
        columns.extend([
            ("first done", Kind::Figure),
            ("last done", Kind::Figure),
            ("imbalance", Kind::Optional(1)),
        ]);
    }
    let mut grid = Grid::new(&columns);
    for row in table.rows.iter().filter(|row| row.n > 0) {
        if row.latency.is_none() && row.threads.is_none() {
            continue;
        }
        let mut cells = vec![label(row)];
        cells.extend(quantiles(row.latency));
        if threaded {
            cells.extend(thread_cells(row.threads));
        }
        grid.row(cells);
        if row.write_latency.is_some() {
            let mut cells = vec![format!("{}, writes", label(row))];
            cells.extend(quantiles(row.write_latency));
            grid.row(cells);
        }
    }
    (!grid.is_empty()).then_some(grid)
}

/// p50, p90, p99, p99.9 and the longest; a dash for a share of too few ops.
pub(crate) fn quantiles(latency: Option<Latency>) -> [String; 5] {
    let of = |value: fn(&Latency) -> Option<u64>| ns(latency.as_ref().and_then(value));
    let max = of(|l| Some(l.max_ns));
    [of(|l| l.p50_ns), of(|l| l.p90_ns), of(|l| l.p99_ns), of(|l| l.p999_ns), max]
}

fn thread_cells(threads: Option<ThreadsView>) -> [String; 3] {
    let imbalance = threads.and_then(|view| view.imbalance);
    [
        ns(threads.map(|view| view.first_done.median_ns)),
        ns(threads.map(|view| view.last_done.median_ns)),
        imbalance.map_or_else(|| "-".to_owned(), |spread| format!("{:.2}", spread.median)),
    ]
}
