//! XFS, made by mkfs.xfs with every default written out.

use super::options::{Rule, device_uuid, output_of, version_of};
use super::{ContentRule, FileSystem, FsError, IllegalLevel, Kernel, ToolNeed};
use crate::places;
use fsarena_model::account::Places;
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{Discard, FsLevel};
use std::collections::BTreeMap;
use std::path::Path;

mod capacity;

/// The XFS driver.
pub(super) struct Xfs;

/// mkfs.xfs refuses anything smaller.
const LEAST_BYTES: u64 = 300 << 20;

const OPTIONS: [(&str, &str); 12] = [
    (
        "block_size",
        "bytes of a block: 1024 to 65536, 4096 (default); above a page of memory since Linux 6.12",
    ),
    ("sector_size", "bytes of a sector, 512 to the block size and 32768; that of the device"),
    ("inode_size", "bytes of an inode: 512 (default), 1024 or 2048; at most half a block"),
    ("agcount", "allocation groups of 64 MiB or more; 4, more above 4 TiB"),
    (
        "log_size",
        "bytes of the log: 64 MiB (with rmapbt and reflink in blocks of 32768 82 MiB, of 65536 \
         161 MiB) to 2038 MiB and 1048576 blocks; 1/2048 of the device",
    ),
    ("finobt", "index of free inodes: 1 (default) or 0"),
    ("rmapbt", "reverse mapping: 0 (default) or 1"),
    ("reflink", "shared extents: 1 (default) or 0"),
    ("bigtime", "times after 2038: 1 (default) or 0"),
    ("inobtcount", "counters of inode indexes: 1 (default) or 0"),
    ("sparse", "inode chunks with holes: 1 (default) or 0"),
    ("dir_block_size", "bytes of a directory block: the block size to 65536; 4096 (default)"),
];

/// Most blocks of a log (`XFS_MAX_LOG_BLOCKS`).
const MOST_LOG_BLOCKS: u64 = 1 << 20;
/// Largest sector (`XFS_MAX_SECTORSIZE`).
const MOST_SECTOR_BYTES: u64 = 32768;

struct Wanted {
    block: u64,
    /// Absent: the physical sector of the device, which mkfs.xfs knows and this does not.
    sector: Option<u64>,
    inode: u64,
    agcount: u64,
    log: u64,
    finobt: bool,
    rmapbt: bool,
    reflink: bool,
    bigtime: bool,
    inobtcount: bool,
    sparse: bool,
    dir_block: u64,
}

fn wanted(level: &FsLevel, device: Option<u64>) -> Result<Wanted, IllegalLevel> {
    let rule = Rule { fs: "xfs" };
    let device = device.unwrap_or(u64::MAX);
    let block = rule.power_of_two(level, "block_size", 1024, 65536, 4096)?;
    let (rmapbt, reflink) =
        (rule.flag(level, "rmapbt", false)?, rule.flag(level, "reflink", true)?);
    // What mkfs.xfs 6.1.0 asks for on 2 GiB and more; it is the largest transaction that counts.
    let least = match (rmapbt && reflink, block) {
        (true, 32768) => 82 << 20,
        (true, 65536) => 161 << 20,
        _ => 64 << 20,
    };
    let most = (2038 << 20).min(MOST_LOG_BLOCKS * block);
    let log_default = (device / 2048).clamp(least, most).next_multiple_of(1 << 20);
    let log = rule.bytes(level, "log_size", log_default)?;
    if !(least..=most).contains(&log) || !log.is_multiple_of(block) || log > device / 4 {
        return Err(rule.broken(
            format!(
                "log_size = {log} is not a whole number of blocks of {block} from {} MiB to {} MiB \
                 and at most a quarter of the device",
                least >> 20,
                most >> 20
            ),
            format!("the default is {log_default}"),
        ));
    }
    let agcount_default = device.div_ceil(1 << 40).max(4);
    let agcount = rule.number(level, "agcount", 1, 1_000_000, agcount_default)?;
    if agcount < 2 || device / agcount < 64 << 20 {
        return Err(rule.broken(
            format!("agcount = {agcount} is under 2, or its groups are smaller than 64 MiB"),
            format!("the default is {agcount_default}"),
        ));
    }
    // The log lies in one group, with the headers of the group before it.
    if log + (1 << 20) > device / agcount {
        return Err(rule.broken(
            format!(
                "log_size = {log} and 1 MiB more do not fit into one of agcount = {agcount} groups \
                 of {} bytes",
                device / agcount
            ),
            "use a smaller log_size, a smaller agcount or a larger device",
        ));
    }
    let finobt = rule.flag(level, "finobt", true)?;
    let inobtcount = rule.flag(level, "inobtcount", finobt)?;
    if inobtcount && !finobt {
        return Err(rule.broken("inobtcount = 1 needs finobt = 1", "set finobt = 1"));
    }
    Ok(Wanted {
        block,
        sector: match level.mkfs.contains_key("sector_size") {
            true => Some(rule.power_of_two(
                level,
                "sector_size",
                512,
                block.min(MOST_SECTOR_BYTES),
                512,
            )?),
            false => None,
        },
        inode: rule.power_of_two(level, "inode_size", 512, 2048.min(block / 2), 512)?,
        agcount,
        log,
        finobt,
        rmapbt,
        reflink,
        bigtime: rule.flag(level, "bigtime", true)?,
        inobtcount,
        sparse: rule.flag(level, "sparse", true)?,
        dir_block: rule.power_of_two(level, "dir_block_size", block, 65536, block.max(4096))?,
    })
}

