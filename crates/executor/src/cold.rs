//! The cold proof: from readings to a state, without touching anything.
//!
//! A phase is *cold* when nothing of the device was in the page cache before the mount (cachestat)
//! **and** the device then delivered what the phase needed. A phase that was asked to be cold and
//! cannot prove it is *warm*; the reason is part of the record.

use fsarena_model::contender::Cache;
use fsarena_model::record::{CacheRecord, CacheState, ColdProof};
use fsarena_model::work::{Dataset, Op};
use fsarena_targets::fs::{ContentRule, Place};

/// Share of the needed bytes that the device must have delivered (DESIGN §3).
const DELIVERED_SHARE: f64 = 0.9;

/// What a cold phase has to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Nothing that was written before: a phase that only creates.
    Nothing,
    /// Some metadata; how much depends on the file system.
    Metadata,
    /// At least this much data.
    Data {
        /// Bytes.
        bytes: u64,
    },
}

/// What `op` over `dataset` has to read on a file system that stores contents by `rule`.
///
/// Whole blocks are counted for files with blocks of their own. Files small enough to be stored
/// inside metadata count with their bare length, and compressed ones may shrink to anything.
#[must_use]
pub fn need(op: Op, dataset: &Dataset, rule: &ContentRule) -> Need {
    match op {
        Op::Create | Op::BigWrite => Need::Nothing,
        Op::Stat | Op::Delete => Need::Metadata,
        Op::Read | Op::BigRead if rule.compresses || dataset.bytes() == 0 => Need::Metadata,
        Op::Read | Op::BigRead if dataset.size_bytes <= rule.inline_max_bytes => {
            Need::Data { bytes: dataset.bytes() }
        }
        Op::Read | Op::BigRead => {
            let file_bytes = dataset.size_bytes.next_multiple_of(rule.block_bytes.max(1));
            Need::Data { bytes: dataset.files.saturating_mul(file_bytes) }
        }
    }
}

/// The state of a phase's cache by its readings.
///
/// `image_in_memory` says that the device's image cannot leave the page cache, because it lies
/// there. `chilled` holds the readings taken at the last chill, `None` where there was none.
#[must_use]
pub fn judge(
    asked: Cache,
    (place, image_in_memory): (Place, bool),
    chilled: Option<ColdProof>,
    need: Need,
    delivered_read_bytes: Option<u64>,
) -> CacheRecord {
    let mut proof = chilled.clone().unwrap_or_default();
    proof.delivered_read_bytes = delivered_read_bytes;
    proof.needed_read_bytes = match need {
        Need::Nothing | Need::Metadata => Some(0),
        Need::Data { bytes } => Some(bytes),
    };
    let (state, why) = match (place, asked, chilled) {
        (Place::Elsewhere, ..) => {
            (CacheState::Warm, "it has no device of its own that could prove it".to_owned())
        }
        (Place::Memory, ..) => {
            (CacheState::WarmByNature, "the file system lives in memory".to_owned())
        }
        (_, Cache::Warm, _) => (CacheState::Warm, "warm was asked for".to_owned()),
        (_, Cache::Cold, None) => {
            (CacheState::Warm, "the caches were not dropped before this phase".to_owned())
        }
        (_, Cache::Cold, Some(_)) => match objection(&proof, need, image_in_memory) {
            Some(objection) => (CacheState::Warm, objection),
            None => (CacheState::Cold, "proved".to_owned()),
        },
    };
    CacheRecord { asked, state, why, proof }
}

