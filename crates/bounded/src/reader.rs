//! The reader: pieces of what is read, a line or all that there is, and none longer than was said.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Why a piece was not read: it goes on behind the most that it may have. It comes within an
/// [`io::Error`] of the kind `InvalidData`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong {
    /// Bytes that a piece may have.
    pub most_bytes: u64,
}

impl TooLong {
    /// The one that an error of a [`Bounded`] is, where it is one.
    #[must_use]
    pub fn in_error(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }

    fn error(most_bytes: u64) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Self { most_bytes })
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = match self.most_bytes {
            bytes if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => (bytes >> 20, "MiB"),
            bytes if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => (bytes >> 10, "KiB"),
            bytes => (bytes, "bytes"),
        };
        write!(out, "more than {number} {unit}")
    }
}

impl std::error::Error for TooLong {}

/// A reader of which no piece, a line or all that is left, may be longer than was said. A piece
/// that is longer is an error ([`TooLong`]), for which no more than that was read.
#[derive(Debug)]
pub struct Bounded<R> {
    input: R,
    most_bytes: u64,
}

impl Bounded<File> {
    /// The file at `path`, to be read whole.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: impl AsRef<Path>, most_bytes: u64) -> io::Result<Self> {
        Ok(Self::new(File::open(path)?, most_bytes))
    }
}

impl<R> Bounded<R> {
    /// Pieces of `input`, each of at most so many bytes.
    pub const fn new(input: R, most_bytes: u64) -> Self {
        Self { input, most_bytes }
    }

    /// What is read from.
    pub const fn get_ref(&self) -> &R {
        &self.input
    }

    /// What follows the pieces that were read, without a limit.
    pub const fn rest(&mut self) -> &mut R {
        &mut self.input
    }

    /// The error of a piece of `length` bytes, if that is too many.
    fn check(&self, length: usize) -> io::Result<()> {
        if length as u64 > self.most_bytes {
            return Err(TooLong::error(self.most_bytes));
        }
        Ok(())
    }
}

impl<R: Read> Bounded<R> {
    /// All that is left.
    ///
    /// # Errors
    /// When it cannot be read, or is too long.
    pub fn whole(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.input).take(self.most_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        self.check(bytes.len())?;
        Ok(bytes)
    }

    /// All that is left, as text.
    ///
    /// # Errors
    /// As [`Self::whole`], and when it is not UTF-8.
    pub fn whole_text(&mut self) -> io::Result<String> {
        text(self.whole()?)
    }

    /// As much as a piece may have, or all that is left where that is less: what goes on behind it
    /// is left where it is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn beginning(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.input).take(self.most_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl<R: BufRead> Bounded<R> {
    /// The next line with its line feed, which the last one may lack; `None` at the end.
    ///
    /// # Errors
    /// When it cannot be read, or is too long.
    pub fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let most_bytes = self.most_bytes.saturating_add(1);
        (&mut self.input).take(most_bytes).read_until(b'\n', &mut line)?;
        self.check(line.len())?;
        Ok((!line.is_empty()).then_some(line))
    }

    /// The next line, or of one that is too long as much as a piece may have; the rest of it is the
    /// next one. `None` at the end.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn next_line_or_part(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut self.input).take(self.most_bytes).read_until(b'\n', &mut line)?;
        Ok((!line.is_empty()).then_some(line))
    }

    /// The next line as text.
    ///
    /// # Errors
    /// As [`Self::next_line`], and when it is not UTF-8.
    pub fn next_text_line(&mut self) -> io::Result<Option<String>> {
        self.next_line()?.map(text).transpose()
    }
}

