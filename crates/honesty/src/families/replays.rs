//! Scenarios played on a tape by every rule, and what came out.

use super::play::{Draw, Prepared, Window, play};
use super::rules::{Course, FamilyRule, Quick, courses, longest_play};
use super::scenario::{Scenario, Truth, scenarios};
use super::tally::{FamilyFigures, FamilyTally};
use super::tape::{FamilyTape, FamilyTapeError, TapePhase, TapeTrial};
use crate::tape::LeftOut;
use fsarena_model::run::{Clock, RunPlan};
use fsarena_model::seed::Seed;
use serde::Serialize;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Contenders of the RUNs that are played, where the tape has so many.
const PLAYED: [usize; 2] = [3, 4];

/// What is played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FamilyConfig {
    /// Plays of each rule in each scenario.
    pub replays: u32,
    /// SAME means within 1 ÷ (1 + margin) and 1 + margin.
    pub margin: f64,
    /// Where all draws come from.
    pub seed: Seed,
    /// What `quick` does.
    pub quick: Quick,
}

/// What all rules said on a tape of several contenders.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct FamiliesReplayed {
    pub tape: FamilyTapeFacts,
    pub replays: u32,
    pub margin: f64,
    pub seed: Seed,
    /// Blocks that a play may begin with.
    pub starts: usize,
    pub rules: Vec<FamilyRule>,
    pub scenarios: Vec<ScenarioFigures>,
}

/// A tape in a few figures.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct FamilyTapeFacts {
    pub source: String,
    pub contenders: Vec<String>,
    pub clock: Clock,
    pub phases: Vec<TapePhase>,
    pub phases_left_out: Vec<String>,
    /// Complete blocks.
    pub blocks: usize,
    /// Blocks that are not on it.
    pub left: LeftOut,
    /// Median of the time that the machine worked for a block, s.
    pub block_s: f64,
    /// From the start of the first trial to the end of the last, s.
    pub span_s: f64,
}

impl FamilyTapeFacts {
    #[must_use]
    pub fn from_tape(tape: &FamilyTape) -> Self {
        let mut block_s = vec![0.0; tape.blocks.len()];
        for trial in &tape.trials {
            block_s[trial.block] += trial.elapsed_s;
        }
        let since = |trial: &TapeTrial| {
            let first = tape.trials.first().map_or(0, |first| first.started_unix_ns);
            trial.started_unix_ns.saturating_sub(first) as f64 * 1e-9 + trial.elapsed_s
        };
        Self {
            source: tape.source.clone(),
            contenders: tape.contenders.clone(),
            clock: tape.clock,
            phases: tape.phases.clone(),
            phases_left_out: tape.phases_left_out.clone(),
            blocks: tape.blocks.len(),
            left: tape.left,
            block_s: fsarena_stats::median(&block_s).unwrap_or(0.0),
            span_s: tape.trials.iter().map(since).fold(0.0, f64::max),
        }
    }
}

/// A scenario with one row a rule.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct ScenarioFigures {
    #[serde(flatten)]
    pub scenario: Scenario,
    pub rules: Vec<FamilyFigures>,
}

impl FamiliesReplayed {
    /// The figures of a rule in the scenario that `is_meant`.
    pub fn figures(
        &self,
        rule: &str,
        is_meant: impl Fn(&Scenario) -> bool,
    ) -> Option<&FamilyFigures> {
        let found = self.scenarios.iter().find(|row| is_meant(&row.scenario))?;
        found.rules.iter().find(|figures| figures.rule == rule)
    }

    /// What the rules that are shipped said where all contenders are equal, noise as in `is_meant`.
    pub fn shipped(
        &self,
        is_meant: impl Fn(&Scenario) -> bool,
    ) -> impl Iterator<Item = (&Scenario, &FamilyFigures)> {
        let is_gate = |key: &str| self.rules.iter().any(|rule| rule.is_gate && rule.key == key);
        let equal = self.scenarios.iter().filter(|row| row.scenario.factor == 1.0);
        let meant = equal.filter(move |row| is_meant(&row.scenario));
        meant.flat_map(move |row| {
            let own = row.rules.iter().filter(move |figures| is_gate(&figures.rule));
            own.map(|figures| (&row.scenario, figures))
        })
    }

