//! Age: a file system that is filled to a stated share and fragmented by a stated churn before it
//! is measured.
//!
//! The state is defined by operations: [`AgeSequence`] gives the same creates, deletes, overwrites
//! and appends for every file system on a device of one size, and what a file system makes of them
//! is a property of it. Sizes are lognormal, with the body of N. Agrawal et al., "A five-year study
//! of file-system metadata" (FAST 2007: μ = 9.48, σ = 2.46), by which Impressions (FAST 2009)
//! makes images; how far the churn goes is told as Geriatrix does (S. Kadekodi et al., ATC 2018):
//! in multiples of what there is. Ageing by operations and a figure of layout are of K. A. Smith
//! and M. I. Seltzer, "File system aging" (SIGMETRICS 1997).

mod sequence;

pub use sequence::{AgeOp, AgeSequence, DIRECTORIES, SYNC_BYTES};

use crate::JsonSchema;
use crate::dataset::{Distribution, Draw};
use serde::{Deserialize, Serialize};

/// Sizes of files are whole blocks of this many bytes.
pub const AGE_BLOCK_BYTES: u64 = 4096;
/// Largest part that a file takes of what the share is of: 1 ÷ this.
const WHOLE_TO_LARGEST: u64 = 200;
/// Bounds of the largest file.
const LARGEST_BYTES: (u64, u64) = (64 << 10, 1 << 30);
/// Files that a mean size is estimated from.
const SAMPLE: u64 = 16_384;

/// Of what bytes the files of an age take a share.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShareOf {
    /// Of the device: the same operations for every file system on it.
    #[default]
    Device,
    /// Of what statfs gives as available right after mkfs: each file system is as full as the
    /// others, with files of its own number.
    Room,
}

/// How a file system is aged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Age {
    /// Share that files take of the bytes that `share_of` names, in percent.
    pub fill_percent: u32,
    /// What the share is of.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub share_of: ShareOf,
    /// Bytes that the churn writes ÷ bytes of the fill; where `extents_per_file` is asked for, at
    /// most so many.
    pub churn: f64,
    /// Extents per file, as a mean, at which the churn ends; absent: it has its whole length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents_per_file: Option<f64>,
    /// Median size of a file.
    pub size_median_bytes: u64,
    /// Standard deviation of the natural logarithm of the size.
    pub size_sigma: f64,
    /// Seed of the sequence.
    pub seed: u64,
}

impl Age {
    /// Filled to a share, with the defaults.
    #[must_use]
    pub fn filled(fill_percent: u32) -> Self {
        Self {
            fill_percent,
            share_of: ShareOf::Device,
            churn: 2.0,
            extents_per_file: None,
            size_median_bytes: 13 << 10,
            size_sigma: 2.46,
            seed: 1,
        }
    }

    /// What the share is of: the device, or the room on it.
    #[must_use]
    pub fn whole_bytes(&self, device_bytes: u64, room_bytes: u64) -> u64 {
        match self.share_of {
            ShareOf::Device => device_bytes,
            ShareOf::Room => room_bytes,
        }
    }

    /// Bytes that files take after the fill, and never more than these; `whole_bytes` is what the
    /// share is of, here and below.
    #[must_use]
    pub fn fill_bytes(&self, whole_bytes: u64) -> u64 {
        let bytes = u128::from(whole_bytes) * u128::from(self.fill_percent) / 100;
        u64::try_from(bytes).unwrap_or(u64::MAX) / AGE_BLOCK_BYTES * AGE_BLOCK_BYTES
    }

    /// Bytes that the whole churn writes.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not below 0")]
    pub fn churn_bytes(&self, whole_bytes: u64) -> u64 {
        (self.churn * self.fill_bytes(whole_bytes) as f64) as u64
    }

    /// Size of the largest file.
    #[must_use]
    pub fn largest_bytes(whole_bytes: u64) -> u64 {
        let (least, most) = LARGEST_BYTES;
        let share = whole_bytes / WHOLE_TO_LARGEST / AGE_BLOCK_BYTES * AGE_BLOCK_BYTES;
        share.clamp(least, most)
    }

    /// The sizes of files by number, before they are rounded up to blocks.
    fn sizes(&self, whole_bytes: u64) -> Draw {
        let sizes = Distribution::Lognormal {
            median: self.size_median_bytes,
            sigma: self.size_sigma,
            min: 1,
            max: Self::largest_bytes(whole_bytes),
        };
        sizes.draw(crate::dataset::mix(self.seed))
    }

