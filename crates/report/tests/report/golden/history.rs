//! A figure over RUNs as text, Markdown, JSON and a chart, over a view made by hand.

use crate::golden::plain;
use crate::golden::width::fits;
use fsarena_model::run::Clock;
use fsarena_model::verdict::{METHOD_VERSION, Metric, Verdict};
use fsarena_report::{PaperWidth, history_json, history_markdown, history_svg, history_tables};
use fsarena_verdict::compare::{
    ExcludedRun, GroupBy, History, HistoryChange, HistoryPoint, HistoryQuestion, HistorySeries,
    Unit,
};
use proptest::prelude::*;

const NEW_YEAR_UNIX_NS: u64 = 1_767_225_600_000_000_000;
const DAY_NS: u64 = 86_400_000_000_000;

fn point(number: usize, value: f64) -> HistoryPoint {
    let kernel = if number < 4 { "6.1.0" } else { "6.18.0" };
    HistoryPoint {
        name: format!("RUN {number}"),
        runs: vec![number.to_string()],
        started_unix_ns: NEW_YEAR_UNIX_NS + number as u64 * DAY_NS,
        kernels: vec![kernel.to_owned()],
        versions: vec!["0.1.0".to_owned()],
        titles: vec!["nightly".to_owned()],
        units: 1,
        n: 4,
        value,
        low: Some(value * 0.99),
        high: Some(value * 1.01),
    }
}

fn series(contender: &str, values: &[f64]) -> HistorySeries {
    let points = values.iter().enumerate().map(|(at, value)| point(at + 1, *value)).collect();
    HistorySeries {
        contender: contender.to_owned(),
        machine: "2 × Duron, 64 MiB of memory".to_owned(),
        apart: None,
        unit: Unit::Boot,
        units: values.len(),
        points,
        changes: Vec::new(),
        why: None,
        least: None,
    }
}

fn sample() -> History {
    let mut ext4 = series("ext4", &[1.00e9, 1.01e9, 1.02e9, 1.30e9, 1.31e9, 1.32e9]);
    ext4.changes.push(HistoryChange {
        before: 2,
        after: 3,
        verdict: Verdict::Slower,
        ratio: 1.297,
        low: 1.242,
        high: 1.358,
        units_before: 3,
        units_after: 3,
    });
    let mut xfs = series("xfs", &[0.80e9, 0.81e9]);
    xfs.apart =
        Some("xfs is not the same as in RUN 3: device (loop of 1 GiB; /dev/sdb)".to_owned());
    xfs.why = Some("no change is decided among 6 boots".to_owned());
    xfs.least = Some(1.083);
    xfs.points[1].low = None;
    let excluded = ExcludedRun {
        contender: "xfs".to_owned(),
        run: "7".to_owned(),
        why: "another machine than RUN 3: host name desk and lap".to_owned(),
    };
    History {
        method: METHOD_VERSION,
        margin: 0.05,
        by: GroupBy::Run,
        cuts: 2,
        level: 0.975,
        questions: vec![HistoryQuestion {
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
            metric: Metric::Time,
            clock: Clock::Durable,
            series: vec![ext4, xfs],
            excluded: vec![excluded],
        }],
    }
}

