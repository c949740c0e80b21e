//! What stands after a RUN: three contenders, two phases.

use super::whole::{factors, suite};
use super::{against, left, pair, question, row, shown, verdicts};
use fsarena_model::verdict::{Stop, StopWhy, Verdict};
use fsarena_report::{Detail, Style, verdict_tables};
use fsarena_verdict::factors::FactorView;
use fsarena_verdict::watchers::{Finding, FindingKind, Outlier};
use fsarena_verdict::{QuestionView, Verdicts};

const JOURNAL: (usize, &str) = (0, "ext4 data=journal");
const ORDERED: (usize, &str) = (1, "ext4");
const XFS: (usize, &str) = (2, "xfs");

fn brief(verdicts: &Verdicts, width: usize) -> String {
    verdict_tables(verdicts, Detail::Brief, width, Style::default())
}

/// A file system and a mount option of one of them.
fn due_to() -> FactorView {
    let mut view = factors();
    let [_, mut fs, mount] = <[_; 3]>::try_from(view.factors).unwrap();
    fs.interacts = false;
    (fs.spread, fs.spread_low, fs.spread_high) = (1.63, Some(1.55), Some(1.71));
    view.factors = vec![fs, mount];
    view
}

/// Both ext4 are the same, xfs takes longer.
fn create() -> QuestionView {
    let mut rows = vec![
        row(0, "ext4 data=journal", 1.00e9, 1.0),
        against(row(1, "ext4", 1.01e9, 1.01), Verdict::Same, 0.97, 1.06),
        against(row(2, "xfs", 1.64e9, 1.64), Verdict::Slower, 1.56, 1.72),
    ];
    for (row, (letters, tier)) in rows.iter_mut().zip([("a", 1), ("a", 1), ("b", 0)]) {
        row.letters = letters.to_owned();
        row.tier = (tier > 0).then_some(tier);
    }
    rows[2].outliers = 1;
    let pairs = vec![
        pair(JOURNAL, ORDERED, Verdict::Same, [1.0 / 1.01, 1.0 / 1.06, 1.0 / 0.97]),
        pair(JOURNAL, XFS, Verdict::Faster, [1.0 / 1.64, 1.0 / 1.72, 1.0 / 1.56]),
        pair(ORDERED, XFS, Verdict::Faster, [1.0 / 1.62, 1.0 / 1.70, 1.0 / 1.54]),
    ];
    let mut of = question(rows, pairs);
    of.factors = Some(due_to());
    of.watch.findings = vec![Finding {
        kind: FindingKind::Drift,
        text: "xfs grows by 0.4 % a block against ext4 (p = 0.0034).".to_owned(),
        p: Some(0.0034),
    }];
    of.watch.outliers = vec![Outlier { contender: 2, block: 3, to_median: 1.52, modified_z: 9.1 }];
    of
}

/// So noisy that nothing is shown.
fn delete() -> QuestionView {
    let far = [1.8e-8, 29_326_083.0];
    let mut rows = vec![
        row(2, "xfs", 310e6, 1.0),
        against(row(1, "ext4", 333e6, 1.07), Verdict::Undecided, far[0], far[1]),
    ];
    rows.iter_mut().for_each(|row| row.letters = "a".to_owned());
    let mut of =
        question(rows, vec![pair(XFS, ORDERED, Verdict::Undecided, [0.93, far[0], far[1]])]);
    of.phase = "delete".to_owned();
    of.left = vec![left(0, "ext4 data=journal", "the phase ended early in 8 of 8 trials")];
    of
}

fn run() -> Verdicts {
    let mut verdicts = verdicts(vec![create(), delete()]);
    verdicts.rule = fsarena_model::verdict::Rule::Looks { cap: 8 };
    verdicts.stop = Some(Stop { blocks: 8, why: StopWhy::Cap });
    verdicts
}

