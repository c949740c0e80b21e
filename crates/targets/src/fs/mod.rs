//! File systems: one driver each, behind one trait.
//!
//! A driver says what can be had ([`FileSystem::check`]), which command makes it and with which
//! options it is mounted; these three are pure. Running the commands is [`crate::mount`]'s work.

mod availability;
mod btrfs;
mod directory;
mod ext;
pub mod external;
mod f2fs;
mod jfs;
mod kernel;
mod nilfs2;
mod options;
mod reiserfs;
mod tmpfs;
mod xfs;

pub(crate) use availability::has_module;
pub use availability::{Availability, availability, availability_with};
use external::External;
pub use kernel::Kernel;
pub(crate) use options::output_of;

use crate::cmd::CmdError;
use crate::places;
use fsarena_model::account::Places;
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::spec::TargetSpec;
use std::collections::BTreeMap;
use std::path::Path;

/// What a file system lies on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A block device.
    Block,
    /// Memory; it has no device.
    Memory,
    /// A directory of a file system that is there already.
    Directory,
    /// Somewhere that is not known: a file system of commands without a device of its own.
    Elsewhere,
}

/// A program that a driver needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolNeed {
    /// Its name.
    pub program: String,
    /// Debian package that brings it, where known.
    pub package: Option<String>,
}

impl ToolNeed {
    /// Programs of one package.
    fn all(programs: &[&str], package: &str) -> Vec<Self> {
        let need = |program: &&str| Self {
            program: (*program).to_owned(),
            package: Some(package.to_owned()),
        };
        programs.iter().map(need).collect()
    }
}

/// What the cold proof has to know of how contents are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContentRule {
    /// Contents are read in units of this many bytes.
    pub block_bytes: u64,
    /// Files up to this size may lie in the metadata and need no read of their own.
    pub inline_max_bytes: u64,
    /// Whether contents may take fewer bytes on the device than in the file.
    pub compresses: bool,
}

/// A level that cannot be had: the rule and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fs}: {rule}; {remedy}")]
pub struct IllegalLevel {
    /// Name of the file system.
    pub fs: String,
    /// The rule that is broken.
    pub rule: String,
    /// What to do.
    pub remedy: String,
}

/// No driver has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown file system \"{name}\"{}; known: {}; others can be defined in an experiment file",
    nearest.as_ref().map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default(),
    known.join(", ")
)]
pub struct UnknownFs {
    /// The name.
    pub name: String,
    /// All that are known.
    pub known: Vec<String>,
    /// The one that differs in a letter or two.
    pub nearest: Option<String>,
}

/// A file system could not be made or read back.
#[derive(Debug, thiserror::Error)]
pub enum FsError {
    /// A program is not there.
    #[error(
        "{program} is not installed{}",
        package.as_ref().map(|name| format!("; install the package {name}")).unwrap_or_default()
    )]
    MissingTool {
        /// The program.
        program: String,
        /// Its package.
        package: Option<String>,
    },
    /// A program failed.
    #[error(transparent)]
    Command(#[from] CmdError),
    /// What a program wrote was not understood.
    #[error("{tool}: output not understood: {problem}; is its version too new for this program?")]
    Malformed {
        /// The program.
        tool: &'static str,
        /// What was missing or odd.
        problem: String,
    },
    /// A command of an external file system names something that is not filled in.
    #[error("command \"{command}\": {placeholder} has no value; known: {{dev}}, {{mnt}}, {{size}}")]
    Placeholder {
        /// The command.
        command: String,
        /// The word in braces.
        placeholder: String,
    },
}

/// How a file system is mounted and unmounted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MountPlan {
    /// By the kernel, through mount(8) and umount2(2).
    Kernel {
        /// Type.
        fstype: String,
        /// Device, or the type's name where there is none.
        source: String,
        /// Options, one each.
        options: Vec<String>,
    },
    /// By commands, in which everything but the mount point is filled in.
    Commands {
        /// Mounts.
        mount: String,
        /// Unmounts; umount2(2) where absent.
        unmount: Option<String>,
        /// Undoes the creation.
        destroy: Option<String>,
    },
    /// Not at all: it is a directory.
    Nothing,
}

/// One file system.
pub trait FileSystem: Send + Sync {
    /// Its name in experiments: `ext4`.
    fn name(&self) -> &str;

    /// One line for lists and documentation.
    fn summary(&self) -> &str;

    /// What it lies on.
    fn place(&self) -> Place {
        Place::Block
    }

    /// Its type as in `/proc/filesystems`, where it is the kernel's.
    fn kernel_type(&self) -> Option<&str> {
        Some(self.name())
    }

