//! The honesty harness: what a rule says of a difference that is not there, and of one whose size
//! is known.
//!
//! A [`Tape`] holds consecutive whole trials of one unchanged configuration. A [`Rule`] takes slots
//! of it in order, calls each A or B as its schedule has it, stops when its own rule says so and
//! gives a verdict. Where nothing was done to B, every FASTER and SLOWER is false; where the values
//! of B were multiplied, the truth is that factor. All rules play on the same tape from the same
//! starting slots, and everything follows from one seed.
//!
//! A tape of several contenders is played by whole RUNs: see [`families`].
//!
//! Pure: nothing here reads a file, a clock or the machine.
#![forbid(unsafe_code)]

mod facts;
pub mod families;
mod figures;
mod rules;
mod slots;
mod tape;

pub use facts::TapeFacts;
pub use figures::{EffectFigures, FALSE_PER_THOUSAND, Rate, RuleFigures, binomial_bounds};
pub use rules::{Rule, RuleRun, all as all_rules, ours};
pub use slots::{Label, Slots};
pub use tape::{LeftOut, Tape, TapeError, tapes};

use figures::RuleTally;
use fsarena_model::seed::Seed;
#[cfg(not(feature = "schema"))]
use fsarena_schema_stub::JsonSchema;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;

/// Factors that the values of B are multiplied by; the first injects nothing. The margin is added
/// where it is not among them.
pub const EFFECTS: [f64; 7] = [1.0, 1.005, 1.01, 1.02, 1.05, 1.10, 1.30];

/// What is played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// Plays of each rule for each effect.
    pub replays: u32,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// Where all starts, coins and resamples come from.
    pub seed: Seed,
}

/// What all rules said on one tape.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Replayed {
    /// What the tape is like.
    pub tape: TapeFacts,
    /// Plays of each rule for each effect.
    pub replays: u32,
    pub margin: f64,
    /// Where all starts, coins and resamples came from.
    pub seed: Seed,
    /// Starting slots that there are.
    pub starts: usize,
    /// One row a rule.
    pub rules: Vec<RuleFigures>,
}

impl Replayed {
    /// The rows of the shipped default that have more false verdicts than the promise allows.
    pub fn broken(&self) -> impl Iterator<Item = &RuleFigures> {
        self.rules.iter().filter(|rule| rule.is_gate && rule.is_over_limit())
    }
}

/// Most slots that any rule takes.
#[must_use]
pub fn longest_window() -> usize {
    all_rules(0.02).iter().map(|rule| rule.most).max().unwrap_or(0)
}

/// Trials that a tape needs: windows of the longest rule shall begin at as many places as they have
/// slots.
#[must_use]
pub fn trials_needed() -> usize {
    2 * longest_window()
}

/// Plays every rule on `tape`. Windows begin at random slots, the same for every rule and effect,
/// and never wrap around its end.
///
/// # Errors
/// A tape with fewer than [`trials_needed`] trials, or with values that have no logarithm.
pub fn replay(tape: &Tape, config: &Config) -> Result<Replayed, TapeError> {
    let (window, trials) = (longest_window(), tape.values.len());
    let (source_name, workload, phase) =
        (tape.source.clone(), tape.workload.clone(), tape.phase.clone());
    if trials < trials_needed() {
        let needs = trials_needed();
        return Err(TapeError::Short { source_name, workload, phase, trials, needs, window });
    }
    let is_bad = |value: &f64| !(value.is_finite() && *value > 0.0);
    if let Some(index) = tape.values.iter().position(is_bad) {
        return Err(TapeError::BadValue { source_name, workload, phase, index });
    }
    let Ok(facts) = TapeFacts::from_tape(tape) else {
        return Err(TapeError::Nothing { source_name });
    };
    let starts = trials - window + 1;
    let rules = all_rules(config.margin);
    let effects = effects(config.margin);
    // No rule sees another: in which order they play does not matter.
    let rows = std::thread::scope(|scope| {
        let play = |rule| {
            let effects = &effects;
            scope.spawn(move || row(rule, tape, config, starts, effects))
        };
        let at_play: Vec<_> = rules.iter().map(play).collect();
        at_play.into_iter().map(|rule| rule.join().expect("no rule panics")).collect()
    });
    Ok(Replayed {
        tape: facts,
        replays: config.replays,
        margin: config.margin,
        seed: config.seed,
        starts,
        rules: rows,
    })
}

/// [`EFFECTS`] and exactly the margin, in ascending order.
fn effects(margin: f64) -> Vec<f64> {
    let mut effects = EFFECTS.to_vec();
    let edge = 1.0 + margin;
    if !effects.iter().any(|factor| (factor - edge).abs() < 1e-12) {
        effects.push(edge);
        fsarena_stats::sort(&mut effects);
    }
    effects
}

fn row(rule: &Rule, tape: &Tape, config: &Config, starts: usize, effects: &[f64]) -> RuleFigures {
    let mut games = RuleTally::new(rule, config.margin, effects);
    for number in 0..u64::from(config.replays) {
        let seed = config.seed.child("replay", number);
        let start = seed.rng().below(starts as u64) as usize;
        for (index, &factor) in effects.iter().enumerate() {
            // The same coins for every effect: what differs is the effect alone.
            let mut slots = Slots::new(tape, start, factor, seed.child(rule.key, 0).rng());
            let play = rule.play(&mut slots);
            games.add(index, start, &play, &slots);
        }
    }
    games.figures(config.seed.child("clusters", 0))
}
