//! Points in a plane: two values of each contender against each other, each with its interval. A
//! number stands at each point, and its name in the legend: names at points would cover each other.

use crate::ink::{Ink, Standing};
use crate::levels::upright;
use crate::rows::{self, Legend, Swatch, Upright, hue, whisker};
use crate::scale::{Scale, fit, ordered};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{SMALL, shorten, wide};
use crate::{Axis, Head, Key, Svg};

/// Height of the area, in units.
const TALL: f64 = 200.0;
/// Title of the upright axis, in units.
const TITLE: f64 = 22.0;
/// Numbers and title of the axis along, in units.
const BELOW: f64 = 40.0;
/// Room around a number at a point, in units.
const APART: f64 = 6.0;

/// Points in a plane.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Scatter {
    /// Title and description.
    pub head: Head,
    /// From the left; from zero, unless it is logarithmic.
    pub along: Axis,
    /// From below; likewise.
    pub upright: Axis,
    /// In the order of the legend.
    pub points: Vec<ScatterPoint>,
}

/// A contender with two values.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ScatterPoint {
    pub key: Key,
    /// In the units of the axes.
    pub along: f64,
    pub upright: f64,
    /// Intervals of the two.
    pub along_interval: Option<(f64, f64)>,
    pub upright_interval: Option<(f64, f64)>,
    /// Words for a tooltip.
    pub tip: String,
}

/// A box of a word that is drawn: left, top, right, bottom.
type Taken = (f64, f64, f64, f64);

impl Scatter {
    /// Draws it; one mark a point that can be shown.
    #[must_use]
    pub fn draw(&self) -> Svg {
        let shown: Vec<&ScatterPoint> = self.points.iter().filter(|it| self.fits(it)).collect();
        if shown.is_empty() {
            return rows::empty(&self.head);
        }
        let legend = legend(&shown);
        let top = legend.height + TITLE;
        let bottom = top + TALL;
        let mut sheet = Sheet::new(&self.head, bottom + BELOW);
        legend.draw(&sheet, 0.0);
        let title = shorten(&self.upright.title, WIDTH, SMALL);
        sheet.text((0.0, top - 8.0), Anchor::Left, Ink::Title, &title);
        let ups = shown.iter().map(|it| (it.upright, it.upright_interval));
        let values = scale(&self.upright, ups, (bottom, top));
        let axis = Upright::new(&values, 6);
        let (left, right) = (axis.width((16.0, 70.0)), WIDTH - 12.0);
        axis.draw(&sheet, &values, (left, right));
        if values.is_log() {
            sheet.path(&[(left, bottom), (right, bottom)], Ink::Axis);
        }
        let alongs = shown.iter().map(|it| (it.along, it.along_interval));
        let along = scale(&self.along, alongs, (left, right));
        rows::ticks(&sheet, &along, (top, bottom + 4.0), bottom + 16.0);
        let title = shorten(&self.along.title, WIDTH - left, SMALL);
        let middle = f64::midpoint(left, right);
        sheet.text((middle, bottom + 32.0), Anchor::Center, Ink::Title, &title);
        let places: Vec<(f64, f64)> =
            shown.iter().map(|it| (along.at(it.along), values.at(it.upright))).collect();
        for (point, at) in shown.iter().zip(&places) {
            point.draw(&mut sheet, *at, &along, &values);
        }
        number_points(&sheet, &places);
        sheet.finish()
    }

    fn fits(&self, point: &ScatterPoint) -> bool {
        let is_fit = |axis: &Axis, value: f64| {
            fit(value).is_some_and(|value| if axis.log { value > 0.0 } else { value >= 0.0 })
        };
        is_fit(&self.along, point.along) && is_fit(&self.upright, point.upright)
    }
}

fn legend(shown: &[&ScatterPoint]) -> Legend {
    let entries = shown.iter().enumerate().map(|(at, point)| {
        let dot = Swatch::Dot { hue: point.key.hue, standing: Standing::Same };
        (dot, format!("{} {}", at + 1, point.key.label))
    });
    Legend::new(entries)
}

