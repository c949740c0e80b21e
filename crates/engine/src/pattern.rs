//! The order in which a thread takes its files.
//!
//! Names are those of [`crate::names`]; [`crate::share`] decides which files are a thread's. The
//! only table with an entry a file is the permutation of a random order, and only there.

use crate::names::FileNames;
use crate::share::FileShare;
use fsarena_model::seed::Seed;

/// The files of a thread in the order in which it takes them. Whether they follow each other is
/// asked anew for each op: the processor predicts it, and loops of a type each would be twice as
/// many.
#[derive(Debug, Clone, Copy)]
pub struct FileOrder<'a> {
    pub files: FileShare,
    /// A permutation made before the phase; `None`: by number.
    pub order: Option<&'a [u32]>,
}

impl FileOrder<'_> {
    /// How many files.
    #[inline(always)]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.files.count
    }

    /// Sets `names` to the file of op `index` (called with 0, 1, 2 …) and gives its number.
    #[inline(always)]
    pub fn select(&self, names: &mut FileNames, index: u32) -> u32 {
        if index > 0 && self.files.step == 1 && self.order.is_none() {
            names.advance();
            return self.files.first + index;
        }
        let file = self.files.file(self.order.map_or(index, |order| order[index as usize]));
        names.set(file);
        file
    }
}

/// The seeded permutation of the `count` things of a thread (Fisher-Yates).
#[must_use]
pub fn random_order(count: u32, seed: &Seed, thread: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    seed.child("order", u64::from(thread)).rng().shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use fsarena_model::work::Dataset;

    #[test]
    fn random_order_is_a_permutation_and_the_seeds_own() {
        let order = random_order(1000, &Seed::from_number(7), 0);
        assert_ne!(order, (0..1000).collect::<Vec<_>>());
        assert_eq!(order, random_order(1000, &Seed::from_number(7), 0));
        assert_ne!(order, random_order(1000, &Seed::from_number(8), 0));
        assert_ne!(order, random_order(1000, &Seed::from_number(7), 1));
        let mut sorted = order;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn orders_select_the_files_they_name() {
        let mut names = FileNames::new(&Dataset::uniform(100, 1, 7)).unwrap();
        let mut expected = names.clone();
        let order = [2, 0, 1];
        let files = FileShare { first: 5, step: 4, count: 3 };
        let mut check = |file_order: &dyn Fn(&mut FileNames, u32) -> u32, wanted: [u32; 3]| {
            for (index, wanted) in (0..3).zip(wanted) {
                assert_eq!(file_order(&mut names, index), wanted);
                expected.set(wanted);
                assert_eq!(names.as_str(), expected.as_str());
            }
        };
        check(&|n, i| FileOrder { files, order: Some(&order) }.select(n, i), [13, 5, 9]);
        check(&|n, i| FileOrder { files, order: None }.select(n, i), [5, 9, 13]);
        let files = FileShare { first: 14, step: 1, count: 3 };
        check(&|n, i| FileOrder { files, order: None }.select(n, i), [14, 15, 16]);
        check(&|n, i| FileOrder { files, order: Some(&order) }.select(n, i), [16, 14, 15]);
    }
}
