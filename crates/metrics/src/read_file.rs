//! A kernel file opened once and read many times, and the small parsers that all sources share.
//!
//! One buffer a file: it is sized at opening to twice what the file holds, so that later readings
//! allocate nothing. Readings use pread(2) at 0, which makes procfs and sysfs print anew.

use crate::{Malformed, MetricError};
use fsarena_model::work::CounterFile;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// How the kernel prints a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Records {
    /// All at once (`single_open`, sysfs): one read returns everything that fits the buffer.
    One,
    /// Item by item (`seq_operations`): a read may return less, and the next one goes on.
    Many,
}

/// Smallest buffer, bytes: one page, which is also the most that a sysfs attribute holds.
const BUFFER_MIN_BYTES: usize = 4096;

/// An open file with its buffer, or a file that is not there.
pub(crate) struct ReadFile {
    path: PathBuf,
    file: Option<File>,
    records: Records,
    buffer: Vec<u8>,
    /// What somebody else has read of it, to be taken in place of the next reading.
    given: Option<Vec<u8>>,
}

impl ReadFile {
    /// Opens a file and reads it once to size the buffer. A missing file is no error.
    pub fn open(path: PathBuf, records: Records) -> Result<Self, MetricError> {
        let file = match File::open(&path) {
            Ok(file) => Some(file),
            Err(error) if is_missing(&error) => None,
            Err(source) => return Err(MetricError::Read { path, source }),
        };
        let mut opened = Self { path, file, records, buffer: Vec::new(), given: None };
        if opened.file.is_some() {
            opened.buffer.resize(BUFFER_MIN_BYTES, 0);
            let length = opened.read()?.map_or(0, <[u8]>::len);
            opened.buffer.resize(BUFFER_MIN_BYTES.max(length * 2), 0);
        }
        Ok(opened)
    }

    /// A file that was not asked for: always missing.
    pub fn unwatched() -> Self {
        let (path, records) = (PathBuf::new(), Records::One);
        Self { path, file: None, records, buffer: Vec::new(), given: None }
    }

    /// How another process reads it.
    pub fn to_be_read(&self) -> CounterFile {
        CounterFile {
            path: if self.file.is_some() { self.path.clone() } else { PathBuf::new() },
            most_bytes: self.buffer.len(),
            at_once: self.records == Records::One,
        }
    }

    /// Takes `text` in place of the next reading; an empty one is of a file that is not there.
    pub fn give(&mut self, text: &str) {
        self.given = Some(text.as_bytes().to_vec());
    }

    /// The contents now; `None` where the file, or what it told of, is not there.
    pub fn read(&mut self) -> Result<Option<&[u8]>, MetricError> {
        if let Some(given) = self.given.take() {
            self.buffer.clear();
            self.buffer.extend_from_slice(&given);
            let length = given.len();
            self.buffer.resize(BUFFER_MIN_BYTES.max(length * 2), 0);
            return Ok((length > 0).then(|| &self.buffer[..length]));
        }
        let Some(file) = &self.file else { return Ok(None) };
        match fill(file, self.records, &mut self.buffer) {
            Ok(length) => Ok(Some(&self.buffer[..length])),
            Err(error) if is_missing(&error) => Ok(None),
            Err(source) => Err(MetricError::Read { path: self.path.clone(), source }),
        }
    }

    /// Reads and parses; returns whether there was something to parse.
    pub fn parse(
        &mut self,
        parse: impl FnOnce(&[u8]) -> Result<(), Malformed>,
    ) -> Result<bool, MetricError> {
        let outcome = self.read()?.map(parse);
        match outcome {
            None => Ok(false),
            Some(Ok(())) => Ok(true),
            Some(Err(malformed)) => {
                Err(MetricError::Malformed { path: self.path.clone(), malformed })
            }
        }
    }
}

/// Fills the buffer, growing it where the file does not fit; returns the length.
fn fill(file: &File, records: Records, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => return Ok(length),
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        if length == buffer.len() {
            buffer.resize(length * 2, 0);
            if records == Records::One {
                // The tail would come from a second printing: start again.
                length = 0;
            }
        } else if records == Records::One {
            return Ok(length);
        }
    }
}

/// Whether an error says "this kernel, or this moment, does not have it".
///
/// `ENOENT`, `ENOTDIR`: no such file. `ENODEV`, `ENXIO`: the device or cgroup is gone. `ESRCH`: the
/// process is gone. `EOPNOTSUPP`: switched off (PSI with `psi=0`). `EACCES`, `EPERM`: not
/// ours to see.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ENOENT
                | libc::ENOTDIR
                | libc::ENODEV
                | libc::ENXIO
                | libc::ESRCH
                | libc::EOPNOTSUPP
                | libc::EACCES
                | libc::EPERM
        )
    )
}

/// Reads a small file whole, for facts that are read once; `None` where missing or not readable.
pub(crate) fn text(path: &Path) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// A decimal number: digits only, within 64 bits.
pub(crate) fn number(item: &[u8]) -> Option<u64> {
    if item.is_empty() {
        return None;
    }
    item.iter().try_fold(0u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// A decimal number, or the error for it.
pub(crate) fn expect_number(line: usize, item: &str, found: &[u8]) -> Result<u64, Malformed> {
    number(found).ok_or_else(|| Malformed::new(line, item, found, "a decimal number"))
}

/// Lines with their numbers, from 1.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes.split(|&byte| byte == b'\n').enumerate().map(|(index, line)| (index + 1, line))
}

/// Words between blanks.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b' ' || byte == b'\t').filter(|word| !word.is_empty())
}

/// One wanted line of a file of `name value` lines.
#[derive(Clone, Copy)]
pub(crate) struct Keyed {
    /// First word of the line (with its colon in meminfo).
    pub key: &'static str,
    scale: Scale,
}

/// What one printed unit is.
#[derive(Clone, Copy)]
enum Scale {
    /// The metric's own unit.
    One,
    /// 1024 bytes.
    Kib,
    /// A page of this machine.
    Page,
}

impl Keyed {
    pub const fn number(key: &'static str) -> Self {
        Self { key, scale: Scale::One }
    }

    pub const fn kib(key: &'static str) -> Self {
        Self { key, scale: Scale::Kib }
    }

    pub const fn pages(key: &'static str) -> Self {
        Self { key, scale: Scale::Page }
    }

    /// Turns the printed number into the metric's unit.
    fn factor(self) -> u64 {
        match self.scale {
            Scale::One => 1,
            Scale::Kib => 1024,
            Scale::Page => rustix::param::page_size() as u64,
        }
    }
}

/// Picks the wanted lines; a line that is not there stays `None`.
pub(crate) fn parse_keyed(
    bytes: &[u8],
    wanted: impl ExactSizeIterator<Item = Keyed> + Clone,
    values: &mut [Option<u64>],
) -> Result<(), Malformed> {
    let mut missing = wanted.len();
    for (line, text) in lines(bytes) {
        let end = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
        let mut numbered = wanted.clone().enumerate();
        let Some((index, keyed)) = numbered.find(|(_, keyed)| keyed.key.as_bytes() == &text[..end])
        else {
            continue;
        };
        let found = words(&text[end..]).next().unwrap_or_default();
        let raw = expect_number(line, keyed.key, found)?;
        let scaled = raw.checked_mul(keyed.factor());
        values[index] = Some(scaled.ok_or_else(|| {
            Malformed::new(line, keyed.key, found, "a number of bytes within 64 bits")
        })?);
        missing -= 1;
        if missing == 0 {
            break;
        }
    }
    Ok(())
}
