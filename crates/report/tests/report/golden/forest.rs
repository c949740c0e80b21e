//! Several RUNs compared as text and JSON, over views made by hand.

use crate::golden::plain;
use crate::golden::width::fits;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{METHOD_VERSION, Metric, Verdict};
use fsarena_report::{compare_json, forest_tables, sides_tables};
use fsarena_verdict::IntervalBy;
use fsarena_verdict::compare::{
    Change, Forest, ForestPair, ForestQuestion, ForestRow, SideRow, Sides, SidesQuestion, Unit,
    UnitRow, UnitValue, Without,
};
use proptest::prelude::*;

fn unit(name: &str, machine: &str, runs: &[&str]) -> UnitRow {
    UnitRow {
        name: name.to_owned(),
        machine: machine.to_owned(),
        runs: runs.iter().map(|run| (*run).to_owned()).collect(),
    }
}

fn row(unit: usize, n: usize, [ratio, low, high]: [f64; 3]) -> ForestRow {
    ForestRow {
        unit,
        runs: vec![(unit + 1).to_string()],
        n,
        interval_by: if n < 12 { IntervalBy::StudentT } else { IntervalBy::SignedRanks },
        ratio,
        low: Some(low),
        high: Some(high),
    }
}

fn three() -> Forest {
    let mut rows = vec![
        row(0, 4, [1.20, 1.10, 1.31]),
        row(1, 12, [1.24, 1.22, 1.26]),
        row(2, 8, [0.99, 0.96, 1.02]),
    ];
    rows[0].runs.push("4".to_owned());
    let pair = ForestPair {
        a_label: "xfs".to_owned(),
        b_label: "ext4".to_owned(),
        verdict: Verdict::Undecided,
        ratio: Some(1.1377),
        low: Some(0.8378),
        high: Some(1.545),
        level: Some(0.95),
        same_low: Some(0.9290),
        same_high: Some(1.393),
        same_level: Some(0.90),
        weighted: Some([1.14, 0.85, 1.52]),
        i_squared: Some(0.934),
        agreeing: 2,
        rows,
        without: vec![Without { run: "5".to_owned(), why: "it has no xfs".to_owned() }],
        why: None,
    };
    Forest {
        method: METHOD_VERSION,
        margin: 0.05,
        unit: Unit::Machine,
        units: vec![
            unit("machine 1", "Linux 6.1.0, 2 × Duron, 64 MiB of memory", &["1", "4"]),
            unit("machine 2", "Linux 6.1.0, 8 × Opteron, 4 GiB of memory", &["2"]),
            unit("machine 3", "Linux 6.6.1, 4 × Cortex-A72, 8 GiB of memory", &["3"]),
        ],
        baseline: Some("ext4".to_owned()),
        questions: vec![ForestQuestion {
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
            metric: Metric::Time,
            clock: Clock::Durable,
            pairs: vec![pair],
        }],
        notes: vec![
            "xfs is not the same in RUN 2 as in RUN 1: device (loop of 1 GiB; \
                     /dev/sdb)"
                .to_owned(),
        ],
    }
}

fn two() -> Forest {
    let mut forest = three();
    let pair = &mut forest.questions[0].pairs[0];
    pair.rows.truncate(2);
    pair.without.clear();
    (pair.low, pair.high, pair.level, pair.weighted) = (None, None, None, None);
    (pair.same_low, pair.same_high, pair.same_level) = (None, None, None);
    pair.ratio = Some(1.22);
    pair.why = Some("two machines can never speak for others; both are listed".to_owned());
    forest.units.truncate(2);
    forest.notes.clear();
    forest
}

