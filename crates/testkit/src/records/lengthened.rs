//! Records of a plan whose phases take other times.

use fsarena_model::record::TrialRecord;
use fsarena_model::run::{RunHeader, Slot};

/// The records of a plan, the time of each phase multiplied by what `by` says of its slot, its name
/// and a number that is up to 1 % above 1, otherwise in each block and for each contender.
///
/// # Panics
/// When the schedule is too long.
pub(super) fn lengthened(
    header: &RunHeader,
    by: impl Fn(&Slot, &str, f64) -> f64,
) -> Vec<TrialRecord> {
    let count = u32::try_from(header.plan.schedule.len()).expect("a small plan");
    let one = |sequence: u32| {
        let mut record = super::record(header, sequence);
        let slot = &header.plan.schedule[sequence as usize];
        for phase in &mut record.phases {
            let mixed = (slot.block + 1) * 7 + (slot.contender as u32 + 3) * (slot.block + 5) * 13;
            let longer = 1.0 + f64::from(mixed % 11) / 1000.0;
            let by = by(slot, &phase.name, longer);
            let clocks = &mut phase.clocks;
            clocks.returned_ns = times(clocks.returned_ns, by);
            clocks.durable_ns = clocks.durable_ns.map(|ns| times(ns, by));
        }
        record
    };
    (0..count).map(one).collect()
}

fn times(ns: u64, by: f64) -> u64 {
    (ns as f64 * by) as u64
}
