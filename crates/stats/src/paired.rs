//! Two contenders, compared block by block.
//!
//! The values are d = ln a - ln b, one for each block that has both. What slows a whole block down
//! cancels; what is left is made symmetric by the random order within a block. So where the two do
//! not differ, every d is symmetric about 0 whatever the noise is, and both t and the exact
//! interval of signed ranks hold.
//!
//! Which of the two is used depends on the number of blocks alone, never on what was measured.

use crate::interval::{Interval, t_quantile};
use crate::rank::signed_rank;
use crate::walsh::Walsh;

/// From so many blocks the exact interval is used: with fewer it is hardly narrower than the whole
/// range; from here on it costs 5 % of width under normal noise and saves half of it under spikes.
pub const EXACT_FROM: usize = 12;

/// From so many blocks on, and below [`POOLED_BELOW`], a spread by all contenders takes the place
/// of the pair's own.
///
/// With three blocks a contender that is noisy by itself cannot be told from one that had bad luck:
/// with one of four three times as noisy as the others and all compared with it, 5.6 % of families
/// had a false verdict.
pub const POOLED_FROM: usize = 4;

/// From so many blocks on a pair has a spread of its own.
pub const POOLED_BELOW: usize = EXACT_FROM;

/// The standard deviation of one d that reading in steps alone brings; `a` and `b` are the logs of
/// the two contenders' values, `step` says how large a step is where a value is so large.
///
/// Rounding spreads evenly over a step, with a variance of 1/12 of its square.
#[must_use]
pub fn floor_sd(a: &[f64], b: &[f64], step: impl Fn(f64) -> f64) -> f64 {
    let share = |logs: &[f64]| {
        let mean = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
        step(mean) / mean
    };
    (share(a).powi(2) + share(b).powi(2)).sqrt() / 12f64.sqrt()
}

/// How the interval of a difference is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalBy {
    /// Student's t with the spread of the pair.
    StudentT,
    /// Student's t with a spread that leans on all contenders.
    PooledT,
    /// Exactly, from Wilcoxon's signed ranks.
    SignedRanks,
}

/// What is known of the spread of one d.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub variance: f64,
    /// Degrees of freedom behind it.
    pub freedom: f64,
}

/// The differences of one pair of contenders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairSample<'a> {
    /// ln a - ln b, one for each block, in any order.
    pub logs: &'a [f64],
    /// Standard deviation of one d that the resolution of the readings alone brings; no interval is
    /// narrower than Student's t would be with it.
    pub floor_sd: f64,
    /// The spread of one d by the residuals of all contenders (see
    /// [`contender_spreads`](crate::blocks::contender_spreads)), for samples too small to tell
    /// their own.
    pub pooled: Option<Spread>,
}

