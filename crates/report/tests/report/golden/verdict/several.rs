//! More than two contenders: letters, tiers, a baseline, long lists of pairs.

use super::{against, headline, pair, question, row, shown, verdicts};
use fsarena_model::verdict::{Rule, Stop, StopWhy, Verdict};
use fsarena_report::{Detail, Style, verdict_tables};
use fsarena_verdict::{Forecast, ForecastFor, IntervalBy, PairView, RankRow, Verdicts};

const LABELS: [&str; 6] = ["ext4", "xfs", "ext3", "btrfs", "f2fs", "jfs"];
const VALUES: [f64; 6] = [1.00, 1.01, 1.02, 1.09, 1.12, 2.31];

/// Every pair of these by its ratio: within 2 % SAME, within 7 % UNDECIDED, else FASTER.
fn all_pairs(labels: &[&str], values: &[f64]) -> Vec<PairView> {
    let mut pairs = Vec::new();
    for a in 0..labels.len() {
        for b in a + 1..labels.len() {
            let ratio = values[a] / values[b];
            let verdict = match ratio {
                r if r > 0.975 => Verdict::Same,
                r if r > 0.93 => Verdict::Undecided,
                _ => Verdict::Faster,
            };
            let wide = if verdict == Verdict::Undecided { 1.08 } else { 1.026 };
            let ratios = [ratio, ratio / wide, ratio * wide];
            let mut one = pair((a, labels[a]), (b, labels[b]), verdict, ratios);
            if verdict == Verdict::Undecided {
                (one.n, one.at_blocks, one.interval_by) = (31, 32, IntervalBy::SignedRanks);
                one.forecast = Some(Forecast {
                    of: ForecastFor::Difference,
                    blocks: 41,
                    more_blocks: 9,
                    seconds: 14_000.0,
                    most_blocks: 41,
                    most_more_blocks: 9,
                    most_seconds: 14_000.0,
                });
            }
            pairs.push(one);
        }
    }
    pairs
}

fn rows(labels: &[&str], values: &[f64], pairs: &[PairView], reference: usize) -> Vec<RankRow> {
    let of = |at: usize| {
        let ratio = values[at] / values[reference];
        let one = row(at, labels[at], values[at] * 1e9, ratio);
        let said = pairs.iter().find_map(|pair| match (pair.a, pair.b) {
            (a, b) if (a, b) == (at, reference) => Some(pair.verdict),
            (a, b) if (a, b) == (reference, at) => Some(pair.verdict.swapped()),
            _ => None,
        });
        match said {
            Some(verdict) => against(one, verdict, ratio / 1.026, ratio * 1.026),
            None => one,
        }
    };
    (0..labels.len()).map(of).collect()
}

fn six() -> Verdicts {
    let pairs = all_pairs(&LABELS, &VALUES);
    let mut rows = rows(&LABELS, &VALUES, &pairs, 0);
    let marks = [("a", 1), ("a", 1), ("ab", 1), ("bc", 2), ("c", 2), ("d", 0)];
    for (row, (letters, tier)) in rows.iter_mut().zip(marks) {
        row.letters = letters.to_owned();
        row.tier = (tier > 0).then_some(tier);
    }
    rows[3].outliers = 1;
    let mut verdicts = verdicts(vec![question(rows, pairs)]);
    verdicts.stop = Some(Stop { blocks: 32, why: StopWhy::Cap });
    (verdicts.blocks_done, verdicts.blocks_counted) = (32, 32);
    verdicts.questions[0].looks = verdicts.rule.looks();
    verdicts
}

