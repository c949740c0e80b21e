//! A RUN: one execution of an experiment, with its plan.

use crate::JsonSchema;
pub use crate::clock::Clock;
use crate::contender::{Cache, Contender, DeviceLevel, Levels, WATCH};
use crate::crash::{Campaign, CrashPlan, CrashSlot};
use crate::device::DeviceIdentity;
use crate::free::FreeQuantity;
use crate::host::{Finding, Host};
use crate::phase::{Phase, Workload};
use crate::seed::Seed;
use crate::verdict::{Pairs, Question, VerdictPlan};
use crate::worker::UserIds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is known of a RUN before its first trial.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunHeader {
    /// Unique over all databases: 16 hex digits.
    pub uid: String,
    /// Name of the experiment.
    pub experiment: String,
    /// One line for people.
    pub title: String,
    /// The experiment file as read, or the equivalent of the command line.
    pub experiment_toml: String,
    /// Wall clock, ns since 1970.
    pub created_unix_ns: u64,
    /// Version of the program.
    pub program_version: String,
    /// Arguments of the command line, with the seed that was drawn where none was stated.
    pub arguments: Vec<String>,
    /// The machine.
    pub host: Host,
    /// What was planned.
    pub plan: RunPlan,
    /// What else a resumed RUN must have again; absent in imported ones, which cannot be
    /// resumed.
    pub place: Option<RunPlace>,
    /// Conditions that distort results, as they were right before the RUN.
    pub findings: Vec<Finding>,
}

impl RunHeader {
    /// What the device was known by that a path of the plan led to when the RUN began.
    #[must_use]
    pub fn device_at(&self, path: &Path) -> Option<&DeviceIdentity> {
        let paths = self.plan.block_paths();
        let index = paths.iter().position(|known| *known == path)?;
        self.place.as_ref()?.devices.get(index)
    }
}

/// Where and by what a RUN is carried out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunPlace {
    /// SHA-256 of the program's file, 64 hex digits.
    pub program_sha256: String,
    /// Directory of images.
    pub image_dir: PathBuf,
    /// Directory of kept images of aged devices; absent: each age is made anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_image_dir: Option<PathBuf>,
    /// User and group of the work.
    pub user: Option<UserIds>,
    /// Processors of the work; empty: any.
    pub cpus: Vec<usize>,
    /// The user's devices under test: those of [`RunPlan::block_paths`], in its order.
    pub devices: Vec<DeviceIdentity>,
    /// Guest kernels that are files of the user's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_files: Vec<KernelFile>,
    /// Programs of i386 that trials are done with; absent: none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<RunPrograms>,
    /// Hosts over which the ranks are spread, as ssh knows them; none: they all run here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The command by which each of them mounts the file system as a client of its own; absent: it
    /// is mounted there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_mount: Option<String>,
}

/// Programs of i386, as they were when the RUN began; those of this machine were of the same
/// versions.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunPrograms {
    /// Hash of all packages.
    pub key: String,
    /// Packages of the programs and of the libraries that they load.
    pub packages: Vec<ProgramPackage>,
}

/// A package of i386.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProgramPackage {
    pub name: String,
    pub version: String,
    /// SHA-256 of the package, 64 hex digits.
    pub sha256: String,
}

/// A guest kernel that is a file of the user's, as it was when the RUN began.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct KernelFile {
    /// As the level of a device names it: release and first digits of the hash.
    pub level: String,
    /// Absolute path.
    pub path: PathBuf,
    /// SHA-256 of the file, 64 hex digits.
    pub sha256: String,
    /// Ticks a second.
    pub hz: u32,
}

/// One uninterrupted piece of a RUN: the first, and one more for each resume.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunSession {
    /// Wall clock at its start, ns since 1970.
    pub started_unix_ns: u64,
    /// Boot in which it ran.
    pub boot_id: String,
    /// Number of the first trial that it did.
    pub first_sequence: u32,
}

