//! What scripts on another machine say of their work on standard output ([`crate::script`]). It may
//! be anything: it is read line by line, with a limit, and what has no token is passed over.

use fsarena_bounded::{Bounded, TooLong};
use std::io::{self, BufRead};

/// Bytes of a line, at most.
const LINE_MAX_BYTES: u64 = 16 << 10;
/// Bytes that are passed over, at most: greetings of a login.
const PASSED_OVER_MAX_BYTES: u64 = 1 << 20;

/// A line of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Kernel and architecture, as uname(1) says them: `Linux x86_64`.
    Machine(String),
    /// The version of the program: `fsarena 0.1.0`.
    Version(String),
    /// The program is wanted on standard input.
    Send,
    /// Path of the program that is there now.
    Program(String),
    /// Directory of the RUN.
    Directory(String),
    /// So many bytes of a database follow.
    Database(u64),
}

/// Answers of one script, one after the other.
#[derive(Debug)]
pub struct Answers<R> {
    input: Bounded<R>,
    token: String,
    passed_over_bytes: u64,
}

impl<R: BufRead> Answers<R> {
    /// Those that begin with this token.
    pub fn new(input: R, token: &str) -> Self {
        let input = Bounded::new(input, LINE_MAX_BYTES);
        Self { input, token: token.to_owned(), passed_over_bytes: 0 }
    }

    /// The next one; `None` at the end.
    ///
    /// # Errors
    /// When it cannot be read; `InvalidData` where it is too long or not one of ours.
    pub fn next_answer(&mut self) -> io::Result<Option<Answer>> {
        loop {
            let Some(line) = self.next_line()? else { return Ok(None) };
            let text = String::from_utf8_lossy(&line);
            let Some(rest) = text.strip_prefix(&self.token).and_then(|rest| rest.strip_prefix(' '))
            else {
                self.passed_over_bytes += line.len() as u64;
                if self.passed_over_bytes > PASSED_OVER_MAX_BYTES {
                    return Err(invalid("the host prints more than 1 MiB that was not asked for"));
                }
                continue;
            };
            let Some(rest) = rest.strip_suffix('\n') else {
                return Err(invalid("a line of the host is cut off"));
            };
            return parse_answer(rest)
                .map(Some)
                .ok_or_else(|| invalid("the host answers what was not asked"));
        }
    }

    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.input.next_line().map_err(|error| match TooLong::in_error(&error) {
            Some(too_long) => invalid(&format!("the host prints {too_long} in one line")),
            None => error,
        })
    }

    /// What follows the last answer.
    pub fn rest(&mut self) -> &mut R {
        self.input.rest()
    }
}

fn parse_answer(line: &str) -> Option<Answer> {
    let (word, value) = line.split_once(' ').unwrap_or((line, ""));
    let value = value.trim_end_matches('\r').to_owned();
    match word {
        "machine" => Some(Answer::Machine(value)),
        "version" => Some(Answer::Version(value)),
        "send" if value.is_empty() => Some(Answer::Send),
        "program" if value.starts_with('/') => Some(Answer::Program(value)),
        "directory" => Some(Answer::Directory(value)),
        "database" => Some(Answer::Database(value.parse().ok()?)),
        _ => None,
    }
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Vec<Answer>, String> {
        let mut answers = Answers::new(text, "T");
        let mut all = Vec::new();
        loop {
            match answers.next_answer() {
                Ok(Some(answer)) => all.push(answer),
                Ok(None) => return Ok(all),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    #[test]
    fn lines_with_the_token_are_answers() {
        let text =
            b"Welcome to \xff\nT machine Linux x86_64\nTx y\nT version fsarena 0.1.0\nT send\n\
                     T program /a b\nT directory /tmp/x\nT database 7\n";
        let wanted = [
            Answer::Machine("Linux x86_64".to_owned()),
            Answer::Version("fsarena 0.1.0".to_owned()),
            Answer::Send,
            Answer::Program("/a b".to_owned()),
            Answer::Directory("/tmp/x".to_owned()),
            Answer::Database(7),
        ];
        assert_eq!(read(text).unwrap(), wanted);
        assert_eq!(read(b"").unwrap(), []);
    }

    #[test]
    fn what_follows_an_answer_is_the_callers() {
        let mut answers = Answers::new(&b"T database 3\nabcT send\n"[..], "T");
        assert_eq!(answers.next_answer().unwrap(), Some(Answer::Database(3)));
        assert_eq!(*answers.rest(), b"abcT send\n");
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for text in ["T", "T other\n", "T database -1\n", "T program x\n", "T send it\n"] {
            let is_cut = text == "T";
            assert_eq!(read(text.as_bytes()).is_err(), !is_cut, "{text}");
        }
        assert!(read(b"T version fsarena").unwrap_err().contains("cut off"));
        let long = format!("T version {}\n", "x".repeat(20_000));
        assert!(read(long.as_bytes()).unwrap_err().contains("more than 16 KiB in one line"));
        let lines = "x\n".repeat(1 << 20);
        assert!(read(lines.as_bytes()).unwrap_err().contains("1 MiB that was not asked for"));
    }
}
