//! Contents with stamps: dataset, file, offset and version of every sector.
//!
//! Every 512 B sector of a file (or its shorter tail) begins with a [`Stamp`], as far as it fits.
//! The rest is ChaCha8 from the dataset's seed, incompressible, and repeats each 1 MiB of a file
//! ([`PERIOD_BYTES`]; stamps do not repeat). So a byte depends on dataset, file and offset alone,
//! never on the size of the calls that wrote it, and everything but two words a sector is generated
//! before the clock runs.
//!
//! Cost inside the loop, with the null backend (`cargo xtask overhead` prints it): one 8-byte
//! store, 1 ns, for a file of up to 512 B; two stores a sector for files of several calls, 4.5 µs
//! for a call of 1 MiB, mostly misses of the first-level cache. Such a call itself takes 250 to
//! 500 µs on tmpfs.

pub use fsarena_model::stamp::{LAYOUT_VERSION, SECTOR_BYTES, STAMP_BYTES, Stamp, VERSION_BYTE};

use crate::buffer::Pages;
use fsarena_model::seed::Seed;
use fsarena_model::stamp::{FILE_WORD, OFFSET_WORD};
use rustix::io::Errno;
use std::ffi::CStr;

/// The fill of a file repeats at this distance.
pub const PERIOD_BYTES: usize = 1 << 20;
/// Version of files that were written once.
pub const FIRST_VERSION: u16 = 1;

/// Which bytes of files a phase takes, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where the largest file ends, bytes.
    pub end_bytes: u64,
    /// Largest call, bytes.
    pub call_bytes: u64,
    /// Whether all calls begin at a multiple of `call_bytes`.
    pub aligned: bool,
}

/// The contents of a dataset's files, a call at a time.
#[derive(Debug)]
pub struct Contents {
    pages: Pages,
    /// Distance at which offsets come back to the start of the buffer; 0: never.
    period: u64,
    /// Bytes of a full call.
    call_bytes: usize,
}

impl Contents {
    /// Generates what calls within `span` need; the stamps are those of file 0, offset 0 and
    /// following, in `version`.
    ///
    /// # Errors
    /// When there is not so much memory.
    pub fn new(span: Span, version: u16, seed: &Seed) -> Result<Self, Errno> {
        let to_usize = |bytes: u64| usize::try_from(bytes).map_err(|_| Errno::NOMEM);
        let call_bytes = to_usize(span.call_bytes.min(span.end_bytes).max(1))?;
        let wrapped = if span.aligned && call_bytes.is_multiple_of(PERIOD_BYTES) {
            call_bytes
        } else if span.aligned && PERIOD_BYTES.is_multiple_of(call_bytes) {
            PERIOD_BYTES
        } else {
            PERIOD_BYTES.checked_add(call_bytes).ok_or(Errno::NOMEM)?
        };
        let whole = span.end_bytes <= wrapped as u64;
        let len = if whole { to_usize(span.end_bytes.max(1))? } else { wrapped };
        let period = if whole { 0 } else { PERIOD_BYTES as u64 };
        let mut pages =
            Pages::new(len.checked_next_multiple_of(SECTOR_BYTES).ok_or(Errno::NOMEM)?)?;
        let bytes = pages.as_mut_slice();
        let first = bytes.len().min(PERIOD_BYTES);
        seed.child("contents", 0).rng().fill(&mut bytes[..first]);
        for at in (first..bytes.len()).step_by(PERIOD_BYTES) {
            let end = bytes.len().min(at + PERIOD_BYTES);
            bytes.copy_within(..end - at, at);
        }
        let (layout, dataset_tag) = (LAYOUT_VERSION, seed.tag());
        for (number, sector) in bytes.chunks_exact_mut(SECTOR_BYTES).enumerate() {
            let offset = (number * SECTOR_BYTES) as u64;
            let stamp = Stamp { layout, version, dataset_tag, file: 0, offset };
            sector[..STAMP_BYTES].copy_from_slice(&stamp.encode());
        }
        Ok(Self { pages, period, call_bytes })
    }

