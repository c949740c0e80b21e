//! Charts with a row a contender: horizontal bars with an interval and every raw value; ratios with
//! their intervals on a logarithmic axis, with the margin as a band, which is what a verdict rests
//! on; and stacked bars, of parts that follow each other (returned, durable, drained) or of a sum.

use crate::ink::Ink;
use crate::rows::{self, Legend, Rows, Swatch, Words};
use crate::scale::{Scale, fit, shown};
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
        shown(self.value.as_ref())
    }

    fn shown(&self) -> impl Iterator<Item = f64> {
        self.middle().into_iter().chain(self.points.iter().filter_map(|spot| fit(spot.value)))
    }

    fn words(&self, axis: &Axis) -> Words {
        Words::new(&self.key, self.middle(), &axis.unit, &self.note)
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
                sheet.rect((layout.plot.0, band.0), (x, band.1), Ink::Bar);
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
        shown(self.ratio.as_ref()).filter(|value| *value > 1e-9)
    }

    fn words(&self) -> Words {
        let label = self.key.label.clone();
        match self.shown() {
            Some(value) if value < 0.095 => Words::new(&self.key, Some(value), "", &self.word),
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

/// One bar a contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stacks {
    /// Title and description.
    pub head: Head,
    /// What the bars measure.
    pub axis: Axis,
    /// Names of the segments, for the legend; a segment refers to them by place.
    pub names: Vec<String>,
    /// Whether a segment has the hue of its name instead of a shade of its
    /// contender's: for parts of a sum, which are more than there are shades.
    pub by_name: bool,
    /// What [`Stack::held_against`] is, for the legend.
    pub against: String,
    /// In the order shown.
    pub stacks: Vec<Stack>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stack {
    pub key: Key,
    /// Segments from the left, each the hue of the contender in the shade of its name.
    pub segments: Vec<Segment>,
    /// A value that the whole is held against: a line across the bar.
    pub held_against: Option<Spot>,
    /// What stands next to the bar: `not drained`, `no device`.
    pub note: String,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Segment {
    /// Place in `names`.
    pub name: usize,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Words for a tooltip.
    pub tip: String,
}

impl Stacks {
    /// Draws it; one mark a bar with at least one segment. The axis is linear: parts of a length
    /// cannot be compared on another.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.stacks.is_empty() {
            return rows::empty(&self.head);
        }
        let legend = self.legend();
        let words: Vec<_> = self.stacks.iter().map(|stack| stack.words(self)).collect();
        let layout = Rows::new(&self.axis.title, &words, legend.height);
        let ends = self.stacks.iter().filter_map(Stack::end);
        let most = ends.chain(self.stacks.iter().filter_map(Stack::line)).fold(0.0, f64::max);
        let scale = Scale::linear(most * 1.02, layout.plot);
        let mut sheet = Sheet::new(&self.head, layout.height());
        legend.draw(&sheet, 0.0);
        layout.axis(&sheet, &scale);
        for (row, (stack, words)) in self.stacks.iter().zip(&words).enumerate() {
            layout.words(&sheet, row, words);
            stack.draw(&mut sheet, &scale, layout.band(row), self.by_name);
        }
        let (top, bottom) = layout.tall();
        sheet.path(&[(layout.plot.0, top), (layout.plot.0, bottom)], Ink::Axis);
        sheet.finish()
    }

    fn legend(&self) -> Legend {
        let swatch = |at: usize| match self.by_name {
            true => Swatch::Bar { hue: at, hatched: false },
            false => Swatch::Tone(at),
        };
        let names = self.names.iter().enumerate().map(|(at, name)| (swatch(at), name.clone()));
        let is_any = self.stacks.iter().any(|stack| stack.line().is_some());
        Legend::new(names.chain(is_any.then(|| (Swatch::Across, self.against.clone()))))
    }
}

impl Stack {
    fn line(&self) -> Option<f64> {
        shown(self.held_against.as_ref())
    }

    /// Segments whose ends are numbers.
    fn shown(&self) -> impl Iterator<Item = (&Segment, f64, f64)> {
        self.segments.iter().filter_map(|segment| {
            let (from, to) = (fit(segment.from)?, fit(segment.to)?);
            Some((segment, from.min(to), from.max(to)))
        })
    }

    fn end(&self) -> Option<f64> {
        self.shown().map(|(_, _, to)| to).reduce(f64::max)
    }

    fn words(&self, stacks: &Stacks) -> Words {
        Words::new(&self.key, self.end(), &stacks.axis.unit, &self.note)
    }

    fn draw(&self, sheet: &mut Sheet<'_>, scale: &Scale, (top, bottom): (f64, f64), by_name: bool) {
        if self.end().is_none() {
            return;
        }
        let tips: Vec<_> = self.shown().map(|(segment, _, _)| segment.tip.as_str()).collect();
        let tip = rows::tip(&self.key.label, &tips.join("; "), &self.note);
        sheet.mark(&rows::hue(self.key.hue), &tip, |sheet| {
            for (segment, from, to) in self.shown() {
                let (from, to) = (scale.at(from), scale.at(to));
                let tip = rows::tip(&self.key.label, &segment.tip, "");
                if by_name {
                    let hue = rows::hue(segment.name);
                    sheet.group(&format!("part {hue}"), &tip, |sheet| {
                        sheet.rect((from, top), (to, bottom), Ink::Bar);
                    });
                } else {
                    sheet.group("part", &tip, |sheet| {
                        sheet.rect((from, top), (to, bottom), Ink::tone(segment.name));
                    });
                }
            }
            if let (Some(line), Some(spot)) = (self.line(), &self.held_against) {
                let x = scale.at(line);
                sheet.raw(&rows::tip(&self.key.label, &spot.tip, ""), |sheet| {
                    sheet.path(&[(x, top - 3.0), (x, bottom + 3.0)], Ink::Whisker);
                });
            }
        });
    }
}
