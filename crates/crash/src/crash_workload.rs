//! What is done until the power goes: work of the lab's own, or that of an experiment.

use crate::phases::{self, PhasesError};
use crate::workload::{Extent, Kind, Plan, plan};
use fsarena_model::work::Workload;
use serde::{Deserialize, Serialize};

/// Work whose power is cut.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashWorkload {
    Kind(Kind),
    /// The phases of a workload of an experiment.
    Phases(Box<Workload>),
}

impl CrashWorkload {
    /// The work of this name: of the lab's own, or the phases of one of these workloads.
    #[must_use]
    pub fn named(name: &str, workloads: &[Workload]) -> Option<Self> {
        let phases = || workloads.iter().find(|workload| workload.name == name);
        let kind = Kind::from_name(name).map(Self::Kind);
        kind.or_else(|| phases().map(|workload| Self::Phases(Box::new(workload.clone()))))
    }

    /// As it is written in experiments.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Kind(kind) => kind.name(),
            Self::Phases(workload) => &workload.name,
        }
    }

    /// What is to be done, and what of it is not as in a trial, in words.
    ///
    /// # Errors
    /// Phases that the oracle cannot follow.
    pub fn plan(&self, seed: u64, extent: Extent) -> Result<(Plan, Vec<String>), PhasesError> {
        match self {
            Self::Kind(kind) => Ok((plan(*kind, seed, extent), Vec::new())),
            Self::Phases(workload) => phases::plan(workload, seed, extent),
        }
    }

    /// What of it is not as in a trial, in words.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn check(&self) -> Result<Vec<String>, PhasesError> {
        self.plan(0, Extent { duration_ns: 0, prefill_bytes: 0 }).map(|(_, notes)| notes)
    }
}
