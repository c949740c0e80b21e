//! What a short series of equal runs says of this machine: how much they differ, and the smallest
//! difference between two contenders that can be shown in a given time. Pure.
//!
//! The difference of two contenders in one block is that of two runs one after the other. So its
//! spread is taken from the differences of neighbours, in which slow drift cancels as it does
//! within a block.

use fsarena_model::host::{NoiseClass, Smallest};
use fsarena_stats::{FIRST_LOOK, Looks, SampleError, forecast, mean, median, standard_deviation};

/// Lengths of a RUN for which the smallest difference is told, minutes.
pub const MINUTES: [u32; 3] = [10, 30, 60];
/// The most blocks of a RUN where neither `--runs` nor `--cap` is given.
pub const CAP: u32 = 32;
/// Runs below which no spread is told.
const RUNS_MIN: usize = 3;
/// Runs of a block: one of each of two contenders.
const RUNS_A_BLOCK: f64 = 2.0;

/// The equal runs of one phase, in the order of time.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    /// Length of the phase in each run, ns, above 0.
    pub phase_ns: &'a [f64],
    /// Length of each whole run, s.
    pub trial_s: &'a [f64],
    /// Whether the caches were cold.
    pub cold: bool,
}

/// Judges one class of work. `class` says in words what it is.
///
/// # Errors
/// Without runs, and where a length is not above 0.
pub fn class(
    class: &str,
    workload: &str,
    phase: &str,
    runs: Runs<'_>,
) -> Result<NoiseClass, SampleError> {
    let logs: Vec<f64> = runs.phase_ns.iter().map(|ns| ns.ln()).collect();
    let own_cv = standard_deviation(&logs)?;
    let cv = own_cv.filter(|_| logs.len() >= RUNS_MIN);
    let trial_s = mean(runs.trial_s)?;
    let pair_sd = cv.and_then(|_| neighbours_sd(&logs));
    let smallest = MINUTES.map(|minutes| smallest(minutes, trial_s, pair_sd));
    Ok(NoiseClass {
        class: class.to_owned(),
        workload: workload.to_owned(),
        phase: phase.to_owned(),
        cold: runs.cold,
        runs: u32::try_from(logs.len()).unwrap_or(u32::MAX),
        phase_ns: median(runs.phase_ns)? as u64,
        trial_ns: (trial_s * 1e9) as u64,
        cv,
        smallest: smallest.into(),
    })
}

/// Standard deviation of the difference of two neighbours, whose mean is 0.
fn neighbours_sd(logs: &[f64]) -> Option<f64> {
    let squares: Vec<f64> = logs.windows(2).map(|two| (two[1] - two[0]).powi(2)).collect();
    Some(mean(&squares).ok()?.sqrt())
}

fn smallest(minutes: u32, trial_s: f64, pair_sd: Option<f64>) -> Smallest {
    let fit = (f64::from(minutes) * 60.0 / (RUNS_A_BLOCK * trial_s.max(1e-9))).floor();
    let blocks = fit.min(f64::from(CAP)) as u32;
    let alpha = Looks::with_cap(CAP).map_or(0.0, |looks| looks.alpha(blocks));
    let shown = pair_sd.filter(|_| blocks >= FIRST_LOOK);
    let log = shown.and_then(|sd| forecast::smallest_difference(sd, blocks, alpha));
    Smallest {
        minutes,
        blocks,
        capped: fit > f64::from(CAP),
        difference: log.map(f64::exp_m1).filter(|share| share.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs that go up and down by `step` in the logarithm.
    fn class_with_step(runs: usize, step: f64, trial_s: f64) -> NoiseClass {
        let phase_ns: Vec<f64> =
            (0..runs).map(|n| 1e9 * (if n % 2 == 0 { 0.0 } else { step }).exp()).collect();
        let trial_s = vec![trial_s; runs];
        class("c", "w", "p", Runs { phase_ns: &phase_ns, trial_s: &trial_s, cold: true }).unwrap()
    }

    #[test]
    fn blocks_fill_the_time_up_to_the_cap() {
        let found = class_with_step(10, 0.02, 30.0);
        let blocks: Vec<(u32, bool)> =
            found.smallest.iter().map(|s| (s.blocks, s.capped)).collect();
        assert_eq!(blocks, [(10, false), (30, false), (32, true)]);
        let shares: Vec<f64> = found.smallest.iter().filter_map(|s| s.difference).collect();
        assert!(shares[0] > shares[1] && shares[1] > shares[2], "{shares:?}");
    }

    #[test]
    fn the_smallest_difference_is_that_of_the_forecast() {
        let found = class_with_step(10, 0.02, 30.0);
        let alpha = Looks::with_cap(CAP).unwrap().alpha(10);
        let wanted = forecast::smallest_difference(0.02, 10, alpha).unwrap().exp_m1();
        assert!((found.smallest[0].difference.unwrap() - wanted).abs() < 1e-12);
        assert_eq!((found.runs, found.trial_ns), (10, 30_000_000_000));
    }

    #[test]
    fn drift_is_in_the_spread_and_not_in_the_difference() {
        let phase_ns: Vec<f64> = (0..20).map(|n| 1e9 * (f64::from(n) * 0.01).exp()).collect();
        let runs = Runs { phase_ns: &phase_ns, trial_s: &[1.0; 20], cold: false };
        let drift = class("c", "w", "p", runs).unwrap();
        let jitter = class_with_step(20, 0.01, 1.0);
        assert!(drift.cv.unwrap() > 5.0 * jitter.cv.unwrap());
        let share = |class: &NoiseClass| class.smallest[0].difference.unwrap();
        assert!((share(&drift) - share(&jitter)).abs() < 1e-9);
    }

    #[test]
    fn too_little_is_no_figure() {
        let two = class_with_step(2, 0.02, 1.0);
        assert_eq!((two.cv, two.smallest[0].difference), (None, None));
        let long = class_with_step(10, 0.02, 120.0);
        assert_eq!((long.smallest[0].blocks, long.smallest[0].difference), (2, None));
        assert!(long.smallest[1].difference.is_some());
        let none = Runs { phase_ns: &[], trial_s: &[], cold: false };
        assert_eq!(class("c", "w", "p", none), Err(SampleError::Empty));
        let zero = Runs { phase_ns: &[0.0, 1.0], trial_s: &[1.0, 1.0], cold: false };
        assert!(class("c", "w", "p", zero).is_err());
    }
}
