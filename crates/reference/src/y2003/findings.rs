//! What the article of 2003 concludes, held against its own table. No repeats were published, so
//! that a small difference cannot be told from what a second run would have given.

use crate::article::{Finding, RateRow};
use crate::figures::{self, Holds, Interval};
use crate::judgement::{A_LITTLE, SEVERAL, is_more, is_stated, range};

const WRITE_FEW: &str = "write 5000 files of 256 B";
const WRITE_MANY: &str = "write 50000 files of 256 B";
const WRITE_BIG: &str = "write one file of 1500 MB";
const READ_IN_ORDER: &str = "read 50000 files of 256 B in order";
const READ_BIG: &str = "read one file of 1500 MB";
const READ_RANDOM: &str = "read 50000 files of 256 B in random order";
const DELETE: &str = "delete 50000 files of 256 B";
const ALL: [&str; 7] =
    [WRITE_FEW, WRITE_MANY, WRITE_BIG, READ_IN_ORDER, READ_BIG, READ_RANDOM, DELETE];

const LINUX: [&str; 4] = ["ext3", "reiserfs", "jfs", "xfs"];
const UFS: [&str; 4] = ["UFS1", "UFS1+SoftUpdates", "UFS2", "UFS2+SoftUpdates"];
const SOFT: [&str; 2] = ["UFS1+SoftUpdates", "UFS2+SoftUpdates"];

/// "Almost too much" is at least this many times slower.
const ALMOST_TOO_MUCH: f64 = 10.0;

/// All of them, in the article's order.
pub(super) fn findings(rows: &[RateRow]) -> Vec<Finding> {
    let rates = Rates(rows);
    vec![
        collapse_of_ext3(&rates),
        behind_ufs(&rates),
        leads_most_others(&rates),
        big_files_alike(&rates),
        ufs_reads_less(&rates),
        reads_in_order(&rates),
        twofold_drop_of_jfs(&rates),
        random_is_hard(&rates),
        a_little_ahead(&rates),
        ext3_deletes_first(&rates),
        far_behind_in_deleting(&rates),
        soft_updates_matter(&rates),
        ufs2_is_ufs1(&rates),
        ranking(&rates),
        memory_is_small(),
    ]
}

/// The printed rates.
struct Rates<'a>(&'a [RateRow]);

impl Rates<'_> {
    /// The rate of a file system in a test; `NaN`, which no conclusion outlives, where none is
    /// printed.
    fn rate(&self, test: &str, fs: &str) -> f64 {
        let mut rows = self.0.iter();
        rows.find(|row| row.phase == test && row.filesystem == fs).map_or(f64::NAN, |row| row.value)
    }

    /// How many times the rate of the second the first has.
    fn times(&self, test: &str, fs: &str, other: &str) -> f64 {
        self.rate(test, fs) / self.rate(test, other)
    }

    /// File systems with their rates in a test, the fastest first.
    fn ranked(&self, test: &str) -> Vec<(&str, f64)> {
        let own = self.0.iter().filter(|row| row.phase == test);
        let mut all: Vec<(&str, f64)> =
            own.map(|row| (row.filesystem.as_str(), row.value)).collect();
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// Geometric mean over all tests.
    fn over_all(&self, fs: &str) -> f64 {
        let logs: f64 = ALL.iter().map(|test| self.rate(test, fs).ln()).sum();
        (logs / ALL.len() as f64).exp()
    }

    fn mean(&self, test: &str, of: &[&str]) -> f64 {
        of.iter().map(|fs| self.rate(test, fs)).sum::<f64>() / of.len() as f64
    }
}

/// Whether `fs` is ahead of all others that are `ranked`, the fastest first.
fn leads(ranked: &[(&str, f64)], fs: &str) -> Holds {
    match ranked {
        [first, next, ..] if first.0 == fs => is_ahead(first.1 / next.1),
        [first, ..] => {
            let own = ranked.iter().find(|(name, _)| *name == fs);
            is_ahead(own.map_or(f64::NAN, |own| own.1 / first.1))
        }
        [] => Holds::Falls,
    }
}