    /// Bytes of the largest call.
    #[must_use]
    pub fn call_bytes(&self) -> usize {
        self.call_bytes
    }

    /// Writes `version` into all stamps: what is taken from now on is of that version.
    pub fn set_version(&mut self, version: u16) {
        for sector in self.pages.as_mut_slice().chunks_exact_mut(SECTOR_BYTES) {
            sector[VERSION_BYTE..VERSION_BYTE + 2].copy_from_slice(&version.to_le_bytes());
        }
    }

    /// The first `len` bytes of file `file`, all in one call: where the buffer holds the largest
    /// file, the offsets in the stamps are right already.
    #[inline(always)]
    pub fn whole_file(&mut self, file: u64, len: usize) -> &[u8] {
        if self.period != 0 {
            return self.call(file, 0, len);
        }
        let bytes = self.pages.as_mut_slice();
        let end = len.next_multiple_of(SECTOR_BYTES);
        for sector in bytes[..end].chunks_exact_mut(SECTOR_BYTES) {
            sector[FILE_WORD..OFFSET_WORD].copy_from_slice(&file.to_le_bytes());
        }
        &bytes[..len]
    }

    /// What file `file` holds in `len` bytes at `offset`; at most a full call.
    #[inline(always)]
    pub fn call(&mut self, file: u64, offset: u64, len: usize) -> &[u8] {
        debug_assert!(len <= self.call_bytes, "more than the span that was prepared");
        let base = if self.period == 0 { offset } else { offset % PERIOD_BYTES as u64 } as usize;
        let bytes = self.pages.as_mut_slice();
        let first = base - base % SECTOR_BYTES;
        let end = (base + len).next_multiple_of(SECTOR_BYTES);
        let mut sector_offset = offset - offset % SECTOR_BYTES as u64;
        for sector in bytes[first..end].chunks_exact_mut(SECTOR_BYTES) {
            sector[FILE_WORD..OFFSET_WORD].copy_from_slice(&file.to_le_bytes());
            sector[OFFSET_WORD..STAMP_BYTES].copy_from_slice(&sector_offset.to_le_bytes());
            sector_offset += SECTOR_BYTES as u64;
        }
        &bytes[base..base + len]
    }

    /// The same contents in memory of their own: for calls that are in flight together.
    ///
    /// # Errors
    /// When there is not so much memory.
    pub(crate) fn try_clone(&self) -> Result<Self, Errno> {
        let mut pages = Pages::new(self.pages.as_slice().len())?;
        pages.as_mut_slice().copy_from_slice(self.pages.as_slice());
        Ok(Self { pages, period: self.period, call_bytes: self.call_bytes })
    }

    /// All of the memory that calls are taken from.
    pub(crate) fn memory(&self) -> &[u8] {
        self.pages.as_slice()
    }

    /// Copies what [`Contents::call`] gives into `bytes`: for calls that are in flight together,
    /// each with a buffer of its own.
    #[inline(always)]
    pub fn fill(&mut self, file: u64, offset: u64, bytes: &mut [u8]) {
        bytes.copy_from_slice(self.call(file, offset, bytes.len()));
    }
}

/// Name of the extended attribute that the engine sets and reads.
pub(crate) const ATTRIBUTE: &CStr = c"user.fsarena";

