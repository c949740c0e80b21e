//! The block devices that the kernel lists in `/sys/block`, with what they say of themselves
//! (Documentation/ABI/stable/sysfs-block).

use super::attribute::{self, Unread};
use super::mounts::{Roots, SMALLEST_BYTES, number_of, number_text};
use fsarena_model::memory_device::MemoryDevice;
use fsarena_model::units::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Kernel sectors of `size` and `start`, whatever the device's own are.
const SECTOR_BYTES: u64 = 512;
/// Attempts to read a part that is being made or removed, and the pause after each.
const PART_ATTEMPTS: u32 = 10;
const PART_PAUSE: Duration = Duration::from_millis(10);

/// What sort of device it is, by its kernel name and its sysfs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, crate::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// A disk of any bus, a virtual one too.
    Disk,
    /// An NVMe namespace.
    Nvme,
    /// An MMC or SD card.
    Mmc,
    /// A boot partition of the hardware of an eMMC: it holds the boot loader.
    MmcBoot,
    /// A part of a disk.
    Partition,
    /// A loop device.
    Loop,
    /// A software RAID.
    Md,
    /// A device of the device mapper: LVM, LUKS, multipath.
    Dm,
    /// A network block device (`nbd`, `rbd`, `drbd`).
    Network,
    /// Bare flash behind a translation without wear levelling (`mtdblock`, `ubiblock`).
    Flash,
    /// A CD, DVD or BD drive.
    Rom,
    /// A floppy drive.
    Floppy,
    /// Memory that the kernel shows as a disk.
    #[serde(untagged)]
    Memory(MemoryDevice),
}

impl DeviceKind {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Nvme => "nvme",
            Self::Mmc => "mmc",
            Self::MmcBoot => "mmc boot",
            Self::Partition => "partition",
            Self::Loop => "loop",
            Self::Memory(device) => device.row().written,
            Self::Md => "md",
            Self::Dm => "dm",
            Self::Network => "network",
            Self::Flash => "flash",
            Self::Rom => "optical",
            Self::Floppy => "floppy",
        }
    }

    fn from_sysfs(dir: &Path, name: &str) -> Self {
        let numbered = |prefix: &str| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let scsi_type = attribute::non_empty(&dir.join("device/type"));
        match name {
            _ if dir.join("partition").exists() => Self::Partition,
            _ if scsi_type.as_deref() == Some("5") || numbered("sr") => Self::Rom,
            _ if numbered("loop") => Self::Loop,
            _ if numbered("md") || name.starts_with("md_") => Self::Md,
            _ if name.starts_with("dm-") => Self::Dm,
            _ if numbered("nvme") => Self::Nvme,
            _ if numbered("mmcblk") && name.contains("boot") => Self::MmcBoot,
            _ if numbered("mmcblk") => Self::Mmc,
            _ if numbered("mtdblock") || name.starts_with("ubiblock") => Self::Flash,
            _ if numbered("nbd") || numbered("rbd") || numbered("drbd") => Self::Network,
            _ if numbered("fd") => Self::Floppy,
            _ => MemoryDevice::of_disk(name).map_or(Self::Disk, Self::Memory),
        }
    }

    /// Why a device of this kind is no target, whatever the user says.
    #[must_use]
    pub fn never(self) -> Option<&'static str> {
        match self {
            Self::Rom => Some("is a CD, DVD or BD drive"),
            Self::Floppy => Some("is a floppy drive"),
            Self::MmcBoot => Some("is a boot partition of an eMMC, which holds the boot loader"),
            Self::Flash => Some("is bare flash without wear levelling"),
            _ => None,
        }
    }

    /// Whether it exists without a medium: a device of this kind and no size is only a free name.
    pub(super) fn may_be_a_free_name(self) -> bool {
        match self {
            Self::Loop | Self::Network => true,
            Self::Memory(device) => device.row().may_be_a_free_name,
            _ => false,
        }
    }
}

/// A block device as sysfs shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockDevice {
    /// Kernel name, as in sysfs (`!` stands for `/`).
    pub name: String,
    /// Node below the root of devices; whether there is one is not looked at.
    pub path: PathBuf,
    /// Major and minor.
    pub number: (u32, u32),
    /// Sort of device.
    pub kind: DeviceKind,
    /// Capacity; zero without a medium.
    pub size_bytes: u64,
    /// Number of the medium, where the kernel has it; of the disk for a partition.
    pub diskseq: Option<u64>,
    /// `serial`, `wwid`, `model`, and more by kind; see [`super::identify`].
    pub hardware: BTreeMap<String, String>,
    /// Whether it turns.
    pub rotational: Option<bool>,
    /// Whether its medium can be taken out.
    pub removable: bool,
    /// Whether it can only be read.
    pub read_only: bool,
    /// Smallest unit of I/O.
    pub logical_sector_bytes: Option<u64>,
    /// Unit in which the medium is written.
    pub physical_sector_bytes: Option<u64>,
    /// I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Devices of the kernel that are made of it (dm, md, bcache).
    pub holders: Vec<String>,
    /// Devices it is made of.
    pub slaves: Vec<String>,
    /// Its parts that the kernel knows.
    pub partitions: Vec<String>,
    /// Disk that it is a part of.
    pub parent: Option<String>,
    /// First byte on the parent, of a partition.
    pub start_bytes: u64,
}

