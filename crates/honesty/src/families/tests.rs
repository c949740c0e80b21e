//! Tapes made by hand, of which the truth is known.

use super::play::{Draw, Played, Prepared, Window, play};
use super::replays::{play_all, starts};
use super::synthetic::{Normal, tape};
use super::*;
use fsarena_model::run::RunPlan;
use fsarena_model::score::TrialScore;
use fsarena_model::seed::Seed;
use fsarena_model::verdict::{Stop, StopWhy};
use fsarena_stats::interval::t_quantile;
use fsarena_verdict::Judge;

/// Normal noise of this standard deviation around levels that differ.
fn quiet_and_equal(blocks: usize, sd: f64) -> FamilyTape {
    let mut normal = Normal::new(7);
    tape(&["ext4", "xfs", "btrfs", "ext3"], 1, blocks, |_, contender, _| {
        18.0 + contender as f64 + sd * normal.next()
    })
}

const QUICK: Quick = Quick { least: 4, most: 24, budget_s: 240 };

fn config(replays: u32) -> FamilyConfig {
    FamilyConfig { replays, margin: 0.05, seed: Seed::from_number(1), quick: QUICK }
}

fn one(tape: &FamilyTape, scenario: Scenario, course: Course, replays: u32) -> FamilyFigures {
    let starts = starts(tape).unwrap();
    let mut all = play_all(tape, &[scenario], &[course], starts, &config(replays));
    all.remove(0).rules.remove(0)
}

/// Shares of families of `rivals` of one baseline, with normal noise and a true log ratio of
/// `effect`, in which any |t| of n blocks exceeds the level that Bonferroni gives each pair; and of
/// pairs that Holm's procedure finds. Written without the code under test.
fn simulated(n: usize, rivals: usize, sd: f64, effect: f64) -> (f64, f64) {
    let (mut normal, families) = (Normal::new(99), 20_000);
    let limit = |left: usize| t_quantile((n - 1) as f64, 1.0 - 0.05 / (2.0 * left as f64));
    let limits: Vec<f64> = (1..=rivals).map(limit).collect();
    let (mut any, mut pairs) = (0, 0);
    for _ in 0..families {
        let base: Vec<f64> = (0..n).map(|_| sd * normal.next()).collect();
        let mut ts: Vec<f64> = (0..rivals)
            .map(|_| {
                let d: Vec<f64> = base.iter().map(|b| effect + sd * normal.next() - b).collect();
                let mean = d.iter().sum::<f64>() / n as f64;
                let squares: f64 = d.iter().map(|d| (d - mean).powi(2)).sum();
                (mean / (squares / (n - 1) as f64 / n as f64).sqrt()).abs()
            })
            .collect();
        ts.sort_by(|a, b| b.total_cmp(a));
        let found = (0..rivals).take_while(|&at| ts[at] > limits[rivals - at - 1]).count();
        any += usize::from(found > 0);
        pairs += found;
    }
    (
        f64::from(any as u32) / f64::from(families),
        pairs as f64 / f64::from(families) / rivals as f64,
    )
}

#[test]
fn false_families_of_normal_noise_are_those_of_the_textbook() {
    let tape = quiet_and_equal(3000, 0.2);
    let (any, _) = simulated(8, 2, 0.2, 0.0);
    let scenario = Scenario::equal(3, AskedPairs::Baseline);
    let figures = one(&tape, scenario, one_look(8), 1500);
    let share = figures.false_differences.share();
    assert!((share - any).abs() < 0.02, "{share} on the tape, {any} simulated");
    assert!(figures.found.is_none());
    assert_eq!((figures.blocks_median, figures.seconds_median), (8.0, 48.0));
}

#[test]
fn power_with_normal_noise_is_that_of_the_textbook() {
    let tape = quiet_and_equal(3000, 0.05);
    let (_, found) = simulated(6, 2, 0.05, 1.1f64.ln());
    assert!((0.3..0.9).contains(&found), "{found}");
    let scenario = Scenario { factor: 1.1, ..Scenario::equal(3, AskedPairs::Baseline) };
    let figures = one(&tape, scenario, one_look(6), 1500);
    let share = figures.found.unwrap().share();
    assert!((share - found).abs() < 0.04, "{share} on the tape, {found} simulated");
}

