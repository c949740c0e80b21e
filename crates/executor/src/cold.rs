//! The cold proof: from readings to a state, without touching anything.
//!
//! A phase is *cold* when nothing of the device was in the page cache before the mount (cachestat),
//! nor of a source on another file system, **and** the device then delivered what the phase needed.
//! A phase that was asked to be cold and cannot prove it is *warm*; the reason is part of the
//! record.

use fsarena_filesystems::{Backing, ContentRule};
use fsarena_model::contender::Cache;
use fsarena_model::dataset::Draw;
use fsarena_model::op::ColdNeed;
use fsarena_model::record::{CacheRecord, CacheState, ColdProof};
use fsarena_model::work::{Backend, Dataset, DatasetState, Io, Phase};

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
    Data { bytes: u64 },
}

/// What the cache of a source was made before a phase that reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceCache {
    /// The source is on the file system under test, or is not read.
    Below,
    /// It is on another one: its pages in the cache, where they can be told.
    Other(Option<u64>),
    /// It lies in memory.
    Memory,
}

/// Where a phase is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ground {
    /// What the file system is on.
    pub place: Backing,
    /// An image on a disk lies under the device, which may be in the page cache as well.
    pub image_is_cached: bool,
    /// Of a source elsewhere.
    pub source: SourceCache,
}

/// What `phase` over `dataset` has to read on a file system that stores contents by `rule`.
///
/// Whole blocks are counted for files with blocks of their own. Files small enough to be stored
/// inside metadata count with their bare length, and compressed ones may shrink to anything. What
/// is written over need not be read first: a small file system has read the inode with its root
/// when it was mounted. `read_bytes` is what the work has read, perhaps the same more than once:
/// all that is known of a fio job.
#[must_use]
pub fn need(phase: &Phase, dataset: &Dataset, rule: &ContentRule, read_bytes: u64) -> Need {
    if phase.io.backend == Backend::Null {
        return Need::Nothing;
    }
    match phase.op.info().cold {
        ColdNeed::Nothing => Need::Nothing,
        ColdNeed::MetadataIfRead if read_bytes == 0 => Need::Nothing,
        ColdNeed::Metadata | ColdNeed::MetadataIfRead => Need::Metadata,
        _ if rule.compresses || dataset.bytes() == 0 => Need::Metadata,
        ColdNeed::Contents => Need::Data { bytes: stored_bytes(dataset, rule) },
        ColdNeed::Blocks => Need::Data { bytes: distinct_bytes(phase, dataset) },
        ColdNeed::BlocksRead => {
            Need::Data { bytes: read_bytes.min(distinct_bytes(phase, dataset)) }
        }
    }
}

impl Need {
    /// The same where earlier phases have made `state` of the dataset: what was cut off or never
    /// written is not read.
    #[must_use]
    pub fn in_state(self, state: &DatasetState) -> Self {
        match self {
            Self::Data { .. } if !state.is_whole() || state.unwritten => Self::Metadata,
            need => need,
        }
    }
}

/// Bytes that all files take in blocks.
fn stored_bytes(dataset: &Dataset, rule: &ContentRule) -> u64 {
    let stored = |size_bytes: u64| {
        if size_bytes <= rule.inline_max_bytes {
            size_bytes
        } else {
            size_bytes.next_multiple_of(rule.block_bytes.max(1))
        }
    };
    match dataset.draw_sizes() {
        Draw::Fixed(size_bytes) => dataset.files.saturating_mul(stored(size_bytes)),
        sizes => (0..dataset.files).map(|file| stored(sizes.value_at(file))).sum(),
    }
}

/// Bytes of the blocks that a random phase meets, each once.
fn distinct_bytes(phase: &Phase, dataset: &Dataset) -> u64 {
    let all = Phase { io: Io { ops: None, ..phase.io.clone() }, ..phase.clone() }.count(dataset);
    phase.count(dataset).min(all).saturating_mul(phase.bs_bytes)
}

