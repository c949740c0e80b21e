//! Reads every file again and compares every byte with what the engine would have written.
//!
//! A mismatch is a result, not an error: it names the file, the first byte that differs, and, where
//! a stamp was found there, the file that the bytes belong to. What earlier phases made of the
//! files (second names, appended bytes, newer contents) is followed: a sector may carry any version
//! between the oldest and the newest that the phases can have left in it.

use crate::buffer::Pages;
use crate::error::EngineError;
use crate::names::FileNames;
use crate::root::Root;
use crate::stamp::{ATTRIBUTE, Contents, SECTOR_BYTES, Span, Stamp, VERSION_BYTE, attribute_value};
use crate::threads::Sizes;
use fsarena_model::seed::Seed;
use fsarena_model::work::{Dataset, DatasetState, VerifyReport};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ops::Range;

/// Examples kept in a report.
const MAX_EXAMPLES: usize = 16;

/// A check that is ready to run.
#[derive(Debug)]
pub struct Verifier {
    /// Numbers of those that are there.
    files: Vec<Range<u64>>,
    state: DatasetState,
    dataset_tag: u64,
    seed: Seed,
    names: FileNames,
    sizes: Sizes,
    contents: Contents,
    read_buf: Pages,
}

impl Verifier {
    /// Prepares a check of `dataset` in `state`, in calls of `bs_bytes` (rounded up to whole
    /// sectors): touches no file.
    ///
    /// # Errors
    /// When the numbers do not fit or there is no memory.
    pub fn new(
        dataset: &Dataset,
        state: &DatasetState,
        bs_bytes: u64,
        seed: &Seed,
    ) -> Result<Self, EngineError> {
        if bs_bytes == 0 {
            return Err(EngineError::NoBlockSize { phase: "verify".to_owned() });
        }
        let memory = |source| EngineError::Memory { bs_bytes, source };
        let largest = dataset.sizes.as_ref().map_or(dataset.size_bytes, |sizes| sizes.max());
        let end_bytes = largest.saturating_add(state.appended_bytes);
        let call_bytes = bs_bytes.min(end_bytes).max(1).next_multiple_of(SECTOR_BYTES as u64);
        let span = Span { end_bytes, call_bytes, aligned: true };
        let read_buf = usize::try_from(call_bytes).map_err(|_| Errno::NOMEM);
        let mut names = FileNames::new(dataset)?;
        names.use_renamed_name(state.renamed);
        Ok(Self {
            files: dataset.files_in(state),
            state: *state,
            dataset_tag: seed.tag(),
            seed: *seed,
            names,
            sizes: Sizes::new(dataset, state),
            contents: Contents::new(span, state.newest_version, seed).map_err(memory)?,
            read_buf: read_buf.and_then(Pages::new).map_err(memory)?,
        })
    }

