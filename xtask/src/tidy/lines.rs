//! A Rust file cut into code, comments and literals, line by line.
//!
//! By the compiler's own lexer, so that a rule about code does not trip over a word in a string or
//! a comment. It does not parse and never judges; that is what the rules do.

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};

/// One line of a Rust file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Line {
    /// Code only: the contents of literals and comments are blank.
    pub code: String,
    /// The text of comments on this line, doc comments included.
    pub comment: String,
    /// The contents of literals on this line, numbers left out.
    pub text: String,
    /// The line lies inside a string literal that spans lines, or touches a raw string.
    pub in_text: bool,
    /// The line belongs to an item under `#[cfg(test)]` or `#[test]`.
    pub in_test: bool,
}

/// Cuts `source` into lines and marks those of tests.
pub fn cut(source: &str) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut texts: Vec<(usize, &str)> = Vec::new();
    let mut rest = source;
    for token in tokenize(source, FrontmatterAllowed::No) {
        let (text, after) = rest.split_at(token.len as usize);
        rest = after;
        match token.kind {
            TokenKind::LineComment { .. } => push(&mut lines, text, |line| &mut line.comment),
            TokenKind::BlockComment { .. } => {
                let text = text.trim_start_matches("/*").trim_end_matches("*/");
                push(&mut lines, text, |line| &mut line.comment);
            }
            TokenKind::Literal { kind, .. } if !is_number(kind) => {
                let first = lines.len() - 1;
                for (number, piece) in text.split('\n').enumerate() {
                    texts.push((first + number, piece));
                }
                let quotes = format!("\"{}\"", "\n".repeat(text.matches('\n').count()));
                push(&mut lines, &quotes, |line| &mut line.code);
                let in_text = is_raw(kind) || lines.len() > first + 1;
                lines[first..].iter_mut().for_each(|line| line.in_text |= in_text);
            }
            _ => push(&mut lines, text, |line| &mut line.code),
        }
    }
    texts.into_iter().for_each(|(line, text)| lines[line].text.push_str(text));
    if source.is_empty() || source.ends_with('\n') {
        lines.pop();
    }
    mark_tests(&mut lines);
    lines
}

/// Adds `text`, which may span lines, to the part of the last line that `part` gives.
fn push(lines: &mut Vec<Line>, text: &str, part: fn(&mut Line) -> &mut String) {
    for (number, piece) in text.split('\n').enumerate() {
        if number > 0 {
            lines.push(Line::default());
        }
        part(lines.last_mut().expect("there is always a line")).push_str(piece);
    }
}

fn is_number(kind: LiteralKind) -> bool {
    matches!(kind, LiteralKind::Int { .. } | LiteralKind::Float { .. })
}

fn is_raw(kind: LiteralKind) -> bool {
    use LiteralKind::{RawByteStr, RawCStr, RawStr};
    matches!(kind, RawStr { .. } | RawByteStr { .. } | RawCStr { .. })
}

/// Marks from a test attribute to the end of the item that follows it.
fn mark_tests(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let end = match test_attribute(&lines[at].code) {
            Some(column) => item_end(lines, at, column),
            None => {
                at += 1;
                continue;
            }
        };
        for line in &mut lines[at..=end] {
            line.in_test = true;
        }
        at = end + 1;
    }
}

/// The column behind a test attribute.
pub fn test_attribute(code: &str) -> Option<usize> {
    ["#[cfg(test)]", "#[test]", "#[cfg(all(test"]
        .iter()
        .find_map(|mark| code.find(mark).map(|column| column + mark.len()))
}

/// The line on which the item starting behind `column` of line `first` ends.
fn item_end(lines: &[Line], first: usize, column: usize) -> usize {
    let mut depth = 0_usize;
    for (number, line) in lines.iter().enumerate().skip(first) {
        let code = if number == first { &line.code[column..] } else { line.code.as_str() };
        for c in code.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth <= 1 => return number,
                '}' => depth -= 1,
                ';' if depth == 0 => return number,
                _ => {}
            }
        }
    }
    lines.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> Vec<String> {
        cut(source).into_iter().map(|line| line.code.trim_end().to_owned()).collect()
    }

    #[test]
    fn literals_and_comments_are_not_code() {
        assert_eq!(code("let a = \"x.unwrap()\"; // unwrap\n"), ["let a = \"\";"]);
        assert_eq!(code("let a = r#\"say \"unsafe\" \"#;\n"), ["let a = \"\";"]);
        assert_eq!(code("let a = br##\"x\"# \"##;\n"), ["let a = \"\";"]);
        assert_eq!(code("a /* b /* c */ d */ e\n"), ["a  e"]);
        assert_eq!(code("let q = '\"'; let l: &'a str = \"\\\"\"; b();\n").len(), 1);
        assert!(code("let q = '\"'; let l: &'a str = \"\\\"\"; b();\n")[0].ends_with("b();"));
        assert!(code("let n = '\\n'; let q = '\\''; c();\n")[0].ends_with("c();"));
    }

    #[test]
    fn comments_keep_their_text() {
        let lines = cut("//! Doc.\nlet a = 1; // why\n/* one\ntwo */ b\n");
        assert_eq!(lines[0].comment, "//! Doc.");
        assert_eq!(lines[1].comment, "// why");
        assert_eq!((lines[2].comment.as_str(), lines[3].comment.as_str()), (" one", "two "));
        assert_eq!(lines[3].code, " b");
    }

    #[test]
    fn text_over_several_lines_is_marked() {
        let lines = cut("f(\n\"a\nb\\\nc\"\n);\nlet s = \"short\";\nlet r = r\"raw\";\n");
        let marks: Vec<bool> = lines.iter().map(|line| line.in_text).collect();
        assert_eq!(marks, [false, true, true, true, false, false, true]);
    }

    #[test]
    fn tests_are_marked_to_the_end_of_their_item() {
        let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {\n  }\n}\nfn c() {}\n";
        let marks: Vec<bool> = cut(source).iter().map(|line| line.in_test).collect();
        assert_eq!(marks, [false, true, true, true, true, true, false]);
        let marks: Vec<bool> =
            cut("#[cfg(test)]\nmod t;\nfn a() {}\n").iter().map(|line| line.in_test).collect();
        assert_eq!(marks, [true, true, false]);
        assert!(cut("#[test]\nfn a() {\n  b();\n}\n").iter().all(|line| line.in_test));
    }

    #[test]
    fn raw_identifiers_and_words_ending_in_r_are_code() {
        assert_eq!(code("let r#type = var\"x\";\n"), ["let r#type = var\"\";"]);
        assert_eq!(cut("").len(), 0);
    }
}
