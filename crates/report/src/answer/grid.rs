//! A matrix as text: a column of headings, then figures to the right, in colour where that is
//! wanted; columns that do not fit go on in a further part, and what is too long is cut off with
//! a count of what is not shown.

use crate::text::{width_of, wrap};

/// Columns between two columns.
const GAP: usize = 2;
/// Headings of columns are broken to this, where their figures need no more.
const HEAD_COLUMNS: usize = 14;
/// Headings of lines take at most this share of the width.
const LEAD_SHARE: usize = 2;

/// How a text stands out on a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Tone {
    #[default]
    Plain,
    Bold,
    /// Less than the baseline.
    Good,
    /// More than the baseline.
    Bad,
    /// Not known, or not compared.
    Faint,
}

impl Tone {
    /// The text with its escapes.
    pub(super) fn paint(self, text: &str, colour: bool) -> String {
        let code = match self {
            Self::Bold => "1",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Faint => "90",
            Self::Plain => return text.to_owned(),
        };
        if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A figure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// A matrix before it is laid out.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    /// Above the headings of the lines.
    pub(super) title: String,
    /// Headings of the lines.
    pub(super) lines: Vec<String>,
    /// Headings of the columns.
    pub(super) columns: Vec<String>,
    /// A row for each line.
    pub(super) cells: Vec<Vec<Piece>>,
}

/// A grid as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    pub(super) text: String,
    /// Lines of it.
    pub(super) height: usize,
    /// Lines and columns of the grid that are not in it.
    pub(super) hidden_lines: usize,
    pub(super) hidden_columns: usize,
}

impl Grid {
    /// Lines of at most `width` columns, at most `most` of them where that can be had.
    pub(super) fn draw(&self, width: usize, most: usize, colour: bool) -> Drawn {
        let lead = self.lead(width);
        let parts = self.parts(width - lead);
        let mut drawn = Drawn::default();
        // A part of its own headings alone tells nothing.
        let shown = self.lines.len().min(most.saturating_sub(2).max(1));
        drawn.hidden_lines = self.lines.len() - shown;
        for part in parts {
            let room = width - lead;
            let heads: Vec<Vec<String>> =
                part.iter().map(|&column| self.head(column, room)).collect();
            let widths: Vec<usize> =
                part.iter().map(|&column| self.column_width(column, room)).collect();
            let height = heads.iter().map(Vec::len).max().unwrap_or(1) + shown;
            if drawn.height > 0 && drawn.height + height > most {
                drawn.hidden_columns += part.len();
                continue;
            }
            drawn.text.push_str(&self.part(&part, (&heads, &widths), (lead, shown), colour));
            drawn.height += height;
        }
        drawn
    }

    /// Columns of the headings of lines.
    fn lead(&self, width: usize) -> usize {
        let widest = self.lines.iter().chain([&self.title]).map(|text| width_of(text)).max();
        widest.unwrap_or(0).min(width / LEAD_SHARE)
    }

    /// The columns that stand next to each other: as few parts as there can be, about as many
    /// columns in each.
    fn parts(&self, room: usize) -> Vec<Vec<usize>> {
        let fewest = self.parts_of(usize::MAX, room);
        let each = self.columns.len().div_ceil(fewest.len().max(1));
        let even = (each..self.columns.len()).map(|most| self.parts_of(most, room));
        even.into_iter().find(|parts| parts.len() == fewest.len()).unwrap_or(fewest)
    }

    /// Parts of at most `most` columns.
    fn parts_of(&self, most: usize, room: usize) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut left = 0;
        for column in 0..self.columns.len() {
            let needed = self.column_width(column, room) + GAP;
            match parts.last_mut() {
                Some(part) if needed <= left && part.len() < most => part.push(column),
                _ => {
                    parts.push(vec![column]);
                    left = room;
                }
            }
            left = left.saturating_sub(needed);
        }
        parts
    }

    fn column_width(&self, column: usize, room: usize) -> usize {
        let head = self.head(column, room);
        let head = head.iter().map(|line| width_of(line)).max().unwrap_or(0);
        head.max(self.figure_width(column)).min(room.saturating_sub(GAP).max(1))
    }

    fn figure_width(&self, column: usize) -> usize {
        let cells = self.cells.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width_of(&cell.text)).max().unwrap_or(0)
    }

    /// The heading of a column in its lines.
    fn head(&self, column: usize, room: usize) -> Vec<String> {
        let most = self.figure_width(column).max(HEAD_COLUMNS).min(room.saturating_sub(GAP).max(1));
        let word = |word: &str| match width_of(word) > most {
            // An option that is too wide goes on with its value.
            true => word.replacen('=', "= ", 1),
            false => word.to_owned(),
        };
        let words: Vec<String> = self.columns[column].split(' ').map(word).collect();
        wrap("", &words.join(" "), most).lines().map(str::to_owned).collect()
    }

    fn part(
        &self,
        part: &[usize],
        (heads, widths): (&[Vec<String>], &[usize]),
        (lead, shown): (usize, usize),
        colour: bool,
    ) -> String {
        let height = heads.iter().map(Vec::len).max().unwrap_or(1);
        let mut out = String::new();
        for at in 0..height {
            // Headings stand at the bottom.
            let piece = |head: &Vec<String>| {
                let line = (at + head.len()).checked_sub(height).and_then(|at| head.get(at));
                Piece { text: line.cloned().unwrap_or_default(), tone: Tone::Bold }
            };
            let title = if at + 1 == height { self.title.as_str() } else { "" };
            let pieces: Vec<Piece> = heads.iter().map(piece).collect();
            out.push_str(&line(title, lead, &pieces, widths, colour));
        }
        for (title, row) in self.lines.iter().zip(&self.cells).take(shown) {
            let pieces: Vec<Piece> = part.iter().map(|&column| row[column].clone()).collect();
            out.push_str(&line(title, lead, &pieces, widths, colour));
        }
        out
    }
}

