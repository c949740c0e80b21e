//! Contenders over all workloads.

use crate::format::count;
use crate::table::{Cell, Column, Table};
use crate::verdict::text::ratio_and_interval;
use fsarena_verdict::SuiteView;

/// Over what, and to what.
pub(crate) fn title(view: &SuiteView) -> String {
    let questions = count(view.over.len(), "workload");
    format!("Over {questions}: geometric mean of the ratios to {}", view.reference)
}

/// One row a contender.
pub(crate) fn grid(view: &SuiteView) -> Table {
    let mut table = Table::new([
        Column::text("contender"),
        Column::figure("ratio"),
        Column::figure("these workloads").narrow(),
        Column::figure("workloads like these").narrow(),
        Column::figure("FASTER"),
        Column::figure("SLOWER"),
        Column::figure("SAME"),
        Column::figure("UNDECIDED"),
    ])
    .caption(format!("{}; below 1 is better", title(view)))
    .sortable();
    for row in &view.rows {
        let (ratio, these) = ratio_and_interval(Some(row.ratio), row.low, row.high);
        let (_, like_these) =
            ratio_and_interval(Some(row.ratio), row.like_these_low, row.like_these_high);
        table.row([
            Cell::contender(row.contender, row.label.as_str()),
            Cell::figure(ratio, row.ratio),
            Cell::maybe(these.zip(row.low)),
            Cell::maybe(like_these.zip(row.like_these_low)),
            Cell::count(row.wins),
            Cell::count(row.losses),
            Cell::count(row.same),
            Cell::count(row.undecided),
        ]);
    }
    table
}

/// How the table is read.
pub(crate) fn words(view: &SuiteView) -> String {
    format!(
        "Over: {}. Two intervals, plain 95 %: for these very workloads, from their blocks; and \
         for workloads like these, from the spread among them (three at least). FASTER to \
         UNDECIDED: pairs that were asked, over all questions. The mean itself has no verdict.",
        view.over.join(", ")
    )
}
