//! XFS, made by mkfs.xfs with every default written out.

use super::driver::FIRST_USE_BYTES;
use super::mkfs::ValueRule::{Computed, Flag, PowerOfTwo};
use super::mkfs::{Mkfs, MkfsOption, MkfsValues, OptionReader};
use super::options::{Rule, ToolOutput, complete, output_of};
use super::recovery::{Fsck, Recovery, SideBySide};
use super::{FileSystem, FsError, IllegalLevel, Kernel, MetadataRule};
use fsarena_model::account::{FsLayout, Range};
use fsarena_model::capacity::{Capacity, Predicted};
use fsarena_model::contender::FsLevel;
use fsarena_model::crash::Promises;
use std::collections::BTreeMap;
use std::path::Path;

/// The XFS driver.
pub(super) struct Xfs;

/// mkfs.xfs refuses anything smaller.
const LEAST_BYTES: u64 = 300 << 20;

static MKFS: Mkfs = Mkfs {
    command: "mkfs.xfs -f -q [{keep}] -b size={block_size} [-s size={sector_size}] \
              -m crc=1,finobt={finobt},rmapbt={rmapbt},reflink={reflink},bigtime={bigtime},\
              inobtcount={inobtcount},uuid={uuid} -d agcount={agcount},noalign \
              -i size={inode_size},sparse={sparse},maxpct=25 \
              -l internal,size={log_size},version=2,lazy-count=1 \
              -n version=2,size={dir_block_size},ftype=1 {device}",
    programs: &["mkfs.xfs", "xfs_db"],
    package: "xfsprogs",
    options: &[
        MkfsOption::new(
            "block_size",
            "bytes of a block (above a page of memory since Linux 6.12)",
            PowerOfTwo(1024, 65536, 4096),
        ),
        // Absent: the physical sector of the device, which mkfs.xfs knows and this does not.
        MkfsOption::new(
            "sector_size",
            "bytes of a sector, 512 to the block size and 32768; that of the device",
            Computed(|r| {
                let most = r.values.number("block_size").min(MOST_SECTOR_BYTES);
                r.optional(|| r.power_of_two(512, most, 512))
            }),
        ),
        MkfsOption::new(
            "inode_size",
            "bytes of an inode: 512 (default), 1024 or 2048; at most half a block",
            Computed(|r| {
                let most = 2048.min(r.values.number("block_size") / 2);
                r.power_of_two(512, most, 512).map(Some)
            }),
        ),
        MkfsOption::new("rmapbt", "reverse mapping", Flag(false)),
        MkfsOption::new("reflink", "shared extents", Flag(true)),
        MkfsOption::new(
            "log_size",
            "bytes of the log: 64 MiB (with rmapbt and reflink in blocks of 32768 82 MiB, of \
             65536 161 MiB) to 2038 MiB and 1048576 blocks; 1/2048 of the device",
            Computed(log_size),
        ),
        MkfsOption::new(
            "agcount",
            "allocation groups of 64 MiB or more; 4, more above 4 TiB",
            Computed(group_count),
        ),
        MkfsOption::new("finobt", "index of free inodes", Flag(true)),
        MkfsOption::new(
            "inobtcount",
            "counters of inode indexes: as finobt (default), or 0",
            Computed(|r| {
                let finobt = r.values.number("finobt");
                let counters = r.number(0, 1, finobt)?;
                let legal = (counters <= finobt).then_some(Some(counters));
                legal.ok_or_else(|| {
                    r.rule.broken("inobtcount = 1 needs finobt = 1", "set finobt = 1")
                })
            }),
        ),
        MkfsOption::new("bigtime", "times after 2038", Flag(true)),
        MkfsOption::new("sparse", "inode chunks with holes", Flag(true)),
        MkfsOption::new(
            "dir_block_size",
            "bytes of a directory block: the block size to 65536; 4096 (default)",
            Computed(|r| {
                let block = r.values.number("block_size");
                r.power_of_two(block, 65536, block.max(4096)).map(Some)
            }),
        ),
    ],
};

