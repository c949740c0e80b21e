//! When a difference takes more than an interval: mean, typical and median ratio have to agree.
//!
//! Where the noise of two contenders has different shapes (one stalls now and then, the other never
//! does), the ratio of the geometric means, the typical ratio (the pseudomedian) and the ratio of
//! the medians answer different questions, and can lie on different sides of 1. Then there is no
//! one answer to "which is faster", and none is given. Under few blocks a shape cannot be seen, so
//! that they have to agree there in any case.
//!
//! All that can be set is here.

use crate::describe::median;
use crate::paired::PairSample;
use crate::shape::shapes_differ;

/// With fewer blocks than this the three have to agree whatever the shapes.
pub const AGREE_BELOW: usize = 6;

/// Whether the ratio of the geometric means has to be clear of 1 by its own t interval as well, at
/// the level of the interval that decides, and not only on the same side.
pub const MEAN_IS_CLEAR: bool = false;

/// What has to agree with the interval of a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// Logarithm of the ratio of the medians.
    pub medians: f64,
}

impl Agreement {
    /// What has to agree, of contenders with these logarithms of values, in blocks that have both;
    /// `None` where the interval is enough.
    #[must_use]
    pub fn needed(a: &[f64], b: &[f64]) -> Option<Self> {
        Self::between(a, b, shapes_differ(a, b))
    }

    /// The same where it is known whether their shapes differ.
    #[must_use]
    pub fn between(a: &[f64], b: &[f64], shapes_differ: bool) -> Option<Self> {
        if !shapes_differ && a.len().min(b.len()) >= AGREE_BELOW {
            return None;
        }
        Some(Self { medians: median(a).ok()? - median(b).ok()? })
    }

    /// Whether all three are on the side of `sign` (-1 or 1), where the interval of that level is.
    #[must_use]
    pub fn holds(&self, sample: &PairSample<'_>, sign: f64, alpha: f64) -> bool {
        let is_beyond = |value: Option<f64>| value.is_some_and(|value| value * sign > 0.0);
        let mean_is_clear = || {
            let own = PairSample { pooled: None, ..*sample };
            own.mean_interval(alpha)
                .is_some_and(|mean| mean.low * sign > 0.0 && mean.high * sign > 0.0)
        };
        is_beyond(Some(self.medians))
            && is_beyond(sample.mean())
            && is_beyond(sample.hodges_lehmann())
            && (!MEAN_IS_CLEAR || mean_is_clear())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(logs: &[f64]) -> PairSample<'_> {
        PairSample { logs, floor_sd: 0.0, pooled: None }
    }

    #[test]
    fn few_blocks_and_other_shapes_need_it() {
        let (steady, stalling) = ([0.0, 0.01, 0.0, 0.01, 0.0, 0.01, 0.0], [0.0; 7]);
        assert_eq!(Agreement::needed(&steady, &stalling), None);
        assert!(Agreement::needed(&steady[..5], &stalling[..5]).is_some());
        assert_eq!(Agreement::between(&steady, &stalling, true), Some(Agreement { medians: 0.0 }));
        assert_eq!(Agreement::between(&[], &[], true), None);
    }

    /// One stall in seven: the mean says more, the other two say less.
    #[test]
    fn all_three_have_to_be_on_one_side() {
        let logs = [-0.1, -0.1, -0.1, -0.1, -0.1, -0.1, 2.0];
        let below = Agreement { medians: -0.1 };
        assert!(!below.holds(&sample(&logs), -1.0, 0.05), "the mean is above 0");
        assert!(!below.holds(&sample(&logs), 1.0, 0.05));
        let even = [-0.1; 7];
        assert!(below.holds(&sample(&even), -1.0, 0.05));
        assert!(!Agreement { medians: 0.0 }.holds(&sample(&even), -1.0, 0.05), "no side");
        assert!(!Agreement { medians: 0.1 }.holds(&sample(&even), -1.0, 0.05));
    }
}
