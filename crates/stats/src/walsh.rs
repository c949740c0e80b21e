//! Walsh averages: all means of two values of a sample, each with itself too.

/// Those of one sample, which are never all written down.
///
/// In the matrix of averages of sorted values every row and column ascends, so that one walk along
/// a staircase counts those up to any value. Where an average of a given place lies is guessed from
/// a thinned sample; then only those around the guess are written down.
pub(crate) struct Walsh {
    /// The sample, ascending.
    values: Vec<f64>,
    /// Averages of a thinned sample, ascending.
    guesses: Vec<f64>,
    windows: Vec<Window>,
}

/// Neighbours in the ascending order of all averages.
struct Window {
    /// Place of the least.
    from: usize,
    /// They, in any order.
    averages: Vec<f64>,
}

/// So many guesses on each side are believed to hold what is looked for.
const AROUND: usize = 2;

impl Walsh {
    /// Of values in any order, all finite.
    pub fn new(values: &[f64]) -> Self {
        let mut values = values.to_vec();
        crate::sort(&mut values);
        let step = (values.len() / values.len().isqrt().max(1)).max(1);
        let thinned: Vec<f64> = values.iter().skip(step / 2).step_by(step).copied().collect();
        let mut guesses = Vec::with_capacity(thinned.len() * (thinned.len() + 1) / 2);
        for (index, &one) in thinned.iter().enumerate() {
            guesses.extend(thinned[index..].iter().map(|&other| f64::midpoint(one, other)));
        }
        crate::sort(&mut guesses);
        Self { values, guesses, windows: Vec::new() }
    }

    /// How many averages there are.
    pub fn len(&self) -> usize {
        self.values.len() * (self.values.len() + 1) / 2
    }

    /// The one at `place`, from 0, in ascending order; it has to be below [`len`](Self::len).
    pub fn at(&mut self, place: usize) -> f64 {
        let holds = |w: &Window| w.from <= place && place - w.from < w.averages.len();
        let known = self.windows.iter().position(holds);
        let known = known.unwrap_or_else(|| {
            let window = self.window(place);
            self.windows.push(window);
            self.windows.len() - 1
        });
        let window = &mut self.windows[known];
        let place = place - window.from;
        *window.averages.select_nth_unstable_by(place, f64::total_cmp).1
    }

    /// The median; there has to be one value at least.
    pub fn median(&mut self) -> f64 {
        let upper = self.len() / 2;
        let above = self.at(upper);
        if self.len() % 2 == 1 { above } else { f64::midpoint(self.at(upper - 1), above) }
    }

    /// The averages around `place`.
    fn window(&self, place: usize) -> Window {
        let guess = place * self.guesses.len() / self.len();
        // Outwards in steps that double, until the place is within; with no guess left it is.
        let (mut low, mut from, mut reach) = (f64::NEG_INFINITY, 0, AROUND);
        let mut beyond = None;
        while let Some(&bound) = guess.checked_sub(reach).and_then(|at| self.guesses.get(at)) {
            let count = self.up_to(bound);
            if count <= place {
                (low, from) = (bound, count);
                break;
            }
            beyond = Some(bound);
            reach *= 2;
        }
        let (mut high, mut reach) = (beyond.unwrap_or(f64::INFINITY), AROUND);
        while let Some(&bound) = self.guesses.get(guess + reach).filter(|_| beyond.is_none()) {
            let count = self.up_to(bound);
            if count > place {
                high = bound;
                break;
            }
            (low, from) = (bound, count);
            reach *= 2;
        }
        Window { from, averages: self.between(low, high) }
    }

    /// How many averages are `bound` at most.
    fn up_to(&self, bound: f64) -> usize {
        let mut end = self.values.len();
        let mut count = 0;
        for (row, &one) in self.values.iter().enumerate() {
            while end > row && f64::midpoint(one, self.values[end - 1]) > bound {
                end -= 1;
            }
            if end <= row {
                break;
            }
            count += end - row;
        }
        count
    }

    /// The averages above `low` that are `high` at most.
    fn between(&self, low: f64, high: f64) -> Vec<f64> {
        let mut averages = Vec::new();
        let (mut begin, mut end) = (self.values.len(), self.values.len());
        for (row, &one) in self.values.iter().enumerate() {
            while end > row && f64::midpoint(one, self.values[end - 1]) > high {
                end -= 1;
            }
            while begin > row && f64::midpoint(one, self.values[begin - 1]) > low {
                begin -= 1;
            }
            let others = self.values.get(begin.max(row)..end).unwrap_or_default();
            averages.extend(others.iter().map(|&other| f64::midpoint(one, other)));
        }
        averages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::median_of_sorted;

    fn all(values: &[f64]) -> Vec<f64> {
        let pairs =
            (0..values.len()).flat_map(|one| (one..values.len()).map(move |two| (one, two)));
        let mut all: Vec<f64> =
            pairs.map(|(one, two)| f64::midpoint(values[one], values[two])).collect();
        crate::sort(&mut all);
        all
    }

    /// With ties, with values far off, in steps, all equal, and on both sides of 0.
    fn samples(n: u32) -> Vec<Vec<f64>> {
        let of = |value: &dyn Fn(f64) -> f64| (0..n).map(|k| value(f64::from(k))).collect();
        vec![
            of(&|k| k * k % 17.0 - 8.0),
            of(&|k| (k * 12.9898).sin() * 0.03),
            of(&|k| if k % 9.0 == 4.0 { 1e12 * (k - 30.0) } else { (k * 7.7).cos() }),
            of(&|k| (k - 3.0).exp()),
            of(&|_| 0.7),
            of(&|k| if k < 2.0 { -1.0 } else { 1.0 }),
        ]
    }

    #[test]
    fn every_place_is_that_of_the_sorted_averages_in_whatever_order_one_asks() {
        for n in [1, 2, 3, 5, 12, 31, 100] {
            for values in samples(n) {
                let wanted = all(&values);
                for step in [1, 7919] {
                    let mut walsh = Walsh::new(&values);
                    assert_eq!(walsh.len(), wanted.len());
                    for place in (0..wanted.len()).map(|k| k * step % wanted.len()) {
                        assert_eq!(walsh.at(place), wanted[place], "place {place} of {values:?}");
                    }
                }
                let fresh = |place| Walsh::new(&values).at(place);
                for place in [0, wanted.len() / 5, wanted.len() - 1] {
                    assert_eq!(fresh(place), wanted[place], "place {place} of {values:?}");
                }
                assert_eq!(Walsh::new(&values).median(), median_of_sorted(&wanted));
            }
        }
    }

    #[test]
    fn few_averages_are_written_down() {
        for values in &samples(400)[..2] {
            let mut walsh = Walsh::new(values);
            for place in [walsh.len() / 2, walsh.len() / 20, walsh.len() - 9] {
                walsh.at(place);
            }
            let held: usize = walsh.windows.iter().map(|window| window.averages.len()).sum();
            assert!(held < walsh.len() / 4, "{held} of {}", walsh.len());
        }
    }
}