/// The state of a phase's cache by its readings.
///
/// `chilled` holds the readings of the last chill, `None` where there was none.
#[must_use]
pub fn judge(
    asked: Cache,
    ground: Ground,
    chilled: Option<ColdProof>,
    need: Need,
    delivered_read_bytes: Option<u64>,
) -> CacheRecord {
    // Cold at the start means warm for whatever has no chill before it.
    let asked = match (asked, &chilled) {
        (Cache::ColdStart, Some(_)) => Cache::Cold,
        (Cache::ColdStart, None) => Cache::Warm,
        (asked, _) => asked,
    };
    let mut proof = chilled.clone().unwrap_or_default();
    proof.delivered_read_bytes = delivered_read_bytes;
    proof.source_resident_pages = match ground.source {
        SourceCache::Other(pages) => pages,
        SourceCache::Below | SourceCache::Memory => None,
    };
    proof.needed_read_bytes = match need {
        Need::Nothing | Need::Metadata => Some(0),
        Need::Data { bytes } => Some(bytes),
    };
    let (state, why) = match (ground.place, asked, chilled) {
        (Backing::Elsewhere, ..) => {
            (CacheState::Warm, "it has no device of its own that could prove it".to_owned())
        }
        (Backing::Memory, ..) => {
            (CacheState::WarmByNature, "the file system lives in memory".to_owned())
        }
        (_, Cache::Warm | Cache::ColdStart, _) => {
            (CacheState::Warm, "warm was asked for".to_owned())
        }
        (_, Cache::Cold, None) => {
            let why = match ground.source {
                SourceCache::Other(_) => "only its source was made cold before this phase",
                _ => "the caches were not dropped before this phase",
            };
            (CacheState::Warm, why.to_owned())
        }
        (_, Cache::Cold, Some(_)) => match objection(&proof, need, ground) {
            Some(objection) => (CacheState::Warm, objection),
            None if ground.source == SourceCache::Memory => {
                (CacheState::Cold, "proved, its source in memory".to_owned())
            }
            None => (CacheState::Cold, "proved".to_owned()),
        },
    };
    CacheRecord { asked, state, why, proof }
}

