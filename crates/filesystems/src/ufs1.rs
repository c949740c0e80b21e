//! UFS1, the fast file system of BSD, made by makefs and mounted as `ufs` with `ufstype=44bsd`,
//! written by its manual page, ffs/mkfs.c of makefs 20190105 and fs/ufs of Linux 6.1.
//!
//! The kernel has to be built with `CONFIG_UFS_FS_WRITE`, as guest kernels are and Debian's is not.
//! It reads the superblock in sectors of 512 bytes: a device with larger ones cannot be mounted.
//!
//! makefs writes zeros over the whole device first, by calls of 8 KiB, and never discards: it needs
//! no memory for an image, and nothing of what was there is left. It makes a file system of a
//! directory; an empty one that each kernel has is given to it. Its random numbers are always the
//! same; the superblock holds addresses of its memory, which a guest pins and other kernels do not.
//!
//! UFS2 of makefs has its superblock at 8 KiB, and Linux looks at 64 KiB alone, where makefs puts
//! inodes: there is no driver of it here.

use super::mkfs::ValueRule::{Computed, Number, PowerOfTwo, Text};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader};
use super::options::{Rule, output_of, version_of};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, MetadataRule};
use fsarena_model::account::{FsLayout, Range};
use fsarena_model::capacity::{Capacity, Predicted};
use fsarena_model::contender::{Discard, FsLevel};
use std::collections::BTreeMap;
use std::path::Path;

/// The driver of UFS1.
pub(super) struct Ufs1;

/// Where the superblock lies, and the room that is kept for it and each of its copies.
const SUPERBLOCK_BYTES: u64 = 8192;
/// Of an inode.
const INODE_BYTES: u64 = 128;
/// Inodes that are taken from the start: 0 and 1, which are none, and the root directory.
const TAKEN_INODES: u64 = 3;
/// Linux takes no larger fragments.
const FRAGMENT_MAX_BYTES: u64 = 4096;
/// A block has so many fragments at most.
const FRAGMENTS_OF_BLOCK: u64 = 8;
/// Above it makefs would take fewer bytes for each inode than it is told.
const RATIO_MAX_FRAGMENTS: u64 = 256;
/// Up to this percentage Linux allocates for space, whatever the superblock says.
const SPACE_PERCENT: u64 = 5;
/// Room for the superblock, a group and some files with the largest blocks.
const LEAST_BYTES: u64 = 1 << 20;

static MKFS: Mkfs = Mkfs {
    // -T: no time but 0. The averages are those of newfs; Linux does not read them.
    command: "makefs -t ffs -B le -T 0 -S 512 -s {size} -o version=1,bsize={block_size},\
              fsize={fragment_size},density={inode_ratio},minfree={reserved_percent},\
              optimization={optimization},extent={block_size},maxbpf={file_blocks},\
              avgfilesize=16384,avgfpdir=64 {device} /proc/tty/ldisc",
    programs: &["makefs"],
    package: "makefs",
    options: &[
        MkfsOption::new("block_size", "bytes of a block", PowerOfTwo(4096, 32_768, 16_384)),
        MkfsOption::new(
            "fragment_size",
            "bytes of a fragment, an eighth of a block to a block, 512 to 4096; an eighth",
            Computed(fragment_size),
        ),
        MkfsOption::new(
            "inode_ratio",
            "bytes of the device for each inode, 1 to 256 fragments, a power of two; 4 fragments",
            Computed(inode_ratio),
        ),
        MkfsOption::new("reserved_percent", "percent of the room kept for root", Number(0, 50, 8)),
        MkfsOption::new(
            "optimization",
            "what fragments of a growing file are allocated for: time or space; time, space where \
             reserved_percent is 5 or less",
            Text(optimization),
        ),
        MkfsOption::new("file_blocks", "", Computed(file_blocks)),
        MkfsOption::new("size", "", Computed(size)),
    ],
};

fn fragment_size(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let block = reader.values.number("block_size");
    let least = block / FRAGMENTS_OF_BLOCK;
    reader.power_of_two(least, block.min(FRAGMENT_MAX_BYTES), least).map(Some)
}

fn inode_ratio(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let fragment = reader.values.number("fragment_size");
    reader.power_of_two(fragment, RATIO_MAX_FRAGMENTS * fragment, 4 * fragment).map(Some)
}

