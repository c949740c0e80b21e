//! Text from anywhere, safe to show: characters that would move a cursor, change colours or turn
//! the order of what is read are written as escapes (`\u{1b}`, `\u{202e}`).
//!
//! This is the one place that knows which these are. Everything that is written for people goes
//! through it: what fills cells and sentences as one line, and once more all that is written.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character is never shown as it is: control characters (C0, DEL, C1), and what Unicode
/// has to turn the order of letters, to break lines or to be invisible in between. Line feed and
/// tab are for the caller to judge.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// As one line: line breaks and tabs become spaces, the rest of what is hidden escapes.
#[must_use]
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t' | '\r').then_some(' '))
}

/// As lines: line feeds and tabs stay, the rest of what is hidden becomes escapes.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

/// As [`lines`], and colours stay: sequences of SGR (`ESC [ 1 m`), which move nothing.
#[must_use]
pub fn coloured_lines(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return lines(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&lines(&rest[..at]));
        let length = colour_length(&rest[at..]);
        match length {
            0 => out.push_str("\\u{1b}"),
            _ => out.push_str(&rest[at..at + length]),
        }
        rest = &rest[at + length.max(1)..];
    }
    out.push_str(&lines(rest));
    Cow::Owned(out)
}

/// Bytes of the sequence of SGR that a text begins with; 0 where it begins with none.
fn colour_length(text: &str) -> usize {
    let Some(body) = text.strip_prefix("\u{1b}[") else { return 0 };
    let digits = body.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
    if body.as_bytes().get(digits) == Some(&b'm') { digits + 3 } else { 0 }
}

/// A JSON document that means the same: what is hidden, which can only be in its strings, becomes
/// escapes of JSON. Line feeds and tabs stay: a document is laid out with them.
#[must_use]
pub fn json(document: &str) -> Cow<'_, str> {
    if !document.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t' | '\r')) {
        return Cow::Borrowed(document);
    }
    let mut out = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        if is_hidden(c) && !matches!(c, '\n' | '\t' | '\r') {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The beginning of a text as one line, for a message that quotes what somebody else wrote: at most
/// so many characters of it, and `…` where there are more.
#[must_use]
pub fn beginning(text: &str, most_chars: usize) -> String {
    match text.char_indices().nth(most_chars) {
        Some((end, _)) => format!("{}…", one_line(&text[..end])),
        None => one_line(text).into_owned(),
    }
}

/// What is hidden as escapes, but for what `instead` says of it.
fn escaped(text: &str, instead: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    let stays = |c: char| !is_hidden(c) || instead(c) == Some(c);
    let Some(first) = text.find(|c| !stays(c)) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    for c in text[first..].chars() {
        match instead(c) {
            _ if !is_hidden(c) => out.push(c),
            Some(other) => out.push(other),
            None if c == '\r' => out.push_str("\\r"),
            None => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MARKS: &str = "\u{200e}\u{200f}\u{61c}\u{202a}\u{202e}\u{2066}\u{2069}";

    #[test]
    fn what_is_hidden_becomes_escapes() {
        assert_eq!(one_line("a\u{1b}[31mb\nc\u{7}\td\r"), "a\\u{1b}[31mb c\\u{7} d ");
        assert_eq!(lines("a\tb\nc\u{9b}2K\r\u{7f}"), "a\tb\nc\\u{9b}2K\\r\\u{7f}");
        let shown = "\\u{200e}\\u{200f}\\u{61c}\\u{202a}\\u{202e}\\u{2066}\\u{2069}";
        assert_eq!(one_line(MARKS), shown);
        assert!(matches!(lines("größer – 日本 ≤ e\u{301}\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_quotation_is_short() {
        assert_eq!(beginning("äb\u{1b}\n", 4), "äb\\u{1b} ");
        assert_eq!(beginning("äb\u{1b}\n", 2), "äb…");
        assert_eq!(beginning("", 0), "");
    }

    #[test]
    fn colours_alone_stay() {
        let bold = "\u{1b}[1mtitle\u{1b}[0m \u{1b}[38;5;1mred\u{1b}[m\n";
        assert_eq!(coloured_lines(bold), bold);
        assert_eq!(lines("\u{1b}[1m"), "\\u{1b}[1m");
        for other in ["\u{1b}[2J", "\u{1b}]0;t\u{7}", "\u{1b}[1", "\u{1b}", "\u{1b}é[0m"] {
            let shown = coloured_lines(other);
            assert!(shown.starts_with("\\u{1b}") && !shown.chars().any(is_hidden), "{shown:?}");
        }
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({"a\u{202e}": ["\u{7f}\u{1b}\u{e0001}é", MARKS]});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = json(&text);
        assert!(!shown.chars().any(|c| is_hidden(c) && c != '\n'), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in "[\\x00-\\x{2fff}\\x1b\\[0-9;mA\\x{9b}]{0,60}") {
            prop_assert!(!one_line(&text).chars().any(is_hidden));
            prop_assert!(!lines(&text).chars().any(|c| is_hidden(c) && !"\n\t".contains(c)));
            let coloured = coloured_lines(&text);
            let mut rest = coloured.as_ref();
            while let Some(at) = rest.find('\u{1b}') {
                let length = colour_length(&rest[at..]);
                prop_assert!(length > 0, "{coloured:?}");
                rest = &rest[at + length..];
            }
        }
    }
}
