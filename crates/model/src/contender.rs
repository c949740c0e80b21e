//! Contenders: one combination of levels, and its identity.
//!
//! The identity is the SHA-256 of the canonical JSON (keys sorted, no white space) of the resolved
//! levels, a `#` and the replicate number. Labels, titles and the order in which a user wrote
//! options are not part of it; every level that can change a result is.
//!
//! Resolved means: axes multiplied out, `cold` and `discard` set to what the file system can do.
//! The text of options is taken as given, and defaults are not filled in: `mkfs.block_size=4096`
//! and no such option are two contenders, even where mkfs would choose 4096 anyway.

use crate::JsonSchema;
use crate::device::{QueueLevel, SsdPolicy};
use crate::job::Reflink;
use crate::memory_device::MemoryDevice;
use crate::seed::hex;
use crate::units::{Bytes, size_text};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// One combination of levels, with the label that tables show.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// Short name in tables: `ext4`, `ext4 data=writeback`, `ext4#2`.
    pub label: String,
    /// 1, or 2 and above for the further arms of an A/A comparison (`--fs ext4,ext4`).
    pub replicate: u32,
    /// What it is.
    pub levels: Levels,
    /// What was asked of a factor and could not be had, by its key; `levels` has what was had.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub asked: BTreeMap<String, RequestedLevel>,
}

/// A level that was asked for and could not be had.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestedLevel {
    /// The level, as an experiment file has it.
    pub level: String,
    /// Who asked.
    pub by: AskedBy,
    /// Why it could not be had.
    pub why: String,
}

/// Who asked for a level.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum AskedBy {
    /// A default, or an experiment of the program's own.
    Program,
    /// An option of the command line, or an experiment file of the user's.
    User,
}

impl Contender {
    /// A contender that has all that was asked for.
    #[must_use]
    pub fn new(label: &str, replicate: u32, levels: Levels) -> Self {
        Self { label: label.to_owned(), replicate, levels, asked: BTreeMap::new() }
    }

    /// The state of the caches that was asked for, where it could not be had.
    #[must_use]
    pub fn asked_cache(&self) -> Option<(Cache, &RequestedLevel)> {
        let asked = self.asked.get(CACHE)?;
        Some((Cache::named(&asked.level)?, asked))
    }

    /// The identity: 64 hex digits.
    #[must_use]
    pub fn id(&self) -> ContenderId {
        ContenderId::from_levels(&self.levels, self.replicate)
    }
}

/// The identity of a contender: 64 hex digits.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
pub struct ContenderId(pub String);

impl ContenderId {
    /// The identity of these levels under this replicate number.
    ///
    /// # Panics
    /// Never in practice: every level is representable as JSON.
    #[must_use]
    pub fn from_levels(levels: &Levels, replicate: u32) -> Self {
        // Through `Value`, whose maps are sorted: the text does not depend on declaration order.
        let canonical = serde_json::to_value(levels).expect("levels are plain data").to_string();
        let mut hash = Sha256::new();
        hash.update(canonical.as_bytes());
        hash.update(format!("#{replicate}").as_bytes());
        Self(hex(&hash.finalize()))
    }

    /// The first 12 digits, enough to tell contenders apart in text.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..self.0.len().min(12)]
    }
}

/// The resolved level of every factor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// File system with its mkfs and mount options.
    pub fs: FsLevel,
    /// Where it lies.
    pub device: DeviceLevel,
    /// Memory limit of the work, in bytes; `None` is the whole machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// State of the caches before each timed phase.
    pub cache: Cache,
    /// Whether mkfs and mount may discard (which punches holes into an image).
    #[serde(default, skip_serializing_if = "Discard::is_none")]
    pub discard: Discard,
    /// What is done to the device before each mkfs.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub ssd: SsdPolicy,
    /// Settings of the device's queue.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub queue: QueueLevel,
    /// Whether copies may share blocks with what is copied.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub reflink: Reflink,
    /// An injected delay of known size, ns: the worker sleeps so long within each timed phase,
    /// after its last op and before `returned` is read. It shows what a comparison is able to find.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub handicap_ns: u64,
    /// Levels of the factors that have no field here, by key; one at its default is absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub factors: BTreeMap<String, String>,
}

