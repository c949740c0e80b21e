//! A phase of cycles while it runs: events arrive, counters are read at each, and the device is
//! looked at from the end of a cycle's work until it is quiet.
//!
//! A reading comes as soon as the executor has read its event: some tenths of a millisecond
//! later, or some milliseconds on a machine whose processors are all busy. What the device did in
//! between is counted for what came before.
//!
//! The executor does no more while the worker works than it must: between events it sleeps in
//! poll(2), and a look costs some tens of microseconds. Its processor time is part of that of the
//! machine, as the sampler's is.

use crate::cycle_events::CycleEvents;
use crate::error::StepError;
use crate::filesystem::TestedFs;
use crate::worker::ReadyWorker;
use fsarena_metrics::{Snapshot, Sources, monotonic_ns};
use fsarena_model::cycle::CycleMoment;
use fsarena_model::work::WorkerSays;
use std::time::Duration;

/// Time between two looks at a device that is to become quiet, and so how exact `quiet` is.
const LOOK: Duration = Duration::from_millis(10);

/// Time between two lines of a worker while there is nothing to look at: any that is not short.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lets a worker go and hears its events until it has a result. `before` was read right before,
/// and `on_quiet` is called when the device has become quiet after a cycle and the worker has
/// said nothing since.
pub(crate) fn run_cycles(
    fs: &TestedFs<'_>,
    worker: &mut ReadyWorker<'_>,
    (sources, before): (&mut Sources, &Snapshot),
    on_quiet: &mut dyn FnMut(u32, &ReadyWorker<'_>),
) -> Result<(WorkerSays, CycleEvents), StepError> {
    let devices = fs.device_names();
    let mut events = CycleEvents::new(fs.spec.drain.idle_ns);
    let mut counters = before.clone();
    worker.let_go();
    loop {
        let is_looked_at = !devices.is_empty() && events.awaits_quiet();
        let said = worker.hear_within(if is_looked_at { LOOK } else { PATIENCE })?;
        // A device that cannot be read does not become quiet; the work will say what is wrong.
        let activity = is_looked_at.then(|| fs.activity(&devices).ok()).flatten();
        let quiet = activity.and_then(|activity| events.looked(monotonic_ns(), activity));
        match (said, quiet) {
            (None, Some(number)) => on_quiet(number, worker),
            (None, None) => {}
            (Some(WorkerSays::CycleEvent(event)), _) => {
                // A start comes right after the phase's own, or together with the end of the
                // period before it: what was read for that may be nearer to it than what could
                // be read now.
                let away_ns = |at_ns: u64| at_ns.abs_diff(event.monotonic_ns);
                let is_near = away_ns(counters.monotonic_ns) < away_ns(monotonic_ns());
                if event.at != CycleMoment::Started || !is_near {
                    sources.read_into(&mut counters)?;
                }
                events.add(event, counters.clone());
            }
            (Some(result), _) => return Ok((result, events)),
        }
    }
}
