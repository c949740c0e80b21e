//! Letters and tiers next to a ranking, against what they promise.

use fsarena_stats::{letters, tiers};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A symmetric relation from the pairs that are in it.
fn relation(count: usize, pairs: &[(usize, usize)]) -> Vec<Vec<bool>> {
    let mut relation = vec![vec![false; count]; count];
    for &(one, other) in pairs {
        relation[one][other] = true;
        relation[other][one] = true;
    }
    relation
}

fn relations(most: usize) -> impl Strategy<Value = Vec<Vec<bool>>> {
    (1..=most, prop::collection::vec(any::<bool>(), most * most), 1u8..10).prop_flat_map(
        |(count, _, share)| {
            let said = prop::bool::weighted(f64::from(share) / 10.0);
            prop::collection::vec(said, count * count).prop_map(move |said| {
                let pairs: Vec<(usize, usize)> = (0..count)
                    .flat_map(|one| (0..one).map(move |other| (one, other)))
                    .filter(|&(one, other)| said[one * count + other])
                    .collect();
                relation(count, &pairs)
            })
        },
    )
}

/// The letters of each item, whether or not commas stand between them.
fn split(shown: &[String]) -> Vec<BTreeSet<String>> {
    let commas = shown.iter().any(|text| text.contains(','));
    let own = |text: &String| match commas {
        true => text.split(',').map(str::to_owned).collect(),
        false => text.chars().map(String::from).collect(),
    };
    shown.iter().map(own).collect()
}

/// Why `shown` is no compact letter display of `differ`, if it is none.
fn fault(differ: &[Vec<bool>], shown: &[String]) -> Option<String> {
    let own = split(shown);
    for one in 0..differ.len() {
        if own[one].is_empty() {
            return Some(format!("{one} has no letter"));
        }
        for other in 0..one {
            if own[one].is_disjoint(&own[other]) != differ[one][other] {
                return Some(format!("{one} and {other}: {shown:?}"));
            }
        }
    }
    let mut columns: BTreeMap<&String, BTreeSet<usize>> = BTreeMap::new();
    for (item, letters) in own.iter().enumerate() {
        letters.iter().for_each(|letter| _ = columns.entry(letter).or_default().insert(item));
    }
    // Each letter has two items (or one) that no other letter joins.
    for (letter, items) in &columns {
        let joined = |one: usize, other: usize| {
            let more = |(name, items): (&&String, &BTreeSet<usize>)| {
                name != letter && items.contains(&one) && items.contains(&other)
            };
            columns.iter().any(more)
        };
        if items.iter().all(|&one| items.iter().all(|&other| joined(one, other))) {
            return Some(format!("{letter} says nothing: {shown:?}"));
        }
    }
    None
}

#[test]
fn letters_of_small_rankings() {
    let shown = |count, pairs: &[(usize, usize)]| letters(&relation(count, pairs)).join(" ");
    assert_eq!(shown(0, &[]), "");
    assert_eq!(shown(1, &[]), "a");
    assert_eq!(shown(3, &[]), "a a a");
    assert_eq!(shown(3, &[(0, 1), (0, 2), (1, 2)]), "a b c");
    assert_eq!(shown(3, &[(0, 2)]), "a ab b");
    assert_eq!(shown(4, &[(0, 2), (0, 3), (1, 3)]), "a ab bc c");
    // The middle one differs from both ends, which do not differ from each other.
    assert_eq!(shown(3, &[(0, 1), (1, 2)]), "a b a");
}

/// One way round is enough, and what is missing is no difference.
#[test]
fn letters_take_the_relation_as_it_comes() {
    let upper = [vec![false, true, true], vec![], vec![false, false, true]];
    assert_eq!(letters(&upper), ["a", "b", "b"]);
    let lower = [vec![], vec![true], vec![true, false]];
    assert_eq!(letters(&lower), ["a", "b", "b"]);
}

#[test]
fn letters_beyond_the_alphabet() {
    let all: Vec<(usize, usize)> = (0..60).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let shown = letters(&relation(60, &all));
    assert_eq!((shown[0].as_str(), shown[25].as_str()), ("a", "z"));
    assert_eq!((shown[26].as_str(), shown[27].as_str()), ("aa", "ab"));
    assert_eq!((shown[51].as_str(), shown[52].as_str()), ("az", "ba"));
    // Neighbours in a chain have two letters each, and a comma between them.
    let chain: Vec<(usize, usize)> = all.into_iter().filter(|(i, j)| i - j > 1).collect();
    let shown =
        letters(&relation(40, &chain.iter().copied().filter(|p| p.0 < 40).collect::<Vec<_>>()));
    assert_eq!((shown[1].as_str(), shown[27].as_str()), ("a,b", "aa,ab"));
}