impl BlockDevice {
    /// Why it cannot be a target, by what it is, whatever the user says; and what to do.
    #[must_use]
    pub fn impossible(&self) -> Option<(String, &'static str)> {
        const ANOTHER: &str = "name another device";
        if let Some(reason) = self.kind.never() {
            return Some((reason.to_owned(), ANOTHER));
        }
        if self.size_bytes == 0 {
            let reason = match self.removable {
                true => "has no medium",
                false => "has a size of zero: nothing is attached, or there is no medium",
            };
            return Some((
                reason.to_owned(),
                "insert a medium or attach something, or name another",
            ));
        }
        if self.read_only {
            return Some(("can only be read".to_owned(), "lift its write protection"));
        }
        if self.size_bytes < SMALLEST_BYTES {
            let (is, least) = (Bytes(self.size_bytes), Bytes(SMALLEST_BYTES));
            return Some((format!("has {is}, and {least} are the least that is of use"), ANOTHER));
        }
        None
    }
}

/// All block devices, by kernel name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inventory {
    devices: BTreeMap<String, BlockDevice>,
}

impl Inventory {
    /// Reads them all. A device that goes away meanwhile is left out.
    ///
    /// # Errors
    /// When the kernel lists no device, or one of them cannot be read.
    pub fn read(roots: &Roots) -> Result<Self, Unread> {
        let block = roots.sys.join("block");
        let mut devices = BTreeMap::new();
        for name in attribute::names(&block)? {
            let dir = block.join(&name);
            // One path of a multipath NVMe namespace: it has no number and no node.
            if attribute::non_empty(&dir.join("hidden")).as_deref() == Some("1") {
                continue;
            }
            let disk = match Self::read_disk(roots, &dir, &name) {
                Ok(disk) => disk,
                Err(_) if fs::metadata(&dir).is_err() => continue,
                Err(error) => return Err(error),
            };
            devices.extend(disk.into_iter().map(|device| (device.name.clone(), device)));
        }
        if devices.is_empty() {
            return Err(Unread::new(&block, "lists no block device"));
        }
        Ok(Self { devices })
    }

    /// A disk and its parts; a part that goes away meanwhile is left out.
    fn read_disk(roots: &Roots, dir: &Path, name: &str) -> Result<Vec<BlockDevice>, Unread> {
        let mut disk = read_device(roots, dir, name, None)?;
        let mut all = Vec::new();
        for child in attribute::names(dir)? {
            let part_dir = dir.join(&child);
            if !part_dir.join("partition").exists() {
                continue;
            }
            if let Some(part) = read_part(roots, &part_dir, &child, &disk)? {
                disk.partitions.push(child);
                all.push(part);
            }
        }
        all.push(disk);
        Ok(all)
    }

    /// The device of this kernel name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&BlockDevice> {
        self.devices.get(name)
    }

    /// The device of this number.
    #[must_use]
    pub fn by_number(&self, number: (u32, u32)) -> Option<&BlockDevice> {
        self.devices.values().find(|device| device.number == number)
    }

    /// Every device, by name.
    pub fn iter(&self) -> impl Iterator<Item = &BlockDevice> {
        self.devices.values()
    }
}

/// A part, or `None` where it has gone. The kernel makes its directory before the files in it, and
/// removes it after them: such a part is read again until it is whole or gone.
fn read_part(
    roots: &Roots,
    dir: &Path,
    name: &str,
    disk: &BlockDevice,
) -> Result<Option<BlockDevice>, Unread> {
    for _ in 0..PART_ATTEMPTS {
        match read_device(roots, dir, name, Some(disk)) {
            Ok(part) => return Ok(Some(part)),
            Err(_) if fs::metadata(dir).is_err() => return Ok(None),
            Err(_) => std::thread::sleep(PART_PAUSE),
        }
    }
    read_device(roots, dir, name, Some(disk)).map(Some)
}

