//! The verdicts of all that is asked at once: a difference, or that there is none worth the name,
//! each within its share of errors for the whole family.

use super::ALPHA;
use fsarena_model::verdict::Verdict;
use fsarena_stats::units::{Shift, step_down};

/// What is said of one comparison.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Comparison {
    pub(super) verdict: Verdict,
    pub(super) ratio: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    /// Level of the interval alone.
    pub(super) level: Option<f64>,
    /// The interval that SAME is said by.
    pub(super) same_low: Option<f64>,
    pub(super) same_high: Option<f64>,
    /// Its level alone.
    pub(super) same_level: Option<f64>,
}

/// Holm's procedure over the comparisons that can be tested, once for differences and once for
/// sameness, as within a RUN: SAME goes first. Those without a test take no share.
pub(super) fn verdicts(shifts: &[Option<Shift>], margin: f64) -> Vec<Option<Comparison>> {
    let margin_log = margin.ln_1p();
    let tested: Vec<Shift> = shifts.iter().copied().flatten().collect();
    let probabilities = |of: &dyn Fn(&Shift) -> f64| tested.iter().map(of).collect::<Vec<_>>();
    let differ = step_down(&probabilities(&Shift::p_difference), ALPHA);
    let same = step_down(&probabilities(&|shift| shift.p_same(margin_log)), ALPHA);
    let mut comparisons = tested.iter().zip(differ).zip(same).map(|((shift, differ), same)| {
        let verdict = match (same.is_rejected, differ.is_rejected) {
            (true, _) => Verdict::Same,
            (false, true) if shift.point > 0.0 => Verdict::Slower,
            (false, true) => Verdict::Faster,
            (false, false) => Verdict::Undecided,
        };
        let interval = shift.interval(differ.alpha);
        // Two one-sided tests, each at that level.
        let within = shift.interval(2.0 * same.alpha);
        Comparison {
            verdict,
            ratio: shift.point.exp(),
            low: interval.map(|interval| interval.low.exp()),
            high: interval.map(|interval| interval.high.exp()),
            level: interval.map(|interval| interval.level),
            same_low: within.map(|interval| interval.low.exp()),
            same_high: within.map(|interval| interval.high.exp()),
            same_level: within.map(|interval| interval.level),
        }
    });
    shifts.iter().map(|shift| shift.and_then(|_| comparisons.next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift(point: f64, standard_error: f64) -> Option<Shift> {
        Some(Shift { point, standard_error, freedom: 4.0 })
    }

    #[test]
    fn four_words() {
        let all = verdicts(
            &[shift(0.2, 0.01), None, shift(-0.2, 0.01), shift(0.002, 0.001), shift(0.06, 0.05)],
            0.05,
        );
        let words: Vec<Option<Verdict>> =
            all.iter().map(|comparison| comparison.map(|comparison| comparison.verdict)).collect();
        assert_eq!(
            words,
            [
                Some(Verdict::Slower),
                None,
                Some(Verdict::Faster),
                Some(Verdict::Same),
                Some(Verdict::Undecided)
            ]
        );
        let first = all[0].unwrap();
        assert!(first.low.unwrap() > 1.0 && first.level.unwrap() > 0.95);
    }

    /// What is decided alone is not decided next to nine others that are asked too.
    #[test]
    fn who_asks_more_needs_more() {
        let one = shift(0.1, 0.03);
        assert_eq!(verdicts(&[one], 0.01)[0].unwrap().verdict, Verdict::Slower);
        let ten: Vec<Option<Shift>> =
            (0..10).map(|at| if at == 0 { one } else { shift(0.0, 0.03) }).collect();
        assert_eq!(verdicts(&ten, 0.01)[0].unwrap().verdict, Verdict::Undecided);
    }

    /// Two one-sided tests see a small real difference within the margin as the same.
    #[test]
    fn same_goes_before_a_difference_within_the_margin() {
        let comparison = verdicts(&[shift(0.01, 0.001)], 0.05)[0].unwrap();
        assert_eq!(comparison.verdict, Verdict::Same);
        assert!(comparison.low.unwrap() > 1.0);
    }

    /// The interval of SAME is that of its tests: within the margin where SAME is said, also where
    /// the one that decides on differences is not.
    #[test]
    fn same_is_said_by_an_interval_of_its_own() {
        // 2.776 and 2.132 are the quantiles of Student's t with 4 degrees of freedom.
        let (one, margin) = (shift(0.0, 0.02), 0.05);
        let comparison = verdicts(&[one], margin)[0].unwrap();
        assert_eq!(comparison.verdict, Verdict::Same);
        assert!(comparison.high.unwrap() > 1.0 + margin, "{comparison:?}");
        assert!((comparison.high.unwrap().ln() - 2.776_445 * 0.02).abs() < 1e-6, "{comparison:?}");
        assert!(comparison.same_high.unwrap() < 1.0 + margin, "{comparison:?}");
        assert!(
            (comparison.same_low.unwrap().ln() + 2.131_847 * 0.02).abs() < 1e-6,
            "{comparison:?}"
        );
        assert!((comparison.same_level.unwrap() - 0.90).abs() < 1e-12, "{comparison:?}");
        // Of ten that are asked, each has a tenth of the error.
        let noisy = shift(0.0, 1.0);
        let ten: Vec<Option<Shift>> = (0..10).map(|at| if at == 0 { one } else { noisy }).collect();
        let comparison = verdicts(&ten, margin)[0].unwrap();
        assert_eq!(comparison.verdict, Verdict::Undecided);
        assert!((comparison.same_level.unwrap() - 0.99).abs() < 1e-12, "{comparison:?}");
        assert!(comparison.same_high.unwrap() > 1.0 + margin, "{comparison:?}");
    }
}
