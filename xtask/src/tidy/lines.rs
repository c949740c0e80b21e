//! A Rust file cut into code, comments and literals, line by line.
//!
//! Enough of a lexer for style rules: a rule about code must not trip over a word in a string or
//! a comment. It does not parse and never judges; that is what the rules do.

/// One line of a Rust file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Line {
    /// Code only: the contents of literals and comments are blank.
    pub code: String,
    /// The text of comments on this line, doc comments included.
    pub comment: String,
    /// The line lies inside a string literal that spans lines, or touches a raw string.
    pub in_text: bool,
    /// The line belongs to an item under `#[cfg(test)]` or `#[test]`.
    pub in_test: bool,
}

enum State {
    Code,
    LineComment,
    BlockComment(usize),
    Text,
    RawText(usize),
}

/// Cuts `source` into lines and marks those of tests.
pub fn cut(source: &str) -> Vec<Line> {
    let mut lexer = Lexer { state: State::Code, lines: vec![Line::default()] };
    let chars: Vec<char> = source.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        at += lexer.step(&chars, at);
    }
    if source.is_empty() || source.ends_with('\n') {
        lexer.lines.pop();
    }
    let mut lines = lexer.lines;
    mark_tests(&mut lines);
    lines
}

struct Lexer {
    state: State,
    lines: Vec<Line>,
}

impl Lexer {
    /// Consumes what starts at `at` and returns its length in characters.
    fn step(&mut self, chars: &[char], at: usize) -> usize {
        let here = chars[at];
        let next = chars.get(at + 1).copied();
        if here == '\n' {
            self.end_line();
            return 1;
        }
        match self.state {
            State::Code => return self.code(chars, at),
            State::LineComment => self.line().comment.push(here),
            State::BlockComment(depth) => match (here, next) {
                ('*', Some('/')) => {
                    self.state =
                        if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
                    return 2;
                }
                ('/', Some('*')) => {
                    self.state = State::BlockComment(depth + 1);
                    return 2;
                }
                _ => self.line().comment.push(here),
            },
            State::Text => match here {
                // A line break after a backslash still has to end the line.
                '\\' if next != Some('\n') => return 2,
                '"' => self.close_text(),
                _ => {}
            },
            State::RawText(hashes) => {
                self.line().in_text = true;
                if here == '"' && count_hashes(chars, at + 1) >= hashes {
                    self.close_text();
                    return 1 + hashes;
                }
            }
        }
        1
    }

    fn code(&mut self, chars: &[char], at: usize) -> usize {
        let next = chars.get(at + 1).copied();
        match chars[at] {
            '/' if next == Some('/') => {
                self.state = State::LineComment;
                self.line().comment.push_str("//");
                2
            }
            '/' if next == Some('*') => {
                self.state = State::BlockComment(1);
                2
            }
            '"' => {
                self.state = State::Text;
                self.line().code.push('"');
                1
            }
            'r' | 'b' | 'c' if !joins_a_word(chars, at) => self.prefixed(chars, at),
            '\'' => self.quote(chars, at),
            other => {
                self.line().code.push(other);
                1
            }
        }
    }

    /// `r"`, `r#"`, `br#"`, `cr"`; anything else is an ordinary letter.
    fn prefixed(&mut self, chars: &[char], at: usize) -> usize {
        let mut end = at;
        while matches!(chars.get(end), Some('r' | 'b' | 'c')) && end - at < 2 {
            end += 1;
        }
        let hashes = count_hashes(chars, end);
        let raw = chars[at..end].contains(&'r');
        if raw && chars.get(end + hashes) == Some(&'"') {
            self.state = State::RawText(hashes);
            self.line().code.push('"');
            self.line().in_text = true;
            return end + hashes + 1 - at;
        }
        self.line().code.push(chars[at]);
        1
    }

    /// A character literal is skipped, a lifetime is code.
    fn quote(&mut self, chars: &[char], at: usize) -> usize {
        let literal = match chars.get(at + 1) {
            Some('\\') => chars[at + 3..].iter().position(|&c| c == '\'').map(|end| end + 4),
            Some(_) if chars.get(at + 2) == Some(&'\'') => Some(3),
            _ => None,
        };
        self.line().code.push('\'');
        literal.unwrap_or(1)
    }

    fn line(&mut self) -> &mut Line {
        self.lines.last_mut().expect("there is always a line")
    }

    fn close_text(&mut self) {
        self.line().code.push('"');
        self.state = State::Code;
    }

    fn end_line(&mut self) {
        if matches!(self.state, State::LineComment) {
            self.state = State::Code;
        }
        let in_text = matches!(self.state, State::Text | State::RawText(_));
        self.line().in_text |= in_text;
        self.lines.push(Line { in_text, ..Line::default() });
    }
}

fn count_hashes(chars: &[char], from: usize) -> usize {
    chars[from.min(chars.len())..].iter().take_while(|&&c| c == '#').count()
}

/// Whether the character before `at` makes the one at `at` part of an identifier.
fn joins_a_word(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_')
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
