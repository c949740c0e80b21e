//! Ranks of a phase: how they started and ended, and which of them are slow.

use crate::format::three;
use crate::labels::row_label;
use crate::table::{Cell, Column, Table};
use fsarena_study::{PhaseTable, RanksView, SlowRank};

/// How the table is read.
pub(crate) const LEGEND: &str = "ranks: start skew, the last rank's start after the first; first \
                                 and last done, by the clock of the runner; rates, ops per second \
                                 of single ranks; slowest ranks, up to three below the median: \
                                 number, host, rate to the median rank.";

/// The table; none where no row has several ranks.
pub(crate) fn rank_grid(table: &PhaseTable) -> Option<Table> {
    let rows = || table.rows.iter().filter_map(|row| Some((row, row.ranks.as_ref()?)));
    let has_clocks = rows().any(|(_, ranks)| ranks.clock_error_ns > 0);
    let mut columns = vec![
        Column::text("ranks"),
        Column::figure("n").optional(4),
        Column::figure("hosts").optional(3),
        Column::figure("start skew"),
    ];
    columns.extend(has_clocks.then(|| Column::figure("clock error").optional(2)));
    columns.extend(["first done", "last done"].map(Column::figure));
    columns.push(Column::figure("slowest/s").optional(1));
    columns.push(Column::figure("median/s"));
    columns.push(Column::figure("fastest/s").optional(1));
    columns.push(Column::text("slowest ranks"));
    let caption = format!("{} / {}: ranks", table.workload, table.phase);
    let mut grid = Table::new(columns).caption(caption).sortable();
    for (row, ranks) in rows() {
        let mut cells = vec![
            Cell::contender(row.contender, row_label(table, row)),
            Cell::count(ranks.ranks),
            Cell::count(ranks.hosts),
            Cell::ns(Some(ranks.start_skew.median_ns)),
        ];
        cells.extend(has_clocks.then(|| Cell::ns(Some(ranks.clock_error_ns))));
        cells
            .extend([ranks.first_done, ranks.last_done].map(|done| Cell::ns(Some(done.median_ns))));
        let rates = [ranks.slowest_per_s, ranks.median_per_s, ranks.fastest_per_s];
        cells.extend(rates.map(|per_s| Cell::figure(three(per_s), per_s)));
        cells.push(Cell::text(names(ranks)));
        grid.row(cells);
    }
    (!grid.is_empty()).then_some(grid)
}

/// `2 node3 ×0.61, 0 node1 ×0.97`.
fn names(ranks: &RanksView) -> String {
    let name = |rank: &SlowRank| match rank.hostname.as_str() {
        "" => format!("{} \u{d7}{:.2}", rank.rank, rank.to_median),
        hostname => format!("{} {hostname} \u{d7}{:.2}", rank.rank, rank.to_median),
    };
    ranks.slowest.iter().map(name).collect::<Vec<_>>().join(", ")
}
