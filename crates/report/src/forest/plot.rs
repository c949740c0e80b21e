//! Intervals as lines of characters on one logarithmic scale, with a mark where the ratio is 1.

/// A scale of ratios.
pub(super) struct Plot {
    low: f64,
    high: f64,
    columns: usize,
}

impl Plot {
    /// A scale that holds these ratios and 1.
    pub(super) fn over(ratios: &[f64], columns: usize) -> Self {
        let logs = || {
            let sound = ratios.iter().copied().filter(|ratio| ratio.is_finite() && *ratio > 0.0);
            sound.map(f64::ln).chain([0.0])
        };
        let low = logs().fold(0.0, f64::min);
        let high = logs().fold(0.0, f64::max);
        // All equal to 1 still need a width.
        let pad = if high - low > 0.0 { 0.0 } else { 0.01 };
        Self { low: low - pad, high: high + pad, columns: columns.max(3) }
    }

    /// Column of a ratio.
    fn at(&self, ratio: f64) -> usize {
        let share = (ratio.ln() - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * (self.columns - 1) as f64).round() as usize
    }

    /// Both ends of the scale, as a heading: `0.91 … 1.30`.
    pub(super) fn axis(&self) -> String {
        let (low, high) = (format!("{:.2}", self.low.exp()), format!("{:.2}", self.high.exp()));
        let gap = self.columns.saturating_sub(low.len() + high.len()).max(1);
        format!("{low}{}{high}", " ".repeat(gap))
    }

    /// A point in its interval: `|  --o---`.
    pub(super) fn line(&self, ratio: f64, ends: Option<(f64, f64)>, mark: char) -> String {
        let mut cells = vec![' '; self.columns];
        cells[self.at(1.0)] = '|';
        if let Some((low, high)) = ends {
            cells[self.at(low)..=self.at(high)].fill('-');
        }
        if ratio.is_finite() && ratio > 0.0 {
            cells[self.at(ratio)] = mark;
        }
        let text: String = cells.into_iter().collect();
        text.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(plot: &Plot, ratio: f64, ends: Option<(f64, f64)>) -> String {
        plot.line(ratio, ends, 'o')
    }

    #[test]
    fn one_scale_for_all() {
        let plot = Plot::over(&[0.5, 2.0], 21);
        assert_eq!(plot.axis(), "0.50             2.00");
        assert_eq!(line(&plot, 1.0, Some((0.5, 2.0))), "----------o----------");
        assert_eq!(line(&plot, 2.0, None), "          |         o");
        assert_eq!(line(&plot, 0.5, Some((0.5, 0.5))), "o         |");
        assert_eq!(line(&plot, 1.5, Some((1.2, 1.8))), "          |  ---o--");
    }

    #[test]
    fn nothing_to_show_is_no_panic() {
        for ratios in [&[][..], &[1.0, 1.0], &[f64::NAN, 0.0, f64::INFINITY]] {
            let plot = Plot::over(ratios, 21);
            assert_eq!(line(&plot, 1.0, Some((1.0, 1.0))).trim(), "o");
            assert!(!line(&plot, f64::NAN, Some((f64::NAN, 1.0))).is_empty());
        }
    }
}
