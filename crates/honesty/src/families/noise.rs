//! What the noise of a tape is made of: how much of it neighbours in time share, what the trial
//! before leaves behind, and what is common to a block.

use super::tape::{FamilyTape, TapePhase};
use crate::facts::autocorrelation;
use serde::Serialize;

/// Lags that autocorrelations are given of, in blocks.
pub const LAGS: [usize; 3] = [1, 2, 8];
/// Distances in trials that are near and far, each with what lies within one of it.
const NEAR: usize = 2;
const FAR: usize = 8;

/// The noise of a phase. Everything is of logarithms without the mean of each contender.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct PhaseNoise {
    #[serde(flatten)]
    pub phase: TapePhase,
    /// Standard deviation of the logarithm of one value, root mean square over contenders.
    pub sd: f64,
    /// Largest and smallest standard deviation of a contender, ÷ each other.
    pub sd_ratio: f64,
    /// Standard deviation of the log ratio of two contenders in one block, over the whole tape:
    /// root mean square over pairs.
    pub sd_log_ratio: f64,
    /// Autocorrelation of the log ratios at [`LAGS`]: mean over pairs.
    pub autocorrelation: [Option<f64>; LAGS.len()],
    /// Share of the variance that is common to all contenders of a block, and cancels in ratios.
    pub common_to_block: f64,
    /// Mean square difference of two values of different contenders that are 8 trials apart (7 to
    /// 9) ÷ that of 2 (1 to 3): what keeping contenders together would gain.
    pub far_to_near: Option<f64>,
    /// Share of the variance that which contender came right before explains (ω², of no less than
    /// 0): carry-over.
    pub carry_over: Option<f64>,
    /// The largest difference that one predecessor makes to one contender, as a share: 0.02 is 2 %.
    pub carry_over_largest: Option<f64>,
}

/// The noise of each phase.
#[must_use]
pub fn noise(tape: &FamilyTape) -> Vec<PhaseNoise> {
    tape.phases.iter().enumerate().map(|(at, phase)| phase_noise(tape, at, phase)).collect()
}

fn phase_noise(tape: &FamilyTape, at: usize, phase: &TapePhase) -> PhaseNoise {
    let centred: Vec<Vec<f64>> = tape.logs[at].iter().map(|series| centred(series)).collect();
    let variances: Vec<f64> = centred.iter().map(|series| variance(series)).collect();
    let ratios = log_ratios(&centred);
    let of_pairs: Vec<f64> = ratios.iter().map(|ratio| variance(ratio)).collect();
    let lag = |lag: usize| {
        let all = ratios.iter().filter_map(|ratio| autocorrelation(ratio, lag).ok()?);
        fsarena_stats::mean(&all.collect::<Vec<f64>>()).ok()
    };
    let most = variances.iter().copied().fold(0.0, f64::max);
    let least = variances.iter().copied().fold(f64::INFINITY, f64::min);
    let in_time = in_time(tape, phase, &centred);
    let carried = carry_over(tape, phase, &centred);
    PhaseNoise {
        phase: phase.clone(),
        sd: mean(&variances).sqrt(),
        sd_ratio: if least > 0.0 { (most / least).sqrt() } else { 1.0 },
        sd_log_ratio: mean(&of_pairs).sqrt(),
        autocorrelation: LAGS.map(lag),
        common_to_block: common_to_block(&centred),
        far_to_near: far_to_near(&in_time),
        carry_over: carried.map(|(share, _)| share),
        carry_over_largest: carried.map(|(_, largest)| largest),
    }
}

fn mean(values: &[f64]) -> f64 {
    fsarena_stats::mean(values).unwrap_or(0.0)
}

fn centred(series: &[f64]) -> Vec<f64> {
    let middle = mean(series);
    series.iter().map(|log| log - middle).collect()
}

/// Of values around 0, with one degree of freedom gone.
fn variance(centred: &[f64]) -> f64 {
    let squares: f64 = centred.iter().map(|away| away * away).sum();
    squares / (centred.len().max(2) - 1) as f64
}