fn read_device(
    roots: &Roots,
    dir: &Path,
    name: &str,
    parent: Option<&BlockDevice>,
) -> Result<BlockDevice, Unread> {
    let kind = DeviceKind::from_sysfs(dir, name);
    let dev = dir.join("dev");
    let text = attribute::text(&dev)?;
    let number = number_of(&text)
        .ok_or_else(|| Unread::new(&dev, format!("{text:?} is no device number")))?;
    let queue = |file: &str| {
        let path = dir.join("queue").join(file);
        if parent.is_some() { Ok(None) } else { attribute::optional(&path) }
    };
    let queue_number = |file: &str| queue(file).map(|text| text.and_then(|text| text.parse().ok()));
    let device = BlockDevice {
        name: name.to_owned(),
        path: roots.dev.join(name.replace('!', "/")),
        number,
        kind,
        size_bytes: attribute::number(&dir.join("size"))?.saturating_mul(SECTOR_BYTES),
        diskseq: match parent {
            Some(disk) => disk.diskseq,
            None => attribute::optional(&dir.join("diskseq"))?.and_then(|text| text.parse().ok()),
        },
        hardware: hardware(roots, dir, number, kind, parent),
        rotational: match parent {
            Some(disk) => disk.rotational,
            None => queue("rotational")?.map(|text| text == "1"),
        },
        removable: match parent {
            Some(disk) => disk.removable,
            None => attribute::flag(&dir.join("removable"))?,
        },
        read_only: attribute::flag(&dir.join("ro"))? || parent.is_some_and(|disk| disk.read_only),
        logical_sector_bytes: match parent {
            Some(disk) => disk.logical_sector_bytes,
            None => queue_number("logical_block_size")?,
        },
        physical_sector_bytes: match parent {
            Some(disk) => disk.physical_sector_bytes,
            None => queue_number("physical_block_size")?,
        },
        scheduler: match parent {
            Some(disk) => disk.scheduler.clone(),
            None => queue("scheduler")?.map(|text| chosen(&text).to_owned()),
        },
        holders: attribute::names(&dir.join("holders"))?,
        slaves: if parent.is_some() {
            Vec::new()
        } else {
            attribute::names_if_any(&dir.join("slaves"))?
        },
        partitions: Vec::new(),
        parent: parent.map(|disk| disk.name.clone()),
        start_bytes: match parent {
            Some(_) => attribute::number(&dir.join("start"))?.saturating_mul(SECTOR_BYTES),
            None => 0,
        },
    };
    Ok(device)
}

/// What tells this piece of hardware from another of the same size. A partition is known by its
/// disk, its number and its start.
fn hardware(
    roots: &Roots,
    dir: &Path,
    number: (u32, u32),
    kind: DeviceKind,
    parent: Option<&BlockDevice>,
) -> BTreeMap<String, String> {
    let first =
        |files: &[&str]| files.iter().find_map(|file| attribute::non_empty(&dir.join(file)));
    let mut found = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            found.insert(name.to_owned(), value);
        }
    };
    if let Some(disk) = parent {
        put("partition", first(&["partition"]));
        let start = first(&["start"]).and_then(|text| text.parse::<u64>().ok());
        put("start_bytes", start.map(|sector| sector.saturating_mul(SECTOR_BYTES).to_string()));
        found.extend(disk.hardware.clone());
        return found;
    }
    let udev = Udev::read(roots, number);
    let serial = first(&["device/serial", "serial"]).or_else(|| vpd_serial(dir));
    put("serial", serial.or_else(|| udev.first(&["ID_SERIAL_SHORT", "ID_SERIAL"])));
    put("wwid", first(&["wwid", "device/wwid"]).or_else(|| udev.first(&["ID_WWN"])));
    put("model", first(&["device/model", "device/name"]).or_else(|| udev.first(&["ID_MODEL"])));
    match kind {
        DeviceKind::Dm => {
            put("dm_name", first(&["dm/name"]));
            put("dm_uuid", first(&["dm/uuid"]));
        }
        DeviceKind::Md => put("md_uuid", first(&["md/uuid"])),
        DeviceKind::Loop => {
            put("backing_file", first(&["loop/backing_file"]));
            put("backing_offset_bytes", first(&["loop/offset"]));
        }
        _ => {}
    }
    found
}

/// The unit serial number page of SCSI (SPC, page 80h): four bytes of header, then the text.
fn vpd_serial(dir: &Path) -> Option<String> {
    let page = fs::read(dir.join("device/vpd_pg80")).ok()?;
    let text = String::from_utf8_lossy(page.get(4..)?).trim_matches(['\0', ' ']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// What udev has found out of a device (`/run/udev/data/bMAJOR:MINOR`).
struct Udev(Vec<(String, String)>);

impl Udev {
    fn read(roots: &Roots, number: (u32, u32)) -> Self {
        let path = roots.run.join("udev/data").join(format!("b{}", number_text(number)));
        let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let pairs = text.unwrap_or_default();
        let pairs = pairs.lines().filter_map(|line| line.strip_prefix("E:")?.split_once('='));
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| {
            let pair = self.0.iter().find(|pair| pair.0 == *name && !pair.1.is_empty());
            pair.map(|pair| pair.1.clone())
        })
    }
}

/// `none` of `mq-deadline [none]`.
pub(crate) fn chosen(text: &str) -> &str {
    match text.split_once('[').and_then(|(_, rest)| rest.split_once(']')) {
        Some((word, _)) => word,
        None => text,
    }
}
