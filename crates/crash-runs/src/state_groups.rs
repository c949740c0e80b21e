//! Crash states in groups, each of which one guest checks; some guests at one time.

use fsarena_guests::guest::GuestError;
use fsarena_model::seed::Seed;
use fsarena_process::processor::keep_to_one_processor;
use std::sync::Mutex;

/// Disks that a guest has: its driver takes no more.
pub(crate) const DISKS_MOST: usize = 32;
/// States that one guest looks at. The more there are, the fewer guests are booted, which costs as
/// much as to look at some states.
pub(crate) const STATES_MOST: usize = 1024;

/// What was seen in the states of a group.
type Seen<T, E> = Result<Vec<T>, E>;

/// What was seen in each state, in their order; guests take groups of states in turns.
///
/// # Errors
/// Of the first group that has one; `Stopped` where a group was left.
pub(crate) fn in_groups<S: Clone + Sync, T: Send, E: From<GuestError> + Send>(
    states: &[S],
    guests_at_once: usize,
    check: &(dyn Fn(&[S]) -> Seen<T, E> + Sync),
) -> Seen<T, E> {
    in_groups_of(STATES_MOST, states, guests_at_once, check)
}

/// The same in groups of at most so many.
///
/// # Errors
/// As [`in_groups`].
pub(crate) fn in_groups_of<S: Clone + Sync, T: Send, E: From<GuestError> + Send>(
    most: usize,
    states: &[S],
    guests_at_once: usize,
    check: &(dyn Fn(&[S]) -> Seen<T, E> + Sync),
) -> Seen<T, E> {
    // As many for each: the last of an odd number would keep one waiting for the other.
    let count = states.len().div_ceil(most.max(1)).next_multiple_of(guests_at_once.max(1));
    let groups = dealt(states.len(), count);
    let next = Mutex::new(0..groups.len());
    let done: Mutex<Vec<Option<Seen<T, E>>>> = Mutex::new(groups.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for cpu_index in 0..guests_at_once.max(1) {
            let (next, done, groups) = (&next, &done, &groups);
            scope.spawn(move || {
                keep_to_one_processor(cpu_index);
                loop {
                    let taken = next.lock().ok().and_then(|mut next| next.next());
                    let Some(number) = taken else { return };
                    let group: Vec<S> =
                        groups[number].iter().map(|place| states[*place].clone()).collect();
                    let seen = check(&group);
                    let is_failed = seen.is_err();
                    if let Ok(mut done) = done.lock() {
                        done[number] = Some(seen);
                    }
                    if is_failed {
                        return;
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_default();
    let mut all: Vec<(usize, T)> = Vec::with_capacity(states.len());
    let mut is_left = false;
    for (places, group) in groups.iter().zip(done) {
        match group {
            Some(seen) => all.extend(places.iter().copied().zip(seen?)),
            None => is_left = true,
        }
    }
    if is_left {
        return Err(GuestError::Stopped.into());
    }
    all.sort_unstable_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, seen)| seen).collect())
}

/// Places of states in so many groups, in order in each. Which are together is drawn, always alike:
/// later states cost more, and of every Nth more is done than an inspection.
fn dealt(states: usize, groups: usize) -> Vec<Vec<usize>> {
    let mut places: Vec<usize> = (0..states).collect();
    Seed::from_number(0).child("groups", 0).rng().shuffle(&mut places);
    let mut groups: Vec<Vec<usize>> =
        places.chunks(states.div_ceil(groups.max(1)).max(1)).map(<[usize]>::to_vec).collect();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    groups
}

/// What was seen in the first of some states, and how their guest ended: it may not survive one.
pub(crate) struct InspectedStates<T, E> {
    pub(crate) seen: Vec<T>,
    pub(crate) end: Result<(), E>,
}

/// How the states of a group are looked at.
pub(crate) struct GroupCheck<'f, S, T, E> {
    /// All in one guest, in their order.
    pub(crate) together: &'f dyn Fn(&[S]) -> InspectedStates<T, E>,
    /// In a guest of its own, whose end is what was seen.
    pub(crate) alone: &'f dyn Fn(&S) -> Result<T, E>,
    /// Whether what was seen may be of another state in its guest.
    pub(crate) is_doubtful: &'f dyn Fn(&T) -> bool,
    /// Whether an error says nothing of the states.
    pub(crate) is_other: &'f dyn Fn(&E) -> bool,
}

impl<S, T, E> GroupCheck<'_, S, T, E> {
    /// What was seen in each state. Where their guest does not survive it, the state that it had
    /// come to is looked at alone, as is the one before, which may have done it; another guest
    /// looks at those behind it.
    ///
    /// # Errors
    /// One that says nothing of the states.
    pub(crate) fn run(&self, states: &[S]) -> Seen<T, E> {
        let mut all = Vec::with_capacity(states.len());
        while let Some(left) = states.get(all.len()..).filter(|left| !left.is_empty()) {
            let InspectedStates { mut seen, end } = (self.together)(left);
            let is_broken = match end {
                Err(error) if (self.is_other)(&error) => return Err(error),
                Err(_) => true,
                Ok(()) => seen.len() != left.len(),
            };
            seen.truncate(left.len());
            let count = seen.len();
            // What other states of the guest may have done is ruled out.
            for (at, (state, seen)) in left.iter().zip(&mut seen).enumerate() {
                let may_have_broken_it = is_broken && at + 1 == count;
                if may_have_broken_it || (self.is_doubtful)(seen) {
                    *seen = (self.alone)(state)?;
                }
            }
            if let Some(next) = left.get(count).filter(|_| is_broken) {
                seen.push((self.alone)(next)?);
            }
            all.append(&mut seen);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_checked_once_and_its_place_is_kept() {
        let states: Vec<usize> = (0..8 * STATES_MOST + 3).collect();
        for guests in [0, 1, 3] {
            let seen: Result<_, GuestError> = in_groups(&states, guests, &|group| {
                assert!(group.len() <= STATES_MOST && group.is_sorted());
                Ok(group.iter().map(|state| state * 2).collect())
            });
            let expected: Vec<usize> = states.iter().map(|state| state * 2).collect();
            assert_eq!(seen.unwrap(), expected);
        }
    }

    #[test]
    fn no_guest_has_a_group_more_than_another_and_each_has_of_all() {
        let states: Vec<usize> = (0..10 * STATES_MOST + 2).collect();
        let groups = Mutex::new(Vec::new());
        let seen: Result<Vec<usize>, GuestError> = in_groups(&states, 2, &|group| {
            groups.lock().unwrap().push(group.to_vec());
            Ok(group.to_vec())
        });
        seen.unwrap();
        let groups = groups.into_inner().unwrap();
        assert_eq!(groups.len(), 12);
        for group in groups {
            assert!((800..=STATES_MOST).contains(&group.len()), "{}", group.len());
            let early = group.iter().filter(|state| **state < states.len() / 2).count();
            let fourth = group.iter().filter(|state| state.is_multiple_of(4)).count();
            assert!((370..=480).contains(&early) && (160..=270).contains(&fourth), "{group:?}");
        }
    }

    #[test]
    fn an_error_is_told_and_not_that_others_were_left() {
        let states: Vec<usize> = (0..5 * STATES_MOST).collect();
        let seen = in_groups(&states, 2, &|group| match group.contains(&7) {
            true => Err(GuestError::Memory(7)),
            false => Ok(group.to_vec()),
        });
        assert!(matches!(seen.unwrap_err(), GuestError::Memory(7)));
    }

    /// What `together` and `alone` have been asked for, and what came of it. A guest does not
    /// survive 13 nor what comes after 14, ends well before 0, and is stopped at 99.
    fn looked_at(states: &[u32]) -> (Vec<Vec<u32>>, Vec<u32>, Seen<u32, &'static str>) {
        let (together, alone) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let check = GroupCheck {
            together: &|states: &[u32]| {
                together.lock().unwrap().push(states.to_vec());
                let (mut seen, mut end) = (Vec::new(), Ok(()));
                for state in states.iter().take_while(|state| **state != 0) {
                    end = match state {
                        99 => Err("stopped"),
                        13 => Err("broken"),
                        _ if seen.last() == Some(&14) => Err("broken later"),
                        _ => Ok(()),
                    };
                    if end.is_err() {
                        break;
                    }
                    seen.push(*state);
                }
                InspectedStates { seen, end }
            },
            alone: &|state| {
                alone.lock().unwrap().push(*state);
                Ok(state + 1000)
            },
            is_doubtful: &|seen| *seen == 5,
            is_other: &|error| *error == "stopped",
        };
        let seen = check.run(states);
        (together.into_inner().unwrap(), alone.into_inner().unwrap(), seen)
    }

    #[test]
    fn a_state_that_ends_its_guest_is_inspected_alone_and_the_rest_by_another() {
        let (together, alone, seen) = looked_at(&[1, 5, 2]);
        assert_eq!((together.len(), alone), (1, vec![5]), "a doubtful one");
        assert_eq!(seen, Ok(vec![1, 1005, 2]));
        let (together, alone, seen) = looked_at(&[6, 7, 13, 8, 14, 9, 10]);
        assert_eq!(together, [vec![6, 7, 13, 8, 14, 9, 10], vec![8, 14, 9, 10], vec![10]]);
        assert_eq!(alone, [7, 13, 14, 9]);
        assert_eq!(seen, Ok(vec![6, 1007, 1013, 8, 1014, 1009, 10]));
        let (together, alone, seen) = looked_at(&[13, 13]);
        assert_eq!((together.len(), alone), (2, vec![13, 13]), "the first of a guest");
        assert_eq!(seen, Ok(vec![1013, 1013]));
        let (together, alone, seen) = looked_at(&[1, 0, 2]);
        assert_eq!((together, alone), (vec![vec![1, 0, 2], vec![2]], vec![1, 0]), "no word of one");
        assert_eq!(seen, Ok(vec![1001, 1000, 2]));
        assert_eq!(looked_at(&[1, 99, 13]).2, Err("stopped"));
        assert_eq!(looked_at(&[]).2, Ok(vec![]));
    }
}