    /// About so many files there are at one time.
    #[must_use]
    pub fn expected_files(&self, whole_bytes: u64) -> u64 {
        let sum = self.sizes(whole_bytes).sum(0..SAMPLE, in_blocks);
        let files = u128::from(self.fill_bytes(whole_bytes)) * u128::from(SAMPLE);
        u64::try_from(files / u128::from(sum.max(1))).unwrap_or(u64::MAX)
    }
}

/// A size in whole blocks.
fn in_blocks(bytes: u64) -> u64 {
    bytes.div_ceil(AGE_BLOCK_BYTES).max(1) * AGE_BLOCK_BYTES
}

/// What ageing did before a trial, and what the file system made of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgeRecord {
    /// Creates, deletes, overwrites and appends.
    pub operations: u64,
    /// SHA-256 over them in their order: equal where the operations were.
    pub operations_sha256: String,
    /// Bytes of the fill that was asked for.
    pub fill_bytes: u64,
    /// Bytes that the churn wrote after it.
    pub churned_bytes: u64,
    /// Quarters of the fill that the churn has written, where it was ended by extents per file.
    pub rounds: u32,
    /// Files that are there.
    pub files: u64,
    /// Bytes of them, in blocks of 4 KiB.
    pub file_bytes: u64,
    /// Capacity by statfs.
    pub total_bytes: u64,
    /// Used by statfs.
    pub used_bytes: u64,
    /// How the files lie; absent where the file system does not tell.
    pub extents: Option<AgeExtents>,
    /// Writes that found no room and were made again after a sync.
    pub room_retries: u64,
    /// Length of all of it; of putting it back, where `image` was restored.
    pub elapsed_ns: u64,
    /// The kept image of the device in this state; absent where none is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<AgeImage>,
}

/// The kept image of an aged device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgeImage {
    /// SHA-256 of its contents, 64 hex digits.
    pub sha256: String,
    /// Whether the trial took the state from it: the figures of the age are those of the trial
    /// that kept it.
    pub restored: bool,
}

/// Extents of files, by FIEMAP. Neighbours in the file that are neighbours on the device are one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgeExtents {
    /// Files that were looked at.
    pub files: u64,
    /// Mean of a file.
    pub mean: f64,
    /// 99 % of the files have no more.
    pub p99: u64,
    /// Most of a file.
    pub max: u64,
    /// Mean of a MiB of contents.
    pub per_mib: f64,
}

impl AgeExtents {
    /// Of the number of extents of each file, and the bytes of all of them; none without a file.
    #[must_use]
    pub fn from_counts(mut counts: Vec<u64>, bytes: u64) -> Option<Self> {
        counts.sort_unstable();
        let max = *counts.last()?;
        let sum = counts.iter().copied().fold(0, u64::saturating_add);
        let rank = (counts.len() * 99).div_ceil(100).max(1);
        Some(Self {
            files: counts.len() as u64,
            mean: sum as f64 / counts.len() as f64,
            p99: counts[rank - 1],
            max,
            per_mib: sum as f64 / (bytes.max(1) as f64 / f64::from(1 << 20)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_device() {
        let age = Age::filled(80);
        assert_eq!(age.fill_bytes(2 << 30), (2 << 30) / 100 * 80 / 4096 * 4096);
        assert_eq!(age.churn_bytes(2 << 30), 2 * age.fill_bytes(2 << 30));
        assert_eq!(Age::largest_bytes(1 << 20), 64 << 10);
        assert_eq!(Age::largest_bytes(1 << 50), 1 << 30);
        assert_eq!(Age::largest_bytes(2 << 30), (2 << 30) / 200 / 4096 * 4096);
    }

    #[test]
    fn extents_are_counted() {
        let mut counts = vec![1; 98];
        counts.extend([5, 9]);
        let extents = AgeExtents::from_counts(counts, 56 << 20).unwrap();
        assert_eq!((extents.files, extents.p99, extents.max), (100, 5, 9));
        assert!((extents.mean - 1.12).abs() < 1e-9 && (extents.per_mib - 2.0).abs() < 1e-9);
        assert_eq!(AgeExtents::from_counts(Vec::new(), 0), None);
    }
}
