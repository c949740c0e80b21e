//! Factors, the suite, JSON, colour, and whatever stands in labels.

use super::{against, left, pair, question, row, shown, verdicts};
use crate::golden::width::fits;
use fsarena_model::verdict::{Metric, Verdict};
use fsarena_report::{Detail, Style, verdict_headline, verdict_json, verdict_tables};
use fsarena_verdict::factors::{FactorRow, FactorView, LevelRow, LevelsAt, TermRow};
use fsarena_verdict::watchers::{Finding, FindingKind};
use fsarena_verdict::{Forecast, ForecastFor, SuiteView, Verdicts, WorkloadShare};
use proptest::prelude::*;

fn small() -> Verdicts {
    let rows = vec![
        row(0, "ext4", 1.06e9, 1.0),
        against(row(1, "xfs", 1.30e9, 1.23), Verdict::Slower, 1.18, 1.29),
    ];
    let ratios = [1.0 / 1.23, 1.0 / 1.29, 1.0 / 1.18];
    verdicts(vec![question(rows, vec![pair((0, "ext4"), (1, "xfs"), Verdict::Faster, ratios)])])
}

fn level(level: &str, multiplier: f64, bounds: Option<(f64, f64)>) -> LevelRow {
    LevelRow {
        level: level.to_owned(),
        multiplier,
        low: bounds.map(|(low, _)| low),
        high: bounds.map(|(_, high)| high),
    }
}

fn factor(name: &str, spread: [f64; 3], levels: Vec<LevelRow>) -> FactorRow {
    FactorRow {
        name: name.to_owned(),
        within: None,
        spread: spread[0],
        spread_low: Some(spread[1]),
        spread_high: Some(spread[2]),
        levels,
        share: None,
        interacts: false,
        by_other: Vec::new(),
    }
}

/// Two devices, two file systems, a journal mode that exists in one of them only.
pub(super) fn factors() -> FactorView {
    let device = factor(
        "device",
        [3.31, 3.10, 3.52],
        vec![level("ssd", 1.0, None), level("hdd", 3.31, Some((3.10, 3.52)))],
    );
    let mut fs = factor(
        "fs",
        [1.22, 1.18, 1.26],
        vec![level("ext4", 1.0, None), level("xfs", 1.22, Some((1.18, 1.26)))],
    );
    fs.interacts = true;
    fs.by_other = vec![
        LevelsAt {
            at: "device = ssd".to_owned(),
            levels: vec![level("ext4", 1.0, None), level("xfs", 1.04, Some((1.01, 1.07)))],
        },
        LevelsAt {
            at: "device = hdd".to_owned(),
            levels: vec![level("ext4", 1.0, None), level("xfs", 1.43, Some((1.37, 1.49)))],
        },
    ];
    let mut journal = factor(
        "mount data",
        [1.003, 0.99, 1.016],
        vec![level("writeback", 1.0, None), level("ordered", 1.003, Some((0.99, 1.016)))],
    );
    journal.within = Some("fs = ext4".to_owned());
    let term = |term: &str, p| TermRow { term: term.to_owned(), df: 1, f: 12.0, p };
    let mut view = FactorView {
        factors: vec![device, fs, journal],
        terms: vec![
            term("device", 1e-9),
            term("fs", 2e-4),
            term("device × fs", 0.0061),
            term("mount data in fs = ext4", 0.61),
        ],
        omnibus_p: 1e-9,
        blocks: 8,
        notes: vec!["xfs on hdd was not run: no such cell".to_owned()],
    };
    for (factor, share) in view.factors.iter_mut().zip([0.9731, 0.0268, 0.0001]) {
        factor.share = Some(share);
    }
    view
}

fn share(contender: usize, label: &str, ratio: f64, counts: [usize; 4]) -> WorkloadShare {
    let is_reference = ratio == 1.0;
    let bound = |factor: f64| (!is_reference).then_some(ratio * factor);
    let [wins, losses, same, undecided] = counts;
    WorkloadShare {
        contender,
        label: label.to_owned(),
        ratio,
        low: bound(0.97),
        high: bound(1.03),
        like_these_low: bound(0.71),
        like_these_high: bound(1.41),
        wins,
        losses,
        same,
        undecided,
    }
}

pub(super) fn suite() -> SuiteView {
    SuiteView {
        reference: "ext4".to_owned(),
        over: vec!["small-files".to_owned(), "big-file".to_owned(), "untar".to_owned()],
        rows: vec![
            share(0, "ext4", 1.0, [2, 0, 1, 0]),
            share(1, "xfs", 1.12, [0, 2, 1, 0]),
            share(2, "btrfs with a label that is longer than most", 1.37, [0, 0, 0, 3]),
        ],
    }
}

