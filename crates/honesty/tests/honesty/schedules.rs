//! Which slot is said to be of whom, how many are taken, and what they cost.

use crate::synthetic::tape_of;
use fsarena_honesty::{Label, Rule, Slots, Tape, all_rules, longest_window};
use fsarena_model::seed::Seed;
use fsarena_model::verdict::Verdict;

fn rule(key: &str) -> Rule {
    all_rules(0.02).into_iter().find(|rule| rule.key == key).expect("the key of a rule")
}

/// The labels that a rule gave, and its verdict.
fn played(key: &str, tape: &Tape, start: usize, factor: f64) -> (String, Verdict) {
    let mut slots = Slots::new(tape, start, factor, Seed::from_number(2).rng());
    let play = rule(key).play(&mut slots);
    let letter = |label: &Label| if *label == Label::A { 'A' } else { 'B' };
    (slots.labels().iter().map(letter).collect(), play.verdict)
}

/// Two values that take turns, 1 % apart.
fn even() -> Tape {
    let logs: Vec<f64> = (0..200).map(|at| 0.01 * f64::from(at % 2)).collect();
    tape_of("even", &logs)
}

#[test]
fn sequential_schedules_are_all_of_a_then_all_of_b() {
    let tape = even();
    for (key, runs) in [
        ("mean-3", 3),
        ("bars-3", 3),
        ("bars-10", 10),
        ("phoronix-like", 3),
        ("pytest-like", 5),
        ("hyperfine-like", 10),
        ("benchstat-like", 10),
        ("criterion-like", 10),
    ] {
        let expected = "A".repeat(runs) + &"B".repeat(runs);
        assert_eq!(played(key, &tape, 0, 1.3), (expected, Verdict::Slower), "{key}");
    }
}

#[test]
fn interleaved_benchstat_takes_turns() {
    assert_eq!(played("benchstat-like-interleaved", &even(), 0, 1.3).0, "AB".repeat(10));
}

#[test]
fn our_schedules_are_pairs_in_random_order() {
    let tape = even();
    for (key, slots) in [("fsarena", 8), ("fsarena-fixed-10", 20), ("peeking", 6)] {
        let (labels, verdict) = played(key, &tape, 0, 1.3);
        assert_eq!((labels.len(), verdict), (slots, Verdict::Slower), "{key}: {labels}");
        let pairs: Vec<&str> = (0..slots / 2).map(|at| &labels[2 * at..2 * at + 2]).collect();
        assert!(pairs.iter().all(|pair| ["AB", "BA"].contains(pair)), "{key}: {labels}");
        assert!(pairs.iter().any(|pair| *pair != pairs[0]), "{key}: one order alone: {labels}");
    }
}

#[test]
fn phoronix_goes_on_while_a_side_spreads() {
    // The first three are 10 % apart; with each further equal one the spread falls.
    let mut logs = vec![0.0; 200];
    logs[0] = 0.1;
    let (labels, verdict) = played("phoronix-like", &tape_of("one", &logs), 0, 1.0);
    // sd ÷ mean of one value 10.5 % above n - 1 equal ones is about 0.105 ÷ √n: below 3 % from 13.
    assert_eq!(labels, "A".repeat(12) + "BBB");
    assert_eq!(verdict, Verdict::Undecided);
    logs[0] = 0.06;
    // 0.0618 ÷ √n: below 3 % from 5.
    assert_eq!(played("phoronix-like", &tape_of("one", &logs), 0, 1.0).0, "AAAAABBB");
}

#[test]
fn no_rule_takes_more_than_it_says_and_the_longest_takes_as_many() {
    // Equal on both sides but for noise far beyond the margin: nobody can decide.
    let tape = crate::synthetic::tape_of("wild", &wild());
    let mut most = 0;
    for rule in all_rules(0.02) {
        for number in 0..50 {
            let seed = Seed::from_number(2).child("play", number);
            let mut slots = Slots::new(&tape, 0, 1.0, seed.rng());
            let _ = rule.play(&mut slots);
            assert!(slots.labels().len() <= rule.most, "{}", rule.key);
            most = most.max(slots.labels().len());
        }
    }
    assert_eq!((most, longest_window()), (64, 64));
}

fn wild() -> Vec<f64> {
    crate::synthetic::white()
        .values
        .iter()
        .take(64)
        .map(|value| 10.0 * (value / 1e9).ln())
        .collect()
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn a_window_does_not_wrap_around() {
    let tape = even();
    let mut slots = Slots::new(&tape, 199, 1.0, Seed::from_number(1).rng());
    slots.take_all(Label::A, 2);
}

#[test]
fn an_effect_multiplies_b_alone_and_lengthens_its_trials() {
    let tape = tape_of("flat", &[0.0; 4]);
    let mut slots = Slots::new(&tape, 0, 1.3, Seed::from_number(1).rng());
    assert_eq!(slots.take_all(Label::A, 2), [1e9, 1e9]);
    assert!((slots.machine_s() - 20.0).abs() < 1e-9);
    assert_eq!(slots.take(Label::B), 1.3e9);
    // Its phase took a second and takes 0.3 s longer.
    assert!((slots.machine_s() - 30.3).abs() < 1e-9, "{}", slots.machine_s());
    let mut bytes = tape.clone();
    bytes.metric = fsarena_model::verdict::Metric::Written;
    let mut slots = Slots::new(&bytes, 0, 1.3, Seed::from_number(1).rng());
    assert_eq!(slots.take(Label::B), 1.3e9);
    assert!((slots.machine_s() - 10.0).abs() < 1e-9);
}

#[test]
fn equal_values_are_no_difference_for_anyone() {
    let tape = tape_of("flat", &[0.0; 64]);
    for rule in all_rules(0.02) {
        let mut slots = Slots::new(&tape, 0, 1.0, Seed::from_number(1).rng());
        let play = rule.play(&mut slots);
        assert!(
            matches!(play.verdict, Verdict::Same | Verdict::Undecided),
            "{}: {play:?}",
            rule.key
        );
        assert!(play.log_ratio.abs() < 1e-12, "{}: {play:?}", rule.key);
    }
}

#[test]
fn the_direction_is_that_of_b() {
    let tape = even();
    for rule in all_rules(0.02) {
        for (factor, expected) in [(1.5, Verdict::Slower), (1.0 / 1.5, Verdict::Faster)] {
            let mut slots = Slots::new(&tape, 0, factor, Seed::from_number(3).rng());
            let play = rule.play(&mut slots);
            assert_eq!(play.verdict, expected, "{} at {factor}", rule.key);
            assert!((play.log_ratio - factor.ln()).abs() < 0.02, "{}: {play:?}", rule.key);
            if let Some((low, high)) = play.interval {
                assert!(low < high && low - 0.02 < factor.ln() && factor.ln() < high + 0.02);
            }
        }
    }
}