/// A file system with its options.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FsLevel {
    /// Name of the driver: `ext4`, `tmpfs`, `directory`, or that of an `external` definition.
    pub name: String,
    /// mkfs options by our names, such as `block_size = "1024"`; see the driver for its own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mkfs: BTreeMap<String, String>,
    /// Mount options as `mount -o` takes them, one each, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount: Vec<String>,
    /// The commands of a file system that is defined in an experiment file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalFs>,
}

impl FsLevel {
    /// A file system with default options.
    #[must_use]
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), mkfs: BTreeMap::new(), mount: Vec::new(), external: None }
    }
}

/// `ext4`, `ext4:data=writeback:noatime`, `xfs:mkfs.block_size=1024`.
impl fmt::Display for FsLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (key, value) in &self.mkfs {
            write!(f, ":mkfs.{key}={value}")?;
        }
        for option in &self.mount {
            write!(f, ":{option}")?;
        }
        Ok(())
    }
}

/// A file system defined by its commands; `{dev}`, `{mnt}` and `{size}` are filled in.
///
/// Commands run through `sh -c` as root, after the user has seen and confirmed them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalFs {
    /// Makes the file system; absent where mounting is all there is to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<String>,
    /// Mounts it at `{mnt}`.
    pub mount: String,
    /// Unmounts it; `umount {mnt}` where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmount: Option<String>,
    /// Undoes `create` beyond what the next `create` on the same device would overwrite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destroy: Option<String>,
    /// Prints the version on its first line (standard output or error).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Programs that the commands need, looked up before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Debian package that brings them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Whether it needs a block device (`{dev}`).
    // Where the key is absent it does, as in an experiment.
    #[serde(default = "yes")]
    pub device: bool,
    /// Whether it lives in memory alone (only without a device): warm by nature, nothing to drain.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub memory: bool,
}

impl ExternalFs {
    /// All that is run of it by a shell. Whoever asks for consent or looks for programs takes them
    /// from here, so that none is forgotten.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        let Self { create, mount, unmount, destroy, version, .. } = self;
        let all =
            [create.as_ref(), Some(mount), unmount.as_ref(), destroy.as_ref(), version.as_ref()];
        all.into_iter().flatten().map(String::as_str)
    }
}

fn yes() -> bool {
    true
}

/// Where a file system lies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
#[serde(expecting = "expected a device of a known kind, with its fields and no others")]
pub enum DeviceLevel {
    /// A loop device over an image in the image directory.
    Loop {
        /// Size of the image, bytes.
        size_bytes: u64,
    },
    /// A loop device over an image in memory.
    Ram {
        /// Size of the image, bytes.
        size_bytes: u64,
    },
    /// A modelled disk: a loop device over a file that a process of ours serves in the time of the
    /// model.
    Vdisk {
        /// Its size, bytes.
        size_bytes: u64,
        /// Name of the model, such as `hdd-2007`.
        model: String,
    },
    /// A modelled disk of a guest kernel, in virtual time.
    Virtual {
        /// Its size, bytes.
        size_bytes: u64,
        /// Name of the model, such as `hdd-2007`.
        model: String,
        /// The kernel: its release and the first digits of the hash of its binary, such as
        /// `6.1.192-16c9f89d7291`; as it was written, or empty, before a plan is made.
        kernel: String,
        /// Virtual time that each system call takes, a price that is stated; 0: none.
        #[serde(default, skip_serializing_if = "crate::is_default")]
        syscall_ns: u64,
    },
    /// A block device of the user's. Its contents are lost; only with consent.
    Block {
        /// As written, such as `/dev/sdb` or `/dev/disk/by-id/…`.
        path: PathBuf,
        /// Its size, bytes.
        size_bytes: u64,
    },
    /// A directory of a file system that is there already; no mkfs.
    Directory {
        /// The user's directory; the work goes into a directory of ours below it.
        path: PathBuf,
    },
    /// Several devices, for a file system that takes more than one.
    Several {
        /// 2 to 8 devices in the order in which mkfs gets them: each `Loop`, `Ram` or `Block`.
        members: Vec<DeviceLevel>,
    },
    /// Where another program measured, of whose records the RUN was made, or a device that was only
    /// watched; it cannot be run here.
    Elsewhere {
        /// That program: `fio`, `hyperfine`, or [`WATCH`].
        program: String,
        /// What it measured: the label that was given, its command, or the device.
        what: String,
    },
    /// A memory device of the kernel, made for the RUN.
    #[serde(untagged)]
    Memory {
        /// Which one.
        kind: MemoryDevice,
        /// Its size, bytes.
        size_bytes: u64,
    },
}