/// Most blocks of a log (`XFS_MAX_LOG_BLOCKS`).
const MOST_LOG_BLOCKS: u64 = 1 << 20;
/// Largest sector (`XFS_MAX_SECTORSIZE`).
const MOST_SECTOR_BYTES: u64 = 32768;
/// Physical sector of a device, at most, where mkfs.xfs takes that.
const MOST_PHYSICAL_BYTES: u64 = 4096;
/// Inodes that are made together (`XFS_INODES_PER_CHUNK`).
const INODES_IN_CHUNK: u64 = 64;

fn log_size(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let (values, device) = (reader.values, reader.values.device_bytes);
    let block = values.number("block_size");
    // What mkfs.xfs 6.1.0 asks for on 2 GiB and more; it is the largest transaction that counts.
    let least = match (values.number("rmapbt") * values.number("reflink"), block) {
        (1, 32768) => 82 << 20,
        (1, 65536) => 161 << 20,
        _ => 64 << 20,
    };
    let most = (2038 << 20).min(MOST_LOG_BLOCKS * block);
    let default = (device / 2048).clamp(least, most).next_multiple_of(1 << 20);
    let log = reader.bytes(default)?;
    if (least..=most).contains(&log) && log.is_multiple_of(block) && log <= device / 4 {
        return Ok(Some(log));
    }
    Err(reader.rule.broken(
        format!(
            "log_size = {log} is not a whole number of blocks of {block} from {} MiB to {} MiB \
             and at most a quarter of the device",
            least >> 20,
            most >> 20
        ),
        format!("the default is {default}"),
    ))
}

fn group_count(reader: &OptionReader<'_>) -> Result<Option<u64>, IllegalLevel> {
    let device = reader.values.device_bytes;
    let default = device.div_ceil(1 << 40).max(4);
    let agcount = reader.number(1, 1_000_000, default)?;
    if agcount < 2 || device / agcount < 64 << 20 {
        return Err(reader.rule.broken(
            format!("agcount = {agcount} is under 2, or its groups are smaller than 64 MiB"),
            format!("the default is {default}"),
        ));
    }
    // The log lies in one group, with the headers of the group before it.
    let log = reader.values.number("log_size");
    if log + (1 << 20) > device / agcount {
        return Err(reader.rule.broken(
            format!(
                "log_size = {log} and 1 MiB more do not fit into one of agcount = {agcount} groups \
                 of {} bytes",
                device / agcount
            ),
            "use a smaller log_size, a smaller agcount or a larger device",
        ));
    }
    Ok(Some(agcount))
}

