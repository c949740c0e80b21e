//! A RUN as Markdown (GitHub's kind), for a wiki or a bug report: the answers first, tables, then
//! how it was measured and the command that does it again.
//!
//! The tables are those of the terminal with all their columns. No text of a record or a plan can
//! become a link, a tag or a row of its own.

use crate::context::Run;
use crate::notes::heading_lines;
use crate::sections;
use crate::text::Style;
use crate::text::{clean, escaped};
use crate::verdict::verdict_headline;
use fsarena_model::run::RunHeader;
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
    }
    out.push_str(&sections::sections_markdown(run, style));
    method(&mut out, header);
    out
}

/// The command that does it again.
fn method(out: &mut String, header: &RunHeader) {
    out.push_str("\n## How it was done, and how it is done again\n");
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
