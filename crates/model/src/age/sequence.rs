//! The operations that age a file system: the same for every file system on a device of one size,
//! where the share is of the device.
//!
//! First files are made until the next would not fit the share. Then, until as many bytes are
//! written as the churn says: of four steps two put a new file in the place of old ones, which are
//! deleted first, one writes over a part of a file where it is, and one adds to the end of a file.
//! Which file is drawn among those that are there, each as likely. So the bytes of all files are
//! never more than the share, and less by at most the largest file.
//!
//! Between them lies a sync after every [`SYNC_BYTES`] that are written, so that what a file system
//! holds back does not depend on the memory of the machine. All of it follows from seed, share,
//! sizes and the bytes that the share is of (the device, or the room on it); golden vectors below
//! hold it fixed.

use super::{AGE_BLOCK_BYTES, Age, in_blocks};
use crate::dataset::Draw;
use crate::seed::{Seed, SeededRng, hex};
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;

/// Directories that the files are spread over: file `n` is in directory `n % DIRECTORIES`.
pub const DIRECTORIES: u64 = 64;
/// Bytes that are written between two syncs.
pub const SYNC_BYTES: u64 = 32 << 20;
/// Rounds of a churn as long as the fill.
const ROUNDS_OF_FILL: u64 = 4;

/// One operation; files are called by numbers from 0 on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AgeOp {
    /// A new file is written from start to end.
    Create { file: u64, bytes: u64 },
    /// A file is deleted.
    Delete { file: u64 },
    /// A part of a file is written over in place.
    Overwrite { file: u64, offset_bytes: u64, bytes: u64 },
    /// A file grows from `offset_bytes`, its end, on.
    Append { file: u64, offset_bytes: u64, bytes: u64 },
    /// All is written to the device.
    Sync,
    /// The fill, or a round of the churn, has ended: here the churn may stop.
    RoundEnd,
}

/// A file that is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct AgedFile {
    number: u64,
    bytes: u64,
}

/// The part of an age that is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AgePart {
    Fill,
    Churn,
    End,
}

/// The operations, one after the other.
#[derive(Clone, Debug)]
pub struct AgeSequence {
    rng: SeededRng,
    sizes: Draw,
    largest_bytes: u64,
    fill_bytes: u64,
    churn_bytes: u64,
    part: AgePart,
    files: Vec<AgedFile>,
    file_bytes: u64,
    next_file: u64,
    /// Sizes that were drawn: of files, overwrites and appends.
    drawn: u64,
    churned_bytes: u64,
    next_round_bytes: u64,
    unsynced_bytes: u64,
    queue: VecDeque<AgeOp>,
    operations: u64,
    digest: Sha256,
}

impl AgeSequence {
    /// The sequence of an age, whose share is of `whole_bytes`.
    #[must_use]
    pub fn new(age: &Age, whole_bytes: u64) -> Self {
        let fill_bytes = age.fill_bytes(whole_bytes);
        // Of a share that is smaller than a large file.
        let quarter = (fill_bytes / 4 / AGE_BLOCK_BYTES).max(1) * AGE_BLOCK_BYTES;
        let largest_bytes = Age::largest_bytes(whole_bytes).min(quarter);
        Self {
            rng: Seed::from_number(age.seed).child("age", 0).rng(),
            sizes: age.sizes(whole_bytes),
            largest_bytes,
            fill_bytes,
            churn_bytes: age.churn_bytes(whole_bytes),
            part: AgePart::Fill,
            files: Vec::new(),
            file_bytes: 0,
            next_file: 0,
            drawn: 0,
            churned_bytes: 0,
            next_round_bytes: fill_bytes / ROUNDS_OF_FILL,
            unsynced_bytes: 0,
            queue: VecDeque::new(),
            operations: 0,
            digest: Sha256::new(),
        }
    }

