//! The trial spec: everything the executor needs for one trial, as one JSON document.

use crate::JsonSchema;
use crate::age::Age;
use crate::capacity::Predicted;
use crate::contender::{Cache, Contender, ContenderId};
use crate::device::DeviceIdentity;
use crate::outcome::Notice;
use crate::phase::{Phase, Workload};
use crate::run::{KernelFile, RunHeader};
use crate::seed::Seed;
use crate::trust::TrustConsent;
use crate::worker::UserIds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One trial: a workload on a contender in a block, from a reset state.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    /// [`crate::SPEC_SCHEMA`].
    pub schema: u32,
    /// Which trial this is.
    pub key: TrialKey,
    /// On what.
    pub contender: Contender,
    /// The vetted and claimed target.
    pub target: TargetSpec,
    /// Facts about it, by name; they go into the record as they are.
    pub device: BTreeMap<String, String>,
    /// What is to be said with the result already now.
    pub notices: Vec<Notice>,
    /// The work, for reference; what is done is in `steps`.
    pub workload: Workload,
    /// Where the source of real work lies outside the file system under test: the stage, or the
    /// user's own place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub staged: Option<PathBuf>,
    /// What the cache of a source on another file system shall be before a phase that reads it,
    /// also where this contender cannot be made cold; absent: as the contender's level says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_cache: Option<Cache>,
    /// Programs whose width is proved; absent: whatever is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<TrialPrograms>,
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// Seed of this trial.
    pub seed: Seed,
    /// Where images of aged devices are kept, and taken from; absent: each age is made anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_image_dir: Option<PathBuf>,
    /// Name that everything made for this trial carries (`fsarena-<run>-<trial>`).
    pub name: String,
    /// Directory for the mount point; it exists and is ours.
    pub scratch_dir: PathBuf,
    /// Period of the sampler; 0: no time series.
    pub sample_period_ns: u64,
    /// Whether block requests are traced, for the account of where the bytes went.
    pub account: bool,
    /// Room that is expected right after the mount, where it is known; another one is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<Predicted>,
    /// When a phase counts as drained.
    pub drain: Drain,
    /// What the time of day was more than `CLOCK_BOOTTIME` as the RUN, or its session, began, ns:
    /// whoever sets the clock after that changes no date of a trial. Absent: the time of day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realtime_offset_ns: Option<i64>,
    /// User that the worker becomes; absent: it stays what the executor is.
    pub user: Option<UserIds>,
    /// Hosts over which the ranks of phases are spread; none: they all run here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<RankHost>,
    /// Programs that others may change, and that may be started as root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<TrustConsent>,
    /// Processors of the worker; empty: any.
    pub cpus: Vec<usize>,
    /// Leave the file system mounted or its image in place for inspection.
    pub keep: bool,
}

/// Programs that do the work of a trial, all of one width.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialPrograms {
    /// Class of each ELF file that is started, bits: 32 or 64.
    pub elf_bits: u32,
    /// A directory that is laid over `/usr` for the trial; absent: `/usr` stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usr: Option<PathBuf>,
}

/// A host on which ranks work, in the same directory as here.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RankHost {
    /// What it was called.
    pub name: String,
    /// The command that starts a process there which speaks for a worker.
    pub argv: Vec<String>,
    /// How long it may be at one piece of work without a word, ns; what needs no work has less.
    pub work_limit_ns: u64,
    /// What makes that host a client of its own; absent: nothing is counted or dropped there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<RankAgent>,
}

/// An agent on a host of ranks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RankAgent {
    /// The command that starts it there.
    pub argv: Vec<String>,
    /// The shell command that mounts the file system there, with `{mnt}` for the mount point;
    /// absent: it is mounted already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
}

/// Which trial of which RUN.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialKey {
    /// Unique id of the RUN.
    pub run: String,
    /// Number of the trial in the RUN, from 0, in schedule order.
    pub sequence: u32,
    /// Block, from 0.
    pub block: u32,
    /// Place in the block, from 0.
    pub position: u32,
    /// Contender.
    pub contender: ContenderId,
    /// Name of the workload.
    pub workload: String,
}

