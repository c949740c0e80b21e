//! An article as files: a page with its charts in it, Markdown and BBCode that name their files.

use super::OwnArticle;
use crate::page::SHEET;
use crate::render::{bbcode, html, markdown_blocks};
use crate::section::Block;
use crate::text::escaped;
use fsarena_model::visible;
use maud::{DOCTYPE, PreEscaped, html as markup};
use std::fmt::Write as _;

/// Where charts lie, seen from the texts.
const CHARTS: &str = "charts";
/// Nothing is fetched: the style and the charts stand in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// A text of an article.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArticleFile {
    /// `article.html`.
    pub name: &'static str,
    pub text: String,
}

impl OwnArticle {
    /// Its texts, which name the charts as `charts/NAME.svg` and `.png`.
    #[must_use]
    pub fn files(&self) -> Vec<ArticleFile> {
        let file = |name, text: &str| ArticleFile { name, text: visible::lines(text).into_owned() };
        vec![
            file("article.html", &self.page()),
            file("article.md", &self.markdown()),
            file("article.bbcode", &self.bbcode()),
        ]
    }

    fn page(&self) -> String {
        markup! {
            (DOCTYPE)
            html lang=(self.phrases.tag()) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    title { (self.title) }
                    style { (PreEscaped(fsarena_chart::STYLE)) (PreEscaped(SHEET)) }
                }
                body { div.frame {
                    header { h1 { (self.title) } }
                    main { @for (title, section) in &self.sections {
                        section { h2 { (title) } (html::blocks(&section.blocks)) }
                    } }
                } }
            }
        }
        .into_string()
    }

    fn markdown(&self) -> String {
        let mut out = format!("# {}\n", escaped(&self.title));
        let chart = |out: &mut String, name: &str, caption: &str| {
            let caption = escaped(caption);
            let _ = write!(out, "\n![{caption}]({CHARTS}/{name}.svg)\n\n*{caption}*\n");
        };
        let title = |out: &mut String, title: &str| {
            let _ = write!(out, "\n## {}\n", escaped(title));
        };
        self.text(&mut out, title, chart, |block| markdown_blocks(std::slice::from_ref(block)));
        out
    }

    fn bbcode(&self) -> String {
        let mut out = format!("{}\n", bbcode::title(&self.title));
        let chart = |out: &mut String, name: &str, caption: &str| {
            let caption = bbcode::escaped(caption);
            let _ = write!(out, "\n[img]{CHARTS}/{name}.png[/img]\n[i]{caption}[/i]\n");
        };
        let title = |out: &mut String, title: &str| {
            let _ = write!(out, "\n{}\n", bbcode::title(title));
        };
        self.text(&mut out, title, chart, |block| bbcode::blocks_text(std::slice::from_ref(block)));
        out
    }

    /// Titles, charts by the names of their files, and all else as `other` writes it.
    fn text(
        &self,
        out: &mut String,
        title: impl Fn(&mut String, &str),
        chart: impl Fn(&mut String, &str, &str),
        other: impl Fn(&Block) -> String,
    ) {
        let charts = self.charts();
        let mut names = charts.iter().map(|(name, _)| name);
        for (heading, section) in &self.sections {
            title(out, heading);
            for block in &section.blocks {
                match block {
                    Block::Chart(_, caption) => {
                        let Some(name) = names.next() else { continue };
                        chart(out, name, caption);
                    }
                    block => out.push_str(&other(block)),
                }
            }
        }
    }
}
