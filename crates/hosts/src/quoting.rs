//! Words for the shell of another machine. ssh joins what it is given with spaces and hands it to
//! the login shell there, which may be any.

/// `word` as one word of a login shell: sh, bash, dash, zsh, fish and csh alike. What these read
/// differently between single quotes stands outside of them, behind a backslash. csh alone takes
/// no line feed.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let mut text = String::with_capacity(word.len() + 8);
    let mut is_open = false;
    for c in word.chars() {
        let is_outside = matches!(c, '\'' | '\\' | '!');
        if is_open == is_outside {
            text.push('\'');
            is_open = !is_open;
        }
        if is_outside {
            text.push('\\');
        }
        text.push(c);
    }
    if is_open {
        text.push('\'');
    }
    if text.is_empty() { "''".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    /// What a shell makes of words that were quoted and joined, as ssh joins them.
    fn read_by(shell: &str, words: &[String]) -> Option<Vec<String>> {
        let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let line = format!("exec printf '%s\\0' {}", line.join(" "));
        let ran = Command::new(shell).args(["-c", &line]).output().ok()?;
        let text = String::from_utf8(ran.stdout).unwrap();
        Some(text.split_terminator('\0').map(str::to_owned).collect())
    }

    const ATTACKS: [&str; 14] = [
        "",
        "plain",
        "a b",
        "it's",
        "'; touch /tmp/x; '",
        "\\",
        "\\'",
        "'\\''",
        "$(id) `id` ${HOME}",
        "!! !x",
        "~root *? [a-z] {a,b} #x =ls",
        "\"double\" & | < > ( )",
        "--option=a",
        "größer 日本 \u{1b}[31m\t",
    ];

    #[test]
    fn words_come_out_as_they_went_in() {
        let words: Vec<String> = ATTACKS.iter().map(|&word| word.to_owned()).collect();
        // Those that are installed; sh always is.
        for shell in ["sh", "bash", "dash", "zsh", "fish", "tcsh", "csh"] {
            if let Some(read) = read_by(shell, &words) {
                assert_eq!(read, words, "{shell}");
            }
        }
        assert_eq!(read_by("sh", &["a\nb\n".to_owned()]).unwrap(), ["a\nb\n"]);
    }

    #[test]
    fn plain_words_stay_as_they_are() {
        assert_eq!(quoted("/usr/bin/fsarena"), "/usr/bin/fsarena");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(r"\"), r"\\");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_words_come_out_as_they_went_in(
            words in prop::collection::vec("[^\0]{0,12}|[ '\"\\\\!$`\n]{0,12}", 1..12)
        ) {
            prop_assert_eq!(read_by("sh", &words).unwrap(), words);
        }
    }
}
