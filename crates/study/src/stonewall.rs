//! Phases that ended by the clock: what they did up to it, and to which count all went on.

use crate::figures::SpreadF;
use crate::rates::Rates;
use fsarena_model::record::PhaseRecord;
use fsarena_model::work::StonewallReport;
use serde::Serialize;

/// The stonewall of a row.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct StonewallView {
    /// How long all threads worked.
    pub wall_ns: u64,
    /// Trials in which a thread was still at work then.
    pub trials_reached: usize,
    /// Rates up to then, over all threads of all ranks; of those trials.
    #[serde(flatten, serialize_with = "Rates::serialize_at_wall")]
    #[schemars(with = "crate::rates::AtWall")]
    pub at_wall: Rates,
    /// Ops to which each thread went on.
    pub each_ops: SpreadF,
    /// Ops of the slowest thread when the time was over ÷ those of the fastest.
    pub slowest_share: Option<SpreadF>,
}

impl StonewallView {
    /// Of the phases that had one; `None` where none had.
    pub(crate) fn over(phases: &[&PhaseRecord]) -> Option<Self> {
        let walls = || {
            let of = |phase: &&PhaseRecord| Some((phase.io.stonewall_ns?, phase.stonewall?));
            phases.iter().filter_map(of)
        };
        let reached = || walls().map(|(_, wall)| wall).filter(|wall| wall.reached);
        let share = |wall: StonewallReport| wall.fewest_ops as f64 / wall.each_ops as f64;
        Some(Self {
            wall_ns: walls().map(|(wall_ns, _)| wall_ns).next()?,
            trials_reached: reached().count(),
            at_wall: Rates::at_wall(phases),
            each_ops: SpreadF::from_values(walls().map(|(_, w)| w.each_ops as f64).collect())?,
            slowest_share: SpreadF::from_values(reached().map(share).collect()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::io::Io;
    use fsarena_model::run::Clock;
    use fsarena_testkit::records;

    #[test]
    fn rates_at_the_wall_are_of_what_was_done_by_then() {
        let contenders = vec![records::contender("ext4", "ext4", 1)];
        let header = records::header(contenders, vec![records::small_files()], 1);
        let mut phase = records::record(&header, 0).phases.remove(0);
        assert_eq!(StonewallView::over(&[&phase]), None);
        phase.io = Io { stonewall_ns: Some(500_000_000), ..phase.io };
        let wall = StonewallReport {
            reached: true,
            ops: 300,
            asked_bytes: 600,
            fewest_ops: 50,
            each_ops: 200,
        };
        phase.stonewall = Some(wall);
        let mut early = phase.clone();
        early.stonewall = Some(StonewallReport { reached: false, each_ops: 400, ..wall });
        let view = StonewallView::over(&[&phase, &early]).unwrap();
        assert_eq!((view.wall_ns, view.trials_reached), (500_000_000, 1));
        assert_eq!(view.at_wall.files_per_s.map(|rate| (rate.n, rate.median)), Some((1, 600.0)));
        assert_eq!(view.at_wall.bytes_per_s.map(|rate| rate.median), Some(1200.0));
        assert_eq!((view.each_ops.median, view.slowest_share.unwrap().median), (300.0, 0.25));
        let whole = Rates::from_phases(&[&phase], Clock::Durable);
        assert_eq!(whole.files_per_s.unwrap().median, phase.ops as f64, "one second");
    }
}
