//! Adjusted p-values, where more than one question is asked of the same measurements.

/// Holm's adjusted p-values, in the order given: rejecting those at or below alpha makes any false
/// rejection at all at most alpha likely, however the questions depend on each other.
///
/// What is no probability (not a number, below 0, above 1) counts as 1: the question was asked and
/// had no answer.
///
/// ```
/// assert_eq!(fsarena_stats::holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Stat. 6 (1979).
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let (p, order) = ranked(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut reached = 0.0f64;
    for (rank, &at) in order.iter().enumerate() {
        reached = reached.max(((p.len() - rank) as f64 * p[at]).min(1.0));
        adjusted[at] = reached;
    }
    adjusted
}

/// Adjusted p-values of Benjamini and Hochberg, in the order given: of those at or below alpha, a
/// share of at most alpha is expected to be false. For explorations only, and labelled as such; a
/// single one of them is no verdict. Holds for independent and positively dependent questions.
///
/// What is no probability counts as 1, as in [`holm`].
///
/// Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57
/// (1995).
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let (p, order) = ranked(p);
    let mut adjusted = vec![1.0; p.len()];
    let mut reached = 1.0f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        reached = reached.min(p.len() as f64 / (rank + 1) as f64 * p[at]);
        adjusted[at] = reached;
    }
    adjusted
}

/// The p-values made sound, and their indices from the least to the greatest.
fn ranked(p: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let sound = |&p: &f64| if (0.0..=1.0).contains(&p) { p } else { 1.0 };
    let p: Vec<f64> = p.iter().map(sound).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    (p, order)
}