/// The plan of a RUN, fixed before block 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunPlan {
    /// Seed of the experiment.
    pub seed: Seed,
    /// Number of blocks in the schedule; a RUN whose questions are decided ends before the last.
    pub blocks: u32,
    /// Contenders, in the order they were written.
    pub contenders: Vec<Contender>,
    /// Workloads, in the order they were written.
    pub workloads: Vec<Workload>,
    /// Pairs that are not run, each with its reason.
    pub not_run: Vec<NotRun>,
    /// The trials, in order.
    pub schedule: Vec<Slot>,
    /// Clock that is compared: `durable`, unless the experiment says otherwise.
    pub compared_clock: Clock,
    /// Scale applied to the datasets; 1.0 is as written.
    pub scale: f64,
    /// Read all contents again after each trial.
    pub verify: bool,
    /// Period of the sampler; 0: no time series.
    pub sample_period_ns: u64,
    /// Whether block requests are traced, for the account of where the bytes went.
    pub account: bool,
    /// How rates are shown.
    pub rate: RateStyle,
    /// What is asked and by which rule; absent where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictPlan>,
    /// Its crash runs; absent where no power is cut.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "safety")]
    pub crash: Option<CrashPlan>,
}

impl RunPlan {
    /// Timed phases that leave nothing free, and so get no verdict: of which workload, and number.
    pub fn phases_without_verdict(&self) -> impl Iterator<Item = (&Workload, &Phase)> {
        self.workloads.iter().flat_map(|workload| {
            let phases = workload.phases.iter().enumerate();
            let is_one = |&(at, phase): &(usize, &Phase)| {
                phase.timed && workload.free(at) == FreeQuantity::Nothing
            };
            phases.filter(is_one).map(move |(_, phase)| (workload, phase))
        })
    }

