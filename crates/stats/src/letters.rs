//! Letters for a ranking (who has not been shown to differ from whom), and its tiers (neighbours
//! that have been shown to be the same).

/// Letters in an alphabet; columns after these have two.
const ALPHABET: usize = 26;

/// A column of the display: which items have its letter.
type Column = Vec<bool>;

/// The compact letter display of a ranking: two items share a letter if and only if they were
/// **not** shown to differ. A shared letter does not say that they are the same.
///
/// Items stand in the order given, best first; letters are given out in the order of the first
/// item that has them, so the first item has an `a`. No letter could be left out. After `z` come
/// `aa`, `ab`, …; a display that needs them puts a comma between the letters of an item.
///
/// `differ[i][j]` says that i and j were shown to differ, one way round is enough; what is not
/// there does not differ, nor does an item from itself.
///
/// ```
/// // Only the first and the last differ.
/// let differ = vec![vec![false, false, true], vec![false; 3], vec![true, false, false]];
/// assert_eq!(fsarena_stats::letters(&differ), ["a", "ab", "b"]);
/// ```
///
/// Insert-and-absorb of H.-P. Piepho, "An algorithm for a letter-based representation of
/// all-pairwise comparisons", J. Comput. Graph. Stat. 13 (2004).
#[must_use]
pub fn letters(differ: &[Vec<bool>]) -> Vec<String> {
    let mut columns = columns(differ);
    // By the first item that has the letter.
    columns.sort_by(|one, other| other.cmp(one));
    let names: Vec<String> = (0..columns.len()).map(name).collect();
    let between = if columns.len() > ALPHABET { "," } else { "" };
    (0..differ.len())
        .map(|item| {
            let own = columns.iter().zip(&names).filter(|(column, _)| column[item]);
            own.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(between)
        })
        .collect()
}

/// Sets of items none of which differ from each other; each two that do not differ are together
/// in one of them.
fn columns(differ: &[Vec<bool>]) -> Vec<Column> {
    let count = differ.len();
    let said = |i: usize, j: usize| differ[i].get(j).copied().unwrap_or(false);
    let mut columns = vec![vec![true; count]];
    for one in 0..count {
        for other in (one + 1..count).filter(|&other| said(one, other) || said(other, one)) {
            insert(&mut columns, one, other);
            // Some relations have exponentially many such sets, but never are more of them needed
            // than there are pairs, an item with itself among them.
            if columns.len() > count * (count + 1) / 2 {
                leave_out_needless(&mut columns);
            }
        }
    }
    leave_out_needless(&mut columns);
    columns
}

/// Two sets in place of each that holds both items, one without the one and one without the other;
/// those of them that lie in another set are absorbed by it. The sets before lie in none of these,
/// or they would have lain in one that was split.
fn insert(columns: &mut Vec<Column>, one: usize, other: usize) {
    let holds_both = |column: &mut Column| column[one] && column[other];
    let mut parts = Vec::new();
    for mut column in columns.extract_if(.., holds_both) {
        let mut second = column.clone();
        column[one] = false;
        second[other] = false;
        parts.extend([column, second]);
    }
    // The largest first, so that none is kept before one it lies in.
    parts.sort_by_cached_key(|part| std::cmp::Reverse(size(part)));
    for part in parts {
        if !columns.iter().any(|larger| lies_in(&part, larger)) {
            columns.push(part);
        }
    }
}

fn size(column: &Column) -> usize {
    column.iter().filter(|is_in| **is_in).count()
}

fn lies_in(column: &Column, larger: &Column) -> bool {
    column.iter().zip(larger).all(|(&is_in, &is_in_larger)| is_in_larger || !is_in)
}

/// Takes away sets all of whose pairs are together in others too, the smallest tried first.
fn leave_out_needless(columns: &mut Vec<Column>) {
    let count = columns.first().map_or(0, Vec::len);
    // An item with itself is a pair, for it must keep a letter.
    let pairs = |column: &Column| -> Vec<usize> {
        let members: Vec<usize> = (0..count).filter(|&item| column[item]).collect();
        let from = |at: usize| members[at..].iter().map(move |other| (at, other));
        let all = (0..members.len()).flat_map(from);
        all.map(|(at, other)| members[at] * count + other).collect()
    };
    // How many sets hold a pair.
    let mut together = vec![0u32; count * count];
    for column in columns.iter() {
        pairs(column).into_iter().for_each(|pair| together[pair] += 1);
    }
    columns.sort_by_cached_key(size);
    columns.retain(|column| {
        let pairs = pairs(column);
        let is_needed = pairs.iter().any(|&pair| together[pair] == 1);
        if !is_needed {
            pairs.into_iter().for_each(|pair| together[pair] -= 1);
        }
        is_needed
    });
}

/// `a` to `z`, `aa`, `ab`, …
fn name(index: usize) -> String {
    let mut rest = index;
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'a' + (rest % ALPHABET) as u8));
        if rest < ALPHABET {
            break;
        }
        rest = rest / ALPHABET - 1;
    }
    letters.iter().rev().collect()
}

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
