//! What was said in the plays of one scenario by one rule, counted.

use super::play::Played;
use super::rules::FamilyRule;
use super::scenario::Scenario;
use crate::figures::Rate;
use fsarena_model::verdict::{DecidedPair, Verdict};
use serde::Serialize;

/// A rule in a scenario.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct FamilyFigures {
    /// [`FamilyRule::key`].
    pub rule: String,
    /// Questions with one false verdict or more, of all questions of all plays. The bounds take
    /// questions of one play for independent.
    pub false_families: Rate,
    /// Questions with a false FASTER or SLOWER.
    pub false_differences: Rate,
    /// Questions with a false SAME.
    pub false_sames: Rate,
    /// One a phase, in the order of the tape.
    pub phases: Vec<PhaseFigures>,
    /// Plays in which any question had a false verdict.
    pub plays_with_false: Rate,
    /// Of the pairs with the injected effect, those found to differ the right way; absent without
    /// an effect.
    pub found: Option<Rate>,
    /// Of all pairs, those of which something was said.
    pub decided: Rate,
    /// Blocks that plays took: median, and what 90 % did not exceed.
    pub blocks_median: f64,
    pub blocks_p90: f64,
    /// Time of the machine, s: whole trials, with everything around the phases.
    pub seconds_median: f64,
    pub seconds_p90: f64,
}

/// A phase of it.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhaseFigures {
    pub false_families: Rate,
    /// As [`FamilyFigures::found`].
    pub found: Option<Rate>,
    /// Plays in which every pair with the injected effect was found.
    pub all_found: Option<Rate>,
    pub decided: Rate,
    /// Blocks until nothing of it was open, or the RUN ended: median.
    pub blocks_median: f64,
    /// Time of the machine by then, s: median.
    pub seconds_median: f64,
}

impl FamilyFigures {
    /// The phase with the most false families.
    #[must_use]
    pub fn worst_phase(&self) -> Option<(usize, &PhaseFigures)> {
        let share = |phase: &PhaseFigures| phase.false_families.share();
        // The first of equal ones.
        let all = self.phases.iter().enumerate().rev();
        all.max_by(|a, b| share(a.1).total_cmp(&share(b.1)))
    }
}

/// Plays of one rule in one scenario, as they are added.
pub(super) struct FamilyTally {
    rule: FamilyRule,
    scenario: Scenario,
    margin_log: f64,
    phases: Vec<PhaseTally>,
    plays: usize,
    plays_with_false: usize,
    blocks: Vec<f64>,
    seconds: Vec<f64>,
}

#[derive(Clone, Default)]
struct PhaseTally {
    with_false: usize,
    with_false_difference: usize,
    with_false_same: usize,
    found: usize,
    with_all_found: usize,
    decided: usize,
    blocks: Vec<f64>,
    seconds: Vec<f64>,
}

/// What one play said of one question.
#[derive(Clone, Copy, Default)]
struct Answer {
    false_differences: usize,
    false_sames: usize,
    found: usize,
    decided: usize,
    /// Blocks after which the latest pair was decided.
    blocks: usize,
}

impl FamilyTally {
    pub fn new(rule: FamilyRule, scenario: Scenario, margin: f64, phases: usize) -> Self {
        Self {
            rule,
            scenario,
            margin_log: margin.ln_1p(),
            phases: vec![PhaseTally::default(); phases],
            plays: 0,
            plays_with_false: 0,
            blocks: Vec::new(),
            seconds: Vec::new(),
        }
    }

    pub fn add(&mut self, played: &Played) {
        let mut answers = vec![Answer::default(); self.phases.len()];
        for look in &played.looks {
            for pair in &look.decided {
                let own = &mut answers[pair.question];
                own.decided += 1;
                own.blocks = own.blocks.max(look.blocks as usize);
                let effect = |place| self.scenario.effect_at(place);
                let truth = effect(pair.a) - effect(pair.b);
                match judged(pair, truth, self.margin_log) {
                    Judged::FalseDifference => own.false_differences += 1,
                    Judged::FalseSame => own.false_sames += 1,
                    Judged::Found => own.found += 1,
                    Judged::True => {}
                }
            }
        }
        let (asked, with_effect) = (self.scenario.pairs_asked(), self.scenario.pairs_with_effect());
        for (phase, said) in self.phases.iter_mut().zip(&answers) {
            phase.with_false += usize::from(said.false_differences + said.false_sames > 0);
            phase.with_false_difference += usize::from(said.false_differences > 0);
            phase.with_false_same += usize::from(said.false_sames > 0);
            phase.found += said.found;
            phase.with_all_found += usize::from(said.found == with_effect);
            phase.decided += said.decided;
            let blocks = if said.decided == asked { said.blocks } else { played.blocks };
            phase.blocks.push(blocks as f64);
            phase.seconds.push(played.seconds[blocks - 1]);
        }
        self.plays += 1;
        self.plays_with_false +=
            usize::from(answers.iter().any(|said| said.false_differences + said.false_sames > 0));
        self.blocks.push(played.blocks as f64);
        self.seconds.push(played.seconds[played.blocks - 1]);
    }

    pub fn figures(self) -> FamilyFigures {
        let families = self.plays * self.phases.len();
        let sum = |of: fn(&PhaseTally) -> usize| self.phases.iter().map(of).sum::<usize>();
        let asked = self.scenario.pairs_asked();
        let with_effect = self.scenario.pairs_with_effect();
        let at = |values: &[f64], share| fsarena_stats::quantile(values, share).unwrap_or(0.0);
        let of_effect = |count, of| (with_effect > 0).then(|| Rate::new(count, of));
        let phases = self.phases.iter().map(|phase| PhaseFigures {
            false_families: Rate::new(phase.with_false, self.plays),
            found: of_effect(phase.found, self.plays * with_effect),
            all_found: of_effect(phase.with_all_found, self.plays),
            decided: Rate::new(phase.decided, self.plays * asked),
            blocks_median: at(&phase.blocks, 0.5),
            seconds_median: at(&phase.seconds, 0.5),
        });
        FamilyFigures {
            rule: self.rule.key.clone(),
            false_families: Rate::new(sum(|phase| phase.with_false), families),
            false_differences: Rate::new(sum(|phase| phase.with_false_difference), families),
            false_sames: Rate::new(sum(|phase| phase.with_false_same), families),
            phases: phases.collect(),
            plays_with_false: Rate::new(self.plays_with_false, self.plays),
            found: of_effect(sum(|phase| phase.found), families * with_effect),
            decided: Rate::new(sum(|phase| phase.decided), families * asked),
            blocks_median: at(&self.blocks, 0.5),
            blocks_p90: at(&self.blocks, 0.9),
            seconds_median: at(&self.seconds, 0.5),
            seconds_p90: at(&self.seconds, 0.9),
        }
    }
}

/// A verdict, when the truth is known.
enum Judged {
    FalseDifference,
    FalseSame,
    /// A difference, the right way.
    Found,
    True,
}

/// A truth at the margin is not within it, however it was rounded.
const CLEAR: f64 = 1e-9;

fn judged(pair: &DecidedPair, truth: f64, margin_log: f64) -> Judged {
    match pair.verdict {
        Verdict::Faster if truth < 0.0 => Judged::Found,
        Verdict::Slower if truth > 0.0 => Judged::Found,
        Verdict::Faster | Verdict::Slower => Judged::FalseDifference,
        Verdict::Same if truth.abs() >= margin_log * (1.0 - CLEAR) => Judged::FalseSame,
        Verdict::Same | Verdict::Undecided => Judged::True,
    }
}
