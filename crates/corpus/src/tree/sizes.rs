//! How many files a class has and how large each is, so that they come to the stated total.

use crate::description::{Class, Description};

/// Tells the hashes of sizes apart from others; with the number of the class.
const SIZE_SALT: u64 = 0x6673_6172_656e_6113;

/// The sizes of the files of class `number`, bytes, at the scale of `description`. `whole` and
/// `scaled` are the numbers of directories it lies in at scale 1 and at this one.
pub(super) fn sizes(
    description: &Description,
    class: &Class,
    number: usize,
    (whole, scaled): (u64, u64),
) -> Vec<u64> {
    let salt = description.seed ^ SIZE_SALT.wrapping_add((number as u64) << 32);
    let size_of = class.size_bytes.by_number(salt);
    let (min, max) = class.size_bytes.range();
    let (count, all) = match (class.count, class.each) {
        (Some(count), _) => (description.at_scale(count), count),
        (None, Some(each)) => (each * scaled, each * whole),
        (None, None) => {
            let total = description.at_scale(class.total_bytes.unwrap_or(0));
            return up_to(total, size_of, (min, max));
        }
    };
    if class.shrinks() {
        let size_bytes = class.total_bytes.unwrap_or_else(|| size_of(0));
        return vec![Class::shrunk(size_bytes, description.at_scale(size_bytes))];
    }
    let count = if class.varies() {
        count
    } else {
        count.min(scaled * class.names.templates().len() as u64)
    };
    let mut sizes: Vec<u64> = (0..count).map(size_of).collect();
    if let Some(total) = class.total_bytes {
        let total = u128::from(total) * u128::from(count) / u128::from(all.max(1));
        fit(&mut sizes, total as u64, (min, max));
    }
    sizes
}

/// Sizes until they come to `total`.
fn up_to(total: u64, size_of: impl Fn(u64) -> u64, range: (u64, u64)) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut sum = 0u64;
    while sum < total {
        // A size of 0 brings nothing nearer.
        let size = size_of(sizes.len() as u64).max(1);
        sum = sum.saturating_add(size);
        sizes.push(size);
    }
    fit(&mut sizes, total, range);
    sizes
}

/// Corrects sizes until they come to `total`, or as near as `min` and `max` let them: all by the
/// same factor first, and what is left then in equal steps.
fn fit(sizes: &mut [u64], total: u64, (min, max): (u64, u64)) {
    let sum: u128 = sizes.iter().map(|size| u128::from(*size)).sum();
    if sum == u128::from(total) || sizes.is_empty() {
        return;
    }
    for size in sizes.iter_mut() {
        let scaled = (u128::from(*size) * u128::from(total)).checked_div(sum);
        *size = scaled.map_or(0, |scaled| scaled as u64).clamp(min, max);
    }
    loop {
        let sum: u64 = sizes.iter().sum();
        let (more, mut left) = (sum < total, sum.abs_diff(total));
        let room = |size: u64| if more { max - size } else { size - min };
        let with_room = sizes.iter().filter(|size| room(**size) > 0).count() as u64;
        if left == 0 || with_room == 0 {
            return;
        }
        let step = left.div_ceil(with_room);
        for size in sizes.iter_mut() {
            let change = room(*size).min(step).min(left);
            left -= change;
            *size = if more { *size + change } else { *size - change };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_come_to_the_total_within_their_range() {
        for (total, range) in [(1000, (0, 900)), (60, (1, 50)), (150, (1, 50)), (3, (1, 50))] {
            let mut sizes = vec![5, 40, 17];
            fit(&mut sizes, total, range);
            let reachable = total.clamp(3 * range.0, 3 * range.1);
            assert_eq!(sizes.iter().sum::<u64>(), reachable, "{sizes:?}");
            assert!(sizes.iter().all(|size| (range.0..=range.1).contains(size)), "{sizes:?}");
        }
        let mut empty_files = vec![0, 0];
        fit(&mut empty_files, 7, (0, 10));
        assert_eq!(empty_files, [4, 3]);
    }

    #[test]
    fn a_total_alone_says_how_many_there_are() {
        assert_eq!(up_to(1000, |_| 300, (1, 300)), [250, 250, 250, 250]);
        assert_eq!(up_to(1, |_| 0, (0, 300)), [1]);
    }
}