impl FileSystem for Xfs {
    fn name(&self) -> &'static str {
        "xfs"
    }

    fn summary(&self) -> &'static str {
        "XFS: allocation groups, extents, delayed logging"
    }

    fn mkfs(&self) -> &'static Mkfs {
        &MKFS
    }

    /// `struct xfs_dir2_data_entry`: 8 bytes of number, the length, the name, its type and a tag of
    /// 2, to a multiple of 8. A small directory lies in its inode.
    fn metadata(&self, level: &FsLevel) -> Option<MetadataRule> {
        let inode_bytes = self.mkfs_values(level, None).ok()?.number("inode_size");
        Some(MetadataRule {
            inode_bytes,
            entry_bytes: 12,
            entry_align_bytes: 8,
            dir_inline_bytes: inode_bytes,
            mount_bytes: 64 << 10,
        })
    }

    /// Of each group the roots of its trees (of free space two, of inodes and free inodes, and with
    /// rmapbt that of reverse mappings) and the sector of its free list, and the first chunk of 64
    /// inodes: exactly what Linux 6.18 read, whatever the size, for 2 to 16 groups, blocks of 1 to
    /// 16 KiB and inodes of 512 to 2048 bytes. By default these are 100,352 bytes.
    fn first_use_bytes(&self, level: &FsLevel, device_bytes: Option<u64>) -> u64 {
        let values = device_bytes.and_then(|bytes| self.mkfs_values(level, Some(bytes)).ok());
        let Some(values) = values else { return FIRST_USE_BYTES };
        let sector = values.optional("sector_size").unwrap_or(MOST_PHYSICAL_BYTES);
        let roots = (4 + values.number("rmapbt")) * values.number("block_size");
        let groups = values.number("agcount") * (roots + sector);
        FIRST_USE_BYTES.max(groups + INODES_IN_CHUNK * values.number("inode_size"))
    }

    /// The log is forced, with a flush.
    fn syncs_to_device(&self, _: &FsLevel) -> bool {
        true
    }

    fn least_bytes(&self, _: &MkfsValues) -> u64 {
        LEAST_BYTES
    }

    /// Through xfs_db, which reads the device whether it is mounted or not, and writes nothing.
    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_info(&output_of("xfs_db", "xfsprogs", &["-r", "-c", "info"], device)?)
    }

    fn layout(&self, device: &Path) -> Result<FsLayout, FsError> {
        layout(device)
    }

    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        let values = self.mkfs_values(level, Some(device_bytes)).ok()?;
        Some(capacity(&values))
    }

    /// Blocks beyond a page came with large folios in Linux 6.12.
    fn kernel_takes(&self, level: &FsLevel, kernel: &Kernel) -> Result<(), IllegalLevel> {
        let block = self.mkfs_values(level, None).map_or(0, |v| v.number("block_size"));
        if block <= kernel.page_bytes || kernel.is_at_least(6, 12) {
            return Ok(());
        }
        let (major, minor) = kernel.version.unwrap_or_default();
        let rule = Rule { fs: self.name() };
        Err(rule.broken(
            format!(
                "blocks of {block} are larger than a page of memory, {}: only Linux 6.12 and later \
                 mount that, and this is {major}.{minor}",
                kernel.page_bytes
            ),
            format!("use block_size = {} or smaller, or a later kernel", kernel.page_bytes),
        ))
    }

    fn reflinks(&self) -> Option<bool> {
        Some(true)
    }

    fn checksums(&self, features: &BTreeMap<String, String>) -> Option<bool> {
        Some(features.get("meta.crc")? == "1")
    }

    fn recovery(&self) -> Recovery {
        Recovery {
            without: Some("norecovery"),
            check: Some(Fsck::new("xfs_repair", &["-n"], &[0])),
            repair: Some(Fsck::new("xfs_repair", &["-L"], &[0])),
            side_by_side: SideBySide::With("nouuid"),
            ..Recovery::UNKNOWN
        }
    }

    /// A log, and the size of a file is updated at the end of a write.
    fn promises(&self, _options: &[&str]) -> Promises {
        Promises {
            no_stale_bytes: true,
            replace_keeps_the_name: true,
            mounts_without_repair: true,
            ..Promises::default()
        }
    }
}

/// Head of a block of a tree with checksums.
const HEAD_BYTES: u64 = 56;
/// Share of the device that inodes may take (`maxpct`), percent.
const INODES_PERCENT: u64 = 25;
/// Blocks of the reserve pool, at most.
const POOL_BLOCKS: u64 = 8192;
/// Blocks of each group that are set aside for its free lists, and its headers.
const ASIDE_BLOCKS: u64 = 12;
/// Inodes that are taken from the start.
const TAKEN_INODES: u64 = 3;

/// What the kernel keeps back of a file system that mkfs.xfs made. Each allocation group reserves
/// the blocks that its trees of shared extents and of free inodes (and of reverse mappings) may
/// need (`xfs_ag_resv_init`, `xfs_btree_calc_size` in fs/xfs/libxfs), the whole a pool of 8192
/// blocks or a twentieth (`xfs_default_resblks`).
fn capacity(values: &MkfsValues) -> Capacity {
    let (block, inode) = (values.number("block_size"), values.number("inode_size"));
    let groups = values.number("agcount");
    let blocks = values.device_bytes / block;
    let group = blocks / groups;
    let log = values.number("log_size") / block;
    let mut kept = (blocks / 20).min(POOL_BLOCKS);
    for number in 0..groups {
        // The log lies in the middle one.
        let space = if number == groups / 2 { group.saturating_sub(log) } else { group };
        kept += reserved(values, group, space) + ASIDE_BLOCKS;
    }
    let free = blocks.saturating_sub(log + kept);
    let in_block = block / inode;
    let most = blocks * INODES_PERCENT / 100 * in_block;
    let inodes = most.min(free * in_block).saturating_sub(TAKEN_INODES);
    Capacity {
        predicted: Predicted { free_bytes: free * block, inodes: Some(inodes) },
        kept_for_root_bytes: 0,
        unit_bytes: block,
        inline_max_bytes: 0,
        inode_bytes: inode,
        dir_unit_bytes: values.number("dir_block_size"),
        moves_on_write: false,
    }
}

