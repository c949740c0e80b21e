//! A RUN as Markdown (GitHub's kind), for a wiki or a bug report: the answers first, tables, then
//! how it was measured and the command that does it again.
//!
//! The tables are those of the terminal with all their columns. No text of a record or a plan can
//! become a link, a tag or a row of its own.

mod periodic;

use crate::notes::{closing_lists, heading_lines, sampling};
use crate::phases::{self, phase_title};
use crate::verdict::{answers, question, suite};
use crate::words::clean;
use crate::{Style, verdict_headline};
use fsarena_model::run::RunHeader;
use fsarena_study::Study;
use fsarena_study::verdict::{QuestionView, Verdicts};
use std::fmt::Write as _;

/// A RUN with its verdicts, where it asked something.
#[must_use]
pub fn markdown(
    header: &RunHeader,
    study: &Study,
    verdicts: Option<&Verdicts>,
    style: Style,
) -> String {
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
            let _ =
                write!(out, "{}\n{}\n", suite::grid(view).markdown(), escaped(&suite::words(view)));
        }
    }
    out.push_str("\n## Figures\n");
    for table in &study.tables {
        let (grids, marks) = phases::phase_grids(study, table, style);
        let _ = write!(out, "\n### {}\n", escaped(&phase_title(table)));
        for grid in grids {
            let _ = write!(out, "\n{}", grid.markdown());
        }
        list(&mut out, "", &marks.lines());
    }
    let _ = write!(out, "\n{}\n", escaped(&phases::legend(study, true, style)));
    periodic::sections(&mut out, study);
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
        let _ = write!(out, "\n{}", ranking.markdown());
    }
    list(out, "Pairs", &crate::verdict::sentences(verdicts, one));
    let left: Vec<String> =
        one.left.iter().map(|left| format!("{}: {}", left.label, left.why)).collect();
    list(out, "Take no part", &left);
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

/// A title and a list; nothing without items.
fn list(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    match title {
        "" => out.push('\n'),
        title => {
            let _ = write!(out, "\n{}:\n\n", escaped(title));
        }
    }
    for item in items {
        let _ = writeln!(out, "- {}", escaped(item));
    }
}

/// Text as it is, in a fence that is longer than any within it.
fn fence(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    let lines: Vec<String> = text.lines().map(clean).collect();
    let _ = write!(out, "\n{fence}{language}\n{}\n{fence}\n", lines.join("\n"));
}

/// Text that Markdown shows as it is, in one line: nothing in it is a tag, a link, emphasis, code
/// or the border of a cell.
pub(crate) fn escaped(text: &str) -> String {
    let text = clean(text);
    let all: Vec<char> = text.trim().chars().collect();
    let mut out = String::with_capacity(text.len() + 8);
    for (at, &c) in all.iter().enumerate() {
        let near = |at: Option<usize>| at.and_then(|at| all.get(at)).copied();
        let (before, after) = (near(at.checked_sub(1)), near(Some(at + 1)));
        let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '`' | '*' | '~' | '\\' => out.extend(['\\', c]),
            // Within a word it is no emphasis.
            '_' if !(inside(before) && inside(after)) => out.push_str("\\_"),
            // `[1.18, 1.29]` is nothing; with an address or a name behind it, it is a link.
            '(' | '[' | ':' if before == Some(']') => out.extend(['\\', c]),
            '!' if after == Some('[') => out.push_str("\\!"),
            // A list, a heading or a line under one.
            '#' | '+' | '-' | '=' if at == 0 && [Some(' '), Some(c)].contains(&after) => {
                out.extend(['\\', c]);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        for (text, shown) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a|b", "a\\|b"),
            ("`rm`", "\\`rm\\`"),
            ("[x](javascript:1)", "[x]\\(javascript:1)"),
            ("![x](http://y)", "\\![x]\\(http://y)"),
            ("[1.18, 1.29]", "[1.18, 1.29]"),
            ("small_files", "small_files"),
            ("_x_ *y* ~z~", "\\_x\\_ \\*y\\* \\~z\\~"),
            ("a\nb\u{1b}[1m", "a b [1m"),
            ("# x", "\\# x"),
            ("&lt;", "&amp;lt;"),
            ("C:\\x", "C:\\\\x"),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }

    #[test]
    fn a_fence_cannot_be_left() {
        let mut out = String::new();
        fence(&mut out, "toml", "a\n```\n# x\n````");
        assert_eq!(out, "\n`````toml\na\n```\n# x\n````\n`````\n");
    }
}