#[test]
fn six_contenders_80() {
    insta::assert_snapshot!(shown(&six(), 80), @"
    Headline, small-files create (time until safe on disk): ext4 and xfs are SAME
    within ±5 %: ratio 0.99 [0.97, 1.01], 8 blocks (early stop); ext4 against all 5
    others: 3 FASTER and 2 SAME.

    small-files / create: time until safe on disk; ratios to ext4
    contender  alike  tier  n  median  ratio        interval  verdict      cv
    -------------------------------------------------------------------------
    ext4       a         1  8  1.00 s   1.00               -  baseline  2.1 %
    xfs        a         1  8  1.01 s   1.01    [0.99, 1.03]  SAME      2.1 %
    ext3       ab        1  8  1.02 s  1.020  [0.999, 1.041]  SAME      2.1 %
    btrfs      bc        2  8  1.09 s   1.09    [1.06, 1.12]  SLOWER    2.1 %
    f2fs       c         2  8  1.12 s   1.12    [1.09, 1.15]  SLOWER    2.1 %
    jfs        d         -  8  2.31 s   2.31    [2.25, 2.37]  SLOWER    2.1 %
    Pairs
      - ext4 and xfs are SAME within ±5 %: ratio 0.99 [0.97, 1.01], 8 blocks (early
        stop)
      - ext4 and ext3 are SAME within ±5 %: ratio 0.980 [0.960, 1.001], 8 blocks
        (early stop)
      - ext4 is FASTER than btrfs: 1.09 times as fast [1.06, 1.12], 8 blocks (early
        stop), margin ±5 %
      - ext4 is FASTER than f2fs: 1.12 times as fast [1.09, 1.15], 8 blocks (early
        stop), margin ±5 %
      - ext4 is FASTER than jfs: 2.31 times as fast [2.25, 2.37], 8 blocks (early
        stop), margin ±5 %
      - xfs and ext3 are SAME within ±5 %: ratio 0.99 [0.97, 1.01], 8 blocks (early
        stop)
      - xfs is FASTER than btrfs: 1.08 times as fast [1.05, 1.11], 8 blocks (early
        stop), margin ±5 %
      - xfs is FASTER than f2fs: 1.11 times as fast [1.08, 1.14], 8 blocks (early
        stop), margin ±5 %
      - xfs is FASTER than jfs: 2.29 times as fast [2.23, 2.35], 8 blocks (early
        stop), margin ±5 %
      - ext3 and btrfs are UNDECIDED: ext3 takes 0.94 times as long as btrfs
        [0.87, 1.01], 31 of 32 blocks, margin ±5 %; about 9 blocks (3.9 h) more to
        show a difference of this size
      - ext3 is FASTER than f2fs: 1.10 times as fast [1.07, 1.13], 8 blocks (early
        stop), margin ±5 %
      - ext3 is FASTER than jfs: 2.26 times as fast [2.21, 2.32], 8 blocks (early
        stop), margin ±5 %
      - btrfs and f2fs are UNDECIDED: btrfs takes 0.97 times as long as f2fs
        [0.90, 1.05], 31 of 32 blocks, margin ±5 %; about 9 blocks (3.9 h) more to
        show a difference of this size
      - btrfs is FASTER than jfs: 2.12 times as fast [2.07, 2.17], 8 blocks (early
        stop), margin ±5 %
      - f2fs is FASTER than jfs: 2.06 times as fast [2.01, 2.12], 8 blocks (early
        stop), margin ±5 %

    Rule: looks after 4, 6, 8, 12, 16, 24 and 32 blocks; contenders stop early once
    decided; margin ±5 %; no budget; method 3. 32 blocks done, 32 counted; ended
    with the last block of the plan. Recomputed decisions match the stored ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %;
    UNDECIDED: none of these is shown. Least median first. ratio: the value of a
    contender ÷ that of the best, of blocks that have both (Hodges-Lehmann;
    intervals: Student's t; from 12 blocks exact signed ranks), in pairs that of the
    first ÷ that of the second; cv: standard deviation of the logarithms; n: blocks
    that count. The verdicts of a question hold together at 95 %, differences and
    SAME each (all looks, all pairs); each interval in brackets is at its own level,
    99.2 %. SAME has an interval of its own, at 98.5 %, all of it within the margin:
    it is narrower, as only one of its ends can be wrong. With signed ranks the
    level given is the one attained. alike: contenders that share a letter are not
    shown to differ (they need not be equal). Tiers: a tier = all pairs proved SAME
    within the margin. Early stop: decided before the last look; a difference that
    is estimated there is a little too large on average, and its interval allows for
    that. Outliers (modified z above 3.5) are in all figures.
    ");
}

#[test]
fn six_contenders_100() {
    insta::assert_snapshot!(shown(&six(), 100), @"
    Headline, small-files create (time until safe on disk): ext4 and xfs are SAME within ±5 %: ratio
    0.99 [0.97, 1.01], 8 blocks (early stop); ext4 against all 5 others: 3 FASTER and 2 SAME.

    small-files / create: time until safe on disk; ratios to ext4
    contender  alike  tier  n  median  ratio        interval  verdict      cv  outliers
    -----------------------------------------------------------------------------------
    ext4       a         1  8  1.00 s   1.00               -  baseline  2.1 %         0
    xfs        a         1  8  1.01 s   1.01    [0.99, 1.03]  SAME      2.1 %         0
    ext3       ab        1  8  1.02 s  1.020  [0.999, 1.041]  SAME      2.1 %         0
    btrfs      bc        2  8  1.09 s   1.09    [1.06, 1.12]  SLOWER    2.1 %         1
    f2fs       c         2  8  1.12 s   1.12    [1.09, 1.15]  SLOWER    2.1 %         0
    jfs        d         -  8  2.31 s   2.31    [2.25, 2.37]  SLOWER    2.1 %         0
    Pairs
      - ext4 and xfs are SAME within ±5 %: ratio 0.99 [0.97, 1.01], 8 blocks (early stop)
      - ext4 and ext3 are SAME within ±5 %: ratio 0.980 [0.960, 1.001], 8 blocks (early stop)
      - ext4 is FASTER than btrfs: 1.09 times as fast [1.06, 1.12], 8 blocks (early stop), margin ±5 %
      - ext4 is FASTER than f2fs: 1.12 times as fast [1.09, 1.15], 8 blocks (early stop), margin ±5 %
      - ext4 is FASTER than jfs: 2.31 times as fast [2.25, 2.37], 8 blocks (early stop), margin ±5 %
      - xfs and ext3 are SAME within ±5 %: ratio 0.99 [0.97, 1.01], 8 blocks (early stop)
      - xfs is FASTER than btrfs: 1.08 times as fast [1.05, 1.11], 8 blocks (early stop), margin ±5 %
      - xfs is FASTER than f2fs: 1.11 times as fast [1.08, 1.14], 8 blocks (early stop), margin ±5 %
      - xfs is FASTER than jfs: 2.29 times as fast [2.23, 2.35], 8 blocks (early stop), margin ±5 %
      - ext3 and btrfs are UNDECIDED: ext3 takes 0.94 times as long as btrfs [0.87, 1.01], 31 of 32
        blocks, margin ±5 %; about 9 blocks (3.9 h) more to show a difference of this size
      - ext3 is FASTER than f2fs: 1.10 times as fast [1.07, 1.13], 8 blocks (early stop), margin ±5 %
      - ext3 is FASTER than jfs: 2.26 times as fast [2.21, 2.32], 8 blocks (early stop), margin ±5 %
      - btrfs and f2fs are UNDECIDED: btrfs takes 0.97 times as long as f2fs [0.90, 1.05], 31 of 32
        blocks, margin ±5 %; about 9 blocks (3.9 h) more to show a difference of this size
      - btrfs is FASTER than jfs: 2.12 times as fast [2.07, 2.17], 8 blocks (early stop), margin ±5 %
      - f2fs is FASTER than jfs: 2.06 times as fast [2.01, 2.12], 8 blocks (early stop), margin ±5 %

    Rule: looks after 4, 6, 8, 12, 16, 24 and 32 blocks; contenders stop early once decided; margin
    ±5 %; no budget; method 3. 32 blocks done, 32 counted; ended with the last block of the plan.
    Recomputed decisions match the stored ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %; UNDECIDED: none of
    these is shown. Least median first. ratio: the value of a contender ÷ that of the best, of blocks
    that have both (Hodges-Lehmann; intervals: Student's t; from 12 blocks exact signed ranks), in pairs
    that of the first ÷ that of the second; cv: standard deviation of the logarithms; n: blocks that
    count. The verdicts of a question hold together at 95 %, differences and SAME each (all looks, all
    pairs); each interval in brackets is at its own level, 99.2 %. SAME has an interval of its own, at
    98.5 %, all of it within the margin: it is narrower, as only one of its ends can be wrong. With
    signed ranks the level given is the one attained. alike: contenders that share a letter are not
    shown to differ (they need not be equal). Tiers: a tier = all pairs proved SAME within the margin.
    Early stop: decided before the last look; a difference that is estimated there is a little too large
    on average, and its interval allows for that. Outliers (modified z above 3.5) are in all figures.
    ");
}

/// Ends of the interval that the first line with this start has in brackets.
fn ends(text: &str, start: &str) -> [f64; 2] {
    let line = text.lines().find(|line| line.starts_with(start)).unwrap();
    let (_, from) = line.split_once('[').unwrap();
    let (interval, _) = from.split_once(']').unwrap();
    let (low, high) = interval.split_once(", ").unwrap();
    [low, high].map(|end| end.parse().unwrap())
}

#[test]
fn what_is_same_is_printed_within_the_margin() {
    let mut verdicts = with_baseline();
    // xfs ÷ ext4: 0.953 is within 1 ÷ 1.05, 0.95 would not be.
    let of = &mut verdicts.questions[0];
    let one = of.pairs.iter_mut().find(|pair| pair.a_label == "xfs").unwrap();
    (one.low, one.high) = (Some(0.941), Some(1.062));
    (one.same_low, one.same_high) = (Some(0.953), Some(1.0499));
    (of.rows[2].ratio_low, of.rows[2].ratio_high) = (one.low, one.high);
    let text = shown(&verdicts, 100);
    assert_eq!(ends(&text, "xfs "), [0.953, 1.05], "{text}");
    assert_eq!(ends(&text, "  - xfs and ext4 are SAME"), [0.953, 1.05], "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("SAME has an interval of its own, at 98.5 %"), "{text}");
    verdicts.questions[0].rows[2].against_reference = Some(Verdict::Undecided);
    let text = shown(&verdicts, 100);
    assert_eq!(ends(&text, "xfs "), [0.94, 1.06], "not the interval of SAME: {text}");
}

/// A baseline without figures is no reference; it is excluded.
#[test]
fn ratios_are_to_the_first_where_the_baseline_has_no_figures() {
    let mut verdicts = with_baseline();
    verdicts.baseline = Some("ext2".to_owned());
    verdicts.reference = verdicts.baseline.clone();
    let text = shown(&verdicts, 80);
    assert!(text.contains("ratios to ext4\n"), "{text}");
    assert!(text.contains("-  baseline"), "{text}");
}

/// ext4 is the baseline; one look after five blocks.
fn with_baseline() -> Verdicts {
    let values = [1.00, 1.01, 0.80, 1.04];
    let labels = ["ext4", "xfs", "ext3", "btrfs"];
    let said = [Verdict::Same, Verdict::Faster, Verdict::Undecided];
    let mut pairs: Vec<PairView> = (1..4)
        .map(|at| {
            let ratio = values[at];
            let ratios = [ratio, ratio * 0.96, ratio * 1.045];
            let mut one = pair((at, labels[at]), (0, "ext4"), said[at - 1], ratios);
            (one.n, one.at_blocks, one.interval_by) = (5, 5, IntervalBy::PooledT);
            one
        })
        .collect();
    pairs.rotate_left(1);
    let mut rows = rows(&labels, &values, &pairs, 0);
    rows.swap(0, 2);
    rows.swap(1, 2);
    let mut of = question(rows, pairs);
    of.looks = vec![5];
    for row in &mut of.rows {
        row.n = 5;
        row.ratio_n = row.ratio_n.map(|_| 5);
    }
    let mut verdicts = verdicts(vec![of]);
    verdicts.rule = Rule::Fixed { blocks: 5 };
    verdicts.baseline = Some("ext4".to_owned());
    verdicts.reference = verdicts.baseline.clone();
    verdicts.stop = Some(Stop { blocks: 5, why: StopWhy::Cap });
    (verdicts.blocks_done, verdicts.blocks_counted) = (5, 5);
    verdicts
}

#[test]
fn baseline_80() {
    insta::assert_snapshot!(shown(&with_baseline(), 80), @"
    Headline, small-files create (time until safe on disk): ext3 is FASTER than
    ext4: 1.25 times as fast [1.20, 1.30], 5 blocks, margin ±5 %; against ext4, of 3
    contenders: 1 FASTER, 1 SAME and 1 UNDECIDED.

    small-files / create: time until safe on disk; ratios to ext4
    contender  n  median  ratio      interval  verdict       cv
    -----------------------------------------------------------
    ext3       5  800 ms   0.80  [0.78, 0.82]  FASTER     2.1 %
    ext4       5  1.00 s   1.00             -  baseline   2.1 %
    xfs        5  1.01 s   1.01  [0.98, 1.05]  SAME       2.1 %
    btrfs      5  1.04 s   1.04  [1.01, 1.07]  UNDECIDED  2.1 %
    Against the baseline ext4
      - ext3 is FASTER than ext4: 1.25 times as fast [1.20, 1.30], 5 blocks, margin
        ±5 %
      - btrfs and ext4 are UNDECIDED: btrfs takes 1.040 times as long as ext4
        [0.998, 1.087], 5 blocks, margin ±5 %
      - xfs and ext4 are SAME within ±5 %: ratio 1.01 [0.98, 1.05], 5 blocks

    Rule: one look, after 5 blocks; margin ±5 %; no budget; method 3. 5 blocks done,
    5 counted; ended with the last block of the plan. Recomputed decisions match the
    stored ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %;
    UNDECIDED: none of these is shown. Least median first. ratio: the value of a
    contender ÷ that of ext4, of blocks that have both (Hodges-Lehmann; intervals:
    Student's t; with a spread that leans on all contenders where there are four or
    more), in pairs that of the first ÷ that of the second; cv: standard deviation
    of the logarithms; n: blocks that count. The verdicts of a question hold
    together at 95 %, differences and SAME each (all looks, all pairs); each
    interval in brackets is at its own level, 99.2 %. SAME has an interval of its
    own, at 98.5 %, all of it within the margin: it is narrower, as only one of its
    ends can be wrong. Intervals of 5 blocks or fewer rest on near-normal noise:
    none that is free of assumptions has 95 % there.
    ");
}

#[test]
fn of_many_pairs_those_side_by_side_and_those_not_decided_are_listed() {
    let labels: Vec<String> = (0..8).map(|at| format!("c{at}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let values: Vec<f64> = (0..8).map(|at| 1.0 + f64::from(at) * 0.05).collect();
    let pairs = all_pairs(&labels, &values);
    let verdicts = verdicts(vec![question(rows(&labels, &values, &pairs, 0), pairs)]);
    let lines = |text: &str| text.lines().filter(|line| line.starts_with("  - c")).count();
    let short = shown(&verdicts, 100);
    assert_eq!(lines(&short), 7, "{short}");
    assert!(short.contains("21 of 28 pairs are decided"), "{short}");
    let long = verdict_tables(&verdicts, Detail::AllPairs, 100, Style::default());
    assert_eq!(lines(&long), 28, "{long}");
    assert!(!long.contains("not listed"), "{long}");
    let brief = verdict_tables(&verdicts, Detail::Brief, 100, Style::default());
    assert_eq!(lines(&brief), 0, "{brief}");
    assert!(brief.ends_with("\nfsarena study RUN --all-pairs prints every pair.\n"), "{brief}");
}

#[test]
fn where_leader_and_next_are_not_compared_the_leader_is_set_beside_the_one_after() {
    let mut verdicts = six();
    verdicts.questions[0].pairs.retain(|pair| (pair.a, pair.b) != (0, 1));
    insta::assert_snapshot!(headline(&verdicts), @r"
    Headline, small-files create (time until safe on disk): ext4 and ext3 are SAME
    within ±5 %: ratio 0.980 [0.960, 1.001], 8 blocks (early stop); ext4 against all
    4 others: 3 FASTER and 1 SAME.
    ");
}