fn before_and_after() -> Sides {
    let values = |value: f64| -> Vec<UnitValue> {
        (0..3).map(|unit| UnitValue { unit, n: 4, value: value + 1e7 * unit as f64 }).collect()
    };
    let slower = SideRow {
        label: "ext4".to_owned(),
        verdict: Verdict::Slower,
        ratio: Some(1.2),
        low: Some(1.17),
        high: Some(1.24),
        level: Some(0.975),
        same_low: Some(1.175),
        same_high: Some(1.226),
        same_level: Some(0.95),
        before: values(1e9),
        after: values(1.2e9),
        why: None,
    };
    let open = SideRow {
        label: "tmpfs".to_owned(),
        verdict: Verdict::Undecided,
        ratio: Some(1.01),
        low: None,
        high: None,
        level: None,
        same_low: None,
        same_high: None,
        same_level: None,
        before: values(2e8)[..2].to_vec(),
        after: values(2.02e8),
        why: Some("2 boots before and 3 boots after: it takes 3 on each side".to_owned()),
    };
    let boot = |at: usize, kernel: &str, run: &str| {
        unit(&format!("boot {at}"), &format!("Linux {kernel}, 2 × Duron"), &[run])
    };
    Sides {
        method: METHOD_VERSION,
        margin: 0.05,
        machine: "2 × Duron, 64 MiB of memory".to_owned(),
        before: vec![boot(1, "6.1.0", "1"), boot(2, "6.1.0", "2"), boot(3, "6.1.0", "3")],
        after: vec![boot(1, "6.2.0", "4"), boot(2, "6.2.0", "5"), boot(3, "6.2.0", "6")],
        changes: vec![
            Change {
                what: "kernel release".to_owned(),
                before: vec!["6.1.0".to_owned()],
                after: vec!["6.2.0".to_owned()],
            },
            Change {
                what: "fsarena, its program file".to_owned(),
                before: vec!["c".repeat(64)],
                after: vec!["c".repeat(64), "d".repeat(64)],
            },
        ],
        questions: vec![SidesQuestion {
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
            metric: Metric::Time,
            clock: Clock::Durable,
            rows: vec![slower, open],
        }],
        notes: Vec::new(),
    }
}