/// The first thing that keeps a chilled phase from being called cold.
fn objection(proof: &ColdProof, need: Need, ground: Ground) -> Option<String> {
    match proof.device_resident_pages {
        None => return Some("cachestat could not be read for the device".to_owned()),
        Some(0) => {}
        Some(pages) => {
            return Some(format!("{pages} pages of the device were cached before the mount"));
        }
    }
    match proof.backing_resident_pages {
        // Without one, or with one in memory, which cannot leave the page cache: it lies there.
        _ if !ground.image_is_cached => {}
        Some(0) => {}
        Some(pages) => {
            return Some(format!("{pages} pages of the image were cached before the mount"));
        }
        None => return Some("cachestat could not be read for the image".to_owned()),
    }
    match ground.source {
        SourceCache::Below | SourceCache::Memory | SourceCache::Other(Some(0)) => {}
        SourceCache::Other(Some(pages)) => {
            return Some(format!("{pages} pages of the source were cached before the phase"));
        }
        SourceCache::Other(None) => {
            return Some("what is cached of the source cannot be told".to_owned());
        }
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
    use fsarena_model::dataset::Distribution;
    use fsarena_model::work::Op;

    const EXT4: ContentRule =
        ContentRule { block_bytes: 4096, inline_max_bytes: 0, compresses: false };
    const BTRFS: ContentRule =
        ContentRule { block_bytes: 4096, inline_max_bytes: 2048, compresses: false };

    const ON_DISK: Ground =
        Ground { place: Backing::Block, image_is_cached: true, source: SourceCache::Below };

    fn needed(op: Op, dataset: &Dataset, rule: &ContentRule) -> Need {
        need(&Phase::new("phase", op, 4096), dataset, rule, 0)
    }

    fn chilled() -> Option<ColdProof> {
        Some(ColdProof {
            device_resident_pages: Some(0),
            backing_resident_pages: Some(0),
            mount_read_bytes: Some(36 * 4096),
            ..ColdProof::default()
        })
    }

    fn state(chilled: Option<ColdProof>, need: Need, delivered: Option<u64>) -> CacheState {
        judge(Cache::Cold, ON_DISK, chilled, need, delivered).state
    }

    #[test]
    fn need_counts_blocks_but_not_for_inlined_or_compressed_files() {
        let small = Dataset::uniform(100, 256, 0);
        assert_eq!(needed(Op::Read, &small, &EXT4), Need::Data { bytes: 100 * 4096 });
        assert_eq!(needed(Op::Read, &small, &BTRFS), Need::Data { bytes: 25_600 });
        let compressed = ContentRule { compresses: true, ..BTRFS };
        assert_eq!(needed(Op::Read, &small, &compressed), Need::Metadata);
        assert_eq!(needed(Op::Stat, &small, &EXT4), Need::Metadata);
        assert_eq!(needed(Op::Create, &small, &EXT4), Need::Nothing);
        let big = Dataset::uniform(1, 5000, 0);
        assert_eq!(needed(Op::BigRead, &big, &EXT4), Need::Data { bytes: 8192 });
        let sizes = Distribution::Weighted { values: vec![(100, 1), (5000, 1)] };
        let mixed = Dataset { sizes: Some(sizes), ..Dataset::uniform(100, 5000, 0) };
        let large = mixed.bytes().saturating_sub(100 * 100) / 4900;
        let blocks = Need::Data { bytes: (100 - large) * 100 + large * 8192 };
        assert_eq!(needed(Op::Read, &mixed, &BTRFS), blocks);
    }

    #[test]
    fn random_phases_need_each_block_once() {
        let big = Dataset::uniform(1, 1 << 20, 0);
        let mut phase = Phase::new("randread", Op::RandRead, 4096);
        assert_eq!(need(&phase, &big, &EXT4, 0), Need::Data { bytes: 1 << 20 });
        phase.io.ops = Some(10);
        assert_eq!(need(&phase, &big, &EXT4, 0), Need::Data { bytes: 40_960 });
        phase.io.ops = Some(1_000_000);
        assert_eq!(need(&phase, &big, &EXT4, 0), Need::Data { bytes: 1 << 20 });
        phase.op = Op::RandWrite;
        assert_eq!(need(&phase, &big, &EXT4, 0), Need::Nothing);
        phase.op = Op::RandRead;
        phase.op = Op::RandRw;
        assert_eq!(need(&phase, &big, &EXT4, 8192), Need::Data { bytes: 8192 });
        assert_eq!(need(&phase, &big, &EXT4, 1 << 30), Need::Data { bytes: 1 << 20 });
        phase.io.backend = Backend::Null;
        assert_eq!(need(&phase, &big, &EXT4, 0), Need::Nothing);
        let fio = Phase::new("job", Op::Fio, 0);
        assert_eq!(need(&fio, &big, &EXT4, 0), Need::Nothing);
        assert_eq!(need(&fio, &big, &EXT4, 1), Need::Metadata);
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
        let ground = Ground { image_is_cached: false, ..ON_DISK };
        let record = judge(Cache::Cold, ground, Some(in_memory), Need::Nothing, Some(0));
        assert_eq!(record.state, CacheState::Cold);
    }

    #[test]
    fn memory_is_warm_by_nature_whatever_was_asked() {
        let ground = Ground { place: Backing::Memory, image_is_cached: false, ..ON_DISK };
        let record = judge(Cache::Cold, ground, None, Need::Nothing, None);
        assert_eq!(record.state, CacheState::WarmByNature);
    }

    #[test]
    fn a_source_elsewhere_is_part_of_the_proof() {
        let record = |source, chilled| {
            let ground = Ground { source, ..ON_DISK };
            judge(Cache::Cold, ground, chilled, Need::Nothing, Some(0))
        };
        let cold = record(SourceCache::Other(Some(0)), chilled());
        assert_eq!((cold.state, cold.why.as_str()), (CacheState::Cold, "proved"));
        assert_eq!(cold.proof.source_resident_pages, Some(0));
        let cached = record(SourceCache::Other(Some(3)), chilled());
        assert_eq!(cached.state, CacheState::Warm);
        assert!(cached.why.starts_with("3 pages of the source"), "{}", cached.why);
        assert_eq!(record(SourceCache::Other(None), chilled()).state, CacheState::Warm);
        let memory = record(SourceCache::Memory, chilled());
        assert_eq!(memory.state, CacheState::Cold, "the device is");
        assert_eq!(memory.why, "proved, its source in memory");
        let alone = record(SourceCache::Other(Some(0)), None);
        assert_eq!(alone.state, CacheState::Warm);
        assert_eq!(alone.why, "only its source was made cold before this phase");
        assert_eq!(alone.proof.source_resident_pages, Some(0));
    }
}