/// Blocks that one group keeps for its trees.
fn reserved(values: &MkfsValues, group: u64, space: u64) -> u64 {
    let block = values.number("block_size");
    let tree = |record_bytes: u64, pointer_bytes: u64, records: u64| {
        tree_blocks(block, record_bytes, pointer_bytes, records)
    };
    let mut blocks = 0;
    if values.number("reflink") == 1 {
        blocks += tree(12, 8, space);
    }
    if values.number("finobt") == 1 {
        blocks += tree(16, 8, group * (block / values.number("inode_size")) / 64);
    }
    if values.number("rmapbt") == 1 {
        blocks += tree(24, 44, space).max(group / 100);
    }
    blocks
}

/// Blocks of a tree whose blocks are half full.
fn tree_blocks(block: u64, record_bytes: u64, pointer_bytes: u64, records: u64) -> u64 {
    let half = |bytes: u64| ((block - HEAD_BYTES) / bytes / 2).max(2);
    let mut level = records.div_ceil(half(record_bytes));
    let mut sum = level;
    while level > 1 {
        level = level.div_ceil(half(pointer_bytes));
        sum += level;
    }
    sum
}

/// Superblock, free space, inodes and free list of an allocation group, a sector each
/// (`xfs_sb`, `xfs_agf`, `xfs_agi`, `xfs_agfl`).
const HEADER_SECTORS: u64 = 4;

/// More groups than this are not believed.
const GROUPS_MAX: u64 = 1 << 20;

/// Asks the program about the file system on `device`.
fn layout(device: &Path) -> Result<FsLayout, FsError> {
    parse_superblock(&output_of("xfs_db", "xfsprogs", &["-r", "-c", "sb 0", "-c", "p"], device)?)
}

/// Reads `xfs_db -r -c "sb 0" -c p`.
pub(super) fn parse_superblock(text: &str) -> Result<FsLayout, FsError> {
    let output = ToolOutput { tool: "xfs_db", text };
    let number = |key| output.number(key, '=');
    let block = number("blocksize")?;
    let (group_blocks, groups) = (number("agblocks")?, number("agcount")?);
    let header_bytes = number("sectsize")?.saturating_mul(HEADER_SECTORS);
    if groups > GROUPS_MAX {
        return Err(output.odd(format!("agcount is {groups}")));
    }
    let mut metadata = Vec::new();
    for group in 0..groups {
        let start = output.blocks(group.saturating_mul(group_blocks), 1, block)?;
        metadata.push(Range { length_bytes: header_bytes, ..start });
    }
    let (start, count) = (number("logstart")?, number("logblocks")?);
    let (mut journal, mut notes) = (Vec::new(), Vec::new());
    if start == 0 {
        notes.push(
            "Its log is on another device: what is written there is not in this account."
                .to_owned(),
        );
    } else {
        // The number of a block is that of its group and that in the group, side by side.
        let bits = u32::try_from(number("agblklog")?).ok().filter(|bits| *bits < 64);
        let bits = bits.ok_or_else(|| output.odd("agblklog is 64 or more"))?;
        let (group, block_in_group) = (start >> bits, start & ((1 << bits) - 1));
        let first = group.saturating_mul(group_blocks).saturating_add(block_in_group);
        journal.push(output.blocks(first, count, block)?);
    }
    let reported_by = "xfs_db".to_owned();
    Ok(FsLayout {
        journal,
        metadata,
        flags_metadata: true,
        reported_by,
        notes,
        ..FsLayout::default()
    })
}