/// The differences of every pair, block by block.
pub(super) fn log_ratios(series: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let pairs = (0..series.len()).flat_map(|a| (a + 1..series.len()).map(move |b| (a, b)));
    let of =
        |(a, b): (usize, usize)| series[a].iter().zip(&series[b]).map(|(a, b)| a - b).collect();
    pairs.map(of).collect()
}

/// Variance component of blocks ÷ all variance: rows are blocks, columns contenders with mean 0.
fn common_to_block(centred: &[Vec<f64>]) -> f64 {
    let (contenders, blocks) = (centred.len() as f64, centred[0].len());
    let block_mean = |block: usize| centred.iter().map(|own| own[block]).sum::<f64>() / contenders;
    let means: Vec<f64> = (0..blocks).map(block_mean).collect();
    let freedom = (blocks.max(2) - 1) as f64;
    let between = contenders * means.iter().map(|mean| mean * mean).sum::<f64>() / freedom;
    let rest: f64 = centred
        .iter()
        .flat_map(|own| own.iter().zip(&means))
        .map(|(value, mean)| (value - mean).powi(2))
        .sum();
    let within = rest / (freedom * (contenders - 1.0));
    let of_block = ((between - within) / contenders).max(0.0);
    if of_block + within > 0.0 { of_block / (of_block + within) } else { 0.0 }
}

/// A value with its place in time.
struct Placed {
    /// Number of its trial among all of the tape.
    trial: usize,
    contender: usize,
    /// Contender of the trial right before; none where there is none.
    previous: Option<usize>,
    away: f64,
}

/// The values of a phase in the order of time.
fn in_time(tape: &FamilyTape, phase: &TapePhase, centred: &[Vec<f64>]) -> Vec<Placed> {
    let trials = tape.trials.iter().enumerate();
    let own = trials.filter(|(_, trial)| trial.workload == phase.workload_index);
    own.map(|(at, trial)| Placed {
        trial: at,
        contender: trial.contender,
        previous: at.checked_sub(1).map(|before| tape.trials[before].contender),
        away: centred[trial.contender][trial.block],
    })
    .collect()
}

fn far_to_near(in_time: &[Placed]) -> Option<f64> {
    let (mut near, mut far) = ((0.0, 0usize), (0.0, 0usize));
    for (at, one) in in_time.iter().enumerate() {
        let later = in_time[at + 1..].iter();
        let later = later.take_while(|other| other.trial - one.trial <= FAR + 1);
        for other in later.filter(|other| other.contender != one.contender) {
            let distance = other.trial - one.trial;
            let sum = match distance {
                _ if distance.abs_diff(NEAR) <= 1 => &mut near,
                _ if distance.abs_diff(FAR) <= 1 => &mut far,
                _ => continue,
            };
            sum.0 += (one.away - other.away).powi(2);
            sum.1 += 1;
        }
    }
    let is_known = near.1 > 0 && far.1 > 0 && near.0 > 0.0;
    is_known.then(|| (far.0 / far.1 as f64) / (near.0 / near.1 as f64))
}