/// Whether the first of two figures is more, where they differ at all.
fn is_ahead(times: f64) -> Holds {
    if is_more(single(times)) == Holds::Holds {
        Holds::Holds
    } else if is_more(single(1.0 / times)) == Holds::Falls {
        Holds::CannotBeTold
    } else {
        Holds::Falls
    }
}

fn where_true(is_so: bool) -> Holds {
    if is_so { Holds::Holds } else { Holds::Falls }
}

/// A ratio of figures that were printed without repeats.
fn single(ratio: f64) -> Interval {
    Interval::about(ratio, 0.0)
}

/// Each with its number: `UFS1 3.87, UFS2 3.82`.
fn named(each: &[(&str, f64)]) -> String {
    let one = |(name, number): &(&str, f64)| format!("{name} {number:.2}");
    each.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn least(each: &[(&str, f64)]) -> f64 {
    each.iter().map(|(_, number)| *number).fold(f64::INFINITY, f64::min)
}

fn most(each: &[(&str, f64)]) -> f64 {
    each.iter().map(|(_, number)| *number).fold(f64::NEG_INFINITY, f64::max)
}

fn collapse_of_ext3(rates: &Rates<'_>) -> Finding {
    let drop = |fs| (fs, rates.rate(WRITE_FEW, fs) / rates.rate(WRITE_MANY, fs));
    let ext3 = drop("ext3").1;
    let others: Vec<_> = LINUX.into_iter().skip(1).map(drop).collect();
    Finding {
        claim: "Of the file systems of Linux ext3 alone breaks down from 5,000 files to 50,000",
        holds: where_true(ext3 >= SEVERAL && most(&others) < SEVERAL),
        why: format!(
            "ext3 {:.2} KB/s and {:.2} KB/s: {ext3:.2} times less; the others: {} times less",
            rates.rate(WRITE_FEW, "ext3"),
            rates.rate(WRITE_MANY, "ext3"),
            named(&others)
        ),
    }
}

fn behind_ufs(rates: &Rates<'_>) -> Finding {
    let plain = ["UFS1", "UFS2"];
    let ahead = |test| plain.map(|fs| (fs, rates.times(test, fs, "ext3")));
    let (many, few) = (ahead(WRITE_MANY), ahead(WRITE_FEW));
    Finding {
        claim: "Even UFS without soft updates writes 50,000 small files several times as fast as \
                ext3",
        holds: where_true(least(&many) >= SEVERAL),
        why: format!("times the rate of ext3: {}; of 5,000 files: {}", named(&many), named(&few)),
    }
}

fn leads_most_others(rates: &Rates<'_>) -> Finding {
    let others = &ALL[2..];
    let of: Vec<Holds> = others.iter().map(|test| leads(&rates.ranked(test), "reiserfs")).collect();
    let count = |holds| of.iter().filter(|one| **one == holds).count();
    let (led, open) = (count(Holds::Holds), count(Holds::CannotBeTold));
    let is_most = |count: usize| count * 2 > others.len();
    let holds = match (is_most(led), is_most(led + open)) {
        (true, _) => Holds::Holds,
        (false, true) => Holds::CannotBeTold,
        (false, false) => Holds::Falls,
    };
    let place = |test: &&str| {
        let at = rates.ranked(test).iter().position(|(fs, _)| *fs == "reiserfs");
        at.map_or_else(|| "-".to_owned(), |at| (at + 1).to_string())
    };
    let places: Vec<String> = others.iter().map(place).collect();
    Finding {
        claim: "reiserfs leads in writing small files and in most of the other tests",
        holds,
        why: format!(
            "first in both tests of writing small files, and in {led} of the {} others; in {open} \
             it and the first differ by less than 10 %; its places there, of 8: {}",
            others.len(),
            places.join(", ")
        ),
    }
}

fn big_files_alike(rates: &Rates<'_>) -> Finding {
    let spread = |test| {
        let all = rates.ranked(test);
        most(&all) / least(&all)
    };
    let (written, read) = (spread(WRITE_BIG), spread(READ_BIG));
    Finding {
        claim: "All write and read the big file well",
        holds: where_true(written <= A_LITTLE && read <= A_LITTLE),
        why: format!("fastest ÷ slowest: {written:.2} writing, {read:.2} reading"),
    }
}

fn ufs_reads_less(rates: &Rates<'_>) -> Finding {
    const STATED: f64 = 0.90;
    let behind = |ratio: f64| (1.0 - ratio) * 100.0;
    let mean = rates.mean(READ_BIG, &UFS) / rates.mean(READ_BIG, &LINUX);
    let pair = |ufs, fs| (ufs, behind(rates.times(READ_BIG, ufs, fs)));
    let all: Vec<_> = UFS.iter().flat_map(|ufs| LINUX.map(|fs| pair(*ufs, fs))).collect();
    Finding {
        claim: "The UFS family reads the big file 10 % slower",
        holds: is_stated(single(mean), STATED),
        why: format!(
            "{:.1} % by the means of both families, {mean:.2} of the rate; as stated is {}; pair \
             by pair {:.1} to {:.1} %",
            behind(mean),
            range(STATED),
            least(&all),
            most(&all)
        ),
    }
}

fn reads_in_order(rates: &Rates<'_>) -> Finding {
    let all = rates.ranked(READ_IN_ORDER);
    let (first, last) = (&all[0], &all[all.len() - 1]);
    let (ahead, behind) = (first.1 / all[1].1, all[all.len() - 2].1 / last.1);
    let is_worst = where_true(last.0 == "jfs" && behind >= SEVERAL);
    Finding {
        claim: "Reading small files in order reiserfs is the best and jfs clearly the worst",
        holds: figures::all([leads(&all, "reiserfs"), is_worst]),
        why: format!(
            "{} {:.2} KB/s, {ahead:.2} times the next; {} {:.2} KB/s, {behind:.2} times less than \
             the next",
            first.0, first.1, last.0, last.1
        ),
    }
}

fn twofold_drop_of_jfs(rates: &Rates<'_>) -> Finding {
    const STATED: f64 = 2.0;
    let drop = |fs| (fs, rates.rate(WRITE_MANY, fs) / rates.rate(READ_IN_ORDER, fs));
    let jfs = drop("jfs").1;
    let others: Vec<_> = LINUX.into_iter().chain(UFS).filter(|fs| *fs != "jfs").map(drop).collect();
    Finding {
        claim: "jfs reads small files at half the rate at which it writes them",
        holds: is_stated(single(jfs), STATED),
        why: format!(
            "written ÷ read: {:.2} / {:.2} = {jfs:.2}; as stated is {}; of the others: {}",
            rates.rate(WRITE_MANY, "jfs"),
            rates.rate(READ_IN_ORDER, "jfs"),
            range(STATED),
            named(&others)
        ),
    }
}

fn random_is_hard(rates: &Rates<'_>) -> Finding {
    let drop = |fs| (fs, rates.rate(READ_IN_ORDER, fs) / rates.rate(READ_RANDOM, fs));
    let all: Vec<_> = LINUX.into_iter().chain(UFS).map(drop).collect();
    Finding {
        claim: "Reading small files in random order is almost too much for all of them",
        holds: where_true(least(&all) >= ALMOST_TOO_MUCH),
        why: format!(
            "times slower than in order: {}; taken as almost too much: {ALMOST_TOO_MUCH:.0} or \
             more",
            named(&all)
        ),
    }
}

fn a_little_ahead(rates: &Rates<'_>) -> Finding {
    let all = rates.ranked(READ_RANDOM);
    let ahead = all[0].1 / all[1].1;
    let last = &all[all.len() - 1];
    Finding {
        claim: "Reading in random order reiserfs is a little better than the others",
        holds: where_true(all[0].0 == "reiserfs" && ahead <= A_LITTLE),
        why: format!(
            "it is first, and by more than a little: {ahead:.2} times the next ({}), {:.2} times \
             the last ({})",
            all[1].0,
            all[0].1 / last.1,
            last.0
        ),
    }
}

fn ext3_deletes_first(rates: &Rates<'_>) -> Finding {
    let all = rates.ranked(DELETE);
    Finding {
        claim: "ext3 deletes faster than all others",
        holds: leads(&all, "ext3"),
        why: format!(
            "{} {:.0} files/s, {:.2} times the next ({})",
            all[0].0,
            all[0].1,
            all[0].1 / all[1].1,
            all[1].0
        ),
    }
}

fn far_behind_in_deleting(rates: &Rates<'_>) -> Finding {
    let ahead = SOFT.map(|fs| (fs, rates.times(DELETE, fs, "reiserfs")));
    Finding {
        claim: "Deleting, UFS with soft updates follows, and reiserfs far behind them",
        holds: where_true(least(&ahead) >= SEVERAL),
        why: format!("times the rate of reiserfs: {}", named(&ahead)),
    }
}

fn soft_updates_matter(rates: &Rates<'_>) -> Finding {
    let gain = |test, fs, soft| (fs, rates.times(test, soft, fs));
    let of = |test| [gain(test, "UFS1", SOFT[0]), gain(test, "UFS2", SOFT[1])];
    let (written, deleted, read) = (of(WRITE_MANY), of(DELETE), of(READ_IN_ORDER));
    Finding {
        claim: "The time of UFS without soft updates is over",
        holds: where_true(least(&written) >= SEVERAL && least(&deleted) >= SEVERAL),
        why: format!(
            "with ÷ without them, 50,000 small files: written {}; deleted {}; read {}",
            named(&written),
            named(&deleted),
            named(&read)
        ),
    }
}

fn ufs2_is_ufs1(rates: &Rates<'_>) -> Finding {
    let versions = [("UFS2", "UFS1"), (SOFT[1], SOFT[0])];
    let ratio = |test: &&'static str| {
        versions.map(|(second, first)| (*test, rates.times(test, second, first)))
    };
    let all: Vec<_> = ALL.iter().flat_map(ratio).collect();
    let lower = all.iter().filter(|(_, ratio)| *ratio < 1.0).count();
    Finding {
        claim: "UFS2 is neither faster nor slower than UFS1",
        holds: Holds::CannotBeTold,
        why: format!(
            "UFS2 ÷ UFS1 is {:.2} to {:.2}, and below 1 in {lower} of {} pairs; without repeats \
             no one knows how much of that is chance",
            least(&all),
            most(&all),
            all.len()
        ),
    }
}

