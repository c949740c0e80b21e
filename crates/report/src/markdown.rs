//! A RUN as Markdown (GitHub's kind), for a wiki or a bug report: the answers first, tables, then
//! how it was measured and the command that does it again.
//!
//! The tables are those of the terminal with all their columns. No text of a record or a plan can
//! become a link, a tag or a row of its own.

use crate::context::Run;
use crate::labels::phase_title;
use crate::notes::{closing_lists, heading_lines, sampling};
use crate::phases;
use crate::render::markdown::{list, table as table_text, table_with_notes};
use crate::sections;
use crate::text::Style;
use crate::text::{clean, escaped};
use crate::verdict::verdict_headline;
use crate::verdict::{answers, question, suite};
use fsarena_model::run::RunHeader;
use fsarena_study::Study;
use fsarena_verdict::{QuestionView, Verdicts};
use std::fmt::Write as _;

/// A RUN with its verdicts, where it asked something.
#[must_use]
pub fn markdown(run: &Run<'_>, style: Style) -> String {
    let Run { header, study, verdicts, .. } = *run;
    let style = Style { colour: false, bars: false, ..style };
    let mut out = String::new();
    let mut lines = heading_lines(study).into_iter();
    let title = lines.next().unwrap_or_default();
    let _ = write!(out, "# {}\n\n", escaped(&title));
    let facts: Vec<String> = lines.map(|line| escaped(&line)).collect();
    let _ = writeln!(out, "{}", facts.join("  \n"));
    if let Some(verdicts) = verdicts {
        let _ = write!(out, "\n**{}**\n", escaped(&verdict_headline(verdicts)));
        out.push_str("\n## Verdicts\n");
        for one in &verdicts.questions {
            answer(&mut out, verdicts, one);
        }
        if let Some(view) = &verdicts.suite {
            let _ = write!(out, "\n### {}\n\n", escaped(&suite::title(view)));
            let _ = write!(
                out,
                "{}\n{}\n",
                table_text(&suite::grid(view)),
                escaped(&suite::words(view))
            );
        }
    }
    out.push_str("\n## Figures\n");
    for table in &study.tables {
        let _ = write!(out, "\n### {}\n", escaped(&phase_title(table)));
        for own in phases::with_absent(phases::phase_grids(study, table, style), table) {
            table_with_notes(&mut out, &own);
        }
    }
    let _ = write!(out, "\n{}\n", escaped(&phases::legend(study, true, style)));
    out.push_str(&sections::sections_markdown(run, style));
    for (title, items) in closing_lists(study) {
        list(&mut out, title, &items);
    }
    method(&mut out, header, study, verdicts);
    out
}

/// A question: its sentence, its ranking, its pairs, and what the watchers saw.
fn answer(out: &mut String, verdicts: &Verdicts, one: &QuestionView) {
    let _ = write!(out, "\n### {}\n\n", escaped(&question::title(verdicts, one)));
    let sentence = answers::in_words(verdicts, one);
    let _ = writeln!(out, "{}", escaped(&sentence));
    if !one.rows.is_empty() {
        let ranking = question::ranking(verdicts, one, Style::default());
        let _ = write!(out, "\n{}", table_text(&ranking));
    }
    list(out, "Pairs", &crate::verdict::sentences(verdicts, one));
    let left: Vec<String> =
        one.left.iter().map(|left| format!("{}: {}", left.label, left.why)).collect();
    list(out, "Excluded", &left);
    list(out, "Watchers", &answers::watched(one));
    if let Some(view) = &one.factors {
        list(out, "Due to", &answers::levels(view));
    }
}

/// By which rule, how that is read, and the command that does it again.
fn method(out: &mut String, header: &RunHeader, study: &Study, verdicts: Option<&Verdicts>) {
    out.push_str("\n## How it was done, and how it is done again\n");
    if let Some(verdicts) = verdicts {
        let _ = write!(out, "\nRule: {}\n", escaped(&answers::rule(verdicts)));
        let _ = write!(out, "\n{}\n", escaped(&answers::legend(verdicts)));
    }
    if let Some(line) = sampling(study) {
        let _ = write!(out, "\n{}\n", escaped(&line));
    }
    let version = &header.program_version;
    let _ = writeln!(out, "\nfsarena {}, its command line and experiment:", escaped(version));
    fence(out, "console", &crate::command(header));
    let toml = header.experiment_toml.trim_end();
    if !toml.is_empty() {
        fence(out, "toml", toml);
    }
}

/// Text as it is, in a fence that is longer than any within it.
fn fence(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let lines: Vec<String> = text.lines().map(clean).collect();
    let _ = write!(out, "\n{fence}{language}\n{}\n{fence}\n", lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_cannot_be_left() {
        let mut out = String::new();
        fence(&mut out, "toml", "a\n```\n# x\n````");
        assert_eq!(out, "\n`````toml\na\n```\n# x\n````\n`````\n");
    }
}
