//! The cold proof: from readings to a state, without touching anything.
//!
//! A phase is *cold* when nothing of the device was in the page cache before the mount (cachestat),
//! nor of a source on another file system, **and** the device then delivered what the phase needed.
//! A phase that was asked to be cold and cannot prove it is *warm*; the reason is part of the
//! record. A phase that was asked to be warm is *not warm* where the device delivered what should
//! have been in the caches. That somebody dropped them is counted; alone it proves nothing: what
//! the phase needs may have been read or written since.

use fsarena_filesystems::{Backing, ContentRule, MetadataRule};
use fsarena_model::contender::{Cache, Contender};
use fsarena_model::dataset::Draw;
use fsarena_model::op::{ColdNeed, Count};
use fsarena_model::record::{CacheRecord, CacheState, ColdProof};
use fsarena_model::work::{Backend, Dataset, DatasetState, Io, Op, Phase, WorkerReport};

/// Share of the needed bytes that the device must have delivered (DESIGN §3).
const DELIVERED_SHARE: f64 = 0.9;
/// A warm phase may read one part in so many of what a cold one would have to.
const WARM_READS_PART: u64 = 10;
/// Of a sector of ours, so many bytes can be compressed: its stamp. The rest is random within a
/// file.
const STAMP_BYTES: u64 = 32;
const STAMPED_BYTES: u64 = 512;

/// What a cold phase has to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// Nothing that was written before: a phase that only creates.
    Nothing,
    /// Inodes and directories of at least so many bytes, of which the mount may have read so many;
    /// 0 where it is not known how much.
    Metadata { bytes: u64, mount_bytes: u64 },
    /// At least this much data.
    Data { bytes: u64 },
}

/// Metadata of which it is not known how much it is.
pub(crate) const SOME_METADATA: Need = Need::Metadata { bytes: 0, mount_bytes: 0 };

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
/// inside metadata count with their bare length, and of compressed ones what no program can make
/// smaller. Of inodes and names counts what the file system stores of each. What is written over
/// need not be read first: a small file system has read the inode with its root
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
        ColdNeed::Metadata => match (metadata_bytes(phase, dataset, rule), rule.metadata) {
            (bytes @ 1.., Some(MetadataRule { mount_bytes, .. })) => {
                Need::Metadata { bytes, mount_bytes }
            }
            _ => SOME_METADATA,
        },
        ColdNeed::MetadataIfRead => SOME_METADATA,
        _ if dataset.bytes() == 0 => SOME_METADATA,
        // Of a file system of which nothing is known, nothing is claimed.
        _ if rule.compresses && rule.metadata.is_none() => SOME_METADATA,
        ColdNeed::Contents if rule.compresses => {
            Need::Data { bytes: incompressible_bytes(dataset) }
        }
        _ if rule.compresses => SOME_METADATA,
        ColdNeed::Contents => Need::Data { bytes: stored_bytes(dataset, rule) },
        ColdNeed::Blocks => Need::Data { bytes: distinct_bytes(phase, dataset, read_bytes) },
        ColdNeed::BlocksRead => {
            Need::Data { bytes: read_bytes.min(distinct_bytes(phase, dataset, read_bytes)) }
        }
    }
}

impl Need {
    /// The same where earlier phases have made `state` of the dataset: what was cut off or never
    /// written is not read.
    #[must_use]
    pub fn in_state(self, state: &DatasetState, has_one_size: bool) -> Self {
        match self {
            Self::Data { .. } if !state.is_whole() || state.unwritten => SOME_METADATA,
            // Other files of other sizes are there than those that were counted.
            Self::Data { .. } if !has_one_size && state.reached.is_some() => SOME_METADATA,
            need => need,
        }
    }

    /// Of what its bytes are, behind their number.
    fn what(&self) -> &'static str {
        if matches!(self, Self::Metadata { .. }) { " of inodes and names" } else { "" }
    }
}

/// Whether what came is as much as a cold phase needs.
fn is_enough(delivered_bytes: u64, needed_bytes: u64) -> bool {
    delivered_bytes as f64 >= DELIVERED_SHARE * needed_bytes as f64
}

