//! Words of what others wrote, as far as they may stand in a sentence of ours: short, in one line,
//! and without control characters.

use std::borrow::Cow;

/// Characters that are quoted at most.
const QUOTED: usize = 40;

/// The text with its control characters written out (`\n`, `\u{1b}`), so that no terminal obeys
/// them.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let one = |c: char| match is_control(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(one).collect())
}

/// Those of Unicode, and what turns the direction of a line round.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The beginning of a text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("\"{}…\"", escaped(&text[..end])),
        None => format!("\"{}\"", escaped(text)),
    }
}

/// The first line of a text that has words, in quotes.
pub(crate) fn first_line(text: &str) -> String {
    quoted(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_short_and_harmless() {
        assert_eq!(quoted("a\n\u{1b}[31mb\u{202e}"), "\"a\\n\\u{1b}[31mb\\u{202e}\"");
        assert_eq!(first_line("\n \n  word\nmore"), "\"word\"");
        assert_eq!(quoted(&"ä".repeat(999)).chars().count(), QUOTED + 3);
    }
}