/// ω² of the contender before, over all contenders together, and the largest mean of one contender
/// after another.
fn carry_over(tape: &FamilyTape, phase: &TapePhase, centred: &[Vec<f64>]) -> Option<(f64, f64)> {
    let placed = in_time(tape, phase, centred);
    let contenders = tape.contenders.len();
    let (mut explained, mut all, mut levels, mut largest) = (0.0, 0.0, 0usize, 0.0f64);
    let mut values = 0;
    for contender in 0..contenders {
        for previous in 0..contenders {
            let own: Vec<f64> = placed
                .iter()
                .filter(|one| one.contender == contender && one.previous == Some(previous))
                .map(|one| one.away)
                .collect();
            if own.is_empty() {
                continue;
            }
            let middle = mean(&own);
            explained += own.len() as f64 * middle * middle;
            all += own.iter().map(|away| away * away).sum::<f64>();
            values += own.len();
            levels += 1;
            largest = largest.max(middle.abs().exp_m1());
        }
    }
    let groups = levels.checked_sub(contenders).filter(|groups| *groups > 0)?;
    let freedom = values.checked_sub(levels).filter(|freedom| *freedom > 0)?;
    let noise = (all - explained) / freedom as f64;
    let share = (explained - groups as f64 * noise) / (all + noise);
    (all > 0.0).then(|| (share.max(0.0), largest))
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{Normal, tape};
    use super::*;

    /// Two contenders: block noise of variance 4, own noise of variance 1.
    #[test]
    fn what_is_common_to_a_block_is_told_apart() {
        let mut normal = Normal::new(1);
        let blocks: Vec<f64> = (0..2000).map(|_| 2.0 * normal.next()).collect();
        let tape = tape(&["a", "b", "c"], 1, 2000, |_, _, block| blocks[block] + normal.next());
        let noise = &noise(&tape)[0];
        assert!((noise.common_to_block - 0.8).abs() < 0.03, "{}", noise.common_to_block);
        assert!((noise.sd - 5f64.sqrt()).abs() < 0.1, "{}", noise.sd);
        assert!((noise.sd_log_ratio - 2f64.sqrt()).abs() < 0.05, "{}", noise.sd_log_ratio);
        assert!((noise.sd_ratio - 1.0).abs() < 0.1, "{}", noise.sd_ratio);
        assert!(noise.autocorrelation.iter().all(|lag| lag.unwrap().abs() < 0.06), "{noise:?}");
        assert_eq!(noise.carry_over, None, "each has the same one before it in every block");
    }

    /// Noise that lasts for many trials: what is far apart differs more, and ratios of one block
    /// are alike from block to block where contenders drift on their own.
    #[test]
    fn what_lasts_is_told_apart() {
        let mut normal = Normal::new(2);
        let mut slow = [0.0; 3];
        let tape = tape(&["a", "b", "c"], 1, 2000, |_, contender, _| {
            slow[contender] = 0.9 * slow[contender] + normal.next();
            slow[contender]
        });
        let noise = &noise(&tape)[0];
        let lags = noise.autocorrelation.map(Option::unwrap);
        assert!((lags[0] - 0.9).abs() < 0.05 && (lags[1] - 0.81).abs() < 0.07, "{lags:?}");
        assert!((lags[2] - 0.43).abs() < 0.12, "{lags:?}");

        let mut machine = 0.0;
        let values: Vec<f64> = (0..6000)
            .map(|_| {
                machine = 0.8 * machine + normal.next();
                machine
            })
            .collect();
        let tape =
            super::super::synthetic::tape(&["a", "b", "c"], 1, 2000, |_, contender, block| {
                values[block * 3 + contender]
            });
        // 1 - 0.8^d: mean over 1..=3 and over 7..=9, pairs of one contender (3 and 9) left out.
        let expected = ((1.0 - 0.8f64.powi(7)) + (1.0 - 0.8f64.powi(8)))
            / ((1.0 - 0.8) + (1.0 - 0.8f64.powi(2)));
        let found = super::noise(&tape)[0].far_to_near.unwrap();
        assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
    }

    /// Whoever comes after `a` takes 20 % longer.
    #[test]
    fn what_the_trial_before_leaves_is_told_apart() {
        let mut normal = Normal::new(4);
        let mut tape = tape(&["a", "b", "c"], 1, 1000, |_, _, _| 0.05 * normal.next());
        let mut rng = fsarena_model::seed::Seed::from_number(1).rng();
        for block in 0..1000 {
            rng.shuffle(&mut tape.trials[block * 3..block * 3 + 3]);
        }
        for at in 1..tape.trials.len() {
            if tape.trials[at - 1].contender == 0 {
                let trial = tape.trials[at];
                tape.logs[0][trial.contender][trial.block] += 1.2f64.ln();
            }
        }
        let noise = &noise(&tape)[0];
        assert!(noise.carry_over.unwrap() > 0.5, "{noise:?}");
        assert!((0.08..0.2).contains(&noise.carry_over_largest.unwrap()), "{noise:?}");
    }
}
