//! Tables and sections as plain text that never exceeds its width: columns that are only nice to
//! have are left out, then columns of words are wrapped; what is turned goes on in a further table.

use crate::section::{Block, Section};
use crate::table::{Align, Column, Table};
use crate::text::{MIN_WIDTH, Style};
use crate::text::{bold, clean, heading, titled_list, width_of, wrap};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, ContentLineStyle, LineStyle, TableStyle,
    Width,
};

/// Columns between two columns.
const GAP: usize = 2;
/// A column of words is not wrapped to less.
const MIN_TEXT: usize = 10;
/// Columns that the headings of rows take, at most, where columns go on in a further table.
const TITLE_COLUMNS: usize = 24;

/// A section without its own title: its blocks, then how it is read.
pub(crate) fn section(section: &Section, width: usize, style: Style) -> String {
    let width = width.max(MIN_WIDTH);
    let mut out = blocks(&section.blocks, width, style);
    if !section.legend.is_empty() {
        out.push('\n');
        out.push_str(&wrap("", &section.legend, width));
    }
    out
}

fn blocks(all: &[Block], width: usize, style: Style) -> String {
    let mut out = String::new();
    let mut before = None;
    for block in all {
        let text = self::block(block, width, style);
        if text.is_empty() {
            continue;
        }
        // A heading belongs to what follows it.
        if before.is_some_and(|before: &Block| needs_gap(before, block)) {
            out.push('\n');
        }
        out.push_str(&text);
        before = Some(block);
    }
    out
}

fn needs_gap(before: &Block, block: &Block) -> bool {
    match (before, block) {
        (Block::Heading(_), Block::Heading(_)) => true,
        (Block::Heading(_), _) | (Block::List(..), Block::List(..)) => false,
        (_, Block::Heading(_) | Block::Text(_) | Block::Table(_) | Block::Fold(..)) => true,
        _ => false,
    }
}

fn block(block: &Block, width: usize, style: Style) -> String {
    match block {
        Block::Heading(title) => heading(title, width, style),
        Block::Table(own) if own.is_titled && !own.is_empty() => {
            heading(&own.caption, width, style) + &table_with_notes(own, width)
        }
        Block::Table(own) => table_with_notes(own, width),
        Block::Text(text) | Block::Note(text) | Block::Missing(text) => wrap("", text, width),
        Block::Warning(text) => {
            let lines = wrap("", &format!("WARNING: {text}"), width);
            lines.lines().map(|line| format!("{}\n", bold(line, style.colour))).collect()
        }
        Block::List(Some(owner), items) => titled_list(&owner.label, items, width, style),
        Block::List(None, items) => items.iter().map(|item| wrap("- ", item, width)).collect(),
        Block::Fold(_, inner) => blocks(inner, width, style),
        Block::Chart(..)
        | Block::Charts(_)
        | Block::Facts(_)
        | Block::Html(_)
        | Block::Unfolding(_) => String::new(),
    }
}

/// A table and its footnotes; nothing without rows.
pub(crate) fn table_with_notes(table: &Table, width: usize) -> String {
    if table.is_empty() {
        return String::new();
    }
    let mut footnotes = Footnotes::default();
    let plain = annotated(table, &mut footnotes);
    self::table(&plain, width) + &footnotes.render(width)
}

/// The table with the marks of footnotes in its cells.
pub(crate) fn annotated(table: &Table, footnotes: &mut Footnotes) -> Table {
    let mut table = table.clone();
    for cell in table.rows.iter_mut().flatten() {
        let notes = std::mem::take(&mut cell.notes);
        cell.text = footnotes.annotate(std::mem::take(&mut cell.text), notes);
    }
    table
}

/// The table alone as lines of at most `width` columns, each ending in a line break.
pub(crate) fn table(table: &Table, width: usize) -> String {
    let width = width.max(MIN_WIDTH);
    match table.group {
        _ if table.is_turned => in_parts(&table.transposed(), 1, width),
        0 => lines(table, width),
        group => in_parts(table, group, width),
    }
}

