//! Times that differ where the work of the processors does not, while others used the machine more
//! on the slower side: then it was the machine, and not what is compared.

use crate::points::{Point, Usage};
use crate::view::MachineEffect;

/// The processors' work is equal where it differs by at most this share of what the times differ
/// by (as logarithms).
const EQUAL_WORK: f64 = 0.25;
/// Share of the machine that others must have had more on the slower side.
const OTHERS_APART: f64 = 0.05;

/// Whether a difference in time of `log` (of the first to the second) is that of the machine.
///
/// A file system that waits more for its device has more time at equal work as well; so this is
/// said only beside others that had the processors meanwhile.
pub(super) fn machine_effect(both: &[(&Point, &Point)], log: f64) -> Option<MachineEffect> {
    let of_a = whole(both.iter().map(|(a, _)| a.usage))?;
    let of_b = whole(both.iter().map(|(_, b)| b.usage))?;
    let cpu_log = (of_a.worker / of_b.worker).ln();
    let apart = (of_a.others - of_b.others) * log.signum();
    let is_equal_work = cpu_log.abs() <= EQUAL_WORK * log.abs();
    (is_equal_work && apart >= OTHERS_APART).then(|| MachineEffect {
        time_ratio: log.exp(),
        cpu_ratio: cpu_log.exp(),
        a_others_share: of_a.others,
        b_others_share: of_b.others,
    })
}

/// What one contender's trials used.
struct Whole {
    /// Mean of the logarithms of the worker's processor time, as a time, ns.
    worker: f64,
    /// Share of the machine that others had.
    others: f64,
}

/// `None` where something of it is not known.
fn whole(usages: impl Iterator<Item = Usage>) -> Option<Whole> {
    let (mut n, mut logs, mut others_ns, mut machine_ns) = (0.0, 0.0, 0.0, 0.0);
    for usage in usages {
        n += 1.0;
        logs += (usage.worker_ns.filter(|&ns| ns > 0)? as f64).ln();
        others_ns += usage.others_ns? as f64;
        machine_ns += usage.machine_ns? as f64;
    }
    (n > 0.0).then(|| Whole { worker: (logs / n).exp(), others: others_ns / machine_ns })
}
