//! Response curves: how a value goes over the ordered levels of one option, with intervals, the
//! best level and those that are shown to be as good.

use crate::ink::{Ink, Standing};
use crate::legend::{Legend, Swatch};
use crate::rows;
use crate::scale::{Scale, figure, fit, tick_words};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{SMALL, column, shorten, wrap};
use crate::{Axis, Head, Spot, Svg};

/// Height of the plot, in units.
const TALL: f64 = 150.0;
/// Height of the strip along the axis, in units.
const STRIP: f64 = 7.0;
/// Room next to the first and the last level, in units.
const SIDE: f64 = 22.0;
/// Widest name of a level, in units.
const WORD: f64 = 90.0;
/// From this factor between all neighbours on the axis of levels is logarithmic.
const DOUBLES: f64 = 1.9;

/// A curve over levels.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Levels {
    /// Title and description.
    pub head: Head,
    /// What is measured; it begins at zero.
    pub axis: Axis,
    /// What the levels are of: `block_size`.
    pub option: String,
    /// Hue of the curve.
    pub hue: usize,
    /// Levels, ascending.
    pub levels: Vec<Level>,
    /// First and last level of a stretch that is flat.
    pub flat: Option<(usize, usize)>,
    /// What a [`Standing::Same`] is called in the legend.
    pub same: String,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Level {
    /// Where it lies.
    pub at: f64,
    /// As it is written at the axis.
    pub label: String,
    /// Its value; absent where there is none.
    pub value: Option<Spot>,
    /// An interval of the value.
    pub interval: Option<(f64, f64)>,
    /// How it stands to the others.
    pub standing: Standing,
}

impl Level {
    fn shown(&self) -> Option<f64> {
        fit(self.value.as_ref()?.value)
    }

    /// The interval, lower end first.
    fn ends(&self) -> Option<(f64, f64)> {
        let (one, other) = self.interval?;
        Some((fit(one)?.min(fit(other)?), fit(one)?.max(fit(other)?)))
    }
}