    /// Programs that it needs.
    fn tools(&self) -> Vec<ToolNeed>;

    /// Whether the level can be had on a device of this size. Pure.
    ///
    /// # Errors
    /// Names the rule and the remedy.
    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), IllegalLevel>;

    /// The command that makes it, every option written out, the program's name first; empty where
    /// there is nothing to make. Pure. The sizes of journals and allocation groups depend on that
    /// of the device.
    fn mkfs_argv(
        &self,
        level: &FsLevel,
        discard: Discard,
        device: &Path,
        device_bytes: u64,
    ) -> Vec<String>;

    /// The options it is mounted with, one each: those of the level and those that the discard
    /// policy and the size ask for. Pure.
    fn mount_options(
        &self,
        level: &FsLevel,
        discard: Discard,
        size_bytes: Option<u64>,
    ) -> Vec<String> {
        let _ = size_bytes;
        let mut options = level.mount.clone();
        options.push(if discard.is_none() { "nodiscard" } else { "discard" }.to_owned());
        options
    }

    /// How it is mounted and unmounted. Pure.
    ///
    /// # Errors
    /// When a command cannot be filled in.
    fn mount_plan(
        &self,
        level: &FsLevel,
        discard: Discard,
        target: &TargetSpec,
    ) -> Result<MountPlan, FsError> {
        let fstype = self.kernel_type().unwrap_or(self.name()).to_owned();
        Ok(match target {
            TargetSpec::Block { device, size_bytes, .. } => MountPlan::Kernel {
                fstype,
                source: device.display().to_string(),
                options: self.mount_options(level, discard, Some(*size_bytes)),
            },
            TargetSpec::Memory { size_bytes } => MountPlan::Kernel {
                source: "fsarena".to_owned(),
                fstype,
                options: self.mount_options(level, discard, Some(*size_bytes)),
            },
            TargetSpec::Directory { .. } => MountPlan::Nothing,
        })
    }

    /// Features and sizes as the file system on the device itself tells them. Empty where there is
    /// nothing to ask.
    ///
    /// # Errors
    /// When the program is missing, fails, or is not understood.
    fn effective_features(&self, device: &Path) -> Result<BTreeMap<String, String>, FsError> {
        let _ = device;
        Ok(BTreeMap::new())
    }

    /// Version line of the program that makes it; absent where none does.
    fn version(&self) -> Option<String> {
        None
    }

    /// How contents are stored.
    fn content(&self, level: &FsLevel) -> ContentRule;

    /// How much room there will be on a device of this size, and how it is handed out; absent
    /// where this is not known. Pure.
    fn capacity(&self, level: &FsLevel, device_bytes: u64) -> Option<Capacity> {
        let _ = (level, device_bytes);
        None
    }

    /// Whether this kernel takes a level that [`FileSystem::check`] allows. Pure.
    ///
    /// # Errors
    /// Names the rule and the remedy.
    fn kernel_takes(&self, level: &FsLevel, kernel: &Kernel) -> Result<(), IllegalLevel> {
        let _ = (level, kernel);
        Ok(())
    }

    /// Where the file system on the device keeps its journal and its metadata, as far as this is
    /// known; why not, in the notes. Ask while it is not mounted: see [`crate::places`].
    ///
    /// # Errors
    /// When the program is missing, fails, or is not understood.
    fn places(&self, device: &Path) -> Result<Places, FsError> {
        let _ = device;
        Ok(places::none_known(self.name()))
    }

    /// Whether it can be frozen (FIFREEZE) without harm to others.
    fn freezes(&self) -> bool;

    /// The kernel driver that serves it while it is mounted from `device`, where that is another
    /// one: `ext4` for ext2 and ext3. `sys_root` is `/sys`.
    fn served_by(&self, sys_root: &Path, device: &Path) -> Option<String> {
        let _ = (sys_root, device);
        None
    }

    /// Variables that mkfs gets in its environment.
    fn mkfs_env(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Names of our mkfs options (keys of [`FsLevel::mkfs`]), each with one line of explanation.
    fn mkfs_options(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// Every driver of this program; a new one is its file and its line here.
static BUILTIN: [&dyn FileSystem; 11] = [
    &ext::EXT2,
    &ext::EXT3,
    &ext::EXT4,
    &xfs::Xfs,
    &btrfs::Btrfs,
    &f2fs::F2fs,
    &jfs::Jfs,
    &nilfs2::Nilfs2,
    &reiserfs::ReiserFs,
    &tmpfs::Tmpfs,
    &directory::Directory,
];

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
    if let Some(found) = builtin().iter().find(|fs| fs.name() == level.name) {
        return Ok(Driver::Builtin(*found));
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