/// The first thing that keeps a chilled phase from being called cold.
fn objection(proof: &ColdProof, need: Need, image_in_memory: bool) -> Option<String> {
    match proof.device_resident_pages {
        None => return Some("cachestat could not be read for the device".to_owned()),
        Some(0) => {}
        Some(pages) => {
            return Some(format!("{pages} pages of the device were cached before the mount"));
        }
    }
    match proof.backing_resident_pages {
        Some(0) => {}
        Some(pages) => {
            return Some(format!("{pages} pages of the image were cached before the mount"));
        }
        // It cannot leave the page cache: that is where it lies.
        None if image_in_memory => {}
        None => return Some("cachestat could not be read for the image".to_owned()),
    }
    let Some(delivered) = proof.delivered_read_bytes else {
        return Some("the device does not say what it delivered".to_owned());
    };
    match need {
        Need::Nothing => None,
        Need::Metadata if delivered > 0 => None,
        Need::Metadata => Some("the device delivered nothing".to_owned()),
        Need::Data { bytes } if delivered as f64 >= DELIVERED_SHARE * bytes as f64 => None,
        Need::Data { bytes } => {
            Some(format!("the device delivered {delivered} of {bytes} bytes needed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXT4: ContentRule =
        ContentRule { block_bytes: 4096, inline_max_bytes: 0, compresses: false };
    const BTRFS: ContentRule =
        ContentRule { block_bytes: 4096, inline_max_bytes: 2048, compresses: false };
    const SMALL: Dataset = Dataset { files: 100, size_bytes: 256, dirs: 0 };

    fn chilled() -> Option<ColdProof> {
        Some(ColdProof {
            device_resident_pages: Some(0),
            backing_resident_pages: Some(0),
            mount_read_bytes: Some(36 * 4096),
            ..ColdProof::default()
        })
    }

    fn state(chilled: Option<ColdProof>, need: Need, delivered: Option<u64>) -> CacheState {
        judge(Cache::Cold, (Place::Block, false), chilled, need, delivered).state
    }

    #[test]
    fn need_counts_blocks_but_not_for_inlined_or_compressed_files() {
        assert_eq!(need(Op::Read, &SMALL, &EXT4), Need::Data { bytes: 100 * 4096 });
        assert_eq!(need(Op::Read, &SMALL, &BTRFS), Need::Data { bytes: 25_600 });
        let compressed = ContentRule { compresses: true, ..BTRFS };
        assert_eq!(need(Op::Read, &SMALL, &compressed), Need::Metadata);
        assert_eq!(need(Op::Stat, &SMALL, &EXT4), Need::Metadata);
        assert_eq!(need(Op::Create, &SMALL, &EXT4), Need::Nothing);
        let big = Dataset { files: 1, size_bytes: 5000, dirs: 0 };
        assert_eq!(need(Op::BigRead, &big, &EXT4), Need::Data { bytes: 8192 });
    }

    #[test]
    fn cold_needs_both_halves_of_the_proof() {
        let data = Need::Data { bytes: 1000 };
        assert_eq!(state(chilled(), data, Some(900)), CacheState::Cold);
        assert_eq!(state(chilled(), data, Some(899)), CacheState::Warm);
        assert_eq!(state(chilled(), data, None), CacheState::Warm);
        assert_eq!(state(None, data, Some(1000)), CacheState::Warm);
        assert_eq!(state(chilled(), Need::Metadata, Some(0)), CacheState::Warm);
        assert_eq!(state(chilled(), Need::Metadata, Some(1)), CacheState::Cold);
        assert_eq!(state(chilled(), Need::Nothing, Some(0)), CacheState::Cold);
    }

    #[test]
    fn resident_pages_spoil_it() {
        for (device, backing) in [(Some(1), Some(0)), (Some(0), Some(7)), (None, Some(0))] {
            let proof = ColdProof {
                device_resident_pages: device,
                backing_resident_pages: backing,
                ..ColdProof::default()
            };
            assert_eq!(state(Some(proof), Need::Nothing, Some(0)), CacheState::Warm);
        }
        let in_memory = ColdProof { device_resident_pages: Some(0), ..ColdProof::default() };
        assert_eq!(state(Some(in_memory.clone()), Need::Nothing, Some(0)), CacheState::Warm);
        let place = (Place::Block, true);
        let record = judge(Cache::Cold, place, Some(in_memory), Need::Nothing, Some(0));
        assert_eq!(record.state, CacheState::Cold);
    }

    #[test]
    fn memory_is_warm_by_nature_whatever_was_asked() {
        let record = judge(Cache::Cold, (Place::Memory, false), None, Need::Nothing, None);
        assert_eq!(record.state, CacheState::WarmByNature);
    }
}
