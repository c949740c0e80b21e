//! Ops and latencies over the time of a phase.

use crate::format::three;
use crate::labels::row_label;
use crate::table::{Cell, Column, Table};
use fsarena_model::units::Nanos;
use fsarena_study::{OverTimeView, PhaseTable};

/// How the table is read.
pub(crate) const LEGEND: &str = "over time: of the periods of each trial, medians over trials; \
                                 slowest, fastest: ops/s of those periods; p99, worst: the latency \
                                 that 99 % of the ops stay below, in the middle period and in the \
                                 worst; longest op: of all trials, and when; steady from: where \
                                 the warm-up ends by MSER-5, from \
                                 40 periods on and where the level does not shift after it; \
                                 extremes of periods that are not as long as each other are not \
                                 comparable.";

/// The table; none where no row has periods.
pub(crate) fn over_time_grid(table: &PhaseTable) -> Option<Table> {
    let mut grid = Table::new(vec![
        Column::text("over time"),
        Column::figure("slowest"),
        Column::figure("fastest"),
        Column::figure("p99"),
        Column::figure("worst"),
        Column::figure("longest op"),
        Column::figure("at"),
        Column::figure("steady from"),
        Column::figure("periods"),
    ]);
    let time = |ns: u64| Cell::figure(Nanos(ns).to_string(), ns as f64);
    for row in &table.rows {
        let Some(view) = &row.over_time else { continue };
        let rate = |per_s: f64| Cell::figure(format!("{} ops/s", three(per_s)), per_s);
        grid.row(vec![
            Cell::contender(row.contender, row_label(table, row)),
            rate(view.slowest_per_s.median),
            rate(view.fastest_per_s.median),
            time(view.p99_ns.median_ns),
            time(view.worst_p99_ns.median_ns),
            time(view.longest_ns),
            time(view.longest_at_ns),
            Cell::maybe(
                view.steady_from_ns
                    .map(|own| (Nanos(own.median_ns).to_string(), own.median_ns as f64)),
            ),
            Cell::figure(periods(view), view.periods.median),
        ]);
    }
    table.rows.iter().find(|row| row.over_time.is_some())?;
    let caption = format!("{} / {}: over time", table.workload, table.phase);
    Some(grid.caption(caption).sortable())
}

/// How many there are, and how long each is: `512 × 10.0 s`.
fn periods(view: &OverTimeView) -> String {
    format!("{} \u{d7} {}", view.periods.median, Nanos(view.period_ns))
}
