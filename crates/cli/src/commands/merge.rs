//! `fsarena merge`: RUNs of other databases copied into this one, so that machines can be compared.

use super::open;
use crate::args::MergeArgs;
use crate::context::{self, exit};
use anyhow::Result;
use fsarena_report::MergedLine;
use fsarena_store::{MergeOutcome, Merged, MergedRun, Store};
use std::path::Path;
use std::process::ExitCode;

/// Merges other databases, each whole or not at all, in the order given.
pub fn run(args: &MergeArgs, db: Option<&Path>) -> Result<ExitCode> {
    // All of them are looked at before ours is made or changed.
    for other in &args.others {
        context::check_database(other)?;
        Store::open_read_only(other)?;
    }
    let ours = context::database(db)?;
    let mut store = open::for_writing(db)?;
    let mut merged: Vec<(String, Vec<MergedLine>)> = Vec::new();
    let mut refused = 0;
    for other in &args.others {
        let result = store.merge(other);
        let found = match result {
            Ok(found) => found,
            Err(error) => {
                // What was taken before is stored, and is said before the error is.
                print(&merged, args.json)?;
                return Err(error.into());
            }
        };
        refused += found.refused();
        print_remedies(&found, other, &ours);
        let lines = found.runs.iter().map(line_of).collect();
        merged.push((other.display().to_string(), lines));
    }
    print(&merged, args.json)?;
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::from(exit::FAILED) })
}

/// Nothing is printed where nothing was done: an error is no document.
fn print(merged: &[(String, Vec<MergedLine>)], json: bool) -> Result<()> {
    if merged.is_empty() {
        return Ok(());
    }
    if json {
        return context::print_json(&fsarena_report::json::merged(merged));
    }
    let mut text = String::new();
    for (at, (path, lines)) in merged.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        text.push_str(&format!("{path}: {}\n", summary(lines)));
        text.push_str(&fsarena_report::merged_table(lines, context::width(), context::style()));
    }
    context::print(&text)
}

/// `2 RUNs taken, 1 here already, 1 refused`.
fn summary(lines: &[MergedLine]) -> String {
    let count = |fates: &[&str]| lines.iter().filter(|l| fates.contains(&l.fate.as_str())).count();
    let taken = count(&["taken"]);
    let mut text = format!("{taken} RUN{} taken", if taken == 1 { "" } else { "s" });
    for (number, what) in [
        (count(&["same", "longer-here", "longer-there"]), "here already"),
        (count(&["at-work"]), "skipped"),
        (count(&["differs"]), "refused"),
    ] {
        if number > 0 {
            text.push_str(&format!(", {number} {what}"));
        }
    }
    text
}

fn line_of(run: &MergedRun) -> MergedLine {
    let records = |more: usize| {
        if more == 1 { "1 record more".to_owned() } else { format!("{more} records more") }
    };
    let (here, fate, text) = match &run.outcome {
        MergeOutcome::Taken { run } => (Some(run), "taken", "taken".to_owned()),
        MergeOutcome::Same { run } => (Some(run), "same", "here already, the same".to_owned()),
        MergeOutcome::LongerHere { run, more } => {
            (Some(run), "longer-here", format!("here already, with {}", records(*more)))
        }
        MergeOutcome::LongerThere { run, more } => {
            let text = format!("here already; {} there, not taken", records(*more));
            (Some(run), "longer-there", text)
        }
        MergeOutcome::Differs { run, what } => {
            (Some(run), "differs", format!("refused: another RUN with this id is here, and {what}"))
        }
        MergeOutcome::AtWork => (None, "at-work", "skipped: still running there".to_owned()),
    };
    MergedLine {
        there: open::line_of(&run.there),
        here: here.map(|run| run.0),
        fate: fate.to_owned(),
        text,
    }
}

/// What can be done about RUNs that were not taken.
fn print_remedies(merged: &Merged, other: &Path, ours: &Path) {
    let has =
        |wanted: fn(&MergeOutcome) -> bool| merged.runs.iter().any(|run| wanted(&run.outcome));
    let (other, ours) = (other.display(), ours.display());
    if has(|fate| matches!(fate, MergeOutcome::AtWork)) {
        say!(
            "{other}: a RUN is still running; merge again when it has ended (if its process died, \
             `fsarena list --db {other}` marks it as interrupted)"
        );
    }
    if has(|fate| matches!(fate, MergeOutcome::LongerThere { .. })) {
        say!(
            "{other}: a RUN was resumed there after it had been merged, and stored RUNs are never \
             changed; to get the longer one, start a new database: fsarena merge --db NEW.db \
             {other} {ours}"
        );
    }
    if has(|fate| matches!(fate, MergeOutcome::Differs { .. })) {
        say!(
            "{other}: a RUN was refused, because another RUN with the same id is here; both stay as \
             they are, each in its database"
        );
    }
}