impl PairSample<'_> {
    /// How the interval of so many blocks is made.
    #[must_use]
    pub fn interval_by(&self) -> IntervalBy {
        match self.sound_pooled() {
            _ if self.logs.len() >= EXACT_FROM => IntervalBy::SignedRanks,
            Some(_) => IntervalBy::PooledT,
            None => IntervalBy::StudentT,
        }
    }

    /// The pooled spread, where it is one.
    fn sound_pooled(&self) -> Option<Spread> {
        let is_sound = |spread: &Spread| {
            spread.variance >= 0.0 && spread.variance.is_finite() && spread.freedom > 0.0
        };
        self.pooled.filter(is_sound)
    }

    /// The difference: the pseudomedian, whatever the number of blocks; `None` without values or
    /// where one is not finite.
    #[must_use]
    pub fn point(&self) -> Option<f64> {
        self.hodges_lehmann()
    }

    /// Two-sided interval of the difference with a share `alpha` of misses.
    ///
    /// * Below [`EXACT_FROM`] values: mean ± t · sd ÷ √n, with the variance and the freedom of a
    ///   pooled spread where there is one. Where the differences are symmetric, as they are between
    ///   equals, their mean is in the same place as the pseudomedian; where it is not, the interval
    ///   reaches to that.
    /// * From there on: between two Walsh averages, chosen by the exact distribution of Wilcoxon's
    ///   signed ranks (J. Hodges and E. Lehmann, "Estimates of location based on rank tests", Ann.
    ///   Math. Stat. 34 (1963)). Where even all of them are too few for the level (12 values, an
    ///   `alpha` under 2⁻¹¹), both the whole range and the t interval are covered, so
    ///   that intervals stay nested in `alpha`.
    ///
    /// None is narrower than t with `floor_sd`. `None` below two values, where one is not finite,
    /// and where `alpha` is not between 0 and 1.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> Option<Interval> {
        self.prepare()?.interval(alpha, &mut Quantiles::default())
    }

    /// Student's t interval of the mean with the sample's own spread, whatever the number of
    /// blocks.
    #[must_use]
    pub fn mean_interval(&self, alpha: f64) -> Option<Interval> {
        if self.logs.len() < 2 || !(alpha > 0.0 && alpha < 1.0) {
            return None;
        }
        let n = self.logs.len() as f64;
        let half = t_quantile(n - 1.0, 1.0 - alpha / 2.0) * self.sd()? / n.sqrt();
        Some(around(self.mean()?, half, 1.0 - alpha))
    }

    /// Mean of the differences: the logarithm of the ratio of the geometric means.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        crate::describe::mean(self.logs).ok()
    }

    /// Pseudomedian of the differences: the median of all Walsh averages.
    #[must_use]
    pub fn hodges_lehmann(&self) -> Option<f64> {
        crate::check(self.logs).ok()?;
        Some(Walsh::new(self.logs).median())
    }

    /// Standard deviation of one d, at least `floor_sd`; `None` below two values.
    #[must_use]
    pub fn sd(&self) -> Option<f64> {
        let own = crate::describe::standard_deviation(self.logs).ok()??;
        Some(own.max(self.floor_sd))
    }

    /// What every interval of this sample has in common.
    pub(crate) fn prepare(&self) -> Option<Prepared> {
        let sd = self.sd()?;
        let mean = self.mean()?;
        let n = self.logs.len();
        let freedom = (n - 1) as f64;
        let point = self.point()?;
        let walsh = match self.interval_by() {
            IntervalBy::SignedRanks => Some(Walsh::new(self.logs)),
            IntervalBy::StudentT | IntervalBy::PooledT => None,
        };
        let spread = match self.sound_pooled() {
            Some(pooled) if walsh.is_none() => {
                Spread { variance: pooled.variance.max(self.floor_sd.powi(2)), ..pooled }
            }
            _ => Spread { variance: sd * sd, freedom },
        };
        let is_finite = spread.variance.is_finite();
        is_finite.then_some(Prepared { n, mean, point, spread, floor_sd: self.floor_sd, walsh })
    }
}

/// A sample ready for intervals at several levels.
pub(crate) struct Prepared {
    n: usize,
    mean: f64,
    point: f64,
    spread: Spread,
    floor_sd: f64,
    /// Absent where t is used.
    walsh: Option<Walsh>,
}

impl Prepared {
    /// See [`PairSample::interval`].
    pub(crate) fn interval(&mut self, alpha: f64, quantiles: &mut Quantiles) -> Option<Interval> {
        if !(alpha > 0.0 && alpha < 1.0) {
            return None;
        }
        let half = quantiles.t(self.spread.freedom, alpha) / (self.n as f64).sqrt();
        let t = around(self.mean, half * self.spread.variance.sqrt(), 1.0 - alpha);
        let Some(walsh) = &mut self.walsh else {
            let (low, high) = (t.low.min(self.point), t.high.max(self.point));
            return Some(Interval { low, high, level: t.level });
        };
        let last = walsh.len() - 1;
        let (rank, below) = signed_rank(self.n, alpha / 2.0);
        let floor = half * self.floor_sd;
        if rank == 0 {
            let (low, high) = (walsh.at(0).min(t.low), walsh.at(last).max(t.high));
            return Some(Interval { low, high, level: 1.0 - alpha });
        }
        let floored = around(self.point, floor, 1.0 - alpha);
        let (low, high) = (walsh.at(rank - 1), walsh.at(last + 1 - rank));
        let level = 1.0 - 2.0 * below;
        Some(Interval { low: low.min(floored.low), high: high.max(floored.high), level })
    }
}

fn around(centre: f64, half: f64, level: f64) -> Interval {
    Interval { low: centre - half, high: centre + half, level }
}

/// Quantiles of t that were needed before: finding one takes longer than an interval.
#[derive(Default)]
pub(crate) struct Quantiles {
    known: Vec<(f64, f64, f64)>,
}

impl Quantiles {
    /// What |t| exceeds with probability `alpha`.
    fn t(&mut self, freedom: f64, alpha: f64) -> f64 {
        if let Some(known) = self.known.iter().find(|known| (known.0, known.1) == (freedom, alpha))
        {
            return known.2;
        }
        let quantile = t_quantile(freedom, 1.0 - alpha / 2.0);
        self.known.push((freedom, alpha, quantile));
        quantile
    }
}