fn optimization(reader: &OptionReader<'_>) -> Result<String, IllegalLevel> {
    let percent = reader.values.number("reserved_percent");
    match (reader.text(), percent <= SPACE_PERCENT) {
        (Some("space"), _) | (None, true) => Ok("space".to_owned()),
        (Some("time") | None, false) => Ok("time".to_owned()),
        (Some("time"), true) => Err(reader.rule.broken(
            format!("Linux allocates for space where reserved_percent is {percent}"),
            "write reserved_percent = \"6\" or more, or leave optimization out",
        )),
        (Some(word), _) => Err(reader
            .rule
            .broken(format!("optimization = {word} is not known"), "use one of time, space")),
    }
}

/// Blocks of a file in one group, which Linux does not read: as many as a block has pointers.
fn file_blocks(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    Ok(Some(reader.values.number("block_size") / 4))
}

/// The blocks of the device: makefs would round up, and then refuse.
fn size(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let block = reader.values.number("block_size");
    Ok(Some(reader.values.device_bytes / block * block))
}

impl FileSystem for Ufs1 {
    fn name(&self) -> &'static str {
        "ufs1"
    }

    fn summary(&self) -> &'static str {
        "UFS1: the fast file system of BSD, blocks with fragments; no journal, no soft updates"
    }

    fn kernel_type(&self) -> Option<&str> {
        Some("ufs")
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    fn least_bytes(&self, _: &MkfsValues) -> u64 {
        LEAST_BYTES
    }

    fn check_mount(&self, level: &FsLevel, values: &MkfsValues) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        let made_so = ": it is made and mounted as 44bsd";
        rule.no_mount_option(level, &["ufstype"], made_so, "leave it out")?;
        let fragments = values.number("size") / values.number("fragment_size");
        let most = i32::MAX.unsigned_abs().into();
        if values.device_bytes != u64::MAX && fragments > most {
            return Err(rule.broken(
                format!("{fragments} fragments are more than their numbers can count, {most}"),
                "use a smaller device, or a larger fragment_size",
            ));
        }
        Ok(())
    }

    /// `rw`, so that mount(8) does not fall back to reading where the kernel cannot write it.
    fn mount_options(&self, level: &FsLevel, _: Discard, _: Option<u64>) -> Vec<String> {
        let fixed = ["rw", "ufstype=44bsd"].map(str::to_owned);
        fixed.into_iter().chain(level.mount.iter().cloned()).collect()
    }

    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        Ok(Superblock::read(device)?.features())
    }

    /// makefs does not say it: that of its package is asked for.
    fn version(&self) -> Option<String> {
        version_of("dpkg-query", &["-W", "-f", "${Package} ${Version}\n", "makefs"])
    }

    /// Of a tail only its fragments are read.
    fn content(&self, level: &FsLevel) -> ContentRule {
        let values = self.mkfs_values(level, None);
        let block_bytes = values.map_or(512, |values| values.number("fragment_size"));
        let metadata = self.metadata(level);
        ContentRule { block_bytes, inline_max_bytes: 0, compresses: false, metadata }
    }

    /// An entry has 8 bytes, the name and a zero.
    fn metadata(&self, _: &FsLevel) -> Option<MetadataRule> {
        Some(MetadataRule {
            inode_bytes: INODE_BYTES,
            entry_bytes: 9,
            entry_align_bytes: 4,
            dir_inline_bytes: 0,
            mount_bytes: 64 << 10,
        })
    }

    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        let values = self.mkfs_values(level, Some(device_bytes)).ok()?;
        let geometry = Geometry::new(&values)?;
        let fragment_bytes = values.number("fragment_size");
        let kept = geometry.data_fragments() * values.number("reserved_percent") / 100;
        // The root directory has one.
        let free = geometry.data_fragments().saturating_sub(1 + kept);
        Some(Capacity {
            predicted: Predicted {
                free_bytes: free * fragment_bytes,
                inodes: Some(geometry.groups * geometry.group_inodes - TAKEN_INODES),
            },
            kept_for_root_bytes: kept * fragment_bytes,
            unit_bytes: fragment_bytes,
            inline_max_bytes: 0,
            inode_bytes: 0,
            dir_unit_bytes: fragment_bytes,
            moves_on_write: false,
        })
    }

    fn layout(&self, device: &Path) -> Result<FsLayout, FsError> {
        Ok(Superblock::read(device)?.layout())
    }

    /// Its files have no `direct_IO` in the kernel: phases with direct calls cannot be had.
    fn ignores_direct_io(&self, _: &FsLevel) -> Option<String> {
        Some("ufs1 cannot open files with O_DIRECT (EINVAL)".to_owned())
    }

    /// The kernel has no way to freeze it.
    fn freezes(&self) -> bool {
        false
    }

    fn punches_holes(&self, _: &FsLevel) -> bool {
        false
    }
}

