//! What a driver is: the trait of all file systems, and what its methods speak of.

use super::mkfs::{Mkfs, MkfsValues};
use super::options::{FsError, IllegalLevel, Rule, version_of};
use super::recovery::Recovery;
use fsarena_model::account::FsLayout;
use fsarena_model::capacity::Capacity;
use fsarena_model::contender::{Discard, FsLevel};
use fsarena_model::crash::Promises;
use fsarena_model::spec::TargetSpec;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// First two numbers of its release, such as (6, 12); absent where they are not known.
    pub version: Option<(u32, u32)>,
    pub page_bytes: u64,
}

impl Kernel {
    /// The running one; `proc_root` is `/proc`.
    #[must_use]
    pub fn running(proc_root: &Path) -> Self {
        let release = fs::read_to_string(proc_root.join("sys/kernel/osrelease"));
        let version = version(&release.unwrap_or_default());
        Self { version, page_bytes: rustix::param::page_size() as u64 }
    }

    /// One of this release, with the pages of this machine.
    #[must_use]
    pub fn of_release(release: &str) -> Self {
        Self { version: version(release), page_bytes: rustix::param::page_size() as u64 }
    }

    /// Whether it is this one or a later one; one that is not known is.
    #[must_use]
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        self.version.is_none_or(|version| version >= (major, minor))
    }
}

/// `6.18.44-fc` as (6, 18).
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.trim().split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// What a file system is on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Backing {
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
    pub program: String,
    /// Debian package that brings it, where known.
    pub package: Option<String>,
}

/// What a file system reads at its first use, at most, where no more is known.
pub(super) const FIRST_USE_BYTES: u64 = 64 << 10;

/// What the cold proof has to know of how contents are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContentRule {
    /// Contents are read in units of this many bytes.
    pub block_bytes: u64,
    /// Files up to this size may lie in the metadata and need no read of their own.
    pub inline_max_bytes: u64,
    /// Whether contents may take fewer bytes on the device than in the file.
    pub compresses: bool,
    /// What is stored of each file beside its contents; absent where this is not known.
    pub metadata: Option<MetadataRule>,
}

/// What a file takes at least in the metadata of a file system: whoever asks for its inode, or
/// goes through the names of its directory, has to read so much.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetadataRule {
    /// Of an inode.
    pub inode_bytes: u64,
    /// Of an entry in a directory beside its name.
    pub entry_bytes: u64,
    /// An entry with its name takes a whole number of so many bytes.
    pub entry_align_bytes: u64,
    /// A directory of so many bytes may lie in its own inode.
    pub dir_inline_bytes: u64,
    /// Of inodes and entries of files, so many bytes may come with the mount, at most: those next
    /// to the root. The rest of what a mount reads is of other kinds (a log, bitmaps).
    pub mount_bytes: u64,
}

impl MetadataRule {
    /// Bytes of so many inodes, at least.
    #[must_use]
    pub fn inodes_bytes(&self, inodes: u64) -> u64 {
        inodes.saturating_mul(self.inode_bytes)
    }

    /// Bytes of so many entries with names of this length in so many directories, at least.
    #[must_use]
    pub fn entries_bytes(&self, entries: u64, name_bytes: u64, dirs: u64) -> u64 {
        let one = (self.entry_bytes + name_bytes).next_multiple_of(self.entry_align_bytes.max(1));
        let inline = dirs.max(1).saturating_mul(self.dir_inline_bytes);
        entries.saturating_mul(one).saturating_sub(inline)
    }
}