/// Reads `xfs_info`: `data = bsize=4096 blocks=1` becomes `data.bsize`, `data.blocks`.
pub(super) fn parse_info(text: &str) -> Result<BTreeMap<String, String>, FsError> {
    let mut map = BTreeMap::new();
    let mut section = String::new();
    for line in text.lines() {
        let Some((head, rest)) = line.split_once('=') else { continue };
        if !head.trim().is_empty() {
            section =
                head.split_whitespace().next().unwrap_or_default().replace("meta-data", "meta");
        }
        let prose = rest.trim_start();
        for (key, value) in pairs(prose) {
            if !(section == "meta" && key == "data") {
                map.insert(format!("{section}.{key}"), value);
            }
        }
    }
    map.remove("realtime.rtextents");
    let needed = &["meta.isize", "meta.agcount", "meta.crc", "data.bsize", "log.blocks"];
    complete(map, "xfs_db", needed, "_")
}

/// `bsize=4096   blocks=76800, imaxpct=25`, and `sunit=0      swidth=0 blks`.
fn pairs(text: &str) -> Vec<(String, String)> {
    text.split([',', ' '])
        .filter_map(|word| word.split_once('='))
        .filter(|(key, value)| !key.is_empty() && !value.is_empty())
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::contender::Discard;

    const INFO: &str = "\
meta-data=/dev/loop0             isize=512    agcount=4, agsize=32768 blks
         =                       sectsz=512   attr=2, projid32bit=1
         =                       crc=1        finobt=1, sparse=1, rmapbt=0
         =                       reflink=1    bigtime=1 inobtcount=1 nrext64=0
data     =                       bsize=4096   blocks=131072, imaxpct=25
         =                       sunit=0      swidth=0 blks
naming   =version 2              bsize=4096   ascii-ci=0, ftype=1
log      =internal log           bsize=4096   blocks=16384, version=2
         =                       sectsz=512   sunit=0 blks, lazy-count=1
realtime =none                   extsz=4096   blocks=0, rtextents=0
";

    fn level(mkfs: &[(&str, &str)]) -> FsLevel {
        FsLevel {
            mkfs: mkfs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            ..FsLevel::plain("xfs")
        }
    }

    /// What a loop device delivered from the mount of a fresh xfs (xfsprogs 6.1, Linux 6.18) to the
    /// sync behind 2,000 files in 101 directories, which were then removed.
    #[test]
    fn first_use_is_that_of_real_file_systems() {
        let at_most = |mkfs: &[(&str, &str)], mib: u64| {
            let sector =
                if mkfs.iter().any(|option| option.0 == "sector_size") { 4096 } else { 512 };
            let sector = ("sector_size", sector.to_string());
            let options: Vec<_> = mkfs.iter().copied().chain([(sector.0, &*sector.1)]).collect();
            Xfs.first_use_bytes(&level(&options), Some(mib << 20))
        };
        for mib in [320, 1024, 4096, 16384] {
            assert_eq!(at_most(&[], mib), 100_352, "{mib} MiB");
        }
        for (mkfs, read_bytes) in [
            (&[("rmapbt", "1")][..], 116_736),
            (&[("agcount", "2")], 66_560),
            (&[("agcount", "16")], 303_104),
            (&[("block_size", "2048")], 67_584),
            (&[("sector_size", "4096")], 114_688),
            (&[("inode_size", "1024")], 133_120),
            (&[("block_size", "16384"), ("sector_size", "4096")], 311_296),
        ] {
            assert_eq!(at_most(mkfs, 4096), read_bytes, "{mkfs:?}");
        }
        assert_eq!(at_most(&[("block_size", "1024")], 4096), FIRST_USE_BYTES, "51,200 and no less");
        assert_eq!(Xfs.first_use_bytes(&level(&[]), Some(4 << 30)), 114_688, "sector not known");
        assert_eq!(Xfs.first_use_bytes(&level(&[]), None), FIRST_USE_BYTES, "nor the device");
    }

    #[test]
    fn info_is_read_by_section() {
        let map = parse_info(INFO).unwrap();
        for (key, value) in [
            ("meta.isize", "512"),
            ("meta.agcount", "4"),
            ("meta.rmapbt", "0"),
            ("meta.nrext64", "0"),
            ("data.bsize", "4096"),
            ("log.blocks", "16384"),
            ("log.sectsz", "512"),
            ("naming.ftype", "1"),
        ] {
            assert_eq!(map.get(key).map(String::as_str), Some(value), "{key}");
        }
        assert!(
            parse_info("xfs_db: cannot init perag data")
                .unwrap_err()
                .to_string()
                .contains("xfs_db")
        );
    }

    #[test]
    fn every_default_is_written_out() {
        let argv = |discard| {
            Xfs.mkfs_argv(&level(&[]), discard, Path::new("/dev/loop0"), 1 << 30).join(" ")
        };
        let text = argv(Discard::None);
        assert!(text.starts_with("mkfs.xfs -f -q -K -b size=4096 -m crc=1,finobt=1"));
        for part in ["-d agcount=4,noalign", "-l internal,size=67108864,version=2", "rmapbt=0"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!argv(Discard::On).contains("-K"));
    }

    #[test]
    fn rules_are_said() {
        let check = |mkfs: &[(&str, &str)], size| {
            Xfs.check(&level(mkfs), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[], 300 << 20), Ok(()));
        assert!(check(&[], 299 << 20).unwrap_err().contains("--on loop:300M"));
        assert!(check(&[("finobt", "0"), ("inobtcount", "1")], 1 << 30).is_err());
        assert!(check(&[("finobt", "0")], 1 << 30).is_ok());
        assert!(check(&[("agcount", "1000")], 1 << 30).unwrap_err().contains("64 MiB"));
        for (options, size) in [
            (&[("agcount", "16")][..], 1 << 30),
            (&[("log_size", "256M")], 1 << 30),
            (&[("log_size", "128M"), ("agcount", "8")], 1 << 30),
        ] {
            let text = check(options, size).unwrap_err();
            assert!(text.contains("log_size = ") && text.contains("agcount = "), "{text}");
        }
        assert_eq!(check(&[("agcount", "15")], 1 << 30), Ok(()));
        assert_eq!(check(&[("log_size", "255M")], 1 << 30), Ok(()));
        assert_eq!(Xfs.check(&level(&[("log_size", "2038M"), ("agcount", "64")]), None), Ok(()));
        assert!(check(&[("block_size", "3000")], 1 << 30).unwrap_err().contains("power of two"));
    }

    #[test]
    fn large_blocks_have_rules_of_their_own() {
        let check = |mkfs: &[(&str, &str)], size| {
            Xfs.check(&level(mkfs), Some(size)).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[("block_size", "65536")], 300 << 20), Ok(()));
        assert!(check(&[("block_size", "131072")], 1 << 30).is_err());
        let both = [("block_size", "65536"), ("rmapbt", "1")];
        assert_eq!(check(&both, 1 << 30), Ok(()));
        assert!(check(&both, 300 << 20).unwrap_err().contains("161 MiB"));
        let log = check(&[("block_size", "1024"), ("log_size", "1025M")], 16 << 30).unwrap_err();
        assert!(log.contains("1024 MiB"), "{log}");
        let sector = [("block_size", "65536"), ("sector_size", "65536")];
        assert!(check(&sector, 1 << 30).unwrap_err().contains("32768"));
        let inode = [("block_size", "1024"), ("inode_size", "1024")];
        assert!(check(&inode, 1 << 30).unwrap_err().contains("512"));
        let argv =
            |mkfs| Xfs.mkfs_argv(&level(mkfs), Discard::None, Path::new("/dev/loop0"), 1 << 30);
        assert!(argv(&[("block_size", "65536")]).contains(&"version=2,size=65536,ftype=1".into()));
    }

    #[test]
    fn blocks_beyond_a_page_need_a_kernel() {
        let takes = |block: &str, version| {
            let kernel = Kernel { version: Some(version), page_bytes: 4096 };
            let takes = Xfs.kernel_takes(&level(&[("block_size", block)]), &kernel);
            takes.map_err(|error| error.to_string())
        };
        assert_eq!(takes("4096", (5, 10)), Ok(()));
        assert_eq!(takes("65536", (6, 12)), Ok(()));
        let text = takes("8192", (6, 11)).unwrap_err();
        assert!(text.contains("only Linux 6.12 and later") && text.contains("6.11"), "{text}");
    }

    /// Options, size in MiB; free bytes and inodes.
    type Real = (&'static [(&'static str, &'static str)], u64, u64, u64);

    /// What statfs told of file systems that mkfs.xfs 6.1.0 made and Linux 6.18 mounted.
    #[test]
    fn predictions_are_those_of_real_file_systems() {
        let real: [Real; 8] = [
            (&[("block_size", "1024")], 1024, 948_712 * 1024, 524_285),
            (&[("block_size", "2048")], 1024, 476_777 * 2048, 524_285),
            (&[], 1024, 235_783 * 4096, 524_285),
            (&[("inode_size", "2048")], 1024, 235_942 * 4096, 131_069),
            (&[("agcount", "8")], 1024, 235_730 * 4096, 524_285),
            (&[("block_size", "16384")], 1024, 57_948 * 16384, 524_285),
            (&[("block_size", "65536")], 1024, 14_457 * 65536, 524_285),
            (&[("block_size", "65536"), ("reflink", "0")], 300, 3_477 * 65536, 153_597),
        ];
        for (options, mib, free_bytes, inodes) in real {
            let mkfs = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            let level = FsLevel { mkfs, ..FsLevel::plain("xfs") };
            let room = Xfs.capacity(&level, mib << 20).unwrap();
            let found = Predicted { free_bytes, inodes: Some(inodes) };
            let (got, real) = (room.predicted.free_bytes, free_bytes);
            assert!(got.abs_diff(real) * 200 < real, "{got} of {real}: {options:?}");
            assert_eq!(room.predicted.is_off(&found), None, "{options:?}");
        }
    }

    /// xfsprogs 6.1, `mkfs.xfs` on 400 MiB.
    const SUPERBLOCK: &str = "\
magicnum = 0x58465342
blocksize = 4096
logstart = 65542
agblocks = 25600
agcount = 4
logblocks = 16384
sectsize = 512
agblklog = 15
fname = \"\\000\\000\"
logsectsize = 0
crc = 0x3e0d6413 (correct)
";

    #[test]
    fn log_and_headers_are_read() {
        let places = parse_superblock(SUPERBLOCK).unwrap();
        let start_bytes = (2 * 25600 + 6) * 4096;
        assert_eq!(places.journal, [Range { start_bytes, length_bytes: 64 << 20 }]);
        assert_eq!(places.metadata.len(), 4);
        assert_eq!(places.metadata[1], Range { start_bytes: 25600 * 4096, length_bytes: 2048 });
        assert!(places.flags_metadata && places.notes.is_empty());
    }

    #[test]
    fn blocks_of_64_kib_are_read() {
        let text = SUPERBLOCK
            .replace("blocksize = 4096", "blocksize = 65536")
            .replace("65542", "4102")
            .replace("25600", "1600")
            .replace("16384", "1024")
            .replace("agblklog = 15", "agblklog = 11");
        let places = parse_superblock(&text).unwrap();
        let start_bytes = (2 * 1600 + 6) * 65536;
        assert_eq!(places.journal, [Range { start_bytes, length_bytes: 64 << 20 }]);
    }

    #[test]
    fn an_external_log_is_said_and_odd_numbers_are_named() {
        let external = parse_superblock(&SUPERBLOCK.replace("65542", "0")).unwrap();
        assert!(external.journal.is_empty() && external.notes[0].contains("another device"));
        for (from, to) in [
            ("agcount = 4", "agcount = 4000000000"),
            ("agblklog = 15", "agblklog = 64"),
            ("blocksize = 4096", "blocksize = 18446744073709551615"),
            ("logblocks", "blocks"),
            ("sectsize = 512", "sectsize = 0x200"),
        ] {
            let text = parse_superblock(&SUPERBLOCK.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(text.starts_with("xfs_db: output not understood"), "{text}");
        }
        for end in 0..=SUPERBLOCK.len() {
            let _ = (parse_superblock(&SUPERBLOCK[..end]), parse_superblock(&SUPERBLOCK[end..]));
        }
    }
}