/// A heading and its figures, these to the right.
fn line(title: &str, lead: usize, pieces: &[Piece], widths: &[usize], colour: bool) -> String {
    let title = cut(title, lead);
    let mut out = format!("{title}{}", " ".repeat(lead.saturating_sub(width_of(&title))));
    for (piece, &width) in pieces.iter().zip(widths) {
        let text = cut(&piece.text, width);
        out.push_str(&" ".repeat(GAP + width.saturating_sub(width_of(&text))));
        out.push_str(&piece.tone.paint(&text, colour && !text.is_empty()));
    }
    format!("{}\n", out.trim_end())
}

/// What fits; a tilde stands for the rest.
fn cut(text: &str, most: usize) -> String {
    if width_of(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if width_of(&out) + width_of(c.encode_utf8(&mut [0; 4])) + 1 > most {
            break;
        }
        out.push(c);
    }
    out + "~"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grid(lines: &[&str], columns: &[&str], text: &str) -> Grid {
        let piece = Piece { text: text.to_owned(), tone: Tone::Good };
        Grid {
            title: "time".to_owned(),
            lines: lines.iter().map(|&line| line.to_owned()).collect(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            cells: lines.iter().map(|_| vec![piece.clone(); columns.len()]).collect(),
        }
    }

    #[test]
    fn what_does_not_fit_goes_on_below() {
        let drawn =
            grid(&["create", "read"], &["ext4", "xfs", "btrfs"], "+12 % ^").draw(24, 60, false);
        let text = "time       ext4      xfs\ncreate  +12 % ^  +12 % ^\nread    +12 % ^  +12 % ^\n\
                    time      btrfs\ncreate  +12 % ^\nread    +12 % ^\n";
        assert_eq!(drawn.text, text);
        assert_eq!((drawn.height, drawn.hidden_lines, drawn.hidden_columns), (6, 0, 0));
    }

    #[test]
    fn what_is_too_long_is_counted() {
        let lines: Vec<String> = (0..30).map(|n| format!("line {n}")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let drawn = grid(&lines, &["a", "b"], "1").draw(80, 12, false);
        assert_eq!((drawn.height, drawn.hidden_lines), (11, 20));
        let drawn = grid(&["a", "b"], &["c", "d", "e"], &"1".repeat(30)).draw(40, 6, false);
        assert_eq!((drawn.height, drawn.hidden_columns), (6, 1));
    }

    #[test]
    fn a_figure_that_is_wider_than_all_is_cut() {
        let drawn = grid(&["create"], &["ext4"], &"\\u{202e}".repeat(20)).draw(80, 60, false).text;
        assert!(drawn.lines().all(|line| width_of(line) <= 80), "{drawn}");
        assert!(drawn.lines().last().unwrap().ends_with('~'), "{drawn}");
    }

    #[test]
    fn long_headings_are_broken_and_colour_takes_no_room() {
        let one = grid(&["x"], &["ext4 data=writeback noatime"], "+1 % ^");
        let plain = one.draw(80, 60, false).text;
        let lines = [
            "                ext4",
            "      data=writeback",
            "time         noatime",
            "x             +1 % ^",
        ];
        assert_eq!(plain, format!("{}\n", lines.join("\n")));
        let wide = grid(&["x"], &["ufs1 block_size=16384"], "+1 % ^").draw(80, 60, false).text;
        let heads: Vec<&str> = wide.lines().map(str::trim).collect();
        assert_eq!(heads[..3], ["ufs1", "block_size=", "time        16384"]);
        let coloured = one.draw(80, 60, true).text;
        assert!(coloured.contains("\u{1b}[32m+1 % ^\u{1b}[0m"), "{coloured:?}");
    }

    proptest! {
        #[test]
        fn never_wider_than_asked(
            heads in proptest::collection::vec(".{0,40}", 1..8),
            lines in proptest::collection::vec(".{0,60}", 0..5),
            text in ".{0,20}", width in 80usize..160,
        ) {
            let heads: Vec<String> = heads.iter().map(|text| crate::text::clean(text)).collect();
            let lines: Vec<String> = lines.iter().map(|text| crate::text::clean(text)).collect();
            let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let drawn = grid(&lines, &heads, &crate::text::clean(&text)).draw(width, 60, false);
            for line in drawn.text.lines() {
                prop_assert!(width_of(line) <= width, "{line:?}");
            }
        }
    }
}