/// Fills `value` with what the attribute holds: bytes of a dataset, the same for all of its files.
pub(crate) fn attribute_value(seed: &Seed, value: &mut [u8]) {
    let tag = seed.tag().to_le_bytes();
    for (index, byte) in value.iter_mut().enumerate() {
        *byte = tag[index % tag.len()] ^ (index / tag.len()).to_le_bytes()[0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(size_bytes: u64, bs_bytes: u64, number: u64) -> Vec<u8> {
        let span = Span { end_bytes: size_bytes, call_bytes: bs_bytes, aligned: true };
        let mut contents = Contents::new(span, FIRST_VERSION, &Seed::from_number(5)).unwrap();
        if size_bytes <= bs_bytes {
            return contents.whole_file(number, size_bytes as usize).to_vec();
        }
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < size_bytes {
            let offset = bytes.len() as u64;
            let len = (size_bytes - offset).min(bs_bytes) as usize;
            bytes.extend_from_slice(contents.call(number, offset, len));
        }
        bytes
    }

    #[test]
    fn every_sector_says_whose_it_is() {
        let bytes = file(3 * 1024 * 1024 + 40, 4096, 7);
        let tag = Seed::from_number(5).tag();
        for (number, sector) in bytes.chunks(SECTOR_BYTES).enumerate() {
            let stamp = Stamp::decode(sector).unwrap();
            let offset = (number * SECTOR_BYTES) as u64;
            let wanted = Stamp { layout: 1, version: 1, dataset_tag: tag, file: 7, offset };
            assert_eq!(stamp, wanted);
        }
        assert_eq!(Stamp::decode(&[0; 512]), None);
        assert_eq!(Stamp::decode(&bytes[..31]), None);
    }

    #[test]
    fn whole_files_between_parts_of_larger_ones() {
        let span = Span { end_bytes: 3 << 20, call_bytes: 1 << 20, aligned: true };
        let mut contents = Contents::new(span, FIRST_VERSION, &Seed::from_number(5)).unwrap();
        contents.call(1, 2 << 20, 1 << 20);
        assert!(contents.whole_file(2, 5000) == file(5000, 5000, 2));
    }

    #[test]
    fn a_version_is_in_every_sector_and_nowhere_else() {
        let span = Span { end_bytes: 5000, call_bytes: 1000, aligned: true };
        let mut contents = Contents::new(span, FIRST_VERSION, &Seed::from_number(5)).unwrap();
        let mut later = Contents::new(span, 700, &Seed::from_number(5)).unwrap();
        contents.set_version(700);
        for offset in (0..5000).step_by(1000) {
            assert!(contents.call(3, offset, 1000) == later.call(3, offset, 1000), "{offset}");
        }
    }

    #[test]
    fn small_files_hold_the_prefix_of_a_stamp() {
        assert!(file(0, 4096, 1).is_empty());
        assert_eq!(&file(5, 4096, 1), b"fsar\x01");
        assert_eq!(file(256, 4096, 9)[16..24], 9u64.to_le_bytes());
    }

    /// Contents are part of the stored format: they must never change within a layout version.
    #[test]
    fn golden_fill() {
        assert_eq!(file(40, 4096, 1)[32..], GOLDEN);
    }
    const GOLDEN: [u8; 8] = [121, 1, 209, 252, 155, 112, 210, 197];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn contents_do_not_depend_on_the_size_of_calls(
            size in 0u64..1_500_000, bs in 1000u64..1_400_000, number in 0u64..10,
        ) {
            let whole = file(size, 4_000_000, number);
            prop_assert_eq!(whole.len() as u64, size);
            prop_assert!(whole == file(size, bs, number));
            prop_assert!(whole == file(size, 4096, number));
            prop_assert!(whole == file(size, 1 << 20, number));
            prop_assert!(whole == file(size, 2 << 20, number));
        }

        #[test]
        fn any_part_is_that_of_the_whole(from in 0usize..2_400_000, len in 1usize..90_000) {
            let whole = file(2_500_000, 4_000_000, 3);
            let span = Span { end_bytes: 2_500_000, call_bytes: 90_000, aligned: false };
            let mut contents =
                Contents::new(span, FIRST_VERSION, &Seed::from_number(5)).unwrap();
            let mut part = vec![0; len];
            contents.fill(3, from as u64, &mut part);
            prop_assert!(part == whole[from..from + len]);
        }
    }
}
