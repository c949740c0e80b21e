//! By how much replies were later than the model, in buckets of at most an eighth of their value.

use fsarena_vdisk::Served;

const BITS: u32 = 3;
const BUCKETS: usize = 64 << BITS;

/// Counts of what was served.
#[derive(Debug)]
pub struct Lateness {
    pub served: Served,
    hits: Box<[u64]>,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { served: Served::default(), hits: vec![0; BUCKETS].into_boxed_slice() }
    }
}

impl Lateness {
    /// A request that took so long by the model, and was answered so much later.
    pub fn add(&mut self, modelled_ns: u64, late_ns: u64) {
        self.served.timed += 1;
        self.served.modelled_ns += modelled_ns;
        self.served.late_ns += late_ns;
        self.served.late_max_ns = self.served.late_max_ns.max(late_ns);
        self.hits[bucket(late_ns)] += 1;
    }

    /// All counts, which begin anew; an error stays.
    pub fn take(&mut self) -> Served {
        let mut left = self.served.timed.div_ceil(100);
        let highest = self.hits.iter().enumerate().rev().find(|(_, hits)| {
            let is_it = **hits >= left;
            left = left.saturating_sub(**hits);
            is_it
        });
        if let Some((number, _)) = highest.filter(|_| self.served.timed > 0) {
            self.served.late_p99_ns = upper(number).min(self.served.late_max_ns);
        }
        self.hits.fill(0);
        let error = self.served.error.clone();
        std::mem::replace(&mut self.served, Served { error, ..Served::default() })
    }
}

fn bucket(value: u64) -> usize {
    let bits = 64 - value.leading_zeros();
    let number = match bits.checked_sub(BITS + 1) {
        None => value,
        Some(shift) => (u64::from(shift) << BITS) + (value >> shift),
    };
    usize::try_from(number).unwrap_or(BUCKETS - 1).min(BUCKETS - 1)
}

/// Largest value of a bucket.
fn upper(number: usize) -> u64 {
    let number = number as u64;
    let per = 1 << BITS;
    if number < 2 * per {
        return number;
    }
    let shift = (number >> BITS) - 1;
    ((number - (shift << BITS) + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_values_and_is_at_most_an_eighth_wide() {
        for value in (0..5000).chain([123_456, 1_000_000_007, 1 << 40, (1 << 40) - 1]) {
            let (at, top) = (bucket(value), upper(bucket(value)));
            assert!(top >= value && bucket(top) == at && bucket(top + 1) == at + 1, "{value}");
            assert!(top - value <= value / 8, "{value}: {top}");
        }
    }

    #[test]
    fn one_of_a_hundred_may_be_later_than_the_p99() {
        let mut late = Lateness::default();
        for number in 1..=200 {
            late.add(1000, number);
        }
        let served = late.take();
        assert_eq!((served.timed, served.modelled_ns, served.late_ns), (200, 200_000, 20_100));
        assert!((198..=207).contains(&served.late_p99_ns), "{served:?}");
        assert_eq!(late.take(), Served::default());
        late.add(10, 100_000);
        assert_eq!(late.take().late_p99_ns, 100_000);
    }
}
