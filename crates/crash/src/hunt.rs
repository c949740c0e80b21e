//! States at the entries of a write log, for finding bugs: every part of few writes, some of many,
//! and no more states than are asked for.
//!
//! A power cut knows nothing of entries, so how many of these states break a promise says nothing
//! about the chance of it: figures refuse them.

use crate::state::{CrashState, EventStates, at_events, latest_ns};
use fsarena_model::seed::Seed;
use fsarena_vdisk::WriteLog;

/// Which states are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HuntBounds {
    /// Entries that completed in this time, and the state before the first of them; the end is out.
    pub from_ns: u64,
    pub to_ns: u64,
    /// States at most. Of more entries so many are drawn, and of more states so many.
    pub states_most: u32,
    pub of_event: EventStates,
}

/// The states, and of how many they were taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunt {
    /// In the order of the log; no two hold the same bytes.
    pub states: Vec<CrashState>,
    /// Entries of the log in this time, and those of them at which states were made.
    pub events: u32,
    pub events_taken: u32,
    /// States that were made; more than there are in `states` where some were drawn.
    pub states_made: u32,
}

/// States at the entries of a log.
#[must_use]
pub fn hunt(log: &WriteLog, bounds: &HuntBounds) -> Hunt {
    let HuntBounds { from_ns, to_ns, states_most, of_event } = *bounds;
    let most = states_most as usize;
    let completed_by = |at_ns: u64| log.entries().partition_point(|it| it.completed_ns < at_ns);
    let (first, last) = (completed_by(from_ns), completed_by(to_ns));
    let is_there = |count: &usize| latest_ns(log, *count) >= from_ns;
    let all: Vec<usize> = (first..=last).filter(is_there).collect();
    let mut rng = Seed::from_number(of_event.seed).child("hunt", 0).rng();
    let mut counts = all.clone();
    if counts.len() > most {
        rng.shuffle(&mut counts);
        counts.truncate(most);
        counts.sort_unstable();
    }
    let mut states = at_events(log, &counts, &of_event);
    let states_made = states.len() as u32;
    if states.len() > most {
        rng.shuffle(&mut states);
        states.truncate(most);
        states.sort_by_key(|state| state.count);
    }
    Hunt { states, events: all.len() as u32, events_taken: counts.len() as u32, states_made }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_vdisk::{Completion, Outcome, Request};

    fn log() -> WriteLog {
        let mut log = WriteLog::in_memory();
        for at in 0..60_u64 {
            let request =
                if at % 5 == 4 { Request::flush(0) } else { Request::write(0, at * 8, 8) };
            let done = Completion { tag: 0, at_ns: at * 10 + 5, outcome: Outcome::Done };
            log.completed(&request, at * 10, &done, &[at as u8; 4096]).unwrap();
        }
        log
    }

    fn bounds(states_most: u32) -> HuntBounds {
        let of_event = EventStates { samples: 4, singles: 4, seed: 3 };
        HuntBounds { from_ns: 200, to_ns: 400, states_most, of_event }
    }

    #[test]
    fn states_are_of_the_time_that_is_asked_for() {
        let log = log();
        let found = hunt(&log, &bounds(10_000));
        assert_eq!((found.events, found.events_taken), (21, 21));
        assert_eq!(found.states.len(), found.states_made as usize);
        assert!(found.states.iter().all(|state| (20..=40).contains(&state.count)));
        assert!(found.states.iter().any(|state| state.count == 40));
        // Every part of the one to four writes between two flushes: 2 + 4 + 8 + 16 less what is the
        // same as before.
        assert!(found.states.len() > 4 * 15, "{}", found.states.len());
    }

    #[test]
    fn of_more_than_the_limit_some_are_drawn_and_the_same_ones_again() {
        let log = log();
        let (all, some) = (hunt(&log, &bounds(10_000)), hunt(&log, &bounds(30)));
        assert_eq!((some.states.len(), some.states_made), (30, all.states_made));
        assert!(some.states.iter().all(|state| all.states.contains(state)));
        assert_eq!(some, hunt(&log, &bounds(30)));
        let few = hunt(&log, &bounds(7));
        assert_eq!((few.events, few.events_taken, few.states.len()), (21, 7, 7));
    }
}
