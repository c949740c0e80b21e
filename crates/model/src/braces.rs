//! Words in braces, filled into shell commands of the user's: `{mnt}`, `{data}`, `{dev}`.
//!
//! `{{` and `}}` are braces, and `${` begins a variable of the shell, which is left as it is. Any
//! other word in braces is an error: a command with a hole in it must not run. Values are put in as
//! single words of the shell, whatever bytes they are made of.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// A word in braces that has no value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{word} has no meaning here (known: {known}); write {{{{ and }}}} for braces")]
pub struct Unfilled {
    /// The word, with its braces.
    pub word: String,
    /// The words that have one, with their braces, one after the other.
    pub known: String,
}

/// Words that a command of real work may hold ([`crate::job::Command`]): the root of the file
/// system under test, and the source.
pub const OF_COMMANDS: [&str; 2] = ["{mnt}", "{data}"];

/// A part of a command.
enum Part<'a> {
    /// As it is.
    Text(&'a str),
    /// In braces, these included; an open end is one too.
    Word(&'a str),
}

/// The parts of `command`, one after the other.
fn parts(command: &str) -> impl Iterator<Item = Part<'_>> {
    let (mut rest, mut word) = (command, None);
    std::iter::from_fn(move || {
        if let Some(word) = word.take() {
            return Some(Part::Word(word));
        }
        if rest.is_empty() {
            return None;
        }
        let at = rest.find(['{', '}']).unwrap_or(rest.len());
        let (before, brace) = rest.split_at(at);
        // Of a double brace the first is text.
        let doubled = brace.starts_with("{{") || brace.starts_with("}}");
        let end = if doubled { 2 } else { brace.find('}').map_or(brace.len(), |end| end + 1) };
        let text = if doubled {
            &rest[..=at]
        } else if before.ends_with('$') {
            &rest[..at + end]
        } else {
            word = (end > 0).then_some(&brace[..end]);
            before
        };
        rest = &brace[end..];
        Some(Part::Text(text))
    })
}

/// The words in braces of `command`, these included, in their order; an open end is one too.
pub fn words(command: &str) -> impl Iterator<Item = &str> {
    parts(command).filter_map(|part| match part {
        Part::Text(_) => None,
        Part::Word(word) => Some(word),
    })
}

/// `command` with each word in braces replaced by its value, as it is (see [`quoted`]); `values`
/// are words with their braces, and what they stand for.
///
/// # Errors
/// The first word without a value; an opening brace that is never closed counts as one.
pub fn fill(command: &str, values: &[(&str, &OsStr)]) -> Result<OsString, Unfilled> {
    let mut text = Vec::with_capacity(command.len() + 64);
    for part in parts(command) {
        match part {
            Part::Text(plain) => text.extend_from_slice(plain.as_bytes()),
            Part::Word(word) => {
                let value = values.iter().find(|(known, _)| *known == word);
                let (_, value) = value.ok_or_else(|| {
                    let known: Vec<&str> = values.iter().map(|(known, _)| *known).collect();
                    Unfilled { word: word.to_owned(), known: known.join(" ") }
                })?;
                text.extend_from_slice(value.as_bytes());
            }
        }
    }
    Ok(OsString::from_vec(text))
}

/// Checks a command of real work without filling anything in.
///
/// # Errors
/// As [`fill`].
pub fn check_command(command: &str) -> Result<(), Unfilled> {
    fill(command, &OF_COMMANDS.map(|word| (word, OsStr::new("")))).map(drop)
}

/// `text` as one word of a shell.
#[must_use]
pub fn quoted(text: &OsStr) -> OsString {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_=./,:@^+%".contains(byte);
    let bytes = text.as_bytes();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return text.to_owned();
    }
    let mut word = vec![b'\''];
    for &byte in bytes {
        match byte {
            b'\'' => word.extend_from_slice(br"'\''"),
            other => word.push(other),
        }
    }
    word.push(b'\'');
    OsString::from_vec(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(command: &str) -> Result<String, String> {
        let values = [("{mnt}", OsStr::new("/m")), ("{data}", OsStr::new("'/d d'"))];
        let text = fill(command, &values).map_err(|error| error.to_string())?;
        Ok(text.into_string().unwrap())
    }

    #[test]
    fn words_are_filled_in_and_braces_stay() {
        assert_eq!(
            filled("x {mnt}/a {data} {{y}} ${HOME} ${mnt} }}{{").unwrap(),
            "x /m/a '/d d' {y} ${HOME} ${mnt} }{"
        );
        assert_eq!(filled("").unwrap(), "");
        assert_eq!(filled("\u{e9}{mnt}\u{e9}").unwrap(), "\u{e9}/m\u{e9}");
    }

    #[test]
    fn words_are_those_that_are_filled_in() {
        let all = |command| words(command).collect::<Vec<_>>();
        assert_eq!(all("x {mnt}{data} {{y}} ${HOME} }}{{ {dev"), ["{mnt}", "{data}", "{dev"]);
        assert_eq!(all("}{a}"), ["}", "{a}"]);
        assert_eq!(all("plain"), [""; 0]);
    }

    #[test]
    fn a_word_without_a_value_is_named() {
        assert_eq!(
            filled("mkfs {disk}").unwrap_err(),
            "{disk} has no meaning here (known: {mnt} {data}); write {{ and }} for braces"
        );
        for wrong in ["{mnt", "}", "a } b", "{}", "{ mnt }"] {
            assert!(filled(wrong).is_err(), "{wrong}");
            assert!(check_command(wrong).is_err(), "{wrong}");
        }
        assert_eq!(check_command("cp -r {data} {mnt}/x; echo ${x} {{1,2}}"), Ok(()));
    }

    #[test]
    fn words_are_quoted_for_the_shell_whatever_they_are_made_of() {
        let word = |text: &[u8]| quoted(OsStr::from_bytes(text)).into_vec();
        assert_eq!(word(b"/dev/loop0"), b"/dev/loop0");
        assert_eq!(word(b"a b'c"), br"'a b'\''c'");
        assert_eq!(word(b""), b"''");
        assert_eq!(word(b"\xff$(id)"), b"'\xff$(id)'");
    }
}
