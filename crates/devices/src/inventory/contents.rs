//! Whether anything but zeros and our own fill lies on a device: a sample over its whole length.
//!
//! The first and the last MiB are read whole. Between them one block of 4 KiB is read in each of
//! [`SAMPLES`] parts of the same length; where in its part is the same at every look. The look ends
//! at the first block that is neither.

use crate::own_fill::{BLOCK_BYTES, is_own_fill, splitmix};
use rustix::fs::{Advice, fadvise};
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt as _;

/// Blocks that are read between both ends.
pub(super) const SAMPLES: u64 = 1024;
const BLOCK: u64 = BLOCK_BYTES as u64;
/// So many reads are under way at a time, for the queue of the disk to sort.
const ASKED_AHEAD: usize = 32;
static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
/// Read whole at each end, blocks.
const END_BLOCKS: u64 = 256;
/// Where the numbers that place the samples begin.
const SEED: u64 = 0x7361_6d70_6c65;

/// How much of the device is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    Whole,
    /// Without the first and last MiB, which a partition table has.
    BetweenTables,
}

/// Where the first block begins that holds anything but zeros or our own fill; `None` where no
/// block that was read does.
///
/// # Errors
/// When a block cannot be read, with its place.
pub(super) fn first_unknown(
    device: &File,
    size_bytes: u64,
    extent: Extent,
) -> io::Result<Option<u64>> {
    // Without this the kernel reads on behind each sample.
    let _ = fadvise(device, 0, None, Advice::Random);
    let runs = runs(size_bytes, extent);
    let ask = |(place, length): (u64, u64)| {
        let _ = fadvise(device, place, NonZeroU64::new(length), Advice::WillNeed);
    };
    runs.iter().take(ASKED_AHEAD).copied().for_each(ask);
    let found = runs.iter().enumerate().find_map(|(index, (place, length))| {
        runs.get(index + ASKED_AHEAD).copied().into_iter().for_each(ask);
        let mut bytes = vec![0; usize::try_from(*length).unwrap_or(BLOCK_BYTES)];
        if let Err(error) = device.read_exact_at(&mut bytes, *place) {
            let text = format!("byte {place} cannot be read: {error}");
            return Some(Err(io::Error::new(error.kind(), text)));
        }
        let is_known = |block: &[u8]| block == &ZEROS[..block.len()] || is_own_fill(block);
        let block = bytes.chunks(BLOCK_BYTES).position(|block| !is_known(block))?;
        Some(Ok(place + block as u64 * BLOCK))
    });
    let _ = fadvise(device, 0, None, Advice::Normal);
    found.transpose()
}

/// What is read, in order: place and length in bytes.
fn runs(size_bytes: u64, extent: Extent) -> Vec<(u64, u64)> {
    let blocks = size_bytes.div_ceil(BLOCK);
    let start = END_BLOCKS.min(blocks);
    let end = blocks.saturating_sub(END_BLOCKS).max(start);
    let middle = end - start;
    let run = |first: u64, count: u64| {
        let place = first * BLOCK;
        (place, (count * BLOCK).min(size_bytes - place))
    };
    let mut state = SEED;
    let samples = (0..SAMPLES).filter_map(|part| {
        let random = splitmix(&mut state);
        // Multiplied first where that may be: the parts have the same length then.
        let begin = |part: u64| {
            start
                + u64::try_from(u128::from(middle) * u128::from(part) / u128::from(SAMPLES))
                    .unwrap_or(middle)
        };
        let length = begin(part + 1) - begin(part);
        (length > 0).then(|| run(begin(part) + random % length, 1))
    });
    let mut runs: Vec<(u64, u64)> = Vec::new();
    let is_whole = extent == Extent::Whole;
    runs.extend((is_whole && start > 0).then(|| run(0, start)));
    runs.extend(samples);
    runs.extend((is_whole && end < blocks).then(|| run(end, blocks - end)));
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Aligned;

    const MIB: u64 = 1 << 20;

    fn with(size_bytes: u64, writes: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(size_bytes).unwrap();
        for (place, bytes) in writes {
            file.write_all_at(bytes, *place).unwrap();
        }
        file
    }

    fn whole(size_bytes: u64, writes: &[(u64, &[u8])]) -> Option<u64> {
        first_unknown(&with(size_bytes, writes), size_bytes, Extent::Whole).unwrap()
    }

    #[test]
    fn the_sample_has_the_stated_size_and_reaches_everywhere() {
        for size_bytes in [16 * MIB, 20 * MIB + 512, 1 << 40, (7 << 40) + 512] {
            let all = runs(size_bytes, Extent::Whole);
            assert_eq!(all.len() as u64, SAMPLES + 2, "{size_bytes}");
            assert_eq!(all[0], (0, MIB));
            assert!(all.is_sorted_by(|one, two| one.0 + one.1 <= two.0));
            let last = all[all.len() - 1];
            assert_eq!(last.0 + last.1, size_bytes);
            let longest = all.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap();
            let part = (size_bytes / SAMPLES).max(BLOCK);
            assert!(longest <= 2 * part + 2 * MIB, "{size_bytes}: a gap of {longest}");
            assert_eq!(runs(size_bytes, Extent::BetweenTables), all[1..all.len() - 1]);
        }
        assert_eq!(runs(512, Extent::Whole), [(0, 512)]);
        assert_eq!(runs(0, Extent::Whole), []);
        assert_eq!(runs(3 * MIB, Extent::Whole).len(), 2 + 256);
    }

    #[test]
    fn zeros_and_our_own_fill_are_known() {
        assert_eq!(whole(16 * MIB, &[]), None);
        let mut buffer = Aligned::filled();
        let (one, two) = (buffer.varied(1, 128 << 10).to_vec(), buffer.varied(2, 4096).to_vec());
        let size_bytes = 4 * MIB + 512;
        assert_eq!(whole(size_bytes, &[(0, &one), (MIB, &one), (8192, &two)]), None);
        assert_eq!(whole(size_bytes, &[(4 * MIB, &one[..512])]), None);
        assert_eq!(whole(size_bytes, &[(0, &one), (4 * MIB, &one[1..513])]), Some(4 * MIB));
    }

    #[test]
    fn anything_else_is_found_with_its_place() {
        let size_bytes = 16 * MIB;
        assert_eq!(whole(size_bytes, &[(0, b"x")]), Some(0));
        assert_eq!(whole(size_bytes, &[(size_bytes - 1, b"x")]), Some(size_bytes - 4096));
        let text = vec![b'x'; 64 << 10];
        assert!(whole(size_bytes, &[(7 * MIB, &text)]).is_some(), "a run of 64 KiB in 16 MiB");
        let file = with(size_bytes, &[(0, b"x"), (size_bytes - 1, b"x")]);
        assert_eq!(first_unknown(&file, size_bytes, Extent::BetweenTables).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_place() {
        let error = first_unknown(&with(MIB, &[]), 16 * MIB, Extent::Whole).unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }
}
