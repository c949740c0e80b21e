//! Plain text: how it is to look (width, colour, bars, how rates are written, how much is said),
//! breaking lines, what is unsafe to show, headings and lists, what Markdown would take for markup.
//!
//! Knows of columns and escapes alone: no figure and no sentence is made here.

use fsarena_model::run::RateStyle;
use fsarena_model::visible;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How text looks, but for its width (which every function takes in columns; less than
/// [`MIN_WIDTH`] is taken as that).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Whether headings and warnings carry ANSI colour; the caller knows the terminal and
    /// `NO_COLOR`.
    pub colour: bool,
    /// Whether bars of block characters stand next to figures; the caller knows the terminal.
    pub bars: bool,
    /// Whether the terminal shows ASCII alone; the caller knows its locale.
    pub ascii: bool,
    /// How rates are written; `None` takes what the RUN's plan says.
    pub rate: Option<RateStyle>,
}

/// Narrowest layout.
pub const MIN_WIDTH: usize = 80;

/// How much is said of verdicts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// What stands after a RUN: the headline, rankings, what the watchers found, the rule, and
    /// where the rest is printed.
    Brief,
    /// Pairs in words and what differences are due to as well. With more than six contenders only
    /// pairs that are not decided or stand side by side.
    Full,
    /// As [`Detail::Full`], with every pair.
    AllPairs,
}

/// Columns that a text takes.
pub(crate) fn width_of(text: &str) -> usize {
    text.width()
}

/// Text from a record or a file, safe to show in one line: see [`visible::one_line`].
pub(crate) fn clean(text: &str) -> String {
    visible::one_line(text).into_owned()
}

/// Breaks a sentence into lines of at most `width` columns; words that are longer are split. The
/// first line starts with `first`, the others with as many spaces.
pub(crate) fn wrap(first: &str, text: &str, width: usize) -> String {
    let indent = width_of(first).min(width / 2);
    let room = width.saturating_sub(indent).max(8);
    let mut lines: Vec<String> = vec![String::new()];
    let mut used = 0;
    for word in words(&clean(text)) {
        for piece in pieces(&word, room) {
            let needed = width_of(&piece) + usize::from(used > 0);
            if used > 0 && used + needed > room {
                lines.push(String::new());
                used = 0;
            }
            let line = lines.last_mut().expect("there is always a line");
            if used > 0 {
                line.push(' ');
            }
            line.push_str(&piece);
            used += width_of(&piece) + usize::from(used > 0);
        }
    }
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        out.push_str(&if at == 0 { first.to_owned() } else { " ".repeat(indent) });
        out.push_str(line);
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

/// The words of a text. No line is broken before a percent sign or within an interval in brackets.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let opened = |last: &String| last.starts_with('[') && last.ends_with(',');
        match words.last_mut() {
            Some(last) if word.starts_with('%') || opened(last) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

fn pieces(word: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for c in word.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns > room {
            pieces.push(String::new());
            used = 0;
        }
        pieces.last_mut().expect("there is always a piece").push(c);
        used += columns;
    }
    pieces
}

/// With its first letter as a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// The beginning of a sentence: a capital, but names of contenders and programs stay as they are
/// written.
pub(crate) fn begun(text: &str, names: &[&str]) -> String {
    let is_name = |name: &&str| text.starts_with(name);
    match text.starts_with("fsarena") || names.iter().any(is_name) {
        true => text.to_owned(),
        false => capital(text),
    }
}

/// A heading; bold where colour is wanted.
pub(crate) fn bold(text: &str, colour: bool) -> String {
    if colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// A title of one or more lines, bold where colour is wanted.
pub(crate) fn heading(title: &str, width: usize, style: Style) -> String {
    let lines = wrap("", title, width);
    lines.lines().map(|line| format!("{}\n", bold(line, style.colour))).collect()
}

/// A title and below it one line or more an item; nothing without items.
pub(crate) fn titled_list(title: &str, items: &[String], width: usize, style: Style) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items = items.iter().map(|item| wrap("  - ", item, width));
    heading(title, width, style) + &items.collect::<String>()
}

/// Text that Markdown shows as it is, in one line: nothing in it is a tag, a link, emphasis, code
/// or the border of a cell.
pub(crate) fn escaped(text: &str) -> String {
    let text = clean(text);
    let all: Vec<char> = text.trim().chars().collect();
    let mut out = String::with_capacity(text.len() + 8);
    for (at, &c) in all.iter().enumerate() {
        let near = |at: Option<usize>| at.and_then(|at| all.get(at)).copied();
        let (before, after) = (near(at.checked_sub(1)), near(Some(at + 1)));
        let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '`' | '*' | '~' | '\\' => out.extend(['\\', c]),
            // Within a word it is no emphasis.
            '_' if !(inside(before) && inside(after)) => out.push_str("\\_"),
            // `[1.18, 1.29]` is nothing; with an address or a name behind it, it is a link.
            '(' | '[' | ':' if before == Some(']') => out.extend(['\\', c]),
            '!' if after == Some('[') => out.push_str("\\!"),
            // A list, a heading or a line under one.
            '#' | '+' | '-' | '=' if at == 0 && [Some(' '), Some(c)].contains(&after) => {
                out.extend(['\\', c]);
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{7}"), "a\\u{1b}[31mb c\\u{7}");
    }

    #[test]
    fn sentences_are_wrapped_under_their_mark() {
        assert_eq!(wrap("- ", "one two three", 10), "- one two\n  three\n");
        assert_eq!(wrap("", "abcdefghijkl", 10), "abcdefghij\nkl\n");
        assert_eq!(wrap("- ", "", 10), "-\n");
        assert_eq!(
            wrap("", "margin of 5 %, [1.0, 1.2] it is", 11),
            "margin of\n5 %,\n[1.0, 1.2]\nit is\n"
        );
    }

    #[test]
    fn nothing_becomes_markup() {
        for (text, shown) in [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
            ("a|b", "a\\|b"),
            ("`rm`", "\\`rm\\`"),
            ("[x](javascript:1)", "[x]\\(javascript:1)"),
            ("![x](http://y)", "\\![x]\\(http://y)"),
            ("[1.18, 1.29]", "[1.18, 1.29]"),
            ("small_files", "small_files"),
            ("_x_ *y* ~z~", "\\_x\\_ \\*y\\* \\~z\\~"),
            ("a\nb\u{1b}[1m", "a b\\\\u{1b}[1m"),
            ("a\u{202e}b", "a\\\\u{202e}b"),
            ("# x", "\\# x"),
            ("&lt;", "&amp;lt;"),
            ("C:\\x", "C:\\\\x"),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide(text in ".{0,200}", width in 20usize..120) {
            for line in wrap("    ", &text, width).lines() {
                prop_assert!(width_of(line) <= width, "{line:?}");
            }
        }
    }
}
