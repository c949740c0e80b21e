//! What the rule of a quick RUN finds on a tape, which phase bounds it, and how long each rule
//! keeps the machine busy until a phase is decided.

use super::covariates::{PhaseCovariates, covariates};
use super::noise::{PhaseNoise, log_ratios, noise};
use super::replays::{FamilyConfig, FamilyTapeFacts, ScenarioFigures, play_all, starts};
use super::rules::{Course, FamilyRule, courses, longest_play, one_look};
use super::scenario::{AskedPairs, EFFECTS, Scenario, Truth};
use super::tape::{FamilyTape, FamilyTapeError, TapePhase};
use crate::figures::Rate;
use fsarena_model::record::TrialRecord;
use fsarena_stats::interval::t_quantile;
use serde::Serialize;

/// Contenders of a quick RUN; the first is the baseline.
pub const QUICK_CONTENDERS: usize = 3;
/// The factor that has to be found.
pub const TO_BE_FOUND: f64 = 1.10;
/// The share of pairs in which it has to be.
pub const POWER: f64 = 0.8;
/// Misses that the look may have.
const ALPHA: f64 = 0.05;
/// A number of blocks beyond which none is given.
const MOST_BLOCKS: u32 = 10_000;

/// What is asked of [`power`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PowerConfig {
    pub families: FamilyConfig,
    /// Blocks of the quick RUN, 2 to [`longest_play`]; absent: as many as fit.
    pub blocks: Option<u32>,
}

/// What a quick RUN finds on a tape.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct Power {
    pub tape: FamilyTapeFacts,
    pub replays: u32,
    pub margin: f64,
    pub seed: fsarena_model::seed::Seed,
    /// Blocks that a play may begin with.
    pub starts: usize,
    /// Contenders of the RUN.
    pub contenders: usize,
    /// Median length of a block of so many contenders, s.
    pub block_s: f64,
    /// Time that the blocks had to fit into, s; absent where their number was given.
    pub budget_s: Option<u32>,
    /// Blocks of the RUN; where they had to fit, the median.
    pub blocks: u32,
    /// [`FamilyRule::key`] of its rule.
    pub rule: String,
    /// Of all pairs in all phases, those found at [`TO_BE_FOUND`].
    pub found: Rate,
    /// Families with a false verdict, contenders being equal.
    pub false_families: Rate,
    pub phases: Vec<PhasePower>,
    /// All rules that were played, and what they said without an effect and with each.
    pub rules: Vec<FamilyRule>,
    pub scenarios: Vec<ScenarioFigures>,
    /// What the noise is made of, one a phase.
    pub noise: Vec<PhaseNoise>,
    /// What of it figures of the same trials explain, one a phase.
    pub covariates: Vec<PhaseCovariates>,
}

/// A phase of a quick RUN.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhasePower {
    #[serde(flatten)]
    pub phase: TapePhase,
    /// Standard deviation of the log ratio of two contenders within so many consecutive blocks:
    /// root mean square over all windows and pairs.
    pub sd_log_ratio: f64,
    /// Blocks that would find [`TO_BE_FOUND`] in [`POWER`] of pairs at that spread, by t at the
    /// level of the first step of Holm's procedure.
    pub needed_blocks: Option<u32>,
    /// Pairs found at each of the effects 1.05, 1.10 and 1.30.
    pub found: Vec<Rate>,
    pub false_families: Rate,
}

impl Power {
    /// The phase in which the fewest pairs are found.
    #[must_use]
    pub fn bounding_phase(&self) -> Option<&PhasePower> {
        let at = EFFECTS.iter().position(|factor| *factor == TO_BE_FOUND)?;
        let share = |phase: &PhasePower| phase.found.get(at).map_or(0.0, Rate::share);
        self.phases.iter().min_by(|a, b| share(a).total_cmp(&share(b)))
    }
}

/// Plays quick RUNs on `tape`, and RUNs by every other rule for comparison. Covariates are in the
/// `records` of its RUN.
///
/// # Errors
/// A tape that is too short.
pub fn power(
    tape: &FamilyTape,
    records: &[TrialRecord],
    config: &PowerConfig,
) -> Result<Power, FamilyTapeError> {
    let starts = starts(tape)?;
    let contenders = QUICK_CONTENDERS.min(tape.contenders.len());
    let block_s = block_s(tape, contenders);
    let most = longest_play() as u32;
    let quick = config.families.quick;
    let given = config.blocks.map(|blocks| one_look(blocks.clamp(2, most)));
    let asked = given.unwrap_or_else(|| quick.course());
    let rule = asked.rules()[0].key.clone();
    let mut all = courses(quick);
    if !all.contains(&asked) {
        all.push(asked);
    }
    let equal = Scenario::equal(contenders, AskedPairs::Baseline);
    let mut scenarios = vec![equal, Scenario { truth: Truth::Tape, ..equal }];
    scenarios.extend(EFFECTS.map(|factor| Scenario { factor, ..equal }));
    let played = play_all(tape, &scenarios, &all, starts, &config.families);
    let at = |factor: f64| {
        let is_meant = |row: &&ScenarioFigures| {
            row.scenario.truth == Truth::Exchangeable && row.scenario.factor == factor
        };
        let row = played.iter().find(is_meant).expect("it was played");
        row.rules.iter().find(|figures| figures.rule == rule).expect("it was played")
    };
    let none = Rate::new(0, 0);
    let blocks = at(1.0).blocks_median.round() as u32;
    let phases = tape.phases.iter().enumerate().map(|(number, phase)| {
        let sd = sd_within(tape, number, blocks as usize);
        PhasePower {
            phase: phase.clone(),
            sd_log_ratio: sd,
            needed_blocks: needed_blocks(sd, contenders - 1),
            found: EFFECTS.map(|factor| at(factor).phases[number].found.unwrap_or(none)).to_vec(),
            false_families: at(1.0).phases[number].false_families,
        }
    });
    Ok(Power {
        tape: FamilyTapeFacts::from_tape(tape),
        replays: config.families.replays,
        margin: config.families.margin,
        seed: config.families.seed,
        starts,
        contenders,
        block_s,
        budget_s: config.blocks.is_none().then_some(quick.budget_s),
        blocks,
        found: at(TO_BE_FOUND).found.unwrap_or(none),
        false_families: at(1.0).false_families,
        phases: phases.collect(),
        rules: all.iter().flat_map(Course::rules).collect(),
        scenarios: played,
        rule,
        noise: noise(tape),
        covariates: covariates(tape, records),
    })
}