/// From zero, or where it is logarithmic from the least value; intervals have room up to three
/// times the largest value.
fn scale(
    axis: &Axis,
    values: impl Iterator<Item = (f64, Option<(f64, f64)>)> + Clone,
    place: (f64, f64),
) -> Scale {
    let most = values.clone().fold(0.0, |most: f64, (value, _)| most.max(value));
    let ends = values.clone().filter_map(|(_, interval)| Some(ordered(interval)?.1));
    let most = ends.filter(|end| *end <= 3.0 * most).fold(most, f64::max);
    let least = values.map(|(value, _)| value).filter(|value| *value > 0.0);
    let least = least.fold(f64::INFINITY, f64::min);
    match axis.log {
        true => Scale::log(least / 1.4, most * 1.4, place),
        false => Scale::linear(most * 1.08, place),
    }
}

impl ScatterPoint {
    fn draw(&self, sheet: &mut Sheet<'_>, (x, y): (f64, f64), along: &Scale, values: &Scale) {
        let tip = rows::tip(&self.key.label, &self.tip, "");
        sheet.mark(&hue(self.key.hue), &tip, |sheet| {
            if let Some(ends) = ordered(self.along_interval) {
                whisker(sheet, along, ends, y);
            }
            if let Some(ends) = ordered(self.upright_interval) {
                upright(sheet, values, ends, x);
            }
            let (radius, ink) = Standing::Same.dot();
            sheet.dot((x, y), radius, ink);
        });
    }
}

/// The number of each point beside it, where no other point or number is; where there is no such
/// place, it stands on others.
fn number_points(sheet: &Sheet<'_>, places: &[(f64, f64)]) {
    let dot = |&(x, y): &(f64, f64)| (x - 4.0, y - 4.0, x + 4.0, y + 4.0);
    let mut taken: Vec<Taken> = places.iter().map(dot).collect();
    for (at, (x, y)) in places.iter().enumerate() {
        let word = (at + 1).to_string();
        let half = wide(&word, SMALL) / 2.0;
        let boxed = |(x, y): (f64, f64)| (x - half, y - 9.0, x + half, y);
        let ring = [(1.0, -0.6), (-1.0, -0.6), (1.0, 1.6), (-1.0, 1.6), (1.6, 0.5), (-1.6, 0.5)];
        let far = [1.0, 1.8, 2.6].into_iter();
        let mut all = far.flat_map(|by| ring.map(|(dx, dy)| (dx * by, dy * by)));
        let place = |(dx, dy): (f64, f64)| {
            let middle = (x + dx * (half + APART), y + 3.0 + dy * APART);
            (middle.0.clamp(half, WIDTH - half), middle.1)
        };
        let is_free = |at: &(f64, f64)| {
            let own = boxed(place(*at));
            taken.iter().all(|other| {
                own.2 <= other.0 || other.2 <= own.0 || own.3 <= other.1 || other.3 <= own.1
            })
        };
        let found = place(all.find(is_free).unwrap_or(ring[0]));
        taken.push(boxed(found));
        sheet.text(found, Anchor::Center, Ink::Value, &word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(label: &str, along: f64, up: f64) -> ScatterPoint {
        ScatterPoint {
            key: Key { label: label.to_owned(), hue: 1 },
            along,
            upright: up,
            along_interval: Some((along * 0.9, along * 1.1)),
            upright_interval: Some((up - 1.0, up + 1.0)),
            tip: "here".to_owned(),
        }
    }

    #[test]
    fn a_mark_a_point_and_none_for_what_cannot_be_shown() {
        let axis = |title: &str, log| Axis { title: title.to_owned(), log, unit: String::new() };
        let mut scatter = Scatter {
            along: axis("files/s", true),
            upright: axis("loss, s", false),
            points: vec![
                point("ext4", 100.0, 39.0),
                point("xfs", 101.0, 39.1),
                point("none", 0.0, 3.0),
                point("broken", f64::NAN, 3.0),
            ],
            ..Scatter::default()
        };
        let svg = scatter.draw();
        assert_eq!(svg.marks, 2, "{}", svg.inline);
        assert!(svg.inline.contains("2 xfs") && !svg.inline.contains("none"), "{}", svg.inline);
        scatter.points.clear();
        assert!(scatter.draw().inline.contains("no figures"));
    }
}
