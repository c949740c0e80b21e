//! Plots below each other, each with its own two axes: how a value goes over another one, in one
//! line or several. Below them, where it is given, latencies of the same thing.

use crate::ink::Ink;
use crate::rows::{self, Legend, Swatch, Upright, line_class};
use crate::scale::{Scale, fit, tick_words};
use crate::sheet::{Anchor, Sheet, WIDTH};
use crate::text::{LARGE, SMALL, shorten};
use crate::{Axis, Curves, Head, Key, Svg};

/// Height of the area of a plot, in units.
const TALL: f64 = 150.0;
/// Title of a plot and the title of its upright axis, in units.
const TITLES: f64 = 36.0;
/// Numbers and title of the axis along, and the room to the next plot, in units.
const BELOW: f64 = 52.0;
/// Of the width that a title has: bold letters are wider than the estimate.
const BOLD: f64 = 0.9;
/// Widest number of the axis along, in units.
const WORD: f64 = 90.0;
/// Lines of so many points have a dot at each.
const DOTS: usize = 24;

/// Plots below each other.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plots {
    /// Title and description.
    pub head: Head,
    /// From the top.
    pub plots: Vec<Plot>,
    /// Below the plots; its title is that of the last of them.
    pub latencies: Option<Curves>,
}

/// A value over another one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// From the left. Values have no words here: units stand in the titles of the axes alone.
    pub along: Axis,
    /// Numbers of the axis along; without any the axis has its own.
    pub ticks: Vec<(f64, String)>,
    /// From below.
    pub upright: Axis,
    /// In the order of the legend.
    pub lines: Vec<PlotLine>,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct PlotLine {
    /// Without a label it is not in the legend.
    pub key: Key,
    /// Along and up, in the units of the axes, from the left.
    pub points: Vec<(f64, f64)>,
    /// Words for a tooltip.
    pub tip: String,
}

impl Plots {
    /// Draws it; one mark a line with points. On a logarithmic axis what is not above 0 lies at its
    /// beginning.
    #[must_use]
    pub fn draw(&self) -> Svg {
        let latencies = self.latencies.as_ref().filter(|curves| curves.any());
        if latencies.is_none() && !self.plots.iter().any(Plot::any) {
            return rows::empty(&self.head);
        }
        let plots = self.plots.iter().fold(0.0, |y, plot| y + plot.height());
        let below = latencies.map_or(0.0, |curves| 24.0 + curves.height());
        let mut sheet = Sheet::new(&self.head, plots + below);
        let mut y = 0.0;
        for plot in &self.plots {
            plot.draw(&mut sheet, y);
            y += plot.height();
        }
        if let Some(curves) = latencies {
            heading(&sheet, y, &curves.head.title);
            curves.draw_from(&mut sheet, y + 24.0);
        }
        sheet.finish()
    }
}

fn heading(sheet: &Sheet<'_>, y: f64, title: &str) {
    let title = shorten(title, WIDTH * BOLD, LARGE);
    sheet.text((0.0, y + 12.0), Anchor::Left, Ink::Heading, &title);
}

impl Plot {
    fn any(&self) -> bool {
        self.lines.iter().any(|line| line.shown().next().is_some())
    }

    fn legend(&self) -> Legend {
        let shown = self.lines.iter().filter(|line| line.shown().next().is_some());
        let named = shown.filter(|line| !line.key.label.is_empty());
        let swatch = |key: &Key| (Swatch::Line { class: line_class(key.hue) }, key.label.clone());
        Legend::new(named.map(|line| swatch(&line.key)))
    }

    fn height(&self) -> f64 {
        TITLES + self.legend().height + TALL + BELOW
    }

    fn draw(&self, sheet: &mut Sheet<'_>, y: f64) {
        let legend = self.legend();
        heading(sheet, y, &self.title);
        legend.draw(sheet, y + 17.0);
        let top = y + TITLES + legend.height;
        let bottom = top + TALL;
        let title = shorten(&self.upright.title, WIDTH, SMALL);
        sheet.text((0.0, top - 8.0), Anchor::Left, Ink::Title, &title);
        let values = scale(&self.upright, self.shown().map(|point| point.1), (bottom, top));
        let axis = Upright::new(&values, 5);
        let (left, right) = (axis.width((16.0, 70.0)), WIDTH - 8.0);
        axis.draw(sheet, &values, (left, right));
        if values.is_log() {
            sheet.path(&[(left, bottom), (right, bottom)], Ink::Axis);
        }
        let along = scale(&self.along, self.shown().map(|point| point.0), (left, right));
        let word = |(at, word): &(f64, String)| (*at, shorten(word, WORD, SMALL));
        let mut ticks: Vec<_> = self.ticks.iter().map(word).collect();
        if ticks.is_empty() {
            let own = along.ticks(rows::room_for(&along, 50.0));
            let words = tick_words(&own);
            ticks = own.into_iter().zip(words).collect();
        }
        rows::numbers(sheet, &along, (bottom, bottom + 4.0), bottom + 16.0, &ticks);
        let title = shorten(&self.along.title, WIDTH - left, SMALL);
        let middle = f64::midpoint(left, right);
        sheet.text((middle, bottom + 31.0), Anchor::Center, Ink::Title, &title);
        if !self.any() {
            let y = top + TALL / 2.0;
            sheet.text((left + 8.0, y), Anchor::Left, Ink::Note, "no figures");
        }
        for line in &self.lines {
            line.draw(sheet, &along, &values);
        }
    }

    fn shown(&self) -> impl Iterator<Item = (f64, f64)> {
        self.lines.iter().flat_map(PlotLine::shown)
    }
}

/// From zero, or where it is logarithmic from the least value above it.
fn scale(axis: &Axis, values: impl Iterator<Item = f64>, place: (f64, f64)) -> Scale {
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for value in values.filter(|value| *value > 0.0) {
        (least, most) = (least.min(value), most.max(value));
    }
    match axis.log {
        true => Scale::log(least / 1.1, most * 1.1, place),
        false => Scale::linear(most * if place.0 > place.1 { 1.06 } else { 1.0 }, place),
    }
}

impl PlotLine {
    /// Points that are numbers.
    fn shown(&self) -> impl Iterator<Item = (f64, f64)> {
        self.points.iter().filter_map(|&(along, up)| fit(along).zip(fit(up)))
    }

    fn draw(&self, sheet: &mut Sheet<'_>, along: &Scale, values: &Scale) {
        let path: Vec<_> = self.shown().map(|(x, y)| (along.at(x), values.at(y))).collect();
        if path.is_empty() {
            return;
        }
        let tip = rows::tip(&self.key.label, &self.tip, "");
        sheet.mark(&line_class(self.key.hue), &tip, |sheet| {
            if path.len() > 1 {
                sheet.path(&path, Ink::Line);
            }
            if path.len() <= DOTS {
                path.iter().for_each(|at| sheet.dot(*at, 2.0, Ink::Middle));
            }
        });
    }
}