/// Median length of a block, as if so many of the tape's contenders were in it.
fn block_s(tape: &FamilyTape, contenders: usize) -> f64 {
    let share = contenders as f64 / tape.contenders.len() as f64;
    FamilyTapeFacts::from_tape(tape).block_s * share
}

/// Root mean square of the standard deviations of log ratios in windows of `blocks`.
fn sd_within(tape: &FamilyTape, phase: usize, blocks: usize) -> f64 {
    let mut variances = Vec::new();
    for ratio in log_ratios(&tape.logs[phase]) {
        for window in ratio.windows(blocks.max(2)) {
            let deviation = fsarena_stats::standard_deviation(window).ok().flatten();
            variances.extend(deviation.map(|deviation| deviation * deviation));
        }
    }
    fsarena_stats::mean(&variances).unwrap_or(0.0).sqrt()
}

/// Fewest n with (t(1 - α/2m) + t(0.8)) · sd ÷ √n ≤ ln 1.1, t with n - 1 degrees of freedom.
fn needed_blocks(sd: f64, pairs: usize) -> Option<u32> {
    let enough = |blocks: u32| {
        let freedom = f64::from(blocks - 1);
        let level = ALPHA / pairs.max(1) as f64;
        let deviates = t_quantile(freedom, 1.0 - level / 2.0) + t_quantile(freedom, POWER);
        deviates * sd / f64::from(blocks).sqrt() <= TO_BE_FOUND.ln()
    };
    let (mut low, mut high) = (1, 2);
    while !enough(high) {
        (low, high) = (high, high * 2);
        if high > MOST_BLOCKS {
            return None;
        }
    }
    // More blocks are always enough where fewer are.
    while high - low > 1 {
        let middle = u32::midpoint(low, high);
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::super::rules::Quick;
    use super::super::synthetic::{Normal, tape};
    use super::*;
    use fsarena_model::seed::Seed;

    fn config(blocks: Option<u32>) -> PowerConfig {
        let quick = Quick { least: 4, most: 12, budget_s: 240 };
        let families =
            FamilyConfig { replays: 300, margin: 0.05, seed: Seed::from_number(1), quick };
        PowerConfig { families, blocks }
    }

    #[test]
    fn needed_blocks_are_those_of_the_textbook() {
        // (t₁₇(.9875) + t₁₇(.8)) = 2.458 + 0.863; ÷ √18 · 0.12 = 0.0939 ≤ 0.0953; at 17: 0.0971.
        assert_eq!(needed_blocks(0.12, 2), Some(18));
        assert_eq!(needed_blocks(1e-9, 2), Some(2));
        assert_eq!(needed_blocks(100.0, 2), None);
    }

    /// One phase is quiet, one noisy: the noisy one bounds what is found, and the blocks that it is
    /// said to need find what they shall.
    #[test]
    fn the_noisy_phase_bounds_what_is_found() {
        let mut normal = Normal::new(21);
        let tape = tape(&["a", "b", "c", "d"], 2, 2500, |phase, _, _| {
            18.0 + [0.01, 0.06][phase] * normal.next()
        });
        // Blocks of 8 s, of three contenders 6 s: more than 12 would fit.
        let found = power(&tape, &[], &config(None)).unwrap();
        assert_eq!((found.blocks, found.budget_s), (12, Some(240)));
        assert!((found.block_s - 6.0).abs() < 1e-9);
        let mut slow = tape.clone();
        slow.trials.iter_mut().for_each(|trial| trial.elapsed_s = 14.0);
        // 228 s ÷ 42 s, or a little more with an effect: five blocks fit.
        assert_eq!(power(&slow, &[], &config(None)).unwrap().blocks, 5);

        let bounding = found.bounding_phase().unwrap();
        assert_eq!(bounding.phase.phase, "read-random");
        let sd = 0.06 * 2f64.sqrt();
        assert!((bounding.sd_log_ratio / sd - 1.0).abs() < 0.05, "{}", bounding.sd_log_ratio);
        assert!(found.phases[0].found[1].share() > 0.999);
        let needed = bounding.needed_blocks.unwrap();
        let enough = power(&tape, &[], &config(Some(needed))).unwrap();
        assert_eq!((enough.blocks, enough.budget_s), (needed, None));
        // Where both pairs differ, the second has the whole level: more are found than one alone.
        let share = enough.phases[1].found[1].share();
        assert!((POWER - 0.04..POWER + 0.12).contains(&share), "{share} after {needed} blocks");
        assert!(enough.false_families.share() < 0.065);
    }
}
