//! Questions judged in parallel.

use std::num::NonZero;
use std::thread;

/// From so many on a further thread saves more than it costs.
const FROM: usize = 16;

/// What `work` makes of each item, in their order, by as many threads as there are processors.
/// What comes out does not depend on their number.
pub(super) fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    if threads == 1 || items.len() < FROM {
        return items.into_iter().map(work).collect();
    }
    let share = items.len().div_ceil(threads);
    let mut rest = items.into_iter();
    let work = &work;
    thread::scope(|scope| {
        let parts = (0..threads).map(|_| rest.by_ref().take(share).collect::<Vec<T>>());
        let parts: Vec<_> = parts
            .map(|part| scope.spawn(move || part.into_iter().map(work).collect::<Vec<R>>()))
            .collect();
        let done = parts.into_iter().flat_map(|part| match part.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_whatever_the_number() {
        for count in [0, 1, FROM - 1, FROM, FROM + 1, 1000] {
            let wanted: Vec<usize> = (0..count).map(|n| n * 3).collect();
            assert_eq!(map((0..count).collect(), |n| n * 3), wanted);
        }
    }
}
