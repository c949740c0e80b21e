//! What a renderer of Markdown for terminals leaves to its caller: links, and paragraphs of several
//! lines. Not a parser: it knows what the texts of this repository contain.

/// The first sentence below the title; the title where something else than a paragraph follows it.
pub(super) fn summary(text: &str) -> String {
    let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let below = text.split_once(title).map_or("", |(_, below)| below).trim_start();
    let paragraph: Vec<&str> = below.lines().take_while(|line| !line.is_empty()).collect();
    let paragraph = without_links(&paragraph.join(" "), &|_| None);
    if !paragraph.starts_with(|first: char| first.is_alphanumeric()) {
        return title.to_owned();
    }
    let end = paragraph.match_indices(['.', '?']).find(|(at, mark)| {
        let rest = &paragraph[at + mark.len()..];
        rest.is_empty() || rest.starts_with(' ')
    });
    let first = end.map_or(paragraph.as_str(), |(at, mark)| &paragraph[..at + mark.len()]);
    first.trim_end().trim_end_matches(['.', ':']).replace('`', "")
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

/// Links outside of code as their texts, with what `instead` says of their targets behind them;
/// pictures as what they show.
pub(super) fn without_links(text: &str, instead: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for (line, in_code) in lines(text) {
        let mut rest = line;
        while let Some((before, label, target, after)) = link(rest).filter(|_| !in_code) {
            match before.strip_suffix('!') {
                Some(before) => out.push_str(&format!("{before}(picture: {label})")),
                None => {
                    out.push_str(before);
                    out.push_str(label);
                    if let Some(text) = instead(target).filter(|text| *text != format!("`{label}`"))
                    {
                        out.push_str(&format!(" ({text})"));
                    }
                }
            }
            rest = after;
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

/// The first link of a line: what stands before it, its text, its target, what stands behind it.
fn link(line: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = line.find("](")?;
    let start = line[..middle].rfind('[')?;
    let end = middle + line[middle..].find(')')?;
    Some((&line[..start], &line[start + 1..middle], &line[middle + 2..end], &line[end + 1..]))
}

/// Each paragraph and item of a list on one line, so that it fills the width of any terminal.
pub(super) fn joined(text: &str) -> String {
    let mut out = String::new();
    let mut open = false;
    for (line, in_code) in lines(text) {
        let words = line.trim_start();
        let goes_on = open && !in_code && !words.is_empty() && !begins_something(words);
        if goes_on {
            out.push(' ');
            out.push_str(words);
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
        let alone = words.is_empty() || words.starts_with(['#', '|']) || words.starts_with("```");
        open = !in_code && !alone;
    }
    out.push('\n');
    out
}

/// Whether a line of text is not the rest of the paragraph before it.
fn begins_something(words: &str) -> bool {
    let number = words.split_once(". ").map(|(number, _)| number);
    let numbered = number
        .is_some_and(|digits| digits.len() <= 2 && digits.bytes().all(|b| b.is_ascii_digit()));
    numbered || ["* ", "- ", "#", "|", "```", ">"].iter().any(|mark| words.starts_with(mark))
}

/// Lines, each with whether it lies in a block of code; its fences count as text.
fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut in_code = false;
    text.lines().map(move |line| {
        let fence = line.trim_start().starts_with("```");
        if fence {
            in_code = !in_code;
        }
        (line, in_code && !fence)
    })
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
    fn links_become_text() {
        let known = |target: &str| (target == "a.md").then(|| "`fsarena doc a`".to_owned());
        let of = |text: &str| without_links(text, &known);
        assert_eq!(of("see [A](a.md), [B](b.md)."), "see A (`fsarena doc a`), B.\n");
        assert_eq!(of("![a trial](x.svg)"), "(picture: a trial)\n");
        assert_eq!(of("```\na[0](1)\n```"), "```\na[0](1)\n```\n");
        assert_eq!(of("a [list] (of no links"), "a [list] (of no links\n");
    }

    #[test]
    fn paragraphs_and_items_become_lines() {
        let text =
            "# T\none\ntwo\n\n* a\n  b\n* c\n1. d\n   e\n\n| x |\n| y |\n```\nk\nl\n```\nf\ng\n";
        let made = "# T\none two\n\n* a b\n* c\n1. d e\n\n| x |\n| y |\n```\nk\nl\n```\nf g\n";
        assert_eq!(joined(text), made);
    }
}