#[test]
fn all_pairs_have_one_with_the_effect_and_others_without() {
    let tape = quiet_and_equal(200, 0.001);
    let scenario = Scenario { factor: 1.1, ..Scenario::equal(4, AskedPairs::All) };
    let figures = one(&tape, scenario, one_look(8), 50);
    let found = figures.found.unwrap();
    assert_eq!((found.count, found.of), (150, 150));
    // The three others are the same: true as well, but for shapes that chance makes different.
    assert!(figures.decided.count > 280 && figures.decided.of == 300, "{:?}", figures.decided);
    assert_eq!(figures.false_families.count, 0);
    // Every second trial of 2 s takes a tenth of its phase longer: e^18 … e^21 ns.
    assert!(figures.seconds_median > 64.0, "{}", figures.seconds_median);
}

#[test]
fn an_effect_at_the_margin_makes_same_false() {
    let tape = quiet_and_equal(400, 0.01);
    let scenario = Scenario { factor: 1.05, ..Scenario::equal(3, AskedPairs::Baseline) };
    let figures = one(&tape, scenario, one_look(10), 1000);
    assert!((0.005..0.1).contains(&figures.false_sames.share()), "{:?}", figures.false_sames);
    let inside = Scenario { factor: 1.03, ..scenario };
    assert_eq!(one(&tape, inside, one_look(10), 200).false_sames.count, 0);
}

#[test]
fn noise_is_scaled_beside_the_drift_of_the_machine() {
    let tape = quiet_and_equal(100, 0.02);
    let prepared = Prepared::new(&tape);
    let equal = Scenario::equal(3, AskedPairs::Baseline);
    let scenario = Scenario { noise: 5.0, odd: Odd::Baseline, factor: 1.3, ..equal };
    let deal = Seed::from_number(1);
    let draw = Draw { start: 10, places: vec![2, 0, 3], deal };
    let median = |contender: usize| fsarena_stats::median(&tape.logs[0][contender]).unwrap();
    let level = (0..4).map(median).sum::<f64>() / 4.0;
    let away = |contender: usize, block: usize| tape.logs[0][contender][block] - median(contender);
    let drift = (0..4).map(|contender| away(contender, 15)).sum::<f64>() / 4.0;
    let mut window = Window::new(&prepared, &scenario);
    // Three contenders a block: the trials of the tape's block 15 are 15, 16 and 17.
    let mut played = |truth: Truth| {
        window.fill(&prepared, &Scenario { truth, ..scenario }, &draw);
        [15, 16, 17].map(|at| window.log_ns(at, 0) - level)
    };
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found}");
    let own = played(Truth::Tape);
    near(own[0], drift + 5.0 * (away(2, 15) - drift));
    near(own[1], away(0, 15) + 1.3f64.ln());
    near(own[2], away(3, 15) + 1.3f64.ln());
    near(played(Truth::Reaction)[0], 5.0 * away(2, 15));
    near(played(Truth::Reaction)[2], own[2]);

    // 64 blocks around the middle of 10..42.
    let shift = |contender: usize| {
        fsarena_stats::median(&tape.logs[0][contender][0..64]).unwrap() - median(contender)
    };
    near(played(Truth::Session)[2], away(3, 15) - shift(3) + 1.3f64.ln());

    // The same rests, at other places.
    let dealt = played(Truth::Exchangeable);
    let moved = window.moved(0);
    assert!(moved != 0.0);
    let rests = [(dealt[0] - drift + moved) / 5.0, dealt[1] - drift - 1.3f64.ln()];
    for rest in rests {
        let is_one = |c: &usize| (away(*c, 15) - drift - rest).abs() < 1e-6;
        assert_eq!((0..4).filter(is_one).count(), 1, "{rest}");
    }
}

