//! Factors: what contenders can differ in, besides the file system with its options and the device.
//!
//! A factor is a descriptor ([`Factor`]) and a line of [`FACTORS`]. Options of the command line,
//! keys of experiments, crossing, labels, written experiments, tables and attribution loop over
//! them and know none by name: to them a level is its canonical text. [`Levels`] is typed where a
//! level acts; a factor without a field of its own is in its map, where a level at its default is
//! absent, so that a further factor changes no identity.
//!
//! Nothing here opens a file or asks the kernel.

mod age;
mod descriptor;
mod device;
mod host;
mod kernel;
mod level;
mod partition;
mod programs;
mod ranks;
mod work;

pub use age::{AGE, age};
pub use descriptor::{ActsOn, Factor, FactorInfo, Illegal, SYSCTL_FACT, Setting, Target};
pub use host::LIVES_IN_LIMITED_MEMORY;
pub use level::{LevelError, UNCHANGED};
pub use partition::start_sector;
pub use programs::{I386, PROGRAMS, has_i386_programs};
pub use ranks::{HOST_COUNT, MAX_RANKS, RANKS, host_count, ranks};

use crate::contender::{Contender, DeviceLevel, FsLevel, Levels, device_labels};
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// The factors of the program, in the order in which they are crossed, shown and stored.
pub static FACTORS: &[&dyn Factor] = &[
    &host::Memory,
    &host::Caches,
    &device::DiscardPolicy,
    &device::Conditioning,
    &age::AgeOfFiles,
    &partition::PartitionStart,
    &device::Scheduler,
    &device::ReadAhead,
    &device::WriteCachePolicy,
    &ranks::HostCount,
    &ranks::RankCount,
    &work::ReflinkPolicy,
    &programs::ProgramWidth,
    &work::InjectedDelay,
    &kernel::NR_REQUESTS,
    &kernel::DIRTY_BACKGROUND_BYTES,
    &kernel::DIRTY_EXPIRE,
];

static FURTHER: RwLock<Vec<&'static dyn Factor>> = RwLock::new(Vec::new());

/// Every factor: those of the program, and those that were registered since.
#[must_use]
pub fn all() -> Vec<&'static dyn Factor> {
    let further = FURTHER.read().unwrap_or_else(PoisonError::into_inner);
    FACTORS.iter().chain(further.iter()).copied().collect()
}

/// Registers a factor for the life of the process: for tests of what the program does not have.
pub fn register(factor: &'static dyn Factor) {
    let mut further = FURTHER.write().unwrap_or_else(PoisonError::into_inner);
    if !further.iter().any(|known| known.key() == factor.key()) {
        further.push(factor);
    }
}

/// The factor of a key or another name of it.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn Factor> {
    let is_named = |factor: &&dyn Factor| factor.names().any(|known| known == name);
    all().into_iter().find(is_named)
}

/// The level of every factor, by its key.
#[must_use]
pub fn levels_of(levels: &Levels) -> BTreeMap<&'static str, String> {
    all().into_iter().map(|factor| (factor.key(), factor.get(levels))).collect()
}

/// The settings of the kernel that these levels ask for.
#[must_use]
pub fn settings(levels: &Levels) -> Vec<Setting> {
    all().into_iter().filter_map(|factor| factor.setting(&factor.get(levels))).collect()
}

/// Those of them that are of the device's queue: file and text.
#[must_use]
pub fn queue_settings(settings: &[Setting]) -> Vec<(&'static str, String)> {
    let queue = |setting: &Setting| match setting {
        Setting::Queue(file, text) => Some((*file, text.clone())),
        Setting::Sysctl(..) => None,
    };
    settings.iter().filter_map(queue).collect()
}

/// What the settings that are factors were in a trial, in words, by the key of the factor: from
/// the facts that its record has of the device.
#[must_use]
pub fn in_force(facts: &BTreeMap<String, String>) -> BTreeMap<&'static str, String> {
    let read = |factor: &'static dyn Factor| {
        let setting = factor.setting(factor.example_level())?;
        let text = setting.with_unit(facts.get(&setting.fact_key())?);
        let words = factor.parse(&text).map(|level| factor.words(&level));
        Some((factor.key(), words.unwrap_or(text)))
    };
    all().into_iter().filter_map(read).collect()
}

