//! Markdown as lines for a terminal: paragraphs fill its width, links say where to read on, styles
//! are ANSI escapes where colour is wanted. Not a parser: that is pulldown-cmark.

use comfy_table::{ContentArrangement, Table, presets};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The first sentence below the title; the title where something else than a paragraph follows it.
pub(super) fn summary(text: &str) -> String {
    let mut events = Parser::new(text).skip_while(|event| !matches!(event, Event::Start(_)));
    let title = plain_text(&mut events);
    let paragraph = match events.next() {
        Some(Event::Start(Tag::Paragraph)) => plain_text(&mut events),
        _ => String::new(),
    };
    if !paragraph.starts_with(|first: char| first.is_alphanumeric()) {
        return title;
    }
    let end = paragraph.match_indices(['.', '?']).find(|(at, mark)| {
        let rest = &paragraph[at + mark.len()..];
        rest.is_empty() || rest.starts_with(' ')
    });
    let first = end.map_or(paragraph.as_str(), |(at, mark)| &paragraph[..at + mark.len()]);
    first.trim_end().trim_end_matches(['.', ':']).to_owned()
}

/// What is written in a block, up to its end; a picture begins with a bracket.
fn plain_text<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> String {
    let mut out = String::new();
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) => out.push_str(&text),
            Event::SoftBreak => out.push(' '),
            Event::Start(Tag::Image { .. }) => out.push('('),
            Event::End(TagEnd::Heading(_) | TagEnd::Paragraph) => break,
            _ => {}
        }
    }
    out
}

/// At most `room` characters, cut between words.
pub(super) fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for word in text.split(' ') {
        if short.chars().count() + word.chars().count() + 3 > room {
            break;
        }
        short.push_str(word);
        short.push(' ');
    }
    format!("{}…", short.trim_end_matches([' ', ',', ':', ';']))
}

/// A text as lines of at most `width` columns, but for code, with escapes if `colour`. Behind a
/// link stands what `instead` says of its target.
pub(super) fn for_terminal(
    text: &str,
    width: usize,
    colour: bool,
    instead: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut page = Page { width, colour, ..Page::default() };
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                page.links.push((page.text.len(), instead(&dest_url)));
            }
            Event::Start(tag) => page.start(&tag),
            Event::End(tag) => page.end(tag),
            Event::Text(text) => page.text.push_str(&text),
            Event::Code(text) if page.styled() => page.text += &format!("\x1b[36m{text}\x1b[39m"),
            Event::Code(text) => page.text += &format!("`{text}`"),
            Event::SoftBreak => page.text.push(' '),
            Event::HardBreak => page.text.push('\n'),
            _ => {}
        }
    }
    page.out
}

/// What is made of the text so far.
#[derive(Default)]
struct Page {
    width: usize,
    colour: bool,
    out: String,
    /// The block at work.
    text: String,
    /// Lists around it, with the number of the next item.
    lists: Vec<Option<u64>>,
    /// What its first line begins with.
    mark: String,
    /// Where links around it begin in it, and what is said of their targets.
    links: Vec<(usize, Option<String>)>,
    table: Option<Table>,
    row: Vec<String>,
}

impl Page {
    /// A table counts columns, and would take escapes for text.
    fn styled(&self) -> bool {
        self.colour && self.table.is_none()
    }