/// How makefs lays it out, in fragments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Geometry {
    /// Of the whole file system.
    fragments: u64,
    groups: u64,
    group_fragments: u64,
    group_inodes: u64,
    /// Of a group: where its copy of the superblock begins, and where its contents do. What is
    /// before the copy is for contents too, but in the first group.
    superblock: u64,
    data: u64,
    /// Of the counters of all groups.
    summary: u64,
}

/// What a group is made of.
struct GroupShape {
    block: u64,
    fragments_of_block: u64,
    inodes_of_block: u64,
    fragments_per_inode: u64,
    /// Where the inodes of a group begin.
    inodes: u64,
}

impl GroupShape {
    /// Inodes of a group of so many fragments: whole blocks of them.
    fn inodes_for(&self, fragments: u64) -> u64 {
        fragments.div_ceil(self.fragments_per_inode).next_multiple_of(self.inodes_of_block)
    }

    /// Where the contents of a group with so many inodes begin.
    fn data_after(&self, inodes: u64) -> u64 {
        self.inodes + inodes / (self.inodes_of_block / self.fragments_of_block)
    }

    /// Bytes of the maps of a group, which must fit into a block (`CGSIZE`).
    fn map_bytes(&self, fragments: u64, inodes: u64) -> u64 {
        // The group's header, and the totals of its one cylinder.
        const HEADER: u64 = 176 + 4 + 4 + 2;
        let runs = (64 << 10) / self.block;
        let blocks = fragments / self.fragments_of_block;
        HEADER + inodes.div_ceil(8) + fragments.div_ceil(8) + 4 * runs + blocks.div_ceil(8)
    }

    /// Fragments and inodes of a group: as many as a block has room for in its maps.
    fn largest(&self, all: u64) -> (u64, u64) {
        let wanted = (self.fragments_per_inode * self.inodes_of_block).min(all);
        let fit = |inodes: u64| {
            self.data_after(inodes).next_multiple_of(self.fragments_of_block).max(wanted)
        };
        let mut fragments = fit(self.inodes_for(fit(self.inodes_of_block)));
        let mut inodes = self.inodes_for(fragments);
        while fragments < all - 1 {
            inodes = self.inodes_for(fragments);
            let bytes = self.map_bytes(fragments, inodes);
            if all < fragments || bytes == self.block {
                break;
            }
            if bytes > self.block {
                fragments -= self.fragments_of_block;
                inodes = self.inodes_for(fragments);
                break;
            }
            fragments += self.fragments_of_block;
        }
        (fragments, inodes)
    }
}

impl Geometry {
    /// As `ffs_mkfs` of makefs computes it; absent where the device is too small.
    fn new(values: &MkfsValues) -> Option<Self> {
        let (block, fragment) = (values.number("block_size"), values.number("fragment_size"));
        let fragments_of_block = block / fragment;
        let in_blocks = |bytes: u64| bytes.div_ceil(block) * fragments_of_block;
        let superblock = in_blocks(2 * SUPERBLOCK_BYTES);
        let shape = GroupShape {
            block,
            fragments_of_block,
            inodes_of_block: block / INODE_BYTES,
            fragments_per_inode: values.number("inode_ratio") / fragment,
            inodes: superblock + in_blocks(SUPERBLOCK_BYTES) + fragments_of_block,
        };
        let fragments = values.number("size") / fragment;
        let (mut group_fragments, mut group_inodes) = shape.largest(fragments.max(1));
        // The last group must hold more than its inodes: else all become smaller.
        let data = loop {
            let data = shape.data_after(group_inodes).next_multiple_of(fragments_of_block);
            if fragments < data || group_fragments == 0 {
                return None;
            }
            let last = fragments % group_fragments;
            if last == 0 || last >= data {
                break shape.data_after(group_inodes);
            }
            group_fragments -= fragments_of_block;
            group_inodes = shape.inodes_for(group_fragments);
        };
        let groups = fragments.div_ceil(group_fragments);
        let summary = (16 * groups).div_ceil(fragment);
        Some(Self { fragments, groups, group_fragments, group_inodes, superblock, data, summary })
    }

