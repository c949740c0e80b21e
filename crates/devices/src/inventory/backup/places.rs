//! Where copies of signatures lie, computed from the size of the device.

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Sizes of a sector.
const SECTORS: [u64; 4] = [512, 1024, 2048, 4096];
/// Sizes of a block of ext4 and xfs.
const BLOCKS: [u64; 7] = [KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB];
/// Block groups of ext4 in which a copy lies even with `sparse_super`; besides, powers of these.
const EXT_GROUPS: [u64; 4] = [1, 3, 5, 7];
/// Most allocation groups of an xfs that are tried; it has four unless something else was said.
const XFS_GROUPS_MAX: u64 = 32;

/// A place on a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CopyPlace {
    pub at_byte: u64,
    /// Size of a block or sector for which it is this place.
    pub unit: u64,
    /// Number of the group for which it is this place.
    pub group: u64,
}

impl CopyPlace {
    fn new(at_byte: u64) -> Self {
        Self { at_byte, unit: 512, group: 0 }
    }
}

/// The same places on every device.
pub(super) fn at(places: &[u64]) -> Vec<CopyPlace> {
    places.iter().copied().map(CopyPlace::new).collect()
}

/// So many bytes before the end.
pub(super) fn from_end(size_bytes: u64, back: &[u64]) -> Vec<CopyPlace> {
    back.iter().filter_map(|back| size_bytes.checked_sub(*back)).map(CopyPlace::new).collect()
}

/// The sector of this number, for each size of a sector.
pub(super) fn sectors(number: u64) -> Vec<CopyPlace> {
    SECTORS.iter().map(|sector| CopyPlace::new(number * sector)).collect()
}

/// The first block of block groups of ext2, ext3 and ext4: 1, 3, 5, 7, and the last.
pub(super) fn ext(size_bytes: u64) -> Vec<CopyPlace> {
    let of_size = |unit: u64| {
        let first_block = u64::from(unit == KIB);
        let blocks = size_bytes / unit;
        let last = blocks.saturating_sub(first_block + 1) / (8 * unit);
        let is_last_alone = last > 1 && !EXT_GROUPS.contains(&last);
        let groups = EXT_GROUPS.into_iter().chain(is_last_alone.then_some(last));
        groups.map(move |group| CopyPlace {
            at_byte: (first_block + group * 8 * unit) * unit,
            unit,
            group,
        })
    };
    BLOCKS.into_iter().flat_map(of_size).collect()
}

/// The second and the last allocation group of an xfs that fills the device.
pub(super) fn xfs(size_bytes: u64) -> Vec<CopyPlace> {
    // mkfs.xfs makes no group of 1 TiB or more.
    let largest = (1 << 40) - 4 * KIB;
    let mut places = vec![CopyPlace { at_byte: largest, unit: 4 * KIB, group: 1 }];
    for unit in BLOCKS {
        let blocks = size_bytes / unit;
        let counts = if unit == 4 * KIB { 2..=XFS_GROUPS_MAX } else { 4..=4 };
        for count in counts {
            let length = blocks.div_ceil(count) * unit;
            for group in [1, count - 1] {
                places.push(CopyPlace { at_byte: group * length, unit, group });
            }
        }
    }
    places
}

/// The superblocks of btrfs behind the first.
pub(super) fn btrfs(_size_bytes: u64) -> Vec<CopyPlace> {
    at(&[64 * MIB, 256 * GIB])
}

/// The last sector, and where a volume ends that has no whole number of larger sectors.
pub(super) fn ntfs(size_bytes: u64) -> Vec<CopyPlace> {
    let ends = SECTORS.map(|sector| (size_bytes - size_bytes % sector).checked_sub(sector));
    ends.into_iter().flatten().map(CopyPlace::new).collect()
}

/// The last 4 KiB of disks of usual sizes, smaller than this one.
pub(super) fn grown(size_bytes: u64) -> Vec<CopyPlace> {
    let whole = (1..=64).map(|gib| gib * GIB);
    let powers = (24..44).map(|power| 1 << power);
    let tenths = (80..=1000).step_by(20).map(|gib| gib * GIB);
    let parts = [(1, 2), (1, 3), (2, 3), (1, 4), (3, 4), (1, 5), (2, 5), (3, 5), (4, 5), (1, 8)];
    let parts = parts.into_iter().map(|(of, all)| size_bytes / all * of / (4 * KIB) * (4 * KIB));
    let mut ends: Vec<u64> = whole.chain(powers).chain(tenths).chain(parts).collect();
    ends.retain(|end| *end >= MIB && *end < size_bytes);
    ends.sort_unstable();
    ends.dedup();
    ends.into_iter().map(|end| CopyPlace::new(end - 4 * KIB)).collect()
}

/// The JSON text behind both headers of LUKS2 (LUKS2 On-Disk Format Specification, 2.2).
pub(super) fn luks2(_size_bytes: u64) -> Vec<CopyPlace> {
    let second = (14..=22).map(|power| (1_u64 << power) + 4 * KIB);
    std::iter::once(4 * KIB).chain(second).map(CopyPlace::new).collect()
}

/// The metadata areas of an LVM2 physical volume, at both ends.
pub(super) fn lvm(size_bytes: u64) -> Vec<CopyPlace> {
    let last = size_bytes.saturating_sub(MIB);
    at(&[4 * KIB, last / MIB * MIB, last])
}

/// The first partition of a disk, by tools of before and after 2010.
pub(super) fn partition_starts() -> Vec<CopyPlace> {
    at(&[63 * 512, MIB])
}