impl FileSystem for Xfs {
    fn name(&self) -> &'static str {
        "xfs"
    }

    fn summary(&self) -> &'static str {
        "XFS: allocation groups, extents, delayed logging"
    }

    fn tools(&self) -> Vec<ToolNeed> {
        ToolNeed::all(&["mkfs.xfs", "xfs_db"], "xfsprogs")
    }

    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        rule.known(level, &OPTIONS)?;
        rule.least_size(device_bytes, LEAST_BYTES)?;
        wanted(level, device_bytes)?;
        rule.mount_words(level)
    }

    fn mkfs_argv(
        &self,
        level: &FsLevel,
        discard: Discard,
        device: &Path,
        device_bytes: u64,
    ) -> Vec<String> {
        let Ok(wanted) = wanted(level, Some(device_bytes)) else { return Vec::new() };
        let mut argv: Vec<String> = ["mkfs.xfs", "-f", "-q"].map(str::to_owned).into();
        if discard.is_none() {
            argv.push("-K".to_owned());
        }
        let bit = u8::from;
        let mut add = |flag: &str, value: String| argv.extend([flag.to_owned(), value]);
        add("-b", format!("size={}", wanted.block));
        if let Some(bytes) = wanted.sector {
            add("-s", format!("size={bytes}"));
        }
        add(
            "-m",
            format!(
                "crc=1,finobt={},rmapbt={},reflink={},bigtime={},inobtcount={},uuid={}",
                bit(wanted.finobt),
                bit(wanted.rmapbt),
                bit(wanted.reflink),
                bit(wanted.bigtime),
                bit(wanted.inobtcount),
                device_uuid(device)
            ),
        );
        add("-d", format!("agcount={},noalign", wanted.agcount));
        add("-i", format!("size={},sparse={},maxpct=25", wanted.inode, bit(wanted.sparse)));
        add("-l", format!("internal,size={},version=2,lazy-count=1", wanted.log));
        add("-n", format!("version=2,size={},ftype=1", wanted.dir_block));
        argv.push(device.display().to_string());
        argv
    }

    /// Through xfs_db, which reads the device whether it is mounted or not, and writes nothing.
    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        parse_info(&output_of("xfs_db", "xfsprogs", &["-r", "-c", "info"], device)?)
    }

    fn places(&self, device: &Path) -> Result<Places, FsError> {
        places::xfs::of(device)
    }

    fn version(&self) -> Option<String> {
        version_of("mkfs.xfs", &["-V"])
    }

    fn content(&self, level: &FsLevel) -> ContentRule {
        let block = wanted(level, None).map_or(4096, |wanted| wanted.block);
        ContentRule { block_bytes: block, inline_max_bytes: 0, compresses: false }
    }

    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        wanted(level, Some(device_bytes))
            .ok()
            .map(|wanted| capacity::capacity(&wanted, device_bytes))
    }

    /// Blocks beyond a page came with large folios in Linux 6.12.
    fn kernel_takes(&self, level: &FsLevel, kernel: &Kernel) -> Result<(), IllegalLevel> {
        let block = wanted(level, None).map_or(0, |wanted| wanted.block);
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

    fn freezes(&self) -> bool {
        true
    }

    fn mkfs_options(&self) -> &'static [(&'static str, &'static str)] {
        &OPTIONS
    }
}

/// Reads `xfs_info`: `data = bsize=4096 blocks=1` becomes `data.bsize`, `data.blocks`.
fn parse_info(text: &str) -> Result<BTreeMap<String, String>, FsError> {
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
    for needed in ["meta.isize", "meta.agcount", "meta.crc", "data.bsize", "log.blocks"] {
        if !map.contains_key(needed) {
            let problem = format!("no {needed}");
            return Err(FsError::Malformed { tool: "xfs_db", problem });
        }
    }
    Ok(map)
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
}