    /// The files that are there: number and bytes, in no order of meaning.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (u64, u64)> {
        self.files.iter().map(|file| (file.number, file.bytes))
    }

    /// Bytes of the files that are there, in blocks.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// Bytes that the churn has written.
    #[must_use]
    pub fn churned_bytes(&self) -> u64 {
        self.churned_bytes
    }

    /// Creates, deletes, overwrites and appends so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// SHA-256 over the operations so far, in hex digits.
    #[must_use]
    pub fn digest(&self) -> String {
        hex(&self.digest.clone().finalize())
    }

    fn draw_bytes(&mut self) -> u64 {
        let bytes = in_blocks(self.sizes.value_at(self.drawn)).min(self.largest_bytes);
        self.drawn += 1;
        bytes
    }

    fn fill(&mut self) {
        let bytes = self.draw_bytes();
        if self.file_bytes + bytes <= self.fill_bytes {
            self.create(bytes);
        } else {
            self.end_round();
            self.part = if self.churn_bytes == 0 { AgePart::End } else { AgePart::Churn };
        }
    }

    fn churn(&mut self) {
        let bytes = self.draw_bytes();
        match self.rng.below(4) {
            0 | 1 => {
                self.make_room(bytes);
                self.create(bytes);
            }
            2 => self.overwrite(bytes),
            _ => self.append(bytes),
        }
        if self.churned_bytes >= self.next_round_bytes.min(self.churn_bytes) {
            self.end_round();
            self.next_round_bytes =
                self.churned_bytes.saturating_add((self.fill_bytes / ROUNDS_OF_FILL).max(1));
        }
        if self.churned_bytes >= self.churn_bytes {
            self.part = AgePart::End;
        }
    }

    /// Deletes files until so many bytes fit.
    fn make_room(&mut self, bytes: u64) {
        while self.file_bytes + bytes > self.fill_bytes && !self.files.is_empty() {
            let at = self.rng.below(self.files.len() as u64) as usize;
            let file = self.files.swap_remove(at);
            self.file_bytes -= file.bytes;
            self.queue.push_back(AgeOp::Delete { file: file.number });
        }
    }

    fn create(&mut self, bytes: u64) {
        let number = self.next_file;
        self.next_file += 1;
        self.files.push(AgedFile { number, bytes });
        self.file_bytes += bytes;
        self.queue.push_back(AgeOp::Create { file: number, bytes });
        self.wrote(bytes);
    }

    fn overwrite(&mut self, bytes: u64) {
        let Some(at) = self.any_file() else { return };
        let AgedFile { number, bytes: size } = self.files[at];
        let bytes = bytes.min(size);
        let places = (size - bytes) / AGE_BLOCK_BYTES + 1;
        let offset_bytes = self.rng.below(places) * AGE_BLOCK_BYTES;
        self.queue.push_back(AgeOp::Overwrite { file: number, offset_bytes, bytes });
        self.wrote(bytes);
    }

    /// Adds to a file; where it would become larger than the largest, a part is written over.
    fn append(&mut self, bytes: u64) {
        self.make_room(bytes);
        let Some(at) = self.any_file() else { return self.create(bytes) };
        let AgedFile { number, bytes: size } = self.files[at];
        if size + bytes > self.largest_bytes {
            return self.overwrite(bytes);
        }
        self.files[at].bytes += bytes;
        self.file_bytes += bytes;
        self.queue.push_back(AgeOp::Append { file: number, offset_bytes: size, bytes });
        self.wrote(bytes);
    }

    fn any_file(&mut self) -> Option<usize> {
        let count = self.files.len() as u64;
        (count > 0).then(|| self.rng.below(count) as usize)
    }

    fn wrote(&mut self, bytes: u64) {
        if self.part == AgePart::Churn {
            self.churned_bytes += bytes;
        }
        self.unsynced_bytes += bytes;
        if self.unsynced_bytes >= SYNC_BYTES {
            self.sync();
        }
    }

    fn sync(&mut self) {
        self.unsynced_bytes = 0;
        self.queue.push_back(AgeOp::Sync);
    }

    fn end_round(&mut self) {
        self.sync();
        self.queue.push_back(AgeOp::RoundEnd);
    }

    /// Takes an operation into the digest: five numbers of 64 bits, little end first.
    fn note(&mut self, op: AgeOp) {
        let words = match op {
            AgeOp::Create { file, bytes } => [0, file, 0, bytes],
            AgeOp::Delete { file } => [1, file, 0, 0],
            AgeOp::Overwrite { file, offset_bytes, bytes } => [2, file, offset_bytes, bytes],
            AgeOp::Append { file, offset_bytes, bytes } => [3, file, offset_bytes, bytes],
            AgeOp::Sync | AgeOp::RoundEnd => return,
        };
        self.operations += 1;
        words.iter().for_each(|word| self.digest.update(word.to_le_bytes()));
    }
}

impl Iterator for AgeSequence {
    type Item = AgeOp;