    /// Fragments for contents and directories (`fs_dsize`).
    fn data_fragments(&self) -> u64 {
        let fixed = self.superblock + self.groups * (self.data - self.superblock) + self.summary;
        self.fragments.saturating_sub(fixed)
    }
}

/// What the superblock on a device says: 32-bit words by their places in it.
pub(super) struct Superblock(Vec<i64>);

/// Bytes of the superblock itself, the magic number in its last four.
const SUPERBLOCK_WORDS: usize = 344;
/// More groups than this are not believed.
const GROUPS_MAX: i64 = 1 << 20;
/// FS_UFS1_MAGIC.
const MAGIC: i64 = 0x01_1954;

impl Superblock {
    fn read(device: &Path) -> Result<Self, FsError> {
        let words = ["--endian=little", "-A", "n", "-v", "-t", "d4", "-w4", "-j", "8192", "-N"];
        let args: Vec<&str> = words.into_iter().chain(["1376"]).collect();
        Self::parse(&output_of("od", "coreutils", &args, device)?)
    }

    /// Reads what od prints: one word a line.
    pub(super) fn parse(text: &str) -> Result<Self, FsError> {
        let odd = |problem: String| FsError::Malformed { tool: "od", problem };
        let word = |text: &str| text.parse().map_err(|_| odd(format!("{text:?} is no number")));
        let words: Vec<i64> = text.split_whitespace().map(word).collect::<Result<_, _>>()?;
        let whole = words.len() == SUPERBLOCK_WORDS && words.last() == Some(&MAGIC);
        if !whole {
            return Err(odd("no superblock of UFS1".to_owned()));
        }
        match words[11] {
            0..=GROUPS_MAX => Ok(Self(words)),
            groups => Err(odd(format!("a superblock with {groups} groups"))),
        }
    }

    fn number(&self, word: usize) -> u64 {
        self.0.get(word).and_then(|number| u64::try_from(*number).ok()).unwrap_or(0)
    }

    pub(super) fn features(&self) -> BTreeMap<String, String> {
        const NUMBERS: [(&str, usize); 8] = [
            ("fragments", 9),
            ("groups", 11),
            ("block_size", 12),
            ("fragment_size", 13),
            ("reserved_percent", 15),
            ("inodes_per_block", 30),
            ("inodes_per_group", 46),
            ("fragments_per_group", 47),
        ];
        let pair = |(name, word): (&str, usize)| (name.to_owned(), self.number(word).to_string());
        let optimization = if self.number(32) == 0 { "time" } else { "space" };
        let other = ("optimization".to_owned(), optimization.to_owned());
        NUMBERS.into_iter().map(pair).chain([other]).collect()
    }