/// What the kernel writes of a new file system in the background, and how far it is.
pub struct LazyInit {
    /// Name of the kernel thread that writes it.
    pub thread: &'static str,
    /// Program that tells of each block group, and the package that brings it.
    pub program: &'static str,
    pub package: &'static str,
    /// Groups that are not written, and all groups, by what the program prints.
    pub count_groups: fn(&str) -> Result<(usize, usize), String>,
    /// Mount option that leaves them as they are.
    pub off_option: &'static str,
    /// Commands that look for the thread, and that make file systems without it.
    pub command: &'static str,
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
        mount: String,
        /// Unmounts; umount2(2) where absent.
        unmount: Option<String>,
        /// Undoes the creation.
        destroy: Option<String>,
    },
    /// Not at all: it is a directory.
    Nothing,
    /// There is none: a directory in memory, for a node of the device itself.
    Node,
}

pub trait FileSystem: Send + Sync {
    /// Its name in experiments: `ext4`.
    fn name(&self) -> &str;

    /// One line for lists and documentation.
    fn summary(&self) -> &str;

    /// What it is on.
    fn backing(&self) -> Backing {
        Backing::Block
    }

    /// Its type as in `/proc/filesystems`, where it is the kernel's.
    fn kernel_type(&self) -> Option<&str> {
        Some(self.name())
    }

    /// Programs that it needs.
    fn tools(&self) -> Vec<ToolNeed> {
        let Mkfs { programs, package, .. } = self.mkfs();
        let package = Some((*package).to_owned());
        let need =
            |program: &&str| ToolNeed { program: (*program).to_owned(), package: package.clone() };
        programs.iter().map(need).collect()
    }