/// How the times of what lies on a device come about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// By this machine, on a device, in memory or in a directory.
    #[default]
    OnDevice,
    /// By this machine, with a model in place of the device.
    OnModel,
    /// In a guest kernel on a modelled disk, in virtual time.
    InVirtualTime,
    /// By another program.
    Elsewhere,
}

impl Measured {
    /// Whether it is by this machine and on a device.
    #[must_use]
    pub fn is_on_device(&self) -> bool {
        *self == Self::OnDevice
    }
}

/// Fewest devices of [`DeviceLevel::Several`].
pub const SEVERAL_LEAST: usize = 2;
/// Most devices of [`DeviceLevel::Several`].
pub const SEVERAL_MOST: usize = 8;

/// What stands as the program where a device was watched, and nothing was measured.
pub const WATCH: &str = "fsarena watch";

impl DeviceLevel {
    /// Name of the kind, as in files and tables.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Loop { .. } => "loop",
            Self::Ram { .. } => "ram",
            Self::Memory { kind, .. } => kind.row().name,
            Self::Vdisk { .. } => "vdisk",
            Self::Virtual { .. } => "virtual",
            Self::Block { .. } => "block",
            Self::Directory { .. } => "directory",
            Self::Several { .. } => "several",
            Self::Elsewhere { .. } => "elsewhere",
        }
    }

    /// Whether what is written to it stays in memory.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        match self {
            Self::Several { members } => members.iter().all(Self::is_memory),
            Self::Ram { .. } | Self::Memory { .. } => true,
            Self::Loop { .. }
            | Self::Vdisk { .. }
            | Self::Virtual { .. }
            | Self::Block { .. }
            | Self::Directory { .. }
            | Self::Elsewhere { .. } => false,
        }
    }

    /// Whether trials on it are in virtual time.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Virtual { .. })
    }

    /// Whether a model answers in place of a device, in virtual time or in real time.
    #[must_use]
    pub fn is_modelled(&self) -> bool {
        matches!(self, Self::Virtual { .. } | Self::Vdisk { .. })
    }

    /// How times come about on it.
    #[must_use]
    pub fn measured(&self) -> Measured {
        match self {
            Self::Vdisk { .. } => Measured::OnModel,
            Self::Virtual { .. } => Measured::InVirtualTime,
            Self::Elsewhere { .. } => Measured::Elsewhere,
            _ => Measured::OnDevice,
        }
    }

    /// Each device of it: of one device that alone.
    #[must_use]
    pub fn parts(&self) -> &[DeviceLevel] {
        match self {
            Self::Several { members } => members,
            one => std::slice::from_ref(one),
        }
    }

    /// Sizes of its devices, bytes; nothing where it has none of its own.
    #[must_use]
    pub fn sizes_bytes(&self) -> Vec<u64> {
        self.parts().iter().filter_map(Self::size_bytes).collect()
    }

    /// Whether it can be one of several devices.
    #[must_use]
    pub fn can_be_member(&self) -> bool {
        matches!(self, Self::Loop { .. } | Self::Ram { .. } | Self::Block { .. })
    }

    /// Size of the device in bytes, where it has one of its own; the sum of several.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Several { members } => members
                .iter()
                .map(Self::size_bytes)
                .try_fold(0_u64, |sum, size| Some(sum.saturating_add(size?))),
            Self::Loop { size_bytes }
            | Self::Ram { size_bytes }
            | Self::Memory { size_bytes, .. }
            | Self::Vdisk { size_bytes, .. }
            | Self::Virtual { size_bytes, .. }
            | Self::Block { size_bytes, .. } => Some(*size_bytes),
            Self::Directory { .. } | Self::Elsewhere { .. } => None,
        }
    }
}

