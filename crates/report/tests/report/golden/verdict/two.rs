//! Two contenders: one of the four words.

use super::{against, headline, left, pair, question, row, shown, verdicts};
use fsarena_model::run::Clock;
use fsarena_model::verdict::{Metric, Rule, Stop, StopWhy, Verdict};
use fsarena_report::{Detail, Style, verdict_json, verdict_tables};
use fsarena_verdict::watchers::{Finding, FindingKind, Outlier};
use fsarena_verdict::{Forecast, ForecastFor, IntervalBy, RerunBlock, Verdicts};

const EXT4: (usize, &str) = (0, "ext4");
const XFS: (usize, &str) = (1, "xfs");

/// ext4 took 0.81 times as long as xfs.
fn faster() -> Verdicts {
    let rows = vec![
        row(0, "ext4", 1.06e9, 1.0),
        against(row(1, "xfs", 1.30e9, 1.0 / 0.813), Verdict::Slower, 1.0 / 0.847, 1.0 / 0.775),
    ];
    let pairs = vec![pair(EXT4, XFS, Verdict::Faster, [0.813, 0.775, 0.847])];
    verdicts(vec![question(rows, pairs)])
}

fn same() -> Verdicts {
    let rows = vec![
        row(0, "ext4", 1.06e9, 1.0),
        against(row(1, "xfs", 1.07e9, 1.0 / 0.992), Verdict::Same, 1.0 / 1.018, 1.0 / 0.966),
    ];
    let mut one = pair(EXT4, XFS, Verdict::Same, [0.992, 0.966, 1.018]);
    (one.n, one.at_blocks, one.interval_by) = (12, 12, IntervalBy::SignedRanks);
    one.same_within = Some(0.05);
    let mut of = question(rows, vec![one]);
    of.looks = vec![12];
    of.rows.iter_mut().for_each(|row| row.n = 12);
    of.rows[1].ratio_n = Some(12);
    (of.pairs[0].level, of.pairs[0].same_level) = (Some(0.95), Some(0.90));
    let mut verdicts = verdicts(vec![of]);
    verdicts.rule = Rule::Fixed { blocks: 12 };
    (verdicts.blocks_done, verdicts.blocks_counted) = (13, 12);
    verdicts.stop = Some(Stop { blocks: 13, why: StopWhy::Cap });
    let why = "others had 12 % of the processors (limit 5 %)".to_owned();
    verdicts.rerun = vec![RerunBlock { block: 3, why }];
    verdicts
}

fn undecided() -> Verdicts {
    let rows = vec![
        row(0, "ext4", 1.06e9, 1.0),
        against(row(1, "xfs", 1.08e9, 1.02), Verdict::Undecided, 1.0 / 1.002, 1.0 / 0.962),
    ];
    let mut one = pair(EXT4, XFS, Verdict::Undecided, [0.98, 0.962, 1.002]);
    one.same_within = Some(0.05);
    one.forecast = Some(Forecast {
        of: ForecastFor::Difference,
        blocks: 22,
        more_blocks: 14,
        seconds: 370.0,
        most_blocks: 22,
        most_more_blocks: 14,
        most_seconds: 370.0,
    });
    let mut verdicts = verdicts(vec![question(rows, vec![one])]);
    verdicts.margin = 0.02;
    verdicts.budget_ns = Some(300_000_000_000);
    verdicts.stop = Some(Stop { blocks: 8, why: StopWhy::Budget });
    verdicts
}

