//! What power cuts and errors found in several RUNs of crash runs alone, next to each other.

use crate::campaign::campaign_tables;
use crate::context::Run;
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::{MIN_WIDTH, Style, wrap};
use fsarena_study::{CrashMeasure, CrashRunsView};
use serde::Serialize;

/// A measure in every RUN.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCrashRow {
    pub contender: String,
    pub workload: String,
    pub state: String,
    pub measure: String,
    /// Of each RUN; absent where it has none.
    pub runs: Vec<Option<CrashMeasure>>,
    /// Whether the interval of a RUN does not meet that of the first one that has it, or where all
    /// that there are were carried out, the numbers are not the same.
    pub differs: bool,
}

/// Every measure that some RUN has, in the order of the first RUN that has it.
#[must_use]
pub fn compare_crash_runs(views: &[&CrashRunsView]) -> Vec<ComparedCrashRow> {
    let mut rows: Vec<ComparedCrashRow> = Vec::new();
    for (at, view) in views.iter().enumerate() {
        for one in view.measures() {
            let is_it = |row: &&mut ComparedCrashRow| {
                (&row.contender, &row.workload, &row.state, &row.measure)
                    == (&one.contender, &one.workload, &one.state, &one.measure)
            };
            match rows.iter_mut().find(is_it) {
                Some(row) => row.runs[at] = Some(one),
                None => {
                    let mut runs = vec![None; views.len()];
                    runs[at] = Some(one.clone());
                    let CrashMeasure { contender, workload, state, measure, .. } = one;
                    let differs = false;
                    rows.push(ComparedCrashRow {
                        contender,
                        workload,
                        state,
                        measure,
                        runs,
                        differs,
                    });
                }
            }
        }
    }
    for row in &mut rows {
        let mut there = row.runs.iter().flatten();
        let first = there.next();
        row.differs = first.is_some_and(|first| there.any(|other| differ(first, other)));
    }
    rows
}

fn differ(one: &CrashMeasure, other: &CrashMeasure) -> bool {
    match (one.low, one.high, other.low, other.high) {
        (Some(low), Some(high), Some(other_low), Some(other_high)) => {
            low > other_high || other_low > high
        }
        _ => {
            let both = one.is_complete && other.is_complete && one.of == other.of;
            both && one.hits != other.hits
        }
    }
}

/// What was done in a RUN with crash runs: kernel, disk, seeds and numbers, in one line.
#[must_use]
pub fn crash_runs_line(run: &Run<'_>) -> Option<String> {
    campaign_tables(run, None)?.above.into_iter().next().map(|(_, words)| words)
}

/// The rows as a table, below a line a RUN; `names`: of the RUNs.
#[must_use]
pub fn compared_crash_text(
    names: &[String],
    heads: &[String],
    rows: &[ComparedCrashRow],
    width: usize,
    style: Style,
) -> String {
    let width = width.max(MIN_WIDTH);
    let mut columns = vec![
        Column::text("contender"),
        Column::text("workload"),
        Column::text("state").optional(1),
        Column::text("found"),
    ];
    columns.extend(names.iter().map(|name| Column::figure(format!("RUN {name}"))));
    columns.push(Column::text("differs"));
    let mut grid = Table::new(columns);
    for row in rows {
        let mut cells = vec![
            row.contender.clone(),
            row.workload.clone(),
            row.state.clone(),
            row.measure.clone(),
        ];
        cells.extend(row.runs.iter().map(|one| one.as_ref().map_or("-".to_owned(), share)));
        cells.push(if row.differs { "yes" } else { "" }.to_owned());
        grid.row(cells);
    }
    let runs = names.iter().zip(heads);
    let mut out: String =
        runs.map(|(name, head)| wrap(&format!("RUN {name}: "), head, width)).collect();
    out.push('\n');
    out.push_str(&text::listing(&grid, width, style));
    out.push('\n');
    let read = "Found in so many of the crash points, states, sequences, programs or cases, with \
                the interval (95 %) of the share where they were drawn. Differs: intervals do not \
                meet, or of all sequences that there are the numbers are not the same. (disk): the \
                disk did what an honest one does not.";
    out.push_str(&wrap("", read, width));
    out
}

/// `24/200 (8.0 to 17.5 %)`.
fn share(one: &CrashMeasure) -> String {
    let whose = if one.is_of_disk { " (disk)" } else { "" };
    match (one.low, one.high) {
        (Some(low), Some(high)) if one.of > 0 => {
            let (low, high) = (100.0 * low, 100.0 * high);
            format!("{}/{} ({low:.1} to {high:.1} %){whose}", one.hits, one.of)
        }
        _ => format!("{}/{}{whose}", one.hits, one.of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(hits: u64, interval: Option<(f64, f64)>) -> CrashMeasure {
        CrashMeasure {
            contender: "ext4".to_owned(),
            workload: "synced".to_owned(),
            state: "dropall".to_owned(),
            measure: "synced work lost".to_owned(),
            hits,
            of: 100,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high),
            is_complete: false,
            is_of_disk: false,
        }
    }

    #[test]
    fn intervals_that_meet_do_not_differ() {
        let few = measure(1, Some((0.0, 0.05)));
        assert!(!differ(&few, &measure(4, Some((0.04, 0.09)))));
        assert!(differ(&few, &measure(30, Some((0.2, 0.4)))));
        assert!(differ(&measure(30, Some((0.2, 0.4))), &few));
        assert!(!differ(&measure(1, None), &measure(2, None)), "nothing is known of them");
        let all = |hits| CrashMeasure { is_complete: true, ..measure(hits, None) };
        assert!(differ(&all(1), &all(2)) && !differ(&all(2), &all(2)));
    }

    #[test]
    fn a_measure_of_one_run_alone_is_shown_and_differs_from_nothing() {
        let row = ComparedCrashRow {
            contender: "ext4".to_owned(),
            workload: "synced".to_owned(),
            state: "dropall".to_owned(),
            measure: "synced work lost".to_owned(),
            runs: vec![Some(measure(1, Some((0.0, 0.05)))), None],
            differs: false,
        };
        let body = serde_json::json!({"runs": ["1", "2"], "rows": [row]});
        crate::schema::assert_valid("compare-crash", "compared", body);
        let names = ["1".to_owned(), "2".to_owned()];
        let text = compared_crash_text(&names, &[], &[row], 120, Style::default());
        assert!(text.contains("1/100 (0.0 to 5.0 %)"), "{text}");
        assert!(text.contains("RUN 2") && !text.contains("yes"), "{text}");
    }
}
