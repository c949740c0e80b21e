//! The table of rules and what stands below it.

use super::*;
use fsarena_honesty::{EffectFigures, LeftOut, Rate};
use fsarena_model::run::Clock;
use fsarena_model::seed::Seed;
use fsarena_model::verdict::Metric;

fn effect(factor: f64, slower: usize, faster: usize, runs: f64) -> EffectFigures {
    EffectFigures {
        factor,
        faster,
        slower,
        same: 0,
        undecided: 1000 - slower - faster,
        coverage: None,
        exaggeration: None,
        runs_median: runs,
        runs_p90: 2.0 * runs,
        seconds_median: 2.5 * runs,
        seconds_p90: 5.0 * runs,
    }
}

fn rule(name: &str, is_ours: bool, wrong: usize) -> RuleFigures {
    let false_verdicts = Rate::new(wrong, 1000);
    let same = Rate::new(21, 1000);
    RuleFigures {
        key: name.to_owned(),
        name: name.to_owned(),
        legend: format!("what {name} does"),
        is_ours,
        is_gate: is_ours,
        false_verdicts,
        clusters_low: (!is_ours).then_some(0.02),
        clusters_high: (!is_ours).then_some(0.07),
        clusters: if is_ours { 3 } else { 30 },
        any_claim: 0.5,
        false_same: is_ours.then_some(same),
        least_coverage: is_ours.then_some(0.964),
        effects: vec![
            effect(1.0, wrong, 0, 6.0),
            effect(1.02, 400, 31, 6.0),
            effect(1.05, 870, 0, 6.0),
            effect(1.1, 990, 0, 6.0),
            effect(1.3, 1000, 0, 6.0),
        ],
    }
}

fn replayed(wrong: usize) -> Replayed {
    Replayed {
        tape: TapeFacts {
            source: "RUN 1".to_owned(),
            workload: "small-files".to_owned(),
            phase: "create".to_owned(),
            metric: Metric::Time,
            clock: Clock::Durable,
            trials: 240,
            left: LeftOut { incomplete: 2, ..LeftOut::default() },
            median: 123_456_789.0,
            cv: 0.0312,
            lag1: Some(0.31),
            longest_stretch: 14,
            last_to_first: 1.0234,
            second_to_first: 0.987,
            trial_s: 2.5,
            span_s: 605.0,
            longest_pause_s: 0.31,
        },
        replays: 1000,
        margin: 0.02,
        seed: Seed::from_number(1),
        starts: 177,
        rules: vec![rule("fsarena", true, wrong), rule("mean of 3, > 2 %", false, 432)],
    }
}

#[test]
fn a_tape_with_its_table_and_what_follows() {
    let text = honesty_tables(&[replayed(45)], 120, Style::default());
    insta::assert_snapshot!(text);
}

#[test]
fn narrow_terminals_keep_what_matters() {
    let text = honesty_tables(&[replayed(45)], 80, Style::default());
    assert!(text.lines().all(|line| crate::text::width_of(line) <= 80), "{text}");
    assert!(text.contains("A/A") && text.contains("time"), "{text}");
    assert!(!text.contains("  tapes like it"), "{text}");
}

#[test]
fn all_that_was_promised_fits_into_a_hundred_columns() {
    let mut tape = replayed(45);
    tape.rules.push(rule("benchstat-like, ABAB", false, 900));
    let text = honesty_tables(&[tape], 100, Style::default());
    let row = text.lines().find(|line| line.starts_with("benchstat-like, ABAB")).unwrap();
    assert_eq!(row.split_whitespace().count(), 2 + 11, "{text}");
}

#[test]
fn a_broken_promise_is_said() {
    let text = honesty_tables(&[replayed(66)], 120, Style::default());
    assert!(text.contains("MORE than the 65 per 1,000"), "{text}");
    assert!(!honesty_tables(&[replayed(65)], 120, Style::default()).contains("MORE"));
}

#[test]
fn documents_are_what_their_schema_says() {
    let tapes = serde_json::json!([replayed(45)]);
    crate::schema::assert_valid("honesty", "tapes", tapes);
    let articles = crate::json::references(&[(2003, "File systems")])["articles"].clone();
    crate::schema::assert_valid("references", "articles", articles);
}
