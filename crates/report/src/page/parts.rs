//! The parts that all sections are built of: sections, tables, figures, facts, notes.
//!
//! Text goes in as text and is escaped here; only what is typed as [`Markup`] is not. Nothing here
//! knows of RUNs.

use crate::page::context::SectionContext;
use fsarena_chart::{HUES, Svg};
use maud::{Markup, PreEscaped, Render, html};

/// A section of a RUN with its heading (level 3); `name` is the end of its id and where the table
/// of contents leads to.
pub(crate) fn section(
    context: &SectionContext<'_>,
    name: &str,
    title: &str,
    body: &Markup,
) -> Markup {
    let id = format!("{}-{name}", context.prefix);
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h3 id={ (id) "-title" } { (title) }
            (body)
        }
    }
}

/// A heading below that of a section (level 4).
pub(crate) fn heading(title: &str) -> Markup {
    html! { h4 { (title) } }
}

/// How a column stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Align {
    Text,
    Figure,
    Code,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    head: String,
    unit: String,
    align: Align,
}

impl Column {
    /// Of words.
    pub(crate) fn text(head: impl Into<String>) -> Self {
        Self { head: head.into(), unit: String::new(), align: Align::Text }
    }

    /// Of figures, right aligned; `unit` stands in the heading, and may be empty.
    pub(crate) fn figure(head: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { head: head.into(), unit: unit.into(), align: Align::Figure }
    }

    /// Of commands and options, in a typewriter face; broken where it must be.
    pub(crate) fn code(head: impl Into<String>) -> Self {
        Self { head: head.into(), unit: String::new(), align: Align::Code }
    }

    fn class(&self) -> Option<&'static str> {
        match self.align {
            Align::Text => None,
            Align::Figure => Some("n"),
            Align::Code => Some("c"),
        }
    }
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    body: Markup,
    /// What it is sorted by, where the text is not a plain number; else by the text.
    value: Option<f64>,
}

impl Cell {
    /// Text.
    pub(crate) fn text(text: impl AsRef<str>) -> Self {
        Self { body: html! { (text.as_ref()) }, value: None }
    }

    /// Parts such as [`swatch`].
    pub(crate) fn markup(body: Markup) -> Self {
        Self { body, value: None }
    }

    /// A figure: as it is written, and the value that it is sorted by. Where the text is that
    /// number, it stands once.
    pub(crate) fn figure(text: impl AsRef<str>, value: f64) -> Self {
        let text = text.as_ref();
        let is_number = |read: f64| (read - value).abs() <= 0.01 * value.abs();
        let says_it = text.replace(',', "").parse().is_ok_and(is_number);
        let value = (value.is_finite() && !says_it).then_some(value);
        Self { body: html! { (text) }, value }
    }

    /// A figure that stands out.
    pub(crate) fn strong(text: impl AsRef<str>, value: f64) -> Self {
        let plain = Self::figure(text, value);
        Self { body: html! { strong { (plain.body) } }, ..plain }
    }

    /// Nothing was measured: a dash, last when sorted.
    pub(crate) fn none() -> Self {
        Self { body: html! { span.none { "–" } }, value: None }
    }

    /// A figure, or a dash.
    pub(crate) fn maybe(figure: Option<(String, f64)>) -> Self {
        figure.map_or_else(Self::none, |(text, value)| Self::figure(text, value))
    }
}

/// A table with its caption, in a frame of its own that scrolls sideways where it is too wide. The
/// first cell of a row is its heading.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    sortable: bool,
}

impl Table {
    /// Without rows yet. The caption says what is shown; it also names the frame.
    pub(crate) fn new(caption: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { caption: caption.into(), columns, rows: Vec::new(), sortable: false }
    }

