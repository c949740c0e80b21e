//! Crash states in groups, each of which one guest checks; some guests at one time.

use crate::guest::GuestError;
use crate::virtual_trial::keep_to_one_processor;
use std::sync::Mutex;

/// Disks that a guest has: its driver takes no more. The more it has, the fewer guests are booted,
/// which costs as much as to look at some states.
pub(crate) const DISKS_MOST: usize = 32;

/// What was seen in the states of a group.
type Seen<T, E> = Result<Vec<T>, E>;

/// What was seen in each state, in their order; guests take groups of states in turns.
///
/// # Errors
/// Of the first group that has one; `Stopped` where a group was left.
pub(crate) fn in_groups<S: Sync, T: Send, E: From<GuestError> + Send>(
    states: &[S],
    guests_at_once: usize,
    check: &(dyn Fn(&[S]) -> Seen<T, E> + Sync),
) -> Seen<T, E> {
    in_groups_of(DISKS_MOST, states, guests_at_once, check)
}

/// The same in groups of at most so many.
///
/// # Errors
/// As [`in_groups`].
pub(crate) fn in_groups_of<S: Sync, T: Send, E: From<GuestError> + Send>(
    most: usize,
    states: &[S],
    guests_at_once: usize,
    check: &(dyn Fn(&[S]) -> Seen<T, E> + Sync),
) -> Seen<T, E> {
    // As many for each: the last of an odd number would keep one waiting for the other.
    let count = states.len().div_ceil(most.max(1)).next_multiple_of(guests_at_once.max(1));
    let each = states.len().div_ceil(count.max(1));
    let groups: Vec<&[S]> = states.chunks(each.max(1)).collect();
    let next = Mutex::new(0..groups.len());
    let done: Mutex<Vec<Option<Seen<T, E>>>> = Mutex::new(groups.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for lane in 0..guests_at_once.max(1) {
            let (next, done, groups) = (&next, &done, &groups);
            scope.spawn(move || {
                keep_to_one_processor(lane);
                loop {
                    let taken = next.lock().ok().and_then(|mut next| next.next());
                    let Some(number) = taken else { return };
                    let seen = check(groups[number]);
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
    let mut all = Vec::with_capacity(states.len());
    let mut is_left = false;
    for group in done {
        match group {
            Some(seen) => all.extend(seen?),
            None => is_left = true,
        }
    }
    if is_left { Err(GuestError::Stopped.into()) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_checked_once_and_in_order() {
        let states: Vec<usize> = (0..8 * DISKS_MOST + 3).collect();
        for guests in [0, 1, 3] {
            let seen: Result<_, GuestError> = in_groups(&states, guests, &|group| {
                assert!(group.len() <= DISKS_MOST);
                Ok(group.iter().map(|state| state * 2).collect())
            });
            let expected: Vec<usize> = states.iter().map(|state| state * 2).collect();
            assert_eq!(seen.unwrap(), expected);
        }
    }

    #[test]
    fn no_guest_has_a_group_more_than_another() {
        let states = vec![(); 10 * DISKS_MOST + 2];
        let sizes = Mutex::new(Vec::new());
        let seen: Result<Vec<()>, GuestError> = in_groups(&states, 2, &|group| {
            sizes.lock().unwrap().push(group.len());
            Ok(group.to_vec())
        });
        seen.unwrap();
        let sizes = sizes.into_inner().unwrap();
        assert_eq!(sizes.len(), 12);
        assert!(sizes.iter().all(|size| (22..=27).contains(size)), "{sizes:?}");
    }

    #[test]
    fn an_error_is_told_and_not_that_others_were_left() {
        let states: Vec<usize> = (0..5 * DISKS_MOST).collect();
        let seen = in_groups(&states, 2, &|group| match group[0] {
            0 => Err(GuestError::Memory(7)),
            _ => Ok(group.to_vec()),
        });
        assert!(matches!(seen.unwrap_err(), GuestError::Memory(7)));
    }
}
