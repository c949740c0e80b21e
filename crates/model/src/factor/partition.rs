//! Factor of alignment: where the partition begins that the file system lies in.

use super::descriptor::{ActsOn, Factor, FactorInfo, Illegal, Target};
use super::level::LevelError;
use crate::contender::{DeviceLevel, Levels};

/// The level without a partition: the file system has the whole device.
const WHOLE: &str = "none";
/// Last first sector: 8 GiB in, behind every start that a partitioning tool chooses by itself.
const MAX_START: u32 = 1 << 24;

pub(super) struct PartitionStart;

impl Factor for PartitionStart {
    fn info(&self) -> FactorInfo {
        FactorInfo {
            flag: "partition-start",
            title: "partition start",
            help: "Sector at which the only partition of a modelled disk with pages begins, such \
                   as 63,2048; none is no partition",
            example: "2048",
            takes_number: true,
            default_level: WHOLE,
            ..FactorInfo::new("partition_start", ActsOn::Device)
        }
    }
    /// A sector of 512 bytes.
    fn parse(&self, text: &str) -> Result<String, LevelError> {
        if text == WHOLE {
            return Ok(text.to_owned());
        }
        match text.parse::<u32>() {
            Ok(sector) if (1..=MAX_START).contains(&sector) => Ok(sector.to_string()),
            _ => Err(LevelError::new(
                format!("{text:?} is no sector at which a partition can begin"),
                format!("use a number from 1 to {MAX_START}, such as 63 or 2048, or \"none\""),
            )),
        }
    }
    fn illegal(&self, target: &Target<'_>) -> Option<Illegal> {
        start_sector(target.levels)?;
        let device = &target.levels.device;
        if !matches!(device, DeviceLevel::Virtual { .. }) {
            return Some(Illegal::Forbidden(format!(
                "fsarena makes no partition on {}: use a modelled disk of a guest kernel, such as \
                 virtual:8G:model=ssd-slow-2009, or name a partition of your own with --on",
                device.written()
            )));
        }
        target.page_bytes.is_none().then(|| {
            Illegal::Forbidden(format!(
                "{} has no pages that a partition could miss: use a model of flash, such as \
                 ssd-slow-2009",
                device.written()
            ))
        })
    }
    fn words(&self, level: &str) -> String {
        if self.is_unset(level) { "none".to_owned() } else { format!("sector {level}") }
    }
    fn fact(&self, level: &str) -> Option<String> {
        (!self.is_unset(level)).then(|| format!("a partition from sector {level}"))
    }
}

/// First sector, of 512 bytes, of the partition that these levels ask for; absent where the file
/// system has the whole device.
#[must_use]
pub fn start_sector(levels: &Levels) -> Option<u32> {
    levels.factors.get(PartitionStart.key())?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::FsLevel;

    fn levels(model: Option<&str>) -> Levels {
        let device = match model {
            None => DeviceLevel::Loop { size_bytes: 1 << 30 },
            Some(model) => DeviceLevel::Virtual {
                size_bytes: 1 << 30,
                model: model.to_owned(),
                kernel: "6.12".to_owned(),
                syscall_ns: 0,
            },
        };
        let mut levels = Levels::plain(FsLevel::plain("ext4"), device);
        PartitionStart.set(&mut levels, "63");
        levels
    }

    #[test]
    fn a_start_is_a_sector_and_the_default_is_no_partition() {
        assert_eq!(PartitionStart.parse("63").unwrap(), "63");
        assert_eq!(PartitionStart.parse("none").unwrap(), "none");
        for wrong in ["0", "-1", "1M", "20000000", ""] {
            assert!(PartitionStart.parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(start_sector(&levels(None)), Some(63));
        let mut without = levels(None);
        PartitionStart.set(&mut without, "none");
        assert_eq!(start_sector(&without), None);
        assert!(without.factors.is_empty(), "it changes no identity");
    }

    #[test]
    fn it_acts_on_modelled_disks_with_pages_alone() {
        let refused = |levels: &Levels, page_bytes| {
            let target = Target { levels, reflinks: None, page_bytes };
            match PartitionStart.illegal(&target) {
                Some(Illegal::Forbidden(text)) => Some(text),
                _ => None,
            }
        };
        assert_eq!(refused(&levels(Some("ssd-slow-2009")), Some(4096)), None);
        let disk = refused(&levels(Some("hdd-2007")), None).unwrap();
        assert!(disk.contains("has no pages"), "{disk}");
        let image = refused(&levels(None), None).unwrap();
        assert!(image.contains("makes no partition on loop:1G"), "{image}");
    }
}