    /// Adds a row; as many cells as columns.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.caption);
        self.rows.push(cells);
    }

    /// Lets the script sort it by its headings.
    pub(crate) fn sortable(mut self) -> Self {
        self.sortable = true;
        self
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Render for Table {
    fn render(&self) -> Markup {
        html! {
            div.wide role="region" aria-label=(self.caption) tabindex="0" {
                table.sortable[self.sortable] {
                    caption { span { (self.caption) } }
                    thead { tr {
                        @for column in &self.columns {
                            th scope="col" class=[column.class()] {
                                (column.head)
                                @if !column.unit.is_empty() { span.unit { ", " (column.unit) } }
                            }
                        }
                    } }
                    tbody { @for row in &self.rows { tr {
                        @for (at, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                            @if at == 0 {
                                th scope="row" class=[column.class()] data-value=[cell.value] {
                                    (cell.body)
                                }
                            } @else {
                                td class=[column.class()] data-value=[cell.value] { (cell.body) }
                            }
                        }
                    } } }
                }
            }
        }
    }
}

/// A chart with the words below it; the words alone where nothing was drawn.
pub(crate) fn figure(svg: &Svg, caption: &str) -> Markup {
    if svg.inline.is_empty() {
        return missing(&format!("No chart: {caption}"));
    }
    html! {
        figure.chart id={ "fig-" (svg.id) } {
            // Drawn by `fsarena-chart`, which escapes what it is given.
            div.draw role="group" aria-label=(caption) tabindex="0" {
                (PreEscaped(svg.inline.as_str()))
            }
            figcaption { (caption) }
        }
    }
}

/// Labels up to so many characters stand in one line.
const SHORT: usize = 24;

/// A contender in its colour and by its label; `hue` is its number in the plan.
pub(crate) fn swatch(hue: usize, label: &str) -> Markup {
    let is_short = label.chars().count() <= SHORT;
    html! {
        span.contender.short[is_short] {
            i class={ "swatch s" (hue % HUES) } aria-hidden="true" {}
            (label)
        }
    }
}

/// Names and values.
pub(crate) fn facts<N: Render, V: Render>(facts: &[(N, V)]) -> Markup {
    html! {
        dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } }
    }
}

/// What has to be known with the figures: quiet text.
pub(crate) fn note(text: &str) -> Markup {
    html! { p.note { (text) } }
}

/// What a reader must not overlook.
pub(crate) fn warning(text: &str) -> Markup {
    html! { p.warning { strong { "Warning: " } (text) } }
}

/// Why there is nothing here.
pub(crate) fn missing(text: &str) -> Markup {
    html! { p.missing { (text) } }
}

/// A list of sentences; nothing without items.
pub(crate) fn list(items: &[String]) -> Markup {
    html! { @if !items.is_empty() { ul { @for item in items { li { (item) } } } } }
}

/// Something long that is closed until asked for; open in print.
pub(crate) fn fold(summary: &str, body: &Markup) -> Markup {
    html! { details { summary { (summary) } (body) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_once() {
        let values = |text: &str, value| Cell::figure(text, value).value;
        assert_eq!(values("12.3", 12.345), None);
        assert_eq!(values("10,000", 10_000.0), None);
        assert_eq!(values("0.000000", 4e-9), Some(4e-9), "rounded away");
        assert_eq!(values("12.3 s", 12.3e9), Some(12.3e9));
        assert_eq!(values("12.3", 12.3e9), Some(12.3e9), "in another unit");
        assert_eq!(values("-", f64::NAN), None);
    }

    #[test]
    fn text_is_escaped() {
        let mut table = Table::new("<b>", vec![Column::text("<i>"), Column::figure("n", "<u>")]);
        table.row(vec![Cell::text("<s>"), Cell::figure("<p>", 1.0)]);
        let text = table.render().into_string();
        for tag in ["<b>", "<i>", "<u>", "<s>", "<p>"] {
            assert!(!text.contains(tag), "{text}");
        }
        assert!(text.contains("&lt;s&gt;"), "{text}");
    }
}