    /// Whether a device was watched while another application used it: then nothing was measured,
    /// and nothing can be decided.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        let is_watched = |contender: &Contender| {
            matches!(&contender.levels.device, DeviceLevel::Elsewhere { program, .. }
                if program == WATCH)
        };
        !self.contenders.is_empty() && self.contenders.iter().all(is_watched)
    }

    /// Paths of the user's block devices that trials work on, each once, in the order of the
    /// contenders.
    #[must_use]
    pub fn block_paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        for (index, contender) in self.contenders.iter().enumerate() {
            if self.schedule.iter().all(|slot| slot.contender != index) {
                continue;
            }
            for part in contender.levels.device.parts() {
                if let DeviceLevel::Block { path, .. } = part
                    && !paths.contains(&path.as_path())
                {
                    paths.push(path.as_path());
                }
            }
        }
        paths
    }

    /// The pairs of contenders (indices, the lower one first) that a question asks about; none
    /// where the plan has no verdicts.
    ///
    /// Both have to run the question's workload, and what they are asked to be has to be
    /// comparable: cold with cold, a memory limit with a memory limit. Whether a phase *was* cold
    /// is known from its record alone.
    #[must_use]
    pub fn asked_pairs(&self, question: &Question) -> Vec<(usize, usize)> {
        let Some(verdict) = &self.verdict else { return Vec::new() };
        let runs = |contender: usize| {
            !self.not_run.iter().any(|row| {
                row.contender == contender && row.workload.is_none_or(|w| w == question.workload)
            })
        };
        let levels = |contender: usize| &self.contenders[contender].levels;
        let alike = |a: usize, b: usize| self.may_compare(question, levels(a), levels(b));
        let all: Vec<usize> = (0..self.contenders.len()).filter(|one| runs(*one)).collect();
        let is_asked = |a: usize, b: usize| match verdict.pairs {
            Pairs::All => true,
            Pairs::Baseline { contender } => a == contender || b == contender,
        };
        let pairs = all.iter().enumerate().flat_map(|(at, a)| {
            let others = all[at + 1..].iter();
            others.map(|b| (*a, *b)).collect::<Vec<_>>()
        });
        pairs.filter(|(a, b)| is_asked(*a, *b) && alike(*a, *b)).collect()
    }

    /// Whether its crash runs are all that it has.
    #[must_use]
    pub fn is_crash_alone(&self) -> bool {
        self.crash.as_ref().is_some_and(|crash| crash.is_alone)
    }

    /// The contenders whose power is cut, as indices.
    #[must_use]
    pub fn crashed_contenders(&self) -> Vec<usize> {
        let Some(crash) = &self.crash else { return Vec::new() };
        let is_left_out = |contender: usize| {
            let mut rows = self.not_run.iter().filter(|row| row.workload.is_none());
            rows.any(|row| row.contender == contender)
        };
        let all = 0..self.contenders.len();
        all.filter(|one| !is_left_out(*one) && crash.not_run(*one).is_none()).collect()
    }

    /// The crash runs in their order: the first run of everything, then the second, so that what
    /// was interrupted has as much of each.
    #[must_use]
    pub fn crash_slots(&self) -> Vec<CrashSlot> {
        let Some(crash) = &self.crash else { return Vec::new() };
        let contenders = self.crashed_contenders();
        let workloads = crash.workloads.len();
        let of_run = |number| {
            let contenders = &contenders;
            (0..workloads).flat_map(move |workload| {
                let slot = move |contender| CrashSlot { number, workload, contender };
                contenders.iter().copied().map(slot)
            })
        };
        // Phases of a workload that a contender of such a RUN cannot have.
        let is_of_work =
            matches!(crash.campaign, Campaign::PowerCuts { .. } | Campaign::EveryEntry { .. });
        let left_out: BTreeSet<(usize, &str)> = self
            .not_run
            .iter()
            .filter(|_| crash.is_alone && is_of_work)
            .filter_map(|row| Some((row.contender, &*self.workloads.get(row.workload?)?.name)))
            .collect();
        let is_left_out = |slot: &CrashSlot| {
            left_out.contains(&(slot.contender, crash.workloads[slot.workload].as_str()))
        };
        (0..crash.runs).flat_map(of_run).filter(|slot| !is_left_out(slot)).collect()
    }

    /// The seed of a crash run: that of its number, the same for all contenders and workloads.
    #[must_use]
    pub fn crash_seed(&self, number: u32) -> u64 {
        if let Some(first) = self.crash.as_ref().and_then(|crash| crash.first_seed) {
            return first.wrapping_add(u64::from(number));
        }
        // As many bits as every reader of JSON keeps.
        self.seed.child("crash-run", u64::from(number)).tag() >> 11
    }

    /// Whether these levels are planned to be comparable in a question: both cold or both warm in
    /// its phase, both with a limit of memory or without.
    #[must_use]
    pub fn may_compare(&self, question: &Question, a: &Levels, b: &Levels) -> bool {
        let class = |levels: &Levels| {
            (self.is_to_be_cold(question, levels.cache), levels.memory_bytes.is_some())
        };
        class(a) == class(b)
    }

    /// Whether the phase of a question is asked to be cold at a level of the cache.
    #[must_use]
    pub fn is_to_be_cold(&self, question: &Question, cache: Cache) -> bool {
        match cache {
            Cache::Cold | Cache::ColdClients => true,
            Cache::Warm | Cache::Unknown => false,
            Cache::ColdStart => {
                let workload = self.workloads.get(question.workload);
                let first = workload.and_then(|work| work.phases.iter().find(|phase| phase.timed));
                first.is_some_and(|phase| phase.name == question.phase)
            }
        }
    }
}

/// One trial in the schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Slot {
    /// Block, from 0.
    pub block: u32,
    /// Place in the block, from 0.
    pub position: u32,
    /// Index into `contenders`.
    pub contender: usize,
    /// Index into `workloads`.
    pub workload: usize,
}

/// A contender (or one workload on it) that is not run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NotRun {
    /// Index into `contenders`.
    pub contender: usize,
    /// Index into `workloads`; absent: all of them.
    pub workload: Option<usize>,
    /// Why, and what would help.
    pub reason: String,
}

/// How a rate is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateStyle {
    /// KiB/s, MiB/s or files/s, whatever fits the phase.
    #[default]
    Auto,
    /// As in the article of 2003: KB/s with 1024 bytes, files/s for deletion.
    Article2003,
}

names!(RateStyle.name { Auto = "auto", Article2003 = "article-2003" });

/// How a RUN stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Its process is at work, or died without a word.
    Running,
    /// All trials were done.
    Done,
    /// Stopped before its end; records so far are kept.
    Interrupted,
    /// Could not go on.
    Failed,
}

names!(RunState.name {
    Running = "running", Done = "done", Interrupted = "interrupted", Failed = "failed",
});

handed_on_as_json!(RunHeader);
