//! The tables of what a quick RUN finds.

use super::*;
use fsarena_honesty::families::{
    Adjusted, AskedPairs, Explained, FamilyTapeFacts, PhaseCovariates, PhaseNoise, PhasePower,
    Quick, Scenario, ScenarioFigures, TapePhase, courses,
};
use fsarena_honesty::{LeftOut, Rate};
use fsarena_model::run::Clock;
use fsarena_model::seed::Seed;

fn facts() -> FamilyTapeFacts {
    FamilyTapeFacts {
        source: "RUN 1".to_owned(),
        contenders: ["ext4", "ext3", "xfs", "btrfs"].map(str::to_owned).to_vec(),
        clock: Clock::Durable,
        phases: ["create", "read-random"].map(phase).to_vec(),
        phases_left_out: Vec::new(),
        blocks: 200,
        left: LeftOut::default(),
        block_s: 32.0,
        span_s: 6400.0,
    }
}

fn phase(name: &str) -> TapePhase {
    TapePhase::named("small-files", name)
}

fn figures(rule: &str, count: usize) -> FamilyFigures {
    let found = Some(Rate::new(count, 2000));
    let phase = |count, seconds_median| PhaseFigures {
        false_families: Rate::new(31, 1000),
        found: Some(Rate::new(count, 2000)),
        all_found: Some(Rate::new(count / 3, 1000)),
        decided: Rate::new(900, 2000),
        blocks_median: 10.0,
        seconds_median,
    };
    FamilyFigures {
        rule: rule.to_owned(),
        false_families: Rate::new(62, 2000),
        false_differences: Rate::new(62, 2000),
        false_sames: Rate::new(0, 2000),
        phases: vec![phase(count, 123.4), phase(count / 2, 640.2)],
        plays_with_false: Rate::new(60, 1000),
        found,
        decided: Rate::new(1800, 4000),
        blocks_median: 10.0,
        blocks_p90: 10.0,
        seconds_median: 240.0,
        seconds_p90: 260.0,
    }
}

fn power() -> Power {
    let rules: Vec<_> = courses(Quick { least: 4, most: 24, budget_s: 240 })
        .iter()
        .flat_map(|course| course.rules())
        .collect();
    let equal = Scenario::equal(3, AskedPairs::Baseline);
    let row = |factor: f64, count: usize| ScenarioFigures {
        scenario: Scenario { factor, ..equal },
        rules: rules.iter().map(|rule| figures(&rule.key, count)).collect(),
    };
    let of = |name: &str, sd: f64, needed, count| PhasePower {
        phase: phase(name),
        sd_log_ratio: sd,
        needed_blocks: needed,
        found: vec![Rate::new(count / 3, 2000), Rate::new(count, 2000), Rate::new(2000, 2000)],
        false_families: Rate::new(31, 1000),
    };
    let noise = |name: &str, carry_over| PhaseNoise {
        phase: phase(name),
        sd: 0.123,
        sd_ratio: 1.7,
        sd_log_ratio: 0.151,
        autocorrelation: [Some(0.31), Some(0.2), Some(-0.04)],
        common_to_block: 0.25,
        far_to_near: Some(1.24),
        carry_over,
        carry_over_largest: carry_over.map(|share| 3.0 * share),
    };
    let explained = |covariate: Covariate, explained: f64| Explained {
        covariate,
        is_from_outside: covariate.is_from_outside(),
        adjusted: Adjusted { explained, sd: 0.1 },
    };
    let covariates = |name: &str, with: bool| PhaseCovariates {
        phase: phase(name),
        sd: 0.151,
        covariates: if with {
            vec![
                explained(Covariate::Steal, 0.214),
                explained(Covariate::Pause, -0.012),
                explained(Covariate::Queue, 0.4),
            ]
        } else {
            Vec::new()
        },
        from_outside: with.then_some(Adjusted { explained: 0.207, sd: 0.134 }),
    };
    Power {
        tape: facts(),
        replays: 1000,
        margin: 0.05,
        seed: Seed::from_number(1),
        starts: 169,
        contenders: 3,
        block_s: 24.0,
        budget_s: Some(240),
        blocks: 10,
        rule: "runs-10".to_owned(),
        found: Rate::new(2400, 4000),
        false_families: Rate::new(62, 2000),
        phases: vec![of("create", 0.052, Some(5), 1900), of("read-random", 0.151, Some(31), 500)],
        rules: rules.clone(),
        scenarios: vec![row(1.0, 0), row(1.05, 700), row(1.1, 1200), row(1.3, 2000)],
        noise: vec![noise("create", Some(0.034)), noise("read-random", None)],
        covariates: vec![covariates("create", true), covariates("read-random", false)],
    }
}

#[test]
fn what_a_quick_run_finds_and_why_not_more() {
    insta::assert_snapshot!(power_tables(&[power()], 100, Style::default()));
}

#[test]
fn no_line_is_wider_than_a_hundred_columns() {
    let text = power_tables(&[power()], 100, Style::default());
    assert!(text.lines().all(|line| crate::text::width_of(line) <= 100), "{text}");
}

#[test]
fn enough_power_and_no_covariates_are_said() {
    let mut power = power();
    power.found = Rate::new(3300, 4000);
    power.covariates = Vec::new();
    power.budget_s = None;
    let text = power_tables(&[power], 100, Style::default());
    assert!(!text.contains("less than the 80 %"), "{text}");
    assert!(text.contains("none that differ"), "{text}");
    assert!(!text.contains("as many as fit"), "{text}");
}

#[test]
fn a_document_is_what_its_schema_says() {
    crate::schema::assert_valid("honesty-power", "tapes", serde_json::json!([power()]));
}