/// Threes that differ among themselves and from nobody else have 3^10 largest sets; a display
/// needs far fewer.
#[test]
fn letters_of_a_knotty_relation_come_in_time() {
    let pairs: Vec<(usize, usize)> = (0..10)
        .flat_map(|t| [(3 * t, 3 * t + 1), (3 * t, 3 * t + 2), (3 * t + 1, 3 * t + 2)])
        .collect();
    let differ = relation(30, &pairs);
    let shown = letters(&differ);
    assert_eq!(fault(&differ, &shown), None);
}

#[test]
fn tiers_of_small_rankings() {
    let shown = |count, pairs: &[(usize, usize)]| tiers(&relation(count, pairs));
    assert_eq!(shown(0, &[]), []);
    assert_eq!(shown(2, &[]), [None, None]);
    assert_eq!(shown(3, &[(0, 1)]), [Some(1), Some(1), None]);
    assert_eq!(shown(3, &[(0, 1), (0, 2), (1, 2)]), [Some(1); 3]);
    // 1 with 2 and 2 with 3, but not 1 with 3.
    assert_eq!(shown(3, &[(0, 1), (1, 2)]), [None; 3]);
    let both = [None, None, None, Some(1), Some(1), None, Some(2), Some(2)];
    assert_eq!(shown(8, &[(0, 1), (1, 2), (3, 4), (6, 7)]), both);
    // Not neighbours.
    assert_eq!(shown(3, &[(0, 2)]), [None; 3]);
    // Said one way only, or with a row cut short.
    assert_eq!(tiers(&[vec![false, true], vec![false, false]]), [None; 2]);
    assert_eq!(tiers(&[vec![], vec![]]), [None; 2]);
}

proptest! {
    #[test]
    fn items_share_a_letter_unless_they_differ(differ in relations(9)) {
        let shown = letters(&differ);
        prop_assert_eq!(fault(&differ, &shown), None);
        let own = split(&shown);
        // Letters appear in the order of the alphabet, and nobody could be given one more.
        let mut seen = BTreeSet::new();
        for letters in &own {
            for letter in letters {
                if seen.insert(letter.clone()) {
                    prop_assert_eq!(letter.as_bytes()[0], b'a' + seen.len() as u8 - 1);
                }
            }
        }
        for letter in seen {
            let holds = |item: &usize| own[*item].contains(&letter);
            let without: Vec<usize> = (0..own.len()).filter(|item| !holds(item)).collect();
            for one in without {
                let blocked = (0..own.len()).filter(holds).any(|other| differ[one][other]);
                prop_assert!(blocked, "{one} could have {letter}: {shown:?}");
            }
        }
    }

    /// A larger relation, where sets that are not needed are left out on the way.
    #[test]
    fn larger_rankings_keep_the_promise(differ in relations(24)) {
        prop_assert_eq!(fault(&differ, &letters(&differ)), None);
    }

    /// Differences of a ranking by intervals that overlap or do not: all letters are runs.
    #[test]
    fn letters_of_intervals_are_runs(
        mut starts in prop::collection::vec(0u32..100, 1..16), width in 1u32..40,
    ) {
        starts.sort_unstable();
        let apart = |a: u32, b: u32| a.abs_diff(b) > width;
        let differ: Vec<Vec<bool>> =
            starts.iter().map(|&a| starts.iter().map(|&b| apart(a, b)).collect()).collect();
        let shown = letters(&differ);
        prop_assert_eq!(fault(&differ, &shown), None);
        for letter in shown.concat().chars() {
            let items: Vec<usize> =
                (0..shown.len()).filter(|&item| shown[item].contains(letter)).collect();
            prop_assert_eq!(items[items.len() - 1] - items[0] + 1, items.len());
        }
    }

    /// By the definition: every run of pairwise same neighbours is looked at.
    #[test]
    fn tiers_are_the_undisputed_runs(same in relations(9)) {
        let count = same.len();
        let alike = |first: usize, last: usize| {
            (first..=last).all(|one| (first..one).all(|other| same[one][other]))
        };
        let runs: Vec<(usize, usize)> = (0..count)
            .flat_map(|first| (first + 1..count).map(move |last| (first, last)))
            .filter(|&(first, last)| alike(first, last))
            .filter(|&(first, last)| first == 0 || !alike(first - 1, last))
            .filter(|&(first, last)| last + 1 == count || !alike(first, last + 1))
            .collect();
        let clear = |run: &(usize, usize)| {
            runs.iter().all(|other| other == run || other.1 < run.0 || run.1 < other.0)
        };
        let mut wanted = vec![None; count];
        for (index, (first, last)) in runs.iter().filter(|run| clear(run)).enumerate() {
            wanted[*first..=*last].fill(Some(index + 1));
        }
        prop_assert_eq!(tiers(&same), wanted);
    }
}