impl DeviceLevel {
    /// As it is written in an experiment or after `--on`: `loop:2G`, `/dev/sdb`; of several
    /// devices `loop:2G*2`, `/dev/sdb+/dev/sdc`.
    #[must_use]
    pub fn written(&self) -> String {
        match self {
            Self::Loop { size_bytes } => format!("loop:{}", size_text(*size_bytes)),
            Self::Ram { size_bytes } => format!("ram:{}", size_text(*size_bytes)),
            Self::Memory { kind, size_bytes } => {
                format!("{}:{}", kind.row().written, size_text(*size_bytes))
            }
            Self::Vdisk { size_bytes, model } => {
                format!("vdisk:{}:model={model}", size_text(*size_bytes))
            }
            Self::Virtual { size_bytes, model, kernel, syscall_ns } => {
                let size = size_text(*size_bytes);
                let kernel = if kernel.is_empty() { "" } else { &format!(":kernel={kernel}") };
                let price = match syscall_ns {
                    0 => String::new(),
                    price_ns => format!(":syscall_ns={price_ns}"),
                };
                format!("virtual:{size}:model={model}{kernel}{price}")
            }
            Self::Block { path, .. } | Self::Directory { path } => path.display().to_string(),
            Self::Several { members } => {
                let alike = |(text, count): (String, usize)| match count {
                    1 => text,
                    count => format!("{text}*{count}"),
                };
                counted(members, Self::written).into_iter().map(alike).collect::<Vec<_>>().join("+")
            }
            Self::Elsewhere { .. } => self.to_string(),
        }
    }
}

/// The texts of devices, those that follow one another and are the same counted as one.
fn counted(members: &[DeviceLevel], text: impl Fn(&DeviceLevel) -> String) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for text in members.iter().map(text) {
        match all.last_mut() {
            Some((known, count)) if *known == text => *count += 1,
            _ => all.push((text, 1)),
        }
    }
    all
}

/// What tells devices apart, in the order of `all`: of modelled ones the model, and size, kernel
/// and price of a system call where these differ among them; of others what `text` makes of them.
#[must_use]
pub fn device_labels(all: &[&DeviceLevel], text: fn(&DeviceLevel) -> String) -> Vec<String> {
    let modelled = |level: &DeviceLevel| match level {
        DeviceLevel::Vdisk { size_bytes, model } => {
            Some((size_text(*size_bytes), model.clone(), String::new(), 0))
        }
        DeviceLevel::Virtual { size_bytes, model, kernel, syscall_ns } => {
            Some((size_text(*size_bytes), model.clone(), kernel.clone(), *syscall_ns))
        }
        _ => None,
    };
    let parts: Vec<_> = all.iter().map(|level| modelled(level)).collect();
    let known: Vec<_> = parts.iter().flatten().collect();
    let differs = |same: &dyn Fn(usize) -> bool| !(0..known.len()).all(same);
    let sizes = differs(&|at| known[at].0 == known[0].0);
    let releases = differs(&|at| kernel_release(&known[at].2) == kernel_release(&known[0].2));
    let kernels = differs(&|at| known[at].2 == known[0].2);
    let prices = differs(&|at| known[at].3 == known[0].3);
    let label = |level: &DeviceLevel, part: &Option<(String, String, String, u64)>| {
        let Some((size, model, kernel, price_ns)) = part else { return text(level) };
        let mut label = model.clone();
        if sizes {
            label.push_str(&format!(" of {size}"));
        }
        if kernels {
            let name = if releases { kernel_release(kernel) } else { kernel };
            label.push_str(&format!(" Linux {name}"));
        }
        if prices {
            label.push_str(&format!(" syscall_ns={price_ns}"));
        }
        label
    };
    let labels: Vec<String> =
        all.iter().zip(&parts).map(|(level, part)| label(level, part)).collect();
    // A modelled disk of the machine beside one of a guest, or two kernels of one release beside
    // another.
    let is_one = |at: usize| {
        (0..all.len()).all(|other| (labels[at] == labels[other]) == (all[at] == all[other]))
    };
    if (0..all.len()).all(is_one) {
        return labels;
    }
    all.iter().map(|level| text(level)).collect()
}

/// The release of a guest kernel as a level names it: `6.12.117` of `6.12.117-8444a7d9177f`.
#[must_use]
pub fn kernel_release(kernel: &str) -> &str {
    kernel.rsplit_once('-').map_or(kernel, |(release, _)| release)
}

impl fmt::Display for DeviceLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loop { size_bytes } => write!(f, "loop of {}", Bytes(*size_bytes)),
            Self::Ram { size_bytes } => write!(f, "memory of {}", Bytes(*size_bytes)),
            Self::Memory { kind, size_bytes } => {
                write!(f, "{} of {}", kind.row().written, Bytes(*size_bytes))
            }
            Self::Vdisk { size_bytes, model } => {
                write!(f, "{model} of {}, modelled", Bytes(*size_bytes))
            }
            Self::Virtual { size_bytes, model, kernel, syscall_ns } => {
                let release = kernel_release(kernel);
                write!(f, "{model} of {}, modelled, Linux {release}", Bytes(*size_bytes))?;
                match syscall_ns {
                    0 => Ok(()),
                    price_ns => write!(f, ", {price_ns} ns a system call"),
                }
            }
            Self::Block { path, .. } | Self::Directory { path } => write!(f, "{}", path.display()),
            Self::Several { members } => {
                let alike = |(text, count): (String, usize)| match count {
                    1 => text,
                    count => format!("{count} × {text}"),
                };
                let all = counted(members, Self::to_string).into_iter().map(alike);
                f.write_str(&all.collect::<Vec<_>>().join(" + "))
            }
            Self::Elsewhere { program, what } => write!(f, "{what}, measured by {program}"),
        }
    }
}

