//! Reads every file again and compares every byte with what the engine would have written.
//!
//! A mismatch is a result, not an error: it names the file, the first byte that differs, and whose
//! bytes were found there where a stamp tells.

use crate::buffer::Pages;
use crate::pattern::FileNames;
use crate::phase::{EngineError, Root};
use crate::stamp::{Contents, SECTOR_BYTES, Stamp};
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, VerifyReport};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// Examples kept in a report.
const MAX_EXAMPLES: usize = 16;

/// A check that is ready to run.
#[derive(Debug)]
pub struct Verifier {
    dataset: Dataset,
    dataset_tag: u64,
    names: FileNames,
    contents: Contents,
    landing: Pages,
}

impl Verifier {
    /// Prepares a check in calls of `bs_bytes`: touches no file.
    ///
    /// # Errors
    /// When the numbers do not fit or there is no memory.
    pub fn new(dataset: &Dataset, bs_bytes: u64, seed: &Seed) -> Result<Self, EngineError> {
        if bs_bytes == 0 {
            return Err(EngineError::NoBlockSize { phase: "verify".to_owned() });
        }
        let memory = |source| EngineError::Memory { bs_bytes, source };
        let landing_bytes = bs_bytes.min(dataset.size_bytes).max(1);
        let landing = usize::try_from(landing_bytes).map_err(|_| Errno::NOMEM);
        Ok(Self {
            dataset: *dataset,
            dataset_tag: seed.tag(),
            names: FileNames::new(dataset)?,
            contents: Contents::new(dataset, bs_bytes, seed).map_err(memory)?,
            landing: landing.and_then(Pages::new).map_err(memory)?,
        })
    }

    /// Reads and compares all files. [`VerifyReport::files`] and [`VerifyReport::bytes`] count
    /// those that are right, [`VerifyReport::bad_files`] all others; together they are the set.
    pub fn run(&mut self, root: &Root) -> VerifyReport {
        let mut report = VerifyReport::default();
        #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
        for file in 0..self.dataset.files as u32 {
            self.names.set(file);
            match self.file(root, u64::from(file)) {
                Ok(()) => {
                    report.files += 1;
                    report.bytes += self.dataset.size_bytes;
                }
                Err(wrong) => {
                    report.bad_files += 1;
                    if report.examples.len() < MAX_EXAMPLES {
                        report.examples.push(format!("{}: {wrong}", self.names.as_str()));
                    }
                }
            }
        }
        report
    }

    /// What is wrong with a file, in words.
    fn file(&mut self, root: &Root, file: u64) -> Result<(), String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(root.lookup(), self.names.as_c_str(), flags, Mode::empty())
            .map_err(|errno| match errno {
                Errno::NOENT => "is missing".to_owned(),
                other => format!("cannot be opened: {other}"),
            })?;
        let size = self.dataset.size_bytes;
        let mut offset = 0;
        while offset < size {
            let wanted = self.contents.call(file, offset);
            let found = &mut self.landing.as_mut_slice()[..wanted.len()];
            let got = read_full(&opened, found)
                .map_err(|errno| format!("cannot be read at byte {offset}: {errno}"))?;
            if let Some(at) = first_difference(wanted, &found[..got]) {
                return Err(self.difference(file, offset, at, got));
            }
            if got < wanted.len() {
                return Err(format!("ends at byte {} of {size}", offset + got as u64));
            }
            offset += got as u64;
        }
        match read_full(&opened, &mut self.landing.as_mut_slice()[..1]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(format!("is longer than {size} bytes")),
            Err(errno) => Err(format!("cannot be read at its end: {errno}")),
        }
    }

    /// Describes the byte `at` of the call at `offset` that brought `got` bytes.
    fn difference(&mut self, file: u64, offset: u64, at: usize, got: usize) -> String {
        let wanted = self.contents.call(file, offset)[at];
        let found = &self.landing.as_slice()[..got];
        let position = offset + at as u64;
        let mut text = format!("byte {position} is 0x{:02x} instead of 0x{wanted:02x}", found[at]);
        let sector_start = position - position % SECTOR_BYTES as u64;
        let stamp = sector_start
            .checked_sub(offset)
            .and_then(|start| Stamp::decode(&found[usize::try_from(start).ok()?..]));
        if let Some(stamp) = stamp {
            let right = stamp.dataset_tag == self.dataset_tag
                && (stamp.file, stamp.offset) == (file, sector_start);
            if !right {
                let whose = if stamp.dataset_tag == self.dataset_tag { "this" } else { "another" };
                text += &format!(
                    "; its sector belongs to file {} offset {} of {whose} dataset",
                    stamp.file, stamp.offset
                );
            }
        }
        text
    }
}

/// Where the bytes found begin to differ from those wanted.
fn first_difference(wanted: &[u8], found: &[u8]) -> Option<usize> {
    // The comparison of slices is memcmp; only a mismatch is searched byte by byte.
    let wanted = &wanted[..found.len()];
    if wanted == found { None } else { wanted.iter().zip(found).position(|(w, f)| w != f) }
}

/// Fills `bytes` as far as the file reaches.
fn read_full(file: &OwnedFd, bytes: &mut [u8]) -> Result<usize, Errno> {
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::read(file, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(filled)
}