fn ranking(rates: &Rates<'_>) -> Finding {
    let mut all: Vec<_> = LINUX.into_iter().chain(UFS).map(|fs| (fs, rates.over_all(fs))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let best = all[0].1;
    let behind_it: Vec<_> = all.iter().filter(|(fs, _)| *fs != "reiserfs").copied().collect();
    let (soft, rest): (Vec<_>, Vec<_>) = behind_it.iter().partition(|(fs, _)| SOFT.contains(fs));
    let second = is_ahead(least(&soft) / most(&rest));
    let shares: Vec<_> = all.iter().map(|(fs, mean)| (*fs, mean / best)).collect();
    Finding {
        claim: "Over all, reiserfs is first and UFS with soft updates second",
        holds: figures::all([leads(&all, "reiserfs"), second]),
        why: format!("geometric means over the 7 tests, as shares of the best: {}", named(&shares)),
    }
}

/// What the contents take, and what they take in blocks.
fn memory_is_small() -> Finding {
    const BLOCK_BYTES: f64 = 4096.0;
    let mib = |files: f64, bytes: f64| files * bytes / f64::from(1 << 20);
    Finding {
        claim: "With 64 MB of memory the cache has no influence",
        holds: Holds::CannotBeTold,
        why: format!(
            "50,000 files of 256 B are {:.1} MiB, in blocks of 4 KiB {:.0} MiB; 5,000 files {:.1} \
             MiB or {:.0} MiB, which 64 MB hold: whether the program waited for the disk is not \
             stated",
            mib(50_000.0, 256.0),
            mib(50_000.0, BLOCK_BYTES),
            mib(5_000.0, 256.0),
            mib(5_000.0, BLOCK_BYTES)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::y2003::contents;

    fn finding(start: &str) -> Finding {
        let found = contents().unwrap().findings;
        found.into_iter().find(|finding| finding.claim.starts_with(start)).unwrap()
    }

    #[test]
    fn the_twofold_drop_of_jfs_is_one_of_1_76() {
        let found = finding("jfs reads");
        assert_eq!(found.holds, Holds::Falls);
        assert!(
            found
                .why
                .starts_with("written ÷ read: 406.90 / 231.48 = 1.76; as stated is 1.80 to 2.20")
        );
    }

    #[test]
    fn ext3_breaks_down_and_even_ufs_is_ahead() {
        let found = finding("Of the file systems of Linux ext3 alone");
        assert_eq!(found.holds, Holds::Holds);
        assert!(found.why.starts_with("ext3 127.03 KB/s and 31.17 KB/s: 4.08 times less"));
        let found = finding("Even UFS without");
        assert_eq!(found.holds, Holds::Holds);
        assert!(found.why.contains("UFS1 3.87, UFS2 3.82"), "{}", found.why);
    }

    #[test]
    fn reiserfs_leads_two_of_the_five_others() {
        let found = finding("reiserfs leads");
        assert_eq!(found.holds, Holds::CannotBeTold);
        let wanted = "in 2 of the 5 others; in 2 it and the first differ by less than 10 %";
        assert!(found.why.contains(wanted), "{}", found.why);
        let found = finding("Reading in random order");
        assert_eq!(found.holds, Holds::Falls);
        assert!(found.why.contains("1.56 times the next (UFS1+SoftUpdates)"), "{}", found.why);
    }

    #[test]
    fn ten_percent_of_reading_is_twelve_and_a_half_by_means() {
        let found = finding("The UFS family");
        assert_eq!(found.holds, Holds::Holds);
        assert!(found.why.starts_with("12.6 % by the means"), "{}", found.why);
        assert!(found.why.contains("0.87 of the rate; as stated is 0.81 to 0.99"), "{}", found.why);
        assert!(found.why.ends_with("pair by pair 9.4 to 16.4 %"), "{}", found.why);
    }

    #[test]
    fn what_has_no_repeats_is_not_the_same() {
        let found = finding("UFS2 is neither");
        assert_eq!(found.holds, Holds::CannotBeTold);
        assert!(found.why.contains("0.89 to 1.01, and below 1 in 12 of 14"), "{}", found.why);
    }

    #[test]
    fn a_rank_is_told_where_it_is_more_than_a_tie() {
        let of = |fs, rates: [f64; 3]| {
            let mut all = [("a", rates[0]), ("b", rates[1]), ("c", rates[2])];
            all.sort_by(|x, y| y.1.total_cmp(&x.1));
            leads(&all, fs)
        };
        assert_eq!(of("a", [1.2, 1.0, 0.5]), Holds::Holds);
        assert_eq!(of("a", [1.05, 1.0, 0.5]), Holds::CannotBeTold);
        assert_eq!(of("b", [1.05, 1.0, 0.5]), Holds::CannotBeTold);
        assert_eq!(of("b", [1.2, 1.0, 0.5]), Holds::Falls);
        assert_eq!(of("none", [1.2, 1.0, 0.5]), Holds::Falls);
    }

    #[test]
    fn every_conclusion_is_judged() {
        let found = contents().unwrap().findings;
        let of = |holds| found.iter().filter(|one| one.holds == holds).count();
        assert_eq!((found.len(), of(Holds::Falls), of(Holds::CannotBeTold)), (15, 2, 3));
        assert!(found.iter().all(|one| !one.why.contains("NaN")), "{found:?}");
    }
}