    /// The superblock, and of each group its copy, maps and inodes; the counters of all groups.
    pub(super) fn layout(&self) -> FsLayout {
        let fragment = self.number(13);
        let range = |first: u64, count: u64| Range {
            start_bytes: first.saturating_mul(fragment),
            length_bytes: count.saturating_mul(fragment),
        };
        let (superblock, data) = (self.number(2), self.number(5));
        let copies = (1..self.number(11)).map(|group| {
            let first = group.saturating_mul(self.number(47)).saturating_add(superblock);
            range(first, data.saturating_sub(superblock))
        });
        let summary = Range { length_bytes: self.number(39), ..range(self.number(38), 0) };
        let metadata = [range(0, data), summary].into_iter().chain(copies).collect();
        let notes = ["It has no journal.", "Its directories and indirect blocks are not known."];
        let notes = notes.map(str::to_owned).to_vec();
        FsLayout { metadata, reported_by: "od".to_owned(), notes, ..FsLayout::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_process::cmd;
    use std::time::Duration;

    fn level(mkfs: &[(&str, &str)]) -> FsLevel {
        let mkfs = mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        FsLevel { mkfs, ..FsLevel::plain("ufs1") }
    }

    fn argv(mkfs: &[(&str, &str)], device: &Path, bytes: u64) -> Vec<String> {
        Ufs1.mkfs_argv(&level(mkfs), Discard::None, device, bytes)
    }

    #[test]
    fn everything_is_written_out() {
        let argv = |mkfs: &[(&str, &str)], bytes| {
            let all = argv(mkfs, Path::new("/dev/vdisk0"), bytes).join(" ");
            let all = all.strip_prefix("makefs -t ffs -B le -T 0 -S 512 -s ").unwrap();
            all.strip_suffix(",avgfilesize=16384,avgfpdir=64 /dev/vdisk0 /proc/tty/ldisc")
                .unwrap()
                .to_owned()
        };
        assert_eq!(
            argv(&[], 1 << 30),
            "1073741824 -o version=1,bsize=16384,fsize=2048,density=8192,minfree=8,\
             optimization=time,extent=16384,maxbpf=4096"
        );
        let own = [("block_size", "32K"), ("inode_ratio", "64K"), ("reserved_percent", "5")];
        assert_eq!(
            argv(&own, (1 << 30) + 16_384),
            "1073741824 -o version=1,bsize=32768,fsize=4096,density=65536,minfree=5,\
             optimization=space,extent=32768,maxbpf=8192"
        );
        let own = argv(&[("block_size", "4K"), ("fragment_size", "1024")], 1 << 30);
        assert!(own.contains("bsize=4096,fsize=1024,density=4096,"), "{own}");
        let own = [("reserved_percent", "0"), ("optimization", "space")];
        assert!(argv(&own, 1 << 30).contains("minfree=0,optimization=space,"));
    }

    #[test]
    fn it_is_mounted_to_be_written() {
        let options = |level: &FsLevel| Ufs1.mount_options(level, Discard::On, None).join(",");
        assert_eq!(options(&level(&[])), "rw,ufstype=44bsd");
        let mount = vec!["onerror=panic".to_owned()];
        assert_eq!(options(&FsLevel { mount, ..level(&[]) }), "rw,ufstype=44bsd,onerror=panic");
        assert_eq!(Ufs1.kernel_type(), Some("ufs"));
        assert!(!Ufs1.freezes() && !Ufs1.syncs_to_device(&level(&[])));
        assert!(Ufs1.ignores_direct_io(&level(&[])).is_some());
        assert_eq!(Ufs1.content(&level(&[("block_size", "32K")])).block_bytes, 4096);
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], size| {
            Ufs1.check(&level(mkfs), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], LEAST_BYTES), Ok(()));
        assert!(check(&[], LEAST_BYTES - 1).unwrap_err().contains("--on loop:1M"));
        let text = check(&[("block_size", "64K")], 1 << 30).unwrap_err();
        assert!(text.contains("from 4096 to 32768"), "{text}");
        let text = check(&[("block_size", "8K"), ("fragment_size", "512")], 1 << 30).unwrap_err();
        assert!(text.contains("fragment_size = 512 is not a power of two from 1024 to 4096"));
        let text = check(&[("inode_ratio", "1M")], 1 << 30).unwrap_err();
        assert!(text.contains("from 2048 to 524288"), "{text}");
        let both = [("reserved_percent", "5"), ("optimization", "time")];
        assert!(check(&both, 1 << 30).unwrap_err().contains("Linux allocates for space"));
        let text = check(&[("optimization", "both")], 1 << 30).unwrap_err();
        assert!(text.contains("use one of time, space"), "{text}");
        let small = [("block_size", "4K"), ("fragment_size", "512")];
        assert!(check(&small, 2 << 40).unwrap_err().contains("larger fragment_size"));
        let mount = vec!["ufstype=ufs2".to_owned()];
        let other = FsLevel { mount, ..level(&[]) };
        let text = Ufs1.check(&other, Some(1 << 30)).unwrap_err().to_string();
        assert!(text.contains("made and mounted as 44bsd; leave it out"), "{text}");
    }

    /// What statfs told in a guest of Linux 6.1.192: free bytes of a user, free inodes.
    #[test]
    fn the_room_is_what_the_kernel_tells() {
        const TOLD: [(&str, &str, u64, u64, u64); 10] = [
            ("16K", "2K", 1024, 971_001_856, 141_309),
            ("16K", "2K", 4096, 3_886_868_480, 541_693),
            ("16K", "2K", 320, 303_075_328, 47_101),
            ("4K", "512", 320, 288_562_176, 167_997),
            ("4K", "4K", 320, 306_192_384, 20_541),
            ("8K", "1K", 320, 297_590_784, 93_181),
            ("16K", "4K", 320, 306_237_440, 20_477),
            ("32K", "4K", 320, 306_192_384, 20_477),
            ("4K", "512", 1, 877_056, 509),
            ("32K", "4K", 1, 839_680, 253),
        ];
        for (block, fragment, mib, free_bytes, inodes) in TOLD {
            let level = level(&[("block_size", block), ("fragment_size", fragment)]);
            let Capacity { predicted, .. } = Ufs1.capacity(&level, mib << 20).unwrap();
            let told = Predicted { free_bytes, inodes: Some(inodes) };
            assert_eq!(predicted, told, "{block}/{fragment} on {mib} MiB");
        }
    }

