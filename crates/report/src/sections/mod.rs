//! The sections of a RUN, each made once: their order, their titles, and what makes them.
//!
//! A new section is a file here and a line in [`SECTIONS`]; `show`, Markdown and the page loop over
//! them.

mod ageing;
mod answer;
mod appendix;
mod bytes;
mod crash;
mod cycles;
mod fairness;
mod matrix;
mod parameters;
mod question;
mod scaling;
pub(crate) mod series;
mod speed;
mod sweeps;
pub(crate) mod then;
pub(crate) mod watched;

use crate::answer::{answer, answer_text};
use crate::article::{OwnRun, own_section};
use crate::command::command;
use crate::context::{Run, SectionContext};
use crate::notes::{self, heading_lines, run_heading};
use crate::section::{Block, Section};
use crate::text::{Detail, Style, clean, escaped};
use crate::verdict::{self, sentences, verdict_headline};
use crate::{ledger, phases, raw, render};
use fsarena_model::run::RunHeader;
use fsarena_verdict::Verdicts;
use std::fmt::Write as _;

type Build = fn(&SectionContext<'_>) -> Section;

/// A section before it is made.
pub(crate) struct SectionKind {
    /// End of its id on a page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Where it is shown: a sum of [`PAGE`], [`TEXT`], [`MARKDOWN`], [`RAW`] and [`NO_TRIALS`].
    on: u8,
    /// Makes it; without blocks where the RUN has nothing of it.
    build: Build,
}

const PAGE: u8 = 1;
/// `run` and `show`.
const TEXT: u8 = 2;
const MARKDOWN: u8 = 4;
/// `show --raw`.
const RAW: u8 = 8;

/// Also where a RUN has crash runs and no trials.
const NO_TRIALS: u8 = 16;

const fn kind(on: u8, id: &'static str, title: &'static str, build: Build) -> SectionKind {
    SectionKind { id, title, on, build }
}

/// Title of the last one.
const APPENDIX: &str = "Appendix: every value, how this is read, how to do it again";

/// All sections, in their order.
static SECTIONS: [SectionKind; 21] = [
    kind(PAGE, "watched", "What was seen", watched::build),
    kind(PAGE | NO_TRIALS, "answer", "The answer", answer::build),
    kind(MARKDOWN, "verdicts", "Verdicts", answers),
    kind(PAGE | TEXT | MARKDOWN | NO_TRIALS, "crash", "Crash safety", crash::build),
    kind(PAGE, "speed", "All ratios, space and crash safety", speed::build),
    kind(TEXT | MARKDOWN, "figures", "Figures", |context| {
        phases::section(context.run.study, context.style)
    }),
    kind(TEXT, "notes", "Notes", |context| notes::section(context.run.study)),
    kind(PAGE | TEXT | MARKDOWN, "sweeps", "Response curves", sweeps::build),
    kind(PAGE | TEXT | MARKDOWN, "scaling", "Scaling", scaling::build),
    kind(PAGE | TEXT | MARKDOWN, "parameters", "Over levels", parameters::build),
    kind(PAGE | TEXT | MARKDOWN, "ageing", "Fresh and aged", ageing::build),
    kind(PAGE | TEXT | MARKDOWN, "cycles", "Cycles", cycles::build),
    kind(PAGE | TEXT | MARKDOWN, "bytes", "Where the bytes went", bytes::build),
    kind(MARKDOWN, "notes", "Notes", |context| notes::section(context.run.study)),
    kind(TEXT, "verdicts", "Verdicts", |context| {
        let of = |verdicts| verdict::section(verdicts, context.detail, context.style);
        context.run.verdicts.map_or_else(Section::none, of)
    }),
    kind(PAGE, "then", "Then and now", then::build),
    kind(TEXT | MARKDOWN, "article", "In the shape of the article", in_the_shape),
    kind(PAGE | NO_TRIALS, "fairness", "The fairness ledger", fairness::build),
    kind(PAGE, "series", "Time series", series::build),
    kind(PAGE | NO_TRIALS, "appendix", APPENDIX, appendix::build),
    kind(RAW, "raw", "Ledger and raw values", |context| {
        let run = context.run;
        let mut section = ledger::section(run.study);
        section.blocks.push(Block::Note(std::mem::take(&mut section.legend)));
        section.blocks.extend(raw::raw_page(context, &raw::points_of(run)));
        section
    }),
];

/// Those that a RUN has, made.
pub(crate) fn made_for(context: &SectionContext<'_>) -> Vec<(&'static SectionKind, Section)> {
    made(context, PAGE)
}

fn made(context: &SectionContext<'_>, on: u8) -> Vec<(&'static SectionKind, Section)> {
    let is_alone = context.run.header.plan.is_crash_alone();
    let kinds = SECTIONS.iter().filter(|kind| kind.on & on != 0);
    let kinds = kinds.filter(|kind| !is_alone || kind.on & NO_TRIALS != 0);
    let all = kinds.map(|kind| (kind, (kind.build)(context)));
    all.filter(|(_, section)| !section.blocks.is_empty()).collect()
}

/// A RUN as text: its answer, which it is, and its sections; the ledger and every raw value where
/// asked for.
#[must_use]
pub fn run_text(
    run: &Run<'_>,
    detail: Detail,
    has_raw: bool,
    width: usize,
    style: Style,
) -> String {
    let context = SectionContext::as_text(run, detail, style);
    let all = made(&context, if has_raw { TEXT | RAW } else { TEXT });
    let texts = all.iter().map(|(_, section)| render::text::section(section, width, style));
    let first = answer_text(&answer(run, None), None, width, style);
    let cut_off = run.verdicts.and_then(Verdicts::cut_off);
    let heading = run_heading(run.study, cut_off, width, style);
    [first, heading].into_iter().chain(texts).collect::<Vec<_>>().join("\n")
}

/// The same as Markdown, each section under its title.
pub(crate) fn sections_markdown(run: &Run<'_>, style: Style) -> String {
    let context = SectionContext::as_text(run, Detail::AllPairs, style);
    let all = made(&context, MARKDOWN);
    all.iter().map(|(kind, section)| render::markdown(kind.title, section)).collect()
}

/// A table for a paper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LatexTable {
    /// Of its section and its number there: `figures-2`.
    pub name: String,
    /// A float for `\input` in a document with `\usepackage{booktabs}`.
    pub text: String,
}

