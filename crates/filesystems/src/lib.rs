//! File systems: one driver each, behind one trait.
//!
//! A driver says what can be had ([`FileSystem::check`]), which command makes it and with which
//! options it is mounted; these three are pure. Its programs are asked for what they have made;
//! what makes, mounts and removes is `fsarena-devices`.
#![forbid(unsafe_code)]

mod availability;
mod btrfs;
mod driver;
mod exfat;
mod ext;
pub mod external;
mod f2fs;
mod jfs;
mod mkfs;
mod nilfs2;
mod no_device;
mod ntfs3;
mod options;
#[doc(hidden)]
pub mod outputs;
mod raw;
mod recovery;
mod reiserfs;
mod ufs1;
mod vfat;
mod xfs;

pub use availability::{
    Availability, availability, availability_with, has_module, tools_availability,
};
pub use driver::{
    Backing, ContentRule, FileSystem, Kernel, LazyInit, MetadataRule, MountPlan, ToolNeed,
};
use external::External;
pub use mkfs::{Mkfs, MkfsOption, MkfsValues};
pub use options::{FsError, IllegalLevel, UnknownFs};
pub use recovery::{Fsck, Recovery, SideBySide};

use fsarena_model::contender::FsLevel;
use fsarena_model::crash::Promises;

/// Every driver of this program; a new one is its file and its line here.
static BUILTIN: [&dyn FileSystem; 16] = [
    &ext::EXT2,
    &ext::EXT3,
    &ext::EXT4,
    &xfs::Xfs,
    &btrfs::Btrfs,
    &f2fs::F2fs,
    &jfs::Jfs,
    &nilfs2::Nilfs2,
    &reiserfs::ReiserFs,
    &vfat::Vfat,
    &exfat::ExFat,
    &ntfs3::Ntfs3,
    &ufs1::Ufs1,
    &no_device::Tmpfs,
    &no_device::Directory,
    &raw::Raw,
];

/// File systems that are no misspelling of ours; they can be defined by their commands.
pub const FOREIGN: [&str; 5] = ["bcachefs", "cifs", "nfs", "ntfs", "zfs"];

/// The driver of this program that has this name.
#[must_use]
pub fn builtin_driver(name: &str) -> Option<&'static dyn FileSystem> {
    builtin().iter().find(|driver| driver.name() == name).copied()
}

/// What is documented of a crash for a file system, by name, with its mount options, each with its
/// value (`data=writeback`). One that is not known promises nothing, nor does one without barriers:
/// those are promised to disks alone whose cache survives.
#[must_use]
pub fn promises(name: &str, options: &[&str]) -> Promises {
    let has = |option: &str| options.contains(&option);
    let driver = builtin_driver(name).filter(|_| !has("nobarrier") && !has("barrier=0"));
    driver.map_or_else(Promises::default, |driver| driver.promises(options))
}

/// Whether a file system, by name with its mount options in force, never sends a flush to its disk:
/// what its fsync reported is then in the cache of the disk, and stays there after a power cut only
/// where that cache is not volatile.
#[must_use]
pub fn sends_no_flush(name: &str, options: &str) -> bool {
    let has = |option: &str| options.split(',').any(|one| one == option);
    let driver = builtin_driver(name);
    driver.is_some_and(FileSystem::sends_no_flush)
        || has("nobarrier")
        || has("barrier=0")
        || has("barrier=none")
}

/// All drivers of this program.
#[must_use]
pub fn builtin() -> &'static [&'static dyn FileSystem] {
    &BUILTIN
}

/// A driver: one of this program, or one made of the commands of an experiment file.
pub enum Driver {
    /// One of [`builtin`].
    Builtin(&'static dyn FileSystem),
    /// Made of commands.
    External(Box<External>),
}

impl std::ops::Deref for Driver {
    type Target = dyn FileSystem;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Builtin(driver) => *driver,
            Self::External(driver) => &**driver,
        }
    }
}

/// The driver of a level: one of ours, or the commands in the level.
///
/// # Errors
/// When there is none of this name; lists the known ones.
pub fn driver(level: &FsLevel) -> Result<Driver, UnknownFs> {
    if let Some(commands) = &level.external {
        return Ok(Driver::External(Box::new(External::new(&level.name, commands.clone()))));
    }
    if let Some(found) = builtin_driver(&level.name) {
        return Ok(Driver::Builtin(found));
    }
    let known: Vec<String> = builtin().iter().map(|fs| fs.name().to_owned()).collect();
    let nearest = options::nearest(&level.name, known.iter().map(String::as_str));
    Err(UnknownFs { name: level.name.clone(), nearest: nearest.map(str::to_owned), known })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_driver_is_found_by_its_name() {
        for fs in builtin() {
            assert_eq!(driver(&FsLevel::plain(fs.name())).unwrap().name(), fs.name());
            assert!(!fs.summary().is_empty());
        }
    }

    #[test]
    fn unknown_name_lists_the_known_and_suggests() {
        let text = driver(&FsLevel::plain("ex4")).err().unwrap().to_string();
        assert!(text.contains("did you mean \"ext4\"") && text.contains("btrfs"), "{text}");
        let text = driver(&FsLevel::plain("hammer")).err().unwrap().to_string();
        assert!(!text.contains("did you mean"), "{text}");
    }
}