#[test]
fn machines_80() {
    insta::assert_snapshot!(forest_tables(&three(), 80, plain()), @r"
    small-files / create: time until safe on disk
    xfs and ext4 are UNDECIDED: xfs takes 1.14 times as long as ext4 [0.84, 1.54], 3
    machines, margin ±5 %; 2 of 3 above 1; I² 93 %; by precision, which decides
    nothing: 1.14 [0.85, 1.52].
    machine      RUNs  blocks  ratio    plain 95 %  0.84                       1.54
    -------------------------------------------------------------------------------
    machine 1       2       4   1.20  [1.10, 1.31]           |   -----o----
    machine 2       1      12   1.24  [1.22, 1.26]           |        -o-
    machine 3       1       8   0.99  [0.96, 1.02]         -o--
    all at 95 %     4      24   1.14  [0.84, 1.54]  ---------------#---------------
      - RUN 5: it has no xfs

    Units: 3 machines
      - machine 1: Linux 6.1.0, 2 × Duron, 64 MiB of memory; RUNs 1 and 4
      - machine 2: Linux 6.1.0, 8 × Opteron, 4 GiB of memory; RUN 2
      - machine 3: Linux 6.6.1, 4 × Cortex-A72, 8 GiB of memory; RUN 3
    Notes
      - xfs is not the same in RUN 2 as in RUN 1: device (loop of 1 GiB; /dev/sdb)
    Verdicts and the line `all` are for machines like these: Student's t on one log
    ratio a machine, each counting the same, corrected for all pairs and questions
    above. Ratio: value of the first ÷ value of the second, the typical one
    (Hodges-Lehmann); `plain 95 %` is for that machine only and corrected for
    nothing, and of RUNs that stopped early the ratio is somewhat exaggerated. I²:
    share of the scatter that is more than their own noise. Figures in seconds or
    bytes are never compared across machines.
    ");
}

#[test]
fn two_machines_80() {
    insta::assert_snapshot!(forest_tables(&two(), 80, plain()), @r"
    small-files / create: time until safe on disk
    xfs and ext4 are UNDECIDED: xfs takes 1.22 times as long as ext4, 2 machines,
    margin ±5 %; 2 of 2 above 1; I² 93 %; two machines can never speak for others;
    both are listed.
    machine    RUNs  blocks  ratio    plain 95 %  1.00                       1.31
    -----------------------------------------------------------------------------
    machine 1     2       4   1.20  [1.10, 1.31]  |          ---------o----------
    machine 2     1      12   1.24  [1.22, 1.26]  |                     --o--
    all           3      16   1.22             -  |                     #

    Units: 2 machines
      - machine 1: Linux 6.1.0, 2 × Duron, 64 MiB of memory; RUNs 1 and 4
      - machine 2: Linux 6.1.0, 8 × Opteron, 4 GiB of memory; RUN 2
    Verdicts and the line `all` are for machines like these: Student's t on one log
    ratio a machine, each counting the same, corrected for all pairs and questions
    above. Ratio: value of the first ÷ value of the second, the typical one
    (Hodges-Lehmann); `plain 95 %` is for that machine only and corrected for
    nothing, and of RUNs that stopped early the ratio is somewhat exaggerated. I²:
    share of the scatter that is more than their own noise. Figures in seconds or
    bytes are never compared across machines.
    ");
}

#[test]
fn sides_80() {
    insta::assert_snapshot!(sides_tables(&before_and_after(), 80, plain()), @r"
    Before and after on one machine: 2 × Duron, 64 MiB of memory
    Before
      - boot 1: Linux 6.1.0, 2 × Duron; RUN 1
      - boot 2: Linux 6.1.0, 2 × Duron; RUN 2
      - boot 3: Linux 6.1.0, 2 × Duron; RUN 3
    After
      - boot 1: Linux 6.2.0, 2 × Duron; RUN 4
      - boot 2: Linux 6.2.0, 2 × Duron; RUN 5
      - boot 3: Linux 6.2.0, 2 × Duron; RUN 6
    Changed
      - kernel release: 6.1.0 → 6.2.0
      - fsarena, its program file: cccccccccccc → cccccccccccc | dddddddddddd

    small-files / create: time until safe on disk
    contender  before   after  boots  ratio      interval  after is
    ----------------------------------------------------------------
    ext4       1.01 s  1.21 s  3 + 3   1.20  [1.17, 1.24]  SLOWER
    tmpfs      205 ms  212 ms  2 + 3   1.01             -  UNDECIDED
      - ext4 after is SLOWER than before: takes 1.20 times as long [1.17, 1.24], 3 +
        3 boots, margin ±5 %; before 1.00 s, 1.01 s, 1.02 s; after 1.20 s, 1.21 s,
        1.22 s.
      - tmpfs after and before are UNDECIDED: tmpfs after takes 1.01 times as long
        as before, 2 + 3 boots, margin ±5 %; before 200 ms, 210 ms; after 202 ms,
        212 ms, 222 ms; 2 boots before and 3 boots after: it takes 3 on each side.

    Each boot counts once, whatever the number of its RUNs and trials; values are
    geometric means. Intervals: 97.5 % each, by Welch's t on log means of boots,
    corrected for all contenders and questions above. What changed is listed, not
    tested: anything on that list, and whatever is not recorded, can be the cause.
    ");
}

/// SAME is said by the narrower interval: that one is printed, with ends that read as within ±5 %,
/// in sentence, table, plot and level.
#[test]
fn the_interval_of_same_is_printed() {
    let mut forest = three();
    forest.notes.clear();
    let pair = &mut forest.questions[0].pairs[0];
    pair.verdict = Verdict::Same;
    (pair.low, pair.high, pair.level) = (Some(0.941), Some(1.062), Some(0.9833));
    (pair.same_low, pair.same_high) = (Some(0.953), Some(1.0499));
    (pair.same_level, pair.ratio) = (Some(0.9667), Some(1.0003));
    let text = forest_tables(&forest, 100, plain());
    let to = text.find("  - RUN 5").unwrap();
    insta::assert_snapshot!(&text[..to], @r"
    small-files / create: time until safe on disk
    xfs and ext4 are SAME within ±5 %: ratio 1.000 [0.953, 1.050], 3 machines; 2 of 3 above 1; I² 93 %;
    by precision, which decides nothing: 1.14 [0.85, 1.52].
    machine        RUNs  blocks  ratio      plain 95 %  0.95                       1.31
    -----------------------------------------------------------------------------------
    machine 1         2       4   1.20    [1.10, 1.31]       |        --------o--------
    machine 2         1      12   1.24    [1.22, 1.26]       |                 --o-
    machine 3         1       8   0.99    [0.96, 1.02]   ---o--
    all at 96.7 %     4      24  1.000  [0.953, 1.050]  -----#----
    ");
    assert!(text.replace('\n', " ").contains("SAME has an interval of its own"), "{text}");
    let mut sides = before_and_after();
    let row = &mut sides.questions[0].rows[0];
    row.verdict = Verdict::Same;
    (row.low, row.high, row.ratio) = (Some(0.941), Some(1.062), Some(1.0003));
    (row.same_low, row.same_high) = (Some(0.953), Some(1.0499));
    let text = sides_tables(&sides, 80, plain());
    let from = text.find("contender  ").unwrap();
    let to = text.find("  - tmpfs").unwrap();
    insta::assert_snapshot!(&text[from..to], @r"
    contender  before   after  boots  ratio        interval  after is
    ------------------------------------------------------------------
    ext4       1.01 s  1.21 s  3 + 3  1.000  [0.953, 1.050]  SAME
    tmpfs      205 ms  212 ms  2 + 3   1.01               -  UNDECIDED
      - ext4 after and before are SAME within ±5 %: ratio 1.000 [0.953, 1.050], 3 +
        3 boots; before 1.00 s, 1.01 s, 1.02 s; after 1.20 s, 1.21 s, 1.22 s.
    ");
    assert!(text.replace('\n', " ").contains("Intervals: 95 % each,"), "{text}");
}

#[test]
fn documents_have_base_units_in_their_keys() {
    let document = compare_json("compare-sides", &before_and_after(), &[]);
    assert_eq!((&document["schema"], &document["kind"]), (&2.into(), &"compare-sides".into()));
    let row = &document["compare"]["questions"][0]["rows"][0];
    assert_eq!(row["before"][1]["value_ns"], 1.01e9);
    assert_eq!(row["verdict"], "SLOWER");
    let mut written = before_and_after();
    written.questions[0].metric = Metric::Written;
    let document = compare_json("compare-sides", &written, &[]);
    let row = &document["compare"]["questions"][0]["rows"][0];
    assert_eq!(row["after"][0]["value_bytes"], 1.2e9);
    let document = compare_json("compare-runs", &three(), &[]);
    let pair = &document["compare"]["questions"][0]["pairs"][0];
    assert_eq!(pair["rows"][2]["ratio"], 0.99);
    assert_eq!(document["compare"]["unit"], "machine");
}

proptest! {
    #[test]
    fn no_line_is_too_wide(label in ".{0,60}", ratio in 1e-3f64..1e3, width in 80usize..140) {
        let mut forest = three();
        forest.units[0].machine = label.clone();
        forest.notes.push(label.clone());
        let pair = &mut forest.questions[0].pairs[0];
        pair.a_label = label.clone();
        (pair.ratio, pair.rows[0].ratio) = (Some(ratio), ratio);
        fits(&forest_tables(&forest, width, plain()), width)?;
        let mut sides = before_and_after();
        sides.changes[0].what = label.clone();
        sides.changes[0].before.push(label.clone());
        sides.questions[0].rows[0].label = label.clone();
        sides.questions[0].rows[0].ratio = Some(ratio);
        sides.machine = label;
        fits(&sides_tables(&sides, width, plain()), width)?;
    }
}
