//! A RUN as an article in the manner of its ancestors: the machine and the method, the conditions,
//! what to mind, a table, a chart and sentences for each question, the author's own table, then and
//! now, and what was left out; in the language of its readers.
//!
//! Nothing is computed here: figures are those of the study, words those of the verdicts, cautions
//! those of the answer. What is written once as sections becomes a page, Markdown and BBCode.

mod as_then;
mod conditions;
mod language;
mod method;
mod output;
mod phrases;
mod results;
#[cfg(test)]
mod tests;
mod then;
mod wording;

use crate::context::{Run, SectionContext};
use crate::section::{Block, Section};
use crate::text::capital;
use fsarena_chart::Svg;
use phrases::{Phrases, Title};

pub use language::Language;
pub use output::ArticleFile;

/// An article.
#[derive(Debug)]
pub struct OwnArticle {
    title: String,
    /// Sections, each under its title.
    sections: Vec<(String, Section)>,
    phrases: &'static dyn Phrases,
}

/// The article of a RUN.
#[must_use]
pub fn own_article(run: &Run<'_>, language: Language) -> OwnArticle {
    let phrases = language.phrases();
    let context = SectionContext::new(0, run);
    let title = match run.header.title.as_str() {
        "" => run.header.experiment.clone(),
        title => title.to_owned(),
    };
    let made = [
        (Title::Method, method::section(&context, phrases)),
        (Title::Conditions, conditions::section(&context, phrases)),
        (Title::Mind, conditions::mind(run, phrases)),
        (Title::Results, results::section(&context, phrases)),
        (Title::AsThen, as_then::section(&context, phrases)),
        (Title::ThenAndNow, then::section(&context, phrases)),
        (Title::LeftOut, left_out(run, phrases)),
    ];
    let mut sections: Vec<(String, Section)> = made
        .into_iter()
        .filter(|(_, section)| !section.blocks.is_empty())
        .map(|(title, section)| {
            (phrases.title(title).to_owned(), wording::section(section, phrases))
        })
        .collect();
    number_charts(&mut sections, phrases);
    OwnArticle { title: capital(&phrases.own_title(&title)), sections, phrases }
}

/// Gives each chart its number, in the order of the article.
fn number_charts(sections: &mut [(String, Section)], phrases: &dyn Phrases) {
    let mut number = 0;
    for block in sections.iter_mut().flat_map(|(_, section)| &mut section.blocks) {
        if let Block::Chart(_, caption) = block {
            number += 1;
            *caption = format!("{} {number}. {caption}", phrases.figure_word());
        }
    }
}

impl OwnArticle {
    /// Its charts, each with the name of its file.
    #[must_use]
    pub fn charts(&self) -> Vec<(String, Svg)> {
        let all = self.sections.iter().flat_map(|(_, section)| section.charts());
        let all: Vec<Svg> = all.cloned().collect();
        Svg::file_names(&all).into_iter().zip(all).collect()
    }
}

/// What has no figure, and why.
fn left_out(run: &Run<'_>, phrases: &dyn Phrases) -> Section {
    let mut items = Vec::new();
    for row in &run.study.not_run {
        items.push(phrases.not_run(&row.label, &row.reason));
    }
    for row in &run.study.failures {
        items.push(phrases.failed(&row.label, &row.workload, &row.error));
    }
    let is_said = |label: &str, workload: &String| {
        let of_it = |own: &String| own == workload;
        let mut rows = run.study.not_run.iter().filter(|row| row.label == label);
        rows.any(|row| row.workload.as_ref().is_none_or(of_it))
    };
    for question in run.verdicts.iter().flat_map(|verdicts| &verdicts.questions) {
        for left in question.left.iter() {
            let (workload, phase) = (&question.workload, &question.phase);
            if is_said(&left.label, workload) {
                continue;
            }
            let item = phrases.excluded(workload, phase, &left.label, &left.why);
            // Questions of one phase leave out the same ones.
            if !items.contains(&item) {
                items.push(item);
            }
        }
    }
    match items.is_empty() {
        true => Section::none(),
        false => Section::new(vec![Block::List(None, items)]),
    }
}
