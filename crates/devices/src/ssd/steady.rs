//! When rounds are steady. Pure.
//!
//! SNIA's Solid State Storage Performance Test Specification 2.0.2 calls a window of five rounds
//! steady when the largest and the smallest value differ by 20 % of the mean at most, and the line
//! fitted to them by least squares rises or falls over the window by 10 % of the mean at most.

/// The window and its limits; the default is that of the specification.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Steadiness {
    /// Rounds that are looked at, the last ones.
    pub window_rounds: u32,
    /// Largest difference between two rounds, as a share of the mean.
    pub data_excursion: f64,
    /// Largest rise or fall of the fitted line over the window, as a share of the mean.
    pub slope_excursion: f64,
}

impl Default for Steadiness {
    fn default() -> Self {
        Self { window_rounds: 5, data_excursion: 0.2, slope_excursion: 0.1 }
    }
}

impl Steadiness {
    /// Whether the last rounds are steady; never with fewer rounds than the window has.
    #[must_use]
    pub fn holds_at_end(&self, rates: &[f64]) -> bool {
        let length = usize::try_from(self.window_rounds).unwrap_or(usize::MAX);
        match rates.len().checked_sub(length) {
            Some(start) if length > 0 => self.holds(&rates[start..]),
            _ => false,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a window has a handful of rounds")]
    fn holds(&self, window: &[f64]) -> bool {
        let count = window.len() as f64;
        let mean = window.iter().sum::<f64>() / count;
        let most = window.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = window.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = (count - 1.0) / 2.0;
        let (mut above, mut below) = (0.0, 0.0);
        for (index, rate) in window.iter().enumerate() {
            let x = index as f64 - middle;
            above += x * (rate - mean);
            below += x * x;
        }
        let slope = if below > 0.0 { above / below } else { 0.0 };
        mean > 0.0
            && most - least <= self.data_excursion * mean
            && (slope * (count - 1.0)).abs() <= self.slope_excursion * mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(rates: &[f64]) -> bool {
        Steadiness::default().holds_at_end(rates)
    }

    #[test]
    fn five_even_rounds_are_steady_and_four_are_not() {
        assert!(steady(&[100.0; 5]));
        assert!(!steady(&[100.0; 4]));
        assert!(steady(&[900.0, 500.0, 100.0, 104.0, 97.0, 101.0, 99.0]), "only the last count");
        assert!(!steady(&[0.0; 5]), "nothing was written");
    }

    #[test]
    fn the_spread_may_be_a_fifth_of_the_mean() {
        // Mean 100, no slope.
        assert!(steady(&[90.0, 110.0, 100.0, 110.0, 90.0]));
        assert!(!steady(&[89.0, 111.0, 100.0, 111.0, 89.0]));
    }

    #[test]
    fn the_line_may_rise_by_a_tenth_of_the_mean_over_the_window() {
        // Spread 10 and 11 of 100: only the slope decides.
        assert!(steady(&[95.0, 97.5, 100.0, 102.5, 105.0]));
        assert!(!steady(&[94.5, 97.25, 100.0, 102.75, 105.5]));
        assert!(!steady(&[105.5, 102.75, 100.0, 97.25, 94.5]), "nor may it fall");
    }

    #[test]
    fn limits_can_be_changed() {
        let loose = Steadiness { window_rounds: 2, data_excursion: 1.0, slope_excursion: 1.0 };
        assert!(loose.holds_at_end(&[1.0, 2.0]));
        let none = Steadiness { window_rounds: 0, ..loose };
        assert!(!none.holds_at_end(&[]));
    }
}