/// The tables of a RUN, those that Markdown has too.
#[must_use]
pub fn latex_tables(run: &Run<'_>, style: Style) -> Vec<LatexTable> {
    let style = Style { colour: false, bars: false, ..style };
    let context = SectionContext::as_text(run, Detail::AllPairs, style);
    let mut tables = Vec::new();
    for (kind, section) in made(&context, MARKDOWN) {
        let own = section.tables().into_iter().filter(|table| !table.is_empty());
        tables.extend(own.enumerate().map(|(at, table)| {
            let name = format!("{}-{}", kind.id, at + 1);
            LatexTable { text: render::latex::table(table, &name), name }
        }));
    }
    tables
}

/// Verdicts with the answer to each question in words.
fn answers(context: &SectionContext<'_>) -> Section {
    let Some(verdicts) = context.run.verdicts else { return Section::none() };
    let said = verdicts.questions.iter().map(|one| sentences::answer(verdicts, one));
    let mut section = verdict::section(verdicts, context.detail, context.style);
    // The headline stands above all sections.
    section.blocks[0] = Block::List(None, said.collect());
    section
}

/// In the shape of the article that its experiment repeats.
fn in_the_shape(context: &SectionContext<'_>) -> Section {
    let run = context.run;
    let Some(repeats) = run.article else { return Section::none() };
    let (records, study, notes) = (run.records, run.study, repeats.notes);
    let own = OwnRun { header: run.header, records, study, notes };
    own_section(repeats.article, repeats.phases, &[own])
}

/// A RUN with its verdicts, where it asked something.
#[must_use]
pub fn markdown(run: &Run<'_>, style: Style) -> String {
    let Run { header, study, verdicts, .. } = *run;
    let style = Style { colour: false, bars: false, ..style };
    let mut out = String::new();
    let mut lines = heading_lines(study, verdicts.and_then(Verdicts::cut_off)).into_iter();
    let title = lines.next().unwrap_or_default();
    let _ = write!(out, "# {}\n\n", escaped(&title));
    let facts: Vec<String> = lines.map(|line| escaped(&line)).collect();
    let _ = writeln!(out, "{}", facts.join("  \n"));
    if let Some(verdicts) = verdicts {
        let _ = write!(out, "\n**{}**\n", escaped(&verdict_headline(verdicts)));
    }
    out.push_str(&sections_markdown(run, style));
    write_method(&mut out, header);
    out
}

/// The command that does it again.
fn write_method(out: &mut String, header: &RunHeader) {
    out.push_str("\n## How it was done, and how it is done again\n");
    let version = &header.program_version;
    let _ = writeln!(out, "\nfsarena {}, its command line and experiment:", escaped(version));
    fence(out, "console", &command(header));
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
