//! The sections of a RUN, each made once: their order, their titles, and what makes them.
//!
//! A new section is a file here and a line in [`SECTIONS`]; `show`, Markdown and the page loop over
//! them.

mod answer;
mod appendix;
mod bytes;
mod cycles;
mod fairness;
mod series;
mod speed;
mod sweeps;
mod then;
pub(crate) mod watched;

use crate::article::{OwnRun, own_section};
use crate::context::{Run, SectionContext};
use crate::notes::{self, run_heading};
use crate::section::{Block, Section};
use crate::text::{Detail, Style};
use crate::{ledger, phases, raw, render, verdict};

type Build = fn(&SectionContext<'_>) -> Section;

/// A section before it is made.
pub(crate) struct SectionKind {
    /// End of its id on a page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Where it is shown: a sum of [`PAGE`], [`TEXT`], [`MARKDOWN`] and [`RAW`].
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

const fn kind(on: u8, id: &'static str, title: &'static str, build: Build) -> SectionKind {
    SectionKind { id, title, on, build }
}

/// All sections, in their order.
static SECTIONS: [SectionKind; 17] = [
    kind(PAGE, "watched", "What was seen", watched::build),
    kind(PAGE, "answer", "The answer", answer::build),
    kind(MARKDOWN, "verdicts", "Verdicts", answers),
    kind(PAGE, "speed", "Speed and its price", speed::build),
    kind(TEXT | MARKDOWN, "figures", "Figures", |context| {
        phases::section(context.run.study, context.style)
    }),
    kind(TEXT, "notes", "Notes", |context| notes::section(context.run.study)),
    kind(PAGE | TEXT | MARKDOWN, "sweeps", "Response curves", sweeps::build),
    kind(PAGE | TEXT | MARKDOWN, "cycles", "Cycles", cycles::build),
    kind(PAGE | TEXT | MARKDOWN, "bytes", "Where the bytes went", bytes::build),
    kind(MARKDOWN, "notes", "Notes", |context| notes::section(context.run.study)),
    kind(TEXT, "verdicts", "Verdicts", |context| {
        let of = |verdicts| verdict::section(verdicts, context.detail, context.style);
        context.run.verdicts.map_or_else(Section::none, of)
    }),
    kind(PAGE, "then", "Then and now", then::build),
    kind(TEXT, "article", "In the shape of the article", in_the_shape),
    kind(PAGE, "fairness", "The fairness ledger", fairness::build),
    kind(PAGE, "series", "Time series", series::build),
    kind(PAGE, "appendix", "Appendix", appendix::build),
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
    let kinds = SECTIONS.iter().filter(|kind| kind.on & on != 0);
    let all = kinds.map(|kind| (kind, (kind.build)(context)));
    all.filter(|(_, section)| !section.blocks.is_empty()).collect()
}

/// A RUN as text: which it is, and its sections; the ledger and every raw value where asked for.
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
    let parts = std::iter::once(run_heading(run.study, width, style)).chain(texts);
    parts.collect::<Vec<_>>().join("\n")
}

/// The same as Markdown, each section under its title.
pub(crate) fn sections_markdown(run: &Run<'_>, style: Style) -> String {
    let context = SectionContext::as_text(run, Detail::AllPairs, style);
    let all = made(&context, MARKDOWN);
    all.iter().map(|(kind, section)| render::markdown::section(kind.title, section)).collect()
}

/// Verdicts with the answer to each question in words.
fn answers(context: &SectionContext<'_>) -> Section {
    let Some(verdicts) = context.run.verdicts else { return Section::none() };
    let said = verdicts.questions.iter().map(|one| verdict::answers::in_words(verdicts, one));
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
