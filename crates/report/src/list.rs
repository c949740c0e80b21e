//! The list of RUNs: one line each, newest last, as `fsarena list` shows it.

use crate::format::{state, utc};
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::Style;
use crate::text::bold;
use fsarena_model::run::RunState;
use serde::Serialize;

/// One line of the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLine {
    /// Number in the database.
    pub id: i64,
    /// Unique id.
    pub uid: String,
    /// Name of the experiment.
    pub experiment: String,
    /// One line for people.
    pub title: String,
    /// Wall clock at its start, ns since 1970.
    pub created_unix_ns: u64,
    /// How it stands.
    pub state: RunState,
    /// Why it stands so.
    pub note: Option<String>,
    /// Name of the machine; empty where it is not stored.
    pub host: String,
    /// Trials with a record.
    pub trials_done: u32,
    /// Trials in the schedule.
    pub trials_planned: u32,
}

/// All RUNs as a table, in the order given; the machine is named where there are several.
#[must_use]
pub fn runs_list(runs: &[RunLine], width: usize, style: Style) -> String {
    if runs.is_empty() {
        return "No RUN has been stored yet.\n".to_owned();
    }
    let mut columns = vec![Column::figure("RUN"), Column::text("id"), Column::text("experiment")];
    let hosts = runs.iter().any(|run| run.host != runs[0].host);
    if hosts {
        columns.push(Column::text("host"));
    }
    columns.extend([
        Column::text("started (UTC)"),
        Column::text("state"),
        Column::figure("trials"),
        Column::text("note").optional(1),
        Column::text("title").optional(2),
    ]);
    let mut grid = Table::new(columns);
    for run in runs {
        // Of one that has ended, the rest of the schedule was not needed.
        let trials = if run.trials_done == run.trials_planned || run.state == RunState::Done {
            run.trials_done.to_string()
        } else {
            format!("{}/{}", run.trials_done, run.trials_planned)
        };
        let mut cells =
            vec![run.id.to_string(), run.uid.chars().take(8).collect(), run.experiment.clone()];
        if hosts {
            cells.push(if run.host.is_empty() { "-".to_owned() } else { run.host.clone() });
        }
        cells.extend([
            utc(run.created_unix_ns).trim_end_matches(" UTC").to_owned(),
            state(run.state).to_owned(),
            trials,
            run.note.clone().unwrap_or_default(),
            run.title.clone(),
        ]);
        grid.row(cells);
    }
    let text = text::table(&grid, width);
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", bold(head, style.colour)),
        None => text,
    }
}
