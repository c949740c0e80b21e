//! Choices of a case from its seed. Each choice has a name and a generator of its own, so that a
//! new one moves no other.

use fsarena_model::seed::Seed;

/// The choices of one case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    seed: Seed,
}

impl Draw {
    /// Those of the case with this number.
    pub(super) fn of_case(number: u64) -> Self {
        Self { seed: Seed::from_number(number).child("chaos", 0) }
    }

    /// A number from `low` to `high`, both of them among it.
    pub(super) fn between(&self, what: &str, low: u64, high: u64) -> u64 {
        low + self.seed.child(what, 0).rng().below(high - low + 1)
    }

    /// True in one of `times` cases.
    pub(super) fn once_in(&self, what: &str, times: u64) -> bool {
        self.between(what, 1, times) == 1
    }

    /// One of several, each as often as any other.
    pub(super) fn one_of<T: Copy>(&self, what: &str, all: &[T]) -> T {
        all[self.index(what, all.len())]
    }

    /// The index of one of `count`.
    pub(super) fn index(&self, what: &str, count: usize) -> usize {
        usize::try_from(self.between(what, 1, count as u64) - 1).expect("it is below a usize")
    }

    /// All of several, in random order.
    pub(super) fn shuffled<T: Clone>(&self, what: &str, all: &[T]) -> Vec<T> {
        let mut all = all.to_vec();
        self.seed.child(what, 0).rng().shuffle(&mut all);
        all
    }
}

/// The numbers of the cases of a campaign, without end.
pub(super) fn numbers(campaign: u64) -> impl Iterator<Item = u64> {
    let seed = Seed::from_number(campaign).child("campaign", 0);
    // Short enough to be typed.
    (0..).map(move |index| seed.child("case", index).tag() >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_choices_and_each_has_its_own() {
        let draw = Draw::of_case(7);
        let all: Vec<u64> = (0..50).collect();
        assert_eq!(draw.one_of("a", &all), Draw::of_case(7).one_of("a", &all));
        let of = |what: &str| {
            let choice = |seed| Draw::of_case(seed).one_of(what, &all);
            (0..20).map(choice).collect::<Vec<u64>>()
        };
        assert_ne!(of("a"), of("b"));
        assert_eq!(draw.shuffled("c", &all), draw.shuffled("c", &all));
        assert_ne!(draw.shuffled("c", &all), all);
    }

    #[test]
    fn choices_reach_both_ends() {
        let seen: std::collections::BTreeSet<u64> =
            (0..200).map(|seed| Draw::of_case(seed).between("x", 3, 6)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5, 6]);
        let once = (0..400).filter(|&seed| Draw::of_case(seed).once_in("y", 4)).count();
        assert!((60..140).contains(&once), "{once}");
    }

    #[test]
    fn campaigns_have_cases_of_their_own() {
        let first: Vec<u64> = numbers(1).take(5).collect();
        assert_eq!(first, numbers(1).take(5).collect::<Vec<_>>());
        assert!(numbers(2).take(5).all(|number| !first.contains(&number)));
    }
}
