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

use crate::context::{Run, SectionContext};
use crate::render;
use crate::section::Section;
use crate::text::{Detail, Style};

/// A section before it is made.
pub(crate) struct SectionKind {
    /// End of its id on a page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Whether `show` and Markdown have it too; those that are of pages alone are not text.
    pub(crate) is_text: bool,
    /// Makes it; without blocks where the RUN has nothing of it.
    pub(crate) build: fn(&SectionContext<'_>) -> Section,
}

const fn page(
    id: &'static str,
    title: &'static str,
    build: fn(&SectionContext<'_>) -> Section,
) -> SectionKind {
    SectionKind { id, title, is_text: false, build }
}

const fn everywhere(
    id: &'static str,
    title: &'static str,
    build: fn(&SectionContext<'_>) -> Section,
) -> SectionKind {
    SectionKind { id, title, is_text: true, build }
}

/// All sections, in their order.
pub(crate) static SECTIONS: [SectionKind; 10] = [
    page("watched", "What was seen", watched::build),
    page("answer", "The answer", answer::build),
    page("speed", "Speed and its price", speed::build),
    everywhere("sweeps", "Response curves", sweeps::build),
    everywhere("cycles", "Cycles", cycles::build),
    everywhere("bytes", "Where the bytes went", bytes::build),
    page("then", "Then and now", then::build),
    page("fairness", "The fairness ledger", fairness::build),
    page("series", "Time series", series::build),
    page("appendix", "Appendix", appendix::build),
];

/// Those that a RUN has, made.
pub(crate) fn made_for(context: &SectionContext<'_>) -> Vec<(&'static SectionKind, Section)> {
    let all = SECTIONS.iter().map(|kind| (kind, (kind.build)(context)));
    all.filter(|(_, section)| !section.blocks.is_empty()).collect()
}

fn as_text(run: &Run<'_>, detail: Detail, style: Style) -> Vec<(&'static SectionKind, Section)> {
    let context = SectionContext::as_text(run, detail, style);
    let kinds = SECTIONS.iter().filter(|kind| kind.is_text);
    let all = kinds.map(|kind| (kind, (kind.build)(&context)));
    all.filter(|(_, section)| !section.blocks.is_empty()).collect()
}

/// The sections of a RUN that are text; empty where it has none of them.
#[must_use]
pub fn sections_text(run: &Run<'_>, detail: Detail, width: usize, style: Style) -> String {
    let all = as_text(run, detail, style);
    let texts = all.iter().map(|(_, section)| render::text::section(section, width, style));
    texts.collect::<Vec<_>>().join("\n")
}

/// The same as Markdown, each under its title.
pub(crate) fn sections_markdown(run: &Run<'_>, style: Style) -> String {
    let all = as_text(run, Detail::Full, style);
    all.iter().map(|(kind, section)| render::markdown::section(kind.title, section)).collect()
}
