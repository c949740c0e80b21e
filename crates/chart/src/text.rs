//! Text of a drawing: escaped, measured and shortened.
//!
//! How wide a text becomes is only known by who shows it; the estimate here is that of a wide
//! sans-serif face (DejaVu Sans): most faces need less room, few need more.

use unicode_width::UnicodeWidthChar;

/// Height of the letters of tick labels and values, in units of the drawing.
pub(crate) const SMALL: f64 = 12.0;
/// The same for labels.
pub(crate) const LARGE: f64 = 13.0;

/// Text as it stands in an element or an attribute. What XML cannot hold, and what would turn the
/// order of letters outside it, becomes U+FFFD.
pub(crate) fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            _ if unfit(letter) => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
}

/// `words` of a text that [`escape`] has written, written likewise.
pub(crate) fn replaced(escaped: &str, words: &impl Fn(&str) -> String, out: &mut String) {
    let signs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    let plain = signs.iter().fold(escaped.to_owned(), |text, (own, sign)| text.replace(own, sign));
    match plain.trim() {
        "" => out.push_str(escaped),
        _ => escape(&words(&plain), out),
    }
}

fn unfit(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{fffe}' | '\u{ffff}')
        || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Estimated width of a text, in units, in letters of this height.
pub(crate) fn wide(text: &str, size: f64) -> f64 {
    text.chars().map(ems).sum::<f64>() * size
}

fn ems(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '!' | '\'' | ' ' | 'I' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '%' | '…' | '@' | '—' => 0.98,
        'A'..='Z' | '+' | '<' | '>' | '=' | '×' | '÷' | '~' => 0.75,
        'a'..='z' => 0.625,
        _ => match letter.width() {
            Some(0) => 0.0,
            Some(2..) => 1.05,
            _ => 0.64,
        },
    }
}

/// The text, or as much of its beginning as has room, and an ellipsis.
pub(crate) fn shorten(text: &str, room: f64, size: f64) -> String {
    // Room that was measured by the same text is the same but for rounding.
    if wide(text, size) <= room + 0.01 {
        return text.to_owned();
    }
    let room = room - wide("…", size);
    let mut taken = 0.0;
    let fits = |letter: &char| {
        taken += ems(*letter) * size;
        taken <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    format!("{}…", kept.trim_end())
}

/// Pieces of a text between which a line may be broken.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive([' ', '/', ',', '-'])
}

/// The text in at most `most` lines, broken after spaces, slashes, commas and hyphens; what has no
/// room is shortened.
pub(crate) fn wrap(text: &str, room: f64, size: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in words(text) {
        let last = lines.len() - 1;
        let longer = format!("{}{word}", lines[last]);
        let fits = wide(longer.trim_end(), size) <= room;
        if fits || lines[last].is_empty() || lines.len() == most {
            lines[last] = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.iter().map(|line| shorten(line.trim(), room, size)).collect()
}

/// The width of the widest of these, within bounds.
pub(crate) fn column<'a>(
    texts: impl Iterator<Item = &'a str>,
    size: f64,
    (least, most): (f64, f64),
) -> f64 {
    texts.map(|text| wide(text, size)).fold(0.0, f64::max).clamp(least, most)
}

/// Longest name of a file, so that an end and a number have room in it.
const NAME_CHARS: usize = 120;

/// Words as the name of a file: lower case letters, digits, and a `-` between them.
pub(crate) fn slug(parts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut name = String::new();
    for part in parts {
        for letter in part.as_ref().chars().chain(['-']).take(NAME_CHARS) {
            if letter.is_ascii_alphanumeric() {
                name.push(letter.to_ascii_lowercase());
            } else if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
        }
    }
    name.truncate(NAME_CHARS);
    let name = name.trim_end_matches('-');
    if name.is_empty() { "chart".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = String::new();
        escape(text, &mut out);
        out
    }

    #[test]
    fn what_means_something_to_xml_is_escaped_and_what_it_cannot_hold_replaced() {
        assert_eq!(escaped("<script>&\"'"), "&lt;script&gt;&amp;&quot;&#39;");
        assert_eq!(
            escaped("a\0b\u{1b}c\nd\u{202e}e\u{ffff}"),
            "a\u{fffd}b\u{fffd}c d\u{fffd}e\u{fffd}"
        );
        assert_eq!(escaped("grün 漢字"), "grün 漢字");
    }

    #[test]
    fn words_of_an_escaped_text_are_escaped() {
        let mut out = String::new();
        replaced("a &lt; b &amp;amp; &#39;c&#39;", &|text| text.replace('b', "<d>"), &mut out);
        assert_eq!(out, "a &lt; &lt;d&gt; &amp;amp; &#39;c&#39;");
    }

    #[test]
    fn long_text_is_shortened_to_its_room_and_short_text_is_left() {
        assert_eq!(shorten("ext4", 100.0, SMALL), "ext4");
        let short = shorten(&"contender ".repeat(20), 100.0, SMALL);
        assert!(short.ends_with('…') && wide(&short, SMALL) <= 100.0, "{short}");
        assert_eq!(shorten("abc", 0.0, SMALL), "…");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("ports tree, copy", 50.0, SMALL, 3), ["ports", "tree,", "copy"]);
        assert_eq!(wrap("ports tree copy", 200.0, SMALL, 3), ["ports tree copy"]);
        assert_eq!(wrap("", 50.0, SMALL, 3), [""]);
        let lines = wrap(&"word ".repeat(40), 60.0, SMALL, 3);
        assert_eq!(lines.len(), 3);
        assert!(lines[2].ends_with('…'), "{lines:?}");
    }

    #[test]
    fn names_of_files_are_lower_case_and_have_an_end() {
        assert_eq!(slug(["Small Files", "create", "time"]), "small-files-create-time");
        assert_eq!(slug(["../\u{1f980}", ""]), "chart");
        assert_eq!(slug(["x".repeat(400)]).len(), NAME_CHARS);
    }
}
