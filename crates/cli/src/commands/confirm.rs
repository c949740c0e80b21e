//! Commands shown as they are before they are run, and a question on the terminal.
//!
//! What is shown cannot change how the rest of the screen looks.

use crate::context;
use anyhow::Result;
use fsarena_model::visible;
use std::io::Write as _;

/// Who runs what is started here.
pub fn this_user() -> &'static str {
    if context::is_root() { "root" } else { "this user" }
}

/// Asks on the terminal; no where that is gone.
pub fn is_answered(question: &str) -> Result<bool> {
    if write!(std::io::stderr(), "{question} [y/N] ").is_err() {
        return Ok(false);
    }
    let answer = context::typed_line()?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// A command as it can be shown: what would move the cursor, turn the text around or be no mark at
/// all is escaped, and further lines are indented.
pub fn shown(command: &str) -> String {
    let command = command.trim_end().replace('\t', "\\t");
    let mut text = String::new();
    for letter in visible::lines(&command).chars() {
        match letter {
            '\n' => text.push_str("\n    "),
            letter if is_blank(letter) => text.extend(letter.escape_unicode()),
            letter => text.push(letter),
        }
    }
    text
}

/// Letters and marks that are drawn as nothing, or as a space that is none to a shell.
fn is_blank(letter: char) -> bool {
    matches!(
        letter,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}'
            | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_shown_moves_the_cursor() {
        assert_eq!(shown("ls -l \"\u{e9}\"\n"), "ls -l \"\u{e9}\"");
        assert_eq!(shown("a\nb"), "a\n    b");
        let hidden = "rm -rf x\rls \u{1b}[8m\u{9b}2K\u{202e}\t\u{7f}";
        let wanted = r"rm -rf x\rls \u{1b}[8m\u{9b}2K\u{202e}\t\u{7f}";
        assert_eq!(shown(hidden), wanted);
        assert_eq!(shown("ls\u{a0}\u{3164}x\u{fe0f}"), r"ls\u{a0}\u{3164}x\u{fe0f}");
    }
}
