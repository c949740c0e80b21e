//! Tables and sections as HTML, and the parts that the page is built of.
//!
//! Text goes in as text and is escaped here; only what is typed as [`Markup`] is not.

use crate::render::text::{Footnotes, annotated};
use crate::section::{Block, Section, Unfolding, UnfoldingRow};
use crate::table::{Align, Cell, Column, Table, Tone};
use fsarena_chart::{HUES, Svg};
use maud::{Markup, PreEscaped, Render, html};

/// How a section of a page begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    /// Without a heading that is seen: it is the first of the page.
    First,
    Open,
    /// Closed until asked for, and not printed.
    Closed,
    /// The same, but printed.
    Printed,
}

/// A section with its heading (level 3).
pub(crate) fn section(id: &str, title: &str, section: &Section, opening: Opening) -> Markup {
    let body = html! {
        @if !section.legend.is_empty() { (note(&section.legend)) }
        (blocks(&section.blocks))
    };
    let is_first = opening == Opening::First;
    let heading = html! { h3.sr[is_first] id={ (id) "-title" } { (title) } };
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            @if matches!(opening, Opening::First | Opening::Open) {
                (heading) (body)
            } @else {
                details.part.printed[opening == Opening::Printed] {
                    summary { (heading) }
                    (body)
                }
            }
        }
    }
}

/// Blocks in their order.
pub(crate) fn blocks(all: &[Block]) -> Markup {
    html! { @for block in all { (self::block(block)) } }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Heading(title) => html! { h4 { (title) } },
        Block::Table(own) => table(own),
        Block::Chart(svg, caption) => figure(svg, caption),
        Block::Charts(all) => html! {
            div.pair { @for (svg, caption) in all { (figure(svg, caption)) } }
        },
        Block::Text(text) => html! { p { (text) } },
        Block::Note(text) => note(text),
        Block::Warning(text) => warning(text),
        Block::Missing(text) => missing(text),
        Block::List(_, items) if items.is_empty() => html! {},
        Block::List(owner, items) => html! {
            @match owner {
                None => {}
                Some(owner) => h5 {
                    @match owner.contender {
                        Some(contender) => (swatch(contender, &owner.label)),
                        None => (owner.label),
                    }
                },
            }
            (list(items))
        },
        Block::Facts(all) => facts(all),
        Block::Fold(summary, inner) => fold(summary, &blocks(inner)),
        Block::Unfolding(own) => unfolding(own),
        Block::Html(markup) => markup.clone(),
    }
}

/// A heading below that of a section (level 4).
pub(crate) fn heading(title: &str) -> Markup {
    html! { h4 { (title) } }
}

/// A table with its caption and footnotes, in a frame of its own that scrolls sideways where it is
/// too wide; nothing without rows.
pub(crate) fn table(own: &Table) -> Markup {
    if own.is_empty() {
        return html! {};
    }
    let mut footnotes = Footnotes::default();
    let plain = annotated(own, &mut footnotes);
    html! {
        div.wide role="region" aria-label=(plain.caption) tabindex="0" {
            table.sortable[plain.is_sortable] {
                caption { span { (plain.caption) } }
                thead { tr {
                    @for column in &plain.columns {
                        th scope="col" class=[class(column)] {
                            (column.head)
                            @if !column.unit.is_empty() { span.unit { ", " (column.unit) } }
                        }
                    }
                } }
                tbody { @for row in &plain.rows { tr {
                    @for (at, (cell, column)) in row.iter().zip(&plain.columns).enumerate() {
                        @if at == 0 {
                            th scope="row" class=[class(column)] data-value=[sort_key(cell)] {
                                (body(cell))
                            }
                        } @else {
                            td class=[class(column)] data-value=[sort_key(cell)] { (body(cell)) }
                        }
                    }
                } } }
            }
        }
        (list(&footnotes.lines()))
    }
}

/// A table whose rows unfold: the name of a row opens the row below it. No script is needed for it,
/// and a reader without eyes hears of a table.
fn unfolding(own: &Unfolding) -> Markup {
    html! {
        div.wide.matrix role="region" aria-label=(own.caption) tabindex="0" {
            table {
                caption { span { (own.caption) } }
                thead { (own.head) }
                @for group in &own.groups {
                    tbody {
                        tr.group {
                            th scope="rowgroup" colspan=(own.columns) { (opener(&group.head)) }
                        }
                        (unfolded(&group.head, own.columns))
                        @for row in &group.rows {
                            tr { th scope="row" { (opener(row)) } (row.cells) }
                            (unfolded(row, own.columns))
                        }
                    }
                }
            }
        }
    }
}

fn opener(row: &UnfoldingRow) -> Markup {
    html! {
        @if row.details.is_empty() { span.plain { (row.name) } }
        @else { details.opener { summary { (row.name) } } }
    }
}

fn unfolded(row: &UnfoldingRow, columns: usize) -> Markup {
    html! {
        @if !row.details.is_empty() {
            tr.unfolded { td colspan=(columns) { div.inner { (blocks(&row.details)) } } }
        }
    }
}

fn class(column: &Column) -> Option<&'static str> {
    match column.align {
        Align::Text => None,
        Align::Figure => Some("n"),
        Align::Code => Some("c"),
    }
}

/// What a cell is sorted by, where its text is not that number.
fn sort_key(cell: &Cell) -> Option<f64> {
    let value = cell.value?;
    let is_number = |read: f64| (read - value).abs() <= 0.01 * value.abs();
    let says_it = cell.text.replace(',', "").parse().is_ok_and(is_number);
    (!says_it).then_some(value)
}

fn body(cell: &Cell) -> Markup {
    match (cell.contender, cell.tone) {
        (Some(contender), _) => swatch(contender, &cell.text),
        (None, Tone::Missing) => html! { span.none { "–" } },
        (None, Tone::Strong) => html! { strong { (cell.text) } },
        (None, Tone::Plain) => html! { (cell.text) },
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
        let values = |text: &str, value| sort_key(&Cell::figure(text, value));
        assert_eq!(values("12.3", 12.345), None);
        assert_eq!(values("10,000", 10_000.0), None);
        assert_eq!(values("0.000000", 4e-9), Some(4e-9), "rounded away");
        assert_eq!(values("12.3 s", 12.3e9), Some(12.3e9));
        assert_eq!(values("12.3", 12.3e9), Some(12.3e9), "in another unit");
        assert_eq!(values("-", f64::NAN), None);
    }

    #[test]
    fn text_is_escaped() {
        let mut table =
            Table::new([Column::text("<i>"), Column::figure("n").unit("<u>")]).caption("<b>");
        table.row(vec![Cell::text("<s>"), Cell::figure("<p>", 1.0)]);
        let text = super::table(&table).into_string();
        for tag in ["<b>", "<i>", "<u>", "<s>", "<p>"] {
            assert!(!text.contains(tag), "{text}");
        }
        assert!(text.contains("&lt;s&gt;"), "{text}");
    }
}
