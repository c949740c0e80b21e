//! Who did the work of a row: its threads and the total, a program with a clock of its own, and
//! the processor time of the worker or of the programs that it started.

use crate::figures::{SpreadF, SpreadNs};
use crate::rates::own_ns;
use fsarena_model::record::PhaseRecord;
use fsarena_model::work::WorkerUsage;
use serde::Serialize;

/// The threads of a row, over its trials.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ThreadsView {
    /// Number of threads.
    pub threads: usize,
    /// When the first thread was done.
    pub first_done: SpreadNs,
    /// When the last thread was done.
    pub last_done: SpreadNs,
    /// Time of the slowest thread ÷ mean time of all, from the barrier to its last op; 1 is even.
    pub imbalance: Option<SpreadF>,
}

impl ThreadsView {
    /// Of the phases that had several threads; `None` where none had.
    pub(crate) fn over(phases: &[&PhaseRecord]) -> Option<Self> {
        let done: Vec<(u64, u64)> =
            phases.iter().filter_map(|phase| phase.first_and_last_done_ns()).collect();
        Some(Self {
            threads: phases.iter().map(|phase| phase.threads.len()).max()?,
            first_done: SpreadNs::from_values(done.iter().map(|pair| pair.0).collect())?,
            last_done: SpreadNs::from_values(done.iter().map(|pair| pair.1).collect())?,
            imbalance: SpreadF::from_values(
                phases.iter().filter_map(|phase| imbalance(phase)).collect(),
            ),
        })
    }
}

fn imbalance(phase: &PhaseRecord) -> Option<f64> {
    let times_ns = phase.threads.iter().map(|t| t.done_ns.saturating_sub(t.started_ns));
    let slowest_ns = times_ns.clone().max()?;
    let mean_ns = times_ns.map(|ns| ns as f64).sum::<f64>() / phase.threads.len() as f64;
    (mean_ns > 0.0).then(|| slowest_ns as f64 / mean_ns)
}

/// A program that did the work of a row, over its trials.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct ProgramView {
    pub name: String,
    /// Its version; that of the first trial.
    pub version: String,
    /// Length of the work by its own clock, without its start and end; absent for real work, of
    /// which these are a part.
    pub own: Option<SpreadNs>,
    /// Its start and end, which no length that is compared has; absent for real work, and in
    /// records of older versions.
    pub startup: Option<SpreadNs>,
}

impl ProgramView {
    /// Of the phases that a program did; `None` where the engine did all.
    pub(crate) fn over(phases: &[&PhaseRecord]) -> Option<Self> {
        let reports = || phases.iter().filter_map(|phase| phase.program.as_ref());
        let first = reports().next()?;
        Some(Self {
            name: first.name.clone(),
            version: first.version.clone(),
            own: SpreadNs::from_values(phases.iter().filter_map(|phase| own_ns(phase)).collect()),
            startup: SpreadNs::from_values(reports().filter_map(|own| own.startup_ns).collect()),
        })
    }
}

/// Processor time of those who did the work of a row, over its trials: of the worker, or of the
/// whole tree of programs that it started and waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, crate::JsonSchema)]
pub struct WorkerView {
    /// User time.
    pub user: SpreadNs,
    /// System time.
    pub system: SpreadNs,
}

impl WorkerView {
    /// `None` without phases, and where it was not read: real work takes some time and faults.
    pub(crate) fn over(phases: &[&PhaseRecord]) -> Option<Self> {
        if phases.iter().all(|phase| phase.worker == WorkerUsage::default()) {
            return None;
        }
        let of = |value: fn(&PhaseRecord) -> u64| {
            SpreadNs::from_values(phases.iter().map(|phase| value(phase)).collect())
        };
        Some(Self { user: of(|p| p.worker.user_ns)?, system: of(|p| p.worker.system_ns)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_testkit::records::{self, contender, fio_job, metadata};

    #[test]
    fn threads_and_programs_beside_the_total() {
        let header = records::header(vec![contender("xfs", "xfs", 1)], vec![metadata()], 1);
        let mut record = records::record(&header, 0);
        for (thread, done_ns) in record.phases[0].threads.iter_mut().zip([100, 100, 100, 500]) {
            (thread.started_ns, thread.done_ns) = (0, done_ns);
        }
        let view = ThreadsView::over(&[&record.phases[0]]).unwrap();
        assert_eq!(view.threads, 4);
        assert_eq!((view.first_done.median_ns, view.last_done.median_ns), (100, 500));
        assert!((view.imbalance.unwrap().median - 2.5).abs() < 1e-12, "500 ÷ 200");
        assert_eq!(ThreadsView::over(&[&record.phases[1]]), None, "one thread");
        assert_eq!(ProgramView::over(&[&record.phases[1]]), None);

        let header = records::header(vec![contender("xfs", "xfs", 1)], vec![fio_job()], 1);
        let view = ProgramView::over(&[&records::record(&header, 0).phases[0]]).unwrap();
        assert_eq!((view.name.as_str(), view.version.as_str()), ("fio", "fio-3.36"));
        assert_eq!(view.own.unwrap().median_ns, 300_000_000);
    }
}