#[test]
fn factors_100() {
    let mut verdicts = small();
    verdicts.questions[0].factors = Some(factors());
    let text = shown(&verdicts, 100);
    let from = text.find("What it is due to").unwrap();
    let to = text.find("\nRule").unwrap();
    insta::assert_snapshot!(&text[from..to], @r"
    What it is due to (8 blocks; slowest ÷ fastest level over all other factors; intervals plain 95 %
    for all levels of a factor together)
    - device ×3.31 [3.10, 3.52], fs ×1.22 [1.18, 1.26] on average (interacts), mount data within fs =
      ext4 ×1.00 [0.99, 1.02]
    - device: ssd 1.00, hdd 3.31 [3.10, 3.52]
    - fs interacts, so there is no one multiplier:
    - fs at device = ssd: ext4 1.00, xfs 1.04 [1.01, 1.07]
    - fs at device = hdd: ext4 1.00, xfs 1.43 [1.37, 1.49]
    - mount data within fs = ext4: writeback 1.00, ordered 1.00 [0.99, 1.02]
    - F tests: all contenders p < 0.001, device p < 0.001, fs p < 0.001, device × fs p = 0.006, mount
      data in fs = ext4 p = 0.61.
    - Shares of the variance among these contenders, which other levels would change: device 97.3 %, fs
      2.7 %, mount data within fs = ext4 0 %.
    - xfs on hdd was not run: no such cell
    ");
}

/// What no verdict rests on is not dressed up as corrected; where there is none of it, nothing is
/// said.
#[test]
fn plain_intervals_are_called_so() {
    let words = |verdicts: &Verdicts| shown(verdicts, 80).replace('\n', " ");
    let plain = "are plain 95 %: corrected neither for looks nor for choosing the best.";
    let mut verdicts = small();
    assert!(!words(&verdicts).contains(plain));
    verdicts.suite = Some(suite());
    let text = words(&verdicts);
    assert!(text.contains(&format!("Intervals over workloads {plain}")), "{text}");
    verdicts.questions[0].factors = Some(factors());
    verdicts.questions[0].watch.findings = vec![Finding {
        kind: FindingKind::CarryOver,
        text: "after xfs".to_owned(),
        p: Some(0.001),
    }];
    let text = words(&verdicts);
    let all = "Intervals over workloads, of what differences are due to and of watchers";
    assert!(text.contains(&format!("{all} {plain}")), "{text}");
}

#[test]
fn without_shares_there_is_no_line_of_shares() {
    let mut view = factors();
    view.factors.iter_mut().for_each(|factor| factor.share = None);
    let mut verdicts = small();
    verdicts.questions[0].factors = Some(view);
    let text = shown(&verdicts, 100);
    assert!(text.contains("device ×3.31 [3.10, 3.52]") && !text.contains("Shares"), "{text}");
}

#[test]
fn suite_80() {
    let mut verdicts = small();
    verdicts.suite = Some(suite());
    let text = shown(&verdicts, 80);
    let from = text.find("Over 3 workloads").unwrap();
    let to = text.find("\nRule").unwrap();
    insta::assert_snapshot!(&text[from..to], @r"
    Over 3 workloads: geometric mean of the ratios to ext4
    contender     ratio         these     workloads  FASTER  SLOWER  SAME  UNDECIDED
                            workloads    like these
    --------------------------------------------------------------------------------
    ext4           1.00             -             -       2       0     1          0
    xfs            1.12  [1.09, 1.15]  [0.80, 1.58]       0       2     1          0
    btrfs with a   1.37  [1.33, 1.41]  [0.97, 1.93]       0       0     0          3
    label that
    is longer
    than most
    Over: small-files, big-file, untar. Two intervals, plain 95 %: for these very
    workloads, from their blocks; and for workloads like these, from the spread
    among them (three at least). FASTER to UNDECIDED: pairs that were asked, over
    all questions. The mean itself has no verdict.
    ");
}

#[test]
fn json_has_units_and_short_numbers() {
    let mut verdicts = small();
    let mut written = verdicts.questions[0].clone();
    written.metric = Metric::Written;
    written.pairs[0].verdict = Verdict::Undecided;
    written.pairs[0].forecast = Some(Forecast {
        of: ForecastFor::Same,
        blocks: 22,
        more_blocks: 14,
        seconds: 1000.0 / 3.0,
        most_blocks: 22,
        most_more_blocks: 14,
        most_seconds: 1000.0 / 3.0,
    });
    verdicts.questions.push(written);
    verdicts.budget_ns = Some(1_800_000_000_001);
    let json = fsarena_report::json::verdicts(&verdicts);
    assert_eq!((json["schema"].as_u64(), json["kind"].as_str()), (Some(2), Some("verdicts")));
    assert_eq!(json["budget_ns"], 1_800_000_000_001u64, "whole numbers are exact");
    let row = &json["questions"][0]["rows"][1];
    assert_eq!(row["median_ns"], 1.3e9);
    assert!(row["median"].is_null() && row["min_ns"].is_number(), "{row}");
    let pair = &json["questions"][0]["pairs"][0];
    assert_eq!(pair["ratio"].to_string(), "0.813008");
    assert_eq!(pair["verdict"], "FASTER");
    assert_eq!(pair["same_low"].to_string(), "0.782613");
    assert_eq!(pair["same_level"].to_string(), "0.985");
    assert!(pair["same_high"].is_number(), "{pair}");
    assert!(json["questions"][1]["rows"][0]["median_bytes"].is_number());
    assert_eq!(json["questions"][1]["pairs"][0]["forecast"]["more_s"].to_string(), "333.333");
    assert_eq!(json["questions"][1]["metric"], "written");
}

#[test]
fn json_is_the_same_when_the_last_digits_are_not() {
    let plain = small();
    let mut elsewhere = small();
    let one = &mut elsewhere.questions[0].pairs[0];
    for value in [&mut one.ratio, &mut one.low, &mut one.high] {
        *value = value.map(|value| value * (1.0 + 3.0 * f64::EPSILON));
    }
    assert_ne!(plain, elsewhere);
    assert_eq!(verdict_json(&plain).to_string(), verdict_json(&elsewhere).to_string());
    assert_eq!(shown(&plain, 80), shown(&elsewhere, 80));
}

#[test]
fn colour_is_only_where_it_is_asked_for() {
    let coloured = Style { colour: true, ..Style::default() };
    assert!(verdict_tables(&small(), Detail::Full, 80, coloured).contains("\u{1b}[1mHeadline"));
    assert!(!shown(&small(), 80).contains('\u{1b}'));
}

#[test]
fn without_a_headline_the_number_of_questions_is_said() {
    let mut verdicts = small();
    verdicts.headline = None;
    let text = verdict_headline(&verdicts);
    assert_eq!(text, "No headline was fixed before block 1; 1 question asked.");
}

#[test]
fn long_labels_80() {
    let label = "ext4 data=writeback,noatime,commit=600 on loop of 4 GiB, memory 64 MiB";
    let mut verdicts = small();
    let of = &mut verdicts.questions[0];
    of.rows[0].label = label.to_owned();
    of.pairs[0].a_label = label.to_owned();
    let text = shown(&verdicts, 80);
    let to = text.find("\nRule").unwrap();
    insta::assert_snapshot!(&text[..to], @r"
    Headline, small-files create (time until safe on disk): ext4
    data=writeback,noatime,commit=600 on loop of 4 GiB, memory 64 MiB is FASTER than
    xfs: 1.23 times as fast [1.18, 1.29], 8 blocks (early stop), margin ±5 %.

    small-files / create: time until safe on disk; ratios to ext4
    data=writeback,noatime,commit=600 on loop of 4 GiB, memory 64 MiB
    contender                        n  median  ratio      interval  verdict      cv
    --------------------------------------------------------------------------------
    ext4 data=writeback,noatime,com  8  1.06 s   1.00             -  baseline  2.1 %
    mit=600 on loop of 4 GiB,
    memory 64 MiB
    xfs                              8  1.30 s   1.23  [1.18, 1.29]  SLOWER    2.1 %
    ");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in labels and reasons, and however large the figures are: no line is too
    /// wide, and nothing is ever called no difference.
    #[test]
    fn nothing_is_wider_than_asked(
        label in ".{0,60}",
        reason in ".{0,200}",
        factor in 1e-12f64..1e12,
        width in 80usize..140,
    ) {
        let mut verdicts = small();
        verdicts.suite = Some(suite());
        verdicts.suite.as_mut().unwrap().rows[1].label.clone_from(&label);
        verdicts.suite.as_mut().unwrap().rows[1].ratio = factor;
        verdicts.suite.as_mut().unwrap().over[0].clone_from(&reason);
        let of = &mut verdicts.questions[0];
        of.workload.clone_from(&label);
        of.factors = Some(factors());
        of.factors.as_mut().unwrap().notes[0].clone_from(&reason);
        of.factors.as_mut().unwrap().factors[1].levels[0].level.clone_from(&label);
        of.left = vec![left(2, &label, &reason)];
        for row in &mut of.rows {
            row.label.clone_from(&label);
            (row.median, row.ratio) = (factor * 1e9, Some(factor));
            (row.ratio_low, row.ratio_high) = (Some(factor * 0.9), Some(factor * 1.1));
        }
        let one = &mut of.pairs[0];
        one.b_label.clone_from(&label);
        one.why = Some(reason);
        (one.ratio, one.low, one.high) = (Some(factor), Some(factor * 0.9), Some(factor * 1.1));
        let mut second = of.clone();
        second.metric = Metric::P99;
        verdicts.questions.push(second);
        for detail in [Detail::Brief, Detail::Full] {
            let text = verdict_tables(&verdicts, detail, width, Style::default());
            fits(&text, width)?;
            prop_assert!(!text.to_lowercase().contains("no difference"));
        }
    }
}
