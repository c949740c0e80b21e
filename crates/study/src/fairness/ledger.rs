//! What the ledger holds, and the records that it is made from.

use crate::contenders::Contenders;
use fsarena_model::record::{CacheState, TrialRecord};
use fsarena_model::run::{RunHeader, RunPlan};
use serde::Serialize;

/// Everything that could make a comparison unfair.
#[derive(Clone, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct Fairness {
    /// Each contender as it really was.
    pub contenders: Vec<AsMade>,
    /// Every difference between contenders, those under test and those that only came with them.
    pub differences: Vec<Difference>,
    /// Facts of the host, name and value, in the order shown.
    pub host: Vec<Fact>,
    /// Facts of each device.
    pub devices: Vec<DeviceFacts>,
    /// Programs with their versions: mkfs, and those that did the work.
    pub tools: Vec<Fact>,
    /// How the cache was in each phase, and by what proof.
    pub caches: Vec<CacheProof>,
    /// What disturbed the trials.
    pub disturbances: Vec<Disturbance>,
}

/// A name and a value.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct Fact {
    pub name: String,
    /// Value with its unit.
    pub value: String,
}

/// A contender as it was made and mounted.
#[derive(Clone, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct AsMade {
    pub contender: usize,
    pub label: String,
    /// First digits of its identity.
    pub id: String,
    /// The command that made it, of the first trial; devices and images as `DEVICE`.
    pub mkfs: String,
    /// Version of the program that made it.
    pub tool: Option<String>,
    /// Mount options asked for.
    pub mount_asked: String,
    /// Mount options in force, by mountinfo.
    pub mounted: Option<String>,
    /// Driver in the kernel that served it.
    pub served_by: Option<String>,
    /// Features and sizes read back.
    pub features: Vec<Fact>,
    /// Whether all its trials were made alike; else what varied.
    pub varied: Vec<String>,
}

/// Something in which contenders differ.
#[derive(Clone, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct Difference {
    /// What: `mount option relatime`, `feature block_size`, `cache`.
    pub what: String,
    /// Whether it is a factor of the experiment or follows from one that is, in every pair of
    /// contenders that differ in it; what only one file system has is that file system's nature.
    pub under_test: bool,
    /// Each contender's value, in the order of the plan; absent where it has none.
    pub values: Vec<Option<String>>,
}

/// A device.
#[derive(Clone, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct DeviceFacts {
    /// It, in one line.
    pub title: String,
    /// Model, size, alignment, sector sizes, cache, TRIM, scheduler, …
    pub facts: Vec<Fact>,
}

/// The caches of one phase on one contender.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct CacheProof {
    pub workload: String,
    pub phase: String,
    pub label: String,
    pub state: CacheState,
    /// Trials in that state.
    pub trials: usize,
    /// Why it is called that.
    pub why: String,
    /// Bytes that the mount read, median.
    pub mount_read_bytes: Option<u64>,
    /// Bytes that the phase had to read, median.
    pub needed_read_bytes: Option<u64>,
    /// Bytes that the device delivered, median.
    pub delivered_read_bytes: Option<u64>,
}

/// Something that disturbed trials, or is to be known with them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, crate::JsonSchema)]
pub struct Disturbance {
    pub code: String,
    pub text: String,
    pub remedy: Option<String>,
    /// Trials that it was trials in.
    pub trials: usize,
    /// Labels of the contenders.
    pub labels: Vec<String>,
}

impl Fact {
    pub(super) fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into() }
    }
}

/// The records of a RUN by contender.
pub(super) struct ContenderRecords<'a> {
    pub(super) header: &'a RunHeader,
    pub(super) plan: &'a RunPlan,
    /// Of each contender of the plan, in schedule order.
    pub(super) own: Vec<Vec<&'a TrialRecord>>,
}

impl<'a> ContenderRecords<'a> {
    pub(super) fn new(header: &'a RunHeader, records: &'a [TrialRecord]) -> Self {
        let all: Vec<&TrialRecord> = records.iter().collect();
        let own = Contenders::new(&header.plan).split(&all);
        Self { header, plan: &header.plan, own }
    }

    /// The trials of a contender whose file system was mounted.
    pub(super) fn mounted(&self, contender: usize) -> impl Iterator<Item = &'a TrialRecord> {
        let own = self.own[contender].iter().copied();
        own.filter(|record| record.filesystem.mounted_options.is_some())
    }
}
