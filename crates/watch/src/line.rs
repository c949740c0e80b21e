//! A line of a terminal: text in parts, each in a style (ECMA-48, select graphic rendition).

use std::fmt::Write as _;

/// Of a terminal, in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Size {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// Colours that every terminal has, as it shows them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Colour {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Blue = 34,
    Magenta = 35,
    Cyan = 36,
    Gray = 90,
}

/// How a part of a line is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Style {
    pub(crate) is_bold: bool,
    pub(crate) colour: Option<Colour>,
}

/// What is to be seen first.
pub(crate) const BOLD: Style = Style { is_bold: true, colour: None };

/// A line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Line {
    parts: Vec<(String, Style)>,
}

impl Line {
    /// Without style.
    pub(crate) fn plain(text: String) -> Self {
        Self { parts: vec![(text, Style::default())] }
    }

    /// The line with more text at its end.
    pub(crate) fn and(mut self, text: &str, style: Style) -> Self {
        self.parts.push((text.to_owned(), style));
        self
    }

    /// Its first characters, so many at most.
    pub(crate) fn cut(mut self, width: usize) -> Self {
        let mut left = width;
        for (text, _) in &mut self.parts {
            if let Some((end, _)) = text.char_indices().nth(left) {
                text.truncate(end);
            }
            left -= text.chars().count();
        }
        self
    }

    /// With the sequences that set its styles; it ends in none.
    pub(crate) fn with_sequences(&self) -> String {
        let mut out = String::new();
        for (text, Style { is_bold, colour }) in &self.parts {
            if *is_bold {
                out.push_str("\x1b[1m");
            }
            if let Some(colour) = colour {
                let _ = write!(out, "\x1b[{}m", *colour as u8);
            }
            out.push_str(text);
            if *is_bold || colour.is_some() {
                out.push_str("\x1b[0m");
            }
        }
        out
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.parts.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// Characters that are in colour.
    #[cfg(test)]
    pub(crate) fn coloured(&self) -> usize {
        let coloured = self.parts.iter().filter(|(_, style)| style.colour.is_some());
        coloured.map(|(text, _)| text.chars().count()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_between_characters_and_ends_without_a_style() {
        let red = Style { is_bold: true, colour: Some(Colour::Red) };
        let line = Line::plain("day ".to_owned()).and("\u{2581}\u{2582}", red);
        assert_eq!(line.clone().cut(5).with_sequences(), "day \x1b[1m\x1b[31m\u{2581}\x1b[0m");
        assert_eq!(line.clone().cut(3).text(), "day");
        assert_eq!(line.clone().cut(0).text(), "");
        assert_eq!(line.clone().cut(6), line);
    }
}
