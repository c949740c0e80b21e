//! The fairness ledger: how each contender really was, in what they differ besides what was under
//! test, and what the host and the devices were like.
//!
//! Names of hosts, serials and paths are left out: what is here is passed on.

mod caches;
mod devices;
mod differences;
mod host;
mod ledger;
mod made;

pub use ledger::{AsMade, CacheProof, DeviceFacts, Difference, Disturbance, Fact, Fairness};

use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, RunSession};
use ledger::ContenderRecords;

/// The ledger of a RUN.
#[must_use]
pub fn fairness(header: &RunHeader, sessions: &[RunSession], records: &[TrialRecord]) -> Fairness {
    let trials = ContenderRecords::new(header, records);
    Fairness {
        contenders: made::as_made(&trials),
        differences: differences::all(&trials),
        host: host::facts(header, sessions, records),
        devices: devices::devices(&trials),
        tools: caches::tools(&trials, records),
        caches: caches::proofs(&trials),
        disturbances: caches::disturbances(&header.plan, sessions, records),
    }
}