/// Everything that contenders can differ in, each with its value for every contender: device and
/// file system, its options, and the factors.
#[must_use]
pub fn values(contenders: &[&Contender]) -> Vec<Values> {
    let of =
        |name: &str, is_option: bool, unset: Option<&str>, text: &dyn Fn(&Levels) -> String| {
            let values: Vec<String> = contenders.iter().map(|one| text(&one.levels)).collect();
            let is_unset = values.iter().map(|value| Some(value.as_str()) == unset).collect();
            Values { name: name.to_owned(), title: name.to_owned(), is_option, values, is_unset }
        };
    let mut all = vec![
        of(DEVICE, false, None, &|_| String::new()),
        of(FS, false, None, &|levels| levels.fs.name.clone()),
    ];
    let devices: Vec<&DeviceLevel> = contenders.iter().map(|one| &one.levels.device).collect();
    all[0].values = device_labels(&devices, DeviceLevel::to_string);
    all[1].title = "file system".to_owned();
    let options: Vec<&FsLevel> = contenders.iter().map(|one| &one.levels.fs).collect();
    for key in level::mkfs_keys(&options) {
        let text =
            |levels: &Levels| levels.fs.mkfs.get(key).map_or(UNCHANGED, |value| value).to_owned();
        all.push(of(&format!("mkfs {key}"), true, Some(UNCHANGED), &text));
    }
    for (key, is_flag) in level::mount_keys(&options) {
        let unset = if is_flag { "off" } else { UNCHANGED };
        let text =
            |levels: &Levels| level::mounted(&levels.fs, &key).unwrap_or_else(|| unset.to_owned());
        all.push(of(&format!("mount {key}"), true, Some(unset), &text));
    }
    for factor in self::all() {
        let levels: Vec<String> = contenders.iter().map(|one| factor.get(&one.levels)).collect();
        all.push(Values {
            name: factor.key().to_owned(),
            title: factor.title().to_owned(),
            is_option: factor.info().is_option,
            values: levels.iter().map(|level| factor.words(level)).collect(),
            is_unset: levels.iter().map(|level| factor.is_unset(level)).collect(),
        });
    }
    all
}

/// Name of the file system among [`values`].
pub const FS: &str = "fs";
/// Name of the device among [`values`].
pub const DEVICE: &str = "device";

/// Something that contenders can differ in, with its value for each of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// `device`, `fs`, `mkfs KEY`, `mount KEY`, or the key of a factor.
    pub name: String,
    /// The name in words.
    pub title: String,
    /// Whether it means something to some file systems only.
    pub is_option: bool,
    /// In words.
    pub values: Vec<String>,
    /// Whether each says that nothing was asked for.
    pub is_unset: Vec<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::ContenderId;
    use crate::device::{QueueLevel, WriteCache};

    struct Depth;

    impl Factor for Depth {
        fn info(&self) -> FactorInfo {
            FactorInfo {
                help: "A depth.",
                example: "\"3\"",
                default_level: "0",
                ..FactorInfo::new("depth_of_test", ActsOn::Work)
            }
        }
        fn parse(&self, text: &str) -> Result<String, LevelError> {
            Ok(text.trim().to_owned())
        }
    }

    fn plain() -> Levels {
        Levels::plain(FsLevel::plain("ext4"), DeviceLevel::Loop { size_bytes: 1 << 31 })
    }

    #[test]
    fn levels_are_read_back_and_defaults_leave_no_trace() {
        for factor in FACTORS {
            let mut levels = plain();
            let default = factor.parse(factor.default_level()).unwrap();
            assert_eq!(default, factor.default_level(), "{}", factor.key());
            factor.set(&mut levels, &default);
            assert_eq!(levels, plain(), "{}", factor.key());
            let example = factor.parse(factor.example_level()).unwrap();
            factor.set(&mut levels, &example);
            assert_eq!(factor.get(&levels), example, "{}", factor.key());
            assert_eq!(factor.parse(&example).unwrap(), example, "{}", factor.key());
        }
    }

    #[test]
    fn queue_settings_are_files_of_sysfs() {
        assert!(queue_settings(&settings(&plain())).is_empty());
        let queue = QueueLevel {
            scheduler: Some("bfq".to_owned()),
            read_ahead_bytes: Some(128 << 10),
            write_cache: Some(WriteCache::WriteThrough),
        };
        let files = queue_settings(&settings(&Levels { queue, ..plain() }));
        assert_eq!(files[1], ("read_ahead_kb", "128".to_owned()));
        assert_eq!(files[2], ("write_cache", "write through".to_owned()));
    }

    #[test]
    fn another_factor_changes_no_identity_but_by_its_levels() {
        let before = ContenderId::from_levels(&plain(), 1);
        register(&Depth);
        register(&Depth);
        assert_eq!(all().iter().filter(|one| one.key() == Depth.key()).count(), 1);
        let mut levels = plain();
        Depth.set(&mut levels, "0");
        assert_eq!(ContenderId::from_levels(&levels, 1), before);
        Depth.set(&mut levels, "3");
        assert_ne!(ContenderId::from_levels(&levels, 1), before);
        assert_eq!(levels_of(&levels)[Depth.key()], "3");
    }

    #[test]
    fn keys_flags_and_other_names_are_used_once() {
        let mut seen = std::collections::BTreeSet::new();
        for factor in FACTORS {
            assert!(seen.insert(factor.key()), "{}", factor.key());
            assert!(factor.info().aliases.iter().all(|name| seen.insert(name)), "{}", factor.key());
            assert!(!factor.info().flag.contains('_'), "{}", factor.key());
            assert!(find(factor.key()).is_some());
        }
    }
}
