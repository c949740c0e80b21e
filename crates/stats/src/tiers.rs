//! Tiers of a ranking: neighbours that have been shown to be the same.

/// The tier of each item of a ranking (in the order given, best first), counted from 1; `None` for
/// an item that stands alone.
///
/// A tier is a run of at least two neighbours that are all pairwise the same and that cannot be
/// made longer. Being the same within a margin is not transitive: 1 and 2 may be the same, 2 and 3
/// as well, and 1 and 3 not. Two such runs share an item, and then neither is a tier; letters
/// can show what tiers cannot.
///
/// `same[i][j]` says that i and j were shown to be the same; it counts only if said both ways, and
/// what is not there is not the same. The diagonal is not looked at.
#[must_use]
pub fn tiers(same: &[Vec<bool>]) -> Vec<Option<usize>> {
    let runs = maximal_runs(same);
    let mut tiers = vec![None; same.len()];
    let mut number = 0;
    for (index, &(first, last)) in runs.iter().enumerate() {
        // Neither beginnings nor ends ever go back, so only neighbouring runs need a look.
        let shared =
            |one: Option<&(usize, usize)>, other: Option<&(usize, usize)>| match (one, other) {
                (Some(one), Some(other)) => one.1 >= other.0,
                _ => false,
            };
        let before = index.checked_sub(1).and_then(|before| runs.get(before));
        if shared(before, runs.get(index)) || shared(runs.get(index), runs.get(index + 1)) {
            continue;
        }
        number += 1;
        tiers[first..=last].fill(Some(number));
    }
    tiers
}

/// First and last item of every run of pairwise same neighbours that is part of no longer one.
fn maximal_runs(same: &[Vec<bool>]) -> Vec<(usize, usize)> {
    let said = |i: usize, j: usize| same[i].get(j).copied().unwrap_or(false);
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for first in 0..same.len() {
        let mut last = first;
        while last + 1 < same.len()
            && (first..=last).all(|item| said(item, last + 1) && said(last + 1, item))
        {
            last += 1;
        }
        let inside = runs.last().is_some_and(|&(_, reached)| reached >= last);
        if last > first && !inside {
            runs.push((first, last));
        }
    }
    runs
}