impl TrialKey {
    /// The key of trial number `sequence` of the schedule of a RUN.
    ///
    /// # Panics
    /// When its plan has no such trial.
    #[must_use]
    pub fn new(header: &RunHeader, sequence: u32) -> Self {
        let RunHeader { uid, plan, .. } = header;
        let slot = plan.schedule[sequence as usize];
        Self {
            run: uid.clone(),
            sequence,
            block: slot.block,
            position: slot.position,
            contender: plan.contenders[slot.contender].id(),
            workload: plan.workloads[slot.workload].name.clone(),
        }
    }
}

/// A claimed target.
#[expect(clippy::large_enum_variant, reason = "there is one in a trial")]
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum TargetSpec {
    /// A block device, or several.
    Block {
        /// `/dev/loop3`, `/dev/zram1`, `/dev/sdb`; of several the first.
        device: PathBuf,
        /// Its size; of several that of the first alone: see [`TargetSpec::size_bytes`].
        size_bytes: u64,
        /// Whether it lies in memory (then nothing here is about a disk).
        in_memory: bool,
        /// What it is, and how to make sure that it still is.
        under: Under,
        /// The further devices of a file system on several, each a block device without members.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        members: Vec<TargetSpec>,
    },
    /// Memory alone: a file system without a device.
    Memory {
        /// Largest size it may take.
        size_bytes: u64,
    },
    /// A directory of ours in a directory of the user's.
    Directory {
        /// Our directory; emptied by reset, removed by the runner.
        path: PathBuf,
    },
}

/// What a block device is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Under {
    /// A loop device over an image of ours.
    Image {
        /// The image.
        image: PathBuf,
        /// Whether the loop reads and writes the image without the host's page cache.
        direct_io: bool,
    },
    /// A memory device of the kernel that we made (one of `MEMORY_DEVICES`).
    Made {
        /// What it was when it was made.
        identity: DeviceIdentity,
    },
    /// A modelled disk: a loop device over a file that a process of ours serves.
    Modelled {
        /// What the loop device was when it was made.
        identity: DeviceIdentity,
        /// Name in the abstract space of Unix sockets at which that process answers.
        socket: String,
    },
    /// The modelled disk of a guest kernel, which is booted for the trial.
    Guest {
        /// As the level of the device names it.
        kernel: String,
        /// The kernel, where it is a file of the user's; absent: it is one of those that were built
        /// here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kernel_file: Option<KernelFile>,
        /// Name of the model.
        model: String,
        /// Where the contents of the disk are kept, in a file without a name; absent: in memory.
        store_dir: Option<PathBuf>,
        /// Virtual time that each system call takes.
        #[serde(default)]
        syscall_ns: u64,
        /// Whether the trial is done twice, and has to come out the same.
        twice: bool,
    },
    /// A device of the user's, vetted and given up by them.
    Real {
        /// What it was when it was vetted.
        identity: DeviceIdentity,
        /// Signatures that lay on it and were given up, by name.
        signatures: Vec<String>,
        /// What lies under it, where it is a loop device of the user's (or a part of one) and the
        /// file still has its name: its pages may be cached a second time.
        backing_file: Option<PathBuf>,
    },
}

impl TargetSpec {
    /// The block device, where there is one; of several the first.
    #[must_use]
    pub fn device(&self) -> Option<&Path> {
        match self {
            Self::Block { device, .. } => Some(device),
            Self::Memory { .. } | Self::Directory { .. } => None,
        }
    }

    /// Each device of the target as a target of its own, the first one first; nothing where there
    /// is none.
    #[must_use]
    pub fn parts(&self) -> Vec<TargetSpec> {
        let Self::Block { members, .. } = self else { return Vec::new() };
        let mut first = self.clone();
        if let Self::Block { members, .. } = &mut first {
            members.clear();
        }
        [vec![first], members.clone()].concat()
    }