/// The table with its headings in bold.
pub(crate) fn listing(own: &Table, width: usize, style: Style) -> String {
    let text = table(own, width);
    match text.split_once('\n') {
        Some((head, rest)) => format!("{}\n{rest}", bold(head, style.colour)),
        None => text,
    }
}

/// The columns behind the leading ones in as few tables as fit, about as many in each; those that
/// belong together, `group` at a time, stay so where they fit.
fn in_parts(table: &Table, group: usize, width: usize) -> String {
    let lead = (table.lead + 1).min(table.columns.len());
    let columns = |own: &[usize]| own.iter().map(|&at| natural(table, at) + GAP).sum::<usize>();
    let title = natural(table, 0).min(TITLE_COLUMNS);
    let room = width - title - columns(&(1..lead).collect::<Vec<_>>());
    let numbers: Vec<usize> = (lead..table.columns.len()).collect();
    let fits = |own: &[usize]| columns(own) <= room;
    let group = if numbers.chunks(group).all(fits) { group } else { 1 };
    let mut parts: Vec<Vec<usize>> = Vec::new();
    for own in numbers.chunks(group) {
        match parts.last_mut() {
            Some(last) if fits(&[last.as_slice(), own].concat()) => last.extend(own),
            _ => parts.push(own.to_vec()),
        }
    }
    let each = numbers.len().div_ceil(group).div_ceil(parts.len().max(1)).max(1) * group;
    if numbers.chunks(each).all(fits) {
        parts = numbers.chunks(each).map(<[usize]>::to_vec).collect();
    }
    let part = |own: &[usize]| {
        let all = || (0..lead).chain(own.iter().copied());
        let columns: Vec<Column> = all().map(|at| table.columns[at].clone()).collect();
        let mut part = Table::new(columns);
        for row in &table.rows {
            part.row(all().map(|at| row[at].clone()));
        }
        lines(&part, width)
    };
    let parts: Vec<String> = parts.iter().map(|own| part(own)).collect();
    parts.join("\n")
}

fn lines(table: &Table, width: usize) -> String {
    let (kept, widths) = fit(table, width);
    let mut out = comfy_table::Table::new();
    out.load_style(
        TableStyle::new()
            .header_lines(ContentLineStyle::none())
            .header_separator(LineStyle::none().fill('-'))
            .content_lines(ContentLineStyle::none()),
    );
    out.set_content_arrangement(ContentArrangement::Dynamic);
    out.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    out.set_header(kept.iter().map(|&at| head(&table.columns[at])).collect::<Vec<_>>());
    for row in &table.rows {
        out.add_row(kept.iter().map(|&at| clean(&row[at].text)).collect::<Vec<_>>());
    }
    let last = kept.len().saturating_sub(1);
    for (place, (&at, &columns)) in kept.iter().zip(&widths).enumerate() {
        let gap = if place == last { 0 } else { GAP };
        let Some(column) = out.column_mut(place) else { continue };
        column.set_padding((0, u16::try_from(gap).unwrap_or(0)));
        let total = u16::try_from(columns + gap).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(total)));
        if table.columns[at].align == Align::Figure {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    out.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn head(column: &Column) -> String {
    clean(&column.head_with_unit())
}

fn natural(table: &Table, at: usize) -> usize {
    let cells = table.rows.iter().map(|row| width_of(&clean(&row[at].text)));
    let (column, head) = (&table.columns[at], head(&table.columns[at]));
    let head = match column.is_narrow {
        true => head.split_whitespace().map(width_of).max().unwrap_or(0),
        false => width_of(&head),
    };
    cells.chain([head]).max().unwrap_or(0).max(1)
}

/// Which columns are shown, and how wide each is.
fn fit(table: &Table, width: usize) -> (Vec<usize>, Vec<usize>) {
    let columns = &table.columns;
    let natural: Vec<usize> = (0..columns.len()).map(|at| natural(table, at)).collect();
    let is_text = |at: usize| columns[at].align != Align::Figure && columns[at].priority == 0;
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let least = |at: &usize| if is_text(*at) { natural[*at].min(24) } else { natural[*at] };
    let total =
        |kept: &[usize]| kept.iter().map(least).sum::<usize>() + GAP * kept.len().saturating_sub(1);
    while total(&kept) > width {
        let priority = |at: usize| columns[at].priority;
        match kept.iter().copied().max_by_key(|&at| priority(at)).filter(|&at| priority(at) > 0) {
            Some(out) => kept.retain(|&at| at != out),
            None => break,
        }
    }
    let mut widths: Vec<usize> = kept.iter().map(|&at| natural[at]).collect();
    // Words give way first, the widest first; figures only where nothing else is left.
    for (words, floor) in [(true, MIN_TEXT), (false, 4), (true, 4)] {
        while widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1) > width {
            let may = |place: usize| is_text(kept[place]) == words;
            let widest = (0..widths.len())
                .filter(|&place| may(place) && widths[place] > floor)
                .max_by_key(|&place| widths[place]);
            match widest {
                Some(place) => widths[place] -= 1,
                None => break,
            }
        }
    }
    (kept, widths)
}

