//! What a comparison came to as files that other programs show: Markdown for a wiki or a pull
//! request, JUnit for whatever runs a nightly job. Nothing is decided here.

use crate::compared::{Compared, ComparedRow, Missing};
use crate::format::count;
use crate::junit::{self, Case, Ended};
use crate::render::markdown;
use crate::section::{Block, Owner, Section};
use crate::table::{Cell, Column, Table};
use fsarena_model::verdict::Verdict;
use std::collections::BTreeMap;

/// In which order verdicts are shown: what a reader has to act upon first.
const ORDER: [Verdict; 4] = [Verdict::Slower, Verdict::Undecided, Verdict::Faster, Verdict::Same];

/// The comparison as Markdown: how many of each verdict, a line a comparison with those that became
/// slower first, and what was not compared.
#[must_use]
pub fn compared_markdown(title: &str, found: &Compared) -> String {
    let counts = ORDER.map(|verdict| (found.count(verdict), verdict.word()));
    let said: Vec<String> = counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let mut blocks = vec![Block::Text(match said.as_slice() {
        [] => "Nothing was compared.".to_owned(),
        said => format!("{}: {}.", count(found.rows.len(), "comparison"), said.join(", ")),
    })];
    let mut table = Table::new(vec![
        Column::text("verdict"),
        Column::text("workload"),
        Column::text("phase"),
        Column::text("metric"),
        Column::text("contender"),
        Column::text("compared with"),
        Column::figure("ratio"),
        Column::text("interval"),
        Column::figure("n"),
    ]);
    let rows = ORDER
        .iter()
        .flat_map(|verdict| found.rows.iter().filter(move |row| row.verdict == *verdict));
    for row in rows {
        let cells = [
            Cell::text(word(row)),
            Cell::text(row.question.workload.as_str()),
            Cell::text(row.question.phase.as_str()),
            Cell::text(row.question.metric.name()),
            Cell::text(row.contender.as_str()),
            Cell::text(row.compared_with.as_str()),
            Cell::quotient(row.ratio),
            Cell::text(interval(row)),
            Cell::count(row.units),
        ];
        table.row(cells);
    }
    blocks.push(Block::Table(table));
    let missing = found.missing.iter().map(not_compared);
    blocks.push(Block::List(Some(Owner::named("Not compared")), missing.collect()));
    markdown(title, &Section::new(blocks))
}

/// The comparison as JUnit's XML: a suite a workload and a test a comparison. SLOWER is a failure;
/// where the machine is to blame, or a side has no figures, it is an error; UNDECIDED is a test
/// that was skipped.
#[must_use]
pub fn compared_junit(title: &str, found: &Compared) -> String {
    let mut suites: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
    for row in &found.rows {
        let name = format!(
            "{} {}: {} against {}",
            row.question.phase,
            row.question.metric.name(),
            row.contender,
            row.compared_with
        );
        let workload = row.question.workload.as_str();
        let message = format!("{}, {}", word(row), in_words(row));
        let case = Case { name, ended: ended(row), kind: word(row), message };
        suites.entry(workload).or_default().push(case);
    }
    for one in &found.missing {
        let (name, message) = (format!("{}: {}", one.phase, one.contender), one.why.clone());
        let case = Case { name, ended: Ended::Error, kind: "no figures".to_owned(), message };
        suites.entry(&one.workload).or_default().push(case);
    }
    junit::document(title, &suites)
}

fn ended(row: &ComparedRow) -> Ended {
    match row.verdict {
        Verdict::Faster | Verdict::Same => Ended::Passed,
        Verdict::Undecided => Ended::Skipped,
        Verdict::Slower if row.by_machine => Ended::Error,
        Verdict::Slower => Ended::Failed,
    }
}

/// The verdict, and whether the machine is to blame.
fn word(row: &ComparedRow) -> String {
    match row.by_machine {
        true => format!("{}, by the machine", row.verdict.word()),
        false => row.verdict.word().to_owned(),
    }
}

/// `1.12 times (1.08-1.17), 12 units`.
fn in_words(row: &ComparedRow) -> String {
    let ratio =
        row.ratio.map_or_else(|| "no ratio".to_owned(), |ratio| format!("{ratio:.2} times"));
    match interval(row).as_str() {
        "-" => format!("{ratio}, {}", count(row.units, "unit")),
        interval => format!("{ratio} ({interval}), {}", count(row.units, "unit")),
    }
}

fn interval(row: &ComparedRow) -> String {
    match (row.low, row.high) {
        (Some(low), Some(high)) => format!("{low:.2}-{high:.2}"),
        _ => "-".to_owned(),
    }
}

/// `small-files:create, xfs: it failed`.
fn not_compared(one: &Missing) -> String {
    format!("{}:{}, {}: {}", one.workload, one.phase, one.contender, one.why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::clock::Clock;
    use fsarena_model::verdict::Metric;
    use fsarena_verdict::compare::QuestionName;

    fn row(phase: &str, verdict: Verdict, by_machine: bool) -> ComparedRow {
        ComparedRow {
            question: QuestionName {
                workload: "small-files".to_owned(),
                phase: phase.to_owned(),
                metric: Metric::Time,
                clock: Clock::Durable,
            },
            contender: "xfs <new>".to_owned(),
            compared_with: "before".to_owned(),
            verdict,
            ratio: Some(1.125),
            low: Some(1.08),
            high: Some(1.17),
            level: Some(0.95),
            units: 12,
            by_machine,
        }
    }

    fn found() -> Compared {
        let missing = Missing {
            workload: "big-file".to_owned(),
            phase: "write".to_owned(),
            contender: "btrfs".to_owned(),
            why: "it failed".to_owned(),
        };
        Compared {
            rows: vec![
                row("create", Verdict::Same, false),
                row("read", Verdict::Slower, false),
                row("stat", Verdict::Slower, true),
                row("delete", Verdict::Undecided, false),
            ],
            missing: vec![missing],
        }
    }

    #[test]
    fn markdown_begins_with_what_became_slower() {
        let text = compared_markdown("nightly", &found());
        assert!(text.contains("4 comparisons: 2 SLOWER, 1 UNDECIDED, 1 SAME."), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("small-files")).collect();
        assert!(rows[0].starts_with("| SLOWER | small-files | read | time | xfs"), "{text}");
        assert!(rows[0].contains("| 1.12 | 1.08-1.17 | 12 |"), "{text}");
        assert!(rows[1].starts_with("| SLOWER, by the machine |"), "{text}");
        assert!(text.contains("btrfs: it failed") && !text.contains("<new>"), "{text}");
        assert!(compared_markdown("x", &Compared::default()).contains("Nothing was compared."));
    }

    #[test]
    fn junit_fails_for_what_became_slower_alone() {
        let text = compared_junit("nightly", &found());
        let of = |words: &str| text.matches(words).count();
        assert_eq!((of("<failure "), of("<error "), of("<skipped ")), (1, 2, 1), "{text}");
        assert!(text.contains("tests=\"5\"") && text.contains("failures=\"1\""), "{text}");
        assert!(text.contains("message=\"SLOWER, 1.12 times (1.08-1.17), 12 units\""), "{text}");
        assert!(text.contains("xfs &lt;new&gt; against before"), "{text}");
        assert_eq!(of("<testsuite "), 2);
    }
}