/// Bytes of inodes and directories that `phase` goes through, at least. A directory that is to be
/// removed is empty, and how much of a full one is met by new names is not known.
fn metadata_bytes(phase: &Phase, dataset: &Dataset, rule: &ContentRule) -> u64 {
    let Some(metadata) = rule.metadata else { return 0 };
    let name_bytes = u64::from(dataset.file_name_bytes());
    let entries = metadata.entries_bytes(dataset.files, name_bytes, dataset.dirs);
    match (phase.op.info().count, phase.op) {
        (_, Op::Symlink | Op::Rmdir) => 0,
        (Count::Dirs { .. }, _) => entries,
        _ => metadata.inodes_bytes(dataset.files).saturating_add(entries),
    }
}

/// Bytes of all files that no compression makes less: all but the stamps.
fn incompressible_bytes(dataset: &Dataset) -> u64 {
    let random = |size_bytes: u64| {
        size_bytes.saturating_sub(size_bytes.div_ceil(STAMPED_BYTES) * STAMP_BYTES)
    };
    match dataset.draw_sizes() {
        Draw::Fixed(size_bytes) => dataset.files.saturating_mul(random(size_bytes)),
        sizes => (0..dataset.files).map(|file| random(sizes.value_at(file))).sum(),
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

/// Bytes of the blocks that a random phase meets, each once. Of one with a runtime, that has read
/// `read_bytes`, as many as are met where each block is drawn from all: its threads begin at other
/// places of the order, which is new in each round, and so meet no fewer.
fn distinct_bytes(phase: &Phase, dataset: &Dataset, read_bytes: u64) -> u64 {
    let io = Io { ops: None, runtime_ns: None, ..phase.io.clone() };
    let all = Phase { io, ..phase.clone() }.count(dataset).saturating_mul(phase.bs_bytes);
    match phase.io.runtime_ns {
        Some(_) if all == 0 => 0,
        Some(_) => (all as f64 * (1.0 - (-(read_bytes as f64) / all as f64).exp())) as u64,
        None => all.min(phase.count(dataset).saturating_mul(phase.bs_bytes)),
    }
}

/// The state of a phase's cache by its readings.
///
/// `chilled` holds the readings of the last chill, `None` where there was none.
#[must_use]
pub fn judge(
    asked: Cache,
    ground: Ground,
    chilled: Option<ColdProof>,
    (need, warmth): (Need, Warmth),
    delivered_read_bytes: Option<u64>,
) -> CacheRecord {
    // Cold at the start means warm for whatever has no chill before it. What it reads for the first
    // time comes from the device then.
    let warmth = Warmth { reads_again: warmth.reads_again && asked == Cache::Warm, ..warmth };
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
    proof.needed_read_bytes = Some(match need {
        Need::Nothing => 0,
        Need::Metadata { bytes, mount_bytes } => {
            bytes.saturating_sub(mount_bytes.min(proof.mount_read_bytes.unwrap_or(mount_bytes)))
        }
        Need::Data { bytes } => bytes,
    });
    let (state, why) = match (ground.place, asked, chilled) {
        (Backing::Elsewhere, ..) => {
            proof.cache_drops = warmth.cache_drops.filter(|_| asked == Cache::Warm);
            (CacheState::Warm, "it has no device of its own that could prove it".to_owned())
        }
        (Backing::Memory, ..) => {
            (CacheState::WarmByNature, "the file system lives in memory".to_owned())
        }
        (_, Cache::Warm | Cache::ColdStart | Cache::ColdClients | Cache::Unknown, _) => {
            proof.cache_drops = warmth.cache_drops;
            match warmth.objection(need, &proof) {
                Some(objection) => (CacheState::NotWarm, objection),
                None => (CacheState::Warm, "warm was asked for".to_owned()),
            }
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
            None => (CacheState::Cold, proved(need, proof.needed_read_bytes, ground)),
        },
    };
    CacheRecord { asked, state, why, proof }
}

/// The same of a contender that can never be as cold as it was asked to be: what was asked stays.
/// `is_first`: no phase of the trial was measured before.
#[must_use]
pub fn as_asked(record: CacheRecord, contender: &Contender, is_first: bool) -> CacheRecord {
    let Some((cache, asked)) = contender.asked_cache() else { return record };
    match (cache, record.state) {
        (Cache::ColdStart, _) if !is_first => record,
        (_, CacheState::Warm) => {
            CacheRecord { asked: Cache::Cold, why: asked.why.clone(), ..record }
        }
        _ => CacheRecord { asked: Cache::Cold, ..record },
    }
}

/// Of an answer about one file, a client receives at least so much: no protocol says what an inode
/// is in less.
const ANSWER_BYTES: u64 = 32;

/// What the clients of a shared file system have to receive in a phase. Contents come as they are:
/// how servers store them says nothing about the network.
#[must_use]
pub fn need_of_clients(phase: &Phase, dataset: &Dataset, report: &WorkerReport) -> Need {
    const SENT: ContentRule = ContentRule {
        block_bytes: 1,
        inline_max_bytes: u64::MAX,
        compresses: false,
        metadata: None,
    };
    let read_bytes = report.asked_bytes.saturating_sub(report.asked_written_bytes.unwrap_or(0));
    match need(phase, dataset, &SENT, read_bytes) {
        Need::Metadata { .. } => {
            Need::Metadata { bytes: report.ops.saturating_mul(ANSWER_BYTES), mount_bytes: 0 }
        }
        need => need,
    }
}

/// The state of the clients' caches in a phase: each was made cold right before it, or not, and
/// then all together received so many bytes.
#[must_use]
pub fn judge_clients(chilled: bool, need: Need, received_bytes: Option<u64>) -> CacheRecord {
    let needed = match need {
        Need::Nothing => 0,
        Need::Metadata { bytes, .. } | Need::Data { bytes } => bytes,
    };
    let what = need.what();
    let objection = match received_bytes {
        _ if !chilled => Some("the caches of the clients were not dropped before it".to_owned()),
        None if needed > 0 => Some("not every client tells what it received".to_owned()),
        Some(received) if !is_enough(received, needed) => {
            Some(format!("the clients received {received} of {needed} bytes{what} needed"))
        }
        _ => None,
    };
    let state = if objection.is_none() { CacheState::ColdClients } else { CacheState::Warm };
    let proved = "every client was made cold, and what the servers had cached is not known";
    let proof = ColdProof {
        needed_read_bytes: Some(needed),
        delivered_read_bytes: received_bytes,
        ..ColdProof::default()
    };
    let why = objection.unwrap_or_else(|| proved.to_owned());
    CacheRecord { asked: Cache::ColdClients, state, why, proof }
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
    let needed = proof.needed_read_bytes.unwrap_or(0);
    match need {
        Need::Nothing => None,
        Need::Metadata { .. } if needed == 0 && delivered > 0 => None,
        Need::Metadata { .. } if needed == 0 => Some("the device delivered nothing".to_owned()),
        Need::Data { .. } | Need::Metadata { .. } => {
            let what = need.what();
            (!is_enough(delivered, needed))
                .then(|| format!("the device delivered {delivered} of {needed} bytes{what} needed"))
        }
    }
}

/// What a proof is worth.
fn proved(need: Need, needed_read_bytes: Option<u64>, ground: Ground) -> String {
    let source = if ground.source == SourceCache::Memory { ", its source in memory" } else { "" };
    let how = match need {
        Need::Metadata { .. } if needed_read_bytes == Some(0) => {
            " by any read (how much it has to read is not known)"
        }
        _ => "",
    };
    format!("proved{how}{source}")
}

/// What speaks for and against a warm phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Warmth {
    /// How often somebody dropped the caches of the machine since the phase before began, or since
    /// the mount; absent where the kernel does not tell.
    pub cache_drops: Option<u64>,
    /// What the file system may read for its own use at its first use, bytes.
    pub first_use_bytes: u64,
    /// Whether what it reads was read or written since the mount, so that it can be cached: not of
    /// direct I/O, and not where the memory for it is limited.
    pub reads_again: bool,
}

impl Warmth {
    /// The first thing that keeps a phase from being called warm: the rule for cold ones, in
    /// reverse. Of how much it has to read nothing being known, what it read after a drop speaks
    /// against it.
    fn objection(&self, need: Need, proof: &ColdProof) -> Option<String> {
        let (delivered, needed) = (proof.delivered_read_bytes?, proof.needed_read_bytes?);
        let is_known = needed > 0 || (need != Need::Nothing && self.drops().is_some());
        let most = (needed / WARM_READS_PART).max(self.first_use_bytes);
        if !(self.reads_again && is_known && delivered > most) {
            return None;
        }
        let of =
            if needed > 0 { format!("{delivered} of {needed}") } else { delivered.to_string() };
        let drops = self.drops().map_or_else(String::new, |drops| format!("; {drops}"));
        Some(format!("the device delivered {of} bytes that should be cached{drops}"))
    }

    fn drops(&self) -> Option<String> {
        dropped(self.cache_drops)
    }
}

/// That caches were dropped, and how often, in words.
pub(crate) fn dropped(cache_drops: Option<u64>) -> Option<String> {
    let drops = cache_drops.filter(|drops| *drops > 0)?;
    let times = if drops == 1 { "once".to_owned() } else { format!("{drops} times") };
    Some(format!("the caches of the machine were dropped {times}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::{AskedBy, CACHE, DeviceLevel, FsLevel, Levels, RequestedLevel};
    use fsarena_model::dataset::Distribution;
    use fsarena_model::work::Op;

    const FIRST_USE_BYTES: u64 = 64 << 10;
    const META: Option<MetadataRule> = Some(MetadataRule {
        inode_bytes: 256,
        entry_bytes: 8,
        entry_align_bytes: 4,
        dir_inline_bytes: 0,
        mount_bytes: 33 * 4096,
    });
    const EXT4: ContentRule =
        ContentRule { block_bytes: 4096, inline_max_bytes: 0, compresses: false, metadata: META };
    const BTRFS: ContentRule = ContentRule { inline_max_bytes: 2048, ..EXT4 };

    const ON_DISK: Ground =
        Ground { place: Backing::Block, image_is_cached: true, source: SourceCache::Below };

    fn metadata(bytes: u64) -> Need {
        Need::Metadata { bytes, mount_bytes: 33 * 4096 }
    }

    const NOTHING: (Need, Warmth) =
        (Need::Nothing, Warmth { cache_drops: None, first_use_bytes: 0, reads_again: false });

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
        judge(Cache::Cold, ON_DISK, chilled, (need, Warmth::default()), delivered).state
    }

    #[test]
    fn need_counts_blocks_but_not_for_inlined_or_compressed_files() {
        let small = Dataset::uniform(100, 256, 0);
        assert_eq!(needed(Op::Read, &small, &EXT4), Need::Data { bytes: 100 * 4096 });
        assert_eq!(needed(Op::Read, &small, &BTRFS), Need::Data { bytes: 25_600 });
        let compressed = ContentRule { compresses: true, ..BTRFS };
        assert_eq!(needed(Op::Read, &small, &compressed), Need::Data { bytes: 100 * (256 - 32) });
        let unknown = ContentRule { metadata: None, ..compressed };
        assert_eq!(needed(Op::Read, &small, &unknown), SOME_METADATA);
        assert_eq!(needed(Op::Stat, &small, &unknown), SOME_METADATA);
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
        assert_eq!(need(&fio, &big, &EXT4, 1), SOME_METADATA);
    }

    #[test]
    fn cold_needs_both_halves_of_the_proof() {
        let data = Need::Data { bytes: 1000 };
        assert_eq!(state(chilled(), data, Some(900)), CacheState::Cold);
        assert_eq!(state(chilled(), data, Some(899)), CacheState::Warm);
        assert_eq!(state(chilled(), data, None), CacheState::Warm);
        assert_eq!(state(None, data, Some(1000)), CacheState::Warm);
        assert_eq!(state(chilled(), SOME_METADATA, Some(0)), CacheState::Warm);
        assert_eq!(state(chilled(), SOME_METADATA, Some(1)), CacheState::Cold);
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
        let record = judge(Cache::Cold, ground, Some(in_memory), NOTHING, Some(0));
        assert_eq!(record.state, CacheState::Cold);
    }

    #[test]
    fn memory_is_warm_by_nature_whatever_was_asked() {
        let ground = Ground { place: Backing::Memory, image_is_cached: false, ..ON_DISK };
        let record = judge(Cache::Cold, ground, None, NOTHING, None);
        assert_eq!(record.state, CacheState::WarmByNature);
    }

    #[test]
    fn a_source_elsewhere_is_part_of_the_proof() {
        let record = |source, chilled| {
            let ground = Ground { source, ..ON_DISK };
            judge(Cache::Cold, ground, chilled, NOTHING, Some(0))
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

    #[test]
    fn clients_are_cold_where_they_received_what_they_needed() {
        let set = Dataset::uniform(100, 1000, 10);
        let report = WorkerReport { ops: 100, asked_bytes: 100_000, ..WorkerReport::default() };
        let need = |op| need_of_clients(&Phase::new("phase", op, 4096), &set, &report);
        assert_eq!(need(Op::Create), Need::Nothing);
        assert_eq!(need(Op::Read), Need::Data { bytes: 100_000 });
        assert_eq!(need(Op::Stat), Need::Metadata { bytes: 3200, mount_bytes: 0 });
        let state = |chilled, op, received| judge_clients(chilled, need(op), received).state;
        assert_eq!(state(true, Op::Read, Some(90_000)), CacheState::ColdClients);
        assert_eq!(state(true, Op::Read, Some(89_999)), CacheState::Warm);
        assert_eq!(state(true, Op::Read, None), CacheState::Warm);
        assert_eq!(state(true, Op::Create, None), CacheState::ColdClients, "it reads nothing");
        assert_eq!(state(false, Op::Create, Some(1 << 30)), CacheState::Warm);
        let few = judge_clients(true, need(Op::Stat), Some(100));
        assert_eq!(few.why, "the clients received 100 of 3200 bytes of inodes and names needed");
    }

    /// One byte proves nothing: all inodes and names have to come, but for those that came with the
    /// mount.
    #[test]
    fn inodes_and_names_have_to_be_read() {
        let set = Dataset::uniform(5000, 256, 10);
        let bytes = 5000 * (256 + 20);
        for op in [Op::Stat, Op::Delete, Op::Rename, Op::Setxattr] {
            assert_eq!(needed(op, &set, &EXT4), metadata(bytes), "{op:?}");
        }
        assert_eq!(needed(Op::List, &set, &EXT4), metadata(5000 * 20));
        assert_eq!(needed(Op::Symlink, &set, &EXT4), SOME_METADATA);
        assert_eq!(needed(Op::Rmdir, &set, &EXT4), SOME_METADATA);
        let inline = MetadataRule { dir_inline_bytes: 512, ..META.expect("is known") };
        let inline = ContentRule { metadata: Some(inline), ..EXT4 };
        let entries = metadata(5000 * 20 - 10 * 512);
        assert_eq!(needed(Op::List, &set, &inline), entries);
        let judged = |delivered| {
            let need = (metadata(bytes), Warmth::default());
            judge(Cache::Cold, ON_DISK, chilled(), need, Some(delivered))
        };
        // Of the 36 pages that the mount read, three were no inodes.
        let left = bytes - 33 * 4096;
        let weak = judged(1);
        assert_eq!(weak.state, CacheState::Warm, "one byte was a proof once");
        assert!(weak.why.ends_with("bytes of inodes and names needed"), "{}", weak.why);
        assert_eq!(weak.proof.needed_read_bytes, Some(left));
        let enough = (left * 9).div_ceil(10);
        assert_eq!(judged(enough).state, CacheState::Cold);
        assert_eq!(judged(enough).why, "proved");
        assert_eq!(judged(enough - 1).state, CacheState::Warm);
        let any =
            judge(Cache::Cold, ON_DISK, chilled(), (SOME_METADATA, Warmth::default()), Some(1));
        assert!(any.why.starts_with("proved by any read"), "the weak proof says so: {}", any.why);
    }

    /// The rule for cold phases in reverse.
    #[test]
    fn warm_is_proved_as_well() {
        let judged = |asked, cache_drops, reads_again, delivered| {
            let warmth = Warmth { cache_drops, first_use_bytes: FIRST_USE_BYTES, reads_again };
            let need = Need::Data { bytes: 10 << 20 };
            judge(asked, ON_DISK, None, (need, warmth), delivered)
        };
        let warm = |drops, reads_again, delivered| {
            judged(Cache::Warm, drops, reads_again, delivered).state
        };
        assert_eq!(warm(Some(0), true, Some(0)), CacheState::Warm);
        assert_eq!(warm(None, true, Some(1 << 20)), CacheState::Warm, "a tenth of it");
        assert_eq!(warm(Some(0), true, Some((1 << 20) + 1)), CacheState::NotWarm);
        assert_eq!(warm(Some(0), false, Some(10 << 20)), CacheState::Warm, "direct I/O");
        assert_eq!(warm(Some(1), true, Some(0)), CacheState::Warm, "dropped, and read again since");
        assert_eq!(warm(Some(0), true, None), CacheState::Warm, "no device of its own");
        let start = judged(Cache::ColdStart, Some(0), true, Some(10 << 20));
        assert_eq!(start.state, CacheState::Warm, "it reads for the first time");
        let spoilt = judged(Cache::Warm, Some(3), true, Some(9 << 20));
        let why = "the device delivered 9437184 of 10485760 bytes that should be cached; the \
                   caches of the machine were dropped 3 times";
        assert_eq!((spoilt.state, spoilt.why.as_str()), (CacheState::NotWarm, why));
        assert_eq!(spoilt.proof.cache_drops, Some(3));
        let unknown = |cache_drops, need, delivered| {
            let warmth =
                Warmth { cache_drops, first_use_bytes: FIRST_USE_BYTES, reads_again: true };
            judge(Cache::Warm, ON_DISK, None, (need, warmth), Some(delivered)).state
        };
        assert_eq!(unknown(Some(0), SOME_METADATA, 1 << 20), CacheState::Warm);
        assert_eq!(unknown(Some(1), SOME_METADATA, 1 << 20), CacheState::NotWarm);
        assert_eq!(unknown(Some(1), SOME_METADATA, 1 << 16), CacheState::Warm);
        assert_eq!(unknown(Some(1), Need::Nothing, 1 << 20), CacheState::Warm, "it only creates");
        // An archive of 100 kB that is unpacked on a fresh xfs: roots of the trees of its groups.
        let xfs = |delivered| {
            let warmth =
                Warmth { cache_drops: Some(0), first_use_bytes: 100_352, reads_again: true };
            let need = (Need::Data { bytes: 100_000 }, warmth);
            judge(Cache::Warm, ON_DISK, None, need, Some(delivered)).state
        };
        assert_eq!(xfs(67_072), CacheState::Warm);
        assert_eq!(xfs(100_353), CacheState::NotWarm);
        let memory = Ground { place: Backing::Memory, ..ON_DISK };
        let warmth = Warmth { cache_drops: Some(3), first_use_bytes: 0, reads_again: true };
        let tmpfs = judge(Cache::Warm, memory, None, (Need::Nothing, warmth), None);
        assert_eq!(tmpfs.state, CacheState::WarmByNature, "its pages cannot be dropped");
    }

    #[test]
    fn what_was_asked_of_a_directory_stays_asked() {
        let warm = || CacheRecord {
            asked: Cache::Warm,
            state: CacheState::Warm,
            why: "it has no device of its own that could prove it".to_owned(),
            proof: ColdProof::default(),
        };
        let device = DeviceLevel::Directory { path: "/srv".into() };
        let levels =
            Levels { cache: Cache::Warm, ..Levels::plain(FsLevel::plain("directory"), device) };
        let mut own = Contender::new("directory", 1, levels);
        assert_eq!(as_asked(warm(), &own, true), warm(), "it was asked to be warm");
        let asked = |level: &str| RequestedLevel {
            level: level.to_owned(),
            by: AskedBy::User,
            why: "it cannot".to_owned(),
        };
        own.asked.insert(CACHE.to_owned(), asked("cold"));
        let cold = CacheRecord { asked: Cache::Cold, why: "it cannot".to_owned(), ..warm() };
        assert_eq!(as_asked(warm(), &own, false), cold);
        own.asked.insert(CACHE.to_owned(), asked("cold-start"));
        assert_eq!(as_asked(warm(), &own, true), cold);
        assert_eq!(as_asked(warm(), &own, false), warm(), "only its first phase was to be cold");
    }
}