/// Notes under a table, each text once, with its mark.
#[derive(Default)]
pub(crate) struct Footnotes(Vec<String>);

impl Footnotes {
    /// `text` with a mark for each of these notes behind it.
    fn annotate(&mut self, mut text: String, notes: Vec<String>) -> String {
        for note in notes {
            text.push(' ');
            text.push_str(&self.mark(note));
        }
        text
    }

    /// The mark of this note.
    fn mark(&mut self, note: String) -> String {
        let at = self.0.iter().position(|known| *known == note).unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        mark_of(at)
    }

    /// The notes with their footnotes, in lines of at most `width` columns.
    fn render(&self, width: usize) -> String {
        let line = |(at, text): (usize, &String)| wrap(&format!("{} ", mark_of(at)), text, width);
        self.0.iter().enumerate().map(line).collect()
    }

    /// The notes with their footnotes, each as it is.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.iter().enumerate().map(|(at, text)| format!("{} {text}", mark_of(at))).collect()
    }
}

/// `[a]` to `[z]`, then numbers.
fn mark_of(at: usize) -> String {
    match u8::try_from(at) {
        Ok(letter @ 0..26) => format!("[{}]", char::from(b'a' + letter)),
        _ => format!("[{}]", at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn columns_that_are_nice_to_have_go_first() {
        let mut own = Table::new([
            Column::text("name"),
            Column::figure("rate"),
            Column::figure("less").optional(2),
            Column::figure("more").optional(1),
        ]);
        let wide = "x".repeat(25);
        own.row(["ext4".to_owned(), "1".to_owned(), wide.clone(), wide.clone()]);
        assert!(table(&own, 80).contains("less"));
        own.row(["n".repeat(60), "1".to_owned(), wide.clone(), wide]);
        let text = table(&own, 80);
        assert!(text.contains("more") && !text.contains("less"), "{text}");
    }

    proptest! {
        #[test]
        fn never_wider_than_asked(
            rows in proptest::collection::vec(
                proptest::collection::vec(".{0,40}", 8), 0..6),
            width in 80usize..200,
        ) {
            let mut own = Table::new([
                Column::text("file system"),
                Column::figure("rate"),
                Column::figure("CPU"),
                Column::figure("a"),
                Column::figure("b"),
                Column::figure("n"),
                Column::figure("c").optional(1),
                Column::figure("d").optional(2),
            ]);
            for row in rows {
                own.row(row);
            }
            for line in table(&own, width).lines() {
                prop_assert!(width_of(line) <= width, "{} > {width}: {line:?}", width_of(line));
            }
        }
    }
}
