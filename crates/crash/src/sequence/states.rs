//! Crash states of a sequence: at the return of each persistence point, or at every entry of the
//! log. Times are chosen and not drawn, so that no rate can be made of them.

use crate::state::{Class, CrashState, Sampling};
use crate::survivors::Survivors;
use crate::sweep::{Part, Sweep};
use fsarena_vdisk::WriteLog;

/// The power goes right after each of these times, which ascend: `prefix`, `dropall`, and
/// `drop-one` for each write that no flush covers.
///
/// States may hold the same bytes, at other times: each is judged, and one of them is looked at.
#[must_use]
pub fn at_returns(log: &WriteLog, returns_ns: &[u64]) -> Vec<CrashState> {
    let mut sweep = Sweep::new(log);
    let mut states = Vec::new();
    for returned_ns in returns_ns {
        let at_ns = returned_ns.saturating_add(1);
        let count = log.entries().partition_point(|entry| entry.completed_ns <= at_ns);
        sweep.advance(count);
        states.extend(at_place(&sweep, at_ns, count));
    }
    states
}

/// The same at every entry of the log that completed between two times.
#[must_use]
pub fn at_every_entry(log: &WriteLog, from_ns: u64, to_ns: u64) -> Vec<CrashState> {
    let mut sweep = Sweep::new(log);
    let mut states = Vec::new();
    for (number, entry) in log.entries().iter().enumerate() {
        sweep.advance(number + 1);
        if (from_ns..=to_ns).contains(&entry.completed_ns) {
            states.extend(at_place(&sweep, entry.completed_ns, number + 1));
        }
    }
    states
}

fn at_place(sweep: &Sweep<'_>, at_ns: u64, count: usize) -> Vec<CrashState> {
    let open = sweep.open();
    let mut chosen = vec![(Class::Prefix, Survivors::All)];
    if !open.is_empty() {
        chosen.push((Class::Dropall, Survivors::None));
    }
    // Of one open write, all but it is none.
    if open.len() > 1 {
        let one = |entry: &u32| (Class::DropOne, Survivors::AllBut(vec![*entry]));
        chosen.extend(open.iter().map(one));
    }
    let state = |(class, survivors): (Class, Survivors)| {
        let part = Part { survivors, ..Part::default() };
        let contents = sweep.contents(open, &part);
        let Part { survivors, in_flight, torn } = part;
        let (count, sampling) = (count as u32, Sampling::PerEvent);
        CrashState { at_ns, count, class, sampling, survivors, in_flight, torn, contents }
    };
    chosen.into_iter().map(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_vdisk::{Completion, Outcome, Request};

    /// Two writes, a flush of both, and one more.
    fn log() -> WriteLog {
        let mut log = WriteLog::in_memory();
        let requests = [
            (Request::write(0, 0, 8), 10),
            (Request::write(1, 8, 8), 20),
            (Request::flush(2), 30),
            (Request::write(3, 16, 8), 40),
        ];
        for (request, at_ns) in requests {
            let done = Completion { tag: request.tag, at_ns, outcome: Outcome::Done };
            let data = vec![1; request.sectors as usize * 512];
            log.completed(&request, at_ns - 5, &done, &data).unwrap();
        }
        log
    }

    fn classes(states: &[CrashState]) -> Vec<(u32, Class)> {
        states.iter().map(|state| (state.count, state.class)).collect()
    }

    #[test]
    fn states_are_right_after_the_returns() {
        let (prefix, dropall, one) = (Class::Prefix, Class::Dropall, Class::DropOne);
        let states = at_returns(&log(), &[20, 30, 40]);
        assert_eq!(
            classes(&states),
            [(2, prefix), (2, dropall), (2, one), (2, one), (3, prefix), (4, prefix), (4, dropall)]
        );
        assert_eq!(states[4].contents, states[6].contents, "what is flushed is the rest");
        assert!(states.iter().all(|state| state.sampling == Sampling::PerEvent));
    }

    #[test]
    fn states_at_every_entry_are_those_between_the_times() {
        let states = at_every_entry(&log(), 15, 30);
        assert_eq!(states.iter().map(|state| state.count).max(), Some(3));
        assert_eq!(states.iter().map(|state| state.count).min(), Some(2));
    }
}