/// The scores that a RUN with these looks would have stored by the end of so many blocks: a
/// contender leaves once all its pairs are decided.
fn stored(plan: &RunPlan, window: &Window, played: &Played, blocks: u32) -> Vec<TrialScore> {
    let question = &plan.verdict.as_ref().unwrap().questions[0];
    let asked = plan.asked_pairs(question);
    let is_open = |contender: usize, block: u32| {
        let before = played.looks.iter().filter(|look| look.blocks <= block);
        let decided: Vec<_> = before.flat_map(|look| &look.decided).collect();
        let own = asked.iter().filter(|(a, b)| *a == contender || *b == contender);
        let is_decided = |(a, b): &(usize, usize)| {
            decided.iter().any(|pair| (pair.a.min(pair.b), pair.a.max(pair.b)) == (*a, *b))
        };
        own.filter(|pair| !is_decided(pair)).count() > 0
    };
    let slots = plan.schedule.iter().zip(window.scores());
    let taken =
        slots.filter(|(slot, _)| slot.block < blocks && is_open(slot.contender, slot.block));
    taken.map(|(_, score)| score.clone()).collect()
}

/// What is played is what a stored RUN with these scores would say, whatever ended it.
#[test]
fn plays_are_the_judge_of_stored_runs() {
    let tape = quiet_and_equal(120, 0.04);
    let prepared = Prepared::new(&tape);
    let course = courses(QUICK).remove(0);
    let (mut decided, mut cap, mut budget) = (0, 0, 0);
    for number in 0..60 {
        let pairs = if number % 2 == 0 { AskedPairs::All } else { AskedPairs::Baseline };
        let factor = [1.0, 1.05, 1.1][number % 3];
        let scenario = Scenario { factor, ..Scenario::equal(3 + number % 2, pairs) };
        let plan = prepared.plan(&scenario, &course, 0.05);
        let mut window = Window::new(&prepared, &scenario);
        let seed = Seed::from_number(number as u64);
        window.fill(&prepared, &scenario, &Draw::new(&tape, 80, scenario.contenders, &seed));
        let played = play(&course, &plan, &window);
        let without_budget = played[0].blocks as u32;
        let ends = course.budget_ends.iter().filter(|end| **end < without_budget);
        let ends = std::iter::once(&without_budget).chain(ends);
        for (played, &blocks) in played.iter().zip(ends) {
            let why = if blocks < without_budget {
                budget += 1;
                StopWhy::Budget
            } else if blocks == 32 {
                cap += 1;
                StopWhy::Cap
            } else {
                decided += 1;
                StopWhy::Decided
            };
            let scores = stored(&plan, &window, played, blocks);
            let judge = Judge::replay(&plan, &scores, Some(Stop { blocks, why }), &[]).unwrap();
            assert_eq!(judge.looks(), played.looks, "{scenario:?} {blocks} {why:?}");
        }
    }
    assert!(decided > 5 && cap > 2 && budget > 50, "{decided} {cap} {budget}");
}

fn share(tape: &FamilyTape, scenario: Scenario) -> f64 {
    one(tape, scenario, one_look(10), 500).false_families.share()
}

/// One contender drifts slowly against the others: as seen from the whole tape verdicts are false,
/// for their own session they are not, and where rests are dealt out nobody drifts.
#[test]
fn a_slow_drift_of_one_is_false_for_the_tape_alone() {
    let mut normal = Normal::new(3);
    let tape = tape(&["ext4", "xfs", "btrfs"], 1, 1200, |_, contender, block| {
        let turn = std::f64::consts::TAU * block as f64 / 600.0;
        let drift = if contender == 0 { 0.1 * turn.sin() } else { 0.0 };
        18.0 + drift + 0.05 * normal.next()
    });
    let equal = Scenario::equal(3, AskedPairs::Baseline);
    assert!(share(&tape, Scenario { truth: Truth::Tape, ..equal }) > 0.3);
    assert!(share(&tape, Scenario { truth: Truth::Session, ..equal }) < 0.1);
    assert!(share(&tape, equal) < 0.08);
}

/// The machine drifts for all: that cancels, but for one that reacts otherwise.
#[test]
fn a_drift_of_the_machine_is_false_for_one_that_reacts_otherwise() {
    let mut normal = Normal::new(3);
    let tape = tape(&["ext4", "xfs", "btrfs", "ext3"], 1, 1200, |_, _, block| {
        let turn = std::f64::consts::TAU * block as f64 / 600.0;
        18.0 + 0.1 * turn.sin() + 0.05 * normal.next()
    });
    let noisy =
        Scenario { odd: Odd::Another, noise: 0.2, ..Scenario::equal(3, AskedPairs::Baseline) };
    for truth in [Truth::Exchangeable, Truth::Tape] {
        let found = share(&tape, Scenario { truth, ..noisy });
        assert!(found < 0.08, "{truth:?}: {found}");
    }
    assert!(share(&tape, Scenario { truth: Truth::Reaction, ..noisy }) > 0.3);
}