    /// Each of its block devices, the first one first.
    #[must_use]
    pub fn devices(&self) -> Vec<&Path> {
        let members = match self {
            Self::Block { members, .. } => &members[..],
            _ => &[],
        };
        self.device().into_iter().chain(members.iter().filter_map(Self::device)).collect()
    }

    /// Size of what a file system is made on, the sum of several devices; a directory has none of
    /// its own.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Block { size_bytes, members, .. } => {
                let sizes = members.iter().filter_map(Self::size_bytes);
                Some(sizes.fold(*size_bytes, u64::saturating_add))
            }
            Self::Memory { size_bytes } => Some(*size_bytes),
            Self::Directory { .. } => None,
        }
    }

    /// Whether the trial is one in a guest kernel.
    #[must_use]
    pub fn is_virtual(&self) -> bool {
        matches!(self, Self::Block { under: Under::Guest { .. }, .. })
    }

    /// The image under a loop device of ours; of several devices that of the first.
    #[must_use]
    pub fn image(&self) -> Option<&Path> {
        match self {
            Self::Block { under: Under::Image { image, .. }, .. } => Some(image),
            _ => None,
        }
    }

    /// What identifies a device that is not a loop device of ours; of several the first.
    #[must_use]
    pub fn identity(&self) -> Option<&DeviceIdentity> {
        match self {
            Self::Block {
                under:
                    Under::Made { identity }
                    | Under::Modelled { identity, .. }
                    | Under::Real { identity, .. },
                ..
            } => Some(identity),
            _ => None,
        }
    }

    /// The file under a loop device of the user's; of several devices that of the first.
    #[must_use]
    pub fn backing_file(&self) -> Option<&Path> {
        match self {
            Self::Block { under: Under::Real { backing_file, .. }, .. } => backing_file.as_deref(),
            _ => None,
        }
    }
}

/// One step of a trial (DESIGN §3).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "step", deny_unknown_fields)]
pub enum Step {
    /// Bring the device into the state that the SSD policy asks for.
    Condition,
    /// Wipe, mkfs with every option explicit, read features back.
    Reset,
    /// Fill and fragment the file system that was just made; it is not mounted before and after.
    Age {
        /// How.
        age: Age,
    },
    /// Mount and read the effective options back.
    Mount,
    /// Make the directories of the dataset; not measured.
    MakeDirs,
    /// Put the source of real work where it shall lie on the file system; not measured.
    Stage,
    /// A command of the user's before or after a phase; not measured.
    Hook {
        /// Name of the phase.
        phase: String,
        /// The shell command.
        command: String,
    },
    /// A phase that is not measured.
    Prepare {
        /// The phase.
        phase: Phase,
    },
    /// All that was written is brought to where it belongs: syncfs, then a freeze, or else the
    /// device is idle.
    Settle,
    /// Unmount, wait until the device is idle, drop caches, prove it, mount again.
    Chill,
    /// A timed phase.
    Measure {
        /// The phase.
        phase: Phase,
    },
    /// Read all contents again and compare.
    Verify,
    /// Measure used space, unmount, take everything down.
    Teardown,
}

kinds!(
    /// Name in records and progress lines.
    Step.name {
        Condition = "condition",
        Reset = "reset",
        Age = "age",
        Mount = "mount",
        MakeDirs = "make-dirs",
        Stage = "stage",
        Hook = "hook",
        Prepare = "prepare",
        Settle = "settle",
        Chill = "chill",
        Measure = "measure",
        Verify = "verify",
        Teardown = "teardown",
    }
);

/// When a phase counts as drained where the file system cannot be frozen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// The device must be idle for this long.
    pub idle_ns: u64,
    /// After this the phase is "not drained".
    pub cap_ns: u64,
}

impl Default for Drain {
    fn default() -> Self {
        Self { idle_ns: 200_000_000, cap_ns: 60_000_000_000 }
    }
}

handed_on_as_json!(TrialSpec);