    /// How it is made: the command, and the options that a user can give.
    fn mkfs(&self) -> &'static Mkfs {
        &Mkfs { command: "", programs: &[], package: "", options: &[] }
    }

    /// The options of mkfs at this level, with the defaults for a device of this size. Pure.
    ///
    /// # Errors
    /// Names the rule and the remedy.
    fn mkfs_values(
        &self,
        level: &FsLevel,
        device_bytes: Option<u64>,
    ) -> Result<MkfsValues, IllegalLevel> {
        MkfsValues::read(self.name(), self.mkfs().options, level, device_bytes)
    }

    /// The smallest device that mkfs takes, bytes. Pure.
    fn least_bytes(&self, values: &MkfsValues) -> u64 {
        let _ = values;
        0
    }

    /// Whether it can be mounted with the options of the level. Pure.
    ///
    /// # Errors
    /// Names the rule and the remedy.
    fn check_mount(&self, level: &FsLevel, values: &MkfsValues) -> Result<(), IllegalLevel> {
        let _ = (level, values);
        Ok(())
    }

    /// Whether the level can be had on a device of this size. Pure.
    ///
    /// # Errors
    /// Names the rule and the remedy.
    fn check(&self, level: &FsLevel, device_bytes: Option<u64>) -> Result<(), IllegalLevel> {
        let rule = Rule { fs: self.name() };
        let given = self.mkfs().options.iter().filter(|option| option.help().is_some());
        rule.known(level, &given.map(|option| option.name).collect::<Vec<_>>())?;
        if let Ok(values) = self.mkfs_values(level, None) {
            rule.least_size(device_bytes, self.least_bytes(&values))?;
        }
        let values = self.mkfs_values(level, device_bytes)?;
        rule.mount_words(level)?;
        self.check_mount(level, &values)
    }

    /// The level with the options whose defaults are others on so many devices written out. Pure.
    fn level_on(&self, level: &FsLevel, devices: usize) -> FsLevel {
        let _ = devices;
        level.clone()
    }

    /// Whether the level can be had on devices of these sizes, one or several. Pure.
    ///
    /// # Errors
    /// Names the rule and the remedy.
    fn check_devices(&self, level: &FsLevel, sizes_bytes: &[u64]) -> Result<(), IllegalLevel> {
        match sizes_bytes {
            [] => self.check(level, None),
            [one] => self.check(level, Some(*one)),
            several if self.backing() == Backing::Block => Err(Rule { fs: self.name() }.broken(
                format!("it lies on one device, and here are {}", several.len()),
                "name one device, or use btrfs, which takes several",
            )),
            several => {
                self.check(level, Some(several.iter().copied().fold(0, u64::saturating_add)))
            }
        }
    }

    /// As [`FileSystem::mkfs_argv`], on these devices of these sizes; mkfs gets the further ones
    /// after the first. Pure.
    fn mkfs_argv_on(
        &self,
        level: &FsLevel,
        discard: Discard,
        devices: &[&Path],
        sizes_bytes: &[u64],
    ) -> Vec<String> {
        let level = self.level_on(level, devices.len());
        let device_bytes = sizes_bytes.first().copied().unwrap_or(0);
        let further = match devices {
            [] => return self.mkfs_argv(&level, discard, Path::new(""), device_bytes),
            [only] => return self.mkfs_argv(&level, discard, only, device_bytes),
            [_, further @ ..] => further,
        };
        let Ok(values) = self.mkfs_values(&level, Some(device_bytes)) else { return Vec::new() };
        let mut argv = values.argv(self.mkfs().command, discard, devices);
        argv.extend(further.iter().map(|device| device.display().to_string()));
        argv
    }

    /// As [`FileSystem::capacity`], on devices of these sizes. Pure.
    fn capacity_on(&self, level: &FsLevel, sizes_bytes: &[u64]) -> Option<Capacity> {
        match sizes_bytes {
            [one] => self.capacity(level, *one),
            _ => None,
        }
    }

    /// The command that makes it, every option written out, the program's name first; empty where
    /// there is nothing to make. Pure. The sizes of journals and allocation groups depend on that
    /// of the device.
    fn mkfs_argv(
        &self,
        level: &FsLevel,
        discard: Discard,
        device: &Path,
        device_bytes: u64,
    ) -> Vec<String> {
        let values = self.mkfs_values(level, Some(device_bytes));
        values.map_or_else(|_| Vec::new(), |v| v.argv(self.mkfs().command, discard, &[device]))
    }

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
            TargetSpec::Block { device, size_bytes, .. } => {
                let mut options = self.mount_options(level, discard, Some(*size_bytes));
                // The kernel has to know each: mount by the first alone finds those that it knows.
                let further = target.devices().into_iter().skip(1);
                options.extend(further.map(|device| format!("device={}", device.display())));
                MountPlan::Kernel { fstype, source: device.display().to_string(), options }
            }
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
        version_of(self.mkfs().programs.first()?, &["-V"])
    }

    /// How contents are stored. Of what is not the kernel's nothing is known: no claim is made that
    /// contents must be read.
    fn content(&self, level: &FsLevel) -> ContentRule {
        let values = self.mkfs_values(level, None);
        let block_bytes = values.ok().and_then(|v| v.optional("block_size")).unwrap_or(4096);
        match self.kernel_type() {
            Some(_) => ContentRule {
                block_bytes,
                inline_max_bytes: 0,
                compresses: false,
                metadata: self.metadata(level),
            },
            None => ContentRule {
                block_bytes: 512,
                inline_max_bytes: 0,
                compresses: true,
                metadata: None,
            },
        }
    }

    /// What is stored of each file beside its contents, at least; absent where this is not known.
    /// Pure.
    fn metadata(&self, level: &FsLevel) -> Option<MetadataRule> {
        let _ = level;
        None
    }

    /// What it reads of its own metadata, at most, when it is first written to after a mount: a
    /// warm phase may read so much that nobody could have cached. Pure. It was measured as the
    /// bytes that a loop device delivered from right after the mount of a fresh file system until
    /// up to 100,000 files in 5,000 directories were written and removed (Linux 6.18): ext4 of
    /// 512 MiB to 16 GiB 8 to 40 KiB, btrfs nothing.
    fn first_use_bytes(&self, level: &FsLevel, device_bytes: Option<u64>) -> u64 {
        let _ = (level, device_bytes);
        FIRST_USE_BYTES
    }

    /// Whether everything that syncfs has written is behind a flush of the device when syncfs
    /// returns. Not so where metadata goes through the page cache of the device (ext2, FAT, minix,
    /// UDF): the kernel writes that after the file system has sent its flush, or there is none. Nor
    /// where a file system never sends one (jfs).
    /// What is not known is not believed. Pure.
    fn syncs_to_device(&self, level: &FsLevel) -> bool {
        let _ = level;
        false
    }

    /// How it is mounted, checked and repaired after a crash. Pure.
    fn recovery(&self) -> Recovery {
        Recovery::UNKNOWN
    }

    /// What its documents say of a crash, with these mount options and with barriers. Pure.
    fn promises(&self, options: &[&str]) -> Promises {
        let _ = options;
        Promises::default()
    }

    /// Whether it never sends a flush to its disk, whatever its options. Pure.
    fn sends_no_flush(&self) -> bool {
        false
    }

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
    /// known; why not, in the notes. Ask while the device is not mounted, or has been mounted anew:
    /// the programs read through the page cache of the device, which holds what it was when it was
    /// read last.
    ///
    /// # Errors
    /// When the program is missing, fails, or is not understood.
    fn layout(&self, device: &Path) -> Result<FsLayout, FsError> {
        let _ = device;
        let note = format!(
            "{}: this program does not know where its journal and its metadata lie.",
            self.name()
        );
        Ok(FsLayout { notes: vec![note], ..FsLayout::default() })
    }

    /// Whether its files can share blocks (FICLONE); absent where this is not known.
    fn reflinks(&self) -> Option<bool> {
        self.kernel_type().map(|_| false)
    }

    /// Why calls with `O_DIRECT` would go through the page cache at this level; absent where they
    /// do not. Pure.
    fn ignores_direct_io(&self, level: &FsLevel) -> Option<String> {
        let _ = level;
        None
    }

    /// Whether it gives blocks in the middle of a file back (fallocate with `PUNCH_HOLE`) at this
    /// level; where that is not known, the trial asks it. Pure.
    fn punches_holes(&self, level: &FsLevel) -> bool {
        let _ = level;
        true
    }

    /// Mount options that switch compression of contents on.
    fn compression_options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether contents or metadata have checksums, by what
    /// [`FileSystem::effective_features`] has found; absent where it does not tell. Pure.
    fn checksums(&self, features: &BTreeMap<String, String>) -> Option<bool> {
        let _ = features;
        None
    }

    /// Whether it can be frozen (FIFREEZE) without harm to others. A directory could be, but others
    /// work on its file system; a file system of commands may have a daemon in between.
    fn freezes(&self) -> bool {
        self.backing() == Backing::Block && self.kernel_type().is_some()
    }

    /// What the kernel goes on writing of it after it is mounted for the first time.
    fn lazy_init(&self) -> Option<&'static LazyInit> {
        None
    }

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
}

/// How contents are stored in clusters: where their size is not given it follows from the device,
/// and the least that could be is taken.
pub(super) fn content_in_clusters(fs: &dyn FileSystem, level: &FsLevel) -> ContentRule {
    let given = level.mkfs.contains_key("cluster_size");
    let values = fs.mkfs_values(level, None).ok().filter(|_| given);
    ContentRule {
        block_bytes: values.map_or(512, |values| values.number("cluster_size")),
        inline_max_bytes: 0,
        compresses: false,
        metadata: fs.metadata(level),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_read() {
        assert_eq!(version("6.18.44-fc-v595\n"), Some((6, 18)));
        assert_eq!(version("6.12-rc1"), Some((6, 12)));
        assert_eq!(version(""), None);
        let old = Kernel { version: Some((6, 11)), page_bytes: 4096 };
        assert!(!old.is_at_least(6, 12) && old.is_at_least(5, 19));
        assert!(Kernel { version: None, ..old }.is_at_least(6, 12));
        assert!(Kernel::running(Path::new("/proc")).page_bytes >= 4096);
    }
}