/// Rests that are more often a little below than far above: multiplied, they would move the
/// typical ratio, and true verdicts would count as false.
#[test]
fn skewed_noise_is_no_difference_between_equals() {
    let mut normal = Normal::new(7);
    let tape = tape(&["ext4", "xfs", "btrfs", "ext3"], 1, 1200, |_, _, _| {
        18.0 + 0.05 * (1.2 * normal.next()).exp()
    });
    let equal = Scenario::equal(3, AskedPairs::Baseline);
    for (odd, noise) in [(Odd::Another, 5.0), (Odd::Baseline, 0.2)] {
        let scenario = Scenario { odd, noise, ..equal };
        let found = one(&tape, scenario, one_look(24), 500).false_families.share();
        assert!(found < 0.08, "{odd:?} ×{noise}: {found}");
    }
}

#[test]
fn heavy_tails_do_not_break_the_promise() {
    let mut normal = Normal::new(11);
    let tape = tape(&["ext4", "xfs", "btrfs"], 1, 1500, |_, _, _| 18.0 + 0.05 * normal.heavy());
    let course = Course { budget_ends: Vec::new(), ..courses(QUICK).remove(0) };
    let scenario = Scenario::equal(3, AskedPairs::Baseline);
    let figures = one(&tape, scenario, course, 400);
    assert!(figures.false_families.share() < 0.065, "{:?}", figures.false_families);
}

#[test]
fn everything_follows_from_the_seed() {
    let tape = quiet_and_equal(70, 0.05);
    let config = config(4);
    let once = replay_families(&tape, &config).unwrap();
    assert_eq!(once, replay_families(&tape, &config).unwrap());
    let other = FamilyConfig { seed: Seed::from_number(2), ..config };
    assert_ne!(once.scenarios, replay_families(&tape, &other).unwrap().scenarios);
    assert_eq!(once.starts, 39);
    assert_eq!(once.scenarios.len(), 2 * ((7 + 4) * 4 + (6 + 3) + 2 * 2));
    let rules: Vec<&str> = once.rules.iter().map(|rule| rule.key.as_str()).collect();
    assert!(once.scenarios.iter().all(|row| {
        row.rules.iter().map(|figures| figures.rule.as_str()).eq(rules.iter().copied())
    }));
    assert!(rules.contains(&"looks") && rules.contains(&"quick"), "{rules:?}");
    assert!((once.tape.block_s - 8.0).abs() < 1e-9 && (once.tape.span_s - 560.0).abs() < 1e-9);
}

#[test]
fn short_tapes_are_refused() {
    let short = |blocks: usize| {
        replay_families(&quiet_and_equal(blocks, 0.1), &config(1)).unwrap_err().to_string()
    };
    assert_eq!(
        short(63),
        "RUN 1: 63 complete blocks, and 64 are needed: the longest rule plays 32 in a row, and \
         plays must be able to start at as many places"
    );
    assert!(short(1).starts_with("RUN 1: 1 complete block, and 64 are needed"), "{}", short(1));
    let mut some_left_out = quiet_and_equal(20, 0.1);
    some_left_out.left.incomplete = 90;
    let said = replay_families(&some_left_out, &config(1)).unwrap_err().to_string();
    assert!(said.contains("20 complete blocks (90 left out)"), "{said}");
}

#[test]
fn two_contenders_are_a_family_too() {
    let mut normal = Normal::new(5);
    let tape = tape(&["ext4", "xfs"], 2, 64, |_, _, _| 18.0 + 0.05 * normal.next());
    let replayed = replay_families(&tape, &config(2)).unwrap();
    assert!(replayed.scenarios.iter().all(|row| row.scenario.contenders == 2));
    assert!(replayed.scenarios.iter().all(|row| row.scenario.pairs == AskedPairs::Baseline));
}