impl<R: Read> Bounded<BufReader<R>> {
    /// The next line as text, of a reader that may be waited for: `wait` is called before each read
    /// that may have to wait, so that nobody who sends the beginning of a line holds up the reader.
    ///
    /// # Errors
    /// As [`Self::next_text_line`], and what `wait` says.
    pub fn next_text_line_when(
        &mut self,
        mut wait: impl FnMut(&R) -> io::Result<()>,
    ) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            if self.input.buffer().is_empty() {
                wait(self.input.get_ref())?;
            }
            let there = match self.input.fill_buf() {
                Ok(there) => there,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = there.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let taken = end.unwrap_or(there.len());
            let is_end = end.is_some() || there.is_empty();
            line.extend_from_slice(&there[..taken]);
            self.input.consume(taken);
            self.check(line.len())?;
            if is_end {
                return (!line.is_empty()).then_some(line).map(text).transpose();
            }
        }
    }
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("it is no text in UTF-8 (byte {at})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// Gives bytes for ever, and counts them.
    struct Endless<'a>(&'a Cell<u64>);

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            self.0.set(self.0.get() + buffer.len() as u64);
            Ok(buffer.len())
        }
    }

    type Call = fn(&mut Bounded<BufReader<Endless<'_>>>) -> io::Error;

    #[test]
    fn what_never_ends_is_left_at_the_limit() {
        const MOST: u64 = 1 << 20;
        let calls: [Call; 5] = [
            |input| input.whole().unwrap_err(),
            |input| input.whole_text().unwrap_err(),
            |input| input.next_line().unwrap_err(),
            |input| input.next_text_line().unwrap_err(),
            |input| input.next_text_line_when(|_| Ok(())).unwrap_err(),
        ];
        for call in calls {
            let read = Cell::new(0);
            let error = call(&mut Bounded::new(BufReader::new(Endless(&read)), MOST));
            assert_eq!(TooLong::in_error(&error), Some(TooLong { most_bytes: MOST }));
            assert_eq!(error.to_string(), "more than 1 MiB");
            assert!(read.get() < 2 * MOST, "{} bytes were read", read.get());
        }
        let read = Cell::new(0);
        let beginning = Bounded::new(Endless(&read), MOST).beginning().unwrap();
        assert_eq!(beginning.len() as u64, MOST);
        for (most_bytes, words) in [(16 << 10, "more than 16 KiB"), (1025, "more than 1025 bytes")]
        {
            assert_eq!(TooLong { most_bytes }.to_string(), words);
        }
    }

    #[test]
    fn a_piece_may_be_as_long_as_was_said() {
        let lines = |most_bytes| Bounded::new(&b"abc\nde"[..], most_bytes);
        assert_eq!(lines(6).whole_text().unwrap(), "abc\nde");
        assert!(lines(5).whole().is_err());
        let mut four = lines(4);
        assert_eq!(four.next_text_line().unwrap().as_deref(), Some("abc\n"));
        assert_eq!(four.next_line().unwrap().as_deref(), Some(&b"de"[..]));
        assert_eq!(four.next_line().unwrap(), None);
        assert!(lines(3).next_line().is_err());
        let mut parts = lines(3);
        for part in [&b"abc"[..], b"\n", b"de"] {
            assert_eq!(parts.next_line_or_part().unwrap().as_deref(), Some(part));
        }
        assert_eq!(parts.next_line_or_part().unwrap(), None);
        let mut again = lines(4);
        again.next_line().unwrap();
        assert_eq!(*again.rest(), b"de");
        let bad = Bounded::new(&b"a\xff"[..], 9).whole_text().unwrap_err();
        assert_eq!(bad.to_string(), "it is no text in UTF-8 (byte 1)");
        assert_eq!(TooLong::in_error(&bad), None);
    }

    #[test]
    fn who_sends_half_a_line_is_waited_for_no_longer_than_is_said() {
        let mut input = Bounded::new(BufReader::new(&b"half"[..]), 99);
        let mut left = 1;
        let error = input.next_text_line_when(|_| match left {
            0 => Err(io::ErrorKind::TimedOut.into()),
            _ => {
                left -= 1;
                Ok(())
            }
        });
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn a_file_is_opened_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        assert!(Bounded::open(&path, 1).is_err());
        std::fs::write(&path, "ab").unwrap();
        assert_eq!(Bounded::open(&path, 2).unwrap().whole_text().unwrap(), "ab");
        assert!(Bounded::open(&path, 1).unwrap().whole().is_err());
    }

    proptest! {
        #[test]
        fn lines_come_whole_however_they_are_read(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'x')], 0..40),
            capacity in 1_usize..9,
        ) {
            let by_line = |when: bool| {
                let input = BufReader::with_capacity(capacity, &bytes[..]);
                let mut input = Bounded::new(input, 64);
                let mut all = Vec::new();
                while let Some(line) = match when {
                    true => input.next_text_line_when(|_| Ok(())).unwrap(),
                    false => input.next_text_line().unwrap(),
                } {
                    all.push(line);
                }
                all
            };
            let lines = by_line(false);
            prop_assert_eq!(lines.concat().into_bytes(), bytes.clone());
            prop_assert_eq!(by_line(true), lines);
        }
    }
}
