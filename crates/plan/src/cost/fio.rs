//! What a phase of fio costs: the time that its jobs state, else its work at assumed speeds.

use fsarena_foreign::fio::JobFile;
use fsarena_model::phase::{Phase, Workload};

/// fio's own start, and its end.
const START_NS: f64 = 400_000_000.0;
/// A byte moved, a call in the order of a file, and one that is not.
const BYTE_NS: f64 = 2.0;
const CALL_NS: f64 = 3_000.0;
const RANDOM_CALL_NS: f64 = 60_000.0;

/// Time of a phase, ns, and whether the job file alone says it; `lay_out`: its files are made.
pub(super) fn phase_ns(workload: &Workload, phase: &Phase, lay_out: bool) -> (f64, bool) {
    let text = workload.fio.as_deref().unwrap_or_default();
    let jobs = JobFile::parse(text, "the job file").ok();
    let Some(length) = jobs.and_then(|jobs| jobs.length(&phase.name, lay_out)) else {
        return (START_NS, false);
    };
    let calls_ns = (length.calls - length.random_calls) * CALL_NS;
    let work_ns = length.bytes * BYTE_NS + calls_ns + length.random_calls * RANDOM_CALL_NS;
    let ns = work_ns.max(length.least_ns).min(length.most_ns.unwrap_or(f64::INFINITY));
    (ns + START_NS, length.most_ns.is_some_and(|most_ns| most_ns <= length.least_ns))
}

/// The least time of a timed phase by what its jobs state, ns.
pub(super) fn stated_ns(workload: &Workload, phase: &Phase) -> f64 {
    let text = workload.fio.as_deref().unwrap_or_default();
    let jobs = JobFile::parse(text, "the job file").ok();
    let length = jobs.and_then(|jobs| jobs.length(&phase.name, false));
    length.map_or(0.0, |length| length.least_ns)
}