/// State of the caches that a timed phase starts with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// Unmounted, dropped, mounted again, and proved.
    Cold,
    /// As the step before left them.
    Warm,
    /// Cold before the first timed phase of a trial, warm after it: what one gets by mounting anew
    /// between repeats of a script.
    ColdStart,
    /// A directory of a shared file system whose clients, the hosts of the ranks, were made cold.
    ColdClients,
    /// Of what another program measured: nobody can ask for it.
    Unknown,
}

names!(Cache.name {
    Cold = "cold", Warm = "warm", ColdStart = "cold-start", ColdClients = "cold-clients",
    Unknown = "unknown",
});

impl Cache {
    /// Whether every timed phase is to be cold.
    #[must_use]
    pub fn is_cold(self) -> bool {
        matches!(self, Self::Cold | Self::ColdClients)
    }
}

/// What mkfs and mount may tell the device about unused sectors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Discard {
    /// Nothing: no discard in mkfs, `nodiscard` where a mount would do it by itself.
    #[default]
    None,
    /// mkfs discards the whole device first, and the mount discards as it frees.
    On,
}

names!(Discard.name { None = "none", On = "on" });

/// Key of the factor that is the state of the caches.
pub const CACHE: &str = "cache";

/// Name of the contender that has no file system.
pub const RAW: &str = "raw";

/// Memory of a guest, where nothing is said.
pub const GUEST_MEMORY_BYTES: u64 = 256 << 20;

impl Levels {
    /// A file system with default options on a device, cold, everything else as it is.
    #[must_use]
    pub fn plain(fs: FsLevel, device: DeviceLevel) -> Self {
        Self {
            fs,
            device,
            memory_bytes: None,
            cache: Cache::Cold,
            discard: Discard::None,
            ssd: SsdPolicy::None,
            queue: QueueLevel::default(),
            reflink: Reflink::Never,
            handicap_ns: 0,
            factors: BTreeMap::new(),
        }
    }

    /// Why a trial at these levels cannot be cold, where it cannot.
    #[must_use]
    pub fn warm_reason(&self) -> Option<&'static str> {
        if self.cache == Cache::ColdClients {
            None
        } else if matches!(self.device, DeviceLevel::Directory { .. })
            || self.fs.name == "directory"
        {
            Some(
                "fsarena cannot unmount a directory, so its caches stay as the step before left \
                 them",
            )
        } else if self.is_in_memory() {
            Some("it has no device: warm by nature")
        } else if self.fs.external.as_ref().is_some_and(|commands| !commands.device) {
            Some("it has no device of its own that could be made cold")
        } else {
            None
        }
    }

    /// Whether a device is made, or given up, for the file system.
    #[must_use]
    pub fn has_own_device(&self) -> bool {
        let external = self.fs.external.as_ref();
        !self.is_in_memory()
            && self.fs.name != "directory"
            && external.is_none_or(|commands| commands.device)
            && self.device.size_bytes().is_some()
    }

    /// Whether it is no file system but the device itself, as the one file of its work.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        self.fs.name == RAW && self.fs.external.is_none()
    }

    /// Whether the file system is in memory alone.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.fs.name == "tmpfs"
            || self.fs.external.as_ref().is_some_and(|own| !own.device && own.memory)
    }
}