    fn style(&mut self, code: u8) {
        if self.styled() {
            self.text += &format!("\x1b[{code}m");
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.next_block();
                self.lists.push(*first);
            }
            Tag::Item => {
                let number = self.lists.last_mut().and_then(Option::as_mut);
                self.mark = number.map_or("• ".to_owned(), |number| {
                    *number += 1;
                    format!("{}. ", *number - 1)
                });
            }
            Tag::Paragraph | Tag::CodeBlock(_) => self.next_block(),
            Tag::Heading { .. } => {
                self.next_block();
                self.style(1);
            }
            Tag::Table(_) => {
                self.next_block();
                let mut table = Table::new();
                table.load_style(presets::UTF8_FULL_CONDENSED);
                table.set_content_arrangement(ContentArrangement::Dynamic);
                table.set_width(u16::try_from(self.width).unwrap_or(u16::MAX));
                self.table = Some(table);
            }
            Tag::Image { .. } => self.text.push_str("(picture: "),
            Tag::Strong => self.style(1),
            Tag::Emphasis => self.style(3),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Item => self.paragraph(),
            TagEnd::Heading(_) => {
                self.style(22);
                self.paragraph();
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::CodeBlock => {
                let code = std::mem::take(&mut self.text);
                self.out += &textwrap::indent(&code, "    ");
            }
            TagEnd::Link => {
                let Some((start, Some(instead))) = self.links.pop() else { return };
                let label = &self.text[start..];
                if !label.contains(instead.trim_matches('`')) {
                    self.text += &format!(" ({instead})");
                }
            }
            TagEnd::Image => self.text.push(')'),
            TagEnd::Strong => self.style(22),
            TagEnd::Emphasis => self.style(23),
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.text)),
            TagEnd::TableHead | TagEnd::TableRow => {
                let (row, table) = (std::mem::take(&mut self.row), self.table.as_mut());
                match (table, tag) {
                    (Some(table), TagEnd::TableHead) => table.set_header(row),
                    (Some(table), _) => table.add_row(row),
                    (None, _) => return,
                };
            }
            TagEnd::Table => {
                self.out.extend(self.table.take().map(|table| format!("{table}\n")));
            }
            _ => {}
        }
    }

    /// Ends the text before a block, as an item has it before its code. A blank line stands between
    /// blocks, but not in lists.
    fn next_block(&mut self) {
        self.paragraph();
        if self.lists.is_empty() && !self.out.is_empty() {
            self.out.push('\n');
        }
    }

    /// Writes the text of a block, if there is any.
    fn paragraph(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.trim().is_empty() {
            return;
        }
        let margin = "  ".repeat(self.lists.len().saturating_sub(1));
        let first = format!("{margin}{}", std::mem::take(&mut self.mark));
        let rest = "  ".repeat(self.lists.len());
        let options = textwrap::Options::new(self.width);
        let options = options.initial_indent(&first).subsequent_indent(&rest);
        self.out += &textwrap::fill(text.trim(), options);
        self.out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_stands_for_a_text() {
        assert_eq!(summary("# A\n\nOne `x`, [two](a.md)\nand 1.5. More.\n"), "One x, two and 1.5");
        assert_eq!(summary("# A\n\nWhich is it? This.\n"), "Which is it?");
        assert_eq!(summary("# Title\n\n## Below\n\nText.\n"), "Title");
        assert_eq!(summary("# Title\n\n```\ncode\n```\n"), "Title");
    }

    #[test]
    fn long_lines_are_cut_between_words() {
        assert_eq!(cut("one two, three", 20), "one two, three");
        assert_eq!(cut("one two, three", 13), "one two…");
    }

    #[test]
    fn links_say_where_to_read_on() {
        let known = |target: &str| (target == "a.md").then(|| "`fsarena doc a`".to_owned());
        let shown = |text: &str| for_terminal(text, 80, false, &known);
        assert_eq!(shown("see [A](a.md), [B](b.md)."), "see A (`fsarena doc a`), B.\n");
        assert_eq!(shown("[`fsarena doc a`](a.md)"), "`fsarena doc a`\n");
        assert_eq!(shown("![a trial](x.svg)"), "(picture: a trial)\n");
        assert_eq!(shown("```\na[0](1)\n```"), "    a[0](1)\n");
        assert_eq!(shown("a [list] (of no links"), "a [list] (of no links\n");
    }

    #[test]
    fn paragraphs_items_and_tables_fill_the_width() {
        let text =
            "# T\none\ntwo\n\n* a\n  b\n  1. c\n     d\n* e\n\n| x | y |\n|---|---|\n| 1 | `2` |\n";
        let made = "T\n\none two\n\n• a b\n  1. c d\n• e\n\n\
                    ┌───┬─────┐\n│ x ┆ y   │\n╞═══╪═════╡\n│ 1 ┆ `2` │\n└───┴─────┘\n";
        assert_eq!(for_terminal(text, 80, false, &|_| None), made);
        let shown = for_terminal("* a\n  ```\n  k\n  ```\n", 80, false, &|_| None);
        assert_eq!(shown, "• a\n    k\n", "the words of an item are no part of its code");
        assert_eq!(for_terminal("one two three", 8, false, &|_| None), "one two\nthree\n");
        assert_eq!(
            for_terminal("a **b** `c`", 80, true, &|_| None),
            "a \x1b[1mb\x1b[22m \x1b[36mc\x1b[39m\n"
        );
    }
}
