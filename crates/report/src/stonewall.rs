//! Phases that ended by the clock: what they did up to it, and with the wear-out.

use crate::format::{Scale, grouped};
use crate::labels::row_label;
use crate::table::{Cell, Column, Table};
use fsarena_model::run::RateStyle;
use fsarena_model::units::Nanos;
use fsarena_study::PhaseTable;

/// How the table is read.
pub(crate) const LEGEND: &str = "stonewall: at the wall, what all threads had done when the time \
                                 was over, to that time; with wear-out, all that was done to the \
                                 compared time: this one counts; ops each, to which every thread \
                                 went on; slowest, its ops at the wall to those of the fastest.";

/// The table; none where no row has a stonewall.
pub(crate) fn stonewall_grid(table: &PhaseTable, style: RateStyle) -> Option<Table> {
    let scale = Scale::for_table(table, style);
    let mut grid = Table::new(vec![
        Column::text("stonewall"),
        Column::figure("at the wall"),
        Column::figure("with wear-out"),
        Column::figure("ops each"),
        Column::figure("slowest").optional(2),
        Column::figure("reached").optional(1),
    ]);
    for row in &table.rows {
        let Some(wall) = &row.stonewall else { continue };
        let rate = |per_s: Option<f64>| Cell::maybe(per_s.map(|own| (scale.text(own), own)));
        let slowest =
            wall.slowest_share.map(|own| (format!("\u{d7}{:.2}", own.median), own.median));
        let reached = format!("{} of {}", wall.trials_reached, row.n);
        grid.row(vec![
            Cell::contender(row.contender, row_label(table, row)),
            rate(scale.pick(&wall.at_wall).map(|own| own.median)),
            rate(scale.median(row)),
            Cell::figure(grouped(wall.each_ops.median.round() as u64), wall.each_ops.median),
            Cell::maybe(slowest),
            Cell::figure(reached, wall.trials_reached as f64),
        ]);
    }
    let wall_ns = table.rows.iter().find_map(|row| Some(row.stonewall.as_ref()?.wall_ns))?;
    let wall = Nanos(wall_ns);
    let caption = format!("{} / {}: stonewall of {wall}", table.workload, table.phase);
    Some(grid.caption(caption).sortable())
}