impl Discard {
    /// Whether this is the default.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(fs: FsLevel) -> Levels {
        Levels::plain(fs, DeviceLevel::Loop { size_bytes: 1 << 31 })
    }

    #[test]
    fn modelled_devices_are_told_apart_by_what_differs() {
        let virtual_disk = |model: &str, gib: u64, kernel: &str, syscall_ns| DeviceLevel::Virtual {
            size_bytes: gib << 30,
            model: model.into(),
            kernel: kernel.into(),
            syscall_ns,
        };
        let labels = |all: &[DeviceLevel]| {
            device_labels(&all.iter().collect::<Vec<_>>(), DeviceLevel::written)
        };
        let disk = virtual_disk("hdd-2003", 4, "6.12.117-8444", 0);
        let other = virtual_disk("ssd-sata", 4, "6.12.117-8444", 0);
        assert_eq!(
            labels(&[disk.clone(), other.clone(), disk.clone()]),
            ["hdd-2003", "ssd-sata", "hdd-2003"]
        );
        let larger = virtual_disk("hdd-2003", 8, "6.12.117-8444", 0);
        assert_eq!(labels(&[disk.clone(), larger]), ["hdd-2003 of 4G", "hdd-2003 of 8G"]);
        let old = virtual_disk("hdd-2003", 4, "6.1.192-16c9", 0);
        assert_eq!(
            labels(&[disk.clone(), old.clone()]),
            ["hdd-2003 Linux 6.12.117", "hdd-2003 Linux 6.1.192"]
        );
        let own = virtual_disk("hdd-2003", 4, "6.12.117-beef", 0);
        assert_eq!(labels(&[disk.clone(), own.clone()])[1], "hdd-2003 Linux 6.12.117-beef");
        let all = [disk.clone(), own, old];
        assert_eq!(labels(&all)[1], all[1].written(), "two of one release beside another");
        let priced = virtual_disk("hdd-2003", 4, "6.12.117-8444", 20);
        assert_eq!(labels(&[disk.clone(), priced])[1], "hdd-2003 syscall_ns=20");
        let native = DeviceLevel::Vdisk { size_bytes: 4 << 30, model: "hdd-2003".into() };
        assert_eq!(labels(std::slice::from_ref(&native)), ["hdd-2003"]);
        let beside = DeviceLevel::Loop { size_bytes: 4 << 30 };
        assert_eq!(labels(&[native, beside]), ["hdd-2003", "loop:4G"]);
    }

    #[test]
    fn several_devices_have_one_text_and_the_sum_of_their_sizes() {
        let image = |size_bytes| DeviceLevel::Loop { size_bytes };
        let disk = DeviceLevel::Block { path: "/dev/sdb".into(), size_bytes: 1 << 40 };
        let members = vec![image(1 << 30), image(1 << 30), image(2 << 30), disk.clone()];
        let several = DeviceLevel::Several { members };
        assert_eq!(several.kind(), "several");
        assert_eq!(several.size_bytes(), Some((4 << 30) + (1 << 40)));
        assert_eq!(several.written(), "loop:1G*2+loop:2G+/dev/sdb");
        assert_eq!(several.to_string(), "2 × loop of 1 GiB + loop of 2 GiB + /dev/sdb");
        assert_eq!(several.parts().len(), 4);
        assert_eq!(disk.parts(), std::slice::from_ref(&disk));
        let json = serde_json::to_string(&several).unwrap();
        assert!(json.starts_with(r#"{"kind":"several","members":[{"kind":"loop","#), "{json}");
        assert_eq!(serde_json::from_str::<DeviceLevel>(&json).unwrap(), several);
        // The order of the devices is that of mkfs, and so part of what the contender is.
        let id =
            |device| ContenderId::from_levels(&Levels::plain(FsLevel::plain("btrfs"), device), 1);
        let turned = DeviceLevel::Several { members: vec![image(2 << 30), image(1 << 30)] };
        let plain = DeviceLevel::Several { members: vec![image(1 << 30), image(2 << 30)] };
        assert_ne!(id(turned), id(plain));
    }

    #[test]
    fn identity_sees_levels_and_replicate_but_no_label() {
        let one = Contender::new("a", 1, levels(FsLevel::plain("ext4")));
        let renamed = Contender { label: "b".into(), ..one.clone() };
        assert_eq!(one.id(), renamed.id());
        let second = Contender { replicate: 2, ..one.clone() };
        assert_ne!(one.id(), second.id());
        let mut other = one.clone();
        other.levels.fs.mount.push("noatime".into());
        assert_ne!(one.id(), other.id());
    }

    /// Changing this vector makes old databases unreadable as history: it needs a new schema.
    #[test]
    fn golden_identity() {
        let id = ContenderId::from_levels(&levels(FsLevel::plain("ext4")), 1);
        assert_eq!(id.short(), GOLDEN);
    }
    const GOLDEN: &str = "80f40b107502";
}
