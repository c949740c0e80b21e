//! The cluster bootstrap: values that hang together (those of one run) are drawn together.
//!
//! Nothing here draws a random number: the caller hands in the generator, and with it the seed.

use crate::interval::{Bounds, Estimate, Interval, check_alpha};
use crate::{SampleError, quantile};

/// How often, and for what share of misses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// How many times clusters are drawn; 2000 are usual for 95 %.
    pub resamples: usize,
    /// Share of misses allowed in all.
    pub alpha: f64,
}

/// A statistic of clusters with the percentile interval of its values over clusters drawn with
/// replacement. `statistic` gets the places of the clusters drawn; `below(n)` gives a random number
/// in `0..n`. One cluster has no interval.
///
/// A. Davison and D. Hinkley, "Bootstrap methods and their application" (1997), 3.8. The interval
/// is too narrow for few clusters: ten at least. It has no width where the statistic is the same
/// in every cluster, as a share of no hits is; use [`wilson`](crate::wilson) there.
///
/// # Errors
/// No clusters; no resamples; a statistic that is not finite; an `alpha` that is no share.
pub fn cluster_bootstrap(
    clusters: usize,
    resampling: Resampling,
    mut below: impl FnMut(u64) -> u64,
    mut statistic: impl FnMut(&[usize]) -> f64,
) -> Result<Estimate, SampleError> {
    check_alpha(resampling.alpha)?;
    if clusters == 0 || resampling.resamples == 0 {
        return Err(SampleError::Empty);
    }
    let mut drawn: Vec<usize> = (0..clusters).collect();
    let point = statistic(&drawn);
    crate::check(&[point])?;
    if clusters == 1 {
        let bounds = Bounds::Unattainable { widest: None, needs: 2 };
        return Ok(Estimate { point, bounds, n: 1 });
    }
    let mut values = Vec::with_capacity(resampling.resamples);
    for _ in 0..resampling.resamples {
        for place in &mut drawn {
            let number = usize::try_from(below(clusters as u64)).unwrap_or(usize::MAX);
            *place = number.min(clusters - 1);
        }
        values.push(statistic(&drawn));
    }
    let low = quantile(&values, resampling.alpha / 2.0)?;
    let high = quantile(&values, 1.0 - resampling.alpha / 2.0)?;
    let bounds = Bounds::Attained(Interval { low, high, level: 1.0 - resampling.alpha });
    Ok(Estimate { point, bounds, n: clusters })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Resampling = Resampling { resamples: 2000, alpha: 0.05 };

    /// A generator that is good enough here: the high bits of a linear congruence.
    fn generator(mut state: u64) -> impl FnMut(u64) -> u64 {
        move |bound| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 33) % bound
        }
    }

    fn mean_of(values: &[f64], drawn: &[usize]) -> f64 {
        drawn.iter().map(|&at| values[at]).sum::<f64>() / drawn.len() as f64
    }

    /// The standard error of a mean of n values is their spread by the root of n.
    #[test]
    fn the_interval_of_a_mean_is_as_wide_as_it_should_be() {
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        let estimate =
            cluster_bootstrap(40, USUAL, generator(7), |drawn| mean_of(&values, drawn)).unwrap();
        let interval = estimate.bounds.attained().unwrap();
        let expected = 2.0 * 1.96 * 11.543 / 40_f64.sqrt();
        assert!(((interval.high - interval.low) / expected - 1.0).abs() < 0.1, "{interval:?}");
        assert!(interval.low < 19.5 && 19.5 < interval.high);
        assert!((estimate.point - 19.5).abs() < 1e-12);
    }

    #[test]
    fn one_cluster_has_no_interval_and_none_no_statistic() {
        let one = cluster_bootstrap(1, USUAL, generator(7), |_| 3.0).unwrap();
        assert_eq!((one.point, one.bounds.attained()), (3.0, None));
        assert!(cluster_bootstrap(0, USUAL, generator(7), |_| 3.0).is_err());
        assert!(cluster_bootstrap(3, USUAL, generator(7), |_| f64::NAN).is_err());
    }
}
