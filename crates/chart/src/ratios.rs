//! Ratios with their intervals on a logarithmic axis, with the margin as a band: what a verdict
//! rests on.

use crate::ink::Ink;
use crate::rows::{self, Rows, Words};
use crate::scale::{Scale, figure, fit};
use crate::sheet::Sheet;
use crate::{Head, Key, Spot, Svg};

/// Ratios to one reference.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ratios {
    /// Title and description.
    pub head: Head,
    /// What the ratio is: `time ÷ time of ext4 (less is better)`.
    pub title: String,
    /// The margin of SAME, such as 0.05.
    pub margin: f64,
    /// In the order shown.
    pub rows: Vec<Ratio>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ratio {
    /// Contender.
    pub key: Key,
    /// Estimate; absent where there is none.
    pub ratio: Option<Spot>,
    pub interval: Option<(f64, f64)>,
    /// The verdict's word, or why there is none.
    pub word: String,
}

impl Ratios {
    /// Draws it; one mark a row with a ratio. A ratio that is not above 0 counts as absent.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.rows.is_empty() {
            return rows::empty(&self.head);
        }
        let words: Vec<_> = self.rows.iter().map(Ratio::words).collect();
        let layout = Rows::new(&self.title, &words, 0.0);
        let scale = self.scale((layout.plot.0 + 6.0, layout.plot.1 - 6.0));
        let mut sheet = Sheet::new(&self.head, layout.height());
        let (top, bottom) = layout.tall();
        let margin = 1.0 + fit(self.margin).unwrap_or(0.0).clamp(0.0, 10.0);
        let band = [scale.at(1.0 / margin), scale.at(margin)];
        sheet.rect((band[0], top), (band[1], bottom), Ink::Margin);
        layout.axis(&sheet, &scale);
        sheet.path(&[(scale.at(1.0), top), (scale.at(1.0), bottom)], Ink::One);
        for (row, (ratio, words)) in self.rows.iter().zip(&words).enumerate() {
            layout.words(&sheet, row, words);
            ratio.draw(&mut sheet, &scale, layout.middle(row));
        }
        sheet.finish()
    }

    /// Every ratio fits, and 1.00 with its margin; an interval may go on beyond.
    fn scale(&self, place: (f64, f64)) -> Scale {
        let margin = 1.0 + fit(self.margin).unwrap_or(0.0).clamp(0.01, 10.0) * 1.6;
        let ratios = || self.rows.iter().filter_map(Ratio::shown);
        let least = ratios().fold(1.0 / margin, f64::min);
        let most = ratios().fold(margin, f64::max);
        let spread = (most / least).powf(0.6);
        let ends = || self.rows.iter().filter_map(|row| row.interval);
        let lows = ends().filter_map(|(low, _)| fit(low)).filter(|low| *low > 0.0);
        let highs = ends().filter_map(|(_, high)| fit(high));
        let low = lows.fold(least, f64::min).max(least / spread);
        let high = highs.fold(most, f64::max).min(most * spread);
        Scale::log(low / 1.01, high * 1.01, place)
    }
}

impl Ratio {
    fn shown(&self) -> Option<f64> {
        let ratio = self.ratio.as_ref()?;
        fit(ratio.value).filter(|value| *value > 1e-9)
    }

    fn words(&self) -> Words {
        let label = self.key.label.clone();
        match self.shown() {
            Some(value) if value < 0.095 => {
                Words { label, value: figure(value, ""), note: self.word.clone() }
            }
            Some(value) => Words { label, value: format!("{value:.2}"), note: self.word.clone() },
            // In the column of numbers: across the band it would be read as part of it.
            None => Words { label, value: self.word.clone(), note: String::new() },
        }
    }

    fn draw(&self, sheet: &mut Sheet<'_>, scale: &Scale, y: f64) {
        let Some((value, spot)) = self.shown().zip(self.ratio.as_ref()) else { return };
        let tip = rows::tip(&self.key.label, &spot.tip, &self.word);
        sheet.mark(&rows::hue(self.key.hue), &tip, |sheet| {
            if let Some(interval) = self.interval {
                rows::whisker(sheet, scale, interval, y);
            }
            sheet.dot((scale.at(value), y), 4.5, Ink::Middle);
        });
    }
}
