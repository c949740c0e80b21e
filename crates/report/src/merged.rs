//! What `fsarena merge` took from another database: one line a RUN.

use crate::format::utc;
use crate::list::RunLine;
use crate::render::text;
use crate::table::{Column, Table};
use crate::text::Style;
use crate::text::bold;
use serde::Serialize;

/// A RUN of the other database.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergedLine {
    /// As it stands there.
    #[serde(flatten)]
    pub there: RunLine,
    /// Its number here; absent where it is not here.
    pub here: Option<i64>,
    /// What became of it, in one word: `taken`, `same`, `longer-here`, `longer-there`, `differs`,
    /// `at-work`.
    pub fate: String,
    /// The same in words.
    pub text: String,
}

/// The RUNs of one other database as a table, in the order given.
#[must_use]
pub fn merged_table(lines: &[MergedLine], width: usize, style: Style) -> String {
    if lines.is_empty() {
        return "It has no RUN.\n".to_owned();
    }
    let mut grid = Table::new([
        Column::figure("RUN"),
        Column::text("id"),
        Column::text("experiment"),
        Column::text("host"),
        Column::text("started (UTC)"),
        Column::figure("trials"),
        Column::text("what became of it"),
    ]);
    for line in lines {
        let there = &line.there;
        grid.row(vec![
            line.here.map_or_else(|| "-".to_owned(), |here| here.to_string()),
            there.uid.chars().take(8).collect(),
            there.experiment.clone(),
            if there.host.is_empty() { "-".to_owned() } else { there.host.clone() },
            utc(there.created_unix_ns).trim_end_matches(" UTC").to_owned(),
            there.trials_done.to_string(),
            line.text.clone(),
        ]);
    }
    let text = text::table(&grid, width);
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", bold(head, style.colour)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::run::RunState;

    #[test]
    fn a_line_a_run() {
        let line = |here, fate: &str, text: &str| MergedLine {
            there: RunLine {
                id: 1,
                uid: "0123456789abcdef".to_owned(),
                experiment: "quick".to_owned(),
                title: "A first look".to_owned(),
                created_unix_ns: 1_767_225_600_000_000_000,
                state: RunState::Done,
                note: None,
                host: "far".to_owned(),
                trials_done: 7,
                trials_planned: 12,
            },
            here,
            fate: fate.to_owned(),
            text: text.to_owned(),
        };
        let lines = [line(Some(3), "taken", "taken"), line(None, "at-work", "skipped: at work")];
        insta::assert_snapshot!(merged_table(&lines, 80, Style::default()), @r"
        RUN  id        experiment  host  started (UTC)     trials  what became of it
        ----------------------------------------------------------------------------
          3  01234567  quick       far   2026-01-01 00:00       7  taken
          -  01234567  quick       far   2026-01-01 00:00       7  skipped: at work
        ");
        assert_eq!(merged_table(&[], 80, Style::default()), "It has no RUN.\n");
    }
}