#[test]
fn a_table_a_contender_and_what_has_changed() {
    insta::assert_snapshot!(history_tables(&sample(), 100, plain()), @r"
    small-files / create: time until safe on disk
    ext4: 6 RUNs in 6 boots, on 2 × Duron, 64 MiB of memory

    RUN    begun                 kernel  fsarena  title    trials  figure             95 %  changed
    -----------------------------------------------------------------------------------------------
    RUN 1  2026-01-02 00:00 UTC  6.1.0   0.1.0    nightly       4  1.00 s  990 ms - 1.01 s
    RUN 2  2026-01-03 00:00 UTC  6.1.0   0.1.0    nightly       4  1.01 s  1.00 s - 1.02 s
    RUN 3  2026-01-04 00:00 UTC  6.1.0   0.1.0    nightly       4  1.02 s  1.01 s - 1.03 s
    RUN 4  2026-01-05 00:00 UTC  6.18.0  0.1.0    nightly       4  1.30 s  1.29 s - 1.31 s  SLOWER
    RUN 5  2026-01-06 00:00 UTC  6.18.0  0.1.0    nightly       4  1.31 s  1.30 s - 1.32 s
    RUN 6  2026-01-07 00:00 UTC  6.18.0  0.1.0    nightly       4  1.32 s  1.31 s - 1.33 s
    - Between RUN 3 (6.1.0) and RUN 4 (6.18.0): SLOWER, takes 1.30 times as long [1.24, 1.36]; 3 boots
      before and 3 boots after.

    xfs: 2 RUNs in 2 boots, on 2 × Duron, 64 MiB of memory; kept apart: xfs is not the same as in RUN 3:
    device (loop of 1 GiB; /dev/sdb)

    RUN    begun                 kernel  fsarena  title    trials  figure             95 %  changed
    -----------------------------------------------------------------------------------------------
    RUN 1  2026-01-02 00:00 UTC  6.1.0   0.1.0    nightly       4  800 ms  792 ms - 808 ms
    RUN 2  2026-01-03 00:00 UTC  6.1.0   0.1.0    nightly       4  810 ms                -
    - No change is decided among 6 boots; with the spread that there is, one halfway has to be about
      1.08 times or more.
    Excluded
      - RUN 7, xfs: another machine than RUN 3: host name desk and lap.

    Figures are geometric means; `95 %` is for that RUN or boot alone, by its trials, and of several
    boots or RUNs by these. A change is marked where Student's t and Welch's t on log means of boots
    both decide, with three or more on each side, within 5 % of errors over all 2 cuts in which one was
    looked for in all tables above, and where it is more than ±5 %; its interval is at 97.5 %. That none
    is marked does not show that there is none. What else changed at that time can be the cause as well.
    ");
}

#[test]
fn markdown_has_all_columns() {
    let text = history_markdown("nightly", &sample());
    assert!(text.contains("## nightly") && text.contains("### small-files / create"), "{text}");
    let row = "| RUN 4 | 2026-01-05 00:00 UTC | 6.18.0 | 0.1.0 | nightly | 4 | 1.30 s |";
    assert!(text.contains(row), "{text}");
    assert!(text.contains("SLOWER, takes 1.30 times as long"), "{text}");
}

#[test]
fn the_document_has_base_units_in_its_keys() {
    let document = history_json(&sample());
    assert_eq!((&document["schema"], &document["kind"]), (&2.into(), &"history".into()));
    let series = &document["history"]["questions"][0]["series"][0];
    assert_eq!(series["points"][1]["value_ns"], 1.01e9);
    assert_eq!(series["points"][1].get("value"), None);
    assert_eq!(series["changes"][0]["verdict"], "SLOWER");
    assert_eq!((&document["history"]["by"], &series["unit"]), (&"run".into(), &"boot".into()));
    let mut written = sample();
    written.questions[0].metric = Metric::Written;
    let document = history_json(&written);
    let series = &document["history"]["questions"][0]["series"][0];
    assert_eq!(series["points"][0]["low_bytes"], 0.99e9);
}

#[test]
fn the_chart_has_a_mark_a_figure_and_a_line_at_the_change() {
    let svg = history_svg("small-files", &sample(), PaperWidth::default());
    assert_eq!(svg.matches("<circle").count(), 8, "{svg}");
    assert!(svg.contains("ext4: SLOWER, takes 1.30 times as long [1.24, 1.36]"), "{svg}");
    assert!(svg.contains(">6.18.0<") && svg.contains("decided change"), "{svg}");
    assert!(svg.contains("RUN 4 (6.18.0), 2026-01-05 00:00 UTC: 1.30 s"), "{svg}");
    assert!(svg.contains("create, ext4: from RUN 4 on SLOWER"), "{svg}");
}

proptest! {
    #[test]
    fn no_line_is_too_wide(label in ".{0,60}", value in 1.0f64..1e15, width in 80usize..140) {
        let mut history = sample();
        history.questions[0].series[1].contender.clone_from(&label);
        history.questions[0].series[0].points[0].titles = vec![label.clone()];
        history.questions[0].series[0].points[0].value = value;
        history.questions[0].excluded[0].why = label;
        let text = history_tables(&history, width, plain());
        fits(&text, width)?;
        let svg = history_svg("small-files", &history, PaperWidth::default());
        prop_assert_eq!(svg.matches("<circle").count(), 8);
    }
}