#[test]
fn three_contenders_two_phases_80() {
    insta::assert_snapshot!(brief(&run(), 80), @"
    Headline, small-files create (time until safe on disk): ext4 data=journal and
    ext4 are SAME within ±5 %: ratio 0.990 [0.953, 1.023], 8 blocks; ext4
    data=journal against all 2 others: 1 FASTER and 1 SAME.

    small-files / create: time until safe on disk; ratios to ext4 data=journal
    contender          alike  tier  n  median  ratio      interval  verdict      cv
    -------------------------------------------------------------------------------
    ext4 data=journal  a         1  8  1.00 s   1.00             -  baseline  2.1 %
    ext4               a         1  8  1.01 s   1.01  [0.98, 1.05]  SAME      2.1 %
    xfs                b         -  8  1.64 s   1.64  [1.56, 1.72]  SLOWER    2.1 %
    Watchers
      - drift: xfs grows by 0.4 % a block against ext4 (p = 0.0034)
    Due to: fs ×1.63 [1.55, 1.71], mount data within fs = ext4 ×1.00 [0.99, 1.02]

    small-files / delete: time until safe on disk; ratios to xfs
    contender  n  median  ratio       interval  verdict       cv
    ------------------------------------------------------------
    xfs        8  310 ms   1.00              -  baseline   2.1 %
    ext4       8  333 ms   1.07  [<0.01, >100]  UNDECIDED  2.1 %
    Excluded
      - ext4 data=journal: the phase ended early in 8 of 8 trials

    Rule: looks after 4, 6 and 8 blocks; contenders stop early once decided; margin
    ±5 %; no budget; method 3. 8 blocks done, 8 counted; ended with the last block
    of the plan. Recomputed decisions match the stored ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %;
    UNDECIDED: none of these is shown. Least median first. ratio: the value of a
    contender ÷ that of the best, of blocks that have both (Hodges-Lehmann;
    intervals: Student's t), in pairs that of the first ÷ that of the second; cv:
    standard deviation of the logarithms; n: blocks that count. The verdicts of a
    question hold together at 95 %, differences and SAME each (all looks, all
    pairs); each interval in brackets is at its own level, 99.2 %. SAME has an
    interval of its own, at 98.5 %, all of it within the margin: it is narrower, as
    only one of its ends can be wrong. Due to: slowest ÷ fastest level of a factor
    over all others; intervals for all its levels together. Intervals of what
    differences are due to and of watchers are plain 95 %: corrected neither for
    looks nor for choosing the best. alike: contenders that share a letter are not
    shown to differ (they need not be equal). Tiers: a tier = all pairs proved SAME
    within the margin. Outliers (modified z above 3.5) are in all figures.

    fsarena study RUN prints every pair and what differences are due to.
    ");
}

#[test]
fn three_contenders_two_phases_100() {
    insta::assert_snapshot!(brief(&run(), 100), @"
    Headline, small-files create (time until safe on disk): ext4 data=journal and ext4 are SAME within
    ±5 %: ratio 0.990 [0.953, 1.023], 8 blocks; ext4 data=journal against all 2 others: 1 FASTER and 1
    SAME.

    small-files / create: time until safe on disk; ratios to ext4 data=journal
    contender          alike  tier  n  median  ratio      interval  verdict      cv  outliers
    -----------------------------------------------------------------------------------------
    ext4 data=journal  a         1  8  1.00 s   1.00             -  baseline  2.1 %         0
    ext4               a         1  8  1.01 s   1.01  [0.98, 1.05]  SAME      2.1 %         0
    xfs                b         -  8  1.64 s   1.64  [1.56, 1.72]  SLOWER    2.1 %         1
    Watchers
      - drift: xfs grows by 0.4 % a block against ext4 (p = 0.0034)
    Due to: fs ×1.63 [1.55, 1.71], mount data within fs = ext4 ×1.00 [0.99, 1.02]

    small-files / delete: time until safe on disk; ratios to xfs
    contender  n  median  ratio       interval  verdict       cv
    ------------------------------------------------------------
    xfs        8  310 ms   1.00              -  baseline   2.1 %
    ext4       8  333 ms   1.07  [<0.01, >100]  UNDECIDED  2.1 %
    Excluded
      - ext4 data=journal: the phase ended early in 8 of 8 trials

    Rule: looks after 4, 6 and 8 blocks; contenders stop early once decided; margin ±5 %; no budget;
    method 3. 8 blocks done, 8 counted; ended with the last block of the plan. Recomputed decisions
    match the stored ones.

    FASTER: takes less time; SLOWER: takes more time; SAME: shown to be within ±5 %; UNDECIDED: none of
    these is shown. Least median first. ratio: the value of a contender ÷ that of the best, of blocks
    that have both (Hodges-Lehmann; intervals: Student's t), in pairs that of the first ÷ that of the
    second; cv: standard deviation of the logarithms; n: blocks that count. The verdicts of a question
    hold together at 95 %, differences and SAME each (all looks, all pairs); each interval in brackets
    is at its own level, 99.2 %. SAME has an interval of its own, at 98.5 %, all of it within the
    margin: it is narrower, as only one of its ends can be wrong. Due to: slowest ÷ fastest level of a
    factor over all others; intervals for all its levels together. Intervals of what differences are due
    to and of watchers are plain 95 %: corrected neither for looks nor for choosing the best. alike:
    contenders that share a letter are not shown to differ (they need not be equal). Tiers: a tier = all
    pairs proved SAME within the margin. Outliers (modified z above 3.5) are in all figures.

    fsarena study RUN prints every pair and what differences are due to.
    ");
}

#[test]
fn what_brief_leaves_out_stands_in_full() {
    let mut verdicts = run();
    verdicts.suite = Some(suite());
    let (brief, full) = (brief(&verdicts, 100), shown(&verdicts, 100));
    let left_out =
        ["Pairs\n", "  - ext4 is FASTER than xfs", "What it is due to", "F tests", "kept:"];
    for part in left_out {
        assert!(!brief.contains(part) && full.contains(part), "{part} in {brief}\n{full}");
    }
    let only_brief = ["\nDue to: fs ×1.63", "fsarena study RUN prints every pair and what"];
    for part in only_brief {
        assert!(brief.contains(part) && !full.contains(part), "{part} in {brief}\n{full}");
    }
    for part in ["Headline", "drift: xfs", "Excluded", "Over 3 workloads", "Rule: looks"] {
        assert!(brief.contains(part) && full.contains(part), "{part} in {brief}\n{full}");
    }
}

#[test]
fn without_factors_nothing_is_promised_of_them() {
    let mut verdicts = run();
    verdicts.questions[0].factors = None;
    let text = brief(&verdicts, 80);
    assert!(text.ends_with("\n\nfsarena study RUN prints every pair.\n"), "{text}");
    assert!(!text.contains("Due to"), "{text}");
}

/// Five phases of three contenders: what stands after a RUN fits on a screen or two.
#[test]
fn five_phases_are_not_long() {
    let mut verdicts = run();
    verdicts.questions = ["create", "read", "stat", "rewrite", "delete"]
        .map(|phase| QuestionView { phase: phase.to_owned(), ..create() })
        .to_vec();
    let lines = |detail| verdict_tables(&verdicts, detail, 100, Style::default()).lines().count();
    let (brief, full) = (lines(Detail::Brief), lines(Detail::Full));
    assert!(brief <= 72 && full >= 2 * brief, "{brief} and {full} lines");
}