    fn next(&mut self) -> Option<AgeOp> {
        loop {
            if let Some(op) = self.queue.pop_front() {
                self.note(op);
                return Some(op);
            }
            match self.part {
                AgePart::Fill => self.fill(),
                AgePart::Churn => self.churn(),
                AgePart::End => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const DEVICE_BYTES: u64 = 512 << 20;

    /// Follows the operations as a file system would, and gives the most and the least bytes of
    /// files since the end of the fill.
    fn followed(age: &Age) -> (AgeSequence, u64, u64) {
        let mut sequence = AgeSequence::new(age, DEVICE_BYTES);
        let mut files: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut least, mut most, mut churns, mut sum) = (u64::MAX, 0, false, 0);
        for op in sequence.by_ref() {
            match op {
                AgeOp::Create { file, bytes } => {
                    assert!(bytes > 0 && bytes.is_multiple_of(AGE_BLOCK_BYTES));
                    assert_eq!(files.insert(file, bytes), None, "a new number");
                    sum += bytes;
                }
                AgeOp::Delete { file } => sum -= files.remove(&file).expect("it is there"),
                AgeOp::Overwrite { file, offset_bytes, bytes } => {
                    assert!(offset_bytes + bytes <= files[&file] && bytes > 0);
                    assert!(offset_bytes.is_multiple_of(AGE_BLOCK_BYTES));
                }
                AgeOp::Append { file, offset_bytes, bytes } => {
                    let size = files.get_mut(&file).expect("it is there");
                    assert_eq!(*size, offset_bytes);
                    *size += bytes;
                    assert!(*size <= Age::largest_bytes(DEVICE_BYTES));
                    sum += bytes;
                }
                AgeOp::Sync => {}
                AgeOp::RoundEnd => churns = true,
            }
            most = most.max(sum);
            if churns && !matches!(op, AgeOp::Delete { .. }) {
                least = least.min(sum);
            }
        }
        let mut told: Vec<(u64, u64)> = sequence.files().collect();
        told.sort_unstable();
        assert_eq!(told, files.into_iter().collect::<Vec<_>>());
        assert_eq!(sequence.file_bytes(), sum);
        (sequence, least, most)
    }

    #[test]
    fn the_share_is_kept_within_one_percent_of_the_device() {
        for (percent, seed) in [(50, 1), (80, 2), (95, 3)] {
            let age = Age { seed, ..Age::filled(percent) };
            let (sequence, least, most) = followed(&age);
            let fill = age.fill_bytes(DEVICE_BYTES);
            assert!(most <= fill && least + DEVICE_BYTES / 100 >= fill, "{least} {most} {fill}");
            let churned = sequence.churned_bytes();
            let asked = age.churn_bytes(DEVICE_BYTES);
            assert!(churned >= asked && churned < asked + Age::largest_bytes(DEVICE_BYTES));
        }
    }

    #[test]
    fn the_same_age_is_the_same_operations_and_another_seed_is_not() {
        let age = Age::filled(80);
        let all = |age: &Age| AgeSequence::new(age, DEVICE_BYTES).collect::<Vec<_>>();
        assert_eq!(all(&age), all(&age));
        assert_ne!(all(&age), all(&Age { seed: 2, ..age.clone() }));
        // A longer churn goes on where a shorter one ends.
        let operations = |age: &Age| {
            let is_operation = |op: &AgeOp| !matches!(op, AgeOp::Sync | AgeOp::RoundEnd);
            AgeSequence::new(age, DEVICE_BYTES).filter(is_operation).collect::<Vec<_>>()
        };
        let short = operations(&Age { churn: 1.0, ..age.clone() });
        let long = operations(&age);
        assert!(short.len() < long.len());
        assert_eq!(short[..], long[..short.len()]);
    }

    #[test]
    fn a_round_is_a_quarter_of_the_fill() {
        let rounds = |churn: f64| {
            let age = Age { churn, ..Age::filled(50) };
            AgeSequence::new(&age, DEVICE_BYTES).filter(|op| *op == AgeOp::RoundEnd).count()
        };
        assert_eq!(rounds(0.0), 1, "the end of the fill");
        assert_eq!(rounds(1.0), 1 + 4);
    }

    #[test]
    fn files_are_about_as_many_as_expected() {
        let age = Age { churn: 0.0, ..Age::filled(80) };
        let mut sequence = AgeSequence::new(&age, 4 << 30);
        sequence.by_ref().for_each(drop);
        let (files, expected) = (sequence.files().len() as f64, age.expected_files(4 << 30) as f64);
        assert!((files / expected - 1.0).abs() < 0.1, "{files} {expected}");
    }

    /// Changing these changes the state of every aged file system that was ever measured: never.
    #[test]
    fn golden_vectors() {
        let mut sequence = AgeSequence::new(&Age::filled(80), DEVICE_BYTES);
        let first: Vec<AgeOp> = sequence.by_ref().take(3).collect();
        sequence.by_ref().for_each(drop);
        assert_eq!(first, GOLDEN_FIRST);
        let found = (sequence.operations(), sequence.files().len(), sequence.file_bytes());
        assert_eq!(found, (15_867, 2267, 428_064_768));
        assert_eq!(sequence.digest(), GOLDEN_DIGEST);
    }
    const GOLDEN_FIRST: [AgeOp; 3] = [
        AgeOp::Create { file: 0, bytes: 8192 },
        AgeOp::Create { file: 1, bytes: 110_592 },
        AgeOp::Create { file: 2, bytes: 1_945_600 },
    ];
    const GOLDEN_DIGEST: &str = "c3b60c592e17d07eb2a528d2626ec80861cfb6deea4eed18a329b76ca0ea9c70";
}