impl Levels {
    /// Draws it; one mark a value.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.levels.iter().all(|level| level.shown().is_none()) {
            return rows::empty(&self.head);
        }
        let legend = self.legend();
        let title = wrap(&self.axis.title, WIDTH, SMALL, 2);
        let top = title.iter().fold(legend.height + 4.0, |top, _| top + 16.0) + 10.0;
        let bottom = top + TALL;
        let values = Scale::linear(self.most() * 1.06, (bottom, top));
        let ticks = values.ticks(5);
        let words = tick_words(&ticks);
        let left = column(words.iter().map(String::as_str), SMALL, (16.0, 70.0)) + 8.0;
        let along = self.along((left + SIDE, WIDTH - SIDE));
        let mut sheet = Sheet::new(&self.head, bottom + 38.0);
        legend.draw(&sheet, 0.0);
        for (line, y) in title.iter().zip([14.0, 30.0]) {
            sheet.text((0.0, legend.height + y), Anchor::Left, Ink::Title, line);
        }
        for (tick, word) in ticks.iter().zip(&words) {
            let (y, ink) = (values.at(*tick), if *tick == 0.0 { Ink::Axis } else { Ink::Grid });
            sheet.path(&[(left, y), (WIDTH, y)], ink);
            sheet.text((left - 6.0, y + 4.0), Anchor::Right, Ink::Tick, word);
        }
        let word = |level: &Level| (level.at, shorten(&level.label, WORD, SMALL));
        let ticks: Vec<_> = self.levels.iter().map(word).collect();
        rows::numbers(&sheet, &along, (bottom, bottom + 4.0), bottom + 17.0, &ticks);
        let option = shorten(&self.option, WIDTH - left, SMALL);
        let middle = f64::midpoint(left, WIDTH);
        sheet.text((middle, bottom + 33.0), Anchor::Center, Ink::Title, &option);
        self.strip(&sheet, &along, bottom);
        self.curve(&mut sheet, &along, &values);
        sheet.finish()
    }

    fn legend(&self) -> Legend {
        let named = [
            (Standing::Best, "best"),
            (Standing::Same, self.same.as_str()),
            (Standing::Other, "others"),
        ];
        let shown = |wanted: Standing| {
            let mut levels = self.levels.iter();
            levels.any(|level| level.standing == wanted && level.shown().is_some())
        };
        let hue = self.hue;
        let dots = named
            .into_iter()
            .filter(|(standing, _)| shown(*standing))
            .map(|(standing, name)| (Swatch::Dot { hue, standing }, name.to_owned()));
        let flat = Swatch::Bar { hue, hatched: false };
        let band = self.stretch().map(|_| (flat, "flat".to_owned()));
        Legend::new(dots.chain(band))
    }

    /// The flat stretch, where both of its ends are levels.
    fn stretch(&self) -> Option<(&Level, &Level)> {
        let (first, last) = self.flat?;
        Some((self.levels.get(first)?, self.levels.get(last)?))
    }

    fn most(&self) -> f64 {
        let values = self.levels.iter().filter_map(Level::shown);
        let ends = self.levels.iter().filter_map(|level| Some(level.ends()?.1));
        let most = values.clone().fold(0.0, f64::max);
        // An interval of two values can be as wide as one likes: the curve is to be seen.
        values.chain(ends.filter(|end| *end <= 3.0 * most)).fold(0.0, f64::max)
    }

    fn along(&self, place: (f64, f64)) -> Scale {
        let at = || self.levels.iter().filter_map(|level| fit(level.at));
        let (least, most) = (at().fold(f64::INFINITY, f64::min), at().fold(0.0, f64::max));
        let all: Vec<f64> = at().collect();
        let doubles = |two: &[f64]| two[1] >= DOUBLES * two[0];
        if all.len() > 1 && least > 0.0 && all.windows(2).all(doubles) {
            Scale::log(least, most, place)
        } else {
            Scale::linear(most, place)
        }
    }

    /// A strip along the axis where the curve is flat.
    fn strip(&self, sheet: &Sheet<'_>, along: &Scale, bottom: f64) {
        let Some((first, last)) = self.stretch() else { return };
        let (from, to) = (along.at(first.at), along.at(last.at));
        let (from, to) = (from.min(to) - 10.0, from.max(to) + 10.0);
        sheet.raw_class(&rows::hue(self.hue), |sheet| {
            sheet.rect((from, bottom - STRIP), (to, bottom), Ink::Bar);
        });
    }

    /// The line, and on it intervals and dots; it is broken where a level has no value.
    fn curve(&self, sheet: &mut Sheet<'_>, along: &Scale, values: &Scale) {
        let place = |level: &Level| Some((along.at(level.at), values.at(level.shown()?)));
        sheet.raw_class(&rows::hue(self.hue), |sheet| {
            for part in self.levels.split(|level| level.shown().is_none()) {
                let path: Vec<_> = part.iter().filter_map(place).collect();
                if path.len() > 1 {
                    sheet.path(&path, Ink::Line);
                }
            }
        });
        for level in &self.levels {
            let (Some((x, y)), Some(spot)) = (place(level), &level.value) else { continue };
            let tip = if spot.tip.is_empty() { &level.label } else { &spot.tip };
            sheet.mark(&rows::hue(self.hue), tip, |sheet| {
                if let Some(ends) = level.ends() {
                    upright(sheet, values, ends, x);
                }
                let (radius, ink) = level.standing.dot();
                sheet.dot((x, y), radius, ink);
            });
            if level.standing == Standing::Best {
                let (words, half) = (figure(spot.value, &self.axis.unit), 24.0);
                let above = level.ends().map_or(y, |ends| values.at(ends.1).min(y)) - 10.0;
                let x = x.clamp(half, WIDTH - half);
                sheet.text((x, above), Anchor::Center, Ink::Value, &words);
            }
        }
    }
}

/// An interval as a line that stands, with two ends; without the upper one where it goes on beyond
/// the axis.
pub(crate) fn upright(sheet: &Sheet<'_>, values: &Scale, (low, high): (f64, f64), x: f64) {
    let (low, high) = (values.locate(low), values.locate(high));
    sheet.path(&[(x, low.0), (x, high.0)], Ink::Whisker);
    for (y, beyond) in [low, high] {
        if beyond == 0 {
            sheet.path(&[(x - 4.0, y), (x + 4.0, y)], Ink::Whisker);
        }
    }
}