    /// Geometry by the superblock that makefs writes.
    fn made(mkfs: &[(&str, &str)], image: &Path, bytes: u64) -> (Geometry, u64, u64) {
        let argv = argv(mkfs, image, bytes);
        let makefs = cmd::find(&argv[0]).unwrap();
        cmd::run(&makefs, &argv[1..], Duration::from_secs(60)).unwrap();
        let superblock = Superblock::read(image).unwrap();
        let number = |word| superblock.number(word);
        let geometry = Geometry {
            fragments: number(9),
            groups: number(11),
            group_fragments: number(47),
            group_inodes: number(46),
            superblock: number(2),
            data: number(5),
            summary: number(39) / number(13),
        };
        // Free room, the root directory being made: cs_nbfree, cs_nffree.
        (geometry, number(10), number(49) * number(14) + number(51) + 1)
    }

    #[test]
    fn makefs_lays_it_out_as_it_is_computed() {
        if cmd::find("makefs").is_none() {
            println!("not run: makefs is not installed");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("image");
        for (block, fragment) in BLOCKS {
            for (ratio, mib) in RATIOS {
                let ratio = (ratio * fragment).to_string();
                let (block, fragment) = (block.to_string(), fragment.to_string());
                let mkfs = [
                    ("block_size", block.as_str()),
                    ("fragment_size", fragment.as_str()),
                    ("inode_ratio", ratio.as_str()),
                ];
                let values = Ufs1.mkfs_values(&level(&mkfs), Some(mib << 20)).unwrap();
                let geometry = Geometry::new(&values).unwrap();
                let (made, data, free) = made(&mkfs, &image, mib << 20);
                assert_eq!(geometry, made, "{mkfs:?} on {mib} MiB");
                assert_eq!((geometry.data_fragments(), data), (data, free), "{mkfs:?}");
            }
        }
    }

    const BLOCKS: [(u64, u64); 7] = [
        (4096, 512),
        (4096, 4096),
        (8192, 1024),
        (16_384, 2048),
        (16_384, 4096),
        (32_768, 4096),
        (8192, 4096),
    ];
    /// Fragments for each inode, and the size of the device in MiB.
    const RATIOS: [(u64, u64); 6] = [(1, 1), (4, 1), (256, 1), (4, 17), (2, 33), (256, 40)];

    #[test]
    fn the_superblock_is_read() {
        let mut words = vec!["0".to_owned(); SUPERBLOCK_WORDS];
        let set = [(2, 16), (5, 536), (9, 32_768), (11, 2), (12, 16_384), (13, 2048), (15, 8)];
        for (word, number) in set.into_iter().chain([(38, 536), (39, 2048), (47, 20_000)]) {
            words[word] = number.to_string();
        }
        words[SUPERBLOCK_WORDS - 1] = MAGIC.to_string();
        let superblock = Superblock::parse(&words.join("\n")).unwrap();
        let features = superblock.features();
        assert_eq!((&*features["groups"], &*features["block_size"]), ("2", "16384"));
        assert_eq!((&*features["optimization"], &*features["reserved_percent"]), ("time", "8"));
        let range = |first: u64, count: u64| Range {
            start_bytes: first * 2048,
            length_bytes: count * 2048,
        };
        let layout = superblock.layout();
        assert_eq!(layout.metadata, [range(0, 536), range(536, 1), range(20_016, 520)]);
        assert!(!layout.flags_metadata && layout.journal.is_empty());
        words[11] = i32::MAX.to_string();
        let text = Superblock::parse(&words.join("\n")).err().unwrap().to_string();
        assert!(text.contains("with 2147483647 groups"), "{text}");
        words[SUPERBLOCK_WORDS - 1] = "0".to_owned();
        let text = Superblock::parse(&words.join("\n")).err().unwrap().to_string();
        assert!(text.contains("no superblock of UFS1"), "{text}");
        assert!(Superblock::parse("").is_err() && Superblock::parse("x").is_err());
    }
}
