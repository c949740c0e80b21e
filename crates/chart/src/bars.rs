//! Horizontal bars with an interval and every raw value.

use crate::ink::Ink;
use crate::rows::{self, Rows, Words};
use crate::scale::{Scale, figure, fit};
use crate::sheet::Sheet;
use crate::{Axis, Head, Key, Spot, Svg};

/// One bar a contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bars {
    /// Title and description.
    pub head: Head,
    /// What the bars measure.
    pub axis: Axis,
    /// In the order shown.
    pub bars: Vec<Bar>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bar {
    /// Contender.
    pub key: Key,
    /// Its middle; absent where there is no figure, and `note` says why.
    pub value: Option<Spot>,
    /// Interval of the middle.
    pub interval: Option<(f64, f64)>,
    /// Every raw value, in the order measured.
    pub points: Vec<Spot>,
    /// What stands next to the bar: `FASTER`, `not run`, `warm by nature`.
    pub note: String,
}

impl Bars {
    /// Draws it; one mark a bar with a value. A value that is no number counts as absent. On a
    /// logarithmic axis a bar is a dot: its length would mean nothing.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.bars.is_empty() {
            return rows::empty(&self.head);
        }
        let words: Vec<_> = self.bars.iter().map(|bar| bar.words(&self.axis)).collect();
        let layout = Rows::new(&self.axis.title, &words, 0.0);
        let scale = self.scale(layout.plot);
        let mut sheet = Sheet::new(&self.head, layout.height());
        layout.axis(&sheet, &scale);
        for (row, (bar, words)) in self.bars.iter().zip(&words).enumerate() {
            layout.words(&sheet, row, words);
            bar.draw(&mut sheet, &layout, &scale, (row, self.axis.log));
        }
        let (top, bottom) = layout.tall();
        if !self.axis.log {
            sheet.path(&[(layout.plot.0, top), (layout.plot.0, bottom)], Ink::Axis);
        }
        sheet.finish()
    }

    /// Middles and raw values fit; an interval may go on beyond half as much again.
    fn scale(&self, place: (f64, f64)) -> Scale {
        let spots = || self.bars.iter().flat_map(Bar::shown);
        let most = spots().fold(0.0, f64::max);
        let ends = || self.bars.iter().filter_map(|bar| bar.interval);
        let high = ends().filter_map(|(_, high)| fit(high)).fold(most, f64::max).min(most * 1.5);
        if !self.axis.log {
            return Scale::linear(high * 1.02, place);
        }
        let least = spots().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
        let low = ends().filter_map(|(low, _)| fit(low)).filter(|low| *low > 0.0);
        let low = low.fold(least, f64::min).max(least / 1.5);
        Scale::log(low / 1.1, high * 1.1, place)
    }
}

impl Bar {
    fn middle(&self) -> Option<f64> {
        self.value.as_ref().and_then(|spot| fit(spot.value))
    }

    fn shown(&self) -> impl Iterator<Item = f64> {
        self.middle().into_iter().chain(self.points.iter().filter_map(|spot| fit(spot.value)))
    }

    fn words(&self, axis: &Axis) -> Words {
        let value = self.middle().map(|value| figure(value, &axis.unit));
        Words {
            label: self.key.label.clone(),
            value: value.unwrap_or_default(),
            note: self.note.clone(),
        }
    }

    fn draw(&self, sheet: &mut Sheet<'_>, layout: &Rows, scale: &Scale, (row, log): (usize, bool)) {
        let Some((value, spot)) = self.middle().zip(self.value.as_ref()) else { return };
        let (band, middle) = (layout.band(row), layout.middle(row));
        let tip = rows::tip(&self.key.label, &spot.tip, &self.note);
        sheet.mark(&rows::hue(self.key.hue), &tip, |sheet| {
            let (x, beyond) = scale.locate(value);
            if log {
                sheet.dot((x, middle), 4.5, Ink::Middle);
            } else {
                rows::bar(sheet, (layout.plot.0, x), band, self.key.hue, Ink::Bar);
            }
            if beyond != 0 {
                sheet.arrow((x, middle), 6.0 * f64::from(beyond));
            }
            self.draw_points(sheet, scale, band);
            if let Some(interval) = self.interval {
                rows::whisker(sheet, scale, interval, middle);
            }
        });
    }

    /// Apart from each other by their number, so that equal values are seen as several.
    fn draw_points(&self, sheet: &Sheet<'_>, scale: &Scale, (top, bottom): (f64, f64)) {
        const APART: [f64; 5] = [0.2, 0.8, 0.34, 0.66, 0.08];
        let spots = self.points.iter().enumerate();
        for (at, (value, spot)) in
            spots.filter_map(|(at, spot)| Some((at, (fit(spot.value)?, spot))))
        {
            let y = top + (bottom - top) * APART[at % APART.len()];
            sheet.raw(&spot.tip, |sheet| sheet.dot((scale.at(value), y), 2.0, Ink::Point));
        }
    }
}