#[test]
fn faster_80() {
    insta::assert_snapshot!(shown(&faster(), 80), @"
    Headline, small-files create (time until safe on disk): ext4 is FASTER than xfs:
    1.23 times as fast [1.18, 1.29], 8 blocks (early stop), margin ±5 %.

    small-files / create: time until safe on disk; ratios to ext4
    contender  n  median  ratio      interval  verdict      cv
    ----------------------------------------------------------
    ext4       8  1.06 s   1.00             -  baseline  2.1 %
    xfs        8  1.30 s   1.23  [1.18, 1.29]  SLOWER    2.1 %

    Rule: looks after 4, 6, 8, 12, 16, 24 and 32 blocks; contenders stop early once
    decided; margin ±5 %; no budget; method 3. 8 blocks done, 8 counted; ended
    because all that was asked is decided. Recomputed decisions match the stored
    ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %;
    UNDECIDED: none of these is shown. Least median first. ratio: the value of a
    contender ÷ that of the best, of blocks that have both (Hodges-Lehmann;
    intervals: Student's t), in pairs that of the first ÷ that of the second; cv:
    standard deviation of the logarithms; n: blocks that count. The verdicts of a
    question hold together at 95 %, differences and SAME each (all looks, all
    pairs); each interval in brackets is at its own level, 99.2 %. Early stop:
    decided before the last look; a difference that is estimated there is a little
    too large on average, and its interval allows for that.
    ");
}

#[test]
fn same_100() {
    insta::assert_snapshot!(shown(&same(), 100), @"
    Headline, small-files create (time until safe on disk): ext4 and xfs are SAME within ±5 %: ratio
    0.99 [0.97, 1.01], 12 blocks.

    small-files / create: time until safe on disk; ratios to ext4
    contender   n  median  ratio      interval  verdict      cv
    -----------------------------------------------------------
    ext4       12  1.06 s   1.00             -  baseline  2.1 %
    xfs        12  1.07 s   1.01  [0.99, 1.03]  SAME      2.1 %

    Rule: one look, after 12 blocks; margin ±5 %; no budget; method 3. 13 blocks done, 12 counted, 1 run
    again for a reason that no score is seen in; ended with the last block of the plan. Recomputed
    decisions match the stored ones.
    Blocks that were run again
      - block 3: others had 12 % of the processors (limit 5 %)

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %; UNDECIDED: none of
    these is shown. Least median first. ratio: the value of a contender ÷ that of the best, of blocks
    that have both (Hodges-Lehmann; intervals: from 12 blocks exact signed ranks), in pairs that of the
    first ÷ that of the second; cv: standard deviation of the logarithms; n: blocks that count. The
    verdicts of a question hold together at 95 %, differences and SAME each (all looks, all pairs). SAME
    has an interval of its own, at 90 %, all of it within the margin: it is narrower, as only one of its
    ends can be wrong. With signed ranks the level given is the one attained.
    ");
}

#[test]
fn undecided_80() {
    insta::assert_snapshot!(shown(&undecided(), 80), @"
    Headline, small-files create (time until safe on disk): ext4 and xfs are
    UNDECIDED: ext4 takes 0.980 times as long as xfs [0.962, 1.002], 8 blocks,
    margin ±2 %; same within ±5 %; about 14 blocks (6 min) more to show a difference
    of this size.

    small-files / create: time until safe on disk; ratios to ext4
    contender  n  median  ratio        interval  verdict       cv
    -------------------------------------------------------------
    ext4       8  1.06 s   1.00               -  baseline   2.1 %
    xfs        8  1.08 s  1.020  [0.998, 1.040]  UNDECIDED  2.1 %

    Rule: looks after 4, 6, 8, 12, 16, 24 and 32 blocks; contenders stop early once
    decided; margin ±2 %; budget 5m00s; method 3. 8 blocks done, 8 counted; ended
    because the next block would not have ended within the budget. Recomputed
    decisions match the stored ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±2 %;
    UNDECIDED: none of these is shown. Least median first. ratio: the value of a
    contender ÷ that of the best, of blocks that have both (Hodges-Lehmann;
    intervals: Student's t), in pairs that of the first ÷ that of the second; cv:
    standard deviation of the logarithms; n: blocks that count. The verdicts of a
    question hold together at 95 %, differences and SAME each (all looks, all
    pairs); each interval in brackets is at its own level, 99.2 %.
    ");
}

/// Of heavy noise only bounds are printed, in sentences and in tables.
#[test]
fn far_ends_80() {
    let mut verdicts = undecided();
    let of = &mut verdicts.questions[0];
    let (low, high) = (1.8e-8, 29_326_083.0);
    (of.pairs[0].low, of.pairs[0].high) = (Some(low), Some(high));
    of.pairs[0].same_within = None;
    (of.rows[1].ratio_low, of.rows[1].ratio_high) = (Some(1.0 / high), Some(1.0 / low));
    let text = shown(&verdicts, 80);
    let to = text.find("\nRule").unwrap();
    insta::assert_snapshot!(&text[..to], @r"
    Headline, small-files create (time until safe on disk): ext4 and xfs are
    UNDECIDED: ext4 takes 0.98 times as long as xfs [<0.01, >100], 8 blocks, margin
    ±2 %; about 14 blocks (6 min) more to show a difference of this size.

    small-files / create: time until safe on disk; ratios to ext4
    contender  n  median  ratio       interval  verdict       cv
    ------------------------------------------------------------
    ext4       8  1.06 s   1.00              -  baseline   2.1 %
    xfs        8  1.08 s   1.02  [<0.01, >100]  UNDECIDED  2.1 %
    ");
    let json = verdict_json(&verdicts);
    assert_eq!(json["questions"][0]["pairs"][0]["low"].to_string(), "1.8e-8");
    assert_eq!(json["questions"][0]["pairs"][0]["high"].to_string(), "29326100.0");
}

#[test]
fn a_look_that_the_rule_does_not_name_is_said_once() {
    let mut verdicts = undecided();
    verdicts.questions[0].looks = vec![4, 6, 7];
    verdicts.questions.push(verdicts.questions[0].clone());
    (verdicts.blocks_done, verdicts.blocks_counted) = (7, 7);
    let text = shown(&verdicts, 80).replace('\n', " ");
    let last = "within the budget, last analysis after 7 blocks.";
    assert_eq!(text.matches(last).count(), 1, "{text}");
    verdicts.questions.iter_mut().for_each(|question| question.looks = vec![4, 6]);
    let text = shown(&verdicts, 80).replace('\n', " ");
    assert!(!text.contains("last analysis after"), "{text}");
}

#[test]
fn shapes_differ_100() {
    let mut verdicts = faster();
    let one = &mut verdicts.questions[0].pairs[0];
    one.verdict = Verdict::Undecided;
    (one.ratio, one.low, one.high) = (Some(1.031), Some(0.96), Some(1.11));
    (one.mean_ratio, one.hl_ratio, one.median_ratio) = (Some(1.031), Some(1.012), Some(0.998));
    one.shapes_differ = true;
    let of = &mut verdicts.questions[0];
    of.rows[0].outliers = 2;
    of.rows[1].median = 1.07e9;
    of.rows[1] = against(of.rows[1].clone(), Verdict::Undecided, 0.90, 1.04);
    of.rows[1].ratio = Some(0.97);
    of.watch.outliers = vec![
        Outlier { contender: 0, block: 3, to_median: 1.52, modified_z: 9.1 },
        Outlier { contender: 0, block: 7, to_median: 1.31, modified_z: 4.0 },
    ];
    of.watch.findings = vec![
        Finding {
            kind: FindingKind::Drift,
            text: "ext4 grows by 0.4 % a block against xfs (p = 0.0034).".to_owned(),
            p: Some(0.0034),
        },
        Finding {
            kind: FindingKind::NoSteadyState,
            text: "2 of 8 trials of ext4 have none".to_owned(),
            p: None,
        },
    ];
    verdicts.stop = None;
    insta::assert_snapshot!(shown(&verdicts, 100), @"
    Headline, small-files create (time until safe on disk): ext4 and xfs are UNDECIDED: ext4 takes 1.03
    times as long as xfs [0.96, 1.11], 8 blocks, margin ±5 %; shapes differ (first ÷ second: geometric
    means 1.03, Hodges-Lehmann 1.01, medians 1.00), so SAME is refused.

    small-files / create: time until safe on disk; ratios to ext4
    contender  n  median  ratio      interval  verdict       cv  outliers
    ---------------------------------------------------------------------
    ext4       8  1.06 s   1.00             -  baseline   2.1 %         2
    xfs        8  1.07 s   0.97  [0.90, 1.04]  UNDECIDED  2.1 %         0
    Watchers
      - drift: ext4 grows by 0.4 % a block against xfs (p = 0.0034)
      - no steady state: 2 of 8 trials of ext4 have none
      - values that stand out, kept: ext4 in block 3, 1.52 times its median; ext4 in block 7, 1.31 times
        its median

    Rule: looks after 4, 6, 8, 12, 16, 24 and 32 blocks; contenders stop early once decided; margin
    ±5 %; no budget; method 3. 8 blocks done, 8 counted; not at its end: not all blocks were carried
    out. Recomputed decisions match the stored ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %; UNDECIDED: none of
    these is shown. Least median first. ratio: the value of a contender ÷ that of the best, of blocks
    that have both (Hodges-Lehmann; intervals: Student's t), in pairs that of the first ÷ that of the
    second; cv: standard deviation of the logarithms; n: blocks that count. The verdicts of a question
    hold together at 95 %, differences and SAME each (all looks, all pairs); each interval in brackets
    is at its own level, 99.2 %. Intervals of watchers are plain 95 %: corrected neither for looks nor
    for choosing the best. Outliers (modified z above 3.5) are in all figures.
    ");
}

#[test]
fn left_out_with_reasons_80() {
    let mut of = question(vec![row(0, "ext4", 1.06e9, 1.0)], Vec::new());
    of.left = vec![
        left(1, "xfs", "cold was asked for and not proved"),
        left(2, "bcachefs", "mkfs.bcachefs is missing; install the package bcachefs-tools"),
    ];
    of.looks = Vec::new();
    let verdicts = verdicts(vec![of]);
    let brief = verdict_tables(&verdicts, Detail::Brief, 80, Style::default());
    assert_eq!(brief, shown(&verdicts, 80), "there is no more to print");
    insta::assert_snapshot!(brief, @"
    Headline, small-files create (time until safe on disk): nothing to compare, 1
    contender with figures, 2 left out.

    small-files / create: time until safe on disk; nothing to compare
    contender  n  median     cv
    ---------------------------
    ext4       8  1.06 s  2.1 %
    Excluded
      - xfs: cold was asked for and not proved
      - bcachefs: mkfs.bcachefs is missing; install the package bcachefs-tools

    Rule: looks after 4, 6, 8, 12, 16, 24 and 32 blocks; contenders stop early once
    decided; margin ±5 %; no budget; method 3. 8 blocks done, 8 counted; ended
    because all that was asked is decided. Recomputed decisions match the stored
    ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %;
    UNDECIDED: none of these is shown. Least median first. ratio: the value of a
    contender ÷ that of the best, of blocks that have both, in pairs that of the
    first ÷ that of the second; cv: standard deviation of the logarithms; n: blocks
    that count.
    ");
}

#[test]
fn before_the_first_look_80() {
    let mut verdicts = faster();
    let of = &mut verdicts.questions[0];
    of.looks = Vec::new();
    let one = &mut of.pairs[0];
    (one.n, one.at_blocks, one.verdict) = (3, 0, Verdict::Undecided);
    (one.low, one.high, one.level) = (None, None, None);
    (one.same_low, one.same_high, one.same_level) = (None, None, None);
    one.why = Some("not looked at yet".to_owned());
    let second = &mut of.rows[1];
    (second.ratio_low, second.ratio_high) = (None, None);
    second.against_reference = Some(Verdict::Undecided);
    verdicts.blocks_done = 3;
    verdicts.blocks_counted = 3;
    verdicts.stop = None;
    verdicts.agrees_with_stored_looks = None;
    insta::assert_snapshot!(shown(&verdicts, 80), @"
    Headline, small-files create (time until safe on disk): ext4 and xfs are
    UNDECIDED: ext4 takes 0.81 times as long as xfs (no interval), 3 blocks, margin
    ±5 %; not looked at yet.

    small-files / create: time until safe on disk; ratios to ext4; not looked at yet
    contender  n  median  ratio  verdict       cv
    ---------------------------------------------
    ext4       8  1.06 s   1.00  baseline   2.1 %
    xfs        8  1.30 s   1.23  UNDECIDED  2.1 %

    Rule: looks after 4, 6, 8, 12, 16, 24 and 32 blocks; contenders stop early once
    decided; margin ±5 %; no budget; method 3. 3 blocks done, 3 counted; not at its
    end: not all blocks were carried out.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %;
    UNDECIDED: none of these is shown. Least median first. ratio: the value of a
    contender ÷ that of the best, of blocks that have both (Hodges-Lehmann;
    intervals: Student's t), in pairs that of the first ÷ that of the second; cv:
    standard deviation of the logarithms; n: blocks that count.
    ");
}

#[test]
fn other_metrics_need_less() {
    let said = |metric: Metric, verdict: Verdict| {
        let mut verdicts = faster();
        verdicts.questions[0].metric = metric;
        verdicts.questions[0].clock = Clock::Durable;
        verdicts.questions[0].pairs[0].verdict = verdict;
        headline(&verdicts)
    };
    insta::assert_snapshot!(said(Metric::Cpu, Verdict::Faster), @r"
    Headline, small-files create (processor time): ext4 is FASTER than xfs: needs
    less processor time, 0.81 times as much [0.78, 0.85], 8 blocks (early stop),
    margin ±5 %.
    ");
    insta::assert_snapshot!(said(Metric::Written, Verdict::Faster), @r"
    Headline, small-files create (bytes written to disk): ext4 is FASTER than xfs:
    needs less writing, 0.81 times as many bytes [0.78, 0.85], 8 blocks (early
    stop), margin ±5 %.
    ");
    insta::assert_snapshot!(said(Metric::P99, Verdict::Slower), @r"
    Headline, small-files create (latency of 99 % of calls): ext4 is SLOWER than
    xfs: needs more for 99 % of its ops, 0.81 times as long [0.78, 0.85], 8 blocks
    (early stop), margin ±5 %.
    ");
}

#[test]
fn every_line_with_a_verdict_has_blocks_interval_and_margin() {
    let words = [Verdict::Faster, Verdict::Slower, Verdict::Same, Verdict::Undecided];
    for metric in Metric::ALL {
        for verdict in words {
            let mut verdicts = faster();
            verdicts.questions[0].metric = metric;
            verdicts.questions[0].pairs[0].verdict = verdict;
            let text = verdict_tables(&verdicts, Detail::AllPairs, 200, Style::default());
            let is_said = |line: &&str| line.contains(verdict.word()) && line.contains(" xfs");
            let lines: Vec<&str> = text.lines().filter(is_said).collect();
            assert_eq!(lines.len(), 2, "the headline and the list of pairs: {text}");
            for part in ["[", "]", "8 blocks", "±5 %"] {
                assert!(lines.iter().all(|line| line.contains(part)), "{part} in {lines:?}");
            }
        }
    }
}

/// A contender that may not be compared with the best has no ratio, and is no reference either.
#[test]
fn without_a_ratio_there_is_a_dash() {
    let mut verdicts = faster();
    let of = &mut verdicts.questions[0];
    of.pairs.clear();
    let second = &mut of.rows[1];
    (second.ratio, second.ratio_n, second.against_reference) = (None, None, None);
    (second.ratio_low, second.ratio_high) = (None, None);
    let text = shown(&verdicts, 80);
    let line = text.lines().find(|line| line.starts_with("xfs ")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells, ["xfs", "8", "1.30", "s", "-", "not", "compared", "2.1", "%"], "{text}");
}

/// The pair was decided after four blocks; xfs went on to eight because of others.
#[test]
fn a_ratio_of_fewer_blocks_says_so_80() {
    let mut verdicts = faster();
    verdicts.questions[0].rows[1].ratio_n = Some(4);
    let pair = &mut verdicts.questions[0].pairs[0];
    (pair.n, pair.at_blocks) = (4, 4);
    let text = shown(&verdicts, 80);
    let from = text.find("\nsmall-files").unwrap() + 1;
    let to = text.find("\nRule").unwrap();
    insta::assert_snapshot!(&text[from..to], @r"
    small-files / create: time until safe on disk; ratios to ext4
    contender  n  median  ratio      interval  of n  verdict      cv
    ----------------------------------------------------------------
    ext4       8  1.06 s   1.00             -     -  baseline  2.1 %
    xfs        8  1.30 s   1.23  [1.18, 1.29]     4  SLOWER    2.1 %
    ");
    let words = text.replace('\n', " ");
    assert!(words.contains("of n: blocks behind ratio and interval"), "{text}");
    verdicts.questions[0].rows[1].ratio_n = Some(8);
    let text = shown(&verdicts, 80);
    assert!(!text.contains("of n"), "{text}");
}

/// A contender that gave nothing is not waited for, and nothing is decided about it.
#[test]
fn an_end_with_open_pairs_does_not_say_decided() {
    let decided = "ended because all that was asked is decided";
    let words = |verdicts: &Verdicts| shown(verdicts, 80).replace('\n', " ");
    let mut verdicts = faster();
    assert!(words(&verdicts).contains(decided));
    verdicts.questions[0].pairs[0].verdict = Verdict::Undecided;
    let text = words(&verdicts);
    assert!(
        text.contains("ended because no contender was left that could still be decided"),
        "{text}"
    );
    assert!(!text.contains(decided), "{text}");
}

#[test]
fn blocks_that_count_for_want_of_spare_ones_are_listed() {
    let mut verdicts = same();
    let why = "the hypervisor took 31 % of the processors in create of xfs; the limit is 20 %";
    verdicts.not_rerun = vec![RerunBlock { block: 7, why: why.to_owned() }];
    let text = shown(&verdicts, 120);
    let line = format!("\n  - block 7: {why}; counted, no spare block left\n");
    let joined = text.replace("\n    ", " ");
    assert!(joined.contains(&line), "{text}");
    assert!(text.contains("\nBlocks that should have been run again\n"), "{text}");
}

#[test]
fn looks_that_decided_otherwise_are_shouted_about() {
    let mut verdicts = faster();
    verdicts.agrees_with_stored_looks = Some(false);
    let text = shown(&verdicts, 80);
    assert!(text.contains("WARNING: what the looks decided"), "{text}");
    assert!(!text.contains("decided the same"), "{text}");
}