    /// Reads and compares all files. [`VerifyReport::files`] and [`VerifyReport::bytes`] count
    /// those that are right, [`VerifyReport::bad_files`] all others; together they are the set.
    pub fn run(&mut self, root: &Root) -> VerifyReport {
        let mut report = VerifyReport::default();
        for file in self.files.clone().into_iter().flatten() {
            #[expect(clippy::cast_possible_truncation, reason = "names hold fewer than 2^32")]
            let file = file as u32;
            self.names.set(file);
            match self.file(root, file) {
                Ok(()) => {
                    report.files += 1;
                    report.bytes += self.sizes.file_bytes(file);
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
    fn file(&mut self, root: &Root, file: u32) -> Result<(), String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(root.lookup(), self.names.as_c_str(), flags, Mode::empty())
            .map_err(|errno| match errno {
                Errno::NOENT => "is missing".to_owned(),
                other => format!("cannot be opened: {other}"),
            })?;
        let size = self.sizes.file_bytes(file);
        let call_bytes = self.read_buf.as_slice().len() as u64;
        let mut offset = 0;
        while offset < size {
            let len = (size - offset).min(call_bytes) as usize;
            let wanted = self.contents.call(u64::from(file), offset, len);
            let found = &mut self.read_buf.as_mut_slice()[..len];
            let got = read_full(&opened, found)
                .map_err(|errno| format!("cannot be read at byte {offset}: {errno}"))?;
            let found = &mut found[..got];
            if let Some(at) = first_difference(wanted, found, &self.state) {
                return Err(self.difference(file, (offset, len), at, got));
            }
            if got < len {
                return Err(format!("ends at byte {} of {size}", offset + got as u64));
            }
            offset += got as u64;
        }
        self.attribute(&opened)?;
        if is_device(&opened) {
            return Ok(());
        }
        match read_full(&opened, &mut self.read_buf.as_mut_slice()[..1]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(format!("is longer than {size} bytes")),
            Err(errno) => Err(format!("cannot be read at its end: {errno}")),
        }
    }

    /// What is wrong with the extended attribute of a file, in words.
    fn attribute(&mut self, file: &OwnedFd) -> Result<(), String> {
        let Some(bytes) = self.state.attribute_bytes else { return Ok(()) };
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut found = vec![0; bytes.saturating_add(1)];
        let got = rustix::fs::fgetxattr(file, ATTRIBUTE, &mut found)
            .map_err(|errno| format!("its attribute cannot be read: {errno}"))?;
        let mut wanted = vec![0; bytes];
        attribute_value(&self.seed, &mut wanted);
        if found[..got] == wanted[..] { Ok(()) } else { Err("has another attribute".to_owned()) }
    }

    /// Describes the byte `at` of the call of `len` bytes at `offset` that brought `got` bytes.
    fn difference(
        &mut self,
        file: u32,
        (offset, len): (u64, usize),
        at: usize,
        got: usize,
    ) -> String {
        let wanted = self.contents.call(u64::from(file), offset, len)[at];
        let found = &self.read_buf.as_slice()[..got];
        let position = offset + at as u64;
        let mut text = format!("byte {position} is 0x{:02x} instead of 0x{wanted:02x}", found[at]);
        let sector_start = position - position % SECTOR_BYTES as u64;
        // Calls begin at sectors.
        let Some(stamp) = Stamp::decode(&found[at - at % SECTOR_BYTES..]) else { return text };
        let (oldest, newest) = (self.state.oldest_version, self.state.newest_version);
        if stamp.dataset_tag != self.dataset_tag
            || (stamp.file, stamp.offset) != (u64::from(file), sector_start)
        {
            let whose = if stamp.dataset_tag == self.dataset_tag { "this" } else { "another" };
            text += &format!(
                "; its sector belongs to file {} offset {} of {whose} dataset",
                stamp.file, stamp.offset
            );
        } else if !(oldest..=newest).contains(&stamp.version) {
            text += &format!(
                "; its sector holds version {}, and {oldest} to {newest} are right",
                stamp.version
            );
        }
        text
    }
}

/// Where the bytes found begin to differ from those wanted. Where a sector of `found` carries one
/// of the versions that are right, the newest is put in its place first.
fn first_difference(wanted: &[u8], found: &mut [u8], state: &DatasetState) -> Option<usize> {
    // The comparison of slices is memcmp; only a mismatch is searched byte by byte.
    let wanted = &wanted[..found.len()];
    if wanted == found {
        return None;
    }
    let newest = state.newest_version.to_le_bytes();
    for (sector, wanted) in found.chunks_mut(SECTOR_BYTES).zip(wanted.chunks(SECTOR_BYTES)) {
        if state.unwritten && sector.iter().all(|byte| *byte == 0) {
            sector.copy_from_slice(wanted);
            continue;
        }
        let Some(field) = sector.get_mut(VERSION_BYTE..) else { continue };
        let len = field.len().min(newest.len());
        let mut version = newest;
        version[..len].copy_from_slice(&field[..len]);
        let version = u16::from_le_bytes(version);
        if (state.oldest_version..=state.newest_version).contains(&version) {
            field[..len].copy_from_slice(&newest[..len]);
        }
    }
    wanted.iter().zip(found).position(|(wanted, found)| wanted != found)
}

/// Whether it is a block device, which is as long as it is.
fn is_device(file: &OwnedFd) -> bool {
    let kind = rustix::fs::fstat(file).map(|stat| FileType::from_raw_mode(stat.st_mode));
    kind == Ok(FileType::BlockDevice)
}

/// Fills `bytes` as far as the file reaches; how many that is.
///
/// # Errors
/// read(2)'s.
pub fn read_full(file: &OwnedFd, bytes: &mut [u8]) -> Result<usize, Errno> {
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
