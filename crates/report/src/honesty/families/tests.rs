//! The tables of families and what stands below them.

use super::*;
use fsarena_honesty::families::{
    PhaseFigures, Quick, ScenarioFigures, TapePhase, courses, scenarios,
};
use fsarena_honesty::{LeftOut, Rate};
use fsarena_model::run::Clock;
use fsarena_model::seed::Seed;

fn figures(scenario: &Scenario, rule: &FamilyRule, wrong: usize) -> FamilyFigures {
    let found = |count| (scenario.factor != 1.0).then(|| Rate::new(count, 2000));
    let phase = |wrong, count| PhaseFigures {
        false_families: Rate::new(wrong, 1000),
        found: found(count),
        all_found: found(count / 2),
        decided: Rate::new(900, 2000),
        blocks_median: 8.0,
        seconds_median: 120.0,
    };
    FamilyFigures {
        rule: rule.key.clone(),
        false_families: Rate::new(2 * wrong, 2000),
        false_differences: Rate::new(2 * wrong, 2000),
        false_sames: Rate::new(7, 2000),
        phases: vec![phase(wrong, 1500), phase(wrong + 10, 700)],
        plays_with_false: Rate::new(wrong, 1000),
        found: found(1100),
        decided: Rate::new(1800, 4000),
        blocks_median: 12.0,
        blocks_p90: 32.0,
        seconds_median: 180.4,
        seconds_p90: 512.3,
    }
}

fn replayed(wrong: usize) -> FamiliesReplayed {
    let rules: Vec<FamilyRule> = courses(Quick { least: 4, most: 24, budget_s: 240 })
        .iter()
        .flat_map(|course| course.rules())
        .collect();
    let phase = |phase: &str| TapePhase::named("small-files", phase);
    let row = |scenario: Scenario| ScenarioFigures {
        scenario,
        rules: rules.iter().map(|rule| figures(&scenario, rule, wrong)).collect(),
    };
    FamiliesReplayed {
        tape: FamilyTapeFacts {
            source: "RUN 1".to_owned(),
            contenders: ["ext4", "ext3", "xfs", "btrfs"].map(str::to_owned).to_vec(),
            clock: Clock::Durable,
            phases: vec![phase("create"), phase("read-random")],
            phases_left_out: vec!["small-files delete: xfs has no value".to_owned()],
            blocks: 197,
            left: LeftOut { incomplete: 3, ..LeftOut::default() },
            block_s: 18.64,
            span_s: 3700.0,
        },
        replays: 1000,
        margin: 0.05,
        seed: Seed::from_number(1),
        starts: 166,
        rules: rules.clone(),
        scenarios: [3, 4].into_iter().flat_map(|k| scenarios(k, 0.05)).map(row).collect(),
    }
}

#[test]
fn a_tape_of_several_contenders_with_its_tables() {
    let text = family_tables(&[replayed(45)], 100, Style::default());
    insta::assert_snapshot!(text);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [80, 100, 140] {
        let text = family_tables(&[replayed(45)], width, Style::default());
        let widest = text.lines().map(crate::text::width_of).max().unwrap();
        assert!(widest <= width, "{widest} of {width}: {text}");
    }
}

#[test]
fn a_broken_promise_is_said() {
    let text = family_tables(&[replayed(90)], 100, Style::default());
    assert!(text.contains("MORE false families than 5 % allows"), "{text}");
    assert!(!family_tables(&[replayed(60)], 100, Style::default()).contains("MORE"));
}

#[test]
fn a_document_is_what_its_schema_says() {
    crate::schema::assert_valid("honesty-families", "tapes", serde_json::json!([replayed(45)]));
}
