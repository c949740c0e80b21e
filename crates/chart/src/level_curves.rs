//! Curves of several contenders over the ordered levels of one parameter, with intervals. Dots of
//! one level stand a little beside each other, so that their intervals can be told apart.

use crate::ink::Ink;
use crate::levels::{along_levels, level_names, title_below, upright};
use crate::rows::{self, Legend, Swatch, Top, Upright, line_class};
use crate::scale::{Scale, fit, ordered, shown};
use crate::sheet::{Sheet, WIDTH};
use crate::{Axis, Head, Key, Spot, Svg};

/// Height of the plot, in units.
const TALL: f64 = 170.0;
/// Room next to the first and the last level, in units.
const SIDE: f64 = 22.0;
/// From one contender to the next at a level, in units.
const BESIDE: f64 = 5.0;
/// An interval beyond so many times the largest value does not widen the axis.
const WIDE: f64 = 3.0;

/// Curves over levels.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LevelCurves {
    /// Title and description.
    pub head: Head,
    /// What is measured; it begins at zero.
    pub axis: Axis,
    /// What the levels are of: `bs`.
    pub parameter: String,
    /// Where the levels lie and how they are written, ascending.
    pub levels: Vec<(f64, String)>,
    /// In the order of the legend.
    pub curves: Vec<LevelCurve>,
}

/// The values of one contender.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LevelCurve {
    pub key: Key,
    /// One a level.
    pub points: Vec<LevelPoint>,
}

/// A value at a level.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LevelPoint {
    /// Absent where there is none.
    pub value: Option<Spot>,
    /// An interval of the value.
    pub interval: Option<(f64, f64)>,
}

impl LevelPoint {
    fn shown(&self) -> Option<f64> {
        shown(self.value.as_ref())
    }
}

impl LevelCurves {
    /// Draws it; one mark a value.
    #[must_use]
    pub fn draw(&self) -> Svg {
        if self.points().all(|point| point.shown().is_none()) {
            return rows::empty(&self.head);
        }
        let head = Top::new(self.legend(), &self.axis.title, 14.0);
        let top = head.height() + 8.0;
        let bottom = top + TALL;
        let values = Scale::linear(self.most() * 1.06, (bottom, top));
        let axis = Upright::new(&values, 5);
        let left = axis.width((16.0, 70.0));
        let at: Vec<f64> = self.levels.iter().filter_map(|(at, _)| fit(*at)).collect();
        let along = along_levels(&at, (left + SIDE, WIDTH - SIDE));
        let mut sheet = Sheet::new(&self.head, bottom + 38.0);
        head.draw(&sheet, 0.0);
        axis.draw(&sheet, &values, (left, WIDTH));
        let names = self.levels.iter().map(|(at, label)| (*at, label.as_str()));
        level_names(&sheet, &along, bottom, names);
        title_below(&sheet, (left, bottom), &self.parameter);
        for (number, curve) in self.curves.iter().enumerate() {
            let count = self.curves.len() as f64;
            let beside = BESIDE.min(SIDE / count);
            let aside = (number as f64 - (count - 1.0) / 2.0) * beside;
            self.curve(&mut sheet, curve, (&along, &values), aside);
        }
        sheet.finish()
    }

    fn points(&self) -> impl Iterator<Item = &LevelPoint> {
        self.curves.iter().flat_map(|curve| &curve.points)
    }

    fn legend(&self) -> Legend {
        let is_shown = |curve: &&LevelCurve| curve.points.iter().any(|one| one.shown().is_some());
        Legend::new(self.curves.iter().filter(is_shown).map(|curve| {
            (Swatch::Line { class: line_class(curve.key.hue) }, curve.key.label.clone())
        }))
    }

    fn most(&self) -> f64 {
        let most = self.points().filter_map(LevelPoint::shown).fold(0.0, f64::max);
        let ends = self.points().filter_map(|point| Some(ordered(point.interval)?.1));
        ends.filter(|end| *end <= WIDE * most).fold(most, f64::max)
    }

    /// The line, and on it intervals and dots; it is broken where a level has no value.
    fn curve(
        &self,
        sheet: &mut Sheet<'_>,
        curve: &LevelCurve,
        (along, values): (&Scale, &Scale),
        aside: f64,
    ) {
        let own: Vec<(f64, &LevelPoint)> = self
            .levels
            .iter()
            .zip(&curve.points)
            .filter_map(|((at, _), point)| Some((along.at(fit(*at)?) + aside, point)))
            .collect();
        let class = line_class(curve.key.hue);
        sheet.raw_class(&class, |sheet| {
            for part in own.split(|(_, point)| point.shown().is_none()) {
                let place = |(x, point): &(f64, &LevelPoint)| Some((*x, values.at(point.shown()?)));
                let path: Vec<_> = part.iter().filter_map(place).collect();
                if path.len() > 1 {
                    sheet.path(&path, Ink::Line);
                }
            }
        });
        for (x, point) in own {
            let (Some(value), Some(spot)) = (point.shown(), &point.value) else { continue };
            let tip = rows::tip(&curve.key.label, &spot.tip, "");
            sheet.mark(&rows::hue(curve.key.hue), &tip, |sheet| {
                if let Some(ends) = ordered(point.interval) {
                    upright(sheet, values, ends, x);
                }
                sheet.dot((x, values.at(value)), 3.5, Ink::Middle);
            });
        }
    }
}
