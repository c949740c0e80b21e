//! A second power cut while the file system recovers from the first one.
//!
//! The writes that recovery sent to the disk are a log of their own, over the state that it found;
//! a power cut in it leaves what the class of that state leaves of any log. It is at an entry and
//! not at a time: on a disk that answers at once recovery takes no time that means anything.

use crate::state::{Class, CrashState, Sampling, Template, drawn_state};
use crate::sweep::Sweep;
use fsarena_model::seed::Seed;
use fsarena_vdisk::WriteLog;

/// A power cut among the entries of a recovery that were submitted up to a time, drawn by a seed:
/// before the last of them, where there are two. `None`: recovery wrote nothing.
///
/// A class that lies is as `dropall` here.
#[must_use]
pub fn cut_recovery(log: &WriteLog, until_ns: u64, class: Class, seed: u64) -> Option<CrashState> {
    let entries = log.entries();
    let all = entries.iter().take_while(|entry| entry.submitted_ns <= until_ns).count();
    if !entries[..all].iter().any(|entry| entry.kind.is_write()) {
        return None;
    }
    let mut rng = Seed::from_number(seed).child("recovery", 0).rng();
    let count = 1 + rng.below((all as u64 - 1).max(1)) as usize;
    let class = if matches!(class, Class::Lying { .. }) { Class::Dropall } else { class };
    let at_ns = entries[count - 1].completed_ns;
    let mut sweep = Sweep::new(log);
    sweep.advance(count);
    let template = Template { at_ns, count, class, sampling: Sampling::PerEvent };
    Some(drawn_state(&sweep, log, template, &mut rng))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::pieces;
    use fsarena_vdisk::{Completion, Outcome, Request};
    use std::collections::BTreeSet;

    /// Two writes, a flush, two writes; and one of the work after it.
    fn log() -> WriteLog {
        let mut log = WriteLog::in_memory();
        for (at, sector) in [(10, 0), (11, 8), (12, 0), (13, 16), (14, 24), (90, 32)] {
            let is_flush = at == 12;
            let request = if is_flush { Request::flush(0) } else { Request::write(0, sector, 8) };
            let done = Completion { tag: 0, at_ns: at, outcome: Outcome::Done };
            log.completed(&request, at, &done, &[1; 4096]).unwrap();
        }
        log
    }

    #[test]
    fn a_cut_is_inside_of_recovery_and_leaves_what_its_class_leaves() {
        let log = log();
        let mut counts = BTreeSet::new();
        for seed in 0..40 {
            let whole = cut_recovery(&log, 20, Class::Prefix, seed).unwrap();
            counts.insert(whole.count);
            let there: Vec<u32> = pieces(&log, &whole).map(|piece| piece.entry).collect();
            assert_eq!(there, (0..whole.count).collect::<Vec<_>>());
            let lying = Class::Lying { younger_ns: 1 };
            let lost = cut_recovery(&log, 20, lying, seed).unwrap();
            let there: Vec<u32> = pieces(&log, &lost).map(|piece| piece.entry).collect();
            let durable: &[u32] = if lost.count > 2 { &[0, 1, 2] } else { &[] };
            assert_eq!(there, durable, "{lost:?}");
        }
        assert_eq!(counts, (1..=4).collect());
    }

    #[test]
    fn recovery_without_a_write_has_no_cut() {
        let log = log();
        assert_eq!(cut_recovery(&log, 9, Class::Prefix, 1), None);
        assert_eq!(cut_recovery(&log, 10, Class::Prefix, 1).unwrap().count, 1);
        assert_eq!(cut_recovery(&WriteLog::in_memory(), 9, Class::Prefix, 1), None);
    }
}
