//! Contenders over all workloads.

use crate::format::count;
use crate::style::Style;
use crate::table::{Grid, Kind};
use crate::text::heading;
use crate::text::wrap;
use crate::verdict::text::ratio_and_interval;
use fsarena_study::verdict::SuiteView;

/// Geometric means of ratios, with both intervals, and how often each was what.
pub(super) fn table(view: &SuiteView, width: usize, style: Style) -> String {
    let mut out = heading(&title(view), width, style);
    out.push_str(&grid(view).render(width));
    out.push_str(&wrap("", &words(view), width));
    out
}

/// Over what, and to what.
pub(crate) fn title(view: &SuiteView) -> String {
    let questions = count(view.over.len(), "workload");
    format!("Over {questions}: geometric mean of the ratios to {}", view.reference)
}

/// One row a contender.
pub(crate) fn grid(view: &SuiteView) -> Grid {
    let mut grid = Grid::new(&[
        ("contender", Kind::Text),
        ("ratio", Kind::Figure),
        ("these workloads", Kind::Narrow),
        ("workloads like these", Kind::Narrow),
        ("FASTER", Kind::Figure),
        ("SLOWER", Kind::Figure),
        ("SAME", Kind::Figure),
        ("UNDECIDED", Kind::Figure),
    ]);
    for row in &view.rows {
        let (ratio, these) = ratio_and_interval(Some(row.ratio), row.low, row.high);
        let (_, like_these) =
            ratio_and_interval(Some(row.ratio), row.like_these_low, row.like_these_high);
        let or_dash = |interval: Option<String>| interval.unwrap_or_else(|| "-".to_owned());
        grid.row(vec![
            row.label.clone(),
            ratio,
            or_dash(these),
            or_dash(like_these),
            row.wins.to_string(),
            row.losses.to_string(),
            row.same.to_string(),
            row.undecided.to_string(),
        ]);
    }
    grid
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
