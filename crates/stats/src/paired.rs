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

/// A pair takes the spread of the crowd where its own variance is at most this share of the
/// others'.
///
/// Such a pair has more likely had luck than less noise, and luck at few blocks is what makes false
/// verdicts. To a pair that is noisier than the crowd, the crowd's freedom would lend a certainty
/// that it does not have: with one contender of four three times as noisy as the others, all
/// compared with it and the crowd always believed, 8.8 % of families had a false verdict after
/// three blocks.
pub(crate) const LUCKY: f64 = 1.0 / 3.0;

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

/// How a difference is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// Mean, with Student's t interval.
    Mean,
    /// Mean, with Student's t interval of a spread that all contenders share.
    MeanPooled,
    /// Pseudomedian, with the exact interval of Wilcoxon's signed ranks.
    HodgesLehmann,
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
    /// The variance of these logs moderated by all contenders (see
    /// [`moderated`](crate::blocks::moderated)), for samples too small to tell their own.
    pub pooled: Option<Spread>,
}

impl PairSample<'_> {
    /// Which estimator applies to so many blocks.
    #[must_use]
    pub fn estimator(&self) -> Estimator {
        match self.crowd() {
            _ if self.logs.len() >= EXACT_FROM => Estimator::HodgesLehmann,
            Some(_) => Estimator::MeanPooled,
            None => Estimator::Mean,
        }
    }

    /// The pooled spread, where the sample's own does not speak against it.
    fn crowd(&self) -> Option<Spread> {
        let pooled = self.pooled?;
        let own = crate::describe::standard_deviation(self.logs).ok()??.powi(2);
        let own_freedom = (self.logs.len() - 1) as f64;
        let lent = pooled.freedom - own_freedom;
        // What is in the pooled variance next to the sample's own.
        let others = (pooled.freedom * pooled.variance - own_freedom * own) / lent;
        (lent > 0.0 && others.is_finite() && own <= LUCKY * others).then_some(pooled)
    }

    /// The difference, by the [`estimator`](Self::estimator); `None` without values or where one is
    /// not finite.
    #[must_use]
    pub fn point(&self) -> Option<f64> {
        match self.estimator() {
            Estimator::HodgesLehmann => self.hodges_lehmann(),
            Estimator::Mean | Estimator::MeanPooled => self.mean(),
        }
    }

    /// Two-sided interval of the difference with a share `alpha` of misses.
    ///
    /// * Below [`EXACT_FROM`] values: mean ± t · sd ÷ √n; with the variance and freedom of a pooled
    ///   spread where the sample's own variance is at most a third of the others'.
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
        let walsh = match self.estimator() {
            Estimator::HodgesLehmann => Some(Walsh::new(self.logs)),
            Estimator::Mean | Estimator::MeanPooled => None,
        };
        let spread = match self.crowd() {
            Some(crowd) if walsh.is_none() => {
                Spread { variance: crowd.variance.max(sd * sd), freedom: crowd.freedom }
            }
            _ => Spread { variance: sd * sd, freedom },
        };
        let is_finite = spread.variance.is_finite();
        is_finite.then_some(Prepared { n, mean, spread, floor_sd: self.floor_sd, walsh })
    }
}

/// A sample ready for intervals at several levels.
pub(crate) struct Prepared {
    n: usize,
    mean: f64,
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
        let Some(walsh) = &mut self.walsh else { return Some(t) };
        let last = walsh.len() - 1;
        let (rank, below) = signed_rank(self.n, alpha / 2.0);
        let floor = half * self.floor_sd;
        if rank == 0 {
            let (low, high) = (walsh.at(0).min(t.low), walsh.at(last).max(t.high));
            return Some(Interval { low, high, level: 1.0 - alpha });
        }
        let floored = around(walsh.median(), floor, 1.0 - alpha);
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
