//! What a tape is like, before anything is decided on it.

use crate::{LeftOut, Tape};
use fsarena_model::run::Clock;
use fsarena_model::verdict::Metric;
use fsarena_stats::{SampleError, mean, median, standard_deviation};
use serde::Serialize;

/// A tape in a few figures.
#[derive(Clone, PartialEq, Debug, Serialize, crate::JsonSchema)]
pub struct TapeFacts {
    /// Where it is from.
    pub source: String,
    pub workload: String,
    pub phase: String,
    /// What the values are.
    pub metric: Metric,
    /// Clock that times are read from.
    pub clock: Clock,
    /// Trials on it.
    pub trials: usize,
    /// Trials that are not.
    pub left: LeftOut,
    /// Median, in the metric's base unit.
    pub median: f64,
    /// Standard deviation of the logarithms (0.03 is about 3 %).
    pub cv: f64,
    /// Autocorrelation of the logarithms at lag 1; absent where all values are equal.
    pub lag1: Option<f64>,
    /// Most trials in a row on one side of the median. White noise of 240 has about 8.
    pub longest_stretch: usize,
    /// Median of the last quarter ÷ median of the first.
    pub last_to_first: f64,
    /// Geometric mean of every second trial ÷ that of the trials between them: what a schedule that
    /// takes turns without chance would take for a difference.
    pub second_to_first: f64,
    /// Median length of a whole trial, s.
    pub trial_s: f64,
    /// From the start of the first trial to the end of the last, s.
    pub span_s: f64,
    /// Longest pause between two trials, s.
    pub longest_pause_s: f64,
}

impl TapeFacts {
    /// The figures of a tape.
    ///
    /// # Errors
    /// No values, or one that is not a positive number.
    pub fn from_tape(tape: &Tape) -> Result<Self, SampleError> {
        let middle = median(&tape.values)?;
        fsarena_stats::geometric_mean(&tape.values)?;
        let logs: Vec<f64> = tape.values.iter().map(|value| value.ln()).collect();
        let quarter = tape.values.len().div_ceil(4);
        let first = median(&tape.values[..quarter])?;
        let last = median(&tape.values[tape.values.len() - quarter..])?;
        let (span_s, longest_pause_s) = times(tape);
        Ok(Self {
            source: tape.source.clone(),
            workload: tape.workload.clone(),
            phase: tape.phase.clone(),
            metric: tape.metric,
            clock: tape.clock,
            trials: tape.values.len(),
            left: tape.left,
            median: middle,
            cv: standard_deviation(&logs)?.unwrap_or(0.0),
            lag1: autocorrelation(&logs, 1)?,
            longest_stretch: longest_stretch(&tape.values, middle),
            last_to_first: last / first,
            second_to_first: second_to_first(&logs),
            trial_s: median(&tape.elapsed_s)?,
            span_s,
            longest_pause_s,
        })
    }
}

/// Autocorrelation: the sum of products of the deviations of two values so far apart ÷ that of
/// squares. Absent where all values are equal.
pub(super) fn autocorrelation(logs: &[f64], lag: usize) -> Result<Option<f64>, SampleError> {
    let center = mean(logs)?;
    let squares: f64 = logs.iter().map(|log| (log - center).powi(2)).sum();
    let later = logs.iter().skip(lag);
    let products: f64 =
        logs.iter().zip(later).map(|(one, other)| (one - center) * (other - center)).sum();
    Ok((squares > 0.0).then(|| products / squares))
}

/// The values at odd indices ÷ those at even ones, each a geometric mean; 1 for a single value.
fn second_to_first(logs: &[f64]) -> f64 {
    let of = |skip: usize| {
        let side: Vec<f64> = logs.iter().skip(skip).step_by(2).copied().collect();
        mean(&side).ok()
    };
    of(0).zip(of(1)).map_or(1.0, |(first, second)| (second - first).exp())
}

/// Most values in a row above, or in a row below, `middle`; one that is equal ends a stretch.
fn longest_stretch(values: &[f64], middle: f64) -> usize {
    let side = |value: f64| value.partial_cmp(&middle).filter(|order| order.is_ne());
    let (mut longest, mut length, mut before) = (0, 0, None);
    for &value in values {
        let here = side(value);
        length = match here {
            Some(_) if here == before => length + 1,
            Some(_) => 1,
            None => 0,
        };
        longest = longest.max(length);
        before = here;
    }
    longest
}

/// Length of the whole, and of the longest pause between two trials, s.
fn times(tape: &Tape) -> (f64, f64) {
    let begin = tape.started_unix_ns.first().copied().unwrap_or(0);
    let starts = tape.started_unix_ns.iter().map(|start| start.saturating_sub(begin) as f64 * 1e-9);
    let starts: Vec<f64> = starts.collect();
    let ends: Vec<f64> = starts.iter().zip(&tape.elapsed_s).map(|(at, long)| at + long).collect();
    let pauses = ends.iter().zip(starts.iter().skip(1)).map(|(end, next)| next - end);
    (ends.last().copied().unwrap_or(0.0), pauses.fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_counted_on_one_side_of_the_median() {
        assert_eq!(longest_stretch(&[1.0, 1.0, 3.0, 3.0, 3.0, 1.0], 2.0), 3);
        assert_eq!(longest_stretch(&[3.0, 2.0, 3.0, 3.0], 2.0), 2);
        assert_eq!(longest_stretch(&[2.0, 2.0], 2.0), 0);
    }

    #[test]
    fn every_second_trial_is_told_apart() {
        let logs: Vec<f64> = (0..100).map(|at| 0.1 * f64::from(at % 2)).collect();
        assert!((second_to_first(&logs) - 0.1f64.exp()).abs() < 1e-12);
        assert_eq!(second_to_first(&[1.0]), 1.0);
        assert_eq!(second_to_first(&[1.0, 1.0, 1.0]), 1.0);
    }

    #[test]
    fn neighbours_that_agree_are_correlated() {
        let slow: Vec<f64> = (0..100).map(|at| f64::from(at / 10 % 2)).collect();
        let fast: Vec<f64> = (0..100).map(|at| f64::from(at % 2)).collect();
        let at = |logs: &[f64], lag: usize| autocorrelation(logs, lag).unwrap();
        assert!(at(&slow, 1).unwrap() > 0.75 && at(&slow, 10).unwrap() < -0.85);
        assert!(at(&fast, 1).unwrap() < -0.95 && at(&fast, 2).unwrap() > 0.95);
        assert_eq!(at(&[1.0, 1.0, 1.0], 1), None);
    }
}