    /// Of these, where contenders are exchangeable but for the size of their noise, those with
    /// more false families than a promise of 5 % allows, over all phases.
    pub fn broken(&self) -> impl Iterator<Item = (&Scenario, &FamilyFigures)> {
        let exchangeable = self.shipped(|scenario| scenario.truth == Truth::Exchangeable);
        exchangeable.filter(|(_, figures)| figures.false_families.is_over_limit())
    }
}

/// Blocks that a tape needs: plays of the longest rule shall begin at as many places as they have
/// blocks.
#[must_use]
pub fn blocks_needed() -> usize {
    2 * longest_play()
}

/// Plays every rule in every scenario, for three contenders and for four where the tape has so
/// many. Plays begin at random blocks, the same for every rule and scenario, and never wrap around
/// the end.
///
/// # Errors
/// A tape with fewer than [`blocks_needed`] blocks.
pub fn replay_families(
    tape: &FamilyTape,
    config: &FamilyConfig,
) -> Result<FamiliesReplayed, FamilyTapeError> {
    let starts = starts(tape)?;
    let mut played: Vec<usize> = PLAYED.map(|count| count.min(tape.contenders.len())).to_vec();
    played.dedup();
    let all: Vec<Scenario> =
        played.into_iter().flat_map(|count| scenarios(count, config.margin)).collect();
    let courses = courses(config.quick);
    let scenarios = play_all(tape, &all, &courses, starts, config);
    Ok(FamiliesReplayed {
        tape: FamilyTapeFacts::from_tape(tape),
        replays: config.replays,
        margin: config.margin,
        seed: config.seed,
        starts,
        rules: courses.iter().flat_map(Course::rules).collect(),
        scenarios,
    })
}

/// Blocks that plays may begin with.
pub(super) fn starts(tape: &FamilyTape) -> Result<usize, FamilyTapeError> {
    let (blocks, needs, window) = (tape.blocks.len(), blocks_needed(), longest_play());
    if blocks < needs {
        let left = tape.left.incomplete + tape.left.bad_contents + tape.left.other_conditions;
        let source_name = tape.source.clone();
        return Err(FamilyTapeError::Short { source_name, blocks, left, needs, window });
    }
    Ok(blocks - window + 1)
}

/// Plays these courses in these scenarios, by as many threads as there are processors. What comes
/// out does not depend on their number.
pub(super) fn play_all(
    tape: &FamilyTape,
    scenarios: &[Scenario],
    courses: &[Course],
    starts: usize,
    config: &FamilyConfig,
) -> Vec<ScenarioFigures> {
    let prepared = Prepared::new(tape);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(scenario) = scenarios.get(at) else { return done };
            done.push((at, play_scenario(&prepared, scenario, courses, starts, config)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut done: Vec<(usize, ScenarioFigures)> = std::thread::scope(|scope| {
        let at_work: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = at_work.into_iter().flat_map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, figures)| figures).collect()
}

fn play_scenario(
    prepared: &Prepared<'_>,
    scenario: &Scenario,
    courses: &[Course],
    starts: usize,
    config: &FamilyConfig,
) -> ScenarioFigures {
    let phases = prepared.tape.phases.len();
    let tally = |rule| FamilyTally::new(rule, *scenario, config.margin, phases);
    let mut games: Vec<(&Course, RunPlan, Vec<FamilyTally>)> = courses
        .iter()
        .map(|course| {
            let plan = prepared.plan(scenario, course, config.margin);
            (course, plan, course.rules().into_iter().map(tally).collect())
        })
        .collect();
    let mut window = Window::new(prepared, scenario);
    for number in 0..u64::from(config.replays) {
        let seed = config.seed.child("families", number);
        let draw = Draw::new(prepared.tape, starts, scenario.contenders, &seed);
        window.fill(prepared, scenario, &draw);
        for (course, plan, tallies) in &mut games {
            let played = play(course, plan, &window);
            for (tally, played) in tallies.iter_mut().zip(&played) {
                tally.add(played);
            }
        }
    }
    let rules = games.into_iter().flat_map(|(_, _, tallies)| tallies);
    ScenarioFigures { scenario: *scenario, rules: rules.map(FamilyTally::figures).collect() }
}
